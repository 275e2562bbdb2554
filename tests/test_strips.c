/* Strips of a figure: states of its runs at given times, rendered by `reproduce`. */
#include "tests/paper.h"

#include <sys/stat.h>

#include "harness/exec/arena.h"
#include "harness/files/png_file.h"

enum { TILE = 560, ROWS = 2, COLUMNS = 3, CAPTION = 44, FOOT = 90 }; /* pixels: plots/snapshots.gp */

#define RUNS                                                                                                      \
    "runs:\n  - {name: thrown, case: bounce, method: corrected_sph, threads: 1, set: [\"cells=2\", \"dt=0.001\"," \
    " \"duration=0.01\"], axes: [\"v0=1,20\"]}\n"

static void make_strip(const char *id, const char *strip) {
    char name[60], *text = NULL;
    snprintf(name, sizeof name, "plots/%s", id);
    if (!exists(name)) assert_int_equal(mkdir(in_workplace(name), 0777), 0);
    snprintf(name, sizeof name, "plots/%s/figure.yaml", id);
    assert_true(asprintf(&text, "figure: %s\npaper: tiny\ntitle: %s\n" RUNS "strips:\n  - {%s}\n", id, id, strip) > 0);
    write_text(name, text);
    free(text);
}

/* Row y of pixels of the rendered tile (row, column). */
static const unsigned char *tile_row(const pbd_image *sheet, int row, int column, int y) {
    const int height = (sheet->height - FOOT) / ROWS;
    return sheet->pixel + 3 * ((size_t)sheet->width * (size_t)(row * height + CAPTION + y) + (size_t)(TILE * column));
}

static size_t pixels_that_differ(const pbd_image *sheet, const int a[2], const int b[2]) {
    size_t differ = 0;
    for (int y = 0; y < (sheet->height - FOOT) / ROWS - CAPTION; y++)
        for (int x = 0; x < TILE; x++)
            differ += memcmp(tile_row(sheet, a[0], a[1], y) + 3 * x, tile_row(sheet, b[0], b[1], y) + 3 * x, 3) != 0;
    return differ;
}

#define TWO_RUNS "sql: \"SELECT run_id, printf('v0 = %g', v0) FROM thrown ORDER BY v0\""

/* Both bodies start in the same state. A time after the end shows the final state, where the faster one has fallen by
 * 0.2 m, the slower one by 0.01 m. */
static void test_runs_and_moments(void **state) {
    (void)state;
    pbd_image sheet PBD_CLEANUP(pbd_image_free) = {0};
    make_strip("tiny-strip", "name: body, " TWO_RUNS ", moments: [0, 0.005, 1]");
    told answer = tell("reproduce", "tiny-strip", DB("strip.db"));
    expect_code(answer, 0);
    expect_says(answer.out, in_workplace("pictures/tiny-strip-body.png"));
    forget(&answer);
    assert_int_equal(pbd_png_read(in_workplace("pictures/tiny-strip-body.png"), &sheet).code, PBD_OK);
    assert_int_equal(sheet.width, COLUMNS * TILE);
    assert_int_equal((sheet.height - FOOT) % ROWS, 0);
    const size_t some = TILE * (size_t)(sheet.height - FOOT) / ROWS / 1000; /* gnuplot rounds the positions of tiles */
    assert_true(pixels_that_differ(&sheet, (int[]){0, 0}, (int[]){1, 0}) < some);
    assert_true(pixels_that_differ(&sheet, (int[]){1, 0}, (int[]){1, 2}) > 10 * some);
    assert_true(pixels_that_differ(&sheet, (int[]){0, 2}, (int[]){1, 2}) > 10 * some);
}

/* `report` shows a drawn strip if the store has its runs, also for a figure without charts. */
static void test_report(void **state) {
    (void)state;
    make_strip("tiny-shown", "name: body, " TWO_RUNS ", moments: [0.01]");
    const char *store = in_workplace("shown.db");
    told answer = tell("reproduce", "tiny-shown", "--db", store);
    expect_code(answer, 0);
    forget(&answer);
    for (int other = 0; other < 2; other++) {
        answer = tell("report", "--json", "--db", other ? in_workplace("strip.db") : store);
        expect_code(answer, 0);
        assert_true((strstr(answer.out, "Rendered states: tiny-shown") != NULL) == !other);
        forget(&answer);
    }
}

static struct timespec when(const char *name) {
    struct stat about;
    assert_int_equal(stat(in_workplace(name), &about), 0);
    return about.st_mtim;
}

static bool is_same_time(struct timespec a, struct timespec b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* A strip that already shows these runs is kept; with other times it is drawn again. */
static void test_drawn_once(void **state) {
    (void)state;
    const char *const picture = "pictures/tiny-once-body.png";
    make_strip("tiny-once", "name: body, " TWO_RUNS ", moments: [0.01], colour: body");
    told answer = tell("reproduce", "tiny-once", "--no-strips", DB("once.db"));
    expect_code(answer, 0);
    forget(&answer);
    assert_false(exists(picture));
    answer = tell("reproduce", "tiny-once", DB("once.db"));
    forget(&answer);
    const struct timespec first = when(picture);
    answer = tell("reproduce", "tiny-once", DB("once.db"));
    forget(&answer);
    assert_true(is_same_time(first, when(picture)));
    make_strip("tiny-once", "name: body, " TWO_RUNS ", moments: [0.005], colour: body");
    answer = tell("reproduce", "tiny-once", DB("once.db"));
    forget(&answer);
    assert_false(is_same_time(first, when(picture)));
    assert_int_equal(count_runs("once.db"), 2);
}

/* Strips of two figures drawn in parallel equal those drawn by one process. */
static void test_strips_beside_each_other(void **state) {
    (void)state;
    static const char *const jobs[] = {"1", "2"}, *const db[] = {"one.db", "two.db"};
    static const char *const pictures[] = {"pictures/tiny-left-body.png", "pictures/tiny-right-body.png"};
    pbd_image sheet[2][2] = {0};
    make_strip("tiny-left", "name: body, " TWO_RUNS ", moments: [0.01], colour: body");
    make_strip("tiny-right", "name: body, " TWO_RUNS ", moments: [0.005], colour: body");
    for (int k = 0; k < 2; k++) {
        told answer = tell("reproduce", "tiny-left", "tiny-right", "--jobs", jobs[k], DB(db[k]));
        expect_code(answer, 0);
        forget(&answer);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(pbd_png_read(in_workplace(pictures[i]), &sheet[k][i]).code, PBD_OK);
            unlink(in_workplace(pictures[i]));
        }
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sheet[0][i].width, sheet[1][i].width);
        assert_int_equal(sheet[0][i].height, sheet[1][i].height);
        assert_memory_equal(sheet[0][i].pixel, sheet[1][i].pixel,
                            3 * (size_t)sheet[0][i].width * (size_t)sheet[0][i].height);
    }
    for (int k = 0; k < 4; k++) pbd_image_free(&sheet[k / 2][k % 2]);
    /* alone, one process makes the runs and draws; with three, two draw and the first finds the pictures */
    assert_int_equal(count_rows("one.db", "SELECT count(*) FROM invocation"), 1);
    assert_true(count_rows("two.db", "SELECT count(*) FROM invocation") > 3);
}

static void test_bad_strips_are_explained(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"name: body, sql: SELECT run_id FROM thrown, moments: [0]",
         "must have two columns, run_id and caption, not 1"},
        {"name: body, " TWO_RUNS ", moments: [0.1, 0]", "moments must ascend from 0 s on: 0 s"},
        {"name: body, " TWO_RUNS ", moments: [-1]", "moments must ascend from 0 s on: -1 s"},
        {"name: body, " TWO_RUNS ", moments: []", "moments"},
        {"name: body, " TWO_RUNS ", moments: [0], colour: red", "unknown colour 'red'"},
        {"name: a/b, " TWO_RUNS ", moments: [0]", "expected letters, digits"},
        {"name: body, sql: \"SELECT run_id, 1 FRM thrown\", moments: [0]", "strip 'body'"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        make_strip("tiny-bad", bad[i][0]);
        told answer = tell("reproduce", "tiny-bad", DB("bad.db"));
        expect_code(answer, 2);
        expect_says(answer.err, bad[i][1]);
        forget(&answer);
    }
    make_strip("tiny-bad", "name: body, sql: \"SELECT run_id, 1 FROM thrown WHERE v0 > 100\", moments: [0]");
    told answer = tell("reproduce", "tiny-bad", DB("bad.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "strip 'body': its query has no rows");
    forget(&answer);
}

static int set_up(void **state) {
    char script[PATH_MAX];
    if (!realpath(in_workplace("plots/snapshots.gp"), script) || make_paper(state) != 0) return -1;
    return symlink(script, in_workplace("plots/snapshots.gp"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_and_moments), cmocka_unit_test(test_report), cmocka_unit_test(test_drawn_once),
        cmocka_unit_test(test_strips_beside_each_other), cmocka_unit_test(test_bad_strips_are_explained)};
    return cmocka_run_group_tests(tests, set_up, remove_workplace);
}
