/* Plug-ins: the example built and run outside the tree as its README says, and every way in which one can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include <math.h>

#include "program.h"
#include "store_sample.h"

static char source_root[PATH_MAX]; /* of the checkout, before the tests get a root of their own */

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...) {
    char command[4 * PATH_MAX], log[PATH_MAX + 32], text[4000] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command - 1, format, arguments);
    va_end(arguments);
    snprintf(log, sizeof log, "%s", in_workplace("shell.log"));
    char whole[6 * PATH_MAX];
    snprintf(whole, sizeof whole, "{ %s ; } >%s 2>&1", command, log);
    if (system(whole) == 0) return;
    FILE *file = fopen(log, "r");
    if (file) text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fail_msg("%s\n%s", command, text);
}

/* ---- The example ------------------------------------------------------------------------------------------------- */

static const char *example(void) {
    const char *library = in_workplace("example/build/spring_mass.so");
    if (access(library, F_OK) == 0) return library;
    shell(
        "cp -r %s/examples/plugin %s && cmake -G Ninja -S %s -B %s -Dpbdbench_DIR=%s -DCMAKE_C_FLAGS='%s' && cmake "
        "--build %s",
        source_root, in_workplace("example"), in_workplace("example"), in_workplace("example/build"), PBD_BUILD_FOLDER,
        PBD_PLUGIN_FLAGS, in_workplace("example/build"));
    return in_workplace("example/build/spring_mass.so");
}

static void the_example_passes_its_checks(void **state) {
    (void)state;
    told answer = tell("plugin", "check", example());
    expect_code(answer, 0);
    expect_says(answer.out, "table of the method");
    expect_says(answer.out, "cube_traction: repeats from a saved state");
    expect_says(answer.out, "skipped");
    forget(&answer);
    answer = tell("plugin", "check", example(), "--json");
    expect_code(answer, 0);
    json_t *list = json_loads(answer.out, 0, NULL);
    assert_true(json_array_size(list) > 5);
    json_decref(list);
    forget(&answer);
}

/* Four springs of 5 N/m carry the small load of one cube: the top moves by load / 20, which the harness can tell. */
static void the_example_runs_and_is_stored(void **state) {
    (void)state;
    const char *db = in_workplace("example.db");
    told answer =
        tell("run", "cube_traction", "-m", "spring_mass", "--plugin", example(), "-t", "1", "--json", "--db", db);
    expect_code(answer, 0);
    json_t *run = json_loads(answer.out, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(run, "state")), "ok");
    const json_t *metric = json_object_get(json_object_get(run, "metrics"), "displacement_ratio");
    assert_true(json_number_value(json_object_get(metric, "value")) > 0);
    json_decref(run);
    forget(&answer);
    answer = tell("db", "check", "--db", db);
    expect_code(answer, 0);
    forget(&answer);
    answer = tell("run", "cube_traction", "-m", "spring_mass");
    expect_code(answer, 2); /* without --plugin nobody knows it */
    forget(&answer);
    answer = tell("list", "methods", "--plugin", example());
    expect_code(answer, 0);
    expect_says(answer.out, "spring_mass");
    forget(&answer);
}

/* A built-in method gives the same answer in a process of its own. */
static void a_process_of_its_own_changes_no_answer(void **state) {
    (void)state;
    double value[2];
    for (int apart = 0; apart < 2; apart++) {
        told answer = apart ? tell("run", "cube_shear", "-m", "pbd_distance", "-t1", "--json", "--no-store", "--plugin",
                                   example())
                            : tell("run", "cube_shear", "-m", "pbd_distance", "-t1", "--json", "--no-store");
        expect_code(answer, 0);
        json_t *run = json_loads(answer.out, 0, NULL);
        value[apart] = json_number_value(
            json_object_get(json_object_get(json_object_get(run, "metrics"), "displacement_error"), "value"));
        json_decref(run);
        forget(&answer);
    }
    assert_true(value[0] > 0 && value[0] == value[1]);
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

/* A plug-in that does nothing, but for what `fault` defines. Its sources are compiled as the CMake package would. */
static const char *faulty(const char *name, const char *fault) {
    static const char text[] =
        "#include <stdlib.h>\n#include <math.h>\n#include \"methods/plugin.h\"\n"
        "#define N 8\n"
        "static double x[24];\n"
        "static const pbd_param params[] = {{\"dt\", \"s\", PBD_REAL, DEFAULT_DT, 0, 1, PBD_OPEN_MIN, NULL, \"step\"}, "
        "{0}};\n"
        "static pbd_status create(const pbd_scene *s, const pbd_values *v, pbd_exec *e, pbd_recorder *r, void **state) "
        "{\n"
        "  (void)v, (void)e, (void)r; IN_CREATE for (int i = 0; i < 24; i++) x[i] = s->positions[i];\n"
        "  *state = x; return pbd_ok(); }\n"
        "static pbd_status solve(void *state) { (void)state; IN_SOLVE return pbd_ok(); }\n"
        "static pbd_status read_(const void *s, pbd_field f, double *out) { (void)s;\n"
        "  if (f != PBD_POSITIONS) return pbd_error(PBD_NOT_SUPPORTED, \"no\");\n"
        "  for (int i = 0; i < 24; i++) out[i] = x[i]; return pbd_ok(); }\n"
        "static pbd_status save(const void *s, void *b, size_t *n) { (void)s, (void)b; *n = 0; return pbd_ok(); }\n"
        "static pbd_status load(void *s, const void *b, size_t n) { (void)s, (void)b, (void)n; return pbd_ok(); }\n"
        "static void destroy(void *s) { (void)s; }\n"
        "static const pbd_method m = {.abi = ABI, .name = NAME, .summary = \"\", .source = \"\", .needs = "
        "PBD_NEEDS_HEXES,\n"
        "  .params = params, .create = create, .backends = PBD_CPU, .precisions = PBD_F64, .solve = SOLVE, .read = "
        "read_,\n"
        "  .save = save, .load = load, .destroy = destroy};\n"
        "LIBRARY\n";
    static char path[4][PATH_MAX + 320];
    static unsigned next;
    char source[PATH_MAX + 320];
    snprintf(source, sizeof source, "%s.c", in_workplace(name));
    FILE *file = fopen(source, "w");
    if (!file) fail_msg("%s", source);
    fprintf(file,
            "%s\n#ifndef ABI\n#define ABI PBD_METHOD_ABI\n#endif\n#ifndef NAME\n#define NAME \"%s\"\n#endif\n"
            "#ifndef SOLVE\n#define SOLVE solve\n#endif\n#ifndef IN_CREATE\n#define IN_CREATE\n#endif\n"
            "#ifndef IN_SOLVE\n#define IN_SOLVE\n#endif\n#ifndef DEFAULT_DT\n#define DEFAULT_DT \"0.1\"\n#endif\n"
            "#ifndef LIBRARY\n#define LIBRARY const pbd_plugin_library pbd_plugin = {PBD_PLUGIN_ABI, NAME, \"1\", &m, "
            "&m};\n"
            "#endif\n%s",
            fault, name, text);
    fclose(file);
    char *mine = path[next++ % 4];
    snprintf(mine, sizeof path[0], "%s.so", in_workplace(name));
    shell("%s -std=gnu17 -O1 -shared -fPIC %s -I %s -o %s %s", PBD_C_COMPILER, PBD_PLUGIN_FLAGS, source_root, mine,
          source);
    return mine;
}

static void expect_refused(const char *library, const char *says) {
    told answer = tell("run", "cube_shear", "-m", "x", "--plugin", library, "--no-store");
    expect_code(answer, 2);
    expect_says(answer.err, says);
    forget(&answer);
}

static void what_is_no_plugin_is_refused(void **state) {
    (void)state;
    expect_refused("/nowhere/x.so", "no such file");
    FILE *file = fopen(in_workplace("text.so"), "w");
    fputs("no library\n", file);
    fclose(file);
    expect_refused(in_workplace("text.so"), "cannot be loaded");
    expect_refused(faulty("nothing", "#define LIBRARY extern int x_;\n#define UNUSED"), "pbd_plugin");
}

static void wrong_tables_are_refused(void **state) {
    (void)state;
    expect_refused(faulty("abi", "#define ABI 99u"), "contract 99");
    expect_refused(
        faulty("old_plugin", "#define LIBRARY const pbd_plugin_library pbd_plugin = {7, NAME, \"1\", &m, &m};"),
        "contract 7");
    expect_refused(faulty("noslot", "#define SOLVE NULL"), "no step and no solve");
    expect_refused(faulty("taken", "#define NAME \"pbd_distance\""), "pbd_distance already");
    expect_refused(faulty("badparam", "#define DEFAULT_DT \"5\""), "dt");
    told answer = tell("plugin", "check", in_workplace("abi.so"));
    expect_code(answer, 3);
    expect_says(answer.out, "fail");
    forget(&answer);
}

/* One failed run is stored with its sentence, and the exit code is 5. */
static void expect_failed_run(const char *name, const char *fault, const char *says) {
    char db[PATH_MAX + 320], sql[400];
    snprintf(db, sizeof db, "%s.db", in_workplace(name));
    const char *library = faulty(name, fault);
    told answer = tell("run", "hex_fit", "-m", name, "--plugin", library, "-t", "1", "--db", db, "-r", "2");
    expect_code(answer, 5);
    expect_says(answer.out, says);
    forget(&answer);
    snprintf(sql, sizeof sql, "SELECT count(*) FROM run WHERE state = 'failed' AND says LIKE '%%%s%%'", says);
    assert_sql(db, sql, "2"); /* the second was made, too */
    answer = tell("db", "check", "--db", db);
    expect_code(answer, 0);
    forget(&answer);
}

static void crashes_and_exits_are_failed_runs(void **state) {
    (void)state;
    if (*PBD_PLUGIN_FLAGS) {
        print_message("skipped: a sanitizer catches crashes itself\n");
        return;
    }
    expect_failed_run("crash_create", "#define IN_CREATE *(volatile int *)8 = 1;", "crashed in create: signal 11");
    expect_failed_run("crash_solve", "#define IN_SOLVE abort();", "crashed in solve: signal 6");
    expect_failed_run("quits", "#define IN_SOLVE exit(0);", "ended the process in solve, with exit code 0");
    told answer = tell("plugin", "check", faulty("crash_create", "#define IN_CREATE *(volatile int *)8 = 1;"));
    expect_code(answer, 3);
    expect_says(answer.out, "crashed in create");
    forget(&answer);
}

static void a_nan_is_divergence(void **state) {
    (void)state;
    const char *library = faulty("nan", "#define IN_SOLVE x[3] = NAN;");
    told answer = tell("run", "cube_shear", "-m", "nan", "--plugin", library, "-t", "1", "--no-store");
    expect_code(answer, 5);
    expect_says(answer.out, "diverged");
    forget(&answer);
    answer = tell("plugin", "check", library);
    expect_code(answer, 3);
    expect_says(answer.out, "is nowhere");
    forget(&answer);
}

static void bad_words_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *words[3], *says;
    } bad[] = {{{NULL}, "check FILE"},
               {{"chek", "x.so"}, "check"},
               {{"check"}, "one file"},
               {{"check", "/none.so"}, "no such file"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        told answer = tell("plugin", bad[i].words[0], bad[i].words[1], bad[i].words[2]);
        expect_code(answer, 2);
        expect_says(answer.err, bad[i].says);
        forget(&answer);
    }
}

int main(void) {
    snprintf(source_root, sizeof source_root, "%s", getenv("PBDBENCH_ROOT") ? getenv("PBDBENCH_ROOT") : ".");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_passes_its_checks),
        cmocka_unit_test(the_example_runs_and_is_stored),
        cmocka_unit_test(a_process_of_its_own_changes_no_answer),
        cmocka_unit_test(what_is_no_plugin_is_refused),
        cmocka_unit_test(wrong_tables_are_refused),
        cmocka_unit_test(crashes_and_exits_are_failed_runs),
        cmocka_unit_test(a_nan_is_divergence),
        cmocka_unit_test(bad_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
