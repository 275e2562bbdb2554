#include "methods/physics/space/shape_making.h"

#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/space/shape_making_kernels.h"

typedef struct shape_maker {
    pbd_exec *exec;
    size_t particles, pairs;
    real *rest, *gradient; /* device, as in shape_args, also on the next line */
    uint32_t *first, *neighbour, *deficient;
    int kernel, flags;
    real support;
} shape_maker;

static size_t arrays_of(const shape_maker *m, device_array *row) {
    const size_t n = m->particles;
    const device_array rows[] = {DEVICE_ARRAY(m->rest, 4 * n), DEVICE_ARRAY(m->gradient, 3 * m->pairs + 1),
                                 DEVICE_ARRAY(m->first, n + 1), DEVICE_ARRAY(m->neighbour, m->pairs + 1),
                                 DEVICE_ARRAY(m->deficient, n)};
    return DEVICE_ROWS(row, rows);
}

static void shape_maker_close(shape_maker *m) {
    device_array row[DEVICE_MOST_ARRAYS];
    device_arrays_free(m->exec, row, arrays_of(m, row));
}

/* Uploads rows of X and V, and each particle's neighbours. Close *m also after an error. */
static pbd_status shape_maker_open(const particle_layout *l, shape_maker *m) {
    const size_t n = m->particles;
    device_array row[DEVICE_MOST_ARRAYS];
    pbd_arena a PBD_ARENA;
    real *rest = pbd_new(&a, real, 4 * n);
    uint32_t *first = pbd_new(&a, uint32_t, n + 1);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(device_arrays_allocate(m->exec, row, arrays_of(m, row)));
    for (size_t i = 0; i < 4 * n; i++) rest[i] = (real)(i % 4 < 3 ? l->rest[3 * (i / 4) + i % 4] : l->volume[i / 4]);
    for (size_t i = 0; i <= n; i++) first[i] = (uint32_t)l->near.first[i];
    PBD_TRY(pbd_upload(m->exec, m->rest, rest, 4 * n * sizeof *rest));
    PBD_TRY(pbd_upload(m->exec, m->first, first, (n + 1) * sizeof *first));
    return pbd_upload(m->exec, m->neighbour, l->near.particle, m->pairs * sizeof *m->neighbour);
}

static pbd_status shape_maker_run(const shape_maker *m) {
    const shape_args args = {m->rest,  m->first, m->neighbour, m->gradient, m->deficient, m->support, m->kernel,
                             m->flags, 0};
    return PBD_RUN(m->exec, make_shape, m->particles, (pbd_work){.items = m->particles, .entries = m->pairs}, &args);
}

/* The largest difference from the host's gradients, relative to their largest entry. */
static pbd_status shape_maker_compare(const shape_maker *m, const particle_layout *l, const shape_choice *choice,
                                      double *out) {
    shape_gradients host PBD_CLEANUP(shape_gradients_free) = {0};
    double difference = 0, largest = 0;
    pbd_arena a PBD_ARENA;
    real *mine = pbd_new(&a, real, 3 * m->pairs);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(m->exec, mine, m->gradient, 3 * m->pairs * sizeof *mine));
    PBD_TRY(shape_gradients_make(&l->near, l->rest, l->volume, choice, NULL, &host));
    for (size_t k = 0; k < 3 * m->pairs; k++) {
        const double off = fabs((double)mine[k] - host.gradient[k]);
        if (!(off <= difference)) difference = off; /* keeps NaN */
        largest = fmax(largest, fabs(host.gradient[k]));
    }
    *out = largest > 0 ? difference / largest : difference;
    return pbd_ok();
}

static int compare_times(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double shape_median(double *times, size_t runs) {
    qsort(times, runs, sizeof *times, compare_times);
    return 0.5 * (times[(runs - 1) / 2] + times[runs / 2]);
}

static pbd_status shape_maker_time(const shape_maker *m, size_t runs, double *wall, double *cpu) {
    for (size_t i = 0; i < runs; i++) {
        pbd_exec_time took;
        PBD_TRY(pbd_exec_timer_begin(m->exec));
        PBD_TRY(shape_maker_run(m));
        PBD_TRY(pbd_exec_timer_end(m->exec, &took));
        wall[i] = took.wall_s;
        cpu[i] = took.cpu_s;
    }
    return pbd_ok();
}

pbd_status shape_time_making(pbd_exec *exec, const particle_layout *l, const shape_choice *choice, size_t runs,
                             pbd_recorder *recorder) {
    shape_maker m PBD_CLEANUP(shape_maker_close) = {.exec = exec,
                                                    .particles = l->particles,
                                                    .pairs = l->near.first[l->particles],
                                                    .kernel = choice->kernel,
                                                    .flags = shape_flags(choice),
                                                    .support = (real)choice->radius};
    double error = 0;
    pbd_arena a PBD_ARENA;
    double *wall = pbd_new(&a, double, 2 * runs);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(shape_maker_open(l, &m));
    PBD_TRY(shape_maker_run(&m));
    PBD_TRY(shape_maker_compare(&m, l, choice, &error));
    PBD_TRY(shape_maker_time(&m, runs, wall, wall + runs));
    pbd_series(recorder, "kernel_times", "value", "s", wall, runs, 1);
    pbd_metric(recorder, "kernel_time", "s", PBD_COST, shape_median(wall, runs));
    pbd_metric(recorder, "kernel_cpu_time", "s", PBD_COST, shape_median(wall + runs, runs));
    pbd_metric(recorder, "kernel_error", "1", PBD_ERROR, error);
    return pbd_ok();
}
