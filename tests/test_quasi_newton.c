/* quasi_newton: the same minimiser as finite elements, energy that never rises, rest, and invariance to units. */
#define REAL double
#include "harness/catalog/resolve.h"
#include "harness/run/run.h"
#include "harness/run/run_plan.h"
#include "tests/element_ladder.h"
#include "tests/fem_bar.h"
#include "tests/trial.h"

static void run_step(const char *method, const char *text, pbd_result *result) {
    pbd_setting setting[16];
    char words[400], *save = NULL;
    size_t count = 0;
    snprintf(words, sizeof words, "%s", text);
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
        check_ok(pbd_setting_parse(word, &setting[count++]));
    pbd_plan plan = {0};
    const pbd_request request = {.case_name = "implicit_step",
                                 .method_name = method,
                                 .threads = 1,
                                 .seed = 1,
                                 .setting = setting,
                                 .settings = count};
    check_ok(pbd_plan_add(&plan, &request, 0));
    check_ok(pbd_run_cell(&plan.item[0], result));
    pbd_plan_free(&plan);
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
}

static double step_error(const char *method, const char *words) {
    pbd_result result = {0};
    double found = NAN;
    run_step(method, words, &result);
    assert_string_equal(result.state, "ok");
    for (size_t i = 0; i < result.metrics; i++)
        if (strcmp(result.metric[i].name, "step_error") == 0) found = result.metric[i].value;
    pbd_result_free(&result);
    return found;
}

/* Both must agree within 1e-9 of the step. */
static void the_minimiser_is_that_of_finite_elements(void **state) {
    (void)state;
    static const char *const words[] = {
        "", "E=1e4 nu=0.45", "material=stvk", "material=corotated", "material=hencky", "start=swing"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char all[200];
        snprintf(all, sizeof all, "cells=1 iterations=2000 %s", words[i]);
        check_near(words[i], step_error("quasi_newton", all), 0, 1e-9);
        snprintf(all, sizeof all, "cells=1 element=tet4 mass=lumped newton_tolerance=0 %s", words[i]);
        check_near("fem_implicit", step_error("fem_implicit", all), 0, 1e-9);
    }
}

/* Up to rounding, here 1e-12 of the total decrease. */
static void energy_never_rises(void **state) {
    (void)state;
    static const char *const guess[] = {"inertia", "previous", "velocity", "adaptive"};
    for (int k = 0; k < 8; k++) {
        pbd_result result = {0};
        char words[160];
        snprintf(words, sizeof words, "cells=1 E=1e5 iterations=30 start=swing guess=%s window=%d", guess[k % 4],
                 k < 4 ? 5 : 0);
        run_step("quasi_newton", words, &result);
        bool seen = false;
        for (size_t i = 0; i < result.series_count; i++) {
            const pbd_series_item *s = &result.series[i];
            if (strcmp(s->name, "step_energy_excess") != 0) continue;
            seen = s->count > 5;
            for (size_t j = 1; j < s->count; j++) assert_true(s->values[j] <= s->values[j - 1] + 1e-12);
        }
        assert_true(seen);
        pbd_result_free(&result);
    }
}

/* The equilibrium found by finite elements is kept over ten steps with any number of iterations, within 1e-10 m at a
 * sag of centimetres. With guess=inertia and one iteration it is not. */
static double drift_from_rest(const char *guess, int iterations) {
    bar b, q;
    char words[160];
    double *rest = bar_solve(&b, "element=tet4 mass=lumped cells=1 E=1e5 newton_tolerance=0");
    const pbd_method_entry *entry;
    bar_make(&q, "element=tet4 mass=lumped cells=1 E=1e5");
    const size_t n = q.scene.particles.count;
    q.scene.particles.start = malloc(3 * n * sizeof *rest);
    memcpy(q.scene.particles.start, rest, 3 * n * sizeof *rest);
    pbd_values_free(&q.values), pbd_values_free(&q.s.values);
    check_ok(pbd_find_method("quasi_newton", &entry));
    q.s.method = entry->by_precision[PBD_PRECISION_F64];
    snprintf(words, sizeof words, "guess=%s", guess);
    pbd_setting setting[2];
    check_ok(pbd_setting_parse(words, &setting[0]));
    snprintf(words, sizeof words, "iterations=%d", iterations);
    check_ok(pbd_setting_parse(words, &setting[1]));
    check_ok(pbd_resolve(q.c, q.s.method, setting, 2, &q.values, &q.s.values));
    for (int i = 0; i < 2; i++) pbd_setting_free(&setting[i]);
    bar_open(&q);
    for (int i = 0; i < 10; i++) check_ok(q.s.method->step(q.s.state, 0.01));
    double *x = positions_of(&q.s, n);
    const double off = largest_apart(x, rest, 3 * n);
    free(x);
    free(rest);
    bar_close(&q);
    bar_close(&b);
    return off;
}

static void rest_is_kept(void **state) {
    (void)state;
    for (int k = 1; k <= 10; k += 9) check_near("off rest, m", drift_from_rest("adaptive", k), 0, 1e-10);
    assert_true(drift_from_rest("inertia", 1) > 1e-6);
}

/* E and density multiplied by 2^10 give the same motion. */
static void units_of_force_change_nothing(void **state) {
    (void)state;
    const double one = step_error("quasi_newton", "cells=1 E=1e5 density=100 iterations=3");
    check_near("E and density x 1024",
               step_error("quasi_newton", "cells=1 E=1.024e8 density=102400 iterations=3") / one, 1, 1e-9);
}

/* The columns of the stiffness sum to 0, so a full step with the matrix conserves linear momentum. */
static void momentum_is_kept(void **state) {
    (void)state;
    pbd_scene scene;
    make_mesh(&scene, false, 1e4);
    scene.particles.fixed = 0;
    scene.particles.velocities = calloc(3 * scene.particles.count, sizeof(double));
    memset(scene.loads.gravity, 0, sizeof scene.loads.gravity);
    double start[3] = {0}, end[3] = {0}, size = 0;
    for (size_t i = 0; i < 3 * scene.particles.count; i++) {
        scene.particles.velocities[i] = i % 3 == 0 ? 3 * scene.particles.positions[i] : 0.2;
        start[i % 3] += scene.particles.masses[i / 3] * scene.particles.velocities[i];
    }
    static const char *const words[] = {"iterations=1 window=0", "iterations=10 window=0"};
    for (int k = 0; k < 2; k++) {
        double *x = march("quasi_newton", PBD_PRECISION_F64, 1, &scene, words[k], 0.02, 1);
        memset(end, 0, sizeof end);
        for (size_t i = 0; i < 3 * scene.particles.count; i++) {
            const double one = scene.particles.masses[i / 3] * (x[i] - scene.particles.positions[i]) / 0.02;
            end[i % 3] += one;
            size += fabs(one);
        }
        for (int d = 0; d < 3; d++) check_near(words[k], (end[d] - start[d]) / size, 0, 1e-13);
        free(x);
    }
    pbd_scene_free(&scene);
}

/* Many iterations of a small step reach rounding level, where a pair of L-BFGS has no curvature and is skipped. Every
 * step of a swinging body must still succeed. */
static void pairs_without_curvature_are_left_out(void **state) {
    (void)state;
    trial t;
    solver s;
    open_case(&t, "vibrating_bar", "amplitude=0.1 periods=3 material=macklin_neo_hookean");
    solver_open(&s, "quasi_newton", PBD_PRECISION_F64, 1, &t.scene, "guess=inertia iterations=32");
    for (int k = 0; k < 400; k++) check_ok(s.method->step(s.state, 0.000625));
    solver_close(&s);
    close_case(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_minimiser_is_that_of_finite_elements),
        cmocka_unit_test(energy_never_rises),
        cmocka_unit_test(rest_is_kept),
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(units_of_force_change_nothing),
        cmocka_unit_test(pairs_without_curvature_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
