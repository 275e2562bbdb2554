/* corrected_sph: one strain energy constraint per particle, with deformation gradients from a smoothing kernel whose
 * values and gradients are corrected at rest (cao2023). README.md has the equations and the differences from the
 * paper. */
#include "methods/physics/parts/particle_energy.h"

#define PARAMS(REAL, INTEGER, CHOICE)                                                 \
    CHOICE(kernel_correction, "on", (on, off), "values of the kernel sum to 1 (C-3)") \
    CHOICE(gradient_correction, "on", (on, off), "gradients reproduce linear fields (Eq. 8)")
PBD_SETTINGS(corrected_sph_settings, PARAMS)
static const pbd_param params[] = {PARTICLE_ENERGY_ROWS PBD_ROWS(PARAMS){0}};

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    const corrected_sph_settings set = corrected_sph_settings_read(values);
    const shape_choice shape = {.kernel_correction = set.kernel_correction == kernel_correction_on,
                                .gradient_correction = set.gradient_correction == gradient_correction_on};
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
