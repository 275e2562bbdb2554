/* Closed triangle meshes: read from OBJ, OFF, PLY and STL files by assimp, checked, and asked what is inside and how
 * far the surface is. */
#ifndef PBD_TRIANGLE_MESH_H
#define PBD_TRIANGLE_MESH_H

#include "cases/geometry/solid.h"

typedef struct triangle_tree triangle_tree;
typedef struct triangle_cells triangle_cells;

typedef struct triangle_mesh {
    size_t vertices, triangles;
    double *position;   /* vertices x 3, m; no two are equal */
    uint32_t *triangle; /* triangles x 3, counter-clockwise from outside */
    triangle_tree *tree;
    triangle_cells *cells; /* NULL before triangle_mesh_index */
    uint32_t crossing[2];  /* two triangles that cross, numbered from 1 in the file's order; 0: none do */
} triangle_mesh;

/* The same from arrays, which are copied. `name` is what messages call it. */
pbd_status triangle_mesh_make(const char *name, size_t vertices, const double *position, size_t triangles,
                              const uint32_t *triangle, triangle_mesh *out);
/* The same of a surface that may have borders. It bounds no body, and has no tree: only its arrays are set. */
pbd_status triangle_mesh_make_open(const char *name, size_t vertices, const double *position, size_t triangles,
                                   const uint32_t *triangle, triangle_mesh *out);
void triangle_mesh_free(triangle_mesh *mesh); /* safe on a zeroed one */

/* Makes `deeper` of the body fast: worth it for more than some thousand points. */
pbd_status triangle_mesh_index(triangle_mesh *mesh);

/* A sentence about a mesh that crosses itself; empty for others. */
void triangle_mesh_note(const triangle_mesh *mesh, const char *name, char *note, size_t size);

/* The body that it bounds; borrows the mesh. Inside is where the winding number is above one half: parts that overlap
 * are one. Where triangles cross, the volume is not known. */
solid triangle_mesh_solid(const triangle_mesh *mesh);

/* ---- The tree of boxes over the triangles (triangle_tree.c) ------------------------------------------------------ */

pbd_status triangle_tree_make(size_t triangles, const uint32_t *triangle, const double *position, triangle_tree **out);
void triangle_tree_free(triangle_tree *tree); /* NULL-safe */

/* How often the surface goes round x: 1 inside, 0 outside, in between only where the surface is open or very near.
 * Far parts of the surface count as dipoles (G. Barill et al., Fast Winding Numbers, ACM TOG 37, 2018). */
double triangle_tree_winding(const triangle_tree *tree, const double x[3]);
/* From x to the nearest point of the surface, m. */
double triangle_tree_distance(const triangle_tree *tree, const double x[3]);
/* Adds to *winding, which is that of `from`, what it changes by on the way to `to`. False, and no change: the way meets
 * an edge or an end of it meets a triangle, to rounding. */
bool triangle_tree_step(const triangle_tree *tree, const double from[3], const double to[3], int *winding);
/* Whether two triangles cross, or lie on each other, other than at a vertex or an edge that they share; which two. */
bool triangle_tree_crossing(const triangle_tree *tree, size_t pair[2]);

/* ---- Cells with a known winding number (triangle_cells.c) -------------------------------------------------------- */

pbd_status triangle_cells_make(const triangle_tree *tree, const double low[3], const double high[3],
                               triangle_cells **out);
void triangle_cells_free(triangle_cells *cells); /* NULL-safe */
/* Whether the winding number of x is above one half, and the surface farther away than `depth` (m). */
bool triangle_cells_deeper(const triangle_cells *cells, const double x[3], double depth);

#endif
