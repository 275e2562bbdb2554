/* Statements, transactions, and a sentence for each way in which SQLite fails. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/catalog/renamed.h"
#include "harness/store/rows.h"

/* A quota or a limit on file sizes is a full disk to the user; SQLite reports only ENOSPC as one. */
static bool is_full(int code, int system_errno) {
    if ((code & 0xff) == SQLITE_FULL) return true;
    return (code & 0xff) == SQLITE_IOERR && (system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG);
}

pbd_status pbd_store_corrupt(const pbd_store *store, const char *says) {
    return pbd_error(PBD_BAD_INPUT,
                     "the store '%s' is corrupt (%s): keep a copy; `sqlite3 FILE .recover` rescues what can be read; "
                     "choose another file with --db",
                     store->path, says);
}

pbd_status pbd_store_fault(const pbd_store *store, const char *doing) {
    const int last_errno = errno; /* SQLite does not keep the system's error code of a failed COMMIT */
    const int code = sqlite3_extended_errcode(store->db);
    const int known_errno = sqlite3_system_errno(store->db);
    const int system_errno = known_errno != 0 ? known_errno : last_errno;
    const char *path = store->path;
    char says[240];
    if (is_full(code, system_errno)) {
        return pbd_error(PBD_BAD_INPUT,
                         "no room left on the disk of the store '%s' while %s: finished runs are safe; free some space "
                         "or choose another file with --db, and start again",
                         path, doing);
    }
    switch (code & 0xff) {
        case SQLITE_NOTADB:
        case SQLITE_CORRUPT:
            snprintf(says, sizeof says, "%s, while %s", sqlite3_errmsg(store->db), doing);
            return pbd_store_corrupt(store, says);
        case SQLITE_READONLY:
        case SQLITE_PERM:
            return pbd_error(PBD_BAD_INPUT,
                             "the store '%s' is read-only (while %s): make the file and its folder writable, or choose "
                             "another file with --db",
                             path, doing);
        case SQLITE_CANTOPEN:
            return pbd_error(PBD_BAD_INPUT,
                             "the store '%s' cannot be opened (%s, while %s): check the permissions of its folder",
                             path, system_errno != 0 ? strerror(system_errno) : sqlite3_errmsg(store->db), doing);
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return pbd_error(PBD_BAD_INPUT,
                             "another program holds the store '%s' (while %s): wait until it ends, then start again",
                             path, doing);
        case SQLITE_NOMEM:
            return pbd_store_no_memory(store);
        case SQLITE_IOERR:
            return pbd_error(PBD_BAD_INPUT, "the disk of the store '%s' fails while %s: %s (%s)", path, doing,
                             sqlite3_errmsg(store->db), strerror(system_errno));
        default:
            return pbd_error(PBD_BAD_INPUT, "the store '%s' refuses while %s: %s", path, doing,
                             sqlite3_errmsg(store->db));
    }
}

pbd_status pbd_store_no_memory(const pbd_store *store) {
    return pbd_error(PBD_FAILED, "out of memory while working on the store '%s'", store->path);
}

pbd_status pbd_store_exec(const pbd_store *store, const char *sql, const char *doing) {
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK) return pbd_store_fault(store, doing);
    return pbd_ok();
}

pbd_status pbd_store_prepare(const pbd_store *store, const char *sql, const char *const *text, size_t texts,
                             sqlite3_stmt **out) {
    *out = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, out, NULL) != SQLITE_OK) return pbd_store_fault(store, "reading");
    for (size_t i = 0; i < texts; i++) {
        if (sqlite3_bind_text(*out, (int)i + 1, text[i], -1, SQLITE_TRANSIENT) != SQLITE_OK)
            return pbd_store_fault(store, "reading");
    }
    return pbd_ok();
}

pbd_status pbd_store_step(const pbd_store *store, sqlite3_stmt *stmt, bool *row, const char *doing) {
    const int code = sqlite3_step(stmt);
    *row = code == SQLITE_ROW;
    return *row || code == SQLITE_DONE ? pbd_ok() : pbd_store_fault(store, doing);
}

pbd_status pbd_store_row(const pbd_store *store, const char *sql, const char *const *text, size_t texts,
                         const char *doing, bool *row, sqlite3_stmt **out) {
    PBD_TRY(pbd_store_prepare(store, sql, text, texts, out));
    return pbd_store_step(store, *out, row, doing);
}

pbd_status pbd_store_each(const pbd_store *store, const char *sql, const char *doing, pbd_row_visitor visit,
                          void *context) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    PBD_TRY(pbd_store_row(store, sql, NULL, 0, doing, &row, &stmt));
    while (row) {
        PBD_TRY(visit(context, stmt));
        PBD_TRY(pbd_store_step(store, stmt, &row, doing));
    }
    return pbd_ok();
}

/* Damaged pages that refer to each other can repeat rows practically for ever: ids then no longer ascend. */
static pbd_status each_id(const pbd_store *store, const char *sql, pbd_row_visitor visit, void *context) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    char last[33] = ""; /* an id has 32 characters */
    bool row;
    PBD_TRY(pbd_store_row(store, sql, NULL, 0, "reading its runs", &row, &stmt));
    while (row) {
        if (strncmp(pbd_column_text(stmt, 0), last, sizeof last - 1) <= 0)
            return pbd_store_corrupt(store, "its runs are out of order");
        snprintf(last, sizeof last, "%s", pbd_column_text(stmt, 0));
        PBD_TRY(visit(context, stmt));
        PBD_TRY(pbd_store_step(store, stmt, &row, "reading its runs"));
    }
    return pbd_ok();
}

pbd_status pbd_store_each_run(const pbd_store *store, pbd_row_visitor visit, void *context) {
    return each_id(store, "SELECT run_id FROM run ORDER BY run_id", visit, context);
}

pbd_status pbd_store_each_comparison(const pbd_store *store, pbd_row_visitor visit, void *context) {
    return each_id(store, "SELECT comparison_id FROM comparison ORDER BY comparison_id", visit, context);
}

const char *pbd_column_text(sqlite3_stmt *stmt, int at) {
    const char *text = (const char *)sqlite3_column_text(stmt, at);
    return text != NULL ? text : "";
}

pbd_status pbd_store_start(pbd_store *store, const char *doing) {
    if (store->mode != PBD_STORE_WRITE)
        return pbd_error(PBD_BAD_INPUT, "the store '%s' was opened for reading only", store->path);
    if (!sqlite3_get_autocommit(store->db)) {
        store->within++;
        return pbd_ok();
    }
    pbd_store_forget_written(store->kept);
    return pbd_store_exec(store, "BEGIN IMMEDIATE", doing);
}

pbd_status pbd_store_end(pbd_store *store, pbd_status so_far, const char *doing) {
    if (store->within > 0) {
        store->within--;
        return so_far;
    }
    if (so_far.code == PBD_OK) so_far = pbd_store_exec(store, "COMMIT", doing);
    /* A full disk may have rolled back already; then there is nothing left to undo. */
    if (so_far.code != PBD_OK && !sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return so_far;
}

void pbd_store_now(char out[32]) {
    struct timespec now;
    struct tm utc;
    char seconds[24];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, 32, "%s.%03dZ", seconds, (int)(now.tv_nsec / 1000000));
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static const char *value_text(sqlite3_value *value) {
    const char *text = (const char *)sqlite3_value_text(value);
    return text != NULL ? text : "";
}

static void params_today(sqlite3_context *context, int count, sqlite3_value **argument) {
    (void)count;
    const char *case_name = value_text(argument[0]), *method = value_text(argument[1]);
    if (!pbd_has_renamed(case_name, method)) {
        sqlite3_result_value(context, argument[2]);
        return;
    }
    char *text = pbd_params_today(case_name, method, value_text(argument[2]));
    if (text != NULL)
        sqlite3_result_text(context, text, -1, free);
    else
        sqlite3_result_error_nomem(context);
}

static void has_renamed(sqlite3_context *context, int count, sqlite3_value **argument) {
    (void)count;
    sqlite3_result_int(context, pbd_has_renamed(value_text(argument[0]), value_text(argument[1])));
}

pbd_status pbd_store_functions(const pbd_store *store) {
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    sqlite3 *db = store->db;
    if (sqlite3_create_function(db, "params_today", 3, flags, NULL, params_today, NULL, NULL) == SQLITE_OK &&
        sqlite3_create_function(db, "has_renamed", 2, flags, NULL, has_renamed, NULL, NULL) == SQLITE_OK)
        return pbd_ok();
    return pbd_store_fault(store, "opening it");
}
