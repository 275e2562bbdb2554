#include "harness/picture/render.h"

#include "harness/picture/shade.h"

pbd_status render_draw(const render_body *body, size_t bodies, const render_camera *camera, int width, int height,
                       pbd_image *out) {
    *out = (pbd_image){.width = width, .height = height};
    if (width < 1 || height < 1 || width > RENDER_LARGEST || height > RENDER_LARGEST)
        return pbd_error(PBD_BAD_INPUT, "a picture of %d x %d: each must lie in [1, %d]", width, height,
                         RENDER_LARGEST);
    if (bodies > RENDER_MOST_BODIES)
        return pbd_error(PBD_BAD_INPUT, "a picture of %zu bodies: %d at most", bodies, RENDER_MOST_BODIES);
    raster r PBD_CLEANUP(raster_free) = {0};
    PBD_TRY(raster_make(body, bodies, camera, width, height, &r));
    const pbd_status status = shade_picture(&r, camera, out);
    if (status.code != PBD_OK) pbd_image_free(out);
    return status;
}
