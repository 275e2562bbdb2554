/* Exact dP/dF of the elastic laws without joins, of fibres and of fixed plastic strain, for implicit finite elements.
 * Scalar code only, no batches.
 *
 * With F = U diag(s) V^T and dM = U^T dF V the change of stress is dP = U dN V^T, where
 *     dN_kk = sum_l H_kl dM_ll,                              H = d2 psi/ds ds
 *     dN_ij = even_ij (dM_ij + dM_ji)/2 + odd_ij (dM_ij - dM_ji)/2,   i != j
 *     even_ij = (p_i - p_j)/(s_i - s_j),   odd_ij = (p_i + p_j)/(s_i + s_j)
 * The nine eigenvalues are those of H and of the three pairs (Stomakhin et al. 2012; Smith et al. 2019); clamping them
 * at 0 gives the nearest positive semidefinite matrix to dP/dF. The quotients are in closed form, so equal singular
 * values need no special case. corotated has no derivative where two singular values sum to 0 (its rotation jumps): the
 * sum is bounded away from 0. */
#ifndef PBD_TANGENT_H
#define PBD_TANGENT_H

#include "methods/physics/matter/plasticity.h"

typedef struct tangent {
    svd3 f;
    vec3 p;         /* principal stresses */
    real h[3][3];   /* H, symmetric */
    vec3 even, odd; /* of the pairs (y, z), (z, x), (x, y) */
} tangent;

/* ---- Symmetric 3 x 3: eigenvalues clamped at 0 by Jacobi turns --------------------------------------------------- */

/* One Jacobi rotation that makes a[i][j] zero; the columns of v are rotated with it. */
PBD_FN void symmetric_turn(real a[3][3], real v[3][3], int i, int j) {
    if (a[i][j] == 0) return;
    real theta = (a[j][j] - a[i][i]) / (2 * a[i][j]);
    real t = 1 / (real_abs(theta) + real_sqrt(1 + theta * theta));
    if (theta < 0) t = -t;
    real c = 1 / real_sqrt(1 + t * t), s = c * t;
    for (int k = 0; k < 3; k++) {
        real old = a[k][i];
        a[k][i] = c * old - s * a[k][j];
        a[k][j] = s * old + c * a[k][j];
        old = v[k][i];
        v[k][i] = c * old - s * v[k][j];
        v[k][j] = s * old + c * v[k][j];
    }
    for (int k = 0; k < 3; k++) {
        real old = a[i][k];
        a[i][k] = c * old - s * a[j][k];
        a[j][k] = s * old + c * a[j][k];
    }
}

PBD_FN void symmetric_clamp(real a[3][3]) {
    real v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, value[3];
    for (int sweep = 0; sweep < 8; sweep++) {
        symmetric_turn(a, v, 0, 1);
        symmetric_turn(a, v, 0, 2);
        symmetric_turn(a, v, 1, 2);
    }
    for (int k = 0; k < 3; k++) value[k] = real_max(a[k][k], 0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            a[i][j] = 0;
            for (int k = 0; k < 3; k++) a[i][j] += v[i][k] * value[k] * v[j][k];
        }
}

/* dP/dF at F; with `project` its nearest positive semidefinite matrix. Ignores m.join. */
PBD_FN tangent tangent_make(hyperelastic m, mat3 f, int project) {
    tangent out;
    out.f = mat3_svd(f);
    vec3 s = out.f.s;
    out.p = principal_law(m, s).p;
    principal_slope slope = principal_law_slope(m, s);
    real h[3][3] = {{slope.diagonal.x, slope.across.z, slope.across.y},
                    {slope.across.z, slope.diagonal.y, slope.across.x},
                    {slope.across.y, slope.across.x, slope.diagonal.z}};
    principal_law_pair(m, s, s.y, s.z, s.x, &out.even.x, &out.odd.x);
    principal_law_pair(m, s, s.z, s.x, s.y, &out.even.y, &out.odd.y);
    principal_law_pair(m, s, s.x, s.y, s.z, &out.even.z, &out.odd.z);
    if (project) {
        symmetric_clamp(h);
        const real zero = 0;
        out.even = vec3_at_least(out.even, zero);
        out.odd = vec3_at_least(out.odd, zero);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out.h[i][j] = h[i][j];
    return out;
}

PBD_FN mat3 tangent_stress(tangent t) { return svd3_with(t.f, t.p); } /* P at F */

/* dP for dF. */
PBD_FN mat3 tangent_apply(const tangent *t, mat3 df) {
    mat3 m = mat3_mul(mat3_transposed_mul(t->f.u, df), t->f.v), n;
    n.x.x = t->h[0][0] * m.x.x + t->h[0][1] * m.y.y + t->h[0][2] * m.z.z;
    n.y.y = t->h[1][0] * m.x.x + t->h[1][1] * m.y.y + t->h[1][2] * m.z.z;
    n.z.z = t->h[2][0] * m.x.x + t->h[2][1] * m.y.y + t->h[2][2] * m.z.z;
    real even = t->even.x * (m.z.y + m.y.z) / 2, odd = t->odd.x * (m.z.y - m.y.z) / 2; /* m.z.y is row y, column z */
    n.z.y = even + odd;
    n.y.z = even - odd;
    even = t->even.y * (m.x.z + m.z.x) / 2;
    odd = t->odd.y * (m.x.z - m.z.x) / 2;
    n.x.z = even + odd;
    n.z.x = even - odd;
    even = t->even.z * (m.y.x + m.x.y) / 2;
    odd = t->odd.z * (m.y.x - m.x.y) / 2;
    n.y.x = even + odd;
    n.x.y = even - odd;
    return mat3_mul_transposed(mat3_mul(t->f.u, n), t->f.v);
}

/* ---- Fibres ------------------------------------------------------------------------------------------------------ */

/* dP of one fibre's term (stress_along): dP = (A dF b) b^T with a = F b, q = |a|^2 and
 *     A = beta ((1 - 1/q) I + (2/q^2) a a^T),
 * whose eigenvalues are `along` for a and `across`, twice, perpendicular to it: negative where the fibre is short. */
typedef struct fibre_tangent {
    vec3 b, image; /* unit vector at rest, and that of F b */
    real along, across;
} fibre_tangent;

PBD_FN fibre_tangent fibre_tangent_make(mat3 f, vec3 b, real beta, int project) {
    fibre_tangent t;
    vec3 image = mat3_apply(f, b);
    real square = vec3_dot(image, image);
    t.b = b;
    t.image = vec3_scale(1 / real_sqrt(square), image);
    t.along = beta * (1 + 1 / square);
    t.across = beta * (1 - 1 / square);
    if (project) t.across = real_max(t.across, 0);
    return t;
}

PBD_FN mat3 fibre_tangent_apply(const fibre_tangent *t, mat3 df) {
    vec3 d = mat3_apply(df, t->b);
    vec3 along = vec3_scale((t->along - t->across) * vec3_dot(t->image, d), t->image);
    return mat3_outer(vec3_add(vec3_scale(t->across, d), along), t->b);
}

/* ---- Plastic strain, held ---------------------------------------------------------------------------------------- */

/* dP of stvk with a plastic strain E_p (add_plastic): dP = dF S + F (2 mu dE + lambda tr dE I), S the stress of E -
 * E_p. The second part is definite; the first has the eigenvalues of S, each three times. Projected, those are clamped
 * at 0: semidefinite, though not the nearest such matrix. */
typedef struct plastic_tangent {
    mat3 f, s;
    real mu, lambda;
} plastic_tangent;

PBD_FN plastic_tangent plastic_tangent_make(hyperelastic m, mat3 f, symmetric ep, int project) {
    plastic_tangent t;
    const real minus = -1;
    t.f = f;
    t.mu = m.mu;
    t.lambda = m.lambda;
    t.s = symmetric_matrix(symmetric_hooke(m.mu, m.lambda, symmetric_plus(symmetric_green(f), minus, ep)));
    if (!project) return t;
    real s[3][3] = {{t.s.x.x, t.s.y.x, t.s.z.x}, {t.s.x.y, t.s.y.y, t.s.z.y}, {t.s.x.z, t.s.y.z, t.s.z.z}};
    symmetric_clamp(s);
    t.s = mat3_make(vec3_make(s[0][0], s[1][0], s[2][0]), vec3_make(s[0][1], s[1][1], s[2][1]),
                    vec3_make(s[0][2], s[1][2], s[2][2]));
    return t;
}

PBD_FN mat3 plastic_tangent_apply(const plastic_tangent *t, mat3 df) {
    const real half = (real)0.5;
    mat3 product = mat3_transposed_mul(t->f, df), de = mat3_scale(half, mat3_add(product, mat3_transpose(product)));
    mat3 ds = mat3_add(mat3_scale(2 * t->mu, de), mat3_scale(t->lambda * mat3_trace(de), mat3_identity()));
    return mat3_add(mat3_mul(df, t->s), mat3_mul(t->f, ds));
}

/* ---- As a matrix ------------------------------------------------------------------------------------------------- */

/* out[i][j] is d P_i/d F_j, with entries numbered column by column, as in mat3. */
PBD_FN void tangent_matrix(const tangent *t, real out[9][9]) {
    for (int j = 0; j < 9; j++) {
        real unit[9] = {0};
        unit[j] = 1;
        mat3 d = tangent_apply(t, mat3_make(vec3_make(unit[0], unit[1], unit[2]), vec3_make(unit[3], unit[4], unit[5]),
                                            vec3_make(unit[6], unit[7], unit[8])));
        const real column[9] = {d.x.x, d.x.y, d.x.z, d.y.x, d.y.y, d.y.z, d.z.x, d.z.y, d.z.z};
        for (int i = 0; i < 9; i++) out[i][j] = column[i];
    }
}

#endif
