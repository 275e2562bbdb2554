/* The constraints of XPBI (yu2024), one per particle, over slices of particles (xpbi_layout_kernels.h).
 *
 * With a_b = L_p t_b, t_b = V_b grad W_b, the velocity gradient at p is (sum_b (v_b - v_p) t_b^T) L_p^T, and F = B F^n
 * with B = I + dt grad v. The t_b are computed from positions where they are needed: stored, they would be two fifths
 * of a particle's memory. Quantities are scaled by u, a power of two near E, to be representable in f32 for any E, mass
 * and dt:
 *
 *     C = sqrt(2 psi/u),   G = tau B^-T/u (= C dC/dB),   S = u V0 dt^2 (sum_b w_b a_b a_b^T + w_p s s^T),   s = sum a_b
 *     h = C + l,   l = alpha~ lambda/sqrt u,   Q = tr(G S G^T)
 *     k = -h C/(Q + C^2):   l += k C,   v_b += w_b (u V0 dt) k G a_b,   v_p -= w_p (u V0 dt) k G s
 *
 * This is Eq. 17 to 19 without 0/0 as C goes to 0 (claims A4), and without a loop over neighbours for the denominator.
 * If C is only rounding error, the direction is undefined and the constraint is idle.
 *
 * constraint=stress is not in the paper: its impulse is a tensor A, v_b += w_b A a_b, with the target -(u V0 dt) G.
 * Each projection solves for all six strains, while C = sqrt(2 psi) has only one direction. */
#ifndef PBD_XPBI_CONSTRAINT_KERNELS_H
#define PBD_XPBI_CONSTRAINT_KERNELS_H

#include "methods/physics/matter/log_strain.h"
#include "methods/xpbi/xpbi_layout_kernels.h"
#include "methods/xpbi/xpbi_particle_kernels.h"

/* Data of a constraint, by entry; constant during a step, except multipliers. */
enum {
    XPBI_F = 0,             /* 9: columns of F^n */
    XPBI_WEIGHT = 9,        /* 6: S, xx yy zz xy yz zx */
    XPBI_SUM = 15,          /* 3: s */
    XPBI_IMPULSE = 18,      /* u V0 dt */
    XPBI_STATE = 19,        /* state of the flow rule at t^n */
    XPBI_MULTIPLIER = 20,   /* 2: l; l of the second constraint of a pair */
    XPBI_MAP = 22,          /* 9: columns of T with a_b = T t_b: L, or F^-T L with kernel=rest */
    XPBI_SWEPT = 31,        /* number of entries that a sweep reads; the end of a step also reads: */
    XPBI_REST_SIZE = 31,    /* V^0 */
    XPBI_GROWTH = 32,       /* J at t^n */
    XPBI_ENTRIES = 33,      /* number for scalar constraints; constraint=stress has more: */
    XPBI_TENSOR = 33,       /* 9: columns of the impulse tensor A */
    XPBI_FRAME = 42,        /* 9: columns are the eigenvectors of S */
    XPBI_FRAME_WEIGHT = 51, /* 3: its eigenvalues */
    XPBI_STRESS_ENTRIES = 54
};

typedef struct xpbi_slices {
    const uint32_t *bundle;    /* first slice of each bundle; one more at the end */
    const uint32_t *row;       /* first row of each slice; one more at the end */
    const uint32_t *own;       /* by slot: particle */
    const uint32_t *length;    /* by slot: neighbours, or XPBI_ABSENT */
    const uint32_t *near;      /* by slot: number of neighbours that may touch, which come first in the list */
    const uint32_t *neighbour; /* rows x XPBI_LANES */
    const uint32_t *slices;    /* their number */
    const real *x;             /* rows by particle: positions, m, and volumes, m^3, of the kernels, which do not change
                                  during the iterations */
    real *smoothing;           /* rows x XPBI_LANES: weight in XSPH; NULL: not stored (xpbi_smoothing_weight) */
    real *entry;               /* slices x entries x XPBI_LANES */
    size_t entries;
    size_t hourglass;   /* first entry of hourglass control; 0: off */
    real support, none; /* 2r, m; 0 */
} xpbi_slices;

/* Whether the slot exists: launches of a sweep over all slots are over an upper bound, as those over a stage. */
PBD_FN int xpbi_has_slot(const xpbi_slices *s, size_t slot) { return slot < XPBI_LANES * (size_t)*s->slices; }

PBD_FN vreal xpbi_entry(const xpbi_slices *s, size_t slice, size_t lane, int e) {
    return batch_load(s->entry + (slice * s->entries + (size_t)e) * XPBI_LANES + lane, 0, PBD_BATCH);
}

PBD_FN void xpbi_set_entry(const xpbi_slices *s, size_t slice, size_t lane, int e, vreal x) {
    batch_store(s->entry + (slice * s->entries + (size_t)e) * XPBI_LANES + lane, 0, PBD_BATCH, x);
}

/* Stores a row for each slot's particle; `per`: rows of a particle. */
PBD_FN void xpbi_store_own(const xpbi_slices *s, real *rows, size_t per, size_t first, int count, const vreal row[4]) {
#if PBD_BATCH == 1
    (void)count;
    if (s->length[first] != XPBI_ABSENT) row_store(rows + 4 * per * s->own[first], row);
#else
    real out[PBD_BATCH][4] __attribute__((aligned(64)));
    uint32_t each[PBD_BATCH];
    for (uint32_t l = 0; l < PBD_BATCH; l++) each[l] = l;
    batch_store_rows(out[0], each, 1, PBD_BATCH, row);
    for (int l = 0; l < count; l++)
        if (s->length[first + (size_t)l] != XPBI_ABSENT)
            __builtin_memcpy(rows + 4 * per * s->own[first + (size_t)l], out[l], sizeof out[l]);
#endif
}

PBD_FN vmat3 xpbi_load_matrix(const xpbi_slices *s, size_t slice, size_t lane, int first) {
    vreal f[9];
    for (int e = 0; e < 9; e++) f[e] = xpbi_entry(s, slice, lane, first + e);
    return vmat3_make(vvec3_make(f[0], f[1], f[2]), vvec3_make(f[3], f[4], f[5]), vvec3_make(f[6], f[7], f[8]));
}

PBD_FN void xpbi_set_matrix(const xpbi_slices *s, size_t slice, size_t lane, int first, vmat3 m) {
    const vvec3 column[3] = {m.x, m.y, m.z};
    for (int c = 0; c < 3; c++) {
        xpbi_set_entry(s, slice, lane, first + 3 * c, column[c].x);
        xpbi_set_entry(s, slice, lane, first + 3 * c + 1, column[c].y);
        xpbi_set_entry(s, slice, lane, first + 3 * c + 2, column[c].z);
    }
}

/* t = V grad W at the particle, for a neighbour of volume V at the distance vector d. */
PBD_FN vvec3 xpbi_plain_gradient(real support, vvec3 d, vreal volume) {
    const real sigma = (real)(21 / (2 * 3.14159265358979323846)) / (support * support * support);
    const real per_support = 1 / support, slope = 20 * sigma * per_support * per_support;
    const vreal left = vreal_max(1 - per_support * vreal_sqrt(vvec3_dot(d, d)), vreal_set(0));
    return vvec3_scale(slope * (left * left * left) * volume, d);
}

/* t of the neighbours in a row; x: rows of the own particles. 0 in padding, which names the own particle. */
PBD_FN vvec3 xpbi_gradient(const xpbi_slices *s, const uint32_t *at, const vreal x[4]) {
    vreal b[4];
    batch_load_rows(s->x, at, 1, PBD_BATCH, b);
    return xpbi_plain_gradient(s->support, vvec3_make(b[0] - x[0], b[1] - x[1], b[2] - x[2]), b[3]);
}

/* s += w a a^T */
PBD_FN void xpbi_add_square(vreal s[6], vvec3 a, vreal w) {
    s[0] += w * a.x * a.x;
    s[1] += w * a.y * a.y;
    s[2] += w * a.z * a.z;
    s[3] += w * a.x * a.y;
    s[4] += w * a.y * a.z;
    s[5] += w * a.z * a.x;
}

PBD_FN vmat3 xpbi_symmetric(const vreal s[6]) {
    return vmat3_make(vvec3_make(s[0], s[3], s[5]), vvec3_make(s[3], s[1], s[4]), vvec3_make(s[5], s[4], s[2]));
}

/* ---- Gradients of the step (Eq. 10, 11) -------------------------------------------------------------------------- */

typedef struct xpbi_shape_args {
    xpbi_slices s;
    xpbi_particles p;
    const uint32_t *was; /* by particle: its place in p.body; NULL: the same */
    uint32_t *note;      /* by particle */
    real cutoff;         /* singular values below this times the largest count as 0 */
    real impulse;        /* u dt */
    real weight;         /* u dt^2 */
    int printed;         /* XSPH as in Eq. 20 */
    int stress;          /* with the entries of constraint=stress */
    int plain;           /* uncorrected gradients: L = 1 */
} xpbi_shape_args;

/* L, the pseudo-inverse of the symmetric A = sum V_b grad W (x) (x_b - x_p); *full: A has full rank. */
PBD_FN vmat3 xpbi_pseudo_inverse_svd(const vreal a[6], real cutoff, vmask *full) {
    const vreal zero = vreal_set(0);
    vsvd3 parts = vmat3_svd(xpbi_symmetric(a));
    const vreal least = vreal_max(cutoff * parts.s.x, vreal_set(REAL_MIN));
    const vvec3 inverse = vvec3_make(vreal_where(parts.s.x > least, 1 / parts.s.x, zero),
                                     vreal_where(parts.s.y > least, 1 / parts.s.y, zero),
                                     vreal_where(parts.s.z > least, 1 / parts.s.z, zero));
    *full = (vmask)(parts.s.z > least);
    parts.u = parts.v;
    return vsvd3_with(parts, inverse);
}

/* Where det A > cutoff (tr A)^3, every singular value is above cutoff times the largest, and A is inverted. */
PBD_FN vmat3 xpbi_pseudo_inverse(const vreal a[6], real cutoff, vmask *full) {
    const vsym3 m = {a[0], a[1], a[2], a[3], a[4], a[5]};
    const vreal size = vsym3_trace(m), least = cutoff * size * size * size;
    const vmat3 whole = vsym3_matrix(m);
    const vmask plain = (vmat3_det(whole) > least) & (least > REAL_MIN);
    const vmat3 inverse = vsym3_matrix(vsym3_inverse(m));
    *full = plain;
    if (!vmask_any((vmask)(plain == 0))) return inverse;
    const vmat3 by_svd = xpbi_pseudo_inverse_svd(a, cutoff, full);
    *full |= plain;
    return vmat3_where(plain, inverse, by_svd);
}

PBD_FN void xpbi_load_body(const xpbi_shape_args *a, const uint32_t *own, size_t slice, size_t lane, vreal body[3][4]) {
    uint32_t at[PBD_BATCH];
    for (int l = 0; l < PBD_BATCH; l++) at[l] = 3 * (a->was ? a->was[own[l]] : own[l]);
    for (int c = 0; c < 3; c++) {
        batch_load_rows(a->p.body + 4 * c, at, 1, PBD_BATCH, body[c]);
        for (int d = 0; d < 3; d++) xpbi_set_entry(&a->s, slice, lane, XPBI_F + 3 * c + d, body[c][d]);
    }
}

/* Stores eigenvalues and eigenvectors of S, and sets A = 0. */
PBD_FN void xpbi_make_frame(const xpbi_slices *s, size_t slice, size_t lane, const vreal weight[6]) {
    const vsvd3 parts = vmat3_svd(xpbi_symmetric(weight));
    const vreal value[3] = {parts.s.x, parts.s.y, vreal_abs(parts.s.z)};
    xpbi_set_matrix(s, slice, lane, XPBI_FRAME, parts.v);
    for (int c = 0; c < 3; c++) xpbi_set_entry(s, slice, lane, XPBI_FRAME_WEIGHT + c, value[c]);
    for (int e = 0; e < 9; e++) xpbi_set_entry(s, slice, lane, XPBI_TENSOR + e, vreal_set(0));
}

/* XSPH weight of the neighbour at xb: that of Eq. 20, or its symmetric form with (V_b + V_p m_b/m_p)/2 (Y-5), where
 * m_b/m_p is 1 if either particle is held. x and xb include volumes, v and vb inverse masses. */
PBD_FN vreal xpbi_smoothing_weight(real support, int printed, const vreal x[4], const vreal v[4], const vreal xb[4],
                                   const vreal vb[4]) {
    const real sigma = (real)(21 / (2 * 3.14159265358979323846)) / (support * support * support);
    const vreal zero = vreal_set(0), tiny = vreal_set(REAL_MIN);
    const vvec3 d = vvec3_make(xb[0] - x[0], xb[1] - x[1], xb[2] - x[2]);
    const vreal q = 1 / support * vreal_sqrt(vvec3_dot(d, d));
    const vreal left = vreal_max(1 - q, zero), cube = left * left * left;
    const vreal ratio = vreal_where((vb[3] > 0) & (v[3] > 0), v[3] / vreal_max(vb[3], tiny), vreal_set(1));
    const vreal share = printed ? xb[3] : (real)0.5 * (xb[3] + x[3] * ratio);
    return sigma * cube * left * (1 + 4 * q) * share;
}

/* Work of this and the next kernels: particles and their neighbours. */
PBD_BATCH_OVER(xpbi_make_gradients, xpbi_shape_args, first, count, (20 + XPBI_ENTRIES) * sizeof(real) + 12, 700,
               8 * sizeof(real) + 4, 65) {
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES;
    const uint32_t *own = a->s.own + first;
    const vreal zero = vreal_set(0);
    vreal x[4], v[4], moment[6], square[6];
    for (int e = 0; e < 6; e++) moment[e] = square[e] = zero;
    vvec3 sum = vvec3_make(zero, zero, zero);
    batch_load_rows(a->s.x, own, 1, count, x);
    batch_load_rows(a->p.v, own, 1, count, v);
    for (size_t row = a->s.row[slice], end = a->s.row[slice + 1]; row < end; row++) {
        const uint32_t *at = a->s.neighbour + row * XPBI_LANES + lane;
        vreal xb[4], vb[4];
        batch_load_rows(a->s.x, at, 1, count, xb);
        batch_load_rows(a->p.v, at, 1, count, vb);
        const vvec3 d = vvec3_make(xb[0] - x[0], xb[1] - x[1], xb[2] - x[2]);
        const vvec3 t = xpbi_plain_gradient(a->s.support, d, xb[3]);
        xpbi_add_square(square, t, vb[3]);
        moment[0] += t.x * d.x;
        moment[1] += t.y * d.y;
        moment[2] += t.z * d.z;
        moment[3] += t.x * d.y;
        moment[4] += t.y * d.z;
        moment[5] += t.z * d.x;
        sum = vvec3_add(sum, t);
        if (a->s.smoothing)
            batch_store(a->s.smoothing + row * XPBI_LANES + lane, 0, count,
                        xpbi_smoothing_weight(a->s.support, a->printed, x, v, xb, vb));
    }

    vmask full;
    vmat3 l = xpbi_pseudo_inverse(moment, a->cutoff, &full);
    if (a->plain) l = vmat3_identity();
    xpbi_set_matrix(&a->s, slice, lane, XPBI_MAP, l);
    sum = vmat3_apply(l, sum);
    const vmat3 once = vmat3_mul(l, xpbi_symmetric(square));
    const vmat3 twice = vmat3_mul(once, l); /* L is symmetric */
    vreal weight[6] = {twice.x.x, twice.y.y, twice.z.z, twice.x.y, twice.y.z, twice.z.x};
    xpbi_add_square(weight, sum, v[3]);

    vreal body[3][4];
    xpbi_load_body(a, own, slice, lane, body);
    const vreal scale = a->weight * body[0][3];
    for (int e = 0; e < 6; e++) {
        weight[e] *= scale;
        xpbi_set_entry(&a->s, slice, lane, XPBI_WEIGHT + e, weight[e]);
    }
    xpbi_set_entry(&a->s, slice, lane, XPBI_SUM, sum.x);
    xpbi_set_entry(&a->s, slice, lane, XPBI_SUM + 1, sum.y);
    xpbi_set_entry(&a->s, slice, lane, XPBI_SUM + 2, sum.z);
    xpbi_set_entry(&a->s, slice, lane, XPBI_IMPULSE, a->impulse * body[0][3]);
    xpbi_set_entry(&a->s, slice, lane, XPBI_STATE, body[2][3]);
    xpbi_set_entry(&a->s, slice, lane, XPBI_REST_SIZE, body[0][3]);
    xpbi_set_entry(&a->s, slice, lane, XPBI_GROWTH, body[1][3]);
    xpbi_set_entry(&a->s, slice, lane, XPBI_MULTIPLIER, zero);
    xpbi_set_entry(&a->s, slice, lane, XPBI_MULTIPLIER + 1, zero);
    if (a->stress) xpbi_make_frame(&a->s, slice, lane, weight);
    const uint32_t whole = batch_bits(full);
    for (int i = 0; i < count; i++) {
        const size_t slot = first + (size_t)i;
        if (a->s.length[slot] == XPBI_ABSENT) continue;
        a->note[own[i]] = (whole >> i & 1 ? 0u : XPBI_NOTE_DEFICIENT) | (a->s.length[slot] ? 0u : XPBI_NOTE_ALONE);
    }
}

/* ---- A constraint ------------------------------------------------------------------------------------------------ */

/* Operations of a projection and of the flow at the end of a step, neighbours apart. They depend on the rule and on the
 * strains: counted in machine code (gcc 12, AVX2, f32), 880 and 1280 in sand_column, 1510 and 1830 in goo_drop. */
enum { XPBI_SOLVE_FLOPS = 1200, XPBI_FLOW_FLOPS = 1550 };

enum { XPBI_ENERGY, XPBI_SHEAR, XPBI_VOLUME, XPBI_STRESS }; /* energy; the pair of Eq. 4, 5; stress tensor */

typedef struct xpbi_solve_args {
    xpbi_slices s;
    const real *v;                   /* velocities whose gradients are computed */
    real *moved;                     /* velocities to which corrections are added: the same as v */
    const xpbi_stage_numbers *stage; /* the next one follows it */
    flow_rule rule;
    real mu, lambda; /* in units of u */
    real dt, relaxation;
    int flows;      /* implicit plasticity: C of F after the flow rule */
    int hardens;    /* the rule hardens the moduli */
    int printed;    /* Eq. 12 with the projected F (Y-4) */
    int by_strain;  /* small strains need no SVD: the rule is radial, and neither `printed` nor XPBI_STRESS */
    int form;       /* XPBI_ENERGY, XPBI_SHEAR (XPBI_VOLUME follows it) or XPBI_STRESS */
    int warm;       /* no solve: applies the impulses of the stress at t^n */
    real *residual; /* of xpbi_measure_residual: h^2 by slot */
    uint32_t *note; /* notes idle constraints; NULL: off */
} xpbi_solve_args;

/* Prefetches indices, since the hardware prefetcher stops at page boundaries. */
enum { XPBI_AHEAD = 12, XPBI_NEXT = 6, XPBI_PARTNERS = 8 }; /* rows; rows of the next slice; rows of partners */
PBD_FN void xpbi_prefetch_row(const uint32_t *at) {
#if PBD_BATCH > 1
    __builtin_prefetch(at + XPBI_AHEAD * XPBI_LANES);
#else
    (void)at;
#endif
}

/* Prefetches the positions and velocities of a row's neighbours. Gains a few percent in f64, nothing in f32. */
PBD_FN void xpbi_prefetch_partners(const xpbi_slices *s, const real *v, const uint32_t *at) {
    batch_prefetch_rows_read(s->x, at, PBD_BATCH);
    batch_prefetch_rows(v, at, PBD_BATCH);
}

/* Prefetches what is read after the loop over the neighbours of a slice, and the first indices of the next slice. A
 * core does not reach them before the loop has ended. */
PBD_FN void xpbi_prefetch_slice(const xpbi_slices *s, size_t slice, size_t lane) {
    for (size_t e = 0; e < XPBI_SWEPT; e++) batch_prefetch(s->entry + (slice * s->entries + e) * XPBI_LANES + lane);
    for (size_t k = 0; k < XPBI_NEXT; k++) batch_prefetch(s->neighbour + (s->row[slice + 1] + k) * XPBI_LANES + lane);
}

/* What a slice keeps of its first rows for the second loop over them, on the CPU. No other lane of a launch writes the
 * velocities of its neighbours. */
enum { XPBI_KEPT = 64 };
typedef struct xpbi_kept {
    vvec3 t[XPBI_KEPT];
    vreal v[XPBI_KEPT][4];
} xpbi_kept;

PBD_FN void xpbi_add_gradient(vmat3 *sum, const vreal b[4], const vreal o[4], vvec3 t) {
    *sum = vmat3_add(*sum, vmat3_outer(vvec3_make(b[0] - o[0], b[1] - o[1], b[2] - o[2]), t));
}

/* kept: may be NULL. */
PBD_FN vmat3 xpbi_velocity_gradient(const xpbi_slices *s, const real *v, size_t slice, size_t lane, const uint32_t *own,
                                    xpbi_kept *kept) {
    const size_t begin = s->row[slice], end = s->row[slice + 1];
    const uint32_t *at = s->neighbour + begin * XPBI_LANES + lane;
    vreal o[4], x[4], b[4];
    vmat3 sum = vmat3_scale(vreal_set(0), vmat3_identity());
    xpbi_prefetch_slice(s, slice, lane);
    batch_load_rows(v, own, 1, PBD_BATCH, o);
    batch_load_rows(s->x, own, 1, PBD_BATCH, x);
    for (size_t row = begin; row < end; row++, at += XPBI_LANES) {
        xpbi_prefetch_row(at);
        if (sizeof(real) == sizeof(double) && row + XPBI_PARTNERS < end)
            xpbi_prefetch_partners(s, v, at + XPBI_PARTNERS * XPBI_LANES);
        const vvec3 t = xpbi_gradient(s, at, x);
        batch_load_rows(v, at, 1, PBD_BATCH, b);
        if (kept && row - begin < XPBI_KEPT) {
            kept->t[row - begin] = t;
            for (int c = 0; c < 4; c++) kept->v[row - begin][c] = b[c];
        }
        xpbi_add_gradient(&sum, b, o, t);
    }
    return vmat3_mul_transposed(sum, xpbi_load_matrix(s, slice, lane, XPBI_MAP));
}

/* tr(G S G^T), by the columns of G. */
PBD_FN vreal xpbi_form(const xpbi_slices *s, size_t slice, size_t lane, vmat3 g) {
    vreal k[6];
    for (int e = 0; e < 6; e++) k[e] = xpbi_entry(s, slice, lane, XPBI_WEIGHT + e);
    return k[0] * vvec3_dot(g.x, g.x) + k[1] * vvec3_dot(g.y, g.y) + k[2] * vvec3_dot(g.z, g.z) +
           2 * (k[3] * vvec3_dot(g.x, g.y) + k[4] * vvec3_dot(g.y, g.z) + k[5] * vvec3_dot(g.z, g.x));
}

/* C and C times its gradient, in the units above. The volume constraint of a pair is signed, and its
 * gradient is stored without the factor C, as it is never 0. */
typedef struct xpbi_point {
    vreal c;
    vmat3 g;
    vreal mu, lambda; /* of the particle */
    vreal turn;       /* largest absolute principal stress, in units of u */
} xpbi_point;

/* Sets mu and lambda of the constraint: 0 where it does not depend on them. */
PBD_FN void xpbi_set_moduli(const xpbi_solve_args *a, int kind, vreal state, xpbi_point *at) {
    const vreal harder = a->hardens ? vflow_hardening(&a->rule, state) : vreal_set(1);
    at->mu = vreal_set(kind == XPBI_VOLUME ? 0 : a->mu) * harder;
    at->lambda = vreal_set(kind == XPBI_SHEAR ? 0 : a->lambda) * harder;
}

/* G = tau B^-T */
PBD_FN vmat3 xpbi_gradient_of(vmat3 tau, vmat3 b) {
    const vreal det = vmat3_det(b), floor = vreal_set((real)1e-3);
    return vmat3_mul(tau, vmat3_scale(1 / vreal_max(det, floor), vmat3_cofactor(b)));
}

/* By the logarithmic strain (log_strain.h); e: E of F. */
PBD_FN xpbi_point xpbi_evaluate_strain(const xpbi_solve_args *a, int kind, vmat3 b, vmat3 f, vsym3 e, vreal state) {
    xpbi_point out;
    const vsym3 h = a->flows ? vflow_strain(&a->rule, f, e, state).to : vlog_strain(e);
    const vreal trace = vsym3_trace(h);
    xpbi_set_moduli(a, kind, state, &out);
    out.turn = vreal_set(0); /* not needed: by_strain excludes XPBI_STRESS */
    out.c = vreal_sqrt(2 * out.mu * vsym3_inner(h, h) + out.lambda * trace * trace);
    vsym3 tau = vsym3_shift(vsym3_scale(2 * out.mu, h), out.lambda * trace);
    if (kind == XPBI_VOLUME) {
        const vreal root = vreal_sqrt(out.lambda), none = vreal_set(0);
        out.c = root * trace;
        tau.xx = tau.yy = tau.zz = root;
        tau.xy = tau.yz = tau.zx = none;
    }
    out.g = xpbi_gradient_of(vsym3_matrix(tau), b);
    return out;
}

/* By the singular values of F. */
PBD_FN xpbi_point xpbi_evaluate_stretches(const xpbi_solve_args *a, int kind, vmat3 b, vmat3 f, vreal state) {
    xpbi_point out;
    /* SVD of F^T: its V, the cheaper factor, is U of F; the other factor is not needed. */
    const vsvd3 parts = vmat3_svd(vmat3_transpose(f));
    const vreal least = vreal_set((real)FLOW_LEAST_STRETCH);
    const vvec3 trial =
        vvec3_make(vreal_max(parts.s.x, least), vreal_max(parts.s.y, least), vreal_max(parts.s.z, least));
    vvec3 s = trial;
    xpbi_set_moduli(a, kind, state, &out);
    const vreal mu = out.mu, lambda = out.lambda;
    if (a->flows) s = vflow_by_kind(&a->rule, trial, state).s;
    const vvec3 e = vvec3_log(s);
    const vreal trace = vvec3_sum(e);
    const vreal twice = 2 * mu * vvec3_dot(e, e) + lambda * trace * trace;
    vvec3 tau = vvec3_shift(vvec3_scale(2 * mu, e), lambda * trace);
    out.c = vreal_sqrt(twice);
    out.turn = vreal_max(vreal_abs(tau.x), vreal_max(vreal_abs(tau.y), vreal_abs(tau.z)));
    if (kind == XPBI_VOLUME) {
        const vreal root = vreal_sqrt(lambda);
        out.c = root * trace;
        tau = vvec3_make(root, root, root);
    }
    if (a->printed) tau = vvec3_times(tau, vvec3_over(trial, s));
    vsvd3 stress = parts;
    stress.u = stress.v;
    out.g = xpbi_gradient_of(vsvd3_with(stress, tau), b);
    return out;
}

PBD_FN xpbi_point xpbi_choose(vmask m, xpbi_point p, xpbi_point q) {
    p.c = vreal_where(m, p.c, q.c);
    p.g = vmat3_where(m, p.g, q.g);
    p.mu = vreal_where(m, p.mu, q.mu);
    p.lambda = vreal_where(m, p.lambda, q.lambda);
    p.turn = vreal_where(m, p.turn, q.turn);
    return p;
}

/* A lane's result does not depend on which way the others need. */
PBD_FN xpbi_point xpbi_evaluate(const xpbi_solve_args *a, size_t slice, size_t lane, int kind, vmat3 gradient) {
    const vmat3 b = vmat3_add(vmat3_identity(), vmat3_scale(vreal_set(a->dt), gradient));
    const vmat3 f = vmat3_mul(b, xpbi_load_matrix(&a->s, slice, lane, XPBI_F));
    const vreal state = xpbi_entry(&a->s, slice, lane, XPBI_STATE);
    if (!a->by_strain) return xpbi_evaluate_stretches(a, kind, b, f, state);
    const vsym3 e = vmat3_left_strain(f);
    const vmask near = vlog_strain_holds(f, e);
    if (!vmask_any(near)) return xpbi_evaluate_stretches(a, kind, b, f, state);
    const xpbi_point at = xpbi_evaluate_strain(a, kind, b, f, e, state);
    if (!vmask_any((vmask)(near == 0))) return at;
    return xpbi_choose(near, at, xpbi_evaluate_stretches(a, kind, b, f, state));
}

/* C up to this is rounding error. */
PBD_FN vreal xpbi_least(vreal mu) { return (real)(2 * REAL_EPSILON) * vreal_sqrt(2 * mu); }

/* k as at the head of this file, without the factor C for volume constraints, whose gradient is plain; *step: change of
 * the multiplier. */
PBD_FN vreal xpbi_factor(const xpbi_solve_args *a, size_t slice, size_t lane, int kind, xpbi_point at, vreal l,
                         vreal *step) {
    const vreal zero = vreal_set(0), h = at.c + l, q = xpbi_form(&a->s, slice, lane, at.g);
    if (kind == XPBI_VOLUME) {
        const vreal k = -h / (a->warm ? vreal_set(1) : q + 1);
        *step = k;
        return k;
    }
    const vreal square = vreal_max(at.c * at.c, vreal_set(REAL_MIN));
    const vmask acts = (vmask)(at.c > xpbi_least(at.mu));
    const vreal k = vreal_where(acts, -h * at.c / (a->warm ? square : q + square), zero);
    *step = k * at.c;
    return k;
}

/* Overwrites entries (i, j) and (j, i) of R with those of X. */
PBD_FN void xpbi_solve_shear(vreal mu, vreal turn, vreal si, vreal sj, vreal *ij, vreal *ji) {
    const vreal di = 1 / (1 + turn * si), dj = 1 / (1 + turn * sj);
    const vreal y = mu * (*ij * sj * dj + *ji * si * di) / (1 + mu * (si * di + sj * dj));
    *ij = dj * (*ij - y);
    *ji = di * (*ji - y);
}

/* Solves X + H(X S) = R with H(E) = mu (E + E^T) + lambda tr E + turn E, where X is the change of the impulse that
 * makes it equal to that of the resulting stress. H is the stiffness at small strain; `turn`, the largest principal
 * stress, bounds the geometric stiffness, without which few iterations on stiff matter are unstable. In the eigenframe
 * of S the nine equations decouple into those of the diagonal and three pairs. */
PBD_FN vmat3 xpbi_solve_stress(const xpbi_slices *s, size_t slice, size_t lane, xpbi_point at, vmat3 r) {
    const vmat3 q = xpbi_load_matrix(s, slice, lane, XPBI_FRAME);
    const vreal w[3] = {xpbi_entry(s, slice, lane, XPBI_FRAME_WEIGHT),
                        xpbi_entry(s, slice, lane, XPBI_FRAME_WEIGHT + 1),
                        xpbi_entry(s, slice, lane, XPBI_FRAME_WEIGHT + 2)};
    vmat3 x = vmat3_transposed_mul(q, vmat3_mul(r, q));
    const vreal k = 2 * at.mu + at.turn, dx = 1 / (1 + k * w[0]), dy = 1 / (1 + k * w[1]), dz = 1 / (1 + k * w[2]);
    const vreal sum = w[0] * dx * x.x.x + w[1] * dy * x.y.y + w[2] * dz * x.z.z;
    const vreal t = at.lambda * sum / (1 + at.lambda * (w[0] * dx + w[1] * dy + w[2] * dz));
    x.x.x = dx * (x.x.x - t);
    x.y.y = dy * (x.y.y - t);
    x.z.z = dz * (x.z.z - t);
    xpbi_solve_shear(at.mu, at.turn, w[0], w[1], &x.y.x, &x.x.y);
    xpbi_solve_shear(at.mu, at.turn, w[1], w[2], &x.z.y, &x.y.z);
    xpbi_solve_shear(at.mu, at.turn, w[2], w[0], &x.x.z, &x.z.x);
    return vmat3_mul_transposed(vmat3_mul(q, x), q);
}

/* The impulse of the stress minus A. */
PBD_FN vmat3 xpbi_stress_error(const xpbi_slices *s, size_t slice, size_t lane, xpbi_point at) {
    const vreal impulse = xpbi_entry(s, slice, lane, XPBI_IMPULSE);
    return vmat3_scale(vreal_set(-1),
                       vmat3_add(vmat3_scale(impulse, at.g), xpbi_load_matrix(s, slice, lane, XPBI_TENSOR)));
}

/* The constraint's correction m: velocities change by w_b m a_b. */
PBD_FN vmat3 xpbi_stress_move(const xpbi_solve_args *a, size_t slice, size_t lane, xpbi_point at) {
    const vmat3 error = xpbi_stress_error(&a->s, slice, lane, at),
                old = xpbi_load_matrix(&a->s, slice, lane, XPBI_TENSOR);
    const vmat3 solved = a->warm ? error : xpbi_solve_stress(&a->s, slice, lane, at, error);
    const vmat3 m = vmat3_scale(vreal_set(a->relaxation), solved), now = vmat3_add(old, m);
    const vvec3 column[3] = {now.x, now.y, now.z};
    for (int c = 0; c < 3; c++) {
        xpbi_set_entry(&a->s, slice, lane, XPBI_TENSOR + 3 * c, column[c].x);
        xpbi_set_entry(&a->s, slice, lane, XPBI_TENSOR + 3 * c + 1, column[c].y);
        xpbi_set_entry(&a->s, slice, lane, XPBI_TENSOR + 3 * c + 2, column[c].z);
    }
    return m;
}

/* Notes that the constraint in the lowest of `lanes` is idle. */
PBD_FN void xpbi_note_idle(const xpbi_solve_args *a, size_t slice, size_t lane, uint32_t lanes) {
    const size_t slot = slice * XPBI_LANES + lane + (size_t)lowest_bit(lanes);
    if (a->s.length[slot] != XPBI_ABSENT) a->note[a->s.own[slot]] |= XPBI_NOTE_IDLE;
}

PBD_FN vmat3 xpbi_scalar_move(const xpbi_solve_args *a, size_t slice, size_t lane, int kind, xpbi_point at) {
    const int entry = kind == XPBI_VOLUME ? XPBI_MULTIPLIER + 1 : XPBI_MULTIPLIER;
    const vreal l = xpbi_entry(&a->s, slice, lane, entry);
    vreal step;
    const vreal k = a->relaxation * xpbi_factor(a, slice, lane, kind, at, l, &step);
    xpbi_set_entry(&a->s, slice, lane, entry, l + a->relaxation * step);
    return vmat3_scale(k * xpbi_entry(&a->s, slice, lane, XPBI_IMPULSE), at.g);
}

PBD_FN void xpbi_move_row(vreal x[4], vvec3 by) {
    x[0] += x[3] * by.x;
    x[1] += x[3] * by.y;
    x[2] += x[3] * by.z;
}

PBD_FN void xpbi_solve_slice(const xpbi_solve_args *a, size_t slice, size_t lane, int kind) {
    const xpbi_slices *s = &a->s;
    const uint32_t *own = s->own + slice * XPBI_LANES + lane;
    const size_t begin = s->row[slice], end = s->row[slice + 1];
    xpbi_kept kept;
    vmat3 gradient = xpbi_velocity_gradient(s, a->v, slice, lane, own, &kept);
    if (a->warm) gradient = vmat3_scale(vreal_set(0), vmat3_identity());
    const xpbi_point at = xpbi_evaluate(a, slice, lane, kind, gradient);
    if (a->note && kind != XPBI_VOLUME)
        for (uint32_t idle = batch_bits((vmask)(at.c <= xpbi_least(at.mu))); idle; idle &= idle - 1)
            xpbi_note_idle(a, slice, lane, idle);
    vmat3 m;
    if (kind == XPBI_STRESS)
        m = xpbi_stress_move(a, slice, lane, at);
    else
        m = xpbi_scalar_move(a, slice, lane, kind, at);
    const vmat3 mapped = vmat3_mul(m, xpbi_load_matrix(s, slice, lane, XPBI_MAP));
    vreal x[4], at_own[4];
    batch_load_rows(s->x, own, 1, PBD_BATCH, at_own);
    for (size_t row = end; row-- > begin;) { /* backwards: what the first loop read last is in the cache */
        const uint32_t *index = s->neighbour + row * XPBI_LANES + lane;
        vvec3 t;
        if (row - begin < XPBI_KEPT) {
            t = kept.t[row - begin];
            for (int c = 0; c < 4; c++) x[c] = kept.v[row - begin][c];
        } else {
            t = xpbi_gradient(s, index, at_own);
            batch_load_rows(a->moved, index, 1, PBD_BATCH, x);
        }
        xpbi_move_row(x, vmat3_apply(mapped, t));
        batch_store_rows(a->moved, index, 1, PBD_BATCH, x);
    }
    /* Last, since padding rows also write the particle's own row. */
    batch_load_rows(a->moved, own, 1, PBD_BATCH, x);
    const vvec3 sum = vvec3_make(xpbi_entry(s, slice, lane, XPBI_SUM), xpbi_entry(s, slice, lane, XPBI_SUM + 1),
                                 xpbi_entry(s, slice, lane, XPBI_SUM + 2));
    xpbi_move_row(x, vmat3_apply(m, vvec3_scale(vreal_set(-1), sum)));
    batch_store_rows(a->moved, own, 1, PBD_BATCH, x);
}

/* An item is a cell, whose particles are projected one after another. The number of cells is a multiple of
 * XPBI_LANES. */
PBD_FN void xpbi_solve(const xpbi_solve_args *a, size_t first, int count) {
    (void)count;
    if (!xpbi_has_lane(a->stage, first)) return;
    const size_t lane = a->stage->lane + first, bundle = lane / XPBI_LANES;
    for (size_t slice = a->s.bundle[bundle]; slice < a->s.bundle[bundle + 1]; slice++) {
        const int last = a->form == XPBI_SHEAR ? XPBI_VOLUME : a->form;
        for (int kind = a->form; kind <= last; kind++) xpbi_solve_slice(a, slice, lane % XPBI_LANES, kind);
    }
}
/* Launched as xpbi_solve_cells. */

PBD_BATCH_OVER(xpbi_measure_residual, xpbi_solve_args, first, count, (9 + XPBI_SWEPT) * sizeof(real) + 8,
               XPBI_SOLVE_FLOPS, 8 * sizeof(real) + 4, 38) {
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES;
    const vmat3 gradient = xpbi_velocity_gradient(&a->s, a->v, slice, lane, a->s.own + first, NULL);
    vreal sum = vreal_set(0);
    const int last = a->form == XPBI_SHEAR ? XPBI_VOLUME : a->form;
    for (int kind = a->form; kind <= last; kind++) {
        const xpbi_point at = xpbi_evaluate(a, slice, lane, kind, gradient);
        if (kind == XPBI_STRESS) { /* in units of C: the error of the stress over sqrt(2 mu) */
            const vmat3 error = xpbi_stress_error(&a->s, slice, lane, at);
            const vreal impulse = vreal_max(xpbi_entry(&a->s, slice, lane, XPBI_IMPULSE), vreal_set(REAL_MIN));
            sum += vmat3_inner(error, error) / (impulse * impulse * 2 * at.mu);
        } else {
            const int entry = kind == XPBI_VOLUME ? XPBI_MULTIPLIER + 1 : XPBI_MULTIPLIER;
            const vreal h = at.c + xpbi_entry(&a->s, slice, lane, entry);
            sum += h * h;
        }
    }
    real out[PBD_BATCH];
    batch_store(out, 0, PBD_BATCH, sum);
    for (int i = 0; i < count; i++)
        a->residual[first + (size_t)i] = a->s.length[first + (size_t)i] == XPBI_ABSENT ? 0 : out[i];
}

/* ---- The end of a step ------------------------------------------------------------------------------------------- */

typedef struct xpbi_end_args {
    xpbi_slices s;
    xpbi_particles p;
    const real *v; /* velocities for the update of F */
    real *smooth;  /* smoothed velocities */
    real *plastic; /* by scene index, in units of u m^3: sum of plastic dissipation; NULL: not summed */
    flow_rule rule;
    real xsph, dt, mu, lambda;
    int printed, flows, elastic_volume, none;
} xpbi_end_args;

PBD_BATCH_OVER(xpbi_smooth, xpbi_end_args, first, count, 12 * sizeof(real) + 8, 6, 8 * sizeof(real) + 4, 33) {
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES;
    const uint32_t *own = a->s.own + first;
    vreal o[4], x[4], sum[3] = {vreal_set(0), vreal_set(0), vreal_set(0)};
    batch_load_rows(a->v, own, 1, count, o);
    batch_load_rows(a->s.x, own, 1, count, x);
    for (size_t row = a->s.row[slice], end = a->s.row[slice + 1]; row < end; row++) {
        const uint32_t *at = a->s.neighbour + row * XPBI_LANES + lane;
        vreal b[4], xb[4];
        batch_load_rows(a->v, at, 1, count, b);
        batch_load_rows(a->s.x, at, 1, count, xb);
        const vreal w = xpbi_smoothing_weight(a->s.support, a->printed, x, o, xb, b);
        for (int d = 0; d < 3; d++) sum[d] += w * (b[d] - o[d]);
    }
    for (int d = 0; d < 3; d++) o[d] = vreal_where(o[3] > 0, o[d] + a->xsph * sum[d], o[d]);
    xpbi_store_own(&a->s, a->smooth, 1, first, count, o);
}

/* Updates F with the velocity that also moves x (Eq. 22), except with deformation=before_xsph, and J by the whole
 * motion or by the elastic F. Positions and volumes are left to xpbi_carry, since other particles' gradients need the
 * old ones. */
PBD_BATCH_OVER(xpbi_advance, xpbi_end_args, first, count, 51 * sizeof(real) + 8, XPBI_FLOW_FLOPS, 8 * sizeof(real) + 4,
               38) {
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES;
    const uint32_t *own = a->s.own + first;
    const vmat3 gradient = xpbi_velocity_gradient(&a->s, a->v, slice, lane, own, NULL);
    const vmat3 b = vmat3_add(vmat3_identity(), vmat3_scale(vreal_set(a->dt), gradient));
    vflowed_body to;
    to.f = vmat3_mul(b, xpbi_load_matrix(&a->s, slice, lane, XPBI_F));
    to.state = xpbi_entry(&a->s, slice, lane, XPBI_STATE);
    vreal plastic = vreal_set(0);
    if (a->flows) {
        to = vflow_body(&a->rule, to.f, to.state, a->mu, a->lambda);
        if (a->plastic) plastic = vflow_hardening(&a->rule, to.state) * to.lost;
    }
    /* Bounds the change of volume in a step, for det B <= 0 too. */
    const vreal grown = vreal_min(vreal_max(vmat3_det(b), vreal_set((real)0.5)), vreal_set(2));
    const vreal least = vreal_set((real)0.125), most = vreal_set(8);
    const vreal volume = a->elastic_volume ? vmat3_det(to.f) : xpbi_entry(&a->s, slice, lane, XPBI_GROWTH) * grown;
    const vreal rest = xpbi_entry(&a->s, slice, lane, XPBI_REST_SIZE);
    const vreal row[3][4] = {
        {to.f.x.x, to.f.x.y, to.f.x.z, rest},
        {to.f.y.x, to.f.y.y, to.f.y.z, vreal_where(volume > least, vreal_where(volume < most, volume, most), least)},
        {to.f.z.x, to.f.z.y, to.f.z.z, to.state}};
    for (size_t c = 0; c < 3; c++) xpbi_store_own(&a->s, a->p.body + 4 * c, 3, first, count, row[c]);
    if (!a->plastic) return;
    real lost[PBD_BATCH];
    batch_store(lost, 0, PBD_BATCH, rest * plastic);
    for (int i = 0; i < count; i++)
        if (a->s.length[first + (size_t)i] != XPBI_ABSENT) a->plastic[a->p.id[own[i]]] += lost[i];
}

#endif
