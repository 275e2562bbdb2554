#include "methods/physics/device/device_state.h"

#include <math.h>
#include <stdlib.h>

size_t device_parts_bytes(const device_part *part, size_t count) {
    size_t bytes = 0;
    for (size_t k = 0; k < count; k++) bytes += part[k].bytes;
    return bytes;
}

pbd_status device_parts_save(pbd_exec *exec, const device_part *part, size_t count, void *blob) {
    char *at = blob;
    for (size_t k = 0; k < count; at += part[k++].bytes) PBD_TRY(pbd_download(exec, at, part[k].device, part[k].bytes));
    return pbd_ok();
}

pbd_status device_parts_load(pbd_exec *exec, const device_part *part, size_t count, const void *blob) {
    const char *at = blob;
    for (size_t k = 0; k < count; at += part[k++].bytes) PBD_TRY(pbd_upload(exec, part[k].device, at, part[k].bytes));
    return pbd_ok();
}

pbd_status device_blocks_take(pbd_exec *exec, const real *device, size_t blocks, size_t width, size_t largest,
                              double *out) {
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
