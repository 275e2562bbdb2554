/* Flow rules: from a trial deformation gradient F = U diag(s) V^T and a hardening state to the F that stays elastic and
 * the new state. Pure functions of the stretches s, for every particle method; U and V are kept. (plasticity.h is
 * another thing: the split of Green's strain of cao2023.)
 *
 *     von_mises        |dev tau| <= sqrt(2/3) yield_stress, or <= yield_stress with the Frobenius norm (Li et al. 2022)
 *     drucker_prager   |dev tau| + alpha tr tau <= 0, shifted by cohesion; volume gained at the tip is given back
 *                      before the sand bears load again              Klar et al. 2016; Tampubolon et al. 2017
 *     nacc             (1 + 2 beta) q^2 + M^2 (p + beta p0)(p - p0) <= 0                    Wolper et al. 2019
 *     herschel_bulkley |dev tau| = radius + viscosity rate^power beyond the radius of von_mises   Yue et al. 2015
 *     snow             1 - compression <= s <= 1 + stretch                               Stomakhin et al. 2013
 *
 * Conventions. |a| is the Frobenius norm of a tensor, everywhere. tau is Kirchhoff's stress of the Hencky law, yu2024
 * Eq. 3: tau = 2 mu e + lambda tr e with e = log s, so that |dev tau| = 2 mu |dev e| and tr tau = (3 lambda + 2 mu) tr
 * e. nacc alone has a stress of its own, that of Wolper's neo-Hookean law (see there). Everything below is in strains
 * or in units of a modulus: no absolute tolerance, and the same answers in Pa and in MPa.
 *
 * States: drucker_prager the volume gain v_c = log of volume gained without stress (0 at first); nacc alpha = log of
 * the plastic volume change, < 0 where compacted; snow J_P = plastic volume change (1 at first); the others none.
 *
 * Any F has an answer: stretches below FLOW_LEAST_STRETCH, as of collapsed and reflected F (their s.z < 0), count as
 * that much, and the F that comes back is not reflected. F and state come back to the bit where nothing flows. F with
 * NaN or infinity comes back as it is, and leaves the state alone. */
#ifndef PBD_BODY
#ifndef PBD_FLOW_RULES_H
#define PBD_FLOW_RULES_H

#include "methods/physics/matter/hyperelastic.h"

typedef enum flow_kind { FLOW_VON_MISES, FLOW_DRUCKER_PRAGER, FLOW_NACC, FLOW_HERSCHEL_BULKLEY, FLOW_SNOW } flow_kind;
enum { FLOW_KINDS = 5 };

#define FLOW_LEAST_STRETCH 1e-4

/* What a rule is asked with, in SI units. */
typedef struct flow_material {
    double E, nu;
    double yield_stress;         /* Pa: von_mises, herschel_bulkley */
    int frobenius;               /* the radius of |dev tau| is yield_stress itself, not sqrt(2/3) of it */
    double friction_angle;       /* degrees: drucker_prager */
    double cohesion;             /* drucker_prager: Hencky strain of each axis at which the tip of the cone lies */
    int keep_gain;               /* drucker_prager: leave v_c alone, as Klar's rule has none */
    double viscosity, power;     /* Pa s^power, 1: herschel_bulkley */
    double dt;                   /* s: herschel_bulkley */
    double beta, M;              /* nacc */
    double xi;                   /* hardening: nacc, snow */
    int printed;                 /* nacc: Wolper's algorithm to the letter */
    double compression, stretch; /* snow: theta_c, theta_s */
} flow_material;

/* The same, made ready; one for all lanes. */
typedef struct flow_rule {
    flow_kind kind;
    real radius;          /* von_mises, herschel_bulkley: largest |dev e| that does not flow */
    real slope, cohesion; /* drucker_prager: |dev e| + slope tr e <= 0, e less cohesion */
    int keep_gain;
    real power, offset, growth; /* herschel_bulkley: see below */
    int thickening;             /* herschel_bulkley: power > 1 */
    real shear, beta, m_square, xi;
    int printed;
    real least, most; /* snow: of a stretch */
} flow_rule;

PBD_FN flow_rule flow_rule_make(flow_kind kind, const flow_material *m) {
    const double mu = m->E / (2 * (1 + m->nu)), lambda = m->E * m->nu / ((1 + m->nu) * (1 - 2 * m->nu));
    const double root23 = 0.81649658092772603273, degree = 0.017453292519943295769;
    flow_rule r;
    r.kind = kind;
    r.radius = (real)((m->frobenius ? m->yield_stress : root23 * m->yield_stress) / (2 * mu));
    const double sine = sin(m->friction_angle * degree);
    r.slope = (real)(root23 * 2 * sine / (3 - sine) * (3 * lambda + 2 * mu) / (2 * mu));
    r.cohesion = (real)m->cohesion;
    r.keep_gain = m->keep_gain;
    const int viscous = kind == FLOW_HERSCHEL_BULKLEY;
    r.thickening = m->power > 1;
    r.power = (real)(!viscous ? 1 : r.thickening ? m->power : 1 / m->power);
    r.growth = r.power - 1;
    const double fluidity = viscous ? log(2 * mu / m->viscosity) : 0, step = viscous ? log(m->dt) : 0;
    r.offset = (real)(!viscous ? 0 : r.thickening ? -fluidity - m->power * step : step + fluidity / m->power);
    r.shear = (real)(mu / (lambda + 2 * mu / 3));
    r.beta = (real)m->beta;
    r.m_square = (real)(m->M * m->M);
    r.xi = (real)m->xi;
    r.printed = m->printed;
    r.least = (real)(1 - m->compression);
    r.most = (real)(1 + m->stretch);
    return r;
}

#define PBD_BODY "methods/physics/matter/flow_rules.h"
#include "methods/physics/math/twice.h"

#endif
#else

#define K(c) ((real)(c))

/* What a rule makes of stretches. */
typedef struct V(flowed) {
    V(vec3) s;
    V(real) state;
    V(mask) moved; /* s or the state is no longer what came in */
} V(flowed);

typedef struct V(flowed_matrix) {
    V(mat3) f;
    V(real) state;
} V(flowed_matrix);

typedef struct V(hencky_parts) {
    V(vec3) deviator;
    V(real) trace, norm; /* norm: of the deviator */
} V(hencky_parts);

/* Of log s less `shift` in each axis. */
PBD_FN V(hencky_parts) V(hencky_parts_of)(V(vec3) s, real shift) {
    V(vec3) e = V(vec3_shift)(V(vec3_log)(s), V(real_set)(-shift));
    V(hencky_parts) out;
    out.trace = V(vec3_sum)(e);
    out.deviator = V(vec3_shift)(e, K(-1.0 / 3) * out.trace);
    out.norm = V(real_sqrt)(V(vec3_dot)(out.deviator, out.deviator));
    return out;
}

/* s exp(e) */
PBD_FN V(vec3) V(stretched_by)(V(vec3) s, V(vec3) e) {
    return V(vec3_make)(s.x * V(real_exp)(e.x), s.y * V(real_exp)(e.y), s.z * V(real_exp)(e.z));
}

PBD_FN V(vec3) V(vec3_where)(V(mask) m, V(vec3) a, V(vec3) b) {
    return V(vec3_make)(V(real_where)(m, a.x, b.x), V(real_where)(m, a.y, b.y), V(real_where)(m, a.z, b.z));
}

/* ---- von_mises, herschel_bulkley --------------------------------------------------------------------------------- */

/* Radial return of the deviator; the volume stays. */
PBD_FN V(flowed) V(flow_von_mises)(const flow_rule *r, V(vec3) s, V(real) state) {
    V(hencky_parts) e = V(hencky_parts_of)(s, 0);
    V(flowed) out;
    out.moved = e.norm > r->radius;
    V(real) share = V(real_where)(out.moved, 1 - r->radius / e.norm, V(real_set)(0));
    out.s = V(stretched_by)(s, V(vec3_scale)(-share, e.deviator));
    out.state = state;
    return out;
}

/* The share of an overstrain (|dev e| less the radius, > 0) that flows in the step.
 *
 * With the rate, |D_p|, a Frobenius norm as |dev tau| is, the implicit step of Yue et al. 2015 reads
 *     |dev tau| - |dev tau|_trial + 2 mu dt rate = 0,   rate = ((|dev tau| - radius)/viscosity)^(1/power)
 * Of the trial overstrain A the part x stays: x + dt (2 mu x/viscosity)^(1/power) = A. With x = A u for power <= 1, and
 * with u A/dt the rate for power > 1, both are
 *     u + k u^m = 1,   m = power or 1/power, whichever is >= 1,   log k = offset + growth log A
 * whose left side is convex: Newton's steps from min(1, k^(-1/m)), which is at most twice the root, come down to it
 * without overshooting. Logarithms, so that no k overflows. */
PBD_FN V(real) V(herschel_bulkley_share)(const flow_rule *r, V(real) overstrain) {
    const V(real) one = V(real_set)(1), most = V(real_set)(K(1e5)), tiny = V(real_set)(REAL_MIN);
    V(real) k = r->offset + r->growth * V(real_log)(overstrain);
    k = V(real_max)(-most, V(real_min)(most, k));
    V(real) start = V(real_exp)(V(real_min)(V(real_set)(0), k * (-1 / r->power)));
    V(real) u = start, w = start;
    for (int step = 0; step < 8; step++) {
        w = V(real_exp)(k + r->power * V(real_log)(u)); /* k u^m */
        u -= (u + w - one) / (one + r->power * w / V(real_max)(u, tiny));
        u = V(real_max)(V(real_set)(0), V(real_min)(u, start));
    }
    w = V(real_exp)(k + r->power * V(real_log)(u));
    return r->thickening ? u : V(real_min)(w, one);
}

PBD_FN V(flowed) V(flow_herschel_bulkley)(const flow_rule *r, V(vec3) s, V(real) state) {
    const V(real) zero = V(real_set)(0), one = V(real_set)(1);
    V(hencky_parts) e = V(hencky_parts_of)(s, 0);
    V(real) over = e.norm - r->radius;
    V(flowed) out;
    out.moved = over > 0;
    V(real) share = V(herschel_bulkley_share)(r, V(real_where)(out.moved, over, one));
    share = V(real_where)(out.moved, share * over / e.norm, zero);
    out.s = V(stretched_by)(s, V(vec3_scale)(-share, e.deviator));
    out.state = state;
    return out;
}

/* ---- drucker_prager ---------------------------------------------------------------------------------------------- */

/* alpha = sqrt(2/3) 2 sin phi/(3 - sin phi) goes with |dev tau| + alpha tr tau. In strains e less cohesion, the cone is
 * |dev e| + slope tr e <= 0, and its tip where tr e = 0.
 *
 * tr e > 0: all stress goes, and v_c takes tr e. Otherwise the deviator comes back to the cone at the same trace.
 * Before either, pressed sand gives back what it gained: the strain grows by v_c in volume (Tampubolon's correction),
 * as far as log det F = 0 and no further, since with cohesion more would make tension out of nothing. log det F + v_c
 * of the trial is kept in all cases. Klar's «zero deviator: identity» would also free pure compression of its stress;
 * the cone does not, nor does this. */
PBD_FN V(flowed) V(flow_drucker_prager)(const flow_rule *r, V(vec3) s, V(real) state) {
    const V(real) zero = V(real_set)(0);
    V(hencky_parts) e = V(hencky_parts_of)(s, r->cohesion);
    V(real) gain = r->keep_gain ? zero : state;
    V(real) back = V(real_max)(zero, V(real_min)(gain, -(e.trace + 3 * r->cohesion)));
    V(real) trace = e.trace + back, beyond = e.norm + r->slope * trace;
    V(mask) tip = trace > 0, cone = beyond > 0;
    /* Under the tip's height beyond <= norm. */
    V(real) share = V(real_where)(cone, V(real_min)(beyond / e.norm, V(real_set)(1)), zero);
    V(vec3) change = V(vec3_shift)(V(vec3_scale)(-share, e.deviator), K(1.0 / 3) * back);
    V(real) top = V(real_exp)(V(real_set)(r->cohesion));
    V(flowed) out;
    out.moved = tip | cone | (back > 0);
    out.s = V(vec3_where)(tip, V(vec3_make)(top, top, top), V(stretched_by)(s, change));
    out.state = r->keep_gain ? state : V(real_where)(tip, gain + trace, gain - back);
    return out;
}

/* ---- nacc -------------------------------------------------------------------------------------------------------- */

/* Stresses here are Kirchhoff's of Wolper's law, in units of the bulk modulus kappa = lambda + 2 mu/3:
 *     p = (1 - J^2)/2,   q = sqrt(3/2) |mu J^(-2/3) dev(F F^T)|/kappa,   p0 = 1e-5 + sinh(xi max(-alpha, 0))
 * Return, for a given p0: to a tip of the ellipse where p is beyond it (J of that tip, no deviator), else straight down
 * in q at the same p. Hardening: alpha grows by log(J/J_x), with J_x the J of the tip, or of where the line from the
 * trial (p, q) to the ellipse's centre enters it.
 *
 * Two things differ from the printed algorithm, which is `printed`: (1) its return in q keeps the trace of F F^T, not
 * J, so that p moves and the result is off the surface; here J is kept. (2) its p0 is that of the alpha before the
 * step, and the result is off the surface of the alpha after it; here both are solved together: alpha_new = alpha +
 * log(J/J_x(alpha_new)), by bisection. So F lies on the surface of its own alpha, and mapping twice changes nothing. */
typedef struct V(nacc_trial) {
    V(real) log_j, square; /* log J, J^2 */
    V(real) p, q;
} V(nacc_trial);

PBD_FN V(real) V(real_sinh)(V(real) z) { /* of z >= 0 */
    V(real) a = V(real_exp)(z), w = z * z;
    V(real)
    series = 1 + w / 6 * (1 + w / 20 * (1 + w / 42 * (1 + w / 72 * (1 + w / 110 * (1 + w / 156 * (1 + w / 210))))));
    return V(real_where)(z < 1, z * series, K(0.5) * (a - 1 / a));
}

/* p0. Beyond xi |alpha| = 20 (p0 = 2e8 kappa) nothing yields any more. */
PBD_FN V(real) V(nacc_strength)(const flow_rule *r, V(real) alpha) {
    const V(real) zero = V(real_set)(0), most = V(real_set)(20);
    return K(1e-5) + V(real_sinh)(V(real_max)(zero, V(real_min)(r->xi * V(real_max)(-alpha, zero), most)));
}

/* log(J/J_x) of the trial against the surface of p0; 0 inside it. The ellipse in (p, q (1 + 2 beta)^(1/2)/M) is a
 * circle about ((1 - beta) p0/2, 0) with radius (1 + beta) p0/2. */
PBD_FN V(real) V(nacc_volume_change)(const flow_rule *r, V(nacc_trial) t, V(real) p0) {
    V(real) away = t.p - K(0.5) * (1 - r->beta) * p0, radius = K(0.5) * (1 + r->beta) * p0;
    V(real) reach = V(real_sqrt)((1 + 2 * r->beta) / r->m_square * t.q * t.q + away * away);
    V(real) square = t.square + 2 * (1 - radius / reach) * away; /* J_x^2 = 1 - 2 p_x */
    square = V(real_max)(K(1e-8) * t.square, square);            /* a dilating shear can ask for a J_x^2 below 0 */
    square = V(real_where)(t.p > p0, 1 - 2 * p0, square);
    square = V(real_where)(t.p < -r->beta * p0, 1 + 2 * r->beta * p0, square);
    V(real) change = t.log_j - K(0.5) * V(real_log)(square);
    return V(real_where)((reach > radius) | (t.p > p0) | (t.p < -r->beta * p0), change, V(real_set)(0));
}

/* Outside by more than rounding makes of p, q, alpha and p0: softening is unstable, and would carry a state that came
 * to the surface far away again for the sake of its last digit. */
PBD_FN V(mask) V(nacc_outside)(const flow_rule *r, V(nacc_trial) t, V(real) p0, V(real) alpha) {
    V(real) grain = K(8 * REAL_EPSILON) * (1 + p0) * (1 + r->xi * V(real_abs)(alpha));
    V(real) away = t.p - K(0.5) * (1 - r->beta) * p0, radius = K(0.5) * (1 + r->beta) * p0;
    real flat = real_sqrt(1 + 2 * r->beta) / real_sqrt(r->m_square);
    V(real) reach = V(real_sqrt)(flat * flat * t.q * t.q + away * away);
    return (t.p > p0 + grain) | (t.p < -r->beta * p0 - grain) | (reach > radius + (1 + flat) * grain);
}

/* The alpha that solves alpha_new = alpha + change(p0(alpha_new)), and is `change` at alpha. Hardening: the root lies
 * between alpha and alpha + change. Softening: p0 no longer changes for alpha_new >= 0. Where the change jumps (from a
 * tip to the line) there may be no root, and this is where the sides of it turn. The end of the bracket that is taken
 * is the one from which the trial still lies outside. */
PBD_FN V(real) V(nacc_harden)(const flow_rule *r, V(nacc_trial) t, V(real) alpha, V(real) change) {
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

/* Squared isochoric stretches with the deviator d and product 1: d + t, (t + d.x)(t + d.y)(t + d.z) = 1 by Newton from
 * above, where the cubic is convex. t is at most the trace over 3 from which the deviator shrank, and at most
 * 1 + |d|, which is at most 3 times the root. */
PBD_FN V(vec3) V(isochoric_with)(V(vec3) d, V(real) bound) {
    V(real) most = V(real_max)(V(real_abs)(d.x), V(real_max)(V(real_abs)(d.y), V(real_abs)(d.z)));
    V(real) t = V(real_min)(1 + most, bound);
    for (int step = 0; step < 9; step++) {
        V(vec3) b = V(vec3_shift)(d, t);
        t -= (b.x * b.y * b.z - 1) / V(vec3_sum)(V(vec3_others)(b));
    }
    return V(vec3_shift)(d, t);
}

PBD_FN V(flowed) V(flow_nacc)(const flow_rule *r, V(vec3) s, V(real) alpha) {
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
    if (!V(mask_any)(out.moved)) return out; /* most of a body is elastic: bisection and Newton are for the rest */
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

/* ---- snow -------------------------------------------------------------------------------------------------------- */

PBD_FN V(real) V(snow_stretch)(const flow_rule *r, V(real) s) {
    return V(real_max)(V(real_set)(r->least), V(real_min)(V(real_set)(r->most), s));
}

/* What is cut off the stretches goes into J_P; the moduli are then those of snow_hardening. By design the box knows no
 * stress, and promises no dissipation: cutting two axes can load the third. */
PBD_FN V(flowed) V(flow_snow)(const flow_rule *r, V(vec3) s, V(real) state) {
    V(flowed) out;
    out.s = V(vec3_make)(V(snow_stretch)(r, s.x), V(snow_stretch)(r, s.y), V(snow_stretch)(r, s.z));
    out.moved =
        (s.x > r->most) | (s.z < r->least) | (s.y > r->most) | (s.y < r->least) | (s.z > r->most) | (s.x < r->least);
    const V(real) least = V(real_set)(REAL_MIN), most = V(real_set)(1 / REAL_MIN);
    V(real) j = state * (s.x / out.s.x) * (s.y / out.s.y) * (s.z / out.s.z);
    out.state = V(real_max)(least, V(real_min)(most, j)); /* so that huge F leaves a number */
    return out;
}

/* What mu and lambda of snow are multiplied by, Stomakhin et al. 2013. */
PBD_FN V(real) V(snow_hardening)(const flow_rule *r, V(real) state) { return V(real_exp)(r->xi * (1 - state)); }

/* ---- Any of them ------------------------------------------------------------------------------------------------- */

PBD_FN V(flowed) V(flow_by_kind)(const flow_rule *r, V(vec3) s, V(real) state) {
    switch (r->kind) {
        case FLOW_DRUCKER_PRAGER:
            return V(flow_drucker_prager)(r, s, state);
        case FLOW_NACC:
            return V(flow_nacc)(r, s, state);
        case FLOW_HERSCHEL_BULKLEY:
            return V(flow_herschel_bulkley)(r, s, state);
        case FLOW_SNOW:
            return V(flow_snow)(r, s, state);
        case FLOW_VON_MISES:
        default:
            return V(flow_von_mises)(r, s, state);
    }
}

/* Of the singular values of svd3.h, for those who have the decomposition at hand: F is U diag(s) V^T with the s that
 * comes back, the one that came in where not moved. */
PBD_FN V(flowed) V(flow_stretches)(const flow_rule *r, V(vec3) s, V(real) state) {
    const V(real) least = V(real_set)(K(FLOW_LEAST_STRETCH)), inf = V(real_set)(K(INFINITY));
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

#undef K
#endif
