/* `run --time`: samples of a solve's time, from one saved state, without a change of the run's results. Nothing here
 * judges a time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "harness/run/solve_times.h"
#include "program.h"
#include "store_sample.h"

/* ---- A solver that counts how it is used ------------------------------------------------------------------------- */

typedef struct counter {
    int value; /* 7 in the saved state */
    long loads, solves, fails_at, dirty;
} counter;

static pbd_status save_counter(const void *state, void *blob, size_t *bytes) {
    *bytes = sizeof(int);
    if (blob) memcpy(blob, &((const counter *)state)->value, sizeof(int));
    return pbd_ok();
}

static pbd_status load_counter(void *state, const void *blob, size_t bytes) {
    counter *c = state;
    assert_int_equal(bytes, sizeof(int));
    memcpy(&c->value, blob, bytes);
    c->loads++;
    return pbd_ok();
}

/* 2 ms of sleep: several go into one sample. */
static pbd_status solve_counter(void *context) {
    counter *c = context;
    if (c->value != 7) c->dirty++;
    c->value = 0;
    if (++c->solves == c->fails_at) return pbd_error(PBD_DIVERGED, "solve %ld blew up", c->solves);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    return pbd_ok();
}

static const pbd_method counting = {.name = "counting", .save = save_counter, .load = load_counter};

static pbd_status time_counter(counter *c, double seconds, pbd_solve_times *out) {
    pbd_exec *exec;
    pbd_saved_state start;
    assert_fine(pbd_exec_create(PBD_CPU, 1, &exec));
    assert_fine(pbd_save_state(&counting, c, &start));
    const pbd_status status =
        pbd_time_solves(&counting, c, &start, exec, solve_counter, c, (pbd_sampling_plan){.seconds = seconds}, out);
    free(start.blob);
    pbd_exec_destroy(exec);
    return status;
}

static void every_solve_starts_from_the_saved_state(void **state) {
    (void)state;
    counter c = {.value = 7};
    pbd_solve_times times;
    assert_fine(time_counter(&c, 0.06, &times));
    assert_int_equal(c.dirty, 0);
    assert_int_equal(c.loads, c.solves);
    assert_true(times.samples >= 3);
    /* A sleep of 2 ms takes at least that long, and almost no CPU time. */
    for (size_t i = 0; i < times.samples; i++) assert_true(times.wall[i] >= 0.002);
    assert_true(times.wall_median >= 0.002 && times.cpu_median < times.wall_median);
    pbd_solve_times_free(&times);
}

static void three_samples_at_least(void **state) {
    (void)state;
    counter c = {.value = 7};
    pbd_solve_times times;
    assert_fine(time_counter(&c, 1e-9, &times));
    assert_int_equal(times.samples, 3);
    double low = fmin(times.wall[0], times.wall[1]), high = fmax(times.wall[0], times.wall[1]);
    assert_true(times.wall_median == fmax(low, fmin(high, times.wall[2]))); /* the median of three */
    pbd_solve_times_free(&times);
}

static void a_solve_that_fails_ends_it(void **state) {
    (void)state;
    counter c = {.value = 7, .fails_at = 3};
    pbd_solve_times times;
    const pbd_status status = time_counter(&c, 0.05, &times);
    assert_int_equal(status.code, PBD_DIVERGED);
    assert_string_equal(status.text, "solve 3 blew up");
    pbd_solve_times_free(&times);
}

static void a_method_without_save_says_so(void **state) {
    (void)state;
    static const pbd_method bare = {.name = "bare"};
    pbd_saved_state start;
    const pbd_status status = pbd_save_state(&bare, NULL, &start);
    assert_int_equal(status.code, PBD_NOT_SUPPORTED);
    expect_says(status.text, "method bare cannot save its state");
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

#define CELL "run", "cube_shear", "-m", "pbd_distance", "-s", "cells=3", "-t", "1", "--json"

static json_t *metrics_of(const told *answer) {
    json_t *object = json_loads(answer->out, 0, NULL);
    if (!object) fail_msg("no JSON: %s", answer->out);
    json_t *metrics = json_incref(json_object_get(object, "metrics"));
    json_decref(object);
    return metrics;
}

static void the_answer_is_that_of_a_run_without(void **state) {
    (void)state;
    const char *db = fresh("times.db");
    told plain = tell(CELL, "--db", db), timed = tell(CELL, "--db", db, "--time", "0.01");
    expect_code(plain, 0);
    expect_code(timed, 0);
    json_t *a = metrics_of(&plain), *b = metrics_of(&timed);
    assert_true(json_object_size(a) > 10);
    json_t *instructions = json_object_get(b, "solve_instructions"); /* if the processor counts them */
    if (instructions) assert_true(json_number_value(json_object_get(instructions, "value")) > 1e4);
    json_object_del(b, "solve_instructions");
    assert_int_equal(json_object_size(b), json_object_size(a) + 2);
    for (const char *const *name = (const char *const[]){"solve_wall", "solve_cpu", NULL}; *name; name++) {
        json_t *m = json_object_get(b, *name);
        assert_true(json_number_value(json_object_get(m, "value")) > 0);
        assert_string_equal(json_string_value(json_object_get(m, "unit")), "s");
        assert_string_equal(json_string_value(json_object_get(m, "direction")), "lower");
        assert_string_equal(json_string_value(json_object_get(m, "kind")), "cost");
        json_object_del(b, *name);
    }
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
    /* Both runs are in the store: the first has no times, so --time makes another. */
    assert_sql(db, "SELECT count(*) FROM run", "2");
    assert_sql(db, "SELECT count(*) FROM series WHERE name IN ('solve_wall_samples', 'solve_cpu_samples')", "2");
    assert_sql(db, "SELECT min(json_array_length(\"values\")) >= 3 FROM series WHERE name LIKE 'solve_%_samples'", "1");
    assert_clean(db);
    forget(&plain);
    forget(&timed);
}

static void bad_seconds_are_refused(void **state) {
    (void)state;
    for (const char *const *word = (const char *const[]){"0", "-1", "nan", "inf", "1e9", "soon", "", NULL}; *word;
         word++) {
        told answer = tell(CELL, "--no-store", "--time", *word);
        expect_code(answer, 2);
        expect_says(answer.err, "--time");
        forget(&answer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_solve_starts_from_the_saved_state),
        cmocka_unit_test(three_samples_at_least),
        cmocka_unit_test(a_solve_that_fails_ends_it),
        cmocka_unit_test(a_method_without_save_says_so),
        cmocka_unit_test(the_answer_is_that_of_a_run_without),
        cmocka_unit_test(bad_seconds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
