/* Cases of bodies that particles sample: what their scenes hold, against hand-computed volumes, masses and places;
 * their measures on states that are prescribed; what they refuse. */
#include "cases/particle_watch.h"
#include "harness/scene_check.h"
#include "tests/ladder.h"

#include "tests/program.h"
#include "tests/trial.h"

static const double PI = 3.14159265358979323846;

static double sum(const double *x, size_t count) {
    double total = 0;
    for (size_t i = 0; i < count; i++) total += x[i];
    return total;
}

/* ---- One body ---------------------------------------------------------------------------------------------------- */

static void test_hanging_box(void **state) {
    (void)state;
    trial t;
    open_case(&t, "sampled_shape", "shape=box size=2 spacing=0.25 density=3 fixed=x_max fixed_depth=0.3");
    assert_int_equal(t.scene.particles, 512);
    check_near("mass", sum(t.scene.masses, 512), 24, 1e-12);
    check_near("volume", sum(t.scene.volumes, 512), 8, 1e-12);
    assert_int_equal(t.scene.fixed, 64); /* at 0.125 from the side; the next layer is at 0.375 */
    for (size_t i = 0; i < 64; i++)
        check_near("held at", t.scene.positions[3 * t.scene.fixed_particle[i]], 0.875, 1e-12);
    assert_int_equal(t.scene.colliders, 0);
    measure(&t);
    check_metric(&t, "particles", 512, 0);
    check_metric(&t, "sampled_volume_ratio", 1, 1e-12);
    check_metric(&t, "largest_displacement", 0, 0);
    check_metric(&t, "rest_shape_error", 0, 1e-12);
    close_case(&t);
}

/* A sphere of radius 1 m, 0.5 m over a floor: 0.7 m down, all of it, the lowest sites are 0.2 m and their own distance
 * from the pole too deep, less half a spacing of radius. */
static void test_floor(void **state) {
    (void)state;
    trial t;
    open_case(&t, "sampled_shape", "shape=sphere size=2 spacing=0.1 fixed=none floor=on drop=0.5 contact_layers=1");
    assert_int_equal(t.scene.colliders, 1);
    check_near("floor", t.scene.collider[0].centre[2], -0.5, 1e-15); /* the sphere stands on z = 0 */
    double lowest = INFINITY;
    size_t colliding = 0;
    for (size_t i = 0; i < t.scene.particles; i++) {
        lowest = fmin(lowest, t.x[3 * i + 2]);
        colliding += t.scene.contact.radius[i] > 0;
        t.x[3 * i + 2] -= 0.7;
    }
    assert_true(colliding > 600 && colliding < 2000); /* 4 pi / 0.01 = 1257 sites of a sphere's surface */
    measure(&t);
    check_metric(&t, "deepest_below_floor", 0.2 - lowest + 0.05, 1e-12);
    check_metric(&t, "mean_displacement", 0.7, 1e-12);
    close_case(&t);
}

static void test_poisson_body(void **state) {
    (void)state;
    trial t;
    open_case(&t, "sampled_shape", "shape=torus sampling=poisson particles=400 density=10");
    assert_int_equal(t.scene.particles, 400);
    check_near("mass", sum(t.scene.masses, 400), 10 * 2 * PI * PI * 0.34 * 0.16 * 0.16, 1e-12);
    close_case(&t);
}

static void test_mesh_of_a_file(void **state) {
    (void)state;
    static const char tet[] = "v 0 0 0\nv 600 0 0\nv 0 600 0\nv 0 0 600\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    const char *path = in_workplace("tet.obj");
    FILE *file = fopen(path, "w");
    fputs(tet, file);
    fclose(file);
    char words[PATH_MAX + 200];
    trial t;
    snprintf(words, sizeof words, "file=%s scale=0.01 particles=1000 density=2 fixed=z_min", path);
    open_case(&t, "sampled_mesh", words);
    assert_int_equal(t.scene.particles, 1000);
    /* Of 36 m^3; the lattice's planes along the slanted face, 31.2 m^2 large and 0.18 m apart, are in or out as a
     * whole. */
    check_near("mass", sum(t.scene.masses, 1000), 72, 2 * 31.2 * 0.183);
    for (size_t i = 0; i < 1000; i++) {
        const double *x = t.x + 3 * i;
        assert_true(x[0] > 0 && x[1] > 0 && x[2] > 0 && x[0] + x[1] + x[2] < 6);
    }
    close_case(&t);
}

static void expect_refused(const char *name, const char *words, const char *says) {
    trial t;
    const pbd_status status = try_case(&t, name, words);
    if (status.code != PBD_BAD_INPUT) fail_msg("%s %s: code %d: %s", name, words, (int)status.code, status.text);
    if (!strstr(status.text, says)) fail_msg("does not say '%s': %s", says, status.text);
    print_message("    %s\n", status.text);
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused("sampled_shape", "shape=sphere size=0.01 spacing=0.1", "single particle");
    expect_refused("sampled_shape", "shape=box particles=27 fixed_depth=9", "holds all");
    expect_refused("sampled_shape", "shape=box particles=27 fixed_depth=0.01", "holds none");
    const char *path = in_workplace("open.obj");
    FILE *file = fopen(path, "w");
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n", file);
    fclose(file);
    char words[PATH_MAX + 20];
    snprintf(words, sizeof words, "file=%s", path);
    expect_refused("sampled_mesh", words, "3 edges");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hanging_box),    cmocka_unit_test(test_floor),    cmocka_unit_test(test_poisson_body),
        cmocka_unit_test(test_mesh_of_a_file), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
