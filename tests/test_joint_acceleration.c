/* strain_energy with acceleration of positions and multipliers together: the same answer as plain sweeps in fewer
 * iterations; momenta, threads, precision, backends, what it refuses. Mutants (tests/mutants.cmake) must fail here. */
#define REAL double
#include "tests/element_ladder.h"
#include "tests/sanitized.h"
#include "tests/step_run.h"
#include "tests/trial.h"

static const char *const faster[] = {"acceleration=anderson", "acceleration=chebyshev"};

static void make_bar(pbd_scene *scene, double load) {
    make_mesh(scene, false, 1e5);
    scene->material->law = "stvk";
    for (int d = 0; d < 3; d++) scene->loads.gravity[d] *= load;
}

/* Residual of C + alpha l after a step, over that before its first iteration; x becomes the positions. */
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

/* Both solvers satisfy all constraints. XPBD applies each increment of a multiplier along the gradient of its
 * iteration, so that the answer depends on the path of iterations; the relative difference falls with the displacement:
 * 9e-5 of 1 mm, 9e-8 of 1 um. */
static void test_same_answer(void **unused) {
    (void)unused;
    skip_if_sanitized();
    static const double load[] = {1, 1e-3}, limit[] = {2e-4, 2e-7};
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
            const double size = largest_difference(plain, scene.particles.positions, n);
            for (int kind = 0; kind < 2; kind++) {
                snprintf(words, sizeof words, "form=six_strains iterations=3000 %s %s", order, faster[kind]);
                check_near("residual", residual_left(&scene, words, x), 0, 1e-9);
                check_near(words, largest_difference(x, plain, n) / size, 0, limit[k]);
            }
            free(plain);
            free(x);
            pbd_scene_free(&scene);
        }
}

/* Iterations until the error is 1 % of the step, by the case implicit_step; infinite if that is not reached. */
static double iterations_to_1_percent(const char *text) {
    char words[400];
    snprintf(words, sizeof words, "form=six_strains material=stvk %s", text);
    const double count = step_metric(words, "iterations_to_1_percent"), found = isnan(count) ? INFINITY : count;
    print_message("    %s: %g iterations to 1 %%\n", text, found);
    return found;
}

static void test_fewer_iterations(void **unused) {
    (void)unused;
    skip_if_sanitized();
    const double plain = iterations_to_1_percent("E=1e7 iterations=1000");
    assert_true(iterations_to_1_percent("E=1e7 iterations=1000 acceleration=anderson") < 0.33 * plain);
    assert_true(iterations_to_1_percent("E=1e7 iterations=1000 acceleration=chebyshev") < plain);
    assert_true(iterations_to_1_percent("E=1e7 iterations=1000 acceleration=chebyshev spectral_radius=0.97") <
                0.33 * plain);
    const double jacobi = iterations_to_1_percent("E=1e6 iterations=2000 solver=jacobi");
    assert_true(iterations_to_1_percent("E=1e6 iterations=2000 solver=jacobi acceleration=anderson") < 0.1 * jacobi);
}

/* The weights sum to one, so that a combination of states with the same momentum has that momentum. */
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

/* corrected_sph, a spinning bar: after 20 sweeps the residual is at most a tenth of that of plain sweeps; the same bits
 * for any number of threads; refusals. */
static void test_particles(void **unused) {
    (void)unused;
    static const char *const orders[] = {"solver=jacobi", "solver=coloured_gs"};
    trial t;
    open_case(&t, "spinning_bar", "cells=3");
    const size_t n = t.scene.particles.count;
    for (int k = 0; k < 2; k++) {
        double left[2];
        char words[200];
        for (int fast = 0; fast < 2; fast++) {
            solver s;
            pbd_residual r = {0};
            snprintf(words, sizeof words, "constraint=xpbd iterations=20 dt=0.005 %s %s", orders[k],
                     fast ? faster[0] : "acceleration=none");
            solver_open(&s, "corrected_sph", PBD_PRECISION_F64, 1, &t.scene, words);
            for (int i = 0; i < 20; i++) {
                if (i == 19) s.method->watch(s.state, &r);
                check_ok(s.method->step(s.state, 0.005));
            }
            left[fast] = r.last / r.first;
            solver_close(&s);
        }
        print_message("    %s: %.2g left, accelerated %.2g\n", orders[k], left[0], left[1]);
        assert_true(left[1] < 0.1 * left[0]);
        double *one = march("corrected_sph", PBD_PRECISION_F64, 1, &t.scene, words, 0.005, 5);
        double *three = march("corrected_sph", PBD_PRECISION_F64, 3, &t.scene, words, 0.005, 5);
        expect_same_bits("3 threads", one, three, n);
        free(one), free(three);
    }
    expect_refused("corrected_sph", &t.scene, "acceleration=anderson hourglass=0.1", PBD_NOT_SUPPORTED, "hourglass");
    close_case(&t);
}

/* The relative residual after a step, and positions after five steps, which the caller frees. */
static double *xpbi_by(int backend, int threads, const trial *t, const char *words, double *left, double momentum[3]) {
    solver s;
    pbd_residual r = {0};
    const size_t n = t->scene.particles.count;
    check_ok(try_open_on(backend, &s, "xpbi", PBD_PRECISION_F64, threads, &t->scene, words));
    for (int i = 0; i < 5; i++) {
        if (i == 4) s.method->watch(s.state, &r);
        check_ok(s.method->step(s.state, 0.005));
    }
    *left = r.last / r.first;
    double *x = positions_of(&s, n), *v = calloc(3 * n, sizeof *v), size = 0;
    check_ok(s.method->read(s.state, PBD_VELOCITIES, v));
    memset(momentum, 0, 3 * sizeof *momentum);
    for (size_t i = 0; i < 3 * n; i++) {
        const double m = t->scene.particles.masses[i / 3];
        momentum[i % 3] += m * (v[i] - t->scene.particles.velocities[i]);
        size += fabs(m * v[i]);
    }
    for (int d = 0; d < 3; d++) momentum[d] /= size;
    free(v);
    solver_close(&s);
    return x;
}

/* After 40 iterations the residual is at most 0.3 of that of plain ones; momentum is conserved. */
static void check_xpbi_left(const trial *t, const char *kind) {
    double left[2], sum[3];
    for (int fast = 0; fast < 2; fast++) {
        char words[200];
        snprintf(words, sizeof words, "kernel=rest position_correction=off iterations=40 %s %s", kind,
                 fast ? faster[0] : "acceleration=none");
        free(xpbi_by(PBD_CPU, 1, t, words, &left[fast], sum));
        for (int d = 0; d < 3; d++) check_near("linear momentum, relative", sum[d], 0, 1e-12);
    }
    print_message("    %s: %.2g left, accelerated %.2g\n", kind, left[0], left[1]);
    assert_true(left[1] < fmax(0.3 * left[0], 1e-12)); /* or it is rounding */
}

/* xpbi with kernel=rest, with springs against zero-energy modes: convergence, the same bits for any number of threads
 * and on emu, refusals. Convergence takes a minute with sanitizers. */
static void test_xpbi(void **unused) {
    (void)unused;
    static const char *const kinds[] = {"solver=coloured_gs", "solver=jacobi", "solver=jacobi constraint=stress",
                                        "solver=coloured_gs hourglass_control=0"};
    trial t;
    open_case(&t, "spinning_bar", SANITIZED ? "cells=2" : "cells=3");
    t.scene.material->law = "hencky";
    const size_t n = t.scene.particles.count;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        double unused_left, sum[3];
        char few[200];
        if (!SANITIZED) check_xpbi_left(&t, kinds[k]);
        snprintf(few, sizeof few, "kernel=rest position_correction=off iterations=8 %s %s", kinds[k], faster[0]);
        double *one = xpbi_by(PBD_CPU, 1, &t, few, &unused_left, sum);
        double *three = xpbi_by(PBD_CPU, 3, &t, few, &unused_left, sum);
        expect_same_bits("3 threads", one, three, n);
#if !defined(__SANITIZE_THREAD__)
        double *emu = xpbi_by(PBD_EMU, 1, &t, few, &unused_left, sum);
        check_near("emu against cpu, m", largest_difference(one, emu, n), 0, 1e-11);
        free(emu);
#endif
        free(one), free(three);
    }
    expect_refused("xpbi", &t.scene, "acceleration=anderson", PBD_NOT_SUPPORTED, "position_correction=off");
    expect_refused("xpbi", &t.scene, "acceleration=anderson position_correction=off kernel=current hourglass_control=0",
                   PBD_NOT_SUPPORTED, "not kernel=current");
    close_case(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_answer),      cmocka_unit_test(test_fewer_iterations),
        cmocka_unit_test(test_momentum_is_kept), cmocka_unit_test(test_elsewhere),
        cmocka_unit_test(test_particles),        cmocka_unit_test(test_xpbi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
