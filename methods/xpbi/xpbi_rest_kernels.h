/* kernel=rest: gradients of the shape at rest (total Lagrangian). Included by xpbi_kernels.h.
 *
 * xpbi_make_gradients and xpbi_make_hourglass run first, with the positions at rest X in place of x. They give L0, with
 * A_b = L0 t_b and t_b = V0_b grad W0_b, its sums S0 and s0, and the weights omega_b. The kernels here then transform
 * these with the current x:
 *
 *     F = 1 + sum_b (u_b - u_p) A_b^T,  u = x - X;   a_b = F^-T A_b,  S = F^-T S0 F^-1,  s = F^-T s0
 *
 * so that B F = 1 + sum_b (u_b + dt v_b - u_p - dt v_p) A_b^T, and for hourglass control
 *
 *     c_b = omega_b - A_b . M = omega_b - a_b . F M,  M = sum_b omega_b (X_b - X_p);   d = sum_b c_b (x_b - x_p)
 */
#ifndef PBD_XPBI_REST_KERNELS_H
#define PBD_XPBI_REST_KERNELS_H

#include "methods/xpbi/xpbi_constraint_kernels.h"
#include "methods/xpbi/xpbi_hourglass_kernels.h"

/* F^-T. A small determinant is replaced, with its sign, so that inverted neighbourhoods stay inverted. */
PBD_FN vmat3 xpbi_inverse_transposed(vmat3 f) {
    const vreal det = vmat3_det(f), least = vreal_set((real)1e-3);
    const vreal away = vreal_where(det < 0, vreal_min(det, -least), vreal_max(det, least));
    return vmat3_scale(1 / away, vmat3_cofactor(f));
}

typedef struct xpbi_rest_args {
    xpbi_slices s;
    const real *x; /* current positions; those of the slices are at rest */
    int stress;    /* with the entries of constraint=stress */
} xpbi_rest_args;

PBD_FN vvec3 xpbi_row_difference(const real *rows, const uint32_t *at, const vreal own[4]) {
    vreal b[4];
    batch_load_rows(rows, at, 1, PBD_BATCH, b);
    return vvec3_make(b[0] - own[0], b[1] - own[1], b[2] - own[2]);
}

/* After xpbi_make_gradients. */
PBD_BATCH_OVER(xpbi_pull_gradients, xpbi_rest_args, first, count, (8 + 36) * sizeof(real) + 8, 200,
               8 * sizeof(real) + 4, 50) {
    (void)count;
    const xpbi_slices *s = &a->s;
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES;
    const uint32_t *own = s->own + first;
    vreal x[4], rest[4], k[6];
    vmat3 f = vmat3_scale(vreal_set(0), vmat3_identity());
    batch_load_rows(a->x, own, 1, PBD_BATCH, x);
    batch_load_rows(s->x, own, 1, PBD_BATCH, rest);
    for (size_t row = s->row[slice]; row < s->row[slice + 1]; row++) {
        const uint32_t *at = s->neighbour + row * XPBI_LANES + lane;
        vreal b[4];
        batch_load_rows(s->x, at, 1, PBD_BATCH, b);
        const vvec3 d = vvec3_make(b[0] - rest[0], b[1] - rest[1], b[2] - rest[2]);
        const vvec3 u = vvec3_sub(xpbi_row_difference(a->x, at, x), d);
        f = vmat3_add(f, vmat3_outer(u, xpbi_plain_gradient(s->support, d, b[3])));
    }
    const vmat3 map = xpbi_load_matrix(s, slice, lane, XPBI_MAP);
    f = vmat3_add(vmat3_identity(), vmat3_mul_transposed(f, map));
    const vmat3 pull = xpbi_inverse_transposed(f);
    xpbi_set_matrix(s, slice, lane, XPBI_MAP, vmat3_mul(pull, map));
    for (int e = 0; e < 6; e++) k[e] = xpbi_entry(s, slice, lane, XPBI_WEIGHT + e);
    const vmat3 twice = vmat3_mul_transposed(vmat3_mul(pull, xpbi_symmetric(k)), pull);
    const vreal weight[6] = {twice.x.x, twice.y.y, twice.z.z, twice.x.y, twice.y.z, twice.z.x};
    const vvec3 sum =
        vmat3_apply(pull, vvec3_make(xpbi_entry(s, slice, lane, XPBI_SUM), xpbi_entry(s, slice, lane, XPBI_SUM + 1),
                                     xpbi_entry(s, slice, lane, XPBI_SUM + 2)));
    xpbi_set_matrix(s, slice, lane, XPBI_F, f);
    for (int e = 0; e < 6; e++) xpbi_set_entry(s, slice, lane, XPBI_WEIGHT + e, weight[e]);
    xpbi_set_entry(s, slice, lane, XPBI_SUM, sum.x);
    xpbi_set_entry(s, slice, lane, XPBI_SUM + 1, sum.y);
    xpbi_set_entry(s, slice, lane, XPBI_SUM + 2, sum.z);
    if (a->stress) xpbi_make_frame(s, slice, lane, weight);
}

/* After xpbi_make_hourglass. */
typedef struct xpbi_rest_hourglass_args {
    xpbi_hourglass_args of;
    const real *x; /* current positions */
} xpbi_rest_hourglass_args;

PBD_BATCH_OVER(xpbi_pull_hourglass, xpbi_rest_hourglass_args, first, count,
               (12 + HOURGLASS_ENTRIES) * sizeof(real) + 12, 40, 12 * sizeof(real) + 4, 30) {
    (void)count;
    const xpbi_slices *s = &a->of.s;
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES;
    const uint32_t *own = s->own + first;
    const vreal share = hourglass_entry(s, slice, lane, HOURGLASS_SHARE), zero = vreal_set(0);
    const vvec3 middle =
        vmat3_apply(xpbi_load_matrix(s, slice, lane, XPBI_F), hourglass_vector(s, slice, lane, HOURGLASS_MIDDLE));
    vreal x[4], v[4], rest[4], total = zero, squares = zero;
    vvec3 stray = vvec3_make(zero, zero, zero);
    const hourglass_shared shared = hourglass_shared_of(s, slice, lane, share, middle);
    batch_load_rows(a->x, own, 1, PBD_BATCH, x);
    batch_load_rows(a->of.v, own, 1, PBD_BATCH, v);
    batch_load_rows(s->x, own, 1, PBD_BATCH, rest);
    for (size_t row = s->row[slice]; row < s->row[slice + 1]; row++) {
        const uint32_t *at = s->neighbour + row * XPBI_LANES + lane;
        const vvec3 apart = xpbi_row_difference(s->x, at, rest); /* 0: padding */
        vreal b[4];
        batch_load_rows(a->of.v, at, 1, PBD_BATCH, b);
        const vreal c = vreal_where(vvec3_dot(apart, apart) > 0, hourglass_weight(s, row, lane, &shared), zero);
        total += c;
        squares += b[3] * c * c;
        stray = vvec3_add(stray, vvec3_scale(c, xpbi_row_difference(a->x, at, x)));
    }
    const vreal spring = hourglass_entry(s, slice, lane, HOURGLASS_SPRING);
    hourglass_set_vector(s, slice, lane, HOURGLASS_MIDDLE, middle);
    hourglass_set(s, slice, lane, HOURGLASS_SUM, total);
    hourglass_set(s, slice, lane, HOURGLASS_GAIN, 1 / (1 + spring * a->of.dt * (squares + v[3] * total * total)));
    hourglass_set_vector(s, slice, lane, HOURGLASS_STRAY, stray);
}

/* ---- Energy ------------------------------------------------------------------------------------------------------ */

typedef struct xpbi_springs_args {
    xpbi_hourglass_args of;
    const real *x; /* current positions; NULL: kernel=current, whose deviations are stored at the end of a step */
    real *energy;  /* by particle, J */
} xpbi_springs_args;

/* 1/2 k |d|^2 of each spring, between steps. With kernel=rest d is computed from the current positions; the c_b do not
 * change. */
PBD_BATCH_OVER(xpbi_measure_springs, xpbi_springs_args, first, count, (22 + HOURGLASS_ENTRIES) * sizeof(real) + 12, 30,
               13 * sizeof(real) + 4, 50) {
    const xpbi_slices *s = &a->of.s;
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES;
    const uint32_t *own = s->own + first;
    uint32_t body[PBD_BATCH];
    for (int l = 0; l < PBD_BATCH; l++) body[l] = 3 * own[l];
    vreal stray[4], volume[4];
    batch_load_rows(a->of.p.stray, own, 1, PBD_BATCH, stray);
    batch_load_rows(a->of.p.body, body, 1, PBD_BATCH, volume); /* its fourth: V^0 */
    vvec3 d = vvec3_make(stray[0], stray[1], stray[2]);
    if (a->x) {
        const hourglass_shared shared =
            hourglass_shared_of(s, slice, lane, hourglass_entry(s, slice, lane, HOURGLASS_SHARE),
                                hourglass_vector(s, slice, lane, HOURGLASS_MIDDLE));
        const vreal zero = vreal_set(0);
        vreal x[4];
        batch_load_rows(a->x, own, 1, PBD_BATCH, x);
        d = vvec3_make(zero, zero, zero);
        for (size_t row = s->row[slice]; row < s->row[slice + 1]; row++) {
            const uint32_t *at = s->neighbour + row * XPBI_LANES + lane;
            const vvec3 apart = xpbi_row_difference(s->x, at, shared.x); /* 0: padding */
            const vreal c = vreal_where(vvec3_dot(apart, apart) > 0, hourglass_weight(s, row, lane, &shared), zero);
            d = vvec3_add(d, vvec3_scale(c, xpbi_row_difference(a->x, at, x)));
        }
    }
    const vreal stiffness = hourglass_held(&a->of, first) * a->of.stiffness * volume[3];
    real out[PBD_BATCH];
    batch_store(out, 0, PBD_BATCH, (real)0.5 * stiffness * vvec3_dot(d, d));
    for (int i = 0; i < count; i++)
        if (s->length[first + (size_t)i] != XPBI_ABSENT) a->energy[own[i]] = out[i];
}

#endif
