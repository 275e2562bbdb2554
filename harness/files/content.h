/* Whole files in memory: pbd_content of methods/method.h. */
#ifndef PBD_CONTENT_H
#define PBD_CONTENT_H

#include "methods/method.h"

/* The file in the user's cache that a name cgal:NAME or cgal:NAME.off stands for, which is the caller's; NULL for other
 * paths. harness/catalog/scans.h downloads it. */
pbd_status pbd_scan_file(const char *path, char **out);

/* Reads the file; *out owns `path`, which is from malloc. Zeroed after an error, which is PBD_BAD_INPUT but for memory.
 */
pbd_status pbd_content_read(char *path, pbd_content *out);
/* The same of a file that another one names: from that one's folder, unless its name begins with '/' or cgal:. */
pbd_status pbd_content_beside(const char *file, const char *name, pbd_content *out);

#endif
