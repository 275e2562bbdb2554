/* What a method has on the device, for the host: parts that are saved and loaded one after another, and what is summed
 * up block by block. Host code, in the caller's `real`; buffers are the caller's. */
#ifndef PBD_DEVICE_STATE_H
#define PBD_DEVICE_STATE_H

#include <math.h>
#include <stdlib.h>

#include "harness/exec/exec.h"
#include "harness/exec/real.h"

typedef struct device_part {
    void *device;
    size_t bytes;
} device_part;

static inline size_t device_parts_bytes(const device_part *part, size_t count) {
    size_t bytes = 0;
    for (size_t k = 0; k < count; k++) bytes += part[k].bytes;
    return bytes;
}

/* To `blob`, and from it: device_parts_bytes of it, in the order of the parts. */
static inline pbd_status device_parts_save(pbd_exec *exec, const device_part *part, size_t count, void *blob) {
    char *at = blob;
    for (size_t k = 0; k < count; at += part[k++].bytes) PBD_TRY(pbd_download(exec, at, part[k].device, part[k].bytes));
    return pbd_ok();
}

static inline pbd_status device_parts_load(pbd_exec *exec, const device_part *part, size_t count, const void *blob) {
    const char *at = blob;
    for (size_t k = 0; k < count; at += part[k++].bytes) PBD_TRY(pbd_upload(exec, part[k].device, at, part[k].bytes));
    return pbd_ok();
}

/* Takes `width` numbers of each block, which a kernel has left at `device`, into out: the first `largest` of them are
 * the largest of all and of what is there already (a NaN wins), the others are added to it, in the order of blocks.
 * Waits. */
static inline pbd_status device_blocks_take(pbd_exec *exec, const real *device, size_t blocks, size_t width,
                                            size_t largest, double *out) {
    const size_t count = width * blocks;
    real *block = malloc((count + 1) * sizeof *block);
    if (!block) return pbd_error(PBD_FAILED, "out of memory for the sums of %zu blocks", blocks);
    const pbd_status status = pbd_download(exec, block, device, count * sizeof *block);
    for (size_t i = 0; i < count && status.code == PBD_OK; i++) {
        const double x = (double)block[i];
        double *to = &out[i % width];
        *to = i % width >= largest ? *to + x : x > *to || isnan(x) ? x : *to;
    }
    free(block);
    return status;
}

#endif
