/* `db check`: is the file sound, is its layout ours, and does every run still say what was stored? */
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

static const char *column(sqlite3_stmt *stmt, int at) {
    const char *text = (const char *)sqlite3_column_text(stmt, at);
    return text != NULL ? text : "";
}

/* SQLite's own look at pages, indices and constraints. */
static void check_pages(checking *c) {
    sqlite3_stmt *stmt;
    bool row = true;
    pbd_status status = pbd_store_prepare(c->store, "PRAGMA integrity_check", NULL, 0, &stmt);
    while (status.code == PBD_OK && row) {
        status = pbd_store_step(c->store, stmt, &row, "checking its pages");
        if (status.code == PBD_OK && row && strcmp(column(stmt, 0), "ok") != 0) tell(c, "file", "", column(stmt, 0));
    }
    if (status.code != PBD_OK) tell(c, "file", "", status.text);
    sqlite3_finalize(stmt);
}

static void check_links(checking *c) {
    sqlite3_stmt *stmt;
    bool row = true;
    pbd_status status = pbd_store_prepare(c->store, "PRAGMA foreign_key_check", NULL, 0, &stmt);
    while (status.code == PBD_OK && row) {
        status = pbd_store_step(c->store, stmt, &row, "checking its links");
        if (status.code == PBD_OK && row) {
            char says[160];
            snprintf(says, sizeof says, "a row refers to a missing row of %.64s", column(stmt, 2));
            tell(c, "table", column(stmt, 0), says);
        }
    }
    if (status.code != PBD_OK) tell(c, "links", "", status.text);
    sqlite3_finalize(stmt);
}

/* Compares one table, view, index or trigger of the schema with the store's. */
static pbd_status check_definition(checking *c, const char *name, const char *sql) {
    sqlite3_stmt *stmt;
    bool row = false;
    pbd_status status = pbd_store_prepare(c->store, "SELECT sql FROM sqlite_schema WHERE name = ?1", &name, 1, &stmt);
    if (status.code == PBD_OK) status = pbd_store_step(c->store, stmt, &row, "checking its layout");
    if (status.code == PBD_OK && !row) tell(c, "layout", name, "is missing");
    if (status.code == PBD_OK && row && strcmp(column(stmt, 0), sql) != 0) tell(c, "layout", name, "was changed");
    sqlite3_finalize(stmt);
    return status;
}

/* The schema as it should be is read from a new one in memory. A trigger that is gone lets runs be changed. */
static pbd_status check_layout(checking *c) {
    sqlite3 *fresh = NULL;
    sqlite3_stmt *stmt = NULL;
    pbd_status status = pbd_ok();
    if (sqlite3_open(":memory:", &fresh) != SQLITE_OK ||
        sqlite3_exec(fresh, pbd_schema_sql, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(fresh, "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name", -1, &stmt,
                           NULL) != SQLITE_OK)
        status = pbd_store_no_memory(c->store);
    while (status.code == PBD_OK && sqlite3_step(stmt) == SQLITE_ROW)
        status = check_definition(c, column(stmt, 0), column(stmt, 1));
    sqlite3_finalize(stmt);
    sqlite3_close(fresh);
    return status;
}

static void check_run(checking *c, const char *run_id) {
    json_t *record = NULL;
    pbd_status status = pbd_record_load(c->store, run_id, &record);
    if (status.code == PBD_OK) status = pbd_record_verify(record, NULL);
    if (status.code != PBD_OK) tell(c, "run", run_id, status.text);
    json_decref(record);
}

static void check_comparison(checking *c, const char *comparison_id) {
    json_t *record = NULL;
    pbd_status status = pbd_comparison_load(c->store, comparison_id, &record);
    if (status.code == PBD_OK) status = pbd_comparison_verify(record);
    if (status.code != PBD_OK) tell(c, "comparison", comparison_id, status.text);
    json_decref(record);
}

static pbd_status check_each(checking *c, const char *ids, void (*check)(checking *c, const char *id)) {
    sqlite3_stmt *stmt;
    bool row = true;
    pbd_status status = pbd_store_prepare(c->store, ids, NULL, 0, &stmt);
    while (status.code == PBD_OK && row) {
        status = pbd_store_step(c->store, stmt, &row, "reading its runs");
        if (status.code == PBD_OK && row) check(c, column(stmt, 0));
    }
    sqlite3_finalize(stmt);
    return status;
}

pbd_status pbd_store_check(pbd_store *store, void *out, size_t *problems) {
    checking c = {store, out, 0};
    check_pages(&c);
    check_links(&c);
    pbd_status status = check_layout(&c);
    if (status.code == PBD_OK) status = check_each(&c, "SELECT run_id FROM run ORDER BY run_id", check_run);
    if (status.code == PBD_OK)
        status = check_each(&c, "SELECT comparison_id FROM comparison ORDER BY comparison_id", check_comparison);
    /* An unreadable page has been reported above: the check is done and has failed. */
    if (status.code == PBD_BAD_INPUT && c.problems > 0) status = pbd_ok();
    *problems = c.problems;
    return status;
}
