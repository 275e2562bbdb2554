/* plugin: checks a method in a shared library before anybody relies on it. Each check runs in a process of its own, so
 * that one that crashes is a failed check and the next goes on. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/apart.h"
#include "harness/cli.h"
#include "harness/exec/exec.h"
#include "harness/plugin.h"
#include "harness/record.h"

typedef struct plugin_options {
    bool json;
    const char *path;
} plugin_options;

static const pbd_option table[] = {PBD_OPTION_JSON(plugin_options, "one array of {check, verdict, says}"), {0}};

/* ---- What a check finds ------------------------------------------------------------------------------------------ */

typedef enum finding { PASS, FAIL, SKIPPED } finding;
static const char *const finding_names[] = {"pass", "fail", "skipped"};

typedef struct checking {
    const char *path;
    json_t *list; /* NULL: print lines */
    size_t failed;
} checking;

static void report(checking *c, const char *name, finding found, const char *says) {
    c->failed += found == FAIL;
    if (c->list)
        json_array_append_new(c->list,
                              json_pack("{ss ss ss}", "check", name, "verdict", finding_names[found], "says", says));
    else
        printf("  %-8s %-44s %s\n", finding_names[found], name, says);
}

/* A check in its process: writes nothing when it passes, "skip: WHY" or why it fails. */
typedef struct check {
    const char *path, *case_name;
    pbd_precision precision;
    pbd_backend backend;
    void (*run)(const struct check *, int pipe_out, char *board);
} check;

static void tell(int pipe_out, const char *text) {
    if (write(pipe_out, text, strlen(text)) < 0) _exit(9);
}

static void run_check(void *context, int pipe_out, char board[64]) {
    const check *c = context;
    snprintf(board, 60, "loading");
    /* The first check loads it in its child; later children have it from the parent. */
    const pbd_status loaded = pbd_plugins_loaded() ? pbd_ok() : pbd_plugin_load(c->path);
    if (loaded.code != PBD_OK)
        tell(pipe_out, loaded.text);
    else
        c->run(c, pipe_out, board);
}

static pbd_status perform(checking *all, const char *name, const check *c) {
    char *text;
    pbd_status ended;
    PBD_TRY(pbd_work_apart(run_check, (void *)(uintptr_t)c, &text, &ended));
    if (ended.code != PBD_OK)
        report(all, name, FAIL, ended.text);
    else if (strncmp(text, "skip: ", 6) == 0)
        report(all, name, SKIPPED, text + 6);
    else
        report(all, name, *text ? FAIL : PASS, text);
    free(text);
    return pbd_ok();
}

/* ---- The method at work on a case -------------------------------------------------------------------------------- */

/* The plug-in's method is the newest in the registry. */
static const pbd_method *method_of(pbd_precision precision) {
    return pbd_method_at(pbd_method_count() - 1)->by_precision[precision];
}

typedef struct trial {
    const pbd_method *method;
    const pbd_case *c;
    pbd_values case_values, method_values;
    pbd_scene scene;
    pbd_exec *exec;
    pbd_result result;
    pbd_recorder *recorder;
    void *state;
    char *board;
} trial;

static void end_trial(trial *t) {
    snprintf(t->board, 60, "destroy");
    t->method->destroy(t->state);
    t->c->free_scene(&t->scene);
    pbd_exec_destroy(t->exec);
    pbd_recorder_destroy(t->recorder);
    pbd_result_free(&t->result);
    pbd_values_free(&t->case_values);
    pbd_values_free(&t->method_values);
}

static pbd_status begin_trial(const check *c, pbd_precision precision, pbd_backend backend, char *board, trial *t) {
    *t = (trial){.method = method_of(precision), .board = board};
    PBD_TRY(pbd_find_case(c->case_name, &t->c));
    PBD_TRY(pbd_resolve(t->c, t->method, NULL, 0, &t->case_values, &t->method_values));
    t->recorder = pbd_recorder_create(&t->result, NULL);
    if (!t->recorder) return pbd_error(PBD_FAILED, "out of memory");
    PBD_TRY(pbd_exec_create(1 << backend, 1, &t->exec));
    PBD_TRY(t->c->build(&t->case_values, &t->scene));
    snprintf(board, 60, "create");
    return t->method->create(&t->scene, &t->method_values, t->exec, t->recorder, &t->state);
}

enum { STEPS = 3 };

static double time_step(const trial *t) {
    for (size_t i = 0; i < t->method_values.count; i++)
        if (strcmp(t->method_values.item[i].param->name, "dt") == 0 && t->method_values.item[i].number > 0)
            return t->method_values.item[i].number;
    return 1e-3;
}

static pbd_status advance(trial *t) {
    snprintf(t->board, 60, "%s", t->method->step ? "step" : "solve");
    if (!t->method->step) return t->method->solve(t->state);
    for (int i = 0; i < STEPS; i++) PBD_TRY(t->method->step(t->state, time_step(t)));
    return pbd_ok();
}

static pbd_status positions(trial *t, double **out) {
    *out = calloc(3 * t->scene.particles + 1, sizeof **out);
    if (!*out) return pbd_error(PBD_FAILED, "out of memory");
    snprintf(t->board, 60, "read");
    return t->method->read(t->state, PBD_POSITIONS, *out);
}

/* A trial from start to end; the positions are the caller's. */
static pbd_status whole_trial(const check *c, pbd_precision precision, pbd_backend backend, char *board, double **x,
                              size_t *particles, double *extent) {
    trial t;
    *x = NULL;
    pbd_status status = begin_trial(c, precision, backend, board, &t);
    if (status.code == PBD_OK) status = advance(&t);
    if (status.code == PBD_OK) status = positions(&t, x);
    *particles = t.scene.particles;
    *extent = t.scene.extent;
    end_trial(&t);
    return status;
}

/* ---- The checks -------------------------------------------------------------------------------------------------- */

static void check_table(const check *c, int pipe_out, char *board) {
    (void)c, (void)pipe_out;
    for (int p = 0; p < 2; p++) {
        snprintf(board, 60, "destroy of NULL");
        method_of((pbd_precision)p)->destroy(NULL);
    }
}

static void check_finite(const check *c, int pipe_out, char *board) {
    double *x, extent;
    size_t particles;
    char says[120];
    const pbd_status status = whole_trial(c, c->precision, c->backend, board, &x, &particles, &extent);
    if (status.code != PBD_OK) {
        tell(pipe_out, status.text);
        return;
    }
    for (size_t i = 0; i < 3 * particles; i++)
        if (!isfinite(x[i])) {
            snprintf(says, sizeof says, "particle %zu is nowhere (%g)", i / 3, x[i]);
            tell(pipe_out, says);
            break;
        }
    free(x);
}

/* From the same saved state the same answer, to the last bit: timing rests on it. */
static pbd_status repeat(trial *t, bool *same) {
    size_t bytes = 0;
    double *first = NULL, *second = NULL;
    snprintf(t->board, 60, "save");
    PBD_TRY(t->method->save(t->state, NULL, &bytes));
    void *blob = malloc(bytes + 1);
    pbd_status status = blob ? t->method->save(t->state, blob, &bytes) : pbd_error(PBD_FAILED, "out of memory");
    if (status.code == PBD_OK) status = advance(t);
    if (status.code == PBD_OK) status = positions(t, &first);
    if (status.code == PBD_OK) {
        snprintf(t->board, 60, "load");
        status = t->method->load(t->state, blob, bytes);
    }
    if (status.code == PBD_OK) status = advance(t);
    if (status.code == PBD_OK) status = positions(t, &second);
    if (status.code == PBD_OK) *same = memcmp(first, second, 3 * t->scene.particles * sizeof *first) == 0;
    free(blob);
    free(first);
    free(second);
    return status;
}

static void check_repeats(const check *c, int pipe_out, char *board) {
    trial t;
    bool same = true;
    pbd_status status = begin_trial(c, c->precision, c->backend, board, &t);
    if (status.code == PBD_OK) status = repeat(&t, &same);
    if (status.code != PBD_OK)
        tell(pipe_out, status.text);
    else if (!same)
        tell(pipe_out, "the same saved state gives another answer");
    end_trial(&t);
}

/* Two ways to one answer, apart by no more than `limit` of the body's size. */
static void compare_ways(const check *c, int pipe_out, char *board, pbd_precision other, pbd_backend elsewhere,
                         double limit) {
    double *x = NULL, *y = NULL, extent, largest = 0;
    size_t particles;
    char says[160];
    pbd_status status = whole_trial(c, c->precision, c->backend, board, &x, &particles, &extent);
    if (status.code == PBD_OK) status = whole_trial(c, other, elsewhere, board, &y, &particles, &extent);
    for (size_t i = 0; i < 3 * particles && status.code == PBD_OK; i++)
        if (!(fabs(x[i] - y[i]) <= largest)) largest = fabs(x[i] - y[i]);
    free(x);
    free(y);
    snprintf(says, sizeof says, "they differ by %.2g of the body's size, %.0e is allowed", largest / extent, limit);
    if (status.code != PBD_OK)
        tell(pipe_out, status.text);
    else if (!(largest <= limit * extent))
        tell(pipe_out, says);
}

static void check_precisions(const check *c, int pipe_out, char *board) {
    if (method_of(c->precision)->precisions != (PBD_F32 | PBD_F64))
        tell(pipe_out, "skip: it runs in one precision");
    else
        compare_ways(c, pipe_out, board, (pbd_precision)!c->precision, c->backend, 1e-3);
}

static void check_backends(const check *c, int pipe_out, char *board) {
    if (!(method_of(c->precision)->backends & PBD_EMU))
        tell(pipe_out, "skip: it does not run on emu");
    else
        compare_ways(c, pipe_out, board, c->precision, PBD_BACKEND_EMU,
                     c->precision == PBD_PRECISION_F32 ? 1e-4 : 1e-10);
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(const check *, int, char *);
} case_checks[] = {{"runs, and every particle is somewhere", check_finite},
                   {"repeats from a saved state", check_repeats},
                   {"f32 agrees with f64", check_precisions},
                   {"emu agrees with cpu", check_backends}};

static pbd_status check_case(checking *all, const pbd_case *c, const pbd_method *m) {
    check one = {.path = all->path,
                 .case_name = c->name,
                 .precision = m->precisions & PBD_F64 ? PBD_PRECISION_F64 : PBD_PRECISION_F32,
                 .backend = PBD_BACKEND_CPU};
    const bool moves = m->step != NULL, cpu = (m->backends & PBD_CPU) != 0;
    for (size_t i = 0; i < sizeof case_checks / sizeof *case_checks; i++) {
        char name[120];
        snprintf(name, sizeof name, "%s: %s", c->name, case_checks[i].name);
        one.run = case_checks[i].run;
        if (m->needs & ~c->provides)
            report(all, name, SKIPPED, "the case lacks what the method needs");
        else if (!cpu || (!moves && !m->solve))
            report(all, name, SKIPPED, "it does not run on cpu");
        else
            PBD_TRY(perform(all, name, &one));
    }
    return pbd_ok();
}

/* The table is looked at in a child first; only a library that survives that is loaded here. */
static pbd_status check_plugin(checking *all) {
    const check table_check = {.path = all->path, .run = check_table};
    PBD_TRY(perform(all, "table of the method", &table_check));
    if (all->failed > 0) return pbd_ok();
    PBD_TRY(pbd_plugin_load(all->path));
    const pbd_method *m = method_of(PBD_PRECISION_F64);
    for (size_t i = 0; i < pbd_case_count(); i++) PBD_TRY(check_case(all, pbd_case_at(i), m));
    return pbd_ok();
}

static pbd_status take_words(const pbd_texts *words, plugin_options *o) {
    static const char *const actions[] = {"check"};
    if (words->count == 0) return pbd_error(PBD_BAD_INPUT, "plugin needs `check FILE`: see `pbdbench plugin --help`");
    if (strcmp(words->item[0], "check") != 0)
        return pbd_unknown("action", words->item[0], actions, 1, "pbdbench plugin --help");
    if (words->count != 2) return pbd_error(PBD_BAD_INPUT, "plugin check takes one file");
    o->path = words->item[1];
    if (access(o->path, R_OK) == 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "plug-in '%.200s': there is no such file", o->path);
}

static pbd_status check_and_print(const plugin_options *o, size_t *failed) {
    checking all = {.path = o->path, .list = o->json ? json_array() : NULL};
    const pbd_status status = check_plugin(&all);
    if (all.list && status.code == PBD_OK) {
        json_dumpf(all.list, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(all.list);
    *failed = all.failed;
    return status;
}

static int verb_main(int argc, char **argv) {
    plugin_options o = {0};
    pbd_texts words;
    bool help;
    size_t failed = 0;
    pbd_status status = pbd_options_parse("plugin", table, argc, argv, &o, &words, &help);
    if (status.code == PBD_OK && !help) status = take_words(&words, &o);
    if (status.code == PBD_OK && !help) status = check_and_print(&o, &failed);
    pbd_texts_free(&words);
    if (status.code != PBD_OK) return pbd_complain(status);
    if (help) return pbd_verb_help(&pbd_verb_plugin);
    return failed ? PBD_EXIT_VALIDATION : PBD_EXIT_OK;
}

const pbd_verb pbd_verb_plugin = {
    .name = "plugin",
    .summary = "check a method in a shared library",
    .usage = "plugin check FILE [--json]",
    .about =
        "Loads a plug-in and tries its method: its table, then on every case that fits whether it runs, repeats from "
        "a\n"
        "saved state to the last bit, and agrees between precisions and backends. Each check runs in a process of its\n"
        "own. `run`, `list`, `sweep` and `compare` take --plugin FILE.",
    .more = "Exit 3 when a check fails, 2 when there is no such file. examples/plugin shows how one is built.",
    .options = table,
    .words = PBD_WORDS_FILES,
    .main = verb_main,
};
