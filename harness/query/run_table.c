/* Runs as temporary tables. They are tables, not views over the store, so that self-joins are cheap, and so that
 * figures do not depend on the schema of the store. */
#include "harness/query/run_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/process/interrupt.h"

enum { MOST_COMPONENTS = 64 }; /* of a series */

/* Where a column's value comes from. */
typedef enum source { FIXED, PARAM, METRIC, WALL, CPU } source;

typedef struct column {
    char *name; /* in SQL */
    source from;
    const char *key;  /* name in the result; belongs to a result, or is a literal */
    const char *type; /* TEXT, REAL, INTEGER */
} column;

typedef struct table {
    const char *name;
    const pbd_result *run;
    json_t *const *params; /* of each run */
    size_t runs;
    column *column;
    size_t columns, capacity;
} table;

static const pbd_status out_of_memory = {PBD_FAILED, "out of memory for a table of runs"};

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

static bool has_column(const table *t, const char *name) {
    for (size_t i = 0; i < t->columns; i++)
        if (strcasecmp(t->column[i].name, name) == 0) return true; /* names in SQL ignore case */
    return false;
}

static bool has_source(const table *t, source from, const char *key) {
    for (size_t i = 0; i < t->columns; i++)
        if (t->column[i].from == from && strcmp(t->column[i].key, key) == 0) return true;
    return false;
}

/* Adds a column unless its source has one. A name that is taken gets the prefix; if that is taken too, no column is
 * added. */
static pbd_status add_column(table *t, source from, const char *key, const char *wanted, const char *prefix,
                             const char *type) {
    if (has_source(t, from, key)) return pbd_ok();
    if (t->columns == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 64;
        column *grown = realloc(t->column, capacity * sizeof *grown);
        if (!grown) return out_of_memory;
        t->column = grown;
        t->capacity = capacity;
    }
    char *name = NULL;
    if (asprintf(&name, "%s%s", has_column(t, wanted) ? prefix : "", wanted) < 0) return out_of_memory;
    if (has_column(t, name)) {
        free(name);
        return pbd_ok();
    }
    t->column[t->columns++] = (column){.name = name, .from = from, .key = key, .type = type};
    return pbd_ok();
}

static pbd_status add_fixed_columns(table *t) {
    static const char *const fixed[][2] = {{"run_id", "TEXT"},    {"method", "TEXT"},    {"state", "TEXT"},
                                           {"repeat", "INTEGER"}, {"seed", "INTEGER"},   {"backend", "TEXT"},
                                           {"precision", "TEXT"}, {"threads", "INTEGER"}};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        PBD_TRY(add_column(t, FIXED, fixed[i][0], fixed[i][0], "", fixed[i][1]));
    return pbd_ok();
}

static pbd_status add_phase_columns(table *t, const pbd_result *run) {
    for (size_t i = 0; i < run->phases; i++) {
        char name[160];
        for (int cpu = 0; cpu < 2; cpu++) {
            snprintf(name, sizeof name, "%s%s", run->phase[i].name, cpu ? "_cpu_s" : "_wall_s");
            for (char *p = name; *p; p++)
                if (*p == '/') *p = '_';
            PBD_TRY(add_column(t, cpu ? CPU : WALL, run->phase[i].name, name, "phase_", "REAL"));
        }
    }
    return pbd_ok();
}

/* A metric has precedence over a parameter of the same name: dt and k_edge are then the values used by the run. */
static pbd_status choose_columns(table *t) {
    PBD_TRY(add_fixed_columns(t));
    for (size_t r = 0; r < t->runs; r++)
        for (size_t i = 0; i < t->run[r].metrics; i++)
            PBD_TRY(add_column(t, METRIC, t->run[r].metric[i].name, t->run[r].metric[i].name, "metric_", "REAL"));
    for (size_t r = 0; r < t->runs; r++) {
        const char *key;
        json_t *value;
        json_object_foreach(t->params[r], key, value)
            PBD_TRY(add_column(t, PARAM, key, key, "param_", json_is_string(value) ? "TEXT" : "REAL"));
    }
    for (size_t r = 0; r < t->runs; r++) PBD_TRY(add_phase_columns(t, &t->run[r]));
    return pbd_ok();
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void bind_fixed(sqlite3_stmt *insert, int at, const pbd_result *run, const char *key) {
    const char *text = strcmp(key, "run_id") == 0      ? run->run_id
                       : strcmp(key, "method") == 0    ? run->method_name
                       : strcmp(key, "state") == 0     ? run->state
                       : strcmp(key, "backend") == 0   ? run->backend
                       : strcmp(key, "precision") == 0 ? run->precision
                                                       : NULL;
    if (text)
        sqlite3_bind_text(insert, at, text, -1, SQLITE_STATIC);
    else if (strcmp(key, "repeat") == 0)
        sqlite3_bind_int(insert, at, run->repeat);
    else if (strcmp(key, "seed") == 0)
        sqlite3_bind_int64(insert, at, (sqlite3_int64)run->seed);
    else
        sqlite3_bind_int(insert, at, run->threads);
}

static void bind_param(sqlite3_stmt *insert, int at, const json_t *value) {
    if (json_is_string(value))
        sqlite3_bind_text(insert, at, json_string_value(value), -1, SQLITE_STATIC);
    else if (json_is_number(value))
        sqlite3_bind_double(insert, at, json_number_value(value));
    else
        sqlite3_bind_null(insert, at);
}

static void bind_metric(sqlite3_stmt *insert, int at, const pbd_result *run, const char *name) {
    sqlite3_bind_null(insert, at);
    for (size_t i = 0; i < run->metrics; i++) {
        const pbd_metric_item *m = &run->metric[i];
        if (strcmp(m->name, name) != 0) continue;
        double value = m->is_count ? (double)m->count : m->value;
        if (!isnan(value)) sqlite3_bind_double(insert, at, value);
    }
}

static void bind_phase(sqlite3_stmt *insert, int at, const pbd_result *run, const char *name, bool cpu) {
    sqlite3_bind_null(insert, at);
    for (size_t i = 0; i < run->phases; i++)
        if (strcmp(run->phase[i].name, name) == 0)
            sqlite3_bind_double(insert, at, cpu ? run->phase[i].cpu_s : run->phase[i].wall_s);
}

static void bind_row(const table *t, size_t r, sqlite3_stmt *insert) {
    for (size_t i = 0; i < t->columns; i++) {
        const column *c = &t->column[i];
        int at = (int)i + 1;
        switch (c->from) {
            case FIXED:
                bind_fixed(insert, at, &t->run[r], c->key);
                break;
            case PARAM:
                bind_param(insert, at, json_object_get(t->params[r], c->key));
                break;
            case METRIC:
                bind_metric(insert, at, &t->run[r], c->key);
                break;
            case WALL:
                bind_phase(insert, at, &t->run[r], c->key, false);
                break;
            case CPU:
                bind_phase(insert, at, &t->run[r], c->key, true);
                break;
        }
    }
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static pbd_status sql_error(sqlite3 *sql, const char *name) {
    return pbd_error(PBD_FAILED, "cannot make the table '%s' of runs: %s", name, sqlite3_errmsg(sql));
}

static pbd_status execute(sqlite3 *sql, const char *name, const char *text) {
    return sqlite3_exec(sql, text, NULL, NULL, NULL) == SQLITE_OK ? pbd_ok() : sql_error(sql, name);
}

/* Executes an INSERT whose values are bound and resets it for the next row. */
static bool insert_row(sqlite3_stmt *insert) {
    bool done = sqlite3_step(insert) == SQLITE_DONE;
    sqlite3_reset(insert);
    return done;
}

/* Completes the texts of a CREATE TABLE and the matching INSERT, executes the first and compiles the second. */
static pbd_status create_table(sqlite3 *sql, const table *t, sqlite3_str *create, sqlite3_str *into,
                               sqlite3_stmt **insert) {
    sqlite3_str_appendall(create, ")");
    sqlite3_str_appendall(into, ")");
    char *create_text = sqlite3_str_finish(create), *into_text = sqlite3_str_finish(into);
    pbd_status status = create_text && into_text ? execute(sql, t->name, create_text) : out_of_memory;
    if (status.code == PBD_OK && sqlite3_prepare_v2(sql, into_text, -1, insert, NULL) != SQLITE_OK)
        status = sql_error(sql, t->name);
    sqlite3_free(create_text);
    sqlite3_free(into_text);
    return status;
}

static pbd_status fill(sqlite3 *sql, const table *t) {
    sqlite3_stmt *insert PBD_CLEANUP(pbd_statement_release) = NULL;
    sqlite3_str *create = sqlite3_str_new(NULL), *into = sqlite3_str_new(NULL);
    sqlite3_str_appendf(create, "DROP TABLE IF EXISTS temp.%s; CREATE TEMP TABLE %s (", t->name, t->name);
    sqlite3_str_appendf(into, "INSERT INTO temp.%s VALUES (", t->name);
    for (size_t i = 0; i < t->columns; i++) {
        sqlite3_str_appendf(create, "%s\"%w\" %s", i ? ", " : "", t->column[i].name, t->column[i].type);
        sqlite3_str_appendall(into, i ? ",?" : "?");
    }
    PBD_TRY(create_table(sql, t, create, into, &insert));
    for (size_t r = 0; r < t->runs; r++) {
        bind_row(t, r, insert);
        if (!insert_row(insert)) return sql_error(sql, t->name);
    }
    return pbd_ok();
}

/* The components of all series of the runs: columns of the table of series. */
typedef struct components {
    const char *name[MOST_COMPONENTS];
    size_t count;
} components;

static pbd_status find_components(const table *t, components *out) {
    *out = (components){.name = {"x", "y", "z", "value"}, .count = 4};
    for (size_t r = 0; r < t->runs; r++)
        for (size_t s = 0; s < t->run[r].series_count; s++) {
            const char *name = t->run[r].series[s].component;
            size_t c = 0;
            while (c < out->count && strcmp(out->name[c], name) != 0) c++;
            if (c < out->count) continue;
            if (c == MOST_COMPONENTS)
                return pbd_error(PBD_FAILED, "series of '%s' have more than %d components", t->name, MOST_COMPONENTS);
            out->name[out->count++] = name;
        }
    return pbd_ok();
}

/* Inserts all components of one series side by side, one row per index. */
static bool insert_series(sqlite3_stmt *insert, const components *columns, const pbd_result *run, const char *name) {
    const pbd_series_item *part[MOST_COMPONENTS] = {0};
    size_t longest = 0;
    for (size_t s = 0; s < run->series_count; s++)
        for (size_t c = 0; c < columns->count; c++)
            if (strcmp(run->series[s].name, name) == 0 && strcmp(run->series[s].component, columns->name[c]) == 0) {
                part[c] = &run->series[s];
                if (part[c]->count > longest) longest = part[c]->count;
            }
    for (size_t i = 0; i < longest; i++) {
        sqlite3_bind_text(insert, 1, run->run_id, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 3, (sqlite3_int64)i);
        for (size_t c = 0; c < columns->count; c++) {
            if (part[c] && i < part[c]->count)
                sqlite3_bind_double(insert, 4 + (int)c, part[c]->values[i]); /* NaN becomes NULL */
            else
                sqlite3_bind_null(insert, 4 + (int)c);
        }
        if (!insert_row(insert)) return false;
    }
    return true;
}

static bool is_first_of_its_name(const pbd_result *run, size_t s) {
    for (size_t i = 0; i < s; i++)
        if (strcmp(run->series[i].name, run->series[s].name) == 0) return false;
    return true;
}

static pbd_status create_series(sqlite3 *sql, const table *t, const components *columns, sqlite3_stmt **insert) {
    sqlite3_str *create = sqlite3_str_new(NULL), *into = sqlite3_str_new(NULL);
    sqlite3_str_appendf(
        create, "DROP TABLE IF EXISTS temp.%s_series; CREATE TEMP TABLE %s_series (run_id TEXT, name TEXT, i INTEGER",
        t->name, t->name);
    sqlite3_str_appendf(into, "INSERT INTO temp.%s_series VALUES (?,?,?", t->name);
    for (size_t c = 0; c < columns->count; c++) {
        sqlite3_str_appendf(create, ", \"%w\" REAL", columns->name[c]);
        sqlite3_str_appendall(into, ",?");
    }
    return create_table(sql, t, create, into, insert);
}

static pbd_status fill_series(sqlite3 *sql, const table *t) {
    components columns;
    sqlite3_stmt *insert PBD_CLEANUP(pbd_statement_release) = NULL;
    PBD_TRY(find_components(t, &columns));
    PBD_TRY(create_series(sql, t, &columns, &insert));
    for (size_t r = 0; r < t->runs; r++)
        for (size_t s = 0; s < t->run[r].series_count; s++)
            if (is_first_of_its_name(&t->run[r], s) &&
                !insert_series(insert, &columns, &t->run[r], t->run[r].series[s].name))
                return sql_error(sql, t->name);
    return pbd_ok();
}

pbd_status pbd_loaded_runs_load(pbd_store *store, const char *const *run_ids, size_t count, pbd_loaded_runs *out) {
    *out =
        (pbd_loaded_runs){.run = calloc(count + 1, sizeof *out->run), .params = calloc(count + 1, sizeof *out->params)};
    if (!out->run || !out->params) return out_of_memory;
    for (; out->count < count; out->count++) {
        pbd_result *run = &out->run[out->count];
        PBD_TRY(pbd_store_get(store, run_ids[out->count], run));
        out->params[out->count] = json_loads(run->params, 0, NULL);
        if (out->params[out->count]) continue;
        pbd_result_free(run);
        return pbd_error(PBD_BAD_INPUT, "run %s: its parameters are not JSON; see `pbdbench db check`",
                         run_ids[out->count]);
    }
    return pbd_ok();
}

void pbd_loaded_runs_free(pbd_loaded_runs *l) {
    for (size_t i = 0; i < l->count; i++) {
        pbd_result_free(&l->run[i]);
        json_decref(l->params[i]);
    }
    free(l->run);
    free(l->params);
    *l = (pbd_loaded_runs){0};
}

static void free_columns(table *t) {
    for (size_t i = 0; i < t->columns; i++) free(t->column[i].name);
    free(t->column);
}

static pbd_status fill_all(sqlite3 *sql, const table *t, bool series) {
    PBD_TRY(fill(sql, t));
    return series ? fill_series(sql, t) : pbd_ok();
}

pbd_status pbd_run_table(pbd_store *store, const char *name, const char *const *run_ids, size_t count, bool series) {
    sqlite3 *sql = pbd_store_sql(store);
    pbd_loaded_runs loaded PBD_CLEANUP(pbd_loaded_runs_free) = {0};
    PBD_TRY(pbd_loaded_runs_load(store, run_ids, count, &loaded));
    table t PBD_CLEANUP(free_columns) = {.name = name, .run = loaded.run, .params = loaded.params, .runs = count};
    PBD_TRY(choose_columns(&t));
    PBD_TRY(execute(sql, name, "SAVEPOINT run_table"));
    const pbd_status status = fill_all(sql, &t, series);
    sqlite3_exec(sql, status.code == PBD_OK ? "RELEASE run_table" : "ROLLBACK TO run_table; RELEASE run_table", NULL,
                 NULL, NULL);
    return status;
}

/* ---- Reading queries --------------------------------------------------------------------------------------------- */

static int only_reading(void *context, int action, const char *a, const char *b, const char *c, const char *d) {
    (void)context, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE
               ? SQLITE_OK
               : SQLITE_DENY;
}

static int stop_on_interrupt(void *context) {
    (void)context;
    return pbd_interrupted();
}

static bool only_blank(const char *text) { return text[strspn(text, " \t\r\n;")] == '\0'; }

pbd_status pbd_query_begin(sqlite3 *sql, const char *text, const char *where, sqlite3_stmt **out) {
    const char *tail = NULL;
    *out = NULL;
    sqlite3_set_authorizer(sql, only_reading, NULL);
    sqlite3_progress_handler(sql, 100000, stop_on_interrupt, NULL);
    int code = sqlite3_prepare_v2(sql, text, -1, out, &tail);
    pbd_status status = pbd_ok();
    if (code == SQLITE_AUTH)
        status = pbd_error(PBD_BAD_INPUT, "%s: only reading is allowed (SELECT): %s", where, sqlite3_errmsg(sql));
    else if (code != SQLITE_OK)
        status = pbd_error(PBD_BAD_INPUT, "%s: %s", where, sqlite3_errmsg(sql));
    else if (!*out)
        status = pbd_error(PBD_BAD_INPUT, "%s: the query is empty", where);
    else if (!sqlite3_stmt_readonly(*out) || sqlite3_column_count(*out) == 0)
        status = pbd_error(PBD_BAD_INPUT, "%s: only reading is allowed (SELECT)", where);
    else if (!only_blank(tail))
        status = pbd_error(PBD_BAD_INPUT, "%s: more than one statement; expected one SELECT", where);
    if (status.code != PBD_OK) {
        pbd_query_end(sql, *out);
        *out = NULL;
    }
    return status;
}

pbd_status pbd_query_next(sqlite3 *sql, sqlite3_stmt *statement, const char *where, bool *row) {
    int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return pbd_ok();
    if (code == SQLITE_INTERRUPT) return pbd_error(PBD_INTERRUPTED, "%s: stopped", where);
    return pbd_error(PBD_BAD_INPUT, "%s: %s", where, sqlite3_errmsg(sql));
}

void pbd_query_end(sqlite3 *sql, sqlite3_stmt *statement) {
    sqlite3_finalize(statement);
    sqlite3_set_authorizer(sql, NULL, NULL);
    sqlite3_progress_handler(sql, 0, NULL, NULL);
}
