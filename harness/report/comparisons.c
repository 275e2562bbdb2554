/* What `compare` and `gate` found, the newest first. */
#include <math.h>
#include <string.h>

#include "harness/report/report.h"

static const char comparisons_sql[] =
    "SELECT c.name_a, c.name_b, c.purpose, c.clock, c.pairs, c.log_ratio, c.low, c.high, c.margin, c.verdict, c.says,"
    " c.decided_at, c.env_id, env.cpu, pair.run_a, pair.run_b"
    " FROM comparison AS c JOIN env USING (env_id)"
    " LEFT JOIN comparison_pair AS pair ON pair.comparison_id = c.comparison_id AND pair.position = 0"
    " ORDER BY c.decided_at DESC LIMIT 200";

static const char *words_of(const char *verdict) {
    return strcmp(verdict, "errors_differ") == 0 ? "errors differ: no time is claimed" : verdict;
}

static pbd_status write_arm(report *r, const char *name, const char *run_id) {
    html_open(&r->html, "td", NULL);
    const pbd_status status = *run_id ? report_run_link(r, run_id, name) : pbd_ok();
    if (!*run_id) html_text(&r->html, name);
    html_close(&r->html, "td");
    return status;
}

/* «0.93 (0.91 to 0.95)»: time of B over time of A. */
static void write_ratio(report *r, double log_ratio, double low, double high) {
    html_cell_open(&r->html, exp(log_ratio), true);
    if (isnan(log_ratio))
        html_text(&r->html, "\u2014");
    else
        html_textf(&r->html, "%.3f (%.3f to %.3f)", exp(log_ratio), exp(low), exp(high));
    html_close(&r->html, "td");
}

static pbd_status write_comparison(report *r, sqlite3_stmt *stmt) {
    pbd_html *h = &r->html;
    const char *run_a = report_column(stmt, 14), *run_b = report_column(stmt, 15);
    bool any;
    html_open(h, "tr", NULL);
    PBD_TRY(write_arm(r, report_column(stmt, 0), run_a));
    PBD_TRY(write_arm(r, report_column(stmt, 1), run_b));
    html_open(h, "td", NULL);
    html_element(h, "strong", words_of(report_column(stmt, 9)));
    html_textf(h, "%s%s", *report_column(stmt, 10) ? ": " : "", report_column(stmt, 10));
    html_close(h, "td");
    write_ratio(r, report_real(stmt, 5), report_real(stmt, 6), report_real(stmt, 7));
    PBD_TRY(report_errors(r, run_a, &any));
    PBD_TRY(report_errors(r, run_b, &any));
    html_cell_open(h, report_real(stmt, 8), true);
    html_textf(h, "%.3g %%", 100 * report_real(stmt, 8));
    html_close(h, "td");
    html_number(h, sqlite3_column_int(stmt, 4), 6);
    html_cell(h, report_column(stmt, 3));
    html_cell(h, report_column(stmt, 2));
    html_open(h, "td", NULL);
    report_machine_link(r, report_column(stmt, 12), report_column(stmt, 13));
    html_close(h, "td");
    html_open(h, "td", NULL);
    html_textf(h, "%.16s", report_column(stmt, 11));
    html_close(h, "td");
    html_close(h, "tr");
    return pbd_ok();
}

pbd_status report_comparisons(report *r) {
    static const html_column columns[] = {
        {"A", false},          {"B", false},          {"B is", false},    {"Time of B / A (98 % interval)", true},
        {"Error of A", false}, {"Error of B", false}, {"Margin", true},   {"Pairs", true},
        {"Clock", false},      {"Purpose", false},    {"Machine", false}, {"When", false}};
    sqlite3_stmt *stmt;
    bool row = true;
    size_t count = 0;
    pbd_status status = report_ask(r, comparisons_sql, NULL, 0, &stmt);
    while (status.code == PBD_OK && row) {
        status = report_next(r, stmt, &row);
        if (status.code != PBD_OK || !row) break;
        if (count++ == 0)
            html_table_open(&r->html, "comparison-table",
                            "Two arms timed against each other, newest first (200 at most)", columns,
                            sizeof columns / sizeof *columns);
        status = write_comparison(r, stmt);
    }
    sqlite3_finalize(stmt);
    if (count > 0) {
        html_table_close(&r->html);
    } else if (status.code == PBD_OK) {
        html_element(&r->html, "p", "No comparison is stored yet. This makes one:");
        report_command(r, "./pbdbench compare METHOD:key=value METHOD:key=value --case CASE");
    }
    return status;
}
