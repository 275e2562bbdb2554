/* psi = mu |F - R|^2 + 3/2 lambda |F - D|^2, D the nearest matrix of determinant 1: the energy of projective dynamics
 * (Bouaziz et al. 2014) with the weights that make Lame's parameters at rest those of the material.
 *
 * D = U diag(t) V^T with s_k = t_k + c/t_k and t_x t_y t_z = 1. D minimises |F - D|, so its change does not
 * contribute to p = 2 mu (s - 1) + 3 lambda (s - t). D is unique for J < 4. For larger J, psi may have kinks where two
 * minima are equally near; D is then the minimum that t reaches continuously from rest, as far as there is one. */
#ifdef LAW
LAW(projective, by_svd, whole)
#elif !defined(PBD_BODY)
#ifndef PBD_LAW_PROJECTIVE_H
#define PBD_LAW_PROJECTIVE_H

#include "methods/physics/matter/elastic.h"

#define PROJECTIVE_ROUNDS (REAL_IS_FLOAT ? 10 : 12) /* tested for e^-3 <= s <= e^3, also inverted */

#define PBD_BODY "methods/physics/matter/laws/projective.h"
#include "methods/physics/math/twice.h"

#endif
#else

#define HALF ((real)0.5)
#define NEAR ((real)0.0625)

typedef struct V(unimodular) {
    V(vec3) t, off; /* off: s - t = c/t, without cancellation */
    V(real) c;
} V(unimodular);

/* The larger t of s = t + c/t; *root: t - c/t. */
PBD_FN V(real) V(unimodular_root)(V(real) s, V(real) c, V(real) * root) {
    *root = V(real_sqrt)(V(real_max)(s * s - 4 * c, V(real_set)(0)));
    return V(real_where)(s > 0, HALF * (s + *root), 2 * c / V(real_min)(s - *root, V(real_set)(-REAL_MIN)));
}

/* Solves t_x t_y t_z = 1 for q = s - t of the smallest stretch, where c = q (s - q) and the other two t are the larger
 * roots. Newton's method between bounds, with bisection for steps that leave the bounds. The product falls from above 1
 * to below 1 between the bounds: for J < 1, c is in [-1 - s^2, 0]; otherwise the smallest t is in [s/2, s] or, if the
 * product at s/2 is above 1, below s/2. */
PBD_FN V(unimodular) V(unimodular_of)(V(vec3) s) {
    const V(real) zero = V(real_set)(0), one = V(real_set)(1);
    const V(real) low = V(real_min)(s.x, V(real_min)(s.y, s.z));
    const V(real) a = V(real_where)(s.z == low, s.x, V(real_where)(s.y == low, s.x, s.y));
    const V(real) b = V(real_where)(s.z == low, s.y, s.z);
    const V(real) middle = HALF * low, j = low * a * b;
    V(real) ra, rb, quarter = middle * middle;
    V(real) folded = middle * V(unimodular_root)(a, quarter, &ra) * V(unimodular_root)(b, quarter, &rb) - 1;
    folded = V(real_where)(j > 1, folded, -one);
    V(real) least = V(real_where)(j > 1, zero, HALF * (low - V(real_sqrt)(5 * low * low + 4)));
    V(real) most = V(real_where)(j > 1, middle, V(real_min)(low, zero));
    V(real) q = V(real_where)(low > (real)0.25, zero, HALF * (least + most));
    least = V(real_where)(folded > 0, middle, least);
    most = V(real_where)(folded > 0, low, most);
    q = V(real_where)(folded > 0, low - 1 / (a * b), q);
    V(real) ta = a, tb = b;
    for (int round = 0; round < PROJECTIVE_ROUNDS; round++) {
        const V(real) t = low - q, c = q * t;
        ta = V(unimodular_root)(a, c, &ra);
        tb = V(unimodular_root)(b, c, &rb);
        const V(vec3) d = V(vec3_make)(a - 1 - c / ta, b - 1 - c / tb, low - 1 - q);
        const V(real) i2 = V(vec3_sum)(V(vec3_others)(d)), product = t * ta * tb;
        const V(real) near = V(vec3_sum)(d) + (i2 + d.x * d.y * d.z);
        const V(real) over = V(real_where)(V(vec3_dot)(d, d) < NEAR, near, product - 1);
        least = V(real_where)(over > 0, q, least);
        most = V(real_where)(over > 0, most, q);
        const V(real) turn = t - q, least_root = V(real_set)(REAL_MIN);
        const V(real) slope =
            ta * tb + turn * t * (tb / V(real_max)(ra, least_root) + ta / V(real_max)(rb, least_root));
        const V(real) next = q + over / slope;
        const V(real) inside = V(real_min)(next - least, most - next); /* NaN: not inside */
        q = V(real_where)(over == 0, q, V(real_where)(inside >= 0, next, HALF * (least + most)));
    }
    const V(real) t = low - q;
    V(unimodular) out;
    out.c = q * t;
    ta = V(unimodular_root)(a, out.c, &ra);
    tb = V(unimodular_root)(b, out.c, &rb);
    out.t =
        V(vec3_make)(V(real_where)(s.z == low, ta, V(real_where)(s.y == low, ta, t)),
                     V(real_where)(s.z == low, tb, V(real_where)(s.y == low, t, ta)), V(real_where)(s.z == low, t, tb));
    out.off = V(vec3_make)(out.c / out.t.x, out.c / out.t.y, out.c / out.t.z);
    return out;
}

PBD_FN V(principal) V(principal_projective)(V(hyperelastic) m, V(vec3) s) {
    const V(vec3) e = V(vec3_shift)(s, V(real_set)(-1)), off = V(unimodular_of)(s).off;
    V(principal) out;
    out.psi = m.mu * V(vec3_dot)(e, e) + (real)1.5 * m.lambda * V(vec3_dot)(off, off);
    out.p = V(vec3_add)(V(vec3_scale)(2 * m.mu, e), V(vec3_scale)(3 * m.lambda, off));
    return out;
}

/* dt_k/ds_k = t_k^2 (n_i + n_j)/D, dt_i/ds_j = -t_i t_j n_k/D, with n = t^2 - c, D = n_x n_y + n_y n_z + n_z n_x. */
PBD_FN V(principal_slope) V(projective_slope)(V(hyperelastic) m, V(vec3) s, V(vec3) others, V(vec3) square) {
    (void)others, (void)square;
    const V(unimodular) at = V(unimodular_of)(s);
    const V(vec3) n = V(vec3_shift)(V(vec3_times)(at.t, at.t), -at.c);
    const V(real) bulk = 3 * m.lambda, both = V(vec3_sum)(V(vec3_others)(n));
    const V(real) per = bulk / V(real_where)(V(real_abs)(both) < REAL_MIN, V(real_set)(REAL_MIN), both);
    const V(vec3) t2 = V(vec3_times)(at.t, at.t);
    const V(vec3) sums = V(vec3_make)(n.y + n.z, n.z + n.x, n.x + n.y);
    V(principal_slope) out;
    out.diagonal = V(vec3_shift)(V(vec3_scale)(-per, V(vec3_times)(t2, sums)), 2 * m.mu + bulk);
    out.across = V(vec3_scale)(per, V(vec3_times)(V(vec3_others)(at.t), n));
    return out;
}

/* (t_a - t_b)/(a - b) = 1/(1 - c t_c), (t_a + t_b)/(a + b) = 1/(1 + c t_c). */
PBD_FN void V(projective_pair)(V(hyperelastic) m, V(vec3) all, V(real) a, V(real) b, V(real) c, V(real) * even,
                               V(real) * odd) {
    (void)all;
    const V(unimodular) at = V(unimodular_of)(V(vec3_make)(a, b, c));
    const V(real) turn = at.c * at.t.z, bulk = 3 * m.lambda, tiny = V(real_set)(16 * (real)REAL_EPSILON);
    V(real) sum = a + b, least = 16 * (real)REAL_EPSILON * (V(real_abs)(a) + V(real_abs)(b)) + REAL_MIN;
    V(real) minus = 1 - turn, plus = 1 + turn;
    sum = V(real_where)(V(real_abs)(sum) < least, V(real_copysign)(least, sum), sum);
    minus = V(real_where)(V(real_abs)(minus) < tiny, V(real_copysign)(tiny, minus), minus);
    plus = V(real_where)(V(real_abs)(plus) < tiny, V(real_copysign)(tiny, plus), plus);
    *even = 2 * m.mu - bulk * turn / minus;
    *odd = 2 * m.mu - 4 * m.mu / sum + bulk * turn / plus;
}

#undef HALF
#undef NEAR
#endif
