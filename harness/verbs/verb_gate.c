/* gate: this program against a baseline, for CI. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/catalog/plugin.h"
#include "harness/compare/gate.h"
#include "harness/compare/revisions.h"
#include "harness/verbs/cli.h"

typedef struct gate_options {
    const char *baseline, *current, *plugin, *baseline_plugin, *engine, *baseline_engine, *suite, *db, *markdown;
    double max_regression, seconds, max_load, max_steal, confirm_after;
    long long most_pairs, seed;
    pbd_texts only;
    bool dry_run, no_store, json, quiet;
} gate_options;

static const pbd_option table[] = {
    PBD_OPT_TEXT(gate_options, baseline, "baseline", 0, "REF", PBD_WORDS_FILES,
                 "the baseline: a git revision, which is built in a separate work tree, or\n"
                 "the path of a pbdbench"),
    PBD_OPT_PERCENT(gate_options, max_regression, "max-regression", 0, 0.0001, 1,
                    "the largest slowdown that passes; default 2%"),
    PBD_OPT_TEXT(gate_options, suite, "suite", 0, "FILE", PBD_WORDS_FILES, "the cells; default gate.yaml"),
    PBD_OPT_MANY(gate_options, only, "only", 0, "METHOD", PBD_WORDS_METHODS,
                 "the cells of this method alone, and no figure; may be repeated"),
    PBD_OPT_TEXT(gate_options, current, "current", 0, "PATH", PBD_WORDS_FILES, "the program to test; default this one"),
    PBD_OPT_TEXT(gate_options, plugin, "plugin", 0, "FILE", PBD_WORDS_FILES,
                 "a plug-in, whose method the cells may use"),
    PBD_OPT_TEXT(gate_options, baseline_plugin, "baseline-plugin", 0, "FILE", PBD_WORDS_FILES,
                 "its former build, for the baseline; --baseline is then this program by\n"
                 "default"),
    PBD_OPT_TEXT(gate_options, engine, "engine", 0, "FILE", PBD_WORDS_FILES,
                 "an engine.yaml, whose method the cells may use"),
    PBD_OPT_TEXT(gate_options, baseline_engine, "baseline-engine", 0, "FILE", PBD_WORDS_FILES,
                 "its former version, for the baseline, likewise"),
    PBD_OPT_REAL(gate_options, seconds, "time", 0, "SECONDS", 1e-6, 3600, "samples of each process; default 0.05"),
    PBD_OPT_INTEGER(gate_options, most_pairs, "max-pairs", 0, 8, 40, "8, 12, 20 or 40 pairs a cell; default 40"),
    PBD_OPT_INTEGER(gate_options, seed, "seed", 0, 0, 9e15, "of the order of the processes; default: from the clock"),
    PBD_OPT_REAL(gate_options, max_load, "max-load", 0, "N", 1e-6, 1e6,
                 "other processes that run, per processor, above which a cell is undecided;\ndefault 1.5"),
    PBD_OPT_REAL(gate_options, max_steal, "max-steal", 0, "SHARE", 1e-6, 1,
                 "share of the processor time taken by the host of a virtual machine, above\nwhich a cell is "
                 "undecided; default 0.1"),
    PBD_OPT_REAL(gate_options, confirm_after, "confirm-after", 0, "SECONDS", 0, 3600,
                 "seconds from the first block of a cell to the second, on a busy machine;\ndefault 180"),
    PBD_OPT_TEXT(gate_options, markdown, "markdown", 0, "FILE", PBD_WORDS_FILES,
                 "also a table for a pull request; - is standard output, instead of the\n"
                 "usual report"),
    PBD_OPT_FLAG(gate_options, dry_run, "dry-run", 0, "only lists what it would run"),
    PBD_OPT_FLAG(gate_options, no_store, "no-store", 0, "stores nothing"),
    PBD_OPTION_DB(gate_options),
    PBD_OPTION_JSON(gate_options, "one object"),
    PBD_OPTION_QUIET(gate_options, "no progress"),
    {0}};

static pbd_status check_options(const gate_options *o, const pbd_texts *words) {
    if (words->count > 0)
        return pbd_error(PBD_BAD_INPUT, "gate takes no argument, got '%.60s': --baseline sets the baseline",
                         words->item[0]);
    if (o->baseline_plugin && !o->plugin)
        return pbd_error(PBD_BAD_INPUT, "--baseline-plugin needs --plugin: the build that is tested");
    if (o->baseline_engine && !o->engine)
        return pbd_error(PBD_BAD_INPUT, "--baseline-engine needs --engine: the version that is tested");
    if (!o->baseline && !o->baseline_plugin && !o->baseline_engine)
        return pbd_error(PBD_BAD_INPUT, "gate needs --baseline: a git revision or the path of a pbdbench");
    for (size_t i = 0; i < PBD_LOOKS; i++)
        if ((size_t)o->most_pairs == pbd_looks[i].pairs) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "--max-pairs=%lld must be 8, 12, 20 or 40", o->most_pairs);
}

/* --baseline is an executable if it contains a slash and can be run, else a revision. */
static pbd_status find_baseline(const gate_options *o, char **program) {
    *program = NULL;
    if (!o->baseline) {
        *program = realpath("/proc/self/exe", NULL);
        return *program ? pbd_ok()
                        : pbd_error(PBD_FAILED, "this program's own path cannot be read: %s", strerror(errno));
    }
    if (strchr(o->baseline, '/') && access(o->baseline, X_OK) == 0) {
        *program = realpath(o->baseline, NULL);
        return *program ? pbd_ok() : pbd_error(PBD_BAD_INPUT, "'%.200s': %s", o->baseline, strerror(errno));
    }
    pbd_revision revision PBD_CLEANUP(pbd_revision_free) = {0};
    PBD_TRY(pbd_revision_find(pbd_root(), o->baseline, &revision));
    if (!revision.built && !o->quiet)
        fprintf(stderr, "pbdbench: building %.12s of %s (a minute or two)\n", revision.sha, o->baseline);
    PBD_TRY(pbd_revision_build(pbd_root(), false, &revision));
    *program = strdup(revision.program);
    return *program ? pbd_ok() : pbd_no_memory();
}

static void show(void *context, const char *what, size_t done, size_t total) {
    pbd_progress_show(context, done, total, true, what);
}

static void print_plan(const pbd_gate_suite *suite, const gate_options *o) {
    printf("%u cells, each in 12 to %lld pairs of processes and a control; first each cell once in both programs:\n",
           suite->cells_count, o->most_pairs);
    for (unsigned i = 0; i < suite->cells_count; i++) {
        const pbd_gate_cell *c = &suite->cells[i];
        printf("  %-24s %s %s, %s, %u thread%s", c->name, c->case_name, c->method, c->precision ? c->precision : "f64",
               c->threads ? c->threads : 1, c->threads > 1 ? "s" : "");
        for (unsigned k = 0; k < c->set_count; k++) printf(" %s", c->set[k]);
        putchar('\n');
    }
    for (unsigned i = 0; i < suite->figures_count; i++) printf("  claims of %s\n", suite->figures[i]);
    printf("about %.0f s or more\n", (2 * o->seconds + 0.03) * 36 * suite->cells_count);
}

static pbd_status print_markdown(const pbd_gate *gate, const pbd_gate_request *r, const char *path) {
    if (strcmp(path, "-") == 0) {
        pbd_gate_markdown(gate, r, stdout);
        return pbd_ok();
    }
    FILE *out = fopen(path, "w");
    if (!out) return pbd_error(PBD_BAD_INPUT, "'%.200s' cannot be written: %s", path, strerror(errno));
    pbd_gate_markdown(gate, r, out);
    const bool bad = ferror(out) != 0;
    if (fclose(out) == 0 && !bad) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "'%.200s' cannot be written: %s", path, strerror(errno));
}

static pbd_status print_gate(const pbd_gate *gate, const pbd_gate_request *r, const gate_options *o) {
    const bool instead = o->markdown && strcmp(o->markdown, "-") == 0;
    if (o->json)
        pbd_gate_json(gate, r, stdout);
    else if (!instead)
        pbd_gate_print(gate, r, stdout);
    return o->markdown ? print_markdown(gate, r, o->markdown) : pbd_ok();
}

static pbd_status run_gate(const gate_options *o, pbd_gate_request *r, int *code) {
    pbd_progress progress;
    pbd_gate gate PBD_CLEANUP(pbd_gate_free) = {0};
    pbd_progress_begin(&progress, o->quiet);
    r->observe = show;
    r->context = &progress;
    const pbd_status status = pbd_gate_run(r, &gate);
    pbd_progress_end(&progress);
    PBD_TRY(status);
    *code = pbd_gate_code(&gate);
    return print_gate(&gate, r, o);
}

static void release_suite(pbd_gate_suite **suite) { pbd_gate_suite_free(*suite); }

static pbd_status act(void *options, pbd_call *call) {
    const gate_options *o = options;
    char *baseline PBD_CLEANUP(pbd_free_memory) = NULL;
    pbd_gate_suite *suite PBD_CLEANUP(release_suite) = NULL;
    PBD_TRY(check_options(o, call->words));
    pbd_catch_interrupts();
    const char *path PBD_CLEANUP(pbd_free_memory) = o->suite ? strdup(o->suite) : pbd_root_path("gate.yaml");
    if (!path) return pbd_no_memory();
    const char *file = o->plugin, *engine = o->engine;
    const pbd_texts plugins = {&file, file ? 1 : 0};
    const pbd_texts engines = {&engine, engine ? 1 : 0};
    PBD_TRY(pbd_plugins_load(&plugins));
    PBD_TRY(pbd_engines_load(&engines));
    PBD_TRY(pbd_gate_suite_load(path, &suite));
    if (o->only.count > 0) PBD_TRY(pbd_gate_suite_keep(suite, o->only.item, o->only.count));
    if (o->dry_run) {
        print_plan(suite, o);
        return pbd_ok();
    }
    const char *current PBD_CLEANUP(pbd_free_memory) = realpath(o->current ? o->current : "/proc/self/exe", NULL);
    if (!current) return pbd_error(PBD_BAD_INPUT, "'%.200s': %s", o->current, strerror(errno));
    const char *db PBD_CLEANUP(pbd_free_memory) = o->no_store ? NULL : pbd_db_path(o->db);
    PBD_TRY(find_baseline(o, &baseline));
    pbd_gate_request request = {.suite = suite,
                                .baseline = baseline,
                                .current = current,
                                .baseline_plugin = o->baseline_plugin ? o->baseline_plugin : o->plugin,
                                .current_plugin = o->plugin,
                                .baseline_engine = o->baseline_engine ? o->baseline_engine : o->engine,
                                .current_engine = o->engine,
                                .baseline_name = o->baseline_plugin   ? o->baseline_plugin
                                                 : o->baseline_engine ? o->baseline_engine
                                                                      : o->baseline,
                                .other_program = o->current != NULL,
                                .db = db,
                                .max_regression = o->max_regression,
                                .seconds = o->seconds,
                                .max_load = o->max_load,
                                .max_steal = o->max_steal,
                                .confirm_after = o->confirm_after,
                                .most_pairs = (size_t)o->most_pairs,
                                .seed = (uint64_t)(o->seed < 0 ? time(NULL) : o->seed),
                                .argc = call->argc,
                                .argv = call->argv};
    return run_gate(o, &request, &call->exit_code);
}

static int verb_main(int argc, char **argv) {
    gate_options o = {.max_regression = 0.02,
                      .seconds = 0.05,
                      .most_pairs = 40,
                      .seed = -1,
                      .max_load = PBD_MAX_LOAD,
                      .max_steal = PBD_MAX_STEAL,
                      .confirm_after = 180};
    return pbd_verb_call(&pbd_verb_gate, argc, argv, &o, act);
}

const pbd_verb pbd_verb_gate = {
    .name = "gate",
    .summary = "compare with a baseline, for CI: exit 1 on a regression",
    .usage = "gate --baseline REF | --plugin FILE --baseline-plugin FILE [--suite FILE] [options]",
    .about =
        "Compares this program with a baseline over the cells of a suite: errors, counts and claims first, and\n"
        "only if they agree times, in interleaved pairs of processes, each beside a control: the baseline against\n"
        "itself.",
    .more =
        "Exit 3 when an error is larger, a count differs or a claim's verdict differs from the accepted one; 1 when a\n"
        "cell is slower than allowed in two separate blocks; 4 when a cell or a figure is undecided (the interval\n"
        "holds the limit, the baseline differs from itself, the machine is too busy), or the baseline can run none\n"
        "of the cells; else 0.",
    .options = table,
    .main = verb_main,
};
