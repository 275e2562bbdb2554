/* desbrun_sph: individual time steps, threads, backends and precisions, saved states, tools, and invalid input. */
#include "tests/smoothed_particles.h"

/* A fast lump of particles hits a body at rest: steps of many lengths. */
static void make_impact(pbd_scene *scene, int dimensions, size_t side) {
    make_cloud(scene, dimensions, side, 0.05, 0.05);
    for (size_t p = 0; p < scene->particles.count; p++) {
        if (p % side > 0) continue;
        scene->particles.positions[3 * p] -= 3 * SPACING;
        scene->particles.velocities[3 * p] = 40;
    }
}

static const char *const impact = "dimensions=2 h=1 dt=0.004";

typedef struct states {
    double x[3 * MOST], v[3 * MOST];
} states;

static void run_on(int backend, int threads, pbd_precision precision, const pbd_scene *scene, const char *words,
                   double dt, long steps, states *out) {
    solver s;
    check_ok(try_open_on(backend, &s, "desbrun_sph", precision, threads, scene, words));
    steps_of(&s, dt, steps);
    read_state(&s, out->x, out->v);
    solver_close(&s);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* If dt meets every criterion, all kinds of steps give the same result. */
static void test_calm_steps_are_all_alike(void **unused) {
    (void)unused;
    static const char *const steps[] = {"fixed", "global", "own"};
    states got[3];
    pbd_scene scene;
    make_cloud(&scene, 3, 5, 0.1, 0.1);
    for (int k = 0; k < 3; k++) {
        char words[200];
        snprintf(words, sizeof words, "steps=%s skin=0 dt=0.001", steps[k]);
        run_on(PBD_CPU, 1, PBD_PRECISION_F64, &scene, words, 0.001, 20, &got[k]);
        assert_memory_equal(&got[k], &got[0], 3 * scene.particles.count * sizeof(double));
    }
    pbd_scene_free(&scene);
}

/* By hand: a lone particle of speed v needs steps of alpha h/v; gravity accelerates it. With dt = 4 ms, alpha h/v is
 * 0.75 ms at 40 m/s: steps of 0.5 ms, eight force evaluations per step of the scene. */
static void test_steps_by_the_speed(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    open_scene(&scene, 1);
    scene.particles.masses[0] = 1;
    scene.particles.velocities[0] = 40;
    solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, &scene, impact);
    const double before = count_of(&s, "force_evaluations");
    steps_of(&s, 0.004, 3);
    check_near("forces", count_of(&s, "force_evaluations") - before, 24, 0);
    check_near("shortest step", metric_of(&s, "shortest_step"), 0.0005, 1e-18);
    double x[3], v[3];
    read_state(&s, x, v);
    check_near("alone it goes straight on", x[0], 40 * 0.012, 1e-14);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* The bound of Eq. 8 at rest is alpha h/(c_s + 0.6 c): for k = 10, c = 2 it is 0.3 * 0.1/(sqrt 10 + 1.2) = 6.88 ms. The
 * bound as printed gives 0.3 * 0.1/3.2 = 9.38 ms (D-2, D-3). */
static void test_bound_at_rest(void **unused) {
    (void)unused;
    static const struct {
        const char *words;
        double dt, steps;
    } wanted[] = {{"", 0.0068, 1}, {"", 0.0070, 2}, {"criterion=printed", 0.0093, 1}, {"criterion=printed", 0.0095, 2}};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        pbd_scene scene;
        solver s;
        open_scene(&scene, 1);
        scene.particles.masses[0] = 1;
        solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, &scene, wanted[k].words);
        const double before = count_of(&s, "force_evaluations");
        steps_of(&s, wanted[k].dt, 1);
        check_near("forces", count_of(&s, "force_evaluations") - before, wanted[k].steps, 0);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* Free fall: leapfrog is exact for constant acceleration, also when steps change. */
static void test_free_fall(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    open_scene(&scene, 2);
    scene.particles.masses[0] = scene.particles.masses[1] = 1;
    scene.particles.positions[3] = 10;
    scene.particles.velocities[3] = 5;
    scene.loads.gravity[0] = 2;
    scene.loads.gravity[1] = -9.81;
    solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, &scene, "dimensions=2 dt=0.05");
    steps_of(&s, 0.05, 20);
    double x[6], v[6];
    read_state(&s, x, v);
    check_near("fallen", x[1], -9.81 / 2, 1e-13);
    check_near("drawn aside", x[3], 10 + 5 + 1, 1e-13);
    check_near("speed", v[4], -9.81, 1e-13);
    assert_true(count_of(&s, "force_evaluations") > 4 * 20); /* the steps did change */
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* The largest difference of levels between particles nearer than `reach`, from the saved state: two numbers, then x, v,
 * a (rows), density, rate, bound, level. */
static unsigned widest_gap(const solver *s, const pbd_scene *scene, const double *x, double reach) {
    const size_t n = scene->particles.count;
    size_t bytes;
    unsigned widest = 0;
    check_ok(s->method->save(s->state, NULL, &bytes));
    char *blob = malloc(bytes);
    check_ok(s->method->save(s->state, blob, &bytes));
    uint32_t *level = malloc(n * sizeof *level);
    memcpy(level, blob + (2 + 15 * n) * sizeof(double), n * sizeof *level);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1]) < reach && level[i] > level[j] + widest)
                widest = level[i] - level[j];
    free(blob);
    free(level);
    return widest;
}

static void test_neighbours_are_not_left_too_coarse(void **unused) {
    (void)unused;
    static const struct {
        const char *limiter;
        unsigned most;
    } limits[] = {{"off", 99}, {"2", 1}, {"4", 2}, {"8", 3}};
    unsigned seen[4] = {0};
    for (size_t k = 0; k < 4; k++) {
        pbd_scene scene;
        solver s;
        char words[200];
        double x[3 * MOST], v[3 * MOST];
        make_impact(&scene, 2, 12);
        snprintf(words, sizeof words, "dimensions=2 h=1 dt=0.02 limiter=%s", limits[k].limiter);
        solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, &scene, words);
        for (int step = 0; step < 10; step++) {
            steps_of(&s, 0.02, 1);
            read_state(&s, x, v);
            const unsigned gap = widest_gap(&s, &scene, x, 1.2 * SPACING);
            seen[k] = gap > seen[k] ? gap : seen[k];
        }
        print_message("    limiter=%s: levels of neighbours differ by up to %u; %g steps shortened, %g forces\n",
                      limits[k].limiter, seen[k], count_of(&s, "limited_steps"), count_of(&s, "force_evaluations"));
        assert_true(seen[k] <= limits[k].most);
        assert_true((count_of(&s, "limited_steps") > 0) == (k > 0));
        solver_close(&s);
        pbd_scene_free(&scene);
    }
    assert_true(seen[0] > 1); /* otherwise the test proves nothing */
}

/* Relative gain of momentum by individual time steps, since i and j evaluate their force at different times. A lump at
 * 40 m/s reaches particles whose steps last while it travels 1.6 spacings: the limiter shortens these steps, or the
 * lump passes before they end. */
static double momentum_gained(const pbd_scene *scene, const char *limiter, double scale) {
    states got;
    char words[200];
    double gained = 0, all = 0;
    snprintf(words, sizeof words, "dimensions=2 h=1 limiter=%s alpha=%g", limiter, 0.3 * scale);
    run_on(PBD_CPU, 1, PBD_PRECISION_F64, scene, words, 0.004 * scale, lround(2 / scale), &got);
    for (size_t p = 0; p < scene->particles.count; p++) {
        gained += scene->particles.masses[p] * (got.v[3 * p] - scene->particles.velocities[3 * p]);
        all += scene->particles.masses[p] * fabs(scene->particles.velocities[3 * p]);
    }
    print_message("    limiter=%s, alpha=%g: %.3g of the momentum\n", limiter, 0.3 * scale, gained / all);
    return fabs(gained) / all;
}

static void test_a_shock_wakes_who_sleeps(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_impact(&scene, 2, 10);
    const double limited = momentum_gained(&scene, "4", 1);
    check_near("limited", limited, 0, 0.02);
    assert_true(momentum_gained(&scene, "off", 1) > 5 * limited);
    check_near("order at which it goes away", log2(limited / momentum_gained(&scene, "4", 1.0 / 16)) / 4, 2, 0.6);
    pbd_scene_free(&scene);
}

/* ---- Threads, backends, precisions, saved states ----------------------------------------------------------------- */

static void test_threads_do_not_matter(void **unused) {
    (void)unused;
    static const char *const words[] = {"dimensions=2 h=1", "dimensions=2 h=1 neighbour_density=predicted limiter=off",
                                        "dimensions=2 h=1.5 steps=global kernel=cubic_spline"};
    static const int threads[] = {1, 3, 8};
    pbd_scene scene;
    make_impact(&scene, 2, 30);
    for (size_t w = 0; w < 3; w++)
        for (int precision = 0; precision < 2; precision++) {
            states got[3];
            for (int t = 0; t < 3; t++) {
                run_on(PBD_CPU, threads[t], (pbd_precision)precision, &scene, words[w], 0.002, 2, &got[t]);
                assert_memory_equal(got[t].x, got[0].x, 3 * scene.particles.count * sizeof(double));
                assert_memory_equal(got[t].v, got[0].v, 3 * scene.particles.count * sizeof(double));
            }
        }
    pbd_scene_free(&scene);
}

static void test_emulation(void **unused) {
    (void)unused;
    for (int dimensions = 2; dimensions <= 3; dimensions++) {
        pbd_scene scene;
        states cpu, emu, single;
        char words[200];
        snprintf(words, sizeof words, "dimensions=%d h=1 limiter=2", dimensions);
        make_impact(&scene, dimensions, dimensions == 2 ? 14 : 6);
        run_on(PBD_CPU, 2, PBD_PRECISION_F64, &scene, words, 0.002, 5, &cpu);
        run_on(PBD_EMU, 1, PBD_PRECISION_F64, &scene, words, 0.002, 5, &emu);
        run_on(PBD_CPU, 1, PBD_PRECISION_F32, &scene, words, 0.002, 5, &single);
        double off = 0, far = 0;
        for (size_t i = 0; i < 3 * scene.particles.count; i++) {
            off = fmax(off, fabs(emu.x[i] - cpu.x[i]));
            far = fmax(far, fabs(single.x[i] - cpu.x[i]));
        }
        check_near("emulated off, m", off, 0, 1e-12);
        check_near("f32 off, m", far, 0, 1e-3 * SPACING);
        pbd_scene_free(&scene);
    }
}

static void test_saved_states(void **unused) {
    (void)unused;
    static const char *const words[] = {"", "neighbour_density=predicted", "steps=fixed", "steps=global"};
    for (size_t w = 0; w < 4; w++) {
        pbd_scene scene;
        solver s;
        states first, again;
        size_t bytes;
        char all[200];
        snprintf(all, sizeof all, "%s %s", impact, words[w]);
        make_impact(&scene, 2, 10);
        solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, &scene, all);
        steps_of(&s, 0.0005, 4);
        check_ok(s.method->save(s.state, NULL, &bytes));
        char *blob = malloc(bytes);
        check_ok(s.method->save(s.state, blob, &bytes));
        steps_of(&s, 0.0005, 5);
        read_state(&s, first.x, first.v);
        check_ok(s.method->load(s.state, blob, bytes));
        steps_of(&s, 0.0005, 5);
        read_state(&s, again.x, again.v);
        assert_memory_equal(first.x, again.x, 3 * scene.particles.count * sizeof(double));
        assert_memory_equal(first.v, again.v, 3 * scene.particles.count * sizeof(double));
        assert_int_equal(s.method->load(s.state, blob, bytes - 1).code, PBD_BAD_INPUT);
        free(blob);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* ---- Tools ------------------------------------------------------------------------------------------------------- */

/* A cloud falls on a plane and spreads: no particle goes below it, and energy does not grow. */
static void test_plane(void **unused) {
    (void)unused;
    const double g = 9.81, ground = -0.1;
    pbd_scene scene;
    solver s;
    char words[200];
    make_cloud(&scene, 2, 8, 0.1, 0);
    scene.loads.gravity[1] = -g;
    scene.colliders.count = 1;
    scene.colliders.item = calloc(1, sizeof *scene.colliders.item);
    *scene.colliders.item =
        (pbd_collider){.shape = PBD_PLANE, .centre = {0, ground, 0}, .axis = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
    const formulas f = {false, 2, SPACING, 50, mean_density(&scene, 2)};
    double x[3 * MOST], v[3 * MOST], lowest = 1, most = 0, start = stored_energy(&f, &scene, scene.particles.positions);
    for (size_t p = 0; p < scene.particles.count; p++)
        start += scene.particles.masses[p] * g * (scene.particles.positions[3 * p + 1] - ground);
    snprintf(words, sizeof words, "dimensions=2 h=1 k=50 c=5 rest_density=%.17g", f.rest);
    solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, &scene, words);
    for (int step = 0; step < 200; step++) {
        steps_of(&s, 0.01, 1);
        read_state(&s, x, v);
        double energy = kinetic(&scene, v) + stored_energy(&f, &scene, x);
        for (size_t p = 0; p < scene.particles.count; p++) {
            lowest = fmin(lowest, x[3 * p + 1]);
            energy += scene.particles.masses[p] * g * (x[3 * p + 1] - ground);
        }
        most = fmax(most, energy / start);
    }
    check_near("lowest ever, m", fmin(lowest, ground), ground, 1e-3 * SPACING);
    assert_true(lowest < -0.09); /* it did reach the ground */
    check_near("most energy, of that at the start", fmax(most, 1), 1, 0.01);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* A moving wall pushes a lone particle along at the wall's speed. */
static void test_moving_tool(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    double x[3], v[3];
    open_scene(&scene, 1);
    scene.particles.masses[0] = 1;
    scene.particles.positions[0] = 0.5;
    scene.colliders.count = 1;
    scene.colliders.item = calloc(1, sizeof *scene.colliders.item);
    *scene.colliders.item = (pbd_collider){.shape = PBD_BOX,
                                           .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                           .half = {0.2, 1, 1},
                                           .velocity = {2, 0, 0},
                                           .end = 0.5};
    solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, &scene, "dimensions=2");
    steps_of(&s, 0.01, 30);
    read_state(&s, x, v);
    check_near("place", x[0], 0.6 + 0.2, 1e-12);
    check_near("speed", v[0], 2, 1e-10);
    steps_of(&s, 0.01, 70); /* the tool stops at 0.5 s */
    read_state(&s, x, v);
    check_near("place, let go", x[0], 1.2 + 0.5 * 2, 1e-10);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* ---- Input that makes no sense ----------------------------------------------------------------------------------- */

static void expect_refused(const pbd_scene *scene, const char *words, const char *what) {
    solver s;
    const pbd_status status = try_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, scene, words);
    print_message("    %s\n", status.text);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    if (!strstr(status.text, what)) fail_msg("'%s' does not say '%s'", status.text, what);
    assert_null(s.state);
    solver_close(&s);
}

static void test_refusals(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_cloud(&scene, 3, 3, 0.1, 0);
    expect_refused(&scene, "h=0", "h=0");
    expect_refused(&scene, "h=-1", "h=-1");
    expect_refused(&scene, "k=-1", "k=-1");
    expect_refused(&scene, "c=-1", "c=-1");
    expect_refused(&scene, "alpha=0", "alpha=0");
    expect_refused(&scene, "kernel=splin", "cubic_spline");
    expect_refused(&scene, "dimensions=2", "a different z");
    scene.particles.spacing = 0;
    expect_refused(&scene, "", "spacings");
    scene.particles.spacing = SPACING;
    scene.particles.masses[3] = 0;
    expect_refused(&scene, "", "particle 3 has the mass 0");
    scene.particles.masses[3] = 1;
    scene.particles.positions[4] = NAN;
    expect_refused(&scene, "", "particle 1 is at");
    pbd_scene_free(&scene);
    make_cloud(&scene, 2, 3, 0.1, 0);
    scene.loads.gravity[2] = -1;
    expect_refused(&scene, "dimensions=2", "along z");
    scene.loads.gravity[2] = 0;
    scene.particles.velocities[5] = 1;
    expect_refused(&scene, "dimensions=2", "particle 1 moves");
    pbd_scene_free(&scene);
}

/* Coincident particles: a warning, separation along x if the kernel has a slope at 0, and never NaN. */
static void test_coincident_particles(void **unused) {
    (void)unused;
    static const char *const kernels[] = {"spiky", "cubic_spline"};
    for (int k = 0; k < 2; k++) {
        pbd_scene scene;
        solver s;
        char words[200];
        double x[12], v[12];
        snprintf(words, sizeof words, "dimensions=2 kernel=%s", kernels[k]);
        open_scene(&scene, 4);
        for (int p = 0; p < 4; p++) scene.particles.masses[p] = 0.01;
        scene.particles.positions[9] = 0.1;
        solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, &scene, words);
        assert_true(was_warned(&s, "coincident_particles"));
        steps_of(&s, 0.01, 20);
        read_state(&s, x, v);
        double momentum = 0;
        for (int i = 0; i < 12; i++) assert_true(isfinite(x[i]) && isfinite(v[i]));
        for (int p = 0; p < 4; p++) momentum += 0.01 * v[3 * p];
        check_near("momentum", momentum, 0, 2e-4);
        if (k == 0) assert_true(x[3] - x[0] > 0.001 && x[6] - x[3] > 0.001);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* Steps far beyond the criteria: fixed steps give a warning, whether the run then diverges or not. */
static void test_steps_beyond_the_criteria(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_cloud(&scene, 2, 10, 0.3, 1);
    solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, &scene, "dimensions=2 steps=fixed k=1e6");
    for (int step = 0; step < 50; step++)
        if (s.method->step(s.state, 0.01).code != PBD_OK) break;
    assert_true(was_warned(&s, "step_beyond_criterion"));
    solver_close(&s);
    pbd_scene_free(&scene);
    make_impact(&scene, 2, 4);
    solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, &scene, "dimensions=2 levels=1");
    steps_of(&s, 0.01, 2);
    assert_true(was_warned(&s, "shortest_step"));
    solver_close(&s);
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calm_steps_are_all_alike),
        cmocka_unit_test(test_steps_by_the_speed),
        cmocka_unit_test(test_bound_at_rest),
        cmocka_unit_test(test_free_fall),
        cmocka_unit_test(test_neighbours_are_not_left_too_coarse),
        cmocka_unit_test(test_a_shock_wakes_who_sleeps),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_emulation),
        cmocka_unit_test(test_saved_states),
        cmocka_unit_test(test_plane),
        cmocka_unit_test(test_moving_tool),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_coincident_particles),
        cmocka_unit_test(test_steps_beyond_the_criteria),
    };
    return cmocka_run_group_tests_name("desbrun_sph: steps", tests, NULL, NULL);
}
