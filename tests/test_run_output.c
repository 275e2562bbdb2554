/* Output of `run`: error, tolerance and time first, one row for each run of a grid, everything with -v, within the
 * width of the terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <pty.h>
#include <sys/resource.h>

#include "harness/catalog/registry.h"
#include "harness/catalog/resolve.h"
#include "harness/catalog/values.h"
#include "harness/run/step_progress.h"
#include "tests/program.h"
/* after program.h */
#include "tests/run_json.h"
#include "tests/sanitized.h"

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
    t = tell(SHEAR); /* now from the store, with the same output */
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

/* The error of a frozen problem is the distance from its target; tip_ratio of linear FEM on one cell is about 0.28. */
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

/* A run with a state other than ok prints this in place of its error. */
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

/* The limit is 12 s. */
static void test_too_slow(void **state) {
    (void)state;
    assert_false(pbd_is_too_slow(12, 1, 5.7, 25, 100));  /* 1 s of setup; 23.8 s in all, less than twice the limit */
    assert_true(pbd_is_too_slow(12, 1, 5.8, 25, 100));   /* 24.2 s in all */
    assert_false(pbd_is_too_slow(12, 0, 0.59, 1, 1000)); /* not yet a twentieth of the limit, 0.6 s */
    assert_true(pbd_is_too_slow(12, 0, 0.61, 1, 1000));
    assert_false(pbd_is_too_slow(12, 0, 1.19, 2, 100)); /* 59.5 s in all: not before 144 / 119 = 1.21 s */
    assert_true(pbd_is_too_slow(12, 0, 1.21, 2, 100));  /* 60.5 s in all: not before 1.19 s */
    assert_false(pbd_is_too_slow(0, 1, 1e6, 1, 100));   /* no limit */
    assert_false(pbd_is_too_slow(12, 1, 1e6, 1, 0));    /* number of steps unknown: until rest */
}

/* 12 of 1000 steps in 0.6 s make 50 s in all. A run announces this once, on standard error; -q is silent. */
static void test_long_runs_are_announced(void **state) {
    (void)state;
    assert_true(fabs(pbd_projected_seconds(0.6, 12, 1000) - 50) < 1e-9);
    assert_true(pbd_projected_seconds(1, 0, 10) == 0 && pbd_projected_seconds(1, 10, 0) == 0);
    pbd_step_progress p;
    pbd_step_progress_begin(&p, true, 2.5);
    p.started -= 0.6; /* as if 0.6 s had passed */
    p.shown -= 0.6;
    pbd_step_progress_show(&p, 100, 1000, NAN); /* 6 s in all */
    assert_false(p.told);
    p.shown -= 0.6;
    pbd_step_progress_show(&p, 12, 1000, NAN);
    assert_true(p.told);
    pbd_step_progress_end(&p);
    pbd_step_progress_begin(&p, false, 0);
    p.started -= 0.6;
    pbd_step_progress_show(&p, 12, 1000, NAN);
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

/* The largest resident set of a run, bytes. */
static double peak_of(const char *method, const char *precision, const char *const words[4]) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(99);
        const char *program = getenv("PBDBENCH_PROGRAM");
        execl(program, program, "run", "cantilever", "-m", method, "-p", precision, "-t", "1", "-q", "--no-store", "-s",
              words[0], "-s", words[1], "-s", words[2], "-s", words[3], (char *)NULL);
        _exit(99);
    }
    struct rusage usage;
    int ended = 0;
    assert_int_equal(wait4(child, &ended, 0, &usage), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    return 1024 * (double)usage.ru_maxrss;
}

/* The estimate before such a run, bytes, from its scene and parameters. */
static double estimate_of(const char *method, const char *const words[4]) {
    const pbd_case *c;
    const pbd_method_entry *m;
    pbd_values case_values = {0}, method_values = {0};
    pbd_setup setup = {0};
    pbd_setting settings[4];
    char copy[4][60];
    for (size_t i = 0; i < 4; i++) {
        snprintf(copy[i], sizeof copy[i], "%s", words[i]);
        settings[i].value = strchr(copy[i], '=') + 1;
        copy[i][settings[i].value - copy[i] - 1] = '\0';
        settings[i].key = copy[i];
    }
    assert_int_equal(pbd_find_case("cantilever", &c).code, PBD_OK);
    assert_int_equal(pbd_find_method(method, &m).code, PBD_OK);
    pbd_status status = pbd_resolve(c, m->by_precision[1], settings, 4, &case_values, &method_values);
    if (status.code != PBD_OK) fail_msg("%s", status.text);
    status = pbd_case_build(c, &case_values, &setup);
    if (status.code != PBD_OK) fail_msg("%s: %s", method, status.text);
    const double bytes = pbd_estimated_memory(method, &method_values, setup.scene.particles.count,
                                              pbd_particles_across(&setup.scene.particles));
    pbd_case_free(c, &setup);
    pbd_values_free(&case_values);
    pbd_values_free(&method_values);
    return bytes;
}

/* Estimates against the measured memory of a process, at sizes other than those of methods/memory.def. Methods that
 * factorise also run on other shapes: bars with aspect ratios of 5 to 1 and 2 to 1. */
static void test_memory_is_estimated(void **state) {
    (void)state;
    if (SANITIZED) skip(); /* a sanitizer needs additional memory */
#define LARGE \
    { "cells=14", "mode=dynamic", "duration=0.001", "width=0.2" }
#define STEP(cells) \
    { "cells=" cells, "mode=dynamic", "dt=0.001", "duration=0.001" }
    static const struct {
        const char *method, *words[4];
    } runs[] = {{"strain_energy", LARGE},
                {"pbd_distance", LARGE},
                {"vbd", LARGE},
                {"xpbi", LARGE},
                {"corrected_sph", LARGE},
                {"tlsph", LARGE},
                {"mpm", LARGE},
                {"quasi_newton", STEP("11")},
                {"projective_dynamics", STEP("11")},
                {"fem_implicit", {"cells=9", "width=0.5", "mode=static", "element=hex8"}},
                {"fem_implicit", {"cells=11", "width=0.5", "mode=static", "element=tet4"}},
                {"fem_implicit", {"cells=5", "width=0.5", "mode=static", "element=tet10"}},
                {"fem_implicit", {"cells=4", "width=0.5", "mode=static", "element=hex27"}},
                {"fem_linear", {"cells=9", "width=0.5", "mode=static", "E=1e5"}}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const double guess = estimate_of(runs[i].method, runs[i].words);
        const double peak = peak_of(runs[i].method, "f64", runs[i].words);
        print_message("[          ] %-20s %5.1f MB estimated, %5.1f held: %.2f\n", runs[i].method, 1e-6 * guess,
                      1e-6 * peak, guess / peak);
        assert_true(guess > 0.5 * peak && guess < 2 * peak);
    }
#define MEMORY(method, bytes) assert_int_equal(pbd_find_method(#method, &(const pbd_method_entry *){0}).code, PBD_OK);
#define FACTORS(method, parameter, value, bytes, across) MEMORY(method, bytes)
#include "methods/memory.def"
#undef MEMORY
#undef FACTORS
    assert_true(pbd_estimated_memory("desbrun_sph", NULL, 1000, 10) == 0);
    assert_true(pbd_estimated_memory("fem_linear", NULL, 1000, 0) == 0); /* no particles across: a plane scene */
    assert_false(pbd_announce_estimate(1.9e9, true) || pbd_announce_estimate(3e9, false));
    assert_true(pbd_announce_estimate(3e9, true));
}

/* Bytes per particle must be below a required limit. Resident memory counts as the difference between two sizes,
 * without what every run holds; device memory counts in full. */
static void test_memory_of_a_particle(void **state) {
    (void)state;
    if (SANITIZED) skip(); /* as above */
    static const char *const small[4] = {"cells=14", "mode=dynamic", "dt=0.001", "duration=0.002"};
    static const char *const large[4] = {"cells=22", "mode=dynamic", "dt=0.001", "duration=0.002"};
    const double more = 23.0 * 23 * 111 - 15.0 * 15 * 71;
    const double resident = (peak_of("corrected_sph", "f32", large) - peak_of("corrected_sph", "f32", small)) / more;
    print_message("[          ] corrected_sph, f32: %.0f resident bytes a particle\n", resident);
    assert_true(resident > 0 && resident < 1200);
    told t = tell("run", "goo_drop", "-m", "xpbi", "-p", "f64", "-t", "1", "-q", "--no-store", "--json", "-s",
                  "flow=drucker_prager", "-s", "particles=100000", "-s", "duration=2e-4");
    json_t *run = parse(t.out);
    const double device = metric(run, "device_bytes_peak") / metric(run, "particles");
    print_message("[          ] xpbi, f64: %.0f bytes of device memory a particle\n", device);
    assert_true(device > 0 && device < 800);
    json_decref(run);
    forget(&t);
}

/* A lattice of 5 x 9 x 21 sites in a box of 1 x 2 x 5: a section across the longest side has 5 x 9 sites. */
static void test_particles_across(void **state) {
    (void)state;
    enum { A = 5, B = 9, C = 21 };
    double *x = malloc(3 * A * B * C * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < A * B * C; i++) {
        x[3 * i] = 0.25 * (double)(i % A) - 7;
        x[3 * i + 1] = 5 - 0.25 * (double)(i / (A * B));
        x[3 * i + 2] = 0.25 * (double)(i / A % B);
    }
    /* a closed lattice has one more layer of sites than of cells: between 4 x 8 and 5 x 9 */
    const double across = pbd_particles_across(&(pbd_particles){.count = A * B * C, .positions = x});
    assert_true(across > sqrt(4 * 8) && across < sqrt(5 * 9));
    for (size_t i = 0; i < A * B * C; i++) x[3 * i + 1] = 0;
    assert_true(pbd_particles_across(&(pbd_particles){.count = A * B * C, .positions = x}) == 0);
    assert_true(pbd_particles_across(&(pbd_particles){0}) == 0);
    free(x);
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
        tell("run", "spinning_bar", "-m", "xpbi", "-t", "1", "-q", "-s", SANITIZED ? "duration=0.01" : "duration=0.1",
             "-v")};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        if (answers[i].code == 2) fail_msg("%s", answers[i].err);
        expect_narrow(&answers[i], 60);
        forget(&answers[i]);
    }
    unsetenv("COLUMNS");
}

/* `show` prints the same first lines as `run`, and the rest with -v. */
static void test_show(void **state) {
    (void)state;
    told made = tell(SHEAR, "--json"), list = tell("list", "runs", "--json");
    char id[33] = "";
    assert_non_null(strstr(list.out, "\"run_id\": \""));
    sscanf(strstr(list.out, "\"run_id\": \"") + strlen("\"run_id\": \""), "%32[0-9a-f]", id);
    forget(&made);
    forget(&list);
    told brief = tell("show", id), all = tell("show", id, "-v");
    expect_code(brief, 0);
    expect_code(all, 0);
    expect_line(brief.out, 0, "error      ");
    expect_line(brief.out, 1, "tolerance  ");
    expect_line(brief.out, 2, "time       ");
    expect_line(brief.out, 3, "run        ");
    expect_says(brief.out, "\nto repeat it\n  pbdbench run ");
    assert_null(strstr(brief.out, "kernel_launches"));
    expect_says(all.out, "kernel_launches");
    expect_says(all.out, "\nparameters\n");
    forget(&brief);
    forget(&all);
    setenv("COLUMNS", "60", 1);
    told narrow[] = {tell("show", id), tell("show", id, "-v")};
    unsetenv("COLUMNS");
    for (size_t i = 0; i < 2; i++) {
        expect_narrow(&narrow[i], 60);
        forget(&narrow[i]);
    }
}

static void test_dry_runs_are_narrow(void **state) {
    (void)state;
    setenv("COLUMNS", "60", 1);
    told answers[] = {tell("reproduce", "rodero2016", "--dry-run"), tell("reproduce", "rivals-contrast", "--dry-run"),
                      tell("rank", "--quick", "--dry-run")};
    unsetenv("COLUMNS");
    static const char *const begins[] = {"rodero2016-fig", "rivals-contrast: ", "6"};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        expect_code(answers[i], 0);
        expect_line(answers[i].out, 0, begins[i]);
        expect_says(answers[i].out, " to make");
        expect_narrow(&answers[i], 60);
        forget(&answers[i]);
    }
}

/* The program's output on a terminal of 60 columns; to be freed. */
static char *on_a_terminal(const char *const *words) {
    const struct winsize size = {.ws_row = 24, .ws_col = 60};
    enum { MOST = 1 << 20 };
    char *text = calloc(1, MOST);
    int terminal;
    assert_non_null(text);
    const pid_t child = forkpty(&terminal, NULL, NULL, &size);
    assert_true(child >= 0);
    if (child == 0) {
        unsetenv("COLUMNS");
        execv(getenv("PBDBENCH_PROGRAM"), (char *const *)(uintptr_t)words);
        _exit(99);
    }
    ssize_t got = 1;
    for (size_t used = 0; got > 0 && used < MOST - 1; used += (size_t)(got > 0 ? got : 0))
        got = read(terminal, text + used, MOST - 1 - used); /* EIO at the end */
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    close(terminal);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    return text;
}

/* A run of some seconds on a fast machine draws the progress line several times, with steps, time left and energy. */
static void test_terminal(void **state) {
    (void)state;
    static const char *const words[] = {"pbdbench",
                                        "run",
                                        "cantilever",
                                        "-m",
                                        "strain_energy",
                                        "-s",
                                        "mode=dynamic",
                                        "-s",
                                        "cells=8",
                                        "-s",
                                        "dt=0.0005",
                                        "-s",
                                        SANITIZED ? "duration=0.1" : "duration=1",
                                        "-t",
                                        "1",
                                        "--no-store",
                                        NULL};
    char *text = on_a_terminal(words);
    bool seen = false;
    for (char *at = text; *at;) {
        const size_t bytes = strcspn(at, "\r\n");
        char line[400];
        long done, of;
        double percent, left, energy;
        snprintf(line, sizeof line, "%.*s", (int)(bytes < 399 ? bytes : 399), at);
        const char *shown = strncmp(line, "\033[K", 3) == 0 ? line + 3 : line;
        size_t wide = 0;
        for (const char *c = shown; *c; c++) wide += ((unsigned char)*c & 0xc0) != 0x80;
        if (wide > 60) fail_msg("%zu columns: %s", wide, shown);
        if (sscanf(shown, "%ld of %ld steps, %lf %%, %lf s left, %lf J", &done, &of, &percent, &left, &energy) == 5) {
            seen = true;
            assert_int_equal(of, SANITIZED ? 200 : 2000);
            /* The last step is drawn too where it takes long. */
            if (!(done > 0 && done <= of && isfinite(energy))) fail_msg("%s", shown);
        }
        at += bytes;
        at += *at != '\0';
    }
    if (!seen) fail_msg("no line of progress: %s", text);
    expect_says(text, "error      none: cantilever has no reference");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_lines),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_too_slow),
        cmocka_unit_test(test_long_runs_are_announced),
        cmocka_unit_test(test_memory_is_measured),
        cmocka_unit_test(test_memory_is_estimated),
        cmocka_unit_test(test_memory_of_a_particle),
        cmocka_unit_test(test_particles_across),
        cmocka_unit_test(test_sixty_columns),
        cmocka_unit_test(test_show),
        cmocka_unit_test(test_dry_runs_are_narrow),
        cmocka_unit_test(test_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
