/* `plugin check`: the part of the ladder (README of tests: what every method climbs) that needs to know nothing of a
 * method but the contract. Gradients, patch tests and orders of convergence are its author's own to test. */
#ifndef PBD_PLUGIN_CHECK_H
#define PBD_PLUGIN_CHECK_H

#include "harness/catalog/plugin.h"

typedef enum pbd_check_verdict { PBD_CHECK_PASS, PBD_CHECK_FAIL, PBD_CHECK_SKIPPED } pbd_check_verdict;

typedef struct pbd_check {
    const char *method, *case_name, *name; /* case_name "": of no case */
    pbd_check_verdict verdict;
    char says[400];                     /* what was found, or why not */
    bool numbers;                       /* of the gate: the next three are set */
    double measured, wanted, tolerance; /* tolerance: of measured/wanted - 1 */
} pbd_check;

typedef void (*pbd_check_observer)(void *context, const pbd_check *check);

/* Climbs with every method of the plug-in on every case that has what it needs, or on one (`only`; NULL: all), each
 * check in a child process. *failed counts. An error only when a check could not be made at all. */
pbd_status pbd_check_plugin(const pbd_plugin *plugin, const pbd_case *only, pbd_check_observer observer, void *context,
                            size_t *failed);

#endif
