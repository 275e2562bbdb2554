/* What the figures of a paper share: its settings of a method, and runs of the paper's size. */
#include "tests/paper.h"

/* ---- One setting for all figures of a paper ---------------------------------------------------------------------- */

/* Writes papers.yaml with `settings` added to the tiny paper. */
static void set_for_all(const char *settings) {
    static const char before[] = "    venue: Journal of Small Things\n";
    const char *rest = strstr(papers, before) + strlen(before);
    char *text = NULL;
    assert_true(asprintf(&text, "%.*s%s%s", (int)(rest - papers), papers, settings, rest) > 0);
    write_text("plots/papers.yaml", text);
    free(text);
}

/* The output of `reproduce tiny-set` for a figure whose file and runs have these extra keys; to be forgotten. */
static told reproduced_with(const char *keys, const char *of_runs) {
    char *text = NULL;
    assert_true(asprintf(&text,
                         "figure: tiny-set\npaper: tiny\ntitle: t\n%sruns:\n  - {name: fit, case: hex_fit, method: "
                         "pbd_distance, threads: 1, axes: [\"nu=0,0.4\"]%s}\n",
                         keys, of_runs) > 0);
    write_text("plots/tiny-set/figure.yaml", text);
    free(text);
    return tell("reproduce", "tiny-set", DB("set.db"));
}

static void test_a_paper_sets_a_method_once(void **state) {
    (void)state;
    static const char differs[] = "differs: [{key: solver, because: as in the other book}]\n";
    set_for_all("    settings: [{method: pbd_distance, set: [solver=coloured_gs], because: page 3}]\n");
    assert_int_equal(mkdir(in_workplace("plots/tiny-set"), 0777), 0);
    told answer = reproduced_with("", "");
    expect_code(answer, 0);
    forget(&answer);
    assert_int_equal(count_rows("set.db", "SELECT count(*) FROM cell WHERE params LIKE '%coloured_gs%'"), 2);
    /* A figure that departs from the paper's setting must say why, even if it departs in --quick alone. An axis that
     * includes the paper's value does not depart. */
    static const char *const silent[] = {", set: [solver=jacobi]", ", quick: [solver=jacobi]"};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        answer = reproduced_with("", silent[i]);
        expect_code(answer, 2);
        expect_says(answer.err,
                    "plots/tiny-set/figure.yaml: runs[0] 'fit': solver=jacobi is not the "
                    "solver=coloured_gs of all figures of tiny");
        expect_says(answer.err, "`differs`");
        forget(&answer);
        answer = reproduced_with(differs, silent[i]);
        expect_code(answer, 0);
        forget(&answer);
    }
    assert_int_equal(count_rows("set.db", "SELECT count(*) FROM cell WHERE params LIKE '%\"solver\":\"jacobi\"%'"), 2);
    answer = tell("list", "figures", "--json");
    expect_says(answer.out, "as in the other book");
    expect_says(answer.out, "solver=coloured_gs");
    forget(&answer);
    answer = reproduced_with("", ", set: [solver=coloured_gs]");
    expect_code(answer, 0);
    forget(&answer);
    write_text("plots/tiny-set/figure.yaml",
               "figure: tiny-set\npaper: tiny\ntitle: t\nruns:\n  - {name: fit, case: "
               "hex_fit, method: pbd_distance, axes: [\"solver=jacobi,coloured_gs\"]}\n");
    answer = tell("reproduce", "tiny-set", "--dry-run", DB("set.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "2 runs");
    forget(&answer);
    /* A parameter that only other cases have is ignored; one that no case or method has is an error. */
    set_for_all("    settings: [{method: pbd_distance, set: [sampling=poisson], because: page 3}]\n");
    answer = reproduced_with("", "");
    expect_code(answer, 0);
    forget(&answer);
    set_for_all("    settings: [{method: pbd_distance, set: [samplings=poisson], because: page 3}]\n");
    answer = reproduced_with("", "");
    expect_code(answer, 2);
    expect_says(answer.err, "samplings");
    forget(&answer);
    set_for_all("    settings: [{method: pbd_distance, set: [solver=coloured_gs], because: page 3}]\n");
    /* A reason without a departure, and a setting without a value, are refused. */
    answer = reproduced_with(differs, "");
    expect_code(answer, 2);
    expect_says(answer.err, "no run differs from its paper in 'solver'");
    forget(&answer);
    set_for_all("    settings: [{method: pbd_distance, set: [solver], because: page 3}]\n");
    answer = reproduced_with("", "");
    expect_code(answer, 2);
    expect_says(answer.err, "'solver': expected key=value");
    forget(&answer);
    write_text("plots/papers.yaml", papers);
    unlink(in_workplace("plots/tiny-set/figure.yaml"));
    rmdir(in_workplace("plots/tiny-set"));
}

/* ---- The paper's size -------------------------------------------------------------------------------------------- */

static void test_full_makes_runs_of_the_papers_size(void **state) {
    (void)state;
    assert_int_equal(mkdir(in_workplace("plots/tiny-big"), 0777), 0);
    write_text("plots/tiny-big/figure.yaml",
               "figure: tiny-big\npaper: tiny\ntitle: t\nruns:\n"
               "  - {name: fit, case: hex_fit, method: pbd_distance, threads: 1, axes: [\"nu=0,0.4\"], "
               "full: [\"nu=0,0.1,0.2,0.3\", edge=3]}\n"
               "  - {name: small, case: hex_fit, method: pbd_distance, threads: 1, set: [nu=0.45]}\n"
               "claims:\n  - {id: big.runs, says: a, sql: SELECT count(*) AS value FROM fit WHERE edge = 3, "
               "reproduced: '= 4', full_size: true}\n");
    write_text("plots/tiny-big/verdicts.csv", "claim,verdict\nbig.runs,not_reproduced\n");
    told answer = tell("reproduce", "tiny-big", DB("big.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "not reproduced  big.runs");
    forget(&answer);
    assert_int_equal(count_runs("big.db"), 3);
    /* The sweep file holds only the runs with the paper's size. */
    answer = tell("reproduce", "tiny", "--full", "--sweep", in_workplace("big.yaml"), DB("big.db"));
    expect_code(answer, 0);
    forget(&answer);
    answer = tell("sweep", in_workplace("big.yaml"), "-q", "--db", in_workplace("big.db"));
    expect_code(answer, 0);
    forget(&answer);
    assert_int_equal(count_runs("big.db"), 7);
    /* The figure then finds these runs. No verdict is compared, and figures without such runs are left out. */
    answer = tell("reproduce", "tiny", "--full", DB("big.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "tiny-big (full): t");
    expect_says(answer.out, "reproduced      big.runs (full)  = 4");
    assert_null(strstr(answer.out, "DIFFERS"));
    assert_null(strstr(answer.out, "tiny-fig1"));
    forget(&answer);
    assert_int_equal(count_runs("big.db"), 7);
    static const char *const refused[][2] = {{"--accept", "remove --full"}, {"--quick", "exclude each other"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        answer = tell("reproduce", "tiny-big", "--full", refused[i][0], DB("big.db"));
        expect_code(answer, 2);
        expect_says(answer.err, refused[i][1]);
        forget(&answer);
    }
    answer = tell("reproduce", "tiny-fig1", "--full", DB("big.db"));
    expect_code(answer, 2);
    expect_says(answer.err, "no run of what is named has a size of the paper's");
    forget(&answer);
    unlink(in_workplace("plots/tiny-big/figure.yaml"));
    unlink(in_workplace("plots/tiny-big/verdicts.csv"));
    rmdir(in_workplace("plots/tiny-big"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_paper_sets_a_method_once),
        cmocka_unit_test(test_full_makes_runs_of_the_papers_size),
    };
    return cmocka_run_group_tests(tests, make_paper, remove_workplace);
}
