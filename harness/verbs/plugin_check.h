/* `plugin check`: the tests of a method that depend on nothing but the contract. Gradients, patch tests and orders of
 * convergence are for its author to test. */
#ifndef PBD_PLUGIN_CHECK_H
#define PBD_PLUGIN_CHECK_H

#include "harness/catalog/plugin.h"

typedef enum pbd_check_verdict { PBD_CHECK_PASS, PBD_CHECK_FAIL, PBD_CHECK_SKIPPED } pbd_check_verdict;

typedef struct pbd_check {
    const char *method, *case_name, *name; /* case_name "": of no case */
    pbd_check_verdict verdict;
    char says[400];                     /* the finding, or why the check failed or was skipped */
    bool numbers;                       /* whether the next three are set, as by the gate */
    double measured, wanted, tolerance; /* tolerance: of measured/wanted - 1 */
} pbd_check;

typedef void (*pbd_check_observer)(void *context, const pbd_check *check);

/* Checks every method of the plug-in on every case that provides what it needs, or on one (`only`; NULL: all). Each
 * check runs in a child process. Sets *failed to the number of failures. Returns an error only when a check could not
 * be made at all. */
pbd_status pbd_check_plugin(const pbd_plugin *plugin, const pbd_case *only, pbd_check_observer observer, void *context,
                            size_t *failed);

#endif
