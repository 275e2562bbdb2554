#include "harness/run/run_apart.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/plugin.h"
#include "harness/catalog/watch.h"
#include "harness/plan/record.h"
#include "harness/store/rows.h"

bool pbd_runs_apart(const pbd_plan_item *item) {
    return pbd_plugin_count() > 0 && item->cell.backend != PBD_BACKEND_CUDA;
}

/* The child's part. A run that it could not even begin is an object without a state. */
static void run_here(void *context, pbd_place *place, FILE *answer) {
    pbd_plan_item item = *(const pbd_plan_item *)context;
    pbd_watched watched;
    pbd_result result = {0};
    pbd_watch(item.cell.method, place, &watched);
    item.cell.method = &watched.entry;
    const pbd_status status = pbd_run_cell(&item, &result);
    json_t *told = status.code == PBD_OK ? pbd_reported_json(&result)
                                         : json_pack("{s:s, s:i}", "trouble", status.text, "code", status.code);
    json_dumpf(told, answer, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(told);
    pbd_result_free(&result);
}

static pbd_status take_answer(const char *text, pbd_result *out) {
    json_t *told = json_loads(text, 0, NULL);
    const char *trouble = json_string_value(json_object_get(told, "trouble"));
    pbd_status status = pbd_ok();
    if (trouble)
        status = pbd_error((pbd_code)json_integer_value(json_object_get(told, "code")), "%s", trouble);
    else if (!told || !pbd_reported_read(told, out))
        status = pbd_error(PBD_FAILED, "out of memory for a run");
    json_decref(told);
    return status;
}

static pbd_status take_end(const pbd_apart *apart, pbd_result *out) {
    char who[100];
    snprintf(who, sizeof who, "method %.80s", out->method_name);
    const pbd_status ended = pbd_apart_status(apart, who);
    out->state = strdup(pbd_state_name(ended.code));
    out->says = strdup(ended.text);
    return out->state && out->says ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for a run");
}

pbd_status pbd_run_cell_apart(const pbd_plan_item *item, pbd_result *out) {
    pbd_apart apart = {0};
    pbd_plan_item copy = *item; /* the child's context; nothing in it changes */
    pbd_status status = pbd_describe_run(item, out);
    if (status.code == PBD_OK) status = pbd_apart_run(run_here, &copy, PBD_STDOUT_TO_STDERR, &apart);
    if (status.code == PBD_OK) status = apart.answered ? take_answer(apart.answer, out) : take_end(&apart, out);
    pbd_apart_free(&apart);
    if (status.code != PBD_OK) pbd_result_free(out);
    return status;
}
