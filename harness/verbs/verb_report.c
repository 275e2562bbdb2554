/* report: everything about the papers and this store as one HTML file. */
#include <string.h>

#include "harness/report/report.h"
#include "harness/verbs/cli.h"
#include "harness/verbs/page_file.h"

typedef struct report_options {
    const char *out, *db, *figures;
    bool quiet;
} report_options;

static const pbd_option table[] = {PBD_OPT_TEXT(report_options, out, "out", 'o', "FILE", PBD_WORDS_FILES,
                                                "output file; - is standard output; default\n"
                                                "results/report.html"),
                                   PBD_OPTION_DB(report_options),
                                   PBD_OPT_CHOICE(report_options, figures, "figures", 0, "WHICH", "all|drawn|none",
                                                  "pictures: all (those that are missing or older than their runs are\n"
                                                  "drawn from stored runs; the default), drawn (only those in\n"
                                                  "results/plots), none"),
                                   PBD_OPTION_QUIET(report_options, "prints nothing"),
                                   {0}};

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

static report_pictures pictures_of(const char *word) {
    if (word && strcmp(word, "drawn") == 0) return REPORT_PICTURES_DRAWN;
    return word && strcmp(word, "none") == 0 ? REPORT_PICTURES_NONE : REPORT_PICTURES_ALL;
}

static void print_outcome(const report *r, const pbd_page_file *t) {
    const report_tally n = report_count(r, NULL);
    printf("%zu claims: %zu reproduced, %zu partly, %zu not reproduced, %zu not run\n%s\n",
           n.reproduced + n.partly + n.not_reproduced + n.not_run, n.reproduced, n.partly, n.not_reproduced, n.not_run,
           t->path);
}

static pbd_status write_page(const report_options *o, pbd_store *store, pbd_page_file *t) {
    report r PBD_CLEANUP(report_free) = {0};
    PBD_TRY(report_load(&r, store, pictures_of(o->figures)));
    PBD_TRY(pbd_page_open("report", o->out, "report.html", t));
    const pbd_status status = report_write(&r, t->file);
    if (status.code == PBD_BAD_INPUT && ferror(t->file)) return pbd_page_cannot(t, status.text);
    PBD_TRY(status);
    if (!o->quiet && t->file != stdout) print_outcome(&r, t);
    return pbd_ok();
}

/* Without the default store the page lists what is not run yet. */
static pbd_status act(void *options, pbd_call *call) {
    const report_options *o = options;
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    pbd_page_file t = {0};
    if (call->words->count > 0)
        return pbd_error(PBD_BAD_INPUT, "report takes no argument, got '%.60s'; -o sets the file",
                         call->words->item[0]);
    PBD_TRY(pbd_open_store_if_any(o->db, &store));
    return pbd_page_close(&t, write_page(o, store, &t));
}

static int verb_main(int argc, char **argv) {
    report_options o = {0};
    return pbd_verb_call(&pbd_verb_report, argc, argv, &o, act);
}

const pbd_verb pbd_verb_report = {
    .name = "report",
    .summary = "everything as one HTML page",
    .usage = "report [-o FILE.html] [--figures all|drawn|none] [--db FILE] [-q]",
    .about =
        "Writes one self-contained HTML file: every claim with its verdict, every figure beside the paper's\n"
        "data, timings by machine with their errors, comparisons, builds and machines, and the run behind each number\n"
        "with the command that repeats it. It makes no runs: `pbdbench reproduce all` does.",
    .more = "Exit 2 when the store cannot be read or the page cannot be written.",
    .options = table,
    .main = verb_main,
};
