/* Kernels of position_solver.h: prediction and velocities. */
#ifndef PBD_POSITION_SOLVER_KERNELS_H
#define PBD_POSITION_SOLVER_KERNELS_H

#include "methods/physics/device/particle_kernels.h"

#endif
