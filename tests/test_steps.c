/* Steps in histories: planted steps are found at their positions, none in pure noise, and the fit is the best of all
 * possible ones, by brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/compare/statistics.h"
#include "harness/trend/steps.h"

#define FINE(call)                                                \
    do {                                                          \
        const pbd_status status_ = (call);                        \
        if (status_.code != PBD_OK) fail_msg("%s", status_.text); \
    } while (0)

typedef double (*noise)(pbd_random *);

static double normal(pbd_random *r) {
    const double u = 1 - pbd_random_uniform(r), v = pbd_random_uniform(r);
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
}
static double laplace(pbd_random *r) {
    const double u = pbd_random_uniform(r) - 0.5;
    return (u < 0 ? 1 : -1) * log(1 - 2 * fabs(u));
}
/* Noise as in times of processes: small, except that one process in twenty takes long. */
static double spiked(pbd_random *r) {
    const double x = normal(r);
    return pbd_random_uniform(r) < 0.05 ? x + 20 : x;
}
static const noise noises[] = {normal, laplace, spiked};
enum { NOISES = 3 };

static void planted_steps_are_found(void **state) {
    (void)state;
    for (size_t k = 0; k < NOISES; k++) {
        size_t found = 0, near = 0, extra = 0;
        pbd_random random = pbd_random_seeded(11 + k);
        for (int t = 0; t < 50; t++) {
            double x[60];
            pbd_steps s;
            for (size_t i = 0; i < 60; i++) x[i] = 100 + (i >= 37 ? 5 : 0) + noises[k](&random); /* 5 % and 1 % noise */
            FINE(pbd_find_steps(x, 60, 1, &s));
            if (s.count > 0) found++;
            if (s.count > 1) extra++;
            for (size_t i = 0; i < s.count; i++)
                if (s.step[i].at >= 36 && s.step[i].at <= 38) near++;
            pbd_steps_free(&s);
        }
        print_message("noise %zu: step of 5 found in %zu of 50, at its place in %zu, more than one in %zu\n", k, found,
                      near, extra);
        assert_true(found >= 49 && near >= 43 && extra <= 4);
    }
}

static void stationary_noise_has_no_steps(void **state) {
    (void)state;
    for (size_t k = 0; k < NOISES; k++) {
        size_t alarms = 0;
        pbd_random random = pbd_random_seeded(5 + k);
        for (int t = 0; t < 200; t++) {
            double x[50];
            pbd_steps s;
            for (size_t i = 0; i < 50; i++) x[i] = 100 + noises[k](&random);
            FINE(pbd_find_steps(x, 50, (uint64_t)t, &s));
            alarms += s.count > 0;
            pbd_steps_free(&s);
        }
        print_message("noise %zu: %zu of 200 stationary series have a step\n", k, alarms);
        assert_true(alarms <= 8); /* three expected, plus three standard deviations */
    }
}

static void two_steps_have_their_levels(void **state) {
    (void)state;
    double x[90];
    pbd_steps s;
    pbd_random random = pbd_random_seeded(3);
    for (size_t i = 0; i < 90; i++) x[i] = (i < 30 ? 10 : i < 60 ? 12 : 9) + 0.1 * normal(&random);
    FINE(pbd_find_steps(x, 90, 1, &s));
    assert_int_equal(s.count, 2);
    assert_int_equal(s.step[0].at, 30);
    assert_int_equal(s.step[1].at, 60);
    assert_true(fabs(s.step[0].before - 10) < 0.05 && fabs(s.step[0].after - 12) < 0.05);
    assert_true(fabs(s.step[1].after - 9) < 0.05 && s.step[1].p <= 0.01);
    assert_true(s.level[0] == s.step[0].before && s.level[45] == s.step[0].after && s.level[89] == s.step[1].after);
    pbd_steps_free(&s);
}

/* Counts have no noise: three builds on each side are enough. */
static void exact_counts_need_no_statistics(void **state) {
    (void)state;
    static const double x[6] = {1100, 1100, 1100, 1210, 1210, 1210};
    pbd_steps s;
    FINE(pbd_find_steps(x, 6, 1, &s));
    assert_int_equal(s.count, 1);
    assert_int_equal(s.step[0].at, 3);
    assert_true(s.step[0].p == 0 && s.step[0].before == 1100 && s.step[0].after == 1210);
    pbd_steps_free(&s);
}

static void flat_and_short_series_have_none(void **state) {
    (void)state;
    double x[40];
    pbd_steps s;
    for (size_t n = 0; n <= 40; n++) {
        for (size_t i = 0; i < n; i++) x[i] = 7;
        FINE(pbd_find_steps(x, n, 1, &s));
        assert_int_equal(s.count, 0);
        pbd_steps_free(&s);
    }
    memset(x, 0, sizeof x);
    FINE(pbd_find_steps(x, 40, 1, &s));
    assert_int_equal(s.count, 0);
    pbd_steps_free(&s);
}

/* A ramp has no levels; it is reported as a staircase, which at least shows a change. */
static void a_drift_is_a_staircase(void **state) {
    (void)state;
    double x[80];
    pbd_steps s;
    pbd_random random = pbd_random_seeded(9);
    for (size_t i = 0; i < 80; i++) x[i] = 100 + 0.25 * (double)i + 0.3 * normal(&random);
    FINE(pbd_find_steps(x, 80, 1, &s));
    assert_true(s.count >= 2);
    for (size_t i = 0; i < s.count; i++) assert_true(s.step[i].after > s.step[i].before);
    pbd_steps_free(&s);
}

/* The same seed gives the same answer, whatever ran before. */
static void answers_repeat(void **state) {
    (void)state;
    double x[50];
    pbd_steps a, b;
    pbd_random random = pbd_random_seeded(21);
    for (size_t i = 0; i < 50; i++) x[i] = (i < 20 ? 1.0 : 1.02) + 0.01 * laplace(&random);
    FINE(pbd_find_steps(x, 50, 4, &a));
    FINE(pbd_find_steps(x, 50, 4, &b));
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.step, b.step, a.count * sizeof *a.step);
    pbd_steps_free(&a);
    pbd_steps_free(&b);
}

/* ---- By trying everything ---------------------------------------------------------------------------------------- */

static int ascending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double deviation(const double *x, size_t n) {
    double sorted[16], sum = 0;
    memcpy(sorted, x, n * sizeof *x);
    qsort(sorted, n, sizeof *sorted, ascending);
    for (size_t i = 0; i < n; i++) sum += fabs(x[i] - sorted[n / 2]);
    return sum;
}

/* The lowest BIC, as defined in the header, over all 2^(n-1) ways to divide x into levels. */
static double lowest_bic(const double *x, size_t n, unsigned *cuts) {
    double lowest = INFINITY;
    for (unsigned mask = 0; mask < 1u << (n - 1); mask++) {
        double cost = 0;
        size_t levels = 1, from = 0;
        for (size_t i = 1; i <= n; i++) {
            if (i < n && !(mask & 1u << (i - 1))) continue;
            cost += deviation(x + from, i - from);
            from = i;
            levels += i < n;
        }
        const double bic = 2 * (double)n * log(cost / (double)n + 1e-12) + 2 * (double)levels * log((double)n);
        if (bic < lowest) lowest = bic, *cuts = mask;
    }
    return lowest;
}

/* Steps that are large against the noise survive the permutation test, so the result must be the best fit. */
static void the_fit_is_the_best_of_all(void **state) {
    (void)state;
    pbd_random random = pbd_random_seeded(77);
    for (int t = 0; t < 20; t++) {
        double x[14];
        unsigned cuts = 0;
        pbd_steps s;
        for (size_t i = 0; i < 14; i++) x[i] = (i < 7 ? 50 : 60) + 0.2 * normal(&random);
        lowest_bic(x, 14, &cuts);
        FINE(pbd_find_steps(x, 14, 1, &s));
        for (size_t i = 0; i < s.count; i++) assert_true(cuts & 1u << (s.step[i].at - 1));
        assert_true(s.count >= 1 && (cuts & 1u << 6));
        pbd_steps_free(&s);
    }
}

static void odd_series_are_refused(void **state) {
    (void)state;
    pbd_steps s;
    static double x[PBD_LONGEST_HISTORY + 1];
    assert_int_equal(pbd_find_steps(x, PBD_LONGEST_HISTORY + 1, 1, &s).code, PBD_BAD_INPUT);
    x[3] = NAN;
    assert_int_equal(pbd_find_steps(x, 10, 1, &s).code, PBD_BAD_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_steps_are_found),
        cmocka_unit_test(stationary_noise_has_no_steps),
        cmocka_unit_test(two_steps_have_their_levels),
        cmocka_unit_test(exact_counts_need_no_statistics),
        cmocka_unit_test(flat_and_short_series_have_none),
        cmocka_unit_test(a_drift_is_a_staircase),
        cmocka_unit_test(answers_repeat),
        cmocka_unit_test(the_fit_is_the_best_of_all),
        cmocka_unit_test(odd_series_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
