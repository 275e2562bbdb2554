/* Rest shapes of elements. */
#include "methods/physics/space/element_shape.h"

#include <math.h>
#include <string.h>

#include "harness/exec/arena.h"

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* An element is refused if 6 V (2 A) is below this fraction of the cube (square) of its longest edge: its inverse would
 * consist of rounding errors. */
static const double FLAT = 1e-10;

static double longest(const double edge[][3], int edges) {
    double most = 0;
    for (int i = 0; i < edges; i++) most = fmax(most, dot(edge[i], edge[i]));
    return sqrt(most);
}

static pbd_status tet_shape(size_t e, const double edge[3][3], element_shape *out) {
    double row[3][3];
    cross(edge[1], edge[2], row[0]);
    cross(edge[2], edge[0], row[1]);
    cross(edge[0], edge[1], row[2]);
    const double det = dot(edge[0], row[0]), most = longest(edge, 3), scale = most * most * most;
    if (!isfinite(det)) return pbd_error(PBD_BAD_INPUT, "tetrahedron %zu has a corner that is not finite", e);
    if (fabs(det) <= FLAT * scale)
        return pbd_error(PBD_BAD_INPUT, "tetrahedron %zu has no volume: 6 V = %.3g m^3 with an edge of %.3g m", e, det,
                         most);
    if (det < 0)
        return pbd_error(PBD_BAD_INPUT, "tetrahedron %zu is inverted (6 V = %.3g m^3): swap two of its corners", e,
                         det);
    /* The rows of the inverse are the cross products over det; entry (r, c) at 3 c + r. */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) out->inverse[3 * c + r] = row[r][c] / det;
    out->size = det / 6;
    return pbd_ok();
}

/* Projects `wish` into the plane with this unit normal and normalises it. Returns false if it is perpendicular to the
 * plane. */
static bool lay_down(const double wish[3], const double normal[3], double out[3]) {
    const double away = dot(wish, normal);
    for (int d = 0; d < 3; d++) out[d] = wish[d] - away * normal[d];
    const double length = sqrt(dot(out, out));
    for (int d = 0; d < 3; d++) out[d] /= length;
    return length > 1e-6 * sqrt(dot(wish, wish));
}

/* Projects the fibres with a stiffness into the plane with this unit normal, and finds the first axis of its frame. */
static pbd_status lay_fibres(const pbd_material *m, size_t e, const double normal[3], const double edge[3],
                             double fibre[PBD_MOST_FIBRES][3], double axis[3]) {
    static const double x_axis[3] = {1, 0, 0};
    const double *first = NULL;
    for (int k = 0; k < PBD_MOST_FIBRES; k++) {
        if (!(m->fibre_stiffness[k] > 0)) continue;
        if (!lay_down(m->fibre[k], normal, fibre[k]))
            return pbd_error(PBD_BAD_INPUT, "the fibre (%g, %g, %g) is perpendicular to triangle %zu, or has no length",
                             m->fibre[k][0], m->fibre[k][1], m->fibre[k][2], e);
        if (!first) first = memcpy(axis, fibre[k], sizeof fibre[k]);
    }
    return first || lay_down(x_axis, normal, axis) || lay_down(edge, normal, axis)
               ? pbd_ok()
               : pbd_error(PBD_BAD_INPUT, "triangle %zu has no first edge", e);
}

static pbd_status triangle_shape(const pbd_scene *scene, size_t e, const double edge[2][3], element_shape *out) {
    double normal[3], axis[3], other[3], fibre[PBD_MOST_FIBRES][3] = {{0}};
    cross(edge[0], edge[1], normal);
    const double twice = sqrt(dot(normal, normal)), most = longest(edge, 2), scale = most * most;
    if (!isfinite(twice)) return pbd_error(PBD_BAD_INPUT, "triangle %zu has a corner that is not finite", e);
    if (twice <= FLAT * scale)
        return pbd_error(PBD_BAD_INPUT, "triangle %zu has no area: 2 A = %.3g m^2 with an edge of %.3g m", e, twice,
                         most);
    for (int d = 0; d < 3; d++) normal[d] /= twice;
    PBD_TRY(lay_fibres(pbd_cell_material(scene, &scene->triangles, e), e, normal, edge[0], fibre, axis));
    cross(normal, axis, other);
    for (int k = 0; k < PBD_MOST_FIBRES; k++) {
        out->fibre[k][0] = dot(fibre[k], axis);
        out->fibre[k][1] = dot(fibre[k], other);
    }
    const double a = dot(edge[0], axis), b = dot(edge[1], axis), c = dot(edge[0], other), d = dot(edge[1], other);
    const double det = a * d - b * c; /* twice the area: the frame is right-handed */
    out->inverse[0] = d / det;
    out->inverse[1] = -c / det;
    out->inverse[2] = -b / det;
    out->inverse[3] = a / det;
    out->size = det / 2;
    return pbd_ok();
}

pbd_status element_shape_of(const pbd_scene *scene, int corners, size_t e, element_shape *out) {
    const uint32_t *corner = (corners == 4 ? scene->tets.corner : scene->triangles.corner) + e * (size_t)corners;
    const double *last = scene->particles.positions + 3 * (size_t)corner[corners - 1];
    double edge[3][3];
    for (int k = 0; k < corners - 1; k++)
        for (int d = 0; d < 3; d++)
            edge[k][d] = scene->particles.positions[3 * (size_t)corner[k] + (size_t)d] - last[d];
    return corners == 4 ? tet_shape(e, (const double(*)[3])edge, out)
                        : triangle_shape(scene, e, (const double(*)[3])edge, out);
}

/* ---- A whole mesh ------------------------------------------------------------------------------------------------ */

static void mark(bool *named, const uint32_t *corner, size_t count) {
    for (size_t i = 0; i < count; i++) named[corner[i]] = true;
}

static pbd_status check_particles(const pbd_scene *scene) {
    pbd_arena a PBD_ARENA;
    bool *named = pbd_new(&a, bool, scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    mark(named, scene->tets.corner, 4 * scene->tets.count);
    mark(named, scene->triangles.corner, 3 * scene->triangles.count);
    mark(named, scene->hexes.corner, 8 * scene->hexes.count);
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double *x = scene->particles.positions + 3 * i;
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return pbd_error(PBD_BAD_INPUT, "particle %zu lies at (%g, %g, %g): it must be finite", i, x[0], x[1],
                             x[2]);
        if (!named[i]) return pbd_error(PBD_BAD_INPUT, "particle %zu belongs to no element", i);
    }
    return pbd_ok();
}

pbd_status element_check_scene(const pbd_scene *scene) {
    element_shape shape;
    if (scene->particles.count == 0) return pbd_error(PBD_BAD_INPUT, "the mesh is empty");
    PBD_TRY(check_particles(scene));
    for (size_t e = 0; e < scene->tets.count; e++) PBD_TRY(element_shape_of(scene, 4, e, &shape));
    for (size_t e = 0; e < scene->triangles.count; e++) PBD_TRY(element_shape_of(scene, 3, e, &shape));
    return pbd_ok();
}
