/* The contract of `bench`: names, counters, Google Benchmark's flags and JSON, refusals, and what is stored. No test
 * judges speed. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/bench/limits/limits.h"
#include "tests/program.h"
#include "tests/store_sample.h"

/* A bench of two solvers on a small cube: half a second. */
#define SMALL "bench", "-c", "cube_shear", "-m", "pbd_distance", "-s", "cells=3", "-p", "f32", "-t", "1"
#define BOTH SMALL, "-a", "solver=jacobi,coloured_gs"
#define NAME "pbd_distance/cube_shear/solver:%s/cells:3/cpu/f32/threads:1"

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

static const char *string_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    if (!text) fail_msg("no text %s", key);
    return text;
}

static void expect_name(const json_t *run, const char *solver) {
    char wanted[120];
    snprintf(wanted, sizeof wanted, NAME "/", solver);
    if (strncmp(string_of(run, "name"), wanted, strlen(wanted)) != 0)
        fail_msg("%s does not begin with %s", string_of(run, "name"), wanted);
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

/* Rates are counts over the time of the steps alone. Their ratios do not depend on speed. */
static void check_counters(const json_t *run) {
    const double seconds = 1e-3 * number_of(run, "real_time"), steps = number_of(run, "steps_per_iteration");
    const double rate = number_of(run, "steps_per_second");
    assert_string_equal(string_of(run, "time_unit"), "ms");
    assert_true(number_of(run, "iterations") == 20);
    assert_true(fabs(rate * seconds / steps - 1) < 1e-6);
    assert_true(number_of(run, "bytes_per_second") > 0 && number_of(run, "flops_per_second") > 0);
    assert_true(number_of(run, "applied_fraction") == 1);
    /* 27 cells of 3 x 3 x 3 have 144 edges, 216 face diagonals, 108 inner diagonals, and 27 volumes if volumes have any
     * stiffness; each step of one iteration solves all of them. */
    const double solves = number_of(run, "constraint_solves_per_second") / rate;
    if (fabs(solves - 468) > 1e-6 && fabs(solves - 495) > 1e-6) fail_msg("%g constraint solves a step", solves);
}

static void test_json_is_google_benchmarks(void **state) {
    (void)state;
    told answer = tell(BOTH, "--json", "--db", in_workplace("json.db"));
    expect_code(answer, 0);
    assert_string_equal(answer.err, "");
    json_t *all = parse(answer.out);
    const json_t *context = json_object_get(all, "context"), *runs = json_object_get(all, "benchmarks");
    assert_string_equal(string_of(context, "executable"), "pbdbench");
    assert_int_equal(strlen(string_of(context, "sources")), 32);
    assert_int_equal(strlen(string_of(context, "machine")), 32);
    assert_int_equal(json_array_size(runs), 2);
    expect_name(json_array_get(runs, 0), "jacobi");
    expect_name(json_array_get(runs, 1), "coloured_gs");
    for (size_t i = 0; i < 2; i++) {
        const json_t *run = json_array_get(runs, i);
        check_counters(run);
        assert_null(json_object_get(run, "fraction_of_bandwidth")); /* the limit has not been measured */
        assert_string_equal(string_of(run, "run_type"), "iteration");
    }
    json_decref(all);
    forget(&answer);
}

/* If limits are in the store, fractions of them are reported; here quickly measured ones. */
static void test_fractions_of_measured_limits(void **state) {
    (void)state;
    const char *path = fresh("fractions.db");
    pbd_store *store;
    pbd_machine machine;
    pbd_limits limits;
    assert_fine(pbd_this_machine(&machine));
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    assert_fine(pbd_limits_measure(store, true, NULL, NULL));
    assert_fine(pbd_limits_load(store, machine.fingerprint, &limits));
    pbd_store_close(store);
    told answer = tell(SMALL, "--json", "--no-store", "--db", path);
    expect_code(answer, 0);
    json_t *all = parse(answer.out);
    const json_t *run = json_array_get(json_object_get(all, "benchmarks"), 0);
    const double memory = pbd_limits_bandwidth(&limits, "cpu", 1)->best;
    const double flops = pbd_limits_flops(&limits, "cpu", "f32", 1)->best;
    assert_true(fabs(number_of(run, "fraction_of_bandwidth") * memory / number_of(run, "bytes_per_second") - 1) < 1e-6);
    assert_true(fabs(number_of(run, "fraction_of_flops") * flops / number_of(run, "flops_per_second") - 1) < 1e-6);
    assert_sql(path, "SELECT count(*) FROM bench_view", "0");
    pbd_limits_free(&limits);
    json_decref(all);
    forget(&answer);
}

/* For a static method, solves are timed. Parameters that were not set are not in the name. */
static void test_static_methods_bench_their_solve(void **state) {
    (void)state;
    told answer = tell("bench", "-c", "cube_torsion", "-m", "fem_linear", "-s", "cells=2", "-p", "f64", "-t", "1",
                       "--json", "--no-store");
    expect_code(answer, 0);
    json_t *all = parse(answer.out);
    const json_t *run = json_array_get(json_object_get(all, "benchmarks"), 0);
    assert_memory_equal(string_of(run, "name"), "fem_linear/cube_torsion/cells:2/cpu/f64/threads:1/", 49);
    const double seconds = 1e-3 * number_of(run, "real_time");
    assert_true(fabs(number_of(run, "solves_per_second") * seconds / number_of(run, "steps_per_iteration") - 1) < 1e-6);
    assert_null(json_object_get(run, "steps_per_second"));
    json_decref(all);
    forget(&answer);
}

static void test_emu_runs_too(void **state) {
    (void)state;
    told answer = tell("bench", "-c", "cube_shear", "-m", "pbd_distance", "-s", "cells=1", "-b", "emu", "-p", "f64",
                       "-t", "1,2", "--json", "--no-store");
    expect_code(answer, 0);
    json_t *all = parse(answer.out);
    assert_int_equal(json_array_size(json_object_get(all, "benchmarks")), 1); /* threads apply to the cpu only */
    expect_says(answer.out, "pbd_distance/cube_shear/cells:1/emu/f64/threads:1");
    json_decref(all);
    forget(&answer);
}

/* ---- Choosing ---------------------------------------------------------------------------------------------------- */

static void test_lists_and_filters(void **state) {
    (void)state;
    told answer = tell("bench", "--benchmark_list_tests", "-q");
    expect_code(answer, 0);
    assert_string_equal(answer.err, "");
    expect_says(answer.out, "pbd_distance/cube_shear/solver:coloured_gs/cells:20");
    expect_says(answer.out, "fem_linear/");
    expect_says(answer.out, "/cpu/f64/threads:1/");
    forget(&answer);
    const char *const filters[][3] = {
        {"jacobi", "threads:1"}, {"--benchmark_filter=jacobi.*f32", "jacobi"}, {"solver:jacobi", "fem_lin"}};
    const char *const absent[] = {NULL, "coloured_gs", "coloured_gs"};
    for (int i = 0; i < 3; i++) {
        answer = i == 2 ? tell("bench", "--benchmark_list_tests", filters[i][0], filters[i][1])
                        : tell("bench", "--benchmark_list_tests", filters[i][0]);
        expect_code(answer, 0);
        expect_says(answer.out, filters[i][1]);
        if (absent[i] && strstr(answer.out, absent[i])) fail_msg("%s is there:\n%s", absent[i], answer.out);
        forget(&answer);
    }
    /* Combinations that cannot run are named, with the reason. */
    answer = tell("bench", "--benchmark_list_tests");
    expect_says(answer.err, "skipped fem_linear/cube_shear on cpu in f32: ");
    forget(&answer);
    struct stat found;
    assert_int_equal(stat(in_workplace("results"), &found), -1); /* listing leaves nothing behind */
}

/* Settings of the command line override those of the default set, and axes override settings. */
static void test_settings_override_defaults(void **state) {
    (void)state;
    told answer = tell("bench", "--benchmark_list_tests", "pbd_distance", "-s", "cells=4", "-s", "solver=jacobi", "-p",
                       "f32", "-t", "1");
    expect_code(answer, 0);
    expect_says(answer.out, "pbd_distance/cube_shear/cells:4/reference:none/solver:jacobi/cpu/f32/threads:1/");
    assert_int_equal(strcspn(answer.out, "\n"), strlen(answer.out) - 1); /* one line, not one per solver */
    forget(&answer);
    answer = tell(SMALL, "--benchmark_list_tests", "-a", "cells=1:2:1");
    expect_code(answer, 0);
    expect_says(answer.out, "pbd_distance/cube_shear/cells:1/cpu");
    expect_says(answer.out, "pbd_distance/cube_shear/cells:2/cpu");
    forget(&answer);
}

static void test_bad_input_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *words[7], *says[2];
    } bad[] = {
        {{"-c", "cube_sheer"}, {"cube_sheer", "'cube_shear'"}},
        {{"-m", "pbd_distance,pbd_distence"}, {"pbd_distence", "'pbd_distance'"}},
        {{"-b", "cpu,cudda"}, {"cudda", "'cuda'"}},
        {{"-p", "f16"}, {"f16", "'f32'"}},
        {{"-t", "0"}, {"--threads=0", "[1, 4096]"}},
        {{"-t", "1,,2"}, {"--threads", "empty"}},
        {{"-c", "cube_shear", "-s", "cels=3"}, {"cels", "'cells'"}},
        {{"-c", "cube_shear", "-s", "cells=0"}, {"cells=0", "[1, 200]"}},
        {{"-m", "fem_linear", "-c", "cube_shear", "-p", "f32"}, {"fem_linear", "f32"}},
        {{"-a", "cells=1,2", "-a", "cells=3"}, {"cells", "twice"}},
        {{"no_such_name"}, {"--benchmark_list_tests", ""}},
        {{"--benchmark_filter=["}, {"[", "regular expression"}},
        {{"--benchmark_format=xml"}, {"--benchmark_format=xml", ""}},
        {{"--benchmark_repetition=3"}, {"--benchmark_repetition=3", ""}},
        {{"--benchmark_min_time=soon"}, {"--benchmark_min_time=soon", "seconds"}},
        {{"--benchmark_min_time=-1s"}, {"--benchmark_min_time=-1s", "seconds"}},
        {{"--benchmark_min_time=5x"}, {"--benchmark_min_time=5x", "seconds"}},
        {{"--benchmark_min_time=0x1"}, {"--benchmark_min_time=0x1", "seconds"}},
        {{"--benchmark_min_time="}, {"--benchmark_min_time=", "seconds"}},
        {{"--benchmark_out=/nowhere/at/all"}, {"/nowhere/at/all", "cannot be written"}},
        {{"--nonsense"}, {"--help", ""}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *words[12] = {"bench"};
        size_t n = 1;
        for (size_t k = 0; bad[i].words[k]; k++) words[n++] = bad[i].words[k];
        words[n++] = "--db";
        words[n] = in_workplace("refused.db");
        told answer = tell_to(STDOUT_KEPT, words);
        printf("[          ] %s", answer.err);
        expect_code(answer, 2);
        assert_string_equal(answer.out, "");
        for (int k = 0; k < 2; k++) expect_says(answer.err, bad[i].says[k]);
        forget(&answer);
    }
    told answer = tell("bench", "--help");
    expect_code(answer, 0);
    expect_says(answer.out, "--benchmark_repetitions");
    forget(&answer);
}

/* ---- Storing ----------------------------------------------------------------------------------------------------- */

static void test_every_repetition_is_stored(void **state) {
    (void)state;
    const char *path = fresh("stored.db");
    told answer = tell(BOTH, "--db", path, "--benchmark_repetitions=2", "--benchmark_report_aggregates_only=true");
    expect_code(answer, 0);
    forget(&answer);
    assert_clean(path);
    assert_sql(path, "SELECT count(*) FROM bench_view WHERE state = 'ok' AND repeat IN (0, 1)", "4");
    assert_sql(path, "SELECT group_concat(DISTINCT name) FROM bench_view WHERE name LIKE '%jacobi%'",
               "pbd_distance/cube_shear/solver:jacobi/cells:3/cpu/f32/threads:1");
    assert_sql(path,
               "SELECT count(*) FROM bench_view AS b JOIN metric AS m ON m.run_id = b.run_id WHERE m.name IN"
               " ('steps_per_second', 'seconds_per_step', 'constraint_solves_per_second', 'bytes_per_second')"
               " AND m.value > 0",
               "16");
    assert_sql(path, "SELECT count(*) FROM bench_view JOIN series_point USING (run_id)", "80");
    /* The sum of the samples is the time of the phase. */
    assert_sql(path,
               "SELECT count(*) FROM phase WHERE abs(wall_s / (SELECT sum(value) FROM series_point AS p"
               " WHERE p.run_id = phase.run_id) - 1) < 1e-9 AND cpu_s > 0 AND calls >= 20",
               "4");
    assert_sql(path, "SELECT count(*) FROM env_sample", "8");

    /* A bench does not count as a run: the same cell is run afterwards, and only that run is visible to figures. */
    assert_sql(path, "SELECT count(*) FROM run_view", "0");
    answer = tell("run", "cube_shear", "-m", "pbd_distance", "-s", "cells=3", "-s", "solver=jacobi", "-p", "f32", "-t",
                  "1", "--db", path);
    expect_code(answer, 0);
    assert_null(strstr(answer.out, "already in the store"));
    forget(&answer);
    assert_sql(path, "SELECT count(*) FROM run_view", "1");
    assert_sql(path, "SELECT count(DISTINCT cell_id) FROM run", "2");

    char *id = plain_text(path, "SELECT run_id FROM bench_view LIMIT 1");
    answer = tell("show", id, "--db", path);
    expect_code(answer, 0);
    expect_says(answer.out, "pbdbench bench -c cube_shear -m pbd_distance");
    forget(&answer);
    free(id);
    answer = tell("env", "--markdown", "--db", path);
    expect_code(answer, 0);
    expect_says(answer.out, "| `pbd_distance/cube_shear/solver:coloured_gs/cells:3/cpu/f32/threads:1` | ");
    forget(&answer);
}

/* If Google Benchmark chooses the iterations, it makes several attempts: only the reported one is kept. */
static void test_min_time_frees_the_iterations(void **state) {
    (void)state;
    const char *path = fresh("min_time.db");
    told answer = tell(SMALL, "--db", path, "--benchmark_min_time=0.05s", "--json");
    expect_code(answer, 0);
    json_t *all = parse(answer.out);
    const json_t *run = json_array_get(json_object_get(all, "benchmarks"), 0);
    char wanted[24];
    snprintf(wanted, sizeof wanted, "%.0f", number_of(run, "iterations"));
    assert_sql(path, "SELECT count FROM metric WHERE name = 'iterations'", wanted);
    assert_null(strstr(string_of(run, "name"), "iterations:"));
    json_decref(all);
    forget(&answer);
}

/* Stiffness 1 makes plain Jacobi diverge: an error in the output, a state in the store, exit 5. */
static void test_divergence_is_told_and_stored(void **state) {
    (void)state;
    const char *path = fresh("diverged.db");
    told answer =
        tell("bench", "-c", "cube_shear", "-m", "pbd_distance", "-s", "stiffness=fixed", "-s", "k_edge=1", "-s",
             "k_face=1", "-s", "k_diagonal=1", "-s", "cells=5", "-t", "1", "-p", "f32", "--json", "--db", path);
    expect_code(answer, 5);
    json_t *all = parse(answer.out);
    expect_says(answer.out, "is not finite");
    json_decref(all);
    forget(&answer);
    assert_sql(path, "SELECT state || ' ' || (name LIKE 'pbd_distance/%: after % steps %') FROM bench_view",
               "diverged 1");
    assert_clean(path);
}

/* ---- Google Benchmark's own tool --------------------------------------------------------------------------------- */

static void test_compare_py_reads_it(void **state) {
    (void)state;
    static const char tool[] = "/usr/share/benchmark/compare.py"; /* of libbenchmark-tools; needs SciPy */
    if (access(tool, R_OK) != 0 || system("python3 -c 'import scipy' 2>/dev/null") != 0) {
        print_message("    skipped: no compare.py of Google Benchmark, or no SciPy for it\n");
        skip();
    }
    char out[2][PATH_MAX + 128], command[4 * PATH_MAX];
    for (int i = 0; i < 2; i++) {
        snprintf(out[i], sizeof out[i], "--benchmark_out=%s", in_workplace(i ? "b.json" : "a.json"));
        told answer = tell(BOTH, "--no-store", "--benchmark_repetitions=2", out[i]);
        expect_code(answer, 0);
        forget(&answer);
    }
    snprintf(command, sizeof command, "python3 %s benchmarks %s %s >%s 2>&1", tool, out[0] + 16, out[1] + 16,
             in_workplace("compared.txt"));
    assert_int_equal(system(command), 0);
    file_bytes said = read_bytes(in_workplace("compared.txt"));
    expect_says((const char *)said.byte, "solver:coloured_gs/cells:3");
    free(said.byte);
}

/* The command line is stored verbatim, so that a run can be repeated from the output of `show`. */
static void test_command_lines_are_stored_whole(void **state) {
    (void)state;
    const char *db = in_workplace("typed.db");
    told run = tell("run", "hex_fit", "-m", "pbd_distance", "-s", "nu=0.125", "-a", "E=1,2", "-q", "--db", db);
    expect_code(run, 0);
    forget(&run);
    told bench = tell(SMALL, "-s", "nu=0.125", "-a", "solver=jacobi", "-q", "--db", db);
    expect_code(bench, 0);
    forget(&bench);
    sqlite3 *sql;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(db, &sql), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sql,
                                        "SELECT count(*) FROM invocation WHERE argv LIKE '%\"nu=0.125\"%' AND "
                                        "(argv LIKE '%\"E=1,2\"%' OR argv LIKE '%\"solver=jacobi\"%')",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(statement, 0), 2);
    sqlite3_finalize(statement);
    sqlite3_close(sql);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_is_google_benchmarks),
        cmocka_unit_test(test_fractions_of_measured_limits),
        cmocka_unit_test(test_static_methods_bench_their_solve),
        cmocka_unit_test(test_emu_runs_too),
        cmocka_unit_test(test_lists_and_filters),
        cmocka_unit_test(test_settings_override_defaults),
        cmocka_unit_test(test_bad_input_is_refused),
        cmocka_unit_test(test_every_repetition_is_stored),
        cmocka_unit_test(test_min_time_frees_the_iterations),
        cmocka_unit_test(test_divergence_is_told_and_stored),
        cmocka_unit_test(test_compare_py_reads_it),
        cmocka_unit_test(test_command_lines_are_stored_whole),
    };
    return cmocka_run_group_tests_name("bench", tests, NULL, remove_workplace);
}
