/* Whether a method can be right about a scene. */
#ifndef PBD_SCENE_CHECK_H
#define PBD_SCENE_CHECK_H

#include "cases/case.h"

/* PBD_NOT_SUPPORTED, with what it is, when the scene has something that the method does not take (PBD_TAKES_*). */
pbd_status pbd_check_scene(const pbd_scene *scene, const pbd_method *method);

/* Warns (`lengths`) of a file whose lengths are probably not in metres, where the case has a `scale` for it. */
void pbd_warn_of_lengths(const pbd_case *c, const pbd_values *values, const pbd_scene *scene, pbd_recorder *recorder);

#endif
