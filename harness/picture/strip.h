/* Strips of a figure: for each of several runs one row of pictures at given moments, in one view and scale; at one
 * moment all runs in one row. */
#ifndef PBD_STRIP_H
#define PBD_STRIP_H

#include "harness/picture/take.h"

enum { STRIP_MOST_RUNS = 6, STRIP_MOST_MOMENTS = 8 };

typedef struct pbd_strip_plan {
    const char *folder, *name; /* FOLDER/NAME is the picture, a .png */
    const double *moment;      /* moments, s, ascending; those after the end of a run show its end */
    size_t moments;
    pbd_colour colour;
} pbd_strip_plan;

/* What is kept for a strip, but for the file. */
pbd_spool_plan pbd_strip_spooling(const pbd_strip_plan *plan);

/* Draws it from spools that hold a state each. A static solve is shown at its end, once. PBD_NOT_SUPPORTED without
 * gnuplot, and where the colour cannot be told. */
pbd_status pbd_strip_draw(const pbd_strip_plan *plan, const pbd_take_of *run, size_t runs);

#endif
