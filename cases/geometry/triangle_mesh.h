/* Closed triangle meshes, read from OBJ, OFF, PLY and STL files by assimp (triangle_file.h) and checked, with queries
 * for what is inside and for the distance to the surface. */
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

/* A mesh from arrays, which are copied, with the checks of triangle_mesh_read. `name` is used in messages. */
pbd_status triangle_mesh_make(const char *name, size_t vertices, const double *position, size_t triangles,
                              const uint32_t *triangle, triangle_mesh *out);
/* Likewise a surface that may have borders. It bounds no body and has no tree: only its arrays are set. */
pbd_status triangle_mesh_make_open(const char *name, size_t vertices, const double *position, size_t triangles,
                                   const uint32_t *triangle, triangle_mesh *out);
void triangle_mesh_free(triangle_mesh *mesh); /* safe on a zeroed one */

/* Makes `deeper` of the solid fast; worthwhile for more than a few thousand points. */
pbd_status triangle_mesh_index(triangle_mesh *mesh);

/* Writes a sentence about a mesh that crosses itself; an empty one for others. */
void triangle_mesh_note(const triangle_mesh *mesh, const char *name, char *note, size_t size);

/* The body bounded by the mesh, which it borrows. Inside is where the winding number is above one half, so that
 * overlapping parts are one. If triangles cross, the volume is unknown. */
solid triangle_mesh_solid(const triangle_mesh *mesh);

/* ---- The tree of boxes over the triangles (triangle_tree.c) ------------------------------------------------------ */

pbd_status triangle_tree_make(size_t triangles, const uint32_t *triangle, const double *position, triangle_tree **out);
void triangle_tree_free(triangle_tree *tree); /* NULL-safe */

/* Winding number of the surface around x: 1 inside, 0 outside, in between only where the surface is open or very near.
 * Distant parts are approximated by dipoles (G. Barill et al., Fast Winding Numbers, ACM TOG 37, 2018). */
double triangle_tree_winding(const triangle_tree *tree, const double x[3]);
/* Distance from x to the nearest point of the surface, m. */
double triangle_tree_distance(const triangle_tree *tree, const double x[3]);
/* Changes *winding from the winding number at `from` to that at `to`, by the crossings of the segment between them.
 * Returns false, without a change, if the segment meets an edge or one of its ends meets a triangle, to rounding. */
bool triangle_tree_step(const triangle_tree *tree, const double from[3], const double to[3], int *winding);
/* Whether two triangles cross or overlap, other than at a shared vertex or edge; writes such a pair. */
bool triangle_tree_crossing(const triangle_tree *tree, size_t pair[2]);

/* ---- Cells with a known winding number (triangle_cells.c) -------------------------------------------------------- */

pbd_status triangle_cells_make(const triangle_tree *tree, const double low[3], const double high[3],
                               triangle_cells **out);
void triangle_cells_free(triangle_cells *cells); /* NULL-safe */
/* Whether the winding number of x is above one half, and the surface farther away than `depth` (m). */
bool triangle_cells_deeper(const triangle_cells *cells, const double x[3], double depth);

#endif
