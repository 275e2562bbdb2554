/* The layout of constraints for parallel updates, rebuilt on the device in each step.
 *
 * A constraint of XPBI writes to every particle within 2r of its own, so two may run concurrently if their particles
 * are at least 4r apart (claims Y-3). Space is divided into cells, coloured so that cells of one colour are that far
 * apart: 3 x 3 x 3 colours of cells of 2r, or 2 x 2 x 2 of cells of 4r. Particles of one cell are updated one after
 * another.
 *
 * A sweep updates one colour after another, and each passes over the positions and velocities of the whole body, which
 * leave the cache in between if the body is large. On a CPU a large body is therefore cut along its longest axis into
 * slabs, and all colours of a slab are updated before the next slab. The slabs of later colours are shifted
 * (xpbi_stage), so that a cell still follows all cells of earlier colours that share particles with it: a sweep with
 * slabs gives the same bits as one without. A stage is one colour of one slab: its cells may be updated concurrently.
 *
 * For SIMD and GPUs a cell is a lane: XPBI_LANES cells of one stage form a bundle, and the k-th particles of its cells
 * a slice. Row r of a slice has the r-th neighbour of each of its particles. A lane processes its bundle slice by
 * slice, so it reads and writes only the 27 cells around its own, which stay in the cache. Cells are sorted by their
 * number of particles, within windows, and the particles of a cell by decreasing number of neighbours, so that slices
 * need little padding.
 *
 * A padding slot has the length XPBI_ABSENT and, as its own particle, the first of its cell, which no other lane
 * writes, or, in a lane without a cell, one of XPBI_LANES padding rows after the particles. Padding rows of short lists
 * name the own particle, with a gradient of 0.
 *
 * Neighbours that may touch within the step come first in each list, each pair once, in the list of the particle with
 * the smaller number: position correction needs only the first few rows of a slice. */
#ifndef PBD_XPBI_LAYOUT_KERNELS_H
#define PBD_XPBI_LAYOUT_KERNELS_H

#include "harness/exec/tile.h"
#include "methods/physics/space/neighbours_kernels.h"
#include "methods/physics/space/particle_slice.h"

enum {
    XPBI_LANES = PARTICLE_SLICE,
    XPBI_MOST_COLOURS = 27,
    XPBI_MOST_SLABS = 64,
    XPBI_MOST_STAGES = XPBI_MOST_COLOURS * XPBI_MOST_SLABS,
    XPBI_WINDOW = 512, /* cells sorted together by number of particles */
    XPBI_MEMBER_BITS = 6
};
#define XPBI_ABSENT UINT32_MAX

/* A stage: its first lane; its numbers of particles, of their neighbours, and of near neighbours. The entry after the
 * last stage has the numbers of lanes and slices. */
typedef struct xpbi_stage_numbers {
    uint32_t lane, particles, neighbours, near, slices;
} xpbi_stage_numbers;

/* Whether a launch over a stage has a lane for the item. On a GPU the launch is over an upper bound of the lanes, so
 * that it stays the same while their number changes (xpbi_layout.launched). */
PBD_FN int xpbi_has_lane(const xpbi_stage_numbers *stage, size_t item) { return item < stage[1].lane - stage[0].lane; }

typedef struct xpbi_slabs {
    int count, axis;
    real low, per_width; /* the lowest cell along the axis; 1 over the width of a slab in cells */
} xpbi_slabs;

typedef struct xpbi_layout_args {
    neighbours_args search; /* places of its grid are particles */
    grid_view cells;        /* grid of the coloured cells: the same grid, or one with wider cells */
    const uint32_t *at;     /* particle at a place of `cells`; NULL: the same */
    size_t particles;
    size_t padding; /* the first padding row */
    size_t bundles; /* upper bound */
    size_t stages;  /* slabs times colours */
    int period;     /* colours along an axis */
    xpbi_slabs slabs;
    real near_square; /* m^2: nearer particles may touch */
    /* By particle. */
    uint32_t *length, *near; /* numbers of neighbours; of near neighbours with a larger index, which come first */
    /* By place of `cells`. */
    uint32_t *leader;  /* the first place in its cell */
    uint32_t *rank;    /* in its cell */
    uint32_t *members; /* of a leader: number of particles in its cell */
    uint32_t *number;  /* index of its cell; one more at the end */
    uint32_t *lane;    /* of a leader */
    /* By cell, sorted. */
    uint32_t *key, *window, *cell; /* stage; window and members; leader */
    /* By stage, and one more at the end. */
    uint32_t *begins; /* its first cell */
    xpbi_stage_numbers *stage;
    /* By lane, bundle, slice, slot. */
    uint32_t *lane_leader, *lane_members;
    uint32_t *tally; /* three columns by bundle, and one more at the end: scanned sums */
    uint32_t *bundle, *row, *own, *slot_length, *slot_near, *neighbour;
} xpbi_layout_args;

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* Mask of the lanes with places above `self`. */
PBD_FN uint32_t xpbi_lanes_above(uint32_t place, uint32_t self) {
    const uint32_t own = self - place; /* wraps around if all are above */
    return place > self ? ~0u : own < 31 ? ~0u << (own + 1) : 0;
}

/* Masks of the neighbours of `self` among PBD_BATCH places: all, and near ones. */
typedef struct xpbi_found {
    uint32_t all, near;
} xpbi_found;

PBD_FN xpbi_found xpbi_scan(const xpbi_layout_args *a, vec3 x, uint32_t at, uint32_t end, uint32_t self) {
    const vreal squares = grid_squares(&a->search.grid, x, at);
    xpbi_found found;
    found.all = batch_bits(squares < a->search.square) & grid_lanes(at, end, self);
    found.near = batch_bits(squares < a->near_square) & xpbi_lanes_above(at, self) & found.all;
    return found;
}

/* The non-empty ranges of places around a cell, in order. On a GPU, where a thread has one particle, an array would
 * only take slow memory, so ranges are computed where they are used. */
typedef struct xpbi_around {
    grid_cell cell;
    int count;
#if PBD_BATCH > 1
    grid_stretch stretch[GRID_STRETCHES];
#endif
} xpbi_around;

PBD_FN void xpbi_cells_around(const grid_view *g, grid_cell cell, xpbi_around *out) {
    out->cell = cell;
#if PBD_BATCH > 1
    const int step = grid_stretch_step(g, cell);
    out->count = 0;
    for (int s = 0; s < GRID_STRETCHES; s += step) {
        const grid_stretch places = grid_stretch_of(g, cell, s);
        out->stretch[out->count] = places;
        out->count += places.begin < places.end;
    }
#else
    (void)g;
    out->count = GRID_STRETCHES;
#endif
}

PBD_FN grid_stretch xpbi_stretch(const xpbi_layout_args *a, const xpbi_around *around, int s) {
#if PBD_BATCH > 1
    (void)a;
    return around->stretch[s];
#else
    return grid_stretch_of(&a->search.grid, around->cell, s);
#endif
}

#if PBD_BATCH == 1
/* The other neighbours are stored backwards from the end of the list: moves them behind the near ones, in order. */
PBD_FN void xpbi_join_list(uint32_t *kept, uint32_t near, uint32_t rest) {
    uint32_t *from = kept + NEIGHBOURS_KEPT - rest;
    for (uint32_t i = 0; i < rest / 2; i++) {
        const uint32_t first = from[i];
        from[i] = from[rest - 1 - i];
        from[rest - 1 - i] = first;
    }
    for (uint32_t i = 0; i < rest && kept + near != from; i++) kept[near + i] = from[i];
}
#endif

/* Counts the neighbours of `self`; stores those that fit, near ones first. */
PBD_FN void xpbi_count_around(const xpbi_layout_args *a, uint32_t self, vec3 x, const xpbi_around *around) {
    const uint32_t *particle = a->search.grid.particle;
    uint32_t *kept = a->search.kept + NEIGHBOURS_KEPT * (size_t)self, near = 0, rest = 0;
#if PBD_BATCH > 1
    uint32_t others[NEIGHBOURS_KEPT];
#endif
    for (int s = 0; s < around->count; s++) {
        const grid_stretch places = xpbi_stretch(a, around, s);
        for (uint32_t at = places.begin; at < places.end; at += PBD_BATCH) {
            const xpbi_found found = xpbi_scan(a, x, at, places.end, self);
            const uint32_t more = (uint32_t)count_bits(found.all), nearer = (uint32_t)count_bits(found.near);
            if (near + rest + more <= NEIGHBOURS_KEPT) {
                append_bits(kept + near, NEIGHBOURS_KEPT - near, particle + at, found.near);
#if PBD_BATCH > 1
                append_bits(others + rest, NEIGHBOURS_KEPT - rest, particle + at, found.all & ~found.near);
#else
                if (found.all & ~found.near) kept[NEIGHBOURS_KEPT - 1 - rest] = particle[at];
#endif
            }
            near += nearer;
            rest += more - nearer;
        }
    }
    a->length[self] = near + rest;
    a->near[self] = near;
    if (near + rest > NEIGHBOURS_KEPT) return;
#if PBD_BATCH > 1
    for (uint32_t i = 0; i < rest; i++) kept[near + i] = others[i];
#else
    xpbi_join_list(kept, near, rest);
#endif
}

/* A batch of consecutive particles: most have the cell of the previous one, whose ranges are reused. */
PBD_BATCH_OVER(xpbi_count_neighbours, xpbi_layout_args, first, count, 3 * sizeof(real) + 9 * 8 + 12, 30,
               3 * sizeof(real), 9) {
    const grid_view *g = &a->search.grid;
    xpbi_around around;
    xpbi_cells_around(g, grid_cell_of(g->bits, g->inverse_cell, grid_position(g, (uint32_t)first)), &around);
    for (int i = 0; i < count; i++) {
        const uint32_t self = (uint32_t)first + (uint32_t)i;
        const vec3 x = grid_position(g, self);
        const grid_cell cell = grid_cell_of(g->bits, g->inverse_cell, x);
        if (cell.at[0] != around.cell.at[0] || cell.at[1] != around.cell.at[1] || cell.at[2] != around.cell.at[2])
            xpbi_cells_around(g, cell, &around);
        xpbi_count_around(a, self, x, &around);
    }
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

PBD_FN uint32_t xpbi_at(const xpbi_layout_args *a, uint32_t place) { return a->at ? a->at[place] : place; }

/* Coordinates of a cell without the grid's modulo. NaN and infinity: 0, as in the grid. */
PBD_FN real xpbi_coordinate(real x, real inverse_cell) {
    const real at = real_floor(x * inverse_cell);
    return at - at == 0 ? at : 0;
}

PBD_FN vec3 xpbi_cell_of(const grid_view *g, uint32_t place) {
    return vec3_make(xpbi_coordinate(g->x[place], g->inverse_cell), xpbi_coordinate(g->y[place], g->inverse_cell),
                     xpbi_coordinate(g->z[place], g->inverse_cell));
}

PBD_FN int xpbi_same_cell(vec3 a, vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

PBD_FN uint32_t xpbi_modulo(real at, int period) {
    const real left = at - (real)period * real_floor(at / (real)period);
    return left > 0 && left < (real)period ? (uint32_t)left : 0;
}

PBD_FN real xpbi_along(vec3 cell, int axis) { return axis == 0 ? cell.x : axis == 1 ? cell.y : cell.z; }

/* Stages are numbered by slab, then by the digit of the colour along the axis of the slabs. Cells that share a particle
 * are at most two apart; with a shift of two per digit a cell is in no earlier slab than the cells that it follows. */
PBD_FN uint32_t xpbi_stage(const xpbi_layout_args *a, vec3 cell) {
    const uint32_t p = (uint32_t)a->period;
    const int axis = a->slabs.axis, second = axis == 2 ? 1 : axis == 1 ? 0 : 2, first = axis == 2 ? 0 : axis + 1;
    const real along = xpbi_along(cell, axis);
    const uint32_t digit = xpbi_modulo(along, a->period);
    const real at = (along + (real)(2 * digit) - a->slabs.low) * a->slabs.per_width;
    const uint32_t last = (uint32_t)a->slabs.count - 1, slab = at >= (real)last ? last : at > 0 ? (uint32_t)at : 0;
    return xpbi_modulo(xpbi_along(cell, first), a->period) +
           p * (xpbi_modulo(xpbi_along(cell, second), a->period) + p * (digit + p * slab));
}

/* The rank of place i among `count` places of one cell, by decreasing length, then by place. */
PBD_FN uint32_t xpbi_rank(const uint32_t *length, uint32_t count, uint32_t i) {
    const uint32_t own = length[i];
    uint32_t rank = 0;
    for (uint32_t j = 0; j < count; j++) rank += (uint32_t)(length[j] > own) + ((length[j] == own) & (j < i));
    return rank;
}

/* Finds leader and rank of place i in an entry of the table with particles of several cells. */
PBD_FN void xpbi_distinguish(const xpbi_layout_args *a, uint32_t begin, uint32_t end, uint32_t i) {
    const vec3 cell = xpbi_cell_of(&a->cells, i);
    const uint32_t length = a->length[xpbi_at(a, i)];
    uint32_t leader = i, rank = 0, members = 0;
    for (uint32_t j = begin; j < end; j++) {
        if (!xpbi_same_cell(cell, xpbi_cell_of(&a->cells, j))) continue;
        const uint32_t other = a->length[xpbi_at(a, j)];
        leader = j < leader ? j : leader;
        rank += other > length || (other == length && j < i);
        members++;
    }
    a->leader[i] = leader;
    a->rank[i] = rank;
    a->members[i] = members;
    a->number[i] = leader == i;
}

/* Finds leaders and ranks. The item of the first place of each table entry does it for all its places, which are of
 * several cells only if the table is too small for the body. */
PBD_ITEM(xpbi_find_cells, xpbi_layout_args, k, 3 * sizeof(real) + 20, 30) {
    const grid_view *g = &a->cells;
    const uint32_t key = grid_key(g->bits, grid_cell_of(g->bits, g->inverse_cell, grid_position(g, (uint32_t)k)));
    const uint32_t begin = g->first[key], end = g->first[key + 1];
    if (begin != k) return;
    const vec3 first = xpbi_cell_of(g, begin);
    int one = !a->at; /* then lengths are contiguous */
    for (uint32_t i = begin + 1; i < end; i++) one &= xpbi_same_cell(first, xpbi_cell_of(g, i));
    for (uint32_t i = begin; i < end; i++) {
        if (!one) {
            xpbi_distinguish(a, begin, end, i);
            continue;
        }
        a->leader[i] = begin;
        a->rank[i] = xpbi_rank(a->length + begin, end - begin, i - begin);
        a->members[i] = end - begin;
        a->number[i] = i == begin;
    }
}

/* Only the device knows the number of cells, so arrays have one entry per particle. Unused entries are sorted to the
 * end. */
PBD_ITEM(xpbi_list_cells, xpbi_layout_args, k, 12, 5) {
    const uint32_t cell = a->number[k];
    if (k >= a->number[a->particles]) a->key[k] = (uint32_t)a->stages;
    if (a->number[k + 1] == cell) return;
    a->key[cell] = xpbi_stage(a, xpbi_cell_of(&a->cells, (uint32_t)k));
    a->cell[cell] = (uint32_t)k;
}

/* Finds where stages begin, and the key of the second sort: window of one stage, then decreasing number of particles.
 */
PBD_ITEM(xpbi_mark_stages, xpbi_layout_args, i, 16, 3) {
    const uint32_t cells = a->number[a->particles], most = (1u << XPBI_MEMBER_BITS) - 1;
    if (i >= cells) {
        a->window[i] = UINT32_MAX;
        return;
    }
    const uint32_t members = a->members[a->cell[i]], stage = a->key[i];
    for (uint32_t s = i ? a->key[i - 1] + 1 : 0; s <= stage; s++) a->begins[s] = (uint32_t)i;
    for (uint32_t s = stage + 1; i + 1 == cells && s <= a->stages; s++) a->begins[s] = cells;
    const uint32_t window = (uint32_t)i / XPBI_WINDOW + stage;
    a->window[i] = window << XPBI_MEMBER_BITS | (members < most ? most - members : 0);
}

/* ---- Lanes, bundles, slices -------------------------------------------------------------------------------------- */

/* One item: the first lane of each stage, at the start of a bundle. */
PBD_ITEM(xpbi_place_lanes, xpbi_layout_args, i, 24 * XPBI_MOST_COLOURS, 0) {
    const int any = a->number[a->particles] > 0;
    uint32_t lane = 0;
    (void)i;
    for (size_t s = 0; s < a->stages; s++) {
        a->stage[s].lane = lane;
        if (any) lane += (a->begins[s + 1] - a->begins[s] + XPBI_LANES - 1) / XPBI_LANES * XPBI_LANES;
    }
    a->stage[a->stages].lane = lane;
}

PBD_ITEM(xpbi_clear_lanes, xpbi_layout_args, lane, 4, 0) { a->lane_members[lane] = 0; }

/* After the sorts `key` and `window` are reused for a lane's numbers of neighbours and near neighbours. */
PBD_FN void xpbi_tally_lane(const xpbi_layout_args *a, uint32_t lane, uint32_t leader) {
    uint32_t all = 0, near = 0, left = a->members[leader];
    for (uint32_t place = leader; left > 0; place++) {
        if (a->leader[place] != leader) continue;
        all += a->length[xpbi_at(a, place)];
        near += a->near[xpbi_at(a, place)];
        left--;
    }
    a->key[lane] = all;
    a->window[lane] = near;
}

/* One item per particle, since there are at most as many cells. */
PBD_ITEM(xpbi_place_cells, xpbi_layout_args, i, 24, 3) {
    if (i >= a->number[a->particles]) return;
    const uint32_t leader = a->cell[i], stage = xpbi_stage(a, xpbi_cell_of(&a->cells, leader));
    const uint32_t lane = a->stage[stage].lane + (uint32_t)i - a->begins[stage];
    a->lane[leader] = lane;
    a->lane_leader[lane] = leader;
    a->lane_members[lane] = a->members[leader];
    xpbi_tally_lane(a, lane, leader);
}

PBD_ITEM(xpbi_measure_bundles, xpbi_layout_args, b, 4 * XPBI_LANES, 0) {
    uint32_t most = 0;
    for (size_t l = XPBI_LANES * b; l < XPBI_LANES * (b + 1); l++)
        most = a->lane_members[l] > most ? a->lane_members[l] : most;
    a->bundle[b] = most;
}

/* Particles of a bundle, their neighbours, and near ones. A scan of all three columns follows. */
PBD_ITEM(xpbi_tally_bundles, xpbi_layout_args, b, 12 * XPBI_LANES + 12, 3 * XPBI_LANES) {
    uint32_t sum[3] = {0, 0, 0};
    for (size_t lane = XPBI_LANES * b; lane < XPBI_LANES * (b + 1); lane++) {
        if (a->lane_members[lane] == 0) continue; /* without a cell */
        sum[0] += a->lane_members[lane];
        sum[1] += a->key[lane];
        sum[2] += a->window[lane];
    }
    for (size_t e = 0; e < 3; e++) a->tally[e * a->bundles + b] = sum[e];
}

/* After the scans: collects the numbers for the host, so that it waits once. Differences of sums modulo 2^32 are exact.
 */
PBD_ITEM(xpbi_tally_stages, xpbi_layout_args, s, 44, 0) {
    xpbi_stage_numbers *stage = a->stage + s;
    const size_t begin = stage[0].lane / XPBI_LANES, end = stage[1].lane / XPBI_LANES;
    const uint32_t *column = a->tally;
    stage->particles = column[end] - column[begin];
    column += a->bundles;
    stage->neighbours = column[end] - column[begin];
    column += a->bundles;
    stage->near = column[end] - column[begin];
    if (s == 0) a->stage[a->stages].slices = a->bundle[a->bundles];
}

PBD_ITEM(xpbi_clear_slots, xpbi_layout_args, lane, 8 * 12, 0) {
    const size_t b = lane / XPBI_LANES, l = lane % XPBI_LANES;
    const uint32_t own = a->lane_members[lane] > 0 ? xpbi_at(a, a->lane_leader[lane]) : (uint32_t)(a->padding + l);
    for (size_t s = a->bundle[b]; s < a->bundle[b + 1]; s++) {
        a->own[XPBI_LANES * s + l] = own;
        a->slot_length[XPBI_LANES * s + l] = XPBI_ABSENT;
        a->slot_near[XPBI_LANES * s + l] = 0;
    }
}

PBD_ITEM(xpbi_place_particles, xpbi_layout_args, k, 36, 0) {
    const uint32_t lane = a->lane[a->leader[k]], particle = xpbi_at(a, (uint32_t)k);
    const size_t slot = XPBI_LANES * ((size_t)a->bundle[lane / XPBI_LANES] + a->rank[k]) + lane % XPBI_LANES;
    a->own[slot] = particle;
    a->slot_length[slot] = a->length[particle];
    a->slot_near[slot] = a->near[particle];
}

PBD_ITEM(xpbi_measure_slices, xpbi_layout_args, s, 4 * XPBI_LANES, 0) {
    uint32_t most = 0;
    for (size_t i = XPBI_LANES * s; i < XPBI_LANES * (s + 1); i++) {
        const uint32_t length = a->slot_length[i] == XPBI_ABSENT ? 0 : a->slot_length[i];
        most = length > most ? length : most;
    }
    a->row[s] = most;
}

/* Repeats the search for a particle with more neighbours than were stored, and writes each into its row. */
PBD_FN void xpbi_search_again(const xpbi_layout_args *a, uint32_t self, uint32_t *rows) {
    const grid_view *g = &a->search.grid;
    const vec3 x = grid_position(g, self);
    const grid_cell cell = grid_cell_of(g->bits, g->inverse_cell, x);
    const int step = grid_stretch_step(g, cell);
    uint32_t *rest = rows + XPBI_LANES * (size_t)a->near[self];
    for (int s = 0; s < GRID_STRETCHES; s += step) {
        const grid_stretch places = grid_stretch_of(g, cell, s);
        for (uint32_t at = places.begin; at < places.end; at += PBD_BATCH) {
            const xpbi_found found = xpbi_scan(a, x, at, places.end, self);
            for (uint32_t bits = found.near; bits; bits &= bits - 1, rows += XPBI_LANES)
                *rows = at + (uint32_t)lowest_bit(bits);
            for (uint32_t bits = found.all & ~found.near; bits; bits &= bits - 1, rest += XPBI_LANES)
                *rest = at + (uint32_t)lowest_bit(bits);
        }
    }
}

/* Row by row for adjacent slots, so that writes are contiguous. */
PBD_BATCH_OVER(xpbi_fill_rows, xpbi_layout_args, first, count, 8, 0, 12, 0) {
    const size_t s = first / XPBI_LANES, rows = a->row[s + 1] - a->row[s];
    uint32_t *to = a->neighbour + XPBI_LANES * (size_t)a->row[s] + first % XPBI_LANES;
    const uint32_t *own = a->own + first, *kept[PBD_BATCH];
    uint32_t length[PBD_BATCH];
    for (int l = 0; l < count; l++) {
        const uint32_t found = a->slot_length[first + (size_t)l];
        length[l] = found == XPBI_ABSENT || found > NEIGHBOURS_KEPT ? 0 : found;
        kept[l] = a->search.kept + NEIGHBOURS_KEPT * (size_t)own[l];
    }
    for (size_t r = 0; r < rows; r++)
        for (int l = 0; l < count; l++) to[XPBI_LANES * r + (size_t)l] = r < length[l] ? kept[l][r] : own[l];
    for (int l = 0; l < count; l++) {
        const uint32_t found = a->slot_length[first + (size_t)l];
        if (found != XPBI_ABSENT && found > NEIGHBOURS_KEPT) xpbi_search_again(a, own[l], to + l);
    }
}

#endif
