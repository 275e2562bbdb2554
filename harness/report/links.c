/* Links to runs and machines, and the tables' common cells. What is linked to is noted: the appendix shows it. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/query/run_command.h"
#include "harness/report/report.h"
#include "harness/store/rows.h"

enum { MOST_RUNS = 5000, SHOWN_DIGITS = 8 };

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* Both are asked for thousands of times. */
static pbd_status prepare(report *r) {
    if (r->is_noted || !r->store) return pbd_ok();
    PBD_TRY(report_ask(r, "SELECT 1 FROM temp.report_run WHERE run_id = ?1", NULL, 0, &r->is_noted));
    return report_ask(r, "INSERT INTO temp.report_run VALUES (?1)", NULL, 0, &r->note);
}

static pbd_status step_with(report *r, sqlite3_stmt *stmt, const char *run_id, bool *row) {
    if (stmt) sqlite3_bind_text(stmt, 1, run_id, -1, SQLITE_TRANSIENT);
    const pbd_status status = report_next(r, stmt, row);
    if (stmt) sqlite3_reset(stmt);
    return status;
}

pbd_status report_note_run(report *r, const char *run_id, bool *noted) {
    bool ignored;
    PBD_TRY(prepare(r));
    PBD_TRY(step_with(r, r->is_noted, run_id, noted));
    if (*noted) return pbd_ok();
    if (r->runs_noted >= MOST_RUNS) {
        r->runs_left_out++;
        return pbd_ok();
    }
    r->runs_noted++;
    *noted = true;
    return step_with(r, r->note, run_id, &ignored);
}

pbd_status report_run_link(report *r, const char *run_id, const char *text) {
    bool noted;
    char short_id[SHOWN_DIGITS + 1], target[60];
    snprintf(short_id, sizeof short_id, "%s", run_id);
    snprintf(target, sizeof target, "run-%.40s", run_id);
    PBD_TRY(report_note_run(r, run_id, &noted));
    if (noted) {
        html_link(&r->html, target, text ? text : short_id);
        return pbd_ok();
    }
    html_open(&r->html, "span", "title", "one run too many for this page: see `pbdbench show`", NULL);
    html_text(&r->html, text ? text : short_id);
    html_close(&r->html, "span");
    return pbd_ok();
}

void report_set_link(report *r, long set, const char *text) {
    char target[40];
    snprintf(target, sizeof target, "runs-%ld", set + 1);
    if (set >= 0)
        html_link(&r->html, target, text);
    else
        html_text(&r->html, text);
}

pbd_status report_errors(report *r, const char *run_id, bool *any) {
    sqlite3_stmt *stmt;
    bool row = true;
    *any = false;
    pbd_status status = report_ask(r,
                                   "SELECT name, value, unit FROM metric AS m WHERE run_id = ?1"
                                   " AND " PBD_SQL_SHOWN_ERROR("m") " AND value IS NOT NULL"
                                   " ORDER BY name LIKE '%error%' DESC, position LIMIT 2",
                                   &run_id, 1, &stmt);
    while (status.code == PBD_OK && row) {
        status = report_next(r, stmt, &row);
        if (status.code != PBD_OK || !row) break;
        const double value = report_real(stmt, 1);
        const char *unit = report_column(stmt, 2);
        if (!*any) html_cell_open(&r->html, value, false);
        if (*any) html_void(&r->html, "br", NULL);
        html_textf(&r->html, "%s %.3g%s%s", report_column(stmt, 0), value, strcmp(unit, "1") == 0 ? "" : " ",
                   strcmp(unit, "1") == 0 ? "" : unit);
        *any = true;
    }
    if (!*any) html_cell_open(&r->html, (double)NAN, false);
    if (!*any) html_text(&r->html, "none known");
    html_close(&r->html, "td");
    sqlite3_finalize(stmt);
    return status;
}

void report_machine_link(report *r, const char *env_id, const char *text) {
    char target[60];
    snprintf(target, sizeof target, "machine-%.40s", env_id);
    html_link(&r->html, target, text);
}

/* ---- What differs between runs ----------------------------------------------------------------------------------- */

struct report_varying {
    json_t *params; /* array: one object a row */
    json_t *kind;   /* array: the row's method and case in one word */
    json_t *first;  /* kind -> parameters of its first row */
    json_t *varies; /* kind -> object of the names that differ */
    bool failed;
};

report_varying *report_varying_create(void) {
    report_varying *v = calloc(1, sizeof *v);
    if (v) *v = (report_varying){json_array(), json_array(), json_object(), json_object(), false};
    if (v && v->params && v->kind && v->first && v->varies) return v;
    report_varying_free(v);
    return NULL;
}

void report_varying_free(report_varying *v) {
    if (!v) return;
    json_decref(v->params);
    json_decref(v->kind);
    json_decref(v->first);
    json_decref(v->varies);
    free(v);
}

void report_varying_add(report_varying *v, const char *case_name, const char *method, const char *params) {
    char kind[200];
    snprintf(kind, sizeof kind, "%.90s %.90s", case_name, method);
    json_t *object = json_loads(params, 0, NULL);
    if (!json_is_object(object)) {
        json_decref(object);
        object = json_object();
    }
    json_t *first = json_object_get(v->first, kind), *value;
    if (!first) {
        json_object_set(v->first, kind, object);
        json_object_set_new(v->varies, kind, json_object());
        first = object;
    }
    const char *key;
    json_object_foreach(object, key, value) if (!json_equal(json_object_get(first, key), value))
        json_object_set_new(json_object_get(v->varies, kind), key, json_true());
    if (json_array_append_new(v->params, object) != 0 || json_array_append_new(v->kind, json_string(kind)) != 0)
        v->failed = true;
}

char *report_varying_of(report_varying *v, size_t row) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = v->failed ? NULL : open_memstream(&text, &bytes);
    if (!out) return NULL;
    const json_t *params = json_array_get(v->params, row);
    const char *kind = json_string_value(json_array_get(v->kind, row)), *key, *between = "";
    json_t *ignored;
    json_object_foreach(json_object_get(v->varies, kind), key, ignored) {
        char number[40];
        const json_t *value = json_object_get(params, key);
        if (!value) continue;
        fprintf(out, "%s%s=%s", between, key, pbd_spell_param(value, number));
        between = " ";
    }
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}
