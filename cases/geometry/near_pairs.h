/* Pairs of particles nearer than a search radius (`reach`), at any positions: for measurements of cases.
 * Methods have methods/physics/space/neighbours.h. */
#ifndef PBD_NEAR_PAIRS_H
#define PBD_NEAR_PAIRS_H

#include "methods/method.h"

/* Called with a pair, j < i, and its squared distance, m^2. */
typedef void near_pair_visit(void *to, size_t i, size_t j, double square);

/* Visits every pair of x (particles x 3, m) nearer than `reach`, m, once, in an order that depends only on x. Particles
 * at NaN, or a thousand million reaches from the origin, are in no pair. PBD_FAILED when memory runs out. */
pbd_status near_pairs_visit(const double *x, size_t particles, double reach, near_pair_visit *visit, void *to);

/* Only those pairs of which one or both particles are chosen (chosen: particles), in the same order: much faster if few
 * are. */
pbd_status near_pairs_visit_chosen(const double *x, size_t particles, const bool *chosen, double reach,
                                   near_pair_visit *visit, void *to);

typedef struct near_pairs {
    size_t count;
    uint32_t *pair;   /* count x 2, the lower number first */
    double *distance; /* m */
} near_pairs;

/* Lists the pairs. Free with near_pairs_free (safe on a zeroed one). */
pbd_status near_pairs_find(const double *x, size_t particles, double reach, near_pairs *out);
void near_pairs_free(near_pairs *p);

/* Finds the connected components of the pairs, numbered from 0 by their lowest particle: piece (particles) is the one
 * of each particle. Returns their number. size (particles): number of particles of each, or NULL. */
size_t near_pairs_pieces(const near_pairs *p, size_t particles, uint32_t *piece, size_t *size);

/* Union-find: parent[p] = p at first, then pairs are joined. The root of a set is its lowest particle. */
uint32_t near_pairs_root(uint32_t *parent, uint32_t p);
void near_pairs_join(uint32_t *parent, size_t i, size_t j);

#endif
