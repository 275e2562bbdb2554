/* Pictures of bodies: shaded triangles and spheres with depth, over a ground that takes their shadow.
 *
 * On the CPU in f32, in passes: raster.h finds what each sample shows, shadow.h what the lamp sees, shade.h the light.
 * Each pixel is the mean of 2 x 2 samples, in small pictures of 3 x 3, taken in linear light. The projection is
 * orthographic, so that lengths can be compared within a picture and between pictures of one camera. A wide lamp stands
 * at the upper left; ambient occlusion darkens corners and gaps. The pixels do not depend on the number of threads. The
 * scale shows a number in [0, 1] by colours from light to dark, so that it reads in grey as well. */
#ifndef PBD_RENDER_H
#define PBD_RENDER_H

#include "harness/files/png_file.h"
#include "harness/picture/render_scene.h"

/* Leaves out triangles and spheres with a coordinate that is not finite. PBD_BAD_INPUT: more bodies or pixels than the
 * limits of render_scene.h. */
pbd_status render_draw(const render_body *body, size_t bodies, const render_camera *camera, int width, int height,
                       pbd_image *out);

#endif
