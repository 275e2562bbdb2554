/* Engines: methods in a process of their own, in C++ and in Python, and all kinds of faulty ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "tests/program.h"
#include "tests/run_json.h"
#include "tests/sanitized.h"

/* ---- Engines ----------------------------------------------------------------------------------------------------- */

static void write_text(const char *name, const char *text) {
    FILE *file = fopen(in_workplace(name), "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail_msg("cannot write %s", name);
}

/* Writes an engine.yaml into the workplace and returns its path. */
static const char *engine(const char *name, const char *command, const char *environment) {
    char file[100], text[3 * PATH_MAX];
    snprintf(file, sizeof file, "%s.yaml", name);
    snprintf(text, sizeof text,
             "name: %s\nwhat: an engine of a test\nsource: tests\nlicence: MIT\ncommand: [%s]\nenvironment: [%s]\n"
             "install: make it\n",
             name, command, environment);
    write_text(file, text);
    static char path[8][PATH_MAX + 320];
    static unsigned next;
    char *mine = path[next++ % 8];
    snprintf(mine, sizeof path[0], "%s/%s", workplace(), file);
    return mine;
}

static const char *faulty(const char *environment) { return engine("faulty", PBD_TEST_FAULTY, environment); }
static const char *springs(void) { return engine("springs", PBD_TEST_SPRINGS, ""); }

static const json_t *check_named(const json_t *all, const char *name) {
    const json_t *checks = json_object_get(all, "checks"), *row;
    size_t i;
    json_array_foreach(checks, i,
                       row) if (strcmp(json_string_value(json_object_get(row, "check")), name) == 0) return row;
    fail_msg("no check %s", name);
    return NULL;
}

static void expect_verdict(const json_t *all, const char *name, const char *verdict) {
    assert_string_equal(json_string_value(json_object_get(check_named(all, name), "verdict")), verdict);
}

#define BAR(file) \
    "cantilever", "-s", "mode=dynamic", "-s", "duration=0.02", "-s", "cells=1", "-t", "1", "--engine", file

/* ---- One that is right ------------------------------------------------------------------------------------------- */

/* With symplectic Euler a body falls by g dt^2 n(n + 1)/2. */
static void expect_symplectic_fall(const json_t *all) {
    const double fallen = json_number_value(json_object_get(check_named(all, "free fall"), "measured"));
    assert_true(fabs(fallen - 9.81 * 1e-6 * 100 * 101 / 2) < 1e-13);
    expect_verdict(all, "free fall", "pass");
}

/* The check of the modulus is skipped, since a lattice of springs has none. */
static void check_springs(const char *file) {
    told t = tell("engine", "check", file, "--case", "cantilever", "--json");
    expect_code(t, 0);
    json_t *all = parse(t.out);
    expect_symplectic_fall(all);
    expect_verdict(all, "modulus", "skipped");
    expect_verdict(all, "repeatable", "pass");
    expect_verdict(all, "rotation", "pass");
    json_decref(all);
    forget(&t);
}

static void test_cpp(void **unused) {
    (void)unused;
    check_springs(springs());
}

static const char *numpy(void) {
    static const char *const pythons[] = {"python3", "/usr/bin/python3"};
    for (int i = 0; i < 2; i++) {
        char command[200];
        snprintf(command, sizeof command, "%s -c 'import numpy' 2>/dev/null", pythons[i]);
        if (system(command) == 0) return pythons[i];
    }
    return NULL;
}

/* The minimal engine in Python; NULL without NumPy. */
static const char *minimal(void) {
    const char *python = numpy();
    char command[PATH_MAX];
    if (!python) {
        print_message("    skipped: there is no NumPy here (sudo apt-get install python3-numpy)\n");
        return NULL;
    }
    snprintf(command, sizeof command, "%s, %s/examples/engines/minimal.py", python, PBD_TEST_SOURCE);
    return engine("minimal", command,
                  "PYTHONPATH=" PBD_TEST_SOURCE "/examples/engines/python, PYTHONDONTWRITEBYTECODE=1");
}

/* The same lattice by both packages: the results differ only by the order of sums. */
static void test_python(void **unused) {
    (void)unused;
    const char *file = minimal();
    if (!file) skip();
    check_springs(file);
    double tip[2];
    for (int i = 0; i < 2; i++) {
        told t = tell("run", BAR(i ? springs() : file), "-m", i ? "springs" : "minimal", "-s", "stiffness=5000",
                      "--no-store", "--json");
        expect_code(t, 0);
        json_t *run = parse(t.out);
        tip[i] = metric(run, "tip_deflection");
        assert_true(metric(run, "spring_forces") > 0);
        json_decref(run);
        forget(&t);
    }
    print_message("    tip %.17g by Python, %.17g by C++\n", tip[0], tip[1]);
    assert_true(fabs(tip[0] - tip[1]) < 1e-12 * tip[0] && tip[0] > 1e-4);
}

/* The gate accepts a correct mapping of parameters, and detects each wrong one in the expected checks. Modulus and
 * ratio are exact up to the sampling of five periods and strains of 1e-3. */
static void test_gate(void **unused) {
    (void)unused;
    static const char *const names[] = {"free fall", "modulus", "Poisson", "cantilever", "frequency"};
    static const struct {
        const char *wrong;
        bool passes[5];
    } cells[] = {{"wrong=none", {true, true, true, true, true}},
                 {"wrong=E", {true, false, true, false, false}},
                 {"wrong=nu", {true, true, false, true, true}},
                 {"wrong=masses", {true, false, true, false, false}},
                 {"wrong=gravity", {false, false, true, false, true}}};
    const char *file = engine("elastic", PBD_TEST_ELASTIC, "");
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        told t = tell("engine", "check", file, "--gate", "-s", cells[i].wrong, "--json");
        json_t *all = parse(t.out);
        for (int k = 0; k < 5; k++) {
            const json_t *check = check_named(all, names[k]);
            print_message("    %s, %s: %s\n", cells[i].wrong, names[k],
                          json_string_value(json_object_get(check, "says")));
        }
        for (int k = 0; k < 5; k++) expect_verdict(all, names[k], cells[i].passes[k] ? "pass" : "fail");
        expect_code(t, i == 0 ? 0 : 3);
        json_decref(all);
        forget(&t);
    }
}

/* Particles without cells fall as a block of liquid or of sand. In still_water this engine's liquid falls through the
 * floor. */
static void test_gate_of_particles(void **unused) {
    (void)unused;
    static const char *const matters[] = {"FAULTY_HELLO=liquid", "FAULTY_HELLO=sand"};
    for (int i = 0; i < 2; i++) {
        told t = tell("engine", "check", faulty(matters[i]), "--gate", "--json");
        expect_code(t, i == 0 ? 3 : 0);
        json_t *all = parse(t.out);
        expect_symplectic_fall(all);
        expect_verdict(all, "modulus", "skipped");
        expect_verdict(all, "cantilever", "skipped");
        if (i == 0) {
            expect_verdict(all, "still water", "fail");
            expect_says(json_string_value(json_object_get(check_named(all, "still water"), "says")), "unphysical");
        }
        json_decref(all);
        forget(&t);
    }
}

/* One cube of five tetrahedra held at its left face: 8 particles of springs. By hand for one step of dt from rest:
 * every free particle moves by g dt^2, whatever the springs, since they are at rest. */
static void test_first_step(void **unused) {
    (void)unused;
    told t = tell("run", "cantilever", "-m", "springs", "--engine", springs(), "-s", "mode=dynamic", "-s", "cells=1",
                  "-s", "duration=0.001", "--no-store", "--json");
    expect_code(t, 0);
    json_t *run = parse(t.out);
    assert_true(fabs(metric(run, "tip_deflection") - 9.81e-6) < 1e-16);
    assert_true(metric(run, "door_calls") == 1);
    json_decref(run);
    forget(&t);
}

/* A stored run has engine, version and device; it is found again; and the command of `show` repeats it. */
static void test_stored(void **unused) {
    (void)unused;
    const char *file = springs();
    char id[2][40], db[PATH_MAX + 320];
    snprintf(db, sizeof db, "%s", in_workplace("runs.db"));
    for (int i = 0; i < 2; i++) {
        told t = tell("run", BAR(file), "-m", "springs", "--db", db, "--json");
        expect_code(t, 0);
        json_t *run = parse(t.out);
        snprintf(id[i], sizeof id[i], "%s", json_string_value(json_object_get(run, "run_id")));
        assert_true(metric(run, "engine_wall") > 0 && metric(run, "door_wall") >= 0);
        assert_true(metric(run, "door_calls") <= 20);
        const json_t *door = json_object_get(json_object_get(run, "metrics"), "door_wall");
        assert_string_equal(json_string_value(json_object_get(door, "kind")), "cost");
        json_decref(run);
        forget(&t);
    }
    assert_string_equal(id[0], id[1]);
    told t = tell("show", id[0], "--db", db);
    expect_code(t, 0);
    expect_says(t.out, "with engine springs in C++ 1.0 on cpu");
    expect_says(t.out, "--engine");
    forget(&t);
    t = tell("db", "check", "--db", db);
    expect_code(t, 0);
    forget(&t);
}

static void test_listed(void **unused) {
    (void)unused;
    char path[3 * PATH_MAX];
    engine("absent", "./not_here", "");
    snprintf(path, sizeof path, "%s", springs());
    setenv("PBDBENCH_ENGINES", workplace(), 1);
    told t = tell("list", "engines", "--json");
    expect_code(t, 0);
    json_t *all = parse(t.out), *row;
    size_t i, found = 0;
    json_array_foreach(all, i, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        const bool there = json_is_true(json_object_get(row, "available"));
        if (strcmp(name, "springs") == 0) {
            found++;
            assert_true(there);
            assert_string_equal(json_string_value(json_object_get(row, "device")), "cpu");
        }
        if (strcmp(name, "absent") == 0) {
            found++;
            assert_false(there);
            expect_says(json_string_value(json_object_get(row, "reason")), "is not installed");
            expect_says(json_string_value(json_object_get(row, "reason")), "make it");
        }
    }
    assert_int_equal(found, 2);
    json_decref(all);
    forget(&t);
    t = tell("run", "cantilever", "-m", "absent");
    expect_code(t, 2);
    expect_says(t.err, "engine absent is not installed: there is no program './not_here'; run make it");
    forget(&t);
    unsetenv("PBDBENCH_ENGINES");
    remove(in_workplace("absent.yaml"));
    t = tell("list", "methods", "--engine", path);
    expect_code(t, 0);
    expect_says(t.out, "springs");
    forget(&t);
}

static void test_timed(void **unused) {
    (void)unused;
    told t = tell("bench", "-c", "cantilever", "-s", "mode=dynamic", "-s", "duration=0.02", "-s", "cells=1", "-m",
                  "springs", "--engine", springs(), "-p", "f64", "-t", "1", "--no-store", "--benchmark_min_time=0.01");
    expect_code(t, 0);
    expect_says(t.out, "springs/cantilever");
    forget(&t);
    t = tell("compare", "springs:steps_a_call=1", "springs:steps_a_call=20", "--engine", springs(), "--case",
             "collapse", "-s", "cells=1", "-t", "1", "--max-pairs", "8", "--max-load", "1000000", "--max-steal", "1",
             "--no-store", "--json");
    if (t.code != 0 && t.code != 4) fail_msg("compare: exit %d\n%s%s", t.code, t.err, t.out);
    json_t *all = parse(t.out);
    for (int arm = 0; arm < 2; arm++)
        assert_string_equal(json_string_value(json_object_get(json_object_get(all, arm ? "b" : "a"), "state")), "ok");
    json_decref(all);
    forget(&t);
}

static told gate_engines(const char *now, const char *before) {
    return tell("gate", "--engine", now, "--baseline-engine", before, "--suite", in_workplace("gated.yaml"),
                "--no-store", "--seed", "5", "--max-pairs", "8", "--max-load", "1000000", "--max-steal", "1",
                "--max-regression", "50%", "--confirm-after", "0", "--time", "0.01");
}

static void write_suite(const char *method, const char *duration, const char *tolerances) {
    char text[400];
    snprintf(text, sizeof text,
             "cells:\n  - {name: bar, case: collapse, method: %s, set: [cells=1, E=1e6, duration=%s]%s}\n", method,
             duration, tolerances);
    write_text("gated.yaml", text);
}

/* `gate` with an engine as its own former version passes, or is undecided on a busy machine. */
static void gate_same(const char *file, const char *method, const char *duration) {
    write_suite(method, duration, "");
    told t = gate_engines(file, file);
    if (t.code != 4) expect_code(t, 0);
    expect_says(t.out, "bar");
    forget(&t);
}

/* Another engine of the same name inverts one more tetrahedron, the third. */
static void test_gated(void **unused) {
    (void)unused;
    const char *python = minimal();
    char file[PATH_MAX + 320];
    snprintf(file, sizeof file, "%s", springs());
    gate_same(file, "springs", "0.2");
    if (python && !SANITIZED) gate_same(python, "minimal", "0.05"); /* the same code, by a slower engine */
    assert_int_equal(mkdir(in_workplace("other"), 0777), 0);
    write_text("other/springs.yaml",
               "name: springs\nwhat: another\nsource: tests\nlicence: MIT\n"
               "command: [" PBD_TEST_ELASTIC "]\n");
    write_suite("springs", "0.2", ", tolerances: [inverted_tets=2.5]");
    char other[PATH_MAX + 320];
    snprintf(other, sizeof other, "%s", in_workplace("other/springs.yaml"));
    told t = gate_engines(other, file);
    expect_code(t, 3);
    expect_says(t.out, "inverted_tets");
    forget(&t);
}

/* ---- Those that cannot be used ----------------------------------------------------------------------------------- */

static void test_refused(void **unused) {
    (void)unused;
    static const struct {
        const char *environment, *says;
    } wrong[] = {{"FAULTY_HELLO=protocol", "it speaks protocol 0, this program speaks 1"},
                 {"FAULTY_HELLO=silent", "its hello has no \"protocol\""},
                 {"FAULTY_HELLO=crash", "ended with signal 11"},
                 {"FAULTY_HELLO=takes", "did you mean 'colliders'"},
                 {"FAULTY_HELLO=version", "its hello has no \"version\""},
                 {"FAULTY_HELLO=precision", "is 'f16': f32 or f64"},
                 {"FAULTY_HELLO=fields", "lacks \"positions\""},
                 {"FAULTY_HELLO=name", "cannot name a parameter"},
                 {"FAULTY_HELLO=default", "the default is wrong"},
                 {"NOEQUALS", "not of the form NAME=VALUE"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        told t = tell("list", "engines", "--engine", faulty(wrong[i].environment));
        expect_code(t, 2);
        expect_says(t.err, wrong[i].says);
        assert_string_equal(t.out, "");
        forget(&t);
    }
    static const struct {
        const char *words[10], *says;
    } words[] = {{{"engine", NULL}, "engine check FILE"},
                 {{"engine", "chekc", NULL}, "did you mean 'check'"},
                 {{"engine", "check", NULL}, "needs a file"},
                 {{"list", "engines", "--engine", "nothing.yaml", NULL}, "cannot be found"},
                 {{"list", "engines", "--engine", "nothing.txt", NULL}, "is not a YAML file"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        told t = tell_to(STDOUT_KEPT, words[i].words);
        expect_code(t, 2);
        expect_says(t.err, words[i].says);
        forget(&t);
    }
    told t = tell("run", BAR(springs()), "-m", "springs", "-s", "stifness=3", "--no-store");
    expect_code(t, 2);
    expect_says(t.err, "did you mean 'stiffness'");
    forget(&t);
    t = tell("run", BAR(springs()), "-m", "springs", "-s", "stiffness=-3", "--no-store");
    expect_code(t, 2);
    expect_says(t.err, "[0, 1e+12]");
    forget(&t);
    t = tell("run", "bounce", "-m", "springs", "--engine", springs(), "--no-store");
    expect_code(t, 2);
    forget(&t);
    t = tell("run", BAR(faulty("")), "-m", "faulty", "-s", "fault=refuse", "--no-store");
    expect_code(t, 2);
    expect_says(t.err, "no scene of \"this\" kind");
    forget(&t);
}

/* ---- Those that fail on the way: a stored run and a sentence ------------------------------------------------------
 */

static void test_faults(void **unused) {
    (void)unused;
    static const struct {
        const char *fault, *state, *says;
    } wrong[] = {{"crash_create", "failed", "ended with signal 6"},
                 {"crash", "failed", "engine faulty, step: the engine ended with signal 11"},
                 {"exit", "failed", "exit code 3; its last words: these are its last words"},
                 {"hang", "failed", "gave no answer in 0.5 s and was killed"},
                 {"noise", "ok", NULL},
                 {"magic", "failed", "is no message of the protocol: it begins with 206f6c6c"},
                 {"json", "failed", "is not valid JSON"},
                 {"list", "failed", "is not a JSON object"},
                 {"nan", "diverged", "non-finite position"},
                 {"short", "failed", "has another shape than"},
                 {"type", "failed", "is of type '<i8'"},
                 {"huge_json", "failed", "claims 4294967280 bytes of JSON"},
                 {"huge_arrays", "failed", "bytes of arrays where none were asked for"},
                 {"extra", "failed", "holds 24 bytes of arrays"},
                 {"no_wall", "failed", "has no \"wall\""},
                 {"says_no", "failed", "it says no"},
                 {"diverges", "diverged", "the iterations do not converge"},
                 {"names", "failed", "'Not a name'"},
                 {"advanced", "failed", "where 0.0"}};
    const char *file = faulty("");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char fault[60];
        snprintf(fault, sizeof fault, "fault=%s", wrong[i].fault);
        told t = tell("run", BAR(file), "-m", "faulty", "-s", fault, "-s", "timeout=0.5", "--db",
                      in_workplace("faults.db"), "--json");
        const bool fine = strcmp(wrong[i].state, "ok") == 0;
        if (t.code != (fine ? 0 : 5)) fail_msg("%s: exit %d\n%s%s", wrong[i].fault, t.code, t.err, t.out);
        json_t *run = parse(t.out);
        if (strcmp(json_string_value(json_object_get(run, "state")), wrong[i].state) != 0)
            fail_msg("%s: %s", wrong[i].fault, t.out);
        told shown = tell("show", json_string_value(json_object_get(run, "run_id")), "--db", in_workplace("faults.db"));
        expect_code(shown, 0);
        if (wrong[i].says) expect_says(shown.out, wrong[i].says);
        expect_says(shown.out, "with engine faulty 1.2 on no device");
        forget(&shown);
        json_decref(run);
        forget(&t);
    }
    told t = tell("run", BAR(file), "-m", "faulty", "-s", "fault=clock", "--no-store", "--json");
    expect_code(t, 0);
    json_t *run = parse(t.out);
    assert_non_null(json_object_get(json_object_get(run, "warnings"), "engine_clock"));
    assert_non_null(json_object_get(json_object_get(run, "warnings"), "engine_cpu_clock"));
    json_decref(run);
    forget(&t);
}

/* Steps are batched into calls, at most ten per call, and none is lost: 20 steps take two or more calls. */
static void test_steps_a_call(void **unused) {
    (void)unused;
    static const char *const most[] = {"steps_a_call=1", "steps_a_call=7", "steps_a_call=1000"};
    double tip[3];
    for (int i = 0; i < 3; i++) {
        told t = tell("run", BAR(faulty("")), "-m", "faulty", "-s", most[i], "--no-store", "--json");
        expect_code(t, 0);
        json_t *run = parse(t.out);
        assert_true(metric(run, "steps_done") == 20);
        tip[i] = metric(run, "tip_deflection");
        json_decref(run);
        forget(&t);
    }
    assert_true(fabs(tip[0] - 9.81 * 1e-6 * 20 * 21 / 2) < 1e-15);
    assert_true(tip[0] == tip[1] && tip[1] == tip[2]);
}

/* The engine of the third of four runs kills itself; in a second sweep it does not. */
static void test_killed_in_a_sweep(void **unused) {
    (void)unused;
    char environment[PATH_MAX + 100];
    snprintf(environment, sizeof environment, "FAULTY_FLAG=%s", in_workplace("flag"));
    const char *file = faulty(environment);
    char db[PATH_MAX + 320];
    snprintf(db, sizeof db, "%s", in_workplace("sweep.db"));
    write_text("flag", "");
    write_text(
        "sweep.yaml",
        "runs:\n  - {name: four, case: cantilever, method: faulty, threads: 1, set: [mode=dynamic, duration=0.02, "
        "cells=1, fault=flag], axes: [\"number=1,2,3,4\"]}\n");
    told t = tell("sweep", in_workplace("sweep.yaml"), "--engine", file, "--db", db, "--json");
    expect_code(t, 5);
    expect_says(t.out, "\"failed\"");
    forget(&t);
    t = tell("list", "runs", "--db", db, "--json", "--state", "ok");
    json_t *kept = parse(t.out);
    assert_int_equal(json_array_size(kept), 3);
    json_decref(kept);
    forget(&t);
    remove(in_workplace("flag"));
    t = tell("sweep", in_workplace("sweep.yaml"), "--engine", file, "--db", db, "--dry-run");
    expect_code(t, 0);
    expect_says(t.out, "number=3");
    assert_null(strstr(t.out, "number=2"));
    forget(&t);
    t = tell("sweep", in_workplace("sweep.yaml"), "--engine", file, "--db", db, "--json");
    expect_code(t, 0);
    forget(&t);
    t = tell("list", "runs", "--db", db, "--json", "--state", "ok");
    kept = parse(t.out);
    assert_int_equal(json_array_size(kept), 4);
    json_decref(kept);
    forget(&t);
}

/* The engine came from the sweep's file, not from --engine. `show` prints --engine only for an engine of this program,
 * whose path it knows. */
static void show_names_the_engine(void) {
    told t = tell("list", "runs", "--db", in_workplace("with.db"), "--json");
    json_t *kept = parse(t.out);
    char id[40];
    snprintf(id, sizeof id, "%s", json_string_value(json_object_get(json_array_get(kept, 0), "run_id")));
    json_decref(kept);
    forget(&t);
    t = tell("show", id, "--db", in_workplace("with.db"));
    expect_code(t, 0);
    assert_null(strstr(t.out, "--engine"));
    forget(&t);
    assert_int_equal(mkdir(in_workplace("examples"), 0777), 0);
    assert_int_equal(mkdir(in_workplace("examples/engines"), 0777), 0);
    assert_int_equal(rename(springs(), in_workplace("examples/engines/springs.yaml")), 0);
    t = tell("show", id, "--db", in_workplace("with.db"));
    expect_code(t, 0);
    expect_says(t.out, "--engine examples/engines/springs.yaml");
    forget(&t);
    (void)springs(); /* restores the file */
}

/* A figure skips missing engines; a sweep requires all of them. The workplace has no adapters. */
static void test_figures(void **unused) {
    (void)unused;
    told t = tell("reproduce", "engines-cantilever", "--quick", "--db", in_workplace("figure.db"));
    expect_code(t, 0);
    expect_says(t.out, "group 'mujoco' is skipped");
    expect_says(t.out, "not judged");
    expect_says(t.out, "reproduced      engines-cantilever.fem_rest");
    forget(&t);
    char text[PATH_MAX + 600];
    snprintf(text, sizeof text,
             "runs:\n  - {name: one, case: cantilever, method: springs, engine: %s, threads: 1, set: [mode=dynamic, "
             "duration=0.02, cells=1]}\n",
             springs());
    write_text("with.yaml", text);
    t = tell("sweep", in_workplace("with.yaml"), "--db", in_workplace("with.db"));
    expect_code(t, 0);
    forget(&t);
    show_names_the_engine();
    write_text("without.yaml",
               "runs:\n  - {name: one, case: cantilever, method: springs, engine: none.yaml, set: [mode=dynamic]}\n");
    t = tell("sweep", in_workplace("without.yaml"), "--db", in_workplace("with.db"));
    expect_code(t, 2);
    expect_says(t.err, "cannot be found");
    forget(&t);
}

/* ---- Nothing is left behind -------------------------------------------------------------------------------------- */

static long read_pid(void) {
    for (int i = 0; i < 2000; i++) {
        FILE *file = fopen(in_workplace("pid"), "r");
        long pid = 0;
        if (file && fscanf(file, "%ld\n", &pid) != 1) pid = 0;
        if (file) fclose(file);
        if (pid > 0) return pid;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    fail_msg("the engine did not start");
    return 0;
}

/* The engine of a hanging run is gone after the program was interrupted or killed. */
static void end_by(int signal, int code) {
    char environment[PATH_MAX + 100];
    snprintf(environment, sizeof environment, "FAULTY_PID=%s", in_workplace("pid"));
    const char *yaml = faulty(environment), *program = getenv("PBDBENCH_PROGRAM"), *db = in_workplace("ended.db");
    const pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(99);
        execl(program, program, "run", BAR(yaml), "-m", "faulty", "-s", "fault=hang", "--db", db, (char *)NULL);
        _exit(99);
    }
    const long engine_pid = read_pid();
    kill(child, signal);
    const int ended = wait_for(child);
    assert_int_equal(ended, code);
    int left = 0;
    while (kill((pid_t)engine_pid, 0) == 0 && left++ < 1000) nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    const bool gone = kill((pid_t)engine_pid, 0) != 0 && errno == ESRCH;
    if (!gone) kill((pid_t)engine_pid, SIGKILL);
    assert_true(gone);
    remove(in_workplace("pid"));
}

static void test_nothing_is_left(void **unused) {
    (void)unused;
    end_by(SIGINT, 130);
    told t = tell("list", "runs", "--db", in_workplace("ended.db"), "--state", "interrupted");
    expect_code(t, 0);
    expect_says(t.out, "faulty");
    forget(&t);
    end_by(SIGKILL, -SIGKILL);
}

int main(void) {
    /* The tests that mutants fail come first, since a mutant stops at its first failure. */
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_left),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_cpp),
                                       cmocka_unit_test(test_python),
                                       cmocka_unit_test(test_first_step),
                                       cmocka_unit_test(test_gate),
                                       cmocka_unit_test(test_gate_of_particles),
                                       cmocka_unit_test(test_stored),
                                       cmocka_unit_test(test_listed),
                                       cmocka_unit_test(test_timed),
                                       cmocka_unit_test(test_gated),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_steps_a_call),
                                       cmocka_unit_test(test_killed_in_a_sweep),
                                       cmocka_unit_test(test_figures)};
    return cmocka_run_group_tests_name("engine", tests, NULL, remove_workplace);
}
