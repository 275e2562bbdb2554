/* Runs in a separate process: a crash of a loaded method does not end this one. */
#ifndef PBD_RUN_APART_H
#define PBD_RUN_APART_H

#include "harness/run/run.h"

/* Whether a run is made in a child process: every run of a process that has loaded plug-ins, also with built-in
 * methods, since fork and OpenMP's threads do not work together. Not on cuda, which forks cannot share. */
bool pbd_runs_apart(const pbd_plan_item *item);

/* pbd_run_cell in a child process. If the child dies, *out is a failed run that says where and how. */
pbd_status pbd_run_cell_apart(const pbd_plan_item *item, pbd_result *out);

#endif
