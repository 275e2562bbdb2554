/* Which stored runs, quickly among a million of them. */
#include "harness/query/run_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/nearest.h"

static const pbd_status out_of_memory = {PBD_FAILED, "out of memory for a list of runs"};

/* ---- Names that are known ---------------------------------------------------------------------------------------- */

typedef struct name_list {
    char **name;
    size_t count;
} name_list;

static void free_names(name_list *names) {
    for (size_t i = 0; i < names->count; i++) free(names->name[i]);
    free(names->name);
}

static bool add_name(name_list *names, const char *name) {
    char **grown = realloc(names->name, (names->count + 1) * sizeof *grown);
    if (!grown) return false;
    names->name = grown;
    if ((grown[names->count] = strdup(name)) == NULL) return false;
    names->count++;
    return true;
}

static bool has_name(const name_list *names, const char *name) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->name[i], name) == 0) return true;
    return false;
}

static pbd_status refuse(const pbd_store *store, const char *doing) {
    return pbd_error(PBD_BAD_INPUT, "the store '%s' refuses while %s: %s", pbd_store_path(store), doing,
                     sqlite3_errmsg(pbd_store_sql((pbd_store *)(uintptr_t)store)));
}

static pbd_status add_stored_names(pbd_store *store, const char *sql, name_list *names) {
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(pbd_store_sql(store), sql, -1, &stmt, NULL) != SQLITE_OK)
        return refuse(store, "reading names");
    pbd_status status = pbd_ok();
    int code;
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW && status.code == PBD_OK)
        if (!add_name(names, (const char *)sqlite3_column_text(stmt, 0))) status = out_of_memory;
    if (status.code == PBD_OK && code != SQLITE_DONE) status = refuse(store, "reading names");
    sqlite3_finalize(stmt);
    return status;
}

static pbd_status check_name(const name_list *names, const char *kind, const char *word, const char *hint) {
    return has_name(names, word) ? pbd_ok()
                                 : pbd_unknown(kind, word, (const char *const *)names->name, names->count, hint);
}

/* A case that this program has, but no run of it, is no slip of the pen: nothing is found, and that is the answer. */
static pbd_status check_case(pbd_store *store, const char *word) {
    name_list names = {0};
    pbd_status status = pbd_ok();
    for (size_t i = 0; i < pbd_case_count() && status.code == PBD_OK; i++)
        if (!add_name(&names, pbd_case_at(i)->name)) status = out_of_memory;
    if (status.code == PBD_OK) status = add_stored_names(store, "SELECT name FROM \"case\"", &names);
    if (status.code == PBD_OK) status = check_name(&names, "case", word, "pbdbench list cases");
    free_names(&names);
    return status;
}

static pbd_status check_method(pbd_store *store, const char *word) {
    name_list names = {0};
    pbd_status status = pbd_ok();
    for (size_t i = 0; i < pbd_method_count() && status.code == PBD_OK; i++)
        if (!add_name(&names, pbd_method_at(i)->by_precision[PBD_PRECISION_F64]->name)) status = out_of_memory;
    if (status.code == PBD_OK) status = add_stored_names(store, "SELECT name FROM method", &names);
    if (status.code == PBD_OK) status = check_name(&names, "method", word, "pbdbench list methods");
    free_names(&names);
    return status;
}

static pbd_status check_state(const char *word) {
    static const char *const states[] = {"ok", "diverged", "no_equilibrium", "not_settled", "failed", "interrupted"};
    enum { STATES = sizeof states / sizeof *states };
    for (size_t i = 0; i < STATES; i++)
        if (strcmp(states[i], word) == 0) return pbd_ok();
    return pbd_unknown("state of a run", word, states, STATES, "pbdbench list --help");
}

static pbd_status check_parameters(pbd_store *store, const pbd_run_query *query) {
    name_list names = {0};
    pbd_status status = add_stored_names(
        store, "SELECT DISTINCT key FROM cell, json_each(params_today(case_name, method, params)) ORDER BY key",
        &names);
    for (size_t i = 0; i < query->settings && status.code == PBD_OK; i++)
        status = check_name(&names, "parameter of stored runs", query->setting[i].key, "pbdbench show RUN");
    free_names(&names);
    return status;
}

/* ---- The query --------------------------------------------------------------------------------------------------- */

static const char *and_where(size_t written) { return written ? " AND " : " WHERE "; }

/* The conditions on the run's own row, all of them columns of the index run_by_start. */
static size_t write_run_conditions(sqlite3_str *sql, const pbd_run_query *q) {
    size_t written = 0;
    if (q->kind) sqlite3_str_appendf(sql, "%skind = %Q", and_where(written++), q->kind);
    if (q->state) sqlite3_str_appendf(sql, "%sstate = %Q", and_where(written++), q->state);
    return written;
}

/* Those on its cell. There are far fewer cells than runs. */
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

/* One walk through the index of starts, which holds all that is asked for. SQLite would rather take the cells' runs one
 * by one and sort them, which takes 4 s where a million runs share a case, and this at most 0.5 s. */
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

/* What is spelt like a number is compared as one: 1e3 finds 1000. */
static bool bind_settings(sqlite3_stmt *stmt, const pbd_run_query *q) {
    for (size_t i = 0; i < q->settings; i++) {
        const char *text = q->setting[i].value;
        char *end = NULL;
        const double number = strtod(text, &end);
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
        if (!grown) return out_of_memory;
        ids->id = grown;
        *capacity = wanted;
    }
    char *copy = strdup(id);
    if (!copy) return out_of_memory;
    ids->id[ids->count++] = copy;
    return pbd_ok();
}

static pbd_status select_ids(pbd_store *store, const pbd_run_query *q, pbd_run_ids *out) {
    char *sql = compose(q);
    if (!sql) return out_of_memory;
    sqlite3_stmt *stmt = NULL;
    size_t capacity = 0;
    pbd_status status = pbd_ok();
    if (sqlite3_prepare_v2(pbd_store_sql(store), sql, -1, &stmt, NULL) != SQLITE_OK || !bind_settings(stmt, q))
        status = refuse(store, "looking for runs");
    int code = SQLITE_DONE;
    while (status.code == PBD_OK && (code = sqlite3_step(stmt)) == SQLITE_ROW)
        status = append_id(out, &capacity, (const char *)sqlite3_column_text(stmt, 0));
    if (status.code == PBD_OK && code != SQLITE_DONE) status = refuse(store, "looking for runs");
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return status;
}

/* Names are looked at only where nothing was found: then they are why. */
pbd_status pbd_run_ids_select(pbd_store *store, const pbd_run_query *query, pbd_run_ids *out) {
    *out = (pbd_run_ids){0};
    if (query->state) PBD_TRY(check_state(query->state));
    pbd_status status = select_ids(store, query, out);
    if (status.code == PBD_OK && out->count == 0) {
        if (query->case_name) status = check_case(store, query->case_name);
        if (status.code == PBD_OK && query->method) status = check_method(store, query->method);
        if (status.code == PBD_OK && query->settings > 0) status = check_parameters(store, query);
    }
    if (status.code != PBD_OK) pbd_run_ids_free(out);
    return status;
}

void pbd_run_ids_free(pbd_run_ids *ids) {
    for (size_t i = 0; i < ids->count; i++) free((void *)(uintptr_t)ids->id[i]);
    free((void *)(uintptr_t)ids->id);
    *ids = (pbd_run_ids){0};
}
