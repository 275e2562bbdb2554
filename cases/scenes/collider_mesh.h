/* Surfaces of triangles for colliders: of shapes, closer to them the finer they are, and from files. All are owned by
 * who asks, until a scene takes them. */
#ifndef PBD_CASES_COLLIDER_MESH_H
#define PBD_CASES_COLLIDER_MESH_H

#include "cases/scenes/particle_scene.h"

void collider_mesh_free(pbd_collider_mesh *mesh); /* safe on a zeroed one */

pbd_status collider_mesh_box(const double half[3], pbd_collider_mesh *out);
/* An icosahedron whose triangles are cut in four `cuts` times, vertices on the sphere. */
pbd_status collider_mesh_sphere(double radius, int cuts, pbd_collider_mesh *out);
/* Of PBD_HOURGLASS: vertices on its circles, `around` of them, in `rows` rows on either side of the middle. */
pbd_status collider_mesh_hourglass(const double half[3], int around, int rows, pbd_collider_mesh *out);
/* A sheet: |x|, |y| <= half at z = 0 in cells x cells squares. */
pbd_status collider_mesh_sheet(double half, int cells, double thickness, pbd_collider_mesh *out);
/* OBJ, OFF, PLY or STL, lengths times `unit`, m. Closed or a sheet: which, its edges tell
 * (methods/physics/surface/mesh_surface.h). Its lowest point comes to z = 0 and its middle to x = y = 0. */
pbd_status collider_mesh_read(const pbd_content *content, double unit, double thickness, pbd_collider_mesh *out);

/* A collider of this surface, which the scene owns from now on, also on failure: room must be there for the collider.
 */
pbd_status particle_add_mesh(pbd_scene *scene, pbd_collider_mesh *mesh, const double at[3], double friction,
                             pbd_collider **out);

#endif
