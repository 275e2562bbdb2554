/* Sums over the lanes of a tile: every lane receives the result, in the same order of additions wherever there are as
 * many lanes. One lane on the CPU: nothing to add. */
#ifndef PBD_TILE_H
#define PBD_TILE_H

#include "harness/exec/lanes.h"
#include "harness/exec/vec.h"

/* Sums `count` values at once: in the emulation an exchange costs a round of all lanes, whatever it carries. */
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

/* What any lane of the tile wrote before is seen by all of them after. All lanes must come. */
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
