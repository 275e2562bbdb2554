/* Closed triangle meshes: read from OBJ, PLY and STL files by assimp, checked, and asked what is inside and how far the
 * surface is. */
#ifndef PBD_TRIANGLE_MESH_H
#define PBD_TRIANGLE_MESH_H

#include "cases/solid.h"

typedef struct triangle_tree triangle_tree;

typedef struct triangle_mesh {
    size_t vertices, triangles;
    double *position;   /* vertices x 3, m; no two are equal */
    uint32_t *triangle; /* triangles x 3, counter-clockwise from outside */
    triangle_tree *tree;
} triangle_mesh;

/* Reads the file (its format is told by the name's ending), multiplies lengths by `unit` (m), and checks that the mesh
 * bounds a body: no number is NaN or infinite, every edge belongs to two triangles that run along it in opposite ways,
 * no two triangles cross, and there is a volume. Vertices at the same place are one, polygons become triangles,
 * triangles without an area whose corners are not all different are left out. Turned inside out as a whole, a mesh is
 * turned back. Several closed surfaces, apart or one in a cavity of the other, are one body.
 *
 * PBD_BAD_INPUT says what is wrong and where: triangles are numbered from 1 in the file's order. assimp keeps
 * coordinates as 32-bit floats. */
pbd_status triangle_mesh_read(const pbd_content *content, double unit, triangle_mesh *out);
/* The same from arrays, which are copied. `name` is what messages call it. */
pbd_status triangle_mesh_make(const char *name, size_t vertices, const double *position, size_t triangles,
                              const uint32_t *triangle, triangle_mesh *out);
void triangle_mesh_free(triangle_mesh *mesh); /* safe on a zeroed one */

/* The body that it bounds; borrows the mesh. Inside is where the winding number is above one half. */
solid triangle_mesh_solid(const triangle_mesh *mesh);

/* ---- The tree of boxes over the triangles (triangle_tree.c) ------------------------------------------------------ */

pbd_status triangle_tree_make(size_t triangles, const uint32_t *triangle, const double *position, triangle_tree **out);
void triangle_tree_free(triangle_tree *tree); /* NULL-safe */

/* How often the surface goes round x: 1 inside, 0 outside, in between only where the surface is open or very near.
 * Far parts of the surface count as dipoles (G. Barill et al., Fast Winding Numbers, ACM TOG 37, 2018). */
double triangle_tree_winding(const triangle_tree *tree, const double x[3]);
/* From x to the nearest point of the surface, m. */
double triangle_tree_distance(const triangle_tree *tree, const double x[3]);
/* Whether two triangles cross, or lie on each other, other than at a vertex or an edge that they share; which two. */
bool triangle_tree_crossing(const triangle_tree *tree, size_t pair[2]);

#endif
