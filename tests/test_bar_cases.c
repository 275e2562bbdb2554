/* Cases of bars and plates: their metrics on prescribed fields, and their references against closed forms. */
#include "methods/physics/parts/surface_load.h"
#include "tests/prescribed_maps.h"

/* ---- collapse ---------------------------------------------------------------------------------------------------- */

static double shape_error(trial *t) {
    measure(t);
    return told_metric(t, "rest_shape_error");
}

static void test_shape_error(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "collapse", "cells=3 noise=0");
    check_near("at rest", shape_error(&t), 0, 1e-15);
    apply(&t, anywhere());
    check_near("moved and turned", shape_error(&t), 0, 2e-15);
    check_metric(&t, "came_back", 1, 0);
    check_metric(&t, "inverted_tets", 0, 0);
    check_metric(&t, "strain_energy", 0, 1e-9);
    apply(&t, diagonal(1.25, 1.25, 1.25));
    check_near("25 % larger", shape_error(&t), 0.25, 1e-14);
    check_metric(&t, "came_back", 0, 0);
    check_metric(&t, "smallest_det_F_of_tets", 1.25 * 1.25 * 1.25, 1e-13);
    /* A cube's second moments are equal: squashed to a plane it loses a third of sum m r^2, to a line two thirds, to a
     * point all. Mirrored, the best rotation recovers (1 + 1 - 1)/3 of the sum: the error is sqrt(2 - 2/3). */
    static const struct {
        const char *start;
        double error;
    } squashed[] = {{"start=plane cells=3 noise=0", 1 / 1.7320508075688772},
                    {"start=line cells=3 noise=0", 0.81649658092772603},
                    {"start=point cells=3 noise=0", 1},
                    {"start=inside_out cells=3 noise=0", 1.1547005383792515}};
    close_case(&t);
    for (size_t i = 0; i < sizeof squashed / sizeof *squashed; i++) {
        open_case(&t, "collapse", squashed[i].start);
        memcpy(t.x, t.scene.particles.start, 3 * t.scene.particles.count * sizeof *t.x);
        check_near(squashed[i].start, shape_error(&t), squashed[i].error, 1e-14);
        check_metric(&t, "inverted_tets", 5 * 27, 0);
        close_case(&t);
    }
}

/* E 1e5 Pa, nu 0, density 1000 kg/m^3: the speed of sound is 10 m/s, and it takes 0.1 s for 1 m. */
static void test_coming_back(void **unused) {
    (void)unused;
    static const struct {
        double time, scale;
    } seen[] = {{0, 0.2}, {0.1, 0.995}, {0.2, 1.05}, {0.3, 1.005}, {0.4, 1.0}};
    trial t;
    open_case(&t, "collapse", "nu=0 density=1000 cells=2 duration=0.4");
    check_near("looks every, s", t.setup.observe_every, 0.002, 1e-15);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        back_to_rest(&t);
        apply(&t, diagonal(seen[i].scale, seen[i].scale, seen[i].scale));
        t.v[5] = i == 2 ? -7 : 1;
        observe(&t, seen[i].time);
    }
    measure(&t);
    check_metric(&t, "sound_crossing", 0.1, 1e-15);
    check_metric(&t, "first_back", 1, 1e-14);
    check_metric(&t, "back_since", 3, 1e-14);
    check_metric(&t, "came_back", 1, 0);
    check_metric(&t, "largest_speed", 7, 0);
    assert_int_equal(t.result.series_count, 2);
    assert_int_equal(t.result.series[1].count, 5);
    check_near("second look", t.result.series[1].values[1], 0.005, 1e-14);
    close_case(&t);
    open_case(&t, "collapse", "cells=2");
    apply(&t, diagonal(0.5, 0.5, 0.5));
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "came_back", 0, 0);
    assert_null(find_metric(&t, "first_back")); /* never came back: not recorded */
    assert_null(find_metric(&t, "back_since"));
    close_case(&t);
}

static void test_noise(void **unused) {
    (void)unused;
    trial a, b, c;
    double largest = 0, apart = 0;
    open_case(&a, "collapse", "cells=4 noise=0.1 seed=3");
    open_case(&b, "collapse", "cells=4 noise=0.1 seed=3");
    open_case(&c, "collapse", "cells=4 noise=0.1 seed=4");
    for (size_t i = 0; i < 3 * a.scene.particles.count; i++) {
        const double centre = i % 3 == 0 ? 0.5 : 0;
        assert_true(a.scene.particles.start[i] == b.scene.particles.start[i]);
        largest = fmax(largest, fabs(a.scene.particles.start[i] - centre));
        apart = fmax(apart, fabs(a.scene.particles.start[i] - c.scene.particles.start[i]));
    }
    print_message("noise up to %.4g m, of 0.025 allowed\n", largest);
    assert_true(largest <= 0.025 && largest > 0.02);
    assert_true(apart > 0.01);
    close_case(&a);
    close_case(&b);
    close_case(&c);
}

/* ---- twist ------------------------------------------------------------------------------------------------------- */

static void test_helix(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "twist", "revolutions=1.5 cells=4");
    memcpy(t.x, t.scene.particles.start, 3 * t.scene.particles.count * sizeof *t.x);
    measure(&t);
    check_metric(&t, "helix_deviation", 0, 1e-14);
    check_metric(&t, "axis_deviation", 0, 1e-15);
    check_metric(&t, "inverted_tets", 0, 0);
    /* 1.5 revolutions at the end x = 1: y and z change sign. */
    const double *rest = t.scene.particles.positions + 3 * (t.scene.particles.count - 1);
    const double *end = t.scene.particles.start + 3 * (t.scene.particles.count - 1);
    check_near("y of the last particle", end[1], -rest[1], 1e-14);
    check_near("z of it", end[2], -rest[2], 1e-14);
    /* Layers are alternately 3 % wider and narrower. The deviation is about the mean over the 11 middle layers (5 to
     * 15, mean sign 1/11); the 5 x 5 particles of a layer have a mean y^2 + z^2 of width^2/4. */
    for (size_t p = 0; p < t.scene.particles.count; p++)
        for (size_t d = 1; d < 3; d++) t.x[3 * p + d] *= p / 25 % 2 ? 0.97 : 1.03;
    measure(&t);
    check_metric(&t, "helix_deviation", 0.03 * 0.5 * sqrt(1 - 1.0 / 121), 1e-14);
    check_metric(&t, "axis_deviation", 0, 1e-15);
    /* Also displaced from the axis, by at most a quarter of the width. */
    for (size_t p = 0; p < t.scene.particles.count; p++)
        t.x[3 * p + 1] += 0.05 * sin(PI * (double)(p / 25) / 20); /* m */
    measure(&t);
    check_metric(&t, "axis_deviation", 0.25, 1e-14);
    close_case(&t);
}

/* Without warping, J of the section is its polar moment a^4/6, so the energy of a helix is 1/6 over 0.140577 times
 * Saint-Venant's. The error from the straight edges of tetrahedra is of second order in their length. */
static void test_saint_venant(void **unused) {
    (void)unused;
    static const char *const words[] = {"cells=4 revolutions=0.001", "cells=8 revolutions=0.001"};
    double off[2];
    for (int i = 0; i < 2; i++) {
        trial t;
        open_case(&t, "twist", words[i]);
        memcpy(t.x, t.scene.particles.start, 3 * t.scene.particles.count * sizeof *t.x);
        measure(&t);
        off[i] = told_metric(&t, "saint_venant_ratio") / (1 / 6.0 / 0.140577) - 1;
        close_case(&t);
    }
    print_message("energy of an unwarped helix over a^4/6: off by %.4g, then %.4g\n", off[0], off[1]);
    check_near("order of the energy", log2(off[0] / off[1]), 2, 0.1);
    check_near("extrapolated", (4 * off[1] - off[0]) / 3, 0, 2e-3);
}

/* ---- Strain energy and stretched bars ---------------------------------------------------------------------------- */

static void test_energy(void **unused) {
    (void)unused;
    /* stvk, stretched along z by 1.2: e = 0.22, psi = (mu + lambda/2) e^2; E = 1000, nu = 0.25: mu = lambda = 400. */
    trial t;
    open_case(&t, "material_sweep", "material=stvk E=1000 nu=0.25 cells=2 length=1 width=0.5");
    apply(&t, diagonal(1, 1, 1.2));
    measure(&t);
    check_metric(&t, "strain_energy", 0.25 * 600 * 0.22 * 0.22, 1e-12);
    check_metric(&t, "smallest_det_F_of_tets", 1.2, 1e-14);
    apply(&t, anywhere());
    measure(&t);
    check_metric(&t, "strain_energy", 0.25 * 600 * 0.22 * 0.22, 1e-12);
    /* The energy of an inverted neo-Hookean body is undefined. */
    close_case(&t);
    open_case(&t, "material_sweep", "cells=2");
    apply(&t, diagonal(1, -1, 1));
    measure(&t);
    assert_null(find_metric(&t, "strain_energy"));
    check_metric(&t, "inverted_tets", 5.0 * 4 * 10, 0);
    close_case(&t);
}

static void test_sag_of_a_known_field(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "material_sweep", "load=surface traction=1000 cells=3 length=2 width=0.3");
    apply(&t, diagonal(0.97, 0.97, 1.1));
    measure(&t);
    check_metric(&t, "sag", 0.2, 1e-14);
    check_metric(&t, "axial_strain", 0.1, 1e-14);
    check_metric(&t, "lateral_strain", -0.03, 1e-14);
    check_metric(&t, "lateral_over_axial", 0.3, 1e-13);
    close_case(&t);
}

static double sag_reference(const char *words) { return reference("material_sweep", words, "sag_reference"); }

/* Neo-Hookean with nu = 0: P = mu (s - 1/s), so s = (p + sqrt(p^2 + 4))/2 with p = P/mu. */
static double neo_hookean_stretch(double p) { return (p + sqrt(p * p + 4)) / 2; }

static void test_sag_references(void **unused) {
    (void)unused;
    /* corotated with nu = 0 is linear: P = E (s - 1). */
    check_near("corotated, pulled, m",
               sag_reference("material=corotated nu=0 load=surface traction=4e4 E=1e5 length=3 cells=1"), 1.2, 1e-12);
    check_near("corotated, own weight, m",
               sag_reference("material=corotated nu=0 E=1e5 density=1000 gravity=10 length=4 cells=1"),
               1e4 * 16 / (2 * 1e5), 1e-12);
    check_near("neo_hookean, pulled, m", sag_reference("nu=0 load=surface traction=1e5 E=1e5 length=1 cells=1"),
               neo_hookean_stretch(2) - 1, 1e-12);
    double integral = 0; /* Simpson over the height: w length = 1.5 mu */
    for (int i = 0; i <= 200; i++)
        integral += (i == 0 || i == 200 ? 1 : i % 2 ? 4 : 2) / 600.0 * (neo_hookean_stretch(1.5 * i / 200) - 1);
    check_near("neo_hookean, own weight, m", sag_reference("nu=0 E=2e4 density=1500 gravity=10 length=1 cells=1"),
               integral, 1e-9);
    /* For small strain and any law, lateral over axial strain is nu. */
    check_near("nu", reference("material_sweep", "nu=0.35 gravity=1e-4 cells=1", "lateral_over_axial_reference"), 0.35,
               1e-6);
    /* Hencky: P = E log(s)/s, and the lateral stretch is s^-nu. Gravity is such that s is 1.2 half-way down, where half
     * of the weight hangs. */
    char words[120];
    snprintf(words, sizeof words, "material=hencky nu=0.3 E=1e5 density=100 length=1 cells=1 gravity=%.17g",
             2e3 * log(1.2) / 1.2);
    check_near("hencky, half-way down", reference("material_sweep", words, "lateral_over_axial_reference"),
               (1 - pow(1.2, -0.3)) / 0.2, 1e-10);
    /* No sag without load; and a load above what Hencky's law can bear: its nominal stress is E log(s)/s <= E/e. */
    check_near("no weight", sag_reference("gravity=0 cells=1"), 0, 1e-15);
    trial t;
    open_case(&t, "material_sweep", "material=hencky nu=0 load=surface traction=40000 cells=1");
    measure(&t);
    assert_null(find_metric(&t, "sag_reference"));
    assert_int_equal(t.result.warnings, 1);
    assert_string_equal(t.result.warning[0].name, "no_reference");
    close_case(&t);
}

/* ---- heavy_drop -------------------------------------------------------------------------------------------------- */

static void test_plate(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "heavy_drop", "cells=4 yield_strain=0.02 creep=30 load_time=1 duration=2");
    check_near("yield", t.scene.material->yield_strain, 0.02, 0);
    check_near("creep, 1/s", t.scene.material->creep, 30, 0);
    assert_string_equal(t.scene.material->law, "stvk");
    static const double down[] = {0, 0.2, -0.05, 0.03};
    for (int look = 0; look < 4; look++) {
        for (size_t p = 0; p < t.scene.particles.count; p++)
            t.x[3 * p + 2] =
                t.scene.particles.positions[3 * p + 2] - down[look] * sin(PI * t.scene.particles.positions[3 * p]);
        observe(&t, look);
    }
    measure(&t);
    /* The span has an odd number of cubes (7): the layer nearest to its middle is at 3/7. */
    const double there = sin(PI * 3 / 7);
    check_metric(&t, "largest_deflection", 0.2 * there, 1e-14);
    check_metric(&t, "residual_deflection", 0.03 * there, 1e-14);
    check_metric(&t, "kept_deflection", 0.15, 1e-13);
    assert_int_equal(t.result.series_count, 3 + 3); /* sampled over time; and the shape at the end */
    check_near("z of the last particle", t.result.series[5].values[t.scene.particles.count - 1],
               t.x[3 * t.scene.particles.count - 1], 0);
    close_case(&t);
    open_case(&t, "heavy_drop", "cells=4");
    apply(&t, anywhere());
    measure(&t);
    check_metric(&t, "rest_shape_error", 0, 3e-14);
    close_case(&t);
}

/* A patch as large as the plate: the relative pressure is 1 at nodes between the held ends and falls to 0 at these.
 * Along x, linear shape functions give the nodes 1/6, 5/6, 1 ... 1, 5/6, 1/6 of W/(cubes - 1). Across, the pressure is
 * uniform, and an edge gets half. It is linear in x over each cube, so triangles give the same weight and torques. */
static void test_weights_are_consistent(void **unused) {
    (void)unused;
    const double weight = 0.5 * 9.81;
    trial t;
    open_case(&t, "heavy_drop", "cells=4 objects=1 object_mass=0.5 object_radius=10");
    const size_t n = t.scene.particles.count;
    const double *x = t.scene.particles.positions, h = 1.0 / 7;
    double *by_triangles = calloc(3 * n, sizeof *by_triangles);
    double total[2] = {0}, turn[2][2] = {{0}};
    assert_true(by_triangles != NULL);
    surface_load_add(&t.scene, 3, by_triangles);
    for (size_t p = 0; p < n; p++) {
        const double end = fmin(x[3 * p], 1 - x[3 * p]) / h, side = fabs(x[3 * p + 1]);
        const double along = end < 0.5 ? 1.0 / 6 : end < 1.5 ? 5.0 / 6 : 1, across = side > 0.29 ? 0.5 : 1;
        const double wanted = x[3 * p + 2] > 0.07 ? weight / 6 * along / 4 * across : 0;
        const double *forces[2] = {t.scene.loads.forces + 3 * p, by_triangles + 3 * p};
        check_near("force, N", forces[0][2], -wanted, 1e-14);
        for (int k = 0; k < 2; k++) {
            total[k] += forces[k][2];
            turn[k][0] += (x[3 * p] - 0.5) * forces[k][2];
            turn[k][1] += x[3 * p + 1] * forces[k][2];
        }
    }
    for (int k = 0; k < 2; k++) {
        check_near("weight, N", total[k], -weight, 1e-13);
        check_near("torque about y, N m", turn[k][0], 0, 1e-13);
        check_near("torque about x, N m", turn[k][1], 0, 1e-13);
    }
    free(by_triangles);
    close_case(&t);
}

/* ---- one_element ------------------------------------------------------------------------------------------------- */

/* E 1000 Pa, nu 0: lambda 0, mu 500 Pa. StVK stretched by s: e = (s^2 - 1)/2, psi = mu e^2. A corner tetrahedron with
 * edges of 2 m has 8/6 m^3. Whatever the masses, the energy's gradient is along x at the first corner, and opposite at
 * the last. */
static void test_one_element(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "one_element", "material=stvk nu=0 size=2 motion=stretch amount=0.2 masses=uneven density=300");
    const double mass = 300 * 8.0 / 6, e = (1.44 - 1) / 2, after = (1.21 - 1) / 2;
    memcpy(t.x, t.scene.particles.start, 3 * t.scene.particles.count * sizeof *t.x);
    measure(&t);
    check_metric(&t, "moved", 0, 0);
    check_metric(&t, "energy_start", 500 * e * e * 8 / 6, 1e-12);
    check_metric(&t, "stretch_x_start", 1.2, 1e-15);
    check_metric(&t, "stretch_change", 0, 0);
    assert_null(find_metric(&t, "direction_error")); /* nothing has moved */
    /* Motion along the gradient: m dx of the first and the last corner are opposite. Their masses are 1 : 4. */
    check_near("mass of the first, kg", t.scene.particles.masses[0], mass / 10, 1e-12);
    check_near("mass of the last, kg", t.scene.particles.masses[3], 4 * mass / 10, 1e-12);
    t.x[0] -= 0.16;
    t.x[9] += 0.04;
    measure(&t);
    check_metric(&t, "moved", 0.08, 1e-15);
    check_metric(&t, "direction_error", 0, 1e-8);
    check_metric(&t, "impulse_sum", 0, 1e-15);
    check_metric(&t, "moment_sum", 0, 1e-15);
    check_metric(&t, "stretch_x", 1.1, 1e-15);
    check_metric(&t, "cosine_xy", -0.02 / sqrt(1 + 0.02 * 0.02), 1e-15); /* the last corner moved by 0.02 edges */
    t.x[9] -= 0.04; /* last corner back: half of the gradient's square is lost, the impulse is not balanced */
    measure(&t);
    check_metric(&t, "impulse_sum", 1, 1e-15);
    check_metric(&t, "direction_error", sqrt(2 - sqrt(2)), 1e-8); /* unit vectors at 45 degrees */
    t.x[0] += 0.16 - 0.2;                                         /* a stretch of 1.1 alone */
    measure(&t);
    check_metric(&t, "energy_end", 500 * after * after * 8 / 6, 1e-12);
    apply(&t, anywhere());
    measure(&t);
    check_metric(&t, "energy_end", 500 * after * after * 8 / 6, 1e-11);
    close_case(&t);
    /* A membrane of 2 m^2: lambda of plane stress is E nu/(1 - nu^2) = 800/3 Pa; there is no strain across it. */
    open_case(&t, "one_element", "cell=triangle material=stvk nu=0.25 size=2 motion=shear amount=0.5 density=300");
    memcpy(t.x, t.scene.particles.start, 3 * t.scene.particles.count * sizeof *t.x);
    measure(&t);
    /* C = [1 0.5; 0.5 1.25]: E = [0 0.25; 0.25 0.125]. */
    check_metric(&t, "energy_start", 2 * (800 / 6.0 * 0.125 * 0.125 + 400 * (2 * 0.0625 + 0.125 * 0.125)), 1e-12);
    check_metric(&t, "cosine_xy_start", 0.5 / sqrt(1.25), 1e-15);
    assert_null(find_metric(&t, "stretch_z"));
    close_case(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape_error),
        cmocka_unit_test(test_coming_back),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_helix),
        cmocka_unit_test(test_saint_venant),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_sag_of_a_known_field),
        cmocka_unit_test(test_sag_references),
        cmocka_unit_test(test_plate),
        cmocka_unit_test(test_weights_are_consistent),
        cmocka_unit_test(test_one_element),
    };
    return cmocka_run_group_tests_name("bar cases", tests, NULL, NULL);
}
