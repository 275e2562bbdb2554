/* Times the computation of rest gradients on the device, in `real` (cao2023 Table 3). Solvers use the gradients of
 * shape_gradients_make in f64; both are compared before timing. */
#ifndef PBD_SHAPE_MAKING_H
#define PBD_SHAPE_MAKING_H

#include "harness/exec/exec.h"
#include "harness/exec/real.h"
#include "methods/physics/space/particle_layout.h"

PBD_PRECISE(shape_time_making)

/* Computes the gradients once and records the difference from the host's (metric kernel_error), then times `runs`
 * repetitions (series kernel_times; metrics kernel_time, the median, and kernel_cpu_time, the median CPU time of all
 * threads). */
pbd_status shape_time_making(pbd_exec *exec, const particle_layout *l, const shape_choice *choice, size_t runs,
                             pbd_recorder *recorder);

#endif
