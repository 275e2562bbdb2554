/* The viewer (`view`, `run --view`): stored runs as one HTML file that opens from disk. It holds the states, deflated
 * (pack.h), and a script that draws them by WebGL 2, colours them by fields, cuts them by a plane and sets several runs
 * beside each other in step. */
#ifndef PBD_VIEW_H
#define PBD_VIEW_H

#include <stdio.h>

#include "harness/picture/colours.h"
#include "harness/picture/spool.h"
#include "harness/plan/result.h"

enum { VIEW_MOST_RUNS = 4, VIEW_MOST_FRAMES = 2000 };

typedef struct pbd_view_run {
    const pbd_result *result; /* what is told of the run */
    const char *command;      /* that makes it again */
    const pbd_scene *scene;
    const pbd_method *method;
    pbd_spool *spool; /* made by pbd_view_plan */
} pbd_view_run;

/* What to keep of a run: `frames` states, and a page of at most so many MB; one of several runs, for a page that opens
 * with this colour. `file`: see pbd_spool_file. */
pbd_spool_plan pbd_view_plan(int file, int frames, double most_mb, size_t runs, pbd_colour colour);

/* Writes the page. `colour`: by which field it opens, and that it has beside strain, speed, pressure, matter and body;
 * PBD_NOT_SUPPORTED where a run cannot tell it. Of write errors the stream tells. */
pbd_status pbd_view_write(const pbd_view_run *run, size_t runs, pbd_colour colour, FILE *out);

#endif
