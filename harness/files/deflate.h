/* Bytes compressed by zlib (RFC 1950). */
#ifndef PBD_DEFLATE_H
#define PBD_DEFLATE_H

#include "methods/method.h"

/* The caller frees *packed. */
pbd_status pbd_deflate(const void *bytes, size_t count, unsigned char **packed, size_t *packed_count);

#endif
