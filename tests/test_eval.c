/* `eval`: what goes in, what comes out, and what it says about rows and parameters it cannot take. Expected numbers are
 * worked out by hand from the formulas of methods/physics/README.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/program.h"

#define eval_with(input, ...) tell_input(STDOUT_KEPT, input, (const char *const[]){"eval", "stress", __VA_ARGS__, NULL})

/* The numbers of a text, lines and commas alike; returns how many. */
static size_t numbers(const char *text, double *out, size_t most) {
    size_t n = 0;
    for (char *end; *text && n < most; text = *end ? end + 1 : end, n++) out[n] = strtod(text, &end);
    return n;
}

static size_t lines(const char *text) {
    size_t n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

/* One row in, ten numbers out, each within 1e-12 of the largest. */
static void check_row(const char *law, const char *row, const double wanted[10]) {
    told answer = eval_with(row, "--material", law, "-s", "E=2.8", "-s", "nu=0.4"); /* mu = 1, lambda = 4 */
    expect_code(answer, 0);
    assert_int_equal(lines(answer.out), 1);
    double got[11], size = 0;
    assert_int_equal(numbers(answer.out, got, 11), 10);
    for (int i = 0; i < 10; i++) size = fmax(size, fabs(wanted[i]));
    for (int i = 0; i < 10; i++)
        if (!(fabs(got[i] - wanted[i]) <= 1e-12 * size))
            fail_msg("%s, %s: number %d is %.17g, wanted %.17g", law, row, i + 1, got[i], wanted[i]);
    forget(&answer);
}

static void test_values_by_hand(void **state) {
    (void)state;
    /* Stretch 2 along x: E = diag(3/2, 0, 0), S = 2 E + 4 (3/2) I, P = F S, psi = 9/4 + 2 (9/4). */
    check_row("stvk", "2,0,0,0,1,0,0,0,1\n", (double[10]){18, 0, 0, 0, 6, 0, 0, 0, 6, 6.75});
    /* R = I: P = 2 (F - I) + 4 tr(F - I) I. */
    check_row("corotated", "2,0,0,0,1,0,0,0,1\n", (double[10]){6, 0, 0, 0, 4, 0, 0, 0, 4, 3});
    /* A quarter turn about z of the same: P turns along. */
    check_row("corotated", "0,-1,0,2,0,0,0,0,1\n", (double[10]){0, -4, 0, 6, 0, 0, 0, 0, 4, 3});
    /* Simple shear by 1/2: J = 1, F^-T = (1 0 0; -1/2 1 0; 0 0 1), P = F - F^-T, psi = 1/8. */
    check_row("neo_hookean", "1,0.5,0,0,1,0,0,0,1\n", (double[10]){0, 0.5, 0, 0.5, 0, 0, 0, 0, 0, 0.125});
    /* log 2 along x: P = 2 mu log 2/2 + 4 log 2/2 along, 4 log 2 across; psi = 3 log^2 2. */
    const double l = log(2);
    check_row("hencky", "2,0,0,0,1,0,0,0,1\n", (double[10]){3 * l, 0, 0, 0, 4 * l, 0, 0, 0, 4 * l, 3 * l * l});
    /* m = 4/3, l = 29/6: I = 6, J = 2, a = 1 + 6/29; P = (8/7) F + (29/6) (23/29) cof F, cof = diag(1, 2, 2). */
    const double a = 6.0 / 29, psi = 2.0 + 29.0 / 12 * ((1 - a) * (1 - a) - a * a) - 2.0 / 3 * log(7.0 / 4);
    check_row("stable_neo_hookean", "2,0,0,0,1,0,0,0,1\n",
              (double[10]){16.0 / 7 + 23.0 / 6, 0, 0, 0, 8.0 / 7 + 23.0 / 3, 0, 0, 0, 8.0 / 7 + 23.0 / 3, psi});
}

static void test_one_line_for_one_line(void **state) {
    (void)state;
    told answer = eval_with(
        "# rows\n1,0,0,0,1,0,0,0,1\r\n\n 1 , "
        "0,0,0,1,0,0,0,-1\n#\n1,0,0,0,1,0,0,0,1.0000000000000002\n1,0,0,0,1,0,0,0,0.5",
        "--material", "neo_hookean");
    expect_code(answer, 0);
    assert_int_equal(lines(answer.out), 4);
    expect_says(answer.out, "0,0,0,0,0,0,0,0,0,0\nnan,nan,nan,nan,nan,nan,nan,nan,nan,nan\n"); /* rest, inverted */
    double got[41];
    assert_int_equal(numbers(answer.out, got, 41), 40);
    assert_true(got[28] > 0); /* a strain of one unit in the last place still has a stress */
    forget(&answer);
    answer = eval_with("", "--material", "stvk");
    expect_code(answer, 0);
    assert_string_equal(answer.out, "");
    forget(&answer);
}

static void test_joins(void **state) {
    (void)state;
    /* Sides held, stretch 0.2, lambda + 2 mu = 6: stvk -0.096 * 6; printed -0.8 * 6; continuous and clamp: the largest
     * resistance -1/(3 sqrt 3) * 6; shifted: that and (0.2 - 1/sqrt 3) * 6. */
    static const struct {
        const char *join;
        double wanted;
    } join[] = {{"join=none", -0.576},
                {"join=printed", -4.8},
                {"join=continuous", -1.1547005383792515},
                {"join=clamp", -1.1547005383792515},
                {"join=shifted", -1.1547005383792515 - 2.2641016151377544}};
    for (size_t i = 0; i < sizeof join / sizeof *join; i++) {
        told answer =
            eval_with("0.2,0,0,0,1,0,0,0,1\n", "--material", "stvk", "-s", "E=2.8", "-s", "nu=0.4", "-s", join[i].join);
        expect_code(answer, 0);
        if (!(fabs(strtod(answer.out, NULL) - join[i].wanted) <= 1e-13))
            fail_msg("%s: %s, wanted %.17g", join[i].join, answer.out, join[i].wanted);
        forget(&answer);
    }
    told answer = eval_with("0.2,0,0,0,1,0,0,0,1\n", "--material", "stvk", "-s", "join=printed", "-s", "threshold=0.1");
    told plain = eval_with("0.2,0,0,0,1,0,0,0,1\n", "--material", "stvk");
    assert_int_equal((int)(1e6 * strtod(answer.out, NULL)), (int)(1e6 * strtod(plain.out, NULL)));
    forget(&answer);
    forget(&plain);
}

static void test_uniaxial(void **state) {
    (void)state;
    told answer = eval_with("1.2\n1\n1.87\n1.88\n", "--material", "stvk", "-s", "E=10", "-s", "nu=0.4", "--uniaxial");
    expect_code(answer, 0);
    assert_int_equal(lines(answer.out), 4);
    double got[13];
    assert_int_equal(numbers(answer.out, got, 13), 12);
    assert_true(got[0] == 1.2 && fabs(got[1] - sqrt(1 - 0.4 * 0.44)) < 1e-14 && fabs(got[2] - 10 * 0.22 * 1.2) < 1e-13);
    assert_true(got[3] == 1 && fabs(got[4] - 1) < 1e-14 && fabs(got[5]) < 1e-13);
    assert_true(isfinite(got[7])); /* C-10: no state beyond sqrt(1 + 1/nu) = 1.8708 */
    assert_true(isnan(got[10]) && isnan(got[11]));
    forget(&answer);
}

static void test_what_it_cannot_take(void **state) {
    (void)state;
    static const char *const row = "1,0,0,0,1,0,0,0,1\n";
    static const struct {
        const char *input, *words[8];
        const char *says[3];
    } bad[] = {
        {"", {NULL}, {"--material", "stvk"}},
        {"", {"--material", "stvkk"}, {"stvkk", "'stvk'"}},
        {"", {"--material", "stvk", "-s", "nuu=0.3"}, {"nuu", "'nu'"}},
        {"", {"--material", "stvk", "-s", "nu=0.5"}, {"nu=0.5", "(-1, 0.5)"}},
        {"", {"--material", "stvk", "-s", "nu=-1"}, {"nu=-1", "(-1, 0.5)"}},
        {"", {"--material", "stvk", "-s", "E=0"}, {"E=0", "(0, inf)"}},
        {"", {"--material", "stvk", "-s", "E=nan"}, {"E=nan"}},
        {"", {"--material", "stvk", "-s", "join=printd"}, {"printd", "'printed'"}},
        {"", {"--material", "stvk", "-s", "threshold=0.5"}, {"threshold", "join"}},
        {"", {"--material", "corotated", "-s", "join=printed"}, {"corotated", "join=printed"}},
        {"", {"--material", "hencky", "-s", "join=clamp", "-s", "threshold=0"}, {"hencky", "threshold"}},
        {"1,2,3\n", {"--material", "stvk"}, {"line 1", "3 fields", "9"}},
        {"# c\n1,0,0,0,1,0,0,0,1,0\n", {"--material", "stvk"}, {"line 2", "10 fields"}},
        {"1,0,0,0,x,0,0,0,1\n", {"--material", "stvk"}, {"line 1", "field 5", "'x'"}},
        {"1,0,0,0,,0,0,0,1\n", {"--material", "stvk"}, {"line 1", "field 5"}},
        {"1,0,0,0,inf,0,0,0,1\n", {"--material", "stvk"}, {"field 5", "finite"}},
        {"1,0,0,0,1e999,0,0,0,1\n", {"--material", "stvk"}, {"field 5", "finite"}},
        {"1,\"0\n,0,0,1,0,0,0,1\n", {"--material", "stvk"}, {"line 1", "quote"}},
        {row, {"--material", "stvk", "--uniaxial"}, {"line 1", "9 fields", "1"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *words[12] = {"eval", "stress"};
        for (size_t k = 0; bad[i].words[k]; k++) words[k + 2] = bad[i].words[k];
        told answer = tell_input(STDOUT_KEPT, bad[i].input, words);
        printf("[          ] %s", answer.err);
        expect_code(answer, 2);
        assert_string_equal(answer.out, "");
        for (size_t k = 0; k < 3 && bad[i].says[k]; k++) expect_says(answer.err, bad[i].says[k]);
        forget(&answer);
    }
    told answer = tell("eval", "strss");
    expect_code(answer, 2);
    expect_says(answer.err, "'stress'");
    forget(&answer);

    /* Rows before the bad one have been answered. */
    answer = eval_with("1,0,0,0,1,0,0,0,1\nno\n1,0,0,0,1,0,0,0,1\n", "--material", "hencky");
    expect_code(answer, 2);
    assert_int_equal(lines(answer.out), 1);
    expect_says(answer.err, "line 2");
    forget(&answer);

    /* Nobody takes the answers. */
    answer = tell_input(STDOUT_FULL, row, (const char *const[]){"eval", "stress", "--material", "stvk", NULL});
    expect_code(answer, 5);
    forget(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_by_hand),
        cmocka_unit_test(test_one_line_for_one_line),
        cmocka_unit_test(test_joins),
        cmocka_unit_test(test_uniaxial),
        cmocka_unit_test(test_what_it_cannot_take),
    };
    return cmocka_run_group_tests_name("eval", tests, NULL, remove_workplace);
}
