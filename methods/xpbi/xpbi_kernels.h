/* All kernels of xpbi. */
#ifndef PBD_XPBI_KERNELS_H
#define PBD_XPBI_KERNELS_H

#include "methods/xpbi/xpbi_acceleration_kernels.h"
#include "methods/xpbi/xpbi_constraint_kernels.h"
#include "methods/xpbi/xpbi_hourglass_kernels.h"
#include "methods/xpbi/xpbi_jacobi_kernels.h"
#include "methods/xpbi/xpbi_penalty_kernels.h"
#include "methods/xpbi/xpbi_rest_kernels.h"
#include "methods/xpbi/xpbi_separation_kernels.h"
#include "methods/xpbi/xpbi_tile_kernels.h"

#endif
