/* Kernels of projective_dynamics: the local step of each tetrahedron, and sums of the results by vertex (README.md).
 *
 * A tetrahedron writes a row of four for each of its corners: dE/dx, N, and a quarter of its energy, J. */
#ifndef PBD_PROJECTIVE_DYNAMICS_KERNELS_H
#define PBD_PROJECTIVE_DYNAMICS_KERNELS_H

#include "methods/physics/matter/block3.h"
#include "methods/physics/parts/element_solver_kernels.h"

enum { ADMM_ROUNDS = 20 };

typedef struct pd_args {
    element_view view;
    hyperelastic law;
    real stiffness;  /* admm: k = W^2/V, Pa */
    real_bits whole; /* admm: the law is defined for every F */
    real *dual;      /* admm: the multiplier u of F, 9 by element, column by column */
} pd_args;

PBD_FN void pd_store(const pd_args *a, size_t first, int count, const element *e, vmat3 p, vreal psi) {
    const vreal size = batch_load(a->view.size, first, count);
    vvec3 gradient[4];
    element_gradients(e, 4, p, gradient);
    for (int c = 0; c < 4; c++) {
        const vreal row[4] = {size * gradient[c].x, size * gradient[c].y, size * gradient[c].z,
                              (real)0.25 * size * psi};
        batch_store_strided(a->view.impulse, 4 * first + (size_t)c, 4, count, row);
    }
}

/* Evaluates the law's stress. For the law projective P = 2 mu (F - R) + 3 lambda (F - D), which is the local step of
 * projective dynamics. */
PBD_BATCH_OF(pd_project, pd_args, first, count, (12 + 10 + 16) * sizeof(real) + 16, 900) {
    element e;
    element_load(&a->view, 4, first, count, &e);
    const vstressed s = vstress(vhyperelastic_of(a->law), element_deformation_gradient(&e, 4));
    pd_store(a, first, count, &e, s.p, s.psi);
}

/* ---- ADMM -------------------------------------------------------------------------------------------------------- */

PBD_FN vmat3 pd_dual(const pd_args *a, size_t first, int count) {
    vreal u[9];
    for (int k = 0; k < 9; k++) u[k] = element_entry(&a->view, a->dual, k, first, count);
    return vmat3_make(vvec3_make(u[0], u[1], u[2]), vvec3_make(u[3], u[4], u[5]), vvec3_make(u[6], u[7], u[8]));
}

PBD_FN void pd_keep_dual(const pd_args *a, size_t first, int count, vmat3 u) {
    const vreal row[9] = {u.x.x, u.x.y, u.x.z, u.y.x, u.y.y, u.y.z, u.z.x, u.z.y, u.z.z};
    for (int k = 0; k < 9; k++) batch_store(a->dual + (size_t)k * a->view.stride, first, count, row[k]);
}

/* The start of a step: k u is the stress at the initial guess, so that a body at rest stays there. 0 where the stress
 * is undefined. */
PBD_BATCH_OF(pd_admm_begin, pd_args, first, count, (12 + 10 + 9) * sizeof(real) + 16, 900) {
    element e;
    element_load(&a->view, 4, first, count, &e);
    const vstressed s = vstress(vhyperelastic_of(a->law), element_deformation_gradient(&e, 4));
    const vreal scale = vreal_where(s.psi == s.psi, vreal_set(1 / a->stiffness), vreal_set(0));
    const vvec3 none = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    vmat3 u = vmat3_scale(scale, s.p);
    u = vmat3_make(vvec3_where(scale > 0, u.x, none), vvec3_where(scale > 0, u.y, none),
                   vvec3_where(scale > 0, u.z, none));
    pd_keep_dual(a, first, count, u);
}

/* psi(s) + k/2 |s - to|^2 */
PBD_FN vreal pd_proximal(vhyperelastic m, real k, vvec3 s, vvec3 to) {
    const vvec3 off = vvec3_sub(s, to);
    return vprincipal_law(m, s).psi + (real)0.5 * k * vvec3_dot(off, off);
}

/* Returns the stretches that minimise pd_proximal, by Newton's method with a positive definite matrix. A step that
 * raises it is retried at a quarter of its length. Laws of log J keep at least a tenth of each stretch in a step. */
PBD_FN vvec3 pd_nearest(const pd_args *a, vvec3 to) {
    const vhyperelastic m = vhyperelastic_of(a->law);
    const vreal one = vreal_set(1);
    const real k = a->stiffness, enough = REAL_IS_FLOAT ? (real)1e-6 : (real)1e-15;
    vvec3 s = a->whole ? to : vvec3_at_least(to, vreal_set((real)0.1));
    vreal fraction = one, least = pd_proximal(m, k, s, to);
    for (int round = 0; round < ADMM_ROUNDS; round++) {
        vreal h[6];
        block_of_slope(vprincipal_law_slope(m, s), h);
        block_add_isotropic(h, vreal_set(k));
        const vvec3 slope = vvec3_add(vprincipal_law(m, s).p, vvec3_scale(vreal_set(k), vvec3_sub(s, to)));
        const vvec3 step = vvec3_scale(-fraction, block_solve(h, slope));
        vvec3 next = vvec3_add(s, step);
        if (!a->whole)
            next = vvec3_make(vreal_max(next.x, (real)0.1 * s.x), vreal_max(next.y, (real)0.1 * s.y),
                              vreal_max(next.z, (real)0.1 * s.z));
        const vreal there = pd_proximal(m, k, next, to);
        const vmask falls = there <= least + 16 * (real)REAL_EPSILON * vreal_abs(least);
        s = vvec3_where(falls, next, s);
        least = vreal_where(falls, there, least);
        fraction = vreal_where(falls, one, (real)0.25 * fraction);
        if (!vmask_any(vvec3_dot(step, step) > enough * enough * vvec3_dot(s, s))) break;
    }
    return s;
}

/* z minimises psi(z) + k/2 |F + u - z|^2; then u becomes u + F - z, and the stress is k (F - z + u) with the new u. */
PBD_BATCH_OF(pd_admm, pd_args, first, count, (12 + 10 + 18 + 16) * sizeof(real) + 16, 3000) {
    element e;
    element_load(&a->view, 4, first, count, &e);
    const vmat3 f = element_deformation_gradient(&e, 4);
    vmat3 u = pd_dual(a, first, count);
    const vsvd3 to = vmat3_svd(vmat3_add(f, u));
    const vmat3 off = vmat3_sub(f, vsvd3_with(to, pd_nearest(a, to.s)));
    u = vmat3_add(u, off);
    pd_keep_dual(a, first, count, u);
    pd_store(a, first, count, &e, vmat3_scale(vreal_set(a->stiffness), vmat3_add(off, u)), vreal_set(0));
}

/* ---- Vertices ---------------------------------------------------------------------------------------------------- */

typedef struct pd_vertex_args {
    const uint32_t *first, *slot; /* gather_args */
    const real *rows;             /* written by the tetrahedra */
    const real *y;                /* rows of 4: minimum of the inertia term, m/dt^2 */
    const real *diagonal;         /* of A without the inertia term, N/m */
    real *p;
    real *out; /* rows of 4: -dG/dx, N, and the vertex's part of G, J */
    real relaxation;
} pd_vertex_args;

typedef struct pd_residual_row {
    vec3 force;
    real energy;
} pd_residual_row;

PBD_FN pd_residual_row pd_gather(const pd_vertex_args *a, size_t i) {
    real sum[4] = {0, 0, 0, 0};
    for (uint32_t k = a->first[i] + PBD_LANE; k < a->first[i + 1]; k += PBD_LANES) {
        real row[4];
        row_load(a->rows + 4 * (size_t)(a->slot[k] >> 1), row);
        for (int d = 0; d < 4; d++) sum[d] += row[d];
    }
    tile_sums(sum, 4);
    const vec3 elastic = vec3_make(sum[0], sum[1], sum[2]);
    const real *p = a->p + 4 * i, *y = a->y + 4 * i;
    const vec3 off = vec3_make(p[0] - y[0], p[1] - y[1], p[2] - y[2]);
    pd_residual_row out;
    out.energy = sum[3] + (real)0.5 * y[3] * vec3_dot(off, off);
    out.force = vec3_scale(-1, vec3_add(elastic, vec3_scale(y[3], off)));
    if (!(p[3] > 0)) out.force = vec3_make(0, 0, 0);
    return out;
}

/* Work of both kernels: vertices and their tetrahedra. */
PBD_TILE_OVER(pd_measure, pd_vertex_args, i, 12 * sizeof(real) + 8, 14, 4 * sizeof(real) + 4, 4) {
    const pd_residual_row r = pd_gather(a, i);
    if (PBD_LANE != 0) return;
    real *out = a->out + 4 * i;
    out[0] = r.force.x, out[1] = r.force.y, out[2] = r.force.z, out[3] = r.energy;
}

PBD_TILE_OVER(pd_jacobi, pd_vertex_args, i, 13 * sizeof(real) + 8, 20, 4 * sizeof(real) + 4, 4) {
    const pd_residual_row r = pd_gather(a, i);
    if (PBD_LANE != 0) return;
    real *p = a->p + 4 * i;
    if (!(p[3] > 0)) return;
    const real per = a->relaxation / (a->diagonal[i] + a->y[4 * i + 3]);
    p[0] += per * r.force.x;
    p[1] += per * r.force.y;
    p[2] += per * r.force.z;
}

typedef struct pd_move_args {
    const real *step; /* rows of 4 */
    real *p;
} pd_move_args;

PBD_ITEM(pd_move, pd_move_args, i, 10 * sizeof(real), 3) {
    for (size_t d = 4 * i; d < 4 * i + 3; d++) a->p[d] += a->step[d];
}

#endif
