/* Runs from store to store, and to and from text.
 *
 * An export is one record (rows.h) a line, keys sorted, numbers with 17 digits, series as arrays: the same runs give
 * the same bytes. Whatever comes in is hashed again before it is stored, so that an edited line is refused.
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

static pbd_status export_run(pbd_store *store, const char *run_id, FILE *out) {
    json_t *record;
    PBD_TRY(pbd_record_load(store, run_id, &record));
    pbd_status status = pbd_record_open(record);
    if (status.code == PBD_OK) status = write_line(record, out);
    json_decref(record);
    return status;
}

/* What is done with each run or comparison of a store. */
typedef pbd_status (*visitor)(pbd_store *store, const char *id, void *context);

static const char all_runs[] = "SELECT run_id FROM run ORDER BY run_id";
static const char all_comparisons[] = "SELECT comparison_id FROM comparison ORDER BY comparison_id";

static pbd_status for_each(pbd_store *store, const char *ids, visitor visit, void *context) {
    sqlite3_stmt *stmt;
    bool row = true;
    pbd_status status = pbd_store_prepare(store, ids, NULL, 0, &stmt);
    while (status.code == PBD_OK && row) {
        status = pbd_store_step(store, stmt, &row, "reading its runs");
        if (status.code == PBD_OK && row) status = visit(store, (const char *)sqlite3_column_text(stmt, 0), context);
    }
    sqlite3_finalize(stmt);
    return status;
}

typedef struct exporting {
    FILE *out;
    size_t runs;
} exporting;

static pbd_status visit_export(pbd_store *store, const char *run_id, void *context) {
    exporting *e = context;
    e->runs++;
    return export_run(store, run_id, e->out);
}

static pbd_status visit_export_comparison(pbd_store *store, const char *comparison_id, void *context) {
    const exporting *e = context;
    json_t *record;
    PBD_TRY(pbd_comparison_load(store, comparison_id, &record));
    const pbd_status status = write_line(record, e->out);
    json_decref(record);
    return status;
}

static pbd_status end_export(FILE *out) {
    errno = 0;
    return fflush(out) != 0 || ferror(out) ? cannot_write() : pbd_ok();
}

pbd_status pbd_store_export(pbd_store *store, void *out, size_t *runs) {
    exporting e = {out, 0};
    *runs = 0;
    PBD_TRY(for_each(store, all_runs, visit_export, &e));
    PBD_TRY(for_each(store, all_comparisons, visit_export_comparison, &e)); /* after the runs they rest on */
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
    const char *from;
    json_t *verified; /* the run before; owned */
    size_t added, known;
} merging;

/* Checks a record and stores it in the transaction under way. Comparisons are not counted. */
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

static pbd_status visit_merge(pbd_store *from, const char *run_id, void *context) {
    merging *m = context;
    json_t *record;
    PBD_TRY(pbd_record_load(from, run_id, &record));
    pbd_status status = take_record(m, record);
    json_decref(record);
    if (status.code == PBD_BAD_INPUT)
        status = pbd_error(PBD_BAD_INPUT, "run %s of '%s' is not merged, nor is any other: %s", run_id, m->from,
                           status.text);
    return status;
}

static pbd_status visit_merge_comparison(pbd_store *from, const char *comparison_id, void *context) {
    merging *m = context;
    json_t *record;
    PBD_TRY(pbd_comparison_load(from, comparison_id, &record));
    pbd_status status = take_record(m, record);
    json_decref(record);
    if (status.code == PBD_BAD_INPUT)
        status = pbd_error(PBD_BAD_INPUT, "comparison %s of '%s' is not merged, nor is any run: %s", comparison_id,
                           m->from, status.text);
    return status;
}

static pbd_status merge_from(merging *m, pbd_store *from) {
    PBD_TRY(for_each(from, all_runs, visit_merge, m));
    return for_each(from, all_comparisons, visit_merge_comparison, m);
}

static pbd_status merge_line(merging *m, const char *line, size_t length) {
    json_error_t error;
    json_t *record = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
    if (record == NULL) return pbd_error(PBD_BAD_INPUT, "column %d: %.160s", error.column, error.text);
    pbd_status status = json_object_get(record, "comparison") != NULL ? pbd_ok() : pbd_record_close(record);
    if (status.code == PBD_OK) status = take_record(m, record);
    json_decref(record);
    return status;
}

static pbd_status merge_lines(merging *m, FILE *file) {
    char *line = NULL;
    size_t capacity = 0;
    pbd_status status = pbd_ok();
    for (unsigned long number = 1; status.code == PBD_OK; number++) {
        const ssize_t length = getline(&line, &capacity, file);
        if (length < 0) break;
        if (strspn(line, " \t\r\n") == (size_t)length) continue;
        status = merge_line(m, line, (size_t)length);
        if (status.code == PBD_BAD_INPUT)
            status = pbd_error(PBD_BAD_INPUT, "'%s', line %lu: not merged, nor is any other: %s", m->from, number,
                               status.text);
    }
    free(line);
    if (status.code == PBD_OK && ferror(file))
        status = pbd_error(PBD_BAD_INPUT, "'%s' cannot be read: %s", m->from, strerror(errno));
    return status;
}

/* All runs or none: a merge that stops half-way leaves `into` as it was. */
static pbd_status merge_all(merging *m, pbd_store *from, FILE *lines) {
    PBD_TRY(pbd_store_start(m->into, "merging"));
    const pbd_status status = from != NULL ? merge_from(m, from) : merge_lines(m, lines);
    return pbd_store_end(m->into, status, "merging");
}

static pbd_status merge_store(merging *m) {
    pbd_store *from;
    PBD_TRY(pbd_store_open(m->from, PBD_STORE_READ, &from));
    const pbd_status status = merge_all(m, from, NULL);
    pbd_store_close(from);
    return status;
}

/* An export begins with a brace, or is empty; anything else is taken for a store, which says what is wrong with it. */
static bool is_export(FILE *file) {
    const int first = fgetc(file);
    ungetc(first, file);
    return first == '{' || (first == EOF && !ferror(file));
}

pbd_status pbd_store_merge(pbd_store *into, const char *from_path, size_t *added, size_t *known) {
    merging m = {.into = into, .from = from_path};
    *added = *known = 0;
    FILE *file = fopen(from_path, "rb");
    if (file == NULL) return pbd_error(PBD_BAD_INPUT, "'%s' cannot be read: %s", from_path, strerror(errno));
    const bool lines = is_export(file);
    pbd_status status = lines ? merge_all(&m, NULL, file) : pbd_ok();
    fclose(file);
    if (!lines) status = merge_store(&m);
    json_decref(m.verified);
    if (status.code != PBD_OK) return status;
    *added = m.added;
    *known = m.known;
    return status;
}
