/* Figures: folders plots/ID with figure.yaml, plot.gp, paper.csv and verdicts.csv; and the papers' inventory. */
#ifndef PBD_FIGURES_H
#define PBD_FIGURES_H

#include "harness/exec/arena.h"
#include "harness/run/run.h"

/* A figure or table of a paper as listed in plots/papers.yaml, or a figure of our own (a folder only). */
typedef struct pbd_figure_entry {
    char *id, *paper, *shows;
    bool available;     /* there is a folder plots/ID */
    const char *reason; /* why there is none: "not yet"; else "" */
} pbd_figure_entry;

typedef struct pbd_figure_list {
    pbd_arena owned; /* all that pointers below point to */
    pbd_figure_entry *item;
    size_t count;
} pbd_figure_list;

/* All figures: the inventory's, in its order, then folders that the inventory does not name. */
pbd_status pbd_list_figures(pbd_figure_list *out);
void pbd_figure_list_free(pbd_figure_list *list);

#endif
