/* `auto`: the chosen values, dt against the formula of pressure waves; a run with auto has the same id as the run with
 * the value; and scenes that diverged with former defaults. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/program.h"

/* A cube of 125 particles. */
#define CUBE "sampled_shape", "-s", "shape=box", "-s", "spacing=0.2", "-s", "duration=1e-3", "-q"

static json_t *run_of(told t) {
    expect_code(t, 0);
    json_t *run = json_loads(t.out, JSON_REJECT_DUPLICATES, NULL);
    if (!run) fail_msg("no run: %s", t.out);
    forget(&t);
    return run;
}

static double dt_of(const json_t *run) {
    return json_number_value(json_object_get(json_object_get(run, "params"), "dt"));
}

/* Expected dt, s. Particles are 0.2 m apart. c = sqrt(E (1 - nu)/((1 + nu)(1 - 2 nu) density)) with nu = 0.3 and
 * 1000 kg/m^3 is 11.6024 m/s at E = 1e5. dt is rounded down to two digits. */
static const struct {
    const char *method, *E, *more;
    double dt;
} choices[] = {
    {"corrected_sph", "1e5", "substeps=1", 0.005},  /* 0.2/11.6024 = 0.01724 s: limited by the longest step */
    {"corrected_sph", "1e7", "substeps=1", 0.0017}, /* 0.001724 */
    {"corrected_sph", "1e7", "substeps=2", 0.0034}, /* 0.003448 */
    {"corrected_sph", "1e7", "dt=auto", 0.0017},
    {"corrected_sph", "1e7", "dt=2e-3", 0.002},
    {"mlsrk", "1e9", "substeps=1", 1.7e-4},
    {"tlsph", "1e5", "substeps=1", 1e-3},    /* the longest step */
    {"tlsph", "1e7", "hourglass=0", 8.6e-4}, /* half of 0.001724 s */
    {"tlsph", "1e7", "substeps=1", 7.4e-4},  /* divided by sqrt(1 + 0.7 * 0.5) */
    {"mpm", "1e7", "substeps=1", 1e-4},      /* half a cell of 0.4 m: 0.001724 s */
    {"mpm", "1e11", "substeps=1", 1.7e-5},
    {"mpm", "1e11", "cell=1", 8.6e-6},
    {"xpbi", "1e5", "iterations=10", 1e-3}, /* implicit: between 1e-4 and 1e-3 s */
    {"xpbi", "1e9", "iterations=10", 1.7e-4},
    {"xpbi", "1e11", "iterations=10", 1e-4},
};

static void test_numbers(void **unused) {
    (void)unused;
    for (size_t k = 0; k < sizeof choices / sizeof *choices; k++) {
        char E[40];
        snprintf(E, sizeof E, "E=%s", choices[k].E);
        json_t *run =
            run_of(tell("run", CUBE, "-m", choices[k].method, "-s", E, "-s", choices[k].more, "--json", "--no-store"));
        print_message("    %s %s %s: dt=%g\n", choices[k].method, E, choices[k].more, dt_of(run));
        assert_true(fabs(dt_of(run) / choices[k].dt - 1) < 1e-12);
        json_decref(run);
    }
}

static double number_of(const json_t *run, const char *parameter) {
    return json_number_value(json_object_get(json_object_get(run, "params"), parameter));
}

/* yu2024, section 4.4: c = 0.01; elastic matter is not smoothed. pbf: c is the liquid's viscosity. xpbd_grains: tan of
 * the friction angle. */
static const struct {
    const char *with[8], *parameter;
    double value;
} others[] = {
    {{"sampled_shape", "xpbi", "shape=box", "spacing=0.2", "duration=1e-3"}, "xsph", 0},
    {{"sand_column", "xpbi", "particles=150", "duration=1e-3"}, "xsph", 0.01},
    {{"sand_column", "xpbi", "particles=150", "duration=1e-3"}, "dt", 1e-4},
    {{"sand_column", "xpbi", "particles=150", "duration=1e-3", "xsph=0"}, "xsph", 0},
    {{"still_water", "pbf", "cells=5", "duration=0.01"}, "xsph", 0.01},
    {{"still_water", "pbf", "cells=5", "duration=0.01", "viscosity=0.123456"}, "xsph", 0.123456},
    {{"sand_column", "xpbd_grains", "particles=150", "duration=1e-3", "friction_angle=40"},
     "grain_friction",
     0.8390996311772799},
};

static void test_others(void **unused) {
    (void)unused;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        const char *const *with = others[k].with, *set[8];
        for (size_t i = 2; i < 8; i++) set[i] = with[i] ? with[i] : with[2]; /* a repeated setting changes nothing */
        json_t *run = run_of(tell("run", with[0], "-m", with[1], "-s", set[2], "-s", set[3], "-s", set[4], "-s", set[5],
                                  "-q", "--json", "--no-store"));
        print_message("    %s %s: %s=%.17g\n", with[0], with[1], others[k].parameter,
                      number_of(run, others[k].parameter));
        assert_true(fabs(number_of(run, others[k].parameter) - others[k].value) <= 1e-15);
        json_decref(run);
    }
}

/* auto chooses rest kernels and springs for elastic matter, and rest kernels only where no other option excludes them.
 */
static const struct {
    const char *with[3], *kernel;
    double control;
} kernels[] = {
    {{"sampled_shape", "shape=box", "E=1e5"}, "rest", 3},
    {{"goo_drop", "flow=snow", "E=1e5"}, "current", 0},
    {{"sampled_shape", "shape=box", "gradient_correction=off"}, "current", 3},
    {{"sampled_shape", "shape=box", "position_correction=shift"}, "current", 3},
    {{"blocks_collide", "flow=none", "E=1e5"}, "current", 3},
    {{"sampled_shape", "kernel=current", "hourglass_control=0"}, "current", 0},
};

static void test_kernels(void **unused) {
    (void)unused;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        json_t *run = run_of(tell("run", kernels[k].with[0], "-m", "xpbi", "-s", "particles=150", "-s", "duration=1e-3",
                                  "-s", kernels[k].with[1], "-s", kernels[k].with[2], "-q", "--json", "--no-store"));
        const json_t *params = json_object_get(run, "params");
        assert_string_equal(json_string_value(json_object_get(params, "kernel")), kernels[k].kernel);
        assert_true(number_of(run, "hourglass_control") == kernels[k].control);
        json_decref(run);
    }
}

static void test_identity(void **unused) {
    (void)unused;
    char db[PATH_MAX + 320];
    snprintf(db, sizeof db, "%s", in_workplace("auto.db"));
    json_t *chosen = run_of(tell("run", CUBE, "-m", "corrected_sph", "-s", "E=1e7", "--json", "--db", db));
    json_t *given =
        run_of(tell("run", CUBE, "-m", "corrected_sph", "-s", "E=1e7", "-s", "dt=0.0017", "--json", "--db", db));
    assert_string_equal(json_string_value(json_object_get(chosen, "run_id")),
                        json_string_value(json_object_get(given, "run_id")));
    json_decref(chosen);
    json_decref(given);
    told t = tell("run", CUBE, "-m", "corrected_sph", "-s", "E=1e7", "--db", db);
    expect_says(t.out, "  auto: dt=0.0017\n");
    expect_says(t.out, "already in the store");
    forget(&t);
    t = tell("run", CUBE, "-m", "corrected_sph", "-s", "E=1e7", "-s", "dt=0.0017", "--db", db);
    assert_null(strstr(t.out, "auto:"));
    forget(&t);
}

static void test_words(void **unused) {
    (void)unused;
    told t = tell("run", "sampled_shape", "-m", "mpm", "--help");
    expect_says(t.out, "(0, 1000] s, or auto; default auto");
    forget(&t);
    t = tell("run", "sampled_shape", "-m", "xpbi", "--help");
    expect_says(t.out, "[0, 1], or auto; default auto");
    forget(&t);
    t = tell("run", CUBE, "-m", "xpbi", "-s", "xsph=-1", "--no-store");
    expect_code(t, 2);
    expect_says(t.err, "xsph=-1 is out of range");
    forget(&t);
    t = tell("run", CUBE, "-m", "pbf", "-s", "dt=auto", "--no-store");
    expect_code(t, 2);
    expect_says(t.err, "dt='auto' is not a number");
    forget(&t);
    t = tell("run", CUBE, "-m", "mpm", "-s", "damping=auto", "--no-store");
    expect_code(t, 2);
    expect_says(t.err, "damping='auto' is not a number");
    forget(&t);
    t = tell("run", CUBE, "-m", "mpm", "-a", "dt=auto,1e-4", "-s", "E=1e11", "--no-store", "--json");
    expect_says(t.out, "\"dt\":0.0001,");
    assert_null(strstr(strchr(t.out, '\n'), "\"state\":\"ok\"")); /* the longer step */
    *strchr(t.out, '\n') = '\0';
    t.code = 0;
    json_t *first = run_of(t);
    assert_true(fabs(dt_of(first) / 1.7e-5 - 1) < 1e-12);
    json_decref(first);
    t = tell("run", "sampled_shape", "-m", "mpm", "-s", "spacing=-1", "--no-store"); /* as without auto */
    expect_code(t, 2);
    expect_says(t.err, "spacing=-1 is out of range");
    forget(&t);
}

static double metric_of(const json_t *run, const char *name) {
    return json_number_value(json_object_get(json_object_get(json_object_get(run, "metrics"), name), "value"));
}

/* A wave takes 1.363 ms from node to node: nodes are 0.05 m apart, c is 36.69 m/s at 1e5 Pa and 100 kg/m^3. With a step
 * of 0.005 s, 3.6 times that, the first run diverged and the second kept 0.34 of its residual. */
static void test_elements_converge(void **unused) {
    (void)unused;
    static const char *const run[][2] = {{"twist", "mode=dynamic"}, {"bounce", "friction=0"}};
    for (size_t k = 0; k < 2; k++) {
        json_t *at = run_of(tell("run", run[k][0], "-m", "strain_energy", "-s", run[k][1], "-s", "duration=0.1", "-q",
                                 "--json", "--no-store"));
        print_message("    %s: residual_left %g\n", run[k][0], metric_of(at, "worst_residual_left"));
        assert_true(metric_of(at, "worst_residual_left") < 0.1);
        assert_true(fabs(dt_of(at) / 0.0013 - 1) < 1e-12);
        json_decref(at);
    }
}

/* Each used to end as `diverged`: a step of 0.005 s was 1.2 and 5.8 times as long as a wave takes from particle to
 * particle; and a cut inverts particles, for which neo_hookean is undefined. */
static void test_stable(void **unused) {
    (void)unused;
    json_decref(run_of(tell("run", "tori", "-m", "mlsrk", "-s", "duration=0.3", "-q", "--json", "--no-store")));
    json_decref(run_of(tell("run", "sausages", "-m", "mlsrk", "-s", "duration=0.65", "-q", "--json", "--no-store")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),           cmocka_unit_test(test_others), cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_identity),          cmocka_unit_test(test_words),  cmocka_unit_test(test_stable),
        cmocka_unit_test(test_elements_converge),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
