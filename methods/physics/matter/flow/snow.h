/* snow: 1 - compression <= s <= 1 + stretch: Stomakhin et al. 2013; presets of yu2024 Figure 19. State: J_P, the
 * plastic volume change, initially 1; it hardens the moduli. */
#ifdef FLOW
FLOW(snow, hardens, principal)
#elif !defined(PBD_BODY)
#ifndef PBD_FLOW_SNOW_H
#define PBD_FLOW_SNOW_H

#include "methods/physics/matter/flow/stretches.h"

#define FLOW_COLOUR_snow 0xe9eff5
#define FLOW_LOOK_snow FLOW_MATT
#define FLOW_PARAMETERS_snow(P)                                                                                  \
    P(SET, compression, "", PBD_REAL, "0.025", 0, 1, PBD_OPEN_MAX, NULL, "theta_c: largest elastic compression") \
    P(SET, stretch, "", PBD_REAL, "0.0075", 0, 100, 0, NULL, "theta_s: largest elastic stretch")                 \
    P(SET, xi, "", PBD_REAL, "10", 0, 1000, 0, NULL, "hardening by plastic volume change")                       \
    P(STATE, state, "", PBD_REAL, "1", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "plastic volume change so far")
typedef struct snow_values {
    FLOW_PARAMETERS_snow(FLOW_VALUE)
} snow_values;

typedef struct snow_rule {
    real least, most; /* bounds of a stretch */
    real xi;
} snow_rule;

PBD_FN snow_rule snow_make(flow_moduli m, const snow_values *v) {
    (void)m;
    snow_rule r;
    r.least = (real)(1 - v->compression);
    r.most = (real)(1 + v->stretch);
    r.xi = (real)v->xi;
    return r;
}

#define PBD_BODY "methods/physics/matter/flow/snow.h"
#include "methods/physics/math/twice.h"

#endif
#else

PBD_FN V(real) V(snow_stretch)(const snow_rule *r, V(real) s) {
    return V(real_max)(V(real_set)(r->least), V(real_min)(V(real_set)(r->most), s));
}

/* Stretches are clamped, and J_P is multiplied by the removed factors. The clamp is not derived from a stress and need
 * not dissipate: clamping two axes can increase the stress of the third. */
PBD_FN V(flowed) V(flow_snow)(const snow_rule *r, V(vec3) s, V(real) state) {
    V(flowed) out;
    out.s = V(vec3_make)(V(snow_stretch)(r, s.x), V(snow_stretch)(r, s.y), V(snow_stretch)(r, s.z));
    out.moved =
        (s.x > r->most) | (s.z < r->least) | (s.y > r->most) | (s.y < r->least) | (s.z > r->most) | (s.x < r->least);
    const V(real) least = V(real_set)(REAL_MIN), most = V(real_set)(1 / REAL_MIN);
    V(real) j = state * (s.x / out.s.x) * (s.y / out.s.y) * (s.z / out.s.z);
    out.state = V(real_max)(least, V(real_min)(most, j)); /* keeps J_P finite */
    return out;
}

/* The factor of mu and lambda, Stomakhin et al. 2013. */
PBD_FN V(real) V(snow_hardening)(const snow_rule *r, V(real) state) { return V(real_exp)(r->xi * (1 - state)); }

#endif
