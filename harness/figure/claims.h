/* Claims: whether a sentence of a paper holds for the stored runs; and the accepted verdicts. */
#ifndef PBD_CLAIMS_H
#define PBD_CLAIMS_H

#include "harness/exec/arena.h"
#include "harness/figure/figure_file.h"

/* A row of a claim's query that has several. */
typedef struct pbd_claim_reading {
    char *name;
    double value;                   /* NaN: none */
    char verdict[16], accepted[16]; /* accepted: "" where none is */
} pbd_claim_reading;

typedef struct pbd_claim_result {
    const pbd_claim *claim; /* of the figure's file */
    char verdict[16];       /* reproduced, partly, not_reproduced, not_run */
    const char *reason;     /* of not_run: runs_missing, runs_failed, left_out, quick, no_value; else NULL */
    double value;           /* NaN: none */
    char *note;             /* the query's column `note`, or why the claim was not run; NULL: none */
    char accepted[16];      /* "" where none is */
    pbd_claim_reading *reading;
    size_t readings;    /* 0: the query has no column `reading` */
    char (*run_id)[33]; /* the runs it rests on, each once */
    size_t runs;
    bool lacks_runs; /* not_run because a run is missing or failed */
    bool left_out;   /* not judged: it rests on a group that is left out; what was accepted stands */
} pbd_claim_result;

typedef struct pbd_claim_results {
    pbd_arena owned;        /* everything that the pointers below point to */
    pbd_claim_result *item; /* one for each claim of the file */
    size_t count;
    bool any_accepted;  /* there is a verdicts.csv */
    size_t differing;   /* claims whose verdict is not the accepted one; 0 without verdicts.csv */
    char (*stale)[100]; /* ids in verdicts.csv that the figure no longer has: they differ too */
    size_t stales;
} pbd_claim_results;

/* Judges every claim of a figure whose tables were made (pbd_figure_tables). A claim is not_run when a run it rests on
 * is missing, failed or left out (pbd_figure_leave_out), when it needs the full size and the runs are quick, or when
 * its query gives no row or NULL. PBD_BAD_INPUT for SQL that does not work. */
pbd_status pbd_claims_judge(const pbd_figure_file *file, const pbd_plan *plan, size_t first_group, pbd_scale scale,
                            pbd_store *store, pbd_claim_results *out);
void pbd_claims_free(pbd_claim_results *results); /* safe on zeroed results */

/* Reads plots/ID/verdicts.csv (columns claim, reading, verdict; reading is empty for a claim's own verdict) and
 * compares. Claims that are left out do not differ. */
pbd_status pbd_claims_compare(const pbd_figure_file *file, pbd_claim_results *results);
bool pbd_claim_differs(const pbd_claim_result *result); /* once compared */
/* Writes plots/ID/verdicts.csv in one step, unless there is no claim; refuses when a claim lacks runs. A claim that is
 * left out keeps what was accepted. */
pbd_status pbd_claims_accept(const pbd_figure_file *file, const pbd_claim_results *results);
/* Records every verdict in the store; claims that are left out have none. */
pbd_status pbd_claims_store(const pbd_figure_file *file, const pbd_claim_results *results, pbd_store *store);

#endif
