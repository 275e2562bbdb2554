/* Who is near whom: a sorted uniform grid on the device, and lists of neighbours from it. For particles that move; for
 * those of a body at rest the lists are made once (rest_neighbours.h).
 *
 * Positions are rows of four reals. A build gives each particle the number of its cell, sorts by it (stably, so that
 * those of a cell stay in their order), and notes where cells begin. Lists are counted, summed up, then filled: there
 * is no limit on neighbours but memory's. The order of a list depends on positions alone: not on threads, not on the
 * backend. grid_search.h is what a kernel needs to search for itself. */
#ifndef PBD_NEIGHBOURS_H
#define PBD_NEIGHBOURS_H

#include "harness/exec/exec.h"
#include "methods/physics/space/grid_search.h"

PBD_PRECISE(grid_create, grid_free, grid_build, grid_view_of, grid_largest_move, neighbours_create, neighbours_free,
            neighbours_update, neighbours_room, neighbours_warn)

typedef struct grid {
    pbd_exec *exec;
    size_t count; /* of those in the grid: slots */
    double cell;  /* m */
    bool keep;    /* where they were at the build */
    int bits[3], most_bits;
    uint64_t builds;
    /* Device. */
    uint32_t *member; /* by slot: the particle; NULL: every particle, and slots are particles */
    uint32_t *key, *slot, *particle, *first;
    real *column[4]; /* by place: x, y, z, w */
    real *built, *block;
} grid;

/* For `count` particles: those that `member` (host; ascending) names, or all of that many. Neighbours are nearer than
 * `reach`, m. keep: for grid_largest_move. *g may be freed also after an error. */
pbd_status grid_create(grid *g, pbd_exec *exec, size_t count, const uint32_t *member, double reach, bool keep);
void grid_free(grid *g); /* safe on a zeroed one */

/* Sorts the particles where `rows` has them now. w: what the grid carries as its fourth column, by particle; NULL: the
 * rows' own. */
pbd_status grid_build(grid *g, const real *rows, const real *w);
grid_view grid_view_of(const grid *g);
/* Of a search around each slot. How many candidates it looks at is known to the device alone: here it is estimated from
 * how many neighbours the search before this one found (0 for the first: only the particles themselves count). */
static inline pbd_work grid_search_work(const grid *g, uint64_t found) {
    return (pbd_work){g->count, (size_t)(GRID_CANDIDATES * (double)(found + g->count))};
}
/* How far, at most, anyone is from where one translation of all since the last build would have them, m: what falls
 * together keeps its neighbours. Half the diagonal of the box around all motions. Infinity before the first. Waits. */
pbd_status grid_largest_move(const grid *g, const real *rows, double *out);

/* Lists of neighbours: of slot i they are list[first[i]] to list[first[i + 1]], particles without i itself. */
typedef struct neighbours {
    grid grid;
    double reach, skin;
    uint32_t *first, *list, *kept; /* device */
    uint64_t entries;
    size_t capacity;
} neighbours;

/* skin, m: lists hold all that are nearer than reach + skin, and are good until one has moved by more than half the
 * skin against a translation of all. 0: rebuilt each time. */
pbd_status neighbours_create(neighbours *n, pbd_exec *exec, size_t count, const uint32_t *member, double reach,
                             double skin);
void neighbours_free(neighbours *n); /* safe on a zeroed one */
/* Rebuilds the lists where needed; *rebuilt (may be NULL): whether it did. */
pbd_status neighbours_update(neighbours *n, const real *rows, bool *rebuilt);

/* Room for `entries` numbers in *list, of which *capacity fit now; what was there is lost. PBD_FAILED where there are
 * more than 32 bits can count. */
pbd_status neighbours_room(pbd_exec *exec, size_t particles, uint64_t entries, uint32_t **list, size_t *capacity);

/* Warns where gradients of velocity from neighbours are doubtful. fastest: m/s; radius: half the kernel's support, m;
 * few: particles, of so many, whose neighbours do not span space. */
void neighbours_warn(pbd_recorder *recorder, double fastest, double radius, double dt, double few, size_t particles);

#endif
