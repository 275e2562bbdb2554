/* The case `rotation`: its scenes, and its metrics on prescribed states, against values by hand; results of methods
 * with and without corrections against lattice sums. */
#include "harness/catalog/scene_check.h"
#include "tests/ladder.h"

#include "tests/program.h"
#include "tests/trial.h"

/* ---- Scenes ------------------------------------------------------------------------------------------------------ */

static void test_scene(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "rotation", "density=2 angle=90");
    const pbd_scene *s = &t.scene;
    double mass = 0, volume = 0, low[3] = {0}, high[3] = {0}, worst = 0;
    assert_int_equal(s->particles.count, 17325);
    for (size_t i = 0; i < s->particles.count; i++) {
        mass += s->particles.masses[i];
        volume += s->particles.volumes[i];
        for (size_t d = 0; d < 3; d++) {
            low[d] = fmin(low[d], s->particles.positions[3 * i + d]);
            high[d] = fmax(high[d], s->particles.positions[3 * i + d]);
        }
        const double *X = s->particles.positions + 3 * i, *x = s->particles.start + 3 * i;
        worst = fmax(worst, fmax(fabs(x[0] + X[1]), fmax(fabs(x[1] - X[0]), fabs(x[2] - X[2]))));
    }
    check_near("(x, y, z) is turned to (-y, x, z), m", worst, 0, 1e-15);
    check_near("volume, m^3", volume, 17325 * 0.025 * 0.025 * 0.025, 1e-12);
    check_near("mass, kg", mass, 2 * volume, 1e-12);
    const double edge[3] = {20 * 0.025, 24 * 0.025, 32 * 0.025};
    for (int d = 0; d < 3; d++) {
        check_near("edge, m", high[d] - low[d], edge[d], 1e-14);
        check_near("middle, m", high[d] + low[d], 0, 1e-14);
    }
    check_near("spacing, m", s->particles.spacing, 0.025, 0);
    assert_null(s->particles.velocities);
    close_case(&t);
}

/* jitter moves rest positions and start_jitter start positions, each by less than its number of spacings and equally
 * for the same seed. */
static void test_noise(void **unused) {
    (void)unused;
    trial t, same, other;
    open_case(&t, "rotation", "nx=6 ny=6 nz=6 spacing=0.5 jitter=0.2 start_jitter=0.1 angle=0");
    open_case(&same, "rotation", "nx=6 ny=6 nz=6 spacing=0.5 jitter=0.2 start_jitter=0.1 angle=0");
    open_case(&other, "rotation", "nx=6 ny=6 nz=6 spacing=0.5 jitter=0.2 start_jitter=0.1 angle=0 seed=2");
    double most[2] = {0}, differs = 0;
    for (size_t i = 0; i < 3 * t.scene.particles.count; i++) {
        const size_t site[3] = {i / 3 / 36, i / 3 / 6 % 6, i / 3 % 6};
        most[0] = fmax(most[0], fabs(t.scene.particles.positions[i] - 0.5 * ((double)site[i % 3] - 2.5)));
        most[1] = fmax(most[1], fabs(t.scene.particles.start[i] - t.scene.particles.positions[i]));
        assert_true(t.scene.particles.start[i] == same.scene.particles.start[i] &&
                    t.scene.particles.positions[i] == same.scene.particles.positions[i]);
        differs = fmax(differs, fabs(t.scene.particles.start[i] - other.scene.particles.start[i]));
    }
    print_message("    farthest from the lattice %.3g m of 0.1, starts off by %.3g m of 0.05\n", most[0], most[1]);
    assert_true(most[0] > 0.09 && most[0] <= 0.1 && most[1] > 0.045 && most[1] <= 0.05 && differs > 0.05);
    close_case(&t);
    close_case(&same);
    close_case(&other);
}

/* ---- Measures ---------------------------------------------------------------------------------------------------- */

typedef struct told_gradients {
    const double *F, *x;
    size_t particles;
} told_gradients;

static pbd_status tell_gradients(const void *state, pbd_field field, double *out) {
    const told_gradients *s = state;
    if (field == PBD_DEFORMATION_GRADIENTS) memcpy(out, s->F, 9 * s->particles * sizeof *out);
    if (field == PBD_POSITIONS) memcpy(out, s->x, 3 * s->particles * sizeof *out);
    return field == PBD_DEFORMATION_GRADIENTS || field == PBD_POSITIONS ? pbd_ok()
                                                                        : pbd_error(PBD_NOT_SUPPORTED, "not told");
}

static const pbd_method telling_gradients = {.bytes = sizeof(pbd_method), .name = "telling", .read = tell_gradients};

/* A block of 6 x 5 x 7 has 2 x 1 x 3 particles inside its two outer layers. At the surface the method reports the
 * identity in place of a rotation by 60 degrees: the error is |I - R| = 2 sqrt(2) sin 30 degrees, over sqrt(3). */
static void test_errors(void **unused) {
    (void)unused;
    enum { N = 6 * 5 * 7 };
    static double F[9 * N];
    const double wrong = sqrt(2.0 / 3), c = 0.5, s = sqrt(0.75), R[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
    trial t;
    open_case(&t, "rotation", "nx=6 ny=5 nz=7 angle=60");
    for (size_t i = 0; i < N; i++) {
        const size_t site[3] = {i / 35, i / 7 % 5, i % 7};
        const bool inner = site[0] >= 2 && site[0] <= 3 && site[1] == 2 && site[2] >= 2 && site[2] <= 4;
        for (int e = 0; e < 9; e++) F[9 * i + e] = inner ? R[e] : (e % 4 == 0);
    }
    const told_gradients state = {F, t.scene.particles.start, N};
    check_ok(t.c->observe(&t.setup, &telling_gradients, &state, 0, t.recorder));
    check_metric(&t, "f_error_inner", 0, 1e-15);
    check_metric(&t, "f_error_all", wrong * (N - 6) / N, 1e-14);
    check_metric(&t, "f_error_largest", wrong, 1e-14);
    assert_null(find_metric(&t, "linear_impulse")); /* nothing has moved yet */
    close_case(&t);
    open_case(&t, "rotation", "nx=4 ny=4 nz=4 angle=60"); /* too thin to have an inside */
    const told_gradients thin = {F, t.scene.particles.start, 64};
    check_ok(t.c->observe(&t.setup, &telling_gradients, &thin, 0, t.recorder));
    assert_null(find_metric(&t, "f_error_inner"));
    assert_non_null(find_metric(&t, "f_error_all"));
    close_case(&t);
}

/* Eight particles of a cube: all pushed along x; all rotated about z, where each is sqrt(3/2) times as far from the
 * centre as from the axis; one pushed alone. */
static void test_impulses(void **unused) {
    (void)unused;
    const struct {
        const char *what;
        double linear, angular;
    } wanted[3] = {{"push", 1, 0}, {"turn", 0, sqrt(2.0 / 3)}, {"one", 1, sqrt(2.0 / 3)}};
    for (int kind = 0; kind < 3; kind++) {
        trial t;
        double F[72] = {0}, x[24];
        open_case(&t, "rotation", "nx=2 ny=2 nz=2 spacing=1 angle=0");
        const told_gradients state = {F, x, 8};
        memcpy(x, t.scene.particles.start, sizeof x);
        check_ok(t.c->observe(&t.setup, &telling_gradients, &state, 0, t.recorder));
        for (size_t i = 0; i < 8; i++) {
            if (kind == 0) x[3 * i] += 0.01;
            if (kind == 1)
                x[3 * i] -= 0.01 * t.scene.particles.start[3 * i + 1],
                    x[3 * i + 1] += 0.01 * t.scene.particles.start[3 * i];
            if (kind == 2 && i == 0) x[0] += 0.01; /* at (-1, -1, -1)/2, along x: moment arm sqrt(1/2) */
        }
        check_ok(t.c->observe(&t.setup, &telling_gradients, &state, 0.005, t.recorder));
        print_message("  %s\n", wanted[kind].what);
        check_metric(&t, "linear_impulse", wanted[kind].linear, 1e-12);
        check_metric(&t, "angular_impulse", wanted[kind].angular, 1e-12);
        const double before = told_metric(&t, "linear_impulse");
        x[4] += 1; /* later steps do not count, as they do not start at rest */
        check_ok(t.c->observe(&t.setup, &telling_gradients, &state, 0.01, t.recorder));
        check_metric(&t, "linear_impulse", before, 0);
        close_case(&t);
    }
}

static void test_momentum(void **unused) {
    (void)unused;
    trial t;
    open_case(&t, "rotation", "nx=3 ny=4 nz=5 jitter=0.3 angle=30 spin=2");
    const size_t n = t.scene.particles.count;
    double centre[3] = {0};
    for (size_t i = 0; i < 3 * n; i++) centre[i % 3] += t.scene.particles.start[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        const double *x = t.scene.particles.start + 3 * i, *v = t.scene.particles.velocities + 3 * i;
        if (fabs(v[0] + 2 * (x[1] - centre[1])) > 1e-14 || fabs(v[1] - 2 * (x[0] - centre[0])) > 1e-14 || v[2] != 0)
            fail_msg("particle %zu does not spin", i);
    }
    memcpy(t.x, t.scene.particles.start, 3 * n * sizeof *t.x);
    for (size_t i = 0; i < 3 * n; i++) t.v[i] = 0.75 * t.scene.particles.velocities[i];
    observe(&t, 0);
    const told_state state = {t.x, t.v};
    check_ok(t.c->measure(&t.setup, &telling, &state, t.recorder));
    check_metric(&t, "angular_momentum_loss", 0.25, 1e-14);
    assert_null(find_metric(&t, "linear_impulse"));
    close_case(&t);
}

/* ---- Methods in it ----------------------------------------------------------------------------------------------- */

/* Without the gradient correction an inner particle of a perfect lattice rotated by A has F = c A in the position form
 * and I + c (A - I) in the other. c - 1 is the error of the lattice sum of y dW/dx, times -1, and divided by the sum of
 * W if the kernel is corrected. Poly6 with a support radius of 2.5 spacings, by claims A1. */
static double lattice_sum(bool corrected) {
    double values = 0, slopes = 0;
    for (int i = -2; i <= 2; i++)
        for (int j = -2; j <= 2; j++)
            for (int k = -2; k <= 2; k++) {
                const double left = 2.5 * 2.5 - (double)(i * i + j * j + k * k);
                if (left <= 0) continue;
                values += 315 / (64 * M_PI * pow(2.5, 9)) * left * left * left;
                slopes += 945 / (32 * M_PI * pow(2.5, 9)) * left * left * i * i;
            }
    return corrected ? slopes / values : slopes;
}

static double metric_of_run(const char *method, const char *words, const char *metric) {
    char text[400], *save = NULL;
    pbd_setting setting[16];
    size_t count = 0;
    pbd_result result;
    double value = NAN;
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        check_ok(pbd_setting_parse(word, &setting[count++]));
    const pbd_request request = {
        .case_name = "rotation", .method_name = method, .threads = 1, .setting = setting, .settings = count};
    pbd_plan plan = {0};
    check_ok(pbd_plan_add(&plan, &request, 0));
    check_ok(pbd_run_cell(&plan.item[0], &result));
    /* Uncorrected gradients do not conserve angular momentum, which may make a run unphysical. */
    if (strcmp(result.state, "unphysical") != 0) assert_string_equal(result.state, "ok");
    for (size_t i = 0; i < result.metrics; i++)
        if (strcmp(result.metric[i].name, metric) == 0) value = result.metric[i].value;
    if (isnan(value)) fail_msg("no metric %s", metric);
    pbd_plan_free(&plan);
    pbd_result_free(&result);
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
    return value;
}

static void test_errors_of_methods(void **unused) {
    (void)unused;
    static const char block[] = "nx=6 ny=5 nz=7 duration=0.02 dt=0.01";
    static const double angle[] = {0, 45, 90, 180};
    for (int corrected = 0; corrected < 2; corrected++)
        for (int k = 0; k < 4; k++) {
            const double off = fabs(lattice_sum(corrected) - 1), turn = angle[k] * M_PI / 180;
            char words[400];
            snprintf(words, sizeof words, "%s angle=%g kernel_correction=%s gradient_correction=off form=position",
                     block, angle[k], corrected ? "on" : "off");
            check_near(words, metric_of_run("corrected_sph", words, "f_error_inner"), off, 1e-13);
            snprintf(words, sizeof words, "%s angle=%g kernel_correction=%s gradient_correction=off form=displacement",
                     block, angle[k], corrected ? "on" : "off");
            check_near(words, metric_of_run("corrected_sph", words, "f_error_inner"),
                       off * 2 * sqrt(2.0 / 3) * sin(turn / 2), 1e-13);
        }
    static const char *const exact[][2] = {{"corrected_sph", "angle=90 jitter=0.2"},
                                           {"mlsrk", "angle=135 basis=linear jitter=0.2"},
                                           {"mlsrk", "angle=180 basis=constant_corrected"}};
    for (int i = 0; i < 3; i++) {
        char words[400];
        snprintf(words, sizeof words, "%s %s", block, exact[i][1]);
        check_near(words, metric_of_run(exact[i][0], words, "f_error_largest"), 0, 1e-13);
    }
    check_near("mlsrk basis=constant is the kernel correction alone",
               metric_of_run("mlsrk", "nx=6 ny=5 nz=7 basis=constant", "f_error_all"),
               metric_of_run("corrected_sph", "nx=6 ny=5 nz=7 gradient_correction=off", "f_error_all"), 0);
}

/* ---- What it refuses --------------------------------------------------------------------------------------------- */

static void expect_no_run(told answer, const char *says) {
    expect_code(answer, 2);
    expect_says(answer.err, says);
    forget(&answer);
}

static void test_refusals(void **unused) {
    (void)unused;
    expect_no_run(tell("run", "rotation", "-m", "mlsrk", "-s", "nx=1"), "nx");
    expect_no_run(tell("run", "rotation", "-m", "mlsrk", "-s", "angle=200"), "angle");
    expect_no_run(tell("run", "rotation", "-m", "mlsrk", "-s", "nx=1000", "-s", "ny=1000", "-s", "nz=1000"),
                  "1000000000 particles");
    expect_no_run(tell("run", "rotation", "-m", "mlsrk", "-s", "basis=quadratic"), "linear");
    expect_no_run(tell("run", "rotation", "-m", "strain_energy"), "rotation");
}

static void test_as_a_person_would(void **unused) {
    (void)unused;
    told answer = tell("run", "rotation", "-m", "corrected_sph", "-s", "angle=90", "-s", "form=position", "-s",
                       "kernel_correction=off", "-s", "gradient_correction=off", "-s", "nx=6", "-s", "ny=6", "-s",
                       "nz=6", "--json", "-t", "1");
    expect_code(answer, 0);
    expect_says(answer.out, "f_error_inner");
    expect_says(answer.out, "f_error_all");
    forget(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scene),    cmocka_unit_test(test_noise),
        cmocka_unit_test(test_errors),   cmocka_unit_test(test_impulses),
        cmocka_unit_test(test_momentum), cmocka_unit_test(test_errors_of_methods),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_as_a_person_would),
    };
    return cmocka_run_group_tests_name("rotation", tests, NULL, remove_workplace);
}
