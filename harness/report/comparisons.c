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
    if (*run_id)
        PBD_TRY(report_run_link(r, run_id, name));
    else
        html_text(&r->html, name);
    html_close(&r->html, "td");
    return pbd_ok();
}

/* «0.93 (0.91 to 0.95)»: time of B over time of A. */
static void write_ratio(report *r, double log_ratio, double low, double high) {
    if (isnan(log_ratio))
        html_cellf(&r->html, log_ratio, true, "\u2014");
    else
        html_cellf(&r->html, exp(log_ratio), true, "%.3f (%.3f to %.3f)", exp(log_ratio), exp(low), exp(high));
}

static pbd_status write_comparison(report *r, sqlite3_stmt *stmt, const char *differs) {
    pbd_html *h = &r->html;
    const char *run_a = pbd_column_text(stmt, 14), *run_b = pbd_column_text(stmt, 15);
    (void)differs;
    PBD_TRY(write_arm(r, pbd_column_text(stmt, 0), run_a));
    PBD_TRY(write_arm(r, pbd_column_text(stmt, 1), run_b));
    html_open(h, "td", NULL);
    html_element(h, "strong", words_of(pbd_column_text(stmt, 9)));
    html_textf(h, "%s%s", *pbd_column_text(stmt, 10) ? ": " : "", pbd_column_text(stmt, 10));
    html_close(h, "td");
    write_ratio(r, report_real(stmt, 5), report_real(stmt, 6), report_real(stmt, 7));
    PBD_TRY(report_errors(r, run_a));
    PBD_TRY(report_errors(r, run_b));
    html_cellf(h, report_real(stmt, 8), true, "%.3g %%", 100 * report_real(stmt, 8));
    html_number(h, sqlite3_column_int(stmt, 4), 6);
    html_cell(h, pbd_column_text(stmt, 3));
    html_cell(h, pbd_column_text(stmt, 2));
    html_open(h, "td", NULL);
    report_machine_link(r, pbd_column_text(stmt, 12), pbd_column_text(stmt, 13));
    html_close(h, "td");
    html_elementf(h, "td", NULL, "%.16s", pbd_column_text(stmt, 11));
    return pbd_ok();
}

pbd_status report_comparisons(report *r) {
    static const html_column columns[] = {
        {"A", false},          {"B", false},          {"B is", false},    {"Time of B / A (98 % interval)", true},
        {"Error of A", false}, {"Error of B", false}, {"Margin", true},   {"Pairs", true},
        {"Clock", false},      {"Purpose", false},    {"Machine", false}, {"When", false}};
    const report_table table = {.sql = comparisons_sql,
                                .id = "comparison-table",
                                .caption = "Two arms timed against each other, newest first (200 at most)",
                                .column = columns,
                                .columns = sizeof columns / sizeof *columns,
                                .write = write_comparison};
    size_t count = 0;
    PBD_TRY(report_write_table(r, &table, NULL, 0, &count));
    if (count > 0) return pbd_ok();
    html_element(&r->html, "p", "No comparison is stored yet. This makes one:");
    report_command(r, "./pbdbench compare METHOD:key=value METHOD:key=value --case CASE");
    return pbd_ok();
}
