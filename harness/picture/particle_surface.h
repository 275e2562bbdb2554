/* The surface of matter that particles sample, as triangles: where the share of the volume that is filled, smoothed by
 * a kernel of two spacings (Wendland C2), has a given value. */
#ifndef PBD_PARTICLE_SURFACE_H
#define PBD_PARTICLE_SURFACE_H

#include "harness/picture/iso_mesh.h"

typedef struct sampled_matter {
    size_t count;
    const uint32_t *particle; /* count: which; ascending */
    const double *x;        /* of all particles, x 3, m. Those that are not finite or outside of the box are left out */
    const float *value;     /* of all particles: interpolated to the vertices; NULL: none */
    double size;            /* m: the cube root of each particle's volume */
    double low[3], high[3]; /* m: the box */
} sampled_matter;

/* level: the share, 0.5 at a plane surface; cell: of the grid, in sizes, enlarged where the grid would be too large.
 * *value is by vertex and the caller's to free; NULL without values. share (count), or NULL: that at each particle, 0
 * of those that are left out. The same for any number of threads. */
pbd_status particle_surface_make(const sampled_matter *matter, double cell, double level, iso_mesh *out, float **value,
                                 float *share);

#endif
