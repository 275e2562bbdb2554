/* `db import`: runs of other tools, from JSON files of Google Benchmark. */
#ifndef PBD_IMPORT_H
#define PBD_IMPORT_H

#include "harness/store/store.h"

typedef struct pbd_imported {
    size_t added, known; /* runs */
    size_t aggregates;   /* means and the like, which follow from the runs: left out */
    size_t skipped;      /* benchmarks that the tool skipped, without measurements */
} pbd_imported;

/* A file's benchmarks as runs of kind 'external' (schema.sql), checked, not yet stored.
 *
 *   name       BM_Sort<int>/8/solver:gs/threads:2 is case BM_Sort<int> with parameters arg0=8, solver=gs, 2 threads
 *   method     `tool`; NULL: the executable that the file names, without its folder
 *   build      from the context, else unknown; the library's build type is its preset
 *   machine    from the context
 *   metrics    real_time and cpu_time of one iteration in s, iterations, and every counter
 *   state      ok, or failed with the tool's message
 */
typedef struct pbd_import pbd_import;

/* PBD_BAD_INPUT says what is wrong with the file and where. Free with pbd_import_free; `path` must outlive it. */
pbd_status pbd_import_load(const char *path, const char *tool, pbd_import **out);
/* Stores all runs or, after an error, none. A file that was imported before, also under another name, adds nothing. */
pbd_status pbd_import_put(pbd_store *store, pbd_import *import, pbd_imported *out);
void pbd_import_free(pbd_import *import); /* NULL-safe */

#endif
