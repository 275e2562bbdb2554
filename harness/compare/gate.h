/* The gate: a suite of cells, this program against a baseline. Errors first, counts next, times last.
 *
 * Errors and counts: every cell once in each program. A larger error, a count that differs, a run that fails,
 * or a claim whose verdict is not the accepted one ends the gate before any time is measured: the speed of a wrong
 * program does not matter. A figure that cannot be judged (no gnuplot, no disk space) is undecided.
 *
 * Times: each cell in interleaved pairs of processes (pairing.h) until the interval of its slowdown lies on one side of
 * the largest allowed one. A cell passes when the exact one-sided test rejects «slower than allowed» at 5 %, its
 * p-value multiplied for the looks taken: passing a slowdown needs less proof than reporting one. A
 * cell is suspected when the exact one-sided test of «no more than allowed», its p-value multiplied for the looks
 * taken, is rejected by Benjamini and Hochberg's rule at 5 % over all cells. A suspect is timed again in a second
 * block after all other cells, on a busy machine three minutes after its first at the earliest, since what disturbs one
 * program and not the other can last for minutes. Only what both blocks show is a regression.
 *
 * Control: in every block the baseline is timed against another process of the baseline as well (pairing.h). The same
 * rule is applied to it: two-sided p-values of «it differs by no more than allowed», Benjamini and Hochberg over all
 * cells. Where it is rejected, and where the machine was busier than the design was tested for, the cell is undecided.
 *
 * A gate that compared nothing, or whose suite wants times and got none since the baseline lacks those cells, passes
 * no verdict: it is inconclusive.
 */
#ifndef PBD_GATE_H
#define PBD_GATE_H

#include <cyaml/cyaml.h>
#include <stdio.h>

#include "harness/compare/pairing.h"
#include "harness/exec/arena.h"

typedef struct pbd_gate_cell {
    char *name, *case_name, *method;
    char *backend, *precision; /* default: cpu, f64 */
    unsigned threads;          /* default: 1 */
    bool untimed;              /* held to its errors and counts alone */
    char **set;                /* "key=value" */
    unsigned set_count;
    char **tolerances; /* "displacement_error=0.2": beside agreement with the baseline */
    unsigned tolerances_count;
} pbd_gate_cell;

typedef struct pbd_gate_suite {
    pbd_gate_cell *cells;
    unsigned cells_count;
    char **figures; /* whose claims must come out as accepted */
    unsigned figures_count;
    unsigned cells_read, figures_read; /* in the file; more than the counts after pbd_gate_suite_keep */
} pbd_gate_suite;

extern const cyaml_schema_value_t pbd_gate_schema; /* of a suite */

/* Reads a suite and checks every cell against this program's cases and methods, and every figure against those that can
 * be reproduced. PBD_BAD_INPUT names the file and what is wrong in it. */
pbd_status pbd_gate_suite_load(const char *path, pbd_gate_suite **out);
void pbd_gate_suite_free(pbd_gate_suite *suite); /* NULL-safe */
/* Keeps the cells of these methods alone, and no figure. PBD_BAD_INPUT for a method that has no cell. */
pbd_status pbd_gate_suite_keep(pbd_gate_suite *suite, const char *const *methods, size_t count);

typedef struct pbd_gate_request {
    const pbd_gate_suite *suite;
    const char *baseline, *current;               /* programs */
    const char *baseline_plugin, *current_plugin; /* NULL: none */
    const char *baseline_engine, *current_engine; /* NULL: none */
    const char *baseline_name;                    /* as the user named it */
    bool other_program;                           /* `current` is not this program */
    const char *db;                               /* NULL: nothing is stored */
    double max_regression;                        /* 0.02 */
    double seconds;                               /* of `run --time` */
    double max_load, max_steal;                   /* pairing.h */
    double confirm_after;                         /* s between the blocks of a cell on a busy machine */
    size_t most_pairs;                            /* 8, 12, 20 or 40 */
    uint64_t seed;
    int argc;
    char *const *argv;
    void (*observe)(void *context, const char *what, size_t done, size_t total); /* may be NULL */
    void *context;
} pbd_gate_request;

typedef enum pbd_gate_verdict {
    PBD_GATE_OK,         /* the slowdown is below the largest allowed one */
    PBD_GATE_WRONG,      /* errors, counts or states differ */
    PBD_GATE_REGRESSION, /* slower than allowed, in both blocks */
    PBD_GATE_UNDECIDED,  /* the interval holds the largest allowed slowdown; of a figure: it cannot be judged */
    PBD_GATE_NEW,        /* the baseline cannot run this cell */
    PBD_GATE_NOT_TIMED   /* something else was wrong before */
} pbd_gate_verdict;
const char *pbd_gate_verdict_name(pbd_gate_verdict verdict); /* "ok", "wrong", "regression"... */

typedef struct pbd_gate_line {
    pbd_gate_verdict verdict;
    char says[420];
    pbd_arm_run baseline, current; /* once each, for errors and counts */
    pbd_pairing pairs, again;      /* again: the block that confirms; pairs == 0: none */
    double p, control_p;           /* of the first block, for its looks; NaN: not timed */
    double timed_at;               /* s of the wall clock: end of the first block */
    bool alarm;                    /* the baseline differs from itself */
} pbd_gate_line;

typedef struct pbd_gate_claims {
    char *figure;
    pbd_gate_verdict verdict; /* ok, wrong or undecided */
    int code;                 /* exit code of `reproduce` */
    size_t claims, reproduced, partly, not_reproduced;
    char says[420];
} pbd_gate_claims;

typedef struct pbd_gate {
    pbd_arena owned;
    pbd_gate_line *line; /* by cell */
    size_t lines;
    pbd_gate_claims *figure;
    size_t figures;
    bool timed;
    bool compared, time_owed; /* a cell ran in both programs; the suite wants times, and none could be taken */
    size_t wrong, regressions, undecided, alarms;
} pbd_gate;

/* The whole gate. What it finds is in *out, also when the status is PBD_INTERRUPTED or an error; free it always. */
pbd_status pbd_gate_run(const pbd_gate_request *request, pbd_gate *out);
void pbd_gate_free(pbd_gate *gate);

/* Exit code: 3 wrong, else 1 for a regression, else 4 when a cell or a figure is undecided or nothing was compared. */
int pbd_gate_code(const pbd_gate *gate);

/* The result: for a terminal, for a pull request, for a machine. */
void pbd_gate_print(const pbd_gate *gate, const pbd_gate_request *request, FILE *out);
void pbd_gate_markdown(const pbd_gate *gate, const pbd_gate_request *request, FILE *out);
void pbd_gate_json(const pbd_gate *gate, const pbd_gate_request *request, FILE *out);

#endif
