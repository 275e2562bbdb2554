/* A penalty on the velocities of pairs, against zero-energy motions of updated Lagrangian particles (arXiv 2409.11474,
 * general form). Not in yu2024.
 *
 *     da_p/dt = xi G/rho_p sum_b V_b (v_p - v_b + 1/2 (grad v_p + grad v_b)(x_b - x_p)) W'_pb/r_pb,   W' < 0
 *
 * The acceleration a is stored and accumulated like a stress, and acts explicitly. It is 0 for affine motions, and
 * equal and opposite in pairs, so linear momentum is conserved. It is neither central nor rotated with the body, so
 * angular momentum is not conserved. */
#ifndef PBD_XPBI_PENALTY_KERNELS_H
#define PBD_XPBI_PENALTY_KERNELS_H

#include "methods/xpbi/xpbi_constraint_kernels.h"

typedef struct xpbi_penalty_args {
    xpbi_slices s;
    xpbi_particles p; /* stray: a, m/s^2 */
    real *gradient;   /* 3 rows of 4 by particle: the columns of grad v, 1/s */
    real stiffness;   /* xi G, Pa */
    real support, dt; /* m, s */
    real none;
} xpbi_penalty_args;

/* v += dt a, at the start of a step. */
PBD_ITEM(xpbi_apply_penalty, xpbi_penalty_args, i, 11 * sizeof(real), 6) {
    real *v = a->p.v + 4 * i;
    if (!(v[3] > 0)) return;
    for (size_t d = 0; d < 3; d++) v[d] += a->dt * a->p.stray[4 * i + d];
}

/* Work of this and the next kernel: particles and their neighbours. */
PBD_BATCH_OVER(xpbi_penalty_gradients, xpbi_penalty_args, first, count, 29 * sizeof(real) + 8, 40, 8 * sizeof(real) + 4,
               38) {
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES;
    const uint32_t *own = a->s.own + first;
    const vmat3 gradient = xpbi_velocity_gradient(&a->s, a->p.v, slice, lane, own, NULL);
    const vvec3 column[3] = {gradient.x, gradient.y, gradient.z};
    real out[3][PBD_BATCH];
    for (size_t c = 0; c < 3; c++) {
        batch_store(out[0], 0, PBD_BATCH, column[c].x);
        batch_store(out[1], 0, PBD_BATCH, column[c].y);
        batch_store(out[2], 0, PBD_BATCH, column[c].z);
        for (int i = 0; i < count; i++)
            if (a->s.length[first + (size_t)i] != XPBI_ABSENT)
                for (size_t d = 0; d < 3; d++) a->gradient[4 * (3 * (size_t)own[i] + c) + d] = out[d][i];
    }
}

PBD_FN vmat3 xpbi_load_gradient(const real *gradient, const uint32_t *index) {
    uint32_t at[PBD_BATCH];
    vreal row[3][4];
    for (int l = 0; l < PBD_BATCH; l++) at[l] = 3 * index[l];
    for (int c = 0; c < 3; c++) batch_load_rows(gradient + 4 * c, at, 1, PBD_BATCH, row[c]);
    return vmat3_make(vvec3_make(row[0][0], row[0][1], row[0][2]), vvec3_make(row[1][0], row[1][1], row[1][2]),
                      vvec3_make(row[2][0], row[2][1], row[2][2]));
}

/* Before xpbi_advance, with the same velocities. */
PBD_BATCH_OVER(xpbi_add_penalty, xpbi_penalty_args, first, count, 26 * sizeof(real) + 8, 20, 20 * sizeof(real) + 4,
               60) {
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES;
    const uint32_t *own = a->s.own + first;
    const vreal zero = vreal_set(0);
    const real sigma = (real)(21 / (2 * 3.14159265358979323846)) / (a->support * a->support * a->support);
    const real per_support = 1 / a->support, slope = -20 * sigma * per_support * per_support;
    vreal x[4], v[4];
    vvec3 sum = vvec3_make(zero, zero, zero);
    batch_load_rows(a->p.x, own, 1, PBD_BATCH, x);
    batch_load_rows(a->p.v, own, 1, PBD_BATCH, v);
    const vmat3 mine = xpbi_load_gradient(a->gradient, own);
    for (size_t row = a->s.row[slice], end = a->s.row[slice + 1]; row < end; row++) {
        const uint32_t *at = a->s.neighbour + row * XPBI_LANES + lane;
        vreal xb[4], vb[4];
        batch_load_rows(a->p.x, at, 1, PBD_BATCH, xb);
        batch_load_rows(a->p.v, at, 1, PBD_BATCH, vb);
        const vvec3 d = vvec3_make(xb[0] - x[0], xb[1] - x[1], xb[2] - x[2]);
        const vreal left = vreal_max(1 - per_support * vreal_sqrt(vvec3_dot(d, d)), zero);
        const vvec3 affine = vmat3_apply(vmat3_add(mine, xpbi_load_gradient(a->gradient, at)), d);
        const vvec3 off =
            vvec3_add(vvec3_make(v[0] - vb[0], v[1] - vb[1], v[2] - vb[2]), vvec3_scale(vreal_set((real)0.5), affine));
        sum = vvec3_add(sum, vvec3_scale(slope * left * left * left * xb[3], off)); /* padding: off = 0 */
    }
    const vvec3 rate = vvec3_scale(a->stiffness * v[3] * x[3], sum); /* v[3] x[3]: 1/rho */
    real out[3][PBD_BATCH];
    batch_store(out[0], 0, PBD_BATCH, rate.x);
    batch_store(out[1], 0, PBD_BATCH, rate.y);
    batch_store(out[2], 0, PBD_BATCH, rate.z);
    for (int i = 0; i < count; i++)
        if (a->s.length[first + (size_t)i] != XPBI_ABSENT)
            for (size_t c = 0; c < 3; c++) a->p.stray[4 * (size_t)own[i] + c] += a->dt * out[c][i];
}

#endif
