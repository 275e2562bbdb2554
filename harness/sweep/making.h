/* Makes the runs of `sweep FILE.yaml` or of a shard one after another, and reports each on one line. */
#ifndef PBD_SWEEP_MAKING_H
#define PBD_SWEEP_MAKING_H

#include "harness/figure/figure_plan.h"
#include "harness/figure/figure_report.h"
#include "harness/process/progress.h"

typedef struct pbd_making {
    pbd_report_style style;
    pbd_progress progress;
    pbd_store *store;                     /* receives the runs */
    size_t made, stored, refused, unwell; /* unwell: failed, diverged or unphysical */
    char *refusals;                       /* a line for each; NULL: none. The caller frees */
    pbd_status trouble;
} pbd_making;

/* Makes the runs that the store lacks (`again`: all), and counts them. Reports refused runs on standard error. */
pbd_status pbd_make_runs(pbd_making *making, pbd_plan *plan, bool again);

/* Prints « 3 runs made, 1 already stored, 0 failed, diverged or unphysical» and a line break. */
void pbd_print_made(const pbd_making *making, const char *of);

/* The exit code for these runs. */
int pbd_made_exit(const pbd_making *making);

#endif
