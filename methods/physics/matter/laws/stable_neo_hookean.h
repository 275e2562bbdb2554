/* psi = m/2 (I - 3) - m/2 log((I + 1)/4) + l/2 (J - a)^2 - l/2 (1 - a)^2, I = tr F^T F, a = 1 + 3m/(4l), m = 4/3 mu,
 * l = lambda + 5/6 mu: Smith et al. 2018, Eq. 14. */
#ifdef LAW
LAW(stable_neo_hookean, direct, whole)
#elif !defined(PBD_BODY)
#ifndef PBD_LAW_STABLE_NEO_HOOKEAN_H
#define PBD_LAW_STABLE_NEO_HOOKEAN_H

#include "methods/physics/matter/elastic.h"

#define PBD_BODY "methods/physics/matter/laws/stable_neo_hookean.h"
#include "methods/physics/math/twice.h"

#endif
#else

typedef struct V(stable) {
    V(real) mu, lambda;
    V(real) psi;
    V(real) f; /* P = f F + cof cofactor(F) */
    V(real) cof;
    V(real) q; /* 1/(I + 1) */
} V(stable);

PBD_FN V(stable) V(stable_of)(V(hyperelastic) m, V(volume) v) {
    V(stable) out;
    out.mu = (real)(4.0 / 3) * m.mu;
    out.lambda = m.lambda + (real)(5.0 / 6) * m.mu;
    V(real) quarter = (real)0.25 * v.square;
    V(real) excess = V(log_of)(1 + quarter, quarter).excess;
    out.q = 1 / (4 + v.square);
    out.psi = (real)0.5 * out.mu * ((real)1.5 * v.rest + excess) + (real)0.5 * out.lambda * v.d * v.d;
    out.f = out.mu * (1 - out.q);
    out.cof = out.lambda * v.d - (real)0.75 * out.mu;
    return out;
}

PBD_FN V(principal) V(principal_stable_neo_hookean)(V(hyperelastic) m, V(vec3) s) {
    V(stable) a = V(stable_of)(m, V(volume_of_stretches)(s));
    V(principal) out;
    out.psi = a.psi;
    out.p = V(vec3_add)(V(vec3_scale)(a.f, s), V(vec3_scale)(a.cof, V(vec3_others)(s)));
    return out;
}

/* p = f(I) s + cof(J) others */
PBD_FN V(principal_slope) V(stable_neo_hookean_slope)(V(hyperelastic) m, V(vec3) s, V(vec3) others, V(vec3) square) {
    V(stable) a = V(stable_of)(m, V(volume_of_stretches)(s));
    V(real) more = 2 * a.mu * a.q * a.q;
    V(vec3) outer = V(vec3_times)(others, others);
    V(principal_slope) out;
    out.diagonal = V(vec3_shift)(V(vec3_add)(V(vec3_scale)(more, square), V(vec3_scale)(a.lambda, outer)), a.f);
    out.across = V(vec3_add)(V(vec3_scale)(more, others),
                             V(vec3_add)(V(vec3_scale)(a.lambda, V(vec3_others)(others)), V(vec3_scale)(a.cof, s)));
    return out;
}

PBD_FN V(stressed) V(stress_stable_neo_hookean)(V(hyperelastic) m, V(mat3) f) {
    V(stable) a = V(stable_of)(m, V(volume_of_matrix)(f, V(mat3_green)(f)));
    V(stressed) out;
    out.psi = a.psi;
    out.p = V(mat3_add)(V(mat3_scale)(a.f, f), V(mat3_scale)(a.cof, V(mat3_cofactor)(f)));
    return out;
}

PBD_FN void V(stable_neo_hookean_pair)(V(hyperelastic) m, V(vec3) all, V(real) a, V(real) b, V(real) c, V(real) * even,
                                       V(real) * odd) {
    (void)a;
    (void)b;
    V(stable) parts = V(stable_of)(m, V(volume_of_stretches)(all));
    *even = parts.f - parts.cof * c;
    *odd = parts.f + parts.cof * c;
}

#endif
