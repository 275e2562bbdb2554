/* A scene's particles as the rows of four reals that methods keep on the device, and the checks before. Host code. */
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
/* m^3, of a particle; where the scene has neither volumes nor a density, the cube of the spacing. */
double scene_volume(const pbd_scene *scene, size_t i);
/* Whether any force differs from 0. */
bool scene_has_forces(const pbd_scene *scene);

/* Row i is of particle[i] (NULL: of i). x: start and 0. v: velocity and 1; of a fixed particle four zeros. load (may be
 * NULL): acceleration by the scene's forces and 0. */
pbd_status scene_rows(const pbd_scene *scene, const uint32_t *particle, real *x, real *v, real *load);

#endif
