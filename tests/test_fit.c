/* The fit of rodero2016: against the table of claims.md (found by an independent script), the printed polynomials, the
 * conditions of optimality, and Nelder-Mead. */
#include "tests/ladder.h"

#include "methods/pbd_distance/fit.h"
#include "methods/pbd_distance/linear.h"

static fit_problem problem_at(double nu) {
    static const double corner[8][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0},
                                        {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}};
    fit_problem problem = {.material = {.E = 1, .nu = nu, .convention = PBD_D_PRINTED},
                           .mass = 1,
                           .split = HEX_SPLIT_MEAN,
                           .volume = true,
                           .iterations = 1,
                           .fixing = PBD_FIXED_RESET};
    memcpy(problem.corner, corner, sizeof corner);
    return problem;
}

/* nu; k_edge, k_face, k_diagonal, k_volume; e_r; e_r without k_volume: claims.md, end of A6. */
static const double table[][7] = {{0, 0.05111, 0.15759, 0.11500, 0, 0.5273, 0.5273},
                                  {0.1, 0.05524, 0.16278, 0.11976, 0, 0.4672, 0.4672},
                                  {0.2, 0.06077, 0.16851, 0.12541, 0, 0.3800, 0.3800},
                                  {0.28, 0.06623, 0.17187, 0.12961, 0, 0.2965, 0.2965},
                                  {0.30, 0.06673, 0.16922, 0.12418, 0.04043, 0.2790, 0.2805},
                                  {0.35, 0.06593, 0.15471, 0.09739, 0.21812, 0.2310, 0.2802},
                                  {0.40, 0.06272, 0.13099, 0.05984, 0.43846, 0.1908, 0.3716},
                                  {0.45, 0.05564, 0.09549, 0.01109, 0.68463, 0.2020, 0.5374},
                                  {0.49, 0.04614, 0.05408, 0, 0.84680, 0.2639, 0.6842}};
enum { ROWS = sizeof table / sizeof *table };

static void test_against_the_table(void **unused) {
    (void)unused;
    for (int row = 0; row < ROWS; row++) {
        fit_problem problem = problem_at(table[row][0]);
        fit_matrices m;
        fit_answer all, without;
        check_ok(fit_prepare(&problem, &m));
        check_ok(fit_bounded_least_squares(&m, &all));
        for (int kind = 0; kind < 4; kind++) check_near("stiffness", all.k[kind], table[row][1 + kind], 6e-6);
        check_near("relative error", all.error, table[row][5], 6e-5);
        fit_release(&m);
        problem.volume = false;
        check_ok(fit_prepare(&problem, &m));
        check_ok(fit_bounded_least_squares(&m, &without));
        check_near("relative error without volume", without.error, table[row][6], 6e-5);
        fit_release(&m);
    }
}

/* Within 1 % of the polynomials printed in the paper, where their lower branch holds. */
static void test_against_the_printed_polynomials(void **unused) {
    (void)unused;
    static const double nus[] = {0, 0.1, 0.2, 0.28};
    for (int i = 0; i < 4; i++) {
        double nu = nus[i];
        const double printed[3] = {0.0698 * nu * nu + 0.0343 * nu + 0.0511, -0.0302 * nu * nu + 0.0614 * nu + 0.1572,
                                   0.0527 * nu + 0.1147};
        fit_problem problem = problem_at(nu);
        fit_matrices m;
        fit_answer answer;
        double polynomial[4];
        check_ok(fit_prepare(&problem, &m));
        check_ok(fit_bounded_least_squares(&m, &answer));
        fit_polynomials(nu, polynomial);
        for (int kind = 0; kind < 3; kind++) {
            check_near("fitted against printed", answer.k[kind], printed[kind], 0.01 * printed[kind]);
            check_near("the polynomials of the code", polynomial[kind], printed[kind], 1e-15);
        }
        fit_release(&m);
    }
}

/* Optimality of the bounded problem: the gradient of ||K_PBD(k) - K_FEM||^2, by finite differences of the error of the
 * matrices, vanishes in the interior; at a bound the error falls only towards the outside. */
static void test_optimality(void **unused) {
    (void)unused;
    for (double nu = -0.4; nu < 0.495; nu += 0.05)
        for (int split = 0; split < 4; split++) {
            fit_problem problem = problem_at(nu);
            problem.split = (hex_split)split;
            problem.material.convention = split % 2 ? PBD_D_STANDARD : PBD_D_PRINTED;
            fit_matrices m;
            fit_answer answer;
            check_ok(fit_prepare(&problem, &m));
            check_ok(fit_bounded_least_squares(&m, &answer));
            for (int kind = 0; kind < 4; kind++) {
                double k[4], h = 1e-4;
                memcpy(k, answer.k, sizeof k);
                k[kind] += h;
                double up = fit_error(&m, k);
                k[kind] -= 2 * h;
                double down = fit_error(&m, k), slope = (up * up - down * down) / (2 * h);
                if (answer.k[kind] == 0)
                    assert_true(slope > -1e-9);
                else if (answer.k[kind] == 1)
                    assert_true(slope < 1e-9);
                else
                    check_near("slope of the squared error", slope, 0, 1e-9);
            }
            fit_release(&m);
        }
}

static void test_nelder_mead_is_never_better(void **unused) {
    (void)unused;
    static const double starts[] = {0.02, 0.1, 0.5, 0.9};
    for (int row = 0; row < ROWS; row++)
        for (int s = 0; s < 4; s++) {
            fit_problem problem = problem_at(table[row][0]);
            fit_matrices m;
            fit_answer direct, search;
            check_ok(fit_prepare(&problem, &m));
            check_ok(fit_bounded_least_squares(&m, &direct));
            check_ok(fit_by_nelder_mead(&m, starts[s], &search));
            print_message("    nu %.2f from %.2f: direct %.8f, Nelder-Mead %.8f after %d evaluations\n", table[row][0],
                          starts[s], direct.error, search.error, search.evaluations);
            assert_true(direct.error <= search.error * (1 + 1e-12));
            fit_release(&m);
        }
}

/* The stiffness matrix of N iterations is (m/dt^2)(I - (I - J)^N); compared with the linear map of N solver
 * iterations. */
static void test_iterations(void **unused) {
    (void)unused;
    fit_problem problem = problem_at(0.35);
    problem.iterations = 3;
    fit_matrices m;
    check_ok(fit_prepare(&problem, &m));
    const double k[4] = {0.06, 0.15, 0.1, 0.3};
    static const bool held[8] = {false};
    double w[8], A[576], K[576], worst = 0;
    for (int i = 0; i < 8; i++) w[i] = 1;
    linear_system s = {.constraint = m.constraint,
                       .constraints = m.constraints,
                       .k = k,
                       .w = w,
                       .held = held,
                       .particles = 8,
                       .solver = PBD_SOLVER_JACOBI,
                       .iterations = 3};
    check_ok(linear_map(&s, A));
    fit_stiffness_matrix(&m, k, K);
    for (int i = 0; i < 576; i++) worst = fmax(worst, fabs(K[i] * m.dt * m.dt - ((i % 25 == 0) - A[i])));
    check_near("matrix power against three sweeps", worst, 0, 1e-14);
    assert_int_equal(fit_bounded_least_squares(&m, &(fit_answer){{0}, 0, 0}).code, PBD_BAD_INPUT);
    fit_release(&m);
}

/* A conjecture of the paper: fitting k to the deformation tests makes their errors smaller than fitting k to K does. */
static void test_deformation_fit_lowers_test_errors(void **unused) {
    (void)unused;
    static const char *const fits[] = {"fit=bounded_lsq mode=static", "fit=deformation_tests mode=static"};
    double shear[2];
    for (int i = 0; i < 2; i++) {
        pbd_scene scene;
        solver s;
        make_box(&scene, 1, 1, 1, 2, 0.2);
        for (int a = 4; a < 8; a++) scene.loads.forces[3 * a] = 0.01;
        double u[24], sum = 0, scale = 0;
        solver_open(&s, "fem_linear", PBD_PRECISION_F64, 1, &scene, "");
        check_ok(s.method->solve(s.state));
        check_ok(s.method->read(s.state, PBD_POSITIONS, u));
        solver_close(&s);
        solver_open(&s, "pbd_distance", PBD_PRECISION_F64, 1, &scene, fits[i]);
        check_ok(s.method->solve(s.state));
        double *x = positions_of(&s, 8);
        for (int d = 0; d < 24; d++) {
            sum += (x[d] - u[d]) * (x[d] - u[d]);
            scale += (u[d] - scene.particles.positions[d]) * (u[d] - scene.particles.positions[d]);
        }
        shear[i] = sqrt(sum / scale);
        free(x);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
    print_message("    error in shear: fitted to K %.3f, fitted to the tests %.3f\n", shear[0], shear[1]);
    assert_true(shear[1] < shear[0]);
}

/* At tiny stiffness Gauss-Seidel tends to Jacobi, and the order of the constraints ceases to matter. */
static void test_order_sampling(void **unused) {
    (void)unused;
    fit_problem problem = problem_at(0.4);
    fit_matrices m;
    double difference, spread;
    check_ok(fit_prepare(&problem, &m));
    const double tiny[4] = {1e-6, 1e-6, 1e-6, 1e-6}; /* orders differ only in products of stiffnesses */
    check_ok(fit_sample_orders(&m, tiny, 50, 1, &difference, &spread));
    check_near("difference from Jacobi at tiny stiffness", difference, 0, 1e-5);
    check_near("spread over orders at tiny stiffness", spread, 0, 1e-5);
    fit_release(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_table), cmocka_unit_test(test_against_the_printed_polynomials),
        cmocka_unit_test(test_optimality),        cmocka_unit_test(test_nelder_mead_is_never_better),
        cmocka_unit_test(test_iterations),        cmocka_unit_test(test_deformation_fit_lowers_test_errors),
        cmocka_unit_test(test_order_sampling),
    };
    return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
