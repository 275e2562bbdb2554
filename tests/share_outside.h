/* The share of a scene that is outside of a picture. */
#ifndef PBD_TEST_SHARE_OUTSIDE_H
#define PBD_TEST_SHARE_OUTSIDE_H

#include <math.h>

#include "harness/picture/album.h"

/* The share of particles whose projections are outside of the camera's frame. */
static inline double share_outside(const pbd_album *a, const double *x, size_t n) {
    size_t outside = 0;
    for (size_t i = 0; i < n; i++) {
        double across = 0, above = 0;
        for (size_t d = 0; d < 3; d++) {
            across += (x[3 * i + d] - a->camera.centre[d]) * a->camera.right[d];
            above += (x[3 * i + d] - a->camera.centre[d]) * a->camera.up[d];
        }
        outside += !(fabs(across) <= a->camera.half_width && fabs(above) <= a->camera.half_height);
    }
    return (double)outside / (double)n;
}

#endif
