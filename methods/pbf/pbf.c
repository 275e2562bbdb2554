/* pbf: position-based fluid (Macklin and Mueller 2013). The solver is methods/physics/parts/fluid.h; here are its
 * parameters, loads, colliders and time. README.md has the equations. */
#include "methods/pbf/pbf_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/device/device_state.h"
#include "methods/physics/parts/fluid.h"

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static const char *const kernel_names[] = FLUID_KERNEL_NAMES;
static const char *const constraints[] = {"one_sided", "both_sided", NULL};
static const char *const sums[] = {"accumulated", "printed", NULL};
static const char *const wall_forms[] = {"mirror", "empty", NULL};
static const char *const residuals[] = {"off", "first", "last", NULL};
enum { RESIDUAL_OFF, RESIDUAL_FIRST, RESIDUAL_LAST };

static const pbd_param params[] = {
    {"dt", "s", PBD_REAL, "1e-3", 0, 1e3, PBD_OPEN_MIN, NULL, "time step"},
    {"iterations", "", PBD_INTEGER, "10", 1, 100000, 0, NULL, "of a step; with a tolerance: the largest number"},
    {"tolerance", "", PBD_REAL, "0", 0, 1, PBD_OPEN_MAX, NULL,
     "iterate until the mean compression is below this; 0: all iterations"},
    {"kernel", "", PBD_CHOICE, "cubic_spline", 0, 0, 0, kernel_names, "poly6_spiky: densities, gradients as printed"},
    {"support", "", PBD_REAL, "2.2", 1.1, 6, 0, NULL, "support of the kernel, in spacings"},
    {"constraint", "", PBD_CHOICE, "one_sided", 0, 0, 0, constraints, "C <= 0, or C = 0"},
    {"multipliers", "", PBD_CHOICE, "accumulated", 0, 0, 0, sums,
     "the sum over a step must not be negative; printed: each pass separately"},
    {"keep", "", PBD_REAL, "1", 0, 1, 0, NULL,
     "fraction of the last step's multipliers that a step starts from; printed: 0"},
    {"relaxation", "", PBD_REAL, "0", 0, 2, 0, NULL,
     "relaxation of Jacobi; 0: 1 over the largest eigenvalue on a lattice; printed: 1"},
    {"softening", "", PBD_REAL, "0.01", 0, 1e6, 0, NULL, "added to the denominator, over its value on a lattice"},
    {"printed_softening", "1/m^2", PBD_REAL, "0", 0, 1e12, 0, NULL, "the epsilon of Eq. 11 in its units; 0: none"},
    {"compliance", "1/Pa", PBD_REAL, "0", 0, 1e12, 0, NULL, "of XPBD: 1 over the modulus of compression"},
    {"crowding", "", PBD_REAL, "0", 0, 1e3, 0, NULL,
     "k of Eq. 13, over the multiplier that C = 1 has on a lattice; printed: 0.1"},
    {"crowding_at", "", PBD_REAL, "0.2", 0, 1, PBD_OPEN_MAX, NULL, "dq of Eq. 13, over the kernel's support"},
    {"crowding_power", "", PBD_INTEGER, "4", 1, 16, 0, NULL, "n of Eq. 13"},
    {"xsph", "", PBD_REAL, "-1", -1, 1, 0, NULL, "c of Eq. 17; -1: the scene's viscosity"},
    {"vorticity", "m/s", PBD_REAL, "0", 0, 1e6, 0, NULL,
     "epsilon of Eq. 16: vorticity confinement; does not conserve momentum"},
    {"settling", "s", PBD_REAL, "0.02", 0, 1e6, 0, NULL,
     "time in which the excess density at the start falls to 1/e; 0: at once"},
    {"walls", "", PBD_CHOICE, "mirror", 0, 0, 0, wall_forms,
     "liquid has an image beyond each collider, or colliders only push"},
    {"residual", "", PBD_CHOICE, "off", 0, 0, 0, residuals, "step for which compression is recorded by iteration"},
    {0}};

typedef struct pbf {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles;
    double gravity[3], spacing, tolerance, duration, forces_end;
    long iterations;
    int residual;
    bool forced;
    double time;
    uint64_t steps;
    collider_poses colliders;
    fluid fluid;
    real *x, *v, *load, *block; /* device; rows of pbf_kernels.h and fluid.h */
} pbf;

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static void destroy(void *state) {
    pbf *s = state;
    if (!s) return;
    void *device[] = {s->x, s->v, s->load, s->block};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(s->exec, device[i]);
    collider_poses_free(&s->colliders);
    fluid_free(&s->fluid);
    free(s);
}

static pbd_status check(const pbd_scene *scene) {
    const double *start = scene->particles.start ? scene->particles.start : scene->particles.positions;
    if (scene->particles.count == 0) return pbd_error(PBD_BAD_INPUT, "pbf: the scene has no particles");
    for (size_t i = 0; i < scene->particles.count; i++) {
        if (scene->particles.material && pbd_matter_of(scene, i) != PBD_FLUID)
            return pbd_error(PBD_NOT_SUPPORTED,
                             "pbf supports liquid only, and particle %zu is of other matter: xpbi supports both", i);
        for (size_t d = 0; d < 3; d++)
            if (!isfinite(start[3 * i + d]))
                return pbd_error(PBD_BAD_INPUT, "pbf: particle %zu starts at %g m along axis %zu", i, start[3 * i + d],
                                 d);
    }
    return pbd_ok();
}

static fluid_settings settings_of(const pbd_scene *scene, const pbd_values *values) {
    const double xsph = pbd_real(values, "xsph");
    return (fluid_settings){.kernel = pbd_choice(values, "kernel"),
                            .support = pbd_real(values, "support"),
                            .relaxation = pbd_real(values, "relaxation"),
                            .softening = pbd_real(values, "softening"),
                            .printed_softening = pbd_real(values, "printed_softening"),
                            .compliance = pbd_real(values, "compliance"),
                            .keep = pbd_real(values, "keep"),
                            .both = pbd_choice(values, "constraint") == 1,
                            .printed = pbd_choice(values, "multipliers") == 1,
                            .crowding = pbd_real(values, "crowding"),
                            .crowding_at = pbd_real(values, "crowding_at"),
                            .crowding_power = (int)pbd_integer(values, "crowding_power"),
                            .xsph = xsph < 0 ? pbd_material_of(scene, 0)->viscosity : xsph,
                            .vorticity = pbd_real(values, "vorticity"),
                            .settling = pbd_real(values, "settling"),
                            .walls = pbd_choice(values, "walls") == 0};
}

/* A scene of one material is all liquid, of that material's density. */
static pbd_status create_fluid(pbf *s, const pbd_scene *scene, const pbd_values *values) {
    pbd_scene liquid = *scene;
    const fluid_settings settings = settings_of(scene, values);
    if (!scene->particles.material) liquid.material->matter = PBD_FLUID;
    return fluid_create(&s->fluid, &liquid, &settings, s->exec, s->recorder);
}

static double volume_of(const pbd_scene *scene, size_t i) {
    return scene->particles.volumes ? scene->particles.volumes[i]
                                    : scene->particles.masses[i] / pbd_material_of(scene, i)->density;
}

static void fill_rows(pbf *s, const pbd_scene *scene, real *x, real *v, real *load) {
    const double *start = scene->particles.start ? scene->particles.start : scene->particles.positions;
    for (size_t i = 0; i < s->particles; i++) {
        for (size_t d = 0; d < 3; d++) {
            const double force = scene->loads.forces ? scene->loads.forces[3 * i + d] : 0;
            x[4 * i + d] = (real)start[3 * i + d];
            v[4 * i + d] = (real)(scene->particles.velocities ? scene->particles.velocities[3 * i + d] : 0);
            load[4 * i + d] = (real)(force / scene->particles.masses[i]);
            s->forced = s->forced || force != 0;
        }
        x[4 * i + 3] = (real)volume_of(scene, i);
        v[4 * i + 3] = (real)(1 / scene->particles.masses[i]);
        load[4 * i + 3] = (real)(scene->contact.radius ? scene->contact.radius[i] : 0);
    }
    for (size_t k = 0; k < scene->particles.fixed; k++)
        for (size_t d = 0; d < 4; d++) v[4 * (size_t)scene->particles.fixed_particle[k] + d] = 0;
}

static pbd_status place_particles(pbf *s, const pbd_scene *scene) {
    const size_t n = s->particles + 1, row = 4 * n;
    real **device[] = {&s->x, &s->v, &s->load};
    real *rows = calloc(3 * row, sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for %zu particles", s->particles);
    fill_rows(s, scene, rows, rows + row, rows + 2 * row);
    pbd_status status = pbd_ok();
    for (size_t k = 0; k < 3 && status.code == PBD_OK; k++) {
        status = pbd_alloc(s->exec, row * sizeof *rows, (void **)device[k]);
        if (status.code == PBD_OK) status = pbd_upload(s->exec, *device[k], rows + k * row, row * sizeof *rows);
    }
    free(rows);
    PBD_TRY(status);
    return pbd_alloc(s->exec, (n / PBF_BLOCK + 1) * sizeof(real), (void **)&s->block);
}

static pbd_status fill(pbf *s, const pbd_scene *scene, const pbd_values *values) {
    PBD_TRY(check(scene));
    memcpy(s->gravity, scene->loads.gravity, sizeof s->gravity);
    s->spacing = scene->particles.spacing;
    s->duration = scene->duration;
    s->forces_end = scene->loads.forces_end;
    s->tolerance = pbd_real(values, "tolerance");
    s->iterations = pbd_integer(values, "iterations");
    s->residual = pbd_choice(values, "residual");
    PBD_TRY(collider_poses_create(&s->colliders, scene, s->exec, s->recorder));
    PBD_TRY(create_fluid(s, scene, values));
    pbd_count(s->recorder, "particles", s->particles);
    return place_particles(s, scene);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    *state = NULL;
    pbf *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for pbf");
    s->exec = exec;
    s->recorder = recorder;
    s->particles = scene->particles.count;
    const pbd_status status = fill(s, scene, values);
    if (status.code != PBD_OK)
        destroy(s);
    else
        *state = s;
    return status;
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
    pbd_phase_begin(s->recorder, collider_poses_phase(&s->colliders, "colliders"));
    const pbd_status status = PBD_RUN(s->exec, pbf_collide, s->particles, &args);
    pbd_phase_end(s->recorder);
    return status;
}

static bool is_watched(const pbf *s, double dt) {
    if (s->residual == RESIDUAL_FIRST) return s->steps == 0;
    return s->residual == RESIDUAL_LAST && s->duration > 0 && s->time + 1.5 * dt > s->duration;
}

static pbd_status iterate(pbf *s, double dt, long *done) {
    const bool watched = is_watched(s, dt);
    for (*done = 0; *done < s->iterations;) {
        fluid_state now;
        PBD_TRY(fluid_iterate(&s->fluid, s->x, s->v, &s->colliders, dt));
        PBD_TRY(collide(s, dt));
        const double number = (double)(*done)++;
        if (!watched && !(s->tolerance > 0)) continue;
        PBD_TRY(fluid_look(&s->fluid, &now)); /* of what the pass began from */
        if (watched) {
            pbd_series(s->recorder, "residual", "value", "1", &now.compressed, 1, 1);
            pbd_series(s->recorder, "residual_iteration", "value", "1", &number, 1, 1);
        }
        if (now.compressed <= s->tolerance) break;
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
    const size_t n = s->particles;
    if (field == PBD_PRESSURES) return fluid_read_pressures(&s->fluid, s->x, NULL, out);
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "pbf has positions, velocities and pressures only");
    real *rows = malloc((4 * n + 1) * sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for reading %zu particles", n);
    const pbd_status status = pbd_download(s->exec, rows, field == PBD_POSITIONS ? s->x : s->v, 4 * n * sizeof *rows);
    for (size_t i = 0; i < 3 * n && status.code == PBD_OK; i++) out[i] = (double)rows[4 * (i / 3) + i % 3];
    free(rows);
    return status;
}

typedef struct saved_head {
    double time;
    uint64_t steps;
} saved_head;

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const pbf *s = state;
    const size_t row = 4 * s->particles * sizeof(real);
    const saved_head head = {s->time, s->steps};
    char *at = blob;
    *bytes = sizeof head + 2 * row + fluid_saved_bytes(&s->fluid);
    if (!blob) return pbd_ok();
    memcpy(at, &head, sizeof head);
    PBD_TRY(pbd_download(s->exec, at + sizeof head, s->x, row));
    PBD_TRY(pbd_download(s->exec, at + sizeof head + row, s->v, row));
    return fluid_save(&s->fluid, at + sizeof head + 2 * row);
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    pbf *s = state;
    const size_t row = 4 * s->particles * sizeof(real), wanted = sizeof(saved_head) + 2 * row;
    const char *at = blob;
    saved_head head;
    if (bytes != wanted + fluid_saved_bytes(&s->fluid))
        return pbd_error(PBD_BAD_INPUT, "pbf: the saved state has %zu bytes, not %zu", bytes,
                         wanted + fluid_saved_bytes(&s->fluid));
    memcpy(&head, at, sizeof head);
    s->time = head.time;
    s->steps = head.steps;
    PBD_TRY(pbd_upload(s->exec, s->x, at + sizeof head, row));
    PBD_TRY(pbd_upload(s->exec, s->v, at + sizeof head + row, row));
    return fluid_load(&s->fluid, at + wanted);
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
