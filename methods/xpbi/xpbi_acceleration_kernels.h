/* Multipliers of all constraints and springs, packed into one array for parts/acceleration.h: `each` reals per slot,
 * those of the constraint, which begin at entry `first`, followed by those of hourglass control. */
#ifndef PBD_XPBI_ACCELERATION_KERNELS_H
#define PBD_XPBI_ACCELERATION_KERNELS_H

#include "methods/xpbi/xpbi_hourglass_kernels.h"

typedef struct xpbi_gather_multiplier_args {
    real *entry; /* of the slices */
    real *packed;
    size_t entries, hourglass, first, own, each; /* own: reals per constraint */
    real none;
} xpbi_gather_multiplier_args;

PBD_FN real *xpbi_multiplier(const xpbi_gather_multiplier_args *a, size_t i) {
    const size_t slot = i / a->each, k = i % a->each;
    const size_t at = k < a->own ? a->first + k : a->hourglass + HOURGLASS_TAKEN + (k - a->own);
    return a->entry + (slot / XPBI_LANES * a->entries + at) * XPBI_LANES + slot % XPBI_LANES;
}

PBD_ITEM(xpbi_pack_multipliers, xpbi_gather_multiplier_args, i, 2 * sizeof(real), 0) {
    a->packed[i] = *xpbi_multiplier(a, i);
}

PBD_ITEM(xpbi_unpack_multipliers, xpbi_gather_multiplier_args, i, 2 * sizeof(real), 0) {
    *xpbi_multiplier(a, i) = a->packed[i];
}

#endif
