/* The output file of a page. It is written beside its destination and renamed when complete, so that a reader never
 * sees a partial page. Anything but a regular file (standard output, a device) is written to directly. */
#ifndef PBD_PAGE_FILE_H
#define PBD_PAGE_FILE_H

#include <stdio.h>

#include "harness/exec/arena.h"

typedef struct pbd_page_file {
    FILE *file;
    const char *what;         /* "report": for error messages */
    const char *path, *fresh; /* fresh: the file to be renamed; NULL: written directly */
    pbd_arena memory;
} pbd_page_file;

/* `path` - is standard output; NULL: `name` in the folder results, which is created if it is missing. */
pbd_status pbd_page_open(const char *what, const char *path, const char *name, pbd_page_file *out);
/* Returns the error that the page cannot be written, and why. */
pbd_status pbd_page_cannot(const pbd_page_file *page, const char *why);
/* Renames the page to its destination, or removes it if `status` is a failure. Returns `status`, or its own failure. */
pbd_status pbd_page_close(pbd_page_file *page, pbd_status status);

#endif
