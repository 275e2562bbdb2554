/* A stiff wheel of von Mises matter is pressed flat between two plates, of which the upper one comes down: does it
 * yield as metal does, or break into pieces as metal would not? */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/granular.h"

static const pbd_param params[] = {
    {"size", "m", PBD_REAL, "0.2", 0, 1e6, PBD_OPEN_MIN, NULL, "outer diameter of the wheel"},
    {"rim", "", PBD_REAL, "0.1", 0.01, 0.5, 0, NULL, "thickness of rim and spokes, over the diameter"},
    {"spokes", "", PBD_INTEGER, "6", 0, 64, 0, NULL, "from the hub to the rim; 0: no hub either"},
    {"width", "", PBD_REAL, "0.25", 0.01, 10, 0, NULL, "along the axle, over the diameter"},
    {"squeeze", "", PBD_REAL, "0.4", 0, 0.95, 0, NULL, "how far the plate comes down, over the diameter"},
    {"speed", "m/s", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "of the plate"},
    {"hold", "s", PBD_REAL, "0.02", 0, 1e6, 0, NULL, "how long it rests then"},
    PBD_SAMPLING_PARAMS("1500"),
    PBD_PARTICLE_MATERIAL_PARAMS("1e7", "0.33", "2700", "hencky"),
    PBD_GRANULAR_FLOOR_PARAMS("0.3"),
    {0}};

typedef struct press_detail {
    sampling particles;
    granular_watch watch;
    double size, squeeze; /* m: diameter; travel of the plate */
    double gap;           /* m: between the plates at the end */
} press_detail;

/* ---- The wheel --------------------------------------------------------------------------------------------------- */

typedef struct wheel {
    double radius, half_rim, half_width; /* m */
    long spokes;
} wheel;

/* In the plane of the wheel, from its middle: to the rim, a ring; to the hub, a disk twice as thick as a spoke; to the
 * nearest spoke, a straight strip from the hub to the rim. */
static double in_plane(const wheel *w, double x, double z) {
    const double r = hypot(x, z), middle = w->radius - w->half_rim;
    const double rim = fabs(r - middle) - w->half_rim;
    if (w->spokes == 0) return rim;
    const double turn = 2 * 3.14159265358979323846 / (double)w->spokes;
    const double off = remainder(atan2(z, x), turn);
    const double along = r * cos(off), across = fabs(r * sin(off));
    const double beyond = fmax(fmax(along - middle, -along), 0);
    const double strip = beyond > 0 ? hypot(beyond, across) - w->half_rim : across - w->half_rim;
    return fmin(rim, fmin(r - 2 * w->half_rim, strip));
}

static double distance(const solid *body, const double x[3]) {
    const wheel *w = body->of;
    const double plane = in_plane(w, x[0], x[2] - w->radius), side = fabs(x[1]) - w->half_width;
    return hypot(fmax(plane, 0), fmax(side, 0)) + fmin(fmax(plane, side), 0);
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status set_plates(const pbd_values *values, const press_detail *detail, pbd_scene *scene) {
    const double speed = pbd_real(values, "speed"), friction = pbd_real(values, "floor_friction");
    const double below[3] = {0, 0, 0}, up[3] = {0, 0, 1}, above[3] = {0, 0, detail->size}, down[3] = {0, 0, -1};
    PBD_TRY(particle_open_colliders(scene, 2));
    particle_add_plane(scene, below, up, friction);
    pbd_collider *plate = particle_add_plane(scene, above, down, friction);
    plate->velocity[2] = -speed;
    plate->end = detail->squeeze / speed;
    if (plate->end > 0) return pbd_ok();
    plate->velocity[2] = 0; /* squeeze=0: end 0 would mean no end */
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    press_detail *detail = setup->detail;
    const double size = pbd_real(values, "size"), speed = pbd_real(values, "speed");
    const wheel w = {0.5 * size, 0.5 * size * pbd_real(values, "rim"), 0.5 * size * pbd_real(values, "width"),
                     pbd_integer(values, "spokes")};
    const solid body = {
        .low = {-w.radius, -w.half_width, 0}, .high = {w.radius, w.half_width, size}, .distance = distance, .of = &w};
    const placement here = placement_at(0, 0, 0);
    detail->size = size;
    detail->squeeze = size * pbd_real(values, "squeeze");
    detail->gap = size - detail->squeeze;
    granular_set_material(values, scene);
    scene->duration = detail->squeeze / speed + pbd_real(values, "hold");
    if (!(scene->duration > 0))
        return pbd_error(PBD_BAD_INPUT, "squeeze=0 and hold=0: nothing would happen; set one of them");
    setup->observe_every = scene->duration / GRANULAR_LOOKS;
    PBD_TRY(granular_fill(values, &body, &here, &detail->particles, scene));
    return set_plates(values, detail, scene);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static pbd_status look_at_pieces(const pbd_scene *scene, const double *x, pieces *out) {
    return granular_pieces(x, scene->particles.count, 1.8 * scene->particles.spacing, scene->particles.count / 100 + 1,
                           out);
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    press_detail *detail = setup->detail;
    pieces parts PBD_CLEANUP(granular_free_pieces) = {0};
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(granular_look(&detail->watch, setup, method, state, x, time, &parts, recorder));
    const double fragments = (double)parts.pieces;
    pbd_series(recorder, "fragments", "value", "1", &fragments, 1, 1);
    return pbd_ok();
}

/* Current height and length of the wheel, and the number of particles beyond the plates. */
static void record_extents(const pbd_setup *setup, const double *x, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const press_detail *detail = setup->detail;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    size_t beyond = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        for (size_t d = 0; d < 3; d++) {
            low[d] = fmin(low[d], x[3 * i + d]);
            high[d] = fmax(high[d], x[3 * i + d]);
        }
        beyond += !(x[3 * i + 2] >= 0 && x[3 * i + 2] <= detail->gap);
    }
    pbd_metric(recorder, "beyond_plates", "1", PBD_FLAW, (double)beyond);
    if (!(high[0] >= low[0])) return;
    pbd_metric(recorder, "length", "1", PBD_STATE, (high[0] - low[0] + scene->particles.spacing) / detail->size);
    pbd_metric(recorder, "height", "1", PBD_STATE, (high[2] - low[2] + scene->particles.spacing) / detail->size);
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const press_detail *detail = setup->detail;
    const double s = detail->size;
    const mass_box box = {{-s, -s, 0}, {s, s, s}, {32, 2, 16}};
    pieces parts PBD_CLEANUP(granular_free_pieces) = {0};
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(look_at_pieces(scene, x, &parts));
    particle_record_sampling(&detail->particles, 1, recorder);
    pbd_metric(recorder, "fragments", "1", PBD_FLAW, (double)parts.pieces);
    pbd_metric(recorder, "crumbs", "1", PBD_FLAW, (double)parts.crumbs);
    pbd_metric(recorder, "largest_fragment", "1", PBD_QUALITY, (double)parts.largest / (double)scene->particles.count);
    record_extents(setup, x, recorder);
    granular_record(&detail->watch, scene, recorder);
    granular_record_mass(scene, x, &box, recorder);
    granular_record_slice(scene, x, recorder);
    body_record_shape(scene, x, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_wheel_press = {
    .name = "wheel_press",
    .summary = "a stiff wheel pressed between two plates: does it yield or break?",
    .source = "yu2024 Figure 11",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=von_mises yield_stress=1e5",
    PARTICLE_DETAIL(press_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
