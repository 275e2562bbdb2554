/* Constraints of tetrahedra and triangles: loading an element, its deformation gradient, and moving its corners,
 * immediately (coloured Gauss-Seidel) or by stored impulses (Jacobi).
 *
 *     tetrahedron   D_s = [x1 - x4, x2 - x4, x3 - x4],  F = D_s B,  B = D_m^-1 of the body at rest
 *     triangle      D_s = [x1 - x3, x2 - x3],  F = D_s B is 3 x 2, B = D_m^-1 in the plane of the triangle at rest
 *
 * For triangles F is completed to 3 x 3 by the unit normal as the third column. An isotropic law exerts no torque on
 * the normal, so the first two columns of P are those of the membrane. Source: continuum mechanics, appendix A2 of the
 * claims. */
#ifndef PBD_ELEMENT_SOLVER_KERNELS_H
#define PBD_ELEMENT_SOLVER_KERNELS_H

#include "methods/physics/device/particle_kernels.h"
#include "methods/physics/math/mat3.h"

/* Elements from a first one on. In arrays of several reals per element, entry k of element e is at [e + k * stride]. */
typedef struct element_view {
    const uint32_t *corner; /* 4 or 3 by element */
    const real *inverse;    /* B, 1/m, column by column: 9 or 4 by element */
    const real *size;       /* m^3 or m^2 */
    const real *share;      /* Jacobi: factor of each constraint's correction; NULL: 1 */
    real *p;                /* rows of 4 */
    real *impulse;          /* Jacobi: rows of 4 by element and corner, kg m */
    size_t stride;
    size_t left; /* elements from the first one on */
} element_view;

/* A batch of elements in registers. */
typedef struct element {
    vreal corner[4][4]; /* x, y, z, w */
    vreal b[9];
} element;

PBD_FN vreal element_entry(const element_view *v, const real *array, int entry, size_t first, int count) {
    return batch_load(array + (size_t)entry * v->stride, first, count);
}

/* Prefetches a later batch. Corners of one colour are scattered, and there are more arrays than the hardware prefetcher
 * tracks: without this a core waits for memory a third of the time on a large mesh, in f64 up to three fifths. Not for
 * small meshes, which are in the cache, nor for Jacobi, which follows the order of the mesh. */
PBD_FN void element_prefetch(const element_view *v, int corners, size_t first) {
#if PBD_BATCH > 1
    enum { IN_CACHE = 1 << 15 }; /* elements, of some 60 bytes each in f32 */
    const size_t ahead = first + 3 * PBD_BATCH;
    if (v->stride < IN_CACHE || v->impulse || ahead + PBD_BATCH > v->left) return;
    batch_prefetch_rows(v->p, v->corner + (size_t)corners * ahead, corners * PBD_BATCH);
    const int entries = corners == 4 ? 9 : 4;
    for (int k = 0; k < entries; k++) __builtin_prefetch(v->inverse + (size_t)k * v->stride + ahead);
    __builtin_prefetch(v->size + ahead);
#else
    (void)v;
    (void)corners;
    (void)first;
#endif
}

PBD_FN void element_load(const element_view *v, int corners, size_t first, int count, element *e) {
    const size_t at = (size_t)corners * first;
    element_prefetch(v, corners, first);
    for (int c = 0; c < corners; c++) batch_load_rows(v->p, v->corner + at + (size_t)c, corners, count, e->corner[c]);
    const int entries = corners == 4 ? 9 : 4;
    for (int k = 0; k < entries; k++) e->b[k] = element_entry(v, v->inverse, k, first, count);
}

PBD_FN vvec3 element_edge(const element *e, int c, int last) {
    return vvec3_make(e->corner[c][0] - e->corner[last][0], e->corner[c][1] - e->corner[last][1],
                      e->corner[c][2] - e->corner[last][2]);
}

PBD_FN vvec3 vvec3_unit_or_zero(vvec3 a) {
    vreal length = vreal_sqrt(vvec3_dot(a, a));
    return vvec3_scale(vreal_where(length > 0, 1 / length, vreal_set(0)), a);
}

/* s a + t b */
PBD_FN vvec3 vvec3_blend(vreal s, vvec3 a, vreal t, vvec3 b) { return vvec3_add(vvec3_scale(s, a), vvec3_scale(t, b)); }

PBD_FN vmat3 element_deformation_gradient(const element *e, int corners) {
    const vreal *b = e->b;
    if (corners == 3) {
        vvec3 d0 = element_edge(e, 0, 2), d1 = element_edge(e, 1, 2);
        vvec3 f0 = vvec3_blend(b[0], d0, b[1], d1), f1 = vvec3_blend(b[2], d0, b[3], d1);
        return vmat3_make(f0, f1, vvec3_unit_or_zero(vvec3_cross(f0, f1)));
    }
    vmat3 d = vmat3_make(element_edge(e, 0, 3), element_edge(e, 1, 3), element_edge(e, 2, 3));
    return vmat3_make(vmat3_apply(d, vvec3_make(b[0], b[1], b[2])), vmat3_apply(d, vvec3_make(b[3], b[4], b[5])),
                      vmat3_apply(d, vvec3_make(b[6], b[7], b[8])));
}

/* Gradients with respect to the corners of a function of F with derivative `p`: the columns of p B^T, and minus their
 * sum. */
PBD_FN void element_gradients(const element *e, int corners, vmat3 p, vvec3 out[4]) {
    const vreal *b = e->b;
    if (corners == 3) {
        out[0] = vvec3_blend(b[0], p.x, b[2], p.y);
        out[1] = vvec3_blend(b[1], p.x, b[3], p.y);
        vvec3 sum = vvec3_add(out[0], out[1]);
        out[2] = vvec3_make(-sum.x, -sum.y, -sum.z);
        return;
    }
    for (int c = 0; c < 3; c++) out[c] = vmat3_apply(p, vvec3_make(b[c], b[3 + c], b[6 + c]));
    vvec3 sum = vvec3_add(vvec3_add(out[0], out[1]), out[2]);
    out[3] = vvec3_make(-sum.x, -sum.y, -sum.z);
}

/* Sum of w |gradient|^2. */
PBD_FN vreal element_weight(const element *e, int corners, const vvec3 gradient[4]) {
    vreal sum = vreal_set(0);
    for (int c = 0; c < corners; c++) sum += e->corner[c][3] * vvec3_dot(gradient[c], gradient[c]);
    return sum;
}

/* Moves the corners, in registers, by w s gradient. */
PBD_FN void element_move(element *e, int corners, vreal s, const vvec3 gradient[4]) {
    for (int c = 0; c < corners; c++) {
        vreal step = s * e->corner[c][3];
        e->corner[c][0] += step * gradient[c].x;
        e->corner[c][1] += step * gradient[c].y;
        e->corner[c][2] += step * gradient[c].z;
    }
}

PBD_FN void element_store(const element_view *v, int corners, size_t first, int count, const element *e) {
    const size_t at = (size_t)corners * first;
    for (int c = 0; c < corners; c++) batch_store_rows(v->p, v->corner + at + (size_t)c, corners, count, e->corner[c]);
}

/* The Jacobi counterpart of element_move: stores impulses for gather_impulses, which subtracts w times their sum. */
PBD_FN void element_store_impulse(const element_view *v, int corners, size_t first, int count, vreal s,
                                  const vvec3 gradient[4]) {
    for (int c = 0; c < corners; c++) {
        vreal row[4] = {-s * gradient[c].x, -s * gradient[c].y, -s * gradient[c].z, vreal_set(0)};
        batch_store_strided(v->impulse, (size_t)corners * first + (size_t)c, corners, count, row);
    }
}

#endif
