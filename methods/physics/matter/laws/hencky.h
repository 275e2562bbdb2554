/* psi = mu |log S|^2 + lambda/2 tr^2(log S), F = R S: yu2024 Eq. 3. */
#ifdef LAW
LAW(hencky, by_svd, upright)
#elif !defined(PBD_BODY)
#ifndef PBD_LAW_HENCKY_H
#define PBD_LAW_HENCKY_H

#include "methods/physics/matter/elastic.h"

#define PBD_BODY "methods/physics/matter/laws/hencky.h"
#include "methods/physics/math/twice.h"

#endif
#else

PBD_FN V(principal) V(principal_hencky)(V(hyperelastic) m, V(vec3) s) {
    V(vec3) e = V(vec3_log)(s);
    V(real) trace = V(vec3_sum)(e);
    V(principal) out;
    out.psi = m.mu * V(vec3_dot)(e, e) + (real)0.5 * m.lambda * trace * trace;
    out.p = V(vec3_over)(V(vec3_shift)(V(vec3_scale)(2 * m.mu, e), m.lambda * trace), s);
    return out;
}

/* p = (2 mu e + lambda tr e)/s */
PBD_FN V(principal_slope) V(hencky_slope)(V(hyperelastic) m, V(vec3) s, V(vec3) others, V(vec3) square) {
    V(vec3) e = V(vec3_log)(s);
    V(real) rest = 2 * m.mu + m.lambda - m.lambda * V(vec3_sum)(e);
    V(principal_slope) out;
    out.diagonal = V(vec3_over)(V(vec3_shift)(V(vec3_scale)(-2 * m.mu, e), rest), square);
    out.across = V(vec3_make)(m.lambda / others.x, m.lambda / others.y, m.lambda / others.z);
    return out;
}

PBD_FN V(vec3) V(hencky_turn)(V(hyperelastic) m, V(vec3) q, V(vec3) d) { return V(log_turn)(m, q, d); }

/* (log a - log b)/(a - b) */
PBD_FN V(real) V(log_quotient)(V(real) a, V(real) b) {
    V(real) r = (a - b) / b, apart = V(real_where)(r == 0, V(real_set)(1), a - b);
    return V(real_where)(r == 0, 1 / b, V(log_of)(1 + r, r).log / apart);
}

PBD_FN void V(hencky_pair)(V(hyperelastic) m, V(vec3) all, V(real) a, V(real) b, V(real) c, V(real) * even,
                           V(real) * odd) {
    (void)c;
    V(vec3) e = V(vec3_log)(all);
    V(real) trace = m.lambda * V(vec3_sum)(e), la = V(real_log)(a), lb = V(real_log)(b);
    *even = 2 * m.mu * (V(log_quotient)(a, b) / a - lb / (a * b)) - trace / (a * b);
    *odd = ((2 * m.mu * la + trace) / a + (2 * m.mu * lb + trace) / b) / (a + b);
}

#endif
