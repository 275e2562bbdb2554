/* Kernels for one strain energy constraint per particle: a function of the energy density psi(F), with F from the
 * neighbours at rest (shape_gradients.h). Forms of the constraint: energy_constraint.h.
 *
 * With the rest gradients b_ij, B_i = sum_j b_ij and P = dpsi/dF, the gradients of psi_i are h_j = P_i b_ij with
 * respect to a neighbour and -P_i B_i with respect to the particle itself (cao2023 Eq. 9). Their weighted sum of
 * squares, in the paper a loop over neighbours, is a quadratic form in P with a constant matrix:
 *
 *     Q_i = sum_j w_j |P b_ij|^2 + w_i |P B_i|^2 = tr(P K_i P^T),   K_i = sum_j w_j b_ij b_ij^T + w_i B_i B_i^T
 *
 * A projection thus visits its neighbours only twice: once for F, once to move them. Constraints are stored in the
 * slices of particle_view.h. */
#ifndef PBD_PARTICLE_ENERGY_KERNELS_H
#define PBD_PARTICLE_ENERGY_KERNELS_H

#include "methods/physics/device/particle_kernels.h"
#include "methods/physics/matter/energy_constraint.h"
#include "methods/physics/parts/particle_view.h"

typedef struct particle_energy_args {
    particle_view view;
    hyperelastic law;    /* moduli in units of `unit` */
    fibre_set fibre;     /* likewise */
    const real *plastic; /* Green strain, PLASTIC_ENTRIES by constraint; NULL: elastic */
    real *multiplier;    /* by constraint; XPBD */
    real compliance;     /* energy_constraint.h */
    real share;          /* factor of the correction */
    int form, spare[3];  /* no padding at the end: exec.h, repeats */
} particle_energy_args;

/* tr(P K P^T), by the columns of P. */
PBD_FN vreal particle_weight(const particle_view *v, vmat3 p, size_t first, int count) {
    vreal k[6];
    for (int e = 0; e < 6; e++) k[e] = particle_entry(v, v->weight, e, first, count);
    return k[0] * vvec3_dot(p.x, p.x) + k[1] * vvec3_dot(p.y, p.y) + k[2] * vvec3_dot(p.z, p.z) +
           2 * (k[3] * vvec3_dot(p.x, p.y) + k[4] * vvec3_dot(p.y, p.z) + k[5] * vvec3_dot(p.z, p.x));
}

PBD_FN vstressed particle_stress(const particle_energy_args *a, vmat3 f, size_t first, int count) {
    vstressed s = vstress(vhyperelastic_of(a->law), f);
    vadd_fibres(&s, f, &a->fibre);
    if (a->plastic)
        vadd_plastic(&s, f, vreal_set(a->law.mu), vreal_set(a->law.lambda),
                     plastic_load(a->plastic, a->view.stride, first, count));
    return s;
}

/* s P of each constraint. */
PBD_FN vmat3 particle_correction(const particle_energy_args *a, size_t first, int count, vreal own[4]) {
    const vmat3 f = particle_deformation_gradient(&a->view, first, count, own);
    const vstressed at = particle_stress(a, f, first, count);
    const vreal q = particle_weight(&a->view, at.p, first, count);
    vreal lambda = vreal_set(0), multiplier = lambda;
    if (a->form != ENERGY_PBD) lambda = batch_load(a->multiplier, first, count);
    const vreal s = energy_factor(a->form, a->compliance, at.psi, q, batch_load(a->view.volume, first, count),
                                  vreal_set(a->share), lambda, &multiplier);
    if (a->form != ENERGY_PBD) batch_store(a->multiplier, first, count, multiplier);
    return vmat3_scale(s, at.p);
}

/* ---- Coloured Gauss-Seidel: move at once ------------------------------------------------------------------------- */

PBD_FN void move_row(vreal x[4], vvec3 by) {
    x[0] += x[3] * by.x;
    x[1] += x[3] * by.y;
    x[2] += x[3] * by.z;
}

/* Work of these kernels: constraints and their neighbours. */
PBD_BATCH_OVER(project_particles, particle_energy_args, first, count, 18 * sizeof(real) + 4, 300, 11 * sizeof(real) + 4,
               50) {
    const particle_view *v = &a->view;
    const size_t slice = first / PARTICLE_SLICE, lane = first % PARTICLE_SLICE;
    const uint32_t end = v->slice[slice + 1];
    vreal own[4];
    const vmat3 step = particle_correction(a, first, count, own);
    for (size_t row = v->slice[slice]; row < end; row++) {
        const uint32_t *at = v->neighbour + row * PARTICLE_SLICE + lane;
        vreal x[4];
        batch_load_rows(v->p, at, 1, count, x);
        move_row(x, vmat3_apply(step, particle_edge(v->gradient, row, lane)));
        batch_store_rows(v->p, at, 1, count, x);
    }
    /* Last, since padding rows are the particle's own. */
    move_row(own, vmat3_apply(step, vvec3_scale(vreal_set(-1), particle_sum(v, first, count))));
    batch_store_rows(v->p, v->own + first, 1, count, own);
}

/* ---- Hourglass control: a second constraint of each particle ----------------------------------------------------- */

/* psi_i = kappa/2 sum_j w_ij |eps_ij|^2, eps_ij = F_i X_ij - x_ij, which is 0 for affine motions. Its gradient with
 * respect to a neighbour is g_j = kappa (S_i b_ij - w_ij eps_ij) with S_i = sum_j w_ij eps_ij X_ij^T, and with respect
 * to the particle itself -sum_j g_j. With these weights, F without kernel correction is a least-squares fit, for which
 * S_i is 0. */
typedef struct particle_hourglass_args {
    particle_energy_args of; /* multiplier: that of hourglass control */
    const real *pair;        /* rows x 4 x PARTICLE_SLICE: X_ij, m, and w_ij, 1/m^2 */
    real *residual;          /* output of the measure_hourglass kernels, by particle */
    real stiffness, none;    /* kappa, in units of `unit`; 0 */
} particle_hourglass_args;

typedef struct particle_deviation {
    vvec3 eps, edge; /* edge: b_ij */
    vreal w;
    vreal x[4]; /* the neighbour's row */
    vvec3 rest;
} particle_deviation;

PBD_FN particle_deviation particle_deviation_of(const particle_hourglass_args *a, vmat3 f, const vreal own[4],
                                                size_t row, size_t lane, int count) {
    const particle_view *v = &a->of.view;
    const real *pair = a->pair + row * 4 * PARTICLE_SLICE + lane;
    particle_deviation out;
    batch_load_rows(v->p, v->neighbour + row * PARTICLE_SLICE + lane, 1, count, out.x);
    out.rest = vvec3_make(batch_load(pair, 0, PBD_BATCH), batch_load(pair, PARTICLE_SLICE, PBD_BATCH),
                          batch_load(pair, 2 * PARTICLE_SLICE, PBD_BATCH));
    out.w = batch_load(pair, 3 * PARTICLE_SLICE, PBD_BATCH);
    out.edge = particle_edge(v->gradient, row, lane);
    out.eps = vvec3_sub(vmat3_apply(f, out.rest), vvec3_make(out.x[0] - own[0], out.x[1] - own[1], out.x[2] - own[2]));
    return out;
}

/* Returns psi_i/kappa; *pull becomes S_i. */
PBD_FN vreal particle_hourglass_energy(const particle_hourglass_args *a, vmat3 f, const vreal own[4], size_t first,
                                       int count, vmat3 *pull) {
    const size_t slice = first / PARTICLE_SLICE, lane = first % PARTICLE_SLICE;
    const uint32_t end = a->of.view.slice[slice + 1];
    vreal twice = vreal_set(0);
    *pull = vmat3_scale(vreal_set(0), vmat3_identity());
    for (size_t row = a->of.view.slice[slice]; row < end; row++) {
        const particle_deviation d = particle_deviation_of(a, f, own, row, lane, count);
        const vvec3 weighted = vvec3_scale(d.w, d.eps);
        twice += vvec3_dot(weighted, d.eps);
        *pull = vmat3_add(*pull, vmat3_outer(weighted, d.rest));
    }
    return (real)0.5 * twice;
}

PBD_FN vvec3 particle_hourglass_gradient(vmat3 pull, particle_deviation d) {
    return vvec3_sub(vmat3_apply(pull, d.edge), vvec3_scale(d.w, d.eps));
}

/* Launched after project_particles of the same colour. */
PBD_BATCH_OVER(project_hourglass, particle_hourglass_args, first, count, 18 * sizeof(real) + 4, 60,
               15 * sizeof(real) + 4, 160) {
    const particle_energy_args *e = &a->of;
    const particle_view *v = &e->view;
    const size_t slice = first / PARTICLE_SLICE, lane = first % PARTICLE_SLICE;
    const uint32_t end = v->slice[slice + 1];
    vreal own[4], lambda = vreal_set(0), multiplier = lambda, q = lambda;
    vmat3 pull;
    vvec3 sum = vvec3_make(q, q, q);
    const vmat3 f = particle_deformation_gradient(v, first, count, own);
    const vreal k = vreal_set(a->stiffness), psi = k * particle_hourglass_energy(a, f, own, first, count, &pull);
    for (size_t row = v->slice[slice]; row < end; row++) {
        const particle_deviation d = particle_deviation_of(a, f, own, row, lane, count);
        const vvec3 g = particle_hourglass_gradient(pull, d);
        q += d.x[3] * vvec3_dot(g, g);
        sum = vvec3_add(sum, g);
    }
    q = k * k * (q + own[3] * vvec3_dot(sum, sum));
    if (e->form != ENERGY_PBD) lambda = batch_load(e->multiplier, first, count);
    const vreal s = k * energy_factor(e->form, e->compliance, psi, q, batch_load(v->volume, first, count),
                                      vreal_set(e->share), lambda, &multiplier);
    if (e->form != ENERGY_PBD) batch_store(e->multiplier, first, count, multiplier);
    for (size_t row = v->slice[slice]; row < end; row++) {
        particle_deviation d = particle_deviation_of(a, f, own, row, lane, count);
        move_row(d.x, vvec3_scale(s, particle_hourglass_gradient(pull, d)));
        batch_store_rows(v->p, v->neighbour + row * PARTICLE_SLICE + lane, 1, count, d.x);
    }
    move_row(own, vvec3_scale(-s, sum)); /* last, as in project_particles */
    batch_store_rows(v->p, v->own + first, 1, count, own);
}

/* This and the next kernel, like all that only measure, are launched over all slots. */
PBD_BATCH_OVER(measure_hourglass, particle_hourglass_args, first, count, 7 * sizeof(real) + 4, 40,
               11 * sizeof(real) + 4, 60) {
    const particle_energy_args *e = &a->of;
    vreal own[4], lambda = vreal_set(0);
    vmat3 pull;
    const vmat3 f = particle_deformation_gradient(&e->view, first, count, own);
    const vreal psi = vreal_set(a->stiffness) * particle_hourglass_energy(a, f, own, first, count, &pull);
    if (e->form != ENERGY_PBD) lambda = batch_load(e->multiplier, first, count);
    real left[PBD_BATCH];
    batch_store(left, 0, PBD_BATCH,
                energy_residual(e->form, e->compliance, psi, batch_load(e->view.volume, first, count), lambda));
    for (int l = 0; l < count; l++)
        if (particle_is_there(&e->view, first + (size_t)l)) a->residual[e->view.own[first + (size_t)l]] = left[l];
}

/* V psi of each particle, in units of `unit`, into `residual`. */
PBD_BATCH_OVER(measure_hourglass_energy, particle_hourglass_args, first, count, 7 * sizeof(real) + 4, 24,
               11 * sizeof(real) + 4, 60) {
    const particle_view *v = &a->of.view;
    vreal own[4];
    vmat3 pull;
    const vmat3 f = particle_deformation_gradient(v, first, count, own);
    const vreal psi = vreal_set(a->stiffness) * particle_hourglass_energy(a, f, own, first, count, &pull);
    real energy[PBD_BATCH];
    batch_store(energy, 0, PBD_BATCH, psi * batch_load(v->volume, first, count));
    for (int l = 0; l < count; l++)
        if (particle_is_there(v, first + (size_t)l)) a->residual[v->own[first + (size_t)l]] = energy[l];
}

/* ---- Jacobi: first s P of every constraint, then the sum of every particle (cao2023 Eq. 11; C-15) ---------------- */

PBD_BATCH_OVER(store_particle_impulses, particle_energy_args, first, count, 23 * sizeof(real) + 4, 300,
               7 * sizeof(real) + 4, 21) {
    vreal own[4];
    const vmat3 step = particle_correction(a, first, count, own);
    const vvec3 column[3] = {step.x, step.y, step.z};
    for (int c = 0; c < 3; c++) {
        const vreal row[4] = {column[c].x, column[c].y, column[c].z, vreal_set(0)};
        batch_store_strided(a->view.impulse, 3 * first + (size_t)c, 3, count, row);
    }
}

PBD_BATCH_OVER(gather_particle_impulses, particle_energy_args, first, count, 23 * sizeof(real) + 4, 21,
               15 * sizeof(real) + 4, 18) {
    const particle_view *v = &a->view;
    const size_t slice = first / PARTICLE_SLICE, lane = first % PARTICLE_SLICE;
    const uint32_t end = v->slice[slice + 1];
    uint32_t at[PBD_BATCH];
    vreal t[3][4];
    vvec3 sum = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    for (size_t row = v->slice[slice]; row < end; row++) {
        particle_prefetch_neighbours(v, row, lane);
        particle_prefetch(v->reverse, 3, row, lane);
        for (int l = 0; l < PBD_BATCH; l++) at[l] = 3 * v->neighbour[row * PARTICLE_SLICE + lane + (size_t)l];
        for (int c = 0; c < 3; c++) batch_load_rows(v->impulse + 4 * c, at, 1, count, t[c]);
        const vvec3 b = particle_edge(v->reverse, row, lane);
        sum.x += t[0][0] * b.x + t[1][0] * b.y + t[2][0] * b.z;
        sum.y += t[0][1] * b.x + t[1][1] * b.y + t[2][1] * b.z;
        sum.z += t[0][2] * b.x + t[1][2] * b.y + t[2][2] * b.z;
    }
    for (int l = 0; l < PBD_BATCH; l++) at[l] = 3 * (uint32_t)(first + (size_t)(l < count ? l : count - 1));
    for (int c = 0; c < 3; c++) batch_load_rows(v->impulse + 4 * c, at, 1, count, t[c]);
    const vvec3 b = particle_sum(v, first, count);
    sum.x -= t[0][0] * b.x + t[1][0] * b.y + t[2][0] * b.z;
    sum.y -= t[0][1] * b.x + t[1][1] * b.y + t[2][1] * b.z;
    sum.z -= t[0][2] * b.x + t[1][2] * b.y + t[2][2] * b.z;
    vreal own[4];
    batch_load_rows(v->p, v->own + first, 1, count, own);
    move_row(own, sum);
    batch_store_rows(v->p, v->own + first, 1, count, own);
}

/* ---- Plastic flow ------------------------------------------------------------------------------------------------ */

typedef struct particle_flow_args {
    particle_view view;
    real *plastic;
    real yield, creep; /* as for plastic_flow of plasticity.h */
    real_bits deviatoric, none;
} particle_flow_args;

PBD_BATCH_OVER(flow_particles, particle_flow_args, first, count, (4 + 2 * PLASTIC_ENTRIES) * sizeof(real) + 4, 100,
               7 * sizeof(real) + 4, 21) {
    vreal own[4];
    const vmat3 f = particle_deformation_gradient(&a->view, first, count, own);
    const vsymmetric old = plastic_load(a->plastic, a->view.stride, first, count);
    plastic_store(a->plastic, a->view.stride, first, count,
                  vplastic_flow(f, old, a->yield, a->creep, (int)a->deviatoric));
}

/* ---- Measurements ------------------------------------------------------------------------------------------------ */

typedef struct particle_measure_args {
    particle_energy_args energy;
    real *gradient; /* 9 by particle, row by row: F */
    real *density;  /* by particle: psi, in units of `unit` */
    real *idle;     /* by particle: 1 where there is energy but no gradient, 2 where psi is NaN; for
                       measure_particle_residuals: the residual */
} particle_measure_args;

PBD_BATCH_OVER(measure_particles, particle_measure_args, first, count, 21 * sizeof(real) + 4, 300, 7 * sizeof(real) + 4,
               21) {
    const particle_view *v = &a->energy.view;
    vreal own[4];
    const vmat3 f = particle_deformation_gradient(v, first, count, own);
    const vstressed s = particle_stress(&a->energy, f, first, count);
    const vreal q = particle_weight(v, s.p, first, count);
    const vreal entry[9] = {f.x.x, f.y.x, f.z.x, f.x.y, f.y.y, f.z.y, f.x.z, f.y.z, f.z.z};
    real lane[PBD_BATCH], psi[PBD_BATCH], weight[PBD_BATCH];
    for (int e = 0; e < 9; e++) {
        batch_store(lane, 0, PBD_BATCH, entry[e]);
        for (int l = 0; l < count; l++)
            if (particle_is_there(v, first + (size_t)l))
                a->gradient[9 * (size_t)v->own[first + (size_t)l] + (size_t)e] = lane[l];
    }
    batch_store(psi, 0, PBD_BATCH, s.psi);
    batch_store(weight, 0, PBD_BATCH, q);
    for (int l = 0; l < count; l++) {
        const size_t particle = v->own[first + (size_t)l];
        if (!particle_is_there(v, first + (size_t)l)) continue;
        a->density[particle] = psi[l];
        a->idle[particle] = psi[l] == psi[l] ? (real)(psi[l] > 0 && !(weight[l] > 0)) : 2;
    }
}

PBD_BATCH_OVER(measure_particle_residuals, particle_measure_args, first, count, 7 * sizeof(real) + 4, 250,
               7 * sizeof(real) + 4, 21) {
    const particle_energy_args *e = &a->energy;
    vreal own[4], lambda = vreal_set(0);
    const vmat3 f = particle_deformation_gradient(&e->view, first, count, own);
    if (e->form != ENERGY_PBD) lambda = batch_load(e->multiplier, first, count);
    real left[PBD_BATCH];
    batch_store(left, 0, PBD_BATCH,
                energy_residual(e->form, e->compliance, particle_stress(e, f, first, count).psi,
                                batch_load(e->view.volume, first, count), lambda));
    for (int l = 0; l < count; l++)
        if (particle_is_there(&e->view, first + (size_t)l)) a->idle[e->view.own[first + (size_t)l]] = left[l];
}

#endif
