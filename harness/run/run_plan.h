/* Making the runs of a plan and storing them: `run`, `sweep` and `reproduce` all use this. */
#ifndef PBD_RUN_PLAN_H
#define PBD_RUN_PLAN_H

#include "harness/plan/plan.h"
#include "harness/plan/result.h"
#include "harness/store/store.h"

/* Called after each item: made, already in the store, or refused (item->refusal). */
typedef void (*pbd_plan_observer)(void *context, const pbd_plan_item *item, const pbd_result *result_or_null,
                                  size_t done, size_t total);

/* Makes every run of the plan that the store lacks (`again`: all of them), storing each as it ends, and fills in the
 * items' run_id. An item that the case or the method refuses has its refusal, nothing stored, and the rest goes on.
 * Stops between runs after Ctrl-C with PBD_INTERRUPTED. */
pbd_status pbd_plan_execute(pbd_plan *plan, pbd_store *store, bool again, pbd_plan_observer observer, void *context);

#endif
