/* States of a run, kept in a file while it runs: for films and the viewer, which need all of them before they choose a
 * view and a scale. Fields are rounded to float.
 *
 * The file has no name, and the process that made it shares it with a child in which the run is made (run_apart.h). */
#ifndef PBD_SPOOL_H
#define PBD_SPOOL_H

#include "methods/method.h"

/* Which states are kept. With moments the first at or after each of them; with an interval the first at or after each
 * multiple of it; else `frames` of them, evenly over the duration. Of a scene without a duration at least half as many
 * and at most as many, evenly over the steps. The state at the end is kept too, unless it is after the last moment. */
typedef struct pbd_spool_plan {
    int file;             /* of pbd_spool_file; 0: nothing is kept */
    const double *moment; /* moments, s, ascending; borrowed */
    size_t moments;
    double interval; /* s; 0: by `frames` */
    int frames;
    unsigned fields; /* bits 1 << pbd_field of what is kept beside positions, if the method has it: velocities,
                        deformation gradients, pressures */
    double bytes_each, most_bytes; /* of a particle in one state, in what is made of them, and its limit: a larger scene
                                      is refused; 0: there is none */
} pbd_spool_plan;

/* A file without a name in the folder of `path`, where there is room for pictures; /tmp may be memory. The caller
 * closes it. PBD_FAILED says why there is none. */
pbd_status pbd_spool_file(const char *path, int *file);

typedef struct pbd_spool pbd_spool;

/* Begins an empty one. Scene and method must outlive its writing. PBD_BAD_INPUT beyond most_bytes. */
pbd_status pbd_spool_begin(const pbd_spool_plan *plan, const pbd_scene *scene, const pbd_method *method,
                           pbd_spool **out);
/* Notes that `step` steps are done, at a time in s, and tells whether this state is to be kept. */
bool pbd_spool_wants(pbd_spool *spool, double time, long step);
/* Keeps the state that was noted last. PBD_FAILED: the disk is full. */
pbd_status pbd_spool_keep(pbd_spool *spool, const void *state);
/* The state at the end, however the run ended: kept unless it is the last that was, or less than half an interval
 * later. */
pbd_status pbd_spool_end(pbd_spool *spool, const void *state);

/* Opens one that was written, in this process or a child. */
pbd_status pbd_spool_open(int file, pbd_spool **out);
void pbd_spool_close(pbd_spool *spool); /* NULL-safe; the file stays open */

size_t pbd_spool_states(const pbd_spool *spool);
double pbd_spool_time(const pbd_spool *spool, size_t index); /* s */
bool pbd_spool_has(const pbd_spool *spool, pbd_field field);
/* One field of one state, in the scene's order. */
pbd_status pbd_spool_read(pbd_spool *spool, size_t index, pbd_field field, double *out);

#endif
