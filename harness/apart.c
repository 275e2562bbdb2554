#include "harness/apart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/store/store.h"

enum { BOARD = 64 };

/* All that comes until the other end closes. NULL without memory. */
static char *read_pipe(int file) {
    char *text = malloc(1);
    size_t used = 0, capacity = 1;
    for (;;) {
        if (text && used + 1 >= capacity) {
            char *grown = realloc(text, capacity *= 2);
            if (!grown) free(text);
            text = grown;
        }
        if (!text) return NULL;
        const ssize_t got = read(file, text + used, capacity - used - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        used += (size_t)got;
    }
    text[used] = '\0';
    return text;
}

static pbd_status describe_end(int state, const char board[BOARD]) {
    const char *at = *board ? board : "its start";
    if (WIFSIGNALED(state))
        return pbd_error(PBD_FAILED, "crashed in %.60s: signal %d (%s)", at, WTERMSIG(state),
                         strsignal(WTERMSIG(state)));
    return pbd_error(PBD_FAILED, "ended the process in %.60s, with exit code %d", at, WEXITSTATUS(state));
}

/* The child never returns: it leaves without the parent's exit handlers, and with nothing of the parent's unwritten. */
static void be_child(void (*work)(void *, int, char[BOARD]), void *context, int pipe_out, char board[BOARD]) {
    work(context, pipe_out, board);
    close(pipe_out);
    board[BOARD - 1] = 1; /* got to its end */
    _exit(0);
}

static pbd_status fork_and_read(void (*work)(void *, int, char[BOARD]), void *context, char *board, const int ends[2],
                                char **text, pbd_status *ended) {
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) return pbd_error(PBD_FAILED, "no process for a run: %s", strerror(errno));
    if (child == 0) {
        close(ends[0]);
        be_child(work, context, ends[1], board);
    }
    close(ends[1]);
    *text = read_pipe(ends[0]);
    int state = 0;
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) continue;
    const bool whole = WIFEXITED(state) && WEXITSTATUS(state) == 0 && board[BOARD - 1] == 1;
    board[BOARD - 1] = '\0';
    *ended = whole ? pbd_ok() : describe_end(state, board);
    return *text ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for what a run says");
}

pbd_status pbd_work_apart(void (*work)(void *, int, char[BOARD]), void *context, char **text, pbd_status *ended) {
    int ends[2];
    *text = NULL;
    char *board = mmap(NULL, BOARD, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED) return pbd_error(PBD_FAILED, "out of memory for a run");
    if (pipe(ends) != 0) {
        munmap(board, BOARD);
        return pbd_error(PBD_FAILED, "no pipe for a run: %s", strerror(errno));
    }
    const pbd_status status = fork_and_read(work, context, board, ends, text, ended);
    close(ends[0]);
    munmap(board, BOARD);
    return status;
}

/* ---- A cell ------------------------------------------------------------------------------------------------------ */

static void write_all(int file, const char *text) {
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t put = write(file, text, left);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return;
        text += put;
        left -= (size_t)put;
    }
}

static void run_item(void *context, int pipe_out, char board[BOARD]) {
    pbd_result result;
    pbd_watch_phases(board);
    if (pbd_run_cell(context, &result).code != PBD_OK) return;
    char *text = pbd_result_dump(&result);
    if (text) write_all(pipe_out, text);
    free(text);
    pbd_result_free(&result);
}

/* What there is to say of a run that did not come back. */
static pbd_status describe_failure(const pbd_plan_item *item, const char *says, pbd_result *out) {
    PBD_TRY(pbd_describe_run(item, out));
    out->state = strdup("failed");
    if (asprintf(&out->says, "method %s %s", out->method_name, says) < 0) out->says = NULL;
    if (out->state && out->says) return pbd_ok();
    pbd_result_free(out);
    return pbd_error(PBD_FAILED, "out of memory for a run");
}

pbd_status pbd_run_cell_apart(const pbd_plan_item *item, pbd_result *out) {
    char *text;
    pbd_status ended;
    pbd_plan_item copy = *item; /* the child only reads it */
    pbd_status status = pbd_work_apart(run_item, &copy, &text, &ended);
    if (status.code == PBD_OK && ended.code == PBD_OK && !pbd_result_parse(text, out))
        ended = pbd_error(PBD_FAILED, "said nothing that can be read");
    if (status.code == PBD_OK && ended.code != PBD_OK) status = describe_failure(item, ended.text, out);
    free(text);
    return status;
}
