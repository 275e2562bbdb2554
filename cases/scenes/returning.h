/* Whether and when a body returns to its rest shape: the measurement of collapse and recovery. */
#ifndef PBD_RETURNING_H
#define PBD_RETURNING_H

#include "cases/scenes/body.h"

typedef struct returning {
    double crossing;      /* s: the body's longest edge over the speed of sound */
    double first, since;  /* s: when it was first back; since when it has been. Below 0: never, not now */
    double largest_speed; /* m/s */
} returning;

/* Material and extent must be set. */
returning returning_start(const pbd_scene *scene);
/* Series time and rest_shape_error. */
pbd_status returning_observe(returning *r, const pbd_scene *scene, const pbd_method *method, const void *state,
                             double time, pbd_recorder *recorder);
/* rest_shape_error, came_back, first_back, back_since, largest_speed, sound_crossing. */
void returning_record(const returning *r, const pbd_scene *scene, const double *x, pbd_recorder *recorder);

#endif
