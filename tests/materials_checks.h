/* The elastic laws of methods/physics/matter/laws.h for the precision REAL: included by test_materials.c (f64,
 * which adds what only f64 can check) and test_materials_f32.c. The oracle is the textbook form of each law in long
 * double. It uses the exact singular values from which F was constructed. */
#include "methods/physics/matter/laws.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MATRIX_NUMBER long double
#include "tests/random_matrices.h"

static const char *const law_name[LAW_KINDS] = {
#define LAW(name, form, domain) #name,
#include "methods/physics/matter/laws.def"
#undef LAW
};
static const char *const join_name[PBD_JOINS] = {"none", "printed", "continuous", "shifted", "clamp"};

/* Not inlined: copies at 20 calls would take a minute to compile. */
static __attribute__((noinline)) stressed stress_at(hyperelastic m, mat3 f) { return stress(m, f); }

static matrix transposed(matrix a) {
    matrix c;
    for (int i = 0; i < 9; i++) c.a[i / 3][i % 3] = a.a[i % 3][i / 3];
    return c;
}

static matrix diagonal(const long double s[3]) { return (matrix){{{s[0], 0, 0}, {0, s[1], 0}, {0, 0, s[2]}}}; }

static matrix from_mat3(mat3 m) {
    const vec3 c[3] = {m.x, m.y, m.z};
    matrix a;
    for (int j = 0; j < 3; j++) {
        a.a[0][j] = c[j].x;
        a.a[1][j] = c[j].y;
        a.a[2][j] = c[j].z;
    }
    return a;
}

static long double largest(matrix a) { /* NaN if any entry is */
    long double most = 0;
    for (int i = 0; i < 9; i++)
        if (!(fabsl(a.a[i / 3][i % 3]) <= most) && !isnan(most)) most = fabsl(a.a[i / 3][i % 3]);
    return most;
}

static long double difference(matrix a, matrix b) {
    long double most = 0;
    for (int i = 0; i < 9; i++) {
        long double d = fabsl(a.a[i / 3][i % 3] - b.a[i / 3][i % 3]);
        if (!(d <= most)) most = d;
    }
    return most;
}

/* ---- The textbook ------------------------------------------------------------------------------------------------ */

/* |s - t|^2 with t = (e^u, e^v, e^(-u - v)), and t. */
static long double unimodular_distance(const long double s[3], long double u, long double v, long double t[3]) {
    long double sum = 0;
    t[0] = expl(u), t[1] = expl(v), t[2] = expl(-u - v);
    for (int k = 0; k < 3; k++) sum += (s[k] - t[k]) * (s[k] - t[k]);
    return sum;
}

/* The t nearest to s with product 1, by Newton's method in two logarithms. It is damped so that the distance falls;
 * the last steps, where the decrease is below rounding, are undamped. */
static void nearest_unimodular(const long double s[3], long double t[3]) {
    long double u = logl(fmaxl(s[0], 0.1L)), v = logl(fmaxl(s[1], 0.1L)), other[3], damping = 1;
    long double least = unimodular_distance(s, u, v, t);
    for (int round = 0; round < 310; round++) {
        unimodular_distance(s, u, v, t);
        if (round >= 300) damping = 0;
        long double g[3], h[3];
        for (int k = 0; k < 3; k++) g[k] = (t[k] - s[k]) * t[k], h[k] = t[k] * (2 * t[k] - s[k]) + damping;
        const long double a = g[0] - g[2], b = g[1] - g[2], shared = h[2] - damping;
        const long double x = h[0] + shared, y = h[1] + shared, det = x * y - shared * shared;
        const long double du = -(y * a - shared * b) / det, dv = -(x * b - shared * a) / det;
        const bool falls = damping == 0 || (x > 0 && det > 0 && unimodular_distance(s, u + du, v + dv, other) <= least);
        if (falls) u += du, v += dv, least = unimodular_distance(s, u, v, t);
        damping = falls ? damping / 10 : 4 * damping + 1e-12L;
    }
    unimodular_distance(s, u, v, t);
}

typedef struct answer {
    long double psi, p[3];
} answer;

static answer textbook(law_kind law, long double mu, long double lambda, const long double s[3]) {
    answer out = {0};
    long double sum = 0, sum2 = 0, J = s[0] * s[1] * s[2], I = 0;
    for (int k = 0; k < 3; k++) I += s[k] * s[k];
    for (int k = 0; k < 3; k++) { /* the law's strain measure of a stretch */
        long double e = law == LAW_corotated ? s[k] - 1 : law == LAW_stvk ? (s[k] * s[k] - 1) / 2 : logl(s[k]);
        sum += e;
        sum2 += e * e;
        out.p[k] = e;
    }
    switch (law) {
        case LAW_corotated:
        case LAW_stvk:
        case LAW_hencky:
            out.psi = mu * sum2 + lambda / 2 * sum * sum;
            for (int k = 0; k < 3; k++)
                out.p[k] = (2 * mu * out.p[k] + lambda * sum) * (law == LAW_corotated ? 1
                                                                 : law == LAW_stvk    ? s[k]
                                                                                      : 1 / s[k]);
            break;
        case LAW_neo_hookean:
            out.psi = mu / 2 * (I - 3) - mu * logl(J) + lambda / 2 * logl(J) * logl(J);
            for (int k = 0; k < 3; k++) out.p[k] = mu * (s[k] - 1 / s[k]) + lambda * logl(J) / s[k];
            break;
        case LAW_stable_neo_hookean: {
            long double m = mu * 4 / 3, l = lambda + mu * 5 / 6, alpha = 1 + m / l - m / (4 * l);
            out.psi = m / 2 * (I - 3) + l / 2 * (J - alpha) * (J - alpha) - m / 2 * logl(I + 1);
            out.psi -= l / 2 * (1 - alpha) * (1 - alpha) - m / 2 * logl(4);
            for (int k = 0; k < 3; k++)
                out.p[k] = m * (1 - 1 / (I + 1)) * s[k] + l * (J - alpha) * s[(k + 1) % 3] * s[(k + 2) % 3];
            break;
        }
        case LAW_macklin_neo_hookean: {
            long double l = lambda + mu, gamma = 1 + mu / l;
            out.psi = mu / 2 * (I - 3) + l / 2 * ((J - gamma) * (J - gamma) - (1 - gamma) * (1 - gamma));
            for (int k = 0; k < 3; k++) out.p[k] = mu * s[k] + l * (J - gamma) * s[(k + 1) % 3] * s[(k + 2) % 3];
            break;
        }
        case LAW_projective: {
            long double t[3];
            nearest_unimodular(s, t);
            for (int k = 0; k < 3; k++) {
                out.psi += mu * (s[k] - 1) * (s[k] - 1) + 1.5L * lambda * (s[k] - t[k]) * (s[k] - t[k]);
                out.p[k] = 2 * mu * (s[k] - 1) + 3 * lambda * (s[k] - t[k]);
            }
            break;
        }
        case LAW_KINDS:
            break;
    }
    return out;
}

static matrix textbook_stress(law_kind law, long double mu, long double lambda, matrix u, const long double s[3],
                              matrix v) {
    answer a = textbook(law, mu, lambda, s);
    return product(product(u, diagonal(a.p)), transposed(v));
}

static const double E_MODULUS = 3000, NU = 0.4;

static hyperelastic material_of(law_kind law, pbd_join join) {
    return hyperelastic_make(law, join, E_MODULUS, NU, hyperelastic_threshold(law, join));
}

static long double lame_mu(void) { return E_MODULUS / (2 * (1 + (long double)NU)); }
static long double lame_lambda(void) {
    return E_MODULUS * (long double)NU / ((1 + (long double)NU) * (1 - 2 * (long double)NU));
}

/* ---- Checks of both precisions ----------------------------------------------------------------------------------- */

/* The limits of errors are multiples of what the rounding of F alone changes in psi and P. */
static void test_laws_are_the_textbooks(void **state) {
    (void)state;
    for (int law = 0; law < LAW_KINDS; law++) {
        uint64_t seed = 10;
        double off_psi = 0, off_p = 0, off_svd = 0;
        hyperelastic m = material_of((law_kind)law, PBD_JOIN_NONE);
        for (int n = 0; n < 3000; n++) {
            long double s[3], stiff = lame_lambda() + 2 * lame_mu();
            for (int k = 0; k < 3; k++) s[k] = 1.2L + 0.9L * noise(&seed);
            if (law == LAW_projective && s[0] * s[1] * s[2] > 3.5L) continue; /* D is not unique from J = 4 on */
            long double least = fminl(s[0], fminl(s[1], s[2])), most = fmaxl(s[0], fmaxl(s[1], s[2]));
            matrix u = random_rotation(&seed), v = random_rotation(&seed);
            mat3 f = to_mat3(product(product(u, diagonal(s)), transposed(v)));
            stressed got = stress_at(m, f), by_svd = stress_of_svd(m, mat3_svd(f));
            answer wanted = textbook((law_kind)law, lame_mu(), lame_lambda(), s);
            matrix p = textbook_stress((law_kind)law, lame_mu(), lame_lambda(), u, s, v);
            /* d psi = P:dF, if nine entries or three stretches are off by a few eps; P changes by about
             * stiff (1/least^2 or most^2) eps. */
            long double unit = REAL_EPSILON * (largest(p) + stiff);
            keep(&off_psi, (double)(fabsl(got.psi - wanted.psi) / unit));
            keep(&off_psi, (double)(fabsl(by_svd.psi - wanted.psi) / unit));
            unit = REAL_EPSILON * 9 * stiff * fmaxl(1 / (least * least), most * most);
            keep(&off_p, (double)(difference(from_mat3(got.p), p) / unit));
            keep(&off_svd, (double)(difference(from_mat3(by_svd.p), p) / unit));
        }
        print_message("    %-20s psi off by %.2f, P by %.2f, P by SVD %.2f units of rounding\n", law_name[law], off_psi,
                      off_p, off_svd);
        assert_true(off_psi <= 32 && off_p <= 8 && off_svd <= 8);
    }
}

/* Near rest psi is second order in strain: it must stay accurate where 1 + strain has lost digits. */
static void test_small_energies_keep_their_digits(void **state) {
    (void)state;
    const double strains[] = {REAL_IS_FLOAT ? 3e-4 : 1e-8, 1e-3, 1e-2, 0.1};
    for (int law = 0; law < LAW_KINDS; law++) {
        hyperelastic m = material_of((law_kind)law, PBD_JOIN_NONE);
        double most = 0;
        for (int which = 0; which < 4; which++) {
            uint64_t seed = 11;
            for (int n = 0; n < 300; n++) {
                long double s[3];
                for (int k = 0; k < 3; k++) s[k] = 1 + (long double)strains[which] * noise(&seed);
                matrix u = random_rotation(&seed), v = random_rotation(&seed);
                mat3 f = to_mat3(product(product(u, diagonal(s)), transposed(v)));
                long double wanted = textbook((law_kind)law, lame_mu(), lame_lambda(), s).psi;
                if (strains[which] < 1e-4) { /* even long double cancels there; Hooke's law is accurate to 1e-8 */
                    long double sum = s[0] + s[1] + s[2] - 3, squares = 0;
                    for (int k = 0; k < 3; k++) squares += (s[k] - 1) * (s[k] - 1);
                    wanted = lame_mu() * squares + lame_lambda() / 2 * sum * sum;
                }
                /* d psi = P:dF: the strain times the modulus times the rounding of F. */
                long double unit = REAL_EPSILON * strains[which] * (3 * lame_lambda() + 2 * lame_mu());
                keep(&most, (double)(fabsl(stress_at(m, f).psi - wanted) / unit));
                keep(&most, (double)(fabsl(stress_of_svd(m, mat3_svd(f)).psi - wanted) / unit));
            }
        }
        print_message("    %-20s psi off by %.2f times what the rounding of F does\n", law_name[law], most);
        assert_true(most <= 12);
    }
}

static void test_rest(void **state) {
    (void)state;
    for (int law = 0; law < LAW_KINDS; law++)
        for (int join = 0; join < PBD_JOINS; join++) {
            stressed at = stress_at(material_of((law_kind)law, (pbd_join)join), mat3_identity());
            assert_true(at.psi == 0);
            assert_true(largest(from_mat3(at.p)) <= 4 * REAL_EPSILON * E_MODULUS);
        }
}

static void put_lanes(vreal *batch, int lane, const real *plain, size_t count) {
    for (size_t i = 0; i < count; i++) memcpy((char *)&batch[i] + (size_t)lane * sizeof(real), &plain[i], sizeof(real));
}
static void get_lanes(const vreal *batch, int lane, real *plain, size_t count) {
    for (size_t i = 0; i < count; i++)
        memcpy(&plain[i], (const char *)&batch[i] + (size_t)lane * sizeof(real), sizeof(real));
}

static void test_batches_do_the_same(void **state) {
    (void)state;
    double most = 0;
    for (int law = 0; law < LAW_KINDS; law++)
        for (int join = 0; join < PBD_JOINS; join++) {
            uint64_t seed = 12;
            hyperelastic m = material_of((law_kind)law, (pbd_join)join);
            for (int n = 0; n < 50; n++) {
                mat3 f[PBD_BATCH];
                vmat3 batch;
                for (int l = 0; l < PBD_BATCH; l++) {
                    long double s[3] = {1 + 0.4L * noise(&seed), 1 + 0.4L * noise(&seed), 0.8L + noise(&seed)};
                    matrix u = random_rotation(&seed);
                    f[l] = to_mat3(product(product(u, diagonal(s)), random_rotation(&seed)));
                    put_lanes(&batch.x.x, l, &f[l].x.x, 9);
                }
                vstressed got = vstress(vhyperelastic_of(m), batch);
                for (int l = 0; l < PBD_BATCH; l++) {
                    stressed mine, plain = stress_at(m, f[l]);
                    get_lanes(&got.psi, l, &mine.psi, 10);
                    if (isnan((double)plain.psi)) { /* undefined: in both */
                        assert_true(isnan((double)mine.psi));
                        continue;
                    }
                    long double unit = REAL_EPSILON * (largest(from_mat3(plain.p)) + 10 * E_MODULUS);
                    double inverse = 1 / fmax(0.01, fabs((double)mat3_det(f[l])));
                    keep(&most, (double)(fabsl((long double)mine.psi - plain.psi) / unit) / inverse);
                    keep(&most, (double)(difference(from_mat3(mine.p), from_mat3(plain.p)) / unit) / inverse);
                }
            }
        }
    print_message("    batch and plain differ by %.2f units of rounding\n", most);
    assert_true(most <= 24);
}

/* For det F <= 0 the laws in log J are undefined; the others and those with a join are always defined. */
static void test_inverted(void **state) {
    (void)state;
    uint64_t seed = 13;
    for (int law = 0; law < LAW_KINDS; law++)
        for (int join = 0; join < PBD_JOINS; join++)
            for (int n = 0; n < 200; n++) {
                long double s[3] = {1.5L, 0.5L + 0.4L * noise(&seed), n == 0 ? 0 : -0.05L - 0.04L * noise(&seed)};
                matrix u = random_rotation(&seed);
                mat3 f = to_mat3(product(product(u, diagonal(s)), random_rotation(&seed)));
                stressed got = stress_at(material_of((law_kind)law, (pbd_join)join), f);
                int undefined = join == PBD_JOIN_NONE && (law == LAW_neo_hookean || law == LAW_hencky);
                if (n == 0 && undefined) continue; /* det F = 0 holds only up to rounding */
                assert_int_equal(!isfinite((double)got.psi), undefined);
                assert_int_equal(!isfinite((double)largest(from_mat3(got.p))), undefined);
            }
}

#define COMMON_MATERIAL_TESTS                                                                               \
    cmocka_unit_test(test_laws_are_the_textbooks), cmocka_unit_test(test_small_energies_keep_their_digits), \
        cmocka_unit_test(test_rest), cmocka_unit_test(test_batches_do_the_same), cmocka_unit_test(test_inverted)
