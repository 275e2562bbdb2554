#include "methods/fem_implicit/elements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/physics/parts/surface_load.h"

/* ---- Shape functions --------------------------------------------------------------------------------------------- */

/* Nodes of a hexahedron are in lexicographic order, x fastest, with indices 0..p in each direction. The table gives the
 * indices of the corners, over p, in Zienkiewicz's order. */
static const int hex_corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
/* End corners of the edges of a tetrahedron, in the order of its mid-side nodes 4..9. */
static const int tet_edge[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};

static bool is_tet(element_kind kind) { return kind == ELEMENT_TET4 || kind == ELEMENT_TET10; }
static int order_of(element_kind kind) { return kind == ELEMENT_TET10 || kind == ELEMENT_HEX27 ? 2 : 1; }

int element_nodes(element_kind kind) {
    static const int nodes[ELEMENT_KINDS] = {4, 10, 8, 27};
    return nodes[kind];
}

/* Lagrange polynomials on [-1, 1] and their slopes. */
static void lagrange(int order, double x, double value[3], double slope[3]) {
    if (order == 1) {
        value[0] = 0.5 * (1 - x), value[1] = 0.5 * (1 + x);
        slope[0] = -0.5, slope[1] = 0.5;
        return;
    }
    value[0] = 0.5 * x * (x - 1), value[1] = 1 - x * x, value[2] = 0.5 * x * (x + 1);
    slope[0] = x - 0.5, slope[1] = -2 * x, slope[2] = x + 0.5;
}

static void hex_shape(int order, const double at[3], double *shape, double (*gradient)[3]) {
    double value[3][3], slope[3][3];
    for (int d = 0; d < 3; d++) lagrange(order, at[d], value[d], slope[d]);
    int a = 0;
    for (int k = 0; k <= order; k++)
        for (int j = 0; j <= order; j++)
            for (int i = 0; i <= order; i++, a++) {
                shape[a] = value[0][i] * value[1][j] * value[2][k];
                gradient[a][0] = slope[0][i] * value[1][j] * value[2][k];
                gradient[a][1] = value[0][i] * slope[1][j] * value[2][k];
                gradient[a][2] = value[0][i] * value[1][j] * slope[2][k];
            }
}

/* Barycentric coordinates are 1 - x - y - z, x, y, z. */
static void tet_shape(int order, const double at[3], double *shape, double (*gradient)[3]) {
    static const double slope[4][3] = {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double L[4] = {1 - at[0] - at[1] - at[2], at[0], at[1], at[2]};
    for (int a = 0; a < 4; a++) {
        shape[a] = order == 1 ? L[a] : L[a] * (2 * L[a] - 1);
        for (int d = 0; d < 3; d++) gradient[a][d] = (order == 1 ? 1 : 4 * L[a] - 1) * slope[a][d];
    }
    for (int e = 0; order == 2 && e < 6; e++) {
        const int i = tet_edge[e][0], j = tet_edge[e][1];
        shape[4 + e] = 4 * L[i] * L[j];
        for (int d = 0; d < 3; d++) gradient[4 + e][d] = 4 * (L[i] * slope[j][d] + L[j] * slope[i][d]);
    }
}

static void add_point(element_kind kind, const double at[3], double weight, element_rule *rule) {
    const int q = rule->points++;
    rule->weight[q] = weight;
    memcpy(rule->at[q], at, sizeof rule->at[q]);
    (is_tet(kind) ? tet_shape : hex_shape)(order_of(kind), at, rule->shape[q], rule->gradient[q]);
}

/* ---- Quadrature -------------------------------------------------------------------------------------------------- */

static const double gauss_at[5][4] = {
    {0},
    {0},
    {-0.57735026918962576, 0.57735026918962576},
    {-0.77459666924148338, 0, 0.77459666924148338},
    {-0.86113631159405258, -0.33998104358485626, 0.33998104358485626, 0.86113631159405258}};
static const double gauss_weight[5][4] = {
    {0},
    {2},
    {1, 1},
    {5.0 / 9, 8.0 / 9, 5.0 / 9},
    {0.34785484513745386, 0.65214515486254614, 0.65214515486254614, 0.34785484513745386}};

static void gauss_cube(element_kind kind, int n, element_rule *rule) {
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                add_point(kind, (const double[]){gauss_at[n][i], gauss_at[n][j], gauss_at[n][k]},
                          gauss_weight[n][i] * gauss_weight[n][j] * gauss_weight[n][k], rule);
}

/* The cube's rule mapped to the tetrahedron (Duffy): x = u, y = v (1 - u), z = w (1 - u)(1 - v) on [0, 1]^3. */
static void folded_cube(element_kind kind, int n, element_rule *rule) {
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                const double u = 0.5 * (1 + gauss_at[n][i]), v = 0.5 * (1 + gauss_at[n][j]),
                             w = 0.5 * (1 + gauss_at[n][k]);
                const double weight = gauss_weight[n][i] * gauss_weight[n][j] * gauss_weight[n][k] / 8;
                add_point(kind, (const double[]){u, v * (1 - u), w * (1 - u) * (1 - v)},
                          weight * (1 - u) * (1 - u) * (1 - v), rule);
            }
}

static void tet_rule(element_kind kind, element_rule *rule) {
    if (kind == ELEMENT_TET4) {
        add_point(kind, (const double[]){0.25, 0.25, 0.25}, 1.0 / 6, rule);
        return;
    }
    const double a = (5 - sqrt(5)) / 20, b = 1 - 3 * a;
    for (int p = 0; p < 4; p++)
        add_point(kind, (const double[]){p == 1 ? b : a, p == 2 ? b : a, p == 3 ? b : a}, 1.0 / 24, rule);
}

void element_stiffness_rule(element_kind kind, element_rule *out) {
    *out = (element_rule){.nodes = element_nodes(kind)};
    if (is_tet(kind))
        tet_rule(kind, out);
    else
        gauss_cube(kind, order_of(kind) + 1, out);
}

void element_mass_rule(element_kind kind, element_rule *out) {
    *out = (element_rule){.nodes = element_nodes(kind)};
    (is_tet(kind) ? folded_cube : gauss_cube)(kind, 4, out);
}

void element_nodal_rule(element_kind kind, element_rule *out) {
    *out = (element_rule){.nodes = element_nodes(kind)};
    const int p = order_of(kind);
    for (int a = 0; a < out->nodes; a++) {
        double at[3] = {0};
        if (!is_tet(kind)) {
            at[0] = 2.0 * (a % (p + 1)) / p - 1;
            at[1] = 2.0 * (a / (p + 1) % (p + 1)) / p - 1;
            at[2] = 2.0 * (a / ((p + 1) * (p + 1))) / p - 1;
        } else if (a < 4) {
            if (a > 0) at[a - 1] = 1;
        } else {
            for (int end = 0; end < 2; end++)
                if (tet_edge[a - 4][end] > 0) at[tet_edge[a - 4][end] - 1] += 0.5;
        }
        add_point(kind, at, 0, out);
    }
}

/* ---- Meshes ------------------------------------------------------------------------------------------------------ */

/* Identifies a node by the corners whose mean it is, ascending, padded with UINT32_MAX; a corner node has itself alone.
 * Elements that share an edge or a face share its node, since their keys name the same corners. */
enum { PARENTS = 8 };
typedef struct node_key {
    uint32_t corner[PARENTS];
    size_t slot; /* the entry of the element table */
} node_key;

static int compare_numbers(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int compare_keys(const void *a, const void *b) {
    const node_key *x = a, *y = b;
    for (int i = 0; i < PARENTS; i++)
        if (x->corner[i] != y->corner[i]) return x->corner[i] < y->corner[i] ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static bool same_corners(const node_key *x, const node_key *y) {
    return memcmp(x->corner, y->corner, sizeof x->corner) == 0;
}

/* Writes the key of local node a of an element with these vertices. */
static void name_node(element_kind kind, const uint32_t *vertex, int a, node_key *key) {
    int count = 0;
    memset(key->corner, 0xFF, sizeof key->corner);
    if (is_tet(kind)) {
        /* The reference element is oriented opposite to method.h's tetrahedra, so two corners are swapped. */
        const uint32_t turned[4] = {vertex[1], vertex[0], vertex[2], vertex[3]};
        vertex = turned;
        for (int v = 0; v < 4; v++)
            if (a < 4 ? v == a : v == tet_edge[a - 4][0] || v == tet_edge[a - 4][1]) key->corner[count++] = vertex[v];
    } else {
        const int p = order_of(kind), at[3] = {a % (p + 1), a / (p + 1) % (p + 1), a / ((p + 1) * (p + 1))};
        for (int v = 0; v < 8; v++) {
            bool takes = true;
            for (int d = 0; d < 3; d++) takes = takes && (at[d] == p * hex_corner[v][d] || (p == 2 && at[d] == 1));
            if (takes) key->corner[count++] = vertex[v];
        }
    }
    qsort(key->corner, (size_t)count, sizeof *key->corner, compare_numbers);
}

/* Numbers the nodes: corners keep their particle's number, others follow in the order of their keys. */
static pbd_status number_nodes(const pbd_scene *scene, const uint32_t *vertices, element_mesh *m) {
    const int corners_in = is_tet(m->kind) ? 4 : 8;
    const size_t total = m->elements * (size_t)m->corners;
    pbd_arena a PBD_ARENA;
    node_key *key = pbd_new(&a, node_key, total);
    PBD_TRY(pbd_arena_check(&a));
    m->element = malloc((total + 1) * sizeof *m->element);
    m->parent = malloc((total + 1) * PARENTS * sizeof *m->parent);
    if (!m->element || !m->parent) return pbd_error(PBD_FAILED, "out of memory for %zu elements", m->elements);
    for (size_t i = 0; i < total; i++) {
        key[i].slot = i;
        name_node(m->kind, vertices + i / (size_t)m->corners * (size_t)corners_in, (int)(i % (size_t)m->corners),
                  &key[i]);
    }
    qsort(key, total, sizeof *key, compare_keys);
    m->nodes = scene->particles.count;
    for (size_t i = 0; i < total; i++) {
        if (key[i].corner[1] == UINT32_MAX) {
            m->element[key[i].slot] = key[i].corner[0];
            continue;
        }
        if (i == 0 || !same_corners(&key[i], &key[i - 1])) {
            memcpy(m->parent + PARENTS * (m->nodes - scene->particles.count), key[i].corner, sizeof key[i].corner);
            m->nodes++;
        }
        m->element[key[i].slot] = (uint32_t)(m->nodes - 1);
    }
    return pbd_ok();
}

static pbd_status place_nodes(const pbd_scene *scene, element_mesh *m) {
    m->position = calloc(3 * m->nodes + 1, sizeof *m->position);
    m->held = calloc(3 * m->nodes + 1, sizeof *m->held);
    if (!m->position || !m->held) return pbd_error(PBD_FAILED, "out of memory for %zu nodes", m->nodes);
    memcpy(m->position, scene->particles.positions, 3 * scene->particles.count * sizeof *m->position);
    for (size_t i = 0; i < scene->particles.fixed; i++)
        memset(m->held + 3 * scene->particles.fixed_particle[i], 1, 3 * sizeof *m->held);
    for (size_t node = scene->particles.count; node < m->nodes; node++) {
        const uint32_t *parent = m->parent + PARENTS * (node - scene->particles.count);
        int count = 0;
        bool held = true;
        for (; count < PARENTS && parent[count] != UINT32_MAX; count++) {
            held = held && m->held[3 * parent[count]];
            for (int d = 0; d < 3; d++) m->position[3 * node + d] += scene->particles.positions[3 * parent[count] + d];
        }
        for (int d = 0; d < 3; d++) m->position[3 * node + d] /= count;
        for (int d = 0; d < 3; d++) m->held[3 * node + d] = held;
    }
    return pbd_ok();
}

static pbd_status check_elements(const element_mesh *m) {
    element_rule rule;
    double gradient[ELEMENT_MOST_NODES][3];
    element_stiffness_rule(m->kind, &rule);
    for (size_t e = 0; e < m->elements; e++)
        for (int q = 0; q < rule.points; q++) {
            const double volume = element_gradients(m, e, &rule, q, gradient);
            if (!(volume > 0))
                return pbd_error(PBD_BAD_INPUT, "%s %zu is flat or inverted (volume %g at a point of its rule)",
                                 is_tet(m->kind) ? "tetrahedron" : "hexahedron", e, volume);
        }
    return pbd_ok();
}

static pbd_status has_none(const pbd_scene *scene, bool tets) {
    const char *wanted = tets ? "tetrahedra" : "hexahedra";
    if ((tets ? scene->hexes.count : scene->tets.count) > 0)
        return pbd_error(PBD_NOT_SUPPORTED, "this case has no %s, which the element requires: set element=%s", wanted,
                         tets ? "hex27" : "tet10");
    return pbd_error(PBD_NOT_SUPPORTED, "this case has neither tetrahedra nor hexahedra, which fem_implicit requires");
}

pbd_status element_mesh_create(element_kind kind, const pbd_scene *scene, element_mesh *out) {
    const bool tets = is_tet(kind);
    *out = (element_mesh){.kind = kind,
                          .corners = element_nodes(kind),
                          .particles = scene->particles.count,
                          .elements = tets ? scene->tets.count : scene->hexes.count};
    if (out->elements == 0) return has_none(scene, tets);
    pbd_status status = number_nodes(scene, tets ? scene->tets.corner : scene->hexes.corner, out);
    if (status.code == PBD_OK) status = place_nodes(scene, out);
    if (status.code == PBD_OK) status = check_elements(out);
    if (status.code != PBD_OK) element_mesh_free(out);
    return status;
}

void element_mesh_free(element_mesh *m) {
    free(m->position);
    free(m->element);
    free(m->held);
    free(m->parent);
    *m = (element_mesh){0};
}

double element_gradients(const element_mesh *m, size_t element, const element_rule *rule, int q,
                         double gradient[ELEMENT_MOST_NODES][3]) {
    const uint32_t *node = m->element + element * (size_t)m->corners;
    double J[3][3] = {{0}}, cofactor[3][3], det = 0;
    for (int a = 0; a < rule->nodes; a++)
        for (int i = 0; i < 3; i++)
            for (int d = 0; d < 3; d++) J[i][d] += m->position[3 * node[a] + (size_t)i] * rule->gradient[q][a][d];
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
            cofactor[i][d] = J[i1][d1] * J[i2][d2] - J[i1][d2] * J[i2][d1];
        }
    for (int d = 0; d < 3; d++) det += J[0][d] * cofactor[0][d];
    for (int a = 0; a < rule->nodes; a++)
        for (int i = 0; i < 3; i++) {
            gradient[a][i] = 0;
            for (int d = 0; d < 3; d++) gradient[a][i] += cofactor[i][d] * rule->gradient[q][a][d];
            gradient[a][i] /= det;
        }
    return det * (rule->weight[q] > 0 ? rule->weight[q] : 1);
}

/* ---- Loads on edges and faces ------------------------------------------------------------------------------------ */

static int compare_parents(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    for (int i = 0; i < PARENTS; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Returns the node at the mean of these corners; SIZE_MAX: none. */
static size_t node_between(const element_mesh *m, const uint32_t *corner, int count) {
    uint32_t key[PARENTS];
    memset(key, 0xFF, sizeof key);
    memcpy(key, corner, (size_t)count * sizeof *key);
    qsort(key, (size_t)count, sizeof *key, compare_numbers);
    const uint32_t *found = bsearch(key, m->parent, m->nodes - m->particles, PARENTS * sizeof *key, compare_parents);
    return found ? m->particles + (size_t)(found - m->parent) / PARENTS : SIZE_MAX;
}

/* Writes the nodes of a loaded edge or face, in the order of surface_shape.h. Whether all of them exist. */
static bool nodes_of_piece(const element_mesh *m, const uint32_t *corner, int corners, size_t *node) {
    const int nodes = surface_nodes(corners, order_of(m->kind));
    bool found = true;
    for (int a = 0; a < corners; a++) node[a] = corner[a];
    for (int a = corners; a < nodes; a++) {
        const uint32_t ends[2] = {corner[a - corners], corner[(a - corners + 1) % corners]};
        node[a] = a == 8 ? node_between(m, corner, 4) : node_between(m, ends, 2);
        found = found && node[a] != SIZE_MAX;
    }
    return found;
}

static pbd_status add_pieces(const element_mesh *m, const pbd_scene *scene, int corners, double *load) {
    static const char *const names[] = {"edge", "triangle", "quadrilateral"};
    const pbd_loaded *pieces = surface_load_pieces(scene, corners);
    const int order = order_of(m->kind);
    double x[SURFACE_MOST_CORNERS][3], weight[SURFACE_MOST_NODES][SURFACE_MOST_CORNERS];
    size_t node[SURFACE_MOST_NODES];
    for (size_t p = 0; p < pieces->count; p++) {
        const double *density = pieces->density + 3 * p * (size_t)corners;
        if (!nodes_of_piece(m, pieces->corner + p * (size_t)corners, corners, node))
            return pbd_error(PBD_BAD_INPUT, "loaded %s %zu of the scene belongs to no element", names[corners - 2], p);
        surface_load_corners(scene, corners, p, x);
        surface_load_weights(corners, order, x, weight);
        for (int a = 0; a < surface_nodes(corners, order); a++)
            for (int c = 0; c < corners; c++)
                for (size_t d = 0; d < 3; d++) load[3 * node[a] + d] += weight[a][c] * density[3 * (size_t)c + d];
    }
    return pbd_ok();
}

pbd_status element_surface_load(const element_mesh *m, const pbd_scene *scene, double *load) {
    PBD_TRY(add_pieces(m, scene, 2, load));
    return add_pieces(m, scene, is_tet(m->kind) ? 3 : 4, load);
}
