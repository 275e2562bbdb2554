#include "harness/run/run_beside.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/process/child.h"
#include "harness/process/interrupt.h"

enum { MOST_WORKERS = 256 };

/* In memory shared by all processes. */
typedef struct board {
    atomic_size_t next;             /* part of the work to be taken next */
    atomic_size_t at[MOST_WORKERS]; /* part that each process works on; SIZE_MAX: none */
    atomic_bool stop;               /* one of them failed */
} board;

typedef struct crew {
    const pbd_workers *workers;
    size_t count; /* parts of the work */
    pbd_beside_work work;
    void (*refused)(void *context, pbd_status why); /* called if the store cannot be opened; may be NULL */
    void *context;
    board *board;
    pid_t pid[MOST_WORKERS];
    int size; /* processes that were started */
} crew;

/* ---- Processes --------------------------------------------------------------------------------------------------- */

static void take_work(const crew *c, int worker, pbd_store *store) {
    while (!pbd_interrupted() && !c->board->stop) {
        const size_t k = atomic_fetch_add(&c->board->next, 1);
        if (k >= c->count) return;
        c->board->at[worker] = k;
        if (!c->work(c->context, k, store)) c->board->stop = true;
        c->board->at[worker] = SIZE_MAX;
    }
}

static _Noreturn void be_worker(const crew *c, int worker, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(EXIT_FAILURE);
    pbd_store *store = NULL;
    pbd_status status = pbd_store_open(c->workers->db, PBD_STORE_WRITE, &store);
    if (status.code == PBD_OK) status = pbd_store_begin(store, c->workers->argc, c->workers->argv);
    if (status.code == PBD_OK)
        take_work(c, worker, store);
    else if (c->refused)
        c->refused(c->context, status);
    pbd_store_close(store);
    fflush(NULL);
    _exit(EXIT_SUCCESS);
}

static pbd_status start(crew *c) {
    const pid_t parent = getpid();
    const int wanted = c->workers->count < MOST_WORKERS ? c->workers->count : MOST_WORKERS;
    c->board = mmap(NULL, sizeof *c->board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->board == MAP_FAILED) return pbd_no_memory();
    fflush(NULL); /* otherwise each fork would write the buffered output again */
    for (int i = 0; i < wanted && (size_t)i < c->count; i++) {
        c->board->at[i] = SIZE_MAX;
        c->pid[i] = fork();
        if (c->pid[i] == 0) be_worker(c, i, parent);
        if (c->pid[i] < 0) break;
        c->size++;
    }
    if (c->size > 0) return pbd_ok();
    return pbd_error(PBD_FAILED, "no process to work beside others: %s; --jobs 1 does without", strerror(errno));
}

/* Waits for all processes. *code: how the first process that failed ended, and *at: the part that it was working on;
 * *code 0: none failed. */
static void reap(crew *c, size_t *at, int *code) {
    *code = 0;
    for (int i = 0; i < c->size; i++) {
        const int ended = pbd_child_wait(c->pid[i]);
        if (ended == EXIT_SUCCESS || ended == -SIGTERM || ended == -SIGINT || *code) continue;
        *code = ended;
        *at = c->board->at[i];
    }
    if (c->board != MAP_FAILED) munmap(c->board, sizeof *c->board);
}

static pbd_status how_it_ended(const char *what, int code) {
    if (code)
        return pbd_error(PBD_FAILED, "the process that made '%.200s' ended with %s %d%s", what,
                         code < 0 ? "signal" : "exit code", abs(code),
                         code == -SIGKILL ? ": killed by a user, or because memory ran out" : "");
    return pbd_interrupted() ? pbd_error(PBD_INTERRUPTED, "interrupted; the same command makes the rest") : pbd_ok();
}

pbd_status pbd_work_beside(const pbd_workers *workers, size_t count, pbd_beside_work work, void *context) {
    crew c = {.workers = workers, .count = count, .work = work, .context = context};
    size_t at = 0;
    int code;
    const pbd_status started = start(&c);
    reap(&c, &at, &code);
    PBD_TRY(started);
    return how_it_ended("a picture", code);
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* A worker's message about a run. At most PIPE_BUF bytes, so that messages of two workers do not interleave. */
typedef struct answer {
    size_t item; /* SIZE_MAX: not about a run */
    bool made;
    char run_id[33], state[24], says[400];
    pbd_status refusal, trouble;
} answer;

typedef struct making {
    pbd_plan *plan;
    size_t *list; /* items to be made */
    size_t count;
    bool again;
    int pipe[2];
} making;

static bool tell(const making *m, const answer *told) {
    _Static_assert(sizeof *told <= 4096, "longer than PIPE_BUF");
    ssize_t done;
    while ((done = write(m->pipe[1], told, sizeof *told)) < 0 && errno == EINTR) continue;
    return done == (ssize_t)sizeof *told;
}

static void tell_refusal(void *context, pbd_status why) {
    answer told = {.item = SIZE_MAX, .trouble = why};
    tell(context, &told);
}

static bool make_one(void *context, size_t k, pbd_store *store) {
    const making *m = context;
    pbd_plan_item *item = &m->plan->item[m->list[k]];
    pbd_result result = {0};
    answer told = {.item = m->list[k]};
    told.trouble = pbd_plan_execute_item(item, store, m->again, &result, &told.made);
    told.refusal = item->refusal;
    memcpy(told.run_id, item->run_id, sizeof told.run_id);
    if (told.made) {
        snprintf(told.state, sizeof told.state, "%s", result.state);
        snprintf(told.says, sizeof told.says, "%s", result.says ? result.says : "");
        pbd_result_free(&result);
    }
    return tell(m, &told) && told.trouble.code == PBD_OK;
}

bool pbd_may_be_beside(const pbd_plan_item *item) {
    return !item->alone && item->cell.threads == 1 && item->cell.backend == PBD_BACKEND_CPU;
}

/* Reads one whole answer; false when every worker has ended. An interrupt is forwarded once: Ctrl-C in a terminal
 * reaches the workers anyway, but `kill` does not. */
static bool hear(const making *m, const crew *c, bool *handed_on, answer *told) {
    for (;;) {
        const ssize_t got = read(m->pipe[0], told, sizeof *told);
        if (got == (ssize_t)sizeof *told) return true;
        if (got >= 0 || errno != EINTR) return false;
        if (!pbd_interrupted() || *handed_on) continue;
        for (int i = 0; i < c->size; i++) kill(c->pid[i], SIGTERM);
        *handed_on = true;
    }
}

static pbd_status collect(making *m, const crew *c, pbd_plan_observer observer, void *context) {
    pbd_status first = pbd_ok();
    bool handed_on = false;
    size_t done = 0;
    answer told;
    while (hear(m, c, &handed_on, &told)) {
        if (told.trouble.code != PBD_OK && first.code == PBD_OK) first = told.trouble;
        if (told.item == SIZE_MAX || told.trouble.code != PBD_OK) continue;
        pbd_plan_item *item = &m->plan->item[told.item];
        memcpy(item->run_id, told.run_id, sizeof item->run_id);
        item->refusal = told.refusal;
        const pbd_result result = {.state = told.state, .says = told.says};
        done++;
        if (observer) observer(context, item, told.made ? &result : NULL, done, m->plan->count);
    }
    return first;
}

static pbd_status make_together(making *m, const pbd_workers *workers, pbd_plan_observer observer, void *context) {
    crew c = {.workers = workers, .count = m->count, .work = make_one, .refused = tell_refusal, .context = m};
    size_t at = SIZE_MAX;
    int code;
    if (pipe(m->pipe) != 0) return pbd_error(PBD_FAILED, "no pipe from processes that make runs: %s", strerror(errno));
    const pbd_status started = start(&c);
    close(m->pipe[1]);
    const pbd_status heard = collect(m, &c, observer, context);
    reap(&c, &at, &code);
    close(m->pipe[0]);
    PBD_TRY(started);
    PBD_TRY(heard);
    return how_it_ended(at < m->count ? m->plan->item[m->list[at]].label : "no run", code);
}

pbd_status pbd_plan_execute_beside(pbd_plan *plan, const pbd_workers *workers, bool again, pbd_plan_observer observer,
                                   void *context) {
    pbd_arena a PBD_ARENA;
    making m = {.plan = plan, .again = again, .list = pbd_new(&a, size_t, plan->count + 1)};
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < plan->count; i++)
        if (!plan->item[i].run_id[0] && pbd_may_be_beside(&plan->item[i])) m.list[m.count++] = i;
    return workers->count > 1 && m.count > 1 ? make_together(&m, workers, observer, context) : pbd_ok();
}
