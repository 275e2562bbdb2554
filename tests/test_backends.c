/* cpu, emu and cuda give the same results, up to rounding, for every method that runs on more than one of them. */
#include "tests/ladder.h"

#include "harness/exec/backend.h"
#include "harness/run/run.h"

static const char *const variants[] = {
#if defined(__SANITIZE_THREAD__) /* a pthread per lane is slow: only the two most different solvers */
    "solver=jacobi", "solver=coloured_gs"};
#else
    "solver=jacobi face_split=A",
    "solver=jacobi face_split=averaged_gradient",
    "solver=jacobi",
    "solver=coloured_gs face_split=B",
    "solver=coloured_gs",
    "solver=coloured_gs iterations=3 damping=0.1"};
#endif

/* Runs five steps of a loaded body of 216 particles; the caller frees the positions. */
static double *march(int backend, pbd_precision precision, const char *words, size_t *particles, double *speed) {
    pbd_scene scene;
    solver s;
    make_box(&scene, 5, 5, 5, 0.4, 0.4);
    uint64_t seed = 9;
    for (size_t i = 0; i < 3 * scene.particles.count; i++) scene.loads.forces[i] = 0.02 * noise(&seed);
    check_ok(try_open_on(backend, &s, "pbd_distance", precision, 1, &scene, words));
    for (int i = 0; i < 5; i++) check_ok(s.method->step(s.state, 0.4));
    double *x = positions_of(&s, scene.particles.count), *v = malloc(3 * scene.particles.count * sizeof *v);
    check_ok(s.method->read(s.state, PBD_VELOCITIES, v));
    *speed = 0;
    for (size_t i = 0; i < 3 * scene.particles.count; i++) *speed = fmax(*speed, fabs(v[i]));
    *particles = scene.particles.count;
    free(v);
    solver_close(&s);
    pbd_scene_free(&scene);
    return x;
}

static void compare(int backend, const char *name) {
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        for (int precision = 0; precision < 2; precision++) {
            size_t n;
            double speed, other_speed, worst = 0;
            double *cpu = march(PBD_CPU, (pbd_precision)precision, variants[i], &n, &speed);
            double *other = march(backend, (pbd_precision)precision, variants[i], &n, &other_speed);
            for (size_t k = 0; k < 3 * n; k++) worst = fmax(worst, fabs(cpu[k] - other[k]));
            assert_true(speed > 1e-3); /* something moved */
            /* 5 steps, about 30 constraints per particle, positions up to 2 m */
            char what[200];
            snprintf(what, sizeof what, "%s against cpu, %s, %s, m", name, variants[i], precision ? "f64" : "f32");
            check_near(what, worst, 0, 5 * 30 * 2 * (precision ? 2.2e-16 : 1.2e-7) / 4);
            free(cpu);
            free(other);
        }
}

static void test_emu(void **unused) {
    (void)unused;
    compare(PBD_EMU, "emu");
}

static void test_cuda(void **unused) {
    (void)unused;
    if (*pbd_cuda_missing()) {
        print_message("    skipped: %s\n", pbd_cuda_missing());
        skip();
    }
    compare(PBD_CUDA, "cuda");
}

/* Whole runs until rest, as the verb `run` makes them. */
static UNUSED void test_rest(void **unused) {
    (void)unused;
    double x[2][24];
    for (int on = 0; on < 2; on++) {
        pbd_scene scene;
        solver s;
        make_box(&scene, 1, 1, 1, 2, 0.3);
        for (int a = 4; a < 8; a++) scene.loads.forces[3 * a + 1] = 0.02;
        check_ok(try_open_on(on ? PBD_EMU : PBD_CPU, &s, "pbd_distance", PBD_PRECISION_F64, 1, &scene, ""));
        check_ok(s.method->solve(s.state));
        check_ok(s.method->read(s.state, PBD_POSITIONS, x[on]));
        solver_close(&s);
        pbd_scene_free(&scene);
    }
    for (int i = 0; i < 24; i++) check_near("rest on emu against cpu, m", x[1][i], x[0][i], 1e-12);
}

/* Runs of each case, as the verb `run` makes them, on both backends: all metrics agree. fem_linear, a sparse direct
 * solve, runs on the CPU only. */
static UNUSED void test_cases(void **unused) {
    (void)unused;
    static const char *const cases[] = {"cube_shear", "cube_torsion", "cube_traction", "hex_fit"};
    for (int i = 0; i < 4; i++) {
        pbd_result result[2];
        for (int on = 0; on < 2; on++) {
            const pbd_setting settings[] = {
                {"nu", "0.35"}, {"velocity_threshold", "1e-6"}, {"solver", i % 2 ? "jacobi" : "coloured_gs"}};
            pbd_request request = {.case_name = cases[i],
                                   .method_name = "pbd_distance",
                                   .backend = on ? "emu" : "cpu",
                                   .setting = settings,
                                   .settings = 3};
            pbd_plan plan = {0};
            check_ok(pbd_plan_add(&plan, &request, 0));
            check_ok(pbd_run_cell(&plan.item[0], &result[on]));
            assert_string_equal(result[on].state, "ok");
            pbd_plan_free(&plan);
        }
        assert_int_equal(result[0].metrics, result[1].metrics);
        for (size_t k = 0; k < result[0].metrics; k++) {
            const pbd_metric_item *cpu = &result[0].metric[k], *emu = &result[1].metric[k];
            assert_string_equal(cpu->name, emu->name);
            check_near(cpu->name, emu->value, cpu->value, 1e-12 * fmax(1, fabs(cpu->value)));
        }
        pbd_result_free(&result[0]);
        pbd_result_free(&result[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_emu),
/* hundreds of steps with thousands of pthreads each show no more than the five do */
#if !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_cases),
#endif
        cmocka_unit_test(test_cuda),
    };
    return cmocka_run_group_tests_name("backends", tests, NULL, NULL);
}
