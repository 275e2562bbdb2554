/* strain_energy with acceleration of positions and multipliers together: the answer of plain sweeps, in fewer of them;
 * momenta, threads, precision, backends, what it refuses. Mutants (tests/mutants.cmake) must fail here. */
#define REAL double
#include "tests/element_ladder.h"
#include "tests/step_run.h"

static const char *const faster[] = {"acceleration=anderson", "acceleration=chebyshev"};

static void make_bar(pbd_scene *scene, double load) {
    make_mesh(scene, false, 1e5);
    scene->material->law = "stvk";
    for (int d = 0; d < 3; d++) scene->loads.gravity[d] *= load;
}

/* Of C + alpha l after a step, over that before its first iteration. */
static double residual_left(const pbd_scene *scene, const char *words, double *x) {
    solver s;
    pbd_residual left = {0};
    solver_open(&s, "strain_energy", PBD_PRECISION_F64, 1, scene, words);
    s.method->watch(s.state, &left);
    check_ok(s.method->step(s.state, 0.01));
    check_ok(s.method->read(s.state, PBD_POSITIONS, x));
    solver_close(&s);
    return left.last / left.first;
}

/* All constraints are fulfilled. Multipliers keep the directions of the gradients at which they were added, so that
 * the answer of XPBD depends on the path to it, by a share of the displacement that falls with the displacement: 9e-5
 * of 1 mm, 9e-8 of 1 um. */
static void test_same_answer(void **unused) {
    (void)unused;
    static const double load[] = {1, 1e-3}, limit[] = {2e-4, 2e-7};
    for (int kind = 0; kind < 2; kind++)
        for (int jacobi = 0; jacobi < 2; jacobi++)
            for (int k = 0; k < 2; k++) {
                pbd_scene scene;
                char words[160];
                const char *order = jacobi ? "solver=jacobi" : "solver=coloured_gs";
                make_bar(&scene, load[k]);
                const size_t n = scene.particles.count;
                double *plain = malloc(3 * n * sizeof *plain), *x = malloc(3 * n * sizeof *x);
                snprintf(words, sizeof words, "form=six_strains iterations=%d %s", jacobi ? 40000 : 4000, order);
                check_near("plain: residual", residual_left(&scene, words, plain), 0, 1e-9);
                snprintf(words, sizeof words, "form=six_strains iterations=3000 %s %s", order, faster[kind]);
                check_near("residual", residual_left(&scene, words, x), 0, 1e-9);
                const double size = largest_difference(plain, scene.particles.positions, n);
                check_near(words, largest_difference(x, plain, n) / size, 0, limit[k]);
                free(plain);
                free(x);
                pbd_scene_free(&scene);
            }
}

/* implicit_step's iterations to 1 % of the step. */
static double iterations_to_1_percent(const char *text) {
    char words[400];
    snprintf(words, sizeof words, "form=six_strains material=stvk %s", text);
    const double count = step_metric(words, "iterations_to_1_percent"), found = isnan(count) ? INFINITY : count;
    print_message("    %s: %g iterations to 1 %%\n", text, found);
    return found;
}

static void test_fewer_iterations(void **unused) {
    (void)unused;
    const double plain = iterations_to_1_percent("E=1e7 iterations=1000");
    assert_true(iterations_to_1_percent("E=1e7 iterations=1000 acceleration=anderson") < 0.33 * plain);
    assert_true(iterations_to_1_percent("E=1e7 iterations=1000 acceleration=chebyshev") < plain);
    assert_true(iterations_to_1_percent("E=1e7 iterations=1000 acceleration=chebyshev spectral_radius=0.97") <
                0.33 * plain);
    const double jacobi = iterations_to_1_percent("E=1e6 iterations=2000 solver=jacobi");
    assert_true(iterations_to_1_percent("E=1e6 iterations=2000 solver=jacobi acceleration=anderson") < 0.1 * jacobi);
}

/* Weights sum to one: a combination of states of one momentum has it. */
static void test_momentum_is_kept(void **unused) {
    (void)unused;
    for (int kind = 0; kind < 2; kind++) {
        pbd_scene scene;
        char words[160];
        uint64_t seed = 3;
        double sum[3] = {0}, size = 0;
        make_bar(&scene, 0);
        scene.particles.fixed = 0;
        scene.particles.start = malloc(3 * scene.particles.count * sizeof(double));
        for (size_t i = 0; i < 3 * scene.particles.count; i++)
            scene.particles.start[i] = scene.particles.positions[i] + 0.002 * noise(&seed);
        snprintf(words, sizeof words, "form=six_strains iterations=20 %s", faster[kind]);
        double *x = march("strain_energy", PBD_PRECISION_F64, 1, &scene, words, 0.002, 5);
        for (size_t i = 0; i < 3 * scene.particles.count; i++) {
            const double part = scene.particles.masses[i / 3] * (x[i] - scene.particles.start[i]);
            sum[i % 3] += part;
            size += fabs(part);
        }
        for (int d = 0; d < 3; d++) check_near(words, sum[d] / size, 0, 3e-13);
        free(x);
        pbd_scene_free(&scene);
    }
}

static void test_elsewhere(void **unused) {
    (void)unused;
    static const char *const variants[] = {"form=xpbd_root", "form=pbd", "form=xpbd_root solver=jacobi"};
    for (int kind = 0; kind < 2; kind++) {
        char words[160];
        for (size_t k = 0; k < sizeof variants / sizeof *variants; k++)
            for (int triangles = 0; triangles < 2; triangles++) {
                snprintf(words, sizeof words, "%s iterations=8 %s", variants[k], faster[kind]);
                expect_same_on_threads("strain_energy", words, triangles);
                expect_backends_agree_with("strain_energy", words, triangles, NULL);
            }
        snprintf(words, sizeof words, "form=xpbd_root iterations=8 %s", faster[kind]);
        expect_precisions_agree("strain_energy", words, false, 2e-5);
        snprintf(words, sizeof words, "form=six_strains iterations=8 %s", faster[kind]);
        const pbd_material m = {.E = 1e4, .nu = 0.3, .density = 100, .law = "stvk"};
        expect_backends_agree_with("strain_energy", words, false, &m);
        pbd_scene scene;
        make_mesh(&scene, false, 1e4);
        pbd_collider ball = {.shape = PBD_SPHERE, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .half = {1, 1, 1}};
        scene.colliders.count = 1;
        scene.colliders.item = &ball;
        expect_refused("strain_energy", &scene, faster[kind], PBD_NOT_SUPPORTED, "set acceleration=none");
        expect_refused("strain_energy", &scene, "solve=global", PBD_NOT_SUPPORTED, "solve=global has no contact");
        scene.colliders.count = 0;
        scene.colliders.item = NULL;
        pbd_scene_free(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_answer),
        cmocka_unit_test(test_fewer_iterations),
        cmocka_unit_test(test_momentum_is_kept),
        cmocka_unit_test(test_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
