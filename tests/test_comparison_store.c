/* Comparisons in the store: stored unchanged, immutable, checked, exported and merged with their runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program.h"
#include "store_sample.h"

/* A store with runs 0 and 1 and, if wanted, a comparison of them. */
static void make_compared(const char *path, const char *verdict, char comparison_id[33]) {
    pbd_store *store;
    char a[33], b[33];
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    assert_fine(put_sample(store, 0, a));
    assert_fine(put_sample(store, 1, b));
    const pbd_comparison_pair pair[2] = {{false, a, b, 0.5, 0.25, -0.7, 5},
                                         {true, a, b, 0.125, (double)NAN, (double)NAN, 0}};
    const pbd_comparison c = {.purpose = "compare",
                              .name_a = "xpbi:solver=jacobi",
                              .name_b = "no UTF-8: \xff",
                              .clock = "cpu",
                              .margin = 0.02,
                              .seed = 18446744073709551615u,
                              .alpha = 0.0078125,
                              .log_ratio = -0.7,
                              .low = -(double)INFINITY,
                              .high = -0.1,
                              .bootstrap_low = -0.75,
                              .bootstrap_high = (double)NAN,
                              .verdict = verdict,
                              .says = "",
                              .pair = pair,
                              .pairs = 2};
    assert_fine(pbd_store_put_comparison(store, &c, comparison_id));
    pbd_store_close(store);
}

static void it_is_kept_as_given(void **state) {
    (void)state;
    const char *path = fresh("kept.db");
    char id[33];
    make_compared(path, "faster", id);
    assert_int_equal(strlen(id), 32);
    assert_clean(path);
    assert_sql(path, "SELECT name_a || '|' || name_b FROM comparison", "xpbi:solver=jacobi|no UTF-8: ?");
    assert_sql(path, "SELECT seed FROM comparison", "-1"); /* two's complement */
    assert_sql(path, "SELECT low = -9e999 AND high = -0.1 AND bootstrap_high IS NULL FROM comparison", "1");
    assert_sql(path, "SELECT pairs FROM comparison", "2");
    assert_sql(path, "SELECT group_concat(first || position || ':' || a_s) FROM comparison_pair", "a0:0.5,b1:0.125");
    assert_sql(path, "SELECT b_s FROM comparison_pair WHERE position = 1", "(null)");
    /* Cells come from the runs. */
    assert_sql(path,
               "SELECT count(*) FROM comparison JOIN comparison_pair USING (comparison_id) JOIN run AS a ON "
               "a.run_id = run_a AND a.cell_id = cell_a AND a.build_id = build_a JOIN run AS b ON b.run_id = "
               "run_b AND b.cell_id = cell_b AND b.env_id = comparison.env_id",
               "2");
}

static void it_never_changes(void **state) {
    (void)state;
    const char *path = fresh("fixed.db");
    char id[33];
    make_compared(path, "faster", id);
    for (const char *const *sql =
             (const char *const[]){"UPDATE comparison SET verdict = 'slower'", "DELETE FROM comparison",
                                   "DELETE FROM comparison_pair", "UPDATE comparison_pair SET a_s = 1",
                                   "INSERT OR REPLACE INTO comparison_pair SELECT comparison_id, "
                                   "position, 'b', run_a, run_b, 1, 1, 0, 0 FROM comparison_pair",
                                   NULL};
         *sql; sql++)
        if ((plain_sql(path, *sql) & 0xff) != SQLITE_CONSTRAINT) fail_msg("the store took %s", *sql);
    assert_clean(path);
}

static void check_finds_what_was_changed(void **state) {
    (void)state;
    static const char *const changes[] = {
        "DROP TRIGGER comparison_update; UPDATE comparison SET verdict = 'slower'",
        "DROP TRIGGER comparison_pair_update; UPDATE comparison_pair SET a_s = 0.1 WHERE position = 0",
        "DROP TRIGGER comparison_pair_delete; DELETE FROM comparison_pair WHERE position = 1",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *path = fresh("changed.db");
        char id[33], line[64], *says;
        make_compared(path, "faster", id);
        assert_int_equal(plain_sql(path, changes[i]), SQLITE_OK);
        assert_int_equal(problems_of(path, &says), 2); /* the trigger, and the comparison itself */
        snprintf(line, sizeof line, "comparison %s: it was changed", id);
        expect_says(says, line);
        free(says);
    }
}

static void a_run_that_is_not_there_is_refused(void **state) {
    (void)state;
    const char *path = fresh("lacking.db");
    pbd_store *store;
    char id[33];
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    const pbd_comparison_pair pair = {
        false, "00000000000000000000000000000000", "11111111111111111111111111111111", 1, 1, 0, 0};
    const pbd_comparison c = {.purpose = "compare", .verdict = "same", .clock = "cpu", .pair = &pair, .pairs = 1};
    const pbd_status status = pbd_store_put_comparison(store, &c, id);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    expect_says(status.text, "has no run '00000000");
    pbd_store_close(store);
    assert_sql(path, "SELECT count(*) FROM comparison", "0");
}

static void it_travels_with_its_runs(void **state) {
    (void)state;
    const char *from = fresh("from.db"), *by_file = fresh("by_file.db"), *by_store = fresh("by_store.db");
    const char *lines = fresh("export.jsonl");
    char id[33];
    size_t added, known;
    make_compared(from, "inconclusive", id);
    char *text = export_of(from);
    write_bytes(lines, text, strlen(text));
    for (int way = 0; way < 2; way++) {
        pbd_store *into;
        assert_fine(pbd_store_open(way ? by_store : by_file, PBD_STORE_WRITE, &into));
        assert_fine(pbd_store_merge(into, way ? from : lines, &added, &known));
        assert_int_equal(added, 2);
        assert_fine(pbd_store_merge(into, way ? from : lines, &added, &known)); /* a second merge changes nothing */
        assert_int_equal(known, 2);
        pbd_store_close(into);
        assert_clean(way ? by_store : by_file);
        char *again = export_of(way ? by_store : by_file);
        assert_string_equal(again, text);
        free(again);
    }
    free(text);
}

static void an_edited_line_is_refused(void **state) {
    (void)state;
    const char *from = fresh("edit.db"), *to = fresh("refuse.db"), *lines = fresh("edited.jsonl");
    char id[33];
    size_t added, known;
    make_compared(from, "inconclusive", id);
    char *text = export_of(from);
    write_bytes(lines, text, strlen(text));
    free(text);
    file_bytes file = read_bytes(lines);
    unsigned char *verdict = memmem(file.byte, file.count, "\"inconclusive\"", 14);
    assert_non_null(verdict);
    memcpy(verdict, "\"faster\"      ", 14);
    write_bytes(lines, file.byte, file.count);
    free(file.byte);
    pbd_store *into;
    assert_fine(pbd_store_open(to, PBD_STORE_WRITE, &into));
    const pbd_status status = pbd_store_merge(into, lines, &added, &known);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    expect_says(status.text, "line 3: not merged, nor is any other: it was changed after it was stored");
    pbd_store_close(into);
    assert_sql(to, "SELECT count(*) FROM run", "0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_kept_as_given),          cmocka_unit_test(it_never_changes),
        cmocka_unit_test(check_finds_what_was_changed), cmocka_unit_test(a_run_that_is_not_there_is_refused),
        cmocka_unit_test(it_travels_with_its_runs),     cmocka_unit_test(an_edited_line_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
