#ifndef PBD_PARTICLE_SLICE_H
#define PBD_PARTICLE_SLICE_H
/* Constraints of particles that stand side by side: a multiple of every batch (particle_energy_kernels.h). */
enum { PARTICLE_SLICE = 16 };
#endif
