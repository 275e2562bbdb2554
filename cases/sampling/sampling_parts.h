/* What the ways of sampling share; for sampling.c and poisson_disk.c alone. */
#ifndef PBD_SAMPLING_PARTS_H
#define PBD_SAMPLING_PARTS_H

#include "cases/sampling/sampling.h"

pbd_status sampling_allocate(sampling *out, size_t count);
/* Of a solid whose volume is out->solid_volume. */
pbd_status sampling_fill_poisson(const solid *body, const sampling_plan *plan, sampling *out);

#endif
