/* Records the time of a call as a phase of the method:
 *
 *     PBD_TRY(PBD_PHASE(s->recorder, "density", sum_densities(s)));
 *
 * The call must not begin a phase itself. */
#ifndef PBD_PHASE_H
#define PBD_PHASE_H

#include "methods/method.h"

static inline pbd_status pbd_phase_result(pbd_recorder *recorder, pbd_status status) {
    pbd_phase_end(recorder);
    return status;
}
#define PBD_PHASE(RECORDER, NAME, ...) (pbd_phase_begin(RECORDER, NAME), pbd_phase_result(RECORDER, __VA_ARGS__))

#endif
