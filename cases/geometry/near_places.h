/* Particles sorted by grid cells as wide as the search radius (`reach`), and the neighbours of each, on several threads
 * (pbd_team_run): for measurements of many particles. near_pairs.h visits each pair once, on one thread. */
#ifndef PBD_NEAR_PLACES_H
#define PBD_NEAR_PLACES_H

#include "methods/method.h"

typedef struct near_cell {
    int32_t z, y, x;
} near_cell;

/* Negative, 0 or positive: a is before, equal to or after b. */
static inline int near_cell_order(near_cell a, near_cell b) {
    if (a.z != b.z) return a.z < b.z ? -1 : 1;
    if (a.y != b.y) return a.y < b.y ? -1 : 1;
    return (a.x > b.x) - (a.x < b.x);
}

/* Particles sorted by cell, x fastest, and by number within a cell; a place is an index in this order. The places of
 * three cells in a row along x are contiguous. Owns its arrays. */
typedef struct near_places {
    size_t particles, count; /* count: particles with a cell; the others come last */
    size_t cells;            /* non-empty ones */
    near_cell *cell;         /* cells */
    size_t *first;           /* cells + 1: first place of each */
    uint32_t *particle;      /* particles: the particle at each place */
    double *x[3];            /* count each, m; NEAR_LANES more can be read */
} near_places;

/* x: particles x 3, m. reach: m, the width of a cell. Particles at NaN, or a thousand million reaches from the origin,
 * have no cell. The result does not depend on the number of threads. PBD_FAILED when memory runs out; *out is then
 * empty. */
pbd_status near_places_make(const double *x, size_t particles, double reach, near_places *out);
void near_places_free(near_places *p); /* safe on a zeroed one */

/* All particles nearer to a given one than the reach, without itself, in the order of places. Both arrays are padded to
 * a multiple of NEAR_LANES with place 0 at infinite distance. */
typedef struct near_list {
    size_t count;
    const uint32_t *place;
    const double *square; /* m^2: squared distance */
} near_list;
enum { NEAR_LANES = 8 };

/* Called once for each place: in order within a part (place/NEAR_PART), concurrently for different parts. It may write
 * only data of the place or of its part, or write atomically. */
typedef void near_places_see(void *to, size_t place, const near_list *others);
enum { NEAR_PART = 2048 };

/* reach: m, at most that of near_places_make. PBD_FAILED when memory runs out. */
pbd_status near_places_visit(const near_places *p, double reach, near_places_see *see, void *to);

#endif
