/* fem_linear, the yardstick: patch test, an independently integrated element, closed forms, order of convergence. */
#include "tests/ladder.h"

#include <gsl/gsl_integration.h>

#include "methods/physics/parts/hex8.h"

/* A 2 x 2 x 2 mesh with all nodes moved at random, so that its elements are not parallelepipeds. */
static void make_distorted(pbd_scene *scene, pbd_convention convention) {
    make_box(scene, 2, 2, 2, 1, 0.3);
    scene->material->convention = convention;
    uint64_t seed = 7;
    for (size_t i = 0; i < 3 * scene->particles.count; i++) scene->particles.positions[i] += 0.12 * noise(&seed);
}

/* An affine motion prescribed on the boundary must be reproduced inside, whatever the shapes of the elements. */
static void test_patch(void **unused) {
    (void)unused;
    static const double G[3][3] = {{0.01, 0.02, -0.03}, {0.005, -0.02, 0.01}, {0.03, 0.015, 0.02}};
    for (int convention = 0; convention < 2; convention++) {
        pbd_scene scene;
        make_distorted(&scene, (pbd_convention)convention);
        uint32_t *fixed = malloc(27 * sizeof *fixed);
        double prescribed[81], u[81], worst = 0;
        size_t count = 0;
        for (size_t p = 0; p < 27; p++) {
            if (p != 13) fixed[count++] = (uint32_t)p; /* 13 is the middle of 3 x 3 x 3 */
            for (int i = 0; i < 3; i++) {
                prescribed[3 * p + (size_t)i] = 0.1;
                for (int j = 0; j < 3; j++)
                    prescribed[3 * p + (size_t)i] += G[i][j] * scene.particles.positions[3 * p + (size_t)j];
            }
        }
        free(scene.particles.fixed_particle);
        scene.particles.fixed_particle = fixed;
        scene.particles.fixed = count;
        check_ok(hex8_solve(&scene, prescribed, u));
        for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(u[39 + d] - prescribed[39 + d]));
        check_near("inner node of the patch, m", worst, 0, 1e-12);
        pbd_scene_free(&scene);
    }
}

/* The stiffness integral written another way: by components, with C_ijkl instead of a Voigt matrix, shape functions as
 * explicit products, and GSL's 8-point rule. */
typedef struct entry {
    const double (*x)[3];
    int a, b, i, j;
    double lambda, mu, extra; /* normal entries of D: lambda + 2 mu + extra; shear: mu */
} entry;

static double shape(int a, const double q[3]) {
    return (1 + hex8_corner[a][0] * q[0]) * (1 + hex8_corner[a][1] * q[1]) * (1 + hex8_corner[a][2] * q[2]) / 8;
}

/* d shape / d q_d exactly, since shape is linear in each q_d. */
static double slope(int a, int d, const double q[3]) {
    double up[3] = {q[0], q[1], q[2]}, down[3] = {q[0], q[1], q[2]};
    up[d] = 1;
    down[d] = -1;
    return (shape(a, up) - shape(a, down)) / 2;
}

static double invert(const double J[3][3], double inverse[3][3]) {
    double det = J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) - J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
                 J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            inverse[j][i] = (J[(i + 1) % 3][(j + 1) % 3] * J[(i + 2) % 3][(j + 2) % 3] -
                             J[(i + 1) % 3][(j + 2) % 3] * J[(i + 2) % 3][(j + 1) % 3]) /
                            det;
    return det;
}

static double integrand(const entry *e, const double q[3]) {
    double J[3][3] = {{0}}, inverse[3][3], ga[3] = {0}, gb[3] = {0};
    for (int n = 0; n < 8; n++)
        for (int i = 0; i < 3; i++)
            for (int d = 0; d < 3; d++) J[i][d] += e->x[n][i] * slope(n, d, q);
    double det = invert(J, inverse);
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++) {
            ga[k] += slope(e->a, d, q) * inverse[d][k];
            gb[k] += slope(e->b, d, q) * inverse[d][k];
        }
    /* lambda g_i g_j + mu g_j g_i + mu delta_ij g.g, plus the anisotropy of the printed D for normal strains */
    double value = e->lambda * ga[e->i] * gb[e->j] + e->mu * ga[e->j] * gb[e->i];
    if (e->i == e->j) value += e->mu * (ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2]) + e->extra * ga[e->i] * gb[e->i];
    return value * det;
}

static double integrate(const entry *e, const gsl_integration_glfixed_table *table) {
    double sum = 0;
    for (size_t r = 0; r < 8; r++)
        for (size_t s = 0; s < 8; s++)
            for (size_t t = 0; t < 8; t++) {
                double q[3], w[3];
                gsl_integration_glfixed_point(-1, 1, r, &q[0], &w[0], table);
                gsl_integration_glfixed_point(-1, 1, s, &q[1], &w[1], table);
                gsl_integration_glfixed_point(-1, 1, t, &q[2], &w[2], table);
                sum += w[0] * w[1] * w[2] * integrand(e, q);
            }
    return sum;
}

static void test_element_against_independent_integration(void **unused) {
    (void)unused;
    /* A skewed parallelepiped, for which 2 x 2 x 2 points are exact too. */
    double x[8][3];
    static const double M[3][3] = {{2, 0.3, -0.2}, {0.1, 1.5, 0.4}, {-0.3, 0.2, 1.8}};
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++) {
            x[a][i] = 0.5;
            for (int d = 0; d < 3; d++) x[a][i] += M[i][d] * (hex8_corner[a][d] + 1) / 2;
        }
    gsl_integration_glfixed_table *table = gsl_integration_glfixed_table_alloc(8);
    static const double nus[] = {-0.5, 0, 0.3, 0.49};
    for (int n = 0; n < 4; n++)
        for (int convention = 0; convention < 2; convention++) {
            double D[36], K[576], E = 3.7, nu = nus[n], worst = 0, norm = 0;
            hex8_elasticity(E, nu, (pbd_convention)convention, D);
            check_ok(hex8_stiffness((const double(*)[3])x, D, 0, K));
            double lambda = E * nu / ((1 + nu) * (1 - 2 * nu)), G = E / (2 * (1 + nu));
            double mu = convention == PBD_D_PRINTED ? 2 * G : G; /* the printed shear stiffness, R-1 */
            for (int r = 0; r < 24; r++)
                for (int c = 0; c < 24; c++) {
                    entry e = {(const double(*)[3])x, r / 3, c / 3, r % 3, c % 3, lambda, mu, 2 * G - 2 * mu};
                    double wanted = integrate(&e, table);
                    worst = fmax(worst, fabs(K[24 * r + c] - wanted));
                    norm = fmax(norm, fabs(wanted));
                }
            check_near("largest entry off, relative", worst / norm, 0, 1e-9);
        }
    gsl_integration_glfixed_table_free(table);
}

/* On the cube torsion is an eigenvector. Its eigenvalue is E/(3(1 + nu)) x edge/2 with the printed D (edge 2 here), and
 * half of that with the standard D (claims.md, rodero2016.torsion_smallest_eigenvalue). */
static void test_torsion_eigenvalue(void **unused) {
    (void)unused;
    for (int convention = 0; convention < 2; convention++)
        for (double nu = 0; nu < 0.5; nu += 0.07) {
            pbd_scene scene;
            solver s;
            make_box(&scene, 1, 1, 1, 2, nu);
            scene.material->E = 5;
            scene.material->convention = (pbd_convention)convention;
            solver_open(&s, "fem_linear", PBD_PRECISION_F64, 1, &scene, "spectrum=yes");
            double wanted = 5 / (3 * (1 + nu)) * (convention == PBD_D_PRINTED ? 1 : 0.5);
            check_near("torsion eigenvalue, N/m", metric_of(&s, "torsion_eigenvalue"), wanted, 1e-13 * wanted * 10);
            check_near("its residual", metric_of(&s, "torsion_residual"), 0, 1e-12);
            solver_close(&s);
            pbd_scene_free(&scene);
        }
}

/* A bar with nu = 0 under traction stretches by exactly F L/(E A) on any mesh. */
static void test_bar(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_box(&scene, 2, 3, 5, 0.1, 0);
    scene.material[0] = (pbd_material){.E = 2e5, .nu = 0, .convention = PBD_D_STANDARD};
    size_t top = scene.particles.count - 12;
    for (int j = 0; j <= 3; j++)
        for (int i = 0; i <= 2; i++)
            scene.loads.forces[3 * (top + (size_t)(i + 3 * j)) + 2] = 100.0 / 24 * (i % 2 ? 2 : 1) * (j % 3 ? 2 : 1);
    solver_open(&s, "fem_linear", PBD_PRECISION_F64, 1, &scene, "");
    check_ok(s.method->solve(s.state));
    double *x = positions_of(&s, scene.particles.count);
    double wanted = 0.5 + 100 * 0.5 / (2e5 * 0.2 * 0.3);
    for (size_t p = top; p < scene.particles.count; p++) check_near("top of the bar, m", x[3 * p + 2], wanted, 1e-13);
    free(x);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* Cantilever-like shear of a cube: the compliance converges with an order of at least 1 (singularities at the corners
 * of the base keep it below the order 2 of smooth solutions). Differences of successive meshes need no reference
 * value. */
static void test_mesh_convergence(void **unused) {
    (void)unused;
    double tip[4];
    for (int level = 0; level < 4; level++) {
        int n = 1 << level;
        pbd_scene scene;
        solver s;
        make_box(&scene, n, n, n, 2.0 / n, 0.3);
        scene.material->convention = PBD_D_STANDARD;
        size_t row = (size_t)(n + 1), top = scene.particles.count - row * row;
        for (size_t j = 0; j < row; j++)
            for (size_t i = 0; i < row; i++)
                scene.loads.forces[3 * (top + i + row * j)] =
                    0.05 / (n * n) * (i % (row - 1) ? 2 : 1) * (j % (row - 1) ? 2 : 1) / 4;
        solver_open(&s, "fem_linear", PBD_PRECISION_F64, 1, &scene, "");
        check_ok(s.method->solve(s.state));
        double *x = positions_of(&s, scene.particles.count), work = 0;
        for (size_t i = 0; i < 3 * scene.particles.count; i++)
            work += scene.loads.forces[i] * (x[i] - scene.particles.positions[i]);
        tip[level] = work;
        free(x);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
    double order = log2((tip[2] - tip[1]) / (tip[3] - tip[2]));
    print_message("    compliance %.6g %.6g %.6g %.6g: order %.3f\n", tip[0], tip[1], tip[2], tip[3], order);
    assert_true(tip[0] < tip[1] && tip[1] < tip[2] && tip[2] < tip[3]); /* a conforming mesh is too stiff */
    assert_true(order > 1 && order < 2.5);
}

static void test_bad_elements(void **unused) {
    (void)unused;
    double x[8][3], D[36], K[576];
    hex8_elasticity(1, 0.3, PBD_D_STANDARD, D);
    for (int a = 0; a < 8; a++) memcpy(x[a], hex8_corner[a ^ 4], sizeof x[a]); /* top and base exchanged */
    pbd_status status = hex8_stiffness((const double(*)[3])x, D, 42, K);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    assert_non_null(strstr(status.text, "hexahedron 42"));
    pbd_scene scene;
    double u[24];
    make_box(&scene, 1, 1, 1, 1, 0.3);
    scene.particles.fixed = 0;
    scene.loads.forces[2] = 1;
    assert_int_equal(hex8_solve(&scene, NULL, u).code, PBD_NO_EQUILIBRIUM);
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patch),
        cmocka_unit_test(test_element_against_independent_integration),
        cmocka_unit_test(test_torsion_eigenvalue),
        cmocka_unit_test(test_bar),
        cmocka_unit_test(test_mesh_convergence),
        cmocka_unit_test(test_bad_elements),
    };
    return cmocka_run_group_tests_name("fem_linear", tests, NULL, NULL);
}
