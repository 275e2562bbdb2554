/* An ant of candy falls to the floor and breaks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/granular_drop.h"

enum { VIEWS = 4 }; /* pictures after the one at the start */

static const pbd_param params[] = {
    {"size", "m", PBD_REAL, "0.33", 0, 1e6, PBD_OPEN_MIN, NULL, "length of the ant, from feelers to tail"},
    PBD_SAMPLING_PARAMS("3000"),
    PBD_PARTICLE_MATERIAL_PARAMS("2e4", "0.35", "2", "hencky"),
    PBD_GRANULAR_FLOOR_PARAMS("0.3"),
    PBD_DROP_PARAMS("0.01", "3", "0.1"),
    {0}};

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    static const double nowhere[3] = {0, 0, 0};
    shapes s;
    body_shape_make(BODY_ANT, &s);
    shapes_place(&s, pbd_real(values, "size"), nowhere);
    const solid body = shapes_solid(&s);
    return granular_drop_build(values, &body, pbd_real(values, "size"), false, setup);
}

/* Pictures at the start and after each of VIEWS parts of the time: view_0, view_1, ... */
static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    PBD_TRY(granular_drop_observe(setup, method, state, time, recorder));
    const double at = time / scene->duration * VIEWS, near = round(at);
    if (fabs(at - near) > 0.5 * VIEWS / GRANULAR_LOOKS) return pbd_ok();
    char name[16];
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    snprintf(name, sizeof name, "view_%d", (int)near);
    PBD_TRY(body_positions(scene, method, state, &x));
    const pbd_status status = granular_record_view(scene, x, name, recorder);
    return status;
}

const pbd_case pbd_case_candy_ant = {
    .name = "candy_ant",
    .summary = "an ant of brittle candy falls to the floor: number of pieces",
    .source = "yu2024 Figure 5, Table 2 (Camponotus)",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=nacc",
    PARTICLE_DETAIL(granular_drop_detail),
    .build = build,
    .measure = granular_drop_measure,
    .observe = observe,
};
