/* A column of sand is released and slumps to a heap on the floor: how far, how high, and at what slope.
 *
 * As in the experiments of Lube et al. and Lajeunesse et al. (2004, 2005): a cylinder that is lifted away at once
 * (axisymmetric), or sand behind a gate in a channel with smooth sides that runs out to one side (plane). The wall at
 * the back of the channel is smooth too, so the plane heap is half of one that runs out to both sides. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/granular.h"

static const char *const forms[] = {"axisymmetric", "plane", NULL}; /* in the order of heap_form */

static const pbd_param params[] = {
    {"shape", "", PBD_CHOICE, "axisymmetric", 0, 0, 0, forms, "a cylinder, or a slab between smooth walls"},
    {"aspect", "", PBD_REAL, "1", 0.01, 100, 0, NULL, "height over radius, or over length of the slab"},
    {"column_radius", "m", PBD_REAL, "0.1", 0, 1e6, PBD_OPEN_MIN, NULL, "of the cylinder; length of the slab"},
    {"layers", "", PBD_REAL, "6", 1, 1000, 0, NULL, "shape=plane: between the walls, in spacings"},
    {"jitter", "", PBD_REAL, "0", 0, 0.4, 0, NULL, "largest random offset of each along each axis, in spacings"},
    PBD_SEEDED_SAMPLING_PARAMS("2000", "sampling=poisson or jitter>0"),
    PBD_PARTICLE_MATERIAL_PARAMS("1e5", "0.3", "1600", "hencky"),
    PBD_GRANULAR_FLOOR_PARAMS("0.6"),
    {"duration", "s", PBD_REAL, "0", 0, 1e6, 0, NULL, "simulated time; 0: 5 times sqrt(height / gravity)"},
    {0}};

typedef struct column_detail {
    sampling particles;
    granular_watch watch;
    heap_form form;
    double radius, height; /* m */
} column_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* The slab is `layers` spacings wide; for lattices a whole number of spacings fits its length. */
static sampling_plan plan_slab(const pbd_values *values, const column_detail *detail, double *width) {
    sampling_plan plan = particle_plan(values);
    const double layers = pbd_real(values, "layers");
    double spacing = plan.spacing;
    if (plan.count > 0) spacing = sqrt(detail->radius * detail->height * layers / (double)plan.count);
    if (plan.count > 0 && plan.kind == SAMPLING_LATTICE) {
        spacing = detail->radius / fmax(round(detail->radius / spacing), 1);
        plan.spacing = spacing;
        plan.count = 0;
    }
    *width = layers * spacing;
    return plan;
}

/* A lattice of touching grains would stand as a tower: they are displaced a little, at random by `seed`. */
static void disturb(const pbd_values *values, sampling *s) {
    const double most = pbd_real(values, "jitter") * s->spacing;
    uint64_t seed = (uint64_t)pbd_integer(values, "seed") + 1;
    for (size_t i = 0; i < 3 * s->count && most > 0; i++) s->position[i] += most * body_noise(&seed);
}

static pbd_status make_particles(const pbd_values *values, column_detail *detail, double *width) {
    sampling_plan plan = particle_plan(values);
    shapes s = {0};
    if (detail->form == HEAP_AXISYMMETRIC) {
        const double low[3] = {0, 0, 0}, high[3] = {0, 0, detail->height};
        shapes_cylinder(&s, low, high, detail->radius);
    } else {
        plan = plan_slab(values, detail, width);
        const double low[3] = {0, -0.5 * *width, 0}, high[3] = {detail->radius, 0.5 * *width, detail->height};
        shapes_box(&s, low, high);
    }
    const solid body = shapes_solid(&s);
    PBD_TRY(sampling_make(&body, &plan, &detail->particles));
    disturb(values, &detail->particles);
    return pbd_ok();
}

/* Displaced particles may be nearer to the floor. */
static pbd_status set_radii(const pbd_values *values, const sampling *s, pbd_scene *scene) {
    const double off = pbd_real(values, "jitter") * s->spacing;
    PBD_TRY(granular_set_radii(values, s, scene));
    for (size_t i = 0; i < scene->particles.count && !(pbd_real(values, "contact_radius") > 0); i++)
        scene->contact.radius[i] = fmax(scene->contact.radius[i] - off, 0.05 * s->spacing);
    return pbd_ok();
}

static pbd_status set_walls(const pbd_values *values, const column_detail *detail, double width, pbd_scene *scene) {
    const double floor_at[3] = {0, 0, 0}, up[3] = {0, 0, 1}, ahead[3] = {1, 0, 0};
    PBD_TRY(particle_open_colliders(scene, 4));
    particle_add_plane(scene, floor_at, up, pbd_real(values, "floor_friction"));
    if (detail->form == HEAP_AXISYMMETRIC) return pbd_ok();
    particle_add_plane(scene, floor_at, ahead, 0);
    for (int side = -1; side <= 1; side += 2) {
        const double at[3] = {0, 0.5 * width * side, 0}, inward[3] = {0, -side, 0};
        particle_add_plane(scene, at, inward, 0);
    }
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    column_detail *detail = setup->detail;
    double width = 0;
    detail->form = (heap_form)pbd_choice(values, "shape");
    detail->radius = pbd_real(values, "column_radius");
    detail->height = detail->radius * pbd_real(values, "aspect");
    granular_set_material(values, scene);
    const double given = pbd_real(values, "duration"), gravity = pbd_real(values, "gravity");
    if (!(given > 0) && !(gravity > 0))
        return pbd_error(PBD_BAD_INPUT,
                         "duration=0 is derived from gravity, which is 0: set a duration in s, or a gravity");
    scene->duration = given > 0 ? given : 5 * sqrt(detail->height / gravity);
    setup->observe_every = scene->duration / GRANULAR_LOOKS;
    const placement here = placement_at(0, 0, 0);
    PBD_TRY(make_particles(values, detail, &width));
    PBD_TRY(particle_scene_make(&detail->particles, 1, &here, scene));
    PBD_TRY(set_radii(values, &detail->particles, scene));
    return set_walls(values, detail, width, scene);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    column_detail *detail = setup->detail;
    heap now;
    pieces parts PBD_CLEANUP(granular_free_pieces) = {0};
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(granular_look(&detail->watch, setup, method, state, x, time, &parts, recorder));
    PBD_TRY(heap_measure(scene, x, detail->form, &parts, &now));
    const double run_out = now.reach / detail->radius - 1, height = now.height / detail->radius;
    pbd_series(recorder, "run_out", "value", "1", &run_out, 1, 1);
    pbd_series(recorder, "height", "value", "1", &height, 1, 1);
    return pbd_ok();
}

static void record_heap(const column_detail *detail, const heap *h, pbd_recorder *recorder) {
    const double r = detail->radius;
    pbd_metric(recorder, "run_out", "1", PBD_STATE, h->reach / r - 1);
    pbd_metric(recorder, "run_out_99", "1", PBD_STATE, h->reach_99 / r - 1);
    pbd_metric(recorder, "run_out_farthest", "1", PBD_STATE, h->reach_all / r - 1);
    pbd_metric(recorder, "height", "1", PBD_STATE, h->height / r);
    pbd_metric(recorder, "height_left", "1", PBD_STATE, h->height / detail->height);
    if (isfinite(h->angle)) pbd_metric(recorder, "rest_angle", "degrees", PBD_STATE, h->angle);
    for (size_t k = 0; k < h->bins; k++) {
        const double distance = ((double)k + 0.5) * h->width / r, top = h->top[k] / r;
        pbd_series(recorder, "outline", "distance", "1", &distance, 1, 1);
        pbd_series(recorder, "outline", "height", "1", &top, 1, 1);
    }
}

/* A box of four radii (plane: lengths) about the column's foot, and as high as the column was. */
static mass_box box_of(const column_detail *detail) {
    const double r = detail->radius;
    if (detail->form == HEAP_PLANE) return (mass_box){{0, -r, 0}, {4 * r, r, detail->height}, {32, 1, 16}};
    return (mass_box){{-4 * r, -4 * r, 0}, {4 * r, 4 * r, detail->height}, {16, 16, 8}};
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const column_detail *detail = setup->detail;
    const mass_box box = box_of(detail);
    heap now;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(heap_measure(scene, x, detail->form, NULL, &now));
    particle_record_sampling(&detail->particles, 1, recorder);
    record_heap(detail, &now, recorder);
    granular_record(&detail->watch, scene, recorder);
    granular_record_mass(scene, x, &box, recorder);
    granular_record_slice(scene, x, recorder);
    body_record_shape(scene, x, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_sand_column = {
    .name = "sand_column",
    .summary = "a column of sand slumps to a heap: run-out, height and slope",
    .source = "yu2024 Figure 13; Lube et al. 2004, 2005; Lajeunesse et al. 2004, 2005",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=drucker_prager",
    PARTICLE_DETAIL(column_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
