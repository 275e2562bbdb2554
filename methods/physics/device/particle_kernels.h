/* Kernels of every position-based method: prediction, velocity update, and the sum of Jacobi impulses.
 *
 * Particles are rows of four reals (x, y, z, w) with w the inverse mass, 1/kg; 0: held. A method's own kernel header
 * includes this one. */
#ifndef PBD_PARTICLE_KERNELS_H
#define PBD_PARTICLE_KERNELS_H

#include "harness/exec/batch.h"
#include "harness/exec/kernel.h"
#include "harness/exec/tile.h"

typedef struct predict_args {
    const real *x, *v, *a; /* positions, velocities, accelerations by loads; rows of 4 */
    real *p;               /* predicted positions; w is copied from x */
    real dt, none;         /* none: 0 */
} predict_args;

PBD_ITEM(predict, predict_args, i, 16 * sizeof(real), 12) {
    for (size_t d = 4 * i; d < 4 * i + 3; d++) a->p[d] = a->x[d] + a->dt * (a->v[d] + a->dt * a->a[d]);
    a->p[4 * i + 3] = a->x[4 * i + 3];
}

typedef struct advance_args {
    const real *p;
    real *x, *v;
    real inverse_dt, keep; /* keep: fraction of velocity that damping leaves */
} advance_args;

PBD_ITEM(advance, advance_args, i, 16 * sizeof(real), 9) {
    for (size_t d = 4 * i; d < 4 * i + 3; d++) {
        a->v[d] = (a->p[d] - a->x[d]) * a->inverse_dt * a->keep;
        a->x[d] = a->p[d];
    }
}

typedef struct clear_args {
    real *values;
} clear_args;

PBD_ITEM(clear_reals, clear_args, i, sizeof(real), 0) { a->values[i] = 0; }

/* ---- Jacobi: each particle sums its impulses, in a fixed order --------------------------------------------------- */

typedef struct gather_args {
    const uint32_t *first; /* particles + 1 offsets into slot */
    const uint32_t *slot;  /* 2 times the impulse's row, plus 1 where the impulse acts with opposite sign */
    const real *impulse;
    real *p;
} gather_args;

/* Work: particles and impulses. */
PBD_TILE_OVER(gather_impulses, gather_args, i, 7 * sizeof(real) + 8, 6, 4 * sizeof(real) + 4, 6) {
    vec3 sum = vec3_make(0, 0, 0);
    for (uint32_t k = a->first[i] + PBD_LANE; k < a->first[i + 1]; k += PBD_LANES) {
        vec3 impulse = load3(a->impulse, a->slot[k] >> 1);
        real sign = a->slot[k] & 1 ? (real)-1 : (real)1;
        sum = vec3_add(sum, vec3_scale(sign, impulse));
    }
    sum = tile_sum3(sum);
    if (PBD_LANE != 0) return;
    real *p = a->p + 4 * i;
    p[0] -= p[3] * sum.x;
    p[1] -= p[3] * sum.y;
    p[2] -= p[3] * sum.z;
}

#endif
