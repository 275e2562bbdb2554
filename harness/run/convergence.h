/* Convergence of a run's iterations, by the norm of its method (pbd_method.residual).
 *
 * `residual_left` is that norm after the last iteration over that before the first, in the last step;
 * `worst_residual_left` the largest of steps 1, 2, 4, ... 64, of every 64th (of long runs: of 256 steps) and of the
 * last.
 *
 * Absent for explicit and direct methods, and for runs that end before they are sampled. Timed solves are not sampled.
 * Where a run ends by itself at rest, the last step is the last that was sampled. */
#ifndef PBD_CONVERGENCE_H
#define PBD_CONVERGENCE_H

#include "harness/catalog/registry.h"

#define PBD_NOT_CONVERGED 0.1 /* of residual_left: above it the run carries the warning below */
#define PBD_UNCONVERGED "not_converged"

typedef struct pbd_convergence {
    const pbd_method *method;
    const pbd_values *values;
    long steps; /* of the run; 0: unknown */
    bool asked; /* the running step or solve is sampled */
    pbd_residual now, last, worst;
} pbd_convergence;

/* steps: of the run, 0: unknown. */
pbd_convergence pbd_convergence_of(const pbd_method *method, const pbd_values *values, long steps);
/* Before each step and solve: takes what the last one measured, and asks for the next one's where it is due. step: the
 * number of steps that are done. */
void pbd_convergence_watch(pbd_convergence *c, void *state, long step);
/* At the end of the run: records the metrics and the warning. */
void pbd_convergence_end(pbd_convergence *c, void *state, pbd_recorder *recorder);

#endif
