/* A run that several processes make, one after another: what it is paused with, and goes on from, as one file.
 *
 * The file holds the method's own state (pbd_method.save), what the case's detail holds (pbd_case.numbers, keep), and
 * what the harness keeps of the run so far: records, balances, residuals and totals of launches. A run that went on has
 * the bits of one that was never paused, except in sums of colliders, which begin anew with a loaded state and are
 * added up in another order. Its record counts the `pauses`; its times are those of all processes, without what they
 * took to build the scene and to create the state again. Only motion is paused, between two steps. */
#ifndef PBD_PAUSE_H
#define PBD_PAUSE_H

#include "harness/plan/plan.h"
#include "harness/plan/record.h"
#include "harness/run/balance.h"
#include "harness/run/convergence.h"

/* The run as it goes on. */
typedef struct pbd_pausable {
    const pbd_plan_item *item;
    pbd_setup *setup;
    const pbd_method *method;
    void *state;
    pbd_exec *exec;
    pbd_recorder *recorder;
    pbd_balance *balance;
    pbd_convergence *convergence;
    double began; /* s, of pbd_wall_seconds: this process's part */
    bool paused;  /* it ended with a pause, or with the attempt: it is no result */
} pbd_pausable;

/* Whether the item may be paused and is to be, now: its time is over, or an interrupt came. */
bool pbd_pause_is_due(const pbd_pausable *run);
/* After `step` steps. Returns PBD_INTERRUPTED, with a sentence, once the file is written; else PBD_FAILED. */
pbd_status pbd_pause_save(const pbd_pausable *run, long step);
/* Before the first step: goes on from the file, if there is one. *step: how many steps are done, 0: there is none, or
 * it is damaged or of another build, which a warning says (pause_lost). */
pbd_status pbd_pause_load(pbd_pausable *run, long *step);

/* Whether its file is there. */
bool pbd_is_paused(const pbd_plan_item *item);
/* Removes it: the run is stored. */
void pbd_pause_forget(const pbd_plan_item *item);

#endif
