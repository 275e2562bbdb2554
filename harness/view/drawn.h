/* What is drawn of a run: its particles as spheres, or the outside of its elements as triangles, with the fields that
 * they are coloured by. */
#ifndef PBD_VIEW_DRAWN_H
#define PBD_VIEW_DRAWN_H

#include "harness/picture/album.h"
#include "harness/picture/spool.h"
#include "harness/view/pack.h"

enum { DRAWN_MOST_FIELDS = 3 };

typedef enum drawn_kind { DRAWN_STRAIN, DRAWN_SPEED, DRAWN_PRESSURE } drawn_kind;

/* A field with one range over all states: from 0, or from below where it has negative values. Its ends hold all but 1 %
 * of the values on their side. */
typedef struct drawn_field {
    drawn_kind kind;
    const char *name, *title, *unit;
    double low, high;
} drawn_field;

typedef struct drawn_run {
    const pbd_scene *scene;
    pbd_spool *spool;
    pbd_album album;        /* the colours' meaning, the camera and where the ground is */
    size_t points, spheres; /* spheres come first */
    uint32_t *particle;     /* points: which particle each is; neighbours are beside each other */
    size_t triangles;
    uint32_t *triangle;  /* triangles x 3, of points */
    double low[3], size; /* m: the cube that holds the motion, but for a few particles that fly off */
    size_t fields;
    drawn_field field[DRAWN_MOST_FIELDS];
    /* Internal. */
    pbd_arena owned;
    double *position, *vector, *value; /* particles x 3, x 3, x 1 */
} drawn_run;

/* Reads every state for the box, and some for the ranges. All must outlive it. */
pbd_status pbd_drawn_open(const pbd_scene *scene, const pbd_method *method, pbd_spool *spool, drawn_run *out);
void pbd_drawn_close(drawn_run *drawn); /* safe on a zeroed one */

/* Packs one state; the packer is of `points` and `fields`. */
pbd_status pbd_drawn_pack(drawn_run *drawn, size_t state, pbd_packer *packer);

#endif
