/* The surface of matter that particles sample, as triangles: the level set of the filled share of the volume, smoothed
 * by a kernel with a support radius of two spacings (Wendland C2). */
#ifndef PBD_PARTICLE_SURFACE_H
#define PBD_PARTICLE_SURFACE_H

#include "harness/picture/iso_mesh.h"

typedef struct sampled_matter {
    size_t count;
    const uint32_t *particle; /* count: indices, ascending */
    const double *x;        /* of all particles, x 3, m. Those that are not finite or outside of the box are left out */
    const float *value;     /* of all particles: interpolated to the vertices; NULL: none */
    double size;            /* m: the cube root of each particle's volume */
    double low[3], high[3]; /* m: the box */
} sampled_matter;

/* level: the filled share at the surface, 0.5 for a plane one; cell: of the grid, in sizes, enlarged if the grid would
 * be too large. *value: by vertex, freed by the caller; NULL without values. share: NULL, or the filled share at each
 * of `count` particles, 0 for those left out. The result does not depend on the number of threads. */
pbd_status particle_surface_make(const sampled_matter *matter, double cell, double level, iso_mesh *out, float **value,
                                 float *share);

#endif
