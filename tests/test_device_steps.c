/* The demands of a step on a device: memory, waits and launches, by the counters of exec; repeated launches give the
 * same results as single ones; and if device memory is too small, the error states what was needed and what was free.
 */
#include "harness/catalog/resolve.h"
#include "tests/ladder.h"
#include "tests/program.h"

/* A method on a small case. `waits`: at most this many per step after warm-up; the method's README says why there are
 * any. `allocations`: per step, where lists of neighbours grow. */
static const struct device_step {
    const char *method, *case_name, *settings, *variant;
    unsigned waits, allocations;
    enum { NOTHING, STEP, SWEEPS } repeats; /* what is repeated as a graph: each step, or its iterations */
} steps[] = {
    {"pbd_distance", "cube_shear", "cells=2", "solver=coloured_gs", 0, 0, STEP},
    {"pbd_distance", "cube_shear", "cells=2", "solver=jacobi", 0, 0, STEP},
    {"strain_based", "uniaxial", "cells=2 mode=dynamic stretch=1.1", "", 0, 0, STEP},
    {"strain_based", "uniaxial", "cells=2 mode=dynamic stretch=1.1", "solver=jacobi", 0, 0, STEP},
    {"strain_energy", "uniaxial", "cells=2 mode=dynamic stretch=1.1", "", 0, 0, STEP},
    {"strain_energy", "uniaxial", "cells=2 mode=dynamic stretch=1.1", "solver=jacobi", 0, 0, STEP},
    {"projective_dynamics", "uniaxial", "cells=2 mode=dynamic stretch=1.1 material=projective",
     "solve=jacobi iterations=5", 0, 0, STEP},
    {"projective_dynamics", "uniaxial", "cells=2 mode=dynamic stretch=1.1 material=projective", "iterations=5", 10, 0,
     false},
    {"corrected_sph", "uniaxial", "cells=2 mode=dynamic stretch=1.1", "solver=jacobi", 0, 0, STEP},
    {"corrected_sph", "uniaxial", "cells=2 mode=dynamic stretch=1.1", "solver=coloured_gs", 0, 0, STEP},
    {"mlsrk", "uniaxial", "cells=2 mode=dynamic stretch=1.1", "solver=jacobi", 0, 0, STEP},
    {"corrected_sph", "uniaxial", "cells=2 mode=dynamic stretch=1.1", "hourglass=1", 0, 0, STEP},
    {"tlsph", "uniaxial", "cells=2 mode=dynamic stretch=1.1", "", 0, 0, STEP},
    {"xpbd_cloth", "hanging_sheet", "cells=4 material=stvk", "", 0, 0, STEP},
    {"corrected_sph", "blocks_collide", "particles=300 flow=none", "", 4, 0, SWEEPS},
    {"pbf", "dam_break", "cells=4", "", 4, 0, SWEEPS},
    {"gissler_snow", "sand_column", "particles=300 flow=snow", "", 60, 1, NOTHING},
    {"chen_mlsrk", "bunny_drop", "particles=300 self_contact=off", "", 2, 0, NOTHING},
    {"xpbi", "sand_column", "particles=100", "", 4, 0, SWEEPS},
    {"xpbi", "sand_column", "particles=100", "solver=jacobi xsph=0", 4, 0, SWEEPS},
    {"gissler_snow", "goo_drop", "particles=300", "", 5, 0, NOTHING},
    {"xpbd_grains", "sand_column", "particles=300", "", 2, 0, SWEEPS},
    {"mpm", "sand_column", "particles=300", "", 1, 0, SWEEPS},
    {"desbrun_sph", "sand_column", "particles=300", "steps=fixed", 8, 1, NOTHING},
    {"desbrun_sph", "sand_column", "particles=300", "", 120, 1, NOTHING},
};
enum { STEPS = sizeof steps / sizeof *steps, WARM = 4, COUNTED = 2 };

static void open_case(const struct device_step *d, int backend, pbd_precision precision, pbd_setup *setup, solver *s) {
    const pbd_case *c;
    const pbd_method_entry *entry;
    pbd_setting setting[8];
    pbd_values values = {0}, unused = {0};
    size_t count = 0;
    char text[200], *save = NULL;
    snprintf(text, sizeof text, "%s", d->settings);
    check_ok(pbd_find_case(d->case_name, &c));
    check_ok(pbd_find_method(d->method, &entry));
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        check_ok(pbd_setting_parse(word, &setting[count++]));
    check_ok(pbd_resolve(c, entry->by_precision[precision], setting, count, &values, &unused));
    for (size_t i = 0; i < count; i++) pbd_setting_free(&setting[i]);
    pbd_values_free(&unused);
    *setup = (pbd_setup){0};
    check_ok(pbd_case_build(c, &values, setup));
    check_ok(try_open_on(backend, s, d->method, precision, 1, &setup->scene, d->variant));
    pbd_values_free(&values);
}

static void close_case(const struct device_step *d, pbd_setup *setup, solver *s) {
    const pbd_case *c;
    check_ok(pbd_find_case(d->case_name, &c));
    solver_close(s);
    pbd_case_free(c, setup);
}

static void march(solver *s, int count) {
    double dt = 0;
    for (size_t i = 0; i < s->values.count; i++)
        if (strcmp(s->values.item[i].param->name, "dt") == 0) dt = s->values.item[i].number;
    for (int i = 0; i < count; i++) check_ok(s->method->step(s->state, dt > 0 ? dt : 1e-3));
}

/* Counts steps 5 and 6: methods measure their residuals only in others (1, 2, 4, 8...). */
static void test_a_warm_step_asks_for_little(void **unused) {
    (void)unused;
    for (size_t i = 0; i < STEPS; i++) {
        const struct device_step *d = &steps[i];
        pbd_setup setup;
        solver s;
        open_case(d, PBD_CPU, PBD_PRECISION_F64, &setup, &s);
        march(&s, WARM);
        pbd_exec_reset_totals(s.exec);
        march(&s, COUNTED);
        const pbd_exec_totals totals = pbd_exec_read_totals(s.exec);
        print_message("    %s %s: %g launches, %g waits, %g allocations a step\n", d->method, d->variant,
                      (double)totals.launches / COUNTED, (double)totals.waits / COUNTED,
                      (double)totals.allocations / COUNTED);
        if (totals.allocations > COUNTED * d->allocations)
            fail_msg("%s allocates %g times a step", d->method, (double)totals.allocations / COUNTED);
        if (totals.waits > COUNTED * d->waits)
            fail_msg("%s waits %g times a step, %u are allowed", d->method, (double)totals.waits / COUNTED, d->waits);
        close_case(d, &setup, &s);
    }
}

/* On emu, where a repeat runs from a recorded list, like a CUDA graph. */
static double *positions_after(const struct device_step *d, pbd_precision precision, int count, uint64_t *replayed,
                               size_t *particles) {
    pbd_setup setup;
    solver s;
    open_case(d, PBD_EMU, precision, &setup, &s);
    march(&s, count);
    *replayed = pbd_exec_read_totals(s.exec).replayed;
    *particles = setup.scene.particles.count;
    double *x = positions_of(&s, setup.scene.particles.count);
    close_case(d, &setup, &s);
    return x;
}

static void check_repeats(const struct device_step *d, pbd_precision precision) {
    uint64_t replayed, none;
    size_t n;
    const int count = d->repeats == STEP ? 3 : 4; /* odd and even substeps have a graph each */
    double *together = positions_after(d, precision, count, &replayed, &n);
    setenv("PBDBENCH_GRAPHS", "off", 1);
    double *alone = positions_after(d, precision, count, &none, &n);
    unsetenv("PBDBENCH_GRAPHS");
    print_message("    %s %s, %s: %llu launches of %d steps replayed\n", d->method, d->variant,
                  pbd_precision_name(precision), (unsigned long long)replayed, count);
    assert_int_equal(none, 0);
    assert_true(replayed > 0);
    assert_memory_equal(together, alone, 3 * n * sizeof *alone);
    free(together);
    free(alone);
}

static void test_repeats_change_nothing(void **unused) {
    (void)unused;
    for (size_t i = 0; i < STEPS; i++) {
        if (steps[i].repeats == NOTHING) continue;
        /* Steps with lists take long on emu: one precision each. */
        if (steps[i].repeats == STEP || i % 2 == 0) check_repeats(&steps[i], PBD_PRECISION_F32);
        if (steps[i].repeats == STEP || i % 2 == 1) check_repeats(&steps[i], PBD_PRECISION_F64);
    }
}

/* A different step in between must not repeat the last one, and gives the right result. */
static void test_a_changed_step_is_no_repeat(void **unused) {
    (void)unused;
    double *x[2];
    size_t n = 0;
    for (int on = 0; on < 2; on++) {
        pbd_setup setup;
        solver s;
        static const double dt[] = {0.01, 0.01, 0.01, 0.02, 0.01, 0.01, 0.01};
        if (!on) setenv("PBDBENCH_GRAPHS", "off", 1);
        open_case(&steps[0], PBD_EMU, PBD_PRECISION_F64, &setup, &s);
        unsetenv("PBDBENCH_GRAPHS");
        for (int i = 0; i < 7; i++) check_ok(s.method->step(s.state, dt[i]));
        n = setup.scene.particles.count;
        x[on] = positions_of(&s, n);
        close_case(&steps[0], &setup, &s);
    }
    assert_memory_equal(x[0], x[1], 3 * n * sizeof(double));
    free(x[0]);
    free(x[1]);
}

/* ---- Memory that runs out ---------------------------------------------------------------------------------------- */

static void test_too_small_a_device(void **unused) {
    (void)unused;
    pbd_exec *exec;
    void *first = NULL, *second = NULL;
    setenv("PBDBENCH_DEVICE_MEMORY", "3k", 1);
    for (int backend = PBD_CPU; backend <= PBD_EMU; backend *= 2) {
        check_ok(pbd_exec_create(backend, 1, &exec));
        check_ok(pbd_alloc(exec, 2048, &first));
        const pbd_status status = pbd_alloc(exec, 1025, &second);
        assert_int_equal(status.code, PBD_FAILED);
        assert_non_null(strstr(status.text,
                               "out of device memory: a buffer of 1025 bytes is needed, 1024 of 3072 are "
                               "free"));
        assert_null(second);
        check_ok(pbd_alloc(exec, 1024, &second));
        pbd_free(exec, first);
        pbd_free(exec, second);
        pbd_exec_destroy(exec);
    }
    setenv("PBDBENCH_DEVICE_MEMORY", "much", 1);
    const pbd_status status = pbd_exec_create(PBD_CPU, 1, &exec);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    assert_non_null(strstr(status.text, "PBDBENCH_DEVICE_MEMORY=much is not a size"));
    unsetenv("PBDBENCH_DEVICE_MEMORY");
}

/* For every method, wherever memory runs out: a message and no crash. Leaks are found by the sanitizer build, in which
 * device memory is host memory. */
static void test_every_method_bears_it(void **unused) {
    (void)unused;
    for (size_t i = 0; i < STEPS; i++) {
        const struct device_step *d = &steps[i];
        pbd_setup setup;
        solver s;
        open_case(d, PBD_CPU, PBD_PRECISION_F64, &setup, &s);
        const size_t peak = pbd_exec_read_totals(s.exec).peak;
        close_case(d, &setup, &s);
        for (int part = 1; part < 8; part += 2) {
            char limit[32];
            const pbd_case *c;
            snprintf(limit, sizeof limit, "%zu", peak * (size_t)part / 8);
            check_ok(pbd_find_case(d->case_name, &c));
            open_case(d, PBD_CPU, PBD_PRECISION_F64, &setup, &s); /* only to get the scene */
            solver_close(&s);
            setenv("PBDBENCH_DEVICE_MEMORY", limit, 1);
            const pbd_status status =
                try_open_on(PBD_CPU, &s, d->method, PBD_PRECISION_F64, 1, &setup.scene, d->variant);
            unsetenv("PBDBENCH_DEVICE_MEMORY");
            assert_int_equal(status.code, PBD_FAILED);
            if (!strstr(status.text, "out of device memory")) fail_msg("%s: %s", d->method, status.text);
            s.state = NULL;
            solver_close(&s);
            pbd_case_free(c, &setup);
        }
    }
}

/* As a user sees it: the run is stored as failed, with the message; exit code 5. */
static void test_the_run_is_stored_as_failed(void **unused) {
    (void)unused;
    for (int on = 0; on < 2; on++) {
        const char *db = in_workplace(on ? "emu.db" : "cpu.db");
        setenv("PBDBENCH_DEVICE_MEMORY", "20k", 1);
        told run = tell_input(STDOUT_KEPT, NULL,
                              (const char *const[]){"run", "cube_shear", "-m", "pbd_distance", "-s", "cells=5", "-b",
                                                    on ? "emu" : "cpu", "--db", db, NULL});
        unsetenv("PBDBENCH_DEVICE_MEMORY");
        assert_int_equal(run.code, 5);
        told list = tell_input(STDOUT_KEPT, NULL, (const char *const[]){"list", "runs", "--json", "--db", db, NULL});
        assert_int_equal(list.code, 0);
        assert_non_null(strstr(list.out, "\"failed\""));
        assert_non_null(strstr(list.out, "out of device memory: a buffer of "));
        forget(&run);
        forget(&list);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_warm_step_asks_for_little), cmocka_unit_test(test_repeats_change_nothing),
        cmocka_unit_test(test_a_changed_step_is_no_repeat), cmocka_unit_test(test_too_small_a_device),
        cmocka_unit_test(test_every_method_bears_it),       cmocka_unit_test(test_the_run_is_stored_as_failed),
    };
    return cmocka_run_group_tests_name("device_steps", tests, NULL, remove_workplace);
}
