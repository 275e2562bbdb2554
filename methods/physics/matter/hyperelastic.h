/* Elastic laws: energy density psi(F) and first Piola-Kirchhoff stress P(F) = d psi/dF, for every method.
 *
 *     corotated         psi = mu |F - R|^2 + lambda/2 tr^2(R^T F - I)                     cao2023 section 4.2
 *     stvk              psi = mu |E|^2 + lambda/2 tr^2 E,  E = (F^T F - I)/2              cao2023 section 4.3
 *     neo_hookean       psi = mu/2 (tr F^T F - 3) - mu log J + lambda/2 log^2 J           cao2023 Eq. 6
 *     stable_neo_hookean  psi = m/2 (I - 3) - m/2 log((I + 1)/4) + l/2 (J - a)^2 - l/2 (1 - a)^2,  I = tr F^T F,
 *                       a = 1 + 3m/(4l),  m = 4/3 mu,  l = lambda + 5/6 mu                Smith et al. 2018, Eq. 14
 *     hencky            psi = mu |log S|^2 + lambda/2 tr^2(log S),  F = R S               yu2024 Eq. 3
 *
 * mu and lambda are Lame's: all five agree for small strain. All are 0 at rest. neo_hookean and hencky are undefined
 * (NaN) for det F <= 0. R is the nearest rotation, also where det F < 0 (svd3.h).
 *
 * All are isotropic, so psi is a function of the singular values s of F = U diag(s) V^T, and P = U diag(p) V^T with
 * p = d psi/ds: the principal stresses. stvk and both neo-Hookean laws need no decomposition and have a direct form.
 * Near rest psi is computed without cancellation, from e = s - 1 or from E: in f32 a strain of 1e-4 would otherwise
 * leave no digit of it, and constraints that take its root would be noise.
 *
 * Joins: what is done about singular values under a threshold t, for compressed and inverted states.
 *     none        the law as it is
 *     printed     cao2023 section 4.2: where the smallest s is not above t, corotated takes the law's place. Jumps
 * (C-10). t = 1/sqrt 3 for stvk (its largest resistance to compression), 0 for the others (the sign test) continuous  P
 * and its slope continued linearly: psi is continued by its second-order expansion about q = max(s, t). t = 1/sqrt 3
 *     shifted     as continuous, but with the slope of corotated: P does not jump, and keeps rising where stvk's own
 *                 slope is 0. t = 1/sqrt 3
 *     clamp       P and psi are those of q (Irving et al. 2004; Bender et al. 2014, who take 0.577). P is then no
 *                 longer the gradient of psi below t
 * corotated and stable_neo_hookean are made for every F: only clamp touches them. */
#ifndef PBD_BODY
#ifndef PBD_HYPERELASTIC_H
#define PBD_HYPERELASTIC_H

#include "methods/method.h"
#include "methods/physics/math/log.h"
#include "methods/physics/math/svd3.h"

enum { PBD_LAWS = 5 };

typedef enum pbd_join {
    PBD_JOIN_NONE,
    PBD_JOIN_PRINTED,
    PBD_JOIN_CONTINUOUS,
    PBD_JOIN_SHIFTED,
    PBD_JOIN_CLAMP
} pbd_join;
enum { PBD_JOINS = 5 };

/* The fibres of a material that have a stiffness, one material for all lanes. */
typedef struct fibre_set {
    real_bits count;
    vec3 direction[PBD_MOST_FIBRES]; /* unit vectors at rest */
    real stiffness[PBD_MOST_FIBRES]; /* Pa, or what they were divided by */
} fibre_set;

#define PBD_BODY "methods/physics/matter/hyperelastic.h"
#include "methods/physics/math/twice.h"

/* The threshold of a join, where nothing else is asked for. */
PBD_FN double hyperelastic_threshold(pbd_law law, pbd_join join) {
    return join == PBD_JOIN_PRINTED && law != PBD_LAW_STVK ? 0 : 0.57735026918962576451; /* 1/sqrt 3 */
}

PBD_FN hyperelastic hyperelastic_make(pbd_law law, pbd_join join, double E, double nu, double threshold) {
    hyperelastic m;
    m.law = law;
    m.join = join;
    m.mu = (real)(E / (2 * (1 + nu)));
    m.lambda = (real)(E * nu / ((1 + nu) * (1 - 2 * nu)));
    m.threshold = (real)threshold;
    return m;
}

/* One material for all lanes; lanes may then be given mu and lambda of their own. */
PBD_FN vhyperelastic vhyperelastic_of(hyperelastic m) {
    vhyperelastic v;
    v.law = m.law;
    v.join = m.join;
    v.mu = vreal_set(m.mu);
    v.lambda = vreal_set(m.lambda);
    v.threshold = vreal_set(m.threshold);
    return v;
}

#endif
#else

#define HALF ((real)0.5)
#define NEAR ((real)0.0625) /* |e|^2 or 4|E|^2 below which expansions about rest are the better ones */

typedef struct V(hyperelastic) {
    pbd_law law;
    pbd_join join;
    V(real) mu, lambda; /* Lame, Pa */
    V(real) threshold;  /* of the join */
} V(hyperelastic);

typedef struct V(principal) {
    V(real) psi; /* J/m^3 */
    V(vec3) p;   /* d psi/ds, Pa */
} V(principal);

typedef struct V(principal_slope) {
    V(vec3) diagonal; /* d2 psi/ds_k^2 */
    V(vec3) across;   /* d2 psi/ds_i ds_j for (i, j) = (y, z), (z, x), (x, y) */
} V(principal_slope);

typedef struct V(stressed) {
    V(real) psi; /* J/m^3 */
    V(mat3) p;   /* first Piola-Kirchhoff, Pa */
} V(stressed);

PBD_FN V(real) V(vec3_sum)(V(vec3) a) { return a.x + a.y + a.z; }
PBD_FN V(vec3) V(vec3_shift)(V(vec3) a, V(real) by) { return V(vec3_make)(a.x + by, a.y + by, a.z + by); }
PBD_FN V(vec3) V(vec3_times)(V(vec3) a, V(vec3) b) { return V(vec3_make)(a.x * b.x, a.y * b.y, a.z * b.z); }
PBD_FN V(vec3) V(vec3_over)(V(vec3) a, V(vec3) b) { return V(vec3_make)(a.x / b.x, a.y / b.y, a.z / b.z); }
/* The product of the other two. */
PBD_FN V(vec3) V(vec3_others)(V(vec3) a) { return V(vec3_make)(a.y * a.z, a.z * a.x, a.x * a.y); }

/* ---- Volume ------------------------------------------------------------------------------------------------------ */

/* J, d = J - 1, and what psi of the neo-Hookean laws needs of them, without cancellation near rest. */
typedef struct V(volume) {
    V(real) j, d;
    V(real) rest;   /* I1 - d: first invariant of e or of E, less d */
    V(real) square; /* |F|^2 - 3 */
} V(volume);

PBD_FN V(volume) V(volume_of_stretches)(V(vec3) s) {
    V(vec3) e = V(vec3_shift)(s, V(real_set)(-1));
    V(real) i1 = V(vec3_sum)(e), i2 = V(vec3_sum)(V(vec3_others)(e)), i3 = e.x * e.y * e.z, e2 = V(vec3_dot)(e, e);
    V(volume) out;
    out.j = s.x * s.y * s.z;
    out.d = V(real_where)(e2 < NEAR, i1 + (i2 + i3), out.j - 1);
    out.square = V(vec3_dot)(e, V(vec3_shift)(s, V(real_set)(1)));
    /* With |F|^2 - 3 = 2 (I1 of E): (|F|^2 - 3)/2 - d = e.e/2 - i2 - i3. */
    out.rest = V(real_where)(e2 < NEAR, HALF * e2 - i2 - i3, HALF * out.square - out.d);
    return out;
}

/* The same from F and E: det(I + 2E) = J^2 = 1 + 2 i1 + 4 i2 + 8 i3. */
PBD_FN V(volume) V(volume_of_matrix)(V(mat3) f, V(mat3) e) {
    V(real) i1 = V(mat3_trace)(e), i3 = V(mat3_det)(e);
    V(real) i2 = e.x.x * e.y.y + e.y.y * e.z.z + e.z.z * e.x.x - e.y.x * e.y.x - e.z.x * e.z.x - e.z.y * e.z.y;
    V(volume) out;
    out.j = V(mat3_det)(f);
    V(real) near = V(real_where)(4 * V(mat3_inner)(e, e) < NEAR, out.j, V(real_set)(-1)); /* > 0 where it is */
    V(real) inverse = 1 / V(real_where)(near > 0, 1 + out.j, V(real_set)(1));
    out.d = V(real_where)(near > 0, (2 * i1 + (4 * i2 + 8 * i3)) * inverse, out.j - 1);
    out.square = 2 * i1;
    out.rest = V(real_where)(near > 0, (i1 * out.d - 4 * i2 - 8 * i3) * inverse, i1 - out.d);
    return out;
}

/* (|F|^2 - 3)/2 - log J = rest + excess; where J is large, the two would only cancel. */
PBD_FN V(real) V(neo_hookean_energy)(V(hyperelastic) m, V(volume) v, V(log_parts) log) {
    V(real) shape = V(real_where)(v.d < 1, v.rest + log.excess, HALF * v.square - log.log);
    return m.mu * shape + HALF * m.lambda * log.log * log.log;
}

typedef struct V(stable) { /* the pieces of stable neo-Hookean */
    V(real) mu, lambda;
    V(real) psi;
    V(real) f; /* P = f F + cof cofactor(F) */
    V(real) cof;
    V(real) q; /* 1/(I + 1) */
} V(stable);

PBD_FN V(stable) V(stable_of)(V(hyperelastic) m, V(volume) v) {
    V(stable) out;
    out.mu = (real)(4.0 / 3) * m.mu;
    out.lambda = m.lambda + (real)(5.0 / 6) * m.mu;
    V(real) quarter = (real)0.25 * v.square;
    V(real) excess = V(log_of)(1 + quarter, quarter).excess;
    out.q = 1 / (4 + v.square);
    out.psi = HALF * out.mu * ((real)1.5 * v.rest + excess) + HALF * out.lambda * v.d * v.d;
    out.f = out.mu * (1 - out.q);
    out.cof = out.lambda * v.d - (real)0.75 * out.mu;
    return out;
}

/* ---- By singular values ------------------------------------------------------------------------------------------ */

PBD_FN V(vec3) V(vec3_log)(V(vec3) s) { return V(vec3_make)(V(real_log)(s.x), V(real_log)(s.y), V(real_log)(s.z)); }

PBD_FN V(principal) V(principal_corotated)(V(hyperelastic) m, V(vec3) s) {
    V(vec3) e = V(vec3_shift)(s, V(real_set)(-1));
    V(real) trace = V(vec3_sum)(e);
    V(principal) out;
    out.psi = m.mu * V(vec3_dot)(e, e) + HALF * m.lambda * trace * trace;
    out.p = V(vec3_shift)(V(vec3_scale)(2 * m.mu, e), m.lambda * trace);
    return out;
}

PBD_FN V(vec3) V(green_stretches)(V(vec3) s) {
    const V(real) one = V(real_set)(1);
    return V(vec3_scale)(V(real_set)(HALF), V(vec3_times)(V(vec3_shift)(s, -one), V(vec3_shift)(s, one)));
}

PBD_FN V(principal) V(principal_stvk)(V(hyperelastic) m, V(vec3) s) {
    V(vec3) e = V(green_stretches)(s);
    V(real) trace = V(vec3_sum)(e);
    V(principal) out;
    out.psi = m.mu * V(vec3_dot)(e, e) + HALF * m.lambda * trace * trace;
    out.p = V(vec3_times)(s, V(vec3_shift)(V(vec3_scale)(2 * m.mu, e), m.lambda * trace));
    return out;
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

PBD_FN V(principal) V(principal_stable)(V(hyperelastic) m, V(vec3) s) {
    V(stable) a = V(stable_of)(m, V(volume_of_stretches)(s));
    V(principal) out;
    out.psi = a.psi;
    out.p = V(vec3_add)(V(vec3_scale)(a.f, s), V(vec3_scale)(a.cof, V(vec3_others)(s)));
    return out;
}

PBD_FN V(principal) V(principal_hencky)(V(hyperelastic) m, V(vec3) s) {
    V(vec3) e = V(vec3_log)(s);
    V(real) trace = V(vec3_sum)(e);
    V(principal) out;
    out.psi = m.mu * V(vec3_dot)(e, e) + HALF * m.lambda * trace * trace;
    out.p = V(vec3_over)(V(vec3_shift)(V(vec3_scale)(2 * m.mu, e), m.lambda * trace), s);
    return out;
}

/* The plain law; s in any order. */
PBD_FN V(principal) V(principal_law)(V(hyperelastic) m, V(vec3) s) {
    switch (m.law) {
        case PBD_LAW_STVK:
            return V(principal_stvk)(m, s);
        case PBD_LAW_NEO_HOOKEAN:
            return V(principal_neo_hookean)(m, s);
        case PBD_LAW_STABLE_NEO_HOOKEAN:
            return V(principal_stable)(m, s);
        case PBD_LAW_HENCKY:
            return V(principal_hencky)(m, s);
        case PBD_LAW_COROTATED:
        default:
            return V(principal_corotated)(m, s);
    }
}

/* The second derivatives of the plain law. */
PBD_FN V(principal_slope) V(principal_law_slope)(V(hyperelastic) m, V(vec3) s) {
    const V(real) one = V(real_set)(1);
    V(vec3) others = V(vec3_others)(s), square = V(vec3_times)(s, s), e;
    V(principal_slope) out;
    switch (m.law) {
        case PBD_LAW_STVK: { /* p = s (2 mu e + lambda tr e) */
            e = V(green_stretches)(s);
            V(vec3) own = V(vec3_shift)(V(vec3_scale)(2 * m.mu, e), m.lambda * V(vec3_sum)(e));
            out.diagonal = V(vec3_add)(own, V(vec3_scale)(2 * m.mu + m.lambda, square));
            out.across = V(vec3_scale)(m.lambda, others);
            return out;
        }
        case PBD_LAW_NEO_HOOKEAN: { /* p = mu s + (lambda log J - mu)/s */
            V(volume) v = V(volume_of_stretches)(s);
            V(real) log = V(log_of)(v.j, v.d).log;
            V(real) over = m.lambda * (1 - log) + m.mu;
            out.diagonal = V(vec3_shift)(V(vec3_make)(over / square.x, over / square.y, over / square.z), m.mu);
            out.across = V(vec3_make)(m.lambda / others.x, m.lambda / others.y, m.lambda / others.z);
            return out;
        }
        case PBD_LAW_STABLE_NEO_HOOKEAN: { /* p = f s + cof others, f of I and cof of J */
            V(stable) a = V(stable_of)(m, V(volume_of_stretches)(s));
            V(real) more = 2 * a.mu * a.q * a.q;
            V(vec3) outer = V(vec3_times)(others, others);
            out.diagonal = V(vec3_shift)(V(vec3_add)(V(vec3_scale)(more, square), V(vec3_scale)(a.lambda, outer)), a.f);
            out.across =
                V(vec3_add)(V(vec3_scale)(more, others),
                            V(vec3_add)(V(vec3_scale)(a.lambda, V(vec3_others)(others)), V(vec3_scale)(a.cof, s)));
            return out;
        }
        case PBD_LAW_HENCKY: { /* p = (2 mu e + lambda tr e)/s */
            e = V(vec3_log)(s);
            V(real) rest = 2 * m.mu + m.lambda - m.lambda * V(vec3_sum)(e);
            out.diagonal = V(vec3_over)(V(vec3_shift)(V(vec3_scale)(-2 * m.mu, e), rest), square);
            out.across = V(vec3_make)(m.lambda / others.x, m.lambda / others.y, m.lambda / others.z);
            return out;
        }
        case PBD_LAW_COROTATED:
        default:
            out.diagonal = V(vec3_scale)(2 * m.mu + m.lambda, V(vec3_make)(one, one, one));
            out.across = V(vec3_scale)(m.lambda, V(vec3_make)(one, one, one));
            return out;
    }
}

/* ---- Joins ------------------------------------------------------------------------------------------------------- */

PBD_FN V(vec3) V(vec3_at_least)(V(vec3) s, V(real) t) {
    return V(vec3_make)(V(real_max)(s.x, t), V(real_max)(s.y, t), V(real_max)(s.z, t));
}

PBD_FN V(vec3) V(vec3_where_zero)(V(vec3) test, V(vec3) a, V(vec3) b) {
    return V(vec3_make)(V(real_where)(test.x == 0, a.x, b.x), V(real_where)(test.y == 0, a.y, b.y),
                        V(real_where)(test.z == 0, a.z, b.z));
}

PBD_FN V(principal) V(principal_printed)(V(hyperelastic) m, V(vec3) s) {
    V(principal) a = V(principal_law)(m, s), b = V(principal_corotated)(m, s), out;
    V(real) least = V(real_min)(s.x, V(real_min)(s.y, s.z));
    out.psi = V(real_where)(least > m.threshold, a.psi, b.psi);
    out.p =
        V(vec3_make)(V(real_where)(least > m.threshold, a.p.x, b.p.x), V(real_where)(least > m.threshold, a.p.y, b.p.y),
                     V(real_where)(least > m.threshold, a.p.z, b.p.z));
    return out;
}

/* psi = psi(q) + p(q).d + d.H d/2 with q = max(s, t), d = s - q; p is its exact derivative. With H the law's own at q,
 * H varies with the values that are not clamped: d H_jj/d s_k is lambda s_k (stvk) or -lambda/(s_j^2 s_k) (the laws of
 * log J), and no other entry matters. With H of corotated it is constant. */
PBD_FN V(principal) V(principal_continued)(V(hyperelastic) m, V(vec3) s) {
    V(vec3) q = V(vec3_at_least)(s, m.threshold), d = V(vec3_sub)(s, q);
    V(principal) at = V(principal_law)(m, q), out;
    V(principal_slope) law = V(principal_law_slope)(m, q), h = law;
    if (m.join == PBD_JOIN_SHIFTED) {
        V(hyperelastic) linear = m;
        linear.law = PBD_LAW_COROTATED;
        h = V(principal_law_slope)(linear, q);
    }
    /* (H d)_k for clamped k, and through the law's own H for the others, whose d is 0. */
    V(vec3)
    clamped = V(vec3_add)(V(vec3_times)(h.diagonal, d),
                          V(vec3_make)(h.across.z * d.y + h.across.y * d.z, h.across.z * d.x + h.across.x * d.z,
                                       h.across.y * d.x + h.across.x * d.y));
    V(vec3)
    free = V(vec3_make)(law.across.z * d.y + law.across.y * d.z, law.across.z * d.x + law.across.x * d.z,
                        law.across.y * d.x + law.across.x * d.y);
    if (m.join == PBD_JOIN_CONTINUOUS) {
        V(vec3)
        weight = m.law == PBD_LAW_STVK ? V(vec3_times)(d, d) : V(vec3_over)(V(vec3_times)(d, d), V(vec3_times)(q, q));
        V(real) sum = HALF * m.lambda * V(vec3_sum)(weight);
        free = V(vec3_add)(
            free, m.law == PBD_LAW_STVK ? V(vec3_scale)(sum, q) : V(vec3_make)(-sum / q.x, -sum / q.y, -sum / q.z));
    }
    out.psi = at.psi + V(vec3_dot)(at.p, d) + HALF * V(vec3_dot)(clamped, d);
    out.p = V(vec3_add)(at.p, V(vec3_where_zero)(d, free, clamped));
    return out;
}

/* psi and principal stresses of the singular values s, with the join. */
PBD_FN V(principal) V(principal_stress)(V(hyperelastic) m, V(vec3) s) {
    if (m.join == PBD_JOIN_CLAMP) return V(principal_law)(m, V(vec3_at_least)(s, m.threshold));
    if (m.join == PBD_JOIN_NONE || m.law == PBD_LAW_COROTATED || m.law == PBD_LAW_STABLE_NEO_HOOKEAN)
        return V(principal_law)(m, s);
    return m.join == PBD_JOIN_PRINTED ? V(principal_printed)(m, s) : V(principal_continued)(m, s);
}

/* ---- By F -------------------------------------------------------------------------------------------------------- */

PBD_FN V(mat3) V(mat3_green)(V(mat3) f) { /* E = (F^T F - I)/2 */
    const V(real) half = V(real_set)(HALF);
    return V(mat3_scale)(half, V(mat3_sub)(V(mat3_transposed_mul)(f, f), V(mat3_identity)()));
}

PBD_FN V(stressed) V(stress_stvk)(V(hyperelastic) m, V(mat3) f) {
    V(mat3) e = V(mat3_green)(f);
    V(real) trace = V(mat3_trace)(e);
    V(stressed) out;
    out.psi = m.mu * V(mat3_inner)(e, e) + HALF * m.lambda * trace * trace;
    e = V(mat3_add)(V(mat3_scale)(2 * m.mu, e), V(mat3_scale)(m.lambda * trace, V(mat3_identity)()));
    out.p = V(mat3_mul)(f, e);
    return out;
}

PBD_FN V(stressed) V(stress_neo_hookean)(V(hyperelastic) m, V(mat3) f) {
    V(volume) v = V(volume_of_matrix)(f, V(mat3_green)(f));
    V(log_parts) log = V(log_of)(v.j, v.d);
    V(stressed) out;
    out.psi = V(neo_hookean_energy)(m, v, log);
    out.p = V(mat3_add)(V(mat3_scale)(m.mu, f), V(mat3_scale)((m.lambda * log.log - m.mu) / v.j, V(mat3_cofactor)(f)));
    return out;
}

PBD_FN V(stressed) V(stress_stable)(V(hyperelastic) m, V(mat3) f) {
    V(stable) a = V(stable_of)(m, V(volume_of_matrix)(f, V(mat3_green)(f)));
    V(stressed) out;
    out.psi = a.psi;
    out.p = V(mat3_add)(V(mat3_scale)(a.f, f), V(mat3_scale)(a.cof, V(mat3_cofactor)(f)));
    return out;
}

/* psi and P of F = U diag(s) V^T, where the decomposition is at hand. */
PBD_FN V(stressed) V(stress_of_svd)(V(hyperelastic) m, V(svd3) f) {
    V(principal) by = V(principal_stress)(m, f.s);
    V(stressed) out;
    out.psi = by.psi;
    out.p = V(svd3_with)(f, by.p);
    return out;
}

/* psi and P of F: the direct form where there is one and no join is asked for. */
PBD_FN V(stressed) V(stress)(V(hyperelastic) m, V(mat3) f) {
    if (m.join != PBD_JOIN_CLAMP && m.law == PBD_LAW_STABLE_NEO_HOOKEAN) return V(stress_stable)(m, f);
    if (m.join == PBD_JOIN_NONE && m.law == PBD_LAW_STVK) return V(stress_stvk)(m, f);
    if (m.join == PBD_JOIN_NONE && m.law == PBD_LAW_NEO_HOOKEAN) return V(stress_neo_hookean)(m, f);
    return V(stress_of_svd)(m, V(mat3_svd)(f));
}

/* cao2023 section 4.3, a term along the unit direction b with stiffness beta (Pa), to be added to another law:
 *     omega = beta ((xi^2 - 1)/2 - log xi),  xi = |F b|,  P = beta (xi - 1/xi)/xi (F b) b^T
 * with xi and beta the right way round (C-7). Adds 2 beta to the modulus along b. */
PBD_FN V(stressed) V(stress_along)(V(mat3) f, V(vec3) b, V(real) beta) {
    V(vec3) image = V(mat3_apply)(f, b);
    V(real) square = V(vec3_dot)(image, image);
    V(stressed) out;
    out.psi = HALF * beta * V(log_of)(square, square - 1).excess;
    out.p = V(mat3_outer)(V(vec3_scale)(beta * (1 - 1 / square), image), b);
    return out;
}

/* Adds the fibres to what another law gives. */
PBD_FN void V(add_fibre)(V(stressed) * s, V(mat3) f, V(vec3) b, V(real) beta) {
    V(stressed) along = V(stress_along)(f, b, beta);
    s->psi += along.psi;
    s->p = V(mat3_add)(s->p, along.p);
}

PBD_FN V(vec3) V(fibre_direction)(const fibre_set *a, int k) {
    return V(vec3_make)(V(real_set)(a->direction[k].x), V(real_set)(a->direction[k].y), V(real_set)(a->direction[k].z));
}

PBD_FN void V(add_fibres)(V(stressed) * s, V(mat3) f, const fibre_set *a) {
    for (int k = 0; k < (int)a->count; k++) V(add_fibre)(s, f, V(fibre_direction)(a, k), V(real_set)(a->stiffness[k]));
}

#undef HALF
#undef NEAR
#endif
