/* Symmetric 3 x 3 blocks of batches, as six entries xx, yy, zz, yz, zx, xy. */
#ifndef PBD_BLOCK3_H
#define PBD_BLOCK3_H

#include "methods/physics/matter/laws.h"

PBD_FN void block_add_isotropic(vreal k[6], vreal s) {
    for (int d = 0; d < 3; d++) k[d] += s;
}

/* The block H = d2 psi/ds ds. If it is not positive definite, a multiple of I is added, as large as Gershgorin's
 * circles require. */
PBD_FN void block_of_slope(vprincipal_slope slope, vreal h[6]) {
    const vreal zero = vreal_set(0);
    h[0] = slope.diagonal.x, h[1] = slope.diagonal.y, h[2] = slope.diagonal.z;
    h[3] = slope.across.x, h[4] = slope.across.y, h[5] = slope.across.z;
    vreal minor = h[0] * h[1] - h[5] * h[5];
    vreal det =
        h[0] * (h[1] * h[2] - h[3] * h[3]) - h[5] * (h[5] * h[2] - h[3] * h[4]) + h[4] * (h[5] * h[3] - h[1] * h[4]);
    vreal x = vreal_abs(h[5]) + vreal_abs(h[4]) - h[0], y = vreal_abs(h[5]) + vreal_abs(h[3]) - h[1];
    vreal z = vreal_abs(h[4]) + vreal_abs(h[3]) - h[2];
    vreal shift = vreal_max(vreal_max(x, vreal_max(y, z)), zero);
    vreal least = vreal_min(h[0], vreal_min(minor, det)); /* > 0: positive definite */
    shift = vreal_where(least > 0, zero, shift);
    block_add_isotropic(h, shift);
}

/* K^-1 f by L D L^T, for a positive definite K. K is divided by its trace first, so that no product overflows. A pivot
 * that rounding makes too small is raised. */
PBD_FN vvec3 block_solve(const vreal k[6], vvec3 f) {
    const real least = REAL_IS_FLOAT ? (real)1e-6 : (real)1e-13;
    vreal scale = 1 / (k[0] + k[1] + k[2]);
    vreal xx = vreal_max(k[0] * scale, vreal_set(least)), one = 1 / xx;
    vreal ly = k[5] * scale * one, lz = k[4] * scale * one;
    vreal yy = vreal_max(k[1] * scale - ly * ly * xx, vreal_set(least)), two = 1 / yy;
    vreal lyz = (k[3] * scale - ly * lz * xx) * two;
    vreal zz = vreal_max(k[2] * scale - lz * lz * xx - lyz * lyz * yy, vreal_set(least));
    vreal a = f.x, b = f.y - ly * a, c = f.z - lz * a - lyz * b;
    vreal z = c / zz, y = b * two - lyz * z, x = a * one - ly * y - lz * z;
    return vvec3_scale(scale, vvec3_make(x, y, z));
}

#endif
