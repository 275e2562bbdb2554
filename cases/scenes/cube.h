/* A cube of n x n x n hexahedra with its base held and loads on its top: code shared by the three deformation tests of
 * rodero2016, and the one-element scene of hex_fit. */
#ifndef PBD_CUBE_H
#define PBD_CUBE_H

#include "cases/case.h"
#include "cases/scenes/reference.h"

typedef enum cube_test { CUBE_TORSION, CUBE_SHEAR, CUBE_TRACTION } cube_test;

extern const pbd_param cube_params[];

/* Data that the case keeps for measuring. */
typedef struct cube_detail {
    double *reference;   /* displacements of FEM, particles x 3, m; NULL for reference=none */
    double compliance;   /* of FEM on this mesh: dimensionless, see compliance_of in cube.c */
    fem_reference limit; /* of the compliance under mesh refinement */
    size_t top_count;
    uint32_t *top; /* particles of the loaded face */
} cube_detail;

/* Builds mesh, loads and the reference: linear FEM on the same mesh, with loads scaled so that its loaded nodes move by
 * the requested mean displacement. limits: text of the table of compliances (cases/cube_torsion/reference.md). */
pbd_status cube_build(cube_test test, const char *limits, const pbd_values *values, pbd_setup *setup);
/* Records displacement_error, displacement_ratio and stiffness_ratio, the same for the predicted positions (before
 * projection) if the method provides them, the reference's own error, and shapes. */
pbd_status cube_measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder);
void cube_free_detail(void *detail);

/* The three cases differ only in their load. Each includes its table, NAME_reference.h. */
#define PBD_CUBE_CASE(NAME, TEST, SUMMARY)                                          \
    static pbd_status build(const pbd_values *values, pbd_setup *setup) {           \
        return cube_build(TEST, pbd_##NAME##_reference, values, setup);             \
    }                                                                               \
    const pbd_case pbd_case_##NAME = {                                              \
        .name = #NAME,                                                              \
        .summary = SUMMARY ", its base fixed, against linear FEM on the same mesh", \
        .source = "rodero2016 section 5.2, Figure 6",                               \
        .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES,                          \
        .params = cube_params,                                                      \
        .detail_bytes = sizeof(cube_detail),                                        \
        .build = build,                                                             \
        .measure = cube_measure,                                                    \
        .free_detail = cube_free_detail,                                            \
    };

/* Builds a box of cells[0] x cells[1] x cells[2] hexahedra with edges size[], m, its base (z = 0) held, forces 0.
 * Masses are lumped; for density 0 each particle has 1 kg. */
pbd_status cube_mesh(const int cells[3], const double size[3], const pbd_material *material, pbd_scene *scene);

#endif
