/* The state of xpbi and a step of it (yu2024, Algorithm 1): neighbours, gradients, iterations with their residuals, the
 * end of a step and its metrics. Setting up and reading are in xpbi.c. */
#ifndef PBD_XPBI_STEP_H
#define PBD_XPBI_STEP_H

#include "methods/physics/parts/fluid.h"
#include "methods/physics/surface/colliders.h"
#include "methods/xpbi/xpbi_cloth.h"
#include "methods/xpbi/xpbi_layout.h"

PBD_PRECISE(xpbi_begin, xpbi_step, xpbi_destroy, xpbi_blocks_of)

/* Values of the parameters of these names. */
enum { PLASTICITY_IMPLICIT, PLASTICITY_SEMI_IMPLICIT, PLASTICITY_NONE };
enum { RESIDUAL_OFF, RESIDUAL_FIRST, RESIDUAL_LAST, RESIDUAL_EVERY };
enum { CORRECTION_DISTANCE, CORRECTION_DENSITY, CORRECTION_OFF, CORRECTION_SHIFT };

typedef struct xpbi {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles, continuum; /* rows of the continuum come first; those of other matter keep their places */
    collider_poses colliders;
    fluid fluid;
    long fluid_passes; /* in an iteration */
    xpbi_cloth cloth;  /* of scenes that hold some; its vertices are none of the particles */
    pbd_material material;
    double unit, mu, lambda; /* Pa; in units of it */
    double gravity[3];
    double radius, spacing, gap, cutoff;  /* m, m, m, 1 */
    double rest_density, correction_time; /* V^0 sum W: the largest at the start; s */
    double hourglass;                     /* zeta: springs against what gradients cannot see, in units of E; 0: none */
    double xsph, damping, relaxation, tolerance, duration, forces_end;
    long iterations;
    int plasticity, residual;
    int form;  /* XPBI_ENERGY, XPBI_SHEAR for a pair, XPBI_STRESS */
    bool free; /* no particle is fixed: total momentum is defined */
    bool warm, jacobi, averaged, printed_gradient, printed_xsph, elastic_volume;
    bool plain_gradients, apart; /* L = 1; F goes by the velocities before XSPH */
    int correction;              /* CORRECTION_* */
    double time;
    uint64_t steps;
    double fastest; /* m/s, at the end of the last step; at first as if there were no bound */
    double deficient, idle, alone, looked, momentum_error; /* over all steps */
    /* Device. */
    xpbi_layout layout;
    xpbi_particles now, other; /* the other is where a sort puts them; its v also holds moves and smoothed velocities */
    real *block;
    uint32_t *note;
    real *clearance; /* by particle, of colliders, m; NULL: there are none */
    real *squares;   /* h^2 by slot */
    size_t squares_room;
} xpbi;

void xpbi_destroy(void *state);
size_t xpbi_blocks_of(size_t count);
pbd_status xpbi_step(void *state, double dt);

/* Where particles start, with which velocity; F is that of the way there from rest. */
pbd_status xpbi_begin(xpbi *s, const pbd_scene *scene);

#endif
