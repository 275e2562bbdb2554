/* Two arms timed against each other: the engine of `compare` and `gate`.
 *
 * An arm is a program and a cell. The unit is a process: each runs `PROGRAM run ... --time S --json --again --db FILE`
 * and gives one number, the median over its samples. Processes are interleaved ABBA from a first arm drawn by the seed,
 * pinned alike, one at a time. Errors are looked at before any time is: an arm that is not `ok`, or whose error metrics
 * are worse than allowed, ends the comparison without a word about speed.
 */
#ifndef PBD_PAIRING_H
#define PBD_PAIRING_H

#include "harness/result.h"
#include "harness/statistics.h"
#include "harness/store/store.h"

typedef struct pbd_arm {
    const char *name;        /* as the person named it: "xpbi:solver=jacobi", "v0.1", a path */
    const char *program;     /* path of a pbdbench binary */
    const char *const *word; /* words after `run`: case, -m, -s, -b, -p, -t...; NULL-terminated */
} pbd_arm;

/* What one process said: the part of `run --json` that is judged. Owned: pbd_arm_run_free. */
typedef struct pbd_arm_run {
    char run_id[33], cell_id[33];
    char *state, *says;
    pbd_metric_item *metric; /* with counts */
    size_t metrics;
    double cpu_s, wall_s; /* of one solve, medians over the samples */
    int threads;
} pbd_arm_run;
void pbd_arm_run_free(pbd_arm_run *run);

/* Runs one process of an arm and reads what it says. PBD_BAD_INPUT with the program's own sentence where it exits 2 or
 * prints no run; a run that diverged or failed is a result. `db` NULL: --no-store. `seconds` of --time; 0: none.
 * `core`: where a single-threaded arm is pinned; -1: nowhere. */
pbd_status pbd_arm_call(const pbd_arm *arm, const char *db, double seconds, int core, pbd_arm_run *out);

typedef enum pbd_clock { PBD_CLOCK_AUTO, PBD_CLOCK_CPU, PBD_CLOCK_WALL } pbd_clock; /* AUTO: CPU time on one thread */

typedef struct pbd_pairing_request {
    pbd_arm a, b;
    const char *db; /* where runs and the comparison go; NULL: nowhere */
    pbd_clock clock;
    double margin;       /* 0.02 */
    double seconds;      /* of --time */
    size_t first_pairs;  /* at least so many, though an earlier look decided; 0: stop as soon as decided */
    size_t most_pairs;   /* a look's number: 8, 12, 20 or 40 */
    uint64_t seed;       /* of the first arm and the bootstrap */
    const char *purpose; /* compare, gate, control or confirm */
} pbd_pairing_request;

typedef struct pbd_pairing {
    pbd_arm_run a, b;   /* the first process of each arm: errors, counts, ids */
    pbd_status differs; /* PBD_OK, or why no time is claimed: the sentence of an error, state or count */
    pbd_clock clock;    /* the one that was used */
    size_t pairs;
    double a_s[PBD_MOST_PAIRS], b_s[PBD_MOST_PAIRS]; /* s, in order */
    double log_ratio[PBD_MOST_PAIRS];                /* log(b_s / a_s) */
    char run_a[PBD_MOST_PAIRS][33], run_b[PBD_MOST_PAIRS][33];
    pbd_judgement judgement;
    char comparison_id[33]; /* "" when not stored */
} pbd_pairing;
void pbd_pairing_free(pbd_pairing *pairing);

/* Called after each pair. */
typedef void (*pbd_pairing_observer)(void *context, size_t pairs, size_t most_pairs);

/* The whole comparison. PBD_INTERRUPTED between two processes after Ctrl-C: finished runs are in the store. */
pbd_status pbd_pair(const pbd_pairing_request *request, pbd_pairing_observer observer, void *context, pbd_pairing *out);

#endif
