/* The statistics of paired times: against published tables and examples, against brute force, and on noise recorded on
 * a shared two-core machine. */
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

#define NEAR(got, want, tolerance)                                                                              \
    do {                                                                                                        \
        const double got_ = (got), want_ = (want);                                                              \
        if (!(fabs(got_ - want_) <= (tolerance)))                                                               \
            fail_msg("%s: got %.10g, wanted %.10g, off by %.3g of %.3g", #got, got_, want_, fabs(got_ - want_), \
                     (double)(tolerance));                                                                      \
    } while (0)
#define FINE(call)                                                \
    do {                                                          \
        const pbd_status status_ = (call);                        \
        if (status_.code != PBD_OK) fail_msg("%s", status_.text); \
    } while (0)

/* Hamilton's depression scores of nine patients before and after (Hollander and Wolfe, Table 3.1): T+ = 40 of the
 * decreases, p = 0.0195, estimate 0.46, interval [0.010, 0.786] at 96.1 %. */
static const double hamilton[9] = {0.952, -0.147, 1.022, 0.430, 0.620, 0.590, 0.490, -0.080, 0.010};

/* Log-ratios in per cent of one cell, timed in 60 pairs of processes of the same binary, next to other unpinned
 * processes: a recorded sample of the data that the statistics are made for. */
static const double recorded[60] = {-21.4, -20.2, -16.3, -5.5, -2.7, -2.0, -2.0, -1.7, -1.6, -1.5, -1.4, -1.4,
                                    -1.3,  -1.2,  -1.2,  -1.2, -1.0, -1.0, -0.9, -0.9, -0.7, -0.6, -0.6, -0.6,
                                    -0.5,  -0.5,  -0.4,  -0.2, -0.1, -0.1, 0.0,  0.0,  0.1,  0.2,  0.2,  0.3,
                                    0.4,   0.5,   0.5,   0.5,  0.6,  0.6,  0.7,  0.7,  0.8,  0.8,  0.9,  0.9,
                                    1.0,   1.0,   1.0,   1.0,  1.1,  1.3,  1.5,  2.2,  2.8,  3.0,  20.6, 22.9};

static void gives_the_textbook_example(void **state) {
    (void)state;
    pbd_interval i;
    double p;
    FINE(pbd_signed_rank(hamilton, 9, 0.04, &i));
    NEAR(i.estimate, 0.460, 5e-4);
    NEAR(i.low, 0.010, 1e-12);
    NEAR(i.high, 0.786, 1e-12);
    FINE(pbd_signed_rank_p(hamilton, 9, 0, &p));
    NEAR(p, 0.01953125, 1e-15); /* 10 of 512 */
}

/* The largest T with a lower tail probability of at most 0.025, from tables of Wilcoxon's test. The interval of widely
 * spread values shows it, since T below k belongs to the k-th Walsh average. */
static void agrees_with_tables_of_critical_values(void **state) {
    (void)state;
    static const struct {
        size_t n, critical;
    } row[] = {{6, 0}, {7, 2}, {8, 3}, {9, 5}, {10, 8}, {12, 13}, {15, 25}, {20, 52}, {25, 89}};
    for (size_t r = 0; r < sizeof row / sizeof *row; r++) {
        double x[25], walsh[325];
        size_t count = 0;
        for (size_t i = 0; i < row[r].n; i++) x[i] = sqrt((double)(i * i * i + 1)) - 20;
        for (size_t i = 0; i < row[r].n; i++)
            for (size_t j = i; j < row[r].n; j++) walsh[count++] = 0.5 * (x[i] + x[j]);
        pbd_interval got;
        FINE(pbd_signed_rank(x, row[r].n, 0.05, &got));
        size_t below = 0;
        for (size_t k = 0; k < count; k++) below += walsh[k] < got.low;
        if (below != row[r].critical) fail_msg("n = %zu: T = %zu, the table has %zu", row[r].n, below, row[r].critical);
    }
}

static void few_pairs_have_no_bounds(void **state) {
    (void)state;
    pbd_interval i;
    FINE(pbd_signed_rank(hamilton, 5, 0.05, &i)); /* 2 / 2^5 > 0.05 */
    assert_true(isinf(i.low) && i.low < 0 && isinf(i.high) && i.high > 0);
    FINE(pbd_signed_rank(hamilton, 1, 0.05, &i));
    NEAR(i.estimate, 0.952, 0);
}

static void ties_and_zeros_are_ranked_as_wilcoxon_did(void **state) {
    (void)state;
    double p;
    FINE(pbd_signed_rank_p((const double[]){1, 1, -1}, 3, 0, &p));
    NEAR(p, 0.5, 0); /* mean ranks 2, 2, 2: sums of 4 or 6 in 4 of 8 cases */
    FINE(pbd_signed_rank_p((const double[]){0, 1, 2}, 3, 0, &p));
    NEAR(p, 0.25, 0);
    FINE(pbd_signed_rank_p((const double[]){3, 3, 3}, 3, 3, &p));
    NEAR(p, 1, 0);
    FINE(pbd_signed_rank_p((const double[]){-1, 2, 2, 3}, 4, 0, &p)); /* ranks 1, 2.5, 2.5, 4: T+ = 9, 2 of 16 */
    NEAR(p, 0.125, 0);
}

/* The interval is where the test does not reject: its ends are the shifts at which the p-value crosses alpha / 2. */
static void the_interval_inverts_the_test(void **state) {
    (void)state;
    for (size_t n = 8; n <= 60; n += 13) {
        pbd_interval i;
        double inside, outside, x[60];
        for (size_t k = 0; k < n; k++) x[k] = recorded[(k * 7) % 60] + 1e-6 * (double)(k * k); /* no ties */
        FINE(pbd_signed_rank(x, n, 0.02, &i));
        FINE(pbd_signed_rank_p(x, n, i.low + 1e-9, &inside));
        FINE(pbd_signed_rank_p(x, n, i.low - 1e-9, &outside));
        if (!(inside > 0.01 && outside <= 0.01)) fail_msg("n = %zu: p %g inside, %g outside", n, inside, outside);
    }
}

static void controls_false_discoveries_as_published(void **state) {
    (void)state;
    /* Benjamini and Hochberg 1995, section 4.1: four of fifteen at q = 0.05 (Bonferroni: three). */
    static const double p[15] = {0.3240, 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298,
                                 0.0344, 0.0459, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};
    bool reject[15];
    FINE(pbd_benjamini_hochberg(p, 15, 0.05, reject));
    for (size_t i = 0; i < 15; i++) assert_int_equal(reject[i], i >= 1 && i <= 4);
    FINE(pbd_benjamini_hochberg(p, 0, 0.05, reject));
}

static void the_bootstrap_agrees_and_repeats(void **state) {
    (void)state;
    pbd_interval ranks, once, again, other;
    FINE(pbd_signed_rank(recorded, 60, 0.05, &ranks));
    FINE(pbd_bootstrap(recorded, 60, 0.05, 7, 2000, &once));
    FINE(pbd_bootstrap(recorded, 60, 0.05, 7, 2000, &again));
    FINE(pbd_bootstrap(recorded, 60, 0.05, 8, 2000, &other));
    assert_memory_equal(&once, &again, sizeof once);
    assert_true(memcmp(&once, &other, sizeof once) != 0);
    NEAR(once.estimate, ranks.estimate, 0);
    /* Two estimates of the same interval differ by a fraction of its width. */
    const double width = ranks.high - ranks.low;
    NEAR(once.low, ranks.low, 0.35 * width);
    NEAR(once.high, ranks.high, 0.35 * width);
}

static void shares_of_the_looks_add_up(void **state) {
    (void)state;
    double sum = 0;
    for (size_t i = 0; i < PBD_LOOKS; i++) sum += pbd_looks[i].alpha;
    NEAR(sum, PBD_ERROR_RATE, 1e-15);
}

/* ---- Verdicts ---------------------------------------------------------------------------------------------------- */

static pbd_judgement judge(const double *x, size_t n, size_t look) {
    pbd_judgement j;
    FINE(pbd_judge(x, n, look, 0.02, 1, &j));
    return j;
}

static void verdicts_follow_the_interval(void **state) {
    (void)state;
    static const double slow[8] = {0.048, 0.051, 0.049, 0.050, 0.055, 0.046, 0.052, 0.047};
    double x[8];
    assert_int_equal(judge(slow, 8, 0).verdict, PBD_SLOWER);
    for (size_t i = 0; i < 8; i++) x[i] = -slow[i];
    assert_int_equal(judge(x, 8, 0).verdict, PBD_FASTER);
    for (size_t i = 0; i < 8; i++) x[i] = slow[i] - 0.05;
    assert_int_equal(judge(x, 8, 0).verdict, PBD_SAME);
    for (size_t i = 0; i < 8; i++) x[i] = slow[i] - 0.04; /* +0.6 to +1.5 %: different from 0, but within the margin */
    assert_int_equal(judge(x, 8, 0).verdict, PBD_SAME);
    for (size_t i = 0; i < 8; i++) x[i] = 20 * (slow[i] - 0.05);
    assert_int_equal(judge(x, 8, 0).verdict, PBD_INCONCLUSIVE);
}

static void forecasts_how_many_pairs_decide(void **state) {
    (void)state;
    /* Interval 0.02 ± 0.04: twice as wide as the effect, so four times as many pairs are needed. */
    static const double x[8] = {-0.02, 0.06, 0.00, 0.04, 0.01, 0.03, 0.02, 0.02};
    const pbd_judgement j = judge(x, 8, 0);
    assert_int_equal(j.verdict, PBD_INCONCLUSIVE);
    NEAR(j.log_ratio.estimate, 0.02, 1e-12);
    NEAR(j.log_ratio.high - j.log_ratio.low, 0.08, 1e-12);
    assert_in_range(j.more_pairs, 24, 25); /* 8 (2^2 - 1), rounded up */
    NEAR(j.detectable, 0.04 * (2.660067 + 1.281552) / 2.660067, 1e-6);
    static const double wide[8] = {-9, -5, -2, 0, 0, 2, 5, 9};
    assert_true(judge(wide, 8, 0).more_pairs == SIZE_MAX);
}

/* Type of a function that draws a log-ratio, for the whole sequential procedure on many samples. */
typedef double (*drawing)(pbd_random *);
static double from_record(pbd_random *r) { /* random signs, from the random order of arms */
    const double x = 0.01 * recorded[(size_t)(60 * pbd_random_uniform(r))];
    return pbd_random_uniform(r) < 0.5 ? x : -x;
}
static double laplace(pbd_random *r) {
    const double u = pbd_random_uniform(r) - 0.5;
    return (u < 0 ? 0.02 : -0.02) * log(1 - 2 * fabs(u));
}

static void run_many(drawing draw, double shift, size_t times, size_t tally[4]) {
    const double limit = log1p(0.02);
    pbd_random random = pbd_random_seeded(2026);
    memset(tally, 0, 4 * sizeof *tally);
    for (size_t t = 0; t < times; t++) {
        double x[40];
        pbd_verdict verdict = PBD_INCONCLUSIVE;
        for (size_t i = 0; i < 40; i++) x[i] = shift + draw(&random);
        for (size_t look = 0; look < PBD_LOOKS && verdict == PBD_INCONCLUSIVE; look++) {
            pbd_interval i; /* decides as pbd_judge, without its bootstrap, which would take minutes here */
            FINE(pbd_signed_rank(x, pbd_looks[look].pairs, pbd_looks[look].alpha, &i));
            verdict = i.low >= -limit && i.high <= limit ? PBD_SAME
                      : i.high < 0                       ? PBD_FASTER
                      : i.low > 0                        ? PBD_SLOWER
                                                         : PBD_INCONCLUSIVE;
        }
        tally[verdict]++;
    }
}

static void false_verdicts_are_as_rare_as_designed(void **state) {
    (void)state;
    static const drawing draws[] = {from_record, laplace};
    for (size_t d = 0; d < 2; d++) {
        size_t tally[4];
        run_many(draws[d], 0, 3000, tally);
        const size_t wrong = tally[PBD_FASTER] + tally[PBD_SLOWER];
        print_message("noise %zu: %zu of 3000 wrong, %zu same, %zu inconclusive\n", d, wrong, tally[PBD_SAME],
                      tally[PBD_INCONCLUSIVE]);
        assert_true(wrong <= 60 + 22); /* 2 % plus three standard deviations of that count */
    }
}

static void a_planted_slowdown_is_found(void **state) {
    (void)state;
    size_t tally[4];
    run_many(from_record, log(1.05), 1000, tally);
    print_message("planted 5 %%: %zu of 1000 found\n", tally[PBD_SLOWER]);
    assert_true(tally[PBD_SLOWER] >= 950);
    assert_int_equal(tally[PBD_FASTER], 0);
}

static void odd_samples_are_refused(void **state) {
    (void)state;
    pbd_interval i;
    pbd_judgement j;
    double p;
    assert_int_equal(pbd_signed_rank(hamilton, 0, 0.05, &i).code, PBD_BAD_INPUT);
    assert_int_equal(pbd_signed_rank(recorded, PBD_MOST_PAIRS + 1, 0.05, &i).code, PBD_BAD_INPUT);
    assert_int_equal(pbd_signed_rank_p((const double[]){1, NAN}, 2, 0, &p).code, PBD_BAD_INPUT);
    assert_int_equal(pbd_bootstrap(hamilton, 9, 0.05, 1, 0, &i).code, PBD_BAD_INPUT);
    assert_int_equal(pbd_judge(hamilton, 7, 0, 0.02, 1, &j).code, PBD_BAD_INPUT);
    assert_int_equal(pbd_judge(hamilton, 9, 0, 0, 1, &j).code, PBD_BAD_INPUT);
    assert_int_equal(pbd_judge(hamilton, 9, PBD_LOOKS, 0.02, 1, &j).code, PBD_BAD_INPUT);
}

/* ---- Against R (data/statistics.R) ------------------------------------------------------------------------------- */

enum { MOST_NUMBERS = 3 + 2 * PBD_MOST_PAIRS };

static void check_bh(const double *v, size_t n) {
    bool reject[PBD_MOST_PAIRS];
    FINE(pbd_benjamini_hochberg(v + 1 + n, n, v[0], reject));
    for (size_t i = 0; i < n; i++)
        if (reject[i] != (v[1 + i] != 0)) fail_msg("p = %g of %zu at q = %g: %d", v[1 + n + i], n, v[0], reject[i]);
}

static void check_p(const double *v, size_t n) {
    double p;
    FINE(pbd_signed_rank_p(v + 2, n, v[0], &p));
    NEAR(p, v[1], 1e-12);
}

/* R, too, takes the bounds from the sorted averages; the script computes the estimate explicitly. */
static void check_interval(const double *v, size_t n) {
    pbd_interval i;
    FINE(pbd_signed_rank(v + 4, n, v[0], &i));
    NEAR(i.estimate, v[1], 1e-12);
    NEAR(i.low, v[2], 1e-12);
    NEAR(i.high, v[3], 1e-12);
}

/* Both take percentiles of 20,000 resamples. With twice the alpha these would be a tenth of the width further in. */
static void check_bootstrap(const double *v, size_t n) {
    pbd_interval i;
    FINE(pbd_bootstrap(v + 3, n, v[0], 1, 20000, &i));
    NEAR(i.low, v[1], 0.04 * (v[2] - v[1]));
    NEAR(i.high, v[2], 0.04 * (v[2] - v[1]));
}

static void agrees_with_r(void **state) {
    (void)state;
    static const struct {
        const char *kind;
        void (*check)(const double *v, size_t n);
    } kinds[] = {{"bh", check_bh}, {"p", check_p}, {"interval", check_interval}, {"bootstrap", check_bootstrap}};
    static const char path[] = PBD_TEST_FOLDER "/data/statistics.csv";
    char line[8192];
    size_t rows = 0;
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("%s cannot be read", path);
    while (fgets(line, sizeof line, file)) {
        double v[MOST_NUMBERS];
        size_t n = 0, numbers = 0;
        char *at = strchr(line, ',');
        assert_non_null(at);
        *at++ = '\0';
        n = strtoul(at, &at, 10);
        while (*at == ',' && numbers < MOST_NUMBERS) v[numbers++] = strtod(at + 1, &at);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (strcmp(line, kinds[k].kind) == 0) kinds[k].check(v, n), rows++;
    }
    fclose(file);
    assert_int_equal(rows, 358);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_textbook_example),
        cmocka_unit_test(agrees_with_tables_of_critical_values),
        cmocka_unit_test(few_pairs_have_no_bounds),
        cmocka_unit_test(ties_and_zeros_are_ranked_as_wilcoxon_did),
        cmocka_unit_test(the_interval_inverts_the_test),
        cmocka_unit_test(controls_false_discoveries_as_published),
        cmocka_unit_test(the_bootstrap_agrees_and_repeats),
        cmocka_unit_test(shares_of_the_looks_add_up),
        cmocka_unit_test(verdicts_follow_the_interval),
        cmocka_unit_test(forecasts_how_many_pairs_decide),
        cmocka_unit_test(false_verdicts_are_as_rare_as_designed),
        cmocka_unit_test(a_planted_slowdown_is_found),
        cmocka_unit_test(odd_samples_are_refused),
        cmocka_unit_test(agrees_with_r),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
