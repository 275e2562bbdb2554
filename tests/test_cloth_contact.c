/* Cloth within xpbi: contact of particles with triangles against results by hand, momentum, threads, backends, saved
 * states; and the metrics of the case paint_on_cloth. */
#include "tests/trial.h"

/* ---- Scenes ------------------------------------------------------------------------------------------------------ */

enum { ROOM = 400 };

typedef struct scene_rows {
    pbd_scene scene;
    double x[3 * ROOM], v[3 * ROOM], mass[ROOM], radius[ROOM];
    uint8_t matter[ROOM];
    uint32_t triangle[3 * ROOM], fixed[ROOM];
} scene_rows;

static scene_rows *new_scene(void) {
    scene_rows *s = calloc(1, sizeof *s);
    s->scene = (pbd_scene){.particles.positions = s->x,
                           .particles.velocities = s->v,
                           .particles.masses = s->mass,
                           .contact.radius = s->radius,
                           .particles.material = s->matter, /* each at the index of its matter */
                           .materials = 3,
                           .triangles.corner = s->triangle,
                           .particles.fixed_particle = s->fixed,
                           .particles.spacing = 0.1,
                           .extent = 1};
    s->scene.material[0] = (pbd_material){.E = 1e4, .nu = 0.3, .density = 1000, .law = "hencky"};
    s->scene.material[PBD_FLUID] = (pbd_material){.matter = PBD_FLUID, .density = 1000};
    s->scene.material[PBD_CLOTH] =
        (pbd_material){.matter = PBD_CLOTH, .E = 1e5, .nu = 0.3, .density = 1000, .law = "stvk", .thickness = 0.01};
    return s;
}

static size_t add_particle(scene_rows *s, double x, double y, double z, double mass, double radius, pbd_matter matter) {
    const size_t i = s->scene.particles.count++;
    const double at[3] = {x, y, z};
    assert_true(i < ROOM);
    memcpy(s->x + 3 * i, at, sizeof at);
    s->mass[i] = mass;
    s->radius[i] = radius;
    s->matter[i] = (uint8_t)matter;
    return i;
}

static void add_triangle(scene_rows *s, size_t a, size_t b, size_t c) {
    uint32_t *t = s->triangle + 3 * s->scene.triangles.count++;
    t[0] = (uint32_t)a, t[1] = (uint32_t)b, t[2] = (uint32_t)c;
}

/* Adds n x n squares of edge h in the plane z = 0, centred at the origin. */
static void add_sheet(scene_rows *s, int n, double h, double mass, bool held) {
    const size_t first = s->scene.particles.count, side = (size_t)n + 1;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= n; j++) {
            const size_t p = add_particle(s, h * (i - 0.5 * n), h * (j - 0.5 * n), 0, mass, 0.01, PBD_CLOTH);
            if (held) s->fixed[s->scene.particles.fixed++] = (uint32_t)p;
        }
    for (size_t i = 0; i < (size_t)n; i++)
        for (size_t j = 0; j < (size_t)n; j++) {
            const size_t a = first + i * side + j;
            add_triangle(s, a, a + side, a + side + 1);
            add_triangle(s, a, a + side + 1, a + 1);
        }
}

/* A cube of particles that hits a free sheet below it. */
static scene_rows *new_collision(void) {
    scene_rows *s = new_scene();
    uint64_t seed = 3;
    add_sheet(s, 6, 0.12, 0.3, false);
    for (int i = 0; i < 64; i++) {
        const size_t p = add_particle(s, 0.1 * (i % 4 - 1.5) + 0.01 * noise(&seed), 0.1 * (i / 4 % 4 - 1.5),
                                      0.09 + 0.1 * (i / 16), 1, 0.05, PBD_CONTINUUM);
        s->v[3 * p] = 0.5;
        s->v[3 * p + 2] = -2;
    }
    s->scene.material[PBD_CLOTH].bending = 0.1;
    s->scene.contact.friction = 0.4;
    return s;
}

static double *velocities_of(const solver *s, size_t particles) {
    double *v = malloc((3 * particles + 1) * sizeof *v);
    check_ok(s->method->read(s->state, PBD_VELOCITIES, v));
    return v;
}

static const char *const plain = "kernel=current hourglass_control=0 iterations=20 xsph=0 correction_time=0 dt=1e-3";

/* ---- By hand ----------------------------------------------------------------------------------------------------- */

/* A particle falls on the centre of a free triangle, whose effective mass there is 1/sum(b^2/m) = 3 m; both continue at
 * a common velocity. */
static void test_hits_a_triangle(void **unused) {
    (void)unused;
    for (int precision = 0; precision < 2; precision++) {
        scene_rows *s = new_scene();
        const size_t a = add_particle(s, 0, 0, 0, 0.7, 0.01, PBD_CLOTH),
                     b = add_particle(s, 1, 0, 0, 0.7, 0.01, PBD_CLOTH);
        const size_t c = add_particle(s, 0, 1, 0, 0.7, 0.01, PBD_CLOTH);
        add_triangle(s, a, precision ? c : b, precision ? b : c); /* from its front, from its back */
        const size_t p = add_particle(s, 1 / 3.0, 1 / 3.0, 0.062, 2, 0.05, PBD_CONTINUUM);
        s->v[3 * p + 2] = -3;
        solver m;
        solver_open(&m, "xpbi", (pbd_precision)precision, 1, &s->scene, plain);
        for (int i = 0; i < 5; i++) check_ok(m.method->step(m.state, 1e-3));
        double *v = velocities_of(&m, s->scene.particles.count), *x = positions_of(&m, s->scene.particles.count);
        const double wanted = -3 * 2 / (2 + 3 * 0.7), limit = precision ? 1e-12 : 1e-5;
        check_near("particle after, m/s", v[3 * p + 2], wanted, limit);
        check_near("corner after, m/s", v[3 * b + 2], wanted, limit);
        check_near("their distance, m", x[3 * p + 2] - x[3 * a + 2], 0.06, precision ? 1e-12 : 1e-6);
        free(v);
        free(x);
        solver_close(&m);
        free(s);
    }
}

/* A particle on a held sheet under inclined gravity: at rest if the slope is below the coefficient of friction; above,
 * it accelerates by the difference. */
static void test_friction(void **unused) {
    (void)unused;
    static const double slope[] = {0.3, 0.8};
    for (int k = 0; k < 2; k++) {
        scene_rows *s = new_scene();
        add_sheet(s, 4, 0.5, 1, true);
        const size_t p = add_particle(s, -0.8, 0.03, 0.06, 2, 0.05, PBD_CONTINUUM);
        s->scene.contact.friction = 0.5;
        s->scene.loads.gravity[2] = -10;
        s->scene.loads.gravity[0] = 10 * slope[k];
        solver m;
        solver_open(&m, "xpbi", PBD_PRECISION_F64, 1, &s->scene, plain);
        for (int i = 0; i < 400; i++) check_ok(m.method->step(m.state, 1e-3));
        double *v = velocities_of(&m, s->scene.particles.count), *x = positions_of(&m, s->scene.particles.count);
        const double wanted = k ? 10 * (slope[k] - 0.5) * 0.4 : 0;
        check_near("velocity along the sheet, m/s", v[3 * p], wanted, 1e-9);
        check_near("height over it, m", x[3 * p + 2], 0.06, 1e-9);
        free(v);
        free(x);
        solver_close(&m);
        free(s);
    }
}

/* ---- Two bodies -------------------------------------------------------------------------------------------------- */

static void test_momentum(void **unused) {
    (void)unused;
    for (int precision = 0; precision < 2; precision++) {
        scene_rows *s = new_collision();
        const size_t n = s->scene.particles.count;
        double sum[3] = {0}, size = 0;
        solver m;
        for (size_t i = 0; i < 3 * n; i++)
            sum[i % 3] -= s->mass[i / 3] * s->v[i], size += s->mass[i / 3] * fabs(s->v[i]);
        solver_open(&m, "xpbi", (pbd_precision)precision, 1, &s->scene,
                    "kernel=current hourglass_control=0 iterations=10 dt=1e-3");
        for (int i = 0; i < 60; i++) check_ok(m.method->step(m.state, 1e-3));
        double *v = velocities_of(&m, n), *x = positions_of(&m, n), cloth = 0, least = 1;
        for (size_t i = 0; i < 3 * n; i++) sum[i % 3] += s->mass[i / 3] * v[i];
        for (size_t i = 0; i < 49; i++) cloth += s->mass[i] * v[3 * i + 2];
        for (size_t i = 49; i < n; i++) least = fmin(least, x[3 * i + 2] - x[3 * 24 + 2]);
        for (int d = 0; d < 3; d++) check_near("momentum made, relative", sum[d] / size, 0, precision ? 1e-13 : 1e-5);
        print_message("    the cloth took %.3g of the momentum; deepest %.3g m\n", -cloth / 128,
                      metric_of(&m, "cloth_penetration"));
        assert_true(cloth < -5);
        assert_true(metric_of(&m, "cloth_penetration") < 0.02);
        free(v);
        free(x);
        solver_close(&m);
        free(s);
    }
}

static double *collide_on(int threads, pbd_precision precision) {
    scene_rows *s = new_collision();
    solver m;
    check_ok(try_open_on(PBD_CPU, &m, "xpbi", precision, threads, &s->scene,
                         "kernel=current hourglass_control=0 iterations=5 dt=1e-3"));
    for (int i = 0; i < 40; i++) check_ok(m.method->step(m.state, 1e-3));
    double *x = positions_of(&m, s->scene.particles.count);
    solver_close(&m);
    free(s);
    return x;
}

static void expect_near_rows(const char *what, const double *a, const double *b, double limit) {
    double worst = 0;
    for (size_t i = 0; i < 3 * 113; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    check_near(what, worst, 0, limit);
}

static void test_machine(void **unused) {
    (void)unused;
    for (int precision = 0; precision < 2; precision++) {
        double *one = collide_on(1, (pbd_precision)precision);
        double *three = collide_on(3, (pbd_precision)precision);
        expect_near_rows("three threads, m", one, three, 0);
        free(one);
        free(three);
    }
}

/* Opens a solver on a backend in a state with active contact: loads the blob or, if NULL, steps to it. */
static void open_in_contact(int backend, solver *m, const pbd_scene *scene, const char *blob, size_t bytes) {
    check_ok(try_open_on(backend, m, "xpbi", PBD_PRECISION_F64, 1, scene,
                         "kernel=current hourglass_control=0 iterations=5 dt=1e-3"));
    if (blob) check_ok(m->method->load(m->state, blob, bytes));
    for (int i = 0; i < 20 && !blob; i++) check_ok(m->method->step(m->state, 1e-3));
}

static double *step_on(solver *m, size_t particles, int steps) {
    for (int i = 0; i < steps; i++) check_ok(m->method->step(m->state, 1e-3));
    return positions_of(m, particles);
}

/* Steps from a saved state are bitwise the same. Those of the emulation agree up to rounding; they are few, since one
 * takes seconds. */
static void test_save_and_emulation(void **unused) {
    (void)unused;
    scene_rows *s = new_collision();
    const size_t n = s->scene.particles.count;
    solver first, again, emulated;
    size_t bytes = 0;
    open_in_contact(PBD_CPU, &first, &s->scene, NULL, 0);
    check_ok(first.method->save(first.state, NULL, &bytes));
    char *blob = malloc(bytes);
    check_ok(first.method->save(first.state, blob, &bytes));
    open_in_contact(PBD_CPU, &again, &s->scene, blob, bytes);
    double *two = step_on(&again, n, 2), *twenty = step_on(&again, n, 18), *same = step_on(&first, n, 20);
    expect_near_rows("from a saved state, m", same, twenty, 0);
#if !defined(__SANITIZE_THREAD__) /* a pthread per emulated thread is slow */
    open_in_contact(PBD_EMU, &emulated, &s->scene, blob, bytes);
    double *emu = step_on(&emulated, n, 2);
    expect_near_rows("emu against cpu, m", two, emu, 1e-9);
    free(emu);
    solver_close(&emulated);
#else
    (void)emulated;
#endif
    free(two);
    free(twenty);
    free(same);
    free(blob);
    solver_close(&first);
    solver_close(&again);
    free(s);
}

/* ---- The case ---------------------------------------------------------------------------------------------------- */

static void test_case(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "paint_on_cloth", "particles=300 cells=4 held=none gravity=2 speed=3 spacing=0");
    const size_t cloth = 25, paint = t.scene.particles.count - cloth;
    assert_int_equal(t.scene.triangles.count, 32);
    assert_int_equal(pbd_matter_of(&t.scene, 0), PBD_CONTINUUM);
    assert_int_equal(pbd_matter_of(&t.scene, paint), PBD_CLOTH);
    double mass = 0;
    for (size_t i = paint; i < t.scene.particles.count; i++) mass += t.scene.particles.masses[i];
    check_near("mass of the cloth, kg", mass, 0.64 * 1e-3 * 300, 1e-12);
    /* All particles fall freely for 0.1 s, but a tenth of the paint gets another velocity: unphysical momentum. */
    for (size_t i = 0; i < paint; i++) t.v[3 * i + 2] = -3;
    observe(&t, 0);
    for (size_t i = 0; i < t.scene.particles.count; i++) t.v[3 * i + 2] -= 0.2;
    for (size_t i = 0; i < paint / 10; i++) t.v[3 * i] = 1.5;
    observe(&t, 0.1);
    measure(&t);
    check_metric(&t, "momentum_error", 0.1 * 0.5, 1e-12);
    check_metric(&t, "penetration_max", 0, 1e-12);
    check_metric(&t, "particles_lost", 0, 0);
    /* One particle is at half the contact distance from the cloth, one has passed through, one is not finite. */
    const double distance = t.scene.contact.radius[0] + t.scene.contact.radius[paint];
    const double in[3] = {0.11, 0.02, 0.5 * distance}, through[3] = {0.1, 0.1, -0.2};
    memcpy(t.x, in, sizeof in);
    memcpy(t.x + 3, through, sizeof through);
    measure(&t);
    check_metric(&t, "penetration_over_distance", 0.5, 1e-9);
    check_metric(&t, "particles_lost", 1, 0);
    close_case(&t);
    static const char *const bad[][3] = {{"paint_on_cloth", "diameter=0.9", "diameter=0.9"},
                                         {"paint_on_cloth", "cells=1", "cells"},
                                         {"paint_on_cloth", "held=rims", "held"},
                                         {"paint_on_cloth", "cloth_nu=0.5", "cloth_nu"}};
    check_refusals(bad, sizeof bad / sizeof *bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hits_a_triangle),    cmocka_unit_test(test_friction),
        cmocka_unit_test(test_momentum),           cmocka_unit_test(test_machine),
        cmocka_unit_test(test_save_and_emulation), cmocka_unit_test(test_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
