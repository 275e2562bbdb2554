/* Return mappings of flow rules: from a trial deformation gradient F = U diag(s) V^T and a hardening state to the
 * elastic F and the new state. They are functions of the stretches s only, so U and V are kept, and serve every
 * particle method. The rules are in flow.def and flow/NAME.h; this header dispatches to them. (plasticity.h is
 * different: the additive split of Green's strain of cao2023.)
 *
 * Conventions. |a| is the Frobenius norm of a tensor, everywhere. tau is Kirchhoff's stress of the Hencky law, yu2024
 * Eq. 3: tau = 2 mu e + lambda tr e with e = log s, so that |dev tau| = 2 mu |dev e| and tr tau = (3 lambda + 2 mu) tr
 * e. Only nacc uses another stress, that of Wolper's neo-Hookean law (flow/nacc.h). All quantities are strains or in
 * units of a modulus: there is no absolute tolerance, and results do not depend on the unit of stress.
 *
 * Every F has a result: stretches below FLOW_LEAST_STRETCH, as of a collapsed or reflected F (s.z < 0), are raised to
 * it, so that the result is not reflected. Where nothing flows, F and state are returned bitwise unchanged; likewise if
 * F has NaN or infinity. */
#ifndef PBD_BODY
#ifndef PBD_FLOW_H
#define PBD_FLOW_H

#include <string.h>

#include "methods/physics/matter/flow.def"
#include "methods/physics/matter/strain.h"

#define FLOW_LEAST_STRETCH 1e-4

typedef enum flow_kind {
#define FLOW(name, hardening, form) FLOW_##name,
#include "methods/physics/matter/flow.def"
#undef FLOW
    FLOW_KINDS
} flow_kind;

/* The same for all lanes. */
typedef struct flow_rule {
    int kind; /* FLOW_name */
    union {
#define FLOW(name, hardening, form) name##_rule name;
#include "methods/physics/matter/flow.def"
#undef FLOW
    } of;
} flow_rule;

/* value: the rule's parameters, in order. */
PBD_FN flow_rule flow_rule_make(int kind, double E, double nu, const double *value) {
    flow_moduli m;
    flow_rule r;
    m.mu = E / (2 * (1 + nu));
    m.lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    memset(&r, 0, sizeof r);
    r.kind = kind;
    switch (kind) {
#define FLOW(name, hardening, form)     \
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
    V(vec3) from, to; /* stretches before and after; equal where nothing flows */
} V(flowed_matrix);

PBD_FN V(flowed) V(flow_by_kind)(const flow_rule *r, V(vec3) s, V(real) state) {
    V(flowed) out;
    switch (r->kind) {
#define FLOW(name, hardening, form) \
    case FLOW_##name:               \
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

/* Whether the rule is radial; also true of no rule. */
PBD_FN int V(flow_is_radial)(const flow_rule *r) {
#define FLOW_IS_radial 1
#define FLOW_IS_principal 0
    switch (r->kind) {
#define FLOW(name, hardening, form) \
    case FLOW_##name:               \
        return FLOW_IS_##form;
#include "methods/physics/matter/flow.def"
#undef FLOW
        default:
            return 1;
    }
#undef FLOW_IS_radial
#undef FLOW_IS_principal
}

/* The return of a radial rule by the trace of the Hencky strain and the norm of its deviator. */
PBD_FN V(radial_flow) V(flow_radially)(const flow_rule *r, V(real) trace, V(real) norm, V(real) state) {
#define FLOW_RETURN_principal(name)
#define FLOW_RETURN_radial(name) \
    case FLOW_##name:            \
        return V(name##_return)(&r->of.name, trace, norm, state);
    switch (r->kind) {
#define FLOW(name, hardening, form) FLOW_RETURN_##form(name)
#include "methods/physics/matter/flow.def"
#undef FLOW
        default: {
            const V(radial_flow) none = {V(real_set)(0), V(real_set)(0), state, norm < norm, norm < norm};
            return none;
        }
    }
#undef FLOW_RETURN_principal
#undef FLOW_RETURN_radial
}

/* The factor of mu and lambda; 1 unless the rule hardens. */
PBD_FN V(real) V(flow_hardening)(const flow_rule *r, V(real) state) {
#define FLOW_HARDENING_plain(name)
#define FLOW_HARDENING_hardens(name) \
    case FLOW_##name:                \
        return V(name##_hardening)(&r->of.name, state);
    switch (r->kind) {
#define FLOW(name, hardening, form) FLOW_HARDENING_##hardening(name)
#include "methods/physics/matter/flow.def"
#undef FLOW
        default:
            return V(real_set)(1);
    }
#undef FLOW_HARDENING_plain
#undef FLOW_HARDENING_hardens
}

/* Applies the rule to the singular values of an existing decomposition (svd3.h): the new F is U diag(s) V^T with the
 * returned s, which is the argument where `moved` is false. */
PBD_FN V(flowed) V(flow_stretches)(const flow_rule *r, V(vec3) s, V(real) state) {
    const V(real) least = V(real_set)((real)FLOW_LEAST_STRETCH), inf = V(real_set)((real)INFINITY);
    V(vec3) q = V(vec3_make)(V(real_max)(least, s.x), V(real_max)(least, s.y), V(real_max)(least, s.z));
    V(flowed) out = V(flow_by_kind)(r, q, state);
    V(mask) x_finite = V(real_abs)(s.x) < inf, y_finite = V(real_abs)(s.y) < inf, z_finite = V(real_abs)(s.z) < inf;
    V(mask) finite = x_finite & y_finite & z_finite;
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
    out.f = V(mat3_where)(to.moved, moved, f);
    out.state = to.state;
    out.from = parts.s;
    out.to = to.s;
    return out;
}

/* Plastic dissipation of a return mapping, in units of the moduli: tau(to) : (log from - log to), with tau the stress
 * of the Hencky law after the mapping, as backward Euler integrates tau : D^p (Simo and Hughes 1998, 3.6). Stretches
 * below FLOW_LEAST_STRETCH count as FLOW_LEAST_STRETCH. */
PBD_FN V(real) V(flow_dissipated)(real mu, real lambda, V(vec3) from, V(vec3) to) {
    const V(real) least = V(real_set)((real)FLOW_LEAST_STRETCH);
    const V(vec3) e = V(vec3_log)(V(vec3_at_least)(to, least));
    const V(vec3) plastic = V(vec3_sub)(V(vec3_log)(V(vec3_at_least)(from, least)), e);
    return 2 * mu * V(vec3_dot)(e, plastic) + lambda * V(vec3_sum)(e) * V(vec3_sum)(plastic);
}

#endif
