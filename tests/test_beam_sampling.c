/* Bars sampled on a lattice, with jitter and by Poisson disks: counts, positions, held layers, and metrics at the tip
 * of scattered particles. */
#include "tests/prescribed_maps.h"

/* The bar of all tests: 0.1 m between nodes, 11 layers of 5 x 5. */
#define BAR "cells=4 length=1 width=0.4 density=120 "
enum { LAYER = 25, LAYERS = 11 };
static const double SPACING = 0.1;

static bool is_held(const pbd_scene *scene, size_t p) {
    for (size_t k = 0; k < scene->particles.fixed; k++)
        if (scene->particles.fixed_particle[k] == p) return true;
    return false;
}

/* ---- Held layers ------------------------------------------------------------------------------------------------- */

/* Exactly the layers at x = 0, and at whole spacings behind it, are held; with `both` also those at and beyond 1 m. */
static void check_held(const char *name, const char *words, size_t layers, bool both) {
    trial t;
    open_case(&t, name, words);
    assert_int_equal(t.scene.particles.fixed, (both ? 2 : 1) * layers * LAYER);
    for (size_t p = 0; p < t.scene.particles.count; p++) {
        const double x = t.scene.particles.positions[3 * p], depth = both && x > 0.5 ? x - 1 : -x;
        const bool clamped = depth > -1e-12;
        assert_int_equal(is_held(&t.scene, p), clamped);
        if (clamped) assert_true(fabs(depth / SPACING - round(depth / SPACING)) < 1e-12);
        assert_true(depth < ((double)layers - 0.5) * SPACING);
    }
    close_case(&t);
}

static void test_held_layers(void **unused) {
    (void)unused;
    static const char *const sampling[] = {"lattice", "jitter", "poisson"};
    for (size_t k = 0; k < 3; k++)
        for (size_t layers = 1; layers <= 3; layers += 2) {
            char words[200];
            snprintf(words, sizeof words, BAR "sampling=%s held_layers=%zu", sampling[k], layers);
            check_held("cantilever", words, layers, false);
            check_held("vibrating_bar", words, layers, false);
            check_held("twist", words, layers, true);
        }
}

/* Held layers beyond the first are outside of the bar: they add particles, mass and cubes. */
static void test_layers_behind_are_more_matter(void **unused) {
    (void)unused;
    trial t;
    double mass = 0;
    open_case(&t, "cantilever", BAR "held_layers=3");
    assert_int_equal(t.scene.particles.count, (LAYERS + 2) * LAYER);
    assert_int_equal(t.scene.hexes.count, 12 * 16);
    for (size_t p = 0; p < t.scene.particles.count; p++) mass += t.scene.particles.masses[p];
    check_near("mass, kg", mass, 120 * 0.16 * 1.2, 1e-12);
    close_case(&t);
    /* Layers that rotate with a clamped end keep their positions relative to it. */
    open_case(&t, "twist", BAR "held_layers=3 revolutions=0.25");
    assert_int_equal(t.scene.particles.count, (LAYERS + 4) * LAYER);
    double root = 0, end = 0;
    for (size_t p = 0; p < t.scene.particles.count; p++) {
        const double *x = t.scene.particles.positions + 3 * p, *start = t.scene.particles.start + 3 * p;
        if (x[0] < -0.01) root = fmax(root, fabs(start[1] - x[1]));
        if (x[0] > 1.01) end = fmax(end, fabs(start[1] + x[2]));
    }
    check_near("y behind the root", root, 0, 0);
    check_near("y beyond the end, a quarter turned", end, 0, 1e-15);
    close_case(&t);
}

/* ---- Offsets ----------------------------------------------------------------------------------------------------- */

static void test_jitter(void **unused) {
    (void)unused;
    trial even, t;
    double largest = 0, squares = 0, volume = 0;
    size_t inner = 0;
    open_case(&even, "cantilever", BAR);
    open_case(&t, "cantilever", BAR "sampling=jitter jitter=0.1");
    assert_int_equal(t.scene.particles.count, LAYERS * LAYER);
    assert_int_equal(t.scene.tets.count, 5 * 160);
    for (size_t k = 0; k < 3 * t.scene.particles.count; k++) {
        const double at = even.scene.particles.positions[k], off = t.scene.particles.positions[k] - at;
        const double low = k % 3 ? -0.2 : 0, high = k % 3 ? 0.2 : 1;
        if (at < low + 1e-9 || at > high - 1e-9 || is_held(&t.scene, k / 3)) {
            assert_true(off == 0); /* faces stay plane */
            continue;
        }
        largest = fmax(largest, fabs(off));
        squares += off * off;
        inner++;
    }
    assert_true(largest <= 0.1 * SPACING);
    /* The offsets are uniformly distributed; the standard error over 400 offsets is 2 %. */
    check_near("root mean square offset over 0.1 spacings", sqrt(squares / (double)inner) / (0.1 * SPACING),
               1 / sqrt(3), 0.05);
    for (size_t e = 0; e < t.scene.tets.count; e++) { /* the tetrahedra still fill the box */
        const uint32_t *c = t.scene.tets.corner + 4 * e;
        const double *x = t.scene.particles.positions;
        double d[3][3];
        for (int k = 0; k < 3; k++)
            for (uint32_t i = 0; i < 3; i++) d[k][i] = x[3 * c[k] + i] - x[3 * c[3] + i];
        const double six = d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
                           d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
                           d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
        assert_true(six > 0);
        volume += six / 6;
    }
    check_near("volume of the tetrahedra, m^3", volume, 0.16, 1e-12);
    close_case(&t);
    close_case(&even);
}

/* ---- Poisson disks ----------------------------------------------------------------------------------------------- */

static void test_poisson(void **unused) {
    (void)unused;
    trial t, again;
    double mass = 0, nearest = INFINITY;
    open_case(&t, "cantilever", BAR "sampling=poisson");
    open_case(&again, "cantilever", BAR "sampling=poisson");
    const size_t n = t.scene.particles.count, free = n - LAYER;
    const double *x = t.scene.particles.positions;
    assert_int_equal(t.scene.tets.count + t.scene.hexes.count, 0);
    check_near("free particles of 0.1 m in 0.16 m^3", (double)free, 160, 0.5);
    check_near("spacing, m, stored in f32", t.scene.particles.spacing, cbrt(0.16 / (double)free), 1e-8);
    assert_memory_equal(x, again.scene.particles.positions, 3 * n * sizeof *x);
    for (size_t p = LAYER; p < n; p++) {
        mass += t.scene.particles.masses[p];
        assert_true(x[3 * p] > 0 && x[3 * p] < 1 && fabs(x[3 * p + 1]) < 0.2 && fabs(x[3 * p + 2]) < 0.2);
        for (size_t q = p + 1; q < n; q++)
            nearest = fmin(nearest,
                           hypot(hypot(x[3 * p] - x[3 * q], x[3 * p + 1] - x[3 * q + 1]), x[3 * p + 2] - x[3 * q + 2]));
    }
    check_near("mass of what is free, kg", mass, 120 * 0.16, 1e-12);
    /* Sample elimination reaches at least 0.6 of the largest possible distance, 2^(1/6) spacings (Yuksel 2015). */
    assert_true(nearest > 0.6 * pow(2, 1.0 / 6) * SPACING);
    close_case(&t);
    close_case(&again);
}

/* For an affine field the tip is its value at the centre of the end face, also for scattered particles. */
static void test_tip_of_an_affine_field(void **unused) {
    (void)unused;
    static const char *const words[] = {BAR, BAR "sampling=jitter", BAR "sampling=poisson", "cells=5 sampling=poisson"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        trial t;
        open_case(&t, "cantilever", words[k]);
        print_message("%s\n", words[k]);
        apply(&t, anywhere());
        measure(&t);
        const map m = anywhere();
        check_metric(&t, "tip_deflection", -(m.m[2][0] + m.by[2]), 1e-12);
        check_metric(&t, "tip_shortening", 1 - (m.m[0][0] + m.by[0]), 1e-12);
        close_case(&t);
    }
}

/* The axis of a helix of scattered particles does not deviate; displaced by 0.02 m it deviates by that over the width.
 */
static void test_axis_of_scattered_particles(void **unused) {
    (void)unused;
    static const char *const words[] = {BAR "sampling=jitter", BAR "sampling=poisson held_layers=2"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        trial t;
        open_case(&t, "twist", words[k]);
        memcpy(t.x, t.scene.particles.start, 3 * t.scene.particles.count * sizeof *t.x);
        measure(&t);
        check_metric(&t, "axis_deviation", 0, 1e-14);
        assert_null(find_metric(&t, "helix_deviation"));
        for (size_t p = 0; p < t.scene.particles.count; p++)
            if (t.scene.particles.positions[3 * p] > 0.46 && t.scene.particles.positions[3 * p] < 0.54)
                t.x[3 * p + 2] += 0.02;
        measure(&t);
        assert_true(told_metric(&t, "axis_deviation") > 0.01 && told_metric(&t, "axis_deviation") < 0.0501);
        close_case(&t);
    }
}

static void test_refusals(void **unused) {
    (void)unused;
    static const char *const bad[][3] = {{"cantilever", "sampling=hexagonal", "lattice"},
                                         {"cantilever", "held_layers=0", "held_layers"},
                                         {"cantilever", "cells=8 sampling=jitter jitter=0.4", "inverts"}};
    check_refusals(bad, sizeof bad / sizeof *bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_layers),
        cmocka_unit_test(test_layers_behind_are_more_matter),
        cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_poisson),
        cmocka_unit_test(test_tip_of_an_affine_field),
        cmocka_unit_test(test_axis_of_scattered_particles),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
