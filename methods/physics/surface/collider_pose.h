/* Where a collider is over a stretch of time, in the caller's `real`. Host. */
#ifndef PBD_COLLIDER_POSE_H
#define PBD_COLLIDER_POSE_H

#include "methods/physics/surface/collider_shapes.h"
#include "methods/physics/surface/colliders.h"

/* From `time` to time + dt, s. */
static inline collider_pose collider_pose_over(const pbd_collider *from, double time, double dt) {
    double centre[3], axis[3][3];
    collider_pose out = {.friction = (real)from->friction, .shape = (int)from->shape, .container = from->container};
    for (int d = 0; d < 3; d++) out.half[d] = (real)from->half[d];
    collider_at(from, time, centre, axis);
    for (int d = 0; d < 3; d++) out.centre_before[d] = (real)centre[d];
    for (int k = 0; k < 9; k++) out.axis_before[k] = (real)axis[k / 3][k % 3];
    collider_at(from, time + dt, centre, axis);
    for (int d = 0; d < 3; d++) out.centre[d] = (real)centre[d];
    for (int k = 0; k < 9; k++) out.axis[k] = (real)axis[k / 3][k % 3];
    return out;
}

#endif
