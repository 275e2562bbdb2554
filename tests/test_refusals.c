/* A run that cannot start is bad input: exit code 2, a sentence that says what to set, nothing stored. Among several
 * runs these are named and the others are made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/program.h"

static void write_text(const char *name, const char *text) {
    FILE *file = fopen(in_workplace(name), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Calls `pbdbench run` with these arguments. */
static void expect_refused(const char *const *words, const char *says) {
    told t = tell_to(STDOUT_KEPT, words);
    expect_code(t, 2);
    expect_says(t.err, says);
    assert_string_equal(t.out, "");
    forget(&t);
}

static void test_modes(void **unused) {
    (void)unused;
    expect_refused((const char *const[]){"run", "cantilever", "-m", "strain_energy", NULL}, "set mode=dynamic");
    expect_refused((const char *const[]){"run", "uniaxial", "-m", "material_point", "-s", "mode=dynamic", NULL},
                   "set mode=static");
    expect_refused((const char *const[]){"run", "collapse", "-m", "material_point", NULL},
                   "has only a static solver, and case collapse moves: choose another method");
}

static void test_elements(void **unused) {
    (void)unused;
    write_text("part.inp",
               "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*ELEMENT, TYPE=C3D4\n1, 1,2,3,4\n*NSET, NSET=base\n1,2,3\n");
    char mesh[PATH_MAX + 400];
    snprintf(mesh, sizeof mesh, "file=%s", in_workplace("part.inp"));
    expect_refused((const char *const[]){"run", "mesh", "-m", "fem_implicit", "-s", mesh, "-s", "fixed=base", NULL},
                   "no hexahedra, which the element requires: set element=tet10");
    expect_refused((const char *const[]){"run", "towel", "-m", "fem_implicit", NULL},
                   "neither tetrahedra nor hexahedra");
}

/* A scene of smoothed particles has no Young's modulus, which elastic methods need. */
static void test_matter(void **unused) {
    (void)unused;
    for (int k = 0; k < 2; k++)
        expect_refused((const char *const[]){"run", "liquid_drop", "-m", k ? "mlsrk" : "corrected_sph", NULL},
                       "needs elastic matter, but this scene has E=0 Pa");
}

/* A body that starts as a ball of a tenth of its size is partly inverted, where a plain neo-Hookean law takes the
 * logarithm of a negative number. The run ends at the next observation and reports this with the time reached. */
static void test_a_run_that_is_nowhere_ends(void **unused) {
    (void)unused;
    static const char *const methods[] = {"corrected_sph", "strain_energy"};
    for (size_t k = 0; k < 2; k++) {
        const char *db = in_workplace(k ? "nowhere1.db" : "nowhere0.db");
        told t = tell_to(STDOUT_KEPT, (const char *const[]){"run", "recovery", "-m", methods[k], "-s", "particles=200",
                                                            "--json", "--db", db, NULL});
        expect_code(t, 5);
        expect_says(t.out, "\"state\":\"diverged\"");
        expect_says(t.out, "this material has no energy where it is inverted: use join=shifted");
        expect_says(t.out, "\"simulated_time\":{\"value\":0.005");
        expect_says(t.out, "has a non-finite position after 0.005 of 1 s");
        forget(&t);
        t = tell_to(STDOUT_KEPT, (const char *const[]){"run", "recovery", "-m", methods[k], "-s", "particles=200", "-s",
                                                       "join=shifted", "-q", "--db", db, NULL});
        expect_code(t, 0);
        forget(&t);
    }
}

static void expect_two_runs(const char *db) {
    told t = tell_to(STDOUT_KEPT, (const char *const[]){"list", "runs", "--json", "--db", db, NULL});
    expect_code(t, 0);
    size_t runs = 0;
    for (const char *at = t.out; (at = strstr(at, "\"run_id\"")) != NULL; at++) runs++;
    assert_int_equal(runs, 2);
    forget(&t);
}

/* The sweep and `run -a` both store the two runs that can start. */
static void test_the_rest_goes_on(void **unused) {
    (void)unused;
    const char *says =
        "run refused: heavy_drop fem_implicit material=neo_hookean yield_strain=0.5: plastic flow splits Green's "
        "strain";
    write_text("sweep.yaml",
               "runs:\n  - name: laws\n    case: heavy_drop\n    method: fem_implicit\n"
               "    set: [\"cells=1\", \"element=hex8\", \"dt=0.2\", \"duration=1\", \"load_time=0.5\", \"creep=0\","
               " \"object_mass=1e-6\"]\n"
               "    axes: [\"material=stvk,neo_hookean\", \"yield_strain=0.5,1\"]\n");
    char db[PATH_MAX + 20];
    snprintf(db, sizeof db, "%s", in_workplace("sweep.db"));
    told t = tell_to(STDOUT_KEPT, (const char *const[]){"sweep", in_workplace("sweep.yaml"), "--db", db, NULL});
    expect_code(t, 2);
    expect_says(t.err, says);
    expect_says(t.out, "2 runs made, 0 already stored, 0 failed, diverged or unphysical, 2 refused");
    forget(&t);
    expect_two_runs(db);
    snprintf(db, sizeof db, "%s", in_workplace("run.db"));
    t = tell_to(STDOUT_KEPT, (const char *const[]){"run",  "heavy_drop",
                                                   "-m",   "fem_implicit",
                                                   "-s",   "cells=1",
                                                   "-s",   "element=hex8",
                                                   "-s",   "dt=0.2",
                                                   "-s",   "duration=1",
                                                   "-s",   "load_time=0.5",
                                                   "-s",   "creep=0",
                                                   "-s",   "object_mass=1e-6",
                                                   "-a",   "material=neo_hookean,stvk",
                                                   "-a",   "yield_strain=0.5,1",
                                                   "--db", db,
                                                   NULL});
    expect_code(t, 2);
    expect_says(t.err, says);
    forget(&t);
    expect_two_runs(db);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_matter),
        cmocka_unit_test(test_a_run_that_is_nowhere_ends),
        cmocka_unit_test(test_the_rest_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
