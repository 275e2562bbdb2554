/* Samples of the time of a solve. */
#include "harness/run/solve_times.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/exec/instructions.h"
#include "harness/files/numbers.h"

static const double SAMPLE_SECONDS = 0.010, AIM_SECONDS = 0.012;
enum { FEWEST_SAMPLES = 3, MOST_SOLVES = 1 << 24 };

pbd_status pbd_save_state(const pbd_method *m, const void *state, pbd_saved_state *out) {
    *out = (pbd_saved_state){0};
    if (!m->save || !m->load)
        return pbd_error(PBD_NOT_SUPPORTED, "method %s cannot save its state, so it is not timed from it", m->name);
    PBD_TRY(m->save(state, NULL, &out->bytes));
    out->blob = malloc(out->bytes + 1);
    if (!out->blob) return pbd_no_memory();
    const pbd_status status = m->save(state, out->blob, &out->bytes);
    if (status.code == PBD_OK) return status;
    free(out->blob);
    out->blob = NULL;
    return status;
}

void pbd_solve_times_free(pbd_solve_times *times) {
    free(times->wall);
    free(times->cpu);
    *times = (pbd_solve_times){0};
}

static bool keep_sample(pbd_solve_times *times, double wall, double cpu) {
    if (times->samples == times->capacity) {
        const size_t capacity = times->capacity ? 2 * times->capacity : 32;
        double *walls = realloc(times->wall, capacity * sizeof *walls);
        if (walls) times->wall = walls;
        double *cpus = realloc(times->cpu, capacity * sizeof *cpus);
        if (cpus) times->cpu = cpus;
        if (!walls || !cpus) return false;
        times->capacity = capacity;
    }
    times->wall[times->samples] = wall;
    times->cpu[times->samples++] = cpu;
    return true;
}

/* NaN without memory. */
static double median(const double *x, size_t n) {
    pbd_arena a PBD_ARENA;
    double *sorted = pbd_new(&a, double, n);
    if (!sorted) return (double)NAN;
    memcpy(sorted, x, n * sizeof *sorted);
    return pbd_median(sorted, n);
}

typedef struct sampling {
    const pbd_method *method;
    void *state;
    const pbd_saved_state *start;
    pbd_exec *exec;
    pbd_status (*solve)(void *context);
    void *context;
    long solves; /* in one sample */
} sampling;

/* The clock is stopped while the state is restored. */
static pbd_status take_sample(const sampling *s, pbd_exec_time *sum) {
    *sum = (pbd_exec_time){0};
    for (long i = 0; i < s->solves; i++) {
        pbd_exec_time one;
        PBD_TRY(s->method->load(s->state, s->start->blob, s->start->bytes));
        PBD_TRY(pbd_exec_timer_begin(s->exec));
        PBD_TRY(s->solve(s->context));
        PBD_TRY(pbd_exec_timer_end(s->exec, &one));
        sum->wall_s += one.wall_s;
        sum->cpu_s += one.cpu_s;
    }
    return pbd_ok();
}

/* Finds how many solves last 10 ms. This also warms up. */
static pbd_status choose_solves(sampling *s) {
    s->solves = 1;
    for (;;) {
        pbd_exec_time time;
        PBD_TRY(take_sample(s, &time));
        if (time.wall_s >= SAMPLE_SECONDS || s->solves >= MOST_SOLVES) return pbd_ok();
        const double more = time.wall_s > AIM_SECONDS / 16 ? AIM_SECONDS / time.wall_s : 16;
        s->solves = (long)ceil((double)s->solves * more);
    }
}

static pbd_status add_sample(const sampling *s, pbd_solve_times *out) {
    pbd_exec_time time;
    PBD_TRY(take_sample(s, &time));
    if (keep_sample(out, time.wall_s / (double)s->solves, time.cpu_s / (double)s->solves)) return pbd_ok();
    return pbd_no_memory();
}

/* Uses one more solve, so that no sample runs with the counter. Instructions of other threads are not counted. */
static pbd_status count_instructions(const sampling *s, double *out) {
    const int counter = pbd_instructions_open();
    *out = (double)NAN;
    if (counter < 0) return pbd_ok();
    pbd_status status = s->method->load(s->state, s->start->blob, s->start->bytes);
    const double before = pbd_instructions_read(counter);
    if (status.code == PBD_OK) status = s->solve(s->context);
    *out = pbd_instructions_read(counter) - before;
    close(counter);
    return status;
}

/* The counterpart of pairing.c. Ends if standard input is not a socket or is closed; missing samples are then taken
 * without turns. */
static pbd_status take_turns(const sampling *s, pbd_solve_times *out) {
    char answer[80], byte = 'g';
    int length = snprintf(answer, sizeof answer, "ready\n");
    for (;;) {
        if (send(STDIN_FILENO, answer, (size_t)length, MSG_NOSIGNAL) != length) return pbd_ok();
        const ssize_t got = read(STDIN_FILENO, &byte, 1);
        if (got < 0 && errno == EINTR) return pbd_error(PBD_INTERRUPTED, "stopped while waiting for a sample request");
        if (got != 1 || byte != 'g') return pbd_ok();
        PBD_TRY(add_sample(s, out));
        length =
            snprintf(answer, sizeof answer, "%.9e %.9e\n", out->wall[out->samples - 1], out->cpu[out->samples - 1]);
    }
}

pbd_status pbd_time_solves(const pbd_method *method, void *state, const pbd_saved_state *start, pbd_exec *exec,
                           pbd_status (*solve)(void *context), void *context, pbd_sampling_plan plan,
                           pbd_solve_times *out) {
    sampling s = {method, state, start, exec, solve, context, 0};
    double spent = 0;
    *out = (pbd_solve_times){.instructions = (double)NAN};
    PBD_TRY(choose_solves(&s));
    if (plan.turns) PBD_TRY(take_turns(&s, out));
    while (out->samples < FEWEST_SAMPLES || (!plan.turns && spent < plan.seconds)) {
        PBD_TRY(add_sample(&s, out));
        spent += out->wall[out->samples - 1] * (double)s.solves;
    }
    if (pbd_exec_threads(exec) == 1) PBD_TRY(count_instructions(&s, &out->instructions));
    out->wall_median = median(out->wall, out->samples);
    out->cpu_median = median(out->cpu, out->samples);
    return pbd_ok();
}
