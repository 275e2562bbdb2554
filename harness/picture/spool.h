/* States of a run, kept in a file while it runs: for films and the viewer, which need all of them before they choose a
 * view and a scale. Fields are rounded to float.
 *
 * The file has no name. The process that made it shares it with the child process that makes the run (run_apart.h). */
#ifndef PBD_SPOOL_H
#define PBD_SPOOL_H

#include "methods/method.h"

/* Which states are kept. With moments, the first at or after each of them; with an interval, the first at or after each
 * multiple of it; else `frames` states, evenly over the duration. If the scene has no duration, between frames / 2 and
 * frames states, evenly over the steps. The state at the end is kept too, unless it is after the last moment. */
typedef struct pbd_spool_plan {
    int file;             /* of pbd_spool_file; 0: nothing is kept */
    const double *moment; /* moments, s, ascending; borrowed */
    size_t moments;
    double interval; /* s; 0: by `frames` */
    int frames;
    unsigned fields; /* bits 1 << pbd_field of what is kept besides positions, if the method has it: velocities,
                        deformation gradients, pressures */
    double bytes_each, most_bytes; /* of a particle in one state of the output, and the limit of the output: a larger
                                      scene is refused; limit 0: none */
} pbd_spool_plan;

/* Opens a file without a name in the folder of `path`, which has room for pictures; /tmp may be in memory. The caller
 * closes it. PBD_FAILED says why it cannot be opened. */
pbd_status pbd_spool_file(const char *path, int *file);

typedef struct pbd_spool pbd_spool;

/* Begins an empty spool. Scene and method must outlive its writing. PBD_BAD_INPUT beyond most_bytes. */
pbd_status pbd_spool_begin(const pbd_spool_plan *plan, const pbd_scene *scene, const pbd_method *method,
                           pbd_spool **out);
/* Records that `step` steps are done, at a time in s; returns whether this state is to be kept. */
bool pbd_spool_wants(pbd_spool *spool, double time, long step);
/* Keeps the state that was recorded last. PBD_FAILED: the disk is full. */
pbd_status pbd_spool_keep(pbd_spool *spool, const void *state);
/* Keeps the state at the end, however the run ended, unless it was kept already or is less than half an interval after
 * the last one kept. */
pbd_status pbd_spool_end(pbd_spool *spool, const void *state);

/* Opens a spool that was written by this process or a child. */
pbd_status pbd_spool_open(int file, pbd_spool **out);
void pbd_spool_close(pbd_spool *spool); /* NULL-safe; the file stays open */

size_t pbd_spool_states(const pbd_spool *spool);
double pbd_spool_time(const pbd_spool *spool, size_t index); /* s */
bool pbd_spool_has(const pbd_spool *spool, pbd_field field);
/* One field of one state, in the scene's order. */
pbd_status pbd_spool_read(pbd_spool *spool, size_t index, pbd_field field, double *out);

#endif
