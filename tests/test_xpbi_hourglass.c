/* Control of xpbi's zero-energy mode of alternating layers: springs on deviations (hourglass_control), and the penalty
 * on velocities. */
#include "tests/sanitized.h"
#include "tests/xpbi_scenes.h"

/* ---- Hourglass control ------------------------------------------------------------------------------------------- */

/* Control does not resist rigid motion of a cloud of uneven particles, to second order in dt omega, so it exerts no
 * torque either. */
static void test_hourglass_control_lets_bodies_turn(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_lattice(&scene, (const size_t[]){6, 5, 4}, 0.3, 0.3);
    for (size_t p = 0; p < scene.particles.count; p++) {
        const double *x = scene.particles.positions + 3 * p;
        double *v = scene.particles.velocities + 3 * p;
        v[0] = 1e-6 * (3 - 0.7 * x[1] + 0.4 * x[2]);
        v[1] = 1e-6 * (1 + 0.7 * x[0] - 0.9 * x[2]);
        v[2] = 1e-6 * (-2 - 0.4 * x[0] + 0.9 * x[1]);
    }
    solver s;
    solver_open(&s, "xpbi", PBD_PRECISION_F64, 1, &scene,
                "kernel=current xsph=0 position_correction=off hourglass_control=1");
    check_steps(&s, 1e-3, 5);
    double *v = velocities_of(&s, scene.particles.count), worst = 0;
    for (size_t k = 0; k < 3 * scene.particles.count; k++)
        worst = fmax(worst, fabs(v[k] - scene.particles.velocities[k]));
    check_near("velocities of a body that turns, of 1e-6 m/s", worst, 0, 1e-13);
    free(v);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* Displacement, m, of alternating layers of a lattice, which no interior gradient sees; only control stops them. */
static double way_of_layers(const char *words) {
    pbd_scene scene;
    solver s;
    make_lattice(&scene, (const size_t[]){9, 5, 5}, 0, 0);
    for (size_t p = 0; p < scene.particles.count; p++) scene.particles.velocities[3 * p + 2] = p % 9 % 2 ? -0.1 : 0.1;
    solver_open(&s, "xpbi", PBD_PRECISION_F64, 1, &scene, words);
    check_steps(&s, 2e-3, 50);
    double *x = positions_of(&s, scene.particles.count);
    const size_t middle = 4 + 9 * (2 + 5 * 2);
    const double way = x[3 * middle + 2] - scene.particles.positions[3 * middle + 2];
    free(x);
    solver_close(&s);
    pbd_scene_free(&scene);
    return way;
}

static void test_hourglass_control_sees_layers(void **unused) {
    (void)unused;
    skip_if_sanitized();
    check_near("way of a layer without, m", way_of_layers(PAPERS_PLAIN), 0.01, 0.004);
    /* With springs of omega^2 >= zeta E/(rho r^2) the amplitude is at most u/omega. */
    const double most = 0.1 * sqrt(1000 * 0.01 / 1e4);
    check_near("way of a layer with it, m",
               way_of_layers("kernel=current xsph=0 position_correction=off hourglass_control=1"), 0, most);
}

/* ---- The penalty on velocities ----------------------------------------------------------------------------------- */

#define PENALTY "kernel=current xsph=0 position_correction=off hourglass_form=penalty "

/* The penalty of the first step adds dt a to the velocities of the second, measured as the difference to a run without
 * it. After one short step from a known state, a follows from the formula over all pairs. */
static void test_penalty_by_its_formula(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_lattice(&scene, (const size_t[]){5, 4, 4}, 0.2, 0.3);
    set_noise_velocities(&scene, 1e-3);
    const size_t n = scene.particles.count;
    const double dt = 1e-6, xi = 2, G = 1e4 / 2.6, h = 0.1;
    double *v[2], *wanted = calloc(3 * n, sizeof *wanted), worst = 0, most = 0;
    static const char *const words[] = {PENALTY "hourglass_control=0", PENALTY "hourglass_control=2"};
    for (int k = 0; k < 2; k++) {
        solver s;
        solver_open(&s, "xpbi", PBD_PRECISION_F64, 1, &scene, words[k]);
        check_steps(&s, dt, 2);
        v[k] = velocities_of(&s, n);
        solver_close(&s);
    }
    const xpbi_formulas f = formulas_at(&scene, scene.particles.positions, h);
    const double *u = scene.particles.velocities;
    double *gradient = calloc(9 * n, sizeof *gradient);
    for (size_t p = 0; p < n; p++)
        for (size_t b = 0; b < n; b++)
            for (size_t e = 0; e < 9; e++)
                gradient[9 * p + e] += (u[3 * b + e / 3] - u[3 * p + e / 3]) * f.a[3 * (n * p + b) + e % 3];
    for (size_t p = 0; p < n; p++)
        for (size_t b = 0; b < n; b++) {
            double d[3], g[3], square = 0, along = 0;
            for (size_t k = 0; k < 3; k++)
                d[k] = scene.particles.positions[3 * b + k] - scene.particles.positions[3 * p + k];
            wendland_gradient(d, h, g);
            for (int k = 0; k < 3; k++) square += d[k] * d[k], along += g[k] * d[k];
            if (b == p || square == 0) continue;
            const double weight = -along / square * scene.particles.volumes[b]; /* W'/r V_b */
            for (size_t k = 0; k < 3; k++) {
                double off = u[3 * p + k] - u[3 * b + k];
                for (size_t e = 0; e < 3; e++)
                    off += 0.5 * (gradient[9 * p + 3 * k + e] + gradient[9 * b + 3 * k + e]) * d[e];
                wanted[3 * p + k] +=
                    dt * dt * xi * G * scene.particles.volumes[p] / scene.particles.masses[p] * weight * off;
            }
        }
    for (size_t k = 0; k < 3 * n; k++) {
        worst = fmax(worst, fabs(v[1][k] - v[0][k] - wanted[k]));
        most = fmax(most, fabs(wanted[k]));
    }
    check_near("dt a by all pairs, relative", worst / most, 0, 1e-4);
    for (int k = 0; k < 2; k++) free(v[k]);
    free(wanted);
    free(gradient);
    free(f.a);
    pbd_scene_free(&scene);
}

static void test_penalty_sees_layers(void **unused) {
    (void)unused;
    skip_if_sanitized();
    const double most = 0.1 * sqrt(1000 * 0.01 / 1e4);
    check_near("way of a layer with a penalty, m", way_of_layers(PENALTY "hourglass_control=1"), 0, most);
}

/* The relative loss of angular momentum of a free body, with random initial velocities, after a quarter turn. */
static double spin_lost(const char *words) {
    pbd_scene scene;
    solver s;
    const double spin = 1;
    make_lattice(&scene, (const size_t[]){5, 4, 3}, 0.2, 0);
    const size_t n = scene.particles.count;
    set_noise_velocities(&scene, 0.05);
    for (size_t p = 0; p < n; p++) {
        scene.particles.velocities[3 * p] -= spin * (scene.particles.positions[3 * p + 1] + 0.03);
        scene.particles.velocities[3 * p + 1] += spin * (scene.particles.positions[3 * p] - 0.02);
    }
    double about[2] = {0};
    solver_open(&s, "xpbi", PBD_PRECISION_F64, 1, &scene, words);
    for (int k = 0; k < 2; k++) {
        double *x = positions_of(&s, n), *v = velocities_of(&s, n), centre[2] = {0}, drift[2] = {0}, mass = 0;
        for (size_t p = 0; p < n; p++) {
            mass += scene.particles.masses[p];
            for (size_t d = 0; d < 2; d++) {
                centre[d] += scene.particles.masses[p] * x[3 * p + d];
                drift[d] += scene.particles.masses[p] * v[3 * p + d];
            }
        }
        for (size_t p = 0; p < n; p++)
            about[k] += scene.particles.masses[p] * ((x[3 * p] - centre[0] / mass) * (v[3 * p + 1] - drift[1] / mass) -
                                                     (x[3 * p + 1] - centre[1] / mass) * (v[3 * p] - drift[0] / mass));
        free(x);
        free(v);
        if (k == 0) check_steps(&s, 1e-3, (int)(1570 / spin));
    }
    solver_close(&s);
    pbd_scene_free(&scene);
    return 1 - about[1] / about[0];
}

/* A known fault: the accumulated penalty is not rotated with the body, so its torque is not 0. */
static void test_penalty_turns_bodies(void **unused) {
    (void)unused;
    skip_if_sanitized();
    const double none = spin_lost(PAPERS_PLAIN);
    const double springs = spin_lost("kernel=current xsph=0 position_correction=off hourglass_control=1");
    const double penalty = spin_lost(PENALTY "hourglass_control=1");
    print_message("    angular momentum lost: %.3g without control, %.3g by springs, %.3g by the penalty\n", none,
                  springs, penalty);
    check_near("springs", springs, none, 0.02);
    assert_true(fabs(penalty - none) > 10 * fabs(springs - none));
}
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hourglass_control_lets_bodies_turn),
        cmocka_unit_test(test_hourglass_control_sees_layers),
        cmocka_unit_test(test_penalty_by_its_formula),
        cmocka_unit_test(test_penalty_sees_layers),
        cmocka_unit_test(test_penalty_turns_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
