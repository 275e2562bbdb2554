/* Merges the published shards of a sweep into one store. */
#ifndef PBD_SWEEP_SHARD_MERGE_H
#define PBD_SWEEP_SHARD_MERGE_H

#include "harness/sweep/shards.h"

typedef struct pbd_shards_merged {
    size_t shards;          /* now in the store */
    bool *is_merged;        /* by shard number; owned: free() */
    size_t added, known;    /* runs */
    size_t aside;           /* files that were set aside */
    size_t twice;           /* valid shards that another task had made too */
    size_t unwell, refused; /* runs */
} pbd_shards_merged;

/* Called for each file that is set aside and, with name NULL, for each run that was refused. */
typedef void (*pbd_merge_observer)(void *context, const char *name, const char *says);

/* A repeated merge, also after an interruption, adds what is missing. If a task ran twice, one of its shards is merged:
 * the one that the store already has, else the first by name. Files that are no complete shards of this manifest are
 * set aside, and the rest is merged; an error of the store ends the merge. */
pbd_status pbd_shards_merge(const pbd_manifest *manifest, pbd_store *into, pbd_merge_observer observer, void *context,
                            pbd_shards_merged *out);

#endif
