/* A run to be drawn, for films and strips: the states in its spool, and the album of their pictures. */
#ifndef PBD_TAKE_H
#define PBD_TAKE_H

#include "harness/picture/album.h"
#include "harness/picture/spool.h"

/* What is drawn. All are borrowed, and must outlive the take. */
typedef struct pbd_take_of {
    const pbd_scene *scene;
    const pbd_method *method;
    pbd_spool *spool;    /* of at least one state */
    const char *caption; /* written below; NULL: none */
} pbd_take_of;

typedef struct pbd_take {
    pbd_take_of of;
    pbd_album album;
    pbd_image image; /* after pbd_take_draw */
    /* Internal. */
    double *field[4]; /* position, velocity, gradient, pressure; NULL: not kept */
    size_t drawn;     /* state of `image`; SIZE_MAX: none */
} pbd_take;

/* Fields besides positions that a spool keeps for pictures in a colour: bits 1 << pbd_field. */
unsigned pbd_take_fields(pbd_colour colour);

/* PBD_NOT_SUPPORTED if the colour is not available. Close it also after an error. */
pbd_status pbd_take_open(const pbd_take_of *of, const pbd_album_plan *plan, pbd_take *out);
/* Passes every state to pbd_album_see, or only some if the colour has a scale. Call pbd_album_share next. */
pbd_status pbd_take_see(pbd_take *take);
/* Draws the last state at or before a time (s), unless it is drawn already; times must ascend. */
pbd_status pbd_take_draw(pbd_take *take, double time);
/* The time of the state that is drawn, s. */
double pbd_take_time(const pbd_take *take);
void pbd_take_close(pbd_take *take); /* safe on a zeroed one */

#endif
