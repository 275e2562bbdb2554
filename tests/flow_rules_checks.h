/* The flow rules of methods/physics/matter/flow.h for the precision REAL: included by test_flow_rules.c (f64,
 * which adds what only f64 can check) and test_flow_rules_f32.c. */
#include "tests/flow_rules_book.h"

/* ---- Checks of both precisions ----------------------------------------------------------------------------------- */

/* Every rule against the papers' formulas in f64, within what the rounding of F and of the state explains. */
static void test_rules_are_the_papers(void **state) {
    (void)state;
    static const double strain[4] = {0.003, 0.03, 0.2, 0.6};
    for (int kind = 0; kind < FLOW_KINDS; kind++)
        for (int variant = 0; variant < 4; variant++) {
            flow_material m = material_of((flow_kind)kind, variant);
            m.nacc_form = variant >= 2;
            const flow_rule r = rule_of((flow_kind)kind, &m);
            uint64_t seed = 8;
            double most = 0, drift = 0;
            int far = 0;
            for (int n = 0; n < 1000; n++) {
                const matrix u = random_rotation(&seed), v = random_rotation(&seed);
                double s[3], first = (double)(real)first_state((flow_kind)kind, variant);
                for (int k = 0; k < 3; k++) s[k] = exp(strain[n % 4] * noise(&seed));
                if (kind == FLOW_drucker_prager && n % 8 >= 4) first = (double)(real)0.01;
                const mat3 f = to_mat3(product(product(u, diagonal(s[0], s[1], s[2])), v));
                const flowed_matrix got = flow_at(&r, f, (real)first);
                const double after = book_flow((flow_kind)kind, &m, s, first);
                const mat3 wanted = to_mat3(product(product(u, diagonal(s[0], s[1], s[2])), v));
                const double off = difference(got.f, wanted) / REAL_EPSILON;
                keep(&most, off);
                far += off > 200;
                keep(&drift, fabs((double)got.state - after) / (REAL_EPSILON * (1 + fabs(after))));
            }
            print_message(
                "    %-16s %d: F off the paper's by %.3g eps (%d of 1000 by more than 200), the state by %.3g eps\n",
                kind_name[kind], variant, most, far, drift);
            /* Near the tips of nacc's ellipse q is a square root, which amplifies rounding. */
            assert_true(most <= (kind == FLOW_nacc ? sqrt(1 / REAL_EPSILON) : 60) && far <= 20 && drift <= 100);
        }
}

/* von_mises, drucker_prager and mohr_coulomb return F on or inside the yield surface, up to rounding of the strains. */
static void test_lands_on_or_inside(void **state) {
    (void)state;
    static double (*const yield_of[FLOW_KINDS])(const flow_material *, mat3) = {
        [FLOW_von_mises] = von_mises_yield,
        [FLOW_drucker_prager] = drucker_prager_yield,
        [FLOW_mohr_coulomb] = mohr_coulomb_yield};
    for (int kind = 0; kind < FLOW_KINDS; kind++)
        for (int variant = 0; variant < 2 && yield_of[kind]; variant++) {
            const flow_material m = material_of((flow_kind)kind, variant);
            const flow_rule r = rule_of((flow_kind)kind, &m);
            uint64_t seed = 1;
            double most = -1;
            int count = 0;
            for (int n = 0; n < 6000; n++) {
                const mat3 f = any_f(&seed, n);
                const flowed_matrix to = flow_at(&r, f, 0);
                const hencky h = hencky_of(to.f); /* rounding of F limits the accuracy of the smallest stretch */
                const double yield = yield_of[kind](&m, to.f);
                keep(&most, yield / (REAL_EPSILON * (1 + fabs(h.trace) + h.most / h.least)));
                count += difference(to.f, f) > 0;
            }
            print_message("    %-16s outside by at most %.2g roundings; %d of 6000 flowed\n", kind_name[kind], most,
                          count);
            assert_true(most <= 100 && count > 1000 && count < 6000);
        }
}

/* Where nothing flows, a rule returns the stretches and the state that it was given, bit for bit. xpbi's constraints
 * use them without asking whether anything flowed. */
static void test_elastic_stretches_stay(void **state) {
    (void)state;
    for (int kind = 0; kind < FLOW_KINDS; kind++)
        for (int variant = 0; variant < 4; variant++) {
            const flow_material m = material_of((flow_kind)kind, variant);
            const flow_rule r = rule_of((flow_kind)kind, &m);
            uint64_t seed = 30 + (uint64_t)variant;
            int elastic = 0;
            for (int n = 0; n < 4000; n++) {
                const double size = n % 4 == 0 ? 1e-5 : n % 4 == 1 ? 1e-3 : 0.05;
                real s[3]; /* in descending order, as a decomposition returns them */
                s[2] = (real)exp(size * (noise(&seed) - 0.5 * (n % 5)));
                for (int k = 1; k >= 0; k--) s[k] = s[k + 1] * (real)exp(size * fabs(noise(&seed)));
                const real first = (real)first_state((flow_kind)kind, variant);
                const flowed to = flow_by_kind(&r, vec3_make(s[0], s[1], s[2]), first);
                if (to.moved) continue;
                elastic++;
                assert_true(to.s.x == s[0] && to.s.y == s[1] && to.s.z == s[2] && to.state == first);
            }
            print_message("    %-16s %d: %d of 4000 elastic\n", kind_name[kind], variant, elastic);
            assert_true(elastic > 0);
        }
}

/* Every region of mohr_coulomb's return (a plane, the edges of triaxial compression and extension, the apex) against
 * the brute-force projection, with the axes in every order. No result is in tension. drucker_prager's cone
 * circumscribes the pyramid and touches it in triaxial compression, so no result lies outside the cone. */
static void test_mohr_coulomb_returns_everywhere(void **state) {
    (void)state;
    static const double strain[4] = {0.002, 0.01, 0.05, 0.3};
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const char *const region[5] = {"inside", "plane", "compression edge", "extension edge", "apex"};
    for (int variant = 0; variant < 4; variant++) {
        const flow_material m = material_of(FLOW_mohr_coulomb, variant);
        const flow_rule r = rule_of(FLOW_mohr_coulomb, &m), cone = rule_of(FLOW_drucker_prager, &m);
        int count[5] = {0};
        double most[5] = {0}, tension = -INFINITY, beyond = -INFINITY;
        uint64_t seed = 20 + (uint64_t)variant;
        for (int n = 0; n < 8000; n++) {
            double e[3], book[3];
            real s[3];
            for (int k = 0; k < 3; k++) {
                s[k] = (real)exp(strain[n % 4] * (noise(&seed) - 0.2 * (n % 5)));
                book[k] = e[k] = log((double)s[k]) - m.cohesion;
            }
            const int on = book_pyramid(&m, book);
            const double low = fmin(book[0], fmin(book[1], book[2])), high = fmax(book[0], fmax(book[1], book[2])),
                         middle = book[0] + book[1] + book[2] - low - high;
            const int where = on < 2 ? on : on > 2 ? 4 : high - middle < middle - low ? 2 : 3;
            count[where]++;
            for (int p = 0; p < 6; p++) {
                const int *at = order[p];
                const mat3 f = mat3_diagonal(vec3_make(s[at[0]], s[at[1]], s[at[2]]));
                const flowed_matrix to = flow_at(&r, f, 0);
                const real got[3] = {to.f.x.x, to.f.y.y, to.f.z.z};
                for (int k = 0; k < 3; k++) {
                    const double off = fabs((double)got[k] / exp(book[at[k]] + m.cohesion) - 1);
                    keep(&most[where], off / REAL_EPSILON);
                }
                const hencky h = hencky_of(to.f);
                const double grain = REAL_EPSILON * (1 + lambda_of(&m) / mu_of(&m));
                tension =
                    fmax(tension,
                         (2 * (h.e[0] - m.cohesion) + lambda_of(&m) / mu_of(&m) * (h.trace - 3 * m.cohesion)) / grain);
                beyond = fmax(beyond, drucker_prager_yield(&m, to.f) / grain);
            }
            /* Triaxial compression on the pyramid: 0.1 % less shear is inside both surfaces, 0.1 % more flows in both.
             */
            const double sine = sin(m.friction_angle * acos(-1) / 180), size = strain[n % 4];
            const double tau[3] = {-(1 - sine), -(1 - sine), -(1 + sine)}, mean = -1 + sine / 3;
            for (int more = 0; more < 2; more++) {
                vec3 touching;
                double sum = 0, t[3];
                for (int k = 0; k < 3; k++) sum += t[k] = mean + (tau[k] - mean) * (more ? 1.001 : 0.999);
                const double share = lambda_of(&m) / (3 * lambda_of(&m) + 2 * mu_of(&m)) * sum;
                touching = vec3_make((real)exp(size * (t[0] - share) + m.cohesion),
                                     (real)exp(size * (t[1] - share) + m.cohesion),
                                     (real)exp(size * (t[2] - share) + m.cohesion));
                if (size < 0.01 && REAL_IS_FLOAT) continue; /* 0.1 % is below rounding there */
                assert_int_equal(flow_stretches(&r, touching, 0).moved != 0, more);
                assert_int_equal(flow_stretches(&cone, touching, 0).moved != 0, more);
            }
        }
        for (int k = 0; k < 5; k++) {
            print_message("    mohr_coulomb %d: %-16s %4d of 8000, off by %.2g eps\n", variant, region[k], count[k],
                          most[k]);
            assert_true(count[k] > 50 && most[k] <= 60);
        }
        print_message("    mohr_coulomb %d: tension %.2g, beyond drucker_prager %.2g roundings\n", variant, tension,
                      beyond);
        assert_true(tension <= 100 && beyond <= 100);
    }
}

/* nacc: a trial state that flows ends on the yield surface of the returned alpha; one that does not was inside. */
static void test_nacc_lands_on_its_own_surface(void **state) {
    (void)state;
    for (int variant = 0; variant < 2; variant++) {
        const flow_material m = material_of(FLOW_nacc, variant);
        const flow_rule r = rule_of(FLOW_nacc, &m);
        uint64_t seed = 2;
        double most = 0, worst_inside = -1;
        int count = 0, hardened = 0, softened = 0;
        for (int n = 0; n < 6000; n++) {
            const double alpha = n % 3 == 0 ? first_state(FLOW_nacc, variant) : n % 3 == 1 ? 0.01 * noise(&seed) : -0.3;
            const mat3 f = any_f(&seed, n);
            const flowed_matrix to = flow_at(&r, f, (real)alpha);
            const clay at = clay_of(&m, to.f, (double)to.state);
            /* The slope of the yield function times the rounding of p, of q and of alpha. */
            const double grain = REAL_EPSILON * (1 + m.xi * (1 + fabs((double)to.state)));
            const double slope = (1 + 2 * m.beta) * at.q * (1 + at.q) + m.M * m.M * (fabs(at.p) + at.p0) * (1 + at.p0);
            if (difference(to.f, f) > 0) {
                count++;
                hardened += to.state < (real)alpha;
                softened += to.state > (real)alpha;
                if (n >= HOSTILES) keep(&most, fabs(at.yield) / (grain * slope + grain * grain));
            } else {
                keep(&worst_inside, at.yield / (grain * slope + grain * grain));
            }
        }
        print_message("    nacc %d: off its surface by at most %.2g roundings; %d flowed, %d hardened, %d softened\n",
                      variant, most, count, hardened, softened);
        assert_true(most <= 200 && worst_inside <= 200);
        assert_true(count > 1000 && hardened > 200 && softened > 200);
    }
}

static void test_snow_ends_in_its_box(void **state) {
    (void)state;
    const flow_material m = material_of(FLOW_snow, 0);
    const flow_rule r = rule_of(FLOW_snow, &m);
    uint64_t seed = 3;
    for (int n = 0; n < 3000; n++) {
        const mat3 f = any_f(&seed, n);
        const flowed_matrix to = flow_at(&r, f, 1);
        double s[3], det, was[3], old;
        stretches_of(to.f, s, &det);
        assert_true(s[0] <= 1.0075 + 30 * REAL_EPSILON && s[2] >= 0.975 - 30 * REAL_EPSILON && det > 0);
        /* The volume that the elastic part lost is in J_P. */
        if (n >= HOSTILES) {
            stretches_of(f, was, &old);
            const double wanted = was[0] * was[1] * was[2] / (s[0] * s[1] * s[2]);
            const double off = fabs((double)to.state - wanted) / (REAL_EPSILON * wanted * was[0] / was[2]);
            if (!(off <= 60)) fail_msg("J_P %.9g, wanted %.9g, off by %.2g", (double)to.state, wanted, off);
        }
    }
    assert_true(fabs((double)flow_hardening(&r, (real)0.9) - exp(1)) <= 30 * REAL_EPSILON);
}

/* A second mapping changes F by rounding only; except for Herschel-Bulkley, whose overstress relaxes further. */
static void test_mapping_twice_changes_nothing(void **state) {
    (void)state;
    for (int kind = 0; kind < FLOW_KINDS; kind++)
        for (int variant = 0; variant < 2 && kind != FLOW_herschel_bulkley; variant++) {
            const flow_material m = material_of((flow_kind)kind, variant);
            const flow_rule r = rule_of((flow_kind)kind, &m);
            uint64_t seed = 4;
            double most = 0, drift = 0;
            for (int n = 0; n < 3000; n++) {
                const flowed_matrix once = flow_at(&r, any_f(&seed, n), (real)first_state((flow_kind)kind, variant));
                const flowed_matrix twice = flow_at(&r, once.f, once.state);
                const hencky h = hencky_of(once.f);
                keep(&most, difference(once.f, twice.f) / (REAL_EPSILON * largest(once.f) * h.most / h.least));
                keep(&drift,
                     fabs((double)(twice.state - once.state)) / (REAL_EPSILON * (1 + fabs((double)once.state))));
            }
            print_message("    %-16s second mapping moves F by %.2g roundings, the state by %.2g eps\n",
                          kind_name[kind], most, drift);
            assert_true(most <= 400 && drift <= 4000);
        }
}

/* Every rule maps every finite F to a finite one without reflection; F with NaN or infinity is returned unchanged. */
static void test_hostile_inputs(void **state) {
    (void)state;
    for (int kind = 0; kind < FLOW_KINDS; kind++)
        for (int variant = 0; variant < 3; variant++) {
            const flow_material m = material_of((flow_kind)kind, variant);
            const flow_rule r = rule_of((flow_kind)kind, &m);
            const real first = (real)first_state((flow_kind)kind, variant);
            for (int n = 0; n < HOSTILES; n++) {
                const flowed_matrix to = flow_at(&r, hostile_f(n), first);
                const hencky h = hencky_of(to.f);
                if (!(largest(to.f) < INFINITY) || !isfinite((double)to.state))
                    fail_msg("%s, hostile %d: %g, state %g", kind_name[kind], n, largest(to.f), (double)to.state);
                if (!(h.det > -100 * REAL_EPSILON * pow(h.most, 3))) /* a tiny determinant may be lost in rounding */
                    fail_msg("%s, hostile %d: det %g", kind_name[kind], n, h.det);
            }
            for (int n = 0; n < 6; n++) {
                mat3 f = mat3_identity();
                ((real *)&f)[n % 3 * 4 % 9] = n < 3 ? (real)NAN : (real)INFINITY;
                ((real *)&f)[1] = n == 4 ? -(real)INFINITY : 0;
                const flowed_matrix to = flow_at(&r, f, first);
                assert_memory_equal(&to.f, &f, sizeof f);
                assert_true(to.state == first);
            }
        }
}

/* Below yield, F is returned bitwise. */
static void test_elastic_states_are_left_alone(void **state) {
    (void)state;
    for (int kind = 0; kind < FLOW_KINDS; kind++)
        for (int variant = 0; variant < 2; variant++) {
            const flow_material m = material_of((flow_kind)kind, variant);
            const flow_rule r = rule_of((flow_kind)kind, &m);
            const real first = (real)first_state((flow_kind)kind, variant);
            uint64_t seed = 5;
            for (int n = 0; n < 300; n++) {
                /* A slight pressure, and a shear of a tenth of the pressure. */
                matrix f = diagonal(0.999 + 1e-5 * noise(&seed), 0.999 + 1e-5 * noise(&seed), 0.999);
                const mat3 trial = to_mat3(product(random_rotation(&seed), f));
                const flowed_matrix to = flow_at(&r, trial, first);
                assert_memory_equal(&to.f, &trial, sizeof trial);
                assert_true(to.state == first);
            }
            mat3 rest = mat3_identity();
            flowed_matrix to = flow_at(&r, rest, first);
            assert_memory_equal(&to.f, &rest, sizeof rest);
        }
}

/* Batches differ from the scalar form only by the rounding of fused multiply-adds. */
static void test_batches_do_the_same(void **state) {
    (void)state;
    for (int kind = 0; kind < FLOW_KINDS; kind++) {
        double most = 0, drift = 0;
        for (int variant = 0; variant < 3; variant++) {
            const flow_material m = material_of((flow_kind)kind, variant);
            const flow_rule r = rule_of((flow_kind)kind, &m);
            const real first = (real)first_state((flow_kind)kind, variant);
            uint64_t seed = 6;
            for (int n = 0; n < 200; n++) {
                mat3 f[PBD_BATCH];
                vmat3 batch;
                for (int l = 0; l < PBD_BATCH; l++) {
                    f[l] = random_f(&seed, n + l); /* all kinds side by side in the lanes */
                    put_lane(&batch.x.x, l, entries(&f[l]), 9);
                }
                const vflowed_matrix got = vflow_matrix(&r, batch, vreal_set(first));
                for (int l = 0; l < PBD_BATCH; l++) {
                    const flowed_matrix wanted = flow_at(&r, f[l], first);
                    flowed_matrix lane;
                    get_lane(&got.f.x.x, l, (real *)&lane.f, 9);
                    get_lane(&got.state, l, &lane.state, 1);
                    keep(&most, difference(lane.f, wanted.f) / (REAL_EPSILON * largest(wanted.f)));
                    keep(&drift,
                         fabs((double)(lane.state - wanted.state)) / (REAL_EPSILON * (1 + fabs((double)wanted.state))));
                }
            }
        }
        print_message("    %-16s batches off by %.2g eps of F, %.2g eps of the state\n", kind_name[kind], most, drift);
        assert_true(most <= 200 && drift <= 2000);
    }
}

#define COMMON_FLOW_TESTS                                                                                  \
    cmocka_unit_test(test_mohr_coulomb_returns_everywhere), cmocka_unit_test(test_rules_are_the_papers),   \
        cmocka_unit_test(test_lands_on_or_inside), cmocka_unit_test(test_elastic_stretches_stay),          \
        cmocka_unit_test(test_nacc_lands_on_its_own_surface), cmocka_unit_test(test_snow_ends_in_its_box), \
        cmocka_unit_test(test_mapping_twice_changes_nothing), cmocka_unit_test(test_hostile_inputs),       \
        cmocka_unit_test(test_elastic_states_are_left_alone), cmocka_unit_test(test_batches_do_the_same)
