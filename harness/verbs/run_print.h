/* The output of `run`: three lines for a single run, a row for each run of a grid, everything with -v. `show` and
 * `compare` use the same layout. */
#ifndef PBD_RUN_PRINT_H
#define PBD_RUN_PRINT_H

#include "harness/files/folded.h"
#include "harness/plan/plan.h"
#include "harness/rank/problems.h"

typedef struct pbd_run_printer {
    bool all;                     /* -v */
    bool grid;                    /* several cells: a row each, after a heading */
    size_t columns;               /* of the terminal, at least 60; 0: unlimited */
    const pbd_problems *problems; /* for tolerances; NULL: could not be read */
    const pbd_plan *plan;
    bool begun; /* the heading is printed */
} pbd_run_printer;

/* Prints «name       text». Further lines of a folded text are indented to its first column. */
__attribute__((format(printf, 3, 4))) void pbd_print_named(const char *name, size_t columns, const char *format, ...);

/* Prints three lines: error, tolerance, time. Reads only `columns` and `problems` of the printer. */
void pbd_run_print_answer(const pbd_run_printer *printer, const pbd_result *run);

/* `made`: whether this call made the run; otherwise it was already in the store. */
void pbd_run_print(pbd_run_printer *printer, const pbd_result *run, const pbd_plan_item *item, bool made);

#endif
