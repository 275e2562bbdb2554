/* Shards of a sweep: what tasks publish and a merge takes.
 *
 * A task writes a store on its machine's disk and publishes it when it is done: the file is copied beside
 * the others under a hidden name, forced to the disk and then linked to its name, which holds random digits: a shard is
 * there as a whole or not at all, and two tasks never write one file. The last thing a task writes into its store is a
 * row of table `shard`, which says what manifest it belongs to and how many runs there are: a store without it is no
 * shard. Which shards are there is all that is asked when it comes to what is missing; a scheduler is not asked, since
 * tasks may be killed, started twice, or run on while it thinks them dead.
 */
#ifndef PBD_SWEEP_SHARDS_H
#define PBD_SWEEP_SHARDS_H

#include "harness/store/store.h"
#include "harness/sweep/manifest.h"

/* What a shard says of itself. */
typedef struct pbd_shard_mark {
    size_t number, runs;
    size_t unwell;  /* runs that failed, diverged or unphysical */
    size_t refused; /* runs that their case or method refused: there is none of them */
    char *refusals; /* a line for each; NULL in a file that was not looked into */
} pbd_shard_mark;

typedef struct pbd_shard {
    char name[256]; /* in shards/ */
    pbd_shard_mark mark;
    pbd_status trouble; /* why it is no shard of this manifest; the mark means nothing then */
} pbd_shard;

typedef struct pbd_shards {
    pbd_shard *item; /* by name, which begins with the number */
    size_t count;
    bool *is_there; /* of each number of the manifest: at least one good file */
    size_t there;   /* how many numbers have one */
} pbd_shards;

/* Looks at every file in shards/: its header and its mark, not at each run. */
pbd_status pbd_shards_look(const pbd_manifest *manifest, pbd_shards *out);
void pbd_shards_free(pbd_shards *shards); /* safe on a zeroed one */

/* Whether one shard is published: looks at the files with its number alone. */
pbd_status pbd_shard_is_published(const pbd_manifest *manifest, size_t number, bool *out);

/* Marks a store as the whole of a shard, and publishes its file. */
pbd_status pbd_shard_mark_store(const pbd_manifest *manifest, pbd_store *store, const pbd_shard_mark *mark);
pbd_status pbd_shard_publish(const pbd_manifest *manifest, size_t number, const char *store_path);

/* Moves a file that is no shard out of the way, to aside/. */
pbd_status pbd_shard_set_aside(const pbd_manifest *manifest, const char *name);

#endif
