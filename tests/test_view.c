/* The viewer's page without a browser: packed states are recovered by zlib and by a decoder written here from the
 * description in harness/view/pack.h; the verb; the spool that keeps states. view_browser.c tests the pictures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <sqlite3.h>
#include <zlib.h>

#include "harness/view/pack.h"
#include "program.h"
#include "viewed_scene.h"

static void check_ok(pbd_status status) {
    if (status.code != PBD_OK) fail_msg("%s", status.text);
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

/* A decoder by the description in pack.h: numbers[] holds the two previous states, the later one first. */
static void decode(const unsigned char *raw, size_t points, unsigned mode, uint16_t *numbers[2], uint16_t *out) {
    for (size_t d = 0; d < 3; d++) {
        unsigned before = 0;
        for (size_t i = 0; i < points; i++) {
            const unsigned kept = raw[2 * d * points + i] + 256u * raw[(2 * d + 1) * points + i];
            unsigned difference = kept % 2 ? 65536u - (kept + 1) / 2 : kept / 2;
            if (mode & 2) difference += before;
            before = difference;
            const unsigned motion = 2u * numbers[0][d * points + i] - numbers[1][d * points + i];
            out[d * points + i] = (uint16_t)(difference + (mode & 1 ? motion : numbers[0][d * points + i]));
        }
    }
}

enum { POINTS = 5000, STATES = 8 };

static double next_uniform(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* A body that rests, falls, then flies apart; the first point leaves the box, the second becomes NaN. */
static double place(size_t point, int state, size_t d, uint64_t *seed) {
    const double rest = d == 0 ? (double)(point % 17) : d == 1 ? (double)(point / 17 % 17) : (double)(point / 289);
    const double fall = state < 2 ? 0 : 0.05 * state * state;
    const double spread = state < 5 ? 0 : next_uniform(seed) - 0.5;
    if (point == 0 && state > 3) return 1e3;
    if (point == 1 && state > 3) return NAN;
    return 4 + rest - (d == 2 ? fall : 0) + spread;
}

static void test_packed_states_come_back(void **unused) {
    (void)unused;
    const double low[3] = {0, 0, 0}, size = 30, step = 30.0 / 65534;
    static double x[3 * POINTS];
    static uint16_t store[3][3 * POINTS];
    static unsigned char raw[7 * POINTS], field[POINTS];
    uint16_t *state[3] = {store[0], store[1], store[2]};
    uint64_t seed = 7;
    unsigned modes = 0;
    size_t bytes = 0;
    pbd_packer p;
    check_ok(pbd_pack_open(POINTS, 1, low, size, &p));
    for (int s = 0; s < STATES; s++) {
        for (size_t i = 0; i < 3 * POINTS; i++) x[i] = place(i / 3, s, i % 3, &seed);
        for (size_t i = 0; i < POINTS; i++) p.field[i] = (unsigned char)(i * 31 + (size_t)s);
        check_ok(pbd_pack_state(&p, x));
        uLongf count = sizeof raw;
        assert_int_equal(uncompress(raw, &count, p.packed, p.bytes), Z_OK);
        assert_int_equal(count, 7 * POINTS);
        decode(raw, POINTS, p.mode, (uint16_t *[]){state[0], state[1]}, state[2]);
        for (size_t i = 0; i < POINTS; i++) {
            field[i] = (unsigned char)(field[i] + raw[6 * POINTS + i]);
            assert_int_equal(field[i], (unsigned char)(i * 31 + (size_t)s));
            for (size_t d = 0; d < 3; d++) {
                const uint16_t number = state[2][d * POINTS + i];
                if (i < 2 && s > 3)
                    assert_int_equal(number, 65535);
                else
                    assert_true(fabs(number * step - x[3 * i + d]) <= 0.5001 * step);
            }
        }
        assert_int_equal(p.hidden, s > 3 ? 2 : 0);
        modes |= 1u << p.mode;
        bytes += p.bytes;
        uint16_t *oldest = state[1];
        state[1] = state[0];
        state[0] = state[2];
        state[2] = oldest;
    }
    pbd_pack_close(&p);
    assert_true(modes & (1u << 1 | 1u << 3)); /* smooth motion is predicted */
    assert_true(bytes < 8 * 6 * POINTS / 2);
}

/* ---- The spool --------------------------------------------------------------------------------------------------- */

static pbd_status read_count(const void *state, pbd_field field, double *out) {
    if (field != PBD_POSITIONS) return pbd_error(PBD_NOT_SUPPORTED, "the field is not known");
    for (int i = 0; i < 3; i++) out[i] = *(const double *)state + i;
    return pbd_ok();
}

/* If the number of steps is unknown, between half and all of the requested states are kept, evenly, with the end. */
static void test_a_spool_thins_out(void **unused) {
    (void)unused;
    static const pbd_method method = {.name = "count", .read = read_count};
    double x[3] = {0}, value;
    const pbd_scene scene = {.particles = {.count = 1, .positions = x}};
    for (long steps = 1; steps < 3000; steps = 2 * steps + 1) {
        pbd_spool *spool, *again;
        int file;
        check_ok(pbd_spool_file(in_workplace("spool"), &file));
        check_ok(pbd_spool_begin(&(pbd_spool_plan){.file = file, .frames = 20, .fields = 1u << PBD_VELOCITIES}, &scene,
                                 &method, &spool));
        for (long k = 0; k <= steps; k++) {
            value = (double)k;
            if (pbd_spool_wants(spool, 0.25 * (double)k, k)) check_ok(pbd_spool_keep(spool, &value));
        }
        check_ok(pbd_spool_end(spool, &value));
        check_ok(pbd_spool_open(file, &again));
        const size_t states = pbd_spool_states(again);
        assert_int_equal(states, pbd_spool_states(spool));
        assert_true(states <= 20 && states >= (steps < 20 ? (size_t)steps + 1 > 19 ? 10 : (size_t)steps + 1 : 10));
        assert_false(pbd_spool_has(again, PBD_VELOCITIES));
        double last = 0, stride = 0;
        for (size_t s = 0; s < states; s++) {
            double read[3];
            check_ok(pbd_spool_read(again, s, PBD_POSITIONS, read));
            assert_true(read[1] == read[0] + 1 && pbd_spool_time(again, s) == 0.25 * read[0]);
            if (s == 1) stride = read[0] - last;
            if (s > 1 && s + 1 < states) assert_true(read[0] - last == stride);
            last = read[0];
        }
        assert_true(last == (double)steps);
        pbd_spool_close(spool);
        pbd_spool_close(again);
        close(file);
    }
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

static char *read_page(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    char *text = malloc(size + 1);
    rewind(file);
    assert_int_equal(fread(text, 1, size, file), size);
    text[size] = '\0';
    fclose(file);
    return text;
}

/* The data of the page for its script. */
static json_t *page_runs(const char *page) {
    static const char head[] = "<script type=\"application/json\" id=\"runs\">";
    const char *from = strstr(page, head);
    assert_non_null(from);
    json_t *json = json_loads(from + sizeof head - 1, JSON_DISABLE_EOF_CHECK, NULL);
    assert_non_null(json);
    return json;
}

static size_t count_of(const char *text, const char *word) {
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++) n++;
    return n;
}

#define GOO "run", "goo_drop", "-m", "mpm", "-s", "particles=100", "-s", "duration=0.2", "-t", "1"

/* `run --view` and `view` of the stored run write the same page, byte for byte. */
static void test_a_stored_run_is_viewed(void **unused) {
    (void)unused;
    const char *first = in_workplace("first.html"), *second = in_workplace("second.html");
    told t = tell(GOO, "--view", first, "--frames", "5", "--json");
    expect_code(t, 0);
    json_t *run = json_loads(t.out, 0, NULL);
    const char *id = json_string_value(json_object_get(run, "run_id"));
    assert_non_null(id);
    forget(&t);
    t = tell("view", id, "-o", second, "--frames", "5");
    expect_code(t, 0);
    expect_says(t.err, "making run");
    expect_says(t.out, "second.html");
    assert_null(strstr(t.err, "not the same"));
    forget(&t);
    char *a = read_page(first), *b = read_page(second);
    assert_string_equal(a, b);
    json_t *page = page_runs(a), *told_run = json_array_get(json_object_get(page, "runs"), 0);
    json_t *times = json_object_get(told_run, "times");
    assert_int_equal(json_array_size(times), 5);
    for (size_t k = 0; k < 5; k++) /* the first step at or after each time */
        assert_true(fabs(json_number_value(json_array_get(times, k)) - 0.05 * (double)k) < 0.005);
    assert_int_equal(count_of(a, "id=\"r0-s"), 6); /* and r0-still */
    assert_int_equal(count_of(a, "https://") + count_of(a, "http://"), 0);
    json_decref(page);
    json_decref(run);
    free(a);
    free(b);
}

/* A run that gives another result than the stored one, simulated by a changed value in the store. */
static void test_another_result_is_told(void **unused) {
    (void)unused;
    sqlite3 *sql;
    const char *store = in_workplace("other.db");
    told t = tell(GOO, "--db", store, "--json");
    expect_code(t, 0);
    json_t *run = json_loads(t.out, 0, NULL);
    forget(&t);
    assert_int_equal(sqlite3_open(store, &sql), SQLITE_OK); /* the store refuses changes */
    assert_int_equal(sqlite3_exec(sql,
                                  "DROP TRIGGER metric_update;"
                                  "UPDATE metric SET value = value + 1 WHERE name = 'spread'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(sql);
    t = tell("view", json_string_value(json_object_get(run, "run_id")), "--db", store, "--frames", "2", "-o",
             in_workplace("other.html"));
    expect_code(t, 0);
    expect_says(t.err, "not the same when it is made again: spread is");
    forget(&t);
    json_decref(run);
}

/* A static solve has two states, and no times. */
static void test_a_solve_has_a_start_and_an_end(void **unused) {
    (void)unused;
    const char *path = in_workplace("solve.html");
    told t = tell("run", "cube_shear", "-m", "fem_linear", "--no-store", "--view", path);
    expect_code(t, 0);
    forget(&t);
    char *text = read_page(path);
    json_t *page = page_runs(text), *run = json_array_get(json_object_get(page, "runs"), 0);
    assert_int_equal(json_array_size(json_object_get(run, "times")), 2);
    assert_true(json_is_null(json_array_get(json_object_get(run, "times"), 1)));
    assert_true(json_integer_value(json_object_get(run, "triangles")) > 0);
    assert_true(json_is_true(json_object_get(run, "closed")) && json_is_true(json_object_get(run, "quads")));
    assert_int_equal(json_integer_value(json_object_get(run, "spheres")), 0);
    json_decref(page);
    free(text);
}

static void test_what_cannot_be_viewed_is_refused(void **unused) {
    (void)unused;
    const char *page = in_workplace("none.html");
    told t = tell("view");
    expect_code(t, 2);
    expect_says(t.err, "view needs a run");
    forget(&t);
    t = tell("view", "ffff0000", "-o", page);
    expect_code(t, 2);
    forget(&t);
    t = tell(GOO, "--no-store", "--view", in_workplace("no/such/folder.html"));
    expect_code(t, 2);
    expect_says(t.err, "cannot be written");
    forget(&t);
    t = tell(GOO, "--no-store", "--frames", "5");
    expect_code(t, 2);
    expect_says(t.err, "--frames requires --view");
    forget(&t);
    t = tell(GOO, "--no-store", "--view", page, "-a", "E=1e4,2e4");
    expect_code(t, 2);
    expect_says(t.err, "--view is of one run");
    forget(&t);
    assert_int_equal(access(page, F_OK), -1);
}

/* 2000 states of 100 particles at 13 bytes each are 2.7 MB; 1 MB has room for 750. */
static void test_too_large_a_page_is_refused(void **unused) {
    (void)unused;
    told t = tell(GOO, "--json");
    expect_code(t, 0);
    json_t *run = json_loads(t.out, 0, NULL);
    forget(&t);
    t = tell("view", json_string_value(json_object_get(run, "run_id")), "--frames", "2000", "--max-mb", "1", "-o",
             in_workplace("large.html"));
    expect_code(t, 2);
    expect_says(t.err, "at most --frames");
    expect_says(t.err, "--max-mb");
    forget(&t);
    json_decref(run);
}

/* Names and parameters are data: none can end the HTML element that contains it. */
static void test_names_are_escaped(void **unused) {
    (void)unused;
    char evil[] = "{\"file\":\"</script><script>alert(1)</script><!--\"}", name[] = "</title><b>", *page = NULL;
    size_t size = 0;
    int file;
    pbd_spool *spool;
    const pbd_scene scene = viewed_scene();
    pbd_result result = viewed_result();
    result.params = evil;
    result.case_name = name;
    check_ok(pbd_spool_file(in_workplace("evil"), &file));
    check_ok(viewed_keep(&scene, 0.5, file, &spool));
    const pbd_view_run run = {&result, "pbdbench run '</script>'", &scene, &viewed_method, spool};
    FILE *out = open_memstream(&page, &size);
    check_ok(pbd_view_write(&run, 1, PBD_COLOUR_AUTO, out));
    fclose(out);
    assert_null(strstr(page, "alert(1)</script>"));
    assert_null(strstr(page, "</title><b>"));
    assert_null(strstr(page, "<!--"));
    json_t *told_runs = page_runs(page), *told_run = json_array_get(json_object_get(told_runs, "runs"), 0);
    assert_string_equal(json_string_value(json_object_get(told_run, "title")), "</title><b> \u00b7 given");
    const char *said = json_string_value(json_object_get(json_object_get(told_run, "params"), "file"));
    assert_string_equal(said, "</script><script>alert(1)</script><!--");
    assert_int_equal(pbd_view_write(&run, 1, PBD_COLOUR_STRESS, stderr).code, PBD_NOT_SUPPORTED);
    json_decref(told_runs);
    free(page);
    pbd_spool_close(spool);
    close(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_states_come_back),        cmocka_unit_test(test_a_spool_thins_out),
        cmocka_unit_test(test_a_stored_run_is_viewed),         cmocka_unit_test(test_another_result_is_told),
        cmocka_unit_test(test_a_solve_has_a_start_and_an_end), cmocka_unit_test(test_what_cannot_be_viewed_is_refused),
        cmocka_unit_test(test_too_large_a_page_is_refused),    cmocka_unit_test(test_names_are_escaped),
    };
    return cmocka_run_group_tests_name("view", tests, NULL, remove_workplace);
}
