/* Sums over the lanes of a tile. Every lane receives the result; the order of additions depends only on the number of
 * lanes. The CPU has one lane: no additions. Copies to shared memory during which a lane computes. */
#ifndef PBD_TILE_H
#define PBD_TILE_H

#include "harness/exec/lanes.h"
#include "harness/exec/vec.h"

#if defined(__CUDACC__)
#include <cuda_pipeline_primitives.h>
#endif

/* Sums `count` values at once, because an exchange in the emulation costs a switch of all lanes for any number of
 * values. */
PBD_FN void tile_sums(real *v, int count) {
#if defined(PBD_EMULATE)
    pbd_emu_tile_sums(v, count, sizeof(real) == sizeof(double));
#elif defined(__CUDACC__)
    for (int other = PBD_LANES / 2; other > 0; other /= 2)
        for (int i = 0; i < count; i++) v[i] += lane_exchange(v[i], other);
#else
    (void)v;
    (void)count;
#endif
}

/* Memory barrier of a tile: writes before it are visible to all its lanes after it. All lanes must call it. */
PBD_FN void tile_barrier(void) {
#if defined(PBD_EMULATE)
    real nothing = 0;
    pbd_emu_tile_sums(&nothing, 1, sizeof(real) == sizeof(double));
#elif defined(__CUDA_ARCH__)
    __syncwarp(PBD_TILE_MASK);
#endif
}

PBD_FN real tile_sum(real v) {
    tile_sums(&v, 1);
    return v;
}

PBD_FN vec3 tile_sum3(vec3 v) {
    real sums[3] = {v.x, v.y, v.z};
    tile_sums(sums, 3);
    return vec3_make(sums[0], sums[1], sums[2]);
}

/* ---- Copies to shared memory, on a GPU --------------------------------------------------------------------------- */

/* Begins a copy of 4, 8 or 16 bytes, aligned to as many, into shared memory (cp.async). lane_fetch_wait completes all
 * copies of the calling lane; for other lanes a barrier follows. Nothing may write `from` before. */
PBD_FN void lane_fetch(void *to, const void *from, size_t bytes) {
#if defined(PBD_EMULATE)
    pbd_emu_fetch(to, from, bytes);
#elif defined(__CUDA_ARCH__)
    __pipeline_memcpy_async(to, from, bytes);
#else
    (void)to;
    (void)from;
    (void)bytes;
#endif
}

PBD_FN void lane_fetch_wait(void) {
#if defined(PBD_EMULATE)
    pbd_emu_fetch_wait();
#elif defined(__CUDA_ARCH__)
    __pipeline_commit();
    __pipeline_wait_prior(0);
#endif
}

/* A row of four, as row_load reads it. */
PBD_FN void lane_fetch_row(real *to, const real *from) {
    for (size_t d = 0; d < 4; d += 16 / sizeof(real)) lane_fetch(to + d, from + d, 16);
}

/* Asks for the memory at `at`, which will be read soon, from the cache that all multiprocessors share. */
PBD_FN void lane_prefetch(const void *at) {
#if defined(__CUDA_ARCH__)
    asm volatile("prefetch.global.L2 [%0];" : : "l"(at));
#else
    (void)at;
#endif
}

#endif
