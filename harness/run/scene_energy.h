/* Elastic energy of a scene's state from outside its method: the scene's law at the deformation gradients that the
 * method reports, or the internal energy of its equation of state, or else at those of the cells by the positions of
 * their corners. */
#ifndef PBD_SCENE_ENERGY_H
#define PBD_SCENE_ENERGY_H

#include "methods/method.h"

/* Bounds, J. `low` leaves out what cannot be known and is not negative: matter that flows or yields, liquid, elements
 * whose law has no value (inverted ones). Hexahedra contribute by the gradient at their centre to `low`, by eight Gauss
 * points to `high`. `high` is NaN where something was left out. */
typedef struct scene_energy {
    double low, high;
} scene_energy;

/* x: particles x 3, m. `gradients`: whether the method reports deformation gradients; those of the scene's cells are
 * then not evaluated, except cloth. PBD_FAILED without memory, and the failures of method->read. */
pbd_status scene_elastic_energy(const pbd_scene *scene, const pbd_method *method, const void *state, bool gradients,
                                const double *x, scene_energy *out);

#endif
