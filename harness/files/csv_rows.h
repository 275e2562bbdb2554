/* Rows of numbers from a stream, one at a time, as CSV without a header; read by `eval`. Lines that begin with # and
 * blank lines are skipped. */
#ifndef PBD_CSV_ROWS_H
#define PBD_CSV_ROWS_H

#include <stdio.h>

#include "methods/method.h"

typedef struct pbd_rows pbd_rows;

/* `file` stays the caller's. `shown_as` begins every error message and must outlive the rows. */
pbd_status pbd_rows_open(FILE *file, const char *shown_as, pbd_rows **out);
/* Reads the next row of exactly `count` finite numbers; *more is false at the end. PBD_BAD_INPUT names line, field and
 * what was found: another number of fields, no number, not finite, a NUL, an unmatched quote, an overlong line. */
pbd_status pbd_rows_next(pbd_rows *rows, size_t count, double *values, bool *more);
void pbd_rows_close(pbd_rows *rows); /* NULL-safe */

#endif
