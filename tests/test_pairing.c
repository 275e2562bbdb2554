/* Paired comparisons: verdicts on known times, errors before times, and every way in which a process can go wrong. The
 * processes are scripts that say what the test wants. Nothing here judges a time. */
#include <math.h>
#include <sched.h>

#include "comparison_scripts.h"
#include "harness/compare/program_image.h"
#include "harness/process/child.h"
#include "store_sample.h"

/* ---- Asking for a comparison ------------------------------------------------------------------------------------- */

static pbd_status pair_with(const pbd_pairing_request *more, pbd_pairing *out) {
    static const char *const words[] = {"bar", "-m", "fake", "-t", "1", NULL};
    char a[PATH_MAX], b[PATH_MAX];
    snprintf(a, sizeof a, "%s", in_workplace("a.sh"));
    snprintf(b, sizeof b, "%s", in_workplace("b.sh"));
    pbd_pairing_request r = *more;
    r.a = (pbd_arm){.name = "first", .program = a, .word = words};
    r.b = (pbd_arm){.name = "second", .program = b, .word = words};
    if (r.margin == 0) r.margin = 0.02;
    if (r.most_pairs == 0) r.most_pairs = 40;
    if (r.max_load == 0) r.max_load = ANY_LOAD;
    r.max_steal = 1; /* the host may take any share: decisions are tested */
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

/* The recorded times are of one and the same program. With eight pairs the interval is -1.5 to 2.0 %, wider than the
 * margin; the interval of twelve pairs was computed by an independent program. */
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

/* Eight signed ranks at a two-sided error rate of 2 / 2^8: the interval extends from the smallest to the largest
 * ratio. The estimate is the median of all pairwise averages, sorted by hand here. */
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
    /* All ratios are above the margin, so p = 1 / 2^8 before it is scaled by 0.02 / (2 / 2^8): the error rate of both
     * sides over the part of it that the first look spends. */
    assert_true(fabs(pbd_pairing_p(&out, 0.02, 1) - 0.02 / 2) < 1e-14);
    assert_true(pbd_pairing_p(&out, 0.02, -1) == 1);
    pbd_pairing_free(&out);
}

/* Ratios alternate between 1.1 and 1 / 1.1: twelve pairs cannot decide. */
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

/* Instruction counts of eight processes of one program, by valgrind --tool=callgrind --trace-children=yes, for
 * `run cube_shear -m pbd_distance -s cells=3 -s reference=none -t 1 --no-store` with PBDBENCH_PAD of 3 to 4090 bytes.
 */
static const double counted[8] = {288315877, 288332401, 288315707, 288299379,
                                  288316193, 288332291, 288315782, 288299451};

/* Eight pairs in which B takes `slower` times as long as A and executes `more` times as many instructions. */
static void say_counts(double slower, double more) {
    FILE *a = open_file("a.says", "w"), *b = open_file("b.says", "w");
    saying of_a = plain, of_b = plain;
    for (size_t i = 0; i < 8; i++) {
        of_a.instructions = counted[i];
        of_b.instructions = more * counted[7 - i];
        say_twice(a, &of_a, 1, 1);
        say(b, &of_b, slower, slower);
    }
    fclose(a);
    fclose(b);
}

static void times_that_instructions_contradict_decide_nothing(void **state) {
    (void)state;
    static const struct {
        double slower, more;
        pbd_verdict verdict;
        bool doubted;
    } cases[] = {{1.05, 1.0, PBD_INCONCLUSIVE, true},
                 {0.95, 1.0, PBD_INCONCLUSIVE, true},
                 {1.05, 1.0005, PBD_INCONCLUSIVE, true},
                 {1.05, 1.002, PBD_SLOWER, false}, /* a short hot loop, or worse memory access */
                 {1.05, 1.05, PBD_SLOWER, false},
                 {1.05, 0.95, PBD_SLOWER, false}, /* fewer instructions may well take longer */
                 {1.05, 0, PBD_SLOWER, false},    /* B was not counted */
                 {1.0, 1.0, PBD_SAME, false},
                 {1.0, 1.05, PBD_SAME, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_anew(NULL);
        say_counts(cases[i].slower, cases[i].more);
        pbd_pairing out = pair(8);
        assert_string_equal(pbd_verdict_name(out.verdict), pbd_verdict_name(cases[i].verdict));
        assert_string_equal(out.doubt, cases[i].doubted ? PBD_SAME_WORK : "");
        pbd_pairing_free(&out);
    }
    /* Wall time includes work of a GPU and waiting, about which the CPU's instruction count says nothing. */
    begin_anew(NULL);
    say_counts(1.05, 1.0);
    pbd_pairing out;
    assert_fine(pair_with(&(pbd_pairing_request){.clock = PBD_CLOCK_WALL, .most_pairs = 8}, &out));
    assert_int_equal(out.verdict, PBD_SLOWER);
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
        /* B's CPU time is 1.5 times A's, its wall time about half of A's. */
        assert_int_equal(out.of_b.judgement.verdict, cases[i].used == PBD_CLOCK_CPU ? PBD_SLOWER : PBD_FASTER);
        pbd_pairing_free(&out);
    }
}

/* B is a tenth slower in every pair, but the control process of A is 5 % slower than A itself. */
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

/* At most 1e-9 other processes per processor are allowed, so only an idle machine, with a load of 0, passes. */
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

/* Every second pair is in the reverse order of the one before it; over 8 seeds, each arm takes each position. */
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
    assert_int_equal(seen, 0x1ff); /* each arm was at each position */
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

/* A program is started from a copy, with the same name and its own checkout, and with padding of the requested size
 * in its environment. */
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

/* ---- Errors first ------------------------------------------------------------------------------------------------ */

/* Compares the two and expects the comparison to stop after one pair for the reason `why`; NULL: not to stop. */
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
    b.error = -0.3; /* the absolute value of a signed error counts */
    expect_agreement(&plain, &b, NULL, 0, "B is worse than A: tip_error is -0.29");
    b.error = -0.2;
    expect_agreement(&plain, &b, NULL, 0, NULL);
    a.error = -0.25;
    expect_agreement(&a, &b, NULL, 0, NULL);
    a = plain;
    b.error = 0.25 * (1 + 1e-10); /* rounding */
    expect_agreement(&plain, &b, NULL, 0, NULL);
    b.error = 0.25 * (1 + 1e-6); /* more than rounding in f64, rounding in f32 */
    expect_agreement(&plain, &b, NULL, 0, "B is worse");
    a.precision = b.precision = "f32";
    expect_agreement(&a, &b, NULL, 0, NULL);
    a = b = plain; /* errors of rounding size */
    a.error = 1e-15;
    b.error = 3e-15;
    expect_agreement(&a, &b, NULL, 0, NULL);
    b = plain;
    b.steps = 13;
    expect_agreement(&plain, &b, NULL, 0, "steps is 12 in A and 13 in B");
    b = plain;
    b.launches = 50; /* fewer launches for the same answer are what a new build is for */
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
    /* A stated tolerance also replaces the agreement that is demanded of two builds. */
    saying same = plain;
    same.error = 0.26;
    expect_agreement(&plain, &same, &narrow, 1, NULL);
}

/* 5e3bc93 named a winner between methods on a case that measures no error (findings U3). */
static void methods_need_an_error_in_common(void **state) {
    (void)state;
    saying a = plain, b = plain;
    b.cell = "another";
    b.method = "other";
    expect_agreement(&a, &b, NULL, 0, NULL);
    a.kind = b.kind = "flaw";
    expect_agreement(&a, &b, NULL, 0, "no error in common, so that nothing tells which result is better");
    const pbd_tolerance stated = {"tip_error", 0.5}; /* a stated flaw serves as the error */
    expect_agreement(&a, &b, &stated, 1, NULL);
    b.method = a.method; /* two cells of one method: the same equations */
    expect_agreement(&a, &b, NULL, 0, NULL);
    b.cell = a.cell; /* two builds */
    expect_agreement(&a, &b, NULL, 0, NULL);
    b.error = 0.26; /* flaws must not grow between builds */
    expect_agreement(&a, &b, NULL, 0, "B is worse than A: tip_error is 0.26");
}

static void tolerances_must_mean_something(void **state) {
    (void)state;
    static const struct {
        pbd_tolerance tolerance;
        const char *says;
    } wrong[] = {{{"tip_eror", 1}, "did you mean 'tip_error'?"},
                 {{"tip", 1}, "it is neither an error nor a flaw, and the store has"}};
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

/* B diverges only in the third pair. */
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
        {"{\"run_id\":\"\",\"cell_id\":\"cell\",\"state\":\"ok\",\"metrics\":{}}\n", PBD_FAILED, "has no times"},
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
    const pbd_arm arm = {.name = "gone", .program = "/no/such/program", .word = words};
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
        cmocka_unit_test_setup(times_that_instructions_contradict_decide_nothing, begin_anew),
        cmocka_unit_test_setup(the_clock_is_the_cpu_s_on_one_thread, begin_anew),
        cmocka_unit_test_setup(orders_are_drawn_by_the_seed_and_reversed, begin_anew),
        cmocka_unit_test_setup(processes_are_called_alike_and_pinned, begin_anew),
        cmocka_unit_test_setup(builds_must_do_the_same, begin_anew),
        cmocka_unit_test_setup(variants_may_differ_within_tolerance, begin_anew),
        cmocka_unit_test_setup(methods_need_an_error_in_common, begin_anew),
        cmocka_unit_test_setup(tolerances_must_mean_something, begin_anew),
        cmocka_unit_test_setup(an_arm_that_diverged_ends_it, begin_anew),
        cmocka_unit_test_setup(an_arm_that_diverges_later_ends_it_too, begin_anew),
        cmocka_unit_test_setup(processes_that_fail_are_told_of, begin_anew),
        cmocka_unit_test_setup(a_program_that_is_not_there_is_told_of, begin_anew),
        cmocka_unit_test_setup(odd_requests_are_refused, begin_anew),
    };
    return cmocka_run_group_tests(tests, NULL, remove_workplace);
}
