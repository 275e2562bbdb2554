/* What the program is linked with, and what it runs: versions and licences. */
#ifndef PBD_LIBRARIES_H
#define PBD_LIBRARIES_H

#include <stddef.h>

enum { PBD_LIBRARIES = 16, PBD_VERSION_SIZE = 256 };

typedef struct pbd_library {
    const char *name, *licence, *use;
    void (*version)(char *out, size_t size); /* PBD_VERSION_SIZE is enough; never fails */
} pbd_library;

extern const pbd_library pbd_libraries[PBD_LIBRARIES];

#endif
