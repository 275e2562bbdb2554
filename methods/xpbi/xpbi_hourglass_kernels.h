/* Hourglass control for xpbi: springs against zero-energy motions, after Ganzenmueller (2015; README.md). Not in
 * yu2024.
 *
 * The velocity gradient at p is a weighted difference of its neighbours' velocities. On a lattice it is therefore
 * independent of p itself and of alternating motions of neighbours. Such motions have no energy: under load, layers
 * slide past each other until they leave the kernel, and the body tears (measured in README.md).
 *
 * Each particle stores its deviation from the position that its neighbours' affine motion gives,
 *
 *     d' = B d + dt sum_b c_b (v_b - v_p),   c_b = omega_b - a_b . sum_b omega_b (x_b - x_p),   omega_b = W_b/sum W,
 *
 * which is 0 for every affine motion, with the spring energy 1/2 k |d'|^2, k = zeta E V0/r^2: an XPBD constraint with l
 * = alpha~ lambda and k dt^2 D in its denominator, D = sum_b w_b c_b^2 + w_p (sum_b c_b)^2. Its impulses conserve both
 * momenta, because sum_b c_b (x_b - x_p) = 0. */
#ifndef PBD_XPBI_HOURGLASS_KERNELS_H
#define PBD_XPBI_HOURGLASS_KERNELS_H

#include "methods/xpbi/xpbi_constraint_kernels.h"

/* Entries of a constraint, counted from s.hourglass. */
enum {
    HOURGLASS_SHARE = 0,  /* 1/sum W */
    HOURGLASS_MIDDLE = 1, /* 3: sum_b omega_b (x_b - x_p) */
    HOURGLASS_SUM = 4,    /* sum_b c_b */
    HOURGLASS_GAIN = 5,   /* 1/(1 + k dt^2 D) */
    HOURGLASS_SPRING = 6, /* k dt */
    HOURGLASS_STRAY = 7,  /* 3: d at t^n */
    HOURGLASS_TAKEN = 10, /* 3: l */
    HOURGLASS_ENTRIES = 13
};

typedef struct xpbi_hourglass_args {
    xpbi_slices s;
    xpbi_particles p;
    const uint32_t *note; /* by particle */
    real *v;
    const xpbi_stage_numbers *stage; /* the next one follows it */
    real stiffness, dt;              /* stiffness: zeta E/r^2 */
} xpbi_hourglass_args;

PBD_FN vreal hourglass_entry(const xpbi_slices *s, size_t slice, size_t lane, int e) {
    return xpbi_entry(s, slice, lane, (int)s->hourglass + e);
}

PBD_FN vvec3 hourglass_vector(const xpbi_slices *s, size_t slice, size_t lane, int e) {
    return vvec3_make(hourglass_entry(s, slice, lane, e), hourglass_entry(s, slice, lane, e + 1),
                      hourglass_entry(s, slice, lane, e + 2));
}

PBD_FN void hourglass_set(const xpbi_slices *s, size_t slice, size_t lane, int e, vreal x) {
    xpbi_set_entry(s, slice, lane, (int)s->hourglass + e, x);
}

PBD_FN void hourglass_set_vector(const xpbi_slices *s, size_t slice, size_t lane, int e, vvec3 x) {
    hourglass_set(s, slice, lane, e, x.x);
    hourglass_set(s, slice, lane, e + 1, x.y);
    hourglass_set(s, slice, lane, e + 2, x.z);
}

/* What is common to all c_b of a particle: a_b . M = t_b . T^T M. */
typedef struct hourglass_shared {
    vreal share, x[4]; /* x: row of the particle */
    vvec3 middle;      /* T^T M */
} hourglass_shared;

PBD_FN hourglass_shared hourglass_shared_of(const xpbi_slices *s, size_t slice, size_t lane, vreal share,
                                            vvec3 middle) {
    const vmat3 map = xpbi_load_matrix(s, slice, lane, XPBI_MAP);
    hourglass_shared out;
    out.share = share;
    batch_load_rows(s->x, s->own + slice * XPBI_LANES + lane, 1, PBD_BATCH, out.x);
    out.middle = vvec3_make(vvec3_dot(map.x, middle), vvec3_dot(map.y, middle), vvec3_dot(map.z, middle));
    return out;
}

/* c_b of a row; undefined in padding rows, which name the particle itself. */
PBD_FN vreal hourglass_weight(const xpbi_slices *s, size_t row, size_t lane, const hourglass_shared *of) {
    const size_t at = row * XPBI_LANES + lane;
    return of->share * batch_load(s->smoothing + at, 0, PBD_BATCH) -
           vvec3_dot(xpbi_gradient(s, s->neighbour + at, of->x), of->middle);
}

/* sum_b c_b (v_b - v_p). */
PBD_FN vvec3 hourglass_velocity(const xpbi_slices *s, const real *v, size_t slice, size_t lane, const vreal own[4]) {
    const vreal zero = vreal_set(0);
    const hourglass_shared of = hourglass_shared_of(s, slice, lane, hourglass_entry(s, slice, lane, HOURGLASS_SHARE),
                                                    hourglass_vector(s, slice, lane, HOURGLASS_MIDDLE));
    vvec3 sum = vvec3_make(zero, zero, zero);
    for (size_t row = s->row[slice], end = s->row[slice + 1]; row < end; row++) {
        vreal b[4];
        batch_load_rows(v, s->neighbour + row * XPBI_LANES + lane, 1, PBD_BATCH, b);
        const vreal c = hourglass_weight(s, row, lane, &of);
        sum = vvec3_add(sum, vvec3_scale(c, vvec3_make(b[0] - own[0], b[1] - own[1], b[2] - own[2])));
    }
    return sum;
}

/* 1 for particles with an hourglass constraint, which have neighbours in all directions; else 0. */
PBD_FN vreal hourglass_held(const xpbi_hourglass_args *a, size_t first) {
    real held[PBD_BATCH];
    for (int l = 0; l < PBD_BATCH; l++) {
        const size_t slot = first + (size_t)l;
        held[l] = a->s.length[slot] != XPBI_ABSENT && !(a->note[a->s.own[slot]] & XPBI_NOTE_DEFICIENT);
    }
    return batch_load(held, 0, PBD_BATCH);
}

/* After xpbi_make_gradients. */
PBD_BATCH_OVER(xpbi_make_hourglass, xpbi_hourglass_args, first, count, (22 + HOURGLASS_ENTRIES) * sizeof(real) + 12, 45,
               9 * sizeof(real) + 4, 60) {
    (void)count;
    const xpbi_slices *s = &a->s;
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES, begin = s->row[slice], end = s->row[slice + 1];
    const uint32_t *own = s->own + first;
    const vreal zero = vreal_set(0);
    vreal x[4], v[4], stray[4], sum = zero, squares = zero, total = zero;
    vvec3 middle = vvec3_make(zero, zero, zero);
    batch_load_rows(s->x, own, 1, PBD_BATCH, x);
    batch_load_rows(a->p.v, own, 1, PBD_BATCH, v);
    batch_load_rows(a->p.stray, own, 1, PBD_BATCH, stray);
    for (size_t row = begin; row < end; row++) {
        vreal b[4];
        batch_load_rows(s->x, s->neighbour + row * XPBI_LANES + lane, 1, PBD_BATCH, b);
        const vvec3 d = vvec3_make(b[0] - x[0], b[1] - x[1], b[2] - x[2]);
        const vreal w =
            vreal_where(vvec3_dot(d, d) > 0, batch_load(s->smoothing + row * XPBI_LANES + lane, 0, PBD_BATCH), zero);
        sum += w;
        middle = vvec3_add(middle, vvec3_scale(w, d));
    }
    const vreal share = 1 / vreal_max(sum, vreal_set(REAL_MIN));
    middle = vvec3_scale(share, middle);
    const hourglass_shared of = hourglass_shared_of(s, slice, lane, share, middle);
    for (size_t row = begin; row < end; row++) {
        const uint32_t *at = s->neighbour + row * XPBI_LANES + lane;
        vreal b[4], other[4];
        batch_load_rows(s->x, at, 1, PBD_BATCH, other);
        batch_load_rows(a->p.v, at, 1, PBD_BATCH, b);
        const vvec3 d = vvec3_make(other[0] - x[0], other[1] - x[1], other[2] - x[2]);
        const vreal c = vreal_where(vvec3_dot(d, d) > 0, hourglass_weight(s, row, lane, &of), zero);
        total += c;
        squares += b[3] * c * c;
    }
    const vreal size = xpbi_entry(s, slice, lane, XPBI_REST_SIZE);
    const vreal held = hourglass_held(a, first), spring = held * a->stiffness * a->dt * size;
    hourglass_set(s, slice, lane, HOURGLASS_SHARE, share);
    hourglass_set_vector(s, slice, lane, HOURGLASS_MIDDLE, middle);
    hourglass_set(s, slice, lane, HOURGLASS_SUM, total);
    hourglass_set(s, slice, lane, HOURGLASS_GAIN, 1 / (1 + spring * a->dt * (squares + v[3] * total * total)));
    hourglass_set(s, slice, lane, HOURGLASS_SPRING, spring);
    hourglass_set_vector(s, slice, lane, HOURGLASS_STRAY, vvec3_make(stray[0], stray[1], stray[2]));
    hourglass_set_vector(s, slice, lane, HOURGLASS_TAKEN, vvec3_make(zero, zero, zero));
}

PBD_FN void hourglass_hold_slice(const xpbi_hourglass_args *a, size_t slice, size_t lane) {
    const xpbi_slices *s = &a->s;
    const uint32_t *own = s->own + slice * XPBI_LANES + lane;
    vreal v[4];
    batch_load_rows(a->v, own, 1, PBD_BATCH, v);
    const vvec3 stray = hourglass_vector(s, slice, lane, HOURGLASS_STRAY);
    const vvec3 taken = hourglass_vector(s, slice, lane, HOURGLASS_TAKEN);
    const vvec3 e = hourglass_velocity(s, a->v, slice, lane, v);
    const vvec3 h = vvec3_add(vvec3_add(stray, vvec3_scale(vreal_set(a->dt), e)), taken);
    const vvec3 step = vvec3_scale(-hourglass_entry(s, slice, lane, HOURGLASS_GAIN), h);
    hourglass_set_vector(s, slice, lane, HOURGLASS_TAKEN, vvec3_add(taken, step));
    const vvec3 impulse = vvec3_scale(hourglass_entry(s, slice, lane, HOURGLASS_SPRING), step);
    const hourglass_shared of = hourglass_shared_of(s, slice, lane, hourglass_entry(s, slice, lane, HOURGLASS_SHARE),
                                                    hourglass_vector(s, slice, lane, HOURGLASS_MIDDLE));
    for (size_t row = s->row[slice], end = s->row[slice + 1]; row < end; row++) {
        const uint32_t *at = s->neighbour + row * XPBI_LANES + lane;
        vreal b[4];
        batch_load_rows(a->v, at, 1, PBD_BATCH, b);
        xpbi_move_row(b, vvec3_scale(hourglass_weight(s, row, lane, &of), impulse));
        batch_store_rows(a->v, at, 1, PBD_BATCH, b);
    }
    /* Last, since padding rows wrote to the particle itself. */
    xpbi_move_row(v, vvec3_scale(-hourglass_entry(s, slice, lane, HOURGLASS_SUM), impulse));
    batch_store_rows(a->v, own, 1, PBD_BATCH, v);
}

PBD_BATCH_OVER(xpbi_project_hourglass, xpbi_hourglass_args, first, count,
               (21 + HOURGLASS_ENTRIES + 3) * sizeof(real) + 4, 55, 13 * sizeof(real) + 4, 60) {
    (void)count;
    if (!xpbi_has_lane(a->stage, first)) return;
    const size_t lane = a->stage->lane + first, bundle = lane / XPBI_LANES;
    for (size_t slice = a->s.bundle[bundle]; slice < a->s.bundle[bundle + 1]; slice++)
        hourglass_hold_slice(a, slice, lane % XPBI_LANES);
}

/* Before xpbi_advance, with the same velocities. */
PBD_BATCH_OVER(xpbi_update_hourglass, xpbi_hourglass_args, first, count, 27 * sizeof(real) + 8, 60,
               9 * sizeof(real) + 4, 70) {
    const size_t slice = first / XPBI_LANES, lane = first % XPBI_LANES;
    const uint32_t *own = a->s.own + first;
    vreal v[4];
    batch_load_rows(a->v, own, 1, PBD_BATCH, v);
    const vmat3 gradient = xpbi_velocity_gradient(&a->s, a->v, slice, lane, own, NULL);
    const vvec3 old = hourglass_vector(&a->s, slice, lane, HOURGLASS_STRAY);
    const vvec3 change = vvec3_add(vmat3_apply(gradient, old), hourglass_velocity(&a->s, a->v, slice, lane, v));
    const vvec3 now = vvec3_add(old, vvec3_scale(vreal_set(a->dt), change));
    real out[3][PBD_BATCH];
    batch_store(out[0], 0, PBD_BATCH, now.x);
    batch_store(out[1], 0, PBD_BATCH, now.y);
    batch_store(out[2], 0, PBD_BATCH, now.z);
    for (int i = 0; i < count; i++)
        if (a->s.length[first + (size_t)i] != XPBI_ABSENT)
            for (size_t d = 0; d < 3; d++) a->p.stray[4 * (size_t)own[i] + d] = out[d][i];
}

#endif
