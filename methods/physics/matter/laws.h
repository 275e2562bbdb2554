/* Elastic laws: energy density psi(F) and first Piola-Kirchhoff stress P(F) = d psi/dF, for every method. The laws are
 * in laws.def and laws/NAME.h; this header dispatches to them and adds joins and fibres.
 *
 * mu and lambda are Lame's parameters: all laws agree for small strain, with psi = 0 at rest. Laws with log J are
 * undefined (NaN) for det F <= 0. All are isotropic: psi is a function of the singular values s of F = U diag(s) V^T,
 * and P = U diag(p) V^T with the principal stresses p = d psi/ds. Near rest psi is computed from e = s - 1 or from E,
 * without cancellation: in f32 a strain of 1e-4 would otherwise leave no correct digit, and constraints C = sqrt(2 psi)
 * would be noise.
 *
 * Joins continue a law below a threshold t of the singular values, for compressed and inverted states.
 *     none        the law as it is
 *     printed     cao2023 section 4.2: where the smallest s is not above t, corotated replaces the law.
 *                 Discontinuous (C-10). t = 1/sqrt 3 for a law that softens, 0 for the others (the sign test)
 *     continuous  P and its slope continued linearly: psi is continued by its second-order expansion about q =
 *                 max(s, t). t = 1/sqrt 3
 *     shifted     as continuous, but with the slope of corotated: P is continuous, and increases where stvk's slope
 *                 is 0. t = 1/sqrt 3
 *     clamp       P and psi are those of q (Irving et al. 2004; Bender et al. 2014, who take 0.577). P is then no
 *                 longer the gradient of psi below t
 * Laws of domain `whole` are valid for every F; only clamp changes them. */
#ifndef PBD_BODY
#ifndef PBD_LAWS_H
#define PBD_LAWS_H

#include "methods/method.h"
#include "methods/physics/matter/laws.def"

typedef enum law_kind {
#define LAW(name, form, domain) LAW_##name,
#include "methods/physics/matter/laws.def"
#undef LAW
    LAW_KINDS
} law_kind;

typedef enum law_domain { LAW_WHOLE, LAW_SOFTENS, LAW_UPRIGHT } law_domain;

PBD_FN law_domain law_domain_of(int law) {
#define LAW_DOMAIN_whole LAW_WHOLE
#define LAW_DOMAIN_softens LAW_SOFTENS
#define LAW_DOMAIN_upright LAW_UPRIGHT
    switch (law) {
#define LAW(name, form, domain) \
    case LAW_##name:            \
        return LAW_DOMAIN_##domain;
#include "methods/physics/matter/laws.def"
#undef LAW
        default: /* not a law */
            return LAW_UPRIGHT;
    }
}

/* The fibres with a stiffness, for one material in all lanes. */
typedef struct fibre_set {
    real_bits count;
    vec3 direction[PBD_MOST_FIBRES]; /* unit vectors at rest */
    real stiffness[PBD_MOST_FIBRES]; /* Pa, or in units of `unit` (energy_material.h) */
} fibre_set;

#define PBD_BODY "methods/physics/matter/laws.h"
#include "methods/physics/math/twice.h"

/* The default threshold of a join. */
PBD_FN double hyperelastic_threshold(int law, pbd_join join) {
    return join == PBD_JOIN_PRINTED && law_domain_of(law) != LAW_SOFTENS ? 0 : 0.57735026918962576451; /* 1/sqrt 3 */
}

PBD_FN hyperelastic hyperelastic_make(int law, pbd_join join, double E, double nu, double threshold) {
    hyperelastic m;
    m.law = law;
    m.join = join;
    m.mu = (real)(E / (2 * (1 + nu)));
    m.lambda = (real)(E * nu / ((1 + nu) * (1 - 2 * nu)));
    m.threshold = (real)threshold;
    return m;
}

/* Broadcasts a material to all lanes; mu and lambda may then be set per lane. */
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

/* ---- The law without a join, by singular values in any order ----------------------------------------------------- */

PBD_FN V(principal) V(principal_law)(V(hyperelastic) m, V(vec3) s) {
    switch (m.law) {
#define LAW(name, form, domain) \
    case LAW_##name:            \
        return V(principal_##name)(m, s);
#include "methods/physics/matter/laws.def"
#undef LAW
        default:
            return V(principal_corotated)(m, s);
    }
}

/* The second derivatives. */
PBD_FN V(principal_slope) V(principal_law_slope)(V(hyperelastic) m, V(vec3) s) {
    V(vec3) others = V(vec3_others)(s), square = V(vec3_times)(s, s);
    switch (m.law) {
#define LAW(name, form, domain) \
    case LAW_##name:            \
        return V(name##_slope)(m, s, others, square);
#include "methods/physics/matter/laws.def"
#undef LAW
        default:
            return V(corotated_slope)(m, s, others, square);
    }
}

/* NAME_pair of laws.def. */
PBD_FN void V(principal_law_pair)(V(hyperelastic) m, V(vec3) s, V(real) a, V(real) b, V(real) c, V(real) * even,
                                  V(real) * odd) {
    switch (m.law) {
#define LAW(name, form, domain)                   \
    case LAW_##name:                              \
        V(name##_pair)(m, s, a, b, c, even, odd); \
        return;
#include "methods/physics/matter/laws.def"
#undef LAW
        default:
            V(corotated_pair)(m, s, a, b, c, even, odd);
    }
}

/* NAME_turn of laws.def. */
PBD_FN V(vec3) V(principal_law_turn)(V(hyperelastic) m, V(vec3) q, V(vec3) d) {
#define LAW_TURN_whole(name)
#define LAW_TURN_softens(name) \
    case LAW_##name:           \
        return V(name##_turn)(m, q, d);
#define LAW_TURN_upright(name) LAW_TURN_softens(name)
    switch (m.law) {
#define LAW(name, form, domain) LAW_TURN_##domain(name)
#include "methods/physics/matter/laws.def"
#undef LAW
        default:
            return d;
    }
#undef LAW_TURN_whole
#undef LAW_TURN_softens
#undef LAW_TURN_upright
}

/* ---- Joins ------------------------------------------------------------------------------------------------------- */

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

/* psi = psi(q) + p(q).d + d.H d/2 with q = max(s, t), d = s - q; p is its exact derivative. The law's H at q varies
 * with the components that are not clamped (principal_law_turn); corotated's H is constant. */
PBD_FN V(principal) V(principal_continued)(V(hyperelastic) m, V(vec3) s) {
    V(vec3) q = V(vec3_at_least)(s, m.threshold), d = V(vec3_sub)(s, q);
    V(principal) at = V(principal_law)(m, q), out;
    V(principal_slope) law = V(principal_law_slope)(m, q), h = law;
    if (m.join == PBD_JOIN_SHIFTED) {
        V(hyperelastic) linear = m;
        linear.law = LAW_corotated;
        h = V(principal_law_slope)(linear, q);
    }
    /* (H d)_k for clamped k, and with the law's H for the other k, where d_k = 0. */
    V(vec3)
    clamped = V(vec3_add)(V(vec3_times)(h.diagonal, d),
                          V(vec3_make)(h.across.z * d.y + h.across.y * d.z, h.across.z * d.x + h.across.x * d.z,
                                       h.across.y * d.x + h.across.x * d.y));
    V(vec3)
    free = V(vec3_make)(law.across.z * d.y + law.across.y * d.z, law.across.z * d.x + law.across.x * d.z,
                        law.across.y * d.x + law.across.x * d.y);
    if (m.join == PBD_JOIN_CONTINUOUS) free = V(vec3_add)(free, V(principal_law_turn)(m, q, d));
    out.psi = at.psi + V(vec3_dot)(at.p, d) + HALF * V(vec3_dot)(clamped, d);
    out.p = V(vec3_add)(at.p, V(vec3_where_zero)(d, free, clamped));
    return out;
}

/* psi and principal stresses, with the join. */
PBD_FN V(principal) V(principal_stress)(V(hyperelastic) m, V(vec3) s) {
    if (m.join == PBD_JOIN_CLAMP) return V(principal_law)(m, V(vec3_at_least)(s, m.threshold));
    if (m.join == PBD_JOIN_NONE || law_domain_of(m.law) == LAW_WHOLE) return V(principal_law)(m, s);
    return m.join == PBD_JOIN_PRINTED ? V(principal_printed)(m, s) : V(principal_continued)(m, s);
}

/* ---- By F -------------------------------------------------------------------------------------------------------- */

/* psi and P from the decomposition of F. */
PBD_FN V(stressed) V(stress_of_svd)(V(hyperelastic) m, V(svd3) f) {
    V(principal) by = V(principal_stress)(m, f.s);
    V(stressed) out;
    out.psi = by.psi;
    out.p = V(svd3_with)(f, by.p);
    return out;
}

/* psi and P of F: by the law's direct form if it has one and no join applies, otherwise by SVD. */
PBD_FN V(stressed) V(stress)(V(hyperelastic) m, V(mat3) f) {
    const int plain = m.join == PBD_JOIN_NONE || (m.join != PBD_JOIN_CLAMP && law_domain_of(m.law) == LAW_WHOLE);
#define LAW_STRESS_by_svd(name)
#define LAW_STRESS_direct(name) \
    case LAW_##name:            \
        return V(stress_##name)(m, f);
    if (plain) switch (m.law) {
#define LAW(name, form, domain) LAW_STRESS_##form(name)
#include "methods/physics/matter/laws.def"
#undef LAW
            default:
                break;
        }
#undef LAW_STRESS_by_svd
#undef LAW_STRESS_direct
    return V(stress_of_svd)(m, V(mat3_svd)(f));
}

/* Fibre term of cao2023 section 4.3, along the unit direction b with stiffness beta (Pa), added to another law:
 *     omega = beta ((xi^2 - 1)/2 - log xi),  xi = |F b|,  P = beta (xi - 1/xi)/xi (F b) b^T
 * Corrects the paper's exchange of xi and beta (C-7). Adds 2 beta to the modulus along b. */
PBD_FN V(stressed) V(stress_along)(V(mat3) f, V(vec3) b, V(real) beta) {
    V(vec3) image = V(mat3_apply)(f, b);
    V(real) square = V(vec3_dot)(image, image);
    V(stressed) out;
    out.psi = HALF * beta * V(log_of)(square, square - 1).excess;
    out.p = V(mat3_outer)(V(vec3_scale)(beta * (1 - 1 / square), image), b);
    return out;
}

/* Adds a fibre's energy and stress to s. */
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
#endif
