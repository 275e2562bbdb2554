/* Progress of a run on standard error: on a terminal a line with steps, remaining time and energy, else one sentence if
 * the run will take long. */
#ifndef PBD_STEP_PROGRESS_H
#define PBD_STEP_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "methods/method.h"

enum { PBD_LONG_RUN = 30, PBD_LARGE_RUN = 2 }; /* s, GB: longer and larger runs are announced */

typedef struct pbd_step_progress {
    bool on, terminal, told;
    double started, shown; /* s, of pbd_wall_seconds */
    double setup;          /* s: before the first step, for the scene and the method's state */
} pbd_step_progress;

/* Projected wall time of all `total` steps, s, if `done` steps took `elapsed`; 0: unknown. */
double pbd_projected_seconds(double elapsed, long done, long total);
/* Whether a run with a limit of `limit` s is to be stopped because it would take far longer. With w its projected time,
 * setup included: w exceeds twice the limit, and max(limit / 20, limit^2 / (2 w)) has passed. setup, elapsed: s, before
 * the first step and since. limit 0: no limit. */
bool pbd_is_too_slow(double limit, double setup, double elapsed, long done, long total);

/* Estimated peak memory of a run, bytes, before its state is allocated; 0: unknown for this method
 * (methods/memory.def). values: of the method; across: pbd_particles_across, for methods that factorise a matrix.
 * The estimate is half to twice the actual peak. */
double pbd_estimated_memory(const char *method, const pbd_values *values, size_t particles, double across);
/* Square root of the number of particles in the narrowest section of their bounding box, if they filled it as a
 * lattice; 0: they lie in a plane. A factor of a matrix has about that many entries per particle, because the
 * separators of nested dissection are such sections (George 1973). */
double pbd_particles_across(const pbd_particles *particles);
/* Before the state is created: prints a sentence if that estimate is above 2 GB. Returns whether it did. */
bool pbd_announce_estimate(double bytes, bool wanted);
/* Before the first step, once everything is allocated: prints a sentence if `bytes`, held so far, is above 2 GB. */
void pbd_announce_memory(double bytes, bool wanted);
/* Peak resident memory of this process so far, bytes. */
double pbd_memory_held(void);

/* Before the scene is built: shows a word on a terminal. Returns pbd_wall_seconds. */
double pbd_setup_begin(bool wanted);
void pbd_setup_end(bool wanted); /* removes the word; may be called twice */

/* setup: s, since pbd_setup_begin; reported beside the time of the steps. */
void pbd_step_progress_begin(pbd_step_progress *progress, bool wanted, double setup);
/* After each step. total 0: the run ends at rest. energy: kinetic, elastic and gravitational, J; NAN: not known. */
void pbd_step_progress_show(pbd_step_progress *progress, long done, long total, double energy);
void pbd_step_progress_end(pbd_step_progress *progress);

#endif
