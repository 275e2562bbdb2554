/* chen_mlsrk: the moving-least-squares reproducing-kernel particle method of Chen et al. 2020 for elastic matter,
 * explicit and updated Lagrangian, with which cao2023 compares its own method. README.md has the equations and lists
 * what is not published. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/chen_mlsrk/chen_mlsrk_kernels.h"
#include "methods/params.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/device/phase.h"
#include "methods/physics/device/scene_rows.h"
#include "methods/physics/matter/law_table.h"
#include "methods/physics/matter/wave.h"
#include "methods/physics/space/neighbours.h"
#include "methods/physics/surface/colliders.h"

#define PARAMS(REAL, INTEGER, CHOICE)                                                                                \
    REAL(dt, "s", "auto", 0, 1e3, PBD_OPEN_MIN,                                                                      \
         "time step; auto: a tenth of what a wave takes from particle to particle, 1 ms at most")                    \
    REAL(blend, "", "0.95", 0, 1, 0, "v becomes blend v + (1 - blend) u, u the interpolated velocity that moves it") \
    CHOICE(kernel, "cubic_spline", (poly6, cubic_spline, wendland_c2, spiky), "weight")                              \
    REAL(radius, "", "2", 1, 10, PBD_OPEN_MIN, "support of the weight, in spacings at rest")                         \
    REAL(regularisation, "", "0.001", 0, 1, 0, "of second moments, in units of half the support, squared")           \
    REAL(damping, "1/s", "0", 0, 1e6, 0, "of velocities: exp(-damping dt) each step")                                \
    REAL(wall_spring, "", "0.25", 0, 1, 0,                                                                           \
         "of a particle in a collider: velocity gained in a step, times dt over depth")                              \
    CHOICE(join, "none", (LAW_JOINS), "continuation of the law under compression and inversion")                     \
    REAL(threshold, "", "0", 0, 1, 0, "join!=none: singular value below which it acts; 0: its default")
PBD_SETTINGS(chen_settings, PARAMS)

static const pbd_param params[] = {PBD_ROWS(PARAMS){0}};

typedef struct chen_mlsrk {
    pbd_exec *exec;
    pbd_recorder *recorder;
    chen_settings set;
    size_t particles;
    chen_particles p; /* device */
    hyperelastic law;
    double gravity[3], forces_end, time, sound, spacing;
    bool forced;
    uint64_t steps;
    double alone; /* particle steps without a neighbour */
    neighbours near;
    collider_poses colliders;
    uint32_t *deficient; /* device, by particle */
    real *block;
} chen_mlsrk;

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

static size_t blocks_of(const chen_mlsrk *s) { return (s->particles + CHEN_BLOCK - 1) / CHEN_BLOCK; }

static size_t arrays_of(const chen_mlsrk *s, device_array *row) {
    const size_t n = s->particles;
    const device_array rows[] = {DEVICE_SAVED(s->p.x, 4 * n),
                                 DEVICE_SAVED(s->p.v, 4 * n),
                                 DEVICE_SAVED(s->p.gradient, CHEN_MATRIX * n),
                                 HOST_SAVED(s->time),
                                 HOST_SAVED(s->steps),
                                 DEVICE_ARRAY(s->p.load, 4 * n),
                                 DEVICE_ARRAY(s->p.rest, n),
                                 DEVICE_ARRAY(s->p.mass, n),
                                 DEVICE_ARRAY(s->p.stress, CHEN_MATRIX * n),
                                 DEVICE_ARRAY(s->p.coefficients, CHEN_COEFFICIENTS * n),
                                 DEVICE_ARRAY(s->p.smoothed, 4 * n),
                                 DEVICE_ARRAY(s->deficient, n),
                                 DEVICE_ARRAY(s->block, CHEN_MEASURED * blocks_of(s))};
    return DEVICE_ROWS(row, rows);
}

static void destroy(void *state) {
    chen_mlsrk *s = state;
    device_array row[DEVICE_MOST_ARRAYS];
    if (!s) return;
    device_arrays_free(s->exec, row, arrays_of(s, row));
    neighbours_free(&s->near);
    collider_poses_free(&s->colliders);
    free(s);
}

static pbd_status check(const pbd_scene *scene) {
    if (scene->particles.count == 0 || !(scene->particles.spacing > 0))
        return pbd_error(PBD_BAD_INPUT, "the scene's particles do not sample a body: no spacing is given");
    return scene_check_particles(scene);
}

static pbd_status place_particles(chen_mlsrk *s, const pbd_scene *scene) {
    const size_t n = s->particles;
    pbd_arena a PBD_ARENA;
    real *x = pbd_new(&a, real, 4 * n), *v = pbd_new(&a, real, 4 * n), *load = pbd_new(&a, real, 4 * n),
         *rest = pbd_new(&a, real, n), *mass = pbd_new(&a, real, n), *f = pbd_new(&a, real, CHEN_MATRIX * n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(scene_rows(scene, NULL, x, v, load));
    for (size_t i = 0; i < n; i++) {
        rest[i] = x[4 * i + 3] = (real)scene_volume(scene, i);
        mass[i] = (real)scene->particles.masses[i];
        load[4 * i + 3] = (real)(scene->contact.radius ? scene->contact.radius[i] : 0);
        for (size_t e = 0; e < CHEN_MATRIX; e++) f[CHEN_MATRIX * i + e] = e % 4 == 0;
    }
    PBD_TRY(pbd_upload(s->exec, s->p.x, x, 4 * n * sizeof *x));
    PBD_TRY(pbd_upload(s->exec, s->p.v, v, 4 * n * sizeof *v));
    PBD_TRY(pbd_upload(s->exec, s->p.load, load, 4 * n * sizeof *load));
    PBD_TRY(pbd_upload(s->exec, s->p.rest, rest, n * sizeof *rest));
    PBD_TRY(pbd_upload(s->exec, s->p.mass, mass, n * sizeof *mass));
    return pbd_upload(s->exec, s->p.gradient, f, CHEN_MATRIX * n * sizeof *f);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    const pbd_material *m = scene->material;
    const chen_settings set = chen_settings_read(values);
    const pbd_join join = (pbd_join)set.join;
    device_array row[DEVICE_MOST_ARRAYS];
    int law;
    chen_mlsrk *s = *state = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for chen_mlsrk");
    *s = (chen_mlsrk){.exec = exec,
                      .recorder = recorder,
                      .set = set,
                      .particles = scene->particles.count,
                      .spacing = scene->particles.spacing,
                      .sound = fastest_wave(scene),
                      .forced = scene_has_forces(scene),
                      .forces_end = scene->loads.forces_end};
    memcpy(s->gravity, scene->loads.gravity, sizeof s->gravity);
    PBD_TRY(check(scene));
    PBD_TRY(law_find(m->law, &law));
    s->law = hyperelastic_make(law, join, m->E, m->nu,
                               set.threshold > 0 ? set.threshold : hyperelastic_threshold(law, join));
    const double support = s->set.radius * s->spacing;
    PBD_TRY(neighbours_create(&s->near, exec, s->particles, NULL, support, 0));
    PBD_TRY(device_arrays_allocate(exec, row, arrays_of(s, row)));
    PBD_TRY(collider_poses_create(&s->colliders, scene, exec, recorder));
    PBD_TRY(collider_sums_room(&s->colliders, s->particles));
    s->p.shape = (shape_args){.rest = s->p.x,
                              .deficient = s->deficient,
                              .support = (real)support,
                              .kernel = s->set.kernel,
                              .regularisation = (real)(s->set.regularisation / 4)};
    pbd_count(recorder, "particles", s->particles);
    return place_particles(s, scene);
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

static pbd_work work_of(const chen_mlsrk *s) {
    return (pbd_work){.items = s->particles, .entries = (size_t)s->near.entries};
}

static pbd_status find_shapes(chen_mlsrk *s) {
    PBD_TRY(neighbours_update(&s->near, s->p.x, NULL));
    s->p.shape.first = s->near.first;
    s->p.shape.neighbour = s->near.list;
    const chen_args args = {s->p, s->law};
    return PBD_RUN(s->exec, chen_shapes, s->particles, work_of(s), &args);
}

static pbd_status apply_forces(chen_mlsrk *s, double dt) {
    const bool ended = s->forces_end > 0 && s->time > s->forces_end - 0.5 * dt;
    const chen_args stresses = {s->p, s->law};
    const chen_force_args args = {.p = s->p,
                                  .collider = s->colliders.device,
                                  .sums = collider_sums_of(&s->colliders),
                                  .gravity = vec3_make((real)s->gravity[0], (real)s->gravity[1], (real)s->gravity[2]),
                                  .dt = (real)dt,
                                  .keep = (real)exp(-s->set.damping * dt),
                                  .spring = (real)s->set.wall_spring,
                                  .colliders = (int)s->colliders.count,
                                  .loaded = s->forced && !ended};
    PBD_TRY(PBD_RUN(s->exec, chen_stress, s->particles, &stresses));
    return PBD_RUN(s->exec, chen_force, s->particles, work_of(s), &args);
}

static pbd_status move(chen_mlsrk *s, double dt) {
    const chen_move_args args = {.p = s->p, .dt = (real)dt, .blend = (real)s->set.blend};
    PBD_TRY(PBD_RUN(s->exec, chen_interpolate, s->particles, work_of(s), &args));
    return PBD_RUN(s->exec, chen_move, s->particles, &args);
}

static pbd_status report(chen_mlsrk *s, double dt) {
    const chen_measure_args args = {s->p.x, s->p.v, s->near.first, s->particles, s->block};
    double seen[CHEN_MEASURED] = {0};
    PBD_TRY(PBD_RUN(s->exec, chen_measure, blocks_of(s), &args));
    PBD_TRY(device_blocks_take(s->exec, s->block, blocks_of(s), CHEN_MEASURED, 1, seen));
    pbd_count(s->recorder, "steps", 1);
    pbd_count(s->recorder, "neighbour_updates", 3 * s->near.entries);
    if (!isfinite(seen[0]))
        return pbd_error(PBD_DIVERGED, "after %.6g s (step %llu) a position or velocity is not finite", s->time,
                         (unsigned long long)s->steps);
    neighbours_warn(s->recorder, sqrt(seen[0]), 0.5 * s->set.radius * s->spacing, dt, seen[1], s->particles);
    if (dt * s->sound > s->spacing)
        pbd_warning(s->recorder, "elastic_cfl",
                    "sound, %.3g m/s, goes %.3g spacings in a step of %.3g s: about above 1 it is unstable", s->sound,
                    dt * s->sound / s->spacing, dt);
    s->alone += seen[1];
    pbd_metric(s->recorder, "lone_fraction", "1", PBD_STATE, s->alone / (double)s->steps / (double)s->particles);
    pbd_metric(s->recorder, "neighbours_total", "1", PBD_STATE, (double)s->near.entries);
    return pbd_ok();
}

static pbd_status step(void *state, double dt) {
    chen_mlsrk *s = state;
    PBD_TRY(collider_poses_move(&s->colliders, s->time, dt));
    PBD_TRY(PBD_PHASE(s->recorder, "neighbour_search", find_shapes(s)));
    PBD_TRY(PBD_PHASE(s->recorder, "forces", apply_forces(s, dt)));
    PBD_TRY(PBD_PHASE(s->recorder, "state_update", move(s, dt)));
    s->time += dt;
    s->steps++;
    return report(s, dt);
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    static const size_t row_by_row[] = {0, 3, 6, 1, 4, 7, 2, 5, 8};
    const chen_mlsrk *s = state;
    const size_t n = s->particles;
    if (field == PBD_COLLIDER_SUMS) return collider_sums_read(&s->colliders, out);
    if (field == PBD_POSITIONS) return device_rows_read(s->exec, s->p.x, n, 4, 3, NULL, NULL, out);
    if (field == PBD_VELOCITIES) return device_rows_read(s->exec, s->p.v, n, 4, 3, NULL, NULL, out);
    if (field == PBD_DEFORMATION_GRADIENTS)
        return device_rows_read(s->exec, s->p.gradient, n, CHEN_MATRIX, 9, row_by_row, NULL, out);
    return pbd_error(PBD_NOT_SUPPORTED, "chen_mlsrk has positions, velocities and deformation gradients only");
}

DEVICE_SAVING(chen_mlsrk, s->exec, arrays_of, collider_sums_clear(&s->colliders))

/* The method is explicit. At a surface lumped masses are small, so a wave must pass less than one spacing in a step;
 * compression raises the wave speed. */
static double choose(const pbd_scene *scene, const pbd_values *values, const char *parameter) {
    (void)parameter; /* dt alone is `auto` */
    (void)values;
    const double crossing = wave_crossing(scene);
    return isfinite(crossing) ? round_step(fmin(1e-3, 0.1 * crossing)) : 2e-4;
}

const pbd_method PBD_NAME(chen_mlsrk) = {
    .bytes = sizeof(pbd_method),
    .name = "chen_mlsrk",
    .summary = "explicit reproducing-kernel particles, updated Lagrangian: the rival of cao2023's Figure 13",
    .source = "Chen, Li, Cao, Jiang, Hu 2020; cao2023 section 5",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_COLLIDERS | PBD_TAKES_FORCES_END | PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
    .choose = choose,
};
