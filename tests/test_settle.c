/* Detection of rest, with a method whose only motion is a prescribed oscillation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/plan/record.h"
#include "harness/run/settle.h"

/* Every particle is displaced along z by -(1 - exp(-decay t) cos(2 pi t)) m, or by `path` if given. */
typedef struct swing {
    double decay, t;
    double (*path)(double t);
    bool inside_out;
    size_t particles;
    const double *rest;
} swing;

static pbd_status step(void *state, double dt) {
    ((swing *)state)->t += dt;
    return pbd_ok();
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const swing *s = state;
    const double z = s->path ? s->path(s->t) : -(1 - exp(-s->decay * s->t) * cos(2 * M_PI * s->t));
    assert_int_equal(field, PBD_POSITIONS);
    for (size_t i = 0; i < 3 * s->particles; i++) out[i] = s->rest[i] + (i % 3 == 2 ? z : 0);
    if (s->inside_out) out[0] = 2; /* the first corner passes the opposite face */
    return pbd_ok();
}

static const pbd_method method = {.step = step, .read = read_field, .needs = PBD_NEEDS_TETS};

/* Settles one tetrahedron with a tolerance of 1e-3 over `window` steps. */
static pbd_status settle(swing *s, long window, long most_steps, double dt, pbd_result *result) {
    static double positions[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static uint32_t tet[4] = {1, 2, 3, 0}, watch[2] = {1, 2};
    const pbd_setup setup = {
        .scene = {.particles = {.count = 4, .positions = positions}, .tets = {.count = 1, .corner = tet}, .extent = 1},
        .settle = {.tolerance = 1e-3, .window = window, .most_steps = most_steps, .watched = 2, .watch = watch}};
    pbd_recorder *recorder = pbd_recorder_create(result, NULL);
    s->particles = 4;
    s->rest = positions;
    const pbd_settling body = {
        .setup = &setup, .method = &method, .state = s, .dt = dt, .precision = PBD_PRECISION_F64};
    const pbd_status status = pbd_settle_body(&body, recorder);
    pbd_recorder_destroy(recorder);
    return status;
}

static double metric(const pbd_result *result, const char *name) {
    for (size_t i = 0; i < result->metrics; i++)
        if (strcmp(result->metric[i].name, name) == 0) return result->metric[i].value;
    fail_msg("no metric %s", name);
    return NAN;
}

/* An oscillation with envelope exp(-2 t) has less than 1e-3 m peak to peak from t = ln(2000)/2 = 3.8 s on. With a
 * window of one period, rest is found between then and little more than a period later. */
static void rest_is_found(void **state) {
    (void)state;
    pbd_result result = {0};
    swing s = {.decay = 2};
    assert_int_equal(settle(&s, 100, 10000, 0.01, &result).code, PBD_OK);
    assert_true(s.t > 3.8 && s.t < 5.2);
    assert_true(fabs(metric(&result, "simulated_time") - s.t) < 1e-9);
    assert_true(fabs(metric(&result, "settle_steps") - s.t / 0.01) < 0.5);
    assert_true(metric(&result, "settle_motion") <= 1e-3);
    pbd_result_free(&result);
}

/* Undamped oscillation is never rest, also with windows of one or two periods, 76.9 and 153.8 steps. (Much shorter
 * windows would find rest at a turning point.) */
static void swinging_is_not_rest(void **state) {
    (void)state;
    for (long window = 20; window <= 160; window++) {
        pbd_result result = {0};
        swing s = {0};
        const pbd_status status = settle(&s, window, 1000, 0.013, &result);
        if (status.code != PBD_NOT_SETTLED) fail_msg("window %ld: code %d, %s", window, (int)status.code, status.text);
        assert_true(strstr(status.text, "1000 steps"));
        assert_true(metric(&result, "settle_steps") == 1000);
        pbd_result_free(&result);
    }
}

static double away(double t) { return exp(5 * t); }
static double lost(double t) { return t > 1 ? NAN : 0.5 * t; }
static double still(double t) { return 0 * t; }

static void what_runs_away_or_is_lost_diverges(void **state) {
    (void)state;
    double (*const path[])(double) = {away, lost};
    for (int i = 0; i < 2; i++) {
        pbd_result result = {0};
        swing s = {.path = path[i]};
        const pbd_status status = settle(&s, 100, 10000, 0.01, &result);
        assert_int_equal(status.code, PBD_DIVERGED);
        assert_true(s.t < 2.1);
        pbd_result_free(&result);
    }
}

static void inside_out_is_no_equilibrium(void **state) {
    (void)state;
    pbd_result result = {0};
    swing s = {.path = still, .inside_out = true};
    const pbd_status status = settle(&s, 100, 10000, 0.01, &result);
    assert_int_equal(status.code, PBD_NO_EQUILIBRIUM);
    assert_true(strstr(status.text, "tetrahedron 0"));
    pbd_result_free(&result);
}

static void a_body_without_load_rests(void **state) {
    (void)state;
    pbd_result result = {0};
    swing s = {.path = still};
    assert_int_equal(settle(&s, 100, 10000, 0.01, &result).code, PBD_OK);
    assert_true(s.t < 1.1);
    pbd_result_free(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest_is_found),
        cmocka_unit_test(swinging_is_not_rest),
        cmocka_unit_test(what_runs_away_or_is_lost_diverges),
        cmocka_unit_test(inside_out_is_no_equilibrium),
        cmocka_unit_test(a_body_without_load_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
