/* One hexahedron without load: the stiffness matrix of a method against that of linear FEM. The method records its fit
 * when it is created (k_edge, k_face, k_diagonal, k_volume, fit_error, dt). */
#include <math.h>

#include "cases/scenes/cube.h"

static const char *const conventions[] = {"printed", "standard", NULL};

static const pbd_param params[] = {
    {"E", "Pa", PBD_REAL, "1", 0, INFINITY, PBD_OPEN_MIN, NULL, "Young's modulus"},
    {"nu", "", PBD_REAL, "0.3", -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"},
    {"density", "kg/m^3", PBD_REAL, "0", 0, 1e9, 0, NULL, "0: every particle weighs 1 kg, as in the paper"},
    {"edge", "m", PBD_REAL, "2", 0, 1e6, PBD_OPEN_MIN, NULL, "along x and y"},
    {"aspect", "", PBD_REAL, "1", 0, 1e3, PBD_OPEN_MIN, NULL, "edge along z over edge along x"},
    {"convention", "", PBD_CHOICE, "printed", 0, 0, 0, conventions,
     "shear entries of D as printed (twice the usual) or standard"},
    {0}};

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    const int one[3] = {1, 1, 1};
    double edge = pbd_real(values, "edge"), size[3] = {edge, edge, edge * pbd_real(values, "aspect")};
    pbd_material material = {.E = pbd_real(values, "E"),
                             .nu = pbd_real(values, "nu"),
                             .density = pbd_real(values, "density"),
                             .convention = (pbd_convention)pbd_choice(values, "convention")};
    PBD_TRY(cube_mesh(one, size, &material, scene));
    scene->hints.fixing = PBD_FIXED_RESET;
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    (void)scene, (void)method, (void)state, (void)recorder;
    return pbd_ok();
}

const pbd_case pbd_case_hex_fit = {
    .name = "hex_fit",
    .summary = "one hexahedron: the stiffness matrix of a method against that of linear FEM",
    .source = "rodero2016 sections 3.1 and 5.1",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES,
    .params = params,
    .build = build,
    .measure = measure,
};
