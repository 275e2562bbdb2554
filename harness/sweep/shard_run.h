/* Makes and publishes one shard. */
#ifndef PBD_SWEEP_SHARD_RUN_H
#define PBD_SWEEP_SHARD_RUN_H

#include "harness/sweep/making.h"
#include "harness/sweep/manifest.h"

/* Makes the runs of a shard in a store on a local disk ($TMPDIR, else /tmp) and publishes it. A shard that is published
 * already is not made again; *known is then true. Nothing is published after Ctrl-C, or if a run takes longer than
 * `pause` seconds (0: no limit): the state of that run is then saved in the folder's paused/, the result is
 * PBD_INTERRUPTED, and the next call continues from there. The store keeps argc and argv as the command line. */
pbd_status pbd_shard_run(const pbd_manifest *manifest, size_t number, double pause, pbd_making *making, int argc,
                         char *const *argv, bool *known);

#endif
