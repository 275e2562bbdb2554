/* The outside of a body: faces that belong to one element alone. Loads are spread over it, pictures show it. */
#ifndef PBD_SURFACE_H
#define PBD_SURFACE_H

#include "methods/method.h"

typedef struct surface {
    size_t triangles;
    uint32_t *triangle; /* triangles x 3, counter-clockwise from outside */
    uint32_t *element;  /* of which each is a face: a hexahedron or, in scenes without any, a tetrahedron */
} surface;

/* The outside of a scene's hexahedra, each face as two triangles; without hexahedra, of its tetrahedra; without these,
 * its triangles as they are. Free with surface_free (safe on a zeroed one). */
pbd_status surface_of(const pbd_scene *scene, surface *out);
void surface_free(surface *s);

#endif
