#include "harness/picture/iso_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/picture/vector.h"

/* ---- The cases ----------------------------------------------------------------------------------------------------
 * Corner c of a cube has bit 0, 1, 2 of c along x, y, z. Edge 4 d + k runs along axis d, from the k-th corner whose bit
 * d is 0. */

enum { EDGES = 12, MOST_TRIANGLES = 12 };

typedef struct cube_case {
    unsigned char triangles, corner[3 * MOST_TRIANGLES]; /* edges of the cube */
} cube_case;

static int edge_from(int d, int k) { /* the lower corner of edge 4 d + k */
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    return (k & 1) << a | (k >> 1) << b;
}

static int edge_between(int a, int b) {
    for (int e = 0; e < EDGES; e++) {
        const int low = edge_from(e / 4, e % 4), high = low | 1 << e / 4;
        if ((low == a && high == b) || (low == b && high == a)) return e;
    }
    return -1;
}

/* Walks around each face, counter-clockwise from outside. A step leads from the edge where the walk leaves the inside
 * to the edge where it last entered it. Each crossed edge is left on one of its faces and entered on the other, so the
 * steps form loops. */
static void find_steps(int in, int next[EDGES]) {
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++) {
            const int a = 1 << (side ? (d + 1) % 3 : (d + 2) % 3), b = 1 << (side ? (d + 2) % 3 : (d + 1) % 3);
            const int low = side << d, corner[4] = {low, low | a, low | a | b, low | b};
            for (int k = 0; k < 4; k++) {
                if (!(in >> corner[k] & 1) || in >> corner[(k + 1) % 4] & 1) continue;
                int from = k;
                while (in >> corner[(from + 3) % 4] & 1) from = (from + 3) % 4;
                next[edge_between(corner[k], corner[(k + 1) % 4])] = edge_between(corner[(from + 3) % 4], corner[from]);
            }
        }
}

static void make_case(int in, cube_case *out) {
    int next[EDGES];
    out->triangles = 0;
    for (int e = 0; e < EDGES; e++) next[e] = -1;
    find_steps(in, next);
    for (int e = 0; e < EDGES; e++) { /* each loop as a fan from its first edge */
        if (next[e] < 0) continue;
        int at = next[e];
        next[e] = -1;
        while (next[at] != e) {
            const int then = next[at];
            unsigned char *corner = out->corner + 3 * out->triangles++;
            corner[0] = (unsigned char)e, corner[1] = (unsigned char)then, corner[2] = (unsigned char)at;
            next[at] = -1;
            at = then;
        }
        next[at] = -1;
    }
}

/* ---- Layers of the grid -------------------------------------------------------------------------------------------
 * Vertices lie on crossed edges. They are numbered layer by layer; an edge belongs to the layer where it starts. */

enum { CHUNK = 16 /* layers that one thread takes at a time */ };

typedef struct maker {
    const scalar_grid *g;
    float level;
    size_t row, layer; /* nodes */
    size_t *vertices;  /* by layer: their number in all layers before it */
    size_t *triangles; /* likewise; a cube belongs to the layer below it */
    cube_case kind[256];
    iso_mesh *out;
} maker;

static bool inside(const maker *m, size_t node) { return m->g->value[node] >= m->level; }

/* Executes body for each crossed edge that starts in layer z, in the order of nodes. */
#define FOR_CROSSINGS(m, z, node, axis, body)                                                        \
    for (size_t y_ = 0; y_ < (m)->g->nodes[1]; y_++)                                                 \
        for (size_t x_ = 0; x_ < (m)->g->nodes[0]; x_++) {                                           \
            const size_t node = x_ + (m)->row * y_ + (m)->layer * (z);                               \
            const bool in_ = inside(m, node);                                                        \
            const size_t beyond_[3] = {1, (m)->row, (m)->layer}, at_[3] = {x_, y_, (z)};             \
            for (size_t axis = 0; axis < 3; axis++)                                                  \
                if (at_[axis] + 1 < (m)->g->nodes[axis] && in_ != inside(m, node + beyond_[axis])) { \
                    body;                                                                            \
                }                                                                                    \
        }

static size_t count_vertices(const maker *m, size_t z) {
    size_t count = 0;
    FOR_CROSSINGS(m, z, node, axis, count++)
    return count;
}

static void number_vertices(const maker *m, size_t z, uint32_t *number) {
    uint32_t next = (uint32_t)m->vertices[z];
    FOR_CROSSINGS(m, z, node, axis, number[3 * (node - m->layer * z) + axis] = next++)
}

static int case_of(const maker *m, size_t node) {
    int in = 0;
    for (int c = 0; c < 8; c++)
        in |= inside(m, node + (size_t)(c & 1) + (c & 2 ? m->row : 0) + (c & 4 ? m->layer : 0)) << c;
    return in;
}

static size_t count_triangles(const maker *m, size_t z) {
    size_t count = 0;
    for (size_t y = 0; y + 1 < m->g->nodes[1]; y++)
        for (size_t x = 0; x + 1 < m->g->nodes[0]; x++)
            count += m->kind[case_of(m, x + m->row * y + m->layer * z)].triangles;
    return count;
}

/* ---- Vertices and triangles -------------------------------------------------------------------------------------- */

static void gradient(const maker *m, size_t node, float out[3]) {
    const size_t beyond[3] = {1, m->row, m->layer};
    const size_t at[3] = {node % m->row, node / m->row % m->g->nodes[1], node / m->layer};
    for (int d = 0; d < 3; d++) {
        const size_t up = at[d] + 1 < m->g->nodes[d] ? node + beyond[d] : node,
                     down = at[d] > 0 ? node - beyond[d] : node;
        out[d] = m->g->value[up] - m->g->value[down];
    }
}

static void place_vertex(const maker *m, size_t node, size_t axis, size_t vertex) {
    const size_t beyond[3] = {1, m->row, m->layer};
    const size_t at[3] = {node % m->row, node / m->row % m->g->nodes[1], node / m->layer};
    const float a = m->g->value[node], b = m->g->value[node + beyond[axis]];
    const float share = clamped((m->level - a) / (b - a), 0, 1);
    float low[3], high[3];
    gradient(m, node, low);
    gradient(m, node + beyond[axis], high);
    vector n = {-(low[0] + share * (high[0] - low[0])), -(low[1] + share * (high[1] - low[1])),
                -(low[2] + share * (high[2] - low[2]))};
    n = unit(n);
    for (size_t d = 0; d < 3; d++)
        m->out->vertex[3 * vertex + d] =
            m->g->origin[d] + m->g->cell * ((double)at[d] + (d == axis ? (double)share : 0));
    m->out->normal[3 * vertex] = n.x, m->out->normal[3 * vertex + 1] = n.y, m->out->normal[3 * vertex + 2] = n.z;
}

static void place_vertices(const maker *m, size_t z) {
    size_t vertex = m->vertices[z];
    FOR_CROSSINGS(m, z, node, axis, place_vertex(m, node, axis, vertex++))
}

/* below, above: vertex numbers of the layers below and above the cube. */
static void join_cube(const maker *m, size_t x, size_t y, const cube_case *kind, const uint32_t *below,
                      const uint32_t *above, uint32_t *out) {
    for (int k = 0; k < 3 * kind->triangles; k++) {
        const int d = kind->corner[k] / 4, from = edge_from(d, kind->corner[k] % 4);
        const size_t node = x + (size_t)(from & 1) + m->row * (y + (size_t)(from >> 1 & 1));
        out[k] = (from & 4 ? above : below)[3 * node + (size_t)d];
    }
}

static void join_layer(const maker *m, size_t z, const uint32_t *below, const uint32_t *above) {
    uint32_t *next = m->out->triangle + 3 * m->triangles[z];
    for (size_t y = 0; y + 1 < m->g->nodes[1]; y++)
        for (size_t x = 0; x + 1 < m->g->nodes[0]; x++) {
            const cube_case *kind = &m->kind[case_of(m, x + m->row * y + m->layer * z)];
            join_cube(m, x, y, kind, below, above, next);
            next += 3 * (size_t)kind->triangles;
        }
}

static pbd_status join_layers(const maker *m, size_t from, size_t to) {
    pbd_arena a PBD_ARENA;
    uint32_t *below = pbd_new(&a, uint32_t, 3 * m->layer), *above = pbd_new(&a, uint32_t, 3 * m->layer);
    PBD_TRY(pbd_arena_check(&a));
    number_vertices(m, from, below);
    for (size_t z = from; z < to; z++) {
        place_vertices(m, z);
        if (z + 1 == m->g->nodes[2]) break;
        number_vertices(m, z + 1, above);
        join_layer(m, z, below, above);
        uint32_t *swapped = below;
        below = above;
        above = swapped;
    }
    return pbd_ok();
}

static void add_up(size_t *of, size_t count) {
    size_t sum = 0;
    for (size_t i = 0; i <= count; i++) {
        const size_t own = of[i];
        of[i] = sum;
        sum += own;
    }
}

static pbd_status make_mesh(maker *m) {
    const size_t layers = m->g->nodes[2];
    pbd_arena a PBD_ARENA;
    m->vertices = pbd_new(&a, size_t, layers + 1);
    m->triangles = pbd_new(&a, size_t, layers + 1);
    PBD_TRY(pbd_arena_check(&a));
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t z = 0; z < layers; z++) {
        m->vertices[z] = count_vertices(m, z);
        m->triangles[z] = z + 1 < layers ? count_triangles(m, z) : 0;
    }
    add_up(m->vertices, layers);
    add_up(m->triangles, layers);
    if (m->vertices[layers] >= UINT32_MAX)
        return pbd_error(PBD_BAD_INPUT, "a surface of %zu vertices is too large", m->vertices[layers]);
    m->out->vertices = m->vertices[layers];
    m->out->triangles = m->triangles[layers];
    PBD_TRY_NEW(m->out->vertex, 3 * m->out->vertices);
    PBD_TRY_NEW(m->out->normal, 3 * m->out->vertices);
    PBD_TRY_NEW(m->out->triangle, 3 * m->out->triangles);
    pbd_status status = pbd_ok();
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t z = 0; z < layers; z += CHUNK) {
        const pbd_status one = join_layers(m, z, z + CHUNK < layers ? z + CHUNK : layers);
#pragma omp critical(iso_mesh)
        if (one.code != PBD_OK) status = one;
    }
    return status;
}

void iso_mesh_free(iso_mesh *mesh) {
    free(mesh->vertex);
    free(mesh->normal);
    free(mesh->triangle);
    *mesh = (iso_mesh){0};
}

pbd_status iso_mesh_make(const scalar_grid *grid, float level, iso_mesh *out) {
    *out = (iso_mesh){0};
    maker m = {.g = grid, .level = level, .row = grid->nodes[0], .layer = grid->nodes[0] * grid->nodes[1], .out = out};
    for (int in = 0; in < 256; in++) make_case(in, &m.kind[in]);
    const pbd_status status = make_mesh(&m);
    if (status.code != PBD_OK) iso_mesh_free(out);
    return status;
}

/* ---- Smoothing --------------------------------------------------------------------------------------------------- */

/* Moves every vertex by `share` of the way to the mean of its neighbours. Each edge of a closed mesh occurs in two
 * triangles, once in each direction. */
static void relax(iso_mesh *m, double share, double *mean, uint32_t *count) {
    memset(mean, 0, 3 * m->vertices * sizeof *mean);
    memset(count, 0, m->vertices * sizeof *count);
    for (size_t t = 0; t < m->triangles; t++)
        for (size_t k = 0; k < 3; k++) {
            const size_t a = m->triangle[3 * t + k], b = m->triangle[3 * t + (k + 1) % 3];
            for (size_t d = 0; d < 3; d++) mean[3 * a + d] += m->vertex[3 * b + d];
            count[a]++;
        }
    for (size_t v = 0; v < m->vertices; v++)
        for (size_t d = 0; d < 3 && count[v] > 0; d++)
            m->vertex[3 * v + d] += share * (mean[3 * v + d] / count[v] - m->vertex[3 * v + d]);
}

static void normals_of_triangles(iso_mesh *m) {
    memset(m->normal, 0, 3 * m->vertices * sizeof *m->normal);
    for (size_t t = 0; t < m->triangles; t++) {
        vector p[3];
        for (size_t k = 0; k < 3; k++) {
            double off[3];
            for (size_t d = 0; d < 3; d++)
                off[d] =
                    m->vertex[3 * (size_t)m->triangle[3 * t + k] + d] - m->vertex[3 * (size_t)m->triangle[3 * t] + d];
            p[k] = vector_of(off);
        }
        const vector n = cross(p[1], p[2]);
        for (size_t k = 0; k < 3; k++) {
            float *to = m->normal + 3 * (size_t)m->triangle[3 * t + k];
            to[0] += n.x, to[1] += n.y, to[2] += n.z;
        }
    }
    for (size_t v = 0; v < m->vertices; v++) {
        const vector n = unit((vector){m->normal[3 * v], m->normal[3 * v + 1], m->normal[3 * v + 2]});
        m->normal[3 * v] = n.x, m->normal[3 * v + 1] = n.y, m->normal[3 * v + 2] = n.z;
    }
}

pbd_status iso_mesh_smooth(iso_mesh *m, int rounds) {
    static const double IN = 0.5, OUT = -0.53;
    pbd_arena a PBD_ARENA;
    double *mean = pbd_new(&a, double, 3 * m->vertices);
    uint32_t *count = pbd_new(&a, uint32_t, m->vertices);
    PBD_TRY(pbd_arena_check(&a));
    for (int k = 0; k < rounds; k++) {
        relax(m, IN, mean, count);
        relax(m, OUT, mean, count);
    }
    normals_of_triangles(m);
    return pbd_ok();
}

float scalar_grid_at(const scalar_grid *g, const float *value, const double x[3]) {
    size_t at[3];
    float share[3], sum = 0;
    for (int d = 0; d < 3; d++) {
        const double off = (x[d] - g->origin[d]) / g->cell;
        if (!(off >= 0 && off < (double)(g->nodes[d] - 1))) return 0;
        at[d] = (size_t)off;
        share[d] = (float)(off - floor(off));
    }
    for (int c = 0; c < 8; c++) {
        float weight = 1;
        for (int d = 0; d < 3; d++) weight *= c >> d & 1 ? share[d] : 1 - share[d];
        sum += weight * value[at[0] + (size_t)(c & 1) +
                              g->nodes[0] * (at[1] + (size_t)(c >> 1 & 1) + g->nodes[1] * (at[2] + (size_t)(c >> 2)))];
    }
    return sum;
}
