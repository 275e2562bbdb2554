#include "cases/scenes/sheet.h"

#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

static const double DEGREE = 0.017453292519943295;

uint32_t sheet_particle(const sheet_size *size, int i, int j) {
    return (uint32_t)j + ((uint32_t)size->across + 1) * (uint32_t)i;
}

double sheet_edge_share(int i, int n) { return (i == 0 || i == n ? 0.5 : 1) / n; }

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static void fill_mesh(const sheet_size *size, pbd_scene *scene) {
    static const int split[2][2][3] = {{{0, 1, 2}, {0, 2, 3}}, {{0, 1, 3}, {1, 2, 3}}};
    uint32_t *triangle = scene->triangles.corner;
    for (int i = 0; i <= size->along; i++)
        for (int j = 0; j <= size->across; j++) {
            double *x = scene->particles.positions + 3 * (size_t)sheet_particle(size, i, j);
            x[0] = size->length * i / size->along;
            x[1] = size->width * ((double)j / size->across - 0.5);
        }
    for (int i = 0; i < size->along; i++)
        for (int j = 0; j < size->across; j++, triangle += 6) {
            const uint32_t corner[4] = {sheet_particle(size, i, j), sheet_particle(size, i + 1, j),
                                        sheet_particle(size, i + 1, j + 1), sheet_particle(size, i, j + 1)};
            for (int t = 0; t < 2; t++)
                for (int v = 0; v < 3; v++) triangle[3 * t + v] = corner[split[(i + j) % 2][t][v]];
        }
}

/* Gives each particle its share of the mass of the squares around it. */
static void lump_mass(const sheet_size *size, pbd_scene *scene) {
    const double mass = scene->material->density * scene->material->thickness * size->length * size->width;
    for (int i = 0; i <= size->along; i++)
        for (int j = 0; j <= size->across; j++)
            scene->particles.masses[sheet_particle(size, i, j)] =
                mass * sheet_edge_share(i, size->along) * sheet_edge_share(j, size->across);
}

static void set_material(const pbd_values *values, pbd_material *out) {
    const double angle = DEGREE * pbd_real(values, "fibre_angle");
    *out = (pbd_material){.E = pbd_real(values, "E"),
                          .nu = pbd_real(values, "nu"),
                          .density = pbd_real(values, "density"),
                          .convention = PBD_D_STANDARD,
                          .law = law_names[pbd_choice(values, "material")],
                          .fibre_stiffness = {pbd_real(values, "fibre_stiffness")},
                          .fibre = {{cos(angle), sin(angle), 0}},
                          .thickness = pbd_real(values, "thickness")};
}

pbd_status sheet_mesh(const sheet_size *size, pbd_scene *scene) {
    scene->particles.count = ((size_t)size->along + 1) * ((size_t)size->across + 1);
    scene->triangles.count = 2 * (size_t)size->along * (size_t)size->across;
    scene->extent = fmax(size->length, size->width);
    PBD_TRY_NEW(scene->particles.positions, 3 * scene->particles.count);
    PBD_TRY_NEW(scene->loads.forces, 3 * scene->particles.count);
    PBD_TRY_NEW(scene->triangles.corner, 3 * scene->triangles.count);
    fill_mesh(size, scene);
    return pbd_ok();
}

pbd_status sheet_build(const pbd_values *values, pbd_scene *scene, sheet_size *size) {
    *size = (sheet_size){pbd_real(values, "length"), pbd_real(values, "width"), 0, (int)pbd_integer(values, "cells")};
    const double along = size->length / size->width * size->across;
    if (!(along < 1e6))
        return pbd_error(PBD_BAD_INPUT, "length=%g over width=%g makes %.3g squares along the sheet: 1000000 at most",
                         size->length, size->width, along);
    size->along = along < 1 ? 1 : (int)lround(along);
    set_material(values, scene->material);
    PBD_TRY(sheet_mesh(size, scene));
    PBD_TRY_NEW(scene->particles.masses, scene->particles.count);
    lump_mass(size, scene);
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; d++) out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

static double length_of(const double a[3]) { return sqrt(dot(a, a)); }

/* Unit vectors in the plane at rest along which strains are reported: the fibre (without one: x) and its perpendicular,
 * and x and y. */
typedef struct sheet_axes {
    double fibre[3], perpendicular[3], x[3], y[3];
} sheet_axes;

/* The plane at rest is that of the first triangle, as hung sheets do not lie in z = 0. x is that triangle's first edge:
 * from particle 0 along the first side of the first square. */
static sheet_axes axes_of(const pbd_scene *scene) {
    sheet_axes axes;
    double first[3], second[3], normal[3];
    const double *rest = scene->particles.positions;
    const uint32_t *t = scene->triangles.corner;
    for (uint32_t d = 0; d < 3; d++) {
        first[d] = rest[3 * t[1] + d] - rest[3 * t[0] + d];
        second[d] = rest[3 * t[2] + d] - rest[3 * t[0] + d];
    }
    cross(first, second, normal);
    for (int d = 0; d < 3; d++) axes.x[d] = first[d] / length_of(first);
    for (int d = 0; d < 3; d++) second[d] = normal[d] / length_of(normal);
    cross(second, axes.x, axes.y);
    const double *b = scene->material->fibre[0];
    const bool fibrous = pbd_has_fibres(scene->material);
    for (int d = 0; d < 3; d++) axes.fibre[d] = fibrous ? b[d] / length_of(b) : axes.x[d];
    cross(second, axes.fibre, axes.perpendicular);
    return axes;
}

/* Writes F w of triangle e, for a direction w in the plane at rest. Returns twice the triangle's area at rest. */
static double image_of(const pbd_scene *scene, const double *x, size_t e, const double w[3], double out[3]) {
    const uint32_t *t = scene->triangles.corner + 3 * e;
    double a[3], b[3], normal[3], u[3], v[3];
    for (uint32_t d = 0; d < 3; d++) {
        a[d] = scene->particles.positions[3 * t[1] + d] - scene->particles.positions[3 * t[0] + d];
        b[d] = scene->particles.positions[3 * t[2] + d] - scene->particles.positions[3 * t[0] + d];
    }
    cross(a, b, normal);
    const double square = dot(normal, normal);
    cross(w, b, u);
    cross(a, w, v);
    const double p = dot(u, normal) / square, q = dot(v, normal) / square; /* w = p a + q b */
    for (uint32_t d = 0; d < 3; d++)
        out[d] = p * (x[3 * t[1] + d] - x[3 * t[0] + d]) + q * (x[3 * t[2] + d] - x[3 * t[0] + d]);
    return sqrt(square);
}

/* Writes the mean of F w over the sheet, and returns the mean of |F w|. */
static double mean_image(const pbd_scene *scene, const double *x, const double w[3], double out[3]) {
    double area = 0, stretch = 0, image[3];
    for (int d = 0; d < 3; d++) out[d] = 0;
    for (size_t e = 0; e < scene->triangles.count; e++) {
        const double weight = image_of(scene, x, e, w, image);
        for (int d = 0; d < 3; d++) out[d] += weight * image[d];
        stretch += weight * length_of(image);
        area += weight;
    }
    for (int d = 0; d < 3; d++) out[d] /= area;
    return stretch / area;
}

static size_t count_inverted(const pbd_scene *scene, const double *x, const sheet_axes *axes, const double normal[3]) {
    size_t count = 0;
    for (size_t e = 0; e < scene->triangles.count; e++) {
        double along[3], across[3], own[3];
        image_of(scene, x, e, axes->x, along);
        image_of(scene, x, e, axes->y, across);
        cross(along, across, own);
        if (!(dot(own, normal) > 0)) count++;
    }
    return count;
}

sheet_strain sheet_strain_at(const pbd_scene *scene, const double *x) {
    const sheet_axes axes = axes_of(scene);
    sheet_strain out;
    double unused[3], normal[3];
    mean_image(scene, x, axes.x, out.along);
    mean_image(scene, x, axes.y, out.across);
    out.fibre = mean_image(scene, x, axes.fibre, unused);
    out.perpendicular = mean_image(scene, x, axes.perpendicular, unused);
    /* Principal directions of C = F^T F of the mean F. */
    const double c11 = dot(out.along, out.along), c22 = dot(out.across, out.across), c12 = dot(out.along, out.across);
    const double middle = (c11 + c22) / 2, radius = hypot((c11 - c22) / 2, c12);
    out.principal[0] = sqrt(middle + radius);
    out.principal[1] = sqrt(fmax(middle - radius, 0));
    out.principal_angle = 0.5 * atan2(2 * c12, c11 - c22) / DEGREE;
    out.shear_angle = 90 - acos(c12 / sqrt(c11 * c22)) / DEGREE;
    cross(out.along, out.across, normal);
    out.inverted = count_inverted(scene, x, &axes, normal);
    return out;
}

void sheet_record(const sheet_strain *strain, pbd_recorder *recorder) {
    pbd_metric(recorder, "stretch_fibre", "1", PBD_STATE, strain->fibre);
    pbd_metric(recorder, "stretch_perpendicular", "1", PBD_STATE, strain->perpendicular);
    pbd_metric(recorder, "principal_angle", "deg", PBD_STATE, strain->principal_angle);
    pbd_metric(recorder, "principal_stretch", "1", PBD_STATE, strain->principal[0]);
    pbd_metric(recorder, "shear_angle", "deg", PBD_STATE, strain->shear_angle);
    pbd_metric(recorder, "inverted_triangles", "1", PBD_FLAW, (double)strain->inverted);
}
