/* Runs of figures and sweeps: what pbd_figure_plan planned, made once however many figures share it. */
#ifndef PBD_FIGURE_PLAN_H
#define PBD_FIGURE_PLAN_H

#include "harness/figure/figure_file.h"
#include "harness/run/run_beside.h"
#include "harness/run/run_plan.h"

/* MiB: largest memory of a figure whose runs may run beside others. */
enum { PBD_MOST_MEMORY_BESIDE = 2048 };

/* As pbd_plan_execute, but a run that several items ask for (same cell, seed and repeat) is made once, and all of them
 * get its run_id; `total` counts different runs. Round by round: each cell once, then each with repeats again. */
pbd_status pbd_plan_execute_once(pbd_plan *plan, pbd_store *store, bool again, pbd_plan_observer observer,
                                 void *context);

/* As pbd_plan_execute_beside, likewise. What pbd_plan_look_up found is not made. */
pbd_status pbd_plan_execute_once_beside(pbd_plan *plan, const pbd_workers *workers, bool again,
                                        pbd_plan_observer observer, void *context);

/* Fills in the run_id of every item that the store already has a finished run of. `store` may be NULL: none. */
pbd_status pbd_plan_look_up(pbd_plan *plan, pbd_store *store);

/* Whether a run is neither stored nor can be made: this build or machine lacks its backend. */
bool pbd_out_of_reach(const pbd_plan_item *item);

/* To be called once runs were made or looked up: counts in each group of the file the runs that are out of reach. Such
 * a group is left out, with the claims that depend on it; the rest of the figure remains. */
void pbd_figure_leave_out(pbd_figure_file *file, const pbd_plan *plan, size_t first_group);
/* «group 'gpu' is left out (12 runs): backend cuda is not available: ...»; "" when it is not. */
void pbd_left_out_text(const pbd_group *group, char out[500]);

/* How many different runs the items of groups [first, last) ask for, how many of those have no run_id, and how many of
 * these are out of reach. */
typedef struct pbd_plan_tally {
    size_t runs, missing, left_out;
} pbd_plan_tally;
pbd_status pbd_plan_count(const pbd_plan *plan, size_t first, size_t last, pbd_plan_tally *out);

/* Seconds of the different runs that the items of groups [first, last) would make, by those of each item of the plan
 * (NAN: not known, not in the sum); *alone: the part of them in runs that must run alone. */
pbd_status pbd_plan_seconds(const pbd_plan *plan, size_t first, size_t last, const double *each, double *seconds,
                            double *alone);

/* Prints what is missing and can be made, for --dry-run: at most `most` labels, then how many more. */
void pbd_plan_print_missing(const pbd_plan *plan, size_t first, size_t last, size_t most);

#endif
