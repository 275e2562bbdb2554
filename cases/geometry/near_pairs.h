/* Pairs of particles that are nearer than a reach, of any positions: for measurements of cases.
 * Methods have methods/physics/space/neighbours.h. */
#ifndef PBD_NEAR_PAIRS_H
#define PBD_NEAR_PAIRS_H

#include "methods/method.h"

/* Told of a pair, j < i, and of the square of its distance, m^2. */
typedef void near_pair_visit(void *to, size_t i, size_t j, double square);

/* Shows every pair of x (particles x 3, m) nearer than `reach` once, in an order that depends on x alone. Particles
 * at NaN, or a thousand million reaches away, have none. PBD_FAILED when memory is out. */
pbd_status near_pairs_visit(const double *x, size_t particles, double reach, near_pair_visit *visit, void *to);

/* Those pairs alone of which one or both are chosen (by particle), in the same order: much sooner done where few are.
 */
pbd_status near_pairs_visit_chosen(const double *x, size_t particles, const bool *chosen, double reach,
                                   near_pair_visit *visit, void *to);

typedef struct near_pairs {
    size_t count;
    uint32_t *pair;   /* count x 2, the lower number first */
    double *distance; /* m */
} near_pairs;

/* The same as a list. Free with near_pairs_free (safe on a zeroed one). */
pbd_status near_pairs_find(const double *x, size_t particles, double reach, near_pairs *out);
void near_pairs_free(near_pairs *p);

/* Which of the sets that hang together by pairs each particle is in, numbered from 0 by their lowest particle; returns
 * how many there are. size[] (particles): of each set, or NULL. */
size_t near_pairs_pieces(const near_pairs *p, size_t particles, uint32_t *piece, size_t *size);

/* Sets by hand: parent[p] = p at first, joined pair by pair; the root of a set is its lowest particle. */
uint32_t near_pairs_root(uint32_t *parent, uint32_t p);
void near_pairs_join(uint32_t *parent, size_t i, size_t j);
/* The same by several threads at once: when all are done, sets and roots are those of any order. */
uint32_t near_pairs_root_at_once(_Atomic uint32_t *parent, uint32_t p);
void near_pairs_join_at_once(_Atomic uint32_t *parent, uint32_t i, uint32_t j);

#endif
