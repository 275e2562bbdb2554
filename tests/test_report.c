/* report: its data and the files that it writes. report_browser.sh tests the page in a browser. */
#include "tests/paper.h"

#include <math.h>

#include "harness/rank/problems.h"
#include "tests/history_store.h"
#include "tests/store_sample.h"

/* The data of `report` with these arguments; to be freed by json_decref. */
#define data_of(...) read_data(tell("report", "--json", __VA_ARGS__))

static json_t *read_data(told answer) {
    expect_code(answer, 0);
    json_t *data = json_loads(answer.out, 0, NULL);
    assert_non_null(data);
    forget(&answer);
    return data;
}

/* A value by its path: "claims/claims/0/id". */
static json_t *at(const json_t *data, const char *path) {
    char copy[200], *rest = copy;
    json_t *value = (json_t *)(uintptr_t)data;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *word; (word = strsep(&rest, "/"));)
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(word)) : json_object_get(value, word);
    return value;
}
static const char *text_at(const json_t *data, const char *path) {
    const char *text = json_string_value(at(data, path));
    return text ? text : "";
}
static size_t size_at(const json_t *data, const char *path) {
    const json_t *value = at(data, path);
    return json_is_object(value) ? json_object_size(value) : json_array_size(value);
}
static long long count_at(const json_t *data, const char *path) { return json_integer_value(at(data, path)); }

/* The figure, claim or problem of that id in an array. */
static json_t *with_id(const json_t *data, const char *path, const char *id) {
    size_t i;
    json_t *item;
    json_array_foreach(at(data, path), i, item) if (strcmp(text_at(item, "id"), id) == 0) return item;
    fail_msg("no %s in %s", id, path);
    return NULL;
}

static size_t pictures_of(const json_t *data, const char *figure) {
    size_t i, count = 0;
    json_t *picture;
    json_array_foreach(at(with_id(data, "figures", figure), "pictures"), i, picture) count +=
        strncmp(text_at(picture, "src"), "data:image/png;base64,iVBOR", 27) == 0 || *text_at(picture, "chart");
    return count;
}

static void reproduce(const char *db) {
    told answer = tell("reproduce", "tiny-fig1", "-q", "--db", in_workplace(db));
    expect_code(answer, 0);
    forget(&answer);
}

static size_t count_of(const char *text, const char *word) {
    const size_t length = strlen(text), of_word = strlen(word);
    size_t count = 0;
    for (const char *from = text; (from = memmem(from, length - (size_t)(from - text), word, of_word)); from++) count++;
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
    json_t *data = data_of("-q");
    assert_int_equal(count_at(data, "claims/tally/not_run"), 3);
    assert_int_equal(size_at(data, "ranked/tables"), 0);
    assert_true(size_at(data, "ranked/problems") > 30);
    assert_string_equal(text_at(with_id(data, "figures", "tiny-fig1"), "no_picture"), "Nothing is stored yet.");
    assert_string_equal(text_at(with_id(data, "figures", "tiny-fig2"), "absent"), "not yet");
    assert_int_equal(size_at(data, "comparisons") + size_at(data, "history") + size_at(data, "runs"), 0);
    json_decref(data);
}

static void test_claims_figures_and_runs(void **state) {
    (void)state;
    reproduce("whole.db");
    json_t *data = data_of("--db", in_workplace("whole.db"));
    const json_t *holds = with_id(data, "claims/claims", "tiny-fig1.holds"),
                 *figure = with_id(data, "figures", "tiny-fig1");
    assert_int_equal(pictures_of(data, "tiny-fig1"), 1);
    assert_string_equal(text_at(holds, "verdict"), "reproduced");
    assert_string_equal(text_at(holds, "says"), "k_edge is what the paper prints");
    assert_string_equal(text_at(holds, "note"), "at dt = 0.473 s"); /* from the query */
    assert_true(fabs(json_real_value(at(holds, "value")) - 0.0511) < 1e-4);
    assert_null(at(holds, "other_sources"));
    assert_string_equal(text_at(with_id(data, "claims/claims", "tiny-fig1.fails"), "verdict"), "not_reproduced");
    assert_string_equal(text_at(with_id(data, "claims/claims", "tiny-fig1.no_row"), "why"), "the axis ends before");
    assert_string_equal(text_at(data, "claims/papers/0/citation"),
                        "A. One, B. Two: A Tiny Paper. Journal of Small Things (1999).");
    assert_string_equal(text_at(figure, "paper_data/0/rows/0/2"), "first, and last");
    assert_string_equal(text_at(figure, "drawn_data/0/name"), "fitted");
    assert_int_equal(size_at(figure, "drawn_data/0/rows"), 5);
    assert_int_equal(size_at(data, "runs"), 5);
    assert_int_equal(size_at(data, "claims/sets/0"), 5);
    const json_t *run = json_object_get(at(data, "runs"), text_at(data, "claims/sets/0/0"));
    expect_says(text_at(run, "command"), "./pbdbench run hex_fit -m pbd_distance -s ");
    assert_true(size_at(run, "metrics") > 2);
    assert_string_equal(text_at(run, "state"), "ok");
    json_decref(data);
}

/* Verdicts of another build are labelled as such, and that build's runs are drawn. */
static void test_other_sources(void **state) {
    (void)state;
    reproduce("other.db");
    assert_int_equal(
        plain_sql(in_workplace("other.db"), "DROP TRIGGER build_update; UPDATE build SET source = 'something else'"),
        SQLITE_OK);
    assert_int_equal(unlink(in_workplace("results/plots/tiny-fig1.png")), 0);
    json_t *data = data_of("--db", in_workplace("other.db"));
    assert_int_equal(pictures_of(data, "tiny-fig1"), 1);
    assert_true(json_is_true(at(with_id(data, "claims/claims", "tiny-fig1.holds"), "other_sources")));
    json_decref(data);
}

/* ---- Problems ---------------------------------------------------------------------------------------------------- */

/* Copies a stored run under another method's name, as if of an engine, with the same time and error. */
static void put_engine_run(const char *path, const char *run_id, const char *name) {
    pbd_store *store;
    pbd_result r = {0};
    char *const argv[] = {(char *)(uintptr_t) "pbdbench", NULL};
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    assert_fine(pbd_store_begin(store, 1, argv));
    assert_fine(pbd_store_get(store, run_id, &r));
    free(r.method_name);
    r.method_name = word(name);
    memset(r.cell_id, 'e', 32);
    assert_fine(pbd_store_put(store, &r, NULL, NULL));
    pbd_result_free(&r);
    pbd_store_close(store);
}

static const json_t *row_of(const json_t *data, const char *problem, const char *method) {
    char path[100];
    size_t i;
    json_t *row;
    snprintf(path, sizeof path, "ranked/tables/0/problems/%s", problem);
    json_array_foreach(at(data, path), i, row) if (strcmp(text_at(row, "method"), method) == 0 &&
                                                   count_at(row, "threads") == 1) return row;
    fail_msg("no row of %s on %s", method, problem);
    return NULL;
}

/* The best trial within each budget is that of `rank`; an engine absent from problems.yaml has its own row. */
static void test_problems(void **state) {
    (void)state;
    const char *path = fresh("ranked.db");
    static const char problem[] = "cantilever-soft-static";
    told answer = tell("rank", "--quick", "-q", "--problem", problem, "-m", "pbd_distance", "--json", "--db", path);
    expect_code(answer, 0);
    json_t *ranked = json_loads(answer.out, 0, NULL);
    forget(&answer);
    json_t *data = data_of("--db", path, "--figures", "none");
    assert_int_equal(size_at(data, "ranked/tables"), 1);
    assert_true(json_is_true(at(data, "ranked/tables/0/quick")));
    const json_t *row = row_of(data, problem, "pbd_distance"), *theirs = NULL, *one;
    size_t i;
    json_array_foreach(at(ranked, "problems/0/rows"), i, one) if (count_at(one, "threads") == 1) theirs = one;
    assert_int_equal(size_at(row, "trials"), 4);
    assert_int_equal(size_at(theirs, "trials"), 4);
    assert_int_equal(size_at(row, "best"), 4);
    for (i = 0; i < 4; i++) {
        char mine[40], its[40];
        snprintf(its, sizeof its, "within/%zu/run_id", i);
        snprintf(mine, sizeof mine, "trials/%lld/run",
                 (long long)json_integer_value(json_array_get(at(row, "best"), i)));
        assert_string_equal(json_is_null(json_array_get(at(row, "best"), i)) ? "" : text_at(row, mine),
                            text_at(theirs, its));
    }
    expect_says(text_at(row, "trials/0/command"), "./pbdbench run cantilever -m pbd_distance ");
    put_engine_run(path, text_at(row, "trials/0/run"), "an engine of <b>others</b>");
    json_decref(ranked);
    const double over = json_real_value(at(row, "trials/0/over"));
    json_decref(data);
    data = data_of("--db", path, "--figures", "none");
    row = row_of(data, problem, "an engine of <b>others</b>");
    assert_true(json_is_true(at(row, "undeclared")));
    assert_int_equal(size_at(row, "trials"), 1);
    assert_true(json_real_value(at(row, "trials/0/over")) == over);
    json_decref(data);
}

/* spinning-energy has no quick trials and is judged on the cells of spinning-momentum, so its table is a quick one. */
static void test_quick_trials_of_a_shared_cell(void **state) {
    (void)state;
    const char *path = fresh("shared.db");
    told answer = tell("rank", "--quick", "-q", "--problem", "spinning-momentum", "-m", "strain_energy", "--db", path);
    expect_code(answer, 0);
    forget(&answer);
    json_t *data = data_of("--db", path, "--figures", "none");
    assert_int_equal(size_at(data, "ranked/tables"), 1);
    assert_true(json_is_true(at(data, "ranked/tables/0/quick")));
    assert_int_equal(count_at(data, "ranked/tables/0/trials"), 4);
    json_decref(data);
}

/* A film beside the page is mentioned; other files are not. */
static void test_beside(void **state) {
    (void)state;
    assert_int_equal(mkdir(in_workplace("beside"), 0777), 0);
    write_text("beside/0123abcd.html", "a viewer");
    write_text("beside/0123abcd-soft.mp4", "a film");
    write_text("beside/0123abc.mp4", "seven digits");
    write_text("beside/report.html", "");
    told answer = tell("report", "--publish", in_workplace("beside"), "--figures", "none");
    expect_code(answer, 0);
    forget(&answer);
    char *text = read_text(in_workplace("beside/data.json"));
    json_t *data = json_loads(text, 0, NULL);
    assert_int_equal(size_at(data, "beside"), 2);
    json_decref(data);
    free(text);
}

static void test_publish(void **state) {
    (void)state;
    const char *path = fresh("site.db");
    reproduce("site.db");
    told answer =
        tell("rank", "--quick", "-q", "--problem", "cantilever-soft-static", "-m", "pbd_distance", "--db", path);
    expect_code(answer, 0);
    forget(&answer);
    answer = tell("report", "--publish", in_workplace("site"), "--db", path);
    expect_code(answer, 0);
    expect_says(answer.out, "runs of problems in 1 table");
    forget(&answer);
    static const char *const files[] = {"index.html",
                                        "data.json",
                                        "README.txt",
                                        "thumbnails/tiny-fig1.png",
                                        "plots/tiny-fig1.png",
                                        "figures/tiny-fig1/plot.gp",
                                        "figures/style.gp",
                                        "figures/tiny-fig1/fitted.tsv",
                                        "charts/cantilever-soft-static.tsv"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[100];
        snprintf(name, sizeof name, "site/%s", files[i]);
        if (!exists(name)) fail_msg("%s is missing", name);
    }
    char *text = read_text(in_workplace("site/ranked.md"));
    expect_says(text, ", commit ");
    expect_says(text, "| cantilever-soft-static | pbd_distance ");
    expect_says(text, "newest 2");
    free(text);
    text = read_text(in_workplace("site/claims.md"));
    expect_says(text, "| tiny-fig1.holds | reproduced | 0.05");
    expect_says(text, "| k_edge is what the paper prints | ");
    free(text);
    text = read_text(in_workplace("site/charts/cantilever-soft-static.gp"));
    expect_says(text, "'cantilever-soft-static.tsv'");
    free(text);
}

/* ---- Hostile stores ---------------------------------------------------------------------------------------------- */

#define HOSTILE "<script>alert(1)</script>&\"'\x01\xff</td><img src=x onerror=alert(1)>"
#define FINE "<script>alert(1)</script>&\"'\x01?</td><img src=x onerror=alert(1)>" /* as UTF-8 */

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

/* Whatever a store holds, the page has no scripts and styles but its own. */
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
    json_t *data = data_of("--db", path);
    assert_string_equal(text_at(with_id(data, "claims/claims", "tiny-fig1.holds"), "note"), FINE);
    assert_true(json_is_true(at(with_id(data, "claims/claims", "tiny-fig1.holds"), "reworded")));
    assert_string_equal(text_at(data, "comparisons/0/a"), FINE);
    assert_true(fabs(json_real_value(at(data, "comparisons/0/ratio")) - 2) < 1e-12);
    assert_int_equal(size_at(data, "runs"), 1);
    json_decref(data);
    told answer = tell("report", "-o", in_workplace("hostile.html"), "--db", path);
    expect_code(answer, 0);
    forget(&answer);
    char *page = read_text(in_workplace("hostile.html"));
    assert_int_equal(count_of(page, "<script"), 2); /* the data, and the script of the page */
    assert_int_equal(count_of(page, "<style"), 2);  /* of all pages, and of this one */
    assert_null(strstr(page, "alert(1)"));
    assert_null(strstr(page, "bold</b>"));
    free(page);
}

/* With thousands of runs behind a claim the page shows a limited number and says so; the history shows its step. */
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
    json_t *data = data_of("--db", path, "--figures", "none");
    assert_int_equal(size_at(data, "runs"), 5000);
    assert_int_equal(size_at(data, "claims/sets/0"), 5400);
    assert_true(count_at(data, "runs_left_out") >= 400);
    const json_t *step =
        at(data, "history/0/step"); /* in displacement_error, from the last build on (history_store.h) */
    assert_true(fabs(json_real_value(at(step, "change"))) > 0.05);
    assert_true(size_at(data, "history/0/values") == size_at(data, "history/0/levels"));
    json_decref(data);
}

/* ---- Pictures ---------------------------------------------------------------------------------------------------- */

static void expect_pictures(const json_t *data, size_t count, const char *says) {
    const json_t *figure = with_id(data, "figures", "tiny-fig1");
    assert_int_equal(pictures_of(data, "tiny-fig1"), count);
    if (*says) expect_says(text_at(figure, "no_picture"), says);
}

static void test_pictures(void **state) {
    (void)state;
    reproduce("pictures.db");
    json_t *data = data_of("--db", in_workplace("pictures.db"), "--figures", "none");
    expect_pictures(data, 0, "without pictures");
    json_decref(data);

    /* A picture drawn from another store does not belong to this one. */
    make_store(fresh("another.db"), 1);
    data = data_of("--db", in_workplace("another.db"));
    expect_pictures(data, 0, "None of its ");
    json_decref(data);
    data = data_of("--db", in_workplace("pictures.db"), "--figures", "drawn");
    expect_pictures(data, 1, "");
    json_decref(data);

    /* A missing picture is drawn again or reported. */
    assert_int_equal(unlink(in_workplace("results/plots/tiny-fig1.png")), 0);
    data = data_of("--db", in_workplace("pictures.db"), "--figures", "drawn");
    expect_pictures(data, 0, "No picture newer than its runs has been drawn.");
    assert_false(exists("results/plots/tiny-fig1.png"));
    json_decref(data);
    data = data_of("--db", in_workplace("pictures.db"));
    expect_pictures(data, 1, "");
    assert_true(exists("results/plots/tiny-fig1.png"));
    json_decref(data);

    /* A file with a picture's name that is no picture. */
    write_text("results/plots/tiny-fig1.png", "GIF89a, if anything");
    data = data_of("--db", in_workplace("pictures.db"), "--figures", "drawn");
    expect_pictures(data, 0, "");
    expect_says(text_at(with_id(data, "figures", "tiny-fig1"), "pictures/0/none"), "cannot read the picture");
    json_decref(data);
}

/* ---- Charts ------------------------------------------------------------------------------------------------------ */

static void expect_panel(const json_t *figure, size_t i, const double range[4], bool log_x, bool log_y) {
    const json_t *panel = json_array_get(at(figure, "pictures/0/panels"), i);
    for (size_t k = 0; k < 4; k++) {
        assert_true(fabs(json_number_value(json_array_get(at(panel, "range"), k)) - range[k]) < 1e-9);
        assert_true(json_number_value(json_array_get(at(panel, "pixel"), k)) > 0);
    }
    assert_int_equal(json_is_true(at(panel, "log/0")), log_x);
    assert_int_equal(json_is_true(at(panel, "log/1")), log_y);
}

/* The page's data has the axes that the gnuplot script sets: logarithmic, reversed, on continued lines, in blocks. */
static void test_charts(void **state) {
    (void)state;
    write_text("plots/tiny-fig1/plot.gp",
               "load style\nset output out . '/tiny-fig1.png'\nset terminal pngcairo size 900,400\n"
               "set multiplot layout 1,3\nset logscale y 2\nset xrange [0:4]\nset yrange [1:8]\n"
               "plot data . '/fitted.tsv' using ($0):(2**$0) with lines title 'doubling', \\\n    2 notitle\n"
               "unset logscale\nset yrange [8:1]\n"
               "do for [i=1:1] {\n    plot data . '/fitted.tsv' using ($0):(2**$0) with points\n}\n"
               "set logscale xy\nset xrange [1:4]\nplot x\nunset multiplot\n");
    reproduce("charts.db");
    json_t *data = data_of("--db", in_workplace("charts.db"));
    const json_t *figure = with_id(data, "figures", "tiny-fig1");
    assert_int_equal(size_at(figure, "pictures/0/panels"), 3);
    expect_panel(figure, 0, (const double[]){0, 4, 1, 8}, false, true);
    expect_panel(figure, 1, (const double[]){0, 4, 8, 1}, false, false);
    expect_panel(figure, 2, (const double[]){1, 4, 8, 1}, true, true);
    assert_true(strlen(text_at(figure, "pictures/0/chart")) > 500);
    assert_null(at(figure, "pictures/0/src")); /* replaced by the chart */
    assert_true(exists("results/plots/tiny-fig1/chart.svg"));
    json_decref(data);

    /* A chart older than the picture is not shown; it is drawn again. */
    assert_int_equal(unlink(in_workplace("results/plots/tiny-fig1/panels.txt")), 0);
    data = data_of("--db", in_workplace("charts.db"), "--figures", "drawn");
    assert_null(at(with_id(data, "figures", "tiny-fig1"), "pictures/0/chart"));
    assert_int_equal(pictures_of(data, "tiny-fig1"), 1);
    json_decref(data);
    data = data_of("--db", in_workplace("charts.db"));
    assert_non_null(at(with_id(data, "figures", "tiny-fig1"), "pictures/0/chart"));
    json_decref(data);

    /* A plot with three axes is a drawing without values. */
    write_text("plots/tiny-fig1/plot.gp",
               "load style\nset output out . '/tiny-fig1.png'\n"
               "splot data . '/fitted.tsv' using 1:2:2 with lines\n");
    reproduce("charts.db");
    data = data_of("--db", in_workplace("charts.db"));
    figure = with_id(data, "figures", "tiny-fig1");
    assert_int_equal(size_at(figure, "pictures/0/panels"), 1);
    for (size_t k = 0; k < 4; k++)
        assert_true(json_number_value(json_array_get(at(figure, "pictures/0/panels/0/pixel"), k)) == 0);
    json_decref(data);
    write_text("plots/tiny-fig1/plot.gp", plot_gp);
}

static void test_without_gnuplot(void **state) {
    (void)state;
    reproduce("dull.db");
    assert_int_equal(unlink(in_workplace("results/plots/tiny-fig1.png")), 0);
    char *path = strdup(getenv("PATH"));
    setenv("PATH", in_workplace("nothing"), 1);
    json_t *data = data_of("--db", in_workplace("dull.db"));
    setenv("PATH", path, 1);
    free(path);
    expect_pictures(data, 0, "gnuplot");
    json_decref(data);
}

static void test_broken_figure(void **state) {
    (void)state;
    make_figure("tiny-broken", "claims: [{id: tiny-broken.a, says: x}]\n");
    json_t *data = data_of("-q");
    expect_says(text_at(with_id(data, "figures", "tiny-broken"), "trouble"), "plots/tiny-broken/figure.yaml");
    assert_non_null(with_id(data, "figures", "tiny-fig1"));
    json_decref(data);
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
    expect_refusal(tell("report", "-o", "a.html", "--publish", "b"), "exclude each other");
    expect_refusal(tell("report", "--publish", "/dev/null/site"), "/dev/null");
    if (geteuid() != 0) { /* root may write everywhere */
        write_text("guarded.html", "mine");
        chmod(in_workplace("guarded.html"), 0444);
        expect_refusal(tell("report", "-o", in_workplace("guarded.html")), "Permission denied");
    }
    assert_false(exists("no"));
}

/* If a page cannot be written completely, the old one stays unchanged, and no temporary file is left. */
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
    expect_says(answer.out, "<!DOCTYPE html>");
    expect_says(answer.out, "</html>");
    forget(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_was_run),
        cmocka_unit_test(test_claims_figures_and_runs),
        cmocka_unit_test(test_other_sources),
        cmocka_unit_test(test_problems),
        cmocka_unit_test(test_quick_trials_of_a_shared_cell),
        cmocka_unit_test(test_beside),
        cmocka_unit_test(test_publish),
        cmocka_unit_test(test_everything_is_escaped),
        cmocka_unit_test(test_many_runs),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_charts),
        cmocka_unit_test(test_without_gnuplot),
        cmocka_unit_test(test_broken_figure),
        cmocka_unit_test(test_places_that_cannot_be_written),
        cmocka_unit_test(test_old_page_stays),
        cmocka_unit_test(test_standard_output),
    };
    return cmocka_run_group_tests(tests, make_paper, remove_workplace);
}
