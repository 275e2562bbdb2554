/* Sample elimination: thins out random points so that those that are kept are far from each other. */
#ifndef PBD_ELIMINATION_H
#define PBD_ELIMINATION_H

#include "methods/method.h"

/* Eliminates all but `keep` of the points (points x 3, m) that fill `volume` (m^3) at random, and marks in `kept` those
 * that are kept. The result does not depend on the number of threads. */
pbd_status eliminate_samples(size_t points, const double *position, double volume, size_t keep, unsigned char *kept);

#endif
