/* Cloth by XPBD: constraints on the strain of triangles and the angles between them, with the compliances of a thin
 * plate.
 *
 *     stretch   C = (E_11, E_22, 2 E_12), Green's strain of a triangle; alpha = D^-1/(A t), D of plane stress
 *     bending   C = 2 sin(theta/2) minus its value at rest; alpha = (A_1 + A_2)/(B |e|^2)
 *
 * The energies are A t/2 C D C (a Saint Venant-Kirchhoff membrane) and B/2 |e|^2/(A_1 + A_2) C^2 for each edge e shared
 * by two triangles. Multipliers are dimensionless: lambda = k s with k = E A t dt^2 (kg m^2), where s converges to
 * minus the second Piola-Kirchhoff stress over E. With S = E D^-1, one projection solves
 *
 *     (S + k sum_c w_c grad_c C grad_c C^T) ds = -(C + S s),   x_c += w_c k grad_c C ds
 *
 * for all three strains at once, and likewise with k = B |e|^2 dt^2/(A_1 + A_2), S = 1 for an edge. The energies are
 * invariant under rotation of a triangle or hinge, so each projection conserves both momenta.
 *
 * In plain XPBD earlier impulses keep the directions of earlier gradients, so the limit differs from implicit Euler (a
 * strip whose pulled end would fall by 0.8 % of an edge in a step is 0.2 % too short at rest). With `turned` a
 * constraint stores its accumulated impulse J, and a projection first applies x_c += w_c (l - J), with l = k grad C s
 * for the present gradients; ds then solves the remainder. The iterations thus converge to implicit Euler, and the
 * state at rest is that of finite elements for any time step. */
#ifndef PBD_CLOTH_KERNELS_H
#define PBD_CLOTH_KERNELS_H

#include "methods/physics/parts/element_solver_kernels.h"

/* ---- Stretch ----------------------------------------------------------------------------------------------------- */

typedef struct stretch_args {
    element_view view;
    real *stress;   /* s: 11, 22, 12 by triangle; zero at the start of a substep */
    real *impulse;  /* J/k: two vectors by triangle; zero at the start of a substep. NULL: plain XPBD */
    real stiffness; /* E t dt^2, kg */
    real nu;
} stretch_args;

/* The upper entries of a symmetric 3 x 3 matrix, and the sums from which it is computed. */
typedef struct stretch_system {
    vreal a00, a01, a02, a11, a12, a22;
    vreal hh, hg, gg;
} stretch_system;

PBD_FN vvec3 stretch_solve(const stretch_system *a, vvec3 r) {
    const vreal l1 = a->a01 / a->a00, l2 = a->a02 / a->a00;
    const vreal d1 = a->a11 - l1 * a->a01, l3 = (a->a12 - l1 * a->a02) / d1;
    const vreal d2 = a->a22 - l2 * a->a02 - l3 * l3 * d1;
    const vreal y1 = r.y - l1 * r.x, y2 = r.z - l2 * r.x - l3 * y1;
    const vreal z = y2 / d2, y = y1 / d1 - l3 * z;
    return vvec3_make(r.x / a->a00 - l1 * y - l2 * z, y, z);
}

/* S + k sum_c w_c grad_c C grad_c C^T. With grad_c C = (h_c f_0, g_c f_1, h_c f_1 + g_c f_0), (h_c, g_c) the row of B
 * of corner c, only three sums over the corners are needed. */
PBD_FN stretch_system stretch_matrix(const element *e, vvec3 f0, vvec3 f1, vreal k, real nu) {
    const vreal h2 = -(e->b[0] + e->b[1]), g2 = -(e->b[2] + e->b[3]);
    const vreal w0 = k * e->corner[0][3], w1 = k * e->corner[1][3], w2 = k * e->corner[2][3];
    const vreal hh = w0 * e->b[0] * e->b[0] + w1 * e->b[1] * e->b[1] + w2 * h2 * h2;
    const vreal gg = w0 * e->b[2] * e->b[2] + w1 * e->b[3] * e->b[3] + w2 * g2 * g2;
    const vreal hg = w0 * e->b[0] * e->b[2] + w1 * e->b[1] * e->b[3] + w2 * h2 * g2;
    const vreal c00 = vvec3_dot(f0, f0), c01 = vvec3_dot(f0, f1), c11 = vvec3_dot(f1, f1);
    stretch_system a;
    a.hh = hh;
    a.hg = hg;
    a.gg = gg;
    a.a00 = 1 + hh * c00;
    a.a01 = hg * c01 - nu;
    a.a02 = hh * c01 + hg * c00;
    a.a11 = 1 + gg * c11;
    a.a12 = gg * c01 + hg * c11;
    a.a22 = 2 * (1 + nu) + hh * c11 + 2 * hg * c01 + gg * c00;
    return a;
}

PBD_FN vvec3 vvec3_zero(void) { return vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0)); }

/* The fraction of the rotation of J that one projection applies: less for larger stresses, to avoid overshooting. */
PBD_FN vreal turning_share(vreal stress, vreal weight) { return 1 / (1 + stress * weight); }

PBD_FN vvec3 stretch_entry3(const stretch_args *a, const real *array, int entry, size_t first, int count) {
    return vvec3_make(element_entry(&a->view, array, entry, first, count),
                      element_entry(&a->view, array, entry + 1, first, count),
                      element_entry(&a->view, array, entry + 2, first, count));
}

PBD_FN void stretch_store3(const stretch_args *a, real *array, size_t entry, size_t first, int count, vvec3 x) {
    batch_store(array + entry * a->view.stride, first, count, x.x);
    batch_store(array + (entry + 1) * a->view.stride, first, count, x.y);
    batch_store(array + (entry + 2) * a->view.stride, first, count, x.z);
}

PBD_BATCH_OF(project_stretch, stretch_args, first, count, (24 + 23) * sizeof(real) + 12, 250) {
    element e;
    vvec3 gradient[4];
    element_load(&a->view, 3, first, count, &e);
    const vreal k = a->stiffness * batch_load(a->view.size, first, count);
    const vvec3 d0 = element_edge(&e, 0, 2), d1 = element_edge(&e, 1, 2);
    const vvec3 f0 = vvec3_blend(e.b[0], d0, e.b[1], d1), f1 = vvec3_blend(e.b[2], d0, e.b[3], d1);
    const vvec3 s = stretch_entry3(a, a->stress, 0, first, count);
    const stretch_system system = stretch_matrix(&e, f0, f1, k, a->nu);
    /* The part of (l - J)/k to apply now, for each column of B. */
    vvec3 lack0 = vvec3_zero(), lack1 = lack0;
    vvec3 done0 = vvec3_zero(), done1 = done0;
    if (a->impulse) {
        const vreal share = turning_share(vreal_abs(s.x) + vreal_abs(s.y) + vreal_abs(s.z), system.hh + system.gg);
        done0 = stretch_entry3(a, a->impulse, 0, first, count);
        done1 = stretch_entry3(a, a->impulse, 3, first, count);
        lack0 = vvec3_scale(share, vvec3_sub(vvec3_blend(s.x, f0, s.z, f1), done0));
        lack1 = vvec3_scale(share, vvec3_sub(vvec3_blend(s.y, f1, s.z, f0), done1));
    }
    const vvec3 u0 = vvec3_blend(system.hh, lack0, system.hg, lack1);
    const vvec3 u1 = vvec3_blend(system.hg, lack0, system.gg, lack1);
    const vvec3 wanted =
        vvec3_make(-((vvec3_dot(f0, f0) - 1) / 2 + s.x - a->nu * s.y + vvec3_dot(f0, u0)),
                   -((vvec3_dot(f1, f1) - 1) / 2 + s.y - a->nu * s.x + vvec3_dot(f1, u1)),
                   -(vvec3_dot(f0, f1) + 2 * (1 + a->nu) * s.z + vvec3_dot(f1, u0) + vvec3_dot(f0, u1)));
    const vvec3 ds = stretch_solve(&system, wanted);
    const vvec3 more0 = vvec3_add(lack0, vvec3_blend(ds.x, f0, ds.z, f1));
    const vvec3 more1 = vvec3_add(lack1, vvec3_blend(ds.y, f1, ds.z, f0));
    stretch_store3(a, a->stress, 0, first, count, vvec3_add(s, ds));
    if (a->impulse) {
        stretch_store3(a, a->impulse, 0, first, count, vvec3_add(done0, more0));
        stretch_store3(a, a->impulse, 3, first, count, vvec3_add(done1, more1));
    }
    element_gradients(&e, 3, vmat3_make(more0, more1, vvec3_zero()), gradient);
    element_move(&e, 3, k, gradient);
    element_store(&a->view, 3, first, count, &e);
}

/* ---- Bending ----------------------------------------------------------------------------------------------------- */

typedef struct bending_args {
    const uint32_t *corner; /* 4 by hinge: the two ends of the edge, then the corners across it */
    const real *stiffness;  /* by hinge: B |e|^2/(A_1 + A_2) at rest, N m */
    const real *rest;       /* by hinge: 2 sin(theta/2) at rest */
    real *moment;           /* s, by hinge; zero at the start of a substep */
    real *impulse;          /* J/k of all corners but the first: 9 by hinge; also zero at the start. NULL: plain XPBD */
    real *p;                /* rows of 4 */
    size_t stride;          /* hinges: entry e of `impulse` is at [e * stride] */
    real square;            /* dt^2, s^2 */
    real none;              /* 0 */
} bending_args;

typedef struct hinge {
    vreal corner[4][4]; /* x, y, z, w */
    vreal value;        /* 2 sin(theta/2) */
    vvec3 gradient[4];  /* 1/m */
} hinge;

PBD_FN vvec3 hinge_edge(const hinge *h, int from, int to) {
    return vvec3_make(h->corner[to][0] - h->corner[from][0], h->corner[to][1] - h->corner[from][1],
                      h->corner[to][2] - h->corner[from][2]);
}

PBD_FN vreal vreal_inverse_or_zero(vreal x) { return vreal_where(x > 0, 1 / x, vreal_set(0)); }

/* 2 sin(theta/2) = |n_1 - n_2| with the sign of (n_1 x n_2) . e, theta the angle between the unit normals: linear near
 * rest, continuous, and without inverse trigonometric functions. Its gradient is cos(theta/2) times that of theta
 * (Bridson et al. 2003). Hinges of a triangle without area are skipped. */
PBD_FN void hinge_measure(hinge *h) {
    const vvec3 e = hinge_edge(h, 0, 1), a0 = hinge_edge(h, 0, 2), a1 = hinge_edge(h, 1, 2);
    const vvec3 b0 = hinge_edge(h, 0, 3), b1 = hinge_edge(h, 1, 3);
    const vvec3 na = vvec3_cross(a0, a1), nb = vvec3_cross(b1, b0);
    const vreal length = vreal_sqrt(vvec3_dot(e, e)), per_length = vreal_inverse_or_zero(length);
    const vreal per_a = vreal_inverse_or_zero(vvec3_dot(na, na)), per_b = vreal_inverse_or_zero(vvec3_dot(nb, nb));
    const vvec3 ua = vvec3_scale(vreal_sqrt(per_a), na), ub = vvec3_scale(vreal_sqrt(per_b), nb);
    const vvec3 apart = vvec3_sub(ua, ub), along = vvec3_add(ua, ub);
    const vreal sine = vreal_sqrt(vvec3_dot(apart, apart));
    const vreal side = vvec3_dot(vvec3_cross(ua, ub), e), cosine = vreal_sqrt(vvec3_dot(along, along)) / 2;
    const vmask both = (vmask)(per_a * per_b > 0);
    const vreal turn = vreal_where(both, -cosine, vreal_set(0));
    h->value = vreal_where(both, vreal_where(side < 0, -sine, sine), vreal_set(0));
    const vreal ta = turn * per_a, tb = turn * per_b;
    h->gradient[2] = vvec3_scale(length * ta, na);
    h->gradient[3] = vvec3_scale(length * tb, nb);
    h->gradient[0] = vvec3_blend(vvec3_dot(a1, e) * per_length * ta, na, vvec3_dot(b1, e) * per_length * tb, nb);
    h->gradient[1] = vvec3_blend(-vvec3_dot(a0, e) * per_length * ta, na, -vvec3_dot(b0, e) * per_length * tb, nb);
}

/* Loads the impulses of a hinge. That of the first corner follows from their sum, which is zero. */
PBD_FN void bending_load(const bending_args *a, size_t first, int count, vvec3 impulse[4]) {
    vvec3 sum = vvec3_zero();
    for (size_t c = 1; c < 4; c++) {
        const real *at = a->impulse + 3 * (c - 1) * a->stride;
        impulse[c] = vvec3_make(batch_load(at, first, count), batch_load(at + a->stride, first, count),
                                batch_load(at + 2 * a->stride, first, count));
        sum = vvec3_add(sum, impulse[c]);
    }
    impulse[0] = vvec3_make(-sum.x, -sum.y, -sum.z);
}

PBD_FN void bending_store(const bending_args *a, size_t first, int count, const vvec3 impulse[4]) {
    for (size_t c = 1; c < 4; c++) {
        real *at = a->impulse + 3 * (c - 1) * a->stride;
        batch_store(at, first, count, impulse[c].x);
        batch_store(at + a->stride, first, count, impulse[c].y);
        batch_store(at + 2 * a->stride, first, count, impulse[c].z);
    }
}

PBD_BATCH_OF(project_bending, bending_args, first, count, (32 + 22) * sizeof(real) + 16, 260) {
    hinge h;
    vvec3 lack[4] = {vvec3_zero(), vvec3_zero(), vvec3_zero(), vvec3_zero()},
          done[4] = {lack[0], lack[0], lack[0], lack[0]};
    for (int c = 0; c < 4; c++) batch_load_rows(a->p, a->corner + 4 * first + (size_t)c, 4, count, h.corner[c]);
    hinge_measure(&h);
    const vreal k = a->square * batch_load(a->stiffness, first, count), s = batch_load(a->moment, first, count);
    vreal weight = vreal_set(0), ahead = weight;
    for (int c = 0; c < 4; c++) weight += k * h.corner[c][3] * vvec3_dot(h.gradient[c], h.gradient[c]);
    if (a->impulse) {
        const vreal share = turning_share(vreal_abs(s), weight);
        bending_load(a, first, count, done);
        for (int c = 0; c < 4; c++) {
            lack[c] = vvec3_scale(share, vvec3_sub(vvec3_scale(s, h.gradient[c]), done[c]));
            ahead += k * h.corner[c][3] * vvec3_dot(h.gradient[c], lack[c]);
        }
    }
    const vreal ds = -(h.value - batch_load(a->rest, first, count) + s + ahead) / (1 + weight);
    batch_store(a->moment, first, count, s + ds);
    for (int c = 0; c < 4; c++) {
        const vvec3 more = vvec3_add(lack[c], vvec3_scale(ds, h.gradient[c]));
        const vreal w = k * h.corner[c][3];
        h.corner[c][0] += w * more.x;
        h.corner[c][1] += w * more.y;
        h.corner[c][2] += w * more.z;
        done[c] = vvec3_add(done[c], more);
        batch_store_rows(a->p, a->corner + 4 * first + (size_t)c, 4, count, h.corner[c]);
    }
    if (a->impulse) bending_store(a, first, count, done);
}

typedef struct hinge_rest_args {
    const uint32_t *corner;
    const real *p; /* rest positions */
    real *rest;
} hinge_rest_args;

PBD_BATCH_OF(measure_hinges, hinge_rest_args, first, count, 17 * sizeof(real) + 16, 150) {
    hinge h;
    for (int c = 0; c < 4; c++) batch_load_rows(a->p, a->corner + 4 * first + (size_t)c, 4, count, h.corner[c]);
    hinge_measure(&h);
    batch_store(a->rest, first, count, h.value);
}

/* ---- Residuals --------------------------------------------------------------------------------------------------- */

enum { CLOTH_BLOCK = 16 };

typedef struct stretch_sum_args {
    stretch_args of;
    size_t triangles;
    real *sum; /* by block: sum of squares of C + S s */
} stretch_sum_args;

PBD_ITEM(sum_stretch_residuals, stretch_sum_args, block, CLOTH_BLOCK *(24 * sizeof(real) + 12), CLOTH_BLOCK * 60) {
    const size_t end = (block + 1) * CLOTH_BLOCK < a->triangles ? (block + 1) * CLOTH_BLOCK : a->triangles;
    const vreal nu = vreal_set(a->of.nu);
    real sum = 0;
    for (size_t first = block * CLOTH_BLOCK; first < end; first += PBD_BATCH) {
        const int count = end - first < PBD_BATCH ? (int)(end - first) : PBD_BATCH;
        element e;
        real left[PBD_BATCH];
        element_load(&a->of.view, 3, first, count, &e);
        const vvec3 d0 = element_edge(&e, 0, 2), d1 = element_edge(&e, 1, 2);
        const vvec3 f0 = vvec3_blend(e.b[0], d0, e.b[1], d1), f1 = vvec3_blend(e.b[2], d0, e.b[3], d1);
        const vvec3 s = stretch_entry3(&a->of, a->of.stress, 0, first, count);
        const vreal along = (vvec3_dot(f0, f0) - 1) / 2 + s.x - nu * s.y;
        const vreal across = (vvec3_dot(f1, f1) - 1) / 2 + s.y - nu * s.x;
        const vreal shear = vvec3_dot(f0, f1) + 2 * (1 + nu) * s.z;
        batch_store(left, 0, PBD_BATCH, along * along + across * across + shear * shear);
        for (int l = 0; l < count; l++) sum += left[l];
    }
    a->sum[block] = sum;
}

typedef struct bending_sum_args {
    bending_args of;
    size_t hinges;
    real *sum; /* by block: sum of squares of C + s */
} bending_sum_args;

PBD_ITEM(sum_bending_residuals, bending_sum_args, block, CLOTH_BLOCK *(18 * sizeof(real) + 16), CLOTH_BLOCK * 150) {
    const size_t end = (block + 1) * CLOTH_BLOCK < a->hinges ? (block + 1) * CLOTH_BLOCK : a->hinges;
    real sum = 0;
    for (size_t first = block * CLOTH_BLOCK; first < end; first += PBD_BATCH) {
        const int count = end - first < PBD_BATCH ? (int)(end - first) : PBD_BATCH;
        hinge h;
        real left[PBD_BATCH];
        for (int c = 0; c < 4; c++)
            batch_load_rows(a->of.p, a->of.corner + 4 * first + (size_t)c, 4, count, h.corner[c]);
        hinge_measure(&h);
        batch_store(left, 0, PBD_BATCH,
                    h.value - batch_load(a->of.rest, first, count) + batch_load(a->of.moment, first, count));
        for (int l = 0; l < count; l++) sum += left[l] * left[l];
    }
    a->sum[block] = sum;
}

#endif
