/* Checks of SPH kernels on a set of particles, from positions and velocities alone, in double: write conflicts between
 * cells of one colour, F from positions, and the gradient of the constraint C (yu2024 Eq. 12). The kernel is Wendland's
 * C2 with the support radius 2r and corrected gradients (Eq. 10). */
#ifndef PBD_KERNEL_CHECKS_H
#define PBD_KERNEL_CHECKS_H

#include "cases/geometry/near_pairs.h"

/* Finds the share of the particles to which two cells of one colour write, if each particle's constraint writes to all
 * particles nearer than 2r. Cells are cubes with the edge `cell` r; colours repeat along each axis after `period`, at
 * most 3, cells. */
pbd_status kernel_conflicts(const pbd_scene *scene, double r, double cell, int period, double *share);

/* Writes F (particles x 9, row by row) of the motion from the scene's positions to x, with the neighbours at the start.
 */
pbd_status kernel_gradients(const pbd_scene *scene, double r, const double *x, double *F);

/* Compares the gradient of C = sqrt(2 psi) of Hencky's law (Eq. 12 and 13), after dt with velocities v (particles x 3,
 * m/s), with central differences, at up to `most` particles. fixed: the largest error, relative to the largest
 * derivative, with kernels at the present positions. moving: the same with kernels at the positions after dt, as a
 * method with positions as unknowns would need. change: the mean relative difference between the two values of C. */
typedef struct kernel_derivatives {
    double fixed, moving, change;
} kernel_derivatives;
pbd_status kernel_differences(const pbd_scene *scene, double r, const double *v, double dt, size_t most,
                              kernel_derivatives *out);

#endif
