/* Whether and when a body returns to its rest shape: measures collapse and recovery. */
#ifndef PBD_RETURNING_H
#define PBD_RETURNING_H

#include "cases/scenes/body.h"

typedef struct returning {
    double crossing;      /* s: the scene's extent over the speed of sound */
    double first, since;  /* s: the first return; the start of the current stay; < 0: none */
    double largest_speed; /* m/s */
} returning;

/* Material and extent must be set. */
returning returning_start(const pbd_scene *scene);
/* Appends to the series time and rest_shape_error. */
pbd_status returning_observe(returning *r, const pbd_scene *scene, const pbd_method *method, const void *state,
                             double time, pbd_recorder *recorder);
/* Records rest_shape_error, came_back, first_back, back_since (these two over the crossing time), largest_speed,
 * sound_crossing. */
void returning_record(const returning *r, const pbd_scene *scene, const double *x, pbd_recorder *recorder);

#endif
