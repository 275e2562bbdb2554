/* Snapshots (`run --snapshots N`): states of a run are kept, written as files and drawn. */
#ifndef PBD_SNAPSHOTS_H
#define PBD_SNAPSHOTS_H

#include "harness/picture/album.h"
#include "harness/picture/state_files.h"

/* The request; strings are borrowed. count 0: nothing. */
typedef struct pbd_snapshot_plan {
    int count;
    const char *folder;   /* the run's own */
    pbd_album_plan album; /* width 0: 800 */
    unsigned formats;     /* of files: bits PBD_STATES_VTU and so on (state_files.h); 0: VTU */
} pbd_snapshot_plan;

enum { PBD_MOST_SNAPSHOTS = 999 };

typedef struct pbd_snapshots pbd_snapshots;

/* Makes the folder (PBD_BAD_INPUT when it cannot be written to) and room for states. Of scene and method, which must
 * outlive it, the current state is read by `keep`. */
pbd_status pbd_snapshots_open(const pbd_snapshot_plan *plan, const pbd_scene *scene, const pbd_method *method,
                              pbd_snapshots **out);

/* Notes that `step` of `steps` steps are done, at a time in s, and tells whether this state is to be kept. steps 0:
 * the number is unknown; then at most twice the requested number of states is kept, every second being
 * dropped when there are more. */
bool pbd_snapshots_want(pbd_snapshots *snapshots, double time, long step, long steps);
/* Keeps the state at the step that was noted last. */
pbd_status pbd_snapshots_keep(pbd_snapshots *snapshots, const void *state);
/* The state at the end, of a solve that took no steps as of one that moved; it is always kept. */
pbd_status pbd_snapshots_end(pbd_snapshots *snapshots, const void *state);

/* Writes state_000.vtu ..., states.pvd (or other formats), state_000.png ... and sheet.png. PBD_FAILED says what could
 * not be written; PBD_NOT_SUPPORTED that there is no gnuplot, without which all but the sheet is there. */
pbd_status pbd_snapshots_write(pbd_snapshots *snapshots);

void pbd_snapshots_close(pbd_snapshots *snapshots); /* NULL-safe */

#endif
