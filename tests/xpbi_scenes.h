/* Clouds of particles for the tests of xpbi, and its formulas (claims A4) implemented directly, in double. */
#ifndef PBD_TESTS_XPBI_SCENES_H
#define PBD_TESTS_XPBI_SCENES_H

#include <gsl/gsl_linalg.h>

#include "tests/flow_values.h"
#include "tests/ladder.h"

/* The paper's kernels; elastic matter has others by default. */
#define PAPERS "kernel=current hourglass_control=0 "
/* Without smoothing too, so that the formulas are those of the constraints alone. */
#define PAPERS_PLAIN PAPERS "xsph=0 position_correction=off"

UNUSED static void plain_with(const char *more, char out[400]) { snprintf(out, 400, "%s %s", PAPERS_PLAIN, more); }

/* ---- Scenes ------------------------------------------------------------------------------------------------------ */

/* A jittered lattice of n[0] x n[1] x n[2] particles with a spacing of 0.1 m; masses and volumes vary by `uneven`. */
UNUSED static void make_lattice(pbd_scene *scene, const size_t n[3], double jitter, double uneven) {
    uint64_t seed = 7;
    const size_t count = n[0] * n[1] * n[2];
    *scene = (pbd_scene){.particles.count = count, .particles.spacing = 0.1, .extent = 0.1 * (double)n[0]};
    scene->particles.positions = calloc(3 * count + 1, sizeof(double));
    scene->particles.velocities = calloc(3 * count + 1, sizeof(double));
    scene->particles.masses = calloc(count + 1, sizeof(double));
    scene->particles.volumes = calloc(count + 1, sizeof(double));
    scene->material[0] = (pbd_material){.E = 1e4, .nu = 0.3, .density = 1000, .law = "hencky"};
    for (size_t p = 0; p < count; p++) {
        const size_t at[3] = {p % n[0], p / n[0] % n[1], p / n[0] / n[1]};
        for (size_t d = 0; d < 3; d++)
            scene->particles.positions[3 * p + d] = 0.1 * ((double)at[d] + jitter * noise(&seed)) - 0.23;
        scene->particles.volumes[p] = 1e-3 * (1 + uneven * noise(&seed));
        scene->particles.masses[p] = 1 + uneven * noise(&seed);
    }
}

UNUSED static void set_noise_velocities(pbd_scene *scene, double size) {
    uint64_t seed = 21;
    for (size_t k = 0; k < 3 * scene->particles.count; k++) scene->particles.velocities[k] = size * noise(&seed);
}

/* ---- Formulas ---------------------------------------------------------------------------------------------------- */

/* a_pb = V_b L_p grad W_b, all pairs: particles x particles x 3. */
typedef struct xpbi_formulas {
    size_t n;
    double *a;
} xpbi_formulas;

UNUSED static void invert3(double a[3][3], double out[3][3]) {
    const double det = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                       a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                       a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int r = (j + 1) % 3, s = (j + 2) % 3, c = (i + 1) % 3, e = (i + 2) % 3;
            out[i][j] = (a[r][c] * a[s][e] - a[r][e] * a[s][c]) / det;
        }
}

/* Gradient of Wendland's kernel with respect to x_p, where d = x_b - x_p: -(5 sigma/r) q (1 - q/2)^3 (-d/|d|),
 * q = |d|/r (claims A1). */
UNUSED static void wendland_gradient(const double d[3], double r, double out[3]) {
    const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), q = length / r;
    const double sigma = 21 / (16 * M_PI * r * r * r), left = q < 2 ? 1 - q / 2 : 0;
    for (int k = 0; k < 3; k++) out[k] = length > 0 ? 5 * sigma / r * q * left * left * left * d[k] / length : 0;
}

UNUSED static xpbi_formulas formulas_at(const pbd_scene *s, const double *x, double r) {
    xpbi_formulas f = {s->particles.count, calloc(3 * s->particles.count * s->particles.count, sizeof(double))};
    for (size_t p = 0; p < f.n; p++) {
        double moment[3][3] = {{0}}, l[3][3];
        for (size_t b = 0; b < f.n; b++) {
            double d[3], *a = f.a + 3 * (f.n * p + b);
            for (size_t k = 0; k < 3; k++) d[k] = x[3 * b + k] - x[3 * p + k];
            wendland_gradient(d, r, a);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) moment[i][j] += s->particles.volumes[b] * a[i] * d[j];
        }
        invert3(moment, l);
        for (size_t b = 0; b < f.n; b++) {
            double *a = f.a + 3 * (f.n * p + b), g[3];
            for (int i = 0; i < 3; i++) g[i] = l[i][0] * a[0] + l[i][1] * a[1] + l[i][2] * a[2];
            for (int i = 0; i < 3; i++) a[i] = s->particles.volumes[b] * g[i];
        }
    }
    return f;
}

/* I + dt grad v at p. */
UNUSED static void xpbi_B_of(const xpbi_formulas *f, const double *v, double dt, size_t p, double B[3][3]) {
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            B[i][j] = i == j;
            for (size_t b = 0; b < f->n; b++)
                B[i][j] += dt * (v[3 * b + i] - v[3 * p + i]) * f->a[3 * (f->n * p + b) + j];
        }
}

UNUSED static void multiply3(double a[3][3], double b[3][3], double out[3][3]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

/* The logarithms of the stretches of F, by GSL. */
UNUSED static void hencky_strains(double F[3][3], double e[3]) {
    double entries[9], v[9], s[3], work[3];
    memcpy(entries, F, sizeof entries);
    gsl_matrix_view A = gsl_matrix_view_array(entries, 3, 3), V = gsl_matrix_view_array(v, 3, 3);
    gsl_vector_view S = gsl_vector_view_array(s, 3), W = gsl_vector_view_array(work, 3);
    gsl_linalg_SV_decomp_jacobi(&A.matrix, &V.matrix, &S.vector);
    (void)W;
    for (int k = 0; k < 3; k++) e[k] = log(s[k]);
}

enum { FORM_ENERGY, FORM_SHEAR, FORM_VOLUME };

/* C of Eq. 6, or of Eq. 4 and 5 scaled to the same units, sqrt(2 mu) C_mu and sqrt(lambda) C_lambda: alpha = 1/V^0. */
UNUSED static double constraint_of(const pbd_material *m, double F[3][3], int form) {
    const double mu = m->E / (2 * (1 + m->nu)), lambda = m->E * m->nu / ((1 + m->nu) * (1 - 2 * m->nu));
    double e[3];
    hencky_strains(F, e);
    const double square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2], trace = e[0] + e[1] + e[2];
    if (form == FORM_VOLUME) return sqrt(lambda) * trace;
    return sqrt(2 * mu * square + (form == FORM_ENERGY ? lambda * trace * trace : 0));
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

UNUSED static double *velocities_of(const solver *s, size_t particles) {
    double *v = malloc((3 * particles + 1) * sizeof *v);
    check_ok(s->method->read(s->state, PBD_VELOCITIES, v));
    return v;
}

UNUSED static double *gradients_of(const solver *s, size_t particles) {
    double *f = malloc((9 * particles + 1) * sizeof *f);
    check_ok(s->method->read(s->state, PBD_DEFORMATION_GRADIENTS, f));
    return f;
}

UNUSED static void check_steps(solver *s, double dt, int steps) {
    for (int i = 0; i < steps; i++) check_ok(s->method->step(s->state, dt));
}

/* Opens a solver, steps it and returns the velocities, which the caller frees. */
UNUSED static double *velocities_after(const pbd_scene *scene, const char *words, double dt, int steps) {
    solver s;
    solver_open(&s, "xpbi", PBD_PRECISION_F64, 1, scene, words);
    check_steps(&s, dt, steps);
    double *v = velocities_of(&s, scene->particles.count);
    solver_close(&s);
    return v;
}

UNUSED static void set_flow(pbd_scene *scene, const char *rule) {
    set_flow_values(scene->material, rule, "yield_stress=100 friction_angle=30 viscosity=10 power=1 xi=1");
}

#endif
