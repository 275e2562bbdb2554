/* The store with bad files, read-only folders, full disks, kill -9 and concurrent writers.
 *
 * Required: a message that names the file and the remedy; a refused file that stays unchanged to the byte, with no file
 * created beside it; no loss of finished runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include <dirent.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "program.h"
#include "store_sample.h"

/* Writes FOLDER/NAME to `out`. */
static void join(char out[PATH_MAX], const char *folder, const char *name) {
    if ((size_t)snprintf(out, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX) abort();
}

/* ---- In a process of its own ------------------------------------------------------------------------------------- */

enum { CHILD_FINE = 0, CHILD_WRONG = 1, CHILD_CANNOT = 77 };

/* cmocka's own assertions jump, which a child must not. */
#define child_demand(CONDITION, SAYS)                                                   \
    do {                                                                                \
        if (!(CONDITION)) {                                                             \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #CONDITION, (SAYS)); \
            _exit(CHILD_WRONG);                                                         \
        }                                                                               \
    } while (0)

static int in_child(void (*body)(const char *path), const char *path) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        body(path);
        _exit(CHILD_FINE);
    }
    if (child < 0) fail_msg("fork: %s", strerror(errno));
    return wait_for(child);
}

/* Runs `body` in a child; skips the test, with the reason, if the child could not set up its environment. */
static void demand_child(void (*body)(const char *path), const char *path, const char *cannot) {
    const int code = in_child(body, path);
    if (code == CHILD_CANNOT) {
        printf("             skipped: %s\n", cannot);
        skip();
    }
    if (code != CHILD_FINE) fail_msg("the child ended with %d", code);
}

/* ---- Files that are refused -------------------------------------------------------------------------------------- */

static size_t count_entries(const char *folder) {
    DIR *entries = opendir(folder);
    size_t count = 0;
    while (entries != NULL && readdir(entries) != NULL) count++;
    if (entries != NULL) closedir(entries);
    return count;
}

static void assert_refused(const char *path, pbd_store_mode mode, const char *says) {
    file_bytes before = read_bytes(path);
    const size_t entries = count_entries(workplace());
    pbd_store *store;
    const pbd_status status = pbd_store_open(path, mode, &store);
    if (status.code == PBD_OK) fail_msg("'%s' was opened", path);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    assert_null(store);
    expect_says(status.text, path);
    expect_says(status.text, says);
    file_bytes after = read_bytes(path);
    assert_int_equal(after.count, before.count);
    if (before.count > 0) assert_memory_equal(after.byte, before.byte, before.count);
    assert_int_equal(count_entries(workplace()), entries);
    free(before.byte);
    free(after.byte);
}

static void assert_refused_both(const char *path, const char *says) {
    assert_refused(path, PBD_STORE_READ, says);
    assert_refused(path, PBD_STORE_WRITE, says);
}

static void other_files_are_refused(void **state) {
    (void)state;
    const char *text = fresh("notes.txt"), *image = fresh("half.db");
    write_bytes(text, "some notes\n", 11);
    assert_refused_both(text, "not a database");
    write_bytes(image, "SQLite format 3", 16); /* only the first bytes of the header */
    assert_refused_both(image, "not a database");
    assert_refused_both(workplace(), "a folder");
    assert_refused_both("/dev/full", "a device");
    const char *missing = fresh("missing.db"), *empty = fresh("empty.db");
    assert_refused(missing, PBD_STORE_READ, "no store");
    write_bytes(empty, "", 0);
    assert_refused(empty, PBD_STORE_READ, "empty");
    char deep[PATH_MAX];
    join(deep, workplace(), "a/b/c.db");
    assert_refused(deep, PBD_STORE_WRITE, "cannot be made");
    join(deep, text, "c.db"); /* a file in place of a folder */
    assert_refused_both(deep, "notes.txt");
}

static void a_new_store_makes_its_folder(void **state) {
    (void)state;
    char path[PATH_MAX];
    join(path, workplace(), "results/new.db");
    make_store(path, 1);
    assert_clean(path);
    const char *empty = fresh("was_empty.db");
    write_bytes(empty, "", 0);
    make_store(empty, 1);
    assert_clean(empty);
}

/* SQLite's special path names are ordinary file names here. */
static void a_path_is_only_a_path(void **state) {
    (void)state;
    char cwd[PATH_MAX];
    assert_non_null(getcwd(cwd, sizeof cwd));
    assert_int_equal(chdir(workplace()), 0);
    static const char *const names[] = {":memory:", "file:x.db?mode=memory", "100%?#.db"};
    for (size_t i = 0; i < 3; i++) {
        make_store(names[i], 1);
        assert_clean(names[i]);
        assert_int_equal(access(names[i], F_OK), 0);
        unlink(names[i]);
    }
    assert_int_equal(chdir(cwd), 0);
}

static void foreign_sql(const char *path, const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Writes in WAL mode and dies before the journal is checkpointed into the file. */
static void leave_a_wal(const char *path) {
    sqlite3 *db;
    child_demand(sqlite3_open(path, &db) == SQLITE_OK, "opens");
    child_demand(sqlite3_exec(db, "PRAGMA journal_mode = WAL; CREATE TABLE later(x); INSERT INTO later VALUES (1)",
                              NULL, NULL, NULL) == SQLITE_OK,
                 sqlite3_errmsg(db));
    kill(getpid(), SIGKILL);
}

static void other_databases_are_refused(void **state) {
    (void)state;
    const char *other = fresh("other.db"), *wal = fresh("wal.db"), *newer = fresh("newer.db");
    foreign_sql(other, "CREATE TABLE t(x); INSERT INTO t VALUES (1)");
    assert_refused_both(other, "another program");
    foreign_sql(other, "PRAGMA application_id = 42");
    assert_refused_both(other, "another program");
    foreign_sql(wal, "PRAGMA journal_mode = WAL; CREATE TABLE t(x)");
    assert_refused_both(wal, "another program");
    assert_int_equal(in_child(leave_a_wal, wal), -SIGKILL);
    assert_refused_both(wal, "another program");
    make_store(newer, 1);
    assert_int_equal(plain_sql(newer, "PRAGMA user_version = 7"), SQLITE_OK);
    assert_int_equal(plain_sql(newer, "PRAGMA wal_checkpoint(TRUNCATE)"), SQLITE_OK);
    assert_refused_both(newer, "version 7");
    assert_refused_both(newer, "version 2");
}

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

static void a_store_cut_short_is_refused(void **state) {
    (void)state;
    const char *path = fresh("whole.db"), *cut = fresh("cut.db");
    make_store(path, 3);
    file_bytes whole = read_bytes(path);
    for (size_t part = 1; part < 16; part++) {
        write_bytes(cut, whole.byte, whole.count * part / 16);
        assert_refused_both(cut, "cut short");
    }
    write_bytes(cut, whole.byte, whole.count - 1);
    assert_refused_both(cut, "cut short");
    free(whole.byte);
}

/* Each page in turn is overwritten. */
static void a_store_with_a_lost_page_is_refused(void **state) {
    (void)state;
    const char *path = fresh("pages.db"), *spoilt = fresh("spoilt.db");
    make_store(path, 3);
    file_bytes whole = read_bytes(path);
    const size_t page = 4096;
    assert_int_equal(whole.count % page, 0);
    for (size_t at = 0; at < whole.count; at += page) {
        file_bytes damaged = {whole.count, need(malloc(whole.count))};
        memcpy(damaged.byte, whole.byte, whole.count);
        memset(damaged.byte + at + (at == 0 ? 100 : 0), 0xA5, at == 0 ? page - 100 : page);
        write_bytes(spoilt, damaged.byte, damaged.count);
        assert_refused_both(spoilt, "corrupt");
        free(damaged.byte);
    }
    free(whole.byte);
}

/* Exports without the descriptions of method and case, which are no part of a run. Lines that are not JSON are dropped,
 * which makes the export differ. */
static char *export_of_runs(pbd_store *store) {
    char *text = NULL, *kept = NULL, *rest = NULL;
    size_t bytes = 0, runs;
    FILE *out = need(open_memstream(&text, &bytes));
    const pbd_status status = pbd_store_export(store, out, &runs);
    fclose(out);
    out = need(open_memstream(&kept, &bytes));
    for (char *line = strtok_r(text, "\n", &rest); line && status.code == PBD_OK; line = strtok_r(NULL, "\n", &rest)) {
        json_t *record = json_loads(line, 0, NULL);
        json_object_del(record, "case");
        json_object_del(record, "method");
        if (record) json_dumpf(record, out, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
        json_decref(record);
    }
    fclose(out);
    free(text);
    return kept;
}

/* Whether a store is refused, reported as damaged, or exports exactly `wanted`. */
static bool is_noticed_or_harmless(const char *path, const char *wanted) {
    pbd_store *store;
    const pbd_status opened = pbd_store_open(path, PBD_STORE_READ, &store);
    if (opened.code != PBD_OK) return opened.code == PBD_BAD_INPUT;
    char *says = NULL;
    size_t bytes = 0, problems = 0;
    FILE *out = need(open_memstream(&says, &bytes));
    const pbd_status checked = pbd_store_check(store, out, &problems);
    fclose(out);
    free(says);
    bool fine = checked.code == PBD_BAD_INPUT || problems > 0;
    if (!fine) {
        char *text = export_of_runs(store);
        fine = strcmp(text, wanted) == 0;
        free(text);
    }
    pbd_store_close(store);
    return fine;
}

/* Flips one bit at a time, at positions drawn with a fixed seed. */
static void a_flipped_bit_is_noticed_or_harmless(void **state) {
    (void)state;
    const char *path = fresh("bits.db"), *flipped = fresh("flipped.db");
    make_store(path, 2);
    file_bytes whole = read_bytes(path);
    pbd_store *store;
    assert_fine(pbd_store_open(path, PBD_STORE_READ, &store));
    char *wanted = export_of_runs(store);
    pbd_store_close(store);
    uint64_t draw = 1;
    for (int i = 0; i < 600; i++) {
        draw = draw * 6364136223846793005u + 1442695040888963407u;
        const size_t at = (size_t)(draw >> 20) % whole.count;
        const unsigned char bit = (unsigned char)(1u << (draw >> 61));
        whole.byte[at] ^= bit;
        write_bytes(flipped, whole.byte, whole.count);
        if (!is_noticed_or_harmless(flipped, wanted)) fail_msg("bit %d of byte %zu changes runs unnoticed", bit, at);
        whole.byte[at] ^= bit;
    }
    free(wanted);
    free(whole.byte);
}

/* ---- Read-only --------------------------------------------------------------------------------------------------- */

/* Becomes nobody, since file modes do not restrict root; may fail in a sandbox. */
static void leave_root(void) {
    if (geteuid() != 0) return;
    if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0) _exit(CHILD_CANNOT);
}

static void try_protected(const char *path) {
    leave_root();
    pbd_store *store;
    const pbd_status status = pbd_store_open(path, PBD_STORE_WRITE, &store);
    child_demand(status.code == PBD_BAD_INPUT, status.text);
    child_demand(strstr(status.text, "read-only") != NULL && strstr(status.text, path) != NULL, status.text);
    const pbd_status reading = pbd_store_open(path, PBD_STORE_READ, &store);
    child_demand(reading.code == PBD_OK, reading.text);
    size_t problems = 0, bytes = 0;
    char *says = NULL;
    FILE *out = open_memstream(&says, &bytes);
    const pbd_status checked = pbd_store_check(store, out, &problems);
    fclose(out);
    child_demand(checked.code == PBD_OK, checked.text);
    child_demand(problems == 0, says);
    char run_id[33];
    const pbd_status put = put_sample(store, 9, run_id);
    child_demand(put.code == PBD_BAD_INPUT, put.text);
    child_demand(strstr(put.text, "reading only") != NULL, put.text);
    free(says);
    pbd_store_close(store);
}

static void try_protected_folder(const char *path) {
    leave_root();
    pbd_store *store;
    const pbd_status status = pbd_store_open(path, PBD_STORE_WRITE, &store);
    child_demand(status.code == PBD_BAD_INPUT, status.text);
    child_demand(strstr(status.text, "read-only") != NULL && strstr(status.text, path) != NULL, status.text);
}

static void write_protection_is_told(void **state) {
    (void)state;
    static const struct { mode_t file, folder; } modes[] = {{0444, 0777}, {0666, 0555}, {0444, 0555}};
    const char *cannot = "this sandbox does not let root become another user";
    char folder[PATH_MAX], path[PATH_MAX], missing[PATH_MAX];
    join(folder, workplace(), "shut");
    join(path, folder, "kept.db");
    join(missing, folder, "new.db");
    assert_int_equal(chmod(workplace(), 0755), 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        make_store(path, 2);
        file_bytes before = read_bytes(path);
        assert_int_equal(chmod(path, modes[i].file), 0);
        assert_int_equal(chmod(folder, modes[i].folder), 0);
        demand_child(try_protected, path, cannot);
        assert_int_equal(count_entries(folder), 3); /* ".", ".." and the store */
        if (modes[i].folder == 0555) demand_child(try_protected_folder, missing, cannot);
        chmod(folder, 0755);
        file_bytes after = read_bytes(path);
        assert_int_equal(after.count, before.count);
        assert_memory_equal(after.byte, before.byte, before.count);
        free(before.byte);
        free(after.byte);
        unlink(path);
    }
}

/* ---- Full disks -------------------------------------------------------------------------------------------------- */

/* Puts runs until one is refused; prints the ids of the stored ones to `ids`. */
static pbd_status put_until_refused(pbd_store *store, unsigned from, FILE *ids, unsigned *stored) {
    pbd_status status = pbd_ok();
    for (*stored = 0; status.code == PBD_OK && *stored < 100000;) {
        char run_id[33];
        status = put_sample(store, from + *stored, run_id);
        if (status.code != PBD_OK) break;
        fprintf(ids, "%s\n", run_id);
        fflush(ids);
        ++*stored;
    }
    return status;
}

/* Asserts that every run whose id was printed is stored completely. Returns their number. */
static unsigned assert_all_there(const char *path, FILE *ids) {
    pbd_store *store;
    char id[40];
    unsigned count = 0;
    rewind(ids);
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    while (fgets(id, sizeof id, ids) != NULL) {
        pbd_result got;
        if (id[strcspn(id, "\n")] != '\n') break; /* incomplete last line of a killed process */
        id[strcspn(id, "\n")] = '\0';
        assert_fine(pbd_store_get(store, id, &got));
        assert_int_equal(got.metrics, SAMPLE_METRICS);
        pbd_result_free(&got);
        count++;
    }
    pbd_store_close(store);
    assert_clean(path);
    return count;
}

static FILE *id_file;

/* SQLite's size limit causes SQLITE_FULL, as a full disk does. */
static void a_full_database_is_told_and_goes_on(void **state) {
    (void)state;
    const char *path = fresh("full.db");
    pbd_store *store;
    unsigned stored;
    char run_id[33];
    id_file = need(tmpfile());
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &store));
    assert_int_equal(sqlite3_exec(pbd_store_sql(store), "PRAGMA max_page_count = 60", NULL, NULL, NULL), SQLITE_OK);
    const pbd_status status = put_until_refused(store, 0, id_file, &stored);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    expect_says(status.text, "no room");
    expect_says(status.text, path);
    assert_true(stored > 3);
    assert_int_equal(sqlite3_exec(pbd_store_sql(store), "PRAGMA max_page_count = 100000", NULL, NULL, NULL), SQLITE_OK);
    assert_fine(put_sample(store, stored, run_id)); /* with space again, the same store works */
    fprintf(id_file, "%s\n", run_id);
    pbd_store_close(store);
    assert_int_equal(assert_all_there(path, id_file), stored + 1);
    fclose(id_file);
}

static rlim_t size_limit;

/* Files cannot grow past size_limit: EFBIG from the system, at any point of SQLite's writes. */
static void put_within_limit(const char *path) {
    signal(SIGXFSZ, SIG_IGN);
    pbd_store *store;
    unsigned stored;
    const struct rlimit limit = {size_limit, size_limit};
    setrlimit(RLIMIT_FSIZE, &limit);
    pbd_status status = pbd_store_open(path, PBD_STORE_WRITE, &store);
    if (status.code == PBD_OK) status = put_until_refused(store, 0, id_file, &stored);
    child_demand(status.code == PBD_BAD_INPUT, status.text);
    child_demand(strstr(status.text, "no room") != NULL && strstr(status.text, path) != NULL, status.text);
    pbd_store_close(store);
}

static void a_limit_on_files_is_told(void **state) {
    (void)state;
    const char *path = fresh("limit.db");
    unsigned most = 0;
    for (size_limit = 0; size_limit <= 600000; size_limit += size_limit < 60000 ? 5000 : 100000) {
        unlink(path);
        id_file = need(tmpfile());
        if (in_child(put_within_limit, path) != CHILD_FINE)
            fail_msg("with a limit of %lu bytes", (unsigned long)size_limit);
        const unsigned there = assert_all_there(path, id_file);
        most = there > most ? there : most;
        fclose(id_file);
    }
    assert_true(most > 3);
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (file == NULL) _exit(CHILD_CANNOT);
    fputs(text, file);
    fclose(file);
}

/* Mounts a small file system that only this process sees. */
static void mount_small_disk(const char *folder) {
    char map[64];
    const unsigned uid = geteuid(), gid = getegid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) _exit(CHILD_CANNOT);
    write_text("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "0 %u 1", uid);
    write_text("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "0 %u 1", gid);
    write_text("/proc/self/gid_map", map);
    if (mount("tmpfs", folder, "tmpfs", 0, "size=400k") != 0) _exit(CHILD_CANNOT);
}

static void fill_a_disk(const char *folder) {
    mount_small_disk(folder);
    char path[PATH_MAX];
    join(path, folder, "small.db");
    pbd_store *store;
    unsigned stored;
    pbd_status status = pbd_store_open(path, PBD_STORE_WRITE, &store);
    child_demand(status.code == PBD_OK, status.text);
    status = put_until_refused(store, 0, id_file, &stored);
    child_demand(status.code == PBD_BAD_INPUT && strstr(status.text, "no room") != NULL, status.text);
    pbd_store_close(store);
    child_demand(stored > 3, "some runs fit");

    /* With the disk still full, the store opens for reading, and nothing is lost. */
    size_t problems = 1, bytes = 0;
    char *says = NULL;
    FILE *out = open_memstream(&says, &bytes);
    status = pbd_store_open(path, PBD_STORE_READ, &store);
    child_demand(status.code == PBD_OK, status.text);
    status = pbd_store_check(store, out, &problems);
    fclose(out);
    child_demand(status.code == PBD_OK && problems == 0, says);
    size_t runs = 0;
    FILE *null = fopen("/dev/null", "w");
    status = pbd_store_export(store, null, &runs);
    child_demand(status.code == PBD_OK && runs == stored, "every run is there");
    fclose(null);
    pbd_store_close(store);

    /* The same on a read-only file system, which holds for root, too. */
    child_demand(mount("tmpfs", folder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL) == 0, strerror(errno));
    status = pbd_store_open(path, PBD_STORE_WRITE, &store);
    child_demand(status.code == PBD_BAD_INPUT && strstr(status.text, "read-only") != NULL, status.text);
    status = pbd_store_open(path, PBD_STORE_READ, &store);
    child_demand(status.code == PBD_OK, status.text);
    pbd_store_close(store);
    free(says);
}

static void a_full_disk_is_told(void **state) {
    (void)state;
    char folder[PATH_MAX];
    join(folder, workplace(), "disk");
    assert_int_equal(mkdir(folder, 0755), 0);
    id_file = need(tmpfile());
    demand_child(fill_a_disk, folder, "this sandbox does not let a test mount a file system of its own");
    fclose(id_file);
}

/* ---- kill -9 and company ----------------------------------------------------------------------------------------- */

static unsigned first_number;

static void put_for_ever(const char *path) {
    pbd_store *store;
    unsigned stored;
    pbd_status status = pbd_store_open(path, PBD_STORE_WRITE, &store);
    child_demand(status.code == PBD_OK, status.text);
    status = put_until_refused(store, first_number, id_file, &stored);
    child_demand(false, status.text);
}

static void wait_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

/* Waits until the file grows, as the time to the first run of a process varies tenfold. */
static void wait_for_growth(FILE *file) {
    struct stat before, now;
    fstat(fileno(file), &before);
    for (int ms = 0; ms < 20000; ms++) {
        fstat(fileno(file), &now);
        if (now.st_size > before.st_size) return;
        wait_ms(1);
    }
    fail_msg("no run in 20 s");
}

/* The store does not exist at first, so that its creation is killed, too. */
static void killing_loses_no_finished_run(void **state) {
    (void)state;
    const char *path = fresh("killed.db");
    id_file = need(tmpfile());
    unsigned there = 0, before_last = 0;
    for (int kills = 0; kills < 25; kills++) {
        fflush(NULL);
        first_number = (unsigned)kills * 100000;
        const pid_t child = fork();
        if (child == 0) put_for_ever(path);
        if (kills >= 5) wait_for_growth(id_file);
        wait_ms(kills < 5 ? 3 * kills : (kills * 37) % 40);
        kill(child, SIGKILL);
        assert_int_equal(wait_for(child), -SIGKILL);
        before_last = there;
        there = assert_all_there(path, id_file);
        assert_true(there >= before_last);
    }
    printf("             %u runs reported by 25 killed processes, all there\n", there);
    assert_true(there >= 20); /* all but the first five had stored a run */
    fclose(id_file);
}

enum { WRITERS = 4, EACH = 40 };

static void put_forty(const char *path) {
    pbd_store *store;
    pbd_status status = pbd_store_open(path, PBD_STORE_WRITE, &store);
    child_demand(status.code == PBD_OK, status.text);
    for (unsigned n = 0; n < EACH; n++) {
        char run_id[33];
        status = put_sample(store, first_number + n, run_id);
        child_demand(status.code == PBD_OK, status.text);
    }
    pbd_store_close(store);
}

/* The writers also race to create the file. */
static void writers_at_once_lose_nothing(void **state) {
    (void)state;
    for (int round = 0; round < 5; round++) {
        const char *path = fresh("shared.db");
        pid_t child[WRITERS];
        fflush(NULL);
        for (unsigned w = 0; w < WRITERS; w++) {
            first_number = w * 1000;
            child[w] = fork();
            if (child[w] == 0) {
                put_forty(path);
                _exit(CHILD_FINE);
            }
        }
        for (unsigned w = 0; w < WRITERS; w++) assert_int_equal(wait_for(child[w]), CHILD_FINE);
        char wanted[16];
        snprintf(wanted, sizeof wanted, "%d", WRITERS * EACH);
        assert_sql(path, "SELECT count(*) FROM run", wanted);
        assert_sql(path, "SELECT count(DISTINCT invocation_id) FROM run", "4");
        assert_clean(path);
    }
}

/* ---- Journals that are not whole --------------------------------------------------------------------------------- */

enum { BEFORE = 3, LATER = 5 };

static void add_and_die(const char *path) {
    pbd_store *store;
    char run_id[33];
    pbd_status status = pbd_store_open(path, PBD_STORE_WRITE, &store);
    for (unsigned n = BEFORE; n < BEFORE + LATER && status.code == PBD_OK; n++) status = put_sample(store, n, run_id);
    child_demand(status.code == PBD_OK, status.text);
    kill(getpid(), SIGKILL); /* before the journal is checkpointed */
}

/* The number of runs of a store with these bytes and this journal. All must be complete, and a new run can be put. */
static long runs_with(const file_bytes *store, const unsigned char *wal, size_t wal_bytes) {
    const char *path = fresh("stale.db"), *journal = fresh("stale.db-wal");
    char run_id[33];
    pbd_store *opened;
    fresh("stale.db-shm");
    write_bytes(path, store->byte, store->count);
    if (wal_bytes > 0) write_bytes(journal, wal, wal_bytes);
    assert_clean(path);
    char *text = plain_text(path, "SELECT count(*) FROM run");
    const long runs = strtol(text, NULL, 10);
    assert_fine(pbd_store_open(path, PBD_STORE_WRITE, &opened));
    assert_fine(put_sample(opened, 99, run_id));
    pbd_store_close(opened);
    assert_clean(path);
    free(text);
    return runs;
}

static void a_stale_journal_leaves_whole_runs(void **state) {
    (void)state;
    const char *path = fresh("dies.db");
    make_store(path, BEFORE);
    assert_int_equal(in_child(add_and_die, path), -SIGKILL);
    file_bytes store = read_bytes(path), wal = read_bytes(in_workplace("dies.db-wal"));
    assert_true(wal.count > 0);
    assert_int_equal(runs_with(&store, NULL, 0), BEFORE);
    assert_int_equal(runs_with(&store, wal.byte, wal.count), BEFORE + LATER);
    long last = BEFORE;
    for (size_t part = 1; part < 16; part++) { /* truncated */
        const long runs = runs_with(&store, wal.byte, part * wal.count / 16);
        assert_true(runs >= last && runs <= BEFORE + LATER);
        last = runs;
    }
    for (size_t part = 0; part < 16; part++) { /* a byte changed */
        wal.byte[part * wal.count / 16] ^= 0x55;
        const long runs = runs_with(&store, wal.byte, wal.count);
        assert_true(runs >= BEFORE && runs <= BEFORE + LATER);
        wal.byte[part * wal.count / 16] ^= 0x55;
    }
    unsigned char noise[4096];
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (unsigned char)(i * i * 31 + i / 7);
    assert_int_equal(runs_with(&store, noise, sizeof noise), BEFORE);
    assert_clean(path); /* checkpoints the journal */
    file_bytes after = read_bytes(path);
    assert_int_equal(runs_with(&after, wal.byte, wal.count), BEFORE + LATER);
    free(after.byte);
    free(store.byte);
    free(wal.byte);
}

/* A merge of two good runs and a bad one adds nothing; nor does a merge during which the disk fills up. */
static void a_merge_that_fails_adds_nothing(void **state) {
    (void)state;
    const char *from = fresh("much.db"), *into = fresh("little.db");
    make_store(from, 200);
    pbd_store *store;
    size_t added, known;
    assert_fine(pbd_store_open(into, PBD_STORE_WRITE, &store));
    assert_int_equal(sqlite3_exec(pbd_store_sql(store), "PRAGMA max_page_count = 80", NULL, NULL, NULL), SQLITE_OK);
    const pbd_status status = pbd_store_merge(store, from, &added, &known);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    expect_says(status.text, "no room");
    pbd_store_close(store);
    assert_sql(into, "SELECT count(*) FROM run", "0");
    assert_clean(into);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(a_new_store_makes_its_folder),
        cmocka_unit_test(a_path_is_only_a_path),
        cmocka_unit_test(other_databases_are_refused),
        cmocka_unit_test(a_store_cut_short_is_refused),
        cmocka_unit_test(a_store_with_a_lost_page_is_refused),
        cmocka_unit_test(a_flipped_bit_is_noticed_or_harmless),
        cmocka_unit_test(write_protection_is_told),
        cmocka_unit_test(a_full_database_is_told_and_goes_on),
        cmocka_unit_test(a_limit_on_files_is_told),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(killing_loses_no_finished_run),
        cmocka_unit_test(writers_at_once_lose_nothing),
        cmocka_unit_test(a_stale_journal_leaves_whole_runs),
        cmocka_unit_test(a_merge_that_fails_adds_nothing),
    };
    return cmocka_run_group_tests_name("store under faults", tests, NULL, remove_workplace);
}
