#include "harness/picture/thumbnail.h"

#include <math.h>
#include <png.h>

#include "harness/exec/arena.h"

/* Mean of a channel over the part of the picture from (x0, y0) to (x1, y1), in pixels; ends may cut pixels. */
static double mean_over(const png_byte *pixel, const png_image *image, int channel, double x0, double x1, double y0,
                        double y1) {
    double sum = 0, area = 0;
    for (unsigned y = (unsigned)y0; y < image->height && y < y1; y++)
        for (unsigned x = (unsigned)x0; x < image->width && x < x1; x++) {
            const double part = (fmin(x + 1, x1) - fmax(x, x0)) * (fmin(y + 1, y1) - fmax(y, y0));
            sum += part * pixel[3 * ((size_t)y * image->width + x) + (size_t)channel];
            area += part;
        }
    return sum / area;
}

pbd_status pbd_thumbnail(const char *from, const char *to, unsigned width) {
    png_image image = {.version = PNG_IMAGE_VERSION}, small = {.version = PNG_IMAGE_VERSION};
    pbd_arena a PBD_ARENA;
    if (!png_image_begin_read_from_file(&image, from))
        return pbd_error(PBD_FAILED, "%s: cannot read it: %s", from, image.message);
    image.format = small.format = PNG_FORMAT_RGB;
    png_byte *pixel = pbd_new(&a, png_byte, PNG_IMAGE_SIZE(image));
    if (pbd_arena_check(&a).code != PBD_OK || !png_image_finish_read(&image, NULL, pixel, 0, NULL)) {
        png_image_free(&image);
        return pbd_error(PBD_FAILED, "%s: cannot read it: %s", from, image.message);
    }
    const double scale = image.width > width ? (double)image.width / width : 1;
    small.width = (unsigned)(image.width / scale + 0.5);
    small.height = (unsigned)fmax(1, image.height / scale);
    png_byte *out = pbd_new(&a, png_byte, PNG_IMAGE_SIZE(small));
    PBD_TRY(pbd_arena_check(&a));
    for (unsigned y = 0; y < small.height; y++)
        for (unsigned x = 0; x < small.width; x++)
            for (int c = 0; c < 3; c++)
                out[3 * ((size_t)y * small.width + x) + (size_t)c] =
                    (png_byte)(mean_over(pixel, &image, c, x * scale, (x + 1) * scale, y * scale, (y + 1) * scale) +
                               0.5);
    if (!png_image_write_to_file(&small, to, 0, out, 0, NULL))
        return pbd_error(PBD_FAILED, "%s: cannot write it: %s", to, small.message);
    return pbd_ok();
}
