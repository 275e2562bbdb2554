/* Whether a method can be right about a scene. */
#ifndef PBD_SCENE_CHECK_H
#define PBD_SCENE_CHECK_H

#include "methods/method.h"

/* PBD_NOT_SUPPORTED, with what it is, when the scene has something that the method does not take (PBD_TAKES_*). */
pbd_status pbd_check_scene(const pbd_scene *scene, const pbd_method *method);

#endif
