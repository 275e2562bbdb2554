/* reproduce, sweep, plot and cite on a small paper of the test's own: verdicts, what was accepted, pictures, and what
 * happens when something is missing or wrong. What is stopped half-way is in test_stopped.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <sqlite3.h>

#include "tests/program.h"

/* ---- A paper of our own ------------------------------------------------------------------------------------------ */

static const char papers[] =
    "papers:\n"
    "  - key: tiny\n"
    "    kind: article\n"
    "    title: A Tiny Paper\n"
    "    authors: [A. One, B. Two]\n"
    "    year: 1999\n"
    "    venue: Journal of Small Things\n"
    "    figures:\n"
    "      - {id: tiny-fig1, shows: stiffness of one cube}\n"
    "      - {id: tiny-fig2, shows: never drawn}\n"
    "  - {key: other, kind: misc, title: Another, venue: nowhere, figures: [{id: other-fig1, shows: nothing yet}]}\n";

/* k_edge(0) = 0.0511 and dt(0) = 0.473 s are the paper's numbers for one cube (claims.md, R-1 and Eq. 10). */
static const char tiny_fig1[] =
    "figure: tiny-fig1\n"
    "paper: tiny\n"
    "title: Stiffness of one cube\n"
    "seconds: 2\n"
    "memory_mib: 10\n"
    "runs:\n"
    "  - name: fit\n"
    "    case: hex_fit\n"
    "    method: pbd_distance\n"
    "    threads: 1\n"
    "    axes: [\"nu=0:0.4:0.1\"]\n"
    "    quick: [\"nu=0,0.4\"]\n"
    "data:\n"
    "  - name: fitted\n"
    "    sql: SELECT f.nu, f.k_edge, f.param_k_edge, p.k_edge AS paper, NULL AS lacking, f.state FROM fit AS f LEFT "
    "JOIN paper AS p\n"
    "      ON abs(f.nu - p.nu) < 1e-9 ORDER BY f.nu\n"
    "plots: [tiny-fig1.png]\n"
    "claims:\n"
    "  - id: tiny-fig1.holds\n"
    "    says: k_edge is what the paper prints\n"
    "    runs: [fit]\n"
    "    sql: SELECT k_edge AS value, iif(abs(k_edge - (SELECT k_edge FROM paper)) < 0.0005, 'reproduced', "
    "'not_reproduced') AS\n"
    "      verdict, printf('at dt = %.3f s', dt) AS note FROM fit WHERE nu = 0\n"
    "  - id: tiny-fig1.fails\n"
    "    says: k_edge is negative\n"
    "    sql: SELECT min(k_edge) AS value, iif(min(k_edge) < 0, 'reproduced', 'not_reproduced') AS verdict FROM fit\n"
    "  - id: tiny-fig1.no_row\n"
    "    says: something about runs that nobody made\n"
    "    sql: SELECT 1 AS value, 'reproduced' AS verdict FROM fit WHERE nu > 0.45\n"
    "    notes: the axis ends before\n";

static const char paper_csv[] = "# as printed\nnu,k_edge,says\n0,0.0511,\"first, and last\"\n";

static const char plot_gp[] =
    "load style\n"
    "set output out . '/tiny-fig1.png'\n"
    "set title 'one cube' . quick\n"
    "plot data . '/fitted.tsv' using 1:2 with linespoints ls 1 title 'fit'\n";

static void write_text(const char *name, const char *text) {
    FILE *file = fopen(in_workplace(name), "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail_msg("cannot write %s: %s", name, strerror(errno));
}

static char *read_text(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) fail_msg("%s: %s", path, strerror(errno));
    return slurp(file);
}

static bool exists(const char *name) { return access(in_workplace(name), F_OK) == 0; }

/* A folder with a figure.yaml that differs from tiny-fig1 in its claims. */
static void make_figure(const char *id, const char *claims) {
    char name[60], *text = NULL;
    snprintf(name, sizeof name, "plots/%s", id);
    assert_int_equal(mkdir(in_workplace(name), 0777), 0);
    snprintf(name, sizeof name, "plots/%s/figure.yaml", id);
    assert_true(asprintf(&text,
                         "figure: %s\npaper: tiny\ntitle: %s\nruns:\n  - {name: fit, case: hex_fit, method: "
                         "pbd_distance, threads: 1, "
                         "axes: [\"nu=0:0.4:0.1\"]}\n%s",
                         id, id, claims) > 0);
    write_text(name, text);
    free(text);
}

/* The workplace's plots is a link to the checkout's; this test has plots of its own, with the checkout's style.gp. */
static int make_paper(void **state) {
    (void)state;
    const char *plots = in_workplace("plots");
    char checkout[PATH_MAX], style[PATH_MAX + 16];
    if (!realpath(plots, checkout) || unlink(plots) != 0 || mkdir(plots, 0777) != 0) return -1;
    snprintf(style, sizeof style, "%s/style.gp", checkout);
    if (symlink(style, in_workplace("plots/style.gp")) != 0) return -1;
    snprintf(style, sizeof style, "%s/chart.gp", checkout);
    if (symlink(style, in_workplace("plots/chart.gp")) != 0) return -1;
    if (mkdir(in_workplace("plots/tiny-fig1"), 0777) != 0 || mkdir(in_workplace("nothing"), 0777) != 0) return -1;
    write_text("plots/papers.yaml", papers);
    write_text("plots/tiny-fig1/figure.yaml", tiny_fig1);
    write_text("plots/tiny-fig1/paper.csv", paper_csv);
    write_text("plots/tiny-fig1/plot.gp", plot_gp);
    return 0;
}

static sqlite3_int64 count_rows(const char *db, const char *query) {
    sqlite3 *sql = NULL;
    sqlite3_stmt *count = NULL;
    if (sqlite3_open_v2(in_workplace(db), &sql, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(sql, query, -1, &count, NULL) != SQLITE_OK || sqlite3_step(count) != SQLITE_ROW)
        fail_msg("%s: %s", query, sqlite3_errmsg(sql));
    sqlite3_int64 rows = sqlite3_column_int64(count, 0);
    sqlite3_finalize(count);
    sqlite3_close(sql);
    return rows;
}

static sqlite3_int64 count_runs(const char *db) { return count_rows(db, "SELECT count(*) FROM run"); }

#define DB(name) "--db", in_workplace(name), "--out", in_workplace("pictures")

static json_t *parse_line(const char *text) {
    json_error_t error;
    json_t *object = json_loads(text, JSON_DISABLE_EOF_CHECK, &error);
    if (!object) fail_msg("no JSON: %s:\n%s", error.text, text);
    return object;
}

static const char *string_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "(none)";
}

static json_t *claim_named(const json_t *figure, const char *id) {
    size_t i;
    json_t *claim;
    json_array_foreach(json_object_get(figure, "claims"), i,
                       claim) if (strcmp(string_of(claim, "id"), id) == 0) return claim;
    fail_msg("no claim %s", id);
    return NULL;
}

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

    /* what gnuplot reads: the paper's column where there is one, nan elsewhere */
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

/* The other two verdicts; the functions a figure may use; and a note that is no UTF-8, which must not lose its claim.
 */
static void test_verdicts_of_every_kind(void **state) {
    (void)state;
    make_figure(
        "tiny-kinds",
        "claims:\n"
        "  - {id: k.partly, says: a, sql: \"SELECT median(nu) AS value, 'partly' AS verdict FROM fit\"}\n"
        "  - {id: k.null, says: b, sql: \"SELECT 3 AS value, NULL AS verdict\"}\n"
        "  - {id: k.nan, says: c, sql: \"SELECT 9e999 - 9e999 AS value, 'reproduced' AS verdict\"}\n"
        "  - {id: k.note, says: d, sql: \"SELECT 'partly' AS VERDICT, 'e = ' || CAST(x'ff' AS TEXT) AS note\"}\n"
        "  - id: k.line\n"
        "    says: e\n"
        "    sql: WITH p AS (SELECT polyfit(nu, 2 * nu + 1, 1) AS c FROM fit)\n"
        "      SELECT polyval(c, 10) AS value, 'reproduced' AS verdict FROM p\n");
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

static void test_quick_is_marked_and_never_accepted(void **state) {
    (void)state;
    write_text("plots/tiny-fig1/verdicts.csv", "claim,verdict\ntiny-fig1.holds,not_reproduced\n");
    told answer = tell("reproduce", "tiny-fig1", "--quick", DB("quick.db"));
    expect_code(answer, 0); /* though the accepted verdict is another */
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

static void test_dry_run_makes_nothing(void **state) {
    (void)state;
    told answer = tell("reproduce", "tiny-fig1", "--dry-run", DB("dry.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "5 runs, 0 stored, 5 to make; about 2 s (as its file says); about 10 MiB");
    expect_says(answer.out, "hex_fit pbd_distance nu=0.4");
    assert_false(exists("dry.db"));
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
    assert_true(json_real_value(json_object_get(forecast, "seconds")) < 1); /* from the two stored runs by now */
    assert_int_equal(count_runs("dry.db"), 2);
    json_decref(forecast);
    forget(&answer);
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
                    "tiny-fig1.gone, which the figure has not");
    expect_verdicts(TWO "tiny-fig1.no_row,perhaps\n", 2, "'perhaps' is no verdict");
    expect_verdicts(TWO "tiny-fig1.no_row,not_run\ntiny-fig1.holds,reproduced\n", 2,
                    "'tiny-fig1.holds' has two verdicts");
    expect_verdicts("claim,words\na,b\n", 2, "expected the columns claim and verdict");
    expect_verdicts("claim,verdict\na\n", 2, "verdicts.csv: line 2: 1 fields");

    answer = tell("reproduce", "tiny-fig1", "-q", DB("accept.db"), "--accept");
    expect_code(answer, 2); /* first the broken file must be put right or away */
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

/* A verdict that changed is accepted anew by --accept alone; a quick run, a dry run and a plain one leave the file. */
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

/* Data is stored and claims are told all the same. */
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
    expect_says(json.err, "gnuplot-nox"); /* for whoever sent the JSON elsewhere */
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
    expect_says(answer.err, "absent.tsv"); /* gnuplot's own words */
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

/* SQL that writes is refused before it runs; whatever else is wrong is told with the claim's id. */
static void test_bad_figures_are_explained(void **state) {
    (void)state;
#define CLAIM(sql) "claims:\n  - {id: bad.claim, says: nothing, sql: \"" sql "\"}\n"
    static const bad_claim bad[] = {
        {"tiny-delete", CLAIM("DELETE FROM run"), {"figure.yaml, claim 'bad.claim'", "only reading"}},
        {"tiny-insert", CLAIM("INSERT INTO run SELECT * FROM run"), {"claim 'bad.claim'", "only reading"}},
        {"tiny-attach", CLAIM("ATTACH 'x.db' AS x"), {"claim 'bad.claim'", "only reading"}},
        {"tiny-pragma", CLAIM("PRAGMA user_version = 9"), {"claim 'bad.claim'", "only reading"}},
        {"tiny-extension", CLAIM("SELECT load_extension('x') AS verdict"), {"claim 'bad.claim'", "not authorized"}},
        {"tiny-vacuum", CLAIM("VACUUM INTO 'x.db'"), {"claim 'bad.claim'", "only reading"}},
        {"tiny-syntax", CLAIM("SELECT 1 AS verdict FORM fit"), {"figure.yaml, claim 'bad.claim'", "syntax error"}},
        {"tiny-table", CLAIM("SELECT 'partly' AS verdict FROM fitt"), {"claim 'bad.claim'", "no such table: fitt"}},
        {"tiny-blob", CLAIM("SELECT x'00' AS value, 'partly' AS verdict"), {"claim 'bad.claim'", "expected a number"}},
        {"tiny-writer", "data:\n  - {name: d, sql: DELETE FROM run}\n", {"figure.yaml, data 'd'", "only reading"}},
        {"tiny-data", "data:\n  - {name: d, sql: SELECT nuu FROM fit}\n", {"data 'd'", "no such column: nuu"}},
        {"tiny-drop", CLAIM("DROP TABLE claim_result"), {"claim 'bad.claim'", "only reading"}},
        {"tiny-two", CLAIM("SELECT 1 AS value; DELETE FROM run"), {"claim 'bad.claim'", "more than one statement"}},
        {"tiny-column",
         CLAIM("SELECT k_nothing AS value, 'partly' AS verdict FROM fit"),
         {"claim 'bad.claim'", "no such column: k_nothing"}},
        {"tiny-verdict",
         CLAIM("SELECT 'perhaps' AS verdict"),
         {"claim 'bad.claim'", "verdict 'perhaps'", "not_reproduced"}},
        {"tiny-none", CLAIM("SELECT 1 AS value"), {"claim 'bad.claim'", "no column `verdict`"}},
        {"tiny-rows", CLAIM("SELECT 'partly' AS verdict FROM fit"), {"claim 'bad.claim'", "more than one row"}},
        {"tiny-text", CLAIM("SELECT 'a' AS value, 'partly' AS verdict"), {"claim 'bad.claim'", "value 'a'", "number"}},
        {"tiny-group", "claims:\n  - {id: c, says: s, runs: [fitt], sql: s}\n", {"claim 'c'", "'fitt'", "'fit'"}},
        {"tiny-twice",
         "claims:\n  - {id: c, says: s, sql: s}\n  - {id: c, says: s, sql: s}\n",
         {"claims[0] and claims[1]", "'c'"}},
        {"tiny-picture", "plots: [../evil.png]\n", {"plots[0]", "'../evil.png'"}},
        {"tiny-file", "data:\n  - {name: a/b, sql: SELECT 1}\n", {"data[0]", "'a/b'"}},
        {"tiny-script", "plots: [a.png]\n", {"no plots/tiny-script/plot.gp"}},
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

/* The whole file, for what stands before `runs`. */
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
        assert_int_equal(count_runs("paper.db"), 5); /* made before anything is judged, and kept */
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

/* A paper's key and `all` are its figures; runs that two figures share are made once, even with --again. */
static void test_figures_share_runs(void **state) {
    (void)state;
    make_figure("tiny-text",
                "claims:\n  - {id: tiny.text, says: some text, sql: \"SELECT count(*) AS value, 'partly' AS verdict "
                "FROM fit\"}\n");
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

/* ---- plot and cite ----------------------------------------------------------------------------------------------- */

static void test_plot_draws_from_the_store_only(void **state) {
    (void)state;
    char db[PATH_MAX + 64]; /* in_workplace()'s own does not last */
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

/* ---- Sweeps -------------------------------------------------------------------------------------------------------
 */

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
    for (int i = 0; i < 2; i++) { /* made, then stored: the same objects */
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
        cmocka_unit_test(test_figure_end_to_end),
        cmocka_unit_test(test_verdicts_of_every_kind),
        cmocka_unit_test(test_again_makes_every_run_anew),
        cmocka_unit_test(test_quick_is_marked_and_never_accepted),
        cmocka_unit_test(test_dry_run_makes_nothing),
        cmocka_unit_test(test_accepted_verdicts_are_held_to),
        cmocka_unit_test(test_only_accept_writes_verdicts),
        cmocka_unit_test(test_without_gnuplot),
        cmocka_unit_test(test_broken_plot_hides_no_claim),
        cmocka_unit_test(test_bad_figures_are_explained),
        cmocka_unit_test(test_bad_heads_are_explained),
        cmocka_unit_test(test_bad_paper_csv_is_explained),
        cmocka_unit_test(test_unknown_figures),
        cmocka_unit_test(test_figures_share_runs),
        cmocka_unit_test(test_plot_draws_from_the_store_only),
        cmocka_unit_test(test_cite),
        cmocka_unit_test(test_bad_sweep_makes_nothing),
        cmocka_unit_test(test_sweep_prints_every_run),
    };
    return cmocka_run_group_tests(tests, make_paper, remove_workplace);
}
