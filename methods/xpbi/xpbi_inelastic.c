/* The inelastic continuum, the main part of xpbi: neighbours and gradients, sweeps over the constraints with their flow
 * rules, XSPH, and the update of F, the rule's state and positions (yu2024, Algorithm 1). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/exec/clock.h"
#include "methods/physics/device/phase.h"
#include "methods/physics/matter/flow_material.h"
#include "methods/xpbi/xpbi.h"
#include "methods/xpbi/xpbi_jacobi.h"

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static size_t arrays_of(const void *self, device_array *row) {
    const xpbi *s = self;
    const size_t n = s->particles + XPBI_LANES, load = s->loaded ? 4 * n : 0;
    const size_t stray = s->hourglass.hourglass_control > 0 ? 4 * n : 0;
    const size_t pushed = s->set.solver == solver_jacobi ? 12 * n : 0;
    const grid *search = &s->layout.search, *colouring = &s->layout.colouring;
    /* What the grids save determines the order of particles and constraints in later steps. */
    const device_array rows[] = {DEVICE_SAVED(s->now.x, 4 * n),
                                 DEVICE_SAVED(s->now.v, 4 * n),
                                 DEVICE_SAVED(s->now.body, 12 * n),
                                 DEVICE_ARRAY(s->now.load, load),
                                 DEVICE_SAVED(s->now.stray, stray),
                                 DEVICE_SAVED(s->now.id, n),
                                 DEVICE_ARRAY(s->spare, 4 * n),
                                 DEVICE_ARRAY(s->stray, stray),
                                 DEVICE_ARRAY(s->id, n),
                                 DEVICE_ARRAY(s->was, n),
                                 DEVICE_ARRAY(s->gradient, xpbi_is_penalty(s) ? 12 * n : 0),
                                 DEVICE_SAVED(s->plastic, s->material.flow ? s->particles : 0),
                                 DEVICE_ARRAY(s->rest, s->set.kernel == kernel_rest ? 4 * n : 0),
                                 DEVICE_ARRAY(s->until, s->poured ? 2 * s->particles : 0),
                                 DEVICE_ARRAY(s->push, pushed),
                                 DEVICE_ARRAY(s->block, XPBI_MEASURED * xpbi_blocks_of(s->particles)),
                                 DEVICE_ARRAY(s->note, n),
                                 DEVICE_ARRAY(s->clearance, s->run.colliders.count > 0 ? s->particles : 0),
                                 DEVICE_ARRAY(s->squares, 0), /* grows: xpbi_room */
                                 HOST_SAVED(s->fastest),
                                 HOST_SAVED(s->deficient),
                                 HOST_SAVED(s->idle),
                                 HOST_SAVED(s->alone),
                                 HOST_SAVED(s->looked),
                                 HOST_SAVED(s->momentum_error),
                                 HOST_SAVED(search->builds),
                                 HOST_SAVED(search->bits),
                                 HOST_SAVED(search->low),
                                 HOST_SAVED(search->high),
                                 HOST_SAVED(colouring->builds),
                                 HOST_SAVED(colouring->bits),
                                 HOST_SAVED(colouring->low),
                                 HOST_SAVED(colouring->high)};
    return DEVICE_ROWS(row, rows);
}

pbd_status xpbi_allocate_particles(xpbi *s) {
    device_array row[DEVICE_MOST_ARRAYS];
    const size_t count = arrays_of(s, row);
    return device_arrays_allocate(s->run.exec, row, count);
}

/* A state is saved between steps, when now.body has the order of the other rows. */
static void loaded(void *self) { ((xpbi *)self)->shuffled = false; }

static void free_arrays(void *self) {
    xpbi *s = self;
    device_array row[DEVICE_MOST_ARRAYS];
    const size_t count = arrays_of(s, row);
    device_arrays_free(s->run.exec, row, count);
    xpbi_layout_free(&s->layout);
}

/* ---- Before the iterations --------------------------------------------------------------------------------------- */

size_t xpbi_slots_of(const xpbi *s) { return XPBI_LANES * s->layout.slice_count; }
size_t xpbi_blocks_of(size_t count) { return (count + XPBI_BLOCK - 1) / XPBI_BLOCK; }

static flow_rule rule_of(const xpbi *s, double dt) { return flow_rule_of(&s->material, dt); }

/* Sorts positions by cell and builds neighbour lists, with pairs nearer than `near`, m, first. sort_rows follows. */
static pbd_status find_neighbours(xpbi *s, double near) {
    grid *g = &s->layout.search;
    grid_lend(g, s->spare);
    PBD_TRY(grid_build(g, s->now.x, NULL));
    const xpbi_sort_args args = {.x = s->now.x,
                                 .column = {g->column[0], g->column[1], g->column[2], g->column[3]},
                                 .was = s->was,
                                 .slot = g->slot,
                                 .particle = g->particle};
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_sort, s->continuum, &args));
    return xpbi_layout_make(&s->layout, s->now.x, near);
}

/* Sorts the other rows. Velocities go to the memory of the grid's positions, so this follows the search. */
static pbd_status sort_rows(xpbi *s) {
    const xpbi_sort_rows_args args = {.v = s->now.v,
                                      .stray = s->now.stray,
                                      .to_v = s->spare,
                                      .to_stray = s->stray,
                                      .id = s->now.id,
                                      .was = s->was,
                                      .to_id = s->id};
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_sort_rows, s->particles, &args));
    s->spare = s->now.v;
    s->stray = s->now.stray;
    s->id = s->now.id;
    s->now.v = s->run.v = args.to_v;
    s->now.stray = args.to_stray;
    s->now.id = args.to_id;
    s->run.x = s->now.x;
    s->run.id = s->now.id;
    s->shuffled = true;
    return pbd_ok();
}

static pbd_status make_gradients(xpbi *s, double dt) {
    const bool stress = s->form == XPBI_STRESS;
    s->layout.slices.x = s->rest ? s->rest : s->now.x;
    const xpbi_shape_args args = {.s = s->layout.slices,
                                  .p = s->now,
                                  .was = s->shuffled ? s->was : NULL,
                                  .note = s->note,
                                  .cutoff = (real)s->set.cutoff,
                                  .impulse = (real)(s->unit * dt),
                                  .weight = (real)(s->unit * dt * dt),
                                  .printed = s->set.xsph_form == xsph_form_printed,
                                  .stress = stress,
                                  .plain = s->set.gradient_correction == gradient_correction_off};
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_make_gradients, xpbi_slots_of(s), s->layout.all, &args));
    const xpbi_rest_args rest = {.s = s->layout.slices, .x = s->now.x, .stress = stress};
    if (s->rest) PBD_TRY(PBD_RUN(s->run.exec, xpbi_pull_gradients, xpbi_slots_of(s), s->layout.all, &rest));
    return pbd_ok();
}

static pbd_status push(xpbi *s, double dt) {
    const xpbi_push_args args = {.v = s->now.v,
                                 .load = s->forced && stepper_loaded(&s->run, s->forces_end) ? s->now.load : NULL,
                                 .id = s->now.id,
                                 .gravity = vec3_make((real)s->gravity[0], (real)s->gravity[1], (real)s->gravity[2]),
                                 .dt = (real)dt,
                                 .keep = (real)exp(-s->set.damping * dt)};
    return PBD_RUN(s->run.exec, xpbi_push, s->particles, &args);
}

/* Near pairs are those that may come nearer than the gap within the step, at the largest speed at the end of the
 * previous step. */
static pbd_status search(xpbi *s, double dt) {
    const double margin = fmin(0.25 * s->radius, 0.02 * s->radius + 3 * s->fastest * dt);
    const int kind = s->separation.position_correction;
    const bool pairs = kind == position_correction_distance || kind == position_correction_shift;
    PBD_TRY(find_neighbours(s, pairs ? s->gap + margin : 0));
    return sort_rows(s);
}

/* The tolerance of half a step covers rounding of the sum of dt. */
static pbd_status let_go(xpbi *s, const stepper *run) {
    if (!s->until) return pbd_ok();
    const xpbi_let_go_args args = {s->now.v, s->now.id, s->until, (real)(run->time + 0.5 * run->dt)};
    return PBD_RUN(run->exec, xpbi_let_go, s->particles, &args);
}

static pbd_status begin(void *self, stepper *run) {
    xpbi *s = self;
    PBD_TRY(let_go(s, run));
    if (!s->rest) PBD_TRY(PBD_PHASE(run->recorder, "neighbour_search", search(s, run->dt)));
    PBD_TRY(PBD_PHASE(run->recorder, "kernels", make_gradients(s, run->dt)));
    return PBD_PHASE(run->recorder, "state_update", push(s, run->dt));
}

/* ---- An iteration ------------------------------------------------------------------------------------------------ */

static bool is_jacobi(const xpbi *s) { return s->set.solver == solver_jacobi; }
static bool is_averaged(const xpbi *s) { return is_jacobi(s) && s->set.averaging == averaging_per_particle; }

static xpbi_solve_args solve_args(const xpbi *s, double dt) {
    const flow_rule rule = rule_of(s, dt);
    const bool flows = s->material.flow && s->set.plasticity == plasticity_implicit;
    const bool printed = s->set.gradient == gradient_printed;
    return (xpbi_solve_args){.s = s->layout.slices,
                             .v = s->now.v,
                             .moved = s->now.v,
                             .rule = rule,
                             .mu = (real)s->mu,
                             .lambda = (real)s->lambda,
                             .dt = (real)dt,
                             .relaxation = (real)(is_jacobi(s) && !is_averaged(s) ? s->set.relaxation : 1),
                             .flows = flows,
                             .hardens = flow_hardens(&s->material),
                             .printed = printed,
                             .by_strain = (!flows || flow_is_radial(&rule)) && !printed && s->form != XPBI_STRESS,
                             .form = s->form};
}

/* constraint=pair has two solves per particle. */
static pbd_work solve_work(const xpbi *s, size_t stage) {
    const size_t solves = s->form == XPBI_SHEAR ? 2 : 1;
    const pbd_work once = xpbi_work(&s->layout, stage);
    return (pbd_work){.items = solves * once.items, .entries = solves * once.entries};
}

/* The constraints, stage by stage. */
static pbd_status solve_stages(const xpbi *s, xpbi_solve_args *args) {
    for (size_t i = 0; i < s->layout.at.stages; i++) {
        args->stage = s->layout.at.stage + i;
        PBD_TRY(PBD_RUN(s->run.exec, xpbi_solve_cells, s->layout.launched[i], solve_work(s, i), args));
    }
    return pbd_ok();
}

/* Warm start: applies the impulses of the stress at t^n. */
static pbd_status start_with_stress(const xpbi *s) {
    xpbi_solve_args args = solve_args(s, s->run.dt);
    args.warm = 1;
    args.relaxation = 1;
    return is_jacobi(s) ? xpbi_jacobi_sweep(s, &args, false, false) : solve_stages(s, &args);
}

static pbd_status sweep(xpbi *s) {
    xpbi_solve_args args = solve_args(s, s->run.dt);
    const bool last = s->run.done + 1 == s->run.iterations;
    if (s->run.done == 0 && s->set.multipliers == multipliers_stress) PBD_TRY(start_with_stress(s));
    args.note = last ? s->note : NULL;
    return is_jacobi(s) ? xpbi_jacobi_sweep(s, &args, is_averaged(s), last || s->set.tolerance > 0)
                        : solve_stages(s, &args);
}

static pbd_status iterate(void *self, stepper *run) { return PBD_PHASE(run->recorder, "inelasticity", sweep(self)); }

/* ---- Residuals --------------------------------------------------------------------------------------------------- */

/* 2-norm of C + alpha~ lambda over all constraints, in units of sqrt u. */
static pbd_status residual_of(xpbi *s, const xpbi_solve_args *solve, double *out) {
    const size_t slots = xpbi_slots_of(s), blocks = xpbi_blocks_of(slots);
    xpbi_solve_args args = *solve;
    PBD_TRY(xpbi_room(s->run.exec, slots + blocks, sizeof(real), &s->squares, &s->squares_room));
    args.residual = s->squares;
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_measure_residual, slots, s->layout.all, &args));
    const xpbi_sum_args sum = {s->squares, slots, s->squares + slots};
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_sum, blocks, &sum));
    double square = 0;
    PBD_TRY(device_blocks_take(s->run.exec, s->squares + slots, blocks, 1, 0, &square));
    *out = sqrt(square);
    return pbd_ok();
}

static pbd_status residual(void *self, stepper *run, step_residual *out) {
    xpbi *s = self;
    const xpbi_solve_args args = solve_args(s, run->dt);
    out->rounding = 8 * REAL_EPSILON * sqrt((2 * s->mu + s->lambda) * (double)s->continuum);
    return residual_of(s, &args, &out->norm);
}

static void record_residual(xpbi *s, long iteration) {
    const double number = (double)iteration;
    pbd_series(s->run.recorder, "residual", "value", "1", &s->residual.last, 1, 1);
    pbd_series(s->run.recorder, "residual_iteration", "value", "1", &number, 1, 1);
    pbd_series(s->run.recorder, "residual_time", "value", "s", &s->residual.spent, 1, 1);
}

static bool is_last_step(const xpbi *s) { return s->duration > 0 && s->run.time + 1.5 * s->run.dt > s->duration; }

static void begin_residual(xpbi *s) {
    const int when = s->set.residual;
    memset(&s->residual, 0, sizeof s->residual);
    s->residual.last = 1;
    s->residual.recorded = when == residual_every || (when == residual_first && s->run.steps == 0) ||
                           (when == residual_last && is_last_step(s));
    s->residual.asked = s->residual.recorded || s->set.tolerance > 0;
}

pbd_status xpbi_watch_residual(void *self, stepper *run, bool *stop) {
    xpbi *s = self;
    double now = 0;
    if (run->done == 0) begin_residual(s);
    if (!s->residual.asked) return pbd_ok();
    const xpbi_solve_args args = solve_args(s, run->dt);
    PBD_TRY(pbd_exec_wait(run->exec));
    if (run->done > 0) s->residual.spent += pbd_wall_seconds() - s->residual.since;
    PBD_TRY(PBD_PHASE(run->recorder, "residual", residual_of(s, &args, &now)));
    if (run->done == 0) s->residual.first = now;
    s->residual.last = s->residual.first > 0 ? now / s->residual.first : 0;
    if (s->residual.recorded) record_residual(s, run->done);
    s->residual.since = pbd_wall_seconds();
    *stop = s->set.tolerance > 0 && s->residual.last <= s->set.tolerance;
    return pbd_ok();
}

/* ---- After the iterations ---------------------------------------------------------------------------------------- */

static xpbi_end_args end_args(const xpbi *s, double dt) {
    return (xpbi_end_args){.s = s->layout.slices,
                           .p = s->now,
                           .v = s->now.v,
                           .smooth = s->spare,
                           .rule = rule_of(s, dt),
                           .printed = s->set.xsph_form == xsph_form_printed,
                           .xsph = (real)s->set.xsph,
                           .dt = (real)dt,
                           .mu = (real)s->mu,
                           .lambda = (real)s->lambda,
                           .flows = s->material.flow && s->set.plasticity != plasticity_none,
                           .elastic_volume = s->set.volume == volume_elastic};
}

static pbd_status smooth(xpbi *s, double dt) {
    const xpbi_end_args args = end_args(s, dt);
    const size_t others = 4 * s->continuum;
    const xpbi_copy_args carry = {s->now.v + others, s->spare + others};
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_smooth, xpbi_slots_of(s), s->layout.all, &args));
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_copy, s->particles - s->continuum, &carry));
    real *smoothed = s->spare;
    s->spare = s->now.v;
    s->now.v = s->run.v = smoothed;
    return pbd_ok();
}

static pbd_status end(void *self, stepper *run) {
    xpbi *s = self;
    double momentum[XPBI_MOMENTA] = {0};
    if (is_jacobi(s) && s->free) PBD_TRY(xpbi_jacobi_momentum(s, momentum));
    if (momentum[3] > 0) {
        const double lost = sqrt(momentum[0] * momentum[0] + momentum[1] * momentum[1] + momentum[2] * momentum[2]);
        s->momentum_error = fmax(s->momentum_error, lost / momentum[3]);
        pbd_metric(run->recorder, "momentum_error", "1", PBD_FLAW, s->momentum_error);
    }
    if (s->set.xsph > 0) PBD_TRY(PBD_PHASE(run->recorder, "xsph", smooth(s, run->dt)));
    return pbd_ok();
}

static pbd_status update_state(xpbi *s, double dt) {
    xpbi_end_args args = end_args(s, dt);
    if (s->set.deformation == deformation_before_xsph && s->set.xsph > 0)
        args.v = s->spare; /* velocities before smoothing */
    if (args.flows && pbd_records(s->run.recorder)) args.plastic = s->plastic;
    const bool shifts = s->separation.position_correction == position_correction_shift;
    const xpbi_carry_args carry = {s->now.x, shifts ? s->spare : s->now.v, s->now.body, (real)dt};
    const xpbi_drift_args drift = {s->now.x, s->now.v, s->continuum, (real)dt};
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_advance, xpbi_slots_of(s), s->layout.all, &args));
    s->shuffled = false;
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_carry, s->continuum, &carry));
    return PBD_RUN(s->run.exec, xpbi_drift, s->particles - s->continuum, &drift);
}

static pbd_status move(void *self, stepper *run) {
    return PBD_PHASE(run->recorder, "state_update", update_state(self, run->dt));
}

/* ---- Measurements ------------------------------------------------------------------------------------------------ */

/* Reduces blocks of particles on the device and the blocks here: a maximum first, then sums (xpbi_measure). */
static pbd_status look(const xpbi *s, double out[XPBI_MEASURED]) {
    const size_t blocks = xpbi_blocks_of(s->particles);
    const xpbi_measure_args args = {.v = s->now.v,
                                    .note = s->note,
                                    .length = s->layout.at.length,
                                    .particles = s->particles,
                                    .continuum = s->continuum,
                                    .out = s->block};
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_measure, blocks, &args));
    memset(out, 0, XPBI_MEASURED * sizeof *out);
    return device_blocks_take(s->run.exec, s->block, blocks, XPBI_MEASURED, 1, out);
}

static pbd_status record(void *self, stepper *run) {
    xpbi *s = self;
    double seen[XPBI_MEASURED];
    PBD_TRY(look(s, seen));
    const uint64_t solves = (uint64_t)run->done * (s->form == XPBI_SHEAR ? 2 : 1);
    pbd_count(s->run.recorder, "iterations_total", (uint64_t)run->done);
    pbd_count(s->run.recorder, "constraint_solves", solves * s->continuum);
    pbd_count(s->run.recorder, "neighbour_updates", solves * (uint64_t)seen[4]);
    if (!isfinite(seen[0]))
        return pbd_error(PBD_DIVERGED, "after %.6g s (step %llu) a velocity is not finite", run->time,
                         (unsigned long long)run->steps);
    s->fastest = sqrt(seen[0]);
    const double relative = s->rest ? 0 : s->fastest; /* rest kernels do not depend on how far particles move */
    neighbours_warn(s->run.recorder, relative, s->radius, run->dt, seen[1], s->continuum);
    s->looked += (double)s->continuum;
    s->deficient += seen[1];
    s->alone += seen[2];
    s->idle += seen[3];
    pbd_metric(s->run.recorder, "deficient_fraction", "1", PBD_FLAW, s->deficient / s->looked);
    pbd_metric(s->run.recorder, "lone_fraction", "1", PBD_STATE, s->alone / s->looked);
    pbd_metric(s->run.recorder, "applied_fraction", "1", PBD_STATE, 1 - s->idle / s->looked);
    pbd_metric(s->run.recorder, "neighbours_total", "1", PBD_STATE, seen[4]);
    pbd_metric(s->run.recorder, "filled_slots", "1", PBD_STATE, (double)s->continuum / (double)xpbi_slots_of(s));
    return pbd_ok();
}

/* ---- The start --------------------------------------------------------------------------------------------------- */

/* At creation the near pairs of the layout are the coincident ones. */
static pbd_status warn_of_coincident(const xpbi *s) {
    pbd_arena a PBD_ARENA;
    uint32_t *near = pbd_new(&a, uint32_t, s->continuum);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(s->run.exec, near, s->layout.at.near, s->continuum * sizeof *near));
    size_t pairs = 0;
    for (size_t i = 0; i < s->continuum; i++) pairs += near[i];
    if (pairs > 0)
        pbd_warning(s->run.recorder, "coincident_particles",
                    "%zu pairs of particles lie within a millionth of the spacing %g m: they do not interact", pairs,
                    s->spacing);
    return pbd_ok();
}

/* kernel=rest: builds the lists of the whole run. Position correction acts on all pairs of neighbours at rest. */
static pbd_status keep_rest(xpbi *s) {
    const xpbi_copy_args copy = {s->now.x, s->rest};
    PBD_TRY(PBD_RUN(s->run.exec, xpbi_copy, s->particles + XPBI_LANES, &copy));
    return xpbi_layout_make(&s->layout, s->now.x, 2 * s->radius);
}

static pbd_status place_until(xpbi *s, const pbd_scene *scene) {
    pbd_arena a PBD_ARENA;
    real *until = pbd_new(&a, real, 2 * s->particles);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t k = 0; k < scene->particles.fixed; k++) {
        const size_t i = scene->particles.fixed_particle[k];
        until[2 * i] = (real)scene->pour.until[k];
        until[2 * i + 1] = (real)(1 / scene->particles.masses[i]);
    }
    return pbd_upload(s->run.exec, s->until, until, 2 * s->particles * sizeof *until);
}

pbd_status xpbi_start(xpbi *s, const pbd_scene *scene) {
    const pbd_particles *from = &scene->particles;
    const size_t n = s->particles, bytes = 4 * n * sizeof(real);
    pbd_exec *exec = s->run.exec;
    pbd_arena a PBD_ARENA;
    real *x = pbd_new(&a, real, 4 * n), *v = pbd_new(&a, real, 4 * n);
    uint32_t *id = pbd_new(&a, uint32_t, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(find_neighbours(s, 1e-6 * s->spacing));
    PBD_TRY(warn_of_coincident(s));
    if (s->rest) PBD_TRY(keep_rest(s));
    PBD_TRY(sort_rows(s));
    PBD_TRY(make_gradients(s, 1));
    if (xpbi_has_springs(s)) PBD_TRY(xpbi_make_springs(s, &s->run)); /* their energy may be read before a step */
    if (s->separation.position_correction == position_correction_density) PBD_TRY(xpbi_find_rest_density(s));
    xpbi_end_args args = end_args(s, 1);
    args.flows = 0;
    const xpbi_carry_args stay = {s->now.x, s->now.v, s->now.body, 0};
    PBD_TRY(PBD_RUN(exec, xpbi_advance, xpbi_slots_of(s), s->layout.all, &args)); /* F: the gradient of displacements */
    s->shuffled = false;
    PBD_TRY(PBD_RUN(exec, xpbi_carry, s->continuum, &stay));
    PBD_TRY(pbd_download(exec, x, s->now.x, bytes));
    PBD_TRY(pbd_download(exec, v, s->now.v, bytes));
    PBD_TRY(pbd_download(exec, id, s->now.id, n * sizeof *id));
    for (size_t k = 0; k < n; k++)
        for (size_t d = 0; d < 3; d++) {
            const size_t i = 3 * (size_t)id[k] + d;
            const bool held = !(v[4 * k + 3] > 0);
            x[4 * k + d] = (real)(from->start ? from->start[i] : from->positions[i]);
            const double holding = s->poured ? scene->pour.velocity[d] : 0;
            v[4 * k + d] = (real)(held ? holding : from->velocities ? from->velocities[i] : 0);
        }
    PBD_TRY(pbd_upload(exec, s->now.x, x, bytes));
    PBD_TRY(pbd_upload(exec, s->now.v, v, bytes));
    return s->poured ? place_until(s, scene) : pbd_ok();
}

const step_part xpbi_inelastic_part = {
    .begin = begin,
    .iterate = iterate,
    .end = end,
    .move = move,
    .record = record,
    .residual = residual,
    .arrays = arrays_of,
    .loaded = loaded,
    .free = free_arrays,
};
