/* The smoothing kernels of methods/physics/space/sph_kernel.h against claims A1: unit integral, gradients by
 * differences, and the papers' closed forms with their definition of the radius. */
#define REAL double
#include "methods/physics/space/sph_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { KERNELS = 4 };
static const char *const kernel_name[] = SPH_KERNEL_NAMES;

static double w_at(int kernel, double r, double support) { return sph_kernel_at((sph_kernel)kernel, r * r, support).w; }

/* 2 int W dr, 2 pi int r W dr, 4 pi int r^2 W dr by Gauss-Legendre with 5 points on 2 intervals on each side of the
 * cubic spline's knot: exact for these polynomials, of degree 8 at most. */
static double integral(int kernel, int dimensions, double support) {
    const double sphere[] = {2, 2 * acos(-1), 4 * acos(-1)};
    static const double at[5] = {0, 0.53846931010568309104, -0.53846931010568309104, 0.90617984593866399280,
                                 -0.90617984593866399280};
    static const double weight[5] = {0.56888888888888888889, 0.47862867049936646804, 0.47862867049936646804,
                                     0.23692688505618908751, 0.23692688505618908751};
    double sum = 0;
    for (int piece = 0; piece < 4; piece++)
        for (int k = 0; k < 5; k++) {
            const double r = support * (piece + 0.5 + 0.5 * at[k]) / 4;
            const double w = sph_kernel_in((sph_kernel)kernel, dimensions, r * r, support).w;
            sum += weight[k] * support / 8 * sphere[dimensions - 1] * pow(r, dimensions - 1) * w;
        }
    return sum;
}

static void test_integrals_are_one(void **state) {
    (void)state;
    for (int kernel = 0; kernel < KERNELS; kernel++)
        for (int dimensions = 1; dimensions <= 3; dimensions++)
            for (double support = 1e-3; support < 2000; support *= 10) {
                const double off = fabs(integral(kernel, dimensions, support) - 1);
                if (!(off <= 1e-14))
                    fail_msg("%s in %d dimensions, support %g: integral off by %.3g", kernel_name[kernel], dimensions,
                             support, off);
            }
}

static void test_slopes_by_differences(void **state) {
    (void)state;
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        double most = 0;
        const double support = 0.2, steepest = 4 * w_at(kernel, 0, support) / support;
        for (int n = 1; n < 400; n++) {
            const double r = support * n / 400 * 1.1, h = 1e-6 * support;
            const double slope = (w_at(kernel, r + h, support) - w_at(kernel, r - h, support)) / (2 * h);
            const double off = fabs(slope - r * sph_kernel_at((sph_kernel)kernel, r * r, support).slope) / steepest;
            if (!(off <= most)) most = off;
        }
        print_message("    %-13s slope off by %.2g of 4 W(0)/R\n", kernel_name[kernel], most);
        assert_true(most <= 1e-9);
    }
}

/* The rows of A1 in three dimensions, with h as defined in each paper. */
static void test_values_of_the_papers(void **state) {
    (void)state;
    const double h = 0.7, pi = acos(-1);
    for (int n = 0; n <= 40; n++) {
        const double x = n * 0.05 * h, q = x / h, cube = h * h * h;
        const double poly6 = x < h ? 315 / (64 * pi * pow(h, 9)) * pow(h * h - x * x, 3) : 0;
        const double spline = (q <= 1 ? 1 - 1.5 * q * q + 0.75 * q * q * q : pow(2 - q, 3) / 4) / (pi * cube);
        const double wendland = 21 / (16 * pi * cube) * pow(1 - q / 2, 4) * (1 + 2 * q);
        const double spiky = 15 / (64 * pi * cube) * pow(2 - q, 3);
        const double wanted[KERNELS] = {poly6, spline, wendland, spiky};
        for (int kernel = 0; kernel < KERNELS; kernel++) {
            const double got = w_at(kernel, x, kernel == SPH_POLY6 ? h : 2 * h);
            if (!(fabs(got - wanted[kernel]) <= 1e-14 * w_at(kernel, 0, h)))
                fail_msg("%s at %g: %.17g, wanted %.17g", kernel_name[kernel], x, got, wanted[kernel]);
        }
    }
}

/* The same at r = 0 in one and two dimensions. */
static void test_values_on_a_line_and_in_a_plane(void **state) {
    (void)state;
    const double h = 0.7, pi = acos(-1), r = 2 * h;
    const double wanted[KERNELS][2] = {{35 / (32 * h), 4 / (pi * h * h)},
                                       {2 / (3 * h), 10 / (7 * pi * h * h)},
                                       {3 / (4 * h), 7 / (4 * pi * h * h)},
                                       {1 / h, 5 / (2 * pi * h * h)}};
    for (int kernel = 0; kernel < KERNELS; kernel++)
        for (int d = 1; d <= 2; d++) {
            const double got = sph_kernel_in((sph_kernel)kernel, d, 0, kernel == SPH_POLY6 ? h : r).w;
            if (!(fabs(got / wanted[kernel][d - 1] - 1) <= 1e-14))
                fail_msg("%s in %d dimensions: %.17g, wanted %.17g", kernel_name[kernel], d, got,
                         wanted[kernel][d - 1]);
        }
}

/* desbrun1996-fig1 and fig2: the spline has zero slope at 0 and is steepest at 2h/3; the paper's kernel has the slope
 * -12 sigma/h at 0. */
static void test_slopes_at_zero(void **state) {
    (void)state;
    const double h = 1, sigma = 15 / (64 * acos(-1));
    const double near = 1e-9;
    assert_true(fabs(near * sph_kernel_at(SPH_CUBIC_SPLINE, near * near, 2 * h).slope) < 1e-8);
    assert_true(fabs(near * sph_kernel_at(SPH_SPIKY, near * near, 2 * h).slope + 12 * sigma) < 1e-8);
    assert_true(sph_kernel_at(SPH_SPIKY, 0, 2 * h).slope == 0); /* the gradient at 0: isotropic */
    double steepest = 0, where = 0;
    for (double x = 0.001; x < 2; x += 0.001) {
        const double slope = -x * sph_kernel_at(SPH_CUBIC_SPLINE, x * x, 2 * h).slope;
        if (slope > steepest) {
            steepest = slope;
            where = x;
        }
    }
    assert_true(fabs(where - 2.0 / 3) <= 0.001);
}

/* Zero beyond the support, at any distance, and for NaN. */
static void test_ends(void **state) {
    (void)state;
    for (int kernel = 0; kernel < KERNELS; kernel++)
        for (int n = 0; n < 5; n++) {
            const double square[5] = {1, 1.0001, 1e300, INFINITY, NAN};
            const sph_value at = sph_kernel_at((sph_kernel)kernel, square[n], 1);
            assert_true(at.w == 0 && at.slope == 0);
        }
}

/* Batches have the values of single reals, to rounding: contraction to multiply-adds may differ. */
static void test_batches(void **state) {
    (void)state;
    enum { SQUARES = 800 };
    for (int kernel = 0; kernel < KERNELS; kernel++)
        for (int n = 0; n + PBD_BATCH <= SQUARES; n += PBD_BATCH) {
            double square[PBD_BATCH];
            for (int l = 0; l < PBD_BATCH; l++) square[l] = pow((n + l) / 700.0, 2);
            if (n == 0) square[PBD_BATCH - 1] = NAN;
            const vsph_value all = vsph_kernel_scaled((sph_kernel)kernel, 3, 1, batch_load(square, 0, PBD_BATCH));
            for (int l = 0; l < PBD_BATCH; l++) {
                const sph_value one = sph_kernel_scaled((sph_kernel)kernel, 3, 1, square[l]);
                assert_true(fabs(batch_lane(all.w, l) - one.w) <= 1e-15 * 3);
                assert_true(fabs(batch_lane(all.slope, l) - one.slope) <= 1e-15 * (60 + fabs(one.slope)));
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integrals_are_one),
        cmocka_unit_test(test_slopes_by_differences),
        cmocka_unit_test(test_values_of_the_papers),
        cmocka_unit_test(test_values_on_a_line_and_in_a_plane),
        cmocka_unit_test(test_slopes_at_zero),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_batches),
    };
    return cmocka_run_group_tests_name("smoothing kernels", tests, NULL, NULL);
}
