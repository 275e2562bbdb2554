/* The launches of a step are large enough for a GPU: with a million particles or elements each launch has at least two
 * blocks per multiprocessor, of 132. The test runs steps with some ten thousand, and scales their grids in proportion;
 * a grid that does not grow with the scene stays too small. Only the shapes of the launches matter, so the cpu
 * backend runs what a GPU would. */
#include "harness/bench/kernel_trial.h"
#include "tests/ladder.h"

enum { MULTIPROCESSORS = 132, BLOCK = 128 };
static const double LARGE = 1e6;

typedef struct step_of {
    const char *method, *case_name, *settings[4];
    double size; /* requested number of particles or elements */
} step_of;

static const step_of steps[] = {
    {"xpbi", "goo_drop", {"particles=20000", "flow=drucker_prager"}, 20000},
    {"xpbi", "goo_drop", {"particles=20000", "flow=drucker_prager", "solver=jacobi"}, 20000},
    {"mpm", "goo_drop", {"particles=20000", "flow=drucker_prager"}, 20000},
    {"pbf", "dam_break", {"cells=16"}, 2560},
    {"corrected_sph", "twist", {"cells=6"}, 1519},
    {"strain_energy", "cantilever", {"cells=8", "clusters=on"}, 12800},
    {"strain_based", "cantilever", {"cells=8", "clusters=on"}, 12800},
    {"vbd", "cantilever", {"cells=8"}, 3321},
};

/* Kernels that may have few blocks, and why. */
static struct {
    const char *kernel, *why;
    bool seen;
} few[] = {
    {"xpbi_place_lanes", "a sum over 27 colours: the final level of one", false},
    {"xpbi_tally_stages", "27 differences: the final level of a scan", false},
    {"project_particles", "a colour of 35 has so few particles: clusters are of tetrahedra only", false},
    {"xpbi_separate", "pairs of a particle are corrected one after another: a thread has a cell of eight particles",
     false},
};

static const char *why_few(const char *kernel) {
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        if (strcmp(few[i].kernel, kernel) == 0) {
            few[i].seen = true;
            return few[i].why;
        }
    return NULL;
}

/* Returns how many kernels of the step have grids that are too small. */
static size_t look_at(const step_of *of) {
    pbd_plan plan PBD_CLEANUP(pbd_plan_free) = {0};
    pbd_settings settings PBD_CLEANUP(pbd_settings_free) = {0};
    pbd_kernel_use *use = NULL;
    size_t count = 0, given = 0, wrong = 0;
    while (given < 4 && of->settings[given]) given++;
    check_ok(pbd_settings_parse(of->settings, given, &settings));
    const pbd_request request = {.case_name = of->case_name,
                                 .method_name = of->method,
                                 .precision = "f32",
                                 .threads = 1,
                                 .seed = 1,
                                 .setting = settings.item,
                                 .settings = settings.count};
    check_ok(pbd_plan_add(&plan, &request, 0));
    check_ok(pbd_kernel_list(&plan.item[0], 0, 1, true, &use, &count, NULL));
    for (size_t i = 0; i < count; i++) {
        const double blocks = (double)use[i].threads / (double)use[i].launches / BLOCK * LARGE / of->size;
        if (blocks >= 2 * MULTIPROCESSORS) continue;
        const char *why = why_few(use[i].name);
        print_message("    %s %s: %s has %.0f blocks a launch at a million%s%s\n", of->method, of->case_name,
                      use[i].name, blocks, why ? ": " : "", why ? why : "");
        wrong += !why;
    }
    free(use);
    return wrong;
}

static void test_launches_fill_a_gpu(void **unused) {
    (void)unused;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) wrong += look_at(&steps[i]);
    assert_int_equal(wrong, 0);
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        if (!few[i].seen) fail_msg("%s is an exception that no step needs", few[i].kernel);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_launches_fill_a_gpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
