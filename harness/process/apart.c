#include "harness/process/apart.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/process/child.h"
#include "harness/process/exit_codes.h"

void pbd_apart_free(pbd_apart *apart) {
    free(apart->answer);
    *apart = (pbd_apart){0};
}

typedef struct job {
    pbd_apart_work work;
    void *context;
    pbd_apart_stdout prints;
} job;

/* The child never returns: it is gone with its answer, without what the parent has arranged for its own end. */
static _Noreturn void be_child(const job *j, pbd_place *place, int answer, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* no process would wait for it */
    if (getppid() != parent) _exit(EXIT_FAILURE);
    if (j->prints == PBD_STDOUT_TO_STDERR) dup2(STDERR_FILENO, STDOUT_FILENO);
    FILE *out = fdopen(answer, "w");
    if (!out) _exit(EXIT_FAILURE);
    j->work(j->context, place, out);
    fflush(stdout);
    if (ferror(out) || fclose(out) != 0) _exit(EXIT_FAILURE);
    place->slot = NULL;
    place->answered = true;
    _exit(EXIT_SUCCESS);
}

static pbd_status fork_and_wait(const job *j, pbd_place *place, int answer, pbd_apart *out) {
    fflush(NULL); /* or what waits to be written would be written twice */
    const pid_t parent = getpid(), child = fork();
    if (child < 0) return pbd_error(PBD_FAILED, "no process for a separate run: %s", strerror(errno));
    if (child == 0) be_child(j, place, answer, parent);
    out->code = pbd_child_wait(child);
    out->answered = place->answered && out->code == EXIT_SUCCESS;
    out->slot = place->slot;
    out->calls = place->calls;
    if (!out->answered) return pbd_ok();
    out->answer = pbd_read_memory_file(answer);
    return out->answer ? pbd_ok() : pbd_no_memory();
}

pbd_status pbd_apart_run(pbd_apart_work work, void *context, pbd_apart_stdout prints, pbd_apart *out) {
    *out = (pbd_apart){0};
    const job j = {work, context, prints};
    pbd_place *place = mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const int answer = memfd_create("answer", MFD_CLOEXEC);
    pbd_status status = place != MAP_FAILED && answer >= 0
                            ? fork_and_wait(&j, place, answer, out)
                            : pbd_error(PBD_FAILED, "no memory for a separate run: %s", strerror(errno));
    if (place != MAP_FAILED) munmap(place, sizeof *place);
    if (answer >= 0) close(answer);
    return status;
}

pbd_status pbd_apart_status(const pbd_apart *apart, const char *who) {
    char where[80] = "";
    if (apart->slot && apart->calls > 1)
        snprintf(where, sizeof where, " in %s (call %lu)", apart->slot, apart->calls);
    else if (apart->slot)
        snprintf(where, sizeof where, " in %s", apart->slot);
    if (apart->code == -SIGINT || apart->code == -SIGTERM || apart->code == PBD_EXIT_INTERRUPTED)
        return pbd_error(PBD_INTERRUPTED, "%s was stopped%s", who, where);
    if (apart->code == -SIGKILL)
        return pbd_error(PBD_FAILED, "%s was killed%s (signal 9): by a user, or by the system when memory ran out", who,
                         where);
    if (apart->code < 0)
        return pbd_error(PBD_FAILED, "%s crashed%s with signal %d (%s)", who, where, -apart->code,
                         strsignal(-apart->code));
    return pbd_error(PBD_FAILED, "%s ended with exit code %d%s: a method must return a status and must not exit", who,
                     apart->code, where);
}
