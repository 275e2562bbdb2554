/* A ranking as text, as a table for Markdown or LaTeX, and as JSON. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/json.h"
#include "harness/files/text_table.h"
#include "harness/rank/profiles.h"
#include "harness/rank/rank.h"

static const char caveat[] =
    "The order of two methods in a performance profile depends on the others in it (Gould and Scott 2016).";

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static const char *threads_text(int threads, char out[24]) {
    snprintf(out, 24, "%d thread%s", threads, threads == 1 ? "" : "s");
    return out;
}

/* Width of the column of methods, in characters. */
static int name_width(const pbd_rank *rank) {
    size_t width = 16;
    for (size_t i = 0; i < rank->rows; i++) {
        const size_t length = strlen(rank->row[i].choices->method);
        if (length > width) width = length;
    }
    return (int)width;
}

static const char *per(const pbd_problem *p) { return pbd_problem_moves(p) ? "a frame of 1/60 s" : "a solve"; }

/* Error over tolerance with two digits, followed by "*" if the run has warnings; "-" if there is no trial. */
static const char *over_text(const pbd_trial *t, char out[24]) {
    if (!t) return strcpy(out, "-");
    snprintf(out, 24, t->over >= 9.95 && t->over < 9999.5 ? "%.0f%s" : "%.2g%s", t->over, *t->warnings ? "*" : "");
    return out;
}

static const char *time_text(const pbd_trial *t, char out[24]) {
    if (!t) return strcpy(out, "-");
    snprintf(out, 24, t->time < 0.1 ? "%.3g ms" : "%.3g s", t->time < 0.1 ? 1e3 * t->time : t->time);
    return out;
}

static void add_failures(size_t count, const char *what, char *out, size_t size) {
    const size_t used = strlen(out);
    if (count) snprintf(out + used, size - used, "%s%zu %s", used ? ", " : "", count, what);
}

/* «2 diverged, 1 longer than 2 s»; "" where every trial counts. */
static void failures_text(const pbd_rank *rank, const pbd_rank_row *row, char *out, size_t size) {
    static const char *const names[] = {PBD_RUN_STATE_NAMES, "refused", "missing"};
    char late[40];
    *out = '\0';
    if (row->refused.code != PBD_OK) {
        snprintf(out, size, "refused: %.200s", row->refused.text);
        return;
    }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t count = 0;
        for (const pbd_trial *t = row->trial; t < row->trial + row->trials; t++)
            count += !t->counts && !t->late && !t->astray && strcmp(t->state, names[k]) == 0;
        add_failures(count, k == 0 ? "without a number" : names[k], out, size);
    }
    size_t astray = 0;
    for (size_t i = 0; i < row->trials; i++) astray += row->trial[i].astray;
    add_failures(astray, "not converged", out, size);
    snprintf(late, sizeof late, "longer than %g s", rank->limit);
    add_failures(row->late, late, out, size);
}

static bool begins_group(const pbd_rank *rank, size_t i) {
    return i == 0 || rank->row[i].problem != rank->row[i - 1].problem ||
           rank->row[i].threads != rank->row[i - 1].threads;
}

static void print_heading(const pbd_problem *p, FILE *out) {
    char error[120];
    pbd_problem_error_name(p, error, sizeof error);
    fprintf(out, "\n%s: %s\n  error %s, tolerance %g, reference uncertain by %g\n", p->id, p->title, error,
            p->tolerance, p->uncertainty);
}

/* ---- Text: all budgets ------------------------------------------------------------------------------------------- */

static void print_columns(const pbd_rank *rank, const pbd_rank_row *row, FILE *out) {
    const pbd_budgets budgets = pbd_rank_budgets(rank, row->problem);
    char text[32];
    fprintf(out, "  %-*s", name_width(rank), threads_text(row->threads, text));
    for (size_t i = 0; i < budgets.count; i++) {
        pbd_budget_text(budgets.seconds[i], text);
        fprintf(out, " %8s", text);
    }
    fprintf(out, " %11s\n", "to tolerance");
}

static void print_row(const pbd_rank *rank, const pbd_rank_row *row, FILE *out) {
    const pbd_budgets budgets = pbd_rank_budgets(rank, row->problem);
    char text[24], failures[300];
    fprintf(out, "  %-*s", name_width(rank), row->choices->method);
    for (size_t i = 0; i < budgets.count; i++) fprintf(out, " %8s", over_text(row->best[i], text));
    failures_text(rank, row, failures, sizeof failures);
    fprintf(out, " %12s%s%s\n", time_text(row->fastest[1], text), *failures ? "  " : "", failures);
}

/* ---- Text: one budget, an answer --------------------------------------------------------------------------------- */

static void print_answer(const pbd_rank *rank, size_t first, size_t last, FILE *out) {
    const pbd_rank_row *best = &rank->row[first];
    const pbd_trial *t = best->best[0];
    char budget[32];
    pbd_budget_text(rank->only.seconds[0], budget);
    if (!t)
        fprintf(out, "  answer: none of %zu methods has an answer within %s\n", last - first, budget);
    else if (t->over > 1)
        fprintf(out,
                "  answer: none is within the tolerance; nearest is %s, %.2g times the tolerance: pbdbench show %.8s\n",
                best->choices->method, t->over, t->run_id);
    else
        fprintf(out, "  answer: %s (%s)%s%s: pbdbench show %.8s\n", best->choices->method, t->settings,
                *t->warnings ? ", which warns of " : "", t->warnings, t->run_id);
}

static void print_place(const pbd_rank *rank, const pbd_rank_row *row, size_t place, FILE *out) {
    const pbd_trial *t = row->best[0];
    char over[24], time[24], failures[300];
    failures_text(rank, row, failures, sizeof failures);
    if (t)
        fprintf(out, "  %2zu  %-*s %8s %10s  %.8s  %s%s%s%s\n", place, name_width(rank), row->choices->method,
                over_text(t, over), time_text(t, time), t->run_id, t->settings, *failures ? " (other trials: " : "",
                failures, *failures ? ")" : "");
    else
        fprintf(out, "   -  %-*s no trial within it%s%s\n", name_width(rank), row->choices->method,
                *failures ? ": " : "", failures);
}

static void print_places(const pbd_rank *rank, size_t first, FILE *out) {
    const pbd_rank_row *row = &rank->row[first];
    char budget[32], threads[24];
    size_t last = first, place = 0;
    pbd_budget_text(rank->only.seconds[0], budget);
    fprintf(out, "  within %s %s, %s: error over tolerance, time, run, settings\n", budget, per(row->problem),
            threads_text(row->threads, threads));
    for (; last < rank->rows && (last == first || !begins_group(rank, last)); last++) {
        const pbd_trial *mine = rank->row[last].best[0];
        const bool tie = last > first && mine && rank->row[last - 1].best[0] &&
                         mine->over == rank->row[last - 1].best[0]->over; /* shares its place */
        if (!tie) place = last - first + 1;
        print_place(rank, &rank->row[last], place, out);
    }
    print_answer(rank, first, last, out);
}

/* ---- Profiles ---------------------------------------------------------------------------------------------------- */

enum { MOST_METHODS = 64, RATIOS = 4, SPANS = 6 };
static const double ratios[RATIOS] = {1, 2, 10, INFINITY};
static const double spans[SPANS] = {0.03, 0.1, 0.3, 1, 3, 10};

/* Least times to the tolerance of all methods on all problems, for one number of threads. */
typedef struct matrix {
    pbd_arena owned;
    const char *method[MOST_METHODS];
    size_t fits[MOST_METHODS]; /* problems on which the method runs */
    size_t methods, problems;
    double *cost, *unit;
} matrix;

static void free_matrix(matrix *m) { pbd_arena_free(&m->owned); }

static size_t method_index(matrix *m, const char *name) {
    size_t i = 0;
    while (i < m->methods && strcmp(m->method[i], name) != 0) i++;
    if (i == m->methods && m->methods < MOST_METHODS) m->method[m->methods++] = name;
    return i;
}

static pbd_status make_matrix(const pbd_rank *rank, int threads, matrix *m) {
    const pbd_problem *last = NULL;
    size_t p = 0;
    for (size_t i = 0; i < rank->rows; i++) {
        if (rank->row[i].threads != threads) continue;
        if (method_index(m, rank->row[i].choices->method) == MOST_METHODS)
            return pbd_error(PBD_FAILED, "more than %d methods in a ranking", MOST_METHODS);
        m->problems += rank->row[i].problem != last;
        last = rank->row[i].problem;
    }
    m->cost = pbd_new(&m->owned, double, m->problems * m->methods);
    m->unit = pbd_new(&m->owned, double, m->problems);
    PBD_TRY(pbd_arena_check(&m->owned));
    for (size_t i = 0; i < m->problems * m->methods; i++) m->cost[i] = INFINITY;
    last = NULL;
    for (size_t i = 0; i < rank->rows; i++) {
        const pbd_rank_row *row = &rank->row[i];
        if (row->threads != threads) continue;
        if (row->problem != last) m->unit[p++] = pbd_problem_moves(row->problem) ? 1.0 / 60 : 1;
        last = row->problem;
        m->fits[method_index(m, row->choices->method)] += row->refused.code == PBD_OK;
        if (row->fastest[1])
            m->cost[(p - 1) * m->methods + method_index(m, row->choices->method)] = row->fastest[1]->time;
    }
    return pbd_ok();
}

static double performance(const matrix *m, size_t method, size_t without, double ratio) {
    return pbd_performance_profile(m->cost, m->problems, m->methods, method, without, ratio);
}

/* The least and the largest share with all rivals, and with any one removed. */
static void range_of(const matrix *m, size_t method, double ratio, double *low, double *high) {
    *low = *high = performance(m, method, m->methods, ratio);
    for (size_t rival = 0; rival < m->methods; rival++) {
        if (rival == method) continue;
        *low = fmin(*low, performance(m, method, rival, ratio));
        *high = fmax(*high, performance(m, method, rival, ratio));
    }
}

static const char *range_text(const matrix *m, size_t method, double ratio, char out[40]) {
    double low, high;
    range_of(m, method, ratio, &low, &high);
    const double share = performance(m, method, m->methods, ratio);
    if (low == high)
        snprintf(out, 40, "%.2f", share);
    else
        snprintf(out, 40, "%.2f (%.2f-%.2f)", share, low, high);
    return out;
}

static void print_profiles(const pbd_rank *rank, int threads, FILE *out) {
    matrix m PBD_CLEANUP(free_matrix) = {0};
    char text[40];
    if (make_matrix(rank, threads, &m).code != PBD_OK || m.problems < 2 || m.methods < 2) return;
    fprintf(out,
            "\nall %zu problems, %s: how many a method fits, and the share of all that it solved to the tolerance: "
            "within 1,"
            "\n2 and 10 times the fastest method's time and ever (with one rival removed: from-to), and within 0.1, 1 "
            "and 10"
            "\nof real time (static: s)\n",
            m.problems, threads_text(threads, text));
    fprintf(out, "  %-*s %4s %16s %16s %16s %6s %6s %6s %6s\n", name_width(rank), "", "fits", "1x", "2x", "10x", "ever",
            "0.1", "1", "10");
    for (size_t i = 0; i < m.methods; i++) {
        fprintf(out, "  %-*s %4zu", name_width(rank), m.method[i], m.fits[i]);
        for (size_t k = 0; k < RATIOS; k++) fprintf(out, k < 3 ? " %16s" : " %6s", range_text(&m, i, ratios[k], text));
        for (size_t k = 1; k < SPANS; k += 2)
            fprintf(out, " %6.2f", pbd_data_profile(m.cost, m.unit, m.problems, m.methods, i, spans[k]));
        fputc('\n', out);
    }
    fprintf(out, "%s\n", caveat);
}

static json_t *curve_json(const matrix *m, size_t method, size_t without) {
    json_t *array = json_array();
    for (size_t k = 0; k < RATIOS; k++)
        json_array_append_new(array, json_real(performance(m, method, without, ratios[k])));
    return array;
}

static json_t *curves_json(const matrix *m, size_t without) {
    json_t *all = json_object();
    for (size_t i = 0; i < m->methods; i++)
        if (i != without) json_object_set_new(all, m->method[i], curve_json(m, i, without));
    return all;
}

static json_t *profiles_json(const pbd_rank *rank, int threads) {
    matrix m PBD_CLEANUP(free_matrix) = {0};
    if (make_matrix(rank, threads, &m).code != PBD_OK) return NULL;
    json_t *without = json_object(), *data = json_object(), *fits = json_object(), *budgets = json_array(),
           *taus = json_array();
    for (size_t k = 0; k < RATIOS; k++) json_array_append_new(taus, pbd_finite_json(ratios[k]));
    for (size_t k = 0; k < SPANS; k++) json_array_append_new(budgets, json_real(spans[k]));
    for (size_t i = 0; i < m.methods; i++) {
        json_t *curve = json_array();
        json_object_set_new(without, m.method[i], curves_json(&m, i));
        for (size_t k = 0; k < SPANS; k++)
            json_array_append_new(curve,
                                  json_real(pbd_data_profile(m.cost, m.unit, m.problems, m.methods, i, spans[k])));
        json_object_set_new(data, m.method[i], curve);
        json_object_set_new(fits, m.method[i], json_integer((json_int_t)m.fits[i]));
    }
    return json_pack("{s:i, s:I, s:o, s:{s:o, s:o, s:o, s:s}, s:{s:o, s:o}}", "threads", threads, "problems",
                     (json_int_t)m.problems, "fits", fits, "performance", "ratios", taus, "share",
                     curves_json(&m, m.methods), "without", without, "caveat", caveat, "data", "budgets", budgets,
                     "share", data);
}

/* ---- The whole as text ------------------------------------------------------------------------------------------- */

static void print_machine(const pbd_rank *rank, const pbd_rank_about *about, FILE *out) {
    const bool days = strcmp(rank->first_day, rank->last_day) != 0;
    fprintf(out, "%s, %d core%s, commit %.12s%s, %s%s%s%sbackend %s; trials of a method: %u, each of %g s at most%s\n",
            about->cpu, about->cores, about->cores == 1 ? "" : "s", about->git_sha, about->dirty ? " with changes" : "",
            rank->first_day, days ? " to " : "", days ? rank->last_day : "", *rank->first_day ? ", " : "",
            rank->backend ? rank->backend : "cpu", rank->quick ? rank->problems->quick_trials : rank->problems->trials,
            rank->limit, rank->quick ? " (quick)" : "");
}

static bool any_warning(const pbd_rank *rank) {
    for (size_t i = 0; i < rank->rows; i++)
        for (size_t k = 0; k < PBD_RANK_BUDGETS; k++)
            if (rank->row[i].best[k] && *rank->row[i].best[k]->warnings) return true;
    return false;
}

void pbd_rank_print(const pbd_rank *rank, const pbd_rank_about *about, FILE *out) {
    print_machine(rank, about, out);
    if (!rank->only.count)
        fprintf(out,
                "entries: best error over tolerance within a time (of a frame of 1/60 s, or of a solve); 1 or less is "
                "good\n");
    for (size_t i = 0; i < rank->rows; i++) {
        if (i == 0 || rank->row[i].problem != rank->row[i - 1].problem) print_heading(rank->row[i].problem, out);
        if (begins_group(rank, i))
            (rank->only.count ? print_places(rank, i, out) : print_columns(rank, &rank->row[i], out));
        if (!rank->only.count) print_row(rank, &rank->row[i], out);
    }
    if (any_warning(rank))
        fputs("\n*: that run has warnings, which do not exclude it; `pbdbench show RUN` and --json name them\n", out);
    print_profiles(rank, 1, out);
    if (rank->all_threads > 1) print_profiles(rank, rank->all_threads, out);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* The row with the least error on a problem within its k-th budget, on one thread; of equal errors the faster one. */
static const pbd_rank_row *best_row(const pbd_rank *rank, const pbd_problem *p, size_t k) {
    const pbd_rank_row *best = NULL;
    for (const pbd_rank_row *row = rank->row; row < rank->row + rank->rows; row++) {
        const pbd_trial *mine = row->best[k], *its = best ? best->best[k] : NULL;
        if (row->problem != p || row->threads != 1 || !mine) continue;
        if (!its || mine->over < its->over || (mine->over == its->over && mine->time < its->time)) best = row;
    }
    return best;
}

/* Adds a row with entries such as «tlsph 0.17», in brackets if the tolerance is missed. */
static pbd_status answer_row(const pbd_rank *rank, const pbd_problem *p, pbd_text_table *table) {
    const pbd_budgets budgets = pbd_rank_budgets(rank, p);
    char over[24], text[80];
    PBD_TRY(pbd_text_table_text(table, p->id));
    PBD_TRY(pbd_text_table_text(table, p->title));
    for (size_t k = 0; k < budgets.count; k++) {
        const pbd_rank_row *row = best_row(rank, p, k);
        const bool missed = row && row->best[k]->over > 1;
        snprintf(text, sizeof text, "%s%s%s%s%s", missed ? "(" : "", row ? row->choices->method : "-", row ? " " : "",
                 row ? over_text(row->best[k], over) : "", missed ? ")" : "");
        PBD_TRY(pbd_text_table_text(table, text));
    }
    return pbd_ok();
}

static pbd_status budget_columns(const pbd_budgets *budgets, pbd_text_table *table) {
    char text[32];
    for (size_t i = 0; i < budgets->count; i++) {
        pbd_budget_text(budgets->seconds[i], text);
        PBD_TRY(pbd_text_table_column(table, text, ""));
    }
    return pbd_ok();
}

/* Writes the best method on each problem, one row per problem. */
static pbd_status write_answers(const pbd_rank *rank, bool moving, bool latex, FILE *out) {
    pbd_text_table table PBD_CLEANUP(pbd_text_table_free) = {0};
    for (size_t i = 0; i < rank->rows; i++) {
        const pbd_problem *p = rank->row[i].problem;
        if (pbd_problem_moves(p) != moving || (i > 0 && p == rank->row[i - 1].problem)) continue;
        const pbd_budgets budgets = pbd_rank_budgets(rank, p);
        if (table.columns == 0) {
            PBD_TRY(pbd_text_table_column(&table, "problem", ""));
            PBD_TRY(pbd_text_table_column(&table, "what", ""));
            PBD_TRY(budget_columns(&budgets, &table));
        }
        PBD_TRY(answer_row(rank, p, &table));
    }
    if (table.columns == 0) return pbd_ok();
    fprintf(out,
            "%s%s: the method with the least error within the time of %s, on one thread, and its error over the "
            "tolerance; in brackets where it misses the tolerance.\n%s",
            latex ? "% " : "\n", moving ? "Problems that move" : "Static problems",
            moving ? "a frame of 1/60 s" : "a solve with its preparation", latex ? "" : "\n");
    return pbd_text_table_write(&table, latex ? PBD_LATEX : PBD_MARKDOWN, 2, out);
}

static pbd_status table_columns(const pbd_rank *rank, const pbd_problem *p, pbd_text_table *table) {
    const pbd_budgets budgets = pbd_rank_budgets(rank, p);
    PBD_TRY(pbd_text_table_column(table, "problem", ""));
    PBD_TRY(pbd_text_table_column(table, "method", ""));
    PBD_TRY(pbd_text_table_column(table, "threads", ""));
    PBD_TRY(budget_columns(&budgets, table));
    PBD_TRY(pbd_text_table_column(table, "to tolerance", "s"));
    return pbd_text_table_column(table, "trials that do not count", "");
}

static pbd_status table_row(const pbd_rank *rank, const pbd_rank_row *row, pbd_text_table *table) {
    const pbd_budgets budgets = pbd_rank_budgets(rank, row->problem);
    char over[24], failures[300];
    PBD_TRY(pbd_text_table_text(table, row->problem->id));
    PBD_TRY(pbd_text_table_text(table, row->choices->method));
    PBD_TRY(pbd_text_table_integer(table, row->threads));
    for (size_t i = 0; i < budgets.count; i++) PBD_TRY(pbd_text_table_text(table, over_text(row->best[i], over)));
    PBD_TRY(pbd_text_table_real(table, row->fastest[1] ? row->fastest[1]->time : NAN));
    failures_text(rank, row, failures, sizeof failures);
    return pbd_text_table_text(table, failures);
}

/* Writes the table of moving or of static problems, which have different budgets and so different columns. */
static pbd_status write_kind(const pbd_rank *rank, bool moving, bool latex, FILE *out) {
    pbd_text_table table PBD_CLEANUP(pbd_text_table_free) = {0};
    for (size_t i = 0; i < rank->rows; i++) {
        if (pbd_problem_moves(rank->row[i].problem) != moving) continue;
        if (table.columns == 0) PBD_TRY(table_columns(rank, rank->row[i].problem, &table));
        PBD_TRY(table_row(rank, &rank->row[i], &table));
    }
    if (table.columns == 0) return pbd_ok();
    fprintf(out, "%s%s: best error over tolerance within the time of %s.\n%s", latex ? "% " : "\n",
            moving ? "Problems that move" : "Static problems", moving ? "a frame of 1/60 s" : "a solve",
            latex ? "" : "\n");
    return pbd_text_table_write(&table, latex ? PBD_LATEX : PBD_MARKDOWN, 2, out);
}

static pbd_status write_profiles(const pbd_rank *rank, int threads, bool latex, FILE *out) {
    matrix m PBD_CLEANUP(free_matrix) = {0};
    pbd_text_table table PBD_CLEANUP(pbd_text_table_free) = {0};
    char text[40];
    static const char *const names[] = {"method", "fits", "within 1x", "within 2x", "within 10x",
                                        "ever",   "0.1",  "1",         "10"};
    PBD_TRY(make_matrix(rank, threads, &m));
    if (m.problems < 2 || m.methods < 2) return pbd_ok();
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) PBD_TRY(pbd_text_table_column(&table, names[k], ""));
    for (size_t i = 0; i < m.methods; i++) {
        PBD_TRY(pbd_text_table_text(&table, m.method[i]));
        PBD_TRY(pbd_text_table_integer(&table, (long long)m.fits[i]));
        for (size_t k = 0; k < RATIOS; k++) PBD_TRY(pbd_text_table_text(&table, range_text(&m, i, ratios[k], text)));
        for (size_t k = 1; k < SPANS; k += 2)
            PBD_TRY(pbd_text_table_real(&table, pbd_data_profile(m.cost, m.unit, m.problems, m.methods, i, spans[k])));
    }
    fprintf(
        out,
        "%sShare of %zu problems solved to the tolerance (%s): within multiples of the fastest method's time (with one "
        "rival removed: from-to), and within 0.1, 1 and 10 of real time (static: s). %s\n%s",
        latex ? "% " : "\n", m.problems, threads_text(threads, text), caveat, latex ? "" : "\n");
    return pbd_text_table_write(&table, latex ? PBD_LATEX : PBD_MARKDOWN, 2, out);
}

pbd_status pbd_rank_table(const pbd_rank *rank, const pbd_rank_about *about, bool latex, FILE *out) {
    fprintf(out, latex ? "%% " : "# Methods on frozen problems%s\n\n", rank->quick ? " (quick)" : "");
    print_machine(rank, about, out);
    for (int moving = 1; moving >= 0; moving--) PBD_TRY(write_answers(rank, moving, latex, out));
    for (int moving = 1; moving >= 0; moving--) PBD_TRY(write_kind(rank, moving, latex, out));
    if (any_warning(rank))
        fprintf(out, "%s*: that run has warnings, which do not exclude it; `pbdbench rank --json` names them.\n",
                latex ? "% " : "\n");
    PBD_TRY(write_profiles(rank, 1, latex, out));
    return rank->all_threads > 1 ? write_profiles(rank, rank->all_threads, latex, out) : pbd_ok();
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *run_json(const char *run_id) { return *run_id ? json_string(run_id) : json_null(); }

static json_t *trial_json(const pbd_trial *t) {
    return json_pack("{s:s, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:b, s:b}", "settings", t->settings, "run_id",
                     run_json(t->run_id), "state", t->state, "says", t->says, "warnings", t->warnings, "value",
                     pbd_finite_json(t->value), "over_tolerance", pbd_finite_json(t->over), "time_s",
                     pbd_finite_json(t->time), "counts", t->counts, "late", t->late);
}

static json_t *budget_json(double seconds) { return pbd_finite_json(seconds); }

static json_t *row_json(const pbd_rank *rank, const pbd_rank_row *row) {
    const pbd_budgets budgets = pbd_rank_budgets(rank, row->problem);
    json_t *trials = json_array(), *within = json_array(), *time_to = json_array();
    for (size_t i = 0; i < row->trials; i++) json_array_append_new(trials, trial_json(&row->trial[i]));
    for (size_t i = 0; i < budgets.count; i++)
        json_array_append_new(
            within, json_pack("{s:o, s:o, s:o}", "budget_s", budget_json(budgets.seconds[i]), "over_tolerance",
                              pbd_finite_json(row->best[i] ? row->best[i]->over : NAN), "run_id",
                              run_json(row->best[i] ? row->best[i]->run_id : "")));
    for (size_t i = 0; i < PBD_RANK_LEVELS; i++)
        json_array_append_new(time_to, json_pack("{s:f, s:o, s:o}", "tolerances", pbd_rank_level[i], "time_s",
                                                 pbd_finite_json(row->fastest[i] ? row->fastest[i]->time : NAN),
                                                 "run_id", run_json(row->fastest[i] ? row->fastest[i]->run_id : "")));
    return json_pack("{s:s, s:i, s:s, s:s?, s:o, s:o, s:o}", "method", row->choices->method, "threads", row->threads,
                     "refused", row->refused.text, "authors", row->choices->authors, "within", within, "time_to",
                     time_to, "trials", trials);
}

static json_t *problem_json(const pbd_rank *rank, size_t first) {
    const pbd_problem *p = rank->row[first].problem;
    json_t *rows = json_array(), *left_out = json_array();
    char error[120];
    pbd_problem_error_name(p, error, sizeof error);
    for (size_t i = first; i < rank->rows && rank->row[i].problem == p; i++)
        json_array_append_new(rows, row_json(rank, &rank->row[i]));
    for (unsigned i = 0; i < p->left_out_count; i++)
        json_array_append_new(
            left_out, json_pack("{s:s, s:s}", "method", p->left_out[i].name, "because", p->left_out[i].because));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:s, s:o, s:o}", "problem", p->id, "title", p->title,
                     "case", p->case_name, "kind", p->kind, "error", error, "target", p->target, "uncertainty",
                     p->uncertainty, "tolerance", p->tolerance, "reference", p->reference, "rows", rows, "left_out",
                     left_out);
}

pbd_status pbd_rank_json(const pbd_rank *rank, const pbd_rank_about *about, FILE *out) {
    json_t *problems = json_array(), *profiles = json_array();
    for (size_t i = 0; i < rank->rows; i++)
        if (i == 0 || rank->row[i].problem != rank->row[i - 1].problem)
            json_array_append_new(problems, problem_json(rank, i));
    json_array_append_new(profiles, profiles_json(rank, 1));
    if (rank->all_threads > 1) json_array_append_new(profiles, profiles_json(rank, rank->all_threads));
    json_auto_t *all = json_pack(
        "{s:s, s:i, s:s, s:b, s:s, s:s, s:s, s:b, s:i, s:f, s:I, s:I, s:o, s:o}", "cpu", about->cpu, "cores",
        about->cores, "git_sha", about->git_sha, "dirty", about->dirty, "first_day", rank->first_day, "last_day",
        rank->last_day, "backend", rank->backend ? rank->backend : "cpu", "quick", rank->quick, "trials",
        (int)(rank->quick ? rank->problems->quick_trials : rank->problems->trials), "limit_s", rank->limit, "made",
        (json_int_t)rank->made, "stored", (json_int_t)rank->stored, "problems", problems, "profiles", profiles);
    if (!all) return pbd_no_memory();
    json_dumpf(all, out, JSON_COMPACT | JSON_REAL_PRECISION(17));
    fputc('\n', out);
    return pbd_ok();
}
