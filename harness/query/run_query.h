/* Which stored runs: by kind, case, method, state and parameters. For `list runs` and `db export`. */
#ifndef PBD_RUN_QUERY_H
#define PBD_RUN_QUERY_H

#include "harness/catalog/values.h"
#include "harness/store/store.h"

typedef struct pbd_run_query {
    const char *kind; /* run, bench, limit or external; NULL: any. Likewise below */
    const char *case_name, *method, *state;
    const pbd_setting *setting; /* only runs with these values; several narrow further */
    size_t settings;
    size_t last; /* only so many, the newest first; 0: all, the oldest first */
} pbd_run_query;

typedef struct pbd_run_ids {
    const char **id; /* owned: pbd_run_ids_free */
    size_t count;
} pbd_run_ids;

/* PBD_BAD_INPUT for a state that there is not, and for a case, method or parameter that neither the store nor this
 * program knows: with the nearest one. */
pbd_status pbd_run_ids_select(pbd_store *store, const pbd_run_query *query, pbd_run_ids *out);
void pbd_run_ids_free(pbd_run_ids *ids); /* safe on a zeroed one */

#endif
