/* xpbi: continua whose F is updated from the velocity gradient, with one XPBD constraint per particle on the velocities
 * of its neighbours and flow rules inside the iterations (yu2024, Algorithm 1). README.md has the equations.
 *
 * This file has the list of parts, creation, reading and saving; xpbi.h has the parameters and the state, and each part
 * has a file. Kernels: xpbi_*_kernels.h. */
#include "methods/xpbi/xpbi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/physics/matter/flow_material.h"
#include "methods/physics/matter/wave.h"
#include "methods/physics/parts/particle_survey.h"

static const pbd_param params[] = {PBD_ROWS(XPBI_PARAMS) PBD_ROWS(XPBI_SEPARATION_PARAMS) PBD_ROWS(
    XPBI_HOURGLASS_PARAMS) PBD_ROWS(XPBI_FLUID_PARAMS) PBD_ROWS(ACCELERATION_PARAMS){0}};

bool xpbi_is_penalty(const xpbi *s) {
    return s->hourglass.hourglass_control > 0 && s->hourglass.hourglass_form == hourglass_form_penalty;
}

/* Adds the parts in the order in which an iteration runs them. */
static void add_parts(xpbi *s, const pbd_scene *scene) {
    stepper_add(&s->run, &xpbi_inelastic_part, s);
    if (s->hourglass.hourglass_control > 0)
        stepper_add(&s->run, xpbi_is_penalty(s) ? &xpbi_penalty_part : &xpbi_hourglass_part, s);
    if (pbd_holds(scene, PBD_FLUID)) stepper_add(&s->run, &fluid_part, &s->fluid);
    if (s->separation.position_correction != position_correction_off) stepper_add(&s->run, &xpbi_separation_part, s);
    if (s->run.colliders.count > 0) stepper_add(&s->run, &xpbi_walls_part, s);
    if (pbd_holds(scene, PBD_CLOTH)) stepper_add(&s->run, &xpbi_cloth_part, &s->cloth);
    if (s->faster.set.acceleration != acceleration_none) stepper_add(&s->run, &xpbi_acceleration_part, s);
}

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

static bool is_continuum(const pbd_scene *scene, size_t i) { return pbd_matter_of(scene, i) == PBD_CONTINUUM; }

static size_t continuum_of(const pbd_scene *scene) {
    size_t count = 0;
    for (size_t i = 0; i < scene->particles.count; i++) count += is_continuum(scene, i);
    return count;
}

/* Refuses scenes and settings that kernel=rest does not support. */
static pbd_status check_rest(const xpbi *s, const pbd_scene *scene) {
    if (s->material.flow)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "kernel=rest is for elastic matter alone: what flows has no shape at rest to go back to; set "
                         "kernel=current");
    if (scene->particles.bodies > 1)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "kernel=rest: particles of the %zu bodies would not meet, since their neighbours are those at "
                         "rest; set kernel=current",
                         scene->particles.bodies);
    if (s->set.gradient_correction == gradient_correction_off)
        return pbd_error(PBD_BAD_INPUT,
                         "kernel=rest with gradient_correction=off: plain gradients of the shape at rest strain a body "
                         "that turns; set kernel=current, or gradient_correction=on");
    if (xpbi_is_penalty(s))
        return pbd_error(PBD_BAD_INPUT,
                         "kernel=rest has its zero-energy motions in positions: hourglass_form=penalty, "
                         "on velocities, needs kernel=current");
    if (s->set.deformation != deformation_same || s->separation.position_correction == position_correction_shift)
        return pbd_error(
            PBD_BAD_INPUT,
            "kernel=rest computes F from positions: deformation=before_xsph and position_correction=shift, "
            "by which the two differ, need kernel=current");
    return pbd_ok();
}

/* Whether check_rest accepts kernel=rest for elastic matter. */
static bool may_rest(const pbd_scene *scene, const pbd_values *values) {
    return scene->particles.bodies <= 1 && xpbi_settings_read(values).gradient_correction == gradient_correction_on &&
           xpbi_settings_read(values).deformation == deformation_same &&
           xpbi_separation_settings_read(values).position_correction != position_correction_shift &&
           xpbi_hourglass_settings_read(values).hourglass_form != hourglass_form_penalty;
}

/* Defaults for matter with a flow rule: the paper's values. For elastic matter: no smoothing, which damps it, and the
 * kernel and hourglass control that keep bars intact. Its steps are implicit and stable at any length: dt is the time
 * in which a pressure wave passes from particle to particle, limited to 1e-4 to 1e-3 s (README.md). */
static double choose(const pbd_scene *scene, const pbd_values *values, const char *parameter) {
    const pbd_material *solid = pbd_first_material(scene, PBD_CONTINUUM);
    const bool flows = solid && solid->flow;
    if (pbd_named(parameter, "dt")) return flows ? 1e-4 : round_step(fmax(1e-4, fmin(1e-3, wave_crossing(scene))));
    if (pbd_named(parameter, "kernel")) return !flows && may_rest(scene, values) ? kernel_rest : kernel_current;
    if (pbd_named(parameter, "hourglass_control")) return flows ? 0 : 3;
    return flows ? 0.01 : 0; /* xsph */
}

static pbd_status check(const xpbi *s, const pbd_scene *scene) {
    const pbd_material *m = &s->material;
    if (scene->particles.count == 0) return pbd_error(PBD_BAD_INPUT, "xpbi: the scene has no particles");
    if (!(scene->particles.spacing > 0))
        return pbd_error(PBD_BAD_INPUT, "xpbi: the scene's particles have a spacing of %g m: must be above 0",
                         scene->particles.spacing);
    if (s->continuum > 0 && !pbd_named(m->law, "hencky"))
        return pbd_error(PBD_NOT_SUPPORTED,
                         "xpbi is for material=hencky alone (yu2024 Eq. 3): its flow rules map Hencky strains");
    if (s->continuum == 0)
        return pbd_error(PBD_NOT_SUPPORTED, "xpbi: the scene holds no continuum: pbf is for liquid alone");
    if (!(m->nu < 0.5)) return pbd_error(PBD_BAD_INPUT, "nu=%g must be below 0.5", m->nu);
    if (s->hourglass.hourglass_control > 0 && m->flow)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "hourglass_control=%g is for elastic matter alone: its springs would hold what flows",
                         s->hourglass.hourglass_control);
    if (s->set.kernel == kernel_rest) PBD_TRY(check_rest(s, scene));
    if (s->set.constraint == constraint_pair && m->nu < 0)
        return pbd_error(PBD_BAD_INPUT, "constraint=pair needs nu >= 0, not %g: its second energy would be negative",
                         m->nu);
    if (s->poured && s->cloth.cloth)
        return pbd_error(PBD_NOT_SUPPORTED, "xpbi: held particles that move and are let go, together with cloth");
    if (s->separation.position_correction == position_correction_shift && s->set.deformation != deformation_same)
        return pbd_error(PBD_BAD_INPUT, "position_correction=shift moves x differently already: use deformation=same");
    return pbd_ok();
}

static void read_values(xpbi *s, const pbd_scene *scene, const pbd_values *values) {
    static const int forms[] = {XPBI_ENERGY, XPBI_SHEAR, XPBI_STRESS};
    const pbd_material *solid = pbd_first_material(scene, PBD_CONTINUUM);
    s->set = xpbi_settings_read(values);
    s->separation = xpbi_separation_settings_read(values);
    s->hourglass = xpbi_hourglass_settings_read(values);
    s->run.iterations = s->set.iterations;
    s->run.watch = xpbi_watch_residual;
    s->run.watcher = s;
    s->particles = scene->particles.count;
    s->continuum = continuum_of(scene);
    if (solid) s->material = *solid;
    s->unit = ldexp(1, ilogb(s->material.E));
    const double E = s->material.E, nu = s->material.nu;
    s->mu = E / (2 * (1 + nu)) / s->unit;
    s->lambda = E * nu / ((1 + nu) * (1 - 2 * nu)) / s->unit;
    s->spacing = scene->particles.spacing;
    s->radius = s->set.radius * s->spacing;
    /* Neighbours of a lattice are a spacing apart: a larger gap would separate them at rest. */
    s->gap = fmin((1 - s->separation.correction_gap) * s->radius, s->spacing);
    s->fastest = INFINITY;
    s->form = forms[s->set.constraint];
    s->forced = scene->loads.forces;
    s->loaded = s->forced || scene->contact.radius;
    s->free = scene->particles.fixed == 0;
    s->poured = scene->pour.until != NULL;
    s->duration = scene->duration;
    s->forces_end = scene->loads.forces ? scene->loads.forces_end : 0;
    memcpy(s->gravity, scene->loads.gravity, sizeof s->gravity);
}

static double volume_of(const pbd_scene *scene, size_t i) {
    const double density = pbd_material_of(scene, i)->density;
    return scene->particles.volumes ? scene->particles.volumes[i]
           : density > 0            ? scene->particles.masses[i] / density
                                    : scene->particles.spacing * scene->particles.spacing * scene->particles.spacing;
}

/* Writes the scene index of each row: the continuum first, each kind in the scene's order. */
static void order_rows(const xpbi *s, const pbd_scene *scene, uint32_t *id) {
    size_t row[2] = {0, s->continuum};
    for (size_t i = 0; i < s->particles; i++) id[row[!is_continuum(scene, i)]++] = (uint32_t)i;
    for (size_t i = 0; i < XPBI_LANES; i++) id[s->particles + i] = (uint32_t)(s->particles + i);
}

/* Fills rows of x, v and body, and of load by scene index, on the host. v receives the displacements of the start from
 * rest. */
static void fill_rows(const xpbi *s, const pbd_scene *scene, const uint32_t *id, const bool *held, real *x, real *v,
                      real *body, real *load) {
    for (size_t k = 0; k < s->particles + XPBI_LANES; k++) {
        const size_t i = id[k];
        const bool real_one = k < s->particles;
        for (size_t d = 0; d < 3; d++) {
            x[4 * k + d] = (real)(real_one ? scene->particles.positions[3 * i + d] : 0);
            v[4 * k + d] = (real)(real_one && scene->particles.start
                                      ? scene->particles.start[3 * i + d] - scene->particles.positions[3 * i + d]
                                      : 0);
            body[12 * k + 5 * d] = 1;
            if (load && real_one && scene->loads.forces)
                load[4 * i + d] = (real)(scene->loads.forces[3 * i + d] / scene->particles.masses[i]);
        }
        x[4 * k + 3] = body[12 * k + 3] = (real)(real_one ? volume_of(scene, i) : 0);
        v[4 * k + 3] = (real)(real_one && !held[i] ? 1 / scene->particles.masses[i] : 0);
        body[12 * k + 7] = 1;
        body[12 * k + 11] = (real)flow_first_state(&s->material);
        if (load && real_one && scene->contact.radius) load[4 * i + 3] = (real)scene->contact.radius[i];
    }
}

static pbd_status place_particles(xpbi *s, const pbd_scene *scene) {
    const size_t n = s->particles + XPBI_LANES, row = 4 * n * sizeof(real);
    pbd_exec *exec = s->run.exec;
    pbd_arena a PBD_ARENA;
    real *rows = pbd_new(&a, real, 24 * n);
    uint32_t *id = pbd_new(&a, uint32_t, n), *same = pbd_new(&a, uint32_t, n);
    bool *held = pbd_new(&a, bool, n);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t k = 0; k < scene->particles.fixed; k++) held[scene->particles.fixed_particle[k]] = true;
    order_rows(s, scene, id);
    fill_rows(s, scene, id, held, rows, rows + 4 * n, rows + 8 * n, s->loaded ? rows + 20 * n : NULL);
    for (size_t i = 0; i < n; i++) same[i] = (uint32_t)i;
    PBD_TRY(pbd_upload(exec, s->now.x, rows, row));
    PBD_TRY(pbd_upload(exec, s->now.v, rows + 4 * n, row));
    PBD_TRY(pbd_upload(exec, s->now.body, rows + 8 * n, 3 * row));
    if (s->loaded) PBD_TRY(pbd_upload(exec, s->now.load, rows + 20 * n, row));
    PBD_TRY(pbd_upload(exec, s->was, same, n * sizeof *same));
    return pbd_upload(exec, s->now.id, id, n * sizeof *id);
}

static pbd_status create_fluid(xpbi *s, const pbd_scene *scene, const pbd_values *values) {
    const pbd_material *liquid = pbd_first_material(scene, PBD_FLUID);
    const xpbi_fluid_settings set = xpbi_fluid_settings_read(values);
    const fluid_settings settings = {.kernel = 0,
                                     .support = set.fluid_support,
                                     .softening = 0.01,
                                     .keep = set.fluid_store_smoothed,
                                     .crowding_at = 0.2,
                                     .crowding_power = 4,
                                     .xsph = liquid ? liquid->viscosity : 0,
                                     .settling = set.fluid_settling,
                                     .passes = set.fluid_passes,
                                     .walls = true};
    return fluid_create(&s->fluid, scene, &settings, s->run.exec, s->run.recorder);
}

static pbd_status create_layout(xpbi *s) {
    PBD_TRY(
        xpbi_layout_create(&s->layout, s->run.exec, s->continuum, 2 * s->radius, s->set.colours == colours_27 ? 3 : 2));
    xpbi_slices *slices = &s->layout.slices;
    slices->entries = s->form == XPBI_STRESS ? XPBI_STRESS_ENTRIES : XPBI_ENTRIES;
    slices->support = (real)(2 * s->radius);
    s->layout.padding = s->particles;
    if (!xpbi_has_springs(s)) return pbd_ok();
    slices->hourglass = slices->entries;
    slices->entries += HOURGLASS_ENTRIES;
    return pbd_ok();
}

/* scene: the part without cloth. */
static pbd_status create_particles(xpbi *s, const pbd_scene *scene, const pbd_values *values) {
    read_values(s, scene, values);
    PBD_TRY(check(s, scene));
    PBD_TRY(xpbi_acceleration_check(s, scene));
    PBD_TRY(create_layout(s));
    PBD_TRY(xpbi_allocate_particles(s));
    PBD_TRY(place_particles(s, scene));
    PBD_TRY(create_fluid(s, scene, values));
    pbd_count(s->run.recorder, "particles", s->particles);
    pbd_count(s->run.recorder, "constraints_total", s->continuum * (s->form == XPBI_SHEAR ? 2 : 1));
    PBD_TRY(xpbi_start(s, scene));
    return xpbi_acceleration_allocate(s);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    xpbi *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for xpbi");
    *state = s;
    s->hourglass = xpbi_hourglass_settings_read(values);
    s->separation = xpbi_separation_settings_read(values);
    s->faster.set = acceleration_settings_read(values);
    PBD_TRY(stepper_create(&s->run, scene, exec, recorder));
    add_parts(s, scene);
    if (!pbd_holds(scene, PBD_CLOTH)) return create_particles(s, scene, values);
    PBD_TRY(xpbi_cloth_create(&s->cloth, scene, pbd_real(values, "damping"), s->separation.correction_time, exec,
                              recorder));
    return create_particles(s, &s->cloth.rest.scene, values);
}

static void destroy(void *state) {
    xpbi *s = state;
    if (!s) return;
    stepper_free(&s->run);
    free(s);
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

/* F_11, F_12, ... in a row of `body`. */
static const size_t nine[] = {0, 4, 8, 1, 5, 9, 2, 6, 10};

/* Reads a field; column: the field's columns in rows of `stride`. */
static pbd_status read_rows(const xpbi *s, const real *device, size_t stride, size_t width, const size_t *column,
                            double *out) {
    if (!pbd_exec_is_gpu(s->run.exec)) /* the memory is the host's own */
        return device_rows_read(s->run.exec, device, s->particles, stride, width, column, s->now.id, out);
    pbd_arena a PBD_ARENA;
    uint32_t *id = pbd_new(&a, uint32_t, s->particles);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(s->run.exec, id, s->now.id, s->particles * sizeof *id));
    return device_rows_read(s->run.exec, device, s->particles, stride, width, column, id, out);
}

static pbd_status read_particles(const xpbi *s, pbd_field field, double *out) {
    if (field == PBD_POSITIONS) return read_rows(s, s->now.x, 4, 3, NULL, out);
    if (field == PBD_VELOCITIES) return read_rows(s, s->now.v, 4, 3, NULL, out);
    if (field == PBD_DEFORMATION_GRADIENTS) return read_rows(s, s->now.body, 12, 9, nine, out);
    if (field == PBD_PRESSURES && s->fluid.liquid > 0) return fluid_read_pressures(&s->fluid, s->now.x, s->now.id, out);
    if (field == PBD_EXCHANGE && s->fluid.liquid > 0) return fluid_read_exchange(&s->fluid, out);
    return pbd_error(
        PBD_NOT_SUPPORTED,
        "xpbi has positions, velocities, elastic deformation gradients and, of liquid, pressures and exchange");
}

/* Cloth has its own colliders, whose sums are added. */
static pbd_status read_colliders(const xpbi *s, double out[COLLIDER_SUMS]) {
    double sheet[COLLIDER_SUMS] = {0};
    PBD_TRY(collider_sums_read(&s->run.colliders, out));
    if (s->cloth.cloth) PBD_TRY(collider_sums_read(&s->cloth.run->colliders, sheet));
    for (int k = 0; k < COLLIDER_SUMS; k++) out[k] += sheet[k];
    return pbd_ok();
}

static pbd_status read_plastic(const xpbi *s, double *out) {
    *out = 0;
    PBD_TRY(device_rows_total(s->run.exec, s->plastic, s->particles, 1, 0, out));
    *out *= s->unit;
    return pbd_ok();
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const xpbi *s = state;
    if (field == PBD_COLLIDER_SUMS) return read_colliders(s, out);
    if (field == PBD_PLASTIC_DISSIPATION && s->plastic) return read_plastic(s, out);
    if (field == PBD_INTERNAL_ENERGY && xpbi_has_springs(s)) return xpbi_springs_energy(s, out);
    if (!s->cloth.cloth) return read_particles(s, field, out);
    pbd_arena a PBD_ARENA;
    double *rest = pbd_new(&a, double, 9 * s->particles);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(read_particles(s, field, rest));
    return xpbi_cloth_read(&s->cloth, field, rest, out);
}

/* Not with cloth, whose vertices are particles too, in rows of their own. */
static pbd_status survey(const void *state, const pbd_survey *asked, pbd_surveyed *out) {
    const xpbi *s = state;
    if (s->cloth.cloth) return pbd_error(PBD_NOT_SUPPORTED, "xpbi measures no cloth");
    return particle_survey(&(survey_source){.exec = s->run.exec,
                                            .particles = s->particles,
                                            .x = s->now.x,
                                            .v = s->now.v,
                                            .F = s->now.body,
                                            .x_stride = 4,
                                            .v_stride = 4,
                                            .F_stride = 12,
                                            .F_column = nine,
                                            .number = s->now.id},
                           asked, out);
}

static pbd_status step(void *state, double dt) { return stepper_step(&((xpbi *)state)->run, dt); }

static void watch(void *state, pbd_residual *out) { stepper_watch(&((xpbi *)state)->run, out); }

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    return stepper_save(&((const xpbi *)state)->run, blob, bytes);
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    return stepper_load(&((xpbi *)state)->run, "xpbi", blob, bytes);
}

const pbd_method PBD_NAME(xpbi) = {
    .bytes = sizeof(pbd_method),
    .name = "xpbi",
    .summary = "continua with flow rules: XPBD on velocities, deformation by their gradients",
    .source = "yu2024 Algorithm 1, Eqs. 6, 9 to 22 (corrections Y-1 to Y-5)",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_COLLIDERS | PBD_TAKES_FLOW | PBD_TAKES_FLUID |
             PBD_TAKES_CLOTH | PBD_TAKES_ELASTICITY | PBD_TAKES_POUR,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
    .law = "hencky",
    .residual = "2-norm over all particles of C + alpha~ lambda (Eq. 17); not of liquid, cloth and contact",
    .watch = watch,
    .choose = choose,
    .survey = survey,
};
