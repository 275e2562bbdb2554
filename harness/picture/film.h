/* Films (`run --film`, `film`). States are kept in a spool while a run is made; frames are drawn when it has ended, in
 * one view that holds the whole motion, and handed to the program ffmpeg. Several runs stand side by side, in one view,
 * one scale and in step. */
#ifndef PBD_FILM_H
#define PBD_FILM_H

#include "harness/picture/take.h"

typedef struct pbd_film_plan {
    const char *path;     /* .mp4, .webm or .gif; NULL: no film */
    double slow;          /* seconds of film for one second of the run; 0: 1 */
    pbd_album_plan album; /* its width is the film's own */
    bool quiet;           /* no progress on a terminal */
} pbd_film_plan;

/* PBD_BAD_INPUT for another ending or a folder that cannot be written to, PBD_NOT_SUPPORTED without ffmpeg. */
pbd_status pbd_film_check(const char *path);
/* What is kept for a film: the first state at or after each frame's time. `file`: see pbd_spool_plan. */
pbd_spool_plan pbd_film_spooling(const pbd_film_plan *plan, int file);

enum { FILM_MOST_SIDES = 4 };

/* PBD_BAD_INPUT for a scene that does not move. */
pbd_status pbd_film_can_move(const pbd_scene *scene);
/* Draws it from spools that hold a state each. PBD_FAILED with what ffmpeg said. */
pbd_status pbd_film_draw(const pbd_film_plan *plan, const pbd_take_of *side, size_t sides);

/* ---- Of a run that is made now ----------------------------------------------------------------------------------- */

typedef struct pbd_film pbd_film;

/* Scene and method must outlive it. PBD_BAD_INPUT for a scene that does not move. */
pbd_status pbd_film_open(const pbd_film_plan *plan, const pbd_scene *scene, const pbd_method *method, pbd_film **out);
/* Notes that `step` steps are done, at a time in s, and tells whether this state is to be kept. */
bool pbd_film_wants(pbd_film *film, double time, long step);
/* Keeps it. PBD_NOT_SUPPORTED, at the first, where the colour cannot be told. */
pbd_status pbd_film_keep(pbd_film *film, const void *state);
pbd_status pbd_film_write(pbd_film *film);
void pbd_film_close(pbd_film *film); /* NULL-safe */

#endif
