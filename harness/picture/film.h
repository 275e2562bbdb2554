/* Films (`run --film`, `film`). States are kept in a spool during a run. When it has ended, frames are drawn in one
 * view that holds the whole motion, and sent to the program ffmpeg. Several runs are shown side by side, in step and
 * with one view and one scale. */
#ifndef PBD_FILM_H
#define PBD_FILM_H

#include "harness/picture/take.h"

typedef struct pbd_film_plan {
    const char *path;     /* .mp4, .webm or .gif; NULL: no film */
    double slow;          /* seconds of film for one second of the run; 0: 1 */
    pbd_album_plan album; /* its width is the film's own */
    bool quiet;           /* no progress on a terminal */
} pbd_film_plan;

/* PBD_BAD_INPUT for another file extension or a file that cannot be written, PBD_NOT_SUPPORTED without ffmpeg. */
pbd_status pbd_film_check(const char *path);
/* What is kept for a film: the first state at or after each frame's time. `file`: see pbd_spool_plan. */
pbd_spool_plan pbd_film_spooling(const pbd_film_plan *plan, int file);

enum { FILM_MOST_SIDES = 4 };

/* PBD_BAD_INPUT for a scene that does not move. */
pbd_status pbd_film_can_move(const pbd_scene *scene);
/* Draws a film from spools that hold at least one state each. PBD_FAILED with ffmpeg's message. */
pbd_status pbd_film_draw(const pbd_film_plan *plan, const pbd_take_of *side, size_t sides);

/* ---- Film of a run in progress ----------------------------------------------------------------------------------- */

typedef struct pbd_film pbd_film;

/* Scene and method must outlive it. PBD_BAD_INPUT for a scene that does not move. */
pbd_status pbd_film_open(const pbd_film_plan *plan, const pbd_scene *scene, const pbd_method *method, pbd_film **out);
/* Records that `step` steps are done, at a time in s; returns whether this state is to be kept. */
bool pbd_film_wants(pbd_film *film, double time, long step);
/* Keeps the state. PBD_NOT_SUPPORTED at the first one if the colour is not available. */
pbd_status pbd_film_keep(pbd_film *film, const void *state);
pbd_status pbd_film_write(pbd_film *film);
void pbd_film_close(pbd_film *film); /* NULL-safe */

#endif
