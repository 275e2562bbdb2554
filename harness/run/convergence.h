/* Convergence of a run's iterations, measured by the method's norm of the residual (pbd_method.residual).
 *
 * `residual_left` is the norm after the last iteration over the norm before the first, in the last step;
 * `worst_residual_left` is its largest value in steps 1, 2, 4, ... 64, in every 64th (in long runs: in 256 steps) and
 * in the last.
 *
 * Absent for explicit and direct methods, and for runs that end before they are sampled. Timed solves are not sampled.
 * If a run ends because it is at rest, the last sampled step counts as the last step. */
#ifndef PBD_CONVERGENCE_H
#define PBD_CONVERGENCE_H

#include "harness/catalog/registry.h"

#define PBD_NOT_CONVERGED 0.1 /* a residual_left above it gives the warning below */
#define PBD_UNCONVERGED "not_converged"

typedef struct pbd_convergence {
    const pbd_method *method;
    const pbd_values *values;
    long steps; /* of the run; 0: unknown */
    bool asked; /* the current step or solve is sampled */
    pbd_residual now, last, worst;
} pbd_convergence;

/* steps: number in the run; 0: unknown. */
pbd_convergence pbd_convergence_of(const pbd_method *method, const pbd_values *values, long steps);
/* Before each step or solve: takes the residual of the last one if it was measured, and requests the next one's if it
 * is due. step: number of steps done. */
void pbd_convergence_watch(pbd_convergence *c, void *state, long step);
/* At the end of the run: records the metrics and the warning. */
void pbd_convergence_end(pbd_convergence *c, void *state, pbd_recorder *recorder);

#endif
