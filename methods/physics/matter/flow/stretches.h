/* Types shared by the flow rules of flow.def, and the deviator and trace of the Hencky strain. */
#ifndef PBD_BODY
#ifndef PBD_FLOW_STRETCHES_H
#define PBD_FLOW_STRETCHES_H

#include "methods/physics/matter/strain.h"

typedef struct flow_moduli {
    double mu, lambda; /* Lame, Pa */
} flow_moduli;

/* A row of a rule's parameters is P(role, name, unit, kind, preset, min, max, open, choices, doc); after the role as in
 * pbd_param. Rules may share a name with the same meaning. Roles:
 *     SET     a parameter of cases and of `eval flow`
 *     ASKED   as SET, but required by `eval`, since its value depends on the scale
 *     START   as SET; also the initial state of a particle
 *     STATE   the state, initially the preset; a parameter of `eval` only
 *     STEP    the time step, s; a required parameter of `eval` only */
#define FLOW_CHOICES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define FLOW_VALUE(role, name, ...) double name; /* for a choice: its index */

#define PBD_BODY "methods/physics/matter/flow/stretches.h"
#include "methods/physics/math/twice.h"

#endif
#else

/* Result of a return mapping. Where nothing flows, s and the state are the arguments, bit for bit: xpbi uses them
 * without `moved`. */
typedef struct V(flowed) {
    V(vec3) s;
    V(real) state;
    V(mask) moved; /* s or the state changed */
} V(flowed);

/* Result of a radial rule: dev e loses `share` of itself, and `volume` is added to tr e. At the tip of a cone share is
 * 1 and tr e is that of the tip. */
typedef struct V(radial_flow) {
    V(real) share, volume, state;
    V(mask) moved, tip;
} V(radial_flow);

typedef struct V(hencky_parts) {
    V(vec3) deviator;
    V(real) trace, norm; /* norm: of the deviator */
} V(hencky_parts);

/* The parts of log s - shift. */
PBD_FN V(hencky_parts) V(hencky_parts_of)(V(vec3) s, real shift) {
    V(vec3) e = V(vec3_shift)(V(vec3_log)(s), V(real_set)(-shift));
    V(hencky_parts) out;
    out.trace = V(vec3_sum)(e);
    out.deviator = V(vec3_shift)(e, (real)(-1.0 / 3) * out.trace);
    out.norm = V(real_sqrt)(V(vec3_dot)(out.deviator, out.deviator));
    return out;
}

/* s exp(e) */
PBD_FN V(vec3) V(stretched_by)(V(vec3) s, V(vec3) e) {
    return V(vec3_make)(s.x * V(real_exp)(e.x), s.y * V(real_exp)(e.y), s.z * V(real_exp)(e.z));
}

/* The stretches after a radial rule's return; e: of s, unshifted. */
PBD_FN V(flowed) V(flowed_radially)(V(vec3) s, V(hencky_parts) e, V(radial_flow) by) {
    V(vec3) change = V(vec3_shift)(V(vec3_scale)(-by.share, e.deviator), (real)(1.0 / 3) * by.volume);
    V(flowed) out;
    out.s = V(stretched_by)(s, change);
    out.state = by.state;
    out.moved = by.moved;
    return out;
}

#endif
