/* A cube pushed along x at the top, its base held; what is measured is in cases/scenes/cube.h. */
#include "cases/scenes/cube.h"
#include "cube_shear_reference.h" /* made from reference.csv */

PBD_CUBE_CASE(cube_shear, CUBE_SHEAR, "a cube pushed along x at the top")
