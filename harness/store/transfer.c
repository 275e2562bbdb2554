/* Copies runs from store to store, and to and from text.
 *
 * An export has one record (rows.h) per line, keys sorted, numbers with 17 digits, series as arrays: the same runs give
 * the same bytes. Every record is hashed again before it is stored, so that an edited line is refused.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/store/rows.h"

/* ---- Export ------------------------------------------------------------------------------------------------------ */

pbd_status pbd_record_open(json_t *record) {
    json_t *series = json_object_get(record, "series");
    for (size_t i = 0; i < json_array_size(series); i++) {
        json_t *row = json_array_get(series, i);
        json_t *values = pbd_series_open(json_string_value(json_object_get(row, "values")));
        if (json_object_set_new(row, "values", values) != 0)
            return pbd_error(PBD_BAD_INPUT, "its series '%s' is not an array of numbers: see `pbdbench db check`",
                             json_string_value(json_object_get(row, "name")));
    }
    return pbd_ok();
}

pbd_status pbd_record_close(json_t *record) {
    json_t *series = json_object_get(record, "series");
    for (size_t i = 0; i < json_array_size(series); i++) {
        json_t *row = json_array_get(series, i);
        char *text = pbd_series_close(json_object_get(row, "values"));
        const bool fine = text != NULL && json_object_set_new(row, "values", json_string(text)) == 0;
        free(text);
        if (!fine) return pbd_error(PBD_BAD_INPUT, "series %zu holds no array of values", i);
    }
    return pbd_ok();
}

static pbd_status cannot_write(void) {
    return pbd_error(PBD_BAD_INPUT, "the export cannot be written: %s: free some space or write it elsewhere",
                     strerror(errno));
}

static pbd_status write_line(const json_t *record, FILE *out) {
    if (json_dumpf(record, out, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) != 0 ||
        fputc('\n', out) == EOF)
        return cannot_write();
    return pbd_ok();
}

static pbd_status export_run(const pbd_store *store, const char *run_id, FILE *out) {
    json_auto_t *record = NULL;
    PBD_TRY(pbd_record_load(store, run_id, &record));
    PBD_TRY(pbd_record_open(record));
    return write_line(record, out);
}

typedef struct exporting {
    const pbd_store *store;
    FILE *out;
    size_t runs;
} exporting;

static pbd_status visit_export(void *context, sqlite3_stmt *row) {
    exporting *e = context;
    e->runs++;
    return export_run(e->store, pbd_column_text(row, 0), e->out);
}

static pbd_status visit_export_comparison(void *context, sqlite3_stmt *row) {
    const exporting *e = context;
    json_auto_t *record = NULL;
    PBD_TRY(pbd_comparison_load(e->store, pbd_column_text(row, 0), &record));
    return write_line(record, e->out);
}

static pbd_status end_export(FILE *out) {
    errno = 0;
    return fflush(out) != 0 || ferror(out) ? cannot_write() : pbd_ok();
}

pbd_status pbd_store_export(pbd_store *store, void *out, size_t *runs) {
    exporting e = {store, out, 0};
    *runs = 0;
    PBD_TRY(pbd_store_each_run(store, visit_export, &e));
    /* after the runs they refer to */
    PBD_TRY(pbd_store_each_comparison(store, visit_export_comparison, &e));
    PBD_TRY(end_export(e.out));
    *runs = e.runs;
    return pbd_ok();
}

pbd_status pbd_store_export_runs(pbd_store *store, const char *const *run_ids, size_t count, void *out) {
    for (size_t i = 0; i < count; i++) PBD_TRY(export_run(store, run_ids[i], out));
    return end_export(out);
}

/* ---- Merge ------------------------------------------------------------------------------------------------------- */

typedef struct merging {
    pbd_store *into;
    const pbd_store *store; /* the store to be merged; NULL: an export is */
    const char *from;
    json_t *verified; /* the previous run; owned */
    size_t added, known;
} merging;

/* Checks a record and stores it in the current transaction. Comparisons are not counted. */
static pbd_status take_record(merging *m, json_t *record) {
    bool added;
    if (json_object_get(record, "comparison") != NULL) {
        PBD_TRY(pbd_comparison_verify(record));
        return pbd_comparison_insert(m->into, record);
    }
    PBD_TRY(pbd_record_verify(record, m->verified));
    json_decref(m->verified);
    m->verified = json_incref(record);
    PBD_TRY(pbd_record_insert(m->into, record, &added));
    if (added)
        m->added++;
    else
        m->known++;
    return pbd_ok();
}

static pbd_status visit_merge(void *context, sqlite3_stmt *row) {
    merging *m = context;
    json_auto_t *record = NULL;
    PBD_TRY(pbd_record_load(m->store, pbd_column_text(row, 0), &record));
    const pbd_status status = take_record(m, record);
    if (status.code != PBD_BAD_INPUT) return status;
    return pbd_error(PBD_BAD_INPUT, "run %s of '%s' is not merged, nor is any other: %s", pbd_column_text(row, 0),
                     m->from, status.text);
}

static pbd_status visit_merge_comparison(void *context, sqlite3_stmt *row) {
    merging *m = context;
    json_auto_t *record = NULL;
    PBD_TRY(pbd_comparison_load(m->store, pbd_column_text(row, 0), &record));
    const pbd_status status = take_record(m, record);
    if (status.code != PBD_BAD_INPUT) return status;
    return pbd_error(PBD_BAD_INPUT, "comparison %s of '%s' is not merged, nor is any run: %s", pbd_column_text(row, 0),
                     m->from, status.text);
}

static pbd_status merge_rows(merging *m) {
    PBD_TRY(pbd_store_each_run(m->store, visit_merge, m));
    return pbd_store_each_comparison(m->store, visit_merge_comparison, m);
}

static pbd_status merge_line(merging *m, const char *line, size_t length) {
    json_error_t error;
    json_auto_t *record = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
    if (record == NULL) return pbd_error(PBD_BAD_INPUT, "column %d: %.160s", error.column, error.text);
    if (json_object_get(record, "comparison") == NULL) PBD_TRY(pbd_record_close(record));
    return take_record(m, record);
}

static pbd_status merge_lines(merging *m, FILE *file) {
    char *line PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t capacity = 0;
    ssize_t length;
    for (unsigned long number = 1; (length = getline(&line, &capacity, file)) >= 0; number++) {
        if (strspn(line, " \t\r\n") == (size_t)length) continue;
        const pbd_status status = merge_line(m, line, (size_t)length);
        if (status.code == PBD_BAD_INPUT)
            return pbd_error(PBD_BAD_INPUT, "'%s', line %lu: not merged, nor is any other: %s", m->from, number,
                             status.text);
        PBD_TRY(status);
    }
    return ferror(file) ? pbd_error(PBD_BAD_INPUT, "'%s' cannot be read: %s", m->from, strerror(errno)) : pbd_ok();
}

/* An export begins with a brace, or is empty; anything else is opened as a store, with its errors. */
static bool is_export(FILE *file) {
    const int first = fgetc(file);
    ungetc(first, file);
    return first == '{' || (first == EOF && !ferror(file));
}

/* All runs or none: a merge that fails leaves `into` as it was. */
pbd_status pbd_store_merge(pbd_store *into, const char *from_path, size_t *added, size_t *known) {
    merging m = {.into = into, .from = from_path};
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    *added = *known = 0;
    FILE *file PBD_CLEANUP(pbd_close_file) = fopen(from_path, "rb");
    if (file == NULL) return pbd_error(PBD_BAD_INPUT, "'%s' cannot be read: %s", from_path, strerror(errno));
    if (!is_export(file)) {
        pbd_close_file(&file); /* before SQLite opens it: closing any descriptor of a file drops the process's locks */
        file = NULL;
        PBD_TRY(pbd_store_open(from_path, PBD_STORE_READ, &store));
    }
    m.store = store;
    PBD_TRY(pbd_store_start(into, "merging"));
    const pbd_status status = pbd_store_end(into, store ? merge_rows(&m) : merge_lines(&m, file), "merging");
    json_decref(m.verified);
    PBD_TRY(status);
    *added = m.added;
    *known = m.known;
    return pbd_ok();
}
