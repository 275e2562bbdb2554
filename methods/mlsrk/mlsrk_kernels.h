/* Kernels of mlsrk: those of every particle that bears strain energy. */
#ifndef PBD_MLSRK_KERNELS_H
#define PBD_MLSRK_KERNELS_H

#include "methods/physics/parts/particle_energy_kernels.h"

#endif
