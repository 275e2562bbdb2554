#include "cases/geometry/triangle_mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

void triangle_mesh_free(triangle_mesh *mesh) {
    free(mesh->position);
    free(mesh->triangle);
    triangle_tree_free(mesh->tree);
    triangle_cells_free(mesh->cells);
    *mesh = (triangle_mesh){0};
}

/* ---- Merging coincident vertices --------------------------------------------------------------------------------- */

typedef struct place {
    double x[3];
    uint32_t vertex;
} place;

static int compare_places(const void *a, const void *b) {
    const place *p = a, *q = b;
    for (int d = 0; d < 3; d++)
        if (p->x[d] != q->x[d]) return p->x[d] < q->x[d] ? -1 : 1;
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

/* Triangles then refer to the first vertex at each place; unreferenced vertices are removed. */
static pbd_status weld(triangle_mesh *mesh) {
    pbd_arena a PBD_ARENA;
    place *at = pbd_new(&a, place, mesh->vertices);
    uint32_t *now = pbd_new(&a, uint32_t, mesh->vertices), *first = pbd_new(&a, uint32_t, mesh->vertices);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t v = 0; v < mesh->vertices; v++) {
        const double *x = mesh->position + 3 * v;
        at[v] = (place){{x[0] + 0, x[1] + 0, x[2] + 0}, (uint32_t)v}; /* -0 becomes 0 */
    }
    qsort(at, mesh->vertices, sizeof *at, compare_places);
    for (size_t i = 0; i < mesh->vertices; i++) {
        const bool same =
            i > 0 && at[i].x[0] == at[i - 1].x[0] && at[i].x[1] == at[i - 1].x[1] && at[i].x[2] == at[i - 1].x[2];
        first[at[i].vertex] = same ? first[at[i - 1].vertex] : at[i].vertex;
    }
    for (size_t i = 0; i < 3 * mesh->triangles; i++) mesh->triangle[i] = first[mesh->triangle[i]];
    for (size_t i = 0; i < 3 * mesh->triangles; i++) now[mesh->triangle[i]] = 1;
    size_t kept = 0;
    for (size_t v = 0; v < mesh->vertices; v++) {
        if (!now[v]) continue;
        memmove(mesh->position + 3 * kept, mesh->position + 3 * v, 3 * sizeof *mesh->position);
        now[v] = (uint32_t)kept++;
    }
    for (size_t i = 0; i < 3 * mesh->triangles; i++) mesh->triangle[i] = now[mesh->triangle[i]];
    mesh->vertices = kept;
    return pbd_ok();
}

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

typedef struct edge {
    uint32_t low, high, triangle;
    bool along; /* from low to high */
} edge;

static int compare_edges(const void *a, const void *b) {
    const edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

typedef struct edge_faults {
    size_t open;                   /* edges with one triangle */
    size_t crowded, crowd;         /* edges with three or more; triangles at the first */
    size_t turned, pair[2];        /* edges along which both triangles run the same way; those of the first */
    uint32_t at[2], crowd_ends[2]; /* ends of the first open and of the first crowded edge */
} edge_faults;

static void look_at_edge(const edge *first, size_t count, edge_faults *f) {
    if (count == 1 && f->open++ == 0) f->at[0] = first->low, f->at[1] = first->high;
    if (count > 2 && f->crowded++ == 0) {
        f->crowd = count;
        f->crowd_ends[0] = first->low, f->crowd_ends[1] = first->high;
    }
    if (count == 2 && first[0].along == first[1].along && f->turned++ == 0)
        f->pair[0] = first[0].triangle, f->pair[1] = first[1].triangle;
}

static pbd_status find_edge_faults(const triangle_mesh *mesh, edge_faults *f) {
    const size_t edges = 3 * mesh->triangles;
    pbd_arena a PBD_ARENA;
    edge *e = pbd_new(&a, edge, edges);
    *f = (edge_faults){0};
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < edges; i++) {
        const uint32_t from = mesh->triangle[i], to = mesh->triangle[i % 3 == 2 ? i - 2 : i + 1];
        e[i] = (edge){from < to ? from : to, from < to ? to : from, (uint32_t)(i / 3), from < to};
    }
    qsort(e, edges, sizeof *e, compare_edges);
    for (size_t i = 0, end; i < edges; i = end) {
        for (end = i + 1; end < edges && e[end].low == e[i].low && e[end].high == e[i].high;) end++;
        look_at_edge(e + i, end - i, f);
    }
    return pbd_ok();
}

static pbd_status check_edges(const char *name, const triangle_mesh *mesh, bool closed) {
    edge_faults f;
    PBD_TRY(find_edge_faults(mesh, &f));
    const double *x = mesh->position;
    if (f.open > 0 && closed) {
        const double *a = x + 3 * (size_t)f.at[0], *b = x + 3 * (size_t)f.at[1];
        return pbd_error(
            PBD_BAD_INPUT,
            "%.110s: the mesh is open, %zu edge%s at a hole's border (one from %.5g %.5g %.5g to %.5g %.5g "
            "%.5g m): close it; its inside is undefined",
            name, f.open, f.open == 1 ? " is" : "s are", a[0], a[1], a[2], b[0], b[1], b[2]);
    }
    if (f.crowded > 0) {
        const double *a = x + 3 * (size_t)f.crowd_ends[0], *b = x + 3 * (size_t)f.crowd_ends[1];
        return pbd_error(PBD_BAD_INPUT,
                         "%.110s: the mesh is not manifold: %zu triangles share the edge from %.5g %.5g %.5g to %.5g "
                         "%.5g %.5g m, %zu edge%s more than two",
                         name, f.crowd, a[0], a[1], a[2], b[0], b[1], b[2], f.crowded,
                         f.crowded == 1 ? " has" : "s have");
    }
    if (f.turned > 0)
        return pbd_error(PBD_BAD_INPUT,
                         "%.110s: neighbours triangle %zu and triangle %zu face opposite ways, and so at %zu edge%s in "
                         "all: make the normals consistent",
                         name, f.pair[0] + 1, f.pair[1] + 1, f.turned, f.turned == 1 ? "" : "s");
    return pbd_ok();
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static double volume_of(const triangle_mesh *mesh) {
    const double *o = mesh->position; /* any point will do; a vertex gives the least rounding error */
    double six = 0;
    for (size_t t = 0; t < mesh->triangles; t++) {
        const double *a = o + 3 * (size_t)mesh->triangle[3 * t], *b = o + 3 * (size_t)mesh->triangle[3 * t + 1],
                     *c = o + 3 * (size_t)mesh->triangle[3 * t + 2];
        double p[3], q[3], r[3];
        for (int d = 0; d < 3; d++) p[d] = a[d] - o[d], q[d] = b[d] - o[d], r[d] = c[d] - o[d];
        six += p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) +
               p[2] * (q[0] * r[1] - q[1] * r[0]);
    }
    return six / 6;
}

static void turn_inside_out(triangle_mesh *mesh) {
    for (size_t t = 0; t < mesh->triangles; t++) {
        const uint32_t swap = mesh->triangle[3 * t];
        mesh->triangle[3 * t] = mesh->triangle[3 * t + 1];
        mesh->triangle[3 * t + 1] = swap;
    }
}

/* Removes triangles with two equal corners. number: index in the file of each triangle that is left. */
static void drop_points_and_lines(triangle_mesh *mesh, uint32_t *number) {
    size_t kept = 0;
    for (size_t t = 0; t < mesh->triangles; t++) {
        const uint32_t *v = mesh->triangle + 3 * t;
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
        memmove(mesh->triangle + 3 * kept, v, 3 * sizeof *v);
        number[kept++] = (uint32_t)t;
    }
    mesh->triangles = kept;
}

static pbd_status check_numbers(const char *name, const triangle_mesh *mesh) {
    for (size_t i = 0; i < 3 * mesh->vertices; i++)
        if (!isfinite(mesh->position[i]))
            return pbd_error(PBD_BAD_INPUT, "%.110s: a coordinate of vertex %zu is %g: not a number, or too large",
                             name, i / 3 + 1, mesh->position[i]);
    return pbd_ok();
}

static pbd_status check_surface(const char *name, triangle_mesh *mesh, bool closed, uint32_t *number) {
    PBD_TRY(check_numbers(name, mesh));
    PBD_TRY(weld(mesh));
    drop_points_and_lines(mesh, number);
    if (mesh->triangles == 0) return pbd_error(PBD_BAD_INPUT, "%.110s: the mesh is empty: it has no triangles", name);
    return check_edges(name, mesh, closed);
}

static pbd_status check_body(const char *name, triangle_mesh *mesh, uint32_t *number) {
    size_t pair[2];
    PBD_TRY(check_surface(name, mesh, true, number));
    const double volume = volume_of(mesh);
    if (!(fabs(volume) > 0)) return pbd_error(PBD_BAD_INPUT, "%.110s: the mesh has no volume", name);
    if (volume < 0) turn_inside_out(mesh);
    PBD_TRY(triangle_tree_make(mesh->triangles, mesh->triangle, mesh->position, &mesh->tree));
    if (triangle_tree_crossing(mesh->tree, pair))
        for (int k = 0; k < 2; k++) mesh->crossing[k] = number[pair[k]] + 1;
    return pbd_ok();
}

/* Takes over the arrays of `mesh`, which is freed on failure. */
static pbd_status finish(const char *name, triangle_mesh *mesh, bool closed) {
    pbd_arena a PBD_ARENA;
    uint32_t *number = pbd_new(&a, uint32_t, mesh->triangles);
    pbd_status status = pbd_arena_check(&a);
    if (status.code == PBD_OK)
        status = closed ? check_body(name, mesh, number) : check_surface(name, mesh, false, number);
    if (status.code != PBD_OK) triangle_mesh_free(mesh);
    return status;
}

static pbd_status make(const char *name, size_t vertices, const double *position, size_t triangles,
                       const uint32_t *triangle, bool closed, triangle_mesh *out) {
    *out = (triangle_mesh){.vertices = vertices, .triangles = triangles};
    out->position = malloc((3 * vertices + 1) * sizeof *out->position);
    out->triangle = malloc((3 * triangles + 1) * sizeof *out->triangle);
    if (!out->position || !out->triangle) {
        triangle_mesh_free(out);
        return pbd_no_memory();
    }
    memcpy(out->position, position, 3 * vertices * sizeof *position);
    memcpy(out->triangle, triangle, 3 * triangles * sizeof *triangle);
    return finish(name, out, closed);
}

pbd_status triangle_mesh_make(const char *name, size_t vertices, const double *position, size_t triangles,
                              const uint32_t *triangle, triangle_mesh *out) {
    return make(name, vertices, position, triangles, triangle, true, out);
}

pbd_status triangle_mesh_make_open(const char *name, size_t vertices, const double *position, size_t triangles,
                                   const uint32_t *triangle, triangle_mesh *out) {
    return make(name, vertices, position, triangles, triangle, false, out);
}

/* ---- The solid --------------------------------------------------------------------------------------------------- */

static double signed_distance(const solid *body, const double x[3]) {
    const triangle_mesh *mesh = body->of;
    const double distance = triangle_tree_distance(mesh->tree, x);
    for (int d = 0; d < 3; d++)
        if (x[d] < body->low[d] || x[d] > body->high[d]) return distance;
    return triangle_tree_winding(mesh->tree, x) > 0.5 ? -distance : distance;
}

static bool deeper(const solid *body, const double x[3], double depth) {
    const triangle_mesh *mesh = body->of;
    return triangle_cells_deeper(mesh->cells, x, depth);
}

solid triangle_mesh_solid(const triangle_mesh *mesh) {
    solid body = {.low = {INFINITY, INFINITY, INFINITY},
                  .high = {-INFINITY, -INFINITY, -INFINITY},
                  .volume = mesh->crossing[0] ? 0 : volume_of(mesh),
                  .distance = signed_distance,
                  .deeper = mesh->cells ? deeper : NULL,
                  .of = mesh};
    for (size_t i = 0; i < 3 * mesh->vertices; i++) {
        body.low[i % 3] = fmin(body.low[i % 3], mesh->position[i]);
        body.high[i % 3] = fmax(body.high[i % 3], mesh->position[i]);
    }
    return body;
}

void triangle_mesh_note(const triangle_mesh *mesh, const char *name, char *note, size_t size) {
    *note = '\0';
    if (mesh->crossing[0])
        snprintf(note, size,
                 "%.110s: triangle %u crosses triangle %u: overlapping parts are one body, and its volume is counted",
                 name, mesh->crossing[0], mesh->crossing[1]);
}

pbd_status triangle_mesh_index(triangle_mesh *mesh) {
    const solid body = triangle_mesh_solid(mesh);
    return triangle_cells_make(mesh->tree, body.low, body.high, &mesh->cells);
}
