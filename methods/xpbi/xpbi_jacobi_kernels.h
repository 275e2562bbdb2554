/* solver=jacobi: all constraints are evaluated at the same velocities, in two launches per sweep and without colours.
 * Each particle gathers the corrections by its neighbours' constraints, in the order of its own list: no two particles
 * write to the same place, and the result does not depend on the order of particles in a launch.
 *
 * The constraint of p changes the velocity of a neighbour b by w_b M_p a_b with a_b = T_p t, t = V_b grad W(x_b - x_p)
 * the plain gradient and T_p = L_p, or F^-T L_p with kernel=rest. The two are neighbours of each other, so b computes t
 * from the positions, and p stores M_p T_p:
 *
 *     v_b += w_b (sum_p (M_p T_p) t_pb - M_b s_b)
 *
 * Included by xpbi_kernels.h. */
#ifndef PBD_XPBI_JACOBI_KERNELS_H
#define PBD_XPBI_JACOBI_KERNELS_H

#include "methods/xpbi/xpbi_rest_kernels.h"

typedef struct xpbi_propose_args {
    xpbi_solve_args of;
    real *push; /* by particle, three rows of four: the columns of M T; fourth numbers: -M s */
} xpbi_propose_args;

/* Computes the corrections of a sweep's constraints and updates their multipliers. */
PBD_BATCH_OVER(xpbi_propose, xpbi_propose_args, first, count, (20 + XPBI_SWEPT) * sizeof(real) + 8, XPBI_SOLVE_FLOPS,
               8 * sizeof(real) + 4, 38) {
    const xpbi_solve_args *of = &a->of;
    const xpbi_slices *s = &of->s;
    if (!xpbi_has_slot(s, first)) return;
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES;
    const uint32_t *own = s->own + first;
    const int last = of->form == XPBI_SHEAR ? XPBI_VOLUME : of->form;
    vmat3 gradient = vmat3_scale(vreal_set(0), vmat3_identity()), m = gradient;
    if (!of->warm) gradient = xpbi_velocity_gradient(s, of->v, slice, lane, own, NULL);
    for (int kind = of->form; kind <= last; kind++) {
        const xpbi_point at = xpbi_evaluate(of, slice, lane, kind, gradient);
        if (of->note && kind != XPBI_VOLUME)
            for (uint32_t idle = batch_bits((vmask)(at.c <= xpbi_least(at.mu))); idle; idle &= idle - 1)
                xpbi_note_idle(of, slice, lane, idle);
        m = vmat3_add(m, kind == XPBI_STRESS ? xpbi_stress_move(of, slice, lane, at)
                                             : xpbi_scalar_move(of, slice, lane, kind, at));
    }
    const vvec3 sum = vvec3_make(xpbi_entry(s, slice, lane, XPBI_SUM), xpbi_entry(s, slice, lane, XPBI_SUM + 1),
                                 xpbi_entry(s, slice, lane, XPBI_SUM + 2));
    const vmat3 by = vmat3_mul(m, xpbi_load_matrix(s, slice, lane, XPBI_MAP));
    const vvec3 own_by = vmat3_apply(m, vvec3_scale(vreal_set(-1), sum));
    const vreal row[3][4] = {
        {by.x.x, by.x.y, by.x.z, own_by.x}, {by.y.x, by.y.y, by.y.z, own_by.y}, {by.z.x, by.z.y, by.z.z, own_by.z}};
    for (size_t c = 0; c < 3; c++) xpbi_store_own(s, a->push + 4 * c, 3, first, count, row[c]);
}

typedef struct xpbi_gather_args {
    xpbi_slices s;
    const real *push; /* of xpbi_propose */
    real *v;
    real *impulse; /* rows by particle: the change of momentum, kg m/s, and its magnitude. NULL: not stored */
    int averaged;  /* the mean over 1 + length corrections instead of their sum */
    int none;
} xpbi_gather_args;

/* Adds to each particle's velocity the corrections by its own constraint and by those of its neighbours. */
PBD_BATCH_OVER(xpbi_gather, xpbi_gather_args, first, count, 18 * sizeof(real) + 8, 12, 16 * sizeof(real) + 4, 45) {
    const xpbi_slices *s = &a->s;
    if (!xpbi_has_slot(s, first)) return;
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES;
    const uint32_t *own = s->own + first;
    vreal x[4], push[3][4], out[3];
    batch_load_rows(s->x, own, 1, count, x);
    for (int c = 0; c < 3; c++) {
        uint32_t at[PBD_BATCH];
        for (int l = 0; l < PBD_BATCH; l++) at[l] = 3 * own[l < count ? l : count - 1] + (uint32_t)c;
        batch_load_rows(a->push, at, 1, PBD_BATCH, push[c]);
        out[c] = push[c][3];
    }
    for (size_t row = s->row[slice], end = s->row[slice + 1]; row < end; row++) {
        const uint32_t *other = s->neighbour + row * XPBI_LANES + lane;
        vreal b[4];
        batch_load_rows(s->x, other, 1, count, b);
        const vvec3 t =
            xpbi_plain_gradient(s->support, vvec3_make(x[0] - b[0], x[1] - b[1], x[2] - b[2]), x[3]); /* padding: 0 */
        uint32_t at[PBD_BATCH];
        for (int l = 0; l < PBD_BATCH; l++) at[l] = 3 * other[l < count ? l : count - 1];
        for (int c = 0; c < 3; c++) batch_load_rows(a->push + 4 * c, at, 1, PBD_BATCH, push[c]);
        for (int d = 0; d < 3; d++) out[d] += push[0][d] * t.x + push[1][d] * t.y + push[2][d] * t.z;
    }
    real by[3][PBD_BATCH];
    for (int d = 0; d < 3; d++) batch_store(by[d], 0, PBD_BATCH, out[d]);
    for (int i = 0; i < count; i++) {
        const uint32_t length = s->length[first + (size_t)i];
        if (length == XPBI_ABSENT) continue;
        const size_t p = own[i];
        const real share = a->averaged ? (real)1 / (real)(1 + length) : (real)1, w = a->v[4 * p + 3];
        const vec3 j = vec3_scale(w > 0 ? share : 0, vec3_make(by[0][i], by[1][i], by[2][i]));
        a->v[4 * p] += w * j.x;
        a->v[4 * p + 1] += w * j.y;
        a->v[4 * p + 2] += w * j.z;
        if (!a->impulse) continue;
        a->impulse[4 * p] = j.x;
        a->impulse[4 * p + 1] = j.y;
        a->impulse[4 * p + 2] = j.z;
        a->impulse[4 * p + 3] = real_sqrt(vec3_dot(j, j));
    }
}

#endif
