/* Sweeps and figures stopped at any moment, by Ctrl-C or by kill -9: no reported run is lost, the store stays intact,
 * and the same command started again makes only the missing runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "tests/program.h"

/* ---- What is run ------------------------------------------------------------------------------------------------- */

enum { RUNS = 200 }; /* of a few ms each */

#define GROUP                                                                                                         \
    "runs:\n  - name: fit\n    case: hex_fit\n    method: pbd_distance\n    threads: 1\n    set: [fit=nelder_mead]\n" \
    "    axes: [\"nu=0:0.398:0.002\"]\n"

static const char sweep_yaml[] = GROUP;
static const char papers_yaml[] =
    "papers:\n  - {key: stop, kind: misc, title: T, venue: V, figures: [{id: stop-fig1, shows: a fit}]}\n";
static const char figure_yaml[] =
    "figure: stop-fig1\npaper: stop\ntitle: a fit\n" GROUP
    "data:\n  - {name: fit, sql: SELECT nu FROM fit}\n"
    "plots: [stop-fig1.png]\n"
    "claims:\n"
    "  - {id: stop-fig1.all, says: all runs are there, sql: SELECT count(*) AS value FROM fit, "
    "reproduced: '= 200'}\n";
static const char plot_gp[] =
    "set terminal dumb\nset output out . '/stop-fig1.png'\nplot data . '/fit.tsv' using 1:1\n";
static const char slow_plot_gp[] = "set print out . '/began'\nprint 1\nset print\npause 60\n";

static void write_text(const char *name, const char *text) {
    FILE *file = fopen(in_workplace(name), "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail_msg("cannot write %s: %s", name, strerror(errno));
}

/* Replaces the workplace's link to the checkout's plots by a folder of the test. */
static int make_place(void **state) {
    (void)state;
    if (unlink(in_workplace("plots")) != 0 || mkdir(in_workplace("plots"), 0777) != 0) return -1;
    if (mkdir(in_workplace("plots/stop-fig1"), 0777) != 0) return -1;
    write_text("sweep.yaml", sweep_yaml);
    write_text("plots/papers.yaml", papers_yaml);
    write_text("plots/stop-fig1/figure.yaml", figure_yaml);
    write_text("plots/stop-fig1/plot.gp", plot_gp);
    return 0;
}

/* ---- Looking at the store from outside --------------------------------------------------------------------------- */

static const char all_runs[] = "SELECT count(*) FROM run";
/* A run stopped by Ctrl-C is stored as interrupted, and made again. */
static const char finished_runs[] = "SELECT count(*) FROM run WHERE state = 'ok'";

/* The count, or 0 if there is no store or no table yet. */
static long count_in(const char *db, const char *query) {
    sqlite3 *sql = NULL;
    sqlite3_stmt *count = NULL;
    long rows = 0;
    if (sqlite3_open_v2(db, &sql, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(sql, 5000);
        if (sqlite3_prepare_v2(sql, query, -1, &count, NULL) == SQLITE_OK && sqlite3_step(count) == SQLITE_ROW)
            rows = (long)sqlite3_column_int64(count, 0);
        sqlite3_finalize(count);
    }
    sqlite3_close(sql);
    return rows;
}

static long count_runs(const char *db) { return count_in(db, finished_runs); }

static void sleep_us(long us) {
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

/* State of xorshift64*: the same moments in each test run, up to timing. */
static uint64_t dice = 20161104;
static long roll(long sides) {
    dice ^= dice >> 12;
    dice ^= dice << 25;
    dice ^= dice >> 27;
    return (long)((dice * 2685821657736338717u >> 33) % (uint64_t)sides);
}

/* ---- A program that is stopped ----------------------------------------------------------------------------------- */

typedef struct running {
    pid_t pid;
    int out; /* read end of its standard output */
    long lines;
} running;

/* Starts the program in its own process group, as a shell does for a job. */
static running start(const char *const *words, const char *err_name) {
    const char *argv[16] = {getenv("PBDBENCH_PROGRAM")};
    for (size_t n = 0; words[n] && n < 14; n++) argv[n + 1] = words[n];
    running r = {.lines = 0};
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    assert_int_equal(posix_spawn(&r.pid, argv[0], &files, &attributes, (char *const *)(uintptr_t)argv, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    close(ends[1]);
    r.out = ends[0];
    return r;
}

/* Reads until the program has reported `lines` runs, or to the end of its output. */
static void read_lines(running *r, long lines) {
    char chunk[1024];
    for (ssize_t n; r->lines < lines && (n = read(r->out, chunk, sizeof chunk)) > 0;)
        for (ssize_t i = 0; i < n; i++) r->lines += chunk[i] == '\n';
}

/* Signals the whole group, as Ctrl-C does. Returns the exit code. */
static int stop(running *r, int signal_number) {
    kill(-r->pid, signal_number);
    read_lines(r, LONG_MAX);
    close(r->out);
    return wait_for(r->pid);
}

static void expect_sound(const char *db) {
    told answer = tell("db", "check", "--db", db);
    expect_code(answer, 0);
    forget(&answer);
}

/* Starts the sweep a last time, which must make exactly the missing runs. */
static void finish_sweep(const char *db) {
    char says[100];
    long kept = count_runs(db);
    told answer = tell("sweep", in_workplace("sweep.yaml"), "-q", "--db", db);
    expect_code(answer, 0);
    snprintf(says, sizeof says, "%ld runs made, %ld already stored, 0 failed", RUNS - kept, kept);
    expect_says(answer.out, says);
    assert_int_equal(count_runs(db), RUNS);
    forget(&answer);
    expect_sound(db);
}

/* Starts the sweep repeatedly and stops it after a few more runs each time, at a random point within a run. */
static void stop_at_random(const char *name, int signal_number, int wanted_code, const char *says) {
    enum { STOPS = 8 };
    const char *db = strdup(in_workplace(name)), *err = strdup(in_workplace("err.txt"));
    const char *const words[] = {"sweep", in_workplace("sweep.yaml"), "--json", "--db", db, NULL};
    for (int i = 0; i < STOPS; i++) {
        long before = count_runs(db);
        running r = start(words, err);
        read_lines(&r, before + 1 + roll(8));
        sleep_us(roll(2000));
        int code = stop(&r, signal_number);
        long kept = count_runs(db);
        printf("[          ] stopped with %ld of %d runs stored, %ld told of: %d\n", kept, RUNS, r.lines, code);
        assert_int_equal(code, wanted_code);
        assert_true(count_in(db, all_runs) >= r.lines && kept > before && kept < RUNS);
        assert_true(kept >= r.lines - (signal_number == SIGINT)); /* the last line may be that of the interrupted run */
        expect_sound(db);
        char *text = slurp(open(err, O_RDONLY | O_CLOEXEC));
        expect_says(text, says);
        free(text);
    }
    finish_sweep(db);
    free((void *)(uintptr_t)db);
    free((void *)(uintptr_t)err);
}

static void test_ctrl_c_at_random_moments(void **state) {
    (void)state;
    stop_at_random("interrupted.db", SIGINT, 130, "the same command makes the rest");
}

static void test_kill_at_random_moments(void **state) {
    (void)state;
    stop_at_random("killed.db", SIGKILL, -SIGKILL, "");
}

/* Killed during its start: the store may be missing, empty, or without runs. */
static void test_kill_at_the_very_start(void **state) {
    (void)state;
    for (int i = 0; i < 12; i++) {
        char *db = strdup(in_workplace("early.db"));
        const char *const words[] = {"sweep", in_workplace("sweep.yaml"), "--json", "--db", db, NULL};
        running r = start(words, "/dev/null");
        sleep_us(roll(25000));
        int code = stop(&r, SIGKILL);
        assert_int_equal(code, -SIGKILL);
        assert_true(count_runs(db) >= r.lines);
        if (access(db, F_OK) == 0 && i % 4 == 3) finish_sweep(db);
        if (i % 4 == 3) unlink(db);
        free(db);
    }
}

/* Building a scene that takes minutes does not poll for signals, but the first signal ends it nevertheless. */
static void test_stopped_while_building(void **state) {
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    char *err = strdup(in_workplace("err.txt"));
    const char *const words[] = {"run",  "sampled_shape",
                                 "-m",   "mpm",
                                 "-s",   "sampling=poisson",
                                 "-s",   "particles=4000000",
                                 "--db", in_workplace("building.db"),
                                 NULL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        running r = start(words, err);
        sleep_us(1500000);
        assert_int_equal(stop(&r, signals[i]), 130);
        char *text = slurp(open(err, O_RDONLY | O_CLOEXEC));
        expect_says(text, "interrupted while the scene was built");
        free(text);
    }
    free(err);
}

/* ---- A figure that is stopped ------------------------------------------------------------------------------------ */

/* Waits for an effect of another process. */
static bool comes_true(bool (*holds)(const char *), const char *what) {
    for (int ms = 0; ms < TOLD_SECONDS * 1000; ms++) {
        if (holds(what)) return true;
        sleep_us(1000);
    }
    return false;
}

static bool has_some_runs(const char *db) { return count_runs(db) >= 5; }
static bool is_there(const char *path) { return access(path, F_OK) == 0; }

/* A figure with missing runs gets no verdict, neither printed nor stored. */
static void test_figure_stopped_in_its_runs(void **state) {
    (void)state;
    char *db = strdup(in_workplace("figure.db")), *err = strdup(in_workplace("err.txt"));
    const char *const words[] = {"reproduce", "stop-fig1", "--db", db, "--out", in_workplace("pictures"), NULL};
    running r = {.lines = 0};
    int code = 0;
    for (int tries = 0; tries < 5 && code == 0; tries++) { /* on a busy machine the signal may come too late */
        unlink(db);
        r = start(words, err);
        assert_true(comes_true(has_some_runs, db));
        code = stop(&r, SIGINT);
    }
    assert_int_equal(code, 130);
    assert_int_equal(r.lines, 0);
    char *text = slurp(open(err, O_RDONLY | O_CLOEXEC));
    expect_says(text, "the same command makes the rest");
    free(text);
    assert_true(count_runs(db) < RUNS);
    assert_int_equal(count_in(db, "SELECT count(*) FROM claim_result"), 0);

    told answer = tell("reproduce", "stop-fig1", "--db", db, "--out", in_workplace("pictures"));
    expect_code(answer, 0);
    expect_says(answer.out, "stop-fig1.all  = 200");
    assert_int_equal(count_runs(db), RUNS);
    assert_true(is_there(in_workplace("pictures/stop-fig1.png")));
    forget(&answer);
    expect_sound(db);
    free(db);
    free(err);
}

/* Ctrl-C ends gnuplot, too, which must not be reported as an error in the script. */
static void test_figure_stopped_in_its_drawing(void **state) {
    (void)state;
    char *db = strdup(in_workplace("figure.db")), *err = strdup(in_workplace("err.txt"));
    const char *const words[] = {"reproduce", "stop-fig1", "--db", db, "--out", in_workplace("slow"), NULL};
    write_text("plots/stop-fig1/plot.gp", slow_plot_gp);
    running r = start(words, err);
    assert_true(comes_true(is_there, in_workplace("slow/began")));
    assert_int_equal(stop(&r, SIGINT), 130);
    char *text = slurp(open(err, O_RDONLY | O_CLOEXEC));
    expect_says(text, "every completed run is stored");
    free(text);
    assert_int_equal(count_runs(db), RUNS);
    expect_sound(db);
    free(db);
    free(err);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ctrl_c_at_random_moments),      cmocka_unit_test(test_kill_at_random_moments),
        cmocka_unit_test(test_kill_at_the_very_start),        cmocka_unit_test(test_figure_stopped_in_its_runs),
        cmocka_unit_test(test_figure_stopped_in_its_drawing), cmocka_unit_test(test_stopped_while_building),
    };
    return cmocka_run_group_tests_name("stopped", tests, make_place, remove_workplace);
}
