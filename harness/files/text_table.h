/* A table of text and numbers, written as CSV, JSON, Markdown or LaTeX. */
#ifndef PBD_TEXT_TABLE_H
#define PBD_TEXT_TABLE_H

#include <stdio.h>

#include "harness/exec/arena.h"
#include "methods/method.h"

typedef enum pbd_entry_kind { PBD_ENTRY_NONE, PBD_ENTRY_TEXT, PBD_ENTRY_INTEGER, PBD_ENTRY_REAL } pbd_entry_kind;

typedef struct pbd_entry {
    pbd_entry_kind kind;
    char *text;
    long long integer;
    double real; /* NaN becomes PBD_ENTRY_NONE */
} pbd_entry;

typedef struct pbd_table_column {
    char *name, *unit; /* unit "" or "1": not shown */
} pbd_table_column;

typedef struct pbd_text_table {
    pbd_arena owned; /* owns the memory of the pointers below */
    pbd_table_column *column;
    size_t columns;
    pbd_entry *entry; /* row by row; the last row may be unfinished */
    size_t entries;
} pbd_text_table;

void pbd_text_table_free(pbd_text_table *table); /* safe on a zeroed one */

/* Columns first, then entries from left to right and row by row. Texts are copied. */
pbd_status pbd_text_table_column(pbd_text_table *table, const char *name, const char *unit);
pbd_status pbd_text_table_none(pbd_text_table *table);
pbd_status pbd_text_table_text(pbd_text_table *table, const char *text);
pbd_status pbd_text_table_integer(pbd_text_table *table, long long value);
pbd_status pbd_text_table_real(pbd_text_table *table, double value);

typedef enum pbd_table_format { PBD_CSV, PBD_JSON, PBD_MARKDOWN, PBD_LATEX } pbd_table_format;

/* Writes the whole table. `digits`: significant digits of numbers; 0: 17 for csv and json, which reproduces every
 * double, 6 for markdown, 4 for latex.
 *
 * CSV      RFC 4180, a header line, lines end in CR LF; infinities are inf and -inf, missing is empty.
 * JSON     {"columns": [{"name", "unit"}], "rows": [{NAME: value}]}; infinities are "inf" and "-inf", missing is null.
 * Markdown columns of numbers are flush right, also in the plain text.
 * LaTeX    a booktabs table with a caption and a label to fill in; numbers in math mode.
 * PBD_BAD_INPUT when the stream cannot be written. */
pbd_status pbd_text_table_write(const pbd_text_table *table, pbd_table_format format, int digits, FILE *out);

#endif
