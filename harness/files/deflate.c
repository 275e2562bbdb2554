#include "harness/files/deflate.h"

#include <zlib.h>

#include "harness/exec/arena.h"

enum { LEVEL = 6 };

pbd_status pbd_deflate(const void *bytes, size_t count, unsigned char **packed, size_t *packed_count) {
    uLongf room = compressBound(count);
    PBD_TRY_NEW(*packed, room);
    if (compress2(*packed, &room, bytes, count, LEVEL) != Z_OK)
        return pbd_error(PBD_FAILED, "zlib does not compress %zu bytes", count);
    *packed_count = room;
    return pbd_ok();
}
