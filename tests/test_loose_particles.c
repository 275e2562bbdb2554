/* Particles that no tetrahedron has, as a body sampled by a few particles leaves them: with every method for tetrahedra
 * they fall freely, and nothing pulls at the others for them. */
#include "harness/catalog/resolve.h"
#include "tests/ladder.h"

static const double DT = 0.01, GRAVITY = 9.81;
enum { STEPS = 3 };

/* The body of `recovery`, in its shape at rest, with gravity. */
static void make_body(pbd_setup *setup) {
    const pbd_case *c;
    const pbd_method_entry *entry;
    pbd_setting setting;
    pbd_values values = {0}, unused = {0};
    check_ok(pbd_find_case("recovery", &c));
    check_ok(pbd_find_method("strain_energy", &entry));
    check_ok(pbd_setting_parse("particles=50", &setting));
    check_ok(pbd_resolve(c, entry->by_precision[1], &setting, 1, &values, &unused));
    check_ok(pbd_case_build(c, &values, setup));
    pbd_scene *scene = &setup->scene;
    memcpy(scene->particles.start, scene->particles.positions, 3 * scene->particles.count * sizeof(double));
    scene->loads.gravity[2] = -GRAVITY;
    pbd_setting_free(&setting);
    pbd_values_free(&values);
    pbd_values_free(&unused);
}

/* After n steps of implicit Euler, or of a prediction by Euler, a free particle has fallen by g dt^2 n (n + 1)/2. So has
 * the whole body, which is at rest. */
static void check_fall(const char *method, const char *law, const char *words) {
    pbd_setup setup = {0};
    const pbd_case *c;
    make_body(&setup);
    pbd_scene *scene = &setup.scene;
    scene->material->law = law;
    const size_t n = scene->particles.count;
    const double fall = GRAVITY * DT * DT * STEPS * (STEPS + 1) / 2;
    double off[2] = {0};
    size_t loose = 0;
    solver s;
    check_ok(try_open_on(PBD_CPU, &s, method, PBD_PRECISION_F64, 1, scene, words));
    for (int i = 0; i < STEPS; i++) check_ok(s.method->step(s.state, DT));
    double *x = positions_of(&s, n);
    for (size_t i = 0; i < n; i++) {
        bool held = false;
        for (size_t k = 0; k < 4 * scene->tets.count; k++) held |= scene->tets.corner[k] == i;
        loose += !held;
        for (size_t d = 0; d < 3; d++) {
            const double wanted = scene->particles.positions[3 * i + d] - (d == 2 ? fall : 0);
            off[held] = fmax(off[held], fabs(x[3 * i + d] - wanted) / fall);
        }
    }
    print_message("    %s %s: %zu of %zu particles in no tetrahedron, off by %.2g of the fall, the others by %.2g\n",
                  method, words, loose, n, off[0], off[1]);
    assert_true(loose > 0 && loose < n);
    assert_true(off[0] < 1e-9 && off[1] < 1e-6);
    free(x);
    solver_close(&s);
    check_ok(pbd_find_case("recovery", &c));
    pbd_case_free(c, &setup);
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
