/* Strains by series (methods/physics/matter/log_strain.h) for the precision REAL: the logarithm and the exponential
 * against eigenvalues in long double, return mappings against those by singular values, whose oracles are in
 * flow_rules_checks.h. Included by test_log_strain.c (f64) and test_log_strain_f32.c. */
#include "methods/physics/matter/log_strain.h"

#include "tests/flow_rules_book.h"

typedef struct wide {
    long double a[3][3];
} wide;

/* f(m) of a symmetric matrix, by Jacobi's method: m = Q D Q^T with plane rotations. */
static wide function_of(wide m, long double (*f)(long double)) {
    wide q = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, out = {0};
    for (int turn = 0; turn < 60; turn++) {
        const int i = turn % 3 == 2 ? 1 : 0, j = turn % 3 == 0 ? 1 : 2;
        const long double angle = 0.5L * atan2l(2 * m.a[i][j], m.a[i][i] - m.a[j][j]), c = cosl(angle), s = sinl(angle);
        for (int k = 0; k < 3; k++) {
            const long double p = m.a[k][i], r = m.a[k][j];
            m.a[k][i] = c * p + s * r;
            m.a[k][j] = c * r - s * p;
        }
        for (int k = 0; k < 3; k++) {
            const long double p = m.a[i][k], r = m.a[j][k], u = q.a[k][i], v = q.a[k][j];
            m.a[i][k] = c * p + s * r;
            m.a[j][k] = c * r - s * p;
            q.a[k][i] = c * u + s * v;
            q.a[k][j] = c * v - s * u;
        }
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) out.a[i][j] += q.a[i][k] * f(m.a[k][k]) * q.a[j][k];
    return out;
}

static wide left_product(mat3 f) {
    wide out = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int c = 0; c < 3; c++)
                out.a[i][j] += (long double)entries(&f)[3 * c + i] * (long double)entries(&f)[3 * c + j];
    return out;
}

static long double half_log(long double x) { return 0.5L * logl(x); }

static double off(sym3 got, wide wanted) {
    const double each[6] = {(double)(got.xx - wanted.a[0][0]), (double)(got.yy - wanted.a[1][1]),
                            (double)(got.zz - wanted.a[2][2]), (double)(got.xy - wanted.a[0][1]),
                            (double)(got.yz - wanted.a[1][2]), (double)(got.zx - wanted.a[2][0])};
    double most = 0;
    for (int k = 0; k < 6; k++) keep(&most, fabs(each[k]) / REAL_EPSILON);
    return most;
}

/* F with logarithmic stretches up to `most`, rotated on both sides; two of them equal or none strained now and then. */
static mat3 random_near(uint64_t *seed, int n, double most) {
    const matrix a = random_rotation(seed), b = random_rotation(seed);
    double e[3];
    for (int k = 0; k < 3; k++) e[k] = most * noise(seed);
    if (n % 7 == 0) e[1] = e[0];
    if (n % 11 == 0) e[1] = e[2] = 0;
    if (n % 13 == 0) e[0] = e[1] = e[2] = 0;
    return to_mat3(product(product(a, diagonal(exp(e[0]), exp(e[1]), exp(e[2]))), b));
}

static const double sizes[] = {1e-12, 1e-7, 1e-4, 1e-2, 0.027};
enum { SIZES = sizeof sizes / sizeof *sizes, TRIES = 4000 };

static void test_logarithm(void **state) {
    (void)state;
    for (int k = 0; k < SIZES; k++) {
        double plain = 0, lanes = 0;
        uint64_t seed = 1;
        for (int n = 0; n < TRIES; n++) {
            const mat3 f = random_near(&seed, n, sizes[k]);
            const wide wanted = function_of(left_product(f), half_log);
            const sym3 e = mat3_left_strain(f);
            vmat3 batch;
            sym3 lane;
            assert_true(log_strain_holds(f, e));
            keep(&plain, off(log_strain(e), wanted));
            for (int l = 0; l < PBD_BATCH; l++) put_lane(&batch.x.x, l, entries(&f), 9);
            const vsym3 got = vlog_strain(vmat3_left_strain(batch));
            get_lane(&got.xx, n % PBD_BATCH, &lane.xx, 6);
            keep(&lanes, off(lane, wanted));
        }
        print_message("    log strains up to %g: off by %.2g eps, in batches %.2g\n", sizes[k], plain, lanes);
        assert_true(plain <= 4 && lanes <= 4);
    }
}

static void test_exponential(void **state) {
    (void)state;
    double most = 0;
    uint64_t seed = 2;
    for (int n = 0; n < TRIES; n++) {
        const matrix q = random_rotation(&seed);
        const double d[3] = {0.15 * noise(&seed), 0.15 * noise(&seed), n % 5 ? 0.15 * noise(&seed) : 1e-12};
        wide rounded;
        real entry[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j <= i; j++) {
                double sum = 0;
                for (int k = 0; k < 3; k++) sum += q.a[i][k] * d[k] * q.a[j][k];
                rounded.a[i][j] = rounded.a[j][i] = entry[i][j] = (real)sum;
            }
        const sym3 m = {entry[0][0], entry[1][1], entry[2][2], entry[1][0], entry[2][1], entry[2][0]};
        keep(&most, off(sym3_exp(m), function_of(rounded, expl)));
    }
    print_message("    exponential off by %.2g eps\n", most);
    assert_true(most <= 4);
}

static mat3 rotated(double x, double y, double z) {
    uint64_t seed = 3;
    const matrix a = random_rotation(&seed), b = random_rotation(&seed);
    return to_mat3(product(product(a, diagonal(x, y, z)), b));
}

static void test_where_it_holds(void **state) {
    (void)state;
    const mat3 no[] = {rotated(-1, 1, 1), rotated(-1, -1, -1), rotated(1.06, 1, 1), rotated(1, 0.94, 1),
                       rotated(0, 0, 0),  rotated(NAN, 1, 1),  rotated(1e30, 1, 1), rotated(INFINITY, 1, 1),
                       rotated(2, 2, 2),  rotated(1e-30, 1, 1)};
    const mat3 yes[] = {mat3_identity(), rotated(1, 1, 1), rotated(1.02, 0.99, 1), rotated(-1, -1, 1)};
    for (size_t k = 0; k < sizeof no / sizeof *no; k++) assert_false(log_strain_holds(no[k], mat3_left_strain(no[k])));
    for (size_t k = 0; k < sizeof yes / sizeof *yes; k++)
        assert_true(log_strain_holds(yes[k], mat3_left_strain(yes[k])));
}

/* Radial rules by the strain and by the stretches. */
static void test_rules_are_those_of_stretches(void **state) {
    (void)state;
    int radial = 0;
    for (int kind = 0; kind < FLOW_KINDS; kind++) {
        double f_off = 0, state_off = 0, lost_off = 0;
        int moved = 0;
        for (int variant = 0; variant < 3; variant++) {
            const flow_material m = material_of((flow_kind)kind, variant);
            const flow_rule r = rule_of((flow_kind)kind, &m);
            const real first = (real)first_state((flow_kind)kind, variant);
            const real lambda = (real)(lambda_of(&m) / mu_of(&m));
            if (!flow_is_radial(&r)) continue;
            uint64_t seed = 4;
            for (int n = 0; n < TRIES; n++) {
                const mat3 f = random_near(&seed, n, sizes[n % SIZES]);
                const flowed_matrix wanted = flow_at(&r, f, first);
                const flowed_body got = flow_body(&r, f, first, 1, lambda);
                const double lost = (double)flow_dissipated(1, lambda, wanted.from, wanted.to);
                keep(&f_off, difference(got.f, wanted.f) / REAL_EPSILON);
                keep(&state_off, fabs((double)(got.state - wanted.state)) / REAL_EPSILON);
                keep(&lost_off, fabs((double)got.lost - lost) / (REAL_EPSILON * 0.1 * (1 + (double)lambda)));
                moved += memcmp(&wanted.f, &f, sizeof f) != 0;
            }
            radial++;
        }
        if (!(moved > 0)) continue;
        print_message("    %-16s F off by %.2g eps, state %.2g, dissipation %.2g; flowed in %d\n", kind_name[kind],
                      f_off, state_off, lost_off, moved);
        assert_true(f_off <= 20 && state_off <= 20 && lost_off <= 20);
    }
    assert_int_equal(radial, 9); /* von_mises, drucker_prager and herschel_bulkley */
}

/* A lane has the same bits whatever the other lanes hold, and those of flow_matrix where the strain is large. */
static void test_lanes_do_not_depend_on_each_other(void **state) {
    (void)state;
    const flow_material m = material_of(FLOW_drucker_prager, 0);
    const flow_rule r = rule_of(FLOW_drucker_prager, &m);
    uint64_t seed = 5;
    for (int n = 0; n < 500; n++) {
        mat3 f[PBD_BATCH];
        vmat3 mixed, same;
        for (int l = 0; l < PBD_BATCH; l++) {
            f[l] = noise(&seed) > 0 ? random_near(&seed, n, 0.02) : random_near(&seed, n, 0.5);
            put_lane(&mixed.x.x, l, entries(&f[l]), 9);
        }
        const vflowed_body all = vflow_body(&r, mixed, vreal_set(0), 1, 1);
        for (int l = 0; l < PBD_BATCH; l++) {
            real one[11], alone[11];
            for (int other = 0; other < PBD_BATCH; other++) put_lane(&same.x.x, other, entries(&f[l]), 9);
            const vflowed_body each = vflow_body(&r, same, vreal_set(0), 1, 1);
            get_lane(&all.f.x.x, l, one, 11);
            get_lane(&each.f.x.x, l, alone, 11);
            assert_memory_equal(one, alone, sizeof one);
            if (log_strain_holds(f[l], mat3_left_strain(f[l]))) continue;
            const vflowed_matrix by_stretches = vflow_matrix(&r, same, vreal_set(0));
            get_lane(&by_stretches.f.x.x, l, alone, 9);
            assert_memory_equal(one, alone, 9 * sizeof *one);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logarithm), cmocka_unit_test(test_exponential), cmocka_unit_test(test_where_it_holds),
        cmocka_unit_test(test_rules_are_those_of_stretches), cmocka_unit_test(test_lanes_do_not_depend_on_each_other)};
    return cmocka_run_group_tests_name(REAL_IS_FLOAT ? "log strain f32" : "log strain f64", tests, NULL, NULL);
}
