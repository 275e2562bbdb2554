/* How far a run is, on standard error: a line with steps, the time left and the energy on a terminal, else one sentence
 * where a run will take long. */
#ifndef PBD_STEP_PROGRESS_H
#define PBD_STEP_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "methods/method.h"

enum { PBD_LONG_RUN = 30, PBD_LARGE_RUN = 2 }; /* s, GB: what takes more is announced */

typedef struct pbd_step_progress {
    bool on, terminal, told;
    double started, shown; /* s, of pbd_wall_seconds */
    double setup;          /* s, before the first step: the scene and the method's state */
} pbd_step_progress;

/* Wall time of all steps, s, where `done` of `total` took `elapsed`; 0 where it cannot be told. */
double pbd_projected_seconds(double elapsed, long done, long total);
/* Whether a run that may take `limit` s is to be stopped because it would take far longer. With w its projected time,
 * setup included: w exceeds twice the limit, and max(limit / 20, limit^2 / (2 w)) has passed. setup, elapsed: s, before
 * the first step and since. limit 0: any time. */
bool pbd_is_too_slow(double limit, double setup, double elapsed, long done, long total);

/* What a run of so many particles will hold at its peak, bytes, before its state is allocated; 0: not known of this
 * method (methods/memory.def). values: of the method; across: pbd_particles_across, for methods that factorise a
 * matrix. Half to twice what it is. */
double pbd_estimated_memory(const char *method, const pbd_values *values, size_t particles, double across);
/* Particles across the narrowest section of the box that holds them, of a lattice of so many in that box: the root of
 * the number in the section; 0: they lie in a plane. A factor holds about as many entries a particle: the separators
 * of nested dissection are such sections (George 1973). */
double pbd_particles_across(const pbd_particles *particles);
/* Before the state is created, by that estimate: a sentence where it is more than 2 GB. Whether it was said. */
bool pbd_announce_estimate(double bytes, bool wanted);
/* Before the first step, once everything is allocated: a sentence where this process has held more than 2 GB; bytes. */
void pbd_announce_memory(double bytes, bool wanted);
/* The most that this process has held so far, bytes. */
double pbd_memory_held(void);

/* Before the scene is built: a word on a terminal. Returns pbd_wall_seconds. */
double pbd_setup_begin(bool wanted);
void pbd_setup_end(bool wanted); /* takes the word away; may be called twice */

/* setup: s, since pbd_setup_begin; told beside the time of the steps. */
void pbd_step_progress_begin(pbd_step_progress *progress, bool wanted, double setup);
/* After each step; total 0: until it is at rest. energy: kinetic, elastic and gravitational, J; NAN: not known. */
void pbd_step_progress_show(pbd_step_progress *progress, long done, long total, double energy);
void pbd_step_progress_end(pbd_step_progress *progress);

#endif
