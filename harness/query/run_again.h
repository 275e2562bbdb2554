/* A stored run made again with its states kept in a spool, since the store holds none: for films and the viewer. */
#ifndef PBD_RUN_AGAIN_H
#define PBD_RUN_AGAIN_H

#include "harness/plan/plan.h"
#include "harness/store/store.h"

/* What a run left in its spool, and its scene, built once more: that of the run ended with it. */
typedef struct pbd_kept_run {
    pbd_setup setup;
    const pbd_cell *cell; /* the item's */
    pbd_spool *spool;
} pbd_kept_run;

/* Of an item that was run with a spool, which stays open. */
pbd_status pbd_kept_open(const pbd_plan_item *item, pbd_kept_run *out);
void pbd_kept_close(pbd_kept_run *kept); /* safe on a zeroed one */

typedef struct pbd_run_again {
    pbd_result stored, made;
    pbd_plan plan; /* of one item */
    pbd_kept_run kept;
    int file;          /* of its spool; 0: none yet */
    char differs[300]; /* the first result that is not the stored one, as a sentence; "": there is none */
} pbd_run_again;

/* The stored run: *item is the only one of *plan. PBD_BAD_INPUT where there is no such run, where it is not one of a
 * case (a benchmark, a limit, one of another tool), or where this program lacks its method or parameters. */
pbd_status pbd_again_find(pbd_store *store, const char *run, pbd_run_again *out);
/* Makes it, with the spool as planned, but for its file, which is made in the folder of `beside`. Nothing is stored.
 * Standard error says which result is not the stored one and, with `tell`, which run is made and how long its solve
 * took. PBD_INTERRUPTED after Ctrl-C; PBD_FAILED where it leaves no state. */
pbd_status pbd_again_make(pbd_run_again *again, const char *beside, pbd_spool_plan spool, bool tell);
void pbd_again_free(pbd_run_again *again); /* safe on a zeroed one */

#endif
