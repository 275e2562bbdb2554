/* Particles for the neighbour passes: a jittered lattice, stored cell by cell, with their neighbours, and the cells in
 * colours. Lengths are in lattice spacings. */
#ifndef PBD_CLOUD_H
#define PBD_CLOUD_H

#include "methods/method.h"

enum { PBD_CLOUD_COLOURS = 8 };

typedef struct pbd_cloud {
    size_t particles, cells;
    size_t pairs, entries; /* neighbours of all particles; and with those that fill up: of `neighbour` */
    double support;        /* radius within which particles are neighbours */
    double *x;             /* particles x 3 */
    uint32_t *first;       /* particles + 1 offsets into `neighbour` */
    uint32_t *neighbour;   /* filled up to multiples of 16 with the particle itself: whole SIMD batches */
    uint32_t *cell;        /* cells, colour by colour; cell c holds particles 64 c to 64 c + 63 */
    size_t colour[PBD_CLOUD_COLOURS + 1]; /* offsets into `cell` */
} pbd_cloud;

/* A cube of `edge`^3 particles; edge is a multiple of 4, the particles of a cell's edge. Freed by pbd_cloud_free, which
 * is safe on a zeroed cloud. PBD_FAILED without memory. */
pbd_status pbd_cloud_build(int edge, uint64_t seed, pbd_cloud *out);
void pbd_cloud_free(pbd_cloud *cloud);

#endif
