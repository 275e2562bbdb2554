/* What is shown on a terminal while work goes on. */
#ifndef PBD_PROGRESS_H
#define PBD_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* stdout (or stderr) is a terminal and NO_COLOR is unset. */
bool pbd_is_terminal(FILE *stream);
/* A progress line with ETA on stderr when that is a terminal and `quiet` is false; silent otherwise. */
typedef struct pbd_progress {
    bool on;
    double started;
    size_t fresh; /* runs really made so far: what the ETA rests on */
} pbd_progress;
void pbd_progress_begin(pbd_progress *progress, bool quiet);
void pbd_progress_show(pbd_progress *progress, size_t done, size_t total, bool made, const char *label);
void pbd_progress_end(pbd_progress *progress);

#endif
