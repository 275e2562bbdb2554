/* figure.yaml and sweep files: what they hold, and reading them.
 *
 * The keys of the files are the members here, but for `case`. Settings and axes are spelt as on the command line
 * ("nu=0:0.49:0.01"), so that a file needs no syntax of its own. Optional members are NULL or 0 when left out.
 */
#ifndef PBD_FIGURE_FILE_H
#define PBD_FIGURE_FILE_H

#include <cyaml/cyaml.h>
#include <stdio.h>

#include "harness/plan/plan.h"
#include "harness/store/store.h"

/* One entry of `runs`: a request; in SQL its runs are the table `name`. */
typedef struct pbd_group {
    char *name, *case_name, *method;
    char *backend, *precision; /* default: cpu, f64 */
    char *engine; /* of a method in a separate process: its file under ROOT. A figure skips the group if it cannot
                     be used; NULL: the method is known otherwise */
    unsigned threads, repeats, warmups;
    unsigned cores; /* a figure skips the group where the program may use fewer processors; 0: any number does */
    uint64_t seed;
    char **set; /* "key=value" */
    unsigned set_count;
    char **axes; /* "key=lo:hi:step" or "key=a,b" */
    unsigned axes_count;
    char **quick; /* the same; under --quick in place of the setting or axis of the same key */
    unsigned quick_count;
    char **full; /* likewise under --full: the paper's size */
    unsigned full_count;
    size_t left_out;   /* not from the file: runs that pbd_figure_leave_out found out of reach */
    bool timed;        /* likewise: some query reads its times, or it is an engine's */
    char missing[300]; /* likewise: why the group cannot be run here, by pbd_figure_plan; "": it can */
} pbd_group;

/* A named query. Under `tables`: later queries read its rows as a table. Under `data`: its rows are written as NAME.tsv
 * for gnuplot. */
typedef struct pbd_named_query {
    char *name, *sql;
} pbd_named_query;

/* Rendered states of runs. The query has the columns run_id and caption and at most 6 rows; each gives one row of
 * images. The picture is FIGURE-NAME.png. */
typedef struct pbd_strip {
    char *name, *sql;
    double *moments; /* s, ascending, at most 8 */
    unsigned moments_count;
    char *colour; /* as `run --colour`; NULL: auto */
} pbd_strip;

/* One checkable sentence of a paper. Its query returns a value and optionally a note; where the paper leaves a
 * choice open, it returns a row for each `reading`, the one that the text supports best first. Bounds on the value
 * decide the verdict. The claim's own verdict is that of the first reading; with `rule: all` the claim is reproduced if
 * all readings are, and partly if one is. */
typedef struct pbd_claim {
    char *id, *says;
    char *sql;
    char *reproduced, *partly; /* bounds of the value; partly may be NULL */
    char *possible;            /* bounds of the value by its definition, such as ">= 0"; NULL: none */
    char *because;             /* the reason for the bounds, if the paper states none */
    char *rule;                /* of readings; NULL: first */
    char *notes;               /* the reason of the result */
    char **runs;               /* names of the groups that it depends on; none: all groups */
    unsigned runs_count;
    bool beyond;    /* our own claim, not one of the paper */
    bool full_size; /* --quick runs cannot judge it: it is about times, or depends on the number of particles */
} pbd_claim;

/* Why runs of this figure set a key to another value than the other figures of the paper. */
typedef struct pbd_difference {
    char *key, *because;
    bool used; /* not from the file: some entry of `runs` differs in it */
} pbd_difference;

typedef struct pbd_figure_file {
    char *figure, *paper, *title, *caption, *notes;
    double seconds, memory_mib; /* of a full reproduction on two cores */
    double quick_seconds;       /* of one with --quick */
    pbd_difference *differs;
    unsigned differs_count;
    pbd_group *runs;
    unsigned runs_count;
    pbd_named_query *tables;
    unsigned tables_count;
    pbd_named_query *data;
    unsigned data_count;
    char **plots; /* file names that plot.gp writes */
    unsigned plots_count;
    pbd_strip *strips;
    unsigned strips_count;
    pbd_claim *claims;
    unsigned claims_count;
    char *shown_as; /* the file's name for messages */
} pbd_figure_file;

extern const cyaml_schema_value_t pbd_figure_schema, pbd_sweep_schema; /* of the files */

/* Reads ROOT/plots/ID/figure.yaml and adds its paper's settings, or reads a sweep file (title, notes
 * and runs only). PBD_BAD_INPUT names the file and what is wrong. Runs are not checked against cases and methods here:
 * pbd_figure_plan does. The caller frees *out. */
pbd_status pbd_figure_load(const char *id, pbd_figure_file **out);
pbd_status pbd_sweep_load(const char *path, pbd_figure_file **out);
void pbd_figure_file_free(pbd_figure_file *file); /* NULL-safe */

/* Which runs of a figure: those of its file, few and small ones (--quick), or those of the paper's size (--full). Only
 * the first are compared with accepted verdicts. Converted to bool, quick is true. */
typedef enum pbd_scale { PBD_SCALE_USUAL, PBD_SCALE_QUICK, PBD_SCALE_FULL } pbd_scale;

/* "", " (quick)" or " (full)", for titles. */
const char *pbd_scale_mark(pbd_scale scale);

/* Whether a query reads the table NAME, or that of its series; itself, or through the file's `tables`. */
bool pbd_figure_reads(const pbd_figure_file *file, const char *sql, const char *name);

/* Whether any entry of `runs` has settings for --full. */
bool pbd_figure_has_full(const pbd_figure_file *file);

/* Adds the runs of all groups to the plan; items of entry i of `runs` get group first_group + i. PBD_BAD_INPUT names
 * the file and the entry. A backend that is not available here is no error in a figure: the store may have its runs.
 * Nor is an engine that cannot be used: the group has no runs then. */
pbd_status pbd_figure_plan(pbd_figure_file *file, pbd_scale scale, size_t first_group, pbd_plan *plan);

/* Writes the groups at that scale as entries of `runs` of a sweep file, named FIGURE_GROUP; with PBD_SCALE_FULL
 * only those that have settings for it. A comment marks a group whose backend is not available here, since `sweep`
 * makes every run of its file. The caller writes "runs:" before. PBD_FAILED when memory is out. */
pbd_status pbd_figure_write_sweep(const pbd_figure_file *file, pbd_scale scale, FILE *out);

#endif
