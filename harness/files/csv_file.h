/* Small CSV files (paper.csv, verdicts.csv): a header line, rows with as many fields, one per line, and comment lines
 * that begin with #. */
#ifndef PBD_CSV_FILE_H
#define PBD_CSV_FILE_H

#include "harness/exec/arena.h"
#include "methods/method.h"

typedef struct pbd_csv {
    pbd_arena owned; /* owns the memory of the pointers below */
    char **header;   /* columns names */
    size_t columns;
    char **field; /* rows x columns, row by row; never NULL */
    size_t rows;
} pbd_csv;

/* Reads `path`. PBD_BAD_INPUT begins with `shown_as` and says line and reason: no such file, quotes that do not match,
 * a row with more or fewer fields than the header, a column without a name or named twice, a NUL, a file that is
 * too large. */
pbd_status pbd_csv_read(const char *path, const char *shown_as, pbd_csv *out);
/* The same for the text of a file that was compiled in. */
pbd_status pbd_csv_parse(const char *text, const char *shown_as, pbd_csv *out);
void pbd_csv_free(pbd_csv *csv); /* safe on a zeroed one */

/* The index of a column, or `columns` when there is none. */
size_t pbd_csv_column(const pbd_csv *csv, const char *name);

#endif
