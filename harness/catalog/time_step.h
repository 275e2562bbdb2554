/* dt=auto: the time step that a method chooses for a scene. */
#ifndef PBD_TIME_STEP_H
#define PBD_TIME_STEP_H

#include "harness/catalog/registry.h"

/* The number that the method chooses (pbd_method.auto_dt), rounded down to two digits, as it would be typed. Builds the
 * case's scene for it, which the run builds again; one that cannot be built is refused by the run, as with any dt. */
pbd_status pbd_auto_dt(const pbd_case *c, const pbd_values *case_values, const pbd_method *method,
                       const pbd_values *method_values, char *text, size_t bytes);

#endif
