/* Whole files in memory: pbd_content of methods/method.h. */
#ifndef PBD_CONTENT_H
#define PBD_CONTENT_H

#include "methods/method.h"

/* Reads the file; *out owns `path`, which is from malloc. Zeroed after an error, which is PBD_BAD_INPUT but for memory.
 */
pbd_status pbd_content_read(char *path, pbd_content *out);
/* The same of a file that another one names: from that one's folder, unless its name begins with '/'. */
pbd_status pbd_content_beside(const char *file, const char *name, pbd_content *out);

#endif
