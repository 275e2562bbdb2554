/* Shades what a raster shows: a wide lamp with its shadow, the sky with ambient occlusion, gloss, the ground;
 * computed in linear light and written as sRGB. */
#ifndef PBD_SHADE_H
#define PBD_SHADE_H

#include "harness/files/png_file.h"
#include "harness/picture/raster.h"

pbd_status shade_picture(const raster *r, const render_camera *camera, pbd_image *out);

#endif
