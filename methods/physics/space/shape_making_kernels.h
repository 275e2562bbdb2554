/* `shape_at` as a kernel of the device. */
#ifndef PBD_SHAPE_MAKING_KERNELS_H
#define PBD_SHAPE_MAKING_KERNELS_H

#include "harness/exec/kernel.h"
#include "methods/physics/space/shape_kernels.h"

/* Work: particles and their neighbours. */
PBD_ITEM_OVER(make_shape, shape_args, i, 4 * sizeof(real) + 12, 500, 7 * sizeof(real) + 4, 120) { shape_at(a, i); }

#endif
