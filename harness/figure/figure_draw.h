/* From a figure's tables to its pictures. */
#ifndef PBD_FIGURE_DRAW_H
#define PBD_FIGURE_DRAW_H

#include "harness/exec/arena.h"
#include "harness/figure/figure_file.h"

typedef struct pbd_drawing {
    pbd_arena owned;
    char **plot; /* paths of the pictures that were drawn */
    size_t plots;
    char *warning; /* gnuplot is missing, or something to draw was left out; NULL: none */
    char *output;  /* what gnuplot printed, or NULL */
} pbd_drawing;

/* Writes OUT/ID/NAME.tsv for every query of `data` and draws `plots` into OUT by plots/ID/plot.gp, which finds set:
 * data (the folder OUT/ID), out (OUT), style (plots/style.gp, to be loaded), paper (plots/ID/paper.csv) and quick
 * (pbd_scale_mark, for titles). Without gnuplot the data is still written, and *out has a warning. On
 * PBD_BAD_INPUT *out may hold the output of gnuplot. Free *out in every case. */
pbd_status pbd_figure_draw(const pbd_figure_file *file, pbd_store *store, const char *out_folder, pbd_scale scale,
                           pbd_drawing *out);
void pbd_drawing_free(pbd_drawing *drawing);

/* Whether the pictures and data of a figure in OUT were made from this store; OUT/ID/store.txt names the store. */
bool pbd_drawn_from(const char *out_folder, const char *figure, const pbd_store *store);

/* Makes pbd_drawn_from false until the figure is drawn again. */
void pbd_drawn_forget(const char *out_folder, const char *figure);

/* *out as after pbd_figure_draw, for pictures that another process has drawn. PBD_BAD_INPUT if one is missing. */
pbd_status pbd_figure_drawn(const pbd_figure_file *file, const char *out_folder, pbd_drawing *out);

/* The output folder: DIR, or ROOT/results/plots if it is NULL; its subfolder quick or full at those scales, so that
 * they do not overwrite other pictures. The caller frees it; NULL if memory is out. */
char *pbd_plots_folder(const char *dir, pbd_scale scale);

#endif
