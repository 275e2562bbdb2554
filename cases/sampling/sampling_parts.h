/* Shared by sampling_make.c and poisson_disk.c only. */
#ifndef PBD_SAMPLING_PARTS_H
#define PBD_SAMPLING_PARTS_H

#include "cases/sampling/sampling.h"

pbd_status sampling_allocate(sampling *out, size_t count);
/* out->solid_volume must be set. */
pbd_status sampling_fill_poisson(const solid *body, const sampling_plan *plan, sampling *out);

#endif
