/* A film of a run (`run --film`). Positions are kept in a spool while it runs; frames are drawn when it has ended, in
 * one view that holds the whole motion, and handed to the program ffmpeg. */
#ifndef PBD_FILM_H
#define PBD_FILM_H

#include "harness/picture/album.h"
#include "harness/picture/spool.h"

typedef struct pbd_film_plan {
    const char *path; /* .mp4, .webm or .gif; NULL: no film */
    double slow;      /* seconds of film for one second of the run; 0: 1 */
    pbd_colour colour;
    double strain_scale; /* see pbd_album_open */
    bool quiet;          /* no progress on a terminal */
} pbd_film_plan;

/* PBD_BAD_INPUT for another ending or a folder that cannot be written to, PBD_NOT_SUPPORTED without ffmpeg. */
pbd_status pbd_film_check(const char *path);

typedef struct pbd_film pbd_film;

/* Scene and method must outlive it. PBD_BAD_INPUT for a scene that does not move. */
pbd_status pbd_film_open(const pbd_film_plan *plan, const pbd_scene *scene, const pbd_method *method, pbd_film **out);
/* The states it is drawn from: the first at or after each frame's time. */
pbd_spool *pbd_film_spool(pbd_film *film);
/* PBD_FAILED with what ffmpeg said. */
pbd_status pbd_film_write(pbd_film *film);
void pbd_film_close(pbd_film *film); /* NULL-safe */

#endif
