/* The time of day jumps by years while the program runs (stubs/clock.c): durations come from other clocks, every verb
 * ends, and the store holds all runs. Bounds on durations only distinguish seconds from a jump. */
#include "tests/paper.h"

/* s; longer than any process of these tests takes. A jump is 3e7 s or more. */
#define LONG "1000"

static int begin(void **state) {
    (void)state;
#ifdef PBD_TEST_CLOCK
    setenv("LD_PRELOAD", PBD_TEST_CLOCK, 1);
#endif
    return 0;
}

static int end(void **state) {
    (void)state;
    return unsetenv("LD_PRELOAD");
}

static void need_clock(void) {
#ifndef PBD_TEST_CLOCK
    print_message("  skipped: sanitizers want to be the first library of a process, where the clock would be\n");
    skip();
#endif
}

/* Checks that the clock jumped, that no duration did, and that no run was lost. */
static void expect_sound(const char *db, sqlite3_int64 runs) {
    assert_int_equal(count_runs(db), runs);
    assert_int_equal(count_rows(db, "SELECT count(*) FROM run WHERE state <> 'ok'"), 0);
    assert_int_equal(count_rows(db, "SELECT count(*) > 0 FROM phase WHERE wall_s > 0 AND cpu_s > 0"), 1);
    assert_int_equal(count_rows(db, "SELECT count(*) FROM phase WHERE NOT (wall_s >= 0 AND wall_s < " LONG
                                    " AND cpu_s >= 0 AND cpu_s < " LONG ")"),
                     0);
    assert_int_equal(
        count_rows(db, "SELECT julianday(max(started_at)) - julianday(min(started_at)) BETWEEN 300 AND 5000 FROM run"),
        1);
    told answer = tell("db", "check", "--db", in_workplace(db));
    expect_code(answer, 0);
    forget(&answer);
}

static void expect_times(const char *db) {
    assert_true(count_rows(db, "SELECT count(*) FROM comparison_pair WHERE a_s > 0 AND b_s > 0") >= 8);
    assert_int_equal(count_rows(db, "SELECT count(*) FROM comparison_pair WHERE NOT (a_s > 0 AND a_s < " LONG
                                    " AND b_s > 0 AND b_s < " LONG ")"),
                     0);
}

/* Exit code 4, undecided, is allowed: a busy machine may cause it. */
static void expect_done(told answer) {
    if (answer.code != 4) expect_code(answer, 0);
    forget(&answer);
}

#define ANY_MACHINE "--max-load", "1e6", "--max-steal", "1", "--max-pairs", "8", "--time", "0.001", "--seed", "7"

/* ---- The verbs --------------------------------------------------------------------------------------------------- */

static void a_comparison_ends(void **state) {
    (void)state;
    need_clock();
    expect_done(tell("compare", "pbd_distance", "pbd_distance:solver=coloured_gs", "--case", "cube_shear", "-s",
                     "cells=3", "-s", "reference=none", "-p", "f32", ANY_MACHINE, "--db", in_workplace("compare.db")));
    expect_times("compare.db");
    expect_sound("compare.db", count_runs("compare.db"));
}

/* A program against itself; nearly twice the time would still pass. The second block of a cell comes a second later. */
static void a_gate_ends(void **state) {
    (void)state;
    need_clock();
    write_text("suite.yaml",
               "cells:\n  - {name: one, case: cube_shear, method: pbd_distance, precision: f32, set: [cells=3, "
               "reference=none]}\n");
    expect_done(tell("gate", "--baseline", getenv("PBDBENCH_PROGRAM"), "--suite", in_workplace("suite.yaml"),
                     "--max-regression", "99%", "--confirm-after", "1", ANY_MACHINE, "--db", in_workplace("gate.db")));
    expect_times("gate.db");
    expect_sound("gate.db", count_runs("gate.db"));
}

/* Five cells in three shards, merged twice: the second merge adds nothing. */
static void shards_are_merged_once(void **state) {
    (void)state;
    need_clock();
    const char *const numbers[] = {"0", "1", "2"};
    char folder[PATH_MAX], db[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", in_workplace("parts"));
    snprintf(db, sizeof db, "%s", in_workplace("parts.db"));
    write_text("sweep.yaml",
               "runs:\n  - {name: fit, case: hex_fit, method: pbd_distance, threads: 1, axes: [\"nu=0:0.4:0.1\"]}\n");
    expect_done(tell("sweep", "plan", in_workplace("sweep.yaml"), "--shard-cells", "2", "--dir", folder));
    for (size_t i = 0; i < 3; i++) expect_done(tell("sweep", "run-shard", numbers[i], "-q", "--dir", folder));
    for (int again = 0; again < 2; again++) {
        expect_done(tell("sweep", "merge", "--db", db, "--dir", folder));
        expect_sound("parts.db", 5);
    }
    expect_done(tell("run", "hex_fit", "-m", "pbd_distance", "-t", "1", "-a", "nu=0:0.4:0.1", "--db", db, "-q"));
    expect_sound("parts.db", 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comparison_ends),
        cmocka_unit_test(a_gate_ends),
        cmocka_unit_test(shards_are_merged_once),
    };
    return cmocka_run_group_tests_name("clock", tests, begin, end);
}
