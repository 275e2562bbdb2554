/* Work-precision: the error of every stored cell of a case against the time or memory it cost. */
#ifndef PBD_WORK_PRECISION_H
#define PBD_WORK_PRECISION_H

#include <stdio.h>

#include "harness/rank/problems.h"
#include "harness/trend/cells.h"

typedef struct pbd_work_query {
    const char *case_name, *method; /* method NULL: any */
    const pbd_setting *setting;     /* only cells with these values */
    size_t settings;
    const char *error;          /* a metric that is better lower; NULL: see pbd_work_load */
    const pbd_problem *problem; /* its error in place of that, and only its cells; NULL: none */
    bool memory;                /* against memory, not time */
} pbd_work_query;

/* One cell: medians over the runs of the newest build that ran it on one machine, without builds
 * with sanitizers. */
typedef struct pbd_work_point {
    pbd_stored_cell cell;
    char *series;       /* «pbd_distance jacobi f64 cpu» */
    char *label;        /* series, and what differs from its other points: «... iterations=4» */
    char run_id[33];    /* of the newest run */
    char git_sha[41];   /* of that build */
    size_t ok, not_ok;  /* its runs, by how they ended */
    double error, time; /* s: of a frame or a solve. NaN where there is none */
    double memory;      /* bytes */
    bool is_front;      /* no other point is as cheap and more accurate */
    char *reason;       /* why it is not drawn; NULL: it is */
} pbd_work_point;

typedef struct pbd_work {
    pbd_arena owned;   /* all that pointers below point to */
    const char *title; /* the problem, or the case */
    char *case_name, *error, *unit, *cpu, machine[33];
    bool here;         /* machine is this one */
    bool frames;       /* times are of a frame of 1/60 s, else of a solve */
    double unit_bytes; /* of memory: 1 MiB, or 1 KiB where no point needs more than that */
    bool memory;       /* what the points are drawn against */
    const char *varies; /* parameters of the case in which they differ: «nu, load»; "" */
    pbd_work_point *point;
    size_t points; /* drawn ones first, the cheapest first */
    size_t drawn;
} pbd_work;

/* Times are the medians of solve_wall, which `run --time` makes, where a cell has it, else of the phase `solve`. Runs
 * that moved a scene for some time (metric simulated_time) are put in frames of 1/60 s. The error, where none is
 * given, is the one that most cells have, and of those the first that the case measures, before errors that methods
 * report. Points are of this machine, or where the store has none of it, of the one with the newest run.
 * PBD_BAD_INPUT when there are no runs or no such error, with the nearest name. Free with pbd_work_free, also then. */
pbd_status pbd_work_load(pbd_store *store, const pbd_work_query *query, pbd_work *out);
void pbd_work_free(pbd_work *work);

/* PBD_BAD_INPUT where the points are of several problems: parameters of the case differ that no method may choose.
 * Errors of different problems do not compare. Lists them on `list`, by name where they are frozen ones. */
pbd_status pbd_work_one_problem(const pbd_work *work, const pbd_problems *problems, FILE *list);

/* What is along x: ms, or memory in unit_bytes. NaN where the point has none. */
double pbd_work_cost(const pbd_work *work, const pbd_work_point *point);
/* The most accurate point that takes at most `ms`, drawn or not; NULL when there is none. */
const pbd_work_point *pbd_work_within(const pbd_work *work, double ms);

/* The front by name, what was not drawn and why, and notes on the points. */
void pbd_work_print(const pbd_work *work, FILE *out);
/* «the best error within 5 ms a frame is ...», with the command that makes its run again. */
pbd_status pbd_work_answer(pbd_store *store, const pbd_work *work, double ms, FILE *out);
/* One object; with `within` above 0 also that answer; `plot` may be NULL. */
pbd_status pbd_work_json(pbd_store *store, const pbd_work *work, double within, const char *plot, FILE *out);
/* Draws into a .png, .svg or .pdf; its data stays beside it. PBD_BAD_INPUT when there is nothing to draw. */
pbd_status pbd_work_draw(const pbd_work *work, const char *path);

#endif
