/* An arm of a comparison: a program and a cell, and one process of it. */
#ifndef PBD_COMPARE_ARM_H
#define PBD_COMPARE_ARM_H

#include "harness/plan/result.h"
#include "harness/process/child.h"

typedef struct pbd_arm {
    const char *name;        /* as the user named it: "xpbi:solver=jacobi", "v0.1", a path */
    const char *program;     /* path of a pbdbench binary */
    const char *plugin;      /* path of a plug-in of this arm alone; NULL: none */
    const char *const *word; /* words after `run`: CASE -m METHOD, then -s, -b, -p, -t...; NULL-terminated. Settings
                                have today's names; an older program gets those it knows */
    const char *engine;      /* path of an engine.yaml of this arm alone; NULL: none */
} pbd_arm;

/* The result of one process: the part of `run --json` that is judged. Owned: pbd_arm_run_free. */
typedef struct pbd_arm_run {
    char run_id[33], cell_id[33];
    char *cell_today; /* NULL, or, where a parameter was renamed (catalog/renamed.h), the cell by today's names */
    char *problem;    /* what was solved: case, method and parameters; not where */
    char *state, *says;
    pbd_metric_item *metric; /* with counts */
    size_t metrics;
    double cpu_s, wall_s; /* of one solve, medians over the samples; of the run's only solve without samples */
    int threads;
    char backend[16], precision[8];
} pbd_arm_run;
void pbd_arm_run_free(pbd_arm_run *run);
/* NULL when it has none of that name. */
const pbd_metric_item *pbd_arm_metric(const pbd_arm_run *run, const char *name);

/* How a process is run. */
typedef struct pbd_arm_settings {
    const char *db; /* NULL: --no-store */
    double seconds; /* of --time; 0: none */
    int core;       /* where it is pinned; -1: not pinned */
    bool turns;     /* it waits to be asked for each sample (solve_times.h) */
    size_t pad;     /* bytes that are added to its environment (program_image.h) */
} pbd_arm_settings;

/* Starts a process of an arm from an image of its program that is made anew (program_image.h). Each start is followed
 * by one finish, which reads the result. PBD_BAD_INPUT with the program's own sentence where it exits 2 or prints no
 * run, PBD_FAILED where it crashes; a run that diverged or failed is a result. */
pbd_status pbd_arm_start(const pbd_arm *arm, const pbd_arm_settings *settings, pbd_child_process *out);
pbd_status pbd_arm_finish(const pbd_arm *arm, pbd_child_process *process, pbd_arm_run *out);
/* Both. */
pbd_status pbd_arm_call(const pbd_arm *arm, const pbd_arm_settings *settings, pbd_arm_run *out);

#endif
