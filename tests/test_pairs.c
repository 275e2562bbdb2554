/* `list pairs`: each case with each method, judged by the checks that `run` makes; defaults that suit the method. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/program.h"

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    if (!text) fail_msg("no string '%s'", key);
    return text;
}

/* The JSON array that the command prints; to be freed. */
static json_t *list(const char *const *words) {
    told t = tell_to(STDOUT_KEPT, words);
    expect_code(t, 0);
    assert_string_equal(t.err, "");
    json_t *array = json_loads(t.out, JSON_REJECT_DUPLICATES, NULL);
    assert_true(json_is_array(array));
    forget(&t);
    return array;
}

static bool has_file(const json_t *all_cases, const char *name) {
    size_t i, k;
    json_t *one, *param;
    json_array_foreach(all_cases, i, one) {
        if (strcmp(text_of(one, "name"), name) != 0) continue;
        json_array_foreach(json_object_get(one, "params"), k, param) {
            if (strcmp(text_of(param, "kind"), "file") == 0) return true;
        }
    }
    return false;
}

/* The number of rows of cases/ends.def; each names a pair that fits. */
#define ENDS(c, method, state, why) +1
static const size_t known_ends = 0
#include "cases/ends.def"
    ;
#undef ENDS

static bool is_state(const char *word) {
    static const char *const states[] = {"diverged", "no_equilibrium", "not_settled", "unphysical", "too_long"};
    for (size_t k = 0; k < sizeof states / sizeof *states; k++)
        if (strcmp(word, states[k]) == 0) return true;
    return false;
}

/* Whether the pair is known to end in a state other than ok; if so, it must give a reason. */
static bool ends_otherwise(const json_t *pair) {
    const char *state = text_of(pair, "ends"), *why = text_of(pair, "why");
    const bool ok = strcmp(state, "ok") == 0;
    assert_true(ok ? !*why : is_state(state) && strlen(why) > 20);
    return !ok;
}

/* Every pair is listed once, in the order of cases and methods, and each that does not fit has a reason. */
static void test_all(void **unused) {
    (void)unused;
    json_t *cases = list((const char *const[]){"list", "cases", "--json", NULL});
    json_t *methods = list((const char *const[]){"list", "methods", "--json", NULL});
    json_t *pairs = list((const char *const[]){"list", "pairs", "--json", NULL});
    const size_t m = json_array_size(methods);
    size_t i, fits = 0, asks = 0, others = 0;
    json_t *pair;
    assert_int_equal(json_array_size(pairs), json_array_size(cases) * m);
    json_array_foreach(pairs, i, pair) {
        const char *name = text_of(pair, "case"), *state = text_of(pair, "state"), *reason = text_of(pair, "reason");
        assert_string_equal(name, text_of(json_array_get(cases, i / m), "name"));
        assert_string_equal(text_of(pair, "method"), text_of(json_array_get(methods, i % m), "name"));
        if (strcmp(state, "refused") != 0) others += ends_otherwise(pair);
        if (strcmp(state, "fits") == 0) {
            fits++;
            assert_string_equal(reason, "");
            continue;
        }
        assert_true(strlen(reason) > 20);
        if (strcmp(state, "refused") == 0) continue;
        assert_string_equal(state, "asks");
        assert_true(has_file(cases, name));
        expect_says(reason, "needs file: -s file=...");
        asks++;
    }
    assert_true(asks > 0);
    assert_int_equal(others, known_ends);
    assert_true(fits > m && fits < json_array_size(pairs));
    told lines = tell("list", "pairs", "--case", "hex_fit");
    char sums[60];
    expect_code(lines, 0);
    snprintf(sums, sizeof sums, "of %zu pairs fit\n", m);
    expect_says(lines.out, sums);
    forget(&lines);
    json_decref(cases);
    json_decref(methods);
    json_decref(pairs);
}

/* The reason is the sentence that `run` prints. */
static void test_reasons(void **unused) {
    (void)unused;
    static const char *const pairs[][2] = {{"cantilever", "strain_energy"},   /* refused by check_mode */
                                           {"hex_fit", "strain_energy"},      /* by the method's needs */
                                           {"heavy_drop", "strain_based"},    /* by its supported features */
                                           {"liquid_drop", "corrected_sph"},  /* by the method's create */
                                           {"sampled_mesh", "corrected_sph"}, /* asks */
                                           {"cube_shear", "pbd_distance"}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        json_t *answer =
            list((const char *const[]){"list", "pairs", "--case", pairs[k][0], "-m", pairs[k][1], "--json", NULL});
        const json_t *pair = json_array_get(answer, 0);
        assert_int_equal(json_array_size(answer), 1);
        told t = tell("run", pairs[k][0], "-m", pairs[k][1], "-q", "--no-store");
        expect_code(t, strcmp(text_of(pair, "state"), "fits") == 0 ? 0 : 2);
        expect_says(t.err, text_of(pair, "reason"));
        forget(&t);
        json_decref(answer);
    }
}

/* Methods that ignore the elastic law are refused. Once a bar of grains or water fell apart, and its run was ok. */
static void test_elastic(void **unused) {
    (void)unused;
    static const char *const cases[] = {"bounce", "spinning_bar"}, *const methods[] = {"pbf", "xpbd_grains",
                                                                                       "desbrun_sph"};
    for (int k = 0; k < 6; k++) {
        told t = tell("run", cases[k / 3], "-m", methods[k % 3], "-q", "--no-store");
        expect_code(t, 2);
        expect_says(t.err, "does not support elastic bodies: it has no elastic law");
        forget(&t);
    }
    static const char *const own[][2] = {{"liquid_drop", "desbrun_sph"}, {"still_water", "pbf"}};
    for (int k = 0; k < 2; k++) {
        told t = tell("list", "pairs", "--case", own[k][0], "-m", own[k][1]);
        expect_says(t.out, "fits\n1 of 1 pairs fit");
        forget(&t);
    }
}

static void test_words(void **unused) {
    (void)unused;
    static const struct {
        const char *words[5], *says;
    } wrong[] = {{{"list", "pairs", "cases", NULL}, "list pairs cannot be combined with other lists"},
                 {{"list", "pairs", "--last", "3", NULL}, "are valid with `pbdbench list runs` only"},
                 {{"list", "pairs", "-m", "xpbj", NULL}, "did you mean 'xpbi'"},
                 {{"list", "methods", "-m", "xpbi", NULL}, "`pbdbench list runs` and `list pairs` only"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        told t = tell_to(STDOUT_KEPT, wrong[k].words);
        expect_code(t, 2);
        expect_says(t.err, wrong[k].says);
        forget(&t);
    }
}

/* A default law that the method does not support is replaced, with a warning; one that was set is refused. */
static void test_laws(void **unused) {
    (void)unused;
    static const char *const methods[] = {"xpbi", "mpm"};
    for (int k = 0; k < 2; k++) {
        told t = tell("run", "sampled_shape", "-m", methods[k], "-s", "particles=60", "-s", "duration=1e-3", "-q",
                      "--json", "--no-store");
        expect_code(t, 0);
        expect_says(t.out, "\"material\":\"hencky\"");
        expect_says(t.out, "material=hencky in place of the case's default");
        forget(&t);
        t = tell("run", "sampled_shape", "-m", methods[k], "-s", "particles=60", "-s", "duration=1e-3", "-s",
                 "material=hencky", "-q", "--json", "--no-store");
        expect_code(t, 0);
        assert_null(strstr(t.out, "law_replaced"));
        forget(&t);
        t = tell("run", "sampled_shape", "-m", methods[k], "-s", "material=neo_hookean", "-q", "--no-store");
        expect_code(t, 2);
        expect_says(t.err, "material=hencky");
        forget(&t);
    }
}

/* A part 271 mm long whose file is read in metres gets a warning. */
static void test_lengths(void **unused) {
    (void)unused;
    FILE *file = fopen(in_workplace("part.obj"), "w");
    fputs(
        "v 135.5 0 0\nv -135.5 0 0\nv 0 100 0\nv 0 -100 0\nv 0 0 90\nv 0 0 -90\nf 1 3 5\nf 3 2 5\nf 2 4 5\n"
        "f 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n",
        file);
    assert_int_equal(fclose(file), 0);
    char word[PATH_MAX + 400];
    snprintf(word, sizeof word, "file=%s", in_workplace("part.obj"));
    static const char *const scales[] = {"scale=1", "scale=0.001", "scale=100", "scale=1e-7"};
    for (int k = 0; k < 4; k++) {
        told t = tell("run", "sampled_mesh", "-m", "corrected_sph", "-s", word, "-s", scales[k], "-s", "particles=60",
                      "-s", k == 3 ? "duration=5e-6" : "duration=0.005", "-q", "--json", "--no-store");
        if (t.code == 2) fail_msg("%s", t.err);
        if ((strstr(t.out, "0.001 for millimetres") != NULL) == (k == 1)) fail_msg("%s: %s", scales[k], t.out);
        forget(&t);
    }
}

/* The case can hold hexahedra, but this file has one tetrahedron; this once ended in a segmentation fault. */
static void test_cells_of_a_file(void **unused) {
    (void)unused;
    static const char *const methods[] = {"fem_linear", "pbd_distance"};
    FILE *file = fopen(in_workplace("one.inp"), "w");
    fputs("*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*ELEMENT, TYPE=C3D4\n1, 1,2,3,4\n", file);
    assert_int_equal(fclose(file), 0);
    char word[PATH_MAX + 400];
    snprintf(word, sizeof word, "file=%s", in_workplace("one.inp"));
    for (int k = 0; k < 2; k++) {
        told t = tell("run", "mesh", "-m", methods[k], "-s", word, "-q", "--no-store");
        expect_code(t, 2);
        expect_says(t.err, "needs hexahedra, and the scene has none");
        forget(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_elastic),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_cells_of_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
