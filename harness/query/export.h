/* `db export`: the store's content as tables, for people, papers and other programs. */
#ifndef PBD_EXPORT_H
#define PBD_EXPORT_H

#include <stdio.h>

#include "harness/query/run_query.h"

typedef struct pbd_export {
    const char *format;   /* jsonl, json, csv, markdown or latex; NULL: jsonl */
    const char *what;     /* runs, benches, externals, comparisons, claims or limits; NULL: runs in tables, every
                           * kind of run in jsonl */
    pbd_run_query select; /* which runs; kind is chosen by `what`. Only for runs, benches and externals */
    const char *columns;  /* "method,nu,displacement_error"; NULL: varying parameters, the state, errors and times */
    int digits;           /* significant digits, 1 to 17; 0: depends on the format (text_table.h) */
} pbd_export;

/* Checks everything that can be checked without a store. */
pbd_status pbd_export_check(const pbd_export *request);

/* Writes the export; *rows: number of runs or rows. jsonl is the text of pbd_store_export, which `db merge` accepts;
 * the other formats are tables, of runs with one row per run, sorted by case, method and varying parameters. */
pbd_status pbd_export_write(pbd_store *store, const pbd_export *request, FILE *out, size_t *rows);

#endif
