#include "methods/physics/device/scene_rows.h"

#include <math.h>

#include "harness/exec/arena.h"

pbd_status scene_check_particles(const pbd_scene *scene) {
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double *x = scene_start(scene) + 3 * i, mass = scene->particles.masses[i];
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return pbd_error(PBD_BAD_INPUT, "particle %zu is at %g %g %g m: must be finite", i, x[0], x[1], x[2]);
        if (!(mass > 0 && isfinite(mass)))
            return pbd_error(PBD_BAD_INPUT, "particle %zu has the mass %g kg: must be above 0", i, mass);
    }
    return pbd_ok();
}

double scene_volume(const pbd_scene *scene, size_t i) {
    const double density = pbd_material_of(scene, i)->density, spacing = scene->particles.spacing;
    if (scene->particles.volumes) return scene->particles.volumes[i];
    return density > 0 ? scene->particles.masses[i] / density : spacing * spacing * spacing;
}

bool scene_has_forces(const pbd_scene *scene) {
    for (size_t i = 0; scene->loads.forces && i < 3 * scene->particles.count; i++)
        if (scene->loads.forces[i] != 0) return true;
    return false;
}

pbd_status scene_rows(const pbd_scene *scene, const uint32_t *particle, real *x, real *v, real *load) {
    const size_t n = scene->particles.count;
    const double *start = scene_start(scene), *velocity = scene->particles.velocities, *force = scene->loads.forces;
    pbd_arena a PBD_ARENA;
    bool *held = pbd_new(&a, bool, n);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < scene->particles.fixed; i++) held[scene->particles.fixed_particle[i]] = true;
    for (size_t i = 0; i < n; i++) {
        const size_t p = particle ? particle[i] : i;
        for (size_t d = 0; d < 3; d++) {
            x[4 * i + d] = (real)start[3 * p + d];
            v[4 * i + d] = (real)(velocity && !held[p] ? velocity[3 * p + d] : 0);
            if (load) load[4 * i + d] = (real)(force ? force[3 * p + d] / scene->particles.masses[p] : 0);
        }
        x[4 * i + 3] = 0;
        v[4 * i + 3] = (real)!held[p];
        if (load) load[4 * i + 3] = 0;
    }
    return pbd_ok();
}
