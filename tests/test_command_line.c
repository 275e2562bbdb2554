/* The contract of the command line: names, ranges, exit codes, JSON, and a message for every error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/program.h"
#include "tests/sanitized.h"

static const char *const verbs[] = {"list", "run", "sweep", "reproduce", "plot", "show", "cite", "db", "eval", "env"};
enum { VERBS = sizeof verbs / sizeof *verbs, MOST_WORDS = 12 };

/* ---- Bad input: a sentence with what it must name, exit 2, nothing stored -------------------------------------- */

/* Every bad command is given the store "no.db". */
static void assert_nothing_stored(void) {
    struct stat found;
    assert_int_equal(stat(in_workplace("no.db"), &found), -1);
    assert_int_equal(stat(in_workplace("results"), &found), -1);
}

typedef struct bad_command {
    const char *words[MOST_WORDS];
    const char *says[4]; /* all must occur on standard error */
} bad_command;

static void check_bad(const bad_command *commands, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *words[MOST_WORDS + 3] = {0};
        size_t n = 0;
        for (; commands[i].words[n]; n++) words[n] = commands[i].words[n];
        if (strcmp(words[0], "run") == 0) {
            words[n++] = "--db";
            words[n++] = in_workplace("no.db");
        }
        told answer = tell_to(STDOUT_KEPT, words);
        printf("[          ] %s", answer.err);
        expect_code(answer, 2);
        assert_string_equal(answer.out, "");
        for (size_t k = 0; k < 4 && commands[i].says[k]; k++) expect_says(answer.err, commands[i].says[k]);
        assert_nothing_stored();
        forget(&answer);
    }
}
#define CHECK_BAD(commands) check_bad(commands, sizeof commands / sizeof *commands)

static void test_unknown_names_get_the_nearest(void **state) {
    (void)state;
    static const bad_command commands[] = {
        {{"rnu"}, {"rnu", "'run'"}},
        {{"reproduc"}, {"'reproduce'"}},
        {{"xyzzyplugh"}, {"xyzzyplugh", "--help"}},
        {{"list", "metods"}, {"metods", "'methods'"}},
        {{"run", "hex_fitt", "-m", "pbd_distance"}, {"case", "hex_fitt", "'hex_fit'"}},
        {{"run", "hex_fit", "-m", "pbd_distence"}, {"method", "pbd_distence", "'pbd_distance'"}},
        {{"run", "hex_fit", "-m", "pbd_distance", "-s", "iteration=3"}, {"iteration", "'iterations'"}},
        {{"run", "hex_fit", "-m", "pbd_distance", "-s", "solver=jacobbi"}, {"solver", "jacobbi", "'jacobi'"}},
        {{"run", "hex_fit", "-m", "pbd_distance", "-a", "nuu=0.1,0.2"}, {"nuu", "'nu'"}},
        {{"run", "hex_fit", "-m", "pbd_distance", "-b", "cudda"}, {"cudda", "'cuda'"}},
        {{"run", "hex_fit", "-m", "pbd_distance", "-p", "f644"}, {"f644", "'f64'"}},
        {{"reproduce", "rodero2016-fig33"}, {"figure", "rodero2016-fig33", "'rodero2016-fig3'"}},
        {{"plot", "rodero2016-fgi3"}, {"rodero2016-fgi3", "'rodero2016-fig3'"}},
        {{"cite", "rodero2016-fig33"}, {"rodero2016-fig33", "'rodero2016-fig3'"}},
        {{"db", "chek"}, {"chek", "'check'"}},
        {{"run", "nope", "-m", "xpbi"}, {"'nope'; `pbdbench list cases` lists them"}}, /* similar to no name */
        {{"run", "hex_fit", "-m", "pbd_distance", "-b", "gpu"}, {"'gpu'", "'cuda'"}},
        {{"run", "tori", "-m", "xpbi", "-s", "poisson=0.3"}, {"is 'nu' meant: Poisson's ratio"}},
    };
    CHECK_BAD(commands);
}

/* A value of a parameter of `hex_fit -m pbd_distance` (or of the named case), and the range that the error must state.
 */
static void test_values_out_of_range(void **state) {
    (void)state;
    static const struct {
        const char *case_name, *setting, *name, *value, *range;
    } wrong[] = {
        {"hex_fit", "nu=0.5", "nu", "0.5", "(-1, 0.5)"},
        {"hex_fit", "nu=-1", "nu", "-1", "(-1, 0.5)"},
        {"hex_fit", "nu=nan", "nu", "nan", "(-1, 0.5)"},
        {"hex_fit", "nu=inf", "nu", "inf", "(-1, 0.5)"},
        {"hex_fit", "nu=-inf", "nu", "-inf", "(-1, 0.5)"},
        {"hex_fit", "nu=", "nu", "''", "(-1, 0.5)"},
        {"hex_fit", "nu=0.3x", "nu", "0.3x", "(-1, 0.5)"},
        {"hex_fit", "nu=0,3", "nu", "0,3", "(-1, 0.5)"},
        {"hex_fit", "E=0", "E", "0", "(0, inf)"},
        {"hex_fit", "E=-1", "E", "-1", "(0, inf)"},
        {"hex_fit", "E=1e400", "E", "1e400", "(0, inf)"},
        {"hex_fit", "E=nan(7)", "E", "nan(7)", "(0, inf)"},
        {"hex_fit", "iterations=0", "iterations", "0", "[1, "},
        {"hex_fit", "iterations=-3", "iterations", "-3", "[1, "},
        {"hex_fit", "iterations=1.5", "iterations", "1.5", "[1, "},
        {"hex_fit", "iterations=99999999999999999999", "iterations", "99999999999999999999", "[1, "},
        {"hex_fit", "k_edge=1.01", "k_edge", "1.01", "[0, 1]"},
        {"hex_fit", "density=-1", "density", "-1", "[0, "},
        {"cube_shear", "cells=0", "cells", "0", "[1, "},
        {"cube_shear", "cells=-5", "cells", "-5", "[1, "},
        {"cube_shear", "cells=1e9", "cells", "1e9", "[1, "},
        {"cube_shear", "edge=0", "edge", "0", "(0, "},
        {"cube_shear", "load=huge", "load", "huge", "small|large"},
        {"cube_shear", "base=", "base", "''", "weight|reset"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bad_command one = {{"run", wrong[i].case_name, "-m", "pbd_distance", "-s", wrong[i].setting},
                           {wrong[i].name, wrong[i].value, wrong[i].range}};
        check_bad(&one, 1);
    }
}

static void test_bad_options(void **state) {
    (void)state;
#define HEX "run", "hex_fit", "-m", "pbd_distance"
    static const bad_command commands[] = {
        {{HEX, "-t", "0"}, {"threads", "0", "["}},
        {{HEX, "-t", "-2"}, {"threads", "-2", "["}},
        {{HEX, "-t", "two"}, {"threads", "two"}},
        {{HEX, "-r", "0"}, {"repeats", "0", "["}},
        {{HEX, "-r", "99999999999999999999"}, {"repeats", "99999999999999999999", "["}},
        {{HEX, "--seed", "-1"}, {"seed", "-1", "["}},
        {{HEX, "-s", "nu"}, {"'nu'", "key=value"}},
        {{HEX, "-s", "=1"}, {"'=1'", "key=value"}},
        {{HEX, "-s", ""}, {"key=value"}},
        {{HEX, "-a", "nu=0:1:0.1"}, {"nu", "0.5", "(-1, 0.5)"}},
        {{HEX, "-a", "nu=0.4:0:0.1"}, {"nu", "lo <= hi"}},
        {{HEX, "-a", "nu=0:0.4:0"}, {"nu", "step"}},
        {{HEX, "-a", "nu=0:0.4:-0.1"}, {"nu", "step"}},
        {{HEX, "-a", "nu=nan:0.4:0.1"}, {"nu", "lo:hi:step"}},
        {{HEX, "-a", "nu=0:0.4:1e-300"}, {"nu", "points"}},
        {{HEX, "-a", "nu=0:0.4"}, {"nu", "lo:hi:step"}},
        {{HEX, "-a", "nu="}, {"nu", "empty"}},
        {{HEX, "-a", "nu=0,,1"}, {"nu", "empty"}},
        {{HEX, "-a", "nu=0,0.1", "-a", "nu=0.2,0.3"}, {"nu", "twice"}},
        {{HEX, "--frobnicate"}, {"frobnicate"}},
        {{HEX, "cube_shear"}, {"cube_shear"}},
        {{"run", "hex_fit"}, {"-m"}},
        {{"run"}, {"case"}},
        {{"reproduce"}, {"figure"}},
        {{"show"}, {"run"}},
        {{"db"}, {"check"}},
        {{"sweep"}, {"file"}},
        {{"sweep", "/nonexistent/sweep.yaml"}, {"/nonexistent/sweep.yaml"}},
        {{"env", "me"}, {"me"}},
    };
    CHECK_BAD(commands);
}

static void test_no_verb_at_all(void **state) {
    (void)state;
    told answer = tell(NULL);
    expect_code(answer, 2);
    expect_says(answer.err, "usage:");
    forget(&answer);
}

static long size_of(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 ? (long)found.st_size : -1;
}

/* A store that holds a run is the same file, byte for byte, after a bad command. */
static void test_bad_input_leaves_the_store_alone(void **state) {
    (void)state;
    const char *db = in_workplace("kept.db"), *copy = in_workplace("kept.copy");
    char command[3 * PATH_MAX];
    told answer = tell(HEX, "--db", db);
    expect_code(answer, 0);
    forget(&answer);
    assert_true(size_of(db) > 0);
    snprintf(command, sizeof command, "cp '%s' '%s'", db, copy);
    assert_int_equal(system(command), 0);
    answer = tell(HEX, "-s", "nu=0.5", "--db", db);
    expect_code(answer, 2);
    forget(&answer);
    snprintf(command, sizeof command, "cmp '%s' '%s'", db, copy);
    assert_int_equal(system(command), 0);
}

/* ---- Help -------------------------------------------------------------------------------------------------------- */

static void test_every_verb_has_help(void **state) {
    (void)state;
    told all = tell("--help");
    expect_code(all, 0);
    for (int i = 0; i < VERBS; i++) {
        char usage[64];
        told one = tell(verbs[i], "--help");
        expect_code(one, 0);
        snprintf(usage, sizeof usage, "usage: pbdbench %s", verbs[i]);
        expect_says(one.out, usage);
        assert_string_equal(one.err, "");
        expect_says(all.out, verbs[i]);
        forget(&one);
    }
    forget(&all);
}

/* The parameters of a case and a method, with units, ranges and defaults, are part of run's help. */
static void test_help_lists_parameters(void **state) {
    (void)state;
    told answer = tell(HEX, "--help");
    expect_code(answer, 0);
    expect_says(answer.out, "Young's modulus");
    expect_says(answer.out, "(-1, 0.5)");
    expect_says(answer.out, "iterations");
    forget(&answer);
}

/* ---- What there is ----------------------------------------------------------------------------------------------- */

static void test_lists(void **state) {
    (void)state;
    static const struct {
        const char *kind, *names[4];
    } wanted[] = {
        {"methods", {"fem_linear", "pbd_distance"}},
        {"cases", {"hex_fit", "cube_shear", "cube_torsion", "cube_traction"}},
        {"figures", {"rodero2016-fig1", "cao2023-", "yu2024-", "desbrun1996-"}},
        {"backends", {"cpu", "emu", "cuda"}},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        told answer = tell("list", wanted[i].kind);
        expect_code(answer, 0);
        for (int k = 0; k < 4 && wanted[i].names[k]; k++) expect_says(answer.out, wanted[i].names[k]);
        forget(&answer);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *parse(const char *text) {
    json_error_t error;
    json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!value) fail_msg("not JSON, line %d column %d: %s\n%s", error.line, error.column, error.text, text);
    return value;
}

static const char *string_of(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    if (!value) fail_msg("no string '%s'", key);
    return value;
}

static void test_list_json(void **state) {
    (void)state;
    static const char *const kinds[] = {"methods", "cases", "figures", "backends"};
    for (int i = 0; i < 4; i++) {
        told answer = tell("list", kinds[i], "--json");
        expect_code(answer, 0);
        json_t *all = parse(answer.out), *one;
        size_t index;
        assert_true(json_array_size(all) > 0);
        json_array_foreach(all, index, one) {
            assert_true(strlen(string_of(one, "name")) > 0);
            string_of(one, "summary");
            string_of(one, "source");
            assert_true(json_is_boolean(json_object_get(one, "available")));
            /* an entry has a reason if and only if it is not available */
            assert_int_equal(json_is_true(json_object_get(one, "available")), strlen(string_of(one, "reason")) == 0);
            if (i == 0) assert_true(json_array_size(json_object_get(one, "backends")) > 0);
            if (i == 0) assert_true(json_array_size(json_object_get(one, "precisions")) > 0);
        }
        json_decref(all);
        forget(&answer);
    }
}

/* Requesting a backend does what its entry in the list says: a run, or exit 2 with the listed reason. */
static void test_backends_keep_their_word(void **state) {
    (void)state;
    told list = tell("list", "backends", "--json");
    json_t *all = parse(list.out), *one;
    size_t index;
    json_array_foreach(all, index, one) {
        const char *name = string_of(one, "name");
        bool available = json_is_true(json_object_get(one, "available"));
        printf("[          ] %s: %s\n", name, available ? "available" : string_of(one, "reason"));
        told answer = tell(HEX, "-b", name, "--db", in_workplace(available ? "backends.db" : "no.db"));
        expect_code(answer, available ? 0 : 2);
        if (!available) {
            expect_says(answer.err, name);
            expect_says(answer.err, string_of(one, "reason"));
        }
        forget(&answer);
    }
    assert_nothing_stored();
    json_decref(all);
    forget(&list);
}

static void assert_is_run(const json_t *run, const char *precision) {
    assert_int_equal(strlen(string_of(run, "run_id")), 32);
    assert_string_equal(string_of(run, "case"), "hex_fit");
    assert_string_equal(string_of(run, "method"), "pbd_distance");
    assert_string_equal(string_of(run, "backend"), "cpu");
    assert_string_equal(string_of(run, "precision"), precision);
    assert_string_equal(string_of(run, "state"), "ok");
    assert_true(json_is_object(json_object_get(run, "timing")) && json_object_size(json_object_get(run, "timing")) > 0);
    assert_true(json_is_object(json_object_get(run, "warnings")));
    assert_true(json_is_number(json_object_get(json_object_get(run, "params"), "nu")));
    static const char *const metrics[] = {"k_edge", "k_face", "k_diagonal", "k_volume", "fit_error", "dt"};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const json_t *metric = json_object_get(json_object_get(run, "metrics"), metrics[i]);
        assert_true(json_is_number(json_object_get(metric, "value")));
        string_of(metric, "unit");
    }
}

/* One object per run and line, in the order of the axis. The second time the same runs come from the store. */
static void test_run_json(void **state) {
    (void)state;
    char first_ids[3][40];
    for (int round = 0; round < 2; round++) {
        told answer = tell(HEX, "-a", "nu=0:0.4:0.2", "-p", "f32", "--json", "--db", in_workplace("json.db"));
        expect_code(answer, 0);
        char *rest = answer.out;
        for (int i = 0; i < 3; i++) {
            char *line = strsep(&rest, "\n");
            json_t *run = parse(line);
            assert_is_run(run, "f32");
            double nu = json_number_value(json_object_get(json_object_get(run, "params"), "nu"));
            assert_true(nu > 0.2 * i - 1e-9 && nu < 0.2 * i + 1e-9);
            if (round == 0) snprintf(first_ids[i], sizeof first_ids[i], "%s", string_of(run, "run_id"));
            assert_string_equal(first_ids[i], string_of(run, "run_id"));
            json_decref(run);
        }
        assert_string_equal(rest, "");
        forget(&answer);
    }
}

/* Every claim has a number, one of the four verdicts and the runs it is based on; every named picture exists. */
static void test_reproduce_json(void **state) {
    (void)state;
    static const char *const verdicts[] = {"reproduced", "partly", "not_reproduced", "not_run"};
    told answer = tell("reproduce", "rodero2016-fig3", "--quick", "--json", "--db", in_workplace("figure.db"), "--out",
                       in_workplace("pictures"));
    expect_code(answer, 0);
    json_t *figure = parse(answer.out), *claim, *plot;
    assert_string_equal(string_of(figure, "figure"), "rodero2016-fig3");
    size_t index;
    assert_true(json_array_size(json_object_get(figure, "claims")) > 0);
    json_array_foreach(json_object_get(figure, "claims"), index, claim) {
        assert_memory_equal(string_of(claim, "id"), "rodero2016-fig3.", 16);
        assert_true(strlen(string_of(claim, "says")) > 0);
        assert_true(json_array_size(json_object_get(claim, "run_ids")) > 0);
        const json_t *value = json_object_get(claim, "value");
        assert_true(json_is_number(value) || json_is_null(value));
        int known = 0;
        for (int i = 0; i < 4; i++) known += strcmp(string_of(claim, "verdict"), verdicts[i]) == 0;
        assert_int_equal(known, 1);
    }
    assert_true(json_is_array(json_object_get(figure, "plots")));
    json_array_foreach(json_object_get(figure, "plots"), index, plot)
        assert_int_equal(access(json_string_value(plot), R_OK), 0);
    json_decref(figure);
    forget(&answer);
}

/* `show` prints the command that repeats a stored run, and that command finds the same run. */
static void test_show_gives_the_command(void **state) {
    (void)state;
    const char *db = in_workplace("show.db");
    told made = tell(HEX, "-s", "nu=0.125", "--json", "--db", db);
    expect_code(made, 0);
    json_t *run = parse(made.out);
    const char *id = string_of(run, "run_id");
    told shown = tell("show", id, "--db", db);
    expect_code(shown, 0);
    expect_says(shown.out, id);
    expect_says(shown.out, "run hex_fit -m pbd_distance");
    expect_says(shown.out, "nu=0.125");
    told missing = tell("show", "0123456789abcdef", "--db", db);
    expect_code(missing, 2);
    expect_says(missing.err, "0123456789abcdef");
    json_decref(run);
    forget(&made);
    forget(&shown);
    forget(&missing);
}

static void test_env_json(void **state) {
    (void)state;
    told answer = tell("env", "--json");
    expect_code(answer, 0);
    assert_string_equal(answer.err, "");
    json_t *all = parse(answer.out);
    const json_t *build = json_object_get(all, "build"), *machine = json_object_get(all, "machine");
    assert_true(strlen(string_of(build, "compiler")) > 0 && strlen(string_of(build, "flags")) > 0);
    assert_int_equal(strlen(string_of(machine, "fingerprint")), 32);
    assert_int_equal(json_array_size(json_object_get(all, "backends")), 3);
    assert_true(json_array_size(json_object_get(all, "libraries")) > 5);
    expect_says(string_of(all, "licence"), "MIT");
    json_decref(all);
    forget(&answer);
}

/* ---- Nowhere to write to ----------------------------------------------------------------------------------------- */

static void test_lost_output_is_an_error(void **state) {
    (void)state;
    const char *db = in_workplace("lost.db");
    const char *const commands[][8] = {
        {"--help"}, {"--version"}, {"list"}, {"list", "methods", "--json"}, {"env"}, {HEX, "--json", "--db", db}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        for (int where = STDOUT_CLOSED; where <= STDOUT_FULL; where++) {
            told answer = tell_to((told_stdout)where, commands[i]);
            if (answer.code != 2 && answer.code != 5)
                fail_msg("%s with standard output %s: exit code %d, wanted 2 or 5", commands[i][0],
                         where == STDOUT_FULL ? "full" : "closed", answer.code);
            expect_says(answer.err, "output");
            forget(&answer);
        }
    }
}

/* Google Benchmark reads the variable V before main; a user who builds with `V=1 make` does not mean its flag. */
static void test_environment_of_others(void **state) {
    (void)state;
    static const char *const values[] = {"a", "3", ""};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        setenv("V", values[i], 1);
        told answer = tell("list", "backends");
        unsetenv("V");
        expect_code(answer, 0);
        assert_string_equal(answer.err, "");
        forget(&answer);
    }
}

/* ---- Anything at all --------------------------------------------------------------------------------------------- */

/* xorshift64*: the same commands on every machine. */
static uint64_t dice = 20161104;
static uint64_t roll(uint64_t sides) {
    dice ^= dice >> 12;
    dice ^= dice << 25;
    dice ^= dice >> 27;
    return (dice * 2685821657736338717u >> 33) % sides;
}

/* Words that are valid somewhere, and numbers that are out of every range or cheap to run. */
static const char *const known_words[] = {"list",
                                          "run",
                                          "sweep",
                                          "reproduce",
                                          "plot",
                                          "show",
                                          "cite",
                                          "db",
                                          "env",
                                          "check",
                                          "export",
                                          "merge",
                                          "methods",
                                          "figures",
                                          "hex_fit",
                                          "cube_shear",
                                          "cube_torsion",
                                          "pbd_distance",
                                          "fem_linear",
                                          "yu2024-fig6",
                                          "yu2024-fig1",
                                          "nonsense-fig1",
                                          "-m",
                                          "-s",
                                          "-a",
                                          "-b",
                                          "-p",
                                          "-t",
                                          "-r",
                                          "-q",
                                          "-x",
                                          "-y",
                                          "--db",
                                          "--out",
                                          "--json",
                                          "--quick",
                                          "--dry-run",
                                          "--no-store",
                                          "--again",
                                          "--seed",
                                          "--",
                                          "-",
                                          "--help",
                                          "--db=",
                                          "-mpbd_distance",
                                          "cpu",
                                          "cuda",
                                          "f32",
                                          "f64",
                                          "nu",
                                          "/dev/null",
                                          ".",
                                          "..",
                                          "/",
                                          "nan",
                                          "0",
                                          "1",
                                          "-1",
                                          "ff",
                                          "deadbeef",
                                          "0000"};
static const char *const known_keys[] = {
    "nu",        "E",      "edge", "cells",      "iterations", "solver",    "dt",     "density", "damping",
    "stiffness", "k_edge", "fit",  "convention", "load",       "max_steps", "nosuch", ""};
static const char *const known_values[] = {
    "",           "0",     "-0",   "1",         "-1",     "0.25",  "0.5",
    "1e308",      "-inf",  "nan",  "1e-308",    "0x1p-3", "1e400", "99999999999999999999",
    "jacobi",     "fixed", "0:1:", "0:0.4:0.2", "1,2",    ",",     "a:b:c",
    "0:1:1e-300", " 1",    "1 ",   "½",         "%s%n",   "small", "printed"};
/* Settings within their ranges, including the ends. */
/* clang-format off */
static const char *const known_settings[] = {
    "nu=0.25", "nu=0.4999999", "nu=-0.9999999", "E=1e308", "E=1e-308", "edge=1e-300", "edge=1e6", "dt=1", "dt=1e-308",
    "dt_scale=1e6", "density=1e9", "damping=1e6", "k_edge=1", "load=large", "fit=nelder_mead", "solver=coloured_gs",
    "stiffness=fixed", "stiffness=polynomial", "mode=static", "face_split=A", "base=weight", "constraints=no_volume",
    "fit_iterations=2", "spectrum=yes", "jacobian=yes", "order_samples=3", "shared=once", "convention=standard",
    "velocity_threshold=1e-300"};
/* clang-format on */
#define ANY(list) list[roll(sizeof list / sizeof *list)]

enum { LONGEST = 20000 };

static void random_word(char *word) {
    size_t length = 0;
    switch (roll(8)) {
        case 0: /* any bytes but '/', so that nothing is created outside the workplace */
            length = roll(12);
            for (size_t i = 0; i < length; i++) do
                    word[i] = (char)(1 + roll(255));
                while (word[i] == '/');
            word[length] = '\0';
            return;
        case 1: /* far too long */
            length = 200 + roll(LONGEST - 300);
            memset(word, "a9=:,-%"[roll(7)], length);
            word[length] = '\0';
            return;
        case 2:
        case 3:
            snprintf(word, LONGEST, "%s=%s", ANY(known_keys), ANY(known_values));
            return;
        default:
            snprintf(word, LONGEST, "%s", ANY(known_words));
            return;
    }
}

static void print_command(const char *const *words) {
    for (; *words; words++) {
        printf(" '");
        for (const char *p = *words; *p && p - *words < 60; p++)
            printf(*p > 31 && *p < 127 ? "%c" : "\\x%02x", (unsigned char)*p);
        printf(strlen(*words) >= 60 ? "...'" : "'");
    }
    printf("\n");
}

/* Makes a command line in `words`, with storage for random words in `room`. Half of them begin as a valid run and
 * continue mostly with settings, so that they reach the deeper checks. The last words keep a run short if it is valid.
 */
enum { RANDOM_WORDS = 7, COMMAND_WORDS = 40 };
static void random_command(const char *words[COMMAND_WORDS], char room[RANDOM_WORDS][LONGEST]) {
    static const char *const sound[] = {"run", "cube_shear", "-m", "pbd_distance"};
    static const char *const brief[] = {"-s", "max_steps=3000", "-s",   "cells=1",
                                        "-s", "iterations=1",   "--db", "fuzz.db"};
    bool deep = roll(2);
    size_t n = 0, extra = 1 + roll(deep ? 3 : RANDOM_WORDS);
    for (size_t k = 0; deep && k < sizeof sound / sizeof *sound; k++) words[n++] = sound[k];
    for (size_t k = 0; k < extra; k++) {
        bool setting = deep && roll(4);
        if (setting) words[n++] = "-s";
        if (setting && roll(3))
            snprintf(room[k], LONGEST, "%s", ANY(known_settings));
        else if (setting)
            snprintf(room[k], LONGEST, "%s=%s", ANY(known_keys), ANY(known_values));
        else
            random_word(room[k]);
        words[n++] = room[k];
    }
    bool runs = deep || strcmp(words[0], "run") == 0;
    for (size_t k = 0; runs && k < sizeof brief / sizeof *brief; k++) words[n++] = brief[k];
    words[n] = NULL;
}

/* Any command line exits with 0, 2 or 5, never by a signal or a hang, and 2 and 5 come with a message. */
static void test_anything_typed(void **state) {
    (void)state;
    enum { COMMANDS = SANITIZED ? 200 : 400 };
    static char room[RANDOM_WORDS][LONGEST];
    int seen[6] = {0}, trouble = 0;
    assert_int_equal(chdir(workplace()), 0);
    for (int i = 0; i < COMMANDS; i++) {
        const char *words[COMMAND_WORDS];
        random_command(words, room);
        told answer = tell_to(STDOUT_KEPT, words);
        bool allowed = answer.code == 0 || answer.code == 2 || answer.code == 5;
        if (allowed) seen[answer.code]++;
        if (!allowed || (answer.code != 0 && !*answer.err && !*answer.out)) {
            printf("[  ERROR   ] command %d: exit code %d:", i, answer.code);
            print_command(words);
            printf("%.2000s\n", answer.err);
            trouble++;
        }
        forget(&answer);
    }
    printf("[          ] %d commands: %d fine, %d bad input, %d failed runs\n", COMMANDS, seen[0], seen[2], seen[5]);
    assert_int_equal(trouble, 0);
    assert_true(seen[0] > 10 && seen[2] > COMMANDS / 4); /* both kinds occurred */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_names_get_the_nearest),
        cmocka_unit_test(test_values_out_of_range),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_no_verb_at_all),
        cmocka_unit_test(test_bad_input_leaves_the_store_alone),
        cmocka_unit_test(test_every_verb_has_help),
        cmocka_unit_test(test_help_lists_parameters),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_list_json),
        cmocka_unit_test(test_backends_keep_their_word),
        cmocka_unit_test(test_run_json),
        cmocka_unit_test(test_reproduce_json),
        cmocka_unit_test(test_show_gives_the_command),
        cmocka_unit_test(test_env_json),
        cmocka_unit_test(test_lost_output_is_an_error),
        cmocka_unit_test(test_environment_of_others),
        cmocka_unit_test(test_anything_typed),
    };
    return cmocka_run_group_tests_name("command line", tests, NULL, remove_workplace);
}
