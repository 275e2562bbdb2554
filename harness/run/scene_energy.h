/* Elastic energy of a scene's state, computed outside the method: the scene's law at the deformation gradients that the
 * method reports, plus the internal energy that it reports (such as that of an equation of state), or else the law at
 * the deformation gradients of the cells, from the positions of their corners. */
#ifndef PBD_SCENE_ENERGY_H
#define PBD_SCENE_ENERGY_H

#include "methods/method.h"

/* Bounds, J. `low` leaves out unknown energies, which are not negative: matter that flows or yields, liquid, elements
 * without a value of the law (inverted ones). Hexahedra contribute to `low` by the gradient at their centre, to `high`
 * by eight Gauss points. `high` is NaN if something was left out. */
typedef struct scene_energy {
    double low, high;
} scene_energy;

/* x: particles x 3, m. `gradients`: whether the method reports deformation gradients; those of the scene's cells are
 * then not evaluated, except cloth. PBD_FAILED without memory, and the failures of method->read. */
pbd_status scene_elastic_energy(const pbd_scene *scene, const pbd_method *method, const void *state, bool gradients,
                                const double *x, scene_energy *out);

#endif
