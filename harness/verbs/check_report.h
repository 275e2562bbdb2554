/* What `plugin check` and `engine check` print: a line for each check, or one JSON object. */
#ifndef PBD_CHECK_REPORT_H
#define PBD_CHECK_REPORT_H

#include <jansson.h>

#include "harness/verbs/plugin_check.h"

typedef struct pbd_check_report {
    bool quiet;
    json_t *checks;  /* NULL: prints lines. Owned */
    size_t count[3]; /* by verdict */
} pbd_check_report;

pbd_status pbd_check_report_begin(bool json, bool quiet, const pbd_plugin *plugin, pbd_check_report *out);
void pbd_check_report_take(void *report, const pbd_check *check); /* a pbd_check_observer */
pbd_status pbd_check_report_end(pbd_check_report *report, const pbd_plugin *plugin);
void pbd_check_report_free(pbd_check_report *report); /* safe on a zeroed one */

#endif
