/* desbrun_sph against a direct implementation of the paper's equations: forces as gradients of an energy, conservation,
 * the order in time, individual time steps, and invalid input. */
#include "tests/smoothed_particles.h"

/* ---- Solvers ----------------------------------------------------------------------------------------------------- */

/* Accelerations at the scene's positions, from a step too short for any motion. */
static void accelerations(const pbd_scene *scene, const char *words, double *out) {
    const double dt = 1e-9;
    char all[300];
    solver s;
    snprintf(all, sizeof all, "steps=fixed %s", words);
    solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, scene, all);
    steps_of(&s, dt, 1);
    check_ok(s.method->read(s.state, PBD_VELOCITIES, out));
    for (size_t i = 0; i < 3 * scene->particles.count; i++) out[i] = (out[i] - scene->particles.velocities[i]) / dt;
    solver_close(&s);
}

/* Returns the positions after `time`, s; the caller frees them. */
static double *run_for(const pbd_scene *scene, const char *words, double dt, double time) {
    solver s;
    double *x = malloc(3 * scene->particles.count * sizeof *x);
    solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, scene, words);
    steps_of(&s, dt, lround(time / dt));
    check_ok(s.method->read(s.state, PBD_POSITIONS, x));
    solver_close(&s);
    return x;
}

static double distance_of(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum / (double)count);
}

/* ---- Forces ------------------------------------------------------------------------------------------------------ */

static void test_forces_are_slopes_of_the_energy(void **unused) {
    (void)unused;
    for (int variant = 0; variant < 4; variant++) {
        const int dimensions = 2 + variant % 2;
        pbd_scene scene;
        make_cloud(&scene, dimensions, dimensions == 2 ? 6 : 4, 0.2, 0);
        const formulas f = {variant / 2 == 1, dimensions, 1.1 * SPACING, 7, mean_density(&scene, dimensions)};
        char words[200];
        double a[3 * MOST], worst = 0, largest = 0;
        snprintf(words, sizeof words, "dimensions=%d kernel=%s h=1.1 k=7 rest_density=%.17g", dimensions,
                 f.spline ? "cubic_spline" : "spiky", f.rest);
        accelerations(&scene, words, a);
        for (size_t i = 0; i < 3 * scene.particles.count; i++) {
            if (dimensions == 2 && i % 3 == 2) continue;
            const double was = scene.particles.positions[i], step = 1e-6 * SPACING;
            scene.particles.positions[i] = was + step;
            const double more = stored_energy(&f, &scene, scene.particles.positions);
            scene.particles.positions[i] = was - step;
            const double less = stored_energy(&f, &scene, scene.particles.positions);
            scene.particles.positions[i] = was;
            const double wanted = -(more - less) / (2 * step) / scene.particles.masses[i / 3];
            worst = fmax(worst, fabs(a[i] - wanted));
            largest = fmax(largest, fabs(wanted));
        }
        check_near(words, worst / largest, 0, 1e-6);
        pbd_scene_free(&scene);
    }
}

/* If no rest density is given, it is the density inside a lattice. */
static void test_density_of_a_lattice(void **unused) {
    (void)unused;
    for (int dimensions = 2; dimensions <= 3; dimensions++) {
        pbd_scene scene;
        char words[200];
        double given[3 * MOST], none[3 * MOST], worst = 0, mass = 0, sum = 0, largest = 0;
        make_cloud(&scene, dimensions, 5, 0.2, 0);
        const formulas f = {false, dimensions, 1.3 * SPACING, 0, 0};
        for (size_t p = 0; p < scene.particles.count; p++)
            mass += scene.particles.masses[p] / (double)scene.particles.count;
        for (int n = 0; n < 343; n++) {
            const double x = n % 7 - 3, y = n / 7 % 7 - 3, z = n / 49 - 3;
            if (dimensions == 3 || n / 49 == 3) sum += W(&f, SPACING * sqrt(x * x + y * y + z * z));
        }
        snprintf(words, sizeof words, "dimensions=%d h=1.3 rest_density=%.17g", dimensions, mass * sum);
        accelerations(&scene, words, given);
        snprintf(words, sizeof words, "dimensions=%d h=1.3", dimensions);
        accelerations(&scene, words, none);
        for (size_t i = 0; i < 3 * scene.particles.count; i++) {
            worst = fmax(worst, fabs(given[i] - none[i]));
            largest = fmax(largest, fabs(given[i]));
        }
        check_near(words, worst / largest, 0, 1e-12);
        pbd_scene_free(&scene);
    }
}

/* The force between two particles, divided by k m/h, for a rest length of h (claims, desbrun1996-fig3). */
static double pair_force(const char *kernel, double distance, int dimensions) {
    pbd_scene scene;
    char words[200];
    double a[6];
    open_scene(&scene, 2);
    const formulas f = {strcmp(kernel, "cubic_spline") == 0, dimensions, SPACING, 1, 0};
    scene.particles.masses[0] = scene.particles.masses[1] = 0.01;
    scene.particles.positions[3] = distance * SPACING;
    snprintf(words, sizeof words, "dimensions=%d h=1 k=1 c=0 kernel=%s rest_density=%.17g", dimensions, kernel,
             0.01 * (W(&f, 0) + W(&f, SPACING)));
    accelerations(&scene, words, a);
    pbd_scene_free(&scene);
    return a[3] * SPACING;
}

static void test_pair_force(void **unused) {
    (void)unused;
    check_near("at 0, approached", pair_force("spiky", 1e-9, 3), 0.656, 5e-4);
    check_near("at 0 itself", pair_force("spiky", 0, 3), 0.656, 5e-4);
    check_near("at h/4", pair_force("spiky", 0.25, 3), 0.449, 5e-4);
    check_near("at h/2", pair_force("spiky", 0.5, 3), 0.248, 5e-4);
    check_near("at rest", pair_force("spiky", 1, 3), 0, 1e-9);
    check_near("deepest", pair_force("spiky", 1.28, 3), -0.028, 5e-4);
    check_near("at 1.5 h", pair_force("spiky", 1.5, 3), -0.020, 5e-4);
    check_near("at 2h", pair_force("spiky", 2, 3), 0, 1e-12);
    check_near("spline at 1e-3 h", pair_force("cubic_spline", 1e-3, 3), 0.0011, 5e-5);
    check_near("spline at 0", pair_force("cubic_spline", 0, 3), 0, 0);
    check_near("spline, highest", pair_force("cubic_spline", 0.49, 3), 0.298, 5e-4);
    check_near("spline, deepest", pair_force("cubic_spline", 1.30, 3), -0.102, 5e-4);
    assert_true(pair_force("spiky", 0, 2) > 0.1);
}

/* Eq. 5 for two particles that meet head on, by hand. */
static void test_viscosity_of_a_pair(void **unused) {
    (void)unused;
    const double h = SPACING, m = 0.01, r = 0.8 * h, speed = 3, c = 2;
    pbd_scene scene;
    double a[6];
    open_scene(&scene, 2);
    scene.particles.masses[0] = scene.particles.masses[1] = m;
    scene.particles.positions[3] = r;
    scene.particles.velocities[0] = speed;
    const formulas f = {false, 2, h, 0, 0};
    accelerations(&scene, "dimensions=2 h=1 k=0 c=2", a);
    const double mu = -h * speed * r / (r * r + h * h / 100), density = m * (W(&f, 0) + W(&f, r));
    const double slope = -3 * 5 / (16 * M_PI * h * h) / h * pow(2 - r / h, 2); /* dW/dr */
    const double wanted = m * (-c * mu + 2 * mu * mu) / density * slope;       /* on particle 0: backwards */
    check_near("braked", a[0] / wanted, 1, 1e-6);
    check_near("pushed", a[3] / wanted, -1, 1e-6);
    scene.particles.velocities[0] = -speed; /* receding: none */
    accelerations(&scene, "dimensions=2 h=1 k=0 c=2", a);
    check_near("receding", a[0], 0, 0);
    pbd_scene_free(&scene);
}

static void test_rigid_motion_has_no_viscosity(void **unused) {
    (void)unused;
    pbd_scene scene;
    double a[3 * MOST], worst = 0;
    make_cloud(&scene, 3, 5, 0.2, 0);
    for (size_t p = 0; p < scene.particles.count; p++) {
        const double *x = scene.particles.positions + 3 * p, w[3] = {3, -2, 5};
        double *v = scene.particles.velocities + 3 * p;
        for (int d = 0; d < 3; d++) v[d] = 4 - d + w[(d + 1) % 3] * x[(d + 2) % 3] - w[(d + 2) % 3] * x[(d + 1) % 3];
    }
    accelerations(&scene, "k=0", a);
    for (size_t i = 0; i < 3 * scene.particles.count; i++) worst = fmax(worst, fabs(a[i]));
    check_near("acceleration, m/s^2", worst, 0, 1e-6); /* velocities are exact to 1e-15, divided by 1e-9 s */
    for (size_t p = 0; p < scene.particles.count; p++)
        scene.particles.velocities[3 * p] += 3 * scene.particles.positions[3 * p + 1];
    accelerations(&scene, "k=0", a);
    for (size_t i = 0; i < 3 * scene.particles.count; i++) worst = fmax(worst, fabs(a[i]));
    assert_true(worst > 0.1); /* a shear flow has viscosity */
    pbd_scene_free(&scene);
}

/* ---- What is kept ------------------------------------------------------------------------------------------------ */

static void momenta_of(const pbd_scene *s, const double *x, const double *v, double out[6]) {
    memset(out, 0, 6 * sizeof *out);
    for (size_t p = 0; p < s->particles.count; p++)
        for (size_t d = 0; d < 3; d++) {
            const size_t e = (d + 1) % 3, f = (d + 2) % 3;
            out[d] += s->particles.masses[p] * v[3 * p + d];
            out[3 + d] += s->particles.masses[p] * (x[3 * p + e] * v[3 * p + f] - x[3 * p + f] * v[3 * p + e]);
        }
}

/* With position_correction=off, positions are read as the method stores them. sum m x cross v then changes only by the
 * torque of the forces at mid-step, which is 0. The corrected positions differ by a dt^2/8. */
static void test_momenta(void **unused) {
    (void)unused;
    static const char *const words[] = {"dimensions=2 steps=fixed", "dimensions=3 steps=fixed kernel=cubic_spline",
                                        "dimensions=3 steps=global dt=0.002"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        pbd_scene scene;
        solver s;
        char all[200];
        double x[3 * MOST], v[3 * MOST], before[6], after[6], worst = 0, scale[2] = {0, 0};
        make_cloud(&scene, words[w][11] == '2' ? 2 : 3, SIDE, 0.3, 3);
        snprintf(all, sizeof all, "h=1.2 position_correction=off %s", words[w]);
        solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, &scene, all);
        read_state(&s, x, v);
        momenta_of(&scene, x, v, before);
        for (size_t i = 0; i < 3 * scene.particles.count; i++) scale[0] += scene.particles.masses[i / 3] * fabs(v[i]);
        scale[1] = scale[0] * SPACING * SIDE;
        for (int step = 0; step < 50; step++) {
            steps_of(&s, 0.002, 1);
            read_state(&s, x, v);
            momenta_of(&scene, x, v, after);
            for (int d = 0; d < 6; d++) worst = fmax(worst, fabs(after[d] - before[d]) / scale[d / 3]);
            memcpy(before, after, sizeof before);
        }
        check_near(all, worst, 0, 1e-12);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* Without viscosity E = kinetic + stored is conserved, with an error of second order in the step. So is the energy that
 * the method reports, although its densities are half a step old. */
static void test_energy_without_viscosity(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_cloud(&scene, 2, 8, 0.1, 0.3);
    const formulas f = {false, 2, 1.5 * SPACING, 10, mean_density(&scene, 2)};
    double start = stored_energy(&f, &scene, scene.particles.positions) + kinetic(&scene, scene.particles.velocities),
           lost[2], off[2];
    for (int fine = 0; fine < 2; fine++) {
        const double dt = fine ? 5e-4 : 1e-3;
        double x[3 * MOST], v[3 * MOST], internal;
        char words[200];
        solver s;
        snprintf(words, sizeof words,
                 "dimensions=2 h=1.5 steps=fixed viscosity=0 viscosity_quadratic=0 rest_density=%.17g", f.rest);
        solver_open(&s, "desbrun_sph", PBD_PRECISION_F64, 1, &scene, words);
        lost[fine] = off[fine] = 0;
        check_ok(s.method->read(s.state, PBD_INTERNAL_ENERGY, &internal));
        check_near("internal energy of the start", internal / stored_energy(&f, &scene, scene.particles.positions), 1,
                   1e-12);
        for (int step = 0; step < 200 << fine; step++) {
            steps_of(&s, dt, 1);
            read_state(&s, x, v);
            check_ok(s.method->read(s.state, PBD_INTERNAL_ENERGY, &internal));
            lost[fine] = fmax(lost[fine], fabs(stored_energy(&f, &scene, x) + kinetic(&scene, v) - start));
            off[fine] = fmax(off[fine], fabs(internal - stored_energy(&f, &scene, x)));
        }
        solver_close(&s);
    }
    const double moving = kinetic(&scene, scene.particles.velocities);
    check_near("energy off by, of the kinetic at the start, 1 ms", lost[0] / moving, 0, 0.02);
    check_near("over that at 0.5 ms", lost[0] / lost[1], 4, 1.2);
    check_near("internal energy off by, of the kinetic at the start, 1 ms", off[0] / moving, 0, 0.02);
    check_near("over that at 0.5 ms", off[0] / off[1], 4, 1.2);
    pbd_scene_free(&scene);
}

/* ---- Order in time ----------------------------------------------------------------------------------------------- */

/* A cloud under compression at all times: viscosity is never switched, which would cost an order of convergence. */
static void make_implosion(pbd_scene *scene) {
    make_cloud(scene, 2, 6, 0.1, 0);
    for (size_t i = 0; i < 3 * scene->particles.count; i++)
        scene->particles.velocities[i] = i % 3 < 2 ? -4 * (scene->particles.positions[i] - 2.5 * SPACING) : 0;
}

static double order_of(const pbd_scene *scene, const char *words, double dt) {
    const double time = 0.04;
    double *truth = run_for(scene, "dimensions=2 h=1.5 k=2 steps=fixed", dt / 64, time), off[2];
    for (int fine = 0; fine < 2; fine++) {
        double *x = run_for(scene, words, fine ? dt / 2 : dt, time);
        off[fine] = distance_of(x, truth, 3 * scene->particles.count);
        free(x);
    }
    free(truth);
    return log2(off[0] / off[1]);
}

static void test_order_of_fixed_steps(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_implosion(&scene);
    check_near("leapfrog", order_of(&scene, "dimensions=2 h=1.5 k=2 steps=fixed", 0.002), 2, 0.1);
    check_near("without predicted velocities",
               order_of(&scene, "dimensions=2 h=1.5 k=2 steps=fixed velocity_prediction=off", 0.002), 1, 0.15);
    pbd_scene_free(&scene);
}

/* Error with individual time steps. Scaling alpha and dt by `scale` scales all steps. */
static double own_steps_error(const pbd_scene *scene, const double *truth, const char *words, double scale) {
    char all[300];
    snprintf(all, sizeof all, "dimensions=2 h=1.5 k=2 steps=own alpha=%.17g %s", 0.3 * scale, words);
    double *x = run_for(scene, all, 0.008 * scale, 0.04);
    const double off = distance_of(x, truth, 3 * scene->particles.count);
    free(x);
    return off;
}

static void test_order_of_own_steps(void **unused) {
    (void)unused;
    static const char *const words[] = {"limiter=off", "limiter=4", "limiter=off neighbour_density=predicted",
                                        "limiter=off position_correction=off"};
    pbd_scene scene;
    make_implosion(&scene);
    for (size_t i = 0; i < 3; i++) scene.particles.velocities[i] *= 8; /* one particle is much faster */
    double *truth = run_for(&scene, "dimensions=2 h=1.5 k=2 steps=fixed", 1e-5, 0.04);
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        const double coarse = own_steps_error(&scene, truth, words[w], 1),
                     fine = own_steps_error(&scene, truth, words[w], 0.125);
        print_message("    %s: errors %.3g and %.3g m\n", words[w], coarse, fine);
        check_near(words[w], log2(coarse / fine) / 3, 2, 0.5);
    }
    free(truth);
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_are_slopes_of_the_energy),
        cmocka_unit_test(test_density_of_a_lattice),
        cmocka_unit_test(test_pair_force),
        cmocka_unit_test(test_viscosity_of_a_pair),
        cmocka_unit_test(test_rigid_motion_has_no_viscosity),
        cmocka_unit_test(test_momenta),
        cmocka_unit_test(test_energy_without_viscosity),
        cmocka_unit_test(test_order_of_fixed_steps),
        cmocka_unit_test(test_order_of_own_steps),
    };
    return cmocka_run_group_tests_name("desbrun_sph", tests, NULL, NULL);
}
