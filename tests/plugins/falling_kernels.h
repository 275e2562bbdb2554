/* Free fall of each particle under its load: a kernel of every shape that needs no neighbours. */
#ifndef FALLING_KERNELS_H
#define FALLING_KERNELS_H

#include "harness/exec/kernel.h"
#include "harness/exec/tile.h"

typedef struct fall_args {
    real *x, *v;   /* particles x 3 */
    const real *a; /* m/s^2 */
    real *sum;     /* particles: |v| by components, added up over the lanes */
    real dt;
} fall_args;

PBD_ITEM(fall, fall_args, i, 15 * sizeof(real), 12) {
    for (size_t d = 3 * i; d < 3 * i + 3; d++) {
        a->v[d] += a->dt * a->a[d];
        a->x[d] += a->dt * a->v[d];
    }
}

PBD_TILE(add_up, fall_args, i, 4 * sizeof(real), 6) {
    real part = 0;
    for (size_t d = PBD_LANE; d < 3; d += PBD_LANES) part += a->v[3 * i + d] * a->v[3 * i + d];
    part = tile_sum(part);
    if (PBD_LANE == 0) a->sum[i] = part;
}

#endif
