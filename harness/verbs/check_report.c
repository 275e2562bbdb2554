#include "harness/verbs/check_report.h"

#include "harness/exec/arena.h"
#include "harness/files/json.h"

static const char *const verdicts[] = {
    [PBD_CHECK_PASS] = "pass", [PBD_CHECK_FAIL] = "fail", [PBD_CHECK_SKIPPED] = "skipped"};

void pbd_check_report_free(pbd_check_report *r) {
    json_decref(r->checks);
    *r = (pbd_check_report){0};
}

pbd_status pbd_check_report_begin(bool json, bool quiet, const pbd_plugin *plugin, pbd_check_report *out) {
    *out = (pbd_check_report){.quiet = quiet, .checks = json ? json_array() : NULL};
    if (!json && !quiet) printf("%s: %s\n", pbd_plugin_path(plugin), pbd_plugin_label(plugin));
    return json && !out->checks ? pbd_no_memory() : pbd_ok();
}

static void take_json(json_t *checks, const pbd_check *c) {
    json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:s}", "method", c->method, "case", c->case_name, "check", c->name,
                            "verdict", verdicts[c->verdict], "says", c->says);
    if (c->numbers) {
        json_object_set_new(row, "measured", pbd_finite_json(c->measured));
        json_object_set_new(row, "wanted", pbd_finite_json(c->wanted));
        json_object_set_new(row, "tolerance", pbd_finite_json(c->tolerance));
    }
    json_array_append_new(checks, row);
}

void pbd_check_report_take(void *report, const pbd_check *c) {
    pbd_check_report *r = report;
    r->count[c->verdict]++;
    if (r->checks) {
        take_json(r->checks, c);
        return;
    }
    if (r->quiet && c->verdict != PBD_CHECK_FAIL) return;
    printf("%-8s %s %-14s %-12s %s\n", verdicts[c->verdict], c->method, c->case_name, c->name, c->says);
    fflush(stdout);
}

pbd_status pbd_check_report_end(pbd_check_report *r, const pbd_plugin *plugin) {
    if (!r->checks) {
        printf("%zu passed, %zu failed, %zu skipped\n", r->count[PBD_CHECK_PASS], r->count[PBD_CHECK_FAIL],
               r->count[PBD_CHECK_SKIPPED]);
        return pbd_ok();
    }
    json_auto_t *all =
        json_pack("{s:s, s:s, s:I, s:O}", "file", pbd_plugin_path(plugin), "name", pbd_plugin_label(plugin), "failed",
                  (json_int_t)r->count[PBD_CHECK_FAIL], "checks", r->checks);
    if (!all) return pbd_no_memory();
    json_dumpf(all, stdout, JSON_INDENT(1));
    putchar('\n');
    return pbd_ok();
}
