/* Bars, plates and sheets: results of a method against the cases' references, which are computed independently. */
#include "harness/catalog/resolve.h"
#include "tests/ladder.h"

#include "harness/run/run.h"

/* ---- With a method: its answers and the references are found in different ways ---------------------------------- */

/* Makes a whole run in f64 and returns one of its metrics. */
static double metric_of_method(const char *method, const char *name, const char *words, const char *metric) {
    pbd_plan_item item = {.seed = 1};
    pbd_setting setting[32];
    pbd_result result = {0};
    char text[600], *save = NULL;
    size_t count = 0;
    double value = NAN;
    item.cell = (pbd_cell){.precision = PBD_PRECISION_F64, .threads = 1};
    check_ok(pbd_find_method(method, &item.cell.method));
    check_ok(pbd_find_case(name, &item.cell.c));
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        check_ok(pbd_setting_parse(word, &setting[count++]));
    check_ok(pbd_resolve(item.cell.c, item.cell.method->by_precision[PBD_PRECISION_F64], setting, count,
                         &item.cell.case_values, &item.cell.method_values));
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
    check_ok(pbd_run_cell(&item, &result));
    assert_string_equal(result.state, "ok");
    for (size_t i = 0; i < result.metrics; i++)
        if (strcmp(result.metric[i].name, metric) == 0) value = result.metric[i].value;
    pbd_result_free(&result);
    pbd_values_free(&item.cell.case_values);
    pbd_values_free(&item.cell.method_values);
    return value;
}

static double metric_of_run(const char *name, const char *words, const char *metric) {
    return metric_of_method("strain_energy", name, words, metric);
}

/* Limits cover the motion that remains after a few seconds of damping, and the method's error. */
static void test_against_a_method(void **unused) {
    (void)unused;
    check_near("towel, fibre at 45 degrees",
               metric_of_run("towel", "damping=3 cells=4 duration=10 dt=0.005 iterations=20", "stretch_error"), 0,
               1e-3);
    check_near("towel, not square, fibre at 20 degrees",
               metric_of_run("towel", "damping=3 cells=4 duration=10 dt=0.005 iterations=20 fibre_angle=20 length=1.5",
                             "stretch_error"),
               0, 1e-3);
    check_near("hanging sheet",
               metric_of_run("hanging_sheet", "damping=3 cells=4 nu=0 dt=0.001 duration=4", "sag_ratio"), 1, 5e-3);
    check_near("towel with a second fibre across the first",
               metric_of_run("towel",
                             "damping=3 cells=4 duration=10 dt=0.005 iterations=20 fibre_angle=20 length=1.5 "
                             "second_stiffness=100",
                             "stretch_error"),
               0, 1e-3);
    /* Two equal fibres crossing at 60 degrees have their bisector and its perpendicular as principal axes. */
    check_near("towel with fibres at -30 and 30 degrees: stretched most along y, degrees",
               fabs(metric_of_run("towel",
                                  "damping=3 cells=4 duration=10 dt=0.005 iterations=20 fibre_angle=-30 "
                                  "second_angle=60 second_stiffness=500",
                                  "principal_angle")),
               90, 0.1);
    check_near(
        "hanging sheet, fibre down",
        metric_of_run("hanging_sheet", "damping=3 cells=4 nu=0 dt=0.001 duration=4 fibre_stiffness=1e4 fibre_angle=0",
                      "sag_ratio"),
        1, 5e-3);
    check_near("bar under its weight",
               metric_of_run("material_sweep", "dt=0.001 damping=5 mode=dynamic cells=1 nu=0 duration=3 width=0.25",
                             "sag_ratio"),
               1, 1e-2);
    check_near("inside out, and back",
               metric_of_run("collapse", "start=inside_out dt=0.001 damping=10 join=continuous cells=2", "came_back"),
               1, 0);
    check_near("what an elastic plate keeps",
               metric_of_run("heavy_drop", "damping=3 dt=0.005 cells=4", "kept_deflection"), 0, 0.01);
    const double kept = metric_of_run("heavy_drop", "damping=3 dt=0.005 cells=4 yield_strain=0.02", "kept_deflection");
    print_message("    what a plastic plate keeps: %.3g\n", kept);
    assert_true(kept > 0.3 && kept < 1);
    /* Same tetrahedra and same flow rule; steps of 10 ms and the mass lumping differ. */
    const char *bent = "damping=10 cells=4 dt=0.01 yield_strain=0.02 duration=2";
    check_near("bend kept, of that by fem_implicit",
               metric_of_run("heavy_drop", bent, "residual_deflection") /
                   metric_of_method("fem_implicit", "heavy_drop",
                                    "element=tet4 damping=10 cells=4 dt=0.01 yield_strain=0.02 duration=2",
                                    "residual_deflection"),
               1, 0.06);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_method),
    };
    return cmocka_run_group_tests_name("solid answers", tests, NULL, NULL);
}
