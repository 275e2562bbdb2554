/* Position correction of xpbi within the iterations: of pairs (Eq. 21) or, instead, of densities. Included by
 * xpbi_kernels.h. */
#ifndef PBD_XPBI_SEPARATION_KERNELS_H
#define PBD_XPBI_SEPARATION_KERNELS_H

#include "methods/xpbi/xpbi_constraint_kernels.h"

/* ---- Pairs nearer than `gap` are separated (Eq. 21) -------------------------------------------------------------- */

typedef struct xpbi_separate_args {
    xpbi_slices s;
    const real *x, *rest; /* rest: of xpbi_separate_at_rest */
    real *v;
    const xpbi_stage_numbers *stage; /* the next one follows it */
    real gap;                        /* m */
    real share;                      /* fraction of a pair's initial deficit that a step may correct */
    real dt;
} xpbi_separate_args;

/* The gap, or the distance in the shape at rest where that is less. */
PBD_FN vreal xpbi_gap_at_rest(const xpbi_separate_args *a, const uint32_t *own, const uint32_t *at) {
    vreal x[4], xb[4];
    batch_load_rows(a->rest, own, 1, PBD_BATCH, x);
    batch_load_rows(a->rest, at, 1, PBD_BATCH, xb);
    const vvec3 d = vvec3_make(x[0] - xb[0], x[1] - xb[1], x[2] - xb[2]);
    return vreal_min(vreal_set(a->gap), vreal_sqrt(vvec3_dot(d, d)));
}

/* Separates the row's pairs in the lanes `there`. x, v: of the own particles. at_rest is constant in each kernel. */
PBD_FN void xpbi_separate_row(const xpbi_separate_args *a, int at_rest, const uint32_t *own, const uint32_t *at,
                              vmask there, const vreal x[4], vreal v[4]) {
    vreal xb[4], vb[4];
    batch_load_rows(a->x, at, 1, PBD_BATCH, xb);
    batch_load_rows(a->v, at, 1, PBD_BATCH, vb);
    const vreal zero = vreal_set(0), tiny = vreal_set(REAL_MIN), weight = v[3] + vb[3];
    const vvec3 before = vvec3_make(x[0] - xb[0], x[1] - xb[1], x[2] - xb[2]);
    const vvec3 apart = vvec3_make(v[0] - vb[0], v[1] - vb[1], v[2] - vb[2]);
    const vvec3 d = vvec3_add(before, vvec3_scale(vreal_set(a->dt), apart));
    const vreal length = vreal_sqrt(vvec3_dot(d, d)), was = vreal_sqrt(vvec3_dot(before, before));
    if (at_rest && !batch_bits(there & (vmask)(length < a->gap))) return;
    const vreal gap = at_rest ? xpbi_gap_at_rest(a, own, at) : vreal_set(a->gap);
    const vreal wanted = gap - (1 - a->share) * vreal_max(gap - was, zero);
    const vmask acts = there & (vmask)((length < wanted) & (weight > 0));
    if (!batch_bits(acts)) return;
    /* Coincident particles separate along z, the one with the smaller index downwards. */
    const vreal push = vreal_where(acts, (wanted - length) / (vreal_max(weight, tiny) * a->dt), zero);
    const vreal per_length = vreal_where(length > 0, 1 / vreal_max(length, tiny), zero);
    const vvec3 by = vvec3_make(push * per_length * d.x, push * per_length * d.y,
                                push * vreal_where(length > 0, per_length * d.z, vreal_set(-1)));
    v[0] += v[3] * by.x;
    v[1] += v[3] * by.y;
    v[2] += v[3] * by.z;
    vb[0] -= vb[3] * by.x;
    vb[1] -= vb[3] * by.y;
    vb[2] -= vb[3] * by.z;
    batch_store_rows(a->v, at, 1, PBD_BATCH, vb);
}

/* Prefetches the partners of the first rows of a slice, which are the near ones, and the first indices of the slice
 * after it. */
enum { XPBI_NEAR_ROWS = 2 };
PBD_FN void xpbi_prefetch_near(const xpbi_separate_args *a, size_t slice, size_t lane) {
    const size_t begin = a->s.row[slice], end = a->s.row[slice + 1];
    for (size_t k = 0; k < 2 * XPBI_NEAR_ROWS; k++) batch_prefetch(a->s.neighbour + (end + k) * XPBI_LANES + lane);
    for (size_t row = begin; row < end && row < begin + XPBI_NEAR_ROWS; row++) {
        const uint32_t *at = a->s.neighbour + row * XPBI_LANES + lane;
        batch_prefetch_rows_read(a->x, at, PBD_BATCH);
        batch_prefetch_rows(a->v, at, PBD_BATCH);
    }
}

PBD_FN void xpbi_part_slice(const xpbi_separate_args *a, int at_rest, size_t slice, size_t lane) {
    const size_t slot = slice * XPBI_LANES + lane;
    const uint32_t *own = a->s.own + slot, *near = a->s.near + slot;
    uint32_t most = 0;
    real many[PBD_BATCH];
    for (int l = 0; l < PBD_BATCH; l++) {
        most = near[l] > most ? near[l] : most;
        many[l] = (real)near[l];
    }
    if (most == 0) return;
    const vreal count = batch_load(many, 0, PBD_BATCH);
    vreal x[4], v[4];
    batch_load_rows(a->x, own, 1, PBD_BATCH, x);
    batch_load_rows(a->v, own, 1, PBD_BATCH, v);
    const uint32_t *at = a->s.neighbour + (size_t)a->s.row[slice] * XPBI_LANES + lane;
    for (uint32_t r = 0; r < most; r++, at += XPBI_LANES)
        xpbi_separate_row(a, at_rest, own, at, (vmask)(count > (real)r), x, v);
    batch_store_rows(a->v, own, 1, PBD_BATCH, v); /* last, since padding rows name the own particle */
}

PBD_FN void xpbi_part_cells(const xpbi_separate_args *a, int at_rest, size_t first) {
    if (!xpbi_has_lane(a->stage, first)) return;
    const size_t lane = a->stage->lane + first, bundle = lane / XPBI_LANES;
    for (size_t slice = a->s.bundle[bundle], end = a->s.bundle[bundle + 1]; slice < end; slice++) {
        if (slice + 1 < end) xpbi_prefetch_near(a, slice + 1, lane % XPBI_LANES);
        xpbi_part_slice(a, at_rest, slice, lane % XPBI_LANES);
    }
}

/* Work: particles of the cells, and pairs that may touch. */
PBD_BATCH_OVER(xpbi_separate, xpbi_separate_args, first, count, 12 * sizeof(real) + 8, 0, 12 * sizeof(real) + 4, 30) {
    (void)count;
    xpbi_part_cells(a, 0, first);
}

/* kernel=rest: no pair is moved beyond its distance in the shape at rest. */
PBD_BATCH_OVER(xpbi_separate_at_rest, xpbi_separate_args, first, count, 12 * sizeof(real) + 8, 0, 12 * sizeof(real) + 4,
               30) {
    (void)count;
    xpbi_part_cells(a, 1, first);
}

/* ---- Density constraints (Macklin and Mueller 2013, one-sided: Figure 15) ---------------------------------------- */

/* rho_p/rho0 - 1 <= 0 at x^n + dt v, with rho_p = V^0 sum_b W_b, assuming neighbours with the mass and volume of p. */
typedef struct xpbi_limit_args {
    xpbi_slices s;
    const real *x;
    real *v;
    const xpbi_stage_numbers *stage; /* the next one follows it */
    real support, dt;
    real per_impulse; /* V^0 over the entry XPBI_IMPULSE */
    real per_rest;    /* 1/rho0 */
    real *density;    /* of xpbi_measure_density: by slot */
} xpbi_limit_args;

/* W and -(dW/dr)/r for the neighbours in a row; 0 for padding. *d: vector to the neighbour. */
PBD_FN vreal xpbi_row_kernel(const xpbi_limit_args *a, const uint32_t *at, const vreal x[4], const vreal v[4],
                             vreal vb[4], vvec3 *d, vreal *slope) {
    const real sigma = (real)(21 / (2 * 3.14159265358979323846)) / (a->support * a->support * a->support);
    const real per_support = 1 / a->support;
    vreal xb[4];
    batch_load_rows(a->x, at, 1, PBD_BATCH, xb);
    batch_load_rows(a->v, at, 1, PBD_BATCH, vb);
    *d = vvec3_make(xb[0] - x[0] + a->dt * (vb[0] - v[0]), xb[1] - x[1] + a->dt * (vb[1] - v[1]),
                    xb[2] - x[2] + a->dt * (vb[2] - v[2]));
    const vreal zero = vreal_set(0), square = vvec3_dot(*d, *d), q = per_support * vreal_sqrt(square);
    const vreal left = vreal_max(1 - q, zero), cube = left * left * left;
    *slope = 20 * sigma * per_support * per_support * cube;
    return vreal_where(square > 0, sigma * cube * left * (1 + 4 * q), zero);
}

/* rho_p/rho0, the sum of its gradients with respect to neighbours, and their weighted sum of squares, both over
 * V^0/rho0. */
PBD_FN vreal xpbi_density(const xpbi_limit_args *a, size_t slice, size_t lane, const vreal x[4], const vreal v[4],
                          vvec3 *sum, vreal *squares) {
    const real sigma = (real)(21 / (2 * 3.14159265358979323846)) / (a->support * a->support * a->support);
    vreal density = vreal_set(sigma);
    *sum = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    *squares = vreal_set(0);
    for (size_t row = a->s.row[slice]; row < a->s.row[slice + 1]; row++) {
        vreal vb[4], slope;
        vvec3 d;
        density += xpbi_row_kernel(a, a->s.neighbour + row * XPBI_LANES + lane, x, v, vb, &d, &slope);
        const vvec3 t = vvec3_scale(slope, d);
        *sum = vvec3_add(*sum, t);
        *squares += vb[3] * vvec3_dot(t, t);
    }
    return a->per_impulse * a->per_rest * xpbi_entry(&a->s, slice, lane, XPBI_IMPULSE) * density;
}

PBD_FN void xpbi_thin_slice(const xpbi_limit_args *a, size_t slice, size_t lane) {
    const uint32_t *own = a->s.own + slice * XPBI_LANES + lane;
    vreal x[4], v[4], squares;
    vvec3 sum;
    batch_load_rows(a->x, own, 1, PBD_BATCH, x);
    batch_load_rows(a->v, own, 1, PBD_BATCH, v);
    const vreal c = xpbi_density(a, slice, lane, x, v, &sum, &squares) - 1;
    if (!batch_bits((vmask)(c > 0))) return;
    const vreal scale = a->per_impulse * a->per_rest * xpbi_entry(&a->s, slice, lane, XPBI_IMPULSE);
    const vreal weight = scale * (squares + v[3] * vvec3_dot(sum, sum));
    const vreal by =
        vreal_where((c > 0) & (weight > 0), c / (a->dt * vreal_max(weight, vreal_set(REAL_MIN))), vreal_set(0));
    for (size_t row = a->s.row[slice]; row < a->s.row[slice + 1]; row++) {
        const uint32_t *at = a->s.neighbour + row * XPBI_LANES + lane;
        vreal vb[4], slope;
        vvec3 d;
        xpbi_row_kernel(a, at, x, v, vb, &d, &slope);
        xpbi_move_row(vb, vvec3_scale(by * slope, d));
        batch_store_rows(a->v, at, 1, PBD_BATCH, vb);
    }
    batch_load_rows(a->v, own, 1, PBD_BATCH, v);
    xpbi_move_row(v, vvec3_scale(-by, sum));
    batch_store_rows(a->v, own, 1, PBD_BATCH, v);
}

/* Work: particles and neighbours. Particles below the density limit need only half of it. */
PBD_BATCH_OVER(xpbi_limit_density, xpbi_limit_args, first, count, 9 * sizeof(real) + 8, 20, 8 * sizeof(real) + 4, 40) {
    (void)count;
    if (!xpbi_has_lane(a->stage, first)) return;
    const size_t lane = a->stage->lane + first, bundle = lane / XPBI_LANES;
    for (size_t slice = a->s.bundle[bundle]; slice < a->s.bundle[bundle + 1]; slice++)
        xpbi_thin_slice(a, slice, lane % XPBI_LANES);
}

PBD_BATCH_OVER(xpbi_measure_density, xpbi_limit_args, first, count, 10 * sizeof(real) + 8, 20, 8 * sizeof(real) + 4,
               40) {
    vreal x[4], v[4], squares;
    vvec3 sum;
    batch_load_rows(a->x, a->s.own + first, 1, count, x);
    batch_load_rows(a->v, a->s.own + first, 1, count, v);
    real out[PBD_BATCH];
    batch_store(out, 0, PBD_BATCH, xpbi_density(a, first / XPBI_LANES, first % XPBI_LANES, x, v, &sum, &squares));
    for (int i = 0; i < count; i++)
        a->density[first + (size_t)i] = a->s.length[first + (size_t)i] == XPBI_ABSENT ? 0 : out[i];
}

#endif
