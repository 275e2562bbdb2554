/* What changed from build to build: one row a history, those with a step first. */
#include <math.h>
#include <string.h>

#include "harness/report/report.h"
#include "harness/trend/history.h"

enum { MOST_CELLS = 12, MOST_ROWS = 100, CHART_WIDTH = 160, CHART_HEIGHT = 32, CHART_EDGE = 3 };

/* ---- A small chart ----------------------------------------------------------------------------------------------- */

/* The values as dots and the levels as a line. Hidden from screen readers: the row has the numbers. */
static pbd_status write_course(report *r, const pbd_history *history) {
    pbd_arena a PBD_ARENA;
    pbd_html *h = &r->html;
    enum { POINT = 40 }; /* characters of a point, at most */
    double low = INFINITY, high = -INFINITY;
    char box[40], width[16], height[16];
    char *dots = pbd_new(&a, char, history->points *POINT), *line = pbd_new(&a, char, history->points *POINT);
    size_t dots_used = 0, line_used = 0;
    PBD_TRY(pbd_arena_check(&a));
    if (!history->steps.level) { /* a value is not finite */
        html_cell(h, "");
        return pbd_ok();
    }
    for (size_t i = 0; i < history->points; i++) {
        low = fmin(low, history->point[i].value);
        high = fmax(high, history->point[i].value);
    }
    const double x_step = (double)(CHART_WIDTH - 2 * CHART_EDGE) / (double)(history->points - 1);
    const double y_scale = high > low ? (CHART_HEIGHT - 2 * CHART_EDGE) / (high - low) : 0;
    snprintf(box, sizeof box, "0 0 %d %d", CHART_WIDTH, CHART_HEIGHT);
    snprintf(width, sizeof width, "%d", CHART_WIDTH);
    snprintf(height, sizeof height, "%d", CHART_HEIGHT);
    for (size_t i = 0; i < history->points; i++) {
        const double x = CHART_EDGE + x_step * (double)i;
        const double y = CHART_HEIGHT - CHART_EDGE - y_scale * (history->point[i].value - low);
        const double level = CHART_HEIGHT - CHART_EDGE - y_scale * (history->steps.level[i] - low);
        dots_used += (size_t)snprintf(dots + dots_used, POINT, "M%.1f %.1fh0", x, y);
        line_used += (size_t)snprintf(line + line_used, POINT, "%s%.1f,%.1f", i ? " " : "", x, level);
    }
    html_open(h, "td", NULL);
    html_open(h, "svg", "class", "course", "viewBox", box, "width", width, "height", height, "aria-hidden", "true",
              NULL);
    html_open(h, "polyline", "points", line, NULL);
    html_close(h, "polyline");
    html_open(h, "path", "d", dots, NULL);
    html_close(h, "path");
    html_close(h, "svg");
    html_close(h, "td");
    return pbd_ok();
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* The newest run of the newest build, which its value is a median over. */
static pbd_status write_newest(report *r, const pbd_history *history) {
    const pbd_history_point *point = &history->point[history->points - 1];
    const char *const key[] = {history->cell_ids, history->machine, point->source};
    const bool pure = strcmp(history->unit, "1") == 0;
    char text[60];
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    snprintf(text, sizeof text, "%.4g%s%.20s", point->value, pure ? "" : " ", pure ? "" : history->unit);
    PBD_TRY(report_ask(r,
                       "SELECT run_id FROM run JOIN build USING (build_id) JOIN env USING (env_id)"
                       " WHERE cell_id IN (SELECT value FROM json_each(?1)) AND fingerprint = ?2"
                       " AND source = ?3 AND kind = 'run' AND state = 'ok' ORDER BY started_at DESC LIMIT 1",
                       key, 3, &stmt));
    PBD_TRY(report_next(r, stmt, &row));
    html_cell_open(&r->html, point->value, true);
    if (row)
        PBD_TRY(report_run_link(r, pbd_column_text(stmt, 0), text));
    else
        html_text(&r->html, text);
    html_close(&r->html, "td");
    return pbd_ok();
}

static void write_last_step(report *r, const pbd_history *history) {
    pbd_html *h = &r->html;
    if (history->steps.count == 0) {
        html_cellf(h, (double)NAN, false, "none");
        return;
    }
    const pbd_step *step = &history->steps.step[history->steps.count - 1];
    const double change = (step->after - step->before) / fabs(step->before);
    char key[40] = "";
    if (isfinite(change)) snprintf(key, sizeof key, "%.17g", change);
    html_open(h, "td", "class", "wide", "data-sort", key, NULL);
    if (history->kind != PBD_STATE) {
        html_element(h, "strong", pbd_step_is_worse(history, step) ? "worse" : "better");
        html_text(h, ": ");
    }
    html_textf(h, "%.4g to %.4g", step->before, step->after);
    if (isfinite(change)) html_textf(h, " (%+.1f %%)", 100 * change);
    html_textf(h, " at %.12s%s, p = %.2g", history->point[step->at].git_sha,
               history->point[step->at].dirty ? " with changes" : "", step->p);
    if (history->steps.count > 1) html_textf(h, "; %zu steps before", history->steps.count - 1);
    html_close(h, "td");
}

static pbd_status write_history(report *r, const pbd_history *history) {
    pbd_html *h = &r->html;
    html_open(h, "tr", NULL);
    html_cell(h, history->cell->case_name);
    html_cell(h, history->cell->method);
    html_cell(h, history->varies);
    html_elementf(h, "td", "whole", "%s, %s, %d thread%s", history->cell->backend, history->cell->precision,
                  history->cell->threads, history->cell->threads == 1 ? "" : "s");
    html_cell(h, history->metric);
    html_number(h, (double)history->points, 9);
    PBD_TRY(write_course(r, history));
    PBD_TRY(write_newest(r, history));
    write_last_step(r, history);
    html_elementf(h, "td", NULL, "%s, %s", history->cpu, history->preset);
    html_close(h, "tr");
    return pbd_ok();
}

static pbd_status write_table(report *r, const pbd_histories *all) {
    static const html_column columns[] = {{"Case", false},
                                          {"Method", false},
                                          {"Settings that differ", false},
                                          {"On", false},
                                          {"Metric", false},
                                          {"Builds", true},
                                          {"Course", false},
                                          {"Newest", true},
                                          {"Last step", false},
                                          {"Machine and preset", false}};
    size_t rows = 0;
    html_table_open(&r->html, "history-table", "Histories of the cells run last; those with a step come first", columns,
                    sizeof columns / sizeof *columns);
    for (int pass = 0; pass < 2; pass++) /* with steps, then without */
        for (size_t i = 0; i < all->count && rows < MOST_ROWS; i++) {
            const pbd_history *history = &all->item[i];
            if (history->points < 2 || (history->steps.count > 0) != (pass == 0)) continue;
            PBD_TRY(write_history(r, history));
            rows++;
        }
    html_table_close(&r->html);
    return pbd_ok();
}

pbd_status report_history(report *r) {
    pbd_html *h = &r->html;
    html_element(h, "p",
                 "A point is a build: the median over its runs of one cell on one machine. A step is where the level "
                 "changed permanently, found by the best piecewise constant fit and confirmed by a permutation test.");
    const pbd_history_query query = {.most_cells = MOST_CELLS, .seed = 1};
    pbd_histories all PBD_CLEANUP(pbd_histories_free) = {0};
    const pbd_status status = r->store ? pbd_histories_load(r->store, &query, &all) : pbd_ok();
    if (status.code != PBD_BAD_INPUT) PBD_TRY(status); /* PBD_BAD_INPUT: no runs yet */
    size_t histories = 0;
    for (size_t i = 0; i < all.count; i++) histories += all.item[i].points >= 2;
    if (histories > 0)
        PBD_TRY(write_table(r, &all));
    else
        html_element(h, "p", "No cell has been run by two builds yet.");
    report_command(r, "./pbdbench history");
    return pbd_ok();
}
