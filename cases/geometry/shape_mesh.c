#include "cases/geometry/shape_mesh.h"

#include <math.h>
#include <string.h>

#include "cases/geometry/solid.h"

enum { AROUND = 64, ALONG = 32 };
static const double PI = 3.14159265358979324;

void shape_mesh_free(shape_mesh *mesh) {
    free(mesh->vertex);
    free(mesh->triangle);
    *mesh = (shape_mesh){0};
}

static pbd_status make_box(const shape *s, shape_mesh *out) {
    static const uint32_t face[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    out->vertices = 8, out->triangles = 12;
    PBD_TRY_NEW(out->vertex, 24);
    PBD_TRY_NEW(out->triangle, 36);
    for (size_t c = 0; c < 8; c++)
        for (size_t d = 0; d < 3; d++) out->vertex[3 * c + d] = s->at[d] + (c >> d & 1 ? 1 : -1) * s->size[d];
    for (size_t f = 0; f < 6; f++)
        for (size_t k = 0; k < 6; k++) out->triangle[6 * f + k] = face[f][(const size_t[]){0, 1, 2, 0, 2, 3}[k]];
    return pbd_ok();
}

/* ---- Surfaces of revolution -------------------------------------------------------------------------------------- */

/* A curve in the half plane (distance from the axis, height), upward on the outside; closed, or from pole to pole. */
typedef struct profile {
    size_t points;
    bool closed;
    double at[4 * ALONG][2];
} profile;

static void add_point(profile *p, double off, double up) {
    p->at[p->points][0] = off;
    p->at[p->points++][1] = up;
}

/* Adds an arc of a circle about (off, up). Angles in rad: 0 points outward, a quarter turn up. */
static void add_arc(profile *p, double off, double up, double radius, double from, double to, size_t steps) {
    for (size_t k = 0; k <= steps; k++) {
        const double angle = from + (to - from) * (double)k / (double)steps;
        const double x = off + radius * cos(angle);
        add_point(p, fabs(x) < 1e-12 * radius ? 0 : x, up + radius * sin(angle));
    }
}

/* Revolves the profile about the third row of the frame; heights are counted from `from`. */
static pbd_status revolve(const profile *p, const double from[3], const double frame[3][3], shape_mesh *out) {
    const size_t rings = p->closed ? p->points : p->points - 1;
    PBD_TRY_NEW(out->vertex, 3 * AROUND * p->points);
    PBD_TRY_NEW(out->triangle, 6 * AROUND * rings);
    uint32_t first[4 * ALONG];
    for (size_t k = 0; k < p->points; k++) {
        const bool pole = p->at[k][0] == 0;
        first[k] = (uint32_t)out->vertices;
        for (size_t i = 0; i < (pole ? 1 : AROUND); i++) {
            const double angle = 2 * PI * (double)i / AROUND;
            const double own[3] = {p->at[k][0] * cos(angle), p->at[k][0] * sin(angle), p->at[k][1]};
            double *x = out->vertex + 3 * out->vertices++;
            for (int d = 0; d < 3; d++)
                x[d] = from[d] + own[0] * frame[0][d] + own[1] * frame[1][d] + own[2] * frame[2][d];
        }
    }
    for (size_t k = 0; k < rings; k++) {
        const size_t n = (k + 1) % p->points;
        const bool low = p->at[k][0] == 0, high = p->at[n][0] == 0;
        for (uint32_t i = 0; i < AROUND; i++) {
            const uint32_t next = (i + 1) % AROUND;
            const uint32_t a = first[k] + (low ? 0 : i), b = first[k] + (low ? 0 : next);
            const uint32_t c = first[n] + (high ? 0 : next), d = first[n] + (high ? 0 : i);
            if (!low) memcpy(out->triangle + 3 * out->triangles++, (const uint32_t[]){a, b, c}, 3 * sizeof a);
            if (!high) memcpy(out->triangle + 3 * out->triangles++, (const uint32_t[]){a, c, d}, 3 * sizeof a);
        }
    }
    return pbd_ok();
}

/* Rows: two unit vectors across the segment from a to b, and one along it (z if a = b). Returns its length. */
static double frame_along(const double a[3], const double b[3], double frame[3][3]) {
    double length = 0, norm = 0;
    for (int d = 0; d < 3; d++) length += (b[d] - a[d]) * (b[d] - a[d]);
    length = sqrt(length);
    for (int d = 0; d < 3; d++) frame[2][d] = length > 0 ? (b[d] - a[d]) / length : d == 2;
    const int off = fabs(frame[2][0]) < 0.9 ? 0 : 1;
    for (int d = 0; d < 3; d++) {
        frame[0][d] = (d == off) - frame[2][off] * frame[2][d];
        norm += frame[0][d] * frame[0][d];
    }
    for (int d = 0; d < 3; d++) frame[0][d] /= sqrt(norm);
    for (int d = 0; d < 3; d++)
        frame[1][d] = frame[2][(d + 1) % 3] * frame[0][(d + 2) % 3] - frame[2][(d + 2) % 3] * frame[0][(d + 1) % 3];
    return length;
}

/* The hull of two spheres: two arcs, tangent to the straight side. */
static void add_round_cone(profile *p, double length, double low, double high) {
    const double slant = length > 0 ? asin(fmin(fmax((low - high) / length, -1), 1)) : 0;
    add_arc(p, 0, 0, low, -PI / 2, slant, ALONG);
    add_arc(p, 0, length, high, slant, PI / 2, ALONG);
}

pbd_status shape_mesh_make(const shape *of, shape_mesh *out) {
    static const double up[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double frame[3][3];
    profile p = {0};
    *out = (shape_mesh){0};
    switch (of->kind) {
        case SHAPE_BOX:
            return make_box(of, out);
        case SHAPE_SPHERE:
            add_arc(&p, 0, 0, of->size[0], -PI / 2, PI / 2, ALONG);
            return revolve(&p, of->at, up, out);
        case SHAPE_ELLIPSOID: {
            const double zero[3] = {0};
            add_arc(&p, 0, 0, 1, -PI / 2, PI / 2, ALONG);
            PBD_TRY(revolve(&p, zero, up, out));
            for (size_t i = 0; i < 3 * out->vertices; i++)
                out->vertex[i] = of->at[i % 3] + of->size[i % 3] * out->vertex[i];
            return pbd_ok();
        }
        case SHAPE_TORUS:
            p.closed = true;
            add_arc(&p, of->size[0], 0, of->size[1], 0, 2 * PI * (1 - 1.0 / ALONG), ALONG - 1);
            return revolve(&p, of->at, up, out);
        case SHAPE_ROUND_CONE:
            add_round_cone(&p, frame_along(of->at, of->to, frame), of->size[0], of->size[1]);
            return revolve(&p, of->at, (const double(*)[3])frame, out);
        case SHAPE_CYLINDER: {
            const double length = frame_along(of->at, of->to, frame);
            add_point(&p, 0, 0);
            add_point(&p, of->size[0], 0);
            add_point(&p, of->size[0], length);
            add_point(&p, 0, length);
            return revolve(&p, of->at, (const double(*)[3])frame, out);
        }
    }
    return pbd_error(PBD_BAD_INPUT, "a shape of kind %d has no surface mesh", (int)of->kind);
}

pbd_status shape_mesh_copy(const shape_mesh *from, pbd_arena *arena, shape_mesh *out) {
    *out = (shape_mesh){from->vertices, from->triangles, pbd_new(arena, double, 3 * from->vertices),
                        pbd_new(arena, uint32_t, 3 * from->triangles)};
    PBD_TRY(pbd_arena_check(arena));
    memcpy(out->vertex, from->vertex, 3 * from->vertices * sizeof *out->vertex);
    memcpy(out->triangle, from->triangle, 3 * from->triangles * sizeof *out->triangle);
    return pbd_ok();
}
