/* Kernels of corrected_sph: those of every particle that bears strain energy. */
#ifndef PBD_CORRECTED_SPH_KERNELS_H
#define PBD_CORRECTED_SPH_KERNELS_H

#include "methods/physics/parts/particle_energy_kernels.h"

#endif
