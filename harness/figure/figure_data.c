/* A figure's tables and data files. */
#include "harness/figure/figure_data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/files/csv_file.h"
#include "harness/files/numbers.h"
#include "harness/files/paths.h"
#include "harness/query/run_table.h"
#include "harness/query/sql_functions.h"
#include "harness/store/rows.h"

/* ---- Tables of runs ---------------------------------------------------------------------------------------------- */

/* Series can be long, so they become a table only where a query needs it. */
static bool names_series(const pbd_figure_file *file, const char *group) {
    char wanted[60];
    snprintf(wanted, sizeof wanted, "%s_series", group);
    for (unsigned i = 0; i < file->tables_count; i++)
        if (strstr(file->tables[i].sql, wanted)) return true;
    for (unsigned i = 0; i < file->data_count; i++)
        if (strstr(file->data[i].sql, wanted)) return true;
    for (unsigned i = 0; i < file->claims_count; i++)
        if (strstr(file->claims[i].sql, wanted)) return true;
    return false;
}

static pbd_status group_table(const pbd_figure_file *file, unsigned i, const pbd_plan *plan, size_t group,
                              pbd_store *store) {
    pbd_arena a PBD_ARENA;
    const char **ids = pbd_new(&a, const char *, plan->count);
    size_t count = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t k = 0; k < plan->count; k++)
        if (plan->item[k].group == group && plan->item[k].run_id[0]) ids[count++] = plan->item[k].run_id;
    return pbd_run_table(store, file->runs[i].name, ids, count, names_series(file, file->runs[i].name));
}

bool pbd_group_has_runs(const pbd_plan *plan, size_t group) {
    for (size_t k = 0; k < plan->count; k++)
        if (plan->item[k].group == group && plan->item[k].run_id[0]) return true;
    return false;
}

static void free_sql(char **text) { sqlite3_free(*text); }

/* Adds to `to` the columns that only `from` has. */
static pbd_status add_columns(sqlite3 *sql, const char *to, const char *from) {
    sqlite3_stmt *names PBD_CLEANUP(pbd_statement_release) = NULL;
    sqlite3_str *add = sqlite3_str_new(NULL);
    int step = SQLITE_DONE;
    static const char query[] =
        "SELECT name FROM pragma_table_info(?1, 'temp') WHERE name NOT IN "
        "(SELECT name FROM pragma_table_info(?2, 'temp'))";
    if (sqlite3_prepare_v2(sql, query, -1, &names, NULL) == SQLITE_OK) {
        sqlite3_bind_text(names, 1, from, -1, SQLITE_STATIC);
        sqlite3_bind_text(names, 2, to, -1, SQLITE_STATIC);
        while ((step = sqlite3_step(names)) == SQLITE_ROW)
            sqlite3_str_appendf(add, "ALTER TABLE temp.%s ADD COLUMN \"%w\";", to, sqlite3_column_text(names, 0));
        sqlite3_reset(names); /* an open reader would lock the table */
    }
    char *text PBD_CLEANUP(free_sql) = sqlite3_str_finish(add); /* NULL: nothing to add */
    if (step != SQLITE_DONE || (text && sqlite3_exec(sql, text, NULL, NULL, NULL) != SQLITE_OK))
        return pbd_error(PBD_FAILED, "columns of table '%s': %s", to, sqlite3_errmsg(sql));
    return pbd_ok();
}

/* A group that cannot be run here has no runs, and so no columns for metrics and times. It gets the columns of the
 * other groups, so that a query over several groups still works for the rest. */
static pbd_status complete_columns(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group,
                                   sqlite3 *sql) {
    for (unsigned i = 0; i < file->runs_count; i++) {
        if (pbd_group_has_runs(plan, first_group + i)) continue;
        for (unsigned k = 0; k < file->runs_count; k++)
            if (k != i) PBD_TRY(add_columns(sql, file->runs[i].name, file->runs[k].name));
    }
    return pbd_ok();
}

/* ---- paper.csv --------------------------------------------------------------------------------------------------- */

static bool is_number(const char *text, double *out) {
    char *end;
    *out = pbd_decimal(text, &end);
    return end != text && *end == '\0';
}

static bool is_numeric_column(const pbd_csv *csv, size_t column) {
    double ignored;
    for (size_t r = 0; r < csv->rows; r++) {
        const char *text = csv->field[r * csv->columns + column];
        if (text[0] && !is_number(text, &ignored)) return false;
    }
    return true;
}

static void bind_field(sqlite3_stmt *insert, int at, const char *text, bool numeric) {
    double number;
    if (!text[0])
        sqlite3_bind_null(insert, at);
    else if (numeric && is_number(text, &number))
        sqlite3_bind_double(insert, at, number); /* NaN becomes NULL */
    else
        sqlite3_bind_text(insert, at, text, -1, SQLITE_STATIC);
}

/* CREATE TABLE and INSERT for the header; SQLite quotes the names. */
static pbd_status fill_paper(const pbd_csv *csv, const char *shown_as, sqlite3 *sql) {
    pbd_arena a PBD_ARENA;
    sqlite3_stmt *statement PBD_CLEANUP(pbd_statement_release) = NULL;
    bool *numeric = pbd_new(&a, bool, csv->columns);
    PBD_TRY(pbd_arena_check(&a));
    sqlite3_str *columns = sqlite3_str_new(NULL), *places = sqlite3_str_new(NULL);
    for (size_t c = 0; c < csv->columns; c++) {
        numeric[c] = is_numeric_column(csv, c);
        sqlite3_str_appendf(columns, "%s\"%w\" %s", c ? ", " : "CREATE TEMP TABLE paper (", csv->header[c],
                            numeric[c] ? "REAL" : "TEXT");
        sqlite3_str_appendall(places, c ? ",?" : "INSERT INTO temp.paper VALUES (?");
    }
    sqlite3_str_appendchar(columns, 1, ')');
    sqlite3_str_appendchar(places, 1, ')');
    char *create PBD_CLEANUP(free_sql) = sqlite3_str_finish(columns);
    char *insert PBD_CLEANUP(free_sql) = sqlite3_str_finish(places);
    if (!create || !insert) return pbd_error(PBD_FAILED, "out of memory");
    if (sqlite3_exec(sql, create, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(sql, insert, -1, &statement, NULL) != SQLITE_OK)
        return pbd_error(PBD_BAD_INPUT, "%s: %s", shown_as, sqlite3_errmsg(sql));
    for (size_t r = 0; r < csv->rows; r++) {
        for (size_t c = 0; c < csv->columns; c++)
            bind_field(statement, (int)c + 1, csv->field[r * csv->columns + c], numeric[c]);
        if (sqlite3_step(statement) != SQLITE_DONE)
            return pbd_error(PBD_FAILED, "%s: %s", shown_as, sqlite3_errmsg(sql));
        sqlite3_reset(statement);
    }
    return pbd_ok();
}

static pbd_status paper_table(const pbd_figure_file *file, sqlite3 *sql) {
    pbd_arena a PBD_ARENA;
    const char *name = pbd_new_format(&a, "plots/%s/paper.csv", file->figure);
    const char *path = pbd_new_format(&a, "%s/%s", pbd_root(), name);
    pbd_csv csv PBD_CLEANUP(pbd_csv_free) = {0};
    struct stat about;
    PBD_TRY(pbd_arena_check(&a));
    if (stat(path, &about) != 0) return pbd_ok();
    PBD_TRY(pbd_csv_read(path, name, &csv));
    return fill_paper(&csv, name, sql);
}

/* A view is evaluated by the query that reads it, so a metric that no run has is reported there, with its place. */
static pbd_status query_table(const pbd_figure_file *file, const pbd_named_query *table, sqlite3 *sql) {
    sqlite3_stmt *statement PBD_CLEANUP(pbd_statement_release) = NULL;
    const char *rest = "";
    char *create PBD_CLEANUP(free_sql) = sqlite3_mprintf("CREATE TEMP VIEW \"%w\" AS %s", table->name, table->sql);
    if (!create) return pbd_error(PBD_FAILED, "out of memory");
    if (sqlite3_prepare_v2(sql, create, -1, &statement, &rest) != SQLITE_OK || sqlite3_step(statement) != SQLITE_DONE)
        return pbd_error(PBD_BAD_INPUT, "%s, table '%s': %s", file->shown_as, table->name, sqlite3_errmsg(sql));
    if (rest[strspn(rest, " \t\r\n;")])
        return pbd_error(PBD_BAD_INPUT, "%s, table '%s': expected one query, not several", file->shown_as, table->name);
    return pbd_ok();
}

pbd_status pbd_figure_tables(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group, pbd_store *store) {
    sqlite3 *sql = pbd_store_sql(store);
    sqlite3_exec(sql, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL); /* only faster: files would work too */
    PBD_TRY(pbd_sql_functions(sql));
    for (unsigned i = 0; i < file->runs_count; i++) PBD_TRY(group_table(file, i, plan, first_group + i, store));
    PBD_TRY(complete_columns(file, plan, first_group, sql));
    PBD_TRY(paper_table(file, sql));
    for (unsigned i = 0; i < file->tables_count; i++) PBD_TRY(query_table(file, &file->tables[i], sql));
    return pbd_ok();
}

void pbd_figure_tables_drop(const pbd_figure_file *file, pbd_store *store) {
    char text[200];
    for (unsigned i = file->tables_count; i-- > 0;) {
        snprintf(text, sizeof text, "DROP VIEW IF EXISTS temp.%s", file->tables[i].name);
        sqlite3_exec(pbd_store_sql(store), text, NULL, NULL, NULL);
    }
    for (unsigned i = 0; i < file->runs_count; i++) {
        const char *name = file->runs[i].name;
        snprintf(text, sizeof text, "DROP TABLE IF EXISTS temp.%s; DROP TABLE IF EXISTS temp.%s_series", name, name);
        sqlite3_exec(pbd_store_sql(store), text, NULL, NULL, NULL);
    }
    sqlite3_exec(pbd_store_sql(store), "DROP TABLE IF EXISTS temp.paper", NULL, NULL, NULL);
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

/* «'fit': 0 of 12 runs ok»: explains a missing column, since a metric that no run reported has none. */
static void explain_missing_column(const pbd_figure_file *file, sqlite3 *sql, char *out, size_t size) {
    out[0] = '\0';
    for (unsigned i = 0; i < file->runs_count; i++) {
        char text[200];
        sqlite3_stmt *count;
        snprintf(text, sizeof text, "SELECT count(*), ifnull(sum(state = 'ok'), 0) FROM temp.%s", file->runs[i].name);
        if (sqlite3_prepare_v2(sql, text, -1, &count, NULL) != SQLITE_OK) continue;
        if (sqlite3_step(count) == SQLITE_ROW && sqlite3_column_int(count, 0) > sqlite3_column_int(count, 1)) {
            size_t used = strlen(out);
            snprintf(out + used, size - used, "%s%d of %d runs of '%s' ended ok", used ? ", " : "",
                     sqlite3_column_int(count, 1), sqlite3_column_int(count, 0), file->runs[i].name);
        }
        sqlite3_finalize(count);
    }
}

pbd_status pbd_figure_query(const pbd_figure_file *file, sqlite3 *sql, const char *text, const char *where,
                            sqlite3_stmt **out) {
    pbd_status status = pbd_query_begin(sql, text, where, out);
    if (status.code != PBD_BAD_INPUT || !strstr(status.text, "no such column")) return status;
    char why[160];
    explain_missing_column(file, sql, why, sizeof why);
    if (!why[0]) return status;
    return pbd_error(PBD_BAD_INPUT, "%s (%s; a metric that no run reports has no column)", status.text, why);
}

/* Replaces line breaks and tabs, so that each row stays one line and each value one column. */
static void write_text(FILE *file, const char *text) {
    for (const char *p = text ? text : ""; *p; p++) fputc(strchr("\t\r\n", *p) ? ' ' : *p, file);
}

static void write_cell(FILE *file, sqlite3_stmt *row, int column) {
    int type = sqlite3_column_type(row, column);
    if (type == SQLITE_NULL) {
        fputs("nan", file);
    } else if (type == SQLITE_INTEGER) {
        fprintf(file, "%lld", (long long)sqlite3_column_int64(row, column));
    } else if (type == SQLITE_FLOAT) {
        fprintf(file, "%.12g", sqlite3_column_double(row, column));
    } else {
        write_text(file, (const char *)sqlite3_column_text(row, column));
    }
}

static pbd_status write_rows(sqlite3 *sql, sqlite3_stmt *rows, const char *where, FILE *file) {
    int columns = sqlite3_column_count(rows);
    for (int c = 0; c < columns; c++) {
        if (c) fputc('\t', file);
        write_text(file, sqlite3_column_name(rows, c)); /* an expression without a name may have several lines */
    }
    fputc('\n', file);
    for (;;) {
        bool row;
        PBD_TRY(pbd_query_next(sql, rows, where, &row));
        if (!row) return pbd_ok();
        for (int c = 0; c < columns; c++) {
            if (c) fputc('\t', file);
            write_cell(file, rows, c);
        }
        fputc('\n', file);
    }
}

static pbd_status write_file(sqlite3 *sql, sqlite3_stmt *rows, const char *where, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file)
        return pbd_error(PBD_BAD_INPUT, "cannot write '%s': %s; choose another folder with --out", path,
                         strerror(errno));
    const pbd_status status = write_rows(sql, rows, where, file);
    bool bad = ferror(file);
    if (fclose(file) != 0) bad = true;
    PBD_TRY(status);
    return bad ? pbd_error(PBD_BAD_INPUT, "cannot write '%s': %s", path, strerror(errno)) : pbd_ok();
}

pbd_status pbd_write_tsv(sqlite3 *sql, const char *query, const char *where, const char *path) {
    sqlite3_stmt *rows;
    PBD_TRY(pbd_query_begin(sql, query, where, &rows));
    pbd_status status = write_file(sql, rows, where, path);
    pbd_query_end(sql, rows);
    return status;
}

/* Whether a query names a group that is left out: columns for its metrics may then be missing. */
static bool names_left_out(const pbd_figure_file *file, const char *query) {
    for (unsigned i = 0; i < file->runs_count; i++)
        if (file->runs[i].left_out > 0 && pbd_figure_reads(file, query, file->runs[i].name)) return true;
    return false;
}

/* For a query that cannot be run: a file without rows, so that the rest of the picture is drawn. */
static pbd_status write_empty(const char *path) {
    FILE *file = fopen(path, "w");
    const bool written = file && fputs("left_out\n", file) >= 0;
    if (file && fclose(file) == 0 && written) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "cannot write '%s': %s; choose another folder with --out", path, strerror(errno));
}

static pbd_status write_data(const pbd_figure_file *file, const pbd_named_query *data, sqlite3 *sql, const char *path) {
    char where[300];
    sqlite3_stmt *rows;
    snprintf(where, sizeof where, "%s, data '%s'", file->shown_as, data->name);
    pbd_status status = pbd_figure_query(file, sql, data->sql, where, &rows);
    if (status.code == PBD_BAD_INPUT && names_left_out(file, data->sql)) return write_empty(path);
    PBD_TRY(status);
    status = write_file(sql, rows, where, path);
    pbd_query_end(sql, rows);
    return status;
}

pbd_status pbd_figure_data(const pbd_figure_file *file, pbd_store *store, const char *folder) {
    for (unsigned i = 0; i < file->data_count; i++) {
        pbd_arena a PBD_ARENA;
        const char *path = pbd_new_format(&a, "%s/%s.tsv", folder, file->data[i].name);
        PBD_TRY(pbd_arena_check(&a));
        PBD_TRY(write_data(file, &file->data[i], pbd_store_sql(store), path));
    }
    return pbd_ok();
}
