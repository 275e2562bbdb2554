/* Idle threads do not spin on a busy machine: the program restarts itself with libgomp's GOMP_SPINCOUNT, unless the
 * user has set it. Checked in the environment of the running program; no time is judged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/program.h"

/* Starts as many busy processes as make the machine busy, plus two. */
static pid_t *start_busy(long count) {
    pid_t *busy = calloc((size_t)count, sizeof *busy);
    assert_non_null(busy);
    for (long i = 0; i < count; i++) {
        busy[i] = fork();
        assert_true(busy[i] >= 0);
        if (busy[i] == 0)
            for (volatile unsigned long turns = 0;; turns++) continue;
    }
    return busy;
}

static void stop_busy(pid_t *busy, long count) {
    for (long i = 0; i < count; i++) {
        kill(busy[i], SIGKILL);
        waitpid(busy[i], NULL, 0);
    }
    free(busy);
}

/* Whether the environment of a running process, variables ending with NUL, contains the text. */
static bool has_variable(pid_t pid, const char *text) {
    char path[60], all[1 << 16];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    const int file = open(path, O_RDONLY);
    const ssize_t size = file < 0 ? -1 : read(file, all, sizeof all - 1);
    if (file >= 0) close(file);
    for (ssize_t at = 0; at < size; at += (ssize_t)strlen(all + at) + 1) {
        all[size] = '\0';
        if (strcmp(all + at, text) == 0) return true;
    }
    return false;
}

/* Runs a verb that waits for input, and polls for the variable for at most `tenths` tenths of a second. */
static bool runs_with(const char *text, int tenths) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(getenv("PBDBENCH_PROGRAM"), "pbdbench", "eval", "stress", "-m", "hencky", "-s", "E=1", "-s", "nu=0.3",
              (char *)NULL);
        _exit(127);
    }
    bool seen = false;
    for (int i = 0; i < tenths && !(seen = has_variable(child, text)); i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    close(ends[0]);
    close(ends[1]); /* end of its input */
    waitpid(child, NULL, 0);
    return seen;
}

static void test_busy(void **unused) {
    (void)unused;
    const long count = sysconf(_SC_NPROCESSORS_ONLN) + 2;
    pid_t *busy = start_busy(count);
    const bool limited = runs_with("GOMP_SPINCOUNT=1000", 600);
    setenv("OMP_WAIT_POLICY", "passive", 1);
    const bool own = runs_with("OMP_WAIT_POLICY=passive", 600), both = runs_with("GOMP_SPINCOUNT=1000", 10);
    unsetenv("OMP_WAIT_POLICY");
    stop_busy(busy, count);
    assert_true(limited);
    assert_true(own && !both); /* the user's choice stays */
}

int main(void) {
    unsetenv("GOMP_SPINCOUNT");
    unsetenv("OMP_WAIT_POLICY");
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_busy)};
    return cmocka_run_group_tests_name("spinning", tests, NULL, NULL);
}
