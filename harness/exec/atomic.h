/* Words of device memory to which several items of a launch write, on each of the three backends.
 *
 * During a launch their values depend on the order of the items, and so may their values at its end, as long as no
 * result depends on them. The emulation therefore does not compare the two orders of a launch in such buffers. */
#ifndef PBD_ATOMIC_H
#define PBD_ATOMIC_H

#include "harness/exec/lanes.h"

PBD_FN uint32_t atomic_read(const uint32_t *at) {
#if defined(__CUDA_ARCH__)
    return *(const volatile uint32_t *)at;
#else
    return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

/* *at becomes the smaller of itself and `value`. Returns what it was before. */
PBD_FN uint32_t atomic_min(uint32_t *at, uint32_t value) {
#if defined(__CUDA_ARCH__)
    return atomicMin(at, value);
#else
#if defined(PBD_EMULATE)
    pbd_emu_unordered(at);
#endif
    uint32_t before = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (value < before && !__atomic_compare_exchange_n(at, &before, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    return before;
#endif
}

#endif
