/* Bytes as base64 (RFC 4648). */
#ifndef PBD_BASE64_H
#define PBD_BASE64_H

#include <stddef.h>
#include <stdio.h>

/* Errors are those of the stream: ferror. */
void pbd_base64_write(FILE *out, const void *bytes, size_t count);

#endif
