#include "harness/rank/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/numbers.h"
#include "harness/run/convergence.h"
#include "harness/store/rows.h"

const double pbd_rank_level[PBD_RANK_LEVELS] = {10, 1, 0.1};

/* ---- Budgets ----------------------------------------------------------------------------------------------------- */

pbd_budgets pbd_default_budgets(bool moving) {
    return moving ? (pbd_budgets){{0.001, 0.003, 0.01, 0.033, INFINITY}, 5} : (pbd_budgets){{0.1, 1, 10, INFINITY}, 4};
}

pbd_status pbd_budget_parse(const char *text, double *seconds) {
    char *end = NULL;
    const double value = pbd_decimal(text, &end);
    const double unit = strcmp(end, "ms") == 0 ? 1e-3 : strcmp(end, "s") == 0 || !*end ? 1 : 0;
    *seconds = value * unit;
    if (end != text && *seconds > 0 && isfinite(*seconds)) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "budget '%.60s': expected a time above 0 such as 10ms or 0.5s", text);
}

void pbd_budget_text(double seconds, char out[32]) {
    if (isinf(seconds))
        snprintf(out, 32, "any");
    else if (seconds < 0.1)
        snprintf(out, 32, "%g ms", 1e3 * seconds);
    else
        snprintf(out, 32, "%g s", seconds);
}

pbd_budgets pbd_rank_budgets(const pbd_rank *rank, const pbd_problem *problem) {
    return rank->only.count ? rank->only : pbd_default_budgets(pbd_problem_moves(problem));
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

void pbd_rank_free(pbd_rank *rank) {
    pbd_plan_free(&rank->plan);
    pbd_arena_free(&rank->owned);
    *rank = (pbd_rank){0};
}

/* A method that does not run on the problem gets a row with the reason. */
static pbd_status add_row(pbd_rank *rank, const pbd_problem *problem, const pbd_trials *choices, int threads) {
    if (!pbd_arena_more(&rank->owned, &rank->row, rank->rows, sizeof *rank->row)) return pbd_arena_check(&rank->owned);
    pbd_rank_row *row = &rank->row[rank->rows];
    *row = (pbd_rank_row){.problem = problem, .choices = choices, .threads = threads, .first = rank->plan.count};
    const pbd_status status = pbd_problem_plan(rank->problems, problem, choices, rank->backend, threads, rank->quick,
                                               rank->rows, &rank->plan);
    row->last = rank->plan.count;
    if (status.code == PBD_NOT_SUPPORTED)
        row->refused = status;
    else
        PBD_TRY(status);
    rank->rows++;
    return pbd_ok();
}

pbd_status pbd_rank_add(pbd_rank *rank, const pbd_problem *problem, const char *method) {
    const int threads[] = {1, rank->all_threads};
    const size_t kinds = rank->all_threads > 1 ? 2 : 1;
    for (size_t k = 0; k < kinds; k++)
        for (unsigned i = 0; i < problem->methods_count; i++)
            if (!method || strcmp(problem->methods[i].method, method) == 0)
                PBD_TRY(add_row(rank, problem, &problem->methods[i], threads[k]));
    return pbd_ok();
}

/* ---- Trials ------------------------------------------------------------------------------------------------------ */

static double metric_of(const pbd_result *run, const char *name) {
    for (size_t i = 0; i < run->metrics; i++)
        if (strcmp(run->metric[i].name, name) == 0)
            return run->metric[i].is_count ? (double)run->metric[i].count : run->metric[i].value;
    return NAN;
}

static double phase_of(const pbd_result *run, const char *name) {
    for (size_t i = 0; i < run->phases; i++)
        if (strcmp(run->phase[i].name, name) == 0) return run->phase[i].wall_s;
    return 0;
}

static bool warns_of(const pbd_result *run, const char *name) {
    for (size_t i = 0; i < run->warnings; i++)
        if (strcmp(run->warning[i].name, name) == 0) return true;
    return false;
}

/* The frames of a moving problem repeat: preparation does not count. A static answer is computed once: it counts. */
static double time_of(const pbd_problem *problem, const pbd_result *run) {
    static const double frame = 1.0 / 60; /* s */
    const double solve = phase_of(run, "solve");
    if (!pbd_problem_moves(problem)) return solve > 0 ? phase_of(run, "create") + solve : NAN;
    const double simulated = metric_of(run, "simulated_time");
    return solve > 0 && simulated > 0 ? solve * frame / simulated : NAN;
}

void pbd_trial_judge(const pbd_problem *problem, const pbd_result *run, double limit, pbd_trial *out) {
    const double whole = phase_of(run, "build") + phase_of(run, "create") + phase_of(run, "solve");
    const double error = fabs((out->value = metric_of(run, problem->metric)) - problem->target);
    out->over = isnan(error) ? NAN : fmax(error, problem->uncertainty) / problem->tolerance;
    out->time = time_of(problem, run);
    out->late = whole > limit || !isnan(metric_of(run, PBD_WALL_LIMIT));
    const bool well = strcmp(run->state, "ok") == 0 && !out->late;
    out->astray = well && warns_of(run, PBD_UNCONVERGED);
    out->counts = well && !out->astray && isfinite(out->over) && !isnan(out->time);
}

const pbd_trial *pbd_best_trial(const pbd_trial *trial, size_t count, double seconds) {
    const pbd_trial *best = NULL;
    for (const pbd_trial *t = trial; t < trial + count; t++)
        if (t->counts && t->time <= seconds &&
            (!best || t->over < best->over || (t->over == best->over && t->time < best->time)))
            best = t;
    return best;
}

const pbd_trial *pbd_fastest_trial(const pbd_trial *trial, size_t count, double level) {
    const pbd_trial *fastest = NULL;
    for (const pbd_trial *t = trial; t < trial + count; t++)
        if (t->counts && t->over <= level && (!fastest || t->time < fastest->time)) fastest = t;
    return fastest;
}

/* ---- What is still to be made ------------------------------------------------------------------------------------ */

/* An interrupted run is assumed to take the whole limit. */
static pbd_status cost_of(pbd_store *store, const pbd_plan_item *item, double limit, double *seconds) {
    static const char sql[] =
        "SELECT state = 'interrupted', (SELECT sum(wall_s) FROM phase AS p WHERE p.run_id = run.run_id"
        " AND p.name IN ('build', 'create', 'solve', 'measure'))"
        " FROM run WHERE cell_id = ?1 AND kind = 'run' ORDER BY started_at DESC LIMIT 1";
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    const char *const key[] = {item->cell_id};
    bool row = false;
    *seconds = NAN;
    if (!store) return pbd_ok();
    PBD_TRY(pbd_store_prepare(store, sql, key, 1, &stmt));
    PBD_TRY(pbd_store_step(store, stmt, &row, "looking for the time of a trial"));
    if (row) *seconds = sqlite3_column_int(stmt, 0) ? limit : fmin(sqlite3_column_double(stmt, 1), limit);
    return pbd_ok();
}

/* Whether an earlier item has the same cell. Problems may share a cell, which is run once. */
static bool is_asked_before(const pbd_plan *plan, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (strcmp(plan->item[i].cell_id, plan->item[index].cell_id) == 0) return true;
    return false;
}

pbd_status pbd_rank_cost(const pbd_rank *rank, pbd_store *store, double *seconds, size_t *known) {
    *seconds = 0;
    *known = 0;
    for (const pbd_rank_row *row = rank->row; row < rank->row + rank->rows; row++) {
        double sum = 0;
        size_t have = 0, missing = 0;
        for (size_t i = row->first; i < row->last; i++) {
            const pbd_plan_item *item = &rank->plan.item[i];
            double cost;
            if (item->refusal.code != PBD_OK || is_asked_before(&rank->plan, i)) continue;
            PBD_TRY(cost_of(store, item, rank->limit, &cost));
            if (!isnan(cost)) sum += cost, have++;
            if (*item->run_id) continue;
            if (isnan(cost))
                missing++;
            else
                *seconds += cost, ++*known;
        }
        *seconds += (double)missing * (have > 0 ? sum / (double)have : rank->limit);
    }
    return pbd_ok();
}

/* ---- Reading trials ---------------------------------------------------------------------------------------------- */

/* Whether a parameter of the cell differs between the trials of a row. */
static bool varies(const pbd_rank *rank, const pbd_rank_row *row, const char *key) {
    const pbd_values *first = &rank->plan.item[row->first].cell.case_values;
    const pbd_values *other = &rank->plan.item[row->first].cell.method_values;
    const pbd_value *mine = pbd_value_named(first, key);
    if (!mine) mine = pbd_value_named(other, key);
    for (size_t i = row->first + 1; mine && i < row->last; i++) {
        const pbd_cell *cell = &rank->plan.item[i].cell;
        const pbd_value *its = pbd_value_named(&cell->case_values, key);
        if (!its) its = pbd_value_named(&cell->method_values, key);
        if (its && strcmp(pbd_value_text(its), pbd_value_text(mine)) != 0) return true;
    }
    return false;
}

static char *settings_of(pbd_rank *rank, const pbd_rank_row *row, const pbd_plan_item *item) {
    char *text = pbd_new_text(&rank->owned, "");
    const pbd_values *const values[] = {&item->cell.case_values, &item->cell.method_values};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; text && i < values[k]->count; i++) {
            const pbd_value *value = &values[k]->item[i];
            if (k == 1 && pbd_value_named(values[0], value->param->name)) continue;
            if (varies(rank, row, value->param->name))
                text = pbd_new_format(&rank->owned, "%s%s%s=%s", text, *text ? " " : "", value->param->name,
                                      pbd_value_text(value));
        }
    return text;
}

static char *warnings_of(pbd_rank *rank, const pbd_result *run) {
    char *text = pbd_new_text(&rank->owned, "");
    for (size_t i = 0; text && i < run->warnings; i++)
        text = pbd_new_format(&rank->owned, "%s%s%s", text, *text ? " " : "", run->warning[i].name);
    return text;
}

/* Why a run that was made does not count. */
static char *reason_of(pbd_rank *rank, const pbd_problem *problem, const pbd_result *run, const pbd_trial *t) {
    if (t->counts) return pbd_new_text(&rank->owned, "");
    if (strcmp(run->state, "ok") != 0) return pbd_new_text(&rank->owned, run->says);
    if (t->late) return pbd_new_format(&rank->owned, "longer than %g s", rank->limit);
    if (t->astray) return pbd_new_text(&rank->owned, "not converged: its iterations leave more than a tenth");
    if (isnan(t->value)) return pbd_new_format(&rank->owned, "reports no %s", problem->metric);
    return pbd_new_text(&rank->owned, "reports no time of a solve, or none that it simulated");
}

/* Notes the day of a time such as "2026-11-24T18:02:11Z". */
static void note_day(pbd_rank *rank, const char *started_at) {
    char day[sizeof rank->first_day];
    snprintf(day, sizeof day, "%.10s", started_at ? started_at : "");
    if (!*rank->first_day || strcmp(day, rank->first_day) < 0) memcpy(rank->first_day, day, sizeof day);
    if (strcmp(day, rank->last_day) > 0) memcpy(rank->last_day, day, sizeof day);
}

static pbd_status read_trial(pbd_rank *rank, pbd_store *store, const pbd_rank_row *row, const pbd_plan_item *item,
                             pbd_trial *t) {
    pbd_result run PBD_CLEANUP(pbd_result_free) = {0};
    *t = (pbd_trial){.value = NAN, .over = NAN, .time = NAN, .settings = settings_of(rank, row, item)};
    t->warnings = pbd_new_text(&rank->owned, "");
    if (!*item->run_id) {
        const bool refused = item->refusal.code != PBD_OK;
        t->state = pbd_new_text(&rank->owned, refused ? "refused" : "missing");
        t->says = pbd_new_text(&rank->owned, refused ? item->refusal.text : "not run");
        return pbd_arena_check(&rank->owned);
    }
    PBD_TRY(pbd_store_get(store, item->run_id, &run));
    note_day(rank, run.started_at);
    memcpy(t->run_id, item->run_id, sizeof t->run_id);
    pbd_trial_judge(row->problem, &run, rank->limit, t);
    t->state = pbd_new_text(&rank->owned, run.state);
    t->warnings = warnings_of(rank, &run);
    t->says = reason_of(rank, row->problem, &run, t);
    return pbd_arena_check(&rank->owned);
}

static pbd_status read_row(pbd_rank *rank, pbd_store *store, pbd_rank_row *row) {
    const pbd_budgets budgets = pbd_rank_budgets(rank, row->problem);
    row->trials = row->last - row->first;
    row->trial = pbd_new(&rank->owned, pbd_trial, row->trials);
    PBD_TRY(pbd_arena_check(&rank->owned));
    for (size_t i = 0; i < row->trials; i++) {
        PBD_TRY(read_trial(rank, store, row, &rank->plan.item[row->first + i], &row->trial[i]));
        row->late += row->trial[i].late;
        row->failed += !row->trial[i].late && !row->trial[i].counts;
    }
    for (size_t i = 0; i < budgets.count; i++)
        row->best[i] = pbd_best_trial(row->trial, row->trials, budgets.seconds[i]);
    for (size_t i = 0; i < PBD_RANK_LEVELS; i++)
        row->fastest[i] = pbd_fastest_trial(row->trial, row->trials, pbd_rank_level[i]);
    return pbd_ok();
}

static int by_answer(const void *left, const void *right) {
    const pbd_rank_row *a = left, *b = right;
    if (a->problem != b->problem) return a->problem < b->problem ? -1 : 1;
    if (a->threads != b->threads) return a->threads < b->threads ? -1 : 1;
    for (size_t i = PBD_RANK_BUDGETS; i-- > 0;) {
        if (!a->best[i] != !b->best[i]) return a->best[i] ? -1 : 1;
        if (!a->best[i]) continue;
        if (a->best[i]->over != b->best[i]->over) return a->best[i]->over < b->best[i]->over ? -1 : 1;
        if (a->best[i]->time != b->best[i]->time) return a->best[i]->time < b->best[i]->time ? -1 : 1;
    }
    return strcmp(a->choices->method, b->choices->method);
}

pbd_status pbd_rank_read(pbd_rank *rank, pbd_store *store) {
    for (size_t i = 0; i < rank->rows; i++) PBD_TRY(read_row(rank, store, &rank->row[i]));
    if (rank->rows > 0) qsort(rank->row, rank->rows, sizeof *rank->row, by_answer);
    return pbd_ok();
}
