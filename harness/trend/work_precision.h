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
    const char *error;          /* a metric for which lower is better; NULL: see pbd_work_load */
    const pbd_problem *problem; /* use its error instead, and only its cells; NULL: none */
    bool memory;                /* against memory, not time */
} pbd_work_query;

/* One cell: medians over the runs of the newest build that ran it on one machine. Builds with sanitizers do not count.
 */
typedef struct pbd_work_point {
    pbd_stored_cell cell;
    char *series;       /* «pbd_distance jacobi f64 cpu» */
    char *label;        /* series, and the parameters that differ among its points: «... iterations=4» */
    char run_id[33];    /* of the newest run */
    char git_sha[41];   /* of that build */
    size_t ok, not_ok;  /* its runs, by how they ended */
    double error, time; /* s: of a frame or a solve; NaN if there is none */
    double memory;      /* bytes */
    bool is_front;      /* no other point is as cheap or cheaper, and more accurate */
    char *reason;       /* why it is not drawn; NULL if it is */
} pbd_work_point;

typedef struct pbd_work {
    pbd_arena owned;   /* everything that the pointers below point to */
    const char *title; /* the problem, or the case */
    char *case_name, *error, *unit, *cpu, machine[33];
    bool here;          /* machine is this one */
    bool frames;        /* times are per frame of 1/60 s, else per solve */
    double unit_bytes;  /* unit of memory: 1 MiB, or 1 KiB if no point needs more than 1 MiB */
    bool memory;        /* what the points are drawn against */
    const char *varies; /* parameters of the case that differ among the points: «nu, load»; may be "" */
    pbd_work_point *point;
    size_t points; /* drawn ones first, the cheapest first */
    size_t drawn;
} pbd_work;

/* Times are medians of solve_wall (from `run --time`) if a cell has it, else of the phase `solve`. Times of runs that
 * simulate a duration (metric simulated_time) are converted to frames of 1/60 s. If no error is given, it is the one
 * that most cells have, and among those the first that the case measures, before errors that methods report. Points are
 * of this machine or, if the store has none of it, of the machine with the newest run. PBD_BAD_INPUT if there are no
 * runs or no such error; it names the nearest. Free with pbd_work_free in every case. */
pbd_status pbd_work_load(pbd_store *store, const pbd_work_query *query, pbd_work *out);
void pbd_work_free(pbd_work *work);

/* PBD_BAD_INPUT if the points belong to several problems, that is, if parameters of the case differ that no method may
 * choose: errors of different problems cannot be compared. Lists the problems on `list`, by name if they are frozen. */
pbd_status pbd_work_one_problem(const pbd_work *work, const pbd_problems *problems, FILE *list);

/* The value on the x axis: ms, or memory in unit_bytes; NaN if the point has none. */
double pbd_work_cost(const pbd_work *work, const pbd_work_point *point);
/* The most accurate point that takes at most `ms`, drawn or not; NULL if there is none. */
const pbd_work_point *pbd_work_within(const pbd_work *work, double ms);

/* Prints the front by name, the points that were not drawn with the reason, and notes. */
void pbd_work_print(const pbd_work *work, FILE *out);
/* «the best error within 5 ms a frame is ...», with the command that repeats its run. */
pbd_status pbd_work_answer(pbd_store *store, const pbd_work *work, double ms, FILE *out);
/* Writes one JSON object; if `within` is above 0 it includes that answer; `plot` may be NULL. */
pbd_status pbd_work_json(pbd_store *store, const pbd_work *work, double within, const char *plot, FILE *out);
/* Draws into a .png, .svg or .pdf; its data stays beside it. PBD_BAD_INPUT when there is nothing to draw. */
pbd_status pbd_work_draw(const pbd_work *work, const char *path);

#endif
