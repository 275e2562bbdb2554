/* Runs in a separate process: a crash of a loaded method does not end this one. */
#ifndef PBD_RUN_APART_H
#define PBD_RUN_APART_H

#include "harness/run/run.h"

/* Whether a run is made apart: all of a process that has loaded plug-ins, those of methods compiled in too, since a
 * fork and OpenMP's threads do not go together. Not on cuda, which forks cannot share. */
bool pbd_runs_apart(const pbd_plan_item *item);

/* As pbd_run_cell, in a child. One that dies leaves a run that failed, with where and how. */
pbd_status pbd_run_cell_apart(const pbd_plan_item *item, pbd_result *out);

#endif
