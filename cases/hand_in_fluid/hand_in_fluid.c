/* A hand dips into a basin of viscous fluid and sweeps through it: what it stirs, and whether the fluid stays out of
 * it.
 *
 * The hand is a palm, four fingers that point down and a thumb, each a capsule; all move together, from above one end
 * of the basin slantwise down towards the other. The paper's is tracked by a headset; this one is prescribed. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/granular.h"

static const pbd_param params[] = {
    {"length", "m", PBD_REAL, "0.2", 0, 1e6, PBD_OPEN_MIN, NULL, "of the basin, along x"},
    {"width", "m", PBD_REAL, "0.12", 0, 1e6, PBD_OPEN_MIN, NULL, "of the basin"},
    {"depth", "m", PBD_REAL, "0.05", 0, 1e6, PBD_OPEN_MIN, NULL, "of the fluid"},
    {"hand", "m", PBD_REAL, "0.064", 0, 1e6, PBD_OPEN_MIN, NULL, "width of the palm: four fingers side by side"},
    {"dip", "m", PBD_REAL, "0.035", 0, 1e6, 0, NULL, "depth of the finger tips below the surface"},
    {"sweep", "m", PBD_REAL, "0.12", 0, 1e6, 0, NULL, "travel of the hand along x"},
    {"speed", "m/s", PBD_REAL, "0.3", 0, 1e6, PBD_OPEN_MIN, NULL, "of the hand along x"},
    PBD_SAMPLING_PARAMS("2000"),
    PBD_PARTICLE_MATERIAL_PARAMS("2250", "0.125", "100", "hencky"),
    PBD_GRANULAR_FLOOR_PARAMS("0.3"),
    {"duration", "s", PBD_REAL, "0.5", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

enum { FINGERS = 4, HAND = FINGERS + 2, WALLS = 5 };

typedef struct hand_detail {
    sampling particles;
    granular_watch watch;
    double deepest; /* m: largest depth of a particle's centre in the hand */
} hand_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static void add_basin(const pbd_values *values, pbd_scene *scene) {
    const double half[2] = {0.5 * pbd_real(values, "length"), 0.5 * pbd_real(values, "width")};
    const double foot[3] = {0, 0, 0}, up[3] = {0, 0, 1}, friction = pbd_real(values, "floor_friction");
    particle_add_plane(scene, foot, up, friction);
    for (int k = 0; k < 4; k++) {
        double at[3] = {0, 0, 0}, inward[3] = {0, 0, 0};
        inward[k / 2] = k % 2 ? -1 : 1;
        at[k / 2] = -inward[k / 2] * half[k / 2];
        particle_add_plane(scene, at, inward, friction);
    }
}

/* Finger tips start one finger radius above the surface, a quarter of the way along the basin. */
static void add_hand(const pbd_values *values, pbd_scene *scene) {
    const double hand = pbd_real(values, "hand"), pitch = hand / FINGERS, radius = 0.38 * pitch;
    const double friction = pbd_real(values, "floor_friction"), speed = pbd_real(values, "speed");
    const double sweep = pbd_real(values, "sweep"), dip = pbd_real(values, "dip");
    const double x = -0.25 * pbd_real(values, "length"), surface = pbd_real(values, "depth");
    static const double reach[FINGERS] = {0.75, 0.9, 0.85, 0.65}; /* fingers' lengths over the palm's width */
    const double tip = surface + 2 * radius, knuckles = tip + 0.9 * hand;
    for (int k = 0; k < FINGERS; k++) {
        const double y = ((double)k - 0.5 * (FINGERS - 1)) * pitch;
        const double low[3] = {x, y, knuckles - reach[k] * hand}, high[3] = {x, y, knuckles};
        particle_add_capsule(scene, low, high, radius, friction);
    }
    const double side = 0.5 * hand - 0.5 * pitch;
    const double first[3] = {x, -side, knuckles + 0.4 * hand}, last[3] = {x, side, knuckles + 0.4 * hand};
    particle_add_capsule(scene, first, last, 0.4 * hand, friction);
    const double root[3] = {x + 0.3 * hand, -side, knuckles}, end[3] = {x + 0.7 * hand, -side, knuckles - 0.5 * hand};
    particle_add_capsule(scene, root, end, radius, friction);
    const double lasts = sweep > 0 ? sweep / speed : 0;
    for (size_t c = WALLS; c < scene->colliders.count && lasts > 0; c++) {
        pbd_collider *part = &scene->colliders.item[c];
        part->velocity[0] = speed;
        part->velocity[2] = -(dip + radius) / lasts;
        part->end = lasts;
    }
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    hand_detail *detail = setup->detail;
    const double length = pbd_real(values, "length"), width = pbd_real(values, "width");
    const double depth = pbd_real(values, "depth"), dip = pbd_real(values, "dip");
    if (!(dip < depth))
        return pbd_error(PBD_BAD_INPUT, "dip=%g m moves the fingers through the floor: must be below depth=%g m", dip,
                         depth);
    if (!(pbd_real(values, "hand") < width))
        return pbd_error(PBD_BAD_INPUT, "hand=%g m does not fit into the basin: must be below width=%g m",
                         pbd_real(values, "hand"), width);
    const double low[3] = {-0.5 * length, -0.5 * width, 0}, high[3] = {0.5 * length, 0.5 * width, depth};
    const placement here = placement_at(0, 0, 0);
    shapes s = {0};
    shapes_box(&s, low, high);
    const solid fluid = shapes_solid(&s);
    granular_set_material(values, scene);
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / GRANULAR_LOOKS;
    PBD_TRY(granular_fill(values, &fluid, &here, &detail->particles, scene));
    PBD_TRY(particle_open_colliders(scene, WALLS + HAND));
    add_basin(values, scene);
    add_hand(values, scene);
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Share of the particles that are more than two spacings from where they began. */
static double stirred_share(const pbd_scene *scene, const double *x) {
    size_t moved = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        double square = 0;
        for (size_t d = 0; d < 3; d++) square += pow(x[3 * i + d] - scene->particles.positions[3 * i + d], 2);
        moved += square > 4 * scene->particles.spacing * scene->particles.spacing;
    }
    return (double)moved / (double)scene->particles.count;
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    hand_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    const pbd_status status = granular_look(&detail->watch, setup, method, state, x, time, NULL, recorder);
    detail->deepest = fmax(detail->deepest, granular_depth_in(scene, WALLS, x, time));
    const double stirred = stirred_share(scene, x);
    PBD_TRY(status);
    pbd_series(recorder, "stirred_share", "value", "1", &stirred, 1, 1);
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const hand_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_record_sampling(&detail->particles, 1, recorder);
    granular_record(&detail->watch, scene, recorder);
    pbd_metric(recorder, "deepest_in_hand", "m", PBD_FLAW, detail->deepest);
    pbd_metric(recorder, "stirred_share", "1", PBD_STATE, stirred_share(scene, x));
    granular_record_slice(scene, x, recorder);
    body_record_shape(scene, x, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_hand_in_fluid = {
    .name = "hand_in_fluid",
    .summary = "a hand sweeps through a basin of viscous fluid: stirring, and penetration",
    .source = "yu2024 Figure 20, Table 2 (Wrist)",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=herschel_bulkley yield_stress=10",
    PARTICLE_DETAIL(hand_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
