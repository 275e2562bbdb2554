/* reproduce on a small paper made by the test: verdicts, accepted verdicts, pictures, and missing or wrong input.
 * Which runs are made is in test_figure_runs.c, interrupted calls in test_stopped.c; plot, cite and sweep in
 * test_plot.c; settings that all figures of a paper share in test_paper_settings.c. */
#include "tests/paper.h"

/* ---- End to end -------------------------------------------------------------------------------------------------- */

static void test_figure_end_to_end(void **state) {
    (void)state;
    told answer = tell("reproduce", "tiny-fig1", DB("end.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "tiny-fig1: Stiffness of one cube");
    expect_says(answer.out, "reproduced      tiny-fig1.holds  = 0.051");
    expect_says(answer.out, "k_edge is what the paper prints");
    expect_says(answer.out, "at dt = 0.473 s");
    expect_says(answer.out, "not reproduced  tiny-fig1.fails  = 0.0");
    expect_says(answer.out, "not run         tiny-fig1.no_row\n");
    expect_says(answer.out, "the axis ends before");
    expect_says(answer.out, in_workplace("pictures/tiny-fig1.png"));
    expect_says(answer.out, "no accepted verdicts yet");
    assert_null(strstr(answer.out, "(quick)"));
    assert_true(exists("pictures/tiny-fig1.png"));
    forget(&answer);
    assert_int_equal(count_runs("end.db"), 5);
    assert_int_equal(count_rows("end.db", "SELECT count(*) FROM claim_result"), 3);
    assert_int_equal(count_rows("end.db", "SELECT count(*) FROM claim_run WHERE claim = 'tiny-fig1.holds'"), 5);

    /* gnuplot's input has the paper's column; nan where the paper has no value */
    char *data = read_text(in_workplace("pictures/tiny-fig1/fitted.tsv"));
    expect_says(data, "nu\tk_edge\tparam_k_edge\tpaper\tlacking\tstate\n0\t0.051");
    expect_says(data, "\t0.05\t0.0511\tnan\tok\n0.1\t");
    expect_says(data, "\t0.05\tnan\tnan\tok\n");
    free(data);

    /* a second time makes no run */
    answer = tell("reproduce", "tiny-fig1", "--json", DB("end.db"));
    expect_code(answer, 0);
    assert_int_equal(count_runs("end.db"), 5);
    json_t *figure = parse_line(answer.out);
    assert_true(json_is_false(json_object_get(figure, "quick")));
    assert_int_equal(json_array_size(json_object_get(figure, "claims")), 3);
    assert_int_equal(json_array_size(json_object_get(figure, "plots")), 1);
    assert_int_equal(json_array_size(json_object_get(figure, "errors")), 0);
    json_t *holds = claim_named(figure, "tiny-fig1.holds"), *no_row = claim_named(figure, "tiny-fig1.no_row");
    assert_string_equal(string_of(holds, "verdict"), "reproduced");
    assert_string_equal(string_of(holds, "note"), "at dt = 0.473 s");
    assert_true(json_real_value(json_object_get(holds, "value")) > 0.05);
    assert_int_equal(json_array_size(json_object_get(holds, "run_ids")), 5);
    assert_true(json_is_null(json_object_get(holds, "accepted")));
    assert_string_equal(string_of(no_row, "verdict"), "not_run");
    assert_true(json_is_null(json_object_get(no_row, "value")));
    json_decref(figure);
    forget(&answer);
}

/* The other two verdicts; the SQL functions that a figure may use; a claim with a note that is not valid UTF-8. */
static void test_verdicts_of_every_kind(void **state) {
    (void)state;
    make_figure(
        "tiny-kinds",
        "claims:\n"
        "  - {id: k.partly, says: a, sql: SELECT median(nu) AS value FROM fit, reproduced: '> 0.3', partly: '> 0.1'}\n"
        "  - {id: k.null, says: b, sql: SELECT NULL AS value FROM fit LIMIT 1, reproduced: '= 1'}\n"
        "  - {id: k.nan, says: c, sql: SELECT 9e999 - 9e999 AS value FROM fit LIMIT 1, reproduced: '= 1'}\n"
        "  - {id: k.note, says: d, sql: \"SELECT 1 AS VALUE, 'e = ' || CAST(x'ff' AS TEXT) AS note FROM fit LIMIT 1\", "
        "reproduced: '> 1'}\n"
        "  - id: k.line\n"
        "    says: e\n"
        "    sql: WITH p AS (SELECT polyfit(nu, 2 * nu + 1, 1) AS c FROM fit)\n"
        "      SELECT polyval(c, 10) AS value FROM p\n"
        "    reproduced: '> 0'\n");
    told answer = tell("reproduce", "tiny-kinds", "--json", DB("kinds.db"));
    expect_code(answer, 0);
    json_t *figure = parse_line(answer.out);
    assert_int_equal(json_array_size(json_object_get(figure, "claims")), 5);
    const json_t *partly = claim_named(figure, "k.partly"), *line = claim_named(figure, "k.line");
    assert_string_equal(string_of(partly, "verdict"), "partly");
    assert_true(json_real_value(json_object_get(partly, "value")) == 0.2);
    assert_string_equal(string_of(claim_named(figure, "k.null"), "verdict"), "not_run");
    assert_true(json_is_null(json_object_get(claim_named(figure, "k.nan"), "value")));
    assert_string_equal(string_of(claim_named(figure, "k.note"), "note"), "e = ?");
    double at_ten = json_real_value(json_object_get(line, "value"));
    assert_true(at_ten > 21 - 1e-11 && at_ten < 21 + 1e-11); /* extrapolated 25 times beyond the points */
    json_decref(figure);
    forget(&answer);
    unlink(in_workplace("plots/tiny-kinds/figure.yaml"));
    rmdir(in_workplace("plots/tiny-kinds"));
}

/* A query may exclude diverged runs; the note then says that there are some. */
static void test_what_diverged_is_told(void **state) {
    (void)state;
    assert_int_equal(mkdir(in_workplace("plots/tiny-lost"), 0777), 0);
    write_text("plots/tiny-lost/figure.yaml",
               "figure: tiny-lost\npaper: tiny\ntitle: lost\nruns:\n"
               "  - {name: mesh, case: cube_shear, method: pbd_distance, threads: 1, set: [cells=3, solver=jacobi], "
               "axes: [\"nu=0.1,0.45\"]}\n"
               "claims:\n"
               "  - id: l.filtered\n"
               "    says: a\n"
               "    sql: SELECT count(*) AS value, 'those that end' AS note FROM mesh WHERE state = 'ok'\n"
               "    reproduced: '= 1'\n");
    told answer = tell("reproduce", "tiny-lost", DB("lost.db"));
    expect_says(answer.out, "reproduced      l.filtered  = 1");
    expect_says(answer.out, "those that end; 1 of its 2 runs diverged or did not settle");
    forget(&answer);
    unlink(in_workplace("plots/tiny-lost/figure.yaml"));
    rmdir(in_workplace("plots/tiny-lost"));
}

/* A column without a name is named by its SQL text, which may have several lines; gnuplot's input has the names on one
 * line. */
static void test_names_of_columns_take_one_line(void **state) {
    (void)state;
    make_figure("tiny-lines",
                "data:\n"
                "  - name: sums\n"
                "    sql: |\n"
                "      SELECT nu +\n"
                "        1, nu AS nu FROM fit ORDER BY nu\n");
    told answer = tell("reproduce", "tiny-lines", DB("lines.db"));
    expect_code(answer, 0);
    forget(&answer);
    char *data = read_text(in_workplace("pictures/tiny-lines/sums.tsv"));
    const char *second = strchr(data, '\n');
    assert_non_null(second);
    assert_int_equal(strncmp(second, "\n1\t0\n", 5), 0);
    free(data);
    unlink(in_workplace("plots/tiny-lines/figure.yaml"));
    rmdir(in_workplace("plots/tiny-lines"));
}

static void test_quick_is_marked_and_never_accepted(void **state) {
    (void)state;
    write_text("plots/tiny-fig1/verdicts.csv", "claim,verdict\ntiny-fig1.holds,not_reproduced\n");
    told answer = tell("reproduce", "tiny-fig1", "--quick", DB("quick.db"));
    expect_code(answer, 0); /* although the accepted verdict differs */
    expect_says(answer.out, "tiny-fig1 (quick): Stiffness of one cube");
    expect_says(answer.out, "tiny-fig1.holds (quick)  = 0.051");
    assert_null(strstr(answer.out, "DIFFERS"));
    assert_true(exists("pictures/quick/tiny-fig1.png"));
    assert_int_equal(count_runs("quick.db"), 2);
    assert_int_equal(count_rows("quick.db", "SELECT count(*) FROM claim_result"), 0);
    forget(&answer);
    answer = tell("reproduce", "tiny-fig1", "--quick", "--json", DB("quick.db"));
    json_t *figure = parse_line(answer.out);
    assert_true(json_is_true(json_object_get(figure, "quick")));
    json_decref(figure);
    forget(&answer);
    answer = tell("reproduce", "tiny-fig1", "--quick", "--accept", DB("quick.db"));
    expect_code(answer, 2);
    expect_says(answer.err, "--quick");
    forget(&answer);
    unlink(in_workplace("plots/tiny-fig1/verdicts.csv"));
}

/* ---- Verdicts that were accepted --------------------------------------------------------------------------------- */

static void expect_verdicts(const char *csv, int code, const char *says) {
    write_text("plots/tiny-fig1/verdicts.csv", csv);
    told answer = tell("reproduce", "tiny-fig1", DB("accept.db"));
    expect_code(answer, code);
    expect_says(code == 2 ? answer.err : answer.out, says);
    forget(&answer);
}

#define TWO "claim,verdict\ntiny-fig1.holds,reproduced\ntiny-fig1.fails,not_reproduced\n"

static void test_accepted_verdicts_are_held_to(void **state) {
    (void)state;
    const char *verdicts = "plots/tiny-fig1/verdicts.csv";
    told answer = tell("reproduce", "tiny-fig1", "--accept", DB("accept.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "accepted: plots/tiny-fig1/verdicts.csv");
    forget(&answer);
    char *written = read_text(in_workplace(verdicts));
    answer = tell("reproduce", "tiny-fig1", DB("accept.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "all 3 verdicts are as accepted");
    forget(&answer);

    expect_verdicts("claim,verdict\ntiny-fig1.holds,partly\ntiny-fig1.fails,not_reproduced\ntiny-fig1.no_row,not_run\n",
                    3, "DIFFERS: tiny-fig1.holds is reproduced; accepted: partly");
    expect_verdicts(TWO, 3, "DIFFERS: tiny-fig1.no_row is not run; accepted: nothing");
    expect_verdicts(TWO "tiny-fig1.no_row,not_run\ntiny-fig1.gone,partly\n", 3,
                    "tiny-fig1.gone, which the figure does not have");
    expect_verdicts(TWO "tiny-fig1.no_row,perhaps\n", 2, "'perhaps' is not a verdict");
    expect_verdicts(TWO "tiny-fig1.no_row,not_run\ntiny-fig1.holds,reproduced\n", 2,
                    "'tiny-fig1.holds' has two verdicts");
    expect_verdicts("claim,words\na,b\n", 2, "expected the columns claim, reading and verdict");
    expect_verdicts("claim,verdict\na\n", 2, "verdicts.csv: line 2: 1 fields");

    answer = tell("reproduce", "tiny-fig1", "-q", DB("accept.db"), "--accept");
    expect_code(answer, 2); /* the broken file must first be repaired or removed */
    forget(&answer);
    unlink(in_workplace(verdicts));
    answer = tell("reproduce", "tiny-fig1", "-q", DB("accept.db"), "--accept");
    expect_code(answer, 0);
    char *anew = read_text(in_workplace(verdicts));
    assert_string_equal(anew, written);
    assert_int_equal(count_runs("accept.db"), 5);
    unlink(in_workplace(verdicts));
    free(written);
    free(anew);
    forget(&answer);
}

/* Only --accept writes a changed verdict; a quick run, a dry run and a plain one leave the file unchanged. */
static void test_only_accept_writes_verdicts(void **state) {
    (void)state;
    static const char other[] = "claim,verdict\ntiny-fig1.holds,partly\n";
    static const char *const ways[] = {"--json", "--quick", "--dry-run"};
    static const int codes[] = {3, 0, 0};
    const char *verdicts = "plots/tiny-fig1/verdicts.csv";
    write_text(verdicts, other);
    for (size_t i = 0; i < 3; i++) {
        told answer = tell("reproduce", "tiny-fig1", ways[i], DB("only.db"));
        expect_code(answer, codes[i]);
        char *kept = read_text(in_workplace(verdicts));
        assert_string_equal(kept, other);
        free(kept);
        forget(&answer);
    }
    told answer = tell("reproduce", "tiny-fig1", "--dry-run", "--accept", DB("only.db"));
    expect_code(answer, 2);
    expect_says(answer.err, "--dry-run");
    forget(&answer);
    answer = tell("reproduce", "tiny-fig1", "--accept", "--json", DB("only.db"));
    expect_code(answer, 0);
    json_t *figure = parse_line(answer.out);
    assert_string_equal(string_of(claim_named(figure, "tiny-fig1.holds"), "accepted"), "reproduced");
    assert_string_equal(string_of(claim_named(figure, "tiny-fig1.no_row"), "accepted"), "not_run");
    assert_int_equal(json_array_size(json_object_get(figure, "warnings")), 0);
    json_decref(figure);
    forget(&answer);
    unlink(in_workplace(verdicts));
}

/* ---- Something is missing or wrong ------------------------------------------------------------------------------- */

/* Without gnuplot, data is still stored and claims are still judged. */
static void test_without_gnuplot(void **state) {
    (void)state;
    char *path = strdup(getenv("PATH"));
    setenv("PATH", in_workplace("nothing"), 1);
    told text = tell("reproduce", "tiny-fig1", "--db", in_workplace("bare.db"), "--out", in_workplace("bare"));
    told json =
        tell("reproduce", "tiny-fig1", "--json", "--db", in_workplace("bare.db"), "--out", in_workplace("bare"));
    told plot = tell("plot", "tiny-fig1", "--db", in_workplace("bare.db"), "--out", in_workplace("bare"));
    setenv("PATH", path, 1);
    free(path);
    expect_code(text, 0);
    expect_says(text.out, "tiny-fig1.holds  = 0.051");
    expect_says(text.out, "apt-get install gnuplot-nox");
    expect_code(json, 0);
    json_t *figure = parse_line(json.out);
    assert_int_equal(json_array_size(json_object_get(figure, "plots")), 0);
    expect_says(json_string_value(json_array_get(json_object_get(figure, "warnings"), 0)), "gnuplot-nox");
    expect_says(json.err, "gnuplot-nox"); /* also said on stderr, as stdout may be redirected */
    json_decref(figure);
    expect_code(plot, 2);
    expect_says(plot.err, "gnuplot-nox");
    assert_true(exists("bare/tiny-fig1/fitted.tsv"));
    assert_false(exists("bare/tiny-fig1.png"));
    assert_int_equal(count_runs("bare.db"), 5);
    forget(&text);
    forget(&json);
    forget(&plot);
}

static void test_broken_plot_hides_no_claim(void **state) {
    (void)state;
    write_text("plots/tiny-fig1/plot.gp", "load style\nplot data . '/absent.tsv'\n");
    told answer = tell("reproduce", "tiny-fig1", DB("broken.db"));
    expect_code(answer, 2);
    expect_says(answer.out, "tiny-fig1.holds  = 0.051");
    expect_says(answer.err, "absent.tsv"); /* from gnuplot's message */
    expect_says(answer.err, "gnuplot fails on");
    assert_int_equal(count_runs("broken.db"), 5);
    forget(&answer);
    answer = tell("reproduce", "tiny-fig1", "--json", DB("broken.db"));
    expect_code(answer, 2);
    expect_says(answer.err, "absent.tsv");
    expect_says(answer.err, "gnuplot fails on");
    json_t *figure = parse_line(answer.out);
    assert_int_equal(json_array_size(json_object_get(figure, "claims")), 3);
    assert_int_equal(json_array_size(json_object_get(figure, "plots")), 0);
    expect_says(json_string_value(json_array_get(json_object_get(figure, "errors"), 0)), "gnuplot fails on");
    json_decref(figure);
    forget(&answer);
    write_text("plots/tiny-fig1/plot.gp", "load style\n");
    answer = tell("reproduce", "tiny-fig1", DB("broken.db"));
    expect_code(answer, 2);
    expect_says(answer.err, "tiny-fig1.png");
    expect_says(answer.err, "did not draw it");
    forget(&answer);
    write_text("plots/tiny-fig1/plot.gp", plot_gp);
}

typedef struct bad_claim {
    const char *id, *claims;
    const char *says[3]; /* on standard error */
} bad_claim;

/* SQL that writes is refused before it runs; all other errors are reported with the claim's id. */
static void test_bad_figures_are_explained(void **state) {
    (void)state;
#define CLAIM(sql) "claims:\n  - {id: bad.claim, says: nothing, sql: \"" sql " /* fit */\", reproduced: '= 1'}\n"
    static const bad_claim bad[] = {
        {"tiny-delete", CLAIM("DELETE FROM run"), {"figure.yaml, claim 'bad.claim'", "only reading"}},
        {"tiny-insert", CLAIM("INSERT INTO run SELECT * FROM run"), {"claim 'bad.claim'", "only reading"}},
        {"tiny-attach", CLAIM("ATTACH 'x.db' AS x"), {"claim 'bad.claim'", "only reading"}},
        {"tiny-pragma", CLAIM("PRAGMA user_version = 9"), {"claim 'bad.claim'", "only reading"}},
        {"tiny-extension", CLAIM("SELECT load_extension('x') AS value"), {"claim 'bad.claim'", "not authorized"}},
        {"tiny-vacuum", CLAIM("VACUUM INTO 'x.db'"), {"claim 'bad.claim'", "only reading"}},
        {"tiny-syntax", CLAIM("SELECT 1 AS value FORM fit"), {"figure.yaml, claim 'bad.claim'", "syntax error"}},
        {"tiny-table", CLAIM("SELECT 1 AS value FROM fitt"), {"claim 'bad.claim'", "no such table: fitt"}},
        {"tiny-blob", CLAIM("SELECT x'00' AS value"), {"claim 'bad.claim'", "expected a number"}},
        {"tiny-writer", "data:\n  - {name: d, sql: DELETE FROM run}\n", {"figure.yaml, data 'd'", "only reading"}},
        {"tiny-data", "data:\n  - {name: d, sql: SELECT nuu FROM fit}\n", {"data 'd'", "no such column: nuu"}},
        {"tiny-drop", CLAIM("DROP TABLE claim_result"), {"claim 'bad.claim'", "only reading"}},
        {"tiny-two", CLAIM("SELECT 1 AS value; DELETE FROM run"), {"claim 'bad.claim'", "more than one statement"}},
        {"tiny-column",
         CLAIM("SELECT k_nothing AS value FROM fit"),
         {"claim 'bad.claim'", "no such column: k_nothing"}},
        {"tiny-none", "claims:\n  - {id: c, says: s, sql: s}\n", {"line 7", "reproduced"}},
        {"tiny-rows", CLAIM("SELECT 1 AS value FROM fit"), {"claim 'bad.claim'", "more than one row"}},
        {"tiny-text", CLAIM("SELECT 'a' AS value"), {"claim 'bad.claim'", "value 'a'", "number"}},
        {"tiny-group",
         "claims:\n  - {id: c, says: s, runs: [fitt], sql: fit, reproduced: '= 1'}\n",
         {"claim 'c'", "'fitt'", "'fit'"}},
        {"tiny-twice",
         "claims:\n  - {id: c, says: s, sql: fit, reproduced: '= 1'}\n  - {id: c, says: s, sql: fit, reproduced: '= "
         "1'}\n",
         {"claims[0] and claims[1]", "'c'"}},
        {"tiny-picture", "plots: [../evil.png]\n", {"plots[0]", "'../evil.png'"}},
        {"tiny-file", "data:\n  - {name: a/b, sql: SELECT 1}\n", {"data[0]", "'a/b'"}},
        {"tiny-script", "plots: [a.png]\n", {"no plots/tiny-script/plot.gp"}},
        {"tiny-table-name", "tables:\n  - {name: Fit, sql: SELECT 1}\n", {"tables[0]", "'Fit'", "lower-case"}},
        {"tiny-table-fit", "tables:\n  - {name: fit, sql: SELECT 1}\n", {"tables[0] and runs[0]", "'fit'"}},
        {"tiny-table-itself",
         "tables:\n  - {name: t, sql: SELECT 1 FROM t}\n",
         {"tables[0] 't' reads 't'", "those before it"}},
        {"tiny-table-later",
         "tables:\n  - {name: t, sql: SELECT 1 FROM u}\n  - {name: u, sql: SELECT 1}\n",
         {"tables[0] 't' reads 'u'", "those before it"}},
        {"tiny-table-twice",
         "tables:\n  - {name: t, sql: SELECT 1}\n  - {name: t, sql: SELECT 1}\n",
         {"tables[0] and tables[1]", "'t'"}},
        {"tiny-table-write", "tables:\n  - {name: t, sql: DELETE FROM run}\n", {"table 't'", "syntax error"}},
        {"tiny-table-two",
         "tables:\n  - {name: t, sql: SELECT 1 FROM fit; DELETE FROM run}\n",
         {"table 't'", "one query"}},
        {"tiny-table-column",
         "tables:\n  - {name: t, sql: SELECT k_nothing AS value FROM fit}\n" CLAIM("SELECT max(value) AS value FROM t"),
         {"claim 'bad.claim'", "no such column: k_nothing"}},
        {"tiny-table-idle",
         "tables:\n  - {name: t, sql: SELECT 1 AS value}\n"
         "claims:\n  - {id: c, says: s, sql: SELECT value FROM t, reproduced: '= 1'}\n",
         {"claim 'c'", "reads none of the runs"}},
        {"tiny-key", "claim: []\n", {"line 6, column 1", "unknown key 'claim'", "'claims'"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        make_figure(bad[i].id, bad[i].claims);
        told answer = tell("reproduce", bad[i].id, DB("bad.db"));
        printf("[          ] %s", answer.err);
        expect_code(answer, 2);
        for (size_t k = 0; k < 3 && bad[i].says[k]; k++) expect_says(answer.err, bad[i].says[k]);
        forget(&answer);
        answer = tell("list", "figures");
        expect_code(answer, 0); /* one broken figure does not hide the others */
        expect_says(answer.out, "tiny-fig1");
        forget(&answer);
        char folder[40], file[60];
        snprintf(folder, sizeof folder, "plots/%s", bad[i].id);
        snprintf(file, sizeof file, "%s/figure.yaml", folder);
        unlink(in_workplace(file));
        rmdir(in_workplace(folder));
    }
    assert_int_equal(count_runs("bad.db"), 5);
    assert_true(count_rows("bad.db", "SELECT count(*) FROM claim_result") >= 0);
}

/* Errors in keys before `runs`; each entry is a whole file. */
static void test_bad_heads_are_explained(void **state) {
    (void)state;
#define FIT "runs:\n  - {name: fit, case: hex_fit, method: pbd_distance}\n"
    static const char *const bad[][3] = {
        {"figure: tiny-other\npaper: tiny\ntitle: t\n" FIT, "'tiny-other' lies in the folder of 'tiny-odd'", ""},
        {"figure: tiny-odd\npaper: tiny\n" FIT, "line 1, column 1", "'title' is missing"},
        {"figure: tiny-odd\npaper: tiny\ntitle: t\nseconds: -1\n" FIT, "must not be negative", ""},
        {"figure: tiny-odd\npaper: tiny\ntitle: t\nseconds: two\n" FIT, "line 4, column 10",
         "expected a number, found 'two'"},
        {"figure: tiny-odd\npaper: tiny\ntitle: t\nmemory_mib: nan\n" FIT, "line 4, column 13",
         "expected a number, found 'nan'"},
        {"figure: tiny-odd\npaper: tiny\ntitle: t\n", "line 1, column 1", "'runs' is missing"},
        {"figure: tiny-odd\npaper: tiny\ntitle: t\nruns:\n  - {name: fit, case: hex_fti, method: pbd_distance}\n",
         "runs[0] 'fit'", "did you mean 'hex_fit'"},
        {"", "line 1, column 1", "empty"},
    };
    assert_int_equal(mkdir(in_workplace("plots/tiny-odd"), 0777), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text("plots/tiny-odd/figure.yaml", bad[i][0]);
        told answer = tell("reproduce", "tiny-odd", DB("head.db"));
        printf("[          ] %s", answer.err);
        expect_code(answer, 2);
        expect_says(answer.err, "plots/tiny-odd/figure.yaml: ");
        expect_says(answer.err, bad[i][1]);
        expect_says(answer.err, bad[i][2]);
        assert_false(exists("head.db"));
        forget(&answer);
    }
    unlink(in_workplace("plots/tiny-odd/figure.yaml"));
    rmdir(in_workplace("plots/tiny-odd"));
}

static void test_bad_paper_csv_is_explained(void **state) {
    (void)state;
    static const char *const bad[][2] = {{"", "has no header line"},
                                         {"nu,k_edge\n0\n", "line 2: 1 fields; the header has 2"},
                                         {"nu,nu\n0,1\n", "line 1: two columns are named 'nu'"}};
    for (size_t i = 0; i < 3; i++) {
        write_text("plots/tiny-fig1/paper.csv", bad[i][0]);
        told answer = tell("reproduce", "tiny-fig1", DB("paper.db"));
        expect_code(answer, 2);
        expect_says(answer.err, "plots/tiny-fig1/paper.csv: ");
        expect_says(answer.err, bad[i][1]);
        assert_int_equal(count_runs("paper.db"), 5); /* made before claims are judged, and kept */
        forget(&answer);
    }
    write_text("plots/tiny-fig1/paper.csv", paper_csv);
}

static void test_unknown_figures(void **state) {
    (void)state;
    static const char *const bad[][3] = {{"tiny-fig11", "did you mean 'tiny-fig1'", "list figures"},
                                         {"tinny", "did you mean 'tiny'", ""},
                                         {"tiny-fig2", "cannot be reproduced yet", "never drawn"},
                                         {"other", "no figure of other can be reproduced yet", ""}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        told answer = tell("reproduce", "tiny-fig1", bad[i][0], DB("unknown.db"));
        expect_code(answer, 2);
        expect_says(answer.err, bad[i][1]);
        expect_says(answer.err, bad[i][2]);
        assert_false(exists("unknown.db"));
        forget(&answer);
    }
}

/* ---- Many figures ------------------------------------------------------------------------------------------------ */

/* ---- Bundles, and the page of findings --------------------------------------------------------------------------- */

static void shell(const char *command) {
    char line[PATH_MAX + 300];
    snprintf(line, sizeof line, "cd '%s' && %s", in_workplace("."), command);
    assert_int_equal(system(line), 0);
}

static void test_bundle(void **state) {
    (void)state;
    char words[PATH_MAX];
    snprintf(words, sizeof words, "%s", in_workplace("tiny.tar.gz"));
    told answer = tell("reproduce", "tiny-fig1", "--bundle", words, DB("bundle.db"));
    expect_code(answer, 0);
    forget(&answer);
    shell(
        "tar -xzf tiny.tar.gz && cmp tiny-fig1/figure/figure.yaml plots/tiny-fig1/figure.yaml && "
        "cmp tiny-fig1/pictures/tiny-fig1.png pictures/tiny-fig1.png && test $(wc -l < tiny-fig1/runs.jsonl) -eq 5");
    char *claims = read_text(in_workplace("tiny-fig1/claims.csv")),
         *readme = read_text(in_workplace("tiny-fig1/README.md"));
    expect_says(claims, "claim,reading,value,verdict\n\"tiny-fig1.holds\",\"\",0.051");
    expect_says(claims, "\"tiny-fig1.no_row\",\"\",,\"not_run\"\n");
    expect_says(readme, "its 5 runs");
    free(claims);
    free(readme);
    shell("\"$PBDBENCH_PROGRAM\" db merge tiny-fig1/runs.jsonl --db merged.db > said");
    assert_int_equal(count_runs("merged.db"), 5);
    /* The script repeats the runs with the program of a checkout and reports values that differ. */
    shell(
        "mkdir checkout && printf '#!/bin/sh\\nPBDBENCH_ROOT=%s exec %s \"$@\"\\n' \"$PWD\" \"$PBDBENCH_PROGRAM\" > "
        "checkout/pbdbench && chmod +x checkout/pbdbench && sh tiny-fig1/check.sh checkout > said 2>&1 && "
        "grep -q 'same to six digits' said");
    shell(
        "sed -i 's/,0.051/,0.052/' tiny-fig1/claims.csv && ! sh tiny-fig1/check.sh checkout > said 2>&1 && "
        "grep -q 'values differ' said");
    answer = tell("reproduce", "tiny", "--bundle", words, "--dry-run", DB("bundle.db"));
    expect_code(answer, 2);
    forget(&answer);
    shell("rm -r tiny-fig1 checkout");
}

static void test_findings_page(void **state) {
    (void)state;
    make_figure(
        "tiny-found",
        "claims:\n"
        "  - {id: f.much, says: a, sql: SELECT max(nu) AS value FROM fit, reproduced: '> 0.3', full_size: true}\n"
        "  - {id: f.ours, says: b, sql: SELECT min(nu) AS value FROM fit, reproduced: '> 1', beyond: true}\n"
        "notes: At nu = 0.4 it is 0.4 | so. More follows.\n");
    told answer = tell("reproduce", "tiny-found", "--accept", DB("found.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "not reproduced  f.ours (ours)");
    forget(&answer);
    answer = tell("list", "figures", "--markdown");
    expect_code(answer, 0);
    expect_says(
        answer.out,
        "| no picture yet | [tiny-found](tiny-found/figure.yaml): tiny-found | `f.much` reproduced<br>`f.ours` (ours) "
        "**not reproduced** | At nu = 0.4 it is 0.4 \\| so. |");
    expect_says(answer.out,
                "4 claims: 1 reproduced, 0 partly, 0 not, 0 not run, 3 without a verdict. Ours, and not counted: 1.");
    forget(&answer);
    answer = tell("reproduce", "tiny-found", "--quick", "--json", DB("found.db"));
    expect_code(answer, 0);
    json_t *figure = parse_line(answer.out);
    assert_string_equal(string_of(claim_named(figure, "f.much"), "verdict"), "not_run");
    assert_string_equal(string_of(claim_named(figure, "f.much"), "reason"), "quick");
    assert_string_equal(string_of(claim_named(figure, "f.ours"), "verdict"), "not_reproduced");
    json_decref(figure);
    forget(&answer);
    answer = tell("list", "cases", "--markdown");
    expect_code(answer, 2);
    forget(&answer);
    shell("rm -r plots/tiny-found");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure_end_to_end),
        cmocka_unit_test(test_verdicts_of_every_kind),
        cmocka_unit_test(test_what_diverged_is_told),
        cmocka_unit_test(test_names_of_columns_take_one_line),
        cmocka_unit_test(test_quick_is_marked_and_never_accepted),
        cmocka_unit_test(test_accepted_verdicts_are_held_to),
        cmocka_unit_test(test_only_accept_writes_verdicts),
        cmocka_unit_test(test_without_gnuplot),
        cmocka_unit_test(test_broken_plot_hides_no_claim),
        cmocka_unit_test(test_bad_figures_are_explained),
        cmocka_unit_test(test_bad_heads_are_explained),
        cmocka_unit_test(test_bad_paper_csv_is_explained),
        cmocka_unit_test(test_unknown_figures),
        cmocka_unit_test(test_bundle),
        cmocka_unit_test(test_findings_page),
    };
    return cmocka_run_group_tests(tests, make_paper, remove_workplace);
}
