/* Kernels of acceleration.h, over all reals of the rows. */
#ifndef PBD_ACCELERATION_KERNELS_H
#define PBD_ACCELERATION_KERNELS_H

#include "harness/exec/kernel.h"

enum { ACCELERATION_BLOCK = 16, ACCELERATION_WINDOW = 8, ACCELERATION_SUMS = 2 * ACCELERATION_WINDOW };

typedef struct accelerate_args {
    real *x;      /* result of the sweep; becomes the combination */
    real *joined; /* further reals; they follow those of x in all arrays below */
    real *old, *older, *plain, *force;
    real *force_step, *sweep_step;    /* ACCELERATION_WINDOW x count */
    real *sums;                       /* by block: ACCELERATION_SUMS */
    size_t count, rows, slot, held;   /* rows: reals of x */
    real weight[ACCELERATION_WINDOW]; /* Anderson's t; or Chebyshev's w in the first entry */
    real scale;                       /* factor of the joined reals in norms and products */
} accelerate_args;

PBD_FN real *accelerate_at(const accelerate_args *a, size_t i) {
    return i < a->rows ? a->x + i : a->joined + (i - a->rows);
}
PBD_FN real accelerate_scale(const accelerate_args *a, size_t i) { return i < a->rows ? 1 : a->scale; }

/* The start of a step: no sweep yet. */
PBD_ITEM(accelerate_start, accelerate_args, i, 3 * sizeof(real), 0) { a->old[i] = a->older[i] = *accelerate_at(a, i); }

PBD_ITEM(accelerate_back, accelerate_args, i, 3 * sizeof(real), 0) { *accelerate_at(a, i) = a->old[i] = a->plain[i]; }

/* Sum of |s_k - x_(k-1)|^2 by block. */
PBD_ITEM(accelerate_change, accelerate_args, b, 2 * ACCELERATION_BLOCK * sizeof(real), 3 * ACCELERATION_BLOCK) {
    const size_t begin = b * ACCELERATION_BLOCK;
    const size_t end = begin + ACCELERATION_BLOCK < a->count ? begin + ACCELERATION_BLOCK : a->count;
    real sum = 0;
    for (size_t i = begin; i < end; i++) {
        const real change = accelerate_scale(a, i) * (*accelerate_at(a, i) - a->old[i]);
        sum += change * change;
    }
    a->sums[b] = sum;
}

PBD_ITEM(accelerate_chebyshev, accelerate_args, i, 7 * sizeof(real), 3) {
    const real plain = *accelerate_at(a, i), next = a->weight[0] * (plain - a->older[i]) + a->older[i];
    a->plain[i] = plain;
    a->older[i] = a->old[i];
    a->old[i] = *accelerate_at(a, i) = next;
}

/* Stores f of this sweep, and the changes of f and of the sweep's result since the last sweep. `plain` is first the
 * last sweep's result, then this one's. */
PBD_ITEM(accelerate_push, accelerate_args, i, 8 * sizeof(real), 3) {
    const real plain = *accelerate_at(a, i), force = accelerate_scale(a, i) * (plain - a->old[i]);
    a->force_step[a->slot * a->count + i] = force - a->force[i];
    a->sweep_step[a->slot * a->count + i] = plain - a->plain[i];
    a->force[i] = force;
    a->plain[i] = plain;
    a->old[i] = plain;
}

/* Sums by block, for each difference j in the window, its products with the difference in `slot` and with f. */
PBD_ITEM(accelerate_products, accelerate_args, b, 10 * ACCELERATION_BLOCK * sizeof(real), 20 * ACCELERATION_BLOCK) {
    const size_t begin = b * ACCELERATION_BLOCK;
    const size_t end = begin + ACCELERATION_BLOCK < a->count ? begin + ACCELERATION_BLOCK : a->count;
    const real *last = a->force_step + a->slot * a->count;
    for (size_t j = 0; j < ACCELERATION_WINDOW; j++) {
        const real *step = a->force_step + j * a->count;
        real with_last = 0, with_force = 0;
        for (size_t i = begin; i < end && j < a->held; i++) {
            with_last += step[i] * last[i];
            with_force += step[i] * a->force[i];
        }
        a->sums[ACCELERATION_SUMS * b + j] = with_last;
        a->sums[ACCELERATION_SUMS * b + ACCELERATION_WINDOW + j] = with_force;
    }
}

PBD_ITEM(accelerate_combine, accelerate_args, i, (2 + ACCELERATION_WINDOW) * sizeof(real), 2 * ACCELERATION_WINDOW) {
    real x = *accelerate_at(a, i);
    for (size_t j = 0; j < a->held; j++) x -= a->weight[j] * a->sweep_step[j * a->count + i];
    a->old[i] = *accelerate_at(a, i) = x;
}

#endif
