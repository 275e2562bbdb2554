/* reproduce: makes the runs that figures need, draws the figures and judges their claims.
 *
 * All requested figures become one plan, checked as a whole before the first run, so that a mistake in the last figure
 * is found at once and figures that share runs make them once. */
#include <errno.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/figure/bundle.h"
#include "harness/figure/claims.h"
#include "harness/figure/figure_data.h"
#include "harness/figure/figure_draw.h"
#include "harness/figure/figure_plan.h"
#include "harness/figure/figure_report.h"
#include "harness/figure/figure_strips.h"
#include "harness/figure/figures.h"
#include "harness/figure/findings_page.h"
#include "harness/files/folded.h"
#include "harness/files/paths.h"
#include "harness/picture/thumbnail.h"
#include "harness/verbs/cli.h"

typedef struct reproduce_options {
    const char *db, *out, *bundle, *sweep;
    bool quick, full, dry_run, again, accept, no_strips, json, quiet;
    long long jobs;
    pbd_report_style style;
} reproduce_options;

/* One requested figure; its groups are first_group .. first_group + file->runs_count - 1 of the plan. */
typedef struct job {
    pbd_figure_file *file;
    size_t first_group;
} job;

typedef struct session {
    reproduce_options options;
    job *job;
    size_t jobs;
    pbd_plan plan;
    pbd_store *store;
    pbd_progress progress;
    bool drawn_beside; /* workers have drawn what they could */
    size_t failed;     /* runs */
    size_t differing;  /* verdicts */
    int trouble;       /* exit code of what went wrong with a figure's files or a run it needs, the disk or memory; 0:
                          nothing */
} session;

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static const pbd_option table[] = {
    PBD_OPT_FLAG(reproduce_options, quick, "quick", 0,
                 "few and small runs; marked (quick), never compared with accepted verdicts"),
    PBD_OPT_FLAG(reproduce_options, full, "full", 0,
                 "the paper's sizes, of figures that have them; marked (full), never compared either"),
    PBD_OPT_TEXT(reproduce_options, sweep, "sweep", 0, "FILE", PBD_WORDS_FILES,
                 "makes no run: writes the runs as a file for `sweep`, which takes them to a cluster;\n"
                 "with --full only those that have the paper's size; a comment names those whose\n"
                 "backend is not available here"),
    PBD_OPT_FLAG(reproduce_options, dry_run, "dry-run", 0,
                 "only lists the runs it would make, with estimated time and memory"),
    PBD_OPT_FLAG(reproduce_options, accept, "accept", 0,
                 "writes the verdicts to plots/FIGURE/verdicts.csv, and a small picture beside it;\n"
                 "with --no-strips a figure that has strips keeps the picture it has"),
    PBD_OPT_INTEGER(reproduce_options, jobs, "jobs", 'j', 1, 256,
                    "runs made at one time, of those with one thread whose times nothing reads; the\n"
                    "others follow, one after another. Also figures drawn at one time; default: the\n"
                    "number of cores"),
    PBD_OPT_FLAG(reproduce_options, again, "again", 0, "repeats runs that are already stored"),
    PBD_OPT_FLAG(reproduce_options, no_strips, "no-strips", 0,
                 "draws no strips of rendered bodies, for which runs are made again,\n"
                 "once"),
    PBD_OPT_TEXT(reproduce_options, out, "out", 'o', "DIR", PBD_WORDS_FOLDERS,
                 "pictures and their data; default results/plots"),
    PBD_OPT_TEXT(reproduce_options, bundle, "bundle", 0, "FILE", PBD_WORDS_FILES,
                 "of one figure: an archive (.tar.gz) of its inputs, runs, values and pictures, with\n"
                 "the command that makes the runs again and compares"),
    PBD_OPTION_DB(reproduce_options),
    PBD_OPTION_JSON(reproduce_options, "one object per figure and line"),
    PBD_OPTION_QUIET(reproduce_options, "no progress, one line per figure"),
    {0}};

static pbd_status check_options(const pbd_texts *words, reproduce_options *o) {
    const pbd_scale scale = o->quick ? PBD_SCALE_QUICK : o->full ? PBD_SCALE_FULL : PBD_SCALE_USUAL;
    if (o->jobs == 0) o->jobs = omp_get_num_procs();
    o->style = (pbd_report_style){.json = o->json, .quiet = o->quiet, .scale = scale};
    if (o->quick && o->full) return pbd_error(PBD_BAD_INPUT, "--quick and --full exclude each other");
    if (o->accept && scale != PBD_SCALE_USUAL)
        return pbd_error(PBD_BAD_INPUT, "--accept needs the figure's own runs: remove %s",
                         o->quick ? "--quick" : "--full");
    if (o->bundle && o->full) return pbd_error(PBD_BAD_INPUT, "--bundle does not take --full");
    if (o->sweep && (o->accept || o->bundle || o->dry_run))
        return pbd_error(PBD_BAD_INPUT, "--sweep makes no run: remove --accept, --bundle and --dry-run");
    if (o->bundle && o->dry_run) return pbd_error(PBD_BAD_INPUT, "--bundle needs runs: remove --dry-run");
    if (o->accept && o->dry_run) return pbd_error(PBD_BAD_INPUT, "--accept needs runs: remove --dry-run");
    if (words->count > 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "reproduce needs a figure, a paper or `all`: `pbdbench list figures` shows them");
}

/* ---- Which figures ----------------------------------------------------------------------------------------------- */

static pbd_status add_job(session *s, const char *id) {
    for (size_t i = 0; i < s->jobs; i++)
        if (strcmp(s->job[i].file->figure, id) == 0) return pbd_ok(); /* named twice */
    job *grown = realloc(s->job, (s->jobs + 1) * sizeof *grown);
    if (!grown) return pbd_no_memory();
    s->job = grown;
    size_t first = s->jobs ? grown[s->jobs - 1].first_group + grown[s->jobs - 1].file->runs_count : 0;
    grown[s->jobs] = (job){.first_group = first};
    PBD_TRY(pbd_figure_load(id, &grown[s->jobs].file));
    if (s->options.full && !pbd_figure_has_full(grown[s->jobs].file))
        pbd_figure_file_free(grown[s->jobs].file); /* none of its runs has the paper's size */
    else
        s->jobs++;
    return pbd_ok();
}

/* Adds all available figures (paper NULL), or those of a paper. *known is false when no figure names the paper. */
static pbd_status add_many(session *s, const pbd_figure_list *list, const char *paper, bool *known) {
    size_t before = s->jobs, available = 0;
    *known = paper == NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (paper && strcmp(list->item[i].paper, paper) != 0) continue;
        *known = true;
        if (!list->item[i].available) continue;
        available++;
        PBD_TRY(add_job(s, list->item[i].id));
    }
    if (*known && available == 0 && s->jobs == before)
        return pbd_error(PBD_BAD_INPUT,
                         "no figure of %s can be reproduced yet; `pbdbench list figures` lists those that can",
                         paper ? paper : "any paper");
    return pbd_ok();
}

static pbd_status unknown_figure(const pbd_figure_list *list, const char *word) {
    pbd_arena a PBD_ARENA;
    const char **names = pbd_new(&a, const char *, 2 * list->count + 1);
    PBD_TRY(pbd_arena_check(&a));
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) names[count++] = list->item[i].id;
    for (size_t i = 0; i < list->count; i++) names[count++] = list->item[i].paper;
    names[count++] = "all";
    return pbd_unknown("figure", word, names, count, "pbdbench list figures");
}

static pbd_status add_word(session *s, const pbd_figure_list *list, const char *word) {
    bool known;
    if (strcmp(word, "all") == 0) return add_many(s, list, NULL, &known);
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->item[i].id, word) != 0) continue;
        if (list->item[i].available) return add_job(s, word);
        return pbd_error(PBD_BAD_INPUT, "%s cannot be reproduced yet: %s (%s)", word, list->item[i].reason,
                         list->item[i].shows);
    }
    PBD_TRY(add_many(s, list, word, &known));
    return known ? pbd_ok() : unknown_figure(list, word);
}

static pbd_status choose(session *s, const pbd_texts *words) {
    pbd_figure_list list PBD_CLEANUP(pbd_figure_list_free) = {0};
    PBD_TRY(pbd_list_figures(&list));
    for (size_t i = 0; i < words->count; i++) PBD_TRY(add_word(s, &list, words->item[i]));
    if (s->jobs == 0)
        return pbd_error(PBD_BAD_INPUT,
                         "--full: no run of what is named has a size of the paper's (`full` in figure.yaml)");
    for (size_t i = 0; i < s->jobs; i++)
        PBD_TRY(pbd_figure_plan(s->job[i].file, s->options.style.scale, s->job[i].first_group, &s->plan));
    return pbd_ok();
}

/* ---- Dry run ----------------------------------------------------------------------------------------------------- */

/* Prints the totals of --dry-run. Runs that figures share are counted once; drawing is not included. */
static pbd_status print_together(const session *s, const double *each) {
    const int jobs = (int)s->options.jobs;
    pbd_plan_tally runs;
    double seconds, alone;
    char time[120] = "";
    PBD_TRY(pbd_plan_count(&s->plan, 0, SIZE_MAX, &runs));
    PBD_TRY(pbd_plan_seconds(&s->plan, 0, SIZE_MAX, each, &seconds, &alone));
    const double beside = (seconds - alone) / jobs;
    if (seconds > 0)
        snprintf(time, sizeof time,
                 "; about %.0f min: %.0f min of runs that are timed or have several threads, one by one, "
                 "and %.0f min of others, %d at a time",
                 (alone + beside) / 60, alone / 60, beside / 60, jobs);
    pbd_print_line(0, "together: %zu different runs, %zu to make%s", runs.runs, runs.missing - runs.left_out, time);
    return pbd_ok();
}

static pbd_status forecast_all(session *s, const char *db) {
    pbd_arena a PBD_ARENA;
    double *each = pbd_new(&a, double, s->plan.count);
    PBD_TRY(pbd_arena_check(&a));
    /* A dry run makes no database. */
    if (access(db, F_OK) == 0) PBD_TRY(pbd_store_open(db, PBD_STORE_READ, &s->store));
    if (!s->options.again) PBD_TRY(pbd_plan_look_up(&s->plan, s->store));
    for (size_t i = 0; i < s->jobs; i++) {
        pbd_forecast forecast;
        pbd_figure_leave_out(s->job[i].file, &s->plan, s->job[i].first_group);
        PBD_TRY(pbd_forecast_figure(s->job[i].file, &s->plan, s->job[i].first_group, s->options.style.scale, s->store,
                                    each, &forecast));
        pbd_report_forecast(s->job[i].file, &s->plan, s->job[i].first_group, &forecast, &s->options.style);
    }
    return s->jobs > 1 && !s->options.style.json ? print_together(s, each) : pbd_ok();
}

/* ---- Runs and figures -------------------------------------------------------------------------------------------- */

static void observe(void *context, const pbd_plan_item *item, const pbd_result *made, size_t done, size_t total) {
    session *s = context;
    if (item->refusal.code != PBD_OK && !pbd_out_of_reach(item)) { /* the figure reports what is skipped */
        s->trouble = PBD_EXIT_USAGE;
        pbd_tell_refusal(&s->progress, item, total);
    }
    if (made && strcmp(made->state, "failed") == 0) {
        s->failed++;
        if (s->progress.on) fputs("\r\033[K", stderr);
        fprintf(stderr, "pbdbench: run failed: %s: %s\n", item->label, made->says);
    }
    pbd_progress_show(&s->progress, done, total, made != NULL, item->label);
}

static pbd_status interrupted(void) {
    return pbd_error(PBD_INTERRUPTED, "interrupted; every completed run is stored, the same command makes the rest");
}

/* Judges before it draws, so that a picture that cannot be drawn hides no verdict. */
static pbd_status judge_and_draw(session *s, const job *j, const char *out, pbd_claim_results *claims,
                                 pbd_drawing *drawing) {
    const pbd_scale scale = s->options.style.scale;
    pbd_figure_leave_out(j->file, &s->plan, j->first_group);
    PBD_TRY(pbd_figure_tables(j->file, &s->plan, j->first_group, s->store));
    PBD_TRY(pbd_claims_judge(j->file, &s->plan, j->first_group, scale, s->store, claims));
    if (scale == PBD_SCALE_USUAL) PBD_TRY(pbd_claims_store(j->file, claims, s->store));
    if (scale == PBD_SCALE_USUAL) PBD_TRY(pbd_claims_compare(j->file, claims));
    const bool drawn = s->drawn_beside && pbd_drawn_from(out, j->file->figure, s->store);
    pbd_status status =
        drawn ? pbd_figure_drawn(j->file, out, drawing) : pbd_figure_draw(j->file, s->store, out, scale, drawing);
    if (status.code == PBD_OK && !s->options.no_strips)
        status = pbd_figure_strips(j->file, s->store, out, s->progress.on, drawing);
    /* Ctrl-C also ends gnuplot: its failure is then not an error of the script. */
    return pbd_interrupted() ? interrupted() : status;
}

static bool has_runs(const session *s, const job *j) {
    for (unsigned i = 0; i < j->file->runs_count; i++)
        if (pbd_group_has_runs(&s->plan, j->first_group + i)) return true;
    return j->file->runs_count == 0;
}

/* The last picture drawn, a strip of bodies where there is one, becomes the figure's thumbnail. The present one stays
 * where strips were not drawn, and where this machine can make none of the figure's runs. */
static pbd_status write_thumbnail(const session *s, const job *j, const pbd_drawing *drawing) {
    if ((s->options.no_strips && j->file->strips_count > 0) || !has_runs(s, j)) return pbd_ok();
    pbd_arena a PBD_ARENA;
    const char *to = pbd_new_format(&a, "%s/plots/%s/thumbnail.png", pbd_root(), j->file->figure);
    PBD_TRY(pbd_arena_check(&a));
    return drawing->plots > 0 ? pbd_thumbnail(drawing->plot[drawing->plots - 1], to, PBD_THUMBNAIL_WIDTH) : pbd_ok();
}

static pbd_status accept(const session *s, const job *j, pbd_figure_report *report, pbd_claim_results *claims) {
    PBD_TRY(pbd_claims_accept(j->file, claims));
    report->accepted_now = true;
    PBD_TRY(write_thumbnail(s, j, report->drawing));
    return pbd_claims_compare(j->file, claims);
}

static int by_id(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static pbd_status bundle(session *s, const job *j, const pbd_figure_report *report) {
    pbd_arena a PBD_ARENA;
    const char **id = pbd_arena_take(&a, s->plan.count, sizeof *id);
    size_t count = 0, kept = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < s->plan.count; i++)
        if (s->plan.item[i].run_id[0]) id[count++] = s->plan.item[i].run_id;
    qsort(id, count, sizeof *id, by_id);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(id[i], id[kept - 1]) != 0) id[kept++] = id[i];
    const pbd_bundle all = {.file = j->file,
                            .claims = report->claims,
                            .drawing = report->drawing,
                            .run_id = id,
                            .runs = kept,
                            .quick = s->options.quick};
    return pbd_bundle_write(&all, s->store, s->options.bundle);
}

/* An error in one figure's files is reported and the next figure follows; only Ctrl-C ends everything. */
static pbd_status finish_figure(session *s, const job *j, const char *out) {
    pbd_claim_results claims = {0};
    pbd_drawing drawing = {0};
    pbd_figure_report report = {.file = j->file, .claims = &claims, .drawing = &drawing};
    report.trouble = judge_and_draw(s, j, out, &claims, &drawing);
    if (s->options.accept && report.trouble.code == PBD_OK) report.trouble = accept(s, j, &report, &claims);
    if (s->options.bundle && report.trouble.code == PBD_OK) report.trouble = bundle(s, j, &report);
    if (report.trouble.code != PBD_INTERRUPTED) pbd_report_figure(&report, &s->options.style);
    if (report.trouble.code != PBD_OK)
        s->trouble = report.trouble.code == PBD_FAILED ? PBD_EXIT_RUN_FAILED : PBD_EXIT_USAGE;
    if (!report.accepted_now) s->differing += claims.differing;
    pbd_figure_tables_drop(j->file, s->store);
    pbd_claims_free(&claims);
    pbd_drawing_free(&drawing);
    return report.trouble.code == PBD_INTERRUPTED ? report.trouble : pbd_ok();
}

/* Looks up stored runs first, and closes the store again, since workers open it themselves. */
static pbd_status make_beside(session *s, const pbd_workers *workers) {
    if (access(workers->db, F_OK) == 0 && !s->options.again) {
        PBD_TRY(pbd_store_open(workers->db, PBD_STORE_READ, &s->store));
        const pbd_status status = pbd_plan_look_up(&s->plan, s->store);
        pbd_store_close(s->store);
        s->store = NULL;
        PBD_TRY(status);
    }
    return pbd_plan_execute_once_beside(&s->plan, workers, s->options.again, observe, s);
}

static pbd_status make_rest(session *s, const pbd_workers *workers) {
    PBD_TRY(pbd_store_open(workers->db, PBD_STORE_WRITE, &s->store));
    PBD_TRY(pbd_store_begin(s->store, workers->argc, workers->argv));
    return pbd_plan_execute_once(&s->plan, s->store, s->options.again, observe, s);
}

static pbd_status make_runs(session *s, const pbd_workers *workers) {
    pbd_progress_begin(&s->progress, s->options.style.quiet);
    pbd_status status = workers->count > 1 ? make_beside(s, workers) : pbd_ok();
    if (status.code == PBD_OK) status = make_rest(s, workers);
    pbd_progress_end(&s->progress);
    return status;
}

typedef struct drawing_work {
    session *of;
    const char *out;
} drawing_work;

/* Whether all runs of a figure have one thread. OpenMP's threads, which this process may have started, do not survive a
 * fork. */
static bool is_single(const session *s, const job *j) {
    for (size_t i = 0; i < s->plan.count; i++) {
        const pbd_plan_item *item = &s->plan.item[i];
        if (item->group >= j->first_group && item->group < j->first_group + j->file->runs_count &&
            item->cell.threads != 1)
            return false;
    }
    return true;
}

/* What fails, or has something to report, is drawn again when its figure is finished. */
static bool draw_figure(void *context, size_t part, pbd_store *store) {
    const drawing_work *w = context;
    const session *s = w->of;
    const job *j = &s->job[part];
    const bool strips = !s->options.no_strips && j->file->strips_count > 0 &&
                        j->file->memory_mib <= PBD_MOST_MEMORY_BESIDE && is_single(s, j);
    pbd_drawing drawing = {0};
    pbd_figure_leave_out(j->file, &s->plan, j->first_group);
    if (pbd_figure_tables(j->file, &s->plan, j->first_group, store).code == PBD_OK) {
        pbd_figure_draw(j->file, store, w->out, s->options.style.scale, &drawing);
        if (drawing.warning || (drawing.output && *drawing.output)) pbd_drawn_forget(w->out, j->file->figure);
        if (strips) pbd_figure_strips(j->file, store, w->out, false, &drawing);
    }
    pbd_figure_tables_drop(j->file, store);
    pbd_drawing_free(&drawing);
    return true;
}

/* Draws several figures at a time, since gnuplot is slow and strips repeat runs. */
static pbd_status draw_beside(session *s, const pbd_workers *workers, const char *out) {
    drawing_work work = {s, out};
    if (workers->count < 2 || s->jobs < 2) return pbd_ok();
    for (size_t i = 0; i < s->jobs; i++) pbd_drawn_forget(out, s->job[i].file->figure);
    pbd_store_close(s->store);
    s->store = NULL;
    if (s->progress.on) fprintf(stderr, "drawing %zu figures, %d at a time", s->jobs, workers->count);
    const pbd_status status = pbd_work_beside(workers, s->jobs, draw_figure, &work);
    if (s->progress.on) fputs("\r\033[K", stderr);
    s->drawn_beside = true;
    PBD_TRY(pbd_store_open(workers->db, PBD_STORE_WRITE, &s->store));
    PBD_TRY(pbd_store_begin(s->store, workers->argc, workers->argv));
    return status.code == PBD_INTERRUPTED ? status : pbd_ok();
}

static pbd_status reproduce_all(session *s, const char *db, int argc, char **argv) {
    const pbd_workers workers = {.count = (int)s->options.jobs, .db = db, .argc = argc, .argv = argv};
    PBD_TRY(make_runs(s, &workers));
    const char *out PBD_CLEANUP(pbd_free_memory) = pbd_plots_folder(s->options.out, s->options.style.scale);
    if (!out) return pbd_no_memory();
    PBD_TRY(draw_beside(s, &workers, out));
    for (size_t i = 0; i < s->jobs; i++) PBD_TRY(pbd_interrupted() ? interrupted() : finish_figure(s, &s->job[i], out));
    return pbd_ok();
}

/* The named figures as a file for `sweep`. */
static pbd_status write_sweep(const session *s) {
    FILE *out = fopen(s->options.sweep, "w");
    if (!out) return pbd_error(PBD_BAD_INPUT, "cannot write '%.200s': %s", s->options.sweep, strerror(errno));
    fprintf(out, "# written by pbdbench reproduce --sweep%s\nruns:\n", pbd_scale_mark(s->options.style.scale));
    pbd_status status = pbd_ok();
    for (size_t i = 0; i < s->jobs && status.code == PBD_OK; i++)
        status = pbd_figure_write_sweep(s->job[i].file, s->options.style.scale, out);
    const bool bad = ferror(out);
    if ((fclose(out) != 0 || bad) && status.code == PBD_OK)
        status = pbd_error(PBD_BAD_INPUT, "cannot write '%.200s': %s", s->options.sweep, strerror(errno));
    return status;
}

static void end_session(session *s) {
    pbd_store_close(s->store);
    pbd_plan_free(&s->plan);
    for (size_t i = 0; i < s->jobs; i++) pbd_figure_file_free(s->job[i].file);
    free(s->job);
}

static int session_exit(const session *s) {
    if (s->trouble) return s->trouble;
    if (s->failed) return PBD_EXIT_RUN_FAILED;
    return s->differing ? PBD_EXIT_VALIDATION : PBD_EXIT_OK;
}

static pbd_status act(void *options, pbd_call *call) {
    PBD_TRY(check_options(call->words, options));
    session s PBD_CLEANUP(end_session) = {.options = *(const reproduce_options *)options};
    pbd_catch_interrupts();
    const char *db PBD_CLEANUP(pbd_free_memory) = pbd_db_path(s.options.db);
    if (!db) return pbd_no_memory();
    PBD_TRY(choose(&s, call->words));
    if (s.options.bundle && s.jobs != 1)
        return pbd_error(PBD_BAD_INPUT, "--bundle is for one figure, and %zu are named", s.jobs);
    if (s.options.sweep) return write_sweep(&s);
    PBD_TRY(s.options.dry_run ? forecast_all(&s, db) : reproduce_all(&s, db, call->argc, call->argv));
    call->exit_code = session_exit(&s);
    return pbd_ok();
}

static int verb_main(int argc, char **argv) {
    reproduce_options o = {0};
    return pbd_verb_call(&pbd_verb_reproduce, argc, argv, &o, act);
}

const pbd_verb pbd_verb_reproduce = {
    .name = "reproduce",
    .summary = "make a figure's runs, draw it, check its claims",
    .usage = "reproduce FIGURE... | PAPER | all [options]",
    .about =
        "Makes those runs of a figure that are not in the store, draws it, and prints each claim of the paper with\n"
        "the measured number and a verdict: reproduced, partly, not reproduced, or not run.",
    .more =
        "`pbdbench list figures` shows what can be reproduced. Runs that are not in the store, on a backend that is\n"
        "not available here (`pbdbench list backends`), are skipped with a message; claims that depend on them are "
        "not\n"
        "judged, and their accepted verdicts stand.\n"
        "Exit 3 when a verdict differs from the accepted one, 5 when a run failed, 2 for bad input, 130 after Ctrl-C:\n"
        "the same command then makes the rest.",
    .options = table,
    .words = PBD_WORDS_FIGURES,
    .main = verb_main,
};
