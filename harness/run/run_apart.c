#include "harness/run/run_apart.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/plugin.h"
#include "harness/catalog/watch.h"
#include "harness/exec/arena.h"
#include "harness/plan/record.h"
#include "harness/store/rows.h"

bool pbd_runs_apart(const pbd_plan_item *item) {
    return pbd_plugin_count() > 0 && item->cell.backend != PBD_BACKEND_CUDA;
}

/* The child's part. The answer is the run as JSON; for a refused run, an object with `trouble` and `code`. */
static void run_here(void *context, pbd_place *place, FILE *answer) {
    pbd_plan_item item = *(const pbd_plan_item *)context;
    pbd_watched watched;
    pbd_result result = {0};
    pbd_watch(item.cell.method, place, &watched);
    item.cell.method = &watched.entry;
    const pbd_status status = pbd_run_cell(&item, &result);
    json_auto_t *told = status.code == PBD_OK ? pbd_reported_json(&result)
                                              : json_pack("{s:s, s:i}", "trouble", status.text, "code", status.code);
    json_dumpf(told, answer, JSON_COMPACT | JSON_REAL_PRECISION(17));
    pbd_result_free(&result);
}

static pbd_status take_answer(const char *text, pbd_result *out) {
    json_auto_t *told = json_loads(text, 0, NULL);
    const char *trouble = json_string_value(json_object_get(told, "trouble"));
    if (trouble) return pbd_error((pbd_code)json_integer_value(json_object_get(told, "code")), "%s", trouble);
    return told && pbd_reported_read(told, out) ? pbd_ok() : pbd_no_memory();
}

static pbd_status take_end(const pbd_apart *apart, pbd_result *out) {
    char who[100];
    snprintf(who, sizeof who, "method %.80s", out->method_name);
    const pbd_status ended = pbd_apart_status(apart, who);
    out->state = strdup(pbd_state_name(ended.code));
    out->says = strdup(ended.text);
    return out->state && out->says ? pbd_ok() : pbd_no_memory();
}

static pbd_status describe_and_run(const pbd_plan_item *item, pbd_result *out) {
    pbd_apart apart PBD_CLEANUP(pbd_apart_free) = {0};
    pbd_plan_item copy = *item; /* context of the child, which does not modify it */
    PBD_TRY(pbd_describe_run(item, out));
    PBD_TRY(pbd_apart_run(run_here, &copy, PBD_STDOUT_TO_STDERR, &apart));
    return apart.answered ? take_answer(apart.answer, out) : take_end(&apart, out);
}

pbd_status pbd_run_cell_apart(const pbd_plan_item *item, pbd_result *out) {
    const pbd_status status = describe_and_run(item, out);
    if (status.code != PBD_OK) pbd_result_free(out);
    return status;
}
