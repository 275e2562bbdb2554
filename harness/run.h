/* Running a cell, and many of them: the one road by which `run`, `sweep` and `reproduce` make runs. */
#ifndef PBD_RUN_H
#define PBD_RUN_H

#include "harness/plan.h"
#include "harness/result.h"
#include "harness/store/store.h"

/* Runs one cell. A run that diverges or fails is a result, not an error: *out holds what there was. PBD_BAD_INPUT or
 * PBD_NOT_SUPPORTED when the case or the method refuses what it was given. */
pbd_status pbd_run_cell(const pbd_plan_item *item, pbd_result *out);

/* Called after each item: made, already in the store, or refused (item->refusal). */
typedef void (*pbd_plan_observer)(void *context, const pbd_plan_item *item, const pbd_result *result_or_null,
                                  size_t done, size_t total);

/* Makes every run of the plan that the store lacks (`again`: all of them), storing each as it ends, and fills in the
 * items' run_id. An item that the case or the method refuses has its refusal, nothing stored, and the rest goes on.
 * Stops between runs after Ctrl-C with PBD_INTERRUPTED. */
pbd_status pbd_plan_execute(pbd_plan *plan, pbd_store *store, bool again, pbd_plan_observer observer, void *context);

/* Ctrl-C: installs the handler (first signal asks, second kills) and tells whether it came. */
void pbd_catch_interrupts(void);
bool pbd_interrupted(void);

#endif
