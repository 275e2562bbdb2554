/* How far a run is, on standard error: a line with steps and the time left on a terminal, else one sentence where a run
 * will take long. */
#ifndef PBD_STEP_PROGRESS_H
#define PBD_STEP_PROGRESS_H

#include <stdbool.h>

enum { PBD_LONG_RUN = 30, PBD_LARGE_RUN = 2 }; /* s, GB: what takes more is announced */

typedef struct pbd_step_progress {
    bool on, terminal, told;
    double started, shown; /* s, of pbd_wall_seconds */
} pbd_step_progress;

/* Wall time of all steps, s, where `done` of `total` took `elapsed`; 0 where it cannot be told. */
double pbd_projected_seconds(double elapsed, long done, long total);

/* Before the first step, once everything is allocated: a sentence where this process has held more than 2 GB; bytes. */
void pbd_announce_memory(double bytes, bool wanted);
/* The most that this process has held so far, bytes. */
double pbd_memory_held(void);

void pbd_step_progress_begin(pbd_step_progress *progress, bool wanted);
/* After each step; total 0: until it is at rest. */
void pbd_step_progress_show(pbd_step_progress *progress, long done, long total);
void pbd_step_progress_end(pbd_step_progress *progress);

#endif
