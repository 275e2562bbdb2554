/* The viewer (`view`, `run --view`): stored runs as one HTML file that opens from disk. It contains the deflated states
 * (pack.h), and a script that draws them with WebGL 2, colours them by fields, cuts them by a plane and shows several
 * runs side by side in step. */
#ifndef PBD_VIEW_H
#define PBD_VIEW_H

#include <stdio.h>

#include "harness/picture/colours.h"
#include "harness/picture/spool.h"
#include "harness/plan/result.h"

enum { VIEW_MOST_RUNS = 4, VIEW_MOST_FRAMES = 2000 };

typedef struct pbd_view_run {
    const pbd_result *result; /* described on the page */
    const char *command;      /* repeats the run */
    const pbd_scene *scene;
    const pbd_method *method;
    pbd_spool *spool; /* made with a plan of pbd_view_plan */
} pbd_view_run;

/* What to keep of a run: `frames` states, for a page with `runs` runs and at most `most_mb` MB that opens with
 * `colour`. `file`: see pbd_spool_file. */
pbd_spool_plan pbd_view_plan(int file, int frames, double most_mb, size_t runs, pbd_colour colour);

/* Writes the page. It has the field of `colour`, with which it opens, beside strain, speed, pressure, matter and body;
 * PBD_NOT_SUPPORTED if a run cannot provide it. The caller checks the stream for write errors. */
pbd_status pbd_view_write(const pbd_view_run *run, size_t runs, pbd_colour colour, FILE *out);

#endif
