/* fem_implicit on the cantilever, against Timoshenko's beam and what theory says of its elements. Its ladder is not
 * complete: patch tests, convergence orders and the dynamics are still to come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include <math.h>

#include "program.h"

static json_t *bend(const char *element, const char *setting, int code) {
    char word[60];
    snprintf(word, sizeof word, "element=%s", element);
    told answer = tell("run", "cantilever", "-m", "fem_implicit", "-s", word, "-s", "cells=2", "-s", setting, "-s",
                       "E=1e7", "-s", "nu=0", "-t", "1", "--json", "--no-store");
    expect_code(answer, code);
    json_t *run = json_loads(answer.out, 0, NULL);
    assert_non_null(run);
    forget(&answer);
    return run;
}

static double metric(const json_t *run, const char *name) {
    return json_number_value(json_object_get(json_object_get(json_object_get(run, "metrics"), name), "value"));
}

/* At nu = 0 and small load the quadratic elements are within half a percent of Timoshenko; the linear ones lock. */
static void quadratic_elements_bend_as_timoshenko_says(void **state) {
    (void)state;
    static const struct {
        const char *element;
        double low, high;
    } row[] = {{"hex27", 0.995, 1.005}, {"tet10", 0.995, 1.005}, {"hex8", 0.8, 0.95}, {"tet4", 0.5, 0.8}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        json_t *run = bend(row[i].element, "material=neo_hookean", 0);
        const double ratio = metric(run, "timoshenko_ratio");
        if (!(ratio > row[i].low && ratio < row[i].high))
            fail_msg("%s: %g of Timoshenko's, expected %g to %g", row[i].element, ratio, row[i].low, row[i].high);
        assert_true(metric(run, "newton_iterations") <= 6 && metric(run, "smallest_det_F") > 0.9);
        json_decref(run);
    }
}

/* All laws agree for small strain. */
static void laws_agree_for_small_loads(void **state) {
    (void)state;
    static const char *const laws[] = {"material=corotated", "material=stvk", "material=stable_neo_hookean",
                                       "material=hencky"};
    json_t *run = bend("hex8", "material=neo_hookean", 0);
    const double first = metric(run, "tip_deflection");
    json_decref(run);
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        run = bend("hex8", laws[i], 0);
        assert_true(fabs(metric(run, "tip_deflection") / first - 1) < 0.002);
        json_decref(run);
    }
}

static void bad_input_is_refused(void **state) {
    (void)state;
    told answer = tell("run", "cantilever", "-m", "fem_implicit", "-s", "nu=0.5");
    expect_code(answer, 2);
    forget(&answer);
    answer = tell("run", "cantilever", "-m", "fem_implicit", "-s", "element=hex9");
    expect_code(answer, 2);
    expect_says(answer.err, "hex8");
    forget(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quadratic_elements_bend_as_timoshenko_says),
        cmocka_unit_test(laws_agree_for_small_loads),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
