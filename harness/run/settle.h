/* Stepping a scene until it is at rest (pbd_settle in cases/case.h). */
#ifndef PBD_SETTLE_H
#define PBD_SETTLE_H

#include "harness/catalog/registry.h"

typedef struct pbd_settling {
    const pbd_setup *setup;
    const pbd_method *method;
    void *state;
    double dt; /* s, > 0 */
    pbd_precision precision;
    pbd_status (*observe)(const void *context, long step,
                          double dt); /* before the first step and after each; or NULL */
    const void *context;
} pbd_settling;

/* Steps until the watched particles' mean moves, over settle.window steps, by at most settle.tolerance times its
 * distance from its place at rest; then checks that no element is inverted. Records settle_steps, settle_motion (motion
 * in the last window over that distance) and simulated_time.
 *
 * PBD_NOT_SETTLED after settle.most_steps; PBD_DIVERGED when a position is not finite, or 10^4 times the body's size
 * away; PBD_NO_EQUILIBRIUM when an element is inverted at rest; PBD_INTERRUPTED. */
pbd_status pbd_settle_body(const pbd_settling *body, pbd_recorder *recorder);

#endif
