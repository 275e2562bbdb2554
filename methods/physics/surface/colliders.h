/* Rigid things that move as they are told: where they are at a time, and whether a scene's make sense. Host, double.
 * collider_shapes.h has their distances. */
#ifndef PBD_COLLIDERS_H
#define PBD_COLLIDERS_H

#include "methods/method.h"

/* Its centre and frame (rows: unit vectors x, y, z) at `time`. */
void collider_at(const pbd_collider *collider, double time, double centre[3], double axis[3][3]);
/* PBD_BAD_INPUT, with a sentence, for one of no size, one whose frame is none, or numbers that are not finite. */
pbd_status colliders_check(const pbd_scene *scene);

#endif
