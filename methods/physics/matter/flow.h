/* Flow rules: from a trial deformation gradient F = U diag(s) V^T and a hardening state to the F that stays elastic and
 * the new state. Pure functions of the stretches s, for every particle method; U and V are kept. The rules themselves
 * are flow.def and flow/NAME.h; here are what they are called by. (plasticity.h is another thing: the split of Green's
 * strain of cao2023.)
 *
 * Conventions. |a| is the Frobenius norm of a tensor, everywhere. tau is Kirchhoff's stress of the Hencky law, yu2024
 * Eq. 3: tau = 2 mu e + lambda tr e with e = log s, so that |dev tau| = 2 mu |dev e| and tr tau = (3 lambda + 2 mu) tr
 * e. nacc alone has a stress of its own, that of Wolper's neo-Hookean law (see there). Everything below is in strains
 * or in units of a modulus: no absolute tolerance, and the same answers in Pa and in MPa.
 *
 * Any F has an answer: stretches below FLOW_LEAST_STRETCH, as of collapsed and reflected F (their s.z < 0), count as
 * that much, and the F that comes back is not reflected. F and state come back to the bit where nothing flows. F with
 * NaN or infinity comes back as it is, and leaves the state alone. */
#ifndef PBD_BODY
#ifndef PBD_FLOW_H
#define PBD_FLOW_H

#include <string.h>

#include "methods/physics/matter/flow.def"

#define FLOW_LEAST_STRETCH 1e-4

typedef enum flow_kind {
#define FLOW(name, hardening) FLOW_##name,
#include "methods/physics/matter/flow.def"
#undef FLOW
    FLOW_KINDS
} flow_kind;

/* One for all lanes. */
typedef struct flow_rule {
    int kind; /* FLOW_name */
    union {
#define FLOW(name, hardening) name##_rule name;
#include "methods/physics/matter/flow.def"
#undef FLOW
    } of;
} flow_rule;

/* value: the rule's parameters in their order. */
PBD_FN flow_rule flow_rule_make(int kind, double E, double nu, const double *value) {
    flow_moduli m;
    flow_rule r;
    m.mu = E / (2 * (1 + nu));
    m.lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    memset(&r, 0, sizeof r);
    r.kind = kind;
    switch (kind) {
#define FLOW(name, hardening)           \
    case FLOW_##name: {                 \
        name##_values v;                \
        memcpy(&v, value, sizeof v);    \
        r.of.name = name##_make(m, &v); \
        break;                          \
    }
#include "methods/physics/matter/flow.def"
#undef FLOW
        default:
            break;
    }
    return r;
}

#define PBD_BODY "methods/physics/matter/flow.h"
#include "methods/physics/math/twice.h"

#endif
#else

typedef struct V(flowed_matrix) {
    V(mat3) f;
    V(real) state;
} V(flowed_matrix);

PBD_FN V(flowed) V(flow_by_kind)(const flow_rule *r, V(vec3) s, V(real) state) {
    V(flowed) out;
    switch (r->kind) {
#define FLOW(name, hardening) \
    case FLOW_##name:         \
        return V(flow_##name)(&r->of.name, s, state);
#include "methods/physics/matter/flow.def"
#undef FLOW
        default:
            out.s = s;
            out.state = state;
            out.moved = s.x < s.x;
            return out;
    }
}

/* What mu and lambda are multiplied by: flow_hardens of flow_table.h tells whether to ask. */
PBD_FN V(real) V(flow_hardening)(const flow_rule *r, V(real) state) {
#define FLOW_HARDENING_plain(name)
#define FLOW_HARDENING_hardens(name) \
    case FLOW_##name:                \
        return V(name##_hardening)(&r->of.name, state);
    switch (r->kind) {
#define FLOW(name, hardening) FLOW_HARDENING_##hardening(name)
#include "methods/physics/matter/flow.def"
#undef FLOW
        default:
            return V(real_set)(1);
    }
#undef FLOW_HARDENING_plain
#undef FLOW_HARDENING_hardens
}

/* Of the singular values of svd3.h, for those who have the decomposition at hand: F is U diag(s) V^T with the s that
 * comes back, the one that came in where not moved. */
PBD_FN V(flowed) V(flow_stretches)(const flow_rule *r, V(vec3) s, V(real) state) {
    const V(real) least = V(real_set)((real)FLOW_LEAST_STRETCH), inf = V(real_set)((real)INFINITY);
    V(vec3) q = V(vec3_make)(V(real_max)(least, s.x), V(real_max)(least, s.y), V(real_max)(least, s.z));
    V(flowed) out = V(flow_by_kind)(r, q, state);
    V(mask) finite = (V(real_abs)(s.x) < inf) & (V(real_abs)(s.y) < inf) & (V(real_abs)(s.z) < inf);
    V(mask) raised = (s.x < least) | (s.y < least) | (s.z < least);
    out.s = V(vec3_where)(out.moved & finite, out.s, V(vec3_where)(raised & finite, q, s));
    out.state = V(real_where)(out.moved & finite, out.state, state);
    out.moved = (out.moved | raised) & finite;
    return out;
}

PBD_FN V(flowed_matrix) V(flow_matrix)(const flow_rule *r, V(mat3) f, V(real) state) {
    V(svd3) parts = V(mat3_svd)(f);
    V(flowed) to = V(flow_stretches)(r, parts.s, state);
    V(mat3) moved = V(svd3_with)(parts, to.s);
    V(flowed_matrix) out;
    out.f.x = V(vec3_where)(to.moved, moved.x, f.x);
    out.f.y = V(vec3_where)(to.moved, moved.y, f.y);
    out.f.z = V(vec3_where)(to.moved, moved.z, f.z);
    out.state = to.state;
    return out;
}

#endif
