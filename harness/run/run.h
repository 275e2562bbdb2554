/* Running one cell. */
#ifndef PBD_RUN_H
#define PBD_RUN_H

#include "harness/plan/plan.h"
#include "harness/plan/result.h"

/* Runs one cell. A run that diverges or fails is a result, not an error: *out holds what was recorded. PBD_BAD_INPUT or
 * PBD_NOT_SUPPORTED when the case or the method refuses its input; PBD_INTERRUPTED when the run was paused (pause.h),
 * and PBD_FAILED when the paused state could not be written. */
pbd_status pbd_run_cell(const pbd_plan_item *item, pbd_result *out);

#endif
