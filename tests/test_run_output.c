/* What `run` prints: error, tolerance and time first, a row for each run of a grid, all of it with -v, within the width
 * of the terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "harness/run/step_progress.h"
#include "tests/program.h"

#define SHEAR "run", "cube_shear", "-m", "pbd_distance", "-t", "1", "-q"

static const char *line_of(const char *text, int number) {
    while (number-- > 0 && (text = strchr(text, '\n'))) text++;
    return text ? text : "";
}

#define expect_line(text, number, wanted)                                                                   \
    do {                                                                                                    \
        if (strncmp(line_of(text, number), wanted, strlen(wanted)) != 0)                                    \
            fail_msg("line %d does not begin with '%s':\n%s", (int)(number), (const char *)(wanted), text); \
    } while (0)

static void test_three_lines(void **state) {
    (void)state;
    told t = tell(SHEAR);
    expect_code(t, 0);
    expect_line(t.out, 0, "error      displacement_error = 0.1571\n");
    expect_line(t.out, 1, "tolerance  0.1, of cube-shear-nu-30: above it\n");
    expect_line(t.out, 2, "time       0.");
    expect_line(t.out, 3, "run        ");
    assert_null(strstr(t.out, "kernel_launches"));
    forget(&t);
    t = tell(SHEAR); /* stored by now, and the same */
    expect_line(t.out, 0, "error      displacement_error = 0.1571\n");
    expect_says(t.out, "already in the store");
    forget(&t);
    t = tell(SHEAR, "-v");
    expect_line(t.out, 0, "error      displacement_error = 0.1571\n");
    expect_says(t.out, "kernel_launches");
    expect_says(t.out, "  time solve");
    forget(&t);
    t = tell(SHEAR, "-s", "nu=0.31"); /* no frozen problem */
    expect_line(t.out, 0, "error      displacement_error = ");
    expect_line(t.out, 1, "tolerance  none");
    forget(&t);
}

/* A frozen problem's error is the distance from its target: tip_ratio of linear FEM on one cell is 0.28 or so. */
static void test_target(void **state) {
    (void)state;
    told t = tell("run", "cantilever", "-m", "fem_linear", "-s", "cells=1", "-t", "1", "-q", "-v");
    expect_code(t, 0);
    expect_line(t.out, 0, "error      |tip_ratio - 1| = ");
    expect_line(t.out, 1, "tolerance  0.05, of cantilever-medium-static: above it\n");
    const char *ratio = strstr(t.out, "\n  tip_ratio ");
    assert_non_null(ratio);
    const double value = strtod(ratio + strlen("\n  tip_ratio "), NULL);
    const double error = strtod(strchr(t.out, '=') + 1, NULL);
    assert_true(fabs(fabs(value - 1) - error) < 1e-3);
    forget(&t);
    t = tell("run", "cantilever", "-m", "fem_linear", "-s", "cells=1", "-s", "E=2e5", "-t", "1", "-q");
    expect_line(t.out, 0, "error      none: cantilever has no reference for these parameters\n");
    forget(&t);
}

static void test_grid(void **state) {
    (void)state;
    told t = tell(SHEAR, "-a", "nu=0.2,0.3", "-a", "solver=jacobi,coloured_gs");
    expect_code(t, 0);
    expect_line(t.out, 0, "cube_shear pbd_distance, cpu f64, 1 thread; error: displacement_error\n");
    expect_line(t.out, 2, "  nu=0.2 solver=jacobi ");
    expect_line(t.out, 4, "  nu=0.3 solver=jacobi           0.1571 ");
    expect_line(t.out, 5, "  nu=0.3 solver=coloured_gs ");
    assert_string_equal(line_of(t.out, 6), "");
    forget(&t);
    t = tell(SHEAR, "-a", "nu=0.2,0.3", "-v");
    expect_says(t.out, "kernel_launches");
    forget(&t);
}

/* A run that did not end well says so where its error would be. */
static void test_failures(void **state) {
    (void)state;
    told t = tell("run", "collapse", "-m", "vbd", "-t", "1", "-q"); /* cases/ends.def */
    expect_code(t, 5);
    expect_line(t.out, 0, "error      ");
    expect_says(t.out, "diverged: ");
    forget(&t);
    t = tell("run", "collapse", "-m", "vbd", "-t", "1", "-q", "-a", "dt=0.005,0.01");
    expect_code(t, 5);
    expect_says(t.out, "    diverged: ");
    forget(&t);
}

/* 12 of 1000 steps in 0.6 s: 50 s. A run says so once, to standard error; -q is silent. */
static void test_long_runs_are_announced(void **state) {
    (void)state;
    assert_true(fabs(pbd_projected_seconds(0.6, 12, 1000) - 50) < 1e-9);
    assert_true(pbd_projected_seconds(1, 0, 10) == 0 && pbd_projected_seconds(1, 10, 0) == 0);
    pbd_step_progress p;
    pbd_step_progress_begin(&p, true);
    p.started -= 0.6; /* as if */
    p.shown -= 0.6;
    pbd_step_progress_show(&p, 100, 1000); /* 6 s */
    assert_false(p.told);
    p.shown -= 0.6;
    pbd_step_progress_show(&p, 12, 1000);
    assert_true(p.told);
    pbd_step_progress_end(&p);
    pbd_step_progress_begin(&p, false);
    p.started -= 0.6;
    pbd_step_progress_show(&p, 12, 1000);
    assert_false(p.told);
}

static void test_memory_is_measured(void **state) {
    (void)state;
    const size_t bytes = 50 << 20;
    const double before = pbd_memory_held();
    char *block = malloc(bytes);
    assert_non_null(block);
    for (size_t i = 0; i < bytes; i += 4096) block[i] = 1;
    assert_true(before > 1e5 && pbd_memory_held() - before > 0.5 * (double)bytes && block[4096] == 1);
    free(block);
}

static void expect_narrow(const told *t, size_t columns) {
    for (const char *at = t->out; *at; at += *at == '\n') {
        const size_t bytes = strcspn(at, "\n");
        size_t wide = 0;
        for (size_t i = 0; i < bytes; i++) wide += ((unsigned char)at[i] & 0xc0) != 0x80;
        if (wide > columns) fail_msg("%zu columns: %.*s", wide, (int)bytes, at);
        at += bytes;
    }
}

static void test_sixty_columns(void **state) {
    (void)state;
    setenv("COLUMNS", "60", 1);
    told answers[] = {
        tell(SHEAR),
        tell(SHEAR, "-v"),
        tell(SHEAR, "-a", "nu=0.2,0.3", "-a", "solver=jacobi,coloured_gs"),
        tell(SHEAR, "-a", "nu=0.2,0.3", "-a", "constraints=all,no_volume", "-a", "mass_norm=spectral,frobenius"),
        tell("run", "collapse", "-m", "vbd", "-t", "1", "-q"),
        tell("run", "collapse", "-m", "vbd", "-t", "1", "-q", "-a", "dt=0.005,0.01"),
        tell("run", "spinning_bar", "-m", "xpbi", "-t", "1", "-q", "-s", "duration=0.1", "-v")};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        if (answers[i].code == 2) fail_msg("%s", answers[i].err);
        expect_narrow(&answers[i], 60);
        forget(&answers[i]);
    }
    unsetenv("COLUMNS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_lines),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_long_runs_are_announced),
        cmocka_unit_test(test_memory_is_measured),
        cmocka_unit_test(test_sixty_columns),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
