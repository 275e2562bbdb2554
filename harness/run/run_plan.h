/* Executes a plan: the common path of `run`, `sweep` and `reproduce`.
 *
 * For each item: its cell is looked up in the store; a missing run is made (run.h), in a child process if plug-ins are
 * loaded (run_apart.h), and stored at once, so that an interruption loses one run at most. The item gets its run_id or
 * its refusal, and the observer is called for progress and output. */
#ifndef PBD_RUN_PLAN_H
#define PBD_RUN_PLAN_H

#include "harness/plan/plan.h"
#include "harness/plan/result.h"
#include "harness/store/store.h"

/* Called after each item: made, already in the store, or refused (item->refusal). */
typedef void (*pbd_plan_observer)(void *context, const pbd_plan_item *item, const pbd_result *result_or_null,
                                  size_t done, size_t total);

/* Looks up one item (unless `again`), or makes and stores its run. If *made, the caller owns *result. A refusal is kept
 * in the item and is not an error. */
pbd_status pbd_plan_execute_item(pbd_plan_item *item, pbd_store *store, bool again, pbd_result *result, bool *made);

/* Makes every run of the plan that the store lacks (`again`: all of them), stores each as it ends, and fills in the
 * items' run_id. An item that the case or the method refuses gets its refusal, nothing is stored for it, and the other
 * items still run. Items that already have a run_id or a refusal (run_beside.h) are skipped. After Ctrl-C it stops
 * between runs and returns PBD_INTERRUPTED. */
pbd_status pbd_plan_execute(pbd_plan *plan, pbd_store *store, bool again, pbd_plan_observer observer, void *context);

#endif
