/* A body held by one hand under gravity: do settings of a method that should look alike look alike? The paths of a few
 * markers and of the centre of mass are stored, for comparison between runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/named_body.h"
#include "cases/scenes/particle_watch.h"

static const pbd_param params[] = {
    {"size", "m", PBD_REAL, "1.2", 0, 1e6, PBD_OPEN_MIN, NULL, "the largest edge of the box around the armadillo"},
    PBD_BODY_PARAM("armadillo"),
    PBD_SAMPLING_PARAMS("3000"),
    PBD_PARTICLE_MATERIAL_PARAMS("1e5", "0.4", "100", "neo_hookean"),
    {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"},
    {"frame", "s", PBD_REAL, "0.016666666666666666", 0, 1e6, PBD_OPEN_MIN, NULL, "time between two observations"},
    {"frames", "", PBD_INTEGER, "120", 1, 1e6, 0, NULL, "simulated time, in frames; 500 in the paper"},
    {0}};

/* Positions on an armadillo of height 1, m; the marker is the particle nearest to it at rest. */
static const struct {
    const char *name;
    double at[3];
} markers[] = {{"marker_free_hand", {-0.41, -0.16, 0.87}},
               {"marker_snout", {0, -0.29, 0.67}},
               {"marker_left_foot", {-0.17, -0.17, 0.04}},
               {"marker_right_foot", {0.17, -0.17, 0.04}},
               {"marker_tail", {0, 0.29, 0.05}}};
enum { MARKERS = sizeof markers / sizeof *markers };

typedef struct held_detail {
    sampling particles;
    size_t marker[MARKERS];
    double largest_speed;
} held_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static double square_distance(const double *x, const double *y) {
    double sum = 0;
    for (int d = 0; d < 3; d++) sum += (x[d] - y[d]) * (x[d] - y[d]);
    return sum;
}

static void find_markers(const pbd_scene *scene, double size, held_detail *detail) {
    for (size_t m = 0; m < MARKERS; m++) {
        double at[3], least = INFINITY;
        for (int d = 0; d < 3; d++) at[d] = size * markers[m].at[d];
        for (size_t i = 0; i < scene->particles.count; i++) {
            const double square = square_distance(scene->particles.positions + 3 * i, at);
            if (square < least) least = square, detail->marker[m] = i;
        }
    }
}

/* The hand of a mesh: centred one radius inwards from the vertex farthest along x. */
static void find_hand(const triangle_mesh *mesh, double radius, double palm[3]) {
    const double *farthest = mesh->position;
    for (size_t v = 1; v < mesh->vertices; v++)
        if (mesh->position[3 * v] > farthest[0]) farthest = mesh->position + 3 * v;
    for (int d = 0; d < 3; d++) palm[d] = farthest[d] - (d == 0 ? radius : 0);
}

static pbd_status hold_hand(const triangle_mesh *mesh, double size, pbd_scene *scene) {
    double palm[3], radius;
    armadillo_hand(palm, &radius);
    for (int d = 0; d < 3; d++) palm[d] *= size;
    if (mesh->vertices > 0) find_hand(mesh, size * radius, palm);
    pbd_arena a PBD_ARENA;
    unsigned char *mark = pbd_new(&a, unsigned char, scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < scene->particles.count; i++)
        mark[i] = square_distance(scene->particles.positions + 3 * i, palm) <= size * radius * size * radius;
    PBD_TRY(body_hold(scene, mark));
    if (scene->particles.fixed > 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "none of %zu particles is in the hand: use more particles", scene->particles.count);
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    held_detail *detail = setup->detail;
    const sampling_plan plan = particle_plan(values);
    const placement here = placement_at(0, 0, 0);
    const double size = pbd_real(values, "size");
    named_body body PBD_CLEANUP(named_body_free) = {0};
    PBD_TRY(named_body_make(values, BODY_ARMADILLO, size, setup, &body));
    scene->material[0] = particle_material(values);
    scene->loads.gravity[2] = -pbd_real(values, "gravity");
    scene->duration = pbd_real(values, "frame") * (double)pbd_integer(values, "frames");
    setup->observe_every = pbd_real(values, "frame");
    PBD_TRY(sampling_make(&body.solid, &plan, &detail->particles));
    PBD_TRY(particle_scene_make(&detail->particles, 1, &here, scene));
    PBD_TRY(named_body_skin(&body, &here, scene));
    find_markers(scene, size, detail);
    return hold_hand(&body.mesh, size, scene);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static void add_place(pbd_recorder *recorder, const char *name, const double x[3]) {
    pbd_series(recorder, name, "x", "m", x, 1, 1);
    pbd_series(recorder, name, "y", "m", x + 1, 1, 1);
    pbd_series(recorder, name, "z", "m", x + 2, 1, 1);
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    held_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double centre[3], energy, fastest;
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_centre_of_mass(scene, x, centre);
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    add_place(recorder, "centre_of_mass", centre);
    for (size_t m = 0; m < MARKERS; m++) add_place(recorder, markers[m].name, x + 3 * detail->marker[m]);
    const pbd_status status = particle_kinetic_energy(scene, method, state, &energy, &fastest);
    if (status.code == PBD_NOT_SUPPORTED) return pbd_ok();
    detail->largest_speed = fmax(detail->largest_speed, fastest);
    pbd_series(recorder, "kinetic_energy", "value", "J", &energy, 1, 1);
    return status;
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const held_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double centre[3], rest[3];
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_record_sampling(&detail->particles, 1, recorder);
    particle_centre_of_mass(scene, x, centre);
    particle_centre_of_mass(scene, scene->particles.positions, rest);
    pbd_metric(recorder, "held_particles", "1", PBD_STATE, (double)scene->particles.fixed);
    pbd_metric(recorder, "sag", "m", PBD_STATE, rest[2] - centre[2]);
    pbd_metric(recorder, "rest_shape_error", "1", PBD_STATE, body_shape_error(scene, x));
    pbd_metric(recorder, "largest_speed", "m/s", PBD_STATE, detail->largest_speed);
    body_record_shape(scene, x, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_held_body = {
    .name = "held_body",
    .summary = "an armadillo held by one hand swings under gravity: paths of its markers, for comparing settings",
    .source = "cao2023 Figure 10, Table 2",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    PARTICLE_DETAIL(held_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
