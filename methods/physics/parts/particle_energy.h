/* The solver of methods with one strain energy constraint per particle over its neighbours at rest (corrected_sph,
 * mlsrk). The methods differ in their gradients at rest (shape_gradients.h).
 *
 * Creation: neighbours at rest, corrected gradients (f64, host), colours or Jacobi's shares, slices on the device. A
 * substep predicts positions, iterates over the constraints and contact, computes velocities and applies cuts, after
 * which the affected lists, gradients and shares are computed again. */
#ifndef PBD_PARTICLE_ENERGY_H
#define PBD_PARTICLE_ENERGY_H

#include "harness/exec/exec.h"
#include "harness/exec/real.h"
#include "methods/physics/matter/energy_material.h"
#include "methods/physics/parts/contact.h"
#include "methods/physics/space/shape_gradients.h"
#include "methods/physics/space/sph_kernel.h"

PBD_PRECISE(particle_energy_create, particle_energy_destroy, particle_energy_step, particle_energy_read,
            particle_energy_save, particle_energy_load)

static const char *const particle_energy_orders[] = {"jacobi", "coloured_gs", NULL};
static const char *const particle_energy_kernels[] = SPH_KERNEL_NAMES;

static const char *const particle_energy_forms[] = {"position", "displacement", NULL};

/* Parameters that every method of this kind has. */
#define PARTICLE_ENERGY_PARAMS                                                                                       \
    ENERGY_FORM_PARAM("constraint"),                                                                                 \
        {"form",                                                                                                     \
         "",                                                                                                         \
         PBD_CHOICE,                                                                                                 \
         "position",                                                                                                 \
         0,                                                                                                          \
         0,                                                                                                          \
         0,                                                                                                          \
         particle_energy_forms,                                                                                      \
         "F = sum (x_j - x_i) b_ij^T, or I + sum (u_j - u_i) b_ij^T (C-2, C-6)"},                                    \
        {"solver", "", PBD_CHOICE, "jacobi", 0, 0, 0, particle_energy_orders, "order of projection"},                \
        {"iterations", "", PBD_INTEGER, "10", 1, 100000, 0, NULL, "projections of every constraint in a substep"},   \
        {"substeps", "", PBD_INTEGER, "1", 1, 10000, 0, NULL, "of a step"},                                          \
        {"dt", "s", PBD_REAL, "0.005", 0, 1e3, PBD_OPEN_MIN, NULL, "time step"},                                     \
        {"damping", "1/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of velocities: exp(-damping dt) each step"},             \
        {"relaxation",                                                                                               \
         "",                                                                                                         \
         PBD_REAL,                                                                                                   \
         "1.5",                                                                                                      \
         0,                                                                                                          \
         64,                                                                                                         \
         PBD_OPEN_MIN,                                                                                               \
         NULL,                                                                                                       \
         "solver=jacobi: factor of the share of a step at which sums of constraints cannot overshoot; stable below " \
         "2"},                                                                                                       \
        {"kernel_runs",                                                                                              \
         "",                                                                                                         \
         PBD_INTEGER,                                                                                                \
         "0",                                                                                                        \
         0,                                                                                                          \
         1000000,                                                                                                    \
         0,                                                                                                          \
         NULL,                                                                                                       \
         "repeats the computation of kernels this many times, to time it"},                                          \
        {"kernel", "", PBD_CHOICE, "poly6", 0, 0, 0, particle_energy_kernels, "smoothing kernel"},                   \
        {"radius", "", PBD_REAL, "1.8", 1, 10, PBD_OPEN_MIN, NULL, "support of the kernel, in spacings at rest"},    \
        ENERGY_MATERIAL_PARAMS, PBD_ROWS(CONTACT_PARAMS)

/* All slots but name, summary, source, params and create. */
#define PARTICLE_ENERGY_SLOTS                                                                                         \
    .bytes = sizeof(pbd_method), .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,                                    \
    .takes = PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_FIBRES | PBD_TAKES_PLASTICITY | PBD_TAKES_COLLIDERS | \
             PBD_TAKES_CONTACT | PBD_TAKES_CUTS,                                                                      \
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA, .precisions = PBD_F32 | PBD_F64, .step = particle_energy_step,          \
    .read = particle_energy_read, .save = particle_energy_save, .load = particle_energy_load,                         \
    .destroy = particle_energy_destroy

void particle_energy_destroy(void *state);

/* What a method's `create` does once it knows the gradients it wants. */
pbd_status particle_energy_create(const char *method, shape_choice shape, const pbd_scene *scene,
                                  const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder, void **state);
pbd_status particle_energy_step(void *state, double dt);
pbd_status particle_energy_read(const void *state, pbd_field field, double *out);
pbd_status particle_energy_save(const void *state, void *blob, size_t *bytes);
pbd_status particle_energy_load(void *state, const void *blob, size_t bytes);

#endif
