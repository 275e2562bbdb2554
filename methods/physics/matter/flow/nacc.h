/* nacc: (1 + 2 beta) q^2 + M^2 (p + beta p0)(p - p0) <= 0: Wolper et al. 2019, with the stress of their neo-Hookean
 * law. State: alpha, the log of the plastic volume change, < 0 if compacted. Presets: the candy of yu2024 Table 2. */
#ifdef FLOW
FLOW(nacc, plain, principal)
#elif !defined(PBD_BODY)
#ifndef PBD_FLOW_NACC_H
#define PBD_FLOW_NACC_H

#include "methods/physics/matter/flow/stretches.h"

#define FLOW_COLOUR_nacc 0xa98a6a
#define FLOW_LOOK_nacc FLOW_MATT
#define FLOW_PARAMETERS_nacc(P)                                                                              \
    P(START, alpha0, "", PBD_REAL, "-0.02", -100, 100, 0, NULL, "log of plastic volume change at the start") \
    P(SET, beta, "", PBD_REAL, "0.5", 0, 100, 0, NULL, "strength in tension over that in compression")       \
    P(SET, xi, "", PBD_REAL, "1", 0, 1000, 0, NULL, "hardening by plastic volume change")                    \
    P(SET, M, "", PBD_REAL, "2.36", 1e-3, 100, 0, NULL, "slope of the critical state line")                  \
    P(SET, nacc_form, "", PBD_CHOICE, "implicit", 0, 0, 0, FLOW_CHOICES("implicit", "printed"),              \
      "on the surface of the new alpha, or Wolper's algorithm as printed")
typedef struct nacc_values {
    FLOW_PARAMETERS_nacc(FLOW_VALUE)
} nacc_values;

typedef struct nacc_rule {
    real shear; /* mu/kappa */
    real beta, m_square, xi;
    int printed; /* Wolper's algorithm as printed */
} nacc_rule;

PBD_FN nacc_rule nacc_make(flow_moduli m, const nacc_values *v) {
    nacc_rule r;
    r.shear = (real)(m.mu / (m.lambda + 2 * m.mu / 3));
    r.beta = (real)v->beta;
    r.m_square = (real)(v->M * v->M);
    r.xi = (real)v->xi;
    r.printed = v->nacc_form > 0;
    return r;
}

#define PBD_BODY "methods/physics/matter/flow/nacc.h"
#include "methods/physics/math/twice.h"

#endif
#else

#define K(c) ((real)(c))

/* Kirchhoff stresses of Wolper's law, in units of the bulk modulus kappa = lambda + 2 mu/3:
 *     p = (1 - J^2)/2,   q = sqrt(3/2) |mu J^(-2/3) dev(F F^T)|/kappa,   p0 = 1e-5 + sinh(xi max(-alpha, 0))
 * Return for a given p0: to a tip of the ellipse if p is beyond it (J of the tip, no deviator), otherwise q is reduced
 * at constant p. Hardening: alpha increases by log(J/J_x), with J_x of the tip, or of the intersection of the ellipse
 * with the line from the trial (p, q) to its centre.
 *
 * Two differences from the published algorithm, which nacc_form=printed selects. (1) Its return in q keeps the trace of
 * F F^T instead of J, so p changes and the result is not on the yield surface; here J is kept. (2) Its p0 is that of
 * alpha before the step, so the result is not on the surface of the new alpha; here alpha_new = alpha +
 * log(J/J_x(alpha_new)) is solved by bisection. The result lies on the surface of its own alpha, and a second mapping
 * changes nothing. */
typedef struct V(nacc_trial) {
    V(real) log_j, square; /* log J, J^2 */
    V(real) p, q;
} V(nacc_trial);

PBD_FN V(real) V(real_sinh)(V(real) z) { /* z >= 0 */
    V(real) a = V(real_exp)(z), w = z * z;
    V(real)
    series = 1 + w / 6 * (1 + w / 20 * (1 + w / 42 * (1 + w / 72 * (1 + w / 110 * (1 + w / 156 * (1 + w / 210))))));
    return V(real_where)(z < 1, z * series, K(0.5) * (a - 1 / a));
}

/* p0, bounded at xi |alpha| = 20 (p0 = 2e8 kappa), beyond any stress. */
PBD_FN V(real) V(nacc_strength)(const nacc_rule *r, V(real) alpha) {
    const V(real) zero = V(real_set)(0), most = V(real_set)(20);
    return K(1e-5) + V(real_sinh)(V(real_max)(zero, V(real_min)(r->xi * V(real_max)(-alpha, zero), most)));
}

/* log(J/J_x) of the trial for the surface of p0; 0 inside it. The ellipse in (p, q (1 + 2 beta)^(1/2)/M) is a circle
 * about ((1 - beta) p0/2, 0) with radius (1 + beta) p0/2. */
PBD_FN V(real) V(nacc_volume_change)(const nacc_rule *r, V(nacc_trial) t, V(real) p0) {
    V(real) away = t.p - K(0.5) * (1 - r->beta) * p0, radius = K(0.5) * (1 + r->beta) * p0;
    V(real) reach = V(real_sqrt)((1 + 2 * r->beta) / r->m_square * t.q * t.q + away * away);
    V(real) square = t.square + 2 * (1 - radius / reach) * away; /* J_x^2 = 1 - 2 p_x */
    square = V(real_max)(K(1e-8) * t.square, square);            /* a dilating shear may give J_x^2 < 0 */
    square = V(real_where)(t.p > p0, 1 - 2 * p0, square);
    square = V(real_where)(t.p < -r->beta * p0, 1 + 2 * r->beta * p0, square);
    V(real) change = t.log_j - K(0.5) * V(real_log)(square);
    return V(real_where)((reach > radius) | (t.p > p0) | (t.p < -r->beta * p0), change, V(real_set)(0));
}

/* Outside by more than the rounding of p, q, alpha and p0. Softening is unstable: without this margin the rounding of a
 * state on the surface would start further flow. */
PBD_FN V(mask) V(nacc_outside)(const nacc_rule *r, V(nacc_trial) t, V(real) p0, V(real) alpha) {
    V(real) grain = K(8 * REAL_EPSILON) * (1 + p0) * (1 + r->xi * V(real_abs)(alpha));
    V(real) away = t.p - K(0.5) * (1 - r->beta) * p0, radius = K(0.5) * (1 + r->beta) * p0;
    real flat = real_sqrt(1 + 2 * r->beta) / real_sqrt(r->m_square);
    V(real) reach = V(real_sqrt)(flat * flat * t.q * t.q + away * away);
    return (t.p > p0 + grain) | (t.p < -r->beta * p0 - grain) | (reach > radius + (1 + flat) * grain);
}

/* Solves alpha_new = alpha + change(p0(alpha_new)) by bisection; `change` is its value at alpha. Hardening: the root
 * lies between alpha and alpha + change. Softening: p0 is constant for alpha_new >= 0, which bounds the root. Where the
 * change jumps (from a tip to the line) there may be no root, only a change of sign. Returns the end of the bracket for
 * which the trial is still outside. */
PBD_FN V(real) V(nacc_harden)(const nacc_rule *r, V(nacc_trial) t, V(real) alpha, V(real) change) {
    const V(real) zero = V(real_set)(0);
    V(real) soft = alpha + V(nacc_volume_change)(r, t, V(nacc_strength)(r, zero));
    V(real) low = V(real_where)(change < 0, alpha + change, alpha);
    V(real) high = V(real_where)(change < 0, alpha, V(real_where)(change > 0, V(real_max)(zero, soft), alpha));
    for (int step = 0; step < (REAL_IS_FLOAT ? 30 : 60); step++) {
        V(real) middle = K(0.5) * (low + high);
        V(mask) above = middle - alpha > V(nacc_volume_change)(r, t, V(nacc_strength)(r, middle));
        high = V(real_where)(above, middle, high);
        low = V(real_where)(above, low, middle);
    }
    return high;
}

/* Squared isochoric stretches d + t with deviator d and product 1: (t + d.x)(t + d.y)(t + d.z) = 1 by Newton's method
 * from above, where the cubic is convex. Upper bounds of t are a third of the trace before the deviator was reduced,
 * and 1 + |d|, which is at most 3 times the root. */
PBD_FN V(vec3) V(isochoric_with)(V(vec3) d, V(real) bound) {
    V(real) most = V(real_max)(V(real_abs)(d.x), V(real_max)(V(real_abs)(d.y), V(real_abs)(d.z)));
    V(real) t = V(real_min)(1 + most, bound);
    for (int step = 0; step < 9; step++) {
        V(vec3) b = V(vec3_shift)(d, t);
        t -= (b.x * b.y * b.z - 1) / V(vec3_sum)(V(vec3_others)(b));
    }
    return V(vec3_shift)(d, t);
}

PBD_FN V(flowed) V(flow_nacc)(const nacc_rule *r, V(vec3) s, V(real) alpha) {
    const V(real) zero = V(real_set)(0);
    V(hencky_parts) e = V(hencky_parts_of)(s, 0);
    V(vec3)
    c = V(vec3_make)(V(real_exp)(2 * e.deviator.x), V(real_exp)(2 * e.deviator.y), V(real_exp)(2 * e.deviator.z));
    V(real) third = K(1.0 / 3) * V(vec3_sum)(c);
    V(vec3) d = V(vec3_shift)(c, -third);
    V(nacc_trial) t;
    t.log_j = e.trace;
    V(real) j = s.x * s.y * s.z;
    t.square = j * j;
    t.p = K(0.5) * (1 - j) * (1 + j);
    t.q = K(1.2247448713915890491) * r->shear * V(real_sqrt)(V(vec3_dot)(d, d));

    V(real) p0 = V(nacc_strength)(r, alpha), tip = -r->beta * p0;
    V(real) change = V(nacc_volume_change)(r, t, p0);
    V(flowed) out;
    out.moved = V(nacc_outside)(r, t, p0, alpha);
    out.s = s;
    out.state = alpha;
    if (!V(mask_any)(out.moved)) return out; /* skips bisection and Newton where all lanes are elastic */
    change = V(real_where)(out.moved, change, zero);
    if (r->printed) {
        out.state = alpha + change;
    } else {
        out.state = V(real_where)(out.moved, V(nacc_harden)(r, t, alpha, change), alpha);
        p0 = V(nacc_strength)(r, out.state);
        tip = -r->beta * p0;
    }

    V(real) high = V(real_where)(t.p > p0, p0, tip);
    V(real) ball = V(real_exp)(K(1.0 / 6) * V(real_log)(1 - 2 * high)); /* J^(1/3) of a tip */
    V(real) down = r->m_square / (1 + 2 * r->beta) * V(real_max)(zero, (t.p - tip) * (p0 - t.p));
    V(real) ratio = V(real_sqrt)(down) / t.q;
    ratio = V(real_where)(ratio < 1, ratio, V(real_set)(1));
    d = V(vec3_scale)(ratio, d);
    V(vec3) b = r->printed ? V(vec3_shift)(d, third) : V(isochoric_with)(d, third);
    V(real) size = V(real_exp)(K(1.0 / 3) * t.log_j);
    b = V(vec3_make)(size * V(real_sqrt)(b.x), size * V(real_sqrt)(b.y), size * V(real_sqrt)(b.z));
    out.s = V(vec3_where)((t.p > p0) | (t.p < tip), V(vec3_make)(ball, ball, ball), b);
    return out;
}

#undef K

#endif
