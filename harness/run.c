/* Running cells: resolving requests into plans, making runs, storing them. */
#include "harness/run.h"

#include <jansson.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "harness/exec/backend.h"
#include "harness/gpu_state.h"
#include "harness/record.h"
#include "harness/run_apart.h"
#include "harness/scene_check.h"
#include "harness/settle.h"
#include "harness/solve_times.h"

/* ---- Ctrl-C
 * ------------------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t interrupts;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupts = 1;
    signal(SIGINT, SIG_DFL); /* a second one kills */
}

void pbd_catch_interrupts(void) {
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool pbd_interrupted(void) { return interrupts != 0; }

/* ---- Cells
 * --------------------------------------------------------------------------------------------------------------- */

static int compare_values(const void *a, const void *b) {
    return strcmp((*(const pbd_value *const *)a)->param->name, (*(const pbd_value *const *)b)->param->name);
}

/* The canonical spelling of a number is JSON as it stands, so that 0.3 is 0.3. */
static void write_json_value(FILE *out, const pbd_value *value) {
    if (value->param->kind == PBD_REAL || value->param->kind == PBD_INTEGER) {
        fputs(value->text, out);
        return;
    }
    json_t *word = json_string(pbd_value_text(value));
    json_dumpf(word, out, JSON_ENCODE_ANY);
    json_decref(word);
}

/* All parameters of case and method as one JSON object with sorted keys: what the store keeps and hashes. Written from
 * each value's canonical spelling. */
static char *params_json(const pbd_cell *cell) {
    size_t count = 0, size = 0;
    const pbd_value **sorted = malloc((cell->case_values.count + cell->method_values.count + 1) * sizeof *sorted);
    char *text = NULL;
    FILE *out = sorted ? open_memstream(&text, &size) : NULL;
    if (out) {
        for (size_t i = 0; i < cell->case_values.count; i++) sorted[count++] = &cell->case_values.item[i];
        for (size_t i = 0; i < cell->method_values.count; i++) sorted[count++] = &cell->method_values.item[i];
        qsort(sorted, count, sizeof *sorted, compare_values);
        fputc('{', out);
        for (size_t i = 0; i < count; i++) {
            /* A key that both know has one value in both. */
            if (i > 0 && compare_values(&sorted[i], &sorted[i - 1]) == 0) continue;
            fprintf(out, "%s\"%s\":", i ? "," : "", sorted[i]->param->name);
            write_json_value(out, sorted[i]);
        }
        fputc('}', out);
        if (fclose(out) != 0) {
            free(text);
            text = NULL;
        }
    }
    free(sorted);
    return text;
}

static const pbd_method *method_of(const pbd_cell *cell) { return cell->method->by_precision[cell->precision]; }

/* Hash of everything that decides the answer and its cost. */
static pbd_status identify_cell(const pbd_cell *cell, char cell_id[33]) {
    char *params = params_json(cell), *text = NULL;
    int length = params
                     ? asprintf(&text, "%s|%s|%s|%s|%s|%d", cell->c->name, method_of(cell)->name, params,
                                pbd_backend_at(cell->backend).name, pbd_precision_name(cell->precision), cell->threads)
                     : -1;
    free(params);
    if (length < 0) return pbd_error(PBD_FAILED, "out of memory for a cell of %s", cell->c->name);
    XXH128_hash_t hash = XXH3_128bits(text, (size_t)length);
    free(text);
    snprintf(cell_id, 33, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    return pbd_ok();
}

static pbd_status check_cell(const pbd_cell *cell) {
    const pbd_method *m = method_of(cell);
    static const char *const needed[] = {
        "particles", "hexahedra", "tetrahedra", "triangles", "tetrahedra or triangles", "particles that sample a body"};
    const unsigned missing = pbd_missing_needs(m, cell->c);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (missing & 1u << i)
            return pbd_error(PBD_NOT_SUPPORTED, "method %s needs %s, which case %s does not have", m->name, needed[i],
                             cell->c->name);
    if (!(m->precisions & 1u << cell->precision))
        return pbd_error(PBD_NOT_SUPPORTED, "method %s does not run in %s; use -p %s", m->name,
                         pbd_precision_name(cell->precision), pbd_precision_name((pbd_precision)!cell->precision));
    if (!(m->backends & 1u << cell->backend))
        return pbd_error(PBD_NOT_SUPPORTED,
                         "method %s does not run on backend %s, only on %s%s (its README.md says why)", m->name,
                         pbd_backend_at(cell->backend).name, m->backends & PBD_CPU ? "cpu" : "emu",
                         m->backends & PBD_CPU && m->backends & PBD_EMU ? " and emu" : "");
    return pbd_ok();
}

/* ---- Plans
 * ----------------------------------------------------------------------------------------------------------------- */

static void free_item(pbd_plan_item *item) {
    pbd_values_free(&item->cell.case_values);
    pbd_values_free(&item->cell.method_values);
    free(item->snapshot_folder);
    free(item->label);
}

void pbd_plan_free(pbd_plan *plan) {
    for (size_t i = 0; i < plan->count; i++) free_item(&plan->item[i]);
    free(plan->item);
    *plan = (pbd_plan){0};
}

static pbd_status append_item(pbd_plan *plan, const pbd_plan_item *item) {
    if (plan->count == plan->capacity) {
        size_t capacity = plan->capacity ? 2 * plan->capacity : 32;
        pbd_plan_item *grown = realloc(plan->item, capacity * sizeof *grown);
        if (!grown) return pbd_error(PBD_FAILED, "out of memory for a plan of %zu runs", capacity);
        plan->item = grown;
        plan->capacity = capacity;
    }
    plan->item[plan->count++] = *item;
    return pbd_ok();
}

/* «cube_shear pbd_distance nu=0.2 solver=jacobi»: the axes tell runs of one request apart. */
static char *label_of(const pbd_request *request, const size_t *index) {
    char text[400];
    int used = snprintf(text, sizeof text, "%s %s", request->case_name, request->method_name);
    for (size_t a = 0; a < request->axes && used > 0 && (size_t)used < sizeof text; a++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %s=%s", request->axis[a].key,
                         request->axis[a].values[index[a]]);
    return strdup(text);
}

/* Builds the item of one point of the axes (repeat 0). */
static pbd_status make_item(const pbd_request *request, const size_t *index, pbd_setting *settings,
                            pbd_plan_item *item) {
    pbd_cell *cell = &item->cell;
    PBD_TRY(pbd_find_case(request->case_name, &cell->c));
    PBD_TRY(pbd_find_method(request->method_name, &cell->method));
    PBD_TRY(pbd_find_precision(request->precision ? request->precision : "f64", &cell->precision));
    PBD_TRY(pbd_name_backend(request->backend ? request->backend : "cpu", &cell->backend));
    if (!request->elsewhere) PBD_TRY(pbd_check_backend(cell->backend));
    cell->threads = request->threads > 0 ? request->threads : omp_get_num_procs();
    PBD_TRY(check_cell(cell));
    if ((request->warmups > 0 || request->seconds > 0) && (!method_of(cell)->save || !method_of(cell)->load))
        return pbd_error(PBD_NOT_SUPPORTED, "method %s cannot save its state: no warm-ups and no --time with it",
                         method_of(cell)->name);
    for (size_t i = 0; i < request->settings; i++) settings[i] = request->setting[i];
    for (size_t a = 0; a < request->axes; a++)
        settings[request->settings + a] = (pbd_setting){request->axis[a].key, request->axis[a].values[index[a]]};
    PBD_TRY(pbd_resolve(cell->c, method_of(cell), settings, request->settings + request->axes, &cell->case_values,
                        &cell->method_values));
    item->seed = request->seed;
    item->warmups = request->warmups;
    item->seconds = request->seconds;
    item->turns = request->turns;
    item->snapshots = request->snapshots;
    item->label = label_of(request, index);
    if (!item->label) return pbd_error(PBD_FAILED, "out of memory for a plan");
    return identify_cell(cell, item->cell_id);
}

/* FOLDER/cantilever-xpbd-1f2e3d4c: by the cell, so that a run made again finds its own folder. */
static pbd_status name_snapshots(pbd_plan_item *item) {
    if (item->repeat > 0) item->snapshots.count = 0;
    if (item->snapshots.count == 0) return pbd_ok();
    if (asprintf(&item->snapshot_folder, "%s/%s-%s-%.8s", item->snapshots.folder, item->cell.c->name,
                 method_of(&item->cell)->name, item->cell_id) < 0)
        item->snapshot_folder = NULL;
    item->snapshots.folder = item->snapshot_folder;
    return item->snapshot_folder ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for a plan");
}

/* Repeats of one cell have values of their own. */
static pbd_status add_repeat(pbd_plan *plan, const pbd_plan_item *first, int repeat) {
    pbd_plan_item item = *first;
    item.cell.case_values = item.cell.method_values = (pbd_values){0};
    item.label = strdup(first->label);
    item.repeat = repeat;
    item.snapshot_folder = NULL;
    pbd_status status = item.label ? pbd_values_copy(&first->cell.case_values, &item.cell.case_values)
                                   : pbd_error(PBD_FAILED, "out of memory for a plan");
    if (status.code == PBD_OK) status = pbd_values_copy(&first->cell.method_values, &item.cell.method_values);
    if (status.code == PBD_OK) status = name_snapshots(&item);
    if (status.code == PBD_OK) status = append_item(plan, &item);
    if (status.code != PBD_OK) free_item(&item);
    return status;
}

/* More runs than this in one request is a slip, and would fill the memory before the first is made. */
enum { LARGEST_PLAN = 1000000 };

static pbd_status add_points(pbd_plan *plan, const pbd_request *request, size_t group, size_t *index,
                             pbd_setting *settings) {
    size_t points = request->repeats > 0 ? (size_t)request->repeats : 1;
    for (size_t a = 0; a < request->axes; a++) {
        points *= request->axis[a].count; /* no overflow: at most 10^6 times 10^5 */
        if (points > LARGEST_PLAN)
            return pbd_error(PBD_BAD_INPUT,
                             "the axes of %s ask for more than %d runs: make them coarser, or several sweeps",
                             request->case_name, LARGEST_PLAN);
    }
    points /= request->repeats > 0 ? (size_t)request->repeats : 1;
    for (size_t point = 0; point < points; point++) {
        size_t rest = point; /* the last axis runs fastest */
        for (size_t a = request->axes; a-- > 0; rest /= request->axis[a].count)
            index[a] = rest % request->axis[a].count;
        pbd_plan_item item = {.group = group};
        pbd_status status = make_item(request, index, settings, &item);
        for (int repeat = 0; repeat < (request->repeats > 0 ? request->repeats : 1) && status.code == PBD_OK; repeat++)
            status = add_repeat(plan, &item, repeat);
        free_item(&item);
        PBD_TRY(status);
    }
    return pbd_ok();
}

pbd_status pbd_plan_add(pbd_plan *plan, const pbd_request *request, size_t group) {
    size_t before = plan->count;
    size_t *index = calloc(request->axes + 1, sizeof *index);
    pbd_setting *settings = calloc(request->settings + request->axes + 1, sizeof *settings);
    pbd_status status = index && settings ? add_points(plan, request, group, index, settings)
                                          : pbd_error(PBD_FAILED, "out of memory for a plan");
    free(index);
    free(settings);
    if (status.code != PBD_OK)
        while (plan->count > before) free_item(&plan->item[--plan->count]);
    return status;
}

/* ---- One run
 * ----------------------------------------------------------------------------------------------------------------- */

static void now_text(char out[32]) {
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t used = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out + used, 32 - used, ".%03ldZ", now.tv_nsec / 1000000);
}

pbd_status pbd_describe_run(const pbd_plan_item *item, pbd_result *out) {
    const pbd_cell *cell = &item->cell;
    *out = (pbd_result){.threads = cell->threads, .repeat = item->repeat, .warmups = item->warmups, .seed = item->seed};
    memcpy(out->cell_id, item->cell_id, sizeof out->cell_id);
    now_text(out->started_at);
    out->case_name = strdup(cell->c->name);
    out->method_name = strdup(method_of(cell)->name);
    out->params = params_json(cell);
    out->backend = strdup(pbd_backend_at(cell->backend).name);
    out->precision = strdup(pbd_precision_name(cell->precision));
    if (out->case_name && out->method_name && out->params && out->backend && out->precision) return pbd_ok();
    return pbd_error(PBD_FAILED, "out of memory for a run");
}

/* A solve as a thing to be done, and done again. */
typedef struct drive_context {
    const pbd_scene *scene;
    const pbd_method *method;
    void *state;
    const pbd_values *values;
    pbd_precision precision;
    const pbd_case *observer; /* who looks on the way; NULL: nobody, the solve is timed */
    pbd_recorder *recorder;
    pbd_snapshots *snapshots; /* likewise */
    double reached;           /* s: of a scene that moves, when its last step ended */
} drive_context;

/* The time step that the method reports to have chosen, else its parameter. */
static pbd_status time_step(const drive_context *c, double *dt) {
    const pbd_result *reported = pbd_recorder_result(c->recorder);
    *dt = 0;
    for (size_t i = 0; i < c->values->count; i++)
        if (strcmp(c->values->item[i].param->name, "dt") == 0) *dt = c->values->item[i].number;
    for (size_t i = 0; i < reported->metrics; i++)
        if (strcmp(reported->metric[i].name, "dt") == 0) *dt = reported->metric[i].value;
    if (*dt > 0) return pbd_ok();
    return pbd_error(PBD_NOT_SUPPORTED, "method %s names no time step, and this case moves: set dt", c->method->name);
}

/* Lets a snapshot be taken, on a clock of its own. steps: how many there will be, 0: nobody knows. */
static pbd_status keep_snapshot(const drive_context *c, double time, long step, long steps) {
    if (!c->snapshots || !pbd_snapshots_want(c->snapshots, time, step, steps)) return pbd_ok();
    pbd_recorder_leave(c->recorder);
    pbd_recorder_enter(c->recorder, "snapshots");
    const pbd_status status = pbd_snapshots_keep(c->snapshots, c->state);
    pbd_recorder_leave(c->recorder);
    pbd_recorder_enter(c->recorder, "solve");
    return status;
}

/* What moves is somewhere: said here, so that no metric's NaN has to say it. */
static pbd_status check_positions(const drive_context *c) {
    const size_t n = 3 * c->scene->particles;
    double *x = malloc((n + 1) * sizeof *x);
    if (!x) return pbd_error(PBD_FAILED, "out of memory for reading %zu particles", c->scene->particles);
    pbd_status status = c->method->read(c->state, PBD_POSITIONS, x);
    for (size_t i = 0; i < n && status.code == PBD_OK; i++)
        if (!isfinite(x[i]))
            status = pbd_error(PBD_DIVERGED, "particle %zu is nowhere after %g of %g s: its position is not finite",
                               i / 3, c->reached, c->scene->duration);
    free(x);
    return status;
}

/* What is nowhere will not come back: there is nothing left to look at, nor to wait for. */
static pbd_status look(const drive_context *c, double time) {
    if (c->scene->duration > 0) PBD_TRY(check_positions(c));
    return c->observer->observe(c->scene, c->method, c->state, time, c->recorder);
}

/* Lets the case look after `step` steps, when it is time; on a clock of its own. Snapshots are taken here, too. */
static pbd_status observe(const void *context, long step, double dt) {
    const drive_context *c = context;
    const double every = c->scene->observe_every, time = (double)step * dt;
    PBD_TRY(keep_snapshot(c, time, step, lround(c->scene->duration / dt)));
    if (!c->observer || !c->observer->observe || !(every > 0)) return pbd_ok();
    /* Rounding must not lose the step at which a multiple of `every` is reached. */
    const double now = floor(time / every + 1e-9), before = floor((time - dt) / every + 1e-9);
    if (now <= before) return pbd_ok();
    pbd_recorder_leave(c->recorder);
    pbd_recorder_enter(c->recorder, "observe");
    const pbd_status status = look(c, time);
    pbd_recorder_leave(c->recorder);
    pbd_recorder_enter(c->recorder, "solve");
    return status;
}

/* Advances a dynamic scene to its end. */
static pbd_status move(drive_context *c, double dt) {
    const long steps = lround(c->scene->duration / dt);
    c->reached = 0;
    PBD_TRY(observe(c, 0, dt));
    for (long i = 0; i < steps; i++) {
        if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "stopped after %ld of %ld steps", i, steps);
        PBD_TRY(c->method->step(c->state, dt));
        c->reached = i + 1 < steps ? (double)(i + 1) * dt : c->scene->duration;
        PBD_TRY(observe(c, i + 1, dt));
    }
    return pbd_ok();
}

/* To the scene's end, or to rest: by moving or by the method's own solve, as the scene asks. */
static pbd_status drive(drive_context *c) {
    const pbd_method *m = c->method;
    double dt;
    if (c->scene->duration == 0 && c->scene->settle.window == 0) {
        PBD_TRY(keep_snapshot(c, 0, 0, 0));
        return m->solve(c->state);
    }
    PBD_TRY(time_step(c, &dt));
    if (c->scene->duration > 0) return move(c, dt);
    const pbd_settling body = {c->scene, m, c->state, dt, c->precision, observe, c};
    return pbd_settle_body(&body, c->recorder);
}

static pbd_status drive_again(void *context) {
    if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "stopped while it was timed");
    return drive(context);
}

/* Untimed solves from the same state, which is then put back: caches, clocks and threads are as in steady work. */
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

/* After the run proper, which stays as it was recorded: times only. */
static pbd_status sample_times(drive_context *c, const pbd_saved_state *start, pbd_exec *exec, pbd_sampling_plan plan,
                               pbd_recorder *recorder) {
    pbd_solve_times times;
    pbd_recorder_mute(recorder, true);
    pbd_status status = pbd_time_solves(c->method, c->state, start, exec, drive_again, c, plan, &times);
    pbd_recorder_mute(recorder, false);
    if (status.code == PBD_OK) {
        pbd_metric(recorder, "solve_wall", "s", PBD_LOWER_IS_BETTER, times.wall_median);
        pbd_metric(recorder, "solve_cpu", "s", PBD_LOWER_IS_BETTER, times.cpu_median);
        pbd_series(recorder, "solve_wall_samples", "value", "s", times.wall, times.samples, 1);
        pbd_series(recorder, "solve_cpu_samples", "value", "s", times.cpu, times.samples, 1);
    }
    pbd_solve_times_free(&times);
    return status;
}

static void record_totals(const pbd_exec *exec, pbd_recorder *recorder) {
    pbd_exec_totals totals = pbd_exec_read_totals(exec);
    pbd_count(recorder, "kernel_launches", totals.launches);
    pbd_count(recorder, "device_bytes_peak", totals.peak);
    pbd_count(recorder, "device_allocations", totals.allocations);
    pbd_count(recorder, "host_waits", totals.waits);
    pbd_metric(recorder, "bytes_moved", "B", PBD_NEUTRAL, totals.bytes);
    pbd_metric(recorder, "flops", "1", PBD_NEUTRAL, totals.flops);
}

/* No metric of a run that is `ok` may be NaN: it would be a number nobody can judge. */
static pbd_status check_metrics(const pbd_result *r) {
    for (size_t i = 0; i < r->metrics; i++)
        if (!isfinite(r->metric[i].value)) return pbd_error(PBD_DIVERGED, "metric %s is not finite", r->metric[i].name);
    return pbd_ok();
}

/* The run stands as it is, whatever becomes of its pictures. */
static void write_snapshots(drive_context *c) {
    pbd_recorder_enter(c->recorder, "snapshots");
    pbd_status status = pbd_snapshots_end(c->snapshots, c->state);
    if (status.code == PBD_OK) status = pbd_snapshots_write(c->snapshots);
    pbd_recorder_leave(c->recorder);
    if (status.code != PBD_OK) pbd_warning(c->recorder, PBD_SNAPSHOTS_MISSING, "%s", status.text);
}

static pbd_status solve_and_measure(const pbd_plan_item *item, drive_context *c, pbd_exec *exec,
                                    pbd_recorder *recorder) {
    pbd_exec_reset_totals(exec);
    pbd_recorder_enter(recorder, "solve");
    c->observer = item->cell.c;
    pbd_status status = drive(c);
    c->observer = NULL;
    pbd_status waited = pbd_exec_wait(exec);
    pbd_recorder_leave(recorder);
    if (status.code == PBD_OK) status = waited;
    if (status.code == PBD_OK && c->scene->duration > 0) status = check_positions(c);
    record_totals(exec, recorder);
    if (c->scene->duration > 0) pbd_metric(recorder, "simulated_time", "s", PBD_NEUTRAL, c->reached);
    /* A run that diverged or did not settle is measured too, as far as it came. */
    if (status.code == PBD_FAILED || status.code == PBD_BAD_INPUT || status.code == PBD_NOT_SUPPORTED) return status;
    if (c->snapshots) write_snapshots(c);
    if (status.code == PBD_NO_EQUILIBRIUM) return status;
    pbd_recorder_enter(recorder, "measure");
    pbd_status measured = item->cell.c->measure(c->scene, c->method, c->state, recorder);
    pbd_recorder_leave(recorder);
    return status.code != PBD_OK ? status : measured;
}

/* Solves, looks and measures; then, where times were asked for, solves again and again. */
static pbd_status run_solver(const pbd_plan_item *item, drive_context *c, pbd_snapshots *snapshots, pbd_exec *exec) {
    pbd_saved_state start = {0};
    if (item->warmups > 0 || item->seconds > 0) PBD_TRY(pbd_save_state(c->method, c->state, &start));
    pbd_status status = warm_up(c, &start, item->warmups, c->recorder);
    c->snapshots = snapshots;
    if (status.code == PBD_OK) status = solve_and_measure(item, c, exec, c->recorder);
    c->snapshots = NULL;
    if (status.code == PBD_OK && item->seconds > 0)
        status = sample_times(c, &start, exec, (pbd_sampling_plan){item->seconds, item->turns}, c->recorder);
    free(start.blob);
    return status;
}

/* Rest found by the method itself, or motion: only what it can do is begun. */
static pbd_status check_mode(const pbd_cell *cell, const pbd_scene *scene) {
    const pbd_method *m = method_of(cell);
    const bool rests = scene->duration == 0 && scene->settle.window == 0;
    if (rests ? m->solve != NULL : m->step != NULL) return pbd_ok();
    const char *cannot = rests ? "finds no equilibrium by itself" : "finds equilibrium only";
    for (const pbd_param *p = cell->c->params; p->name; p++)
        if (strcmp(p->name, "mode") == 0)
            return pbd_error(PBD_NOT_SUPPORTED, "method %s %s: set mode=%s", m->name, cannot,
                             rests ? "dynamic" : "static");
    return pbd_error(PBD_NOT_SUPPORTED, "method %s %s, and case %s %s: choose another method", m->name, cannot,
                     cell->c->name, rests ? "asks for nothing else" : "moves");
}

static pbd_status run_phases(const pbd_plan_item *item, pbd_scene *scene, pbd_exec *exec, void **state,
                             pbd_recorder *recorder) {
    const pbd_cell *cell = &item->cell;
    const pbd_method *m = method_of(cell);
    pbd_snapshots *snapshots = NULL;
    pbd_recorder_enter(recorder, "build");
    pbd_status status = cell->c->build(&cell->case_values, scene);
    pbd_recorder_leave(recorder);
    PBD_TRY(status);
    PBD_TRY(pbd_check_scene(scene, m));
    PBD_TRY(check_mode(cell, scene));
    if (item->snapshots.count > 0) PBD_TRY(pbd_snapshots_open(&item->snapshots, scene, m, &snapshots));
    pbd_recorder_enter(recorder, "create");
    status = m->create(scene, &cell->method_values, exec, recorder, state);
    pbd_recorder_leave(recorder);
    drive_context context = {.scene = scene,
                             .method = m,
                             .state = *state,
                             .values = &cell->method_values,
                             .precision = cell->precision,
                             .recorder = recorder};
    if (status.code == PBD_OK) status = run_solver(item, &context, snapshots, exec);
    pbd_snapshots_close(snapshots);
    return status;
}

/* PBDBENCH_PHASES=wait: for where the time goes on a GPU, not for how long a run takes. */
static bool phases_wait(void) {
    const char *text = getenv("PBDBENCH_PHASES");
    return text && strcmp(text, "wait") == 0;
}

/* On a GPU: what it does before and after goes into the run, too. */
static pbd_status run_watched(const pbd_plan_item *item, pbd_scene *scene, pbd_exec *exec, void **state,
                              pbd_recorder *recorder) {
    pbd_gpu_sample before, after;
    const bool on_gpu = item->cell.backend == PBD_BACKEND_CUDA;
    if (on_gpu) pbd_sample_gpu(pbd_cuda_bus(), &before);
    const pbd_status status = run_phases(item, scene, exec, state, recorder);
    if (!on_gpu) return status;
    pbd_sample_gpu(pbd_cuda_bus(), &after);
    pbd_record_gpu(recorder, &before, &after);
    return status;
}

/* What was asked for cannot be begun: no run, and nothing to store. */
static bool is_refused(const pbd_status *ended, const void *state) {
    return (ended->code == PBD_BAD_INPUT || ended->code == PBD_NOT_SUPPORTED) && !state;
}

pbd_status pbd_run_cell(const pbd_plan_item *item, pbd_result *out) {
    pbd_status status = pbd_describe_run(item, out);
    pbd_recorder *recorder = status.code == PBD_OK ? pbd_recorder_create(out, pbd_interrupted) : NULL;
    if (!recorder) {
        pbd_result_free(out);
        return status.code == PBD_OK ? pbd_error(PBD_FAILED, "out of memory for a run") : status;
    }
    pbd_scene scene = {0};
    pbd_exec *exec = NULL;
    void *state = NULL;
    pbd_status ended = pbd_exec_create(1 << item->cell.backend, item->cell.threads, &exec);
    if (phases_wait()) pbd_recorder_wait_at_phases(recorder, exec);
    if (ended.code == PBD_OK) ended = run_watched(item, &scene, exec, &state, recorder);
    if (ended.code == PBD_OK) ended = check_metrics(out);
    if (ended.code == PBD_OK && pbd_recorder_failed(recorder))
        ended = pbd_error(PBD_FAILED, "out of memory while recording");
    const bool refused = is_refused(&ended, state);
    method_of(&item->cell)->destroy(state);
    item->cell.c->free_scene(&scene);
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
    return pbd_error(PBD_FAILED, "out of memory for a run");
}

/* ---- Many runs
 * --------------------------------------------------------------------------------------------------------------- */

/* Runs an item and stores it. `once`: not if another process stored the same run meanwhile, which then counts. */
static pbd_status make_run(pbd_plan_item *item, pbd_store *store, bool once, pbd_result *result, bool *made) {
    pbd_machine_sample before, after;
    pbd_sample_machine(&before);
    const pbd_status ran = pbd_runs_apart(item) ? pbd_run_cell_apart(item, result) : pbd_run_cell(item, result);
    if (ran.code == PBD_BAD_INPUT || ran.code == PBD_NOT_SUPPORTED) {
        item->refusal = ran;
        return pbd_ok();
    }
    PBD_TRY(ran);
    *made = true;
    pbd_sample_machine(&after);
    if (!store) return pbd_ok();
    bool known = false;
    PBD_TRY(once ? pbd_store_put_once(store, result, &before, &after, &known)
                 : pbd_store_put(store, result, &before, &after));
    memcpy(item->run_id, result->run_id, sizeof item->run_id);
    if (!known) return pbd_ok();
    pbd_result_free(result);
    *made = false;
    return pbd_ok();
}

static pbd_status execute_item(pbd_plan_item *item, pbd_store *store, bool again, pbd_result *result, bool *made) {
    const pbd_status here = pbd_check_backend(item->cell.backend);
    /* The store's run may have no times and no pictures: they were asked for now. What cannot be made again is kept. */
    const bool once = (!again || here.code != PBD_OK) && item->seconds == 0 && item->snapshots.count == 0;
    *made = false;
    item->refusal = pbd_ok();
    if (once && store) {
        bool found = false;
        PBD_TRY(pbd_store_find(store, method_of(&item->cell)->name, item->cell_id, item->seed, item->repeat, &found,
                               item->run_id));
        if (found) return pbd_ok();
    }
    if (here.code != PBD_OK) {
        item->refusal = here;
        return pbd_ok();
    }
    return make_run(item, store, once, result, made);
}

pbd_status pbd_plan_execute(pbd_plan *plan, pbd_store *store, bool again, pbd_plan_observer observer, void *context) {
    for (size_t i = 0; i < plan->count; i++) {
        if (pbd_interrupted())
            return pbd_error(PBD_INTERRUPTED, "interrupted after %zu of %zu runs; the same command does the rest", i,
                             plan->count);
        pbd_result result = {0};
        bool made;
        pbd_status status = execute_item(&plan->item[i], store, again, &result, &made);
        if (status.code == PBD_OK && observer)
            observer(context, &plan->item[i], made ? &result : NULL, i + 1, plan->count);
        if (made) pbd_result_free(&result);
        PBD_TRY(status);
    }
    if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted; the same command does the rest");
    return pbd_ok();
}

/* ---- JSON
 * ----------------------------------------------------------------------------------------------------------------------
 */

/* JSON has no NaN or infinity: they are null there, and the state tells why. */
static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static const char *const directions[] = {
    [PBD_NEUTRAL] = "neutral", [PBD_LOWER_IS_BETTER] = "lower", [PBD_HIGHER_IS_BETTER] = "higher"};

static json_t *metrics_json(const pbd_result *r) {
    json_t *object = json_object();
    for (size_t i = 0; i < r->metrics; i++) {
        const pbd_metric_item *m = &r->metric[i];
        json_t *value = m->is_count ? json_integer((json_int_t)m->count) : number(m->value);
        json_object_set_new(
            object, m->name,
            json_pack("{s:o, s:s, s:s}", "value", value, "unit", m->unit, "direction", directions[m->direction]));
    }
    return object;
}

static json_t *timing_json(const pbd_result *r) {
    json_t *object = json_object();
    for (size_t i = 0; i < r->phases; i++) {
        const pbd_phase_item *p = &r->phase[i];
        json_object_set_new(
            object, p->name,
            json_pack("{s:f, s:f, s:I}", "wall_s", p->wall_s, "cpu_s", p->cpu_s, "calls", (json_int_t)p->calls));
    }
    return object;
}

static json_t *warnings_json(const pbd_result *r) {
    json_t *object = json_object();
    for (size_t i = 0; i < r->warnings; i++)
        json_object_set_new(
            object, r->warning[i].name,
            json_pack("{s:I, s:s}", "count", (json_int_t)r->warning[i].count, "says", r->warning[i].says));
    return object;
}

char *pbd_result_json(const pbd_result *r) {
    json_t *params = json_loads(r->params, 0, NULL);
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:i, s:i, s:I, s:s, s:s, s:s, s:o, s:o, s:o}",
                               "run_id", r->run_id, "cell_id", r->cell_id, "case", r->case_name, "method",
                               r->method_name, "params", params ? params : json_object(), "backend", r->backend,
                               "precision", r->precision, "threads", r->threads, "repeat", r->repeat, "seed",
                               (json_int_t)r->seed, "started_at", r->started_at, "state", r->state, "says", r->says,
                               "metrics", metrics_json(r), "timing", timing_json(r), "warnings", warnings_json(r));
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    return text;
}
