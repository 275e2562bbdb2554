/* Labels for stored cells from the parameters in which they differ, for lists and charts. */
#ifndef PBD_CELL_LABELS_H
#define PBD_CELL_LABELS_H

#include <jansson.h>

#include "harness/catalog/values.h"

/* A stored cell. Owned: pbd_stored_cell_free. */
typedef struct pbd_stored_cell {
    char cell_id[33];
    char *case_name, *method, *params, *backend, *precision; /* params: JSON object */
    int threads;
} pbd_stored_cell;
void pbd_stored_cell_free(pbd_stored_cell *cell); /* safe on a zeroed one */

/* label[i], freed by the caller: the parameters of cell i, «iterations=4 nu=0.3», without those that all cells of its
 * case and method have in common; "" if none is left. PBD_BAD_INPUT if parameters are not JSON. */
pbd_status pbd_cell_labels(const pbd_stored_cell *cell, size_t count, char **label);

/* Whether parameters, a JSON object, have this value: the same text, or the same number in any notation. */
bool pbd_has_setting(const json_t *params, const pbd_setting *setting);

#endif
