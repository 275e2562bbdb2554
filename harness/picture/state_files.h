/* Which files of states a run writes, and all states as one NumPy archive. */
#ifndef PBD_STATE_FILES_H
#define PBD_STATE_FILES_H

#include "harness/picture/deformation.h"

enum { PBD_STATES_VTU = 1, PBD_STATES_PLY = 2, PBD_STATES_NPZ = 4 };

/* "vtu,npz" as bits. PBD_BAD_INPUT names the unknown word. */
pbd_status pbd_state_formats(const char *list, unsigned *out);

/* States of one run. */
typedef struct pbd_state_table {
    size_t states;
    const double *time;            /* states, s */
    const double *const *position; /* states: particles x 3, m */
    const double *const *velocity; /* likewise, m/s; NULL: unknown */
    const float *strain;           /* states x elements */
    const double *rest;            /* particles x 3, m */
    const uint32_t *number;        /* particles: which body */
    const pbd_body *body;
} pbd_state_table;

/* Arrays time (states), position and velocity (states x particles x 3), strain (states x elements), rest (particles x
 * 3), body (particles), and, where there are elements, cell (elements x corners). */
pbd_status pbd_states_npz(const char *path, const pbd_state_table *table);

#endif
