/* One shard made and published. */
#ifndef PBD_SWEEP_SHARD_RUN_H
#define PBD_SWEEP_SHARD_RUN_H

#include "harness/sweep/making.h"
#include "harness/sweep/manifest.h"

/* Makes the runs of a shard into a store on this machine's own disk ($TMPDIR, else /tmp) and publishes it; what was
 * published before is not made again, and *known is true then. After Ctrl-C nothing is published, nor when a run takes
 * longer than `pause` s (0: none does): its state is in the folder's paused/ then, PBD_INTERRUPTED says so, and the
 * next call goes on from there. argc and argv are what the store keeps as the command line. */
pbd_status pbd_shard_run(const pbd_manifest *manifest, size_t number, double pause, pbd_making *making, int argc,
                         char *const *argv, bool *known);

#endif
