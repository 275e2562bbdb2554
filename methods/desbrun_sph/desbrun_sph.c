/* desbrun_sph: smoothed particles with pressure, cohesion and artificial viscosity, by leapfrog with individual time
 * steps (desbrun1996). README.md has the equations and the differences from the paper.
 *
 * A step of the scene, `dt`, is `whole` ticks, a power of two. A particle of level n has steps of dt/2^n. All particles
 * are moved at every half of the smallest step in use, and only those in the middle of their step then have their
 * density and force evaluated. At the end of a step a particle may change its level. */
#include "methods/desbrun_sph/desbrun_sph_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/params.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/device/phase.h"
#include "methods/physics/device/scene_rows.h"
#include "methods/physics/space/neighbours.h"
#include "methods/physics/surface/colliders.h"

enum { MOST_LEVELS = 20 };

#define PARAMS(REAL, INTEGER, CHOICE)                                                                                 \
    CHOICE(dimensions, "3", (2, 3), "2: a plane, the same z for all particles")                                       \
    REAL(h, "", "1", 0, 100, PBD_OPEN_MIN, "smoothing length, in spacings; the support is 2h")                        \
    CHOICE(kernel, "spiky", (spiky, cubic_spline), "the paper's kernel, or the spline that it replaces")              \
    REAL(k, "m^2/s^2", "10", 0, 1e12, 0, "stiffness: P = k (density - rest_density)")                                 \
    REAL(c, "m/s", "2", 0, 1e6, 0, "speed of sound in viscosity and in Eq. 8")                                        \
    REAL(rest_density, "kg/m^3", "0", 0, 1e9, 0,                                                                      \
         "of Eq. 6 (kg/m^2 in the plane); 0: what Eq. 3 gives inside a square or cubic lattice")                      \
    REAL(viscosity, "", "1", 0, 1e6, 0, "times c in Eq. 5's first term")                                              \
    REAL(viscosity_quadratic, "", "2", 0, 1e6, 0, "of Eq. 5's second term")                                           \
    CHOICE(steps, "own", (own, global, fixed), "one per particle, one for all by the criteria, or dt")                \
    REAL(dt, "s", "0.01", 0, 1e3, PBD_OPEN_MIN, "the longest step; steps=fixed: the step")                            \
    INTEGER(levels, "12", 0, MOST_LEVELS, "steps=own|global: steps may be 2^levels times shorter than dt")            \
    REAL(alpha, "", "0.3", 0, 100, PBD_OPEN_MIN, "Courant number")                                                    \
    CHOICE(criterion, "corrected", (corrected, printed), "Eq. 8 with |mu| of approaching pairs (D-3), or as printed") \
    CHOICE(limiter, "4", (off, 2, 4, 8),                                                                              \
           "steps=own: by which factor steps of neighbours may differ; the paper has none")                           \
    CHOICE(position_correction, "on", (on, off), "steps=own|global: at each change of step, section 5.2")             \
    CHOICE(velocity_prediction, "on", (on, off), "of velocities that viscosity sees, section 5.2")                    \
    CHOICE(neighbour_density, "summed", (summed, predicted),                                                          \
           "steps=own: of neighbours whose force is not due: summed again, or predicted by its rate")                 \
    REAL(skin, "", "0.1", 0, 10, 0, "steps=own|global: additional reach of neighbour lists, in h")
PBD_SETTINGS(desbrun_settings, PARAMS)

static const pbd_param params[] = {PBD_ROWS(PARAMS){0}};

typedef struct desbrun_sph {
    pbd_exec *exec;
    pbd_recorder *recorder;
    desbrun_settings set;
    size_t particles;
    sph_particles p;
    bool plane, forced, correct;
    uint32_t levels, limit; /* exponents of two; UINT32_MAX: no limit */
    double dt;              /* s: of the previous step; 0: none */
    double time;            /* s: at the start of this step */
    uint32_t finest;        /* finest level in use */
    double shortest;        /* s: the shortest step so far */
    neighbours near;
    bool met; /* lists were rebuilt since the last check of neighbours' steps */
    collider_poses walls;
    uint32_t *chosen, *active, *block; /* device */
} desbrun_sph;

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static size_t arrays_of(const desbrun_sph *s, device_array *row) {
    const size_t n = s->particles;
    const device_array rows[] = {HOST_SAVED(s->dt),
                                 HOST_SAVED(s->time),
                                 DEVICE_SAVED(s->p.x, 4 * n),
                                 DEVICE_SAVED(s->p.v, 4 * n),
                                 DEVICE_SAVED(s->p.a, 4 * n),
                                 DEVICE_SAVED(s->p.density, n),
                                 DEVICE_SAVED(s->p.rate, n),
                                 DEVICE_SAVED(s->p.bound, n),
                                 DEVICE_SAVED(s->p.level, n),
                                 DEVICE_SAVED(s->p.density_tick, n),
                                 DEVICE_ARRAY(s->p.u, 4 * n),
                                 DEVICE_ARRAY(s->p.b, 4 * n),
                                 DEVICE_ARRAY(s->p.load, s->forced ? 4 * n : 0),
                                 DEVICE_ARRAY(s->p.density_now, n),
                                 DEVICE_ARRAY(s->p.required, n),
                                 DEVICE_ARRAY(s->p.next, n),
                                 DEVICE_ARRAY(s->p.later, n),
                                 DEVICE_ARRAY(s->p.tick, n),
                                 DEVICE_ARRAY(s->chosen, n + 1),
                                 DEVICE_ARRAY(s->active, n),
                                 DEVICE_ARRAY(s->block, SPH_STEP_NUMBERS * (n / SPH_BLOCK + 1))};
    return DEVICE_ROWS(row, rows);
}

static void destroy(void *state) {
    desbrun_sph *s = state;
    device_array row[DEVICE_MOST_ARRAYS];
    if (!s) return;
    device_arrays_free(s->exec, row, arrays_of(s, row));
    neighbours_free(&s->near);
    collider_poses_free(&s->walls);
    free(s);
}

/* With dimensions=2 no particle may have a velocity, load or position out of the plane. */
static pbd_status check_plane(const pbd_scene *scene) {
    const double *start = scene_start(scene);
    if (scene->loads.gravity[2] != 0)
        return pbd_error(PBD_BAD_INPUT,
                         "desbrun_sph with dimensions=2 moves in the plane of x and y, and gravity is %g m/s^2 along z",
                         scene->loads.gravity[2]);
    for (size_t i = 0; i < scene->particles.count; i++) {
        const size_t z = 3 * i + 2;
        const bool flat = start[z] == start[2];
        const bool stays = (!scene->particles.velocities || scene->particles.velocities[z] == 0) &&
                           (!scene->loads.forces || scene->loads.forces[z] == 0);
        if (flat && stays) continue;
        return pbd_error(
            PBD_BAD_INPUT,
            "desbrun_sph with dimensions=2 moves in the plane of x and y: particle %zu %s: set dimensions=3", i,
            flat ? "moves or is pulled out of the plane" : "has a different z than the first");
    }
    return pbd_ok();
}

/* The default of rest_density: the density of Eq. 3 inside a square or cubic lattice of the scene's spacing, with its
 * mean mass. The interior of such a body is at rest; with mass over volume it would not be, since a particle counts
 * itself. */
static double lattice_density(const pbd_scene *scene, const sph_law *law, bool plane) {
    const int reach = (int)ceil((double)law->support / scene->particles.spacing), deep = plane ? 0 : reach;
    const double square = scene->particles.spacing * scene->particles.spacing;
    double mass = 0, sum = 0;
    for (size_t i = 0; i < scene->particles.count; i++)
        mass += scene->particles.masses[i] / (double)scene->particles.count;
    for (int z = -deep; z <= deep; z++)
        for (int y = -reach; y <= reach; y++)
            for (int x = -reach; x <= reach; x++) {
                const real at = (real)(square * (x * x + y * y + z * z));
                sum += (double)sph_kernel_scaled(law->kernel, law->sigma, law->per_square, at).w;
            }
    return mass * sum;
}

static sph_law law_of(const pbd_scene *scene, const desbrun_settings *set) {
    const double h = set->h * scene->particles.spacing;
    const bool plane = set->dimensions == dimensions_2, printed = set->criterion == criterion_printed;
    sph_law law = {.kernel = set->kernel == kernel_spiky ? SPH_SPIKY : SPH_CUBIC_SPLINE,
                   .support = (real)(2 * h),
                   .per_square = (real)(1 / (4 * h * h)),
                   .h = (real)h,
                   .k = (real)set->k,
                   .linear = (real)(set->viscosity * set->c),
                   .quadratic = (real)set->viscosity_quadratic,
                   .courant = (real)set->alpha,
                   .sound = (real)(printed ? set->c : fmax(set->c, sqrt(set->k))), /* D-2 */
                   .shear = (real)set->c,
                   .printed = printed};
    law.sigma = sph_kernel_factor(law.kernel, plane ? 2 : 3, law.support);
    law.rest = (real)(set->rest_density > 0 ? set->rest_density : lattice_density(scene, &law, plane));
    for (int d = 0; d < 3; d++) law.external[d] = (real)scene->loads.gravity[d];
    return law;
}

static pbd_status place_particles(desbrun_sph *s, const pbd_scene *scene) {
    const size_t n = s->particles, bytes = 4 * n * sizeof(real);
    pbd_arena a PBD_ARENA;
    real *x = pbd_new(&a, real, 4 * n), *v = pbd_new(&a, real, 4 * n), *load = pbd_new(&a, real, 4 * n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(scene_rows(scene, NULL, x, v, load));
    for (size_t i = 0; i < n; i++) x[4 * i + 3] = (real)scene->particles.masses[i];
    PBD_TRY(pbd_upload(s->exec, s->p.x, x, bytes));
    PBD_TRY(pbd_upload(s->exec, s->p.v, v, bytes));
    return s->p.load ? pbd_upload(s->exec, s->p.load, load, bytes) : pbd_ok();
}

/* ---- Forces ------------------------------------------------------------------------------------------------------ */

static pbd_status update_neighbours(desbrun_sph *s) {
    bool rebuilt;
    PBD_TRY(PBD_PHASE(s->recorder, "neighbour_search", neighbours_update(&s->near, s->p.x, &rebuilt)));
    if (!rebuilt) return pbd_ok();
    s->met = true;
    pbd_count(s->recorder, "neighbour_searches", 1);
    return pbd_ok();
}

/* The work of a pass over all lists; an upper bound for sph_choose_near_due, which stops early. */
static pbd_work work_of(const desbrun_sph *s) {
    return (pbd_work){.items = s->particles, .entries = (size_t)s->near.entries};
}

/* Sets the active particles of the lists to those of a level, with `near` also their neighbours. */
static pbd_status choose(desbrun_sph *s, uint32_t level, bool near, sph_lists *lists, size_t *count) {
    const size_t n = s->particles;
    const sph_due_args args = {s->near.first, s->near.list, s->p.level, s->chosen, s->active, level};
    uint64_t total;
    *lists = (sph_lists){.first = s->near.first, .list = s->near.list, .active = s->active};
    if (s->set.steps != steps_own) { /* all or none */
        lists->active = NULL;
        *count = level == s->finest ? n : 0;
        return pbd_ok();
    }
    PBD_TRY(near ? PBD_RUN(s->exec, sph_choose_near_due, n, work_of(s), &args)
                 : PBD_RUN(s->exec, sph_choose_due, n, &args));
    PBD_TRY(pbd_scan(s->exec, s->chosen, n, &total));
    *count = (size_t)total;
    if (*count == n) lists->active = NULL;
    return lists->active ? PBD_RUN(s->exec, sph_list_chosen, n, &args) : pbd_ok();
}

/* The work of the active particles. */
static pbd_status count_pairs(desbrun_sph *s, const sph_lists *lists, size_t count, pbd_work *work) {
    *work = (pbd_work){.items = count, .entries = count > 0 ? (size_t)s->near.entries : 0};
    if (!lists->active) {
        pbd_count(s->recorder, "pair_evaluations", s->near.entries);
        return pbd_ok();
    }
    const size_t blocks = (count + SPH_BLOCK - 1) / SPH_BLOCK;
    const sph_count_args args = {*lists, count, s->block};
    pbd_arena a PBD_ARENA;
    uint32_t *sums = pbd_new(&a, uint32_t, blocks);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(PBD_RUN(s->exec, sph_count_pairs, blocks, &args));
    PBD_TRY(pbd_download(s->exec, sums, s->block, blocks * sizeof *sums));
    work->entries = 0;
    for (size_t b = 0; b < blocks; b++) work->entries += sums[b];
    pbd_count(s->recorder, "pair_evaluations", work->entries);
    return pbd_ok();
}

static pbd_status sum_densities(desbrun_sph *s, uint32_t level) {
    sph_lists lists;
    size_t count;
    PBD_TRY(choose(s, level, s->set.neighbour_density == neighbour_density_summed, &lists, &count));
    const sph_pair_args args = {lists, s->p};
    pbd_work work;
    PBD_TRY(count_pairs(s, &lists, count, &work));
    pbd_count(s->recorder, "density_evaluations", count);
    return PBD_RUN(s->exec, sph_density, count, work, &args);
}

/* Computes the forces of the particles of `level`, which are then the active ones. */
static pbd_status find_forces(desbrun_sph *s, uint32_t level, sph_lists *lists, size_t *count) {
    PBD_TRY(choose(s, level, false, lists, count));
    const sph_pair_args args = {*lists, s->p};
    pbd_work work;
    PBD_TRY(count_pairs(s, lists, *count, &work));
    pbd_count(s->recorder, "force_evaluations", *count);
    return PBD_RUN(s->exec, sph_force, *count, work, &args);
}

static pbd_status predict_densities(desbrun_sph *s, uint32_t level, const sph_predict_args *predict) {
    PBD_TRY(PBD_RUN(s->exec, sph_predict, s->particles, predict));
    return sum_densities(s, level);
}

/* Computes the forces on the particles of `level` at tick `now`, the middle of their step, and applies their kick.
 * moves is false at creation, where there is no kick. */
static pbd_status evaluate(desbrun_sph *s, uint32_t level, uint32_t now, double dt, bool moves) {
    sph_lists lists;
    size_t count;
    PBD_TRY(choose(s, level, false, &lists, &count));
    if (count == 0) return pbd_ok();
    PBD_TRY(update_neighbours(s));
    const real unit = (real)(dt / (double)s->p.whole);
    const sph_predict_args predict = {s->p, now, unit, s->set.velocity_prediction == velocity_prediction_on};
    PBD_TRY(PBD_PHASE(s->recorder, "density", predict_densities(s, level, &predict)));
    PBD_TRY(PBD_PHASE(s->recorder, "force", find_forces(s, level, &lists, &count)));
    const sph_kick_args kick = {lists, s->p, now, unit, moves};
    return PBD_RUN(s->exec, sph_kick, count, &kick);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* The numbers of sph_check_levels, over all particles, for a change from the levels `from` to the levels `to`. */
static pbd_status check_levels(desbrun_sph *s, const uint32_t *from, const uint32_t *to,
                               uint32_t out[SPH_STEP_NUMBERS]) {
    const size_t blocks = (s->particles + SPH_BLOCK - 1) / SPH_BLOCK;
    const sph_check_args args = {from, s->p.required, to, s->particles, s->block};
    pbd_arena a PBD_ARENA;
    uint32_t *block = pbd_new(&a, uint32_t, SPH_STEP_NUMBERS * blocks);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(PBD_RUN(s->exec, sph_check_levels, blocks, &args));
    PBD_TRY(pbd_download(s->exec, block, s->block, SPH_STEP_NUMBERS * blocks * sizeof *block));
    memset(out, 0, SPH_STEP_NUMBERS * sizeof *out);
    for (size_t b = 0; b < blocks; b++)
        for (int k = 0; k < SPH_STEP_NUMBERS; k++) {
            const uint32_t value = block[SPH_STEP_NUMBERS * b + (size_t)k];
            if (k == SPH_FINEST || k == SPH_REQUIRED)
                out[k] = value > out[k] ? value : out[k];
            else
                out[k] += value;
        }
    return pbd_ok();
}

/* Repeats until no steps of neighbours differ by more than the limit. */
static pbd_status limit_until_settled(desbrun_sph *s, sph_steps_args *args, uint32_t look[SPH_STEP_NUMBERS]) {
    do {
        args->p = s->p;
        PBD_TRY(PBD_RUN(s->exec, sph_limit_levels, s->particles, work_of(s), args));
        PBD_TRY(check_levels(s, s->p.next, s->p.later, look));
        uint32_t *swapped = s->p.next;
        s->p.next = s->p.later;
        s->p.later = swapped;
        args->p = s->p;
        pbd_count(s->recorder, "limited_steps", look[SPH_FINER]);
    } while (look[SPH_FINER] > 0);
    return pbd_ok();
}

static pbd_status limit_steps(desbrun_sph *s, sph_steps_args *args, uint32_t look[SPH_STEP_NUMBERS]) {
    PBD_TRY(update_neighbours(s));
    s->met = false;
    args->first = s->near.first;
    args->list = s->near.list;
    return PBD_PHASE(s->recorder, "limiter", limit_until_settled(s, args, look));
}

static pbd_status check_required(desbrun_sph *s, const uint32_t look[SPH_STEP_NUMBERS], double dt) {
    if (look[SPH_NOT_FINITE] > 0)
        return pbd_error(PBD_DIVERGED, "%u particles have a non-finite velocity at %g s", look[SPH_NOT_FINITE],
                         s->time);
    s->shortest = fmin(s->shortest, ldexp(dt, -(int)look[SPH_FINEST]));
    if (s->set.steps == steps_fixed && look[SPH_TOO_COARSE] > 0)
        pbd_warning(s->recorder, "step_beyond_criterion",
                    "dt=%g s is beyond the criteria of %u particles at %g s: 2^%u steps would satisfy them", dt,
                    look[SPH_TOO_COARSE], s->time, look[SPH_REQUIRED]);
    if (s->set.steps != steps_fixed && look[SPH_FINEST] == s->levels && s->levels > 0)
        pbd_warning(s->recorder, "shortest_step",
                    "the criteria require dt/2^%u or less at %g s, but the limit is levels=%u", s->levels, s->time,
                    s->levels);
    return pbd_ok();
}

/* Chooses the next steps of particles whose step ends now. */
static pbd_status change_steps(desbrun_sph *s, uint32_t now, double dt) {
    uint32_t look[SPH_STEP_NUMBERS];
    sph_steps_args args = {.first = s->near.first,
                           .list = s->near.list,
                           .p = s->p,
                           .now = now,
                           .most = s->set.steps == steps_fixed ? MOST_LEVELS : s->levels,
                           .limit = s->limit,
                           .common = s->set.steps == steps_fixed ? 0 : -1,
                           .dt = (real)dt,
                           .old_dt = (real)(now == 0 ? s->dt : dt),
                           .correct = s->correct};
    PBD_TRY(PBD_RUN(s->exec, sph_choose_levels, s->particles, &args));
    PBD_TRY(check_levels(s, s->p.level, s->p.next, look));
    if (s->set.steps == steps_global && look[SPH_NOT_FINITE] == 0) {
        args.common = (int)(look[SPH_REQUIRED] < s->levels ? look[SPH_REQUIRED] : s->levels);
        PBD_TRY(PBD_RUN(s->exec, sph_choose_levels, s->particles, &args));
        PBD_TRY(check_levels(s, s->p.level, s->p.next, look));
    }
    PBD_TRY(check_required(s, look, dt));
    if (s->set.steps == steps_own && s->limit != UINT32_MAX && (s->met || look[SPH_CHANGED] > 0))
        PBD_TRY(limit_steps(s, &args, look));
    s->finest = look[SPH_FINEST];
    return PBD_RUN(s->exec, sph_change_levels, s->particles, &args);
}

static pbd_status drift(desbrun_sph *s, double from, double dt) {
    PBD_TRY(collider_poses_move(&s->walls, from, dt));
    const sph_drift_args args = {s->p, s->walls.device, s->walls.count, (real)dt, s->plane};
    return PBD_RUN(s->exec, sph_drift, s->particles, &args);
}

/* The level that is in the middle of its steps at tick `now`: a step of it has twice as many ticks as the largest power
 * of two that divides `now`. */
static uint32_t level_due(const desbrun_sph *s, uint32_t now) {
    uint32_t level = s->levels;
    for (uint32_t middle = 1; (now & middle) == 0; middle *= 2) level--;
    return level;
}

static void report(desbrun_sph *s) {
    pbd_count(s->recorder, "steps", 1);
    pbd_metric(s->recorder, "shortest_step", "s", PBD_STATE, s->shortest);
    pbd_metric(s->recorder, "neighbours_per_particle", "1", PBD_STATE, (double)s->near.entries / (double)s->particles);
}

static pbd_status step(void *state, double dt) {
    desbrun_sph *s = state;
    s->met = true;
    s->near.grid.builds = 0; /* forces new lists: results depend only on the saved state */
    PBD_TRY(change_steps(s, 0, dt));
    s->dt = dt;
    for (uint32_t now = 0; now < s->p.whole;) {
        const uint32_t half = s->p.whole >> (s->finest + 1); /* of the smallest step in use */
        PBD_TRY(drift(s, s->time + dt * now / s->p.whole, dt * half / s->p.whole));
        now += half;
        if (now == s->p.whole) break;
        PBD_TRY(evaluate(s, level_due(s, now), now, dt, true));
        if (now % (2 * half) == 0) PBD_TRY(change_steps(s, now, dt));
        pbd_count(s->recorder, "force_times", 1);
    }
    s->time += dt;
    report(s);
    return pbd_ok();
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* Coincident particles are separated along x. This is reported, since the direction is arbitrary. */
static pbd_status warn_of_coincident(desbrun_sph *s, const pbd_scene *scene) {
    const size_t n = s->particles;
    const double *start = scene_start(scene);
    pbd_arena a PBD_ARENA;
    uint32_t *first = pbd_new(&a, uint32_t, n + 1), *list = pbd_new(&a, uint32_t, s->near.entries);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(s->exec, first, s->near.first, (n + 1) * sizeof *first));
    PBD_TRY(pbd_download(s->exec, list, s->near.list, s->near.entries * sizeof *list));
    size_t pairs = 0, i_first = 0, j_first = 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t at = first[i]; at < first[i + 1]; at++) {
            const size_t j = list[at];
            if (j >= i || memcmp(start + 3 * i, start + 3 * j, 3 * sizeof *start) != 0) continue;
            if (pairs++ == 0) i_first = i, j_first = j;
        }
    if (pairs > 0)
        pbd_warning(
            s->recorder, "coincident_particles",
            "%zu pairs of particles start at the same position, the first %zu and %zu: they are separated along x",
            pairs, j_first, i_first);
    return pbd_ok();
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    device_array row[DEVICE_MOST_ARRAYS];
    desbrun_sph *s = *state = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for desbrun_sph");
    const desbrun_settings set = desbrun_settings_read(values);
    const bool fixed = set.steps == steps_fixed;
    *s = (desbrun_sph){.exec = exec,
                       .recorder = recorder,
                       .set = set,
                       .particles = scene->particles.count,
                       .plane = set.dimensions == dimensions_2,
                       .forced = scene_has_forces(scene),
                       .correct = set.position_correction == position_correction_on,
                       .levels = fixed ? 0 : (uint32_t)set.levels,
                       .limit = set.limiter == limiter_off ? UINT32_MAX : (uint32_t)set.limiter,
                       .shortest = INFINITY};
    s->p.whole = 2u << s->levels;
    if (!(scene->particles.spacing > 0))
        return pbd_error(PBD_BAD_INPUT, "desbrun_sph measures h in spacings, and the scene has none");
    PBD_TRY(scene_check_particles(scene));
    if (s->plane) PBD_TRY(check_plane(scene));
    s->p.law = law_of(scene, &set);
    PBD_TRY(device_arrays_allocate(exec, row, arrays_of(s, row)));
    PBD_TRY(place_particles(s, scene));
    PBD_TRY(collider_poses_create(&s->walls, scene, exec, recorder));
    PBD_TRY(neighbours_create(&s->near, exec, s->particles, NULL, (double)s->p.law.support,
                              fixed ? 0 : set.skin * (double)s->p.law.h));
    PBD_TRY(evaluate(s, 0, s->p.whole, 0, false)); /* all particles have level 0 yet */
    pbd_count(recorder, "particles", s->particles);
    return warn_of_coincident(s, scene);
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

/* Reported positions exclude the lead at the start of a step. */
static void true_positions(const desbrun_sph *s, const real *x, const real *a, const uint32_t *level, double *out) {
    for (size_t i = 0; i < 3 * s->particles; i++) {
        const size_t p = i / 3, at = 4 * p + i % 3;
        const double own = ldexp(s->dt, -(int)level[p]), ahead = s->correct ? own * own / 8 * (double)a[at] : 0;
        out[i] = (double)x[at] - ahead;
    }
}

/* Sum of m k (ln(rho/rho0) + rho0/rho - 1), J, whose negative gradient is the force of Eq. 7. Densities are
 * extrapolated from the middle of each particle's last step to its end. */
static pbd_status internal_energy(const desbrun_sph *s, double *out) {
    const size_t n = s->particles, bytes = n * sizeof(real);
    const double per_tick = s->dt / (double)s->p.whole;
    pbd_arena arena PBD_ARENA;
    real *x = pbd_new(&arena, real, 4 * n), *density = pbd_new(&arena, real, n), *rate = pbd_new(&arena, real, n);
    uint32_t *tick = pbd_new(&arena, uint32_t, n);
    PBD_TRY(pbd_arena_check(&arena));
    PBD_TRY(pbd_download(s->exec, x, s->p.x, 4 * bytes));
    PBD_TRY(pbd_download(s->exec, density, s->p.density, bytes));
    PBD_TRY(pbd_download(s->exec, rate, s->p.rate, bytes));
    PBD_TRY(pbd_download(s->exec, tick, s->p.density_tick, n * sizeof *tick));
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        const real age = (real)(per_tick * ((double)s->p.whole - (double)tick[i]));
        const double ratio = (double)sph_later_density(density[i], rate[i], age) / (double)s->p.law.rest;
        *out += (double)x[4 * i + 3] * (double)s->p.law.k * (log(ratio) + 1 / ratio - 1);
    }
    return pbd_ok();
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const desbrun_sph *s = state;
    const size_t n = s->particles, bytes = 4 * n * sizeof(real);
    if (field == PBD_VELOCITIES) return device_rows_read(s->exec, s->p.v, n, 4, 3, NULL, NULL, out);
    if (field == PBD_INTERNAL_ENERGY) return internal_energy(s, out);
    if (field != PBD_POSITIONS)
        return pbd_error(PBD_NOT_SUPPORTED, "desbrun_sph has positions, velocities and an internal energy only");
    pbd_arena arena PBD_ARENA;
    real *x = pbd_new(&arena, real, 4 * n), *a = pbd_new(&arena, real, 4 * n);
    uint32_t *level = pbd_new(&arena, uint32_t, n);
    PBD_TRY(pbd_arena_check(&arena));
    PBD_TRY(pbd_download(s->exec, x, s->p.x, bytes));
    PBD_TRY(pbd_download(s->exec, a, s->p.a, bytes));
    PBD_TRY(pbd_download(s->exec, level, s->p.level, n * sizeof *level));
    true_positions(s, x, a, level, out);
    return pbd_ok();
}

/* Neighbour lists and predicted values are recomputed. */
DEVICE_SAVING(desbrun_sph, s->exec, arrays_of, pbd_ok())

const pbd_method PBD_NAME(desbrun_sph) = {
    .bytes = sizeof(pbd_method),
    .name = "desbrun_sph",
    .summary = "smoothed particles: pressure, cohesion, viscosity; individual time steps",
    .source = "desbrun1996 Eqs. 3 to 10 (corrections D-1 to D-7)",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_START | PBD_TAKES_COLLIDERS,
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
