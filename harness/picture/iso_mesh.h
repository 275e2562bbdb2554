/* The surface where a function on a regular grid has a given value, by marching cubes.
 *
 * The 256 cases are made from one rule instead of a table: on each face of a cube, corners inside that do not touch by
 * an edge are apart. Both cubes at a face follow it, so that the surface is closed wherever the grid's outermost nodes
 * are outside. */
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
    float *normal;      /* vertices x 3: outward unit vectors, by the function's gradient */
    uint32_t *triangle; /* triangles x 3, counter-clockwise from outside */
} iso_mesh;

/* The same for any number of threads. Free with iso_mesh_free (safe on a zeroed one). */
pbd_status iso_mesh_make(const scalar_grid *grid, float level, iso_mesh *out);
void iso_mesh_free(iso_mesh *mesh);

/* Takes out what is smaller than some cells and keeps the volume (G. Taubin, SIGGRAPH 1995); normals are then those of
 * the triangles. */
pbd_status iso_mesh_smooth(iso_mesh *mesh, int rounds);

/* The grid's value at a place, linear between nodes; 0 outside of it. */
float scalar_grid_at(const scalar_grid *grid, const float *value, const double x[3]);

#endif
