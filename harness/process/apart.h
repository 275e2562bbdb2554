/* Work in a child process, so that a crash in it is a sentence, not the end of the program.
 *
 * The child is forked: it has what the parent has, loaded plug-ins too. OpenMP's threads do not survive a fork, so the
 * parent must have started none: a process that runs methods apart runs none itself on the cpu backend (run_apart.h).
 */
#ifndef PBD_APART_H
#define PBD_APART_H

#include <stdio.h>

#include "methods/method.h"

/* Where the child is, in memory that both see. Written by the child alone. */
typedef struct pbd_place {
    const char *volatile slot; /* "step": a function of a method that runs now, a literal of the program; NULL: none */
    volatile unsigned long calls; /* of that function so far, this one included */
    volatile bool answered;
} pbd_place;

typedef struct pbd_apart {
    int code;         /* exit code of the child, or the signal that ended it, negative */
    bool answered;    /* it came to its end; else *place tells where it was */
    char *answer;     /* what it wrote; NULL unless it answered. Owned: pbd_apart_free */
    const char *slot; /* of its last place */
    unsigned long calls;
} pbd_apart;
void pbd_apart_free(pbd_apart *apart); /* safe on a zeroed one */

/* Where the child's standard output goes: to standard error, since it is a plug-in that prints and standard output is
 * the program's own, or where it was. */
typedef enum pbd_apart_stdout { PBD_STDOUT_TO_STDERR, PBD_STDOUT_KEPT } pbd_apart_stdout;

/* Runs work(context, place, answer) in a child and waits for it. Ctrl-C reaches the child too. An error only when no
 * child could be had; how it ended is in *out. */
typedef void (*pbd_apart_work)(void *context, pbd_place *place, FILE *answer);
pbd_status pbd_apart_run(pbd_apart_work work, void *context, pbd_apart_stdout prints, pbd_apart *out);

/* Of one that did not answer: «mine crashed in step (call 17) with signal 11 (Segmentation fault)», or how it left. */
pbd_status pbd_apart_status(const pbd_apart *apart, const char *who);

#endif
