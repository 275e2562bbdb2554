/* run: one method on one case, over axes and repeats; prints metrics and timings and stores the runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/catalog/plugin.h"
#include "harness/query/run_again.h"
#include "harness/query/run_command.h"
#include "harness/verbs/cli.h"
#include "harness/verbs/page_file.h"
#include "harness/verbs/run_print.h"
#include "harness/view/view.h"

typedef struct run_options {
    const char *db;
    const char *method, *backend, *precision;
    long long threads, repeats, warmups, seed;
    double seconds;
    bool turns;
    long long snapshots;
    const char *out, *states, *film, *view, *colour, *draw;
    long long frames;
    int spool; /* file descriptor, for --view */
    double slow, strain_scale;
    pbd_texts sets, axes, plugins, engines;
    bool json, quiet, verbose, again, no_store;
    char *folder; /* of snapshots */
    pbd_request request;
    pbd_settings settings;
    pbd_axis *axis;
} run_options;

static void free_options(run_options *o) {
    for (size_t i = 0; i < o->request.axes; i++) pbd_axis_free(&o->axis[i]);
    free(o->axis);
    free(o->folder);
    if (o->spool) close(o->spool);
    pbd_settings_free(&o->settings);
}

static void print_help(const run_options *o, const pbd_texts *words) {
    pbd_verb_help(&pbd_verb_run);
    const pbd_case *c;
    const pbd_method_entry *m;
    if (words->count > 0 && pbd_find_case(words->item[0], &c).code == PBD_OK)
        pbd_print_params("Parameters of the case", c->params);
    if (o->method && pbd_find_method(o->method, &m).code == PBD_OK)
        pbd_print_params("Parameters of the method", m->by_precision[PBD_PRECISION_F64]->params);
}

static const pbd_option table[] = {
    PBD_OPT_TEXT(run_options, method, "method", 'm', "METHOD", PBD_WORDS_METHODS, "see `pbdbench list methods`"),
    PBD_OPT_MANY(run_options, sets, "set", 's', "KEY=VALUE", PBD_WORDS_SETTINGS,
                 "a parameter of the case or the method"),
    PBD_OPT_MANY(run_options, axes, "axis", 'a', "KEY=LIST", PBD_WORDS_SETTINGS,
                 "key=lo:hi:step or key=a,b,c: a run for each value; several axes\n"
                 "make a grid; points that differ only in parameters that are not\n"
                 "read there are one run"),
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
    PBD_OPT_TEXT(run_options, states, "states", 0, "LIST", PBD_WORDS_NONE,
                 "with --snapshots: files of states, several separated by commas: vtu\n"
                 "(VTK; the default), ply (one a state), npz (NumPy; one of all)"),
    PBD_OPT_TEXT(run_options, film, "film", 0, "FILE", PBD_WORDS_FILES,
                 "a film of the run, .mp4, .webm or .gif, 25 frames a second of 1280 x\n"
                 "720 pixels (needs the program ffmpeg); implies --again"),
    PBD_OPT_REAL(run_options, slow, "slow", 0, "N", 1e-6, 1e6,
                 "with --film: seconds of film for one second of the run; default 1"),
    PBD_OPT_TEXT(run_options, view, "view", 0, "FILE", PBD_WORDS_FILES,
                 "an HTML page that shows the run in motion (`pbdbench view --help`);\n"
                 "implies --again"),
    PBD_OPT_INTEGER(run_options, frames, "frames", 0, 2, VIEW_MOST_FRAMES,
                    "with --view: states, evenly spaced; default 100"),
    PBD_OPT_TEXT(run_options, out, "out", 0, "DIR", PBD_WORDS_FOLDERS,
                 "with --snapshots: parent of each run's folder; default\n"
                 "results/snapshots"),
    PBD_OPT_CHOICE(run_options, colour, "colour", 0, "WHAT", PBD_COLOUR_NAMES,
                   "with --snapshots, --film, --view: meaning of colours; default auto: the\n"
                   "matter where some flows, is liquid or cloth, else the strain. The scale\n"
                   "of speed and so on is from the 1st to the 99th percentile of the run"),
    PBD_OPT_CHOICE(run_options, draw, "draw", 0, "HOW", PBD_DRAW_NAMES,
                   "with --snapshots and --film: auto (surfaces of liquid and of matter that\n"
                   "flows, grains, bodies by their meshes) or all particles as spheres"),
    PBD_OPT_REAL(run_options, strain_scale, "strain-scale", 0, "STRAIN", 1e-12, 1e12,
                 "with --snapshots and --film: strain of the darkest colour, so that runs\n"
                 "can be compared; default the largest in the run, rounded up"),
    PBD_OPT_INTEGER(run_options, seed, "seed", 0, 0, 9e18, "stored with the run; default 1"),
    PBD_OPTION_PLUGIN(run_options),
    PBD_OPTION_ENGINE(run_options),
    PBD_OPTION_DB(run_options),
    PBD_OPT_FLAG(run_options, no_store, "no-store", 0, "print only"),
    PBD_OPT_FLAG(run_options, again, "again", 0, "make the run even if it is stored"),
    PBD_OPT_FLAG(run_options, verbose, "verbose", 'v', "every metric, count and time"),
    PBD_OPTION_JSON(run_options, "one object per run and line"),
    PBD_OPTION_QUIET(run_options, "no progress"),
    {0}};

static pbd_status take_axes(run_options *o) {
    o->request.axis = o->axis = calloc(o->axes.count + 1, sizeof *o->axis);
    if (!o->axis) return pbd_no_memory();
    for (size_t n = 0; n < o->axes.count; n++) {
        PBD_TRY(pbd_axis_parse(o->axes.item[n], &o->axis[n]));
        o->request.axes++;
        for (size_t i = 0; i < n; i++)
            if (strcmp(o->axis[i].key, o->axis[n].key) == 0)
                return pbd_error(PBD_BAD_INPUT, "axis '%.60s' is given twice", o->axes.item[n]);
    }
    return pbd_ok();
}

static pbd_colour colour_of(const run_options *o) {
    return o->colour ? (pbd_colour)pbd_colour_named(o->colour) : PBD_COLOUR_AUTO;
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
    r->all_read = true;
    const pbd_album_plan album = {
        .colour = colour_of(o),
        .strain_scale = o->strain_scale,
        .draw = o->draw && strcmp(o->draw, "particles") == 0 ? PBD_DRAW_PARTICLES : PBD_DRAW_AUTO};
    r->snapshots = (pbd_snapshot_plan){.count = (int)o->snapshots, .folder = o->folder, .album = album};
    r->film = (pbd_film_plan){.path = o->film, .slow = o->slow, .album = album, .quiet = o->quiet};
    PBD_TRY(pbd_settings_parse(o->sets.item, o->sets.count, &o->settings));
    r->setting = o->settings.item;
    r->settings = o->settings.count;
    PBD_TRY(take_axes(o));
    if (words->count > 0) r->case_name = words->item[0];
    if (words->count == 0) return pbd_error(PBD_BAD_INPUT, "run needs a case: `pbdbench list cases` lists them");
    if (words->count > 1)
        return pbd_error(PBD_BAD_INPUT, "run takes one case; '%.60s' is an extra argument", words->item[1]);
    if (!o->method) return pbd_error(PBD_BAD_INPUT, "run needs a method: -m NAME; `pbdbench list methods` lists them");
    if (o->states) PBD_TRY(pbd_state_formats(o->states, &r->snapshots.formats));
    if (o->snapshots == 0 && o->states) return pbd_error(PBD_BAD_INPUT, "--states requires --snapshots N");
    if (o->snapshots == 0 && o->out) return pbd_error(PBD_BAD_INPUT, "--out requires --snapshots N");
    if (o->snapshots == 0 && !o->film && !o->view && o->colour)
        return pbd_error(PBD_BAD_INPUT, "--colour requires --snapshots N, --film FILE or --view FILE");
    if (o->snapshots == 0 && !o->film && (o->draw || o->strain_scale > 0))
        return pbd_error(PBD_BAD_INPUT, "--draw and --strain-scale require --snapshots N or --film FILE");
    if (!o->view && o->frames > 0) return pbd_error(PBD_BAD_INPUT, "--frames requires --view FILE");
    if (!o->film && o->slow > 0) return pbd_error(PBD_BAD_INPUT, "--slow requires --film FILE");
    if (o->film) PBD_TRY(pbd_film_check(o->film));
    return pbd_ok();
}

typedef struct run_context {
    const run_options *options;
    pbd_store *store;
    pbd_progress progress;
    pbd_status trouble;
    size_t failed, refused;
    pbd_run_printer printer;
    pbd_page_file page; /* of --view */
    bool viewed;        /* the page is written */
} run_context;

/* ---- The page of --view ------------------------------------------------------------------------------------------ */

enum { VIEW_FRAMES = 100, VIEW_MOST_MB = 200 };

static pbd_status open_view(run_options *o, run_context *c) {
    if (!o->view) return pbd_ok();
    PBD_TRY(pbd_page_open("page", o->view, NULL, &c->page));
    PBD_TRY(pbd_spool_file(c->page.fresh ? c->page.fresh : o->folder, &o->spool));
    o->request.spool = pbd_view_plan(o->spool, o->frames ? (int)o->frames : VIEW_FRAMES, VIEW_MOST_MB, 1, colour_of(o));
    return pbd_ok();
}

static pbd_status write_view(run_context *c, const pbd_plan_item *item, const pbd_result *r) {
    pbd_kept_run kept PBD_CLEANUP(pbd_kept_close) = {0};
    const char *command PBD_CLEANUP(pbd_free_memory) = pbd_run_command(r, NULL);
    if (!command) return pbd_no_memory();
    PBD_TRY(pbd_kept_open(item, &kept));
    const pbd_view_run shown = {r, command, &kept.setup.scene, pbd_cell_method(&item->cell), kept.spool};
    PBD_TRY(pbd_view_write(&shown, 1, colour_of(c->options), c->page.file));
    if (ferror(c->page.file)) return pbd_page_cannot(&c->page, "the disk is full");
    c->viewed = true;
    return pbd_ok();
}

/* A run that was refused or failed leaves no page. */
static pbd_status close_view(run_context *c, pbd_status status) {
    if (!c->page.file) return status;
    const bool lost = status.code == PBD_OK && !c->viewed;
    const pbd_status closed =
        pbd_page_close(&c->page, lost ? pbd_error(PBD_FAILED, "there is nothing to show") : status);
    return lost ? status : closed;
}

/* ---- One run after the other ------------------------------------------------------------------------------------- */

static bool lacks_snapshots(const pbd_result *r) {
    for (size_t i = 0; i < r->warnings; i++)
        if (strcmp(r->warning[i].name, PBD_SNAPSHOTS_MISSING) == 0) return true;
    return false;
}

/* With --json these lines go to standard error, since standard output has one object per line. */
static void tell_pictures(const run_context *c, const pbd_plan_item *item, const pbd_result *r) {
    FILE *out = c->options->json ? stderr : stdout;
    const char *indent = c->options->json ? "pbdbench: " : "  ";
    if (lacks_snapshots(r) || strcmp(r->state, "failed") == 0 || (c->options->json && c->options->quiet)) return;
    if (item->snapshots.count > 0) fprintf(out, "%ssnapshots in %s\n", indent, item->snapshots.folder);
    if (item->film.path) fprintf(out, "%sfilm in %s\n", indent, item->film.path);
    if (c->viewed) fprintf(out, "%spage in %s\n", indent, c->page.path);
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
        pbd_run_print(&c->printer, r, item, made != NULL);
    }
    if (made && c->page.file && strcmp(r->state, "failed") != 0) c->trouble = write_view(c, item, r);
    tell_pictures(c, item, r);
    fflush(stdout);
    pbd_progress_show(&c->progress, done, total, made != NULL, item->label);
    if (!made) pbd_result_free(&stored);
}

static pbd_status execute(const run_options *o, int argc, char **argv, run_context *context) {
    pbd_plan plan PBD_CLEANUP(pbd_plan_free) = {0};
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    PBD_TRY(pbd_plan_add(&plan, &o->request, 0));
    if ((o->film || o->view) && plan.count > (size_t)(o->repeats ? o->repeats : 1))
        return pbd_error(PBD_BAD_INPUT, "--%s is of one run, but these axes make %zu", o->film ? "film" : "view",
                         plan.count);
    if (plan.folded > 0 && !o->quiet)
        fprintf(stderr, "pbdbench: %zu point%s of the axes left out: like others but for parameters not read there\n",
                plan.folded, plan.folded == 1 ? "" : "s");
    if (!o->no_store) {
        PBD_TRY(pbd_open_store(o->db, PBD_STORE_WRITE, &store));
        PBD_TRY(pbd_store_begin(store, argc, argv));
    }
    pbd_problems *problems PBD_CLEANUP(pbd_problems_release) = NULL;
    if (!o->json && pbd_problems_load(&problems).code != PBD_OK) problems = NULL; /* no tolerances then */
    context->printer = (pbd_run_printer){.all = o->verbose,
                                         .grid = plan.count > 1,
                                         .columns = pbd_output_columns(),
                                         .problems = problems,
                                         .plan = &plan};
    plan.item[0].progress = plan.count == 1 && !o->quiet; /* with several runs, the bar advances by one per run */
    context->store = store;
    pbd_progress_begin(&context->progress, o->quiet || plan.count == 1);
    const pbd_status status = pbd_plan_execute(&plan, store, o->again, observe, context);
    pbd_progress_end(&context->progress);
    return status.code == PBD_OK ? context->trouble : status;
}

static pbd_status act(void *options, pbd_call *call) {
    run_options *o = options;
    run_context context = {.options = o, .trouble = {.code = PBD_OK}};
    PBD_TRY(pbd_plugins_load(&o->plugins));
    PBD_TRY(pbd_engines_load(&o->engines));
    if (call->help) {
        print_help(o, call->words);
        return pbd_ok();
    }
    o->folder = o->out ? strdup(o->out) : pbd_root_path("results/snapshots");
    if (!o->folder) return pbd_no_memory();
    PBD_TRY(take_words(call->words, o));
    const pbd_status opened = open_view(o, &context);
    if (opened.code != PBD_OK) return pbd_page_close(&context.page, opened);
    pbd_catch_interrupts();
    PBD_TRY(close_view(&context, execute(o, call->argc, call->argv, &context)));
    call->exit_code = context.refused ? PBD_EXIT_USAGE : context.failed ? PBD_EXIT_RUN_FAILED : PBD_EXIT_OK;
    return pbd_ok();
}

static int verb_main(int argc, char **argv) {
    run_options o = {.seed = 1};
    const int code = pbd_verb_call(&pbd_verb_run, argc, argv, &o, act);
    free_options(&o);
    return code;
}

const pbd_verb pbd_verb_run = {
    .name = "run",
    .summary = "run a method on a case, print and store it",
    .usage = "run CASE -m METHOD [-s key=value]... [-a key=lo:hi:step]... [options]",
    .about =
        "Runs a method on a case, prints its error, the tolerance of the frozen problem that it is (`pbdbench list\n"
        "problems`) and its time, and stores the run; of several runs a row each. -v prints all metrics and times.",
    .more =
        "`pbdbench run CASE -m METHOD --help` lists the parameters of both.\n"
        "Snapshots are state_000.vtu ... and states.pvd for ParaView, or state_000.ply ... and states.npz as\n"
        "--states says, and state_000.png ... and sheet.png;\n"
        "all methods on one scene use the same view.\n"
        "A run that will hold more than 2 GB says so on standard error before it allocates them (by methods/memory.def;\n"
        "of other methods before the first step), one of more than 30 s after its first steps; a terminal shows steps,\n"
        "the time left and the energy.\n"
        "Exit 5 when a run failed, diverged or is unphysical, or its snapshots could not be written, 2 for bad\n"
        "input (nothing is stored then; of several runs, refused ones are listed and the rest is made).",
    .options = table,
    .words = PBD_WORDS_CASES,
    .prints_help = true,
    .main = verb_main,
};
