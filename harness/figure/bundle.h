/* One figure as an archive for artifact reviewers: inputs, runs, values of its claims, pictures, and the command that
 * repeats the runs and compares them. */
#ifndef PBD_BUNDLE_H
#define PBD_BUNDLE_H

#include "harness/figure/claims.h"
#include "harness/figure/figure_draw.h"

typedef struct pbd_bundle {
    const pbd_figure_file *file;
    const pbd_claim_results *claims;
    const pbd_drawing *drawing;
    const char *const *run_id; /* the figure's runs, each once */
    size_t runs;
    bool quick;
} pbd_bundle;

/* Writes the archive `to`, a .tar.gz, with the programs tar and cp: a folder with the figure's name that holds
 * README.md, check.sh, figure/ (the files of plots/FIGURE), runs.jsonl (as `db export` writes them, with build and
 * machine), claims.csv and pictures/. PBD_FAILED says what could not be written. */
pbd_status pbd_bundle_write(const pbd_bundle *bundle, pbd_store *store, const char *to);

#endif
