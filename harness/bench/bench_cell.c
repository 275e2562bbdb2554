/* Timing a cell.
 *
 * Setting up (scene, solver, fits) and restoring the state are not timed. A sample is a fixed number of steps from that
 * state, chosen once so that it lasts 10 ms or more; every sample does the same work, so what differs is the machine. A
 * method without steps is timed by its solves, each from the state restored. */
#include "harness/bench/bench_cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/stage.h"
#include "harness/exec/arena.h"
#include "harness/process/interrupt.h"

static const double SAMPLE_SECONDS = 0.010, AIM_SECONDS = 0.012;

/* A repetition: what Google Benchmark calls between two reports. */
typedef struct repetition {
    double *sample; /* s, of each iteration */
    size_t samples;
    double wall, cpu;                                        /* s, of all samples */
    pbd_bench_counter counter[PBD_BENCH_COUNTERS], left_out; /* left_out: those beyond the last place */
    size_t counters;
    pbd_machine_sample before, after;
    pbd_status ended;
    char started_at[32];
} repetition;

struct pbd_bench_cell {
    const pbd_plan_item *item;
    const char *name; /* outlives the cell */
    pbd_bench_shared *shared;
    /* Set up while shared->open is this cell. */
    pbd_stage stage;
    void *blob;
    size_t blob_bytes;
    long steps;              /* of a sample; 0: not chosen yet */
    uint64_t *counts_before; /* of stage.record.metric, when the repetition began */
    size_t counts;
    pbd_arena owned; /* of the repetitions since the last report */
    repetition *repetition;
    size_t repetitions;
};

static const pbd_method *method_of(const pbd_bench_cell *b) { return pbd_cell_method(&b->item->cell); }

/* ---- Setting up -------------------------------------------------------------------------------------------------- */

static void tear_down(pbd_bench_cell *b) {
    pbd_stage_close(&b->stage);
    free(b->blob);
    b->blob = NULL;
}

static pbd_status create_state(pbd_bench_cell *b) {
    const pbd_method *m = method_of(b);
    PBD_TRY(pbd_stage_open(&b->item->cell, false, &b->stage));
    PBD_TRY(m->save(b->stage.state, NULL, &b->blob_bytes));
    b->blob = malloc(b->blob_bytes + 1);
    if (!b->blob) return pbd_no_memory();
    return m->save(b->stage.state, b->blob, &b->blob_bytes);
}

/* ---- A sample ---------------------------------------------------------------------------------------------------- */

static pbd_status restore_state(pbd_bench_cell *b) {
    return method_of(b)->load(b->stage.state, b->blob, b->blob_bytes);
}

static pbd_status time_steps(pbd_bench_cell *b, pbd_exec_time *out) {
    PBD_TRY(pbd_exec_timer_begin(b->stage.exec));
    for (long i = 0; i < b->steps; i++) PBD_TRY(method_of(b)->step(b->stage.state, b->stage.dt));
    if (method_of(b)->wait) PBD_TRY(method_of(b)->wait(b->stage.state));
    return pbd_exec_timer_end(b->stage.exec, out);
}

static pbd_status time_solves(pbd_bench_cell *b, pbd_exec_time *out) {
    *out = (pbd_exec_time){0};
    for (long i = 0; i < b->steps; i++) {
        pbd_exec_time one;
        PBD_TRY(restore_state(b));
        PBD_TRY(pbd_exec_timer_begin(b->stage.exec));
        PBD_TRY(method_of(b)->solve(b->stage.state));
        PBD_TRY(pbd_exec_timer_end(b->stage.exec, &one));
        out->wall_s += one.wall_s;
        out->cpu_s += one.cpu_s;
    }
    return pbd_ok();
}

static pbd_status time_sample(pbd_bench_cell *b, pbd_exec_time *out) {
    if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted");
    return method_of(b)->step ? time_steps(b, out) : time_solves(b, out);
}

/* Chooses the steps of a sample; choosing them is the warm-up. A diverged solver is not timed: all samples start from
 * one state, so the end of one is checked. */
static pbd_status choose_steps(pbd_bench_cell *b) {
    const bool chosen = b->steps > 0;
    if (!chosen) b->steps = 1;
    for (int round = 0;; round++) {
        pbd_exec_time time;
        PBD_TRY(restore_state(b));
        PBD_TRY(time_sample(b, &time));
        if (chosen || (round > 0 && time.wall_s >= SAMPLE_SECONDS) || b->steps >= 1 << 24)
            return pbd_stage_check(&b->stage, b->steps);
        if (time.wall_s >= SAMPLE_SECONDS) continue; /* the first includes cold caches */
        const double more = time.wall_s > AIM_SECONDS / 16 ? AIM_SECONDS / time.wall_s : 16;
        b->steps = (long)ceil((double)b->steps * more);
    }
}

/* ---- What Google Benchmark calls --------------------------------------------------------------------------------- */

static pbd_status set_up(pbd_bench_cell *b) {
    if (b->shared->open == b) return pbd_ok();
    if (b->shared->open) tear_down(b->shared->open);
    b->shared->open = b;
    PBD_TRY(create_state(b));
    return choose_steps(b);
}

/* The counts at the start of this repetition. */
static pbd_status note_counts(pbd_bench_cell *b) {
    b->counts = b->stage.record.metrics;
    b->counts_before = pbd_new(&b->owned, uint64_t, b->counts);
    PBD_TRY(pbd_arena_check(&b->owned));
    for (size_t i = 0; i < b->counts; i++) b->counts_before[i] = b->stage.record.metric[i].count;
    return pbd_ok();
}

static pbd_status add_repetition(pbd_bench_cell *b) {
    if (!pbd_arena_more(&b->owned, &b->repetition, b->repetitions, sizeof *b->repetition))
        return pbd_arena_check(&b->owned);
    b->repetition[b->repetitions++].ended = pbd_ok();
    return pbd_ok();
}

static repetition *current(pbd_bench_cell *b) { return &b->repetition[b->repetitions - 1]; }

static pbd_status start(pbd_bench_cell *b) {
    pbd_result now PBD_CLEANUP(pbd_result_free) = {0};
    if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted");
    PBD_TRY(set_up(b));
    PBD_TRY(note_counts(b));
    PBD_TRY(pbd_describe_run(b->item, &now));
    memcpy(current(b)->started_at, now.started_at, sizeof now.started_at);
    pbd_exec_reset_totals(b->stage.exec);
    return pbd_ok();
}

static pbd_status begin(void *context) {
    pbd_bench_cell *b = context;
    PBD_TRY(add_repetition(b));
    const pbd_status status = start(b);
    if (status.code != PBD_OK && b->shared->open == b) { /* possibly set up in part */
        tear_down(b);
        b->shared->open = NULL;
    }
    pbd_sample_machine(&current(b)->before);
    return current(b)->ended = status;
}

static pbd_status restore(void *context) {
    pbd_bench_cell *b = context;
    return current(b)->ended = restore_state(b);
}

static pbd_status take_sample(pbd_bench_cell *b, repetition *r, double *seconds) {
    pbd_exec_time time;
    PBD_TRY(time_sample(b, &time));
    if (!pbd_arena_more(&b->owned, &r->sample, r->samples, sizeof *r->sample)) return pbd_arena_check(&b->owned);
    r->sample[r->samples++] = time.wall_s;
    r->wall += time.wall_s;
    r->cpu += time.cpu_s;
    *seconds = time.wall_s;
    return pbd_ok();
}

static pbd_status iterate(void *context, double *seconds) {
    pbd_bench_cell *b = context;
    *seconds = 0;
    return current(b)->ended = take_sample(b, current(b), seconds);
}

/* ---- Counters ---------------------------------------------------------------------------------------------------- */

static pbd_bench_counter *next_counter(repetition *r) {
    return r->counters == PBD_BENCH_COUNTERS ? &r->left_out : &r->counter[r->counters++];
}

static void add_rate(repetition *r, const char *name, const char *unit, double value) {
    pbd_bench_counter *c = next_counter(r);
    *c = (pbd_bench_counter){.value = value, .rate = true, .unit = unit, .kind = PBD_QUALITY};
    snprintf(c->name, sizeof c->name, "%s_per_second", name);
}

static void add_number(repetition *r, const char *name, pbd_kind kind, double value) {
    pbd_bench_counter *c = next_counter(r);
    *c = (pbd_bench_counter){.value = value, .unit = "1", .kind = kind};
    snprintf(c->name, sizeof c->name, "%s", name);
}

/* All counts of the method while it was timed: steps, constraint_solves, neighbour_updates... */
static void add_counts(pbd_bench_cell *b, repetition *r) {
    for (size_t i = 0; i < b->stage.record.metrics; i++) {
        const pbd_metric_item *m = &b->stage.record.metric[i];
        const uint64_t before = i < b->counts ? b->counts_before[i] : 0;
        if (m->is_count && m->count > before) add_rate(r, m->name, "1/s", (double)(m->count - before));
    }
    if (!method_of(b)->step) add_rate(r, "solves", "1/s", (double)b->steps * (double)r->samples);
}

/* The declared bytes and operations of the kernels, and their rates as fractions of the machine's limits. Bytes from a
 * cache may exceed the bandwidth of memory. */
static void add_work(pbd_bench_cell *b, repetition *r) {
    const pbd_exec_totals totals = pbd_exec_read_totals(b->stage.exec);
    const char *backend = pbd_backend_at(b->item->cell.backend).name;
    const int threads = b->item->cell.threads;
    const pbd_limit *memory = pbd_limits_bandwidth(b->shared->limits, backend, threads);
    const pbd_limit *flops =
        pbd_limits_flops(b->shared->limits, backend, pbd_precision_name(b->item->cell.precision), threads);
    if (totals.launches == 0) return;
    add_rate(r, "bytes", "B/s", totals.bytes);
    add_rate(r, "flops", "1/s", totals.flops);
    if (memory) add_number(r, "fraction_of_bandwidth", PBD_QUALITY, totals.bytes / r->wall / memory->best);
    if (flops) add_number(r, "fraction_of_flops", PBD_QUALITY, totals.flops / r->wall / flops->best);
}

/* The rate of neighbour updates, where the method counts them, against that of the two passes over neighbours alone. */
static void add_neighbours(pbd_bench_cell *b, repetition *r) {
    const double limit = pbd_limits_passes(b->shared->limits, pbd_backend_at(b->item->cell.backend).name,
                                           pbd_precision_name(b->item->cell.precision), b->item->cell.threads);
    for (size_t i = 0; limit > 0 && i < r->counters; i++)
        if (strcmp(r->counter[i].name, "neighbour_updates_per_second") == 0)
            add_number(r, "fraction_of_neighbour_passes", PBD_QUALITY, r->counter[i].value / r->wall / limit);
}

static size_t end(void *context, pbd_bench_counter *counters) {
    pbd_bench_cell *b = context;
    if (b->repetitions == 0) return 0; /* no memory for the first */
    repetition *r = current(b);
    pbd_sample_machine(&r->after);
    if (r->ended.code != PBD_OK || r->samples == 0) return 0;
    add_counts(b, r);
    add_work(b, r);
    add_neighbours(b, r);
    const pbd_metric_item *applied = pbd_stage_metric(&b->stage, "applied_fraction");
    if (applied) add_number(r, applied->name, PBD_QUALITY, applied->value);
    add_number(r, "steps_per_iteration", PBD_STATE, (double)b->steps);
    memcpy(counters, r->counter, r->counters * sizeof *counters);
    return r->counters;
}

/* ---- Into the store ---------------------------------------------------------------------------------------------- */

static void record_counters(const pbd_bench_cell *b, const repetition *r, pbd_recorder *recorder) {
    for (size_t i = 0; i < r->counters; i++) {
        const pbd_bench_counter *c = &r->counter[i];
        pbd_metric(recorder, c->name, c->unit, c->kind, c->rate ? c->value / r->wall : c->value);
    }
    if (r->samples == 0) return;
    pbd_metric(recorder, method_of(b)->step ? "seconds_per_step" : "seconds_per_solve", "s", PBD_COST,
               r->wall / (double)r->samples / (double)b->steps);
    pbd_count(recorder, "iterations", r->samples);
    pbd_series(recorder, "samples", "value", "s", r->sample, r->samples, 1);
}

static bool add_phase(pbd_result *result, const pbd_bench_cell *b, const repetition *r) {
    result->phase = calloc(1, sizeof *result->phase);
    if (!result->phase) return false;
    *result->phase = (pbd_phase_item){.name = strdup("solve"),
                                      .wall_s = r->wall,
                                      .cpu_s = r->cpu,
                                      .calls = (uint64_t)r->samples * (uint64_t)b->steps};
    result->phases = 1;
    return result->phase->name != NULL;
}

static pbd_status fill_record(const pbd_bench_cell *b, const repetition *r, int number, pbd_result *result) {
    PBD_TRY(pbd_describe_run(b->item, result));
    if (*r->started_at) memcpy(result->started_at, r->started_at, sizeof result->started_at);
    pbd_recorder *recorder = pbd_recorder_create(result, NULL);
    if (!recorder) return pbd_no_memory();
    record_counters(b, r, recorder);
    const bool failed = pbd_recorder_failed(recorder);
    pbd_recorder_destroy(recorder);
    result->kind = strdup("bench");
    result->repeat = number;
    result->state = strdup(pbd_state_name(r->ended.code));
    const char *says = r->ended.code == PBD_OK ? "" : r->ended.text;
    if (asprintf(&result->says, "%s%s%s", b->name, *says ? ": " : "", says) < 0) result->says = NULL;
    if (!failed && result->kind && result->state && result->says && add_phase(result, b, r)) return pbd_ok();
    return pbd_no_memory();
}

static pbd_status store_repetition(const pbd_bench_cell *b, const repetition *r, int number) {
    pbd_result result PBD_CLEANUP(pbd_result_free) = {0};
    PBD_TRY(fill_record(b, r, number, &result));
    return pbd_store_put(b->shared->store, &result, &r->before, &r->after);
}

static void forget_repetitions(pbd_bench_cell *b) {
    pbd_arena_free(&b->owned);
    b->repetition = NULL;
    b->repetitions = b->counts = 0;
}

/* Where Google Benchmark chooses the iterations it makes trial calls first: it reported the last ones. */
static void report(void *context, int64_t repetitions) {
    pbd_bench_cell *b = context;
    const size_t count = repetitions > 0 && (size_t)repetitions < b->repetitions ? (size_t)repetitions : b->repetitions;
    for (size_t i = 0; i < count; i++) {
        const repetition *r = &b->repetition[b->repetitions - count + i];
        if (r->ended.code != PBD_OK) b->shared->failed++;
        if (b->shared->store && b->shared->trouble.code == PBD_OK && r->ended.code != PBD_INTERRUPTED)
            b->shared->trouble = store_repetition(b, r, (int)i);
    }
    forget_repetitions(b);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

pbd_status pbd_bench_cell_create(const pbd_plan_item *item, const char *name, pbd_bench_shared *shared,
                                 pbd_bench_cell **out) {
    if (!(*out = calloc(1, sizeof **out))) return pbd_no_memory();
    **out = (pbd_bench_cell){.item = item, .name = name, .shared = shared};
    return pbd_ok();
}

void pbd_bench_cell_destroy(pbd_bench_cell *b) {
    if (!b) return;
    if (b->shared->open == b) {
        tear_down(b);
        b->shared->open = NULL;
    }
    forget_repetitions(b);
    free(b);
}

pbd_bench_entry pbd_bench_cell_entry(pbd_bench_cell *b, int64_t iterations) {
    return (pbd_bench_entry){b->name, iterations, begin, restore, iterate, end, report, b};
}
