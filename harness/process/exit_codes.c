#include "harness/process/exit_codes.h"

#include <stdio.h>

const pbd_exit_meaning pbd_exit_meanings[] = {{PBD_EXIT_OK, "success"},
                                              {PBD_EXIT_REGRESSION, "regression"},
                                              {PBD_EXIT_USAGE, "usage or bad input"},
                                              {PBD_EXIT_VALIDATION, "a validation fails or a verdict changed"},
                                              {PBD_EXIT_INCONCLUSIVE, "inconclusive"},
                                              {PBD_EXIT_RUN_FAILED, "a run failed, diverged or is unphysical"},
                                              {PBD_EXIT_INTERRUPTED, "interrupted"},
                                              {0, NULL}};

int pbd_complain(pbd_status status) {
    fflush(stdout);
    fprintf(stderr, "pbdbench: %s\n", status.text);
    switch (status.code) {
        case PBD_OK:
            return PBD_EXIT_OK;
        case PBD_BAD_INPUT:
        case PBD_NOT_SUPPORTED:
            return PBD_EXIT_USAGE;
        case PBD_INTERRUPTED:
            return PBD_EXIT_INTERRUPTED;
        default:
            return PBD_EXIT_RUN_FAILED;
    }
}
