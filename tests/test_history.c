/* Histories from stores with a known past. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include <math.h>

#include "history_store.h"
#include "program.h"

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

/* The error falls from 0.25 to 0.2 in the last build alone. It has no noise, so that one build is enough. */
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

/* Without --time the phase `solve` is the time: solve_wall is no metric of these runs. */
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
               {{"-s", "cells=99"}, "no runs"},
               {{"-s", "cells"}, "cells"},
               {{"--out", "x.png"}, "takes one"},
               {{"--metric", "solve_cpu", "-scells=0", "-o", "x.jpeg"}, ".png"},
               {{"word"}, "one too many"}};
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
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
