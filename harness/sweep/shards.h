/* Shards of a sweep: tasks publish them, a merge collects them.
 *
 * A task writes a store on a local disk and publishes it when it is done: the file is copied beside the others under a
 * hidden name, synchronised to the disk, and then linked to its final name, which contains random digits. So a shard is
 * complete or absent, and two tasks never write the same file. The last thing that a task writes into its store is a
 * row of table `shard`, with its manifest and its number of runs: a store without this row is no shard. Which shards
 * are missing is decided by the files alone and not by a scheduler, since tasks may be killed, started twice, or still
 * run when the scheduler takes them for dead.
 */
#ifndef PBD_SWEEP_SHARDS_H
#define PBD_SWEEP_SHARDS_H

#include "harness/store/store.h"
#include "harness/sweep/manifest.h"

/* The row of table `shard`. */
typedef struct pbd_shard_mark {
    size_t number, runs;
    size_t unwell;  /* runs that failed, diverged or unphysical */
    size_t refused; /* runs that their case or method refused; they are not stored */
    char *refusals; /* one line each; NULL if the file was not read */
} pbd_shard_mark;

typedef struct pbd_shard {
    char name[256]; /* in shards/ */
    pbd_shard_mark mark;
    pbd_status trouble; /* why it is no shard of this manifest; `mark` is then invalid */
} pbd_shard;

typedef struct pbd_shards {
    pbd_shard *item; /* by name, which begins with the number */
    size_t count;
    bool *is_there; /* by shard number: there is at least one valid file */
    size_t there;   /* number of shards with a valid file */
} pbd_shards;

/* Reads the header and the mark of every file in shards/, but not its runs. */
pbd_status pbd_shards_look(const pbd_manifest *manifest, pbd_shards *out);
void pbd_shards_free(pbd_shards *shards); /* safe on a zeroed one */

/* Whether one shard is published; reads only the files with its number. */
pbd_status pbd_shard_is_published(const pbd_manifest *manifest, size_t number, bool *out);

/* Marks a store as a complete shard and publishes its file. */
pbd_status pbd_shard_mark_store(const pbd_manifest *manifest, pbd_store *store, const pbd_shard_mark *mark);
pbd_status pbd_shard_publish(const pbd_manifest *manifest, size_t number, const char *store_path);

/* Moves a file that is no shard to aside/. */
pbd_status pbd_shard_set_aside(const pbd_manifest *manifest, const char *name);

#endif
