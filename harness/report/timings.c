/* Times by machine, each with the error of its run.
 *
 * A store may hold a million runs, so no query here reads all: the newest of each machine are found by an index, then
 * one run of each cell. */
#include <stdlib.h>
#include <string.h>

#include "harness/bench/limits/table.h"
#include "harness/report/report.h"

/* ---- The machine's limits ---------------------------------------------------------------------------------------- */

static const char limits_sql[] =
    "SELECT cell.method, cell.backend, cell.precision, cell.threads, best.unit, best.value, median.value, run.run_id,"
    " max(run.started_at)"
    " FROM run JOIN cell USING (cell_id)"
    " JOIN metric AS best ON best.run_id = run.run_id AND best.name = 'best'"
    " JOIN metric AS median ON median.run_id = run.run_id AND median.name = 'median'"
    " WHERE run.kind = 'limit' AND run.env_id = ?1"
    " GROUP BY cell.method, cell.backend, cell.precision, cell.threads ORDER BY 2, 4, 1, 3";

static pbd_status write_limit(report *r, sqlite3_stmt *stmt, const char *differs) {
    (void)differs;
    pbd_html *h = &r->html;
    pbd_limit limit = {.threads = sqlite3_column_int(stmt, 3), .best = report_real(stmt, 5)};
    char best[40], median[40];
    snprintf(limit.name, sizeof limit.name, "%s", pbd_column_text(stmt, 0));
    snprintf(limit.unit, sizeof limit.unit, "%s", pbd_column_text(stmt, 4));
    pbd_limit_spell(&limit, limit.best, best, sizeof best);
    pbd_limit_spell(&limit, report_real(stmt, 6), median, sizeof median);
    html_cell(h, limit.name);
    html_cell(h, pbd_column_text(stmt, 1));
    html_cell(h, pbd_column_text(stmt, 2));
    html_number(h, limit.threads, 6);
    html_cell_open(h, limit.best, true);
    PBD_TRY(report_run_link(r, pbd_column_text(stmt, 7), best));
    html_close(h, "td");
    html_cellf(h, report_real(stmt, 6), true, "%s", median);
    return pbd_ok();
}

static pbd_status write_limits(report *r, const char *env_id, size_t *rows) {
    static const html_column columns[] = {{"Limit", false},  {"Backend", false}, {"Precision", false},
                                          {"Threads", true}, {"Best", true},     {"Median", true}};
    const report_table table = {.sql = limits_sql,
                                .caption = "Limits of this machine, newest measurement",
                                .column = columns,
                                .columns = sizeof columns / sizeof *columns,
                                .write = write_limit};
    return report_write_table(r, &table, &env_id, 1, rows);
}

/* ---- Runs: one a cell -------------------------------------------------------------------------------------------- */

/* `run --time` samples the time of a solve; without it there is the time of the run's only solve. */
static const char runs_sql[] =
    "WITH newest AS (SELECT run_id, cell_id, started_at FROM run WHERE kind = 'run' AND env_id = ?1"
    "                ORDER BY started_at DESC LIMIT 2000),"
    " one AS (SELECT run_id, max(started_at) AS at FROM newest GROUP BY cell_id ORDER BY at DESC LIMIT 100)"
    " SELECT one.run_id, case_name, method, params_today(case_name, method, params), backend, precision, threads,"
    "  ifnull(wall.value, phase.wall_s / max(phase.calls, 1)), ifnull(cpu.value, phase.cpu_s / max(phase.calls, 1)),"
    "  wall.value IS NOT NULL"
    " FROM one JOIN run ON run.run_id = one.run_id JOIN cell ON cell.cell_id = run.cell_id"
    " JOIN phase ON phase.run_id = one.run_id AND phase.name = 'solve'"
    " LEFT JOIN metric AS wall ON wall.run_id = one.run_id AND wall.name = 'solve_wall'"
    " LEFT JOIN metric AS cpu ON cpu.run_id = one.run_id AND cpu.name = 'solve_cpu'"
    " WHERE run.state = 'ok' AND EXISTS (SELECT 1 FROM metric AS e WHERE e.run_id = one.run_id"
    "  AND " PBD_SQL_SHOWN_ERROR("e") " AND e.value IS NOT NULL)"
    " ORDER BY 2, 3, 4, 5, 6, 7";

static pbd_status write_time(report *r, const char *run_id, double seconds) {
    char text[32];
    report_spell_seconds(seconds, text);
    html_cell_open(&r->html, seconds, true);
    PBD_TRY(report_run_link(r, run_id, text));
    html_close(&r->html, "td");
    return pbd_ok();
}

/* Case, method, what differs, and what it ran on: columns 1 to 6 of a query. */
static void write_cell_columns(report *r, sqlite3_stmt *stmt, const char *differs) {
    const int threads = sqlite3_column_int(stmt, 6);
    html_cell(&r->html, pbd_column_text(stmt, 1));
    html_cell(&r->html, pbd_column_text(stmt, 2));
    html_cell(&r->html, differs);
    html_elementf(&r->html, "td", "whole", "%s, %s, %d thread%s", pbd_column_text(stmt, 4), pbd_column_text(stmt, 5),
                  threads, threads == 1 ? "" : "s");
}

static pbd_status write_run(report *r, sqlite3_stmt *stmt, const char *differs) {
    const char *run_id = pbd_column_text(stmt, 0);
    write_cell_columns(r, stmt, differs);
    PBD_TRY(write_time(r, run_id, report_real(stmt, 7)));
    PBD_TRY(write_time(r, run_id, report_real(stmt, 8)));
    html_cell(&r->html, sqlite3_column_int(stmt, 9) ? "sampled" : "once");
    return report_errors(r, run_id);
}

static pbd_status write_runs(report *r, const char *env_id, size_t *rows) {
    static const html_column columns[] = {{"Case", false},  {"Method", false},      {"Settings that differ", false},
                                          {"On", false},    {"Time a solve", true}, {"CPU time", true},
                                          {"Timed", false}, {"Error", false}};
    const report_table table = {.sql = runs_sql,
                                .caption = "Runs: time a solve beside its error (newest run of each cell, 100 at most)",
                                .column = columns,
                                .columns = sizeof columns / sizeof *columns,
                                .write = write_run,
                                .varying = true};
    return report_write_table(r, &table, &env_id, 1, rows);
}

/* ---- Benches ----------------------------------------------------------------------------------------------------- */

/* The newest of each name, medians over its repetitions; the error is that of the newest run of the same cell. */
static const char benches_sql[] =
    "WITH newest AS (SELECT run_id, started_at FROM run WHERE kind = 'bench' AND env_id = ?1"
    "                AND says NOT LIKE 'kernel:%'" /* one kernel alone is no step or solve */
    "                ORDER BY started_at DESC LIMIT 2000),"
    " last AS (SELECT run.says AS name, run.cell_id, run.invocation_id, max(newest.started_at)"
    "          FROM newest JOIN run USING (run_id) WHERE run.state = 'ok' GROUP BY run.says),"
    " value AS (SELECT last.name, run.cell_id, max(run.run_id) AS run_id,"
    "   median(CASE WHEN m.name IN ('seconds_per_step', 'seconds_per_solve') THEN m.value END) AS seconds,"
    "   median(CASE WHEN m.name = 'constraint_solves_per_second' THEN m.value END) AS solves,"
    "   median(CASE WHEN m.name = 'fraction_of_bandwidth' THEN m.value END) AS bandwidth,"
    "   median(CASE WHEN m.name = 'fraction_of_flops' THEN m.value END) AS flops"
    "  FROM last JOIN run ON run.cell_id = last.cell_id AND run.invocation_id = last.invocation_id"
    "   AND run.says = last.name AND run.kind = 'bench' AND run.state = 'ok'"
    "  JOIN metric AS m ON m.run_id = run.run_id GROUP BY last.name)"
    " SELECT value.run_id, case_name, method, params_today(case_name, method, params), backend, precision, threads,"
    "  seconds, solves, 100 * bandwidth, 100 * flops,"
    "  (SELECT run_id FROM run AS e WHERE e.cell_id = value.cell_id AND e.kind = 'run' AND e.state = 'ok'"
    "   ORDER BY started_at DESC LIMIT 1)"
    " FROM value JOIN cell USING (cell_id)"
    " ORDER BY 2, 3, 4, 5, 6, 7";

static pbd_status write_bench(report *r, sqlite3_stmt *stmt, const char *differs) {
    write_cell_columns(r, stmt, differs);
    PBD_TRY(write_time(r, pbd_column_text(stmt, 0), report_real(stmt, 7)));
    html_number(&r->html, report_real(stmt, 8), 3);
    html_number(&r->html, report_real(stmt, 9), 3);
    html_number(&r->html, report_real(stmt, 10), 3);
    return report_errors(r, pbd_column_text(stmt, 11));
}

static pbd_status write_benches(report *r, const char *env_id, size_t *rows) {
    static const html_column columns[] = {{"Case", false},
                                          {"Method", false},
                                          {"Settings that differ", false},
                                          {"On", false},
                                          {"Step or solve", true},
                                          {"Constraint solves/s", true},
                                          {"% of bandwidth", true},
                                          {"% of multiply-adds", true},
                                          {"Error, same cell", false}};
    const report_table table = {.sql = benches_sql,
                                .caption = "Benches: speed only, relative to the machine's limits",
                                .column = columns,
                                .columns = sizeof columns / sizeof *columns,
                                .write = write_bench,
                                .varying = true};
    return report_write_table(r, &table, &env_id, 1, rows);
}

/* ---- One machine after another ----------------------------------------------------------------------------------- */

static pbd_status write_machine(report *r, sqlite3_stmt *machine, size_t *rows) {
    pbd_html *h = &r->html;
    const char *env_id = pbd_column_text(machine, 0);
    html_open(h, "h3", NULL);
    report_machine_link(r, env_id, pbd_column_text(machine, 1));
    html_textf(h, ", %d cores", sqlite3_column_int(machine, 2));
    if (*pbd_column_text(machine, 3)) html_textf(h, ", %s", pbd_column_text(machine, 3));
    html_close(h, "h3");
    PBD_TRY(write_runs(r, env_id, rows));
    PBD_TRY(write_benches(r, env_id, rows));
    return write_limits(r, env_id, rows);
}

pbd_status report_timings(report *r) {
    pbd_machine machine;
    PBD_TRY(pbd_this_machine(&machine));
    html_element(&r->html, "p",
                 "A time is meaningless without its error, so runs without an error are omitted here. Times of one "
                 "machine do not apply to another.");
    const char *here = machine.fingerprint;
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row = true;
    size_t rows = 0;
    PBD_TRY(report_ask(r,
                       "SELECT env_id, cpu, cores, gpu FROM env"
                       " WHERE EXISTS (SELECT 1 FROM run WHERE env_id = env.env_id AND kind = 'run')"
                       " OR EXISTS (SELECT 1 FROM run WHERE env_id = env.env_id AND kind = 'bench')"
                       " OR EXISTS (SELECT 1 FROM run WHERE env_id = env.env_id AND kind = 'limit')"
                       " ORDER BY fingerprint = ?1 DESC, cpu, env_id LIMIT 50",
                       &here, 1, &stmt));
    while (row) {
        PBD_TRY(report_next(r, stmt, &row));
        if (row) PBD_TRY(write_machine(r, stmt, &rows));
    }
    if (rows > 0) return pbd_ok();
    html_element(&r->html, "p", "No timings are stored yet. These make some:");
    report_command(r, "./pbdbench env --measure\n./pbdbench bench");
    return pbd_ok();
}
