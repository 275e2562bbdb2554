/* Strips of a figure: for each of several runs one row of pictures at given moments, in one view and scale. With a
 * single moment, all runs are in one row. */
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

/* What is kept for a strip; the caller sets the file. */
pbd_spool_plan pbd_strip_spooling(const pbd_strip_plan *plan);

/* Draws a strip from spools that hold at least one state each. A static solve is shown at its end, once unless another
 * run moves. PBD_NOT_SUPPORTED without gnuplot, and if the colour is not available. */
pbd_status pbd_strip_draw(const pbd_strip_plan *plan, const pbd_take_of *run, size_t runs);

#endif
