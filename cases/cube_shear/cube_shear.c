/* A cube pushed along x at the top, its base held, against linear FEM on the same mesh. */
#include "cases/cube.h"

static pbd_status build(const pbd_values *values, pbd_scene *scene) { return cube_build(CUBE_SHEAR, values, scene); }

const pbd_case pbd_case_cube_shear = {
    .abi = PBD_CASE_ABI,
    .name = "cube_shear",
    .summary = "a cube pushed along x at the top, its base held, against linear FEM on the same mesh",
    .source = "rodero2016 section 5.2, Figure 6",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES,
    .params = cube_params,
    .build = build,
    .measure = cube_measure,
    .free_scene = cube_free,
};
