#include "harness/bench/limits/cloud.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 4, CELL = SIDE * SIDE * SIDE, REACH = 2, BATCH = 16, MOST = 64 };

/* About 30 particles lie within SUPPORT. Cells of one colour are at least SIDE + 1 - 2 JITTER apart, which is more than
 * twice the support: their particles have no neighbour in common. And no neighbour is more than REACH lattice places
 * away along an axis. */
static const double SUPPORT = 2.0, JITTER = 0.2;

/* xorshift64*, in [-1, 1). */
static double noise(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(*state * 2685821657736338717u >> 11) / 4503599627370496.0 - 1;
}

/* Place of lattice point (x, y, z) in memory: cell by cell, x fastest in both. */
static size_t place_of(int cells, const int at[3]) {
    size_t cell = 0, inside = 0;
    for (int d = 2; d >= 0; d--) {
        cell = cell * (size_t)cells + (size_t)(at[d] / SIDE);
        inside = inside * SIDE + (size_t)(at[d] % SIDE);
    }
    return cell * CELL + inside;
}

static void lattice_of(int cells, size_t place, int at[3]) {
    size_t cell = place / CELL, inside = place % CELL;
    for (int d = 0; d < 3; d++) {
        at[d] = (int)(cell % (size_t)cells) * SIDE + (int)(inside % SIDE);
        cell /= (size_t)cells;
        inside /= SIDE;
    }
}

static bool are_near(const pbd_cloud *c, size_t i, size_t j) {
    double square = 0;
    for (size_t d = 0; d < 3; d++) square += (c->x[3 * i + d] - c->x[3 * j + d]) * (c->x[3 * i + d] - c->x[3 * j + d]);
    return square < c->support * c->support;
}

/* Appends the neighbours of particle i, in the order of the lattice around it, and itself up to a whole batch. */
static void find_neighbours(pbd_cloud *c, int cells, size_t i) {
    int at[3], low[3], high[3], n[3];
    lattice_of(cells, i, at);
    for (int d = 0; d < 3; d++) {
        low[d] = at[d] > REACH ? at[d] - REACH : 0;
        high[d] = at[d] + REACH < SIDE * cells - 1 ? at[d] + REACH : SIDE * cells - 1;
    }
    for (n[2] = low[2]; n[2] <= high[2]; n[2]++)
        for (n[1] = low[1]; n[1] <= high[1]; n[1]++)
            for (n[0] = low[0]; n[0] <= high[0]; n[0]++) {
                size_t j = place_of(cells, n);
                if (j != i && are_near(c, i, j)) c->neighbour[c->entries++] = (uint32_t)j;
            }
    c->pairs += c->entries - c->first[i];
    while (c->entries % BATCH != 0) c->neighbour[c->entries++] = (uint32_t)i;
    c->first[i + 1] = (uint32_t)c->entries;
}

static void colour_cells(pbd_cloud *c, int cells) {
    size_t used = 0;
    for (int colour = 0; colour < PBD_CLOUD_COLOURS; colour++) {
        for (size_t cell = 0; cell < c->cells; cell++) {
            size_t x = cell % (size_t)cells, y = cell / (size_t)cells % (size_t)cells,
                   z = cell / (size_t)(cells * cells);
            if ((int)(x % 2 + 2 * (y % 2) + 4 * (z % 2)) == colour) c->cell[used++] = (uint32_t)cell;
        }
        c->colour[colour + 1] = used;
    }
}

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

/* Of particle i, without what fills up its list. */
static size_t neighbours_of(const pbd_cloud *c, size_t i) {
    size_t count = 0;
    if (i >= c->particles) return 0;
    while (c->first[i] + count < c->first[i + 1] && c->neighbour[c->first[i] + count] != i) count++;
    return count;
}

static void count_bundles(pbd_cloud *c) {
    for (int colour = 0; colour < PBD_CLOUD_COLOURS; colour++) {
        const size_t cells = c->colour[colour + 1] - c->colour[colour];
        c->bundle[colour + 1] = c->bundle[colour] + (cells + PBD_CLOUD_LANES - 1) / PBD_CLOUD_LANES;
    }
    c->slices = CELL * c->bundle[PBD_CLOUD_COLOURS];
}

static void name_lanes(pbd_cloud *c) {
    for (int colour = 0; colour < PBD_CLOUD_COLOURS; colour++)
        for (size_t b = c->bundle[colour]; b < c->bundle[colour + 1]; b++)
            for (size_t lane = 0; lane < PBD_CLOUD_LANES; lane++) {
                const size_t n = c->colour[colour] + PBD_CLOUD_LANES * (b - c->bundle[colour]) + lane;
                const bool has_cell = n < c->colour[colour + 1];
                const size_t first = has_cell ? CELL * (size_t)c->cell[n] : c->particles + c->empty++;
                for (size_t p = 0; p < CELL; p++)
                    c->own[(CELL * b + p) * PBD_CLOUD_LANES + lane] = (uint32_t)(has_cell ? first + p : first);
            }
}

static void list_rows(pbd_cloud *c) {
    for (size_t s = 0; s < c->slices; s++) {
        const uint32_t *own = c->own + PBD_CLOUD_LANES * s;
        size_t count[PBD_CLOUD_LANES], most = 0;
        for (size_t lane = 0; lane < PBD_CLOUD_LANES; lane++) {
            count[lane] = neighbours_of(c, own[lane]);
            if (count[lane] > most) most = count[lane];
        }
        for (size_t r = 0; r < most; r++)
            for (size_t lane = 0; lane < PBD_CLOUD_LANES; lane++)
                c->row[PBD_CLOUD_LANES * (c->rows + r) + lane] =
                    r < count[lane] ? c->neighbour[c->first[own[lane]] + r] : own[lane];
        c->rows += most;
        c->slice[s + 1] = (uint32_t)c->rows;
    }
}

static bool make_slices(pbd_cloud *c) {
    count_bundles(c);
    c->own = malloc(c->slices * PBD_CLOUD_LANES * sizeof *c->own);
    c->slice = calloc(c->slices + 1, sizeof *c->slice);
    c->row = malloc(c->slices * MOST * PBD_CLOUD_LANES * sizeof *c->row);
    if (!c->own || !c->slice || !c->row) return false;
    name_lanes(c);
    list_rows(c);
    return true;
}

static pbd_status no_memory(pbd_cloud *cloud) {
    const size_t particles = cloud->particles;
    pbd_cloud_free(cloud);
    return pbd_error(PBD_FAILED, "out of memory for a cloud of %zu particles", particles);
}

pbd_status pbd_cloud_build(int edge, uint64_t seed, pbd_cloud *out) {
    const int cells = edge / SIDE;
    const size_t n = (size_t)edge * (size_t)edge * (size_t)edge;
    *out = (pbd_cloud){.particles = n, .cells = n / CELL, .support = SUPPORT};
    if (edge < SIDE || edge % SIDE != 0 || edge > 256)
        return pbd_error(PBD_BAD_INPUT, "a cloud's edge is a multiple of %d up to 256, not %d", SIDE, edge);
    /* (4/3) pi (SUPPORT + JITTER)^3 = 45 lattice points, and some for the corners: MOST is plenty. */
    out->x = malloc(3 * n * sizeof *out->x);
    out->first = calloc(n + 1, sizeof *out->first);
    out->neighbour = malloc(MOST * n * sizeof *out->neighbour);
    out->cell = malloc(out->cells * sizeof *out->cell);
    if (!out->x || !out->first || !out->neighbour || !out->cell) return no_memory(out);
    uint64_t state = seed | 1;
    for (size_t i = 0; i < n; i++) {
        int at[3];
        lattice_of(cells, i, at);
        for (int d = 0; d < 3; d++) out->x[3 * i + (size_t)d] = at[d] + JITTER * noise(&state);
    }
    for (size_t i = 0; i < n; i++) find_neighbours(out, cells, i);
    colour_cells(out, cells);
    return make_slices(out) ? pbd_ok() : no_memory(out);
}

void pbd_cloud_free(pbd_cloud *cloud) {
    free(cloud->x);
    free(cloud->first);
    free(cloud->neighbour);
    free(cloud->cell);
    free(cloud->own);
    free(cloud->slice);
    free(cloud->row);
    memset(cloud, 0, sizeof *cloud);
}
