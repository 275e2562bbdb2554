/* What `run` prints about its runs: three lines for one, a row for each of a grid, everything with -v. `show` and
 * `compare` print in the same hand. */
#ifndef PBD_RUN_PRINT_H
#define PBD_RUN_PRINT_H

#include "harness/files/folded.h"
#include "harness/plan/plan.h"
#include "harness/rank/problems.h"

typedef struct pbd_run_printer {
    bool all;                     /* -v */
    bool grid;                    /* several cells: a row each, after a heading */
    size_t columns;               /* of the terminal, 60 at least; 0: no end */
    const pbd_problems *problems; /* for tolerances; NULL: none could be read */
    const pbd_plan *plan;
    bool begun; /* the heading is printed */
} pbd_run_printer;

/* «name       text», folded below its beginning. */
__attribute__((format(printf, 3, 4))) void pbd_print_named(const char *name, size_t columns, const char *format, ...);

/* The three lines: error, tolerance, time. Of the printer: columns and problems. */
void pbd_run_print_answer(const pbd_run_printer *printer, const pbd_result *run);

/* `made`: by this call, else it was in the store. */
void pbd_run_print(pbd_run_printer *printer, const pbd_result *run, const pbd_plan_item *item, bool made);

#endif
