/* corrected_sph: strain energies of particles as constraints, their deformation gradients from a smoothing kernel whose
 * values and gradients are corrected at rest (cao2023). README.md has the equations and what differs from print. */
#include "methods/corrected_sph/corrected_sph_kernels.h"
#include "methods/physics/particle_energy.h"

static const char *const switches[] = {"on", "off", NULL};

static const pbd_param params[] = {
    PARTICLE_ENERGY_PARAMS,
    {"kernel_correction", "", PBD_CHOICE, "on", 0, 0, 0, switches, "values of the kernel sum to 1 (C-3)"},
    {"gradient_correction", "", PBD_CHOICE, "on", 0, 0, 0, switches, "gradients reproduce linear fields (Eq. 8)"},
    {0}};

static void destroy(void *state) {
    if (!state) return;
    particle_energy_free(state);
    free(state);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    particle_energy *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for corrected_sph");
    const shape_choice shape = {.kernel_correction = pbd_choice(values, "kernel_correction") == 0,
                                .gradient_correction = pbd_choice(values, "gradient_correction") == 0};
    const pbd_status status = particle_energy_create(s, "corrected_sph", shape, scene, values, exec, recorder);
    if (status.code != PBD_OK)
        destroy(s);
    else
        *state = s;
    return status;
}

static pbd_status step(void *state, double dt) { return particle_energy_step(state, dt); }

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    return particle_energy_read(state, field, out);
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    return particle_energy_save(state, blob, bytes);
}

static pbd_status load(void *state, const void *blob, size_t bytes) { return particle_energy_load(state, blob, bytes); }

const pbd_method PBD_NAME(corrected_sph) = {
    .abi = PBD_METHOD_ABI,
    .name = "corrected_sph",
    .summary = "strain energies of particles, F from a corrected smoothing kernel at rest: XPBD, PBD",
    .source = "cao2023 Eqs. 6 to 11 (corrections C-1 to C-7, C-9, C-12, C-15)",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_FIBRES | PBD_TAKES_PLASTICITY | PBD_TAKES_COLLIDERS |
             PBD_TAKES_CONTACT,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
};
