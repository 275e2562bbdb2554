/* What `compare` and `gate` found, the newest first. */
#include <string.h>

#include "harness/report/report.h"

static const char comparisons_sql[] =
    "SELECT c.name_a AS a, c.name_b AS b, c.purpose, c.clock, c.pairs, exp(c.log_ratio) AS ratio, exp(c.low) AS low,"
    " exp(c.high) AS high, c.margin, c.verdict, c.says, c.decided_at AS decided, env.cpu, pair.run_a, pair.run_b"
    " FROM comparison AS c JOIN env USING (env_id)"
    " LEFT JOIN comparison_pair AS pair ON pair.comparison_id = c.comparison_id AND pair.position = 0"
    " ORDER BY c.decided_at DESC LIMIT 200";

/* At most two metrics of which less is better, other than times. */
static const char errors_sql[] = "SELECT name, value, unit FROM metric AS m WHERE run_id = ?1"
                                 " AND " PBD_SQL_SHOWN_ERROR("m") " AND value IS NOT NULL"
                                                                  " ORDER BY name LIKE '%error%' DESC, position LIMIT 2";

static pbd_status put_errors(report *r, json_t *comparison, const char *run_key, const char *key) {
    const char *run_id = json_string_value(json_object_get(comparison, run_key));
    json_t *errors = NULL;
    if (!run_id) return pbd_ok();
    PBD_TRY(report_note_run(r, run_id));
    const pbd_status status = report_rows(r, errors_sql, &run_id, 1, &errors);
    json_object_set_new(comparison, key, errors);
    return status;
}

pbd_status report_comparisons(report *r, json_t **out) {
    size_t i;
    json_t *comparison;
    PBD_TRY(report_rows(r, comparisons_sql, NULL, 0, out));
    json_array_foreach(*out, i, comparison) {
        PBD_TRY(put_errors(r, comparison, "run_a", "errors_a"));
        PBD_TRY(put_errors(r, comparison, "run_b", "errors_b"));
    }
    return pbd_ok();
}
