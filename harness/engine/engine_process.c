#include "harness/engine/engine_process.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/exec/clock.h"
#include "harness/process/interrupt.h"

enum { TALK = 3, FIRST_FREE = 10 };
static const double GRACE = 1; /* s: time to end after its socket was closed or after quit */

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

extern char **environ;

/* Our variables, then theirs. getenv returns the first of a name, so ours of the same name are left out. */
static const char **join_environment(const char *const *theirs, pbd_arena *a) {
    size_t ours = 0, more = 0, count = 0;
    while (environ[ours]) ours++;
    while (theirs[more]) more++;
    const char **all = pbd_new(a, const char *, ours + more + 1);
    for (size_t i = 0; all && i < ours; i++) {
        bool replaced = false;
        for (size_t k = 0; k < more; k++) replaced |= strncmp(environ[i], theirs[k], strcspn(theirs[k], "=") + 1) == 0;
        if (!replaced) all[count++] = environ[i];
    }
    for (size_t k = 0; all && k < more; k++) all[count++] = theirs[k];
    return all;
}

/* Uses only calls that are safe after a fork of a process with threads. */
static _Noreturn void be_engine(const pbd_engine_start *s, const char **environment, int talk, int log, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_FAILURE);
    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    const int high = fcntl(talk, F_DUPFD_CLOEXEC, FIRST_FREE), out = fcntl(log, F_DUPFD_CLOEXEC, FIRST_FREE);
    const int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (high < 0 || out < 0 || none < 0 || chdir(s->folder) != 0) _exit(126);
    if (dup2(none, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0 ||
        dup2(high, TALK) < 0)
        _exit(126);
    execvpe(s->words[0], (char *const *)(uintptr_t)s->words, (char *const *)(uintptr_t)environment);
    _exit(127);
}

pbd_status pbd_engine_process_start(const pbd_engine_start *start, pbd_engine_process *out) {
    int talk[2] = {-1, -1}, log[2] = {-1, -1};
    pbd_arena a PBD_ARENA;
    *out = (pbd_engine_process){.talk = -1, .log = -1, .patience = start->patience};
    const char **environment = join_environment(start->environment, &a);
    PBD_TRY(pbd_arena_check(&a));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk) != 0 || pipe2(log, O_CLOEXEC) != 0) {
        const pbd_status status = pbd_error(PBD_FAILED, "no socket for an engine: %s", strerror(errno));
        if (talk[0] >= 0) close(talk[0]);
        if (talk[1] >= 0) close(talk[1]);
        return status;
    }
    const pid_t parent = getpid(), child = fork();
    if (child == 0) be_engine(start, environment, talk[1], log[1], parent);
    close(talk[1]);
    close(log[1]);
    out->talk = talk[0];
    out->log = log[0];
    if (child > 0) {
        setpgid(child, child); /* in both processes, so that neither needs to be first */
        out->pid = child;
        fcntl(out->log, F_SETFL, O_NONBLOCK);
        pbd_cpu_follow(child);
        return pbd_ok();
    }
    const pbd_status status = pbd_error(PBD_FAILED, "no process for an engine: %s", strerror(errno));
    pbd_engine_process_end(out);
    return status;
}

/* ---- Ending ------------------------------------------------------------------------------------------------------ */

/* Keeps the end of the engine's output. */
static void read_log(pbd_engine_process *p) {
    char part[4096];
    for (ssize_t got; p->log >= 0 && (got = read(p->log, part, sizeof part)) != 0;) {
        if (got < 0) return;
        const size_t room = sizeof p->words - 1, used = strlen(p->words);
        const size_t more = (size_t)got < room ? (size_t)got : room, kept = used < room - more ? used : room - more;
        memmove(p->words, p->words + used - kept, kept);
        for (size_t i = 0; i < more; i++) {
            const char c = part[(size_t)got - more + i];
            p->words[kept + i] = c && (isprint((unsigned char)c) || c == '\n') ? c : c == '\0' ? '?' : ' ';
        }
        p->words[kept + more] = '\0';
    }
    close(p->log); /* at its end; otherwise poll would report it for ever */
    p->log = -1;
}

static void last_line(const char *words, char *line, size_t size) {
    const char *end = words + strlen(words);
    while (end > words && isspace((unsigned char)end[-1])) end--;
    const char *begin = end;
    while (begin > words && begin[-1] != '\n') begin--;
    snprintf(line, size, "%.*s", (int)(end - begin), begin);
}

static void close_files(pbd_engine_process *p) {
    if (p->talk >= 0) close(p->talk);
    if (p->log >= 0) close(p->log);
    p->talk = p->log = -1;
}

/* Waits at most `seconds` for the process to end, then kills it and what it started. *killed: by us. Returns the state
 * of waitpid. */
static int reap(pbd_engine_process *p, double seconds, bool *killed) {
    const double end = pbd_wall_seconds() + seconds;
    int state = 0;
    *killed = false;
    if (p->pid <= 0) return 0;
    for (;;) {
        const pid_t done = waitpid(p->pid, &state, WNOHANG);
        if (done == p->pid || (done < 0 && errno != EINTR)) break;
        if (pbd_wall_seconds() >= end) {
            *killed = true;
            pbd_cpu_unfollow(p->pid);
            kill(-p->pid, SIGKILL);
            kill(p->pid, SIGKILL);
            while (waitpid(p->pid, &state, 0) < 0 && errno == EINTR) continue;
            break;
        }
        read_log(p);
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
    pbd_cpu_unfollow(p->pid);
    kill(-p->pid, SIGKILL); /* processes that it left behind */
    p->pid = 0;
    return state;
}

pbd_status pbd_engine_break(pbd_engine_process *p, pbd_status why) {
    bool killed;
    if (p->fault.code != PBD_OK) return p->fault;
    reap(p, 0, &killed);
    read_log(p);
    close_files(p);
    p->fault = why;
    return why;
}

/* After its socket was closed: reaps the process and keeps how it ended as its fault. */
static pbd_status say_how_it_ended(pbd_engine_process *p) {
    char words[160], last[200] = "";
    bool killed;
    const int state = reap(p, GRACE, &killed);
    read_log(p);
    close_files(p);
    last_line(p->words, words, sizeof words);
    if (*words) snprintf(last, sizeof last, "; its last words: %s", words);
    if (pbd_interrupted())
        p->fault = pbd_error(PBD_INTERRUPTED, "interrupted while the engine worked");
    else if (killed)
        p->fault = pbd_error(PBD_FAILED, "the engine closed its socket and did not end: it was killed%s", last);
    else if (WIFSIGNALED(state))
        p->fault = pbd_error(PBD_FAILED, "the engine ended with signal %d (%s)%s", WTERMSIG(state),
                             strsignal(WTERMSIG(state)), last);
    else
        p->fault = pbd_error(PBD_FAILED, "the engine ended with exit code %d%s%s", WEXITSTATUS(state),
                             WEXITSTATUS(state) == 127 ? ": its program cannot be run" : "", last);
    return p->fault;
}

void pbd_engine_process_end(pbd_engine_process *p) {
    bool killed;
    json_t *answer = NULL;
    if (p->pid > 0) {
        p->patience = GRACE;
        pbd_engine_ask(p, json_pack("{s:s}", "op", "quit"), NULL, 0, &answer);
        json_decref(answer);
    }
    if (p->talk > 0) shutdown(p->talk, SHUT_RDWR);
    reap(p, GRACE, &killed);
    if (p->talk > 0) close_files(p); /* 0: a zeroed one */
    *p = (pbd_engine_process){.talk = -1, .log = -1, .fault = p->fault};
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

static pbd_status wait_until_ready(pbd_engine_process *p, short event) {
    for (;;) {
        const double left = p->end - pbd_wall_seconds();
        struct pollfd ready[2] = {{p->talk, event, 0}, {p->log, POLLIN, 0}};
        if (pbd_interrupted())
            return pbd_engine_break(p, pbd_error(PBD_INTERRUPTED, "interrupted while the engine worked"));
        if (!(left > 0)) {
            char words[160];
            read_log(p);
            last_line(p->words, words, sizeof words);
            return pbd_engine_break(p, pbd_error(PBD_FAILED,
                                                 "the engine gave no answer in %g s and was killed: set timeout to "
                                                 "allow more%s%s",
                                                 p->patience, *words ? "; its last words: " : "", words));
        }
        const int found = poll(ready, p->log >= 0 ? 2 : 1, (int)fmin(1e3 * left + 1, 1e9));
        if (found > 0 && p->log >= 0 && ready[1].revents) read_log(p);
        if (found > 0 && ready[0].revents) return pbd_ok();
    }
}

static bool wait_again(ssize_t moved) { return moved < 0 && (errno == EAGAIN || errno == EINTR); }

static pbd_status send_bytes(pbd_engine_process *p, const void *from, size_t bytes) {
    const char *at = from;
    while (bytes > 0) {
        const ssize_t moved = send(p->talk, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (wait_again(moved)) {
            PBD_TRY(wait_until_ready(p, POLLOUT));
            continue;
        }
        if (moved < 0) return say_how_it_ended(p);
        at += moved;
        bytes -= (size_t)moved;
    }
    return pbd_ok();
}

static pbd_status receive_bytes(pbd_engine_process *p, void *to, size_t bytes) {
    char *at = to;
    while (bytes > 0) {
        const ssize_t moved = recv(p->talk, at, bytes, MSG_DONTWAIT);
        if (wait_again(moved)) {
            PBD_TRY(wait_until_ready(p, POLLIN));
            continue;
        }
        if (moved <= 0) return say_how_it_ended(p);
        at += moved;
        bytes -= (size_t)moved;
    }
    return pbd_ok();
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static json_t *rows_of(const pbd_engine_array *array, size_t arrays) {
    json_t *all = json_array();
    for (size_t i = 0; i < arrays; i++) {
        const pbd_engine_array *a = &array[i];
        json_t *shape = a->width > 1 ? json_pack("[I, I]", (json_int_t)a->rows, (json_int_t)a->width)
                                     : json_pack("[I]", (json_int_t)a->rows);
        json_array_append_new(all, json_pack("[s, s, o]", a->name, a->type, shape));
    }
    return all;
}

static pbd_status send_message(pbd_engine_process *p, json_t *request, const pbd_engine_array *array, size_t arrays) {
    unsigned char head[PBD_ENGINE_HEAD];
    uint64_t bytes = 0;
    for (size_t i = 0; i < arrays; i++) bytes += array[i].bytes;
    if (arrays > 0) json_object_set_new(request, "arrays", rows_of(array, arrays));
    char *text PBD_CLEANUP(pbd_free_memory) = json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!text) return pbd_no_memory();
    pbd_engine_head_write(head, strlen(text), bytes);
    PBD_TRY(send_bytes(p, head, sizeof head));
    PBD_TRY(send_bytes(p, text, strlen(text)));
    for (size_t i = 0; i < arrays; i++) PBD_TRY(send_bytes(p, array[i].data, array[i].bytes));
    return pbd_ok();
}

static pbd_status receive_message(pbd_engine_process *p, json_t **answer) {
    unsigned char head[PBD_ENGINE_HEAD];
    size_t bytes;
    PBD_TRY(receive_bytes(p, head, sizeof head));
    pbd_status status = pbd_engine_head_read(head, &bytes, &p->pending);
    if (status.code != PBD_OK) return pbd_engine_break(p, status);
    char *text PBD_CLEANUP(pbd_free_memory) = malloc(bytes + 1);
    if (!text) return pbd_no_memory();
    PBD_TRY(receive_bytes(p, text, bytes));
    status = pbd_engine_json_read(text, bytes, answer);
    return status.code == PBD_OK ? status : pbd_engine_break(p, status);
}

pbd_status pbd_engine_ask(pbd_engine_process *p, json_t *request, const pbd_engine_array *array, size_t arrays,
                          json_t **answer) {
    json_auto_t *owned = request;
    *answer = NULL;
    if (p->talk <= 0) return p->fault.code != PBD_OK ? p->fault : pbd_error(PBD_FAILED, "the engine has ended");
    if (!owned) return pbd_no_memory();
    p->end = pbd_wall_seconds() + p->patience;
    PBD_TRY(send_message(p, owned, array, arrays));
    PBD_TRY(receive_message(p, answer));
    const pbd_status status = pbd_engine_answer_check(*answer);
    if (status.code != PBD_OK && p->pending > 0)
        return pbd_engine_break(p, pbd_error(PBD_FAILED, "an answer that is not ok holds arrays"));
    return status;
}

pbd_status pbd_engine_ask_plain(pbd_engine_process *p, json_t *request, const pbd_engine_array *array, size_t arrays,
                                json_t **answer) {
    PBD_TRY(pbd_engine_ask(p, request, array, arrays, answer));
    if (p->pending == 0) return pbd_ok();
    return pbd_engine_break(p, pbd_error(PBD_FAILED, "its answer holds %llu bytes of arrays where none were asked for",
                                         (unsigned long long)p->pending));
}

pbd_status pbd_engine_take(pbd_engine_process *p, void *to, size_t bytes) {
    if (bytes > p->pending)
        return pbd_engine_break(p, pbd_error(PBD_FAILED, "its answer holds fewer bytes of arrays than were asked for"));
    PBD_TRY(receive_bytes(p, to, bytes));
    p->pending -= bytes;
    return pbd_ok();
}
