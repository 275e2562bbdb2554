/* How numbers changed from build to build: one history per cell, metric, machine and build preset, with the steps in
 * it. Parameters have their present names, whatever a run was stored with. */
#ifndef PBD_HISTORY_H
#define PBD_HISTORY_H

#include <stdio.h>

#include "harness/trend/cells.h"
#include "harness/trend/steps.h"

/* A build on one machine. Builds of equal sources are one build, whatever their commits. */
typedef struct pbd_history_point {
    char git_sha[41], source[33], started_at[32]; /* started_at: of its first run */
    bool dirty;
    double value; /* median over its runs */
    size_t runs;
} pbd_history_point;

typedef struct pbd_history {
    const pbd_stored_cell *cell;
    const char *cell_ids, *varies; /* see pbd_trend_cell; varies: its label */
    char machine[33];              /* its fingerprint */
    char *env_id, *cpu, *preset, *metric, *unit;
    pbd_kind kind;            /* PBD_STATE, too, for counts */
    pbd_history_point *point; /* ordered by their first runs; the newest PBD_LONGEST_HISTORY */
    size_t points;
    pbd_steps steps;
} pbd_history;

typedef struct pbd_histories {
    pbd_arena owned; /* everything that the pointers below point to, except steps */
    pbd_history *item;
    size_t count;
    size_t cells;  /* read */
    bool narrowed; /* there are more cells; only those run most recently were read */
} pbd_histories;

typedef struct pbd_history_query {
    const char *case_name, *method, *metric; /* NULL: any; metric: errors and the time of a solve */
    const pbd_setting *setting;              /* only cells with these values */
    size_t settings;
    const char *machine; /* first digits of its fingerprint, at least 4; NULL: any */
    size_t most_cells;   /* limit, most recently run first; 0: none */
    uint64_t seed;       /* of the permutation tests */
} pbd_history_query;

/* Histories of runs that ended `ok`, in the order of cell, machine and metric; times are metrics solve_cpu and
 * solve_wall of `run --time`, else the phase `solve` under the same names. Errors that methods predict for themselves
 * are left out unless named. A change of an error (unit 1) is no step if both levels are below 100 units of rounding
 * of the cell's precision. PBD_BAD_INPUT if nothing matches; it names the nearest metric or machine. Free with
 * pbd_histories_free (safe on a zeroed one). */
pbd_status pbd_histories_load(pbd_store *store, const pbd_history_query *query, pbd_histories *out);
void pbd_histories_free(pbd_histories *histories);

/* Whether the step is worse, by the metric's kind; an error is judged by its absolute value; false for a state. */
bool pbd_step_is_worse(const pbd_history *history, const pbd_step *step);

/* «error», «time» and so on. As text: with steps first; `points` lists every point. */
pbd_status pbd_histories_print(const pbd_histories *histories, bool points, FILE *out);
void pbd_histories_json(const pbd_histories *histories, FILE *out);
/* Draws one history into a .png, .svg or .pdf, with the commits at its steps. */
pbd_status pbd_history_draw(const pbd_history *history, const char *path);

#endif
