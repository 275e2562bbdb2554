/* The data of a figure: from stored runs to the tables of its queries and the files of gnuplot.
 *
 * Each group of `runs` in figure.yaml becomes a TEMP TABLE with one row per run (columns: parameters, metrics, times),
 * and a second one for its series; paper.csv becomes the table `paper`; a query of `tables` becomes a view. The queries
 * of `data` select from these and are written as NAME.tsv for plot.gp; the queries of claims (claims.h) read the same.
 * All are dropped when the figure is done. */
#ifndef PBD_FIGURE_DATA_H
#define PBD_FIGURE_DATA_H

#include "harness/figure/figure_file.h"

/* Makes one TEMP TABLE per entry of `runs` from the plan's runs (harness/query/run_table.h says which columns), with
 * its series where the file's SQL names them, and TEMP TABLE paper from plots/ID/paper.csv where there is one: columns
 * whose values are all numbers REAL, others TEXT, empty fields NULL; and TEMP VIEWs of `tables`. Items of the plan
 * without a run are left out. PBD_BAD_INPUT names the table whose query is no query. */
pbd_status pbd_figure_tables(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group, pbd_store *store);

/* Whether an item of a group of the plan has a run. */
bool pbd_group_has_runs(const pbd_plan *plan, size_t group);

/* Drops them again, so that the next figure may use the same names. */
void pbd_figure_tables_drop(const pbd_figure_file *file, pbd_store *store);

/* Runs the queries of `data` and writes FOLDER/NAME.tsv: a header line, then rows separated by tabs, NULL as nan. */
pbd_status pbd_figure_data(const pbd_figure_file *file, pbd_store *store, const char *folder);

/* Writes the rows of one query as such a file. */
pbd_status pbd_write_tsv(sqlite3 *sql, const char *query, const char *where, const char *path);

/* As pbd_query_begin for a query of the figure; «no such column» is explained by what the groups' runs came to. */
pbd_status pbd_figure_query(const pbd_figure_file *file, sqlite3 *sql, const char *text, const char *where,
                            sqlite3_stmt **out);

#endif
