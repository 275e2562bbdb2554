/* A bar of square section, clamped at x = 0, that bends under its own weight: the case on which solid methods are
 * judged.
 *
 * Gravity is a dead load along -z. Every degree of freedom at x = 0 is held, so that the root cannot contract: at nu =
 * 0.3 the exact tip lies 1 to 2 % under Timoshenko's, at nu = 0 they agree. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#include "cantilever_reference.h" /* made from reference.csv */
#include "cases/scenes/beam.h"
#include "cases/scenes/reference.h"
#include "methods/physics/parts/step_function.h"

static const char *const modes[] = {"static", "dynamic", NULL}, *const switches[] = {"off", "on", NULL};

static const pbd_param params[] = {
    PBD_BEAM_PARAMS("1e5", "100"),
    PBD_BEAM_SAMPLING_PARAMS,
    {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"},
    {"mode", "", PBD_CHOICE, "static", 0, 0, 0, modes,
     "static: the method solves for rest; dynamic: it moves until the tip is at rest"},
    {"settle_tolerance", "", PBD_REAL, "1e-6", 0, 1, PBD_OPEN_MIN, NULL,
     "mode=dynamic, duration=0: at rest when the tip moves less than this, relative to its deflection, in 200 steps"},
    {"max_steps", "", PBD_INTEGER, "200000", 1, 1e9, 0, NULL,
     "mode=dynamic, duration=0: largest number of steps, then not_settled"},
    {"duration", "s", PBD_REAL, "0", 0, 1e6, 0, NULL, "mode=dynamic: simulated time; 0: until the tip is at rest"},
    {"same_mesh", "", PBD_CHOICE, "off", 0, 0, 0, switches,
     "on: also compares the tip with that of the same tetrahedra, masses and law at rest, by Newton's method"},
    {0}};

enum { SETTLE_WINDOW = 200 };

typedef struct cantilever_detail {
    beam_probe tip;
    double timoshenko;     /* m, of small deflections; 0 without gravity */
    fem_reference tip_fem; /* of reference.csv, m */
    bool same_mesh;
    double sum, weight; /* for the mean deflection of the tip, m, by a Hann window over the duration */
    double period;      /* s, of the slender bar's first mode */
} cantilever_detail;

/* Self-weight q = density g A: bending q L^4 / (8 E I), and shear q L^2 / (2 kappa A G) with Cowper's kappa of a
 * rectangle, 10 (1 + nu) / (12 + 11 nu) (Cowper 1966). */
static double timoshenko_tip(const pbd_material *m, const beam_size *size, double gravity) {
    const double area = size->width * size->width, second = area * area / 12, q = m->density * gravity * area;
    const double length2 = size->length * size->length, kappa = 10 * (1 + m->nu) / (12 + 11 * m->nu);
    return q * length2 * length2 / (8 * m->E * second) + q * length2 / (2 * kappa * area * m->E / (2 * (1 + m->nu)));
}

static pbd_status look_up_reference(const pbd_values *values, fem_reference *out) {
    static const char *const keys[] = {"E", "nu", "density", "length", "width", "gravity", "material", NULL};
    return fem_reference_find(pbd_cantilever_reference, "cases/cantilever/reference.csv", keys, "tip_deflection",
                              values, out);
}

static pbd_status watch_tip(const pbd_values *values, const beam_probe *tip, pbd_setup *setup) {
    setup->settle = (pbd_settle){.tolerance = pbd_real(values, "settle_tolerance"),
                                 .window = SETTLE_WINDOW,
                                 .most_steps = pbd_integer(values, "max_steps")};
    PBD_TRY_NEW(setup->settle.watch, BEAM_PROBED);
    setup->settle.watched = (size_t)tip->count;
    memcpy(setup->settle.watch, tip->particle, sizeof tip->particle);
    return pbd_ok();
}

/* Euler-Bernoulli's first mode of a square section: omega = 1.8751^2 / L^2 sqrt(E w^2 / (12 density)). */
static double slender_period(const pbd_material *m, const beam_size *size) {
    static const double PI = 3.14159265358979323846, MODE = 1.8751040687119611;
    const double length2 = size->length * size->length;
    return 2 * PI * length2 / (MODE * MODE * sqrt(m->E * size->width * size->width / (12 * m->density)));
}

static pbd_status fill(const pbd_values *values, const beam_size *size, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    cantilever_detail *detail = setup->detail;
    const double gravity = pbd_real(values, "gravity");
    PBD_TRY(beam_find_tip(scene, size, &detail->tip));
    detail->timoshenko = timoshenko_tip(scene->material, size, gravity);
    detail->same_mesh = pbd_choice(values, "same_mesh") == 1;
    detail->period = slender_period(scene->material, size);
    if (detail->same_mesh && (scene->tets.count == 0 || !(gravity > 0)))
        return pbd_error(PBD_BAD_INPUT,
                         "same_mesh=on needs tetrahedra and gravity: set sampling=lattice or jitter, and "
                         "gravity above 0");
    scene->loads.gravity[2] = -gravity;
    PBD_TRY(look_up_reference(values, &detail->tip_fem));
    const double duration = pbd_real(values, "duration");
    const bool moves = pbd_choice(values, "mode") == 1;
    if (duration > 0 && !moves)
        return pbd_error(PBD_BAD_INPUT, "duration=%g s requires motion: set mode=dynamic too", duration);
    scene->duration = duration;
    setup->observe_every = duration / BODY_LOOKS;
    if (moves && !(duration > 0)) PBD_TRY(watch_tip(values, &detail->tip, setup));
    return beam_hold_root(scene, size);
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    beam_size size;
    PBD_TRY(beam_build_sampled(values, false, scene, &size));
    return fill(values, &size, setup);
}

/* Adds to the mean about which an undamped bar swings: the window (1 - cos(2 pi t/T))/2 leaves 1e-3 of an oscillation
 * of six periods. */
static void add_to_mean(const pbd_setup *setup, double time, double sunk) {
    static const double PI = 3.14159265358979323846;
    cantilever_detail *detail = setup->detail;
    const double w = 0.5 * (1 - cos(2 * PI * time / setup->scene.duration));
    detail->sum += w * sunk;
    detail->weight += w;
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const cantilever_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double tip[3], rest[3];
    PBD_TRY(body_positions(scene, method, state, &x));
    beam_tip(&detail->tip, x, tip);
    beam_tip(&detail->tip, scene->particles.positions, rest);
    const double sunk = rest[2] - tip[2];
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "tip", "value", "m", &sunk, 1, 1);
    if (setup->scene.duration > 0) add_to_mean(setup, time, sunk);
    return pbd_ok();
}

/* Equilibrium of the scene's own tetrahedra with its own masses and law, by implicit Euler from the undeformed state:
 * steps of ten periods of the slowest mode, each solved to the minimiser of its function (step_function.h). A step
 * reduces the distance from equilibrium to less than 1/(1 + (20 pi)^2) of it; after eight it is below rounding. *sunk:
 * deflection of the tip, m. */
static pbd_status find_rest(const pbd_scene *scene, const cantilever_detail *detail, double *sunk) {
    enum { RESTS = 8 };
    pbd_arena a PBD_ARENA;
    step_function f PBD_CLEANUP(step_function_free) = {0};
    double tip[3], rest[3];
    double *x = pbd_new(&a, double, 3 * scene->particles.count),
           *still = pbd_new(&a, double, 3 * scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(step_function_create(scene, &f));
    memcpy(x, scene->particles.positions, 3 * scene->particles.count * sizeof *x);
    for (int i = 0; i < RESTS; i++) {
        step_function_begin(&f, 10 * detail->period, x, still, scene->loads.gravity, NULL);
        PBD_TRY(step_function_minimise(&f, x, NULL));
    }
    beam_tip(&detail->tip, x, tip);
    beam_tip(&detail->tip, scene->particles.positions, rest);
    *sunk = rest[2] - tip[2];
    return pbd_ok();
}

/* If that mesh has no equilibrium there is nothing to compare with, which is a warning. */
static pbd_status compare_with_same_mesh(const pbd_scene *scene, const cantilever_detail *detail, double sunk,
                                         pbd_recorder *recorder) {
    double answer = 0;
    const pbd_status status = find_rest(scene, detail, &answer);
    if (status.code == PBD_FAILED) return status;
    if (status.code != PBD_OK || !(answer > 0)) {
        pbd_warning(recorder, "no_same_mesh_answer", "the same tetrahedra have no answer at rest: %.300s", status.text);
        return pbd_ok();
    }
    pbd_metric(recorder, "same_mesh_tip", "m", PBD_STATE, answer);
    pbd_metric(recorder, "same_mesh_ratio", "1", PBD_STATE, sunk / answer);
    pbd_metric(recorder, "same_mesh_error", "1", PBD_ERROR, fabs(sunk / answer - 1));
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const cantilever_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double tip[3], rest[3];
    PBD_TRY(body_positions(scene, method, state, &x));
    beam_tip(&detail->tip, x, tip);
    beam_tip(&detail->tip, scene->particles.positions, rest);
    pbd_metric(recorder, "tip_deflection", "m", PBD_STATE, rest[2] - tip[2]);
    pbd_metric(recorder, "tip_shortening", "m", PBD_STATE, rest[0] - tip[0]);
    if (scene->tets.count > 0) pbd_metric(recorder, "rms_strain", "1", PBD_STATE, beam_rms_strain(scene, x));
    if (detail->timoshenko > 0)
        pbd_metric(recorder, "timoshenko_ratio", "1", PBD_STATE, (rest[2] - tip[2]) / detail->timoshenko);
    if (detail->tip_fem.value > 0) {
        pbd_metric(recorder, "tip_ratio", "1", PBD_STATE, (rest[2] - tip[2]) / detail->tip_fem.value);
        pbd_metric(recorder, "tip_ratio_uncertainty", "1", PBD_STATE, detail->tip_fem.uncertainty);
    }
    const double sunk = detail->weight > 0 ? detail->sum / detail->weight : rest[2] - tip[2];
    return detail->same_mesh ? compare_with_same_mesh(scene, detail, sunk, recorder) : pbd_ok();
}

const pbd_case pbd_case_cantilever = {
    .name = "cantilever",
    .summary = "a clamped bar that bends under its own weight, against FEM and Timoshenko's beam",
    .source = "Timoshenko 1921, Cowper 1966",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(cantilever_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
