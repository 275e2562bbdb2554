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

/* One item: looks it up (unless `again`), or makes and stores it. *made: then *result is the caller's. A refusal is the
 * item's, and no error. */
pbd_status pbd_plan_execute_item(pbd_plan_item *item, pbd_store *store, bool again, pbd_result *result, bool *made);

/* Makes every run of the plan that the store lacks (`again`: all of them), storing each as it ends, and fills in the
 * items' run_id. An item that the case or the method refuses has its refusal, nothing stored, and the rest goes on. One
 * that has a run_id or a refusal (run_beside.h) is done.
 * Stops between runs after Ctrl-C with PBD_INTERRUPTED. */
pbd_status pbd_plan_execute(pbd_plan *plan, pbd_store *store, bool again, pbd_plan_observer observer, void *context);

#endif
