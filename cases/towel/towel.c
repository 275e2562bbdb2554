/* A cloth with stiff fibres at an angle, pulled outward on all four edges, perpendicular to them: it becomes oblique.
 */
#include <math.h>
#include <stdlib.h>

#include "cases/scenes/sheet.h"
#include "cases/scenes/stretched.h"
#include "harness/exec/arena.h"

static const pbd_param params[] = {
    PBD_SHEET_PARAMS("50", "0.4", "100", "500", "45", "fibre_stiffness>0 or second_stiffness>0"),
    {"second_stiffness", "Pa", PBD_REAL, "0", 0, 1e15, 0, NULL, "of a second fibre; 0: none"},
    {"second_angle", "deg", PBD_REAL, "90", -180, 180, 0, NULL,
     "second_stiffness>0: of the second fibre at rest, from the first"},
    {"pull", "N/m", PBD_REAL, "0.2", 0, 1e12, 0, NULL, "on each edge, outward, by its length at rest"},
    PBD_MOTION_PARAMS("dynamic", "20"),
    {0}};

typedef struct towel_detail {
    bool oblique;        /* a second fibre that is not perpendicular to the first: no reference */
    stretched reference; /* along the fibre and perpendicular to it */
} towel_detail;

/* A second fibre in the plane of the sheet. */
static void add_second_fibre(const pbd_values *values, pbd_material *m) {
    const double angle = (pbd_real(values, "fibre_angle") + pbd_real(values, "second_angle")) * acos(-1) / 180;
    m->fibre[1][0] = cos(angle);
    m->fibre[1][1] = sin(angle);
    m->fibre_stiffness[1] = pbd_real(values, "second_stiffness");
}

/* A dead load: perpendicular to the edges as they are at rest. */
static void pull_edges(const sheet_size *size, double pull, pbd_scene *scene) {
    for (int i = 0; i <= size->along; i++) {
        const double force = pull * size->length * sheet_edge_share(i, size->along);
        scene->loads.forces[3 * (size_t)sheet_particle(size, i, 0) + 1] -= force;
        scene->loads.forces[3 * (size_t)sheet_particle(size, i, size->across) + 1] += force;
    }
    for (int j = 0; j <= size->across; j++) {
        const double force = pull * size->width * sheet_edge_share(j, size->across);
        scene->loads.forces[3 * (size_t)sheet_particle(size, 0, j)] -= force;
        scene->loads.forces[3 * (size_t)sheet_particle(size, size->along, j)] += force;
    }
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    sheet_size size;
    PBD_TRY(sheet_build(values, scene, &size));
    towel_detail *detail = setup->detail;
    const double pull = pbd_real(values, "pull"), stress = pull / scene->material->thickness;
    add_second_fibre(values, scene->material);
    pull_edges(&size, pull, scene);
    body_set_motion(values, scene);
    detail->oblique = scene->material->fibre_stiffness[1] > 0 && fabs(pbd_real(values, "second_angle")) != 90;
    detail->reference = stretched_membrane(scene->material, stress, stress);
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const towel_detail *detail = setup->detail;
    const stretched *reference = &detail->reference;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    const sheet_strain strain = sheet_strain_at(scene, x);
    body_record_shape(scene, x, recorder);
    sheet_record(&strain, recorder);
    pbd_metric(recorder, "perpendicular_over_fibre", "1", PBD_STATE, strain.perpendicular / strain.fibre);
    if (detail->oblique) {
        pbd_warning(recorder, "no_reference", "oblique fibres turn the axes: there is no stretch to compare with");
        return pbd_ok();
    }
    if (!reference->found) {
        pbd_warning(recorder, "no_reference",
                    "this pull is beyond the limit of the law: there is no reference for stretch");
        return pbd_ok();
    }
    pbd_metric(recorder, "stretch_fibre_reference", "1", PBD_STATE, reference->along);
    pbd_metric(recorder, "stretch_perpendicular_reference", "1", PBD_STATE, reference->across);
    pbd_metric(recorder, "stretch_error", "1", PBD_ERROR,
               hypot(strain.fibre - reference->along, strain.perpendicular - reference->across));
    return pbd_ok();
}

const pbd_case pbd_case_towel = {
    .name = "towel",
    .summary = "a cloth with stiff fibres at 45 degrees, pulled outward on its edges, against the homogeneous state",
    .source = "cao2023 Figure 6 and section 4.3 (C-7, C-8)",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_TRIANGLES,
    .params = params,
    .detail_bytes = sizeof(towel_detail),
    .build = build,
    .measure = measure,
};
