/* Parameters and axes: accepted values and their spelling; refused values and their messages. */
#include <unistd.h>

#include "harness/catalog/resolve.h"
#include "harness/files/nearest.h"
#include "methods/physics/matter/flow_table.h"
#include "tests/ladder.h"

static const char *const colours[] = {"red", "green", NULL};
static const pbd_param real_param = {"nu", "", PBD_REAL, "0.3", -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, ""};
static const pbd_param whole_param = {"cells", "", PBD_INTEGER, "1", 1, 200, 0, NULL, ""};
static const pbd_param choice_param = {"colour", "", PBD_CHOICE, "red", 0, 0, 0, colours, ""};

static const pbd_param text_param = {"fixed", "", PBD_TEXT, "x_min", 0, 0, 0, NULL, "a group"};
static const pbd_param file_param = {"file", "", PBD_FILE, "", 0, 0, 0, NULL, "a mesh"};

static void expect_refused(const pbd_param *param, const char *text, const char *part) {
    pbd_value value;
    pbd_status status = pbd_parse_value(param, text, "case x", &value);
    if (status.code != PBD_BAD_INPUT) fail_msg("%s=%s was accepted", param->name, text);
    if (!strstr(status.text, part) || !strstr(status.text, param->name))
        fail_msg("'%s' does not say '%s' and '%s'", status.text, param->name, part);
}

static void test_refusals(void **unused) {
    (void)unused;
    static const char *const bad[] = {"0.5", "-1",   "nan", "-nan", "inf", "-inf", "1e400",
                                      "7",   "0.2x", "",    " ",    "0,2", "0x0",  "+0x1p-3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) expect_refused(&real_param, bad[i], "(-1, 0.5)");
    static const char *const odd[] = {"1.5", "0", "-3", "201", "1e9", "nan", "two", "0x10", " 0X10"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) expect_refused(&whole_param, odd[i], "[1, 200]");
    expect_refused(&choice_param, "gren", "did you mean 'green'");
    expect_refused(&choice_param, "", "red|green");
}

static void test_canonical_spelling(void **unused) {
    (void)unused;
    static const struct {
        const pbd_param *param;
        const char *typed, *spelt;
    } same[] = {{&real_param, "0.30", "0.3"},
                {&real_param, "3e-1", "0.3"},
                {&real_param, "-0", "0"},
                {&real_param, "+.25", "0.25"},
                {&real_param, "0.1234567890123", "0.1234567890123"},
                {&whole_param, "1e2", "100"},
                {&whole_param, "7.0", "7"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        pbd_value value;
        check_ok(pbd_parse_value(same[i].param, same[i].typed, "case x", &value));
        assert_string_equal(pbd_value_text(&value), same[i].spelt);
    }
}

static void test_words(void **unused) {
    (void)unused;
    pbd_value value;
    check_ok(pbd_parse_value(&text_param, "Kante \"ä\" \\ 1", "case x", &value));
    assert_string_equal(pbd_value_text(&value), "Kante \"ä\" \\ 1");
    pbd_value_free(&value);
    static const char *const bad[] = {"a\nb", "\x1b[2J", "\xff\xfe", "half \xc3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) expect_refused(&text_param, bad[i], "UTF-8");
    expect_refused(&text_param, "", "is empty");
    char longest[5000];
    memset(longest, 'c', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    expect_refused(&text_param, longest, "4999 letters");
    assert_false(pbd_param_is_asked(&text_param));
    assert_true(pbd_param_is_asked(&file_param));
}

static void test_files(void **unused) {
    (void)unused;
    char path[] = "/tmp/pbdbench-values-XXXXXX", pinned[100];
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, "abc", 3) == 3);
    pbd_value value, again;
    check_ok(pbd_parse_value(&file_param, path, "case x", &value));
    snprintf(pinned, sizeof pinned, "%s#78af5f94892f3950", path); /* `printf abc | xxhsum -H3` */
    assert_string_equal(pbd_value_text(&value), pinned);
    check_ok(pbd_parse_value(&file_param, pinned, "case x", &again));
    assert_string_equal(pbd_value_text(&again), pinned);
    pbd_value_free(&again);
    pbd_content content;
    const pbd_values values = {&value, 1};
    check_ok(pbd_read_file(&values, "file", &content));
    assert_string_equal(content.path, path);
    assert_string_equal(content.text, "abc");
    assert_int_equal(content.bytes, 3);
    pbd_content_free(&content);
    assert_true(write(file, "d", 1) == 1); /* the content differs from here on */
    assert_int_equal(pbd_read_file(&values, "file", &content).code, PBD_BAD_INPUT);
    expect_refused(&file_param, pinned, "was requested");
    close(file);
    unlink(path);
    expect_refused(&file_param, path, "No such file");
    expect_refused(&file_param, "/", "is not a file with content");
    expect_refused(&file_param, "", "is empty");
    pbd_value_free(&value);
}

static void test_axes(void **unused) {
    (void)unused;
    pbd_axis axis;
    check_ok(pbd_axis_parse("nu=0:0.49:0.01", &axis));
    assert_int_equal(axis.count, 50);
    assert_string_equal(axis.key, "nu");
    assert_string_equal(axis.values[0], "0");
    assert_string_equal(axis.values[3], "0.03"); /* not 0.030000000000000002 */
    assert_string_equal(axis.values[49], "0.49");
    pbd_axis_free(&axis);
    check_ok(pbd_axis_parse("x=1:2:0.3", &axis)); /* the end is not reached */
    assert_int_equal(axis.count, 4);
    pbd_axis_free(&axis);
    check_ok(pbd_axis_parse("solver=jacobi,coloured_gs", &axis));
    assert_int_equal(axis.count, 2);
    assert_string_equal(axis.values[1], "coloured_gs");
    pbd_axis_free(&axis);
    static const char *const bad[] = {"",          "=",      "nu",         "=1:2:3",     "nu=1:0:0.1", "nu=0:1:0",
                                      "nu=0:1:-1", "nu=0:1", "nu=0:1:2:3", "nu=0:1:nan", "nu=0:inf:1", "nu=0:1e9:1e-9",
                                      "nu=1,,2",   "nu=,",   "nu="};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (pbd_axis_parse(bad[i], &axis).code != PBD_BAD_INPUT) fail_msg("axis '%s' was accepted", bad[i]);
        assert_null(axis.key);
    }
}

static void test_nearest(void **unused) {
    (void)unused;
    static const char *const names[] = {"cube_shear", "cube_torsion", "cube_traction", "hex_fit"};
    assert_string_equal(pbd_nearest("cube_sheer", names, 4), "cube_shear");
    assert_string_equal(pbd_nearest("torsion", names, 4), "cube_torsion");
    assert_string_equal(pbd_nearest("hexfit", names, 4), "hex_fit");
    assert_null(pbd_nearest("zzzzzzzzzzzz", names, 4));
    char longest[1000];
    memset(longest, 'c', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    pbd_nearest(longest, names, 4);
}

static void test_resolve(void **unused) {
    (void)unused;
    const pbd_case *c;
    const pbd_method_entry *entry;
    pbd_values of_case, of_method;
    check_ok(pbd_find_case("cube_shear", &c));
    check_ok(pbd_find_method("pbd_distance", &entry));
    const pbd_method *m = entry->by_precision[PBD_PRECISION_F32];
    pbd_setting good[] = {{"nu", "0.1"}, {"iterations", "4"}, {"nu", "0.2"}}, bad = {"itterations", "4"};
    check_ok(pbd_resolve(c, m, good, 3, &of_case, &of_method));
    assert_true(pbd_real(&of_case, "nu") == 0.2); /* the later setting wins */
    assert_int_equal(pbd_integer(&of_method, "iterations"), 4);
    assert_string_equal(pbd_text(&of_method, "solver"), "jacobi");
    pbd_values_free(&of_case);
    pbd_values_free(&of_method);
    pbd_status status = pbd_resolve(c, m, &bad, 1, &of_case, &of_method);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    assert_non_null(strstr(status.text, "did you mean 'iterations'"));
    check_ok(pbd_find_case("implicit_step", &c));
    check_ok(pbd_find_method("vbd", &entry));
    m = entry->by_precision[PBD_PRECISION_F32];
    pbd_setting same[] = {{"dt", "step"}, {"step", "0.0125"}, {"dt", "0.5"}};
    check_ok(pbd_resolve(c, m, same, 2, &of_case, &of_method));
    assert_true(pbd_real(&of_method, "dt") == 0.0125); /* the value of the case's parameter, set before or after */
    pbd_values_free(&of_case), pbd_values_free(&of_method);
    check_ok(pbd_resolve(c, m, same, 3, &of_case, &of_method));
    assert_true(pbd_real(&of_method, "dt") == 0.5);
    pbd_values_free(&of_case), pbd_values_free(&of_method);
    pbd_setting other = {"dt", "density"}; /* a parameter with another unit */
    status = pbd_resolve(c, m, &other, 1, &of_case, &of_method);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    assert_non_null(strstr(status.text, "dt='density' is not a number"));
    bad.key = "young"; /* similar to no name, but in a description */
    status = pbd_resolve(c, m, &bad, 1, &of_case, &of_method);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    assert_non_null(strstr(status.text, "is 'E' meant: Young's modulus"));
}

static void expect_each_once(const pbd_param *params, const char *of) {
    for (size_t i = 0; params[i].name; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(params[k].name, params[i].name) == 0) fail_msg("%s lists %s twice", of, params[i].name);
}

/* A second parameter with the same name could never be set. Plug-ins with one are refused. */
static void test_tables_name_each_parameter_once(void **unused) {
    (void)unused;
    for (size_t i = 0; i < pbd_case_count(); i++) expect_each_once(pbd_case_at(i)->params, pbd_case_at(i)->name);
    for (size_t i = 0; i < pbd_method_count(); i++)
        for (int p = 0; p < 2; p++) {
            const pbd_method *m = pbd_method_at(i)->by_precision[p];
            if (m) expect_each_once(m->params, m->name);
        }
}

static bool same_text(const char *a, const char *b) { return (!a && !b) || (a && b && strcmp(a, b) == 0); }

/* A case lists a parameter of two flow rules once, so it must mean the same in both. Defaults may differ. */
static void test_rules_agree_on_parameters_they_share(void **unused) {
    (void)unused;
    int shared = 0;
    for (const flow_entry *a = flow_table; a->name; a++)
        for (const flow_entry *b = flow_table; b < a; b++)
            for (const flow_parameter *p = a->parameter; p->param.name; p++) {
                const int place = flow_place(b->name, p->param.name);
                if (place < 0 || p->role == FLOW_STATE) continue;
                const flow_parameter *q = &b->parameter[place];
                const pbd_param *x = &p->param, *y = &q->param;
                shared++;
                if (!same_text(x->unit, y->unit) || x->kind != y->kind || x->min != y->min || x->max != y->max ||
                    x->open != y->open || !same_text(x->doc, y->doc) || p->role != q->role)
                    fail_msg("%s of %s is not that of %s", x->name, a->name, b->name);
                for (size_t k = 0; x->choices && (k == 0 || x->choices[k - 1]); k++)
                    assert_true(same_text(x->choices[k], y->choices[k]));
            }
    assert_true(shared >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_agree_on_parameters_they_share),
        cmocka_unit_test(test_tables_name_each_parameter_once),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_canonical_spelling),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_resolve),
    };
    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
