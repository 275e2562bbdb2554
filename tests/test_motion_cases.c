/* Metrics of vibrating_bar and spinning_bar against closed forms: first for synthetic oscillations, which test the
 * measurement itself, then for FEM, whose integrators damp an oscillator as in the textbooks. */
#include <jansson.h>

#include "harness/catalog/resolve.h"
#include "tests/element_ladder.h"
#include "tests/program.h"
#include "tests/sanitized.h"

/* ---- Made-up motions --------------------------------------------------------------------------------------------- */

/* A method whose state is a common displacement of all particles along z, m. */
typedef struct made_up {
    const pbd_scene *scene;
    double z;
} made_up;

static pbd_status read_made_up(const void *state, pbd_field field, double *out) {
    const made_up *s = state;
    if (field != PBD_POSITIONS) return pbd_error(PBD_NOT_SUPPORTED, "positions only");
    for (size_t i = 0; i < 3 * s->scene->particles.count; i++)
        out[i] = s->scene->particles.positions[i] + (i % 3 == 2 ? s->z : 0);
    return pbd_ok();
}

static void test_a_decaying_swing_is_measured(void **unused) {
    (void)unused;
    static const double ratio[] = {0, 0.003, 0.05, -0.01}, hertz[] = {0.9, 1.3, 7};
    const pbd_method method = {.read = read_made_up};
    const pbd_case *c;
    const pbd_method_entry *entry;
    check_ok(pbd_find_case("vibrating_bar", &c));
    check_ok(pbd_find_method("fem_implicit", &entry));
    for (size_t k = 0; k < 12; k++) {
        const double zeta = ratio[k % 4], f = hertz[k / 4], omega = 2 * acos(-1) * f / sqrt(1 - zeta * zeta);
        pbd_values values, unneeded;
        pbd_setup setup;
        solver s = {0};
        check_ok(pbd_resolve(c, entry->by_precision[1], NULL, 0, &values, &unneeded));
        check_ok(pbd_case_build(c, &values, &setup));
        s.recorder = pbd_recorder_create(&s.result, NULL);
        for (long i = 0; (double)i * setup.observe_every <= setup.scene.duration; i++) {
            const double t = (double)i * setup.observe_every;
            const made_up state = {&setup.scene, 0.02 * exp(-zeta * omega * t) * sin(2 * acos(-1) * f * t)};
            check_ok(c->observe(&setup, &method, &state, t, s.recorder));
        }
        check_ok(c->measure(&setup, &method, NULL, s.recorder));
        check_near("frequency, Hz", metric_of(&s, "first_frequency"), f, 1e-3 * f);
        check_near("damping ratio", metric_of(&s, "damping_ratio"), zeta, 1e-3);
        pbd_case_free(c, &setup);
        pbd_values_free(&values);
        pbd_values_free(&unneeded);
        solver_close(&s);
    }
}

/* ---- FEM as the textbooks have it -------------------------------------------------------------------------------- */

static double metric_in(const json_t *run, const char *name) {
    return json_number_value(json_object_get(json_object_get(json_object_get(run, "metrics"), name), "value"));
}

static json_t *run_it(const char *const words[6]) {
    told answer = tell("run", words[0], "-m", words[1], "-s", words[2], "-s", words[3], "-s", words[4], "-s", words[5],
                       "--no-store", "--json");
    expect_code(answer, 0);
    json_t *run = json_loads(answer.out, JSON_DISABLE_EOF_CHECK, NULL);
    assert_non_null(run);
    forget(&answer);
    return run;
}

/* The damping ratio of an oscillator is omega dt/2 to first order with backward Euler, and 0 with the midpoint rule. A
 * slender bar of quadratic elements has the frequency of a slender beam. */
static void test_fem_swings_by_the_book(void **unused) {
    (void)unused;
    skip_if_sanitized();
    static const char *const euler[] = {"vibrating_bar", "fem_implicit", "dt=0.005",
                                        "element=tet4",  "periods=6",    "cells=2"};
    static const char *const midpoint[] = {
        "vibrating_bar", "fem_implicit", "dt=0.005", "element=tet4", "integrator=implicit_midpoint", "periods=4"};
    static const char *const slender[] = {"vibrating_bar", "fem_implicit", "dt=0.08",
                                          "width=0.05",    "periods=3",    "cells=1"};
    json_t *run = run_it(euler);
    check_near("backward Euler: damping ratio over pi f dt",
               metric_in(run, "damping_ratio") / (acos(-1) * metric_in(run, "first_frequency") * 0.005), 1, 0.03);
    json_decref(run);
    run = run_it(midpoint);
    check_near("midpoint: damping ratio", metric_in(run, "damping_ratio"), 0, 2e-4);
    json_decref(run);
    run = run_it(slender);
    check_near("slender bar: frequency over Euler and Bernoulli's", metric_in(run, "slender_frequency_ratio"), 1, 0.03);
    json_decref(run);
}

static void test_a_spin_is_kept_by_the_midpoint_rule(void **unused) {
    (void)unused;
    static const char *const midpoint[] = {
        "spinning_bar", "fem_implicit", "dt=0.005", "element=tet4", "integrator=implicit_midpoint", "duration=0.5"};
    static const char *const xpbd[] = {"spinning_bar", "strain_energy", "dt=0.0005",
                                       "iterations=5", "cells=1",       "duration=0.25"};
    json_t *run = run_it(midpoint);
    /* The integrator conserves the angular momentum of consistent masses; the metric uses lumped masses. */
    check_near("midpoint: angular momentum lost", metric_in(run, "angular_momentum_loss"), 0, 0.01);
    check_near("midpoint: drift, m/s", metric_in(run, "drift_speed"), 0, 1e-9);
    json_decref(run);
    run = run_it(xpbd);
    /* With backward Euler a rigid rotation at omega loses the share omega^2 dt t of its angular momentum, to first
     * order: the next term is half of its square, 0.0025 of it here. The bar also stretches, and five iterations leave
     * some. */
    const double omega = 2 * acos(-1);
    check_near("XPBD: angular momentum lost over omega^2 dt t",
               metric_in(run, "angular_momentum_loss") / (omega * omega * 0.0005 * 0.25), 1, 0.02);
    json_decref(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_decaying_swing_is_measured),
        cmocka_unit_test(test_fem_swings_by_the_book),
        cmocka_unit_test(test_a_spin_is_kept_by_the_midpoint_rule),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
