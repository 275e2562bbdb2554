/* Exit codes: a contract with scripts. The gate reads them from its child processes too. */
#ifndef PBD_EXIT_CODES_H
#define PBD_EXIT_CODES_H

#include "methods/method.h"

enum {
    PBD_EXIT_OK = 0,
    PBD_EXIT_REGRESSION = 1,
    PBD_EXIT_USAGE = 2,
    PBD_EXIT_VALIDATION = 3,
    PBD_EXIT_INCONCLUSIVE = 4,
    PBD_EXIT_RUN_FAILED = 5,
    PBD_EXIT_INTERRUPTED = 130
};

typedef struct pbd_exit_meaning {
    int code;
    const char *means; /* NULL ends the table */
} pbd_exit_meaning;
extern const pbd_exit_meaning pbd_exit_meanings[];

/* Prints «pbdbench: SENTENCE» to stderr and returns the exit code that belongs to the status. */
int pbd_complain(pbd_status status);

#endif
