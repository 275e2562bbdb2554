#include "methods/pbd_distance/hex_constraints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Corner pairs by kind: 12 edges, 12 face diagonals, 4 inner diagonals. */
static const unsigned char edge_pairs[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                                {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
static const unsigned char face_pairs[12][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 5}, {1, 4},
                                                {1, 6}, {2, 5}, {2, 7}, {3, 6}, {3, 4}, {0, 7}};
static const unsigned char diagonal_pairs[4][2] = {{0, 6}, {1, 7}, {2, 4}, {3, 5}};
static const unsigned char (*const kind_pairs[HEX_DISTANCES])[2] = {edge_pairs, face_pairs, diagonal_pairs};
static const size_t pairs_per_cell[HEX_DISTANCES] = {12, 12, 4};

/* Faces, counter-clockwise seen from outside, rotated so that the diagonal of split A joins the first and third
 * corners. */
static const unsigned char faces[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                          {1, 2, 6, 5}, {3, 7, 6, 2}, {0, 4, 7, 3}};

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

double hex_six_volumes(const double p[8][3], hex_split split, double g[8][3]) {
    int turn = split == HEX_SPLIT_B;
    double six = 0;
    memset(g, 0, 24 * sizeof(double));
    for (int f = 0; f < 6; f++)
        for (int t = 0; t < 2; t++) { /* triangles (0, 1, 2) and (0, 2, 3) of the rotated face */
            int c[3] = {faces[f][turn], faces[f][(turn + 1 + t) % 4], faces[f][(turn + 2 + t) % 4]};
            for (int i = 0; i < 3; i++) {
                double normal[3];
                cross(p[c[(i + 1) % 3]], p[c[(i + 2) % 3]], normal);
                for (int d = 0; d < 3; d++) g[c[i]][d] += normal[d];
                if (i == 0)
                    for (int d = 0; d < 3; d++) six += p[c[0]][d] * normal[d];
            }
        }
    return six;
}

static int compare_pairs(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

static double distance(const double *a, const double *b) {
    double sum = 0;
    for (int d = 0; d < 3; d++) sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sqrt(sum);
}

static pbd_status list_pairs(const pbd_scene *scene, int kind, hex_constraints *h) {
    size_t all = scene->hexes.count * pairs_per_cell[kind], count = 0;
    uint32_t *pair = malloc((2 * all + 1) * sizeof *pair);
    double *rest = malloc((all + 1) * sizeof *rest);
    h->pair[kind] = pair;
    h->rest[kind] = rest;
    if (!pair || !rest) return pbd_error(PBD_FAILED, "out of memory for %zu constraints", all);
    for (size_t e = 0; e < scene->hexes.count; e++)
        for (size_t k = 0; k < pairs_per_cell[kind]; k++) {
            uint32_t a = scene->hexes.corner[8 * e + kind_pairs[kind][k][0]],
                     b = scene->hexes.corner[8 * e + kind_pairs[kind][k][1]];
            pair[2 * count] = a < b ? a : b;
            pair[2 * count++ + 1] = a < b ? b : a;
        }
    /* Sorting makes the duplicates of shared edges and face diagonals adjacent. */
    qsort(pair, count, 2 * sizeof *pair, compare_pairs);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool again = kept > 0 && compare_pairs(pair + 2 * i, pair + 2 * (kept - 1)) == 0;
        if (again && scene->hints.shared == PBD_SHARED_ONCE) continue;
        memmove(pair + 2 * kept, pair + 2 * i, 2 * sizeof *pair);
        rest[kept] = distance(scene->particles.positions + 3 * pair[2 * kept],
                              scene->particles.positions + 3 * pair[2 * kept + 1]);
        if (!(rest[kept] > 0))
            return pbd_error(PBD_BAD_INPUT, "particles %u and %u coincide: an edge of no length has no direction",
                             pair[2 * kept], pair[2 * kept + 1]);
        kept++;
    }
    h->count[kind] = kept;
    return pbd_ok();
}

static void cell_corners(const uint32_t *cell, const double *positions, double p[8][3]) {
    for (int a = 0; a < 8; a++) memcpy(p[a], positions + 3 * cell[a], sizeof p[a]);
}

pbd_status hex_constraints_create(const pbd_scene *scene, hex_constraints *out) {
    *out = (hex_constraints){.particles = scene->particles.count, .cells = scene->hexes.count};
    pbd_status status = pbd_ok();
    for (int kind = 0; kind < HEX_DISTANCES && status.code == PBD_OK; kind++) status = list_pairs(scene, kind, out);
    out->cell = malloc((8 * scene->hexes.count + 1) * sizeof *out->cell);
    for (int s = 0; s < 2; s++) out->rest_volume[s] = malloc((scene->hexes.count + 1) * sizeof(double));
    if (status.code == PBD_OK && (!out->cell || !out->rest_volume[0] || !out->rest_volume[1]))
        status = pbd_error(PBD_FAILED, "out of memory for %zu cells", scene->hexes.count);
    if (status.code != PBD_OK) {
        hex_constraints_free(out);
        return status;
    }
    memcpy(out->cell, scene->hexes.corner, 8 * scene->hexes.count * sizeof *out->cell);
    for (size_t e = 0; e < scene->hexes.count; e++) {
        double p[8][3], g[8][3];
        cell_corners(out->cell + 8 * e, scene->particles.positions, p);
        for (int s = 0; s < 2; s++) out->rest_volume[s][e] = hex_six_volumes(p, s ? HEX_SPLIT_B : HEX_SPLIT_A, g);
    }
    return pbd_ok();
}

void hex_constraints_free(hex_constraints *h) {
    for (int kind = 0; kind < HEX_DISTANCES; kind++) {
        free(h->pair[kind]);
        free(h->rest[kind]);
    }
    free(h->cell);
    for (int s = 0; s < 2; s++) free(h->rest_volume[s]);
    *h = (hex_constraints){0};
}

static void linear_distance(const hex_constraints *h, int kind, size_t i, const double *positions,
                            linear_constraint *c) {
    *c = (linear_constraint){.count = 2, .kind = (hex_kind)kind, .share = 1};
    const double *a = positions + 3 * h->pair[kind][2 * i], *b = positions + 3 * h->pair[kind][2 * i + 1];
    c->particle[0] = h->pair[kind][2 * i];
    c->particle[1] = h->pair[kind][2 * i + 1];
    for (int d = 0; d < 3; d++) {
        c->g[0][d] = (a[d] - b[d]) / h->rest[kind][i];
        c->g[1][d] = -c->g[0][d];
    }
}

static void linear_volume(const uint32_t *cell, const double *positions, hex_split split, linear_constraint *c) {
    double p[8][3];
    *c = (linear_constraint){.count = 8, .kind = HEX_VOLUME, .share = 1};
    memcpy(c->particle, cell, sizeof c->particle);
    cell_corners(cell, positions, p);
    hex_six_volumes(p, split == HEX_SPLIT_B ? HEX_SPLIT_B : HEX_SPLIT_A, c->g);
    if (split != HEX_SPLIT_AVERAGED) return;
    double other[8][3];
    hex_six_volumes(p, HEX_SPLIT_B, other);
    for (int a = 0; a < 8; a++)
        for (int d = 0; d < 3; d++) c->g[a][d] = (c->g[a][d] + other[a][d]) / 2;
}

pbd_status hex_linear_constraints(const hex_constraints *h, const double *positions, hex_split split,
                                  linear_constraint **out, size_t *count) {
    size_t total = 2 * h->cells;
    for (int kind = 0; kind < HEX_DISTANCES; kind++) total += h->count[kind];
    linear_constraint *c = malloc((total + 1) * sizeof *c);
    if (!c) return pbd_error(PBD_FAILED, "out of memory for the linear form of %zu constraints", total);
    size_t n = 0;
    for (int kind = 0; kind < HEX_DISTANCES; kind++)
        for (size_t i = 0; i < h->count[kind]; i++) linear_distance(h, kind, i, positions, &c[n++]);
    for (size_t e = 0; e < h->cells; e++) {
        const uint32_t *cell = h->cell + 8 * e;
        if (split != HEX_SPLIT_MEAN) {
            linear_volume(cell, positions, split, &c[n++]);
            continue;
        }
        for (int s = 0; s < 2; s++) {
            linear_volume(cell, positions, s ? HEX_SPLIT_B : HEX_SPLIT_A, &c[n]);
            c[n++].share = 0.5;
        }
    }
    *out = c;
    *count = n;
    return pbd_ok();
}
