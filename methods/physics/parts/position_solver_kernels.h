/* Kernels of position_solver.h: prediction and velocities, and the start of an implicit step. */
#ifndef PBD_POSITION_SOLVER_KERNELS_H
#define PBD_POSITION_SOLVER_KERNELS_H

#include "methods/physics/device/particle_kernels.h"
#include "methods/physics/math/scalar.h"

typedef struct guess_args {
    const real *x, *v, *a; /* rows of 4 */
    real *before;          /* velocities at the start of the previous step; becomes v */
    real *y, *p;
    real dt, inverse_square; /* s; 1/dt^2 */
    real_bits guess, none;
} guess_args;

enum { GUESS_ADAPTIVE, GUESS_INERTIA, GUESS_PREVIOUS, GUESS_VELOCITY }; /* in the order of GUESS_PARAM */

/* y = x + dt v + dt^2 a with m/dt^2 in the fourth column, and p, where iterations begin. Adaptive (Chen et al. 2024): p
 * has the fraction of the loads' acceleration that the particle had in the previous step, none at rest and all in free
 * fall. */
PBD_ITEM(guess_step, guess_args, i, 28 * sizeof(real), 30) {
    const real *x = a->x + 4 * i, *v = a->v + 4 * i, *load = a->a + 4 * i;
    real *before = a->before + 4 * i, along = 0, square = 0, share = 1;
    for (int d = 0; d < 3; d++) {
        along += (v[d] - before[d]) * load[d];
        square += load[d] * load[d];
        before[d] = v[d];
    }
    if (a->guess == GUESS_ADAPTIVE) share = square > 0 ? real_max(0, real_min(1, along / (a->dt * square))) : (real)0;
    if (a->guess == GUESS_PREVIOUS || a->guess == GUESS_VELOCITY) share = 0;
    const real carried = a->guess == GUESS_PREVIOUS ? (real)0 : (real)1;
    for (int d = 0; d < 3; d++) {
        a->y[4 * i + (size_t)d] = x[d] + a->dt * (v[d] + a->dt * load[d]);
        a->p[4 * i + (size_t)d] = x[d] + a->dt * (carried * v[d] + a->dt * share * load[d]);
    }
    a->y[4 * i + 3] = x[3] > 0 ? a->inverse_square / x[3] : (real)0;
    a->p[4 * i + 3] = x[3];
}

#endif
