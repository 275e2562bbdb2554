/* Frozen problems: the trials of them in the store, judged by harness/rank.
 *
 * A table is of one build on one machine with one backend, as in `rank`. Its rows are the declared trials of each
 * method; methods that cases/problems.yaml does not name on a problem, such as engines, have a row of all runs that fit
 * it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/query/cell_labels.h"
#include "harness/report/report.h"

enum { MOST_UNDECLARED = 100 }; /* trials of a row */

/* ---- The runs of problems ---------------------------------------------------------------------------------------- */

/* Stores a cell with each problem whose fixed parameters it has. */
static pbd_status keep_cell(report *r, sqlite3_stmt *cell, const char *case_name, sqlite3_stmt *insert) {
    json_auto_t *params = json_loads(pbd_column_text(cell, 1), 0, NULL);
    bool ignored;
    for (unsigned i = 0; params && i < r->problems->problems_count; i++) {
        if (!pbd_problem_fits(&r->problems->problems[i], case_name, params)) continue;
        sqlite3_reset(insert);
        sqlite3_bind_text(insert, 1, pbd_column_text(cell, 0), -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(insert, 2, (int)i);
        PBD_TRY(report_next(r, insert, &ignored));
    }
    return pbd_ok();
}

static pbd_status find_cells(report *r, const char *case_name, sqlite3_stmt *insert) {
    sqlite3_stmt *cells PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    PBD_TRY(report_ask(r, "SELECT cell_id, params FROM cell WHERE case_name = ?1 AND backend <> 'external'", &case_name,
                       1, &cells));
    for (;;) {
        PBD_TRY(report_next(r, cells, &row));
        if (!row) return pbd_ok();
        PBD_TRY(keep_cell(r, cells, case_name, insert));
    }
}

/* A run ended by Ctrl-C is not a trial; one ended by the time limit of a trial is. */
static const char trials_sql[] =
    "CREATE TEMP TABLE report_trial AS SELECT c.problem, run.run_id, run.cell_id, cell.method, cell.threads,"
    " cell.backend, build.source, env.fingerprint AS machine, env.cpu, env.cores, build.git_sha, build.dirty,"
    " run.started_at, run.seed, run.repeat, run.state FROM temp.report_cell AS c CROSS JOIN cell USING (cell_id)"
    " CROSS JOIN run USING (cell_id) JOIN build USING (build_id) JOIN env USING (env_id) WHERE run.kind = 'run'"
    " AND (run.state <> 'interrupted' OR EXISTS (SELECT 1 FROM metric AS m WHERE m.run_id = run.run_id"
    "  AND m.name = '" PBD_WALL_LIMIT
    "'));"
    "CREATE INDEX temp.report_trial_of ON report_trial(cell_id, source, machine)";

static pbd_status find_trials(report *r) {
    sqlite3_stmt *insert PBD_CLEANUP(pbd_statement_release) = NULL;
    PBD_TRY(report_ask(r, "INSERT OR IGNORE INTO temp.report_cell VALUES (?1, ?2)", NULL, 0, &insert));
    for (unsigned i = 0; i < r->problems->problems_count; i++) {
        const char *name = r->problems->problems[i].case_name;
        bool again = false;
        for (unsigned k = 0; k < i; k++) again |= strcmp(r->problems->problems[k].case_name, name) == 0;
        if (!again) PBD_TRY(find_cells(r, name, insert));
    }
    return pbd_store_exec(r->store, trials_sql, "finding the runs of problems");
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* Sets a flag for each problem that a table has. */
static pbd_status mark_problems(report *r, const report_table *t, bool *has) {
    const char *const key[] = {t->machine, t->source, t->backend};
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    PBD_TRY(report_ask(r,
                       "SELECT DISTINCT problem FROM temp.report_trial WHERE machine = ?1 AND source = ?2"
                       " AND backend = ?3",
                       key, 3, &stmt));
    for (;;) {
        PBD_TRY(report_next(r, stmt, &row));
        if (!row) return pbd_ok();
        has[sqlite3_column_int(stmt, 0)] = true;
    }
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* Counts the different runs that a plan has found: trials of several problems may share one. */
static pbd_status count_runs(const pbd_rank *rank, size_t *runs) {
    pbd_arena a PBD_ARENA;
    const char **id = pbd_new(&a, const char *, rank->plan.count + 1);
    size_t found = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < rank->plan.count; i++)
        if (*rank->plan.item[i].run_id) id[found++] = rank->plan.item[i].run_id;
    qsort(id, found, sizeof *id, by_text);
    *runs = 0;
    for (size_t i = 0; i < found; i++) *runs += i == 0 || strcmp(id[i], id[i - 1]) != 0;
    return pbd_ok();
}

/* A failed or interrupted run is taken only if there is no other. */
static pbd_status find_runs(report *r, const report_table *t, pbd_rank *rank) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    const char *const key[] = {t->machine, t->source};
    bool row;
    PBD_TRY(report_ask(r,
                       "SELECT run_id FROM temp.report_trial WHERE machine = ?1 AND source = ?2 AND cell_id = ?3"
                       " AND seed = ?4 AND repeat = ?5"
                       " ORDER BY state IN ('failed', 'interrupted'), started_at DESC LIMIT 1",
                       key, 2, &stmt));
    for (size_t i = 0; i < rank->plan.count; i++) {
        pbd_plan_item *item = &rank->plan.item[i];
        if (item->refusal.code != PBD_OK) continue;
        sqlite3_reset(stmt);
        sqlite3_bind_text(stmt, 3, item->cell_id, -1, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 4, (sqlite3_int64)item->seed);
        sqlite3_bind_int(stmt, 5, item->repeat);
        PBD_TRY(report_next(r, stmt, &row));
        if (row) snprintf(item->run_id, sizeof item->run_id, "%s", pbd_column_text(stmt, 0));
    }
    return pbd_ok();
}

static pbd_status plan_table(report *r, const report_table *t, const bool *has, bool quick, pbd_rank *rank,
                             size_t *found) {
    *rank = (pbd_rank){.problems = r->problems,
                       .quick = quick,
                       .limit = quick ? r->problems->quick_seconds : r->problems->seconds,
                       .backend = t->backend,
                       .all_threads = t->threads};
    for (unsigned i = 0; i < r->problems->problems_count; i++)
        if (has[i] && (!quick || r->problems->problems[i].quick))
            PBD_TRY(pbd_rank_add(rank, &r->problems->problems[i], NULL));
    PBD_TRY(find_runs(r, t, rank));
    return count_runs(rank, found);
}

/* Plans the trials of --quick if the table has no others. */
static pbd_status choose_plan(report *r, report_table *t, const bool *has) {
    pbd_rank quick = {0};
    size_t found = 0, quick_found = 0;
    pbd_status status = plan_table(r, t, has, true, &quick, &quick_found);
    if (status.code == PBD_OK) status = plan_table(r, t, has, false, &t->rank, &found);
    if (quick_found > 0 && quick_found >= found) {
        pbd_rank_free(&t->rank);
        t->rank = quick;
    } else {
        pbd_rank_free(&quick);
    }
    return status;
}

static pbd_status load_table(report *r, report_table *t) {
    pbd_arena a PBD_ARENA;
    bool *has = pbd_new(&a, bool, r->problems->problems_count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(mark_problems(r, t, has));
    PBD_TRY(choose_plan(r, t, has));
    return pbd_rank_read(&t->rank, r->store);
}

static bool is_declared(const pbd_problem *p, const char *method) {
    for (unsigned i = 0; i < p->methods_count; i++)
        if (strcmp(p->methods[i].method, method) == 0) return true;
    return false;
}

/* Whether a table has any trial. A run of a declared method with settings other than those of its trials is not one. */
static pbd_status has_trials(report *r, const report_table *t, bool *has) {
    const char *const key[] = {t->machine, t->source, t->backend};
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row = true;
    *has = false;
    for (size_t i = 0; i < t->rank.plan.count; i++) *has |= *t->rank.plan.item[i].run_id != '\0';
    PBD_TRY(report_ask(r,
                       "SELECT DISTINCT problem, method FROM temp.report_trial WHERE machine = ?1 AND source = ?2"
                       " AND backend = ?3",
                       key, 3, &stmt));
    while (!*has && row) {
        PBD_TRY(report_next(r, stmt, &row));
        *has = row && !is_declared(&r->problems->problems[sqlite3_column_int(stmt, 0)], pbd_column_text(stmt, 1));
    }
    return pbd_ok();
}

/* Newest first, but after a change of the program the first few runs of a new build do not hide a full table. */
static const char tables_sql[] =
    "WITH t AS (SELECT machine, source, backend, max(threads) AS threads, count(DISTINCT run_id) AS runs,"
    "  max(started_at) AS newest, cpu, cores, git_sha, max(dirty) AS dirty FROM temp.report_trial GROUP BY 1, 2, 3)"
    " SELECT * FROM t ORDER BY 2 * runs < (SELECT max(runs) FROM t), newest DESC, machine, source, backend";

static void read_table(report *r, sqlite3_stmt *row, report_table *t) {
    snprintf(t->machine, sizeof t->machine, "%s", pbd_column_text(row, 0));
    snprintf(t->source, sizeof t->source, "%s", pbd_column_text(row, 1));
    snprintf(t->backend, sizeof t->backend, "%s", pbd_column_text(row, 2));
    t->threads = sqlite3_column_int(row, 3);
    t->runs = (size_t)sqlite3_column_int64(row, 4);
    snprintf(t->newest, sizeof t->newest, "%s", pbd_column_text(row, 5));
    t->cpu = pbd_new_text(&r->owned, pbd_column_text(row, 6));
    snprintf(t->git_sha, sizeof t->git_sha, "%s", pbd_column_text(row, 8));
    t->cores = sqlite3_column_int(row, 7);
    t->dirty = sqlite3_column_int(row, 9) != 0;
}

pbd_status report_load_tables(report *r) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row, has;
    if (!r->store || !r->problems) return pbd_ok();
    PBD_TRY(find_trials(r));
    PBD_TRY(report_ask(r, tables_sql, NULL, 0, &stmt));
    for (;;) {
        PBD_TRY(report_next(r, stmt, &row));
        if (!row) return pbd_arena_check(&r->owned);
        if (r->tables == REPORT_MOST_TABLES) {
            r->tables_left_out++;
            continue;
        }
        report_table *t = &r->table[r->tables];
        read_table(r, stmt, t);
        PBD_TRY(load_table(r, t));
        PBD_TRY(has_trials(r, t, &has));
        r->tables += has;
        if (!has) pbd_rank_free(&t->rank);
    }
}

/* ---- As JSON ----------------------------------------------------------------------------------------------------- */

static pbd_status trial_json(report *r, const pbd_trial *t, json_t **out) {
    *out = json_object();
    report_put_text(*out, "settings", t->settings);
    report_put_text(*out, "run", t->run_id);
    report_put_text(*out, "state", t->state);
    report_put_text(*out, "says", t->says);
    report_put_text(*out, "warnings", t->warnings);
    report_put_real(*out, "value", t->value);
    report_put_real(*out, "over", t->over);
    report_put_real(*out, "time", t->time);
    report_put_true(*out, "counts", t->counts);
    report_put_true(*out, "late", t->late);
    return *t->run_id ? report_put_command(r, t->run_id, *out) : pbd_ok();
}

/* The index of a trial, or null for none. */
static json_t *place_json(const pbd_trial *all, const pbd_trial *one) {
    return one ? json_integer((json_int_t)(one - all)) : json_null();
}

static pbd_status row_json(report *r, const char *method, int threads, const pbd_trial *trial, size_t trials,
                           const pbd_budgets *budgets, json_t *rows, json_t **out) {
    json_t *all = json_array(), *best = json_array(), *fastest = json_array();
    *out = json_pack("{s:o, s:i, s:o, s:o, s:o}", "method", pbd_text_json(method), "threads", threads, "trials", all,
                     "best", best, "fastest", fastest);
    if (!*out) return pbd_no_memory();
    json_array_append_new(rows, *out);
    for (size_t i = 0; i < trials; i++) {
        json_t *one = NULL;
        const pbd_status status = trial_json(r, &trial[i], &one);
        json_array_append_new(all, one);
        PBD_TRY(status);
    }
    for (size_t i = 0; i < budgets->count; i++)
        json_array_append_new(best, place_json(trial, pbd_best_trial(trial, trials, budgets->seconds[i])));
    for (size_t i = 0; i < PBD_RANK_LEVELS; i++)
        json_array_append_new(fastest, place_json(trial, pbd_fastest_trial(trial, trials, pbd_rank_level[i])));
    return pbd_ok();
}

static json_t *rows_of(json_t *problems, const char *id) {
    json_t *entry = json_object_get(problems, id);
    if (entry) return entry;
    json_object_set_new(problems, id, entry = json_array());
    return entry;
}

/* ---- Methods that problems.yaml does not name -------------------------------------------------------------------- */

typedef struct undeclared {
    const pbd_problem *problem;
    char method[100];
    int threads;
    pbd_trial trial[MOST_UNDECLARED];
    pbd_stored_cell cell[MOST_UNDECLARED];
    size_t trials;
} undeclared;

static pbd_status finish_undeclared(report *r, undeclared *u, json_t *problems) {
    const pbd_budgets budgets = pbd_default_budgets(u->problem && pbd_problem_moves(u->problem));
    char *label[MOST_UNDECLARED] = {NULL};
    json_t *row = NULL;
    if (u->trials == 0) return pbd_ok();
    PBD_TRY(pbd_cell_labels(u->cell, u->trials, label));
    for (size_t i = 0; i < u->trials; i++) {
        u->trial[i].settings = pbd_new_text(&r->owned, label[i]);
        free(label[i]);
    }
    PBD_TRY(pbd_arena_check(&r->owned));
    PBD_TRY(row_json(r, u->method, u->threads, u->trial, u->trials, &budgets, rows_of(problems, u->problem->id), &row));
    report_put_true(row, "undeclared", true);
    u->trials = 0;
    return pbd_ok();
}

static pbd_status add_undeclared(report *r, sqlite3_stmt *row, double limit, undeclared *u) {
    pbd_result run PBD_CLEANUP(pbd_result_free) = {0};
    if (u->trials == MOST_UNDECLARED) return pbd_ok();
    pbd_trial *t = &u->trial[u->trials];
    pbd_stored_cell *cell = &u->cell[u->trials++];
    PBD_TRY(pbd_store_get(r->store, pbd_column_text(row, 3), &run));
    *t = (pbd_trial){.value = NAN, .over = NAN, .time = NAN};
    memcpy(t->run_id, run.run_id, sizeof t->run_id);
    pbd_trial_judge(u->problem, &run, limit, t);
    t->state = pbd_new_text(&r->owned, run.state);
    t->says = pbd_new_text(&r->owned, run.says);
    t->warnings = pbd_new_text(&r->owned, "");
    for (size_t i = 0; i < run.warnings && t->warnings; i++)
        t->warnings = pbd_new_format(&r->owned, "%s%s%s", t->warnings, i ? " " : "", run.warning[i].name);
    *cell = (pbd_stored_cell){.case_name = pbd_new_text(&r->owned, run.case_name),
                              .method = pbd_new_text(&r->owned, run.method_name),
                              .params = pbd_new_text(&r->owned, run.params)};
    return pbd_arena_check(&r->owned);
}

static pbd_status add_undeclared_rows(report *r, const report_table *t, json_t *problems) {
    const char *const key[] = {t->machine, t->source, t->backend};
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    undeclared u = {0};
    bool row;
    PBD_TRY(report_ask(r,
                       "SELECT problem, method, threads, run_id, max(started_at) FROM temp.report_trial"
                       " WHERE machine = ?1 AND source = ?2 AND backend = ?3"
                       " GROUP BY problem, method, threads, cell_id ORDER BY 1, 2, 3, 5 DESC",
                       key, 3, &stmt));
    for (;;) {
        PBD_TRY(report_next(r, stmt, &row));
        if (!row) return finish_undeclared(r, &u, problems);
        const pbd_problem *p = &r->problems->problems[sqlite3_column_int(stmt, 0)];
        const char *method = pbd_column_text(stmt, 1);
        if (is_declared(p, method)) continue;
        if (u.problem != p || strcmp(u.method, method) != 0 || u.threads != sqlite3_column_int(stmt, 2)) {
            PBD_TRY(finish_undeclared(r, &u, problems));
            u.problem = p;
            u.threads = sqlite3_column_int(stmt, 2);
            snprintf(u.method, sizeof u.method, "%s", method);
        }
        PBD_TRY(add_undeclared(r, stmt, t->rank.limit, &u));
    }
}

/* ---- The section ------------------------------------------------------------------------------------------------- */

static json_t *budgets_json(bool moving) {
    const pbd_budgets budgets = pbd_default_budgets(moving);
    json_t *all = json_array();
    for (size_t i = 0; i < budgets.count; i++) {
        char text[32];
        pbd_budget_text(budgets.seconds[i], text);
        json_array_append_new(all,
                              json_pack("{s:s, s:o}", "name", text, "seconds", pbd_finite_json(budgets.seconds[i])));
    }
    return all;
}

static json_t *problem_json(const pbd_problem *p) {
    char error[120];
    json_t *left_out = json_array();
    pbd_problem_error_name(p, error, sizeof error);
    for (unsigned i = 0; i < p->left_out_count; i++)
        json_array_append_new(
            left_out, json_pack("{s:s, s:s}", "method", p->left_out[i].name, "because", p->left_out[i].because));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:s, s:o}", "id", p->id, "title", p->title, "case",
                     p->case_name, "kind", p->kind, "error", error, "target", p->target, "uncertainty", p->uncertainty,
                     "tolerance", p->tolerance, "reference", p->reference, "left_out", left_out);
}

static pbd_status table_json(report *r, const report_table *t, json_t *tables) {
    json_t *problems = json_object(), *table = json_object();
    json_array_append_new(tables, table);
    report_put_text(table, "cpu", t->cpu);
    report_put_text(table, "machine", t->machine);
    report_put_text(table, "commit", t->git_sha);
    report_put_text(table, "source", t->source);
    report_put_text(table, "backend", t->backend);
    report_put_text(table, "newest", t->newest);
    report_put_true(table, "dirty", t->dirty);
    report_put_true(table, "quick", t->rank.quick);
    report_put_count(table, "cores", (size_t)t->cores);
    report_put_count(table, "threads", (size_t)t->threads);
    report_put_count(table, "runs", t->runs);
    report_put_count(table, "trials", t->rank.quick ? r->problems->quick_trials : r->problems->trials);
    report_put_real(table, "limit", t->rank.limit);
    json_object_set_new(table, "problems", problems);
    for (size_t i = 0; i < t->rank.rows; i++) {
        const pbd_rank_row *row = &t->rank.row[i];
        const pbd_budgets budgets = pbd_rank_budgets(&t->rank, row->problem);
        json_t *out = NULL;
        PBD_TRY(row_json(r, row->choices->method, row->threads, row->trial, row->trials, &budgets,
                         rows_of(problems, row->problem->id), &out));
        if (row->refused.code != PBD_OK) report_put_text(out, "refused", row->refused.text);
        report_put_text(out, "authors", row->choices->authors);
    }
    return add_undeclared_rows(r, t, problems);
}

pbd_status report_problems(report *r, json_t **out) {
    json_t *catalogue = json_array(), *tables = json_array();
    *out = json_pack("{s:{s:o, s:o}, s:o, s:o}", "budgets", "moving", budgets_json(true), "static", budgets_json(false),
                     "problems", catalogue, "tables", tables);
    if (!*out) return pbd_no_memory();
    if (r->no_problems.code != PBD_OK) report_put_text(*out, "trouble", r->no_problems.text);
    for (unsigned i = 0; r->problems && i < r->problems->problems_count; i++)
        json_array_append_new(catalogue, problem_json(&r->problems->problems[i]));
    report_put_count(*out, "tables_left_out", r->tables_left_out);
    for (size_t i = 0; i < r->tables; i++) PBD_TRY(table_json(r, &r->table[i], tables));
    return pbd_ok();
}
