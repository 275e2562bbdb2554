#include "cases/geometry/density_surface.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#define REAL double
#include "methods/physics/space/sph_kernel.h"

/* ---- The grid ---------------------------------------------------------------------------------------------------- */

void density_grid_free(density_grid *g) {
    free(g->value);
    *g = (density_grid){0};
}

/* Lays the grid around all particles and the supports of their kernels. */
static pbd_status lay_grid(const smoothed_matter *m, double cell, density_grid *g) {
    double nodes = 1;
    *g = (density_grid){.dimensions = m->dimensions, .cell = cell, .nodes = {1, 1, 1}};
    for (int d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < m->particles; i++) {
            const double at = m->x[3 * i + (size_t)d];
            low = at < low || isnan(at) ? at : low;
            high = at > high || isnan(at) ? at : high;
        }
        g->origin[d] = low;
        if (d == 2 && m->dimensions == 2) break;
        /* On multiples of the cell, so that a body that does not move always has the same surface. */
        g->origin[d] = cell * (floor((low - 2 * m->h) / cell) - 1);
        const double wanted = ceil((high + 2 * m->h - g->origin[d]) / cell) + 2;
        nodes *= wanted;
        if (!(nodes <= DENSITY_GRID_MOST))
            return pbd_error(PBD_BAD_INPUT,
                             "%zu particles are too far apart or have non-finite positions: a grid of %g m around them "
                             "would have more than %d nodes",
                             m->particles, cell, DENSITY_GRID_MOST);
        g->nodes[d] = (size_t)wanted;
    }
    return pbd_ok();
}

/* Adds one particle's density to the nodes within its support. */
static void smear(const smoothed_matter *m, size_t i, density_grid *g) {
    const double support = 2 * m->h, *x = m->x + 3 * i;
    const double sigma = m->mass[i] * sph_kernel_factor((sph_kernel)m->kernel, m->dimensions, support);
    size_t from[3], to[3];
    for (int d = 0; d < 3; d++) {
        const double low = (x[d] - support - g->origin[d]) / g->cell, high = (x[d] + support - g->origin[d]) / g->cell;
        from[d] = d < m->dimensions ? (size_t)ceil(low) : 0;
        to[d] = d < m->dimensions ? (size_t)floor(high) : 0;
    }
    for (size_t c = from[2]; c <= to[2]; c++)
        for (size_t b = from[1]; b <= to[1]; b++)
            for (size_t a = from[0]; a <= to[0]; a++) {
                const size_t node[3] = {a, b, c};
                double square = 0;
                for (int d = 0; d < m->dimensions; d++) {
                    const double off = g->origin[d] + g->cell * (double)node[d] - x[d];
                    square += off * off;
                }
                g->value[a + g->nodes[0] * (b + g->nodes[1] * c)] +=
                    sph_kernel_scaled((sph_kernel)m->kernel, sigma, 1 / (support * support), square).w;
            }
}

pbd_status density_grid_make(const smoothed_matter *matter, double cell, density_grid *out) {
    if (!(cell > 0 && matter->h > 0 && matter->particles > 0))
        return pbd_error(PBD_BAD_INPUT,
                         "a grid of %g m for the density of %zu particles with h=%g m: all must be above 0", cell,
                         matter->particles, matter->h);
    PBD_TRY(lay_grid(matter, cell, out));
    PBD_TRY_NEW(out->value, out->nodes[0] * out->nodes[1] * out->nodes[2]);
    for (size_t i = 0; i < matter->particles; i++) smear(matter, i, out);
    return pbd_ok();
}

double density_unit(const smoothed_matter *matter, double mass) {
    return mass * sph_kernel_in((sph_kernel)matter->kernel, matter->dimensions, matter->h * matter->h, 2 * matter->h).w;
}

/* ---- Making a surface -------------------------------------------------------------------------------------------- */

/* Vertices lie on grid edges, identified by a node and a direction from 1 to 7, whose bits select the axes. */
enum { DIRECTIONS = 7 };

typedef struct maker {
    const density_grid *g;
    double level;
    density_surface *s;
    uint32_t *on_edge; /* nodes x DIRECTIONS: the vertex on the edge + 1; 0: none yet */
    size_t vertex_room, face_room;
} maker;

static size_t node_beyond(const density_grid *g, size_t node, int direction) {
    return node + (size_t)(direction & 1) + (size_t)(direction >> 1 & 1) * g->nodes[0] +
           (size_t)(direction >> 2 & 1) * g->nodes[0] * g->nodes[1];
}

static bool inside(const maker *m, size_t node) { return m->g->value[node] >= m->level; }

static void place_of(const density_grid *g, size_t node, double out[3]) {
    const size_t at[3] = {node % g->nodes[0], node / g->nodes[0] % g->nodes[1], node / g->nodes[0] / g->nodes[1]};
    for (int d = 0; d < 3; d++) out[d] = g->origin[d] + g->cell * (double)at[d];
}

/* The vertex between two nodes, of which one is inside. */
static pbd_status vertex_between(maker *m, size_t a, size_t b, uint32_t *out) {
    const size_t low = a < b ? a : b, high = a < b ? b : a;
    int direction = 1;
    while (node_beyond(m->g, low, direction) != high) direction++;
    uint32_t *known = &m->on_edge[low * DIRECTIONS + (size_t)direction - 1];
    if (*known == 0) {
        density_surface *s = m->s;
        if (s->vertices == m->vertex_room) {
            m->vertex_room = 2 * m->vertex_room + 1024;
            double *grown = realloc(s->vertex, 3 * m->vertex_room * sizeof *grown);
            if (!grown) return pbd_no_memory();
            s->vertex = grown;
        }
        double from[3], to[3];
        place_of(m->g, low, from);
        place_of(m->g, high, to);
        const double share = (m->level - m->g->value[low]) / (m->g->value[high] - m->g->value[low]);
        for (size_t d = 0; d < 3; d++) s->vertex[3 * s->vertices + d] = from[d] + share * (to[d] - from[d]);
        *known = (uint32_t)++s->vertices;
    }
    *out = *known - 1;
    return pbd_ok();
}

static pbd_status add_face(maker *m, const uint32_t *corner) {
    density_surface *s = m->s;
    const size_t corners = (size_t)s->corners;
    if (s->faces == m->face_room) {
        m->face_room = 2 * m->face_room + 1024;
        uint32_t *grown = realloc(s->face, corners * m->face_room * sizeof *grown);
        if (!grown) return pbd_no_memory();
        s->face = grown;
    }
    memcpy(s->face + corners * s->faces++, corner, corners * sizeof *corner);
    return pbd_ok();
}

/* Traverses a square counter-clockwise. Matter is on the left of a segment from where the path leaves it to where the
 * path next enters it; or to where it last entered, if the corner is a separate piece. */
static pbd_status cut_square(maker *m, size_t node) {
    const size_t right = node + 1, up = node + m->g->nodes[0], corner[4] = {node, right, up + 1, up};
    uint32_t vertex[4];
    bool leaves[4];
    int crossings = 0;
    double mean = 0;
    for (int k = 0; k < 4; k++) {
        const size_t a = corner[k], b = corner[(k + 1) % 4];
        mean += 0.25 * m->g->value[a];
        if (inside(m, a) == inside(m, b)) continue;
        leaves[crossings] = inside(m, a);
        PBD_TRY(vertex_between(m, a, b, &vertex[crossings++]));
    }
    const int onwards = mean >= m->level ? 1 : crossings - 1;
    for (int k = 0; k < crossings; k++) {
        if (!leaves[k]) continue;
        const uint32_t segment[2] = {vertex[k], vertex[(k + onwards) % crossings]};
        PBD_TRY(add_face(m, segment));
    }
    return pbd_ok();
}

static void cross_of(const double *a, const double *b, const double *c, double out[3]) {
    double u[3], v[3];
    for (int d = 0; d < 3; d++) u[d] = b[d] - a[d], v[d] = c[d] - a[d];
    for (int d = 0; d < 3; d++) out[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
}

/* Adds a triangle, counter-clockwise as seen from the side that `outwards` points to. */
static pbd_status add_triangle(maker *m, uint32_t a, uint32_t b, uint32_t c, const double outwards[3]) {
    const double *x = m->s->vertex;
    double normal[3], along = 0;
    cross_of(x + 3 * a, x + 3 * b, x + 3 * c, normal);
    for (int d = 0; d < 3; d++) along += normal[d] * outwards[d];
    const uint32_t corner[3] = {a, along < 0 ? c : b, along < 0 ? b : c};
    return add_face(m, corner);
}

/* One corner separated from three: a triangle. Two from two: a quadrilateral, whose sides join edges with a common
 * node. */
static pbd_status cut_tetrahedron(maker *m, const size_t node[4]) {
    size_t in[4], out[4];
    int ins = 0, outs = 0;
    double outwards[3] = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
        if (inside(m, node[k]))
            in[ins++] = node[k];
        else
            out[outs++] = node[k];
    }
    if (ins == 0 || outs == 0) return pbd_ok();
    for (int k = 0; k < 4; k++) {
        double at[3];
        place_of(m->g, node[k], at);
        for (int d = 0; d < 3; d++) outwards[d] += inside(m, node[k]) ? -at[d] / ins : at[d] / outs;
    }
    uint32_t v[4];
    if (ins == 2) {
        PBD_TRY(vertex_between(m, in[0], out[0], &v[0]));
        PBD_TRY(vertex_between(m, in[0], out[1], &v[1]));
        PBD_TRY(vertex_between(m, in[1], out[1], &v[2]));
        PBD_TRY(vertex_between(m, in[1], out[0], &v[3]));
        PBD_TRY(add_triangle(m, v[0], v[1], v[2], outwards));
        return add_triangle(m, v[0], v[2], v[3], outwards);
    }
    for (int k = 0; k < 3; k++) PBD_TRY(vertex_between(m, in[ins == 1 ? 0 : k], out[ins == 1 ? k : 0], &v[k]));
    return add_triangle(m, v[0], v[1], v[2], outwards);
}

/* Six tetrahedra, one for each order of the axes on a path along edges from one end of a diagonal to the other. */
static pbd_status cut_cube(maker *m, size_t node) {
    static const int order[6][2] = {{1, 2}, {1, 4}, {2, 1}, {2, 4}, {4, 1}, {4, 2}};
    for (int k = 0; k < 6; k++) {
        const size_t corner[4] = {node, node_beyond(m->g, node, order[k][0]),
                                  node_beyond(m->g, node, order[k][0] | order[k][1]), node_beyond(m->g, node, 7)};
        PBD_TRY(cut_tetrahedron(m, corner));
    }
    return pbd_ok();
}

/* ---- What it measures -------------------------------------------------------------------------------------------- */

static void measure_face(density_surface *s, const uint32_t *face) {
    const double *a = s->vertex + 3 * face[0], *b = s->vertex + 3 * face[1];
    if (s->corners == 2) {
        s->area += hypot(b[0] - a[0], b[1] - a[1]);
        s->volume += 0.5 * (a[0] * b[1] - a[1] * b[0]);
        return;
    }
    double normal[3];
    cross_of(a, b, s->vertex + 3 * face[2], normal);
    s->area += 0.5 * sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    s->volume += (a[0] * normal[0] + a[1] * normal[1] + a[2] * normal[2]) / 6;
}

static uint32_t root_of(uint32_t *parent, uint32_t p) {
    while (parent[p] != p) p = parent[p] = parent[parent[p]];
    return p;
}

static pbd_status count_pieces(density_surface *s) {
    pbd_arena arena PBD_ARENA;
    uint32_t *parent = pbd_new(&arena, uint32_t, s->vertices);
    PBD_TRY(pbd_arena_check(&arena));
    for (size_t i = 0; i < s->vertices; i++) parent[i] = (uint32_t)i;
    for (size_t k = 0; k < s->faces * (size_t)s->corners; k++) {
        const uint32_t a = root_of(parent, s->face[k]);
        const uint32_t b = root_of(parent, s->face[k - k % (size_t)s->corners]);
        parent[a > b ? a : b] = a > b ? b : a;
    }
    for (size_t i = 0; i < s->vertices; i++) s->pieces += parent[i] == i;
    return pbd_ok();
}

void density_surface_free(density_surface *s) {
    free(s->vertex);
    free(s->face);
    *s = (density_surface){0};
}

static pbd_status cut_all(maker *m) {
    const density_grid *g = m->g;
    const bool plane = g->dimensions == 2;
    for (size_t c = 0; c + (plane ? 0 : 1) < g->nodes[2]; c++)
        for (size_t b = 0; b + 1 < g->nodes[1]; b++)
            for (size_t a = 0; a + 1 < g->nodes[0]; a++) {
                const size_t node = a + g->nodes[0] * (b + g->nodes[1] * c);
                PBD_TRY(plane ? cut_square(m, node) : cut_cube(m, node));
            }
    return pbd_ok();
}

static pbd_status make_surface(const density_grid *g, double level, density_surface *out) {
    pbd_arena a PBD_ARENA;
    maker m = {.g = g, .level = level, .s = out};
    m.on_edge = pbd_new(&a, uint32_t, g->nodes[0] * g->nodes[1] * g->nodes[2] * DIRECTIONS);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(cut_all(&m));
    for (size_t f = 0; f < out->faces; f++) measure_face(out, out->face + f * (size_t)out->corners);
    return count_pieces(out);
}

pbd_status density_surface_make(const density_grid *g, double level, density_surface *out) {
    *out = (density_surface){.corners = g->dimensions == 2 ? 2 : 3};
    if (!(level > 0)) return pbd_error(PBD_BAD_INPUT, "a surface where the density is %g: must be above 0", level);
    const pbd_status status = make_surface(g, level, out);
    if (status.code != PBD_OK) density_surface_free(out);
    return status;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void write_ply(const density_surface *s, FILE *file) {
    const size_t corners = (size_t)s->corners;
    fprintf(file, "ply\nformat ascii 1.0\ncomment iso-surface of density, metres\nelement vertex %zu\n", s->vertices);
    fprintf(file, "property double x\nproperty double y\nproperty double z\n");
    if (corners == 2)
        fprintf(file, "element edge %zu\nproperty int vertex1\nproperty int vertex2\nend_header\n", s->faces);
    else
        fprintf(file, "element face %zu\nproperty list uchar int vertex_indices\nend_header\n", s->faces);
    for (size_t v = 0; v < s->vertices; v++)
        fprintf(file, "%.9g %.9g %.9g\n", s->vertex[3 * v], s->vertex[3 * v + 1], s->vertex[3 * v + 2]);
    for (size_t f = 0; f < s->faces; f++) {
        if (corners == 3) fprintf(file, "3 ");
        for (size_t k = 0; k < corners; k++)
            fprintf(file, "%u%c", s->face[corners * f + k], k + 1 < corners ? ' ' : '\n');
    }
}

pbd_status density_surface_write(const density_surface *s, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) return pbd_error(PBD_FAILED, "%s cannot be written: %s", path, strerror(errno));
    write_ply(s, file);
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) return pbd_error(PBD_FAILED, "%s cannot be written: %s", path, strerror(errno));
    return pbd_ok();
}
