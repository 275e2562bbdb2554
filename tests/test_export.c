/* Tables of stored runs, and the list of the newest runs: each format by its own rules, against expected bytes that
 * were written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "harness/files/text_table.h"
#include "harness/query/export.h"
#include "tests/program.h"
#include "tests/store_sample.h"

/* ---- Formats ----------------------------------------------------------------------------------------------------- */

/* Two columns with the difficult values and characters of each format. */
static pbd_text_table sample_table(void) {
    pbd_text_table t = {0};
    assert_fine(pbd_text_table_column(&t, "a_name", ""));
    assert_fine(pbd_text_table_column(&t, "stress", "N/m^2"));
    assert_fine(pbd_text_table_text(&t, "plain"));
    assert_fine(pbd_text_table_real(&t, 0.1));
    assert_fine(pbd_text_table_text(&t, "50 % of \"a|b\", c_d\n& {e}\\ #$~^<>"));
    assert_fine(pbd_text_table_real(&t, -1.25e-7));
    assert_fine(pbd_text_table_text(&t, "[first] \u2265 *"));
    assert_fine(pbd_text_table_real(&t, (double)INFINITY));
    assert_fine(pbd_text_table_none(&t));
    assert_fine(pbd_text_table_real(&t, (double)NAN));
    assert_fine(pbd_text_table_text(&t, ""));
    assert_fine(pbd_text_table_integer(&t, -42));
    return t;
}

static char *written(pbd_table_format format, int digits) {
    pbd_text_table t = sample_table();
    char *text = NULL;
    size_t bytes;
    FILE *out = need(open_memstream(&text, &bytes));
    assert_fine(pbd_text_table_write(&t, format, digits, out));
    fclose(out);
    pbd_text_table_free(&t);
    return text;
}

static void expect_text(char *got, const char *wanted) {
    if (strcmp(got, wanted) != 0) fail_msg("--- got\n%s--- wanted\n%s", got, wanted);
    free(got);
}

/* RFC 4180: fields with a comma, quote or line break are quoted, quotes are doubled, lines end with CR LF. The double
 * nearest to 0.1 is 0.10000000000000001 with 17 digits. */
static void test_csv(void **state) {
    (void)state;
    expect_text(written(PBD_CSV, 0),
                "a_name,stress [N/m^2]\r\n"
                "plain,0.10000000000000001\r\n"
                "\"50 % of \"\"a|b\"\", c_d\n& {e}\\ #$~^<>\",-1.2499999999999999e-07\r\n"
                "[first] \u2265 *,inf\r\n"
                ",\r\n"
                "\"\",-42\r\n");
    char *few = written(PBD_CSV, 3);
    expect_says(few, "-1.25e-07\r\n");
    free(few);
}

static void test_json(void **state) {
    (void)state;
    char *text = written(PBD_JSON, 0);
    json_error_t error;
    json_t *table = json_loads(text, 0, &error);
    if (!table) fail_msg("%s:\n%s", error.text, text);
    const json_t *rows = json_object_get(table, "rows"), *columns = json_object_get(table, "columns");
    assert_int_equal(json_array_size(rows), 5);
    assert_string_equal(json_string_value(json_object_get(json_array_get(columns, 1), "unit")), "N/m^2");
    const json_t *second = json_array_get(rows, 1);
    assert_string_equal(json_string_value(json_object_get(second, "a_name")), "50 % of \"a|b\", c_d\n& {e}\\ #$~^<>");
    assert_true(json_real_value(json_object_get(second, "stress")) == -1.25e-7);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 2), "stress")), "inf");
    assert_true(json_is_null(json_object_get(json_array_get(rows, 3), "stress")));
    assert_true(json_is_null(json_object_get(json_array_get(rows, 3), "a_name")));
    assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 4), "stress")), -42);
    json_decref(table);
    free(text);
}

static void test_markdown(void **state) {
    (void)state;
    expect_text(written(PBD_MARKDOWN, 0),
                "| a_name                              | stress [N/m^2] |\n"
                "| ----------------------------------- | -------------: |\n"
                "| plain                               |            0.1 |\n"
                "| 50 % of \"a\\|b\", c_d & {e}\\\\ #$~^\\<> |      -1.25e-07 |\n"
                "| [first] \u2265 \\*                        |            inf |\n"
                "|                                     |                |\n"
                "|                                     |            -42 |\n");
}

static const char latex_table[] =
    "% needs \\usepackage{booktabs}\n\\begin{table}\n  \\centering\n  \\caption{CAPTION}\n  \\label{tab:LABEL}\n"
    "  \\begin{tabular}{lr}\n    \\toprule\n"
    "    a\\_name & stress {[}N/m$^{2}${]} \\\\\n    \\midrule\n"
    "    plain & $0.1$ \\\\\n"
    "    50 \\% of ''a\\textbar{}b'', c\\_d \\& \\{e\\}\\textbackslash{} "
    "\\#\\$\\textasciitilde{}\\textasciicircum{}\\textless{}\\textgreater{} & $-1.25\\times 10^{-7}$ \\\\\n"
    "    {[}first{]} $\\geq$ {*} & $\\infty$ \\\\\n"
    "    -- & -- \\\\\n"
    "     & $-42$ \\\\\n"
    "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n";

static void test_latex(void **state) {
    (void)state;
    expect_text(written(PBD_LATEX, 0), latex_table);
}

/* The same bytes through LaTeX, if it is installed: no error, and no warning but that of the empty label. */
static void test_latex_compiles(void **state) {
    (void)state;
    if (system("command -v pdflatex >/dev/null 2>&1 && kpsewhich booktabs.sty >/dev/null 2>&1") != 0) {
        print_message("no pdflatex with booktabs here\n");
        skip();
    }
    char command[2 * PATH_MAX + 200];
    FILE *file = fopen(in_workplace("table.tex"), "w");
    assert_non_null(file);
    fprintf(file, "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n%s\\end{document}\n",
            latex_table);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command, "cd %s && pdflatex -halt-on-error -interaction=nonstopmode table.tex >table.out",
             workplace());
    assert_int_equal(system(command), 0);
}

/* Doubles survive the round trip through CSV bitwise. */
static void test_csv_keeps_doubles(void **state) {
    (void)state;
    pbd_text_table t = {0};
    assert_fine(pbd_text_table_column(&t, "x", "1"));
    for (int i = 0; i < SAMPLE_VALUES; i++) assert_fine(pbd_text_table_real(&t, sample_values[i]));
    char *text = NULL;
    size_t bytes;
    FILE *out = need(open_memstream(&text, &bytes));
    assert_fine(pbd_text_table_write(&t, PBD_CSV, 0, out));
    fclose(out);
    char *rest = text;
    assert_string_equal(strsep(&rest, "\n"), "x\r");
    for (int i = 0; i < SAMPLE_VALUES; i++) {
        const char *line = strsep(&rest, "\n");
        if (isnan(sample_values[i]))
            assert_string_equal(line, "\r");
        else
            assert_true(strtod(line, NULL) == sample_values[i]);
    }
    free(text);
    pbd_text_table_free(&t);
}

/* ---- Runs of a store --------------------------------------------------------------------------------------------- */

static char *exported(const char *db, pbd_export request) {
    pbd_store *store;
    char *text = NULL;
    size_t bytes = 0, rows;
    FILE *out = need(open_memstream(&text, &bytes));
    assert_fine(pbd_store_open(db, PBD_STORE_READ, &store));
    assert_fine(pbd_export_write(store, &request, out, &rows));
    pbd_store_close(store);
    fclose(out);
    return text;
}

/* Sample runs differ in `cells`; their errors are the metrics with direction lower, in the order of recording. */
static void test_usual_columns(void **state) {
    (void)state;
    const char *db = fresh("usual.db");
    make_store(db, 2);
    char *text = exported(db, (pbd_export){.format = "csv"});
    char *rest = text, *header = strsep(&rest, "\r"), *first = strsep(&rest, "\r"), *second = strsep(&rest, "\r");
    assert_string_equal(header,
                        "run_id,case,method,cells,state,not_a_number [m],infinite [m],minus_infinite [m],a_third [m],"
                        "minus_nothing [m],tiny [m],solve_wall_s [s]");
    assert_string_equal(first + 1 + 32,
                        ",cube_shear,a_method_this_program_lacks,0,diverged,,inf,-inf,0.33333333333333331,0,"
                        "4.9406564584124654e-324,0.25");
    expect_says(second, ",cube_shear,a_method_this_program_lacks,1,diverged,,inf,-inf,1.3333333333333333,0,");
    assert_string_equal(rest, "\n");
    free(text);
}

static void test_chosen_columns_and_runs(void **state) {
    (void)state;
    const char *db = fresh("chosen.db");
    make_store(db, 12);
    const pbd_setting cells = {"cells", "7"}, solver = {"solver", "jacobi"}, both[] = {cells, solver};
    expect_text(exported(db, (pbd_export){.format = "csv",
                                          .columns = "cells,solver,threads,build_cpu_s,started_at,E,repeat",
                                          .select = {.setting = both, .settings = 2}}),
                "cells,solver,threads,build_cpu_s [s],started_at,E [Pa],repeat\r\n"
                "7,jacobi,2,0,2025-01-02T03:04:05.007Z,1.0000000000000001e+300,1\r\n");
    /* 1e0 is the number 1 */
    expect_text(exported(db, (pbd_export){.format = "csv",
                                          .columns = "cells",
                                          .select = {.setting = &(pbd_setting){"cells", "1e0"}, .settings = 1}}),
                "cells\r\n1\r\n");
    expect_text(exported(db, (pbd_export){.format = "csv",
                                          .columns = "state,a_third",
                                          .digits = 3,
                                          .select = {.case_name = "cube_shear",
                                                     .method = "a_method_this_program_lacks",
                                                     .state = "diverged",
                                                     .setting = &cells,
                                                     .settings = 1}}),
                "state,a_third [m]\r\ndiverged,7.33\r\n");
    /* a state that no run has: a table without rows */
    expect_text(exported(db, (pbd_export){.format = "csv", .columns = "state,cells", .select = {.state = "ok"}}),
                "state,cells\r\n");
}

/* Rows are sorted by what varies, numerically and not alphabetically. */
static void test_order(void **state) {
    (void)state;
    const char *db = fresh("order.db");
    make_store(db, 12);
    char *text = exported(db, (pbd_export){.format = "csv", .columns = "cells"});
    char *rest = text;
    strsep(&rest, "\n");
    for (int i = 0; i < 12; i++) assert_int_equal(strtol(strsep(&rest, "\n"), NULL, 10), i);
    free(text);
}

/* merge accepts the jsonl of selected runs. */
static void test_jsonl_of_some(void **state) {
    (void)state;
    const char *db = fresh("some.db"), *into = fresh("some-into.db"), *file = fresh("some.jsonl");
    make_store(db, 5);
    char *all = exported(db, (pbd_export){0}), *plain = export_of(db);
    assert_string_equal(all, plain);
    char *one = exported(db, (pbd_export){.select = {.setting = &(pbd_setting){"cells", "3"}, .settings = 1}});
    assert_non_null(strstr(all, one));
    write_bytes(file, one, strlen(one));
    told answer = tell("db", "merge", file, "--db", into, "--json");
    expect_code(answer, 0);
    expect_says(answer.out, "{\"added\":1,\"known\":0}");
    forget(&answer);
    assert_clean(into);
    free(all);
    free(plain);
    free(one);
}

static void test_other_subjects(void **state) {
    (void)state;
    const char *db = fresh("other.db");
    pbd_store *store;
    char run_id[33];
    assert_fine(pbd_store_open(db, PBD_STORE_WRITE, &store));
    assert_fine(put_sample(store, 1, run_id));
    const char *const ids[] = {run_id};
    assert_fine(pbd_store_claim(store, "fig1", "fig1.a", "partly", 0.5, "half of it", NULL, ids, 1));
    const pbd_comparison_pair pair = {.run_a = run_id, .run_b = run_id, .a_s = 2, .b_s = 1};
    const pbd_comparison comparison = {.purpose = "compare",
                                       .name_a = "old",
                                       .name_b = "new",
                                       .clock = "cpu",
                                       .margin = 0.02,
                                       .alpha = 0.01,
                                       .log_ratio = 0,
                                       .low = -(double)INFINITY,
                                       .high = (double)INFINITY,
                                       .bootstrap_low = 0,
                                       .bootstrap_high = 0,
                                       .verdict = "inconclusive",
                                       .says = "",
                                       .pair = &pair,
                                       .pairs = 1};
    char comparison_id[33];
    assert_fine(pbd_store_put_comparison(store, &comparison, comparison_id));
    pbd_store_close(store);
    expect_text(exported(db, (pbd_export){.format = "csv",
                                          .what = "comparisons",
                                          .columns = "case,name_a,name_b,verdict,ratio,low,high,margin"}),
                "case,name_a,name_b,verdict,ratio,low,high,margin\r\n"
                "cube_shear,old,new,inconclusive,1,0,inf,0.02\r\n");
    expect_text(exported(db, (pbd_export){.format = "csv", .what = "claims", .columns = "claim,verdict,value,says"}),
                "claim,verdict,value,says\r\nfig1.a,partly,0.5,half of it\r\n");
    char *limits = exported(db, (pbd_export){.format = "markdown", .what = "limits"});
    assert_int_equal(strncmp(limits, "| name |", 8), 0);
    free(limits);
}

/* ---- As a person does it ----------------------------------------------------------------------------------------- */

/* Invalid words: exit 2, a message with the nearest valid one, and no output. */
static void test_bad_words(void **state) {
    (void)state;
    const char *db = fresh("bad.db");
    make_store(db, 1);
    const struct {
        const char *words[4];
        const char *says;
    } bad[] = {{{"--format", "cvs"}, "did you mean 'csv'"},
               {{"--what", "run"}, "did you mean 'runs'"},
               {{"--format=csv", "--case", "cube_sheer"}, "did you mean 'cube_shear'"},
               {{"--format=csv", "-m", "fem_liner"}, "did you mean 'fem_linear'"},
               {{"--format=csv", "-s", "cels=3"}, "did you mean 'cells'"},
               {{"--format=csv", "-s", "cells"}, "cells"},
               {{"--format=csv", "--columns", "method,cels"}, "did you mean 'cells'"},
               {{"--format=csv", "--columns", "method,,cells"}, "empty name"},
               {{"--format=csv", "--columns", "cells,cells"}, "twice"},
               {{"--format=csv", "--precision", "18"}, "[1, 17]"},
               {{"--format=csv", "--precision", "nan"}, "[1, 17]"},
               {{"--format=csv", "--state", "okay"}, "did you mean 'ok'"},
               {{"--what=claims"}, "jsonl holds runs"},
               {{"--format=csv", "--what=claims", "--case=cube_shear"}, "are not valid with --what claims"},
               {{"--columns=cells"}, "jsonl holds complete runs"},
               {{"--precision=3"}, "jsonl holds complete runs"},
               {{"--format=csv", "--tool=x"}, "--tool is valid with import only"},
               {{"--format=csv", "-o", "/nowhere/at/all"}, "cannot be written"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *words[10] = {"db", "export", "--db", db};
        for (size_t w = 0; w < 4 && bad[i].words[w]; w++) words[4 + w] = bad[i].words[w];
        told answer = tell_to(STDOUT_KEPT, words);
        expect_code(answer, 2);
        expect_says(answer.err, bad[i].says);
        assert_string_equal(answer.out, "");
        forget(&answer);
    }
    told answer = tell("db", "check", "--db", db, "--format=csv");
    expect_code(answer, 2);
    expect_says(answer.err, "--format is valid with export only");
    forget(&answer);
}

static void test_full_disk(void **state) {
    (void)state;
    const char *db = fresh("full.db");
    make_store(db, 40);
    for (int i = 0; i < 4; i++) {
        static const char *const formats[] = {"csv", "json", "markdown", "latex"};
        told answer =
            tell_to(STDOUT_FULL, (const char *const[]){"db", "export", "--db", db, "--format", formats[i], NULL});
        assert_true(answer.code != 0);
        expect_says(answer.err, "cannot be written");
        forget(&answer);
    }
}

/* ---- list runs --------------------------------------------------------------------------------------------------- */

static void test_list_runs(void **state) {
    (void)state;
    const char *db = fresh("list.db");
    make_store(db, 30); /* run n starts n ms after run 0 */
    told answer = tell("list", "runs", "--db", db, "--json");
    expect_code(answer, 0);
    json_t *runs = json_loads(answer.out, 0, NULL);
    assert_int_equal(json_array_size(runs), 20);
    for (int i = 0; i < 20; i++) {
        const json_t *run = json_array_get(runs, (size_t)i);
        assert_int_equal(json_integer_value(json_object_get(json_object_get(run, "params"), "cells")), 29 - i);
        assert_int_equal(json_object_size(json_object_get(run, "params")), 1); /* only the parameters that differ */
        assert_string_equal(json_string_value(json_object_get(run, "state")), "diverged");
        assert_true(json_number_value(json_object_get(run, "time_s")) == 0.25 / 7); /* 7 calls took 0.25 s */
    }
    json_decref(runs);
    forget(&answer);

    answer = tell("list", "runs", "--db", db, "--last", "2", "--state", "diverged", "--case", "cube_shear", "-m",
                  "a_method_this_program_lacks");
    expect_code(answer, 0);
    char *rest = answer.out, *first = strsep(&rest, "\n"), *second = strsep(&rest, "\n");
    assert_string_equal(rest, "");
    expect_says(first, "2025-01-02 03:04:05  diverged  cube_shear  a_method_this_program_lacks");
    expect_says(first, "cells=29");
    expect_says(second, "cells=28");
    forget(&answer);

    answer = tell("list", "runs", "--db", db, "--state", "ok");
    expect_code(answer, 0);
    assert_string_equal(answer.out, "");
    forget(&answer);
}

static void test_list_runs_bad_words(void **state) {
    (void)state;
    const char *db = fresh("list-bad.db");
    make_store(db, 1);
    const struct {
        const char *words[4];
        const char *says;
    } bad[] = {{{"runs", "--last", "0"}, "[1, 100000]"},
               {{"runs", "--state", "god"}, "must be one of ok|diverged"},
               {{"runs", "--case", "cube_sheer"}, "did you mean 'cube_shear'"},
               {{"runs", "cases"}, "list runs cannot be combined"},
               {{"rans"}, "did you mean 'runs'"},
               {{"cases", "--last", "3"}, "are valid with `pbdbench list runs` only"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *words[10] = {"list", "--db", db};
        for (size_t w = 0; w < 4 && bad[i].words[w]; w++) words[3 + w] = bad[i].words[w];
        told answer = tell_to(STDOUT_KEPT, words);
        expect_code(answer, 2);
        expect_says(answer.err, bad[i].says);
        forget(&answer);
    }
    told answer = tell("list", "runs", "--db", in_workplace("none.db"));
    expect_code(answer, 2);
    expect_says(answer.err, "there is no store");
    forget(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_latex),
        cmocka_unit_test(test_latex_compiles),
        cmocka_unit_test(test_csv_keeps_doubles),
        cmocka_unit_test(test_usual_columns),
        cmocka_unit_test(test_chosen_columns_and_runs),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_jsonl_of_some),
        cmocka_unit_test(test_other_subjects),
        cmocka_unit_test(test_bad_words),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_list_runs),
        cmocka_unit_test(test_list_runs_bad_words),
    };
    return cmocka_run_group_tests_name("export", tests, NULL, remove_workplace);
}
