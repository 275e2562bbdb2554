/* Gradients at rest made on the device, in its `real`: for their time alone (cao2023 Table 3). Solvers use those that
 * shape_gradients_make has made in f64; the two are compared before anything is timed. */
#ifndef PBD_SHAPE_MAKING_H
#define PBD_SHAPE_MAKING_H

#include "harness/exec/exec.h"
#include "harness/exec/real.h"
#include "methods/physics/space/particle_layout.h"

PBD_PRECISE(shape_time_making)

/* Makes the kernels once and says how far they are from the host's (metric kernel_error), then `runs` times, each timed
 * (series kernel_times; metrics kernel_time, its median, and kernel_cpu_time, that of the time of all threads). */
pbd_status shape_time_making(pbd_exec *exec, const particle_layout *l, const shape_choice *choice, size_t runs,
                             pbd_recorder *recorder);

#endif
