/* Stored cells for histories and work-precision diagrams. Cells that differ only in the names that their parameters had
 * are one. */
#ifndef PBD_TREND_CELLS_H
#define PBD_TREND_CELLS_H

#include "harness/catalog/values.h"
#include "harness/exec/arena.h"
#include "harness/query/cell_labels.h"
#include "harness/store/store.h"

typedef struct pbd_trend_cell {
    pbd_stored_cell cell; /* parameters have today's names */
    char *cell_ids;       /* JSON array: the cell under each of the names that its parameters had */
    char *label;          /* «nu=0.3 solver=jacobi»: what differs from the other cells of its case and method */
} pbd_trend_cell;

typedef struct pbd_trend_selection {
    const char *case_name, *method; /* NULL: any */
    const pbd_setting *setting;     /* only cells with these values */
    size_t settings;
    size_t most; /* only the most recently run, where no settings are given; 0: all */
} pbd_trend_selection;

/* The cells, in the order of case, method and parameters; `owned` owns them. */
pbd_status pbd_trend_cells_load(pbd_store *store, const pbd_trend_selection *selection, pbd_arena *owned,
                                pbd_trend_cell **cell, size_t *cells);

/* A copy of a text column, "" for NULL. */
char *pbd_column_copy(pbd_arena *owner, sqlite3_stmt *row, int column);

#endif
