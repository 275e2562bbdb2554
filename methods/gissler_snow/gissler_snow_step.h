/* The state and the step of gissler_snow: neighbours and kernels, constraints by walls, pressure, shear, flow, and
 * metrics. Creation and reading are in gissler_snow.c. */
#ifndef PBD_GISSLER_SNOW_STEP_H
#define PBD_GISSLER_SNOW_STEP_H

#include "methods/gissler_snow/gissler_snow_kernels.h"
#include "methods/params.h"
#include "methods/physics/space/neighbours.h"
#include "methods/physics/surface/colliders.h"

PBD_PRECISE(gissler_snow_step, gissler_snow_blocks)

#define GISSLER_PARAMS(REAL, INTEGER, CHOICE)                                                                    \
    REAL(dt, "s", "1e-4", 0, 1e3, PBD_OPEN_MIN, "time step")                                                     \
    CHOICE(solve, "split", (split, together),                                                                    \
           "pressure first and then shear, as published, or both at once by Krylov's method")                    \
    INTEGER(iterations, "200", 1, 100000, "largest number, of each of the two solvers and pass")                 \
    REAL(tolerance, "", "1e-4", 0, 1, PBD_OPEN_MAX, "residual of each solver over that before")                  \
    REAL(relaxation, "", "0.5", 0, 2, PBD_OPEN_MIN, "solve=split: omega of the pressure's Jacobi")               \
    CHOICE(preconditioner, "jacobi", (jacobi, masses),                                                           \
           "of shear: inverse 3 x 3 blocks, or masses alone, which conserve momentum at any tolerance")          \
    INTEGER(contact_passes, "4", 1, 100, "largest number of solves in a step, until contacts do not change")     \
    CHOICE(plasticity, "semi_implicit", (semi_implicit, none), "flow=snow: flow at the end of a step, or never") \
    CHOICE(divergence, "uncorrected", (uncorrected, corrected),                                                  \
           "of velocity by plain kernels, as published, or by corrected ones as shear and rotation")             \
    CHOICE(volume, "summed", (summed, tracked),                                                                  \
           "of particles by the density that SPH sums, as published, or by the whole motion")                    \
    CHOICE(kernel, "cubic_spline", (cubic_spline, wendland_c2), "smoothing kernel")                              \
    REAL(radius, "", "1", 0.5, 10, PBD_OPEN_MIN, "r of the kernel, whose support is 2r, in spacings")            \
    REAL(cutoff, "", "0.03", 0, 1, PBD_OPEN_MIN | PBD_OPEN_MAX,                                                  \
         "singular values of L^-1 below this times the largest count as 0")                                      \
    REAL(damping, "1/s", "0", 0, 1e6, 0, "of velocities: exp(-damping dt) each step")
PBD_SETTINGS(gissler_settings, GISSLER_PARAMS)

/* Vectors of BiCGSTAB. */
enum { ROW_R, ROW_SHADOW, ROW_P, ROW_AP, ROW_S, ROW_Y, ROW_T, KRYLOV_ROWS };

typedef struct gissler_snow {
    pbd_exec *exec;
    pbd_recorder *recorder;
    gissler_settings set;
    size_t particles;
    gissler_particles p; /* device */
    pbd_material material;
    double mu, lambda, gravity[3]; /* Pa */
    double support, forces_end;
    bool flows, loaded;
    double time;
    uint64_t steps;
    double looked, deficient, alone;              /* over all steps */
    double worst_pressure, worst_shear;           /* residuals left, relative */
    pbd_residual *left;                           /* receives the residual of the current step; or NULL */
    uint64_t unsettled, unsolved, jacobi, krylov; /* steps whose contacts or solvers did not converge; iterations */
    neighbours near;
    size_t pair_capacity;
    collider_poses colliders;
    real *star, *pressed, *w, *unconstrained, *target; /* device, rows: intermediate velocities */
    real *row[KRYLOV_ROWS];
    real *block;
} gissler_snow;

size_t gissler_snow_blocks(const gissler_snow *s);
pbd_status gissler_snow_step(void *state, double dt);

#endif
