/* psi = mu/2 (I - 3) - mu (J - 1) + l/2 (J - 1)^2, I = tr F^T F, l = lambda + mu: the stable neo-Hookean energy without
 * a logarithm (Smith et al. 2018; Macklin and Mueller 2021; Chen et al. 2024). Up to a constant it is mu/2 (I - 3) +
 * l/2 (J - a)^2 with a = 1 + mu/l. With l = lambda, as those papers write it, Lame's parameters at rest would be
 * (lambda - mu, mu). */
#ifdef LAW
LAW(macklin_neo_hookean, direct, whole)
#elif !defined(PBD_BODY)
#ifndef PBD_LAW_MACKLIN_NEO_HOOKEAN_H
#define PBD_LAW_MACKLIN_NEO_HOOKEAN_H

#include "methods/physics/matter/elastic.h"

#define PBD_BODY "methods/physics/matter/laws/macklin_neo_hookean.h"
#include "methods/physics/math/twice.h"

#endif
#else

typedef struct V(macklin) {
    V(real) lambda;
    V(real) psi;
    V(real) cof; /* P = mu F + cof cofactor(F) */
} V(macklin);

PBD_FN V(macklin) V(macklin_of)(V(hyperelastic) m, V(volume) v) {
    V(macklin) out;
    out.lambda = m.lambda + m.mu;
    out.psi = m.mu * v.rest + (real)0.5 * out.lambda * v.d * v.d;
    out.cof = out.lambda * v.d - m.mu;
    return out;
}

PBD_FN V(principal) V(principal_macklin_neo_hookean)(V(hyperelastic) m, V(vec3) s) {
    V(macklin) a = V(macklin_of)(m, V(volume_of_stretches)(s));
    V(principal) out;
    out.psi = a.psi;
    out.p = V(vec3_add)(V(vec3_scale)(m.mu, s), V(vec3_scale)(a.cof, V(vec3_others)(s)));
    return out;
}

/* p = mu s + cof(J) others */
PBD_FN V(principal_slope) V(macklin_neo_hookean_slope)(V(hyperelastic) m, V(vec3) s, V(vec3) others, V(vec3) square) {
    V(macklin) a = V(macklin_of)(m, V(volume_of_stretches)(s));
    V(principal_slope) out;
    (void)square;
    out.diagonal = V(vec3_shift)(V(vec3_scale)(a.lambda, V(vec3_times)(others, others)), m.mu);
    out.across = V(vec3_add)(V(vec3_scale)(a.lambda, V(vec3_others)(others)), V(vec3_scale)(a.cof, s));
    return out;
}

PBD_FN V(stressed) V(stress_macklin_neo_hookean)(V(hyperelastic) m, V(mat3) f) {
    V(macklin) a = V(macklin_of)(m, V(volume_of_matrix)(f, V(mat3_green)(f)));
    V(stressed) out;
    out.psi = a.psi;
    out.p = V(mat3_add)(V(mat3_scale)(m.mu, f), V(mat3_scale)(a.cof, V(mat3_cofactor)(f)));
    return out;
}

PBD_FN void V(macklin_neo_hookean_pair)(V(hyperelastic) m, V(vec3) all, V(real) a, V(real) b, V(real) c, V(real) * even,
                                        V(real) * odd) {
    (void)a;
    (void)b;
    V(real) cof = V(macklin_of)(m, V(volume_of_stretches)(all)).cof;
    *even = m.mu - cof * c;
    *odd = m.mu + cof * c;
}

#endif
