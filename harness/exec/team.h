/* Host work on several threads, outside of kernels: filling bodies with particles, for example.
 *
 * The threads are created for one call and joined at its end, so that none exist when the process forks; OpenMP's
 * threads would remain. */
#ifndef PBD_TEAM_H
#define PBD_TEAM_H

#include <stddef.h>

/* Processes items begin to end - 1. Calls run concurrently: each writes to its own items, or atomically. */
typedef void (*pbd_team_work)(void *context, size_t begin, size_t end);

/* Calls `work` for pieces of at most `piece` items, and returns when all are done. The pieces are the same for any
 * number of threads. */
void pbd_team_run(size_t items, size_t piece, pbd_team_work work, void *context);

/* The most threads that these calls use; 0 (the default): one for each processor that the process may use. */
void pbd_team_set_threads(int threads);

#endif
