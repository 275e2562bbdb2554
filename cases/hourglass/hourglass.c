/* Sand runs through the neck of an hourglass: how fast, what is left above, and the slope of the heap below.
 *
 * The glass is two straight cones about the z axis that meet at z = 0; the sand fills the upper one from the neck up.
 */
#include <math.h>
#include <stdlib.h>

#include "cases/scenes/collider_mesh.h"
#include "cases/scenes/granular.h"
#include "harness/exec/arena.h"

#define REAL double
#include "methods/physics/surface/collider_pose.h"

static const char *const kinds[] = {"analytic", "mesh", NULL};

static const pbd_param params[] = {
    {"neck", "m", PBD_REAL, "0.035", 0, 1e6, PBD_OPEN_MIN, NULL, "radius of the glass in the middle"},
    {"end_radius", "m", PBD_REAL, "0.1", 0, 1e6, PBD_OPEN_MIN, NULL, "radius of the glass at its ends"},
    {"bulb", "m", PBD_REAL, "0.12", 0, 1e6, PBD_OPEN_MIN, NULL, "height of either half"},
    {"filling", "", PBD_REAL, "0.75", 0, 1, PBD_OPEN_MIN, NULL, "of the upper half's height"},
    PBD_SAMPLING_PARAMS("2000"),
    PBD_PARTICLE_MATERIAL_PARAMS("3.537e5", "0.3", "2200", "hencky"),
    PBD_GRANULAR_FLOOR_PARAMS("0.3"),
    {"duration", "s", PBD_REAL, "0.5", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {"collider", "", PBD_CHOICE, "analytic", 0, 0, 0, kinds, "the glass: its formula, or triangles"},
    {"around", "", PBD_INTEGER, "64", 8, 4096, 0, NULL, "collider=mesh: triangles about the axis"},
    {0}};

typedef struct hourglass_detail {
    sampling particles;
    granular_watch watch;
    double half[3]; /* m: of the collider */
    double room[3]; /* m: of the widest glass within it: triangles are chords of its arcs */
    double filled;  /* m: height of the sand */
    double below;   /* current share of the mass below the neck */
    double at[2];   /* s: when a fifth and when three fifths were below; 0: not yet */
    double deepest; /* m: largest depth of a particle's sphere beyond the glass, after the start */
    size_t outside; /* largest number of particles more than half a spacing beyond the glass */
} hourglass_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static double to_sand(const solid *s, const double x[3]) {
    const hourglass_detail *detail = s->of;
    const double glass = hourglass_gap(detail->room, vec3_make(x[0], x[1], x[2])).distance;
    return fmax(glass, fmax(-x[2], x[2] - detail->filled));
}

static solid sand_of(const hourglass_detail *detail) {
    const double neck = detail->room[0], rise = detail->filled;
    const double top = neck + (detail->room[1] - neck) * rise / detail->room[2], widest = fmax(neck, top);
    return (solid){.low = {-widest, -widest, 0},
                   .high = {widest, widest, rise},
                   .volume = acos(-1) / 3 * rise * (neck * neck + neck * top + top * top),
                   .distance = to_sand,
                   .of = detail};
}

/* A glass of triangles: vertices on the glass, in rows about as high as triangles are wide in the middle of a half. */
static pbd_status add_triangles(const pbd_values *values, const double half[3], pbd_scene *scene) {
    const int around = (int)pbd_integer(values, "around");
    const double middle = 0.5 * (half[0] + half[1]), width = 2 * acos(-1) * middle / around;
    const double slope = hypot(half[1] - half[0], half[2]), origin[3] = {0, 0, 0};
    pbd_collider_mesh mesh;
    pbd_collider *glass;
    PBD_TRY(collider_mesh_hourglass(half, around, (int)fmin(ceil(slope / width), around), &mesh));
    PBD_TRY(particle_add_mesh(scene, &mesh, origin, pbd_real(values, "floor_friction"), &glass));
    glass->container = true;
    return pbd_ok();
}

static pbd_status add_glass(const pbd_values *values, const hourglass_detail *detail, pbd_scene *scene) {
    PBD_TRY(particle_open_colliders(scene, 1));
    if (pbd_choice(values, "collider") == 1) return add_triangles(values, detail->half, scene);
    pbd_collider *glass = &scene->colliders.item[scene->colliders.count++];
    *glass = (pbd_collider){.shape = PBD_HOURGLASS,
                            .container = true,
                            .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                            .friction = pbd_real(values, "floor_friction")};
    for (int d = 0; d < 3; d++) glass->half[d] = detail->half[d];
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    hourglass_detail *detail = setup->detail;
    detail->half[0] = pbd_real(values, "neck");
    detail->half[1] = pbd_real(values, "end_radius");
    detail->half[2] = pbd_real(values, "bulb");
    detail->filled = detail->half[2] * pbd_real(values, "filling");
    if (detail->half[0] > detail->half[1])
        return pbd_error(PBD_BAD_INPUT,
                         "neck=%g m is wider than end_radius=%g m: an hourglass must be narrow in the middle",
                         detail->half[0], detail->half[1]);
    const bool triangles = pbd_choice(values, "collider") == 1;
    const double cut = triangles ? cos(acos(-1) / (double)pbd_integer(values, "around")) : 1;
    for (int d = 0; d < 3; d++) detail->room[d] = detail->half[d] * (d < 2 ? cut : 1);
    granular_set_material(values, scene);
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / GRANULAR_LOOKS;
    const solid sand = sand_of(detail);
    PBD_TRY(granular_fill_vessel(values, &sand, &detail->particles, scene));
    return add_glass(values, detail, scene);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static void look_at_glass(hourglass_detail *detail, const pbd_scene *scene, const double *x, double time) {
    size_t below = 0, outside = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        const vec3 at = vec3_make(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
        below += at.z < 0;
        const double beyond = hourglass_gap(detail->half, at).distance;
        outside += !(beyond < 0.5 * scene->particles.spacing);
        if (time > 0)
            detail->deepest = fmax(detail->deepest, scene->contact.radius[i] + beyond); /* sand starts at the glass */
    }
    detail->below = (double)below / (double)scene->particles.count;
    if (outside > detail->outside) detail->outside = outside;
    for (int k = 0; k < 2; k++)
        if (!(detail->at[k] > 0) && detail->below >= (k ? 0.6 : 0.2)) detail->at[k] = time;
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    hourglass_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(granular_look(&detail->watch, setup, method, state, x, time, NULL, recorder));
    look_at_glass(detail, scene, x, time);
    pbd_series(recorder, "share_below", "value", "1", &detail->below, 1, 1);
    return pbd_ok();
}

/* The rate between a fifth and three fifths of the mass, when it is steady; also in units of density sqrt(g) D^(5/2),
 * by which Beverloo's law makes rates comparable: D is the diameter of the neck. */
static void record_rate(const hourglass_detail *detail, const pbd_scene *scene, pbd_recorder *recorder) {
    const double lasted = detail->at[1] - detail->at[0], g = -scene->loads.gravity[2];
    if (!(detail->at[1] > 0) || !(lasted > 0) || !(g > 0)) return;
    double mass = 0;
    for (size_t i = 0; i < scene->particles.count; i++) mass += scene->particles.masses[i];
    const double rate = 0.4 * mass / lasted, diameter = 2 * detail->half[0];
    pbd_metric(recorder, "discharge_rate", "kg/s", PBD_STATE, rate);
    pbd_metric(recorder, "discharge_rate_by_neck", "1", PBD_STATE,
               rate / (scene->material->density * sqrt(g) * pow(diameter, 2.5)));
}

/* The heap stands on the lower end: positions are relative to it. Not recorded while much sand is still above. */
static pbd_status record_heap(const hourglass_detail *detail, const pbd_scene *scene, double *x,
                              pbd_recorder *recorder) {
    heap h;
    if (detail->below < 0.95) return pbd_ok();
    for (size_t i = 0; i < scene->particles.count; i++) x[3 * i + 2] += detail->half[2];
    PBD_TRY(heap_measure(scene, x, HEAP_AXISYMMETRIC, NULL, &h));
    for (size_t i = 0; i < scene->particles.count; i++) x[3 * i + 2] -= detail->half[2];
    pbd_metric(recorder, "heap_height", "m", PBD_STATE, h.height);
    if (isfinite(h.angle)) pbd_metric(recorder, "rest_angle", "degrees", PBD_STATE, h.angle);
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const hourglass_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_record_sampling(&detail->particles, 1, recorder);
    granular_record(&detail->watch, scene, recorder);
    pbd_metric(recorder, "share_below", "1", PBD_STATE, detail->below);
    pbd_metric(recorder, "most_outside_glass", "1", PBD_FLAW, (double)detail->outside);
    pbd_metric(recorder, "deepest_in_glass", "m", PBD_FLAW, detail->deepest);
    record_rate(detail, scene, recorder);
    PBD_TRY(record_heap(detail, scene, x, recorder));
    body_record_shape(scene, x, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_hourglass = {
    .name = "hourglass",
    .summary = "sand runs through the neck of an hourglass: rate, heap, and lost particles",
    .source = "yu2024 Figure 8, Table 2",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=drucker_prager friction_angle=35",
    PARTICLE_DETAIL(hourglass_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
