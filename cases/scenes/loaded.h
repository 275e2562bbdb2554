/* Loads that are distributed over a part of a scene's surface: loaded edges and faces, and their consistent forces. */
#ifndef PBD_LOADED_H
#define PBD_LOADED_H

#include "cases/case.h"

/* Lists in scene->surface_load the boundary faces whose corners are all marked (marked: particles): those of hexahedra
 * as quads, those of tetrahedra and cloth as triangles. If there is none, lists the boundary edges whose ends are both
 * marked. Densities are 0. */
pbd_status loaded_list(pbd_scene *scene, const bool *marked);
/* Sets the same density at every corner: N/m on edges, N/m^2 on faces. */
void loaded_uniform(pbd_scene *scene, const double density[3]);
/* Adds the consistent forces to scene->loads.forces. */
void loaded_apply(pbd_scene *scene);

#endif
