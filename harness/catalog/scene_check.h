/* Checks of a scene before a method gets it. */
#ifndef PBD_SCENE_CHECK_H
#define PBD_SCENE_CHECK_H

#include "cases/case.h"

/* PBD_NOT_SUPPORTED, naming it, if the scene lacks what the method needs or has what it does not take (PBD_TAKES_*).
 * PBD_BAD_INPUT: invalid indices or names, or particles that overlap colliders or other bodies at the start. */
pbd_status pbd_check_scene(const pbd_scene *scene, const pbd_method *method);

/* Warns (`lengths`) of a file whose lengths are probably not in metres, if the case has a `scale` for them. */
void pbd_warn_of_lengths(const pbd_case *c, const pbd_values *values, const pbd_scene *scene, pbd_recorder *recorder);

#endif
