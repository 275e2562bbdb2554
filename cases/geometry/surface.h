/* The boundary of a body: faces of only one element. Loads are distributed over it, and pictures show it. */
#ifndef PBD_SURFACE_H
#define PBD_SURFACE_H

#include "methods/method.h"

typedef struct surface {
    size_t triangles;
    uint32_t *triangle; /* triangles x 3, counter-clockwise from outside */
    uint32_t *element;  /* triangles: the element of each face, a hexahedron or, in scenes without any, a tetrahedron */
} surface;

/* The boundary of a scene's hexahedra, each face as two triangles; without hexahedra, of its tetrahedra; without both,
 * its triangles as they are. Free with surface_free (safe on a zeroed one). */
pbd_status surface_of(const pbd_scene *scene, surface *out);
void surface_free(surface *s);

#endif
