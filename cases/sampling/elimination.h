/* Sample elimination: of points spread at random, those that stay are far from each other. */
#ifndef PBD_ELIMINATION_H
#define PBD_ELIMINATION_H

#include "methods/method.h"

/* Eliminates all but `keep` of the points (points x 3, m) that fill `volume` (m^3) at random, and marks in `kept` those
 * that stay. The result depends on nothing else, the number of threads included. */
pbd_status eliminate_samples(size_t points, const double *position, double volume, size_t keep, unsigned char *kept);

#endif
