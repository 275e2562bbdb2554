/* The case implicit_step and its reference: the gradient of G by differences, its minimiser against static finite
 * elements and closed forms, and the metrics of iterations. */
#include <jansson.h>
#include "methods/physics/parts/step_function.h"

#define REAL double
#include "methods/physics/matter/law_material.h"
#include "tests/trial.h"

#include "tests/program.h"

static double difference(const double *a, const double *b, size_t particles) {
    double worst = 0;
    for (size_t i = 0; i < 3 * particles; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

/* ---- The reference ----------------------------------------------------------------------------------------------- */

static void test_gradient(void **unused) {
    (void)unused;
    for (int law = 0; law < LAW_KINDS; law++) {
        trial t;
        char words[120];
        snprintf(words, sizeof words, "start=swing swing_time=0.05 contrast_E=3 contrast_density=0.5 material=%s",
                 law_names[law]);
        open_case(&t, "implicit_step", words);
        step_function s;
        check_ok(step_function_create(&t.scene, &s));
        step_function_begin(&s, 0.01, t.scene.particles.start, t.scene.particles.velocities, t.scene.loads.gravity,
                            NULL);
        const size_t n = 3 * t.scene.particles.count;
        double *g = malloc(n * sizeof *g), *x = malloc(n * sizeof *x), worst = 0, size = 0;
        uint64_t seed = 3;
        for (size_t i = 0; i < n; i++) x[i] = t.scene.particles.start[i] + 0.005 * noise(&seed);
        step_function_gradient(&s, x, g);
        for (size_t i = 0; i < n; i += 7) {
            const double eps = 1e-6, kept = x[i];
            if (s.held[i]) continue;
            x[i] = kept + eps;
            const double up = step_function_value(&s, x);
            x[i] = kept - eps;
            worst = fmax(worst, fabs((up - step_function_value(&s, x)) / (2 * eps) - g[i]));
            x[i] = kept;
            size = fmax(size, fabs(g[i]));
        }
        check_near(law_names[law], worst / size, 0, 1e-6);
        free(g);
        free(x);
        step_function_free(&s);
        close_case(&t);
    }
}

/* With a step so long that inertia is negligible, the minimiser is the static finite element solution; with almost no
 * stiffness, particles fall freely. */
static void test_minimiser(void **unused) {
    (void)unused;
    for (int law = 0; law < LAW_KINDS; law++) {
        trial t;
        char words[120];
        snprintf(words, sizeof words, "step=1e3 density=1e-3 gravity=1e5 material=%s", law_names[law]);
        open_case(&t, "implicit_step", words); /* the load of 100 kg/m^3; inertia over 1e-9 of the stiffness */
        step_function s;
        check_ok(step_function_create(&t.scene, &s));
        double *x = malloc(3 * t.scene.particles.count * sizeof *x);
        memcpy(x, t.scene.particles.positions, 3 * t.scene.particles.count * sizeof *x);
        step_function_begin(&s, 1e3, x, t.scene.particles.velocities, t.scene.loads.gravity, NULL);
        check_ok(step_function_minimise(&s, x, NULL));
        solver f;
        t.scene.solved = true;
        free(t.scene.particles.start);
        t.scene.particles.start = NULL;
        solver_open(&f, "fem_implicit", PBD_PRECISION_F64, 1, &t.scene, "element=tet4 newton_tolerance=0");
        check_ok(f.method->solve(f.state));
        double *wanted = positions_of(&f, t.scene.particles.count);
        const double sag = difference(wanted, t.scene.particles.positions, t.scene.particles.count);
        check_near(law_names[law], difference(x, wanted, t.scene.particles.count) / sag, 0, 1e-9);
        solver_close(&f);
        free(wanted);
        free(x);
        step_function_free(&s);
        close_case(&t);
    }
    trial t;
    open_case(&t, "implicit_step", "E=1e-6 step=0.01");
    const double wanted = 0.01 * 0.01 * 9.81;
    step_function s;
    check_ok(step_function_create(&t.scene, &s));
    double *x = malloc(3 * t.scene.particles.count * sizeof *x);
    memcpy(x, t.scene.particles.positions, 3 * t.scene.particles.count * sizeof *x);
    step_function_begin(&s, 0.01, x, t.scene.particles.velocities, t.scene.loads.gravity, NULL);
    check_ok(step_function_minimise(&s, x, NULL));
    check_near("free fall, m", t.scene.particles.positions[3 * 40 + 2] - x[3 * 40 + 2], wanted, 1e-9);
    free(x);
    step_function_free(&s);
    close_case(&t);
}

/* ---- The case ---------------------------------------------------------------------------------------------------- */

static json_t *run_step(const char *method, const char *const settings[]) {
    const char *words[40] = {"run", "implicit_step", "-m", method, "-q", "--json", "-t", "1"};
    size_t count = 8;
    for (size_t k = 0; settings[k]; k++) {
        words[count++] = "-s";
        words[count++] = settings[k];
    }
    told answer = tell_to(STDOUT_KEPT, words);
    if (answer.code != 0) fail_msg("%s", answer.err);
    json_t *run = json_loads(answer.out, 0, NULL);
    assert_non_null(run);
    forget(&answer);
    return run;
}

static double metric_in(json_t *run, const char *name) {
    json_t *metric = json_object_get(json_object_get(run, "metrics"), name);
    if (!metric) fail_msg("no metric %s", name);
    return json_number_value(json_object_get(metric, "value"));
}

/* vbd, which minimises the same function, converges to the reference: stiff, nearly incompressible, with two materials,
 * from a swinging start. */
static void test_vbd_ends_there(void **unused) {
    (void)unused;
    static const char *const variants[][6] = {
        {"nu=0.3", "iterations=400", "dt=0.005", "start=swing", "swing_time=0.02"},
        {"nu=0.45", "iterations=20000", "dt=0.005", "contrast_E=30", "start=swing", "swing_time=0.02"},
        {"nu=0.3", "iterations=1000", "dt=0.005", "contrast_density=20"}};
    for (size_t k = 0; k < sizeof variants / sizeof *variants; k++) {
        const char *words[7] = {NULL};
        memcpy(words, variants[k], sizeof variants[k]);
        json_t *run = run_step("vbd", words);
        check_near(variants[k][0], metric_in(run, "step_error"), 0, 1e-9);
        json_decref(run);
    }
}

/* A root with ten times the modulus and a fifth of the density is the same bar as a tip with a tenth of the modulus and
 * five times the density. */
static void test_halves(void **unused) {
    (void)unused;
    json_t *root = run_step("vbd", (const char *const[]){"dt=0.005", "iterations=2", "contrast_E=10",
                                                         "contrast_density=0.2", "contrast_at=root", NULL});
    json_t *tip = run_step("vbd", (const char *const[]){"dt=0.005", "iterations=2", "E=1e6", "density=20",
                                                        "contrast_E=0.1", "contrast_density=5", NULL});
    json_t *swapped = run_step(
        "vbd", (const char *const[]){"dt=0.005", "iterations=2", "contrast_E=10", "contrast_density=0.2", NULL});
    check_near("stiff root", metric_in(root, "step_norm") / metric_in(tip, "step_norm"), 1, 1e-12);
    assert_true(fabs(metric_in(swapped, "step_norm") / metric_in(tip, "step_norm") - 1) > 0.01);
    json_decref(root);
    json_decref(tip);
    json_decref(swapped);
}

/* Finite elements with lumped masses, an independent implementation, take the same step with every law. */
static void test_finite_elements_end_there(void **unused) {
    (void)unused;
    for (int law = 0; law < LAW_KINDS; law++) {
        char material[60];
        snprintf(material, sizeof material, "material=%s", law_names[law]);
        json_t *run =
            run_step("fem_implicit", (const char *const[]){"element=tet4", "mass=lumped", "dt=0.005", "start=swing",
                                                           "swing_time=0.02", "newton_tolerance=0", material, NULL});
        check_near(law_names[law], metric_in(run, "step_error"), 0, 1e-9);
        json_decref(run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_minimiser),
        cmocka_unit_test(test_vbd_ends_there),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_finite_elements_end_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
