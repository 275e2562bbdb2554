/* What is drawn of a run: its particles as spheres, or the outside of its elements as triangles, with the fields that
 * they are coloured by. */
#ifndef PBD_VIEW_DRAWN_H
#define PBD_VIEW_DRAWN_H

#include "harness/picture/album.h"
#include "harness/picture/spool.h"
#include "harness/view/pack.h"

enum { DRAWN_MOST_FIELDS = 4 };

/* A field with one range over all states, which holds all but 1 % of the values on either side. */
typedef struct drawn_field {
    pbd_colour colour; /* one with a scale */
    double low, high;
} drawn_field;

typedef struct drawn_run {
    const pbd_scene *scene;
    pbd_spool *spool;
    pbd_album album;        /* the colours' meaning, the camera and where the ground is */
    size_t points, spheres; /* spheres come first */
    uint32_t *particle;     /* points: which particle each is; neighbours are beside each other */
    size_t triangles;
    uint32_t *triangle;  /* triangles x 3, of corners */
    size_t corners;      /* of triangles that share one and at rest turn by less than 40 degrees there */
    uint32_t *corner;    /* corners: the point of each */
    double low[3], size; /* m: the cube that holds the motion, but for a few particles that fly off */
    size_t fields;
    drawn_field field[DRAWN_MOST_FIELDS];
    /* Internal. */
    pbd_arena owned;
    pbd_seen_state state; /* the one that was read last; its arrays are `owned` */
    double *position, *velocity, *gradient, *pressure, *value;
} drawn_run;

/* Reads every state for the box, and some for the ranges. Fields are those of `colour` and, where they can be told,
 * strain, speed and pressure; PBD_NOT_SUPPORTED where the colour cannot. All must outlive it. */
pbd_status pbd_drawn_open(const pbd_scene *scene, const pbd_method *method, pbd_spool *spool, pbd_colour colour,
                          drawn_run *out);
void pbd_drawn_close(drawn_run *drawn); /* safe on a zeroed one */

/* Packs one state; the packer is of `points` and `fields`. */
pbd_status pbd_drawn_pack(drawn_run *drawn, size_t state, pbd_packer *packer);

#endif
