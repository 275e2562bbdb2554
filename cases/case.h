/* The contract between the harness and a case: a standard problem that builds a scene and says what is measured on it.
 *
 * A case is a folder cases/NAME with NAME.c and one line CASE(NAME) in cases.def. NAME.c defines `const pbd_case
 * pbd_case_NAME`. References come from outside the method under test: each case's README or doc says from where.
 */
#ifndef PBD_CASE_H
#define PBD_CASE_H

#include "methods/method.h"

#define PBD_CASE_ABI 6u

typedef struct pbd_case {
    uint32_t abi;
    const char *name, *summary, *source;
    unsigned provides; /* PBD_NEEDS_* that its scenes hold */
    const pbd_param *params;
    const pbd_param *shared; /* rows that follow params: of flow rules (flow_table.h), say. A name that comes a second
                                time is left out. NULL: none */
    const char *presets;     /* the case's own defaults for shared rows: "flow=snow xi=10"; NULL: theirs */
    /* Builds the scene and whatever reference it is judged against (kept in scene->detail). */
    pbd_status (*build)(const pbd_values *, pbd_scene *scene);
    /* Reads the solver's state and records metrics and series against the reference. `method` may lack fields. */
    pbd_status (*measure)(const pbd_scene *, const pbd_method *, const void *state, pbd_recorder *);
    /* Looks at a moving scene at its start and every scene->observe_every seconds, for series over time; may keep what
     * it sees in scene->detail. Its time is not the solver's. NULL: the end alone counts. */
    pbd_status (*observe)(const pbd_scene *, const pbd_method *, const void *state, double time, pbd_recorder *);
    void (*free_scene)(pbd_scene *); /* frees what build made; safe on a zeroed scene */
} pbd_case;

#endif
