/* The towel of particles: a sheet some layers thick on a cubic lattice, with stiff fibres at an angle, pulled outward
 * on all four edges. The same problem as `towel`, which is a mesh of triangles.
 *
 * Particles are numbered layer by layer, those of a layer as the particles of a sheet of triangles
 * (cases/scenes/sheet.h): that sheet, in the middle of the layers, is what strains are read from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/scenes/particle_scene.h"
#include "cases/scenes/sheet.h"
#include "cases/scenes/stretched.h"
#include "harness/exec/arena.h"

static const pbd_param params[] = {
    {"across", "", PBD_INTEGER, "24", 2, 5000, 0, NULL, "particles across the width; the spacing follows"},
    {"layers", "", PBD_INTEGER, "4", 1, 100, 0, NULL, "of particles, one spacing thick each"},
    {"length", "m", PBD_REAL, "1.5", 0, 1e6, PBD_OPEN_MIN, NULL, "along x, to a whole number of spacings"},
    {"width", "m", PBD_REAL, "1.5", 0, 1e6, PBD_OPEN_MIN, NULL, "along y"},
    PBD_PARTICLE_MATERIAL_PARAMS("50", "0.4", "100", "neo_hookean"),
    {"fibre_stiffness", "Pa", PBD_REAL, "500", 0, 1e15, 0, NULL, "adds twice itself to the modulus along the fibre"},
    {"fibre_angle", "deg", PBD_REAL, "45", -180, 180, 0, NULL,
     "fibre_stiffness>0: of the fibre at rest, from length to width"},
    {"traction", "Pa", PBD_REAL, "20", 0, 1e15, 0, NULL, "on each edge face, outward, by its area at rest"},
    {"duration", "s", PBD_REAL, "4", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct towel_detail {
    pbd_scene middle; /* the sheet of triangles in the middle of the layers */
    sheet_size size;  /* of that sheet */
    size_t layers;
    stretched reference; /* along the fibre and perpendicular to it */
    double through;      /* the stretch of the thickness in that state */
} towel_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status lay_sheet(const pbd_values *values, towel_detail *detail, double *spacing) {
    const long across = pbd_integer(values, "across");
    const double length = pbd_real(values, "length"), width = pbd_real(values, "width");
    *spacing = width / (double)across;
    const double along = round(length / *spacing), particles = along * (double)across * (double)detail->layers;
    if (!(particles <= SAMPLING_MOST))
        return pbd_error(PBD_BAD_INPUT, "a towel of %.4g x %ld particles in %zu layers is too large: %d at most", along,
                         across, detail->layers, SAMPLING_MOST);
    if (along < 2)
        return pbd_error(PBD_BAD_INPUT,
                         "length=%g m is %.4g spacings of %g m: two particles at least, so raise length or across",
                         length, along, *spacing);
    detail->size =
        (sheet_size){(along - 1) * *spacing, (double)(across - 1) * *spacing, (int)along - 1, (int)across - 1};
    return sheet_mesh(&detail->size, &detail->middle);
}

/* Copies of the sheet, one spacing above each other, centred at z = 0. */
static pbd_status stack(const towel_detail *detail, double spacing, pbd_scene *scene) {
    const size_t nodes = detail->middle.particles.count, n = nodes * detail->layers;
    scene->particles.count = n;
    scene->particles.spacing = spacing;
    scene->extent = fmax(fmax(detail->size.length, detail->size.width), (double)(detail->layers - 1) * spacing);
    PBD_TRY_NEW(scene->particles.positions, 3 * n);
    PBD_TRY_NEW(scene->loads.forces, 3 * n);
    PBD_TRY_NEW(scene->particles.masses, n);
    PBD_TRY_NEW(scene->particles.volumes, n);
    for (size_t i = 0; i < n; i++) {
        memcpy(scene->particles.positions + 3 * i, detail->middle.particles.positions + 3 * (i % nodes),
               3 * sizeof(double));
        scene->particles.positions[3 * i + 2] = spacing * ((double)(i / nodes) - 0.5 * (double)(detail->layers - 1));
        scene->particles.volumes[i] = spacing * spacing * spacing;
        scene->particles.masses[i] = scene->material->density * scene->particles.volumes[i];
    }
    return pbd_ok();
}

static void pull(const towel_detail *detail, size_t node, size_t axis, double force, pbd_scene *scene) {
    for (size_t l = 0; l < detail->layers; l++)
        scene->loads.forces[3 * (node + l * detail->middle.particles.count) + axis] += force;
}

/* Dead loads on the outermost particles. These lie half a spacing inside the edges: the forces are increased by the
 * ratio of the lever arms, so that their work in any affine motion equals that of the traction. */
static void pull_edges(const towel_detail *detail, double traction, pbd_scene *scene) {
    const sheet_size *size = &detail->size;
    const double h = scene->particles.spacing;
    const double along = traction * h * h * (size->length + h) / size->length,
                 across = traction * h * h * (size->width + h) / size->width;
    for (int j = 0; j <= size->across; j++) {
        pull(detail, sheet_particle(size, 0, j), 0, -along, scene);
        pull(detail, sheet_particle(size, size->along, j), 0, along, scene);
    }
    for (int i = 0; i <= size->along; i++) {
        pull(detail, sheet_particle(size, i, 0), 1, -across, scene);
        pull(detail, sheet_particle(size, i, size->across), 1, across, scene);
    }
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    towel_detail *detail = setup->detail;
    double spacing;
    const double angle = acos(-1) / 180 * pbd_real(values, "fibre_angle"), traction = pbd_real(values, "traction");
    scene->material[0] = particle_material(values);
    scene->material->fibre[0][0] = cos(angle);
    scene->material->fibre[0][1] = sin(angle);
    scene->material->fibre_stiffness[0] = pbd_real(values, "fibre_stiffness");
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / BODY_LOOKS;
    detail->layers = (size_t)pbd_integer(values, "layers");
    PBD_TRY(lay_sheet(values, detail, &spacing));
    PBD_TRY(stack(detail, spacing, scene));
    pull_edges(detail, traction, scene);
    detail->middle.material[0] = scene->material[0];
    detail->reference = stretched_sheet(scene->material, traction, traction, &detail->through);
    return pbd_ok();
}

static void free_detail(void *detail) { pbd_scene_free(&((towel_detail *)detail)->middle); }

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Positions of the sheet in the middle: means over the layers. The caller frees them; NULL without memory. */
static double *middle_of(const towel_detail *detail, const double *x) {
    const size_t nodes = detail->middle.particles.count;
    double *mean = calloc(3 * nodes, sizeof *mean);
    if (!mean) return NULL;
    for (size_t l = 0; l < detail->layers; l++)
        for (size_t k = 0; k < 3 * nodes; k++) mean[k] += x[3 * nodes * l + k] / (double)detail->layers;
    return mean;
}

static pbd_status strain_now(const pbd_setup *setup, const pbd_method *method, const void *state, sheet_strain *out,
                             double **x, double **middle) {
    const pbd_scene *scene = &setup->scene;
    const towel_detail *detail = setup->detail;
    PBD_TRY(body_positions(scene, method, state, x));
    *middle = middle_of(detail, *x);
    if (!*middle) {
        free(*x);
        return pbd_no_memory();
    }
    *out = sheet_strain_at(&detail->middle, *middle);
    return pbd_ok();
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    sheet_strain strain;
    double *x, *middle, fastest;
    PBD_TRY(strain_now(setup, method, state, &strain, &x, &middle));
    free(x);
    free(middle);
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "stretch_fibre", "value", "1", &strain.fibre, 1, 1);
    pbd_series(recorder, "stretch_perpendicular", "value", "1", &strain.perpendicular, 1, 1);
    pbd_series(recorder, "shear_angle", "value", "deg", &strain.shear_angle, 1, 1);
    const pbd_status status = body_largest_speed(scene, method, state, &fastest);
    if (status.code == PBD_NOT_SUPPORTED) return pbd_ok();
    pbd_series(recorder, "speed", "value", "m/s", &fastest, 1, 1);
    return status;
}

static void record_node(const towel_detail *detail, const double *middle, int i, int j, pbd_recorder *recorder) {
    const double *x = middle + 3 * (size_t)sheet_particle(&detail->size, i, j);
    pbd_series(recorder, "outline", "x", "m", &x[0], 1, 1);
    pbd_series(recorder, "outline", "y", "m", &x[1], 1, 1);
    pbd_series(recorder, "outline", "z", "m", &x[2], 1, 1);
}

/* Records the edges of the sheet in the middle, once around. */
static void record_outline(const towel_detail *detail, const double *middle, pbd_recorder *recorder) {
    const int along = detail->size.along, across = detail->size.across;
    for (int i = 0; i < along; i++) record_node(detail, middle, i, 0, recorder);
    for (int j = 0; j < across; j++) record_node(detail, middle, along, j, recorder);
    for (int i = along; i > 0; i--) record_node(detail, middle, i, across, recorder);
    for (int j = across; j >= 0; j--) record_node(detail, middle, 0, j, recorder);
}

/* The mean distance of the outermost layers over that at rest. */
static double thickness_stretch(const pbd_scene *scene, const towel_detail *detail, const double *x) {
    const size_t nodes = detail->middle.particles.count, top = nodes * (detail->layers - 1);
    double sum = 0;
    for (size_t k = 0; k < nodes; k++) {
        double square = 0;
        for (size_t d = 0; d < 3; d++) square += pow(x[3 * (top + k) + d] - x[3 * k + d], 2);
        sum += sqrt(square);
    }
    return sum / (double)nodes / (scene->particles.spacing * (double)(detail->layers - 1));
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const towel_detail *detail = setup->detail;
    const stretched *reference = &detail->reference;
    sheet_strain strain;
    double *x, *middle;
    PBD_TRY(strain_now(setup, method, state, &strain, &x, &middle));
    pbd_metric(recorder, "particles", "1", PBD_STATE, (double)scene->particles.count);
    pbd_metric(recorder, "spacing", "m", PBD_STATE, scene->particles.spacing);
    if (detail->layers > 1)
        pbd_metric(recorder, "stretch_thickness", "1", PBD_STATE, thickness_stretch(scene, detail, x));
    record_outline(detail, middle, recorder);
    free(x);
    free(middle);
    sheet_record(&strain, recorder);
    pbd_metric(recorder, "perpendicular_over_fibre", "1", PBD_STATE, strain.perpendicular / strain.fibre);
    if (!reference->found) {
        pbd_warning(recorder, "no_reference",
                    "this pull is beyond the limit of the law: there is no reference for stretch");
        return pbd_ok();
    }
    pbd_metric(recorder, "stretch_fibre_reference", "1", PBD_STATE, reference->along);
    pbd_metric(recorder, "stretch_perpendicular_reference", "1", PBD_STATE, reference->across);
    pbd_metric(recorder, "stretch_thickness_reference", "1", PBD_STATE, detail->through);
    pbd_metric(recorder, "stretch_error", "1", PBD_ERROR,
               hypot(strain.fibre - reference->along, strain.perpendicular - reference->across));
    return pbd_ok();
}

const pbd_case pbd_case_sampled_towel = {
    .name = "sampled_towel",
    .summary = "a towel of particles in layers, with stiff fibres at 45 degrees, pulled outward on its edges",
    .source = "cao2023 Figure 6, Table 1 and section 4.3 (C-7)",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(towel_detail),
    .numbers = sizeof(towel_detail) - offsetof(towel_detail, size),
    .build = build,
    .measure = measure,
    .observe = observe,
    .free_detail = free_detail,
};
