#include "methods/physics/device/device_state.h"

#include <math.h>

#include "harness/exec/arena.h"
#include "harness/exec/team.h"
#include "methods/physics/device/device_state_kernels.h"

pbd_status device_arrays_allocate(pbd_exec *exec, const device_array *row, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (row[k].count > 0 && !(row[k].flags & DEVICE_ON_HOST) && !*row[k].at)
            PBD_TRY(pbd_alloc(exec, row[k].count * row[k].size, row[k].at));
    return pbd_ok();
}

void device_arrays_free(pbd_exec *exec, const device_array *row, size_t count) {
    for (size_t k = 0; k < count; k++) {
        if (row[k].flags & DEVICE_ON_HOST) continue;
        pbd_free(exec, *row[k].at);
        *row[k].at = NULL;
    }
}

static size_t saved_bytes(const device_array *row, size_t count) {
    size_t bytes = 0;
    for (size_t k = 0; k < count; k++) bytes += row[k].flags & DEVICE_IS_SAVED ? row[k].count * row[k].size : 0;
    return bytes;
}

pbd_status device_arrays_save(pbd_exec *exec, const device_array *row, size_t count, void *blob, size_t *bytes) {
    char *at = blob;
    *bytes = saved_bytes(row, count);
    for (size_t k = 0; k < count && blob; k++) {
        const size_t own = row[k].count * row[k].size;
        if (!(row[k].flags & DEVICE_IS_SAVED) || own == 0) continue;
        if (row[k].flags & DEVICE_ON_HOST)
            memcpy(at, row[k].at, own);
        else
            PBD_TRY(pbd_download(exec, at, *row[k].at, own));
        at += own;
    }
    return pbd_ok();
}

pbd_status device_arrays_load(pbd_exec *exec, const device_array *row, size_t count, const char *method,
                              const void *blob, size_t bytes) {
    const char *at = blob;
    const size_t wanted = saved_bytes(row, count);
    if (bytes != wanted)
        return pbd_error(PBD_BAD_INPUT, "%s: the saved state has %zu bytes, not %zu", method, bytes, wanted);
    for (size_t k = 0; k < count; k++) {
        const size_t own = row[k].count * row[k].size;
        if (!(row[k].flags & DEVICE_IS_SAVED) || own == 0) continue;
        if (row[k].flags & DEVICE_ON_HOST)
            memcpy(row[k].at, at, own);
        else
            PBD_TRY(pbd_upload(exec, *row[k].at, at, own));
        at += own;
    }
    return pbd_ok();
}

typedef struct reading {
    const real *rows;
    size_t stride, width;
    const size_t *column;
    const uint32_t *number;
    double *out;
} reading;

static void read_rows(void *context, size_t begin, size_t end) {
    const reading *r = context;
    for (size_t i = begin; i < end; i++) {
        const real *row = r->rows + r->stride * i;
        double *out = r->out + r->width * (r->number ? r->number[i] : i);
        for (size_t d = 0; d < r->width; d++) out[d] = (double)row[r->column ? r->column[d] : d];
    }
}

enum { READ_PIECE = 32768 }; /* rows that a thread of the host takes at a time */

pbd_status device_rows_read(pbd_exec *exec, const real *device, size_t n, size_t stride, size_t width,
                            const size_t *column, const uint32_t *number, double *out) {
    reading r = {device, stride, width, column, number, out};
    pbd_arena a PBD_ARENA;
    if (pbd_exec_is_gpu(exec)) {
        real *rows = pbd_new(&a, real, stride * n);
        PBD_TRY(pbd_arena_check(&a));
        PBD_TRY(pbd_download(exec, rows, device, stride * n * sizeof *rows));
        r.rows = rows;
    } else {
        PBD_TRY(pbd_exec_wait(exec)); /* for deferred launches; the memory is the host's own */
    }
    pbd_team_run(n, READ_PIECE, read_rows, &r);
    return pbd_ok();
}

enum { FEW_BLOCKS = 2048 }; /* largest number of rows left to the host */

pbd_status device_blocks_fold(pbd_exec *exec, real *device, size_t *blocks, size_t width, size_t bounds,
                              size_t largest) {
    while (*blocks > FEW_BLOCKS) {
        const size_t left = (*blocks + DEVICE_FOLD - 1) / DEVICE_FOLD;
        const device_fold_args args = {device, width, bounds, largest, *blocks, left};
        PBD_TRY(PBD_RUN(exec, device_fold, left * width, &args));
        *blocks = left;
    }
    return pbd_ok();
}

pbd_status device_blocks_take(pbd_exec *exec, real *device, size_t blocks, size_t width, size_t largest, double *out) {
    PBD_TRY(device_blocks_fold(exec, device, &blocks, width, 0, largest));
    return device_rows_total(exec, device, blocks, width, largest, out);
}

pbd_status device_rows_total(pbd_exec *exec, const real *device, size_t rows, size_t width, size_t largest,
                             double *out) {
    const size_t count = width * rows;
    pbd_arena a PBD_ARENA;
    real *block = pbd_new(&a, real, count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(exec, block, device, count * sizeof *block));
    for (size_t i = 0; i < count; i++) {
        const double x = (double)block[i];
        double *to = &out[i % width];
        *to = i % width >= largest ? *to + x : x > *to || isnan(x) ? x : *to;
    }
    return pbd_ok();
}

pbd_status device_blocks_bounds(pbd_exec *exec, real *device, size_t blocks, double low[3], double high[3]) {
    PBD_TRY(device_blocks_fold(exec, device, &blocks, 6, 3, 0));
    pbd_arena a PBD_ARENA;
    real *block = pbd_new(&a, real, 6 * blocks);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(exec, block, device, 6 * blocks * sizeof *block));
    for (size_t d = 0; d < 3; d++) {
        low[d] = INFINITY;
        high[d] = -INFINITY;
        for (size_t b = 0; b < blocks; b++) {
            low[d] = fmin(low[d], (double)block[6 * b + d]);
            high[d] = fmax(high[d], (double)block[6 * b + 3 + d]);
        }
    }
    return pbd_ok();
}
