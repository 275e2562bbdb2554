/* Loads that are spread over a part of a scene's surface: which edges and faces bear them, and their consistent forces.
 */
#ifndef PBD_LOADED_H
#define PBD_LOADED_H

#include "cases/case.h"

/* Lists in scene->surface_load the outside faces all of whose corners are marked (particles), those of hexahedra as
 * quads, those of tetrahedra and cloth as triangles; where there is none, the edges of the outside both of whose ends
 * are. Densities are 0. */
pbd_status loaded_list(pbd_scene *scene, const bool *marked);
/* The same density at every corner: N/m of edges, N/m^2 of faces. */
void loaded_uniform(pbd_scene *scene, const double density[3]);
/* Adds the consistent forces to scene->loads.forces. */
void loaded_apply(pbd_scene *scene);

#endif
