/* A body that starts squashed into a small ball, in vacuum: does it recover? */
#include <math.h>
#include <stdlib.h>

#include "cases/scenes/named_body.h"
#include "cases/scenes/particle_watch.h"
#include "cases/scenes/returning.h"
#include "harness/exec/arena.h"

static const char *const starts[] = {"random", "scaled", NULL};
enum { RANDOM, SCALED };

static const pbd_param params[] = {
    {"shape", "", PBD_CHOICE, "cow", 0, 0, 0, body_shape_names, "which body; the cow is a stand-in"},
    PBD_BODY_PARAM("shape=bunny, cow or armadillo"),
    {"size", "m", PBD_REAL, "4.9", 0, 1e6, PBD_OPEN_MIN, NULL, "the largest edge of the box around it"},
    PBD_SAMPLING_PARAMS("3000"),
    PBD_PARTICLE_MATERIAL_PARAMS("2000", "0.4", "100", "neo_hookean"),
    {"start", "", PBD_CHOICE, "random", 0, 0, 0, starts,
     "every particle at a random place in the ball, or the body scaled down into it"},
    {"ball", "", PBD_REAL, "0.1", 0, 10, PBD_OPEN_MIN, NULL, "radius of the ball over `size`"},
    {"noise", "", PBD_REAL, "0.01", 0, 1, 0, NULL, "start=scaled: added at random, over the ball's radius"},
    {"start_seed", "", PBD_INTEGER, "1", 0, 1e9, 0, NULL, "start=random or noise>0: of the start"},
    {"duration", "s", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct recovery_detail {
    sampling particles;
    returning back;
    size_t loose;
} recovery_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* Uniform in the unit ball. */
static void random_in_ball(uint64_t *seed, double out[3]) {
    do {
        for (int d = 0; d < 3; d++) out[d] = body_noise(seed);
    } while (out[0] * out[0] + out[1] * out[1] + out[2] * out[2] > 1);
}

static void squash(const pbd_values *values, pbd_scene *scene) {
    const double radius = pbd_real(values, "ball") * pbd_real(values, "size");
    const bool scaled = pbd_choice(values, "start") == SCALED;
    const double noise = pbd_real(values, "noise") * radius;
    uint64_t seed = (uint64_t)pbd_integer(values, "start_seed");
    double centre[3], farthest = 0;
    particle_centre_of_mass(scene, scene->particles.positions, centre);
    for (size_t i = 0; i < scene->particles.count; i++) {
        double square = 0;
        for (size_t d = 0; d < 3; d++) square += pow(scene->particles.positions[3 * i + d] - centre[d], 2);
        farthest = fmax(farthest, square);
    }
    const double factor = farthest > 0 ? radius / sqrt(farthest) : 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        double u[3];
        random_in_ball(&seed, u);
        for (size_t d = 0; d < 3; d++) {
            const double kept = factor * (scene->particles.positions[3 * i + d] - centre[d]) + noise * u[d];
            scene->particles.start[3 * i + d] = centre[d] + (scaled ? kept : radius * u[d]);
        }
    }
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    recovery_detail *detail = setup->detail;
    sampling_plan plan = particle_plan(values);
    plan.cubes = true; /* so that every particle is in a tetrahedron */
    const placement here = placement_at(0, 0, 0);
    named_body body PBD_CLEANUP(named_body_free) = {0};
    PBD_TRY(named_body_make(values, (body_shape)pbd_choice(values, "shape"), pbd_real(values, "size"), setup, &body));
    scene->material[0] = particle_material(values);
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / BODY_LOOKS;
    PBD_TRY(sampling_make(&body.solid, &plan, &detail->particles));
    PBD_TRY(particle_scene_make(&detail->particles, 1, &here, scene));
    PBD_TRY(named_body_skin(&body, &here, scene));
    PBD_TRY(sampling_tets(&detail->particles, &scene->tets.corner, &scene->tets.count, &detail->loose));
    PBD_TRY(body_start_at_rest(scene));
    squash(values, scene);
    detail->back = returning_start(scene);
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    recovery_detail *detail = setup->detail;
    return returning_observe(&detail->back, scene, method, state, time, recorder);
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const recovery_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_record_sampling(&detail->particles, 1, recorder);
    pbd_metric(recorder, "tetrahedra", "1", PBD_STATE, (double)scene->tets.count);
    pbd_metric(recorder, "particles_without_tetrahedra", "1", PBD_STATE, (double)detail->loose);
    body_record_strain(scene, x, recorder);
    returning_record(&detail->back, scene, x, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_recovery = {
    .name = "recovery",
    .summary = "a cow or another body that starts squashed into a ball, in vacuum: it must recover",
    .source = "cao2023 Figure 5, Table 1",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES | PBD_NEEDS_TETS,
    .params = params,
    PARTICLE_DETAIL(recovery_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
