/* `shape_at` as a kernel of the device. */
#ifndef PBD_SHAPE_MAKING_KERNELS_H
#define PBD_SHAPE_MAKING_KERNELS_H

#include "harness/exec/kernel.h"
#include "methods/physics/space/shape_kernels.h"

/* About 60 to 80 neighbours, each looked at twice. */
PBD_ITEM_KERNEL(shape_at, shape_args, 70 * (11 * sizeof(real) + 8), 70 * 120 + 500)

#endif
