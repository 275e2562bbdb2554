/* A store written by commit 5e3bc93 (data/store-5e3bc93.db, unchanged except for VACUUM) can be read and extended, also
 * where a parameter has been renamed since: `stir` of case rotation is now `start_jitter`.
 *
 * Expected numbers of the old runs are what the old program printed. The older program to compare with is a script that
 * wraps this program and knows only the former name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "harness/catalog/renamed.h"
#include "program.h"
/* after program.h */
#include "store_sample.h"
#include "tests/sanitized.h"

#define ROTATION                                                                                         \
    "rotation", "-m", "corrected_sph", "-s", "nx=4", "-s", "ny=4", "-s", "nz=4", "-s", "dt=0.005", "-s", \
        "solver=jacobi", "-t", "1"

/* A fresh copy of the old store for each test. */
static const char *old_store(void) {
    const char *path = fresh("old.db");
    file_bytes file = read_bytes(PBD_TEST_FOLDER "/data/store-5e3bc93.db");
    write_bytes(path, file.byte, file.count);
    free(file.byte);
    return path;
}

static json_t *json_of(told *answer) {
    expect_code(*answer, 0);
    json_t *json = json_loads(answer->out, 0, NULL);
    assert_non_null(json);
    forget(answer);
    return json;
}

static void assert_near(double got, double wanted) {
    if (!(fabs(got - wanted) <= 1e-7 * fabs(wanted))) fail_msg("got %.10g, wanted %.10g", got, wanted);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void it_is_sound(void **state) {
    (void)state;
    told answer = tell("db", "check", "--db", old_store());
    expect_code(answer, 0);
    expect_says(answer.out, "25 runs, 0 problems");
    forget(&answer);
}

static void its_runs_are_listed(void **state) {
    (void)state;
    told answer = tell("list", "runs", "--db", old_store(), "--last", "100", "--json");
    json_t *runs = json_of(&answer);
    size_t i, diverged = 0;
    json_t *run;
    assert_int_equal(json_array_size(runs), 25);
    json_array_foreach(runs, i, run) diverged +=
        strcmp(json_string_value(json_object_get(run, "state")), "diverged") == 0;
    assert_int_equal(diverged, 1);
    json_decref(runs);
}

static void a_run_is_shown_with_the_command_of_today(void **state) {
    (void)state;
    told answer = tell("show", "d18691ad29fb", "-v", "--db", old_store());
    expect_code(answer, 0);
    expect_says(answer.out, "5e3bc93b018a");
    expect_says(answer.out, "0.033743425"); /* f_error_all */
    expect_says(answer.out, "-s stir=0.1"); /* made by */
    expect_says(answer.out, "-s start_jitter=0.1");
    forget(&answer);
}

static void verdicts_and_comparisons_are_there(void **state) {
    (void)state;
    const char *path = old_store();
    told answer = tell("db", "export", "--db", path, "--what", "claims", "--format", "csv");
    expect_code(answer, 0);
    expect_says(answer.out, "desbrun1996-fig1.spline_flat_at_zero,reproduced,0,");
    forget(&answer);
    answer = tell("db", "export", "--db", path, "--what", "comparisons", "--format", "csv");
    expect_code(answer, 0);
    expect_says(answer.out, "pbd_distance,pbd_distance:solver=coloured_gs,inconclusive,8,1.0286911399817522,");
    forget(&answer);
}

static void runs_are_found_by_the_name_of_today(void **state) {
    (void)state;
    told answer = tell("db", "export", "--db", old_store(), "-s", "start_jitter=0.1", "--format", "csv", "--columns",
                       "run_id,start_jitter", "--precision", "3");
    expect_code(answer, 0);
    assert_string_equal(answer.out, "run_id,start_jitter\r\nd18691ad29fb81de527df6558101ab07,0.1\r\n");
    forget(&answer);
}

/* ---- Going on ---------------------------------------------------------------------------------------------------- */

static json_t *histories(const char *path, const char *case_name, const char *metric, const char *setting) {
    told answer = tell("history", "--db", path, "--json", "--case", case_name, "--metric", metric,
                       setting ? "-s" : NULL, setting);
    return json_of(&answer);
}

/* Repeats the run of the old store with the current name of the parameter. */
static void add_rotation(const char *path) {
    told answer = tell("run", ROTATION, "-s", "start_jitter=0.1", "--db", path, "-q");
    expect_code(answer, 0);
    forget(&answer);
}

/* Expects one history of two builds. A machine or compiler flags other than those of the old store start a new history:
 * then there are two, and both have the value. */
static void assert_two_builds(json_t *all, double value) {
    if (json_array_size(all) == 2) {
        print_message("    not the machine and flags of the old store: two histories\n");
        for (size_t i = 0; i < 2; i++) {
            const json_t *points = json_object_get(json_array_get(all, i), "points");
            assert_int_equal(json_array_size(points), 1);
            assert_near(json_number_value(json_object_get(json_array_get(points, 0), "value")), value);
        }
        return;
    }
    assert_int_equal(json_array_size(all), 1);
    const json_t *h = json_array_get(all, 0), *points = json_object_get(h, "points");
    assert_int_equal(json_array_size(points), 2);
    assert_near(json_number_value(json_object_get(json_array_get(points, 0), "value")), value);
    assert_near(json_number_value(json_object_get(json_array_get(points, 1), "value")), value);
    assert_string_equal(json_string_value(json_object_get(json_array_get(points, 0), "git_sha")),
                        "5e3bc93b018a9a89f7b79961cb926150120a8117");
}

static void a_history_goes_on(void **state) {
    (void)state;
    const char *path = old_store();
    told answer =
        tell("run", "cube_shear", "-m", "pbd_distance", "-s", "cells=1", "-s", "nu=0.4", "-t", "1", "--db", path, "-q");
    expect_code(answer, 0);
    forget(&answer);
    json_t *all = histories(path, "cube_shear", "displacement_error", "nu=0.4");
    assert_two_builds(all, 0.148611277204364);
    json_decref(all);
    assert_clean(path);
}

static void a_history_goes_on_across_a_renamed_parameter(void **state) {
    (void)state;
    const char *path = old_store();
    add_rotation(path);
    assert_sql(path, "SELECT count(*) FROM cell WHERE case_name = 'rotation'", "2");
    json_t *all = histories(path, "rotation", "f_error_all", "start_jitter=0.1");
    assert_two_builds(all, 0.033743425);
    const json_t *params = json_object_get(json_array_get(all, 0), "params");
    assert_near(json_number_value(json_object_get(params, "start_jitter")), 0.1);
    assert_null(json_object_get(params, "stir"));
    assert_int_equal(json_array_size(json_object_get(json_array_get(all, 0), "cell_ids")), 2);
    const bool one = json_array_size(all) == 1;
    json_decref(all);
    assert_clean(path);
    if (!one) return;
    /* The same for the newest cells only. */
    told answer = tell("history", "--db", path, "--case", "rotation", "--metric", "f_error_all");
    expect_code(answer, 0);
    expect_says(answer.out, "1 histories of 1 cells");
    expect_says(answer.out, "2 builds");
    forget(&answer);
}

/* The newest build of a cell counts, whichever name its parameter had. */
static void a_work_precision_diagram_has_one_point_for_both_names(void **state) {
    (void)state;
    const char *path = old_store();
    add_rotation(path);
    told answer = tell("plot", "work-precision", "--case", "rotation", "--db", path, "--json");
    json_t *work = json_of(&answer);
    const json_t *points = json_object_get(work, "points");
    assert_int_equal(json_array_size(points), 1);
    const char *sha = json_string_value(json_object_get(json_array_get(points, 0), "git_sha"));
    /* times under sanitizers are ignored, so the old build stays */
    assert_int_equal(strcmp(sha, "5e3bc93b018a9a89f7b79961cb926150120a8117") == 0, SANITIZED);
    json_decref(work);
}

static void the_former_name_is_refused_with_the_new_one(void **state) {
    (void)state;
    told answer = tell("run", ROTATION, "-s", "stir=0.1", "--no-store");
    expect_code(answer, 2);
    expect_says(answer.err, "the parameter 'stir' is called 'start_jitter' now");
    forget(&answer);
}

static void it_is_merged_into_a_new_store(void **state) {
    (void)state;
    const char *path = fresh("new.db");
    add_rotation(path);
    told answer = tell("db", "merge", old_store(), "--db", path, "--json");
    json_t *merged = json_of(&answer);
    assert_int_equal(json_integer_value(json_object_get(merged, "added")), 25);
    json_decref(merged);
    assert_clean(path);
    json_t *all = histories(path, "rotation", "f_error_all", NULL);
    assert_two_builds(all, 0.033743425);
    json_decref(all);
}

/* ---- Comparing with an older program ----------------------------------------------------------------------------- */

/* A script that accepts `stir` but not `start_jitter`, also in --help; `change` is a sed command applied to its
 * output. */
static const char *older_program(const char *change) {
    const char *path = in_workplace("older");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "#!/bin/sh\n"
            "case \" $*\" in *' start_jitter='*) echo 'unknown parameter start_jitter' >&2; exit 2;; esac\n"
            "for word; do shift; case $word in stir=*) word=start_jitter=${word#*=};; esac; set -- \"$@\" \"$word\"; "
            "done\n"
            "'%s' \"$@\" | sed 's/start_jitter/stir/g; %s'\n",
            getenv("PBDBENCH_PROGRAM"), change);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static told compare_with(const char *program) {
    return tell("compare", "corrected_sph", "--case", "rotation", "-s", "nx=4", "-s", "ny=4", "-s", "nz=4", "-s",
                "start_jitter=0.1", "-s", "dt=0.005", "--build-a", program, "--max-pairs", "8", "--time", "0.0005",
                "--no-store", "--json", "-q");
}

static void a_program_that_knows_the_former_name_is_compared(void **state) {
    (void)state;
    told answer = compare_with(older_program(""));
    if (answer.code != 4) expect_code(answer, 0); /* 4: eight pairs may be inconclusive */
    json_t *compared = json_loads(answer.out, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(compared, "pairs")), 8);
    json_decref(compared);
    forget(&answer);
}

/* The two programs give one cell different ids; their answers are compared nevertheless. */
static void answers_are_compared_across_a_renamed_parameter(void **state) {
    (void)state;
    told answer =
        compare_with(older_program("s/\"cell_id\":\"....../\"cell_id\":\"000000/;"
                                   "s/\"steps\":{\"value\":1,/\"steps\":{\"value\":2,/"));
    expect_code(answer, 3);
    expect_says(answer.out, "steps is 2 in A and 1 in B");
    forget(&answer);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static void values_keep_their_spelling_and_keys_their_order(void **state) {
    (void)state;
    char *params = pbd_params_today("rotation", "vbd", "{\"a\":1e-09,\"seed\":1,\"stir\":0.10,\"t\":\"x\\\"},:\"}");
    assert_string_equal(params, "{\"a\":1e-09,\"seed\":1,\"start_jitter\":0.10,\"t\":\"x\\\"},:\"}");
    free(params);
    params = pbd_params_today("rotation", "vbd", "{\"spin\":0,\"stage\":2,\"stir\":1}");
    assert_string_equal(params, "{\"spin\":0,\"stage\":2,\"start_jitter\":1}");
    free(params);
    params = pbd_params_today("twist", "vbd", "{\"stir\":1}"); /* a parameter of another case */
    assert_string_equal(params, "{\"stir\":1}");
    free(params);
    params = pbd_params_today("rotation", "xpbi", "{\"dt\":1,\"kernel\":\"poly6\",\"stir\":1}"); /* added since */
    assert_string_equal(params,
                        "{\"acceleration\":\"none\",\"dt\":1,\"hourglass_form\":\"springs\",\"kernel\":\"poly6\","
                        "\"plain_sweeps\":3,\"spectral_radius\":0,\"start_jitter\":1,\"window\":5}");
    free(params);
    params = pbd_params_today("rotation", "xpbi", "{\"dt\":1,\"hourglass_form\":\"penalty\"}");
    assert_string_equal(params,
                        "{\"acceleration\":\"none\",\"dt\":1,\"hourglass_form\":\"penalty\",\"plain_sweeps\":3,"
                        "\"spectral_radius\":0,\"window\":5}");
    free(params);
    params = pbd_params_today("rotation", "mlsrk", "not an object");
    assert_string_equal(params, "not an object");
    free(params);
    assert_string_equal(pbd_name_today("rotation", "mlsrk", "stir"), "start_jitter");
    assert_null(pbd_name_today("rotation", "mlsrk", "start_jitter"));
    assert_string_equal(pbd_name_before("rotation", "mlsrk", "start_jitter"), "stir");
    assert_null(pbd_name_before("twist", "mlsrk", "start_jitter"));
}

/* A former name must not be the current name of a parameter, which would be mistaken for it. */
static void former_names_are_free(void **state) {
    (void)state;
    for (size_t i = 0; i < pbd_case_count(); i++)
        for (const pbd_param *p = pbd_case_at(i)->params; p && p->name; p++)
            assert_null(pbd_name_today(pbd_case_at(i)->name, "", p->name));
    for (size_t i = 0; i < pbd_method_count(); i++) {
        const pbd_method *m = pbd_method_at(i)->by_precision[PBD_PRECISION_F64];
        for (const pbd_param *p = m->params; p && p->name; p++) assert_null(pbd_name_today("", m->name, p->name));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_sound),
        cmocka_unit_test(its_runs_are_listed),
        cmocka_unit_test(a_run_is_shown_with_the_command_of_today),
        cmocka_unit_test(verdicts_and_comparisons_are_there),
        cmocka_unit_test(runs_are_found_by_the_name_of_today),
        cmocka_unit_test(a_history_goes_on),
        cmocka_unit_test(a_history_goes_on_across_a_renamed_parameter),
        cmocka_unit_test(a_work_precision_diagram_has_one_point_for_both_names),
        cmocka_unit_test(the_former_name_is_refused_with_the_new_one),
        cmocka_unit_test(it_is_merged_into_a_new_store),
        cmocka_unit_test(a_program_that_knows_the_former_name_is_compared),
        cmocka_unit_test(answers_are_compared_across_a_renamed_parameter),
        cmocka_unit_test(values_keep_their_spelling_and_keys_their_order),
        cmocka_unit_test(former_names_are_free),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
