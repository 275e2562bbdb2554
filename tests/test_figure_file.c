/* Figure and sweep files: errors are reported with file, line, column and what was expected, and nothing crashes. Also
 * what figure files use: CSV files, the functions for SQL, and that their SQL can only read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/figure/figure_file.h"
#include "harness/files/csv_file.h"
#include "harness/query/run_table.h"
#include "harness/query/sql_functions.h"

static char scratch[] = "/tmp/pbdbench-figure-XXXXXX"; /* the file under test */

static int make_scratch(void **state) {
    (void)state;
    int file = mkstemp(scratch);
    return file < 0 ? -1 : close(file);
}

static int remove_scratch(void **state) {
    (void)state;
    return unlink(scratch);
}

static void write_scratch(const char *text, size_t bytes) {
    FILE *file = fopen(scratch, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* Loads and plans, as `sweep` does before its first run. */
static pbd_status check_sweep(size_t *runs) {
    pbd_figure_file *file = NULL;
    pbd_plan plan = {0};
    pbd_status status = pbd_sweep_load(scratch, &file);
    if (status.code == PBD_OK) status = pbd_figure_plan(file, false, 0, &plan);
    *runs = plan.count;
    pbd_plan_free(&plan);
    pbd_figure_file_free(file);
    return status;
}

/* ---- Files that are wrong ---------------------------------------------------------------------------------------- */

#define FIRST "  - name: a\n    case: hex_fit\n    method: pbd_distance\n"
#define RUNS "runs:\n" FIRST

typedef struct bad_file {
    const char *text;
    const char *says[4];
} bad_file;

static const bad_file bad_files[] = {
    /* not YAML */
    {"runs:\n\t- name: x\n", {"line 2, column 1", "not YAML", "a tab", "spaces"}},
    {RUNS "    set: [nu=0.3\n    axes: []\n", {"line 6, column 9", "not YAML", "',' or ']'"}},
    {"runs: \"a\n", {"line 2", "not YAML", "quoted"}},
    {"runs: \xff\xfe\n", {"line 1, column 7", "UTF-8"}},
    {"runs: [\x01]\n", {"line 1, column 8", "control characters"}},
    /* violations of the schema */
    {"", {"line 1, column 1", "empty"}},
    {"# only a comment\n", {"empty"}},
    {"3\n", {"line 1, column 1", "expected `key: value` lines"}},
    {"- a\n", {"line 1, column 1", "expected `key: value` lines", "found a list"}},
    {"title: x\n", {"line 1, column 1", "'runs' is missing"}},
    {"runs: []\n", {"line 1, column 7", "empty", "(in runs)"}},
    {"runs: 3\n", {"line 1, column 7", "expected a list", "(in runs)"}},
    {"runs:\n  name: a\n", {"line 2, column 3", "expected a list"}},
    {"rnus:\n" FIRST, {"line 1, column 1", "unknown key 'rnus'", "'runs'"}},
    {RUNS "secnds: 3\n", {"line 5, column 1", "unknown key 'secnds'", "title, runs, notes"}},
    {RUNS "    thraeds: 3\n", {"line 5, column 5", "unknown key 'thraeds'", "'threads'", "(in runs[0])"}},
    {RUNS FIRST "    set: thraeds\n    thraeds: 3\n", {"line 8, column 10", "expected a list", "runs[1].set"}},
    {RUNS "    set: [thraeds]\n    thraeds: 3\n", {"line 6, column 5", "unknown key 'thraeds'"}},
    {RUNS "    threads: -3\n", {"line 5, column 14", "whole number from 0 up", "'-3'", "runs[0].threads"}},
    {RUNS "    threads: many\n", {"line 5, column 14", "whole number", "'many'"}},
    {RUNS "    threads: 99999999999999999999\n", {"line 5, column 14", "99999999999999999999"}},
    {RUNS "    threads: 5000000000\n", {"runs[0]", "5000000000"}},
    {RUNS "    set: nu=0.3\n", {"line 5, column 10", "expected a list", "runs[0].set"}},
    {RUNS "    set: [[a]]\n", {"line 5, column 11", "expected text", "found a list"}},
    {RUNS "    case: hex_fit\n", {"line 5, column 5", "'case' is given twice", "(in runs[0])"}},
    {RUNS RUNS, {"line 5, column 1", "'runs' is given twice"}},
    {"runs:\n  - name: a\n    case: hex_fit\n", {"line 2, column 5", "'method' is missing", "(in runs[0])"}},
    {"runs:\n  - {name: \"\", case: a, method: b}\n", {"line 2, column 12", "expected text", "runs[0].name"}},
    {"runs:\n  - &x {name: a, case: hex_fit, method: pbd_distance}\n  - *x\n",
     {"line 2, column 5", "anchors", "write"}},
    {"runs:\n  - *x\n", {"line 2, column 5", "aliases", "write"}},
    {RUNS "    <<: {seed: 2}\n", {"line 5, column 5", "unknown key '<<'"}},
    {RUNS "    set: [\"nu=0.1\\0x\"]\n", {"line 5, column 11", "NUL"}},
    {RUNS "    set: [[[[[[[[[[[[a]]]]]]]]]]]]\n", {"line 5, column 19", "nested too deep"}},
    {RUNS "    threads: 1.5\n", {"line 5, column 14", "whole number", "'1.5'", "runs[0].threads"}},
    {RUNS "    repeats: 010\n", {"line 5, column 14", "whole number", "'010'"}},
    {RUNS "    seed: -1\n", {"line 5, column 11", "whole number", "'-1'"}},
    {RUNS "    seed: 18446744073709551616\n", {"line 5, column 11", "whole number"}},
    {RUNS "    seed:\n", {"line 5, column 10", "whole number", "''"}},
    {"runs: [", {"line 2, column 1", "not YAML"}},
    {"{", {"line 2, column 1", "not YAML"}},
    {"%YAML 3.0\n---\nruns: []\n", {"line 1", "not YAML"}},
    {"runs:\n  - name: a\n   case: hex_fit\n", {"line 3, column 4", "not YAML"}},
    {"runs: a: b\n", {"line 1, column 8", "not YAML"}},
    {RUNS "    set: {nu: 0.3}\n", {"line 5, column 10", "expected a list", "runs[0].set"}},
    {"runs: ~\n", {"line 1, column 7", "expected a list"}},
    {"runs:\n  - a\n", {"line 2, column 5", "`key: value` lines", "runs[0]"}},
    {RUNS "---\n" RUNS, {"line 6, column 1", "second document"}},
    {"? [a, b]\n: 3\n", {"line 1, column 3", "expected a word as the key"}},
    {RUNS "claims: []\n", {"line 5, column 1", "unknown key 'claims'"}},
    /* errors that a schema cannot express */
    {RUNS FIRST, {"runs[0] and runs[1]", "same name 'a'"}},
    {"runs:\n  - {name: Fit-1, case: hex_fit, method: pbd_distance}\n", {"runs[0]", "Fit-1", "lower-case"}},
    {"runs:\n  - {name: paper, case: hex_fit, method: pbd_distance}\n", {"runs[0]", "'paper' is taken"}},
    {"runs:\n  - {name: order, case: hex_fit, method: pbd_distance}\n", {"runs[0]", "'order'", "SQL"}},
    {"runs:\n  - {name: sqlite_a, case: hex_fit, method: pbd_distance}\n", {"runs[0]", "'sqlite_a'", "SQL"}},
    {RUNS "    threads: 4097\n", {"runs[0] 'a'", "threads: 4097", "[1, 4096]"}},
    {RUNS "    cores: 4097\n", {"runs[0] 'a'", "cores: 4097", "[1, 4096]"}},
    {RUNS "    repeats: 100001\n", {"runs[0] 'a'", "repeats: 100001", "[1, 100000]"}},
    {RUNS "    warmups: 1001\n", {"runs[0] 'a'", "warmups: 1001", "1000"}},
    {RUNS "    axes: [\"nu=0:0.4:0.00001\", \"E=1:90000:1\"]\n", {"runs[0] 'a'", "3600090000 runs", "100000"}},
    {RUNS "    repeats: 60000\n    axes: [\"nu=0.1,0.2\"]\n", {"runs[0] 'a'", "120000 runs"}},
    {RUNS "    axes: [\"nu=0.1,0.2\", \"nu=0.3\"]\n", {"runs[0] 'a'", "axis 'nu' is given twice"}},
    {"runs:\n  - {name: a_series, case: hex_fit, method: pbd_distance}\n", {"runs[0]", "'a_series' is taken"}},
    /* errors that only cases and methods can detect */
    {"runs:\n  - {name: a, case: hex_fti, method: pbd_distance}\n", {"runs[0] 'a'", "hex_fti", "'hex_fit'"}},
    {"runs:\n  - {name: a, case: hex_fit, method: pbd_distnce}\n", {"runs[0] 'a'", "'pbd_distance'"}},
    {RUNS "    set: [nuu=0.3]\n", {"runs[0] 'a'", "nuu", "'nu'"}},
    {RUNS "    set: [nu=0.5]\n", {"runs[0] 'a'", "nu=0.5", "(-1, 0.5)"}},
    {RUNS "    set: [nu=nan]\n", {"runs[0] 'a'", "nu=nan"}},
    {RUNS "    set: [nu]\n", {"runs[0] 'a'", "key=value"}},
    {RUNS "    axes: [\"nu=0.1:0.2\"]\n", {"runs[0] 'a'", "lo:hi:step"}},
    {RUNS "    axes: [\"nu=0.2:0.1:0.01\"]\n", {"runs[0] 'a'", "lo <= hi"}},
    {RUNS "    precision: f16\n", {"runs[0] 'a'", "f16"}},
    {RUNS "    backend: cpuu\n", {"runs[0] 'a'", "'cpu'"}},
    {RUNS "  - {name: b, case: hex_fit, method: pbd_distance, set: [nu=9]}\n", {"runs[1] 'b'", "nu=9"}},
};

static void test_bad_files_are_explained(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        size_t runs;
        write_scratch(bad_files[i].text, strlen(bad_files[i].text));
        pbd_status status = check_sweep(&runs);
        printf("[          ] %s\n", status.text);
        if (status.code != PBD_BAD_INPUT)
            fail_msg("code %d, wanted %d, for\n%s", (int)status.code, PBD_BAD_INPUT, bad_files[i].text);
        assert_memory_equal(status.text, scratch, strlen(scratch));
        for (size_t k = 0; k < 4 && bad_files[i].says[k]; k++)
            if (!strstr(status.text, bad_files[i].says[k]))
                fail_msg("does not say '%s' of\n%s", bad_files[i].says[k], bad_files[i].text);
    }
}

/* ---- Files that grow: each of these once took minutes or all the memory ------------------------------------------ */

enum { PATIENCE_S = 30 }; /* with a sanitizer; without one each test ends at once. SIGALRM ends a hang. */

/* Writes `before`, `count` copies of `piece` with %d replaced by the index of the copy, and `after`. */
static void write_repeated(const char *before, const char *piece, int count, const char *after) {
    FILE *file = fopen(scratch, "w");
    assert_non_null(file);
    fputs(before, file);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    for (int i = 0; i < count; i++) fprintf(file, piece, i, i);
#pragma GCC diagnostic pop
    fputs(after, file);
    assert_int_equal(fclose(file), 0);
}

static void test_large_files_are_refused_soon(void **state) {
    (void)state;
    static const struct {
        const char *before, *piece, *after;
        int count;
        const char *says[2];
    } large[] = {
        {"", "[", "", 1000000, {"line 1, column 13", "nested too deep"}},
        {"", "{", "", 1000000, {"line 1, column 13", "nested too deep"}},
        {"", "- ", "", 1000000, {"line 1, column 25", "nested too deep"}},
        {"", "? ", "", 1000000, {"line 1, column 25", "nested too deep"}},
        {"[", "&a%d x,", "]", 250000, {"line 1, column 2", "anchors"}},
        {"a: &a0 [x]\n", "b%d: [*a0,*a0,*a0]\n", "", 1000, {"line 1, column 4", "anchors"}},
        {"runs:\n",
         "- {name: a%d, case: hex_fit, method: pbd_distance}\n",
         "",
         60000,
         {"line 2, column 1", "60000 entries"}},
        {RUNS "    set: [", "nu=0.%d,", "]\n", 200000, {"line 5, column 10", "200000 entries"}},
        {"", "k%d: 1\n", "", 200000, {"line 1, column 1", "unknown key 'k0'"}},
        {RUNS, "    threads: 1\n", "", 100000, {"line 6, column 5", "'threads' is given twice"}},
        {"runs: ", "x", "\n", 4000000, {"line 1, column 7", "expected a list"}},
        {"", "x", ": 1\n", 100000, {"line 1", "not YAML"}},
        {"", "# a comment\n", "", 500000, {"larger than 4 MiB", ""}},
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        size_t runs;
        write_repeated(large[i].before, large[i].piece, large[i].count, large[i].after);
        alarm(PATIENCE_S);
        pbd_status status = check_sweep(&runs);
        alarm(0);
        printf("[          ] %s\n", status.text);
        assert_int_equal(status.code, PBD_BAD_INPUT);
        for (size_t k = 0; k < 2; k++)
            if (!strstr(status.text, large[i].says[k])) fail_msg("does not say '%s'", large[i].says[k]);
    }
}

static void test_files_that_are_no_files(void **state) {
    (void)state;
    static const char *const paths[] = {"/nonexistent/sweep.yaml", "/", "/dev/zero", "/dev/null"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        pbd_figure_file *file = NULL;
        pbd_status status = pbd_sweep_load(paths[i], &file);
        assert_int_equal(status.code, PBD_BAD_INPUT);
        assert_non_null(strstr(status.text, paths[i]));
        assert_null(file);
    }
}

/* ---- A file that is right, and what becomes of it when it is not left alone -------------------------------------- */

static const char good[] =
    "title: stiffness of one cube\n"
    "runs:\n"
    "  - name: coarse\n"
    "    case: hex_fit\n"
    "    method: pbd_distance\n"
    "    precision: f64\n"
    "    backend: cpu\n"
    "    threads: 2\n"
    "    repeats: 3\n"
    "    warmups: 1\n"
    "    seed: 7\n"
    "    set: [\"face_split=A\", 'E=100']\n"
    "    axes:\n"
    "      - nu=0,0.25,0.4\n"
    "      - constraints=all,no_volume\n"
    "    quick: [\"nu=0.25\"]\n"
    "  - {name: plain, case: hex_fit, method: pbd_distance}\n"
    "notes: >\n"
    "  Two groups, 3 x 2 cells three times, and one.\n";

static void test_good_file_is_read(void **state) {
    (void)state;
    write_scratch(good, strlen(good));
    pbd_figure_file *file = NULL;
    pbd_plan plan = {0};
    pbd_status status = pbd_sweep_load(scratch, &file);
    if (status.code != PBD_OK) fail_msg("%s", status.text);
    assert_int_equal(file->runs_count, 2);
    const pbd_group *g = &file->runs[0];
    assert_string_equal(g->name, "coarse");
    assert_int_equal(g->threads, 2);
    assert_int_equal(g->warmups, 1);
    assert_int_equal(g->set_count, 2);
    assert_string_equal(g->axes[1], "constraints=all,no_volume");
    status = pbd_figure_plan(file, false, 5, &plan);
    if (status.code != PBD_OK) fail_msg("%s", status.text);
    assert_int_equal(plan.count, 3 * 2 * 3 + 1);
    assert_int_equal(plan.item[0].group, 5);
    assert_int_equal(plan.item[18].group, 6);
    assert_int_equal(plan.item[0].cell.threads, 2);
    assert_true(plan.item[0].seed == 7 && plan.item[18].seed == 1);
    assert_string_equal(pbd_text(&plan.item[0].cell.method_values, "face_split"), "A");
    pbd_plan_free(&plan);
    /* --quick: nu = 0.25 instead of the axis, everything else unchanged */
    status = pbd_figure_plan(file, true, 0, &plan);
    assert_int_equal(status.code, PBD_OK);
    assert_int_equal(plan.count, 2 * 3 + 1);
    for (size_t i = 0; i < 6; i++) assert_true(pbd_real(&plan.item[i].cell.case_values, "nu") == 0.25);
    pbd_plan_free(&plan);
    pbd_figure_file_free(file);
}

/* xorshift64*, so that the mutants are the same on every machine. */
static uint64_t dice = 20161104;
static size_t roll(size_t sides) {
    dice ^= dice >> 12;
    dice ^= dice << 25;
    dice ^= dice >> 27;
    return (size_t)((dice * 2685821657736338717u >> 33) % sides);
}

/* Bytes with a meaning in YAML are more likely than others. */
static char any_byte(void) {
    static const char telling[] = ":-[]{}?&*!|>'\"%@`#,\n\n\t  =~0a\\";
    return roll(4) ? telling[roll(sizeof telling - 1)] : (char)roll(256);
}

static size_t mutate(char *text, size_t length, size_t room) {
    size_t at = roll(length), span = 1 + roll(12);
    if (span > length - at) span = length - at;
    switch (roll(4)) {
        case 0:
            text[at] = any_byte();
            return length;
        case 1: /* delete */
            memmove(text + at, text + at + span, length - at - span);
            return length - span;
        case 2: /* duplicate */
            if (length + span > room) return length;
            memmove(text + at + span, text + at, length - at);
            return length + span;
        default:
            if (length + 1 > room) return length;
            memmove(text + at + 1, text + at, length - at);
            text[at] = any_byte();
            return length + 1;
    }
}

/* A mutated file is either accepted or refused with a message that begins with its name. Most useful under
 * AddressSanitizer. */
static void test_mutants_do_no_harm(void **state) {
    (void)state;
    enum { MUTANTS = 4000, ROOM = sizeof good + 200 };
    size_t accepted = 0;
    for (int i = 0; i < MUTANTS; i++) {
        char text[ROOM];
        size_t length = sizeof good - 1, runs;
        memcpy(text, good, length);
        for (size_t k = 1 + roll(4); k > 0; k--) length = mutate(text, length, ROOM);
        write_scratch(text, length);
        pbd_status status = check_sweep(&runs);
        accepted += status.code == PBD_OK;
        if (status.code == PBD_OK) continue;
        if (status.code != PBD_BAD_INPUT && status.code != PBD_NOT_SUPPORTED)
            fail_msg("code %d: %s", (int)status.code, status.text);
        assert_memory_equal(status.text, scratch, strlen(scratch));
    }
    printf("[          ] %zu of %d mutants are still good files\n", accepted, MUTANTS);
    assert_true(accepted > 0 && accepted < MUTANTS);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void test_csv_is_read(void **state) {
    (void)state;
    static const char text[] = "# from Table 1\nnu, k_edge ,says\n0.1,0.05,\"a, b \"\"c\"\"\"\n# between\n0.2,,plain\n";
    write_scratch(text, strlen(text));
    pbd_csv csv;
    pbd_status status = pbd_csv_read(scratch, "paper.csv", &csv);
    if (status.code != PBD_OK) fail_msg("%s", status.text);
    assert_int_equal(csv.columns, 3);
    assert_int_equal(csv.rows, 2);
    assert_int_equal(pbd_csv_column(&csv, "k_edge"), 1);
    assert_int_equal(pbd_csv_column(&csv, "k_face"), 3);
    assert_string_equal(csv.field[2], "a, b \"c\"");
    assert_string_equal(csv.field[4], "");
    pbd_csv_free(&csv);
}

static void test_bad_csv_is_explained(void **state) {
    (void)state;
    static const bad_file bad[] = {
        {"", {"no header"}},
        {"# only this\n", {"no header"}},
        {"a,b\n1\n", {"line 2", "1 fields", "header has 2"}},
        {"a,b\n1,2\n1,2,3\n", {"line 3", "3 fields"}},
        {"a,,b\n", {"line 1", "column 2 has no name"}},
        {"a,b,A\n", {"line 1", "two columns", "'A'"}},
        {"a,b\n1,\"2\n", {"line 2", "quote is not closed"}},
        {"a,b\n1,\"2", {"line 2", "quote is not closed"}},
        {"a,b\n1,\"2\n# more\n\"\n", {"line 2", "quote is not closed"}}, /* # in a quote: no comment */
        {"a,b\n1,\"2\"3\n", {"line 2", "quote"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pbd_csv csv;
        write_scratch(bad[i].text, strlen(bad[i].text));
        pbd_status status = pbd_csv_read(scratch, "paper.csv", &csv);
        printf("[          ] %s\n", status.text);
        assert_int_equal(status.code, PBD_BAD_INPUT);
        assert_memory_equal(status.text, "paper.csv: ", 11);
        for (size_t k = 0; k < 4 && bad[i].says[k]; k++)
            if (!strstr(status.text, bad[i].says[k])) fail_msg("does not say '%s'", bad[i].says[k]);
    }
}

static void expect_csv_refused(const char *path, const char *says) {
    pbd_csv csv;
    alarm(PATIENCE_S);
    pbd_status status = pbd_csv_read(path, "paper.csv", &csv);
    alarm(0);
    printf("[          ] %s\n", status.text);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    if (!strstr(status.text, says)) fail_msg("does not say '%s'", says);
    assert_null(csv.header);
}

static void test_csv_that_is_no_table(void **state) {
    (void)state;
    write_scratch("a,b\n1,2\0 3\n", 11);
    expect_csv_refused(scratch, "line 2: a NUL");
    write_repeated("a", ",a%d", 100000, "\n");
    expect_csv_refused(scratch, "100001 columns");
    write_repeated("a\n", "0.12345678901234567890123456789\n", 600000, "");
    expect_csv_refused(scratch, "larger than 16 MiB");
    expect_csv_refused("/dev/zero", "not a regular file");
    expect_csv_refused("/", "cannot be read");
    expect_csv_refused("/nonexistent/paper.csv", "cannot be read");
}

/* As spreadsheets write it: a byte order mark, and lines that end with CR LF, except the last, which has no end. */
static void test_csv_of_spreadsheets(void **state) {
    (void)state;
    static const char text[] = "\xEF\xBB\xBFnu,k\r\n0.1,\"a\"\r\n\r\n0.2,b";
    write_scratch(text, strlen(text));
    pbd_csv csv;
    pbd_status status = pbd_csv_read(scratch, "paper.csv", &csv);
    if (status.code != PBD_OK) fail_msg("%s", status.text);
    assert_int_equal(pbd_csv_column(&csv, "nu"), 0);
    assert_int_equal(csv.rows, 2);
    assert_string_equal(csv.field[3], "b");
    pbd_csv_free(&csv);
}

static void test_csv_mutants_do_no_harm(void **state) {
    (void)state;
    static const char table[] = "# Table 1\nnu,k_edge,says\n0.1,0.05,\"a, b \"\"c\"\"\"\n0.2,,plain\n0.3,1e-3,\n";
    enum { MUTANTS = 4000, ROOM = sizeof table + 200 };
    size_t accepted = 0;
    for (int i = 0; i < MUTANTS; i++) {
        char text[ROOM];
        size_t length = sizeof table - 1;
        memcpy(text, table, length);
        for (size_t k = 1 + roll(4); k > 0; k--) length = mutate(text, length, ROOM);
        write_scratch(text, length);
        pbd_csv csv;
        pbd_status status = pbd_csv_read(scratch, "paper.csv", &csv);
        accepted += status.code == PBD_OK;
        if (status.code != PBD_OK) assert_memory_equal(status.text, "paper.csv: ", 11);
        for (size_t f = 0; f < csv.rows * csv.columns; f++) assert_non_null(csv.field[f]);
        pbd_csv_free(&csv);
    }
    printf("[          ] %zu of %d mutants are still good tables\n", accepted, MUTANTS);
    assert_true(accepted > 0 && accepted < MUTANTS);
}

/* ---- SQL --------------------------------------------------------------------------------------------------------- */

static sqlite3 *open_sql(void) {
    sqlite3 *sql = NULL;
    assert_int_equal(sqlite3_open(":memory:", &sql), SQLITE_OK);
    assert_int_equal(pbd_sql_functions(sql).code, PBD_OK);
    assert_int_equal(
        sqlite3_exec(sql,
                     "CREATE TABLE t (x REAL, y REAL); WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 "
                     "FROM n WHERE i < 49) INSERT INTO t SELECT 0.01 * i, -50.6 * pow(0.01 * i, 3) + 63.1 * "
                     "pow(0.01 * i, 2) - 21.4 * 0.01 * i + 2.16 FROM n; INSERT INTO t VALUES (NULL, 1), (1, NULL)",
                     NULL, NULL, NULL),
        SQLITE_OK);
    return sql;
}

static double ask(sqlite3 *sql, const char *text) {
    sqlite3_stmt *statement;
    bool row;
    pbd_status status = pbd_query_begin(sql, text, "test", &statement);
    if (status.code != PBD_OK) fail_msg("%s", status.text);
    status = pbd_query_next(sql, statement, "test", &row);
    if (status.code != PBD_OK || !row) fail_msg("%s: %s", text, status.text);
    double x = sqlite3_column_type(statement, 0) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, 0);
    pbd_query_end(sql, statement);
    return x;
}

static void assert_near(double got, double wanted, double tolerance) {
    if (!(fabs(got - wanted) <= tolerance)) fail_msg("got %.17g, wanted %.17g within %g", got, wanted, tolerance);
}

/* The fit of a cubic to points of a cubic returns that cubic; rows with a NULL are ignored. */
static void test_polynomials_come_back(void **state) {
    (void)state;
    sqlite3 *sql = open_sql();
    static const double cubic[] = {-50.6, 63.1, -21.4, 2.16};
    for (int k = 0; k < 4; k++) {
        char text[100];
        snprintf(text, sizeof text, "SELECT polyfit(x, y, 3) ->> %d FROM t", k);
        assert_near(ask(sql, text), cubic[k], 1e-9 * 63); /* condition number of the basis on [0, 0.49] times 1e-16 */
    }
    assert_near(ask(sql, "SELECT max(abs(polyval((SELECT polyfit(x, y, 3) FROM t), x) - y)) FROM t"), 0, 1e-12);
    assert_near(ask(sql, "SELECT polyfit(x, 2 * x + 1, 1) ->> 0 FROM t WHERE y IS NOT NULL"), 2, 1e-12);
    assert_near(ask(sql, "SELECT polyfit(column1, column2, 0) ->> 0 FROM (VALUES (1, 2), (5, 4))"), 3,
                1e-14); /* the mean */
    assert_true(isnan(ask(sql, "SELECT polyfit(x, y, 1) FROM t WHERE x > 5")));
    /* 3 X^3 - X with x scaled by 1e-6 and by 1e9: the unit of x changes no significant digit */
    static const char *const units[] = {"1e-6", "1e9"};
    for (int k = 0; k < 2; k++) {
        char text[200];
        snprintf(text, sizeof text, "SELECT polyfit(x * %s, 3 * x * x * x - x, 3) ->> 0 FROM t WHERE y IS NOT NULL",
                 units[k]);
        assert_near(ask(sql, text) * pow(atof(units[k]), 3), 3, 1e-9);
        snprintf(text, sizeof text, "SELECT polyfit(x * %s, 3 * x * x * x - x, 3) ->> 2 FROM t WHERE y IS NOT NULL",
                 units[k]);
        assert_near(ask(sql, text) * atof(units[k]), -1, 1e-9);
    }
    /* by hand: the least-squares line through (0, 1), (1, 3), (2, 2) has slope 1/2 and intercept 3/2 */
    assert_near(ask(sql, "SELECT polyfit(column1, column2, 1) ->> 0 FROM (VALUES (0, 1), (1, 3), (2, 2))"), 0.5, 1e-14);
    assert_near(ask(sql, "SELECT polyfit(column1, column2, 1) ->> 1 FROM (VALUES (0, 1), (1, 3), (2, 2))"), 1.5, 1e-14);
    sqlite3_close(sql);
}

static void test_median(void **state) {
    (void)state;
    sqlite3 *sql = open_sql();
    assert_near(ask(sql, "SELECT median(column1) FROM (VALUES (5), (1), (100))"), 5, 0);
    assert_near(ask(sql, "SELECT median(column1) FROM (VALUES (5), (1), (NULL), (100), (7))"), 6, 0);
    assert_true(isnan(ask(sql, "SELECT median(x) FROM t WHERE x > 5")));
    sqlite3_close(sql);
}

/* Expected texts by hand. */
static void test_digits_have_no_exponent(void **state) {
    (void)state;
    static const char *const said[][2] = {{"digits(333.3, 2)", "330"},
                                          {"digits(99.7, 2)", "100"},
                                          {"digits(0.0345, 1)", "0.03"},
                                          {"digits(-2080.4, 3)", "-2080"},
                                          {"digits(7, 2)", "7"}};
    sqlite3 *sql = open_sql();
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        char text[100];
        snprintf(text, sizeof text, "SELECT %s = '%s'", said[i][0], said[i][1]);
        if (ask(sql, text) != 1) fail_msg("%s is not %s", said[i][0], said[i][1]);
    }
    assert_true(isnan(ask(sql, "SELECT digits(NULL, 2)")));
    sqlite3_close(sql);
}

static void test_bad_fits_are_errors(void **state) {
    (void)state;
    static const char *const bad[][2] = {{"SELECT polyfit(x, y, 3) FROM t WHERE x < 0.025", "too few"},
                                         {"SELECT polyfit(1, y, 1) FROM t", "too few"},
                                         {"SELECT polyfit(x, y, -1) FROM t", "degree"},
                                         {"SELECT polyfit(x, y, 99) FROM t", "degree"},
                                         {"SELECT polyfit(x, y, NULL) FROM t", "degree"},
                                         {"SELECT polyfit(x, y, 1.5) FROM t", "degree"},
                                         {"SELECT polyfit(1e-3, y, 1) FROM t", "too few"},
                                         {"SELECT polyfit(1e6, y, 2) FROM t", "too few"},
                                         {"SELECT polyfit(x, 'much', 1) FROM t", "text"},
                                         {"SELECT median(column1) FROM (VALUES (1), ('many'))", "text"},
                                         {"SELECT polyfit(x, 9e999, 1) FROM t", "infinite"},
                                         {"SELECT polyval('[1,', 2)", "polyval"},
                                         {"SELECT polyval('[\"a\"]', 2)", "polyval"}};
    sqlite3 *sql = open_sql();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sqlite3_stmt *statement;
        bool row;
        pbd_status status = pbd_query_begin(sql, bad[i][0], "here", &statement);
        if (status.code == PBD_OK) status = pbd_query_next(sql, statement, "here", &row);
        pbd_query_end(sql, statement);
        assert_int_equal(status.code, PBD_BAD_INPUT);
        if (!strstr(status.text, bad[i][1])) fail_msg("%s: %s", bad[i][0], status.text);
    }
    sqlite3_close(sql);
}

/* The SQL of a figure can only read. Any other statement is refused before it runs; the connection remains usable. */
static void test_queries_only_read(void **state) {
    (void)state;
    static const char *const bad[] = {"DELETE FROM t",
                                      "INSERT INTO t VALUES (1, 2)",
                                      "UPDATE t SET x = 0",
                                      "DROP TABLE t",
                                      "CREATE TABLE u (x)",
                                      "CREATE TEMP TABLE u (x)",
                                      "ATTACH ':memory:' AS other",
                                      "PRAGMA journal_mode = DELETE",
                                      "PRAGMA writable_schema = 1",
                                      "BEGIN",
                                      "VACUUM",
                                      "REINDEX",
                                      "SELECT 1; DELETE FROM t",
                                      "WITH a AS (SELECT 1) DELETE FROM t",
                                      "",
                                      "-- nothing",
                                      "SELEC 1",
                                      "SELECT nothing FROM t",
                                      "SELECT load_extension('x')"};
    sqlite3 *sql = open_sql();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sqlite3_stmt *statement;
        bool row;
        pbd_status status = pbd_query_begin(sql, bad[i], "here", &statement);
        if (status.code == PBD_OK) status = pbd_query_next(sql, statement, "here", &row);
        pbd_query_end(sql, statement);
        if (status.code != PBD_BAD_INPUT) fail_msg("'%s' was let through", bad[i]);
        assert_memory_equal(status.text, "here: ", 6);
    }
    assert_near(ask(sql, "SELECT count(*) FROM t"), 52, 0);
    assert_int_equal(sqlite3_exec(sql, "DELETE FROM t", NULL, NULL, NULL),
                     SQLITE_OK); /* the program itself may still write */
    sqlite3_close(sql);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_files_are_explained), cmocka_unit_test(test_large_files_are_refused_soon),
        cmocka_unit_test(test_files_that_are_no_files), cmocka_unit_test(test_good_file_is_read),
        cmocka_unit_test(test_mutants_do_no_harm),      cmocka_unit_test(test_csv_is_read),
        cmocka_unit_test(test_bad_csv_is_explained),    cmocka_unit_test(test_csv_that_is_no_table),
        cmocka_unit_test(test_csv_of_spreadsheets),     cmocka_unit_test(test_csv_mutants_do_no_harm),
        cmocka_unit_test(test_polynomials_come_back),   cmocka_unit_test(test_median),
        cmocka_unit_test(test_digits_have_no_exponent), cmocka_unit_test(test_bad_fits_are_errors),
        cmocka_unit_test(test_queries_only_read),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
