/* Consistent forces of loads on edges and faces (pbd_surface_load): the force at node a is the integral of N_a times
 * the load's density over the piece at rest. */
#ifndef PBD_SURFACE_LOAD_H
#define PBD_SURFACE_LOAD_H

#include "harness/exec/arena.h"
#include "methods/physics/parts/surface_shape.h"

/* weight[a][c] = integral over the piece of N_a of this order times M_c, the linear function of corner c: a density
 * with the value t_c at the corners makes the force sum_c weight[a][c] t_c at node a. x: corners, m. corners: 2 (an
 * edge), 3 or 4. Returns the length or area. */
double surface_load_weights(int corners, int order, const double x[SURFACE_MOST_CORNERS][3],
                            double weight[SURFACE_MOST_NODES][SURFACE_MOST_CORNERS]);
/* share[a] = integral of the linear N_a: the weights of a uniform load. Returns the length or area. */
double surface_load_shares(int corners, const double x[SURFACE_MOST_CORNERS][3], double share[SURFACE_MOST_CORNERS]);

/* The scene's edges, triangles or quads, and the corners of one at rest. */
const pbd_loaded *surface_load_pieces(const pbd_scene *scene, int corners);
void surface_load_corners(const pbd_scene *scene, int corners, size_t piece, double x[SURFACE_MOST_CORNERS][3]);

/* Adds the consistent corner forces of the scene's edges, triangles or quads to `forces`, particles x 3. */
void surface_load_add(const pbd_scene *scene, int corners, double *forces);
/* Number of corners of the faces whose forces loads.forces contains: 4 if the scene has hexahedra, else 3. */
int surface_load_faces(const pbd_scene *scene);
/* Whether the scene has loads on edges or faces. */
bool surface_load_any(const pbd_scene *scene);
/* forces (particles x 3) = loads.forces without the part that is spread over edges and faces. */
pbd_status surface_load_remove(const pbd_scene *scene, double *forces);
/* Copies the scene, with loads.forces those of its tetrahedra even if it also has hexahedra. The arena owns the new
 * forces; everything else belongs to `scene`. */
pbd_status surface_load_of_tets(const pbd_scene *scene, pbd_arena *arena, pbd_scene *out);

#endif
