/* Checks of the kernels of a cloud of particles from positions and velocities alone, in double: whether cells of one
 * colour write to the same particle, F from positions, and the constraint C whose gradient yu2024 Eq. 12 is. The kernel
 * is Wendland's C2 that ends at 2r, with its gradients corrected (Eq. 10). */
#ifndef PBD_KERNEL_CHECKS_H
#define PBD_KERNEL_CHECKS_H

#include "cases/geometry/near_pairs.h"

/* Share of the particles that two cells of one colour write to, when a constraint writes to all that are nearer than
 * 2r: cells are cubes of `cell` r, and `period` colours follow each other along each axis. */
pbd_status kernel_conflicts(const pbd_scene *scene, double r, double cell, int period, double *share);

/* F (particles x 9, row by row) of a motion from the scene's positions to x, by neighbours at the start. */
pbd_status kernel_gradients(const pbd_scene *scene, double r, const double *x, double *F);

/* Of sqrt(2 psi) of Hencky's law after dt with velocities v (particles x 3), over `most` particles: how far Eq. 12 and
 * 13 are from central differences, relative to the largest derivative, at worst; with kernels where particles are now,
 * and with kernels where they would come to be, as positions as unknowns would ask for. change: how far the two C are
 * apart, relative, on average. */
typedef struct kernel_derivatives {
    double fixed, moving, change;
} kernel_derivatives;
pbd_status kernel_differences(const pbd_scene *scene, double r, const double *v, double dt, size_t most,
                              kernel_derivatives *out);

#endif
