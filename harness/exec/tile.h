/* Sums over the lanes of a tile. Every lane receives the result; the order of additions depends only on the number of
 * lanes. The CPU has one lane: no additions. */
#ifndef PBD_TILE_H
#define PBD_TILE_H

#include "harness/exec/lanes.h"
#include "harness/exec/vec.h"

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

#endif
