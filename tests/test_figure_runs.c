/* Which runs `reproduce` makes for a small paper made by the test: none twice, in which order, and how many at a time.
 * Verdicts and refusals are in test_reproduce.c. */
#include "tests/paper.h"

static void test_again_makes_every_run_anew(void **state) {
    (void)state;
    for (int i = 1; i <= 2; i++) {
        told answer = tell("reproduce", "tiny-fig1", "-q", "--again", DB("again.db"));
        expect_code(answer, 0);
        expect_says(answer.out, "tiny-fig1: 1 reproduced, 1 not reproduced, 1 not run");
        assert_int_equal(count_runs("again.db"), 5 * i);
        forget(&answer);
    }
}

static void test_dry_run_makes_nothing(void **state) {
    (void)state;
    told answer = tell("reproduce", "tiny-fig1", "--dry-run", DB("dry.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "5 runs, 0 stored, 5 to make; about 2 s (as its file says); about 10 MiB");
    expect_says(answer.out, "hex_fit pbd_distance nu=0.4");
    assert_false(exists("dry.db"));
    forget(&answer);
    answer = tell("reproduce", "tiny-fig1", "--dry-run", "--quick", DB("dry.db"));
    expect_says(answer.out, "2 runs, 0 stored, 2 to make; about 0.5 s (as its file says)");
    forget(&answer);
    answer = tell("reproduce", "tiny-fig1", "--quick", DB("dry.db"));
    expect_code(answer, 0);
    forget(&answer);
    answer = tell("reproduce", "tiny-fig1", "--dry-run", "--json", DB("dry.db"));
    expect_code(answer, 0);
    json_t *forecast = parse_line(answer.out);
    assert_int_equal(json_integer_value(json_object_get(forecast, "stored")), 2);
    assert_int_equal(json_integer_value(json_object_get(forecast, "to_make")), 3);
    assert_int_equal(json_array_size(json_object_get(forecast, "labels")), 3);
    assert_true(json_real_value(json_object_get(forecast, "seconds")) < 1); /* now estimated from the two stored runs */
    assert_int_equal(count_runs("dry.db"), 2);
    json_decref(forecast);
    forget(&answer);
}

/* A paper's key and `all` stand for its figures; runs that two figures share are made once, even with --again. */
static void test_figures_share_runs(void **state) {
    (void)state;
    make_figure("tiny-text",
                "claims:\n  - {id: tiny.text, says: some text, sql: SELECT count(*) AS value FROM fit, "
                "reproduced: '> 9', partly: '> 4'}\n");
    told answer = tell("reproduce", "tiny", "--json", "--again", DB("shared.db"));
    expect_code(answer, 0);
    assert_int_equal(count_runs("shared.db"), 5);
    json_t *first = parse_line(answer.out), *second = parse_line(strchr(answer.out, '\n') + 1);
    assert_string_equal(string_of(first, "figure"), "tiny-fig1");
    assert_string_equal(string_of(second, "figure"), "tiny-text");
    json_t *ids = json_object_get(claim_named(first, "tiny-fig1.holds"), "run_ids");
    json_t *text = claim_named(second, "tiny.text");
    assert_true(json_equal(ids, json_object_get(text, "run_ids")));
    assert_true(json_number_value(json_object_get(text, "value")) == 5);
    json_decref(first);
    json_decref(second);
    forget(&answer);
    answer = tell("reproduce", "tiny", "--dry-run", "--again", DB("shared.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "together: 5 different runs, 5 to make");
    forget(&answer);
    answer = tell("reproduce", "all", "-q", DB("shared.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "tiny-text: 1 partly");
    assert_int_equal(count_runs("shared.db"), 5);
    forget(&answer);
    unlink(in_workplace("plots/tiny-text/figure.yaml"));
    rmdir(in_workplace("plots/tiny-text"));
}

/* Cells take turns: each is run once before any is run again. One process: of two, the second may start the next round
 * before the first starts the run that it took. */
static void test_repeats_are_rounds(void **state) {
    (void)state;
    make_figure("tiny-rounds",
                "  - {name: again, case: hex_fit, method: pbd_distance, threads: 1, repeats: 3, axes: "
                "[\"nu=0.05:0.45:0.1\"]}\nclaims:\n  - {id: tiny.rounds, says: some text, sql: SELECT count(*) AS "
                "value FROM again, reproduced: '> 14'}\n");
    told answer = tell("reproduce", "tiny-rounds", "--jobs", "1", DB("rounds.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "reproduced      tiny.rounds");
    forget(&answer);
    static const char *const late =
        "SELECT (SELECT max(started_at) FROM run WHERE repeat = %d) <= "
        "(SELECT min(started_at) FROM run WHERE repeat = %d)";
    for (int round = 0; round < 2; round++) {
        char query[200];
        snprintf(query, sizeof query, late, round, round + 1);
        assert_int_equal(count_rows("rounds.db", query), 1);
    }
    unlink(in_workplace("plots/tiny-rounds/figure.yaml"));
    rmdir(in_workplace("plots/tiny-rounds"));
}

/* ---- Several runs at a time -------------------------------------------------------------------------------------- */

/* Runs and data do not depend on the number of processes; each process is stored as a separate invocation. */
static void test_runs_beside_each_other(void **state) {
    (void)state;
    char *data[2];
    static const char *const jobs[] = {"1", "3"}, *const db[] = {"one.db", "three.db"};
    for (int k = 0; k < 2; k++) {
        told answer = tell("reproduce", "tiny-fig1", "--jobs", jobs[k], "--db", in_workplace(db[k]), "--out",
                           in_workplace("pictures"));
        expect_code(answer, 0);
        expect_says(answer.out, "reproduced      tiny-fig1.holds  = 0.051");
        forget(&answer);
        assert_int_equal(count_runs(db[k]), 5);
        data[k] = read_text(in_workplace("pictures/tiny-fig1/fitted.tsv"));
    }
    assert_string_equal(data[0], data[1]);
    free(data[0]);
    free(data[1]);
    assert_int_equal(count_rows("one.db", "SELECT count(*) FROM invocation"), 1);
    assert_int_equal(count_rows("three.db", "SELECT count(*) FROM invocation"), 4);
    assert_int_equal(count_rows("three.db",
                                "SELECT count(*) FROM run WHERE invocation_id IN "
                                "(SELECT invocation_id FROM claim_result)"),
                     0); /* all made by worker processes */
    told answer = tell("reproduce", "tiny-fig1", "--jobs", "3", "--again", DB("three.db"));
    expect_code(answer, 0);
    forget(&answer);
    assert_int_equal(count_rows("three.db", "SELECT count(*) FROM invocation"), 8);
    answer = tell("reproduce", "tiny-fig1", "--jobs", "0", DB("three.db"));
    expect_code(answer, 2);
    forget(&answer);
}

/* A run whose time is read by a query runs alone, even if other figures use it untimed. --dry-run reports both groups
 * and counts each run once: of ten runs of 24 s five are timed, by another figure. With --quick no time is judged. */
static void test_timed_runs_are_alone(void **state) {
    (void)state;
    make_figure("tiny-timed",
                "seconds: 60\nquick_seconds: 60\nclaims:\n  - {id: tiny.slow, says: some text, sql: SELECT "
                "max(solve_cpu_s) AS value FROM fit, reproduced: '> 9'}\n");
    make_figure("tiny-untimed",
                "  - {name: other, case: hex_fit, method: pbd_distance, threads: 1, axes: [\"nu=0.05:0.45:0.1\"]}\n"
                "seconds: 240\nquick_seconds: 240\nclaims:\n  - {id: tiny.walls, says: some text, sql: \"SELECT "
                "count(*) AS value, 'deepest_in_walls' AS note FROM fit\", reproduced: '> 9'}\n");
    make_figure(
        "tiny-timed-table",
        "seconds: 60\nquick_seconds: 60\ntables:\n  - {name: cost, sql: SELECT solve_cpu_s AS s FROM fit}\n"
        "claims:\n  - {id: tiny.dear, says: some text, sql: SELECT max(s) AS value FROM cost, reproduced: '> 9'}\n");
    told answer = tell("reproduce", "tiny-untimed", "tiny-timed", "--dry-run", "--jobs", "2", DB("timed.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "about 3 min: 2 min of runs that are timed or have several threads, one by one, and 1 min");
    forget(&answer);
    answer = tell("reproduce", "tiny-untimed", "tiny-timed-table", "--dry-run", "--jobs", "2", DB("timed.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "about 3 min: 2 min of runs that are timed or have several threads, one by one, and 1 min");
    forget(&answer);
    answer = tell("reproduce", "tiny-untimed", "tiny-timed", "--dry-run", "--quick", "--jobs", "2", DB("timed.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "0 min of runs that are timed");
    forget(&answer);
    answer = tell("reproduce", "tiny-timed", "--jobs", "3", DB("timed.db"));
    expect_code(answer, 0);
    forget(&answer);
    assert_int_equal(count_rows("timed.db", "SELECT count(*) FROM invocation"), 1);
    static const char *const folders[] = {"plots/tiny-timed", "plots/tiny-untimed", "plots/tiny-timed-table"};
    for (int k = 0; k < 3; k++) {
        char file[60];
        snprintf(file, sizeof file, "%s/figure.yaml", folders[k]);
        unlink(in_workplace(file));
        rmdir(in_workplace(folders[k]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_again_makes_every_run_anew), cmocka_unit_test(test_dry_run_makes_nothing),
        cmocka_unit_test(test_figures_share_runs),         cmocka_unit_test(test_repeats_are_rounds),
        cmocka_unit_test(test_runs_beside_each_other),     cmocka_unit_test(test_timed_runs_are_alone),
    };
    return cmocka_run_group_tests(tests, make_paper, remove_workplace);
}
