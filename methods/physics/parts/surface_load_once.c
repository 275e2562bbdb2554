#include "methods/physics/parts/surface_load.h"

#include <string.h>

/* ---- One piece --------------------------------------------------------------------------------------------------- */

/* Integrates by the rule on [0, 1]^2. For triangles the square is folded (Duffy: t becomes t (1 - s)); edges use s
 * only. */
double surface_load_weights(int corners, int order, const double x[SURFACE_MOST_CORNERS][3],
                            double weight[SURFACE_MOST_NODES][SURFACE_MOST_CORNERS]) {
    double total = 0;
    memset(weight, 0, sizeof(double[SURFACE_MOST_NODES][SURFACE_MOST_CORNERS]));
    for (int i = 0; i < SURFACE_RULE; i++)
        for (int j = 0; j < (corners == 2 ? 1 : SURFACE_RULE); j++) {
            const double s = surface_at[i], fold = corners == 3 ? 1 - s : 1, t = fold * surface_at[j];
            const double w = surface_weight[i] * (corners == 2 ? 1 : surface_weight[j]) * fold;
            const double size = w * surface_measure(corners, x, s, t);
            double N[SURFACE_MOST_NODES] = {0}, M[SURFACE_MOST_NODES] = {0};
            surface_shape(corners, order, s, t, N);
            surface_shape(corners, 1, s, t, M);
            for (int a = 0; a < surface_nodes(corners, order); a++)
                for (int c = 0; c < corners; c++) weight[a][c] += size * N[a] * M[c];
            total += size;
        }
    return total;
}

static double triangle_area(const double *a, const double *b, const double *c) {
    double n[3], square = 0;
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        n[d] = (b[e] - a[e]) * (c[f] - a[f]) - (b[f] - a[f]) * (c[e] - a[e]);
    }
    square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    return 0.5 * sqrt(square);
}

/* Whether both diagonals have the same midpoint, to rounding. */
static bool is_parallelogram(const double x[SURFACE_MOST_CORNERS][3]) {
    double off = 0, size = 0;
    for (int d = 0; d < 3; d++) {
        off += fabs(x[0][d] - x[1][d] + x[2][d] - x[3][d]);
        size += fabs(x[2][d] - x[0][d]) + fabs(x[3][d] - x[1][d]);
    }
    return off <= 1e-12 * size;
}

/* All corners of an edge, a triangle or a parallelogram have the same share. */
double surface_load_shares(int corners, const double x[SURFACE_MOST_CORNERS][3], double share[SURFACE_MOST_CORNERS]) {
    double weight[SURFACE_MOST_NODES][SURFACE_MOST_CORNERS], total;
    if (corners == 4 && !is_parallelogram(x)) {
        total = surface_load_weights(4, 1, x, weight);
        for (int a = 0; a < 4; a++) share[a] = weight[a][0] + weight[a][1] + weight[a][2] + weight[a][3];
        return total;
    }
    total = corners == 2 ? surface_measure(2, x, 0, 0) : triangle_area(x[0], x[1], x[2]);
    if (corners == 4) total += triangle_area(x[0], x[2], x[3]);
    for (int a = 0; a < corners; a++) share[a] = total / corners;
    return total;
}

/* ---- Loads of a scene -------------------------------------------------------------------------------------------- */

const pbd_loaded *surface_load_pieces(const pbd_scene *scene, int corners) {
    const pbd_surface_load *of = &scene->surface_load;
    return corners == 2 ? &of->edges : corners == 3 ? &of->triangles : &of->quads;
}

void surface_load_corners(const pbd_scene *scene, int corners, size_t piece, double x[SURFACE_MOST_CORNERS][3]) {
    const uint32_t *corner = surface_load_pieces(scene, corners)->corner + piece * (size_t)corners;
    for (int c = 0; c < corners; c++) memcpy(x[c], scene->particles.positions + 3 * (size_t)corner[c], sizeof x[c]);
}

static bool is_uniform(const double *density, int corners) {
    for (int i = 3; i < 3 * corners; i++)
        if (density[i] != density[i % 3]) return false;
    return true;
}

void surface_load_add(const pbd_scene *scene, int corners, double *forces) {
    const pbd_loaded *pieces = surface_load_pieces(scene, corners);
    double x[SURFACE_MOST_CORNERS][3], share[SURFACE_MOST_CORNERS], weight[SURFACE_MOST_NODES][SURFACE_MOST_CORNERS];
    for (size_t p = 0; p < pieces->count; p++) {
        const uint32_t *corner = pieces->corner + p * (size_t)corners;
        const double *density = pieces->density + 3 * p * (size_t)corners;
        const bool uniform = is_uniform(density, corners);
        surface_load_corners(scene, corners, p, x);
        if (uniform)
            surface_load_shares(corners, x, share);
        else
            surface_load_weights(corners, 1, x, weight);
        for (int a = 0; a < corners; a++)
            for (int d = 0; d < 3; d++) {
                double *force = forces + 3 * (size_t)corner[a] + d;
                if (uniform) *force += density[d] * share[a];
                for (int c = 0; !uniform && c < corners; c++) *force += weight[a][c] * density[3 * c + d];
            }
    }
}

int surface_load_faces(const pbd_scene *scene) { return scene->hexes.count > 0 ? 4 : 3; }

bool surface_load_any(const pbd_scene *scene) {
    const pbd_surface_load *of = &scene->surface_load;
    return of->edges.count + of->triangles.count + of->quads.count > 0;
}

/* Sums in the same order as a case, so that exactly 0 is left where nothing else acts. */
pbd_status surface_load_remove(const pbd_scene *scene, double *forces) {
    const size_t n = 3 * scene->particles.count;
    pbd_arena a PBD_ARENA;
    double *part = pbd_new(&a, double, n);
    PBD_TRY(pbd_arena_check(&a));
    surface_load_add(scene, 2, part);
    surface_load_add(scene, surface_load_faces(scene), part);
    for (size_t i = 0; i < n; i++) forces[i] = scene->loads.forces[i] - part[i];
    return pbd_ok();
}

pbd_status surface_load_of_tets(const pbd_scene *scene, pbd_arena *arena, pbd_scene *out) {
    *out = *scene;
    if (!surface_load_any(scene) || surface_load_faces(scene) == 3) return pbd_ok();
    double *forces = pbd_new(arena, double, 3 * scene->particles.count);
    PBD_TRY(pbd_arena_check(arena));
    PBD_TRY(surface_load_remove(scene, forces));
    surface_load_add(scene, 2, forces);
    surface_load_add(scene, 3, forces);
    out->loads.forces = forces;
    return pbd_ok();
}
