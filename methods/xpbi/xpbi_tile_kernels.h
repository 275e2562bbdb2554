/* The constraints of XPBI for a GPU: a tile processes the particles of a cell one after another, with its lanes over
 * the neighbours of each. Computes the same as xpbi_solve, which is its reference and its body on the CPU.
 *
 * Reason: a colour of a million particles has about 4,600 cells of eight, and one thread per cell would leave most of a
 * large GPU idle and wait for one neighbour after another. With eight lanes per cell there are eight times as many
 * threads; a block of 128 handles a bundle of 16 cells, whose rows are contiguous and fill whole cache sectors; and a
 * particle with 30 neighbours waits for memory four times instead of thirty. Not measured on a GPU yet. Estimates: an
 * update of a neighbour moves 52 bytes in f32 (index 4, position 16, velocity 16 in and 16 out), of which the positions
 * and velocities of a million particles stay in a cache of 50 MB; and 216 updates, of 8 particles per cell in each of
 * 27 colours, are sequential for any size of the body. */
#ifndef PBD_XPBI_TILE_KERNELS_H
#define PBD_XPBI_TILE_KERNELS_H

#include "harness/exec/tile.h"
#include "methods/xpbi/xpbi_constraint_kernels.h"

#if PBD_BATCH == 1

/* The first XPBI_HELD neighbours of a lane stay in registers from the gradient to the move: their loads do not depend
 * on one another, and nothing is read twice. The rest of longer lists is read again. */
enum { XPBI_HELD = 4 };

typedef struct xpbi_held {
    real own[4];
    uint32_t at[XPBI_HELD];
    real v[XPBI_HELD][4];
    vvec3 t[XPBI_HELD];
} xpbi_held;

PBD_FN uint32_t xpbi_read_index(const xpbi_slices *s, size_t row, size_t lane) {
    return PBD_READ_ONLY(s->neighbour + row * XPBI_LANES + lane);
}

/* Loads v and t of the held neighbours; called by all lanes. Every loop over held neighbours has a constant trip
 * count. */
PBD_FN void xpbi_hold(const xpbi_slices *s, const real *v, size_t slot, uint32_t length, xpbi_held *held) {
    const size_t lane = slot % XPBI_LANES, begin = s->row[slot / XPBI_LANES];
    for (uint32_t k = 0; k < XPBI_HELD; k++) {
        const uint32_t r = (uint32_t)PBD_LANE + k * PBD_LANES;
        held->at[k] = r < length ? xpbi_read_index(s, begin + r, lane) : 0;
    }
    const uint32_t own = PBD_READ_ONLY(s->own + slot);
    real x[4];
    row_load(s->x + 4 * (size_t)own, x);
    row_load(v + 4 * (size_t)own, held->own);
    for (uint32_t k = 0; k < XPBI_HELD; k++) {
        const int there = (uint32_t)PBD_LANE + k * PBD_LANES < length;
        held->t[k] = there ? xpbi_gradient(s, held->at + k, x) : vvec3_make(0, 0, 0);
    }
    for (uint32_t k = 0; k < XPBI_HELD; k++) {
        for (int d = 0; d < 4; d++) held->v[k][d] = 0;
        if ((uint32_t)PBD_LANE + k * PBD_LANES < length) row_load(v + 4 * (size_t)held->at[k], held->v[k]);
    }
}

PBD_FN void xpbi_tile_add(real sum[9], const real b[4], const real o[4], vvec3 t) {
    for (int d = 0; d < 3; d++) {
        const real by = b[d] - o[d];
        sum[d] += by * t.x;
        sum[3 + d] += by * t.y;
        sum[6 + d] += by * t.z;
    }
}

/* t of a neighbour that is not held. */
PBD_FN vvec3 xpbi_tile_plain(const xpbi_slices *s, size_t slot, uint32_t at) {
    real x[4];
    row_load(s->x + 4 * (size_t)PBD_READ_ONLY(s->own + slot), x);
    return xpbi_gradient(s, &at, x);
}

/* The velocity gradient at a particle with `length` neighbours, in all lanes. */
PBD_FN vmat3 xpbi_tile_gradient(const xpbi_slices *s, const real *v, size_t slot, uint32_t length,
                                const xpbi_held *held) {
    const size_t lane = slot % XPBI_LANES, begin = s->row[slot / XPBI_LANES];
    real sum[9] = {0};
    for (uint32_t k = 0; k < XPBI_HELD; k++)
        if ((uint32_t)PBD_LANE + k * PBD_LANES < length) xpbi_tile_add(sum, held->v[k], held->own, held->t[k]);
    for (size_t row = begin + PBD_LANE + XPBI_HELD * PBD_LANES; row < begin + length; row += PBD_LANES) {
        const uint32_t at = xpbi_read_index(s, row, lane);
        real b[4];
        row_load(v + 4 * (size_t)at, b);
        xpbi_tile_add(sum, b, held->own, xpbi_tile_plain(s, slot, at));
    }
    tile_sums(sum, 9);
    const vmat3 plain = vmat3_make(vvec3_make(sum[0], sum[1], sum[2]), vvec3_make(sum[3], sum[4], sum[5]),
                                   vvec3_make(sum[6], sum[7], sum[8]));
    return vmat3_mul_transposed(plain, xpbi_load_matrix(s, slot / XPBI_LANES, lane, XPBI_MAP));
}

/* As xpbi_scalar_move and xpbi_stress_move, but one lane writes after all have read. */
PBD_FN vmat3 xpbi_tile_scalar_move(const xpbi_solve_args *a, size_t slice, size_t lane, int kind, xpbi_point at) {
    const int entry = kind == XPBI_VOLUME ? XPBI_MULTIPLIER + 1 : XPBI_MULTIPLIER;
    const real l = xpbi_entry(&a->s, slice, lane, entry);
    real step;
    const real k = a->relaxation * xpbi_factor(a, slice, lane, kind, at, l, &step);
    tile_barrier();
    if (PBD_LANE == 0) xpbi_set_entry(&a->s, slice, lane, entry, l + a->relaxation * step);
    return vmat3_scale(k * xpbi_entry(&a->s, slice, lane, XPBI_IMPULSE), at.g);
}

PBD_FN void xpbi_store_tensor(const xpbi_slices *s, size_t slice, size_t lane, vmat3 m) {
    const vvec3 column[3] = {m.x, m.y, m.z};
    for (int c = 0; c < 3; c++) {
        xpbi_set_entry(s, slice, lane, XPBI_TENSOR + 3 * c, column[c].x);
        xpbi_set_entry(s, slice, lane, XPBI_TENSOR + 3 * c + 1, column[c].y);
        xpbi_set_entry(s, slice, lane, XPBI_TENSOR + 3 * c + 2, column[c].z);
    }
}

PBD_FN vmat3 xpbi_tile_stress_move(const xpbi_solve_args *a, size_t slice, size_t lane, xpbi_point at) {
    const vmat3 error = xpbi_stress_error(&a->s, slice, lane, at),
                old = xpbi_load_matrix(&a->s, slice, lane, XPBI_TENSOR);
    const vmat3 solved = a->warm ? error : xpbi_solve_stress(&a->s, slice, lane, at, error);
    const vmat3 m = vmat3_scale(a->relaxation, solved), now = vmat3_add(old, m);
    tile_barrier();
    if (PBD_LANE == 0) xpbi_store_tensor(&a->s, slice, lane, now);
    return m;
}

/* Each lane moves its neighbours; one lane moves the own particle after all have read its velocity. */
PBD_FN void xpbi_tile_move(const xpbi_solve_args *a, size_t slot, uint32_t length, vmat3 m, xpbi_held *held) {
    const xpbi_slices *s = &a->s;
    const size_t slice = slot / XPBI_LANES, lane = slot % XPBI_LANES, begin = s->row[slice];
    const vmat3 mapped = vmat3_mul(m, xpbi_load_matrix(s, slice, lane, XPBI_MAP));
    for (uint32_t k = 0; k < XPBI_HELD; k++) {
        if ((uint32_t)PBD_LANE + k * PBD_LANES >= length) continue;
        xpbi_move_row(held->v[k], vmat3_apply(mapped, held->t[k]));
        row_store(a->moved + 4 * (size_t)held->at[k], held->v[k]);
    }
    for (size_t row = begin + PBD_LANE + XPBI_HELD * PBD_LANES; row < begin + length; row += PBD_LANES) {
        const uint32_t at = xpbi_read_index(s, row, lane);
        real x[4];
        row_load(a->moved + 4 * (size_t)at, x);
        xpbi_move_row(x, vmat3_apply(mapped, xpbi_tile_plain(s, slot, at)));
        row_store(a->moved + 4 * (size_t)at, x);
    }
    if (PBD_LANE != 0) return;
    const vvec3 sum = vvec3_make(xpbi_entry(s, slice, lane, XPBI_SUM), xpbi_entry(s, slice, lane, XPBI_SUM + 1),
                                 xpbi_entry(s, slice, lane, XPBI_SUM + 2));
    xpbi_move_row(held->own, vmat3_apply(m, vvec3_scale(-1, sum)));
    row_store(a->moved + 4 * (size_t)s->own[slot], held->own);
}

PBD_FN void xpbi_tile_solve(const xpbi_solve_args *a, size_t slot, uint32_t length, int kind) {
    const size_t slice = slot / XPBI_LANES, lane = slot % XPBI_LANES;
    vmat3 gradient = vmat3_scale(0, vmat3_identity());
    xpbi_held held;
    xpbi_hold(&a->s, a->v, slot, length, &held);
    if (!a->warm) gradient = xpbi_tile_gradient(&a->s, a->v, slot, length, &held);
    const xpbi_point at = xpbi_evaluate(a, slice, lane, kind, gradient);
    if (PBD_LANE == 0 && a->note && kind != XPBI_VOLUME && at.c <= xpbi_least(at.mu)) xpbi_note_idle(a, slice, lane, 1);
    const vmat3 m = kind == XPBI_STRESS ? xpbi_tile_stress_move(a, slice, lane, at)
                                        : xpbi_tile_scalar_move(a, slice, lane, kind, at);
    xpbi_tile_move(a, slot, length, m, &held);
    tile_barrier(); /* the next particle may be a neighbour of this one */
}

#endif

/* An item is a cell; work: its particles and their neighbours. Padding slots of a cell come last. On the CPU
 * xpbi_solve processes whole batches: the number of cells is a multiple of XPBI_LANES. */
PBD_TILE_OVER(xpbi_solve_cells, xpbi_solve_args, item, (13 + XPBI_SWEPT) * sizeof(real) + 8, 560, 12 * sizeof(real) + 4,
              68) {
#if PBD_BATCH == 1
    if (!xpbi_has_lane(a->stage, item)) return;
    const size_t at = a->stage->lane + item, bundle = at / XPBI_LANES;
    const int last = a->form == XPBI_SHEAR ? XPBI_VOLUME : a->form;
    for (size_t slice = a->s.bundle[bundle]; slice < a->s.bundle[bundle + 1]; slice++) {
        const size_t slot = slice * XPBI_LANES + at % XPBI_LANES;
        const uint32_t length = a->s.length[slot];
        if (length == XPBI_ABSENT) return;
        for (int kind = a->form; kind <= last; kind++) xpbi_tile_solve(a, slot, length, kind);
    }
#else
    if (item % PBD_BATCH == 0) xpbi_solve(a, item, PBD_BATCH);
#endif
}

#endif
