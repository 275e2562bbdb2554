/* What changed from build to build: histories with a step come first. */
#include <math.h>
#include <string.h>

#include "harness/report/report.h"
#include "harness/trend/history.h"

enum { MOST_CELLS = 12, MOST_ROWS = 100, MOST_POINTS = 200 };

/* Adds the value of the newest build, which is a median over its runs, and its newest run. */
static pbd_status put_newest(report *r, const pbd_history *history, json_t *object) {
    const pbd_history_point *point = &history->point[history->points - 1];
    const char *const key[] = {history->cell_ids, history->machine, point->source};
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    report_put_real(object, "newest", point->value);
    PBD_TRY(report_ask(r,
                       "SELECT run_id FROM run JOIN build USING (build_id) JOIN env USING (env_id)"
                       " WHERE cell_id IN (SELECT value FROM json_each(?1)) AND fingerprint = ?2"
                       " AND source = ?3 AND kind = 'run' AND state = 'ok' ORDER BY started_at DESC LIMIT 1",
                       key, 3, &stmt));
    PBD_TRY(report_next(r, stmt, &row));
    if (!row) return pbd_ok();
    report_put_text(object, "run", pbd_column_text(stmt, 0));
    return report_note_run(r, pbd_column_text(stmt, 0));
}

static void put_last_step(const pbd_history *history, json_t *object) {
    if (history->steps.count == 0) return;
    const pbd_step *step = &history->steps.step[history->steps.count - 1];
    json_t *out = json_object();
    report_put_real(out, "before", step->before);
    report_put_real(out, "after", step->after);
    report_put_real(out, "change", (step->after - step->before) / fabs(step->before));
    report_put_real(out, "p", step->p);
    report_put_text(out, "commit", history->point[step->at].git_sha);
    report_put_true(out, "dirty", history->point[step->at].dirty);
    if (history->kind != PBD_STATE) report_put_text(out, "is", pbd_step_is_worse(history, step) ? "worse" : "better");
    report_put_count(out, "steps", history->steps.count);
    json_object_set_new(object, "step", out);
}

/* Values and levels of the newest builds; none where a value is not finite. */
static void put_course(const pbd_history *history, json_t *object) {
    if (!history->steps.level) return;
    json_t *values = json_array(), *levels = json_array();
    for (size_t i = history->points > MOST_POINTS ? history->points - MOST_POINTS : 0; i < history->points; i++) {
        json_array_append_new(values, json_real(history->point[i].value));
        json_array_append_new(levels, json_real(history->steps.level[i]));
    }
    json_object_set_new(object, "values", values);
    json_object_set_new(object, "levels", levels);
}

static pbd_status add_history(report *r, const pbd_history *history, json_t *all) {
    json_t *object = json_object();
    json_array_append_new(all, object);
    report_put_text(object, "case", history->cell->case_name);
    report_put_text(object, "method", history->cell->method);
    report_put_text(object, "settings", history->varies);
    report_put_text(object, "backend", history->cell->backend);
    report_put_text(object, "precision", history->cell->precision);
    report_put_count(object, "threads", (size_t)history->cell->threads);
    report_put_text(object, "metric", history->metric);
    report_put_text(object, "unit", strcmp(history->unit, "1") == 0 ? "" : history->unit);
    report_put_text(object, "cpu", history->cpu);
    report_put_text(object, "preset", history->preset);
    report_put_count(object, "builds", history->points);
    put_course(history, object);
    put_last_step(history, object);
    return put_newest(r, history, object);
}

pbd_status report_history(report *r, json_t **out) {
    const pbd_history_query query = {.most_cells = MOST_CELLS, .seed = 1};
    pbd_histories all PBD_CLEANUP(pbd_histories_free) = {0};
    *out = json_array();
    const pbd_status status = r->store ? pbd_histories_load(r->store, &query, &all) : pbd_ok();
    if (status.code != PBD_BAD_INPUT) PBD_TRY(status); /* PBD_BAD_INPUT: no runs yet */
    for (int pass = 0; pass < 2; pass++)               /* with steps, then without */
        for (size_t i = 0; i < all.count && json_array_size(*out) < MOST_ROWS; i++)
            if (all.item[i].points >= 2 && (all.item[i].steps.count > 0) == (pass == 0))
                PBD_TRY(add_history(r, &all.item[i], *out));
    return pbd_ok();
}
