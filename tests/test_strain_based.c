/* strain_based on the ladder: the projection of each constraint against closed forms and finite differences; coupling
 * of constraints (continuum, T-2); the tests that all element solvers share. */
#include "tests/element_ladder.h"

/* ---- One constraint at a time ------------------------------------------------------------------------------------ */

static const char *const names[6] = {"k_x", "k_y", "k_z", "k_xy", "k_yz", "k_zx"};
static const int axes[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};

static void only(int k, const char *more, char words[200]) {
    size_t used = (size_t)snprintf(words, 200, "iterations=1 %s", more);
    for (int i = 0; i < 6; i++) used += (size_t)snprintf(words + used, 200 - used, " %s=%d", names[i], i == k);
}

/* Images f_i of the material axes of element 0. */
static void axis_images(const pbd_scene *scene, const double *x, double f[3][3]) {
    element_shape shape;
    const int corners = scene->tets.count ? 4 : 3;
    const uint32_t *c = scene->tets.count ? scene->tets.corner : scene->triangles.corner;
    check_ok(element_shape_of(scene, corners, 0, &shape));
    memset(f, 0, 9 * sizeof(double));
    for (int column = 0; column < corners - 1; column++)
        for (int k = 0; k < corners - 1; k++)
            for (uint32_t i = 0; i < 3; i++)
                f[column][i] +=
                    (x[3 * c[k] + i] - x[3 * c[corners - 1] + i]) * shape.inverse[(corners - 1) * column + k];
}

static double inner(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double value_of(const pbd_scene *scene, const double *x, int k, bool squared, bool naive) {
    double f[3][3];
    axis_images(scene, x, f);
    const double *a = f[axes[k][0]], *b = f[axes[k][1]];
    if (k < 3) return squared ? inner(a, a) - 1 : sqrt(inner(a, a)) - 1;
    return naive ? inner(a, b) : inner(a, b) / sqrt(inner(a, a) * inner(b, b));
}

static void one_projection(bool triangle, int k, bool squared, bool naive) {
    pbd_scene scene;
    char words[200], what[120];
    const int n = triangle ? 9 : 12;
    make_element(&scene, triangle, 7);
    double gradient[12], q = 0, worst = 0, scale = 0, linear[3] = {0}, angular[3] = {0}, size = 0;
    for (int i = 0; i < n; i++) {
        const double eps = 1e-6, kept = scene.particles.start[i];
        scene.particles.start[i] = kept + eps;
        const double up = value_of(&scene, scene.particles.start, k, squared, naive);
        scene.particles.start[i] = kept - eps;
        gradient[i] = (up - value_of(&scene, scene.particles.start, k, squared, naive)) / (2 * eps);
        scene.particles.start[i] = kept;
        q += gradient[i] * gradient[i] / scene.particles.masses[i / 3];
    }
    only(k,
         squared ? (naive ? "stretch_form=squared shear_form=naive" : "stretch_form=squared")
                 : (naive ? "shear_form=naive" : ""),
         words);
    double *x = march("strain_based", PBD_PRECISION_F64, 1, &scene, words, 0.01, 1);
    const double value = value_of(&scene, scene.particles.start, k, squared, naive);
    for (int i = 0; i < n; i++) {
        const double wanted = -value / q * gradient[i] / scene.particles.masses[i / 3],
                     got = x[i] - scene.particles.start[i];
        worst = fmax(worst, fabs(got - wanted));
        scale = fmax(scale, fabs(wanted));
        const double *at = scene.particles.start + i / 3 * 3, j = got * scene.particles.masses[i / 3];
        linear[i % 3] += j;
        angular[(i + 1) % 3] += at[(i + 2) % 3] * j; /* x cross j, one component of j at a time */
        angular[(i + 2) % 3] -= at[(i + 1) % 3] * j;
        size += fabs(j);
    }
    snprintf(what, sizeof what, "%s %s%s%s: move against differences, relative", triangle ? "triangle" : "tetrahedron",
             names[k], squared ? " squared" : "", naive ? " naive" : "");
    check_near(what, worst / scale, 0, 1e-6);
    for (int d = 0; d < 3; d++) check_near("linear impulse, relative", linear[d] / size, 0, 1e-12);
    for (int d = 0; d < 3; d++) check_near("angular impulse, relative", angular[d] / size, 0, 1e-12);
    free(x);
    pbd_scene_free(&scene);
}

static void test_projections(void **unused) {
    (void)unused;
    for (int k = 0; k < 6; k++)
        for (int other = 0; other < 2; other++) {
            one_projection(false, k, k < 3 && other, k >= 3 && other);
            if (k == 0 || k == 1 || k == 3) one_projection(true, k, k < 3 && other, k >= 3 && other);
        }
}

/* continuum.stretch_one_step: with any masses, one projection satisfies the constraint in its length form, but not in
 * its squared form. */
static void test_stretch_is_met_in_one_step(void **unused) {
    (void)unused;
    for (int triangle = 0; triangle < 2; triangle++)
        for (int k = 0; k < (triangle ? 2 : 3); k++)
            for (int squared = 0; squared < 2; squared++) {
                pbd_scene scene;
                char words[200];
                make_element(&scene, triangle, 21);
                for (int i = 0; i < 9; i++) scene.particles.start[i] *= 1.3;
                only(k, squared ? "stretch_form=squared" : "", words);
                double *x = march("strain_based", PBD_PRECISION_F64, 1, &scene, words, 0.01, 1);
                const double before = value_of(&scene, scene.particles.start, k, false, false);
                const double after = value_of(&scene, x, k, false, false);
                if (!squared) check_near("stretch left after one projection", after, 0, 3e-15);
                if (squared && !(fabs(after) > 1e-3 * fabs(before)))
                    fail_msg("the squared form is met in one step: %g of %g is left", after, before);
                free(x);
                pbd_scene_free(&scene);
            }
}

/* continuum.normalised_shear_decoupled: in terms of F, the derivative with respect to f_i is perpendicular to f_i. On a
 * corner tetrahedron the lengths of the axes stay if the fourth vertex is held; if it is free, they change (T-2). With
 * the naive form they change in both cases. */
static void test_shear_and_stretch(void **unused) {
    (void)unused;
    for (int naive = 0; naive < 2; naive++)
        for (int held = 0; held < 2; held++) {
            pbd_scene scene;
            char words[200];
            uint32_t fourth = 3;
            allocate_scene(&scene, 4, 1, 0);
            for (uint32_t p = 0; p < 4; p++) {
                scene.tets.corner[p] = p;
                scene.particles.masses[p] = 1;
                for (uint32_t d = 0; d < 3; d++) scene.particles.positions[3 * p + d] = p == d;
            }
            memcpy(scene.particles.start, scene.particles.positions, 12 * sizeof(double));
            scene.particles.start[1] += 0.3; /* the first axis leans towards the second */
            if (held) {
                scene.particles.fixed = 1;
                scene.particles.fixed_particle = &fourth;
            }
            only(3, naive ? "shear_form=naive" : "", words);
            double *x = march("strain_based", PBD_PRECISION_F64, 1, &scene, words, 0.01, 1);
            const double longer =
                fabs(value_of(&scene, x, 0, false, false) - value_of(&scene, scene.particles.start, 0, false, false));
            if (held && !naive && !(longer < 0.02)) fail_msg("length changes by %g though decoupled", longer);
            if ((!held || naive) && !(longer > 0.02)) fail_msg("length changes by %g only", longer);
            print_message("    %s shear, fourth vertex %s: length changes by %.3g\n", naive ? "naive" : "normalised",
                          held ? "held" : "free", longer);
            free(x);
            scene.particles.fixed_particle = NULL;
            pbd_scene_free(&scene);
        }
}

/* As XPBD with all moduli: at rest under a small load, the strain is that of an elastic body with nu = 0, whose energy
 * at small strain is E/2 (e_x^2 + ... ) + E/4 (g_xy^2 + ...). */
static void test_rest_of_the_compliant_form(void **unused) {
    (void)unused;
    pbd_scene scene;
    uint32_t held[3] = {0, 1, 2};
    element_shape shape;
    make_element(&scene, false, 3);
    free(scene.particles.start);
    scene.particles.start = NULL;
    scene.particles.fixed = 3;
    scene.particles.fixed_particle = held;
    const double load[3] = {2e-2, -3e-2, 4e-2};
    memcpy(scene.loads.forces + 9, load, sizeof load);
    double *x = march("strain_based", PBD_PRECISION_F64, 1, &scene, "form=xpbd iterations=60 damping=60", 1e-3, 4000);
    check_ok(element_shape_of(&scene, 4, 0, &shape));
    for (int d = 0; d < 3; d++) {
        const double eps = 1e-6, kept = x[9 + d];
        double energy[2];
        for (int side = 0; side < 2; side++) {
            double e[6];
            x[9 + d] = kept + (side ? -eps : eps);
            green_strain(&scene, x, e);
            energy[side] = scene.material->E * shape.size *
                           (0.5 * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) + e[3] * e[3] + e[4] * e[4] + e[5] * e[5]);
        }
        x[9 + d] = kept;
        check_near("force at rest, N", (energy[0] - energy[1]) / (2 * eps), load[d], 1e-4);
    }
    free(x);
    scene.particles.fixed_particle = NULL;
    pbd_scene_free(&scene);
}

/* ---- What all solvers of elements share -------------------------------------------------------------------------- */

static const char *const variants[] = {"iterations=2", "iterations=2 k_x=0.3 k_yz=0 shear_form=naive",
                                       "iterations=4 form=xpbd", "iterations=4 solver=jacobi"};

static void test_rotation(void **unused) {
    (void)unused;
    expect_rotation_invariance("strain_based", "iterations=4", false);
    expect_rotation_invariance("strain_based", "iterations=4 solver=jacobi", false);
}
static void test_units_do_not_matter(void **unused) {
    (void)unused;
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        expect_units_do_not_matter("strain_based", variants[v]);
}
static void test_threads(void **unused) {
    (void)unused;
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        for (int triangles = 0; triangles < 2; triangles++)
            expect_same_on_threads("strain_based", variants[v], triangles);
}
static void test_precisions_and_backends(void **unused) {
    (void)unused;
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        for (int triangles = 0; triangles < 2; triangles++) {
            expect_precisions_agree("strain_based", variants[v], triangles, 2e-5);
            expect_backends_agree("strain_based", variants[v], triangles);
        }
}
static void test_order_in_time(void **unused) {
    (void)unused;
    expect_first_order("strain_based", "form=xpbd iterations=60");
}
static void test_bad_meshes(void **unused) {
    (void)unused;
    expect_bad_meshes_refused("strain_based");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_projections),       cmocka_unit_test(test_stretch_is_met_in_one_step),
        cmocka_unit_test(test_shear_and_stretch), cmocka_unit_test(test_rest_of_the_compliant_form),
        cmocka_unit_test(test_rotation),          cmocka_unit_test(test_units_do_not_matter),
        cmocka_unit_test(test_threads),           cmocka_unit_test(test_precisions_and_backends),
        cmocka_unit_test(test_order_in_time),     cmocka_unit_test(test_bad_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
