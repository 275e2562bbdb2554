/* The surface that smoothed particles have: where their density has a given value (desbrun1996, section 4). In the
 * plane a curve of segments, in space triangles.
 *
 * Density is summed up at the nodes of a regular grid around the particles and is taken to be linear between them. In
 * the plane each square of the grid is walked around: the curve joins where the walk leaves the body and where it
 * enters it again (marching squares; which of two it is, where both diagonals differ, is decided by the mean of the
 * corners). In space each cube is six tetrahedra around a diagonal, in which nothing is ambiguous (marching
 * tetrahedra): the surface is closed and has no edge of one or three triangles. Neither needs a table. */
#ifndef PBD_DENSITY_SURFACE_H
#define PBD_DENSITY_SURFACE_H

#include "methods/method.h"

typedef struct smoothed_matter {
    int dimensions; /* 2: of x and y, in the plane of the first particle's z */
    int kernel;     /* sph_kernel */
    double h;       /* m; the kernel ends at 2h */
    size_t particles;
    const double *x, *mass; /* particles x 3, m; particles, kg */
} smoothed_matter;

typedef struct density_grid {
    int dimensions;
    double cell, origin[3]; /* m */
    size_t nodes[3];
    double *value; /* kg/m^3 (kg/m^2 in the plane), x fastest; the outermost nodes have 0 */
} density_grid;

enum { DENSITY_GRID_MOST = 1 << 24 }; /* nodes */

/* cell, m. PBD_BAD_INPUT when particles are so far apart, or not finite, that a grid around them would have more than
 * DENSITY_GRID_MOST nodes. Free with density_grid_free (safe on a zeroed one). */
pbd_status density_grid_make(const smoothed_matter *matter, double cell, density_grid *out);
void density_grid_free(density_grid *g);

typedef struct density_surface {
    int corners; /* of a face: 2 in the plane, 3 in space */
    size_t vertices, faces;
    double *vertex; /* vertices x 3, m */
    uint32_t
        *face;     /* faces x corners; matter is on the left of a segment, behind a triangle turned counter-clockwise */
    double area;   /* m^2; in the plane the length, m */
    double volume; /* m^3; in the plane the area, m^2 */
    size_t pieces; /* that hang together */
} density_surface;

/* Where the density is `level`, above 0. Free with density_surface_free (safe on a zeroed one). */
pbd_status density_surface_make(const density_grid *g, double level, density_surface *out);
void density_surface_free(density_surface *s);

/* m W_h(h), the unit of the paper's levels (D-5). */
double density_unit(const smoothed_matter *matter, double mass);

/* As PLY, ASCII: triangles are faces, segments edges. PBD_FAILED says why not. */
pbd_status density_surface_write(const density_surface *s, const char *path);

#endif
