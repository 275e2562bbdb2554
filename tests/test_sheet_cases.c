/* Cases of sheets: metrics on prescribed fields, read through a mock method; references against closed forms. */
#include "tests/prescribed_maps.h"

/* ---- Sheets ------------------------------------------------------------------------------------------------------ */

/* R(45) diag(a, b) R(45)^T: the fibre at 45 degrees stretched by a, its perpendicular by b. */
static map along_fibre(double a, double b) {
    const double mean = (a + b) / 2, half = (a - b) / 2;
    return (map){{{mean, half, 0}, {half, mean, 0}, {0, 0, 1}}, {0, 0, 0}};
}

static void check_towel_field(trial *t) {
    measure(t);
    check_metric(t, "stretch_fibre", 1.1, 1e-14);
    check_metric(t, "stretch_perpendicular", 1.5, 1e-14);
    check_metric(t, "perpendicular_over_fibre", 1.5 / 1.1, 1e-14);
    check_metric(t, "principal_angle", -45, 1e-11);
    check_metric(t, "principal_stretch", 1.5, 1e-14);
    /* The images of x and y have the scalar product (a^2 - b^2)/2 and the square length (a^2 + b^2)/2. */
    check_metric(t, "shear_angle", asin((1.21 - 2.25) / (1.21 + 2.25)) * 180 / PI, 1e-11);
    check_metric(t, "inverted_triangles", 0, 0);
}

static void test_towel_field(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "towel", "cells=4 length=1.5");
    apply(&t, along_fibre(1.1, 1.5));
    check_towel_field(&t);
    apply(&t, anywhere());
    check_towel_field(&t);
    close_case(&t);
    /* A corner that belongs to one triangle only is folded in, so that the triangle shows its back. */
    open_case(&t, "towel", "cells=3");
    size_t alone = SIZE_MAX;
    for (size_t p = 0; p < t.scene.particles.count; p++) {
        size_t uses = 0;
        for (size_t k = 0; k < 3 * t.scene.triangles.count; k++) uses += t.scene.triangles.corner[k] == p;
        if (uses == 1) alone = p;
    }
    assert_true(alone != SIZE_MAX);
    const double to_middle[2] = {0.5 - t.x[3 * alone], 0 - t.x[3 * alone + 1]};
    t.x[3 * alone] += 0.4 * copysign(1, to_middle[0]);
    t.x[3 * alone + 1] += 0.4 * copysign(1, to_middle[1]);
    measure(&t);
    check_metric(&t, "inverted_triangles", 1, 0);
    close_case(&t);
    /* A fibre along x: stretches along the axes of the sheet. */
    open_case(&t, "towel", "cells=4 fibre_angle=0");
    apply(&t, diagonal(1.05, 1.3, 1));
    measure(&t);
    check_metric(&t, "stretch_fibre", 1.05, 1e-14);
    check_metric(&t, "stretch_perpendicular", 1.3, 1e-14);
    check_metric(&t, "principal_angle", 90, 1e-11);
    check_metric(&t, "shear_angle", 0, 1e-12);
    close_case(&t);
}

static void test_towel_references(void **unused) {
    (void)unused;
    /* corotated: 2 mu + 2 lambda in plane stress is E/(1 - nu). pull/thickness = 20 Pa; E = 200 Pa. */
    const char *plain = "material=corotated fibre_stiffness=0 E=200 nu=0.25 thickness=0.01 pull=0.2";
    check_near("no fibre", reference("towel", plain, "stretch_fibre_reference"), 1 + 0.1 * 0.75, 1e-12);
    check_near("no fibre, across", reference("towel", plain, "stretch_perpendicular_reference"), 1 + 0.1 * 0.75, 1e-12);
    /* With nu = 0 the directions are decoupled: E (s - 1) + beta (s - 1/s) = t along the fibre. */
    const char *stiff = "material=corotated fibre_stiffness=300 E=200 nu=0 thickness=0.01 pull=0.4 fibre_angle=30";
    const double beta = 300, E = 200, stress = 40;
    const double s = (E + stress + sqrt((E + stress) * (E + stress) + 4 * beta * (E + beta))) / (2 * (E + beta));
    check_near("fibre", reference("towel", stiff, "stretch_fibre_reference"), s, 1e-12);
    check_near("across it", reference("towel", stiff, "stretch_perpendicular_reference"), 1.2, 1e-12);
    /* A second fibre across the first: the directions are decoupled at nu = 0. */
    const char *woven =
        "material=corotated fibre_stiffness=300 second_stiffness=100 E=200 nu=0 thickness=0.01 pull=0.4";
    const double beta2 = 100,
                 s2 = (E + stress + sqrt((E + stress) * (E + stress) + 4 * beta2 * (E + beta2))) / (2 * (E + beta2));
    check_near("the first of two fibres", reference("towel", woven, "stretch_fibre_reference"), s, 1e-12);
    check_near("the second", reference("towel", woven, "stretch_perpendicular_reference"), s2, 1e-12);
    /* A sheet in the reference state has zero error, at any angle of the fibre. */
    trial t;
    open_case(&t, "towel", stiff);
    apply(&t, turn(-30 * PI / 180));
    apply(&t, diagonal(s, 1.2, 1));
    measure(&t);
    check_metric(&t, "stretch_error", 0, 1e-12);
    close_case(&t);
}

static void test_hanging_sheet(void **unused) {
    (void)unused;
    /* The linear sag in plane stress is rho g length^2/(2 E) for every nu. */
    check_near(
        "corotated, m",
        reference("hanging_sheet", "material=corotated fibre_stiffness=0 nu=0.3 E=1e4 gravity=10 length=2 density=100",
                  "sag_reference"),
        1e3 * 4 / (2e4), 1e-12);
    /* A vertical fibre adds twice its stiffness to the modulus. */
    const double small = reference(
        "hanging_sheet", "fibre_angle=0 fibre_stiffness=2e4 nu=0 E=1e4 gravity=1e-3 length=2", "sag_reference");
    check_near("fibre down, over rho g length^2/(2 (E + 2 beta))", small / (0.1 * 4 / 1e5), 1, 1e-5);
    trial t;
    open_case(&t, "hanging_sheet", "fibre_stiffness=1000 fibre_angle=45 cells=4 length=2");
    for (size_t p = 0; p < t.scene.particles.count; p++) { /* F z = 1.1 z - 0.2 y: sheared and stretched */
        const double down = -t.scene.particles.positions[3 * p + 2];
        t.x[3 * p + 2] *= 1.1;
        t.x[3 * p + 1] += 0.2 * down;
    }
    measure(&t);
    check_metric(&t, "sag", 0.2, 1e-14);
    check_metric(&t, "drift", 0.4, 1e-14);
    check_metric(&t, "shear_angle", atan(0.2 / 1.1) * 180 / PI, 1e-11); /* down tilts towards y */
    /* The fibre is (down + y)/sqrt 2: its image is (1.1 down, 1.2 y)/sqrt 2. */
    check_metric(&t, "stretch_fibre", sqrt((1.21 + 1.44) / 2), 1e-14);
    check_metric(&t, "stretch_perpendicular", sqrt((1.21 + 0.64) / 2), 1e-14);
    assert_null(find_metric(&t, "sag_reference")); /* oblique fibres shear the sheet: there is no reference */
    close_case(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_towel_field),
        cmocka_unit_test(test_towel_references),
        cmocka_unit_test(test_hanging_sheet),
    };
    return cmocka_run_group_tests_name("sheet cases", tests, NULL, NULL);
}
