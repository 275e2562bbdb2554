/* What `reproduce` prints about a figure, as text or as JSON. */
#ifndef PBD_FIGURE_REPORT_H
#define PBD_FIGURE_REPORT_H

#include "harness/figure/claims.h"
#include "harness/figure/figure_draw.h"
#include "harness/figure/figure_plan.h"

typedef struct pbd_report_style {
    bool json, quiet;
    pbd_scale scale;
} pbd_report_style;

/* Everything about one reproduced figure. `trouble` is what went wrong with its data, its picture or a query. */
typedef struct pbd_figure_report {
    const pbd_figure_file *file;
    const pbd_claim_results *claims;
    const pbd_drawing *drawing;
    pbd_status trouble;
    bool accepted_now; /* --accept wrote these verdicts */
} pbd_figure_report;

void pbd_report_figure(const pbd_figure_report *report, const pbd_report_style *style);

/* For --dry-run: the runs that the groups [first, first + groups of the file) would make, with time and memory: seconds
 * from stored runs of the same case and method, else from the file (of quick runs always from the file, of full ones
 * never); NAN and 0 MiB if nothing is known. */
typedef struct pbd_forecast {
    pbd_plan_tally runs;
    double seconds, memory_mib;
    bool measured; /* every part of `seconds` comes from stored runs */
} pbd_forecast;

/* `store` may be NULL: nothing is stored yet. `each`, with one value for each item of the plan, receives the seconds of
 * those that would be made; may be NULL. */
pbd_status pbd_forecast_figure(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group, pbd_scale scale,
                               pbd_store *store, double *each, pbd_forecast *out);
void pbd_report_forecast(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group,
                         const pbd_forecast *forecast, const pbd_report_style *style);

#endif
