/* The contract of `bench --kernel`, and the work that launches declare. No test judges speed. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/program.h"
#include "tests/store_sample.h"

static json_t *parse(const char *text) {
    json_error_t error;
    json_t *all = json_loads(text, 0, &error);
    if (!all) fail_msg("no JSON: line %d: %s\n%s", error.line, error.text, text);
    return all;
}

static double number_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) fail_msg("no number %s", key);
    return json_number_value(value);
}

/* ---- Work follows neighbours ------------------------------------------------------------------------------------- */

typedef struct work {
    double bytes, flops, neighbours;
} work;

static double metric_of(const json_t *run, const char *name) {
    return number_of(json_object_get(json_object_get(run, "metrics"), name), "value");
}

static work work_of(told answer) {
    expect_code(answer, 0);
    json_t *run = parse(answer.out);
    const bool neighbours = json_object_get(json_object_get(run, "metrics"), "neighbour_updates");
    const work w = {metric_of(run, "bytes_moved"), metric_of(run, "flops"),
                    neighbours ? metric_of(run, "neighbour_updates") : 0};
    json_decref(run);
    forget(&answer);
    return w;
}

/* The update of a neighbour reads its index, b_ij and position and writes the position: 4 + 8 (3 + 4 + 4) = 92 bytes in
 * f64; it takes 50 operations. The few evaluations of the energy in such a run add 4 + 8 (3 + 4) = 60 bytes each, at
 * most once per step of ten sweeps: at most 60/920. Nothing else in the method depends on the radius. */
static void test_bytes_follow_neighbours(void **state) {
    (void)state;
    static const char *const radius[] = {"radius=1.2", "radius=1.6", "radius=2", "radius=2.6", "radius=3.2"};
    work last = {0, 0, 0};
    for (size_t i = 0; i < sizeof radius / sizeof *radius; i++) {
        const work now = work_of(tell("run", "twist", "-m", "corrected_sph", "-s", "cells=3", "-s", "mode=dynamic",
                                      "-s", "duration=0.02", "-s", "solver=coloured_gs", "-s", radius[i], "-t", "1",
                                      "--json", "--db", in_workplace("work.db")));
        if (i > 0) {
            const double more = now.neighbours - last.neighbours;
            assert_true(more > 0);
            const double bytes = (now.bytes - last.bytes) / more, flops = (now.flops - last.flops) / more;
            if (bytes < 92 || bytes > 92 * (1 + 60.0 / 920)) fail_msg("%s: %g bytes a neighbour", radius[i], bytes);
            if (flops < 50 || flops > 50 * (1 + 21.0 / 500))
                fail_msg("%s: %g operations a neighbour", radius[i], flops);
        }
        last = now;
    }
}

/* The number of padded lanes rises and falls with the cell size; the number of neighbours rises with the radius. */
static void test_xpbi_counts_real_neighbours(void **state) {
    (void)state;
    static const char *const radius[] = {"radius=0.8", "radius=1", "radius=1.5"};
    work last = {0, 0, 0};
    for (size_t i = 0; i < sizeof radius / sizeof *radius; i++) {
        const work now =
            work_of(tell("run", "goo_drop", "-m", "xpbi", "-s", "particles=300", "-s", "duration=0.002", "-s",
                         radius[i], "-t", "1", "-p", "f32", "--json", "--db", in_workplace("work.db")));
        assert_true(now.neighbours > last.neighbours);
        assert_true(now.bytes > last.bytes && now.flops > last.flops);
        last = now;
    }
}

static void test_waiting_after_launches_changes_nothing(void **state) {
    (void)state;
    const work without =
        work_of(tell("run", "cube_shear", "-m", "pbd_distance", "-s", "cells=2", "-b", "emu", "--json", "--no-store"));
    setenv("PBDBENCH_LAUNCH", "sync", 1);
    const work with =
        work_of(tell("run", "cube_shear", "-m", "pbd_distance", "-s", "cells=2", "-b", "emu", "--json", "--no-store"));
    setenv("PBDBENCH_LAUNCH", "always", 1);
    told refused = tell("run", "cube_shear", "-m", "pbd_distance", "-s", "cells=2", "--no-store");
    unsetenv("PBDBENCH_LAUNCH");
    assert_true(with.bytes == without.bytes && with.flops == without.flops);
    assert_int_not_equal(refused.code, 0);
    expect_says(refused.err, "PBDBENCH_LAUNCH=always");
    forget(&refused);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

#define CUBE "-m", "pbd_distance", "-c", "cube_shear", "-s", "cells=3", "-s", "solver=coloured_gs"

static const json_t *find_kernel(const json_t *all, const char *name) {
    const json_t *kernels = json_object_get(all, "kernels");
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t *one = json_array_get(kernels, i);
        if (strcmp(json_string_value(json_object_get(one, "kernel")), name) == 0) return one;
    }
    fail_msg("no kernel %s", name);
    return NULL;
}

/* 27 cells of 3 x 3 x 3 have 64 corners, and 144 edges, 216 face diagonals and 108 inner diagonals, 468 distances in
 * all, of 2 * 8 * 4 + 4 + 8 = 76 bytes in f32. One iteration. */
static void test_list_has_all_work(void **state) {
    (void)state;
    told answer = tell("bench", "--kernel", "list", CUBE, "-s", "iterations=1", "--json", "--no-store");
    expect_code(answer, 0);
    json_t *all = parse(answer.out);
    forget(&answer);
    const json_t *distances = find_kernel(all, "project_distances");
    assert_true(number_of(distances, "items") == 468);
    assert_true(number_of(distances, "entries") == 0);
    assert_true(number_of(distances, "bytes") == 468 * 76);
    assert_true(number_of(distances, "launches") >= 3); /* three kinds, each with its colours */
    assert_true(number_of(find_kernel(all, "predict"), "items") == 64);
    json_decref(all);
}

/* A device that is not present cannot be measured: the prediction states its assumptions about it. */
static void test_prediction_says_what_it_assumes(void **state) {
    (void)state;
    told answer =
        tell("env", "--predict", "pbd_distance", "-c", "cube_shear", "-s", "cells=3", "--on", "rtx4090", "--json");
    expect_code(answer, 0);
    expect_says(answer.out, "assumed: 400 cycles for a read that waits for memory and 4 for an operation");
    expect_says(answer.out, "2.5 us for a launch (not published)");
    forget(&answer);
}

/* ---- A trial ----------------------------------------------------------------------------------------------------- */

/* A large step: with a short one strains are near rounding, and sums in two orders differ by a per cent of them in f32.
 */
#define SAND "-m", "xpbi", "-c", "sand_column", "-s", "particles=150", "-s", "dt=0.004"

static json_t *trial(told answer) {
    expect_code(answer, 0);
    json_t *object = parse(answer.out);
    forget(&answer);
    const double difference = number_of(object, "difference"), bound = number_of(object, "bound");
    assert_true(difference >= 0 && difference <= bound);
    assert_true(number_of(object, "written") > 0 && number_of(object, "seconds") > 0);
    return object;
}

/* A sweep solves each of the 150 particles once. The sums of the SIMD form and of the scalar form differ by rounding,
 * by a few units of 6e-8 in f32 and of 1e-16 in f64. */
static void test_sweep_is_checked_and_timed(void **state) {
    (void)state;
    json_t *single = trial(tell("bench", "--kernel", "xpbi_solve_cells", SAND, "-n", "3", "--json", "--no-store"));
    json_t *twice =
        trial(tell("bench", "--kernel", "xpbi_solve_cells", SAND, "-n", "3", "-p", "f64", "--json", "--no-store"));
    const double items = number_of(single, "items"), entries = number_of(single, "entries");
    assert_true(items == 150);
    assert_true(entries > 5 * items && entries < 100 * items);
    assert_true(fabs(number_of(single, "seconds_per_item") * items / number_of(single, "seconds") - 1) < 1e-9);
    assert_true(fabs(number_of(single, "seconds_per_entry") * entries / number_of(single, "seconds") - 1) < 1e-9);
    assert_int_equal(json_array_size(json_object_get(single, "samples")), 3);
    assert_true(number_of(twice, "items") == items);
    assert_true(number_of(single, "difference") > number_of(twice, "difference"));
    json_decref(single);
    json_decref(twice);
}

/* The emulation is checked against the scalar form on the CPU. */
static void test_emulation_is_checked_against_the_cpu(void **state) {
    (void)state;
    json_decref(
        trial(tell("bench", "--kernel", "project_distances", CUBE, "-b", "emu", "-n", "1", "--json", "--no-store")));
    json_decref(trial(tell("bench", "--kernel", "gather_impulses", "-m", "pbd_distance", "-c", "cube_shear", "-s",
                           "cells=3", "-s", "solver=jacobi", "-b", "emu", "-n", "1", "--json", "--no-store")));
}

/* A kernel whose results differ by more than the bound is not timed. */
static void test_bound_refuses(void **state) {
    (void)state;
    told answer = tell("bench", "--kernel", "xpbi_solve_cells", SAND, "-n", "1", "--bound", "1e-15", "--no-store");
    expect_code(answer, 5);
    expect_says(answer.err, "differs from its plain form");
    assert_string_equal(answer.out, "");
    forget(&answer);
}

static void test_trial_is_a_stored_bench(void **state) {
    (void)state;
    const char *db = in_workplace("kernel.db");
    told answer = tell("bench", "--kernel", "predict", CUBE, "-n", "2", "--db", db);
    expect_code(answer, 0);
    expect_says(answer.out, "predict of pbd_distance/cube_shear/");
    expect_says(answer.out, "ns an item");
    forget(&answer);
    assert_sql(db,
               "SELECT count(*) FROM bench_view JOIN metric USING (run_id) WHERE bench_view.state = 'ok' AND "
               "bench_view.name LIKE 'kernel:predict/pbd_distance/cube_shear/%' AND metric.name = 'seconds_per_item'",
               "1");
}

static void refused(told answer, const char *says) {
    expect_code(answer, 2);
    expect_says(answer.err, says);
    forget(&answer);
}

static void test_refusals(void **state) {
    (void)state;
    refused(tell("bench", "--kernel", "no_such_kernel", CUBE, "--no-store"), "--kernel list");
    refused(tell("bench", "--kernel", "predict", CUBE, "-p", "f32,f64", "--no-store"), "one cell");
    refused(tell("bench", "--kernel", "predict", "-m", "pbd_distance", "--no-store"), "one case (-c)");
    refused(tell("bench", "-n", "5", CUBE, "--no-store"), "--kernel");
    refused(tell("bench", "--kernel", "list", "-m", "fem_linear", "-c", "cube_traction", "-s", "cells=2", "-p", "f64",
                 "--no-store"),
            "launches no kernels");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_follow_neighbours),
        cmocka_unit_test(test_xpbi_counts_real_neighbours),
        cmocka_unit_test(test_waiting_after_launches_changes_nothing),
        cmocka_unit_test(test_list_has_all_work),
        cmocka_unit_test(test_prediction_says_what_it_assumes),
        cmocka_unit_test(test_sweep_is_checked_and_timed),
        cmocka_unit_test(test_emulation_is_checked_against_the_cpu),
        cmocka_unit_test(test_bound_refuses),
        cmocka_unit_test(test_trial_is_a_stored_bench),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("bench_kernel", tests, NULL, remove_workplace);
}
