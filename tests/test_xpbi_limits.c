/* xpbi: convergence of iterations, stresses after flow, separation of particles, contact with a floor, refusals. */
#include "tests/xpbi_scenes.h"

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

/* sum V^0 psi, J. */
static double energy_of(const pbd_scene *s, const xpbi_formulas *f, const double *v, double dt) {
    double sum = 0, B[3][3];
    for (size_t p = 0; p < s->particles.count; p++) {
        xpbi_B_of(f, v, dt, p, B);
        const double c = constraint_of(s->material, B, FORM_ENERGY);
        sum += s->particles.volumes[p] * c * c / 2;
    }
    return sum;
}

/* The residual of M (v - v~) = -dt dE/dx, x = dt v, relative to the largest impulse: implicit Euler, and Eq. 15 as
 * corrected by Y-1 for C + alpha~ lambda = 0. */
static double euler_error(const pbd_scene *scene, const double *v, double dt) {
    const size_t n = 3 * scene->particles.count;
    xpbi_formulas f = formulas_at(scene, scene->particles.positions, 0.1);
    double *moved = malloc(n * sizeof *moved), worst = 0, scale = 0;
    memcpy(moved, v, n * sizeof *moved);
    for (size_t k = 0; k < n; k++) {
        const double eps = 1e-4;
        moved[k] = v[k] + eps;
        const double up = energy_of(scene, &f, moved, dt);
        moved[k] = v[k] - eps;
        const double force = -(up - energy_of(scene, &f, moved, dt)) / (2 * eps * dt);
        moved[k] = v[k];
        const double impulse = scene->particles.masses[k / 3] * (v[k] - scene->particles.velocities[k]);
        worst = fmax(worst, fabs(impulse - dt * force));
        scale = fmax(scale, fabs(impulse));
    }
    free(f.a);
    free(moved);
    return worst / scale;
}

/* constraint=stress reaches implicit Euler. The paper's scalar constraint does not: its direction rotates while lambda
 * grows. */
static void test_implicit_euler(void **unused) {
    (void)unused;
    static const struct {
        const char *words;
        double limit;
    } variant[] = {{"iterations=400 constraint=stress", 1e-6},
                   {"iterations=400 constraint=stress multipliers=stress", 1e-6},
                   {"iterations=3000 constraint=stress solver=jacobi", 1e-6}};
    for (size_t i = 0; i < sizeof variant / sizeof *variant; i++) {
        pbd_scene scene;
        char words[400];
        make_lattice(&scene, (const size_t[]){4, 3, 3}, 0.1, 0.3);
        set_noise_velocities(&scene, 1);
        plain_with(variant[i].words, words);
        double *v = velocities_after(&scene, words, 0.01, 1);
        check_near(words, euler_error(&scene, v, 0.01), 0, variant[i].limit);
        free(v);
        pbd_scene_free(&scene);
    }
}

/* The scalar constraint converges to C + alpha~ lambda = 0. */
static void test_residual_goes_to_zero(void **unused) {
    (void)unused;
    static const char *const variants[] = {"", "constraint=pair", "solver=jacobi", "constraint=stress"};
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        pbd_scene scene;
        solver s;
        char words[400], more[300];
        make_lattice(&scene, (const size_t[]){5, 4, 4}, 0.1, 0.3);
        set_noise_velocities(&scene, 0.2);
        snprintf(more, sizeof more, "residual=first iterations=1000 tolerance=1e-8 %s", variants[i]);
        plain_with(more, words);
        solver_open(&s, "xpbi", PBD_PRECISION_F64, 1, &scene, words);
        pbd_residual left = {.first = -1};
        s.method->watch(s.state, &left);
        check_steps(&s, 0.005, 1);
        check_near(words, pbd_residual_left(&left), 0, 1e-8);
        assert_true(left.first > 0);
        assert_true(metric_of(&s, "iterations_total") < 1000);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* ---- Flow -------------------------------------------------------------------------------------------------------- */

/* After a step the stored F is elastic: with von Mises |dev tau| is at most sqrt(2/3) of the yield stress. */
static void test_stored_F_is_within_yield(void **unused) {
    (void)unused;
    static const char *const variants[] = {"plasticity=implicit", "plasticity=semi_implicit"};
    for (int i = 0; i < 2; i++) {
        pbd_scene scene;
        solver s;
        make_lattice(&scene, (const size_t[]){6, 5, 4}, 0.1, 0);
        set_noise_velocities(&scene, 1);
        set_flow(&scene, "von_mises");
        solver_open(&s, "xpbi", PBD_PRECISION_F64, 1, &scene, variants[i]);
        check_steps(&s, 0.005, 3);
        double *f = gradients_of(&s, scene.particles.count), worst = 0;
        const double mu = scene.material->E / (2 * (1 + scene.material->nu));
        for (size_t p = 0; p < scene.particles.count; p++) {
            double F[3][3], e[3];
            memcpy(F, f + 9 * p, sizeof F);
            hencky_strains(F, e);
            const double mean = (e[0] + e[1] + e[2]) / 3;
            worst = fmax(worst, 2 * mu *
                                    sqrt((e[0] - mean) * (e[0] - mean) + (e[1] - mean) * (e[1] - mean) +
                                         (e[2] - mean) * (e[2] - mean)));
        }
        check_near(variants[i], worst / (sqrt(2.0 / 3) * 100), 1, 1e-9); /* some flows, none exceeds yield */
        free(f);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
}

/* ---- Nearness, colliders ----------------------------------------------------------------------------------------- */

/* Makes one step of two particles that start 0.02 m apart. */
static void part_a_pair(pbd_scene *scene, solver *s, const char *words) {
    make_lattice(scene, (const size_t[]){2, 1, 1}, 0, 0.3);
    scene->material->E = 1e-9;
    scene->particles.positions[3] = scene->particles.positions[0] + 0.02;
    char all[400];
    snprintf(all, sizeof all, PAPERS "%s", words);
    solver_open(s, "xpbi", PBD_PRECISION_F64, 1, scene, all);
    check_steps(s, 1e-3, 1);
}

static void test_pairs_are_kept_apart(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    part_a_pair(&scene, &s, "xsph=0 correction_time=0");
    double *x = positions_of(&s, 2);
    check_near("distance of a pair, m", x[3] - x[0], 0.075, 1e-12);
    const double m = scene.particles.masses[0] + scene.particles.masses[1];
    check_near("their centre stays, m",
               (scene.particles.masses[0] * x[0] + scene.particles.masses[1] * x[3]) / m -
                   (scene.particles.masses[0] * scene.particles.positions[0] +
                    scene.particles.masses[1] * scene.particles.positions[3]) /
                       m,
               0, 1e-15);
    free(x);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* Position shifts separate the pair equally, but do not enter velocities and F. */
static void test_shifts_are_unknown(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    part_a_pair(&scene, &s, "xsph=0 position_correction=shift correction_time=0");
    double *x = positions_of(&s, 2), *v = velocities_of(&s, 2), *f = gradients_of(&s, 2);
    check_near("distance of a pair, m", x[3] - x[0], 0.075, 1e-12);
    for (size_t k = 0; k < 6; k++) check_near("speed, m/s", v[k], 0, 0);
    for (size_t k = 0; k < 18; k++) check_near("F", f[k], k % 9 % 4 == 0, 0);
    free(x);
    free(v);
    free(f);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* Lone particles thrown at a floor, from heights below and above the distance of one step: none ends below the floor,
 * and those that do not reach it are unaffected by it. */
static void test_nobody_passes_a_floor(void **unused) {
    (void)unused;
    enum { THROWN = 40 };
    pbd_scene scene;
    solver s;
    make_lattice(&scene, (const size_t[]){THROWN, 1, 1}, 0, 0);
    scene.colliders.count = 1;
    scene.colliders.item = calloc(1, sizeof *scene.colliders.item);
    *scene.colliders.item = (pbd_collider){.shape = PBD_PLANE, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (size_t p = 0; p < THROWN; p++) {
        scene.particles.positions[3 * p] = 3 * (double)p;
        scene.particles.positions[3 * p + 2] = 1e-3 * (double)(p + 1) * (double)(p + 1); /* to 1.6 m */
        scene.particles.velocities[3 * p + 2] = -500;
    }
    solver_open(&s, "xpbi", PBD_PRECISION_F64, 1, &scene, PAPERS);
    check_steps(&s, 1e-3, 1);
    double *x = positions_of(&s, THROWN), worst = 0;
    for (size_t p = 0; p < THROWN; p++)
        worst = fmax(worst, fabs(x[3 * p + 2] - fmax(scene.particles.positions[3 * p + 2] - 0.5, 0)));
    check_near("heights after the step, m", worst, 0, 1e-14);
    free(x);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* A compressed block keeps its density with the constraint, but not without. */
static void test_density_is_kept(void **unused) {
    (void)unused;
    double least[2];
    for (int i = 0; i < 2; i++) {
        pbd_scene scene;
        solver s;
        make_lattice(&scene, (const size_t[]){8, 5, 5}, 0.02, 0);
        scene.material->E = 1e-3;
        for (size_t p = 0; p < scene.particles.count; p++)
            scene.particles.velocities[3 * p] = -1.5 * (scene.particles.positions[3 * p] - 0.12);
        solver_open(&s, "xpbi", PBD_PRECISION_F64, 1, &scene,
                    i ? PAPERS "position_correction=density xsph=0" : PAPERS "position_correction=off xsph=0");
        check_steps(&s, 1e-3, 100);
        double *f = gradients_of(&s, scene.particles.count);
        least[i] = 0;
        for (size_t p = 0; p < scene.particles.count; p++) {
            const double *e = f + 9 * p;
            least[i] += (e[0] * (e[4] * e[8] - e[5] * e[7]) - e[1] * (e[3] * e[8] - e[5] * e[6]) +
                         e[2] * (e[3] * e[7] - e[4] * e[6])) /
                        (double)scene.particles.count;
        }
        free(f);
        solver_close(&s);
        pbd_scene_free(&scene);
    }
    check_near("mean J without", least[0], 0.85, 0.01);
    check_near("mean J with the density constraint", least[1], 1, 0.07);
}

/* Two coincident particles are reported and separate, without NaN. */
static void test_coincident_particles(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_lattice(&scene, (const size_t[]){4, 4, 4}, 0, 0);
    memcpy(scene.particles.positions + 3, scene.particles.positions, 3 * sizeof(double));
    solver_open(&s, "xpbi", PBD_PRECISION_F32, 1, &scene, PAPERS);
    assert_int_equal(s.result.warnings, 1);
    assert_string_equal(s.result.warning[0].name, "coincident_particles");
    check_steps(&s, 1e-3, 20);
    double *x = positions_of(&s, scene.particles.count), square = 0;
    for (size_t k = 0; k < 3 * scene.particles.count; k++) assert_true(isfinite(x[k]));
    for (size_t d = 0; d < 3; d++) square += (x[d] - x[3 + d]) * (x[d] - x[3 + d]);
    if (!(square > 0.05 * 0.05)) fail_msg("the two are %g m apart", sqrt(square));
    free(x);
    solver_close(&s);
    pbd_scene_free(&scene);
}

/* ---- Bad input --------------------------------------------------------------------------------------------------- */

static void expect_refusal(const pbd_scene *scene, const char *words, pbd_code code, const char *says) {
    solver s;
    const pbd_status status = try_open(&s, "xpbi", PBD_PRECISION_F64, 1, scene, words);
    assert_int_equal(status.code, code);
    if (!strstr(status.text, says)) fail_msg("does not say '%s': %s", says, status.text);
    solver_close(&s);
}

static void test_bad_input(void **unused) {
    (void)unused;
    pbd_scene scene;
    make_lattice(&scene, (const size_t[]){4, 3, 3}, 0, 0);
    expect_refusal(&scene, "iterations=0", PBD_BAD_INPUT, "iterations");
    set_flow(&scene, "von_mises");
    expect_refusal(&scene, "hourglass_control=1", PBD_NOT_SUPPORTED, "elastic matter alone");
    set_flow(&scene, NULL);
    expect_refusal(&scene, "hourglass_control=-1", PBD_BAD_INPUT, "hourglass_control");
    expect_refusal(&scene, "solver=gauss", PBD_BAD_INPUT, "coloured_gs");
    expect_refusal(&scene, "colours=9", PBD_BAD_INPUT, "27");
    expect_refusal(&scene, "kernel=current position_correction=shift deformation=before_xsph", PBD_BAD_INPUT,
                   "differently");
    scene.material->law = "stvk";
    expect_refusal(&scene, "", PBD_NOT_SUPPORTED, "material=hencky");
    scene.material->law = "hencky";
    scene.material->nu = -0.2;
    expect_refusal(&scene, "constraint=pair", PBD_BAD_INPUT, "nu >= 0");
    scene.material->nu = 0.3;
    scene.particles.spacing = 0;
    expect_refusal(&scene, "", PBD_BAD_INPUT, "spacing");
    scene.particles.spacing = 0.1;
    scene.particles.count = 0;
    expect_refusal(&scene, "", PBD_BAD_INPUT, "no particles");
    scene.particles.count = 36;
    scene.colliders.item = calloc(1, sizeof *scene.colliders.item);
    scene.colliders.item->shape = PBD_SPHERE;
    scene.colliders.count = 1;
    expect_refusal(&scene, "", PBD_BAD_INPUT, "radius");
    pbd_scene_free(&scene);
}

/* Steps in which particles move beyond their kernels are counted, with a warning. */
static void test_long_steps_are_warned_of(void **unused) {
    (void)unused;
    pbd_scene scene;
    solver s;
    make_lattice(&scene, (const size_t[]){4, 3, 3}, 0, 0);
    for (size_t p = 0; p < scene.particles.count; p++) scene.particles.velocities[3 * p] = 100;
    solver_open(&s, "xpbi", PBD_PRECISION_F64, 1, &scene, PAPERS);
    check_steps(&s, 4e-4, 2);
    assert_int_equal(s.result.warnings, 0);
    check_steps(&s, 6e-4, 3);
    assert_int_equal(s.result.warnings, 1);
    assert_string_equal(s.result.warning[0].name, "kernel_cfl");
    assert_int_equal(s.result.warning[0].count, 3);
    solver_close(&s);
    pbd_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_implicit_euler),
        cmocka_unit_test(test_residual_goes_to_zero),
        cmocka_unit_test(test_stored_F_is_within_yield),
        cmocka_unit_test(test_pairs_are_kept_apart),
        cmocka_unit_test(test_shifts_are_unknown),
        cmocka_unit_test(test_nobody_passes_a_floor),
        cmocka_unit_test(test_density_is_kept),
        cmocka_unit_test(test_coincident_particles),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_long_steps_are_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
