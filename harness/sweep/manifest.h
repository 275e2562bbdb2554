/* A sweep that is made in parts: its cells frozen in a file, and cut into shards.
 *
 * The folder of such a sweep:
 *
 *     manifest.jsonl     every cell that is to be run, and a hash over all of it
 *     shards/            what was made: one store for each shard, complete or not there (shards.h)
 *     paused/            runs that go on when their shard is made again (--pause; run/pause.h)
 *     aside/             files of shards/ that are no shards of this sweep
 *     submitted.json     the last submission, and jobs/ with its scripts and what they print (engine.h)
 *
 * manifest.jsonl is one JSON object a line: what holds for all, the cells in the order of their ids, and the hash of
 * the lines above it. A cell says everything in words that `run` would take, defaults included, and its id: a program
 * whose defaults differ would find another id. The same file planned by the same program gives the same bytes.
 */
#ifndef PBD_SWEEP_MANIFEST_H
#define PBD_SWEEP_MANIFEST_H

#include <jansson.h>
#include <limits.h>

#include "harness/run/run.h"

typedef struct pbd_sweep_path {
    char text[PATH_MAX + 320];
} pbd_sweep_path;
/* FOLDER/relative. */
pbd_sweep_path pbd_sweep_file(const char *folder, const char *relative);

typedef struct pbd_manifest {
    char folder[PATH_MAX]; /* absolute */
    char hash[33];
    const char *name;   /* of the file that was planned, without folder and .yaml; owned by `header` */
    size_t cells, runs; /* a cell with its repeats is several runs */
    size_t shard_cells, shards;
    int threads; /* the most that any cell runs on */
    json_t *header;
    char *text;    /* of the whole file */
    size_t *start; /* of each cell in it, and of the hash */
} pbd_manifest;

/* Freezes a plan into FOLDER, which is made when missing. A manifest that is there and of which nothing was submitted
 * or made is replaced; else it must be the same one. PBD_BAD_INPUT when it is not, or the folder cannot be written. */
pbd_status pbd_manifest_freeze(const pbd_plan *plan, const char *path, size_t shard_cells, const char *folder);

/* Whether a sweep's name and folder may stand in job scripts; PBD_BAD_INPUT for control characters and quotes. Freezing
 * asks it, too. */
pbd_status pbd_manifest_check_words(const char *name, const char *folder);

/* The same cells in shards of another length. PBD_BAD_INPUT once something was submitted or made. */
pbd_status pbd_manifest_regroup(pbd_manifest **manifest, size_t shard_cells);

/* PBD_BAD_INPUT: there is none, or it was changed after planning. */
pbd_status pbd_manifest_open(const char *folder, pbd_manifest **out);
void pbd_manifest_free(pbd_manifest *manifest); /* NULL-safe */
static inline void pbd_manifest_release(pbd_manifest **manifest) { pbd_manifest_free(*manifest); }

/* Before its runs are made: loads the plug-ins it names. PBD_BAD_INPUT when it was planned by other sources or with
 * another plug-in than this program has. */
pbd_status pbd_manifest_prepare(const pbd_manifest *manifest);

/* Adds the runs of one shard to a plan. */
pbd_status pbd_manifest_plan(const pbd_manifest *manifest, size_t shard, pbd_plan *plan);

/* PBD_BAD_INPUT unless `number` is one of the manifest's shards, which count from 0. */
pbd_status pbd_manifest_check_shard(const pbd_manifest *manifest, long long number);

/* Writes a file that is whole or not there, whatever happens meanwhile. */
pbd_status pbd_write_whole(const char *path, const char *text, size_t bytes);

#endif
