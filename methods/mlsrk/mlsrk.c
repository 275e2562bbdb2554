/* mlsrk: one strain energy constraint per particle, with deformation gradients from moving-least-squares reproducing
 * kernels at rest, with which cao2023 compares its corrected kernel. README.md has the equations. */
#include "methods/physics/parts/particle_energy.h"

#define PARAMS(REAL, INTEGER, CHOICE)                               \
    CHOICE(basis, "linear", (constant, constant_corrected, linear), \
           "reproduced fields; constant_corrected: with L of Eq. 8")
PBD_SETTINGS(mlsrk_settings, PARAMS)
static const pbd_param params[] = {PARTICLE_ENERGY_ROWS PBD_ROWS(PARAMS){0}};

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    const int basis = mlsrk_settings_read(values).basis;
    const shape_choice shape = {.kernel_correction = basis != basis_linear,
                                .gradient_correction = basis == basis_constant_corrected,
                                .linear = basis == basis_linear};
    return particle_energy_create("mlsrk", shape, scene, values, exec, recorder, state);
}

const pbd_method PBD_NAME(mlsrk) = {
    .name = "mlsrk",
    .summary = "strain energies of particles, F from reproducing kernels at rest: XPBD, PBD",
    .source = "Liu et al. 1995; cao2023 section 5, figures 11 to 13, table 3",
    .params = params,
    .create = create,
    PARTICLE_ENERGY_SLOTS,
};
