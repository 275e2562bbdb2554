/* Two blocks of sand fly at each other and fall to the floor: at what distance contact begins, and how evenly their
 * particles are distributed before and after. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/granular.h"

static const pbd_param params[] = {
    {"size", "m", PBD_REAL, "0.1", 0, 1e6, PBD_OPEN_MIN, NULL, "edge of each block, a cube"},
    {"gap", "", PBD_REAL, "6", 0, 1e6, 0, NULL, "between them at the start, in spacings"},
    {"speed", "m/s", PBD_REAL, "1", 0, 1e6, 0, NULL, "of each towards the other"},
    {"offset", "m", PBD_REAL, "0", 0, 1e6, 0, NULL, "by which they miss each other sideways"},
    {"drop", "m", PBD_REAL, "0.02", 0, 1e6, 0, NULL, "from their feet to the floor"},
    {"floor", "", PBD_CHOICE, "on", 0, 0, 0, particle_on_off, "off: none"},
    PBD_SAMPLING_PARAMS("1000"),
    PBD_PARTICLE_MATERIAL_PARAMS("1e5", "0.3", "1600", "hencky"),
    PBD_GRANULAR_FLOOR_PARAMS("0.6"),
    {"duration", "s", PBD_REAL, "0.5", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

/* Contact is felt when a block's mean speed along x has fallen by this share. */
static const double FELT = 0.01;

typedef struct blocks_detail {
    sampling particles;
    granular_watch watch;
    double speed;              /* m/s */
    double felt_at, felt_time; /* m, s: distance of the blocks and time at first contact; NaN before */
    double momentum;           /* m/s: total along x at the start over one block's mass; NaN until observed */
    double drift;              /* m/s: largest change of that */
} blocks_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status set_speeds(const pbd_values *values, pbd_scene *scene) {
    const double speed = pbd_real(values, "speed");
    PBD_TRY_NEW(scene->particles.velocities, 3 * scene->particles.count);
    for (size_t i = 0; i < scene->particles.count; i++)
        scene->particles.velocities[3 * i] = scene->particles.body[i] == 0 ? speed : -speed;
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    blocks_detail *detail = setup->detail;
    const double size = pbd_real(values, "size"), drop = pbd_real(values, "drop"), aside = pbd_real(values, "offset");
    const double low[3] = {-0.5 * size, -0.5 * size, 0}, high[3] = {0.5 * size, 0.5 * size, size};
    const double at[3] = {0, 0, 0}, up[3] = {0, 0, 1};
    const sampling_plan plan = particle_plan(values);
    shapes s = {0};
    shapes_box(&s, low, high);
    const solid body = shapes_solid(&s);
    granular_set_material(values, scene);
    detail->speed = pbd_real(values, "speed");
    detail->felt_at = detail->felt_time = detail->momentum = NAN;
    scene->duration = pbd_real(values, "duration");
    PBD_TRY(sampling_make(&body, &plan, &detail->particles));
    const double apart = 0.5 * (size + pbd_real(values, "gap") * detail->particles.spacing);
    const placement place[2] = {placement_at(-apart, -0.5 * aside, drop), placement_at(apart, 0.5 * aside, drop)};
    PBD_TRY(particle_scene_make(&detail->particles, 2, place, scene));
    /* Ten observations while they approach by one spacing, but at most 500 in all. */
    setup->observe_every =
        fmin(scene->duration / GRANULAR_LOOKS, 0.1 * scene->particles.spacing / fmax(2 * detail->speed, 1e-300));
    setup->observe_every = fmax(setup->observe_every, scene->duration / 500);
    PBD_TRY(set_speeds(values, scene));
    PBD_TRY(granular_set_radii(values, &detail->particles, scene));
    if (!pbd_choice(values, "floor")) return pbd_ok();
    PBD_TRY(particle_open_colliders(scene, 1));
    particle_add_plane(scene, at, up, pbd_real(values, "floor_friction"));
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* The least distance of the two blocks, m, by their extents along x: they face each other as they fly. */
static double gap_between(const pbd_scene *scene, const double *x) {
    double left = -INFINITY, right = INFINITY;
    for (size_t i = 0; i < scene->particles.count; i++) {
        if (scene->particles.body[i] == 0)
            left = fmax(left, x[3 * i]);
        else
            right = fmin(right, x[3 * i]);
    }
    return right - left;
}

/* Mean velocities of the two along x. Equal masses: the mean over the particles is that over the mass. */
static pbd_status mean_speeds(const pbd_scene *scene, const pbd_method *method, const void *state, double out[2]) {
    pbd_arena a PBD_ARENA;
    double *v = pbd_new(&a, double, 3 * scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(method->read(state, PBD_VELOCITIES, v));
    out[0] = out[1] = 0;
    for (size_t i = 0; i < scene->particles.count; i++)
        out[scene->particles.body[i]] += v[3 * i] / (0.5 * (double)scene->particles.count);
    return pbd_ok();
}

static void feel(blocks_detail *detail, const double speeds[2], double gap, double time) {
    const double change = fmax(detail->speed - speeds[0], detail->speed + speeds[1]);
    const double total = speeds[0] + speeds[1];
    if (isnan(detail->momentum)) detail->momentum = total;
    detail->drift = fmax(detail->drift, fabs(total - detail->momentum));
    if (!isnan(detail->felt_at) || !(change > FELT * detail->speed)) return;
    detail->felt_at = gap;
    detail->felt_time = time;
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    blocks_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double speeds[2];
    PBD_TRY(body_positions(scene, method, state, &x));
    const double gap = gap_between(scene, x) / scene->particles.spacing;
    pbd_status status = granular_look(&detail->watch, setup, method, state, x, time, NULL, recorder);
    PBD_TRY(status);
    pbd_series(recorder, "gap", "value", "1", &gap, 1, 1);
    status = mean_speeds(scene, method, state, speeds);
    if (status.code == PBD_NOT_SUPPORTED) return pbd_ok();
    feel(detail, speeds, gap * scene->particles.spacing, time);
    pbd_series(recorder, "closing_speed", "value", "m/s", &(double){speeds[0] - speeds[1]}, 1, 1);
    return status;
}

static void record_contact(const pbd_setup *setup, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const blocks_detail *detail = setup->detail;
    if (!(detail->speed > 0)) return;
    pbd_metric(recorder, "momentum_drift", "1", PBD_ERROR, detail->drift / detail->speed);
    if (isnan(detail->felt_at)) return;
    pbd_metric(recorder, "contact_distance", "1", PBD_STATE, detail->felt_at / scene->particles.spacing);
    pbd_metric(recorder, "contact_time", "s", PBD_STATE, detail->felt_time);
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const blocks_detail *detail = setup->detail;
    const double size = cbrt((double)detail->particles.count) * scene->particles.spacing;
    const mass_box box = {{-2 * size, -2 * size, 0}, {2 * size, 2 * size, size}, {16, 16, 8}};
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double speeds[2];
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_record_sampling(&detail->particles, 2, recorder);
    granular_record(&detail->watch, scene, recorder);
    granular_record_mass(scene, x, &box, recorder);
    granular_record_slice(scene, x, recorder);
    body_record_shape(scene, x, recorder);
    record_contact(setup, recorder);
    const pbd_status status = mean_speeds(scene, method, state, speeds);
    if (status.code == PBD_OK && detail->speed > 0)
        pbd_metric(recorder, "restitution", "1", PBD_STATE, (speeds[1] - speeds[0]) / (2 * detail->speed));
    return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
}

const pbd_case pbd_case_blocks_collide = {
    .name = "blocks_collide",
    .summary = "two blocks of sand collide: distance at contact, and how evenly their particles lie",
    .source = "yu2024 Figure 13",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=drucker_prager",
    PARTICLE_DETAIL(blocks_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
