/* Kernels of vbd: one vertex is moved to the minimum of the step's objective with all others held (README.md).
 *
 *     G(x) = sum_i m_i |x_i - y_i|^2 / (2 dt^2) + sum_e V_e psi(F_e)
 *     (m_i/dt^2 I + K_i) dx_i = -dG/dx_i
 *
 * Vertices are stored stage by stage (pbd_cut_colours) in slices of VBD_LANES places; each stage starts a new slice.
 * Row r of a slice holds the r-th tetrahedron (or neighbour) of each of its vertices, at index VBD_LANES r + lane. A
 * tetrahedron of vertex i is stored as its other three corners b, c, d, ordered such that (c - b) x (d - b) points
 * towards i unless the tetrahedron is inverted. In padding rows the corners are the vertex itself and all values are
 * zero, so they add nothing.
 *
 * On the CPU a batch of vertices is solved at once. On a GPU a tile works on one vertex, with the rows distributed over
 * its lanes. */
#ifndef PBD_VBD_KERNELS_H
#define PBD_VBD_KERNELS_H

#include "methods/physics/device/particle_kernels.h"
#include "methods/physics/matter/block3.h"
#include "methods/physics/space/particle_slice.h"
#include "methods/physics/surface/collider_pose.h"

enum { VBD_LANES = PARTICLE_SLICE, VBD_SUMS = 10, VBD_TRIES = 8 };

/* Data that stay fixed while a scene is solved. own, tets and near are indexed by place; tet_row and near_row by slice;
 * the others by row, with entry k of a row at [k * stride + index]. NULL: not used by the law. */
typedef struct vbd_mesh {
    const uint32_t *own;                /* number of the vertex */
    const uint32_t *tets, *near;        /* number of tetrahedra, of neighbours of the vertex */
    const uint32_t *tet_row, *near_row; /* slices + 1: first row of each slice */
    const uint32_t *corner;             /* 3 by tetrahedron: b, c, d */
    const uint32_t *neighbour;          /* vertices that share a tetrahedron */
    const real *spring;                 /* by neighbour: -mu L_ij, N/m, with L the Laplacian of linear elements */
    const real *stiffness;   /* by tetrahedron: l/(36 V), Pa/m^3, l = lambda + mu (laws/macklin_neo_hookean.h) */
    const real *lift;        /* by tetrahedron: (l + mu)/6, Pa; NULL: the same for all */
    const real *shape;       /* 9 by tetrahedron: gradients of the shape functions of b, c, d, 1/m */
    const real *volume;      /* by tetrahedron, m^3 */
    const real *mu, *lambda; /* by tetrahedron, Pa; NULL: those of the law */
    size_t stride;           /* rows of tetrahedra x VBD_LANES */
} vbd_mesh;

typedef struct vbd_args {
    vbd_mesh mesh;
    real *p;           /* rows of 4: positions; inverse mass */
    const real *y, *x; /* rows of 4: minimum of the inertia term, and m/dt^2; positions at the start of the step */
    real *out;         /* by place: an energy; or a squared force and, from [places] on, that of its rounding */
    real *soft;        /* rows of 4: where a vertex in contact moves before it is pushed out (vbd_touch); NULL: none */
    size_t places;
    size_t first, count; /* of the stage: first place, number of vertices */
    hyperelastic law;
    real lift;       /* used if mesh.lift is NULL */
    real damping;    /* stiffness damping over the time step: k_d/dt */
    real_bits block; /* damp by the vertex's block; 0: by the elements */
    real slack;      /* relative rise of the energy that counts as rounding */
    real extent;     /* m: of the scene */
} vbd_args;

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

/* Range of rows of a vertex or of a batch, visited in steps of PBD_LANES. */
typedef struct vbd_rows {
    size_t begin, end;
} vbd_rows;

PBD_FN vbd_rows vbd_rows_of(const uint32_t *row, const uint32_t *length, size_t place) {
    const size_t slice = place / VBD_LANES;
    vbd_rows out;
    out.begin = row[slice];
#if PBD_BATCH == 1
    out.end = out.begin + length[place];
    out.begin += (size_t)PBD_LANE;
#else
    (void)length;
    out.end = row[slice + 1];
#endif
    return out;
}

/* Prefetches a later row of `vertices` arrays of vertices, `stride` apart, and of one of coefficients. */
enum { VBD_AHEAD = 48 * VBD_LANES }; /* 48 rows */
PBD_FN void vbd_prefetch(const uint32_t *vertex, int vertices, size_t stride, const real *coefficient) {
    for (int k = 0; k < vertices; k++) batch_prefetch(vertex + (size_t)k * stride + VBD_AHEAD);
    batch_prefetch(coefficient + VBD_AHEAD);
}

typedef struct vbd_point {
    vvec3 at;
    vreal w;
} vbd_point;

PBD_FN vbd_point vbd_load(const real *rows, const uint32_t *index, int count) {
    vreal row[4];
    vbd_point out;
    batch_load_rows(rows, index, 1, count, row);
    out.at = vvec3_make(row[0], row[1], row[2]);
    out.w = row[3];
    return out;
}

PBD_FN void vbd_sum(vreal *sums, int count) {
#if PBD_BATCH == 1
    tile_sums(sums, count);
#else
    (void)sums;
    (void)count;
#endif
}

/* ---- The block of a vertex --------------------------------------------------------------------------------------- */

/* Force and stiffness of the tetrahedra of a vertex. */
typedef struct vbd_block {
    vvec3 force;  /* N */
    vreal k[6];   /* N/m: xx, yy, zz, yz, zx, xy */
    vreal energy; /* J; of laws other than macklin_neo_hookean */
} vbd_block;

PBD_FN void vbd_add_outer(vreal k[6], vreal s, vvec3 a) {
    vvec3 b = vvec3_scale(s, a);
    k[0] += b.x * a.x;
    k[1] += b.y * a.y;
    k[2] += b.z * a.z;
    k[3] += b.y * a.z;
    k[4] += b.z * a.x;
    k[5] += b.x * a.y;
}

PBD_FN vvec3 vbd_apply(const vreal k[6], vvec3 a) {
    return vvec3_make(k[0] * a.x + k[5] * a.y + k[4] * a.z, k[5] * a.x + k[1] * a.y + k[3] * a.z,
                      k[4] * a.x + k[3] * a.y + k[2] * a.z);
}

/* macklin_neo_hookean: mu/2 tr F^T F is a quadratic form of the positions, and J is linear in those of one vertex, with
 * the gradient a = (c - b) x (d - b)/(6 V). The block is therefore exact and positive definite for every F. With
 * damping by elements, k_d times the time derivative of the force is added; mb, mc and md are the displacements of b, c
 * and d in the step. */
PBD_FN vbd_block vbd_macklin(const vbd_args *a, size_t place, int count, vvec3 x, vvec3 moved) {
    const vbd_mesh *m = &a->mesh;
    const size_t lane = place % VBD_LANES;
    const int damped = a->damping > 0 && !a->block;
    vbd_block out;
    vreal spring_sum = vreal_set(0), lift = vreal_set(a->lift);
    out.force = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    out.energy = vreal_set(0);
    for (int i = 0; i < 6; i++) out.k[i] = vreal_set(0);
    vbd_rows rows = vbd_rows_of(m->near_row, m->near, place);
    for (size_t row = rows.begin; row < rows.end; row += PBD_LANES) {
        const size_t at = VBD_LANES * row + lane;
        vbd_prefetch(m->neighbour + at, 1, 0, m->spring + at);
        vreal spring = batch_load(m->spring, at, count);
        vvec3 b = vbd_load(a->p, m->neighbour + at, count).at;
        spring_sum += spring;
        out.force = vvec3_add(out.force, vvec3_scale(spring, vvec3_sub(b, x)));
        if (damped) {
            vvec3 db = vvec3_sub(b, vbd_load(a->x, m->neighbour + at, count).at);
            out.force = vvec3_add(out.force, vvec3_scale(spring * a->damping, vvec3_sub(db, moved)));
        }
    }
    rows = vbd_rows_of(m->tet_row, m->tets, place);
    for (size_t row = rows.begin; row < rows.end; row += PBD_LANES) {
        const size_t at = VBD_LANES * row + lane;
        const uint32_t *corner = m->corner + at;
        vbd_prefetch(corner, 3, m->stride, m->stiffness + at);
        vvec3 b = vbd_load(a->p, corner, count).at, c = vbd_load(a->p, corner + m->stride, count).at;
        vvec3 d = vbd_load(a->p, corner + 2 * m->stride, count).at;
        vreal stiffness = batch_load(m->stiffness, at, count);
        if (m->lift) lift = batch_load(m->lift, at, count);
        vvec3 cb = vvec3_sub(c, b), db = vvec3_sub(d, b), xb = vvec3_sub(x, b), normal = vvec3_cross(cb, db);
        vreal pressure = stiffness * vvec3_dot(normal, xb) - lift;
        out.force = vvec3_sub(out.force, vvec3_scale(pressure, normal));
        vbd_add_outer(out.k, stiffness, normal);
        if (!damped) continue;
        vvec3 mb = vvec3_sub(b, vbd_load(a->x, corner, count).at);
        vvec3 mc = vvec3_sub(c, vbd_load(a->x, corner + m->stride, count).at);
        vvec3 md = vvec3_sub(d, vbd_load(a->x, corner + 2 * m->stride, count).at);
        vvec3 turned = vvec3_add(vvec3_cross(vvec3_sub(mc, mb), db), vvec3_cross(cb, vvec3_sub(md, mb)));
        vreal rate = stiffness * (vvec3_dot(normal, vvec3_sub(moved, mb)) + vvec3_dot(turned, xb));
        vvec3 change = vvec3_add(vvec3_scale(rate, normal), vvec3_scale(pressure, turned));
        out.force = vvec3_sub(out.force, vvec3_scale(vreal_set(a->damping), change));
    }
    block_add_isotropic(out.k, spring_sum);
    return out;
}

/* F of a tetrahedron and the gradient of the vertex's shape function. */
typedef struct vbd_strained {
    vmat3 f;
    vvec3 gradient;
    vhyperelastic law;
    vreal volume, free; /* free: number of corners that are not held */
} vbd_strained;

PBD_FN vbd_strained vbd_strain(const vbd_args *a, size_t at, int count, vvec3 x) {
    const vbd_mesh *m = &a->mesh;
    vbd_strained out;
    vvec3 gradient[3], sum = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    out.f = vmat3_make(sum, sum, sum);
    out.free = vreal_set(1);
    for (int c = 0; c < 3; c++) {
        const vbd_point corner = vbd_load(a->p, m->corner + (size_t)c * m->stride + at, count);
        vvec3 edge = vvec3_sub(corner.at, x);
        out.free += vreal_where(corner.w > 0, vreal_set(1), vreal_set(0));
        const real *shape = m->shape + (size_t)(3 * c) * m->stride + at;
        gradient[c] = vvec3_make(batch_load(shape, 0, count), batch_load(shape + m->stride, 0, count),
                                 batch_load(shape + 2 * m->stride, 0, count));
        out.f = vmat3_add(out.f, vmat3_outer(edge, gradient[c]));
        sum = vvec3_add(sum, gradient[c]);
    }
    out.gradient = vvec3_scale(vreal_set(-1), sum);
    out.volume = batch_load(m->volume, at, count);
    /* In a padding row F would be 0, where laws with a logarithm are undefined, so I is used. */
    vreal rest = vreal_where(out.volume > 0, vreal_set(0), vreal_set(1));
    out.f = vmat3_add(out.f, vmat3_scale(rest, vmat3_identity()));
    out.law = vhyperelastic_of(a->law);
    if (m->mu) {
        out.law.mu = batch_load(m->mu, at, count);
        out.law.lambda = batch_load(m->lambda, at, count);
    }
    return out;
}

/* Writes even = (p_i - p_j)/(s_i - s_j), or `slope` where s_i and s_j nearly coincide, and
 * odd = (p_i + p_j)/(s_i + s_j). */
PBD_FN void vbd_quotients(vreal si, vreal sj, vreal pi, vreal pj, vreal slope, vreal *even, vreal *odd) {
    const real tolerance = REAL_IS_FLOAT ? (real)2e-3 : (real)1e-5;
    vreal difference = si - sj, sum = si + sj;
    vreal far = vreal_where(vreal_abs(difference) > tolerance, difference, vreal_set(1));
    vreal positive = vreal_where(vreal_abs(sum) > tolerance, sum, vreal_set(tolerance));
    *even = vreal_where(vreal_abs(difference) > tolerance, (pi - pj) / far, slope);
    *odd = (pi + pj) / positive;
}

/* Writes the quotients of the pairs (y, z), (z, x), (x, y), clamped at 0, which makes dP/dF positive semidefinite for
 * these pairs. They are in closed form unless the law is continued by a join. */
PBD_FN void vbd_pairs(vhyperelastic m, vvec3 s, vprincipal at, vprincipal_slope slope, vreal even[3], vreal odd[3]) {
    const vreal half = vreal_set((real)0.5), zero = vreal_set(0);
    const vvec3 d = slope.diagonal;
    if (m.join == PBD_JOIN_NONE) {
        vprincipal_law_pair(m, s, s.y, s.z, s.x, &even[0], &odd[0]);
        vprincipal_law_pair(m, s, s.z, s.x, s.y, &even[1], &odd[1]);
        vprincipal_law_pair(m, s, s.x, s.y, s.z, &even[2], &odd[2]);
    } else {
        vbd_quotients(s.y, s.z, at.p.y, at.p.z, half * (d.y + d.z) - slope.across.x, &even[0], &odd[0]);
        vbd_quotients(s.z, s.x, at.p.z, at.p.x, half * (d.z + d.x) - slope.across.y, &even[1], &odd[1]);
        vbd_quotients(s.x, s.y, at.p.x, at.p.y, half * (d.x + d.y) - slope.across.z, &even[2], &odd[2]);
    }
    for (int k = 0; k < 3; k++) {
        even[k] = vreal_max(even[k], zero);
        odd[k] = vreal_max(odd[k], zero);
    }
}

/* Adds the block of one tetrahedron, for any law: with F = U diag(s) V^T and b = V^T gradient,
 *     U^T K U = V [ H_kl b_k b_l;  on the diagonal also  sum_j (even_kj + odd_kj)/2 b_j^2;
 *                   off it         also  (even_kl - odd_kl)/2 b_k b_l ]       (tangent.h, dF = u gradient^T). */
PBD_FN void vbd_add_element(vbd_block *out, const vbd_strained *e, vsvd3 f) {
    vprincipal by = vprincipal_stress(e->law, f.s);
    /* Below the threshold of a join, use the slope at the threshold: the law may have no slope below it. */
    const vvec3 upright = vvec3_at_least(f.s, vreal_max(e->law.threshold, vreal_set((real)0.1)));
    vprincipal_slope slope = vprincipal_law_slope(e->law, e->law.join == PBD_JOIN_NONE ? f.s : upright);
    vreal h[6], even[3], odd[3], k[6];
    vvec3 b = vvec3_make(vvec3_dot(f.v.x, e->gradient), vvec3_dot(f.v.y, e->gradient), vvec3_dot(f.v.z, e->gradient));
    const vreal half = vreal_set((real)0.5);
    vbd_pairs(e->law, f.s, by, slope, even, odd);
    block_of_slope(slope, h);
    vreal same[3], cross[3];
    for (int i = 0; i < 3; i++) {
        same[i] = half * (even[i] + odd[i]);
        cross[i] = half * (even[i] - odd[i]);
    }
    k[0] = h[0] * b.x * b.x + same[2] * b.y * b.y + same[1] * b.z * b.z;
    k[1] = h[1] * b.y * b.y + same[2] * b.x * b.x + same[0] * b.z * b.z;
    k[2] = h[2] * b.z * b.z + same[1] * b.x * b.x + same[0] * b.y * b.y;
    k[3] = (h[3] + cross[0]) * b.y * b.z;
    k[4] = (h[4] + cross[1]) * b.z * b.x;
    k[5] = (h[5] + cross[2]) * b.x * b.y;
    /* U k U^T, from the columns of k U^T. */
    vvec3 ux = vbd_apply(k, vvec3_make(f.u.x.x, f.u.y.x, f.u.z.x));
    vvec3 uy = vbd_apply(k, vvec3_make(f.u.x.y, f.u.y.y, f.u.z.y));
    vvec3 uz = vbd_apply(k, vvec3_make(f.u.x.z, f.u.y.z, f.u.z.z));
    vvec3 rx = vvec3_make(f.u.x.x, f.u.y.x, f.u.z.x), ry = vvec3_make(f.u.x.y, f.u.y.y, f.u.z.y);
    vvec3 rz = vvec3_make(f.u.x.z, f.u.y.z, f.u.z.z);
    out->k[0] += e->volume * vvec3_dot(rx, ux);
    out->k[1] += e->volume * vvec3_dot(ry, uy);
    out->k[2] += e->volume * vvec3_dot(rz, uz);
    out->k[3] += e->volume * vvec3_dot(ry, uz);
    out->k[4] += e->volume * vvec3_dot(rz, ux);
    out->k[5] += e->volume * vvec3_dot(rx, uy);
    vvec3 push = vmat3_apply(f.u, vvec3_make(by.p.x * b.x, by.p.y * b.y, by.p.z * b.z));
    out->force = vvec3_sub(out->force, vvec3_scale(e->volume, push));
    out->energy += e->volume * by.psi;
}

/* Adds the tetrahedra of n rows, PBD_LANES apart. */
PBD_FN void vbd_add_elements(vbd_block *out, const vbd_args *a, size_t row, size_t lane, int n, int count, vvec3 x) {
    vbd_strained e[PBD_SVD3_TOGETHER];
    vmat3 f[PBD_SVD3_TOGETHER];
    vsvd3 parts[PBD_SVD3_TOGETHER];
    for (int k = 0; k < n; k++) {
        e[k] = vbd_strain(a, VBD_LANES * (row + (size_t)k * PBD_LANES) + lane, count, x);
        f[k] = e[k].f;
    }
    vmat3_svds(f, n, parts);
    for (int k = 0; k < n; k++) vbd_add_element(out, &e[k], parts[k]);
}

PBD_FN vbd_block vbd_any_law(const vbd_args *a, size_t place, int count, vvec3 x) {
    const size_t lane = place % VBD_LANES;
    vbd_block out;
    out.force = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    out.energy = vreal_set(0);
    for (int i = 0; i < 6; i++) out.k[i] = vreal_set(0);
    vbd_rows rows = vbd_rows_of(a->mesh.tet_row, a->mesh.tets, place);
    size_t row = rows.begin;
#if PBD_BATCH > 1
    for (; row + 1 < rows.end; row += 2) vbd_add_elements(&out, a, row, lane, 2, count, x);
#endif
    for (; row < rows.end; row += PBD_LANES) vbd_add_elements(&out, a, row, lane, 1, count, x);
    return out;
}

/* Elastic energy of the tetrahedra of a vertex, J; `shared`: only the vertex's share, which is equal for all free
 * corners of a tetrahedron. */
PBD_FN vreal vbd_energy(const vbd_args *a, size_t place, int count, vvec3 x, int shared) {
    const size_t lane = place % VBD_LANES;
    vreal energy = vreal_set(0);
    vbd_rows rows = vbd_rows_of(a->mesh.tet_row, a->mesh.tets, place);
    for (size_t row = rows.begin; row < rows.end; row += PBD_LANES) {
        const vbd_strained e = vbd_strain(a, VBD_LANES * row + lane, count, x);
        energy += (shared ? e.volume / e.free : e.volume) * vstress(e.law, e.f).psi;
    }
    vbd_sum(&energy, 1);
    return energy;
}

/* ---- Moving a vertex --------------------------------------------------------------------------------------------- */

/* A batch of vertices at a place; `moved`: displacement in the step so far, 0 without damping. */
typedef struct vbd_vertex {
    vbd_point x, y;
    vvec3 moved;
} vbd_vertex;

PBD_FN vbd_vertex vbd_vertex_at(const vbd_args *a, size_t place, int count) {
    vbd_vertex out;
    out.x = vbd_load(a->p, a->mesh.own + place, count);
    out.y = vbd_load(a->y, a->mesh.own + place, count);
    out.moved = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    if (a->damping > 0) out.moved = vvec3_sub(out.x.at, vbd_load(a->x, a->mesh.own + place, count).at);
    return out;
}

/* Force on the vertex and matrix of its step, from all terms: elastic, damping and inertia. */
PBD_FN vbd_block vbd_system(const vbd_args *a, size_t place, int count, const vbd_vertex *v) {
    vbd_block b =
        a->mesh.spring ? vbd_macklin(a, place, count, v->x.at, v->moved) : vbd_any_law(a, place, count, v->x.at);
    vreal sums[VBD_SUMS] = {b.force.x, b.force.y, b.force.z, b.k[0], b.k[1], b.k[2], b.k[3], b.k[4], b.k[5], b.energy};
    vbd_sum(sums, VBD_SUMS);
    b.force = vvec3_make(sums[0], sums[1], sums[2]);
    for (int i = 0; i < 6; i++) b.k[i] = sums[3 + i];
    b.energy = sums[9];
    if (a->damping > 0) {
        if (a->block) b.force = vvec3_sub(b.force, vvec3_scale(vreal_set(a->damping), vbd_apply(b.k, v->moved)));
        for (int i = 0; i < 6; i++) b.k[i] *= 1 + a->damping;
    }
    b.force = vvec3_sub(b.force, vvec3_scale(v->y.w, vvec3_sub(v->x.at, v->y.at)));
    block_add_isotropic(b.k, v->y.w);
    return b;
}

PBD_FN vreal vbd_inertia(const vbd_vertex *v, vvec3 x) {
    vvec3 off = vvec3_sub(x, v->y.at);
    return (real)0.5 * v->y.w * vvec3_dot(off, off);
}

/* Returns the fraction of `step` that does not raise the energy of the vertex: 1, 1/2, 1/4 ... or 0. Needed where the
 * energy is not quadratic in one vertex, since a Newton step may raise it. A rise within rounding is allowed: that of
 * the sum, and the effect of rounded positions on elements of this energy and stiffness. NaN where the energy is
 * undefined. */
PBD_FN vreal vbd_search(const vbd_args *a, size_t place, int count, const vbd_vertex *v, const vbd_block *b,
                        vvec3 step) {
    const vreal one = vreal_set(1), zero = vreal_set(0);
    vreal fraction = one, found = zero, before = b->energy + vbd_inertia(v, v->x.at);
    const vreal pull = vreal_sqrt(2 * vreal_abs(b->energy) * (b->k[0] + b->k[1] + b->k[2]));
    const vreal limit = before + a->slack * vreal_abs(before) + 4 * (real)REAL_EPSILON * a->extent * pull;
    for (int attempt = 0; attempt < VBD_TRIES && vmask_any(found < 1); attempt++) {
        vvec3 x = vvec3_add(v->x.at, vvec3_scale(fraction, step));
        vreal energy = vbd_energy(a, place, count, x, 0) + vbd_inertia(v, x);
        found = vreal_where(energy <= limit, one, found);
        fraction = vreal_where(found < 1, fraction * (real)0.5, fraction);
    }
    return vreal_where(before == before, vreal_where(found < 1, zero, fraction), before);
}

/* The largest row sum of absolute values, an upper bound of the eigenvalues (Gershgorin). */
PBD_FN vreal vbd_bound(const vreal k[6]) {
    const vreal x = vreal_abs(k[0]) + vreal_abs(k[5]) + vreal_abs(k[4]);
    const vreal y = vreal_abs(k[5]) + vreal_abs(k[1]) + vreal_abs(k[3]);
    const vreal z = vreal_abs(k[4]) + vreal_abs(k[3]) + vreal_abs(k[2]);
    return vreal_max(x, vreal_max(y, z));
}

/* Prefetches the rows of the vertices of the next batch. */
PBD_FN void vbd_prefetch_vertices(const vbd_args *a, size_t place) {
    const size_t next = place + PBD_BATCH, left = a->first + a->count - place;
    if (left < 2 * PBD_BATCH) return;
    batch_prefetch(a->mesh.own + next + PBD_BATCH);
    batch_prefetch_rows(a->p, a->mesh.own + next, PBD_BATCH);
    batch_prefetch_rows_read(a->y, a->mesh.own + next, PBD_BATCH);
}

PBD_FN void vbd_move_at(const vbd_args *a, size_t place, int count) {
    vbd_vertex v = vbd_vertex_at(a, place, count);
    vbd_prefetch_vertices(a, place);
    vbd_block b = vbd_system(a, place, count, &v);
    vvec3 step = block_solve(b.k, b.force);
    if (!a->mesh.spring && !(a->damping > 0)) {
        const vreal fraction = vbd_search(a, place, count, &v, &b, step);
        const vvec3 none = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
        step = vvec3_where(fraction == 0, none, vvec3_scale(fraction, step));
    }
    if (PBD_LANE != 0) return;
    vvec3 x = vvec3_add(v.x.at, step);
    vreal row[4] = {x.x, x.y, x.z, v.x.w};
    batch_store_rows(a->p, a->mesh.own + place, 1, count, row);
    if (!a->soft) return;
    x = vvec3_add(v.x.at, vvec3_scale(1 / vbd_bound(b.k), b.force));
    row[0] = x.x, row[1] = x.y, row[2] = x.z;
    batch_store_rows(a->soft, a->mesh.own + place, 1, count, row);
}

/* Writes the square of the residual, and that of its error from rounded positions. */
PBD_FN void vbd_measure_at(const vbd_args *a, size_t place, int count) {
    vbd_vertex v = vbd_vertex_at(a, place, count);
    vbd_block b = vbd_system(a, place, count, &v);
    vreal rounding = (real)REAL_EPSILON * a->extent * (b.k[0] + b.k[1] + b.k[2]);
    if (PBD_LANE != 0) return;
    batch_store(a->out, place, count, vvec3_dot(b.force, b.force));
    batch_store(a->out + a->places, place, count, rounding * rounding);
}

/* The vertex's part of G: its inertia, and its share of the energy of its tetrahedra. */
PBD_FN void vbd_energy_at(const vbd_args *a, size_t place, int count) {
    vbd_vertex v = vbd_vertex_at(a, place, count);
    vreal energy = vbd_energy(a, place, count, v.x.at, 1) + vbd_inertia(&v, v.x.at);
    if (PBD_LANE != 0) return;
    batch_store(a->out, place, count, energy);
}

/* On the CPU every PBD_BATCH-th item processes a whole batch. Each stage starts a new slice, so batches do not depend
 * on the number of threads. */
#if PBD_BATCH == 1
#define VBD_DO(body) body(a, a->first + i, 1)
#else
#define VBD_DO(body) \
    if (i % PBD_BATCH == 0) body(a, a->first + i, a->count - i < PBD_BATCH ? (int)(a->count - i) : PBD_BATCH)
#endif

/* Work of all three kernels: vertices; their tetrahedra, with a neighbour counted as half a tetrahedron. */
PBD_TILE_OVER(vbd_move, vbd_args, i, 12 * sizeof(real) + 8, 70, sizeof(real) + 12, 50) { VBD_DO(vbd_move_at); }
PBD_TILE_OVER(vbd_measure, vbd_args, i, 10 * sizeof(real) + 8, 70, sizeof(real) + 12, 50) { VBD_DO(vbd_measure_at); }
PBD_TILE_OVER(vbd_sum_energy, vbd_args, i, 9 * sizeof(real) + 8, 10, 10 * sizeof(real) + 12, 120) {
    VBD_DO(vbd_energy_at);
}

/* ---- Colliders --------------------------------------------------------------------------------------------------- */

typedef struct vbd_touch_args {
    const uint32_t *own; /* of the stage: numbers of its vertices */
    const collider_pose *collider;
    int colliders;
    const real *radius; /* by vertex; NULL: points */
    const real *x, *soft;
    real *p;
} vbd_touch_args;

/* Pushing a vertex out of a collider after its Newton step does not give the constrained minimum: its block is not a
 * multiple of I, so the part of the step that the push ignores acts along the surface like a spurious force. A vertex
 * in contact therefore moves by its force over a bound of its block instead. For this move the push is the projection:
 * at rest, the remaining force is the one that contact balances. */
PBD_ITEM(vbd_touch, vbd_touch_args, i, 12 * sizeof(real) + 4, 30) {
    const size_t vertex = a->own[i];
    real *row = a->p + 4 * vertex;
    const real *soft = a->soft + 4 * vertex, *x = a->x + 4 * vertex;
    const collider_contact of = {.row = vertex,
                                 .inverse_mass = row[3],
                                 .radius = a->radius ? a->radius[vertex] : 0,
                                 .start = vec3_make(x[0], x[1], x[2])};
    vec3 p = vec3_make(row[0], row[1], row[2]);
    if (!(row[3] > 0) || !collider_push_all(a->collider, a->colliders, &of, &p)) return;
    p = vec3_make(soft[0], soft[1], soft[2]);
    collider_push_all(a->collider, a->colliders, &of, &p);
    row[0] = p.x;
    row[1] = p.y;
    row[2] = p.z;
}

#endif
