/* solver=jacobi: sweeps of the constraints without colours (xpbi_jacobi_kernels.h). No sweep waits for the device. */
#ifndef PBD_XPBI_JACOBI_H
#define PBD_XPBI_JACOBI_H

#include "methods/xpbi/xpbi.h"
#include "methods/xpbi/xpbi_jacobi_kernels.h"

PBD_PRECISE(xpbi_jacobi_sweep, xpbi_jacobi_momentum)

/* One sweep. averaged: the mean of a particle's corrections. keep: leaves impulses for xpbi_jacobi_momentum in spare.
 */
pbd_status xpbi_jacobi_sweep(const xpbi *s, const xpbi_solve_args *solve, bool averaged, bool keep);
/* The sum of the impulses of the last sweep that kept them, which is 0 without averaging, and the sum of their
 * magnitudes, kg m/s. Waits for the device. */
pbd_status xpbi_jacobi_momentum(const xpbi *s, double momentum[XPBI_MOMENTA]);

#endif
