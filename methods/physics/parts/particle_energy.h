/* Solver with one strain energy constraint per particle over its neighbours at rest (corrected_sph, mlsrk), based on
 * position_solver.h. The methods differ in their gradients at rest (shape_gradients.h).
 *
 * On creation: neighbours at rest, corrected gradients (f64, host), colours or Jacobi factors, slices on the device.
 * Cuts are applied after a substep; the affected lists, gradients and factors are then recomputed. */
#ifndef PBD_PARTICLE_ENERGY_H
#define PBD_PARTICLE_ENERGY_H

#include "methods/physics/matter/energy_material.h"
#include "methods/physics/parts/acceleration.h"
#include "methods/physics/parts/position_solver.h"
#include "methods/physics/space/shape_gradients.h"

PBD_PRECISE(particle_energy_create, particle_energy_destroy, particle_energy_read, particle_energy_save,
            particle_energy_load)

/* Parameters of every such method, followed by ENERGY_PARAMS, CONTACT_PARAMS and ACCELERATION_PARAMS. The choices of
 * `kernel` are in the order of sph_kernel. */
#define PARTICLE_ENERGY_PARAMS(REAL, INTEGER, CHOICE)                                                                \
    ENERGY_FORM_PARAM(CHOICE, constraint)                                                                            \
    CHOICE(form, "position", (position, displacement),                                                               \
           "F = sum (x_j - x_i) b_ij^T, or I + sum (u_j - u_i) b_ij^T (C-2, C-6)")                                   \
    CHOICE(solver, "coloured_gs", (jacobi, coloured_gs), "order of projection")                                      \
    POSITION_PARAMS_AUTO(REAL, INTEGER, CHOICE)                                                                      \
    REAL(relaxation, "", "1.5", 0, 64, PBD_OPEN_MIN,                                                                 \
         "solver=jacobi: factor of the share of a step at which sums of constraints cannot overshoot; stable below " \
         "2")                                                                                                        \
    INTEGER(kernel_runs, "0", 0, 1000000, "repeats the computation of kernels this many times, to time it")          \
    REAL(hourglass, "", "0", 0, 1e4, 0,                                                                              \
         "solver=coloured_gs: energy against pairs that are not where F puts them, over E; 0: none")                 \
    CHOICE(kernel, "poly6", (poly6, cubic_spline, wendland_c2, spiky), "smoothing kernel")                           \
    REAL(radius, "", "1.8", 1, 10, PBD_OPEN_MIN, "support of the kernel, in spacings at rest")
#define PARTICLE_ENERGY_ROWS \
    PBD_ROWS(PARTICLE_ENERGY_PARAMS) PBD_ROWS(ENERGY_PARAMS) PBD_ROWS(CONTACT_PARAMS) PBD_ROWS(ACCELERATION_PARAMS)

/* All members of pbd_method except name, summary, source, params and create. */
#define PARTICLE_ENERGY_SLOTS                                                                                         \
    .bytes = sizeof(pbd_method), .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,                                    \
    .takes = PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_FIBRES | PBD_TAKES_PLASTICITY | PBD_TAKES_COLLIDERS | \
             PBD_TAKES_CONTACT | PBD_TAKES_CUTS | PBD_TAKES_ELASTICITY,                                               \
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA, .precisions = PBD_F32 | PBD_F64, .step = position_step,                 \
    .read = particle_energy_read, .save = particle_energy_save, .load = particle_energy_load,                         \
    .destroy = particle_energy_destroy, .watch = position_watch, .residual = ENERGY_RESIDUAL,                         \
    .unconverged = "constraint=pbd or " STEPPER_SMALL_STEPS ": " STEPPER_UNCONVERGED, .choose = position_choose_dt

void particle_energy_destroy(void *state);

/* A method's `create`, with its kind of gradients at rest. */
pbd_status particle_energy_create(const char *method, shape_choice shape, const pbd_scene *scene,
                                  const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder, void **state);
pbd_status particle_energy_read(const void *state, pbd_field field, double *out);
pbd_status particle_energy_save(const void *state, void *blob, size_t *bytes);
pbd_status particle_energy_load(void *state, const void *blob, size_t bytes);

#endif
