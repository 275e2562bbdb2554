/* Records: the columns of every table that belongs to a run or a comparison, and reading, writing and hashing of rows.
 *
 * To add a column: one word here, one line in schema.sql and one place that fills it in.
 */
#include "harness/store/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- The columns ------------------------------------------------------------------------------------------------- */

typedef enum column_kind { TEXT, INT, UINT, MAYBE_UINT, REAL } column_kind;

typedef struct column {
    const char *name; /* as in schema.sql and in the record */
    column_kind kind;
} column;

enum { MOST_COLUMNS = 26 };

/* How a table is linked to its run: by an id in the run's row, by an id in the cell's row, or by its own run_id. The
 * last two belong to comparisons: the comparison, and its children. */
typedef enum place { BY_RUN_ROW, BY_CELL_ROW, CHILD, COMPARISON, COMPARISON_CHILD } place;

typedef struct table {
    const char *name;
    place place;
    const char *link; /* the column of the run's or cell's row that holds this table's key; in children
                       * their own column with the owner's key */
    const column columns[MOST_COLUMNS]; /* ends with a NULL name; the first is the key, except in children */
} table;

/* In the order in which foreign keys require them to be written. Children's link and position are left out. */
/* clang-format off */
static const table tables[] = {
    {"build", BY_RUN_ROW, "build_id",
     {{"build_id", TEXT}, {"git_sha", TEXT}, {"dirty", INT}, {"source", TEXT}, {"compiler", TEXT}, {"flags", TEXT},
      {"preset", TEXT}, {"licence", TEXT}, {"version", TEXT}}},
    {"env", BY_RUN_ROW, "env_id",
     {{"env_id", TEXT}, {"fingerprint", TEXT}, {"cpu", TEXT}, {"os", TEXT}, {"isa", TEXT}, {"packages", INT},
      {"cores", INT}, {"threads", INT}, {"l1d_kib", INT}, {"l2_kib", INT}, {"l3_kib", INT}, {"memory_mib", INT},
      {"gpu", TEXT}}},
    {"invocation", BY_RUN_ROW, "invocation_id",
     {{"invocation_id", TEXT}, {"argv", TEXT}, {"started_at", TEXT}, {"pid", INT}}},
    {"case", BY_CELL_ROW, "case_name", {{"name", TEXT}, {"summary", TEXT}, {"source", TEXT}}},
    {"method", BY_CELL_ROW, "method", {{"name", TEXT}, {"summary", TEXT}, {"source", TEXT}}},
    {"cell", BY_RUN_ROW, "cell_id",
     {{"cell_id", TEXT}, {"case_name", TEXT}, {"method", TEXT}, {"params", TEXT}, {"backend", TEXT},
      {"precision", TEXT}, {"threads", INT}}},
    {"run", BY_RUN_ROW, "run_id",
     {{"run_id", TEXT}, {"cell_id", TEXT}, {"build_id", TEXT}, {"env_id", TEXT}, {"invocation_id", TEXT},
      {"kind", TEXT}, {"repeat", INT}, {"warmups", INT}, {"seed", UINT}, {"started_at", TEXT}, {"state", TEXT},
      {"says", TEXT}}},
    {"env_sample", CHILD, "run_id",
     {{"moment", TEXT}, {"load_1min", REAL}, {"clock_mhz", REAL}, {"throttle_count", INT}, {"memory_free_mib", INT}}},
    {"metric", CHILD, "run_id",
     {{"name", TEXT}, {"unit", TEXT}, {"direction", TEXT}, {"value", REAL}, {"count", MAYBE_UINT}}},
    {"series", CHILD, "run_id", {{"name", TEXT}, {"component", TEXT}, {"unit", TEXT}, {"values", TEXT}}},
    {"phase", CHILD, "run_id", {{"name", TEXT}, {"wall_s", REAL}, {"cpu_s", REAL}, {"calls", UINT}}},
    {"warning", CHILD, "run_id", {{"name", TEXT}, {"says", TEXT}, {"count", UINT}}},
    {"comparison", COMPARISON, NULL,
     {{"comparison_id", TEXT}, {"invocation_id", TEXT}, {"purpose", TEXT}, {"name_a", TEXT}, {"name_b", TEXT},
      {"cell_a", TEXT}, {"cell_b", TEXT}, {"build_a", TEXT}, {"build_b", TEXT}, {"env_id", TEXT}, {"clock", TEXT},
      {"margin", REAL}, {"seed", UINT}, {"pairs", INT}, {"alpha", REAL}, {"log_ratio", REAL}, {"low", REAL},
      {"high", REAL}, {"bootstrap_low", REAL}, {"bootstrap_high", REAL}, {"verdict", TEXT}, {"says", TEXT},
      {"decided_at", TEXT}}},
    {"comparison_pair", COMPARISON_CHILD, "comparison_id",
     {{"first", TEXT}, {"run_a", TEXT}, {"run_b", TEXT}, {"a_s", REAL}, {"b_s", REAL}, {"log_ratio", REAL}, {"rounds", INT}}},
};
/* clang-format on */
enum { TABLES = sizeof tables / sizeof *tables };
_Static_assert((int)TABLES == (int)PBD_STORE_TABLES, "a kept statement for each table");

static bool is_child(const table *t) { return t->place == CHILD || t->place == COMPARISON_CHILD; }
static bool is_of_run(const table *t) { return t->place != COMPARISON && t->place != COMPARISON_CHILD; }

static const table *find_table(const char *name) {
    for (size_t t = 0; t < TABLES; t++) {
        if (strcmp(tables[t].name, name) == 0) return &tables[t];
    }
    return NULL;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

json_t *pbd_real_json(double value) {
    if (isnan(value)) return json_null();
    if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value + 0.0); /* + 0.0 turns -0.0 into 0.0, as SQLite does */
}

double pbd_json_real(const json_t *value) {
    if (json_is_number(value)) return json_number_value(value);
    const char *word = json_string_value(value);
    if (word != NULL && strcmp(word, "inf") == 0) return (double)INFINITY;
    if (word != NULL && strcmp(word, "-inf") == 0) return -(double)INFINITY;
    return (double)NAN;
}

json_t *pbd_count_json(uint64_t value) {
    if (value <= (uint64_t)INT64_MAX) return json_integer((json_int_t)value);
    return json_sprintf("%" PRIu64, value);
}

uint64_t pbd_json_count(const json_t *value) {
    if (json_is_string(value)) return strtoull(json_string_value(value), NULL, 10);
    return (uint64_t)json_integer_value(value);
}

/* A string of digits from 2^63 to 2^64 - 1, and no other spelling. */
static bool is_large_count(const json_t *value) {
    const char *word = json_string_value(value);
    if (word == NULL) return false;
    char again[24];
    const uint64_t number = strtoull(word, NULL, 10);
    snprintf(again, sizeof again, "%" PRIu64, number);
    return number > (uint64_t)INT64_MAX && strcmp(again, word) == 0;
}

/* Whether a value fits its column: records may come from a file that anyone could have edited. */
static bool fits(const json_t *value, column_kind kind) {
    switch (kind) {
        case TEXT:
            return json_is_string(value);
        case INT:
            return json_is_integer(value);
        case MAYBE_UINT:
            if (json_is_null(value)) return true;
            /* fall through */
        case UINT:
            return (json_is_integer(value) && json_integer_value(value) >= 0) || is_large_count(value);
        case REAL:
            return json_is_number(value) || json_is_null(value) ||
                   (json_is_string(value) && isinf(pbd_json_real(value)));
    }
    return false;
}

static bool bind(sqlite3_stmt *stmt, int at, column_kind kind, const json_t *value) {
    if (json_is_null(value)) return sqlite3_bind_null(stmt, at) == SQLITE_OK;
    switch (kind) {
        case TEXT:
            return sqlite3_bind_text64(stmt, at, json_string_value(value), json_string_length(value), SQLITE_TRANSIENT,
                                       SQLITE_UTF8) == SQLITE_OK;
        case INT:
            return sqlite3_bind_int64(stmt, at, json_integer_value(value)) == SQLITE_OK;
        case UINT:
        case MAYBE_UINT:
            return sqlite3_bind_int64(stmt, at, (sqlite3_int64)pbd_json_count(value)) == SQLITE_OK;
        case REAL:
            return sqlite3_bind_double(stmt, at, pbd_json_real(value)) == SQLITE_OK;
    }
    return false;
}

static json_t *column_json(sqlite3_stmt *stmt, int at, column_kind kind) {
    const int type = sqlite3_column_type(stmt, at);
    if (type == SQLITE_NULL) return json_null();
    switch (kind) {
        case TEXT:
            return json_string((const char *)sqlite3_column_text(stmt, at));
        case INT:
            return json_integer(sqlite3_column_int64(stmt, at));
        case UINT:
        case MAYBE_UINT:
            return pbd_count_json((uint64_t)sqlite3_column_int64(stmt, at));
        case REAL:
            return pbd_real_json(sqlite3_column_double(stmt, at));
    }
    return NULL;
}

/* ---- Hashes ------------------------------------------------------------------------------------------------------ */

static pbd_status no_memory(void) { return pbd_error(PBD_FAILED, "out of memory while handling a run"); }

static void feed(XXH3_state_t *hash, const char *text, size_t bytes) { XXH3_128bits_update(hash, text, bytes); }

/* At most 60 bytes. */
static void feed_number(XXH3_state_t *hash, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void feed_number(XXH3_state_t *hash, const char *format, ...) {
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    feed(hash, text, (size_t)length);
}

/* Feeds the canonical text of a value. Strings carry their length, so that different contents have different texts. */
static void feed_value(XXH3_state_t *hash, column_kind kind, const json_t *value) {
    if (json_is_null(value)) {
        feed(hash, "null\n", 5);
    } else if (kind == TEXT) {
        feed_number(hash, "%zu:", json_string_length(value));
        feed(hash, json_string_value(value), strlen(json_string_value(value)));
        feed(hash, "\n", 1);
    } else if (kind == INT) {
        feed_number(hash, "%" JSON_INTEGER_FORMAT "\n", json_integer_value(value));
    } else if (kind == REAL) {
        feed_number(hash, "%.17g\n", pbd_json_real(value) + 0.0);
    } else {
        feed_number(hash, "%" PRIu64 "\n", pbd_json_count(value));
    }
}

/* Feeds a row's columns from the given one on; PBD_BAD_INPUT for a missing or ill-typed one. */
static pbd_status feed_row(XXH3_state_t *hash, const table *t, const json_t *row, size_t from) {
    for (const column *c = t->columns + from; c->name != NULL; c++) {
        const json_t *value = json_object_get(row, c->name);
        if (value == NULL || !fits(value, c->kind))
            return pbd_error(PBD_BAD_INPUT, "%s.%s is missing or invalid", t->name, c->name);
        feed(hash, t->name, strlen(t->name));
        feed(hash, ".", 1);
        feed(hash, c->name, strlen(c->name));
        feed(hash, " ", 1);
        feed_value(hash, c->kind, value);
    }
    return pbd_ok();
}

static XXH3_state_t *begin_hash(void) {
    XXH3_state_t *hash = XXH3_createState();
    if (hash != NULL) XXH3_128bits_reset(hash);
    return hash;
}

/* As 32 hex digits. */
static void end_hash(XXH3_state_t *hash, char out[33]) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash));
    for (size_t i = 0; i < 16; i++) snprintf(out + 2 * i, 3, "%02x", canonical.digest[i]);
    XXH3_freeState(hash);
}

static pbd_status hash_row(const table *t, const json_t *row, char out[33]) {
    XXH3_state_t *hash = begin_hash();
    if (hash == NULL) return no_memory();
    const pbd_status status = feed_row(hash, t, row, 1);
    end_hash(hash, out);
    return status;
}

bool pbd_row_identify(const char *name, json_t *row) {
    const table *t = find_table(name);
    char hash[33];
    return hash_row(t, row, hash).code == PBD_OK &&
           json_object_set_new(row, t->columns[0].name, json_string(hash)) == 0;
}

json_t *pbd_row_identified(const char *name, json_t *row) {
    if (row != NULL && pbd_row_identify(name, row)) return row;
    json_decref(row);
    return NULL;
}

/* Feeds a run's children of one table, their number first, so that moving a row between tables changes the hash. */
static pbd_status feed_children(XXH3_state_t *hash, const table *t, const json_t *rows) {
    if (!json_is_array(rows)) return pbd_error(PBD_BAD_INPUT, "'%s' is missing or not an array", t->name);
    feed(hash, t->name, strlen(t->name));
    feed_number(hash, " %zu\n", json_array_size(rows));
    for (size_t i = 0; i < json_array_size(rows); i++) PBD_TRY(feed_row(hash, t, json_array_get(rows, i), 0));
    return pbd_ok();
}

static pbd_status feed_run(XXH3_state_t *hash, const json_t *record) {
    PBD_TRY(feed_row(hash, find_table("cell"), json_object_get(record, "cell"), 0));
    PBD_TRY(feed_row(hash, find_table("run"), json_object_get(record, "run"), 1));
    for (size_t t = 0; t < TABLES; t++) {
        if (tables[t].place == CHILD) PBD_TRY(feed_children(hash, &tables[t], json_object_get(record, tables[t].name)));
    }
    return pbd_ok();
}

static pbd_status feed_comparison(XXH3_state_t *hash, const json_t *record) {
    PBD_TRY(feed_row(hash, find_table("comparison"), json_object_get(record, "comparison"), 1));
    return feed_children(hash, find_table("comparison_pair"), json_object_get(record, "comparison_pair"));
}

typedef pbd_status (*feeder)(XXH3_state_t *hash, const json_t *record);

static pbd_status hash_record(const json_t *record, feeder feed_it, char id[33]) {
    XXH3_state_t *hash = begin_hash();
    if (hash == NULL) return no_memory();
    const pbd_status status = feed_it(hash, record);
    end_hash(hash, id);
    return status;
}

pbd_status pbd_record_hash(const json_t *record, char run_id[33]) { return hash_record(record, feed_run, run_id); }

pbd_status pbd_record_identify(json_t *record, char run_id[33]) {
    PBD_TRY(pbd_record_hash(record, run_id));
    json_t *run = json_object_get(record, "run");
    return json_object_set_new(run, "run_id", json_string(run_id)) == 0 ? pbd_ok() : no_memory();
}

pbd_status pbd_comparison_hash(const json_t *record, char comparison_id[33]) {
    return hash_record(record, feed_comparison, comparison_id);
}

/* Column `name` of the record's row of a table; "" if it is missing. */
static const char *text_of(const json_t *record, const char *table_name, const char *name) {
    const char *text = json_string_value(json_object_get(json_object_get(record, table_name), name));
    return text != NULL ? text : "";
}

/* Checks a row whose key is the hash of its other columns. */
static pbd_status verify_row(const json_t *record, const char *table_name) {
    const table *t = find_table(table_name);
    char hash[33];
    PBD_TRY(hash_row(t, json_object_get(record, t->name), hash));
    if (strcmp(hash, text_of(record, t->name, t->columns[0].name)) == 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "its %s was changed after it was stored: hash %s now", t->name, hash);
}

pbd_status pbd_comparison_verify(const json_t *record) {
    char hash[33];
    PBD_TRY(verify_row(record, "invocation"));
    const char *named = text_of(record, "comparison", "invocation_id");
    if (strcmp(named, text_of(record, "invocation", "invocation_id")) != 0)
        return pbd_error(PBD_BAD_INPUT, "the invocation beside it is not the one it refers to ('%s')", named);
    PBD_TRY(pbd_comparison_hash(record, hash));
    if (strcmp(hash, text_of(record, "comparison", "comparison_id")) != 0)
        return pbd_error(PBD_BAD_INPUT, "it was changed after it was stored: hash %s now", hash);
    return pbd_ok();
}

pbd_status pbd_record_verify(const json_t *record, const json_t *verified) {
    static const char *const hashed[] = {"build", "env", "invocation"};
    char hash[33];
    for (size_t i = 0; i < sizeof hashed / sizeof *hashed; i++) {
        const json_t *row = json_object_get(record, hashed[i]);
        if (row == NULL || row != json_object_get(verified, hashed[i])) PBD_TRY(verify_row(record, hashed[i]));
    }
    /* A file could hold other rows than those that the run refers to. */
    for (size_t i = 0; i < TABLES; i++) {
        const table *t = &tables[i];
        if (t->place == CHILD || !is_of_run(t)) continue;
        const char *named = text_of(record, t->place == BY_RUN_ROW ? "run" : "cell", t->link);
        if (strcmp(named, text_of(record, t->name, t->columns[0].name)) != 0)
            return pbd_error(PBD_BAD_INPUT, "the %s beside it is not the one it refers to ('%s')", t->name, named);
    }
    PBD_TRY(pbd_record_hash(record, hash));
    if (strcmp(hash, text_of(record, "run", "run_id")) != 0)
        return pbd_error(PBD_BAD_INPUT, "it was changed after it was stored: hash %s now", hash);
    return pbd_ok();
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Writes the columns' names, quoted, separated by commas. */
static void write_columns(FILE *out, const table *t) {
    for (const column *c = t->columns; c->name != NULL; c++)
        fprintf(out, "%s\"%s\"", c == t->columns ? "" : ",", c->name);
}

static pbd_status compile_select(const pbd_store *store, const table *t, sqlite3_stmt **out) {
    char sql[1024];
    FILE *text = fmemopen(sql, sizeof sql, "w");
    if (text == NULL) return pbd_store_no_memory(store);
    fputs("SELECT ", text);
    write_columns(text, t);
    fprintf(text, " FROM \"%s\" WHERE \"%s\" = ?1%s", t->name, is_child(t) ? t->link : t->columns[0].name,
            is_child(t) ? " ORDER BY position" : "");
    fclose(text);
    return pbd_store_prepare(store, sql, NULL, 0, out);
}

/* *out is a cached statement; the caller resets it after use. */
static pbd_status prepare_select(const pbd_store *store, const table *t, const char *key, sqlite3_stmt **out) {
    sqlite3_stmt **kept = &store->kept->select[t - tables];
    if (*kept == NULL) PBD_TRY(compile_select(store, t, kept));
    *out = *kept;
    if (sqlite3_bind_text(*out, 1, key, -1, SQLITE_TRANSIENT) == SQLITE_OK) return pbd_ok();
    return pbd_store_fault(store, "reading");
}

static json_t *read_row(sqlite3_stmt *stmt, const table *t) {
    json_t *row = json_object();
    for (int i = 0; row != NULL && t->columns[i].name != NULL; i++) {
        if (json_object_set_new(row, t->columns[i].name, column_json(stmt, i, t->columns[i].kind)) != 0) {
            json_decref(row);
            row = NULL;
        }
    }
    return row;
}

static void reset_statement(sqlite3_stmt **kept) { sqlite3_reset(*kept); }

/* Appends all rows of table `t` with this key to an array. */
static pbd_status read_rows(const pbd_store *store, const table *t, const char *key, json_t *rows) {
    sqlite3_stmt *stmt PBD_CLEANUP(reset_statement) = NULL;
    bool row;
    PBD_TRY(prepare_select(store, t, key, &stmt));
    for (;;) {
        PBD_TRY(pbd_store_step(store, stmt, &row, "reading a run"));
        if (!row) return pbd_ok();
        if (json_array_append_new(rows, read_row(stmt, t)) != 0)
            return pbd_error(PBD_BAD_INPUT, "the store '%s' has invalid text in a row of %s of '%s': run `db check`",
                             store->path, t->name, key);
    }
}

/* The row with this key, if it was the last one read from its table; else NULL. */
static json_t *row_at_hand(const pbd_store *store, const table *t, const char *key) {
    json_t *row = store->kept->read[t - tables];
    const char *its_key = json_string_value(json_object_get(row, t->columns[0].name));
    return its_key != NULL && strcmp(its_key, key) == 0 ? row : NULL;
}

static void keep(json_t **kept, json_t *row) {
    json_decref(*kept);
    *kept = json_incref(row);
}

/* Adds one table to the record: its rows for children, else the one row that `key` names. */
static pbd_status load_table(const pbd_store *store, const table *t, const char *key, json_t *record) {
    json_t *known = is_child(t) ? NULL : row_at_hand(store, t, key);
    if (known != NULL) return json_object_set(record, t->name, known) == 0 ? pbd_ok() : pbd_store_no_memory(store);
    json_auto_t *rows = json_array();
    if (rows == NULL) return pbd_store_no_memory(store);
    PBD_TRY(read_rows(store, t, key, rows));
    if (!is_child(t) && json_array_size(rows) == 0)
        return pbd_error(PBD_BAD_INPUT, "the store '%s' has no %s '%s'", store->path, t->name, key);
    json_t *entry = is_child(t) ? rows : json_array_get(rows, 0);
    if (!is_child(t)) keep(&store->kept->read[t - tables], entry);
    return json_object_set(record, t->name, entry) == 0 ? pbd_ok() : pbd_store_no_memory(store);
}

static pbd_status load_all(const pbd_store *store, const char *run_id, json_t *record) {
    PBD_TRY(load_table(store, find_table("run"), run_id, record));
    PBD_TRY(load_table(store, find_table("cell"), text_of(record, "run", "cell_id"), record));
    for (size_t i = 0; i < TABLES; i++) {
        const table *t = &tables[i];
        if (json_object_get(record, t->name) != NULL || !is_of_run(t)) continue;
        const char *key = t->place == CHILD        ? run_id
                          : t->place == BY_RUN_ROW ? text_of(record, "run", t->link)
                                                   : text_of(record, "cell", t->link);
        PBD_TRY(load_table(store, t, key, record));
    }
    return pbd_ok();
}

static pbd_status load_comparison(const pbd_store *store, const char *comparison_id, json_t *record) {
    PBD_TRY(load_table(store, find_table("comparison"), comparison_id, record));
    PBD_TRY(load_table(store, find_table("comparison_pair"), comparison_id, record));
    return load_table(store, find_table("invocation"), text_of(record, "comparison", "invocation_id"), record);
}

typedef pbd_status (*loader)(const pbd_store *store, const char *id, json_t *record);

static pbd_status load_record(const pbd_store *store, const char *id, loader load, json_t **out) {
    *out = NULL;
    json_auto_t *record = json_object();
    if (record == NULL) return pbd_store_no_memory(store);
    PBD_TRY(load(store, id, record));
    *out = json_incref(record);
    return pbd_ok();
}

pbd_status pbd_record_load(const pbd_store *store, const char *run_id, json_t **out) {
    return load_record(store, run_id, load_all, out);
}

pbd_status pbd_comparison_load(const pbd_store *store, const char *comparison_id, json_t **out) {
    return load_record(store, comparison_id, load_comparison, out);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The triggers ignore a row that is already stored, so a plain INSERT is enough, except for case and method, whose
 * summaries may change from version to version: there the row that came first stays. */
static pbd_status compile_insert(const pbd_store *store, const table *t, sqlite3_stmt **out) {
    char sql[1024];
    FILE *text = fmemopen(sql, sizeof sql, "w");
    if (text == NULL) return pbd_store_no_memory(store);
    fprintf(text, "INSERT %sINTO \"%s\" (", t->place == BY_CELL_ROW ? "OR IGNORE " : "", t->name);
    write_columns(text, t);
    if (is_child(t)) fprintf(text, ",position,%s", t->link);
    fputs(") VALUES (", text);
    for (const column *c = t->columns; c->name != NULL; c++) fputs(c == t->columns ? "?" : ",?", text);
    fputs(is_child(t) ? ",?,?)" : ")", text);
    fclose(text);
    return pbd_store_prepare(store, sql, NULL, 0, out);
}

/* *out is a cached statement. */
static pbd_status prepare_insert(const pbd_store *store, const table *t, sqlite3_stmt **out) {
    sqlite3_stmt **kept = &store->kept->insert[t - tables];
    if (*kept == NULL) PBD_TRY(compile_insert(store, t, kept));
    *out = *kept;
    return pbd_ok();
}

void pbd_store_forget_written(pbd_kept *kept) {
    for (size_t i = 0; i < TABLES; i++) {
        json_decref(kept->written[i]);
        kept->written[i] = NULL;
    }
}

void pbd_store_forget(pbd_kept *kept) {
    if (kept == NULL) return;
    pbd_store_forget_written(kept);
    for (size_t i = 0; i < TABLES; i++) {
        sqlite3_finalize(kept->select[i]);
        sqlite3_finalize(kept->insert[i]);
        json_decref(kept->read[i]);
    }
    free(kept);
}

/* Binds and inserts one row; children get their position and their owner's id after their own columns. */
static pbd_status insert_row(const pbd_store *store, sqlite3_stmt *stmt, const table *t, const json_t *row,
                             size_t position, const char *owner_id) {
    int at = 1;
    for (const column *c = t->columns; c->name != NULL; c++, at++) {
        const json_t *value = json_object_get(row, c->name);
        if (value == NULL || !fits(value, c->kind))
            return pbd_error(PBD_BAD_INPUT, "%s.%s is missing or invalid", t->name, c->name);
        if (!bind(stmt, at, c->kind, value)) return pbd_store_fault(store, "storing a run");
    }
    if (is_child(t) && (sqlite3_bind_int64(stmt, at, (sqlite3_int64)position) != SQLITE_OK ||
                        sqlite3_bind_text(stmt, at + 1, owner_id, -1, SQLITE_TRANSIENT) != SQLITE_OK))
        return pbd_store_fault(store, "storing a run");
    bool ignored;
    const pbd_status status = pbd_store_step(store, stmt, &ignored, "storing a run");
    sqlite3_reset(stmt);
    return status;
}

pbd_status pbd_row_insert(const pbd_store *store, const char *name, const json_t *row) {
    const table *t = find_table(name);
    sqlite3_stmt *stmt;
    PBD_TRY(prepare_insert(store, t, &stmt));
    return insert_row(store, stmt, t, row, 0, NULL);
}

static pbd_status insert_children(const pbd_store *store, const table *t, const json_t *rows, const char *owner_id) {
    sqlite3_stmt *stmt;
    PBD_TRY(prepare_insert(store, t, &stmt));
    for (size_t i = 0; i < json_array_size(rows); i++)
        PBD_TRY(insert_row(store, stmt, t, json_array_get(rows, i), i, owner_id));
    return pbd_ok();
}

pbd_status pbd_record_insert(const pbd_store *store, const json_t *record, bool *added) {
    *added = false;
    const char *run_id = text_of(record, "run", "run_id");
    for (size_t i = 0; i < TABLES; i++) {
        const table *t = &tables[i];
        if (!is_of_run(t)) continue;
        json_t *entry = json_object_get(record, t->name);
        if (entry == json_object_get(store->origin, t->name) && entry != NULL) continue; /* stored by pbd_store_begin */
        if (entry == store->kept->written[i] && entry != NULL) continue;                 /* an earlier run stored it */
        const int before = sqlite3_total_changes(store->db);
        PBD_TRY(t->place == CHILD ? insert_children(store, t, entry, run_id) : pbd_row_insert(store, t->name, entry));
        if (strcmp(t->name, "run") == 0) *added = sqlite3_total_changes(store->db) != before;
        if (t->place == BY_CELL_ROW) PBD_TRY(pbd_about_insert(store, t->name, entry));
        if (t->place != CHILD) keep(&store->kept->written[i], entry);
    }
    return pbd_ok();
}

pbd_status pbd_comparison_insert(const pbd_store *store, const json_t *record) {
    PBD_TRY(pbd_row_insert(store, "invocation", json_object_get(record, "invocation")));
    PBD_TRY(pbd_row_insert(store, "comparison", json_object_get(record, "comparison")));
    return insert_children(store, find_table("comparison_pair"), json_object_get(record, "comparison_pair"),
                           text_of(record, "comparison", "comparison_id"));
}
