/* Pausing a run: its state is saved to one file, from which another process continues it.
 *
 * The file holds the method's state (pbd_method.save), the content of the case's detail (pbd_case.numbers, keep), and
 * what the harness keeps of the run so far: records, balances, residuals and totals of launches. A continued run has
 * the same bits as one that was never paused, except in sums of colliders, which restart with a loaded state and are
 * added up in another order. Its record counts the `pauses`; its times are those of all processes, without building the
 * scene and creating the state again. Only moving runs are paused, between two steps. */
#ifndef PBD_PAUSE_H
#define PBD_PAUSE_H

#include "harness/plan/plan.h"
#include "harness/plan/record.h"
#include "harness/run/balance.h"
#include "harness/run/convergence.h"

/* A run in progress. */
typedef struct pbd_pausable {
    const pbd_plan_item *item;
    pbd_setup *setup;
    const pbd_method *method;
    void *state;
    pbd_exec *exec;
    pbd_recorder *recorder;
    pbd_balance *balance;
    pbd_convergence *convergence;
    double began; /* s, of pbd_wall_seconds: when this process began its part */
    bool paused;  /* it ended with a pause or a failed attempt: there is no result */
} pbd_pausable;

/* Whether to pause now: the item may be paused, and its time is over or an interrupt came. */
bool pbd_pause_is_due(const pbd_pausable *run);
/* Saves the run after `step` steps. Returns PBD_INTERRUPTED, with a sentence, once the file is written; else
 * PBD_FAILED. */
pbd_status pbd_pause_save(const pbd_pausable *run, long step);
/* Before the first step: continues from the file, if there is one. *step: number of steps done; 0: there is no file, or
 * it is damaged or of another build, which gives the warning pause_lost. */
pbd_status pbd_pause_load(pbd_pausable *run, long *step);

/* Whether the item has a file of a paused run. */
bool pbd_is_paused(const pbd_plan_item *item);
/* Removes the file, once the run is stored. */
void pbd_pause_forget(const pbd_plan_item *item);

#endif
