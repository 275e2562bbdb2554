#include "cases/case.h"

#include <stdlib.h>

#include "harness/exec/arena.h"

void pbd_scene_free(pbd_scene *scene) {
    void *owned[] = {
        scene->particles.positions,      scene->particles.velocities, scene->particles.start, scene->loads.forces,
        scene->particles.masses,         scene->hexes.corner,         scene->tets.corner,     scene->triangles.corner,
        scene->particles.fixed_particle, scene->settle.watch,         scene->detail,          scene->particles.volumes,
        scene->particles.body,           scene->colliders.item,       scene->contact.radius,  scene->blades.item,
        scene->colliders.mesh,           scene->particles.material,   scene->hexes.material,  scene->tets.material,
        scene->triangles.material};
    for (size_t i = 0; scene->colliders.mesh && i < scene->colliders.meshes; i++) {
        free(scene->colliders.mesh[i].vertex);
        free(scene->colliders.mesh[i].triangle);
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
    if (c->detail_bytes > 0 && !(scene->detail = calloc(1, c->detail_bytes))) return pbd_no_memory();
    const pbd_status status = c->build(values, scene);
    if (status.code != PBD_OK) pbd_case_free(c, scene);
    return status;
}
