/* Kernels of strain_based: stretch and shear of the material axes as separate constraints (continuum; Mueller et al.
 * 2015). With f_i = F e_i, l_i = |f_i| and c_i the i-th column of B (one entry per corner; the last is minus
 * the sum of the others):
 *
 *     stretch    C = l_i - 1            gradient for corner k: c_ik f_i/l_i
 *     squared    C = l_i^2 - 1          2 c_ik f_i                            nonlinear: one projection is not enough
 *     shear      C = f_i.f_j/(l_i l_j)  c_ik d_i + c_jk d_j,  d_i = (f_j/l_j - C f_i/l_i)/l_i    the angle only
 *     naive      C = f_i.f_j            c_ik f_j + c_jk f_i                   couples shear and stretch
 *
 * An element's constraints are projected one after another with its corners in registers: stretches first, then shears.
 * In PBD the correction is scaled by the stiffness k; in XPBD the compliance is 1/(modulus V). */
#ifndef PBD_STRAIN_BASED_KERNELS_H
#define PBD_STRAIN_BASED_KERNELS_H

#include "methods/physics/parts/element_clusters.h"

enum { STRAINS = 6 }; /* x, y, z, xy, yz, zx; triangles use x, y, xy */

typedef struct strain_args {
    element_view view;
    real *multiplier;         /* STRAINS per element; NULL: PBD */
    real stiffness[STRAINS];  /* PBD: fraction of a projection; 0: none */
    real compliance[STRAINS]; /* XPBD: 1/(modulus dt^2 thickness), not yet divided by the element's size */
    int squared, naive;
} strain_args;

/* One constraint: its value, and its derivatives with respect to f_i and f_j. */
typedef struct strain {
    vreal value;
    vvec3 by_i, by_j;
    int i, j; /* j < 0: stretch */
} strain;

PBD_FN vreal column_entry(const element *e, int corners, int axis, int corner) {
    const vreal *column = e->b + (corners - 1) * axis;
    if (corner < corners - 1) return column[corner];
    return corners == 4 ? -(column[0] + column[1] + column[2]) : -(column[0] + column[1]);
}

PBD_FN vvec3 axis_image(const element *e, int corners, int axis) {
    const vreal *column = e->b + (corners - 1) * axis;
    vvec3 f = vvec3_scale(column[0], element_edge(e, 0, corners - 1));
    for (int c = 1; c < corners - 1; c++) f = vvec3_add(f, vvec3_scale(column[c], element_edge(e, c, corners - 1)));
    return f;
}

PBD_FN strain stretch_of(const strain_args *a, const element *e, int corners, int i) {
    strain s;
    vvec3 f = axis_image(e, corners, i);
    vreal square = vvec3_dot(f, f);
    s.i = i;
    s.j = -1;
    s.by_j = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    if (a->squared) {
        s.value = square - 1;
        s.by_i = vvec3_scale(vreal_set(2), f);
    } else {
        s.value = vreal_sqrt(square) - 1;
        s.by_i = vvec3_unit_or_zero(f);
    }
    return s;
}

PBD_FN strain shear_of(const strain_args *a, const element *e, int corners, int i, int j) {
    strain s;
    vvec3 f = axis_image(e, corners, i), g = axis_image(e, corners, j);
    s.i = i;
    s.j = j;
    if (a->naive) {
        s.value = vvec3_dot(f, g);
        s.by_i = g;
        s.by_j = f;
        return s;
    }
    /* The angle of an axis without length is undefined: its inverse length, and thus the constraint, is set to 0. */
    vreal lf = vreal_sqrt(vvec3_dot(f, f)), lg = vreal_sqrt(vvec3_dot(g, g));
    vreal of = vreal_where(lf > 0, 1 / lf, vreal_set(0)), og = vreal_where(lg > 0, 1 / lg, vreal_set(0));
    vvec3 uf = vvec3_scale(of, f), ug = vvec3_scale(og, g);
    s.value = vvec3_dot(uf, ug);
    s.by_i = vvec3_scale(of, vvec3_sub(ug, vvec3_scale(s.value, uf)));
    s.by_j = vvec3_scale(og, vvec3_sub(uf, vvec3_scale(s.value, ug)));
    return s;
}

PBD_FN void strain_gradients(const element *e, int corners, const strain *s, vvec3 out[4]) {
    for (int c = 0; c < corners; c++) {
        out[c] = vvec3_scale(column_entry(e, corners, s->i, c), s->by_i);
        if (s->j >= 0) out[c] = vvec3_add(out[c], vvec3_scale(column_entry(e, corners, s->j, c), s->by_j));
    }
}

/* Projects one constraint, with the corners in registers, and adds its impulses to `sum` (kg m). k: index of the
 * constraint, below STRAINS. */
PBD_FN void project_strain(const strain_args *a, int corners, const strain *s, int k, size_t first, int count,
                           vreal share, element *e, vvec3 sum[4]) {
    vvec3 gradient[4];
    strain_gradients(e, corners, s, gradient);
    vreal q = element_weight(e, corners, gradient), factor;
    if (a->multiplier) {
        vreal lambda = element_entry(&a->view, a->multiplier, k, first, count);
        vreal alpha = a->compliance[k] / batch_load(a->view.size, first, count);
        factor = -share * (s->value + alpha * lambda) / (q + alpha);
        batch_store(a->multiplier + (size_t)k * a->view.stride, first, count, lambda + factor);
    } else
        factor = vreal_where(q == 0, vreal_set(0), -a->stiffness[k] * share * s->value / q);
    element_move(e, corners, factor, gradient);
    for (int c = 0; c < corners; c++) sum[c] = vvec3_add(sum[c], vvec3_scale(factor, gradient[c]));
}

/* at: the view with the corners, `a->view` or that of a cluster. */
PBD_FN void project_strains(const strain_args *a, const element_view *at, int corners, size_t first, int count,
                            element *e, vvec3 sum[4]) {
    const int axes = corners - 1;
    element_load(at, corners, first, count, e);
    for (int c = 0; c < corners; c++) sum[c] = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    vreal share = vreal_set(1);
    if (a->view.share) share = batch_load(a->view.share, first, count);
    for (int i = 0; i < axes; i++) {
        if (!(a->stiffness[i] > 0)) continue;
        strain s = stretch_of(a, e, corners, i);
        project_strain(a, corners, &s, i, first, count, share, e, sum);
    }
    for (int k = 0; k < (axes == 3 ? 3 : 1); k++) {
        if (!(a->stiffness[3 + k] > 0)) continue;
        strain s = shear_of(a, e, corners, k, (k + 1) % 3);
        project_strain(a, corners, &s, 3 + k, first, count, share, e, sum);
    }
}

PBD_FN void project_and_store(const strain_args *a, const element_view *at, int corners, size_t first, int count) {
    element e;
    vvec3 sum[4];
    project_strains(a, at, corners, first, count, &e, sum);
    element_store(at, corners, first, count, &e);
}

PBD_FN void store_strain_impulses(const strain_args *a, int corners, size_t first, int count) {
    element e;
    vvec3 sum[4];
    project_strains(a, &a->view, corners, first, count, &e, sum);
    element_store_impulse(&a->view, corners, first, count, vreal_set(1), sum);
}

/* ---- Residuals --------------------------------------------------------------------------------------------------- */

enum { STRAIN_BLOCK = 16 };

typedef struct strain_sum_args {
    strain_args of;
    size_t elements;
    real *sum; /* sum of squares per block */
} strain_sum_args;

/* Returns C, or with XPBD C + alpha~ lambda. */
PBD_FN vreal strain_residual(const strain_args *a, vreal value, int k, size_t first, int count) {
    if (!a->multiplier) return value;
    return value + a->compliance[k] / batch_load(a->view.size, first, count) *
                       element_entry(&a->view, a->multiplier, k, first, count);
}

PBD_FN void sum_strain_residuals(const strain_sum_args *a, int corners, size_t block) {
    const size_t end = (block + 1) * STRAIN_BLOCK < a->elements ? (block + 1) * STRAIN_BLOCK : a->elements;
    const strain_args *of = &a->of;
    const int axes = corners - 1;
    real sum = 0;
    for (size_t first = block * STRAIN_BLOCK; first < end; first += PBD_BATCH) {
        const int count = end - first < PBD_BATCH ? (int)(end - first) : PBD_BATCH;
        element e;
        vreal squares = vreal_set(0);
        real left[PBD_BATCH];
        element_load(&of->view, corners, first, count, &e);
        for (int i = 0; i < axes; i++) {
            if (!(of->stiffness[i] > 0)) continue;
            const vreal h = strain_residual(of, stretch_of(of, &e, corners, i).value, i, first, count);
            squares += h * h;
        }
        for (int k = 0; k < (axes == 3 ? 3 : 1); k++) {
            if (!(of->stiffness[3 + k] > 0)) continue;
            const vreal h = strain_residual(of, shear_of(of, &e, corners, k, (k + 1) % 3).value, 3 + k, first, count);
            squares += h * h;
        }
        batch_store(left, 0, PBD_BATCH, squares);
        for (int l = 0; l < count; l++) sum += left[l];
    }
    a->sum[block] = sum;
}

PBD_ITEM(sum_tet_residuals, strain_sum_args, block, STRAIN_BLOCK *(32 * sizeof(real) + 16), STRAIN_BLOCK * 300) {
    sum_strain_residuals(a, 4, block);
}

PBD_ITEM(sum_triangle_residuals, strain_sum_args, block, STRAIN_BLOCK *(24 * sizeof(real) + 12), STRAIN_BLOCK * 120) {
    sum_strain_residuals(a, 3, block);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

PBD_BATCH_OF(project_tets, strain_args, first, count, (32 + 9) * sizeof(real) + 16, 560) {
    project_and_store(a, &a->view, 4, first, count);
}

PBD_BATCH_OF(project_triangles, strain_args, first, count, (24 + 4) * sizeof(real) + 12, 220) {
    project_and_store(a, &a->view, 3, first, count);
}

/* Work: particles of clusters, and elements. */
typedef struct strain_cluster_args {
    strain_args of; /* all elements */
    cluster_view clusters;
} strain_cluster_args;

PBD_TILE_OVER(project_tet_clusters, strain_cluster_args, cluster, 8 * sizeof(real) + 4, 0, 9 * sizeof(real) + 16, 560) {
    CLUSTER_SWEEP(&a->clusters, &a->of.view, cluster, project_and_store(&a->of, &at, 4, first, count));
}

PBD_BATCH_OF(store_tet_impulses, strain_args, first, count, (32 + 10) * sizeof(real) + 16, 560) {
    store_strain_impulses(a, 4, first, count);
}

PBD_BATCH_OF(store_triangle_impulses, strain_args, first, count, (24 + 5) * sizeof(real) + 12, 220) {
    store_strain_impulses(a, 3, first, count);
}

#endif
