/* A cube twisted about z at the top, its base held; what is measured is in cases/scenes/cube.h. */
#include "cases/scenes/cube.h"
#include "cube_torsion_reference.h" /* made from reference.csv */

PBD_CUBE_CASE(cube_torsion, CUBE_TORSION, "a cube twisted about z at the top")
