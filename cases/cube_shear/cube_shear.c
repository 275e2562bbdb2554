/* A cube pushed along x at the top, its base held; what is measured is in cases/cube.h. */
#include "cases/cube.h"

PBD_CUBE_CASE(cube_shear, CUBE_SHEAR, "a cube pushed along x at the top")
