/* Particles in lists by the cell of a uniform grid that they are in; cells are found by a hash of their place. For what
 * is measured of a state: methods have methods/physics/neighbours.h. */
#ifndef PBD_CELLS_H
#define PBD_CELLS_H

#include "methods/method.h"

typedef struct cells {
    double cell;            /* m */
    size_t slots;           /* a power of two */
    uint32_t *first, *next; /* UINT32_MAX: none */
    int64_t (*at)[3];       /* particles: the cell of each */
} cells;

/* Particles that are nowhere (NaN), or a thousand million cells away, are in none: cells_hold says so. Cells may share
 * a list; one that comes later in a list has a lower number. Free it whatever comes back. */
pbd_status cells_make(const double *x, size_t count, double cell, cells *out);
void cells_free(cells *c); /* safe on a zeroed one */

bool cells_hold(const cells *c, size_t particle);
/* The first of the list in which those of this cell are, among others perhaps. */
uint32_t cells_first(const cells *c, const int64_t at[3]);

#endif
