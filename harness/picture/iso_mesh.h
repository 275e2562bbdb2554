/* The surface where a function on a regular grid has a given value, by marching cubes.
 *
 * The 256 cases are made from one rule instead of a table: on each face of a cube, inside corners that do not share an
 * edge are separated. Both cubes at a face follow it, so the surface is closed if the grid's outermost nodes are
 * outside. */
#ifndef PBD_ISO_MESH_H
#define PBD_ISO_MESH_H

#include "methods/method.h"

typedef struct scalar_grid {
    size_t nodes[3];
    double cell, origin[3]; /* m */
    float *value;           /* x fastest; larger inside */
} scalar_grid;

typedef struct iso_mesh {
    size_t vertices, triangles;
    double *vertex;     /* vertices x 3, m */
    float *normal;      /* vertices x 3: outward unit vectors, from the function's gradient */
    uint32_t *triangle; /* triangles x 3, counter-clockwise from outside */
} iso_mesh;

/* The result does not depend on the number of threads. Free with iso_mesh_free (safe on a zeroed one). */
pbd_status iso_mesh_make(const scalar_grid *grid, float level, iso_mesh *out);
void iso_mesh_free(iso_mesh *mesh);

/* Removes detail smaller than a few cells and preserves the volume (G. Taubin, SIGGRAPH 1995). Normals are then those
 * of the triangles. */
pbd_status iso_mesh_smooth(iso_mesh *mesh, int rounds);

/* `value` at a point, trilinear between the grid's nodes; 0 outside of the grid. */
float scalar_grid_at(const scalar_grid *grid, const float *value, const double x[3]);

#endif
