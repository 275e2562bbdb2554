/* A ball of viscoplastic paint falls on a square of cloth: the momentum they exchange, how deep particles penetrate the
 * cloth, and whether any is lost through it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/geometry/triangle_mesh.h"
#include "cases/scenes/granular.h"
#include "cases/scenes/sheet.h"
#include "harness/exec/arena.h"

static const char *const holds[] = {"edges", "corners", "none", NULL};
enum { HELD_EDGES, HELD_CORNERS, HELD_NONE };
enum { PAINT, CLOTH }; /* materials */

static const pbd_param params[] = {
    {"diameter", "m", PBD_REAL, "0.25", 0, 1e6, PBD_OPEN_MIN, NULL, "of the ball of paint"},
    {"drop", "m", PBD_REAL, "0.02", 0, 1e6, 0, NULL, "from its lowest point to where it touches the cloth"},
    {"speed", "m/s", PBD_REAL, "1", 0, 1e6, 0, NULL, "of the ball at the start, downwards"},
    {"side", "m", PBD_REAL, "0.8", 0, 1e6, PBD_OPEN_MIN, NULL, "of the square of cloth"},
    {"cells", "", PBD_INTEGER, "32", 2, 2000, 0, NULL, "squares of two triangles along it"},
    {"held", "", PBD_CHOICE, "edges", 0, 0, 0, holds, "of the cloth: fixed part"},
    {"thickness", "m", PBD_REAL, "0.001", 0, 1e3, PBD_OPEN_MIN, NULL, "of the cloth"},
    {"cloth_E", "Pa", PBD_REAL, "3e5", 0, INFINITY, PBD_OPEN_MIN, NULL, "Young's modulus of the cloth"},
    {"cloth_nu", "", PBD_REAL, "0.3", -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio of the cloth"},
    {"cloth_density", "kg/m^3", PBD_REAL, "300", 0, 1e9, PBD_OPEN_MIN, NULL, "of the cloth"},
    {"bending", "N m", PBD_REAL, "1e-4", 0, 1e9, 0, NULL, "stiffness of the cloth against bending"},
    {"friction", "", PBD_REAL, "0.3", 0, 100, 0, NULL, "Coulomb's coefficient, of paint on cloth"},
    PBD_SAMPLING_PARAMS("3000"),
    PBD_PARTICLE_MATERIAL_PARAMS("14754", "0.475", "100", "hencky"),
    {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"},
    {"duration", "s", PBD_REAL, "0.3", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

enum { LOOKS = 60, MOMENTS = 4, MOST_SHOWN = 20000 };

typedef struct paint_detail {
    sampling particles;
    sheet_size size;
    size_t paint;           /* number of its particles, which come first */
    double distance;        /* m: of a particle's centre from the cloth's middle surface in contact */
    double start[3], scale; /* kg m/s: total momentum at the start, sum of the particles' magnitudes */
    bool starts, tells;     /* start and scale are set; the method provides velocities */
    double momentum;        /* 1: the largest error so far */
    double deepest;         /* m */
    size_t lost, shown;     /* current number; slices recorded so far */
    double sag;             /* m, of the cloth's lowest vertex */
} paint_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status grow(void *rows, size_t count, size_t size) {
    void **of = rows, *more = realloc(*of, count * size + 1);
    if (!more) return pbd_no_memory();
    *of = more;
    return pbd_ok();
}

/* Appends `more` particles, at rest and without loads. */
static pbd_status add_particles(pbd_scene *scene, size_t more) {
    const size_t n = scene->particles.count, all = n + more;
    PBD_TRY(grow(&scene->particles.positions, 3 * all, sizeof(double)));
    PBD_TRY(grow(&scene->loads.forces, 3 * all, sizeof(double)));
    PBD_TRY(grow(&scene->particles.masses, all, sizeof(double)));
    PBD_TRY(grow(&scene->particles.volumes, all, sizeof(double)));
    PBD_TRY(grow(&scene->particles.body, all, sizeof *scene->particles.body));
    PBD_TRY(grow(&scene->particles.velocities, 3 * all, sizeof(double)));
    PBD_TRY(grow(&scene->contact.radius, all, sizeof(double)));
    PBD_TRY(grow(&scene->particles.material, all, sizeof *scene->particles.material));
    memset(scene->loads.forces + 3 * n, 0, 3 * more * sizeof(double));
    memset(scene->particles.velocities, 0, 3 * all * sizeof(double));
    memset(scene->particles.material, PAINT, n);
    memset(scene->particles.material + n, CLOTH, more);
    for (size_t i = n; i < all; i++) scene->particles.body[i] = 1;
    scene->particles.bodies = 2;
    scene->particles.count = all;
    return pbd_ok();
}

static pbd_material cloth_material(const pbd_values *values) {
    return (pbd_material){.matter = PBD_CLOTH,
                          .E = pbd_real(values, "cloth_E"),
                          .nu = pbd_real(values, "cloth_nu"),
                          .density = pbd_real(values, "cloth_density"),
                          .convention = PBD_D_STANDARD,
                          .law = "stvk",
                          .thickness = pbd_real(values, "thickness"),
                          .bending = pbd_real(values, "bending")};
}

static bool is_held(int how, const sheet_size *size, int i, int j) {
    const bool along = i == 0 || i == size->along, across = j == 0 || j == size->across;
    return how == HELD_EDGES ? along || across : how == HELD_CORNERS && along && across;
}

/* The square in z = 0, its middle at the origin; its vertices follow the paint. */
static pbd_status add_cloth(const pbd_values *values, paint_detail *detail, pbd_scene *scene) {
    const sheet_size *size = &detail->size;
    const size_t first = detail->paint;
    const int how = pbd_choice(values, "held");
    pbd_arena a PBD_ARENA;
    pbd_scene sheet PBD_CLEANUP(pbd_scene_free) = {0};
    PBD_TRY(sheet_mesh(size, &sheet));
    PBD_TRY(add_particles(scene, sheet.particles.count));
    unsigned char *mark = pbd_new(&a, unsigned char, first + sheet.particles.count);
    PBD_TRY(pbd_arena_check(&a));
    const pbd_material *cloth = &scene->material[CLOTH];
    const double area = size->length * size->width, density = cloth->density;
    for (int i = 0; i <= size->along; i++)
        for (int j = 0; j <= size->across; j++) {
            const size_t from = sheet_particle(size, i, j), p = first + from;
            const double share = sheet_edge_share(i, size->along) * sheet_edge_share(j, size->across);
            scene->particles.positions[3 * p] = sheet.particles.positions[3 * from] - 0.5 * size->length;
            scene->particles.positions[3 * p + 1] = sheet.particles.positions[3 * from + 1];
            scene->particles.positions[3 * p + 2] = 0;
            scene->particles.volumes[p] = area * cloth->thickness * share;
            scene->particles.masses[p] = density * scene->particles.volumes[p];
            scene->contact.radius[p] = 0.5 * cloth->thickness;
            mark[p] = is_held(how, size, i, j);
        }
    scene->triangles.corner = sheet.triangles.corner;
    scene->triangles.count = sheet.triangles.count;
    sheet.triangles.corner = NULL;
    for (size_t k = 0; k < 3 * scene->triangles.count; k++) scene->triangles.corner[k] += (uint32_t)first;
    PBD_TRY_NEW(scene->triangles.material, scene->triangles.count);
    memset(scene->triangles.material, CLOTH, scene->triangles.count);
    return body_hold(scene, mark);
}

static pbd_status add_paint(const pbd_values *values, paint_detail *detail, pbd_scene *scene) {
    const double radius = 0.5 * pbd_real(values, "diameter");
    const sampling_plan plan = particle_plan(values);
    shapes s = {0};
    shapes_sphere(&s, 0, 0, 0, radius);
    const solid ball = shapes_solid(&s);
    PBD_TRY(sampling_make(&ball, &plan, &detail->particles));
    const sampling *made = &detail->particles;
    const double own = (made->site ? 0.5 : 0.3) * made->spacing; /* least distance of samples from a surface */
    detail->distance = own + 0.5 * scene->material[CLOTH].thickness;
    double lowest = 0;
    for (size_t i = 0; i < made->count; i++) lowest = fmin(lowest, made->position[3 * i + 2]);
    const placement here = placement_at(0, 0, detail->distance + pbd_real(values, "drop") - lowest);
    PBD_TRY(particle_scene_make(made, 1, &here, scene));
    detail->paint = made->count;
    PBD_TRY_NEW(scene->contact.radius, made->count);
    for (size_t i = 0; i < made->count; i++) scene->contact.radius[i] = own;
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    paint_detail *detail = setup->detail;
    const double side = pbd_real(values, "side");
    const int cells = (int)pbd_integer(values, "cells");
    detail->size = (sheet_size){side, side, cells, cells};
    if (!(pbd_real(values, "diameter") < side))
        return pbd_error(PBD_BAD_INPUT, "diameter=%g m must be less than side=%g m: paint would fall past the cloth",
                         pbd_real(values, "diameter"), side);
    scene->material[PAINT] = particle_material(values);
    flow_read(values, &scene->material[PAINT]);
    scene->loads.gravity[2] = -pbd_real(values, "gravity");
    scene->material[CLOTH] = cloth_material(values);
    scene->materials = 2;
    scene->contact.friction = pbd_real(values, "friction");
    PBD_TRY(add_paint(values, detail, scene));
    PBD_TRY(add_cloth(values, detail, scene));
    for (size_t i = 0; i < detail->paint; i++) scene->particles.velocities[3 * i + 2] = -pbd_real(values, "speed");
    scene->extent = fmax(scene->extent, side);
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / LOOKS;
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Residual of the balance of momentum with gravity, relative to the start. There is no such balance if particles are
 * held. */
static void look_at_momentum(paint_detail *d, const pbd_scene *scene, const double *v, double time) {
    double sum[3] = {0}, scale = 0, mass = 0, left = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        double square = 0;
        for (size_t k = 0; k < 3; k++) {
            sum[k] += scene->particles.masses[i] * v[3 * i + k];
            square += v[3 * i + k] * v[3 * i + k];
        }
        mass += scene->particles.masses[i];
        scale += scene->particles.masses[i] * sqrt(square);
    }
    if (!d->starts) {
        memcpy(d->start, sum, sizeof sum);
        d->scale = scale;
        d->starts = true;
    }
    for (int k = 0; k < 3; k++) {
        const double off = sum[k] - d->start[k] - mass * scene->loads.gravity[k] * time;
        left += off * off;
    }
    if (d->scale > 0) d->momentum = fmax(d->momentum, sqrt(left) / d->scale);
}

/* Winding number of the cloth around x. The ball starts above the cloth: the sign there is that of the upper side. */
static double side_of(const triangle_tree *tree, const double x[3]) { return triangle_tree_winding(tree, x); }

/* Lost: not finite, or on the other side of the cloth, through it or over its rim. */
static pbd_status look_at_cloth(paint_detail *d, const pbd_scene *scene, const double *x) {
    triangle_tree *tree, *rest;
    const double middle[3] = {0, 0, 1e-3 * d->size.length};
    PBD_TRY(triangle_tree_make(scene->triangles.count, scene->triangles.corner, scene->particles.positions, &rest));
    const double above = side_of(rest, middle);
    triangle_tree_free(rest);
    PBD_TRY(triangle_tree_make(scene->triangles.count, scene->triangles.corner, x, &tree));
    d->lost = 0;
    for (size_t i = 0; i < d->paint; i++) {
        const double *at = x + 3 * i;
        const bool somewhere = isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]);
        if (!somewhere || side_of(tree, at) * above < 0)
            d->lost++;
        else
            d->deepest = fmax(d->deepest, d->distance - triangle_tree_distance(tree, at));
    }
    triangle_tree_free(tree);
    d->sag = 0;
    for (size_t i = d->paint; i < scene->particles.count; i++) d->sag = fmax(d->sag, -x[3 * i + 2]);
    return pbd_ok();
}

/* Paint within three quarters of a spacing of the plane y = 0, and the middle line of the cloth, at a few times. */
static void show_slice(paint_detail *d, const pbd_scene *scene, const double *x, double time, pbd_recorder *recorder) {
    for (size_t i = 0; i < d->paint; i++)
        if (fabs(x[3 * i + 1]) < 0.75 * scene->particles.spacing) {
            pbd_series(recorder, "paint_slice", "x", "m", &x[3 * i], 1, 1);
            pbd_series(recorder, "paint_slice", "z", "m", &x[3 * i + 2], 1, 1);
            pbd_series(recorder, "paint_slice", "value", "s", &time, 1, 1);
        }
    for (int i = 0; i <= d->size.along; i++) {
        const double *at = x + 3 * (d->paint + sheet_particle(&d->size, i, d->size.across / 2));
        pbd_series(recorder, "cloth_slice", "x", "m", at, 1, 1);
        pbd_series(recorder, "cloth_slice", "z", "m", at + 2, 1, 1);
        pbd_series(recorder, "cloth_slice", "value", "s", &time, 1, 1);
    }
    d->shown++;
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    paint_detail *d = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    pbd_arena a PBD_ARENA;
    double *v = pbd_new(&a, double, 3 * scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(body_positions(scene, method, state, &x));
    d->tells = method->read(state, PBD_VELOCITIES, v).code == PBD_OK;
    if (d->tells && scene->particles.fixed == 0) look_at_momentum(d, scene, v, time);
    const pbd_status status = look_at_cloth(d, scene, x);
    if (time >= (double)d->shown / (MOMENTS - 1) * scene->duration * (1 - 1e-9))
        show_slice(d, scene, x, time, recorder);
    PBD_TRY(status);
    const double lost = (double)d->lost;
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "sag", "value", "m", &d->sag, 1, 1);
    pbd_series(recorder, "lost_particles", "value", "1", &lost, 1, 1);
    return pbd_ok();
}

static void show_all(const paint_detail *d, const pbd_scene *scene, const double *x, pbd_recorder *recorder) {
    static const char *const axis[] = {"x", "y", "z"};
    if (scene->particles.count > MOST_SHOWN) return;
    for (int k = 0; k < 3; k++) {
        pbd_series(recorder, "paint", axis[k], "m", x + k, d->paint, 3);
        pbd_series(recorder, "cloth", axis[k], "m", x + 3 * d->paint + k, scene->particles.count - d->paint, 3);
    }
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    paint_detail *d = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(look_at_cloth(d, scene, x));
    show_all(d, scene, x, recorder);
    particle_record_sampling(&d->particles, 1, recorder);
    if (d->starts) pbd_metric(recorder, "momentum_error", "1", PBD_FLAW, d->momentum);
    pbd_metric(recorder, "penetration_max", "m", PBD_FLAW, d->deepest);
    pbd_metric(recorder, "penetration_over_distance", "1", PBD_FLAW, d->deepest / d->distance);
    pbd_metric(recorder, "particles_lost", "1", PBD_FLAW, (double)d->lost);
    pbd_metric(recorder, "sag", "m", PBD_STATE, d->sag);
    return pbd_ok();
}

const pbd_case pbd_case_paint_on_cloth = {
    .name = "paint_on_cloth",
    .summary = "a ball of viscoplastic paint falls on a cloth: momentum exchanged, penetration, particles lost",
    .source = "yu2024 Figure 3, Table 2 (Cloth)",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES | PBD_NEEDS_TRIANGLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=herschel_bulkley yield_stress=50",
    PARTICLE_DETAIL(paint_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
