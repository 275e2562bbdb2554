/* Other programs, run without a shell. */
#ifndef PBD_CHILD_H
#define PBD_CHILD_H

#include "methods/method.h"

typedef struct pbd_child {
    int code;        /* exit code, or the signal that ended it, negative */
    char *out, *err; /* what it wrote; a NUL becomes '?'. Owned: pbd_child_free */
} pbd_child;
void pbd_child_free(pbd_child *child); /* safe on a zeroed one */

/* Runs words[0] (looked for in PATH when it has no slash) with nothing on its standard input, and waits. `folder` is
 * where it works, NULL: here. `core`: the one it may run on, -1: any that we may. PBD_INTERRUPTED after Ctrl-C, which
 * is handed on to it; PBD_BAD_INPUT when it cannot be started. How it ended is in *out, not in the status. */
pbd_status pbd_child_run(const char *const *words, const char *folder, int core, pbd_child *out);

/* The last core this process may run on, which is the one least loaded with interrupts on most machines; -1 when
 * that cannot be asked. */
int pbd_last_core(void);

/* The last line of a text that says something, without «pbdbench: » in front: what a program said before it gave up.
 * Cut to `size`. */
void pbd_last_words(const char *text, char *line, size_t size);

#endif
