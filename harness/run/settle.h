/* Moving a scene until it rests (pbd_settle in cases/case.h). */
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

/* Steps until the mean of the watched particles keeps within settle.tolerance of its distance from its place at rest
 * over settle.window steps, and no element is inverted. Records settle_steps, settle_motion (what it still moved by in
 * the last window, over that distance) and simulated_time.
 *
 * PBD_NOT_SETTLED after settle.most_steps; PBD_DIVERGED when a position is not finite, or 10^4 times the body's size
 * away; PBD_NO_EQUILIBRIUM when what has come to rest is turned inside out; PBD_INTERRUPTED. */
pbd_status pbd_settle_body(const pbd_settling *body, pbd_recorder *recorder);

#endif
