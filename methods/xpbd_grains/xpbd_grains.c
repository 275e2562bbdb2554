/* xpbd_grains: sand as hard spheres with friction, by (X)PBD alone (Macklin et al. 2014): what yu2024 calls vanilla
 * XPBD in Figure 13. README.md has the equations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/matter/flow_table.h"
#include "methods/physics/space/neighbours.h"
#include "methods/physics/space/rest_neighbours.h"
#include "methods/physics/surface/colliders.h"
#include "methods/xpbd_grains/xpbd_grains_kernels.h"

static const char *const solvers[] = {"jacobi", "coloured_gs", NULL};
static const char *const averages[] = {"particle", "pair", NULL};

static const pbd_param params[] = {
    {"grain_radius", "", PBD_REAL, "0.5", 0.05, 5, 0, NULL, "of every grain, in spacings"},
    {"grain_friction", "", PBD_REAL, "-1", -1, 100, 0, NULL,
     "Coulomb's coefficient between grains; -1: tan(friction_angle) of the scene's sand, or its contact's friction"},
    {"solver", "", PBD_CHOICE, "jacobi", 0, 0, 0, solvers, "order of projection"},
    {"averaging", "", PBD_CHOICE, "particle", 0, 0, 0, averages,
     "solver=jacobi: over the contacts of each particle (as published), or one share for a pair, which conserves "
     "momentum"},
    {"relaxation", "", PBD_REAL, "1", 0, 2, PBD_OPEN_MIN, NULL, "solver=jacobi: times the average"},
    {"iterations", "", PBD_INTEGER, "10", 1, 100000, 0, NULL, "projections of every pair in a substep"},
    {"stabilisation", "", PBD_INTEGER, "0", 0, 1000, 0, NULL,
     "earlier projections of overlaps from before the substep: these separate without gaining speed"},
    {"start_sweeps", "", PBD_INTEGER, "0", 0, 100000, 0, NULL,
     "projections of overlaps before the first step: grains separate and are at rest"},
    {"substeps", "", PBD_INTEGER, "1", 1, 100000, 0, NULL, "of a step"},
    {"dt", "s", PBD_REAL, "0.001", 0, 1e3, PBD_OPEN_MIN, NULL, "time step"},
    {"compliance", "m/N", PBD_REAL, "0", 0, 1e9, 0, NULL, "of a contact along its normal"},
    {"damping", "1/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of velocities: exp(-damping dt) each step"},
    {"sleep", "m/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "slower grains do not move; 0: all move"},
    {"margin", "", PBD_REAL, "0.2", 0.01, 2, 0, NULL, "reach of neighbour lists beyond contact, in diameters"},
    {0}};

typedef struct grains {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles;
    uint32_t *particle; /* host, by place: index in the scene */
    bool coloured, pairwise;
    long iterations, stabilisation, start_sweeps, substeps;
    double diameter, margin, friction, relaxation, compliance, damping, sleep, time, forces_end;
    uint64_t steps;
    collider_poses colliders;
    neighbours near;
    grid colours; /* of cells that may be worked on at once */
    /* Device, by place. */
    real *x, *v, *p, *next, *a;
    real *spare, *later; /* rows of 4 too, or NULL; later: accelerations once forces have ended */
    real *radius, *count, *seen;
    real *pressure; /* by entry of the lists */
    size_t pressures;
} grains;

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

static void destroy(void *state) {
    grains *s = state;
    if (!s) return;
    real *device[] = {s->x, s->v, s->p, s->next, s->a, s->spare, s->later, s->radius, s->count, s->seen, s->pressure};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(s->exec, device[i]);
    neighbours_free(&s->near);
    grid_free(&s->colours);
    collider_poses_free(&s->colliders);
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
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double *x = (scene->particles.start ? scene->particles.start : scene->particles.positions) + 3 * i;
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return pbd_error(PBD_BAD_INPUT, "particle %zu is at %g %g %g m: must be finite", i, x[0], x[1], x[2]);
        if (!(scene->particles.masses[i] > 0 && isfinite(scene->particles.masses[i])))
            return pbd_error(PBD_BAD_INPUT, "particle %zu weighs %g kg: it must be above 0", i,
                             scene->particles.masses[i]);
    }
    return pbd_ok();
}

/* A parameter of drucker_prager; 0 without the rule. */
static double sand_value(const pbd_material *m, const char *parameter) {
    const int place = flow_place(m->flow, parameter);
    return place < 0 ? 0 : m->flow_value[place];
}

static double friction_between(const pbd_scene *scene, const pbd_values *values) {
    const double given = pbd_real(values, "grain_friction"), degree = M_PI / 180;
    if (given >= 0) return given;
    if (!scene->material->flow) return scene->contact.friction;
    return tan(sand_value(scene->material, "friction_angle") * degree);
}

static pbd_status take(pbd_exec *exec, size_t count, void *out) {
    return pbd_alloc(exec, count * sizeof(real), (void **)out);
}

/* Rows by place: x with the inverse mass, v, accelerations with the forces, and without. */
static void fill_rows(const grains *s, const pbd_scene *scene, const unsigned char *held, real *rows) {
    const double *start = scene->particles.start ? scene->particles.start : scene->particles.positions;
    real *x = rows, *v = rows + 4 * s->particles, *a = v + 4 * s->particles, *later = a + 4 * s->particles;
    for (size_t i = 0; i < s->particles; i++) {
        const size_t p = s->particle[i];
        const double inverse = held[p] ? 0 : 1 / scene->particles.masses[p];
        x[4 * i + 3] = (real)inverse;
        for (size_t d = 0; d < 3; d++) {
            x[4 * i + d] = (real)start[3 * p + d];
            if (held[p]) continue;
            if (scene->particles.velocities) v[4 * i + d] = (real)scene->particles.velocities[3 * p + d];
            later[4 * i + d] = (real)scene->loads.gravity[d];
            a[4 * i + d] =
                (real)(scene->loads.gravity[d] + (scene->loads.forces ? scene->loads.forces[3 * p + d] * inverse : 0));
        }
    }
}

static pbd_status fill_particles(grains *s, const pbd_scene *scene) {
    const size_t n = s->particles, bytes = 4 * n * sizeof(real);
    real *rows = calloc(16 * n + 1, sizeof *rows), *radius = malloc((n + 1) * sizeof *radius);
    unsigned char *held = calloc(n + 1, 1);
    pbd_status status = rows && radius && held ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    if (status.code == PBD_OK) {
        for (size_t i = 0; i < scene->particles.fixed; i++) held[scene->particles.fixed_particle[i]] = 1;
        for (size_t i = 0; i < n; i++) radius[i] = (real)(0.5 * s->diameter);
        fill_rows(s, scene, held, rows);
        status = pbd_upload(s->exec, s->x, rows, bytes);
    }
    if (status.code == PBD_OK) status = pbd_upload(s->exec, s->v, rows + 4 * n, bytes);
    if (status.code == PBD_OK) status = pbd_upload(s->exec, s->a, rows + 8 * n, bytes);
    if (status.code == PBD_OK && s->later) status = pbd_upload(s->exec, s->later, rows + 12 * n, bytes);
    if (status.code == PBD_OK) status = pbd_upload(s->exec, s->radius, radius, n * sizeof *radius);
    free(rows);
    free(radius);
    free(held);
    return status;
}

static void read_values(grains *s, const pbd_scene *scene, const pbd_values *values) {
    s->coloured = pbd_choice(values, "solver") == 1;
    s->pairwise = pbd_choice(values, "averaging") == 1;
    s->iterations = pbd_integer(values, "iterations");
    s->stabilisation = pbd_integer(values, "stabilisation");
    s->start_sweeps = pbd_integer(values, "start_sweeps");
    s->substeps = pbd_integer(values, "substeps");
    s->diameter = 2 * pbd_real(values, "grain_radius") * scene->particles.spacing;
    s->margin = pbd_real(values, "margin") * s->diameter;
    s->friction = friction_between(scene, values);
    s->relaxation = pbd_real(values, "relaxation");
    s->compliance = pbd_real(values, "compliance");
    s->damping = pbd_real(values, "damping");
    s->sleep = pbd_real(values, "sleep");
    s->forces_end = scene->loads.forces_end;
}

/* Grains that begin in each other fly apart. */
static pbd_status warn_of_overlaps(const grains *s, const pbd_scene *scene) {
    const double *x = scene->particles.start ? scene->particles.start : scene->particles.positions,
                 far = s->diameter * (1 - 1e-6);
    rest_neighbours near = {0};
    size_t overlapping = 0;
    double least = INFINITY; /* of squares */
    PBD_TRY(rest_neighbours_find(s->particles, x, NULL, far, &near));
    for (size_t i = 0; i < s->particles; i++) {
        overlapping += near.first[i + 1] > near.first[i];
        for (size_t k = near.first[i]; k < near.first[i + 1]; k++) {
            const double *a = x + 3 * i, *b = x + 3 * (size_t)near.particle[k];
            const double off[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
            least = fmin(least, off[0] * off[0] + off[1] * off[1] + off[2] * off[2]);
        }
    }
    rest_neighbours_free(&near);
    if (overlapping > 0)
        pbd_warning(s->recorder, "grains_overlap_at_start",
                    "%zu of %zu grains overlap others at the start and will fly apart: grain_radius=%.3g avoids it, "
                    "stabilisation=5 removes most of the speed",
                    overlapping, s->particles, 0.4999 * sqrt(least) / scene->particles.spacing);
    return pbd_ok();
}

static pbd_status fill(grains *s, const pbd_scene *scene, const pbd_values *values) {
    const size_t n = s->particles;
    PBD_TRY(check(scene));
    read_values(s, scene, values);
    if (s->compliance > 0 && s->stabilisation > 0)
        return pbd_error(PBD_BAD_INPUT,
                         "stabilisation=%ld removes the overlap that compliance=%g m/N implies: one of them must be 0",
                         s->stabilisation, s->compliance);
    if (s->start_sweeps == 0) PBD_TRY(warn_of_overlaps(s, scene));
    PBD_TRY(collider_poses_create(&s->colliders, scene, s->exec, s->recorder));
    s->particle = malloc((n + 1) * sizeof *s->particle);
    if (!s->particle) return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    PBD_TRY(rest_space_order(n, scene->particles.start ? scene->particles.start : scene->particles.positions,
                             2 * s->diameter, s->particle));
    real **rows[] = {&s->x, &s->v, &s->p, &s->next, &s->a};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) PBD_TRY(take(s->exec, 4 * n, rows[i]));
    if ((s->stabilisation > 0 || s->start_sweeps > 0) && !s->coloured) PBD_TRY(take(s->exec, 4 * n, &s->spare));
    if (s->forces_end > 0) PBD_TRY(take(s->exec, 4 * n, &s->later));
    PBD_TRY(take(s->exec, n, &s->radius));
    PBD_TRY(take(s->exec, 2 * n, &s->seen));
    if (s->pairwise && !s->coloured) PBD_TRY(take(s->exec, n, &s->count));
    PBD_TRY(fill_particles(s, scene));
    /* Half the margin is for what sweeps do, half for the steps that a list lasts. */
    PBD_TRY(neighbours_create(&s->near, s->exec, n, NULL, s->diameter + 0.5 * s->margin, 0.5 * s->margin));
    if (s->coloured) PBD_TRY(grid_create(&s->colours, s->exec, n, NULL, 2 * (s->diameter + s->margin), false));
    pbd_count(s->recorder, "particles", n);
    pbd_metric(s->recorder, "grain_diameter", "m", PBD_STATE, s->diameter);
    pbd_metric(s->recorder, "grain_friction_used", "1", PBD_STATE, s->friction);
    if (sand_value(scene->material, "cohesion") > 0)
        pbd_warning(s->recorder, "no_cohesion", "grains bear no tension: cohesion=%g is not looked at",
                    sand_value(scene->material, "cohesion"));
    return pbd_ok();
}

static pbd_status part_at_start(grains *s);

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    grains *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for xpbd_grains");
    s->exec = exec;
    s->recorder = recorder;
    s->particles = scene->particles.count;
    s->near.grid.exec = s->colours.exec = s->colliders.exec = exec;
    pbd_status status = fill(s, scene, values);
    if (status.code == PBD_OK && s->start_sweeps > 0) status = part_at_start(s);
    if (status.code != PBD_OK)
        destroy(s);
    else
        *state = s;
    return status;
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
                        .relaxation = (real)s->relaxation,
                        .compliance = (real)(s->compliance / (dt * dt))};
}

static pbd_work work_of(const grains *s) { return (pbd_work){s->particles, (size_t)s->near.entries}; }

/* Lists, and multipliers of their entries that begin at 0. */
static pbd_status search(grains *s) {
    bool made;
    PBD_TRY(neighbours_update(&s->near, s->p, &made));
    if (made) {
        const grain_list_args lists = {s->near.first, s->near.list};
        PBD_TRY(PBD_RUN(s->exec, sort_list, s->particles, work_of(s), &lists));
        pbd_count(s->recorder, "neighbour_searches", 1);
    }
    if (s->coloured) PBD_TRY(grid_build(&s->colours, s->p, NULL));
    if (!(s->compliance > 0)) return pbd_ok();
    if (s->pressures < s->near.capacity) {
        PBD_TRY(pbd_exec_wait(s->exec));
        pbd_free(s->exec, s->pressure);
        s->pressure = NULL;
        PBD_TRY(take(s->exec, s->near.capacity, &s->pressure));
        s->pressures = s->near.capacity;
    }
    const clear_args clear = {s->pressure};
    return PBD_RUN(s->exec, clear_reals, (size_t)s->near.entries, &clear);
}

/* One sweep over the pairs of args.p, into args.next. */
static pbd_status jacobi(grains *s, const grain_args *args) {
    if (s->count) PBD_TRY(PBD_RUN(s->exec, count_touching, s->particles, work_of(s), args));
    return PBD_RUN(s->exec, push_grains, s->particles, work_of(s), args);
}

static pbd_status gauss_seidel(grains *s, const grain_args *args, real *move) {
    const grid_view view = grid_view_of(&s->colours);
    const size_t cells = (size_t)1 << (view.bits[0] + view.bits[1] + view.bits[2] - 3);
    /* How much each of the eight colours has is known to the device alone: a share of the whole, in which each pair
     * stands twice. */
    const pbd_work share = {s->particles / 8, (size_t)s->near.entries / 16};
    for (int colour = 0; colour < 8; colour++) {
        const grain_colour_args part = {*args, move, view, colour};
        PBD_TRY(PBD_RUN(s->exec, project_cell, cells, share, &part));
    }
    return pbd_ok();
}

/* Colliders last: what they say holds to rounding, however few the iterations. */
static pbd_status push_out(grains *s, const real *x, real *p) {
    if (s->colliders.count == 0) return pbd_ok();
    const collide_args walls = {s->colliders.device, (int)s->colliders.count, s->radius, x, p};
    pbd_phase_begin(s->recorder, collider_poses_phase(&s->colliders, "colliders"));
    const pbd_status status = PBD_RUN(s->exec, collide_batch, s->particles, &walls);
    pbd_phase_end(s->recorder);
    return status;
}

static void swap(real **a, real **b) {
    real *kept = *a;
    *a = *b;
    *b = kept;
}

static pbd_status sweep(grains *s, double dt) {
    const grain_args args = args_of(s, dt);
    pbd_phase_begin(s->recorder, "contact");
    const pbd_status status = s->near.entries == 0 ? pbd_ok()
                              : s->coloured        ? gauss_seidel(s, &args, s->p)
                                                   : jacobi(s, &args);
    pbd_phase_end(s->recorder);
    PBD_TRY(status);
    if (s->near.entries > 0 && !s->coloured) swap(&s->p, &s->next);
    return push_out(s, s->x, s->p);
}

/* The same of the places before the step, without friction or compliance: in `next` for coloured_gs, between `next` and
 * `spare` for jacobi. Then x and p move by what came of it. */
static pbd_status stabilise(grains *s, long sweeps, double dt) {
    if (s->near.entries == 0) return pbd_ok();
    const grain_copy_args copy = {s->x, s->next};
    PBD_TRY(PBD_RUN(s->exec, copy_grains, s->particles, &copy));
    for (long i = 0; i < sweeps; i++) {
        grain_args args = args_of(s, dt);
        args.p = s->next;
        args.next = s->spare;
        args.pressure = NULL;
        args.friction = 0;
        pbd_phase_begin(s->recorder, "stabilisation");
        const pbd_status status = s->coloured ? gauss_seidel(s, &args, s->next) : jacobi(s, &args);
        pbd_phase_end(s->recorder);
        PBD_TRY(status);
        if (!s->coloured) swap(&s->next, &s->spare);
        PBD_TRY(push_out(s, s->next, s->next));
    }
    const grain_shift_args shift = {s->next, s->x, s->p};
    return PBD_RUN(s->exec, shift_grains, s->particles, &shift);
}

static pbd_status substep(grains *s, double dt) {
    /* Half a step of slack: sums of steps do not hit `forces_end` to the bit. */
    const bool ended = s->later && s->time > s->forces_end - 0.5 * dt;
    const predict_args predict = {.x = s->x, .v = s->v, .a = ended ? s->later : s->a, .p = s->p, .dt = (real)dt};
    PBD_TRY(collider_poses_move(&s->colliders, s->time, dt));
    PBD_TRY(PBD_RUN(s->exec, predict, s->particles, &predict));
    pbd_phase_begin(s->recorder, "neighbour_search");
    const pbd_status status = search(s);
    pbd_phase_end(s->recorder);
    PBD_TRY(status);
    if (s->stabilisation > 0) PBD_TRY(stabilise(s, s->stabilisation, dt));
    for (long i = 0; i < s->iterations; i++) PBD_TRY(sweep(s, dt));
    const grain_settle_args settle = {.p = s->p,
                                      .x = s->x,
                                      .v = s->v,
                                      .inverse_dt = (real)(1 / dt),
                                      .keep = (real)exp(-s->damping * dt),
                                      .asleep = (real)(s->sleep * dt)};
    s->time += dt;
    pbd_count(s->recorder, "particle_updates", s->particles);
    pbd_count(s->recorder, "neighbour_updates", s->near.entries * (uint64_t)s->iterations);
    return PBD_RUN(s->exec, settle_grains, s->particles, &settle);
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

/* How deep grains are in each other, m, and how many touch each in the mean. */
static pbd_status look_at_contacts(grains *s, double dt, double *depth, double *contacts) {
    const size_t n = s->particles;
    grain_watch_args args = {args_of(s, dt), s->seen};
    args.pairs.p = s->x;
    real *seen = malloc((2 * n + 1) * sizeof *seen);
    if (!seen) return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    pbd_status status = PBD_RUN(s->exec, watch_grains, n, work_of(s), &args);
    if (status.code == PBD_OK) status = pbd_download(s->exec, seen, s->seen, 2 * n * sizeof *seen);
    *depth = *contacts = 0;
    for (size_t i = 0; i < n && status.code == PBD_OK; i++) {
        *depth = fmax(*depth, (double)seen[2 * i]);
        *contacts += (double)seen[2 * i + 1] / (double)n;
    }
    free(seen);
    return status;
}

/* Looked at in steps 1, 2, 4, ... and then every 64th. */
static pbd_status watch(grains *s, double dt) {
    double depth, contacts;
    PBD_TRY(look_at_contacts(s, dt, &depth, &contacts));
    pbd_metric(s->recorder, "deepest_penetration", "m", PBD_ERROR, depth);
    pbd_metric(s->recorder, "contacts_per_grain", "1", PBD_STATE, contacts);
    return pbd_ok();
}

/* Random points (Poisson disks) overlap as grains that fill as much of space as sand does: they are moved apart before
 * time begins. Lists hold for a few sweeps. */
static pbd_status part_at_start(grains *s) {
    enum { SWEEPS_OF_A_LIST = 4 };
    double depth, contacts;
    PBD_TRY(collider_poses_move(&s->colliders, 0, 1));
    for (long left = s->start_sweeps; left > 0; left -= SWEEPS_OF_A_LIST) {
        const grain_copy_args copy = {s->x, s->p};
        PBD_TRY(PBD_RUN(s->exec, copy_grains, s->particles, &copy));
        PBD_TRY(search(s));
        PBD_TRY(stabilise(s, left < SWEEPS_OF_A_LIST ? left : SWEEPS_OF_A_LIST, 1));
    }
    PBD_TRY(look_at_contacts(s, 1, &depth, &contacts));
    pbd_metric(s->recorder, "start_overlap", "1", PBD_ERROR, fmax(depth, 0) / s->diameter);
    if (depth > 0.01 * s->diameter)
        pbd_warning(
            s->recorder, "grains_overlap_at_start",
            "after %ld sweeps grains still lie up to %.3g of a diameter in each other, and will fly apart: more "
            "start_sweeps, or a smaller grain_radius",
            s->start_sweeps, depth / s->diameter);
    return pbd_ok();
}

static pbd_status step(void *state, double dt) {
    grains *s = state;
    const double part = dt / (double)s->substeps;
    for (long i = 0; i < s->substeps; i++) PBD_TRY(substep(s, part));
    pbd_count(s->recorder, "steps", 1);
    s->steps++;
    const bool power_of_two = (s->steps & (s->steps - 1)) == 0;
    return (power_of_two && s->steps < 64) || s->steps % 64 == 0 ? watch(s, part) : pbd_ok();
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

static pbd_status read_rows(const grains *s, const real *device, double *out) {
    const size_t n = s->particles;
    real *rows = malloc((4 * n + 1) * sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for reading %zu particles", n);
    const pbd_status status = pbd_download(s->exec, rows, device, 4 * n * sizeof *rows);
    for (size_t i = 0; i < 3 * n && status.code == PBD_OK; i++)
        out[3 * s->particle[i / 3] + i % 3] = (double)rows[4 * (i / 3) + i % 3];
    free(rows);
    return status;
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const grains *s = state;
    if (field == PBD_POSITIONS) return read_rows(s, s->x, out);
    if (field == PBD_VELOCITIES) return read_rows(s, s->v, out);
    return pbd_error(PBD_NOT_SUPPORTED, "xpbd_grains has positions and velocities only");
}

/* x, v and the time: lists are made from these. */
static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const grains *s = state;
    const size_t rows = 4 * s->particles * sizeof(real);
    *bytes = 2 * rows + sizeof s->time;
    if (!blob) return pbd_ok();
    memcpy((char *)blob + 2 * rows, &s->time, sizeof s->time);
    PBD_TRY(pbd_download(s->exec, blob, s->x, rows));
    return pbd_download(s->exec, (char *)blob + rows, s->v, rows);
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    grains *s = state;
    const size_t rows = 4 * s->particles * sizeof(real);
    if (bytes != 2 * rows + sizeof s->time)
        return pbd_error(PBD_BAD_INPUT, "xpbd_grains: the saved state has %zu bytes, not %zu", bytes,
                         2 * rows + sizeof s->time);
    memcpy(&s->time, (const char *)blob + 2 * rows, sizeof s->time);
    PBD_TRY(pbd_upload(s->exec, s->x, blob, rows));
    return pbd_upload(s->exec, s->v, (const char *)blob + rows, rows);
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
    .destroy = destroy,
};
