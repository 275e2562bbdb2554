/* Sweeps that are made in parts: plan, submit, run-shard, status, merge, resume (`sweep --help`). */
#ifndef PBD_SWEEP_PARTS_H
#define PBD_SWEEP_PARTS_H

#include "harness/figure/figure_file.h"
#include "harness/figure/figure_report.h"
#include "harness/sweep/engine.h"

typedef struct pbd_parts {
    const char *path; /* the file to plan */
    const char *dir;  /* the sweep's folder */
    const char *db;   /* --db, as an absolute path */
    bool db_given;
    long long shard;       /* to run */
    long long shard_cells; /* 0: unchanged, or chosen by the times of stored runs */
    pbd_submission submission;
    pbd_report_style style;
    int argc; /* the command line, for what is stored */
    char **argv;
} pbd_parts;

/* Each prints what it did. *exit_code: 4 when shards are missing, 5 when runs failed, diverged or unphysical, 2 when
 * runs were refused or files set aside. */
pbd_status pbd_parts_plan(const pbd_parts *parts, int *exit_code);
pbd_status pbd_parts_submit(const pbd_parts *parts, int *exit_code);
pbd_status pbd_parts_resume(const pbd_parts *parts, int *exit_code);
pbd_status pbd_parts_run_shard(const pbd_parts *parts, int *exit_code);
pbd_status pbd_parts_status(const pbd_parts *parts, int *exit_code);
pbd_status pbd_parts_merge(const pbd_parts *parts, int *exit_code);

#endif
