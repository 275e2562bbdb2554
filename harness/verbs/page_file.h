/* Where a page goes. It is written beside its place and moved there when it is whole, so that a reader never sees half
 * of one. What is no plain file (standard output, a device) is written to directly. */
#ifndef PBD_PAGE_FILE_H
#define PBD_PAGE_FILE_H

#include <stdio.h>

#include "harness/exec/arena.h"

typedef struct pbd_page_file {
    FILE *file;
    const char *what;         /* "report": for sentences */
    const char *path, *fresh; /* fresh NULL: no moving */
    pbd_arena memory;
} pbd_page_file;

/* `path` may be - for standard output; NULL: `name` in the folder results, which is made where it is missing. */
pbd_status pbd_page_open(const char *what, const char *path, const char *name, pbd_page_file *out);
/* The sentence of a failure. */
pbd_status pbd_page_cannot(const pbd_page_file *page, const char *why);
/* Moves the page to its place, or removes it after a failure; returns that, or its own. */
pbd_status pbd_page_close(pbd_page_file *page, pbd_status status);

#endif
