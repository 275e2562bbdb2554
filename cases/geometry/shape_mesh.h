/* The surface of a single shape (solid.h) as triangles, for pictures: boxes by their faces, ellipsoids, tori, round
 * cones and cylinders by rings about their axis. */
#ifndef PBD_SHAPE_MESH_H
#define PBD_SHAPE_MESH_H

#include "harness/exec/arena.h"

struct shape; /* cases/geometry/solid.h */

typedef struct shape_mesh {
    size_t vertices, triangles;
    double *vertex;     /* vertices x 3, m */
    uint32_t *triangle; /* triangles x 3, counter-clockwise from outside */
} shape_mesh;

/* Free with shape_mesh_free (safe on a zeroed one). */
pbd_status shape_mesh_make(const struct shape *of, shape_mesh *out);
void shape_mesh_free(shape_mesh *mesh);

/* A copy whose arrays the arena owns. */
pbd_status shape_mesh_copy(const shape_mesh *from, pbd_arena *arena, shape_mesh *out);

#endif
