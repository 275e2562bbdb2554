/* A bar is thrown at a floor and bounces: how far it penetrates, how much of its speed and energy it keeps, and above
 * which speed it does not recover its shape. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/beam.h"

static const char *const poses[] = {"end", "flat", "corner", NULL};
enum { POSE_END, POSE_FLAT, POSE_CORNER };

static const pbd_param params[] = {
    PBD_BEAM_PARAMS("1e5", "100"),
    {"v0", "m/s", PBD_REAL, "2", 0, 1e6, 0, NULL, "down, at the start"},
    {"pose", "", PBD_CHOICE, "end", 0, 0, 0, poses, "what hits the floor: an end, a long side, or a corner"},
    {"gap", "m", PBD_REAL, "0.01", 0, 1e6, 0, NULL, "between the floor and the lowest point at the start"},
    {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"},
    {"friction", "", PBD_REAL, "0", 0, 1e3, 0, NULL, "of the floor, Coulomb's coefficient"},
    {"duration", "s", PBD_REAL, "0.2", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

/* The body counts as collapsed at the end if its shape error (distance of points from the rest shape over that from the
 * centre) is above the first, or the fraction of inverted elements above the second. */
static const double LOST = 0.3, FOLDED = 0.01;

enum { LOOKS = 2 * BODY_LOOKS };

/* Observations of the body at one time. */
typedef struct seen {
    double lowest;      /* m: of its lowest particle; the floor is at 0 */
    double motion;      /* J: kinetic */
    double energy;      /* J: kinetic, elastic and potential; NaN where the law is undefined */
    double velocity[3]; /* of its centre, m/s */
    double fastest;     /* m/s */
    double shape_error;
} seen;

typedef struct bounce_detail {
    double height; /* m, at the start */
    seen first;
    double deepest;        /* m below the floor */
    double down, up;       /* m/s: the centre's largest speeds, down before contact, up after it */
    double fastest;        /* m/s, after first contact */
    double highest_energy; /* J */
    double worst_shape;
    double touched, left; /* s: first observation on the floor; first one off it again. <0: none */
} bounce_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* Rotates about the y axis, then about x: a corner of an axis-aligned box then points down. */
static void turn_onto_corner(double x[3]) {
    const double c = M_SQRT1_2, s = M_SQRT1_2, tilt_c = sqrt(2.0 / 3), tilt_s = sqrt(1.0 / 3);
    const double about_y[3] = {c * x[0] + s * x[2], x[1], -s * x[0] + c * x[2]};
    x[0] = about_y[0];
    x[1] = tilt_c * about_y[1] - tilt_s * about_y[2];
    x[2] = tilt_s * about_y[1] + tilt_c * about_y[2];
}

static void place(int pose, double gap, pbd_scene *scene, double *height) {
    double lowest = INFINITY, highest = -INFINITY;
    if (pose == POSE_END) beam_hang(scene);
    for (size_t i = 0; i < scene->particles.count; i++) {
        double *x = scene->particles.positions + 3 * i;
        if (pose == POSE_CORNER) turn_onto_corner(x);
        lowest = fmin(lowest, x[2]);
        highest = fmax(highest, x[2]);
    }
    for (size_t i = 0; i < scene->particles.count; i++) scene->particles.positions[3 * i + 2] += gap - lowest;
    *height = highest - lowest;
}

static pbd_status add_floor(double friction, pbd_scene *scene) {
    PBD_TRY_NEW(scene->colliders.item, 1);
    scene->colliders.count = 1;
    *scene->colliders.item =
        (pbd_collider){.shape = PBD_PLANE, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .friction = friction};
    return pbd_ok();
}

static seen look_at(const pbd_scene *scene, const double *x, const double *v) {
    seen now = {.lowest = INFINITY, .energy = body_strain_at(scene, x).energy};
    double mass = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double m = scene->particles.masses[i];
        double square = 0;
        for (size_t d = 0; d < 3; d++) {
            square += v[3 * i + d] * v[3 * i + d];
            now.velocity[d] += m * v[3 * i + d];
        }
        now.motion += 0.5 * m * square;
        now.energy += m * (0.5 * square - scene->loads.gravity[2] * x[3 * i + 2]);
        now.lowest = fmin(now.lowest, x[3 * i + 2]);
        if (!(sqrt(square) <= now.fastest)) now.fastest = sqrt(square);
        mass += m;
    }
    for (size_t d = 0; d < 3; d++) now.velocity[d] /= mass;
    now.shape_error = body_shape_error(scene, x);
    return now;
}

static pbd_status fill(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    bounce_detail *detail = setup->detail;
    PBD_TRY_NEW(scene->particles.velocities, 3 * scene->particles.count);
    place(pbd_choice(values, "pose"), pbd_real(values, "gap"), scene, &detail->height);
    for (size_t i = 0; i < scene->particles.count; i++)
        scene->particles.velocities[3 * i + 2] = -pbd_real(values, "v0");
    scene->loads.gravity[2] = -pbd_real(values, "gravity");
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / LOOKS;
    detail->first = look_at(scene, scene->particles.positions, scene->particles.velocities);
    detail->highest_energy = detail->first.energy;
    detail->touched = detail->left = -1;
    return add_floor(pbd_real(values, "friction"), scene);
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    beam_size size;
    PBD_TRY(beam_build(values, scene, &size));
    return fill(values, setup);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* PBD_NOT_SUPPORTED if the method provides no velocities. */
static pbd_status look(const pbd_scene *scene, const pbd_method *method, const void *state, seen *out) {
    double *x, *v;
    PBD_TRY(body_motion(scene, method, state, &x, &v));
    *out = look_at(scene, x, v);
    free(x);
    free(v);
    return pbd_ok();
}

/* Keeps the larger value; NaN counts as larger. */
static void keep(double *most, double x) {
    if (!(x <= *most)) *most = x;
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    bounce_detail *detail = setup->detail;
    seen now;
    const pbd_status status = look(scene, method, state, &now);
    if (status.code != PBD_OK) return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
    const double motion = now.motion;
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "lowest", "value", "m", &now.lowest, 1, 1);
    pbd_series(recorder, "centre_speed", "value", "m/s", &now.velocity[2], 1, 1);
    pbd_series(recorder, "kinetic_energy", "value", "J", &motion, 1, 1);
    pbd_series(recorder, "rest_shape_error", "value", "1", &now.shape_error, 1, 1);
    const bool on_floor = now.lowest <= 1e-6 * scene->extent;
    if (on_floor && detail->touched < 0) detail->touched = time;
    if (!on_floor && detail->touched >= 0 && detail->left < 0) detail->left = time;
    if (detail->touched < 0) {
        keep(&detail->down, -now.velocity[2]);
    } else {
        keep(&detail->up, now.velocity[2]);
        keep(&detail->fastest, now.fastest);
    }
    keep(&detail->deepest, -now.lowest);
    keep(&detail->worst_shape, now.shape_error);
    if (now.energy > detail->highest_energy && isfinite(now.energy)) detail->highest_energy = now.energy;
    return pbd_ok();
}

/* A wave of pressure runs up a slender bar and comes back as one of tension, which lifts it. */
static double wave_time(const pbd_scene *scene, double height) {
    return 2 * height / sqrt(scene->material->E / scene->material->density);
}

static void record_bounce(const pbd_scene *scene, const bounce_detail *detail, pbd_recorder *recorder) {
    pbd_metric(recorder, "largest_speed", "m/s", PBD_STATE, detail->fastest);
    if (detail->left < 0) return; /* it never left the floor again: no rebound */
    const double lasted = detail->left - detail->touched;
    if (detail->down > 0) pbd_metric(recorder, "restitution", "1", PBD_QUALITY, detail->up / detail->down);
    pbd_metric(recorder, "contact_time", "s", PBD_STATE, lasted);
    pbd_metric(recorder, "contact_time_ratio", "1", PBD_STATE, lasted / wave_time(scene, detail->height));
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const bounce_detail *detail = setup->detail;
    seen now;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    const double error = body_shape_error(scene, x);
    pbd_metric(recorder, "rest_shape_error", "1", PBD_ERROR, error);
    const double folded = (double)body_strain_at(scene, x).inverted / (double)scene->tets.count;
    pbd_metric(recorder, "folded_fraction", "1", PBD_ERROR, folded);
    pbd_metric(recorder, "collapsed", "1", PBD_ERROR, !(error <= LOST) || folded > FOLDED);
    body_record_strain(scene, x, recorder);
    body_record_shape(scene, x, recorder);
    const pbd_status status = look(scene, method, state, &now);
    if (status.code != PBD_OK) return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
    pbd_metric(recorder, "largest_shape_error", "1", PBD_STATE, detail->worst_shape);
    pbd_metric(recorder, "deepest_below_floor", "m", PBD_FLAW, fmax(detail->deepest, 0));
    pbd_metric(recorder, "sideways_speed", "m/s", PBD_STATE, hypot(now.velocity[0], now.velocity[1]));
    if (detail->first.energy > 0 && isfinite(now.energy)) {
        pbd_metric(recorder, "energy_loss", "1", PBD_ERROR, 1 - now.energy / detail->first.energy);
        pbd_metric(recorder, "energy_rise", "1", PBD_ERROR, detail->highest_energy / detail->first.energy - 1);
    }
    if (detail->touched >= 0) record_bounce(scene, detail, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_bounce = {
    .name = "bounce",
    .summary = "a bar bounces on a floor: restitution, contact time, and recovery of its shape",
    .source = "cao2023 Figure 13; waves in a slender bar",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(bounce_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
