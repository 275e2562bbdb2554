/* Logarithm and exponential of methods/physics/math/log.h against the C library's in long double, for the precision
 * REAL: included by test_log.c (f64) and test_log_f32.c. Errors are in units of the last place of the right answer. */
#include "methods/physics/math/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int first_exponent = REAL_IS_FLOAT ? -149 : -1074, last_exponent = REAL_IS_FLOAT ? 127 : 1023;
static const double log_limit = 1, exp_limit = 1.5, excess_limit = 4;

static uint64_t next(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 11;
}
static double noise(uint64_t *seed) { return (double)next(seed) / (double)(UINT64_C(1) << 52) - 1; }

static double in_ulp(real got, long double wanted) {
    long double size = fabsl(wanted);
    int exponent = size > 0 ? ilogbl(size) : first_exponent;
    int last = exponent - REAL_MANTISSA;
    if (last < first_exponent) last = first_exponent;
    return (double)fabsl(ldexpl((long double)got - wanted, -last));
}

static void keep(double *most, double x) {
    if (!(x <= *most)) *most = x;
}

/* One function on the numbers of a batch, in scalar and batch form; these must agree to all but the last digit. */
typedef struct both {
    real plain[PBD_BATCH], batch[PBD_BATCH];
} both;

#define BOTH(function)                                                            \
    static both both_##function(const real x[PBD_BATCH]) {                        \
        both out;                                                                 \
        vreal v;                                                                  \
        memcpy(&v, x, sizeof v);                                                  \
        v = vreal_##function(v);                                                  \
        memcpy(out.batch, &v, sizeof v);                                          \
        for (int l = 0; l < PBD_BATCH; l++) out.plain[l] = real_##function(x[l]); \
        return out;                                                               \
    }
BOTH(log)
BOTH(exp)

static void test_log_of_every_exponent(void **state) {
    (void)state;
    uint64_t seed = 1;
    double plain = 0, batch = 0;
    const int each = (REAL_IS_FLOAT ? 4096 : 1024) / PBD_BATCH;
    for (int exponent = first_exponent; exponent <= last_exponent; exponent++)
        for (int n = 0; n < each; n++) {
            real x[PBD_BATCH];
            for (int l = 0; l < PBD_BATCH; l++) {
                x[l] = (real)ldexp(1 + (double)(next(&seed) >> 1) / (double)(UINT64_C(1) << 52), exponent);
                if (!isfinite((double)x[l])) x[l] = (real)ldexp(1, exponent); /* rounded up to infinity */
            }
            both got = both_log(x);
            for (int l = 0; l < PBD_BATCH; l++) {
                keep(&plain, in_ulp(got.plain[l], logl(x[l])));
                keep(&batch, in_ulp(got.batch[l], logl(x[l])));
            }
        }
    print_message("    log over all exponents: %.3f ulp, in batches %.3f ulp\n", plain, batch);
    assert_true(plain <= log_limit && batch <= log_limit);
}

static void test_log_near_one(void **state) {
    (void)state;
    uint64_t seed = 2;
    double log = 0, excess = 0, off_grid = 0;
    for (int n = 0; n < 20000; n++) {
        real x = (real)(1 + noise(&seed) * pow(10, 4 * (noise(&seed) - 1)));
        keep(&log, in_ulp(real_log(x), logl(x)));
        /* x - 1 - log x from d = x - 1, which is known to more digits than x holds. */
        real d = (real)(noise(&seed) * pow(10, (REAL_IS_FLOAT ? 9 : 12) * (noise(&seed) - 1)) *
                        0.29); /* the power of two in x is 1 */
        log_parts got = log_of(1 + d, d);
        long double wanted = 0; /* by the series: even in long double the difference would cancel */
        for (int k = 60; k > 1; k--) wanted += powl(-d, k) / k;
        keep(&excess, in_ulp(got.excess, wanted));
        keep(&off_grid, in_ulp(got.log, log1pl(d)));
    }
    print_message("    near 1: log %.3f ulp, log(1 + d) %.3f ulp, d - log(1 + d) %.3f ulp\n", log, off_grid, excess);
    assert_true(log <= log_limit && off_grid <= log_limit && excess <= excess_limit);
}

static void test_exp(void **state) {
    (void)state;
    uint64_t seed = 3;
    double plain = 0, batch = 0;
    const double lowest = REAL_IS_FLOAT ? -104 : -746, highest = REAL_IS_FLOAT ? 88.7 : 709.7;
    for (int n = 0; n < 400000 / PBD_BATCH; n++) {
        real x[PBD_BATCH];
        for (int l = 0; l < PBD_BATCH; l++) {
            double t = 0.5 * (noise(&seed) + 1);
            x[l] = (real)(n % 2 ? lowest + t * (highest - lowest) : noise(&seed) * pow(10, 4 * (noise(&seed) - 1)));
        }
        both got = both_exp(x);
        for (int l = 0; l < PBD_BATCH; l++) {
            keep(&plain, in_ulp(got.plain[l], expl(x[l])));
            keep(&batch, in_ulp(got.batch[l], expl(x[l])));
        }
    }
    print_message("    exp: %.3f ulp, in batches %.3f ulp\n", plain, batch);
    assert_true(plain <= exp_limit && batch <= exp_limit);
}

/* The same special values as the C library's functions. */
static void test_special_values(void **state) {
    (void)state;
    const real inf = (real)INFINITY, nan = (real)NAN, tiny = real_from_bits(1);
    const real x[] = {0, -(real)0, inf, -inf, nan, -1, 1, tiny, -tiny, 1000, -1000};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        real many[PBD_BATCH];
        for (int l = 0; l < PBD_BATCH; l++) many[l] = x[i];
        both logs = both_log(many), exps = both_exp(many);
        const double wanted_log = log((double)x[i]);
        const double wanted_exp = REAL_IS_FLOAT ? (double)expf((float)x[i]) : exp((double)x[i]);
        const real got[4] = {logs.plain[0], logs.batch[0], exps.plain[0], exps.batch[0]};
        for (int k = 0; k < 4; k++) {
            double wanted = k < 2 ? wanted_log : wanted_exp;
            if (isnan(wanted))
                assert_true(isnan((double)got[k]));
            else if (isinf(wanted) || wanted == 0)
                assert_true((double)got[k] == wanted);
            else
                assert_true(in_ulp(got[k], (long double)wanted) <= 2);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_of_every_exponent),
        cmocka_unit_test(test_log_near_one),
        cmocka_unit_test(test_exp),
        cmocka_unit_test(test_special_values),
    };
    return cmocka_run_group_tests_name(REAL_IS_FLOAT ? "log f32" : "log f64", tests, NULL, NULL);
}
