/* Kernels of strain_energy: one constraint per element, a function of its energy density psi(F).
 *
 * With h_k the gradients of psi by the corners (columns of P B^T) and Q = sum w_k |h_k|^2 the correction is
 * delta x_k = w_k s h_k, where
 *
 *     pbd         C = V psi, no compliance:       s = -psi / Q                               continuum; V cancels
 *     xpbd        C = psi, alpha = 1:             s = d lambda = -(psi + a lambda)/(Q + a),  a = 1/dt^2
 *                                                                                             cao2023 Eq. 10, as
 * printed xpbd_root   C = sqrt(2 psi), alpha = 1/V:   s = d lambda / C, d lambda = -(C + a lambda) C^2/(Q + a C^2),  a
 * = 1/(V dt^2)                 C-1: the physical one
 *
 * The last is the usual d lambda with both sides of its fraction times C^2: grad C = h/C is 0/0 at rest, Q and C are
 * not. Moduli come divided by a power of two near E (`unit`), which changes no digit and keeps f32 from overflowing;
 * lambda and the compliances are scaled to match. Nothing is cut off: only where Q is 0 and no compliance is left is
 * there no direction to move in. NaN stays NaN, so that a state without an energy ends the run and is not passed
 * over. */
#ifndef PBD_STRAIN_ENERGY_KERNELS_H
#define PBD_STRAIN_ENERGY_KERNELS_H

#include "methods/physics/element_kernels.h"
#include "methods/physics/plasticity.h"

enum { ENERGY_PBD, ENERGY_XPBD, ENERGY_XPBD_ROOT };

typedef struct energy_args {
    element_view view;
    hyperelastic law;    /* moduli in units of `unit` */
    fibre_set fibre;     /* stiffnesses in units of `unit`; of triangles in the frame of B */
    const real *lying;   /* triangles with several fibres: where all but the first lie in that frame, 2 each by
                            element; NULL: as `fibre` says */
    const real *plastic; /* Green strain, PLASTIC_ENTRIES by element; NULL: elastic */
    real *multiplier;    /* by element; XPBD */
    real compliance;     /* 1/(unit^2 dt^2) or 1/(unit dt^2) */
    int form;
} energy_args;

/* ---- Energy and stress ------------------------------------------------------------------------------------------- */

PBD_FN vsymmetric plastic_load(const element_view *v, const real *plastic, size_t first, int count) {
    vsymmetric s;
    s.xx = element_entry(v, plastic, 0, first, count);
    s.yy = element_entry(v, plastic, 1, first, count);
    s.zz = element_entry(v, plastic, 2, first, count);
    s.xy = element_entry(v, plastic, 3, first, count);
    s.yz = element_entry(v, plastic, 4, first, count);
    s.zx = element_entry(v, plastic, 5, first, count);
    return s;
}

/* Only the first fibre has the same place in the frames of all triangles. */
PBD_FN vvec3 fibre_at(const energy_args *a, int k, size_t first, int count) {
    if (k == 0 || !a->lying) return vfibre_direction(&a->fibre, k);
    return vvec3_make(element_entry(&a->view, a->lying, 2 * k - 2, first, count),
                      element_entry(&a->view, a->lying, 2 * k - 1, first, count), vreal_set(0));
}

PBD_FN vstressed element_stress(const energy_args *a, vmat3 f, size_t first, int count) {
    vstressed s = vstress(vhyperelastic_of(a->law), f);
    for (int k = 0; k < a->fibre.count; k++)
        vadd_fibre(&s, f, fibre_at(a, k, first, count), vreal_set(a->fibre.stiffness[k]));
    if (a->plastic)
        vadd_plastic(&s, f, vreal_set(a->law.mu), vreal_set(a->law.lambda),
                     plastic_load(&a->view, a->plastic, first, count));
    return s;
}

/* ---- The correction ---------------------------------------------------------------------------------------------- */

/* s of the table above, and the new multiplier. `share`: what of its step the constraint takes. */
PBD_FN vreal energy_factor(const energy_args *a, vreal psi, vreal q, vreal share, size_t first, int count,
                           vreal *multiplier) {
    const vreal none = vreal_set(0);
    if (a->form == ENERGY_PBD) return vreal_where(q == 0, none, -share * psi / q);
    vreal lambda = batch_load(a->multiplier, first, count);
    if (a->form == ENERGY_XPBD) {
        vreal change = -share * (psi + a->compliance * lambda) / (q + a->compliance);
        *multiplier = lambda + change;
        return change;
    }
    /* psi is 0 at rest but for rounding, which may make it negative; NaN must stay. */
    vreal c = vreal_sqrt(vreal_where(psi < 0, none, 2 * psi));
    vreal alpha = a->compliance / batch_load(a->view.size, first, count), below = q + alpha * c * c;
    vreal s = vreal_where(below == 0, none, -share * (c + alpha * lambda) * c / below);
    *multiplier = lambda + s * c;
    return s;
}

PBD_FN vreal correction(const energy_args *a, int corners, size_t first, int count, element *e, vvec3 gradient[4]) {
    element_load(&a->view, corners, first, count, e);
    vmat3 f = element_deformation_gradient(e, corners);
    vstressed s = element_stress(a, f, first, count);
    element_gradients(e, corners, s.p, gradient);
    vreal share = vreal_set(1), multiplier;
    if (a->view.share) share = batch_load(a->view.share, first, count);
    vreal factor = energy_factor(a, s.psi, element_weight(e, corners, gradient), share, first, count, &multiplier);
    if (a->form != ENERGY_PBD) batch_store(a->multiplier, first, count, multiplier);
    return factor;
}

PBD_FN void project_elements(const energy_args *a, int corners, size_t first, int count) {
    element e;
    vvec3 gradient[4];
    vreal s = correction(a, corners, first, count, &e, gradient);
    element_move(&e, corners, s, gradient);
    element_store(&a->view, corners, first, count, &e);
}

PBD_FN void store_impulses(const energy_args *a, int corners, size_t first, int count) {
    element e;
    vvec3 gradient[4];
    vreal s = correction(a, corners, first, count, &e, gradient);
    element_store_impulse(&a->view, corners, first, count, s, gradient);
}

PBD_FN void project_tets(const energy_args *a, size_t first, int count) { project_elements(a, 4, first, count); }
PBD_BATCH_KERNEL(project_tets, energy_args, (32 + 12) * sizeof(real) + 16, 300)

PBD_FN void project_triangles(const energy_args *a, size_t first, int count) { project_elements(a, 3, first, count); }
PBD_BATCH_KERNEL(project_triangles, energy_args, (24 + 7) * sizeof(real) + 12, 250)

PBD_FN void store_tet_impulses(const energy_args *a, size_t first, int count) { store_impulses(a, 4, first, count); }
PBD_BATCH_KERNEL(store_tet_impulses, energy_args, (32 + 13) * sizeof(real) + 16, 300)

PBD_FN void store_triangle_impulses(const energy_args *a, size_t first, int count) {
    store_impulses(a, 3, first, count);
}
PBD_BATCH_KERNEL(store_triangle_impulses, energy_args, (24 + 8) * sizeof(real) + 12, 250)

/* ---- Plastic flow ------------------------------------------------------------------------------------------------ */

typedef struct flow_args {
    element_view view;
    real *plastic; /* PLASTIC_ENTRIES by element */
    real yield;    /* of the norm of the elastic Green strain */
    real creep;    /* share of the strain beyond yield that a step takes over, at most 1 */
    int deviatoric;
} flow_args;

PBD_FN void flow(const flow_args *a, int corners, size_t first, int count) {
    element e;
    element_load(&a->view, corners, first, count, &e);
    vsymmetric s = vplastic_flow(element_deformation_gradient(&e, corners),
                                 plastic_load(&a->view, a->plastic, first, count), a->yield, a->creep, a->deviatoric);
    const vreal entry[PLASTIC_ENTRIES] = {s.xx, s.yy, s.zz, s.xy, s.yz, s.zx};
    for (int k = 0; k < PLASTIC_ENTRIES; k++)
        batch_store(a->plastic + (size_t)k * a->view.stride, first, count, entry[k]);
}

PBD_FN void flow_tets(const flow_args *a, size_t first, int count) { flow(a, 4, first, count); }
PBD_BATCH_KERNEL(flow_tets, flow_args, (16 + 21) * sizeof(real) + 16, 120)

PBD_FN void flow_triangles(const flow_args *a, size_t first, int count) { flow(a, 3, first, count); }
PBD_BATCH_KERNEL(flow_triangles, flow_args, (12 + 16) * sizeof(real) + 12, 110)

/* ---- Constraints that cannot act --------------------------------------------------------------------------------- */

enum { IDLE_BLOCK = 256 };

typedef struct idle_args {
    energy_args energy;
    size_t elements;
    real *idle; /* by block: constraints with energy but no gradient to go down along */
} idle_args;

PBD_FN void count_idle(const idle_args *a, int corners, size_t block) {
    const size_t end = (block + 1) * IDLE_BLOCK < a->elements ? (block + 1) * IDLE_BLOCK : a->elements;
    real idle = 0;
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
        for (int l = 0; l < count; l++) idle += (real)(psi[l] > 0 && !(q[l] > 0));
    }
    a->idle[block] = idle;
}

PBD_FN void count_idle_tets(const idle_args *a, size_t block) { count_idle(a, 4, block); }
PBD_ITEM_KERNEL(count_idle_tets, idle_args, IDLE_BLOCK *(28 * sizeof(real) + 16), IDLE_BLOCK * 280)

PBD_FN void count_idle_triangles(const idle_args *a, size_t block) { count_idle(a, 3, block); }
PBD_ITEM_KERNEL(count_idle_triangles, idle_args, IDLE_BLOCK *(19 * sizeof(real) + 12), IDLE_BLOCK * 230)

#endif
