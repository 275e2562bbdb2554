/* The geometry of a run that is drawn: its particles as spheres, or the outside of its elements as triangles, with the
 * fields by which they are coloured. */
#ifndef PBD_VIEW_DRAWN_H
#define PBD_VIEW_DRAWN_H

#include "harness/picture/album.h"
#include "harness/picture/spool.h"
#include "harness/view/pack.h"

enum { DRAWN_MOST_FIELDS = 4 };

/* A field with one range for all states, which contains all but 1 % of the values at either end. */
typedef struct drawn_field {
    pbd_colour colour; /* one with a scale */
    double low, high;
} drawn_field;

typedef struct drawn_run {
    const pbd_scene *scene;
    pbd_spool *spool;
    pbd_album album;        /* meaning of the colours, camera and ground */
    size_t points, spheres; /* spheres come first */
    uint32_t *particle;     /* by point: its particle; points that are close in space are close in the list */
    size_t triangles;
    uint32_t *triangle;  /* triangles x 3: indices of corners */
    size_t corners;      /* shared by triangles at a point whose normals differ by less than 40 degrees at rest */
    uint32_t *corner;    /* by corner: its point */
    double low[3], size; /* m: the cube that contains the motion, except for a few particles that fly off */
    size_t fields;
    drawn_field field[DRAWN_MOST_FIELDS];
    /* Internal. */
    pbd_arena owned;
    pbd_seen_state state; /* the state that was read last; its arrays are in `owned` */
    double *position, *velocity, *gradient, *pressure, *value;
} drawn_run;

/* Reads every state for the bounding box, and some for the ranges. Fields are that of `colour` and, if they are
 * available, strain, speed and pressure; PBD_NOT_SUPPORTED if `colour` is not. The arguments must outlive *out. */
pbd_status pbd_drawn_open(const pbd_scene *scene, const pbd_method *method, pbd_spool *spool, pbd_colour colour,
                          drawn_run *out);
void pbd_drawn_close(drawn_run *drawn); /* safe on a zeroed one */

/* Packs one state. The packer must be opened with the run's `points` and `fields`. */
pbd_status pbd_drawn_pack(drawn_run *drawn, size_t state, pbd_packer *packer);

#endif
