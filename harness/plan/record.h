/* The harness's side of the recorder that methods and cases report to (methods/method.h). */
#ifndef PBD_RECORD_H
#define PBD_RECORD_H

#include "harness/exec/clock.h"
#include "harness/plan/result.h"

/* A recorder writes into `result`, which must outlive it; `stop` is polled for Ctrl-C and may be NULL. While `muted`
 * nothing is kept (warm-ups). */
pbd_recorder *pbd_recorder_create(pbd_result *result, bool (*stop)(void));
void pbd_recorder_destroy(pbd_recorder *recorder); /* NULL-safe */
void pbd_recorder_mute(pbd_recorder *recorder, bool muted);
/* Phases wait for `exec` where they begin and end, so that on a GPU each includes the time of its kernels; launches
 * then no longer overlap with the host's work. NULL, the default: they do not wait. */
void pbd_recorder_wait_at_phases(pbd_recorder *recorder, pbd_exec *exec);
/* Phases of the harness enclose those of the method, which are stored as OUTER/NAME. */
void pbd_recorder_enter(pbd_recorder *recorder, const char *outer);
void pbd_recorder_leave(pbd_recorder *recorder);
/* pbd_count for a cost of the machine: launches, allocations, bytes. */
void pbd_count_cost(pbd_recorder *recorder, const char *name, uint64_t add);
/* A callback that receives the iterates of a step (pbd_iterate) unless the recorder is muted; NULL: none. */
typedef void (*pbd_iterate_look)(const void *context, long iteration, const double *positions, pbd_recorder *recorder);
void pbd_recorder_look(pbd_recorder *recorder, pbd_iterate_look look, const void *context);
/* What was recorded so far. */
const pbd_result *pbd_recorder_result(const pbd_recorder *recorder);
/* Exchanges metrics, series, warnings and phases with those of `other`: what was recorded before a pause. */
void pbd_recorder_exchange(pbd_recorder *recorder, pbd_result *other);
/* True when memory ran out while recording: the run then fails instead of being silently incomplete. */
bool pbd_recorder_failed(const pbd_recorder *recorder);

#endif
