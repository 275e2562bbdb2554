/* What `run` prints about its runs: three lines for one, a row for each of a grid, everything with -v. */
#ifndef PBD_RUN_PRINT_H
#define PBD_RUN_PRINT_H

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

/* Columns of standard output: $COLUMNS where set, else of the terminal; 0 where it is none. */
size_t pbd_output_columns(void);
/* Prints a text in lines of at most `columns` (0: one line), broken between words; those after the first begin with
 * `indent` blanks. `used` columns of the first line are taken. */
void pbd_print_folded(const char *text, size_t used, size_t indent, size_t columns);

/* `made`: by this call, else it was in the store. */
void pbd_run_print(pbd_run_printer *printer, const pbd_result *run, const pbd_plan_item *item, bool made);

#endif
