#include "harness/trend/cells.h"

#include <jansson.h>
#include <string.h>

#include "harness/store/rows.h"

char *pbd_column_copy(pbd_arena *owner, sqlite3_stmt *row, int column) {
    return pbd_new_text(owner, pbd_column_text(row, column));
}

static bool has_settings(const char *params, const pbd_trend_selection *s) {
    json_auto_t *object = json_loads(params, 0, NULL);
    for (size_t i = 0; i < s->settings; i++)
        if (!pbd_has_setting(object, &s->setting[i])) return false;
    return true;
}

/* Without a limit, cells come from their own table; with a limit, from the index of the newest runs alone, so that
 * fifty cells are found without reading a store of a million runs. The other cells of the case and method are read too
 * only if a parameter was renamed. */
#define CELL_TODAY "case_name, method, params_today(case_name, method, params) AS today, backend, precision, threads"
#define IS_WANTED "(?1 IS NULL OR case_name = ?1) AND (?2 IS NULL OR method = ?2)"
static const char all_cells[] =
    "SELECT json_group_array(cell_id), " CELL_TODAY ", min(cell_id) FROM cell WHERE " IS_WANTED
    " GROUP BY case_name, method, today, backend, precision, threads ORDER BY 2, 3, 4, min(cell_id)";
static const char newest_cells[] =
    "SELECT CASE WHEN has_renamed(case_name, method) THEN"
    "  (SELECT json_group_array(cell.cell_id) FROM cell WHERE (cell.case_name, cell.method, cell.backend,"
    "   cell.precision, cell.threads) = (found.case_name, found.method, found.backend, found.precision, found.threads)"
    "   AND params_today(cell.case_name, cell.method, cell.params) = today)"
    "  ELSE json_array(cell_id) END, case_name, method, today, backend, precision, threads, cell_id"
    " FROM (SELECT cell_id, " CELL_TODAY
    ", max(newest) AS last FROM"
    "  (SELECT cell_id, max(started_at) AS newest FROM (SELECT cell_id, started_at FROM run INDEXED BY run_by_start"
    "   WHERE kind = 'run' ORDER BY started_at DESC LIMIT 20000) GROUP BY cell_id) JOIN cell USING (cell_id)"
    "  WHERE " IS_WANTED
    " GROUP BY case_name, method, today, backend, precision, threads"
    "  ORDER BY last DESC LIMIT CAST(?3 AS INTEGER)) AS found ORDER BY case_name, method, today, cell_id";

static pbd_status select_cells(pbd_store *store, const pbd_trend_selection *s, bool newest, pbd_arena *owned,
                               pbd_trend_cell **cell, size_t *cells) {
    sqlite3_stmt *row PBD_CLEANUP(pbd_statement_release) = NULL;
    char most[24];
    bool any;
    snprintf(most, sizeof most, "%zu", s->most);
    PBD_TRY(pbd_store_prepare(store, newest ? newest_cells : all_cells,
                              (const char *const[]){s->case_name, s->method, most}, newest ? 3 : 2, &row));
    for (;;) {
        PBD_TRY(pbd_store_step(store, row, &any, "reading its cells"));
        if (!any) return pbd_arena_check(owned);
        if (!has_settings(pbd_column_text(row, 3), s)) continue;
        if (!pbd_arena_more(owned, cell, *cells, sizeof **cell)) return pbd_arena_check(owned);
        pbd_trend_cell *c = &(*cell)[(*cells)++];
        *c = (pbd_trend_cell){.cell = {.case_name = pbd_column_copy(owned, row, 1),
                                       .method = pbd_column_copy(owned, row, 2),
                                       .params = pbd_column_copy(owned, row, 3),
                                       .backend = pbd_column_copy(owned, row, 4),
                                       .precision = pbd_column_copy(owned, row, 5),
                                       .threads = sqlite3_column_int(row, 6)},
                              .cell_ids = pbd_column_copy(owned, row, 0)};
        snprintf(c->cell.cell_id, sizeof c->cell.cell_id, "%s", pbd_column_text(row, 7));
    }
}

static pbd_status label_cells(pbd_arena *owned, pbd_trend_cell *cell, size_t cells) {
    pbd_arena a PBD_ARENA;
    pbd_stored_cell *plain = pbd_new(&a, pbd_stored_cell, cells);
    char **label = pbd_new(&a, char *, cells);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < cells; i++) plain[i] = cell[i].cell;
    PBD_TRY(pbd_cell_labels(plain, cells, label));
    for (size_t i = 0; i < cells; i++) {
        cell[i].label = pbd_new_text(owned, label[i]);
        free(label[i]);
    }
    return pbd_arena_check(owned);
}

/* If no recent run is of the case or method, all cells are searched. */
pbd_status pbd_trend_cells_load(pbd_store *store, const pbd_trend_selection *selection, pbd_arena *owned,
                                pbd_trend_cell **cell, size_t *cells) {
    *cell = NULL;
    *cells = 0;
    if (selection->most > 0 && selection->settings == 0)
        PBD_TRY(select_cells(store, selection, true, owned, cell, cells));
    if (*cells == 0) PBD_TRY(select_cells(store, selection, false, owned, cell, cells));
    return label_cells(owned, *cell, *cells);
}
