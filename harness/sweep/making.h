/* Runs of a sweep made one after the other and reported, a line each: the whole of `sweep FILE.yaml`, and of a shard.
 */
#ifndef PBD_SWEEP_MAKING_H
#define PBD_SWEEP_MAKING_H

#include "harness/figure/figure_plan.h"
#include "harness/figure/figure_report.h"
#include "harness/process/progress.h"

typedef struct pbd_making {
    pbd_report_style style;
    pbd_progress progress;
    pbd_store *store;                     /* where they go */
    size_t made, stored, refused, unwell; /* unwell: failed, diverged or unphysical */
    char *refusals;                       /* a line for each; NULL: none. The caller frees */
    pbd_status trouble;
} pbd_making;

/* Makes what the store lacks (`again`: everything), and counts. Refused runs are reported on standard error. */
pbd_status pbd_make_runs(pbd_making *making, pbd_plan *plan, bool again);

/* « 3 runs made, 1 already stored, 0 failed, diverged or unphysical», and the line's end. */
void pbd_print_made(const pbd_making *making, const char *of);

/* The exit code that these runs ask for. */
int pbd_made_exit(const pbd_making *making);

#endif
