#include "cases/case.h"

#include <stdlib.h>

void pbd_scene_free(pbd_scene *scene) {
    void *owned[] = {
        scene->positions, scene->velocities,    scene->start,    scene->forces,         scene->masses,
        scene->hex,       scene->tet,           scene->triangle, scene->fixed_particle, scene->settle.watch,
        scene->detail,    scene->volumes,       scene->body,     scene->collider,       scene->contact.radius,
        scene->blade,     scene->collider_mesh, scene->matter};
    for (size_t i = 0; scene->collider_mesh && i < scene->collider_meshes; i++) {
        free(scene->collider_mesh[i].vertex);
        free(scene->collider_mesh[i].triangle);
    }
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    *scene = (pbd_scene){0};
}

void pbd_case_free(const pbd_case *c, pbd_scene *scene) {
    if (scene->detail && c->free_detail) c->free_detail(scene->detail);
    pbd_scene_free(scene);
}

pbd_status pbd_case_build(const pbd_case *c, const pbd_values *values, pbd_scene *scene) {
    *scene = (pbd_scene){.bytes = sizeof *scene};
    if (c->detail_bytes > 0 && !(scene->detail = calloc(1, c->detail_bytes)))
        return pbd_error(PBD_FAILED, "out of memory for case %s", c->name);
    const pbd_status status = c->build(values, scene);
    if (status.code != PBD_OK) pbd_case_free(c, scene);
    return status;
}
