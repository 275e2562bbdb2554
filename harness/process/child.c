/* Child processes: what they write goes into files in memory, so that nothing has to be read while they run, and a
 * child that is timed has the machine to itself. */
#include "harness/process/child.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/process/interrupt.h"

extern char **environ;

void pbd_child_free(pbd_child *child) {
    free(child->out);
    free(child->err);
    *child = (pbd_child){0};
}

/* ---- Cores ------------------------------------------------------------------------------------------------------- */

int pbd_last_core(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
    int core = CPU_SETSIZE - 1;
    while (core >= 0 && !CPU_ISSET(core, &allowed)) core--;
    return core;
}

/* A child inherits where the thread that starts it may run: so this thread goes there for the moment. */
static pbd_status go_to_core(int core, cpu_set_t *before) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    if (sched_getaffinity(0, sizeof *before, before) == 0 && sched_setaffinity(0, sizeof one, &one) == 0)
        return pbd_ok();
    return pbd_error(PBD_FAILED, "a process cannot be pinned to core %d: %s", core, strerror(errno));
}

/* ---- Starting and waiting ---------------------------------------------------------------------------------------- */

static int spawn(const char *const *words, const pbd_child_place *place, int in, int out, int err, pid_t *child) {
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    if (place->folder) code = posix_spawn_file_actions_addchdir_np(&actions, place->folder);
    if (code == 0)
        code = posix_spawnp(child, place->program ? place->program : words[0], &actions, NULL,
                            (char *const *)(uintptr_t)words, place->environment ? place->environment : environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

int pbd_child_wait(int child) {
    bool told = false;
    int state;
    while (waitpid(child, &state, 0) < 0) {
        if (errno != EINTR) return -SIGKILL;
        if (pbd_interrupted() && !told) kill(child, SIGTERM);
        told = told || pbd_interrupted();
    }
    return WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
}

char *pbd_read_memory_file(int file) {
    const off_t size = lseek(file, 0, SEEK_END);
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    ssize_t used = 0;
    while (text && used < size) {
        const ssize_t got = pread(file, text + used, (size_t)(size - used), used);
        if (got <= 0) break;
        used += got;
    }
    if (!text) return NULL;
    text[used] = '\0';
    for (ssize_t i = 0; i < used; i++)
        if (!text[i]) text[i] = '?';
    return text;
}

static void close_all(pbd_child_process *p) {
    const int files[] = {p->out, p->err, p->talk};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0) close(files[i]);
    *p = (pbd_child_process){-1, -1, -1, -1};
}

static pbd_status start(const char *const *words, const pbd_child_place *place, int in, pbd_child_process *p) {
    cpu_set_t before;
    if (p->out < 0 || p->err < 0)
        return pbd_error(PBD_FAILED, "no file in memory for the output of '%s': %s", words[0], strerror(errno));
    if (place->core >= 0) PBD_TRY(go_to_core(place->core, &before));
    const int failed = spawn(words, place, in, p->out, p->err, &p->pid);
    if (place->core >= 0) sched_setaffinity(0, sizeof before, &before);
    if (failed) return pbd_error(PBD_BAD_INPUT, "'%s' cannot be started: %s", words[0], strerror(failed));
    return pbd_ok();
}

pbd_status pbd_child_start(const char *const *words, const pbd_child_place *place, pbd_child_process *out) {
    int ends[2] = {-1, -1};
    *out = (pbd_child_process){-1, -1, -1, -1};
    if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted before '%s' was started", words[0]);
    if (place->talk && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return pbd_error(PBD_FAILED, "no socket for '%s': %s", words[0], strerror(errno));
    out->out = memfd_create("out", MFD_CLOEXEC);
    out->err = memfd_create("err", MFD_CLOEXEC);
    out->talk = ends[0];
    const pbd_status status = start(words, place, ends[1], out);
    if (ends[1] >= 0) close(ends[1]);
    if (status.code != PBD_OK) close_all(out);
    return status;
}

pbd_status pbd_child_finish(pbd_child_process *p, pbd_child *child) {
    *child = (pbd_child){0};
    if (p->talk >= 0) shutdown(p->talk, SHUT_WR); /* no more requests: a waiting child goes on */
    child->code = pbd_child_wait(p->pid);
    child->out = pbd_read_memory_file(p->out);
    child->err = pbd_read_memory_file(p->err);
    pbd_status status = child->out && child->err ? pbd_ok() : pbd_no_memory();
    close_all(p);
    if (status.code == PBD_OK && pbd_interrupted())
        status = pbd_error(PBD_INTERRUPTED, "interrupted while a child ran");
    if (status.code != PBD_OK) pbd_child_free(child);
    return status;
}

pbd_status pbd_child_run(const char *const *words, const char *folder, int core, pbd_child *child) {
    pbd_child_process process;
    *child = (pbd_child){0};
    PBD_TRY(pbd_child_start(words, &(pbd_child_place){.folder = folder, .core = core}, &process));
    return pbd_child_finish(&process, child);
}

bool pbd_child_hear(const pbd_child_process *process, char *line, size_t size) {
    size_t used = 0;
    for (;;) {
        char byte;
        const ssize_t got = read(process->talk, &byte, 1);
        if (got < 0 && errno == EINTR && !pbd_interrupted()) continue;
        if (got <= 0) return false;
        if (byte == '\n') break;
        if (used + 1 < size) line[used++] = byte;
    }
    line[used] = '\0';
    return true;
}

bool pbd_child_tell(const pbd_child_process *process, char byte) {
    return send(process->talk, &byte, 1, MSG_NOSIGNAL) == 1;
}

void pbd_last_words(const char *text, char *line, size_t size) {
    const char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1])) end--;
    const char *begin = end;
    while (begin > text && begin[-1] != '\n' && begin[-1] != '\r') begin--;
    static const char prefix[] = "pbdbench: ";
    if (strncmp(begin, prefix, strlen(prefix)) == 0) begin += strlen(prefix);
    snprintf(line, size, "%.*s", (int)(end - begin), begin);
}
