/* The work of moving colliders (methods/physics/surface/collider_pose.h, PBD_COLLIDER_SUMS) against mechanics: free
 * particles on pistons, belts and turntables, whose work and heat are known in closed form; and bodies thrown by a
 * piston, in every method that sums the work. */
#define REAL double
#include "tests/contact_world.h"
#include "tests/flow_values.h"

static const double down[3] = {0, 0, -9.81}, none[3] = {0, 0, 0};

static void open_summed(int backend, int threads) {
    world_open(&one, backend, threads);
    check_ok(collider_sums_room(&one.walls, one.scene.particles.count));
}

typedef struct sums {
    double work, dissipated, impulse[3];
} sums;

static sums sums_of(const world *w) {
    double out[COLLIDER_SUMS];
    check_ok(collider_sums_read(&w->walls, out));
    return (sums){out[COLLIDER_WORK], out[COLLIDER_DISSIPATED], {out[2], out[3], out[4]}};
}

/* ---- Free particles ---------------------------------------------------------------------------------------------- */

/* A piston at speed V hits a particle at rest: the impulse m V does the work m V^2, half of which becomes motion. It
 * never meets another particle. More passes change nothing. */
static void a_piston_works_at_its_own_speed(void **unused) {
    (void)unused;
    for (int passes = 1; passes <= 4; passes += 3) {
        const double m = 2.5, V = 2;
        world_begin(&one);
        one.collider[0] = plane_at(0, 0.7);
        one.collider[0].velocity[2] = V;
        one.scene.colliders.count = 1;
        put(&one, 0, 0, 0.1, m, 0.1, 0);
        put(&one, 3, 0, 5, 1, 0.1, 0);
        open_summed(PBD_CPU, 1);
        for (int i = 0; i < 50; i++) step(&one, 0.01, passes, none);
        const sums s = sums_of(&one);
        check_near("speed, m/s", one.v[2], V, 1e-12);
        check_near("work, J", s.work, m * V * V, 1e-10);
        check_near("dissipated, J", s.dissipated, 0.5 * m * V * V, 1e-10);
        check_near("impulse along x, N s", s.impulse[0], 0, 1e-12);
        check_near("impulse along z, N s", s.impulse[2], m * V, 1e-11);
        world_close(&one);
    }
}

/* A particle rests on a plane at rest while another collider moves elsewhere: no work. Contact removes the speed g dt
 * that each step adds, which dissipates m g^2 dt/2 per unit of time. */
static void a_plane_at_rest_does_no_work(void **unused) {
    (void)unused;
    const double m = 2.5, g = 9.81, dt = 0.001;
    world_begin(&one);
    one.collider[0] = plane_at(0, 0.7);
    one.collider[1] = (pbd_collider){.shape = PBD_SPHERE,
                                     .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                     .half = {0.1},
                                     .centre = {0, 0, 5},
                                     .velocity = {3, 0, 0}};
    one.scene.colliders.count = 2;
    put(&one, 0, 0, 0, m, 0, 0);
    open_summed(PBD_CPU, 1);
    for (int i = 0; i < 500; i++) step(&one, dt, 2, down);
    const sums s = sums_of(&one);
    check_near("work, J", s.work, 0, 0);
    check_near("impulse, N s", s.impulse[2], m * g * 0.5, 1e-9);
    check_near("dissipated, J", s.dissipated, 0.5 * m * g * g * dt * 0.5, 1e-9);
    world_close(&one);
}

static void where_no_collider_moves_nothing_is_summed(void **unused) {
    (void)unused;
    double out[COLLIDER_SUMS];
    world_begin(&one);
    one.collider[0] = plane_at(0, 0.7);
    one.scene.colliders.count = 1;
    put(&one, 0, 0, 0, 1, 0, 0);
    world_open(&one, PBD_CPU, 1);
    const size_t allocated = pbd_exec_read_totals(one.exec).allocated;
    check_ok(collider_sums_room(&one.walls, 1));
    assert_true(pbd_exec_read_totals(one.exec).allocated == allocated);
    assert_int_equal(collider_sums_read(&one.walls, out).code, PBD_NOT_SUPPORTED);
    world_close(&one);
}

/* While a particle slides on a belt at speed u, the friction mu m g does work at u, and produces heat with the slip
 * u - mu g t: W = mu m g u t, Q = mu m g (u t - mu g t^2/2). Once it sticks, at u/(mu g) = 0.51 s, W = m u^2 and
 * Q = m u^2/2. In addition the normal force dissipates m g^2 dt/2 per unit of time, as on a plane at rest. */
static void friction_on_a_belt(void **unused) {
    (void)unused;
    const double m = 2.5, g = 9.81, mu = 0.4, u = 2, dt = 0.001, rest = 0.5 * m * g * g * dt;
    world_begin(&one);
    one.collider[0] = plane_at(0, mu);
    one.collider[0].velocity[0] = u;
    one.scene.colliders.count = 1;
    put(&one, 0, 0, 0, m, 0, 0);
    open_summed(PBD_CPU, 1);
    for (int i = 0; i < 400; i++) step(&one, dt, 1, down);
    sums s = sums_of(&one);
    check_near("work after 0.4 s, J", s.work, mu * m * g * u * 0.4, 1e-9);
    check_near("heat after 0.4 s, J", s.dissipated, mu * m * g * (u * 0.4 - mu * g * 0.08) + rest * 0.4, 1e-9);
    check_near("impulse along the belt, N s", s.impulse[0], mu * m * g * 0.4, 1e-10);
    for (int i = 0; i < 600; i++) step(&one, dt, 1, down);
    s = sums_of(&one);
    check_near("work after 1 s, J", s.work, m * u * u, 1e-9);
    check_near("heat after 1 s, J", s.dissipated, 0.5 * m * u * u + rest,
               1e-4); /* part of the step in which it begins to stick */
    world_close(&one);
}

/* A turntable accelerates a particle from rest by friction, doing the work m (omega R)^2. After that friction bends the
 * path without work, except for up to (omega dt)^2/2 per step: 1.3e-4 in 1000 steps. */
static void a_turntable_works(void **unused) {
    (void)unused;
    const double m = 2.5, omega = 0.5, R = 2, rest = 0.5 * m * 9.81 * 9.81 * 0.001;
    world_begin(&one);
    one.collider[0] = plane_at(0, 1000);
    one.collider[0].spin[2] = omega;
    one.scene.colliders.count = 1;
    put(&one, R, 0, 0, m, 0, 0);
    open_summed(PBD_CPU, 1);
    for (int i = 0; i < 1000; i++) step(&one, 0.001, 2, down);
    const sums s = sums_of(&one);
    check_near("work, J", s.work, m * omega * omega * R * R, 1e-3);
    check_near("dissipated, J", s.dissipated, 0.5 * m * omega * omega * R * R + rest, 1e-3);
    world_close(&one);
}

/* A ball of radius 1 spins under a particle of radius 1/2: friction mu m g does work at the speed of the ball's
 * surface, omega, and not at that of the particle's centre, 1.5 omega. */
static void friction_works_at_the_point_of_contact(void **unused) {
    (void)unused;
    const double m = 2.5, mu = 0.1, omega = 3, dt = 1e-4;
    world_begin(&one);
    one.collider[0] = (pbd_collider){.shape = PBD_SPHERE,
                                     .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                     .half = {1},
                                     .spin = {0, omega, 0},
                                     .friction = mu};
    one.scene.colliders.count = 1;
    put(&one, 0, 0, 1.5, m, 0.5, 0);
    open_summed(PBD_CPU, 1);
    step(&one, dt, 1, down);
    const sums s = sums_of(&one);
    check_near("impulse along x, N s", s.impulse[0], mu * m * 9.81 * dt, 1e-9);
    const double turned = omega * dt; /* the point moved along a chord, thus upwards too */
    check_near("work, J", s.work, m * 9.81 * (mu * sin(turned) + 1 - cos(turned)), 1e-9);
    world_close(&one);
}

/* ---- Bodies ------------------------------------------------------------------------------------------------------ */

static const double SPACING = 0.1, SPEED = 0.5; /* m, m/s */

/* A block of 5 x 5 x 4 particles that touches a piston below it. */
static void make_block(pbd_scene *s, pbd_matter matter) {
    const size_t n = 100;
    uint64_t seed = 9;
    *s = (pbd_scene){.particles.count = n, .particles.spacing = SPACING, .extent = 5 * SPACING, .duration = 1};
    s->particles.positions = calloc(3 * n, sizeof(double));
    s->particles.masses = calloc(n, sizeof(double));
    s->particles.volumes = calloc(n, sizeof(double));
    s->contact.radius = malloc(n * sizeof(double));
    s->colliders.item = calloc(1, sizeof(pbd_collider));
    s->material[0] = (pbd_material){.matter = matter, .E = 1e5, .nu = 0.3, .density = 300, .law = "hencky"};
    for (size_t p = 0; p < n; p++) {
        const double at[3] = {(double)(p % 5) + 0.5, (double)(p / 5 % 5) + 0.5, (double)(p / 25) + 0.5};
        for (size_t d = 0; d < 3; d++) s->particles.positions[3 * p + d] = SPACING * (at[d] + 0.02 * noise(&seed));
        s->particles.volumes[p] = SPACING * SPACING * SPACING;
        s->particles.masses[p] = 300 * s->particles.volumes[p];
        s->contact.radius[p] = 0.5 * SPACING;
    }
    s->colliders.item[0] = plane_at(0, 0);
    s->colliders.item[0].velocity[2] = SPEED;
    s->colliders.item[0].centre[2] = -0.02 * SPACING;
    s->colliders.count = 1;
}

static void free_block(pbd_scene *s) {
    free(s->particles.positions);
    free(s->particles.masses);
    free(s->particles.volumes);
    free(s->contact.radius);
    free(s->colliders.item);
}

static const struct thrown {
    const char *method, *words;
    pbd_matter matter;
    bool grains;
    double dt;
    int steps;
    double left; /* error by the solver's tolerance, relative to a step's momentum */
} thrown[] = {{"xpbi", "", PBD_CONTINUUM, false, 1e-3, 60, 0},
              {"mpm", "", PBD_CONTINUUM, false, 1e-3, 60, 0},
              {"corrected_sph", "", PBD_CONTINUUM, false, 1e-3, 60, 0},
              {"mlsrk", "", PBD_CONTINUUM, false, 1e-3, 60, 0},
              {"pbf", "", PBD_FLUID, false, 2e-3, 60, 0},
              {"gissler_snow", "tolerance=1e-3", PBD_CONTINUUM, false, 1e-3, 5, 1e-3},
              {"xpbd_grains", "start_sweeps=0 averaging=pair", PBD_CONTINUUM, true, 1e-3, 60, 0},
              {"xpbd_grains", "start_sweeps=0 solver=coloured_gs stabilisation=2", PBD_CONTINUUM, true, 1e-3, 60, 0}};

static void throw_block(const struct thrown *of, int backend, int threads, int steps, double out[COLLIDER_SUMS],
                        double momentum[3]) {
    pbd_scene scene;
    solver s;
    make_block(&scene, of->matter);
    if (of->grains) set_flow_values(scene.material, "drucker_prager", "friction_angle=30");
    check_ok(try_open_on(backend, &s, of->method, PBD_PRECISION_F64, threads, &scene, of->words));
    const size_t n = 3 * scene.particles.count;
    double *v = malloc(n * sizeof *v);
    for (int i = 0; i < steps; i++) check_ok(s.method->step(s.state, of->dt));
    check_ok(s.method->read(s.state, PBD_VELOCITIES, v));
    check_ok(s.method->read(s.state, PBD_COLLIDER_SUMS, out));
    memset(momentum, 0, 3 * sizeof *momentum);
    for (size_t i = 0; i < n; i++) momentum[i % 3] += scene.particles.masses[i / 3] * v[i];
    free(v);
    solver_close(&s);
    free_block(&scene);
}

/* All of a body's momentum P comes from the piston's impulse, which does work at the piston's speed: W = V P. Without
 * friction the impulse has no lateral part. */
static void a_piston_throws_bodies(void **unused) {
    (void)unused;
    for (size_t k = 0; k < sizeof thrown / sizeof *thrown; k++) {
        double sum[COLLIDER_SUMS], momentum[3];
        const double most = 1e-9 + thrown[k].left;
        throw_block(&thrown[k], PBD_CPU, 1, thrown[k].steps, sum, momentum);
        print_message("  %s %s\n", thrown[k].method, thrown[k].words);
        assert_true(momentum[2] > 0.1 * 30 * SPEED); /* of 30 kg */
        check_near("impulse, N s", sum[COLLIDER_IMPULSE + 2], momentum[2], most * momentum[2]);
        check_near("across, N s", sum[COLLIDER_IMPULSE], momentum[0], most * momentum[2]);
        check_near("work, J", sum[COLLIDER_WORK], SPEED * momentum[2], most * SPEED * momentum[2]);
        assert_true(sum[COLLIDER_DISSIPATED] >= 0);
    }
}

/* The sums are bitwise the same for any number of threads; emulation agrees up to rounding. */
static void sums_do_not_depend_on_threads(void **unused) {
    (void)unused;
#if defined(__SANITIZE_THREAD__)
    const int steps = 1;
#else
    const int steps = 5;
#endif
    for (size_t k = 0; k < sizeof thrown / sizeof *thrown; k++) {
        double alone[COLLIDER_SUMS], shared[COLLIDER_SUMS], emulated[COLLIDER_SUMS], first[COLLIDER_SUMS],
            unused_sum[3];
        throw_block(&thrown[k], PBD_CPU, 1, steps, alone, unused_sum);
        throw_block(&thrown[k], PBD_CPU, 3, steps, shared, unused_sum);
        assert_memory_equal(alone, shared, sizeof alone);
        throw_block(&thrown[k], PBD_CPU, 1, 1, first, unused_sum);
        throw_block(&thrown[k], PBD_EMU, 1, 1, emulated, unused_sum);
        for (int i = 0; i < COLLIDER_SUMS; i++)
            check_near(thrown[k].method, emulated[i], first[i], 1e-9 * fabs(first[COLLIDER_IMPULSE + 2]));
    }
}

/* The sums restart at 0 when a state is loaded. */
static void a_loaded_state_begins_without_work(void **unused) {
    (void)unused;
    for (size_t k = 0; k < sizeof thrown / sizeof *thrown; k++) {
        pbd_scene scene;
        solver s;
        size_t bytes;
        double before[COLLIDER_SUMS], after[COLLIDER_SUMS];
        make_block(&scene, thrown[k].matter);
        if (thrown[k].grains) set_flow_values(scene.material, "drucker_prager", "friction_angle=30");
        solver_open(&s, thrown[k].method, PBD_PRECISION_F64, 1, &scene, thrown[k].words);
        check_ok(s.method->save(s.state, NULL, &bytes));
        char *blob = malloc(bytes);
        check_ok(s.method->save(s.state, blob, &bytes));
        for (int i = 0; i < 3; i++) check_ok(s.method->step(s.state, thrown[k].dt));
        check_ok(s.method->read(s.state, PBD_COLLIDER_SUMS, before));
        check_ok(s.method->load(s.state, blob, bytes));
        for (int i = 0; i < 3; i++) check_ok(s.method->step(s.state, thrown[k].dt));
        check_ok(s.method->read(s.state, PBD_COLLIDER_SUMS, after));
        assert_memory_equal(before, after, sizeof before);
        free(blob);
        solver_close(&s);
        free_block(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piston_works_at_its_own_speed),
        cmocka_unit_test(a_plane_at_rest_does_no_work),
        cmocka_unit_test(where_no_collider_moves_nothing_is_summed),
        cmocka_unit_test(friction_on_a_belt),
        cmocka_unit_test(a_turntable_works),
        cmocka_unit_test(friction_works_at_the_point_of_contact),
        cmocka_unit_test(a_piston_throws_bodies),
        cmocka_unit_test(sums_do_not_depend_on_threads),
        cmocka_unit_test(a_loaded_state_begins_without_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
