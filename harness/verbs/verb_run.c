/* run: one method on one case, over axes and repeats; prints metrics and timings and stores the runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/plugin.h"
#include "harness/verbs/cli.h"

typedef struct run_options {
    const char *db;
    const char *method, *backend, *precision;
    long long threads, repeats, warmups, seed;
    double seconds;
    bool turns;
    long long snapshots;
    const char *out, *colour;
    double strain_scale;
    pbd_texts sets, axes, plugins;
    bool json, quiet, again, no_store;
    char *folder; /* of snapshots */
    pbd_request request;
    pbd_setting *setting;
    pbd_axis *axis;
} run_options;

static void free_options(run_options *o) {
    for (size_t i = 0; i < o->request.axes; i++) pbd_axis_free(&o->axis[i]);
    for (size_t i = 0; i < o->request.settings; i++) pbd_setting_free(&o->setting[i]);
    free(o->axis);
    free(o->folder);
    free(o->setting);
    pbd_texts_free(&o->sets);
    pbd_texts_free(&o->axes);
    pbd_texts_free(&o->plugins);
}

static int print_help(const run_options *o) {
    pbd_verb_help(&pbd_verb_run);
    const pbd_case *c;
    const pbd_method_entry *m;
    if (o->request.case_name && pbd_find_case(o->request.case_name, &c).code == PBD_OK)
        pbd_print_params("Parameters of the case", c->params);
    if (o->method && pbd_find_method(o->method, &m).code == PBD_OK)
        pbd_print_params("Parameters of the method", m->by_precision[PBD_PRECISION_F64]->params);
    return PBD_EXIT_OK;
}

static const pbd_option table[] = {
    PBD_OPT_TEXT(run_options, method, "method", 'm', "METHOD", PBD_WORDS_METHODS, "see `pbdbench list methods`"),
    PBD_OPT_MANY(run_options, sets, "set", 's', "KEY=VALUE", PBD_WORDS_SETTINGS,
                 "a parameter of the case or the method"),
    PBD_OPT_MANY(run_options, axes, "axis", 'a', "KEY=LIST", PBD_WORDS_SETTINGS,
                 "key=lo:hi:step or key=a,b,c: a run for each value; several axes\nmake a grid"),
    PBD_OPT_TEXT(run_options, backend, "backend", 'b', "BACKEND", PBD_WORDS_BACKENDS, "cpu, emu or cuda; default cpu"),
    PBD_OPT_TEXT(run_options, precision, "precision", 'p', "P", PBD_WORDS_PRECISIONS, "f32 or f64; default f64"),
    PBD_OPT_INTEGER(run_options, threads, "threads", 't', 1, 4096, "default: all cores"),
    PBD_OPT_INTEGER(run_options, repeats, "repeats", 'r', 1, 100000, "runs of each cell; default 1"),
    PBD_OPT_INTEGER(run_options, warmups, "warm-ups", 'w', 0, 1000, "untimed solves before the timed one; default 0"),
    PBD_OPT_REAL(run_options, seconds, "time", 0, "SECONDS", 1e-6, 3600,
                 "after the run, repeat the solve for that time and record the time\n"
                 "of a solve: metrics solve_wall and solve_cpu; implies --again"),
    PBD_OPT_FLAG(run_options, turns, "turns", 0,
                 "with --time: another process requests each sample, over a socket on\n"
                 "standard input (used by `compare` and `gate`)"),
    PBD_OPT_INTEGER(run_options, snapshots, "snapshots", 0, 1, PBD_MOST_SNAPSHOTS,
                    "number of states to write, evenly spaced (of a static solve: start\n"
                    "and end), as VTK files and pictures; implies --again"),
    PBD_OPT_TEXT(run_options, out, "out", 0, "DIR", PBD_WORDS_FOLDERS,
                 "with --snapshots: parent of each run's folder; default\n"
                 "results/snapshots"),
    PBD_OPT_CHOICE(run_options, colour, "colour", 0, "WHAT", "strain|body",
                   "with --snapshots: meaning of colours; default strain"),
    PBD_OPT_REAL(run_options, strain_scale, "strain-scale", 0, "STRAIN", 1e-12, 1e12,
                 "with --snapshots: strain of the darkest colour, so that runs can be\n"
                 "compared; default the largest in the run, rounded up"),
    PBD_OPT_INTEGER(run_options, seed, "seed", 0, 0, 9e18, "stored with the run; default 1"),
    PBD_OPTION_PLUGIN(run_options),
    PBD_OPTION_DB(run_options),
    PBD_OPT_FLAG(run_options, no_store, "no-store", 0, "print only"),
    PBD_OPT_FLAG(run_options, again, "again", 0, "make the run even if it is stored"),
    PBD_OPTION_JSON(run_options, "one object per run and line"),
    PBD_OPTION_QUIET(run_options, "no progress"),
    {0}};

static pbd_status add_setting(run_options *o, const char *word) {
    pbd_setting *grown = realloc(o->setting, (o->request.settings + 1) * sizeof *grown);
    if (!grown) return pbd_error(PBD_FAILED, "out of memory");
    o->setting = grown;
    o->request.setting = grown;
    PBD_TRY(pbd_setting_parse(word, &grown[o->request.settings]));
    o->request.settings++;
    return pbd_ok();
}

static pbd_status add_axis(run_options *o, const char *text) {
    pbd_axis *grown = realloc(o->axis, (o->request.axes + 1) * sizeof *grown);
    if (!grown) return pbd_error(PBD_FAILED, "out of memory");
    o->axis = grown;
    o->request.axis = grown;
    PBD_TRY(pbd_axis_parse(text, &grown[o->request.axes]));
    for (size_t i = 0; i < o->request.axes; i++)
        if (strcmp(o->axis[i].key, grown[o->request.axes].key) == 0) {
            pbd_status status = pbd_error(PBD_BAD_INPUT, "axis '%.60s' is given twice", text);
            pbd_axis_free(&grown[o->request.axes]);
            return status;
        }
    o->request.axes++;
    return pbd_ok();
}

static pbd_status take_words(const pbd_texts *words, run_options *o) {
    pbd_request *r = &o->request;
    r->method_name = o->method;
    r->backend = o->backend;
    r->precision = o->precision;
    r->threads = (int)o->threads;
    r->repeats = (int)o->repeats;
    r->warmups = (int)o->warmups;
    r->seconds = o->seconds;
    r->turns = o->turns;
    r->seed = (uint64_t)o->seed;
    r->snapshots =
        (pbd_snapshot_plan){(int)o->snapshots, o->folder, o->colour ? o->colour : "strain", o->strain_scale, 0};
    for (size_t i = 0; i < o->sets.count; i++) PBD_TRY(add_setting(o, o->sets.item[i]));
    for (size_t i = 0; i < o->axes.count; i++) PBD_TRY(add_axis(o, o->axes.item[i]));
    if (words->count == 0) return pbd_error(PBD_BAD_INPUT, "run needs a case: `pbdbench list cases` lists them");
    if (words->count > 1)
        return pbd_error(PBD_BAD_INPUT, "run takes one case; '%.60s' is an extra argument", words->item[1]);
    if (!o->method) return pbd_error(PBD_BAD_INPUT, "run needs a method: -m NAME; `pbdbench list methods` lists them");
    if (o->snapshots == 0 && (o->out || o->colour || o->strain_scale > 0))
        return pbd_error(PBD_BAD_INPUT, "--out, --colour and --strain-scale require --snapshots N");
    return pbd_ok();
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void print_result(const pbd_result *r, const char *label) {
    printf("%s  %s %s, %d thread%s  %s\n", label, r->backend, r->precision, r->threads, r->threads == 1 ? "" : "s",
           r->run_id[0] ? r->run_id : "(not stored)");
    if (strcmp(r->state, "ok") != 0) printf("  %s: %s\n", r->state, r->says);
    for (size_t i = 0; i < r->metrics; i++) {
        const pbd_metric_item *m = &r->metric[i];
        const char *unit = strcmp(m->unit, "1") == 0 ? "" : m->unit;
        if (m->is_count)
            printf("  %-30s %14llu %s\n", m->name, (unsigned long long)m->count, unit);
        else
            printf("  %-30s %14.6g %s\n", m->name, m->value, unit);
    }
    for (size_t i = 0; i < r->phases; i++)
        printf("  time %-25s %14.6f s wall, %.6f s CPU\n", r->phase[i].name, r->phase[i].wall_s, r->phase[i].cpu_s);
    for (size_t i = 0; i < r->warnings; i++)
        printf("  warning %s (%llux): %s\n", r->warning[i].name, (unsigned long long)r->warning[i].count,
               r->warning[i].says);
}

typedef struct run_context {
    const run_options *options;
    pbd_store *store;
    pbd_progress progress;
    pbd_status trouble;
    size_t failed, refused;
} run_context;

static bool lacks_snapshots(const pbd_result *r) {
    for (size_t i = 0; i < r->warnings; i++)
        if (strcmp(r->warning[i].name, PBD_SNAPSHOTS_MISSING) == 0) return true;
    return false;
}

/* On standard error with --json: standard output is one object a line. */
static void tell_snapshots(const run_context *c, const pbd_plan_item *item, const pbd_result *r) {
    if (item->snapshots.count == 0 || lacks_snapshots(r) || strcmp(r->state, "failed") == 0) return;
    if (!c->options->json)
        printf("  snapshots in %s\n", item->snapshots.folder);
    else if (!c->options->quiet)
        fprintf(stderr, "pbdbench: snapshots in %s\n", item->snapshots.folder);
}

static void observe(void *context, const pbd_plan_item *item, const pbd_result *made, size_t done, size_t total) {
    run_context *c = context;
    pbd_result stored = {0};
    const pbd_result *r = made;
    if (item->refusal.code != PBD_OK) {
        c->refused++;
        pbd_tell_refusal(&c->progress, item, total);
        return;
    }
    if (!r) {
        c->trouble = pbd_store_get(c->store, item->run_id, &stored);
        if (c->trouble.code != PBD_OK) return;
        r = &stored;
    }
    if (strcmp(r->state, "ok") != 0 || lacks_snapshots(r)) c->failed++;
    if (c->progress.on) fputs("\r\033[K", stderr);
    if (c->options->json) {
        char *line = pbd_result_json(r);
        puts(line ? line : "{}");
        free(line);
    } else {
        print_result(r, item->label);
        if (!made) puts("  (already in the store; --again repeats it)");
    }
    tell_snapshots(c, item, r);
    fflush(stdout);
    pbd_progress_show(&c->progress, done, total, made != NULL, item->label);
    if (!made) pbd_result_free(&stored);
}

static pbd_status execute(const run_options *o, int argc, char **argv, run_context *context) {
    pbd_plan plan = {0};
    pbd_status planned = pbd_plan_add(&plan, &o->request, 0);
    if (planned.code != PBD_OK) {
        pbd_plan_free(&plan);
        return planned;
    }
    char *path = pbd_db_path(o->db);
    pbd_status status = path ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory");
    if (status.code == PBD_OK && !o->no_store) {
        status = pbd_store_open(path, PBD_STORE_WRITE, &context->store);
        if (status.code == PBD_OK) status = pbd_store_begin(context->store, argc, argv);
    }
    if (status.code == PBD_OK) {
        pbd_progress_begin(&context->progress, o->quiet || plan.count == 1);
        status = pbd_plan_execute(&plan, context->store, o->again, observe, context);
        pbd_progress_end(&context->progress);
    }
    if (status.code == PBD_OK) status = context->trouble;
    pbd_store_close(context->store);
    pbd_plan_free(&plan);
    free(path);
    return status;
}

static int verb_main(int argc, char **argv) {
    run_options o = {.seed = 1};
    run_context context = {.options = &o, .trouble = {.code = PBD_OK}};
    pbd_texts words;
    bool help;
    int code;
    pbd_status status = pbd_options_parse("run", table, argc, argv, &o, &words, &help);
    if (words.count > 0) o.request.case_name = words.item[0];
    if (status.code == PBD_OK) status = pbd_plugins_load(&o.plugins);
    if (status.code == PBD_OK && help)
        code = print_help(&o);
    else {
        o.folder = o.out ? strdup(o.out) : pbd_root_path("results/snapshots");
        if (status.code == PBD_OK && !o.folder) status = pbd_error(PBD_FAILED, "out of memory");
        if (status.code == PBD_OK) status = take_words(&words, &o);
        pbd_catch_interrupts();
        if (status.code == PBD_OK) status = execute(&o, argc, argv, &context);
        code = context.failed ? PBD_EXIT_RUN_FAILED : PBD_EXIT_OK;
        if (context.refused) code = PBD_EXIT_USAGE;
        if (status.code != PBD_OK) code = pbd_complain(status);
    }
    pbd_texts_free(&words);
    free_options(&o);
    return code;
}

const pbd_verb pbd_verb_run = {
    .name = "run",
    .summary = "run a method on a case, print and store it",
    .usage = "run CASE -m METHOD [-s key=value]... [-a key=lo:hi:step]... [options]",
    .about = "Runs a method on a case, prints its errors and its timings, and stores the run.",
    .more =
        "`pbdbench run CASE -m METHOD --help` lists the parameters of both.\n"
        "Snapshots are state_000.vtu ... and states.pvd for ParaView, state_000.png ... and sheet.png;\n"
        "all methods on one scene use the same view.\n"
        "Exit 5 when a run failed or diverged or its snapshots could not be written, 2 for bad input\n"
        "(nothing is stored then; of several runs, refused ones are listed and the rest is made).",
    .options = table,
    .words = PBD_WORDS_CASES,
    .main = verb_main,
};
