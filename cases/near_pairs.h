/* Pairs of particles that are nearer than a reach, of any positions: for what cases measure of matter that is held
 * together by nearness alone. */
#ifndef PBD_NEAR_PAIRS_H
#define PBD_NEAR_PAIRS_H

#include "methods/method.h"

typedef struct near_pairs {
    size_t count;
    uint32_t *pair;   /* count x 2, the lower number first */
    double *distance; /* m */
} near_pairs;

/* Of x (particles x 3, m), in an order that depends on x alone. Particles that are nowhere have none. PBD_FAILED when
 * memory is out. Free with near_pairs_free (safe on a zeroed one). */
pbd_status near_pairs_find(const double *x, size_t particles, double reach, near_pairs *out);
void near_pairs_free(near_pairs *p);

/* Which of the sets that hang together by pairs each particle is in, numbered from 0 by their lowest particle; returns
 * how many there are. size[] (particles): of each set, or NULL. */
size_t near_pairs_pieces(const near_pairs *p, size_t particles, uint32_t *piece, size_t *size);

#endif
