#include "harness/process/exit_codes.h"

#include <stdio.h>

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
