/* Constraints made of a strain energy density psi(F), whatever F comes from: elements or particles.
 *
 * With h_k the gradients of psi by the particles of the constraint and Q = sum w_k |h_k|^2 its correction is
 * delta x_k = w_k s h_k, where V is its volume at rest and
 *
 *     pbd         C = V psi, no compliance        s = -psi / Q, without V                            continuum
 *     xpbd        C = psi, alpha = 1              s = d lambda = -(psi + a lambda)/(Q + a), a = 1/dt^2
 *                                                 cao2023 Eq. 10, as printed
 *     xpbd_root   C = sqrt(2 psi), alpha = 1/V    s = d lambda / C, d lambda = -(C + a lambda) C^2/(Q + a C^2),
 *                                                 a = 1/(V dt^2); C-1: the physical one
 *
 * The last is the usual d lambda with both sides of its fraction times C^2: grad C = h/C is 0/0 at rest, Q and C are
 * not. Moduli come divided by a power of two near E (`unit`), which changes no digit and keeps f32 from overflowing;
 * lambda and the compliances are scaled to match. Nothing is cut off: only where Q is 0 and no compliance is left is
 * there no direction to move in. NaN stays NaN, so that a state without an energy ends the run and is not passed
 * over. */
#ifndef PBD_ENERGY_CONSTRAINT_H
#define PBD_ENERGY_CONSTRAINT_H

#include "methods/physics/matter/plasticity.h"

enum { ENERGY_PBD, ENERGY_XPBD, ENERGY_XPBD_ROOT };

/* s of the table. compliance: 1/(unit^2 dt^2) of xpbd, 1/(unit dt^2) of xpbd_root. size: V. share: what of its own step
 * the constraint takes. lambda: the multiplier before; *multiplier: after, left alone without compliance. */
PBD_FN vreal energy_factor(int form, real compliance, vreal psi, vreal q, vreal size, vreal share, vreal lambda,
                           vreal *multiplier) {
    const vreal none = vreal_set(0);
    if (form == ENERGY_PBD) return vreal_where(q == 0, none, -share * psi / q);
    if (form == ENERGY_XPBD) {
        vreal change = -share * (psi + compliance * lambda) / (q + compliance);
        *multiplier = lambda + change;
        return change;
    }
    /* psi is 0 at rest but for rounding, which may make it negative; NaN must stay. */
    vreal c = vreal_sqrt(vreal_where(psi < 0, none, 2 * psi));
    vreal alpha = compliance / size, below = q + alpha * c * c;
    vreal s = vreal_where(below == 0, none, -share * (c + alpha * lambda) * c / below);
    *multiplier = lambda + s * c;
    return s;
}

/* Plastic strain of constraints: entry e at [e * stride]. */
PBD_FN vsymmetric plastic_load(const real *plastic, size_t stride, size_t first, int count) {
    vsymmetric s;
    s.xx = batch_load(plastic, first, count);
    s.yy = batch_load(plastic + stride, first, count);
    s.zz = batch_load(plastic + 2 * stride, first, count);
    s.xy = batch_load(plastic + 3 * stride, first, count);
    s.yz = batch_load(plastic + 4 * stride, first, count);
    s.zx = batch_load(plastic + 5 * stride, first, count);
    return s;
}

PBD_FN void plastic_store(real *plastic, size_t stride, size_t first, int count, vsymmetric s) {
    const vreal entry[PLASTIC_ENTRIES] = {s.xx, s.yy, s.zz, s.xy, s.yz, s.zx};
    for (size_t e = 0; e < PLASTIC_ENTRIES; e++) batch_store(plastic + e * stride, first, count, entry[e]);
}

#endif
