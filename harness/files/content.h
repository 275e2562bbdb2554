/* Whole files in memory: pbd_content of methods/method.h. */
#ifndef PBD_CONTENT_H
#define PBD_CONTENT_H

#include "methods/method.h"

/* The file in the user's cache that a name cgal:NAME or cgal:NAME.off stands for; NULL for other paths. The caller
 * frees *out. harness/catalog/scans.h downloads the file. */
pbd_status pbd_scan_file(const char *path, char **out);

/* Reads the file; *out takes ownership of `path`, which is from malloc. After an error *out is zeroed; PBD_FAILED: out
 * of memory, else PBD_BAD_INPUT. */
pbd_status pbd_content_read(char *path, pbd_content *out);
/* The same for a file that `file` names, relative to its folder unless the name begins with '/' or cgal:. */
pbd_status pbd_content_beside(const char *file, const char *name, pbd_content *out);

#endif
