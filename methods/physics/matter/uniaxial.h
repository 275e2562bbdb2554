/* Uniaxial stress along x: F = diag(stretch, lateral, lateral) with P_yy = 0. Host code. */
#ifndef PBD_UNIAXIAL_H
#define PBD_UNIAXIAL_H

#include "methods/physics/matter/laws.h"

typedef struct uniaxial {
    int found;    /* 0: no lateral stretch gives P_yy = 0 (C-10: stvk beyond sqrt(1 + 1/nu)) */
    real lateral; /* lateral stretch */
    real nominal; /* P_xx, Pa */
    real psi;     /* J/m^3 */
} uniaxial;

static inline stressed uniaxial_stress(hyperelastic m, real stretch, real lateral) {
    return stress(m, mat3_diagonal(vec3_make(stretch, lateral, lateral)));
}

/* Bisects P_yy < 0 at `low`, >= 0 at `high`, until no number lies between them. */
static inline real uniaxial_bisect(hyperelastic m, real stretch, real low, real high) {
    for (int n = 0; n < 200; n++) {
        real middle = (low + high) / 2;
        if (!(middle > low && middle < high)) break;
        if (uniaxial_stress(m, stretch, middle).p.y.y < 0)
            low = middle;
        else
            high = middle;
    }
    return real_abs(uniaxial_stress(m, stretch, low).p.y.y) < real_abs(uniaxial_stress(m, stretch, high).p.y.y) ? low
                                                                                                                : high;
}

/* The sign may also change at a jump of the printed join, which is not an equilibrium. */
static inline int uniaxial_is_free(hyperelastic m, real stretch, real lateral) {
    real across = uniaxial_stress(m, stretch, lateral).p.y.y;
    return real_abs(across) <= real_sqrt((real)REAL_EPSILON) * (m.mu + real_abs(m.lambda)) * (1 + 1 / lateral);
}

/* A law may have several solutions: returns the stable one (P_yy increasing) nearest to a lateral stretch of 1. */
static inline uniaxial uniaxial_solve(hyperelastic m, real stretch) {
    const real step = (real)1.01;
    real up = 1, down = 1;
    real at_up = uniaxial_stress(m, stretch, 1).p.y.y, at_down = at_up;
    uniaxial out = {0, (real)NAN, (real)NAN, (real)NAN};
    for (int n = 0; n < 1500 && !out.found; n++) { /* up to a factor of 3e6 in either direction */
        real above = up * step, below = down / step;
        real at_above = uniaxial_stress(m, stretch, above).p.y.y, at_below = uniaxial_stress(m, stretch, below).p.y.y;
        if (at_up < 0 && at_above >= 0) {
            out.lateral = uniaxial_bisect(m, stretch, up, above);
            out.found = uniaxial_is_free(m, stretch, out.lateral);
        }
        if (!out.found && at_below < 0 && at_down >= 0) {
            out.lateral = uniaxial_bisect(m, stretch, below, down);
            out.found = uniaxial_is_free(m, stretch, out.lateral);
        }
        up = above;
        at_up = at_above;
        down = below;
        at_down = at_below;
    }
    if (!out.found) {
        out.lateral = (real)NAN;
        return out;
    }
    stressed s = uniaxial_stress(m, stretch, out.lateral);
    out.nominal = s.p.x.x;
    out.psi = s.psi;
    return out;
}

#endif
