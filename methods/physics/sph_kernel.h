/* Smoothing kernels in three dimensions, by their support: the distance R at which each ends. claims A1.
 *
 * Papers write poly6 on h = R and the others on h (or r) = R/2; here every kernel is asked by R, so that their lists of
 * neighbours are the same. */
#ifndef PBD_SPH_KERNEL_H
#define PBD_SPH_KERNEL_H

#include "methods/physics/vec.h"

typedef enum sph_kernel {
    SPH_POLY6,        /* Mueller 2003; cao2023 */
    SPH_CUBIC_SPLINE, /* Monaghan 1992 */
    SPH_WENDLAND_C2,  /* Wendland 1995; yu2024 */
    SPH_SPIKY         /* desbrun1996 */
} sph_kernel;

#define SPH_KERNEL_NAMES \
    { "poly6", "cubic_spline", "wendland_c2", "spiky", NULL }

typedef struct sph_value {
    real w;     /* W, 1/m^3 */
    real slope; /* (dW/dr)/r, 1/m^5: the gradient by x is this times x. The spiky one has none at 0: 0 is given */
} sph_value;

/* W at a distance of which `square` is the square, m^2; 0 from `support` (m) on. */
PBD_FN sph_value sph_kernel_at(sph_kernel kernel, real square, real support) {
    const real pi = (real)3.14159265358979323846, cube = support * support * support;
    const real per_square = 1 / (support * support), square_left = 1 - square * per_square;
    sph_value out = {0, 0};
    if (!(square_left > 0)) return out;
    if (kernel == SPH_POLY6) { /* the only one that needs no root */
        const real sigma = (real)315 / (64 * pi * cube);
        out.w = sigma * square_left * square_left * square_left;
        out.slope = -6 * sigma * per_square * square_left * square_left;
        return out;
    }
    const real q = real_sqrt(square * per_square), left = 1 - q;
    if (kernel == SPH_WENDLAND_C2) {
        const real sigma = (real)21 / (2 * pi * cube), third = left * left * left;
        out.w = sigma * third * left * (1 + 4 * q);
        out.slope = -20 * sigma * per_square * third;
    } else if (kernel == SPH_CUBIC_SPLINE) { /* q of the papers is 2 r/R */
        const real sigma = 8 / (pi * cube);
        const int inner = 2 * q <= 1;
        out.w = inner ? sigma * (1 - 6 * q * q + 6 * q * q * q) : sigma * 2 * left * left * left;
        out.slope = inner ? sigma * per_square * (18 * q - 12) : -6 * sigma * per_square * left * left / q;
    } else {
        const real sigma = (real)15 / (pi * cube);
        out.w = sigma * left * left * left;
        out.slope = q > 0 ? -3 * sigma * per_square * left * left / q : 0;
    }
    return out;
}

#endif
