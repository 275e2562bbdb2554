/* `eval`: input, output, and errors for invalid rows and parameters. Expected numbers are calculated by hand from the
 * formulas of methods/physics/README.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/program.h"

#define eval_with(input, ...) tell_input(STDOUT_KEPT, input, (const char *const[]){"eval", "stress", __VA_ARGS__, NULL})

/* Reads numbers separated by commas or line ends; returns how many. */
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
    /* The same rotated by a quarter turn about z: P rotates with it. */
    check_row("corotated", "0,-1,0,2,0,0,0,0,1\n", (double[10]){0, -4, 0, 6, 0, 0, 0, 0, 4, 3});
    /* Simple shear by 1/2: J = 1, F^-T = (1 0 0; -1/2 1 0; 0 0 1), P = F - F^-T, psi = 1/8. */
    check_row("neo_hookean", "1,0.5,0,0,1,0,0,0,1\n", (double[10]){0, 0.5, 0, 0.5, 0, 0, 0, 0, 0, 0.125});
    /* log 2 along x: P = 2 mu log 2/2 + 4 log 2/2 along x, 4 log 2 across; psi = 3 log^2 2. */
    const double l = log(2);
    check_row("hencky", "2,0,0,0,1,0,0,0,1\n", (double[10]){3 * l, 0, 0, 0, 4 * l, 0, 0, 0, 4 * l, 3 * l * l});
    /* m = 4/3, l = 29/6: I = 6, J = 2, a = 1 + 6/29; P = (8/7) F + (29/6) (23/29) cof F, cof = diag(1, 2, 2). */
    const double a = 6.0 / 29, psi = 2.0 + 29.0 / 12 * ((1 - a) * (1 - a) - a * a) - 2.0 / 3 * log(7.0 / 4);
    check_row("stable_neo_hookean", "2,0,0,0,1,0,0,0,1\n",
              (double[10]){16.0 / 7 + 23.0 / 6, 0, 0, 0, 8.0 / 7 + 23.0 / 3, 0, 0, 0, 8.0 / 7 + 23.0 / 3, psi});
    /* mu = 1, l = 5, J = 2: P = F + (5 (J - 1) - 1) cof F, psi = 3/2 - 1 + 5/2. */
    check_row("macklin_neo_hookean", "2,0,0,0,1,0,0,0,1\n", (double[10]){6, 0, 0, 0, 9, 0, 0, 0, 9, 3});
    /* s = t - 0.3/t with t = (2, 1, 1/2): P = 2 (s - 1) + 12 (s - t), psi = |s - 1|^2 + 6 |s - t|^2. */
    check_row("projective", "1.85,0,0,0,0.7,0,0,0,-0.1\n", (double[10]){-0.1, 0, 0, 0, -4.2, 0, 0, 0, -9.4, 4.8575});
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
     * resistance, -1/(3 sqrt 3) * 6; shifted: that plus (0.2 - 1/sqrt 3) * 6. */
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
        {"", {"--material", "stvk", "-s", "E=inf"}, {"E=inf", "(0, inf)"}},
        {"", {"--material", "stvk", "-s", "E=1e306", "-s", "nu=0.49999"}, {"E=1e+306", "nu=0.49999", "unit"}},
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

    /* The output cannot be written. */
    answer = tell_input(STDOUT_FULL, row, (const char *const[]){"eval", "stress", "--material", "stvk", NULL});
    expect_code(answer, 5);
    forget(&answer);
}

/* ---- Flow rules and kernels -------------------------------------------------------------------------------------- */

/* Runs `eval WORDS` on `input`; expects exactly `wanted` numbers, each within `limit`. */
static void check_numbers(const char *const words[], const char *input, size_t count, const double *wanted,
                          double limit) {
    told answer = tell_input(STDOUT_KEPT, input, words);
    double got[64];
    expect_code(answer, 0);
    assert_int_equal(numbers(answer.out, got, 64), count);
    for (size_t i = 0; i < count; i++)
        if (!(fabs(got[i] - wanted[i]) <= limit))
            fail_msg("%s %s: number %zu is %.17g, wanted %.17g", words[1], words[3], i + 1, got[i], wanted[i]);
    forget(&answer);
}

/* Every rule by hand; mu = 1 where E = 2.6. A quarter turn about z is kept in the result. */
static void test_flow_by_hand(void **state) {
    (void)state;
    const double a = 0.05 / sqrt(3), x = exp(a), y = exp(-a); /* |dev tau| = 2 sqrt 2 a = sqrt(2/3) 0.1 */
    check_numbers(
        (const char *const[]){"eval", "flow", "--rule", "von_mises", "-s", "E=2.6", "-s", "yield_stress=0.1", NULL},
        "# F\n1.25,0,0,0,0.8,0,0,0,1\n\n0,-1.25,0,0.8,0,0,0,0,1\n", 18,
        (double[18]){x, 0, 0, 0, y, 0, 0, 0, 1, 0, -x, 0, y, 0, 0, 0, 0, 1}, 1e-15);
    const double f = exp(0.1 / (2 * sqrt(2)));
    check_numbers((const char *const[]){"eval", "flow", "--rule", "von_mises", "-s", "E=2.6", "-s", "yield_stress=0.1",
                                        "-s", "yield_norm=frobenius", NULL},
                  "1.25,0,0,0,0.8,0,0,0,1\n", 9, (double[9]){f, 0, 0, 0, 1 / f, 0, 0, 0, 1}, 1e-15);
    /* Expansion ends at the tip, F = R, with a volume gain of log 2; pressure is unchanged; a gain is given back. */
    check_numbers((const char *const[]){"eval", "flow", "--rule", "drucker_prager", "-s", "friction_angle=30", NULL},
                  "2,0,0,0,1,0,0,0,1\n0.5,0,0,0,0.5,0,0,0,0.5\n", 20,
                  (double[20]){1, 0, 0, 0, 1, 0, 0, 0, 1, log(2), 0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5, 0}, 1e-15);
    check_numbers((const char *const[]){"eval", "flow", "--rule", "drucker_prager", "-s", "state=0.3", NULL},
                  "0.81873075307798182,0,0,0,0.81873075307798182,0,0,0,0.81873075307798182\n", 10,
                  (double[10]){exp(-0.1), 0, 0, 0, exp(-0.1), 0, 0, 0, exp(-0.1), 0}, 1e-15);
    /* p0 = 1e-5 kappa: the elastic part keeps J = sqrt(1 - 2e-5), and alpha takes the rest. */
    const double j = sqrt(1 - 2e-5), c = cbrt(j);
    check_numbers((const char *const[]){"eval", "flow", "--rule", "nacc", "-s", "xi=0", "-s", "alpha0=-0.1", NULL},
                  "0.5,0,0,0,0.5,0,0,0,0.5\n", 10, (double[10]){c, 0, 0, 0, c, 0, 0, 0, c, -0.1 + log(0.125) - log(j)},
                  1e-13);
    /* power 1: of the overstress A = 2 sqrt 2 log 1.25 - sqrt(2/3) 0.1, A/(1 + 2 mu dt/viscosity) remains. */
    const double r = sqrt(2.0 / 3) * 0.1, e = (r + (2 * sqrt(2) * log(1.25) - r) / 1.2) / (2 * sqrt(2));
    check_numbers((const char *const[]){"eval", "flow", "--rule", "herschel_bulkley", "-s", "E=2.6", "-s",
                                        "yield_stress=0.1", "-s", "viscosity=5", "-s", "dt=0.5", NULL},
                  "1.25,0,0,0,0.8,0,0,0,1\n", 9, (double[9]){exp(e), 0, 0, 0, exp(-e), 0, 0, 0, 1}, 1e-14);
    check_numbers((const char *const[]){"eval", "flow", "--rule", "snow", NULL}, "1.1,0,0,0,1,0,0,0,0.9\n", 10,
                  (double[10]){1.0075, 0, 0, 0, 1, 0, 0, 0, 0.975, 1.1 * 0.9 / (1.0075 * 0.975)}, 1e-15);
    /* Zero and a reflection are valid rows. */
    check_numbers((const char *const[]){"eval", "flow", "--rule", "snow", NULL},
                  "0,0,0,0,0,0,0,0,0\n1,0,0,0,1,0,0,0,-1\n", 20,
                  (double[20]){0.975, 0, 0, 0, 0.975, 0, 0, 0, 0.975, 1e-12 / pow(0.975, 3),
                               1,     0, 0, 0, 1,     0, 0, 0, 0.975, 1e-4 / 0.975},
                  1e-15);
}

/* W and dW/dr of each kernel at r = 0, at half its support and at its support: claims A1, with h = 0.5 (support 1). */
static void test_kernels_by_hand(void **state) {
    (void)state;
    const double pi = acos(-1);
    static const char *const input = "0\n0.5\n1\n";
    /* sigma = 315/(64 pi); (1 - 1/4)^3; slope -6 r sigma (1 - 1/4)^2 */
    double sigma = 315 / (64 * pi);
    check_numbers((const char *const[]){"eval", "kernel", "--kernel", "poly6", "-s", "radius=1", NULL}, input, 6,
                  (double[6]){sigma, 0, sigma * 27 / 64, -3 * sigma * 9 / 16, 0, 0}, 1e-14);
    /* sigma = 1/(pi h^3) = 8/pi; at q = 1: 1/4, slope -(3/4)(sigma/h) */
    sigma = 8 / pi;
    check_numbers((const char *const[]){"eval", "kernel", "--kernel", "cubic_spline", "-s", "radius=0.5", NULL}, input,
                  6, (double[6]){sigma, 0, sigma / 4, -1.5 * sigma, 0, 0}, 1e-14);
    /* sigma = 21/(16 pi r^3) = 21/(2 pi); at q = 1: (1/2)^4 3, slope -(5 sigma/r)(1/2)^3 */
    sigma = 21 / (2 * pi);
    check_numbers((const char *const[]){"eval", "kernel", "--kernel", "wendland_c2", "-s", "radius=0.5", NULL}, input,
                  6, (double[6]){sigma, 0, sigma * 3 / 16, -10 * sigma / 8, 0, 0}, 1e-14);
    /* sigma = 15/(64 pi h^3) = 15/(8 pi); (2 - q)^3 = 8, 1; slope -(3 sigma/h)(2 - q)^2 */
    sigma = 15 / (8 * pi);
    check_numbers((const char *const[]){"eval", "kernel", "--kernel", "spiky", "-s", "support=1", NULL}, input, 6,
                  (double[6]){8 * sigma, -24 * sigma, sigma, -6 * sigma, 0, 0}, 1e-14);
    /* in the plane sigma = 5/(16 pi h^2) = 5/(4 pi), on a line 1/(8h) = 1/4 */
    sigma = 5 / (4 * pi);
    check_numbers(
        (const char *const[]){"eval", "kernel", "--kernel", "spiky", "-s", "support=1", "-s", "dimensions=2", NULL},
        input, 6, (double[6]){8 * sigma, -24 * sigma, sigma, -6 * sigma, 0, 0}, 1e-14);
    sigma = 0.25;
    check_numbers(
        (const char *const[]){"eval", "kernel", "--kernel", "spiky", "-s", "support=1", "-s", "dimensions=1", NULL},
        input, 6, (double[6]){8 * sigma, -24 * sigma, sigma, -6 * sigma, 0, 0}, 1e-14);
}

static void test_what_flow_and_kernel_cannot_take(void **state) {
    (void)state;
    static const struct {
        const char *words[8], *says[3];
    } bad[] = {
        {{"flow"}, {"--rule", "drucker_prager"}},
        {{"flow", "--rule", "von_mise"}, {"von_mise", "'von_mises'"}},
        {{"flow", "--rule", "von_mises"}, {"yield_stress", "Pa"}},
        {{"flow", "--rule", "von_mises", "-s", "yield_stress=-1"}, {"yield_stress=-1", "[0, inf)"}},
        {{"flow", "--rule", "von_mises", "-s", "yield_norm=j3"}, {"j3", "'j2'"}},
        {{"flow", "--rule", "von_mises", "-s", "friction_angle=30"}, {"drucker_prager", "von_mises"}},
        {{"flow", "--rule", "drucker_prager", "-s", "friction_angle=90"}, {"friction_angle=90", "[0, 90)"}},
        {{"flow", "--rule", "drucker_prager", "-s", "frictionangle=3"}, {"frictionangle", "'friction_angle'"}},
        {{"flow", "--rule", "herschel_bulkley", "-s", "yield_stress=1", "-s", "dt=1"}, {"viscosity", "needs"}},
        {{"flow", "--rule", "nacc", "-s", "beta=-1"}, {"beta=-1", "[0, 100]"}},
        {{"flow", "--rule", "snow", "-s", "compression=1"}, {"compression=1", "[0, 1)"}},
        {{"flow", "--rule", "snow", "-s", "nu=0.5"}, {"nu=0.5", "(-1, 0.5)"}},
        {{"flow", "--rule", "snow", "--uniaxial"}, {"--uniaxial", "eval stress"}},
        {{"flow", "--material", "stvk"}, {"--material", "eval stress"}},
        {{"kernel", "--kernel", "poly6"}, {"radius", "support"}},
        {{"kernel", "--kernel", "poly6", "-s", "radius=0"}, {"radius=0", "(0, inf)"}},
        {{"kernel", "--kernel", "poly6", "-s", "radius=1", "-s", "support=1"}, {"not both"}},
        {{"kernel", "--kernel", "poly7"}, {"poly7", "'poly6'"}},
        {{"kernel"}, {"--kernel", "wendland_c2"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *words[12] = {"eval"};
        for (size_t k = 0; bad[i].words[k]; k++) words[k + 1] = bad[i].words[k];
        told answer = tell_input(STDOUT_KEPT, "", words);
        printf("[          ] %s", answer.err);
        expect_code(answer, 2);
        assert_string_equal(answer.out, "");
        for (size_t k = 0; k < 3 && bad[i].says[k]; k++) expect_says(answer.err, bad[i].says[k]);
        forget(&answer);
    }
    /* Rows before the bad one have been answered. */
    told answer = tell_input(STDOUT_KEPT, "1,0,0,0,1,0,0,0,1\n1,0,0,0,nan,0,0,0,1\n",
                             (const char *const[]){"eval", "flow", "--rule", "snow", NULL});
    expect_code(answer, 2);
    assert_string_equal(answer.out, "1,0,0,0,1,0,0,0,1,1\n");
    expect_says(answer.err, "line 2");
    forget(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_by_hand),
        cmocka_unit_test(test_one_line_for_one_line),
        cmocka_unit_test(test_joins),
        cmocka_unit_test(test_uniaxial),
        cmocka_unit_test(test_what_it_cannot_take),
        cmocka_unit_test(test_flow_by_hand),
        cmocka_unit_test(test_kernels_by_hand),
        cmocka_unit_test(test_what_flow_and_kernel_cannot_take),
    };
    return cmocka_run_group_tests_name("eval", tests, NULL, remove_workplace);
}
