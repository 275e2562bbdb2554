/* Clay in a round mould is pressed by a piston through the holes of its bottom: noodles.
 *
 * The mould is a cylinder about the z axis, its bottom a plate with round holes in rows whose middle is at z = 0; the
 * floor is `drop` below. The piston comes down from the clay's top at constant speed and stops `left` above the plate.
 */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/granular.h"

static const pbd_param params[] = {
    {"mould_radius", "m", PBD_REAL, "0.2", 0, 1e6, PBD_OPEN_MIN, NULL, "of the cylinder"},
    {"filling", "m", PBD_REAL, "0.25", 0, 1e6, PBD_OPEN_MIN, NULL, "height of the clay"},
    {"hole_radius", "m", PBD_REAL, "0.05", 0, 1e6, PBD_OPEN_MIN, NULL, "of the round holes"},
    {"pitch", "m", PBD_REAL, "0.14", 0, 1e6, PBD_OPEN_MIN, NULL, "from hole to hole"},
    {"plate", "m", PBD_REAL, "0.04", 0, 1e6, PBD_OPEN_MIN, NULL, "thickness of the bottom"},
    {"drop", "m", PBD_REAL, "0.3", 0, 1e6, PBD_OPEN_MIN, NULL, "from the middle of the bottom to the floor"},
    {"speed", "m/s", PBD_REAL, "0.5", 0, 1e6, 0, NULL, "of the piston"},
    {"left", "m", PBD_REAL, "0.05", 0, 1e6, 0, NULL, "between plate and piston when it stops"},
    PBD_SAMPLING_PARAMS("2000"),
    PBD_PARTICLE_MATERIAL_PARAMS("2e4", "0.3", "1", "hencky"),
    PBD_GRANULAR_FLOOR_PARAMS("0"),
    {"duration", "s", PBD_REAL, "0.4", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct extrusion_detail {
    sampling particles;
    granular_watch watch;
    double under;   /* m: z of the plate's lower face, below 0 */
    double pressed; /* current share of the mass below the plate */
} extrusion_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static const double upright[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static pbd_collider standing(pbd_collider_shape kind, double x, double y, double z, double friction) {
    pbd_collider c = {.shape = kind, .half = {x, y, z}, .friction = friction};
    for (int i = 0; i < 9; i++) c.axis[i / 3][i % 3] = upright[i / 3][i % 3];
    return c;
}

static pbd_status add_mould(const pbd_values *values, const extrusion_detail *detail, pbd_scene *scene) {
    const double friction = pbd_real(values, "floor_friction"), radius = pbd_real(values, "mould_radius");
    const double filling = pbd_real(values, "filling"), drop = pbd_real(values, "drop");
    const double speed = pbd_real(values, "speed"), half_plate = -detail->under;
    const double floor_at[3] = {0, 0, -drop}, up[3] = {0, 0, 1}, down[3] = {0, 0, -1};
    const double top[3] = {0, 0, half_plate + filling};
    PBD_TRY(particle_open_colliders(scene, 4));
    particle_add_plane(scene, floor_at, up, friction);
    pbd_collider *piston = particle_add_plane(scene, top, down, friction);
    if (speed > 0) {
        piston->velocity[2] = -speed;
        piston->end = fmax(filling - pbd_real(values, "left"), 1e-9 * filling) / speed;
    }
    /* The ends of the cylinder are beyond floor and piston. */
    pbd_collider *wall = &scene->colliders.item[scene->colliders.count++];
    *wall = standing(PBD_CYLINDER, radius, radius, 0.5 * (top[2] + drop) + 0.25 * filling, friction);
    wall->centre[2] = 0.5 * (top[2] - drop);
    wall->container = true;
    scene->colliders.item[scene->colliders.count++] = standing(PBD_PERFORATED_PLATE, pbd_real(values, "hole_radius"),
                                                               0.5 * pbd_real(values, "pitch"), half_plate, friction);
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    extrusion_detail *detail = setup->detail;
    const double half_plate = 0.5 * pbd_real(values, "plate"), filling = pbd_real(values, "filling");
    if (!(pbd_real(values, "drop") > half_plate))
        return pbd_error(PBD_BAD_INPUT, "drop=%g m puts the floor into the bottom of the mould: above plate/2 = %g m",
                         pbd_real(values, "drop"), half_plate);
    detail->under = -half_plate;
    granular_set_material(values, scene);
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / GRANULAR_LOOKS;
    const double low[3] = {0, 0, half_plate}, high[3] = {0, 0, half_plate + filling};
    shapes s = {0};
    shapes_cylinder(&s, low, high, pbd_real(values, "mould_radius"));
    const solid clay = shapes_solid(&s);
    PBD_TRY(granular_fill_vessel(values, &clay, &detail->particles, scene));
    return add_mould(values, detail, scene);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    extrusion_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t under = 0;
    PBD_TRY(body_positions(scene, method, state, &x));
    const pbd_status status = granular_look(&detail->watch, setup, method, state, x, time, NULL, recorder);
    for (size_t i = 0; i < scene->particles.count; i++) under += x[3 * i + 2] < detail->under;
    detail->pressed = (double)under / (double)scene->particles.count;
    PBD_TRY(status);
    pbd_series(recorder, "share_pressed", "value", "1", &detail->pressed, 1, 1);
    return pbd_ok();
}

/* Connected pieces below the plate: noodles, and crumbs of fewer than a dozen particles. */
static pbd_status record_noodles(const extrusion_detail *detail, const pbd_scene *scene, const double *x,
                                 pbd_recorder *recorder) {
    pieces found;
    size_t count = 0;
    pbd_arena a PBD_ARENA;
    double *under = pbd_new(&a, double, 3 * scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < scene->particles.count; i++) {
        if (!(x[3 * i + 2] < detail->under)) continue;
        for (size_t d = 0; d < 3; d++) under[3 * count + d] = x[3 * i + d];
        count++;
    }
    const pbd_status status = granular_pieces(under, count, 1.8 * scene->particles.spacing, 12, &found);
    PBD_TRY(status);
    pbd_metric(recorder, "noodles", "1", PBD_STATE, (double)found.pieces);
    pbd_metric(recorder, "crumbs", "1", PBD_STATE, (double)found.crumbs);
    granular_free_pieces(&found);
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const extrusion_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_record_sampling(&detail->particles, 1, recorder);
    granular_record(&detail->watch, scene, recorder);
    pbd_metric(recorder, "share_pressed", "1", PBD_STATE, detail->pressed);
    PBD_TRY(record_noodles(detail, scene, x, recorder));
    body_record_shape(scene, x, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_extrusion = {
    .name = "extrusion",
    .summary = "clay is pressed through the holes of a mould: noodles, crumbs, and extruded share",
    .source = "yu2024 Figure 2, Table 2 (Noodles)",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=von_mises yield_stress=76.9",
    PARTICLE_DETAIL(extrusion_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
