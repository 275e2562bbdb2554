/* Work-precision: which runs form a point, which points form the front, and messages about the omitted ones. The
 * numbers are planted; expected results are counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "harness/trend/work_precision.h"
#include "tests/program.h"
#include "tests/store_sample.h"
/* after store_sample.h */
#include "tests/planted_store.h"

static char path[PATH_MAX + 64];
static char here[33]; /* this machine */
static const char elsewhere[] = "bbbb0000bbbb0000bbbb0000bbbb0000";

/* Plants another run of a cell, as the program would store it. */
static void plant_measured(const char *cell, unsigned build, const char *machine, double error, double wall) {
    plant_run(cell, 'r', build, machine, "ok");
    plant_metric("displacement_error", "1", "lower", error);
    plant_solve(wall, wall);
    plant_count("device_bytes_peak", 4096 * (unsigned)(1 + planted_runs % 3));
}

/* Errors and times of a solve of cube_shear:
 *   quick   pbd_distance jacobi      1e-1 in 1 ms        front
 *   slow    pbd_distance jacobi      1e-2 in 4 ms        front
 *   worse   pbd_distance coloured_gs 2e-2 in 8 ms        not: slow is faster and more accurate
 *   single  pbd_distance coloured_gs f32 5e-2 in 1 ms    front, and dominates quick: as fast, more accurate
 *   exact   fem_linear               0 in 6 ms           not on a logarithmic axis
 *   burst   pbd_distance             diverged
 *   mute    pbd_distance             without that error */
#define SOFT                                                                                                           \
    "{\"E\":10000,\"damping\":4,\"density\":100,\"duration\":5,\"gravity\":9.81,\"length\":1,\"material\":\"hencky\"," \
    "\"mode\":\"dynamic\",\"nu\":0.3,\"width\":0.2,\"iterations\":"
#define TORSION(NU)                                                                                       \
    "{\"E\":1,\"base\":\"reset\",\"convention\":\"printed\",\"density\":0,\"edge\":2,\"load\":\"small\"," \
    "\"loads\":\"equal\",\"nu\":" NU ",\"reference\":\"fem\",\"shared\":\"once\"}"
static void plant_cells(void) {
    plant_cell("quick", "cube_shear", "pbd_distance", "{\"iterations\":1,\"nu\":0.3,\"solver\":\"jacobi\"}", "f64", 1);
    plant_cell("slow", "cube_shear", "pbd_distance", "{\"iterations\":8,\"nu\":0.3,\"solver\":\"jacobi\"}", "f64", 1);
    plant_cell("worse", "cube_shear", "pbd_distance", "{\"iterations\":8,\"nu\":0.3,\"solver\":\"coloured_gs\"}", "f64",
               1);
    plant_cell("single", "cube_shear", "pbd_distance", "{\"iterations\":4,\"nu\":0.3,\"solver\":\"coloured_gs\"}",
               "f32", 1);
    plant_cell("exact", "cube_shear", "fem_linear", "{\"nu\":0.3}", "f64", 1);
    plant_cell("burst", "cube_shear", "pbd_distance", "{\"iterations\":2,\"nu\":0.3,\"solver\":\"jacobi\"}", "f64", 1);
    plant_cell("mute", "cube_shear", "pbd_distance", "{\"iterations\":3,\"nu\":0.3,\"solver\":\"jacobi\"}", "f64", 1);
    plant_cell("away", "cube_shear", "fem_linear", "{\"nu\":0.3}", "f32", 1);
    plant_cell("moves", "cube_torsion", "pbd_distance", TORSION("0.3"), "f64", 1);
    plant_cell("moves2", "cube_torsion", "pbd_distance", TORSION("0.4"), "f64", 2);
    plant_cell("moves3", "cube_torsion", "pbd_distance", TORSION("0.2"), "f64", 1);
    plant_cell("soft", "cantilever", "pbd_distance", SOFT "1}", "f64", 1);
    plant_cell("softer", "cantilever", "pbd_distance", SOFT "2}", "f64", 1);
    plant_cell("far", "hex_fit", "pbd_distance", "{\"nu\":0.2}", "f64", 1);
}

/* Two cells that differ in so many parameters that their names are wider than the picture. */
enum { LONG_NAMES = 9 };
static void plant_long_names(void) {
    for (int k = 0; k < 2; k++) {
        char params[800];
        size_t used = 0;
        for (int i = 0; i < LONG_NAMES; i++)
            used += (size_t)snprintf(params + used, sizeof params - used, "%c\"a_parameter_with_a_long_name_%d\":%d",
                                     i ? ',' : '{', i, 10 * i + k);
        snprintf(params + used, sizeof params - used, "}");
        plant_cell(k ? "long1" : "long0", "vibrating_bar", "pbd_distance", params, "f64", 1);
        plant_measured(k ? "long1" : "long0", 1, here, k ? 0.1 : 0.2, k ? 0.002 : 0.001);
    }
}

static void plant_all(void) {
    plant_store(path);
    plant_machine(here, "This CPU");
    plant_machine(elsewhere, "Other CPU");
    for (unsigned n = 0; n < 3; n++) plant_build(n, 'r', "release", false);
    plant_build(2, 's', "dev", false);
    plant_cells();
    plant_measured("quick", 0, here, 9, 9); /* an older build does not count */
    static const double walls[3] = {0.002, 0.0005, 0.001};
    for (int k = 0; k < 3; k++) plant_measured("quick", 1, here, 0.1, walls[k]);
    plant_run("quick", 'r', 1, here, "diverged");
    plant_run("quick", 's', 2, here, "ok"); /* with sanitizers */
    plant_metric("displacement_error", "1", "lower", 0.1);
    plant_solve(0.05, 0.05);
    plant_measured("slow", 1, here, 0.01, 0.3);
    plant_metric("solve_wall", "s", "lower", 0.004); /* from `run --time`: replaces the phase's 0.3 s */
    plant_metric("fit_error", "1", "lower", 3);
    plant_measured("worse", 1, here, 0.02, 0.008);
    plant_measured("single", 2, here, 0.05, 0.001);
    plant_measured("exact", 1, here, 0, 0.006);
    plant_run("burst", 'r', 1, here, "diverged");
    plant_run("mute", 'r', 1, here, "ok");
    plant_solve(1, 1);
    plant_measured("away", 2, elsewhere, 1e-9, 1e-9); /* of another machine */
    /* 2 s of motion in 0.6 s are 5 ms per frame, 4 s in 0.24 s are 1 ms */
    plant_measured("moves", 1, here, 0.1, 0.6);
    plant_metric("simulated_time", "s", "neutral", 2);
    plant_measured("moves2", 1, here, 0.2, 0.24);
    plant_metric("simulated_time", "s", "neutral", 4);
    plant_measured("moves3", 1, here, 0.2, 0.24);
    for (int k = 0; k < 2; k++) { /* 3 s in 0.9 s are 5 ms per frame */
        plant_run(k ? "softer" : "soft", 'r', 1, here, "ok");
        plant_metric("tip_ratio", "1", "neutral", k ? 0.5 : 1.25);
        plant_metric("simulated_time", "s", "neutral", 3);
        plant_solve(0.9, 0.9);
    }
    plant_measured("far", 1, elsewhere, 0.5, 1);
    plant_long_names();
    plant_end();
}

static int setup(void **state) {
    (void)state;
    pbd_machine machine = {0};
    assert_fine(pbd_this_machine(&machine));
    memcpy(here, machine.fingerprint, sizeof here);
    snprintf(path, sizeof path, "%s", in_workplace("work.db"));
    plant_all();
    return 0;
}

static pbd_work load(const pbd_work_query *query) {
    pbd_store *store;
    pbd_work work;
    assert_fine(pbd_store_open(path, PBD_STORE_READ, &store));
    assert_fine(pbd_work_load(store, query, &work));
    pbd_store_close(store);
    return work;
}

static const pbd_work_point *find(const pbd_work *w, const char *cell) {
    for (size_t i = 0; i < w->points; i++)
        if (strcmp(w->point[i].cell.cell_id, cell) == 0) return &w->point[i];
    return NULL;
}

static void test_points_are_medians_of_the_newest_build(void **state) {
    (void)state;
    pbd_work w = load(&(pbd_work_query){.case_name = "cube_shear"});
    assert_string_equal(w.error, "displacement_error");
    assert_true(w.here && !w.frames);
    assert_int_equal(w.points, 7); /* not the other machine's */
    assert_int_equal(w.drawn, 4);
    const pbd_work_point *quick = find(&w, "quick"), *slow = find(&w, "slow");
    assert_true(quick->error == 0.1 && quick->time == 0.001 && quick->ok == 3 && quick->not_ok == 1);
    assert_true(slow->time == 0.004);
    assert_string_equal(quick->series, "pbd_distance jacobi f64 cpu");
    assert_string_equal(quick->label, "pbd_distance jacobi f64 cpu iterations=1");
    assert_string_equal(find(&w, "single")->label, "pbd_distance coloured_gs f32 cpu iterations=4");
    assert_string_equal(w.varies, "");
    pbd_work_free(&w);
}

static void test_front(void **state) {
    (void)state;
    pbd_work w = load(&(pbd_work_query){.case_name = "cube_shear"});
    assert_true(find(&w, "single")->is_front && find(&w, "slow")->is_front);
    assert_false(find(&w, "quick")->is_front || find(&w, "worse")->is_front || find(&w, "exact")->is_front);
    assert_string_equal(w.point[0].cell.cell_id, "single"); /* cheapest first, then most accurate */
    pbd_work_free(&w);
}

static void test_what_is_left_out_says_why(void **state) {
    (void)state;
    pbd_work w = load(&(pbd_work_query){.case_name = "cube_shear"});
    assert_non_null(strstr(find(&w, "exact")->reason, "displacement_error is 0"));
    assert_non_null(strstr(find(&w, "burst")->reason, "diverged"));
    assert_non_null(strstr(find(&w, "mute")->reason, "no displacement_error"));
    pbd_work_free(&w);
}

static void test_within(void **state) {
    (void)state;
    pbd_work w = load(&(pbd_work_query){.case_name = "cube_shear"});
    assert_null(pbd_work_within(&w, 0.9));
    assert_string_equal(pbd_work_within(&w, 1)->cell.cell_id, "single");
    assert_string_equal(pbd_work_within(&w, 5)->cell.cell_id, "slow");
    assert_string_equal(pbd_work_within(&w, 100)->cell.cell_id, "exact"); /* drawn or not */
    pbd_work_free(&w);
}

static void test_frames(void **state) {
    (void)state;
    pbd_work w = load(&(pbd_work_query){.case_name = "cube_torsion"});
    assert_true(w.frames);
    assert_true(fabs(find(&w, "moves")->time - 0.005) < 1e-12 && fabs(find(&w, "moves2")->time - 0.001) < 1e-12);
    assert_non_null(strstr(find(&w, "moves3")->reason, "simulated_time"));
    assert_string_equal(find(&w, "moves2")->label, "pbd_distance f64 cpu 2 threads nu=0.4");
    assert_string_equal(w.varies, "nu");
    pbd_work_free(&w);
}

static void test_memory_and_other_errors(void **state) {
    (void)state;
    pbd_work w = load(&(pbd_work_query){.case_name = "cube_shear", .memory = true});
    assert_true(w.unit_bytes == 1024);
    const double cost = pbd_work_cost(&w, find(&w, "slow"));
    assert_true(cost == 4 || cost == 8 || cost == 12); /* KiB, as planted */
    pbd_work_free(&w);
    w = load(&(pbd_work_query){.case_name = "cube_shear", .error = "fit_error"});
    assert_int_equal(w.drawn, 1);
    assert_true(w.point[0].error == 3);
    pbd_work_free(&w);
}

static void test_another_machine_where_this_has_none(void **state) {
    (void)state;
    pbd_work w = load(&(pbd_work_query){.case_name = "hex_fit"});
    assert_false(w.here);
    assert_string_equal(w.cpu, "Other CPU");
    assert_int_equal(w.drawn, 1);
    pbd_work_free(&w);
}

/* ---- By the program ---------------------------------------------------------------------------------------------- */

static void test_chart(void **state) {
    (void)state;
    static const char *const ends[] = {"png", "svg", "pdf"};
    for (size_t i = 0; i < 3; i++) {
        char name[40];
        struct stat info;
        snprintf(name, sizeof name, "it's work.%s", ends[i]);
        told answer = tell("plot", "work-precision", "--case", "cube_shear", "-o", in_workplace(name), "--db", path);
        expect_code(answer, 0);
        assert_true(stat(in_workplace(name), &info) == 0 && info.st_size > 2000);
        expect_says(answer.out, "wall time of a solve");
        expect_says(answer.out, "    1  1            0.05");
        expect_says(answer.out, "pbd_distance jacobi f64 cpu iterations=8");
        expect_says(answer.out, "not drawn: 3 of 7 cells");
        expect_says(answer.out, "iterations=2: diverged");
        expect_says(answer.out, "1 of 4 runs did not succeed");
        forget(&answer);
    }
    told answer = tell("plot", "work-precision", "--case", "cube_torsion", "-s", "nu=0.3", "--memory", "--db", path);
    expect_code(answer, 0);
    expect_says(answer.out, "results/plots/cube_torsion-work-precision-memory.png");
    forget(&answer);
}

/* Errors of several problems are not comparable: they are listed, but not drawn. */
static void test_several_problems(void **state) {
    (void)state;
    told answer = tell("plot", "work-precision", "--case", "cube_torsion", "--db", path);
    expect_code(answer, 2);
    expect_says(answer.err, "3 problems of cube_torsion");
    expect_says(answer.err, "they differ in nu");
    expect_says(answer.err, "  1 cell  -s nu=0.2\n");
    expect_says(answer.err, "  1 cell  --problem cube-torsion-nu-30\n");
    assert_string_equal(answer.out, "");
    forget(&answer);
    answer = tell("plot", "work-precision", "--problem", "cube-torsion-nu-30", "--db", path, "--json");
    expect_code(answer, 0);
    json_t *object = json_loads(answer.out, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(object, "problem")), "cube-torsion-nu-30");
    assert_string_equal(json_string_value(json_object_get(object, "error")), "displacement_error");
    assert_int_equal(json_array_size(json_object_get(object, "points")), 1);
    json_decref(object);
    forget(&answer);
    /* |tip_ratio - 1| of 1.25 and 0.5 */
    answer = tell("plot", "work-precision", "--problem", "cantilever-soft", "--db", path, "--within", "9");
    expect_code(answer, 0);
    expect_says(answer.out, "cantilever-soft: the best |tip_ratio - 1| within 9 ms a frame is 0.25, in 5 ms");
    forget(&answer);
}

/* The caption fits the width of the picture: 105 characters at this size, found by inspection. */
static void test_long_names_are_folded(void **state) {
    (void)state;
    told answer =
        tell("plot", "work-precision", "--case", "vibrating_bar", "-o", in_workplace("long.svg"), "--db", path);
    expect_code(answer, 0);
    forget(&answer);
    int file = open(in_workplace("long.svg"), O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    char *svg = slurp(file), name[60];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < LONG_NAMES; i++) {
            snprintf(name, sizeof name, "a_parameter_with_a_long_name_%d=%d", i, 10 * i + k);
            expect_says(svg, name);
        }
    size_t longest = 0;
    for (const char *text = strstr(svg, "<text"); text; text = strstr(text, "<text")) {
        text = strchr(text, '>') + 1;
        const size_t length = strcspn(text, "<");
        if (length > longest) longest = length;
    }
    print_message("the longest line has %zu letters\n", longest);
    assert_true(longest > 60 && longest <= 105);
    free(svg);
}

static void test_question(void **state) {
    (void)state;
    told answer =
        tell("plot", "work-precision", "--case", "cube_torsion", "-s", "nu=0.3", "--within", "5.1", "--db", path);
    expect_code(answer, 0);
    expect_says(answer.out, "the best displacement_error within 5.1 ms a frame is 0.1, in 5 ms");
    expect_says(answer.out, "pbdbench run cube_torsion -m pbd_distance -s E=1 ");
    assert_null(strstr(answer.out, ".png"));
    forget(&answer);
    answer = tell("plot", "work-precision", "--case", "cube_shear", "--within", "0.1", "--db", path);
    expect_code(answer, 0);
    expect_says(answer.out, "no run takes less than 0.1 ms a solve; the fastest takes 1 ms");
    forget(&answer);
}

static void test_json(void **state) {
    (void)state;
    told answer = tell("plot", "work-precision", "--case", "cube_shear", "--within", "2", "--json", "--db", path);
    expect_code(answer, 0);
    json_t *object = json_loads(answer.out, 0, NULL);
    assert_non_null(object);
    assert_int_equal(json_array_size(json_object_get(object, "points")), 4);
    assert_int_equal(json_array_size(json_object_get(object, "not_drawn")), 3);
    assert_true(json_is_null(json_object_get(object, "plot")));
    const json_t *best = json_object_get(json_object_get(object, "within"), "best");
    assert_string_equal(json_string_value(json_object_get(best, "cell_id")), "single");
    assert_true(json_real_value(json_object_get(best, "time_ms")) == 1);
    assert_true(json_is_true(json_object_get(best, "front")));
    json_decref(object);
    forget(&answer);
}

static void test_slips(void **state) {
    (void)state;
    static const char *const slips[][8] = {
        {"needs --case", "work-precision"},
        {"did you mean 'cantilever-soft'", "work-precision", "--problem", "cantilever-sift"},
        {"has its own error", "work-precision", "--problem", "cantilever-soft", "-y", "tip_ratio"},
        {"did you mean 'cube_shear'", "work-precision", "--case", "cube_shaer"},
        {"no runs of cube_traction", "work-precision", "--case", "cube_traction"},
        {"no runs of cube_shear and these -s", "work-precision", "--case", "cube_shear", "-s", "nu=0.1"},
        {"did you mean 'fit_error'", "work-precision", "--case", "cube_shear", "-y", "fit_eror"},
        {"did you mean 'fem_linear'", "work-precision", "--case", "cube_shear", "-m", "fem_liner"},
        {"within", "work-precision", "--case", "cube_shear", "--within", "0"},
        {"within", "work-precision", "--case", "cube_shear", "--within", "nan"},
        {"are not valid with", "work-precision", "--case", "cube_shear", "-x", "nu"},
        {"are valid with plot work-precision only", "cube_shear", "--memory"},
        {"must end in", "work-precision", "--case", "cube_shear", "-o", "a.jpg"},
    };
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        const char *words[12] = {"plot", "--db", path};
        for (size_t k = 1; k < 8 && slips[i][k]; k++) words[2 + k] = slips[i][k];
        told answer = tell_to(STDOUT_KEPT, words);
        expect_code(answer, 2);
        expect_says(answer.err, slips[i][0]);
        assert_string_equal(answer.out, "");
        forget(&answer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_are_medians_of_the_newest_build),
        cmocka_unit_test(test_front),
        cmocka_unit_test(test_what_is_left_out_says_why),
        cmocka_unit_test(test_within),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_memory_and_other_errors),
        cmocka_unit_test(test_another_machine_where_this_has_none),
        cmocka_unit_test(test_chart),
        cmocka_unit_test(test_several_problems),
        cmocka_unit_test(test_long_names_are_folded),
        cmocka_unit_test(test_question),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_slips),
    };
    return cmocka_run_group_tests(tests, setup, remove_workplace);
}
