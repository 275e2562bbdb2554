/* git and cmake as child processes. An incomplete work tree (after Ctrl-C, a full disk) is completed by the next call.
 */
#include "harness/compare/revisions.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/process/child.h"

void pbd_revision_free(pbd_revision *revision) {
    free(revision->program);
    *revision = (pbd_revision){0};
}

/* build/revisions/SHA and what lies beside it. */
typedef struct places {
    char all[PATH_MAX], folder[PATH_MAX], git[PATH_MAX + 8], lock[PATH_MAX + 8], log[PATH_MAX + 8];
} places;

static pbd_status find_places(const char *root, const char *sha, places *out) {
    const int length = snprintf(out->folder, sizeof out->folder, "%s/build/revisions/%s", root, sha);
    if (length < 0 || (size_t)length >= sizeof out->folder)
        return pbd_error(PBD_BAD_INPUT, "the checkout's path is too long: '%.200s...'", root);
    snprintf(out->all, sizeof out->all, "%.*s", length - (int)strlen(sha) - 1, out->folder);
    snprintf(out->git, sizeof out->git, "%s/.git", out->folder);
    snprintf(out->lock, sizeof out->lock, "%s.lock", out->folder);
    snprintf(out->log, sizeof out->log, "%s.log", out->folder);
    return pbd_ok();
}

/* ---- git --------------------------------------------------------------------------------------------------------- */

enum { MOST_WORDS = 16, NOT_FOUND = 127 /* env's word for a program that is not there */ };

/* Runs a program without the variables that git sets in a hook or a bisection: with them it would work on the user's
 * work tree. */
static pbd_status run_clean(const char *folder, const char *const *words, pbd_child *out) {
    const char *all[MOST_WORDS + 12] = {"env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE"};
    for (size_t i = 0; words[i] && i < MOST_WORDS; i++) all[7 + i] = words[i];
    PBD_TRY(pbd_child_run(all, folder, -1, out));
    if (out->code != NOT_FOUND) return pbd_ok();
    pbd_child_free(out);
    return pbd_error(PBD_BAD_INPUT, "%s is missing, and a revision needs it: `apt-get install %s`", words[0], words[0]);
}

/* git in a folder, also when another user owns the checkout. */
static pbd_status run_git(const char *folder, const char *const *words, pbd_child *out) {
    const char *all[MOST_WORDS] = {"git", "-c", "safe.directory=*", "-C", folder};
    for (size_t i = 0; words[i] && i < MOST_WORDS - 6; i++) all[5 + i] = words[i];
    return run_clean(NULL, all, out);
}

static bool is_sha(const char *text) { return strlen(text) == 40 && strspn(text, "0123456789abcdef") == 40; }

static pbd_status read_sha(const char *root, const char *name, const pbd_child *git, char sha[41]) {
    char words[200];
    pbd_last_words(git->out, words, sizeof words);
    if (git->code == 0 && is_sha(words)) {
        memcpy(sha, words, 41);
        return pbd_ok();
    }
    pbd_last_words(git->err, words, sizeof words);
    return pbd_error(PBD_BAD_INPUT, "'%.60s' is not a revision of the checkout '%.100s': git reports: %s", name, root,
                     words);
}

pbd_status pbd_revision_find(const char *root, const char *name, pbd_revision *out) {
    char commit[PATH_MAX];
    pbd_child git PBD_CLEANUP(pbd_child_free) = {0};
    places p;
    *out = (pbd_revision){0};
    snprintf(commit, sizeof commit, "%s^{commit}", name);
    const char *const words[] = {"rev-parse", "--verify", "--end-of-options", commit, NULL};
    PBD_TRY(run_git(root, words, &git));
    PBD_TRY(read_sha(root, name, &git, out->sha));
    PBD_TRY(find_places(root, out->sha, &p));
    if (asprintf(&out->program, "%s/build/release/pbdbench", p.folder) < 0) {
        out->program = NULL;
        return pbd_no_memory();
    }
    out->built = access(out->program, X_OK) == 0;
    return pbd_ok();
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static void keep_log(const char *path, const pbd_child *child) {
    FILE *log PBD_CLEANUP(pbd_close_file) = fopen(path, "a");
    if (log) fprintf(log, "%s%s", child->out, child->err); /* else the sentence has its last lines */
}

/* A step's failure: the last line of its output, and where the rest is. */
static pbd_status check_step(const pbd_child *child, const char *doing, const char *sha, const char *log) {
    char words[160];
    if (child->code == 0) return pbd_ok();
    pbd_last_words(*child->err ? child->err : child->out, words, sizeof words);
    return pbd_error(PBD_FAILED, "%s revision %.12s fails: %s; the full output is in '%s'", doing, sha, words, log);
}

/* The work tree; completed when it exists but is incomplete. Checked by `.git`, which is made first: without it git
 * would use the checkout above this folder. */
static pbd_status check_out(const char *root, const char *sha, const places *p) {
    const bool there = access(p->git, F_OK) == 0;
    const char *const add[] = {"worktree", "add", "--force", "--detach", p->folder, sha, NULL};
    const char *const complete[] = {"checkout", "--force", "--detach", sha, NULL};
    pbd_child git PBD_CLEANUP(pbd_child_free) = {0};
    PBD_TRY(run_git(there ? p->folder : root, there ? complete : add, &git));
    keep_log(p->log, &git);
    return check_step(&git, "checking out", sha, p->log);
}

static pbd_status run_cmake(const char *const *words, const char *doing, const char *sha, const places *p) {
    pbd_child cmake PBD_CLEANUP(pbd_child_free) = {0};
    PBD_TRY(run_clean(p->folder, words, &cmake));
    keep_log(p->log, &cmake);
    return check_step(&cmake, doing, sha, p->log);
}

static pbd_status make_program(const char *root, bool cuda, const char *sha, const places *p) {
    const char *const configure[] = {
        "cmake", "--preset", "release", "-DPBD_TESTS=OFF", cuda ? "-DPBD_CUDA=AUTO" : "-DPBD_CUDA=OFF", NULL};
    const char *const build[] = {"cmake", "--build", "build/release", "--target", "pbdbench", NULL};
    PBD_TRY(check_out(root, sha, p));
    PBD_TRY(run_cmake(configure, "configuring", sha, p));
    return run_cmake(build, "building", sha, p);
}

static pbd_status make_folder(const char *path) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "the folder '%s' cannot be made: %s", path, strerror(errno));
}

/* One process at a time works on a revision; the lock goes with the process. */
static pbd_status lock_revision(const char *root, const places *p, int *lock) {
    char build[PATH_MAX];
    if (snprintf(build, sizeof build, "%s/build", root) >= (int)sizeof build)
        return pbd_error(PBD_BAD_INPUT, "the checkout's path is too long: '%.200s...'", root);
    PBD_TRY(make_folder(build));
    PBD_TRY(make_folder(p->all));
    *lock = open(p->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*lock >= 0 && flock(*lock, LOCK_EX) == 0) return pbd_ok();
    const int why = errno;
    if (*lock >= 0) close(*lock);
    return why == EINTR ? pbd_error(PBD_INTERRUPTED, "interrupted while another process built the revision")
                        : pbd_error(PBD_BAD_INPUT, "'%s' cannot be locked: %s", p->lock, strerror(why));
}

pbd_status pbd_revision_build(const char *root, bool cuda, pbd_revision *revision) {
    places p;
    int lock = -1;
    if (revision->built) return pbd_ok();
    PBD_TRY(find_places(root, revision->sha, &p));
    PBD_TRY(lock_revision(root, &p, &lock));
    pbd_status status = pbd_ok();
    if (access(revision->program, X_OK) != 0) {
        unlink(p.log);
        status = make_program(root, cuda, revision->sha, &p);
    }
    close(lock);
    if (status.code == PBD_OK && access(revision->program, X_OK) != 0)
        status =
            pbd_error(PBD_FAILED, "revision %.12s was built, but there is no '%s'", revision->sha, revision->program);
    revision->built = status.code == PBD_OK;
    return status;
}
