/* pbf: position-based fluid (Macklin and Mueller 2013). The solver is methods/physics/parts/fluid.h; this file
 * has its parameters, loads, colliders and time integration. README.md has the equations. */
#include "methods/pbf/pbf_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/params.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/device/phase.h"
#include "methods/physics/device/scene_rows.h"
#include "methods/physics/parts/fluid.h"

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

#define PARAMS(REAL, INTEGER, CHOICE)                                                                                \
    REAL(dt, "s", "1e-3", 0, 1e3, PBD_OPEN_MIN, "time step")                                                         \
    INTEGER(iterations, "10", 1, 100000, "of a step; with a tolerance: the largest number")                          \
    REAL(tolerance, "", "0", 0, 1, PBD_OPEN_MAX,                                                                     \
         "iterate until the mean compression is below this; 0: all iterations")                                      \
    CHOICE(kernel, "cubic_spline", (cubic_spline, wendland_c2, spiky, poly6_spiky),                                  \
           "poly6_spiky: densities, gradients as printed")                                                           \
    REAL(support, "", "2.2", 1.1, 6, 0, "support of the kernel, in spacings")                                        \
    CHOICE(constraint, "one_sided", (one_sided, both_sided), "C <= 0, or C = 0")                                     \
    CHOICE(multipliers, "accumulated", (accumulated, printed),                                                       \
           "the sum over a step must not be negative; printed: each pass separately")                                \
    REAL(keep, "", "0.5", 0, 1, 0, "fraction of the last step's multipliers that a step starts from; printed: 0")    \
    REAL(relaxation, "", "0", 0, 2, 0,                                                                               \
         "relaxation of Jacobi; 0: 1 over the largest eigenvalue on a lattice; printed: 1")                          \
    REAL(softening, "", "0.01", 0, 1e6, 0, "added to the denominator, over its value on a lattice")                  \
    REAL(printed_softening, "1/m^2", "0", 0, 1e12, 0, "the epsilon of Eq. 11 in its units; 0: none")                 \
    REAL(compliance, "1/Pa", "0", 0, 1e12, 0, "of XPBD: 1 over the modulus of compression")                          \
    REAL(crowding, "", "0", 0, 1e3, 0, "k of Eq. 13, over the multiplier that C = 1 has on a lattice; printed: 0.1") \
    REAL(crowding_at, "", "0.2", 0, 1, PBD_OPEN_MAX, "crowding>0: dq of Eq. 13, over the kernel's support")          \
    INTEGER(crowding_power, "4", 1, 16, "crowding>0: n of Eq. 13")                                                   \
    REAL(xsph, "", "auto", 0, 1, 0, "c of Eq. 17; auto: the scene's viscosity")                                      \
    REAL(vorticity, "m/s", "0", 0, 1e6, 0, "epsilon of Eq. 16: vorticity confinement; does not conserve momentum")   \
    REAL(settling, "s", "0.02", 0, 1e6, 0, "time in which the excess density at the start falls to 1/e; 0: at once") \
    CHOICE(walls, "mirror", (mirror, empty), "liquid has an image beyond each collider, or colliders only push")     \
    CHOICE(residual, "off", (off, first, last), "step for which compression is recorded by iteration")
PBD_SETTINGS(pbf_settings, PARAMS)

static const pbd_param params[] = {PBD_ROWS(PARAMS){0}};

typedef struct pbf {
    stepper run;
    pbf_settings set;
    size_t particles;
    double gravity[3], spacing, duration, forces_end;
    bool forced;
    fluid fluid;
    real *x, *v, *load, *block; /* device; rows of pbf_kernels.h and fluid.h */
} pbf;

/* One row of zeros after the last, for fluid.h. */
static size_t arrays_of(const void *self, device_array *row) {
    const pbf *s = self;
    const size_t n = s->particles + 1;
    const device_array rows[] = {DEVICE_SAVED(s->x, 4 * n), DEVICE_SAVED(s->v, 4 * n), DEVICE_ARRAY(s->load, 4 * n),
                                 DEVICE_ARRAY(s->block, n / PBF_BLOCK + 1)};
    return DEVICE_ROWS(row, rows);
}

static void free_arrays(void *self) {
    pbf *s = self;
    device_array row[DEVICE_MOST_ARRAYS];
    device_arrays_free(s->run.exec, row, arrays_of(s, row));
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* The default of xsph. */
static double choose(const pbd_scene *scene, const pbd_values *values, const char *parameter) {
    (void)values;
    (void)parameter;
    return scene->particles.count > 0 ? pbd_material_of(scene, 0)->viscosity : 0;
}

static pbd_status check(const pbd_scene *scene) {
    if (scene->particles.count == 0) return pbd_error(PBD_BAD_INPUT, "pbf: the scene has no particles");
    for (size_t i = 0; i < scene->particles.count; i++)
        if (scene->particles.material && pbd_matter_of(scene, i) != PBD_FLUID)
            return pbd_error(PBD_NOT_SUPPORTED,
                             "pbf supports liquid only, and particle %zu is of other matter: xpbi supports both", i);
    return scene_check_particles(scene);
}

/* A scene of one material is all liquid, with that material's density. */
static pbd_status create_fluid(pbf *s, const pbd_scene *scene) {
    const pbf_settings *set = &s->set;
    const fluid_settings settings = {.kernel = set->kernel,
                                     .support = set->support,
                                     .relaxation = set->relaxation,
                                     .softening = set->softening,
                                     .printed_softening = set->printed_softening,
                                     .compliance = set->compliance,
                                     .keep = set->keep,
                                     .both = set->constraint == constraint_both_sided,
                                     .printed = set->multipliers == multipliers_printed,
                                     .crowding = set->crowding,
                                     .crowding_at = set->crowding_at,
                                     .crowding_power = (int)set->crowding_power,
                                     .xsph = set->xsph,
                                     .vorticity = set->vorticity,
                                     .settling = set->settling,
                                     .walls = set->walls == walls_mirror,
                                     .passes = 1};
    pbd_scene liquid = *scene;
    if (!scene->particles.material) liquid.material->matter = PBD_FLUID;
    return fluid_create(&s->fluid, &liquid, &settings, s->run.exec, s->run.recorder);
}

static pbd_status place_particles(pbf *s, const pbd_scene *scene) {
    const size_t n = s->particles, bytes = 4 * n * sizeof(real);
    pbd_arena a PBD_ARENA;
    real *x = pbd_new(&a, real, 4 * n), *v = pbd_new(&a, real, 4 * n), *load = pbd_new(&a, real, 4 * n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(scene_rows(scene, NULL, x, v, load));
    for (size_t i = 0; i < n; i++) {
        x[4 * i + 3] = (real)scene_volume(scene, i);
        if (v[4 * i + 3] > 0) v[4 * i + 3] = (real)(1 / scene->particles.masses[i]);
        load[4 * i + 3] = (real)(scene->contact.radius ? scene->contact.radius[i] : 0);
    }
    PBD_TRY(pbd_upload(s->run.exec, s->x, x, bytes));
    PBD_TRY(pbd_upload(s->run.exec, s->v, v, bytes));
    return pbd_upload(s->run.exec, s->load, load, bytes);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static pbd_status push(void *self, stepper *run) {
    const pbf *s = self;
    const pbf_push_args args = {.v = s->v,
                                .load = s->load,
                                .gravity = vec3_make((real)s->gravity[0], (real)s->gravity[1], (real)s->gravity[2]),
                                .dt = (real)run->dt,
                                .forced = s->forced && stepper_loaded(run, s->forces_end)};
    return PBD_RUN(run->exec, pbf_push, s->particles, &args);
}

static pbd_status drift(void *self, stepper *run) {
    const pbf *s = self;
    const pbf_drift_args args = {s->x, s->v, (real)run->dt};
    return PBD_RUN(run->exec, pbf_drift, s->particles, &args);
}

static pbd_status record(void *self, stepper *run) {
    const pbf *s = self;
    const size_t blocks = (s->particles + PBF_BLOCK - 1) / PBF_BLOCK;
    const pbf_measure_args args = {s->v, s->particles, s->block};
    double fastest = 0;
    PBD_TRY(PBD_RUN(run->exec, pbf_measure, blocks, &args));
    PBD_TRY(device_blocks_take(run->exec, s->block, blocks, 1, 1, &fastest));
    pbd_count(run->recorder, "iterations_total", (uint64_t)run->done);
    pbd_count(run->recorder, "constraint_solves", (uint64_t)run->done * s->particles);
    if (!isfinite(fastest))
        return pbd_error(PBD_DIVERGED, "after %.6g s (step %llu) a velocity is not finite", run->time,
                         (unsigned long long)run->steps);
    const double courant = sqrt(fastest) * run->dt / s->spacing;
    if (courant > 0.5)
        pbd_warning(run->recorder, "kernel_cfl", "a particle moves %.3g spacings in a step of %g s", courant, run->dt);
    return pbd_ok();
}

static pbd_status collide(void *self, stepper *run) {
    const pbf *s = self;
    const pbf_collide_args args = {.collider = run->colliders.device,
                                   .colliders = (int)run->colliders.count,
                                   .x = s->x,
                                   .load = s->load,
                                   .v = s->v,
                                   .sums = collider_sums_of(&run->colliders),
                                   .dt = (real)run->dt};
    const pbd_work work = {.items = s->particles, .entries = s->particles * run->colliders.count};
    return PBD_PHASE(run->recorder, collider_poses_phase(&run->colliders, "colliders"),
                     PBD_RUN(run->exec, pbf_collide, s->particles, work, &args));
}

static const step_part particles = {
    .begin = push, .move = drift, .record = record, .arrays = arrays_of, .free = free_arrays};
static const step_part walls = {.begin = collide, .iterate = collide, .end = collide};

static bool is_recorded(const pbf *s) {
    if (s->set.residual == residual_first) return s->run.steps == 0;
    return s->set.residual == residual_last && s->duration > 0 && s->run.time + 1.5 * s->run.dt > s->duration;
}

/* Watches the mean compression, as it was before the last pass. */
static pbd_status watch(void *self, stepper *run, bool *stop) {
    const pbf *s = self;
    const bool recorded = is_recorded(s);
    const double number = (double)run->done - 1;
    fluid_state before;
    if (run->done == 0 || (!recorded && !(s->set.tolerance > 0))) return pbd_ok();
    PBD_TRY(fluid_state_of(&s->fluid, &before));
    if (recorded) {
        pbd_series(run->recorder, "residual", "value", "1", &before.compressed, 1, 1);
        pbd_series(run->recorder, "residual_iteration", "value", "1", &number, 1, 1);
    }
    *stop = before.compressed <= s->set.tolerance;
    return pbd_ok();
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    device_array row[DEVICE_MOST_ARRAYS];
    pbf *s = *state = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for pbf");
    *s = (pbf){.set = pbf_settings_read(values),
               .particles = scene->particles.count,
               .spacing = scene->particles.spacing,
               .duration = scene->duration,
               .forces_end = scene->loads.forces_end,
               .forced = scene_has_forces(scene)};
    memcpy(s->gravity, scene->loads.gravity, sizeof s->gravity);
    PBD_TRY(check(scene));
    PBD_TRY(stepper_create(&s->run, scene, exec, recorder));
    s->run.iterations = s->set.iterations;
    s->run.watch = watch;
    s->run.watcher = s;
    stepper_add(&s->run, &particles, s);
    stepper_add(&s->run, &fluid_part, &s->fluid);
    if (s->run.colliders.count > 0) stepper_add(&s->run, &walls, s);
    PBD_TRY(create_fluid(s, scene));
    pbd_count(recorder, "particles", s->particles);
    PBD_TRY(device_arrays_allocate(exec, row, arrays_of(s, row)));
    PBD_TRY(place_particles(s, scene));
    s->run.x = s->x;
    s->run.v = s->v;
    return pbd_ok();
}

static void destroy(void *state) {
    pbf *s = state;
    if (!s) return;
    stepper_free(&s->run);
    free(s);
}

static pbd_status step(void *state, double dt) { return stepper_step(&((pbf *)state)->run, dt); }

static void watch_next(void *state, pbd_residual *out) { stepper_watch(&((pbf *)state)->run, out); }

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const pbf *s = state;
    if (field == PBD_PRESSURES) return fluid_read_pressures(&s->fluid, s->x, NULL, out);
    if (field == PBD_COLLIDER_SUMS) return collider_sums_read(&s->run.colliders, out);
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "pbf has positions, velocities and pressures only");
    return device_rows_read(s->run.exec, field == PBD_POSITIONS ? s->x : s->v, s->particles, 4, 3, NULL, NULL, out);
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    return stepper_save(&((const pbf *)state)->run, blob, bytes);
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    return stepper_load(&((pbf *)state)->run, "pbf", blob, bytes);
}

const pbd_method PBD_NAME(pbf) = {
    .bytes = sizeof(pbd_method),
    .name = "pbf",
    .summary = "position-based fluid: a constraint on the density of each particle",
    .source = "Macklin and Mueller 2013 (yu2024 section 4.4, Figure 7)",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_COLLIDERS | PBD_TAKES_FLUID,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
    .residual = "mean over the liquid's particles of max(C, 0), the excess of density, before the warm start and after",
    .watch = watch_next,
    .unconverged = "Macklin and Mueller 2013 run a fixed two to four iterations a step: what is left is compression",
    .choose = choose,
};
