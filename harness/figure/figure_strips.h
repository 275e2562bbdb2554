/* The strips of a figure: rendered states of its runs, which are repeated for that, since the store holds no states. */
#ifndef PBD_FIGURE_STRIPS_H
#define PBD_FIGURE_STRIPS_H

#include "harness/figure/figure_draw.h"

/* Draws each strip as OUT/ID-NAME.png, unless that is there and shows the same runs (OUT/ID/NAME.strip says which), and
 * adds it to the drawing. A strip whose query has no rows is left out, with a warning, as is one that cannot be drawn
 * on this machine. The figure's tables must be there. tell: reports on standard error what is made. PBD_BAD_INPUT for
 * a query or colour that is wrong. */
pbd_status pbd_figure_strips(const pbd_figure_file *file, pbd_store *store, const char *out_folder, bool tell,
                             pbd_drawing *drawing);

/* Whether the store has all runs that a drawn strip shows. */
bool pbd_figure_strip_is_of(const pbd_figure_file *file, const pbd_strip *strip, const char *out_folder,
                            pbd_store *store);

/* OUT/ID-NAME.png; NULL without memory. */
char *pbd_figure_strip_path(const pbd_figure_file *file, const pbd_strip *strip, const char *out_folder,
                            pbd_arena *owner);

#endif
