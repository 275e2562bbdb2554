/* A figure's picture once more as SVG, by the same plot.gp, with the ranges of its axes: for pages that draw it. */
#ifndef PBD_FIGURE_CHART_H
#define PBD_FIGURE_CHART_H

#include "harness/exec/arena.h"
#include "harness/figure/figure_file.h"
#include "harness/files/content.h"

/* One plot of a picture; plots are in the order in which they are drawn. */
typedef struct pbd_chart_panel {
    double pixel[4]; /* left, right, bottom, top: SVG's x, and its height - y; all 0 if the axes are not x and y */
    double range[4]; /* values at these pixels: x left, x right, y bottom, y top */
    bool log[2];     /* of x, of y */
} pbd_chart_panel;

typedef struct pbd_chart {
    pbd_arena owned;
    pbd_content svg; /* as gnuplot wrote it */
    pbd_chart_panel *panel;
    size_t panels;
} pbd_chart;

/* For a figure with one picture that pbd_figure_draw made in OUT. Reads OUT/ID/chart.svg and panels.txt if they are
 * newer than the picture; otherwise draws them if `draw` is set. PBD_NOT_SUPPORTED says why there is no chart: several
 * pictures, no gnuplot, not drawn. Free *out in every case. */
pbd_status pbd_figure_chart(const pbd_figure_file *file, const char *out_folder, bool draw, pbd_chart *out);
void pbd_chart_free(pbd_chart *chart);

/* Turns plot.gp into a script that draws SVG and prints the ranges of each plot on standard error. Writes every line of
 * `in` to `out`, changed where necessary, and some more. Public for its test. */
void pbd_chart_script(FILE *in, FILE *out);
/* Parses the output of such a script into panels; skips all other lines. Public for its test. */
pbd_status pbd_chart_panels(const char *told, pbd_chart *out);

#endif
