#include "cases/scenes/granular_drop.h"

#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status set_speed(const pbd_values *values, pbd_scene *scene) {
    PBD_TRY_NEW(scene->particles.velocities, 3 * scene->particles.count);
    for (size_t i = 0; i < scene->particles.count; i++)
        scene->particles.velocities[3 * i + 2] = -pbd_real(values, "speed");
    return pbd_ok();
}

pbd_status granular_drop_build(const pbd_values *values, const solid *body, double size, bool confined,
                               pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    granular_drop_detail *detail = setup->detail;
    const placement here = placement_at(0, 0, pbd_real(values, "drop"));
    const double at[3] = {0, 0, 0}, up[3] = {0, 0, 1};
    heap start;
    detail->size = size;
    detail->height = body->high[2] - body->low[2];
    detail->lowest = INFINITY;
    granular_set_material(values, scene);
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / GRANULAR_LOOKS;
    PBD_TRY(granular_fill(values, body, &here, &detail->particles, scene));
    PBD_TRY(set_speed(values, scene));
    PBD_TRY(heap_measure(scene, scene->particles.positions, HEAP_AXISYMMETRIC, NULL, &start));
    detail->start_reach = start.reach_99;
    PBD_TRY(particle_open_colliders(scene, 1 + GRANULAR_WALLS));
    particle_add_plane(scene, at, up, pbd_real(values, "floor_friction"));
    if (!confined) return pbd_ok();
    double low[3], high[3];
    granular_find_box(scene, low, high);
    granular_add_walls(low, high, scene);
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static void watch_rise(granular_drop_detail *detail) {
    const double z = detail->watch.centre[2];
    detail->lowest = fmin(detail->lowest, z);
    detail->rise = fmax(detail->rise, z - detail->lowest);
}

pbd_status granular_drop_observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                                 pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    granular_drop_detail *detail = setup->detail;
    heap now;
    pieces parts PBD_CLEANUP(granular_free_pieces) = {0};
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(granular_look(&detail->watch, setup, method, state, x, time, &parts, recorder));
    PBD_TRY(heap_measure(scene, x, HEAP_AXISYMMETRIC, &parts, &now));
    watch_rise(detail);
    detail->most_reach = fmax(detail->most_reach, now.reach_99);
    const double spread = now.reach_99 / detail->start_reach, height = now.height / detail->size;
    if (isfinite(spread)) pbd_series(recorder, "spread", "value", "1", &spread, 1, 1);
    pbd_series(recorder, "height", "value", "1", &height, 1, 1);
    return pbd_ok();
}

static pbd_status record_pieces(const pbd_scene *scene, const double *x, pbd_recorder *recorder) {
    pieces parts;
    const size_t least = scene->particles.count / 100 + 1;
    PBD_TRY(granular_pieces(x, scene->particles.count, 1.8 * scene->particles.spacing, least, &parts));
    pbd_metric(recorder, "fragments", "1", PBD_STATE, (double)parts.pieces);
    pbd_metric(recorder, "crumbs", "1", PBD_STATE, (double)parts.crumbs);
    pbd_metric(recorder, "largest_fragment", "1", PBD_STATE, (double)parts.largest / (double)scene->particles.count);
    granular_free_pieces(&parts);
    return pbd_ok();
}

static void record_shape(const granular_drop_detail *detail, const heap *now, pbd_recorder *recorder) {
    if (isfinite(now->reach_99)) {
        pbd_metric(recorder, "run_out", "1", PBD_STATE, (now->reach_99 - detail->start_reach) / detail->size);
        pbd_metric(recorder, "spread", "1", PBD_STATE, now->reach_99 / detail->start_reach);
    }
    if (isfinite(detail->most_reach))
        pbd_metric(recorder, "most_spread", "1", PBD_STATE, detail->most_reach / detail->start_reach);
    pbd_metric(recorder, "height", "1", PBD_STATE, now->height / detail->size);
    pbd_metric(recorder, "height_left", "1", PBD_STATE, now->height / detail->height);
    pbd_metric(recorder, "rebound", "1", PBD_STATE, detail->rise / detail->size);
    for (size_t k = 0; k < now->bins; k++) {
        const double distance = ((double)k + 0.5) * now->width / detail->size, top = now->top[k] / detail->size;
        pbd_series(recorder, "outline", "distance", "1", &distance, 1, 1);
        pbd_series(recorder, "outline", "height", "1", &top, 1, 1);
    }
}

pbd_status granular_drop_measure(const pbd_setup *setup, const pbd_method *method, const void *state,
                                 pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const granular_drop_detail *detail = setup->detail;
    const double s = detail->size;
    const mass_box box = {{-2 * s, -2 * s, 0}, {2 * s, 2 * s, 2 * s}, {16, 16, 8}};
    heap now;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(heap_measure(scene, x, HEAP_AXISYMMETRIC, NULL, &now));
    PBD_TRY(record_pieces(scene, x, recorder));
    particle_record_sampling(&detail->particles, 1, recorder);
    record_shape(detail, &now, recorder);
    granular_record(&detail->watch, scene, recorder);
    granular_record_mass(scene, x, &box, recorder);
    granular_record_slice(scene, x, recorder);
    body_record_shape(scene, x, recorder);
    return pbd_ok();
}
