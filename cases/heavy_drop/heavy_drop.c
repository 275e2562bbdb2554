/* A plate, held at two sides, that heavy objects press down for a time: afterwards an elastic one is flat again, a
 * plastic one stays bent.
 *
 * The objects are either weights only, forces on patches of the upper face that end when the objects are removed, so
 * that no contact is needed; or rigid balls, one particle each, that fall onto the plate. The plate itself has no
 * weight, so that the deflection left at the end is plastic. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/beam.h"
#include "cases/scenes/loaded.h"
#include "methods/physics/parts/surface_load.h"

static const char *const loadings[] = {"weights", "falling", NULL};
enum { LOAD_WEIGHTS, LOAD_FALLING };

static const pbd_param params[] = {
    PBD_BOX_PARAMS("2000", "0.4", "100", "stvk", "1", "0.6", "8"),
    {"thickness", "m", PBD_REAL, "0.15", 0, 1e6, PBD_OPEN_MIN, NULL, "of the plate"},
    {"yield_strain", "", PBD_REAL, "0", 0, 1e6, 0, NULL, "norm of elastic Green strain where flow begins; 0: elastic"},
    {"creep", "1/s", PBD_REAL, "10", 0, 1e9, 0, NULL,
     "yield_strain>0: rate at which the excess becomes plastic strain"},
    {"objects", "", PBD_INTEGER, "3", 1, 100, 0, NULL, "evenly along the middle line of the plate"},
    {"object_mass", "kg", PBD_REAL, "0.2", 0, 1e9, 0, NULL, "of each"},
    {"object_radius", "m", PBD_REAL, "0.08", 0, 1e6, PBD_OPEN_MIN, NULL, "of each loaded patch, or of each ball"},
    {"loading", "", PBD_CHOICE, "weights", 0, 0, 0, loadings,
     "objects are forces on the plate, or balls that fall onto it and bounce"},
    {"drop_height", "m", PBD_REAL, "0.05", 0, 1e6, 0, NULL, "loading=falling: between the balls and the plate"},
    {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "on the objects, along -z"},
    {"load_time", "s", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "when the objects are removed: they weigh nothing"},
    {"duration", "s", PBD_REAL, "4", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct drop_detail {
    beam_size size;
    size_t plate;        /* particles of the plate, which come first; balls follow */
    double largest;      /* m, deflection observed */
    double lowest, rise; /* m: lowest mean height of the balls; largest rise from it while they had weight */
} drop_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* 1 at the corners of the upper face within `radius` of (x, 0), or at the nearest one alone, else 0. Those of held
 * particles: 0. */
static void mark_patch(const beam_size *size, const pbd_scene *scene, double x, double radius, double *mark) {
    size_t nearest = 0;
    double least = INFINITY;
    for (size_t p = 0; p < scene->particles.count; p++) mark[p] = 0;
    for (int i = 1; i < size->along; i++)
        for (int j = 0; j <= size->across; j++) {
            const size_t p = beam_particle(size, i, j, size->deep);
            const double off = hypot(scene->particles.positions[3 * p] - x, scene->particles.positions[3 * p + 1]);
            mark[p] = off <= radius;
            if (off < least) least = off, nearest = p;
        }
    mark[nearest] = 1;
}

/* Adds a pressure of `weight` in all, in proportion to `mark`, which is interpolated between corners. */
static void press(const pbd_scene *scene, int corners, const double *mark, double weight) {
    const pbd_loaded *faces = surface_load_pieces(scene, corners);
    const size_t wide = (size_t)corners;
    double x[SURFACE_MOST_CORNERS][3], share[SURFACE_MOST_CORNERS], total = 0;
    for (size_t f = 0; f < faces->count; f++) {
        surface_load_corners(scene, corners, f, x);
        surface_load_shares(corners, x, share);
        for (size_t c = 0; c < wide; c++) total += mark[faces->corner[wide * f + c]] * share[c];
    }
    for (size_t k = 0; k < wide * faces->count; k++)
        faces->density[3 * k + 2] -= weight * mark[faces->corner[k]] / total;
}

/* The objects' weights as pressure on patches of the upper face. */
static pbd_status press_objects(const pbd_values *values, const beam_size *size, pbd_scene *scene) {
    const long objects = pbd_integer(values, "objects");
    const double weight = pbd_real(values, "object_mass") * pbd_real(values, "gravity");
    pbd_arena a PBD_ARENA;
    double *mark = pbd_new(&a, double, scene->particles.count);
    bool *upper = pbd_new(&a, bool, scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    for (int i = 0; i <= size->along; i++)
        for (int j = 0; j <= size->across; j++) upper[beam_particle(size, i, j, size->deep)] = true;
    PBD_TRY(loaded_list(scene, upper));
    for (long n = 0; n < objects; n++) {
        const double x = size->length * (double)(n + 1) / (double)(objects + 1);
        mark_patch(size, scene, x, pbd_real(values, "object_radius"), mark);
        for (int corners = 3; corners <= 4; corners++) press(scene, corners, mark, weight);
    }
    loaded_apply(scene);
    return pbd_ok();
}

static pbd_status grow(void *array, size_t bytes) {
    void **held = array, *grown = realloc(*held, bytes);
    if (!grown) return pbd_no_memory();
    *held = grown;
    return pbd_ok();
}

/* Makes room for `balls` more particles and for the contact data of all. */
static pbd_status make_room(long balls, pbd_scene *scene) {
    const size_t n = scene->particles.count + (size_t)balls;
    PBD_TRY(grow(&scene->particles.positions, 3 * n * sizeof *scene->particles.positions));
    PBD_TRY(grow(&scene->loads.forces, 3 * n * sizeof *scene->loads.forces));
    PBD_TRY(grow(&scene->particles.masses, n * sizeof *scene->particles.masses));
    PBD_TRY_NEW(scene->particles.body, n);
    PBD_TRY_NEW(scene->contact.radius, n);
    return pbd_ok();
}

/* Rigid balls, one particle each, above the middle line of the plate: they interact through contact alone. The plate's
 * own particles have half their spacing as radius. */
static pbd_status drop_balls(const pbd_values *values, const beam_size *size, pbd_scene *scene) {
    const long balls = pbd_integer(values, "objects");
    const double radius = pbd_real(values, "object_radius"), mass = pbd_real(values, "object_mass");
    const double node = 0.5 * scene->particles.spacing, apart = size->length / (double)(balls + 1);
    const size_t plate = scene->particles.count;
    if (!(mass > 0))
        return pbd_error(PBD_BAD_INPUT, "object_mass=%g: loading=falling needs balls of a mass above 0", mass);
    if (balls > 1 && apart < 2 * radius)
        return pbd_error(PBD_BAD_INPUT,
                         "objects=%ld balls of object_radius=%g m on length=%g m are %g m apart and overlap: use fewer "
                         "or smaller ones",
                         balls, radius, size->length, apart);
    PBD_TRY(make_room(balls, scene));
    for (size_t i = 0; i < plate; i++) scene->contact.radius[i] = node;
    for (size_t n = 0; n < (size_t)balls; n++) {
        const size_t i = plate + n;
        const double x[3] = {apart * (double)(n + 1), 0,
                             0.5 * size->thickness + node + radius + pbd_real(values, "drop_height")};
        for (size_t d = 0; d < 3; d++) {
            scene->particles.positions[3 * i + d] = x[d];
            scene->loads.forces[3 * i + d] = d == 2 ? -mass * pbd_real(values, "gravity") : 0;
        }
        scene->particles.masses[i] = mass;
        scene->particles.body[i] = (uint32_t)(n + 1);
        scene->contact.radius[i] = radius;
    }
    scene->contact.between_bodies = true;
    scene->particles.bodies = (size_t)balls + 1;
    scene->particles.count += (size_t)balls;
    return pbd_ok();
}

static pbd_status fill(const pbd_values *values, const beam_size *size, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    drop_detail *detail = setup->detail;
    *detail = (drop_detail){.size = *size, .plate = scene->particles.count, .lowest = INFINITY};
    if (size->along < 2)
        return pbd_error(PBD_BAD_INPUT,
                         "a plate of length=%g and width=%g with cells=%d is one cube long and completely fixed: use "
                         "more cells, or a longer plate",
                         size->length, size->width, size->across);
    scene->material->yield_strain = pbd_real(values, "yield_strain");
    scene->material->creep = pbd_real(values, "creep");
    scene->duration = pbd_real(values, "duration");
    scene->loads.forces_end = pbd_real(values, "load_time");
    setup->observe_every = scene->duration / BODY_LOOKS;
    if (!(scene->loads.forces_end < scene->duration))
        return pbd_error(PBD_BAD_INPUT,
                         "load_time=%g is not below duration=%g: the objects must be removed before the end",
                         scene->loads.forces_end, scene->duration);
    PBD_TRY(beam_hold_ends(scene, size));
    if (pbd_choice(values, "loading") == LOAD_FALLING) return drop_balls(values, size, scene);
    return press_objects(values, size, scene);
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    beam_size size;
    PBD_TRY(beam_build_plate(values, pbd_real(values, "thickness"), scene, &size));
    return fill(values, &size, setup);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Deflection of the middle of the plate, m: mean over the layer nearest to the middle of the span. */
static double deflection(const pbd_setup *setup, const double *x) {
    const pbd_scene *scene = &setup->scene;
    const drop_detail *detail = setup->detail;
    double now[3], rest[3];
    beam_layer_mean(&detail->size, x, detail->size.along / 2, now);
    beam_layer_mean(&detail->size, scene->particles.positions, detail->size.along / 2, rest);
    return rest[2] - now[2];
}

/* The plate alone: its particles and elements come first. */
static pbd_scene plate_of(const pbd_setup *setup) {
    const pbd_scene *scene = &setup->scene;
    const drop_detail *detail = setup->detail;
    pbd_scene plate = *scene;
    plate.particles.count = detail->plate;
    return plate;
}

/* The balls' mean height, m; NaN without any. */
static double ball_height(const pbd_setup *setup, const double *x) {
    const pbd_scene *scene = &setup->scene;
    const drop_detail *detail = setup->detail;
    const double balls = (double)(scene->particles.count - detail->plate);
    double sum = 0;
    for (size_t i = detail->plate; i < scene->particles.count; i++) sum += x[3 * i + 2];
    return sum / balls;
}

static void watch_balls(const pbd_setup *setup, const double *x, double time, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    drop_detail *detail = setup->detail;
    const double height = ball_height(setup, x);
    if (scene->particles.count == detail->plate) return;
    detail->lowest = fmin(detail->lowest, height);
    if (time <= scene->loads.forces_end) detail->rise = fmax(detail->rise, height - detail->lowest);
    pbd_series(recorder, "ball_height", "value", "m", &height, 1, 1);
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    drop_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    const pbd_scene plate = plate_of(setup);
    const double down = deflection(setup, x), error = body_shape_error(&plate, x);
    watch_balls(setup, x, time, recorder);
    if (!(fabs(down) <= detail->largest)) detail->largest = fabs(down);
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "deflection", "value", "m", &down, 1, 1);
    pbd_series(recorder, "rest_shape_error", "value", "1", &error, 1, 1);
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const drop_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    const pbd_scene plate = plate_of(setup);
    const double down = deflection(setup, x);
    pbd_metric(recorder, "rest_shape_error", "1", PBD_STATE, body_shape_error(&plate, x));
    pbd_metric(recorder, "residual_deflection", "m", PBD_STATE, down);
    if (detail->largest > 0) {
        pbd_metric(recorder, "largest_deflection", "m", PBD_STATE, detail->largest);
        pbd_metric(recorder, "kept_deflection", "1", PBD_STATE, down / detail->largest);
    }
    if (scene->particles.count > detail->plate) pbd_metric(recorder, "ball_rise", "m", PBD_STATE, detail->rise);
    body_record_shape(&plate, x, recorder);
    /* The tetrahedra's strain_energy would be that of an elastic body. */
    const body_strain strain = body_strain_at(&plate, x);
    pbd_metric(recorder, "smallest_det_F_of_tets", "1", PBD_QUALITY, strain.smallest_det_F);
    pbd_metric(recorder, "inverted_tets", "1", PBD_FLAW, (double)strain.inverted);
    return pbd_ok();
}

const pbd_case pbd_case_heavy_drop = {
    .name = "heavy_drop",
    .summary = "a plate pressed by heavy objects for a time: elastic plates recover, plastic ones stay bent",
    .source = "cao2023 Figure 7",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(drop_detail),
    .numbers = sizeof(drop_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
