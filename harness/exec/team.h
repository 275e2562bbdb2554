/* Host work on several threads, outside of kernels: filling bodies with particles, for example.
 *
 * The threads are created for one call and joined at its end, so that a process that forks has none left; OpenMP's
 * would stay. */
#ifndef PBD_TEAM_H
#define PBD_TEAM_H

#include <stddef.h>

/* Does items begin to end - 1. Calls run at the same time: each writes to its own items, or atomically. */
typedef void (*pbd_team_work)(void *context, size_t begin, size_t end);

/* Calls `work` for pieces of at most `piece` items, and returns when all are done. The pieces are the same for any
 * number of threads. */
void pbd_team_run(size_t items, size_t piece, pbd_team_work work, void *context);

/* How many threads these calls use at most; 0, as at the start: one for each processor that the process may use. */
void pbd_team_set_threads(int threads);

#endif
