/* Selects stored runs by kind, case, method, state and parameters, for `list runs` and `db export`. */
#ifndef PBD_RUN_QUERY_H
#define PBD_RUN_QUERY_H

#include "harness/catalog/values.h"
#include "harness/store/store.h"

typedef struct pbd_run_query {
    const char *kind; /* run, bench, limit or external; NULL: any. Likewise below */
    const char *case_name, *method, *state;
    const pbd_setting *setting; /* only runs with all of these values */
    size_t settings;
    size_t last; /* at most this many, the newest first; 0: all, the oldest first */
} pbd_run_query;

typedef struct pbd_run_ids {
    const char **id; /* owned: pbd_run_ids_free */
    size_t count;
} pbd_run_ids;

/* PBD_BAD_INPUT, with the nearest known name, for an unknown state; and if no run is found, for a case or method that
 * neither the store nor this program knows, or a parameter that no stored run has. */
pbd_status pbd_run_ids_select(pbd_store *store, const pbd_run_query *query, pbd_run_ids *out);
void pbd_run_ids_free(pbd_run_ids *ids); /* safe on a zeroed one */

#endif
