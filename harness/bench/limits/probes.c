#include "harness/bench/limits/probes.h"

#include <stdlib.h>
#include <string.h>

#include "harness/bench/limits/limits_kernels.h"
#include "harness/exec/arena.h"

struct pbd_probe {
    pbd_exec *exec;
    pbd_probe_kind kind;
    size_t count; /* elements, items or particles */
    size_t pairs, slices, colour[PBD_CLOUD_COLOURS + 1], bundle[PBD_CLOUD_COLOURS + 1];
    void *array[PBD_ARRAYS];
    size_t numbers[PBD_ARRAYS];
    void *first, *neighbour, *cell, *own, *slice, *row;
    real inverse_square;
    pbd_repeat *repeat;
};

enum { LAUNCHES = 100 }; /* of one pass of PBD_PROBE_LAUNCH and PBD_PROBE_GRAPH_LAUNCH */

_Static_assert((int)CLOUD_LANES == (int)PBD_CLOUD_LANES, "kernels and lists agree on the particles of a slice");

static bool has_slices(pbd_probe_kind kind) { return kind >= PBD_PROBE_GATHER_SLICES && kind <= PBD_PROBE_SLICES; }

static bool has_cloud(pbd_probe_kind kind) {
    return has_slices(kind) || (kind >= PBD_PROBE_GATHER && kind <= PBD_PROBE_GATHER_SCATTER);
}

static void probe_close(pbd_probe *p) {
    if (!p) return;
    pbd_repeat_free(p->exec, p->repeat);
    for (int i = 0; i < PBD_ARRAYS; i++) pbd_free(p->exec, p->array[i]);
    pbd_free(p->exec, p->first);
    pbd_free(p->exec, p->neighbour);
    pbd_free(p->exec, p->cell);
    pbd_free(p->exec, p->own);
    pbd_free(p->exec, p->slice);
    pbd_free(p->exec, p->row);
    free(p);
}

static pbd_status probe_write(pbd_probe *p, pbd_probe_array array, const double *values, size_t count) {
    if (count > p->numbers[array])
        return pbd_error(PBD_BAD_INPUT, "a probe's array holds %zu numbers, not %zu", p->numbers[array], count);
    pbd_arena a PBD_ARENA;
    real *copy = pbd_new(&a, real, count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < count; i++) copy[i] = (real)values[i];
    return pbd_upload(p->exec, p->array[array], copy, count * sizeof *copy);
}

static pbd_status probe_read(pbd_probe *p, pbd_probe_array array, double *values, size_t count) {
    if (count > p->numbers[array])
        return pbd_error(PBD_BAD_INPUT, "a probe's array holds %zu numbers, not %zu", p->numbers[array], count);
    pbd_arena a PBD_ARENA;
    real *copy = pbd_new(&a, real, count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(p->exec, copy, p->array[array], count * sizeof *copy));
    for (size_t i = 0; i < count; i++) values[i] = (double)copy[i];
    return pbd_ok();
}

static pbd_status allocate(pbd_probe *p, pbd_probe_array array, size_t numbers) {
    p->numbers[array] = numbers;
    return pbd_alloc(p->exec, numbers * sizeof(real), &p->array[array]);
}

static pbd_status upload_list(pbd_probe *p, const uint32_t *list, size_t count, void **out) {
    PBD_TRY(pbd_alloc(p->exec, count * sizeof *list, out));
    return pbd_upload(p->exec, *out, list, count * sizeof *list);
}

/* Velocities start as a rotation. */
static pbd_status fill_cloud(pbd_probe *p, const pbd_cloud *cloud) {
    const size_t n = cloud->particles;
    pbd_arena a PBD_ARENA;
    double *x = pbd_new(&a, double, 4 * n), *v = pbd_new(&a, double, 4 * n);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < 3; d++) x[4 * i + d] = cloud->x[3 * i + d];
        v[4 * i] = -1e-3 * x[4 * i + 1];
        v[4 * i + 1] = 1e-3 * x[4 * i];
    }
    PBD_TRY(probe_write(p, PBD_ARRAY_X, x, 4 * n));
    return probe_write(p, PBD_ARRAY_V, v, 4 * n);
}

static pbd_status open_cloud(pbd_probe *p, const pbd_cloud *cloud) {
    p->count = cloud->particles;
    p->pairs = cloud->pairs;
    p->slices = cloud->slices;
    memcpy(p->colour, cloud->colour, sizeof p->colour);
    memcpy(p->bundle, cloud->bundle, sizeof p->bundle);
    p->inverse_square = (real)(1 / (cloud->support * cloud->support));
    PBD_TRY(allocate(p, PBD_ARRAY_X, 4 * (p->count + cloud->empty)));
    PBD_TRY(allocate(p, PBD_ARRAY_V, 4 * (p->count + cloud->empty)));
    PBD_TRY(allocate(p, PBD_ARRAY_MATRIX, 12 * (p->count + cloud->empty)));
    if (has_slices(p->kind)) {
        PBD_TRY(upload_list(p, cloud->own, PBD_CLOUD_LANES * cloud->slices, &p->own));
        PBD_TRY(upload_list(p, cloud->slice, cloud->slices + 1, &p->slice));
        PBD_TRY(upload_list(p, cloud->row, PBD_CLOUD_LANES * cloud->rows, &p->row));
    } else {
        PBD_TRY(upload_list(p, cloud->first, p->count + 1, &p->first));
        PBD_TRY(upload_list(p, cloud->neighbour, cloud->entries, &p->neighbour));
        PBD_TRY(upload_list(p, cloud->cell, cloud->cells, &p->cell));
    }
    return fill_cloud(p, cloud);
}

static pbd_status open_arrays(pbd_probe *p) {
    PBD_TRY(allocate(p, PBD_ARRAY_A, p->count));
    if (p->kind == PBD_PROBE_FMA) return pbd_ok();
    PBD_TRY(allocate(p, PBD_ARRAY_B, p->count));
    return p->kind == PBD_PROBE_TRIAD ? allocate(p, PBD_ARRAY_C, p->count) : pbd_ok();
}

static pbd_status probe_open(pbd_exec *exec, pbd_probe_kind kind, size_t count, const pbd_cloud *cloud,
                             pbd_probe **out) {
    *out = NULL;
    pbd_probe *p = calloc(1, sizeof *p);
    if (!p) return pbd_no_memory();
    p->exec = exec;
    p->kind = kind;
    p->count = kind == PBD_PROBE_LAUNCH || kind == PBD_PROBE_GRAPH_LAUNCH ? 1 : count;
    pbd_status status = has_cloud(kind) ? open_cloud(p, cloud) : open_arrays(p);
    if (status.code != PBD_OK)
        probe_close(p);
    else
        *out = p;
    return status;
}

static cloud_args args_of(const pbd_probe *p) {
    return (cloud_args){.x = p->array[PBD_ARRAY_X],
                        .v = p->array[PBD_ARRAY_V],
                        .first = p->first,
                        .neighbour = p->neighbour,
                        .matrix = p->array[PBD_ARRAY_MATRIX],
                        .own = p->own,
                        .slice = p->slice,
                        .row = p->row,
                        .inverse_square = p->inverse_square,
                        .scale = (real)PBD_PROBE_SCALE};
}

static pbd_status run_gather(pbd_probe *p) {
    const cloud_args args = args_of(p);
    if (has_slices(p->kind)) return PBD_RUN(p->exec, gather_slices, CLOUD_LANES * p->slices, &args);
    return PBD_RUN(p->exec, gather, p->count, &args);
}

static pbd_status run_scatter(pbd_probe *p) {
    cloud_args args = args_of(p);
    for (int c = 0; c < PBD_CLOUD_COLOURS; c++) {
        if (has_slices(p->kind)) {
            args.lane = CLOUD_LANES * p->bundle[c];
            PBD_TRY(PBD_RUN(p->exec, scatter_slices, CLOUD_LANES * (p->bundle[c + 1] - p->bundle[c]), &args));
        } else {
            args.cell = (const uint32_t *)p->cell + p->colour[c];
            PBD_TRY(PBD_RUN(p->exec, scatter, p->colour[c + 1] - p->colour[c], &args));
        }
    }
    return pbd_ok();
}

static pbd_status launch_often(pbd_probe *p, const stream_args *args) {
    for (int i = 0; i < LAUNCHES; i++) PBD_TRY(PBD_RUN(p->exec, copy, 1, args));
    return pbd_ok();
}

static pbd_status launch_as_one(pbd_probe *p, const stream_args *args) {
    PBD_TRY(pbd_repeat_begin(p->exec, &p->repeat));
    PBD_TRY(launch_often(p, args));
    return pbd_repeat_end(p->exec);
}

static pbd_status probe_pass(pbd_probe *p) {
    const stream_args stream = {
        .b = p->array[PBD_ARRAY_B], .c = p->array[PBD_ARRAY_C], .a = p->array[PBD_ARRAY_A], .s = 3};
    fma_args chains = {(real)0.9990234375, (real)0.0009765625, p->array[PBD_ARRAY_A]};
    switch (p->kind) {
        case PBD_PROBE_TRIAD:
            return PBD_RUN(p->exec, triad, p->count, &stream);
        case PBD_PROBE_COPY:
            return PBD_RUN(p->exec, copy, p->count, &stream);
        case PBD_PROBE_FMA:
            return PBD_RUN(p->exec, fma_chains, p->count, &chains);
        case PBD_PROBE_GATHER:
        case PBD_PROBE_GATHER_SLICES:
            return run_gather(p);
        case PBD_PROBE_SCATTER:
        case PBD_PROBE_SCATTER_SLICES:
            return run_scatter(p);
        case PBD_PROBE_GATHER_SCATTER:
        case PBD_PROBE_SLICES:
            PBD_TRY(run_gather(p));
            return run_scatter(p);
        case PBD_PROBE_LAUNCH:
            return launch_often(p, &stream);
        case PBD_PROBE_GRAPH_LAUNCH:
            return launch_as_one(p, &stream);
    }
    return pbd_ok();
}

static double probe_work(const pbd_probe *p) {
    switch (p->kind) {
        case PBD_PROBE_TRIAD:
            return 3.0 * sizeof(real) * (double)p->count;
        case PBD_PROBE_COPY:
            return 2.0 * sizeof(real) * (double)p->count;
        case PBD_PROBE_FMA:
            return 2.0 * FMA_PER_ITEM * (double)p->count;
        case PBD_PROBE_LAUNCH:
        case PBD_PROBE_GRAPH_LAUNCH:
            return LAUNCHES;
        default:
            return (double)p->pairs;
    }
}

const pbd_probe_ops PBD_NAME(pbd_probes) = {sizeof(real), FMA_CHAINS,  PBD_BATCH,  probe_open, probe_pass,
                                            probe_work,   probe_write, probe_read, probe_close};
