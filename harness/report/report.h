/* The report: everything about the papers and this store on one HTML page.
 *
 * Sections are written one after another. Each links to the runs its numbers come from by report_run_link; that notes
 * the run, and the appendix at the end shows what was noted and nothing else, however many runs the store holds. */
#ifndef PBD_REPORT_H
#define PBD_REPORT_H

#include "harness/exec/arena.h"
#include "harness/figure/claims.h"
#include "harness/figure/figures.h"
#include "harness/figure/papers.h"
#include "harness/files/html.h"
#include "harness/store/rows.h"

typedef enum report_pictures {
    REPORT_PICTURES_ALL,   /* pictures that are missing or older than their runs are drawn */
    REPORT_PICTURES_DRAWN, /* only those that exist and are new enough */
    REPORT_PICTURES_NONE
} report_pictures;

/* The runs of a claim; claims that rest on the same ones share them. */
typedef struct report_set {
    const char *verdict[3]; /* on them: figure, claim, invocation_id */
    char (*run_id)[33];     /* ascending */
    size_t count;
} report_set;

enum { REPORT_NO_SET = -1 };

/* What the store knows of one claim, beside what pbd_claim_result says. */
typedef struct report_verdict {
    long set; /* index of its runs, or REPORT_NO_SET */
    char decided_at[32], invocation_id[33];
    bool other_sources; /* judged on runs of other sources than this build's */
    bool reworded;      /* the sentence in the file has changed since */
} report_verdict;

typedef struct report_figure {
    const pbd_figure_entry *entry;
    pbd_figure_file *file; /* NULL: not there yet, or `trouble` */
    pbd_status trouble;    /* why its files cannot be read */
    pbd_claim_results claims;
    report_verdict *verdict; /* one a claim */
} report_figure;

typedef struct report_tally {
    size_t reproduced, partly, not_reproduced, not_run;
} report_tally;

typedef struct report {
    pbd_arena owned;
    pbd_html html;
    pbd_store *store; /* NULL: there is none yet */
    report_pictures pictures;
    pbd_papers *papers;
    pbd_figure_list list;
    report_figure *figure; /* as many as list.count */
    report_set *set;
    size_t judged_elsewhere; /* verdicts with other_sources */
    size_t sets, runs_noted, runs_left_out;
    sqlite3_stmt *is_noted, *note; /* prepared when first needed */
} report;

/* Reads papers, figures and verdicts. Free with report_free, also after an error. */
pbd_status report_load(report *r, pbd_store *store, report_pictures pictures);
void report_free(report *r); /* safe on a zeroed one */

/* Writes the page; PBD_BAD_INPUT when it cannot be written. */
pbd_status report_write(report *r, FILE *out);

report_tally report_count(const report *r, const char *paper); /* of one paper; NULL: of all */

/* ---- For the sections -------------------------------------------------------------------------------------------- */

/* Verdicts in words and in a shape. */
const char *report_verdict_words(const char *verdict); /* "not_reproduced": "not reproduced" */
void report_verdict_mark(report *r, const char *verdict);

/* A query with text parameters; without a store it has no rows. Finalize *stmt in every case (pbd_statement_release).
 */
pbd_status report_ask(report *r, const char *sql, const char *const *text, size_t texts, sqlite3_stmt **stmt);
pbd_status report_next(report *r, sqlite3_stmt *stmt, bool *row);
double report_real(sqlite3_stmt *stmt, int column); /* NaN for NULL */

/* Notes a run for the appendix; *noted is false when the page holds as many as it may. */
pbd_status report_note_run(report *r, const char *run_id, bool *noted);
/* A link to a run, which is noted, as the first 8 digits of its id or as `text`; and to the runs of a claim. */
pbd_status report_run_link(report *r, const char *run_id, const char *text);
void report_set_link(report *r, long set, const char *text);
void report_machine_link(report *r, const char *env_id, const char *text);

/* A table with a row for each of a query with text parameters, and nothing where it has none; *rows is increased by
 * their number. In each, `differs` is «nu=0.3 solver=jacobi»: what differs from the other rows of its case
 * and method, which with the parameters are the columns 1 to 3; without `varying` it is NULL. */
typedef struct report_table {
    const char *sql, *heading, *id, *caption; /* heading, id: NULL: none */
    const html_column *column;
    size_t columns;
    pbd_status (*write)(report *r, sqlite3_stmt *row, const char *differs);
    bool varying;
} report_table;
pbd_status report_write_table(report *r, const report_table *table, const char *const *text, size_t texts,
                              size_t *rows);

/* «3.2 ms»; «-» for NaN. */
void report_spell_seconds(double seconds, char out[32]);
/* A table cell with the errors of a run: metrics of which less is better, other than times. */
pbd_status report_errors(report *r, const char *run_id);
/* A command in a box. */
void report_command(report *r, const char *command);

/* ---- The sections, in the order of the page ---------------------------------------------------------------------- */

void report_summary(report *r);
pbd_status report_claims(report *r);
pbd_status report_figures(report *r);
pbd_status report_work_precision(report *r);
pbd_status report_timings(report *r);
pbd_status report_comparisons(report *r);
pbd_status report_history(report *r);
pbd_status report_environment(report *r);
pbd_status report_runs(report *r);

/* The picture of a figure with its alternative text, or a note why there is none (pictures.c). */
pbd_status report_picture(report *r, report_figure *figure);

#endif
