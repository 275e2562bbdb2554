/* Snow hardens as it is compacted, with each way in which a method applies its flow rule: the column of the problem
 * snow-short-steps (cases/problems.yaml), whose target the test problem_references recomputes along one axis. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/program.h"
#include "tests/sanitized.h"

/* The height left of a column that is thrown down between smooth walls. */
static double height_left(const char *method, const char *plasticity, const char *xi) {
    told t = tell("run", "goo_drop", "-m", method, "-t", "1", "--no-store", "--json", "-q", "-s", "shape=cube", "-s",
                  "size=0.2", "-s", "slenderness=8", "-s", "drop=0", "-s", "speed=6", "-s", "confined=on", "-s",
                  "E=5e5", "-s", "nu=0.3", "-s", "density=400", "-s", "floor_friction=0.6", "-s", "duration=0.01", "-s",
                  "dt=0.0001", "-s", "particles=1000", "-s", "flow=snow", "-s", "compression=0.025", "-s",
                  "stretch=0.0075", "-s", xi, plasticity ? "-s" : NULL, plasticity);
    const char *name = "\"height\":{\"value\":";
    expect_code(t, 0);
    expect_says(t.out, name);
    const double height = strtod(strstr(t.out, name) + strlen(name), NULL);
    forget(&t);
    print_message("  %s %s %s: %.3f of the height left\n", method, plasticity ? plasticity : "", xi, height);
    return height;
}

/* 0.88 within the tolerance of the problem. Without hardening the column ends below that. */
static void test_compacted_snow_is_harder(void **state) {
    (void)state;
    skip_if_sanitized();
    static const struct {
        const char *method, *plasticity;
    } ways[] = {{"xpbi", "plasticity=implicit"}, {"xpbi", "plasticity=semi_implicit"}, {"mpm", NULL}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_true(fabs(height_left(ways[i].method, ways[i].plasticity, "xi=10") - 0.88) <= 0.04);
        assert_true(height_left(ways[i].method, ways[i].plasticity, "xi=0") < 0.84);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compacted_snow_is_harder)};
    return cmocka_run_group_tests_name("snow_hardening", tests, NULL, remove_workplace);
}
