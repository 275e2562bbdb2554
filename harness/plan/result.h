/* One run: what was run, where, and everything it reported. This is what the store keeps and what --json prints. */
#ifndef PBD_RESULT_H
#define PBD_RESULT_H

#include "harness/catalog/registry.h"
#include "harness/files/json.h"

/* Everything that determines a run's result and cost, before it is run. */
typedef struct pbd_cell {
    const pbd_case *c;
    const pbd_method_entry *method;
    pbd_values case_values, method_values;
    pbd_backend backend;
    pbd_precision precision;
    int threads;
} pbd_cell;

/* The method in the cell's precision. */
static inline const pbd_method *pbd_cell_method(const pbd_cell *cell) {
    return cell->method->by_precision[cell->precision];
}

typedef struct pbd_metric_item {
    char *name, *unit;
    pbd_kind kind;
    bool is_count;  /* PBD_COUNT, or a cost that is a count */
    double value;   /* may be NaN or inf: stored as such */
    uint64_t count; /* when is_count */
} pbd_metric_item;

typedef struct pbd_series_item {
    char *name, *component, *unit;
    double *values;
    size_t count, capacity;
} pbd_series_item;

typedef struct pbd_warning_item {
    char *name, *says;
    uint64_t count;
} pbd_warning_item;

typedef struct pbd_phase_item {
    char *name; /* build, create, solve, measure; phases of the method as "solve/NAME" */
    double wall_s, cpu_s;
    uint64_t calls;
} pbd_phase_item;

/* The word for a kind in JSON ("error"), and the word for the better direction in JSON and in the store: a time is
 * "lower", other costs are "neutral". */
const char *pbd_kind_word(pbd_kind kind);
const char *pbd_direction_word(pbd_kind kind, const char *unit);
/* The kind of a stored metric. `word`: that of pbd_kind_word, or NULL if there is none, as in the store, which has no
 * column for it, and in the output of older programs. The only place where names decide. */
pbd_kind pbd_kind_read(const char *word, const char *name, const char *unit, const char *direction, bool is_count);
/* PBD_ERROR or PBD_FLAW: neither may grow. */
bool pbd_is_error(pbd_kind kind);
/* An error that tables and charts show beside a time: not that of positions before a projection (..._predicted). */
bool pbd_is_shown_error(const pbd_metric_item *metric);
/* SQL for a row of the store's table metric: whether it is a shown error or a time; whether it is a shown error. */
#define PBD_SQL_LOWER(ROW) ROW ".direction = 'lower' AND " ROW ".name NOT LIKE '%\\_predicted' ESCAPE '\\'"
#define PBD_SQL_SHOWN_ERROR(ROW) PBD_SQL_LOWER(ROW) " AND " ROW ".unit <> 's'"

/* What a run's state may be: as a list, and as the choices of an option. */
#define PBD_RUN_STATE_NAMES "ok", "diverged", "no_equilibrium", "not_settled", "unphysical", "failed", "interrupted"
#define PBD_RUN_STATES "ok|diverged|no_equilibrium|not_settled|unphysical|failed|interrupted"
const char *pbd_state_name(pbd_code code);

typedef struct pbd_result {
    char run_id[33];  /* 32 hex digits once stored, "" before */
    char cell_id[33]; /* 32 hex digits: hash of the canonical cell */
    char *kind;       /* run, bench or limit (schema.sql); NULL: run */
    char *case_name, *method_name;
    char *params; /* canonical JSON object of all parameters, keys sorted; method and case together */
    char *backend, *precision;
    int threads;
    int repeat;  /* 0 .. REPEATS-1 */
    int warmups; /* solves before the timed one */
    uint64_t seed;
    char started_at[32]; /* UTC, ISO 8601 with milliseconds */
    char *state;         /* see pbd_state_name */
    char *says;          /* message of a state that is not ok, else ""; of a bench its name comes first */
    pbd_metric_item *metric;
    size_t metrics;
    pbd_series_item *series;
    size_t series_count;
    pbd_warning_item *warning;
    size_t warnings;
    pbd_phase_item *phase;
    size_t phases;
} pbd_result;

void pbd_result_free(pbd_result *result); /* safe on a zeroed result */

/* One run as the JSON object of `run --json`; the caller frees the string. */
char *pbd_result_json(const pbd_result *result);
/* Its object of metrics by name; values that are not finite are null. */
json_t *pbd_metrics_json(const pbd_metric_item *metric, size_t count);

#endif
