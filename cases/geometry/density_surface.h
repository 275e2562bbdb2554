/* The surface of smoothed particles: the isosurface of their density at a given level (desbrun1996, section 4), made of
 * segments in the plane and of triangles in space.
 *
 * Density is summed at the nodes of a regular grid around the particles and interpolated linearly between them. In the
 * plane each grid square is traversed along its boundary: a segment joins the point where the path leaves the body to
 * the one where it enters again (marching squares; the mean of the corners decides the ambiguous case). In space each
 * cube is split into six tetrahedra around a diagonal, which have no ambiguous case (marching tetrahedra): the surface
 * is closed and no edge has one or three triangles. Neither needs a table. */
#ifndef PBD_DENSITY_SURFACE_H
#define PBD_DENSITY_SURFACE_H

#include "methods/method.h"

typedef struct smoothed_matter {
    int dimensions; /* 2: of x and y, in the plane of the first particle's z */
    int kernel;     /* sph_kernel */
    double h;       /* m; the support radius is 2h */
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

/* cell: m. PBD_BAD_INPUT if a position is not finite, or if particles are so far apart that a grid around them would
 * have more than DENSITY_GRID_MOST nodes. Free with density_grid_free (safe on a zeroed one). */
pbd_status density_grid_make(const smoothed_matter *matter, double cell, density_grid *out);
void density_grid_free(density_grid *g);

typedef struct density_surface {
    int corners; /* of a face: 2 in the plane, 3 in space */
    size_t vertices, faces;
    double *vertex; /* vertices x 3, m */
    uint32_t *face; /* faces x corners; matter is left of a segment; triangles are counter-clockwise from outside */
    double area;    /* m^2; in the plane the length, m */
    double volume;  /* m^3; in the plane the area, m^2 */
    size_t pieces;  /* connected components */
} density_surface;

/* The isosurface of the density at `level`, above 0. Free with density_surface_free (safe on a zeroed one). */
pbd_status density_surface_make(const density_grid *g, double level, density_surface *out);
void density_surface_free(density_surface *s);

/* m W_h(h), the unit of the paper's levels (D-5). */
double density_unit(const smoothed_matter *matter, double mass);

/* Writes ASCII PLY, triangles as faces and segments as edges. PBD_FAILED with the reason if it cannot. */
pbd_status density_surface_write(const density_surface *s, const char *path);

#endif
