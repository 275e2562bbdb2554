#include "harness/bench/limits/table.h"

#include <stdlib.h>
#include <string.h>

#include "harness/store/rows.h"

void pbd_limit_spell(const pbd_limit *l, double value, char *out, size_t size) {
    if (strcmp(l->unit, "s") == 0)
        snprintf(out, size, "%.3g us", 1e6 * value);
    else if (strcmp(l->unit, "B/s") == 0)
        snprintf(out, size, "%.1f GB/s", 1e-9 * value);
    else if (strcmp(l->unit, "flop/s") == 0)
        snprintf(out, size, "%.0f Gflop/s", 1e-9 * value);
    else
        snprintf(out, size, "%.0f M/s", 1e-6 * value);
}

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

static const char *says(const char *name) {
    static const char *const words[][2] = {
        {"triad", "memory, a = b + s c"},
        {"copy", "memory, a = b"},
        {"fma", "multiply-adds"},
        {"gather", "neighbours gathered from"},
        {"scatter", "neighbours scattered to"},
        {"gather_scatter", "neighbours, both passes"},
        {"gather_scatter_slices", "neighbours, both passes over slices"},
        {"launch", "one launch in a row of them"},
        {"graph_launch", "one launch of a hundred in a graph"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], name) == 0) return words[i][1];
    return name;
}

static void print_limits(const pbd_limits *limits, FILE *out) {
    fputs("| limit | where | best | median |\n| --- | --- | ---: | ---: |\n", out);
    for (size_t i = 0; i < limits->count; i++) {
        const pbd_limit *l = &limits->item[i];
        char best[32], median[32], where[40];
        pbd_limit_spell(l, l->best, best, sizeof best);
        pbd_limit_spell(l, l->median, median, sizeof median);
        snprintf(where, sizeof where, "%s, %d thread%s", l->backend, l->threads, l->threads == 1 ? "" : "s");
        fprintf(out, "| %s, %s | %s | %s | %s |\n", says(l->name), l->precision,
                strcmp(l->backend, "cpu") == 0 ? where : l->backend, best, median);
    }
}

/* ---- Benches ----------------------------------------------------------------------------------------------------- */

/* Of each benchmark that the newest build has run on this machine: its newest successful `pbdbench bench`, each metric
 * as the median over its repetitions. */
static const char *const bench_sql =
    "WITH mine AS (SELECT name, invocation_id, source, started_at FROM bench_view WHERE machine = ?1 AND state = 'ok'),"
    " newest AS (SELECT name, invocation_id, max(started_at) FROM mine"
    "            WHERE source = (SELECT source FROM mine ORDER BY started_at DESC LIMIT 1) GROUP BY name),"
    " value AS (SELECT b.name, m.name AS metric, m.value,"
    "           row_number() OVER (PARTITION BY b.name, m.name ORDER BY m.value) AS place,"
    "           count(*) OVER (PARTITION BY b.name, m.name) AS places"
    "           FROM newest n JOIN bench_view b ON b.invocation_id = n.invocation_id AND b.name = n.name"
    "           JOIN metric m ON m.run_id = b.run_id WHERE b.state = 'ok'),"
    " median AS (SELECT name, metric, avg(value) AS value FROM value"
    "            WHERE place IN ((places + 1) / 2, places / 2 + 1) GROUP BY name, metric)"
    " SELECT name, 1e3 * max(value) FILTER (WHERE metric IN ('seconds_per_step', 'seconds_per_solve')),"
    " 1e-6 * max(value) FILTER (WHERE metric = 'constraint_solves_per_second'),"
    " 1e-6 * max(value) FILTER (WHERE metric = 'neighbour_updates_per_second'),"
    " 100 * max(value) FILTER (WHERE metric = 'fraction_of_neighbour_passes'),"
    " 1e-9 * max(value) FILTER (WHERE metric = 'bytes_per_second'),"
    " 100 * max(value) FILTER (WHERE metric = 'fraction_of_bandwidth'),"
    " 1e-9 * max(value) FILTER (WHERE metric = 'flops_per_second'),"
    " 100 * max(value) FILTER (WHERE metric = 'fraction_of_flops')"
    " FROM median GROUP BY name ORDER BY name";

/* Three digits, and an empty cell where there is no number. */
static void print_bench(sqlite3_stmt *stmt, FILE *out) {
    fprintf(out, "| `%s` |", (const char *)sqlite3_column_text(stmt, 0));
    for (int column = 1; column <= 8; column++) {
        const bool is_percent = column == 4 || column == 6 || column == 8;
        if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
            fputs(" |", out);
        else
            fprintf(out, " %.3g%s |", sqlite3_column_double(stmt, column), is_percent ? " %" : "");
    }
    fputs("\n", out);
}

static pbd_status print_benches(pbd_store *store, const char *fingerprint, FILE *out) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row = true;
    fputs(
        "\n| bench | ms a step or solve | M constraint solves/s | M neighbours/s | of the two passes | GB/s declared | "
        "of the "
        "triad | Gflop/s declared | of the FMA peak |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: "
        "|\n",
        out);
    PBD_TRY(pbd_store_prepare(store, bench_sql, &fingerprint, 1, &stmt));
    while (row) {
        PBD_TRY(pbd_store_step(store, stmt, &row, "reading benches"));
        if (row) print_bench(stmt, out);
    }
    return pbd_ok();
}

pbd_status pbd_limits_table(pbd_store *store, const pbd_machine *machine, const pbd_limits *limits, FILE *out) {
    fprintf(out, "%s, %d cores, %s, L3 %ld MiB%s%s; %s\n\n", machine->cpu, machine->cores, machine->isa,
            machine->l3_kib / 1024, machine->gpu[0] ? "; " : "", machine->gpu, pbd_this_build()->compiler);
    print_limits(limits, out);
    return store ? print_benches(store, machine->fingerprint, out) : pbd_ok();
}
