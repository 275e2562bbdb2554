/* A cube pulled along z at the top, its base held; what is measured is in cases/scenes/cube.h. */
#include "cases/scenes/cube.h"
#include "cube_traction_reference.h" /* made from reference.csv */

PBD_CUBE_CASE(cube_traction, CUBE_TRACTION, "a cube pulled along z at the top")
