#include "harness/query/run_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/nearest.h"
#include "harness/files/numbers.h"
#include "harness/files/texts.h"
#include "harness/store/rows.h"

/* ---- Names that are known ---------------------------------------------------------------------------------------- */

/* Adds names from the store, as copies, to those of the program, which point into its tables. */
static pbd_status add_names(pbd_store *store, const char *sql, pbd_arena *memory, pbd_texts *names) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    PBD_TRY(pbd_store_row(store, sql, NULL, 0, "reading names", &row, &stmt));
    while (row) {
        const char *name = pbd_new_text(memory, pbd_column_text(stmt, 0));
        PBD_TRY(pbd_arena_check(memory));
        PBD_TRY(pbd_texts_add(names, name));
        PBD_TRY(pbd_store_step(store, stmt, &row, "reading names"));
    }
    return pbd_ok();
}

static pbd_status check_name(const pbd_texts *names, const char *kind, const char *word, const char *hint) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->item[i], word) == 0) return pbd_ok();
    return pbd_unknown(kind, word, names->item, names->count, hint);
}

/* A case of this program is valid even if the store has no run of it: then the list is empty. */
static pbd_status check_case(pbd_store *store, const char *word) {
    pbd_arena a PBD_ARENA;
    pbd_texts names PBD_CLEANUP(pbd_texts_free) = {0};
    for (size_t i = 0; i < pbd_case_count(); i++) PBD_TRY(pbd_texts_add(&names, pbd_case_at(i)->name));
    PBD_TRY(add_names(store, "SELECT name FROM \"case\"", &a, &names));
    return check_name(&names, "case", word, "pbdbench list cases");
}

static pbd_status check_method(pbd_store *store, const char *word) {
    pbd_arena a PBD_ARENA;
    pbd_texts names PBD_CLEANUP(pbd_texts_free) = {0};
    for (size_t i = 0; i < pbd_method_count(); i++)
        PBD_TRY(pbd_texts_add(&names, pbd_method_at(i)->by_precision[PBD_PRECISION_F64]->name));
    PBD_TRY(add_names(store, "SELECT name FROM method", &a, &names));
    return check_name(&names, "method", word, "pbdbench list methods");
}

static pbd_status check_state(const char *word) {
    static const char *const states[] = {PBD_RUN_STATE_NAMES};
    enum { STATES = sizeof states / sizeof *states };
    for (size_t i = 0; i < STATES; i++)
        if (strcmp(states[i], word) == 0) return pbd_ok();
    return pbd_unknown("state of a run", word, states, STATES, "pbdbench list --help");
}

static pbd_status check_parameters(pbd_store *store, const pbd_run_query *query) {
    pbd_arena a PBD_ARENA;
    pbd_texts names PBD_CLEANUP(pbd_texts_free) = {0};
    PBD_TRY(add_names(store,
                      "SELECT DISTINCT key FROM cell, json_each(params_today(case_name, method, params)) ORDER BY key",
                      &a, &names));
    for (size_t i = 0; i < query->settings; i++)
        PBD_TRY(check_name(&names, "parameter of stored runs", query->setting[i].key, "pbdbench show RUN"));
    return pbd_ok();
}

/* ---- The query --------------------------------------------------------------------------------------------------- */

static const char *and_where(size_t written) { return written ? " AND " : " WHERE "; }

/* Writes the conditions on the run's own row. All are on columns of the index run_by_start. */
static size_t write_run_conditions(sqlite3_str *sql, const pbd_run_query *q) {
    size_t written = 0;
    if (q->kind) sqlite3_str_appendf(sql, "%skind = %Q", and_where(written++), q->kind);
    if (q->state) sqlite3_str_appendf(sql, "%sstate = %Q", and_where(written++), q->state);
    return written;
}

/* Writes the conditions on the run's cell. There are far fewer cells than runs. */
static void write_cell_conditions(sqlite3_str *sql, const pbd_run_query *q) {
    size_t written = 0;
    sqlite3_str_appendall(sql, "+cell_id IN (SELECT cell_id FROM cell");
    if (q->case_name) sqlite3_str_appendf(sql, "%scase_name = %Q", and_where(written++), q->case_name);
    if (q->method) sqlite3_str_appendf(sql, "%smethod = %Q", and_where(written++), q->method);
    for (size_t i = 0; i < q->settings; i++)
        sqlite3_str_appendf(sql,
                            "%sEXISTS (SELECT 1 FROM json_each(params_today(case_name, method, params)) AS p"
                            " WHERE p.key = %Q AND p.value = ?%d)",
                            and_where(written++), q->setting[i].key, (int)i + 1);
    sqlite3_str_appendall(sql, ")");
}

/* Forces one pass over the index of starts, which holds all columns needed. SQLite's own plan reads the runs of the
 * cells one by one and sorts them: 4 s if a million runs share a case, against at most 0.5 s. */
static char *compose(const pbd_run_query *q) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "SELECT run_id FROM run INDEXED BY run_by_start");
    const size_t written = write_run_conditions(sql, q);
    if (q->case_name || q->method || q->settings > 0) {
        sqlite3_str_appendall(sql, and_where(written));
        write_cell_conditions(sql, q);
    }
    if (q->last > 0)
        sqlite3_str_appendf(sql, " ORDER BY started_at DESC, run_id DESC LIMIT %llu", (unsigned long long)q->last);
    else
        sqlite3_str_appendall(sql, " ORDER BY started_at, run_id");
    return sqlite3_str_finish(sql);
}

/* A value that is a number is compared as a number: 1e3 finds 1000. */
static bool bind_settings(sqlite3_stmt *stmt, const pbd_run_query *q) {
    for (size_t i = 0; i < q->settings; i++) {
        const char *text = q->setting[i].value;
        char *end = NULL;
        const double number = pbd_decimal(text, &end);
        const bool is_number = end != text && *end == '\0';
        const int code = is_number ? sqlite3_bind_double(stmt, (int)i + 1, number)
                                   : sqlite3_bind_text(stmt, (int)i + 1, text, -1, SQLITE_STATIC);
        if (code != SQLITE_OK) return false;
    }
    return true;
}

static pbd_status append_id(pbd_run_ids *ids, size_t *capacity, const char *id) {
    if (ids->count == *capacity) {
        const size_t wanted = *capacity ? 2 * *capacity : 64;
        const char **grown = realloc((void *)(uintptr_t)ids->id, wanted * sizeof *grown);
        if (!grown) return pbd_error(PBD_FAILED, "out of memory for a list of %zu runs", wanted);
        ids->id = grown;
        *capacity = wanted;
    }
    if ((ids->id[ids->count] = strdup(id)) == NULL)
        return pbd_error(PBD_FAILED, "out of memory for a list of %zu runs", ids->count + 1);
    ids->count++;
    return pbd_ok();
}

static void free_sql(char **sql) { sqlite3_free(*sql); }

static pbd_status select_ids(pbd_store *store, const pbd_run_query *q, pbd_run_ids *out) {
    char *sql PBD_CLEANUP(free_sql) = compose(q);
    if (!sql) return pbd_store_no_memory(store);
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    size_t capacity = 0;
    bool row;
    PBD_TRY(pbd_store_prepare(store, sql, NULL, 0, &stmt));
    if (!bind_settings(stmt, q)) return pbd_store_fault(store, "looking for runs");
    PBD_TRY(pbd_store_step(store, stmt, &row, "looking for runs"));
    while (row) {
        PBD_TRY(append_id(out, &capacity, pbd_column_text(stmt, 0)));
        PBD_TRY(pbd_store_step(store, stmt, &row, "looking for runs"));
    }
    return pbd_ok();
}

/* Names are checked only if no run was found: an unknown name is the likely reason. */
static pbd_status select_or_explain(pbd_store *store, const pbd_run_query *query, pbd_run_ids *out) {
    PBD_TRY(select_ids(store, query, out));
    if (out->count > 0) return pbd_ok();
    if (query->case_name) PBD_TRY(check_case(store, query->case_name));
    if (query->method) PBD_TRY(check_method(store, query->method));
    return query->settings > 0 ? check_parameters(store, query) : pbd_ok();
}

pbd_status pbd_run_ids_select(pbd_store *store, const pbd_run_query *query, pbd_run_ids *out) {
    *out = (pbd_run_ids){0};
    if (query->state) PBD_TRY(check_state(query->state));
    const pbd_status status = select_or_explain(store, query, out);
    if (status.code != PBD_OK) pbd_run_ids_free(out);
    return status;
}

void pbd_run_ids_free(pbd_run_ids *ids) {
    for (size_t i = 0; i < ids->count; i++) free((void *)(uintptr_t)ids->id[i]);
    free((void *)(uintptr_t)ids->id);
    *ids = (pbd_run_ids){0};
}
