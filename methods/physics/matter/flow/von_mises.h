/* von_mises: |dev tau| <= sqrt(2/3) yield_stress, or <= yield_stress with the Frobenius norm (Li et al. 2022). */
#ifdef FLOW
FLOW(von_mises, plain, radial)
#elif !defined(PBD_BODY)
#ifndef PBD_FLOW_VON_MISES_H
#define PBD_FLOW_VON_MISES_H

#include "methods/physics/matter/flow/stretches.h"

#define FLOW_RADIUS_PARAMETERS(P)                                                                  \
    P(ASKED, yield_stress, "Pa", PBD_REAL, "1e3", 0, INFINITY, PBD_OPEN_MAX, NULL, "yield stress") \
    P(SET, yield_norm, "", PBD_CHOICE, "j2", 0, 0, 0, FLOW_CHOICES("j2", "frobenius"),             \
      "largest |dev tau|: sqrt(2/3) of yield_stress, or yield_stress")
#define FLOW_COLOUR_von_mises 0xb9c2cc
#define FLOW_LOOK_von_mises FLOW_METAL
#define FLOW_PARAMETERS_von_mises(P) FLOW_RADIUS_PARAMETERS(P)
typedef struct von_mises_values {
    FLOW_PARAMETERS_von_mises(FLOW_VALUE)
} von_mises_values;

typedef struct von_mises_rule {
    real radius; /* largest elastic |dev e| */
} von_mises_rule;

PBD_FN real flow_radius(flow_moduli m, double yield_stress, double yield_norm) {
    const double root23 = 0.81649658092772603273;
    return (real)((yield_norm > 0 ? yield_stress : root23 * yield_stress) / (2 * m.mu));
}

PBD_FN von_mises_rule von_mises_make(flow_moduli m, const von_mises_values *v) {
    von_mises_rule r;
    r.radius = flow_radius(m, v->yield_stress, v->yield_norm);
    return r;
}

#define PBD_BODY "methods/physics/matter/flow/von_mises.h"
#include "methods/physics/math/twice.h"

#endif
#else

/* Radial return of the deviator at constant volume. */
PBD_FN V(radial_flow) V(von_mises_return)(const von_mises_rule *r, V(real) trace, V(real) norm, V(real) state) {
    V(radial_flow) out;
    (void)trace;
    out.moved = norm > r->radius;
    out.tip = norm < norm;
    out.share = V(real_where)(out.moved, 1 - r->radius / norm, V(real_set)(0));
    out.volume = V(real_set)(0);
    out.state = state;
    return out;
}

PBD_FN V(flowed) V(flow_von_mises)(const von_mises_rule *r, V(vec3) s, V(real) state) {
    V(hencky_parts) e = V(hencky_parts_of)(s, 0);
    return V(flowed_radially)(s, e, V(von_mises_return)(r, e.trace, e.norm, state));
}

#endif
