/* Sweeps in parts: planned, run shard by shard, merged. A script called sbatch stands in for Slurm: it records its
 * arguments and runs the tasks immediately. slurm.sh tests the real Slurm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <jansson.h>
#include <sqlite3.h>
#include <xxhash.h>

#include "tests/program.h"
#include "tests/sanitized.h"

/* 13 cells, one of them with 3 repeats: 15 runs, in shards of 4. */
enum { RUNS = 15, SHARDS = 4 };
static const char sweep_yaml[] =
    "runs:\n"
    "  - {name: fit, case: hex_fit, method: pbd_distance, threads: 1, axes: [\"nu=0:0.22:0.02\"]}\n"
    "  - {name: often, case: hex_fit, method: pbd_distance, threads: 1, set: [nu=0.3], repeats: 3}\n";

/* Runs the tasks of each array immediately, except those named in `skip`. */
static const char fake_sbatch[] =
    "#!/bin/sh\n"
    "here=$(dirname \"$0\")\n"
    "echo \"$*\" >>\"$here/calls\"\n"
    "if [ -e \"$here/refusal\" ]; then cat \"$here/refusal\" >&2; exit 1; fi\n"
    "for script; do :; done\n"
    "last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' \"$script\")\n"
    "if [ -z \"$last\" ]; then sh \"$script\" >\"$here/merged\" 2>&1; fi\n"
    "i=0\n"
    "while [ -n \"$last\" ] && [ $i -le $last ]; do\n"
    "    if ! grep -qx $i \"$here/skip\" 2>/dev/null; then\n"
    "        SLURM_ARRAY_TASK_ID=$i sh \"$script\" >>\"$here/tasks\" 2>&1\n"
    "    fi\n"
    "    i=$((i + 1))\n"
    "done\n"
    "echo \"$((100 + $(wc -l <\"$here/calls\")));cluster\"\n";
static const char fake_squeue[] =
    "#!/bin/sh\necho \"$*\" >>\"$(dirname \"$0\")/asked\"\nprintf 'RUNNING\\nPENDING\\nPENDING\\n'\n";
static const char fake_scontrol[] = "#!/bin/sh\necho 'MaxArraySize            = 3'\n";

static void write_text(const char *name, const char *text) {
    FILE *file = fopen(in_workplace(name), "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail_msg("cannot write %s: %s", name, strerror(errno));
}

static char *read_text(const char *path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) fail_msg("cannot read %s: %s", path, strerror(errno));
    return slurp(file);
}

static int make_place(void **state) {
    (void)state;
    write_text("sweep.yaml", sweep_yaml);
    if (mkdir(in_workplace("bin"), 0777) != 0) return -1;
    write_text("bin/sbatch", fake_sbatch);
    write_text("bin/scontrol", fake_scontrol);
    write_text("bin/squeue", fake_squeue);
    return chmod(in_workplace("bin/sbatch"), 0755) || chmod(in_workplace("bin/scontrol"), 0755) ||
           chmod(in_workplace("bin/squeue"), 0755);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

/* `sweep WORDS --dir DIR` must exit with this code. Returns its output on both streams; to be freed. */
static char *sweep(int code, const char *dir, const char *const *words) {
    const char *all[24] = {"sweep"};
    char *says;
    size_t n = 1;
    for (; words[n - 1]; n++) all[n] = words[n - 1];
    all[n++] = "--dir";
    all[n++] = in_workplace(dir);
    told answer = tell_to(STDOUT_KEPT, all);
    expect_code(answer, code);
    if (asprintf(&says, "%s%s", answer.out, answer.err) < 0) fail_msg("no memory");
    forget(&answer);
    return says;
}
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The same, and the output must contain `wanted`. */
static void sweep_says(int code, const char *dir, const char *const *words, const char *wanted) {
    char *says = sweep(code, dir, words);
    expect_says(says, wanted);
    free(says);
}

static void plan(const char *dir) {
    sweep_says(0, dir, WORDS("plan", in_workplace("sweep.yaml"), "--shard-cells", "4"),
               "15 runs in 4 shards of 4 cells; 0 published, missing: 0-3");
}

static void run_shard(const char *dir, const char *number) { free(sweep(0, dir, WORDS("run-shard", number, "-q"))); }

static void merge_says(int code, const char *dir, const char *db, const char *wanted) {
    sweep_says(code, dir, WORDS("merge", "--db", in_workplace(db)), wanted);
}

static long count_in(const char *db, const char *query) {
    sqlite3 *sql = NULL;
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_open_v2(in_workplace(db), &sql, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sql, query, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    const long count = (long)sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(sql);
    return count;
}

static void expect_whole(const char *db) {
    assert_int_equal(count_in(db, "SELECT count(*) FROM run"), RUNS);
    assert_int_equal(count_in(db, "SELECT count(*) FROM (SELECT DISTINCT cell_id, seed, repeat FROM run)"), RUNS);
    told answer = tell("db", "check", "--db", in_workplace(db));
    expect_code(answer, 0);
    forget(&answer);
}

/* The path of a shard's published file; to be freed. */
static char *shard_file(const char *dir, int number) {
    char folder[PATH_MAX], begin[16], *path = NULL;
    snprintf(folder, sizeof folder, "%s/shards", in_workplace(dir));
    snprintf(begin, sizeof begin, "%06d-", number);
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (const struct dirent *e; (e = readdir(entries));)
        if (strncmp(e->d_name, begin, strlen(begin)) == 0 && asprintf(&path, "%s/%s", folder, e->d_name) < 0)
            fail_msg("no memory");
    closedir(entries);
    if (!path) fail_msg("there is no shard %d", number);
    return path;
}

/* ---- The same answers -------------------------------------------------------------------------------------------- */

/* All numbers except times, as one text. */
static char *answers(const char *db) {
    sqlite3 *sql = NULL;
    sqlite3_stmt *stmt = NULL;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_int_equal(sqlite3_open_v2(in_workplace(db), &sql, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sql,
                                        "SELECT cell_id, seed, repeat, state, name, value, count FROM run JOIN metric"
                                        " USING (run_id) WHERE unit <> 's' OR name = 'dt' ORDER BY 1, 2, 3, 5",
                                        -1, &stmt, NULL),
                     SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < 5; i++) fprintf(out, "%s ", (const char *)sqlite3_column_text(stmt, i));
        fprintf(out, "%a %lld\n", sqlite3_column_double(stmt, 5), sqlite3_column_int64(stmt, 6));
    }
    sqlite3_finalize(stmt);
    sqlite3_close(sql);
    fclose(out);
    return text;
}

static void parts_answer_as_the_whole(void **state) {
    (void)state;
    told whole = tell("sweep", in_workplace("sweep.yaml"), "-q", "--db", in_workplace("whole.db"));
    expect_code(whole, 0);
    forget(&whole);
    plan("local");
    sweep_says(0, "local", WORDS("submit", "--engine", "local", "--db", in_workplace("local.db")),
               "4 of 4 shards merged: 15 runs added, 0 already present, 0 failed, diverged or unphysical");
    merge_says(0, "local", "local.db", "4 of 4 shards merged: 0 runs added, 15 already present");
    expect_whole("local.db");
    char *one = answers("whole.db"), *other = answers("local.db");
    assert_true(strlen(one) > 1000);
    assert_string_equal(one, other);
    free(one);
    free(other);
    sweep_says(0, "local", WORDS("status"), "in 4 shards of 4 cells; 4 published\n");
    sweep_says(0, "local", WORDS("resume"), "every shard is published: nothing to submit; merging");
    run_shard("local", "2");
    sweep_says(0, "local", WORDS("run-shard", "2"), "shard 2: already published");
}

static void status_as_json(void **state) {
    (void)state;
    plan("json");
    run_shard("json", "1");
    char *says = sweep(4, "json", WORDS("status", "--json"));
    json_t *object = json_loads(says, 0, NULL), *missing = json_object_get(object, "missing");
    assert_int_equal(json_integer_value(json_object_get(object, "shards")), SHARDS);
    assert_int_equal(json_integer_value(json_object_get(object, "published")), 1);
    assert_int_equal(json_array_size(missing), 3);
    assert_int_equal(json_integer_value(json_array_get(missing, 1)), 2);
    assert_true(json_is_null(json_object_get(object, "submitted")));
    json_decref(object);
    free(says);
}

/* ---- Slurm, played by a script ----------------------------------------------------------------------------------- */

static char old_path[4000];

static void with_slurm(bool there) {
    char path[PATH_MAX + 4100];
    if (!*old_path) snprintf(old_path, sizeof old_path, "%s", getenv("PATH"));
    snprintf(path, sizeof path, "%s:%s", in_workplace("bin"), old_path);
    setenv("PATH", there ? path : "/nonexistent", 1);
    if (there) {
        static const char *const notes[] = {"bin/calls", "bin/tasks", "bin/merged", "bin/skip", "bin/refusal"};
        for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) unlink(in_workplace(notes[i]));
    }
}

static void without_slurm(void) { setenv("PATH", old_path, 1); }

static void note_says(const char *note, const char *wanted, bool is_there) {
    char *text = read_text(in_workplace(note));
    if ((strstr(text, wanted) != NULL) != is_there)
        fail_msg("%s %s '%s':\n%s", note, is_there ? "lacks" : "has", wanted, text);
    free(text);
}

/* Arrays have at most 3 tasks, so 4 shards need two arrays. One task fails; resume submits only that one. */
static void slurm_runs_and_resumes(void **state) {
    (void)state;
    with_slurm(true);
    plan("slurm");
    write_text("bin/skip", "2\n");
    sweep_says(0, "slurm",
               WORDS("submit", "--engine", "slurm", "--sbatch-args", "--account=me --gres=gpu:1", "--db",
                     in_workplace("slurm.db")),
               "submitted to Slurm as job 101, 102: 1 running, 2 waiting; merge 103");
    note_says("bin/asked", "--jobs=101,102\n", true);
    note_says("bin/calls", "--parsable --account=me --gres=gpu:1 ", true);
    note_says("bin/calls", "--parsable --dependency=afterany:101:102 --account=me ", true);
    note_says("bin/merged", "3 of 4 shards merged: 9 runs added", true);
    note_says("bin/merged", "missing: 2;", true);
    note_says("slurm/jobs/1.sh", "#SBATCH --array=0-2\n", true);
    note_says("slurm/jobs/1.sh", "#SBATCH --exclusive\n", true);
    note_says("slurm/jobs/1.sh", "#SBATCH --cpus-per-task=1\n", true);
    note_says("slurm/jobs/2.sh", "#SBATCH --array=0-0\n", true);
    sweep_says(2, "slurm", WORDS("submit", "--engine", "slurm"), "was submitted already");
    sweep_says(4, "slurm", WORDS("status"), "3 published, missing: 2\n");

    with_slurm(true);
    char *says = sweep(0, "slurm", WORDS("resume"));
    expect_says(says, "submitted to Slurm as job 101:");
    expect_says(says, "1 tasks are running and 2 waiting: their shards will run twice");
    free(says);
    note_says("slurm/jobs/4.sh", "#SBATCH --array=0-0\n", true);
    char *list = read_text(in_workplace("slurm/jobs/4.shards"));
    assert_string_equal(list, "2\n");
    free(list);
    note_says("bin/calls", "--account=me --gres=gpu:1", true); /* the arguments of submit */
    note_says("bin/merged", "4 of 4 shards merged: 6 runs added, 9 already present", true);
    without_slurm();
    expect_whole("slurm.db");
}

static void slurm_packed_and_throttled(void **state) {
    (void)state;
    with_slurm(true);
    plan("packed");
    free(sweep(0, "packed",
               WORDS("submit", "--engine", "slurm", "--packed", "--throttle", "2", "--shard-cells", "2", "--db",
                     in_workplace("packed.db"))));
    note_says("packed/jobs/1.sh", "#SBATCH --array=0-2%2\n", true);
    note_says("packed/jobs/1.sh", "#SBATCH --exclusive", false);
    note_says("packed/jobs/3.sh", "#SBATCH --array=0-0%2\n", true);        /* 7 shards of 2 need 3 arrays */
    note_says("bin/calls", "--parsable --dependency=afterany:102 ", true); /* the throttle spans arrays */
    without_slurm();
    expect_whole("packed.db");
    assert_int_equal(count_in("packed.db", "SELECT count(*) FROM invocation WHERE argv LIKE '%\"--packed\"%'"), 7);
}

static void slurm_refuses_or_is_not_there(void **state) {
    (void)state;
    with_slurm(true);
    plan("refused");
    write_text("bin/refusal",
               "sbatch: error: invalid partition specified: fast\nsbatch: error: Batch job submission "
               "failed: Invalid partition name specified\n");
    sweep_says(2, "refused", WORDS("submit", "--engine", "slurm"),
               "sbatch: error: invalid partition specified: fast sbatch: error: Batch job submission failed: Invalid "
               "partition name specified");
    with_slurm(false);
    sweep_says(2, "refused", WORDS("submit", "--engine", "slurm"),
               "'sbatch' cannot be started: No such file or directory: submit where Slurm's sbatch is, or run the "
               "shards here with --engine local");
    without_slurm();
    /* Nothing was submitted, so it can still be submitted. */
    free(sweep(0, "refused", WORDS("submit", "--engine", "local", "-q", "--db", in_workplace("refused.db"))));
    expect_whole("refused.db");
}

/* ---- Tasks that are killed, or run twice ------------------------------------------------------------------------- */

/* Starts a shard and signals it after its first reported run. */
static int stop_shard(const char *dir, int signal_number) {
    const char *const argv[] = {getenv("PBDBENCH_PROGRAM"), "sweep", "run-shard", "0", "--json", "--dir",
                                in_workplace(dir),          NULL};
    int ends[2];
    pid_t pid;
    char byte;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    assert_int_equal(posix_spawn(&pid, argv[0], &files, NULL, (char *const *)(uintptr_t)argv, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    kill(pid, signal_number);
    while (read(ends[0], &byte, 1) > 0) {
    }
    close(ends[0]);
    return wait_for(pid);
}

/* The runs are long enough to be interrupted within a shard. */
static void what_is_killed_publishes_nothing(void **state) {
    (void)state;
    write_text("slow.yaml",
               "runs:\n  - {name: fit, case: hex_fit, method: pbd_distance, threads: 1, set: [fit=nelder_mead],\n"
               "     axes: [\"nu=0:0.398:0.001\"]}\n");
    free(sweep(0, "killed", WORDS("plan", in_workplace("slow.yaml"), "--shard-cells", "1000")));
    assert_int_equal(stop_shard("killed", SIGKILL), -SIGKILL);
    sweep_says(4, "killed", WORDS("status"), "0 published, missing: 0\n");
    assert_int_equal(stop_shard("killed", SIGTERM), 130);
    sweep_says(4, "killed", WORDS("status"), "0 published, missing: 0\n");
    merge_says(4, "killed", "killed.db", "0 of 1 shards merged");
}

/* ---- Runs that are paused ---------------------------------------------------------------------------------------- */

static int exit_of(const char *const *words) {
    told answer = tell_to(STDOUT_KEPT, words);
    const int code = answer.code;
    if (code != 0 && code != 4) fail_msg("exit %d: %s", code, answer.err);
    forget(&answer);
    return code;
}

#if SANITIZED
#define DURATION "0.01"
#else
#define DURATION "0.2"
#endif

/* A run of some seconds, whole and in parts of one second, whose number depends on the machine. */
static void a_long_run_goes_on(void **state) {
    (void)state;
    static const char *const queries[] = {
        "SELECT count(*) FROM run WHERE state = 'ok'", "SELECT count(*) FROM metric WHERE name <> 'pauses'",
        "SELECT CAST(1e12 * value AS INTEGER) FROM metric WHERE name = 'kinetic_energy_left'",
        "SELECT CAST(1e12 * sum(value) AS INTEGER) FROM series_point WHERE name = 'height_of_centre'"};
    const char *parts = strdup(in_workplace("parts")), *db = strdup(in_workplace("parts.db"));
    int code, times = 1;
    write_text("long.yaml",
               "runs:\n  - {name: goo, case: goo_drop, method: xpbi, precision: f32, threads: 1,\n"
               "     set: [particles=400, dt=1e-4, duration=" DURATION "]}\n");
    free(sweep(0, "at-once", WORDS("plan", in_workplace("long.yaml"), "-q")));
    free(sweep(0, "parts", WORDS("plan", in_workplace("long.yaml"), "-q")));
    free(sweep(0, "at-once", WORDS("submit", "--engine", "local", "-q", "--db", in_workplace("at-once.db"))));
    code = exit_of(WORDS("sweep", "submit", "--engine", "local", "--pause", "1", "-q", "--db", db, "--dir", parts));
    for (; code == 4 && times < 200; times++) code = exit_of(WORDS("sweep", "resume", "-q", "--dir", parts));
    print_message("    %d parts\n", times);
    assert_int_equal(code, 0);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        assert_int_equal(count_in("at-once.db", queries[i]), count_in("parts.db", queries[i]));
    assert_int_equal(count_in("parts.db", queries[0]), 1);
    free((char *)(uintptr_t)parts);
    free((char *)(uintptr_t)db);
    sweep_says(2, "parts", WORDS("status", "--pause", "3"), "--pause is not valid with sweep status");
}

/* Hides a shard's file while its task runs again, as if two tasks overlapped. Returns the second file; to be freed. */
static char *run_twice(const char *dir, int number) {
    char *first = shard_file(dir, number), hidden[PATH_MAX], text[12];
    snprintf(hidden, sizeof hidden, "%s", in_workplace("hidden.db"));
    snprintf(text, sizeof text, "%d", number);
    assert_int_equal(rename(first, hidden), 0);
    run_shard(dir, text);
    char *second = shard_file(dir, number);
    assert_int_equal(rename(hidden, first), 0);
    assert_string_not_equal(first, second);
    free(first);
    return second;
}

static void twins_count_once(void **state) {
    (void)state;
    plan("twice");
    free(sweep(0, "twice", WORDS("submit", "--engine", "local", "-q", "--db", in_workplace("twice.db"))));
    free(run_twice("twice", 1));
    free(run_twice("twice", 3));
    /* The files merged first remain the valid ones, whatever the order of names. */
    merge_says(0, "twice", "twice.db",
               "0 runs added, 15 already present, 0 failed, diverged or unphysical; 2 made twice");
    expect_whole("twice.db");
    merge_says(0, "twice", "twice2.db",
               "15 runs added, 0 already present, 0 failed, diverged or unphysical; 2 made twice");
    expect_whole("twice2.db");
}

/* ---- Files that are no shards ------------------------------------------------------------------------------------ */

static void overwrite(const char *path, off_t at, const char *bytes, size_t count) {
    chmod(path, 0644);
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(file, bytes, count, at), (ssize_t)count);
    close(file);
}

/* Replaces the first occurrence of a text in a file; false: there is none. */
static bool replace_in_file(const char *path, const char *old, const char *new) {
    struct stat about;
    chmod(path, 0644);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(fstat(file, &about), 0);
    char *bytes = malloc((size_t)about.st_size);
    assert_int_equal(pread(file, bytes, (size_t)about.st_size, 0), about.st_size);
    const char *found = memmem(bytes, (size_t)about.st_size, old, strlen(old));
    if (found) assert_int_equal(pwrite(file, new, strlen(new), found - bytes), (ssize_t)strlen(new));
    free(bytes);
    close(file);
    return found != NULL;
}

static void copy(const char *from, const char *to) {
    char command[3 * PATH_MAX];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

/* File names are written to job scripts, where a newline in a name would start a new line. */
static void names_that_job_scripts_cannot_hold_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"a\necho planted.yaml", "a\"b.yaml", "a\\b.yaml"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_text(names[i], "runs:\n  - {name: a, case: hex_fit, method: pbd_distance, threads: 1}\n");
        sweep_says(2, "unnamed", WORDS("plan", in_workplace(names[i])),
                   "the name of the sweep's file holds a control character, a quote or a backslash");
        assert_int_not_equal(access(in_workplace("unnamed"), F_OK), 0);
    }
}

/* Shard files that are truncated, have a changed number, belong to another sweep, are another store or no store. */
static void bad_files_are_named_and_left_aside(void **state) {
    (void)state;
    plan("bad");
    free(sweep(0, "bad", WORDS("submit", "--engine", "local", "-q", "--db", in_workplace("bad0.db"))));
    char *cut = shard_file("bad", 0), *changed = shard_file("bad", 1), *wild = shard_file("bad", 2);
    chmod(cut, 0644);
    assert_int_equal(truncate(cut, 20000), 0);
    assert_true(replace_in_file(changed, "fit_error", "fit_errer"));
    char garbage[4096];
    memset(garbage, 0xA5, sizeof garbage);
    overwrite(wild, 4096, garbage, sizeof garbage);

    write_text("other.yaml", "runs:\n  - {name: a, case: hex_fit, method: pbd_distance, threads: 1}\n");
    free(sweep(0, "other", WORDS("plan", in_workplace("other.yaml"))));
    run_shard("other", "0");
    char *foreign = shard_file("other", 0);
    copy(foreign, in_workplace("bad/shards/foreign.db"));
    copy(in_workplace("bad0.db"), in_workplace("bad/shards/plain.db"));
    write_text("bad/shards/notes.txt", "not a database\n");

    char *says = sweep(2, "bad", WORDS("merge", "--db", in_workplace("bad.db")));
    expect_says(says, "is corrupt (cut short: 20000 bytes are left)");
    expect_says(says, "it was changed after it was stored: hash ");
    expect_says(says, "foreign.db: is a shard of another manifest (");
    expect_says(says, "plain.db: is a store, but not a finished shard");
    expect_says(says, "notes.txt");
    expect_says(says, "is not a database");
    expect_says(says, "1 of 4 shards merged: ");
    expect_says(says, "6 moved to ");
    expect_says(says, "missing: 0-2;");
    free(says);
    assert_int_equal(access(in_workplace("bad/aside/foreign.db"), F_OK), 0);
    /* The shards that were set aside are missing, and made again. */
    sweep_says(0, "bad", WORDS("resume", "--db", in_workplace("bad.db")), "4 of 4 shards merged: ");
    expect_whole("bad.db");
    free(cut);
    free(changed);
    free(wild);
    free(foreign);
}

/* ---- Manifests that are not as they were planned ----------------------------------------------------------------- */

/* Recomputes the hash in the last line, as somebody would do who changes the manifest on purpose. */
static void seal_again(const char *path) {
    char *text = read_text(path), hash[33];
    char *last = strstr(text, "{\"hash\"");
    assert_non_null(last);
    XXH128_hash_t h = XXH3_128bits(text, (size_t)(last - text));
    snprintf(hash, sizeof hash, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
    memcpy(last + strlen("{\"hash\":\""), hash, 32);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    free(text);
}

static void manifests_are_frozen(void **state) {
    (void)state;
    char path[PATH_MAX + 400];
    plan("frozen");
    snprintf(path, sizeof path, "%s", in_workplace("frozen/manifest.jsonl"));
    char *before = read_text(path);
    plan("frozen"); /* the same file, the same bytes */
    char *after = read_text(path);
    assert_string_equal(before, after);
    run_shard("frozen", "0");
    sweep_says(2, "frozen", WORDS("plan", in_workplace("sweep.yaml"), "--shard-cells", "5"), "holds another sweep");
    sweep_says(2, "frozen", WORDS("submit", "--engine", "local", "--shard-cells", "5"), "holds another sweep");

    static const char *const actions[][2] = {{"status", NULL}, {"merge", NULL}, {"resume", NULL}, {"run-shard", "1"}};
    assert_true(replace_in_file(path, "\"nu=0.04\"", "\"nu=0.05\""));
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        sweep_says(2, "frozen", WORDS(actions[i][0], actions[i][1]), "was changed after planning (its hash is ");
    seal_again(path); /* the hash fits now, but the changed cell does not match its id */
    sweep_says(2, "frozen", WORDS("submit", "--engine", "local", "-q", "--db", in_workplace("frozen.db")),
               "and was planned as ");
    free(before);
    free(after);
}

static void manifests_belong_to_their_build(void **state) {
    (void)state;
    char path[PATH_MAX + 400], *text;
    plan("build");
    snprintf(path, sizeof path, "%s", in_workplace("build/manifest.jsonl"));
    text = read_text(path);
    char *source = strstr(text, "\"source\":\"");
    char old[60];
    snprintf(old, sizeof old, "%.42s", source);
    assert_true(replace_in_file(path, old, "\"source\":\"00000000000000000000000000000000"));
    seal_again(path);
    sweep_says(2, "build", WORDS("run-shard", "0"),
               "was planned by a pbdbench of other sources (000000000000; this one: ");
    sweep_says(2, "build", WORDS("submit", "--engine", "local"),
               "was planned by a pbdbench of other sources (000000000000; this one: ");
    merge_says(4, "build", "build.db", "0 of 4 shards merged"); /* any build can merge */
    assert_int_equal(truncate(path, 3000), 0);
    sweep_says(2, "build", WORDS("status"), "was changed after planning (it is cut short)");
    free(text);
    sweep_says(2, "nowhere", WORDS("status"), "there is no sweep in ");
}

/* A run that its method refuses is reported by its shard and by each merge; the others are made. */
static void refused_runs_are_told_of(void **state) {
    (void)state;
    write_text("laws.yaml",
               "runs:\n  - name: laws\n    case: heavy_drop\n    method: fem_implicit\n    threads: 1\n"
               "    set: [\"cells=1\", \"element=hex8\", \"dt=0.2\", \"duration=1\", \"load_time=0.5\", \"creep=0\","
               " \"object_mass=1e-6\", \"yield_strain=0.5\"]\n    axes: [\"material=stvk,neo_hookean\"]\n");
    free(sweep(0, "laws", WORDS("plan", in_workplace("laws.yaml"))));
    sweep_says(2, "laws", WORDS("run-shard", "0"),
               "1 runs made, 0 already stored, 0 failed, diverged or unphysical, 1 refused");
    const char *says = "run refused: heavy_drop fem_implicit material=neo_hookean: plastic flow splits Green's strain";
    merge_says(2, "laws", "laws.db", says);
    merge_says(2, "laws", "laws.db", says);
    assert_int_equal(count_in("laws.db", "SELECT count(*) FROM run"), 1);
}

/* Names of sweep files and folders with a newline or a quote, which would break the job script, are refused. */
static void names_stay_out_of_scripts(void **state) {
    (void)state;
    const char *const names[] = {"a\n#SBATCH --uid=0\n.yaml", "a\"b.yaml"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_text(names[i], sweep_yaml);
        sweep_says(2, "named", WORDS("plan", in_workplace(names[i])), "the name of the sweep's file");
        sweep_says(2, names[i], WORDS("plan", in_workplace("sweep.yaml")), "the path of the sweep's folder");
    }
}

static void bad_words(void **state) {
    (void)state;
    static const struct {
        const char *words[4], *says;
    } bad[] = {
        {{"plan"}, "sweep plan needs a file"},
        {{"plan", "/nonexistent.yaml"}, "/nonexistent.yaml"},
        {{"pln", "x.yaml"}, "did you mean 'plan'"},
        {{"status", "x"}, "'x' is an extra argument"},
        {{"run-shard"}, "needs a shard's number"},
        {{"run-shard", "seven"}, "'seven' is not a shard"},
        {{"run-shard", "4"}, "there is no shard 4: the sweep in "},
        {{"run-shard", "-1"}, "has no option '-1'"},
        {{"submit"}, "submit needs --engine slurm"},
        {{"submit", "--engine", "slrm"}, "did you mean 'slurm'"},
        {{"submit", "--shard-cells", "0"}, "--shard-cells=0 must be a whole number in [1, 1000000]"},
        {{"resume"}, "nothing was submitted of the sweep in "},
        {{"merge", "--throttle", "3"}, "--throttle is not valid with sweep merge"},
        {{"x.yaml"}, "--dir is not valid with sweep FILE.yaml"},
    };
    plan("words");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) sweep_says(2, "words", bad[i].words, bad[i].says);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_answer_as_the_whole),
        cmocka_unit_test(status_as_json),
        cmocka_unit_test(slurm_runs_and_resumes),
        cmocka_unit_test(slurm_packed_and_throttled),
        cmocka_unit_test(slurm_refuses_or_is_not_there),
        cmocka_unit_test(what_is_killed_publishes_nothing),
        cmocka_unit_test(a_long_run_goes_on),
        cmocka_unit_test(twins_count_once),
        cmocka_unit_test(bad_files_are_named_and_left_aside),
        cmocka_unit_test(names_that_job_scripts_cannot_hold_are_refused),
        cmocka_unit_test(manifests_are_frozen),
        cmocka_unit_test(manifests_belong_to_their_build),
        cmocka_unit_test(refused_runs_are_told_of),
        cmocka_unit_test(names_stay_out_of_scripts),
        cmocka_unit_test(bad_words),
    };
    return cmocka_run_group_tests_name("sweep_parts", tests, make_place, remove_workplace);
}
