/* Runs of a plan by several processes at once.
 *
 * Each process is a fork that opens the store anew and takes the next run when it has ended one, so that long and short
 * runs share the cores. A run that has more than one thread, is not on the cpu backend or is timed (item->alone) is
 * left for pbd_plan_execute: nothing runs beside it then. Results are the same bits either way. */
#ifndef PBD_RUN_BESIDE_H
#define PBD_RUN_BESIDE_H

#include "harness/run/run_plan.h"

typedef struct pbd_workers {
    int count;      /* of processes; fewer than 2: all is left to pbd_plan_execute */
    const char *db; /* the store's file */
    int argc;       /* the command line, for the record */
    char *const *argv;
} pbd_workers;

/* Does parts [0, count) of some work in processes that each have the store open; the caller has none open, since
 * SQLite's connections do not survive a fork. The work returns false to end it all; what it prints and keeps is the
 * process's own. PBD_INTERRUPTED after Ctrl-C; PBD_FAILED when a process crashes. */
typedef bool (*pbd_beside_work)(void *context, size_t part, pbd_store *store);
pbd_status pbd_work_beside(const pbd_workers *workers, size_t count, pbd_beside_work work, void *context);

/* Whether the item may have runs beside it, at this time or another. */
bool pbd_may_be_beside(const pbd_plan_item *item);

/* Makes those runs of the plan that have no run_id and may have others beside them, and fills in their run_id or
 * refusal. The observer is called in this process as each ends; its result has only `state` and `says`. The caller has
 * no store open. `again`: also what the store has by now. PBD_INTERRUPTED
 * after Ctrl-C, with everything that ended stored; PBD_FAILED when a process crashes, which names its run. */
pbd_status pbd_plan_execute_beside(pbd_plan *plan, const pbd_workers *workers, bool again, pbd_plan_observer observer,
                                   void *context);

#endif
