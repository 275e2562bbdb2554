/* Runs of figures and sweeps: what pbd_figure_plan planned, made once however many figures share it. */
#ifndef PBD_FIGURE_PLAN_H
#define PBD_FIGURE_PLAN_H

#include "harness/figure_file.h"

/* As pbd_plan_execute, but items that ask for the same run (same cell, seed and repeat) make it once and all get its
 * run_id; `total` counts different runs. */
pbd_status pbd_plan_execute_once(pbd_plan *plan, pbd_store *store, bool again, pbd_plan_observer observer,
                                 void *context);

/* Fills in the run_id of every item that the store already has a finished run of. `store` may be NULL: none. */
pbd_status pbd_plan_look_up(pbd_plan *plan, pbd_store *store);

/* How many different runs the items of groups [first, last) ask for, and how many of those have no run_id. */
typedef struct pbd_plan_tally {
    size_t runs, missing;
} pbd_plan_tally;
pbd_status pbd_plan_count(const pbd_plan *plan, size_t first, size_t last, pbd_plan_tally *out);

/* Prints what is missing for --dry-run: at most `most` labels, then how many more. */
void pbd_plan_print_missing(const pbd_plan *plan, size_t first, size_t last, size_t most);

#endif
