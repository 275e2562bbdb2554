/* Runs the built program as a user would and keeps its output, for tests of the command line.
 *
 * From the first use on, PBDBENCH_ROOT is workplace(): a folder of the test's own with links to the checkout's plots
 * and cases, so that no test can touch the checkout's results. Include after <cmocka.h>.
 */
#ifndef PBD_TESTS_PROGRAM_H
#define PBD_TESTS_PROGRAM_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct told {
    int code;        /* exit code, or -signal, or TOLD_TIMEOUT */
    char *out, *err; /* standard output and error */
} told;

/* s; a call takes at most 40 s on one current core, and eight times that with sanitizers. */
#ifdef __SANITIZE_ADDRESS__
enum { TOLD_TIMEOUT = -1000, TOLD_SECONDS = 1400 };
#else
enum { TOLD_TIMEOUT = -1000, TOLD_SECONDS = 300 };
#endif

/* Standard output: captured, closed before the program starts, or to a full disk. */
typedef enum told_stdout { STDOUT_KEPT, STDOUT_CLOSED, STDOUT_FULL } told_stdout;

static inline int remove_entry(const char *path, const struct stat *s, int type, struct FTW *walk) {
    (void)s, (void)type, (void)walk;
    return remove(path);
}

typedef struct work_place {
    char folder[PATH_MAX];
    pid_t owner; /* forked children must not remove the folder */
} work_place;

static inline work_place *my_workplace(void) {
    static work_place mine;
    return &mine;
}

static inline void leave_workplace(void) {
    if (my_workplace()->owner == getpid()) nftw(my_workplace()->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Returns the folder's path; the folder is removed when the test's process ends, unless a signal ends it. */
static inline const char *workplace(void) {
    char *folder = my_workplace()->folder;
    if (*folder) return folder;
    snprintf(folder, PATH_MAX, "%s/pbdbench-test-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder)) fail_msg("no folder for the test: %s", strerror(errno));
    my_workplace()->owner = getpid();
    atexit(leave_workplace);
    static const char *const linked[] = {"plots", "cases"};
    for (size_t i = 0; i < 2; i++) {
        char from[PATH_MAX + 8], to[PATH_MAX + 8];
        snprintf(from, sizeof from, "%s/%s", getenv("PBDBENCH_ROOT"), linked[i]);
        snprintf(to, sizeof to, "%s/%s", folder, linked[i]);
        if (symlink(from, to) != 0) fail_msg("%s: %s", to, strerror(errno));
    }
    setenv("PBDBENCH_ROOT", folder, 1);
    return folder;
}

/* Returns workplace()/name; the last four results are valid. */
static inline const char *in_workplace(const char *name) {
    static char path[4][PATH_MAX + 320];
    static unsigned next;
    char *mine = path[next++ % 4];
    snprintf(mine, sizeof path[0], "%s/%s", workplace(), name);
    return mine;
}

/* Removes the workplace at once. */
static inline int remove_workplace(void **state) {
    (void)state;
    return nftw(workplace(), remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Returns the contents of a memory file as a string that the caller frees; NULs become '?'. */
static inline char *slurp(int file) {
    off_t size = lseek(file, 0, SEEK_END);
    char *text = malloc((size_t)size + 1);
    if (!text || pread(file, text, (size_t)size, 0) != size) fail_msg("cannot read what the program wrote");
    for (off_t i = 0; i < size; i++)
        if (!text[i]) text[i] = '?';
    text[size] = '\0';
    close(file);
    return text;
}

static inline int wait_for(pid_t child) {
    for (int tenths_ms = 0; tenths_ms < TOLD_SECONDS * 10000; tenths_ms += 5) {
        int status;
        pid_t done = waitpid(child, &status, WNOHANG);
        if (done == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        if (done < 0 && errno != EINTR) fail_msg("waitpid: %s", strerror(errno));
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return TOLD_TIMEOUT;
}

/* Runs the program with these arguments (NULL-terminated, without argv[0]) and this text, or NULL, on its standard
 * input; free with forget(). */
static inline told tell_input(told_stdout where, const char *input, const char *const *words) {
    const char *argv[64] = {getenv("PBDBENCH_PROGRAM")};
    size_t n = 1;
    while (words[n - 1] && n < 63) {
        argv[n] = words[n - 1];
        n++;
    }
    workplace();

    int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    int in = -1;
    if (input) {
        in = memfd_create("in", MFD_CLOEXEC);
        if (write(in, input, strlen(input)) != (ssize_t)strlen(input)) fail_msg("no room for the input");
        lseek(in, 0, SEEK_SET);
        posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    } else {
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
    if (where == STDOUT_KEPT) posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    if (where == STDOUT_CLOSED) posix_spawn_file_actions_addclose(&files, STDOUT_FILENO);
    if (where == STDOUT_FULL) posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/full", O_WRONLY, 0);
    pid_t child;
    int failed = posix_spawn(&child, argv[0], &files, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed) fail_msg("cannot start %s: %s", argv[0], strerror(failed));
    told answer = {.code = wait_for(child)};
    if (in >= 0) close(in);
    answer.out = slurp(out);
    answer.err = slurp(err);
    return answer;
}

static inline told tell_to(told_stdout where, const char *const *words) { return tell_input(where, NULL, words); }

/* tell("run", "hex_fit", ...) */
#define tell(...) tell_to(STDOUT_KEPT, (const char *const[]){__VA_ARGS__, NULL})

static inline void forget(told *answer) {
    free(answer->out);
    free(answer->err);
    *answer = (told){0};
}

/* Fails with all output of the program. */
#define expect_code(answer, wanted)                                                                                  \
    do {                                                                                                             \
        if ((answer).code != (wanted))                                                                               \
            fail_msg("exit code %d, wanted %d\n--- stderr\n%s--- stdout\n%s", (answer).code, (wanted), (answer).err, \
                     (answer).out);                                                                                  \
    } while (0)
#define expect_says(text, wanted)                                                            \
    do {                                                                                     \
        if (!strstr((text), (wanted))) fail_msg("does not say '%s':\n%s", (wanted), (text)); \
    } while (0)

#endif
