/* Smoothing kernels in one, two and three dimensions, as functions of the support radius R. claims A1.
 *
 * Papers define poly6 with h = R and the others with h (or r) = R/2. Here all take R, so that neighbour lists are the
 * same. */
#ifndef PBD_BODY
#ifndef PBD_SPH_KERNEL_H
#define PBD_SPH_KERNEL_H

#include "methods/physics/math/scalar.h"

typedef enum sph_kernel {
    SPH_POLY6,        /* Mueller 2003; cao2023 */
    SPH_CUBIC_SPLINE, /* Monaghan 1992 */
    SPH_WENDLAND_C2,  /* Wendland 1995; yu2024 */
    SPH_SPIKY         /* desbrun1996 */
} sph_kernel;

#define SPH_KERNEL_NAMES \
    { "poly6", "cubic_spline", "wendland_c2", "spiky", NULL }

/* The normalisation: W is this times a polynomial of r/R, with integral 1. */
PBD_FN real sph_kernel_factor(sph_kernel kernel, int dimensions, real support) {
    const real pi = (real)3.14159265358979323846, square = support * support, cube = square * support;
    if (dimensions == 1)
        return (kernel == SPH_POLY6          ? (real)35 / 32
                : kernel == SPH_CUBIC_SPLINE ? (real)4 / 3
                : kernel == SPH_WENDLAND_C2  ? (real)3 / 2
                                             : (real)2) /
               support;
    if (dimensions == 2)
        return (kernel == SPH_POLY6          ? (real)4
                : kernel == SPH_CUBIC_SPLINE ? (real)40 / 7
                : kernel == SPH_WENDLAND_C2  ? (real)7
                                             : (real)10) /
               (pi * square);
    if (kernel == SPH_POLY6) return (real)315 / (64 * pi * cube);
    if (kernel == SPH_WENDLAND_C2) return (real)21 / (2 * pi * cube);
    return (kernel == SPH_CUBIC_SPLINE ? (real)8 : (real)15) / (pi * cube);
}

#define PBD_BODY "methods/physics/space/sph_kernel.h"
#include "methods/physics/math/twice.h"

PBD_FN sph_value sph_kernel_in(sph_kernel kernel, int dimensions, real square, real support) {
    return sph_kernel_scaled(kernel, sph_kernel_factor(kernel, dimensions, support), 1 / (support * support), square);
}

/* In three dimensions. */
PBD_FN sph_value sph_kernel_at(sph_kernel kernel, real square, real support) {
    return sph_kernel_in(kernel, 3, square, support);
}

#endif
#else

typedef struct V(sph_value) {
    V(real) w;     /* W, 1/m^3 (1/m^2 in the plane) */
    V(real) slope; /* (dW/dr)/r: grad W is this times x. That of the spiky kernel is undefined at r = 0: set to 0 */
} V(sph_value);

/* W and its slope at the squared distance `square`, m^2, given the factor sigma and 1/R^2; 0 at R and beyond. */
PBD_FN V(sph_value) V(sph_kernel_scaled)(sph_kernel kernel, real sigma, real per_square, V(real) square) {
    const V(real) square_left = 1 - square * per_square, zero = V(real_set)(0);
    V(sph_value) out;
    if (kernel == SPH_POLY6) { /* needs no square root */
        out.w = sigma * square_left * square_left * square_left;
        out.slope = -6 * sigma * per_square * square_left * square_left;
    } else {
        const V(real) q = V(real_sqrt)(square * per_square), left = 1 - q;
        if (kernel == SPH_WENDLAND_C2) {
            const V(real) third = left * left * left;
            out.w = sigma * third * left * (1 + 4 * q);
            out.slope = -20 * sigma * per_square * third;
        } else if (kernel == SPH_CUBIC_SPLINE) { /* the papers' q is 2 r/R */
            const V(mask) inner = 2 * q <= 1;
            out.w = V(real_where)(inner, sigma * (1 - 6 * q * q + 6 * q * q * q), sigma * 2 * left * left * left);
            out.slope =
                V(real_where)(inner, sigma * per_square * (18 * q - 12), -6 * sigma * per_square * left * left / q);
        } else {
            out.w = sigma * left * left * left;
            out.slope = V(real_where)(q > 0, -3 * sigma * per_square * left * left / q, zero);
        }
    }
    const V(mask) inside = square_left > 0;
    out.w = V(real_where)(inside, out.w, zero);
    out.slope = V(real_where)(inside, out.slope, zero);
    return out;
}

#endif
