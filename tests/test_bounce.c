/* Contact of bodies made of elements, in all methods that support it: against the wave in a bar, a block on a slope,
 * conservation of momentum; and the cases bounce and heavy_drop. */
#include "tests/element_ladder.h"
#include "tests/sanitized.h"
#include "tests/trial.h"

#include "cases/scenes/collider_mesh.h"

static const char *const methods[] = {"strain_energy", "strain_based"};

/* Runs the case's scene to its end, observed as by the harness; the metrics of method and case are in the solver's
 * result. */
static void run_case(trial *t, solver *s, const char *method, pbd_precision precision, const char *words, double dt) {
    char all[300];
    snprintf(all, sizeof all, "%s dt=%.17g", words, dt);
    solver_open(s, method, precision, 1, &t->scene, all);
    const long steps = lround(t->scene.duration / dt), every = lround(t->setup.observe_every / dt);
    for (long i = 0; i <= steps; i++) {
        if (i > 0) check_ok(s->method->step(s->state, dt));
        if (i % (every > 0 ? every : 1) == 0)
            check_ok(t->c->observe(&t->setup, s->method, s->state, (double)i * dt, s->recorder));
    }
    check_ok(t->c->measure(&t->setup, s->method, s->state, s->recorder));
}

/* ---- A bar on its end -------------------------------------------------------------------------------------------- */

/* A wave travels up the bar and back in 2 h/c; the bar then lifts off at its speed of impact. */
static void test_bar_on_its_end(void **unused) {
    (void)unused;
    skip_if_sanitized();
    for (int precision = 0; precision < 2; precision++) {
        double kept[2];
        for (int fine = 0; fine < 2; fine++) {
            trial t;
            solver s;
            open_case(&t, "bounce", "nu=0 gravity=0 cells=2 duration=0.1");
            run_case(&t, &s, "strain_energy", (pbd_precision)precision, "iterations=20", fine ? 0.0001 : 0.0005);
            /* two samples are off by up to 0.8 % each; the wave front is one of the bar's 10 cubes wide */
            check_near("contact time over 2 h/c", metric_of(&s, "contact_time_ratio"), 1, 0.02 + 0.05);
            kept[fine] = metric_of(&s, "restitution");
            check_near("below the floor, m", metric_of(&s, "deepest_below_floor"), 0, 1e-12);
            check_near("particles ever outside", metric_of(&s, "particles_ever_outside"), 0, 0);
            check_near("sideways, m/s", metric_of(&s, "sideways_speed"), 0, precision ? 1e-10 : 1e-3);
            assert_true(metric_of(&s, "energy_rise") < (precision ? 1e-9 : 1e-3));
            assert_true(metric_of(&s, "collapsed") == 0);
            solver_close(&s);
            close_case(&t);
        }
        print_message("    restitution %.3f at dt = 0.5 ms, %.3f at 0.1 ms\n", kept[0], kept[1]);
        assert_true(kept[0] > 0.75 && kept[1] > kept[0] && kept[1] < 1);
    }
}

/* Methods that minimise the objective of an implicit step. In vbd contact is a pass after each colour, with Jacobi's
 * global step a pass after each sweep; an exact global step is constrained (step_contact.h). */
static const char *const implicit[][3] = {
    {"vbd", "macklin_neo_hookean", "iterations=100"},
    {"projective_dynamics", "projective", "iterations=20"},
    {"projective_dynamics", "projective", "iterations=100 solve=jacobi"},
    {"projective_dynamics", "neo_hookean", "iterations=20 form=admm"},
    {"quasi_newton", "neo_hookean", "iterations=20"},
};
enum { VBD, DIRECT, JACOBI, ADMM, QUASI_NEWTON, IMPLICIT };

/* The bar on its end with implicit methods. At a step of 5 ms, a quarter of the contact time, no energy is gained
 * either. */
static void test_bar_of_implicit_solvers(void **unused) {
    (void)unused;
    skip_if_sanitized();
    for (int i = 0; i < IMPLICIT; i++) {
        double kept[2];
        for (int fine = 0; fine < 2; fine++) {
            trial t;
            solver s;
            open_case(&t, "bounce", "nu=0 gravity=0 cells=2 duration=0.1");
            t.scene.material->law = implicit[i][1];
            run_case(&t, &s, implicit[i][0], PBD_PRECISION_F64, implicit[i][2], fine ? 0.0005 : 0.005);
            kept[fine] = metric_of(&s, "restitution");
            if (fine) check_near("contact time over 2 h/c", metric_of(&s, "contact_time_ratio"), 1, 0.02 + 0.05);
            check_near("below the floor, m", metric_of(&s, "deepest_below_floor"), 0, 1e-12);
            check_near("energy that came from nowhere", metric_of(&s, "energy_rise"), 0, 1e-6);
            assert_true(metric_of(&s, "collapsed") == 0);
            solver_close(&s);
            close_case(&t);
        }
        print_message("    %s %s: restitution %.3f at dt = 5 ms, %.3f at 0.5 ms\n", implicit[i][0], implicit[i][2],
                      kept[0], kept[1]);
        assert_true(kept[0] > 0.3 && kept[1] > kept[0] && kept[1] < 1);
    }
}

/* All methods find the same constrained minimum of a step, with friction and without, over 20 steps: quasi_newton, 400
 * iterations with the exact global step and 20000 with Jacobi's; and, with its own law, vbd against quasi_newton. */
static void test_same_minimum(void **unused) {
    (void)unused;
    skip_if_sanitized();
    static const char *const words[][3] = {{"quasi_newton", "projective", "iterations=400"},
                                           {"projective_dynamics", "projective", "iterations=400"},
                                           {"projective_dynamics", "projective", "iterations=20000 solve=jacobi"},
                                           {"quasi_newton", "macklin_neo_hookean", "iterations=400"},
                                           {"vbd", "macklin_neo_hookean", "iterations=2000"}};
    for (int rough = 0; rough < 2; rough++) {
        trial t;
        double *first = NULL;
        char given[160];
        snprintf(given, sizeof given,
                 "pose=corner gap=0.001 cells=1 length=0.4 width=0.4 E=1e5 nu=0.3 v0=1 friction=%g", 0.3 * rough);
        open_case(&t, "bounce", given);
        for (int i = 0; i < 5; i++) {
            t.scene.material->law = words[i][1];
            double *x = march(words[i][0], PBD_PRECISION_F64, 1, &t.scene, words[i][2], 0.002, 20);
            if (i % 3 == 0) {
                free(first);
                first = x;
                continue;
            }
            print_message("  %s, friction %g\n", words[i][0], 0.3 * rough);
            check_near(words[i][2], largest_difference(first, x, t.scene.particles.count), 0, 1e-9);
            free(x);
        }
        free(first);
        close_case(&t);
    }
}

/* The same on a slope with an irregular mesh, for which the blocks of vertices in contact are not diagonal. */
static void test_same_minimum_of_an_uneven_mesh(void **unused) {
    (void)unused;
    skip_if_sanitized();
    static const char *const words[][3] = {{"quasi_newton", "macklin_neo_hookean", "iterations=400"},
                                           {"vbd", "macklin_neo_hookean", "iterations=2000"},
                                           {"vbd", "macklin_neo_hookean", "iterations=2000 order=symmetric"},
                                           {"quasi_newton", "projective", "iterations=400"},
                                           {"projective_dynamics", "projective", "iterations=400"}};
    for (int rough = 0; rough < 2; rough++) {
        pbd_scene scene;
        double *first = NULL;
        pbd_collider floor = {.shape = PBD_PLANE,
                              .axis = {{0.8, 0, -0.6}, {0, 1, 0}, {0.6, 0, 0.8}},
                              .centre = {0, 0, -0.02},
                              .friction = 0.3 * rough};
        make_mesh(&scene, false, 1e5);
        const size_t n = scene.particles.count;
        scene.particles.fixed = 0;
        scene.particles.velocities = calloc(3 * n, sizeof(double));
        for (size_t i = 0; i < n; i++) scene.particles.velocities[3 * i + 2] = -1;
        scene.colliders = (pbd_colliders){.item = &floor, .count = 1};
        for (int i = 0; i < 5; i++) {
            scene.material->law = words[i][1];
            double *x = march(words[i][0], PBD_PRECISION_F64, 1, &scene, words[i][2], 0.002, 20);
            if (i % 3 == 0) {
                free(first);
                first = x;
                double most = 0;
                for (size_t k = 0; k < n; k++) most = fmax(most, scene.particles.positions[3 * k + 2] - x[3 * k + 2]);
                print_message("  friction %g: down by %.3g m at most\n", 0.3 * rough, most);
                continue;
            }
            check_near(words[i][2], largest_difference(first, x, n), 0, 1e-9);
            free(x);
        }
        free(first);
        scene.colliders = (pbd_colliders){0};
        pbd_scene_free(&scene);
    }
}

/* A scene that slips on a floor: the same bits for any number of threads; f32 and emu agree up to rounding. */
static void test_implicit_threads(void **unused) {
    (void)unused;
    for (int i = DIRECT; i < IMPLICIT; i++) {
        trial t;
        open_case(&t, "bounce", "pose=corner friction=0.3 gap=0.001 cells=2 nu=0.3 v0=3");
        t.scene.material->law = implicit[i][1];
        const size_t n = t.scene.particles.count;
        const bool only = i == QUASI_NEWTON; /* cpu, f64 */
        double *one = march(implicit[i][0], PBD_PRECISION_F64, 1, &t.scene, implicit[i][2], 0.002, 10);
        double *three = march(implicit[i][0], PBD_PRECISION_F64, 3, &t.scene, implicit[i][2], 0.002, 10);
        expect_same_bits("3 threads", one, three, n);
        if (!only) {
            double *single = march(implicit[i][0], PBD_PRECISION_F32, 1, &t.scene, implicit[i][2], 0.002, 10);
            check_near("f32 against f64, m", largest_difference(one, single, n), 0, 1e-4);
            free(single);
#if !defined(__SANITIZE_THREAD__)
            double *emu = march_on(PBD_EMU, implicit[i][0], PBD_PRECISION_F64, 1, &t.scene, implicit[i][2], 0.002, 2);
            double *cpu = march(implicit[i][0], PBD_PRECISION_F64, 1, &t.scene, implicit[i][2], 0.002, 2);
            check_near("emu against cpu, m", largest_difference(cpu, emu, n), 0, 1e-11);
            free(emu), free(cpu);
#endif
        }
        free(one), free(three);
        close_case(&t);
    }
}

/* At the end of a step that slips on a floor, forces with contact and friction balance to 1e-10 of the residual at the
 * initial guess. This takes 100 iterations, since L-BFGS pairs are dropped while contact is active. */
static void test_forces_balance(void **unused) {
    (void)unused;
    for (int i = DIRECT; i < IMPLICIT; i += QUASI_NEWTON - DIRECT) {
        trial t;
        solver s;
        open_case(&t, "bounce", "pose=corner friction=0.3 gap=0.0001 cells=1 nu=0.3 v0=3 length=0.4 width=0.4");
        double mass = 0;
        for (size_t k = 0; k < t.scene.particles.count; k++) mass += t.scene.particles.masses[k];
        t.scene.material->law = implicit[i][1];
        solver_open(&s, implicit[i][0], PBD_PRECISION_F64, 1, &t.scene, "iterations=200");
        for (int k = 0; k < 10; k++) {
            pbd_residual left;
            s.method->watch(s.state, &left);
            check_ok(s.method->step(s.state, 0.002));
            check_near(implicit[i][0], left.last / (mass * 3 / 0.002), 0, 1e-10);
        }
        solver_close(&s);
        close_case(&t);
    }
}

static void test_implicit_refusals(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "bounce", "");
    t.scene.material->law = "projective";
    expect_refused("projective_dynamics", &t.scene, "acceleration=anderson", PBD_NOT_SUPPORTED, "acceleration=none");
    close_case(&t);
}

/* ---- Colliders that move, and meshes ----------------------------------------------------------------------------- */

static const double carried[3] = {0.7, -0.2, 2};
enum { SLIPS = 20 };
static const double SLIP_STEP = 0.002; /* s */

typedef struct slip {
    double *x; /* after SLIPS steps */
    double sums[5], gained[3], mass;
    bool summed;
} slip;

/* A cube on its corner slips on a floor and rebounds, in a frame that moves with -`drift`: `drift` is added to the
 * velocities of floor and body. mesh: the floor is the top of a box of triangles. A distant ball always moves, so that
 * the work of colliders is summed. */
static slip slip_by(int backend, pbd_precision precision, int i, const double drift[3], bool mesh) {
    slip out = {0};
    trial t;
    solver s;
    pbd_collider_mesh box = {0};
    open_case(&t, "bounce", "pose=corner friction=0.3 gap=0.001 cells=1 nu=0.3 v0=3 length=0.4 width=0.4 gravity=0");
    pbd_scene *scene = &t.scene;
    const size_t n = scene->particles.count;
    pbd_collider *given = scene->colliders.item, both[2] = {given[0], given[0]};
    scene->material->law = implicit[i][1];
    both[1].shape = PBD_SPHERE;
    for (int d = 0; d < 3; d++) both[0].velocity[d] = drift[d], both[1].half[d] = 0.1, both[1].centre[d] = 50;
    both[1].velocity[0] = 1;
    if (mesh) {
        check_ok(collider_mesh_box((double[3]){2, 2, 0.5}, &box));
        both[0].shape = PBD_MESH;
        both[0].centre[2] -= 0.5;
        scene->colliders.mesh = &box;
        scene->colliders.meshes = 1;
    }
    scene->colliders.item = both;
    scene->colliders.count = 2;
    for (size_t k = 0; k < 3 * n; k++) scene->particles.velocities[k] += drift[k % 3] + (k % 3 == 0 ? 0.5 : 0);
    check_ok(try_open_on(backend, &s, implicit[i][0], precision, 1, scene, implicit[i][2]));
    for (int k = 0; k < SLIPS; k++) check_ok(s.method->step(s.state, SLIP_STEP));
    out.x = positions_of(&s, n);
    double *v = calloc(3 * n, sizeof *v);
    check_ok(s.method->read(s.state, PBD_VELOCITIES, v));
    const pbd_status summed = s.method->read(s.state, PBD_COLLIDER_SUMS, out.sums);
    out.summed = summed.code == PBD_OK;
    if (!out.summed) assert_int_equal(summed.code, PBD_NOT_SUPPORTED);
    for (size_t k = 0; k < 3 * n; k++) {
        const double m = scene->particles.masses[k / 3];
        out.gained[k % 3] += m * (v[k] - scene->particles.velocities[k]);
        out.x[k] -= drift[k % 3] * SLIPS * SLIP_STEP;
        out.mass += m / 3;
    }
    free(v);
    solver_close(&s);
    scene->colliders = (pbd_colliders){.item = given, .count = 1};
    collider_mesh_free(&box);
    close_case(&t);
    return out;
}

static const double at_rest[3] = {0, 0, 0};
static const size_t slip_particles = 8; /* of a cube of five tetrahedra */

/* Mechanics is the same in both frames: a floor that moves with the body against a floor at rest. The body gains the
 * floor's impulse, which does work at the floor's velocity; the dissipation of contact is the same. Sweeps of vbd and
 * of Jacobi may undo pushes, so their sum is not an impulse, and they report none. */
static void test_moving_floor(void **unused) {
    (void)unused;
    for (int i = 0; i < IMPLICIT; i++) {
        slip still = slip_by(PBD_CPU, PBD_PRECISION_F64, i, at_rest, false);
        slip moved = slip_by(PBD_CPU, PBD_PRECISION_F64, i, carried, false);
        const double whole = still.mass * 3;
        print_message("  %s %s\n", implicit[i][0], implicit[i][2]);
        check_near("carried along, m", largest_difference(still.x, moved.x, slip_particles), 0, 1e-9);
        assert_true(moved.gained[2] > whole && moved.gained[0] < -0.05 * whole);
        assert_true(moved.summed == (i != VBD && i != JACOBI));
        double work = 0;
        for (int d = 0; d < 3 && moved.summed; d++) {
            check_near("impulse over the gain, N s", moved.sums[2 + d], moved.gained[d], 1e-9 * whole);
            work += carried[d] * moved.gained[d];
        }
        check_near("work, J", moved.sums[0], work, 1e-9 * whole);
        check_near("work of a floor at rest, J", still.sums[0], 0, 0);
        check_near("dissipated, J", moved.sums[1], still.sums[1], 1e-9 * whole);
        assert_true(!moved.summed ||
                    (still.sums[1] > 0 && still.sums[1] < 0.5 * still.mass * 9.25)); /* less than the kinetic energy */
        free(still.x);
        free(moved.x);
    }
}

/* The top of a moving box of triangles acts as a plane, on every backend and in both precisions. */
static void test_mesh_floor(void **unused) {
    (void)unused;
    for (int i = DIRECT; i < IMPLICIT; i++) {
        slip plane = slip_by(PBD_CPU, PBD_PRECISION_F64, i, carried, false);
        slip mesh = slip_by(PBD_CPU, PBD_PRECISION_F64, i, carried, true);
        print_message("  %s %s\n", implicit[i][0], implicit[i][2]);
        check_near("box of triangles against plane, m", largest_difference(plane.x, mesh.x, slip_particles), 0, 1e-9);
        for (int k = 0; k < 5; k++) check_near("sums", mesh.sums[k], plane.sums[k], 1e-9 * plane.mass * 3);
        if (i != QUASI_NEWTON) {
            slip single = slip_by(PBD_CPU, PBD_PRECISION_F32, i, carried, true);
            check_near("f32 against f64, m", largest_difference(single.x, mesh.x, slip_particles), 0, 1e-4);
            free(single.x);
#if !defined(__SANITIZE_THREAD__)
            slip emu = slip_by(PBD_EMU, PBD_PRECISION_F64, i, carried, true);
            check_near("emu against cpu, m", largest_difference(emu.x, mesh.x, slip_particles), 0, 1e-9);
            free(emu.x);
#endif
        }
        free(plane.x);
        free(mesh.x);
    }
}

/* ---- A block on a slope ------------------------------------------------------------------------------------------ */

/* Returns how far a block slides, m. Gravity is inclined instead of the floor. */
static double slide(const char *method, const char *law, const char *words, double angle, double friction,
                    double seconds) {
    trial t;
    solver s;
    char given[200];
    snprintf(given, sizeof given, "pose=flat gap=0 v0=0 cells=2 length=0.6 width=0.4 E=1e6 friction=%g", friction);
    open_case(&t, "bounce", given);
    if (law) t.scene.material->law = law;
    t.scene.loads.gravity[0] = 9.81 * sin(angle);
    t.scene.loads.gravity[2] = -9.81 * cos(angle);
    solver_open(&s, method, PBD_PRECISION_F64, 1, &t.scene, words);
    const double dt = 0.002;
    for (int i = 0; i < (int)lround(seconds / dt); i++) check_ok(s.method->step(s.state, dt));
    double *x = positions_of(&s, t.scene.particles.count), far = 0;
    for (size_t i = 0; i < t.scene.particles.count; i++)
        far += (x[3 * i] - t.scene.particles.positions[3 * i]) / (double)t.scene.particles.count;
    free(x);
    solver_close(&s);
    close_case(&t);
    return far;
}

/* Below atan(mu) the block stands; above, it slides with the acceleration g (sin - mu cos). It is slightly soft: it
 * leans and settles by a fraction of a millimetre, and meanwhile its load on the floor oscillates. */
static void test_block_on_a_slope(void **unused) {
    (void)unused;
    static const char *const by[][3] = {{"strain_energy", NULL, "iterations=20"},
                                        {"strain_based", NULL, "iterations=20 form=xpbd"},
                                        {"projective_dynamics", "projective", "iterations=20"},
                                        {"projective_dynamics", "neo_hookean", "iterations=20 form=admm"},
                                        {"quasi_newton", "neo_hookean", "iterations=20"}};
    const double mu = 0.5, critical = atan(mu), seconds = 0.5;
    for (size_t m = 0; m < sizeof by / sizeof *by; m++) {
        check_near("stands, m", slide(by[m][0], by[m][1], by[m][2], 0.9 * critical, mu, seconds), 0, 0.002);
        const double angle = 1.5 * critical, a = 9.81 * (sin(angle) - mu * cos(angle));
        const double wanted = 0.5 * a * seconds * seconds;
        check_near("slides, m", slide(by[m][0], by[m][1], by[m][2], angle, mu, seconds), wanted, 0.03 * wanted);
    }
}

/* ---- Two bars ---------------------------------------------------------------------------------------------------- */

enum { BARS = 2 };

/* A bar and a copy of it end to end, with `gap`, m, between the surfaces of their particles. They approach each other
 * with `speed`, m/s, each. */
static void make_two_bars(pbd_scene *scene, double speed, double gap) {
    trial t;
    open_case(&t, "bounce", "pose=flat gap=0 gravity=0 v0=0 cells=2 length=0.4 width=0.2 E=2e4");
    const size_t n = t.scene.particles.count, tets = t.scene.tets.count;
    allocate_scene(scene, BARS * n, BARS * tets, 0);
    free(scene->particles.start);
    scene->particles.start = NULL;
    scene->material[0] = t.scene.material[0];
    scene->particles.velocities = calloc(3 * BARS * n, sizeof(double));
    scene->particles.body = calloc(BARS * n, sizeof(uint32_t));
    scene->contact = (pbd_contact){.radius = calloc(BARS * n, sizeof(double)), .between_bodies = true};
    scene->particles.bodies = BARS;
    const double radius = 0.05;
    for (size_t b = 0; b < BARS; b++) {
        for (size_t i = 0; i < n; i++) {
            const size_t k = b * n + i;
            for (size_t d = 0; d < 3; d++)
                scene->particles.positions[3 * k + d] = t.scene.particles.positions[3 * i + d];
            scene->particles.positions[3 * k] += (double)b * (0.4 + 2 * radius + gap);
            scene->particles.positions[3 * k + 1] += (double)b * 0.03; /* avoids symmetry */
            scene->particles.velocities[3 * k] = b ? -speed : speed;
            scene->particles.masses[k] = t.scene.particles.masses[i];
            scene->particles.body[k] = (uint32_t)b;
            scene->contact.radius[k] = radius;
        }
        for (size_t i = 0; i < 4 * tets; i++)
            scene->tets.corner[4 * b * tets + i] = t.scene.tets.corner[i] + (uint32_t)(b * n);
    }
    close_case(&t);
}

static void momenta(const pbd_scene *scene, const solver *s, double out[BARS]) {
    double *v = malloc(3 * scene->particles.count * sizeof *v);
    check_ok(s->method->read(s->state, PBD_VELOCITIES, v));
    out[0] = out[1] = 0;
    for (size_t i = 0; i < scene->particles.count; i++)
        out[scene->particles.body[i]] += scene->particles.masses[i] * v[3 * i];
    free(v);
}

static double volume_of(const double *a, const double *b, const double *c, const double *d) {
    double e[3][3];
    for (int k = 0; k < 3; k++) e[0][k] = a[k] - d[k], e[1][k] = b[k] - d[k], e[2][k] = c[k] - d[k];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* Particles of one bar that are inside an element of the other. */
static int inside_other(const pbd_scene *scene, const double *x) {
    int found = 0;
    for (size_t t = 0; t < scene->tets.count; t++) {
        const uint32_t *c = scene->tets.corner + 4 * t;
        const double *a[4] = {x + 3 * c[0], x + 3 * c[1], x + 3 * c[2], x + 3 * c[3]};
        const double whole = volume_of(a[0], a[1], a[2], a[3]);
        for (size_t p = 0; p < scene->particles.count; p++) {
            if (scene->particles.body[p] == scene->particles.body[c[0]]) continue;
            const double *q = x + 3 * p;
            found += volume_of(q, a[1], a[2], a[3]) * whole > 0 && volume_of(a[0], q, a[2], a[3]) * whole > 0 &&
                     volume_of(a[0], a[1], q, a[3]) * whole > 0 && volume_of(a[0], a[1], a[2], q) * whole > 0;
        }
    }
    return found;
}

/* Two bars collide and rebound: no particle of one is ever inside an element of the other, and momentum is conserved.
 * They approach at up to 0.57 (strain_energy; at higher speeds compressed elements fold) and 2.3 (strain_based) times
 * their speed of sound, 14 m/s, which is 0.16 and 0.64 diameters per step. */
static void test_two_bars_meet(void **unused) {
    (void)unused;
    static const double speed[] = {1, 4, 16}; /* m/s each; steps of 2 ms, diameters of 0.1 m */
    static const char *const words[] = {"iterations=20 join=shifted", "iterations=20 form=xpbd"};
    for (int m = 0; m < 2; m++)
        for (int k = 0; k < (m ? 3 : 2); k++) {
            pbd_scene scene;
            solver s;
            make_two_bars(&scene, speed[k], 0.01);
            solver_open(&s, methods[m], PBD_PRECISION_F64, 1, &scene, words[m]);
            double before[BARS], after[BARS];
            int most_inside = 0;
            momenta(&scene, &s, before);
            for (int i = 0; i < 150; i++) {
                check_ok(s.method->step(s.state, 0.002));
                double *x = positions_of(&s, scene.particles.count);
                const int inside = inside_other(&scene, x);
                if (inside > most_inside) most_inside = inside;
                free(x);
            }
            momenta(&scene, &s, after);
            check_near("momentum of both, kg m/s", after[0] + after[1], 0, 1e-10 * before[0]);
            assert_true(after[0] < 0 && after[1] > 0); /* both rebound */
            assert_int_equal(most_inside, 0);
            assert_true(metric_of(&s, "deepest_penetration") < 0.1 * 0.1);
            print_message("    %s, %g m/s: deepest %.3g of a diameter, momentum %.3g -> %.3g kg m/s\n", methods[m],
                          speed[k], metric_of(&s, "deepest_penetration") / 0.1, before[0], after[0]);
            assert_true(metric_of(&s, "most_contact_pairs") > 5);
            solver_close(&s);
            pbd_scene_free(&scene);
        }
}

static void test_threads_backends_precisions(void **unused) {
    (void)unused;
    for (int m = 0; m < 2; m++)
        for (int jacobi = 0; jacobi < 2; jacobi++) {
            pbd_scene scene;
            make_two_bars(&scene, 4, 0.01);
            const char *words = jacobi ? "iterations=5 solver=jacobi" : "iterations=5";
            double *one = march(methods[m], PBD_PRECISION_F64, 1, &scene, words, 0.002, 12);
            double *three = march(methods[m], PBD_PRECISION_F64, 3, &scene, words, 0.002, 12);
            double *eight = march(methods[m], PBD_PRECISION_F64, 8, &scene, words, 0.002, 12);
            double *single = march(methods[m], PBD_PRECISION_F32, 1, &scene, words, 0.002, 12);
            expect_same_bits("3 threads", one, three, scene.particles.count);
            expect_same_bits("8 threads", one, eight, scene.particles.count);
            check_near("f32 against f64, m", largest_difference(one, single, scene.particles.count), 0, 1e-4);
#if !defined(__SANITIZE_THREAD__) /* a pthread per emulated thread is slow */
            double *emu = march_on(PBD_EMU, methods[m], PBD_PRECISION_F64, 1, &scene, words, 0.002, 12);
            check_near("emu against cpu, m", largest_difference(one, emu, scene.particles.count), 0, 1e-11);
            free(emu);
#endif
            free(one), free(three), free(eight), free(single);
            pbd_scene_free(&scene);
        }
}

/* The floor moves, so the saved state must include the time. */
static void test_saved_and_loaded(void **unused) {
    (void)unused;
    trial t;
    solver s;
    open_case(&t, "bounce", "pose=corner gap=0 friction=0.4 cells=2");
    t.scene.colliders.item[0].velocity[2] = 1.5;
    t.scene.colliders.item[0].spin[0] = 2;
    t.scene.colliders.item[0].begin = 0.004;
    t.scene.colliders.item[0].end = 0.03;
    solver_open(&s, "strain_energy", PBD_PRECISION_F32, 1, &t.scene, "");
    size_t bytes = 0;
    check_ok(s.method->save(s.state, NULL, &bytes));
    void *blob = malloc(bytes);
    for (int i = 0; i < 20; i++) {
        if (i == 10) check_ok(s.method->save(s.state, blob, &bytes));
        check_ok(s.method->step(s.state, 0.001));
    }
    double *first = positions_of(&s, t.scene.particles.count);
    check_ok(s.method->load(s.state, blob, bytes));
    for (int i = 10; i < 20; i++) check_ok(s.method->step(s.state, 0.001));
    double *again = positions_of(&s, t.scene.particles.count);
    expect_same_bits("after loading", first, again, t.scene.particles.count);
    free(first), free(again), free(blob);
    solver_close(&s);
    close_case(&t);
}

/* ---- The cases --------------------------------------------------------------------------------------------------- */

/* The metrics by hand, for prescribed positions and velocities of a body. */
static void test_bounce_measures_what_it_says(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "bounce", "v0=3 gap=0.25 gravity=0 cells=1 duration=1 length=1 width=0.5 E=100 density=4");
    double lowest = INFINITY;
    for (size_t i = 0; i < t.scene.particles.count; i++) lowest = fmin(lowest, t.x[3 * i + 2]);
    check_near("lowest at the start, m", lowest, 0.25, 1e-15);
    static const struct {
        double z, speed; /* m and m/s, of the whole body, relative to the start */
    } at[] = {{0, -3}, {-0.25, -3}, {-0.3, 1}, {-0.25, 2}, {0, 2.4}, {0.1, 2.4}};
    const size_t n = t.scene.particles.count;
    double *start = malloc(3 * n * sizeof *start);
    memcpy(start, t.x, 3 * n * sizeof *start);
    for (int k = 0; k < 6; k++) {
        for (size_t i = 0; i < n; i++) {
            t.x[3 * i + 2] = start[3 * i + 2] + at[k].z;
            t.v[3 * i + 2] = at[k].speed;
        }
        observe(&t, 0.1 * k);
    }
    const told_state state = {t.x, t.v};
    check_ok(t.c->measure(&t.setup, &telling, &state, t.recorder));
    check_metric(&t, "restitution", 2.4 / 3, 1e-12);
    check_metric(&t, "contact_time", 0.3, 1e-12);
    check_metric(&t, "contact_time_ratio", 0.3 / (2 * 1 / 5.0), 1e-12); /* c = sqrt(100/4) = 5 m/s */
    check_metric(&t, "deepest_below_floor", 0.05, 1e-12);
    check_metric(&t, "largest_speed", 3, 1e-12); /* at the sample of first contact */
    check_metric(&t, "energy_loss", 1 - 2.4 * 2.4 / 9, 1e-12);
    check_metric(&t, "energy_rise", 0, 1e-12);
    check_metric(&t, "rest_shape_error", 0, 1e-12);
    check_metric(&t, "collapsed", 0, 0);
    for (size_t i = 0; i < n; i++) t.x[3 * i] *= -0.2; /* flattened and mirrored: collapsed */
    check_ok(t.c->measure(&t.setup, &telling, &state, t.recorder));
    check_metric(&t, "collapsed", 1, 0);
    free(start);
    close_case(&t);
}

static void test_corner_points_down(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "bounce", "pose=corner length=0.5 width=0.5 cells=1 gap=0.1");
    size_t low = 0;
    double highest = 0;
    for (size_t i = 0; i < t.scene.particles.count; i++) {
        low += t.x[3 * i + 2] < 0.1 + 1e-9;
        highest = fmax(highest, t.x[3 * i + 2]);
    }
    assert_int_equal(low, 1);
    check_near("a cube on its corner is sqrt(3) edges high, m", highest - 0.1, 0.5 * sqrt(3), 1e-12);
    close_case(&t);
}

/* After the balls have fallen and bounced off, an elastic plate is flat again, and a plastic one stays bent. */
static void test_balls_on_a_plate(void **unused) {
    (void)unused;
    double kept[2];
    for (int plastic = 0; plastic < 2; plastic++) {
        trial t;
        solver s;
        open_case(
            &t, "heavy_drop",
            plastic ? "loading=falling cells=4 duration=4 yield_strain=0.02" : "loading=falling cells=4 duration=4");
        run_case(&t, &s, "strain_energy", PBD_PRECISION_F64, "damping=2 iterations=5", 0.005);
        kept[plastic] = metric_of(&s, "kept_deflection");
        print_message("    %s: deflected %.3g m, kept %.3g of it, balls rose by %.3g m, %.3g m deep at most\n",
                      plastic ? "plastic" : "elastic", metric_of(&s, "largest_deflection"), kept[plastic],
                      metric_of(&s, "ball_rise"), metric_of(&s, "deepest_penetration"));
        assert_true(metric_of(&s, "most_contact_pairs") > 2);
        if (!plastic) assert_true(metric_of(&s, "ball_rise") > 0.01);
        assert_true(metric_of(&s, "deepest_penetration") < 0.1 * (0.08 + 0.075));
        solver_close(&s);
        close_case(&t);
    }
    check_near("elastic: kept", kept[0], 0, 0.02);
    assert_true(kept[1] > 0.3);
}

static void refuse_case(const char *name, const char *words, const char *says) {
    trial t;
    const pbd_status status = try_case(&t, name, words);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    if (!strstr(status.text, says)) fail_msg("'%s' does not speak of '%s'", status.text, says);
}

static void test_bad_input(void **unused) {
    (void)unused;
    refuse_case("bounce", "v0=-1", "v0");
    refuse_case("bounce", "pose=edge", "pose");
    refuse_case("heavy_drop", "loading=falling objects=9", "overlap");
    refuse_case("heavy_drop", "loading=falling object_mass=0", "object_mass");
    trial t;
    solver s;
    open_case(&t, "bounce", "");
    t.scene.colliders.item[0].axis[2][2] = 0;
    const pbd_status status = try_open(&s, "strain_based", PBD_PRECISION_F64, 1, &t.scene, "");
    assert_int_equal(status.code, PBD_BAD_INPUT);
    assert_non_null(strstr(status.text, "invalid frame"));
    assert_int_equal(pbd_exec_read_totals(s.exec).allocated, 0); /* nothing is left behind */
    s.method = NULL;
    solver_close(&s);
    close_case(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moving_floor),       cmocka_unit_test(test_forces_balance),
        cmocka_unit_test(test_bar_on_its_end),     cmocka_unit_test(test_bar_of_implicit_solvers),
        cmocka_unit_test(test_same_minimum),       cmocka_unit_test(test_same_minimum_of_an_uneven_mesh),
        cmocka_unit_test(test_implicit_threads),   cmocka_unit_test(test_implicit_refusals),
        cmocka_unit_test(test_mesh_floor),         cmocka_unit_test(test_block_on_a_slope),
        cmocka_unit_test(test_two_bars_meet),      cmocka_unit_test(test_threads_backends_precisions),
        cmocka_unit_test(test_saved_and_loaded),   cmocka_unit_test(test_bounce_measures_what_it_says),
        cmocka_unit_test(test_corner_points_down), cmocka_unit_test(test_balls_on_a_plate),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests_name("bounce", tests, NULL, NULL);
}
