#include "cases/scenes/sampled.h"

#include <math.h>
#include <stdlib.h>

#include "cases/scenes/larger.h"
#include "cases/scenes/particle_watch.h"
#include "harness/exec/arena.h"

const char *const sampled_sides[] = {"none", "x_min", "x_max", "y_min", "y_max", "z_min", "z_max", NULL};

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status hold_side(const pbd_values *values, const solid *body, pbd_scene *scene) {
    const int side = pbd_choice(values, "fixed");
    if (side == 0) return pbd_ok();
    const size_t d = (size_t)(side - 1) / 2;
    const bool high = side % 2 == 0;
    const double given = pbd_real(values, "fixed_depth"), depth = given > 0 ? given : 1.5 * scene->particles.spacing;
    pbd_arena arena PBD_ARENA;
    unsigned char *mark = pbd_new(&arena, unsigned char, scene->particles.count);
    PBD_TRY(pbd_arena_check(&arena));
    size_t held = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double x = scene->particles.positions[3 * i + d];
        mark[i] = high ? body->high[d] - x <= depth : x - body->low[d] <= depth;
        held += mark[i];
    }
    PBD_TRY(body_hold(scene, mark));
    if (held > 0 && held < scene->particles.count) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "fixed=%s with fixed_depth=%g m contains %s of the %zu particles: set %s",
                     sampled_sides[side], depth, held ? "all" : "none", scene->particles.count,
                     held ? "a smaller fixed_depth, or more particles" : "a larger fixed_depth");
}

pbd_status sampled_build(const pbd_values *values, const solid *body, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    sampled_detail *detail = setup->detail;
    const sampling_plan plan = particle_plan(values);
    const placement here = placement_at(0, 0, 0);
    scene->material[0] = particle_material(values);
    scene->loads.gravity[2] = -pbd_real(values, "gravity");
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / BODY_LOOKS;
    PBD_TRY(sampling_make(body, &plan, &detail->particles));
    PBD_TRY(particle_scene_make(&detail->particles, 1, &here, scene));
    PBD_TRY(hold_side(values, body, scene));
    PBD_TRY(particle_set_radii(values, &detail->particles, scene));
    if (pbd_choice(values, "floor") == 0) return pbd_ok();
    PBD_TRY(particle_open_colliders(scene, 1));
    const double at[3] = {0, 0, body->low[2] - pbd_real(values, "drop")}, up[3] = {0, 0, 1};
    particle_add_plane(scene, at, up, pbd_real(values, "friction"));
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

pbd_status sampled_observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                           pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    sampled_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double centre[3], energy, fastest;
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_centre_of_mass(scene, x, centre);
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "centre_of_mass", "x", "m", &centre[0], 1, 1);
    pbd_series(recorder, "centre_of_mass", "y", "m", &centre[1], 1, 1);
    pbd_series(recorder, "centre_of_mass", "z", "m", &centre[2], 1, 1);
    const pbd_status status = particle_kinetic_energy(scene, method, state, &energy, &fastest);
    if (status.code == PBD_NOT_SUPPORTED) return pbd_ok();
    detail->peak = fmax(detail->peak, energy);
    pbd_series(recorder, "kinetic_energy", "value", "J", &energy, 1, 1);
    return status;
}

static void record_displacements(const pbd_scene *scene, const double *x, pbd_recorder *recorder) {
    double largest = 0, mean = 0, mass = 0, lowest = INFINITY;
    for (size_t i = 0; i < scene->particles.count; i++) {
        double square = 0;
        for (size_t d = 0; d < 3; d++) {
            const double u = x[3 * i + d] - scene->particles.positions[3 * i + d];
            square += u * u;
        }
        largest = larger(square, largest);
        mean += scene->particles.masses[i] * sqrt(square);
        mass += scene->particles.masses[i];
        lowest = fmin(lowest, x[3 * i + 2]);
    }
    pbd_metric(recorder, "largest_displacement", "m", PBD_STATE, sqrt(largest));
    pbd_metric(recorder, "mean_displacement", "m", PBD_STATE, mean / mass);
    pbd_metric(recorder, "lowest_particle", "m", PBD_STATE, lowest);
}

pbd_status sampled_measure(const pbd_setup *setup, const pbd_method *method, const void *state,
                           pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const sampled_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double energy, fastest;
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_record_sampling(&detail->particles, 1, recorder);
    record_displacements(scene, x, recorder);
    pbd_metric(recorder, "rest_shape_error", "1", PBD_STATE, body_shape_error(scene, x));
    if (scene->colliders.count > 0) {
        size_t beyond;
        pbd_metric(recorder, "deepest_below_floor", "m", PBD_FLAW, particle_deepest(scene, x, &beyond));
    }
    body_record_shape(scene, x, recorder);
    if (particle_kinetic_energy(scene, method, state, &energy, &fastest).code == PBD_OK && detail->peak > 0)
        pbd_metric(recorder, "kinetic_energy_left", "1", PBD_STATE, energy / detail->peak);
    return pbd_ok();
}
