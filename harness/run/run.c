/* One run, from a checked cell to a result.
 *
 *   pbd_plan_item -> case->build -> pbd_scene -> method->create -> step or solve -> case->measure -> pbd_result
 *
 * The scene is checked against what the method supports (scene_check.h) before a state is created. A moving scene is
 * stepped to its duration or until it is at rest (settle.h); the case observes on the way if it has an observer.
 * Afterwards the case measures the state against its reference, and metrics, series, phases, counters and the state of
 * the GPU go into the result. Nothing is stored here: run_plan.c does that. Failures of a method are results with a
 * state (`diverged`, `failed`, ...), not errors. */
#include "harness/run/run.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/scans.h"
#include "harness/catalog/scene_check.h"
#include "harness/exec/arena.h"
#include "harness/exec/backend.h"
#include "harness/exec/clock.h"
#include "harness/exec/team.h"
#include "harness/machine/gpu_state.h"
#include "harness/plan/record.h"
#include "harness/process/interrupt.h"
#include "harness/run/balance.h"
#include "harness/run/convergence.h"
#include "harness/run/pause.h"
#include "harness/run/settle.h"
#include "harness/run/solve_times.h"
#include "harness/run/step_progress.h"
#include "harness/run/strays.h"
#include "harness/run/tears.h"

/* ---- One run ----------------------------------------------------------------------------------------------------- */

/* What one solve needs, and each repetition of it. */
typedef struct drive_context {
    pbd_setup *setup;
    const pbd_scene *scene; /* of the setup */
    const pbd_method *method;
    void *state;
    const pbd_values *values;
    pbd_precision precision;
    const pbd_case *observer; /* the case, in the run proper; NULL: in a repeated solve, which is not observed */
    pbd_recorder *recorder;
    pbd_snapshots *snapshots; /* likewise */
    pbd_film *film;           /* likewise */
    pbd_spool *spool;         /* likewise */
    pbd_step_progress *steps; /* likewise */
    double *places;           /* particles x 3, of a moving scene: for check_positions, each time */
    double reached;           /* s: simulated time at the end of the last step of a moving scene */
    pbd_exec *exec;
    bool announced;               /* its memory was announced, by the estimate */
    double prepared;              /* s: time to build the scene and create the state */
    pbd_balance *balance;         /* of the run proper, if the scene moves; owned */
    pbd_convergence *convergence; /* of the run proper, also if the scene is solved */
    pbd_pausable *pausable;       /* to pause the run proper */
} drive_context;

/* The time step that the method recorded as its choice, else its parameter, s. */
static pbd_status time_step(const drive_context *c, double *dt) {
    const pbd_result *reported = pbd_recorder_result(c->recorder);
    const pbd_value *set = pbd_value_named(c->values, "dt");
    *dt = set ? set->number : 0;
    for (size_t i = 0; i < reported->metrics; i++)
        if (strcmp(reported->metric[i].name, "dt") == 0) *dt = reported->metric[i].value;
    if (*dt > 0) return pbd_ok();
    return pbd_error(PBD_NOT_SUPPORTED, "method %s gives no time step, and this case is dynamic: set dt",
                     c->method->name);
}

/* Finishes the steps that the method has only begun: what reads the state next is timed separately, without them. */
static pbd_status finish_steps(const drive_context *c) {
    return c->method->wait ? c->method->wait(c->state) : pbd_ok();
}

/* Takes a snapshot, timed separately. steps: total number of steps; 0: unknown. */
static pbd_status keep_snapshot(const drive_context *c, double time, long step, long steps) {
    const bool picture = c->snapshots && pbd_snapshots_want(c->snapshots, time, step, steps);
    const bool frame = c->film && pbd_film_wants(c->film, time, step);
    const bool kept = c->spool && pbd_spool_wants(c->spool, time, step);
    if (!picture && !frame && !kept) return pbd_ok();
    PBD_TRY(finish_steps(c));
    pbd_recorder_leave(c->recorder);
    pbd_recorder_enter(c->recorder, "snapshots");
    pbd_status status = picture ? pbd_snapshots_keep(c->snapshots, c->state) : pbd_ok();
    if (status.code == PBD_OK && frame) status = pbd_film_keep(c->film, c->state);
    if (status.code == PBD_OK && kept) status = pbd_spool_keep(c->spool, c->state);
    pbd_recorder_leave(c->recorder);
    pbd_recorder_enter(c->recorder, "solve");
    return status;
}

typedef struct finding {
    const double *x;
    atomic_size_t lost;
} finding;

static void count_lost(void *context, size_t begin, size_t end) {
    finding *f = context;
    size_t lost = 0;
    for (size_t i = begin; i < end; i++) lost += !isfinite(f->x[i]);
    atomic_fetch_add(&f->lost, lost);
}

/* Reports a non-finite position as such, before it makes a metric NaN. */
static pbd_status check_positions(const drive_context *c) {
    const size_t n = 3 * c->scene->particles.count;
    finding all = {.x = c->places};
    PBD_TRY(c->method->read(c->state, PBD_POSITIONS, c->places));
    pbd_team_run(n, 65536, count_lost, &all);
    for (size_t i = 0; i < n && atomic_load(&all.lost) > 0; i++)
        if (!isfinite(c->places[i]))
            return pbd_error(PBD_DIVERGED, "particle %zu has a non-finite position after %g of %g s", i / 3, c->reached,
                             c->scene->duration);
    return pbd_ok();
}

/* Calls the case's observer. A non-finite position stays non-finite, so it ends the run here. What is measured is left
 * out of the method's totals. */
static pbd_status look(const drive_context *c, double time) {
    const pbd_exec_totals before = pbd_exec_read_totals(c->exec);
    pbd_status status = c->scene->duration > 0 ? check_positions(c) : pbd_ok();
    if (status.code == PBD_OK) status = c->observer->observe(c->setup, c->method, c->state, time, c->recorder);
    pbd_exec_restore_totals(c->exec, &before);
    return status;
}

/* Samples the balances after `step` steps, when they are due; timed separately. */
static pbd_status keep_balance(const drive_context *c, long step) {
    if (!c->balance || !pbd_balance_wants(c->balance, step)) return pbd_ok();
    PBD_TRY(finish_steps(c));
    pbd_recorder_leave(c->recorder);
    pbd_recorder_enter(c->recorder, "balance");
    const pbd_exec_totals before = pbd_exec_read_totals(c->exec);
    const pbd_status status = pbd_balance_sample(c->balance, c->state);
    pbd_exec_restore_totals(c->exec, &before);
    pbd_recorder_leave(c->recorder);
    pbd_recorder_enter(c->recorder, "solve");
    return status;
}

/* Calls the case's observer after `step` steps if it is due, timed separately. Also takes snapshots and balances. */
static pbd_status observe(const void *context, long step, double dt) {
    const drive_context *c = context;
    const double every = c->setup->observe_every, time = (double)step * dt;
    if (c->steps)
        pbd_step_progress_show(c->steps, step, lround(c->scene->duration / dt),
                               c->balance ? pbd_balance_energy(c->balance) : (double)NAN);
    PBD_TRY(keep_snapshot(c, time, step, lround(c->scene->duration / dt)));
    PBD_TRY(keep_balance(c, step));
    if (c->convergence) pbd_convergence_watch(c->convergence, c->state, step);
    if (!c->observer || !c->observer->observe || !(every > 0)) return pbd_ok();
    /* Rounding must not lose the step at which a multiple of `every` is reached. */
    const double now = floor(time / every + 1e-9), before = floor((time - dt) / every + 1e-9);
    if (now <= before) return pbd_ok();
    PBD_TRY(finish_steps(c));
    pbd_recorder_leave(c->recorder);
    pbd_recorder_enter(c->recorder, "observe");
    const pbd_status status = look(c, time);
    pbd_recorder_leave(c->recorder);
    pbd_recorder_enter(c->recorder, "solve");
    return status;
}

/* Continues from the paused state if there is one. *first: number of steps done before. */
static pbd_status go_on(const drive_context *c, long *first) {
    c->pausable->state = c->state;
    c->pausable->balance = c->balance;
    c->pausable->convergence = c->convergence;
    return pbd_pause_load(c->pausable, first);
}

/* Leaves the current phase first, so that its time is among the saved records. */
static pbd_status pause_run(const drive_context *c, long step) {
    PBD_TRY(finish_steps(c));
    pbd_recorder_leave(c->recorder);
    const pbd_status status = pbd_pause_save(c->pausable, step);
    pbd_recorder_enter(c->recorder, "solve");
    c->pausable->paused = true;
    return status;
}

static pbd_status stopped_at_limit(const pbd_plan_item *item, pbd_recorder *recorder, const char *says) {
    pbd_metric(recorder, PBD_WALL_LIMIT, "s", PBD_STATE, item->limit);
    return pbd_error(PBD_INTERRUPTED, "longer than the limit of %g s: %s", item->limit, says);
}

/* Stops a run that would take far longer than its limit: a ranking has hundreds of such trials. */
static pbd_status check_pace(const drive_context *c, long done, long steps) {
    const pbd_plan_item *item = c->pausable->item;
    if (!(item->limit > 0)) return pbd_ok();
    if (pbd_time_is_over()) return pbd_ok(); /* the loop over the steps ends by itself */
    const double elapsed = pbd_wall_seconds() - c->pausable->began - c->prepared;
    if (!pbd_is_too_slow(item->limit, c->prepared, elapsed, done, steps)) return pbd_ok();
    char says[100];
    snprintf(says, sizeof says, "%ld of %ld steps took %.3g s", done, steps, elapsed);
    return stopped_at_limit(item, c->recorder, says);
}

/* Advances a dynamic scene to its end. */
static pbd_status move(drive_context *c, double dt) {
    const long steps = lround(c->scene->duration / dt);
    long first = 0;
    if (c->observer) PBD_TRY(go_on(c, &first));
    c->reached = (double)first * dt;
    if (first == 0) PBD_TRY(observe(c, 0, dt));
    for (long i = first; i < steps; i++) {
        if (c->observer && i > first && pbd_pause_is_due(c->pausable)) return pause_run(c, i);
        if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "stopped after %ld of %ld steps", i, steps);
        PBD_TRY(c->method->step(c->state, dt));
        c->reached = i + 1 < steps ? (double)(i + 1) * dt : c->scene->duration;
        PBD_TRY(observe(c, i + 1, dt));
        if (c->observer) PBD_TRY(check_pace(c, i + 1 - first, steps - first));
    }
    return finish_steps(c);
}

/* Runs the scene to its duration or to rest, by steps or by the method's own solve, as the scene requires. */
static pbd_status drive_once(drive_context *c) {
    const pbd_method *m = c->method;
    double dt;
    if (c->scene->solved) {
        PBD_TRY(keep_snapshot(c, 0, 0, 0));
        if (c->convergence) pbd_convergence_watch(c->convergence, c->state, 0);
        return m->solve(c->state);
    }
    PBD_TRY(time_step(c, &dt));
    c->setup->dt = dt;
    if (c->convergence) c->convergence->steps = lround(c->scene->duration / dt);
    if (c->observer)
        PBD_TRY(
            pbd_balance_create(c->scene, m, c->values, c->precision, dt, lround(c->scene->duration / dt), &c->balance));
    if (c->scene->duration > 0) return move(c, dt);
    const pbd_settling body = {c->setup, m, c->state, dt, c->precision, observe, c};
    PBD_TRY(pbd_settle_body(&body, c->recorder));
    return finish_steps(c);
}

#if defined(PBD_PLANTED_PERCENT) /* a program made slower on purpose: cmake/planted.cmake */
static pbd_status drive(drive_context *c) {
    const bool planted = !*PBD_PLANTED_METHOD || strcmp(c->method->name, PBD_PLANTED_METHOD) == 0;
    const double begin = pbd_cpu_seconds();
    const pbd_status status = drive_once(c);
    const double end = pbd_cpu_seconds();
    while (planted && pbd_cpu_seconds() - end < 0.01 * PBD_PLANTED_PERCENT * (end - begin)) continue;
    return status;
}
#else
static pbd_status drive(drive_context *c) { return drive_once(c); }
#endif

static pbd_status drive_again(void *context) {
    if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "stopped while it was timed");
    return drive(context);
}

/* Untimed solves that bring caches, clocks and threads to a steady state. The start state is restored after each. */
static pbd_status warm_up(drive_context *c, const pbd_saved_state *start, int times, pbd_recorder *recorder) {
    pbd_status status = pbd_ok();
    pbd_recorder_mute(recorder, true);
    for (int i = 0; i < times && status.code == PBD_OK; i++) {
        status = drive(c);
        if (status.code == PBD_OK) status = c->method->load(c->state, start->blob, start->bytes);
    }
    pbd_recorder_mute(recorder, false);
    return status;
}

/* Repeats the solve after the run proper and records times only. */
static pbd_status sample_times(drive_context *c, const pbd_saved_state *start, pbd_exec *exec, pbd_sampling_plan plan,
                               pbd_recorder *recorder) {
    pbd_solve_times times PBD_CLEANUP(pbd_solve_times_free) = {0};
    pbd_recorder_mute(recorder, true);
    const pbd_status status = pbd_time_solves(c->method, c->state, start, exec, drive_again, c, plan, &times);
    pbd_recorder_mute(recorder, false);
    PBD_TRY(status);
    pbd_metric(recorder, "solve_wall", "s", PBD_COST, times.wall_median);
    pbd_metric(recorder, "solve_cpu", "s", PBD_COST, times.cpu_median);
    if (isfinite(times.instructions)) pbd_metric(recorder, "solve_instructions", "1", PBD_COST, times.instructions);
    pbd_series(recorder, "solve_wall_samples", "value", "s", times.wall, times.samples, 1);
    pbd_series(recorder, "solve_cpu_samples", "value", "s", times.cpu, times.samples, 1);
    return pbd_ok();
}

static void record_totals(const pbd_exec *exec, pbd_recorder *recorder) {
    pbd_exec_totals totals = pbd_exec_read_totals(exec);
    pbd_count_cost(recorder, "kernel_launches", totals.launches);
    pbd_count_cost(recorder, "device_bytes_peak", totals.peak);
    pbd_count_cost(recorder, "device_allocations", totals.allocations);
    pbd_count_cost(recorder, "host_waits", totals.waits);
    pbd_metric(recorder, "bytes_moved", "B", PBD_COST, totals.bytes);
    pbd_metric(recorder, "flops", "1", PBD_COST, totals.flops);
}

/* No metric of a run that is `ok` may be NaN or infinite: it could not be judged. */
static pbd_status check_metrics(const pbd_result *r) {
    for (size_t i = 0; i < r->metrics; i++)
        if (!isfinite(r->metric[i].value)) return pbd_error(PBD_DIVERGED, "metric %s is not finite", r->metric[i].name);
    return pbd_ok();
}

/* A failure to write pictures is only a warning: the run is valid without them. */
static void write_snapshots(drive_context *c) {
    pbd_recorder_enter(c->recorder, "snapshots");
    pbd_status status = c->spool ? pbd_spool_end(c->spool, c->state) : pbd_ok();
    if (status.code == PBD_OK && c->snapshots) status = pbd_snapshots_end(c->snapshots, c->state);
    if (status.code == PBD_OK && c->snapshots) status = pbd_snapshots_write(c->snapshots);
    if (status.code == PBD_OK && c->film) status = pbd_film_write(c->film);
    pbd_recorder_leave(c->recorder);
    if (status.code != PBD_OK) pbd_warning(c->recorder, PBD_SNAPSHOTS_MISSING, "%s", status.text);
}

static pbd_status judge_losses(const drive_context *c) {
    pbd_arena a PBD_ARENA;
    double *x = pbd_new(&a, double, 3 * c->scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(c->method->read(c->state, PBD_POSITIONS, x));
    PBD_TRY(pbd_tears_record(c->scene, c->method, x, c->recorder));
    return pbd_strays_record(c->scene, c->method, x, c->reached, c->recorder);
}

/* Records torn pairs and stray particles. Reading the positions is left out of the method's totals. */
static pbd_status record_losses(const drive_context *c) {
    const pbd_exec_totals before = pbd_exec_read_totals(c->exec);
    pbd_recorder_enter(c->recorder, "measure");
    const pbd_status status = judge_losses(c);
    pbd_recorder_leave(c->recorder);
    pbd_exec_restore_totals(c->exec, &before);
    return status;
}

/* Whether there is no state to measure. A run that diverged or did not settle is measured as far as it came. */
static bool is_over(pbd_status status) {
    return status.code == PBD_FAILED || status.code == PBD_BAD_INPUT || status.code == PBD_NOT_SUPPORTED;
}

static void look_at_iterate(const void *context, long iteration, const double *positions, pbd_recorder *recorder) {
    const drive_context *c = context;
    c->observer->iterate(c->setup, iteration, positions, recorder);
}

static pbd_status solve_and_measure(const pbd_plan_item *item, drive_context *c, pbd_exec *exec,
                                    pbd_recorder *recorder) {
    pbd_exec_reset_totals(exec);
    pbd_convergence convergence = pbd_convergence_of(c->method, c->values, 0);
    pbd_recorder_enter(recorder, "solve");
    pbd_step_progress steps;
    pbd_announce_memory(pbd_memory_held(), item->progress && !c->announced);
    pbd_setup_end(item->progress);
    pbd_step_progress_begin(&steps, item->progress, c->prepared);
    c->observer = item->cell.c;
    c->steps = &steps;
    c->convergence = &convergence;
    if (c->observer->iterate) pbd_recorder_look(recorder, look_at_iterate, c);
    pbd_status status = drive(c);
    pbd_recorder_look(recorder, NULL, NULL);
    c->observer = NULL;
    c->steps = NULL;
    c->convergence = NULL;
    pbd_step_progress_end(&steps);
    pbd_status waited = pbd_exec_wait(exec);
    pbd_recorder_leave(recorder);
    if (c->pausable->paused) return status;
    if (status.code == PBD_OK) status = waited;
    if (status.code == PBD_OK && c->scene->duration > 0) status = check_positions(c);
    const bool over = is_over(status);
    const pbd_status kept = over || status.code == PBD_NO_EQUILIBRIUM ? pbd_ok() : record_losses(c);
    record_totals(exec, recorder); /* before the case measures, which adds to them */
    if (c->scene->duration > 0) pbd_metric(recorder, "simulated_time", "s", PBD_STATE, c->reached);
    if (over) return status;
    if (c->snapshots || c->film || c->spool) write_snapshots(c);
    pbd_convergence_end(&convergence, c->state, recorder);
    if (status.code == PBD_NO_EQUILIBRIUM) return status;
    pbd_recorder_enter(recorder, "measure");
    const pbd_status measured = item->cell.c->measure(c->setup, c->method, c->state, recorder);
    pbd_recorder_leave(recorder);
    if (status.code == PBD_OK) status = measured;
    const pbd_status balanced = c->balance ? pbd_balance_end(c->balance, c->state, recorder) : pbd_ok();
    if (status.code == PBD_OK) status = kept;
    return status.code != PBD_OK ? status : balanced;
}

static void free_saved(pbd_saved_state *saved) { free(saved->blob); }

typedef struct pictures {
    pbd_snapshots *snapshots; /* NULL: none are wanted */
    pbd_film *film;           /* likewise */
    pbd_spool *spool;         /* likewise */
} pictures;

static void close_pictures(pictures *made) {
    pbd_snapshots_close(made->snapshots);
    pbd_film_close(made->film);
    pbd_spool_close(made->spool);
}

/* Solves, observes and measures; then, with --time, repeats the solve. */
static pbd_status run_solver(const pbd_plan_item *item, drive_context *c, const pictures *made, pbd_exec *exec) {
    pbd_saved_state start PBD_CLEANUP(free_saved) = {0};
    if (item->warmups > 0 || item->seconds > 0) PBD_TRY(pbd_save_state(c->method, c->state, &start));
    PBD_TRY(warm_up(c, &start, item->warmups, c->recorder));
    c->snapshots = made->snapshots;
    c->film = made->film;
    c->spool = made->spool;
    const pbd_status status = solve_and_measure(item, c, exec, c->recorder);
    c->snapshots = NULL;
    c->film = NULL;
    c->spool = NULL;
    pbd_balance_free(c->balance);
    c->balance = NULL;
    PBD_TRY(status);
    if (item->seconds <= 0) return pbd_ok();
    return sample_times(c, &start, exec, (pbd_sampling_plan){item->seconds, item->turns}, c->recorder);
}

/* Checks that the method can do what the scene requires: find rest by its own solve, or make steps. */
static pbd_status check_mode(const pbd_cell *cell, const pbd_scene *scene) {
    const pbd_method *m = pbd_cell_method(cell);
    const bool rests = scene->solved;
    if (rests ? m->solve != NULL : m->step != NULL) return pbd_ok();
    const char *cannot = rests ? "has no static solver" : "has only a static solver";
    for (const pbd_param *p = cell->c->params; p->name; p++)
        if (strcmp(p->name, "mode") == 0)
            return pbd_error(PBD_NOT_SUPPORTED, "method %s %s: set mode=%s", m->name, cannot,
                             rests ? "dynamic" : "static");
    return pbd_error(PBD_NOT_SUPPORTED, "method %s %s, and case %s %s: choose another method", m->name, cannot,
                     cell->c->name, rests ? "offers no other mode" : "moves");
}

/* Builds the scene in *own, which the run frees, or takes it from item->built. */
static pbd_status build_scene(const pbd_plan_item *item, pbd_setup *own, pbd_setup **setup) {
    const pbd_cell *cell = &item->cell;
    if (item->built) return pbd_built_scene_get(item->built, cell->c, &cell->case_values, setup);
    *setup = own;
    pbd_interrupt_ends("the scene was built");
    const pbd_status status = pbd_case_build(cell->c, &cell->case_values, own);
    pbd_interrupt_ends(NULL);
    return status;
}

static pbd_status run_phases(const pbd_plan_item *item, pbd_setup *own, pbd_exec *exec, void **state,
                             pbd_recorder *recorder, pbd_pausable *pausable) {
    const pbd_cell *cell = &item->cell;
    const pbd_method *m = pbd_cell_method(cell);
    pbd_setup *setup;
    pictures made PBD_CLEANUP(close_pictures) = {0};
    const double began = pbd_setup_begin(item->progress);
    pbd_recorder_enter(recorder, "build");
    pbd_team_set_threads(cell->threads);
    pbd_status status = build_scene(item, own, &setup);
    pbd_recorder_leave(recorder);
    PBD_TRY(status);
    const pbd_scene *scene = &setup->scene;
    if (item->law_instead)
        pbd_warning(recorder, "law_replaced", "material=%s in place of the case's default: method %s supports no other",
                    item->law_instead, m->name);
    for (size_t i = 0; i < setup->warnings; i++)
        pbd_warning(recorder, setup->warning[i].name, "%s", setup->warning[i].says);
    pbd_warn_of_lengths(cell->c, &cell->case_values, scene, recorder);
    pbd_warn_of_scans(&cell->case_values, recorder);
    PBD_TRY(pbd_check_scene(scene, m));
    PBD_TRY(check_mode(cell, scene));
    if (item->snapshots.count > 0) PBD_TRY(pbd_snapshots_open(&item->snapshots, scene, m, &made.snapshots));
    if (item->film.path) PBD_TRY(pbd_film_open(&item->film, scene, m, &made.film));
    if (item->spool.file) PBD_TRY(pbd_spool_begin(&item->spool, scene, m, &made.spool));
    const double estimate = pbd_estimated_memory(m->name, &cell->method_values, scene->particles.count,
                                                 pbd_particles_across(&scene->particles));
    const bool announced = pbd_announce_estimate(estimate, item->progress);
    pbd_recorder_enter(recorder, "create");
    pbd_interrupt_ends("the method was created");
    status = pbd_method_create(m, scene, &cell->method_values, exec, recorder, state);
    pbd_interrupt_ends(NULL);
    pbd_recorder_leave(recorder);
    drive_context context = {.setup = setup,
                             .scene = scene,
                             .method = m,
                             .state = *state,
                             .values = &cell->method_values,
                             .precision = cell->precision,
                             .exec = exec,
                             .announced = announced,
                             .prepared = pbd_wall_seconds() - began,
                             .recorder = recorder,
                             .pausable = pausable};
    pbd_arena a PBD_ARENA;
    if (scene->duration > 0) context.places = pbd_new(&a, double, 3 * scene->particles.count);
    if (status.code == PBD_OK) status = pbd_arena_check(&a);
    *pausable =
        (pbd_pausable){.item = item, .setup = setup, .method = m, .exec = exec, .recorder = recorder, .began = began};
    if (status.code == PBD_OK && !item->begin_only) status = run_solver(item, &context, &made, exec);
    return status;
}

/* Whether PBDBENCH_PHASES=wait is set: it shows where a GPU spends its time, but the run's total time changes. */
static bool phases_wait(void) {
    const char *text = getenv("PBDBENCH_PHASES");
    return text && strcmp(text, "wait") == 0;
}

/* On a GPU, records the GPU's state before and after the run. */
static pbd_status run_watched(const pbd_plan_item *item, pbd_setup *setup, pbd_exec *exec, void **state,
                              pbd_recorder *recorder, pbd_pausable *pausable) {
    pbd_gpu_sample before, after;
    const bool on_gpu = item->cell.backend == PBD_BACKEND_CUDA;
    if (on_gpu) pbd_sample_gpu(pbd_cuda_bus(), &before);
    const pbd_status status = run_phases(item, setup, exec, state, recorder, pausable);
    if (!on_gpu) return status;
    pbd_sample_gpu(pbd_cuda_bus(), &after);
    pbd_record_gpu(recorder, &before, &after);
    return status;
}

/* Whether the run was refused before its state was created: there is nothing to store. */
static bool is_refused(const pbd_status *ended, const void *state) {
    return (ended->code == PBD_BAD_INPUT || ended->code == PBD_NOT_SUPPORTED) && !state;
}

pbd_status pbd_run_cell(const pbd_plan_item *item, pbd_result *out) {
    pbd_status status = pbd_describe_run(item, out);
    pbd_recorder *recorder = status.code == PBD_OK ? pbd_recorder_create(out, pbd_interrupted) : NULL;
    if (!recorder) {
        pbd_result_free(out);
        return status.code == PBD_OK ? pbd_no_memory() : status;
    }
    pbd_setup setup = {0};
    pbd_exec *exec = NULL;
    void *state = NULL;
    pbd_pausable pausable = {0};
    pbd_status ended = pbd_exec_create(1 << item->cell.backend, item->cell.threads, &exec);
    if (phases_wait()) pbd_recorder_wait_at_phases(recorder, exec);
    pbd_interrupt_after(item->limit);
    if (ended.code == PBD_OK) ended = run_watched(item, &setup, exec, &state, recorder, &pausable);
    pbd_setup_end(item->progress);
    if (ended.code == PBD_INTERRUPTED && !pausable.paused && pbd_time_is_over())
        ended = stopped_at_limit(item, recorder, ended.text);
    pbd_interrupt_after(0);
    if (ended.code == PBD_OK) ended = check_metrics(out);
    if (ended.code == PBD_OK && pbd_recorder_failed(recorder)) ended = pbd_no_memory();
    const bool refused = is_refused(&ended, state) || pausable.paused; /* neither is a run */
    pbd_cell_method(&item->cell)->destroy(state);
    pbd_case_free(item->cell.c, &setup);
    pbd_exec_destroy(exec);
    pbd_recorder_destroy(recorder);
    if (refused) {
        pbd_result_free(out);
        return ended;
    }
    out->state = strdup(pbd_state_name(ended.code));
    out->says = strdup(ended.text);
    if (out->state && out->says) return pbd_ok();
    pbd_result_free(out);
    return pbd_no_memory();
}
