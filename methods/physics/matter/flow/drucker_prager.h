/* drucker_prager: |dev tau| + alpha tr tau <= 0, shifted by cohesion (Klar et al. 2016). Volume gained at the tip is
 * removed again before the sand carries pressure (Tampubolon et al. 2017). State: v_c, the log of the volume gained
 * without stress; initially 0. */
#ifdef FLOW
FLOW(drucker_prager, plain, radial)
#elif !defined(PBD_BODY)
#ifndef PBD_FLOW_DRUCKER_PRAGER_H
#define PBD_FLOW_DRUCKER_PRAGER_H

#include "methods/physics/matter/flow/stretches.h"

#define FLOW_CONE_PARAMETERS(P)                                                                    \
    P(SET, friction_angle, "degrees", PBD_REAL, "30", 0, 90, PBD_OPEN_MAX, NULL, "friction angle") \
    P(SET, cohesion, "", PBD_REAL, "0", 0, 1, 0, NULL,                                             \
      "log of the stretch that sand supports in tension: the tip of the cone")
#define FLOW_COLOUR_drucker_prager 0xdcae62
#define FLOW_LOOK_drucker_prager FLOW_GRAINS
#define FLOW_PARAMETERS_drucker_prager(P)                                               \
    FLOW_CONE_PARAMETERS(P)                                                             \
    P(SET, volume_correction, "", PBD_CHOICE, "on", 0, 0, 0, FLOW_CHOICES("on", "off"), \
      "volume gained without stress is removed again before sand carries load")         \
    P(STATE, state, "", PBD_REAL, "0", 0, 1000, 0, NULL, "log of the volume gained so far")
typedef struct drucker_prager_values {
    FLOW_PARAMETERS_drucker_prager(FLOW_VALUE)
} drucker_prager_values;

typedef struct drucker_prager_rule {
    real slope, cohesion; /* |dev e| + slope tr e <= 0, e minus cohesion */
    int keep_gain;        /* no volume correction, as in Klar's rule */
} drucker_prager_rule;

PBD_FN drucker_prager_rule drucker_prager_make(flow_moduli m, const drucker_prager_values *v) {
    const double root23 = 0.81649658092772603273, degree = 0.017453292519943295769;
    const double sine = sin(v->friction_angle * degree);
    drucker_prager_rule r;
    r.slope = (real)(root23 * 2 * sine / (3 - sine) * (3 * m.lambda + 2 * m.mu) / (2 * m.mu));
    r.cohesion = (real)v->cohesion;
    r.keep_gain = v->volume_correction > 0;
    return r;
}

#define PBD_BODY "methods/physics/matter/flow/drucker_prager.h"
#include "methods/physics/math/twice.h"

#endif
#else

#define K(c) ((real)(c))

/* alpha = sqrt(2/3) 2 sin phi/(3 - sin phi). In strains e minus cohesion the cone is |dev e| + slope tr e <= 0, with
 * its tip at tr e = 0.
 *
 * For tr e > 0 the stress becomes zero and tr e is added to v_c; otherwise the deviator is reduced to the cone at
 * constant trace. Before that, the correction adds v_c to the volumetric strain of compressed sand, but only up to log
 * det F = 0: with cohesion, more would create tension. log det F + v_c of the trial is conserved in all cases. Klar's
 * rule «zero deviator: identity» would also remove the stress of pure compression, which lies inside the cone; it is
 * not applied. */
PBD_FN V(radial_flow)
    V(drucker_prager_return)(const drucker_prager_rule *r, V(real) trace, V(real) norm, V(real) state) {
    const V(real) zero = V(real_set)(0), one = V(real_set)(1);
    V(real) gain = r->keep_gain ? zero : state, above = trace - 3 * r->cohesion;
    V(real) back = V(real_max)(zero, V(real_min)(gain, -trace));
    above += back;
    V(real) beyond = norm + r->slope * above;
    V(mask) cone = beyond > 0;
    V(radial_flow) out;
    out.tip = above > 0;
    /* Below the tip, beyond <= norm. */
    V(real) share = V(real_where)(cone, V(real_min)(beyond / norm, one), zero);
    out.share = V(real_where)(out.tip, one, share);
    out.volume = V(real_where)(out.tip, 3 * r->cohesion - trace, back);
    out.moved = out.tip | cone | (back > 0);
    out.state = r->keep_gain ? state : V(real_where)(out.tip, gain + above, gain - back);
    return out;
}

PBD_FN V(flowed) V(flow_drucker_prager)(const drucker_prager_rule *r, V(vec3) s, V(real) state) {
    V(hencky_parts) e = V(hencky_parts_of)(s, 0);
    V(radial_flow) to = V(drucker_prager_return)(r, e.trace, e.norm, state);
    V(flowed) out = V(flowed_radially)(s, e, to);
    V(real) top = V(real_exp)(V(real_set)(r->cohesion));
    out.s = V(vec3_where)(to.tip, V(vec3_make)(top, top, top), out.s);
    return out;
}

#undef K

#endif
