/* Out-of-tree methods: built as a user would build them, checked and run; and every way in which one can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <sqlite3.h>

#include "harness/process/child.h"
#include "tests/program.h"
#include "tests/run_json.h"
#include "tests/sanitized.h"

/* ---- Building out of tree ---------------------------------------------------------------------------------------- */

static void run_or_fail(const char *const *words) {
    pbd_child child;
    const pbd_status status = pbd_child_run(words, NULL, -1, &child);
    if (status.code != PBD_OK) fail_msg("%s", status.text);
    if (child.code != 0) fail_msg("%s %s: exit %d\n%s\n%s", words[0], words[1], child.code, child.out, child.err);
    pbd_child_free(&child);
}

/* Configures and builds `source` in workplace()/`folder`; `where` says where the package is. */
static void build_project(const char *source, const char *folder, const char *where) {
    const char *build = in_workplace(folder);
    run_or_fail((const char *const[]){PBD_TEST_CMAKE, "-S", source, "-B", build, "-G", PBD_TEST_GENERATOR,
                                      "-DCMAKE_C_COMPILER=" PBD_TEST_CC,
                                      "-DEXAMPLE=" PBD_TEST_SOURCE "/examples/plugin", where, NULL});
    run_or_fail((const char *const[]){PBD_TEST_CMAKE, "--build", build, NULL});
}

static int build_plugins(void **state) {
    (void)state;
    build_project(PBD_TEST_SOURCE "/tests/plugins", "plugins", "-Dpbdbench_DIR=" PBD_TEST_BUILD);
    return 0;
}

static const char *plugin(const char *name) {
    static char path[4][PATH_MAX + 100];
    static unsigned next;
    char *mine = path[next++ % 4];
    snprintf(mine, sizeof path[0], "%s/plugins/lib%s.so", workplace(), name);
    return mine;
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

/* One text from the store that the tests share; "" when there is none. */
static const char *ask(const char *query) {
    static char answer[400];
    sqlite3 *sql;
    sqlite3_stmt *stmt;
    if (sqlite3_open(in_workplace("runs.db"), &sql) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(sql));
    if (sqlite3_prepare_v2(sql, query, -1, &stmt, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(sql));
    *answer = '\0';
    if (sqlite3_step(stmt) == SQLITE_ROW) snprintf(answer, sizeof answer, "%s", sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    sqlite3_close(sql);
    return answer;
}

static void write_text(const char *name, const char *text) {
    FILE *file = fopen(in_workplace(name), "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail_msg("cannot write %s", name);
}

/* ---- A plug-in that is right ------------------------------------------------------------------------------------- */

static void test_example_is_checked(void **unused) {
    (void)unused;
    told t = tell("plugin", "check", plugin("mass_spring"), "--json");
    expect_code(t, 0);
    json_t *all = parse(t.out);
    assert_string_equal(json_string_value(json_object_get(all, "name")), "mass_spring 0.2");
    assert_int_equal(json_integer_value(json_object_get(all, "failed")), 0);
    assert_true(json_array_size(json_object_get(all, "checks")) > 30);
    json_decref(all);
    forget(&t);
    if (SANITIZED) return; /* 15 s a check */
    t = tell("plugin", "check", plugin("mass_spring"));
    expect_code(t, 0);
    expect_says(t.out, " 0 failed");
    forget(&t);
}

/* The lattice's continuum limit has the case's E and a Poisson's ratio of 1/4; a strain of 5 % and 4 cells cost some
 * per cent. The store names the plug-in, and a repeated run is found in it. */
static void test_example_runs(void **unused) {
    (void)unused;
    const char *const words[] = {
        "run", "cube_traction",       "-m", "mass_spring", "--plugin", plugin("mass_spring"),   "-s",     "nu=0.25",
        "-s",  "convention=standard", "-s", "cells=4",     "--db",     in_workplace("runs.db"), "--json", NULL};
    told t = tell_to(STDOUT_KEPT, words);
    expect_code(t, 0);
    json_t *run = parse(t.out);
    assert_true(fabs(metric(run, "displacement_ratio") - 1) < 0.1);
    char *id = strdup(json_string_value(json_object_get(run, "run_id")));
    json_decref(run);
    forget(&t);

    t = tell_to(STDOUT_KEPT, words);
    expect_code(t, 0);
    run = parse(t.out);
    assert_string_equal(json_string_value(json_object_get(run, "run_id")), id);
    json_decref(run);
    forget(&t);
    free(id);

    expect_says(ask("SELECT version FROM build JOIN run USING (build_id) JOIN cell USING (cell_id) "
                    "WHERE method = 'mass_spring'"),
                "with plug-in mass_spring 0.2");
    expect_says(ask("SELECT summary FROM method WHERE name = 'mass_spring'"), "a lattice of springs");
    t = tell("db", "check", "--db", in_workplace("runs.db"));
    expect_code(t, 0);
    forget(&t);
}

static void test_example_is_listed_and_benched(void **unused) {
    (void)unused;
    told t = tell("list", "methods", "--json", "--plugin", plugin("mass_spring"));
    expect_code(t, 0);
    json_t *all = parse(t.out), *last = json_array_get(all, json_array_size(all) - 1);
    assert_string_equal(json_string_value(json_object_get(last, "name")), "mass_spring");
    expect_says(json_string_value(json_object_get(last, "plugin")), "libmass_spring.so");
    json_decref(all);
    forget(&t);
    t = tell("run", "cube_shear", "-m", "mass_spring", "--plugin", plugin("mass_spring"), "--help");
    expect_code(t, 0);
    expect_says(t.out, "a quarter of the largest that is stable");
    forget(&t);
    t = tell("bench", "-c", "cube_shear", "-m", "mass_spring", "--plugin", plugin("mass_spring"), "-p", "f64", "-t",
             "1", "--no-store", "--benchmark_min_time=0.01");
    expect_code(t, 0);
    expect_says(t.out, "mass_spring/cube_shear/cpu/f64/threads:1");
    forget(&t);
}

/* reference=none loads the top with a total of E strain edge^2 = 0.05 * 2^2 N, a quarter on each of 4 nodes of 1 kg.
 * After 10 steps of 0.01 s each moves at 0.005 m/s; the sum of the 4 squares is 1e-4. */
static void test_kernels(void **unused) {
    (void)unused;
    static const char *const backends[] = {"cpu", "emu"}, *const precisions[] = {"f32", "f64"};
    for (int b = 0; b < 2; b++)
        for (int p = 0; p < 2; p++) {
            told t = tell("run", "cube_shear", "-m", "falling", "--plugin", plugin("falling"), "-s", "reference=none",
                          "-b", backends[b], "-p", precisions[p], "--no-store", "--json");
            expect_code(t, 0);
            json_t *run = parse(t.out);
            const double sum = metric(run, "sum_of_squared_speeds"), limit = p ? 1e-17 : 1e-10;
            print_message("    %s %s: %.17g\n", backends[b], precisions[p], sum);
            assert_true(fabs(sum - 1e-4) <= limit);
            assert_true(metric(run, "kernel_launches") == 20);
            json_t *launches = json_object_get(json_object_get(run, "metrics"), "kernel_launches");
            assert_string_equal(json_string_value(json_object_get(launches, "kind")), "cost");
            assert_non_null(json_object_get(json_object_get(run, "warnings"), "free_fall"));
            json_decref(run);
            forget(&t);
        }
    told t = tell("plugin", "check", plugin("falling"));
    expect_code(t, 0);
    expect_says(t.out, "no race was detected");
    forget(&t);
}

/* A built-in method gives the same numbers in a separate process. */
static void test_apart_is_the_same(void **unused) {
    (void)unused;
    json_t *run[2];
    for (int apart = 0; apart < 2; apart++) {
        if (apart) setenv("PBDBENCH_PLUGINS", plugin("mass_spring"), 1);
        told t = tell("run", "cube_torsion", "-m", "pbd_distance", "-s", "cells=2", "-t", "2", "--no-store", "--json");
        unsetenv("PBDBENCH_PLUGINS");
        expect_code(t, 0);
        run[apart] = parse(t.out);
        forget(&t);
    }
    assert_true(json_object_size(json_object_get(run[0], "metrics")) > 5);
    assert_true(json_equal(json_object_get(run[0], "metrics"), json_object_get(run[1], "metrics")));
    assert_true(json_equal(json_object_get(run[0], "warnings"), json_object_get(run[1], "warnings")));
    json_decref(run[0]);
    json_decref(run[1]);
}

static void write_suite(char path[PATH_MAX + 100]) {
    write_text("springs.yaml",
               "cells: [{name: traction, case: cube_traction, method: mass_spring, set: [nu=0.25, "
               "convention=standard]}]\n");
    snprintf(path, PATH_MAX + 100, "%s", in_workplace("springs.yaml"));
}

/* Two builds of one plug-in, here the same file, so no time is judged. */
static void test_two_builds_of_one(void **unused) {
    (void)unused;
    skip_if_sanitized(); /* a hundred processes */
    const char *const mine = plugin("mass_spring");
    told t = tell("compare", "mass_spring", "--plugin-a", mine, "--plugin-b", mine, "--case", "cube_traction", "-s",
                  "nu=0.25", "-s", "convention=standard", "--max-pairs", "8", "--max-load", "1000000", "--no-store",
                  "--json");
    assert_true(t.code == 0 || t.code == 4);
    json_t *all = parse(t.out);
    for (int arm = 0; arm < 2; arm++) {
        const json_t *run = json_object_get(all, arm ? "b" : "a");
        assert_string_equal(json_string_value(json_object_get(run, "name")), mine);
        assert_string_equal(json_string_value(json_object_get(run, "state")), "ok");
    }
    json_decref(all);
    forget(&t);
    char suite[PATH_MAX + 100];
    write_suite(suite);
    t = tell("gate", "--plugin", mine, "--baseline-plugin", mine, "--suite", suite, "--max-pairs", "12", "--max-load",
             "1000000", "--confirm-after", "0", "--no-store", "--quiet", "--json");
    assert_true(t.code == 0 || t.code == 4);
    expect_says(t.out, "\"displacement_error\"");
    forget(&t);
}

static void test_baseline_needs_the_method(void **unused) {
    (void)unused;
    const char *const mine = plugin("mass_spring"), *const other = plugin("falling");
    char suite[PATH_MAX + 100];
    write_suite(suite);
    told t = tell("gate", "--plugin", mine, "--baseline-plugin", other, "--suite", suite, "--no-store", "--quiet");
    expect_code(t, 4);
    expect_says(t.out, "mass_spring");
    forget(&t);
    t = tell("gate", "--baseline-plugin", mine, "--suite", suite);
    expect_code(t, 2);
    expect_says(t.err, "--baseline-plugin needs --plugin");
    forget(&t);
}

static void test_installed(void **unused) {
    (void)unused;
    skip_if_sanitized();
    char prefix[PATH_MAX + 40], program[PATH_MAX + 60];
    snprintf(prefix, sizeof prefix, "-DCMAKE_PREFIX_PATH=%s/prefix", workplace());
    run_or_fail(
        (const char *const[]){PBD_TEST_CMAKE, "--install", PBD_TEST_BUILD, "--prefix", in_workplace("prefix"), NULL});
    assert_int_equal(access(in_workplace("prefix/share/man/man1/pbdbench.1"), R_OK), 0);
    build_project(PBD_TEST_SOURCE "/examples/plugin", "by_prefix", prefix);
    snprintf(program, sizeof program, "%s/prefix/bin/pbdbench", workplace());
    run_or_fail((const char *const[]){program, "list", "methods", "--plugin",
                                      in_workplace("by_prefix/libmass_spring.so"), NULL});
}

/* ---- Libraries that cannot be used ------------------------------------------------------------------------------- */

static void expect_refused(const char *file, const char *says) {
    told t = tell("list", "methods", "--plugin", file);
    expect_code(t, 2);
    expect_says(t.err, says);
    assert_string_equal(t.out, "");
    forget(&t);
}

static void test_files_that_are_none(void **unused) {
    (void)unused;
    write_text("words.so", "no library\n");
    expect_refused(in_workplace("nowhere.so"), "cannot be found");
    expect_refused(workplace(), "is not a file");
    expect_refused(in_workplace("words.so"), "cannot be loaded");
    /* It loads, so the program exports every function of the contract; but it is no plug-in. */
    expect_refused(plugin("symbols"), "it has no symbol pbd_plugin");
    expect_refused(plugin("endless"), "one of its constructors does not return");
}

static void test_tables(void **unused) {
    (void)unused;
    static const struct {
        const char *fault, *says;
    } wrong[] = {{"plugin_abi", "of version 99, this program reads 3"},
                 {"method_abi", "built for contract 77 (PBD_METHOD_ABI), this program has 9"},
                 {"method_bytes", "says that it has 55555 bytes"},
                 {"newer_scene", "built for a newer program: it knows pbd_scene as"},
                 {"collider", "it knows pbd_collider as"},
                 {"no_sizes", "has no sizes of structs"},
                 {"no_methods", "has no methods"},
                 {"no_precision", "exists in no precision"},
                 {"no_create", "lacks its `create`"},
                 {"no_read", "lacks its `read`"},
                 {"no_destroy", "lacks its `destroy`"},
                 {"no_motion", "has neither `step` nor `solve`"},
                 {"no_load", "has `save` without `load`"},
                 {"no_params", "has no list of parameters"},
                 {"condition", "names 'solvr', which is no parameter"},
                 {"no_backend", "runs on no backend"},
                 {"cuda", "names an unknown backend"},
                 {"precisions", "declares f32, but was not compiled for it"},
                 {"taken", "method fem_linear exists already"},
                 {"bad_name", "'Not a name' cannot name a method"},
                 {"no_summary", "has no `summary`"},
                 {"default", "dt=7 is out of range"},
                 {"range", "of parameter dt is empty"},
                 {"doubled", "lists parameter dt twice"},
                 {"wild_pointer", "in its loading"},
                 {"constructor", "in its loading"},
                 {"leaves", "in its loading"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("PBD_FAULT", wrong[i].fault, 1);
        expect_refused(plugin("faulty"), wrong[i].says);
    }
    told t = tell("plugin", "check", plugin("faulty")); /* the last of them */
    expect_code(t, 2);
    forget(&t);
    unsetenv("PBD_FAULT");
}

/* ---- Runs that go wrong ------------------------------------------------------------------------------------------ */

static told run_faulty(const char *fault) {
    char word[60];
    snprintf(word, sizeof word, "fault=%s", fault);
    return tell("run", "cube_shear", "-m", "faulty", "--plugin", plugin("faulty"), "-s", "reference=none", "-s", word,
                "--db", in_workplace("runs.db"), "--json");
}

/* A failed run is reported and stored, with where and how it ended. */
static void test_runs_that_fail(void **unused) {
    (void)unused;
    static const struct {
        const char *fault, *state, *where, *how;
        bool crash; /* a sanitizer turns it into an exit code */
    } wrong[] = {{"crash_in_create", "failed", "method faulty", "crashed in create with signal 11 (Segmentation", true},
                 {"crash_in_solve", "failed", "in solve", "crashed in solve with signal 11 (Segmentation fault)", true},
                 {"crash_in_read", "failed", "in read", "crashed in read with signal 11", true},
                 {"abort", "failed", "in solve", "with signal 6 (Aborted)", true},
                 {"undeclared", "failed", "in create", "with signal 6 (Aborted)", true},
                 {"kill", "failed", "in solve", "was killed in solve (signal 9)", false},
                 {"exit", "failed", "in solve", "ended with exit code 7 in solve", true},
                 {"exit_0", "failed", "in solve", "ended with exit code 0 in solve", true},
                 {"fails", "failed", "", "this one gives up", false}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char query[200];
        told t = run_faulty(wrong[i].fault);
        expect_code(t, 5);
        json_t *run = parse(t.out);
        const char *says = json_string_value(json_object_get(run, "says"));
        assert_string_equal(json_string_value(json_object_get(run, "state")), wrong[i].state);
        expect_says(says, wrong[i].where);
        /* a sanitizer turns a crash into a report and an exit code */
        if (!SANITIZED || !wrong[i].crash) expect_says(says, wrong[i].how);
        snprintf(query, sizeof query, "SELECT says FROM run WHERE run_id = '%s' AND state = 'failed'",
                 json_string_value(json_object_get(run, "run_id")));
        assert_string_equal(ask(query), says);
        json_decref(run);
        forget(&t);
    }
}

static void test_not_finite(void **unused) {
    (void)unused;
    told t = tell("run", "cube_shear", "-m", "faulty", "--plugin", plugin("faulty"), "-s", "fault=not_finite", "--db",
                  in_workplace("runs.db"), "--json");
    expect_code(t, 5);
    json_t *run = parse(t.out);
    assert_string_equal(json_string_value(json_object_get(run, "state")), "diverged");
    assert_true(
        json_is_null(json_object_get(json_object_get(json_object_get(run, "metrics"), "displacement_error"), "value")));
    json_decref(run);
    forget(&t);
}

static void test_prints(void **unused) {
    (void)unused;
    told t = run_faulty("prints");
    expect_code(t, 0);
    expect_says(t.err, "a plug-in prints this");
    json_decref(parse(t.out)); /* stdout holds only the run */
    forget(&t);
}

static void test_sweep_goes_on(void **unused) {
    (void)unused;
    write_text("sweep.yaml",
               "runs:\n  - name: faults\n    case: cube_shear\n    method: faulty\n    set: [reference=none]\n"
               "    axes: [\"fault=crash_in_solve,none,exit\"]\n");
    const char *db = in_workplace("sweep.db");
    told t = tell("sweep", in_workplace("sweep.yaml"), "--plugin", plugin("faulty"), "--db", db);
    expect_code(t, 5);
    expect_says(t.out, "3 runs made, 0 already stored, 2 failed, diverged or unphysical");
    forget(&t);
    t = tell("sweep", in_workplace("sweep.yaml"), "--plugin", plugin("faulty"), "--db", db);
    expect_code(t, 5);
    expect_says(t.out, "2 runs made, 1 already stored, 2 failed, diverged or unphysical");
    forget(&t);
}

/* The manifest names the plug-in and identifies its content; shards load it by themselves. */
static void test_sweep_in_parts(void **unused) {
    (void)unused;
    char from[PATH_MAX + 100], dir[PATH_MAX + 100];
    snprintf(from, sizeof from, "%s", plugin("faulty"));
    snprintf(dir, sizeof dir, "%s", in_workplace("parts"));
    write_text("parts.yaml",
               "runs:\n  - name: faults\n    case: cube_shear\n    method: faulty\n    threads: 1\n"
               "    set: [reference=none]\n    axes: [\"fault=crash_in_solve,none\"]\n");
    run_or_fail((const char *const[]){"/bin/cp", from, in_workplace("libparts.so"), NULL});
    told t = tell("sweep", "plan", in_workplace("parts.yaml"), "--plugin", in_workplace("libparts.so"), "--shard-cells",
                  "1", "--dir", dir);
    expect_code(t, 0);
    forget(&t);
    t = tell("sweep", "submit", "--engine", "local", "--dir", dir, "--db", in_workplace("parts.db"));
    expect_code(t, 5);
    expect_says(t.out, "2 of 2 shards merged: 2 runs added, 0 already present, 1 failed, diverged or unphysical");
    forget(&t);
    run_or_fail((const char *const[]){"/bin/cp", plugin("mass_spring"), in_workplace("libparts.so"), NULL});
    t = tell("sweep", "run-shard", "0", "--dir", dir);
    expect_code(t, 2);
    expect_says(t.err, "differs from that of the plan (");
    forget(&t);
}

static void test_bench_that_crashes(void **unused) {
    (void)unused;
    told t = tell("bench", "-c", "cube_shear", "-m", "faulty", "--plugin", plugin("faulty"), "-s",
                  "fault=crash_in_step", "-p", "f64", "-t", "1", "--no-store");
    expect_code(t, 5);
    expect_says(t.err, SANITIZED ? "a bench with plug-ins" : "a bench with plug-ins crashed with signal 11");
    forget(&t);
}

/* A plug-in file with other content is another build: its runs are made again. */
static void test_another_file(void **unused) {
    (void)unused;
    char from[PATH_MAX + 100];
    snprintf(from, sizeof from, "%s", plugin("mass_spring"));
    run_or_fail((const char *const[]){"/bin/cp", from, in_workplace("libother.so"), NULL});
    FILE *file = fopen(in_workplace("libother.so"), "ab");
    assert_non_null(file);
    fputs("behind the end of a library stands what nobody reads", file);
    fclose(file);
    const char *const words[] = {
        "run",  "cube_traction",         "-m", "mass_spring", "--plugin", in_workplace("libother.so"),
        "--db", in_workplace("runs.db"), NULL};
    const char *const first[] = {"run",  "cube_traction",         "-m", "mass_spring", "--plugin", from,
                                 "--db", in_workplace("runs.db"), NULL};
    told t = tell_to(STDOUT_KEPT, first);
    expect_code(t, 0);
    forget(&t);
    t = tell_to(STDOUT_KEPT, words);
    expect_code(t, 0);
    assert_null(strstr(t.out, "already in the store"));
    forget(&t);
    t = tell_to(STDOUT_KEPT, words);
    expect_code(t, 0);
    expect_says(t.out, "already in the store");
    forget(&t);
}

/* `kill` sends SIGINT to the program alone, unlike Ctrl-C; the program passes it on to the method's process. */
static void test_interrupted(void **unused) {
    (void)unused;
    const char *began = in_workplace("began");
    setenv("PBD_BEGAN", began, 1);
    const pid_t child = fork();
    if (child == 0) {
        const char *program = getenv("PBDBENCH_PROGRAM");
        if (!freopen("/dev/null", "w", stdout)) _exit(126);
        execl(program, program, "run", "cube_shear", "-m", "faulty", "--plugin", plugin("faulty"), "-s",
              "reference=none", "-s", "fault=restless", "--db", in_workplace("runs.db"), "-q", "--json", (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 100000 && access(began, F_OK) != 0; i++) usleep(1000);
    kill(child, SIGINT);
    assert_int_equal(wait_for(child), 130);
    assert_string_equal(ask("SELECT says FROM run WHERE state = 'interrupted'"), "asked to stop");
}

/* ---- What the checks find ---------------------------------------------------------------------------------------- */

static void test_checks_find(void **unused) {
    (void)unused;
    static const struct {
        const char *fault, *check, *says;
    } wrong[] = {{"default_scene", "scene", "but its positions changed"},
                 {"default_forgets", "repeatable", "two results from one saved state"},
                 {"default_bound_to_axes", "rotation", "the result depends on the orientation"},
                 {"default_bound_to_place", "translation", "the result depends on the position in space"},
                 {"default_drifts", "rest", "without load a body at rest moves"},
                 {"default_drifts", "held", "a fixed particle moves"},
                 {"default_asleep", "moves", "nothing moves under the case's load"},
                 {"default_not_finite", "moves", "the position of particle 0 is"},
                 {"default_crash_in_step", "moves", "in step (call 3)"},
                 {"default_exit", "run", "in solve"}};
    /* with sanitizers each fault takes 15 s, so only a crash is tested */
    for (size_t i = SANITIZED ? 8 : 0; i < (SANITIZED ? 9 : sizeof wrong / sizeof *wrong); i++) {
        setenv("PBD_FAULT", wrong[i].fault, 1);
        told t = tell("plugin", "check", plugin("faulty"), "--json");
        unsetenv("PBD_FAULT");
        expect_code(t, 3);
        json_t *all = parse(t.out), *check;
        size_t k;
        bool found = false;
        json_array_foreach(json_object_get(all, "checks"), k, check) found |=
            strcmp(json_string_value(json_object_get(check, "check")), wrong[i].check) == 0 &&
            strcmp(json_string_value(json_object_get(check, "verdict")), "fail") == 0 &&
            strstr(json_string_value(json_object_get(check, "says")), wrong[i].says);
        if (!found) fail_msg("%s: no check %s says '%s':\n%s", wrong[i].fault, wrong[i].check, wrong[i].says, t.out);
        json_decref(all);
        forget(&t);
    }
    if (SANITIZED) return;
    told t = tell("plugin", "check", plugin("faulty"), "-q"); /* without a fault it passes */
    expect_code(t, 0);
    forget(&t);
}

static void test_words(void **unused) {
    (void)unused;
    static const struct {
        const char *const words[4];
        const char *says;
    } wrong[] = {{{"plugin", NULL}, "plugin check FILE"},
                 {{"plugin", "chekc", NULL}, "did you mean 'check'"},
                 {{"plugin", "check", NULL}, "needs a file"},
                 {{"run", "cube_shear", "--plugin", NULL}, "--plugin needs a value"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        told t = tell_to(STDOUT_KEPT, wrong[i].words);
        expect_code(t, 2);
        expect_says(t.err, wrong[i].says);
        forget(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example_is_checked),
        cmocka_unit_test(test_example_runs),
        cmocka_unit_test(test_example_is_listed_and_benched),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_apart_is_the_same),
        cmocka_unit_test(test_two_builds_of_one),
        cmocka_unit_test(test_baseline_needs_the_method),
        cmocka_unit_test(test_installed),
        cmocka_unit_test(test_files_that_are_none),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_runs_that_fail),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_prints),
        cmocka_unit_test(test_sweep_goes_on),
        cmocka_unit_test(test_sweep_in_parts),
        cmocka_unit_test(test_bench_that_crashes),
        cmocka_unit_test(test_another_file),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_checks_find),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests_name("plugin", tests, build_plugins, remove_workplace);
}
