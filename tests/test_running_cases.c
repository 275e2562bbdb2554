/* Sand flowing through a neck and clay pressed through holes: the metrics of the cases on states displaced by hand. */
#include "cases/case.h"
#include "tests/ladder.h"

#include "tests/trial.h"

static const double PI = 3.14159265358979323846;

static double sum(const double *x, size_t count) {
    double total = 0;
    for (size_t i = 0; i < count; i++) total += x[i];
    return total;
}

static void test_hourglass(void **state) {
    (void)state;
    trial t;
    open_case(&t, "hourglass",
              "neck=0.05 end_radius=0.1 bulb=0.1 filling=0.5 particles=3000 sampling=poisson density=1000");
    const size_t n = t.scene.particles.count;
    /* A frustum from 0.05 to 0.075 m, 0.05 m high. */
    const double volume = PI / 3 * 0.05 * (0.0025 + 0.00375 + 0.005625);
    check_near("mass", sum(t.scene.particles.masses, n) / (1000 * volume), 1, 1e-12);
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "share_below", 0, 0);
    check_metric(&t, "most_outside_glass", 0, 0);
    /* A quarter is below after 1 s, three quarters after 3 s: 0.4 of the mass in 2 s. */
    for (size_t i = 0; i < n / 4; i++) t.x[3 * i + 2] *= -1;
    observe(&t, 1);
    for (size_t i = n / 4; i < 3 * n / 4; i++) t.x[3 * i + 2] *= -1;
    observe(&t, 3);
    measure(&t);
    check_metric(&t, "share_below", 0.75, 1e-12);
    check_metric(&t, "discharge_rate", 0.4 * 1000 * volume / 2, 1e-9);
    check_metric(&t, "discharge_rate_by_neck", 0.2 * volume / (sqrt(9.81) * pow(0.1, 2.5)), 1e-9);
    check_metric(&t, "most_outside_glass", 0, 0); /* the glass is the same upside down */
    t.x[0] = 0.2;
    observe(&t, 4);
    measure(&t);
    check_metric(&t, "most_outside_glass", 1, 0);
    close_case(&t);
}

static void test_extrusion(void **state) {
    (void)state;
    trial t;
    open_case(&t, "extrusion",
              "mould_radius=0.1 filling=0.2 plate=0.02 drop=0.5 speed=0.5 left=0.05 particles=2000 "
              "sampling=poisson density=1000");
    const size_t n = t.scene.particles.count;
    check_near("mass", sum(t.scene.particles.masses, n), 1000 * PI * 0.01 * 0.2, 1e-9);
    check_near("the piston stops, s", t.scene.colliders.item[1].end, 0.3, 1e-12);
    observe(&t, 0);
    measure(&t);
    check_metric(&t, "share_pressed", 0, 0);
    check_metric(&t, "deepest_in_walls", 0, 0);
    check_metric(&t, "noodles", 0, 0);
    for (size_t i = 0; i < n; i++) t.x[3 * i + 2] -= 0.25;
    observe(&t, 0.1);
    measure(&t);
    check_metric(&t, "share_pressed", 1, 0);
    check_metric(&t, "noodles", 1, 0);
    for (size_t i = 0; i < n; i++) t.x[3 * i] += t.x[3 * i] > 0 ? 1 : 0; /* torn into halves */
    t.x[1] = 5;
    observe(&t, 0.2);
    measure(&t);
    check_metric(&t, "noodles", 2, 0);
    check_metric(&t, "crumbs", 1, 0);
    close_case(&t);
}

static void test_refusals(void **state) {
    (void)state;
    static const char *const bad[][3] = {{"hourglass", "neck=0.2", "narrow in the middle"},
                                         {"hourglass", "filling=1.5", "filling"},
                                         {"extrusion", "drop=0.01", "puts the floor into"},
                                         {"extrusion", "hole_radius=0", "hole_radius"}};
    check_refusals(bad, sizeof bad / sizeof *bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hourglass), cmocka_unit_test(test_extrusion),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("running_cases", tests, NULL, NULL);
}
