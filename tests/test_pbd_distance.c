/* pbd_distance on the ladder: closed forms, impulses, rotation, order, precision, threads. Mutants of its kernels
 * (tests/mutants.cmake) must fail here. */
#include "tests/ladder.h"

#include <gsl/gsl_rng.h>

#include "methods/pbd_distance/hex_constraints.h"

static const char *const jacobi =
    "solver=jacobi stiffness=fixed k_edge=0.06 k_face=0.17 k_diagonal=0.12 k_volume=0.2 dt=0.5";
static const char *const gauss_seidel =
    "solver=coloured_gs stiffness=fixed k_edge=0.06 k_face=0.17 k_diagonal=0.12 k_volume=0.2 dt=0.5";

/* ---- A mass on an edge: rest at l0 + f/k, whatever the precision and the number of threads ----------------------- */

/* With edges alone and a vertical load only the four upright edges act. Each is a spring of stiffness k m/dt^2 if its
 * lower end has no inverse mass, and of half of that if the lower end has the weight of the upper one (A6). The
 * predicted positions at rest are dt^2 f/m above those after the projection. */
static void test_mass_on_an_edge(void **unused) {
    (void)unused;
    static const int threads[] = {1, 3, 8};
    for (int precision = 0; precision < 2; precision++)
        for (int t = 0; t < 3; t++)
            for (int fixing = 0; fixing < 2; fixing++)
                for (int which = 0; which < 2; which++) {
                    pbd_scene scene;
                    solver s;
                    make_box(&scene, 1, 1, 1, 2, 0.3);
                    scene.hints.fixing = (pbd_fixing)fixing;
                    double f = 0.11, k = 0.25, dt = 0.3;
                    for (int a = 4; a < 8; a++) scene.loads.forces[3 * a + 2] = f;
                    solver_open(
                        &s, "pbd_distance", (pbd_precision)precision, threads[t], &scene,
                        which ? "stiffness=fixed k_edge=0.25 k_face=0 k_diagonal=0 k_volume=0 dt=0.3 solver=coloured_gs"
                              : "stiffness=fixed k_edge=0.25 k_face=0 k_diagonal=0 k_volume=0 dt=0.3 solver=jacobi");
                    check_ok(s.method->solve(s.state));
                    double predicted = 2 + f * dt * dt / (fixing == PBD_FIXED_WEIGHT ? k : k / 2), x[24];
                    double limit =
                        precision == PBD_PRECISION_F64 ? 1e-7 : 3e-5; /* threshold over the share removed per step */
                    check_ok(s.method->read(s.state, PBD_POSITIONS, x));
                    check_near("head after projection, m", x[3 * 5 + 2], predicted - dt * dt * f, limit);
                    check_ok(s.method->read(s.state, PBD_PREDICTED, x));
                    check_near("head before projection, m", x[3 * 5 + 2], predicted, limit);
                    solver_close(&s);
                    pbd_scene_free(&scene);
                }
}

/* ---- Volume ------------------------------------------------------------------------------------------------------ */

static void test_volume_gradient(void **unused) {
    (void)unused;
    static const double corner[8][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0},
                                        {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}};
    for (int split = HEX_SPLIT_A; split <= HEX_SPLIT_B; split++) {
        double p[8][3], g[8][3], scratch[8][3], norm = 0, worst = 0;
        memcpy(p, corner, sizeof p);
        check_near("six volumes of the cube of edge 2, m^3 (R-3)",
                   hex_six_volumes((const double(*)[3])p, (hex_split)split, g), 48, 1e-13);
        for (int i = 0; i < 24; i++) norm += g[i / 3][i % 3] * g[i / 3][i % 3];
        check_near("squared gradient (R-7)", norm, 960, 1e-11);
        uint64_t seed = 3;
        for (int i = 0; i < 24; i++) p[i / 3][i % 3] += 0.3 * noise(&seed);
        hex_six_volumes((const double(*)[3])p, (hex_split)split, g);
        for (int i = 0; i < 24; i++) {
            double h = 1e-5, kept = p[i / 3][i % 3];
            p[i / 3][i % 3] = kept + h;
            double up = hex_six_volumes((const double(*)[3])p, (hex_split)split, scratch);
            p[i / 3][i % 3] = kept - h;
            double down = hex_six_volumes((const double(*)[3])p, (hex_split)split, scratch);
            p[i / 3][i % 3] = kept;
            worst = fmax(worst, fabs((up - down) / (2 * h) - g[i / 3][i % 3]));
        }
        check_near("gradient against differences, relative", worst / sqrt(norm), 0, 1e-6);
    }
}

/* One full projection (k = 1) of the volume constraint alone, close to the rest volume, restores it to second order. */
static void test_volume_is_restored(void **unused) {
    (void)unused;
    static const char *const splits[] = {"face_split=A", "face_split=B", "face_split=averaged_gradient"};
    for (int i = 0; i < 3; i++)
        for (int precision = 0; precision < 2; precision++) {
            pbd_scene scene;
            solver s;
            char words[200];
            make_box(&scene, 1, 1, 1, 2, 0.3);
            scene.particles.fixed = 0;
            snprintf(words, sizeof words, "%s stiffness=fixed k_edge=0 k_face=0 k_diagonal=0 k_volume=1 dt=1",
                     splits[i]);
            solver_open(&s, "pbd_distance", (pbd_precision)precision, 1, &scene, words);
            for (int a = 0; a < 24; a++) scene.particles.positions[a] *= 1.001;
            set_positions(&s, 8, scene.particles.positions);
            check_ok(s.method->step(s.state, 1));
            double *x = positions_of(&s, 8), p[8][3], g[8][3];
            for (int a = 0; a < 8; a++) memcpy(p[a], x + 3 * scene.hexes.corner[a], sizeof p[a]);
            check_near("six volumes after projection, m^3",
                       hex_six_volumes((const double(*)[3])p, i == 1 ? HEX_SPLIT_B : HEX_SPLIT_A, g), 48,
                       precision ? 2e-4 : 3e-4); /* 48 (0.003)^2 / 3, plus rounding */
            free(x);
            solver_close(&s);
            pbd_scene_free(&scene);
        }
}

/* ---- Impulses and rotation --------------------------------------------------------------------------------------- */

/* A free body of 3 x 2 x 2 cells, unequal masses, every particle moved at random: one step without load is one
 * projection. before and after: particles x 3, to be freed. */
static void project_free_body(const char *words, pbd_precision precision, const double R[9], pbd_scene *scene,
                              double **before, double **after) {
    solver s;
    make_box(scene, 3, 2, 2, 0.7, 0.3);
    scene->particles.fixed = 0;
    uint64_t seed = 11;
    for (size_t p = 0; p < scene->particles.count; p++) scene->particles.masses[p] = 1.5 + noise(&seed);
    solver_open(&s, "pbd_distance", precision, 1, scene, words);
    *before = malloc(3 * scene->particles.count * sizeof **before);
    for (size_t p = 0; p < scene->particles.count; p++) {
        double moved[3];
        for (int d = 0; d < 3; d++) moved[d] = scene->particles.positions[3 * p + (size_t)d] + 0.05 * noise(&seed);
        for (int d = 0; d < 3; d++)
            (*before)[3 * p + (size_t)d] = R[3 * d] * moved[0] + R[3 * d + 1] * moved[1] + R[3 * d + 2] * moved[2];
    }
    set_positions(&s, scene->particles.count, *before);
    check_ok(s.method->step(s.state, 0.5));
    *after = positions_of(&s, scene->particles.count);
    solver_close(&s);
}

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* Norms of the sums of m dx and of x cross m dx, over the largest component of m dx; x: where gradients are taken. */
static void impulses(const pbd_scene *scene, const double *x, const double *y, double *linear, double *angular) {
    double p[3] = {0}, L[3] = {0}, scale = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        double j[3];
        for (size_t d = 0; d < 3; d++) j[d] = scene->particles.masses[i] * (y[3 * i + d] - x[3 * i + d]);
        for (int d = 0; d < 3; d++) {
            p[d] += j[d];
            L[d] +=
                x[3 * i + (size_t)((d + 1) % 3)] * j[(d + 2) % 3] - x[3 * i + (size_t)((d + 2) % 3)] * j[(d + 1) % 3];
            scale = fmax(scale, fabs(j[d]));
        }
    }
    *linear = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / scale;
    *angular = sqrt(L[0] * L[0] + L[1] * L[1] + L[2] * L[2]) / scale;
}

static void test_impulses_of_projections(void **unused) {
    (void)unused;
    /* Gauss-Seidel evaluates each gradient after the last projection. The angular impulse is therefore tested with
     * Jacobi, one kind of constraint at a time. */
    static const char *const each[] = {"k_edge=1",
                                       "k_face=1",
                                       "k_diagonal=1",
                                       "k_volume=1",
                                       "k_volume=1 face_split=A",
                                       "k_volume=1 face_split=B",
                                       "k_volume=1 face_split=averaged_gradient"};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        for (int precision = 0; precision < 2; precision++) {
            char words[300];
            pbd_scene scene;
            double *x, *y, linear, angular;
            snprintf(words, sizeof words,
                     "stiffness=fixed k_edge=0 k_face=0 k_diagonal=0 k_volume=0 dt=0.5 solver=jacobi %s", each[i]);
            project_free_body(words, (pbd_precision)precision, identity, &scene, &x, &y);
            impulses(&scene, x, y, &linear, &angular);
            check_near("linear impulse of a projection, relative", linear, 0, precision ? 1e-12 : 2e-3);
            check_near("angular impulse of a projection, relative", angular, 0, precision ? 1e-12 : 2e-3);
            free(x);
            free(y);
            pbd_scene_free(&scene);
        }
    pbd_scene scene;
    double *x, *y, linear, angular;
    project_free_body(gauss_seidel, PBD_PRECISION_F64, identity, &scene, &x, &y);
    impulses(&scene, x, y, &linear, &angular);
    check_near("linear impulse of a Gauss-Seidel sweep, relative", linear, 0, 1e-12);
    free(x);
    free(y);
    pbd_scene_free(&scene);
}

static void test_rotation(void **unused) {
    (void)unused;
    double c = cos(0.8), s = sin(0.8);
    const double R[9] = {c, -s, 0, c * s, c * c, -s, s * s, s * c, c}; /* about z, then about x */
    const char *const both[] = {jacobi, gauss_seidel};
    for (int i = 0; i < 2; i++) {
        pbd_scene scene, turned;
        double *x, *y, *rx, *ry, worst = 0;
        project_free_body(both[i], PBD_PRECISION_F64, identity, &scene, &x, &y);
        project_free_body(both[i], PBD_PRECISION_F64, R, &turned, &rx, &ry);
        for (size_t p = 0; p < scene.particles.count; p++)
            for (int d = 0; d < 3; d++) {
                double wanted = R[3 * d] * y[3 * p] + R[3 * d + 1] * y[3 * p + 1] + R[3 * d + 2] * y[3 * p + 2];
                worst = fmax(worst, fabs(ry[3 * p + (size_t)d] - wanted));
            }
        check_near("projection then rotation against rotation then projection, m", worst, 0, 1e-14);
        free(x), free(y), free(rx), free(ry);
        pbd_scene_free(&scene);
        pbd_scene_free(&turned);
    }
}

/* ---- Precision, threads, order, save and load -------------------------------------------------------------------- */

/* Final positions, to be freed, after `steps` steps of a loaded block. 16 x 16 x 16 cells suffice for several threads
 * to share the work. */
static double *march(const char *words, pbd_precision precision, int threads, int cells, int steps, size_t *particles) {
    pbd_scene scene;
    solver s;
    make_box(&scene, cells, cells, cells, 0.5, 0.4);
    uint64_t seed = 5;
    for (size_t i = 0; i < 3 * scene.particles.count; i++) scene.loads.forces[i] = 0.01 * noise(&seed);
    solver_open(&s, "pbd_distance", precision, threads, &scene, words);
    for (int i = 0; i < steps; i++) check_ok(s.method->step(s.state, 0.5));
    double *x = positions_of(&s, scene.particles.count);
    *particles = scene.particles.count;
    solver_close(&s);
    pbd_scene_free(&scene);
    return x;
}

static void test_threads_are_bitwise_equal(void **unused) {
    (void)unused;
    const char *const both[] = {jacobi, gauss_seidel};
    static const int threads[] = {2, 3, 8};
    for (int i = 0; i < 2; i++)
        for (int precision = 0; precision < 2; precision++) {
            size_t n;
            double *one = march(both[i], (pbd_precision)precision, 1, 24, 4, &n);
            for (int t = 0; t < 3; t++) {
                double *many = march(both[i], (pbd_precision)precision, threads[t], 24, 4, &n);
                assert_memory_equal(one, many, 3 * n * sizeof *one);
                free(many);
            }
            for (size_t k = 0; k < 3 * n; k++) assert_true(isfinite(one[k]));
            free(one);
        }
}

static void test_f32_against_f64(void **unused) {
    (void)unused;
    const char *const both[] = {jacobi, gauss_seidel};
    for (int i = 0; i < 2; i++) {
        size_t n;
        double *low = march(both[i], PBD_PRECISION_F32, 1, 4, 10, &n),
               *high = march(both[i], PBD_PRECISION_F64, 1, 4, 10, &n), worst = 0;
        for (size_t k = 0; k < 3 * n; k++) worst = fmax(worst, fabs(low[k] - high[k]));
        check_near("f32 against f64 after 10 steps, m", worst, 0,
                   10 * 30 * 1.2e-7); /* steps x constraints per particle x rounding at 2 m */
        free(low);
        free(high);
    }
}

/* Near rest the projection is its linearisation up to the square of the displacement: halving the load halves the
 * relative difference between stepping to rest and solving K_PBD u = f. */
static void test_order_towards_the_linear_limit(void **unused) {
    (void)unused;
    double difference[3];
    for (int level = 0; level < 3; level++) {
        double u[2][24];
        for (int mode = 0; mode < 2; mode++) {
            pbd_scene scene;
            solver s;
            char words[300];
            make_box(&scene, 1, 1, 1, 2, 0.4);
            for (int a = 4; a < 8; a++)
                scene.loads.forces[3 * a] = 0.02 / (1 << level), scene.loads.forces[3 * a + 2] = 0.03 / (1 << level);
            snprintf(words, sizeof words, "velocity_threshold=1e-14 mode=%s", mode ? "static" : "dynamic");
            solver_open(&s, "pbd_distance", PBD_PRECISION_F64, 1, &scene, words);
            check_ok(s.method->solve(s.state));
            check_ok(s.method->read(s.state, PBD_POSITIONS, u[mode]));
            for (int i = 0; i < 24; i++) u[mode][i] -= scene.particles.positions[i];
            solver_close(&s);
            pbd_scene_free(&scene);
        }
        double sum = 0, scale = 0;
        for (int i = 0; i < 24; i++) {
            sum += (u[0][i] - u[1][i]) * (u[0][i] - u[1][i]);
            scale += u[1][i] * u[1][i];
        }
        difference[level] = sqrt(sum / scale);
    }
    double order = log2(difference[1] / difference[2]);
    print_message("    relative differences %.3e %.3e %.3e\n", difference[0], difference[1], difference[2]);
    check_near("order in the load", order, 1, 0.1);
}

/* The same body in other units or with another modulus: dimensionless results do not change. */
static void test_invariances(void **unused) {
    (void)unused;
    double wanted = 0;
    static const struct {
        double edge, E;
        const char *name;
    } variants[] = {{2, 1, "as it is"},
                    {200, 1, "in centimetres"},
                    {0.002, 1, "in kilometres"},
                    {2, 1e6, "E x 1e6"},
                    {2, 1e11, "E = 1e11"}};
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        pbd_scene scene;
        solver s;
        make_box(&scene, 1, 1, 1, variants[i].edge, 0.4);
        scene.material->E = variants[i].E;
        for (int a = 4; a < 8; a++)
            scene.loads.forces[3 * a] = 0.02 * variants[i].E * variants[i].edge * variants[i].edge;
        solver_open(&s, "pbd_distance", PBD_PRECISION_F64, 1, &scene, "");
        check_ok(s.method->solve(s.state));
        double *x = positions_of(&s, 8), strain = (x[3 * 5] - scene.particles.positions[3 * 5]) / variants[i].edge;
        if (i == 0) wanted = strain;
        check_near(variants[i].name, strain, wanted, 1e-12);
        check_near("k_face", metric_of(&s, "k_face"), 0.13099, 5e-6); /* claims.md, table of A6 at nu = 0.4 */
        free(x);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* The numbering of particles affects Jacobi only by the order of sums. */
static void test_shuffled_particles(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    double *x[2];
    uint32_t name[27];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (uint32_t i = 0; i < 27; i++) name[i] = i;
    for (uint32_t i = 26; i > 0; i--) {
        uint32_t j = (uint32_t)gsl_rng_uniform_int(rng, i + 1), kept = name[i];
        name[i] = name[j];
        name[j] = kept;
    }
    gsl_rng_free(rng);
    for (int round = 0; round < 2; round++) {
        make_box(&scene, 2, 2, 2, 1, 0.3);
        double rest[81];
        memcpy(rest, scene.particles.positions, sizeof rest);
        for (uint32_t p = 0; p < 27; p++) {
            uint32_t to = round ? name[p] : p;
            memcpy(scene.particles.positions + 3 * to, rest + 3 * p, 3 * sizeof(double));
            scene.loads.forces[3 * to] = 0.001 * p;
        }
        for (size_t i = 0; i < 64 && round; i++) scene.hexes.corner[i] = name[scene.hexes.corner[i]];
        for (size_t i = 0; i < scene.particles.fixed && round; i++)
            scene.particles.fixed_particle[i] = name[scene.particles.fixed_particle[i]];
        solver_open(&s, "pbd_distance", PBD_PRECISION_F64, 1, &scene, jacobi);
        for (int i = 0; i < 20; i++) check_ok(s.method->step(s.state, 0.5));
        x[round] = positions_of(&s, 27);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
    double worst = 0;
    for (size_t p = 0; p < 27; p++)
        for (size_t d = 0; d < 3; d++) worst = fmax(worst, fabs(x[0][3 * p + d] - x[1][3 * name[p] + d]));
    check_near("particles shuffled, m", worst, 0, 1e-13);
    free(x[0]);
    free(x[1]);
}

static void test_save_and_load(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_box(&scene, 2, 2, 2, 1, 0.3);
    scene.loads.forces[3 * 26] = 0.01;
    solver_open(&s, "pbd_distance", PBD_PRECISION_F32, 1, &scene, gauss_seidel);
    size_t bytes;
    check_ok(s.method->step(s.state, 0.5));
    check_ok(s.method->save(s.state, NULL, &bytes));
    void *blob = malloc(bytes);
    check_ok(s.method->save(s.state, blob, &bytes));
    check_ok(s.method->step(s.state, 0.5));
    double *first = positions_of(&s, 27);
    check_ok(s.method->load(s.state, blob, bytes));
    check_ok(s.method->step(s.state, 0.5));
    double *second = positions_of(&s, 27);
    assert_memory_equal(first, second, 81 * sizeof(double));
    assert_int_equal(s.method->load(s.state, blob, bytes - 1).code, PBD_BAD_INPUT);
    free(blob), free(first), free(second);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* ---- What goes wrong says so ------------------------------------------------------------------------------------- */

static void test_states(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_box(&scene, 5, 5, 5, 0.4, 0.4);
    scene.loads.forces[3 * (scene.particles.count - 1)] = 0.01;
    /* plain Jacobi sums diverge on this mesh. */
    solver_open(&s, "pbd_distance", PBD_PRECISION_F64, 1, &scene, "spectrum=yes");
    check_near("largest eigenvalue, within the pre-check's 1.56 to 1.64", metric_of(&s, "largest_eigenvalue"), 1.60,
               0.05);
    assert_int_equal(s.method->solve(s.state).code, PBD_DIVERGED);
    solver_close(&s);
    /* A NaN in a position is reported as divergence. */
    solver_open(&s, "pbd_distance", PBD_PRECISION_F32, 1, &scene, "solver=coloured_gs");
    double *x = positions_of(&s, scene.particles.count);
    x[100] = NAN;
    set_positions(&s, scene.particles.count, x);
    assert_int_equal(s.method->solve(s.state).code, PBD_DIVERGED);
    free(x);
    solver_close(&s);
    solver_open(&s, "pbd_distance", PBD_PRECISION_F64, 1, &scene, "max_steps=3 solver=coloured_gs");
    assert_int_equal(s.method->solve(s.state).code, PBD_NOT_SETTLED);
    solver_close(&s);
    solver_open(&s, "pbd_distance", PBD_PRECISION_F64, 1, &scene,
                "mode=static stiffness=fixed k_edge=0 k_face=0 k_diagonal=0 k_volume=0.5");
    assert_int_equal(s.method->solve(s.state).code, PBD_NO_EQUILIBRIUM);
    solver_close(&s);
    /* Two particles at one position: an edge without direction is refused by create. */
    memcpy(scene.particles.positions + 3, scene.particles.positions, 3 * sizeof(double));
    pbd_status status = try_open(&s, "pbd_distance", PBD_PRECISION_F64, 1, &scene, "");
    assert_int_not_equal(status.code, PBD_OK);
    assert_true(strlen(status.text) > 20);
    solver_close(&s);
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mass_on_an_edge),    cmocka_unit_test(test_volume_gradient),
        cmocka_unit_test(test_volume_is_restored), cmocka_unit_test(test_impulses_of_projections),
        cmocka_unit_test(test_rotation),           cmocka_unit_test(test_threads_are_bitwise_equal),
        cmocka_unit_test(test_f32_against_f64),    cmocka_unit_test(test_order_towards_the_linear_limit),
        cmocka_unit_test(test_invariances),        cmocka_unit_test(test_shuffled_particles),
        cmocka_unit_test(test_save_and_load),      cmocka_unit_test(test_states),
    };
    return cmocka_run_group_tests_name("pbd_distance", tests, NULL, NULL);
}
