/* A cube of particles with negligible stiffness is stretched, sheared or rotated by its initial velocities: F is known
 * at any time, which shows how a method handles gradients, shifts and velocities that are inconsistent.
 *
 * With v = A X at the start and no force, F = I + t A. `noise` adds random velocities, for which F from positions is
 * the reference (kernel_checks.h); the other numbers of that file are those of the start. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/scenes/granular.h"
#include "cases/scenes/kernel_checks.h"
#include "harness/exec/arena.h"

static const char *const motions[] = {"shear", "stretch", "turn", NULL};
/* A in units of `rate`, row by row. */
static const double pattern[][9] = {
    {0, 0, 1, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, -0.5, 0, 0, 0, -0.5}, {0, -1, 0, 1, 0, 0, 0, 0, 0}};

static const pbd_param params[] = {
    {"size", "m", PBD_REAL, "0.1", 0, 1e6, PBD_OPEN_MIN, NULL, "edge of the cube"},
    {"motion", "", PBD_CHOICE, "shear", 0, 0, 0, motions, "v_x = rate z; pulled along x; about z"},
    {"rate", "1/s", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "of it"},
    {"noise", "", PBD_REAL, "0", 0, 100, 0, NULL, "velocities added at random, at most this times rate x spacing"},
    {"jitter", "", PBD_REAL, "0.2", 0, 0.4, 0, NULL, "random offset of each along each axis, in spacings"},
    PBD_SEEDED_SAMPLING_PARAMS("1000", "sampling=poisson or jitter>0 or noise>0"),
    PBD_PARTICLE_MATERIAL_PARAMS("1e-6", "0.3", "1000", "hencky"),
    {"duration", "s", PBD_REAL, "0.5", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct affine_detail {
    sampling particles;
    double rate, A[9]; /* 1/s */
    double duration;   /* s */
} affine_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status set_velocities(const pbd_values *values, const affine_detail *detail, pbd_scene *scene) {
    const double most = pbd_real(values, "noise") * detail->rate * scene->particles.spacing;
    uint64_t seed = (uint64_t)pbd_integer(values, "seed") + 77;
    PBD_TRY_NEW(scene->particles.velocities, 3 * scene->particles.count);
    for (size_t k = 0; k < 3 * scene->particles.count; k++) {
        const double *x = scene->particles.positions + k / 3 * 3, *row = detail->A + 3 * (k % 3);
        scene->particles.velocities[k] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
        if (most > 0) scene->particles.velocities[k] += most * body_noise(&seed);
    }
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    affine_detail *detail = setup->detail;
    const double half = 0.5 * pbd_real(values, "size");
    const double low[3] = {-half, -half, -half}, high[3] = {half, half, half};
    const placement here = placement_at(0, 0, 0);
    const sampling_plan plan = particle_plan(values);
    uint64_t seed = (uint64_t)pbd_integer(values, "seed") + 1;
    shapes s = {0};
    shapes_box(&s, low, high);
    const solid body = shapes_solid(&s);
    detail->rate = pbd_real(values, "rate");
    for (int k = 0; k < 9; k++) detail->A[k] = detail->rate * pattern[pbd_choice(values, "motion")][k];
    scene->material[0] = particle_material(values);
    scene->duration = detail->duration = pbd_real(values, "duration");
    PBD_TRY(sampling_make(&body, &plan, &detail->particles));
    const double off = pbd_real(values, "jitter") * detail->particles.spacing;
    for (size_t k = 0; k < 3 * detail->particles.count && off > 0; k++)
        detail->particles.position[k] += off * body_noise(&seed);
    PBD_TRY(particle_scene_make(&detail->particles, 1, &here, scene));
    return set_velocities(values, detail, scene);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Root mean square over the particles of |a - b|; b NULL: I. */
static double distance_of(const double *a, const double *b, size_t particles) {
    double off = 0;
    for (size_t k = 0; k < 9 * particles; k++) off += pow(a[k] - (b ? b[k] : k % 9 % 4 == 0), 2);
    return sqrt(off / (double)particles);
}

static void tell(pbd_recorder *recorder, const char *name, double value) {
    if (isfinite(value)) pbd_metric(recorder, name, "1", PBD_ERROR, value);
}

/* Distance of the method's F from the exact one, over the distance of that from I; and from F by the positions of the
 * method's own particles, which is a strain. */
static pbd_status record_gradients(const pbd_setup *setup, const pbd_method *method, const void *state,
                                   pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const affine_detail *detail = setup->detail;
    const size_t n = scene->particles.count;
    pbd_arena arena PBD_ARENA;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double *told = pbd_new(&arena, double, 9 * n), *exact = pbd_new(&arena, double, 9 * n),
           *placed = pbd_new(&arena, double, 9 * n);
    PBD_TRY(pbd_arena_check(&arena));
    for (size_t k = 0; k < 9 * n; k++) exact[k] = (k % 9 % 4 == 0) + detail->duration * detail->A[k % 9];
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(kernel_gradients(scene, scene->particles.spacing, x, placed));
    const double size = distance_of(exact, NULL, n);
    tell(recorder, "place_error", distance_of(placed, exact, n) / size);
    const pbd_status status = method->read(state, PBD_DEFORMATION_GRADIENTS, told);
    if (status.code == PBD_NOT_SUPPORTED) return pbd_ok();
    PBD_TRY(status);
    tell(recorder, "gradient_error", distance_of(told, exact, n) / size);
    tell(recorder, "gradient_drift", distance_of(told, placed, n));
    return pbd_ok();
}

static pbd_status record_conflicts(const pbd_scene *scene, pbd_recorder *recorder) {
    static const struct {
        const char *name;
        double cell;
        int period;
    } colours[] = {{"conflicts_8_of_2r", 2, 2}, {"conflicts_8_of_4r", 4, 2}, {"conflicts_27_of_2r", 2, 3}};
    for (size_t k = 0; k < sizeof colours / sizeof *colours; k++) {
        double share;
        PBD_TRY(kernel_conflicts(scene, scene->particles.spacing, colours[k].cell, colours[k].period, &share));
        tell(recorder, colours[k].name, share);
    }
    return pbd_ok();
}

/* After a strain of a tenth, in one step. */
static pbd_status record_derivatives(const pbd_setup *setup, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const affine_detail *detail = setup->detail;
    kernel_derivatives d;
    PBD_TRY(
        kernel_differences(scene, scene->particles.spacing, scene->particles.velocities, 0.1 / detail->rate, 20, &d));
    tell(recorder, "derivative_error", d.fixed);
    tell(recorder, "derivative_error_moving_kernels", d.moving);
    tell(recorder, "moving_kernels_change", d.change);
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const affine_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    evenness now;
    particle_record_sampling(&detail->particles, 1, recorder);
    PBD_TRY(record_gradients(setup, method, state, recorder));
    PBD_TRY(record_conflicts(scene, recorder));
    PBD_TRY(record_derivatives(setup, recorder));
    PBD_TRY(body_positions(scene, method, state, &x));
    const pbd_status status = granular_evenness(scene, x, &now);
    if (status.code == PBD_OK && isfinite(now.mean)) {
        pbd_metric(recorder, "nn_mean", "1", PBD_STATE, now.mean);
        pbd_metric(recorder, "nn_std", "1", PBD_FLAW, now.deviation);
        pbd_metric(recorder, "nn_least", "1", PBD_QUALITY, now.least);
    }
    body_record_shape(scene, x, recorder);
    return status;
}

const pbd_case pbd_case_affine_flow = {
    .name = "affine_flow",
    .summary =
        "a cube of particles in a prescribed affine flow (shear, stretch, rotation): exactness of F, colours, "
        "derivatives",
    .source = "yu2024 Eqs. 8 to 13, 22; kinematics",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    PARTICLE_DETAIL(affine_detail),
    .build = build,
    .measure = measure,
};
