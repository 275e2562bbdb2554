#include "harness/files/png_file.h"

#include <png.h>
#include <stdlib.h>

void pbd_image_free(pbd_image *image) {
    free(image->pixel);
    *image = (pbd_image){0};
}

pbd_status pbd_png_read(const char *path, pbd_image *out) {
    static const png_color white = {255, 255, 255};
    png_image png = {.version = PNG_IMAGE_VERSION};
    *out = (pbd_image){0};
    int good = png_image_begin_read_from_file(&png, path);
    png.format = PNG_FORMAT_RGB;
    if (good) {
        *out = (pbd_image){(int)png.width, (int)png.height, malloc(PNG_IMAGE_SIZE(png))};
        good = out->pixel && png_image_finish_read(&png, &white, out->pixel, 0, NULL);
    }
    const pbd_status status =
        good ? pbd_ok() : pbd_error(PBD_FAILED, "cannot read the picture %.250s: %.80s", path, png.message);
    if (!good) pbd_image_free(out);
    png_image_free(&png);
    return status;
}

pbd_status pbd_png_write(const char *path, const pbd_image *image) {
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)image->width,
                     .height = (png_uint_32)image->height,
                     .format = PNG_FORMAT_RGB};
    const int good = png_image_write_to_file(&png, path, 0, image->pixel, 0, NULL);
    const pbd_status status =
        good ? pbd_ok() : pbd_error(PBD_FAILED, "cannot write the picture %.250s: %.80s", path, png.message);
    png_image_free(&png);
    return status;
}
