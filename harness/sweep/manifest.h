/* A sweep that is made in parts: its cells are frozen in a file and divided into shards.
 *
 * The folder of such a sweep:
 *
 *     manifest.jsonl     every cell that is to be run, and a hash over all of it
 *     shards/            results: one store for each shard, complete or absent (shards.h)
 *     paused/            runs that continue when their shard is run again (--pause; run/pause.h)
 *     aside/             files of shards/ that are no shards of this sweep
 *     submitted.json     the last submission; jobs/ has its scripts and their output (engine.h)
 *
 * manifest.jsonl is one JSON object a line: a header, the cells in the order of their ids, and the hash of the lines
 * above it. A cell holds all parameters as `run` would take them, defaults included, and its id, so that a program with
 * other defaults is noticed by another id. The same file planned by the same program gives the same bytes.
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
    const char *name;   /* of the planned file, without folder and .yaml; owned by `header` */
    size_t cells, runs; /* a cell with its repeats is several runs */
    size_t shard_cells, shards;
    int threads; /* the largest number in any cell */
    json_t *header;
    char *text;    /* the whole file */
    size_t *start; /* offset of each cell in it, and of the hash */
} pbd_manifest;

/* Freezes a plan into FOLDER, which is created if missing. Replaces an existing manifest of which nothing was submitted
 * or made; any other must be identical. PBD_BAD_INPUT if it is not, or if the folder cannot be written. */
pbd_status pbd_manifest_freeze(const pbd_plan *plan, const char *path, size_t shard_cells, const char *folder);

/* Checks that a sweep's name and folder can be written into job scripts; PBD_BAD_INPUT for control characters and
 * quotes. Freezing checks it too. */
pbd_status pbd_manifest_check_words(const char *name, const char *folder);

/* Divides the same cells into shards of another size. PBD_BAD_INPUT once something was submitted or made. */
pbd_status pbd_manifest_regroup(pbd_manifest **manifest, size_t shard_cells);

/* Reads FOLDER's manifest. PBD_BAD_INPUT if there is none, or if it was changed after planning. */
pbd_status pbd_manifest_open(const char *folder, pbd_manifest **out);
void pbd_manifest_free(pbd_manifest *manifest); /* NULL-safe */
static inline void pbd_manifest_release(pbd_manifest **manifest) { pbd_manifest_free(*manifest); }

/* To be called before its runs are made: loads the plug-ins that it names. PBD_BAD_INPUT if it was planned by a program
 * of other sources or with another plug-in. */
pbd_status pbd_manifest_prepare(const pbd_manifest *manifest);

/* Adds the runs of one shard to a plan. */
pbd_status pbd_manifest_plan(const pbd_manifest *manifest, size_t shard, pbd_plan *plan);

/* PBD_BAD_INPUT unless `number` is one of the manifest's shards, which count from 0. */
pbd_status pbd_manifest_check_shard(const pbd_manifest *manifest, long long number);

/* Writes a file atomically: it is complete or absent, whatever happens meanwhile. */
pbd_status pbd_write_whole(const char *path, const char *text, size_t bytes);

#endif
