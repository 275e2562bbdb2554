/* Particles that no tetrahedron has, as a body sampled by a few particles leaves them: with every method for tetrahedra
 * they fall freely, and nothing pulls at the others for them. */
#include "tests/trial.h"

static const double DT = 0.01, GRAVITY = 9.81;
enum { STEPS = 3 };

static bool is_loose(const pbd_scene *scene, size_t particle) {
    for (size_t k = 0; k < 4 * scene->tets.count; k++)
        if (scene->tets.corner[k] == particle) return false;
    return true;
}

/* The body of `recovery` falls from its shape at rest. After n steps of implicit Euler, or of a prediction by Euler, a
 * free particle has fallen by g dt^2 n (n + 1)/2; so has the whole body. */
static void check_fall(const char *method, const char *law, const char *words) {
    trial t;
    solver s;
    open_case(&t, "recovery", "particles=50");
    pbd_scene *scene = &t.scene;
    const size_t n = scene->particles.count;
    memcpy(scene->particles.start, scene->particles.positions, 3 * n * sizeof(double));
    scene->loads.gravity[2] = -GRAVITY;
    scene->material->law = law;
    check_ok(try_open_on(PBD_CPU, &s, method, PBD_PRECISION_F64, 1, scene, words));
    for (int i = 0; i < STEPS; i++) check_ok(s.method->step(s.state, DT));
    double *x = positions_of(&s, n), off[2] = {0};
    const double fall = GRAVITY * DT * DT * STEPS * (STEPS + 1) / 2;
    size_t loose = 0;
    for (size_t i = 0; i < n; i++) {
        const bool alone = is_loose(scene, i);
        loose += alone;
        for (size_t d = 0; d < 3; d++) {
            const double wanted = scene->particles.positions[3 * i + d] - (d == 2 ? fall : 0);
            off[alone] = fmax(off[alone], fabs(x[3 * i + d] - wanted) / fall);
        }
    }
    print_message("    %s %s: %zu of %zu particles in no tetrahedron, off by %.2g of the fall, the others by %.2g\n",
                  method, words, loose, n, off[1], off[0]);
    assert_true(loose > 0 && loose < n);
    assert_true(off[1] < 1e-9 && off[0] < 1e-6);
    free(x);
    solver_close(&s);
    close_case(&t);
}

static void test_loose_particles_fall(void **unused) {
    (void)unused;
    check_fall("projective_dynamics", "projective", "");
    check_fall("projective_dynamics", "projective", "solve=jacobi iterations=100");
    check_fall("quasi_newton", "stable_neo_hookean", "");
    check_fall("strain_energy", "stable_neo_hookean", "");
    check_fall("strain_energy", "stable_neo_hookean", "solve=global");
    check_fall("strain_based", "stvk", "");
    check_fall("vbd", "stable_neo_hookean", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loose_particles_fall)};
    return cmocka_run_group_tests_name("loose_particles", tests, NULL, NULL);
}
