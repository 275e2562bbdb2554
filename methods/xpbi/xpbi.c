/* xpbi: continua whose deformation is followed by the gradient of velocity, each particle an XPBD constraint on the
 * velocities of its neighbours, flow rules inside the iterations (yu2024, Algorithm 1). README.md has the equations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "methods/physics/colliders.h"
#include "methods/physics/flow_material.h"
#include "methods/xpbi/xpbi_layout.h"

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

enum { PLASTICITY_IMPLICIT, PLASTICITY_SEMI_IMPLICIT, PLASTICITY_NONE };
enum { RESIDUAL_OFF, RESIDUAL_FIRST, RESIDUAL_LAST, RESIDUAL_EVERY };
enum { CORRECTION_DISTANCE, CORRECTION_DENSITY, CORRECTION_OFF };

static const char *const plasticities[] = {"implicit", "semi_implicit", "none", NULL};
static const char *const solvers[] = {"coloured_gs", "jacobi", NULL};
static const char *const colours[] = {"27", "8", NULL};
static const char *const averagings[] = {"relaxation", "per_particle", NULL};
static const char *const constraints[] = {"energy", "pair", "stress", NULL};
static const char *const starts[] = {"zero", "stress", NULL};
static const char *const gradients[] = {"elastic", "printed", NULL};
static const char *const smoothings[] = {"symmetric", "printed", NULL};
static const char *const corrections[] = {"distance", "density", "off", NULL};
static const char *const volumes[] = {"tracked", "elastic", NULL};
static const char *const residuals[] = {"off", "first", "last", "every", NULL};

static const pbd_param params[] = {
    {"dt", "s", PBD_REAL, "1e-4", 0, 1e3, PBD_OPEN_MIN, NULL, "time step"},
    {"iterations", "", PBD_INTEGER, "10", 1, 100000, 0, NULL, "of a step; with a tolerance: at most"},
    {"tolerance", "", PBD_REAL, "0", 0, 1, PBD_OPEN_MAX, NULL,
     "iterate until |C + alpha~ lambda| is below this times that before the first; 0: all iterations"},
    {"solver", "", PBD_CHOICE, "coloured_gs", 0, 0, 0, solvers, "order of the constraints"},
    {"colours", "", PBD_CHOICE, "27", 0, 0, 0, colours, "27: of cells of 2r, 8: of cells of 4r (Y-3)"},
    {"averaging", "", PBD_CHOICE, "relaxation", 0, 0, 0, averagings,
     "solver=jacobi: one factor for all, or the mean of a particle's moves, which loses momentum"},
    {"relaxation", "", PBD_REAL, "0.2", 0, 2, PBD_OPEN_MIN, NULL, "solver=jacobi, averaging=relaxation: that factor"},
    {"plasticity", "", PBD_CHOICE, "implicit", 0, 0, 0, plasticities,
     "flow within the iterations, at the end of a step only, or never"},
    {"constraint", "", PBD_CHOICE, "energy", 0, 0, 0, constraints,
     "C = sqrt(2 psi) (Eq. 6); one for shear and one for volume (Eq. 4, 5); or all of the stress at once"},
    {"multipliers", "", PBD_CHOICE, "zero", 0, 0, 0, starts,
     "at the start of a step: 0 (Algorithm 1), or those of the stress at its start"},
    {"gradient", "", PBD_CHOICE, "elastic", 0, 0, 0, gradients, "of C under flow: tau B^-T/C, or Eq. 12 (Y-4)"},
    {"radius", "", PBD_REAL, "1", 0.5, 10, PBD_OPEN_MIN, NULL, "r of the kernel, which ends at 2r, in spacings"},
    {"cutoff", "", PBD_REAL, "0.03", 0, 1, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL,
     "singular values of L^-1 below this times the largest count as 0"},
    {"volume", "", PBD_CHOICE, "tracked", 0, 0, 0, volumes, "V^n by the whole motion, or V^0 det F as printed"},
    {"xsph", "", PBD_REAL, "0.01", 0, 1, 0, NULL, "c of Eq. 20: how much velocities are smoothed each step"},
    {"xsph_form", "", PBD_CHOICE, "symmetric", 0, 0, 0, smoothings, "keeps momentum, or as printed (Y-5)"},
    {"position_correction", "", PBD_CHOICE, "distance", 0, 0, 0, corrections,
     "pairs are kept apart (Eq. 21), or density below its largest at the start (Figure 15)"},
    {"correction_gap", "", PBD_REAL, "0.25", 0, 1, PBD_OPEN_MAX, NULL, "epsilon: pairs nearer than r (1 - gap) part"},
    {"correction_time", "s", PBD_REAL, "0.01", 0, 1e6, 0, NULL,
     "pairs that are nearer when a step begins gain dt over this of what they lack; 0: all at once, as printed"},
    {"damping", "1/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of velocities: exp(-damping dt) each step"},
    {"residual", "", PBD_CHOICE, "off", 0, 0, 0, residuals, "steps of which residuals are recorded"},
    {0}};

/* ---- State ------------------------------------------------------------------------------------------------------- */

typedef struct xpbi {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles, colliders;
    pbd_collider *collider;
    pbd_material material;
    double unit, mu, lambda; /* Pa; in units of it */
    double gravity[3];
    double radius, spacing, gap, cutoff;  /* m, m, m, 1 */
    double rest_density, correction_time; /* V^0 sum W: the largest at the start; s */
    double xsph, damping, relaxation, tolerance, duration, forces_end;
    long iterations;
    int plasticity, residual;
    int form;  /* XPBI_ENERGY, XPBI_SHEAR for a pair, XPBI_STRESS */
    bool free; /* nobody is held: all momentum is seen */
    bool warm, jacobi, averaged, printed_gradient, printed_xsph, elastic_volume;
    int correction; /* CORRECTION_* */
    double time;
    uint64_t steps;
    double fastest; /* m/s, at the end of the last step; at first as if there were no bound */
    double deficient, idle, alone, looked, momentum_error; /* over all steps */
    /* Device. */
    xpbi_layout layout;
    xpbi_particles now, other; /* the other is where a sort puts them; its v also holds moves and smoothed velocities */
    real *block;
    uint32_t *note;
    real *squares; /* h^2 by slot */
    size_t squares_room;
    collider_pose *device_pose;
} xpbi;

static void particles_free(pbd_exec *exec, xpbi_particles *p) {
    void *device[] = {p->x, p->v, p->body, p->load, p->id};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(exec, device[i]);
    *p = (xpbi_particles){0};
}

static void destroy(void *state) {
    xpbi *s = state;
    if (!s) return;
    particles_free(s->exec, &s->now);
    particles_free(s->exec, &s->other);
    xpbi_layout_free(&s->layout);
    pbd_free(s->exec, s->block);
    pbd_free(s->exec, s->note);
    pbd_free(s->exec, s->squares);
    pbd_free(s->exec, s->device_pose);
    free(s->collider);
    free(s);
}

/* ---- The parts of a step ----------------------------------------------------------------------------------------- */

static size_t slots_of(const xpbi *s) { return XPBI_LANES * s->layout.slice_count; }
static size_t blocks_of(size_t count) { return (count + XPBI_BLOCK - 1) / XPBI_BLOCK; }

static flow_rule rule_of(const xpbi *s, double dt) {
    flow_rule rule = {0};
    return s->material.flow == PBD_FLOW_NONE ? rule : flow_rule_of(&s->material, dt);
}

/* Sorts particles by their cells and finds who is near whom. */
static pbd_status find_neighbours(xpbi *s) {
    grid *g = &s->layout.search;
    PBD_TRY(grid_build(g, s->now.x, NULL));
    const xpbi_sort_args args = {.from = s->now, .to = s->other, .slot = g->slot, .particle = g->particle};
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(xpbi_sort), s->particles, &args));
    const xpbi_particles sorted = s->other;
    s->other = s->now;
    s->now = sorted;
    return xpbi_layout_make(&s->layout, s->now.x);
}

static pbd_status make_gradients(xpbi *s, double dt, double near) {
    const xpbi_shape_args args = {.s = s->layout.slices,
                                  .p = s->now,
                                  .note = s->note,
                                  .near = s->layout.near,
                                  .support = (real)(2 * s->radius),
                                  .near_square = (real)(near * near),
                                  .cutoff = (real)s->cutoff,
                                  .impulse = (real)(s->unit * dt),
                                  .weight = (real)(s->unit * dt * dt),
                                  .printed = s->printed_xsph,
                                  .stress = s->form == XPBI_STRESS};
    return pbd_run(s->exec, &PBD_KERNEL(xpbi_make_gradients), slots_of(s), &args);
}

static pbd_status push(xpbi *s, double dt) {
    const bool ended = s->forces_end > 0 && s->time > s->forces_end - 0.5 * dt;
    const xpbi_push_args args = {.v = s->now.v,
                                 .load = ended ? NULL : s->now.load,
                                 .gravity = vec3_make((real)s->gravity[0], (real)s->gravity[1], (real)s->gravity[2]),
                                 .dt = (real)dt,
                                 .keep = (real)exp(-s->damping * dt)};
    return pbd_run(s->exec, &PBD_KERNEL(xpbi_push), s->particles, &args);
}

static xpbi_solve_args solve_args(const xpbi *s, double dt) {
    return (xpbi_solve_args){.s = s->layout.slices,
                             .v = s->now.v,
                             .moved = s->jacobi ? s->other.v : s->now.v,
                             .rule = rule_of(s, dt),
                             .mu = (real)s->mu,
                             .lambda = (real)s->lambda,
                             .dt = (real)dt,
                             .relaxation = (real)(s->jacobi ? s->relaxation : 1),
                             .flows = s->material.flow != PBD_FLOW_NONE && s->plasticity == PLASTICITY_IMPLICIT,
                             .hardens = s->material.flow == PBD_FLOW_SNOW,
                             .printed = s->printed_gradient,
                             .form = s->form};
}

/* Momentum that a sweep of Jacobi made out of nothing, and the sum of sizes of all it moved about. */
static pbd_status merge_moves(xpbi *s, double momentum[XPBI_MOMENTA]) {
    const size_t blocks = blocks_of(s->particles), bytes = XPBI_MOMENTA * blocks * sizeof(real);
    const xpbi_merge_args args = {.v = s->now.v,
                                  .moved = s->other.v,
                                  .length = s->averaged ? s->layout.at.length : NULL,
                                  .particles = s->particles,
                                  .momentum = s->block};
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(xpbi_merge), blocks, &args));
    real *block = malloc(bytes + 1);
    if (!block) return pbd_error(PBD_FAILED, "out of memory for %zu blocks of particles", blocks);
    const pbd_status status = pbd_download(s->exec, block, s->block, bytes);
    for (size_t i = 0; i < XPBI_MOMENTA * blocks && status.code == PBD_OK; i++)
        momentum[i % XPBI_MOMENTA] += (double)block[i];
    free(block);
    return status;
}

static pbd_status sweep(xpbi *s, xpbi_solve_args *args, double momentum[XPBI_MOMENTA]) {
    const xpbi_copy_args copy = {s->now.v, s->other.v};
    if (s->jacobi) PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(xpbi_copy), s->particles, &copy));
    const uint32_t *lane = s->layout.colour_lane;
    for (int c = 0; c < xpbi_colours(&s->layout); c++) {
        args->lane = lane[c];
        PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(xpbi_solve), lane[c + 1] - lane[c], args));
    }
    return s->jacobi ? merge_moves(s, momentum) : pbd_ok();
}

static pbd_status keep_apart(xpbi *s, double dt) {
    const uint32_t *lane = s->layout.colour_lane;
    xpbi_part_args args = {.s = s->layout.slices,
                           .near = s->layout.near,
                           .x = s->now.x,
                           .v = s->now.v,
                           .gap = (real)s->gap,
                           .share = (real)(s->correction_time > dt ? dt / s->correction_time : 1),
                           .dt = (real)dt};
    for (int c = 0; c < xpbi_colours(&s->layout); c++) {
        args.lane = lane[c];
        PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(xpbi_part), lane[c + 1] - lane[c], &args));
    }
    return pbd_ok();
}

/* dt: that for which impulses were made. */
static xpbi_thin_args thin_args(const xpbi *s, double dt) {
    return (xpbi_thin_args){.s = s->layout.slices,
                            .x = s->now.x,
                            .v = s->now.v,
                            .support = (real)(2 * s->radius),
                            .dt = (real)dt,
                            .per_impulse = (real)(1 / (s->unit * dt)),
                            .per_rest = (real)(1 / s->rest_density)};
}

static pbd_status keep_density(xpbi *s, double dt) {
    const uint32_t *lane = s->layout.colour_lane;
    xpbi_thin_args args = thin_args(s, dt);
    for (int c = 0; c < xpbi_colours(&s->layout); c++) {
        args.lane = lane[c];
        PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(xpbi_thin), lane[c + 1] - lane[c], &args));
    }
    return pbd_ok();
}

static collider_pose pose_of(const pbd_collider *from, double time, double dt) {
    double centre[3], axis[3][3];
    collider_pose out = {.friction = (real)from->friction, .shape = (int)from->shape, .container = from->container};
    collider_at(from, time, centre, axis);
    for (int d = 0; d < 3; d++) out.half[d] = (real)from->half[d];
    for (int d = 0; d < 3; d++) out.centre_before[d] = (real)centre[d];
    for (int k = 0; k < 9; k++) out.axis_before[k] = (real)axis[k / 3][k % 3];
    collider_at(from, time + dt, centre, axis);
    for (int d = 0; d < 3; d++) out.centre[d] = (real)centre[d];
    for (int k = 0; k < 9; k++) out.axis[k] = (real)axis[k / 3][k % 3];
    return out;
}

static pbd_status move_colliders(xpbi *s, double dt) {
    const size_t bytes = s->colliders * sizeof(collider_pose);
    collider_pose *pose = malloc(bytes + 1);
    if (!pose) return pbd_error(PBD_FAILED, "out of memory for %zu colliders", s->colliders);
    for (size_t i = 0; i < s->colliders; i++) pose[i] = pose_of(&s->collider[i], s->time, dt);
    const pbd_status status = pbd_upload(s->exec, s->device_pose, pose, bytes);
    free(pose);
    return status;
}

static pbd_status collide(xpbi *s, double dt) {
    const xpbi_collide_args args = {.collider = s->device_pose,
                                    .colliders = (int)s->colliders,
                                    .x = s->now.x,
                                    .load = s->now.load,
                                    .v = s->now.v,
                                    .dt = (real)dt,
                                    .inverse_dt = (real)(1 / dt)};
    return pbd_run(s->exec, &PBD_KERNEL(xpbi_collide), s->particles, &args);
}

static pbd_status phase(xpbi *s, const char *name, pbd_status (*work)(xpbi *, double), double dt) {
    pbd_phase_begin(s->recorder, name);
    const pbd_status status = work(s, dt);
    pbd_phase_end(s->recorder);
    return status;
}

/* ---- Residuals --------------------------------------------------------------------------------------------------- */

/* |C + alpha~ lambda| over sqrt u, over all constraints. */
static pbd_status residual_of(xpbi *s, const xpbi_solve_args *solve, double *out) {
    const size_t slots = slots_of(s), blocks = blocks_of(slots);
    xpbi_solve_args args = *solve;
    PBD_TRY(xpbi_room(s->exec, slots + blocks, sizeof(real), &s->squares, &s->squares_room));
    args.residual = s->squares;
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(xpbi_measure_residual), slots, &args));
    const xpbi_sum_args sum = {s->squares, slots, s->squares + slots};
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(xpbi_sum), blocks, &sum));
    real *block = malloc((blocks + 1) * sizeof *block);
    if (!block) return pbd_error(PBD_FAILED, "out of memory for the residuals of %zu particles", s->particles);
    const pbd_status status = pbd_download(s->exec, block, s->squares + slots, blocks * sizeof *block);
    double square = 0;
    for (size_t i = 0; i < blocks; i++) square += (double)block[i];
    *out = sqrt(square);
    free(block);
    return status;
}

static double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One step's residuals: relative to that before the first iteration. */
typedef struct residual_watch {
    bool asked, recorded;
    double first, last;  /* last: relative */
    double spent, since; /* s: in iterations; when the running one began */
} residual_watch;

static void record_residual(xpbi *s, const residual_watch *w, long iteration) {
    const double number = (double)iteration;
    pbd_series(s->recorder, "residual", "value", "1", &w->last, 1, 1);
    pbd_series(s->recorder, "residual_iteration", "value", "1", &number, 1, 1);
    pbd_series(s->recorder, "residual_time", "value", "s", &w->spent, 1, 1);
}

static pbd_status look_at_residual(xpbi *s, const xpbi_solve_args *args, long iteration, residual_watch *w) {
    double now = 0;
    if (!w->asked) return pbd_ok();
    PBD_TRY(pbd_exec_wait(s->exec));
    if (iteration > 0) w->spent += clock_now() - w->since;
    pbd_phase_begin(s->recorder, "residual");
    const pbd_status status = residual_of(s, args, &now);
    pbd_phase_end(s->recorder);
    if (iteration == 0) w->first = now;
    w->last = w->first > 0 ? now / w->first : 0;
    if (w->recorded && status.code == PBD_OK) record_residual(s, w, iteration);
    w->since = clock_now();
    return status;
}

static bool last_step(const xpbi *s, double dt) { return s->duration > 0 && s->time + 1.5 * dt > s->duration; }

static residual_watch residual_watch_of(const xpbi *s, double dt) {
    residual_watch w = {.last = 1};
    w.recorded = s->residual == RESIDUAL_EVERY || (s->residual == RESIDUAL_FIRST && s->steps == 0) ||
                 (s->residual == RESIDUAL_LAST && last_step(s, dt));
    w.asked = w.recorded || s->tolerance > 0;
    return w;
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

static pbd_status iterate_once(xpbi *s, xpbi_solve_args *args, double dt, double momentum[XPBI_MOMENTA]) {
    pbd_phase_begin(s->recorder, "inelasticity");
    const pbd_status status = sweep(s, args, momentum);
    pbd_phase_end(s->recorder);
    PBD_TRY(status);
    if (s->correction == CORRECTION_DISTANCE) PBD_TRY(phase(s, "position_correction", keep_apart, dt));
    if (s->correction == CORRECTION_DENSITY) PBD_TRY(phase(s, "position_correction", keep_density, dt));
    return s->colliders > 0 ? phase(s, "colliders", collide, dt) : pbd_ok();
}

/* Moves by the impulses of the stress at t^n. */
static pbd_status begin_with_stress(xpbi *s, xpbi_solve_args args) {
    const uint32_t *lane = s->layout.colour_lane;
    args.warm = 1;
    args.relaxation = 1;
    args.moved = s->now.v;
    pbd_phase_begin(s->recorder, "inelasticity");
    pbd_status status = pbd_ok();
    for (int c = 0; c < xpbi_colours(&s->layout) && status.code == PBD_OK; c++) {
        args.lane = lane[c];
        status = pbd_run(s->exec, &PBD_KERNEL(xpbi_solve), lane[c + 1] - lane[c], &args);
    }
    pbd_phase_end(s->recorder);
    return status;
}

static pbd_status iterate(xpbi *s, double dt, long *done) {
    xpbi_solve_args args = solve_args(s, dt);
    residual_watch watch = residual_watch_of(s, dt);
    double momentum[XPBI_MOMENTA] = {0};
    PBD_TRY(look_at_residual(s, &args, 0, &watch));
    if (s->warm) PBD_TRY(begin_with_stress(s, args));
    for (*done = 0; *done < s->iterations && !(s->tolerance > 0 && watch.last <= s->tolerance);) {
        args.note = *done + 1 == s->iterations ? s->note : NULL;
        PBD_TRY(iterate_once(s, &args, dt, momentum));
        PBD_TRY(look_at_residual(s, &args, ++*done, &watch));
    }
    if (watch.asked) pbd_metric(s->recorder, "residual_left", "1", PBD_LOWER_IS_BETTER, watch.last);
    if (s->jacobi && s->free && momentum[3] > 0) {
        const double lost = sqrt(momentum[0] * momentum[0] + momentum[1] * momentum[1] + momentum[2] * momentum[2]);
        s->momentum_error = fmax(s->momentum_error, lost / momentum[3]);
        pbd_metric(s->recorder, "momentum_error", "1", PBD_LOWER_IS_BETTER, s->momentum_error);
    }
    return pbd_ok();
}

static xpbi_end_args end_args(const xpbi *s, double dt) {
    return (xpbi_end_args){.s = s->layout.slices,
                           .p = s->now,
                           .v = s->now.v,
                           .smooth = s->other.v,
                           .rule = rule_of(s, dt),
                           .xsph = (real)s->xsph,
                           .dt = (real)dt,
                           .flows = s->material.flow != PBD_FLOW_NONE && s->plasticity != PLASTICITY_NONE,
                           .elastic_volume = s->elastic_volume};
}

static pbd_status smooth(xpbi *s, double dt) {
    const xpbi_end_args args = end_args(s, dt);
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(xpbi_smooth), slots_of(s), &args));
    real *smoothed = s->other.v;
    s->other.v = s->now.v;
    s->now.v = smoothed;
    return pbd_ok();
}

static pbd_status advance(xpbi *s, double dt) {
    const xpbi_end_args args = end_args(s, dt);
    return pbd_run(s->exec, &PBD_KERNEL(xpbi_advance), slots_of(s), &args);
}

/* Sums of what there is to say of a step, from the device's blocks; the first number is the largest. */
static pbd_status watch(const xpbi *s, double out[XPBI_WATCHED]) {
    const size_t blocks = blocks_of(s->particles), count = XPBI_WATCHED * blocks;
    const xpbi_watch_args args = {
        .v = s->now.v, .note = s->note, .length = s->layout.at.length, .particles = s->particles, .out = s->block};
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(xpbi_watch), blocks, &args));
    real *block = malloc((count + 1) * sizeof *block);
    if (!block) return pbd_error(PBD_FAILED, "out of memory for %zu blocks of particles", blocks);
    const pbd_status status = pbd_download(s->exec, block, s->block, count * sizeof *block);
    memset(out, 0, XPBI_WATCHED * sizeof *out);
    for (size_t i = 0; i < count && status.code == PBD_OK; i++) {
        const double x = (double)block[i];
        double *to = &out[i % XPBI_WATCHED];
        *to = i % XPBI_WATCHED > 0 ? *to + x : x > *to || isnan(x) ? x : *to;
    }
    free(block);
    return status;
}

static pbd_status report(xpbi *s, double dt, long iterations) {
    double seen[XPBI_WATCHED];
    PBD_TRY(watch(s, seen));
    const uint64_t solves = (uint64_t)iterations * (s->form == XPBI_SHEAR ? 2 : 1);
    pbd_count(s->recorder, "steps", 1);
    pbd_count(s->recorder, "iterations_total", (uint64_t)iterations);
    pbd_count(s->recorder, "constraint_solves", solves * s->particles);
    pbd_count(s->recorder, "neighbour_updates", solves * (uint64_t)seen[4]);
    if (!isfinite(seen[0]))
        return pbd_error(PBD_DIVERGED, "after %.6g s (step %llu) a velocity is not finite", s->time,
                         (unsigned long long)s->steps);
    s->fastest = sqrt(seen[0]);
    const double courant = s->fastest * dt / s->radius;
    if (courant > 0.5)
        pbd_warning(s->recorder, "kernel_cfl",
                    "a particle moves %.3g r in a step of %g s: above r/2 neighbours are missed", courant, dt);
    if (seen[1] > 0)
        pbd_warning(s->recorder, "few_neighbours",
                    "%g of %zu particles have neighbours in less than three directions: their gradients of velocity "
                    "are 0 along the others",
                    seen[1], s->particles);
    s->looked += (double)s->particles;
    s->deficient += seen[1];
    s->alone += seen[2];
    s->idle += seen[3];
    pbd_metric(s->recorder, "deficient_fraction", "1", PBD_LOWER_IS_BETTER, s->deficient / s->looked);
    pbd_metric(s->recorder, "lone_fraction", "1", PBD_NEUTRAL, s->alone / s->looked);
    pbd_metric(s->recorder, "applied_fraction", "1", PBD_NEUTRAL, 1 - s->idle / s->looked);
    pbd_metric(s->recorder, "neighbours_total", "1", PBD_NEUTRAL, seen[4]);
    return pbd_ok();
}

static pbd_status search_phase(xpbi *s, double dt) {
    (void)dt;
    return find_neighbours(s);
}

static pbd_status kernel_phase(xpbi *s, double dt) {
    /* Who may come nearer than the gap within the step, by how fast the fastest was at the end of the last one. */
    const double margin = fmin(0.25 * s->radius, 0.02 * s->radius + 3 * s->fastest * dt);
    return make_gradients(s, dt, s->correction == CORRECTION_DISTANCE ? s->gap + margin : 0);
}

static pbd_status step(void *state, double dt) {
    xpbi *s = state;
    long iterations = 0;
    PBD_TRY(phase(s, "neighbour_search", search_phase, dt));
    PBD_TRY(phase(s, "kernels", kernel_phase, dt));
    PBD_TRY(phase(s, "state_update", push, dt));
    if (s->colliders > 0) PBD_TRY(phase(s, "colliders", move_colliders, dt));
    PBD_TRY(iterate(s, dt, &iterations));
    if (s->xsph > 0) PBD_TRY(phase(s, "xsph", smooth, dt));
    if (s->xsph > 0 && s->colliders > 0) PBD_TRY(phase(s, "colliders", collide, dt));
    PBD_TRY(phase(s, "state_update", advance, dt));
    s->time += dt;
    s->steps++;
    return report(s, dt, iterations);
}

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

static pbd_status check(const pbd_scene *scene, const pbd_values *values) {
    if (scene->particles == 0) return pbd_error(PBD_BAD_INPUT, "xpbi: the scene has no particles");
    if (!(scene->spacing > 0))
        return pbd_error(PBD_BAD_INPUT, "xpbi: the scene's particles have a spacing of %g m: above 0, please",
                         scene->spacing);
    if (scene->material.law != PBD_LAW_HENCKY)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "xpbi is for material=hencky alone (yu2024 Eq. 3): its flow rules map Hencky strains");
    if (!(scene->material.nu < 0.5)) return pbd_error(PBD_BAD_INPUT, "nu=%g must be below 0.5", scene->material.nu);
    if (pbd_choice(values, "constraint") == 1 && scene->material.nu < 0)
        return pbd_error(PBD_BAD_INPUT, "constraint=pair needs nu >= 0, not %g: its second energy would be negative",
                         scene->material.nu);
    return colliders_check(scene);
}

static void read_values(xpbi *s, const pbd_scene *scene, const pbd_values *values) {
    const double E = scene->material.E, nu = scene->material.nu;
    s->unit = ldexp(1, ilogb(E));
    s->mu = E / (2 * (1 + nu)) / s->unit;
    s->lambda = E * nu / ((1 + nu) * (1 - 2 * nu)) / s->unit;
    s->spacing = scene->spacing;
    s->radius = pbd_real(values, "radius") * scene->spacing;
    s->gap = (1 - pbd_real(values, "correction_gap")) * s->radius;
    s->cutoff = pbd_real(values, "cutoff");
    s->xsph = pbd_real(values, "xsph");
    s->damping = pbd_real(values, "damping");
    s->relaxation = pbd_real(values, "relaxation");
    s->tolerance = pbd_real(values, "tolerance");
    s->iterations = pbd_integer(values, "iterations");
    s->plasticity = pbd_choice(values, "plasticity");
    s->residual = pbd_choice(values, "residual");
    s->free = scene->fixed == 0;
    s->jacobi = pbd_choice(values, "solver") == 1;
    s->averaged = s->jacobi && pbd_choice(values, "averaging") == 1;
    if (s->averaged) s->relaxation = 1;
    static const int forms[] = {XPBI_ENERGY, XPBI_SHEAR, XPBI_STRESS};
    s->form = forms[pbd_choice(values, "constraint")];
    s->warm = pbd_choice(values, "multipliers") == 1;
    s->printed_gradient = pbd_choice(values, "gradient") == 1;
    s->printed_xsph = pbd_choice(values, "xsph_form") == 1;
    s->elastic_volume = pbd_choice(values, "volume") == 1;
    s->correction = pbd_choice(values, "position_correction");
    s->correction_time = pbd_real(values, "correction_time");
    s->duration = scene->duration;
    s->forces_end = scene->forces ? scene->forces_end : 0;
    memcpy(s->gravity, scene->gravity, sizeof s->gravity);
}

static pbd_status allocate_particles(xpbi *s, bool load, xpbi_particles *p) {
    const size_t rows = s->particles + XPBI_LANES;
    PBD_TRY(xpbi_allocate(s->exec, 4 * rows, sizeof(real), &p->x));
    PBD_TRY(xpbi_allocate(s->exec, 4 * rows, sizeof(real), &p->v));
    PBD_TRY(xpbi_allocate(s->exec, 12 * rows, sizeof(real), &p->body));
    if (load) PBD_TRY(xpbi_allocate(s->exec, 4 * rows, sizeof(real), &p->load));
    return xpbi_allocate(s->exec, rows, sizeof(uint32_t), &p->id);
}

static double volume_of(const pbd_scene *scene, size_t i) {
    return scene->volumes                ? scene->volumes[i]
           : scene->material.density > 0 ? scene->masses[i] / scene->material.density
                                         : scene->spacing * scene->spacing * scene->spacing;
}

/* Rows of x, v, body, load on the host, in the order of the scene. v: by how much each is displaced at the start. */
static void fill_rows(const xpbi *s, const pbd_scene *scene, real *x, real *v, real *body, real *load) {
    for (size_t i = 0; i < s->particles + XPBI_LANES; i++) {
        const bool real_one = i < s->particles;
        for (size_t d = 0; d < 3; d++) {
            x[4 * i + d] = (real)(real_one ? scene->positions[3 * i + d] : 0);
            v[4 * i + d] = (real)(real_one && scene->start ? scene->start[3 * i + d] - scene->positions[3 * i + d] : 0);
            body[12 * i + 5 * d] = 1;
            if (load && real_one && scene->forces)
                load[4 * i + d] = (real)(scene->forces[3 * i + d] / scene->masses[i]);
        }
        x[4 * i + 3] = body[12 * i + 3] = (real)(real_one ? volume_of(scene, i) : 0);
        v[4 * i + 3] = (real)(real_one ? 1 / scene->masses[i] : 0);
        body[12 * i + 7] = 1;
        body[12 * i + 11] = (real)flow_first_state(&scene->material);
        if (load && real_one && scene->contact.radius) load[4 * i + 3] = (real)scene->contact.radius[i];
    }
    for (size_t k = 0; k < scene->fixed; k++) v[4 * (size_t)scene->fixed_particle[k] + 3] = 0;
}

static pbd_status upload_particles(xpbi *s, const real *rows, const uint32_t *id, xpbi_particles *p) {
    const size_t n = s->particles + XPBI_LANES, row = 4 * n * sizeof(real);
    PBD_TRY(pbd_upload(s->exec, p->x, rows, row));
    PBD_TRY(pbd_upload(s->exec, p->v, rows + 4 * n, row));
    PBD_TRY(pbd_upload(s->exec, p->body, rows + 8 * n, 3 * row));
    if (p->load) PBD_TRY(pbd_upload(s->exec, p->load, rows + 20 * n, row));
    return pbd_upload(s->exec, p->id, id, n * sizeof *id);
}

static pbd_status place_particles(xpbi *s, const pbd_scene *scene) {
    const size_t n = s->particles + XPBI_LANES;
    const bool load = scene->forces || scene->contact.radius;
    PBD_TRY(allocate_particles(s, load, &s->now));
    PBD_TRY(allocate_particles(s, load, &s->other));
    real *rows = calloc(24 * n, sizeof *rows);
    uint32_t *id = malloc(n * sizeof *id);
    pbd_status status = rows && id ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    if (status.code == PBD_OK) fill_rows(s, scene, rows, rows + 4 * n, rows + 8 * n, load ? rows + 20 * n : NULL);
    for (size_t i = 0; i < n && status.code == PBD_OK; i++) id[i] = (uint32_t)i;
    if (status.code == PBD_OK) status = upload_particles(s, rows, id, &s->now);
    if (status.code == PBD_OK) status = upload_particles(s, rows, id, &s->other);
    free(rows);
    free(id);
    return status;
}

/* Pairs in one point, as far as the layout's bits of nearness say. */
static pbd_status warn_of_coincident(xpbi *s) {
    const size_t words = 2 * slots_of(s);
    uint32_t *near = malloc((words + 1) * sizeof *near);
    if (!near) return pbd_error(PBD_FAILED, "out of memory for %zu particles", s->particles);
    const pbd_status status = pbd_download(s->exec, near, s->layout.near, words * sizeof *near);
    size_t pairs = 0;
    for (size_t i = 0; i < words && status.code == PBD_OK; i++) pairs += (size_t)__builtin_popcount(near[i]);
    free(near);
    if (pairs > 0)
        pbd_warning(
            s->recorder, "coincident_particles",
            "%zu pairs of particles lie within a millionth of the spacing %g m: they know nothing of each other", pairs,
            s->spacing);
    return status;
}

/* The largest density where particles lie at rest: no other is known. */
static pbd_status find_rest_density(xpbi *s) {
    const size_t slots = slots_of(s);
    s->rest_density = 1;
    PBD_TRY(xpbi_room(s->exec, slots, sizeof(real), &s->squares, &s->squares_room));
    xpbi_thin_args args = thin_args(s, 1);
    args.dt = 0;
    args.density = s->squares;
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(xpbi_measure_density), slots, &args));
    real *density = malloc((slots + 1) * sizeof *density);
    if (!density) return pbd_error(PBD_FAILED, "out of memory for %zu particles", s->particles);
    const pbd_status status = pbd_download(s->exec, density, s->squares, slots * sizeof *density);
    double most = 0;
    for (size_t i = 0; i < slots && status.code == PBD_OK; i++) most = fmax(most, (double)density[i]);
    free(density);
    s->rest_density = most;
    return status;
}

/* Where particles start, with which velocity; F is that of the way there from rest. */
static pbd_status begin(xpbi *s, const pbd_scene *scene) {
    const size_t n = s->particles, bytes = 4 * n * sizeof(real);
    PBD_TRY(find_neighbours(s));
    PBD_TRY(make_gradients(s, 1, 1e-6 * s->spacing));
    PBD_TRY(warn_of_coincident(s));
    if (s->correction == CORRECTION_DENSITY) PBD_TRY(find_rest_density(s));
    xpbi_end_args args = end_args(s, 1);
    args.start = 1;
    args.flows = 0;
    PBD_TRY(pbd_run(s->exec, &PBD_KERNEL(xpbi_advance), slots_of(s), &args));
    real *x = malloc(bytes), *v = malloc(bytes);
    uint32_t *id = malloc(n * sizeof *id);
    pbd_status status = x && v && id ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    if (status.code == PBD_OK) status = pbd_download(s->exec, x, s->now.x, bytes);
    if (status.code == PBD_OK) status = pbd_download(s->exec, v, s->now.v, bytes);
    if (status.code == PBD_OK) status = pbd_download(s->exec, id, s->now.id, n * sizeof *id);
    for (size_t k = 0; k < 3 * n && status.code == PBD_OK; k++) {
        const size_t at = k / 3 * 4 + k % 3, from = 3 * (size_t)id[k / 3] + k % 3;
        const bool held = !(v[k / 3 * 4 + 3] > 0);
        x[at] = (real)(scene->start ? scene->start[from] : scene->positions[from]);
        v[at] = (real)(scene->velocities && !held ? scene->velocities[from] : 0);
    }
    if (status.code == PBD_OK) status = pbd_upload(s->exec, s->now.x, x, bytes);
    if (status.code == PBD_OK) status = pbd_upload(s->exec, s->now.v, v, bytes);
    free(x);
    free(v);
    free(id);
    return status;
}

static pbd_status build(xpbi *s, const pbd_scene *scene, const pbd_values *values) {
    const size_t blocks = blocks_of(s->particles);
    read_values(s, scene, values);
    PBD_TRY(xpbi_layout_create(&s->layout, s->exec, s->particles, 2 * s->radius,
                               pbd_choice(values, "colours") == 0 ? 3 : 2));
    s->layout.slices.entries = s->form == XPBI_STRESS ? XPBI_STRESS_ENTRIES : XPBI_ENTRIES;
    PBD_TRY(xpbi_allocate(s->exec, XPBI_WATCHED * blocks, sizeof(real), &s->block));
    PBD_TRY(xpbi_allocate(s->exec, s->particles + XPBI_LANES, sizeof(uint32_t), &s->note));
    if (s->colliders > 0) {
        s->collider = malloc(s->colliders * sizeof *s->collider);
        if (!s->collider) return pbd_error(PBD_FAILED, "out of memory for %zu colliders", s->colliders);
        memcpy(s->collider, scene->collider, s->colliders * sizeof *s->collider);
        PBD_TRY(xpbi_allocate(s->exec, s->colliders, sizeof(collider_pose), &s->device_pose));
    }
    PBD_TRY(place_particles(s, scene));
    pbd_count(s->recorder, "particles", s->particles);
    pbd_count(s->recorder, "constraints_total", s->particles * (s->form == XPBI_SHEAR ? 2 : 1));
    return begin(s, scene);
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    *state = NULL;
    PBD_TRY(check(scene, values));
    xpbi *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for xpbi");
    s->exec = exec;
    s->recorder = recorder;
    s->fastest = INFINITY;
    s->particles = scene->particles;
    s->colliders = scene->colliders;
    s->material = scene->material;
    const pbd_status status = build(s, scene, values);
    if (status.code != PBD_OK)
        destroy(s);
    else
        *state = s;
    return status;
}

/* ---- Reading, saving, loading ------------------------------------------------------------------------------------ */

/* Entry e of a particle in the field's order is at `entry[e]` of its row of `stride`. */
static pbd_status read_rows(const xpbi *s, const real *device, size_t stride, const size_t *entry, size_t width,
                            double *out) {
    const size_t n = s->particles;
    real *rows = malloc((stride * n + 1) * sizeof *rows);
    uint32_t *id = malloc((n + 1) * sizeof *id);
    pbd_status status = rows && id ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for reading %zu particles", n);
    if (status.code == PBD_OK) status = pbd_download(s->exec, rows, device, stride * n * sizeof *rows);
    if (status.code == PBD_OK) status = pbd_download(s->exec, id, s->now.id, n * sizeof *id);
    for (size_t k = 0; k < width * n && status.code == PBD_OK; k++)
        out[width * id[k / width] + k % width] = (double)rows[stride * (k / width) + entry[k % width]];
    free(rows);
    free(id);
    return status;
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    static const size_t three[] = {0, 1, 2}, nine[] = {0, 4, 8, 1, 5, 9, 2, 6, 10};
    const xpbi *s = state;
    if (field == PBD_POSITIONS) return read_rows(s, s->now.x, 4, three, 3, out);
    if (field == PBD_VELOCITIES) return read_rows(s, s->now.v, 4, three, 3, out);
    if (field == PBD_DEFORMATION_GRADIENTS) return read_rows(s, s->now.body, 12, nine, 9, out);
    return pbd_error(PBD_NOT_SUPPORTED, "xpbi has positions, velocities and elastic deformation gradients only");
}

/* All that a step starts from: particles in their order, the time, and what decides that order from now on. */
typedef struct saved_head {
    double time;
    double fastest;
    uint64_t steps, builds[2];
    int bits[2][3];
} saved_head;

typedef struct saved_part {
    void *device;
    size_t bytes;
} saved_part;

static size_t saved_parts(const xpbi *s, saved_part out[5]) {
    const size_t n = s->particles, row = 4 * n * sizeof(real);
    size_t count = 0;
    out[count++] = (saved_part){s->now.x, row};
    out[count++] = (saved_part){s->now.v, row};
    out[count++] = (saved_part){s->now.body, 3 * row};
    if (s->now.load) out[count++] = (saved_part){s->now.load, row};
    out[count++] = (saved_part){s->now.id, n * sizeof *s->now.id};
    return count;
}

static size_t saved_bytes(const xpbi *s) {
    saved_part part[5];
    size_t count = saved_parts(s, part), bytes = sizeof(saved_head);
    while (count > 0) bytes += part[--count].bytes;
    return bytes;
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const xpbi *s = state;
    *bytes = saved_bytes(s);
    if (!blob) return pbd_ok();
    saved_head head = {.time = s->time, .fastest = s->fastest, .steps = s->steps};
    const grid *g[2] = {&s->layout.search, &s->layout.colouring};
    for (int k = 0; k < 2; k++) {
        head.builds[k] = g[k]->builds;
        memcpy(head.bits[k], g[k]->bits, sizeof g[k]->bits);
    }
    memcpy(blob, &head, sizeof head);
    saved_part part[5];
    const size_t count = saved_parts(s, part);
    char *at = (char *)blob + sizeof head;
    for (size_t k = 0; k < count; at += part[k++].bytes)
        PBD_TRY(pbd_download(s->exec, at, part[k].device, part[k].bytes));
    return pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    xpbi *s = state;
    if (bytes != saved_bytes(s))
        return pbd_error(PBD_BAD_INPUT, "xpbi: the saved state has %zu bytes, not %zu", bytes, saved_bytes(s));
    saved_head head;
    memcpy(&head, blob, sizeof head);
    s->time = head.time;
    s->steps = head.steps;
    s->fastest = head.fastest;
    grid *g[2] = {&s->layout.search, &s->layout.colouring};
    for (int k = 0; k < 2; k++) {
        g[k]->builds = head.builds[k];
        memcpy(g[k]->bits, head.bits[k], sizeof g[k]->bits);
    }
    saved_part part[5];
    const size_t count = saved_parts(s, part);
    const char *at = (const char *)blob + sizeof head;
    for (size_t k = 0; k < count; at += part[k++].bytes)
        PBD_TRY(pbd_upload(s->exec, part[k].device, at, part[k].bytes));
    return pbd_ok();
}

const pbd_method PBD_NAME(xpbi) = {
    .abi = PBD_METHOD_ABI,
    .name = "xpbi",
    .summary = "continua with flow rules: XPBD on velocities, deformation by their gradients",
    .source = "yu2024 Algorithm 1, Eqs. 6, 9 to 22 (corrections Y-1 to Y-5)",
    .needs = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .takes = PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_COLLIDERS | PBD_TAKES_FLOW,
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
