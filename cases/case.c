#include "cases/case.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases/scenes/clearance.h"
#include "harness/exec/arena.h"

void pbd_scene_free(pbd_scene *scene) {
    void *owned[] = {scene->particles.positions,
                     scene->particles.velocities,
                     scene->particles.start,
                     scene->loads.forces,
                     scene->particles.masses,
                     scene->hexes.corner,
                     scene->tets.corner,
                     scene->triangles.corner,
                     scene->particles.fixed_particle,
                     scene->particles.volumes,
                     scene->particles.body,
                     scene->colliders.item,
                     scene->contact.radius,
                     scene->blades.item,
                     scene->colliders.mesh,
                     scene->particles.material,
                     scene->hexes.material,
                     scene->tets.material,
                     scene->triangles.material,
                     scene->skin,
                     scene->pour.until};
    pbd_loaded *loaded[] = {&scene->surface_load.edges, &scene->surface_load.triangles, &scene->surface_load.quads};
    for (size_t i = 0; i < sizeof loaded / sizeof *loaded; i++) {
        free(loaded[i]->corner);
        free(loaded[i]->density);
    }
    for (size_t i = 0; scene->colliders.mesh && i < scene->colliders.meshes; i++) {
        free(scene->colliders.mesh[i].vertex);
        free(scene->colliders.mesh[i].triangle);
    }
    for (size_t i = 0; scene->skin && i < scene->skins; i++) {
        free(scene->skin[i].vertex);
        free(scene->skin[i].triangle);
    }
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    *scene = (pbd_scene){0};
}

void pbd_case_free(const pbd_case *c, pbd_setup *setup) {
    if (setup->detail && c->free_detail) c->free_detail(setup->detail);
    free(setup->detail);
    free(setup->settle.watch);
    pbd_scene_free(&setup->scene);
    *setup = (pbd_setup){0};
}

void pbd_setup_warn(pbd_setup *setup, const char *name, const char *format, ...) {
    pbd_setup_warning *w = &setup->warning[setup->warnings];
    for (size_t i = 0; i < setup->warnings; i++)
        if (strcmp(setup->warning[i].name, name) == 0) return;
    if (setup->warnings == PBD_SETUP_WARNINGS) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->says, sizeof w->says, format, arguments);
    va_end(arguments);
    w->name = name;
    if (*w->says) setup->warnings++;
}

/* A radius that is given is kept: where it is too large, the scene check refuses it. */
static bool gives_radius(const pbd_values *values) {
    const pbd_value *radius = pbd_value_named(values, "contact_radius");
    return radius && radius->number > 0;
}

pbd_status pbd_case_build(const pbd_case *c, const pbd_values *values, pbd_setup *setup) {
    double share = 1;
    *setup = (pbd_setup){.scene.bytes = sizeof setup->scene};
    if (c->detail_bytes > 0 && !(setup->detail = calloc(1, c->detail_bytes))) return pbd_no_memory();
    pbd_status status = c->build(values, setup);
    if (status.code == PBD_OK) status = clearance_keep(&setup->scene, gives_radius(values) ? NULL : &share);
    if (share < 1)
        pbd_setup_warn(setup, "contact_radius",
                       "contact radii are %.3g of the case's own, so that no particle starts in a collider: use more "
                       "particles, or set contact_radius",
                       share);
    setup->scene.solved = setup->scene.duration == 0 && setup->settle.window == 0;
    if (status.code != PBD_OK) pbd_case_free(c, setup);
    return status;
}
