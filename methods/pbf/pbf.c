/* pbf: position-based fluid (Macklin and Mueller 2013). The solver is methods/physics/parts/fluid.h; here are its
 * parameters, loads, colliders and time. README.md has the equations. */
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
    REAL(keep, "", "1", 0, 1, 0, "fraction of the last step's multipliers that a step starts from; printed: 0")      \
    REAL(relaxation, "", "0", 0, 2, 0,                                                                               \
         "relaxation of Jacobi; 0: 1 over the largest eigenvalue on a lattice; printed: 1")                          \
    REAL(softening, "", "0.01", 0, 1e6, 0, "added to the denominator, over its value on a lattice")                  \
    REAL(printed_softening, "1/m^2", "0", 0, 1e12, 0, "the epsilon of Eq. 11 in its units; 0: none")                 \
    REAL(compliance, "1/Pa", "0", 0, 1e12, 0, "of XPBD: 1 over the modulus of compression")                          \
    REAL(crowding, "", "0", 0, 1e3, 0, "k of Eq. 13, over the multiplier that C = 1 has on a lattice; printed: 0.1") \
    REAL(crowding_at, "", "0.2", 0, 1, PBD_OPEN_MAX, "dq of Eq. 13, over the kernel's support")                      \
    INTEGER(crowding_power, "4", 1, 16, "n of Eq. 13")                                                               \
    REAL(xsph, "", "-1", -1, 1, 0, "c of Eq. 17; -1: the scene's viscosity")                                         \
    REAL(vorticity, "m/s", "0", 0, 1e6, 0, "epsilon of Eq. 16: vorticity confinement; does not conserve momentum")   \
    REAL(settling, "s", "0.02", 0, 1e6, 0, "time in which the excess density at the start falls to 1/e; 0: at once") \
    CHOICE(walls, "mirror", (mirror, empty), "liquid has an image beyond each collider, or colliders only push")     \
    CHOICE(residual, "off", (off, first, last), "step for which compression is recorded by iteration")
PBD_SETTINGS(pbf_settings, PARAMS)

static const pbd_param params[] = {PBD_ROWS(PARAMS){0}};

typedef struct pbf {
    pbd_exec *exec;
    pbd_recorder *recorder;
    pbf_settings set;
    size_t particles;
    double gravity[3], spacing, duration, forces_end;
    bool forced;
    double time;
    uint64_t steps;
    collider_poses colliders;
    fluid fluid;
    real *x, *v, *load, *block; /* device; rows of pbf_kernels.h and fluid.h */
} pbf;

/* One row of zeros after the last, for fluid.h. */
static size_t arrays_of(const pbf *s, device_array *row) {
    const size_t n = s->particles + 1;
    const device_array rows[] = {DEVICE_SAVED(s->x, 4 * n),    DEVICE_SAVED(s->v, 4 * n),
                                 HOST_SAVED(s->time),          HOST_SAVED(s->steps),
                                 DEVICE_ARRAY(s->load, 4 * n), DEVICE_ARRAY(s->block, n / PBF_BLOCK + 1)};
    return DEVICE_ROWS(row, rows);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static void destroy(void *state) {
    pbf *s = state;
    device_array row[DEVICE_MOST_ARRAYS];
    if (!s) return;
    device_arrays_free(s->exec, row, arrays_of(s, row));
    collider_poses_free(&s->colliders);
    fluid_free(&s->fluid);
    free(s);
}

static pbd_status check(const pbd_scene *scene) {
    if (scene->particles.count == 0) return pbd_error(PBD_BAD_INPUT, "pbf: the scene has no particles");
    for (size_t i = 0; i < scene->particles.count; i++)
        if (scene->particles.material && pbd_matter_of(scene, i) != PBD_FLUID)
            return pbd_error(PBD_NOT_SUPPORTED,
                             "pbf supports liquid only, and particle %zu is of other matter: xpbi supports both", i);
    return scene_check_particles(scene);
}

/* A scene of one material is all liquid, of that material's density. */
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
                                     .xsph = set->xsph < 0 ? pbd_material_of(scene, 0)->viscosity : set->xsph,
                                     .vorticity = set->vorticity,
                                     .settling = set->settling,
                                     .walls = set->walls == walls_mirror};
    pbd_scene liquid = *scene;
    if (!scene->particles.material) liquid.material->matter = PBD_FLUID;
    return fluid_create(&s->fluid, &liquid, &settings, s->exec, s->recorder);
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
    PBD_TRY(pbd_upload(s->exec, s->x, x, bytes));
    PBD_TRY(pbd_upload(s->exec, s->v, v, bytes));
    return pbd_upload(s->exec, s->load, load, bytes);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    device_array row[DEVICE_MOST_ARRAYS];
    pbf *s = *state = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for pbf");
    *s = (pbf){.exec = exec,
               .recorder = recorder,
               .set = pbf_settings_read(values),
               .particles = scene->particles.count,
               .spacing = scene->particles.spacing,
               .duration = scene->duration,
               .forces_end = scene->loads.forces_end,
               .forced = scene_has_forces(scene)};
    memcpy(s->gravity, scene->loads.gravity, sizeof s->gravity);
    PBD_TRY(check(scene));
    PBD_TRY(collider_poses_create(&s->colliders, scene, exec, recorder));
    PBD_TRY(create_fluid(s, scene));
    pbd_count(recorder, "particles", s->particles);
    PBD_TRY(device_arrays_allocate(exec, row, arrays_of(s, row)));
    return place_particles(s, scene);
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

static pbd_status push(pbf *s, double dt) {
    const bool ended = s->forces_end > 0 && s->time > s->forces_end - 0.5 * dt;
    const pbf_push_args args = {.v = s->v,
                                .load = s->load,
                                .gravity = vec3_make((real)s->gravity[0], (real)s->gravity[1], (real)s->gravity[2]),
                                .dt = (real)dt,
                                .forced = s->forced && !ended};
    return PBD_RUN(s->exec, pbf_push, s->particles, &args);
}

static pbd_status collide(pbf *s, double dt) {
    if (s->colliders.count == 0) return pbd_ok();
    const pbf_collide_args args = {.collider = s->colliders.device,
                                   .colliders = (int)s->colliders.count,
                                   .x = s->x,
                                   .load = s->load,
                                   .v = s->v,
                                   .dt = (real)dt};
    return PBD_PHASE(s->recorder, collider_poses_phase(&s->colliders, "colliders"),
                     PBD_RUN(s->exec, pbf_collide, s->particles, &args));
}

static bool is_watched(const pbf *s, double dt) {
    if (s->set.residual == residual_first) return s->steps == 0;
    return s->set.residual == residual_last && s->duration > 0 && s->time + 1.5 * dt > s->duration;
}

static pbd_status iterate(pbf *s, double dt, long *done) {
    const bool watched = is_watched(s, dt);
    for (*done = 0; *done < s->set.iterations;) {
        fluid_state now;
        PBD_TRY(fluid_iterate(&s->fluid, s->x, s->v, &s->colliders, dt));
        PBD_TRY(collide(s, dt));
        const double number = (double)(*done)++;
        if (!watched && !(s->set.tolerance > 0)) continue;
        PBD_TRY(fluid_look(&s->fluid, &now)); /* before this pass */
        if (watched) {
            pbd_series(s->recorder, "residual", "value", "1", &now.compressed, 1, 1);
            pbd_series(s->recorder, "residual_iteration", "value", "1", &number, 1, 1);
        }
        if (now.compressed <= s->set.tolerance) break;
    }
    return pbd_ok();
}

static pbd_status report(pbf *s, double dt, long iterations) {
    const size_t blocks = (s->particles + PBF_BLOCK - 1) / PBF_BLOCK;
    const pbf_watch_args args = {s->v, s->particles, s->block};
    double fastest = 0;
    PBD_TRY(PBD_RUN(s->exec, pbf_watch, blocks, &args));
    PBD_TRY(device_blocks_take(s->exec, s->block, blocks, 1, 1, &fastest));
    pbd_count(s->recorder, "steps", 1);
    pbd_count(s->recorder, "iterations_total", (uint64_t)iterations);
    pbd_count(s->recorder, "constraint_solves", (uint64_t)iterations * s->particles);
    if (!isfinite(fastest))
        return pbd_error(PBD_DIVERGED, "after %.6g s (step %llu) a velocity is not finite", s->time,
                         (unsigned long long)s->steps);
    const double courant = sqrt(fastest) * dt / s->spacing;
    if (courant > 0.5)
        pbd_warning(s->recorder, "kernel_cfl", "a particle moves %.3g spacings in a step of %g s", courant, dt);
    return fluid_record(&s->fluid);
}

static pbd_status step(void *state, double dt) {
    pbf *s = state;
    long iterations = 0;
    PBD_TRY(collider_poses_move(&s->colliders, s->time, dt));
    PBD_TRY(push(s, dt));
    PBD_TRY(fluid_begin(&s->fluid, NULL, s->x, s->v, &s->colliders, dt));
    PBD_TRY(collide(s, dt));
    PBD_TRY(iterate(s, dt, &iterations));
    PBD_TRY(fluid_end(&s->fluid, s->x, s->v, &s->colliders, dt));
    PBD_TRY(collide(s, dt));
    const pbf_drift_args drift = {s->x, s->v, (real)dt};
    PBD_TRY(PBD_RUN(s->exec, pbf_drift, s->particles, &drift));
    s->time += dt;
    s->steps++;
    return report(s, dt, iterations);
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const pbf *s = state;
    if (field == PBD_PRESSURES) return fluid_read_pressures(&s->fluid, s->x, NULL, out);
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "pbf has positions, velocities and pressures only");
    return device_rows_read(s->exec, field == PBD_POSITIONS ? s->x : s->v, s->particles, 4, 3, NULL, NULL, out);
}

/* The state of fluid.h comes last. */
static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const pbf *s = state;
    device_array row[DEVICE_MOST_ARRAYS];
    PBD_TRY(device_arrays_save(s->exec, row, arrays_of(s, row), blob, bytes));
    if (blob) PBD_TRY(fluid_save(&s->fluid, (char *)blob + *bytes));
    *bytes += fluid_saved_bytes(&s->fluid);
    return pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    pbf *s = state;
    device_array row[DEVICE_MOST_ARRAYS];
    const size_t liquid = fluid_saved_bytes(&s->fluid), own = bytes < liquid ? 0 : bytes - liquid;
    PBD_TRY(device_arrays_load(s->exec, row, arrays_of(s, row), "pbf", blob, own));
    return fluid_load(&s->fluid, (const char *)blob + own);
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
};
