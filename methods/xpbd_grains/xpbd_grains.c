/* xpbd_grains: sand as hard spheres with friction by PBD or XPBD (Macklin et al. 2014), the vanilla XPBD of yu2024
 * Figure 13. README.md has the equations. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"
#include "methods/params.h"
#include "methods/physics/device/phase.h"
#include "methods/physics/device/scene_rows.h"
#include "methods/physics/matter/flow_table.h"
#include "methods/physics/parts/particle_survey.h"
#include "methods/physics/parts/stepper.h"
#include "methods/physics/space/neighbours.h"
#include "methods/physics/space/rest_neighbours.h"
#include "methods/xpbd_grains/xpbd_grains_kernels.h"

#define PARAMS(REAL, INTEGER, CHOICE)                                                                                 \
    REAL(grain_radius, "", "0.5", 0.05, 5, 0, "of every grain, in spacings")                                          \
    REAL(grain_friction, "", "auto", 0, 100, 0,                                                                       \
         "Coulomb's coefficient between grains; auto: tan(friction_angle) of the scene's sand, or its contact's "     \
         "friction")                                                                                                  \
    CHOICE(solver, "jacobi", (jacobi, coloured_gs), "order of projection")                                            \
    CHOICE(                                                                                                           \
        averaging, "particle", (particle, pair),                                                                      \
        "solver=jacobi: over the contacts of each particle (as published), or one share for a pair, which conserves " \
        "momentum")                                                                                                   \
    REAL(relaxation, "", "1", 0, 2, PBD_OPEN_MIN, "solver=jacobi: times the average")                                 \
    INTEGER(iterations, "10", 1, 100000, "projections of every pair in a substep")                                    \
    INTEGER(stabilisation, "0", 0, 1000,                                                                              \
            "earlier projections of overlaps from before the substep: these separate without gaining speed")          \
    INTEGER(start_sweeps, "-1", -1, 100000,                                                                           \
            "projections of overlaps before the first step: grains separate and are at rest; 0: none; -1: none, and " \
            "overlapping grains are refused")                                                                         \
    INTEGER(substeps, "1", 1, 100000, "of a step")                                                                    \
    REAL(dt, "s", "0.001", 0, 1e3, PBD_OPEN_MIN, "time step")                                                         \
    REAL(compliance, "m/N", "0", 0, 1e9, 0, "of a contact along its normal")                                          \
    REAL(damping, "1/s", "0", 0, 1e6, 0, "of velocities: exp(-damping dt) each step")                                 \
    REAL(sleep, "m/s", "0", 0, 1e6, 0, "slower grains do not move; 0: all move")                                      \
    REAL(margin, "", "0.2", 0.01, 2, 0, "reach of neighbour lists beyond contact, in diameters")
PBD_SETTINGS(grains_settings, PARAMS)

static const pbd_param params[] = {PBD_ROWS(PARAMS){0}};

typedef struct grains {
    stepper run;
    grains_settings set;
    size_t particles;
    uint32_t *particle;                /* host, by place: index in the scene */
    double diameter, margin, friction; /* m, m, 1 */
    double forces_end, extent;         /* s; m, of the scene */
    neighbours near;
    grid colours; /* coloured cells */
    /* Device memory, by place. */
    real *x, *v, *p, *next, *a;
    real *spare, *later; /* rows of 4, or NULL; later: accelerations after forces_end */
    real *radius, *count, *seen;
    real *pressure; /* by entry of the lists */
    size_t pressures;
} grains;

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

static size_t arrays_of(const void *self, device_array *row) {
    const grains *s = self;
    const size_t n = s->particles;
    const bool coloured = s->set.solver == solver_coloured_gs;
    const bool stabilised = s->set.stabilisation > 0 || s->set.start_sweeps > 0;
    const device_array rows[] = {DEVICE_SAVED(s->x, 4 * n),
                                 DEVICE_SAVED(s->v, 4 * n),
                                 DEVICE_ARRAY(s->p, 4 * n),
                                 DEVICE_ARRAY(s->next, 4 * n),
                                 DEVICE_ARRAY(s->a, 4 * n),
                                 DEVICE_ARRAY(s->spare, stabilised && !coloured ? 4 * n : 0),
                                 DEVICE_ARRAY(s->later, s->forces_end > 0 ? 4 * n : 0),
                                 DEVICE_ARRAY(s->radius, n),
                                 DEVICE_ARRAY(s->seen, 2 * n),
                                 DEVICE_ARRAY(s->count, s->set.averaging == averaging_pair && !coloured ? n : 0),
                                 DEVICE_ARRAY(s->pressure, s->pressures)};
    return DEVICE_ROWS(row, rows);
}

static void destroy(void *state) {
    grains *s = state;
    device_array row[DEVICE_MOST_ARRAYS];
    if (!s) return;
    device_arrays_free(s->run.exec, row, arrays_of(s, row));
    neighbours_free(&s->near);
    grid_free(&s->colours);
    stepper_free(&s->run);
    free(s->particle);
    free(s);
}

static pbd_status check(const pbd_scene *scene) {
    const pbd_material *m = scene->material;
    if (scene->particles.count == 0 || !(scene->particles.spacing > 0))
        return pbd_error(PBD_BAD_INPUT, "the scene's particles cannot be grains: no spacing is given");
    if (m->flow && !pbd_named(m->flow, "drucker_prager"))
        return pbd_error(PBD_NOT_SUPPORTED,
                         "xpbd_grains is dry sand: it supports flow=drucker_prager, from which it takes the "
                         "friction_angle, and flow=none");
    return scene_check_particles(scene);
}

/* A parameter of drucker_prager; 0 without the rule. */
static double sand_value(const pbd_material *m, const char *parameter) {
    const int place = flow_place(m->flow, parameter);
    return place < 0 ? 0 : m->flow_value[place];
}

static double choose(const pbd_scene *scene, const pbd_values *values, const char *parameter) {
    const double degree = M_PI / 180;
    (void)values;
    (void)parameter;
    if (!scene->material->flow) return scene->contact.friction;
    return tan(sand_value(scene->material, "friction_angle") * degree);
}

/* Fills, by place: x with the inverse mass, v, accelerations with and without the forces, radii. */
static pbd_status fill_particles(grains *s, const pbd_scene *scene) {
    const size_t n = s->particles, bytes = 4 * n * sizeof(real);
    pbd_arena memory PBD_ARENA;
    real *x = pbd_new(&memory, real, 4 * n), *v = pbd_new(&memory, real, 4 * n), *a = pbd_new(&memory, real, 4 * n),
         *later = pbd_new(&memory, real, 4 * n), *radius = pbd_new(&memory, real, n);
    PBD_TRY(pbd_arena_check(&memory));
    PBD_TRY(scene_rows(scene, s->particle, x, v, NULL));
    for (size_t i = 0; i < n; i++) {
        const size_t p = s->particle[i];
        const double inverse = v[4 * i + 3] > 0 ? 1 / scene->particles.masses[p] : 0;
        x[4 * i + 3] = (real)inverse;
        v[4 * i + 3] = 0;
        radius[i] = (real)(0.5 * s->diameter);
        for (size_t d = 0; d < 3 && inverse > 0; d++) {
            const double g = scene->loads.gravity[d];
            later[4 * i + d] = (real)g;
            a[4 * i + d] = (real)(g + (scene->loads.forces ? scene->loads.forces[3 * p + d] * inverse : 0));
        }
    }
    PBD_TRY(pbd_upload(s->run.exec, s->x, x, bytes));
    PBD_TRY(pbd_upload(s->run.exec, s->v, v, bytes));
    PBD_TRY(pbd_upload(s->run.exec, s->a, a, bytes));
    if (s->later) PBD_TRY(pbd_upload(s->run.exec, s->later, later, bytes));
    return pbd_upload(s->run.exec, s->radius, radius, n * sizeof *radius);
}

/* Grains that overlap at the start would separate with high velocities: refused, unless start_sweeps is set. */
static pbd_status check_overlaps(const grains *s, const pbd_scene *scene) {
    const double *x = scene_start(scene), far = s->diameter * (1 - 1e-6);
    rest_neighbours near = {0};
    size_t overlapping = 0, pair[2] = {0, 0};
    double least = INFINITY; /* smallest squared distance */
    PBD_TRY(rest_neighbours_find(s->particles, x, NULL, far, &near));
    for (size_t i = 0; i < s->particles; i++) {
        overlapping += near.first[i + 1] > near.first[i];
        for (size_t k = near.first[i]; k < near.first[i + 1]; k++) {
            const double *a = x + 3 * i, *b = x + 3 * (size_t)near.particle[k];
            const double off[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
            const double square = off[0] * off[0] + off[1] * off[1] + off[2] * off[2];
            if (square < least) least = square, pair[0] = i, pair[1] = near.particle[k];
        }
    }
    rest_neighbours_free(&near);
    if (overlapping == 0) return pbd_ok();
    const double fits = 0.4999 * sqrt(least) / scene->particles.spacing;
    if (s->set.start_sweeps < 0 && s->set.stabilisation == 0)
        return pbd_error(PBD_BAD_INPUT,
                         "%zu of %zu grains overlap others at the start by up to %.3g m of their diameter, %.3g m "
                         "(grains %zu and %zu), and would separate with high velocities: use grain_radius=%.3g, or "
                         "start_sweeps=500, which moves them "
                         "apart before the first step",
                         overlapping, s->particles, s->diameter - sqrt(least), s->diameter, pair[0], pair[1], fits);
    pbd_warning(s->run.recorder, "grains_overlap_at_start",
                "%zu of %zu grains overlap others at the start and will fly apart: grain_radius=%.3g avoids it, "
                "start_sweeps=500 removes the overlaps, stabilisation=5 most of the speed",
                overlapping, s->particles, fits);
    return pbd_ok();
}

/* ---- A substep --------------------------------------------------------------------------------------------------- */

static grain_args args_of(const grains *s, double dt) {
    return (grain_args){.first = s->near.first,
                        .list = s->near.list,
                        .x = s->x,
                        .p = s->p,
                        .next = s->next,
                        .count = s->count,
                        .pressure = s->pressure,
                        .diameter = (real)s->diameter,
                        .friction = (real)s->friction,
                        .relaxation = (real)s->set.relaxation,
                        .compliance = (real)(s->set.compliance / (dt * dt))};
}

static pbd_work work_of(const grains *s) {
    return (pbd_work){.items = s->particles, .entries = (size_t)s->near.entries};
}

/* Updates lists, and sets the multipliers of their entries to 0. */
static pbd_status search(grains *s) {
    bool made;
    PBD_TRY(neighbours_update(&s->near, s->p, &made));
    if (made) {
        const grain_list_args lists = {s->near.first, s->near.list};
        PBD_TRY(PBD_RUN(s->run.exec, sort_list, s->particles, work_of(s), &lists));
        pbd_count(s->run.recorder, "neighbour_searches", 1);
    }
    if (s->set.solver == solver_coloured_gs) PBD_TRY(grid_build(&s->colours, s->p, NULL));
    if (!(s->set.compliance > 0)) return pbd_ok();
    if (s->pressures < s->near.capacity) {
        PBD_TRY(pbd_exec_wait(s->run.exec));
        pbd_free(s->run.exec, s->pressure);
        s->pressure = NULL;
        PBD_TRY(pbd_alloc(s->run.exec, s->near.capacity * sizeof(real), (void **)&s->pressure));
        s->pressures = s->near.capacity;
    }
    const clear_args clear = {s->pressure};
    return PBD_RUN(s->run.exec, clear_reals, (size_t)s->near.entries, &clear);
}

/* One sweep over the pairs of args.p, into args.next. */
static pbd_status jacobi(grains *s, const grain_args *args) {
    if (s->count) PBD_TRY(PBD_RUN(s->run.exec, count_touching, s->particles, work_of(s), args));
    return PBD_RUN(s->run.exec, push_grains, s->particles, work_of(s), args);
}

static pbd_status gauss_seidel(grains *s, const grain_args *args, real *move) {
    const grid_view view = grid_view_of(&s->colours);
    const size_t cells = (size_t)1 << (view.bits[0] + view.bits[1] + view.bits[2] - 3);
    /* The host does not know the work of each of the eight colours and assumes an eighth. Lists have each pair
     * twice. */
    const pbd_work share = {.items = s->particles / 8, .entries = (size_t)s->near.entries / 16};
    for (int colour = 0; colour < 8; colour++) {
        const grain_colour_args part = {*args, move, view, colour};
        PBD_TRY(PBD_RUN(s->run.exec, project_cell, cells, share, &part));
    }
    return pbd_ok();
}

/* Colliders last, so that they are satisfied to rounding after any iteration. */
static pbd_status push_out(grains *s, const real *x, real *p, collider_sums sums) {
    if (s->run.colliders.count == 0) return pbd_ok();
    const collide_args walls = {s->run.colliders.device, (int)s->run.colliders.count, s->radius, x, p, sums};
    return PBD_PHASE(s->run.recorder, collider_poses_phase(&s->run.colliders, "colliders"),
                     PBD_RUN(s->run.exec, collide_batch, s->particles, &walls));
}

static void swap(real **a, real **b) {
    real *kept = *a;
    *a = *b;
    *b = kept;
}

static pbd_status iterate(void *self, stepper *run) {
    grains *s = self;
    const bool coloured = s->set.solver == solver_coloured_gs;
    const grain_args args = args_of(s, run->dt);
    if (s->near.entries == 0) return pbd_ok();
    PBD_TRY(PBD_PHASE(run->recorder, "contact", coloured ? gauss_seidel(s, &args, s->p) : jacobi(s, &args)));
    if (!coloured) swap(&s->p, &s->next);
    return pbd_ok();
}

static pbd_status collide_walls(void *self, stepper *run) {
    (void)run;
    grains *s = self;
    return push_out(s, s->x, s->p, collider_sums_of(&s->run.colliders));
}

/* Sweeps over the positions at the start of the step, without friction or compliance: in `next` for coloured_gs,
 * between `next` and `spare` for jacobi. Then x and p are shifted by the result. */
static pbd_status stabilise(grains *s, long sweeps, double dt) {
    const bool coloured = s->set.solver == solver_coloured_gs;
    const collider_sums none = {0}; /* no impulses: velocities stay */
    if (s->near.entries == 0) return pbd_ok();
    const grain_copy_args copy = {s->x, s->next};
    PBD_TRY(PBD_RUN(s->run.exec, copy_grains, s->particles, &copy));
    for (long i = 0; i < sweeps; i++) {
        grain_args args = args_of(s, dt);
        args.p = s->next;
        args.next = s->spare;
        args.pressure = NULL;
        args.friction = 0;
        PBD_TRY(
            PBD_PHASE(s->run.recorder, "stabilisation", coloured ? gauss_seidel(s, &args, s->next) : jacobi(s, &args)));
        if (!coloured) swap(&s->next, &s->spare);
        PBD_TRY(push_out(s, s->next, s->next, none));
    }
    const grain_shift_args shift = {s->next, s->x, s->p};
    return PBD_RUN(s->run.exec, shift_grains, s->particles, &shift);
}

static pbd_status begin(void *self, stepper *run) {
    grains *s = self;
    const bool ended = s->later && !stepper_loaded(run, s->forces_end);
    const predict_args predict = {.x = s->x, .v = s->v, .a = ended ? s->later : s->a, .p = s->p, .dt = (real)run->dt};
    PBD_TRY(PBD_RUN(run->exec, predict, s->particles, &predict));
    PBD_TRY(PBD_PHASE(run->recorder, "neighbour_search", search(s)));
    return s->set.stabilisation > 0 ? stabilise(s, s->set.stabilisation, run->dt) : pbd_ok();
}

static pbd_status move(void *self, stepper *run) {
    const grains *s = self;
    const grain_settle_args settle = {.p = s->p,
                                      .x = s->x,
                                      .v = s->v,
                                      .inverse_dt = (real)(1 / run->dt),
                                      .keep = (real)exp(-s->set.damping * run->dt),
                                      .asleep = (real)(s->set.sleep * run->dt)};
    pbd_count(run->recorder, "particle_updates", s->particles);
    pbd_count(run->recorder, "neighbour_updates", s->near.entries * (uint64_t)run->done);
    return PBD_RUN(run->exec, settle_grains, s->particles, &settle);
}

/* The largest overlap, m, and the mean number of contacts of a grain. */
static pbd_status measure_contacts(grains *s, double dt, double *depth, double *contacts) {
    const size_t n = s->particles;
    grain_measure_args args = {args_of(s, dt), s->seen};
    args.pairs.p = s->x;
    pbd_arena a PBD_ARENA;
    real *seen = pbd_new(&a, real, 2 * n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(PBD_RUN(s->run.exec, measure_grains, n, work_of(s), &args));
    PBD_TRY(pbd_download(s->run.exec, seen, s->seen, 2 * n * sizeof *seen));
    *depth = *contacts = 0;
    for (size_t i = 0; i < n; i++) {
        *depth = fmax(*depth, (double)seen[2 * i]);
        *contacts += (double)seen[2 * i + 1] / (double)n;
    }
    return pbd_ok();
}

static pbd_status residual(void *self, stepper *run, step_residual *out) {
    grains *s = self;
    const size_t n = s->particles;
    const grain_measure_args args = {args_of(s, run->dt), s->seen};
    *out = (step_residual){.rounding = sqrt(6 * (double)n) * 4 * REAL_EPSILON * s->extent};
    pbd_arena a PBD_ARENA;
    real *square = pbd_new(&a, real, 2 * n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(PBD_RUN(run->exec, measure_grain_residuals, n, work_of(s), &args));
    PBD_TRY(pbd_download(run->exec, square, s->seen, 2 * n * sizeof *square));
    for (size_t i = 0; i < n; i++) out->norm += (double)square[2 * i];
    out->norm = sqrt(out->norm);
    return pbd_ok();
}

static pbd_status record(void *self, stepper *run) {
    grains *s = self;
    double depth, contacts;
    if (!stepper_samples(run)) return pbd_ok();
    PBD_TRY(measure_contacts(s, run->dt, &depth, &contacts));
    pbd_metric(run->recorder, "deepest_penetration", "m", PBD_FLAW, depth);
    pbd_metric(run->recorder, "contacts_per_grain", "1", PBD_STATE, contacts);
    return pbd_ok();
}

static const step_part grains_part = {
    .begin = begin, .iterate = iterate, .move = move, .record = record, .residual = residual, .arrays = arrays_of};
static const step_part walls_part = {.iterate = collide_walls};

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* At the density of sand, grains at random points (Poisson disks) overlap and are separated before the first step.
 * Lists are reused for a few sweeps. */
static pbd_status separate_at_start(grains *s) {
    enum { SWEEPS_OF_A_LIST = 4 };
    double depth, contacts;
    PBD_TRY(collider_poses_move(&s->run.colliders, 0, 1));
    for (long left = s->set.start_sweeps; left > 0; left -= SWEEPS_OF_A_LIST) {
        const grain_copy_args copy = {s->x, s->p};
        PBD_TRY(PBD_RUN(s->run.exec, copy_grains, s->particles, &copy));
        PBD_TRY(search(s));
        PBD_TRY(stabilise(s, left < SWEEPS_OF_A_LIST ? left : SWEEPS_OF_A_LIST, 1));
    }
    PBD_TRY(measure_contacts(s, 1, &depth, &contacts));
    pbd_metric(s->run.recorder, "start_overlap", "1", PBD_FLAW, fmax(depth, 0) / s->diameter);
    if (depth > 0.01 * s->diameter)
        pbd_warning(s->run.recorder, "grains_overlap_at_start",
                    "after %ld sweeps grains still overlap by up to %.3g of a diameter and will fly apart: use more "
                    "start_sweeps, or a smaller grain_radius",
                    s->set.start_sweeps, depth / s->diameter);
    return pbd_ok();
}

/* Refuses grains that overlap a collider: those that colliders would move in a step of zero duration. Grains collide
 * with their own radius, whatever the scene's contact radius. */
static pbd_status check_walls(grains *s, const pbd_scene *scene) {
    const size_t n = s->particles;
    const grain_copy_args copy = {s->x, s->p};
    double deepest = 0;
    size_t worst = 0;
    if (s->run.colliders.count == 0 || s->set.start_sweeps == 0 || s->set.stabilisation > 0) return pbd_ok();
    pbd_arena a PBD_ARENA;
    real *x = pbd_new(&a, real, 4 * n), *p = pbd_new(&a, real, 4 * n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(collider_poses_move(&s->run.colliders, 0, 0));
    PBD_TRY(PBD_RUN(s->run.exec, copy_grains, n, &copy));
    PBD_TRY(push_out(s, s->x, s->p, (collider_sums){0}));
    PBD_TRY(pbd_download(s->run.exec, x, s->x, 4 * n * sizeof *x));
    PBD_TRY(pbd_download(s->run.exec, p, s->p, 4 * n * sizeof *p));
    for (size_t i = 0; i < n; i++) {
        const double off[3] = {p[4 * i] - x[4 * i], p[4 * i + 1] - x[4 * i + 1], p[4 * i + 2] - x[4 * i + 2]};
        const double moved = sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2]);
        if (moved > deepest) deepest = moved, worst = i;
    }
    if (deepest <= fmax(1e-6, 32 * REAL_EPSILON) * scene->extent) return pbd_ok();
    return pbd_error(
        PBD_BAD_INPUT,
        "grain %u starts %.3g m too deep in a collider, at (%.4g, %.4g, %.4g) with a radius of %.3g m, and "
        "would leave it with a high velocity: use a smaller grain_radius, or start_sweeps=500, which moves grains out "
        "before "
        "the first step",
        s->particle[worst], deepest, (double)x[4 * worst], (double)x[4 * worst + 1], (double)x[4 * worst + 2],
        0.5 * s->diameter);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    const size_t n = scene->particles.count;
    device_array row[DEVICE_MOST_ARRAYS];
    grains *s = *state = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for xpbd_grains");
    *s = (grains){.set = grains_settings_read(values), .particles = n};
    PBD_TRY(check(scene));
    PBD_TRY(stepper_create(&s->run, scene, exec, recorder));
    s->run.substeps = s->set.substeps;
    s->run.iterations = s->set.iterations;
    stepper_add(&s->run, &grains_part, s);
    if (s->run.colliders.count > 0) stepper_add(&s->run, &walls_part, s);
    if (s->set.compliance > 0 && s->set.stabilisation > 0)
        return pbd_error(PBD_BAD_INPUT,
                         "stabilisation=%ld removes the overlap that compliance=%g m/N implies: one of them must be 0",
                         s->set.stabilisation, s->set.compliance);
    s->diameter = 2 * s->set.grain_radius * scene->particles.spacing;
    s->margin = s->set.margin * s->diameter;
    s->friction = s->set.grain_friction;
    s->forces_end = scene->loads.forces_end;
    s->extent = scene->extent;
    if (s->set.start_sweeps <= 0) PBD_TRY(check_overlaps(s, scene));
    s->particle = malloc((n + 1) * sizeof *s->particle);
    if (!s->particle) return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    PBD_TRY(rest_space_order(n, scene_start(scene), 2 * s->diameter, s->particle));
    PBD_TRY(device_arrays_allocate(exec, row, arrays_of(s, row)));
    PBD_TRY(fill_particles(s, scene));
    /* Half the margin is for motion in sweeps, half for the steps between rebuilds of the lists. */
    PBD_TRY(neighbours_create(&s->near, exec, n, NULL, s->diameter + 0.5 * s->margin, 0.5 * s->margin));
    if (s->set.solver == solver_coloured_gs)
        PBD_TRY(grid_create(&s->colours, exec, n, NULL, 2 * (s->diameter + s->margin), false));
    pbd_count(recorder, "particles", n);
    pbd_metric(recorder, "grain_diameter", "m", PBD_STATE, s->diameter);
    pbd_metric(recorder, "grain_friction_used", "1", PBD_STATE, s->friction);
    if (sand_value(scene->material, "cohesion") > 0)
        pbd_warning(recorder, "no_cohesion", "grains resist no tension: cohesion=%g is ignored",
                    sand_value(scene->material, "cohesion"));
    return s->set.start_sweeps > 0 ? separate_at_start(s) : check_walls(s, scene);
}

static pbd_status step(void *state, double dt) { return stepper_step(&((grains *)state)->run, dt); }

static void watch(void *state, pbd_residual *out) { stepper_watch(&((grains *)state)->run, out); }

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const grains *s = state;
    if (field == PBD_COLLIDER_SUMS) return collider_sums_read(&s->run.colliders, out);
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "xpbd_grains has positions and velocities only");
    return device_rows_read(s->run.exec, field == PBD_POSITIONS ? s->x : s->v, s->particles, 4, 3, NULL, s->particle,
                            out);
}

static pbd_status survey(const void *state, const pbd_survey *asked, pbd_surveyed *out) {
    const grains *s = state;
    return particle_survey(&(survey_source){.exec = s->run.exec,
                                            .particles = s->particles,
                                            .x = s->x,
                                            .v = s->v,
                                            .x_stride = 4,
                                            .v_stride = 4,
                                            .number = s->particle,
                                            .number_on_host = true},
                           asked, out);
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    return stepper_save(&((const grains *)state)->run, blob, bytes);
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    return stepper_load(&((grains *)state)->run, "xpbd_grains", blob, bytes);
}

const pbd_method PBD_NAME(xpbd_grains) = {
    .bytes = sizeof(pbd_method),
    .name = "xpbd_grains",
    .summary = "sand as hard spheres with Coulomb friction: contacts alone, by XPBD",
    .source = "Macklin et al. 2014 sections 4, 6.1: vanilla XPBD in yu2024 Fig. 13",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_START | PBD_TAKES_COLLIDERS | PBD_TAKES_CONTACT | PBD_TAKES_FORCES_END | PBD_TAKES_FLOW,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .read = read_field,
    .save = save,
    .load = load,
    .survey = survey,
    .destroy = destroy,
    .residual = "2-norm over all pairs of grains of their overlap, minus alpha~ lambda where compliance > 0",
    .watch = watch,
    .unconverged = "Macklin et al. 2014 run a few iterations a step: grains may overlap",
    .choose = choose,
};
