/* Triangle meshes for colliders: approximations of shapes, which improve with resolution, and meshes from files. The
 * caller owns a mesh until a scene takes it. */
#ifndef PBD_CASES_COLLIDER_MESH_H
#define PBD_CASES_COLLIDER_MESH_H

#include "cases/scenes/particle_scene.h"

void collider_mesh_free(pbd_collider_mesh *mesh); /* safe on a zeroed one */

pbd_status collider_mesh_box(const double half[3], pbd_collider_mesh *out);
/* An icosahedron, each triangle of which is divided into four, `cuts` times. All vertices are on the sphere. */
pbd_status collider_mesh_sphere(double radius, int cuts, pbd_collider_mesh *out);
/* The shape PBD_HOURGLASS, with `around` vertices on each circle, and `rows` rows on either side of the middle. */
pbd_status collider_mesh_hourglass(const double half[3], int around, int rows, pbd_collider_mesh *out);
/* A sheet: |x|, |y| <= half at z = 0 in cells x cells squares. */
pbd_status collider_mesh_sheet(double half, int cells, double thickness, pbd_collider_mesh *out);
/* Reads OBJ, OFF, PLY or STL and multiplies lengths by `unit`, m. Whether the surface is closed or a sheet follows from
 * its edges (methods/physics/surface/mesh_surface.h). The mesh is moved so that its lowest point is at z = 0 and its
 * bounding box is centred at x = y = 0. */
pbd_status collider_mesh_read(const pbd_content *content, double unit, double thickness, pbd_collider_mesh *out);

/* Adds a collider with this mesh at `at`, m. The scene must have room for the collider. It takes over the arrays of the
 * mesh, which are freed on failure; *mesh is zeroed. out: NULL, or where to write the collider. */
pbd_status particle_add_mesh(pbd_scene *scene, pbd_collider_mesh *mesh, const double at[3], double friction,
                             pbd_collider **out);

#endif
