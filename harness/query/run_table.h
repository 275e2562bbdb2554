/* Stored runs as tables for SQL queries: one row per run, one column per parameter, metric or count. */
#ifndef PBD_RUN_TABLE_H
#define PBD_RUN_TABLE_H

#include <jansson.h>

#include "harness/store/store.h"

/* Stored runs with their parameters as objects. Owned: pbd_loaded_runs_free. */
typedef struct pbd_loaded_runs {
    pbd_result *run;
    json_t **params;
    size_t count;
} pbd_loaded_runs;
/* *out is to be freed after an error too. */
pbd_status pbd_loaded_runs_load(pbd_store *store, const char *const *run_ids, size_t count, pbd_loaded_runs *out);
void pbd_loaded_runs_free(pbd_loaded_runs *runs); /* safe on a zeroed one */

/* Makes TEMP TABLE `table` of the given runs. Columns: run_id, method, state (TEXT), repeat, seed, threads (INTEGER),
 * backend, precision (TEXT); every metric and count that any of the runs has (REAL; NULL where a run lacks it or it is
 * NaN); every parameter of any of them (numbers REAL, choices TEXT), as param_NAME if a metric has that name; every
 * phase as PHASE_wall_s and PHASE_cpu_s (s), '/' as '_'.
 *
 * With `series` also TEMP TABLE `table`_series: run_id, name, i (from 0), and a column for each component (x, y, z,
 * value and any others that the runs have; NULL where the series lacks it).
 *
 * `table` must be a plain lower-case identifier. An existing table of that name is replaced. */
pbd_status pbd_run_table(pbd_store *store, const char *table, const char *const *run_ids, size_t count, bool series);

/* A query that may only read. Errors are PBD_BAD_INPUT and begin with `where`, the place the text is from. Between
 * begin and end the connection refuses everything but reading. */
pbd_status pbd_query_begin(sqlite3 *sql, const char *text, const char *where, sqlite3_stmt **out);
/* Steps to the next row; *row is false at the end. PBD_INTERRUPTED after Ctrl-C. */
pbd_status pbd_query_next(sqlite3 *sql, sqlite3_stmt *statement, const char *where, bool *row);
void pbd_query_end(sqlite3 *sql, sqlite3_stmt *statement); /* NULL-safe */
static inline void pbd_query_release(sqlite3_stmt **statement) {
    if (*statement) pbd_query_end(sqlite3_db_handle(*statement), *statement);
}

#endif
