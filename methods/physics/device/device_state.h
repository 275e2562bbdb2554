/* What a method has on the device, for the host: parts that are saved and loaded one after another, and what is summed
 * up block by block. Buffers are the caller's. */
#ifndef PBD_DEVICE_STATE_H
#define PBD_DEVICE_STATE_H

#include "harness/exec/exec.h"
#include "harness/exec/real.h"

PBD_PRECISE(device_parts_bytes, device_parts_save, device_parts_load, device_blocks_take)

typedef struct device_part {
    void *device;
    size_t bytes;
} device_part;

size_t device_parts_bytes(const device_part *part, size_t count);

/* To `blob`, and from it: device_parts_bytes of it, in the order of the parts. */
pbd_status device_parts_save(pbd_exec *exec, const device_part *part, size_t count, void *blob);
pbd_status device_parts_load(pbd_exec *exec, const device_part *part, size_t count, const void *blob);

/* Takes `width` numbers of each block, which a kernel has left at `device`, into out: the first `largest` of them are
 * the largest of all and of what is there already (a NaN wins), the others are added to it, in the order of blocks.
 * Waits. */
pbd_status device_blocks_take(pbd_exec *exec, const real *device, size_t blocks, size_t width, size_t largest,
                              double *out);

#endif
