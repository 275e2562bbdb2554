#include "harness/picture/thumbnail.h"

#include <math.h>

#include "harness/exec/arena.h"
#include "harness/files/png_file.h"

typedef struct area {
    double x0, x1, y0, y1; /* pixels; may end within a pixel */
} area;

/* Mean of a channel over a part of the picture. */
static double mean_over(const pbd_image *image, int channel, area part) {
    double sum = 0, whole = 0;
    for (int y = (int)part.y0; y < image->height && y < part.y1; y++)
        for (int x = (int)part.x0; x < image->width && x < part.x1; x++) {
            const double share = (fmin(x + 1, part.x1) - fmax(x, part.x0)) * (fmin(y + 1, part.y1) - fmax(y, part.y0));
            sum += share * image->pixel[3 * ((size_t)y * (size_t)image->width + (size_t)x) + (size_t)channel];
            whole += share;
        }
    return sum / whole;
}

pbd_status pbd_thumbnail(const char *from, const char *to, int width) {
    pbd_image image PBD_CLEANUP(pbd_image_free) = {0};
    pbd_arena a PBD_ARENA;
    PBD_TRY(pbd_png_read(from, &image));
    const double scale = image.width > width ? (double)image.width / width : 1;
    pbd_image small = {.width = (int)(image.width / scale + 0.5), .height = (int)fmax(1, image.height / scale)};
    small.pixel = pbd_new(&a, unsigned char, 3 * (size_t)small.width * (size_t)small.height);
    PBD_TRY(pbd_arena_check(&a));
    for (int y = 0; y < small.height; y++)
        for (int x = 0; x < small.width; x++) {
            const area part = {x * scale, (x + 1) * scale, y * scale, (y + 1) * scale};
            unsigned char *out = small.pixel + 3 * ((size_t)y * (size_t)small.width + (size_t)x);
            for (int c = 0; c < 3; c++) out[c] = (unsigned char)(mean_over(&image, c, part) + 0.5);
        }
    return pbd_png_write(to, &small);
}
