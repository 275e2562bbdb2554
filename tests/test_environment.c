/* Build and machine: against the information of the kernel, and the same on every reading. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "harness/machine/environment.h"

static bool is_hex(const char *text, size_t length) {
    if (strlen(text) != length) return false;
    for (size_t i = 0; i < length; i++)
        if (!isxdigit((unsigned char)text[i]) || isupper((unsigned char)text[i])) return false;
    return true;
}

static void test_build_is_named(void **state) {
    (void)state;
    const pbd_build *build = pbd_this_build();
    assert_true(strcmp(build->git_sha, "unknown") == 0 || is_hex(build->git_sha, 40));
    assert_true(is_hex(build->source, 32));
    assert_true(strlen(build->compiler) > 0 && strlen(build->flags) > 0 && strlen(build->preset) > 0);
    assert_non_null(strstr(build->licence, "MIT"));
    assert_non_null(strstr(build->licence, "LGPL-2.1-or-later"));
}

static void test_machine_matches_the_kernel(void **state) {
    (void)state;
    pbd_machine machine;
    assert_int_equal(pbd_this_machine(&machine).code, PBD_OK);
    printf("[          ] %s, %s, %d threads, %ld MiB\n", machine.cpu, machine.isa, machine.threads, machine.memory_mib);

    assert_true(is_hex(machine.fingerprint, 32));
    assert_true(strlen(machine.cpu) > 0 && strlen(machine.os) > 0 && strlen(machine.isa) > 0);
    assert_true(machine.packages >= 1 && machine.cores >= machine.packages && machine.threads >= machine.cores);
    assert_true(machine.threads >= get_nprocs());

    /* sysinfo reports up to 8 % less than the installed memory, and the field is rounded up to whole GiB. */
    struct sysinfo info;
    assert_int_equal(sysinfo(&info), 0);
    double mib = (double)info.totalram * info.mem_unit / 1048576;
    assert_int_equal(machine.memory_mib % 1024, 0);
    assert_true((double)machine.memory_mib >= mib && (double)machine.memory_mib < mib + 1024);
}

/* If the fingerprint changed, every stored run would look like one of another machine. */
static void test_fingerprint_stays(void **state) {
    (void)state;
    pbd_machine first, second;
    pbd_this_machine(&first);
    cpu_set_t one, all;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all)) cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    pbd_this_machine(&second);
    sched_setaffinity(0, sizeof all, &all);
    assert_string_equal(first.fingerprint, second.fingerprint);
}

static void test_sample_is_in_range(void **state) {
    (void)state;
    pbd_machine machine;
    pbd_machine_sample sample;
    pbd_this_machine(&machine);
    pbd_sample_machine(&sample);
    printf("[          ] load %g, clock %g MHz, throttled %ld, free %ld MiB\n", sample.load_1min, sample.clock_mhz,
           sample.throttle_count, sample.memory_free_mib);
    assert_true(sample.load_1min >= 0);
    assert_true(sample.clock_mhz == -1 || (sample.clock_mhz > 100 && sample.clock_mhz < 10000));
    assert_true(sample.throttle_count >= -1);
    assert_true(sample.memory_free_mib > 0 && sample.memory_free_mib <= machine.memory_mib);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_is_named),
        cmocka_unit_test(test_machine_matches_the_kernel),
        cmocka_unit_test(test_fingerprint_stays),
        cmocka_unit_test(test_sample_is_in_range),
    };
    return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
