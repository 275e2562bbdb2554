/* A bar that hangs from its top, stretched by its own weight or by a pull on its lower face: the effect of E and nu. */
#include <math.h>
#include <stdlib.h>

#include "cases/scenes/beam.h"
#include "cases/scenes/loaded.h"
#include "cases/scenes/stretched.h"
#include "harness/exec/arena.h"

static const char *const loads[] = {"gravity", "surface", NULL};
enum { GRAVITY, SURFACE };

static const pbd_param params[] = {
    PBD_BEAM_PARAMS("1e5", "100"),
    {"load", "", PBD_CHOICE, "gravity", 0, 0, 0, loads, "load: its weight, or a pull on its lower face"},
    {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "load=gravity: along -z"},
    {"traction", "Pa", PBD_REAL, "10000", 0, 1e15, 0, NULL,
     "load=surface: along -z, on the lower face as it is at rest"},
    PBD_MOTION_PARAMS("static", "5"),
    {0}};

typedef struct sweep_detail {
    beam_size size;
    stretched middle; /* the state half-way down; found 0: there is no reference */
    double sag;       /* m */
} sweep_detail;

/* A uniform traction along x, on the end of the bar before it is hung. Its faces are equal squares: a corner's
 * consistent force is its share of the section. */
static pbd_status pull_lower_face(const beam_size *size, double traction, pbd_scene *scene) {
    pbd_arena a PBD_ARENA;
    bool *marked = pbd_new(&a, bool, scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    for (int j = 0; j <= size->across; j++)
        for (int k = 0; k <= size->across; k++) {
            const double share =
                (j % size->across ? 1 : 0.5) * (k % size->across ? 1 : 0.5) / size->across / size->across;
            const size_t particle = beam_particle(size, size->along, j, k);
            scene->loads.forces[3 * particle] += traction * size->width * size->width * share;
            marked[particle] = true;
        }
    PBD_TRY(loaded_list(scene, marked));
    loaded_uniform(scene, (const double[]){traction, 0, 0});
    return pbd_ok();
}

/* The reference is a bar whose root can contract. */
static void find_reference(const pbd_scene *scene, double gravity, double traction, sweep_detail *out) {
    const double weight = scene->material->density * gravity, length = out->size.length;
    const stretched top = stretched_bar(scene->material, weight * length + traction);
    out->middle = stretched_bar(scene->material, weight * length / 2 + traction);
    out->sag = gravity > 0 ? stretched_sag(top, weight, length) : (top.along - 1) * length;
    if (!top.found) out->middle.found = 0;
}

static pbd_status fill(const pbd_values *values, const beam_size *size, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    sweep_detail *detail = setup->detail;
    const int load = pbd_choice(values, "load");
    const double gravity = load == GRAVITY ? pbd_real(values, "gravity") : 0;
    const double traction = load == SURFACE ? pbd_real(values, "traction") : 0;
    detail->size = *size;
    find_reference(scene, gravity, traction, detail);
    if (traction > 0) PBD_TRY(pull_lower_face(size, traction, scene));
    beam_hang(scene);
    scene->loads.gravity[2] = -gravity;
    body_set_motion(values, scene);
    return beam_hold_root(scene, size);
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    beam_size size;
    PBD_TRY(beam_build(values, scene, &size));
    return fill(values, &size, setup);
}

/* Strains of the middle half of the bar, which the held root does not reach. */
static void record_strains(const pbd_setup *setup, const double *x, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const sweep_detail *detail = setup->detail;
    const int first = detail->size.along / 4, last = detail->size.along - first;
    double upper[3], lower[3];
    beam_layer_mean(&detail->size, x, first, upper);
    beam_layer_mean(&detail->size, x, last, lower);
    const double rest = detail->size.length * (last - first) / detail->size.along;
    const double axial = (upper[2] - lower[2]) / rest - 1;
    const double thinner = 1 - beam_lateral_stretch(scene, &detail->size, x, first, last);
    pbd_metric(recorder, "axial_strain", "1", PBD_STATE, axial);
    pbd_metric(recorder, "lateral_strain", "1", PBD_STATE, 0 - thinner);
    if (axial != 0) pbd_metric(recorder, "lateral_over_axial", "1", PBD_STATE, thinner / axial);
    if (detail->middle.found && detail->middle.along > 1)
        pbd_metric(recorder, "lateral_over_axial_reference", "1", PBD_STATE,
                   (1 - detail->middle.across) / (detail->middle.along - 1));
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const sweep_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double now[3], rest[3];
    PBD_TRY(body_positions(scene, method, state, &x));
    beam_layer_mean(&detail->size, x, detail->size.along, now);
    beam_layer_mean(&detail->size, scene->particles.positions, detail->size.along, rest);
    record_strains(setup, x, recorder);
    body_record_strain(scene, x, recorder);
    pbd_metric(recorder, "sag", "m", PBD_STATE, rest[2] - now[2]);
    if (!detail->middle.found) {
        pbd_warning(recorder, "no_reference",
                    "this pull is beyond the limit of the law: there is no reference for sag");
    } else {
        pbd_metric(recorder, "sag_reference", "m", PBD_STATE, detail->sag);
        if (detail->sag > 0) pbd_metric(recorder, "sag_ratio", "1", PBD_STATE, (rest[2] - now[2]) / detail->sag);
    }
    return pbd_ok();
}

const pbd_case pbd_case_material_sweep = {
    .name = "material_sweep",
    .summary = "a bar fixed at its top, stretched by its weight or a pull below, against uniaxial stress",
    .source = "cao2023 Figure 9",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(sweep_detail),
    .build = build,
    .measure = measure,
};
