/* A person made of capsules, as an obstacle for snow: head, trunk, arms, legs. */
#ifndef PBD_PERSON_H
#define PBD_PERSON_H

#include "cases/scenes/granular.h"

enum { PERSON_PARTS = 13 };

/* The person at time 0: `height` m tall, turned about y by `pitch` degrees (0: upright, looks along -x; 90: lies on
 * the face, the head at -x), with the lowest point of the body at z = foot and its middle above x = at, m. */
typedef struct person_pose {
    double height, pitch, foot, at;
} person_pose;

/* Adds its colliders, which move along z with `velocity` m/s until `end` s (0: they do not move). The scene must have
 * room for PERSON_PARTS of them. */
void person_add(pbd_scene *scene, const person_pose *pose, double velocity, double end, double friction);
/* The colliders from number `first` on are a person. Writes the lowest and highest z (m) at which the vertical line
 * through `at` (x, y) is in one of them at `time` (s). Returns false if the line misses all of them. Each capsule is
 * approximated by 17 spheres, evenly spaced from end to end. */
bool person_over(const pbd_scene *scene, size_t first, double time, const double at[2], double *low, double *high);

#endif
