/* What changed from build to build: one row a history, those with a step first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/report.h"
#include "harness/trend/history.h"

enum { MOST_CELLS = 12, MOST_ROWS = 100, CHART_WIDTH = 160, CHART_HEIGHT = 32, CHART_EDGE = 3 };

/* ---- A small chart ----------------------------------------------------------------------------------------------- */

/* The values as dots and the levels as a line. It shows what the row's numbers say, so readers of the screen pass over
 * it. */
static void write_course(report *r, const pbd_history *history) {
    pbd_html *h = &r->html;
    double low = INFINITY, high = -INFINITY;
    char box[40], width[16], height[16];
    for (size_t i = 0; i < history->points; i++) {
        low = fmin(low, history->point[i].value);
        high = fmax(high, history->point[i].value);
    }
    const double x_step = (double)(CHART_WIDTH - 2 * CHART_EDGE) / (double)(history->points - 1);
    const double y_scale = high > low ? (CHART_HEIGHT - 2 * CHART_EDGE) / (high - low) : 0;
    snprintf(box, sizeof box, "0 0 %d %d", CHART_WIDTH, CHART_HEIGHT);
    snprintf(width, sizeof width, "%d", CHART_WIDTH);
    snprintf(height, sizeof height, "%d", CHART_HEIGHT);
    char *dots = NULL, *line = NULL;
    size_t bytes;
    FILE *dots_out = open_memstream(&dots, &bytes), *line_out = open_memstream(&line, &bytes);
    for (size_t i = 0; i < history->points && dots_out && line_out; i++) {
        const double x = CHART_EDGE + x_step * (double)i;
        const double y = CHART_HEIGHT - CHART_EDGE - y_scale * (history->point[i].value - low);
        const double level = CHART_HEIGHT - CHART_EDGE - y_scale * (history->steps.level[i] - low);
        fprintf(dots_out, "M%.1f %.1fh0", x, y);
        fprintf(line_out, "%s%.1f,%.1f", i ? " " : "", x, level);
    }
    const bool fine = dots_out && line_out;
    if (dots_out) fclose(dots_out);
    if (line_out) fclose(line_out);
    html_open(h, "td", NULL);
    if (fine) {
        html_open(h, "svg", "class", "course", "viewBox", box, "width", width, "height", height, "aria-hidden", "true",
                  NULL);
        html_open(h, "polyline", "points", line, NULL);
        html_close(h, "polyline");
        html_open(h, "path", "d", dots, NULL);
        html_close(h, "path");
        html_close(h, "svg");
    }
    html_close(h, "td");
    free(dots);
    free(line);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* The newest run of the newest build, which its value is a median over. */
static pbd_status write_newest(report *r, const pbd_history *history) {
    const pbd_history_point *point = &history->point[history->points - 1];
    const char *const key[] = {history->cell_ids, history->machine, point->source};
    const bool pure = strcmp(history->unit, "1") == 0;
    char text[60];
    sqlite3_stmt *stmt;
    bool row;
    snprintf(text, sizeof text, "%.4g%s%.20s", point->value, pure ? "" : " ", pure ? "" : history->unit);
    pbd_status status =
        report_ask(r,
                   "SELECT run_id FROM run JOIN build USING (build_id) JOIN env USING (env_id)"
                   " WHERE cell_id IN (SELECT value FROM json_each(?1)) AND fingerprint = ?2"
                   " AND source = ?3 AND kind = 'run' AND state = 'ok' ORDER BY started_at DESC LIMIT 1",
                   key, 3, &stmt);
    if (status.code == PBD_OK) status = report_next(r, stmt, &row);
    html_cell_open(&r->html, point->value, true);
    if (status.code == PBD_OK && row)
        status = report_run_link(r, report_column(stmt, 0), text);
    else
        html_text(&r->html, text);
    html_close(&r->html, "td");
    sqlite3_finalize(stmt);
    return status;
}

static void write_last_step(report *r, const pbd_history *history) {
    pbd_html *h = &r->html;
    if (history->steps.count == 0) {
        html_cell_open(h, (double)NAN, false);
        html_text(h, "none");
        html_close(h, "td");
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
    html_cell(h, history->case_name);
    html_cell(h, history->method);
    html_cell(h, history->varies);
    html_open(h, "td", "class", "whole", NULL);
    html_textf(h, "%s, %s, %d thread%s", history->backend, history->precision, history->threads,
               history->threads == 1 ? "" : "s");
    html_close(h, "td");
    html_cell(h, history->metric);
    html_number(h, (double)history->points, 9);
    write_course(r, history);
    const pbd_status status = write_newest(r, history);
    write_last_step(r, history);
    html_open(h, "td", NULL);
    html_textf(h, "%s, %s", history->cpu, history->preset);
    html_close(h, "td");
    html_close(h, "tr");
    return status;
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
    pbd_status status = pbd_ok();
    size_t rows = 0;
    html_table_open(&r->html, "history-table", "Histories of the cells run last; those with a step come first", columns,
                    sizeof columns / sizeof *columns);
    for (int pass = 0; pass < 2; pass++) /* with steps, then without */
        for (size_t i = 0; i < all->count && rows < MOST_ROWS && status.code == PBD_OK; i++) {
            const pbd_history *history = &all->item[i];
            if (history->points < 2 || (history->steps.count > 0) != (pass == 0)) continue;
            status = write_history(r, history);
            rows++;
        }
    html_table_close(&r->html);
    return status;
}

pbd_status report_history(report *r) {
    pbd_html *h = &r->html;
    html_element(h, "p",
                 "A point is a build: the median over its runs of one cell on one machine. A step is where the level "
                 "changed permanently, found by the best piecewise constant fit and confirmed by a permutation test.");
    const pbd_history_query query = {.most_cells = MOST_CELLS, .seed = 1};
    pbd_histories all = {0};
    /* That nothing fits is not an error here. */
    pbd_status status = r->store ? pbd_histories_load(r->store, &query, &all) : pbd_ok();
    if (status.code == PBD_BAD_INPUT) status = pbd_ok();
    size_t histories = 0;
    for (size_t i = 0; i < all.count; i++) histories += all.item[i].points >= 2;
    if (status.code == PBD_OK && histories > 0) {
        status = write_table(r, &all);
    } else if (status.code == PBD_OK) {
        html_element(h, "p", "No cell has been run by two builds yet.");
    }
    report_command(r, "./pbdbench history");
    pbd_histories_free(&all);
    return status;
}
