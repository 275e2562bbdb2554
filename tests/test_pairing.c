/* Paired comparisons: verdicts on known times, errors before times, and every way in which a process can go wrong. The
 * processes are a script that says what the test wants; one comparison at the end is real. Nothing here judges a time.
 */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "harness/compare/pairing.h"
#include "harness/compare/program_image.h"
#include "harness/process/child.h"
#include "program.h"
#include "store_sample.h"

/* ---- A program that says what it is told ------------------------------------------------------------------------- */

/* a.sh and b.sh: the n-th call says line n of a.says; each call is noted in `calls`, with the cores it may use. */
static const char script[] =
    "#!/bin/sh\n"
    "cd \"${0%/*}\"; me=${0##*/}; me=${me%.sh}\n"
    "n=0; [ -f $me.count ] && read n <$me.count\n"
    "n=$((n + 1)); echo $n >$me.count\n"
    "i=0; while [ $i -lt $n ] && IFS= read -r line; do i=$((i + 1)); done <$me.says\n"
    "while read -r key value; do [ \"$key\" != Cpus_allowed_list: ] || cores=$value; done </proc/self/status\n"
    "echo \"$me $cores $*\" >>calls\n"
    "case \"$line\" in\n"
    "CRASH) kill -SEGV $$ ;;\n"
    "REFUSE) echo 'pbdbench: E=-1 must be above 0' >&2; exit 2 ;;\n"
    "OLD) printf \"pbdbench: unrecognized option '--time'\\npbdbench: see ...\\n\" >&2; exit 2 ;;\n"
    "SILENT) exit 0 ;;\n"
    "INTERRUPT) kill -INT $PPID; exit 130 ;;\n"
    "*'\"diverged\"'*) echo \"$line\"; exit 5 ;;\n"
    "*) echo \"$line\" ;;\n"
    "esac\n";

/* What a run says, with what differs between the tests. */
typedef struct saying {
    const char *cell, *precision, *state;
    double error;
    long steps, launches;
    int threads;
} saying;

static const saying plain = {"cell", "f64", "ok", 0.25, 12, 100, 1};

static void say(FILE *out, const saying *s, double cpu, double wall) {
    fprintf(out,
            "{\"run_id\":\"\",\"cell_id\":\"%s\",\"backend\":\"cpu\",\"precision\":\"%s\",\"threads\":%d,"
            "\"state\":\"%s\",\"says\":\"\",\"metrics\":{"
            "\"tip_error\":{\"value\":%.17e,\"unit\":\"1\",\"direction\":\"lower\"},"
            "\"tip\":{\"value\":2.5,\"unit\":\"m\",\"direction\":\"neutral\"},"
            "\"steps\":{\"value\":%ld,\"unit\":\"1\",\"direction\":\"neutral\"},"
            "\"kernel_launches\":{\"value\":%ld,\"unit\":\"1\",\"direction\":\"neutral\"},"
            "\"solve_cpu\":{\"value\":%.17e,\"unit\":\"s\",\"direction\":\"lower\"},"
            "\"solve_wall\":{\"value\":%.17e,\"unit\":\"s\",\"direction\":\"lower\"}},\"timing\":{}}\n",
            s->cell, s->precision, s->threads, s->state, s->error, s->steps, s->launches, cpu, wall);
}

static FILE *open_file(const char *name, const char *mode) {
    FILE *file = fopen(in_workplace(name), mode);
    if (!file) fail_msg("%s: %s", name, strerror(errno));
    return file;
}

static void write_file(const char *name, const char *text) {
    FILE *file = open_file(name, "w");
    fputs(text, file);
    fclose(file);
}

static int begin_anew(void **state) {
    (void)state;
    static const char *const names[] = {"a.count", "b.count", "calls"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(in_workplace(names[i]));
    for (int i = 0; i < 2; i++) {
        write_file(i ? "b.sh" : "a.sh", script);
        if (chmod(in_workplace(i ? "b.sh" : "a.sh"), 0755) != 0) return -1;
        write_file(i ? "b.says" : "a.says", "");
    }
    return 0;
}

/* CPU times (ms) of 40 pairs of processes of one and the same cell, as they were measured on a shared machine. */
static const double recorded[80] = {
    19.564, 19.718, 19.470, 19.301, 19.679, 19.496, 19.729, 19.432, 19.321, 19.540, 19.803, 20.212, 19.306, 19.536,
    19.761, 19.466, 19.214, 19.155, 18.982, 19.339, 18.985, 19.193, 19.124, 19.162, 19.349, 19.294, 19.243, 19.303,
    19.866, 19.647, 19.511, 19.517, 19.536, 19.523, 19.637, 21.297, 19.663, 19.489, 19.542, 19.606, 19.475, 19.489,
    19.661, 19.524, 19.510, 19.609, 19.436, 19.572, 19.688, 19.765, 19.456, 19.552, 20.330, 19.366, 19.463, 19.094,
    19.122, 19.046, 19.050, 19.180, 19.089, 19.156, 19.073, 19.163, 19.554, 19.518, 20.663, 20.070, 22.827, 19.765,
    19.787, 19.337, 19.733, 19.789, 19.583, 20.040, 19.570, 19.594, 19.674, 19.362};

/* What A says in a pair, and its other process, the control, after or before it: the same. */
static void say_twice(FILE *of_a, const saying *a, double cpu, double wall) {
    say(of_a, a, cpu, wall);
    say(of_a, a, cpu, wall);
}

/* Both arms say `pairs` recorded times; B's are `factor` of what was measured, and spread so far as they were. */
static void say_times(const saying *a, const saying *b, size_t pairs, double factor) {
    FILE *of_a = open_file("a.says", "w"), *of_b = open_file("b.says", "w");
    for (size_t i = 0; i < pairs; i++) {
        say_twice(of_a, a, 1e-3 * recorded[2 * i], 2e-3 * recorded[2 * i]);
        say(of_b, b, 1e-3 * factor * recorded[2 * i + 1], 1e-3 * recorded[2 * i + 1]);
    }
    fclose(of_a);
    fclose(of_b);
}

/* One answer of each arm. */
static void say_once(const char *a, const char *b) {
    write_file("a.says", a);
    write_file("b.says", b);
}

/* These tests run on busy machines. */
#define ANY_LOAD 1e6
#define ANY_LOAD_TEXT "1000000"

/* ---- Asking for a comparison ------------------------------------------------------------------------------------- */

static pbd_status pair_with(const pbd_pairing_request *more, pbd_pairing *out) {
    static const char *const words[] = {"bar", "-m", "fake", "-t", "1", NULL};
    char a[PATH_MAX], b[PATH_MAX];
    snprintf(a, sizeof a, "%s", in_workplace("a.sh"));
    snprintf(b, sizeof b, "%s", in_workplace("b.sh"));
    pbd_pairing_request r = *more;
    r.a = (pbd_arm){"first", a, words};
    r.b = (pbd_arm){"second", b, words};
    if (r.margin == 0) r.margin = 0.02;
    if (r.most_pairs == 0) r.most_pairs = 40;
    if (r.max_load == 0) r.max_load = ANY_LOAD;
    r.seconds = 0.5;
    r.purpose = "compare";
    return pbd_pair(&r, NULL, NULL, out);
}

static pbd_pairing pair(size_t most_pairs) {
    pbd_pairing out;
    const pbd_pairing_request r = {.most_pairs = most_pairs, .seed = 1};
    assert_fine(pair_with(&r, &out));
    return out;
}

static size_t calls(void) {
    FILE *file = fopen(in_workplace("calls"), "r");
    size_t lines = 0;
    for (int c; file && (c = fgetc(file)) != EOF;) lines += c == '\n';
    if (file) fclose(file);
    return lines;
}

/* ---- Verdicts ---------------------------------------------------------------------------------------------------- */

static void expect_verdict(double factor, pbd_verdict verdict, size_t pairs) {
    say_times(&plain, &plain, 40, factor);
    pbd_pairing out = pair(40);
    assert_int_equal(out.differs.code, PBD_OK);
    assert_string_equal(pbd_verdict_name(out.verdict), pbd_verdict_name(verdict));
    assert_int_equal(out.pairs, pairs);
    assert_int_equal(calls(), 3 * pairs);
    assert_true(out.of_b.judgement.log_ratio.low <= out.of_b.judgement.log_ratio.estimate);
    assert_true(out.of_b.judgement.log_ratio.high >= out.of_b.judgement.log_ratio.estimate);
    for (size_t i = 0; i < pairs; i++) {
        const double wanted = log(factor * recorded[2 * i + 1] / recorded[2 * i]);
        assert_true(fabs(out.of_b.log_ratio[i] - wanted) < 1e-12);
        assert_true(out.of_control.log_ratio[i] == 0);
    }
    pbd_pairing_free(&out);
}

static void a_tenth_more_is_slower(void **state) {
    (void)state;
    expect_verdict(1.1, PBD_SLOWER, 8);
}

static void a_tenth_less_is_faster(void **state) {
    (void)state;
    expect_verdict(0.9, PBD_FASTER, 8);
}

/* They were the same program. Eight pairs reach from -1.5 to 2.0 %, which is more than the margin; of twelve the
 * interval is as a program of its own counted it. */
static void the_same_program_is_the_same(void **state) {
    (void)state;
    expect_verdict(1.0, PBD_SAME, 12);
    begin_anew(NULL);
    say_times(&plain, &plain, 40, 1.0);
    pbd_pairing out = pair(40);
    assert_true(fabs(out.of_b.judgement.log_ratio.low - -0.012191852662205559) < 1e-12);
    assert_true(fabs(out.of_b.judgement.log_ratio.high - 0.015857052695154382) < 1e-12);
    pbd_pairing_free(&out);
}

/* Eight signed ranks at a two-sided chance of 2 / 2^8: the interval is from the least to the largest ratio, and the
 * estimate the median of all averages of two, which were sorted by hand for these. */
static void eight_pairs_give_the_range(void **state) {
    (void)state;
    static const double ratio[8] = {1.04, 1.05, 1.06, 1.05, 1.04, 1.06, 1.05, 1.05};
    FILE *a = open_file("a.says", "w"), *b = open_file("b.says", "w");
    for (size_t i = 0; i < 8; i++) {
        say_twice(a, &plain, 1, 1);
        say(b, &plain, ratio[i], 1);
    }
    fclose(a);
    fclose(b);
    pbd_pairing out = pair(8);
    assert_int_equal(out.of_b.judgement.verdict, PBD_SLOWER);
    assert_true(fabs(out.of_b.judgement.log_ratio.low - log(1.04)) < 1e-14);
    assert_true(fabs(out.of_b.judgement.log_ratio.high - log(1.06)) < 1e-14);
    assert_true(fabs(out.of_b.judgement.log_ratio.estimate - log(1.05)) < 1e-14);
    /* All above the margin: 1 of 2^8, of which the first look has 2 / 2^8 of 0.02 for both sides. */
    assert_true(fabs(pbd_pairing_p(&out, 0.02, 1) - 0.02 / 2) < 1e-14);
    assert_true(pbd_pairing_p(&out, 0.02, -1) == 1);
    pbd_pairing_free(&out);
}

/* Ratios to and fro by a tenth: twelve pairs cannot tell. */
static void to_and_fro_is_inconclusive(void **state) {
    (void)state;
    FILE *a = open_file("a.says", "w"), *b = open_file("b.says", "w");
    for (size_t i = 0; i < 12; i++) {
        say_twice(a, &plain, 1, 1);
        say(b, &plain, i % 2 ? 1.1 : 1 / 1.1, 1);
    }
    fclose(a);
    fclose(b);
    pbd_pairing out = pair(12);
    assert_int_equal(out.of_b.judgement.verdict, PBD_INCONCLUSIVE);
    assert_int_equal(out.pairs, 12);
    assert_true(out.of_b.judgement.more_pairs > 0);
    assert_true(out.of_b.judgement.detectable > 0);
    pbd_pairing_free(&out);
}

static void more_pairs_can_be_asked_for(void **state) {
    (void)state;
    say_times(&plain, &plain, 40, 1.1);
    pbd_pairing out;
    assert_fine(pair_with(&(pbd_pairing_request){.first_pairs = 20}, &out));
    assert_int_equal(out.pairs, 20);
    assert_int_equal(out.of_b.judgement.verdict, PBD_SLOWER);
    pbd_pairing_free(&out);
}

static void the_clock_is_the_cpu_s_on_one_thread(void **state) {
    (void)state;
    saying two = plain;
    two.threads = 2;
    static const struct {
        bool two_threads;
        pbd_clock asked, used;
    } cases[] = {{false, PBD_CLOCK_AUTO, PBD_CLOCK_CPU},
                 {false, PBD_CLOCK_WALL, PBD_CLOCK_WALL},
                 {true, PBD_CLOCK_AUTO, PBD_CLOCK_WALL},
                 {true, PBD_CLOCK_CPU, PBD_CLOCK_CPU}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_anew(NULL);
        say_times(cases[i].two_threads ? &two : &plain, &plain, 8, 1.5);
        pbd_pairing out;
        assert_fine(pair_with(&(pbd_pairing_request){.clock = cases[i].asked, .most_pairs = 8}, &out));
        assert_int_equal(out.clock, cases[i].used);
        /* B's CPU time is half as much again, its wall time half as much, as A's. */
        assert_int_equal(out.of_b.judgement.verdict, cases[i].used == PBD_CLOCK_CPU ? PBD_SLOWER : PBD_FASTER);
        pbd_pairing_free(&out);
    }
}

/* B is a tenth slower in every pair, but so is one process of A than the other. */
static void a_control_that_differs_leaves_no_verdict(void **state) {
    (void)state;
    FILE *a = open_file("a.says", "w"), *b = open_file("b.says", "w");
    pbd_pairing orders;
    for (int i = 0; i < 8; i++) {
        say_twice(a, &plain, 1, 1);
        say(b, &plain, 1.1, 1);
    }
    fclose(a);
    fclose(b);
    assert_fine(pair_with(&(pbd_pairing_request){.seed = 3, .most_pairs = 8}, &orders));
    begin_anew(NULL);
    a = open_file("a.says", "w");
    b = open_file("b.says", "w");
    for (int i = 0; i < 8; i++) {
        for (int turn = 0; turn < PBD_ARMS; turn++)
            if (orders.order[i][turn] != PBD_ARM_B)
                say(a, &plain, orders.order[i][turn] == PBD_ARM_CONTROL ? 1.05 : 1, 1);
        say(b, &plain, 1.1, 1);
    }
    fclose(a);
    fclose(b);
    pbd_pairing out;
    assert_fine(pair_with(&(pbd_pairing_request){.seed = 3, .most_pairs = 8}, &out));
    assert_int_equal(out.of_b.judgement.verdict, PBD_SLOWER);
    assert_int_equal(out.verdict, PBD_INCONCLUSIVE);
    expect_says(out.doubt, "arm A differs from another process of arm A by +5.00 % (+5.00 to +5.00)");
    pbd_pairing_free(&orders);
    pbd_pairing_free(&out);
}

/* Of 1e-9 other processes for each processor: only an idle machine, which reads 0, is not too busy. */
static void a_machine_too_busy_leaves_no_verdict(void **state) {
    (void)state;
    say_times(&plain, &plain, 40, 1.1);
    pbd_pairing out;
    assert_fine(pair_with(&(pbd_pairing_request){.seed = 1, .max_load = 1e-9}, &out));
    const bool busy = out.load.others > 1e-9 || out.load.steal > PBD_MAX_STEAL;
    assert_int_equal(out.overloaded, busy);
    assert_int_equal(out.verdict, busy ? PBD_INCONCLUSIVE : PBD_SLOWER);
    if (out.load.others > 1e-9) expect_says(out.doubt, "other processes ran on each processor, and 1e-09 are allowed");
    pbd_pairing_free(&out);
}

/* A program is started from a copy: by the same name, with its own checkout, and as many bytes more as are asked. */
static void images_are_made_anew(void **state) {
    (void)state;
    const char *program = getenv("PBDBENCH_PROGRAM");
    pbd_program_image one, two;
    assert_fine(pbd_program_image_make(program, 10, &one));
    assert_fine(pbd_program_image_make(program, 1000, &two));
    assert_non_null(one.path);
    assert_string_not_equal(one.path, two.path);
    assert_int_equal(strlen(two.pad) - strlen(one.pad), 990);
    expect_says(one.root, getenv("PBDBENCH_ROOT"));
    size_t entries = 0, pads = 0, roots = 0;
    for (; one.environment[entries]; entries++) {
        pads += strncmp(one.environment[entries], "PBDBENCH_PAD=", 13) == 0;
        roots += strncmp(one.environment[entries], "PBDBENCH_ROOT=", 14) == 0;
    }
    assert_int_equal(pads, 1);
    assert_int_equal(roots, 1);
    pbd_child child;
    pbd_child_process process;
    const char *const words[] = {"pbdbench", "--version", NULL};
    const pbd_child_place place = {.core = -1, .program = one.path, .environment = one.environment};
    assert_fine(pbd_child_start(words, &place, &process));
    assert_fine(pbd_child_finish(&process, &child));
    assert_int_equal(child.code, 0);
    expect_says(child.out, "pbdbench");
    pbd_child_free(&child);
    pbd_program_image_free(&one);
    pbd_program_image_free(&two);
    assert_fine(pbd_program_image_make(in_workplace("a.sh"), 0, &one)); /* a script runs where it is */
    assert_null(one.path);
    pbd_program_image_free(&one);
}

/* ---- How processes are called ------------------------------------------------------------------------------------ */

/* The order of `calls` as letters: "abbaabba". */
static void read_order(char *order, size_t size) {
    FILE *file = open_file("calls", "r");
    char line[400];
    size_t n = 0;
    while (fgets(line, sizeof line, file) && n + 1 < size) order[n++] = line[0];
    order[n] = '\0';
    fclose(file);
}

/* The second of two pairs is the first in reverse, and over some seeds each arm is the first. */
static void orders_are_drawn_by_the_seed_and_reversed(void **state) {
    (void)state;
    unsigned seen = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        begin_anew(NULL);
        say_times(&plain, &plain, 8, 1.1);
        pbd_pairing out;
        char order[64];
        assert_fine(pair_with(&(pbd_pairing_request){.seed = seed, .most_pairs = 8}, &out));
        read_order(order, sizeof order);
        assert_int_equal(strlen(order), 24);
        for (size_t i = 0; i < 24; i++) {
            const unsigned char arm = out.order[i / 3][i % 3];
            assert_int_equal(order[i], arm == PBD_ARM_B ? 'b' : 'a');
            if (i / 3 % 2) assert_int_equal(arm, out.order[i / 3 - 1][2 - i % 3]);
            seen |= 1u << (3 * (i % 3) + arm);
        }
        for (size_t i = 0; i < 8; i++) {
            const char *pair = order + 3 * i;
            const bool b_first = pair[0] == 'b' || (pair[1] == 'b' && out.order[i][0] == PBD_ARM_CONTROL);
            assert_int_equal(pbd_pair_is_b_first(&out, i), b_first);
        }
        pbd_pairing_free(&out);
    }
    assert_int_equal(seen, 0x1ff); /* each arm was at each place */
}

static void processes_are_called_alike_and_pinned(void **state) {
    (void)state;
    cpu_set_t before, after;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    say_times(&plain, &plain, 8, 1.1);
    pbd_pairing out = pair(8);
    FILE *file = open_file("calls", "r");
    char line[400], wanted[400];
    while (fgets(line, sizeof line, file)) {
        snprintf(wanted, sizeof wanted,
                 "%c %d run bar -m fake -t 1 --json --quiet --again --time 0.5 --turns --no-store\n", line[0],
                 pbd_last_core());
        assert_string_equal(line, wanted);
    }
    fclose(file);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    pbd_pairing_free(&out);
}

/* ---- Errors first ------------------------------------------------------------------------------------------------ */

/* Asks for a comparison of these two and expects it to end after a pair, for `why`; NULL: to go on. */
static void expect_agreement(const saying *a, const saying *b, const pbd_tolerance *t, size_t count, const char *why) {
    begin_anew(NULL);
    say_times(a, b, 8, 1.1);
    pbd_pairing out;
    assert_fine(pair_with(&(pbd_pairing_request){.tolerance = t, .tolerances = count, .most_pairs = 8}, &out));
    if (why)
        expect_says(out.differs.text, why);
    else
        assert_string_equal(out.differs.text, "");
    assert_false(out.unwell);
    assert_int_equal(calls(), why ? 3 : 24);
    pbd_pairing_free(&out);
}

static void builds_must_do_the_same(void **state) {
    (void)state;
    saying b = plain, a = plain;
    b.error = 0.2501;
    expect_agreement(&plain, &b, NULL, 0, "B is worse than A: tip_error is 0.25009");
    b.error = 0.2; /* better is no obstacle */
    expect_agreement(&plain, &b, NULL, 0, NULL);
    b.error = 0.25 * (1 + 1e-10); /* rounding */
    expect_agreement(&plain, &b, NULL, 0, NULL);
    b.error = 0.25 * (1 + 1e-6); /* none in f64, rounding in f32 */
    expect_agreement(&plain, &b, NULL, 0, "B is worse");
    a.precision = b.precision = "f32";
    expect_agreement(&a, &b, NULL, 0, NULL);
    a = b = plain; /* errors that are rounding alone */
    a.error = 1e-15;
    b.error = 3e-15;
    expect_agreement(&a, &b, NULL, 0, NULL);
    b = plain;
    b.steps = 13;
    expect_agreement(&plain, &b, NULL, 0, "steps is 12 in A and 13 in B");
    b = plain;
    b.launches = 50; /* fewer launches for the same answer: that is what a build is for */
    expect_agreement(&plain, &b, NULL, 0, NULL);
}

static void variants_may_differ_within_tolerance(void **state) {
    (void)state;
    saying b = plain;
    b.cell = "another";
    b.error = 0.5;
    b.steps = 99;
    expect_agreement(&plain, &b, NULL, 0, NULL);
    const pbd_tolerance wide = {"tip_error", 0.5}, narrow = {"tip_error", 0.3}, tight = {"tip_error", 0.1};
    expect_agreement(&plain, &b, &wide, 1, NULL);
    expect_agreement(&plain, &b, &narrow, 1, "arm B is outside its tolerance: tip_error is 0.5, allowed is 0.3");
    expect_agreement(&plain, &b, &tight, 1, "arm A is outside its tolerance: tip_error is 0.25, allowed is 0.1");
    /* A tolerance that was stated stands for the agreement of builds too. */
    saying same = plain;
    same.error = 0.26;
    expect_agreement(&plain, &same, &narrow, 1, NULL);
}

static void tolerances_must_mean_something(void **state) {
    (void)state;
    static const struct {
        pbd_tolerance tolerance;
        const char *says;
    } wrong[] = {{{"tip_eror", 1}, "did you mean 'tip_error'?"}, {{"tip", 1}, "it is not an error, and the store has"}};
    for (size_t i = 0; i < 2; i++) {
        begin_anew(NULL);
        say_times(&plain, &plain, 8, 1.1);
        pbd_pairing out;
        const pbd_status status =
            pair_with(&(pbd_pairing_request){.tolerance = &wrong[i].tolerance, .tolerances = 1}, &out);
        assert_int_equal(status.code, PBD_BAD_INPUT);
        expect_says(status.text, wrong[i].says);
    }
}

/* ---- What can go wrong ------------------------------------------------------------------------------------------- */

static void an_arm_that_diverged_ends_it(void **state) {
    (void)state;
    saying gone = plain;
    gone.state = "diverged";
    for (int arm = 0; arm < 2; arm++) {
        begin_anew(NULL);
        say_times(arm ? &plain : &gone, arm ? &gone : &plain, 8, 1);
        pbd_pairing out = pair(40);
        assert_true(out.unwell);
        expect_says(out.differs.text, arm ? "arm B did not succeed: its state is diverged" : "arm A did not succeed");
        assert_int_equal(calls(), 3);
        pbd_pairing_free(&out);
    }
}

/* Not at once, but in the third pair: that is enough. */
static void an_arm_that_diverges_later_ends_it_too(void **state) {
    (void)state;
    saying gone = plain;
    gone.state = "diverged";
    FILE *a = open_file("a.says", "w"), *b = open_file("b.says", "w");
    for (int i = 0; i < 8; i++) {
        say_twice(a, &plain, 1, 1);
        say(b, i == 2 ? &gone : &plain, 1, 1);
    }
    fclose(a);
    fclose(b);
    pbd_pairing out = pair(8);
    assert_true(out.unwell);
    assert_int_equal(out.pairs, 3);
    pbd_pairing_free(&out);
}

static void processes_that_fail_are_told_of(void **state) {
    (void)state;
    static const struct {
        const char *says;
        pbd_code code;
        const char *sentence;
    } ways[] = {
        {"CRASH\n", PBD_FAILED, "a process of first was ended by signal 11"},
        {"REFUSE\n", PBD_BAD_INPUT, "first: E=-1 must be above 0"},
        {"OLD\n", PBD_BAD_INPUT, "is older than `run --time`"},
        {"SILENT\n", PBD_BAD_INPUT, "prints no run (exit 0)"},
        {"hello world\n", PBD_BAD_INPUT, "prints no run (exit 0), but: hello world"},
        {"{\"run_id\": 3}\n", PBD_BAD_INPUT, "prints no run"},
        {"[1, 2]\n", PBD_BAD_INPUT, "prints no run"},
        {"{\"run_id\":\"\",\"state\":\"ok\",\"metrics\":{}}\n", PBD_FAILED, "has no times"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        begin_anew(NULL);
        say_times(&plain, &plain, 1, 1);
        FILE *b = open_file("b.says", "r");
        char fine[2000];
        assert_non_null(fgets(fine, sizeof fine, b));
        fclose(b);
        char twice[200];
        snprintf(twice, sizeof twice, "%s%s", ways[i].says, ways[i].says);
        say_once(twice, fine);
        pbd_pairing out;
        const pbd_status status = pair_with(&(pbd_pairing_request){.seed = 1}, &out);
        if (status.code != ways[i].code) fail_msg("%s gives %d: %s", ways[i].says, status.code, status.text);
        expect_says(status.text, ways[i].sentence);
    }
}

static void a_program_that_is_not_there_is_told_of(void **state) {
    (void)state;
    const char *const words[] = {"bar", NULL};
    const pbd_arm arm = {"gone", "/no/such/program", words};
    pbd_arm_run run;
    const pbd_status status = pbd_arm_call(&arm, &(pbd_arm_settings){.core = -1}, &run);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    expect_says(status.text, "'/no/such/program' cannot be started: No such file");
}

static void odd_requests_are_refused(void **state) {
    (void)state;
    pbd_pairing out;
    pbd_status status = pair_with(&(pbd_pairing_request){.most_pairs = 9}, &out);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    expect_says(status.text, "8, 12, 20 or 40");
    status = pair_with(&(pbd_pairing_request){.margin = -1}, &out);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    assert_int_equal(calls(), 0);
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

#define WITH_FAKES                                                                                                     \
    "--case", "cube_shear", "--no-store", "--max-load", ANY_LOAD_TEXT, "--build-a", in_workplace("a.sh"), "--build-b", \
        in_workplace("b.sh")

static void the_verb_says_what_was_found(void **state) {
    (void)state;
    say_times(&plain, &plain, 40, 1.1);
    told answer = tell("compare", "pbd_distance", WITH_FAKES, "--seed", "7");
    expect_code(answer, 0);
    expect_says(answer.out, "% slower than A, 98 % interval");
    expect_says(answer.out, "8 pairs");
    expect_says(answer.out, "seed 7");
    expect_says(answer.out, "tip_error");
    expect_says(answer.out, "bootstrap");
    expect_says(answer.out, "control: A differs from another process of A by 0.00 %");
    assert_string_equal(answer.err, "");
    forget(&answer);
}

static void the_verb_exits_by_what_was_found(void **state) {
    (void)state;
    static const struct {
        double error, factor;
        const char *state, *most_pairs, *verdict;
        int code;
    } ways[] = {{0.25, 0.9, "ok", "8", "faster", 0},
                {0.25, 1.0, "ok", "40", "same", 0},
                {0.25, 1.01, "ok", "8", "inconclusive", 4},
                {0.35, 0.9, "ok", "8", "errors_differ", 3},
                {0.25, 0.9, "diverged", "8", "errors_differ", 5}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        begin_anew(NULL);
        saying b = plain;
        b.error = ways[i].error;
        b.state = ways[i].state;
        say_times(&plain, &b, 40, ways[i].factor);
        told answer =
            tell("compare", "pbd_distance", WITH_FAKES, "--max-pairs", ways[i].most_pairs, "--seed", "7", "--json");
        expect_code(answer, ways[i].code);
        json_t *object = json_loads(answer.out, 0, NULL);
        assert_non_null(object);
        assert_string_equal(json_string_value(json_object_get(object, "verdict")), ways[i].verdict);
        const bool claimed = ways[i].code == 0 || ways[i].code == 4;
        assert_int_equal(json_is_object(json_object_get(object, "times")), claimed);
        assert_int_equal(json_integer_value(json_object_get(object, "seed")), 7);
        const json_t *pair = json_array_get(json_object_get(object, "pairs"), 0);
        assert_int_equal(json_is_number(json_object_get(pair, "b_s")), claimed); /* no word about speed */
        json_decref(object);
        forget(&answer);
    }
}

static void an_interrupt_ends_it_between_processes(void **state) {
    (void)state;
    say_times(&plain, &plain, 2, 1);
    FILE *b = open_file("b.says", "a");
    fputs("INTERRUPT\n", b);
    fclose(b);
    FILE *a = open_file("a.says", "a");
    for (int i = 0; i < 8; i++) say_twice(a, &plain, 1, 1);
    fclose(a);
    told answer = tell("compare", "pbd_distance", WITH_FAKES);
    expect_code(answer, 130);
    expect_says(answer.err, "interrupted after 2 of at most 40 pairs");
    assert_true(calls() <= 9);
    forget(&answer);
}

static void bad_words_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *words[8], *says;
    } wrong[] = {
        {{"compare"}, "needs a case"},
        {{"compare", "--case", "cube_shear"}, "two variants"},
        {{"compare", "pbd_distance", "--case", "cube_shear"}, "second variant beside 'pbd_distance'"},
        {{"compare", "a", "b", "c", "--case", "cube_shear"}, "'c' is an extra argument"},
        {{"compare", ":nu=1", "a", "--case", "cube_shear"}, "is not of the form METHOD:key=value"},
        {{"compare", "a", "b", "--case", "cube_shear", "--margin", "0"}, "--margin"},
        {{"compare", "a", "b", "--case", "cube_shear", "--max-pairs", "9"}, "8|12|20|40"},
        {{"compare", "a", "b", "--case", "cube_shear", "--tolerance", "x"}, "METRIC=VALUE"},
        {{"compare", "a", "b", "--case", "cube_shear", "--build-a", "/no/such"}, "'/no/such' is not a program"},
        {{"compare", "a", "--case", "cube_shear", "--rev-a", "no-such-revision"}, "is not a revision of the checkout"},
        {{"compare", "pbd_distanc", "pbd_distance", "--case", "cube_shear"}, "did you mean 'pbd_distance'?"},
        {{"compare", "pbd_distance:n=1", "pbd_distance", "--case", "cube_shear"}, "pbd_distance:n=1: "},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        told answer = tell_to(STDOUT_KEPT, wrong[i].words);
        expect_code(answer, 2);
        expect_says(answer.err, wrong[i].says);
        forget(&answer);
    }
}

/* ---- A real one -------------------------------------------------------------------------------------------------- */

#define REAL_CELL                                                                                                    \
    "--max-load", ANY_LOAD_TEXT, "--case", "cube_shear", "-s", "cells=3", "-p", "f32", "--max-pairs", "8", "--time", \
        "0.001"

static void a_real_comparison_is_stored_with_its_runs(void **state) {
    (void)state;
    const char *db = fresh("real.db");
    told answer = tell("compare", "pbd_distance", "pbd_distance:solver=coloured_gs", REAL_CELL, "-s", "reference=none",
                       "--db", db, "--json");
    if (answer.code != 0 && answer.code != 4) expect_code(answer, 0);
    json_t *object = json_loads(answer.out, 0, NULL);
    assert_non_null(object);
    assert_int_equal(json_array_size(json_object_get(object, "pairs")), 8);
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM comparison WHERE comparison_id = '%s' AND seed = %lld AND pairs = 8",
             json_string_value(json_object_get(object, "comparison_id")),
             (long long)json_integer_value(json_object_get(object, "seed")));
    assert_sql(db, sql, "1");
    assert_sql(db,
               "SELECT count(*) FROM comparison_pair JOIN run AS a ON a.run_id = run_a JOIN run AS b ON b.run_id = "
               "run_b WHERE a.state = 'ok' AND b.state = 'ok' AND a.cell_id <> b.cell_id",
               "8");
    /* The control: two runs of A's cell. */
    assert_sql(
        db,
        "SELECT count(*) FROM comparison AS c JOIN comparison_pair USING (comparison_id) JOIN run AS b ON b.run_id"
        " = run_b WHERE purpose = 'control' AND cell_a = cell_b AND b.cell_id = cell_a AND name_a = name_b",
        "8");
    /* The times are those of the runs. */
    assert_sql(db,
               "SELECT count(*) FROM comparison JOIN comparison_pair USING (comparison_id) JOIN metric ON run_id = "
               "run_b AND name = 'solve_cpu' AND value = "
               "b_s WHERE purpose = 'compare'",
               "8");
    /* The two took turns, and the pair's ratio is of those: the median of what both runs kept, round by round. */
    assert_sql(
        db,
        "WITH round AS (SELECT p.comparison_id, p.position, ln(b.value / a.value) AS ratio FROM comparison_pair AS p"
        " JOIN series_point AS a ON a.run_id = p.run_a AND a.name = 'solve_cpu_samples'"
        " JOIN series_point AS b ON b.run_id = p.run_b AND b.name = a.name AND b.i = a.i WHERE p.rounds = 5),"
        " ranked AS (SELECT comparison_id, position, ratio,"
        " row_number() OVER (PARTITION BY comparison_id, position ORDER BY ratio) AS rank"
        " FROM round)"
        " SELECT count(*) FROM ranked JOIN comparison_pair USING (comparison_id, position)"
        " WHERE rank = 3 AND abs(ratio - log_ratio) < 1e-6",
        "16"); /* of B and of the control */
    assert_sql(db,
               "SELECT count(*) FROM comparison JOIN invocation USING (invocation_id), json_each(argv) WHERE value IN"
               " ('compare', 'pbd_distance', 'pbd_distance:solver=coloured_gs')",
               "6");
    assert_clean(db);
    json_decref(object);
    forget(&answer);
}

static void a_reference_in_the_store_is_a_limit(void **state) {
    (void)state;
    const char *db = fresh("reference.db");
    told run = tell("run", "cube_shear", "-m", "pbd_distance", "-s", "cells=3", "-p", "f32", "-t", "1", "--db", db);
    expect_code(run, 0);
    forget(&run);
    /* The method's edges are fitted to 0.0667; for other cases, or other nu, a reference says nothing. */
    assert_int_equal(plain_sql(db,
                               "INSERT INTO reference VALUES"
                               " ('cube_shear', '{\"cells\":3}', 'k_edge', 'analytic', NULL, '1', 0.5, 0.1),"
                               " ('cube_shear', '{\"cells\":7}', 'k_face', 'analytic', NULL, '1', 0.5, 0.1)"),
                     SQLITE_OK);
    told answer = tell("compare", "pbd_distance", "pbd_distance:iterations=2", REAL_CELL, "--db", db);
    expect_code(answer, 3);
    expect_says(answer.out, "no time is claimed: arm A is outside its tolerance: k_edge is off its reference by 0.433");
    forget(&answer);
    assert_sql(db,
               "SELECT verdict || ' ' || pairs || ' ' || (log_ratio IS NULL) FROM comparison WHERE purpose = 'compare'",
               "errors_differ 1 1");
    assert_sql(db, "SELECT count(*) FROM comparison_pair WHERE a_s IS NULL AND b_s IS NULL", "2");
    /* A tolerance that is asked for takes its place. */
    const char *const words[] = {"cube_shear", "-m", "pbd_distance", "-s", "cells=3", "-p", "f32", "-t", "1", NULL};
    const pbd_arm arm = {"real", getenv("PBDBENCH_PROGRAM"), words};
    pbd_tolerance wide = {"k_edge", 0.45};
    pbd_arm_run again;
    pbd_status differs;
    assert_fine(pbd_arm_call(&arm, &(pbd_arm_settings){.db = db, .core = -1}, &again));
    assert_fine(pbd_judge_errors(&again, &again, db, &wide, 1, &differs));
    assert_fine(differs);
    wide.value = 0.4;
    assert_fine(pbd_judge_errors(&again, &again, db, &wide, 1, &differs));
    expect_says(differs.text, "k_edge is off its reference by 0.433265, allowed is 0.4");
    pbd_arm_run_free(&again);
    assert_clean(db);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_tenth_more_is_slower, begin_anew),
        cmocka_unit_test_setup(a_tenth_less_is_faster, begin_anew),
        cmocka_unit_test_setup(the_same_program_is_the_same, begin_anew),
        cmocka_unit_test_setup(eight_pairs_give_the_range, begin_anew),
        cmocka_unit_test_setup(to_and_fro_is_inconclusive, begin_anew),
        cmocka_unit_test_setup(more_pairs_can_be_asked_for, begin_anew),
        cmocka_unit_test_setup(a_control_that_differs_leaves_no_verdict, begin_anew),
        cmocka_unit_test_setup(a_machine_too_busy_leaves_no_verdict, begin_anew),
        cmocka_unit_test_setup(images_are_made_anew, begin_anew),
        cmocka_unit_test_setup(the_clock_is_the_cpu_s_on_one_thread, begin_anew),
        cmocka_unit_test_setup(orders_are_drawn_by_the_seed_and_reversed, begin_anew),
        cmocka_unit_test_setup(processes_are_called_alike_and_pinned, begin_anew),
        cmocka_unit_test_setup(builds_must_do_the_same, begin_anew),
        cmocka_unit_test_setup(variants_may_differ_within_tolerance, begin_anew),
        cmocka_unit_test_setup(tolerances_must_mean_something, begin_anew),
        cmocka_unit_test_setup(an_arm_that_diverged_ends_it, begin_anew),
        cmocka_unit_test_setup(an_arm_that_diverges_later_ends_it_too, begin_anew),
        cmocka_unit_test_setup(processes_that_fail_are_told_of, begin_anew),
        cmocka_unit_test_setup(a_program_that_is_not_there_is_told_of, begin_anew),
        cmocka_unit_test_setup(odd_requests_are_refused, begin_anew),
        cmocka_unit_test_setup(the_verb_says_what_was_found, begin_anew),
        cmocka_unit_test_setup(the_verb_exits_by_what_was_found, begin_anew),
        cmocka_unit_test_setup(an_interrupt_ends_it_between_processes, begin_anew),
        cmocka_unit_test(bad_words_are_refused),
        cmocka_unit_test(a_real_comparison_is_stored_with_its_runs),
        cmocka_unit_test(a_reference_in_the_store_is_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
