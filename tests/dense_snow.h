/* A step of gissler_snow by dense LU, from the formulas of the method's README. */
#ifndef PBD_TESTS_DENSE_SNOW_H
#define PBD_TESTS_DENSE_SNOW_H

#include <gsl/gsl_linalg.h>

#include "tests/xpbi_scenes.h"

/* The state of a step: positions x (n x 3), stretches S (n x 9), masses, volumes and kernel gradients. */
typedef struct dense {
    size_t n;
    const double *x, *S, *mass, *volume; /* volume: now */
    double *raw, *corrected;             /* n x n x 3: V_j grad W_ij; the same times L_i */
    double mu, lambda, dt;
    bool own_divergence; /* the divergence uses corrected gradients */
} dense;

static dense dense_make(const pbd_scene *scene, const double *x, const double *S, const double *volume, double dt,
                        bool own) {
    const size_t n = scene->particles.count;
    const pbd_material *m = scene->material;
    dense d = {
        .n = n, .x = x, .S = S, .mass = scene->particles.masses, .volume = volume, .dt = dt, .own_divergence = own};
    d.mu = m->E / (2 * (1 + m->nu));
    d.lambda = m->E * m->nu / ((1 + m->nu) * (1 - 2 * m->nu));
    pbd_scene now = *scene;
    now.particles.volumes = malloc(n * sizeof(double));
    memcpy(now.particles.volumes, volume, n * sizeof(double));
    d.corrected = formulas_at(&now, x, scene->particles.spacing).a;
    d.raw = calloc(3 * n * n, sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double to[3], *g = d.raw + 3 * (n * i + j);
            for (size_t k = 0; k < 3; k++) to[k] = x[3 * j + k] - x[3 * i + k];
            wendland_gradient(to, scene->particles.spacing, g);
            for (size_t k = 0; k < 3; k++) g[k] *= volume[j];
        }
    free(now.particles.volumes);
    return d;
}

static void dense_free(dense *d) {
    free(d->raw);
    free(d->corrected);
}

static double dense_divergence(const dense *d, const double *w, size_t i) {
    const double *a = d->own_divergence ? d->corrected : d->raw;
    double sum = 0;
    for (size_t j = 0; j < d->n; j++)
        for (size_t k = 0; k < 3; k++) sum += (w[3 * j + k] - w[3 * i + k]) * a[3 * (d->n * i + j) + k];
    return sum;
}

static double determinant3(const double *s) {
    return s[0] * (s[4] * s[8] - s[5] * s[7]) - s[1] * (s[3] * s[8] - s[5] * s[6]) + s[2] * (s[3] * s[7] - s[4] * s[6]);
}

/* T = 2 G (sym((1 + dt grad w) S) - 1), row-major; with whole = 0 only the part that is linear in w. */
static void dense_shear(const dense *d, const double *w, double whole, size_t i, double T[9]) {
    double B[3][3] = {{0}}, trace = 0, P[3][3];
    for (size_t j = 0; j < d->n; j++)
        for (size_t r = 0; r < 3; r++)
            for (size_t c = 0; c < 3; c++)
                B[r][c] += d->dt * (w[3 * j + r] - w[3 * i + r]) * d->corrected[3 * (d->n * i + j) + c];
    trace = B[0][0] + B[1][1] + B[2][2];
    for (int r = 0; r < 3; r++) B[r][r] += whole + (d->dt * dense_divergence(d, w, i) - trace) / 3;
    for (size_t r = 0; r < 3; r++)
        for (size_t c = 0; c < 3; c++) {
            P[r][c] = 0;
            for (size_t k = 0; k < 3; k++) P[r][c] += B[r][k] * d->S[9 * i + 3 * k + c];
        }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) T[3 * r + c] = 2 * d->mu * (0.5 * (P[r][c] + P[c][r]) - (r == c) * whole);
}

/* The change of velocity dt a from stresses T and pressures p, by scattering each particle's force to all others
 * (the method gathers). */
static void dense_push(const dense *d, const double *T, const double *p, double *out) {
    memset(out, 0, 3 * d->n * sizeof *out);
    for (size_t i = 0; i < d->n; i++)
        for (size_t j = 0; j < d->n; j++)
            for (size_t r = 0; r < 3; r++) {
                const double *a = d->corrected + 3 * (d->n * i + j);
                double force =
                    T ? T[9 * i + 3 * r] * a[0] + T[9 * i + 3 * r + 1] * a[1] + T[9 * i + 3 * r + 2] * a[2] : 0;
                if (p) force -= p[i] * (d->own_divergence ? a : d->raw + 3 * (d->n * i + j))[r];
                out[3 * i + r] += d->dt * d->volume[i] * force / d->mass[i];
                out[3 * j + r] -= d->dt * d->volume[i] * force / d->mass[j];
            }
}

/* The change of velocity that the velocity w causes; with whole = 0 only its linear part. */
static void dense_answer(const dense *d, const double *w, double whole, bool shear, bool pressure, double *out) {
    double *T = calloc(9 * d->n, sizeof *T), *p = calloc(d->n, sizeof *p);
    for (size_t i = 0; i < d->n; i++) {
        const double J = determinant3(d->S + 9 * i);
        if (shear) dense_shear(d, w, whole, i, T + 9 * i);
        p[i] = pressure ? d->lambda * (whole * (1 - J) - d->dt * dense_divergence(d, w, i)) / J : 0;
    }
    dense_push(d, shear ? T : NULL, pressure ? p : NULL, out);
    free(T);
    free(p);
}

/* Solves w = base + answer(w) by LU of the matrix 1 - answer, assembled column by column. */
static void dense_solve(const dense *d, const double *base, bool shear, bool pressure, double *w, double *asymmetry) {
    const size_t n = 3 * d->n;
    double *zero = calloc(n, sizeof *zero), *column = malloc(n * sizeof *column), largest = 0;
    gsl_matrix *A = gsl_matrix_alloc(n, n);
    gsl_vector *b = gsl_vector_alloc(n), *x = gsl_vector_alloc(n);
    gsl_permutation *order = gsl_permutation_alloc(n);
    int sign;
    dense_answer(d, zero, 1, shear, pressure, column);
    for (size_t k = 0; k < n; k++) gsl_vector_set(b, k, base[k] + column[k]);
    for (size_t c = 0; c < n; c++) {
        zero[c] = 1;
        dense_answer(d, zero, 0, shear, pressure, column);
        zero[c] = 0;
        for (size_t r = 0; r < n; r++) gsl_matrix_set(A, r, c, (r == c) - column[r]);
    }
    *asymmetry = 0;
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++) {
            const double a = d->mass[r / 3] * gsl_matrix_get(A, r, c), t = d->mass[c / 3] * gsl_matrix_get(A, c, r);
            largest = fmax(largest, fabs(a));
            *asymmetry = fmax(*asymmetry, fabs(a - t));
        }
    *asymmetry /= largest;
    gsl_linalg_LU_decomp(A, order, &sign);
    gsl_linalg_LU_solve(A, order, b, x);
    for (size_t k = 0; k < n; k++) w[k] = gsl_vector_get(x, k);
    gsl_matrix_free(A);
    gsl_vector_free(b);
    gsl_vector_free(x);
    gsl_permutation_free(order);
    free(zero);
    free(column);
}

/* One step. Not `together`: the pressure solve first, then the shear solve from the velocity after the pressure force.
 */
static void dense_step(const dense *d, const double *v, bool together, double *w, double *asymmetry) {
    const size_t n = 3 * d->n;
    double *pressed = malloc(n * sizeof *pressed), *push = malloc(n * sizeof *push);
    if (together) {
        dense_solve(d, v, true, true, w, asymmetry);
    } else {
        double unused;
        dense_solve(d, v, false, true, pressed, asymmetry);
        dense_answer(d, pressed, 1, false, true, push);
        for (size_t k = 0; k < n; k++) pressed[k] = v[k] + push[k];
        dense_solve(d, pressed, true, false, w, &unused);
    }
    free(pressed);
    free(push);
}

static double cofactor_of_step(const dense *d, const double *w, size_t i) {
    double T[9], B[9];
    dense unit = *d;
    double *identity = calloc(9 * d->n, sizeof *identity);
    for (size_t k = 0; k < d->n; k++)
        for (size_t r = 0; r < 3; r++) identity[9 * k + 4 * r] = 1;
    unit.S = identity;
    unit.mu = 0.5;
    dense_shear(&unit, w, 1, i, T); /* the symmetric part; the antisymmetric one follows */
    for (size_t r = 0; r < 3; r++)
        for (size_t c = 0; c < 3; c++) {
            double skew = 0;
            for (size_t j = 0; j < d->n; j++)
                skew += 0.5 * d->dt *
                        ((w[3 * j + r] - w[3 * i + r]) * d->corrected[3 * (d->n * i + j) + c] -
                         (w[3 * j + c] - w[3 * i + c]) * d->corrected[3 * (d->n * i + j) + r]);
            B[3 * r + c] = T[3 * r + c] + (r == c) + skew;
        }
    free(identity);
    return determinant3(B);
}

#endif
