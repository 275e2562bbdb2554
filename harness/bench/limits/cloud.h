/* Particles for the neighbour passes: a jittered lattice, stored cell by cell, with their neighbours, and the cells in
 * colours. Lengths are in lattice spacings.
 *
 * The neighbours are listed twice: particle by particle, and in slices, as particle methods keep them. A bundle is
 * PBD_CLOUD_LANES cells of one colour, a lane each. It has 64 slices: the first particle of each of its cells, the
 * second, and so on. Row r of a slice holds the r-th neighbour of each of its particles; short lists are filled up with
 * the particle itself. Where the cells of a colour do not fill its last bundle, each empty lane has one particle
 * without neighbours in all its slices. These follow the particles of the lattice. */
#ifndef PBD_CLOUD_H
#define PBD_CLOUD_H

#include "methods/method.h"

enum { PBD_CLOUD_COLOURS = 8, PBD_CLOUD_LANES = 16 };

typedef struct pbd_cloud {
    size_t particles, cells;
    size_t pairs, entries; /* neighbours of all particles; and with those that fill up: of `neighbour` */
    double support;        /* radius within which particles are neighbours */
    double *x;             /* particles x 3 */
    uint32_t *first;       /* particles + 1 offsets into `neighbour` */
    uint32_t *neighbour;   /* filled up to multiples of 16 with the particle itself: whole SIMD batches */
    uint32_t *cell;        /* cells, colour by colour; cell c holds particles 64 c to 64 c + 63 */
    size_t colour[PBD_CLOUD_COLOURS + 1]; /* offsets into `cell` */
    size_t slices, rows, empty;           /* empty: lanes without a cell */
    uint32_t *own;                        /* slices x PBD_CLOUD_LANES: the particle */
    uint32_t *slice;                      /* slices + 1: first row of each */
    uint32_t *row;                        /* rows x PBD_CLOUD_LANES: a neighbour */
    size_t bundle[PBD_CLOUD_COLOURS + 1]; /* first bundle of each colour */
} pbd_cloud;

/* A cube of `edge`^3 particles; edge is a multiple of 4, the particles of a cell's edge. Freed by pbd_cloud_free, which
 * is safe on a zeroed cloud. PBD_FAILED without memory. */
pbd_status pbd_cloud_build(int edge, uint64_t seed, pbd_cloud *out);
void pbd_cloud_free(pbd_cloud *cloud);

#endif
