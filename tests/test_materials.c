/* Elastic laws in f64: materials_checks.h, and gradients, joins, limits and tangents, which need f64. */
#define REAL double
#include "methods/physics/matter/tangent.h"
#include "methods/physics/matter/uniaxial.h"
#include "tests/materials_checks.h"

/* Fails unless |got - wanted| <= limit; prints the error as a share of the limit. */
static void check_near(const char *what, double got, double wanted, double limit) {
    double off = fabs(got - wanted);
    if (!(off <= limit))
        fail_msg("%s: got %.17g, wanted %.17g, off by %.3g, limit %.3g", what, got, wanted, off, limit);
    print_message("    %s: got %.9g, wanted %.9g, %.2g of the limit %.2g\n", what, got, wanted, off / limit, limit);
}

static mat3 random_f(uint64_t *seed, double s0, double s1, double s2) {
    const long double s[3] = {s0, s1, s2};
    matrix u = random_rotation(seed);
    return to_mat3(product(product(u, diagonal(s)), random_rotation(seed)));
}

static double *entry(mat3 *m, int i) { return &m->x.x + i; }

/* ---- P is the gradient of psi ------------------------------------------------------------------------------------ */

/* The largest error of P against differences of psi, relative to the largest entry of P plus a tenth of the modulus. */
static double gradient_error(hyperelastic m, mat3 f) {
    const double h = 1e-5;
    stressed at = stress_at(m, f);
    double most = 0, size = (double)largest(from_mat3(at.p)) + 0.1 * E_MODULUS;
    for (int i = 0; i < 9; i++) {
        mat3 more = f, less = f;
        *entry(&more, i) += h;
        *entry(&less, i) -= h;
        double slope = (stress_at(m, more).psi - stress_at(m, less).psi) / (2 * h);
        keep(&most, fabs(slope - *entry(&at.p, i)) / size);
    }
    return most;
}

static void test_stress_is_the_gradient(void **state) {
    (void)state;
    for (int law = 0; law < LAW_KINDS; law++)
        for (int join = 0; join < PBD_JOIN_CLAMP; join++) { /* with clamp P is not a gradient */
            uint64_t seed = 20;
            double most = 0;
            hyperelastic m = material_of((law_kind)law, (pbd_join)join);
            int everywhere = join != PBD_JOIN_NONE || law_domain_of(law) != LAW_UPRIGHT;
            for (int n = 0; n < 200; n++) {
                /* Zero, one, two or three singular values below the threshold; the last is also negative. */
                double s0 = n % 5 == 4 ? 0.50 + 0.05 * noise(&seed) : 1.3 + 0.3 * noise(&seed);
                double s1 = n % 5 >= 3 ? 0.35 + 0.05 * noise(&seed) : 0.8 + 0.1 * noise(&seed);
                double s2 = n % 5 >= 2 ? 0.2 + 0.1 * noise(&seed) : 0.64 + 0.02 * noise(&seed);
                if (everywhere && n % 2) s2 = -s2;
                keep(&most, gradient_error(m, random_f(&seed, s0, s1, s2)));
            }
            print_message("    %-20s join %-10s P off psi's gradient by %.2g\n", law_name[law], join_name[join], most);
            assert_true(most <= 1e-6);
        }
}

/* Rotating the body rotates the stress and leaves psi unchanged; rotating the material does not affect an isotropic
 * law. */
static void test_rotations(void **state) {
    (void)state;
    for (int law = 0; law < LAW_KINDS; law++)
        for (int join = 0; join < PBD_JOINS; join++) {
            uint64_t seed = 21;
            double most = 0;
            hyperelastic m = material_of((law_kind)law, (pbd_join)join);
            for (int n = 0; n < 200; n++) {
                mat3 f = random_f(&seed, 1.3 + 0.3 * noise(&seed), 0.8, n % 2 ? 0.4 : 0.7);
                mat3 q = to_mat3(random_rotation(&seed));
                stressed plain = stress_at(m, f), turned = stress_at(m, mat3_mul(q, f)),
                         inside = stress_at(m, mat3_mul(f, q));
                double size = (double)largest(from_mat3(plain.p)) + E_MODULUS;
                keep(&most, fabs(turned.psi - plain.psi) / size);
                keep(&most, fabs(inside.psi - plain.psi) / size);
                keep(&most, (double)difference(from_mat3(turned.p), from_mat3(mat3_mul(q, plain.p))) / size);
                keep(&most, (double)difference(from_mat3(inside.p), from_mat3(mat3_mul(plain.p, q))) / size);
            }
            assert_true(most <= 1e-13);
        }
}

/* ---- Values from outside ----------------------------------------------------------------------------------------- */

/* Small strain: P = 2 mu eps + lambda tr(eps) I, the error second order in strain. */
static void test_small_strain_is_hooke(void **state) {
    (void)state;
    for (int law = 0; law < LAW_KINDS; law++) {
        uint64_t seed = 22;
        const double strain = 1e-6;
        matrix h, wanted;
        for (int i = 0; i < 9; i++) h.a[i / 3][i % 3] = strain * noise(&seed);
        double trace = (double)(h.a[0][0] + h.a[1][1] + h.a[2][2]);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                wanted.a[i][j] = lame_mu() * (h.a[i][j] + h.a[j][i]) + (i == j ? lame_lambda() * trace : 0);
        for (int i = 0; i < 3; i++) h.a[i][i] += 1;
        stressed got = stress_at(material_of((law_kind)law, PBD_JOIN_NONE), to_mat3(h));
        double off = (double)(difference(from_mat3(got.p), wanted) / largest(wanted));
        print_message("    %-20s off Hooke's law by %.2g at a strain of 1e-6\n", law_name[law], off);
        assert_true(off <= 2e-5);
    }
}

/* P/E along x with fixed sides, nu = 0.4 (cao2023, Figure 2): by hand from lambda = 10/7 E, mu = 5/14 E. */
static void test_confined_values(void **state) {
    (void)state;
    static const struct {
        law_kind law;
        double stretch, wanted;
    } value[] = {
        {LAW_corotated, 0.2, -12.0 / 7},       {LAW_stvk, 0.2, -0.2057142857142857}, {LAW_neo_hookean, 0.2, -13.210271},
        {LAW_corotated, 1.5, 7.5 / 7},         {LAW_stvk, 1.5, 2.0089285714285714},  {LAW_neo_hookean, 1.5, 0.683776},
        {LAW_hencky, 0.5, -2.970630773828338}, {LAW_hencky, 2, 0.742657693457084},
    };
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        hyperelastic m = hyperelastic_make(value[i].law, PBD_JOIN_NONE, 1, 0.4, 0);
        mat3 f = mat3_diagonal(vec3_make(value[i].stretch, 1, 1));
        check_near(law_name[value[i].law], stress_at(m, f).p.x.x, value[i].wanted, 1e-6);
    }
}

/* Free sides: the lateral stretch w is 1 - nu (s - 1) for corotated, w^2 = 1 - nu (s^2 - 1) for stvk, w = s^-nu for
 * hencky; P follows from Hooke's law in the strain of each law. */
static void test_uniaxial(void **state) {
    (void)state;
    const double stretches[] = {0.3, 0.7, 0.999, 1, 1.2, 1.8};
    for (int i = 0; i < 6; i++) {
        double s = stretches[i], green = (s * s - 1) / 2;
        uniaxial got = uniaxial_solve(hyperelastic_make(LAW_corotated, PBD_JOIN_NONE, 7, 0.4, 0), s);
        check_near("corotated, across", got.lateral, 1 - 0.4 * (s - 1), 1e-14);
        check_near("corotated, along", got.nominal, 7 * (s - 1), 1e-13);
        got = uniaxial_solve(hyperelastic_make(LAW_stvk, PBD_JOIN_NONE, 7, 0.4, 0), s);
        check_near("stvk, across", got.lateral, sqrt(1 - 0.8 * green), 1e-14);
        check_near("stvk, along", got.nominal, 7 * green * s, 1e-13);
        got = uniaxial_solve(hyperelastic_make(LAW_hencky, PBD_JOIN_NONE, 7, 0.4, 0), s);
        check_near("hencky, across", got.lateral, pow(s, -0.4), 1e-13);
        check_near("hencky, along", got.nominal, 7 * log(s) / s, 1e-12);
        /* neo_hookean: zero lateral stress, mu (w^2 - 1) + lambda log(s w^2) = 0; then P = mu (s - w^2/s). */
        got = uniaxial_solve(hyperelastic_make(LAW_neo_hookean, PBD_JOIN_NONE, 7, 0.4, 0), s);
        double w2 = got.lateral * got.lateral;
        check_near("neo_hookean, across", 2.5 * (w2 - 1) + 10 * log(s * w2), 0, 1e-12);
        check_near("neo_hookean, along", got.nominal, 2.5 * (s - w2 / s), 1e-11);
    }
    assert_true(uniaxial_solve(hyperelastic_make(LAW_stvk, PBD_JOIN_NONE, 7, 0.4, 0), sqrt(3.5) - 1e-3).found);
    assert_false(uniaxial_solve(hyperelastic_make(LAW_stvk, PBD_JOIN_NONE, 7, 0.4, 0), sqrt(3.5) + 1e-3).found);
}

/* ---- Joins ------------------------------------------------------------------------------------------------------- */

static double confined(hyperelastic m, double s) { return stress_at(m, mat3_diagonal(vec3_make(s, 1, 1))).p.x.x; }
static double confined_energy(hyperelastic m, double s) { return stress_at(m, mat3_diagonal(vec3_make(s, 1, 1))).psi; }

static void test_printed_join_jumps(void **state) { /* C-10 */
    (void)state;
    const double t = 1 / sqrt(3), stiff = (double)(lame_lambda() + 2 * lame_mu()), d = 1e-9;
    hyperelastic m = material_of(LAW_stvk, PBD_JOIN_PRINTED);
    check_near("above the threshold", confined(m, t + d) / stiff, -0.19245008972987526, 1e-8);
    check_near("below it", confined(m, t - d) / stiff, t - 1, 1e-8);
    check_near("the jump", confined(m, t - d) / confined(m, t + d), 2.196, 5e-4);
    check_near("psi above", confined_energy(m, t + d) / stiff, 1.0 / 18, 1e-8);
    check_near("psi below", confined_energy(m, t - d) / stiff, (t - 1) * (t - 1) / 2, 1e-8);
    /* For laws with log J the printed join replaces only inverted states. */
    for (int k = 0; k < 2; k++) {
        law_kind law = k ? LAW_hencky : LAW_neo_hookean;
        assert_true(
            confined(material_of(law, PBD_JOIN_PRINTED), 0.1) ==
            stress_of_svd(material_of(law, PBD_JOIN_NONE), mat3_svd(mat3_diagonal(vec3_make(0.1, 1, 1)))).p.x.x);
        check_near("inverted", confined(material_of(law, PBD_JOIN_PRINTED), -0.1) / stiff, -1.1, 1e-12);
    }
}

static void test_other_joins_do_not_jump(void **state) {
    (void)state;
    static const law_kind joined[] = {LAW_stvk, LAW_neo_hookean, LAW_hencky};
    const double t = 1 / sqrt(3), d = 1e-6, stiff = (double)(lame_lambda() + 2 * lame_mu());
    for (int k = 0; k < 3; k++) {
        hyperelastic smooth = material_of(joined[k], PBD_JOIN_CONTINUOUS),
                     bent = material_of(joined[k], PBD_JOIN_SHIFTED);
        hyperelastic plain = material_of(joined[k], PBD_JOIN_NONE);
        double at = confined(plain, t), slope = (confined(plain, t + d) - confined(plain, t - d)) / (2 * d);
        for (int way = -1; way <= 1; way += 2) {
            check_near("P", confined(smooth, t + way * 1e-12), at, 1e-7);
            check_near("P, shifted", confined(bent, t + way * 1e-12), at, 1e-7);
            check_near("psi", confined_energy(smooth, t + way * 1e-12), confined_energy(plain, t), 1e-7);
            check_near("psi, shifted", confined_energy(bent, t + way * 1e-12), confined_energy(plain, t), 1e-7);
        }
        /* Linear below t, with the slope of the law or with that of corotated, also through inversion. */
        for (double s = -0.9; s < t; s += 0.1) {
            check_near("continued", confined(smooth, s), at + slope * (s - t), 1e-5 * stiff);
            check_near("continued, shifted", confined(bent, s), at + stiff * (s - t), 1e-9 * stiff);
        }
    }
}

static void test_joins_leave_the_rest_alone(void **state) {
    (void)state;
    uint64_t seed = 23;
    for (int law = 0; law < LAW_KINDS; law++)
        for (int join = 1; join < PBD_JOINS; join++) {
            mat3 f = random_f(&seed, 1.4, 0.9, 0.6);
            stressed a = stress_of_svd(material_of((law_kind)law, PBD_JOIN_NONE), mat3_svd(f));
            stressed b = stress_of_svd(material_of((law_kind)law, (pbd_join)join), mat3_svd(f));
            assert_true(a.psi == b.psi && difference(from_mat3(a.p), from_mat3(b.p)) == 0);
        }
}

/* Bender et al. 2014: singular values below 0.577 are replaced by 0.577. */
static void test_clamp(void **state) {
    (void)state;
    hyperelastic m = hyperelastic_make(LAW_stvk, PBD_JOIN_CLAMP, E_MODULUS, NU, 0.577);
    const double mu = (double)lame_mu(), lambda = (double)lame_lambda();
    for (double s = -0.5; s < 0.5; s += 0.25) {
        double q = 0.577, e = (q * q - 1) / 2;
        check_near("P", confined(m, s), q * (2 * mu + lambda) * e, 1e-10);
        check_near("psi", confined_energy(m, s), (mu + lambda / 2) * e * e, 1e-10);
    }
}

/* ---- Fibres ------------------------------------------------------------------------------------------------------ */

static void test_fibres(void **state) {
    (void)state;
    uint64_t seed = 24;
    const double beta = 500, h = 1e-5;
    for (int n = 0; n < 50; n++) {
        vec3 b = to_mat3(random_rotation(&seed)).y;
        mat3 f = random_f(&seed, 1.4, 0.9, n % 2 ? 0.5 : -0.5);
        stressed at = stress_along(f, b, beta);
        double xi = sqrt(vec3_dot(mat3_apply(f, b), mat3_apply(f, b)));
        assert_true(fabs(at.psi - beta * ((xi * xi - 1) / 2 - log(xi))) <= 1e-12 * beta);
        for (int i = 0; i < 9; i++) {
            mat3 more = f, less = f;
            *entry(&more, i) += h;
            *entry(&less, i) -= h;
            double slope = (stress_along(more, b, beta).psi - stress_along(less, b, beta).psi) / (2 * h);
            assert_true(fabs(slope - *entry(&at.p, i)) <= 1e-6 * beta);
        }
    }
    vec3 x = vec3_make(1, 0, 0);
    assert_true(stress_along(mat3_identity(), x, beta).psi == 0);
    assert_true(largest(from_mat3(stress_along(mat3_identity(), x, beta).p)) == 0);
    double slope = stress_along(mat3_diagonal(vec3_make(1 + 1e-7, 1, 1)), x, beta).p.x.x / 1e-7;
    check_near("modulus added along the fibre", slope, 2 * beta, 1e-3);
}

/* ---- Tangents ---------------------------------------------------------------------------------------------------- */

static void test_tangent_is_the_slope_of_stress(void **state) {
    (void)state;
    for (int law = 0; law < LAW_KINDS; law++) {
        uint64_t seed = 25;
        double most = 0, symmetry = 0;
        hyperelastic m = material_of((law_kind)law, PBD_JOIN_NONE);
        int inverts = law_domain_of(law) != LAW_UPRIGHT;
        for (int n = 0; n < 200; n++) {
            double s0 = 1.2 + 0.3 * noise(&seed), s1 = 0.8 + 0.05 * noise(&seed), s2 = 0.5 + 0.2 * noise(&seed);
            if (n % 4 == 1) s1 = s0;             /* equal values */
            if (n % 4 == 2) s1 = s0 + 1e-9;      /* nearly equal */
            if (n % 4 == 3 && inverts) s2 = -s2; /* inverted */
            if (n == 0) s0 = s1 = s2 = 1;
            mat3 f = random_f(&seed, s0, s1, s2), d;
            for (int i = 0; i < 9; i++) *entry(&d, i) = noise(&seed);
            const double h = 1e-5;
            stressed more = stress_at(m, mat3_add(f, mat3_scale(h, d))),
                     less = stress_at(m, mat3_sub(f, mat3_scale(h, d)));
            mat3 slope = mat3_scale(1 / (2 * h), mat3_sub(more.p, less.p));
            tangent t = tangent_make(m, f, 0);
            mat3 got = tangent_apply(&t, d);
            keep(&most, (double)(difference(from_mat3(got), from_mat3(slope)) / largest(from_mat3(slope))));
            double matrix9[9][9];
            tangent_matrix(&t, matrix9);
            for (int i = 0; i < 9; i++)
                for (int j = 0; j < i; j++) keep(&symmetry, fabs(matrix9[i][j] - matrix9[j][i]) / E_MODULUS);
            assert_true(difference(from_mat3(tangent_stress(t)), from_mat3(stress_at(m, f).p)) <= 1e-11 * E_MODULUS);
        }
        print_message("    %-20s dP/dF off by %.2g, asymmetry %.2g\n", law_name[law], most, symmetry);
        assert_true(most <= 1e-6 && symmetry <= 1e-11);
    }
}

/* P of a fibre, or of stvk with a constant plastic strain. */
static mat3 other_stress(int plastic, hyperelastic m, mat3 f, vec3 b, symmetric ep) {
    if (!plastic) return stress_along(f, b, E_MODULUS).p;
    stressed s = stress_at(m, f);
    add_plastic(&s, f, m.mu, m.lambda, ep);
    return s.p;
}

static mat3 other_slope(int plastic, hyperelastic m, mat3 f, vec3 b, symmetric ep, int project, mat3 d) {
    if (plastic) {
        plastic_tangent t = plastic_tangent_make(m, f, ep, project);
        return plastic_tangent_apply(&t, d);
    }
    fibre_tangent t = fibre_tangent_make(f, b, E_MODULUS, project);
    return fibre_tangent_apply(&t, d);
}

static void test_tangents_of_fibres_and_plastic_strain(void **state) {
    (void)state;
    for (int plastic = 0; plastic < 2; plastic++) {
        uint64_t seed = 27;
        double most = 0, least = 0, plain_least = 0;
        hyperelastic m = material_of(LAW_stvk, PBD_JOIN_NONE);
        for (int n = 0; n < 200; n++) {
            vec3 b = to_mat3(random_rotation(&seed)).y;
            mat3 f = random_f(&seed, 1.2 + 0.3 * noise(&seed), 0.8, n % 2 ? 0.5 : -0.5), d;
            symmetric ep = {0.2 * noise(&seed), 0.2 * noise(&seed), 0.2 * noise(&seed),
                            0.2 * noise(&seed), 0.2 * noise(&seed), 0.2 * noise(&seed)};
            const double h = 1e-5;
            for (int k = 0; k < 20; k++) {
                for (int i = 0; i < 9; i++) *entry(&d, i) = noise(&seed);
                mat3 more = other_stress(plastic, m, mat3_add(f, mat3_scale(h, d)), b, ep);
                mat3 less = other_stress(plastic, m, mat3_sub(f, mat3_scale(h, d)), b, ep);
                mat3 slope = mat3_scale(1 / (2 * h), mat3_sub(more, less));
                mat3 got = other_slope(plastic, m, f, b, ep, 0, d);
                keep(&most, (double)(difference(from_mat3(got), from_mat3(slope)) / E_MODULUS));
                const double size = mat3_inner(d, d) * E_MODULUS, exact = mat3_inner(d, got);
                const double projected = mat3_inner(d, other_slope(plastic, m, f, b, ep, 1, d));
                plain_least = fmin(plain_least, exact / size);
                least = fmin(least, projected / size);
                assert_true(projected >= exact - 1e-10 * size); /* clamping never decreases the quotient */
            }
        }
        print_message("    %s: dP/dF off by %.2g, least quotient %.2g (exact %.2g)\n", plastic ? "plastic" : "fibre",
                      most, least, plain_least);
        assert_true(most <= 1e-6 && least >= -1e-12 && plain_least < -1e-3);
    }
}

static double quadratic(const tangent *t, mat3 d) { return mat3_inner(d, tangent_apply(t, d)); }

static void test_projected_tangent(void **state) {
    (void)state;
    for (int law = 0; law < LAW_KINDS; law++) {
        uint64_t seed = 26;
        double least = 0, plain_least = 0, moved = 0;
        hyperelastic m = material_of((law_kind)law, PBD_JOIN_NONE);
        int inverts = law_domain_of(law) != LAW_UPRIGHT;
        for (int n = 0; n < 200; n++) {
            mat3 f = random_f(&seed, 1 + 0.3 * noise(&seed), 0.6 + 0.1 * noise(&seed),
                              (inverts && n % 2 ? -1 : 1) * (0.3 + 0.1 * noise(&seed)));
            tangent plain = tangent_make(m, f, 0), projected = tangent_make(m, f, 1);
            for (int k = 0; k < 50; k++) {
                mat3 d;
                for (int i = 0; i < 9; i++) *entry(&d, i) = noise(&seed);
                double size = mat3_inner(d, d) * E_MODULUS;
                least = fmin(least, quadratic(&projected, d) / size);
                plain_least = fmin(plain_least, quadratic(&plain, d) / size);
                /* Clamping never decreases the quotient. */
                assert_true(quadratic(&projected, d) >= quadratic(&plain, d) - 1e-10 * size);
            }
            /* Without negative eigenvalues nothing is changed. */
            mat3 near = random_f(&seed, 1.01, 1, 0.995), d;
            for (int i = 0; i < 9; i++) *entry(&d, i) = i;
            plain = tangent_make(m, near, 0);
            int positive = fmin(plain.odd.x, fmin(plain.odd.y, plain.odd.z)) > 0;
            projected = tangent_make(m, near, 1);
            if (positive)
                keep(&moved,
                     (double)difference(from_mat3(tangent_apply(&plain, d)), from_mat3(tangent_apply(&projected, d))) /
                         (10 * E_MODULUS));
        }
        print_message("    %-20s least quotient %.2g (plain %.2g), moved where positive %.2g\n", law_name[law], least,
                      plain_least, moved);
        assert_true(least >= -1e-12 && moved <= 1e-12);
        assert_true(plain_least < 0 || law == LAW_hencky); /* some of these states need the projection */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        COMMON_MATERIAL_TESTS,
        cmocka_unit_test(test_stress_is_the_gradient),
        cmocka_unit_test(test_rotations),
        cmocka_unit_test(test_small_strain_is_hooke),
        cmocka_unit_test(test_confined_values),
        cmocka_unit_test(test_uniaxial),
        cmocka_unit_test(test_printed_join_jumps),
        cmocka_unit_test(test_other_joins_do_not_jump),
        cmocka_unit_test(test_joins_leave_the_rest_alone),
        cmocka_unit_test(test_clamp),
        cmocka_unit_test(test_fibres),
        cmocka_unit_test(test_tangent_is_the_slope_of_stress),
        cmocka_unit_test(test_tangents_of_fibres_and_plastic_strain),
        cmocka_unit_test(test_projected_tangent),
    };
    return cmocka_run_group_tests_name("materials f64", tests, NULL, NULL);
}
