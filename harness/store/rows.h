/* Internals of the store: the connection, and a run as one tree of JSON rows, the *record*.
 *
 *   pbd_result -> record (plan/record.h) -> rows of a dozen tables -> record -> export, merge, show
 *
 * A record is an object with one entry per table of schema.sql: a row (an object of its columns) or, for children such
 * as metrics, an array of rows in the order in which they were reported. Writing, reading, hashing, exporting and
 * importing all use this form, so that columns are listed once, in rows.c. Children omit run_id and position, which
 * follow from their place in the record.
 *
 * Numbers that JSON cannot hold are spelt: NaN null, infinities "inf" and "-inf", and unsigned numbers from 2^63 as a
 * string of digits.
 */
#ifndef PBD_STORE_ROWS_H
#define PBD_STORE_ROWS_H

#include <jansson.h>

#include "harness/exec/arena.h"
#include "harness/store/store.h"

/* As in schema.sql. */
enum { PBD_STORE_APPLICATION = 1346520130, PBD_STORE_VERSION = 2, PBD_STORE_OLDEST = 1 };
/* SQL: the text of a table in sqlite_schema, of version 1 or 2, as it is in version 2. */
#define PBD_SQL_LAYOUT_NOW "replace(sql, '''not_settled'', ''failed''', '''not_settled'', ''unphysical'', ''failed''')"
enum { PBD_STORE_TABLES = 14 }; /* of records: tables[] in rows.c */

/* A cache for each table of records (rows.c) while the store is open. Compiling a statement with its triggers takes
 * longer than storing a row, and consecutive runs mostly share their build, machine, case and method: such a row is
 * read once, and all their records refer to one object. NULL: nothing so far. */
typedef struct pbd_kept {
    sqlite3_stmt *select[PBD_STORE_TABLES], *insert[PBD_STORE_TABLES];
    json_t *read[PBD_STORE_TABLES];    /* the last shared row that was read */
    json_t *written[PBD_STORE_TABLES]; /* the last one written in the current transaction */
} pbd_kept;

struct pbd_store {
    sqlite3 *db;
    pbd_kept *kept;
    char *path; /* as the caller spelt it, for messages */
    pbd_store_mode mode;
    int within;     /* nesting depth of transactions within the outermost */
    json_t *origin; /* {"build": row, "env": row, "invocation": row} of this process; NULL before pbd_store_begin */
};

/* ---- SQL (sql.c) ------------------------------------------------------------------------------------------------- */

/* The error for the last failure on the connection; `doing` completes "while ...". Call it before anything else runs
 * on the connection. */
pbd_status pbd_store_fault(const pbd_store *store, const char *doing);
pbd_status pbd_store_no_memory(const pbd_store *store);
/* Runs statements that return no rows. */
pbd_status pbd_store_exec(const pbd_store *store, const char *sql, const char *doing);
/* Compiles a statement and binds its text parameters; finalize it also after an error (NULL then). */
pbd_status pbd_store_prepare(const pbd_store *store, const char *sql, const char *const *text, size_t texts,
                             sqlite3_stmt **out);
/* Steps to the next row, true in *row, or to the end, false. */
pbd_status pbd_store_step(const pbd_store *store, sqlite3_stmt *stmt, bool *row, const char *doing);
/* pbd_store_prepare and one pbd_store_step: for a query of one row, or a statement that returns none. */
pbd_status pbd_store_row(const pbd_store *store, const char *sql, const char *const *text, size_t texts,
                         const char *doing, bool *row, sqlite3_stmt **out);
/* Calls `visit` with each row of a query without parameters. */
typedef pbd_status (*pbd_row_visitor)(void *context, sqlite3_stmt *row);
pbd_status pbd_store_each(const pbd_store *store, const char *sql, const char *doing, pbd_row_visitor visit,
                          void *context);
/* Calls `visit` with the id of each run or comparison, in order. PBD_BAD_INPUT: the ids are not in order, because the
 * store is damaged. */
pbd_status pbd_store_each_run(const pbd_store *store, pbd_row_visitor visit, void *context);
pbd_status pbd_store_each_comparison(const pbd_store *store, pbd_row_visitor visit, void *context);
/* The error for a damaged store. says: what is wrong with it. */
pbd_status pbd_store_corrupt(const pbd_store *store, const char *says);
/* A text column, "" for NULL. */
const char *pbd_column_text(sqlite3_stmt *stmt, int at);
/* A transaction: `end` commits if `so_far` is PBD_OK, else rolls back; returns the first error. A nested transaction is
 * part of the outer one, which must roll back if the nested one failed. */
pbd_status pbd_store_start(pbd_store *store, const char *doing);
pbd_status pbd_store_end(pbd_store *store, pbd_status so_far, const char *doing);
/* For queries on stored cells: params_today(case_name, method, params) and has_renamed(case_name, method), as in
 * catalog/renamed.h. */
pbd_status pbd_store_functions(const pbd_store *store);
/* UTC now, ISO 8601 with milliseconds. */
void pbd_store_now(char out[32]);

/* Frees the cache, before the connection is closed. NULL-safe. */
void pbd_store_forget(pbd_kept *kept);
/* Forgets the rows written, at the start of a transaction: the last one may have been rolled back. */
void pbd_store_forget_written(pbd_kept *kept);

/* ---- Records (rows.c) -------------------------------------------------------------------------------------------- */

/* Sets the first column of a build, env or invocation to the hash of the others. False without memory. */
bool pbd_row_identify(const char *table, json_t *row);
json_t *pbd_row_identified(const char *table, json_t *row); /* the same row, or NULL and no row */
/* The run_id that follows from a record's content. PBD_BAD_INPUT when a column is missing or of another type. */
pbd_status pbd_record_hash(const json_t *record, char run_id[33]);
/* Hashes the record and sets its run_id. */
pbd_status pbd_record_identify(json_t *record, char run_id[33]);
/* Reads a run with everything that belongs to it; owned by the caller (json_decref). PBD_BAD_INPUT when there is no
 * such run. */
pbd_status pbd_record_load(const pbd_store *store, const char *run_id, json_t **out);
/* Writes a record's rows within the caller's transaction; *added is false when the run was there already. */
pbd_status pbd_record_insert(const pbd_store *store, const json_t *record, bool *added);
/* Writes one row of build, env, invocation, case or method, unless it is there already. */
pbd_status pbd_row_insert(const pbd_store *store, const char *table, const json_t *row);
/* Checks the hashes of build, env and invocation and the run_id itself; PBD_BAD_INPUT names what does not match. Rows
 * that are the same objects as in `verified`, a record verified before (NULL: none), are not hashed again. */
pbd_status pbd_record_verify(const json_t *record, const json_t *verified);

/* The same for a comparison: {"comparison": row, "comparison_pair": [rows], "invocation": row}. Its runs are
 * records of their own, and must be stored before it. */
pbd_status pbd_comparison_hash(const json_t *record, char comparison_id[33]);
pbd_status pbd_comparison_load(const pbd_store *store, const char *comparison_id, json_t **out);
pbd_status pbd_comparison_insert(const pbd_store *store, const json_t *record);
pbd_status pbd_comparison_verify(const json_t *record);

/* A double or unsigned number as a JSON value of the record, and back. NULL without memory. */
json_t *pbd_real_json(double value);
double pbd_json_real(const json_t *value); /* NaN for null and anything that is not a number */
json_t *pbd_count_json(uint64_t value);
uint64_t pbd_json_count(const json_t *value);

/* ---- Series (series.c): in records and in the store a text, in exports an array ---------------------------------- */

char *pbd_series_text(const double *values, size_t count); /* "[0.5,null,9e999]"; the caller frees; NULL: no memory */
bool pbd_series_parse(const char *text, double **values, size_t *count); /* false: malformed or no memory */
json_t *pbd_series_open(const char *text);                               /* array; NULL: malformed or no memory */
char *pbd_series_close(const json_t *array);                             /* NULL: malformed or no memory */

/* ---- Records and results (runs.c) -------------------------------------------------------------------------------- */

/* The outcome of a run: {state, says, and arrays metric, series, phase and warning as in a record}; NULL without
 * memory. pbd_reported_read adds it to a described result (pbd_describe_run); false: without memory, or not such an
 * object. */
json_t *pbd_reported_json(const pbd_result *result);
bool pbd_reported_read(const json_t *reported, pbd_result *out);

/* A text as JSON, with '?' for bytes that are not UTF-8; and a column of this process's build, env or invocation. */
json_t *pbd_text_json(const char *text);
const char *pbd_origin_text(const pbd_store *store, const char *table, const char *column);
/* The full id of the only run whose id begins with `prefix`. */
pbd_status pbd_store_resolve(const pbd_store *store, const char *prefix, char run_id[33]);

/* ---- Summaries and sources of cases and methods (about.c) -------------------------------------------------------- */

/* Stores the hash of a row that was just inserted. kind: "case" or "method". */
pbd_status pbd_about_insert(const pbd_store *store, const char *kind, const json_t *row);
/* Updates summary and source of the row, unless both are empty, and stores their hash. */
pbd_status pbd_about_refresh(const pbd_store *store, const char *kind, const json_t *row);
/* Calls `tell` with each row that does not match its stored hash. */
typedef void (*pbd_about_fault)(void *context, const char *kind, const char *name);
pbd_status pbd_about_check(const pbd_store *store, pbd_about_fault tell, void *context);

/* ---- Exports (transfer.c) ---------------------------------------------------------------------------------------- */

/* Turns a record into the form of an export, with series as arrays. In place. */
pbd_status pbd_record_open(json_t *record);
/* Turns an export's line back into a record. In place. */
pbd_status pbd_record_close(json_t *record);

#endif
