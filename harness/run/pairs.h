/* Whether a method can run a case with all parameters at their defaults. */
#ifndef PBD_PAIRS_H
#define PBD_PAIRS_H

#include "harness/run/run.h"

typedef enum pbd_pair_state {
    PBD_PAIR_FITS,
    PBD_PAIR_REFUSED, /* by the checks of a run, with the message of `run` */
    PBD_PAIR_ASKS     /* not yet known: the case has a parameter without a default, such as a file */
} pbd_pair_state;

const char *pbd_pair_state_name(pbd_pair_state state); /* "fits", "refused", "asks" */

/* Does what `run` does before the first step: all parameters at their defaults, on cpu in f64, or in f32 if the
 * method has no f64. *reason is PBD_OK if they fit. Returns an error only when the check itself failed. *built keeps
 * the scene for the next method of the case. */
pbd_status pbd_check_pair(const pbd_case *c, const pbd_method_entry *method, pbd_built_scene *built,
                          pbd_pair_state *state, pbd_status *reason);

/* How a pair that fits ends with its defaults: cases/ends.def. */
typedef struct pbd_pair_end {
    const char *state; /* of the run: "ok" if the pair is not listed */
    const char *why;   /* "" for ok */
} pbd_pair_end;
pbd_pair_end pbd_end_of_pair(const pbd_case *c, const pbd_method_entry *method);

#endif
