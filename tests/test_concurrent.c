/* Several processes with one database: no reported run is lost and none is stored twice, whichever process is killed at
 * whatever time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/program.h"
#include "tests/store_sample.h"

enum { WRITERS = 3, KILLED = 2, RUNS = 16, ROUNDS = 3, CREATORS = 8, CREATIONS = 8 };

static void sleep_us(long us) {
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

/* xorshift64*: the same times in each run of the test, as far as clocks allow. */
static uint64_t dice = 20240131;
static long roll(long sides) {
    dice ^= dice >> 12;
    dice ^= dice << 25;
    dice ^= dice >> 27;
    return (long)((dice * 2685821657736338717u >> 33) % (uint64_t)sides);
}

/* ---- Programs side by side --------------------------------------------------------------------------------------- */

typedef struct writer {
    pid_t pid;
    char out[PATH_MAX + 320], err[PATH_MAX + 320]; /* file names */
} writer;

/* Starts a sweep of RUNS runs of a few ms each; another seed gives other runs. */
static void start(writer *w, int number, const char *db, const char *seed) {
    const char *const argv[] = {getenv("PBDBENCH_PROGRAM"),
                                "run",
                                "hex_fit",
                                "-m",
                                "pbd_distance",
                                "-s",
                                "fit=nelder_mead",
                                "-a",
                                "nu=0:0.15:0.01",
                                "-t",
                                "1",
                                "--seed",
                                seed,
                                "--db",
                                db,
                                "--json",
                                "-q",
                                NULL};
    char name[40];
    snprintf(name, sizeof name, "out%d", number);
    snprintf(w->out, sizeof w->out, "%s", in_workplace(name));
    snprintf(name, sizeof name, "err%d", number);
    snprintf(w->err, sizeof w->err, "%s", in_workplace(name));
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, w->out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, w->err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_int_equal(posix_spawn(&w->pid, argv[0], &files, NULL, (char *const *)(uintptr_t)argv, environ), 0);
    posix_spawn_file_actions_destroy(&files);
}

static long lines_of(const writer *w) {
    file_bytes said = read_bytes(w->out);
    long lines = 0;
    for (size_t i = 0; i < said.count; i++) lines += said.byte[i] == '\n';
    free(said.byte);
    return lines;
}

/* Kills the writer a random time after a random number of its runs. */
static void kill_at_random(const writer *w) {
    const long runs = roll(RUNS), later = roll(8000);
    for (int ms = 0; ms < 1000 * TOLD_SECONDS && lines_of(w) < runs; ms++) sleep_us(1000);
    sleep_us(later);
    kill(w->pid, SIGKILL);
    const int code = wait_for(w->pid);
    assert_true(code == -SIGKILL || code == 0); /* 0: it had finished */
}

static void expect_end(const writer *w, int wanted) {
    const int code = wait_for(w->pid);
    if (code == wanted) return;
    file_bytes said = read_bytes(w->err);
    fail_msg("exit code %d, wanted %d:\n%s", code, wanted, said.byte ? (const char *)said.byte : "");
}

/* Checks that every run that the program reported by a whole line is in the store. Returns how many there are. */
static long expect_kept(const writer *w, const char *db) {
    file_bytes said = read_bytes(w->out);
    long lines = 0;
    char *rest = (char *)said.byte;
    for (char *end; rest && (end = strchr(rest, '\n')) != NULL; rest = end + 1, lines++) {
        char query[120];
        static const char before[] = "{\"run_id\":\"";
        assert_int_equal(strncmp(rest, before, sizeof before - 1), 0);
        snprintf(query, sizeof query, "SELECT count(*) FROM run WHERE run_id = '%.32s'", rest + sizeof before - 1);
        assert_sql(db, query, "1");
    }
    free(said.byte);
    return lines;
}

static long number_in(const char *db, const char *query) {
    char *text = plain_text(db, query);
    const long number = strtol(text, NULL, 10);
    free(text);
    return number;
}

static void expect_once(const char *db, long runs) {
    assert_int_equal(number_in(db, "SELECT count(*) FROM run"), runs);
    assert_int_equal(number_in(db, "SELECT count(*) FROM (SELECT DISTINCT cell_id, seed, repeat FROM run)"), runs);
    assert_clean(db);
}

/* ---- The tests --------------------------------------------------------------------------------------------------- */

/* Two processes complete all their runs while a third is killed. Restarted, it makes only the missing runs. */
static void test_one_of_three_is_killed(void **state) {
    (void)state;
    static const char *const seeds[WRITERS] = {"1", "2", "3"};
    for (int round = 0; round < ROUNDS; round++) {
        const char *db = fresh("killed.db");
        unlink(in_workplace("killed.db-wal"));
        unlink(in_workplace("killed.db-shm"));
        writer w[WRITERS];
        for (int i = 0; i < WRITERS; i++) start(&w[i], i, db, seeds[i]);
        kill_at_random(&w[KILLED]);
        for (int i = 0; i < KILLED; i++) expect_end(&w[i], 0);

        for (int i = 0; i < KILLED; i++) assert_int_equal(expect_kept(&w[i], db), RUNS);
        const long told_of = expect_kept(&w[KILLED], db), before = number_in(db, "SELECT count(*) FROM run");
        print_message("killed after %ld runs were told of and %ld stored\n", told_of, before - KILLED * RUNS);
        assert_true(before - KILLED * RUNS >= told_of);
        expect_once(db, before);

        start(&w[KILLED], KILLED, db, seeds[KILLED]);
        expect_end(&w[KILLED], 0);
        assert_int_equal(expect_kept(&w[KILLED], db), RUNS);
        expect_once(db, WRITERS * RUNS);
    }
}

/* Three processes make the same runs: each is stored once. */
static void test_three_with_the_same_runs(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const char *db = fresh("same.db");
        unlink(in_workplace("same.db-wal"));
        unlink(in_workplace("same.db-shm"));
        writer w[WRITERS];
        for (int i = 0; i < WRITERS; i++) start(&w[i], i, db, "1");
        kill_at_random(&w[KILLED]);
        for (int i = 0; i < KILLED; i++) expect_end(&w[i], 0);
        for (int i = 0; i < KILLED; i++) assert_int_equal(expect_kept(&w[i], db), RUNS);
        expect_kept(&w[KILLED], db);
        expect_once(db, RUNS);
    }
}

/* Processes that find no database create it at the same moment: one does, and the others wait and use it. */
static void test_creation_at_once(void **state) {
    (void)state;
    for (int round = 0; round < CREATIONS; round++) {
        const char *db = fresh("created.db");
        unlink(in_workplace("created.db-wal"));
        unlink(in_workplace("created.db-shm"));
        int gate[2];
        pid_t child[CREATORS];
        assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
        for (unsigned i = 0; i < CREATORS; i++) {
            child[i] = fork();
            assert_true(child[i] >= 0);
            if (child[i] > 0) continue;
            char byte, run_id[33];
            close(gate[1]);
            const bool open = read(gate[0], &byte, 1) == 0; /* all start when the last writing end closes */
            pbd_store *store;
            pbd_status status = pbd_store_open(db, PBD_STORE_WRITE, &store);
            if (status.code == PBD_OK) status = put_sample(store, i, run_id);
            if (status.code != PBD_OK) fprintf(stderr, "%s\n", status.text);
            _exit(open && status.code == PBD_OK ? 0 : 1); /* without closing the store, as if killed */
        }
        close(gate[0]);
        close(gate[1]);
        for (int i = 0; i < CREATORS; i++) assert_int_equal(wait_for(child[i]), 0);
        expect_once(db, CREATORS);
    }
}

/* Another program holds the write lock: ours waits for it. */
static void test_writer_waits(void **state) {
    (void)state;
    const char *db = fresh("busy.db");
    make_store(db, 1);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(db, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    writer w;
    start(&w, 0, db, "1");
    sleep_us(300000);
    assert_int_equal(kill(w.pid, 0), 0); /* it has not given up */
    assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    expect_end(&w, 0);
    assert_int_equal(expect_kept(&w, db), RUNS);
    expect_once(db, RUNS + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_of_three_is_killed),
        cmocka_unit_test(test_three_with_the_same_runs),
        cmocka_unit_test(test_creation_at_once),
        cmocka_unit_test(test_writer_waits),
    };
    return cmocka_run_group_tests_name("concurrent", tests, NULL, remove_workplace);
}
