/* xpbd_grains against independent results: momentum, Coulomb's law, one projection by hand, equilibrium of a compliant
 * contact; then the tests that all methods share. */
#include "tests/flow_values.h"
#include "tests/ladder.h"

/* start_sweeps=0: overlapping starts are intended here and must not be refused. */
static const char *const solvers[] = {"start_sweeps=0", "averaging=pair start_sweeps=0",
                                      "solver=coloured_gs start_sweeps=0"};
enum { SOLVERS = 3 };

static void make_grains(pbd_scene *s, size_t n, double spacing) {
    *s = (pbd_scene){.particles.count = n, .particles.spacing = spacing, .extent = 1};
    s->particles.positions = calloc(3 * n, sizeof(double));
    s->particles.start = NULL;
    s->particles.velocities = calloc(3 * n, sizeof(double));
    s->particles.masses = calloc(n, sizeof(double));
    s->loads.forces = calloc(3 * n, sizeof(double));
    s->particles.fixed_particle = calloc(n, sizeof(uint32_t));
    s->colliders.item = calloc(1, sizeof(pbd_collider));
    s->material[0] = (pbd_material){.E = 1e6, .nu = 0.3, .density = 1000, .law = "hencky"};
    set_flow_values(s->material, "drucker_prager", "friction_angle=30");
    for (size_t p = 0; p < n; p++) s->particles.masses[p] = 1;
}

static void free_grains(pbd_scene *s) {
    free(s->particles.positions);
    free(s->particles.start);
    free(s->particles.velocities);
    free(s->particles.masses);
    free(s->loads.forces);
    free(s->particles.fixed_particle);
    free(s->colliders.item);
}

static void add_floor(pbd_scene *s, double friction) {
    s->colliders.item[s->colliders.count++] =
        (pbd_collider){.shape = PBD_PLANE, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .friction = friction};
}

/* A jittered block with `side` grains along each edge, its lowest layer on the floor. (A lattice of touching grains
 * would not collapse.) */
static void make_heap(pbd_scene *s, size_t side, double spacing, double pitch, double jitter) {
    uint64_t seed = 5;
    make_grains(s, side * side * side, spacing);
    for (size_t p = 0; p < s->particles.count; p++) {
        const size_t at[3] = {p % side, p / side % side, p / (side * side)};
        for (size_t d = 0; d < 3; d++)
            s->particles.positions[3 * p + d] = pitch * ((double)at[d] + 0.5 + jitter * noise(&seed));
        s->particles.masses[p] = 0.01 * (1.5 + noise(&seed));
    }
    s->loads.gravity[2] = -9.81;
    add_floor(s, 0.5);
}

static void run_steps(solver *s, int steps, double dt) {
    for (int i = 0; i < steps; i++) check_ok(s->method->step(s->state, dt));
}

static double *velocities_of(const solver *s, size_t particles) {
    double *v = malloc((3 * particles + 1) * sizeof *v);
    check_ok(s->method->read(s->state, PBD_VELOCITIES, v));
    return v;
}

static double distance(const double *x, size_t i, size_t j) {
    return sqrt(pow(x[3 * i] - x[3 * j], 2) + pow(x[3 * i + 1] - x[3 * j + 1], 2) +
                pow(x[3 * i + 2] - x[3 * j + 2], 2));
}

static double closest_pair(const double *x, size_t n) {
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) least = fmin(least, distance(x, i, j));
    return least;
}

/* ---- Collisions -------------------------------------------------------------------------------------------------- */

/* Two grains of unequal mass collide off centre: momentum is conserved, and they never overlap at the end of a step. */
static void test_two_grains_collide(void **unused) {
    (void)unused;
    for (int k = 0; k < SOLVERS; k++) {
        pbd_scene scene;
        solver s;
        make_grains(&scene, 2, 0.1);
        scene.particles.masses[1] = 3;
        scene.particles.positions[0] = 0.01;
        scene.particles.positions[1] = 0.02;
        scene.particles.positions[3] = 0.25;
        scene.particles.velocities[0] = 2;
        scene.particles.velocities[3] = -1;
        scene.particles.velocities[4] = 0.1;
        solver_open(&s, "xpbd_grains", PBD_PRECISION_F64, 1, &scene, solvers[k]);
        double least = 1;
        for (int i = 0; i < 100; i++) {
            run_steps(&s, 1, 1e-3);
            double *x = positions_of(&s, 2);
            least = fmin(least, distance(x, 0, 1));
            free(x);
        }
        double *v = velocities_of(&s, 2);
        check_near("momentum x, kg m/s", v[0] + 3 * v[3], -1, 1e-13);
        check_near("momentum y, kg m/s", v[1] + 3 * v[4], 0.3, 1e-13);
        assert_true(fabs(v[0] - 2) > 0.5); /* they have collided */
        check_near("how far in each other, m", fmax(0.1 - least, 0), 0, 1e-12);
        free(v);
        solver_close(&s);
        free_grains(&scene);
    }
}

/* Many overlapping grains: averaging by pair and Gauss-Seidel conserve momentum, averaging by particle does not. */
static void test_momentum_of_a_crowd(void **unused) {
    (void)unused;
    for (int k = 0; k < SOLVERS; k++) {
        pbd_scene scene;
        solver s;
        double sum[3] = {0}, size = 0;
        make_heap(&scene, 4, 0.1, 0.1, 0.3);
        scene.colliders.count = 0;
        scene.loads.gravity[2] = 0;
        solver_open(&s, "xpbd_grains", PBD_PRECISION_F64, 1, &scene, solvers[k]);
        run_steps(&s, 1, 1e-2);
        double *v = velocities_of(&s, scene.particles.count);
        for (size_t i = 0; i < 3 * scene.particles.count; i++) {
            sum[i % 3] += scene.particles.masses[i / 3] * v[i];
            size += scene.particles.masses[i / 3] * fabs(v[i]);
        }
        const double left = (fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2])) / size;
        if (k == 0 && !(left > 1e-4)) fail_msg("momentum %g: averaging over particles is known to lose it", left);
        if (k == 0) print_message("    averages of particles lose %.3g of the momentum exchanged\n", left);
        if (k > 0) check_near(solvers[k], left, 0, 1e-14);
        free(v);
        solver_close(&s);
        free_grains(&scene);
    }
}

/* One iteration on a pair (masses 1 and 3) with an overlap of 0.02 along z and a slip of 0.03 along x: each grain takes
 * its share of 0.02 along z, and of the friction, which is the whole slip or 0.5 x 0.02. */
static void test_one_projection_by_hand(void **unused) {
    (void)unused;
    for (int k = 0; k < 2 * SOLVERS; k++) {
        const double friction = k < SOLVERS ? 0.5 : 2, depth = 0.02, slip = 0.03;
        const double taken = friction * depth < slip ? friction * depth : slip;
        pbd_scene scene;
        solver s;
        char words[200];
        make_grains(&scene, 2, 0.1);
        scene.particles.masses[1] = 3;
        scene.particles.positions[0] = -slip; /* predicted position: exactly above the other grain */
        scene.particles.positions[2] = 0.1 - depth;
        scene.particles.velocities[0] = slip / 0.01;
        snprintf(words, sizeof words, "iterations=1 grain_friction=%g %s", friction, solvers[k % SOLVERS]);
        solver_open(&s, "xpbd_grains", PBD_PRECISION_F64, 1, &scene, words);
        run_steps(&s, 1, 0.01);
        double *x = positions_of(&s, 2);
        check_near("upper x, m", x[0], -taken * 0.75, 1e-15);
        check_near("upper z, m", x[2], 0.1 - depth + depth * 0.75, 1e-15);
        check_near("lower x, m", x[3], taken * 0.25, 1e-15);
        check_near("lower z, m", x[5], -depth * 0.25, 1e-15);
        free(x);
        solver_close(&s);
        free_grains(&scene);
    }
}

/* ---- Coulomb's law ----------------------------------------------------------------------------------------------- */

/* A grain on an incline (by inclined gravity) accelerates by g (sin - mu cos), to rounding, or stays. */
static void test_grain_on_a_slope(void **unused) {
    (void)unused;
    static const double friction[] = {0, 0.2, 0.5};
    for (int k = 0; k < 3; k++) {
        const double down = 0.3 * 9.81, dt = 1e-3;
        pbd_scene scene;
        solver s;
        make_grains(&scene, 1, 0.1);
        scene.particles.positions[2] = 0.05;
        scene.loads.gravity[0] = down;
        scene.loads.gravity[2] = -9.81;
        add_floor(&scene, friction[k]);
        solver_open(&s, "xpbd_grains", PBD_PRECISION_F64, 1, &scene, "iterations=3");
        run_steps(&s, 100, dt);
        double *v = velocities_of(&s, 1), *x = positions_of(&s, 1);
        const double a = fmax(0, down - friction[k] * 9.81);
        check_near("speed after 0.1 s, m/s", v[0], 0.1 * a, 1e-11);
        check_near("height, m", x[2], 0.05, 1e-15);
        free(v);
        free(x);
        solver_close(&s);
        free_grains(&scene);
    }
}

static void test_friction_of_the_scene(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_grains(&scene, 1, 0.1);
    solver_open(&s, "xpbd_grains", PBD_PRECISION_F64, 1, &scene, "");
    check_near("tan 30 degrees", metric_of(&s, "grain_friction_used"), 1 / sqrt(3), 1e-15);
    solver_close(&s);
    scene.material->flow = NULL;
    scene.contact.friction = 0.25;
    solver_open(&s, "xpbd_grains", PBD_PRECISION_F64, 1, &scene, "");
    check_near("of the scene's contact", metric_of(&s, "grain_friction_used"), 0.25, 0);
    solver_close(&s);
    free_grains(&scene);
}

/* ---- Rest -------------------------------------------------------------------------------------------------------- */

/* A compliant contact carries a grain's weight at an overlap of compliance x weight. */
static void test_compliance(void **unused) {
    (void)unused;
    for (int k = 0; k < SOLVERS; k++) {
        pbd_scene scene;
        solver s;
        char words[200];
        make_grains(&scene, 2, 0.1);
        scene.particles.masses[1] = 2;
        scene.particles.positions[5] = 0.1;
        scene.loads.gravity[2] = -10;
        scene.particles.fixed = 1;
        snprintf(words, sizeof words, "compliance=2e-4 damping=20 iterations=4 %s", solvers[k]);
        solver_open(&s, "xpbd_grains", PBD_PRECISION_F64, 1, &scene, words);
        run_steps(&s, 4000, 1e-3);
        double *x = positions_of(&s, 2);
        check_near("overlap, m", 0.1 - x[5], 2e-4 * 2 * 10, 1e-9);
        free(x);
        solver_close(&s);
        free_grains(&scene);
    }
}

/* A heap of 343 grains collapses and comes to rest above the floor, with little overlap. */
static void test_heap(void **unused) {
    (void)unused;
    for (int k = 0; k < SOLVERS; k++) {
        pbd_scene scene;
        solver s;
        char words[100];
        make_heap(&scene, 7, 0.02, 0.024, 0.08);
        snprintf(words, sizeof words, "iterations=20 substeps=2 grain_friction=0.1 %s", solvers[k]);
        solver_open(&s, "xpbd_grains", PBD_PRECISION_F32, 1, &scene, words);
        run_steps(&s, 500, 2e-3);
        double *x = positions_of(&s, scene.particles.count), *v = velocities_of(&s, scene.particles.count), low = 1,
               high = 0, energy = 0;
        for (size_t p = 0; p < scene.particles.count; p++) {
            low = fmin(low, x[3 * p + 2]);
            high = fmax(high, x[3 * p + 2]);
            for (size_t d = 0; d < 3; d++) energy += 0.5 * scene.particles.masses[p] * v[3 * p + d] * v[3 * p + d];
        }
        print_message("    %s: height %.3g m, closest pair %.3g of a diameter, energy %.2g J\n", words, high + 0.01,
                      closest_pair(x, scene.particles.count) / 0.02, energy);
        check_near("lowest grain, m", fmin(low, 0.01), 0.01, 1e-6);
        assert_true(closest_pair(x, scene.particles.count) > 0.9 * 0.02);
        assert_true(high < 0.1); /* 0.16 before */
        assert_true(energy < 1e-3);
        free(x);
        free(v);
        solver_close(&s);
        free_grains(&scene);
    }
}

/* Two grains that start with an overlap separate at overlap/dt, or not at all if positions are corrected first. */
static void test_stabilisation(void **unused) {
    (void)unused;
    for (int k = 0; k < 2 * SOLVERS; k++) {
        const bool stable = k >= SOLVERS;
        pbd_scene scene;
        solver s;
        char words[200];
        make_grains(&scene, 2, 0.1);
        scene.particles.positions[3] = 0.09;
        snprintf(words, sizeof words, "stabilisation=%d %s", stable, solvers[k % SOLVERS]);
        solver_open(&s, "xpbd_grains", PBD_PRECISION_F64, 1, &scene, words);
        assert_string_equal(s.result.warning[0].name, "grains_overlap_at_start");
        run_steps(&s, 1, 0.01);
        double *x = positions_of(&s, 2), *v = velocities_of(&s, 2);
        check_near("distance, m", distance(x, 0, 1), 0.1, 1e-15);
        check_near("relative speed, m/s", v[3] - v[0], stable ? 0 : 1, 1e-13);
        free(x);
        free(v);
        solver_close(&s);
        free_grains(&scene);
    }
}

/* Many random points that overlap by up to a third of a diameter: after the start sweeps they do not overlap and are at
 * rest, with the same centre, and none flies off. By hand for two: each moves by half of the overlap. */
static void test_start_sweeps(void **unused) {
    (void)unused;
    for (int k = 0; k < SOLVERS; k++) {
        pbd_scene scene;
        solver s, bursting;
        char words[200];
        make_grains(&scene, 2, 0.1);
        scene.particles.positions[3] = 0.08;
        snprintf(words, sizeof words, "%s start_sweeps=1", solvers[k]);
        solver_open(&s, "xpbd_grains", PBD_PRECISION_F64, 1, &scene, words);
        assert_int_equal(s.result.warnings, 0);
        double *x = positions_of(&s, 2), *v = velocities_of(&s, 2);
        check_near("first, m", x[0], -0.01, 1e-15);
        check_near("second, m", x[3], 0.09, 1e-15);
        check_near("speed, m/s", fabs(v[0]) + fabs(v[3]), 0, 0);
        free(x);
        free(v);
        solver_close(&s);
        free_grains(&scene);

        make_heap(&scene, 6, 0.02, 0.02, 0.2);
        scene.loads.gravity[2] = 0;
        snprintf(words, sizeof words, "%s start_sweeps=400", solvers[k]);
        solver_open(&s, "xpbd_grains", PBD_PRECISION_F64, 1, &scene, words);
        solver_open(&bursting, "xpbd_grains", PBD_PRECISION_F64, 1, &scene, solvers[k]);
        assert_string_equal(bursting.result.warning[0].name, "grains_overlap_at_start");
        x = positions_of(&s, scene.particles.count);
        print_message("    %s: closest pair %.4f of a diameter\n", words,
                      closest_pair(x, scene.particles.count) / 0.02);
        assert_true(closest_pair(x, scene.particles.count) > 0.98 * 0.02);
        free(x);
        run_steps(&s, 1, 1e-3);
        run_steps(&bursting, 1, 1e-3);
        double fastest[2] = {0, 0};
        for (int b = 0; b < 2; b++) {
            v = velocities_of(b ? &bursting : &s, scene.particles.count);
            for (size_t i = 0; i < 3 * scene.particles.count; i++) fastest[b] = fmax(fastest[b], fabs(v[i]));
            free(v);
        }
        print_message("    fastest after a step: %.3g m/s, unswept %.3g\n", fastest[0], fastest[1]);
        assert_true(fastest[0] < 0.1 * fastest[1]);
        solver_close(&s);
        solver_close(&bursting);
        free_grains(&scene);
    }
}

/* A grain slower than `sleep` does not move. */
static void test_sleep(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_grains(&scene, 2, 0.1);
    scene.particles.positions[3] = 1;
    scene.particles.velocities[1] = 0.09;
    scene.particles.velocities[4] = 0.11;
    solver_open(&s, "xpbd_grains", PBD_PRECISION_F64, 1, &scene, "sleep=0.1");
    run_steps(&s, 10, 0.01);
    double *x = positions_of(&s, 2);
    check_near("the slow one, m", x[1], 0, 0);
    check_near("the other, m", x[4], 0.011, 1e-15);
    free(x);
    solver_close(&s);
    free_grains(&scene);
}

/* ---- What all methods share -------------------------------------------------------------------------------------- */

enum { HEAP = 216 };

static double *march(int backend, int precision, int threads, const char *words, int steps) {
    pbd_scene scene;
    solver s;
    make_heap(&scene, 6, 0.02, 0.02, 0.2);
    check_ok(try_open_on(backend, &s, "xpbd_grains", (pbd_precision)precision, threads, &scene, words));
    run_steps(&s, steps, 1e-3);
    double *x = positions_of(&s, scene.particles.count);
    solver_close(&s);
    free_grains(&scene);
    return x;
}

static void test_threads(void **unused) {
    (void)unused;
    for (int k = 0; k < SOLVERS; k++)
        for (int precision = 0; precision < 2; precision++) {
            double *one = march(PBD_CPU, precision, 1, solvers[k], 40);
            for (int threads = 3; threads <= 8; threads += 5) {
                double *more = march(PBD_CPU, precision, threads, solvers[k], 40);
                assert_memory_equal(one, more, 3 * HEAP * sizeof *one);
                free(more);
            }
            free(one);
        }
}

#if defined(__SANITIZE_THREAD__)
enum { EMULATED_STEPS = 1 };
#else
enum { EMULATED_STEPS = 3 };
#endif

static void test_backends_and_precisions(void **unused) {
    (void)unused;
    static const double limit[] = {1e-6, 1e-14};
    for (int k = 0; k < SOLVERS; k++) {
        char words[100];
        snprintf(words, sizeof words, "iterations=3 %s", solvers[k]);
        double *x[2];
        for (int precision = 0; precision < 2; precision++) {
            x[precision] = march(PBD_CPU, precision, 1, words, EMULATED_STEPS);
            double *emu = march(PBD_EMU, precision, 1, words, EMULATED_STEPS), off = 0;
            for (size_t i = 0; i < 3 * HEAP; i++) off = fmax(off, fabs(x[precision][i] - emu[i]));
            check_near("emu against cpu, m", off, 0, limit[precision]);
            free(emu);
        }
        double off = 0;
        for (size_t i = 0; i < 3 * HEAP; i++) off = fmax(off, fabs(x[0][i] - x[1][i]));
        check_near("f32 against f64, m", off, 0, 1e-5);
        free(x[0]);
        free(x[1]);
    }
}

/* Neighbour lists are older in one run than in the other, without a change in any bit of the result. */
static void test_save_and_load(void **unused) {
    (void)unused;
    for (int k = 0; k < SOLVERS; k++) {
        pbd_scene scene;
        solver s;
        size_t bytes = 0;
        char words[100];
        make_heap(&scene, 6, 0.02, 0.02, 0.2);
        scene.colliders.item[0].velocity[2] = 0.05; /* so that the time matters */
        snprintf(words, sizeof words, "%s compliance=1e-6", solvers[k]);
        solver_open(&s, "xpbd_grains", PBD_PRECISION_F32, 1, &scene, words);
        run_steps(&s, 20, 1e-3);
        check_ok(s.method->save(s.state, NULL, &bytes));
        char *blob = malloc(bytes);
        check_ok(s.method->save(s.state, blob, &bytes));
        run_steps(&s, 20, 1e-3);
        double *first = positions_of(&s, scene.particles.count);
        check_ok(s.method->load(s.state, blob, bytes));
        run_steps(&s, 20, 1e-3);
        double *again = positions_of(&s, scene.particles.count);
        assert_memory_equal(first, again, 3 * scene.particles.count * sizeof *first);
        assert_int_equal(s.method->load(s.state, blob, bytes - 4).code, PBD_BAD_INPUT);
        free(first);
        free(again);
        free(blob);
        solver_close(&s);
        free_grains(&scene);
    }
}

/* ---- Bad input --------------------------------------------------------------------------------------------------- */

static void refuse_with(const pbd_scene *scene, const char *words, pbd_code code, const char *says) {
    solver s;
    const pbd_status status = try_open(&s, "xpbd_grains", PBD_PRECISION_F64, 1, scene, words);
    if (status.code != code || !strstr(status.text, says))
        fail_msg("wanted code %d and '%s', got %d: %s", code, says, status.code, status.text);
    s.state = NULL;
    solver_close(&s);
}

static void refuse(const pbd_scene *scene, pbd_code code, const char *says) { refuse_with(scene, "", code, says); }

static void test_bad_scenes(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_grains(&scene, 4, 0.1);
    refuse_with(&scene, "stabilisation=1 compliance=1e-3", PBD_BAD_INPUT, "one of them must be 0");
    scene.material->flow = "snow";
    refuse(&scene, PBD_NOT_SUPPORTED, "flow=drucker_prager");
    scene.material->flow = NULL;
    scene.particles.positions[7] = (double)NAN;
    refuse(&scene, PBD_BAD_INPUT, "particle 2 is at");
    scene.particles.positions[7] = 0;
    scene.particles.masses[3] = 0;
    refuse(&scene, PBD_BAD_INPUT, "particle 3 has the mass 0");
    scene.particles.masses[3] = 1;
    scene.colliders.item[0] = (pbd_collider){.shape = PBD_SPHERE, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    scene.colliders.count = 1;
    refuse(&scene, PBD_BAD_INPUT, "radius 0 m");
    scene.colliders.count = 0;
    scene.particles.spacing = 0;
    refuse(&scene, PBD_BAD_INPUT, "no spacing is given");
    scene.particles.count = 0;
    refuse(&scene, PBD_BAD_INPUT, "no spacing is given");
    free_grains(&scene);
}

/* Coincident grains separate; overlapping held grains are left unchanged. */
static void test_poor_scenes(void **unused) {
    (void)unused;
    for (int k = 0; k < SOLVERS; k++) {
        pbd_scene scene;
        solver s;
        make_grains(&scene, 5, 0.1);
        scene.particles.positions[9] = scene.particles.positions[12] = 7;
        scene.particles.fixed = 2;
        scene.particles.fixed_particle[0] = 3;
        scene.particles.fixed_particle[1] = 4;
        solver_open(&s, "xpbd_grains", PBD_PRECISION_F32, 1, &scene, solvers[k]);
        run_steps(&s, 10, 1e-3);
        double *x = positions_of(&s, 5);
        for (size_t i = 0; i < 15; i++) assert_true(isfinite(x[i]));
        check_near("held, m", x[9], 7, 0);
        assert_true(closest_pair(x, 3) > 0.099);
        free(x);
        solver_close(&s);
        free_grains(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_grains_collide),
        cmocka_unit_test(test_momentum_of_a_crowd),
        cmocka_unit_test(test_one_projection_by_hand),
        cmocka_unit_test(test_grain_on_a_slope),
        cmocka_unit_test(test_friction_of_the_scene),
        cmocka_unit_test(test_compliance),
        cmocka_unit_test(test_heap),
        cmocka_unit_test(test_stabilisation),
        cmocka_unit_test(test_start_sweeps),
        cmocka_unit_test(test_sleep),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_backends_and_precisions),
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_bad_scenes),
        cmocka_unit_test(test_poor_scenes),
    };
    return cmocka_run_group_tests_name("xpbd_grains", tests, NULL, NULL);
}
