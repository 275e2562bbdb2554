/* Links to runs and machines, and the tables' common cells. What is linked to is noted: the appendix shows it. */
#include <math.h>
#include <string.h>

#include "harness/query/cell_labels.h"
#include "harness/report/report.h"

enum { MOST_RUNS = 5000, SHOWN_DIGITS = 8 };

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* Both are executed thousands of times. */
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
    html_open(&r->html, "span", "title", "not on this page, which is limited: see `pbdbench show`", NULL);
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

pbd_status report_errors(report *r, const char *run_id) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row, any = false;
    PBD_TRY(report_ask(r,
                       "SELECT name, value, unit FROM metric AS m WHERE run_id = ?1"
                       " AND " PBD_SQL_SHOWN_ERROR("m") " AND value IS NOT NULL"
                                                        " ORDER BY name LIKE '%error%' DESC, position LIMIT 2",
                       &run_id, 1, &stmt));
    for (;; any = true) {
        PBD_TRY(report_next(r, stmt, &row));
        if (!row) break;
        const double value = report_real(stmt, 1);
        const char *unit = pbd_column_text(stmt, 2);
        if (any)
            html_void(&r->html, "br", NULL);
        else
            html_cell_open(&r->html, value, false);
        html_textf(&r->html, "%s %.3g%s%s", pbd_column_text(stmt, 0), value, strcmp(unit, "1") == 0 ? "" : " ",
                   strcmp(unit, "1") == 0 ? "" : unit);
    }
    if (any)
        html_close(&r->html, "td");
    else
        html_cellf(&r->html, (double)NAN, false, "none known");
    return pbd_ok();
}

void report_machine_link(report *r, const char *env_id, const char *text) {
    char target[60];
    snprintf(target, sizeof target, "machine-%.40s", env_id);
    html_link(&r->html, target, text);
}

/* ---- Tables of runs ---------------------------------------------------------------------------------------------- */

/* What differs between the rows of a query (columns 1 to 3: case, method, parameters). The query is reset after it. */
static pbd_status label_rows(report *r, sqlite3_stmt *stmt, pbd_arena *a, char ***label) {
    pbd_stored_cell *cell = NULL;
    size_t cells = 0;
    bool row;
    for (;; cells++) {
        PBD_TRY(report_next(r, stmt, &row));
        if (!row) break;
        if (!pbd_arena_more(a, &cell, cells, sizeof *cell)) return pbd_arena_check(a);
        cell[cells].case_name = pbd_new_text(a, pbd_column_text(stmt, 1));
        cell[cells].method = pbd_new_text(a, pbd_column_text(stmt, 2));
        cell[cells].params = pbd_new_text(a, pbd_column_text(stmt, 3));
    }
    sqlite3_reset(stmt);
    *label = pbd_new(a, char *, cells);
    PBD_TRY(pbd_arena_check(a));
    PBD_TRY(pbd_cell_labels(cell, cells, *label));
    for (size_t i = 0; i < cells; i++) {
        char *text PBD_CLEANUP(pbd_free_memory) = (*label)[i];
        (*label)[i] = pbd_new_text(a, text);
    }
    return pbd_arena_check(a);
}

pbd_status report_write_table(report *r, const report_table *t, const char *const *text, size_t texts, size_t *rows) {
    pbd_arena a PBD_ARENA;
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    char **label = NULL;
    bool row;
    if (!r->store) return pbd_ok();
    PBD_TRY(report_ask(r, t->sql, text, texts, &stmt));
    if (t->varying) PBD_TRY(label_rows(r, stmt, &a, &label));
    for (size_t i = 0;; i++) {
        PBD_TRY(report_next(r, stmt, &row));
        if (!row && i > 0) html_table_close(&r->html);
        if (!row) return pbd_ok();
        if (i == 0 && t->heading) html_element(&r->html, "h3", t->heading);
        if (i == 0) html_table_open(&r->html, t->id, t->caption, t->column, t->columns);
        html_open(&r->html, "tr", NULL);
        PBD_TRY(t->write(r, stmt, label ? label[i] : NULL));
        html_close(&r->html, "tr");
        ++*rows;
    }
}
