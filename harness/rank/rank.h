/* Methods on problems: trials made or looked up, and what is best within each budget.
 *
 *   problems.yaml -> rows (method, problem, number of threads) -> plan -> runs -> trials -> best, least time
 *
 * Runs are only of this build on this machine (pbd_store_find), one after another: a table never mixes machines. */
#ifndef PBD_RANK_H
#define PBD_RANK_H

#include <stdio.h>

#include "harness/rank/problems.h"

enum { PBD_RANK_BUDGETS = 5, PBD_RANK_LEVELS = 3 };

/* Times of a frame of 1/60 s if the problem moves, else of a solve. Shown as "10 ms"; INFINITY is "any". */
typedef struct pbd_budgets {
    double seconds[PBD_RANK_BUDGETS];
    size_t count;
} pbd_budgets;
/* Moving: 1, 3, 10, 33 ms and any; static: 0.1, 1, 10 s and any. */
pbd_budgets pbd_default_budgets(bool moving);
/* Parses "10ms", "0.5s" or "0.5" into seconds; PBD_BAD_INPUT names the text. */
pbd_status pbd_budget_parse(const char *text, double *seconds);
void pbd_budget_text(double seconds, char out[32]);

/* The errors for which the least time is determined, as multiples of the tolerance: 10, 1, 0.1. */
extern const double pbd_rank_level[PBD_RANK_LEVELS];

typedef struct pbd_trial {
    char *settings;  /* "cells=4 dt=0.01": what differs between the trials of this row */
    char run_id[33]; /* "": none */
    char *state;     /* of the run, or "refused", "missing" */
    char *says;      /* why it does not count; "": it counts */
    char *warnings;  /* names, "torn not_converged"; "" */
    double value;    /* of the metric; NAN: none */
    double over;     /* max(error, uncertainty) over tolerance; NAN: none */
    double time;     /* s, of a frame, or of a solve with its preparation; NAN: none */
    bool counts;     /* ended ok and converged, with an error and a time, within the limit */
    bool late;       /* stopped because of the limit of a trial, or took longer */
    bool astray;     /* ended ok with the warning not_converged (convergence.h) */
} pbd_trial;

/* A method on a problem, with one number of threads. */
typedef struct pbd_rank_row {
    const pbd_problem *problem;
    const pbd_trials *choices;
    int threads;
    pbd_status refused; /* for all trials, if the method does not run on the problem */
    size_t first, last; /* items of the plan */
    pbd_trial *trial;
    size_t trials;
    size_t failed, late;                       /* trials that do not count, by the reason */
    const pbd_trial *best[PBD_RANK_BUDGETS];   /* NULL: none within the budget */
    const pbd_trial *fastest[PBD_RANK_LEVELS]; /* NULL: none that accurate */
} pbd_rank_row;

typedef struct pbd_rank {
    pbd_arena owned;
    const pbd_problems *problems;
    bool quick;
    double limit;        /* s, of a trial */
    const char *backend; /* NULL: cpu */
    int all_threads;
    pbd_budgets only;  /* --budget; count 0: the default ones */
    pbd_rank_row *row; /* by problem, threads, method */
    size_t rows;
    pbd_plan plan;
    size_t made, stored;
    char first_day[16], last_day[16]; /* of the runs that were read: "2026-11-24"; "": none */
} pbd_rank;

void pbd_rank_free(pbd_rank *rank); /* safe on a zeroed one; problems are the caller's */
pbd_budgets pbd_rank_budgets(const pbd_rank *rank, const pbd_problem *problem);

/* Adds rows for a problem: each of its methods (or `method`), on one thread and on all. */
pbd_status pbd_rank_add(pbd_rank *rank, const pbd_problem *problem, const char *method);
/* Reads the runs of the plan's items that have one, and fills in trials, best and fastest. Sorts the rows of a problem
 * and number of threads: by the error within the largest budget, then by time. */
pbd_status pbd_rank_read(pbd_rank *rank, pbd_store *store);

/* Estimates the time of the trials that are still to be made one after another, s: from the newest stored run of the
 * same cell, of any build or machine; else from the mean of the other trials of its row; else from the limit of a
 * trial, which is also the largest cost of any. Sets *known to the number of these trials with a stored run. Call it
 * before pbd_rank_read, which sorts the rows. */
pbd_status pbd_rank_cost(const pbd_rank *rank, pbd_store *store, double *seconds, size_t *known);

/* Sets the numbers of one trial from its run; a pure function. Failed balances and contacts are states of a run, and an
 * invalid start is refused. Lack of convergence is only a warning of a run, but here it is a failure, since the result
 * of an unfinished iteration is close to the answer only by accident. Methods whose published form does a few
 * iterations carry no such warning (pbd_method.unconverged). */
void pbd_trial_judge(const pbd_problem *problem, const pbd_result *run, double limit, pbd_trial *out);
/* The trial with the least error within `seconds`; of equal errors the faster one. NULL: none. */
const pbd_trial *pbd_best_trial(const pbd_trial *trial, size_t count, double seconds);
/* The fastest trial whose error is at most `level` times the tolerance; NULL: none. */
const pbd_trial *pbd_fastest_trial(const pbd_trial *trial, size_t count, double level);

/* Output. Cells are the error over the tolerance. */
typedef struct pbd_rank_about {
    const char *cpu, *git_sha;
    int cores;
    bool dirty;
} pbd_rank_about;
void pbd_rank_print(const pbd_rank *rank, const pbd_rank_about *about, FILE *out);
pbd_status pbd_rank_table(const pbd_rank *rank, const pbd_rank_about *about, bool latex, FILE *out);
pbd_status pbd_rank_json(const pbd_rank *rank, const pbd_rank_about *about, FILE *out);

#endif
