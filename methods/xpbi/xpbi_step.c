#include "methods/xpbi/xpbi_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/clock.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/matter/flow_material.h"

/* ---- State ------------------------------------------------------------------------------------------------------- */

static void particles_free(pbd_exec *exec, xpbi_particles *p) {
    void *device[] = {p->x, p->v, p->body, p->load, p->stray, p->id};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(exec, device[i]);
    *p = (xpbi_particles){0};
}

void xpbi_destroy(void *state) {
    xpbi *s = state;
    if (!s) return;
    particles_free(s->exec, &s->now);
    particles_free(s->exec, &s->other);
    xpbi_layout_free(&s->layout);
    pbd_free(s->exec, s->block);
    pbd_free(s->exec, s->note);
    pbd_free(s->exec, s->clearance);
    pbd_free(s->exec, s->squares);
    collider_poses_free(&s->colliders);
    fluid_free(&s->fluid);
    xpbi_cloth_free(&s->cloth);
    free(s);
}

/* ---- The parts of a step ----------------------------------------------------------------------------------------- */

static size_t slots_of(const xpbi *s) { return XPBI_LANES * s->layout.slice_count; }
size_t xpbi_blocks_of(size_t count) { return (count + XPBI_BLOCK - 1) / XPBI_BLOCK; }

static flow_rule rule_of(const xpbi *s, double dt) { return flow_rule_of(&s->material, dt); }

/* Sorts particles by their cells and finds who is whose neighbour, and who is nearer than `near`, m. */
static pbd_status find_neighbours(xpbi *s, double near) {
    grid *g = &s->layout.search;
    PBD_TRY(grid_build(g, s->now.x, NULL));
    const xpbi_sort_args args = {.from = s->now, .to = s->other, .slot = g->slot, .particle = g->particle};
    const xpbi_carry_args carry = {s->now, s->other, s->continuum};
    PBD_TRY(PBD_RUN(s->exec, xpbi_sort, s->continuum, &args));
    PBD_TRY(PBD_RUN(s->exec, xpbi_carry, s->particles - s->continuum, &carry));
    const xpbi_particles sorted = s->other;
    s->other = s->now;
    s->now = sorted;
    return xpbi_layout_make(&s->layout, s->now.x, near);
}

static pbd_status make_gradients(xpbi *s, double dt) {
    const xpbi_shape_args args = {.s = s->layout.slices,
                                  .p = s->now,
                                  .note = s->note,
                                  .support = (real)(2 * s->radius),
                                  .cutoff = (real)s->cutoff,
                                  .impulse = (real)(s->unit * dt),
                                  .weight = (real)(s->unit * dt * dt),
                                  .printed = s->printed_xsph,
                                  .stress = s->form == XPBI_STRESS,
                                  .plain = s->plain_gradients};
    return PBD_RUN(s->exec, xpbi_make_gradients, slots_of(s), s->layout.all, &args);
}

static pbd_status push(xpbi *s, double dt) {
    const bool ended = s->forces_end > 0 && s->time > s->forces_end - 0.5 * dt;
    const xpbi_push_args args = {.v = s->now.v,
                                 .load = ended ? NULL : s->now.load,
                                 .gravity = vec3_make((real)s->gravity[0], (real)s->gravity[1], (real)s->gravity[2]),
                                 .dt = (real)dt,
                                 .keep = (real)exp(-s->damping * dt)};
    return PBD_RUN(s->exec, xpbi_push, s->particles, &args);
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
                             .flows = s->material.flow && s->plasticity == PLASTICITY_IMPLICIT,
                             .hardens = flow_hardens(&s->material),
                             .printed = s->printed_gradient,
                             .form = s->form};
}

/* Momentum that a sweep of Jacobi made out of nothing, and the sum of sizes of all it moved about. */
static pbd_status merge_moves(xpbi *s, double momentum[XPBI_MOMENTA]) {
    const size_t blocks = xpbi_blocks_of(s->continuum);
    const xpbi_merge_args args = {.v = s->now.v,
                                  .moved = s->other.v,
                                  .length = s->averaged ? s->layout.at.length : NULL,
                                  .particles = s->continuum,
                                  .momentum = s->block};
    PBD_TRY(PBD_RUN(s->exec, xpbi_merge, blocks, &args));
    return device_blocks_take(s->exec, s->block, blocks, XPBI_MOMENTA, 0, momentum);
}

/* Both constraints of a pair are solves. */
static pbd_work solve_work(const xpbi *s, int colour) {
    const size_t solves = s->form == XPBI_SHEAR ? 2 : 1;
    const pbd_work once = s->layout.work[colour];
    return (pbd_work){solves * once.items, solves * once.entries};
}

static pbd_status sweep(xpbi *s, xpbi_solve_args *args, double momentum[XPBI_MOMENTA]) {
    const xpbi_copy_args copy = {s->now.v, s->other.v};
    if (s->jacobi) PBD_TRY(PBD_RUN(s->exec, xpbi_copy, s->particles, &copy));
    const uint32_t *lane = s->layout.colour_lane;
    for (int c = 0; c < xpbi_colours(&s->layout); c++) {
        args->lane = lane[c];
        PBD_TRY(PBD_RUN(s->exec, xpbi_solve_cells, lane[c + 1] - lane[c], solve_work(s, c), args));
    }
    return s->jacobi ? merge_moves(s, momentum) : pbd_ok();
}

static pbd_status part_pairs(xpbi *s, real *v, double dt) {
    const uint32_t *lane = s->layout.colour_lane;
    xpbi_part_args args = {.s = s->layout.slices,
                           .x = s->now.x,
                           .v = v,
                           .gap = (real)s->gap,
                           .share = (real)(s->correction_time > dt ? dt / s->correction_time : 1),
                           .dt = (real)dt};
    for (int c = 0; c < xpbi_colours(&s->layout); c++) {
        args.lane = lane[c];
        PBD_TRY(PBD_RUN(s->exec, xpbi_part, lane[c + 1] - lane[c], s->layout.near[c], &args));
    }
    return pbd_ok();
}

static pbd_status keep_apart(xpbi *s, double dt) { return part_pairs(s, s->now.v, dt); }

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
        PBD_TRY(PBD_RUN(s->exec, xpbi_thin, lane[c + 1] - lane[c], s->layout.work[c], &args));
    }
    return pbd_ok();
}

static xpbi_collide_args collide_args(const xpbi *s, double dt) {
    return (xpbi_collide_args){.collider = s->colliders.device,
                               .colliders = (int)s->colliders.count,
                               .x = s->now.x,
                               .load = s->now.load,
                               .clearance = s->clearance,
                               .v = s->now.v,
                               .least = (real)(0.01 * s->radius),
                               .dt = (real)dt,
                               .inverse_dt = (real)(1 / dt)};
}

static xpbi_hourglass_args hourglass_args(const xpbi *s, double dt) {
    return (xpbi_hourglass_args){.s = s->layout.slices,
                                 .p = s->now,
                                 .note = s->note,
                                 .v = s->now.v,
                                 .stiffness = (real)(s->hourglass * s->material.E / (s->radius * s->radius)),
                                 .dt = (real)dt};
}

static pbd_status make_hourglass(xpbi *s, double dt) {
    const xpbi_hourglass_args args = hourglass_args(s, dt);
    return PBD_RUN(s->exec, xpbi_make_hourglass, slots_of(s), s->layout.all, &args);
}

static pbd_status hold_hourglass(xpbi *s, double dt) {
    const uint32_t *lane = s->layout.colour_lane;
    xpbi_hourglass_args args = hourglass_args(s, dt);
    for (int c = 0; c < xpbi_colours(&s->layout); c++) {
        args.lane = lane[c];
        PBD_TRY(PBD_RUN(s->exec, xpbi_hold_hourglass, lane[c + 1] - lane[c], s->layout.work[c], &args));
    }
    return pbd_ok();
}

static pbd_status keep_hourglass(xpbi *s, double dt) {
    const xpbi_hourglass_args args = hourglass_args(s, dt);
    return PBD_RUN(s->exec, xpbi_keep_hourglass, slots_of(s), s->layout.all, &args);
}

static pbd_status move_colliders(xpbi *s, double dt) {
    const xpbi_collide_args args = collide_args(s, dt);
    PBD_TRY(collider_poses_move(&s->colliders, s->time, dt));
    return PBD_RUN(s->exec, xpbi_find_clearance, s->particles, &args);
}

static const char *collide_phase(const xpbi *s) { return collider_poses_phase(&s->colliders, "colliders"); }

static pbd_status collide_rows(xpbi *s, real *v, double dt) {
    xpbi_collide_args args = collide_args(s, dt);
    args.v = v;
    return PBD_RUN(s->exec, xpbi_collide, s->particles, &args);
}

static pbd_status collide(xpbi *s, double dt) { return collide_rows(s, s->now.v, dt); }

/* Pairs that are too near part when the step is done, by moves that neither velocities nor F know of. */
static pbd_status shift(xpbi *s, double dt) {
    const xpbi_copy_args copy = {s->now.v, s->other.v};
    PBD_TRY(PBD_RUN(s->exec, xpbi_copy, s->particles, &copy));
    for (long k = 0; k < s->iterations; k++) PBD_TRY(part_pairs(s, s->other.v, dt));
    return s->colliders.count > 0 ? collide_rows(s, s->other.v, dt) : pbd_ok();
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
    const size_t slots = slots_of(s), blocks = xpbi_blocks_of(slots);
    xpbi_solve_args args = *solve;
    PBD_TRY(xpbi_room(s->exec, slots + blocks, sizeof(real), &s->squares, &s->squares_room));
    args.residual = s->squares;
    PBD_TRY(PBD_RUN(s->exec, xpbi_measure_residual, slots, s->layout.all, &args));
    const xpbi_sum_args sum = {s->squares, slots, s->squares + slots};
    PBD_TRY(PBD_RUN(s->exec, xpbi_sum, blocks, &sum));
    double square = 0;
    PBD_TRY(device_blocks_take(s->exec, s->squares + slots, blocks, 1, 0, &square));
    *out = sqrt(square);
    return pbd_ok();
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
    if (iteration > 0) w->spent += pbd_wall_seconds() - w->since;
    pbd_phase_begin(s->recorder, "residual");
    const pbd_status status = residual_of(s, args, &now);
    pbd_phase_end(s->recorder);
    if (iteration == 0) w->first = now;
    w->last = w->first > 0 ? now / w->first : 0;
    if (w->recorded && status.code == PBD_OK) record_residual(s, w, iteration);
    w->since = pbd_wall_seconds();
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

static pbd_status move_fluid(xpbi *s, double dt) {
    for (long k = 0; k < s->fluid_passes && s->fluid.liquid > 0; k++)
        PBD_TRY(fluid_iterate(&s->fluid, s->now.x, s->now.v, &s->colliders, dt));
    return pbd_ok();
}

static pbd_status iterate_once(xpbi *s, xpbi_solve_args *args, double dt, double momentum[XPBI_MOMENTA]) {
    pbd_phase_begin(s->recorder, "inelasticity");
    const pbd_status status = sweep(s, args, momentum);
    pbd_phase_end(s->recorder);
    PBD_TRY(status);
    if (s->hourglass > 0) PBD_TRY(phase(s, "hourglass", hold_hourglass, dt));
    PBD_TRY(move_fluid(s, dt));
    if (s->correction == CORRECTION_DISTANCE) PBD_TRY(phase(s, "position_correction", keep_apart, dt));
    if (s->correction == CORRECTION_DENSITY) PBD_TRY(phase(s, "position_correction", keep_density, dt));
    if (s->colliders.count > 0) PBD_TRY(phase(s, collide_phase(s), collide, dt));
    return xpbi_cloth_iterate(&s->cloth, s->now.v);
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
        status = PBD_RUN(s->exec, xpbi_solve_cells, lane[c + 1] - lane[c], solve_work(s, c), &args);
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
    if (watch.asked) pbd_metric(s->recorder, "residual_left", "1", PBD_ERROR, watch.last);
    if (s->jacobi && s->free && momentum[3] > 0) {
        const double lost = sqrt(momentum[0] * momentum[0] + momentum[1] * momentum[1] + momentum[2] * momentum[2]);
        s->momentum_error = fmax(s->momentum_error, lost / momentum[3]);
        pbd_metric(s->recorder, "momentum_error", "1", PBD_ERROR, s->momentum_error);
    }
    return pbd_ok();
}

static xpbi_end_args end_args(const xpbi *s, double dt) {
    return (xpbi_end_args){.s = s->layout.slices,
                           .p = s->now,
                           .v = s->now.v,
                           .carry = s->now.v,
                           .smooth = s->other.v,
                           .rule = rule_of(s, dt),
                           .xsph = (real)s->xsph,
                           .dt = (real)dt,
                           .flows = s->material.flow && s->plasticity != PLASTICITY_NONE,
                           .elastic_volume = s->elastic_volume};
}

static pbd_status smooth(xpbi *s, double dt) {
    const xpbi_end_args args = end_args(s, dt);
    const size_t others = 4 * s->continuum;
    const xpbi_copy_args carry = {s->now.v + others, s->other.v + others};
    PBD_TRY(PBD_RUN(s->exec, xpbi_smooth, slots_of(s), s->layout.all, &args));
    PBD_TRY(PBD_RUN(s->exec, xpbi_copy, s->particles - s->continuum, &carry));
    real *smoothed = s->other.v;
    s->other.v = s->now.v;
    s->now.v = smoothed;
    return pbd_ok();
}

static pbd_status advance(xpbi *s, double dt) {
    xpbi_end_args args = end_args(s, dt);
    if (s->apart && s->xsph > 0) args.v = s->other.v; /* what smoothing left there */
    if (s->correction == CORRECTION_SHIFT) args.carry = s->other.v;
    const xpbi_drift_args drift = {s->now.x, s->now.v, s->continuum, (real)dt};
    PBD_TRY(PBD_RUN(s->exec, xpbi_advance, slots_of(s), s->layout.all, &args));
    return PBD_RUN(s->exec, xpbi_drift, s->particles - s->continuum, &drift);
}

/* Sums of what there is to say of a step, from the device's blocks; the first number is the largest. */
static pbd_status watch(const xpbi *s, double out[XPBI_WATCHED]) {
    const size_t blocks = xpbi_blocks_of(s->particles);
    const xpbi_watch_args args = {.v = s->now.v,
                                  .note = s->note,
                                  .length = s->layout.at.length,
                                  .particles = s->particles,
                                  .continuum = s->continuum,
                                  .out = s->block};
    PBD_TRY(PBD_RUN(s->exec, xpbi_watch, blocks, &args));
    memset(out, 0, XPBI_WATCHED * sizeof *out);
    return device_blocks_take(s->exec, s->block, blocks, XPBI_WATCHED, 1, out);
}

static pbd_status report(xpbi *s, double dt, long iterations) {
    double seen[XPBI_WATCHED];
    PBD_TRY(watch(s, seen));
    const uint64_t solves = (uint64_t)iterations * (s->form == XPBI_SHEAR ? 2 : 1);
    pbd_count(s->recorder, "steps", 1);
    pbd_count(s->recorder, "iterations_total", (uint64_t)iterations);
    pbd_count(s->recorder, "constraint_solves", solves * s->continuum);
    pbd_count(s->recorder, "neighbour_updates", solves * (uint64_t)seen[4]);
    if (!isfinite(seen[0]))
        return pbd_error(PBD_DIVERGED, "after %.6g s (step %llu) a velocity is not finite", s->time,
                         (unsigned long long)s->steps);
    s->fastest = sqrt(seen[0]);
    neighbours_warn(s->recorder, s->fastest, s->radius, dt, seen[1], s->continuum);
    s->looked += (double)s->continuum;
    s->deficient += seen[1];
    s->alone += seen[2];
    s->idle += seen[3];
    pbd_metric(s->recorder, "deficient_fraction", "1", PBD_ERROR, s->deficient / s->looked);
    pbd_metric(s->recorder, "lone_fraction", "1", PBD_STATE, s->alone / s->looked);
    pbd_metric(s->recorder, "applied_fraction", "1", PBD_STATE, 1 - s->idle / s->looked);
    pbd_metric(s->recorder, "neighbours_total", "1", PBD_STATE, seen[4]);
    pbd_metric(s->recorder, "filled_slots", "1", PBD_STATE, (double)s->continuum / (double)slots_of(s));
    return fluid_record(&s->fluid);
}

static pbd_status search_phase(xpbi *s, double dt) {
    /* Who may come nearer than the gap within the step, by how fast the fastest was at the end of the last one. */
    const double margin = fmin(0.25 * s->radius, 0.02 * s->radius + 3 * s->fastest * dt);
    const bool pairs = s->correction == CORRECTION_DISTANCE || s->correction == CORRECTION_SHIFT;
    return find_neighbours(s, pairs ? s->gap + margin : 0);
}

pbd_status xpbi_step(void *state, double dt) {
    xpbi *s = state;
    long iterations = 0;
    PBD_TRY(phase(s, "neighbour_search", search_phase, dt));
    PBD_TRY(phase(s, "kernels", make_gradients, dt));
    if (s->hourglass > 0) PBD_TRY(phase(s, "hourglass", make_hourglass, dt));
    PBD_TRY(phase(s, "state_update", push, dt));
    if (s->colliders.count > 0) PBD_TRY(phase(s, "colliders", move_colliders, dt));
    PBD_TRY(fluid_begin(&s->fluid, s->now.id, s->now.x, s->now.v, &s->colliders, dt));
    PBD_TRY(xpbi_cloth_begin(&s->cloth, s->now.x, s->now.v, dt));
    PBD_TRY(iterate(s, dt, &iterations));
    if (s->xsph > 0) PBD_TRY(phase(s, "xsph", smooth, dt));
    PBD_TRY(fluid_end(&s->fluid, s->now.x, s->now.v, &s->colliders, dt));
    if ((s->xsph > 0 || s->fluid.liquid > 0) && s->colliders.count > 0)
        PBD_TRY(phase(s, collide_phase(s), collide, dt));
    PBD_TRY(xpbi_cloth_meet(&s->cloth, s->now.v));
    if (s->correction == CORRECTION_SHIFT) PBD_TRY(phase(s, "position_correction", shift, dt));
    if (s->hourglass > 0) PBD_TRY(phase(s, "hourglass", keep_hourglass, dt));
    PBD_TRY(phase(s, "state_update", advance, dt));
    PBD_TRY(xpbi_cloth_end(&s->cloth));
    s->time += dt;
    s->steps++;
    return report(s, dt, iterations);
}

/* ---- The start --------------------------------------------------------------------------------------------------- */

/* Pairs in one point: those that the layout calls near. */
static pbd_status warn_of_coincident(xpbi *s) {
    uint32_t *near = malloc((s->continuum + 1) * sizeof *near);
    if (!near) return pbd_error(PBD_FAILED, "out of memory for %zu particles", s->continuum);
    const pbd_status status = pbd_download(s->exec, near, s->layout.at.near, s->continuum * sizeof *near);
    size_t pairs = 0;
    for (size_t i = 0; i < s->continuum && status.code == PBD_OK; i++) pairs += near[i];
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
    PBD_TRY(PBD_RUN(s->exec, xpbi_measure_density, slots, s->layout.all, &args));
    real *density = malloc((slots + 1) * sizeof *density);
    if (!density) return pbd_error(PBD_FAILED, "out of memory for %zu particles", s->particles);
    const pbd_status status = pbd_download(s->exec, density, s->squares, slots * sizeof *density);
    double most = 0;
    for (size_t i = 0; i < slots && status.code == PBD_OK; i++) most = fmax(most, (double)density[i]);
    free(density);
    s->rest_density = most;
    return status;
}

pbd_status xpbi_begin(xpbi *s, const pbd_scene *scene) {
    const size_t n = s->particles, bytes = 4 * n * sizeof(real);
    PBD_TRY(find_neighbours(s, 1e-6 * s->spacing));
    PBD_TRY(make_gradients(s, 1));
    PBD_TRY(warn_of_coincident(s));
    if (s->correction == CORRECTION_DENSITY) PBD_TRY(find_rest_density(s));
    xpbi_end_args args = end_args(s, 1);
    args.start = 1;
    args.flows = 0;
    PBD_TRY(PBD_RUN(s->exec, xpbi_advance, slots_of(s), s->layout.all, &args));
    real *x = malloc(bytes), *v = malloc(bytes);
    uint32_t *id = malloc(n * sizeof *id);
    pbd_status status = x && v && id ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for %zu particles", n);
    if (status.code == PBD_OK) status = pbd_download(s->exec, x, s->now.x, bytes);
    if (status.code == PBD_OK) status = pbd_download(s->exec, v, s->now.v, bytes);
    if (status.code == PBD_OK) status = pbd_download(s->exec, id, s->now.id, n * sizeof *id);
    for (size_t k = 0; k < 3 * n && status.code == PBD_OK; k++) {
        const size_t at = k / 3 * 4 + k % 3, from = 3 * (size_t)id[k / 3] + k % 3;
        const bool held = !(v[k / 3 * 4 + 3] > 0);
        x[at] = (real)(scene->particles.start ? scene->particles.start[from] : scene->particles.positions[from]);
        v[at] = (real)(scene->particles.velocities && !held ? scene->particles.velocities[from] : 0);
    }
    if (status.code == PBD_OK) status = pbd_upload(s->exec, s->now.x, x, bytes);
    if (status.code == PBD_OK) status = pbd_upload(s->exec, s->now.v, v, bytes);
    free(x);
    free(v);
    free(id);
    return status;
}
