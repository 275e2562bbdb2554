/* Timing of two arms against each other: the engine of `compare` and `gate`.
 *
 * The unit is a pair of processes, and a third beside them, the control: another process of arm A, started in the same
 * way as that of B. Each runs `PROGRAM run ... --time S --json --again --db FILE` from an image made anew
 * (program_image.h), pinned to the same core. On one thread all three live at the same time and alternate, with samples
 * of about 10 ms, never two at once; the pair's log-ratio is the median over its rounds. Disturbances come in bursts of
 * tenths of seconds and so affect all: on a shared machine this reduces the spread of a pair to a third. On several
 * threads, where waiting threads would spin, processes run one after the other and each gives the median of its
 * samples.
 *
 * The order is drawn by the seed for every other pair; the pair after it, and every other round, has the reverse of it,
 * so that a linear drift cancels. Log-ratios go to statistics.h after 8, 12, 20 and 40 pairs. Errors are checked before
 * any time: an arm that is not `ok`, or whose error metrics are worse than allowed, ends the comparison without a
 * verdict on speed.
 *
 * Where the processor counts instructions, each run has the metric `solve_instructions`. Two programs that execute the
 * same number are the same code, and a difference of their times is then the machine's: inconclusive.
 *
 * The control's log-ratios are judged by the same rule. Where A differs from its own copy, what B differs by is not
 * B's: the comparison is inconclusive. So it is on a machine that is busier than the design was tested for.
 */
#ifndef PBD_PAIRING_H
#define PBD_PAIRING_H

#include "harness/compare/arm.h"
#include "harness/compare/statistics.h"
#include "harness/process/load.h"
#include "harness/store/store.h"

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
 * - Errors of two variants are otherwise not compared, but shown side by side. There must be one: an error, or a metric
 *   with a reference, that both report, unless a tolerance is given or the two differ only in where they run.
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
    double max_load;     /* other processes that run, per processor, above which times decide nothing */
    double max_steal;    /* share of the processor time taken by the host of a virtual machine, above which likewise */
    const char *purpose; /* compare, gate or confirm; the control is stored as `control` */
    const pbd_tolerance *tolerance;
    size_t tolerances;
    int argc; /* the command line, kept with the comparison */
    char *const *argv;
} pbd_pairing_request;

enum { PBD_ARM_A, PBD_ARM_B, PBD_ARM_CONTROL, PBD_ARMS };

/* One arm against A, pair by pair. */
typedef struct pbd_pair_ratios {
    double log_ratio[PBD_MOST_PAIRS]; /* median over the rounds of log(arm / A), else log of the ratio of the times */
    pbd_judgement judgement;
    char comparison_id[33]; /* "" when not stored */
} pbd_pair_ratios;

typedef struct pbd_pairing {
    pbd_arm_run a, b;   /* the first process of each arm: errors, counts, ids */
    pbd_status differs; /* PBD_OK, or why no time is claimed: the sentence of an error, state or count */
    bool unwell;        /* with `differs`: an arm did not end `ok`, rather than with another answer */
    pbd_clock clock;    /* the one that was used */
    size_t pairs;
    unsigned char order[PBD_MOST_PAIRS][PBD_ARMS]; /* of the first round */
    double s[PBD_ARMS][PBD_MOST_PAIRS];            /* s */
    size_t rounds[PBD_MOST_PAIRS];                 /* 0: the processes took no turns */
    char run[PBD_ARMS][PBD_MOST_PAIRS][33];
    double log_instructions[PBD_MOST_PAIRS]; /* log(B / A) of the instructions of a solve; NaN: not counted */
    pbd_pair_ratios of_b, of_control;
    pbd_load load;       /* of the machine by others, meanwhile */
    pbd_verdict verdict; /* that of `of_b`, but inconclusive where there is a doubt */
    bool same_work;      /* in CPU time, and as many instructions in A and B in every pair, to 1e-3 */
    bool overloaded;     /* the machine was busier than allowed */
    char doubt[200];     /* why the times do not decide; "": they may */
} pbd_pairing;
void pbd_pairing_free(pbd_pairing *pairing);

/* One-sided exact p-value of «B is no slower than margin» (sign 1) or «B is slower than margin» (sign -1) over the
 * pairs of the last look, multiplied for the share of the error rate which that look has: the smallest over all looks
 * is then a p-value again. 1 without times. */
double pbd_pairing_p(const pbd_pairing *pairing, double margin, int sign);
/* Two-sided: of «the control is within margin». */
double pbd_control_p(const pbd_pairing *pairing, double margin);
/* «Slower than margin» is rejected at 5 %. */
bool pbd_pairing_within(const pbd_pairing *pairing, double margin);
/* Whether B comes before A in the first round of a pair. */
bool pbd_pair_is_b_first(const pbd_pairing *pairing, size_t pair);

/* The experiments of harness/compare/README.md went up to one busy process on each processor beside the arms. */
#define PBD_MAX_LOAD 1.5
#define PBD_MAX_STEAL 0.1

/* What is said of a difference in time between programs of the same_work. */
#define PBD_SAME_WORK \
    "A and B execute the same number of instructions, to 0.1 %: the difference in time is not the program's"

/* Called after each pair. */
typedef void (*pbd_pairing_observer)(void *context, size_t pairs, size_t most_pairs);

/* The whole comparison. PBD_INTERRUPTED between two processes after Ctrl-C: finished runs are in the store. */
pbd_status pbd_pair(const pbd_pairing_request *request, pbd_pairing_observer observer, void *context, pbd_pairing *out);

#endif
