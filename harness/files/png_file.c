#include "harness/files/png_file.h"

#include <png.h>
#include <stdlib.h>

void pbd_image_free(pbd_image *image) {
    free(image->pixel);
    *image = (pbd_image){0};
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
