/* psi = mu |E|^2 + lambda/2 tr^2 E, E = (F^T F - I)/2: cao2023 section 4.3. */
#ifdef LAW
LAW(stvk, direct, softens)
#elif !defined(PBD_BODY)
#ifndef PBD_LAW_STVK_H
#define PBD_LAW_STVK_H

#include "methods/physics/matter/elastic.h"

#define PBD_BODY "methods/physics/matter/laws/stvk.h"
#include "methods/physics/math/twice.h"

#endif
#else

PBD_FN V(principal) V(principal_stvk)(V(hyperelastic) m, V(vec3) s) {
    V(vec3) e = V(green_stretches)(s);
    V(real) trace = V(vec3_sum)(e);
    V(principal) out;
    out.psi = m.mu * V(vec3_dot)(e, e) + (real)0.5 * m.lambda * trace * trace;
    out.p = V(vec3_times)(s, V(vec3_shift)(V(vec3_scale)(2 * m.mu, e), m.lambda * trace));
    return out;
}

/* p = s (2 mu e + lambda tr e) */
PBD_FN V(principal_slope) V(stvk_slope)(V(hyperelastic) m, V(vec3) s, V(vec3) others, V(vec3) square) {
    V(vec3) e = V(green_stretches)(s);
    V(vec3) own = V(vec3_shift)(V(vec3_scale)(2 * m.mu, e), m.lambda * V(vec3_sum)(e));
    V(principal_slope) out;
    out.diagonal = V(vec3_add)(own, V(vec3_scale)(2 * m.mu + m.lambda, square));
    out.across = V(vec3_scale)(m.lambda, others);
    return out;
}

/* d H_jj/d s_k is lambda s_k. */
PBD_FN V(vec3) V(stvk_turn)(V(hyperelastic) m, V(vec3) q, V(vec3) d) {
    V(real) sum = (real)0.5 * m.lambda * V(vec3_sum)(V(vec3_times)(d, d));
    return V(vec3_scale)(sum, q);
}

PBD_FN V(stressed) V(stress_stvk)(V(hyperelastic) m, V(mat3) f) {
    V(mat3) e = V(mat3_green)(f);
    V(real) trace = V(mat3_trace)(e);
    V(stressed) out;
    out.psi = m.mu * V(mat3_inner)(e, e) + (real)0.5 * m.lambda * trace * trace;
    e = V(mat3_add)(V(mat3_scale)(2 * m.mu, e), V(mat3_scale)(m.lambda * trace, V(mat3_identity)()));
    out.p = V(mat3_mul)(f, e);
    return out;
}

PBD_FN void V(stvk_pair)(V(hyperelastic) m, V(vec3) all, V(real) a, V(real) b, V(real) c, V(real) * even,
                         V(real) * odd) {
    (void)c;
    V(real) own = m.lambda * V(vec3_sum)(V(green_stretches)(all)) - m.mu;
    *even = own + m.mu * (a * a + a * b + b * b);
    *odd = own + m.mu * (a * a - a * b + b * b);
}

#endif
