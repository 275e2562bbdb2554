/* The gate: its exit codes, its order (errors, counts, times), its control and its second block. The programs that it
 * compares are scripts with prescribed answers, so that nothing here depends on a clock. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "harness/compare/pairing.h"
#include "program.h"

/* A program NAME.sh. It answers `run` for a cell of name CASE with the error, count and state in NAME.answer, and with
 * the next recorded time multiplied by NAME.factor; `reproduce` exits with the code in NAME.claims. Times are in
 * microseconds, because a shell has integers only. The recorded times are CPU times of one cell, measured in a row on a
 * shared machine. */
static const char script[] =
    "#!/bin/sh\n"
    "cd \"${0%/*}\"; me=${0##*/}; me=${me%.sh}\n"
    "read error count state <$me.answer; read factor from wild <$me.factor; read claims <$me.claims\n"
    "if [ \"$1\" = reproduce ]; then\n"
    "  echo \"$@ \" >$me.words; [ $claims != 2 ] || echo 'pbdbench: gnuplot is missing' >&2\n"
    "  echo \"{\\\"figure\\\":\\\"$2\\\",\\\"claims\\\":[{\\\"verdict\\\":\\\"reproduced\\\"}]}\"; exit $claims\n"
    "fi\n"
    "[ \"$state\" != unknown ] || { echo 'pbdbench: no such case' >&2; exit 2; }\n"
    "n=0; [ -f calls ] && read n <calls; n=$((n + 1)); echo $n >calls\n"
    "mine=0; [ -f $me.count ] && read mine <$me.count; mine=$((mine + 1)); echo $mine >$me.count\n"
    "set -- 19564 19718 19470 19301 19679 19496 19729 19432 19321 19540 19803 20212 19306 19536 19761 19466 19214 \\\n"
    "  19155 18982 19339 18985 19193 19124 19162 19349 19294 19243 19303 19866 19647 19511 19517 19536 19523 19637\n"
    "shift $((n * 11 % 35)); time=$1\n"
    "[ $mine -lt $from ] || time=$((time * factor / 1000))\n"
    "[ $wild = 0 ] || time=$((time + n * n * n % 9973 * 613 % wild))\n"
    "echo "
    "\"{\\\"run_id\\\":\\\"\\\",\\\"cell_id\\\":\\\"c\\\",\\\"backend\\\":\\\"cpu\\\",\\\"precision\\\":\\\"f64\\\","
    "\\\"threads\\\":1,\\\"state\\\":\\\"$state\\\",\\\"says\\\":\\\"\\\",\\\"metrics\\\":{"
    "\\\"tip_error\\\":{\\\"value\\\":$error,\\\"unit\\\":\\\"1\\\",\\\"direction\\\":\\\"lower\\\"},"
    "\\\"steps\\\":{\\\"value\\\":$count,\\\"unit\\\":\\\"1\\\",\\\"direction\\\":\\\"neutral\\\"},"
    "\\\"solve_cpu\\\":{\\\"value\\\":${time}e-6,\\\"unit\\\":\\\"s\\\",\\\"direction\\\":\\\"lower\\\"},"
    "\\\"solve_wall\\\":{\\\"value\\\":${time}e-6,\\\"unit\\\":\\\"s\\\",\\\"direction\\\":\\\"lower\\\"}},"
    "\\\"timing\\\":{}}\"\n"
    "[ $state != diverged ] || exit 5\n";

static char source_root[PATH_MAX]; /* root of the checkout, before the tests set their own root */

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(in_workplace(name), "w");
    if (!file) fail_msg("%s: %s", name, strerror(errno));
    fputs(text, file);
    fclose(file);
}

static const char two_cells[] =
    "cells:\n"
    "  - name: one\n"
    "    case: cube_shear\n"
    "    method: pbd_distance\n"
    "    set: [\"cells=2\"]\n"
    "  - name: two\n"
    "    case: cube_traction\n"
    "    method: pbd_distance\n"
    "    tolerances: [\"tip_error=0.5\"]\n"
    "figures: [\"rodero2016-fig3\"]\n";

/* Two equal programs, as for an unchanged tree. */
static int begin_anew(void **state) {
    (void)state;
    static const char *const names[] = {"old.count", "new.count", "calls"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(in_workplace(names[i]));
    for (int i = 0; i < 2; i++) {
        write_file(i ? "new.sh" : "old.sh", script);
        if (chmod(in_workplace(i ? "new.sh" : "old.sh"), 0755) != 0) return -1;
        write_file(i ? "new.answer" : "old.answer", "0.25 120 ok\n");
        write_file(i ? "new.factor" : "old.factor", "1000 0 0\n");
        write_file(i ? "new.claims" : "old.claims", "0\n");
    }
    write_file("suite.yaml", two_cells);
    write_file("gate.yaml", two_cells);
    return 0;
}

static told gate_with(const char *extra, const char *value) {
    char old_path[PATH_MAX], new_path[PATH_MAX], suite[PATH_MAX];
    snprintf(old_path, sizeof old_path, "%s", in_workplace("old.sh"));
    snprintf(new_path, sizeof new_path, "%s", in_workplace("new.sh"));
    snprintf(suite, sizeof suite, "%s", in_workplace("suite.yaml"));
    return tell("gate", "--baseline", old_path, "--current", new_path, "--suite", suite, "--no-store", "--seed", "5",
                "--max-load", "1000000", "--max-steal", "1", "--confirm-after", "0", extra, value);
}
static told gate(void) { return gate_with(NULL, NULL); }

static long read_count(const char *name) {
    long n = 0;
    FILE *file = fopen(in_workplace(name), "r");
    if (file && fscanf(file, "%ld", &n) != 1) n = -1;
    if (file) fclose(file);
    return n;
}

/* ---- Exit codes -------------------------------------------------------------------------------------------------- */

static void an_unchanged_tree_passes(void **state) {
    (void)state;
    told answer = gate();
    expect_code(answer, 0);
    expect_says(answer.out, "no regression");
    expect_says(answer.out, "control");
    expect_says(answer.out, "1 claims: 1 reproduced");
    forget(&answer);
}

static void a_slowdown_is_a_regression(void **state) {
    (void)state;
    write_file("new.factor", "1090 0 0\n");
    told answer = gate();
    expect_code(answer, 1);
    expect_says(answer.out, "regression");
    expect_says(answer.out, "again"); /* measured a second time */
    forget(&answer);
}

static void a_speedup_passes(void **state) {
    (void)state;
    write_file("new.factor", "800 0 0\n");
    told answer = gate();
    expect_code(answer, 0);
    forget(&answer);
}

static void an_allowed_slowdown_passes(void **state) {
    (void)state;
    write_file("new.factor", "1050 0 0\n");
    told answer = gate_with("--max-regression", "10%");
    expect_code(answer, 0);
    forget(&answer);
}

static void a_worse_error_is_wrong_and_ends_it(void **state) {
    (void)state;
    write_file("new.answer", "0.26 120 ok\n");
    write_file("new.factor", "2000 0 0\n"); /* slower too: 3 outranks 1 */
    told answer = gate();
    expect_code(answer, 3);
    expect_says(answer.out, "tip_error");
    expect_says(answer.out, "times were not judged");
    assert_int_equal(read_count("new.count"), 2); /* each cell once: nothing was timed */
    forget(&answer);
}

static void a_changed_count_is_wrong(void **state) {
    (void)state;
    write_file("new.answer", "0.25 121 ok\n");
    told answer = gate();
    expect_code(answer, 3);
    expect_says(answer.out, "steps");
    forget(&answer);
}

static void an_error_past_its_tolerance_is_wrong_though_the_baseline_has_it_too(void **state) {
    (void)state;
    write_file("old.answer", "0.75 120 ok\n");
    write_file("new.answer", "0.75 120 ok\n");
    told answer = gate();
    expect_code(answer, 3);
    forget(&answer);
}

static void a_run_that_diverges_is_wrong(void **state) {
    (void)state;
    write_file("new.answer", "0.25 120 diverged\n");
    told answer = gate();
    expect_code(answer, 3);
    expect_says(answer.out, "diverged");
    forget(&answer);
}

static void a_changed_claim_is_wrong(void **state) {
    (void)state;
    write_file("new.claims", "3\n");
    told answer = gate();
    expect_code(answer, 3);
    expect_says(answer.out, "differs from the accepted one");
    forget(&answer);
}

/* One process of the baseline is a tenth slower than the other in every pair. The order of calls within a pair follows
 * from the seed, so it is taken from a comparison with the same seed. */
static void a_control_that_alarms_is_inconclusive(void **state) {
    (void)state;
    static const char *const words[] = {"cube_shear", "-m", "pbd_distance", "-b", "cpu", "-p", "f64", "-t", "1", NULL};
    static const char slow_by_list[] =
        "#!/bin/sh\nn=0; cd \"${0%/*}\"; [ -f calls ] && read n <calls; n=$((n + 1)); echo $n >calls\n"
        "case $(cut -c $n slow) in s) t=22000;; *) t=20000;; esac; t=$((t + n * 37 % 100))\n"
        "echo "
        "\"{\\\"run_id\\\":\\\"\\\",\\\"cell_id\\\":\\\"c\\\",\\\"backend\\\":\\\"cpu\\\",\\\"precision\\\":"
        "\\\"f64\\\","
        "\\\"threads\\\":1,\\\"state\\\":\\\"ok\\\",\\\"says\\\":\\\"\\\",\\\"metrics\\\":{\\\"solve_cpu\\\":{"
        "\\\"value\\\":${t}e-6,"
        "\\\"unit\\\":\\\"s\\\",\\\"direction\\\":\\\"lower\\\"}},\\\"timing\\\":{}}\"\n";
    char program[PATH_MAX], slow[3 + 3 * PBD_MOST_PAIRS] = "ff"; /* first one call of each program, for errors */
    write_file("old.sh", slow_by_list);
    write_file("new.sh", slow_by_list);
    write_file("slow", "");
    snprintf(program, sizeof program, "%s", in_workplace("old.sh"));
    const pbd_arm arm = {.name = "old", .program = program, .word = words};
    const pbd_pairing_request request = {.a = arm,
                                         .b = arm,
                                         .margin = 0.02,
                                         .seconds = 0.05,
                                         .first_pairs = 12,
                                         .most_pairs = 12,
                                         .seed = 6, /* the seed of the gate, plus 1 for its first cell */
                                         .max_load = 1e6,
                                         .max_steal = 1,
                                         .purpose = "gate"};
    pbd_pairing orders;
    const pbd_status status = pbd_pair(&request, NULL, NULL, &orders);
    if (status.code != PBD_OK) fail_msg("%s", status.text);
    for (size_t i = 0; i < 12; i++)
        for (int turn = 0; turn < PBD_ARMS; turn++)
            slow[2 + 3 * i + turn] = orders.order[i][turn] == PBD_ARM_CONTROL ? 's' : 'f';
    pbd_pairing_free(&orders);
    unlink(in_workplace("calls"));
    write_file("slow", slow);
    write_file("suite.yaml", "cells:\n  - {name: one, case: cube_shear, method: pbd_distance}\n");
    told answer = gate_with("--max-pairs", "12");
    expect_code(answer, 4);
    expect_says(answer.out, "the baseline differs from another process of itself by +");
    expect_says(answer.out, "1 alarms");
    forget(&answer);
}

static void noise_that_hides_everything_is_inconclusive(void **state) {
    (void)state;
    write_file("old.factor", "1000 0 9000\n");
    write_file("new.factor", "1000 0 9000\n");
    told answer = gate();
    expect_code(answer, 4);
    expect_says(answer.out, "undecided");
    expect_says(answer.out, "more pairs would decide");
    forget(&answer);
}

/* Slow in the first block but not in the second: a transient disturbance. The new program is called twice for errors
 * (once per cell), then 12 times for each cell. */
static void what_a_second_block_does_not_confirm_passes(void **state) {
    (void)state;
    char text[] =
        "#!/bin/sh\ncd \"${0%/*}\"; n=0; [ -f new.count ] && read n <new.count\n"
        "if [ $n -ge 26 ]; then echo 1000 0 0 >new.factor; else echo 1200 2 0 >new.factor; fi\nexec ./real.sh \"$@\"\n";
    write_file("real.sh", script);
    FILE *file = fopen(in_workplace("real.sh"), "w");
    assert_non_null(file);
    for (const char *c = script; *c; c++) /* it runs under the name new */
        if (strncmp(c, "me=${0##*/}; me=${me%.sh}", 25) == 0)
            fputs("me=new", file), c += 24;
        else
            fputc(*c, file);
    fclose(file);
    assert_int_equal(chmod(in_workplace("real.sh"), 0755), 0);
    write_file("new.sh", text);
    told answer = gate();
    expect_code(answer, 0);
    expect_says(answer.out, "does not confirm");
    forget(&answer);
}

static void a_cell_that_the_baseline_lacks_is_named(void **state) {
    (void)state;
    write_file("old.answer", "0 0 unknown\n");
    told answer = gate();
    expect_code(answer, 4); /* nothing was compared, which is no pass */
    expect_says(answer.out, "new");
    expect_says(answer.out, "no such case");
    expect_says(answer.out, "none of the cells");
    forget(&answer);
}

/* A suite without timed cells says so; its answers alone decide. */
static void a_suite_without_times_passes_by_its_answers(void **state) {
    (void)state;
    write_file("suite.yaml", "cells:\n  - {name: one, case: cube_shear, method: pbd_distance, untimed: true}\n");
    told answer = gate();
    expect_code(answer, 0);
    expect_says(answer.out, "times nothing");
    assert_null(strstr(answer.out, "control"));
    forget(&answer);
    answer = gate_with("--markdown", "-");
    expect_code(answer, 0);
    assert_null(strstr(answer.out, "CPU time"));
    forget(&answer);
}

/* gnuplot missing, disk full: the claims have no verdict, which does not count as a changed verdict. */
static void a_figure_that_cannot_be_judged_is_undecided(void **state) {
    (void)state;
    write_file("new.claims", "2\n");
    told answer = gate();
    expect_code(answer, 4);
    expect_says(answer.out, "could not be judged: gnuplot is missing");
    expect_says(answer.out, "control"); /* cells were timed nevertheless */
    forget(&answer);
    write_file("new.claims", "5\n");
    answer = gate();
    expect_code(answer, 3); /* its runs fail: as bad as a wrong answer */
    forget(&answer);
}

/* Pictures and, with --no-store, runs of the figures go to a folder that is removed afterwards. */
static void figures_leave_nothing_behind(void **state) {
    (void)state;
    told answer = gate();
    expect_code(answer, 0);
    forget(&answer);
    char words[2048] = "", *out, *db;
    FILE *file = fopen(in_workplace("new.words"), "r");
    assert_non_null(file);
    assert_non_null(fgets(words, sizeof words, file));
    fclose(file);
    assert_non_null(out = strstr(words, "--out "));
    assert_non_null(db = strstr(words, "--db "));
    char *folder = strtok(out + 6, " ");
    assert_non_null(folder);
    assert_int_not_equal(access(folder, F_OK), 0);
    assert_memory_equal(db + 5, folder, strlen(folder));
}

/* ---- Input ------------------------------------------------------------------------------------------------------- */

static void expect_refused(const char *suite, const char *says) {
    write_file("suite.yaml", suite);
    told answer = gate();
    expect_code(answer, 2);
    expect_says(answer.err, says);
    forget(&answer);
    assert_int_equal(read_count("calls"), 0); /* nothing ran */
}

static void bad_suites_are_refused(void **state) {
    (void)state;
    expect_refused("cells:\n  - {name: one, case: cube_sheer, method: pbd_distance}\n", "cube_shear");
    expect_refused("cells:\n  - {name: one, case: cube_shear, method: pbd_distance, set: [\"nu=0.7\"]}\n", "nu");
    expect_refused("cells:\n  - {name: one, kase: cube_shear, method: pbd_distance}\n", "line 2");
    expect_refused("cells: []\n", "suite.yaml");
    expect_refused(
        "cells:\n  - {name: one, case: cube_shear, method: pbd_distance}\n"
        "  - {name: one, case: cube_shear, method: pbd_distance}\n",
        "the same name");
    expect_refused("cells:\n  - {name: one, case: cube_shear, method: pbd_distance}\nfigures: [rodero2016-fig33]\n",
                   "rodero2016-fig3");
    expect_refused("cells:\n  - {name: one, case: cube_shear, method: pbd_distance, tolerances: [\"x=y\"]}\n", "x=y");
}

static void bad_words_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *words[4], *says;
    } bad[] = {{{NULL}, "needs --baseline"},
               {{"--baseline", "no-such-revision-4711", NULL}, "no-such-revision-4711"},
               {{"--baseline", "HEAD", "--max-pairs=9", NULL}, "8, 12, 20 or 40"},
               {{"--baseline", "HEAD", "--max-regression=-1%", NULL}, "max-regression"},
               {{"--baseline", "HEAD", "more", NULL}, "takes no argument"},
               {{"--baseline", "HEAD", "--suite=/nowhere.yaml", NULL}, "/nowhere.yaml"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const *w = bad[i].words;
        told answer = w[0] ? tell("gate", w[0], w[1], w[2]) : tell("gate");
        expect_code(answer, 2);
        expect_says(answer.err, bad[i].says);
        forget(&answer);
    }
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

static void json_holds_everything(void **state) {
    (void)state;
    write_file("new.factor", "1090 0 0\n");
    told answer = gate_with("--json", NULL);
    expect_code(answer, 1);
    json_t *object = json_loads(answer.out, 0, NULL), *cells = json_object_get(object, "cells");
    assert_non_null(object);
    assert_int_equal(json_integer_value(json_object_get(object, "exit")), 1);
    assert_int_equal(json_array_size(cells), 2);
    const json_t *pairs = json_object_get(json_array_get(cells, 0), "pairs");
    const double slowdown = json_number_value(json_object_get(pairs, "slowdown")),
                 low = json_number_value(json_object_get(pairs, "low")),
                 high = json_number_value(json_object_get(pairs, "high"));
    if (!(low < 0.09 && 0.09 < high && fabs(slowdown - 0.09) < 0.02))
        fail_msg("slowdown %g [%g, %g], planted 0.09", slowdown, low, high);
    assert_string_equal(json_string_value(json_object_get(json_array_get(cells, 1), "verdict")), "regression");
    json_decref(object);
    forget(&answer);
}

static void markdown_is_a_table(void **state) {
    (void)state;
    told answer = gate_with("--markdown", "-");
    expect_code(answer, 0);
    expect_says(answer.out, "### pbdbench gate: no regression");
    expect_says(answer.out, "| --- | --- | ---: |");
    expect_says(answer.out, "| one | ok |");
    expect_says(answer.out, "--seed 5");
    expect_says(answer.out, "--no-store");
    expect_says(answer.out, "new.sh`. Again");
    forget(&answer);
    answer = gate_with("--markdown", "/nowhere/table.md");
    expect_code(answer, 2);
    forget(&answer);
}

/* The suite has two cells of pbd_distance and a figure. */
static void only_keeps_the_cells_of_a_method(void **state) {
    (void)state;
    write_file("suite.yaml",
               "cells:\n  - {name: one, case: cube_shear, method: pbd_distance}\n"
               "  - {name: two, case: cube_traction, method: fem_linear}\n"
               "  - {name: three, case: cube_traction, method: pbd_distance}\nfigures: [rodero2016-fig3]\n");
    told answer =
        tell("gate", "--dry-run", "--baseline", "HEAD", "--suite", in_workplace("suite.yaml"), "--only", "fem_linear");
    expect_code(answer, 0);
    expect_says(answer.out, "1 cells");
    expect_says(answer.out, "two");
    assert_null(strstr(answer.out, "rodero2016"));
    forget(&answer);
    answer = tell("gate", "--dry-run", "--baseline", "HEAD", "--suite", in_workplace("suite.yaml"), "--only", "mpm",
                  "--only", "pbd_distance");
    expect_code(answer, 2);
    expect_says(answer.err, "'mpm'");
    forget(&answer);
}

static void a_dry_run_runs_nothing(void **state) {
    (void)state;
    told answer = gate_with("--dry-run", NULL);
    expect_code(answer, 0);
    expect_says(answer.out, "2 cells");
    assert_int_equal(read_count("calls"), 0);
    forget(&answer);
}

/* Every cell that the suite in the checkout names exists. */
static void the_suite_of_the_checkout_is_sound(void **state) {
    (void)state;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/gate.yaml", source_root);
    told answer = tell("gate", "--dry-run", "--baseline", "HEAD", "--suite", path);
    expect_code(answer, 0);
    forget(&answer);
}

#define TEST(name) cmocka_unit_test_setup(name, begin_anew)

int main(void) {
    snprintf(source_root, sizeof source_root, "%s", getenv("PBDBENCH_ROOT") ? getenv("PBDBENCH_ROOT") : ".");
    const struct CMUnitTest tests[] = {
        TEST(an_unchanged_tree_passes),
        TEST(a_slowdown_is_a_regression),
        TEST(a_speedup_passes),
        TEST(an_allowed_slowdown_passes),
        TEST(a_worse_error_is_wrong_and_ends_it),
        TEST(a_changed_count_is_wrong),
        TEST(an_error_past_its_tolerance_is_wrong_though_the_baseline_has_it_too),
        TEST(a_run_that_diverges_is_wrong),
        TEST(a_changed_claim_is_wrong),
        TEST(a_control_that_alarms_is_inconclusive),
        TEST(noise_that_hides_everything_is_inconclusive),
        TEST(what_a_second_block_does_not_confirm_passes),
        TEST(a_cell_that_the_baseline_lacks_is_named),
        TEST(a_suite_without_times_passes_by_its_answers),
        TEST(a_figure_that_cannot_be_judged_is_undecided),
        TEST(figures_leave_nothing_behind),
        TEST(bad_suites_are_refused),
        TEST(bad_words_are_refused),
        TEST(json_holds_everything),
        TEST(markdown_is_a_table),
        TEST(only_keeps_the_cells_of_a_method),
        TEST(a_dry_run_runs_nothing),
        TEST(the_suite_of_the_checkout_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
