/* Histories from stores with known contents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include <math.h>

#include "harness/trend/history.h"
#include "history_store.h"
#include "program.h"
/* after program.h */
#include "planted_store.h"

enum { CELLS = 3, BUILDS = 24, REPEATS = 3 };

static const char *sample(void) {
    const char *path = in_workplace("past.db");
    if (access(path, F_OK) != 0) {
        const pbd_status made = make_history(path, CELLS, BUILDS, REPEATS);
        if (made.code != PBD_OK) fail_msg("%s", made.text);
    }
    return path;
}

static json_t *ask(const char *const *more) {
    const char *words[16] = {"history", "--json", "--db", sample()};
    for (size_t i = 0; more[i] && i < 10; i++) words[4 + i] = more[i];
    told answer = tell_to(STDOUT_KEPT, words);
    expect_code(answer, 0);
    json_t *array = json_loads(answer.out, 0, NULL);
    assert_non_null(array);
    forget(&answer);
    return array;
}
#define ASK(...) ask((const char *const[]){__VA_ARGS__, NULL})

static double number(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

static void a_planted_step_is_found_at_its_build(void **state) {
    (void)state;
    json_t *all = ASK("--metric", "solve_cpu", "-s", "cells=0");
    assert_int_equal(json_array_size(all), 1);
    const json_t *h = json_array_get(all, 0), *steps = json_object_get(h, "steps"), *step = json_array_get(steps, 0);
    assert_int_equal(json_array_size(json_object_get(h, "points")), BUILDS);
    assert_int_equal(json_array_size(steps), 1);
    assert_int_equal((int)number(step, "at"), BUILDS / 2);
    if (!(fabs(number(step, "after") / number(step, "before") - 1.1) < 0.005))
        fail_msg("step of %g, planted 1.1", number(step, "after") / number(step, "before"));
    assert_true(json_is_true(json_object_get(step, "worse")));
    assert_string_equal(json_string_value(json_object_get(step, "git_sha")),
                        "000000000000000000000000000000000000100c");
    json_decref(all);
}

static void noise_alone_has_no_step(void **state) {
    (void)state;
    json_t *all = ASK("--metric", "solve_cpu", "-s", "cells=1");
    assert_int_equal(json_array_size(json_object_get(json_array_get(all, 0), "steps")), 0);
    json_decref(all);
}

/* Points are medians over three repeats; counts are exact. */
static void points_hold_their_runs(void **state) {
    (void)state;
    json_t *all = ASK("--metric", "steps", "-s", "cells=2");
    const json_t *point = json_array_get(json_object_get(json_array_get(all, 0), "points"), 5);
    assert_int_equal((int)number(point, "runs"), REPEATS);
    assert_true(number(point, "value") == 120);
    json_decref(all);
}

/* The error falls from 0.25 to 0.2 in the last build only. It has no noise, so that one build suffices. */
static void what_has_no_noise_shows_at_once(void **state) {
    (void)state;
    json_t *all = ASK("--metric", "displacement_error", "-s", "cells=1");
    const json_t *steps = json_object_get(json_array_get(all, 0), "steps"), *step = json_array_get(steps, 0);
    assert_int_equal(json_array_size(steps), 1);
    assert_int_equal((int)number(step, "at"), BUILDS - 1);
    assert_true(number(step, "before") == 0.25 && number(step, "after") == 0.2 && number(step, "p") == 0);
    assert_true(json_is_false(json_object_get(step, "worse")));
    json_decref(all);
}

/* Without --time the phase `solve` supplies the time, because these runs have no metric solve_wall. */
static void the_phase_stands_in_for_samples(void **state) {
    (void)state;
    json_t *all = ASK("--metric", "solve_wall");
    assert_int_equal(json_array_size(all), CELLS);
    const double value = number(json_array_get(json_object_get(json_array_get(all, 1), "points"), 0), "value");
    assert_true(fabs(value - 0.02) < 0.0003);
    json_decref(all);
}

static void text_tells_steps_first(void **state) {
    (void)state;
    told answer = tell("history", "--db", sample());
    expect_code(answer, 0);
    expect_says(answer.out, "with a step");
    expect_says(answer.out, "cells=0");
    expect_says(answer.out, "worse");
    forget(&answer);
    answer = tell("history", "--db", sample(), "--metric", "solve_cpu", "-s", "cells=0", "--points");
    expect_code(answer, 0);
    expect_says(answer.out, "level");
    forget(&answer);
}

static void a_chart_is_drawn(void **state) {
    (void)state;
    const char *path = in_workplace("chart.svg");
    told answer = tell("history", "--db", sample(), "--metric", "solve_cpu", "-s", "cells=0", "-o", path);
    if (answer.code != 0 && strstr(answer.err, "gnuplot")) {
        print_message("skipped: %s", answer.err);
        forget(&answer);
        return;
    }
    expect_code(answer, 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char text[200000];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    expect_says(text, "00000000"); /* the commit at the step */
    forget(&answer);
}

static void bad_questions_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *words[5], *says;
    } bad[] = {{{"--case", "cube_sheer"}, "cube_shear"},
               {{"-m", "pbd"}, "method"},
               {{"--metric", "no_such"}, "no_such"},
               {{"-s", "cells=99"}, "no successful runs"},
               {{"-s", "cells"}, "cells"},
               {{"--out", "x.png"}, "takes one"},
               {{"--metric", "solve_cpu", "-scells=0", "-o", "x.jpeg"}, ".png"},
               {{"word"}, "takes no argument"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const *w = bad[i].words;
        told answer = tell("history", "--db", sample(), w[0], w[1], w[2], w[3], w[4]);
        expect_code(answer, 2);
        expect_says(answer.err, bad[i].says);
        forget(&answer);
    }
    told answer = tell("history", "--db", in_workplace("none.db"));
    expect_code(answer, 2);
    forget(&answer);
}

/* ---- Which runs belong to one history ---------------------------------------------------------------------------- */

/* Thirty builds on one machine with debug builds in between, a run on another machine, an error that is pure rounding
 * and nevertheless has a step, and a method's estimate of an error. */
static const char *mixed(void) {
    static char path[PATH_MAX + 64];
    if (*path) return path;
    snprintf(path, sizeof path, "%s", in_workplace("mixed.db"));
    plant_store(path);
    plant_machine("aaaa0000aaaa0000aaaa0000aaaa0000", "One CPU");
    plant_machine("bbbb0000bbbb0000bbbb0000bbbb0000", "Other CPU");
    plant_cell("c1", "cube_shear", "pbd_distance", "{\"nu\":0.3}", "f64", 1);
    for (unsigned n = 0; n < 30; n++) {
        plant_build(n, 'r', "release", false);
        plant_build(n, 'd', "dev", false);
        plant_run("c1", 'r', n, "aaaa0000aaaa0000aaaa0000aaaa0000", "ok");
        plant_metric("solve_cpu", "s", "lower", n >= 12 ? 0.9 : 1);
        plant_metric("stiffness", "1", "higher", n >= 20 ? 0.9 : 1);
        plant_metric("displacement_error", "1", "lower", n >= 15 ? 3e-15 : 1e-15);
        plant_metric("displacement_error_predicted", "1", "lower", n);
        plant_run("c1", 'r', n, "aaaa0000aaaa0000aaaa0000aaaa0000", "diverged");
        plant_metric("solve_cpu", "s", "lower", 1e9);
        plant_run("c1", 'd', n, "aaaa0000aaaa0000aaaa0000aaaa0000", "ok");
        plant_metric("solve_cpu", "s", "lower", 20);
    }
    plant_run("c1", 'r', 3, "bbbb0000bbbb0000bbbb0000bbbb0000", "ok");
    plant_metric("solve_cpu", "s", "lower", 7);
    plant_end();
    return path;
}

static json_t *ask_mixed(const char *const *more) {
    const char *words[16] = {"history", "--json", "--db", mixed()};
    for (size_t i = 0; more[i] && i < 10; i++) words[4 + i] = more[i];
    told answer = tell_to(STDOUT_KEPT, words);
    expect_code(answer, 0);
    json_t *array = json_loads(answer.out, 0, NULL);
    assert_non_null(array);
    forget(&answer);
    return array;
}

static const char *word_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static void presets_and_machines_stand_alone(void **state) {
    (void)state;
    json_t *all = ask_mixed((const char *const[]){"--metric", "solve_cpu", "--machine", "aaaa", NULL});
    assert_int_equal(json_array_size(all), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *h = json_array_get(all, i), *steps = json_object_get(h, "steps");
        const bool release = strcmp(word_of(h, "preset"), "release") == 0;
        assert_int_equal(json_array_size(json_object_get(h, "points")), 30);
        assert_int_equal(json_array_size(steps), release);
        if (!release) continue;
        assert_int_equal((int)number(json_array_get(steps, 0), "at"), 12);
        assert_true(json_is_false(json_object_get(json_array_get(steps, 0), "worse")));
    }
    json_decref(all);
    all = ask_mixed((const char *const[]){"--metric", "solve_cpu", "--machine", "bbbb0", NULL});
    assert_int_equal(json_array_size(all), 1);
    assert_string_equal(word_of(json_array_get(all, 0), "cpu"), "Other CPU");
    json_decref(all);
}

static void rounding_and_guesses_are_no_news(void **state) {
    (void)state;
    json_t *all = ask_mixed((const char *const[]){NULL});
    size_t errors = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *h = json_array_get(all, i);
        assert_string_not_equal(word_of(h, "metric"), "displacement_error_predicted");
        if (strcmp(word_of(h, "metric"), "displacement_error") != 0) continue;
        assert_int_equal(json_array_size(json_object_get(h, "steps")), 0);
        errors++;
    }
    assert_int_equal(errors, 1);
    json_decref(all);
}

/* Which direction is worse depends on the metric; of an error the magnitude counts, whatever its sign. */
static void direction_says_which_side_is_worse(void **state) {
    (void)state;
    const pbd_history error = {.kind = PBD_ERROR}, flaw = {.kind = PBD_FLAW};
    assert_true(pbd_step_is_worse(&error, &(pbd_step){.before = -0.001, .after = -0.2}));
    assert_true(pbd_step_is_worse(&error, &(pbd_step){.before = 0.1, .after = -0.2}));
    assert_false(pbd_step_is_worse(&error, &(pbd_step){.before = -0.2, .after = 0.1}));
    assert_true(pbd_step_is_worse(&flaw, &(pbd_step){.before = 0, .after = 0.5}));
    json_t *all = ask_mixed((const char *const[]){"--metric", "stiffness", NULL});
    const json_t *step = json_array_get(json_object_get(json_array_get(all, 0), "steps"), 0);
    assert_true(json_is_true(json_object_get(step, "worse")));
    json_decref(all);
}

static void slips_name_the_nearest(void **state) {
    (void)state;
    static const char *const slips[][3] = {{"--metric", "stifness", "did you mean 'stiffness'"},
                                           {"--machine", "aaa", "is not a machine"},
                                           {"--machine", "%%%%", "is not a machine"},
                                           {"--machine", "aaaa1", "unknown machine"}};
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        told answer = tell("history", "--db", mixed(), slips[i][0], slips[i][1]);
        expect_code(answer, 2);
        expect_says(answer.err, slips[i][2]);
        forget(&answer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planted_step_is_found_at_its_build),
        cmocka_unit_test(noise_alone_has_no_step),
        cmocka_unit_test(points_hold_their_runs),
        cmocka_unit_test(what_has_no_noise_shows_at_once),
        cmocka_unit_test(the_phase_stands_in_for_samples),
        cmocka_unit_test(text_tells_steps_first),
        cmocka_unit_test(a_chart_is_drawn),
        cmocka_unit_test(bad_questions_are_refused),
        cmocka_unit_test(presets_and_machines_stand_alone),
        cmocka_unit_test(rounding_and_guesses_are_no_news),
        cmocka_unit_test(direction_says_which_side_is_worse),
        cmocka_unit_test(slips_name_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
