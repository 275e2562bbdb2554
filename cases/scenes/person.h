/* A person of capsules, for snow to meet: head, trunk, arms, legs. */
#ifndef PBD_PERSON_H
#define PBD_PERSON_H

#include "cases/scenes/granular.h"

enum { PERSON_PARTS = 13 };

/* Where the person is at time 0: `height` m tall, turned about y by `pitch` degrees (0: upright, looks along -x; 90:
 * lies on the face, the head at -x), with the lowest point of the body at z = foot and its middle over x = at. */
typedef struct person_pose {
    double height, pitch, foot, at;
} person_pose;

/* Adds its colliders, which move by `velocity` m/s along z until `end` s (0: stand). There is room for PERSON_PARTS. */
void person_add(pbd_scene *scene, const person_pose *pose, double velocity, double end, double friction);
/* Of colliders from number `first` on that are a person: the lowest and highest z over the point (x, y) that is in one
 * of them, at `time`; false where none is over or under it. Capsules are looked at as their ends and 16 spheres
 * between. */
bool person_over(const pbd_scene *scene, size_t first, double time, const double at[2], double *low, double *high);

#endif
