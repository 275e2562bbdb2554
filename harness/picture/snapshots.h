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

/* Makes the folder (PBD_BAD_INPUT if it cannot be written to) and room for states. Scene and method must outlive it. */
pbd_status pbd_snapshots_open(const pbd_snapshot_plan *plan, const pbd_scene *scene, const pbd_method *method,
                              pbd_snapshots **out);

/* Records that `step` of `steps` steps are done, at a time in s; returns whether this state is to be kept. steps 0:
 * their number is unknown; then every second state is dropped when more than twice the requested number are kept. */
bool pbd_snapshots_want(pbd_snapshots *snapshots, double time, long step, long steps);
/* Keeps the state at the step that was recorded last. */
pbd_status pbd_snapshots_keep(pbd_snapshots *snapshots, const void *state);
/* Keeps the state at the end, also of a solve without steps; it is always kept. */
pbd_status pbd_snapshots_end(pbd_snapshots *snapshots, const void *state);

/* Writes state_000.vtu ..., states.pvd (or other formats), state_000.png ... and sheet.png. PBD_FAILED says what could
 * not be written. PBD_NOT_SUPPORTED: gnuplot is missing; everything but the sheet was written. */
pbd_status pbd_snapshots_write(pbd_snapshots *snapshots);

void pbd_snapshots_close(pbd_snapshots *snapshots); /* NULL-safe */

#endif
