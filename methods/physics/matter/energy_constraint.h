/* Constraints from a strain energy density psi(F), for F of elements or of particles.
 *
 * With h_k the gradient of psi with respect to particle k of the constraint, Q = sum w_k |h_k|^2, and V the
 * constraint's rest volume, the correction is delta x_k = w_k s h_k, where
 *
 *     pbd         C = V psi, no compliance        s = -psi / Q, without V                            continuum
 *     xpbd        C = psi, alpha = 1              s = d lambda = -(psi + a lambda)/(Q + a), a = 1/dt^2
 *                                                 cao2023 Eq. 10, as printed
 *     xpbd_root   C = sqrt(2 psi), alpha = 1/V    s = d lambda / C, d lambda = -(C + a lambda) C^2/(Q + a C^2),
 *                                                 a = 1/(V dt^2); C-1: the physical one
 *
 * xpbd_root is the usual d lambda with numerator and denominator multiplied by C^2, because grad C = h/C is 0/0 at
 * rest. Moduli are divided by `unit`, a power of two near E: this changes no digit and avoids overflow in f32. lambda
 * and the compliances are scaled accordingly. Corrections are not clamped; the correction is 0 only where the
 * denominator is. NaN propagates, so that a state of undefined energy ends the run. */
#ifndef PBD_ENERGY_CONSTRAINT_H
#define PBD_ENERGY_CONSTRAINT_H

#include "methods/physics/matter/plasticity.h"

/* The last two have several components: methods/strain_energy/vector_constraints.h. */
enum { ENERGY_PBD, ENERGY_XPBD, ENERGY_XPBD_ROOT, ENERGY_SIX_STRAINS, ENERGY_TWO_CONSTRAINTS };

/* Returns s of the table above. compliance: 1/(unit^2 dt^2) for xpbd, 1/(unit dt^2) for xpbd_root. size: V. share:
 * relaxation factor of the constraint's step. lambda: the multiplier before the step; *multiplier: after it, not
 * written for pbd. */
PBD_FN vreal energy_factor(int form, real compliance, vreal psi, vreal q, vreal size, vreal share, vreal lambda,
                           vreal *multiplier) {
    const vreal none = vreal_set(0);
    if (form == ENERGY_PBD) return vreal_where(q == 0, none, -share * psi / q);
    if (form == ENERGY_XPBD) {
        vreal change = -share * (psi + compliance * lambda) / (q + compliance);
        *multiplier = lambda + change;
        return change;
    }
    /* Rounding may make psi slightly negative at rest; NaN must propagate. */
    vreal c = vreal_sqrt(vreal_where(psi < 0, none, 2 * psi));
    vreal alpha = compliance / size, below = q + alpha * c * c;
    vreal s = vreal_where(below == 0, none, -share * (c + alpha * lambda) * c / below);
    *multiplier = lambda + s * c;
    return s;
}

/* The residual that energy_factor removes: C, and with XPBD C + a lambda or C + alpha~ lambda. */
PBD_FN vreal energy_residual(int form, real compliance, vreal psi, vreal size, vreal lambda) {
    if (form == ENERGY_PBD) return psi;
    if (form == ENERGY_XPBD) return psi + compliance * lambda;
    return vreal_sqrt(vreal_where(psi < 0, vreal_set(0), 2 * psi)) + compliance / size * lambda;
}

/* Plastic strain of constraints; component e is at [e * stride]. */
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
