/* Bounds of claims, and claims with a verdict by bounds: values, readings, and bounds that no result could violate. */
#include "tests/paper.h"

#include <math.h>

#include "harness/figure/bounds.h"

static void expect_bounds(const char *text, const double *inside, const double *outside) {
    pbd_bounds b;
    assert_int_equal(pbd_bounds_parse(text, &b).code, PBD_OK);
    for (int i = 0; !isnan(inside[i]); i++)
        if (!pbd_bounds_hold(&b, inside[i])) fail_msg("%s does not hold for %g", text, inside[i]);
    for (int i = 0; !isnan(outside[i]); i++)
        if (pbd_bounds_hold(&b, outside[i])) fail_msg("%s holds for %g", text, outside[i]);
    assert_false(pbd_bounds_hold(&b, (double)NAN));
}

#define VALUES(...) \
    (const double[]) { __VA_ARGS__ __VA_OPT__(, )(double) NAN }

static void test_words(void **state) {
    (void)state;
    expect_bounds("<= 0.05", VALUES(0.05, -1e300, -INFINITY), VALUES(0.0500001, INFINITY));
    expect_bounds("< 0.05", VALUES(0.04999), VALUES(0.05));
    expect_bounds(">= -1e-3", VALUES(-1e-3, 0), VALUES(-0.0011));
    expect_bounds("> 1", VALUES(1.0001), VALUES(1, 0));
    expect_bounds("= 3", VALUES(3), VALUES(2.999, 3.001));
    expect_bounds("0.9 to 1.1", VALUES(0.9, 1, 1.1), VALUES(0.899, 1.101));
    expect_bounds(" > 0  and <1\n", VALUES(0.5), VALUES(0, 1));
    expect_bounds("<= 1 and < 1", VALUES(0), VALUES(1));
    static const char *const bad[] = {"",        "0.05",    "<",           "<= x",  "1 to",
                                      "2 to 1",  "< 1 1",   "> 1 and < 1", "> nan", "<= inf",
                                      "< 1 and", "about 3", ">= 1 <= 2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pbd_bounds b;
        const pbd_status status = pbd_bounds_parse(bad[i], &b);
        if (status.code != PBD_BAD_INPUT) fail_msg("'%s' is taken", bad[i]);
        expect_says(status.text, "bounds '");
    }
}

static bool contains(const char *outer, const char *inner) {
    pbd_bounds a, b;
    assert_int_equal(pbd_bounds_parse(outer, &a).code, PBD_OK);
    assert_int_equal(pbd_bounds_parse(inner, &b).code, PBD_OK);
    return pbd_bounds_contain(&a, &b);
}

static void test_contain(void **state) {
    (void)state;
    assert_true(contains("<= 1", "< 1"));
    assert_false(contains("< 1", "<= 1"));
    assert_true(contains("< 1", "< 1"));
    assert_true(contains("> 0", "1 to 2"));
    assert_false(contains("1 to 2", "> 0"));
    assert_false(contains("1 to 2", "0.5 to 1.5"));
}

#define VALUE(sql) "sql: \"SELECT " sql " FROM fit WHERE nu = 0\""

/* k_edge(0) = 0.0511 (claims.md, rodero2016-fig4.poly_ke). */
static void test_verdicts_by_bounds(void **state) {
    (void)state;
    make_figure("tiny-bounds",
                "claims:\n"
                "  - {id: b.yes, says: a, reproduced: 0.05 to 0.052, " VALUE("k_edge AS value") "}\n"
                "  - {id: b.partly, says: a, reproduced: \"< 0.05\", partly: \"< 0.1\", possible: \">= 0\", because: "
                "a reason of ours, " VALUE("k_edge AS value, 'k' AS note") "}\n"
                "  - {id: b.no, says: a, reproduced: \"< 0.04\", partly: \"< 0.05\", " VALUE("k_edge AS value") "}\n"
                "  - {id: b.null, says: a, reproduced: \"< 0.04\", " VALUE("NULL AS value") "}\n");
    told answer = tell("reproduce", "tiny-bounds", DB("bounds.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "reproduced      b.yes  = 0.051");
    expect_says(answer.out, "partly          b.partly  = 0.051");
    expect_says(answer.out, "reproduced: < 0.05; partly: < 0.1\n");
    expect_says(answer.out, "a reason of ours");
    expect_says(answer.out, "not reproduced  b.no  = 0.051");
    expect_says(answer.out, "not run         b.null\n");
    forget(&answer);
}

#define READINGS                                                                                                       \
    "sql: \"SELECT 'low' AS reading, nu AS value FROM fit WHERE nu < 0.05 UNION ALL SELECT 'high', nu FROM fit WHERE " \
    "nu > 0.35\""

/* nu is 0 and 0.4. */
static void test_readings(void **state) {
    (void)state;
    make_figure("tiny-readings",
                "claims:\n"
                "  - {id: r.first, says: a, reproduced: \"< 0.1\", " READINGS
                "}\n"
                "  - {id: r.all, says: a, reproduced: \"< 0.1\", rule: all, " READINGS
                "}\n"
                "  - {id: r.both, says: a, reproduced: \"< 1\", rule: all, " READINGS
                "}\n"
                "  - {id: r.none, says: a, reproduced: \"< 0\", rule: all, " READINGS "}\n");
    told answer = tell("reproduce", "tiny-readings", "--accept", DB("readings.db"));
    expect_code(answer, 0);
    expect_says(answer.out, "reproduced      r.first  = 0\n");
    expect_says(answer.out, "partly          r.all  = 0\n");
    expect_says(answer.out, "reproduced      r.both  = 0\n");
    expect_says(answer.out, "not reproduced  r.none  = 0\n");
    forget(&answer);
    char *accepted = read_text(in_workplace("plots/tiny-readings/verdicts.csv"));
    expect_says(accepted,
                "claim,reading,verdict\n\"r.first\",,\"reproduced\"\n\"r.first\",\"low\",\"reproduced\"\n"
                "\"r.first\",\"high\",\"not_reproduced\"\n");
    free(accepted);
    write_text("plots/tiny-readings/verdicts.csv",
               "claim,reading,verdict\nr.first,,reproduced\nr.first,low,reproduced\nr.first,high,partly\n"
               "r.first,other,partly\nr.all,,partly\nr.all,low,reproduced\nr.all,high,not_reproduced\n"
               "r.both,,reproduced\nr.both,low,reproduced\nr.both,high,reproduced\nr.none,,not_reproduced\n"
               "r.none,low,not_reproduced\nr.none,high,not_reproduced\n");
    answer = tell("reproduce", "tiny-readings", DB("readings.db"));
    expect_code(answer, 3);
    expect_says(answer.out, "DIFFERS: r.first (high) is not reproduced; accepted: partly");
    expect_says(answer.out, "DIFFERS: verdicts.csv holds the claim r.first (other), which the figure does not have");
    assert_null(strstr(answer.out, "DIFFERS: r.all"));
    forget(&answer);
    answer = tell("reproduce", "tiny-readings", "--json", DB("readings.db"));
    json_t *figure = parse_line(answer.out);
    const json_t *readings = json_object_get(claim_named(figure, "r.first"), "readings");
    assert_int_equal(json_array_size(readings), 2);
    assert_string_equal(string_of(json_array_get(readings, 1), "accepted"), "partly");
    json_decref(figure);
    forget(&answer);
}

static void test_claims_that_nothing_turns(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"reproduced: \">= 0\", possible: \">= 0\", " VALUE("k_edge AS value"), "no value is outside of its bounds"},
        {"reproduced: \"< 1\", partly: \"<= 2\", possible: 0 to 2, " VALUE("k_edge AS value"), "no value is outside"},
        {"reproduced: \"< 1\", sql: SELECT 0 AS value", "reads none of the runs"},
        {"reproduced: \"< 1\", partly: \"< 0.5\", " VALUE("k_edge AS value"), "must be wider than those of reproduced"},
        {"reproduced: \"< 1\", partly: \"< 1\", " VALUE("k_edge AS value"), "must be wider than those of reproduced"},
        {"reproduced: near 1, " VALUE("k_edge AS value"), "bounds 'near 1': expected such as"},
        {"partly: \"< 1\", " VALUE("k_edge AS value"), "'reproduced' is missing"},
        {"reproduced: \"< 1\", rule: most, " VALUE("k_edge AS value"), "rule 'most': expected first or all"},
        {"reproduced: \"< 1\", sql: SELECT nu AS value FROM fit", "more than one row, and has no column `reading`"},
        {"reproduced: \"< 1\", sql: \"SELECT 'a' AS reading, nu AS value FROM fit\"", "two rows of the reading 'a'"},
        {"reproduced: \"< 1\", sql: \"SELECT NULL AS reading, 1 AS value FROM fit\"",
         "without the name of its reading"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char id[20], claim[400];
        snprintf(id, sizeof id, "tiny-turn%zu", i);
        snprintf(claim, sizeof claim, "claims:\n  - {id: t.claim, says: a, %s}\n", bad[i][0]);
        make_figure(id, claim);
        told answer = tell("reproduce", id, "-q", DB("turn.db"));
        expect_code(answer, 2);
        expect_says(answer.err, bad[i][1]);
        forget(&answer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_contain),
                                       cmocka_unit_test(test_verdicts_by_bounds), cmocka_unit_test(test_readings),
                                       cmocka_unit_test(test_claims_that_nothing_turns)};
    return cmocka_run_group_tests(tests, make_paper, remove_workplace);
}
