/* The arrays of a method's state, declared once in a table. The functions here allocate, free, save and load all rows
 * of it.
 *
 *     static size_t arrays_of(const grains *s, device_array *row) {
 *         const size_t n = s->particles;
 *         const device_array rows[] = {
 *             DEVICE_SAVED(s->x, 4 * n), DEVICE_SAVED(s->v, 4 * n), DEVICE_ARRAY(s->radius, n),
 *             DEVICE_ARRAY(s->later, s->forces_end > 0 ? 4 * n : 0), HOST_SAVED(s->time)};
 *         return DEVICE_ROWS(row, rows);
 *     }
 *
 * Also here: reading rows of particles, and combining the partial sums that a kernel left per block. The caller owns
 * the buffers. */
#ifndef PBD_DEVICE_STATE_H
#define PBD_DEVICE_STATE_H

#include <string.h>

#include "harness/exec/exec.h"
#include "harness/exec/real.h"

PBD_PRECISE(device_blocks_fold, device_blocks_take, device_rows_total, device_arrays_allocate, device_arrays_free,
            device_arrays_save, device_arrays_load, device_rows_read, device_blocks_bounds)

enum { DEVICE_MOST_ARRAYS = 96 };
enum { DEVICE_IS_SAVED = 1, DEVICE_ON_HOST = 2 };

typedef struct device_array {
    void **at;          /* the state's member: a pointer to device memory, or a host value */
    size_t count, size; /* elements; bytes of one. count 0: not allocated, stays NULL */
    unsigned flags;
} device_array;

#define DEVICE_ROW(member, count, size, flags) \
    { (void **)(uintptr_t) & (member), count, size, flags }
/* member: a pointer. SAVED: part of the state that a step starts from, so save and load include it. */
#define DEVICE_ARRAY(member, count) DEVICE_ROW(member, count, sizeof *(member), 0)
#define DEVICE_SAVED(member, count) DEVICE_ROW(member, count, sizeof *(member), DEVICE_IS_SAVED)
/* member: a value, not a pointer. */
#define HOST_SAVED(member) DEVICE_ROW(member, 1, sizeof(member), DEVICE_IS_SAVED | DEVICE_ON_HOST)
/* member: a pointer to host memory; NULL with count 0. */
#define HOST_ARRAY_SAVED(member, count) DEVICE_ROW(*(member), count, sizeof *(member), DEVICE_IS_SAVED | DEVICE_ON_HOST)
/* Copies the table `rows` to `out`, which has room for DEVICE_MOST_ARRAYS; evaluates to its length. */
#define DEVICE_ROWS(out, rows) (memcpy(out, rows, sizeof(rows)), sizeof(rows) / sizeof *(rows))

/* Allocates the arrays, zeroed. Arrays that already exist are left as they are. After a failure the caller frees
 * all. */
pbd_status device_arrays_allocate(pbd_exec *exec, const device_array *row, size_t count);
/* Frees the device arrays and sets their members to NULL. */
void device_arrays_free(pbd_exec *exec, const device_array *row, size_t count);

/* A method's `save` and `load`: the rows marked as saved, in the order of the table. blob NULL: only sets *bytes.
 * PBD_BAD_INPUT for a blob of another size. */
pbd_status device_arrays_save(pbd_exec *exec, const device_array *row, size_t count, void *blob, size_t *bytes);
pbd_status device_arrays_load(pbd_exec *exec, const device_array *row, size_t count, const char *method,
                              const void *blob, size_t bytes);

/* Defines a method's `save` and `load` for a state that is one struct `method`. `exec` and `loaded` are expressions in
 * the state's pointer s; `loaded` is the status that `load` returns. */
#define DEVICE_SAVING(method, exec, arrays_of, loaded)                                   \
    static pbd_status save(const void *state, void *blob, size_t *bytes) {               \
        const method *s = state;                                                         \
        device_array row[DEVICE_MOST_ARRAYS];                                            \
        return device_arrays_save(exec, row, arrays_of(s, row), blob, bytes);            \
    }                                                                                    \
    static pbd_status load(void *state, const void *blob, size_t bytes) {                \
        method *s = state;                                                               \
        device_array row[DEVICE_MOST_ARRAYS];                                            \
        PBD_TRY(device_arrays_load(exec, row, arrays_of(s, row), #method, blob, bytes)); \
        return loaded;                                                                   \
    }

/* Reads n rows of `stride` numbers from `device`. The columns `column` (NULL: the first `width`) of row i go as doubles
 * to row number[i] of out (NULL: i). Waits. */
pbd_status device_rows_read(pbd_exec *exec, const real *device, size_t n, size_t stride, size_t width,
                            const size_t *column, const uint32_t *number, double *out);

/* Reduces the rows at `device`, of `width` numbers, which a kernel wrote for each block, to a few rows; *blocks becomes
 * their number. It works on the device, in place, and in the same way on every backend. The first `bounds` columns are
 * reduced by minimum and the next `bounds` by maximum, both ignoring NaN; the next `largest` by maximum, keeping NaN;
 * the others by addition. Does not wait. */
pbd_status device_blocks_fold(pbd_exec *exec, real *device, size_t *blocks, size_t width, size_t bounds,
                              size_t largest);
/* Reduces the rows to one and combines it with the previous values of out. The rows at `device` are lost. Waits. */
pbd_status device_blocks_take(pbd_exec *exec, real *device, size_t blocks, size_t width, size_t largest, double *out);
/* The same on the host alone, in double and in the order of the rows, which are kept. */
pbd_status device_rows_total(pbd_exec *exec, const real *device, size_t rows, size_t width, size_t largest,
                             double *out);

/* Reduces blocks of six numbers at `device`: the minimum of the first three, the maximum of the others. NaN is ignored.
 * Without blocks: infinity and -infinity. The rows at `device` are lost. Waits. */
pbd_status device_blocks_bounds(pbd_exec *exec, real *device, size_t blocks, double low[3], double high[3]);

#endif
