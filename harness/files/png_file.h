/* Pictures as PNG files. */
#ifndef PBD_PNG_FILE_H
#define PBD_PNG_FILE_H

#include "methods/method.h"

typedef struct pbd_image {
    int width, height;
    unsigned char *pixel; /* rows from the top, red, green, blue, sRGB */
} pbd_image;

void pbd_image_free(pbd_image *image); /* safe on a zeroed one */

/* Reads 8 bits of red, green and blue, over white where it is transparent. PBD_FAILED says why it cannot. */
pbd_status pbd_png_read(const char *path, pbd_image *out);
pbd_status pbd_png_write(const char *path, const pbd_image *image);

#endif
