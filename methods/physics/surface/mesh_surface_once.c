#include "methods/physics/surface/mesh_surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

enum { PARTS = 7 };               /* features of a triangle: face, edges, corners */
static const double FLAT = 1e-12; /* 2 area over the square of the longest edge; volume over area times size */

void mesh_surface_free(mesh_surface *s) {
    free(s->vertex);
    free(s->triangle);
    free(s->normal);
    *s = (mesh_surface){0};
}

static void difference(const double *a, const double *b, double out[3]) {
    for (int d = 0; d < 3; d++) out[d] = a[d] - b[d];
}
static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static double length(const double a[3]) { return sqrt(dot(a, a)); }
static void cross(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; d++) out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}
static void add(double to[3], double times, const double a[3]) {
    for (int d = 0; d < 3; d++) to[d] += times * a[d];
}
static void make_unit(double a[3]) {
    const double size = length(a);
    for (int d = 0; d < 3 && size > 0; d++) a[d] /= size;
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static pbd_status check_mesh(const pbd_collider_mesh *m, size_t number) {
    if (m->triangles == 0 || m->vertices == 0)
        return pbd_error(PBD_BAD_INPUT,
                         "collider %zu, a mesh, has %zu vertices and %zu triangles: must be at least one", number,
                         m->vertices, m->triangles);
    for (size_t i = 0; i < 3 * m->vertices; i++)
        if (!isfinite(m->vertex[i]))
            return pbd_error(PBD_BAD_INPUT, "collider %zu, a mesh, has vertex %zu at %g %g %g m: must be finite",
                             number, i / 3, m->vertex[i - i % 3], m->vertex[i - i % 3 + 1], m->vertex[i - i % 3 + 2]);
    for (size_t i = 0; i < 3 * m->triangles; i++)
        if (m->triangle[i] >= m->vertices)
            return pbd_error(PBD_BAD_INPUT,
                             "collider %zu, a mesh, has the vertex %u in its triangle %zu, but only vertices 0 to %zu",
                             number, m->triangle[i], i / 3, m->vertices - 1);
    if (!(m->thickness >= 0 && isfinite(m->thickness)))
        return pbd_error(PBD_BAD_INPUT, "collider %zu, a mesh, has thickness=%g m: must be at least 0", number,
                         m->thickness);
    return pbd_ok();
}

/* ---- Merging equal vertices -------------------------------------------------------------------------------------- */

typedef struct place {
    double x[3];
    uint32_t vertex;
} place;

static int by_place(const void *a, const void *b) {
    const place *p = a, *q = b;
    for (int d = 0; d < 3; d++)
        if (p->x[d] != q->x[d]) return p->x[d] < q->x[d] ? -1 : 1;
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

/* Copies the vertices, and the triangles with each vertex replaced by the first equal one; drops collapsed
 * triangles. */
static pbd_status copy_surface(const pbd_collider_mesh *m, mesh_surface *s) {
    pbd_arena a PBD_ARENA;
    place *at = pbd_new(&a, place, m->vertices);
    uint32_t *first = pbd_new(&a, uint32_t, m->vertices);
    PBD_TRY(pbd_arena_check(&a));
    s->vertex = malloc(3 * m->vertices * sizeof *s->vertex);
    s->triangle = malloc(3 * m->triangles * sizeof *s->triangle);
    if (!s->vertex || !s->triangle)
        return pbd_error(PBD_FAILED, "out of memory for a collider of %zu triangles", m->triangles);
    s->vertices = m->vertices;
    for (size_t v = 0; v < m->vertices; v++) {
        at[v].vertex = (uint32_t)v;
        for (size_t d = 0; d < 3; d++) {
            const double x = m->vertex[3 * v + d] + 0; /* -0 becomes 0 */
            s->vertex[3 * v + d] = at[v].x[d] = x;
            s->size = fmax(s->size, fabs(x));
        }
    }
    qsort(at, m->vertices, sizeof *at, by_place);
    for (size_t i = 0; i < m->vertices; i++) {
        const bool same = i > 0 && memcmp(at[i].x, at[i - 1].x, sizeof at[i].x) == 0;
        first[at[i].vertex] = same ? first[at[i - 1].vertex] : at[i].vertex;
    }
    for (size_t t = 0; t < m->triangles; t++) {
        const uint32_t *c = m->triangle + 3 * t, joined[3] = {first[c[0]], first[c[1]], first[c[2]]};
        const bool gone = joined[0] == joined[1] || joined[1] == joined[2] || joined[2] == joined[0];
        if (!gone) memcpy(s->triangle + 3 * s->triangles++, joined, sizeof joined);
        s->collapsed += gone;
    }
    return pbd_ok();
}

/* ---- Areas, edges, volume ---------------------------------------------------------------------------------------- */

static const double *corner(const mesh_surface *s, size_t t, size_t k) {
    return s->vertex + 3 * (size_t)s->triangle[3 * t + k % 3];
}

/* Writes the normal with twice the area as length. For a sliver, writes 0 and returns false. */
static bool area_of(const mesh_surface *s, size_t t, double out[3]) {
    double edge[3][3], longest = 0;
    for (size_t k = 0; k < 3; k++) {
        difference(corner(s, t, k + 1), corner(s, t, k), edge[k]);
        longest = fmax(longest, dot(edge[k], edge[k]));
    }
    cross(edge[0], edge[1], out);
    if (length(out) > FLAT * longest) return true;
    memset(out, 0, 3 * sizeof *out);
    return false;
}

typedef struct half_edge {
    uint32_t low, high; /* vertices */
    uint32_t at;        /* 3 triangle + k */
    bool upward;        /* runs from low to high */
} half_edge;

static int by_vertices(const void *a, const void *b) {
    const half_edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

/* Sets other[3 t + k] to the half-edge opposite to the k-th of triangle t. Returns false if one has none, or
 * several. */
static bool pair_edges(const mesh_surface *s, half_edge *edge, uint32_t *other) {
    const size_t count = 3 * s->triangles;
    for (size_t i = 0; i < count; i++) {
        const uint32_t a = s->triangle[i], b = s->triangle[i - i % 3 + (i + 1) % 3];
        edge[i] = (half_edge){a < b ? a : b, a < b ? b : a, (uint32_t)i, a < b};
    }
    qsort(edge, count, sizeof *edge, by_vertices);
    for (size_t i = 0; i < count; i += 2) {
        const half_edge *p = edge + i;
        if (i + 1 == count || p[0].low != p[1].low || p[0].high != p[1].high || p[0].upward == p[1].upward)
            return false;
        if (i + 2 < count && p[2].low == p[0].low && p[2].high == p[0].high) return false;
        other[p[0].at] = p[1].at;
        other[p[1].at] = p[0].at;
    }
    return true;
}

static void measure(mesh_surface *s, double *area) {
    const double *from = s->vertex + 3 * (size_t)s->triangle[0];
    *area = 0;
    for (size_t t = 0; t < s->triangles; t++) {
        double n[3], off[3];
        s->slivers += !area_of(s, t, n);
        difference(corner(s, t, 0), from, off);
        *area += 0.5 * length(n);
        s->volume += dot(off, n) / 6;
    }
}

static void turn_outward(mesh_surface *s) {
    for (size_t t = 0; t < s->triangles && s->volume < 0; t++) {
        const uint32_t kept = s->triangle[3 * t + 1];
        s->triangle[3 * t + 1] = s->triangle[3 * t + 2];
        s->triangle[3 * t + 2] = kept;
    }
    s->volume = fabs(s->volume);
}

/* ---- Pseudonormals ----------------------------------------------------------------------------------------------- */

static double angle_at(const mesh_surface *s, size_t t, size_t k) {
    double a[3], b[3], n[3];
    difference(corner(s, t, k + 1), corner(s, t, k), a);
    difference(corner(s, t, k + 2), corner(s, t, k), b);
    cross(a, b, n);
    return atan2(length(n), dot(a, b));
}

/* at_vertex: scratch, vertices x 3, zeroed. A sliver takes the normal of its neighbours. */
static void make_normals(mesh_surface *s, const uint32_t *other, double *at_vertex) {
    for (size_t t = 0; t < s->triangles; t++) {
        double *face = s->normal + 3 * PARTS * t;
        area_of(s, t, face);
        make_unit(face);
        for (size_t k = 0; k < 3; k++) add(at_vertex + 3 * (size_t)s->triangle[3 * t + k], angle_at(s, t, k), face);
    }
    for (size_t i = 0; i < 3 * s->triangles; i++) {
        double *own = s->normal + 3 * PARTS * (i / 3);
        const double *beyond = s->normal + 3 * PARTS * (size_t)(other[i] / 3);
        double *edge = own + 3 * (1 + i % 3), *at = own + 3 * (4 + i % 3);
        add(edge, 1, own);
        add(edge, 1, beyond);
        make_unit(edge);
        add(at, 1, at_vertex + 3 * (size_t)s->triangle[i]);
        make_unit(at);
    }
    for (size_t t = 0; t < s->triangles; t++) {
        double *face = s->normal + 3 * PARTS * t;
        if (length(face) > 0) continue;
        for (size_t k = 0; k < 3; k++) add(face, 1, face + 3 * (1 + k));
        make_unit(face);
    }
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static pbd_status check_kind(const pbd_collider_mesh *m, const mesh_surface *s, size_t number, bool container,
                             bool closed, double area) {
    if (!(area > 0))
        return pbd_error(PBD_BAD_INPUT, "collider %zu, a mesh of %zu triangles, has no area", number, m->triangles);
    if (closed && !(fabs(s->volume) > FLAT * area * s->size))
        return pbd_error(PBD_BAD_INPUT, "collider %zu, a closed mesh of %zu triangles, has no volume", number,
                         m->triangles);
    if (!closed && container)
        return pbd_error(PBD_BAD_INPUT,
                         "collider %zu, a mesh of %zu triangles, cannot be a container: it is not closed; every edge "
                         "must join two triangles",
                         number, m->triangles);
    if (!closed && !(m->thickness > 64 * 1.2e-7 * s->size))
        return pbd_error(PBD_BAD_INPUT,
                         "collider %zu, a mesh of %zu triangles, is a sheet (not every edge joins two triangles) with "
                         "thickness=%g m: must be above %.2g m, so that its sides can be distinguished",
                         number, m->triangles, m->thickness, 64 * 1.2e-7 * s->size);
    return pbd_ok();
}

static pbd_status finish(const pbd_collider_mesh *m, size_t number, bool container, mesh_surface *s) {
    PBD_TRY(check_mesh(m, number));
    PBD_TRY(copy_surface(m, s));
    if (s->triangles == 0)
        return pbd_error(PBD_BAD_INPUT, "collider %zu, a mesh of %zu triangles, has no area", number, m->triangles);
    pbd_arena a PBD_ARENA;
    half_edge *edge = pbd_new(&a, half_edge, 3 * s->triangles);
    uint32_t *other = pbd_new(&a, uint32_t, 3 * s->triangles);
    double *at_vertex = pbd_new(&a, double, 3 * s->vertices), area = 0;
    PBD_TRY(pbd_arena_check(&a));
    measure(s, &area);
    const bool closed = pair_edges(s, edge, other);
    PBD_TRY(check_kind(m, s, number, container, closed, area));
    if (!closed) {
        s->volume = 0;
        return pbd_ok();
    }
    if (s->volume < 0) {
        turn_outward(s);
        pair_edges(s, edge, other);
    }
    s->normal = calloc(3 * PARTS * s->triangles, sizeof *s->normal);
    if (!s->normal) return pbd_error(PBD_FAILED, "out of memory for a collider of %zu triangles", m->triangles);
    make_normals(s, other, at_vertex);
    return pbd_ok();
}

pbd_status mesh_surface_make(const pbd_collider_mesh *mesh, size_t number, bool container, mesh_surface *out) {
    *out = (mesh_surface){0};
    const pbd_status status = finish(mesh, number, container, out);
    if (status.code != PBD_OK) mesh_surface_free(out);
    return status;
}
