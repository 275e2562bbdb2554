/* rank: methods on frozen problems (cases/problems.yaml) at equal budgets of time. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

#include "harness/catalog/plugin.h"
#include "harness/figure/figure_plan.h"
#include "harness/files/folded.h"
#include "harness/rank/rank.h"
#include "harness/store/rows.h"
#include "harness/verbs/cli.h"

typedef struct rank_options {
    const char *db, *method, *budget, *backend, *sweep;
    pbd_texts problems, plugins;
    bool quick, dry_run, stored, json, markdown, latex, quiet;
} rank_options;

static const pbd_option table[] = {
    PBD_OPT_MANY(rank_options, problems, "problem", 0, "PROBLEM", PBD_WORDS_PROBLEMS,
                 "only this problem, of `pbdbench list problems`; may be repeated"),
    PBD_OPT_TEXT(rank_options, method, "method", 'm', "METHOD", PBD_WORDS_METHODS, "only this method"),
    PBD_OPT_TEXT(rank_options, budget, "budget", 0, "TIME", PBD_WORDS_NONE,
                 "one budget, such as 10ms, of a frame of 1/60 s or of a solve: which\n"
                 "method is best within it, with its settings"),
    PBD_OPT_FLAG(rank_options, quick, "quick", 0, "ten problems, few and short trials; marked (quick)"),
    PBD_OPT_TEXT(rank_options, backend, "backend", 'b', "BACKEND", PBD_WORDS_BACKENDS, "cpu, emu or cuda; default cpu"),
    PBD_OPT_FLAG(rank_options, dry_run, "dry-run", 0,
                 "makes no run: says how many there are to make, and how long they take"),
    PBD_OPT_FLAG(rank_options, stored, "stored", 0, "makes no run: ranks those that are stored"),
    PBD_OPT_TEXT(rank_options, sweep, "sweep", 0, "FILE", PBD_WORDS_FILES,
                 "makes no run: writes the runs as a file for `sweep`, which takes them\n"
                 "to a cluster (without the limit of time)"),
    PBD_OPTION_PLUGIN(rank_options),
    PBD_OPTION_DB(rank_options),
    PBD_OPTION_JSON(rank_options, "one object {cpu, git_sha, ..., problems, profiles}"),
    PBD_OPT_FLAG(rank_options, markdown, "markdown", 0, "tables in Markdown"),
    PBD_OPT_FLAG(rank_options, latex, "latex", 0, "tables in LaTeX"),
    PBD_OPTION_QUIET(rank_options, "no progress"),
    {0}};

/* ---- The request ------------------------------------------------------------------------------------------------- */

static pbd_status check_options(const rank_options *o, const pbd_texts *words, pbd_rank *rank) {
    const pbd_method_entry *method;
    pbd_backend backend;
    if (words->count > 0)
        return pbd_error(PBD_BAD_INPUT, "rank takes no word; is '%.60s' a problem? use --problem", words->item[0]);
    if (o->json + o->markdown + o->latex > 1)
        return pbd_error(PBD_BAD_INPUT, "--json, --markdown and --latex exclude each other");
    if (o->dry_run + o->stored + (o->sweep != NULL) > 1)
        return pbd_error(PBD_BAD_INPUT, "--dry-run, --stored and --sweep exclude each other");
    if (o->method) PBD_TRY(pbd_find_method(o->method, &method));
    if (o->backend) PBD_TRY(pbd_name_backend(o->backend, &backend));
    if (o->backend && !o->stored && !o->sweep) PBD_TRY(pbd_check_backend(backend));
    rank->only.count = o->budget != NULL;
    return o->budget ? pbd_budget_parse(o->budget, &rank->only.seconds[0]) : pbd_ok();
}

static pbd_status add_problem(const rank_options *o, const pbd_problem *p, pbd_rank *rank) {
    for (size_t i = 0; i < rank->rows; i++)
        if (rank->row[i].problem == p) return pbd_ok(); /* named twice */
    return pbd_rank_add(rank, p, o->method);
}

static pbd_status add_problems(const rank_options *o, pbd_rank *rank) {
    const pbd_problem *p;
    for (size_t i = 0; i < o->problems.count; i++) {
        PBD_TRY(pbd_find_problem(rank->problems, o->problems.item[i], &p));
        if (o->quick && !p->quick)
            return pbd_error(PBD_BAD_INPUT, "problem %s is none of --quick: `pbdbench list problems` shows which are",
                             p->id);
        PBD_TRY(add_problem(o, p, rank));
    }
    for (unsigned i = 0; o->problems.count == 0 && i < rank->problems->problems_count; i++)
        if (!o->quick || rank->problems->problems[i].quick) PBD_TRY(add_problem(o, &rank->problems->problems[i], rank));
    if (rank->rows > 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "method %s has no trials on %s: `pbdbench list problems` shows which have",
                     o->method, o->problems.count ? "these problems" : "any problem");
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

typedef struct rank_session {
    pbd_rank rank;
    pbd_store *store;
    pbd_problems *problems;
    pbd_progress progress;
} rank_session;

static void observe(void *context, const pbd_plan_item *item, const pbd_result *made, size_t done, size_t total) {
    rank_session *s = context;
    if (item->refusal.code == PBD_OK) made ? s->rank.made++ : s->rank.stored++;
    pbd_progress_show(&s->progress, done, total, made != NULL, item->label);
}

/* "40 s", "12 min", "7.4 h". */
static void long_time(double seconds, char out[32]) {
    if (seconds < 120)
        snprintf(out, 32, "%.2g s", seconds);
    else if (seconds < 7200)
        snprintf(out, 32, "%.0f min", seconds / 60);
    else
        snprintf(out, 32, "%.1f h", seconds / 3600);
}

/* Announces more than a minute of work on standard error, with its longest duration and the options that shorten it. */
static pbd_status announce(const rank_options *o, rank_session *s) {
    pbd_plan_tally tally;
    char most[32];
    if (o->quiet) return pbd_ok();
    PBD_TRY(pbd_plan_look_up(&s->rank.plan, s->store));
    PBD_TRY(pbd_plan_count(&s->rank.plan, 0, s->rank.rows, &tally));
    if ((double)tally.missing * s->rank.limit < 60) return pbd_ok();
    long_time((double)tally.missing * s->rank.limit, most);
    fprintf(stderr, "pbdbench: %zu of %zu runs to make, %s at most%s; Ctrl-C keeps those that are made\n",
            tally.missing, tally.runs, most, o->quick ? "" : " (--quick has fewer and shorter trials, -m one method)");
    return pbd_ok();
}

static pbd_status make_runs(const rank_options *o, rank_session *s, const pbd_call *call) {
    PBD_TRY(pbd_open_store(o->db, PBD_STORE_WRITE, &s->store));
    PBD_TRY(pbd_store_begin(s->store, call->argc, call->argv));
    PBD_TRY(announce(o, s));
    pbd_progress_begin(&s->progress, o->quiet);
    const pbd_status status = pbd_plan_execute_once(&s->rank.plan, s->store, false, observe, s);
    pbd_progress_end(&s->progress);
    return status;
}

static pbd_status look_up(const rank_options *o, rank_session *s) {
    const char *db PBD_CLEANUP(pbd_free_memory) = pbd_db_path(o->db);
    if (!db) return pbd_no_memory();
    if (access(db, F_OK) == 0) PBD_TRY(pbd_store_open(db, PBD_STORE_READ, &s->store));
    PBD_TRY(pbd_plan_look_up(&s->rank.plan, s->store));
    for (size_t i = 0; i < s->rank.plan.count; i++) s->rank.stored += *s->rank.plan.item[i].run_id != '\0';
    return pbd_ok();
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

static pbd_status tell_plan(const rank_options *o, rank_session *s) {
    pbd_plan_tally tally;
    double expected;
    size_t known;
    PBD_TRY(look_up(o, s));
    PBD_TRY(pbd_plan_count(&s->rank.plan, 0, s->rank.rows, &tally));
    PBD_TRY(pbd_rank_cost(&s->rank, s->store, &expected, &known));
    const double most = (double)tally.missing * s->rank.limit;
    if (o->json) {
        printf(
            "{\"dry_run\":true,\"runs\":%zu,\"stored\":%zu,\"to_make\":%zu,\"seconds_at_most\":%.17g,"
            "\"seconds_expected\":%.17g,\"with_a_stored_time\":%zu}\n",
            tally.runs, tally.runs - tally.missing, tally.missing, most, fmin(expected, most), known);
        return pbd_ok();
    }
    char text[2][32];
    long_time(most, text[0]);
    long_time(fmin(expected, most), text[1]);
    pbd_print_line(0, "%zu runs, %zu stored, %zu to make: %s at most", tally.runs, tally.runs - tally.missing,
                   tally.missing, text[0]);
    if (known > 0) pbd_print_line(0, "about %s by stored times of %zu of them, from whichever build", text[1], known);
    for (size_t i = 0; i < s->rank.rows && !o->quiet; i++) {
        const pbd_rank_row *row = &s->rank.row[i];
        size_t missing = 0;
        for (size_t k = row->first; k < row->last; k++) missing += !*s->rank.plan.item[k].run_id;
        pbd_print_line(2, "%s %s, %d thread%s: %zu trials, %zu to make%s%s", row->problem->id, row->choices->method,
                       row->threads, row->threads == 1 ? "" : "s", row->last - row->first, missing,
                       row->refused.code != PBD_OK ? "; refused: " : "", row->refused.text);
    }
    return pbd_ok();
}

static pbd_status write_sweep(const rank_options *o, const pbd_rank *rank) {
    unsigned entries = 0;
    FILE *out = fopen(o->sweep, "w");
    if (!out) return pbd_error(PBD_BAD_INPUT, "%s cannot be written", o->sweep);
    pbd_status status = pbd_ok();
    fputs("title: trials of pbdbench rank\nruns:\n", out);
    for (size_t i = 0; i < rank->rows && status.code == PBD_OK; i++)
        if (rank->row[i].refused.code == PBD_OK)
            status = pbd_problem_write_sweep(rank->row[i].problem, rank->row[i].choices, rank->backend,
                                             rank->row[i].threads, rank->quick, &entries, out);
    const bool full = ferror(out) | (fclose(out) != 0);
    if (status.code == PBD_OK && full) status = pbd_error(PBD_BAD_INPUT, "%s: the disk is full", o->sweep);
    if (status.code == PBD_OK) printf("%s: %u entries; `pbdbench sweep %s` makes them\n", o->sweep, entries, o->sweep);
    return status;
}

static pbd_status tell(const rank_options *o, rank_session *s) {
    pbd_machine machine = {0};
    PBD_TRY(pbd_rank_read(&s->rank, s->store));
    PBD_TRY(pbd_this_machine(&machine));
    const pbd_build *build = pbd_this_build();
    const pbd_rank_about about = {machine.cpu, build->git_sha, machine.cores, build->dirty};
    if (o->json) return pbd_rank_json(&s->rank, &about, stdout);
    if (o->markdown || o->latex) return pbd_rank_table(&s->rank, &about, o->latex, stdout);
    pbd_rank_print(&s->rank, &about, stdout);
    printf("\n%zu runs made, %zu already stored\n", s->rank.made, s->rank.stored);
    return pbd_ok();
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

static pbd_status rank_all(const rank_options *o, rank_session *s, const pbd_call *call) {
    PBD_TRY(pbd_plugins_load(&o->plugins));
    PBD_TRY(check_options(o, call->words, &s->rank));
    PBD_TRY(pbd_problems_load(&s->problems));
    s->rank.problems = s->problems;
    s->rank.quick = o->quick;
    s->rank.limit = o->quick ? s->problems->quick_seconds : s->problems->seconds;
    s->rank.backend = o->backend;
    s->rank.all_threads = omp_get_num_procs();
    pbd_catch_interrupts();
    PBD_TRY(add_problems(o, &s->rank));
    if (o->sweep) return write_sweep(o, &s->rank);
    if (o->dry_run) return tell_plan(o, s);
    PBD_TRY(o->stored ? look_up(o, s) : make_runs(o, s, call));
    return tell(o, s);
}

static pbd_status act(void *options, pbd_call *call) {
    rank_session s = {0};
    const pbd_status status = rank_all(options, &s, call);
    pbd_rank_free(&s.rank);
    pbd_store_close(s.store);
    pbd_problems_free(s.problems);
    return status;
}

static int verb_main(int argc, char **argv) {
    rank_options o = {0};
    return pbd_verb_call(&pbd_verb_rank, argc, argv, &o, act);
}

const pbd_verb pbd_verb_rank = {
    .name = "rank",
    .summary = "methods on frozen problems at equal budgets: which one for what",
    .usage =
        "rank [--problem PROBLEM]... [-m METHOD] [--quick] [--budget TIME] [-b BACKEND]\n"
        "     [--dry-run|--stored|--sweep FILE] [--json|--markdown|--latex] [--db FILE]",
    .about =
        "Runs every method that fits a problem of cases/problems.yaml over its grid of trials, as many trials for "
        "each\n"
        "method, on one thread and on all, one run after another. Shows the least error over the tolerance within "
        "each\n"
        "budget of wall time (of a frame of 1/60 s where the problem moves, else of a solve with its preparation), "
        "the\n"
        "least time to the tolerance, and trials that failed. Over all problems: performance profiles (Dolan and Moré\n"
        "2002; with each rival removed) and data profiles (Moré and Wild 2009). Runs are stored; a second call makes\n"
        "only those that are missing. Runs of other machines or builds are not used.",
    .more =
        "  pbdbench rank --problem cantilever-soft --budget 10ms\n\n"
        "An error below the uncertainty of the reference counts as that uncertainty. Trials that end in another state\n"
        "than ok, warn of not_converged, or take longer than the limit, do not count and are listed. A trial is\n"
        "stopped early if its first steps show that it would take more than twice the limit. Methods whose\n"
        "published form does a few fixed iterations carry no such warning (`list methods --json`: unconverged).\n"
        "Other warnings are marked *. --markdown begins with a row a problem: which method within which budget.\n"
        "Exit 130 after Ctrl-C, 2 for bad input.",
    .options = table,
    .words = PBD_WORDS_NONE,
    .main = verb_main,
};
