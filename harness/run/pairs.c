#include "harness/run/pairs.h"

#include <string.h>

#include "harness/exec/arena.h"
#include "harness/run/run_apart.h"

const char *pbd_pair_state_name(pbd_pair_state state) {
    static const char *const names[] = {"fits", "refused", "asks"};
    return names[state];
}

static const struct {
    const char *c, *method;
    pbd_pair_end end;
} ends[] = {
#define ENDS(c, method, state, why) {#c, #method, {state, why}},
#include "cases/ends.def"
#undef ENDS
};

pbd_pair_end pbd_end_of_pair(const pbd_case *c, const pbd_method_entry *method) {
    const char *name = method->by_precision[PBD_PRECISION_F64]->name;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(ends[i].c, c->name) == 0 && strcmp(ends[i].method, name) == 0) return ends[i].end;
    return (pbd_pair_end){"ok", ""};
}

static bool is_refusal(const pbd_status *status) {
    return status->code == PBD_BAD_INPUT || status->code == PBD_NOT_SUPPORTED;
}

/* Builds the scene and creates the method's state. A state that cannot be created is a refusal here too. */
static pbd_status begin(pbd_plan_item *item, pbd_built_scene *built, pbd_status *reason) {
    pbd_result result = {0};
    item->begin_only = true;
    item->built = built;
    *reason = pbd_runs_apart(item) ? pbd_run_cell_apart(item, &result) : pbd_run_cell(item, &result);
    if (reason->code != PBD_OK) return is_refusal(reason) ? pbd_ok() : *reason;
    if (strcmp(result.state, pbd_state_name(PBD_INTERRUPTED)) == 0)
        *reason = pbd_error(PBD_INTERRUPTED, "%s", result.says);
    else if (strcmp(result.state, pbd_state_name(PBD_OK)) != 0)
        *reason = pbd_error(PBD_FAILED, "%s: %s", result.state, result.says);
    pbd_result_free(&result);
    return reason->code == PBD_INTERRUPTED ? *reason : pbd_ok();
}

pbd_status pbd_check_pair(const pbd_case *c, const pbd_method_entry *method, pbd_built_scene *built,
                          pbd_pair_state *state, pbd_status *reason) {
    pbd_plan plan PBD_CLEANUP(pbd_plan_free) = {.built = built};
    const pbd_method *m = method->by_precision[PBD_PRECISION_F64];
    const pbd_request request = {.case_name = c->name,
                                 .method_name = m->name,
                                 .precision = m->precisions & PBD_F64 ? "f64" : "f32",
                                 .threads = 1,
                                 .seed = 1};
    *reason = pbd_plan_add(&plan, &request, 0);
    if (reason->code == PBD_OK) PBD_TRY(begin(&plan.item[0], built, reason));
    if (reason->code != PBD_OK && !is_refusal(reason) && plan.count == 0) return *reason;
    const bool asks = plan.count == 0 && pbd_missing_needs(m, c) == 0 && pbd_param_asked(c->params);
    *state = reason->code == PBD_OK ? PBD_PAIR_FITS : asks ? PBD_PAIR_ASKS : PBD_PAIR_REFUSED;
    return pbd_ok();
}
