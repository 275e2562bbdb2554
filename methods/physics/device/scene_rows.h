/* Checks a scene's particles and converts them to the rows of four reals that methods keep on the device. Host code. */
#ifndef PBD_SCENE_ROWS_H
#define PBD_SCENE_ROWS_H

#include "harness/exec/real.h"
#include "methods/method.h"

PBD_PRECISE(scene_check_particles, scene_volume, scene_has_forces, scene_rows)

/* particles x 3, m. */
static inline const double *scene_start(const pbd_scene *scene) {
    return scene->particles.start ? scene->particles.start : scene->particles.positions;
}

/* PBD_BAD_INPUT for a start that is not finite and for a mass that is not above 0. */
pbd_status scene_check_particles(const pbd_scene *scene);
/* Volume of particle i, m^3: given, or mass over density, or the cube of the spacing. */
double scene_volume(const pbd_scene *scene, size_t i);
bool scene_has_forces(const pbd_scene *scene);

/* Fills row i with particle[i] (NULL: i). x: start position, 0. v: velocity, 1; a fixed particle has four zeros. load
 * (may be NULL): acceleration by the scene's forces, 0. */
pbd_status scene_rows(const pbd_scene *scene, const uint32_t *particle, real *x, real *v, real *load);

#endif
