/* Kernels of mass_spring: a particle gathers the forces of its springs, then moves. No two particles write one word, so
 * that no colours are needed; each spring is evaluated at both of its ends. */
#ifndef MASS_SPRING_KERNELS_H
#define MASS_SPRING_KERNELS_H

#include "harness/exec/kernel.h"

typedef struct spring_args {
    real *x, *v, *f;        /* particles x 3: m, m/s, N */
    real *largest, *energy; /* particles: of a free particle's force, N; kinetic, J */
    const real *load;       /* particles x 3, N */
    const real *inverse;    /* particles, 1/kg; 0: held */
    const uint32_t *first;  /* particles + 1: particle p has the springs first[p] .. first[p + 1) */
    const uint32_t *other;  /* springs: the particle at the other end */
    const real *rest, *k;   /* springs: m, N/m */
    real dt, keep;          /* s; the share of velocity that damping leaves */
} spring_args;

PBD_ITEM_OVER(spring_forces, spring_args, p, 10 * sizeof(real) + 8, 6, 5 * sizeof(real) + 4, 20) {
    real sum[3] = {a->load[3 * p], a->load[3 * p + 1], a->load[3 * p + 2]}, largest = 0;
    for (uint32_t s = a->first[p]; s < a->first[p + 1]; s++) {
        const real *there = a->x + 3 * (size_t)a->other[s];
        real along[3], square = 0;
        for (size_t d = 0; d < 3; d++) {
            along[d] = there[d] - a->x[3 * p + d];
            square += along[d] * along[d];
        }
        const real length = real_sqrt(square), pull = length > 0 ? a->k[s] * (length - a->rest[s]) / length : 0;
        for (size_t d = 0; d < 3; d++) sum[d] += pull * along[d];
    }
    for (size_t d = 0; d < 3; d++) {
        const real size = sum[d] < 0 ? -sum[d] : sum[d];
        a->f[3 * p + d] = sum[d];
        largest = size > largest ? size : largest;
    }
    a->largest[p] = a->inverse[p] > 0 ? largest : 0;
}

/* Symplectic Euler. */
PBD_ITEM(spring_move, spring_args, p, 16 * sizeof(real), 20) {
    real square = 0;
    for (size_t d = 3 * p; d < 3 * p + 3; d++) {
        a->v[d] = a->keep * (a->v[d] + a->dt * a->inverse[p] * a->f[d]);
        a->x[d] += a->dt * a->v[d];
        square += a->v[d] * a->v[d];
    }
    a->energy[p] = a->inverse[p] > 0 ? square / a->inverse[p] / 2 : 0;
}

#endif
