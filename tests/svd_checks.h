/* The singular values of methods/physics/math/svd3.h against GSL's, for the precision REAL: included by test_svd.c
 * (f64) and test_svd_f32.c. Every matrix goes through the scalar form and, with others in a batch, through the batch
 * form. */
#include "methods/physics/math/svd3.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_linalg.h>

#define EPS REAL_EPSILON
#define LARGEST ((double)(REAL_IS_FLOAT ? FLT_MAX : (real)DBL_MAX))

/* Largest errors of a family of matrices, in units of eps (of eps s.x if they scale with F). */
typedef struct errors {
    double product, u, v, values, order, batch;
} errors;

static const errors limit = {.product = 10, .u = 8, .v = 12, .values = 12, .order = 4, .batch = 6};

static void raise(double *most, double x) {
    if (!(x <= *most)) *most = x; /* also for NaN */
}

static void to_rows(mat3 a, double out[3][3]) {
    const vec3 column[3] = {a.x, a.y, a.z};
    for (int c = 0; c < 3; c++) {
        out[0][c] = (double)column[c].x;
        out[1][c] = (double)column[c].y;
        out[2][c] = (double)column[c].z;
    }
}

static mat3 from_rows(double a[3][3]) {
    vec3 column[3];
    for (int c = 0; c < 3; c++) column[c] = vec3_make((real)a[0][c], (real)a[1][c], (real)a[2][c]);
    return mat3_make(column[0], column[1], column[2]);
}

/* How far the columns are from orthonormal and right-handed. */
static double not_rotation(double a[3][3]) {
    double most = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double dot = 0;
            for (int r = 0; r < 3; r++) dot += a[r][i] * a[r][j];
            raise(&most, fabs(dot - (i == j)));
        }
    double det = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                 a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    raise(&most, fabs(det - 1));
    return most;
}

/* Singular values by GSL, in double, of a matrix scaled to a largest entry of about 1. */
static void values_by_gsl(double a[3][3], double out[3]) {
    double entries[9], v[9], s[3], work[3];
    for (int i = 0; i < 9; i++) entries[i] = a[i / 3][i % 3];
    gsl_matrix_view A = gsl_matrix_view_array(entries, 3, 3), V = gsl_matrix_view_array(v, 3, 3);
    gsl_vector_view S = gsl_vector_view_array(s, 3);
    gsl_vector_view W = gsl_vector_view_array(work, 3);
    gsl_linalg_SV_decomp(&A.matrix, &V.matrix, &S.vector, &W.vector);
    for (int i = 0; i < 3; i++) out[i] = s[i];
}

/* Everything is in double and divided by a power of two, so that subnormal and huge matrices are judged like others. */
static void judge(mat3 f, svd3 got, errors *worst) {
    double a[3][3], u[3][3], v[3][3], wanted[3];
    to_rows(f, a);
    to_rows(got.u, u);
    to_rows(got.v, v);
    double s[3] = {(double)got.s.x, (double)got.s.y, (double)got.s.z}, largest = 0;
    for (int i = 0; i < 9; i++) largest = fmax(largest, fabs(a[i / 3][i % 3]));
    int exponent = 0;
    if (largest > 0) frexp(largest, &exponent);
    for (int i = 0; i < 9; i++) a[i / 3][i % 3] = ldexp(a[i / 3][i % 3], -exponent);
    for (int i = 0; i < 3; i++) s[i] = ldexp(s[i], -exponent);
    /* The smallest subnormal number on the scale of s.x: no result can be more exact. */
    double quantum = ldexp(REAL_IS_FLOAT ? ldexp(1, -149) : ldexp(1, -1074), -exponent);
    values_by_gsl(a, wanted);
    double unit = EPS * wanted[0] + (largest > 0 ? quantum : 0) + (wanted[0] > 0 ? 0 : 1);

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += u[i][k] * s[k] * v[j][k];
            raise(&worst->product, fabs(sum - a[i][j]) / unit);
        }
    raise(&worst->u, not_rotation(u) / EPS);
    raise(&worst->v, not_rotation(v) / EPS);
    for (int i = 0; i < 3; i++) raise(&worst->values, fabs(fabs(s[i]) - wanted[i]) / unit);
    assert_true(s[0] >= 0 && s[1] >= 0);
    raise(&worst->order, fmax(s[1] - s[0], fabs(s[2]) - s[1]) / unit);
    double det = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                 a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    double sure = 100 * EPS * wanted[0] * wanted[0] * wanted[0];
    if (fabs(det) > sure && exponent > -REAL_BIAS + 60) assert_true(det > 0 ? s[2] > 0 : s[2] < 0);
}

/* ---- Batches: matrices are gathered until a batch is full -------------------------------------------------------- */

typedef struct queue {
    mat3 f[PBD_BATCH];
    int count;
    errors worst;
    size_t matrices;
} queue;

static void set_lane(vreal *v, int lane, real x) { memcpy((char *)v + (size_t)lane * sizeof x, &x, sizeof x); }
static real lane_of(const vreal *v, int lane) {
    real x;
    memcpy(&x, (const char *)v + (size_t)lane * sizeof x, sizeof x);
    return x;
}

/* Structs of reals and of batches have the same members in the same order. */
static void put_lanes(vreal *batch, int lane, const real *plain, size_t count) {
    for (size_t i = 0; i < count; i++) set_lane(&batch[i], lane, plain[i]);
}
static void get_lanes(const vreal *batch, int lane, real *plain, size_t count) {
    for (size_t i = 0; i < count; i++) plain[i] = lane_of(&batch[i], lane);
}

static void flush(queue *q) {
    vmat3 f;
    for (int l = 0; l < PBD_BATCH; l++) put_lanes(&f.x.x, l, &q->f[l < q->count ? l : 0].x.x, 9);
    vsvd3 got = vmat3_svd(f);
    for (int l = 0; l < q->count; l++) {
        svd3 mine, plain = mat3_svd(q->f[l]);
        get_lanes(&got.u.x.x, l, &mine.u.x.x, 21);
        judge(q->f[l], plain, &q->worst);
        judge(q->f[l], mine, &q->worst);
        double unit = EPS * (double)plain.s.x + (double)REAL_MIN * EPS;
        raise(&q->worst.batch, fabs((double)(mine.s.x - plain.s.x)) / unit);
        raise(&q->worst.batch, fabs((double)(mine.s.y - plain.s.y)) / unit);
        raise(&q->worst.batch, fabs((double)(mine.s.z - plain.s.z)) / unit);
    }
    q->matrices += (size_t)q->count;
    q->count = 0;
}

static void give(queue *q, mat3 f) {
    q->f[q->count++] = f;
    if (q->count == PBD_BATCH) flush(q);
}

static void finish(queue *q, const char *what) {
    if (q->count) flush(q);
    const errors *w = &q->worst;
    print_message(
        "    %-28s %6zu matrices; in eps: F - U s V^T %.2f, U %.2f, V %.2f, values %.2f, order %.2f, batch %.2f\n",
        what, q->matrices, w->product, w->u, w->v, w->values, w->order, w->batch);
    assert_true(w->product <= limit.product);
    assert_true(w->u <= limit.u);
    assert_true(w->v <= limit.v);
    assert_true(w->values <= limit.values);
    assert_true(w->order <= limit.order);
    assert_true(w->batch <= limit.batch);
}

/* ---- Matrices ---------------------------------------------------------------------------------------------------- */

static double noise(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static void random_rows(uint64_t *seed, double a[3][3]) {
    for (int i = 0; i < 9; i++) a[i / 3][i % 3] = noise(seed);
}

/* A rotation from a random quaternion, right to double's rounding. */
static void random_rotation(uint64_t *seed, double r[3][3]) {
    double q[4], length;
    do {
        length = 0;
        for (int i = 0; i < 4; i++) {
            q[i] = noise(seed);
            length += q[i] * q[i];
        }
    } while (length > 1 || length < 0.01);
    for (int i = 0; i < 4; i++) q[i] /= sqrt(length);
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                         {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                         {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(r, rows, sizeof rows);
}

/* U diag(s) V^T with random rotations. */
static mat3 with_values(uint64_t *seed, double s0, double s1, double s2) {
    double u[3][3], v[3][3], a[3][3], s[3] = {s0, s1, s2};
    random_rotation(seed, u);
    random_rotation(seed, v);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            a[i][j] = 0;
            for (int k = 0; k < 3; k++) a[i][j] += u[i][k] * s[k] * v[j][k];
        }
    return from_rows(a);
}

enum { EACH = 3000 };

static void test_random(void **state) {
    (void)state;
    uint64_t seed = 1;
    queue q = {0};
    for (int n = 0; n < 5 * EACH; n++) {
        double a[3][3];
        random_rows(&seed, a);
        give(&q, from_rows(a));
    }
    finish(&q, "random entries");
}

static void test_all_small_integers(void **state) {
    (void)state;
    queue q = {0};
    for (int n = 0; n < 19683; n++) { /* every matrix of -1, 0, 1: all ranks, reflections, equal values */
        double a[3][3];
        for (int i = 0, rest = n; i < 9; i++, rest /= 3) a[i / 3][i % 3] = rest % 3 - 1;
        give(&q, from_rows(a));
    }
    finish(&q, "all of -1, 0, 1");
}

/* The matrix, found by hill climbing, for which one sweep fewer leaves the largest error (5e-9 of the largest value).
 */
static void test_slow_to_converge(void **state) {
    (void)state;
    double a[3][3] = {{-14.9579065, -1.64031013, 0.115723039},
                      {-102.305222, -0.00519881555, -3.19439051},
                      {0.0199610943, -99.7996937, 103.406489}};
    queue q = {0};
    for (int n = 0; n < 64; n++) {
        give(&q, from_rows(a));
        for (int i = 0; i < 9; i++) a[i / 3][i % 3] *= 1 + 1e-3 * ((n + i) % 5);
    }
    finish(&q, "slow to converge");
}

static void test_graded(void **state) {
    (void)state;
    uint64_t seed = 2;
    queue q = {0};
    for (int n = 0; n < EACH; n++) { /* singular values over 30 decades, either sign */
        double s1 = pow(10, 7.5 * (noise(&seed) - 1)), s2 = s1 * pow(10, 7.5 * (noise(&seed) - 1));
        give(&q, with_values(&seed, 1, s1, n % 2 ? s2 : -s2));
    }
    finish(&q, "graded values");
    queue rows = {0};
    for (int n = 0; n < EACH; n++) { /* columns and rows of very different size */
        double a[3][3];
        random_rows(&seed, a);
        double row = pow(10, 5 * noise(&seed)), column = pow(10, 5 * noise(&seed));
        for (int i = 0; i < 3; i++) {
            a[n % 3][i] *= row;
            a[i][n / 3 % 3] *= column;
        }
        give(&rows, from_rows(a));
    }
    finish(&rows, "graded rows and columns");
}

static void test_ranks(void **state) {
    (void)state;
    uint64_t seed = 3;
    queue two = {0}, one = {0}, none = {0};
    for (int n = 0; n < EACH; n++) {
        give(&two, with_values(&seed, 1, fabs(noise(&seed)), 0));
        give(&one, with_values(&seed, 1, 0, 0));
    }
    finish(&two, "rank 2");
    finish(&one, "rank 1");
    for (int n = 0; n < 16; n++) give(&none, mat3_diagonal(vec3_make(0, 0, 0)));
    svd3 zero = mat3_svd(mat3_diagonal(vec3_make(0, 0, 0)));
    assert_true(zero.s.x == 0 && zero.s.y == 0 && zero.s.z == 0);
    finish(&none, "rank 0");
}

static void test_near_equal_values(void **state) {
    (void)state;
    uint64_t seed = 4;
    queue q = {0};
    for (int n = 0; n < 3 * EACH; n++) {
        double gap = pow(10, 9 * (noise(&seed) - 1)), other = pow(10, 9 * (noise(&seed) - 1));
        double last = n % 3 == 0 ? 1 - gap - other : n % 3 == 1 ? -(1 - gap - other) : fabs(noise(&seed));
        give(&q, with_values(&seed, 1, 1 - gap, last));
    }
    finish(&q, "near-equal values");
}

static void test_near_rotations(void **state) {
    (void)state;
    uint64_t seed = 5;
    queue q = {0};
    for (int n = 0; n < 2 * EACH; n++) { /* near the identity, as in a body under slight strain */
        double strain = pow(10, 4 * (noise(&seed) - 1)), a[3][3];
        to_rows(with_values(&seed, 1, 1, 1), a);
        for (int i = 0; i < 9; i++) a[i / 3][i % 3] += strain * noise(&seed);
        give(&q, from_rows(a));
    }
    finish(&q, "near rotations");
}

static void test_scales(void **state) {
    (void)state;
    uint64_t seed = 6;
    queue q = {0};
    const int lowest = REAL_IS_FLOAT ? -149 : -1074, highest = REAL_IS_FLOAT ? 126 : 1022;
    for (int exponent = lowest; exponent <= highest; exponent++)
        for (int n = 0; n < 3; n++) {
            double a[3][3];
            random_rows(&seed, a);
            for (int i = 0; i < 9; i++) a[i / 3][i % 3] = ldexp(a[i / 3][i % 3], exponent - 1);
            give(&q, from_rows(a));
        }
    finish(&q, "all scales");
}

/* Even if columns are so small beside the first that no rotation changes them, the last singular value carries the
 * sign. */
static void test_signs_below_rounding(void **state) {
    (void)state;
    const real tiny = REAL_MIN * 64;
    for (int signs = 0; signs < 8; signs++) {
        svd3 got = mat3_svd(
            mat3_diagonal(vec3_make(signs & 1 ? -1 : 1, signs & 2 ? -2 * tiny : 2 * tiny, signs & 4 ? -tiny : tiny)));
        assert_true(got.s.x == 1 && got.s.y == 2 * tiny && fabs((double)got.s.z) == (double)tiny);
        assert_int_equal(got.s.z < 0, (signs & 1) ^ (signs >> 1 & 1) ^ (signs >> 2));
    }
}

static void test_not_numbers(void **state) {
    (void)state;
    const real bad[2] = {(real)NAN, (real)INFINITY};
    for (int n = 0; n < 18; n++) {
        mat3 f = mat3_identity();
        memcpy((real *)&f + n % 9, &bad[n / 9], sizeof(real));
        svd3 got = mat3_svd(f);
        assert_false(isfinite((double)(got.s.x + got.s.y + got.s.z)));
    }
}

static void test_polar(void **state) {
    (void)state;
    uint64_t seed = 7;
    double worst_r = 0, worst_s = 0, worst_f = 0, nearer = 0;
    for (int n = 0; n < EACH; n++) {
        double rotation[3][3], stretch[3][3], rows[3][3], f[3][3];
        random_rotation(&seed, rotation);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j <= i; j++) stretch[i][j] = stretch[j][i] = (i == j ? 1.5 : 0) + 0.3 * noise(&seed);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                f[i][j] = 0;
                for (int k = 0; k < 3; k++) f[i][j] += rotation[i][k] * stretch[k][j];
            }
        polar3 got = mat3_polar(from_rows(f)); /* of R S with S positive definite: returns R and S themselves */
        to_rows(got.r, rows);
        for (int i = 0; i < 9; i++) raise(&worst_r, fabs(rows[i / 3][i % 3] - rotation[i / 3][i % 3]) / EPS);
        to_rows(got.s, rows);
        for (int i = 0; i < 9; i++) raise(&worst_s, fabs(rows[i / 3][i % 3] - stretch[i / 3][i % 3]) / EPS);

        /* For any matrix, also a reflected one: R is a rotation, F = R S, and no other rotation is nearer to F. */
        random_rows(&seed, f);
        got = mat3_polar(from_rows(f));
        to_rows(got.r, rows);
        raise(&worst_f, not_rotation(rows) / EPS);
        to_rows(mat3_mul(got.r, got.s), stretch);
        for (int i = 0; i < 9; i++) raise(&worst_f, fabs(stretch[i / 3][i % 3] - f[i / 3][i % 3]) / EPS);
        for (int trial = 0; trial < 5; trial++) {
            random_rotation(&seed, rotation);
            double mine = 0, other = 0;
            for (int i = 0; i < 9; i++) {
                mine += rows[i / 3][i % 3] * f[i / 3][i % 3];
                other += rotation[i / 3][i % 3] * f[i / 3][i % 3];
            }
            raise(&nearer, other - mine);
        }
    }
    print_message("    polar: R off by %.2f eps, S by %.2f eps, F = R S by %.2f eps\n", worst_r, worst_s, worst_f);
    assert_true(worst_r <= 10 && worst_s <= 24 && worst_f <= 20);
    assert_true(nearer <= 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_all_small_integers),
        cmocka_unit_test(test_slow_to_converge),
        cmocka_unit_test(test_graded),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_near_equal_values),
        cmocka_unit_test(test_near_rotations),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_signs_below_rounding),
        cmocka_unit_test(test_not_numbers),
        cmocka_unit_test(test_polar),
    };
    return cmocka_run_group_tests_name(REAL_IS_FLOAT ? "svd f32" : "svd f64", tests, NULL, NULL);
}
