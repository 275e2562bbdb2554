/* Histories from the store. */
#include "harness/trend/history.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "harness/files/nearest.h"
#include "harness/query/sql_functions.h"
#include "harness/store/rows.h"

/* ---- One cell's rows --------------------------------------------------------------------------------------------- */

/* One row for each build, machine, metric and preset, in the order of the first runs of the builds. Presets have
 * separate histories, so that a debug build between two others does not appear as a step. */
static const char cell_rows[] =
    "SELECT env_id, name, preset, fingerprint, cpu, unit, direction, source, git_sha, dirty, min(started_at) AS first,"
    " median(value), count(*) FROM ("
    "SELECT run.env_id, m.name, build.source, CASE WHEN m.count IS NULL THEN m.value ELSE m.count END AS value,"
    " build.git_sha, build.dirty, run.started_at, m.unit, m.direction, build.preset"
    " FROM run JOIN build USING (build_id) JOIN metric AS m USING (run_id)"
    " WHERE run.cell_id IN (SELECT value FROM json_each(?1)) AND run.kind = 'run' AND run.state = 'ok'"
    " AND (m.name = ?2 OR (?2 IS NULL AND " PBD_SQL_LOWER("m") "))"
    " UNION ALL "
    "SELECT run.env_id, t.name, build.source, CASE t.name WHEN 'solve_cpu' THEN p.cpu_s ELSE p.wall_s END,"
    " build.git_sha, build.dirty, run.started_at, 's', 'lower', build.preset"
    " FROM run JOIN build USING (build_id) JOIN phase AS p USING (run_id)"
    " JOIN (SELECT 'solve_cpu' AS name UNION ALL SELECT 'solve_wall') AS t"
    " WHERE run.cell_id IN (SELECT value FROM json_each(?1)) AND run.kind = 'run' AND run.state = 'ok' AND p.name = "
    "'solve'"
    " AND (?2 IS NULL OR t.name = ?2)"
    " AND NOT EXISTS (SELECT 1 FROM metric AS own WHERE own.run_id = run.run_id AND own.name = t.name))"
    " JOIN env USING (env_id) WHERE value IS NOT NULL"
    " AND (?3 IS NULL OR substr(fingerprint, 1, length(?3)) = ?3)"
    " GROUP BY env_id, name, preset, source ORDER BY env_id, name, preset, first, source";

void pbd_histories_free(pbd_histories *histories) {
    for (size_t i = 0; i < histories->count; i++) pbd_steps_free(&histories->item[i].steps);
    pbd_arena_free(&histories->owned);
    *histories = (pbd_histories){0};
}

static pbd_status begin_history(pbd_histories *out, const pbd_trend_cell *cell, sqlite3_stmt *row) {
    if (!pbd_arena_more(&out->owned, &out->item, out->count, sizeof *out->item)) return pbd_arena_check(&out->owned);
    pbd_history *h = &out->item[out->count++];
    *h = (pbd_history){.cell = &cell->cell,
                       .cell_ids = cell->cell_ids,
                       .varies = cell->label,
                       .env_id = pbd_column_copy(&out->owned, row, 0),
                       .metric = pbd_column_copy(&out->owned, row, 1),
                       .preset = pbd_column_copy(&out->owned, row, 2),
                       .cpu = pbd_column_copy(&out->owned, row, 4),
                       .unit = pbd_column_copy(&out->owned, row, 5)};
    PBD_TRY(pbd_arena_check(&out->owned));
    snprintf(h->machine, sizeof h->machine, "%s", pbd_column_text(row, 3));
    h->kind = pbd_kind_read(NULL, h->metric, h->unit, pbd_column_text(row, 6), false);
    return pbd_ok();
}

static pbd_status add_point(pbd_arena *owned, pbd_history *h, sqlite3_stmt *row) {
    if (!pbd_arena_more(owned, &h->point, h->points, sizeof *h->point)) return pbd_arena_check(owned);
    pbd_history_point *p = &h->point[h->points++];
    *p = (pbd_history_point){.dirty = sqlite3_column_int(row, 9) != 0,
                             .value = sqlite3_column_double(row, 11),
                             .runs = (size_t)sqlite3_column_int64(row, 12)};
    snprintf(p->source, sizeof p->source, "%s", pbd_column_text(row, 7));
    snprintf(p->git_sha, sizeof p->git_sha, "%s", pbd_column_text(row, 8));
    snprintf(p->started_at, sizeof p->started_at, "%s", pbd_column_text(row, 10));
    return pbd_ok();
}

static bool continues(const pbd_history *h, sqlite3_stmt *row) {
    return strcmp(h->env_id, pbd_column_text(row, 0)) == 0 && strcmp(h->metric, pbd_column_text(row, 1)) == 0 &&
           strcmp(h->preset, pbd_column_text(row, 2)) == 0;
}

static pbd_status read_cell(pbd_store *store, sqlite3_stmt *row, const pbd_trend_cell *cell, pbd_histories *out) {
    const size_t first = out->count;
    bool any;
    sqlite3_reset(row);
    sqlite3_bind_text(row, 1, cell->cell_ids, -1, SQLITE_STATIC);
    for (;;) {
        PBD_TRY(pbd_store_step(store, row, &any, "reading histories"));
        if (!any) return pbd_ok();
        if (out->count == first || !continues(&out->item[out->count - 1], row)) PBD_TRY(begin_history(out, cell, row));
        PBD_TRY(add_point(&out->owned, &out->item[out->count - 1], row));
    }
}

/* ---- Finishing --------------------------------------------------------------------------------------------------- */

/* An error close to the rounding of the precision is not judged: its changes are noise. */
static bool is_rounding(const pbd_history *h, const pbd_step *step) {
    const double epsilon = strcmp(h->cell->precision, "f32") == 0 ? FLT_EPSILON : DBL_EPSILON;
    return pbd_is_error(h->kind) && strcmp(h->unit, "1") == 0 &&
           fmax(fabs(step->before), fabs(step->after)) < 100 * epsilon;
}

static void drop_rounding(pbd_history *h) {
    size_t kept = 0;
    for (size_t i = 0; i < h->steps.count; i++)
        if (!is_rounding(h, &h->steps.step[i])) h->steps.step[kept++] = h->steps.step[i];
    h->steps.count = kept;
}

static pbd_status find_steps(const pbd_history_query *query, pbd_history *h) {
    pbd_arena a PBD_ARENA;
    if (h->points > PBD_LONGEST_HISTORY) {
        h->point += h->points - PBD_LONGEST_HISTORY;
        h->points = PBD_LONGEST_HISTORY;
    }
    double *x = pbd_new(&a, double, h->points);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < h->points; i++)
        if (!isfinite(x[i] = h->point[i].value)) return pbd_ok();
    PBD_TRY(pbd_find_steps(x, h->points, query->seed, &h->steps));
    drop_rounding(h);
    return pbd_ok();
}

/* ---- Nothing found ----------------------------------------------------------------------------------------------- */

/* PBD_OK if a value that `text` selects begins with `digits`; else an error that names the nearest value. */
static pbd_status check_word(pbd_store *store, const char *text, const char *kind, const char *word, size_t digits,
                             const char *hint) {
    enum { MOST = 500 };
    pbd_arena a PBD_ARENA;
    const char *name[MOST];
    size_t names = 0;
    sqlite3_stmt *row PBD_CLEANUP(pbd_statement_release) = NULL;
    bool any = true;
    PBD_TRY(pbd_store_prepare(store, text, NULL, 0, &row));
    for (; names < MOST; names++) {
        PBD_TRY(pbd_store_step(store, row, &any, "reading names"));
        if (!any) break;
        if (strncmp(pbd_column_text(row, 0), word, digits) == 0) return pbd_ok();
        name[names] = pbd_column_copy(&a, row, 0);
        PBD_TRY(pbd_arena_check(&a));
    }
    return pbd_unknown(kind, word, name, names, hint);
}

static pbd_status check_machine(pbd_store *store, const char *machine) {
    const size_t digits = strlen(machine);
    if (digits < 4 || digits > 32 || strspn(machine, "0123456789abcdef") != digits)
        return pbd_error(PBD_BAD_INPUT,
                         "'%.60s' is not a machine: give at least the first 4 digits of its fingerprint; `pbdbench "
                         "env` prints that of this machine",
                         machine);
    return check_word(store, "SELECT DISTINCT fingerprint FROM env", "machine of the store", machine, digits,
                      "pbdbench history --json");
}

/* Names of the newest runs only: a misspelt name must not cost reading a store of a million runs. */
static pbd_status check_metric(pbd_store *store, const char *metric) {
    return check_word(store,
                      "SELECT DISTINCT name FROM metric WHERE run_id IN (SELECT run_id FROM run INDEXED BY run_by_start"
                      " WHERE kind = 'run' ORDER BY started_at DESC LIMIT 2000)"
                      " UNION SELECT 'solve_cpu' UNION SELECT 'solve_wall'",
                      "metric", metric, strlen(metric) + 1, "pbdbench show RUN");
}

static pbd_status nothing_fits(pbd_store *store, const pbd_history_query *query) {
    if (query->metric) PBD_TRY(check_metric(store, query->metric));
    return pbd_error(
        PBD_BAD_INPUT, "the store has no successful runs%s%s%s%s%s%s: `pbdbench list runs` shows what it has",
        query->case_name ? " of " : "", query->case_name ? query->case_name : "", query->method ? " by " : "",
        query->method ? query->method : "", query->metric ? " with metric " : "", query->metric ? query->metric : "");
}

static pbd_status load(pbd_store *store, const pbd_history_query *query, pbd_histories *out) {
    const pbd_trend_selection selection = {query->case_name, query->method, query->setting, query->settings,
                                           query->most_cells};
    const size_t most = query->most_cells ? query->most_cells : SIZE_MAX;
    sqlite3_stmt *row PBD_CLEANUP(pbd_statement_release) = NULL;
    pbd_trend_cell *cell;
    size_t cells;
    if (query->machine) PBD_TRY(check_machine(store, query->machine));
    PBD_TRY(pbd_trend_cells_load(store, &selection, &out->owned, &cell, &cells));
    PBD_TRY(pbd_sql_functions(pbd_store_sql(store)));
    PBD_TRY(pbd_store_prepare(store, cell_rows, (const char *const[]){NULL, query->metric, query->machine}, 3, &row));
    for (; out->cells < cells && out->cells < most; out->cells++)
        PBD_TRY(read_cell(store, row, &cell[out->cells], out));
    out->narrowed = cells >= most;
    for (size_t i = 0; i < out->count; i++) PBD_TRY(find_steps(query, &out->item[i]));
    return out->count > 0 ? pbd_ok() : nothing_fits(store, query);
}

pbd_status pbd_histories_load(pbd_store *store, const pbd_history_query *query, pbd_histories *out) {
    *out = (pbd_histories){0};
    const pbd_status status = load(store, query, out);
    if (status.code != PBD_OK) pbd_histories_free(out);
    return status;
}

bool pbd_step_is_worse(const pbd_history *h, const pbd_step *step) {
    if (h->kind == PBD_STATE) return false;
    if (pbd_is_error(h->kind)) return fabs(step->after) > fabs(step->before);
    return (h->kind == PBD_QUALITY) == (step->after < step->before);
}
