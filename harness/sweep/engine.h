/* Who runs the shards that are missing: Slurm, or this machine one after another. */
#ifndef PBD_SWEEP_ENGINE_H
#define PBD_SWEEP_ENGINE_H

#include "harness/files/texts.h"
#include "harness/sweep/manifest.h"

/* A submission. The last one is kept in submitted.json, and `resume` takes missing options from there. */
typedef struct pbd_submission {
    const char *engine; /* "slurm" or "local" */
    long long throttle; /* the most tasks at one time; 0: as many as there is room for */
    bool packed;        /* tasks may share a node */
    long long pause;    /* s: a run that takes longer is paused; 0: none is */
    pbd_texts args;     /* further words for sbatch, several in a text */
    const char *db;     /* where the merge goes; absolute */
    bool json, quiet;   /* for local shards */
} pbd_submission;

/* The last submission as a JSON object with "engine", "jobs" (ids) and "merge"; NULL: there was none. */
json_t *pbd_submitted(const pbd_manifest *manifest);

/* Fills in what is not given from the last submission; texts belong to `last`. */
pbd_status pbd_submission_recall(pbd_submission *submission, const json_t *last);

/* Writes an array job for the shards with wanted[number], in as many parts as Slurm's MaxArraySize requires, and a job
 * that merges when all have ended, however they ended; hands them to sbatch and notes their ids. PBD_BAD_INPUT: there
 * is no sbatch, or it refuses, in its own words. */
pbd_status pbd_submit_to_slurm(const pbd_manifest *manifest, const bool *wanted, const pbd_submission *submission);

/* Runs the command of each wanted shard, and then that of the merge, whose exit code is *exit_code. */
pbd_status pbd_run_locally(const pbd_manifest *manifest, const bool *wanted, const pbd_submission *submission,
                           int *exit_code);

#endif
