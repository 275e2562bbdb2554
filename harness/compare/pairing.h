/* Timing of two arms against each other: the engine of `compare` and `gate`.
 *
 * An arm is a program and a cell. The unit is a pair of processes: each runs `PROGRAM run ... --time S --json --again
 * --db FILE`, pinned to the same core. On one thread both live at the same time and alternate in ABBA order, with
 * samples of about 10 ms, never both at once; the pair's log-ratio is the median over its rounds. Disturbances come in
 * bursts of tenths of seconds and so affect both: on a shared machine this reduces the spread of a pair to a third. On
 * several threads, where waiting threads would spin, processes run one after the other and each gives the median of its
 * samples. The first arm is drawn by the seed. Log-ratios go to statistics.h after 8, 12, 20 and 40 pairs. Errors are
 * checked before any time: an arm that is not `ok`, or whose error metrics are worse than allowed, ends the comparison
 * without a verdict on speed.
 */
#ifndef PBD_PAIRING_H
#define PBD_PAIRING_H

#include "harness/compare/statistics.h"
#include "harness/plan/result.h"
#include "harness/store/store.h"

typedef struct pbd_arm {
    const char *name;        /* as the user named it: "xpbi:solver=jacobi", "v0.1", a path */
    const char *program;     /* path of a pbdbench binary */
    const char *const *word; /* words after `run`: CASE -m METHOD, then -s, -b, -p, -t...; NULL-terminated. Settings
                                have today's names; an older program gets those it knows */
} pbd_arm;

/* The result of one process: the part of `run --json` that is judged. Owned: pbd_arm_run_free. */
typedef struct pbd_arm_run {
    char run_id[33], cell_id[33];
    char *cell_today; /* NULL, or, where a parameter was renamed (catalog/renamed.h), the cell by today's names */
    char *state, *says;
    pbd_metric_item *metric; /* with counts */
    size_t metrics;
    double cpu_s, wall_s; /* of one solve, medians over the samples; of the run's only solve without samples */
    int threads;
    char backend[16], precision[8];
} pbd_arm_run;
void pbd_arm_run_free(pbd_arm_run *run);
/* NULL when it has none of that name. */
const pbd_metric_item *pbd_arm_metric(const pbd_arm_run *run, const char *name);

/* Runs one process of an arm and reads its result. PBD_BAD_INPUT with the program's own sentence where it exits 2 or
 * prints no run, PBD_FAILED where it crashes; a run that diverged or failed is a result. `db` NULL: --no-store.
 * `seconds` of --time; 0: none. `core`: where a single-threaded arm is pinned; -1: not pinned. */
pbd_status pbd_arm_call(const pbd_arm *arm, const char *db, double seconds, int core, pbd_arm_run *out);

/* ---- Errors (agreement.c) ---------------------------------------------------------------------------------------- */

/* «This metric may be off by so much»: from its reference in the store where there is one, else, for an error, from 0.
 */
typedef struct pbd_tolerance {
    const char *metric;
    double value;
} pbd_tolerance;

/* Whether the times of the two runs may be compared: *differs is PBD_OK, or the reason why not.
 *
 * - A metric with a tolerance, or with an uncertainty in the store's table `reference`, must be within it in both.
 * - Two runs of one cell (the same variant, two builds) must agree: counts exactly, and each other error of B may not
 *   pass A's by more than 1e-9 of it in f64, 1e-4 in f32 (pure numbers: and 1e-12 or 1e-6 besides, for errors that are
 *   rounding alone). B may be better.
 * - Errors of two variants are otherwise not compared, but shown side by side.
 *
 * `db` NULL: without references. PBD_BAD_INPUT for a tolerance on something that no arm reports or that is no error. */
pbd_status pbd_judge_errors(const pbd_arm_run *a, const pbd_arm_run *b, const char *db, const pbd_tolerance *tolerance,
                            size_t tolerances, pbd_status *differs);

/* ---- The comparison ---------------------------------------------------------------------------------------------- */

typedef enum pbd_clock { PBD_CLOCK_AUTO, PBD_CLOCK_CPU, PBD_CLOCK_WALL } pbd_clock; /* AUTO: CPU time on one thread */

typedef struct pbd_pairing_request {
    pbd_arm a, b;
    const char *db; /* store of runs and the comparison; NULL: none */
    pbd_clock clock;
    double margin;       /* 0.02 */
    double seconds;      /* of --time */
    bool bound_only;     /* gate: decided once B is shown to be within +margin (pbd_pairing_within), or above it */
    size_t first_pairs;  /* at least so many, though an earlier look decided; 0: stop as soon as decided */
    size_t most_pairs;   /* a look's number: 8, 12, 20 or 40 */
    uint64_t seed;       /* of the first arm and the bootstrap */
    const char *purpose; /* compare, gate, control or confirm */
    const pbd_tolerance *tolerance;
    size_t tolerances;
    int argc; /* the command line, kept with the comparison */
    char *const *argv;
} pbd_pairing_request;

typedef struct pbd_pairing {
    pbd_arm_run a, b;   /* the first process of each arm: errors, counts, ids */
    pbd_status differs; /* PBD_OK, or why no time is claimed: the sentence of an error, state or count */
    bool unwell;        /* with `differs`: an arm did not end `ok`, rather than with another answer */
    pbd_clock clock;    /* the one that was used */
    size_t pairs;
    bool b_first[PBD_MOST_PAIRS];                    /* the order within each pair */
    double a_s[PBD_MOST_PAIRS], b_s[PBD_MOST_PAIRS]; /* s, in order */
    double log_ratio[PBD_MOST_PAIRS];                /* median over the rounds of log(b / a), else log(b_s / a_s) */
    size_t rounds[PBD_MOST_PAIRS];                   /* 0: the processes took no turns */
    char run_a[PBD_MOST_PAIRS][33], run_b[PBD_MOST_PAIRS][33];
    pbd_judgement judgement;
    char comparison_id[33]; /* "" when not stored */
} pbd_pairing;
void pbd_pairing_free(pbd_pairing *pairing);

/* One-sided exact p-value of «B is no slower than margin» (sign 1) or «B is slower than margin» (sign -1) over the
 * pairs of the last look, multiplied for the share of the error rate which that look has: the smallest over all looks
 * is then a p-value again. 1 without times. */
double pbd_pairing_p(const pbd_pairing *pairing, double margin, int sign);
/* «Slower than margin» is rejected at 5 %. */
bool pbd_pairing_within(const pbd_pairing *pairing, double margin);

/* Called after each pair. */
typedef void (*pbd_pairing_observer)(void *context, size_t pairs, size_t most_pairs);

/* The whole comparison. PBD_INTERRUPTED between two processes after Ctrl-C: finished runs are in the store. */
pbd_status pbd_pair(const pbd_pairing_request *request, pbd_pairing_observer observer, void *context, pbd_pairing *out);

#endif
