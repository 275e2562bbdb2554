/* `compare`: its output and exit codes, with scripts in place of programs, and two real comparisons at the end. No test
 * judges a time. */
#include "comparison_scripts.h"
#include "tests/sanitized.h"
/* after program.h */
#include "store_sample.h"

#include <jansson.h>

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

#define WITH_FAKES                                                                                      \
    "--case", "cube_shear", "--no-store", "--max-load", ANY_LOAD_TEXT, "--max-steal", "1", "--build-a", \
        in_workplace("a.sh"), "--build-b", in_workplace("b.sh")

static void the_verb_says_what_was_found(void **state) {
    (void)state;
    say_times(&plain, &plain, 40, 1.1);
    told answer = tell("compare", "pbd_distance", WITH_FAKES, "--seed", "7");
    expect_code(answer, 0);
    assert_int_equal(strncmp(answer.out, "error      tip_error: A ", 24), 0);
    expect_says(answer.out, "\nverdict    B is ");
    expect_says(answer.out, "\ntime       CPU of a solve: A ");
    expect_says(answer.out, "\ncontrol    A differs from another process of A by 0.00 %");
    assert_null(strstr(answer.out, "bootstrap"));
    forget(&answer);
    answer = tell("compare", "pbd_distance", WITH_FAKES, "--seed", "7", "-v");
    expect_code(answer, 0);
    expect_says(answer.out, "% slower than A, 98 % interval");
    expect_says(answer.out, "8 pairs");
    expect_says(answer.out, "seed 7");
    expect_says(answer.out, "tip_error");
    expect_says(answer.out, "bootstrap");
    expect_says(answer.out, "errors and counts");
    assert_string_equal(answer.err, "");
    forget(&answer);
    setenv("COLUMNS", "60", 1);
    answer = tell("compare", "pbd_distance", WITH_FAKES, "--seed", "7", "-v");
    unsetenv("COLUMNS");
    for (const char *at = answer.out; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strcspn(at, "\n") > 60) fail_msg("longer than 60 columns: %.*s", (int)strcspn(at, "\n"), at);
    forget(&answer);
}

static void the_verb_exits_by_what_was_found(void **state) {
    (void)state;
    static const struct {
        double error, factor;
        const char *state, *most_pairs, *verdict;
        int code;
    } ways[] = {{0.25, 0.9, "ok", "8", "faster", 0},
                {0.25, 1.0, "ok", "40", "same", 0},
                {0.25, 1.01, "ok", "8", "inconclusive", 4},
                {0.35, 0.9, "ok", "8", "errors_differ", 3},
                {0.25, 0.9, "diverged", "8", "errors_differ", 5}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        begin_anew(NULL);
        saying b = plain;
        b.error = ways[i].error;
        b.state = ways[i].state;
        say_times(&plain, &b, 40, ways[i].factor);
        told answer =
            tell("compare", "pbd_distance", WITH_FAKES, "--max-pairs", ways[i].most_pairs, "--seed", "7", "--json");
        expect_code(answer, ways[i].code);
        json_t *object = json_loads(answer.out, 0, NULL);
        assert_non_null(object);
        assert_string_equal(json_string_value(json_object_get(object, "verdict")), ways[i].verdict);
        const bool claimed = ways[i].code == 0 || ways[i].code == 4;
        assert_int_equal(json_is_object(json_object_get(object, "times")), claimed);
        assert_int_equal(json_integer_value(json_object_get(object, "seed")), 7);
        const json_t *pair = json_array_get(json_object_get(object, "pairs"), 0);
        assert_int_equal(json_is_number(json_object_get(pair, "b_s")), claimed); /* times only with a claim */
        json_decref(object);
        forget(&answer);
    }
}

static void an_interrupt_ends_it_between_processes(void **state) {
    (void)state;
    say_times(&plain, &plain, 2, 1);
    FILE *b = open_file("b.says", "a");
    fputs("INTERRUPT\n", b);
    fclose(b);
    FILE *a = open_file("a.says", "a");
    for (int i = 0; i < 8; i++) say_twice(a, &plain, 1, 1);
    fclose(a);
    told answer = tell("compare", "pbd_distance", WITH_FAKES);
    expect_code(answer, 130);
    expect_says(answer.err, "interrupted after 2 of at most 40 pairs");
    assert_true(calls() <= 9);
    forget(&answer);
}

static void bad_words_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *words[8], *says;
    } wrong[] = {
        {{"compare"}, "needs a case"},
        {{"compare", "--case", "cube_shear"}, "two variants"},
        {{"compare", "pbd_distance", "--case", "cube_shear"}, "second variant beside 'pbd_distance'"},
        {{"compare", "a", "b", "c", "--case", "cube_shear"}, "'c' is an extra argument"},
        {{"compare", ":nu=1", "a", "--case", "cube_shear"}, "is not of the form METHOD:key=value"},
        {{"compare", "a", "b", "--case", "cube_shear", "--margin", "0"}, "--margin"},
        {{"compare", "a", "b", "--case", "cube_shear", "--max-pairs", "9"}, "8|12|20|40"},
        {{"compare", "a", "b", "--case", "cube_shear", "--tolerance", "x"}, "METRIC=VALUE"},
        {{"compare", "a", "b", "--case", "cube_shear", "--build-a", "/no/such"}, "'/no/such' is not a program"},
        {{"compare", "a", "--case", "cube_shear", "--rev-a", "no-such-revision"}, "is not a revision of the checkout"},
        {{"compare", "pbd_distanc", "pbd_distance", "--case", "cube_shear"}, "did you mean 'pbd_distance'?"},
        {{"compare", "pbd_distance:n=1", "pbd_distance", "--case", "cube_shear"}, "pbd_distance:n=1: "},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        told answer = tell_to(STDOUT_KEPT, wrong[i].words);
        expect_code(answer, 2);
        expect_says(answer.err, wrong[i].says);
        forget(&answer);
    }
}

/* ---- A real one -------------------------------------------------------------------------------------------------- */

#define REAL_CELL                                                                                          \
    "--max-load", ANY_LOAD_TEXT, "--max-steal", "1", "--case", "cube_shear", "-s", "cells=3", "-p", "f32", \
        "--max-pairs", "8", "--time", "0.001"

static void a_real_comparison_is_stored_with_its_runs(void **state) {
    (void)state;
    skip_if_sanitized(); /* the next test starts such processes too */
    const char *db = fresh("real.db");
    told answer = tell("compare", "pbd_distance", "pbd_distance:solver=coloured_gs", REAL_CELL, "-s", "reference=none",
                       "--db", db, "--json");
    if (answer.code != 0 && answer.code != 4) expect_code(answer, 0);
    json_t *object = json_loads(answer.out, 0, NULL);
    assert_non_null(object);
    assert_int_equal(json_array_size(json_object_get(object, "pairs")), 8);
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM comparison WHERE comparison_id = '%s' AND seed = %lld AND pairs = 8",
             json_string_value(json_object_get(object, "comparison_id")),
             (long long)json_integer_value(json_object_get(object, "seed")));
    assert_sql(db, sql, "1");
    assert_sql(db,
               "SELECT count(*) FROM comparison_pair JOIN run AS a ON a.run_id = run_a JOIN run AS b ON b.run_id = "
               "run_b WHERE a.state = 'ok' AND b.state = 'ok' AND a.cell_id <> b.cell_id",
               "8");
    /* The control is two runs of A's cell. */
    assert_sql(
        db,
        "SELECT count(*) FROM comparison AS c JOIN comparison_pair USING (comparison_id) JOIN run AS b ON b.run_id"
        " = run_b WHERE purpose = 'control' AND cell_a = cell_b AND b.cell_id = cell_a AND name_a = name_b",
        "8");
    /* The times are those of the runs. */
    assert_sql(db,
               "SELECT count(*) FROM comparison JOIN comparison_pair USING (comparison_id) JOIN metric ON run_id = "
               "run_b AND name = 'solve_cpu' AND value = "
               "b_s WHERE purpose = 'compare'",
               "8");
    /* The two alternated. The pair's log-ratio is the median over the rounds of the log-ratios of their samples. */
    assert_sql(
        db,
        "WITH round AS (SELECT p.comparison_id, p.position, ln(b.value / a.value) AS ratio FROM comparison_pair AS p"
        " JOIN series_point AS a ON a.run_id = p.run_a AND a.name = 'solve_cpu_samples'"
        " JOIN series_point AS b ON b.run_id = p.run_b AND b.name = a.name AND b.i = a.i WHERE p.rounds = 5),"
        " ranked AS (SELECT comparison_id, position, ratio,"
        " row_number() OVER (PARTITION BY comparison_id, position ORDER BY ratio) AS rank"
        " FROM round)"
        " SELECT count(*) FROM ranked JOIN comparison_pair USING (comparison_id, position)"
        " WHERE rank = 3 AND abs(ratio - log_ratio) < 1e-6",
        "16"); /* for B and for the control */
    assert_sql(db,
               "SELECT count(*) FROM comparison JOIN invocation USING (invocation_id), json_each(argv) WHERE value IN"
               " ('compare', 'pbd_distance', 'pbd_distance:solver=coloured_gs')",
               "6");
    assert_clean(db);
    json_decref(object);
    forget(&answer);
}

static void a_reference_in_the_store_is_a_limit(void **state) {
    (void)state;
    const char *db = fresh("reference.db");
    told run = tell("run", "cube_shear", "-m", "pbd_distance", "-s", "cells=3", "-p", "f32", "-t", "1", "--db", db);
    expect_code(run, 0);
    forget(&run);
    /* The method's k_edge is fitted to 0.0667. A reference does not apply to other cases or another nu. */
    assert_int_equal(plain_sql(db,
                               "INSERT INTO reference VALUES"
                               " ('cube_shear', '{\"cells\":3}', 'k_edge', 'analytic', NULL, '1', 0.5, 0.1),"
                               " ('cube_shear', '{\"cells\":7}', 'k_face', 'analytic', NULL, '1', 0.5, 0.1)"),
                     SQLITE_OK);
    told answer = tell("compare", "pbd_distance", "pbd_distance:iterations=2", REAL_CELL, "--db", db);
    expect_code(answer, 3);
    expect_says(answer.out, "no time is claimed: arm A is outside its tolerance: k_edge is off its reference by 0.433");
    forget(&answer);
    assert_sql(db,
               "SELECT verdict || ' ' || pairs || ' ' || (log_ratio IS NULL) FROM comparison WHERE purpose = 'compare'",
               "errors_differ 1 1");
    assert_sql(db, "SELECT count(*) FROM comparison_pair WHERE a_s IS NULL AND b_s IS NULL", "2");
    /* An explicit tolerance overrides it. */
    const char *const words[] = {"cube_shear", "-m", "pbd_distance", "-s", "cells=3", "-p", "f32", "-t", "1", NULL};
    const pbd_arm arm = {.name = "real", .program = getenv("PBDBENCH_PROGRAM"), .word = words};
    pbd_tolerance wide = {"k_edge", 0.45};
    pbd_arm_run again;
    pbd_status differs;
    assert_fine(pbd_arm_call(&arm, &(pbd_arm_settings){.db = db, .core = -1}, &again));
    assert_fine(pbd_judge_errors(&again, &again, db, &wide, 1, &differs));
    assert_fine(differs);
    wide.value = 0.4;
    assert_fine(pbd_judge_errors(&again, &again, db, &wide, 1, &differs));
    expect_says(differs.text, "k_edge is off its reference by 0.433265, allowed is 0.4");
    pbd_arm_run_free(&again);
    assert_clean(db);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_verb_says_what_was_found, begin_anew),
        cmocka_unit_test_setup(the_verb_exits_by_what_was_found, begin_anew),
        cmocka_unit_test_setup(an_interrupt_ends_it_between_processes, begin_anew),
        cmocka_unit_test(bad_words_are_refused),
        cmocka_unit_test(a_real_comparison_is_stored_with_its_runs),
        cmocka_unit_test(a_reference_in_the_store_is_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
