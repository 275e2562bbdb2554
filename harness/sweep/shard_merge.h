/* The published shards of a sweep, taken into one store. */
#ifndef PBD_SWEEP_SHARD_MERGE_H
#define PBD_SWEEP_SHARD_MERGE_H

#include "harness/sweep/shards.h"

typedef struct pbd_shards_merged {
    size_t shards;          /* that are in the store now */
    bool *is_merged;        /* of each number; owned: free() */
    size_t added, known;    /* runs */
    size_t aside;           /* files that were set aside */
    size_t twice;           /* good shards of which another task had made the same */
    size_t unwell, refused; /* runs */
} pbd_shards_merged;

/* Told of each file that is set aside, and (name NULL) of each run that was refused. */
typedef void (*pbd_merge_observer)(void *context, const char *name, const char *says);

/* Takes every shard in a separate transaction; a merge that is done again, or stopped and done again, adds what is
 * missing. Where tasks ran twice one shard is taken: the one that the store has already, else the first by name. Files
 * that are no whole shards of this manifest are set aside and the rest is merged; a fault of the store ends it. */
pbd_status pbd_shards_merge(const pbd_manifest *manifest, pbd_store *into, pbd_merge_observer observer, void *context,
                            pbd_shards_merged *out);

#endif
