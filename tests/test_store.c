/* The store returns what was put in bit for bit, and allows no change.
 *
 * Expected values do not come from the store's own read functions, but from SQLite on a plain connection, from a JSON
 * parser, and from the numbers themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "program.h"
#include "store_sample.h"

/* ---- Keeping ----------------------------------------------------------------------------------------------------- */

/* Equal, or both NaN; the sign of zero is not stored. */
static void assert_same(double got, double wanted) {
    if (isnan(wanted) ? !isnan(got) : got != wanted) fail_msg("got %.17g, wanted %.17g", got, wanted);
}

static void assert_same_metrics(const pbd_result *got, const pbd_result *wanted) {
    assert_int_equal(got->metrics, wanted->metrics);
    for (size_t i = 0; i < wanted->metrics; i++) {
        assert_string_equal(got->metric[i].name, wanted->metric[i].name);
        assert_string_equal(got->metric[i].unit, wanted->metric[i].unit);
        assert_int_equal(got->metric[i].kind, wanted->metric[i].kind);
        assert_int_equal(got->metric[i].is_count, wanted->metric[i].is_count);
        assert_true(got->metric[i].count == wanted->metric[i].count);
        assert_same(got->metric[i].value, wanted->metric[i].value);
    }
}

static void assert_same_series(const pbd_result *got, const pbd_result *wanted) {
    assert_int_equal(got->series_count, wanted->series_count);
    for (size_t i = 0; i < wanted->series_count; i++) {
        assert_string_equal(got->series[i].name, wanted->series[i].name);
        assert_string_equal(got->series[i].component, wanted->series[i].component);
        assert_string_equal(got->series[i].unit, wanted->series[i].unit);
        assert_int_equal(got->series[i].count, wanted->series[i].count);
        for (size_t j = 0; j < wanted->series[i].count; j++)
            assert_same(got->series[i].values[j], wanted->series[i].values[j]);
    }
}

static void assert_same_run(const pbd_result *got, const pbd_result *wanted) {
    assert_string_equal(got->run_id, wanted->run_id);
    assert_string_equal(got->cell_id, wanted->cell_id);
    assert_string_equal(got->case_name, wanted->case_name);
    assert_string_equal(got->method_name, wanted->method_name);
    assert_string_equal(got->params, wanted->params);
    assert_string_equal(got->backend, wanted->backend);
    assert_string_equal(got->precision, wanted->precision);
    assert_string_equal(got->started_at, wanted->started_at);
    assert_string_equal(got->state, wanted->state);
    assert_string_equal(got->says, wanted->says);
    assert_int_equal(got->threads, wanted->threads);
    assert_int_equal(got->repeat, wanted->repeat);
    assert_int_equal(got->warmups, wanted->warmups);
    assert_true(got->seed == wanted->seed);
    assert_same_metrics(got, wanted);
    assert_same_series(got, wanted);
    assert_int_equal(got->phases, wanted->phases);
    for (size_t i = 0; i < wanted->phases; i++) {
        assert_string_equal(got->phase[i].name, wanted->phase[i].name);
        assert_same(got->phase[i].wall_s, wanted->phase[i].wall_s);
        assert_same(got->phase[i].cpu_s, wanted->phase[i].cpu_s);
        assert_true(got->phase[i].calls == wanted->phase[i].calls);
    }
    assert_int_equal(got->warnings, wanted->warnings);
    for (size_t i = 0; i < wanted->warnings; i++) {
        assert_string_equal(got->warning[i].name, wanted->warning[i].name);
        assert_string_equal(got->warning[i].says, wanted->warning[i].says);
        assert_true(got->warning[i].count == wanted->warning[i].count);
    }
}

static void a_run_comes_back_whole(void **state) {
    (void)state;
    const char *path = fresh("whole.db");
    pbd_store *store;
    pbd_result put = sample_run(1), got;
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    assert_fine(pbd_store_put(store, &put, NULL, NULL));
    pbd_store_close(store);
    assert_fine(pbd_store_open(path, PBD_STORE_READ, &store));
    assert_fine(pbd_store_get(store, put.run_id, &got));
    assert_same_run(&got, &put);
    pbd_store_close(store);
    pbd_result_free(&got);
    pbd_result_free(&put);
    assert_clean(path);
}

/* The kinds of metrics, read from stores of programs from before and after the column for kinds. */
static void kinds_are_read(void **state) {
    (void)state;
    static const struct {
        const char *word, *name, *unit, *direction;
        bool is_count;
        pbd_kind kind;
    } row[] = {
        {NULL, "tip_error", "1", "lower", false, PBD_ERROR},
        {NULL, "solve_wall", "s", "lower", false, PBD_COST},
        {NULL, "applied_fraction", "1", "higher", false, PBD_QUALITY},
        {NULL, "dt", "s", "neutral", false, PBD_STATE},
        {NULL, "steps", "1", "neutral", true, PBD_COUNT},
        {NULL, "kernel_launches", "1", "neutral", true, PBD_COST},
        {NULL, "bytes_moved", "B", "neutral", false, PBD_COST},
        {"cost", "retries", "1", "neutral", true, PBD_COST},
        {"state", "steps", "1", "neutral", true, PBD_STATE},
        {"a kind of later", "tip_error", "1", "lower", false, PBD_ERROR},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(pbd_kind_read(row[i].word, row[i].name, row[i].unit, row[i].direction, row[i].is_count),
                         row[i].kind);
        assert_string_equal(pbd_direction_word(row[i].kind, row[i].unit), row[i].direction);
    }
}

static void plain_sql_reads_it(void **state) {
    (void)state;
    const char *path = fresh("plain.db");
    make_store(path, 1);
    assert_sql(path, "SELECT value IS NULL AND count IS NULL FROM metric WHERE name = 'not_a_number'", "1");
    assert_sql(path, "SELECT value = 9e999 FROM metric_view WHERE name = 'infinite'", "1");
    assert_sql(path, "SELECT value = -9e999 FROM metric_view WHERE name = 'minus_infinite'", "1");
    assert_sql(path, "SELECT typeof(count) || count FROM metric WHERE name = 'past_double'", "integer9007199254740993");
    assert_sql(path, "SELECT value = 18446744073709551616.0 FROM metric_view WHERE name = 'largest'", "1");
    assert_sql(path, "SELECT printf('%!.17g', value) FROM metric_view WHERE name = 'a_third'", "0.33333333333333331");
    assert_sql(path, "SELECT group_concat(name) FROM (SELECT name FROM metric ORDER BY position LIMIT 3)",
               "not_a_number,infinite,minus_infinite");
    assert_sql(path, "SELECT count(*) || ' ' || sum(i) || ' ' || count(value) FROM series_point WHERE component = 'x'",
               "10 45 9");
    assert_sql(path, "SELECT value = 0.1 FROM series_point WHERE component = 'x' AND i = 0", "1");
    assert_sql(path, "SELECT value = 9e999 FROM series_point WHERE component = 'x' AND i = 2", "1");
    assert_sql(path, "SELECT typeof(value) FROM series_point WHERE component = 'x' AND i = 8", "real");
    assert_sql(path, "SELECT params ->> 'solver' FROM run_view", "jacobi");
    assert_sql(path, "SELECT case_name || threads || repeat || state || precision FROM run_view",
               "cube_shear21divergedf64");
    assert_sql(path, "SELECT sum(clock_mhz) FROM env_sample", "2399.0");
    assert_sql(path, "PRAGMA journal_mode", "wal");
}

/* One run is put repeatedly with a single change each time; each gets a different id. */
static void every_part_counts(void **state) {
    (void)state;
    const char *path = fresh("parts.db");
    pbd_store *store;
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    char seen[20][33];
    const int variants = 20;
    for (int v = 0; v < variants; v++) {
        pbd_result r = sample_run(2);
        pbd_machine_sample sample = {0.5, 2400, 3, 1000};
        if (v == 1) r.metric[3].value = nextafter(r.metric[3].value, 1);
        if (v == 2) r.metric[6].count++;
        if (v == 3) r.metric[3].name[0] = 'b';
        if (v == 4) r.metric[3].kind = PBD_STATE;
        if (v == 5) r.series[0].values[4] = 1e-323;
        if (v == 6) r.series[0].values[1] = 0;
        if (v == 7) r.series[2].unit[0] = 's';
        if (v == 8) r.phase[0].wall_s += 1e-9;
        if (v == 9) r.phase[1].calls = 2;
        if (v == 10) r.warning[0].count++;
        if (v == 11) r.says[0] = 'S';
        if (v == 12) r.repeat++;
        if (v == 13) r.warmups++;
        if (v == 14) r.seed++;
        if (v == 15) r.started_at[0] = '1';
        if (v == 16) r.metrics--, free(r.metric[7].name), free(r.metric[7].unit);
        if (v == 17) sample.clock_mhz++;
        if (v == 18) r.metric[0].value = 0;
        if (v == 19) memcpy(r.state, "failed", 7);
        assert_fine(pbd_store_put(store, &r, &sample, NULL));
        memcpy(seen[v], r.run_id, 33);
        for (int w = 0; w < v; w++) assert_string_not_equal(seen[v], seen[w]);
        pbd_result_free(&r);
    }
    pbd_store_close(store);
    assert_clean(path);
}

static void the_same_run_is_stored_once(void **state) {
    (void)state;
    const char *path = fresh("once.db");
    pbd_store *store;
    char first[33], second[33];
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    assert_fine(put_sample(store, 5, first));
    assert_fine(put_sample(store, 5, second));
    pbd_store_close(store);
    assert_string_equal(first, second);
    assert_sql(path, "SELECT count(*) FROM run", "1");
    assert_sql(path, "SELECT count(*) FROM metric", "8");
}

static void bytes_that_are_no_text_are_replaced(void **state) {
    (void)state;
    const char *path = fresh("latin1.db");
    char *const argv[] = {word("/some/folder/pbdbench"), word("run"), word("M\xfcller \xc3\xbc \xe2\x82")};
    pbd_store *store;
    char run_id[33];
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    assert_fine(pbd_store_begin(store, 3, argv));
    assert_fine(put_sample(store, 0, run_id));
    pbd_store_close(store);
    for (int i = 0; i < 3; i++) free(argv[i]);
    assert_sql(path, "SELECT argv FROM invocation", "[\"pbdbench\",\"run\",\"M?ller \u00fc ??\"]");
    assert_clean(path);
}

/* ---- Never changing ---------------------------------------------------------------------------------------------- */

static const char *const kept[][2] = {{"build", "dirty"},     {"env", "cores"},       {"invocation", "pid"},
                                      {"cell", "threads"},    {"run", "repeat"},      {"env_sample", "position"},
                                      {"metric", "position"}, {"series", "position"}, {"phase", "calls"},
                                      {"warning", "count"}};

/* INSERT OR REPLACE of a row with one number of it changed: "INSERT OR REPLACE INTO run SELECT a, b, repeat + 1...". */
static void replace_sql(const char *path, const char *table, const char *column, int add, char sql[1000]) {
    char query[300];
    snprintf(query, sizeof query,
             "SELECT 'INSERT OR REPLACE INTO \"%s\" SELECT ' || group_concat('\"' || name || '\"' || iif(name = '%s', "
             "'+%d', ''))"
             " || ' FROM \"%s\"' FROM pragma_table_info('%s')",
             table, column, add, table, table);
    char *text = plain_text(path, query);
    snprintf(sql, 1000, "%s", text);
    free(text);
}

static void nothing_can_be_changed(void **state) {
    (void)state;
    const char *path = fresh("never.db");
    make_store(path, 3);
    char *before = export_of(path), sql[1000];
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const char *table = kept[i][0], *column = kept[i][1];
        snprintf(sql, sizeof sql, "UPDATE \"%s\" SET \"%s\" = \"%s\" + 1", table, column, column);
        assert_int_equal(plain_sql(path, sql), SQLITE_CONSTRAINT);
        snprintf(sql, sizeof sql, "UPDATE OR REPLACE \"%s\" SET \"%s\" = 77", table, column);
        assert_int_equal(plain_sql(path, sql), SQLITE_CONSTRAINT);
        snprintf(sql, sizeof sql, "DELETE FROM \"%s\"", table);
        assert_int_equal(plain_sql(path, sql), SQLITE_CONSTRAINT);
        replace_sql(path, table, column, 1, sql);
        assert_int_equal(plain_sql(path, sql), SQLITE_CONSTRAINT);
        replace_sql(path, table, column, 0, sql); /* identical rows are ignored */
        assert_int_equal(plain_sql(path, sql), SQLITE_OK);
    }
    char *after = export_of(path);
    assert_string_equal(after, before);
    assert_clean(path);
    free(before);
    free(after);
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

static bool finds(pbd_store *store, const pbd_result *r, uint64_t seed, int repeat) {
    bool found = true;
    char run_id[33];
    assert_fine(pbd_store_find(store, r->method_name, r->cell_id, seed, repeat, &found, run_id));
    if (found) assert_string_equal(run_id, r->run_id);
    return found;
}

static void a_finished_run_is_found(void **state) {
    (void)state;
    static const struct {
        const char *state;
        bool found;
    } states[] = {{"ok", true},         {"diverged", true}, {"no_equilibrium", true}, {"not_settled", true},
                  {"unphysical", true}, {"failed", false},  {"interrupted", false}};
    const char *path = fresh("find.db");
    pbd_store *store;
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    for (unsigned i = 0; i < sizeof states / sizeof *states; i++) {
        pbd_result r = sample_run(i);
        free(r.state);
        r.state = word(states[i].state);
        assert_false(finds(store, &r, r.seed, r.repeat));
        assert_fine(pbd_store_put(store, &r, NULL, NULL));
        assert_int_equal(finds(store, &r, r.seed, r.repeat), states[i].found);
        assert_false(finds(store, &r, r.seed - 100, r.repeat));
        assert_false(finds(store, &r, r.seed, r.repeat + 1));
        pbd_result_free(&r);
    }
    pbd_store_close(store);
}

/* Runs of other sources or of another machine are kept, but made again here. */
static void runs_from_elsewhere_do_not_count(void **state) {
    (void)state;
    static const char *const changes[] = {
        "DROP TRIGGER build_update; UPDATE build SET source = 'another', git_sha = 'same'",
        "DROP TRIGGER env_update; UPDATE env SET fingerprint = 'another'"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = fresh("elsewhere.db");
        make_store(path, 1);
        assert_int_equal(plain_sql(path, changes[i]), SQLITE_OK);
        pbd_store *store;
        pbd_result r = sample_run(0);
        assert_fine(pbd_store_open(path, PBD_STORE_READ, &store));
        assert_false(finds(store, &r, r.seed, r.repeat));
        pbd_store_close(store);
        pbd_result_free(&r);
    }
}

static void a_prefix_names_a_run(void **state) {
    (void)state;
    const char *path = fresh("prefix.db");
    make_store(path, 1);
    char *id = plain_text(path, "SELECT run_id FROM run"), prefix[33];
    pbd_store *store;
    pbd_result got;
    assert_fine(pbd_store_open(path, PBD_STORE_READ, &store));
    for (size_t digits = 4; digits <= 32; digits += 7) {
        snprintf(prefix, sizeof prefix, "%.*s", (int)digits, id);
        for (char *c = prefix; *c != '\0'; c++) *c = (char)(*c >= 'a' ? *c - 'a' + 'A' : *c); /* capitals do, too */
        assert_fine(pbd_store_get(store, prefix, &got));
        assert_string_equal(got.run_id, id);
        pbd_result_free(&got);
    }
    static const char *const wrong[] = {"", "abc", "xyzw", "' OR 1 --", "0123456789abcdef0123456789abcdef0"};
    for (size_t i = 0; i < 5; i++) assert_int_equal(pbd_store_get(store, wrong[i], &got).code, PBD_BAD_INPUT);
    pbd_store_close(store);
    assert_int_equal(plain_sql(path,
                               "INSERT INTO run SELECT substr(run_id, 1, 31) || 'x', cell_id, build_id, env_id,"
                               " invocation_id, kind, repeat, warmups, seed, started_at, state, says FROM run"),
                     SQLITE_OK);
    snprintf(prefix, sizeof prefix, "%.6s", id);
    assert_fine(pbd_store_open(path, PBD_STORE_READ, &store));
    const pbd_status status = pbd_store_get(store, prefix, &got);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    expect_says(status.text, "more than one");
    expect_says(status.text, id);
    pbd_store_close(store);
    free(id);
}

/* ---- Checking ---------------------------------------------------------------------------------------------------- */

static void check_finds_every_change(void **state) {
    (void)state;
    static const struct {
        const char *sql, *says;
    } changes[] = {
        {"DROP TRIGGER metric_update; UPDATE metric SET value = value * (1 + 1e-15) WHERE name = 'a_third'", "hash"},
        {"DROP TRIGGER metric_update; UPDATE metric SET count = count + 1 WHERE name = 'past_double'", "hash"},
        {"DROP TRIGGER metric_delete; DELETE FROM metric WHERE name = 'tiny'", "hash"},
        {"INSERT INTO metric SELECT run_id, 'late', 99, 'm', 'lower', 1.0, NULL FROM run", "hash"},
        {"DROP TRIGGER series_update; UPDATE series SET \"values\" = '[1]' WHERE component = 'y'", "hash"},
        {"DROP TRIGGER phase_update; UPDATE phase SET wall_s = 0.1", "hash"},
        {"DROP TRIGGER warning_delete; DELETE FROM warning", "hash"},
        {"DROP TRIGGER env_sample_update; UPDATE env_sample SET load_1min = 0", "hash"},
        {"DROP TRIGGER env_sample_update; UPDATE env_sample SET position = position + 7", "positions"},
        {"DROP TRIGGER metric_update; UPDATE metric SET position = 99 WHERE name = 'tiny'", "positions"},
        {"DROP TRIGGER series_update; UPDATE series SET position = 3 * position", "positions"},
        {"DROP TRIGGER phase_update; UPDATE phase SET position = position - 1", "positions"},
        {"DROP TRIGGER warning_update; UPDATE warning SET position = 5", "positions"},
        {"UPDATE method SET summary = 'the best of all'", "its summary or source was changed"},
        {"UPDATE method SET source = source || ' (1999)'", "its summary or source was changed"},
        {"UPDATE \"case\" SET summary = 'nothing'", "its summary or source was changed"},
        {"UPDATE \"case\" SET source = 'a book'", "its summary or source was changed"},
        {"DROP TRIGGER run_update; UPDATE run SET state = 'ok'", "hash"},
        {"DROP TRIGGER cell_update; UPDATE cell SET params = '{}'", "hash"},
        {"DROP TRIGGER build_update; UPDATE build SET dirty = 1 - dirty", "its build"},
        {"DROP TRIGGER env_update; UPDATE env SET cpu = 'faster'", "its env"},
        {"DROP TRIGGER invocation_update; UPDATE invocation SET argv = '[]', pid = 1", "its invocation"},
        {"DROP TRIGGER run_delete; DELETE FROM run WHERE seed = (SELECT max(seed) FROM run)", "missing row"},
        {"DROP TRIGGER run_insert", "layout run_insert: is missing"},
        {"DROP VIEW run_view; CREATE VIEW run_view AS SELECT * FROM run", "layout run_view: was changed"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *path = fresh("changed.db");
        make_store(path, 2);
        assert_clean(path);
        if (plain_sql(path, changes[i].sql) != SQLITE_OK) fail_msg("does not run: %s", changes[i].sql);
        char *says;
        if (problems_of(path, &says) == 0) fail_msg("not found: %s", changes[i].sql);
        expect_says(says, changes[i].says);
        free(says);
    }
}

/* ---- Merging and exporting --------------------------------------------------------------------------------------- */

static pbd_status merge(const char *into, const char *from, size_t *added, size_t *known) {
    pbd_store *store;
    assert_fine(pbd_store_open(into, PBD_STORE_WRITE, &store));
    const pbd_status status = pbd_store_merge(store, from, added, known);
    pbd_store_close(store);
    return status;
}

static void an_export_is_json_a_line(void **state) {
    (void)state;
    const char *path = fresh("lines.db");
    make_store(path, 3);
    char *text = export_of(path), *rest = text, *line, last[33] = "";
    size_t lines = 0;
    while (*rest != '\0' && (line = strsep(&rest, "\n")) != NULL) {
        json_t *object = json_loads(line, 0, NULL);
        const char *id = json_string_value(json_object_get(json_object_get(object, "run"), "run_id"));
        assert_non_null(id);
        assert_true(strcmp(last, id) < 0); /* ordered */
        snprintf(last, sizeof last, "%s", id);
        const json_t *metrics = json_object_get(object, "metric");
        assert_true(json_is_null(json_object_get(json_array_get(metrics, 0), "value")));
        assert_string_equal(json_string_value(json_object_get(json_array_get(metrics, 1), "value")), "inf");
        assert_int_equal(json_integer_value(json_object_get(json_array_get(metrics, 6), "count")), 9007199254740993);
        assert_string_equal(json_string_value(json_object_get(json_array_get(metrics, 7), "count")),
                            "18446744073709551615");
        const json_t *values = json_object_get(json_array_get(json_object_get(object, "series"), 0), "values");
        assert_int_equal(json_array_size(values), SAMPLE_VALUES);
        assert_true(json_real_value(json_array_get(values, 4)) == 5e-324);
        json_decref(object);
        lines++;
    }
    assert_int_equal(lines, 3);
    free(text);
}

static void an_export_restores_the_store(void **state) {
    (void)state;
    const char *path = fresh("from.db"), *copy = fresh("to.db");
    const char *lines = fresh("runs.jsonl");
    make_store(path, 5);
    char *text = export_of(path);
    write_bytes(lines, text, strlen(text));
    size_t added, known;
    assert_fine(merge(copy, lines, &added, &known));
    assert_int_equal(added, 5);
    assert_int_equal(known, 0);
    assert_fine(merge(copy, lines, &added, &known));
    assert_int_equal(added, 0);
    assert_int_equal(known, 5);
    assert_clean(copy);
    char *again = export_of(copy);
    assert_string_equal(again, text);
    free(text);
    free(again);
}

static void a_store_merges_into_another(void **state) {
    (void)state;
    const char *into = fresh("into.db"), *from = fresh("other.db");
    make_store(into, 2);
    make_store(from, 4); /* by another invocation, so that its first two runs differ */
    size_t added, known;
    assert_fine(merge(into, from, &added, &known));
    assert_int_equal(added, 4);
    assert_fine(merge(into, from, &added, &known));
    assert_int_equal(known, 4);
    assert_fine(merge(into, into, &added, &known));
    assert_int_equal(known, 6);
    assert_sql(into, "SELECT count(*) || ' ' || count(DISTINCT invocation_id) FROM run", "6 2");
    assert_clean(into);
    assert_clean(from);
}

/* Replaces the first `what` in the export's last line, so that the lines before it have been imported. */
static char *edited(const char *text, const char *what, const char *with) {
    const char *last = text;
    for (const char *c = text; c[0] != '\0' && c[1] != '\0'; c++) last = c[0] == '\n' ? c + 1 : last;
    const char *at = strstr(last, what);
    if (at == NULL) fail_msg("no '%s' in the export", what);
    char *out = need(malloc(strlen(text) + strlen(with) + 1));
    sprintf(out, "%.*s%s%s", (int)(at - text), text, with, at + strlen(what));
    return out;
}

static void an_edited_export_is_refused_whole(void **state) {
    (void)state;
    static const char *const edits[][2] = {
        {"0.33333", "0.33334"},
        {"\"value\":null", "\"value\":0"},
        {"\"value\":null", "\"value\":\"nan\""},
        {"9007199254740993", "9007199254740992"},
        {"\"18446744073709551615\"", "\"18446744073709551614\""},
        {"\"18446744073709551615\"", "\"x\""},
        {"\"values\":[0.1", "\"values\":[0.2"},
        {"\"values\":[0.1", "\"valves\":[0.1"},
        {"\"dirty\"", "\"flirty\""},
        {"cube_shear", "cube_sheaf"},
        {"\"repeat\":1", "\"repeat\":\"1\""},
        {"{", "{{"},
        {"}\n", ""},
        {"}\n", "}}\n"},
        {"\"metric\":[", "\"metric\":{},\"x\":["},
    };
    const char *path = fresh("edit.db"), *lines = fresh("edit.jsonl");
    make_store(path, 3);
    char *text = export_of(path);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const char *into = fresh("refused.db");
        char *changed = edited(text, edits[i][0], edits[i][1]);
        write_bytes(lines, changed, strlen(changed));
        size_t added, known;
        const pbd_status status = merge(into, lines, &added, &known);
        if (status.code != PBD_BAD_INPUT) fail_msg("taken in: %s for %s", edits[i][1], edits[i][0]);
        expect_says(status.text, "line 3");
        assert_int_equal(added, 0);
        assert_sql(into, "SELECT count(*) FROM run", "0");
        free(changed);
    }
    free(text);
}

/* ---- Claims ------------------------------------------------------------------------------------------------------ */

static void a_claim_keeps_its_last_verdict(void **state) {
    (void)state;
    const char *path = fresh("claims.db");
    pbd_store *store;
    char a[33], b[33];
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    assert_fine(put_sample(store, 0, a));
    assert_fine(put_sample(store, 1, b));
    const char *const both[] = {a, b}, *const unknown[] = {a, "no such run"};
    assert_fine(pbd_store_claim(store, "fig1", "stiff", "partly", 0.5, "half", NULL, both, 2));
    assert_fine(pbd_store_claim(store, "fig1", "stiff", "reproduced", (double)NAN, "whole", NULL, both, 1));
    assert_fine(pbd_store_claim(store, "fig1", "soft", "not_run", 1, "none", NULL, NULL, 0));
    assert_int_equal(pbd_store_claim(store, "fig1", "soft", "partly", 1, "none", NULL, unknown, 2).code, PBD_BAD_INPUT);
    assert_int_equal(pbd_store_claim(store, "fig1", "soft", "perhaps", 1, "none", NULL, both, 2).code, PBD_BAD_INPUT);
    pbd_store_close(store);
    assert_sql(path,
               "SELECT group_concat(claim || ' ' || verdict || ' ' || ifnull(value, 'NULL'), ', ') FROM claim_result",
               "soft not_run 1.0, stiff reproduced NULL");
    assert_sql(path, "SELECT count(*) FROM claim_run", "1");
    assert_clean(path);
}

/* ---- The verbs --------------------------------------------------------------------------------------------------- */

static void db_and_show_answer(void **state) {
    (void)state;
    const char *path = fresh("verbs.db"), *lines = fresh("verbs.jsonl"), *other = fresh("verbs2.db");
    told made = tell("run", "cube_shear", "-m", "fem_linear", "-s", "nu=0.25", "-t", "1", "--db", path, "--json");
    expect_code(made, 0);
    json_t *run = json_loads(made.out, 0, NULL);
    const char *id = json_string_value(json_object_get(run, "run_id"));
    assert_non_null(id);

    told shown = tell("show", id, "--db", path);
    expect_code(shown, 0);
    expect_says(shown.out, "displacement_error");
    expect_says(shown.out, "-s nu=0.25");
    told json = tell("show", id, "--db", path, "--json");
    expect_code(json, 0);
    json_t *object = json_loads(json.out, 0, NULL);
    expect_says(json_string_value(json_object_get(object, "command")), "pbdbench run cube_shear -m fem_linear");

    /* The command makes another run of the same cell. */
    char *command = word(json_string_value(json_object_get(object, "command"))), *rest = command;
    const char *words[64] = {NULL};
    size_t n = 0;
    for (char *w; n < 60 && (w = strsep(&rest, " ")) != NULL; n++) words[n] = w;
    words[n] = "--db";
    words[n + 1] = path;
    told again = tell_to(STDOUT_KEPT, words + 1);
    expect_code(again, 0);
    assert_sql(path, "SELECT count(*) || count(DISTINCT cell_id) FROM run", "21");

    told checked = tell("db", "check", "--db", path, "--json");
    expect_code(checked, 0);
    expect_says(checked.out, "{\"runs\":2,\"problems\":0,\"says\":[]}");
    told exported = tell("db", "export", "--db", path, "-o", lines);
    expect_code(exported, 0);
    told merged = tell("db", "merge", lines, path, "--db", other, "--json");
    expect_code(merged, 0);
    expect_says(merged.out, "{\"added\":2,\"known\":2}");
    told itself = tell("db", "export", "--db", path, "-o", path);
    expect_code(itself, 2);
    told full = tell_to(STDOUT_FULL, (const char *const[]){"db", "export", "--db", path, NULL});
    expect_code(full, 2);
    expect_says(full.err, "No space left");
    assert_int_equal(plain_sql(path, "DROP TRIGGER run_update; UPDATE run SET repeat = 9"), SQLITE_OK);
    told spoilt = tell("db", "check", "--db", path);
    expect_code(spoilt, 3);
    told none = tell("show", "0000", "--db", path);
    expect_code(none, 2);

    told *all[] = {&made, &shown, &json, &again, &checked, &exported, &merged, &itself, &full, &spoilt, &none};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) forget(all[i]);
    free(command);
    json_decref(object);
    json_decref(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_comes_back_whole),
        cmocka_unit_test(kinds_are_read),
        cmocka_unit_test(plain_sql_reads_it),
        cmocka_unit_test(every_part_counts),
        cmocka_unit_test(the_same_run_is_stored_once),
        cmocka_unit_test(bytes_that_are_no_text_are_replaced),
        cmocka_unit_test(nothing_can_be_changed),
        cmocka_unit_test(a_finished_run_is_found),
        cmocka_unit_test(runs_from_elsewhere_do_not_count),
        cmocka_unit_test(a_prefix_names_a_run),
        cmocka_unit_test(check_finds_every_change),
        cmocka_unit_test(an_export_is_json_a_line),
        cmocka_unit_test(an_export_restores_the_store),
        cmocka_unit_test(a_store_merges_into_another),
        cmocka_unit_test(an_edited_export_is_refused_whole),
        cmocka_unit_test(a_claim_keeps_its_last_verdict),
        cmocka_unit_test(db_and_show_answer),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, remove_workplace);
}
