/* Neighbours at rest, for total-Lagrangian particle methods. Found once, on the host, in f64. */
#ifndef PBD_REST_NEIGHBOURS_H
#define PBD_REST_NEIGHBOURS_H

#include "methods/method.h"

/* Neighbours of i: particle[first[i] .. first[i + 1]), ascending, without i itself. */
typedef struct rest_neighbours {
    size_t particles;
    size_t *first;
    uint32_t *particle;
} rest_neighbours;

/* Finds all pairs nearer than `radius`, m; with `body` (by particle) only pairs of the same body. PBD_BAD_INPUT for a
 * non-finite position and for more than 2^32 pairs. */
pbd_status rest_neighbours_find(size_t particles, const double *positions, const uint32_t *body, double radius,
                                rest_neighbours *out);
void rest_neighbours_free(rest_neighbours *n); /* safe on a zeroed one */

/* Orders particles along a Morton curve of cells of `cell` m, within a cell by index. order: particles, place ->
 * particle. */
pbd_status rest_space_order(size_t particles, const double *positions, double cell, uint32_t *order);

#endif
