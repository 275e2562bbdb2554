/* Stored cells for histories and work-precision diagrams. Cells that differ only in former names of parameters are
 * treated as one. */
#ifndef PBD_TREND_CELLS_H
#define PBD_TREND_CELLS_H

#include "harness/catalog/values.h"
#include "harness/exec/arena.h"
#include "harness/query/cell_labels.h"
#include "harness/store/store.h"

typedef struct pbd_trend_cell {
    pbd_stored_cell cell; /* with the present names of parameters */
    char *cell_ids;       /* JSON array: the id of the cell under each former name of its parameters */
    char *label; /* «nu=0.3 solver=jacobi»: the parameters that differ among the cells of its case and method */
} pbd_trend_cell;

typedef struct pbd_trend_selection {
    const char *case_name, *method; /* NULL: any */
    const pbd_setting *setting;     /* only cells with these values */
    size_t settings;
    size_t most; /* limit, most recently run first, if no settings are given; 0: none */
} pbd_trend_selection;

/* The cells, in the order of case, method and parameters; `owned` owns them. */
pbd_status pbd_trend_cells_load(pbd_store *store, const pbd_trend_selection *selection, pbd_arena *owned,
                                pbd_trend_cell **cell, size_t *cells);

/* A copy of a text column, "" for NULL. */
char *pbd_column_copy(pbd_arena *owner, sqlite3_stmt *row, int column);

#endif
