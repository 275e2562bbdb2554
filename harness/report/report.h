/* The report: which method for which problem, and everything about the papers and this store, as one HTML page.
 *
 *   figures, verdicts, runs of problems, ... -> one JSON object -> the page (report.html, report.css, report.js)
 *
 * Each section adds its part to the object. The page holds it deflated, and its script draws it; `report --json` prints
 * it; `report --publish` writes it beside the page. */
#ifndef PBD_REPORT_H
#define PBD_REPORT_H

#include "harness/exec/arena.h"
#include "harness/figure/claims.h"
#include "harness/figure/figures.h"
#include "harness/figure/papers.h"
#include "harness/rank/rank.h"
#include "harness/store/rows.h"

typedef enum report_pictures {
    REPORT_PICTURES_ALL,   /* pictures that are missing or older than their runs are drawn */
    REPORT_PICTURES_DRAWN, /* only those that exist and are new enough */
    REPORT_PICTURES_NONE
} report_pictures;

/* The runs of a claim. Claims based on the same runs share one set. */
typedef struct report_set {
    char (*run_id)[33]; /* ascending */
    size_t count;
} report_set;

enum { REPORT_NO_SET = -1 };

/* What the store has on one claim, in addition to pbd_claim_result. */
typedef struct report_verdict {
    long set; /* index of its runs, or REPORT_NO_SET */
    char decided_at[32], invocation_id[33];
    bool other_sources; /* judged on runs of other sources than this build's */
    bool reworded;      /* the claim's text in the file has changed since */
} report_verdict;

typedef struct report_figure {
    const pbd_figure_entry *entry;
    pbd_figure_file *file; /* NULL: not there yet, or `trouble` */
    pbd_status trouble;    /* why its files cannot be read */
    pbd_claim_results claims;
    report_verdict *verdict; /* one per claim */
} report_figure;

typedef struct report_tally {
    size_t reproduced, partly, not_reproduced, not_run;
} report_tally;

/* The runs of problems that one build made on one machine with one backend: a table never mixes these. */
typedef struct report_table {
    char machine[33], source[33], backend[16], git_sha[41], newest[32];
    char *cpu;
    bool dirty;
    int cores;   /* of the machine */
    int threads; /* the largest number in its runs */
    size_t runs;
    pbd_rank rank;
} report_table;

enum { REPORT_MOST_TABLES = 2 };

typedef struct report {
    pbd_arena owned;
    pbd_store *store; /* NULL: does not exist yet */
    report_pictures pictures;
    const char *beside; /* the page's folder, with films and viewers; NULL: none */
    bool publish;       /* full-size pictures are copied to its folder plots */
    pbd_papers *papers;
    pbd_problems *problems;
    pbd_status no_problems; /* why cases/problems.yaml cannot be read */
    report_table table[REPORT_MOST_TABLES];
    size_t tables, tables_left_out;
    pbd_figure_list list;
    report_figure *figure; /* list.count entries */
    report_set *set;
    size_t sets, runs_noted, runs_left_out, picture_bytes;
    bool asked_own_runs, has_own_runs;    /* whether has_own_runs is set; whether this build made runs */
    sqlite3_stmt *is_noted, *note, *head; /* prepared when first needed */
} report;

/* Reads papers, problems, figures and verdicts. `beside`: see report. Free with report_free, also after an error. */
pbd_status report_load(report *r, pbd_store *store, report_pictures pictures, const char *beside);
void report_free(report *r); /* safe on a zeroed one */

/* All that the page shows; owned by the caller (json_decref). */
pbd_status report_json(report *r, json_t **out);
/* Writes the page; PBD_BAD_INPUT when it cannot be written. */
pbd_status report_write(const json_t *data, FILE *out);
/* report_publish_begin creates DIR and its subfolders; call it before report_load. report_publish writes index.html,
 * data.json, ranked.md, claims.md, and pictures and gnuplot files into the subfolders. PBD_BAD_INPUT names what cannot
 * be written. */
pbd_status report_publish_begin(const char *dir);
pbd_status report_publish(report *r, const json_t *data, const char *dir);

report_tally report_count(const report *r); /* without our own claims */

/* ---- For the sections -------------------------------------------------------------------------------------------- */

/* Add an entry to an object. Empty texts and numbers that are not finite are left out. */
void report_put_text(json_t *object, const char *key, const char *text);
void report_put_real(json_t *object, const char *key, double value);
void report_put_count(json_t *object, const char *key, size_t value);
void report_put_true(json_t *object, const char *key, bool value); /* false is left out */

/* A query with text parameters; without a store it has no rows. Finalize *stmt in every case (pbd_statement_release).
 */
pbd_status report_ask(report *r, const char *sql, const char *const *text, size_t texts, sqlite3_stmt **stmt);
pbd_status report_next(report *r, sqlite3_stmt *stmt, bool *row);
double report_real(sqlite3_stmt *stmt, int column); /* NaN for NULL */
/* An array with an object for each row of a query, with its columns by name, without NULL and "". */
pbd_status report_rows(report *r, const char *sql, const char *const *text, size_t texts, json_t **out);

/* Notes a run, so that `runs` of the data describes it; beyond 5000 runs it is only counted. */
pbd_status report_note_run(report *r, const char *run_id);
/* Adds the command that repeats a stored run, as "command" of the object. */
pbd_status report_put_command(report *r, const char *run_id, json_t *object);

/* Finds the tables of the problems, newest first, and reads their trials (problems.c). */
pbd_status report_load_tables(report *r);

/* ---- The sections: each sets *out, owned by the caller ----------------------------------------------------------- */

pbd_status report_problems(report *r, json_t **out);
pbd_status report_claims(report *r, json_t **out);
pbd_status report_figures(report *r, json_t **out);
pbd_status report_comparisons(report *r, json_t **out);
pbd_status report_history(report *r, json_t **out);
pbd_status report_machines(report *r, json_t **out);
pbd_status report_runs(report *r, json_t **out); /* after the others, which note them */

/* Adds the pictures of a figure to the object as an array, or the reason why there are none (pictures.c). */
pbd_status report_picture(report *r, report_figure *figure, json_t *object);

#endif
