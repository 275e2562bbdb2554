/* `db check`: checks the file's integrity, its layout, and that no run was changed after it was stored. */
#include <stdio.h>
#include <string.h>

#include "harness/store/rows.h"
#include "schema_sql.h"

typedef struct checking {
    pbd_store *store;
    FILE *out;
    size_t problems;
} checking;

static void tell(checking *c, const char *what, const char *which, const char *says) {
    fprintf(c->out, "%s%s%s: %s\n", what, which[0] != '\0' ? " " : "", which, says);
    c->problems++;
}

static pbd_status tell_page(void *context, sqlite3_stmt *row) {
    if (strcmp(pbd_column_text(row, 0), "ok") != 0) tell(context, "file", "", pbd_column_text(row, 0));
    return pbd_ok();
}

static pbd_status tell_link(void *context, sqlite3_stmt *row) {
    char says[160];
    snprintf(says, sizeof says, "a row refers to a missing row of %.64s", pbd_column_text(row, 2));
    tell(context, "table", pbd_column_text(row, 0), says);
    return pbd_ok();
}

/* Pages, indices, constraints and foreign keys, as SQLite checks them. */
static void check_file(checking *c) {
    pbd_status status = pbd_store_each(c->store, "PRAGMA integrity_check", "checking its pages", tell_page, c);
    if (status.code != PBD_OK) tell(c, "file", "", status.text);
    status = pbd_store_each(c->store, "PRAGMA foreign_key_check", "checking its links", tell_link, c);
    if (status.code != PBD_OK) tell(c, "links", "", status.text);
}

/* Compares one table, view, index or trigger of the schema with the store's, by a query for its name. */
static pbd_status check_definition(checking *c, sqlite3_stmt *query, const char *name, const char *sql) {
    bool row;
    sqlite3_reset(query);
    if (sqlite3_bind_text(query, 1, name, -1, SQLITE_TRANSIENT) != SQLITE_OK) return pbd_store_no_memory(c->store);
    PBD_TRY(pbd_store_step(c->store, query, &row, "checking its layout"));
    if (!row && strcmp(name, "about") == 0) return pbd_ok(); /* a store of version 1 */
    if (!row)
        tell(c, "layout", name, "is missing");
    else if (strcmp(pbd_column_text(query, 0), sql) != 0)
        tell(c, "layout", name, "was changed");
    return pbd_ok();
}

/* A new store in memory, with the schema as it should be. It is kept, since making it takes as long as checking a small
 * store. NULL: no memory. */
static sqlite3 *fresh_layout(void) {
    static sqlite3 *fresh;
    if (fresh != NULL) return fresh;
    if (sqlite3_open(":memory:", &fresh) != SQLITE_OK ||
        sqlite3_exec(fresh, pbd_schema_sql, NULL, NULL, NULL) != SQLITE_OK) {
        sqlite3_close(fresh);
        fresh = NULL;
    }
    return fresh;
}

/* Compares the schema, also its triggers, without which runs could be changed. */
static pbd_status check_layout(checking *c) {
    sqlite3 *fresh = fresh_layout();
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL, *query PBD_CLEANUP(pbd_statement_release) = NULL;
    if (fresh == NULL ||
        sqlite3_prepare_v2(fresh, "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name", -1, &stmt,
                           NULL) != SQLITE_OK)
        return pbd_store_no_memory(c->store);
    PBD_TRY(pbd_store_prepare(c->store, "SELECT " PBD_SQL_LAYOUT_NOW " FROM sqlite_schema WHERE name = ?1", NULL, 0,
                              &query));
    while (sqlite3_step(stmt) == SQLITE_ROW)
        PBD_TRY(check_definition(c, query, pbd_column_text(stmt, 0), pbd_column_text(stmt, 1)));
    return pbd_ok();
}

static pbd_status check_run(void *context, sqlite3_stmt *row) {
    checking *c = context;
    json_auto_t *record = NULL;
    const char *run_id = pbd_column_text(row, 0);
    pbd_status status = pbd_record_load(c->store, run_id, &record);
    if (status.code == PBD_OK) status = pbd_record_verify(record, NULL);
    if (status.code != PBD_OK) tell(c, "run", run_id, status.text);
    return pbd_ok();
}

static pbd_status check_comparison(void *context, sqlite3_stmt *row) {
    checking *c = context;
    json_auto_t *record = NULL;
    const char *comparison_id = pbd_column_text(row, 0);
    pbd_status status = pbd_comparison_load(c->store, comparison_id, &record);
    if (status.code == PBD_OK) status = pbd_comparison_verify(record);
    if (status.code != PBD_OK) tell(c, "comparison", comparison_id, status.text);
    return pbd_ok();
}

static pbd_status tell_places(void *context, sqlite3_stmt *row) {
    char says[160];
    snprintf(says, sizeof says, "the rows of '%.60s' are not at positions 0, 1, ...", pbd_column_text(row, 1));
    tell(context, "table", pbd_column_text(row, 0), says);
    return pbd_ok();
}

/* Hashes cover the order of rows, but not the position numbers that define it. */
static pbd_status check_places(checking *c) {
    static const char *const children[][2] = {{"env_sample", "run_id"}, {"metric", "run_id"},
                                              {"series", "run_id"},     {"phase", "run_id"},
                                              {"warning", "run_id"},    {"comparison_pair", "comparison_id"}};
    for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
        char sql[240];
        snprintf(sql, sizeof sql,
                 "SELECT '%s', %s FROM %s GROUP BY 2"
                 " HAVING min(position) <> 0 OR max(position) <> count(*) - 1 OR count(DISTINCT position) <> count(*)",
                 children[i][0], children[i][1], children[i][0]);
        PBD_TRY(pbd_store_each(c->store, sql, "checking positions", tell_places, c));
    }
    return pbd_ok();
}

static void tell_about(void *context, const char *kind, const char *name) {
    tell(context, kind, name, "its summary or source was changed after it was stored");
}

static pbd_status check_records(checking *c) {
    PBD_TRY(check_layout(c));
    PBD_TRY(check_places(c));
    PBD_TRY(pbd_about_check(c->store, tell_about, c));
    PBD_TRY(pbd_store_each_run(c->store, check_run, c));
    return pbd_store_each_comparison(c->store, check_comparison, c);
}

pbd_status pbd_store_check(pbd_store *store, void *out, size_t *problems) {
    checking c = {.store = store, .out = out};
    check_file(&c);
    pbd_status status = check_records(&c);
    /* An unreadable page has been reported above: the check is done and has failed. */
    if (status.code == PBD_BAD_INPUT && c.problems > 0) status = pbd_ok();
    *problems = c.problems;
    return status;
}
