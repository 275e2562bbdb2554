/* `list runs`: the newest stored runs, one line each. */
#ifndef PBD_LIST_RUNS_H
#define PBD_LIST_RUNS_H

#include <stdio.h>

#include "harness/query/run_query.h"

/* Writes the runs that the query selects. `json`: one array of {run_id, kind, started_at, state, says, case, method,
 * params (those that differ), errors, time_s}; time_s: s of one solve. */
pbd_status pbd_list_runs(pbd_store *store, const pbd_run_query *query, bool json, FILE *out);

#endif
