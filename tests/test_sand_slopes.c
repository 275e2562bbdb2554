/* Slowly released sand comes to rest at the slope that follows from Drucker and Prager's cone in plane shear: the
 * formula against heaps by xpbi. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/program.h"
#include "tests/sanitized.h"

static double slope_of(int degrees) {
    char angle[40];
    snprintf(angle, sizeof angle, "friction_angle=%d", degrees);
    told t = tell("run", "sand_column", "-m", "xpbi", "-p", "f32", "-t", "1", "--no-store", "--json", "-q", "-s",
                  "dt=1e-3", "-s", "iterations=5", "-s", "shape=plane", "-s", "layers=4", "-s", "particles=400", "-s",
                  "sampling=poisson", "-s", "volume_correction=off", "-s", "floor_friction=1", "-s", "damping=30", "-s",
                  "duration=1", "-s", angle);
    const char *name = "\"rest_angle\":{\"value\":";
    expect_code(t, 0);
    expect_says(t.out, name);
    const double slope = strtod(strstr(t.out, name) + strlen(name), NULL);
    forget(&t);
    return slope;
}

/* |dev| = alpha |tr| in shear at constant volume, with alpha from triaxial compression, gives
 * tan(slope) = sqrt(3) 2 sin phi/(3 - sin phi). With a dozen spacings of height it is reached within 4 degrees. */
static void test_heaps_stand_as_their_cone_bears(void **state) {
    (void)state;
    skip_if_sanitized();
    for (int degrees = 20; degrees <= 30; degrees += 10) {
        const double sine = sin(degrees * acos(-1) / 180);
        const double wanted = atan(sqrt(3) * 2 * sine / (3 - sine)) * 180 / acos(-1), got = slope_of(degrees);
        print_message("  phi %d: slope %.1f degrees, its cone bears %.1f\n", degrees, got, wanted);
        assert_true(fabs(got - wanted) <= 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_heaps_stand_as_their_cone_bears)};
    return cmocka_run_group_tests_name("sand_slopes", tests, NULL, remove_workplace);
}
