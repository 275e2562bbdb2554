#include "harness/picture/carried_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double BOND = 1.3, TORN = 2, LONGEST = 8;
enum { MOST_TRIANGLES = 1000000, HALVINGS = 12 };

void carried_mesh_free(carried_mesh *m) { pbd_arena_free(&m->owned); }

static double square_between(const double *a, const double *b) {
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* ---- Halving long edges ------------------------------------------------------------------------------------------ */

typedef struct long_edge {
    uint32_t low, high, side; /* side: 3 x triangle + the corner where the edge starts */
} long_edge;

static int compare_edges(const void *a, const void *b) {
    const long_edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->side > q->side) - (p->side < q->side);
}

/* Splits a triangle at the midpoints of its sides (UINT32_MAX: not halved); returns the number of pieces. */
static size_t split(const uint32_t corner[3], const uint32_t middle[3], uint32_t out[12]) {
    int first = 0, halved = 0;
    for (int k = 0; k < 3; k++) halved += middle[k] != UINT32_MAX;
    while (halved < 3 && halved > 0 && !(middle[first] != UINT32_MAX && middle[(first + 2) % 3] == UINT32_MAX)) first++;
    const uint32_t a = corner[first], b = corner[(first + 1) % 3], c = corner[(first + 2) % 3];
    const uint32_t p = middle[first], q = middle[(first + 1) % 3], r = middle[(first + 2) % 3];
    const uint32_t pieces[4][12] = {
        {a, b, c}, {a, p, c, p, b, c}, {a, p, c, p, b, q, p, q, c}, {a, p, r, p, b, q, r, q, c, p, q, r}};
    memcpy(out, pieces[halved], 3 * (size_t)(halved + 1) * sizeof *out);
    return (size_t)halved + 1;
}

/* Halves every edge that is longer than `most` once; the triangles at an edge share its midpoint. */
static pbd_status halve_edges(carried_mesh *m, double most, bool *any) {
    pbd_arena a PBD_ARENA;
    long_edge *edge = pbd_new(&a, long_edge, 3 * m->triangles);
    uint32_t *middle = pbd_new(&a, uint32_t, 3 * m->triangles);
    size_t edges = 0, middles = 0, pieces = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < 3 * m->triangles; i++) {
        const uint32_t p = m->triangle[i], q = m->triangle[i / 3 * 3 + (i + 1) % 3];
        middle[i] = UINT32_MAX;
        if (square_between(m->rest + 3 * (size_t)p, m->rest + 3 * (size_t)q) > most * most)
            edge[edges++] = (long_edge){p < q ? p : q, p < q ? q : p, (uint32_t)i};
    }
    *any = edges > 0 && m->triangles + 3 * edges <= MOST_TRIANGLES;
    if (!*any) return pbd_ok();
    qsort(edge, edges, sizeof *edge, compare_edges);
    for (size_t e = 0; e < edges; e++) {
        middles += e == 0 || edge[e].low != edge[e - 1].low || edge[e].high != edge[e - 1].high;
        middle[edge[e].side] = (uint32_t)(m->vertices + middles - 1);
    }
    double *rest = pbd_new(&m->owned, double, 3 * (m->vertices + middles));
    uint32_t *triangle = pbd_new(&m->owned, uint32_t, 3 * (m->triangles + edges));
    PBD_TRY(pbd_arena_check(&m->owned));
    memcpy(rest, m->rest, 3 * m->vertices * sizeof *rest);
    for (size_t e = 0; e < edges; e++)
        for (size_t d = 0; d < 3; d++)
            rest[3 * (size_t)middle[edge[e].side] + d] =
                0.5 * (m->rest[3 * (size_t)edge[e].low + d] + m->rest[3 * (size_t)edge[e].high + d]);
    for (size_t t = 0; t < m->triangles; t++)
        pieces += split(m->triangle + 3 * t, middle + 3 * t, triangle + 3 * pieces);
    m->rest = rest;
    m->vertices += middles;
    m->triangle = triangle;
    m->triangles = pieces;
    return pbd_ok();
}

/* ---- The particles nearest to a vertex --------------------------------------------------------------------------- */

/* Particles sorted into the cubes of a grid. */
typedef struct cubes {
    double low[3], edge;
    size_t count[3], *begin;
    uint32_t *particle;
    const double *rest;
    size_t particles;
} cubes;

static size_t cube_along(const cubes *c, const double *x, int d) {
    const double at = floor((x[d] - c->low[d]) / c->edge);
    return at <= 0 ? 0 : at >= (double)(c->count[d] - 1) ? c->count[d] - 1 : (size_t)at;
}

static size_t cube_of(const cubes *c, const double *x) {
    return cube_along(c, x, 0) + c->count[0] * (cube_along(c, x, 1) + c->count[1] * cube_along(c, x, 2));
}

static pbd_status sort_cubes(const double *rest, const uint32_t *particle, size_t count, double spacing, pbd_arena *a,
                             cubes *c) {
    double high[3] = {-INFINITY, -INFINITY, -INFINITY}, cells;
    *c = (cubes){.low = {INFINITY, INFINITY, INFINITY}, .edge = 1.5 * spacing, .rest = rest, .particles = count};
    for (size_t i = 0; i < count; i++)
        for (int d = 0; d < 3; d++) {
            c->low[d] = fmin(c->low[d], rest[3 * (size_t)particle[i] + (size_t)d]);
            high[d] = fmax(high[d], rest[3 * (size_t)particle[i] + (size_t)d]);
        }
    for (;; c->edge *= 1.5) {
        cells = 1;
        for (int d = 0; d < 3; d++)
            c->count[d] = (size_t)((high[d] - c->low[d]) / c->edge) + 1, cells *= (double)c->count[d];
        if (cells <= 8.0 * (double)count + 64) break;
    }
    c->begin = pbd_new(a, size_t, (size_t)cells + 2);
    c->particle = pbd_new(a, uint32_t, count);
    PBD_TRY(pbd_arena_check(a));
    for (size_t i = 0; i < count; i++) c->begin[cube_of(c, rest + 3 * (size_t)particle[i]) + 2]++;
    for (size_t k = 0; k < (size_t)cells; k++) c->begin[k + 2] += c->begin[k + 1];
    for (size_t i = 0; i < count; i++)
        c->particle[c->begin[cube_of(c, rest + 3 * (size_t)particle[i]) + 1]++] = particle[i];
    return pbd_ok();
}

typedef struct near {
    size_t count;
    double square[CARRIERS + 1]; /* ascending */
    uint32_t particle[CARRIERS + 1];
} near;

static void note(near *n, double square, uint32_t particle) {
    if (n->count == CARRIERS + 1 && square >= n->square[CARRIERS]) return;
    size_t at = n->count < CARRIERS + 1 ? n->count++ : CARRIERS;
    for (; at > 0 && n->square[at - 1] > square; at--) {
        n->square[at] = n->square[at - 1];
        n->particle[at] = n->particle[at - 1];
    }
    n->square[at] = square;
    n->particle[at] = particle;
}

static void look_around(const cubes *c, const double *x, size_t rings, near *n) {
    size_t from[3], to[3];
    n->count = 0;
    for (int d = 0; d < 3; d++) {
        const size_t own = cube_along(c, x, d);
        from[d] = own > rings ? own - rings : 0;
        to[d] = own + rings < c->count[d] ? own + rings : c->count[d] - 1;
    }
    for (size_t k = from[2]; k <= to[2]; k++)
        for (size_t j = from[1]; j <= to[1]; j++)
            for (size_t i = from[0]; i <= to[0]; i++) {
                const size_t cube = i + c->count[0] * (j + c->count[1] * k);
                for (size_t p = c->begin[cube]; p < c->begin[cube + 1]; p++)
                    note(n, square_between(x, c->rest + 3 * (size_t)c->particle[p]), c->particle[p]);
            }
}

/* Searches ever more rings of cubes until all of the nearest particles lie within the rings searched. */
static void find_near(const cubes *c, const double *x, near *n) {
    const size_t most = c->count[0] + c->count[1] + c->count[2];
    for (size_t rings = 1;; rings *= 2) {
        double outside = 0; /* m: how far the vertex lies outside the grid, along one axis */
        look_around(c, x, rings, n);
        for (int d = 0; d < 3; d++) {
            const double high = c->low[d] + c->edge * (double)c->count[d];
            outside = fmax(outside, fmax(c->low[d] - x[d], x[d] - high));
        }
        const double certain = (double)rings * c->edge - fmax(outside, 0);
        if (rings >= most) return;
        if (n->count == CARRIERS + 1 && certain > 0 && n->square[CARRIERS] <= certain * certain) return;
    }
}

/* ---- Coefficients ------------------------------------------------------------------------------------------------ */

/* Eigenvalues and eigenvectors (columns) of a symmetric matrix, by Jacobi's rotations. */
static void diagonalize(double A[3][3], double V[3][3]) {
    for (int i = 0; i < 9; i++) V[i / 3][i % 3] = i % 4 == 0;
    for (int sweep = 0; sweep < 12; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (A[p][q] == 0) continue;
                const double theta = 0.5 * (A[q][q] - A[p][p]) / A[p][q];
                const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) {
                    const double a = A[k][p], b = A[k][q];
                    A[k][p] = c * a - s * b, A[k][q] = s * a + c * b;
                }
                for (int k = 0; k < 3; k++) {
                    const double a = A[p][k], b = A[q][k], u = V[k][p], v = V[k][q];
                    A[p][k] = c * a - s * b, A[q][k] = s * a + c * b;
                    V[k][p] = c * u - s * v, V[k][q] = s * u + c * v;
                }
            }
}

/* The coefficients of the first `count` carriers with weights w, at X: share_i = w_i (1/W + (X_i - X_c)' N+ (X - X_c))
 * with W = sum w, N = sum w (X_i - X_c)(X_i - X_c)', and N+ its inverse without the directions in which the carriers do
 * not spread. If there is one such direction, `null` is the component of X - X_c along it, else 0. */
static void find_shares(const double *X, const double *rest, const uint32_t *carrier, size_t count, const double *w,
                        double *share, double null[3]) {
    static const double FLAT = 1e-4;
    double centre[3] = {0}, total = 0, N[3][3] = {{0}}, V[3][3], way[3] = {0};
    for (size_t i = 0; i < count; i++) {
        total += w[i];
        for (size_t d = 0; d < 3; d++) centre[d] += w[i] * rest[3 * (size_t)carrier[i] + d];
    }
    for (int d = 0; d < 3; d++) centre[d] /= total, null[d] = 0;
    for (size_t i = 0; i < count; i++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                N[a][b] += w[i] * (rest[3 * (size_t)carrier[i] + (size_t)a] - centre[a]) *
                           (rest[3 * (size_t)carrier[i] + (size_t)b] - centre[b]);
    diagonalize(N, V);
    const double largest = fmax(N[0][0], fmax(N[1][1], N[2][2]));
    int flat = 0;
    for (int e = 0; e < 3; e++) {
        double along = 0;
        for (int d = 0; d < 3; d++) along += V[d][e] * (X[d] - centre[d]);
        if (N[e][e] > FLAT * largest) {
            for (int d = 0; d < 3; d++) way[d] += along / N[e][e] * V[d][e];
        } else if (++flat == 1) {
            for (int d = 0; d < 3; d++) null[d] = along * V[d][e];
        } else {
            null[0] = null[1] = null[2] = 0;
        }
    }
    for (size_t i = 0; i < count; i++) {
        double slope = 0;
        for (size_t d = 0; d < 3; d++) slope += way[d] * (rest[3 * (size_t)carrier[i] + d] - centre[d]);
        share[i] = w[i] * (1 / total + slope);
    }
}

static double weight_at(double square, double reach) {
    const double rest = 1 - square / reach;
    return rest > 0 ? rest * rest * rest : 0;
}

static void find_bonds(carried_mesh *m, size_t v, size_t count) {
    const uint32_t *carrier = m->carrier + v * CARRIERS;
    const double most = BOND * BOND * m->spacing * m->spacing, *rest = m->rest_particles;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            if (square_between(rest + 3 * (size_t)carrier[i], rest + 3 * (size_t)carrier[k]) <= most)
                m->bound[v * CARRIERS + i] |= (uint16_t)(1u << k);
}

static void find_carriers(carried_mesh *m, const cubes *c, size_t v) {
    near n;
    double w[CARRIERS];
    const double *X = m->rest + 3 * v;
    uint32_t *carrier = m->carrier + v * CARRIERS;
    find_near(c, X, &n);
    const size_t count = n.count < CARRIERS ? n.count : CARRIERS;
    /* Weights fade to zero at the next nearest particle; without one, at twice the distance of the last carrier. */
    const double reach = n.count > CARRIERS ? n.square[CARRIERS] * (1 + 1e-9) : 4 * n.square[count - 1] + 1e-300;
    for (size_t i = 0; i < CARRIERS; i++) carrier[i] = i < count ? n.particle[i] : UINT32_MAX;
    for (size_t i = 0; i < count; i++) w[i] = weight_at(n.square[i], reach) + 1e-9;
    find_bonds(m, v, count);
    find_shares(X, m->rest_particles, carrier, count, w, m->share + v * CARRIERS, m->null + 3 * v);
}

pbd_status carried_mesh_make(const pbd_skin *skin, const double *rest, const uint32_t *particle, size_t count,
                             double spacing, carried_mesh *out) {
    pbd_arena a PBD_ARENA;
    cubes c;
    bool any = true;
    *out = (carried_mesh){.vertices = skin->vertices,
                          .triangles = count > 0 ? skin->triangles : 0,
                          .spacing = spacing,
                          .rest_particles = rest};
    if (out->triangles == 0) return pbd_ok();
    out->rest = pbd_new(&out->owned, double, 3 * out->vertices);
    out->triangle = pbd_new(&out->owned, uint32_t, 3 * out->triangles);
    PBD_TRY(pbd_arena_check(&out->owned));
    memcpy(out->rest, skin->vertex, 3 * out->vertices * sizeof *out->rest);
    memcpy(out->triangle, skin->triangle, 3 * out->triangles * sizeof *out->triangle);
    for (int k = 0; k < HALVINGS && any; k++) PBD_TRY(halve_edges(out, spacing, &any));
    out->carrier = pbd_new(&out->owned, uint32_t, CARRIERS * out->vertices);
    out->bound = pbd_new(&out->owned, uint16_t, CARRIERS * out->vertices);
    out->held = pbd_new(&out->owned, uint16_t, out->vertices);
    out->share = pbd_new(&out->owned, double, CARRIERS * out->vertices);
    out->null = pbd_new(&out->owned, double, 3 * out->vertices);
    out->position = pbd_new(&out->owned, double, 3 * out->vertices);
    out->shown = pbd_new(&out->owned, uint32_t, 3 * out->triangles);
    PBD_TRY(pbd_arena_check(&out->owned));
    PBD_TRY(sort_cubes(rest, particle, count, spacing, &a, &c));
#pragma omp parallel for schedule(dynamic, 256)
    for (size_t v = 0; v < out->vertices; v++) find_carriers(out, &c, v);
    return pbd_ok();
}

/* ---- Moving ------------------------------------------------------------------------------------------------------ */

static size_t carriers_of(const carried_mesh *m, size_t v) {
    size_t count = CARRIERS;
    while (count > 0 && m->carrier[v * CARRIERS + count - 1] == UINT32_MAX) count--;
    return count;
}

typedef struct bond {
    size_t from, to;
    double stretch;
} bond;

static int compare_bonds(const void *a, const void *b) {
    const bond *p = a, *q = b;
    return (p->stretch > q->stretch) - (p->stretch < q->stretch);
}

/* The carriers that unbroken bonds connect to the first, as bits; all if the first has no bond that could break. */
static uint16_t held_by(const carried_mesh *m, size_t v, size_t count, const double *x) {
    const uint32_t *carrier = m->carrier + v * CARRIERS;
    bond bonds[CARRIERS * CARRIERS / 2];
    size_t n = 0;
    bool whole = true;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) {
            if (!(m->bound[v * CARRIERS + i] >> k & 1)) continue;
            const size_t a = 3 * (size_t)carrier[i], b = 3 * (size_t)carrier[k];
            const double was = square_between(m->rest_particles + a, m->rest_particles + b);
            const double now = square_between(x + a, x + b);
            whole = whole && now <= TORN * TORN * was;
            bonds[n++] = (bond){i, k, was > 0 ? sqrt(now / was) : 1};
        }
    const uint16_t all = (uint16_t)((1u << count) - 1);
    if (whole) return all;
    qsort(bonds, n, sizeof *bonds, compare_bonds);
    const double most = fmin(TORN * fmax(bonds[n / 2].stretch, 1), LONGEST);
    uint16_t held = 1, before = 0;
    while (held != before) {
        before = held;
        for (size_t b = 0; b < n && bonds[b].stretch <= most; b++)
            if ((held >> bonds[b].from & 1) || (held >> bonds[b].to & 1))
                held |= (uint16_t)(1u << bonds[b].from | 1u << bonds[b].to);
    }
    bool first_is_bound = false;
    for (size_t b = 0; b < n; b++) first_is_bound |= bonds[b].from == 0;
    return first_is_bound ? held : all;
}

/* Adds the offset along the plane's current normal: the sum over triangles of the first carrier and two consecutive
 * ones, each normal on the side of `null` at rest. */
static void add_normal(const carried_mesh *m, const uint32_t *carrier, size_t count, const double *null,
                       const double *x, double out[3]) {
    const double length = sqrt(null[0] * null[0] + null[1] * null[1] + null[2] * null[2]);
    double sum[3] = {0};
    if (!(length > 0) || count < 3) return;
    for (size_t i = 1; i + 1 < count; i++) {
        double was[2][3], now[2][3], side = 0;
        for (int k = 0; k < 2; k++)
            for (size_t d = 0; d < 3; d++) {
                const size_t p = 3 * (size_t)carrier[i + (size_t)k] + d, q = 3 * (size_t)carrier[0] + d;
                was[k][d] = m->rest_particles[p] - m->rest_particles[q];
                now[k][d] = x[p] - x[q];
            }
        for (int d = 0; d < 3; d++)
            side += null[d] * (was[0][(d + 1) % 3] * was[1][(d + 2) % 3] - was[0][(d + 2) % 3] * was[1][(d + 1) % 3]);
        for (int d = 0; d < 3; d++)
            sum[d] += (side > 0   ? 1
                       : side < 0 ? -1
                                  : 0) *
                      (now[0][(d + 1) % 3] * now[1][(d + 2) % 3] - now[0][(d + 2) % 3] * now[1][(d + 1) % 3]);
    }
    const double size = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    for (int d = 0; d < 3 && size > 0; d++) out[d] += length / size * sum[d];
}

/* Whether the remaining carriers surround the vertex well enough to carry it. */
static bool is_firm(size_t count, const double *share) {
    static const double MOST = 5;
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fabs(share[i]);
    return count >= 4 && sum < MOST;
}

static void move_vertex(carried_mesh *m, size_t v, const double *x) {
    const uint32_t *carrier = m->carrier + v * CARRIERS;
    const double *share = m->share + v * CARRIERS, *null = m->null + 3 * v;
    double w[CARRIERS], own_share[CARRIERS], own_null[3];
    uint32_t own[CARRIERS];
    size_t count = carriers_of(m, v), left = 0;
    m->held[v] = held_by(m, v, count, x);
    for (size_t i = 0; i < count; i++) {
        if (!(m->held[v] >> i & 1)) continue;
        w[left] = weight_at(square_between(m->rest + 3 * v, m->rest_particles + 3 * (size_t)carrier[i]),
                            9 * m->spacing * m->spacing) +
                  1e-9;
        own[left++] = carrier[i];
    }
    if (left < count) {
        find_shares(m->rest + 3 * v, m->rest_particles, own, left, w, own_share, own_null);
        if (!is_firm(left, own_share)) m->held[v] = 0;
        carrier = own, share = own_share, null = own_null, count = left;
    }
    double *out = m->position + 3 * v;
    out[0] = out[1] = out[2] = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < 3; d++) out[d] += share[i] * x[3 * (size_t)carrier[i] + d];
    add_normal(m, carrier, count, null, x, out);
}

static bool is_whole(const carried_mesh *m, size_t v) {
    return m->held[v] == (uint16_t)((1u << carriers_of(m, v)) - 1);
}

static bool share_a_carrier(const carried_mesh *m, size_t a, size_t b) {
    for (int i = 0; i < CARRIERS; i++)
        for (int k = 0; k < CARRIERS; k++)
            if ((m->held[a] >> i & 1) && (m->held[b] >> k & 1) &&
                m->carrier[a * CARRIERS + (size_t)i] == m->carrier[b * CARRIERS + (size_t)k])
                return true;
    return false;
}

static bool is_torn(const carried_mesh *m, const uint32_t *c) {
    if (is_whole(m, c[0]) && is_whole(m, c[1]) && is_whole(m, c[2])) return false;
    return !share_a_carrier(m, c[0], c[1]) || !share_a_carrier(m, c[1], c[2]) || !share_a_carrier(m, c[2], c[0]);
}

void carried_mesh_move(carried_mesh *m, const double *x) {
#pragma omp parallel for schedule(static, 1024)
    for (size_t v = 0; v < (m->triangles > 0 ? m->vertices : 0); v++) move_vertex(m, v, x);
    m->shown_triangles = 0;
    for (size_t t = 0; t < m->triangles; t++)
        if (!is_torn(m, m->triangle + 3 * t))
            memcpy(m->shown + 3 * m->shown_triangles++, m->triangle + 3 * t, 3 * sizeof *m->shown);
}

float carried_value(const carried_mesh *m, size_t v, const float *value) {
    float sum = 0, total = 0;
    for (size_t i = 0; i < carriers_of(m, v); i++) {
        const uint32_t p = m->carrier[v * CARRIERS + i];
        const float w = (float)weight_at(square_between(m->rest + 3 * v, m->rest_particles + 3 * (size_t)p),
                                         9 * m->spacing * m->spacing) +
                        1e-6f;
        if (!isfinite(value[p])) continue;
        sum += w * value[p];
        total += w;
    }
    return total > 0 ? sum / total : 0;
}
