/* psi = mu |F - R|^2 + lambda/2 tr^2(R^T F - I), F = R S: cao2023 section 4.2. */
#ifdef LAW
LAW(corotated, by_svd, whole)
#elif !defined(PBD_BODY)
#ifndef PBD_LAW_COROTATED_H
#define PBD_LAW_COROTATED_H

#include "methods/physics/matter/elastic.h"

#define PBD_BODY "methods/physics/matter/laws/corotated.h"
#include "methods/physics/math/twice.h"

#endif
#else

PBD_FN V(principal) V(principal_corotated)(V(hyperelastic) m, V(vec3) s) {
    V(vec3) e = V(vec3_shift)(s, V(real_set)(-1));
    V(real) trace = V(vec3_sum)(e);
    V(principal) out;
    out.psi = m.mu * V(vec3_dot)(e, e) + (real)0.5 * m.lambda * trace * trace;
    out.p = V(vec3_shift)(V(vec3_scale)(2 * m.mu, e), m.lambda * trace);
    return out;
}

PBD_FN V(principal_slope) V(corotated_slope)(V(hyperelastic) m, V(vec3) s, V(vec3) others, V(vec3) square) {
    const V(real) one = V(real_set)(1);
    (void)s, (void)others, (void)square;
    V(principal_slope) out;
    out.diagonal = V(vec3_scale)(2 * m.mu + m.lambda, V(vec3_make)(one, one, one));
    out.across = V(vec3_scale)(m.lambda, V(vec3_make)(one, one, one));
    return out;
}

PBD_FN void V(corotated_pair)(V(hyperelastic) m, V(vec3) all, V(real) a, V(real) b, V(real) c, V(real) * even,
                              V(real) * odd) {
    (void)c;
    V(real) sum = a + b, least = 16 * (real)REAL_EPSILON * (V(real_abs)(a) + V(real_abs)(b)) + REAL_MIN;
    sum = V(real_where)(V(real_abs)(sum) < least, V(real_copysign)(least, sum), sum);
    *even = 2 * m.mu;
    *odd = 2 * m.mu + (2 * m.lambda * (V(vec3_sum)(all) - 3) - 4 * m.mu) / sum;
}

#endif
