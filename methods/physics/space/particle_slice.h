#ifndef PBD_PARTICLE_SLICE_H
#define PBD_PARTICLE_SLICE_H
/* Constraints per slice, a multiple of every PBD_BATCH (particle_energy_kernels.h). */
enum { PARTICLE_SLICE = 16 };
#endif
