/* Histories from the store. */
#include "harness/trend/history.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/nearest.h"

/* ---- Which cells ------------------------------------------------------------------------------------------------- */

typedef struct cell_row {
    char *cell_ids; /* JSON array: one under each of the names that its parameters had */
    char *case_name, *method, *params, *backend, *precision, *varies;
    int threads;
} cell_row;

typedef struct cell_list {
    cell_row *item;
    size_t count;
} cell_list;

static void free_cells(cell_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        cell_row *c = &list->item[i];
        char *owned[] = {c->cell_ids, c->case_name, c->method, c->params, c->backend, c->precision, c->varies};
        for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
    }
    free(list->item);
}

static pbd_status no_memory(void) { return pbd_error(PBD_FAILED, "out of memory for histories"); }

static pbd_status sql_failed(sqlite3 *sql) {
    return pbd_error(PBD_BAD_INPUT, "the store cannot be read: %s", sqlite3_errmsg(sql));
}

static char *column_text(sqlite3_stmt *statement, int column) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return strdup(text ? text : "");
}

/* A setting holds for a cell when its value is the same word or the same number. */
static bool has_setting(const json_t *params, const pbd_setting *setting) {
    const json_t *value = json_object_get(params, setting->key);
    char *end;
    const double number = strtod(setting->value, &end);
    if (json_is_string(value)) return strcmp(json_string_value(value), setting->value) == 0;
    return json_is_number(value) && end != setting->value && !*end && json_number_value(value) == number;
}

static bool fits(const char *params, const pbd_history_query *query) {
    json_t *object = json_loads(params, 0, NULL);
    bool all = true;
    for (size_t i = 0; i < query->settings; i++) all = all && has_setting(object, &query->setting[i]);
    json_decref(object);
    return all;
}

static pbd_status add_cell(cell_list *list, sqlite3_stmt *row) {
    cell_row *grown = realloc(list->item, (list->count + 1) * sizeof *grown);
    if (!grown) return no_memory();
    list->item = grown;
    cell_row *c = &grown[list->count++];
    *c = (cell_row){.cell_ids = column_text(row, 0),
                    .case_name = column_text(row, 1),
                    .method = column_text(row, 2),
                    .params = column_text(row, 3),
                    .backend = column_text(row, 4),
                    .precision = column_text(row, 5),
                    .threads = sqlite3_column_int(row, 6)};
    return c->cell_ids && c->case_name && c->method && c->params && c->backend && c->precision ? pbd_ok() : no_memory();
}

/* Cells that differ in the names of their parameters alone are one. With no limit they come from their own table; else
 * from the newest runs, by their index alone: a store of a million runs is not read through to find fifty cells. Only
 * where a parameter was renamed are the other cells of the case and method looked at too. */
#define CELL_TODAY "case_name, method, params_today(case_name, method, params) AS today, backend, precision, threads"
#define IS_ASKED "(?1 IS NULL OR case_name = ?1) AND (?2 IS NULL OR method = ?2)"
static const char all_cells[] =
    "SELECT json_group_array(cell_id), " CELL_TODAY " FROM cell WHERE " IS_ASKED
    " GROUP BY case_name, method, today, backend, precision, threads ORDER BY 2, 3, 4, min(cell_id)";
static const char newest_cells[] =
    "SELECT CASE WHEN has_renamed(case_name, method) THEN"
    "  (SELECT json_group_array(cell.cell_id) FROM cell WHERE (cell.case_name, cell.method, cell.backend,"
    "   cell.precision, cell.threads) = (found.case_name, found.method, found.backend, found.precision, found.threads)"
    "   AND params_today(cell.case_name, cell.method, cell.params) = today)"
    "  ELSE json_array(cell_id) END, case_name, method, today, backend, precision, threads"
    " FROM (SELECT cell_id, " CELL_TODAY
    ", max(newest) AS last FROM"
    "  (SELECT cell_id, max(started_at) AS newest FROM (SELECT cell_id, started_at FROM run INDEXED BY run_by_start"
    "   WHERE kind = 'run' ORDER BY started_at DESC LIMIT 20000) GROUP BY cell_id) JOIN cell USING (cell_id)"
    "  WHERE " IS_ASKED
    " GROUP BY case_name, method, today, backend, precision, threads"
    "  ORDER BY last DESC LIMIT ?3) AS found ORDER BY case_name, method, today, cell_id";

static pbd_status select_cells(sqlite3 *sql, const pbd_history_query *query, bool newest, cell_list *out) {
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(sql, newest ? newest_cells : all_cells, -1, &row, NULL) != SQLITE_OK) return sql_failed(sql);
    if (query->case_name) sqlite3_bind_text(row, 1, query->case_name, -1, SQLITE_STATIC);
    if (query->method) sqlite3_bind_text(row, 2, query->method, -1, SQLITE_STATIC);
    if (newest) sqlite3_bind_int64(row, 3, (sqlite3_int64)query->most_cells);
    pbd_status status = pbd_ok();
    int step = SQLITE_DONE;
    while (status.code == PBD_OK && (step = sqlite3_step(row)) == SQLITE_ROW)
        if (fits((const char *)sqlite3_column_text(row, 3), query)) status = add_cell(out, row);
    if (status.code == PBD_OK && step != SQLITE_DONE) status = sql_failed(sql);
    sqlite3_finalize(row);
    return status;
}

/* A case or method that was not run of late is looked for everywhere. */
static pbd_status find_cells(sqlite3 *sql, const pbd_history_query *query, cell_list *out) {
    if (query->most_cells > 0 && query->settings == 0) PBD_TRY(select_cells(sql, query, true, out));
    return out->count > 0 ? pbd_ok() : select_cells(sql, query, false, out);
}

/* ---- What tells cells apart -------------------------------------------------------------------------------------- */

static bool same_kind(const cell_row *a, const cell_row *b) {
    return strcmp(a->case_name, b->case_name) == 0 && strcmp(a->method, b->method) == 0;
}

static void write_value(FILE *out, const json_t *value) {
    if (json_is_string(value))
        fputs(json_string_value(value), out);
    else
        fprintf(out, "%.6g", json_number_value(value));
}

/* Cells of one case and method stand side by side: [from, to). */
static pbd_status name_group(cell_list *list, json_t **params, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        const char *key;
        const json_t *value;
        size_t bytes;
        FILE *out = open_memstream(&list->item[i].varies, &bytes);
        if (!out) return no_memory();
        json_object_foreach(params[i], key, value) {
            bool varies = false;
            for (size_t k = from; k < to && !varies; k++) varies = !json_equal(json_object_get(params[k], key), value);
            if (!varies) continue;
            fprintf(out, "%s%s=", ftell(out) > 0 ? " " : "", key);
            write_value(out, value);
        }
        if (fclose(out) != 0) return no_memory();
    }
    return pbd_ok();
}

static pbd_status name_cells(cell_list *list) {
    json_t **params = calloc(list->count + 1, sizeof(json_t *));
    if (!params) return no_memory();
    for (size_t i = 0; i < list->count; i++) params[i] = json_loads(list->item[i].params, 0, NULL);
    pbd_status status = pbd_ok();
    for (size_t from = 0, to; from < list->count && status.code == PBD_OK; from = to) {
        for (to = from + 1; to < list->count && same_kind(&list->item[from], &list->item[to]); to++) continue;
        status = name_group(list, params, from, to);
    }
    for (size_t i = 0; i < list->count; i++) json_decref(params[i]);
    free(params);
    return status;
}

/* ---- One cell's rows --------------------------------------------------------------------------------------------- */

/* Rows come by machine, metric, preset and build; of a build by value, so that its middle one is the median. A debug
 * build between two others is no step: presets have histories of their own. */
static const char cell_rows[] =
    "SELECT env_id, name, source, value, git_sha, dirty, started_at, unit, direction, preset FROM ("
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
    " WHERE value IS NOT NULL"
    " AND (?3 IS NULL OR env_id IN (SELECT e.env_id FROM env AS e WHERE substr(e.fingerprint, 1, length(?3)) = ?3))"
    " ORDER BY env_id, name, preset, source, value";

static void free_history(pbd_history *h) {
    char *owned[] = {h->cell_ids, h->case_name, h->method, h->params, h->backend, h->precision,
                     h->cpu,      h->metric,    h->unit,   h->varies, h->preset};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    free(h->point);
    pbd_steps_free(&h->steps);
}

void pbd_histories_free(pbd_histories *histories) {
    for (size_t i = 0; i < histories->count; i++) free_history(&histories->item[i]);
    free(histories->item);
    *histories = (pbd_histories){0};
}

static pbd_status begin_history(pbd_histories *out, const cell_row *cell, sqlite3_stmt *row) {
    pbd_history *grown = realloc(out->item, (out->count + 1) * sizeof *grown);
    if (!grown) return no_memory();
    out->item = grown;
    pbd_history *h = &grown[out->count++];
    *h = (pbd_history){.cell_ids = strdup(cell->cell_ids),
                       .case_name = strdup(cell->case_name),
                       .method = strdup(cell->method),
                       .params = strdup(cell->params),
                       .backend = strdup(cell->backend),
                       .precision = strdup(cell->precision),
                       .varies = strdup(cell->varies),
                       .metric = column_text(row, 1),
                       .unit = column_text(row, 7),
                       .preset = column_text(row, 9),
                       .threads = cell->threads};
    snprintf(h->machine, sizeof h->machine, "%s", (const char *)sqlite3_column_text(row, 0)); /* the key, for now */
    if (!h->cell_ids || !h->case_name || !h->method || !h->params || !h->backend || !h->precision || !h->varies ||
        !h->metric || !h->unit || !h->preset)
        return no_memory();
    h->kind = pbd_kind_read(NULL, h->metric, h->unit, (const char *)sqlite3_column_text(row, 8), false);
    return pbd_ok();
}

/* The values of the build that is being read. */
typedef struct build_values {
    double *value;
    size_t count, capacity;
} build_values;

static pbd_status begin_point(pbd_history *h, sqlite3_stmt *row) {
    pbd_history_point *grown = realloc(h->point, (h->points + 1) * sizeof *grown);
    if (!grown) return no_memory();
    h->point = grown;
    pbd_history_point *p = &grown[h->points++];
    *p = (pbd_history_point){.dirty = sqlite3_column_int(row, 5) != 0};
    snprintf(p->source, sizeof p->source, "%s", (const char *)sqlite3_column_text(row, 2));
    snprintf(p->git_sha, sizeof p->git_sha, "%s", (const char *)sqlite3_column_text(row, 4));
    snprintf(p->started_at, sizeof p->started_at, "%s", (const char *)sqlite3_column_text(row, 6));
    return pbd_ok();
}

static pbd_status add_value(pbd_history *h, build_values *values, sqlite3_stmt *row) {
    if (values->count == values->capacity) {
        const size_t capacity = values->capacity ? 2 * values->capacity : 64;
        double *grown = realloc(values->value, capacity * sizeof *grown);
        if (!grown) return no_memory();
        values->value = grown;
        values->capacity = capacity;
    }
    pbd_history_point *p = &h->point[h->points - 1];
    const char *started = (const char *)sqlite3_column_text(row, 6);
    if (strcmp(started, p->started_at) < 0) snprintf(p->started_at, sizeof p->started_at, "%s", started);
    values->value[values->count++] = sqlite3_column_double(row, 3);
    p->runs = values->count;
    p->value = 0.5 * (values->value[(values->count - 1) / 2] + values->value[values->count / 2]);
    return pbd_ok();
}

static pbd_status read_row(pbd_histories *out, size_t first, const cell_row *cell, build_values *values,
                           sqlite3_stmt *row) {
    pbd_history *h = out->count > first ? &out->item[out->count - 1] : NULL;
    if (!h || strcmp(h->machine, (const char *)sqlite3_column_text(row, 0)) != 0 ||
        strcmp(h->metric, (const char *)sqlite3_column_text(row, 1)) != 0 ||
        strcmp(h->preset, (const char *)sqlite3_column_text(row, 9)) != 0) {
        PBD_TRY(begin_history(out, cell, row));
        h = &out->item[out->count - 1];
    }
    if (h->points == 0 || strcmp(h->point[h->points - 1].source, (const char *)sqlite3_column_text(row, 2)) != 0) {
        PBD_TRY(begin_point(h, row));
        values->count = 0;
    }
    return add_value(h, values, row);
}

static pbd_status read_cell(sqlite3_stmt *row, const pbd_history_query *query, const cell_row *cell,
                            build_values *values, pbd_histories *out) {
    const size_t first = out->count;
    sqlite3_reset(row);
    sqlite3_bind_text(row, 1, cell->cell_ids, -1, SQLITE_STATIC);
    if (query->metric) sqlite3_bind_text(row, 2, query->metric, -1, SQLITE_STATIC);
    if (query->machine) sqlite3_bind_text(row, 3, query->machine, -1, SQLITE_STATIC);
    int step;
    while ((step = sqlite3_step(row)) == SQLITE_ROW) PBD_TRY(read_row(out, first, cell, values, row));
    return step == SQLITE_DONE ? pbd_ok() : sql_failed(sqlite3_db_handle(row));
}

/* ---- Finishing --------------------------------------------------------------------------------------------------- */

static int by_start(const void *left, const void *right) {
    const pbd_history_point *a = left, *b = right;
    const int order = strcmp(a->started_at, b->started_at);
    return order ? order : strcmp(a->source, b->source);
}

/* An error at the edge of what the precision can tell is no error: its changes say nothing. */
static bool is_rounding(const pbd_history *h, const pbd_step *step) {
    const double epsilon = strcmp(h->precision, "f32") == 0 ? FLT_EPSILON : DBL_EPSILON;
    return h->kind == PBD_ERROR && strcmp(h->unit, "1") == 0 &&
           fmax(fabs(step->before), fabs(step->after)) < 100 * epsilon;
}

static void drop_rounding(pbd_history *h) {
    size_t kept = 0;
    for (size_t i = 0; i < h->steps.count; i++)
        if (!is_rounding(h, &h->steps.step[i])) h->steps.step[kept++] = h->steps.step[i];
    h->steps.count = kept;
}

static pbd_status finish_history(sqlite3 *sql, const pbd_history_query *query, pbd_history *h) {
    sqlite3_stmt *machine = NULL;
    if (sqlite3_prepare_v2(sql, "SELECT fingerprint, cpu FROM env WHERE env_id = ?1", -1, &machine, NULL) != SQLITE_OK)
        return sql_failed(sql);
    sqlite3_bind_text(machine, 1, h->machine, -1, SQLITE_TRANSIENT);
    if (sqlite3_step(machine) == SQLITE_ROW) {
        snprintf(h->machine, sizeof h->machine, "%s", (const char *)sqlite3_column_text(machine, 0));
        h->cpu = column_text(machine, 1);
    }
    sqlite3_finalize(machine);
    if (!h->cpu && !(h->cpu = strdup(""))) return no_memory();
    qsort(h->point, h->points, sizeof *h->point, by_start);
    if (h->points > PBD_LONGEST_HISTORY) {
        const size_t left_out = h->points - PBD_LONGEST_HISTORY;
        memmove(h->point, h->point + left_out, PBD_LONGEST_HISTORY * sizeof *h->point);
        h->points = PBD_LONGEST_HISTORY;
    }
    double *x = malloc((h->points + 1) * sizeof *x);
    if (!x) return no_memory();
    bool finite = true;
    for (size_t i = 0; i < h->points; i++) finite = isfinite(x[i] = h->point[i].value) && finite;
    const pbd_status status = finite ? pbd_find_steps(x, h->points, query->seed, &h->steps) : pbd_ok();
    free(x);
    if (status.code == PBD_OK) drop_rounding(h);
    return status;
}

/* ---- Nothing found ----------------------------------------------------------------------------------------------- */

/* Fine when one of what `text` selects begins with the word's `digits`; else the sentence with the nearest of them. */
static pbd_status check_word(sqlite3 *sql, const char *text, const char *kind, const char *word, size_t digits,
                             const char *hint) {
    enum { MOST = 500 };
    char *names[MOST];
    size_t count = 0;
    bool known = false;
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(sql, text, -1, &row, NULL) != SQLITE_OK) return sql_failed(sql);
    while (count < MOST && sqlite3_step(row) == SQLITE_ROW) {
        names[count] = column_text(row, 0);
        if (!names[count]) continue;
        known = known || strncmp(names[count], word, digits) == 0;
        count++;
    }
    sqlite3_finalize(row);
    const pbd_status status = known ? pbd_ok() : pbd_unknown(kind, word, (const char *const *)names, count, hint);
    for (size_t i = 0; i < count; i++) free(names[i]);
    return status;
}

static pbd_status check_machine(sqlite3 *sql, const char *machine) {
    const size_t digits = strlen(machine);
    if (digits < 4 || digits > 32 || strspn(machine, "0123456789abcdef") != digits)
        return pbd_error(PBD_BAD_INPUT,
                         "'%.60s' is not a machine: give at least the first 4 digits of its fingerprint; `pbdbench "
                         "env` prints that of this machine",
                         machine);
    return check_word(sql, "SELECT DISTINCT fingerprint FROM env", "machine of the store", machine, digits,
                      "pbdbench history --json");
}

/* Names of the newest runs: a store of a million is not read through to find a slip. */
static pbd_status check_metric(sqlite3 *sql, const char *metric) {
    return check_word(sql,
                      "SELECT DISTINCT name FROM metric WHERE run_id IN (SELECT run_id FROM run INDEXED BY run_by_start"
                      " WHERE kind = 'run' ORDER BY started_at DESC LIMIT 2000)"
                      " UNION SELECT 'solve_cpu' UNION SELECT 'solve_wall'",
                      "metric", metric, strlen(metric) + 1, "pbdbench show RUN");
}

static pbd_status nothing_fits(sqlite3 *sql, const pbd_history_query *query) {
    if (query->metric) PBD_TRY(check_metric(sql, query->metric));
    return pbd_error(
        PBD_BAD_INPUT, "the store has no successful runs%s%s%s%s%s%s: `pbdbench list runs` shows what it has",
        query->case_name ? " of " : "", query->case_name ? query->case_name : "", query->method ? " by " : "",
        query->method ? query->method : "", query->metric ? " with metric " : "", query->metric ? query->metric : "");
}

static pbd_status read_cells(sqlite3 *sql, const pbd_history_query *query, const cell_list *cells, pbd_histories *out) {
    sqlite3_stmt *row = NULL;
    build_values values = {0};
    if (sqlite3_prepare_v2(sql, cell_rows, -1, &row, NULL) != SQLITE_OK) return sql_failed(sql);
    pbd_status status = pbd_ok();
    const size_t most = query->most_cells ? query->most_cells : SIZE_MAX;
    for (; out->cells < cells->count && out->cells < most && status.code == PBD_OK; out->cells++)
        status = read_cell(row, query, &cells->item[out->cells], &values, out);
    out->narrowed = out->cells < cells->count;
    sqlite3_finalize(row);
    free(values.value);
    for (size_t i = 0; i < out->count && status.code == PBD_OK; i++) status = finish_history(sql, query, &out->item[i]);
    return status;
}

pbd_status pbd_histories_load(pbd_store *store, const pbd_history_query *query, pbd_histories *out) {
    sqlite3 *sql = pbd_store_sql(store);
    cell_list cells = {0};
    *out = (pbd_histories){0};
    if (query->machine) PBD_TRY(check_machine(sql, query->machine));
    pbd_status status = find_cells(sql, query, &cells);
    if (status.code == PBD_OK) status = name_cells(&cells);
    if (status.code == PBD_OK) status = read_cells(sql, query, &cells, out);
    if (status.code == PBD_OK && out->count == 0) status = nothing_fits(sql, query);
    if (status.code == PBD_OK && query->most_cells && cells.count == query->most_cells) out->narrowed = true;
    free_cells(&cells);
    if (status.code != PBD_OK) pbd_histories_free(out);
    return status;
}

bool pbd_step_is_worse(const pbd_history *h, const pbd_step *step) {
    if (h->kind == PBD_STATE) return false;
    return (h->kind == PBD_QUALITY) == (step->after < step->before);
}
