#include "methods/physics/space/shape_making.h"

#include <math.h>
#include <stdlib.h>

#include "methods/physics/space/shape_making_kernels.h"

typedef struct shape_maker {
    pbd_exec *exec;
    size_t particles, pairs;
    real *rest, *gradient; /* device, as in shape_args; likewise the next */
    uint32_t *first, *neighbour, *deficient;
    int kernel, flags;
    real support;
} shape_maker;

static void shape_maker_close(shape_maker *m) {
    void *device[] = {m->rest, m->gradient, m->first, m->neighbour, m->deficient};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(m->exec, device[i]);
}

/* Fills host arrays and sends them: rows of X and V, and where each particle's neighbours begin. */
static pbd_status shape_maker_send(const particle_layout *l, shape_maker *m) {
    const size_t n = m->particles;
    real *rest = malloc((4 * n + 1) * sizeof *rest);
    uint32_t *first = malloc((n + 1) * sizeof *first);
    pbd_status status =
        rest && first ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for the kernels of %zu particles", n);
    for (size_t i = 0; i < 4 * n && status.code == PBD_OK; i++)
        rest[i] = (real)(i % 4 < 3 ? l->rest[3 * (i / 4) + i % 4] : l->volume[i / 4]);
    for (size_t i = 0; i <= n && status.code == PBD_OK; i++) first[i] = (uint32_t)l->near.first[i];
    if (status.code == PBD_OK) status = pbd_upload(m->exec, m->rest, rest, 4 * n * sizeof *rest);
    if (status.code == PBD_OK) status = pbd_upload(m->exec, m->first, first, (n + 1) * sizeof *first);
    if (status.code == PBD_OK)
        status = pbd_upload(m->exec, m->neighbour, l->near.particle, m->pairs * sizeof *m->neighbour);
    free(rest);
    free(first);
    return status;
}

/* Close *m whatever comes back. */
static pbd_status shape_maker_open(pbd_exec *exec, const particle_layout *l, const shape_choice *choice,
                                   shape_maker *m) {
    const size_t n = l->particles, pairs = l->near.first[n];
    *m = (shape_maker){.exec = exec,
                       .particles = n,
                       .pairs = pairs,
                       .kernel = choice->kernel,
                       .flags = shape_flags(choice),
                       .support = (real)choice->radius};
    void *memory[5] = {0};
    const size_t bytes[5] = {4 * n * sizeof(real), 3 * pairs * sizeof(real) + 1, (n + 1) * sizeof(uint32_t),
                             pairs * sizeof(uint32_t) + 1, n * sizeof(uint32_t)};
    pbd_status status = pbd_ok();
    for (int i = 0; i < 5 && status.code == PBD_OK; i++) status = pbd_alloc(exec, bytes[i], &memory[i]);
    m->rest = memory[0];
    m->gradient = memory[1];
    m->first = memory[2];
    m->neighbour = memory[3];
    m->deficient = memory[4];
    return status.code == PBD_OK ? shape_maker_send(l, m) : status;
}

static pbd_status shape_maker_run(const shape_maker *m) {
    const shape_args args = {m->rest,      m->first,   m->neighbour, m->gradient,
                             m->deficient, m->support, m->kernel,    m->flags};
    return PBD_RUN(m->exec, make_shape, m->particles, (pbd_work){m->particles, m->pairs}, &args);
}

/* The largest difference from the host's, over the largest entry of those. */
static pbd_status shape_maker_compare(const shape_maker *m, const particle_layout *l, const shape_choice *choice,
                                      double *out) {
    shape_gradients host = {0};
    double difference = 0, largest = 0;
    real *mine = malloc((3 * m->pairs + 1) * sizeof *mine);
    if (!mine) return pbd_error(PBD_FAILED, "out of memory for %zu pairs of neighbours", m->pairs);
    pbd_status status = pbd_download(m->exec, mine, m->gradient, 3 * m->pairs * sizeof *mine);
    if (status.code == PBD_OK) status = shape_gradients_make(&l->near, l->rest, l->volume, choice, NULL, &host);
    for (size_t k = 0; k < 3 * m->pairs && status.code == PBD_OK; k++) {
        const double off = fabs((double)mine[k] - host.gradient[k]);
        if (!(off <= difference)) difference = off; /* NaN is the largest */
        largest = fmax(largest, fabs(host.gradient[k]));
    }
    *out = largest > 0 ? difference / largest : difference;
    free(mine);
    shape_gradients_free(&host);
    return status;
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
    shape_maker m;
    double error = 0, *wall = malloc((2 * runs + 1) * sizeof *wall);
    if (!wall) return pbd_error(PBD_FAILED, "out of memory for %zu times", runs);
    pbd_status status = shape_maker_open(exec, l, choice, &m);
    if (status.code == PBD_OK) status = shape_maker_run(&m);
    if (status.code == PBD_OK) status = shape_maker_compare(&m, l, choice, &error);
    if (status.code == PBD_OK) status = shape_maker_time(&m, runs, wall, wall + runs);
    shape_maker_close(&m);
    if (status.code == PBD_OK) {
        pbd_series(recorder, "kernel_times", "value", "s", wall, runs, 1);
        pbd_metric(recorder, "kernel_time", "s", PBD_COST, shape_median(wall, runs));
        pbd_metric(recorder, "kernel_cpu_time", "s", PBD_COST, shape_median(wall + runs, runs));
        pbd_metric(recorder, "kernel_error", "1", PBD_ERROR, error);
    }
    free(wall);
    return status;
}
