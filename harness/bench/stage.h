/* A case and a method set up to be stepped outside of a run: for benches of cells and of kernels. */
#ifndef PBD_STAGE_H
#define PBD_STAGE_H

#include "harness/exec/exec.h"
#include "harness/plan/plan.h"
#include "harness/plan/record.h"

typedef struct pbd_stage {
    const pbd_cell *cell;
    pbd_setup setup;
    pbd_exec *exec;
    pbd_result record; /* what the method reports: counts and metrics */
    pbd_recorder *recorder;
    void *state;
    double dt; /* s; of a method without steps 0 */
} pbd_stage;

/* for_gpu: the method launches what it would launch on a GPU. Close *out also after an error. `cell` is borrowed. */
pbd_status pbd_stage_open(const pbd_cell *cell, bool for_gpu, pbd_stage *out);
void pbd_stage_close(pbd_stage *s); /* safe on a zeroed one, and twice */

static inline const pbd_method *pbd_stage_method(const pbd_stage *s) { return pbd_cell_method(s->cell); }

/* NULL when the method has not reported it. */
const pbd_metric_item *pbd_stage_metric(const pbd_stage *s, const char *name);
/* PBD_DIVERGED, and why, when a position is not finite. */
pbd_status pbd_stage_check(const pbd_stage *s, long steps);

#endif
