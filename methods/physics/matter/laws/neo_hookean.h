/* psi = mu/2 (tr F^T F - 3) - mu log J + lambda/2 log^2 J: cao2023 Eq. 6. */
#ifdef LAW
LAW(neo_hookean, direct, upright)
#elif !defined(PBD_BODY)
#ifndef PBD_LAW_NEO_HOOKEAN_H
#define PBD_LAW_NEO_HOOKEAN_H

#include "methods/physics/matter/elastic.h"

#define PBD_BODY "methods/physics/matter/laws/neo_hookean.h"
#include "methods/physics/math/twice.h"

#endif
#else

/* (|F|^2 - 3)/2 - log J = rest + excess, which cancels where J is large. */
PBD_FN V(real) V(neo_hookean_energy)(V(hyperelastic) m, V(volume) v, V(log_parts) log) {
    V(real) shape = V(real_where)(v.d < 1, v.rest + log.excess, (real)0.5 * v.square - log.log);
    return m.mu * shape + (real)0.5 * m.lambda * log.log * log.log;
}

PBD_FN V(principal) V(principal_neo_hookean)(V(hyperelastic) m, V(vec3) s) {
    V(volume) v = V(volume_of_stretches)(s);
    V(log_parts) log = V(log_of)(v.j, v.d);
    V(principal) out;
    out.psi = V(neo_hookean_energy)(m, v, log);
    V(vec3) strain = V(vec3_scale)(2 * m.mu, V(green_stretches)(s));
    out.p = V(vec3_over)(V(vec3_shift)(strain, m.lambda * log.log), s);
    return out;
}

/* p = mu s + (lambda log J - mu)/s */
PBD_FN V(principal_slope) V(neo_hookean_slope)(V(hyperelastic) m, V(vec3) s, V(vec3) others, V(vec3) square) {
    V(volume) v = V(volume_of_stretches)(s);
    V(real) log = V(log_of)(v.j, v.d).log;
    V(real) over = m.lambda * (1 - log) + m.mu;
    V(principal_slope) out;
    out.diagonal = V(vec3_shift)(V(vec3_make)(over / square.x, over / square.y, over / square.z), m.mu);
    out.across = V(vec3_make)(m.lambda / others.x, m.lambda / others.y, m.lambda / others.z);
    return out;
}

PBD_FN V(vec3) V(neo_hookean_turn)(V(hyperelastic) m, V(vec3) q, V(vec3) d) { return V(log_turn)(m, q, d); }

PBD_FN V(stressed) V(stress_neo_hookean)(V(hyperelastic) m, V(mat3) f) {
    V(volume) v = V(volume_of_matrix)(f, V(mat3_green)(f));
    V(log_parts) log = V(log_of)(v.j, v.d);
    V(stressed) out;
    out.psi = V(neo_hookean_energy)(m, v, log);
    out.p = V(mat3_add)(V(mat3_scale)(m.mu, f), V(mat3_scale)((m.lambda * log.log - m.mu) / v.j, V(mat3_cofactor)(f)));
    return out;
}

PBD_FN void V(neo_hookean_pair)(V(hyperelastic) m, V(vec3) all, V(real) a, V(real) b, V(real) c, V(real) * even,
                                V(real) * odd) {
    (void)c;
    V(volume) v = V(volume_of_stretches)(all);
    V(real) over = (m.lambda * V(log_of)(v.j, v.d).log - m.mu) / (a * b);
    *even = m.mu - over;
    *odd = m.mu + over;
}

#endif
