/* A column of liquid is released and runs out over the floor: its front over time, as Martin and Moyce (1952) measured
 * it for columns twice as high as wide (n^2 = 2), and the energy, which must not grow. reference.md names the sources.
 *
 * Time is T = t sqrt(n^2 g/a) and the front Z = x/a, with a the column's width and n^2 its height over its width. */
#include <math.h>
#include <stdlib.h>

#include "cases/scenes/granular.h"
#include "cases/scenes/liquid.h"
#include "dam_break_reference.h" /* made from reference.csv */
#include "harness/exec/arena.h"
#include "harness/files/csv_file.h"

static const pbd_param params[] = {
    {"cells", "", PBD_INTEGER, "12", 2, 1000, 0, NULL, "particles over the column's width"},
    {"width", "m", PBD_REAL, "0.05715", 0, 1e6, PBD_OPEN_MIN, NULL, "a: of the column"},
    {"aspect", "", PBD_REAL, "2", 0.1, 100, 0, NULL, "n^2: the column's height over its width"},
    {"layers", "", PBD_INTEGER, "5", 1, 1000, 0, NULL, "between the smooth walls to its sides, in spacings"},
    PBD_LIQUID_PARAMS,
    {"end", "", PBD_REAL, "4", 0, 1e6, PBD_OPEN_MIN, NULL, "T at which it ends"},
    {0}};

enum { MOST_ROWS = 64 };

typedef struct dam_detail {
    liquid_watch watch;
    double width, unit;                                 /* m; unit of T, s */
    double front, T;                                    /* Z and T at the last observation */
    size_t rows;                                        /* of the reference, for columns of this n^2 */
    double at[MOST_ROWS], z[MOST_ROWS], got[MOST_ROWS]; /* got: NaN where T was not reached */
} dam_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* Readings of both columns of the experiment: in terms of T and Z they coincide. */
static pbd_status read_reference(dam_detail *detail) {
    pbd_csv table;
    PBD_TRY(pbd_csv_parse(pbd_dam_break_reference, "cases/dam_break/reference.csv", &table));
    for (size_t row = 0; row < table.rows && row < MOST_ROWS; row++) {
        char *const *field = table.field + row * table.columns;
        detail->at[row] = strtod(field[pbd_csv_column(&table, "T")], NULL);
        detail->z[row] = strtod(field[pbd_csv_column(&table, "Z")], NULL);
        detail->got[row] = NAN;
        detail->rows = row + 1;
    }
    pbd_csv_free(&table);
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    dam_detail *detail = setup->detail;
    const double width = pbd_real(values, "width"), aspect = pbd_real(values, "aspect");
    const double spacing = width / (double)pbd_integer(values, "cells"), gravity = pbd_real(values, "gravity");
    const double side = 0.5 * spacing * (double)pbd_integer(values, "layers");
    const double height = spacing * fmax(round(aspect * width / spacing), 1);
    const double low[3] = {0, -side, 0}, high[3] = {width, side, height};
    if (!(gravity > 0)) return pbd_error(PBD_BAD_INPUT, "gravity=0: without gravity no column runs out");
    detail->width = width;
    detail->unit = sqrt(width / (aspect * gravity));
    detail->front = 1;
    scene->duration = pbd_real(values, "end") * detail->unit;
    setup->observe_every = scene->duration / LIQUID_LOOKS;
    if (fabs(aspect - 2) < 1e-9) PBD_TRY(read_reference(detail));
    PBD_TRY(liquid_make(values, low, high, spacing, scene));
    PBD_TRY(particle_open_colliders(scene, 5));
    liquid_add_tank(scene, low, high, 2);
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Half a spacing beyond the farthest particle of the largest piece: drops in the air do not count. */
static pbd_status find_front(const pbd_scene *scene, const double *x, double *out) {
    pieces all;
    *out = 0;
    PBD_TRY(granular_pieces(x, scene->particles.count, 1.8 * scene->particles.spacing, 1, &all));
    for (size_t i = 0; i < scene->particles.count; i++)
        if (all.of[i] == all.main) *out = fmax(*out, x[3 * i] + 0.5 * scene->particles.spacing);
    granular_free_pieces(&all);
    return pbd_ok();
}

/* The front is interpolated linearly between two observations. */
static void compare(dam_detail *detail, double T, double front) {
    for (size_t k = 0; k < detail->rows; k++) {
        if (!(detail->at[k] > detail->T && detail->at[k] <= T)) continue;
        const double share = (detail->at[k] - detail->T) / (T - detail->T);
        detail->got[k] = detail->front + share * (front - detail->front);
    }
    detail->T = T;
    detail->front = front;
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    dam_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double front = 0;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(liquid_look(&detail->watch, scene, method, state, x, time, recorder));
    PBD_TRY(find_front(scene, x, &front));
    const double T = time / detail->unit;
    front /= detail->width;
    compare(detail, T, front);
    pbd_series(recorder, "front", "T", "1", &T, 1, 1);
    pbd_series(recorder, "front", "front", "1", &front, 1, 1);
    return pbd_ok();
}

static void record_front(const dam_detail *detail, pbd_recorder *recorder) {
    double square = 0, mean = 0, count = 0;
    for (size_t k = 0; k < detail->rows; k++) {
        if (isnan(detail->got[k])) continue;
        const double error = detail->got[k] / detail->z[k] - 1;
        square += error * error;
        mean += error;
        count++;
    }
    pbd_metric(recorder, "front", "1", PBD_STATE, detail->front);
    if (!(count > 0)) return;
    pbd_metric(recorder, "front_error", "1", PBD_ERROR, sqrt(square / count));
    pbd_metric(recorder, "front_bias", "1", PBD_STATE, mean / count);
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const dam_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    pbd_metric(recorder, "particles", "1", PBD_STATE, (double)scene->particles.count);
    pbd_metric(recorder, "spacing", "m", PBD_STATE, scene->particles.spacing);
    liquid_record(&detail->watch, recorder);
    if (detail->watch.looked) record_front(detail, recorder);
    granular_record_slice(scene, x, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_dam_break = {
    .name = "dam_break",
    .summary = "a column of liquid runs out over the floor: its front over time",
    .source = "Martin and Moyce 1952",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(dam_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
