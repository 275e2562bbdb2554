#include "methods/physics/parts/hex8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/math/sparse.h"

const double hex8_corner[HEX8_NODES][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                           {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

void hex8_elasticity(double E, double nu, pbd_convention convention, double D[36]) {
    double A = E / ((1 + nu) * (1 - 2 * nu));
    double shear = A * (1 - 2 * nu) * (convention == PBD_D_PRINTED ? 1 : 0.5);
    memset(D, 0, 36 * sizeof *D);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) D[6 * i + j] = A * (i == j ? 1 - nu : nu);
        D[6 * (i + 3) + i + 3] = shear;
    }
}

/* Gradients of the shape functions N_a = (1 + xi xi_a)(1 + eta eta_a)(1 + zeta zeta_a)/8 with respect to x at a
 * reference point; returns the determinant of the Jacobian dx/dxi (m^3). */
static double shape_gradients(const double x[HEX8_NODES][3], const double at[3], double grad[HEX8_NODES][3]) {
    double local[HEX8_NODES][3], J[3][3] = {{0}};
    for (int a = 0; a < HEX8_NODES; a++) {
        double f[3];
        for (int d = 0; d < 3; d++) f[d] = 1 + at[d] * hex8_corner[a][d];
        for (int d = 0; d < 3; d++) local[a][d] = hex8_corner[a][d] * f[(d + 1) % 3] * f[(d + 2) % 3] / 8;
        for (int i = 0; i < 3; i++)
            for (int d = 0; d < 3; d++) J[i][d] += x[a][i] * local[a][d];
    }
    double cofactor[3][3], det = 0;
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
            cofactor[i][d] = J[i1][d1] * J[i2][d2] - J[i1][d2] * J[i2][d1];
        }
    for (int d = 0; d < 3; d++) det += J[0][d] * cofactor[0][d];
    for (int a = 0; a < HEX8_NODES; a++)
        for (int i = 0; i < 3; i++) {
            double sum = 0;
            for (int d = 0; d < 3; d++) sum += cofactor[i][d] * local[a][d];
            grad[a][i] = sum / det;
        }
    return det;
}

/* The g-th of the 2x2x2 Gauss points; all weights are 1. */
static void gauss_point(int g, double at[3]) {
    for (int d = 0; d < 3; d++) at[d] = (g >> d & 1 ? 1 : -1) / sqrt(3);
}

/* Column c of B for node a: the strain of a unit displacement along c. */
static void strain_column(const double grad[3], int c, double strain[6]) {
    static const int shear[3][2] = {{0, 1}, {1, 2}, {2, 0}};
    memset(strain, 0, 6 * sizeof *strain);
    strain[c] = grad[c];
    for (int s = 0; s < 3; s++) {
        if (shear[s][0] == c) strain[3 + s] = grad[shear[s][1]];
        if (shear[s][1] == c) strain[3 + s] = grad[shear[s][0]];
    }
}

pbd_status hex8_stiffness(const double x[HEX8_NODES][3], const double D[36], size_t element, double K[576]) {
    memset(K, 0, 576 * sizeof *K);
    for (int g = 0; g < 8; g++) {
        double at[3], grad[HEX8_NODES][3], B[HEX8_DOFS][6], DB[HEX8_DOFS][6];
        gauss_point(g, at);
        double det = shape_gradients(x, at, grad);
        if (!(det > 0))
            return pbd_error(
                PBD_BAD_INPUT,
                "hexahedron %zu is flat or inverted (Jacobian %g at Gauss point %d): check the order of its nodes",
                element, det, g);
        for (int i = 0; i < HEX8_DOFS; i++) strain_column(grad[i / 3], i % 3, B[i]);
        for (int i = 0; i < HEX8_DOFS; i++)
            for (int r = 0; r < 6; r++) {
                DB[i][r] = 0;
                for (int c = 0; c < 6; c++) DB[i][r] += D[6 * r + c] * B[i][c];
            }
        for (int i = 0; i < HEX8_DOFS; i++)
            for (int j = 0; j < HEX8_DOFS; j++)
                for (int r = 0; r < 6; r++) K[HEX8_DOFS * i + j] += B[i][r] * DB[j][r] * det;
    }
    return pbd_ok();
}

double hex8_volume(const double x[HEX8_NODES][3]) {
    double volume = 0;
    for (int g = 0; g < 8; g++) {
        double at[3], grad[HEX8_NODES][3];
        gauss_point(g, at);
        volume += shape_gradients(x, at, grad);
    }
    return volume;
}

/* The Jacobian has degree 2 along each axis, N_a degree 1: two points are enough. */
void hex8_shares(const double x[HEX8_NODES][3], double share[HEX8_NODES]) {
    memset(share, 0, HEX8_NODES * sizeof *share);
    for (int g = 0; g < 8; g++) {
        double at[3], grad[HEX8_NODES][3];
        gauss_point(g, at);
        const double volume = shape_gradients(x, at, grad);
        for (int a = 0; a < HEX8_NODES; a++) {
            double N = 0.125;
            for (int d = 0; d < 3; d++) N *= 1 + at[d] * hex8_corner[a][d];
            share[a] += volume * N;
        }
    }
}

static void corners_of(const pbd_scene *scene, size_t element, double x[HEX8_NODES][3]) {
    for (int a = 0; a < HEX8_NODES; a++)
        memcpy(x[a], scene->particles.positions + 3 * scene->hexes.corner[8 * element + a], sizeof x[a]);
}

pbd_status hex8_forces(const pbd_scene *scene, const double *u, double *r) {
    double D[36], K[576], x[HEX8_NODES][3];
    hex8_elasticity(scene->material->E, scene->material->nu, scene->material->convention, D);
    memset(r, 0, 3 * scene->particles.count * sizeof *r);
    for (size_t e = 0; e < scene->hexes.count; e++) {
        corners_of(scene, e, x);
        PBD_TRY(hex8_stiffness(x, D, e, K));
        const uint32_t *node = scene->hexes.corner + 8 * e;
        for (int i = 0; i < HEX8_DOFS; i++)
            for (int j = 0; j < HEX8_DOFS; j++)
                r[3 * node[i / 3] + i % 3] += K[HEX8_DOFS * i + j] * u[3 * node[j / 3] + j % 3];
    }
    return pbd_ok();
}

/* ---- Assembly ---------------------------------------------------------------------------------------------------- */

static pbd_status assemble(const pbd_scene *scene, const double *prescribed, const pbd_sparse *s, double *right) {
    double D[36], K[576], x[HEX8_NODES][3];
    hex8_elasticity(scene->material->E, scene->material->nu, scene->material->convention, D);
    for (size_t i = 0; i < 3 * scene->particles.count; i++)
        if (s->unknown[i] >= 0) right[s->unknown[i]] = scene->loads.forces[i];
    for (size_t e = 0; e < scene->hexes.count; e++) {
        corners_of(scene, e, x);
        PBD_TRY(hex8_stiffness(x, D, e, K));
        const uint32_t *node = scene->hexes.corner + 8 * e;
        for (int i = 0; i < HEX8_DOFS; i++) {
            int row = s->unknown[3 * node[i / 3] + i % 3];
            if (row < 0) continue;
            for (int j = 0; j < HEX8_DOFS; j++) {
                size_t dof = 3 * node[j / 3] + (size_t)(j % 3);
                if (s->unknown[dof] >= 0)
                    *pbd_sparse_at(s, row, s->unknown[dof]) += K[HEX8_DOFS * i + j];
                else if (prescribed)
                    right[row] -= K[HEX8_DOFS * i + j] * prescribed[dof];
            }
        }
    }
    return pbd_ok();
}

static pbd_status create_matrix(const pbd_scene *scene, pbd_sparse *out) {
    bool *held = calloc(3 * scene->particles.count + 1, sizeof *held);
    if (!held) return pbd_error(PBD_FAILED, "out of memory for %zu unknowns", 3 * scene->particles.count);
    for (size_t i = 0; i < scene->particles.fixed; i++)
        memset(held + 3 * scene->particles.fixed_particle[i], 1, 3 * sizeof *held);
    pbd_status status =
        pbd_sparse_create(scene->particles.count, scene->hexes.corner, scene->hexes.count, HEX8_NODES, held, out);
    free(held);
    return status;
}

pbd_status hex8_solve(const pbd_scene *scene, const double *prescribed, double *u) {
    pbd_sparse s = {0};
    PBD_TRY(create_matrix(scene, &s));
    double *right = calloc((size_t)s.n + 1, sizeof *right);
    pbd_status status =
        right ? assemble(scene, prescribed, &s, right) : pbd_error(PBD_FAILED, "out of memory for %d unknowns", s.n);
    if (status.code == PBD_OK) status = pbd_sparse_solve(&s, right);
    for (size_t i = 0; i < 3 * scene->particles.count && status.code == PBD_OK; i++)
        u[i] = s.unknown[i] >= 0 ? right[s.unknown[i]] : prescribed ? prescribed[i] : 0;
    free(right);
    pbd_sparse_free(&s);
    return status;
}
