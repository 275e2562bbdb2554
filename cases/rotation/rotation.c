/* A lattice of particles, rotated as a whole: the deformation gradient that a method computes, which should be the
 * rotation; the impulse of a step that begins at rest; and how well a spinning body keeps its angular momentum.
 * README.md says how each is measured. */
#include <math.h>
#include <stdlib.h>

#include "cases/scenes/particle_scene.h"
#include "cases/scenes/particle_watch.h"
#include "harness/exec/arena.h"

static const double PI = 3.14159265358979323846;
static const double SMALLEST_CORRECTION = 1e-5; /* spacings, mean: below it a step is rounding and has no impulse */
enum { LARGEST_LAYER = 2000 };
enum { INNER_LAYERS = 2 }; /* inner particles have at least so many between them and every face */

static const pbd_param params[] = {
    {"nx", "", PBD_INTEGER, "21", 2, 1000, 0, NULL, "particles along x"},
    {"ny", "", PBD_INTEGER, "25", 2, 1000, 0, NULL, "along y"},
    {"nz", "", PBD_INTEGER, "33", 2, 1000, 0, NULL, "along z"},
    {"spacing", "m", PBD_REAL, "0.025", 0, 1e6, PBD_OPEN_MIN, NULL, "of the lattice"},
    {"radius", "", PBD_REAL, "2.5", 1, 10, PBD_OPEN_MIN, NULL, "for the method: support of the kernel, in spacings"},
    {"angle", "deg", PBD_REAL, "90", 0, 180, 0, NULL, "rotation of the body about z"},
    {"jitter", "", PBD_REAL, "0", 0, 0.5, 0, NULL, "largest offset of rest positions along each axis, in spacings"},
    {"start_jitter", "", PBD_REAL, "0", 0, 0.5, 0, NULL, "the same for start positions: the body is then strained"},
    {"seed", "", PBD_INTEGER, "1", 0, 1e9, 0, NULL, "jitter>0 or start_jitter>0: of both"},
    {"spin", "rad/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "about z; 0: at rest, and the first step's impulse is measured"},
    PBD_PARTICLE_MATERIAL_PARAMS("1e5", "0.3", "1000", "corotated"),
    {"duration", "s", PBD_REAL, "0.005", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct rotation_detail {
    size_t sites[3];
    double angle; /* rad */
    bool spins;
    double momentum; /* kg m^2/s: about z, at the start */
    long looks;
    double *before; /* particles x 3, m: at the first observation */
} rotation_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status place_particles(const pbd_values *values, const rotation_detail *detail, pbd_scene *scene) {
    const double spacing = pbd_real(values, "spacing"), jitter = pbd_real(values, "jitter") * spacing;
    const size_t *n = detail->sites, count = n[0] * n[1] * n[2];
    uint64_t seed = (uint64_t)pbd_integer(values, "seed");
    sampling lattice = {.count = count, .spacing = spacing, .volume = spacing * spacing * spacing};
    PBD_TRY_NEW(lattice.position, 3 * count);
    for (size_t i = 0; i < count; i++) {
        const size_t site[3] = {i / (n[1] * n[2]), i / n[2] % n[1], i % n[2]};
        for (size_t d = 0; d < 3; d++)
            lattice.position[3 * i + d] =
                spacing * ((double)site[d] - 0.5 * (double)(n[d] - 1)) + jitter * body_noise(&seed);
    }
    const placement here = placement_at(0, 0, 0);
    const pbd_status status = particle_scene_make(&lattice, 1, &here, scene);
    free(lattice.position);
    return status;
}

static void turn(double angle, const double from[3], double out[3]) {
    out[0] = cos(angle) * from[0] - sin(angle) * from[1];
    out[1] = sin(angle) * from[0] + cos(angle) * from[1];
    out[2] = from[2];
}

static pbd_status turn_body(const pbd_values *values, const rotation_detail *detail, pbd_scene *scene) {
    const double jitter = pbd_real(values, "start_jitter") * scene->particles.spacing;
    uint64_t seed = (uint64_t)pbd_integer(values, "seed") + 1;
    PBD_TRY(body_start_at_rest(scene));
    for (size_t i = 0; i < scene->particles.count; i++) {
        double *x = scene->particles.start + 3 * i;
        turn(detail->angle, scene->particles.positions + 3 * i, x);
        for (int d = 0; d < 3; d++) x[d] += jitter * body_noise(&seed);
    }
    return pbd_ok();
}

static double momentum_about_z(const pbd_scene *scene, const double *x, const double *v) {
    double sum = 0;
    for (size_t i = 0; i < scene->particles.count; i++)
        sum += scene->particles.masses[i] * (x[3 * i] * v[3 * i + 1] - x[3 * i + 1] * v[3 * i]);
    return sum;
}

static pbd_status spin_up(double spin, rotation_detail *detail, pbd_scene *scene) {
    double centre[3];
    PBD_TRY_NEW(scene->particles.velocities, 3 * scene->particles.count);
    particle_centre_of_mass(scene, scene->particles.start, centre);
    for (size_t i = 0; i < scene->particles.count; i++) {
        scene->particles.velocities[3 * i] = -spin * (scene->particles.start[3 * i + 1] - centre[1]);
        scene->particles.velocities[3 * i + 1] = spin * (scene->particles.start[3 * i] - centre[0]);
    }
    detail->spins = true;
    detail->momentum = momentum_about_z(scene, scene->particles.start, scene->particles.velocities);
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    const size_t sites[3] = {(size_t)pbd_integer(values, "nx"), (size_t)pbd_integer(values, "ny"),
                             (size_t)pbd_integer(values, "nz")};
    const size_t count = sites[0] * sites[1] * sites[2];
    const double spin = pbd_real(values, "spin");
    if (count > SAMPLING_MOST)
        return pbd_error(PBD_BAD_INPUT, "nx=%zu ny=%zu nz=%zu are %zu particles: %d at most", sites[0], sites[1],
                         sites[2], count, SAMPLING_MOST);
    rotation_detail *detail = setup->detail;
    PBD_TRY_NEW(detail->before, 3 * count);
    for (int d = 0; d < 3; d++) detail->sites[d] = sites[d];
    detail->angle = pbd_real(values, "angle") * PI / 180;
    scene->material[0] = particle_material(values);
    PBD_TRY(place_particles(values, detail, scene));
    PBD_TRY(turn_body(values, detail, scene));
    if (spin > 0) PBD_TRY(spin_up(spin, detail, scene));
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = spin > 0 ? scene->duration / BODY_LOOKS : 1e-6 * scene->duration; /* every step */
    return pbd_ok();
}

static void free_detail(void *detail) { free(((rotation_detail *)detail)->before); }

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static bool is_inner(const rotation_detail *detail, size_t i) {
    const size_t *n = detail->sites, site[3] = {i / (n[1] * n[2]), i / n[2] % n[1], i % n[2]};
    for (int d = 0; d < 3; d++)
        if (site[d] < INNER_LAYERS || site[d] + INNER_LAYERS >= n[d]) return false;
    return true;
}

/* |F - R| / |R|, Frobenius; F row by row. */
static double rotation_error(double angle, const double *F) {
    const double R[9] = {cos(angle), -sin(angle), 0, sin(angle), cos(angle), 0, 0, 0, 1};
    double square = 0;
    for (int e = 0; e < 9; e++) square += (F[e] - R[e]) * (F[e] - R[e]);
    return sqrt(square / 3);
}

/* Records the middle layer across z for a picture, unless it is too large to read: `width` numbers per particle. */
static void record_layer(const rotation_detail *detail, const char *name, const char *unit, const double *rows,
                         size_t width, pbd_recorder *recorder) {
    static const char *const component[] = {"x", "y", "z"};
    const size_t *n = detail->sites, count = n[0] * n[1];
    if (count > LARGEST_LAYER) return;
    for (size_t d = 0; d < width; d++)
        pbd_series(recorder, name, width == 1 ? "value" : component[d], unit, rows + width * (n[2] / 2) + d, count,
                   width * n[2]);
}

/* error: particles. */
static void record_errors(const pbd_setup *setup, const double *F, double *error, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const rotation_detail *detail = setup->detail;
    double inner = 0, all = 0, largest = 0;
    size_t inside = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        const bool counts = is_inner(detail, i);
        error[i] = rotation_error(detail->angle, F + 9 * i);
        all += error[i];
        inner += counts ? error[i] : 0;
        inside += counts;
        if (!(error[i] <= largest)) largest = error[i]; /* NaN is the largest */
    }
    if (inside > 0) pbd_metric(recorder, "f_error_inner", "1", PBD_ERROR, inner / (double)inside);
    pbd_metric(recorder, "f_error_all", "1", PBD_ERROR, all / (double)scene->particles.count);
    pbd_metric(recorder, "f_error_largest", "1", PBD_ERROR, largest);
    record_layer(detail, "layer_error", "1", error, 1, recorder);
}

static pbd_status look_at_gradients(const pbd_setup *setup, const pbd_method *method, const void *state,
                                    pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    pbd_arena a PBD_ARENA;
    double *F = pbd_new(&a, double, 10 * scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    const pbd_status status = method->read(state, PBD_DEFORMATION_GRADIENTS, F);
    if (status.code == PBD_OK) record_errors(setup, F, F + 9 * scene->particles.count, recorder);
    return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
}

/* Impulses of a step that began at rest: sum m dx and sum x cross m dx about the centre of mass before it, over the
 * sums of their magnitudes. */
static void record_impulse(const pbd_scene *scene, const double *before, const double *after, pbd_recorder *recorder) {
    double linear[3] = {0}, angular[3] = {0}, pushes = 0, turns = 0, centre[3];
    particle_centre_of_mass(scene, before, centre);
    for (size_t i = 0; i < scene->particles.count; i++) {
        double push[3], arm[3], square = 0, arm_square = 0;
        for (size_t d = 0; d < 3; d++) {
            push[d] = scene->particles.masses[i] * (after[3 * i + d] - before[3 * i + d]);
            arm[d] = before[3 * i + d] - centre[d];
            square += push[d] * push[d];
            arm_square += arm[d] * arm[d];
            linear[d] += push[d];
        }
        for (int d = 0; d < 3; d++)
            angular[d] += arm[(d + 1) % 3] * push[(d + 2) % 3] - arm[(d + 2) % 3] * push[(d + 1) % 3];
        pushes += sqrt(square);
        turns += sqrt(square * arm_square);
    }
    const double mean = pushes / (scene->particles.masses[0] * (double)scene->particles.count); /* all weigh the same */
    pbd_metric(recorder, "mean_correction", "m", PBD_STATE, mean);
    if (mean <= SMALLEST_CORRECTION * scene->particles.spacing) return;
    pbd_metric(recorder, "linear_impulse", "1", PBD_ERROR,
               sqrt(linear[0] * linear[0] + linear[1] * linear[1] + linear[2] * linear[2]) / pushes);
    pbd_metric(recorder, "angular_impulse", "1", PBD_ERROR,
               sqrt(angular[0] * angular[0] + angular[1] * angular[1] + angular[2] * angular[2]) / turns);
}

/* Impulse of the first step: positions before it are kept until its end. */
static pbd_status look_at_impulse(const pbd_setup *setup, const pbd_method *method, const void *state,
                                  pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    rotation_detail *detail = setup->detail;
    if (detail->looks == 1) return method->read(state, PBD_POSITIONS, detail->before);
    if (detail->looks > 2) return pbd_ok();
    double *after;
    PBD_TRY(body_positions(scene, method, state, &after));
    record_impulse(scene, detail->before, after, recorder);
    free(after);
    return pbd_ok();
}

/* L_z over that at the start. PBD_NOT_SUPPORTED if the method provides no velocities. */
static pbd_status look_at_momentum(const pbd_setup *setup, const pbd_method *method, const void *state, double *out) {
    const pbd_scene *scene = &setup->scene;
    const rotation_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    pbd_arena a PBD_ARENA;
    double *v = pbd_new(&a, double, 3 * scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(method->read(state, PBD_VELOCITIES, v));
    *out = momentum_about_z(scene, x, v) / detail->momentum;
    return pbd_ok();
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    rotation_detail *detail = setup->detail;
    double momentum;
    if (detail->looks++ == 0) PBD_TRY(look_at_gradients(setup, method, state, recorder));
    if (!detail->spins) return look_at_impulse(setup, method, state, recorder);
    const pbd_status status = look_at_momentum(setup, method, state, &momentum);
    if (status.code != PBD_OK) return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "angular_momentum", "value", "1", &momentum, 1, 1);
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const rotation_detail *detail = setup->detail;
    double momentum, *x;
    PBD_TRY(body_positions(scene, method, state, &x));
    record_layer(detail, "layer", "m", x, 3, recorder);
    free(x);
    if (!detail->spins) return pbd_ok();
    const pbd_status status = look_at_momentum(setup, method, state, &momentum);
    if (status.code != PBD_OK) return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
    pbd_metric(recorder, "angular_momentum_loss", "1", PBD_ERROR, 1 - momentum);
    return pbd_ok();
}

const pbd_case pbd_case_rotation = {
    .name = "rotation",
    .summary =
        "a lattice of particles rotated as a whole: error of F, impulse of a projection, momentum of free spinning",
    .source = "cao2023 figures 11 and 12",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(rotation_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
    .free_detail = free_detail,
};
