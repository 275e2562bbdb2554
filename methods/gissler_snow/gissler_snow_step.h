/* The state of gissler_snow and a step of it: neighbours and kernels, what binds particles to walls, pressure, shear,
 * the end of a step and its metrics. Setting up and reading are in gissler_snow.c. */
#ifndef PBD_GISSLER_SNOW_STEP_H
#define PBD_GISSLER_SNOW_STEP_H

#include "methods/gissler_snow/gissler_snow_kernels.h"
#include "methods/physics/space/neighbours.h"
#include "methods/physics/surface/colliders.h"

PBD_PRECISE(gissler_snow_step, gissler_snow_destroy, gissler_snow_blocks)

/* Values of the parameters of these names. */
enum { SOLVE_SPLIT, SOLVE_TOGETHER };
enum { PRECONDITION_JACOBI, PRECONDITION_MASSES };

/* Rows of Krylov's method. */
enum { ROW_R, ROW_SHADOW, ROW_P, ROW_AP, ROW_S, ROW_Y, ROW_T, KRYLOV_ROWS };

typedef struct gissler_snow {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles;
    pbd_material material;
    double mu, lambda, gravity[3]; /* Pa */
    double spacing, support, cutoff, damping, relaxation, tolerance, forces_end;
    long iterations, passes;
    int solve, preconditioner;
    bool flows, corrected, tracked, loaded;
    sph_kernel kernel;
    double time;
    uint64_t steps;
    double looked, deficient, alone;              /* over all steps */
    double worst_pressure, worst_shear;           /* residuals left, relative */
    uint64_t unsettled, unsolved, jacobi, krylov; /* steps whose contacts or solvers did not settle; iterations */
    neighbours near;
    size_t pair_capacity;
    collider_poses colliders;
    /* Device, by particle. */
    real *x, *v, *body, *load; /* rows: place and mass; velocity, and 1 or (held) 0; gissler_snow_kernels.h */
    real *rest, *volume, *correction, *pair, *tensor;
    real *p, *diagonal, *square, *inverse;
    real *star, *pressed, *w, *wish, *target, *bound; /* rows: velocities on their way */
    real *row[KRYLOV_ROWS];
    uint32_t *note, *changed;
    real *block;
} gissler_snow;

void gissler_snow_destroy(void *state);
size_t gissler_snow_blocks(const gissler_snow *s);
pbd_status gissler_snow_step(void *state, double dt);

#endif
