#include "harness/run/run_plan.h"

#include <string.h>

#include "harness/process/interrupt.h"
#include "harness/run/run.h"
#include "harness/run/run_apart.h"

/* Runs an item and stores it. `once`: if another process has stored the same run meanwhile, that one is used. */
static pbd_status make_run(pbd_plan_item *item, pbd_store *store, bool once, pbd_result *result, bool *made) {
    pbd_machine_sample before, after;
    pbd_sample_machine(&before);
    const pbd_status ran = pbd_runs_apart(item) ? pbd_run_cell_apart(item, result) : pbd_run_cell(item, result);
    if (ran.code == PBD_BAD_INPUT || ran.code == PBD_NOT_SUPPORTED) {
        item->refusal = ran;
        return pbd_ok();
    }
    PBD_TRY(ran);
    *made = true;
    pbd_sample_machine(&after);
    if (!store) return pbd_ok();
    bool known = false;
    PBD_TRY(once ? pbd_store_put_once(store, result, &before, &after, &known)
                 : pbd_store_put(store, result, &before, &after));
    memcpy(item->run_id, result->run_id, sizeof item->run_id);
    if (!known) return pbd_ok();
    pbd_result_free(result);
    *made = false;
    return pbd_ok();
}

pbd_status pbd_plan_execute_item(pbd_plan_item *item, pbd_store *store, bool again, pbd_result *result, bool *made) {
    const pbd_status here = pbd_check_backend(item->cell.backend);
    /* A stored run may lack the times and pictures requested now. Without its backend, `again` is ignored. */
    const bool once = (!again || here.code != PBD_OK) && item->seconds == 0 && item->snapshots.count == 0 &&
                      !item->film.path && !item->spool.file;
    *made = false;
    item->refusal = pbd_ok();
    if (once && store) {
        bool found = false;
        PBD_TRY(pbd_store_find(store, pbd_cell_method(&item->cell)->name, item->cell_id, item->seed, item->repeat,
                               &found, item->run_id));
        if (!found && item->limit > 0)
            PBD_TRY(pbd_store_find_stopped(store, pbd_cell_method(&item->cell)->name, item->cell_id, item->seed,
                                           item->repeat, item->limit, &found, item->run_id));
        if (found) return pbd_ok();
    }
    if (here.code != PBD_OK) {
        item->refusal = here;
        return pbd_ok();
    }
    return make_run(item, store, once, result, made);
}

pbd_status pbd_plan_execute(pbd_plan *plan, pbd_store *store, bool again, pbd_plan_observer observer, void *context) {
    for (size_t i = 0; i < plan->count; i++) {
        if (pbd_interrupted())
            return pbd_error(PBD_INTERRUPTED, "interrupted after %zu of %zu runs; the same command makes the rest", i,
                             plan->count);
        pbd_result result = {0};
        bool made;
        if (plan->item[i].run_id[0] || plan->item[i].refusal.code != PBD_OK) continue;
        pbd_status status = pbd_plan_execute_item(&plan->item[i], store, again, &result, &made);
        if (status.code == PBD_OK && observer)
            observer(context, &plan->item[i], made ? &result : NULL, i + 1, plan->count);
        if (made) pbd_result_free(&result);
        PBD_TRY(status);
    }
    if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted; the same command makes the rest");
    return pbd_ok();
}
