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

/* Where and how a child runs. Zeroed but for `core`: here, with our environment. */
typedef struct pbd_child_place {
    const char *folder;       /* where it works; NULL: here */
    int core;                 /* -1: any that we may run on */
    bool talk;                /* its standard input is one end of a socket, and pbd_child_process.talk the other */
    const char *program;      /* the file that is run in place of words[0], its name by then; NULL: words[0] */
    char *const *environment; /* NULL: ours */
} pbd_child_place;

/* The same in two parts, for children that are to live at one time. Every start is followed by one finish, which waits
 * for the end and closes everything. */
typedef struct pbd_child_process {
    int pid, out, err, talk; /* talk: -1 without */
} pbd_child_process;
pbd_status pbd_child_start(const char *const *words, const pbd_child_place *place, pbd_child_process *out);
pbd_status pbd_child_finish(pbd_child_process *process, pbd_child *child);

/* Waits for the end of a child and returns its exit code, or the signal that ended it, negative. Ctrl-C in a terminal
 * reaches the child too, `kill` does not, so it is handed on; as SIGTERM, since a second SIGINT would end a pbdbench
 * before it has stored its runs. */
int pbd_child_wait(int child);
/* The content of a file in memory as a new string, a NUL as '?'; NULL without memory. */
char *pbd_read_memory_file(int file);

/* One line from a talking child, without its end; false when it has no more to say, or after Ctrl-C. */
bool pbd_child_hear(const pbd_child_process *process, char *line, size_t size);
bool pbd_child_tell(const pbd_child_process *process, char byte);

/* The last core this process may run on, which is the one least loaded with interrupts on most machines; -1 when
 * that cannot be asked. */
int pbd_last_core(void);

/* The last line of a text that says something, without «pbdbench: » in front: what a program said before it gave up.
 * Cut to `size`. */
void pbd_last_words(const char *text, char *line, size_t size);

#endif
