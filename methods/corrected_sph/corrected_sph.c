/* corrected_sph: strain energies of particles as constraints, their deformation gradients from a smoothing kernel whose
 * values and gradients are corrected at rest (cao2023). README.md has the equations and what differs from print. */
#include "methods/physics/parts/particle_energy.h"

static const char *const switches[] = {"on", "off", NULL};

static const pbd_param params[] = {
    PARTICLE_ENERGY_PARAMS{"kernel_correction", "", PBD_CHOICE, "on", 0, 0, 0, switches,
                           "values of the kernel sum to 1 (C-3)"},
    {"gradient_correction", "", PBD_CHOICE, "on", 0, 0, 0, switches, "gradients reproduce linear fields (Eq. 8)"},
    {0}};

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    const shape_choice shape = {.kernel_correction = pbd_choice(values, "kernel_correction") == 0,
                                .gradient_correction = pbd_choice(values, "gradient_correction") == 0};
    return particle_energy_create("corrected_sph", shape, scene, values, exec, recorder, state);
}

const pbd_method PBD_NAME(corrected_sph) = {
    .name = "corrected_sph",
    .summary = "strain energies of particles, F from a corrected smoothing kernel at rest: XPBD, PBD",
    .source = "cao2023 Eqs. 6 to 11 (corrections C-1 to C-7, C-9, C-12, C-15)",
    .params = params,
    .create = create,
    PARTICLE_ENERGY_SLOTS,
};
