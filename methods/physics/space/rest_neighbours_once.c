#include "methods/physics/space/rest_neighbours.h"

#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

/* Particles sorted by the cells of a grid as wide as the radius. Cells are identified by their Morton code and found by
 * bisection among the occupied ones, so that memory does not depend on the body's shape. */
typedef struct place {
    uint64_t cell;
    uint32_t particle;
} place;

enum { AXIS_BITS = 21 };

static uint64_t spread(uint64_t v) {
    v &= (UINT64_C(1) << AXIS_BITS) - 1;
    v = (v | v << 32) & UINT64_C(0x1f00000000ffff);
    v = (v | v << 16) & UINT64_C(0x1f0000ff0000ff);
    v = (v | v << 8) & UINT64_C(0x100f00f00f00f00f);
    v = (v | v << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (v | v << 2) & UINT64_C(0x1249249249249249);
}

static uint64_t morton(const int64_t cell[3]) {
    return spread((uint64_t)cell[0]) | spread((uint64_t)cell[1]) << 1 | spread((uint64_t)cell[2]) << 2;
}

static int compare_places(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    return (x->particle > y->particle) - (x->particle < y->particle);
}

static int compare_particles(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

typedef struct grid {
    place *at;
    size_t particles;
    double origin[3], cell;
    const double *positions;
} grid;

static void cell_of(const grid *g, size_t particle, int64_t out[3]) {
    for (int d = 0; d < 3; d++)
        out[d] = (int64_t)floor((g->positions[3 * particle + (size_t)d] - g->origin[d]) / g->cell);
}

/* The arena owns the places. */
static pbd_status grid_make(size_t particles, const double *positions, double cell, pbd_arena *arena, grid *out) {
    *out = (grid){.particles = particles, .cell = cell, .positions = positions};
    double most[3];
    for (int d = 0; d < 3; d++) out->origin[d] = INFINITY, most[d] = -INFINITY;
    for (size_t i = 0; i < 3 * particles; i++) {
        const double x = positions[i];
        if (!isfinite(x))
            return pbd_error(PBD_BAD_INPUT, "particle %zu is at (%g, %g, %g): it must be finite", i / 3,
                             positions[i / 3 * 3], positions[i / 3 * 3 + 1], positions[i / 3 * 3 + 2]);
        if (x < out->origin[i % 3]) out->origin[i % 3] = x;
        if (x > most[i % 3]) most[i % 3] = x;
    }
    for (int d = 0; d < 3 && particles > 0; d++)
        if ((most[d] - out->origin[d]) / cell >= (double)((1 << AXIS_BITS) - 2))
            return pbd_error(PBD_BAD_INPUT, "particles spread over %g m are too far apart for a radius of %g m",
                             most[d] - out->origin[d], cell);
    out->at = pbd_new(arena, place, particles);
    PBD_TRY(pbd_arena_check(arena));
    for (size_t i = 0; i < particles; i++) {
        int64_t cell_at[3];
        cell_of(out, i, cell_at);
        out->at[i] = (place){morton(cell_at), (uint32_t)i};
    }
    qsort(out->at, particles, sizeof *out->at, compare_places);
    return pbd_ok();
}

/* The first place of a cell, or its insertion point. */
static size_t bisect(const grid *g, uint64_t cell) {
    size_t low = 0, high = g->particles;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (g->at[middle].cell < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double square_distance(const double *a, const double *b) {
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/* The ranges of places of a cell and its 26 neighbours. */
typedef struct around {
    uint64_t cell;
    size_t begin[27], end[27];
} around;

static void around_cell(const grid *g, size_t particle, around *out) {
    int64_t centre[3];
    cell_of(g, particle, centre);
    out->cell = morton(centre);
    for (int n = 0; n < 27; n++) {
        const int64_t cell[3] = {centre[0] + n % 3 - 1, centre[1] + n / 3 % 3 - 1, centre[2] + n / 9 - 1};
        out->begin[n] = out->end[n] = 0;
        if (cell[0] < 0 || cell[1] < 0 || cell[2] < 0) continue;
        size_t k = out->begin[n] = bisect(g, morton(cell));
        while (k < g->particles && g->at[k].cell == morton(cell)) k++;
        out->end[n] = k;
    }
}

/* Writes the particles near i to `out` (NULL: only counts). */
static size_t look_around(const grid *g, const around *cells, const uint32_t *body, size_t i, uint32_t *out) {
    size_t count = 0;
    for (int n = 0; n < 27; n++)
        for (size_t k = cells->begin[n]; k < cells->end[n]; k++) {
            const uint32_t j = g->at[k].particle;
            if (j == i || (body && body[j] != body[i])) continue;
            if (!(square_distance(g->positions + 3 * i, g->positions + 3 * (size_t)j) < g->cell * g->cell)) continue;
            if (out) out[count] = j;
            count++;
        }
    if (out) qsort(out, count, sizeof *out, compare_particles);
    return count;
}

/* Counts every particle's neighbours into first[i + 1], or with `fill` writes them. Cell by cell, since all particles
 * of a cell search the same 27 cells. */
static void look_everywhere(const grid *g, const uint32_t *body, bool fill, rest_neighbours *out) {
    around cells = {.cell = UINT64_MAX};
    for (size_t k = 0; k < g->particles; k++) {
        const size_t i = g->at[k].particle;
        if (g->at[k].cell != cells.cell) around_cell(g, i, &cells);
        const size_t count = look_around(g, &cells, body, i, fill ? out->particle + out->first[i] : NULL);
        if (!fill) out->first[i + 1] = count;
    }
}

pbd_status rest_neighbours_find(size_t particles, const double *positions, const uint32_t *body, double radius,
                                rest_neighbours *out) {
    *out = (rest_neighbours){.particles = particles};
    if (!(radius > 0 && isfinite(radius)))
        return pbd_error(PBD_BAD_INPUT, "a radius of %g m finds no neighbours: it must be above 0", radius);
    pbd_arena a PBD_ARENA;
    grid g;
    PBD_TRY(grid_make(particles, positions, radius, &a, &g));
    out->first = calloc(particles + 1, sizeof *out->first);
    if (!out->first) return pbd_error(PBD_FAILED, "out of memory for %zu particles", particles);
    look_everywhere(&g, body, false, out);
    for (size_t i = 0; i < particles; i++) out->first[i + 1] += out->first[i];
    const size_t pairs = out->first[particles];
    if (pairs < UINT32_MAX) out->particle = malloc((pairs + 1) * sizeof *out->particle);
    if (!out->particle) {
        rest_neighbours_free(out);
        return pairs < UINT32_MAX
                   ? pbd_error(PBD_FAILED, "out of memory for %zu pairs of neighbours", pairs)
                   : pbd_error(PBD_BAD_INPUT, "%zu pairs within %g m exceed the limit 2^32: use a smaller radius",
                               pairs, radius);
    }
    look_everywhere(&g, body, true, out);
    return pbd_ok();
}

void rest_neighbours_free(rest_neighbours *n) {
    free(n->first);
    free(n->particle);
    *n = (rest_neighbours){0};
}

pbd_status rest_space_order(size_t particles, const double *positions, double cell, uint32_t *order) {
    pbd_arena a PBD_ARENA;
    grid g;
    PBD_TRY(grid_make(particles, positions, cell, &a, &g));
    for (size_t i = 0; i < particles; i++) order[i] = g.at[i].particle;
    return pbd_ok();
}
