/* desbrun_sph: smoothed particles with pressure, cohesion and artificial viscosity, by leapfrog with steps of each
 * particle's own (desbrun1996). README.md has the equations and what differs from print.
 *
 * A step of the scene, `dt`, is `whole` ticks, a power of two. A particle of level n has steps of dt/2^n; everyone is
 * moved at every half of the smallest step in use, and only those in the middle of their own step then have their
 * density and force evaluated. Where a step ends a particle may change to another. */
#include "methods/desbrun_sph/desbrun_sph_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/device/device_state.h"
#include "methods/physics/space/neighbours.h"
#include "methods/physics/surface/colliders.h"

enum { STEPS_OWN, STEPS_GLOBAL, STEPS_FIXED };
enum { MOST_LEVELS = 20, LIMIT_OFF = 0 };

static const char *const kernel_names[] = {"spiky", "cubic_spline", NULL};
static const sph_kernel kernels[] = {SPH_SPIKY, SPH_CUBIC_SPLINE};
static const char *const step_names[] = {"own", "global", "fixed", NULL};
static const char *const criteria[] = {"corrected", "printed", NULL};
static const char *const limits[] = {"off", "2", "4", "8", NULL};
static const char *const switches[] = {"on", "off", NULL};
static const char *const densities[] = {"summed", "predicted", NULL};
static const char *const dimension_names[] = {"2", "3", NULL};

static const pbd_param params[] = {
    {"dimensions", "", PBD_CHOICE, "3", 0, 0, 0, dimension_names, "2: a plane, the same z for all particles"},
    {"h", "", PBD_REAL, "1", 0, 100, PBD_OPEN_MIN, NULL, "smoothing length, in spacings; the support is 2h"},
    {"kernel", "", PBD_CHOICE, "spiky", 0, 0, 0, kernel_names, "the paper's kernel, or the spline that it replaces"},
    {"k", "m^2/s^2", PBD_REAL, "10", 0, 1e12, 0, NULL, "stiffness: P = k (density - rest_density)"},
    {"c", "m/s", PBD_REAL, "2", 0, 1e6, 0, NULL, "speed of sound in viscosity and in Eq. 8"},
    {"rest_density", "kg/m^3", PBD_REAL, "0", 0, 1e9, 0, NULL,
     "of Eq. 6 (kg/m^2 in the plane); 0: what Eq. 3 gives inside a square or cubic lattice"},
    {"viscosity", "", PBD_REAL, "1", 0, 1e6, 0, NULL, "times c in Eq. 5's first term"},
    {"viscosity_quadratic", "", PBD_REAL, "2", 0, 1e6, 0, NULL, "of Eq. 5's second term"},
    {"steps", "", PBD_CHOICE, "own", 0, 0, 0, step_names, "one per particle, one for all by the criteria, or dt"},
    {"dt", "s", PBD_REAL, "0.01", 0, 1e3, PBD_OPEN_MIN, NULL, "the longest step; steps=fixed: the step"},
    {"levels", "", PBD_INTEGER, "12", 0, MOST_LEVELS, 0, NULL, "steps may be 2^levels times shorter than dt"},
    {"alpha", "", PBD_REAL, "0.3", 0, 100, PBD_OPEN_MIN, NULL, "Courant number"},
    {"criterion", "", PBD_CHOICE, "corrected", 0, 0, 0, criteria,
     "Eq. 8 with |mu| of approaching pairs (D-3), or as printed"},
    {"limiter", "", PBD_CHOICE, "4", 0, 0, 0, limits,
     "steps=own: by which factor steps of neighbours may differ; the paper has none"},
    {"position_correction", "", PBD_CHOICE, "on", 0, 0, 0, switches, "at each change of step, section 5.2"},
    {"velocity_prediction", "", PBD_CHOICE, "on", 0, 0, 0, switches, "of velocities that viscosity sees, section 5.2"},
    {"neighbour_density", "", PBD_CHOICE, "summed", 0, 0, 0, densities,
     "of neighbours whose force is not due: summed again, or predicted by its rate"},
    {"skin", "", PBD_REAL, "0.1", 0, 10, 0, NULL, "additional reach of neighbour lists, in h; steps=fixed: 0"},
    {0}};

typedef struct desbrun_sph {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles;
    sph_law law;
    bool plane, predict, correct, sum_densities;
    int steps;
    uint32_t levels, limit; /* powers of two; UINT32_MAX: no limit */
    double dt;              /* s: of the step before this; 0: there was none */
    double time;            /* s: where this step began */
    uint32_t whole;         /* ticks of a step */
    uint32_t finest;        /* level in use */
    double shortest;        /* s: the shortest step so far */
    uint64_t advanced;      /* steps of the scene */
    neighbours near;
    bool met; /* lists are newer than the last look at neighbours' steps */
    collider_poses walls;
    /* Device, by particle; rows of four. */
    real *x, *v, *a; /* place and mass; velocity, and 1 or (held) 0; acceleration, and mu of Eq. 8 */
    real *u, *b;     /* velocity now, P/rho^2; the acceleration that comes */
    real *density, *rate, *density_now, *bound;
    real *load; /* rows: accelerations by the scene's forces; NULL: there are none */
    uint32_t *level, *wish, *next, *later, *tick, *density_tick, *chosen, *active, *block;
} desbrun_sph;

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static void destroy(void *state) {
    desbrun_sph *s = state;
    if (!s) return;
    void *device[] = {s->x,     s->v,      s->a,    s->u,    s->b,     s->density, s->rate,         s->density_now,
                      s->bound, s->level,  s->wish, s->next, s->later, s->tick,    s->density_tick, s->chosen,
                      s->load,  s->active, s->block};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(s->exec, device[i]);
    neighbours_free(&s->near);
    collider_poses_free(&s->walls);
    free(s);
}

/* In the plane nothing may want to leave it. */
static pbd_status check_plane(const pbd_scene *scene) {
    const double *start = scene->particles.start ? scene->particles.start : scene->particles.positions;
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

static pbd_status check_particles(const pbd_scene *scene) {
    const double *start = scene->particles.start ? scene->particles.start : scene->particles.positions;
    if (!(scene->particles.spacing > 0))
        return pbd_error(PBD_BAD_INPUT, "desbrun_sph measures h in spacings, and the scene has none");
    for (size_t i = 0; i < scene->particles.count; i++) {
        if (!(scene->particles.masses[i] > 0 && isfinite(scene->particles.masses[i])))
            return pbd_error(PBD_BAD_INPUT, "desbrun_sph: particle %zu has the mass %g kg: must be above 0", i,
                             scene->particles.masses[i]);
        for (size_t d = 0; d < 3; d++)
            if (!isfinite(start[3 * i + d]))
                return pbd_error(PBD_BAD_INPUT, "desbrun_sph: particle %zu starts at %g m along axis %zu", i,
                                 start[3 * i + d], d);
    }
    return pbd_ok();
}

/* Of Eq. 6, where nothing is asked for: what Eq. 3 gives inside a square or cubic lattice of the scene's spacing, with
 * its mean mass. Such a body is at rest inside; with the mass over its volume it would not be, since a particle counts
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

static sph_law law_of(const pbd_scene *scene, const pbd_values *values, bool plane) {
    const double h = pbd_real(values, "h") * scene->particles.spacing, k = pbd_real(values, "k"),
                 c = pbd_real(values, "c");
    const double given = pbd_real(values, "rest_density");
    const bool printed = pbd_choice(values, "criterion") == 1;
    sph_law law = {.kernel = kernels[pbd_choice(values, "kernel")],
                   .support = (real)(2 * h),
                   .per_square = (real)(1 / (4 * h * h)),
                   .h = (real)h,
                   .k = (real)k,
                   .linear = (real)(pbd_real(values, "viscosity") * c),
                   .quadratic = (real)pbd_real(values, "viscosity_quadratic"),
                   .courant = (real)pbd_real(values, "alpha"),
                   .sound = (real)(printed ? c : fmax(c, sqrt(k))), /* D-2 */
                   .shear = (real)c,
                   .printed = printed};
    law.sigma = sph_kernel_factor(law.kernel, plane ? 2 : 3, law.support);
    law.rest = (real)(given > 0 ? given : lattice_density(scene, &law, plane));
    for (int d = 0; d < 3; d++) law.external[d] = (real)scene->loads.gravity[d];
    return law;
}

static pbd_status allocate(desbrun_sph *s) {
    const size_t n = s->particles, blocks = n / SPH_BLOCK + 1;
    real **rows[] = {&s->x, &s->v, &s->a, &s->u, &s->b},
         **reals[] = {&s->density, &s->rate, &s->density_now, &s->bound};
    uint32_t **numbers[] = {&s->level, &s->wish,         &s->next,   &s->later,
                            &s->tick,  &s->density_tick, &s->chosen, &s->active};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        PBD_TRY(pbd_alloc(s->exec, 4 * n * sizeof(real), (void **)rows[i]));
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        PBD_TRY(pbd_alloc(s->exec, n * sizeof(real), (void **)reals[i]));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        PBD_TRY(pbd_alloc(s->exec, (n + 1) * sizeof(uint32_t), (void **)numbers[i]));
    return pbd_alloc(s->exec, SPH_LOOKS * blocks * sizeof *s->block, (void **)&s->block);
}

static void fill_rows(const pbd_scene *scene, real *x, real *v) {
    const double *start = scene->particles.start ? scene->particles.start : scene->particles.positions;
    for (size_t i = 0; i < scene->particles.count; i++) {
        for (size_t d = 0; d < 3; d++) {
            x[4 * i + d] = (real)start[3 * i + d];
            v[4 * i + d] = scene->particles.velocities ? (real)scene->particles.velocities[3 * i + d] : 0;
        }
        x[4 * i + 3] = (real)scene->particles.masses[i];
        v[4 * i + 3] = 1;
    }
    for (size_t f = 0; f < scene->particles.fixed; f++)
        for (size_t d = 0; d < 4; d++) v[4 * scene->particles.fixed_particle[f] + d] = 0;
}

static pbd_status place_particles(desbrun_sph *s, const pbd_scene *scene) {
    const size_t n = s->particles;
    real *rows = calloc(8 * n + 1, sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    fill_rows(scene, rows, rows + 4 * n);
    pbd_status status = pbd_upload(s->exec, s->x, rows, 4 * n * sizeof *rows);
    if (status.code == PBD_OK) status = pbd_upload(s->exec, s->v, rows + 4 * n, 4 * n * sizeof *rows);
    free(rows);
    return status;
}

static pbd_status place_loads(desbrun_sph *s, const pbd_scene *scene) {
    const size_t n = s->particles;
    bool any = false;
    for (size_t i = 0; scene->loads.forces && i < 3 * n && !any; i++) any = scene->loads.forces[i] != 0;
    if (!any) return pbd_ok();
    real *rows = calloc(4 * n + 1, sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for the loads of %zu particles", n);
    for (size_t i = 0; i < 3 * n; i++)
        rows[4 * (i / 3) + i % 3] = (real)(scene->loads.forces[i] / scene->particles.masses[i / 3]);
    pbd_status status = pbd_alloc(s->exec, 4 * n * sizeof *rows, (void **)&s->load);
    if (status.code == PBD_OK) status = pbd_upload(s->exec, s->load, rows, 4 * n * sizeof *rows);
    free(rows);
    return status;
}

/* ---- Forces ------------------------------------------------------------------------------------------------------ */

static pbd_status update_neighbours(desbrun_sph *s) {
    bool rebuilt;
    pbd_phase_begin(s->recorder, "neighbour_search");
    const pbd_status status = neighbours_update(&s->near, s->x, &rebuilt);
    pbd_phase_end(s->recorder);
    if (status.code != PBD_OK || !rebuilt) return status;
    s->met = true;
    pbd_count(s->recorder, "neighbour_searches", 1);
    return status;
}

/* Of a walk over all lists. One that ends early (sph_choose_near_due) does less. */
static pbd_work work_of(const desbrun_sph *s) { return (pbd_work){s->particles, (size_t)s->near.entries}; }

/* Those of a level (near: and their neighbours) as the lists' active ones. */
static pbd_status choose(desbrun_sph *s, uint32_t level, bool near, sph_lists *lists, size_t *count) {
    const size_t n = s->particles;
    const sph_due_args args = {s->near.first, s->near.list, s->level, s->chosen, s->active, level};
    uint64_t total;
    *lists = (sph_lists){.first = s->near.first, .list = s->near.list, .active = s->active};
    if (s->steps != STEPS_OWN) { /* all or none */
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

/* The work of those that are active. */
static pbd_status count_pairs(desbrun_sph *s, const sph_lists *lists, size_t count, pbd_work *work) {
    *work = (pbd_work){count, count > 0 ? (size_t)s->near.entries : 0};
    if (!lists->active) {
        pbd_count(s->recorder, "pair_evaluations", s->near.entries);
        return pbd_ok();
    }
    const size_t blocks = (count + SPH_BLOCK - 1) / SPH_BLOCK;
    const sph_count_args args = {*lists, count, s->block};
    uint32_t *sums = malloc((blocks + 1) * sizeof *sums);
    uint64_t total = 0;
    if (!sums) return pbd_error(PBD_FAILED, "out of memory for %zu blocks of particles", blocks);
    pbd_status status = PBD_RUN(s->exec, sph_count_pairs, blocks, &args);
    if (status.code == PBD_OK) status = pbd_download(s->exec, sums, s->block, blocks * sizeof *sums);
    for (size_t b = 0; b < blocks && status.code == PBD_OK; b++) total += sums[b];
    free(sums);
    pbd_count(s->recorder, "pair_evaluations", total);
    work->entries = (size_t)total;
    return status;
}

static pbd_status sum_densities(desbrun_sph *s, uint32_t level) {
    sph_lists lists;
    size_t count;
    PBD_TRY(choose(s, level, s->sum_densities, &lists, &count));
    const sph_density_args args = {lists, s->x, s->density_now, s->u, s->law};
    pbd_work work;
    PBD_TRY(count_pairs(s, &lists, count, &work));
    pbd_count(s->recorder, "density_evaluations", count);
    return PBD_RUN(s->exec, sph_density, count, work, &args);
}

static pbd_status find_forces(desbrun_sph *s, const sph_lists *lists, size_t count) {
    const sph_force_args args = {*lists, s->x, s->v, s->u, s->density_now, s->load, s->b, s->rate, s->law};
    pbd_work work;
    PBD_TRY(count_pairs(s, lists, count, &work));
    pbd_count(s->recorder, "force_evaluations", count);
    return PBD_RUN(s->exec, sph_force, count, work, &args);
}

/* Forces of those of `level` at tick `now`, who are in the middle of their step, and their kick. moves false: at the
 * very start, where there is none. */
static pbd_status evaluate(desbrun_sph *s, uint32_t level, uint32_t now, double dt, bool moves) {
    sph_lists lists;
    size_t count;
    PBD_TRY(choose(s, level, false, &lists, &count));
    if (count == 0) return pbd_ok();
    PBD_TRY(update_neighbours(s));
    const real unit = (real)(dt / (double)s->whole);
    const sph_predict_args predict = {.v = s->v,
                                      .a = s->a,
                                      .density = s->density,
                                      .rate = s->rate,
                                      .tick = s->tick,
                                      .density_tick = s->density_tick,
                                      .u = s->u,
                                      .density_now = s->density_now,
                                      .law = s->law,
                                      .now = now,
                                      .unit = unit,
                                      .predict = s->predict};
    pbd_phase_begin(s->recorder, "density");
    pbd_status status = PBD_RUN(s->exec, sph_predict, s->particles, &predict);
    if (status.code == PBD_OK) status = sum_densities(s, level);
    pbd_phase_end(s->recorder);
    PBD_TRY(status);
    pbd_phase_begin(s->recorder, "force");
    status = choose(s, level, false, &lists, &count);
    if (status.code == PBD_OK) status = find_forces(s, &lists, count);
    pbd_phase_end(s->recorder);
    PBD_TRY(status);
    const sph_kick_args kick = {.lists = lists,
                                .b = s->b,
                                .density_now = s->density_now,
                                .v = s->v,
                                .a = s->a,
                                .density = s->density,
                                .bound = s->bound,
                                .tick = s->tick,
                                .density_tick = s->density_tick,
                                .level = s->level,
                                .law = s->law,
                                .now = now,
                                .whole = s->whole,
                                .unit = unit,
                                .moves = moves};
    return PBD_RUN(s->exec, sph_kick, count, &kick);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Of a change from the levels `from` to the levels `to`. */
static pbd_status look_at_steps(desbrun_sph *s, const uint32_t *from, const uint32_t *to, uint32_t out[SPH_LOOKS]) {
    const size_t blocks = (s->particles + SPH_BLOCK - 1) / SPH_BLOCK;
    const sph_look_args args = {from, s->wish, to, s->particles, s->block};
    uint32_t *block = malloc((SPH_LOOKS * blocks + 1) * sizeof *block);
    if (!block) return pbd_error(PBD_FAILED, "out of memory for %zu blocks of particles", blocks);
    pbd_status status = PBD_RUN(s->exec, sph_look_at_steps, blocks, &args);
    if (status.code == PBD_OK) status = pbd_download(s->exec, block, s->block, SPH_LOOKS * blocks * sizeof *block);
    memset(out, 0, SPH_LOOKS * sizeof *out);
    for (size_t b = 0; b < blocks && status.code == PBD_OK; b++)
        for (int k = 0; k < SPH_LOOKS; k++) {
            const uint32_t value = block[SPH_LOOKS * b + (size_t)k];
            if (k == SPH_FINEST || k == SPH_WISHED)
                out[k] = value > out[k] ? value : out[k];
            else
                out[k] += value;
        }
    free(block);
    return status;
}

/* Until no neighbours differ by more than they may. */
static pbd_status limit_steps(desbrun_sph *s, sph_steps_args *args, uint32_t look[SPH_LOOKS]) {
    PBD_TRY(update_neighbours(s));
    s->met = false;
    args->first = s->near.first;
    args->list = s->near.list;
    pbd_phase_begin(s->recorder, "limiter");
    pbd_status status = pbd_ok();
    do {
        args->later = s->later;
        status = PBD_RUN(s->exec, sph_limit_steps, s->particles, work_of(s), args);
        if (status.code == PBD_OK) status = look_at_steps(s, s->next, s->later, look);
        uint32_t *swapped = s->next;
        args->next = s->next = s->later;
        s->later = swapped;
        pbd_count(s->recorder, "limited_steps", look[SPH_FINER]);
    } while (status.code == PBD_OK && look[SPH_FINER] > 0);
    pbd_phase_end(s->recorder);
    return status;
}

static pbd_status check_wishes(desbrun_sph *s, const uint32_t look[SPH_LOOKS], double dt) {
    if (look[SPH_NOWHERE] > 0)
        return pbd_error(PBD_DIVERGED, "%u particles have a non-finite velocity at %g s", look[SPH_NOWHERE], s->time);
    s->shortest = fmin(s->shortest, ldexp(dt, -(int)look[SPH_FINEST]));
    if (s->steps == STEPS_FIXED && look[SPH_TOO_COARSE] > 0)
        pbd_warning(s->recorder, "step_beyond_criterion",
                    "dt=%g s is beyond the criteria of %u particles at %g s: 2^%u steps would satisfy them", dt,
                    look[SPH_TOO_COARSE], s->time, look[SPH_WISHED]);
    if (s->steps != STEPS_FIXED && look[SPH_FINEST] == s->levels && s->levels > 0)
        pbd_warning(s->recorder, "shortest_step",
                    "the criteria require dt/2^%u or less at %g s, but the limit is levels=%u", s->levels, s->time,
                    s->levels);
    return pbd_ok();
}

/* Those whose step ends now choose the next one. */
static pbd_status change_steps(desbrun_sph *s, uint32_t now, double dt) {
    uint32_t look[SPH_LOOKS];
    sph_steps_args args = {.first = s->near.first,
                           .list = s->near.list,
                           .bound = s->bound,
                           .level = s->level,
                           .wish = s->wish,
                           .next = s->next,
                           .later = s->later,
                           .x = s->x,
                           .v = s->v,
                           .density = s->density,
                           .a = s->a,
                           .rate = s->rate,
                           .tick = s->tick,
                           .density_tick = s->density_tick,
                           .now = now,
                           .whole = s->whole,
                           .most = s->steps == STEPS_FIXED ? MOST_LEVELS : s->levels,
                           .limit = s->limit,
                           .common = s->steps == STEPS_FIXED ? 0 : -1,
                           .dt = (real)dt,
                           .old_dt = (real)(now == 0 ? s->dt : dt),
                           .correct = s->correct};
    PBD_TRY(PBD_RUN(s->exec, sph_wish_steps, s->particles, &args));
    PBD_TRY(look_at_steps(s, s->level, s->next, look));
    if (s->steps == STEPS_GLOBAL && look[SPH_NOWHERE] == 0) {
        args.common = (int)(look[SPH_WISHED] < s->levels ? look[SPH_WISHED] : s->levels);
        PBD_TRY(PBD_RUN(s->exec, sph_wish_steps, s->particles, &args));
        PBD_TRY(look_at_steps(s, s->level, s->next, look));
    }
    PBD_TRY(check_wishes(s, look, dt));
    if (s->steps == STEPS_OWN && s->limit != UINT32_MAX && (s->met || look[SPH_CHANGED] > 0))
        PBD_TRY(limit_steps(s, &args, look));
    s->finest = look[SPH_FINEST];
    return PBD_RUN(s->exec, sph_change_steps, s->particles, &args);
}

static pbd_status drift(desbrun_sph *s, double from, double dt) {
    PBD_TRY(collider_poses_move(&s->walls, from, dt));
    const sph_drift_args args = {s->x, s->v, s->a, s->walls.device, s->walls.count, (real)dt, s->plane};
    return PBD_RUN(s->exec, sph_drift, s->particles, &args);
}

/* Which level is in the middle of its steps at tick `now`: its ticks between middles are twice the largest power of two
 * in `now`. */
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
    s->near.grid.builds = 0; /* lists are made anew: what comes depends on what is saved alone */
    PBD_TRY(change_steps(s, 0, dt));
    s->dt = dt;
    for (uint32_t now = 0; now < s->whole;) {
        const uint32_t half = s->whole >> (s->finest + 1); /* of the smallest step in use */
        PBD_TRY(drift(s, s->time + dt * now / s->whole, dt * half / s->whole));
        now += half;
        if (now == s->whole) break;
        PBD_TRY(evaluate(s, level_due(s, now), now, dt, true));
        if (now % (2 * half) == 0) PBD_TRY(change_steps(s, now, dt));
        pbd_count(s->recorder, "force_times", 1);
    }
    s->time += dt;
    s->advanced++;
    report(s);
    return pbd_ok();
}

/* ---- Creation, once all of the above is known -------------------------------------------------------------------- */

/* Particles at one place are pushed apart along x; said, since nothing tells where they belong. */
static pbd_status warn_of_coincident(desbrun_sph *s, const pbd_scene *scene) {
    const size_t n = s->particles;
    const double *start = scene->particles.start ? scene->particles.start : scene->particles.positions;
    uint32_t *first = malloc((n + 1) * sizeof *first), *list = malloc((s->near.entries + 1) * sizeof *list);
    pbd_status status =
        first && list ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for the lists of %zu particles", n);
    if (status.code == PBD_OK) status = pbd_download(s->exec, first, s->near.first, (n + 1) * sizeof *first);
    if (status.code == PBD_OK) status = pbd_download(s->exec, list, s->near.list, s->near.entries * sizeof *list);
    size_t pairs = 0, i_first = 0, j_first = 0;
    for (size_t i = 0; i < n && status.code == PBD_OK; i++)
        for (uint32_t at = first[i]; at < first[i + 1]; at++) {
            const size_t j = list[at];
            if (j >= i || memcmp(start + 3 * i, start + 3 * j, 3 * sizeof *start) != 0) continue;
            if (pairs++ == 0) i_first = i, j_first = j;
        }
    free(first);
    free(list);
    if (pairs > 0)
        pbd_warning(
            s->recorder, "coincident_particles",
            "%zu pairs of particles start at the same position, the first %zu and %zu: they are separated along x",
            pairs, j_first, i_first);
    return status;
}

static pbd_status fill(desbrun_sph *s, const pbd_scene *scene, const pbd_values *values, pbd_exec *exec,
                       pbd_recorder *recorder) {
    *s = (desbrun_sph){.exec = exec, .recorder = recorder, .particles = scene->particles.count, .shortest = INFINITY};
    s->plane = pbd_choice(values, "dimensions") == 0;
    PBD_TRY(check_particles(scene));
    if (s->plane) PBD_TRY(check_plane(scene));
    s->law = law_of(scene, values, s->plane);
    s->steps = pbd_choice(values, "steps");
    s->levels = s->steps == STEPS_FIXED ? 0 : (uint32_t)pbd_integer(values, "levels");
    s->whole = 2u << s->levels;
    const int limit = pbd_choice(values, "limiter");
    s->limit = limit == LIMIT_OFF ? UINT32_MAX : (uint32_t)limit;
    s->correct = pbd_choice(values, "position_correction") == 0;
    s->predict = pbd_choice(values, "velocity_prediction") == 0;
    s->sum_densities = pbd_choice(values, "neighbour_density") == 0;
    PBD_TRY(allocate(s));
    PBD_TRY(place_particles(s, scene));
    PBD_TRY(place_loads(s, scene));
    PBD_TRY(collider_poses_create(&s->walls, scene, s->exec, s->recorder));
    const double skin = s->steps == STEPS_FIXED ? 0 : pbd_real(values, "skin") * (double)s->law.h;
    PBD_TRY(neighbours_create(&s->near, exec, s->particles, NULL, (double)s->law.support, skin));
    PBD_TRY(evaluate(s, 0, s->whole, 0, false)); /* all are of level 0 yet */
    pbd_count(recorder, "particles", s->particles);
    return warn_of_coincident(s, scene);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    desbrun_sph *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for desbrun_sph");
    const pbd_status status = fill(s, scene, values, exec, recorder);
    if (status.code != PBD_OK)
        destroy(s);
    else
        *state = s;
    return status;
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

/* Positions are reported without the amount by which they lead at the start of a step. */
static void true_positions(const desbrun_sph *s, const real *x, const real *a, const uint32_t *level, double *out) {
    for (size_t i = 0; i < 3 * s->particles; i++) {
        const size_t p = i / 3, at = 4 * p + i % 3;
        const double own = ldexp(s->dt, -(int)level[p]), ahead = s->correct ? own * own / 8 * (double)a[at] : 0;
        out[i] = (double)x[at] - ahead;
    }
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const desbrun_sph *s = state;
    const size_t n = s->particles, bytes = 4 * n * sizeof(real);
    if (field != PBD_POSITIONS && field != PBD_VELOCITIES)
        return pbd_error(PBD_NOT_SUPPORTED, "desbrun_sph has positions and velocities only");
    real *rows = malloc(2 * bytes + 1);
    uint32_t *level = malloc((n + 1) * sizeof *level);
    pbd_status status = rows && level ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for reading %zu particles", n);
    if (status.code == PBD_OK) status = pbd_download(s->exec, rows, field == PBD_POSITIONS ? s->x : s->v, bytes);
    if (status.code == PBD_OK) status = pbd_download(s->exec, rows + 4 * n, s->a, bytes);
    if (status.code == PBD_OK) status = pbd_download(s->exec, level, s->level, n * sizeof *level);
    if (status.code == PBD_OK && field == PBD_POSITIONS) true_positions(s, rows, rows + 4 * n, level, out);
    for (size_t i = 0; i < 3 * n && field == PBD_VELOCITIES && status.code == PBD_OK; i++)
        out[i] = (double)rows[4 * (i / 3) + i % 3];
    free(rows);
    free(level);
    return status;
}

/* All that a step starts from; lists and what is predicted are made again. */
enum { PARTS = 8 };

static void parts_of(const desbrun_sph *s, device_part out[PARTS]) {
    const size_t n = s->particles, row = 4 * n * sizeof(real), column = n * sizeof(real), number = n * sizeof(uint32_t);
    const device_part parts[PARTS] = {
        {s->x, row},       {s->v, row},        {s->a, row},        {s->density, column},
        {s->rate, column}, {s->bound, column}, {s->level, number}, {s->density_tick, number}};
    memcpy(out, parts, sizeof parts);
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const desbrun_sph *s = state;
    const double head[2] = {s->dt, s->time};
    device_part parts[PARTS];
    parts_of(s, parts);
    *bytes = sizeof head + device_parts_bytes(parts, PARTS);
    if (!blob) return pbd_ok();
    memcpy(blob, head, sizeof head);
    return device_parts_save(s->exec, parts, PARTS, (char *)blob + sizeof head);
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    desbrun_sph *s = state;
    double head[2];
    device_part parts[PARTS];
    parts_of(s, parts);
    const size_t wanted = sizeof head + device_parts_bytes(parts, PARTS);
    if (bytes != wanted)
        return pbd_error(PBD_BAD_INPUT, "desbrun_sph: the saved state has %zu bytes, not %zu", bytes, wanted);
    memcpy(head, blob, sizeof head);
    s->dt = head[0];
    s->time = head[1];
    return device_parts_load(s->exec, parts, PARTS, (const char *)blob + sizeof head);
}

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
