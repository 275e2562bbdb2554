/* A picture of a scene at its start, without a method. */
#ifndef PBD_START_PICTURE_H
#define PBD_START_PICTURE_H

#include "methods/method.h"

/* Writes it as a PNG, coloured by matter. */
pbd_status pbd_draw_start(const pbd_scene *scene, const char *path);

#endif
