/* Import of runs of other tools: Google Benchmark's JSON as written by current and by older versions, truncated,
 * mutated, and JSON of another program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "harness/query/import.h"
#include "tests/program.h"
#include "tests/store_sample.h"

/* As Google Benchmark 1.7 writes it, with a case of each kind. Times: 100 ns are 1e-7 s, 2.5 ms are 2.5e-3 s. */
static const char sample[] =
    "{\n  \"context\": {\n"
    "    \"date\": \"2024-05-06T09:08:07+02:00\",\n    \"host_name\": \"bench-host\",\n"
    "    \"executable\": \"./build/sort_bench\",\n    \"num_cpus\": 8,\n    \"mhz_per_cpu\": 3600,\n"
    "    \"cpu_scaling_enabled\": false,\n    \"caches\": [\n"
    "      {\"type\": \"Data\", \"level\": 1, \"size\": 32768, \"num_sharing\": 2},\n"
    "      {\"type\": \"Instruction\", \"level\": 1, \"size\": 65536, \"num_sharing\": 2},\n"
    "      {\"type\": \"Unified\", \"level\": 2, \"size\": 524288, \"num_sharing\": 2},\n"
    "      {\"type\": \"Unified\", \"level\": 3, \"size\": 16777216, \"num_sharing\": 8}\n    ],\n"
    "    \"load_avg\": [0.5,0.25,0.125],\n    \"library_build_type\": \"release\"\n  },\n  \"benchmarks\": [\n"
    "    {\n      \"name\": \"BM_Sort<std::vector<int>>/1024/order:random/threads:2\",\n      \"family_index\": 0,\n"
    "      \"per_family_instance_index\": 0,\n"
    "      \"run_name\": \"BM_Sort<std::vector<int>>/1024/order:random/threads:2\",\n"
    "      \"run_type\": \"iteration\",\n      \"repetitions\": 2,\n      \"repetition_index\": 0,\n"
    "      \"threads\": 2,\n      \"iterations\": 7000,\n      \"real_time\": 1.0000000000000000e+02,\n"
    "      \"cpu_time\": 2.0000000000000000e+02,\n      \"time_unit\": \"ns\",\n"
    "      \"bytes_per_second\": 4.0960000000000000e+10,\n      \"items_per_second\": 1.0240000000000000e+10,\n"
    "      \"ratio\": NaN,\n      \"peak\": Infinity,\n      \"swaps\": 1.5\n    },\n"
    "    {\n      \"name\": \"BM_Sort<std::vector<int>>/1024/order:random/threads:2\",\n"
    "      \"run_name\": \"BM_Sort<std::vector<int>>/1024/order:random/threads:2\",\n"
    "      \"run_type\": \"iteration\",\n      \"repetitions\": 2,\n      \"repetition_index\": 1,\n"
    "      \"threads\": 2,\n      \"iterations\": 7000,\n      \"real_time\": 2.5,\n      \"cpu_time\": 2.5,\n"
    "      \"time_unit\": \"ms\",\n      \"label\": \"warm, says \\\"NaN\\\"\"\n    },\n"
    "    {\n      \"name\": \"BM_Sort<std::vector<int>>/1024/order:random/threads:2_mean\",\n"
    "      \"run_name\": \"BM_Sort<std::vector<int>>/1024/order:random/threads:2\",\n"
    "      \"run_type\": \"aggregate\",\n      \"aggregate_name\": \"mean\",\n      \"iterations\": 2,\n"
    "      \"real_time\": -nan,\n      \"cpu_time\": 1.0,\n      \"time_unit\": \"ns\"\n    },\n"
    "    {\n      \"name\": \"BM_Broken/real_time\",\n      \"run_name\": \"BM_Broken/real_time\",\n"
    "      \"run_type\": \"iteration\",\n      \"repetition_index\": 0,\n      \"threads\": 1,\n"
    "      \"error_occurred\": true,\n      \"error_message\": \"no such file\",\n      \"iterations\": 0,\n"
    "      \"real_time\": 0.0,\n      \"cpu_time\": 0.0,\n      \"time_unit\": \"ns\"\n    },\n"
    "    {\n      \"name\": \"BM_Later\",\n      \"run_type\": \"iteration\",\n      \"skipped\": true,\n"
    "      \"skip_message\": \"not here\"\n    }\n  ]\n}\n";

static const char *written(const char *name, const char *text) {
    const char *path = fresh(name);
    write_bytes(path, text, strlen(text));
    return path;
}

/* Imports a file with the program and expects these counts. */
static void expect_import(const char *file, const char *db, const char *counts) {
    told answer = tell("db", "import", file, "--db", db, "--json");
    expect_code(answer, 0);
    expect_says(answer.out, counts);
    forget(&answer);
}

/* ---- What becomes of a file -------------------------------------------------------------------------------------- */

static void test_every_part(void **state) {
    (void)state;
    const char *file = written("sort.json", sample), *db = fresh("parts.db");
    expect_import(file, db, "{\"added\":3,\"known\":0,\"aggregates\":1,\"skipped\":1}");
    assert_sql(db, "SELECT group_concat(DISTINCT kind) FROM run", "external");
    assert_sql(db,
               "SELECT group_concat(case_name || ' ' || method || ' ' || params || ' ' || threads, ';') FROM "
               "(SELECT * FROM cell ORDER BY case_name)",
               "BM_Broken sort_bench {} 1;BM_Sort<std::vector<int>> sort_bench "
               "{\"arg0\":1024,\"order\":\"random\"} 2");
    assert_sql(db, "SELECT DISTINCT started_at FROM run", "2024-05-06T07:08:07.000Z"); /* 09:08:07 at +02:00 */
    assert_sql(db, "SELECT cpu || ';' || threads || ';' || l1d_kib || ';' || l2_kib || ';' || l3_kib FROM env",
               "bench-host, 3600 MHz;8;32;512;16384");
    assert_sql(db, "SELECT preset FROM build", "release");
    assert_sql(db, "SELECT group_concat(real_time_s, ';') FROM (SELECT real_time_s FROM external_view ORDER BY name)",
               "1.0e-07;0.0025");
    assert_sql(db, "SELECT cpu_time_s FROM external_view WHERE real_time_s = 1e-7", "2.0e-07");
    assert_sql(db,
               "SELECT group_concat(name || ' ' || unit || ' ' || ifnull(value, 'nothing'), ';') FROM (SELECT m.* "
               "FROM metric AS m JOIN external_view USING (run_id) WHERE repeat = 0 AND state = 'ok' AND m.name "
               "NOT LIKE '%_time' AND m.name <> 'iterations' ORDER BY m.name)",
               "bytes_per_second B/s 40960000000.0;items_per_second 1/s 10240000000.0;peak 1 Inf;ratio 1 nothing;"
               "swaps 1 1.5");
    assert_sql(db,
               "SELECT count FROM metric JOIN external_view USING (run_id) WHERE metric.name = 'iterations' AND "
               "repeat = 1",
               "7000");
    assert_sql(db, "SELECT wall_s || ' ' || calls FROM phase JOIN run USING (run_id) WHERE repeat = 1", "17.5 7000");
    assert_sql(db, "SELECT says FROM run WHERE state = 'failed'", "BM_Broken/real_time: no such file");
    assert_sql(db, "SELECT count(*) FROM metric JOIN run USING (run_id) WHERE state = 'failed'", "0");
    assert_sql(db, "SELECT says FROM run WHERE repeat = 1",
               "BM_Sort<std::vector<int>>/1024/order:random/threads:2: warm, says \"NaN\"");
    assert_clean(db);
}

/* Imported once, twice, under another name, and together with another file of the same second. */
static void test_nothing_twice(void **state) {
    (void)state;
    const char *file = written("one.json", sample), *copy = written("two.json", sample), *db = fresh("twice.db");
    char *other = word(sample);
    memcpy(strstr(other, "2.5,"), "2.6,", 4);
    const char *changed = written("three.json", other);
    expect_import(file, db, "{\"added\":3,\"known\":0");
    expect_import(file, db, "{\"added\":0,\"known\":3");
    expect_import(copy, db, "{\"added\":0,\"known\":3");
    expect_import(changed, db, "{\"added\":1,\"known\":2"); /* one number differs: one additional run */
    assert_sql(db, "SELECT count(*) FROM run", "4");
    assert_sql(db, "SELECT count(*) FROM invocation", "2");
    assert_clean(db);
    free(other);
}

static void test_tool_by_name(void **state) {
    (void)state;
    const char *file = written("named.json", sample), *db = fresh("named.db");
    told answer = tell("db", "import", file, "--tool", "std_sort", "--db", db);
    expect_code(answer, 0);
    expect_says(answer.out, "3 runs added, 0 already present; ignored 1 aggregate and 1 skipped");
    assert_sql(db, "SELECT group_concat(DISTINCT method) FROM cell", "std_sort");
    forget(&answer);
}

/* Before version 1.5: no run_type, no time zone in the date, aggregates recognised by their names. */
static void test_old_version(void **state) {
    (void)state;
    static const char old[] =
        "{\"context\": {\"date\": \"2017/03/14-09:12:31\", \"num_cpus\": 4, \"mhz_per_cpu\": 2300, "
        "\"cpu_scaling_enabled\": true, \"library_build_type\": \"debug\"}, \"benchmarks\": ["
        "{\"name\": \"BM_Copy/8\", \"iterations\": 10, \"real_time\": 5, \"cpu_time\": 4, \"time_unit\": \"us\"},"
        "{\"name\": \"BM_Copy/8_stddev\", \"iterations\": 10, \"real_time\": 1, \"cpu_time\": 1, \"time_unit\": "
        "\"us\"}]}";
    const char *db = fresh("old.db");
    expect_import(written("old.json", old), db, "{\"added\":1,\"known\":0,\"aggregates\":1,\"skipped\":0}");
    assert_sql(db, "SELECT case_name || ' ' || tool || ' ' || params || ' ' || started_at FROM external_view",
               "BM_Copy google_benchmark {\"arg0\":8} 2017-03-14T09:12:31.000Z");
    assert_sql(db, "SELECT real_time_s = 5e-6 FROM external_view", "1");
}

/* Real output of Google Benchmark, from `pbdbench bench`, compared with what jansson alone reads from the file. */
static void test_real_output(void **state) {
    (void)state;
    const char *db = fresh("real.db");
    char *out = NULL;
    if (asprintf(&out, "--benchmark_out=%s", in_workplace("real.json")) < 0) abort();
    told made = tell("bench", "-c", "hex_fit", "-m", "pbd_distance", "-p", "f64", "-t", "1", "--no-store", out,
                     "--benchmark_repetitions=3", "--benchmark_min_time=0.001", "-q");
    expect_code(made, 0);
    expect_import(in_workplace("real.json"), db, "{\"added\":3,\"known\":0,\"aggregates\":4,\"skipped\":0}");
    json_t *file = json_load_file(in_workplace("real.json"), 0, NULL);
    const json_t *first = json_array_get(json_object_get(file, "benchmarks"), 0);
    const char *unit = json_string_value(json_object_get(first, "time_unit"));
    const double scale = strcmp(unit, "ns") == 0 ? 1e-9 : strcmp(unit, "us") == 0 ? 1e-6 : 1e-3;
    char *text = plain_text(db, "SELECT printf('%!.17g', real_time_s) FROM external_view WHERE repeat = 0");
    const double wanted = scale * json_number_value(json_object_get(first, "real_time")), got = strtod(text, NULL);
    print_message("real_time: got %.17g s, wanted %.17g s\n", got, wanted);
    assert_true(fabs(got - wanted) <= 1e-15 * wanted);
    assert_sql(db, "SELECT group_concat(DISTINCT tool) FROM external_view", "pbdbench");
    assert_clean(db);
    json_decref(file);
    free(text);
    free(out);
    forget(&made);
}

/* show, export, merge and list treat imported runs like any others. */
static void test_other_verbs(void **state) {
    (void)state;
    const char *file = written("verbs.json", sample), *db = fresh("verbs.db"), *into = fresh("verbs-into.db"),
               *lines = fresh("verbs.jsonl");
    expect_import(file, db, "{\"added\":3");
    char *run_id = plain_text(db, "SELECT run_id FROM run WHERE repeat = 1");
    told answer = tell("show", run_id, "--db", db);
    expect_code(answer, 0);
    expect_says(answer.out, "measured by another tool; imported by\n  pbdbench db import verbs.json --tool sort_bench");
    forget(&answer);
    answer = tell("show", run_id, "--db", db, "--json");
    expect_code(answer, 0);
    expect_says(answer.out, "\"command\":\"pbdbench db import verbs.json --tool sort_bench\"");
    forget(&answer);
    answer = tell("db", "export", "--db", db, "--what", "externals", "--format", "csv", "--columns",
                  "case,order,repeat,real_time,cpu_time", "--state", "ok");
    expect_code(answer, 0);
    assert_string_equal(answer.out,
                        "case,order,repeat,real_time [s],cpu_time [s]\r\n"
                        "BM_Sort<std::vector<int>>,random,0,9.9999999999999995e-08,1.9999999999999999e-07\r\n"
                        "BM_Sort<std::vector<int>>,random,1,0.0025000000000000001,0.0025000000000000001\r\n");
    forget(&answer);
    answer = tell("list", "runs", "--db", db, "-m", "sort_bench");
    expect_code(answer, 0);
    expect_says(answer.out, "2024-05-06 07:08:07  ok      BM_Sort<std::vector<int>>  sort_bench");
    forget(&answer);
    answer = tell("db", "export", "--db", db, "-o", lines);
    expect_code(answer, 0);
    forget(&answer);
    for (int twice = 0; twice < 2; twice++) {
        answer = tell("db", "merge", twice ? db : lines, "--db", into, "--json");
        expect_code(answer, 0);
        expect_says(answer.out, twice ? "{\"added\":0,\"known\":3}" : "{\"added\":3,\"known\":0}");
        forget(&answer);
    }
    expect_import(file, into, "{\"added\":0,\"known\":3"); /* merged before, imported now */
    assert_clean(into);
    free(run_id);
}

/* A number changed in the store is detected. */
static void test_change_is_found(void **state) {
    (void)state;
    const char *db = fresh("changed.db");
    char *says;
    expect_import(written("changed.json", sample), db, "{\"added\":3");
    assert_int_equal(plain_sql(db, "DROP TRIGGER metric_update; UPDATE metric SET value = 1 WHERE name = 'swaps'"),
                     SQLITE_OK);
    assert_int_equal(problems_of(db, &says), 2); /* the trigger and the run */
    free(says);
}

/* ---- What is refused --------------------------------------------------------------------------------------------- */

#define CONTEXT "{\"context\": {\"date\": \"2024-05-06T09:08:07Z\"}, \"benchmarks\": ["
#define ONE(BODY) CONTEXT "{\"name\": \"BM_x\", \"iterations\": 1, " BODY "}]}"

static void test_bad_files(void **state) {
    (void)state;
    const char *db = fresh("refused.db");
    const struct {
        const char *text, *says;
    } bad[] = {
        {"", "cut short"},
        {"name,iterations,real_time\nBM_x,1,2\n", "this is not JSON"},
        {"{\"hello\": 1}", "not from Google Benchmark"},
        {"[1, 2]", "not from Google Benchmark"},
        {"{\"context\": [], \"benchmarks\": {}}", "not from Google Benchmark"},
        {"{\"context\": {}, \"benchmarks\": []}", "context.date is ''"},
        {"{\"context\": {\"date\": \"2024-13-06T09:08:07Z\"}, \"benchmarks\": []}", "not a date"},
        {CONTEXT "]}", "holds no measured benchmark"},
        {CONTEXT "3]}", "not an object"},
        {CONTEXT "{\"iterations\": 1}]}", "it has no name"},
        {ONE("\"real_time\": 1"), "'cpu_time' is missing"},
        {ONE("\"real_time\": \"fast\", \"cpu_time\": 1"), "'real_time' is no number"},
        {ONE("\"real_time\": 1, \"cpu_time\": 1, \"time_unit\": \"h\""), "time_unit 'h' is not one of ns, us, ms, s"},
        {ONE("\"real_time\": 1, \"cpu_time\": 1, \"threads\": 0"), "'threads' must be a whole number in [1,"},
        {ONE("\"real_time\": 1, \"cpu_time\": 1, \"repetition_index\": -1"), "'repetition_index' must be"},
        {ONE("\"real_time\": 1, \"cpu_time\": 1, \"repetition_index\": 1.5"), "'repetition_index' must be"},
        {ONE("\"real_time\": 1, \"cpu_time\": 1, \"threads\": 1e300"), "'threads' must be"},
        {ONE("\"real_time\": 1, \"cpu_time\": 1, \"x\": \"\xff\""), "this is not JSON"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        told answer = tell("db", "import", written("bad.json", bad[i].text), "--db", db);
        expect_code(answer, 2);
        expect_says(answer.err, bad[i].says);
        assert_true(access(db, F_OK) != 0); /* nothing is stored, not even a store is created */
        forget(&answer);
    }
}

static void test_cut_short(void **state) {
    (void)state;
    const char *db = fresh("cut.db");
    make_store(db, 1);
    for (size_t length = 0; length < sizeof sample - 4; length += 97) { /* the last 3 bytes: "}\n" are not needed */
        const char *path = fresh("cut.json");
        write_bytes(path, sample, length);
        pbd_import *import;
        const pbd_status status = pbd_import_load(path, NULL, &import);
        assert_int_equal(status.code, PBD_BAD_INPUT);
        expect_says(status.text, "cut short");
        assert_null(import);
    }
    told answer = tell("db", "import", in_workplace("cut.json"), "--db", db);
    expect_code(answer, 2);
    forget(&answer);
    assert_sql(db, "SELECT count(*) FROM run", "1");
}

/* One bad file among good ones: none of them is stored. */
static void test_all_or_nothing(void **state) {
    (void)state;
    const char *db = fresh("all.db"), *good = written("good.json", sample), *bad = written("worse.json", "{}");
    told answer = tell("db", "import", good, bad, "--db", db);
    expect_code(answer, 2);
    expect_says(answer.err, "worse.json");
    assert_true(access(db, F_OK) != 0);
    forget(&answer);
    const char *const words[][8] = {{"db", "import"},
                                    {"db", "import", "no-such-file.json"},
                                    {"db", "import", "/"},
                                    {"db", "import", "/dev/null"},
                                    {"db", "import", good, "--format=csv"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        answer = tell_to(STDOUT_KEPT, words[i]);
        expect_code(answer, 2);
        forget(&answer);
    }
}

/* ---- Mutated files ----------------------------------------------------------------------------------------------- */

enum { MUTANTS = 600 };

/* xorshift64*, so that the mutants are the same on every machine. */
static size_t roll(uint64_t *dice, size_t sides) {
    *dice ^= *dice >> 12;
    *dice ^= *dice << 25;
    *dice ^= *dice >> 27;
    return (size_t)((*dice * 2685821657736338717u >> 33) % sides);
}

/* Sets bytes, deletes or duplicates spans, or inserts words of JSON. Returns the new length. */
static size_t mutate(uint64_t *dice, char *text, size_t bytes, size_t capacity) {
    static const char *const words[] = {"null", "-1",  "1e999",   "{}", "[",
                                        "\"",   "NaN", "\\u0000", "-",  "18446744073709551616"};
    const size_t at = roll(dice, bytes), span = 1 + roll(dice, 40), left = bytes - at;
    const size_t cut = span < left ? span : left;
    switch (roll(dice, 4)) {
        case 0:
            text[at] = (char)roll(dice, 256);
            return bytes;
        case 1:
            memmove(text + at, text + at + cut, left - cut);
            return bytes - cut;
        case 2:
            if (bytes + cut > capacity) return bytes;
            memmove(text + at + cut, text + at, left);
            return bytes + cut;
        default: {
            const char *put = words[roll(dice, sizeof words / sizeof *words)];
            const size_t length = strlen(put) < left ? strlen(put) : left;
            memcpy(text + at, put, length);
            return bytes;
        }
    }
}

/* Every mutant gives an error message or consistent runs. */
static void test_mutated(void **state) {
    (void)state;
    static char text[2 * sizeof sample];
    const char *db = fresh("mutated.db"), *path = fresh("mutated.json");
    uint64_t dice = 20240506;
    size_t taken = 0;
    pbd_store *store;
    assert_fine(pbd_store_open(db, PBD_STORE_WRITE, &store));
    for (int i = 0; i < MUTANTS; i++) {
        size_t bytes = sizeof sample - 1;
        memcpy(text, sample, bytes);
        for (size_t times = 1 + roll(&dice, 3); times > 0 && bytes > 1; times--)
            bytes = mutate(&dice, text, bytes, sizeof text);
        write_bytes(path, text, bytes);
        pbd_import *import;
        pbd_imported tally;
        const pbd_status status = pbd_import_load(path, NULL, &import);
        if (status.code == PBD_OK) {
            assert_fine(pbd_import_put(store, import, &tally));
            taken++;
        } else {
            assert_int_equal(status.code, PBD_BAD_INPUT);
            assert_true(strlen(status.text) > 20);
        }
        pbd_import_free(import);
    }
    pbd_store_close(store);
    print_message("%zu of %d mutants were taken\n", taken, MUTANTS);
    assert_true(taken > 0 && taken < MUTANTS);
    assert_clean(db);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_part),   cmocka_unit_test(test_nothing_twice),
        cmocka_unit_test(test_tool_by_name), cmocka_unit_test(test_old_version),
        cmocka_unit_test(test_real_output),  cmocka_unit_test(test_other_verbs),
        cmocka_unit_test(test_bad_files),    cmocka_unit_test(test_change_is_found),
        cmocka_unit_test(test_cut_short),    cmocka_unit_test(test_all_or_nothing),
        cmocka_unit_test(test_mutated),
    };
    return cmocka_run_group_tests_name("import", tests, NULL, remove_workplace);
}
