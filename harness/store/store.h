/* The store: one SQLite file. Runs are immutable; a content hash is the key. schema.sql is the reference.
 *
 * Every failure is PBD_BAD_INPUT (the file is no store, of another version, corrupt, read-only, on a full disk), except
 * lack of memory (PBD_FAILED), with a sentence that says what is wrong and what to do. A refused open does not modify
 * the file.
 */
#ifndef PBD_STORE_H
#define PBD_STORE_H

#include <sqlite3.h>

#include "harness/machine/environment.h"
#include "harness/plan/result.h"

typedef struct pbd_store pbd_store;

typedef enum pbd_store_mode {
    PBD_STORE_READ, /* must exist */
    PBD_STORE_WRITE /* created if missing, with its folder */
} pbd_store_mode;

pbd_status pbd_store_open(const char *path, pbd_store_mode mode, pbd_store **out);
void pbd_store_close(pbd_store *store); /* NULL-safe */
const char *pbd_store_path(const pbd_store *store);

/* Records this process (command line, start) once; later puts refer to it. Also records build and machine. */
pbd_status pbd_store_begin(pbd_store *store, int argc, char *const *argv);

/* Looks for a finished run (any state but failed and interrupted) of the cell by this build's sources on this machine,
 * and for a plug-in's method by the same plug-in file. *found is false when there is none; else run_id is filled in. */
pbd_status pbd_store_find(pbd_store *store, const char *method, const char *cell_id, uint64_t seed, int repeat,
                          bool *found, char run_id[33]);

/* Looks likewise for a run that was stopped at a limit of `limit` seconds or more (PBD_WALL_LIMIT). */
pbd_status pbd_store_find_stopped(pbd_store *store, const char *method, const char *cell_id, uint64_t seed, int repeat,
                                  double limit, bool *found, char run_id[33]);

/* Stores a run in one transaction and sets result->run_id. `before` and `after` may be NULL. */
pbd_status pbd_store_put(pbd_store *store, pbd_result *result, const pbd_machine_sample *before,
                         const pbd_machine_sample *after);

/* As pbd_store_put, unless another process has meanwhile stored a finished run of this cell, seed and repeat
 * (pbd_store_find): then *known is true, nothing is stored, and result->run_id is that run's. */
pbd_status pbd_store_put_once(pbd_store *store, pbd_result *result, const pbd_machine_sample *before,
                              const pbd_machine_sample *after, bool *known);

/* Reads a run by its id or a unique prefix of at least 4 digits; owned by the caller (pbd_result_free). Parameters have
 * their current names (catalog/renamed.h). */
pbd_status pbd_store_get(pbd_store *store, const char *run_id, pbd_result *out);

/* Records a claim's verdict with the runs that it is based on. `note`: the query's own sentence, or why it was not run;
 * NULL: none. */
pbd_status pbd_store_claim(pbd_store *store, const char *figure, const char *claim, const char *verdict, double value,
                           const char *says, const char *note, const char *const *run_ids, size_t runs);

/* A comparison of two arms (schema.sql). Nothing is owned; numbers are NaN where no time is claimed. */
typedef struct pbd_comparison_pair {
    bool b_first;
    const char *run_a, *run_b; /* in the store */
    double a_s, b_s, log_ratio;
    size_t rounds; /* in which the two took turns; 0: they did not */
} pbd_comparison_pair;

typedef struct pbd_comparison {
    const char *purpose, *name_a, *name_b, *clock;
    double margin;
    uint64_t seed;
    double alpha, log_ratio, low, high, bootstrap_low, bootstrap_high;
    const char *verdict, *says;
    const pbd_comparison_pair *pair;
    size_t pairs; /* at least 1; cells, builds and machine are those of the first */
} pbd_comparison;

/* Stores a comparison in one transaction and writes its id. PBD_BAD_INPUT when a run it names is not in the store. */
pbd_status pbd_store_put_comparison(pbd_store *store, const pbd_comparison *comparison, char comparison_id[33]);

/* For PBD_CLEANUP; NULL is left alone. */
static inline void pbd_store_release(pbd_store **store) { pbd_store_close(*store); }
static inline void pbd_statement_release(sqlite3_stmt **statement) { sqlite3_finalize(*statement); }

/* The connection, for figures and plots that query the views of schema.sql and make TEMP views of their own. Views have
 * parameters as they were stored; params_today(case_name, method, params) gives their current names. */
sqlite3 *pbd_store_sql(pbd_store *store);

/* `db check`: SQLite's own integrity and foreign keys, then every run's and comparison's hash against its rows.
 * *problems counts the problems; each is written as one line to `out` (FILE *). */
pbd_status pbd_store_check(pbd_store *store, void *out, size_t *problems);
/* `db merge`: copies runs and comparisons that `into` lacks (only runs are counted); equal ones are ignored, the
 * same id with other content is an error. */
pbd_status pbd_store_merge(pbd_store *into, const char *from_path, size_t *added, size_t *known);
/* `db export`: one JSON object per line for each run with everything that belongs to it, ordered by run id, then for
 * each comparison: text that can be diffed. pbd_store_merge accepts such a file too. */
pbd_status pbd_store_export(pbd_store *store, void *out, size_t *runs);
/* The same for the given runs, in the given order. */
pbd_status pbd_store_export_runs(pbd_store *store, const char *const *run_ids, size_t count, void *out);

#endif
