/* Kernels of total-Lagrangian SPH with hourglass control (README.md): the middle of a step, stresses there, forces and
 * the end of the step.
 *
 *     f_i = V_i P_i B_i - sum_j V_j P_j b_ji + sum_j h_ij,   B_i = sum_j b_ij
 *     energy:  h_ij = -s_ij (E_i eps_ij + E_j eps_ji),   s_ij = xi V_i V_j |W'_ij|/|X_ij|
 *     central: h_ij = -s_ij (E_i + E_j)/2 (eps_ij + eps_ji) . e_ij e_ij,   s_ij = xi/2 V_i V_j W_ij/|X_ij|^2
 *     eps_ij = F_i X_ij - x_ij,  eps_ji = F_j X_ij - x_ij,  x_ij = x_j - x_i,  e_ij = x_ij/|x_ij|
 *
 * The first two terms are minus the gradient of sum V psi(F), in pairs V_i P_i b_ij - V_j P_j b_ji. The energy form of
 * control is minus that of sum_ij xi/2 E_i V_i V_j |W'_ij|/|X_ij| |eps_ij|^2: F is the least-squares fit with these
 * weights, so its derivative drops out. The central form is Ganzenmueller's (2015). All sums are in gather form.
 */
#ifndef PBD_TLSPH_KERNELS_H
#define PBD_TLSPH_KERNELS_H

#include "methods/physics/device/particle_kernels.h"
#include "methods/physics/matter/laws.h"
#include "methods/physics/parts/particle_view.h"

enum { TLSPH_STRESS = 0, TLSPH_STRETCH = 3, TLSPH_ROWS = 6 };

typedef struct tlsph_args {
    particle_view view;      /* places; p: positions in the middle of the step */
    const real *pair;        /* rows x 4 x PARTICLE_SLICE: X_ij, m, and s_ij, m; NULL: no control */
    const real *mu, *lambda; /* by place, in units of `unit`; NULL: those of the law */
    real *state;             /* TLSPH_ROWS rows of 4 by place: the columns of V P, m^3, and of F, with E as fourth
                                number. V P and E in units of `unit` */
    const real *v, *a;       /* rows of 4: velocities, accelerations by loads */
    real *kick, *p, *free;   /* rows of 4, at the end of the step: velocities; positions with and without contact */
    hyperelastic law;        /* moduli in units of `unit` */
    fibre_set fibre;         /* likewise */
    real dt, scale;          /* s; unit, Pa */
    real_bits central, none;
} tlsph_args;

typedef struct tlsph_drift_args {
    const real *x, *v;
    real *middle;
    real half, none; /* s: half a step; 0 */
} tlsph_drift_args;

PBD_ITEM(tlsph_drift, tlsph_drift_args, i, 12 * sizeof(real), 6) {
    for (size_t d = 4 * i; d < 4 * i + 3; d++) a->middle[d] = a->x[d] + a->half * a->v[d];
    a->middle[4 * i + 3] = a->x[4 * i + 3];
}

PBD_FN void tlsph_store(const tlsph_args *a, int first_row, vmat3 m, vreal fourth, size_t first, int count) {
    const vvec3 column[3] = {m.x, m.y, m.z};
    for (int c = 0; c < 3; c++) {
        const vreal row[4] = {column[c].x, column[c].y, column[c].z, fourth};
        batch_store_strided(a->state, TLSPH_ROWS * first + (size_t)(first_row + c), TLSPH_ROWS, count, row);
    }
}

/* V P and F of each particle. Work: particles and their neighbours. */
PBD_BATCH_OVER(tlsph_stress, tlsph_args, first, count, 33 * sizeof(real) + 4, 250, 7 * sizeof(real) + 4, 21) {
    vreal own[4];
    const vmat3 f = particle_deformation_gradient(&a->view, first, count, own);
    vhyperelastic law = vhyperelastic_of(a->law);
    if (a->mu) {
        law.mu = batch_load(a->mu, first, count);
        law.lambda = batch_load(a->lambda, first, count);
    }
    vstressed s = vstress(law, f);
    vadd_fibres(&s, f, &a->fibre);
    const vreal young = law.mu * (3 * law.lambda + 2 * law.mu) / (law.lambda + law.mu);
    tlsph_store(a, TLSPH_STRESS, vmat3_scale(batch_load(a->view.volume, first, count), s.p), vreal_set(0), first,
                count);
    tlsph_store(a, TLSPH_STRETCH, f, young, first, count);
}

/* Three rows of the state of particles `index`; *fourth: the fourth entry of the first. */
PBD_FN vmat3 tlsph_load(const tlsph_args *a, int first_row, const uint32_t *index, int count, vreal *fourth) {
    uint32_t at[PBD_BATCH];
    vreal row[3][4];
    for (int l = 0; l < PBD_BATCH; l++) at[l] = TLSPH_ROWS * index[l < count ? l : count - 1] + (uint32_t)first_row;
    for (int c = 0; c < 3; c++) batch_load_rows(a->state + 4 * c, at, 1, count, row[c]);
    *fourth = row[0][3];
    return vmat3_make(vvec3_make(row[0][0], row[0][1], row[0][2]), vvec3_make(row[1][0], row[1][1], row[1][2]),
                      vvec3_make(row[2][0], row[2][1], row[2][2]));
}

/* h_ij of d = x_ij and the two eps; 0 in padding rows, where all is 0. */
PBD_FN vvec3 tlsph_control(int central, vvec3 eps, vvec3 other, vreal young, vreal other_young, vreal spring, vvec3 d) {
    if (!central) return vvec3_scale(-spring, vvec3_add(vvec3_scale(young, eps), vvec3_scale(other_young, other)));
    const vreal square = vvec3_dot(d, d), mean = (real)0.5 * (young + other_young);
    const vreal inverse = vreal_where(square > 0, 1 / square, vreal_set(0));
    return vvec3_scale(-spring * mean * inverse * vvec3_dot(vvec3_add(eps, other), d), d);
}

/* Forces, then velocities and positions at the end of the step. Work: particles and their neighbours. */
PBD_BATCH_OVER(tlsph_force, tlsph_args, first, count, 52 * sizeof(real) + 4, 60, 35 * sizeof(real) + 4, 75) {
    const particle_view *v = &a->view;
    const size_t slice = first / PARTICLE_SLICE, lane = first % PARTICLE_SLICE;
    const uint32_t end = v->slice[slice + 1], *own = v->own + first;
    vreal x[4], other[4], speed[4], load[4], young, other_young, none;
    const vmat3 stretch = tlsph_load(a, TLSPH_STRETCH, own, count, &young);
    batch_load_rows(v->p, own, 1, count, x);
    vvec3 sum = vmat3_apply(tlsph_load(a, TLSPH_STRESS, own, count, &none), particle_sum(v, first, count));
    for (size_t row = v->slice[slice]; row < end; row++) {
        const uint32_t *at = v->neighbour + row * PARTICLE_SLICE + lane;
        const vvec3 back = particle_edge(v->reverse, row, lane);
        particle_prefetch_neighbours(v, row, lane);
        particle_prefetch(v->reverse, 3, row, lane);
        sum = vvec3_sub(sum, vmat3_apply(tlsph_load(a, TLSPH_STRESS, at, count, &none), back));
        if (!a->pair) continue;
        const real *pair = a->pair + row * 4 * PARTICLE_SLICE + lane;
        particle_prefetch(a->pair, 4, row, lane);
        const vvec3 rest = vvec3_make(batch_load(pair, 0, PBD_BATCH), batch_load(pair, PARTICLE_SLICE, PBD_BATCH),
                                      batch_load(pair, 2 * PARTICLE_SLICE, PBD_BATCH));
        batch_load_rows(v->p, at, 1, count, other);
        const vvec3 d = vvec3_make(other[0] - x[0], other[1] - x[1], other[2] - x[2]);
        const vvec3 eps = vvec3_sub(vmat3_apply(stretch, rest), d);
        const vmat3 f = tlsph_load(a, TLSPH_STRETCH, at, count, &other_young);
        const vreal spring = batch_load(pair, 3 * PARTICLE_SLICE, PBD_BATCH);
        sum = vvec3_add(sum, tlsph_control((int)a->central, eps, vvec3_sub(vmat3_apply(f, rest), d), young, other_young,
                                           spring, d));
    }
    batch_load_rows(a->v, own, 1, count, speed);
    batch_load_rows(a->a, own, 1, count, load);
    const vvec3 push = vvec3_scale(a->scale * x[3], sum), by = vvec3_make(load[0], load[1], load[2]);
    const vvec3 gain = vvec3_scale(vreal_set(a->dt), vvec3_add(push, by));
    const vreal half = vreal_set(a->dt / 2);
    const vreal later[4] = {speed[0] + gain.x, speed[1] + gain.y, speed[2] + gain.z, vreal_set(0)};
    const vreal place[4] = {x[0] + half * later[0], x[1] + half * later[1], x[2] + half * later[2], x[3]};
    batch_store_rows(a->kick, own, 1, count, later);
    batch_store_rows(a->p, own, 1, count, place);
    batch_store_rows(a->free, own, 1, count, place);
}

/* Energy of control=energy by particle, E_i/2 sum_j s_ij |eps_ij|^2, in units of `unit`: written as the first number of
 * its row of `kick`. Work: particles and their neighbours. */
PBD_BATCH_OVER(tlsph_control_energy, tlsph_args, first, count, 18 * sizeof(real) + 4, 3, 11 * sizeof(real) + 4, 30) {
    const particle_view *v = &a->view;
    const size_t slice = first / PARTICLE_SLICE, lane = first % PARTICLE_SLICE;
    const uint32_t end = v->slice[slice + 1], *own = v->own + first;
    vreal x[4], other[4], young, twice = vreal_set(0);
    const vmat3 stretch = tlsph_load(a, TLSPH_STRETCH, own, count, &young);
    batch_load_rows(v->p, own, 1, count, x);
    for (size_t row = v->slice[slice]; row < end; row++) {
        const real *pair = a->pair + row * 4 * PARTICLE_SLICE + lane;
        const vvec3 rest = vvec3_make(batch_load(pair, 0, PBD_BATCH), batch_load(pair, PARTICLE_SLICE, PBD_BATCH),
                                      batch_load(pair, 2 * PARTICLE_SLICE, PBD_BATCH));
        batch_load_rows(v->p, v->neighbour + row * PARTICLE_SLICE + lane, 1, count, other);
        const vvec3 eps =
            vvec3_sub(vmat3_apply(stretch, rest), vvec3_make(other[0] - x[0], other[1] - x[1], other[2] - x[2]));
        twice += batch_load(pair, 3 * PARTICLE_SLICE, PBD_BATCH) * vvec3_dot(eps, eps);
    }
    const vreal none = vreal_set(0), energy[4] = {(real)0.5 * young * twice, none, none, none};
    batch_store_rows(a->kick, own, 1, count, energy);
}

typedef struct tlsph_finish_args {
    const real *p, *free, *kick;
    real *v;
    real keep, none; /* keep: exp(-damping dt) */
} tlsph_finish_args;

/* Runs after `advance`, which sets v = (p - x)/dt, and gives particles without contact the velocity by forces instead:
 * in f32 the difference of positions over a short step would be mostly rounding error. */
PBD_ITEM(tlsph_finish, tlsph_finish_args, i, 16 * sizeof(real), 3) {
    const size_t at = 4 * i;
    if (a->p[at] != a->free[at] || a->p[at + 1] != a->free[at + 1] || a->p[at + 2] != a->free[at + 2]) return;
    for (size_t d = at; d < at + 3; d++) a->v[d] = a->kick[d] * a->keep;
}

#endif
