/* The functions of an engine's method, and opening an engine.
 *
 * Steps are collected and requested together, at most `steps_a_call`, until something is read or the scene's end is
 * reached, so that the cost of the door is paid once for several steps. `wait` requests the remaining ones. */
#include "harness/engine/engine.h"

#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "harness/engine/engine_file.h"
#include "harness/engine/engine_process.h"
#include "harness/engine/engine_scene.h"
#include "harness/exec/clock.h"
#include "harness/exec/exec.h"

/* Parameters that every engine has, before its own. */
enum { DT, TIMEOUT, STEPS_A_CALL, OWN };
static const pbd_param common[OWN] = {
    [DT] = {"dt", "s", PBD_REAL, "1e-3", 0, 1e3, PBD_OPEN_MIN, NULL, "time step"},
    [TIMEOUT] = {"timeout", "s", PBD_REAL, "300", 0, 1e6, PBD_OPEN_MIN, NULL,
                 "time that the engine has for an answer; then it is killed, and the run has failed"},
    [STEPS_A_CALL] = {"steps_a_call", "", PBD_INTEGER, "10", 1, 1000000, 0, NULL,
                      "steps asked for together where nothing is observed between them"}};

struct pbd_engine {
    pbd_param param[OWN + PBD_ENGINE_MOST_PARAMS + 1]; /* its rows lead to the engine: engine_of */
    pbd_method method;
    pbd_arena memory;
    pbd_engine_file *file;
    pbd_engine_hello hello;
    json_t *answer; /* hello keeps pointers into it */
    char *folder, *label;
    char hash[33];
};

/* `create` is not passed its method, but each engine has its own rows of parameters, from which it is found. */
static const pbd_engine *engine_of(const pbd_values *values) {
    const pbd_param *row = pbd_value_named(values, common[TIMEOUT].name)->param;
    return (const pbd_engine *)(const void *)((const char *)(row - TIMEOUT) - offsetof(pbd_engine, param));
}

/* ---- A process of it --------------------------------------------------------------------------------------------- */

static pbd_status start_process(const pbd_engine *e, int threads, double patience, pbd_engine_process *out) {
    static const char *const pools[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                        "NUMBA_NUM_THREADS"};
    enum { POOLS = sizeof pools / sizeof *pools };
    pbd_arena a PBD_ARENA;
    const char **words = pbd_new(&a, const char *, e->file->command_count + 1);
    const char **environment = pbd_new(&a, const char *, POOLS + e->file->environment_count + 1);
    PBD_TRY(pbd_arena_check(&a));
    for (unsigned i = 0; i < e->file->command_count; i++) words[i] = e->file->command[i];
    for (int i = 0; i < POOLS; i++) environment[i] = pbd_new_format(&a, "%s=%d", pools[i], threads);
    for (unsigned i = 0; i < e->file->environment_count; i++) environment[POOLS + i] = e->file->environment[i];
    PBD_TRY(pbd_arena_check(&a));
    return pbd_engine_process_start(&(pbd_engine_start){e->folder, words, environment, patience}, out);
}

static pbd_status say_hello(pbd_engine_process *process, json_t **answer) {
    return pbd_engine_ask_plain(process, json_pack("{s:s, s:i}", "op", "hello", "protocol", PBD_ENGINE_PROTOCOL), NULL,
                                0, answer);
}

/* ---- A state ----------------------------------------------------------------------------------------------------- */

typedef struct solver {
    const pbd_engine *engine;
    pbd_recorder *recorder;
    pbd_engine_process process;
    size_t particles;
    long most;                   /* steps per call */
    long waiting;                /* steps that were not requested yet */
    double dt;                   /* s: time step of those */
    double left;                 /* s, to the scene's end; INFINITY: it has none */
    double wall, cpu;            /* s in steps, by the engine's clocks */
    double outside, cpu_outside; /* s, by our clocks: of the calls; of the engine's process */
    unsigned long calls, steps;
    bool no_cpu;
    void *blob; /* its state, between the two calls of `save` */
    size_t blob_bytes;
} solver;

/* Adds the engine's name to an error. */
static pbd_status name_it(const solver *s, const char *doing, pbd_status status) {
    if (status.code == PBD_OK || status.code == PBD_INTERRUPTED) return status;
    return pbd_error(status.code, "engine %.40s, %s: %.300s", s->engine->method.name, doing, status.text);
}

static void destroy(void *state) {
    solver *s = state;
    if (!s) return;
    pbd_engine_process_end(&s->process);
    free(s->blob);
    free(s);
}

static pbd_status check_law(const pbd_engine *e, const pbd_scene *scene) {
    for (size_t i = 0; e->hello.law && i < (scene->materials > 0 ? scene->materials : 1); i++) {
        const pbd_material *m = &scene->material[i];
        const char *law = m->law ? m->law : "corotated";
        bool known = m->matter != PBD_CONTINUUM || m->flow != NULL || !e->hello.law[0];
        char all[200] = "";
        for (size_t k = 0; e->hello.law[k]; k++) {
            known |= strcmp(e->hello.law[k], law) == 0;
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", k > 0 ? ", " : "", e->hello.law[k]);
        }
        if (!known)
            return pbd_error(PBD_NOT_SUPPORTED, "engine %s does not support the law %s; it has: %s", e->method.name,
                             law, all);
    }
    return pbd_ok();
}

static pbd_status create_process(solver *s, const pbd_values *values, int threads) {
    json_t *answer PBD_CLEANUP(json_decrefp) = NULL;
    pbd_phase_begin(s->recorder, "engine_start");
    pbd_status status = start_process(s->engine, threads, pbd_real(values, "timeout"), &s->process);
    if (status.code == PBD_OK) status = say_hello(&s->process, &answer);
    pbd_phase_end(s->recorder);
    return status;
}

static pbd_status create_scene(solver *s, const pbd_scene *scene, const pbd_values *values, int threads) {
    json_t *answer PBD_CLEANUP(json_decrefp) = NULL;
    pbd_engine_scene *sent PBD_CLEANUP(pbd_free_memory) = calloc(1, sizeof *sent);
    if (!sent) return pbd_no_memory();
    PBD_TRY(pbd_engine_scene_write(scene, values, threads, sent));
    pbd_phase_begin(s->recorder, "engine_create");
    pbd_status status = pbd_engine_ask_plain(&s->process, sent->request, sent->array, sent->arrays, &answer);
    pbd_phase_end(s->recorder);
    if (status.code == PBD_OK) status = pbd_engine_report(answer, s->recorder);
    return status;
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    const pbd_engine *e = engine_of(values);
    const int threads = pbd_exec_threads(exec);
    PBD_TRY(check_law(e, scene));
    solver *s = calloc(1, sizeof *s);
    if (!s) return pbd_no_memory();
    *state = s;
    *s = (solver){.engine = e,
                  .recorder = recorder,
                  .process = {.talk = -1, .log = -1},
                  .particles = scene->particles.count,
                  .most = pbd_integer(values, "steps_a_call"),
                  .left = scene->duration > 0 ? scene->duration : HUGE_VAL};
    PBD_TRY(name_it(s, "start", create_process(s, values, threads)));
    return name_it(s, "create", create_scene(s, scene, values, threads));
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Warns if the engine's times contradict ours. A wall time may exceed ours by 1 % and 10 ms, since a process's clock
 * ticks. */
static void check_clocks(const solver *s) {
    static const double SHARE = 1.01, SLACK = 0.01;
    if (s->wall > SHARE * s->outside + SLACK)
        pbd_warning(s->recorder, "engine_clock", "the engine claims %.3g s for steps that took %.3g s in all", s->wall,
                    s->outside);
    if (s->outside > SLACK + 2 * s->wall && s->outside > 1000 * SLACK * (double)s->calls)
        pbd_warning(s->recorder, "engine_clock", "the engine's clock counts %.3g s of steps that took %.3g s", s->wall,
                    s->outside);
    if (!s->no_cpu && fabs(s->cpu - s->cpu_outside) > 0.1 * s->cpu_outside + 3 * SLACK)
        pbd_warning(s->recorder, "engine_cpu_clock",
                    "the engine counts %.3g s of processor time for steps, its process used %.3g s", s->cpu,
                    s->cpu_outside);
}

static void record_times(const solver *s) {
    pbd_metric(s->recorder, "engine_wall", "s", PBD_COST, s->wall);
    if (!s->no_cpu) pbd_metric(s->recorder, "engine_cpu", "s", PBD_COST, s->cpu);
    pbd_metric(s->recorder, "engine_cpu_measured", "s", PBD_COST, s->cpu_outside);
    pbd_metric(s->recorder, "door_wall", "s", PBD_COST, fmax(0, s->outside - s->wall));
    pbd_metric(s->recorder, "door_calls", "1", PBD_COST, (double)s->calls);
    check_clocks(s);
}

static pbd_status ask_for_steps(solver *s, json_t **answer) {
    pbd_engine_times times;
    const double before = pbd_wall_seconds(), cpu = pbd_cpu_followed(), wanted = (double)s->waiting * s->dt;
    const long steps = s->waiting;
    s->waiting = 0;
    PBD_TRY(pbd_engine_ask_plain(
        &s->process, json_pack("{s:s, s:f, s:I}", "op", "step", "dt", s->dt, "n", (json_int_t)steps), NULL, 0, answer));
    s->outside += pbd_wall_seconds() - before;
    s->cpu_outside += pbd_cpu_followed() - cpu;
    s->calls++;
    s->steps += (unsigned long)steps;
    pbd_status status = pbd_engine_times_read(*answer, wanted, s->engine->hello.adaptive, &times);
    if (status.code == PBD_OK) status = pbd_engine_report(*answer, s->recorder);
    if (status.code != PBD_OK) return pbd_engine_break(&s->process, status);
    s->wall += times.wall;
    s->no_cpu |= isnan(times.cpu);
    if (!s->no_cpu) s->cpu += times.cpu;
    record_times(s);
    return pbd_ok();
}

static pbd_status wait_for_steps(void *state) {
    solver *s = state;
    json_t *answer PBD_CLEANUP(json_decrefp) = NULL;
    if (s->waiting == 0) return pbd_ok();
    pbd_phase_begin(s->recorder, "engine_steps");
    const pbd_status status = ask_for_steps(s, &answer);
    pbd_phase_end(s->recorder);
    return name_it(s, "step", status);
}

static pbd_status step(void *state, double dt) {
    solver *s = state;
    if (s->waiting > 0 && dt != s->dt) PBD_TRY(wait_for_steps(s));
    s->dt = dt;
    s->waiting++;
    s->left -= dt;
    return s->waiting >= s->most || s->left < 0.5 * dt ? wait_for_steps(s) : pbd_ok();
}

/* ---- Reading, saving --------------------------------------------------------------------------------------------- */

static void widen(double *out, size_t count) {
    const char *from = (const char *)out;
    for (size_t i = count; i-- > 0;) { /* from the end: both are in the same memory */
        float x;
        memcpy(&x, from + i * sizeof x, sizeof x);
        out[i] = x;
    }
}

static pbd_status take_array(solver *s, const json_t *answer, const char *name, size_t width, double *out) {
    bool single;
    const pbd_status status = pbd_engine_array_check(answer, name, s->particles, width, s->process.pending, &single);
    if (status.code != PBD_OK) return pbd_engine_break(&s->process, status);
    PBD_TRY(pbd_engine_take(&s->process, out, (size_t)s->process.pending));
    if (single) widen(out, width * s->particles);
    return pbd_ok();
}

static pbd_status ask_for_field(solver *s, const char *name, size_t width, double *out) {
    json_t *answer PBD_CLEANUP(json_decrefp) = NULL;
    PBD_TRY(pbd_engine_ask(&s->process, json_pack("{s:s, s:s}", "op", "read", "field", name), NULL, 0, &answer));
    return take_array(s, answer, name, width, out);
}

/* The state is const for `read` and `save`, but talking to the process changes it. */
static pbd_status read_field(const void *state, pbd_field field, double *out) {
    solver *s = (solver *)(uintptr_t)state;
#define FIELD(NAME, name, width) {PBD_##NAME, #name, width},
    static const struct {
        pbd_field field;
        const char *name;
        size_t width;
    } fields[] = {PBD_ENGINE_FIELDS(FIELD)};
#undef FIELD
    if (!(s->engine->hello.fields & 1u << field)) return pbd_error(PBD_NOT_SUPPORTED, "the engine has no such field");
    PBD_TRY(wait_for_steps(s));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].field == field) return name_it(s, "read", ask_for_field(s, fields[i].name, fields[i].width, out));
    return pbd_error(PBD_NOT_SUPPORTED, "the engine has no such field");
}

static pbd_status take_blob(solver *s) {
    json_t *answer PBD_CLEANUP(json_decrefp) = NULL;
    PBD_TRY(pbd_engine_ask(&s->process, json_pack("{s:s}", "op", "save"), NULL, 0, &answer));
    const pbd_status status = pbd_engine_blob_check(answer, s->process.pending, &s->blob_bytes);
    if (status.code != PBD_OK) return pbd_engine_break(&s->process, status);
    free(s->blob);
    s->blob = malloc(s->blob_bytes + 1);
    if (!s->blob) return pbd_no_memory();
    return pbd_engine_take(&s->process, s->blob, s->blob_bytes);
}

/* The time left to the scene's end is saved too, after the engine's state. */
static pbd_status save(const void *state, void *blob, size_t *bytes) {
    solver *s = (solver *)(uintptr_t)state;
    if (!blob) {
        PBD_TRY(wait_for_steps(s));
        PBD_TRY(name_it(s, "save", take_blob(s)));
        *bytes = s->blob_bytes + sizeof s->left;
        return pbd_ok();
    }
    if (!s->blob || *bytes != s->blob_bytes + sizeof s->left)
        return pbd_error(PBD_BAD_INPUT, "a state of %zu bytes was announced, and %zu are asked for",
                         s->blob_bytes + sizeof s->left, *bytes);
    memcpy(blob, s->blob, s->blob_bytes);
    memcpy((char *)blob + s->blob_bytes, &s->left, sizeof s->left);
    return pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    solver *s = state;
    json_t *answer PBD_CLEANUP(json_decrefp) = NULL;
    if (bytes < sizeof s->left)
        return pbd_error(PBD_BAD_INPUT, "a state of %zu bytes is too short: it ends with %zu bytes of the time left",
                         bytes, sizeof s->left);
    /* Of any size: another process may have saved it (run/pause.h). The engine checks it. */
    const size_t own = bytes - sizeof s->left;
    PBD_TRY(wait_for_steps(s));
    memcpy(&s->left, (const char *)blob + own, sizeof s->left);
    const pbd_engine_array array = {"state", "|u1", own, 1, own, blob};
    return name_it(s, "load", pbd_engine_ask_plain(&s->process, json_pack("{s:s}", "op", "load"), &array, 1, &answer));
}

/* ---- The engine -------------------------------------------------------------------------------------------------- */

const pbd_method *pbd_engine_method(const pbd_engine *e) { return &e->method; }
const char *pbd_engine_label(const pbd_engine *e) { return e->label; }
const char *pbd_engine_hash(const pbd_engine *e) { return e->hash; }

bool pbd_engine_has_no_law(const pbd_engine *e) { return e->hello.law && !e->hello.law[0]; }

pbd_engine_about pbd_engine_says(const pbd_engine *e) {
    return (pbd_engine_about){.engine = e->hello.engine,
                              .version = e->hello.version,
                              .device = e->hello.device,
                              .precision = e->hello.precisions == PBD_F32 ? "f32" : "f64",
                              .masses = e->hello.masses,
                              .integrator = e->hello.integrator,
                              .licence = e->file->licence,
                              .what = e->file->what,
                              .source = e->file->source};
}

void pbd_engine_close(pbd_engine *e) {
    if (!e) return;
    json_decref(e->answer);
    pbd_engine_file_free(e->file);
    pbd_arena_free(&e->memory);
    free(e);
}

/* An engine's own row replaces a common one of the same name, with another default and range. */
static void list_params(pbd_engine *e) {
    size_t count = OWN;
    memcpy(e->param, common, sizeof common);
    for (size_t i = 0; i < e->hello.params; i++) {
        size_t k = 0;
        while (k < OWN && strcmp(common[k].name, e->hello.param[i].name) != 0) k++;
        e->param[k < OWN ? k : count++] = e->hello.param[i];
    }
}

static void describe_method(pbd_engine *e) {
    const pbd_engine_hello *h = &e->hello;
    e->method = (pbd_method){.bytes = sizeof e->method,
                             .name = e->file->name,
                             .summary = e->file->what,
                             .source = e->file->source,
                             .needs = h->needs,
                             .takes = h->takes,
                             .params = e->param,
                             .create = create,
                             .backends = PBD_CPU,
                             .precisions = h->precisions,
                             .step = step,
                             .read = read_field,
                             .save = h->saves ? save : NULL,
                             .load = h->saves ? load : NULL,
                             .destroy = destroy,
                             .law = h->law && h->law[0] && !h->law[1] ? h->law[0] : NULL,
                             .wait = wait_for_steps};
}

static pbd_status hash_file(XXH3_state_t *hash, const char *path) {
    FILE *file PBD_CLEANUP(pbd_close_file) = fopen(path, "rb");
    char part[8192];
    if (!file) return pbd_error(PBD_BAD_INPUT, "'%.200s' cannot be read", path);
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;) XXH3_128bits_update(hash, part, got);
    return pbd_ok();
}

/* Hashes what is known here to determine results: a changed adapter or version is another build. */
static pbd_status hash_all(pbd_engine *e, const char *path, XXH3_state_t *hash) {
    pbd_arena a PBD_ARENA;
    struct stat found;
    char *said PBD_CLEANUP(pbd_free_memory) = json_dumps(e->answer, JSON_COMPACT | JSON_SORT_KEYS);
    if (!said) return pbd_no_memory();
    XXH3_128bits_update(hash, said, strlen(said));
    PBD_TRY(hash_file(hash, path));
    for (unsigned i = 0; i < e->file->command_count; i++) {
        const char *word = e->file->command[i];
        const char *whole = *word == '/' ? word : pbd_new_format(&a, "%s/%s", e->folder, word);
        PBD_TRY(pbd_arena_check(&a));
        if (stat(whole, &found) == 0 && S_ISREG(found.st_mode)) PBD_TRY(hash_file(hash, whole));
    }
    return pbd_ok();
}

static pbd_status hash_engine(pbd_engine *e, const char *path) {
    XXH3_state_t *hash = XXH3_createState();
    if (!hash) return pbd_no_memory();
    XXH3_128bits_reset(hash);
    const pbd_status status = hash_all(e, path, hash);
    const XXH128_hash_t all = XXH3_128bits_digest(hash);
    snprintf(e->hash, sizeof e->hash, "%016" PRIx64 "%016" PRIx64, all.high64, all.low64);
    XXH3_freeState(hash);
    return status;
}

enum { HELLO_SECONDS = 60 }; /* some compile at their first start */

static pbd_status ask_what_it_is(pbd_engine *e) {
    pbd_engine_process process PBD_CLEANUP(pbd_engine_process_end) = {.talk = -1, .log = -1};
    PBD_TRY(start_process(e, 1, HELLO_SECONDS, &process));
    PBD_TRY(say_hello(&process, &e->answer));
    return pbd_engine_hello_read(e->answer, &e->memory, &e->hello);
}

static pbd_status open_engine(const char *path, pbd_engine *e) {
    PBD_TRY(pbd_engine_file_load(path, &e->file));
    char *copy = pbd_new_text(&e->memory, path);
    PBD_TRY(pbd_arena_check(&e->memory));
    e->folder = pbd_new_text(&e->memory, dirname(copy));
    PBD_TRY(pbd_arena_check(&e->memory));
    PBD_TRY(pbd_engine_file_installed(e->file, e->folder));
    const pbd_status status = ask_what_it_is(e);
    const pbd_code code = status.code == PBD_FAILED ? PBD_BAD_INPUT : status.code; /* nothing was run yet */
    if (code != PBD_OK) return pbd_error(code, "engine %.60s: %.300s", e->file->name, status.text);
    list_params(e);
    describe_method(e);
    e->label = pbd_new_format(&e->memory, "%s %s on %s", e->hello.engine, e->hello.version, e->hello.device);
    PBD_TRY(pbd_arena_check(&e->memory));
    return hash_engine(e, path);
}

pbd_status pbd_engine_open(const char *path, pbd_engine **out) {
    pbd_engine *e = calloc(1, sizeof *e);
    *out = NULL;
    if (!e) return pbd_no_memory();
    const pbd_status status = open_engine(path, e);
    if (status.code == PBD_OK)
        *out = e;
    else
        pbd_engine_close(e);
    return status;
}
