/* The state of a GPU, with a stub of NVIDIA's library that the build puts beside the tests, and without a library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/machine/environment.h"
#include "harness/machine/gpu_state.h"
#include "harness/plan/record.h"
#include "tests/program.h"

#define UNUSED __attribute__((unused))

/* `pbdbench env` with the stub in the library path and this environment variable. */
static told env_with(const char *name, const char *value) {
    setenv("LD_LIBRARY_PATH", PBD_TEST_STUBS, 1);
    if (name) setenv(name, value, 1);
    const told answer = tell_input(STDOUT_KEPT, NULL, (const char *const[]){"env", NULL});
    if (name) unsetenv(name);
    unsetenv("LD_LIBRARY_PATH");
    return answer;
}

static void expect_line(const char *name, const char *value, const char *wanted) {
    told answer = env_with(name, value);
    assert_int_equal(answer.code, 0);
    if (!strstr(answer.out, wanted)) fail_msg("env does not say '%s' but:\n%s", wanted, answer.out);
    forget(&answer);
}

static void test_env_shows_the_gpu(void **state) {
    (void)state;
    expect_line(NULL, NULL, "GPU          Stub GPU\n");
    expect_line(NULL, NULL, "GPU now      1755 MHz, memory 3201 MHz, 412 W, 61 C\n");
    expect_line("STUB_NVML_COUNT", "2", "GPU          Stub GPU, Stub GPU\n");
}

static void test_what_holds_it_back_is_said(void **state) {
    (void)state;
    expect_line("STUB_NVML_REASONS", "0x24", "; throttled by: software power cap, thermal slowdown\n");
    expect_line("STUB_NVML_REASONS", "1", "61 C\n"); /* reason 1: the GPU was idle */
}

static void test_what_is_not_told_is_left_out(void **state) {
    (void)state;
    expect_line("STUB_NVML_NO_POWER", "1", "GPU now      1755 MHz, memory 3201 MHz, 61 C\n");
}

static void test_what_is_missing_is_said(void **state) {
    (void)state;
    expect_line("STUB_NVML_INIT", "9",
                "GPU now      libnvidia-ml.so.1 cannot be initialised (error 9): is the driver loaded?");
    expect_line("STUB_NVML_COUNT", "0", "GPU now      libnvidia-ml.so.1 shows no device");
}

static const pbd_series_item *series(const pbd_result *r, const char *name) {
    for (size_t i = 0; i < r->series_count; i++)
        if (strcmp(r->series[i].name, name) == 0) return &r->series[i];
    return NULL;
}

static void test_a_run_keeps_both_samples(void **state) {
    (void)state;
    pbd_result result = {0};
    pbd_recorder *recorder = pbd_recorder_create(&result, NULL);
    const pbd_gpu_sample before = {
        .clock_mhz = 345, .memory_clock_mhz = 2619, .power_w = 80, .temperature_c = -1, .held_back = 1};
    const pbd_gpu_sample after = {
        .clock_mhz = 1980, .memory_clock_mhz = 2619, .power_w = 690.5, .temperature_c = 70, .held_back = 0x44};
    pbd_record_gpu(recorder, &before, &after);
    const pbd_series_item *clock = series(&result, "gpu_clock"), *power = series(&result, "gpu_power");
    assert_non_null(clock);
    assert_non_null(power);
    assert_true(clock->count == 2 && clock->values[0] == 345 && clock->values[1] == 1980);
    assert_true(power->count == 2 && power->values[0] == 80 && power->values[1] == 690.5);
    assert_null(series(&result, "gpu_temperature")); /* was not reported before the run */
    assert_int_equal(result.warnings, 1);
    assert_string_equal(result.warning[0].name, "gpu_held_back");
    assert_string_equal(result.warning[0].says,
                        "after the run the GPU's clocks were throttled by: software power cap, "
                        "hardware thermal slowdown");
    pbd_recorder_destroy(recorder);
    pbd_result_free(&result);
}

static void test_a_run_says_that_nobody_watched(void **state) {
    (void)state;
    pbd_result result = {0};
    pbd_recorder *recorder = pbd_recorder_create(&result, NULL);
    const pbd_gpu_sample none = {.missing = "no library", .clock_mhz = -1};
    pbd_record_gpu(recorder, &none, &none);
    assert_int_equal(result.series_count, 0);
    assert_int_equal(result.warnings, 1);
    assert_string_equal(result.warning[0].name, "gpu_not_watched");
    pbd_recorder_destroy(recorder);
    pbd_result_free(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_env_shows_the_gpu),
        cmocka_unit_test(test_what_holds_it_back_is_said),
        cmocka_unit_test(test_what_is_not_told_is_left_out),
        cmocka_unit_test(test_what_is_missing_is_said),
        cmocka_unit_test(test_a_run_keeps_both_samples),
        cmocka_unit_test(test_a_run_says_that_nobody_watched),
    };
    return cmocka_run_group_tests_name("gpu_state", tests, NULL, remove_workplace);
}
