#include "methods/physics/space/neighbours.h"

#include <math.h>

#include "methods/physics/device/device_state.h"
#include "methods/physics/space/neighbours_kernels.h"

enum { LEAST_BITS = 2, MOST_BITS = 24, LOOK_AGAIN = 16 };

static const double WIDER = 1 + 1.0 / 128; /* cell size over reach: grid_search.h */

/* ---- The grid ---------------------------------------------------------------------------------------------------- */

void grid_free(grid *g) {
    void *device[] = {g->member, g->key, g->slot, g->particle, g->first, g->built, g->block};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(g->exec, device[i]);
    for (int d = 0; d < 4 && !g->lent; d++) pbd_free(g->exec, g->column[d]);
    *g = (grid){0};
}

static pbd_status allocate(pbd_exec *exec, size_t count, size_t size, void *out) {
    return pbd_alloc(exec, count * size, (void **)out);
}

/* Bits of the largest table: two to four cells per particle, but at most 2^MOST_BITS. */
static int bits_for(size_t count) {
    int bits = 1;
    while (bits < MOST_BITS && (size_t)1 << (bits - 1) < count) bits++;
    return bits < 3 * LEAST_BITS ? 3 * LEAST_BITS : bits;
}

/* Allocates everything except the columns. */
static pbd_status grid_start(grid *g, pbd_exec *exec, size_t count, const uint32_t *member, double reach, bool keep) {
    *g = (grid){.exec = exec, .count = count, .cell = reach * WIDER, .keep = keep, .most_bits = bits_for(count)};
    if (!(reach > 0 && isfinite(reach)))
        return pbd_error(PBD_BAD_INPUT, "a search radius of %g m for neighbours: must be above 0 and finite", reach);
    if (count >= INT32_MAX) return pbd_error(PBD_FAILED, "%zu particles in one grid: 2147483646 at most", count);
    const size_t blocks = count / GRID_BLOCK + 1;
    if (member) {
        PBD_TRY(allocate(exec, count, sizeof *member, &g->member));
        PBD_TRY(pbd_upload(exec, g->member, member, count * sizeof *member));
    }
    PBD_TRY(allocate(exec, count, sizeof *g->key, &g->key));
    PBD_TRY(allocate(exec, count, sizeof *g->slot, &g->slot));
    PBD_TRY(allocate(exec, count + PBD_BATCH, sizeof *g->particle, &g->particle));
    PBD_TRY(allocate(exec, ((size_t)1 << g->most_bits) + 1, sizeof *g->first, &g->first));
    if (keep) PBD_TRY(allocate(exec, 4 * count, sizeof(real), &g->built));
    return allocate(exec, 6 * blocks, sizeof(real), &g->block);
}

pbd_status grid_create(grid *g, pbd_exec *exec, size_t count, const uint32_t *member, double reach, bool keep) {
    PBD_TRY(grid_start(g, exec, count, member, reach, keep));
    for (int d = 0; d < 4; d++) PBD_TRY(allocate(exec, count + PBD_BATCH, sizeof(real), &g->column[d]));
    return pbd_ok();
}

pbd_status grid_create_bare(grid *g, pbd_exec *exec, size_t count, double reach) {
    const pbd_status status = grid_start(g, exec, count, NULL, reach, false);
    g->lent = true;
    return status;
}

void grid_lend(grid *g, real *memory) {
    for (size_t d = 0; d < 4; d++) g->column[d] = memory + d * g->count;
}

static size_t blocks_of(const grid *g) { return (g->count + GRID_BLOCK - 1) / GRID_BLOCK; }

/* Sets the number of cells along each axis to cover the particles' bounding box, then halves the largest number until
 * the table can hold all cells. This affects only speed, so it is updated rarely. */
static pbd_status choose_bits(grid *g, const real *rows) {
    const grid_bounds_args args = {rows, g->member, g->count, g->block};
    PBD_TRY(PBD_RUN(g->exec, grid_bounds, blocks_of(g), &args));
    PBD_TRY(device_blocks_bounds(g->exec, g->block, blocks_of(g), g->low, g->high));
    for (int d = 0; d < 3; d++) {
        const double extent = fmax(g->high[d] - g->low[d], 0);
        g->bits[d] = LEAST_BITS;
        while (g->bits[d] < MOST_BITS && ldexp(1, g->bits[d]) < extent / g->cell + 1) g->bits[d]++;
    }
    while (g->bits[0] + g->bits[1] + g->bits[2] > g->most_bits) {
        int longest = 0;
        for (int d = 1; d < 3; d++)
            if (g->bits[d] > g->bits[longest]) longest = d;
        g->bits[longest]--;
    }
    return pbd_ok();
}

pbd_status grid_build(grid *g, const real *rows, const real *w) {
    if (g->builds++ % LOOK_AGAIN == 0) PBD_TRY(choose_bits(g, rows));
    const int bits = g->bits[0] + g->bits[1] + g->bits[2];
    const real inverse_cell = (real)(1 / g->cell);
    const grid_keys_args keys = {.rows = rows,
                                 .member = g->member,
                                 .key = g->key,
                                 .slot = g->slot,
                                 .built = g->built,
                                 .inverse_cell = inverse_cell,
                                 .bits = {g->bits[0], g->bits[1], g->bits[2]}};
    PBD_TRY(PBD_RUN(g->exec, grid_keys, g->count, &keys));
    PBD_TRY(pbd_sort_pairs(g->exec, g->key, g->slot, g->count, bits));
    const grid_place_args place = {.rows = rows,
                                   .w = w,
                                   .member = g->member,
                                   .slot = g->slot,
                                   .column = {g->column[0], g->column[1], g->column[2], g->column[3]},
                                   .particle = g->particle};
    const grid_cells_args cells = {g->key, g->first, g->count};
    PBD_TRY(PBD_RUN(g->exec, grid_place, g->count, &place));
    return PBD_RUN(g->exec, grid_cells, ((size_t)1 << bits) + 1, &cells);
}

grid_view grid_view_of(const grid *g) {
    return (grid_view){.x = g->column[0],
                       .y = g->column[1],
                       .z = g->column[2],
                       .w = g->column[3],
                       .slot = g->slot,
                       .particle = g->particle,
                       .first = g->first,
                       .inverse_cell = (real)(1 / g->cell),
                       .bits = {g->bits[0], g->bits[1], g->bits[2]}};
}

pbd_status grid_largest_move(const grid *g, const real *rows, double *out) {
    *out = INFINITY;
    if (g->builds == 0) return pbd_ok();
    const grid_moved_args args = {rows, g->built, g->member, g->count, g->block};
    double low[3], high[3], square = 0;
    PBD_TRY(PBD_RUN(g->exec, grid_moved, blocks_of(g), &args));
    PBD_TRY(device_blocks_bounds(g->exec, g->block, blocks_of(g), low, high));
    for (int d = 0; d < 3; d++) square += 0.25 * (high[d] - low[d]) * (high[d] - low[d]);
    *out = g->count == 0 ? 0 : isnan(square) ? INFINITY : sqrt(square);
    return pbd_ok();
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

pbd_status neighbours_create(neighbours *n, pbd_exec *exec, size_t count, const uint32_t *member, double reach,
                             double skin) {
    *n = (neighbours){.reach = reach, .skin = skin};
    PBD_TRY(grid_create(&n->grid, exec, count, member, reach + skin, skin > 0));
    PBD_TRY(allocate(exec, NEIGHBOURS_KEPT * count, sizeof *n->kept, &n->kept));
    return allocate(exec, count + 1, sizeof *n->first, &n->first);
}

void neighbours_free(neighbours *n) {
    pbd_free(n->grid.exec, n->first);
    pbd_free(n->grid.exec, n->list);
    pbd_free(n->grid.exec, n->kept);
    grid_free(&n->grid);
    *n = (neighbours){0};
}

pbd_status neighbours_room(pbd_exec *exec, size_t particles, uint64_t entries, uint32_t **list, size_t *capacity) {
    if (entries > UINT32_MAX)
        return pbd_error(PBD_FAILED,
                         "%llu entries in lists of neighbours, %.3g for each of %zu particles, where 4294967295 fit: "
                         "they have collapsed to a point, or the search radius is far above the spacing",
                         (unsigned long long)entries, (double)entries / (double)particles, particles);
    if (*list && entries <= *capacity) return pbd_ok();
    pbd_free(exec, *list);
    *list = NULL;
    *capacity = 0;
    const size_t wanted = (size_t)entries + (size_t)entries / 4 + 64;
    PBD_TRY(allocate(exec, wanted, sizeof **list, list));
    *capacity = wanted;
    return pbd_ok();
}

static pbd_status make_lists(neighbours *n, const real *rows) {
    grid *g = &n->grid;
    PBD_TRY(grid_build(g, rows, NULL));
    const real reach = (real)(n->reach + n->skin);
    neighbours_args args = {.grid = grid_view_of(g), .square = reach * reach, .first = n->first, .kept = n->kept};
    PBD_TRY(PBD_RUN(g->exec, count_neighbours, g->count, grid_search_work(g, n->entries), &args));
    PBD_TRY(pbd_scan(g->exec, n->first, g->count, &n->entries));
    PBD_TRY(neighbours_room(g->exec, g->count, n->entries, &n->list, &n->capacity));
    args.list = n->list;
    return PBD_RUN(g->exec, fill_neighbours, g->count, (pbd_work){.items = g->count, .entries = n->entries}, &args);
}

pbd_status neighbours_update(neighbours *n, const real *rows, bool *rebuilt) {
    double moved = INFINITY;
    if (n->skin > 0) PBD_TRY(grid_largest_move(&n->grid, rows, &moved));
    const bool needed = !(moved <= 0.5 * n->skin);
    if (rebuilt) *rebuilt = needed;
    return needed ? make_lists(n, rows) : pbd_ok();
}

void neighbours_warn(pbd_recorder *recorder, double fastest, double radius, double dt, double few, size_t particles) {
    const double courant = fastest * dt / radius;
    if (courant > 0.5)
        pbd_warning(recorder, "kernel_cfl",
                    "a particle moves %.3g r in a step of %g s: above r/2 neighbours are missed", courant, dt);
    if (few > 0)
        pbd_warning(recorder, "few_neighbours",
                    "%g of %zu particles have neighbours in less than three directions: their gradients of velocity "
                    "are 0 along the others",
                    few, particles);
}
