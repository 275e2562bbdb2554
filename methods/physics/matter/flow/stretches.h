/* What every flow rule of flow.def takes and gives, and the parts of Hencky's strain. */
#ifndef PBD_BODY
#ifndef PBD_FLOW_STRETCHES_H
#define PBD_FLOW_STRETCHES_H

#include "methods/physics/matter/strain.h"

typedef struct flow_moduli {
    double mu, lambda; /* Lame, Pa */
} flow_moduli;

/* A row of a rule's parameters is P(role, name, unit, kind, preset, min, max, open, choices, doc): the role, then as in
 * pbd_param. Two rules may share a name where it means the same. Roles:
 *     SET     a parameter of cases and of `eval flow`
 *     ASKED   the same, but `eval` asks for it: it has a scale and no default there
 *     START   the same as SET, and the state of a particle at the start
 *     STATE   the state at the start is the preset: no parameter of cases; `eval` takes it
 *     STEP    the time step, s: no parameter of cases; `eval` asks for it */
#define FLOW_CHOICES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define FLOW_VALUE(role, name, ...) double name; /* of a choice: its place */

#define PBD_BODY "methods/physics/matter/flow/stretches.h"
#include "methods/physics/math/twice.h"

#endif
#else

/* What a rule makes of stretches. */
typedef struct V(flowed) {
    V(vec3) s;
    V(real) state;
    V(mask) moved; /* s or the state is no longer what came in */
} V(flowed);

typedef struct V(hencky_parts) {
    V(vec3) deviator;
    V(real) trace, norm; /* norm: of the deviator */
} V(hencky_parts);

/* Of log s less `shift` in each axis. */
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

#endif
