/* Reproducing kernels: their gradients against finite differences of shape functions that are solved for here; their
 * deformation gradients for affine maps, and those of corrected_sph; and the device kernel against the host code. */
#include "methods/physics/space/shape_gradients.h"
#include "tests/element_ladder.h"
#include "tests/reproducing_shapes.h"
#include "tests/trial.h"

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

static void make_gradients(const cloud *c, const shape_choice *choice, rest_neighbours *near, shape_gradients *out) {
    check_ok(rest_neighbours_find(c->particles, c->x, NULL, choice->radius, near));
    check_ok(shape_gradients_make(near, c->x, c->volume, choice, NULL, out));
    assert_int_equal(out->deficient, 0);
}

/* b_ij is the gradient of shape function j at particle i. Gradients at i sum to 0, so that of i itself is minus the sum
 * over its neighbours. Compared at a corner, on an edge and in the middle of a block of 125. */
static void compare_gradients(const char *what, int kernel, bool linear) {
    static const size_t looked_at[] = {0, 2, 62, 31, 124};
    static cloud c;
    static double slope[3 * MOST];
    rest_neighbours near;
    shape_gradients shape;
    double worst = 0, own = 0, largest = 0;
    make_cloud(&c, 5, 0.2);
    const shape_choice choice = {.kernel = kernel, .radius = c.support, .kernel_correction = !linear, .linear = linear};
    make_gradients(&c, &choice, &near, &shape);
    for (size_t n = 0; n < sizeof looked_at / sizeof *looked_at; n++) {
        const size_t i = looked_at[n];
        double sum[3] = {0};
        shape_slopes(&c, kernel, linear, i, slope);
        for (size_t k = near.first[i]; k < near.first[i + 1]; k++)
            for (size_t d = 0; d < 3; d++) {
                const double wanted = slope[3 * (size_t)near.particle[k] + d];
                worst = fmax(worst, fabs(shape.gradient[3 * k + d] - wanted));
                largest = fmax(largest, fabs(wanted));
                sum[d] += shape.gradient[3 * k + d];
            }
        for (size_t d = 0; d < 3; d++) own = fmax(own, fabs(sum[d] + slope[3 * i + d]));
    }
    print_message("  %s, kernel %d: largest gradient %.3g 1/m\n", what, kernel, largest);
    check_near("gradients against differences, over the largest", worst / largest, 0, 1e-8);
    check_near("sum of all gradients, over the largest", own / largest, 0, 1e-8);
    rest_neighbours_free(&near);
    shape_gradients_free(&shape);
}

static void test_gradients(void **unused) {
    (void)unused;
    for (int kernel = 0; kernel < 3; kernel++) { /* the spiky kernel has no gradient at 0 */
        compare_gradients("constant basis", kernel, false);
        compare_gradients("linear basis", kernel, true);
    }
}

/* L of Eq. 8 is the same for all neighbours of a particle: the corrected gradients are those of the constant basis
 * times one matrix, which makes sum (X_j - X_i) b_ij^T the identity. */
static void test_corrected_gradients(void **unused) {
    (void)unused;
    static cloud c;
    static double slope[3 * MOST];
    rest_neighbours near;
    shape_gradients shape;
    make_cloud(&c, 5, 0.2);
    const shape_choice choice = {.radius = c.support, .kernel_correction = true, .gradient_correction = true};
    make_gradients(&c, &choice, &near, &shape);
    for (size_t i = 0; i < c.particles; i += 31) {
        double moment[3][3] = {{0}}, worst = 0, largest = 0;
        shape_slopes(&c, 0, false, i, slope);
        for (size_t k = near.first[i]; k < near.first[i + 1]; k++)
            for (size_t e = 0; e < 9; e++) {
                const size_t j = near.particle[k];
                moment[e / 3][e % 3] += slope[3 * j + e / 3] * (c.x[3 * j + e % 3] - c.x[3 * i + e % 3]);
            }
        for (size_t k = near.first[i]; k < near.first[i + 1]; k++)
            for (size_t d = 0; d < 3; d++) { /* moment b_ij = slope */
                const double *b = shape.gradient + 3 * k, wanted = slope[3 * (size_t)near.particle[k] + d];
                worst = fmax(worst, fabs(moment[d][0] * b[0] + moment[d][1] * b[1] + moment[d][2] * b[2] - wanted));
                largest = fmax(largest, fabs(wanted));
            }
        check_near("L^-1 b against the constant basis, over the largest", worst / largest, 0, 1e-8);
    }
    rest_neighbours_free(&near);
    shape_gradients_free(&shape);
}

/* ---- Affine maps ------------------------------------------------------------------------------------------------- */

static const double affine[9] = {0.7, -0.9, 0.2, 0.4, 0.6, -0.3, 0.1, 0.5, 1.3};

/* The largest entry of F - A in a jittered block of 8 x 7 x 6 particles that starts at A X + (1, -2, 0.5). */
static double affine_error(const char *method, pbd_precision precision, const char *words) {
    trial t;
    solver s;
    double worst = 0;
    open_case(&t, "rotation", "nx=8 ny=7 nz=6 jitter=0.2 angle=0");
    for (size_t i = 0; i < 3 * t.scene.particles.count; i++) {
        const double *X = t.scene.particles.positions + i / 3 * 3, *row = affine + 3 * (i % 3), by[3] = {1, -2, 0.5};
        t.scene.particles.start[i] = row[0] * X[0] + row[1] * X[1] + row[2] * X[2] + by[i % 3];
    }
    solver_open(&s, method, precision, 1, &t.scene, words);
    double *F = malloc(9 * t.scene.particles.count * sizeof *F);
    check_ok(s.method->read(s.state, PBD_DEFORMATION_GRADIENTS, F));
    for (size_t i = 0; i < 9 * t.scene.particles.count; i++) worst = fmax(worst, fabs(F[i] - affine[i % 9]));
    free(F);
    solver_close(&s);
    close_case(&t);
    return worst;
}

/* C-12: affine maps are exact with the gradient correction or a linear basis, for every kernel and form. */
static void test_affine(void **unused) {
    (void)unused;
    static const char *const exact[][2] = {{"mlsrk", "basis=linear"},
                                           {"mlsrk", "basis=constant_corrected"},
                                           {"corrected_sph", "kernel_correction=on"},
                                           {"corrected_sph", "kernel_correction=off"}};
    static const char *const more[] = {"form=position kernel=poly6",
                                       "form=displacement kernel=poly6",
                                       "form=position kernel=cubic_spline",
                                       "form=displacement kernel=wendland_c2",
                                       "form=position kernel=spiky",
                                       "form=position radius=1.8",
                                       "form=displacement solver=coloured_gs radius=3.2"};
    for (size_t e = 0; e < sizeof exact / sizeof *exact; e++)
        for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
            char words[200];
            snprintf(words, sizeof words, "%s %s", exact[e][1], more[m]);
            print_message("  %s %s\n", exact[e][0], words);
            check_near("F of an affine map, f64", affine_error(exact[e][0], PBD_PRECISION_F64, words), 0, 1e-12);
            check_near("F of an affine map, f32", affine_error(exact[e][0], PBD_PRECISION_F32, words), 0, 1e-4);
        }
}

/* Without the correction they are not: the error exceeds a third of the largest entry at some particle of this
 * block. */
static void test_affine_without_correction(void **unused) {
    (void)unused;
    static const char *const wrong[][2] = {{"mlsrk", "basis=constant"},
                                           {"mlsrk", "basis=constant form=displacement"},
                                           {"corrected_sph", "gradient_correction=off"},
                                           {"corrected_sph", "gradient_correction=off kernel_correction=off"},
                                           {"corrected_sph", "gradient_correction=off form=displacement"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const double error = affine_error(wrong[i][0], PBD_PRECISION_F64, wrong[i][1]);
        print_message("  %s %s: off by %.3g\n", wrong[i][0], wrong[i][1], error);
        assert_true(error > 0.4);
    }
}

/* CMLSRK, the constant basis with the paper's correction, is the corrected kernel itself. */
static void test_constant_corrected_is_corrected_sph(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "rotation", "nx=5 ny=4 nz=6 jitter=0.1 start_jitter=0.1");
    double *a = march("mlsrk", PBD_PRECISION_F64, 1, &t.scene, "basis=constant_corrected", 0.005, 3);
    double *b = march("corrected_sph", PBD_PRECISION_F64, 1, &t.scene, "", 0.005, 3);
    double *c = march("mlsrk", PBD_PRECISION_F64, 1, &t.scene, "basis=linear", 0.005, 3);
    expect_same_bits("constant_corrected and corrected_sph", a, b, t.scene.particles.count);
    assert_true(largest_difference(a, c, t.scene.particles.count) > 1e-6); /* the linear basis gives another result */
    free(a);
    free(b);
    free(c);
    close_case(&t);
}

/* ---- Impulses ---------------------------------------------------------------------------------------------------- */

static double impulse_of(const char *words, const char *metric) {
    trial t;
    solver s;
    open_case(&t, "rotation", "nx=6 ny=5 nz=7 jitter=0.2 start_jitter=0.2 angle=90");
    solver_open(&s, "mlsrk", PBD_PRECISION_F64, 1, &t.scene, words);
    check_ok(t.c->observe(&t.setup, s.method, s.state, 0, t.recorder));
    check_ok(s.method->step(s.state, 0.005));
    check_ok(t.c->observe(&t.setup, s.method, s.state, 0.005, t.recorder));
    const double impulse = told_metric(&t, metric);
    solver_close(&s);
    close_case(&t);
    return impulse;
}

/* C-6: P F^T is symmetric, so that the position form conserves angular momentum with every basis; the displacement form
 * does so only with a basis for which the two forms are equal. */
static void test_impulses(void **unused) {
    (void)unused;
    static const char *const kept[] = {"basis=linear", "basis=constant_corrected", "basis=constant",
                                       "basis=linear form=displacement", "basis=constant_corrected form=displacement"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        char words[200];
        snprintf(words, sizeof words, "%s iterations=1 solver=jacobi", kept[i]);
        print_message("  %s\n", words);
        check_near("linear impulse", impulse_of(words, "linear_impulse"), 0, 1e-12);
        check_near("angular impulse", impulse_of(words, "angular_impulse"), 0, 1e-12);
    }
    const char *lost = "basis=constant form=displacement iterations=1 solver=jacobi";
    check_near("linear impulse, constant basis in displacements", impulse_of(lost, "linear_impulse"), 0, 1e-12);
    const double angular = impulse_of(lost, "angular_impulse");
    print_message("    angular impulse of the same: %.3g\n", angular);
    assert_true(angular > 1e-2);
}

/* ---- Poor bodies ------------------------------------------------------------------------------------------------- */

/* A sheet of one layer: F is exact in the plane and the identity in the normal direction. A lone particle: F is the
 * identity. */
static void test_poor_bodies(void **unused) {
    (void)unused;
    for (size_t n = 1; n <= 64; n += 63) {
        trial t;
        solver s;
        double F[9 * 64];
        open_case(&t, "rotation", "nx=8 ny=8 nz=2 angle=0");
        t.scene.particles.count = n;
        for (size_t i = 0; i < n; i++) {
            double *X = t.scene.particles.positions + 3 * i, *x = t.scene.particles.start + 3 * i;
            X[0] = x[0] = 0.025 * (double)(i % 8);
            X[1] = 0.025 * (double)(i / 8);
            x[1] = 1.5 * X[1];
            X[2] = x[2] = 0.3;
        }
        solver_open(&s, "mlsrk", PBD_PRECISION_F64, 1, &t.scene, "basis=linear radius=2.5");
        assert_int_equal(s.result.warnings, n == 1 ? 2 : 1);
        check_ok(s.method->read(s.state, PBD_DEFORMATION_GRADIENTS, F));
        double worst = 0;
        for (size_t i = 0; i < 9 * n; i++) {
            const double wanted = i % 9 == 4 && n > 1 ? 1.5 : (i % 9) % 4 == 0;
            worst = fmax(worst, fabs(F[i] - wanted));
        }
        check_near(n == 1 ? "F of a lone particle" : "F of a stretched sheet", worst, 0, 1e-12);
        solver_close(&s);
        close_case(&t);
    }
}

/* ---- On the device ----------------------------------------------------------------------------------------------- */

static void test_device_kernel(void **unused) {
    (void)unused;
    static const char *const variants[][2] = {{"mlsrk", "basis=linear"},
                                              {"mlsrk", "basis=constant"},
                                              {"corrected_sph", ""},
                                              {"corrected_sph", "kernel=spiky gradient_correction=off"},
                                              {"corrected_sph", "kernel_correction=off kernel=wendland_c2"}};
    static const double limit[2] = {2e-5, 1e-13};
    trial t;
    open_case(&t, "rotation", "nx=5 ny=4 nz=3 jitter=0.2");
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        for (int precision = 0; precision < 2; precision++)
            for (int backend = PBD_CPU; backend <= PBD_EMU; backend *= 2) {
                solver s;
                char words[200];
                snprintf(words, sizeof words, "%s kernel_runs=2", variants[v][1]);
                check_ok(try_open_on(backend, &s, variants[v][0], (pbd_precision)precision, 2, &t.scene, words));
                print_message("  %s %s, %s, %s\n", variants[v][0], words, backend == PBD_CPU ? "cpu" : "emu",
                              precision ? "f64" : "f32");
                check_near("the device's kernels against the host's", metric_of(&s, "kernel_error"), 0,
                           limit[precision]);
                assert_true(metric_of(&s, "kernel_time") > 0);
                solver_close(&s);
            }
    close_case(&t);
}

/* ---- What all methods share -------------------------------------------------------------------------------------- */

static const char *const variants[] = {"basis=linear iterations=3 solver=jacobi",
                                       "basis=linear iterations=3 solver=coloured_gs",
                                       "basis=constant iterations=2 form=displacement solver=jacobi"};

static void test_ladder(void **unused) {
    (void)unused;
    expect_rotation_invariance("mlsrk", "iterations=4 solver=jacobi", true);
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        expect_units_do_not_matter("mlsrk", variants[v]);
        expect_same_on_threads("mlsrk", variants[v], false);
        expect_precisions_agree("mlsrk", variants[v], false, 2e-5);
        expect_backends_agree("mlsrk", variants[v], false);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_corrected_gradients),
        cmocka_unit_test(test_affine),
        cmocka_unit_test(test_affine_without_correction),
        cmocka_unit_test(test_constant_corrected_is_corrected_sph),
        cmocka_unit_test(test_impulses),
        cmocka_unit_test(test_poor_bodies),
        cmocka_unit_test(test_device_kernel),
        cmocka_unit_test(test_ladder),
    };
    return cmocka_run_group_tests_name("mlsrk", tests, NULL, NULL);
}
