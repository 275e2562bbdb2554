/* Tables of the store's content. Runs of any kind become a temporary table (run_table.h), and every table here is the
 * result of one query, so that SQL chooses, sorts and counts columns. */
#include "harness/query/export.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "harness/files/nearest.h"
#include "harness/files/text_table.h"
#include "harness/query/run_table.h"
#include "harness/store/rows.h"

enum { MOST_COLUMNS = 200 };

/* ---- What can be exported ---------------------------------------------------------------------------------------- */

static const char *const formats[] = {"csv", "json", "markdown", "latex", "jsonl"}; /* as in pbd_table_format */
enum { FORMATS = sizeof formats / sizeof *formats, JSONL = FORMATS - 1 };

typedef struct subject {
    const char *name;
    const char *kind;  /* of runs; NULL: it is not about runs */
    const char *query; /* if it is not about runs */
} subject;

static const subject subjects[] = {
    {"runs", "run", NULL},
    {"benches", "bench", NULL},
    {"externals", "external", NULL},
    {"comparisons", NULL,
     "SELECT c.decided_at, c.purpose, cell.case_name AS \"case\", c.name_a, c.name_b, c.verdict, c.pairs,"
     " exp(c.log_ratio) AS ratio, exp(c.low) AS low, exp(c.high) AS high, c.margin, c.clock, c.says, c.comparison_id,"
     " c.cell_a, c.cell_b, a.git_sha AS git_sha_a, b.git_sha AS git_sha_b, env.fingerprint AS machine, env.cpu"
     " FROM comparison AS c JOIN cell ON cell.cell_id = c.cell_b JOIN build AS a ON a.build_id = c.build_a"
     " JOIN build AS b ON b.build_id = c.build_b JOIN env USING (env_id) ORDER BY c.decided_at, c.comparison_id"},
    {"claims", NULL,
     "SELECT figure, claim, verdict, value, says, max(decided_at) AS decided_at FROM claim_result"
     " GROUP BY figure, claim ORDER BY figure, claim"},
    {"limits", NULL,
     "SELECT name, backend, precision, threads, best, median, unit, started_at, machine, cpu, gpu, git_sha, run_id"
     " FROM limit_view ORDER BY machine, name, backend, precision, threads, started_at, run_id"},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static pbd_status find_word(const char *kind, const char *word, const char *const *words, size_t count, size_t *at) {
    for (*at = 0; *at < count; ++*at)
        if (strcmp(word, words[*at]) == 0) return pbd_ok();
    return pbd_unknown(kind, word, words, count, "pbdbench db --help");
}

static pbd_status find_format(const pbd_export *x, size_t *at) {
    return find_word("format", x->format ? x->format : "jsonl", formats, FORMATS, at);
}

static pbd_status find_subject(const pbd_export *x, const subject **out) {
    const char *names[SUBJECTS];
    size_t at;
    for (size_t i = 0; i < SUBJECTS; i++) names[i] = subjects[i].name;
    PBD_TRY(find_word("kind of export", x->what ? x->what : "runs", names, SUBJECTS, &at));
    *out = &subjects[at];
    return pbd_ok();
}

static bool is_narrowed(const pbd_run_query *q) { return q->case_name || q->method || q->state || q->settings > 0; }

pbd_status pbd_export_check(const pbd_export *x) {
    size_t format;
    const subject *about;
    PBD_TRY(find_format(x, &format));
    PBD_TRY(find_subject(x, &about));
    if (x->digits != 0 && (x->digits < 1 || x->digits > 17))
        return pbd_error(PBD_BAD_INPUT, "--precision=%d must be in [1, 17]", x->digits);
    if (!about->kind && format == JSONL)
        return pbd_error(PBD_BAD_INPUT,
                         "jsonl holds runs, as `db merge` takes them: export %s as json, csv, markdown "
                         "or latex",
                         about->name);
    if (!about->kind && is_narrowed(&x->select))
        return pbd_error(PBD_BAD_INPUT, "--case, -m and -s select runs: they are not valid with --what %s",
                         about->name);
    if (format == JSONL && (x->columns || x->digits))
        return pbd_error(
            PBD_BAD_INPUT,
            "jsonl holds complete runs: --columns and --precision are valid with json, csv, markdown and latex only");
    return pbd_ok();
}

/* ---- Chosen columns ---------------------------------------------------------------------------------------------- */

typedef struct chosen {
    const char *name[MOST_COLUMNS]; /* as the user names them */
    size_t count;
    pbd_arena memory;
} chosen;

static void free_chosen(chosen *c) { pbd_arena_free(&c->memory); }

static bool is_chosen(const chosen *c, const char *name) {
    for (size_t i = 0; i < c->count; i++)
        if (strcasecmp(c->name[i], name) == 0) return true;
    return false;
}

static pbd_status choose(chosen *c, const char *name) {
    if (c->count == MOST_COLUMNS) return pbd_error(PBD_BAD_INPUT, "a table has at most %d columns", MOST_COLUMNS);
    c->name[c->count++] = pbd_new_text(&c->memory, name);
    return pbd_arena_check(&c->memory);
}

/* From a list "a,b,c" of the user. */
static pbd_status choose_listed(const char *list, chosen *out) {
    char *copy = pbd_new_text(&out->memory, list);
    PBD_TRY(pbd_arena_check(&out->memory));
    for (char *rest = copy, *name; (name = strsep(&rest, ",")) != NULL;) {
        if (*name == '\0') return pbd_error(PBD_BAD_INPUT, "--columns='%.80s' has an empty name", list);
        if (is_chosen(out, name)) return pbd_error(PBD_BAD_INPUT, "--columns names '%.60s' twice", name);
        PBD_TRY(choose(out, name));
    }
    return pbd_ok();
}

static pbd_status choose_row(void *context, sqlite3_stmt *row) {
    const char *name = (const char *)sqlite3_column_text(row, 0);
    return name && !is_chosen(context, name) ? choose(context, name) : pbd_ok();
}

/* Adds every name in the result of a query with one text column. */
static pbd_status choose_queried(const pbd_store *store, const char *query, chosen *out) {
    return pbd_store_each(store, query, "choosing columns", choose_row, out);
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* A second table with the columns that the table of runs lacks. */
static const char all_columns[] =
    "CREATE TEMP TABLE export_about AS SELECT t.run_id AS about_id, cell.case_name AS \"case\", run.kind, "
    "run.started_at,"
    " run.says, run.warmups, build.git_sha, build.dirty, build.version, build.compiler, build.flags,"
    " env.fingerprint AS machine, env.cpu, env.os, env.gpu"
    " FROM temp.export_runs AS t JOIN run USING (run_id) JOIN cell USING (cell_id) JOIN build USING (build_id)"
    " JOIN env USING (env_id)";

/* If both have a column of the same name, SQLite takes the first, which is the run's own. */
static const char from_runs[] =
    " FROM (SELECT t.*, u.* FROM temp.export_runs AS t JOIN temp.export_about AS u ON u.about_id = t.run_id)";

/* The names of all columns, each once. */
static const char table_columns[] =
    "SELECT name FROM pragma_table_info('export_runs') UNION ALL"
    " SELECT name FROM pragma_table_info('export_about') WHERE name <> 'about_id'"
    " AND name NOT IN (SELECT name FROM pragma_table_info('export_runs'))";

/* Parameters that have more than one value, by the names of their columns. Not those that are equal in all runs that
 * have them. */
static const char varying_parameters[] =
    "SELECT coalesce((SELECT name FROM pragma_table_info('export_runs') WHERE name = 'param_' || p.key), p.key)"
    " FROM (SELECT DISTINCT cell_id FROM temp.export_runs JOIN run USING (run_id)) JOIN cell USING (cell_id),"
    " json_each(cell.params) AS p GROUP BY p.key HAVING count(DISTINCT p.value) > 1 ORDER BY p.key";

/* Metrics for which lower is better, in the order in which they were reported: errors, and times of benches. */
static const char error_metrics[] =
    "SELECT m.name FROM temp.export_runs AS t JOIN metric AS m USING (run_id) WHERE m.direction = 'lower'"
    " GROUP BY m.name ORDER BY min(m.position), m.name";

static pbd_status choose_if_varying(const pbd_store *store, const char *name, chosen *out) {
    char query[300];
    snprintf(query, sizeof query, "SELECT '%s' FROM (SELECT count(DISTINCT \"%s\") AS n%s) WHERE n > 1", name, name,
             from_runs);
    return choose_queried(store, query, out);
}

static pbd_status choose_usual(const pbd_store *store, bool for_machines, bool runs, chosen *out) {
    if (for_machines) {
        PBD_TRY(choose(out, "run_id"));
        PBD_TRY(choose(out, "case"));
    } else {
        PBD_TRY(choose_if_varying(store, "case", out));
    }
    PBD_TRY(choose(out, "method"));
    static const char *const where[] = {"backend", "precision", "threads"};
    for (size_t i = 0; i < 3; i++) PBD_TRY(choose_if_varying(store, where[i], out));
    PBD_TRY(choose_queried(store, varying_parameters, out));
    PBD_TRY(choose_if_varying(store, "repeat", out));
    PBD_TRY(choose(out, "state"));
    PBD_TRY(choose_queried(store, error_metrics, out));
    if (!runs) return pbd_ok();
    return choose_queried(store, "SELECT name FROM pragma_table_info('export_runs') WHERE name = 'solve_wall_s'", out);
}

static pbd_status choose_columns(const pbd_store *store, const pbd_export *x, bool for_machines, const subject *about,
                                 chosen *out) {
    if (x->columns) return choose_listed(x->columns, out);
    return choose_usual(store, for_machines, strcmp(about->name, "runs") == 0, out);
}

static pbd_status check_columns(const chosen *wanted, const chosen *known) {
    for (size_t i = 0; i < wanted->count; i++)
        if (!is_chosen(known, wanted->name[i]))
            return pbd_unknown("column", wanted->name[i], known->name, known->count, "pbdbench show RUN");
    return pbd_ok();
}

/* ---- Units ------------------------------------------------------------------------------------------------------- */

static const char *unit_in(const pbd_param *params, const char *name) {
    for (; params && params->name; params++)
        if (strcasecmp(params->name, name) == 0) return params->unit;
    return NULL;
}

/* The unit of a parameter in any case or method of this program that has it: names mean the same everywhere. */
static const char *parameter_unit(const char *name) {
    const char *unit = NULL;
    if (strncmp(name, "param_", 6) == 0) name += 6;
    for (size_t i = 0; i < pbd_case_count() && !unit; i++) unit = unit_in(pbd_case_at(i)->params, name);
    for (size_t i = 0; i < pbd_method_count() && !unit; i++)
        unit = unit_in(pbd_method_at(i)->by_precision[PBD_PRECISION_F64]->params, name);
    return unit ? unit : "";
}

static bool ends_with(const char *text, const char *end) {
    const size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* Adds a column with its unit, or none if runs differ in it. The name is a metric's, with or without prefix. */
static pbd_status add_titled(sqlite3 *sql, const char *name, pbd_text_table *table) {
    static const char query[] =
        "SELECT m.unit FROM temp.export_runs AS t JOIN metric AS m USING (run_id) WHERE m.name = ?1 GROUP BY m.unit";
    const char *bare = strncmp(name, "metric_", 7) == 0 ? name + 7 : name;
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    char unit[80] = "";
    int found = 0;
    if (sqlite3_prepare_v2(sql, query, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_bind_text(stmt, 1, bare, -1, SQLITE_STATIC) == SQLITE_OK) {
        for (; found < 2 && sqlite3_step(stmt) == SQLITE_ROW; found++)
            snprintf(unit, sizeof unit, "%s", (const char *)sqlite3_column_text(stmt, 0));
    }
    if (found == 0)
        snprintf(unit, sizeof unit, "%s",
                 ends_with(name, "_wall_s") || ends_with(name, "_cpu_s") ? "s" : parameter_unit(name));
    return pbd_text_table_column(table, name, found < 2 ? unit : "");
}

/* ---- From a query to a table ------------------------------------------------------------------------------------- */

static pbd_status add_entry(pbd_text_table *table, sqlite3_stmt *stmt, int at) {
    switch (sqlite3_column_type(stmt, at)) {
        case SQLITE_INTEGER:
            return pbd_text_table_integer(table, sqlite3_column_int64(stmt, at));
        case SQLITE_FLOAT:
            return pbd_text_table_real(table, sqlite3_column_double(stmt, at));
        case SQLITE_NULL:
            return pbd_text_table_none(table);
        default:
            return pbd_text_table_text(table, (const char *)sqlite3_column_text(stmt, at));
    }
}

static void free_query(char **query) { sqlite3_free(*query); }

/* Appends all rows; the table has its columns already. */
static pbd_status fill(sqlite3 *sql, sqlite3_str *text, pbd_text_table *table, size_t *rows) {
    char *query PBD_CLEANUP(free_query) = sqlite3_str_finish(text);
    if (!query) return pbd_error(PBD_FAILED, "out of memory for an export");
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_query_release) = NULL;
    bool row;
    PBD_TRY(pbd_query_begin(sql, query, "export", &stmt));
    PBD_TRY(pbd_query_next(sql, stmt, "export", &row));
    for (*rows = 0; row; ++*rows) {
        for (int c = 0; c < (int)table->columns; c++) PBD_TRY(add_entry(table, stmt, c));
        PBD_TRY(pbd_query_next(sql, stmt, "export", &row));
    }
    return pbd_ok();
}

static void select_columns(sqlite3_str *query, const chosen *columns) {
    sqlite3_str_appendall(query, "SELECT ");
    for (size_t i = 0; i < columns->count; i++) sqlite3_str_appendf(query, "%s\"%w\"", i ? ", " : "", columns->name[i]);
}

static pbd_status fill_runs(sqlite3 *sql, const chosen *columns, const chosen *order, pbd_text_table *table,
                            size_t *rows) {
    for (size_t i = 0; i < columns->count; i++) PBD_TRY(add_titled(sql, columns->name[i], table));
    sqlite3_str *text = sqlite3_str_new(sql);
    select_columns(text, columns);
    sqlite3_str_appendf(text, "%s ORDER BY \"case\", method", from_runs);
    for (size_t i = 0; i < order->count; i++) sqlite3_str_appendf(text, ", \"%w\"", order->name[i]);
    sqlite3_str_appendall(text, ", backend, precision, threads, repeat, started_at, run_id");
    return fill(sql, text, table, rows);
}

static pbd_status tabulate_chosen(pbd_store *store, const pbd_export *x, bool for_machines, const subject *about,
                                  pbd_text_table *table, size_t *rows) {
    chosen columns PBD_CLEANUP(free_chosen) = {0}, known PBD_CLEANUP(free_chosen) = {0};
    chosen order PBD_CLEANUP(free_chosen) = {0};
    PBD_TRY(choose_queried(store, table_columns, &known));
    PBD_TRY(choose_columns(store, x, for_machines, about, &columns));
    PBD_TRY(check_columns(&columns, &known));
    PBD_TRY(choose_queried(store, varying_parameters, &order));
    return fill_runs(pbd_store_sql(store), &columns, &order, table, rows);
}

static pbd_status execute(sqlite3 *sql, const char *text) {
    if (sqlite3_exec(sql, text, NULL, NULL, NULL) == SQLITE_OK) return pbd_ok();
    return pbd_error(PBD_FAILED, "cannot make the table to export: %s", sqlite3_errmsg(sql));
}

static pbd_status select_runs(pbd_store *store, const pbd_export *x, const subject *about, pbd_run_ids *ids) {
    pbd_run_query query = x->select;
    query.kind = x->format && strcmp(x->format, "jsonl") != 0 ? about->kind : x->what ? about->kind : NULL;
    return pbd_run_ids_select(store, &query, ids);
}

/* Without runs there are no columns to check names against: the header has the requested ones. */
static pbd_status tabulate_nothing(pbd_store *store, const pbd_export *x, bool for_machines, const subject *about,
                                   pbd_text_table *table) {
    chosen columns PBD_CLEANUP(free_chosen) = {0};
    PBD_TRY(choose_columns(store, x, for_machines, about, &columns));
    for (size_t i = 0; i < columns.count; i++) PBD_TRY(add_titled(pbd_store_sql(store), columns.name[i], table));
    return pbd_ok();
}

static pbd_status tabulate_runs(pbd_store *store, const pbd_export *x, bool for_machines, const subject *about,
                                pbd_text_table *table, size_t *rows) {
    sqlite3 *sql = pbd_store_sql(store);
    pbd_run_ids ids PBD_CLEANUP(pbd_run_ids_free) = {0};
    PBD_TRY(select_runs(store, x, about, &ids));
    PBD_TRY(pbd_run_table(store, "export_runs", ids.id, ids.count, false));
    PBD_TRY(execute(sql, "DROP TABLE IF EXISTS temp.export_about"));
    PBD_TRY(execute(sql, all_columns));
    if (ids.count == 0) return tabulate_nothing(store, x, for_machines, about, table);
    return tabulate_chosen(store, x, for_machines, about, table, rows);
}

/* ---- Other subjects ---------------------------------------------------------------------------------------------- */

static pbd_status names_of_query(sqlite3 *sql, const char *query, chosen *out) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_query_release) = NULL;
    PBD_TRY(pbd_query_begin(sql, query, "export", &stmt));
    for (int i = 0; i < sqlite3_column_count(stmt); i++) PBD_TRY(choose(out, sqlite3_column_name(stmt, i)));
    return pbd_ok();
}

static pbd_status tabulate_query(sqlite3 *sql, const char *query, const chosen *columns, pbd_text_table *table,
                                 size_t *rows) {
    for (size_t i = 0; i < columns->count; i++) PBD_TRY(pbd_text_table_column(table, columns->name[i], ""));
    sqlite3_str *text = sqlite3_str_new(sql);
    select_columns(text, columns);
    sqlite3_str_appendf(text, " FROM (%s)", query);
    return fill(sql, text, table, rows);
}

static pbd_status tabulate_other(sqlite3 *sql, const pbd_export *x, const subject *about, pbd_text_table *table,
                                 size_t *rows) {
    chosen columns PBD_CLEANUP(free_chosen) = {0}, known PBD_CLEANUP(free_chosen) = {0};
    PBD_TRY(names_of_query(sql, about->query, &known));
    if (!x->columns) return tabulate_query(sql, about->query, &known, table, rows);
    PBD_TRY(choose_listed(x->columns, &columns));
    PBD_TRY(check_columns(&columns, &known));
    return tabulate_query(sql, about->query, &columns, table, rows);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static pbd_status write_records(pbd_store *store, const pbd_export *x, const subject *about, FILE *out, size_t *rows) {
    if (!x->what && !is_narrowed(&x->select)) return pbd_store_export(store, out, rows);
    pbd_run_ids ids PBD_CLEANUP(pbd_run_ids_free) = {0};
    PBD_TRY(select_runs(store, x, about, &ids));
    qsort((void *)(uintptr_t)ids.id, ids.count, sizeof *ids.id, compare_ids); /* text that can be diffed */
    *rows = ids.count;
    return pbd_store_export_runs(store, ids.id, ids.count, out);
}

pbd_status pbd_export_write(pbd_store *store, const pbd_export *x, FILE *out, size_t *rows) {
    size_t format;
    const subject *about;
    *rows = 0;
    PBD_TRY(pbd_export_check(x));
    PBD_TRY(find_format(x, &format));
    PBD_TRY(find_subject(x, &about));
    if (format == JSONL) return write_records(store, x, about, out, rows);
    const bool for_machines = format == PBD_CSV || format == PBD_JSON;
    pbd_text_table table PBD_CLEANUP(pbd_text_table_free) = {0};
    PBD_TRY(about->kind ? tabulate_runs(store, x, for_machines, about, &table, rows)
                        : tabulate_other(pbd_store_sql(store), x, about, &table, rows));
    return pbd_text_table_write(&table, (pbd_table_format)format, x->digits, out);
}
