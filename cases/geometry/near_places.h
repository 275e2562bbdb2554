/* Particles in the order of cells as wide as a reach, and all neighbours of each, on several threads (pbd_team_run):
 * for measurements of many particles. near_pairs.h shows each pair once, on one thread. */
#ifndef PBD_NEAR_PLACES_H
#define PBD_NEAR_PLACES_H

#include "methods/method.h"

typedef struct near_cell {
    int32_t z, y, x;
} near_cell;

/* Below, at or above 0: a before b, at b, after it. */
static inline int near_cell_order(near_cell a, near_cell b) {
    if (a.z != b.z) return a.z < b.z ? -1 : 1;
    if (a.y != b.y) return a.y < b.y ? -1 : 1;
    return (a.x > b.x) - (a.x < b.x);
}

/* Places are numbered in the order of cells, x fastest, and within a cell in that of the particles. Those of three
 * cells side by side lie side by side. Owns its arrays. */
typedef struct near_places {
    size_t particles, count; /* count: of those that are somewhere; the others come last */
    size_t cells;            /* that are not empty */
    near_cell *cell;         /* cells */
    size_t *first;           /* cells + 1: place */
    uint32_t *particle;      /* particles: by place */
    double *x[3];            /* count each, m */
} near_places;

/* x: particles x 3, m. Particles at NaN, or a thousand million reaches away, are nowhere. The same for any number of
 * threads. PBD_FAILED when memory is out; *out is then empty. */
pbd_status near_places_make(const double *x, size_t particles, double reach, near_places *out);
void near_places_free(near_places *p); /* safe on a zeroed one */

/* All particles nearer to one than the reach, without itself, in the order of places. Beyond them up to a multiple of
 * NEAR_LANES: place 0, infinitely far. */
typedef struct near_list {
    size_t count;
    const uint32_t *place;
    const double *square; /* m^2: of the distance */
} near_list;
enum { NEAR_LANES = 8 };

/* Called for each place once, at the same time for places of different parts, in order within a part: place/NEAR_PART.
 * It writes what belongs to the place or its part alone, or atomically. */
typedef void near_places_see(void *to, size_t place, const near_list *others);
enum { NEAR_PART = 2048 };

/* reach: at most that of the places. PBD_FAILED when memory is out. */
pbd_status near_places_visit(const near_places *p, double reach, near_places_see *see, void *to);

#endif
