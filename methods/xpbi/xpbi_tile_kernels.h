/* The constraints of XPBI for a GPU: a tile processes the particles of a cell one after another, with its lanes over
 * the neighbours of each. Computes the same as xpbi_solve, which is its reference and its body on the CPU.
 *
 * Reason: a colour of a million particles has about 4,600 cells of eight, and one thread per cell would leave most of a
 * large GPU idle and wait for one neighbour after another. With eight lanes per cell there are eight times as many
 * threads; a block of 128 handles a bundle of 16 cells, whose rows are contiguous and fill whole cache sectors; and a
 * particle with 30 neighbours waits for memory four times instead of thirty. While a particle is solved, its lanes
 * fetch what the sweep does not change of the next one into shared memory: positions of its neighbours, and indices of
 * those of the one after that. So a solve waits for velocities, and not for indices and positions before them. Not
 * measured on a GPU yet. Estimates: an update of a neighbour moves 52 bytes in f32 (index 4, position 16, velocity 16
 * in and 16 out), of which the positions and velocities of a million particles stay in a cache of 50 MB; and 216
 * updates, of 8 particles per cell in each of 27 colours, are sequential for any size of the body. */
#ifndef PBD_XPBI_TILE_KERNELS_H
#define PBD_XPBI_TILE_KERNELS_H

#include "harness/exec/tile.h"
#include "methods/xpbi/xpbi_constraint_kernels.h"

#if PBD_BATCH == 1

/* The first XPBI_HELD neighbours of a lane are fetched ahead, and their velocities stay in registers from the gradient
 * to the move. Their t are computed for both, since registers for them would be too many in f64. The rest of longer
 * lists is read again. Every loop over held neighbours has a constant trip count. */
enum { XPBI_HELD = 4, XPBI_FETCHED = XPBI_HELD + 1 }; /* the own particle comes last */

typedef struct xpbi_held {
    real own[4];
    uint32_t self, at[XPBI_HELD];
    real v[XPBI_HELD][4];
} xpbi_held;

PBD_FN uint32_t xpbi_read_index(const xpbi_slices *s, size_t row, size_t lane) {
    return PBD_READ_ONLY(s->neighbour + row * XPBI_LANES + lane);
}

/* The list of a particle of the cell: its first row and its length; XPBI_ABSENT: there is no particle. */
typedef struct xpbi_member {
    uint32_t row, length;
} xpbi_member;

/* What a lane has fetched, in shared memory: indices, and rows of positions, for two particles in turn. */
typedef struct xpbi_fetched {
    uint32_t *index; /* 2 x XPBI_FETCHED, PBD_BLOCK apart */
    real *x;         /* 2 x XPBI_FETCHED rows of four, PBD_BLOCK rows apart */
} xpbi_fetched;

PBD_FN uint32_t *xpbi_index_of(const xpbi_fetched *f, int turn, uint32_t k) {
    return f->index + ((uint32_t)turn * XPBI_FETCHED + k) * PBD_BLOCK;
}

PBD_FN real *xpbi_row_of(const xpbi_fetched *f, int turn, uint32_t k) {
    return f->x + ((uint32_t)turn * XPBI_FETCHED + k) * 4 * PBD_BLOCK;
}

PBD_FN int xpbi_has_neighbour(xpbi_member m, uint32_t k) { return (uint32_t)PBD_LANE + k * PBD_LANES < m.length; }

/* The particle in slice number `slice` of the cell in `lane` of a bundle whose slices end at `end`. */
PBD_FN xpbi_member xpbi_member_of(const xpbi_slices *s, uint32_t slice, uint32_t end, uint32_t lane) {
    xpbi_member m;
    m.row = slice < end ? PBD_READ_ONLY(s->row + slice) : 0;
    m.length = slice < end ? PBD_READ_ONLY(s->length + slice * XPBI_LANES + lane) : XPBI_ABSENT;
    return m;
}

PBD_FN void xpbi_fetch_indices(const xpbi_slices *s, uint32_t slot, xpbi_member m, int turn, const xpbi_fetched *f) {
    if (m.length == XPBI_ABSENT) return;
    const uint32_t *at = s->neighbour + (m.row + (uint32_t)PBD_LANE) * XPBI_LANES + slot % XPBI_LANES;
    for (uint32_t k = 0; k < XPBI_HELD; k++)
        if (xpbi_has_neighbour(m, k))
            lane_fetch(xpbi_index_of(f, turn, k), at + k * PBD_LANES * XPBI_LANES, sizeof *at);
    lane_fetch(xpbi_index_of(f, turn, XPBI_HELD), s->own + slot, sizeof *s->own);
}

/* Needs complete indices. */
PBD_FN void xpbi_fetch_rows(const xpbi_slices *s, xpbi_member m, int turn, const xpbi_fetched *f) {
    if (m.length == XPBI_ABSENT) return;
    for (uint32_t k = 0; k < XPBI_FETCHED; k++)
        if (k == XPBI_HELD || xpbi_has_neighbour(m, k))
            lane_fetch_row(xpbi_row_of(f, turn, k), s->x + 4 * (size_t)*xpbi_index_of(f, turn, k));
}

/* The block's tiles ask for the entries of a slice, a cache line each. */
PBD_FN void xpbi_prefetch_entries(const xpbi_slices *s, size_t slice, size_t tile) {
    enum { LINE = 128, BYTES = XPBI_SWEPT * XPBI_LANES * sizeof(real) };
    const size_t at = LINE * (tile + XPBI_LANES * (size_t)PBD_LANE);
    if (at < BYTES) lane_prefetch((const char *)(s->entry + slice * s->entries * XPBI_LANES) + at);
}

/* t of a held neighbour. */
PBD_FN vvec3 xpbi_fetched_gradient(const xpbi_slices *s, const xpbi_fetched *f, int turn, uint32_t k) {
    real x[4], b[4];
    row_load(xpbi_row_of(f, turn, XPBI_HELD), x);
    row_load(xpbi_row_of(f, turn, k), b);
    return xpbi_plain_gradient(s->support, vvec3_make(b[0] - x[0], b[1] - x[1], b[2] - x[2]), b[3]);
}

/* t of a neighbour that is not held. */
PBD_FN vvec3 xpbi_tile_plain(const xpbi_slices *s, const xpbi_fetched *f, int turn, uint32_t at) {
    real x[4];
    row_load(xpbi_row_of(f, turn, XPBI_HELD), x);
    return xpbi_gradient(s, &at, x);
}

PBD_FN void xpbi_take_indices(xpbi_member m, const xpbi_fetched *f, int turn, xpbi_held *held) {
    held->self = *xpbi_index_of(f, turn, XPBI_HELD);
    for (uint32_t k = 0; k < XPBI_HELD; k++) held->at[k] = xpbi_has_neighbour(m, k) ? *xpbi_index_of(f, turn, k) : 0;
}

/* Loads the velocities of the particle and of its held neighbours. */
PBD_FN void xpbi_hold(const real *v, xpbi_member m, xpbi_held *held) {
    row_load(v + 4 * (size_t)held->self, held->own);
    for (uint32_t k = 0; k < XPBI_HELD; k++) {
        for (int d = 0; d < 4; d++) held->v[k][d] = 0;
        if (xpbi_has_neighbour(m, k)) row_load(v + 4 * (size_t)held->at[k], held->v[k]);
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

/* The velocity gradient at a particle, in all lanes. */
PBD_FN vmat3 xpbi_tile_gradient(const xpbi_slices *s, const real *v, uint32_t slot, xpbi_member m,
                                const xpbi_fetched *f, int turn, const xpbi_held *held) {
    const uint32_t lane = slot % XPBI_LANES;
    real sum[9] = {0};
    for (uint32_t k = 0; k < XPBI_HELD; k++)
        if (xpbi_has_neighbour(m, k)) xpbi_tile_add(sum, held->v[k], held->own, xpbi_fetched_gradient(s, f, turn, k));
    for (size_t row = m.row + PBD_LANE + XPBI_HELD * PBD_LANES; row < m.row + m.length; row += PBD_LANES) {
        const uint32_t at = xpbi_read_index(s, row, lane);
        real b[4];
        row_load(v + 4 * (size_t)at, b);
        xpbi_tile_add(sum, b, held->own, xpbi_tile_plain(s, f, turn, at));
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
PBD_FN void xpbi_tile_move(const xpbi_solve_args *a, uint32_t slot, xpbi_member m, const xpbi_fetched *f, int turn,
                           vmat3 by, xpbi_held *held) {
    const xpbi_slices *s = &a->s;
    const uint32_t slice = slot / XPBI_LANES, lane = slot % XPBI_LANES;
    const vmat3 mapped = vmat3_mul(by, xpbi_load_matrix(s, slice, lane, XPBI_MAP));
    for (uint32_t k = 0; k < XPBI_HELD; k++) {
        if (!xpbi_has_neighbour(m, k)) continue;
        xpbi_move_row(held->v[k], vmat3_apply(mapped, xpbi_fetched_gradient(s, f, turn, k)));
        row_store(a->moved + 4 * (size_t)held->at[k], held->v[k]);
    }
    for (size_t row = m.row + PBD_LANE + XPBI_HELD * PBD_LANES; row < m.row + m.length; row += PBD_LANES) {
        const uint32_t at = xpbi_read_index(s, row, lane);
        real x[4];
        row_load(a->moved + 4 * (size_t)at, x);
        xpbi_move_row(x, vmat3_apply(mapped, xpbi_tile_plain(s, f, turn, at)));
        row_store(a->moved + 4 * (size_t)at, x);
    }
    if (PBD_LANE != 0) return;
    const vvec3 sum = vvec3_make(xpbi_entry(s, slice, lane, XPBI_SUM), xpbi_entry(s, slice, lane, XPBI_SUM + 1),
                                 xpbi_entry(s, slice, lane, XPBI_SUM + 2));
    xpbi_move_row(held->own, vmat3_apply(by, vvec3_scale(-1, sum)));
    row_store(a->moved + 4 * (size_t)held->self, held->own);
}

PBD_FN void xpbi_tile_solve(const xpbi_solve_args *a, uint32_t slot, xpbi_member m, int kind, const xpbi_fetched *f,
                            int turn, xpbi_held *held) {
    const uint32_t slice = slot / XPBI_LANES, lane = slot % XPBI_LANES;
    vmat3 gradient = vmat3_scale(0, vmat3_identity());
    if (!a->warm) gradient = xpbi_tile_gradient(&a->s, a->v, slot, m, f, turn, held);
    const xpbi_point at = xpbi_evaluate(a, slice, lane, kind, gradient);
    if (PBD_LANE == 0 && a->note && kind != XPBI_VOLUME && at.c <= xpbi_least(at.mu)) xpbi_note_idle(a, slice, lane, 1);
    const vmat3 by = kind == XPBI_STRESS ? xpbi_tile_stress_move(a, slice, lane, at)
                                         : xpbi_tile_scalar_move(a, slice, lane, kind, at);
    xpbi_tile_move(a, slot, m, f, turn, by, held);
    tile_barrier(); /* the next particle may be a neighbour of this one */
}

/* The particles of a cell, one after another. */
PBD_FN void xpbi_tile_cell(const xpbi_solve_args *a, size_t cell, const xpbi_fetched *f) {
    const xpbi_slices *s = &a->s;
    const uint32_t lane = (uint32_t)(cell % XPBI_LANES), end = s->bundle[cell / XPBI_LANES + 1];
    const int last = a->form == XPBI_SHEAR ? XPBI_VOLUME : a->form;
    uint32_t slice = s->bundle[cell / XPBI_LANES];
    int turn = 0;
    xpbi_member now = xpbi_member_of(s, slice, end, lane), next = xpbi_member_of(s, slice + 1, end, lane);
    xpbi_fetch_indices(s, XPBI_LANES * slice + lane, now, 0, f);
    lane_fetch_wait();
    xpbi_fetch_rows(s, now, 0, f);
    xpbi_fetch_indices(s, XPBI_LANES * (slice + 1) + lane, next, 1, f);
    for (; now.length != XPBI_ABSENT; slice++, turn = !turn) {
        const xpbi_member then = xpbi_member_of(s, slice + 2, end, lane);
        xpbi_held held;
        lane_fetch_wait(); /* rows of this particle, indices of the next */
        xpbi_take_indices(now, f, turn, &held);
        xpbi_hold(a->v, now, &held);
        xpbi_fetch_rows(s, next, !turn, f);
        xpbi_fetch_indices(s, XPBI_LANES * (slice + 2) + lane, then, turn, f);
        if (slice + 1 < end) xpbi_prefetch_entries(s, slice + 1, lane);
        for (int kind = a->form; kind <= last; kind++) {
            if (kind != a->form) xpbi_hold(a->v, now, &held);
            xpbi_tile_solve(a, XPBI_LANES * slice + lane, now, kind, f, turn, &held);
        }
        now = next;
        next = then;
    }
}

#endif

/* An item is a cell; work: its particles and their neighbours. Padding slots of a cell come last. On the CPU
 * xpbi_solve processes whole batches: the number of cells is a multiple of XPBI_LANES. */
PBD_TILE_OVER(xpbi_solve_cells, xpbi_solve_args, item, (13 + XPBI_SWEPT) * sizeof(real) + 8, XPBI_SOLVE_FLOPS,
              12 * sizeof(real) + 4, 68) {
#if PBD_BATCH == 1
    PBD_SHARED(uint32_t, index, 2 * XPBI_FETCHED * PBD_BLOCK);
    PBD_SHARED(real, x, 8 * XPBI_FETCHED * PBD_BLOCK);
    const size_t thread = PBD_TILE_IN_BLOCK * PBD_LANES + PBD_LANE;
    const xpbi_fetched f = {index + thread, x + 4 * thread};
    if (xpbi_has_lane(a->stage, item)) xpbi_tile_cell(a, a->stage->lane + item, &f);
#else
    if (item % PBD_BATCH == 0) xpbi_solve(a, item, PBD_BATCH);
#endif
}

#endif
