/* Liquid at rest in a tank: its pressure grows with depth by density times gravity, its volume stays, and nothing
 * moves.
 *
 * Pressures are the method's own (PBD_PRESSURES); they are averaged over the second half of the run. Depth is measured
 * from the current surface: at twice the height of the centre of mass over the floor, as in a full box. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/liquid.h"

static const pbd_param params[] = {
    {"cells", "", PBD_INTEGER, "12", 2, 400, 0, NULL, "layers of particles over the depth"},
    {"depth", "m", PBD_REAL, "0.1", 0, 1e6, PBD_OPEN_MIN, NULL, "of the liquid"},
    {"width", "", PBD_REAL, "0.5", 0, 100, PBD_OPEN_MIN, NULL, "of the square tank, in depths, to whole spacings"},
    PBD_LIQUID_PARAMS,
    {"duration", "s", PBD_REAL, "0", 0, 1e6, 0, NULL, "simulated time; 0: 20 times sqrt(depth / gravity)"},
    {0}};

enum { MOST_BINS = 40 };

typedef struct water_detail {
    liquid_watch watch;
    double depth;                     /* m */
    double least_volume, most_volume; /* over that at the start */
    double *pressure, *height;        /* particles: sums over the observations of the second half */
    size_t looks;
} water_detail;

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    water_detail *detail = setup->detail;
    const double depth = pbd_real(values, "depth"), spacing = depth / (double)pbd_integer(values, "cells");
    const double gravity = pbd_real(values, "gravity"), given = pbd_real(values, "duration");
    const double half = 0.5 * spacing * fmax(round(pbd_real(values, "width") * depth / spacing), 1);
    const double low[3] = {-half, -half, 0}, high[3] = {half, half, depth};
    if (!(given > 0) && !(gravity > 0))
        return pbd_error(PBD_BAD_INPUT,
                         "duration=0 is derived from gravity, which is 0: set a duration in s, or a gravity");
    detail->depth = depth;
    detail->least_volume = INFINITY;
    scene->duration = given > 0 ? given : 20 * sqrt(depth / gravity);
    setup->observe_every = scene->duration / LIQUID_LOOKS;
    PBD_TRY(liquid_make(values, low, high, spacing, scene));
    PBD_TRY_NEW(detail->pressure, scene->particles.count);
    PBD_TRY_NEW(detail->height, scene->particles.count);
    PBD_TRY(particle_open_colliders(scene, 5));
    liquid_add_tank(scene, low, high, 0);
    return pbd_ok();
}

static void free_detail(void *detail) {
    water_detail *d = detail;
    free(d->pressure);
    free(d->height);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static pbd_status add_pressures(water_detail *detail, const pbd_scene *scene, const pbd_method *method,
                                const void *state, const double *x) {
    pbd_arena a PBD_ARENA;
    double *p = pbd_new(&a, double, scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    const pbd_status status = method->read(state, PBD_PRESSURES, p);
    if (status.code != PBD_OK) return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
    for (size_t i = 0; i < scene->particles.count; i++) {
        detail->pressure[i] += p[i];
        detail->height[i] += x[3 * i + 2];
    }
    detail->looks++;
    return pbd_ok();
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    water_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    pbd_status status = liquid_look(&detail->watch, scene, method, state, x, time, recorder);
    if (status.code == PBD_OK && time > 0.5 * scene->duration) status = add_pressures(detail, scene, method, state, x);
    const double volume = 2 * detail->watch.centre / detail->depth;
    detail->least_volume = fmin(detail->least_volume, volume);
    detail->most_volume = fmax(detail->most_volume, volume);
    pbd_series(recorder, "volume", "value", "1", &volume, 1, 1);
    return status;
}

/* Mean pressures against density times gravity times depth: the straight line through them, and their distance from the
 * true one, over the pressure at the floor. */
static void record_pressures(const water_detail *detail, const pbd_scene *scene, pbd_recorder *recorder) {
    const double per = 1 / (double)detail->looks, weight = -scene->material->density * scene->loads.gravity[2];
    double mean = 0, sum = 0, square = 0, slope = 0, off = 0, worst = 0, bottom = 0, floor_pressure;
    double bin[MOST_BINS] = {0}, count[MOST_BINS] = {0}, at[MOST_BINS] = {0}, low = 0;
    const size_t n = scene->particles.count;
    for (size_t i = 0; i < n; i++) mean += per * detail->height[i] / (double)n;
    const double top = 2 * mean;
    floor_pressure = weight * top;
    for (size_t i = 0; i < n; i++) {
        const double z = per * detail->height[i], p = per * detail->pressure[i];
        const double error = (p - weight * (top - z)) / floor_pressure;
        sum += p / (double)n;
        square += (z - mean) * (z - mean);
        slope += (z - mean) * p;
        off += error * error / (double)n;
        worst = fmax(worst, fabs(error));
        const int k = (int)fmin(fmax(z / scene->particles.spacing, 0), MOST_BINS - 1);
        bin[k] += p;
        at[k] += z;
        count[k]++;
        if (z < scene->particles.spacing) bottom += p / (weight * (top - z)), low++;
    }
    pbd_metric(recorder, "pressure_slope", "1", PBD_STATE, -slope / square / weight);
    pbd_metric(recorder, "pressure_mean", "1", PBD_STATE, sum / (0.5 * floor_pressure));
    pbd_metric(recorder, "pressure_error", "1", PBD_ERROR, sqrt(off));
    pbd_metric(recorder, "pressure_worst", "1", PBD_ERROR, worst);
    if (low > 0) pbd_metric(recorder, "pressure_at_floor", "1", PBD_STATE, bottom / low);
    for (int k = 0; k < MOST_BINS; k++) {
        if (!(count[k] > 0)) continue;
        const double height = at[k] / count[k] / detail->depth, p = bin[k] / count[k] / floor_pressure;
        pbd_series(recorder, "pressure_profile", "height", "1", &height, 1, 1);
        pbd_series(recorder, "pressure_profile", "pressure", "1", &p, 1, 1);
    }
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const water_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    pbd_metric(recorder, "particles", "1", PBD_STATE, (double)scene->particles.count);
    pbd_metric(recorder, "spacing", "m", PBD_STATE, scene->particles.spacing);
    if (detail->watch.looked) {
        pbd_metric(recorder, "volume", "1", PBD_STATE, 2 * detail->watch.centre / detail->depth);
        pbd_metric(recorder, "least_volume", "1", PBD_QUALITY, detail->least_volume);
        pbd_metric(recorder, "most_volume", "1", PBD_ERROR, detail->most_volume);
    }
    liquid_record(&detail->watch, recorder);
    if (detail->looks > 0 && scene->loads.gravity[2] < 0) record_pressures(detail, scene, recorder);
    body_record_shape(scene, x, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_still_water = {
    .name = "still_water",
    .summary = "liquid at rest in a tank: pressure by depth, volume kept, nothing moves",
    .source = "hydrostatics",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(water_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
    .free_detail = free_detail,
};
