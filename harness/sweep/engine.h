/* Runs the missing shards: as Slurm jobs, or on this machine one after another. */
#ifndef PBD_SWEEP_ENGINE_H
#define PBD_SWEEP_ENGINE_H

#include "harness/files/texts.h"
#include "harness/sweep/manifest.h"

/* A submission. The last one is stored in submitted.json, from which `resume` takes options that are not given. */
typedef struct pbd_submission {
    const char *engine; /* "slurm" or "local" */
    long long throttle; /* largest number of tasks at one time; 0: no limit */
    bool packed;        /* tasks may share a node */
    long long pause;    /* s: runs that take longer are paused; 0: none is */
    pbd_texts args;     /* further arguments for sbatch, several in one text */
    const char *db;     /* store that receives the merge; absolute path */
    bool json, quiet;   /* for local shards */
} pbd_submission;

/* The last submission as a JSON object with "engine", "jobs" (ids) and "merge"; NULL: there was none. */
json_t *pbd_submitted(const pbd_manifest *manifest);

/* Fills in options that are not given from the last submission; texts belong to `last`. */
pbd_status pbd_submission_recall(pbd_submission *submission, const json_t *last);

/* Writes an array job for the shards with wanted[number], in as many parts as Slurm's MaxArraySize requires, and a job
 * that merges when all have ended, however they ended. Submits them with sbatch and stores their ids. PBD_BAD_INPUT:
 * there is no sbatch, or it refuses; the message quotes it. */
pbd_status pbd_submit_to_slurm(const pbd_manifest *manifest, const bool *wanted, const pbd_submission *submission);

/* Runs the command of each wanted shard and then the merge, whose exit code is *exit_code. */
pbd_status pbd_run_locally(const pbd_manifest *manifest, const bool *wanted, const pbd_submission *submission,
                           int *exit_code);

#endif
