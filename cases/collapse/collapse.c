/* A body squashed to a plane, a line or a point, or turned inside out, and released: does it recover? */
#include <math.h>
#include <stdlib.h>

#include "cases/scenes/beam.h"
#include "cases/scenes/returning.h"
#include "harness/exec/arena.h"

static const char *const starts[] = {"plane", "line", "point", "inside_out", NULL};
enum { PLANE, LINE, POINT, INSIDE_OUT };

static const pbd_param params[] = {
    PBD_BOX_PARAMS("1e5", "0.3", "100", "neo_hookean", "1", "1", "4"),
    {"start", "", PBD_CHOICE, "point", 0, 0, 0, starts,
     "flat across z, on the x axis, at the centre, or mirrored end to end"},
    {"noise", "", PBD_REAL, "0.01", 0, 1, 0, NULL, "of the start, over the edge of a cube"},
    {"seed", "", PBD_INTEGER, "1", 0, 1e9, 0, NULL, "noise>0: of the noise"},
    {"duration", "s", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

static void squash(int start, double length, double x[3]) {
    if (start == INSIDE_OUT) x[0] = length - x[0];
    if (start == PLANE || start == LINE || start == POINT) x[2] = 0;
    if (start == LINE || start == POINT) x[1] = 0;
    if (start == POINT) x[0] = length / 2;
}

static pbd_status fill(const pbd_values *values, const beam_size *size, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    returning *detail = setup->detail;
    *detail = returning_start(scene);
    PBD_TRY(body_start_at_rest(scene));
    uint64_t seed = (uint64_t)pbd_integer(values, "seed");
    const double noise = pbd_real(values, "noise") * size->width / size->across;
    for (size_t i = 0; i < scene->particles.count; i++) {
        squash(pbd_choice(values, "start"), size->length, scene->particles.start + 3 * i);
        for (size_t d = 0; d < 3; d++) scene->particles.start[3 * i + d] += noise * body_noise(&seed);
    }
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / BODY_LOOKS;
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    beam_size size;
    PBD_TRY(beam_build(values, scene, &size));
    return fill(values, &size, setup);
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    return returning_observe(setup->detail, scene, method, state, time, recorder);
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    body_record_strain(scene, x, recorder);
    returning_record(setup->detail, scene, x, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_collapse = {
    .name = "collapse",
    .summary = "a body squashed to a plane, a line or a point, or inverted, then released: it must recover",
    .source = "cao2023 Figure 5; continuum",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(returning),
    .build = build,
    .measure = measure,
    .observe = observe,
};
