/* Neighbour search for moving particles: a sorted uniform grid on the device, and neighbour lists from it. (Neighbours
 * at rest: rest_neighbours.h.)
 *
 * Positions are rows of four reals. grid_build computes each particle's cell, sorts particles by cell (stably), and
 * stores where cells begin. Lists are counted, scanned, then filled, so that the number of neighbours is limited by
 * memory only. The order of a list depends on positions only, not on threads or backend. Kernels that search the grid
 * themselves use grid_search.h. */
#ifndef PBD_NEIGHBOURS_H
#define PBD_NEIGHBOURS_H

#include "harness/exec/exec.h"
#include "methods/physics/space/grid_search.h"

PBD_PRECISE(grid_create, grid_create_bare, grid_lend, grid_free, grid_build, grid_view_of, grid_largest_move,
            neighbours_create, neighbours_free, neighbours_update, neighbours_room, neighbours_warn)

typedef struct grid {
    pbd_exec *exec;
    size_t count; /* particles in the grid (slots) */
    double cell;  /* m */
    bool keep;    /* keep the positions of the last build, for grid_largest_move */
    bool lent;    /* the caller owns the memory of the columns */
    int bits[3], most_bits;
    double low[3], high[3]; /* m: the particles' bounding box, measured in some of the builds */
    uint64_t builds;
    /* Device. */
    uint32_t *member; /* by slot: the particle; NULL: slots are particles */
    uint32_t *key, *slot, *particle, *first;
    real *column[4]; /* by place: x, y, z, w */
    real *built, *block;
} grid;

/* Creates a grid of `count` particles: those listed in `member` (host, ascending), or the first `count` if it is NULL.
 * reach, m: the search radius. *g may be freed also after an error. */
pbd_status grid_create(grid *g, pbd_exec *exec, size_t count, const uint32_t *member, double reach, bool keep);
/* The same for the first `count` particles, with columns in memory of the caller: 4 (count + PBD_BATCH) reals on the
 * device. Call grid_lend before each build; the memory must stay valid until the last search of that build. */
pbd_status grid_create_bare(grid *g, pbd_exec *exec, size_t count, double reach);
void grid_lend(grid *g, real *memory);
void grid_free(grid *g); /* safe on a zeroed one */

/* Sorts the particles by their positions in `rows`. w: by particle, the values of the grid's fourth column; NULL: those
 * of the rows. */
pbd_status grid_build(grid *g, const real *rows, const real *w);
grid_view grid_view_of(const grid *g);
/* The work of a search around each slot. The host does not know the number of candidates and estimates it from the
 * number of neighbours found by the previous search (`found`; 0 for the first). */
static inline pbd_work grid_search_work(const grid *g, uint64_t found) {
    return (pbd_work){.items = g->count, .entries = (size_t)(GRID_CANDIDATES * (double)(found + g->count))};
}
/* Upper bound of the displacement of any particle since the last build relative to a common translation, m: half the
 * diagonal of the bounding box of all displacements. Particles in free fall thus keep their lists. Infinity before the
 * first build. Waits for the device. */
pbd_status grid_largest_move(const grid *g, const real *rows, double *out);

/* Neighbour lists: the neighbours of slot i are the particles list[first[i] .. first[i + 1]), without its own
 * particle. */
typedef struct neighbours {
    grid grid;
    double reach, skin;
    uint32_t *first, *list, *kept; /* device */
    uint64_t entries;
    size_t capacity;
} neighbours;

/* skin, m (Verlet lists): lists contain all particles nearer than reach + skin and are valid until grid_largest_move
 * exceeds skin/2. 0: every update rebuilds them. */
pbd_status neighbours_create(neighbours *n, pbd_exec *exec, size_t count, const uint32_t *member, double reach,
                             double skin);
void neighbours_free(neighbours *n); /* safe on a zeroed one */
/* Rebuilds the lists if needed. *rebuilt (may be NULL): whether it did. */
pbd_status neighbours_update(neighbours *n, const real *rows, bool *rebuilt);

/* Enlarges *list, of *capacity numbers, to at least `entries` numbers if needed; its contents are then lost.
 * PBD_FAILED: more entries than 32 bits can count. */
pbd_status neighbours_room(pbd_exec *exec, size_t particles, uint64_t entries, uint32_t **list, size_t *capacity);

/* Warns if velocity gradients computed from neighbours are unreliable. fastest: largest speed, m/s; radius: half the
 * kernel's support, m; dt: s; few: how many of `particles` have neighbours that do not span space. */
void neighbours_warn(pbd_recorder *recorder, double fastest, double radius, double dt, double few, size_t particles);

#endif
