/* Building a sorted grid, and lists of neighbours from it. */
#ifndef PBD_NEIGHBOURS_KERNELS_H
#define PBD_NEIGHBOURS_KERNELS_H

#include "harness/exec/kernel.h"
#include "methods/physics/space/grid_search.h"

enum { GRID_BLOCK = 16 }; /* particles per item of a reduction */

PBD_FN size_t member_at(const uint32_t *member, size_t i) { return member ? member[i] : i; }

/* ---- The grid ---------------------------------------------------------------------------------------------------- */

typedef struct grid_keys_args {
    const real *rows;
    const uint32_t *member; /* by slot; NULL: every particle */
    uint32_t *key, *slot;
    real *built; /* rows by slot: a copy of the positions, for grid_moved; NULL: not kept */
    real inverse_cell;
    int bits[3];
} grid_keys_args;

PBD_ITEM(grid_keys, grid_keys_args, i, 4 * sizeof(real) + 8, 25) {
    const real *row = a->rows + 4 * member_at(a->member, i);
    const grid_cell cell = grid_cell_of(a->bits, a->inverse_cell, vec3_make(row[0], row[1], row[2]));
    a->key[i] = grid_key(a->bits, cell);
    a->slot[i] = (uint32_t)i;
    if (a->built)
        for (size_t d = 0; d < 4; d++) a->built[4 * i + d] = row[d];
}

typedef struct grid_place_args {
    const real *rows;
    const real *w; /* by particle: replaces the rows' fourth column; NULL: does not */
    const uint32_t *member;
    const uint32_t *slot; /* sorted */
    real *column[4];
    uint32_t *particle;
} grid_place_args;

/* Copies the columns that searches read into sorted order. */
PBD_ITEM(grid_place, grid_place_args, k, 8 * sizeof(real) + 12, 0) {
    const size_t particle = member_at(a->member, a->slot[k]);
    for (size_t d = 0; d < 4; d++) a->column[d][k] = a->rows[4 * particle + d];
    if (a->w) a->column[3][k] = a->w[particle];
    a->particle[k] = (uint32_t)particle;
}

PBD_BATCH_OF(grid_cells, grid_cells_args, first, count, 8, 20) { grid_find_firsts(a, first, count); }

/* ---- Reductions: partial results by block, completed by the host ------------------------------------------------- */

typedef struct grid_bounds_args {
    const real *rows;
    const uint32_t *member;
    size_t count;
    real *out; /* by block: smallest x, y, z, largest x, y, z */
} grid_bounds_args;

PBD_ITEM(grid_bounds, grid_bounds_args, block, GRID_BLOCK * 4 * sizeof(real), GRID_BLOCK * 6) {
    const size_t end = (block + 1) * GRID_BLOCK < a->count ? (block + 1) * GRID_BLOCK : a->count;
    const real far = (real)1e30;
    real low[3] = {far, far, far}, high[3] = {-far, -far, -far};
    for (size_t i = block * GRID_BLOCK; i < end; i++) {
        const real *row = a->rows + 4 * member_at(a->member, i);
        for (int d = 0; d < 3; d++) {
            low[d] = row[d] < low[d] && row[d] > -far ? row[d] : low[d]; /* NaN and infinity are ignored */
            high[d] = row[d] > high[d] && row[d] < far ? row[d] : high[d];
        }
    }
    for (size_t d = 0; d < 3; d++) {
        a->out[6 * block + d] = low[d];
        a->out[6 * block + 3 + d] = high[d];
    }
}

typedef struct grid_moved_args {
    const real *rows, *built; /* by particle; by slot */
    const uint32_t *member;
    size_t count;
    real *out; /* by block: smallest, then largest displacement along x, y, z, m */
} grid_moved_args;

PBD_ITEM(grid_moved, grid_moved_args, block, GRID_BLOCK * 8 * sizeof(real), GRID_BLOCK * 9) {
    const size_t begin = block * GRID_BLOCK, end = begin + GRID_BLOCK < a->count ? begin + GRID_BLOCK : a->count;
    real low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
    for (size_t i = begin; i < end; i++) {
        const real *row = a->rows + 4 * member_at(a->member, i), *was = a->built + 4 * i;
        for (int d = 0; d < 3; d++) {
            const real moved = row[d] - was[d];
            low[d] = i > begin && moved >= low[d] ? low[d] : moved;
            high[d] = i > begin && moved <= high[d] ? high[d] : moved;
        }
    }
    for (size_t d = 0; d < 3; d++) {
        a->out[6 * block + d] = low[d];
        a->out[6 * block + 3 + d] = high[d];
    }
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* Neighbours per particle that a count stores at most, so that most particles are searched once instead of twice. */
enum { NEIGHBOURS_KEPT = 48 };

typedef struct neighbours_args {
    grid_view grid;
    real square;     /* of the reach, m^2 */
    uint32_t *first; /* by slot: count; after a scan, offset into list */
    uint32_t *kept;  /* places x NEIGHBOURS_KEPT: neighbours stored by the count; complete if there are no more */
    uint32_t *list;  /* particles */
} neighbours_args;

/* Finds the particles within the reach of place `self` and appends them to `list`, which has room for `fit`. Returns
 * their number, which may be larger. */
PBD_FN uint32_t search_neighbours(const neighbours_args *a, uint32_t self, uint32_t *list, uint32_t fit) {
    const vec3 x = grid_position(&a->grid, self);
    const grid_cell cell = grid_cell_of(a->grid.bits, a->grid.inverse_cell, x);
    const int step = grid_stretch_step(&a->grid, cell);
    uint32_t found = 0;
    for (int s = 0; s < GRID_STRETCHES; s += step) {
        const grid_stretch places = grid_stretch_of(&a->grid, cell, s);
        for (uint32_t at = places.begin; at < places.end; at += PBD_BATCH) {
            const uint32_t near =
                batch_bits(grid_squares(&a->grid, x, at) < a->square) & grid_lanes(at, places.end, self);
            const uint32_t more = (uint32_t)count_bits(near);
            if (found + more <= fit) append_bits(list + found, fit - found, a->grid.particle + at, near);
            found += more;
        }
    }
    return found;
}

/* Work of count_neighbours: places and candidates (grid_search_work); of fill_neighbours: places and neighbours. The
 * cost of storing neighbours during the count is included in the fill's, where their number is known. */
PBD_ITEM_OVER(count_neighbours, neighbours_args, k, 3 * sizeof(real) + 9 * 8 + 8, 30, 3 * sizeof(real), 9) {
    a->first[a->grid.slot[k]] = search_neighbours(a, (uint32_t)k, a->kept + NEIGHBOURS_KEPT * k, NEIGHBOURS_KEPT);
}

PBD_ITEM_OVER(fill_neighbours, neighbours_args, k, 12, 0, 12, 0) {
    const uint32_t *first = a->first + a->grid.slot[k];
    const uint32_t count = first[1] - first[0], *kept = a->kept + NEIGHBOURS_KEPT * k;
    uint32_t *list = a->list + first[0];
    if (count > NEIGHBOURS_KEPT)
        search_neighbours(a, (uint32_t)k, list, count);
    else
        for (uint32_t i = 0; i < count; i++) list[i] = kept[i];
}

#endif
