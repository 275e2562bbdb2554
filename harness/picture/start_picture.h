/* A picture of a scene at its start, before any method has it. */
#ifndef PBD_START_PICTURE_H
#define PBD_START_PICTURE_H

#include "methods/method.h"

/* As a PNG, coloured by matter. */
pbd_status pbd_draw_start(const pbd_scene *scene, const char *path);

#endif
