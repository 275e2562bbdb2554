/* A cloth that hangs by its upper edge under its own weight. */
#include <math.h>
#include <stdlib.h>

#include "cases/scenes/sheet.h"
#include "cases/scenes/stretched.h"
#include "harness/exec/arena.h"

static const pbd_param params[] = {PBD_SHEET_PARAMS("1e4", "0.3", "100", "0", "45", "fibre_stiffness>0"),
                                   {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"},
                                   PBD_MOTION_PARAMS("dynamic", "5"),
                                   {0}};

typedef struct hanging_detail {
    sheet_size size;
    double sag; /* m; 0: there is no reference */
} hanging_detail;

/* Turns the sheet from the plane z = 0 to x = 0, its first edge up: (x, y, z) becomes (z, y, -x). */
static void hang(double *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const double x = rows[3 * i];
        rows[3 * i] = rows[3 * i + 2];
        rows[3 * i + 2] = -x;
    }
}

/* Each strip of the cloth carries what hangs below it. Fibres that run neither down nor across shear the cloth: no
 * reference then. */
static double sag_of(const pbd_material *m, double angle, double weight, double length) {
    pbd_material plain = *m;
    if (fmod(fabs(angle), 180) != 0) plain.fibre_stiffness[0] = 0;
    if (m->fibre_stiffness[0] > 0 && plain.fibre_stiffness[0] == 0) return 0;
    const stretched top = stretched_membrane(&plain, weight * length, 0);
    return top.found ? stretched_sag(top, weight, length) : 0;
}

static pbd_status fill(const pbd_values *values, const sheet_size *size, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    hanging_detail *detail = setup->detail;
    pbd_arena a PBD_ARENA;
    unsigned char *mark = pbd_new(&a, unsigned char, scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    const double gravity = pbd_real(values, "gravity");
    detail->size = *size;
    detail->sag =
        sag_of(scene->material, pbd_real(values, "fibre_angle"), scene->material->density * gravity, size->length);
    hang(scene->particles.positions, scene->particles.count);
    hang(scene->material->fibre[0], 1);
    scene->loads.gravity[2] = -gravity;
    body_set_motion(values, scene);
    for (int j = 0; j <= size->across; j++) mark[sheet_particle(size, 0, j)] = 1;
    return body_hold(scene, mark);
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    sheet_size size;
    PBD_TRY(sheet_build(values, scene, &size));
    return fill(values, &size, setup);
}

/* Means over the lower edge, m, weighted by its particles' shares: downward and sideways displacement. */
static void lower_edge(const pbd_setup *setup, const double *x, double *sag, double *drift) {
    const pbd_scene *scene = &setup->scene;
    const sheet_size *size = &((const hanging_detail *)setup->detail)->size;
    *sag = *drift = 0;
    for (int j = 0; j <= size->across; j++) {
        const size_t at = 3 * (size_t)sheet_particle(size, size->along, j);
        const double share = sheet_edge_share(j, size->across);
        *sag += share * (scene->particles.positions[at + 2] - x[at + 2]);
        *drift += share * (x[at + 1] - scene->particles.positions[at + 1]);
    }
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const hanging_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double sag, drift;
    PBD_TRY(body_positions(scene, method, state, &x));
    const sheet_strain strain = sheet_strain_at(scene, x);
    lower_edge(setup, x, &sag, &drift);
    body_record_shape(scene, x, recorder);
    pbd_metric(recorder, "sag", "m", PBD_STATE, sag);
    pbd_metric(recorder, "drift", "m", PBD_STATE, drift);
    sheet_record(&strain, recorder);
    if (detail->sag > 0) {
        pbd_metric(recorder, "sag_reference", "m", PBD_STATE, detail->sag);
        pbd_metric(recorder, "sag_ratio", "1", PBD_STATE, sag / detail->sag);
    }
    return pbd_ok();
}

const pbd_case pbd_case_hanging_sheet = {
    .name = "hanging_sheet",
    .summary = "a cloth that hangs by its upper edge under its own weight, with or without stiff fibres",
    .source = "continuum; cao2023 section 4.3",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_TRIANGLES,
    .params = params,
    .detail_bytes = sizeof(hanging_detail),
    .build = build,
    .measure = measure,
};
