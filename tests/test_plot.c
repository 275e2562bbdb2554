/* The verbs plot and cite on a small paper made by the test; sweeps. */
#include "tests/paper.h"

/* ---- plot and cite ----------------------------------------------------------------------------------------------- */

static void test_plot_draws_from_the_store_only(void **state) {
    (void)state;
    char db[PATH_MAX + 64]; /* a copy: in_workplace() reuses its buffer */
    snprintf(db, sizeof db, "%s", in_workplace("plot.db"));
    told answer = tell("plot", "tiny-fig1", "--db", db);
    expect_code(answer, 2);
    expect_says(answer.err, "plot.db");
    forget(&answer);
    answer = tell("reproduce", "tiny-fig1", "--quick", "--db", db, "--out", in_workplace("pictures"));
    expect_code(answer, 0);
    forget(&answer);
    answer = tell("plot", "tiny-fig1", "--db", db, "--out", in_workplace("redrawn"));
    expect_code(answer, 0);
    expect_says(answer.out, "3 of 5 runs are missing");
    assert_true(exists("redrawn/tiny-fig1.png"));
    assert_int_equal(count_runs("plot.db"), 2);
    forget(&answer);
    static const char *const ends[] = {".png", ".svg", ".pdf"};
    for (size_t i = 0; i < 3; i++) {
        char name[40];
        snprintf(name, sizeof name, "redrawn/it's one%s", ends[i]);
        answer = tell("plot", "hex_fit", "-x", "nu", "-y", "k_edge", "--by", "face_split", "--log", "y", "--db", db,
                      "-o", in_workplace(name));
        expect_code(answer, 0);
        assert_true(exists(name));
        forget(&answer);
    }
    answer = tell("plot", "hex_fit", "-x", "nuu", "-y", "k_edge", "--db", db);
    expect_code(answer, 2);
    expect_says(answer.err, "did you mean 'nu'");
    forget(&answer);
    answer = tell("plot", "nothing-near", "--db", db);
    expect_code(answer, 2);
    expect_says(answer.err, "`pbdbench list figures cases` lists them");
    forget(&answer);
    answer = tell("plot", "hex_fit", "-x", "nu", "-y", "face_split", "--db", db);
    expect_code(answer, 2);
    expect_says(answer.err, "nothing to draw");
    forget(&answer);
}

static void test_cite(void **state) {
    (void)state;
    told answer = tell("cite", "tiny-fig1");
    expect_code(answer, 0);
    expect_says(answer.out, "A. One, B. Two: A Tiny Paper. Journal of Small Things (1999)");
    expect_says(answer.out, "pbdbench 0.");
    expect_says(answer.out, "commit ");
    forget(&answer);
    answer = tell("cite", "tiny", "--bibtex");
    expect_code(answer, 0);
    expect_says(answer.out, "@article{tiny,");
    expect_says(answer.out, "author = {A. One and B. Two}");
    expect_says(answer.out, "@software{pbdbench,");
    forget(&answer);
}

/* ---- Sweeps ------------------------------------------------------------------------------------------------------ */

/* Every run of a sweep is checked before the first is made. */
static void test_bad_sweep_makes_nothing(void **state) {
    (void)state;
    write_text("bad.yaml",
               "runs:\n  - {name: a, case: hex_fit, method: pbd_distance}\n"
               "  - {name: b, case: hex_fit, method: pbd_distance, axes: [\"nu=0,0.25,0.5\"]}\n");
    told answer = tell("sweep", in_workplace("bad.yaml"), "--db", in_workplace("none.db"));
    expect_code(answer, 2);
    expect_says(answer.err, "bad.yaml: runs[1] 'b'");
    expect_says(answer.err, "nu=0.5");
    assert_false(exists("none.db"));
    forget(&answer);
}

static void test_sweep_prints_every_run(void **state) {
    (void)state;
    write_text("few.yaml",
               "runs:\n  - {name: a, case: hex_fit, method: pbd_distance, axes: [\"nu=0,0.25\"], repeats: 2}\n");
    for (int i = 0; i < 2; i++) { /* first made, then found in the store: the same objects */
        told answer = tell("sweep", in_workplace("few.yaml"), "--json", "--db", in_workplace("few.db"));
        expect_code(answer, 0);
        const char *line = answer.out;
        for (int k = 0; k < 4; k++, line = strchr(line, '\n') + 1) {
            json_t *run = parse_line(line);
            assert_string_equal(string_of(run, "case"), "hex_fit");
            assert_int_equal(strlen(string_of(run, "run_id")), 32);
            json_decref(run);
        }
        assert_string_equal(line, "");
        forget(&answer);
    }
    told answer = tell("sweep", in_workplace("few.yaml"), "--dry-run", "--db", in_workplace("few.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "4 runs, 4 stored, 0 to make");
    forget(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plot_draws_from_the_store_only),
        cmocka_unit_test(test_cite),
        cmocka_unit_test(test_bad_sweep_makes_nothing),
        cmocka_unit_test(test_sweep_prints_every_run),
    };
    return cmocka_run_group_tests(tests, make_paper, remove_workplace);
}
