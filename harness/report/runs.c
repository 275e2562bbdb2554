/* Runs that the page refers to, each with the command that makes it again. */
#include <inttypes.h>
#include <string.h>

#include "harness/query/cell_labels.h"
#include "harness/query/run_command.h"
#include "harness/report/report.h"

enum { MOST_RUNS = 5000 };

/* ---- Noting them ------------------------------------------------------------------------------------------------- */

static pbd_status step_with(report *r, sqlite3_stmt *stmt, const char *run_id, bool *row) {
    if (stmt) sqlite3_bind_text(stmt, 1, run_id, -1, SQLITE_TRANSIENT);
    const pbd_status status = report_next(r, stmt, row);
    if (stmt) sqlite3_reset(stmt);
    return status;
}

pbd_status report_note_run(report *r, const char *run_id) {
    bool known, ignored;
    if (!r->is_noted) {
        PBD_TRY(report_ask(r, "SELECT 1 FROM temp.report_run WHERE run_id = ?1", NULL, 0, &r->is_noted));
        PBD_TRY(report_ask(r, "INSERT INTO temp.report_run VALUES (?1)", NULL, 0, &r->note));
    }
    PBD_TRY(step_with(r, r->is_noted, run_id, &known));
    if (known) return pbd_ok();
    if (r->runs_noted >= MOST_RUNS) {
        r->runs_left_out++;
        return pbd_ok();
    }
    r->runs_noted++;
    return step_with(r, r->note, run_id, &ignored);
}

/* ---- One run ----------------------------------------------------------------------------------------------------- */

/* The columns that a run's command needs, and those that the page shows. */
#define HEAD_SQL                                                                                               \
    "SELECT run_id, run.kind, case_name, method, params_today(case_name, method, params), backend, precision," \
    " cell.threads, run.repeat, run.warmups, run.seed, invocation.argv, run.state, run.says, run.started_at,"  \
    " build.git_sha, build.dirty, env.cpu"                                                                     \
    " FROM run JOIN cell USING (cell_id) JOIN build USING (build_id) JOIN env USING (env_id)"                  \
    " JOIN invocation USING (invocation_id)"
enum {
    RUN_ID,
    KIND,
    CASE_NAME,
    METHOD,
    PARAMS,
    BACKEND,
    PRECISION,
    THREADS,
    REPEAT,
    WARMUPS,
    SEED,
    ARGV,
    STATE,
    SAYS,
    STARTED_AT,
    GIT_SHA,
    DIRTY,
    CPU
};

static char *copy_of(pbd_arena *a, sqlite3_stmt *head, int column) {
    return pbd_new_text(a, pbd_column_text(head, column));
}

static pbd_status put_command(sqlite3_stmt *head, json_t *object) {
    pbd_arena a PBD_ARENA;
    const pbd_result run = {.kind = copy_of(&a, head, KIND),
                            .case_name = copy_of(&a, head, CASE_NAME),
                            .method_name = copy_of(&a, head, METHOD),
                            .params = copy_of(&a, head, PARAMS),
                            .backend = copy_of(&a, head, BACKEND),
                            .precision = copy_of(&a, head, PRECISION),
                            .threads = sqlite3_column_int(head, THREADS),
                            .repeat = sqlite3_column_int(head, REPEAT),
                            .warmups = sqlite3_column_int(head, WARMUPS),
                            .seed = (uint64_t)sqlite3_column_int64(head, SEED)};
    PBD_TRY(pbd_arena_check(&a));
    char *command PBD_CLEANUP(pbd_free_memory) = pbd_run_command(&run, pbd_column_text(head, ARGV));
    if (!command) return pbd_no_memory();
    report_put_text(object, "command", pbd_new_format(&a, "./%s", command));
    return pbd_arena_check(&a);
}

pbd_status report_put_command(report *r, const char *run_id, json_t *object) {
    bool row;
    if (!r->head) PBD_TRY(report_ask(r, HEAD_SQL " WHERE run_id = ?1", NULL, 0, &r->head));
    sqlite3_reset(r->head);
    sqlite3_bind_text(r->head, 1, run_id, -1, SQLITE_TRANSIENT);
    PBD_TRY(report_next(r, r->head, &row));
    const pbd_status status = row ? put_command(r->head, object) : pbd_ok();
    sqlite3_reset(r->head);
    return status;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* «[name, value, unit]» of each metric. */
static pbd_status put_metrics(report *r, sqlite3_stmt *stmt, const char *run_id, json_t *object) {
    json_t *all = json_array();
    bool row;
    json_object_set_new(object, "metrics", all);
    sqlite3_reset(stmt);
    sqlite3_bind_text(stmt, 1, run_id, -1, SQLITE_TRANSIENT);
    for (;;) {
        PBD_TRY(report_next(r, stmt, &row));
        if (!row) return pbd_ok();
        const bool counted = sqlite3_column_type(stmt, 3) != SQLITE_NULL;
        char value[32] = "NaN";
        if (counted)
            snprintf(value, sizeof value, "%" PRIu64, (uint64_t)sqlite3_column_int64(stmt, 3));
        else if (sqlite3_column_type(stmt, 2) != SQLITE_NULL)
            snprintf(value, sizeof value, "%.5g", sqlite3_column_double(stmt, 2));
        const char *unit = pbd_column_text(stmt, 1);
        json_array_append_new(all, json_pack("[o, s, o]", pbd_text_json(pbd_column_text(stmt, 0)), value,
                                             pbd_text_json(strcmp(unit, "1") == 0 ? "" : unit)));
    }
}

static pbd_status add_run(report *r, sqlite3_stmt *head, sqlite3_stmt *metrics, const char *differs, json_t *all) {
    json_t *object = json_object();
    const char *run_id = pbd_column_text(head, RUN_ID);
    json_object_set_new(all, run_id, object);
    report_put_text(object, "case", pbd_column_text(head, CASE_NAME));
    report_put_text(object, "method", pbd_column_text(head, METHOD));
    report_put_text(object, "settings", differs);
    report_put_text(object, "backend", pbd_column_text(head, BACKEND));
    report_put_text(object, "precision", pbd_column_text(head, PRECISION));
    report_put_count(object, "threads", (size_t)sqlite3_column_int(head, THREADS));
    report_put_text(object, "state", pbd_column_text(head, STATE));
    report_put_text(object, "says", pbd_column_text(head, SAYS));
    report_put_text(object, "started", pbd_column_text(head, STARTED_AT));
    report_put_text(object, "commit", pbd_column_text(head, GIT_SHA));
    report_put_true(object, "dirty", sqlite3_column_int(head, DIRTY));
    report_put_text(object, "cpu", pbd_column_text(head, CPU));
    PBD_TRY(put_command(head, object));
    return put_metrics(r, metrics, run_id, object);
}

/* Labels each run with what differs between the runs of its case and method. */
static pbd_status label_runs(report *r, sqlite3_stmt *heads, pbd_arena *a, char ***label) {
    pbd_stored_cell *cell = NULL;
    size_t cells = 0;
    bool row;
    for (;; cells++) {
        PBD_TRY(report_next(r, heads, &row));
        if (!row) break;
        if (!pbd_arena_more(a, &cell, cells, sizeof *cell)) return pbd_arena_check(a);
        cell[cells].case_name = copy_of(a, heads, CASE_NAME);
        cell[cells].method = copy_of(a, heads, METHOD);
        cell[cells].params = copy_of(a, heads, PARAMS);
    }
    sqlite3_reset(heads);
    *label = pbd_new(a, char *, cells);
    PBD_TRY(pbd_arena_check(a));
    return pbd_cell_labels(cell, cells, *label);
}

pbd_status report_runs(report *r, json_t **out) {
    pbd_arena a PBD_ARENA;
    sqlite3_stmt *heads PBD_CLEANUP(pbd_statement_release) = NULL, *metrics PBD_CLEANUP(pbd_statement_release) = NULL;
    char **label = NULL;
    bool row = r->store != NULL;
    *out = json_object();
    if (!row) return pbd_ok();
    PBD_TRY(report_ask(r, HEAD_SQL " WHERE run_id IN (SELECT run_id FROM temp.report_run) ORDER BY run_id", NULL, 0,
                       &heads));
    PBD_TRY(report_ask(r, "SELECT name, unit, value, count FROM metric WHERE run_id = ?1 ORDER BY position", NULL, 0,
                       &metrics));
    PBD_TRY(label_runs(r, heads, &a, &label));
    for (size_t i = 0;; i++) {
        PBD_TRY(report_next(r, heads, &row));
        if (!row) return pbd_ok();
        char *differs PBD_CLEANUP(pbd_free_memory) = label[i];
        PBD_TRY(add_run(r, heads, metrics, differs, *out));
    }
}
