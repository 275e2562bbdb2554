/* Running a cell in a process of its own, so that a plug-in that crashes or exits takes down nothing but its run. */
#ifndef PBD_APART_H
#define PBD_APART_H

#include "harness/run.h"

/* As pbd_run_cell, in a forked child that hands its result back through a pipe. A child that ends before it has done so
 * is a result too: state `failed`, with a sentence that names the method, what it was at, and how it ended. The process
 * must not have used OpenMP threads before. */
pbd_status pbd_run_cell_apart(const pbd_plan_item *item, pbd_result *out);

/* Calls `work` in a forked child. `*ended` says how it ended: PBD_OK, or PBD_FAILED with what it was at (`board`, which
 * both processes see and `work` may write) and its signal or exit code. What it writes to `pipe_out` comes back as
 * text, the caller's. */
pbd_status pbd_work_apart(void (*work)(void *context, int pipe_out, char board[64]), void *context, char **text,
                          pbd_status *ended);

#endif
