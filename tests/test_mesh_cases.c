/* Cases with meshes as colliders, run as a user runs them: with each method that supports colliders no particle
 * penetrates and none is lost, and a mesh gives the same results as the analytic shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "tests/program.h"
#include "tests/sanitized.h"

typedef struct outcome {
    json_t *run;
} outcome;

static outcome run_case(const char *name, const char *method, const char *const *settings) {
    const char *words[40] = {"run", name, "-m", method, "--json", "--db", in_workplace("runs.db"), "-t", "1"};
    size_t n = 0;
    while (words[n]) n++;
    for (size_t i = 0; settings[i]; i++) {
        words[n++] = "-s";
        words[n++] = settings[i];
    }
    told answer = tell_to(STDOUT_KEPT, words);
    json_t *run = json_loads(answer.out, 0, NULL);
    if (answer.code != 0 || !run) fail_msg("%s %s: %d: %s", name, method, answer.code, answer.err);
    assert_string_equal(json_string_value(json_object_get(run, "state")), "ok");
    forget(&answer);
    return (outcome){run};
}

static double metric(outcome o, const char *name) {
    const json_t *value = json_object_get(json_object_get(json_object_get(o.run, "metrics"), name), "value");
    if (!value) fail_msg("no metric %s", name);
    return json_number_value(value);
}

/* deepest: allowed penetration of the ball of a particle, in spacings. mpm applies contact at grid nodes, so that its
 * particle centres reach the surface. */
static const struct {
    const char *method;
    double deepest;
} methods[] = {{"xpbi", 0.02}, {"xpbd_grains", 1e-4}, {"mpm", 0.51}, {"gissler_snow", 0.3}};

static void test_every_method_stays_out_of_a_sphere(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        double distance[2];
        for (int mesh = SANITIZED; mesh < 2; mesh++) { /* with sanitizers only the mesh, to save time */
            const char *const settings[] = {"particles=300",
                                            "duration=0.1",
                                            "dt=5e-4",
                                            mesh ? "collider=mesh" : "collider=analytic",
                                            i == 3 ? "flow=snow" : "flow=drucker_prager",
                                            mesh ? "cuts=2" : NULL,
                                            NULL};
            const outcome o = run_case("drop_onto_sphere", methods[i].method, settings);
            const double deepest = metric(o, "deepest_in_obstacle") / metric(o, "spacing");
            distance[mesh] = metric(o, "mean_distance");
            print_message("    %s, %s: %g spacings deep, mean distance %g m\n", methods[i].method,
                          mesh ? "mesh" : "analytic", deepest, distance[mesh]);
            assert_true(deepest < methods[i].deepest);
            assert_true(metric(o, "most_in_obstacle") == 0 && metric(o, "lost_particles") == 0);
            json_decref(o.run);
        }
        if (!SANITIZED) assert_true(fabs(distance[1] / distance[0] - 1) < 0.03);
    }
}

static void test_an_hourglass_of_triangles(void **unused) {
    (void)unused;
    double below[2];
    for (int mesh = 0; mesh < 2; mesh++) {
        const char *const settings[] = {"particles=300", "duration=0.15", "dt=5e-4",
                                        mesh ? "collider=mesh" : "collider=analytic", NULL};
        const outcome o = run_case("hourglass", "xpbd_grains", settings);
        below[mesh] = metric(o, "share_below");
        print_message("    %s: %g below the neck\n", mesh ? "mesh" : "analytic", below[mesh]);
        assert_true(metric(o, "most_outside_glass") == 0);
        assert_true(metric(o, "deepest_in_glass") < 0.05 * metric(o, "spacing"));
        const json_t *timing = json_object_get(o.run, "timing");
        assert_non_null(timing);
        json_decref(o.run);
    }
    assert_true(fabs(below[1] - below[0]) < 0.05);
}

static const char *written(const char *name, const char *text) {
    const char *path = in_workplace(name);
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail_msg("cannot write %s", path);
    return path;
}

/* A roof: two slopes that meet in a ridge, with a rim. */
static const char roof[] =
    "v -0.1 -0.1 0\nv -0.1 0.1 0\nv 0 -0.1 0.05\nv 0 0.1 0.05\nv 0.1 -0.1 0\nv 0.1 0.1 0\n"
    "f 1 3 4 2\nf 3 5 6 4\n";

static void test_a_sheet_from_a_file(void **unused) {
    (void)unused;
    char file[PATH_MAX + 400];
    snprintf(file, sizeof file, "file=%s", written("roof.obj", roof));
    const char *const settings[] = {file, "particles=300", "duration=0.1", "dt=5e-4", "thickness=0.002", "speed=20",
                                    NULL};
    const outcome o = run_case("drop_onto_mesh", "xpbd_grains", settings);
    assert_true(metric(o, "deepest_in_obstacle") < 1e-3 * metric(o, "spacing"));
    assert_true(metric(o, "lost_particles") == 0);
    json_decref(o.run);
}

static void refuse(const char *method, const char *file, const char *thickness, const char *says) {
    const char *const words[] = {"run", "drop_onto_mesh", "-m", method,          "-s",   file,
                                 "-s",  thickness,        "-s", "particles=100", "--db", in_workplace("none.db"),
                                 NULL};
    told answer = tell_to(STDOUT_KEPT, words);
    print_message("    %s", answer.err);
    assert_int_equal(answer.code, 2);
    assert_non_null(strstr(answer.err, says));
    forget(&answer);
}

static void test_bad_files(void **unused) {
    (void)unused;
    char file[PATH_MAX + 400];
    snprintf(file, sizeof file, "file=%s", written("roof.obj", roof));
    refuse("xpbd_grains", file, "thickness=0", "is a sheet");
    refuse("mpm", file, "thickness=0.002", "closed meshes");
    snprintf(file, sizeof file, "file=%s", written("point.obj", "v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n"));
    refuse("xpbi", file, "thickness=0.01", "has no area");
    snprintf(file, sizeof file, "file=%s", written("words.obj", "nothing of the kind\n"));
    refuse("xpbi", file, "thickness=0.01", "words.obj holds no triangles");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* no memory limit with these */
    snprintf(file, sizeof file, "file=%s",
             written("many.ply",
                     "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                     "property float z\nelement face 1\nproperty list uint int vertex_indices\nend_header\n"
                     "0 0 0\n1 0 0\n0 1 0\n3000000000 0 1 2\n"));
    refuse("xpbi", file, "thickness=0.01", "many.ply: cannot be read as ply");
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_method_stays_out_of_a_sphere),
                                       cmocka_unit_test(test_an_hourglass_of_triangles),
                                       cmocka_unit_test(test_a_sheet_from_a_file), cmocka_unit_test(test_bad_files)};
    return cmocka_run_group_tests_name("mesh_cases", tests, NULL, remove_workplace);
}
