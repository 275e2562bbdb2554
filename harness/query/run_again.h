/* Makes a stored run again and keeps its states in a spool, since the store holds none: for films and the viewer. */
#ifndef PBD_RUN_AGAIN_H
#define PBD_RUN_AGAIN_H

#include "harness/plan/plan.h"
#include "harness/store/store.h"

/* The states that a run left in its spool, and its scene, which is built again: the run's own was freed with it. */
typedef struct pbd_kept_run {
    pbd_setup setup;
    const pbd_cell *cell; /* of the item */
    pbd_spool *spool;
} pbd_kept_run;

/* Opens the result of an item that was run with a spool, which stays open. */
pbd_status pbd_kept_open(const pbd_plan_item *item, pbd_kept_run *out);
void pbd_kept_close(pbd_kept_run *kept); /* safe on a zeroed one */

typedef struct pbd_run_again {
    pbd_result stored, made;
    pbd_plan plan; /* of one item */
    pbd_kept_run kept;
    int file;          /* descriptor of its spool; 0: none yet */
    char differs[300]; /* the first result that differs from the stored one, as a sentence; "": none */
} pbd_run_again;

/* Reads a stored run and plans it again. PBD_BAD_INPUT if there is no such run, if it is not one of a case (a
 * benchmark, a limit, one of another tool), or if this program lacks its method or parameters. */
pbd_status pbd_again_find(pbd_store *store, const char *run, pbd_run_again *out);
/* Makes the run, with the planned spool, whose file is created in the folder of `beside`. Nothing is stored. Standard
 * error says which result differs from the stored one and, with `tell`, which run is made and how long its solve took.
 * PBD_INTERRUPTED after Ctrl-C; PBD_FAILED if the run leaves no state. */
pbd_status pbd_again_make(pbd_run_again *again, const char *beside, pbd_spool_plan spool, bool tell);
void pbd_again_free(pbd_run_again *again); /* safe on a zeroed one */

#endif
