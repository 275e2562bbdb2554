/* fem_implicit, the yardstick, at rest, against independent answers: affine motion, a hanging bar (closed form),
 * Timoshenko's beam, scaling; and states that are no equilibrium. Every element and every law, one idea per test. Its
 * motion is tested in test_fem_motion.c. */
#define REAL double
#include "tests/fem_bar.h"

static const char *const elements[] = {"tet4", "tet10", "hex8", "hex27"};
static const char *const laws[] = {"corotated",           "stvk",  "neo_hookean", "stable_neo_hookean",
                                   "macklin_neo_hookean", "hencky"};

/* ---- Patch test -------------------------------------------------------------------------------------------------- */

static bool on_surface(const double *x) {
    return fabs(x[0]) < 1e-9 || fabs(x[0] - 1) < 1e-9 || fabs(fabs(x[1]) - 0.25) < 1e-9 ||
           fabs(fabs(x[2]) - 0.25) < 1e-9;
}

static void affine(const double *x, double *out) {
    static const double F[3][3] = {{1.2, 0.15, -0.1}, {0.05, 0.85, 0.2}, {0.1, -0.05, 1.05}},
                        shift[3] = {0.3, -0.2, 0.1};
    for (int i = 0; i < 3; i++) out[i] = shift[i] + F[i][0] * x[0] + F[i][1] * x[1] + F[i][2] * x[2];
}

/* A distorted mesh whose surface is moved affinely: the interior, which starts up to 0.01 off the affine motion, must
 * converge to it. */
static void patch(const char *element, const char *law) {
    bar b;
    char words[200];
    uint64_t seed = 7;
    snprintf(words, sizeof words, "element=%s material=%s width=0.5 cells=3 gravity=0 newton_tolerance=0", element,
             law);
    bar_make(&b, words);
    pbd_scene *s = &b.scene;
    const size_t n = s->particles.count;
    s->particles.start = malloc(3 * n * sizeof *s->particles.start);
    double *wanted = malloc(3 * n * sizeof *wanted);
    uint32_t *fixed = malloc(n * sizeof *fixed);
    s->particles.fixed = 0;
    for (size_t p = 0; p < n; p++) {
        double *x = s->particles.positions + 3 * p;
        const bool outer = on_surface(x);
        for (int d = 0; d < 3 && !outer; d++) x[d] += 0.2 / 6 * noise(&seed);
        affine(x, wanted + 3 * p);
        for (size_t d = 0; d < 3; d++)
            s->particles.start[3 * p + d] = wanted[3 * p + d] + (outer ? 0 : 0.01 * noise(&seed));
        if (outer) fixed[s->particles.fixed++] = (uint32_t)p;
    }
    free(s->particles.fixed_particle);
    s->particles.fixed_particle = fixed;
    assert_true(n - s->particles.fixed > 10);
    bar_open(&b);
    check_ok(b.s.method->solve(b.s.state));
    double *x = positions_of(&b.s, n);
    snprintf(words, sizeof words, "%s %s: off an affine motion, m", element, law);
    check_near(words, largest_apart(x, wanted, 3 * n), 0, 1e-13);
    free(x);
    free(wanted);
    bar_close(&b);
}

static void affine_motion_is_reproduced(void **state) {
    (void)state;
    for (int e = 0; e < 4; e++) patch(elements[e], "neo_hookean");
    for (int l = 0; l < 6; l++) patch("hex8", laws[l]);
}

/* ---- Convergence ------------------------------------------------------------------------------------------------- */

/* log(r2/r1) / log(r1/r0) over the last three residuals above 1e-11: 2 is quadratic. */
static double newton_order(const pbd_result *result) {
    double last[3] = {0};
    for (size_t i = 0; i < result->series_count; i++) {
        const pbd_series_item *series = &result->series[i];
        if (strcmp(series->name, "newton_residual") != 0) continue;
        for (size_t k = 0; k < series->count; k++)
            if (series->values[k] > 1e-11) last[0] = last[1], last[1] = last[2], last[2] = series->values[k];
    }
    print_message("    residuals %.2g %.2g %.2g\n", last[0], last[1], last[2]);
    return log(last[2] / last[1]) / log(last[1] / last[0]);
}

/* Near the root. In theory the order is 2; the last residual may already be affected by rounding. */
static void newton_converges_quadratically(void **state) {
    (void)state;
    for (int l = 0; l < 6; l++) {
        bar b;
        char words[200];
        snprintf(words, sizeof words, "element=hex8 cells=2 gravity=3 newton_tolerance=1e-9 material=%s", laws[l]);
        double *x = bar_solve(&b, words);
        check_near(laws[l], newton_order(&b.s.result), 2, 0.45);
        free(x);
        bar_close(&b);
    }
}

/* A bar that hangs along x under its own weight, with nu = 0, so that it does not contract laterally: the stretch s of
 * Neo-Hookean follows from mu (s - 1/s) = density g (L - X), and the displacement of the end is the integral of s - 1
 * (Simpson, exact to 1e-12 here). */
static double hanging_bar(double mu, double weight) {
    const int n = 2000;
    double sum = 0;
    for (int i = 0; i <= n; i++) {
        const double t = weight * (1 - (double)i / n) / mu;
        sum += (0.5 * (t + sqrt(t * t + 4)) - 1) * (i == 0 || i == n ? 1 : i % 2 ? 4 : 2);
    }
    return sum / (3 * n);
}

static double hanging_error(const char *element, int cells) {
    bar b;
    char words[200];
    snprintf(words, sizeof words, "element=%s cells=%d width=1 nu=0 E=1e4 gravity=0 newton_tolerance=0", element,
             cells);
    bar_make(&b, words);
    b.scene.loads.gravity[0] = 50;
    bar_open(&b);
    check_ok(b.s.method->solve(b.s.state));
    double *x = positions_of(&b.s, b.scene.particles.count), end = 0;
    for (size_t p = 0; p < b.scene.particles.count; p++) /* the mean over the end face */
        if (fabs(b.scene.particles.positions[3 * p] - 1) < 1e-9) end += (x[3 * p] - 1) / ((cells + 1) * (cells + 1));
    free(x);
    bar_close(&b);
    return fabs(end / hanging_bar(5e3, 5e3) - 1);
}

/* Errors of the displacement of the end face, at h and h/2. A linear functional of a smooth solution converges with
 * twice the order that the element has in the energy norm: h^2 and h^4. Of the quadratic tetrahedron only the corners
 * are measured, and their mean is not an integral over the face: h^3, as for a displacement at any point. (Both numbers
 * of cells are even, because the tetrahedra of cubes alternate.) */
static void meshes_converge_in_their_order(void **state) {
    (void)state;
    static const double order[] = {2, 3, 2, 4}, slack[] = {0.3, 0.3, 0.05, 0.1};
    for (int e = 0; e < 4; e++) {
        const double coarse = hanging_error(elements[e], 2), fine = hanging_error(elements[e], 4);
        print_message("    %s: relative errors %.2g and %.2g\n", elements[e], coarse, fine);
        check_near(elements[e], log2(coarse / fine), order[e], slack[e]);
        assert_true(fine < 0.005);
    }
}

/* ---- Beams ------------------------------------------------------------------------------------------------------- */

/* Timoshenko and Cowper, by hand: density g A (L^4/(8 E I) + L^2 2 (1 + nu)/(2 kappa A E)), A = 0.04, I = 0.04^2/12. */
static double timoshenko(double E, double nu, double gravity) {
    const double q = 100 * gravity * 0.04, kappa = 10 * (1 + nu) / (12 + 11 * nu);
    return q / (8 * E * 0.0016 / 12) + q * 2 * (1 + nu) / (2 * kappa * 0.04 * E);
}

static void beams_bend_as_timoshenko_says(void **state) {
    (void)state;
    check_near("hex27, nu = 0: of Timoshenko's",
               solved_fall("element=hex27 cells=2 nu=0 gravity=1e-2") / timoshenko(1e5, 0, 1e-2), 1, 0.005);
    check_near("tet10, nu = 0: of Timoshenko's",
               solved_fall("element=tet10 cells=2 nu=0 gravity=1e-2") / timoshenko(1e5, 0, 1e-2), 1, 0.005);
    /* The clamped root cannot contract, so the deflection is 1 to 2 % smaller. */
    check_near(
        "hex27, nu = 0.3: of Timoshenko's",
        solved_fall("element=hex27 cells=4 nu=0.3 gravity=1e-2 newton_tolerance=1e-6") / timoshenko(1e5, 0.3, 1e-2),
        0.985, 0.005);
}

/* ---- Invariances ------------------------------------------------------------------------------------------------- */

/* Rotates by 0.9 rad about (2, -1, 2)/3. */
static void turn(double *rows, size_t count) {
    const double k[3] = {2.0 / 3, -1.0 / 3, 2.0 / 3}, c = cos(0.9), s = sin(0.9);
    for (size_t p = 0; p < count; p++) {
        double *v = rows + 3 * p;
        const double along = (1 - c) * (k[0] * v[0] + k[1] * v[1] + k[2] * v[2]);
        const double cross[3] = {k[1] * v[2] - k[2] * v[1], k[2] * v[0] - k[0] * v[2], k[0] * v[1] - k[1] * v[0]};
        for (int d = 0; d < 3; d++) v[d] = c * v[d] + s * cross[d] + along * k[d];
    }
}

static void rotation_changes_nothing(void **state) {
    (void)state;
    for (int e = 0; e < 4; e++) {
        bar plain, turned;
        char words[200];
        snprintf(words, sizeof words, "element=%s cells=1 newton_tolerance=0", elements[e]);
        double *x = bar_solve(&plain, words);
        bar_make(&turned, words);
        turn(turned.scene.particles.positions, turned.scene.particles.count);
        turn(turned.scene.loads.gravity, 1);
        bar_open(&turned);
        check_ok(turned.s.method->solve(turned.s.state));
        double *y = positions_of(&turned.s, turned.scene.particles.count);
        turn(x, plain.scene.particles.count);
        /* Rounding of the solution: that of the strain, 1e-16, times somewhat more than the squared slenderness
         * (L/h)^2. */
        check_near(elements[e], largest_apart(x, y, 3 * plain.scene.particles.count), 0, 1e-12);
        free(x);
        free(y);
        bar_close(&plain);
        bar_close(&turned);
    }
}

/* Modulus and load times 2^20 is the same problem in another unit of force; the result is the same bit for bit. */
static void units_of_force_change_nothing(void **state) {
    (void)state;
    for (int l = 0; l < 6; l++) {
        bar a, b;
        char words[200];
        snprintf(words, sizeof words, "element=hex8 cells=1 material=%s", laws[l]);
        double *x = bar_solve(&a, words);
        bar_make(&b, words);
        b.scene.material->E *= 0x1p20;
        b.scene.loads.gravity[2] *= 0x1p20;
        bar_open(&b);
        check_ok(b.s.method->solve(b.s.state));
        double *y = positions_of(&b.s, b.scene.particles.count);
        assert_memory_equal(x, y, 3 * a.scene.particles.count * sizeof *x);
        free(x);
        free(y);
        bar_close(&a);
        bar_close(&b);
    }
}

/* Deflection is proportional to the load for small loads, even where the internal forces are pure rounding. */
static void tiny_loads_are_answered(void **state) {
    (void)state;
    const double one = solved_fall("element=hex8 cells=2 gravity=1e-4") / 1e-4;
    check_near("gravity=1e-7", solved_fall("element=hex8 cells=2 gravity=1e-7") / 1e-7 / one, 1, 1e-6);
    check_near("gravity=1e-12", solved_fall("element=hex8 cells=2 gravity=1e-12") / 1e-12 / one, 1, 1e-6);
    check_near("gravity=1e-30", solved_fall("element=hex8 cells=2 gravity=1e-30") / 1e-30 / one, 1, 1e-6);
}

/* ---- What is no equilibrium -------------------------------------------------------------------------------------- */

/* The energy of St. Venant-Kirchhoff is invariant under reflection: a mirrored body is in balance without load. */
static void inverted_bodies_are_no_equilibrium(void **state) {
    (void)state;
    for (int e = 0; e < 4; e++) {
        bar b;
        char words[100];
        snprintf(words, sizeof words, "element=%s cells=2 material=stvk gravity=0", elements[e]);
        bar_make(&b, words);
        const size_t n = 3 * b.scene.particles.count;
        b.scene.particles.start = malloc(n * sizeof *b.scene.particles.start);
        for (size_t i = 0; i < n; i++)
            b.scene.particles.start[i] = b.scene.particles.positions[i] * (i % 3 == 1 ? -1 : 1);
        bar_open(&b);
        const pbd_status status = b.s.method->solve(b.s.state);
        assert_int_equal(status.code, PBD_NO_EQUILIBRIUM);
        if (!strstr(status.text, "inverted")) fail_msg("does not say that it is inverted: %s", status.text);
        check_near("load fraction", metric_of(&b.s, "load_fraction"), 0, 0);
        bar_close(&b);
    }
}

/* At nu = 0 a St. Venant-Kirchhoff column under compression bears P = E (s - s^3)/2, at most E/(3 sqrt 3) = 0.19245 E.
 * With density g L = 0.4 E its root fails at 0.481 of the load. Five hex8 only resolve the mean stress of each cube,
 * which at the root is 0.9 of the maximum: they fail at 0.5346. hex27 lies between. (So slender a column would buckle
 * earlier, but a perfectly straight one stays straight.) */
static void impossible_loads_are_no_equilibrium(void **state) {
    (void)state;
    for (int e = 2; e < 4; e++) {
        bar b;
        char words[120];
        snprintf(words, sizeof words, "element=%s cells=1 material=stvk nu=0 gravity=0 E=1e5", elements[e]);
        bar_make(&b, words);
        b.scene.loads.gravity[0] = -400;
        bar_open(&b);
        const pbd_status status = b.s.method->solve(b.s.state);
        assert_int_equal(status.code, PBD_NO_EQUILIBRIUM);
        print_message("    %s: %s\n", elements[e], status.text);
        const double reached = metric_of(&b.s, "load_fraction"), bears = 1 / (3 * sqrt(3)) / 0.4;
        if (e == 2)
            check_near("load fraction", reached, bears / 0.9, 0.001); /* the smallest load step is 0.00024 */
        else
            assert_true(reached > bears && reached < bears / 0.9);
        assert_true(metric_of(&b.s, "smallest_det_F") > 0);
        bar_close(&b);
    }
}

static void laws_run_on_all_elements(void **state) {
    (void)state;
    for (int e = 0; e < 4; e++) {
        double first = 0;
        for (int l = 0; l < 6; l++) {
            char words[120];
            snprintf(words, sizeof words, "element=%s cells=1 material=%s gravity=1e-2", elements[e], laws[l]);
            const double fall = solved_fall(words);
            if (l == 0) first = fall;
            check_near(words, fall / first, 1, 1e-3); /* laws differ by the order of the strain, 1e-4 here */
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affine_motion_is_reproduced),
        cmocka_unit_test(newton_converges_quadratically),
        cmocka_unit_test(meshes_converge_in_their_order),
        cmocka_unit_test(beams_bend_as_timoshenko_says),
        cmocka_unit_test(rotation_changes_nothing),
        cmocka_unit_test(units_of_force_change_nothing),
        cmocka_unit_test(tiny_loads_are_answered),
        cmocka_unit_test(inverted_bodies_are_no_equilibrium),
        cmocka_unit_test(impossible_loads_are_no_equilibrium),
        cmocka_unit_test(laws_run_on_all_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
