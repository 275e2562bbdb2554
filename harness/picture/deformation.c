#include "harness/picture/deformation.h"

#include <math.h>
#include <string.h>

#include "harness/exec/arena.h"

pbd_body pbd_body_of(const pbd_scene *scene, const pbd_method *method) {
    const pbd_body hexes = {scene->particles.count, scene->hexes.count, scene->hexes.corner, 8, NULL};
    const pbd_body tets = {scene->particles.count, scene->tets.count, scene->tets.corner, 4, NULL};
    const pbd_body bare = {scene->particles.count, scene->particles.count, NULL, 1, scene->particles.body};
    const bool on_tets = (method->needs & (PBD_NEEDS_TETS | PBD_NEEDS_TETS_OR_TRIANGLES)) != 0;
    if (method->needs & PBD_NEEDS_SAMPLES) return bare;
    if (scene->tets.count > 0 && (on_tets || scene->hexes.count == 0)) return tets;
    if (scene->hexes.count > 0) return hexes;
    if (scene->triangles.count > 0)
        return (pbd_body){scene->particles.count, scene->triangles.count, scene->triangles.corner, 3, NULL};
    return bare;
}

pbd_scene pbd_body_scene(const pbd_scene *scene, const pbd_body *body) {
    pbd_scene only = *scene;
    if (body->corners != 8) only.hexes.count = 0;
    if (body->corners != 4) only.tets.count = 0;
    if (body->corners != 3) only.triangles.count = 0;
    return only;
}

/* ---- Strain ------------------------------------------------------------------------------------------------------ */

/* J[i][k] = sum_a x_a,i dN_a/dxi_k at the middle of an element; a constant factor in xi does not matter. */
static void jacobian(const pbd_body *body, const uint32_t *node, const double *x, double J[3][3]) {
    static const int sign[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                   {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    memset(J, 0, 9 * sizeof(double));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            if (body->corners == 8)
                for (int a = 0; a < 8; a++) J[i][k] += 0.125 * sign[a][k] * x[3 * node[a] + (uint32_t)i];
            else if (k < body->corners - 1)
                J[i][k] = x[3 * node[k] + (uint32_t)i] - x[3 * node[body->corners - 1] + (uint32_t)i];
        }
}

static void cross_columns(double J[3][3], int from, int to, int out) {
    for (int i = 0; i < 3; i++) {
        const int b = (i + 1) % 3, c = (i + 2) % 3;
        J[i][out] = J[b][from] * J[c][to] - J[c][from] * J[b][to];
    }
}

/* Sets a triangle's third direction to its unit normal, so that there is no strain along it. */
static void add_normal(double J[3][3]) {
    cross_columns(J, 0, 1, 2);
    const double length = sqrt(J[0][2] * J[0][2] + J[1][2] * J[1][2] + J[2][2] * J[2][2]);
    for (int i = 0; i < 3; i++) J[i][2] = length > 0 ? J[i][2] / length : 0;
}

static void invert(const double J[3][3], double out[3][3]) {
    double det = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (k + 1) % 3, d = (k + 2) % 3;
            out[k][i] = J[a][c] * J[b][d] - J[a][d] * J[b][c];
        }
    for (int k = 0; k < 3; k++) det += J[0][k] * out[k][0];
    for (int i = 0; i < 9; i++) out[i / 3][i % 3] /= det;
}

void pbd_gradient(const pbd_body *body, size_t element, const double *rest, const double *x, double F[3][3]) {
    const uint32_t *node = body->node + element * (size_t)body->corners;
    double J0[3][3], J[3][3], inverse[3][3];
    jacobian(body, node, rest, J0);
    jacobian(body, node, x, J);
    if (body->corners == 3) {
        add_normal(J0);
        add_normal(J);
    }
    invert((const double(*)[3])J0, inverse);
    memset(F, 0, 9 * sizeof(double));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int m = 0; m < 3; m++) F[i][k] += J[i][m] * inverse[m][k];
}

static double strain_of(const pbd_body *body, size_t element, const double *rest, const double *x) {
    double F[3][3], sum = 0;
    pbd_gradient(body, element, rest, x, F);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double C = 0;
            for (int m = 0; m < 3; m++) C += F[m][i] * F[m][k];
            sum += 0.25 * (C - (i == k)) * (C - (i == k));
        }
    return sqrt(sum);
}

void pbd_strain(const pbd_body *body, const double *rest, const double *x, double *strain) {
    for (size_t e = 0; e < body->elements; e++) strain[e] = body->node ? strain_of(body, e, rest, x) : 0;
}

/* ---- Particles and bodies ---------------------------------------------------------------------------------------- */

pbd_status pbd_to_particles(const pbd_body *body, const double *of_elements, double *of_particles) {
    if (!body->node) {
        memcpy(of_particles, of_elements, body->particles * sizeof *of_particles);
        return pbd_ok();
    }
    pbd_arena a PBD_ARENA;
    uint32_t *count = pbd_new(&a, uint32_t, body->particles);
    PBD_TRY(pbd_arena_check(&a));
    memset(of_particles, 0, body->particles * sizeof *of_particles);
    for (size_t i = 0; i < body->elements * (size_t)body->corners; i++) {
        of_particles[body->node[i]] += of_elements[i / (size_t)body->corners];
        count[body->node[i]]++;
    }
    for (size_t p = 0; p < body->particles; p++)
        if (count[p] > 0) of_particles[p] /= count[p];
    return pbd_ok();
}

/* The first particle of p's body so far (union-find with path halving). */
static uint32_t root_of(uint32_t *parent, uint32_t p) {
    while (parent[p] != p) p = parent[p] = parent[parent[p]];
    return p;
}

pbd_status pbd_number_bodies(const pbd_body *body, uint32_t *number) {
    pbd_arena owned PBD_ARENA;
    uint32_t *parent = pbd_new(&owned, uint32_t, body->particles), bodies = 0;
    PBD_TRY(pbd_arena_check(&owned));
    for (size_t p = 0; p < body->particles; p++) parent[p] = (uint32_t)p;
    for (size_t e = 0; e < body->elements && body->node; e++) {
        const uint32_t *node = body->node + e * (size_t)body->corners;
        for (int c = 1; c < body->corners; c++) {
            const uint32_t a = root_of(parent, node[0]), b = root_of(parent, node[c]);
            parent[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (uint32_t p = 0; p < body->particles && body->of; p++) number[p] = body->of[p];
    for (uint32_t p = 0; p < body->particles && !body->of; p++) {
        const uint32_t root = body->node ? root_of(parent, p) : 0;
        number[p] = root == p ? bodies++ : number[root];
    }
    return pbd_ok();
}
