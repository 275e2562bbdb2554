/* Many pairs of particles, each at a different distance and out of reach of all others: the force between two over
 * their distance, the surface around two, and the kernel itself, with its integral by quadrature. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/smoothed_body.h"

#define REAL double
#include "methods/physics/space/sph_kernel.h"

static const pbd_param params[] = {
    {"pairs", "", PBD_INTEGER, "111", 2, 10000, 0, NULL, "at distances from 0 to `farthest`"},
    {"farthest", "", PBD_REAL, "2.2", 0, 100, PBD_OPEN_MIN, NULL, "distance of a pair, in h"},
    PBD_SMOOTHED_PARAMS("3", "1", "10", "0"),
    {"rest_density", "kg/m^3", PBD_REAL, "0", 0, 1e9, 0, NULL, "of Eq. 6; 0: the method's default"},
    {"dt", "s", PBD_REAL, "1e-8", 0, 1, PBD_OPEN_MIN, NULL, "far too short for any motion"},
    {0}};

typedef struct pairs_detail {
    smoothed_matter matter;
    double k, dt;
} pairs_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    const size_t pairs = (size_t)pbd_integer(values, "pairs"), n = 2 * pairs;
    const double spacing = pbd_real(values, "spacing"), h = pbd_real(values, "h") * spacing;
    const double farthest = pbd_real(values, "farthest") * h;
    const int dimensions = pbd_choice(values, "dimensions") + 2;
    pairs_detail *detail = setup->detail;
    PBD_TRY_NEW(scene->particles.positions, 3 * n);
    PBD_TRY_NEW(scene->particles.velocities, 3 * n);
    PBD_TRY_NEW(scene->loads.forces, 3 * n);
    PBD_TRY_NEW(scene->particles.masses, n);
    for (size_t i = 0; i < n; i++) {
        scene->particles.positions[3 * i + 1] = (double)(i / 2) * 4.5 * h;
        if (i % 2) scene->particles.positions[3 * i] = farthest * (double)(i / 2) / (double)(pairs - 1);
        scene->particles.masses[i] = pbd_real(values, "density") * pow(spacing, dimensions);
    }
    scene->particles.count = n;
    scene->particles.spacing = spacing;
    scene->extent = 4.5 * h * (double)pairs;
    scene->duration = detail->dt = pbd_real(values, "dt");
    detail->k = pbd_real(values, "k");
    const sph_kernel kernels[] = {SPH_SPIKY, SPH_CUBIC_SPLINE};
    detail->matter = (smoothed_matter){.dimensions = dimensions,
                                       .kernel = kernels[pbd_choice(values, "kernel")],
                                       .h = h,
                                       .particles = 2,
                                       .mass = scene->particles.masses};
    return pbd_ok();
}

/* ---- The kernel -------------------------------------------------------------------------------------------------- */

/* Of the kernel over all space, by Simpson's rule on 2000 intervals: exact to rounding for these polynomials. */
static double integral(const smoothed_matter *m, int dimensions) {
    const double pi = acos(-1), sphere[] = {2, 2 * pi, 4 * pi}, support = 2 * m->h, step = support / 4000;
    double sum = 0;
    for (int n = 0; n <= 4000; n++) {
        const double r = step * n, weight = n == 0 || n == 4000 ? 1 : n % 2 ? 4 : 2;
        sum += weight * pow(r, dimensions - 1) * sph_kernel_in((sph_kernel)m->kernel, dimensions, r * r, support).w;
    }
    return sphere[dimensions - 1] * sum * step / 3;
}

/* W h^d and its slope h^(d+1) dW/dr in one, two and three dimensions. */
static void record_kernel(const smoothed_matter *m, pbd_recorder *recorder) {
    static const char *const value[] = {"w1", "w2", "w3"}, *const slope[] = {"slope1", "slope2", "slope3"};
    static const char *const whole[] = {"integral_1d", "integral_2d", "integral_3d"};
    for (int n = 0; n <= 110; n++) {
        const double q = 0.02 * n, r = q * m->h;
        pbd_series(recorder, "kernel", "q", "1", &q, 1, 1);
        for (int d = 1; d <= 3; d++) {
            const sph_value at = sph_kernel_in((sph_kernel)m->kernel, d, r * r, 2 * m->h);
            const double w = at.w * pow(m->h, d);
            /* (dW/dr)/r is undefined for the spiky kernel at 0, where dW/dr is -3 W/R from the right. */
            const double steep = n == 0 && m->kernel == SPH_SPIKY ? -1.5 * w : at.slope * r * pow(m->h, d + 1);
            pbd_series(recorder, "kernel", value[d - 1], "1", &w, 1, 1);
            pbd_series(recorder, "kernel", slope[d - 1], "1", &steep, 1, 1);
        }
    }
    for (int d = 1; d <= 3; d++) pbd_metric(recorder, whole[d - 1], "1", PBD_STATE, integral(m, d));
}

/* ---- The force and the surface of two ---------------------------------------------------------------------------- */

/* Force times h over k m, repulsion above 0: what the second of each pair has gained along x. */
static pbd_status record_force(const pbd_setup *setup, const pbd_method *method, const void *state,
                               pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const pairs_detail *detail = setup->detail;
    double *x, *v, largest = -INFINITY, least = INFINITY, where = 0, at_zero = 0;
    const pbd_status status = body_motion(scene, method, state, &x, &v);
    if (status.code != PBD_OK) return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
    for (size_t p = 0; p < scene->particles.count / 2; p++) {
        const double apart = scene->particles.positions[6 * p + 3] / detail->matter.h;
        const double force = detail->k > 0 ? v[6 * p + 3] / detail->dt * detail->matter.h / detail->k : 0;
        pbd_series(recorder, "force", "distance", "1", &apart, 1, 1);
        pbd_series(recorder, "force", "value", "1", &force, 1, 1);
        largest = fmax(largest, force);
        if (force < least) least = force, where = apart;
        if (p == 0) at_zero = force;
    }
    free(x);
    free(v);
    pbd_metric(recorder, "force_at_zero", "1", PBD_STATE, at_zero);
    pbd_metric(recorder, "largest_force", "1", PBD_STATE, largest);
    pbd_metric(recorder, "deepest_force", "1", PBD_STATE, least);
    pbd_metric(recorder, "deepest_force_at", "1", PBD_STATE, where);
    return pbd_ok();
}

/* Of two particles `apart` h from each other, at `level` m W_h(h). */
static pbd_status surface_of_two(const pairs_detail *detail, double apart, double level, density_surface *out) {
    const double x[6] = {0, 0, 0, apart * detail->matter.h, 0, 0};
    smoothed_matter two = detail->matter;
    density_grid grid;
    two.x = x;
    PBD_TRY(density_grid_make(&two, two.h / (two.dimensions == 2 ? 100 : 16), &grid));
    const pbd_status status = density_surface_make(&grid, level * density_unit(&two, two.mass[0]), out);
    density_grid_free(&grid);
    return status;
}

static pbd_status draw_two(const pairs_detail *detail, double apart, double level, pbd_recorder *recorder) {
    static const char *const component[] = {"x", "y", "dx", "dy", "apart", "level"};
    density_surface s;
    PBD_TRY(surface_of_two(detail, apart, level, &s));
    for (size_t f = 0; f < s.faces && s.corners == 2; f++) {
        const double *a = s.vertex + 3 * s.face[2 * f], *b = s.vertex + 3 * s.face[2 * f + 1], h = detail->matter.h;
        const double row[6] = {a[0] / h, a[1] / h, (b[0] - a[0]) / h, (b[1] - a[1]) / h, apart, level};
        for (int c = 0; c < 6; c++) pbd_series(recorder, "contour", component[c], "1", &row[c], 1, 1);
    }
    density_surface_free(&s);
    return pbd_ok();
}

/* Least distance, in h, at which two particles have two surfaces, by bisection; and the radius of an isolated one's. */
static pbd_status record_surface(const pairs_detail *detail, double level, const char *parts, const char *radius,
                                 pbd_recorder *recorder) {
    double together = 0.5, apart = 4;
    density_surface s;
    while (apart - together > 1e-3) {
        const double middle = 0.5 * (together + apart);
        PBD_TRY(surface_of_two(detail, middle, level, &s));
        if (s.pieces > 1)
            apart = middle;
        else
            together = middle;
        density_surface_free(&s);
    }
    pbd_metric(recorder, parts, "1", PBD_STATE, apart);
    PBD_TRY(surface_of_two(detail, 4.2, level, &s));
    double farthest = 0;
    for (size_t v = 0; v < s.vertices; v++) farthest = fmax(farthest, -s.vertex[3 * v] / detail->matter.h);
    density_surface_free(&s);
    pbd_metric(recorder, radius, "1", PBD_STATE, farthest);
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pairs_detail *detail = setup->detail;
    record_kernel(&detail->matter, recorder);
    PBD_TRY(record_force(setup, method, state, recorder));
    PBD_TRY(record_surface(detail, 2, "parts_at_2", "radius_at_2", recorder));
    PBD_TRY(record_surface(detail, 1, "parts_at_1", "radius_at_1", recorder));
    if (detail->matter.dimensions == 3) return pbd_ok();
    static const double apart[] = {1, 1.9, 2.1};
    for (int k = 0; k < 3; k++)
        for (int level = 1; level <= 2; level++) PBD_TRY(draw_two(detail, apart[k], level, recorder));
    return pbd_ok();
}

const pbd_case pbd_case_particle_pairs = {
    .name = "particle_pairs",
    .summary = "pairs of smoothed particles: kernel, force over distance, and the surface around two",
    .source = "desbrun1996 Figures 1, 2, 3 and 5",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(pairs_detail),
    .build = build,
    .measure = measure,
};
