/* One tetrahedron or triangle that starts deformed, without loads: what a projection of its constraints does to it.
 *
 * No force acts and nothing moves at the start, so the displacement after a step of one iteration is the projection
 * itself. It is compared with finite-difference gradients of an energy that this file evaluates from positions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/scenes/body.h"
#include "harness/exec/arena.h"

#define REAL double
#include "methods/physics/matter/law_material.h"
/* after law_material.h */
#include "cases/scenes/tetrahedron.h"

static const char *const cell_names[] = {"tet", "triangle", NULL};
static const char *const shapes[] = {"corner", "skewed", NULL};
static const char *const motions[] = {"none", "turn", "stretch", "shear", "general", NULL};
enum { NONE, TURN, STRETCH, SHEAR, GENERAL };
static const char *const masses[] = {"equal", "uneven", NULL};
static const char *const holds[] = {"none", "last", NULL};

static const pbd_param params[] = {
    {"E", "Pa", PBD_REAL, "1000", 0, INFINITY, PBD_OPEN_MIN, NULL, "Young's modulus"},
    {"nu", "", PBD_REAL, "0.3", -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "Poisson's ratio"},
    {"density", "kg/m^3", PBD_REAL, "1000", 0, 1e9, PBD_OPEN_MIN, NULL, "mass density"},
    {"material", "", PBD_CHOICE, "neo_hookean", 0, 0, 0, law_names, "strain-energy density"},
    {"cell", "", PBD_CHOICE, "tet", 0, 0, 0, cell_names, "of solid matter, or a membrane"},
    {"shape", "", PBD_CHOICE, "corner", 0, 0, 0, shapes, "at rest: edges along the axes, or no two alike"},
    {"size", "m", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "of its edges"},
    {"motion", "", PBD_CHOICE, "general", 0, 0, 0, motions,
     "the start: at rest; turned about (1, 2, 3); x stretched; y sheared towards x; all entries of F"},
    {"amount", "", PBD_REAL, "0.3", -0.9, 10, 0, NULL, "motion=turn|stretch|shear|general: of strain, or rad"},
    {"masses", "", PBD_CHOICE, "equal", 0, 0, 0, masses, "of the corners, or as 1 : 2 : 3 : 4"},
    {"hold", "", PBD_CHOICE, "none", 0, 0, 0, holds, "the last corner"},
    {"duration", "s", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time: with dt as long, one step"},
    {0}};

typedef struct one_detail {
    int corners; /* 4 or 3 */
    double size; /* m */
} one_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* Edges from the last corner, by corner. In `skewed` no angle or length occurs twice. */
static const double rest_edges[][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {1.1, 0.1, -0.2, 0.3, 0.8, 0.1, -0.1, 0.25, 0.9}};

static mat3 start_gradient(int motion, double amount) {
    const mat3 one = mat3_identity();
    if (motion == STRETCH) return mat3_diagonal(vec3_make(1 + amount, 1, 1));
    if (motion == SHEAR) return mat3_make(one.x, vec3_make(amount, 1, 0), one.z);
    if (motion == GENERAL)
        return mat3_add(one, mat3_scale(amount, mat3_make(vec3_make(0.5, -0.3, 0.2), vec3_make(0.7, -0.4, 0.1),
                                                          vec3_make(-0.2, 0.6, 0.9))));
    if (motion == TURN) { /* Rodrigues: I + sin K + (1 - cos) K^2 */
        const double x = 1 / sqrt(14.0), y = 2 / sqrt(14.0), z = 3 / sqrt(14.0);
        const mat3 K = mat3_make(vec3_make(0, z, -y), vec3_make(-z, 0, x), vec3_make(y, -x, 0));
        return mat3_add(one, mat3_add(mat3_scale(sin(amount), K), mat3_scale(1 - cos(amount), mat3_mul(K, K))));
    }
    return one;
}

static void place(const one_detail *d, const double *edges, mat3 F, pbd_scene *scene) {
    const bool flat = d->corners == 3; /* a triangle lies in the plane z = 0 at rest */
    for (int c = 0; c < d->corners; c++) {
        double *x = scene->particles.positions + 3 * c;
        for (int k = 0; k < 3 && c < d->corners - 1; k++) x[k] = flat && k == 2 ? 0 : d->size * edges[3 * c + k];
        const vec3 at = mat3_apply(F, vec3_make(x[0], x[1], x[2]));
        double *start = scene->particles.start + 3 * c;
        start[0] = at.x;
        start[1] = at.y;
        start[2] = at.z;
    }
}

/* m^3, or m^2 of a triangle. */
static double size_of(const one_detail *d, const double *rest) {
    static const uint32_t corner[] = {0, 1, 2, 3};
    if (d->corners == 4) return mat3_det(tet_edges(rest, corner)) / 6;
    const vec3 a = vec3_sub(row_at(rest, 0), row_at(rest, 2)), b = vec3_sub(row_at(rest, 1), row_at(rest, 2));
    return sqrt(vec3_dot(vec3_cross(a, b), vec3_cross(a, b))) / 2;
}

static void weigh(const one_detail *d, bool uneven, pbd_scene *scene) {
    const double whole = size_of(d, scene->particles.positions) * scene->material->density;
    const double parts = uneven ? d->corners * (d->corners + 1) / 2 : d->corners;
    for (int c = 0; c < d->corners; c++) scene->particles.masses[c] = whole * (uneven ? c + 1 : 1) / parts;
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    one_detail *d = setup->detail;
    const int motion = pbd_choice(values, "motion");
    d->corners = pbd_choice(values, "cell") == 0 ? 4 : 3;
    d->size = pbd_real(values, "size");
    pbd_cells *cells = d->corners == 4 ? &scene->tets : &scene->triangles;
    const size_t count = (size_t)d->corners;
    PBD_TRY_NEW(scene->particles.positions, 3 * count);
    PBD_TRY_NEW(scene->particles.start, 3 * count);
    PBD_TRY_NEW(scene->particles.masses, count);
    PBD_TRY_NEW(scene->particles.fixed_particle, count);
    PBD_TRY_NEW(cells->corner, count);
    scene->particles.count = count;
    cells->count = 1;
    for (uint32_t c = 0; c < count; c++) cells->corner[c] = c;
    scene->material[0] = (pbd_material){.E = pbd_real(values, "E"),
                                        .nu = pbd_real(values, "nu"),
                                        .density = pbd_real(values, "density"),
                                        .law = law_names[pbd_choice(values, "material")]};
    place(d, rest_edges[pbd_choice(values, "shape")], start_gradient(motion, pbd_real(values, "amount")), scene);
    weigh(d, pbd_choice(values, "masses") == 1, scene);
    if (pbd_choice(values, "hold") == 1)
        scene->particles.fixed_particle[scene->particles.fixed++] = (uint32_t)count - 1;
    scene->extent = d->size;
    scene->duration = pbd_real(values, "duration");
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Edges as columns; a triangle's third is its unit normal, which does not stretch. */
static mat3 edges_at(const one_detail *d, const double *x) {
    static const uint32_t corner[] = {0, 1, 2, 3};
    if (d->corners == 4) return tet_edges(x, corner);
    const vec3 a = vec3_sub(row_at(x, 0), row_at(x, 2)), b = vec3_sub(row_at(x, 1), row_at(x, 2));
    const vec3 n = vec3_cross(a, b);
    return mat3_make(a, b, vec3_scale(1 / sqrt(vec3_dot(n, n)), n));
}

static mat3 gradient_at(const pbd_setup *setup, const double *x) {
    double det;
    return mat3_over(edges_at(setup->detail, x), edges_at(setup->detail, setup->scene.particles.positions), &det);
}

/* J; J/m of a triangle, whose thickness is 1. */
static double energy_at(const pbd_setup *setup, const double *x) {
    const one_detail *d = setup->detail;
    const pbd_material *m = setup->scene.material;
    hyperelastic law = law_plain(m);
    if (d->corners == 3) law.lambda = m->E * m->nu / (1 - m->nu * m->nu); /* plane stress, as method.h has it */
    return size_of(d, setup->scene.particles.positions) * stress(law, gradient_at(setup, x)).psi;
}

static bool is_held(const pbd_scene *scene, int corner) {
    return scene->particles.fixed > 0 && scene->particles.fixed_particle[0] == (uint32_t)corner;
}

/* Distance between the unit vectors of the impulse and of the energy's descent at the start, which is by central
 * differences of second order. NaN if either is 0. */
static double direction_error(const pbd_setup *setup, const double *impulse) {
    const pbd_scene *scene = &setup->scene;
    const one_detail *d = setup->detail;
    const double h = 1e-5 * d->size;
    double x[12], descent[12], own = 0, theirs = 0, off = 0;
    memcpy(x, scene->particles.start, 3 * (size_t)d->corners * sizeof *x);
    for (int k = 0; k < 3 * d->corners; k++) {
        const double here = x[k];
        x[k] = here + h;
        const double above = energy_at(setup, x);
        x[k] = here - h;
        descent[k] = is_held(scene, k / 3) ? 0 : (energy_at(setup, x) - above) / (2 * h);
        x[k] = here;
        own += descent[k] * descent[k];
        theirs += impulse[k] * impulse[k];
    }
    for (int k = 0; k < 3 * d->corners; k++) off += pow(impulse[k] / sqrt(theirs) - descent[k] / sqrt(own), 2);
    return sqrt(off);
}

/* Sums of the impulse and of its moment about the origin, over the sums of the magnitudes. */
static void record_momenta(const pbd_setup *setup, const double *impulse, pbd_recorder *recorder) {
    const one_detail *d = setup->detail;
    vec3 sum = vec3_make(0, 0, 0), moment = sum;
    double size = 0, arm = 0;
    for (int c = 0; c < d->corners; c++) {
        const vec3 p = row_at(impulse, (uint32_t)c), at = row_at(setup->scene.particles.start, (uint32_t)c);
        sum = vec3_add(sum, p);
        moment = vec3_add(moment, vec3_cross(at, p));
        size += sqrt(vec3_dot(p, p));
        arm += sqrt(vec3_dot(p, p) * vec3_dot(at, at));
    }
    if (setup->scene.particles.fixed > 0) return;
    pbd_metric(recorder, "impulse_sum", "1", PBD_FLAW, sqrt(vec3_dot(sum, sum)) / size);
    pbd_metric(recorder, "moment_sum", "1", PBD_FLAW, sqrt(vec3_dot(moment, moment)) / arm);
}

/* Lengths of the images of the coordinate axes, and cosines of the angles between them. */
static void record_axes(const pbd_setup *setup, const double *x, const char *const name[6], double length[3],
                        pbd_recorder *recorder) {
    const int axes = ((const one_detail *)setup->detail)->corners - 1;
    const mat3 F = gradient_at(setup, x);
    const vec3 f[] = {F.x, F.y, F.z};
    for (int i = 0; i < axes; i++) {
        length[i] = sqrt(vec3_dot(f[i], f[i]));
        pbd_metric(recorder, name[i], "1", PBD_STATE, length[i]);
    }
    for (int i = 0; i < (axes == 3 ? 3 : 1); i++)
        pbd_metric(recorder, name[3 + i], "1", PBD_STATE,
                   vec3_dot(f[i], f[(i + 1) % 3]) / (length[i] * length[(i + 1) % 3]));
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const one_detail *d = setup->detail;
    static const char *const before[] = {"stretch_x_start", "stretch_y_start", "stretch_z_start",
                                         "cosine_xy_start", "cosine_yz_start", "cosine_zx_start"};
    static const char *const after[] = {"stretch_x", "stretch_y", "stretch_z", "cosine_xy", "cosine_yz", "cosine_zx"};
    double *x PBD_CLEANUP(pbd_free_memory) = NULL, impulse[12], moved = 0, was[3] = {0}, is[3] = {0}, change = 0;
    PBD_TRY(body_positions(scene, method, state, &x));
    for (int k = 0; k < 3 * d->corners; k++) {
        const double step = x[k] - scene->particles.start[k];
        impulse[k] = is_held(scene, k / 3) ? 0 : scene->particles.masses[k / 3] * step;
        moved = fmax(moved, fabs(step) / d->size);
    }
    pbd_metric(recorder, "moved", "1", PBD_STATE, moved);
    pbd_metric(recorder, "energy_start", "J", PBD_STATE, energy_at(setup, scene->particles.start));
    pbd_metric(recorder, "energy_end", "J", PBD_STATE, energy_at(setup, x));
    record_axes(setup, scene->particles.start, before, was, recorder);
    record_axes(setup, x, after, is, recorder);
    for (int i = 0; i < 3; i++) change = fmax(change, fabs(is[i] - was[i]));
    pbd_metric(recorder, "stretch_change", "1", PBD_STATE, change);
    if (!(moved > 1e-9)) return pbd_ok(); /* rounding has no direction */
    const double direction = direction_error(setup, impulse);
    if (isfinite(direction)) pbd_metric(recorder, "direction_error", "1", PBD_STATE, direction);
    record_momenta(setup, impulse, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_one_element = {
    .name = "one_element",
    .summary = "a tetrahedron or triangle that starts deformed: what one projection does to it",
    .source = "continuum; Mueller et al. 2015",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_TETS | PBD_NEEDS_TRIANGLES,
    .params = params,
    .detail_bytes = sizeof(one_detail),
    .build = build,
    .measure = measure,
};
