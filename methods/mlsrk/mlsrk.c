/* mlsrk: strain energies of particles as constraints, their deformation gradients from moving-least-squares reproducing
 * kernels at rest: what cao2023 compares its corrected kernel with. README.md has the equations. */
#include "methods/physics/parts/particle_energy.h"

static const char *const bases[] = {"constant", "constant_corrected", "linear", NULL};

static const pbd_param params[] = {PARTICLE_ENERGY_PARAMS{"basis", "", PBD_CHOICE, "linear", 0, 0, 0, bases,
                                                          "reproduced fields; constant_corrected: with L of Eq. 8"},
                                   {0}};

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    const int basis = pbd_choice(values, "basis");
    const shape_choice shape = {
        .kernel_correction = basis < 2, .gradient_correction = basis == 1, .linear = basis == 2};
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
