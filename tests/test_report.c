/* report: the page as text. What a browser makes of it is in report_browser.sh. */
#include "tests/paper.h"

#include "tests/history_store.h"
#include "tests/page_check.h"
#include "tests/store_sample.h"

/* The page of `report` with these words; the caller frees. */
#define page_of(NAME, ...) read_page(NAME, tell("report", "-o", in_workplace(NAME), __VA_ARGS__))

static char *read_page(const char *name, told answer) {
    expect_code(answer, 0);
    forget(&answer);
    return read_text(in_workplace(name));
}

#define expect_not(text, unwanted)                                            \
    do {                                                                      \
        if (strstr((text), (unwanted))) fail_msg("it says '%s'", (unwanted)); \
    } while (0)

static void reproduce(const char *db) {
    told answer = tell("reproduce", "tiny-fig1", "-q", "--db", in_workplace(db));
    expect_code(answer, 0);
    forget(&answer);
}

static size_t count_of(const char *text, const char *word) {
    const size_t length = strlen(text), of_word = strlen(word);
    size_t count = 0;
    for (const char *at = text; (at = memmem(at, length - (size_t)(at - text), word, of_word)); at++) count++;
    return count;
}

/* ---- What the page says ------------------------------------------------------------------------------------------ */

static void test_nothing_was_run(void **state) {
    (void)state;
    told answer = tell("report");
    expect_code(answer, 0);
    expect_says(answer.out, "3 claims: 0 reproduced, 0 partly, 0 not reproduced, 3 not run");
    expect_says(answer.out, "results/report.html");
    forget(&answer);
    assert_false(exists("results/pbdbench.db"));
    char *page = read_text(in_workplace("results/report.html"));
    const page_found found = check_page(page);
    assert_int_equal(found.images, 0);
    assert_int_equal(count_of(page, "data-verdict=\"not_run\""), 3);
    expect_says(page, "./pbdbench reproduce tiny-fig1");
    expect_says(page, "Nothing is stored yet.");
    expect_says(page, "2 figures and tables of the papers that cannot be reproduced yet");
    expect_says(page, "No timings are stored yet");
    expect_says(page, "No comparison is stored yet");
    expect_says(page, "No run is referenced");
    free(page);
}

static void test_claims_figures_and_runs(void **state) {
    (void)state;
    reproduce("whole.db");
    char *page = page_of("whole.html", "--db", in_workplace("whole.db"));
    const page_found found = check_page(page);
    assert_int_equal(found.images, 1);
    assert_int_equal(count_of(page, "data-verdict=\"reproduced\""), 1);
    assert_int_equal(count_of(page, "data-verdict=\"not_reproduced\""), 1);
    assert_int_equal(count_of(page, "data-verdict=\"not_run\""), 1);
    expect_says(page, "k_edge is what the paper prints");
    expect_says(page, "at dt = 0.473 s");      /* the query's own note */
    expect_says(page, "the axis ends before"); /* why it came out so */
    expect_says(page, ">0.051");               /* the number measured leads to its runs */
    expect_says(page, "A. One, B. Two: A Tiny Paper. Journal of Small Things (1999).");
    expect_says(page, "plots/tiny-fig1/paper.csv");
    expect_says(page, "first, and last");
    expect_says(page, "The numbers drawn");
    assert_int_equal(count_of(page, "<div id=\"run-"), 5);
    assert_int_equal(count_of(page, "./pbdbench run hex_fit -m pbd_distance -s "), 5);
    expect_says(page, "5 runs");
    expect_not(page, "other sources than this build");
    expect_says(page, "SQLite");
    free(page);
}

/* Verdicts of another build are told as such, and its runs are those that are drawn. */
static void test_other_sources(void **state) {
    (void)state;
    reproduce("other.db");
    assert_int_equal(
        plain_sql(in_workplace("other.db"), "DROP TRIGGER build_update; UPDATE build SET source = 'something else'"),
        SQLITE_OK);
    assert_int_equal(unlink(in_workplace("results/plots/tiny-fig1.png")), 0);
    char *page = page_of("other.html", "--db", in_workplace("other.db"));
    assert_int_equal(check_page(page).images, 1);
    expect_says(page, "All verdicts were computed on runs of other sources");
    free(page);
}

/* ---- Hostile stores ---------------------------------------------------------------------------------------------- */

#define HOSTILE "<script>alert(1)</script>&\"'\x01\xff</td><img src=x onerror=alert(1)>"

static pbd_result hostile_run(void) {
    pbd_result r = sample_run(1);
    free(r.says);
    r.says = word(HOSTILE);
    free(r.method_name);
    r.method_name = word("m\" onclick=\"alert(1)");
    free(r.metric[0].name);
    r.metric[0].name = word("<b>bold</b>");
    free(r.metric[0].unit);
    r.metric[0].unit = word("m&s</span>");
    free(r.warning[0].says);
    r.warning[0].says = word("</style></script><!--");
    return r;
}

/* The only script and style of the page are its own, whatever a store holds. */
static void test_everything_is_escaped(void **state) {
    (void)state;
    pbd_store *store;
    pbd_result r = hostile_run();
    const char *path = fresh("hostile.db");
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    assert_fine(pbd_store_put(store, &r, NULL, NULL));
    const char *const ids[] = {r.run_id};
    assert_fine(pbd_store_claim(store, "tiny-fig1", "tiny-fig1.holds", "partly", 0.5, HOSTILE, HOSTILE, ids, 1));
    const pbd_comparison_pair pair = {.run_a = r.run_id, .run_b = r.run_id, .a_s = 1, .b_s = 2};
    const pbd_comparison comparison = {.purpose = "compare",
                                       .name_a = HOSTILE,
                                       .name_b = "xpbi:solver=<jacobi>",
                                       .clock = "cpu",
                                       .margin = 0.02,
                                       .alpha = 0.01,
                                       .log_ratio = log(2),
                                       .low = log(1.5),
                                       .high = log(2.5),
                                       .bootstrap_low = log(1.5),
                                       .bootstrap_high = log(2.5),
                                       .verdict = "slower",
                                       .says = HOSTILE,
                                       .pair = &pair,
                                       .pairs = 1};
    char comparison_id[33];
    assert_fine(pbd_store_put_comparison(store, &comparison, comparison_id));
    pbd_store_close(store);
    pbd_result_free(&r);
    char *page = page_of("hostile.html", "--db", path);
    check_page(page);
    assert_int_equal(count_of(page, "<script"), 1);
    assert_int_equal(count_of(page, "<style"), 2); /* of all pages, and of this one */
    expect_not(page, "<img src=x");
    expect_not(page, "<b>bold");
    expect_says(page, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;'");
    expect_says(page, "m&quot; onclick=&quot;alert(1)");
    expect_says(page, "&lt;/style&gt;&lt;/script&gt;&lt;!--");
    expect_says(page, "2.000 (1.500 to 2.500)"); /* the comparison's ratio and interval */
    expect_says(page, "The sentence has changed since it was judged.");
    free(page);
}

/* Thousands of runs behind a claim: the page shows as many as it may and says so; the history has its step. */
static void test_many_runs(void **state) {
    (void)state;
    const char *path = fresh("many.db");
    assert_fine(make_history(path, 3, 60, 30)); /* 5400 runs */
    assert_int_equal(
        plain_sql(
            path,
            "INSERT INTO claim_result VALUES ('tiny-fig1', 'tiny-fig1.holds', printf('%032x', 1), 'partly', 1, 'x',"
            " '', '2026-01-01T00:00:00.000Z');"
            "INSERT INTO claim_run SELECT 'tiny-fig1', 'tiny-fig1.holds', printf('%032x', 1), run_id FROM run"),
        SQLITE_OK);
    char *page = page_of("many.html", "--db", path, "--figures", "none");
    check_page(page);
    assert_int_equal(count_of(page, "<div id=\"run-"), 5000);
    expect_says(page, "The 5000 runs that this page refers to");
    expect_says(page, "The page is limited to these runs");
    expect_says(page, "0.25 to 0.2 (-20.0 %)"); /* displacement_error from the last build on, see history_store.h */
    expect_says(page, "a processor");
    free(page);
}

/* ---- Pictures ---------------------------------------------------------------------------------------------------- */

static void test_pictures(void **state) {
    (void)state;
    reproduce("pictures.db");
    char *page = page_of("pictures.html", "--db", in_workplace("pictures.db"), "--figures", "none");
    assert_int_equal(check_page(page).images, 0);
    expect_says(page, "--figures none");
    free(page);

    /* Drawn from another store: not this one's. */
    make_store(fresh("another.db"), 1);
    page = page_of("another.html", "--db", in_workplace("another.db"));
    assert_int_equal(check_page(page).images, 0);
    expect_says(page, "None of its 5 runs is stored.");
    free(page);
    page = page_of("another.html", "--db", in_workplace("pictures.db"), "--figures", "drawn");
    assert_int_equal(check_page(page).images, 1);
    free(page);

    /* Gone: drawn anew, or told. */
    assert_int_equal(unlink(in_workplace("results/plots/tiny-fig1.png")), 0);
    page = page_of("gone.html", "--db", in_workplace("pictures.db"), "--figures", "drawn");
    assert_int_equal(check_page(page).images, 0);
    expect_says(page, "No picture newer than its runs has been drawn.");
    assert_false(exists("results/plots/tiny-fig1.png"));
    free(page);
    page = page_of("gone.html", "--db", in_workplace("pictures.db"));
    assert_int_equal(check_page(page).images, 1);
    assert_true(exists("results/plots/tiny-fig1.png"));
    free(page);

    /* No picture at all, though it is called one. */
    write_text("results/plots/tiny-fig1.png", "GIF89a, if anything");
    page = page_of("odd.html", "--db", in_workplace("pictures.db"), "--figures", "drawn");
    assert_int_equal(check_page(page).images, 0);
    expect_says(page, "is no PNG");
    free(page);
}

static void test_without_gnuplot(void **state) {
    (void)state;
    reproduce("dull.db");
    assert_int_equal(unlink(in_workplace("results/plots/tiny-fig1.png")), 0);
    char *path = strdup(getenv("PATH"));
    setenv("PATH", in_workplace("nothing"), 1);
    char *page = page_of("dull.html", "--db", in_workplace("dull.db"));
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(check_page(page).images, 0);
    expect_says(page, "gnuplot");
    free(page);
}

static void test_broken_figure(void **state) {
    (void)state;
    make_figure("tiny-broken", "claims: [{id: tiny-broken.a, says: x}]\n");
    char *page = page_of("broken.html", "-q");
    check_page(page);
    expect_says(page, "plots/tiny-broken/figure.yaml");
    expect_says(page, "tiny-fig1");
    free(page);
    assert_int_equal(unlink(in_workplace("plots/tiny-broken/figure.yaml")), 0);
    assert_int_equal(rmdir(in_workplace("plots/tiny-broken")), 0);
}

/* ---- Where it goes ----------------------------------------------------------------------------------------------- */

static void expect_refusal(told answer, const char *wanted) {
    expect_code(answer, 2);
    expect_says(answer.err, wanted);
    assert_string_equal(answer.out, "");
    forget(&answer);
}

static void test_places_that_cannot_be_written(void **state) {
    (void)state;
    expect_refusal(tell("report", "-o", workplace()), "Is a directory");
    expect_refusal(tell("report", "-o", in_workplace("no/such/folder.html")), "No such file or directory");
    expect_refusal(tell("report", "-o", "/dev/full"), "No space left on device");
    expect_refusal(tell("report", "--db", in_workplace("none.db")), "none.db");
    expect_refusal(tell("report", "--figures", "som"), "none");
    expect_refusal(tell("report", "page.html"), "-o sets the file");
    if (geteuid() != 0) { /* root may write everywhere */
        write_text("guarded.html", "mine");
        chmod(in_workplace("guarded.html"), 0444);
        expect_refusal(tell("report", "-o", in_workplace("guarded.html")), "Permission denied");
    }
    assert_false(exists("no"));
}

/* A page that could not be written whole leaves the old one as it is, and nothing beside it. */
static void test_old_page_stays(void **state) {
    (void)state;
    write_text("old.html", "the old page");
    assert_int_equal(mkdir(in_workplace("old.html.new"), 0777), 0);
    expect_refusal(tell("report", "-o", in_workplace("old.html")), "old.html");
    char *page = read_text(in_workplace("old.html"));
    assert_string_equal(page, "the old page");
    free(page);
    assert_int_equal(rmdir(in_workplace("old.html.new")), 0);
}

static void test_standard_output(void **state) {
    (void)state;
    told answer = tell("report", "-o", "-");
    expect_code(answer, 0);
    check_page(answer.out);
    forget(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_was_run),
        cmocka_unit_test(test_claims_figures_and_runs),
        cmocka_unit_test(test_other_sources),
        cmocka_unit_test(test_everything_is_escaped),
        cmocka_unit_test(test_many_runs),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_without_gnuplot),
        cmocka_unit_test(test_broken_figure),
        cmocka_unit_test(test_places_that_cannot_be_written),
        cmocka_unit_test(test_old_page_stays),
        cmocka_unit_test(test_standard_output),
    };
    return cmocka_run_group_tests(tests, make_paper, remove_workplace);
}
