/* `db export`: what is in the store, as tables for people, papers and other programs. */
#ifndef PBD_EXPORT_H
#define PBD_EXPORT_H

#include <stdio.h>

#include "harness/query/run_query.h"

typedef struct pbd_export {
    const char *format;   /* jsonl, json, csv, markdown or latex; NULL: jsonl */
    const char *what;     /* runs, benches, externals, comparisons, claims or limits; NULL: runs in tables, every
                           * kind of run in jsonl */
    pbd_run_query select; /* which runs; kind is chosen by `what`. Only for runs, benches and externals */
    const char *columns;  /* "method,nu,displacement_error"; NULL: what varies, the state, errors and times */
    int digits;           /* significant ones, 1 to 17; 0: what suits the format (text_table.h) */
} pbd_export;

/* Checks all that can be checked without a store. */
pbd_status pbd_export_check(const pbd_export *request);

/* Writes it; *rows counts runs or rows. jsonl is pbd_store_export's text, which `db merge` takes; the others are tables
 * with one row a run, sorted by case, method and what varies. */
pbd_status pbd_export_write(pbd_store *store, const pbd_export *request, FILE *out, size_t *rows);

#endif
