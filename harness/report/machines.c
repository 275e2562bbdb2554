/* Machines with their measured limits and benches, builds of the runs on the page, and what this program is made of. */
#include <string.h>

#include "harness/bench/limits/table.h"
#include "harness/machine/libraries.h"
#include "harness/report/report.h"

/* ---- Limits and benches ------------------------------------------------------------------------------------------ */

static const char limits_sql[] =
    "SELECT cell.method AS name, cell.backend, cell.precision, cell.threads, best.unit, best.value AS best,"
    " median.value AS median, max(run.started_at) AS started"
    " FROM run JOIN cell USING (cell_id)"
    " JOIN metric AS best ON best.run_id = run.run_id AND best.name = 'best'"
    " JOIN metric AS median ON median.run_id = run.run_id AND median.name = 'median'"
    " WHERE run.kind = 'limit' AND run.env_id = ?1"
    " GROUP BY cell.method, cell.backend, cell.precision, cell.threads ORDER BY 2, 4, 1, 3";

/* The newest of each name, medians over its repetitions; the error is that of the newest run of the same cell. A store
 * may hold a million runs: the newest are found by an index. */
static const char benches_sql[] =
    "WITH newest AS (SELECT run_id, started_at FROM run WHERE kind = 'bench' AND env_id = ?1"
    "                AND says NOT LIKE 'kernel:%'" /* a single kernel is not a step or solve */
    "                ORDER BY started_at DESC LIMIT 2000),"
    " last AS (SELECT run.says AS name, run.cell_id, run.invocation_id, max(newest.started_at)"
    "          FROM newest JOIN run USING (run_id) WHERE run.state = 'ok' GROUP BY run.says),"
    " value AS (SELECT last.name, run.cell_id,"
    "   median(CASE WHEN m.name IN ('seconds_per_step', 'seconds_per_solve') THEN m.value END) AS seconds,"
    "   median(CASE WHEN m.name = 'constraint_solves_per_second' THEN m.value END) AS solves,"
    "   median(CASE WHEN m.name = 'fraction_of_bandwidth' THEN m.value END) AS bandwidth,"
    "   median(CASE WHEN m.name = 'fraction_of_flops' THEN m.value END) AS flops"
    "  FROM last JOIN run ON run.cell_id = last.cell_id AND run.invocation_id = last.invocation_id"
    "   AND run.says = last.name AND run.kind = 'bench' AND run.state = 'ok'"
    "  JOIN metric AS m ON m.run_id = run.run_id GROUP BY last.name)"
    " SELECT value.name, case_name AS \"case\", method, backend, precision, threads, seconds, solves,"
    "  100 * bandwidth AS bandwidth, 100 * flops AS flops,"
    "  (SELECT e.name || ' ' || printf('%.3g', e.value) FROM run AS o JOIN metric AS e ON e.run_id = o.run_id"
    "   WHERE o.cell_id = value.cell_id AND o.kind = 'run' AND o.state = 'ok' AND " PBD_SQL_SHOWN_ERROR("e")
    "   AND e.value IS NOT NULL ORDER BY o.started_at DESC, e.position LIMIT 1) AS error"
    " FROM value JOIN cell USING (cell_id) ORDER BY 2, 3, 4, 5, 6, 1";

static void spell_limit(json_t *row, const char *key) {
    const json_t *value = json_object_get(row, key);
    const char *name = json_string_value(json_object_get(row, "name")),
               *unit = json_string_value(json_object_get(row, "unit"));
    pbd_limit limit = {.threads = (int)json_integer_value(json_object_get(row, "threads"))};
    char text[40];
    if (!value) return;
    snprintf(limit.name, sizeof limit.name, "%s", name ? name : "");
    snprintf(limit.unit, sizeof limit.unit, "%s", unit ? unit : "");
    pbd_limit_spell(&limit, json_number_value(value), text, sizeof text);
    json_object_set_new(row, key, pbd_text_json(text));
}

static pbd_status machines_json(report *r, json_t **out) {
    size_t i, k;
    json_t *machine, *limit;
    PBD_TRY(report_rows(r,
                        "SELECT env_id AS id, cpu, os, isa, packages, cores, threads, l1d_kib AS l1d, l2_kib AS l2,"
                        " l3_kib AS l3, memory_mib AS memory, gpu, fingerprint FROM env ORDER BY cpu, env_id LIMIT 50",
                        NULL, 0, out));
    json_array_foreach(*out, i, machine) {
        const char *id = json_string_value(json_object_get(machine, "id"));
        json_t *limits = NULL, *benches = NULL;
        PBD_TRY(report_rows(r, limits_sql, &id, 1, &limits));
        json_object_set_new(machine, "limits", limits);
        json_array_foreach(limits, k, limit) {
            spell_limit(limit, "best");
            spell_limit(limit, "median");
        }
        const pbd_status status = report_rows(r, benches_sql, &id, 1, &benches);
        json_object_set_new(machine, "benches", benches);
        PBD_TRY(status);
    }
    return pbd_ok();
}

/* ---- Builds, backends, libraries --------------------------------------------------------------------------------- */

static const char builds_sql[] =
    "SELECT version, git_sha AS \"commit\", dirty, preset, compiler, flags, source, count(*) AS runs"
    " FROM temp.report_run JOIN run USING (run_id) JOIN build USING (build_id)"
    " GROUP BY build_id ORDER BY max(started_at) DESC LIMIT 100";

static json_t *backends_json(void) {
    json_t *all = json_array();
    for (int i = 0; i < PBD_BACKEND_COUNT; i++) {
        const pbd_backend_entry b = pbd_backend_at((pbd_backend)i);
        json_array_append_new(all, json_pack("{s:s, s:s, s:s}", "name", b.name, "summary", b.summary, "here",
                                             b.available ? "yes" : b.reason));
    }
    return all;
}

static json_t *libraries_json(void) {
    json_t *all = json_array();
    for (size_t i = 0; i < PBD_LIBRARIES; i++) {
        char version[PBD_VERSION_SIZE];
        pbd_libraries[i].version(version, sizeof version);
        json_array_append_new(
            all, json_pack("{s:s, s:o, s:s, s:s}", "name", pbd_libraries[i].name, "version", pbd_text_json(version),
                           "licence", pbd_libraries[i].licence, "use", pbd_libraries[i].use));
    }
    return all;
}

pbd_status report_machines(report *r, json_t **out) {
    json_t *machines = NULL, *builds = NULL;
    *out = json_pack("{s:o, s:o, s:s}", "backends", backends_json(), "libraries", libraries_json(), "licence",
                     pbd_this_build()->licence);
    pbd_status status = machines_json(r, &machines);
    json_object_set_new(*out, "machines", machines);
    if (status.code == PBD_OK) status = report_rows(r, builds_sql, NULL, 0, &builds);
    json_object_set_new(*out, "builds", builds);
    return status;
}
