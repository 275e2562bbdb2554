/* Kernels of strain_energy: one constraint per element. The h_k of energy_constraint.h are the columns of P B^T. */
#ifndef PBD_STRAIN_ENERGY_KERNELS_H
#define PBD_STRAIN_ENERGY_KERNELS_H

#include "methods/physics/matter/energy_constraint.h"
#include "methods/physics/parts/element_clusters.h"
#include "methods/strain_energy/vector_constraints.h"

typedef struct energy_args {
    element_view view;
    hyperelastic law;    /* moduli in units of `unit` */
    fibre_set fibre;     /* stiffnesses in units of `unit`; directions of triangles in the frame of B */
    const real *lying;   /* triangles with several fibres: directions of all but the first in that frame, 2 entries
                            per fibre and element; NULL: as in `fibre` */
    const real *plastic; /* Green strain, PLASTIC_ENTRIES per element; NULL: elastic */
    real *multiplier;    /* XPBD: one per element */
    real compliance;     /* form=xpbd: 1/(unit^2 dt^2); else 1/(unit dt^2 thickness) */
    real_bits form;
} energy_args;

/* ---- Energy and stress ------------------------------------------------------------------------------------------- */

/* Only the first fibre has the same direction in the frames of all triangles. */
PBD_FN vvec3 fibre_at(const energy_args *a, int k, size_t first, int count) {
    if (k == 0 || !a->lying) return vfibre_direction(&a->fibre, k);
    return vvec3_make(element_entry(&a->view, a->lying, 2 * k - 2, first, count),
                      element_entry(&a->view, a->lying, 2 * k - 1, first, count), vreal_set(0));
}

PBD_FN vstressed element_stress(const energy_args *a, vmat3 f, size_t first, int count) {
    vstressed s = vstress(vhyperelastic_of(a->law), f);
    for (int k = 0; k < (int)a->fibre.count; k++)
        vadd_fibre(&s, f, fibre_at(a, k, first, count), vreal_set(a->fibre.stiffness[k]));
    if (a->plastic)
        vadd_plastic(&s, f, vreal_set(a->law.mu), vreal_set(a->law.lambda),
                     plastic_load(a->plastic, a->view.stride, first, count));
    return s;
}

/* ---- The correction ---------------------------------------------------------------------------------------------- */

/* at: the view with the corners, `a->view` or that of a cluster. */
PBD_FN vreal correction(const energy_args *a, const element_view *at, int corners, size_t first, int count, element *e,
                        vvec3 gradient[4]) {
    element_load(at, corners, first, count, e);
    vmat3 f = element_deformation_gradient(e, corners);
    vstressed s = element_stress(a, f, first, count);
    element_gradients(e, corners, s.p, gradient);
    vreal share = vreal_set(1), lambda = vreal_set(0), multiplier = lambda;
    if (a->view.share) share = batch_load(a->view.share, first, count);
    if (a->form != ENERGY_PBD) lambda = batch_load(a->multiplier, first, count);
    vreal factor = energy_factor((int)a->form, a->compliance, s.psi, element_weight(e, corners, gradient),
                                 batch_load(a->view.size, first, count), share, lambda, &multiplier);
    if (a->form != ENERGY_PBD) batch_store(a->multiplier, first, count, multiplier);
    return factor;
}

PBD_FN void project_elements(const energy_args *a, const element_view *at, int corners, size_t first, int count) {
    element e;
    vvec3 gradient[4];
    vreal s = correction(a, at, corners, first, count, &e, gradient);
    element_move(&e, corners, s, gradient);
    element_store(at, corners, first, count, &e);
}

PBD_FN void store_impulses(const energy_args *a, int corners, size_t first, int count) {
    element e;
    vvec3 gradient[4];
    vreal s = correction(a, &a->view, corners, first, count, &e, gradient);
    element_store_impulse(&a->view, corners, first, count, s, gradient);
}

PBD_BATCH_OF(project_tets, energy_args, first, count, (32 + 12) * sizeof(real) + 16, 300) {
    project_elements(a, &a->view, 4, first, count);
}

PBD_BATCH_OF(project_triangles, energy_args, first, count, (24 + 7) * sizeof(real) + 12, 250) {
    project_elements(a, &a->view, 3, first, count);
}

/* Work: particles of clusters, and elements. */
typedef struct energy_cluster_args {
    energy_args of; /* all elements */
    cluster_view clusters;
} energy_cluster_args;

PBD_TILE_OVER(project_tet_clusters, energy_cluster_args, cluster, 8 * sizeof(real) + 4, 0, 12 * sizeof(real) + 16,
              300) {
    CLUSTER_SWEEP(&a->clusters, &a->of.view, cluster, project_elements(&a->of, &at, 4, first, count));
}

PBD_BATCH_OF(store_tet_impulses, energy_args, first, count, (32 + 13) * sizeof(real) + 16, 300) {
    store_impulses(a, 4, first, count);
}

PBD_BATCH_OF(store_triangle_impulses, energy_args, first, count, (24 + 8) * sizeof(real) + 12, 250) {
    store_impulses(a, 3, first, count);
}

/* ---- Rows of the system of all constraints ----------------------------------------------------------------------- */

/* Entry k of element e is at [e + k * stride] (global_solve.h). */
typedef struct row_args {
    energy_args energy;
    real *gradient, *left; /* of C by the corners, 12 per element; C + alpha lambda */
} row_args;

/* C = sqrt(2 psi). Where psi is 0, C has no gradient, and its multiplier does not change. */
PBD_BATCH_OF(store_tet_rows, row_args, first, count, (28 + 14) * sizeof(real) + 16, 270) {
    element e;
    vvec3 gradient[4];
    const energy_args *of = &a->energy;
    const vreal none = vreal_set(0);
    element_load(&of->view, 4, first, count, &e);
    const vstressed s = element_stress(of, element_deformation_gradient(&e, 4), first, count);
    element_gradients(&e, 4, s.p, gradient);
    const vreal c = vreal_sqrt(vreal_where(s.psi < 0, none, 2 * s.psi)), each = vreal_where(c == 0, none, 1 / c);
    const vreal left = energy_residual((int)of->form, of->compliance, s.psi, batch_load(of->view.size, first, count),
                                       batch_load(of->multiplier, first, count));
    batch_store(a->left, first, count, vreal_where(c == 0, none, left));
    vector_store_gradient(&of->view, a->gradient, 0, first, count, each, gradient);
}

/* ---- Plastic flow ------------------------------------------------------------------------------------------------ */

typedef struct flow_args {
    element_view view;
    real *plastic; /* PLASTIC_ENTRIES per element */
    real yield;    /* largest norm of the elastic Green strain */
    real creep;    /* fraction of the strain beyond yield that flows in a step */
    real_bits deviatoric, none;
} flow_args;

PBD_FN void flow(const flow_args *a, int corners, size_t first, int count) {
    element e;
    element_load(&a->view, corners, first, count, &e);
    const vsymmetric old = plastic_load(a->plastic, a->view.stride, first, count);
    const vmat3 f = element_deformation_gradient(&e, corners);
    plastic_store(a->plastic, a->view.stride, first, count,
                  vplastic_flow(f, old, a->yield, a->creep, (int)a->deviatoric));
}

PBD_BATCH_OF(flow_tets, flow_args, first, count, (16 + 21) * sizeof(real) + 16, 120) { flow(a, 4, first, count); }

PBD_BATCH_OF(flow_triangles, flow_args, first, count, (12 + 16) * sizeof(real) + 12, 110) { flow(a, 3, first, count); }

/* ---- Idle constraints -------------------------------------------------------------------------------------------- */

enum { IDLE_BLOCK = 16, IDLE_SUMS = 2 };

typedef struct idle_args {
    energy_args energy;
    size_t elements;
    real *idle; /* IDLE_SUMS per block. count_idle_*: number of idle constraints; number of those whose psi is NaN.
                   sum_*_residuals: sum of squares of the residuals; 0 */
} idle_args;

PBD_FN void count_idle(const idle_args *a, int corners, size_t block) {
    const size_t end = (block + 1) * IDLE_BLOCK < a->elements ? (block + 1) * IDLE_BLOCK : a->elements;
    real idle = 0, undefined = 0;
    for (size_t first = block * IDLE_BLOCK; first < end; first += PBD_BATCH) {
        const int count = end - first < PBD_BATCH ? (int)(end - first) : PBD_BATCH;
        element e;
        vvec3 gradient[4];
        real psi[PBD_BATCH], q[PBD_BATCH];
        element_load(&a->energy.view, corners, first, count, &e);
        vstressed s = element_stress(&a->energy, element_deformation_gradient(&e, corners), first, count);
        element_gradients(&e, corners, s.p, gradient);
        batch_store(psi, 0, PBD_BATCH, s.psi);
        batch_store(q, 0, PBD_BATCH, element_weight(&e, corners, gradient));
        for (int l = 0; l < count; l++) {
            const real none = psi[l] == psi[l] ? 0 : 1; /* psi is NaN */
            idle += psi[l] > 0 && !(q[l] > 0) ? 1 : none;
            undefined += none;
        }
    }
    a->idle[IDLE_SUMS * block] = idle;
    a->idle[IDLE_SUMS * block + 1] = undefined;
}

PBD_ITEM(count_idle_tets, idle_args, block, IDLE_BLOCK *(28 * sizeof(real) + 16), IDLE_BLOCK * 280) {
    count_idle(a, 4, block);
}

PBD_ITEM(count_idle_triangles, idle_args, block, IDLE_BLOCK *(19 * sizeof(real) + 12), IDLE_BLOCK * 230) {
    count_idle(a, 3, block);
}

PBD_FN void sum_residuals(const idle_args *a, int corners, size_t block) {
    const size_t end = (block + 1) * IDLE_BLOCK < a->elements ? (block + 1) * IDLE_BLOCK : a->elements;
    const energy_args *of = &a->energy;
    real sum = 0;
    for (size_t first = block * IDLE_BLOCK; first < end; first += PBD_BATCH) {
        const int count = end - first < PBD_BATCH ? (int)(end - first) : PBD_BATCH;
        element e;
        vreal lambda = vreal_set(0);
        real left[PBD_BATCH];
        element_load(&of->view, corners, first, count, &e);
        const vstressed s = element_stress(of, element_deformation_gradient(&e, corners), first, count);
        if (of->form != ENERGY_PBD) lambda = batch_load(of->multiplier, first, count);
        batch_store(
            left, 0, PBD_BATCH,
            energy_residual((int)of->form, of->compliance, s.psi, batch_load(of->view.size, first, count), lambda));
        for (int l = 0; l < count; l++) sum += left[l] * left[l];
    }
    a->idle[IDLE_SUMS * block] = sum;
    a->idle[IDLE_SUMS * block + 1] = 0;
}

PBD_ITEM(sum_tet_residuals, idle_args, block, IDLE_BLOCK *(28 * sizeof(real) + 16), IDLE_BLOCK * 260) {
    sum_residuals(a, 4, block);
}

PBD_ITEM(sum_triangle_residuals, idle_args, block, IDLE_BLOCK *(19 * sizeof(real) + 12), IDLE_BLOCK * 210) {
    sum_residuals(a, 3, block);
}

#endif
