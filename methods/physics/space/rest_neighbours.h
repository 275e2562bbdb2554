/* Who is near whom at rest: what total-Lagrangian particle methods sum over. Found once, on the host, in f64. */
#ifndef PBD_REST_NEIGHBOURS_H
#define PBD_REST_NEIGHBOURS_H

#include "methods/method.h"

/* Neighbours of i: particle[first[i] .. first[i + 1]), ascending, without i itself. */
typedef struct rest_neighbours {
    size_t particles;
    size_t *first;
    uint32_t *particle;
} rest_neighbours;

/* All pairs nearer than `radius`, m, of one body where `body` (particles) is not NULL. PBD_BAD_INPUT for a position
 * that is not finite and for more pairs than 2^32. */
pbd_status rest_neighbours_find(size_t particles, const double *positions, const uint32_t *body, double radius,
                                rest_neighbours *out);
void rest_neighbours_free(rest_neighbours *n); /* safe on a zeroed one */

/* An order in which particles near in space are near in memory: along a Morton curve of cells of `cell` m, and in their
 * old order within a cell. order: particles, place -> particle. */
pbd_status rest_space_order(size_t particles, const double *positions, double cell, uint32_t *order);

#endif
