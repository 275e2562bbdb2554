/* Small copies of pictures, for pages that show many. */
#ifndef PBD_THUMBNAIL_H
#define PBD_THUMBNAIL_H

#include "methods/method.h"

/* Writes the PNG `from`, reduced to `width` pixels by averaging over areas, as the PNG `to`; a narrower one keeps its
 * size. PBD_FAILED says which file and why. */
pbd_status pbd_thumbnail(const char *from, const char *to, int width);

#endif
