/* Shape functions of reproducing kernels, computed directly from their linear systems; their gradients by finite
 * differences. */
#ifndef PBD_TESTS_REPRODUCING_SHAPES_H
#define PBD_TESTS_REPRODUCING_SHAPES_H

#include "tests/ladder.h"

enum { MOST = 400 };

/* A jittered lattice with uneven volumes, and a kernel support of 2.5 spacings. */
typedef struct cloud {
    size_t particles;
    double x[3 * MOST], volume[MOST], support;
    double regularisation; /* m^2, added to second moments */
} cloud;

UNUSED static void make_cloud(cloud *c, int n, double jitter) {
    uint64_t seed = 5;
    c->particles = 0;
    c->support = 0.25;
    c->regularisation = 0;
    for (int i = 0; i < n * n * n; i++) {
        const double site[3] = {0.1 * (i % n), 0.1 * (i / n % n), 0.1 * (i / (n * n))};
        for (int d = 0; d < 3; d++) c->x[3 * i + d] = site[d] + 0.1 * jitter * noise(&seed);
        c->volume[c->particles++] = 1e-3 * (1 + 0.3 * noise(&seed));
    }
}

/* The kernels of claims A1; `support`: the radius beyond which they are 0. */
UNUSED static double kernel_value(int kernel, double r, double support) {
    const double h = kernel == 0 ? support : support / 2, q = r / h;
    if (r >= support) return 0;
    if (kernel == 0) return 315 / (64 * M_PI * pow(h, 9)) * pow(h * h - r * r, 3);
    if (kernel == 1) return 1 / (M_PI * h * h * h) * (q <= 1 ? 1 - 1.5 * q * q + 0.75 * q * q * q : pow(2 - q, 3) / 4);
    if (kernel == 2) return 21 / (16 * M_PI * h * h * h) * pow(1 - q / 2, 4) * (1 + 2 * q);
    return 15 / (64 * M_PI * h * h * h) * pow(2 - q, 3);
}

UNUSED static double weight_at(const cloud *c, int kernel, size_t j, const double at[3]) {
    const double d[3] = {c->x[3 * j] - at[0], c->x[3 * j + 1] - at[1], c->x[3 * j + 2] - at[2]};
    return c->volume[j] * kernel_value(kernel, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), c->support);
}

/* Solves m z = e_1 for 1 or 4 unknowns by elimination with pivoting. */
UNUSED static void solve_first(int n, double m[4][5], double z[4]) {
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k; i < n; i++)
            if (fabs(m[i][k]) > fabs(m[pivot][k])) pivot = i;
        for (int j = 0; j <= n; j++) {
            const double kept = m[k][j];
            m[k][j] = m[pivot][j];
            m[pivot][j] = kept;
        }
        for (int i = 0; i < n; i++)
            for (int j = n; i != k && j >= k; j--) m[i][j] -= m[i][k] / m[k][k] * m[k][j];
    }
    for (int k = 0; k < n; k++) z[k] = m[k][n] / m[k][k];
}

/* All shape functions at a point: phi_j = W_j p_j . z with M z = (1, 0, 0, 0), M = sum W_j p_j p_j^T, p = (1, X_j -
 * at). */
UNUSED static void shapes_at(const cloud *c, int kernel, bool linear, const double at[3], double *phi) {
    const int n = linear ? 4 : 1;
    double m[4][5] = {{0}}, z[4];
    for (size_t j = 0; j < c->particles; j++) {
        const double w = weight_at(c, kernel, j, at);
        const double p[4] = {1, c->x[3 * j] - at[0], c->x[3 * j + 1] - at[1], c->x[3 * j + 2] - at[2]};
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) m[a][b] += w * p[a] * p[b];
    }
    for (int a = 1; a < n; a++) m[a][a] += c->regularisation;
    m[0][n] = 1;
    solve_first(n, m, z);
    for (size_t j = 0; j < c->particles; j++) {
        const double p[4] = {1, c->x[3 * j] - at[0], c->x[3 * j + 1] - at[1], c->x[3 * j + 2] - at[2]};
        phi[j] = 0;
        for (int a = 0; a < n; a++) phi[j] += weight_at(c, kernel, j, at) * p[a] * z[a];
    }
}

/* Gradients of all shape functions at particle i, by differences of fourth order. */
UNUSED static void shape_slopes(const cloud *c, int kernel, bool linear, size_t i, double *slope) {
    static const double step[4] = {-2, -1, 1, 2}, factor[4] = {1, -8, 8, -1};
    const double h = 2e-4 * c->support;
    static double phi[MOST];
    memset(slope, 0, 3 * c->particles * sizeof *slope);
    for (size_t d = 0; d < 3; d++)
        for (int k = 0; k < 4; k++) {
            double at[3] = {c->x[3 * i], c->x[3 * i + 1], c->x[3 * i + 2]};
            at[d] += step[k] * h;
            shapes_at(c, kernel, linear, at, phi);
            for (size_t j = 0; j < c->particles; j++) slope[3 * j + d] += factor[k] * phi[j] / (12 * h);
        }
}

#endif
