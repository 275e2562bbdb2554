/* Runs of a plan by several processes at once.
 *
 * Each process is a fork that opens the store itself and takes the next run when it has finished one, so that long and
 * short runs share the cores. A run that has more than one thread, is not on the cpu backend or is timed (item->alone)
 * is left to pbd_plan_execute, which makes one run at a time. Results are bitwise the same either way. */
#ifndef PBD_RUN_BESIDE_H
#define PBD_RUN_BESIDE_H

#include "harness/run/run_plan.h"

typedef struct pbd_workers {
    int count;      /* processes; fewer than 2: all runs are left to pbd_plan_execute */
    const char *db; /* the store's file */
    int argc;       /* the command line, for the record */
    char *const *argv;
} pbd_workers;

/* Does parts [0, count) of some work in processes that each open the store; the caller must have none open, since
 * SQLite's connections do not survive a fork. `work` returns false to stop all processes; its memory and output buffers
 * are those of its process. PBD_INTERRUPTED after Ctrl-C; PBD_FAILED when a process crashes. */
typedef bool (*pbd_beside_work)(void *context, size_t part, pbd_store *store);
pbd_status pbd_work_beside(const pbd_workers *workers, size_t count, pbd_beside_work work, void *context);

/* Whether other runs may be made at the same time as this item. */
bool pbd_may_be_beside(const pbd_plan_item *item);

/* Makes those runs of the plan that have no run_id and satisfy pbd_may_be_beside, and fills in their run_id or refusal.
 * The observer is called in this process as each ends; its result has only `state` and `says`. The caller must have no
 * store open. `again`: also runs that the store has. PBD_INTERRUPTED after Ctrl-C, with every finished run stored;
 * PBD_FAILED, naming the run, when a process crashes. */
pbd_status pbd_plan_execute_beside(pbd_plan *plan, const pbd_workers *workers, bool again, pbd_plan_observer observer,
                                   void *context);

#endif
