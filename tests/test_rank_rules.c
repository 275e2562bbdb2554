/* rank: profiles, the judgement of a trial and the best trial within a budget, against values by hand; the file of
 * problems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "harness/rank/profiles.h"
#include "harness/rank/rank.h"
#include "tests/program.h"
#include "tests/sanitized.h"
#include "tests/store_sample.h"

/* ---- Profiles: three problems, three methods ----------------------------------------------------------------------
 */

/*           A    B    C
 *   first   1    2    8
 *   second  4    1    -
 *   third   -    -    -      none solves it */
static const double cost[9] = {1, 2, 8, 4, 1, INFINITY, INFINITY, INFINITY, INFINITY};
enum { A, B, C, NONE };

static double share(size_t method, size_t without, double ratio) {
    return pbd_performance_profile(cost, 3, 3, method, without, ratio);
}

static void test_performance_profile(void **state) {
    (void)state;
    /* ratios: A 1 and 4, B 2 and 1, C 8 and none */
    assert_true(share(A, NONE, 1) == 1.0 / 3 && share(B, NONE, 1) == 1.0 / 3 && share(C, NONE, 1) == 0);
    assert_true(share(A, NONE, 2) == 1.0 / 3 && share(B, NONE, 2) == 2.0 / 3);
    assert_true(share(A, NONE, 4) == 2.0 / 3 && share(C, NONE, 7.9) == 0 && share(C, NONE, 8) == 1.0 / 3);
    assert_true(share(A, NONE, INFINITY) == 2.0 / 3 && share(C, NONE, INFINITY) == 1.0 / 3); /* the share solved */
    assert_true(pbd_performance_profile(cost, 0, 3, A, NONE, 1) == 0);
}

/* Without A, B is the best on both problems; without B, A is. A ranking depends on the methods that take part. */
static void test_rival_removed(void **state) {
    (void)state;
    assert_true(share(B, A, 1) == 2.0 / 3 && share(A, B, 1) == 2.0 / 3);
    assert_true(share(C, A, 4) == 1.0 / 3 && share(C, B, 8) == 1.0 / 3 && share(C, A, 3.9) == 0);
}

static void test_data_profile(void **state) {
    (void)state;
    static const double unit[3] = {1, 0.5, 1}; /* A: 1 and 8 units; B: 2 and 2; C: 8 */
    assert_true(pbd_data_profile(cost, unit, 3, 3, A, 0.9) == 0 && pbd_data_profile(cost, unit, 3, 3, A, 1) == 1.0 / 3);
    assert_true(pbd_data_profile(cost, unit, 3, 3, A, 7.9) == 1.0 / 3);
    assert_true(pbd_data_profile(cost, unit, 3, 3, A, 8) == 2.0 / 3);
    assert_true(pbd_data_profile(cost, unit, 3, 3, B, 2) == 2.0 / 3 &&
                pbd_data_profile(cost, unit, 3, 3, C, 100) == 1.0 / 3);
    assert_true(pbd_data_profile(cost, unit, 0, 3, A, 1) == 0);
}

/* ---- Trials -------------------------------------------------------------------------------------------------------
 */

static pbd_result run_of(const char *how, double value, double solve) {
    static pbd_metric_item metric[2];
    static pbd_phase_item phase[2];
    metric[0] = (pbd_metric_item){.name = (char *)(uintptr_t) "tip_ratio", .value = value};
    metric[1] = (pbd_metric_item){.name = (char *)(uintptr_t) "simulated_time", .value = 2};
    phase[0] = (pbd_phase_item){.name = (char *)(uintptr_t) "create", .wall_s = 0.5};
    phase[1] = (pbd_phase_item){.name = (char *)(uintptr_t) "solve", .wall_s = solve};
    return (pbd_result){.state = (char *)(uintptr_t)how, .metric = metric, .metrics = 2, .phase = phase, .phases = 2};
}

static pbd_trial judged_with(const char *warning, const char *kind, const char *how, double value, double solve,
                             double limit) {
    const pbd_problem problem = {.kind = (char *)(uintptr_t)kind,
                                 .metric = (char *)(uintptr_t) "tip_ratio",
                                 .target = 1,
                                 .uncertainty = 0.01,
                                 .tolerance = 0.05};
    pbd_result run = run_of(how, value, solve);
    pbd_warning_item named = {.name = (char *)(uintptr_t)warning};
    run.warning = &named;
    run.warnings = warning != NULL;
    pbd_trial trial = {0};
    pbd_trial_judge(&problem, &run, limit, &trial);
    return trial;
}

static pbd_trial judged(const char *kind, const char *how, double value, double solve, double limit) {
    return judged_with(NULL, kind, how, value, solve, limit);
}

static bool near(double a, double b) { return fabs(a - b) < 1e-12; }

static void test_judging_a_trial(void **state) {
    (void)state;
    /* |0.9 - 1| / 0.05 = 2; 1.2 s of wall time for 2 s of motion, of which a frame is 1/120 */
    pbd_trial t = judged("moving", "ok", 0.9, 1.2, 30);
    assert_true(t.counts && near(t.over, 2) && near(t.time, 0.01));
    t = judged("static", "ok", 0.9, 1.2, 30);
    assert_true(near(t.time, 1.7)); /* with the 0.5 s of create */
    t = judged("moving", "ok", 1.001, 1.2, 30);
    assert_true(near(t.over, 0.2)); /* an error below the uncertainty counts as the uncertainty */
    t = judged("moving", "ok", 1.2, 1.2, 1);
    assert_true(!t.counts && t.late);
    t = judged("moving", "unphysical", 1, 1.2, 30);
    assert_true(!t.counts && !t.late);
    t = judged("moving", "ok", NAN, 1.2, 30);
    assert_true(!t.counts);
    t = judged("moving", "ok", 1, 0, 30);
    assert_true(!t.counts && isnan(t.time));
}

/* A trial that did not converge does not count; other warnings only mark it. */
static void test_unconverged_does_not_count(void **state) {
    (void)state;
    pbd_trial t = judged_with("not_converged", "moving", "ok", 0.999, 1.2, 30);
    assert_true(!t.counts && t.astray && !t.late && near(t.over, 0.2));
    assert_null(pbd_best_trial(&t, 1, INFINITY));
    assert_null(pbd_fastest_trial(&t, 1, 10));
    t = judged_with("torn", "moving", "ok", 0.999, 1.2, 30);
    assert_true(t.counts && !t.astray);
    t = judged_with("not_converged", "moving", "diverged", 0.999, 1.2, 30);
    assert_true(!t.counts && !t.astray); /* its state is the reason */
    t = judged_with("not_converged", "moving", "ok", 0.999, 31, 30);
    assert_true(!t.counts && t.late && !t.astray);
}

static void test_best_and_fastest(void **state) {
    (void)state;
    const pbd_trial trial[] = {{.over = 5, .time = 1, .counts = true},
                               {.over = 0.5, .time = 4, .counts = true},
                               {.over = 0.5, .time = 3, .counts = true},
                               {.over = 0.1, .time = 0.1, .counts = false},
                               {.over = 0.05, .time = 9, .counts = true}};
    assert_null(pbd_best_trial(trial, 5, 0.9));
    assert_ptr_equal(pbd_best_trial(trial, 5, 1), &trial[0]);
    assert_ptr_equal(pbd_best_trial(trial, 5, 4), &trial[2]); /* the faster of equal errors */
    assert_ptr_equal(pbd_best_trial(trial, 5, INFINITY), &trial[4]);
    assert_ptr_equal(pbd_fastest_trial(trial, 5, 10), &trial[0]);
    assert_ptr_equal(pbd_fastest_trial(trial, 5, 1), &trial[2]);
    assert_ptr_equal(pbd_fastest_trial(trial, 5, 0.1), &trial[4]);
    assert_null(pbd_fastest_trial(trial, 5, 0.01));
}

static void test_budgets(void **state) {
    (void)state;
    double s;
    char text[32];
    assert_true(pbd_budget_parse("10ms", &s).code == PBD_OK && near(s, 0.01));
    assert_true(pbd_budget_parse("0.5s", &s).code == PBD_OK && near(s, 0.5));
    assert_true(pbd_budget_parse("2", &s).code == PBD_OK && near(s, 2));
    static const char *const wrong[] = {"", "ms", "-1ms", "0", "nan", "1 hour", "inf"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(pbd_budget_parse(wrong[i], &s).code, PBD_BAD_INPUT);
    pbd_budget_text(0.01, text);
    assert_string_equal(text, "10 ms");
    pbd_budget_text(INFINITY, text);
    assert_string_equal(text, "any");
    assert_int_equal(pbd_default_budgets(true).count, 5);
    assert_int_equal(pbd_default_budgets(false).count, 4);
}

/* ---- The program's own file ---------------------------------------------------------------------------------------
 */

/* Loading checks names, fixed parameters and the number of trials; planning checks that no two trials are equal. */
static void test_own_problems(void **state) {
    (void)state;
    pbd_problems *all;
    size_t quick = 0;
    assert_fine(pbd_problems_load(&all));
    for (unsigned i = 0; i < all->problems_count; i++) {
        const pbd_problem *p = &all->problems[i];
        quick += p->quick;
        for (unsigned k = 0; k < p->methods_count; k++)
            for (int scale = 0; scale < (p->quick ? 2 : 1); scale++) {
                pbd_plan plan = {0};
                assert_fine(pbd_problem_plan(all, p, &p->methods[k], NULL, 1, scale == 1, 0, &plan));
                assert_int_equal(plan.count, scale ? all->quick_trials : all->trials);
                pbd_plan_free(&plan);
            }
    }
    assert_true(all->problems_count >= 39);
    assert_int_equal(quick, 10);
    pbd_problems_free(all);
}

static bool is_named(const pbd_problem *p, const char *method) {
    for (unsigned k = 0; k < p->methods_count; k++)
        if (strcmp(p->methods[k].method, method) == 0) return true;
    for (unsigned k = 0; k < p->left_out_count; k++)
        if (strcmp(p->left_out[k].name, method) == 0) return true;
    return false;
}

/* A method that runs a problem's case with its defaults has trials of that problem, or a stated reason. */
static void test_no_method_is_forgotten(void **state) {
    (void)state;
    skip_if_sanitized();
    pbd_problems *all;
    assert_fine(pbd_problems_load(&all));
    told answer = tell("list", "pairs", "--json");
    expect_code(answer, 0);
    json_t *pairs = json_loads(answer.out, 0, NULL), *pair;
    size_t index, forgotten = 0;
    json_array_foreach(pairs, index, pair) {
        const char *ends = json_string_value(json_object_get(pair, "state"));
        const char *of = json_string_value(json_object_get(pair, "case"));
        const char *method = json_string_value(json_object_get(pair, "method"));
        for (unsigned i = 0; i < all->problems_count && strcmp(ends, "refused") != 0; i++) {
            if (strcmp(all->problems[i].case_name, of) != 0 || is_named(&all->problems[i], method)) continue;
            print_message("%s says nothing of %s\n", all->problems[i].id, method);
            forgotten++;
        }
    }
    assert_true(json_array_size(pairs) > 100);
    assert_int_equal(forgotten, 0);
    json_decref(pairs);
    forget(&answer);
    pbd_problems_free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_performance_profile),
        cmocka_unit_test(test_rival_removed),
        cmocka_unit_test(test_data_profile),
        cmocka_unit_test(test_judging_a_trial),
        cmocka_unit_test(test_unconverged_does_not_count),
        cmocka_unit_test(test_best_and_fastest),
        cmocka_unit_test(test_budgets),
        cmocka_unit_test(test_own_problems),
        cmocka_unit_test(test_no_method_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
