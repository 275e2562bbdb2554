/* report: which method for which problem, and all results, as one HTML file or a static site. */
#include <string.h>

#include "harness/report/report.h"
#include "harness/verbs/cli.h"
#include "harness/verbs/page_file.h"

typedef struct report_options {
    const char *out, *db, *figures, *publish;
    bool json, quiet;
} report_options;

static const pbd_option table[] = {
    PBD_OPT_TEXT(report_options, out, "out", 'o', "FILE", PBD_WORDS_FILES,
                 "output file; - is standard output; default\n"
                 "results/report.html"),
    PBD_OPT_TEXT(report_options, publish, "publish", 0, "DIR", PBD_WORDS_FILES,
                 "a static site in place of the one file: the page, its data, pictures,\n"
                 "gnuplot files, and the ranked table and claims as text"),
    PBD_OPTION_DB(report_options),
    PBD_OPT_CHOICE(report_options, figures, "figures", 0, "WHICH", "all|drawn|none",
                   "pictures: all (those that are missing or older than their runs are\n"
                   "drawn from stored runs; the default), drawn (only those in\n"
                   "results/plots), none"),
    PBD_OPTION_JSON(report_options, "the data of the page, one object, in place of the page"),
    PBD_OPTION_QUIET(report_options, "prints nothing"),
    {0}};

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

static report_pictures pictures_of(const char *word) {
    if (word && strcmp(word, "drawn") == 0) return REPORT_PICTURES_DRAWN;
    return word && strcmp(word, "none") == 0 ? REPORT_PICTURES_NONE : REPORT_PICTURES_ALL;
}

static void print_outcome(const report *r, const char *path) {
    const report_tally n = report_count(r);
    size_t trials = 0;
    for (size_t i = 0; i < r->tables; i++) trials += r->table[i].runs;
    if (r->tables > 0) printf("%zu runs of problems in %zu table%s\n", trials, r->tables, r->tables == 1 ? "" : "s");
    printf("%zu claims: %zu reproduced, %zu partly, %zu not reproduced, %zu not run\n%s\n",
           n.reproduced + n.partly + n.not_reproduced + n.not_run, n.reproduced, n.partly, n.not_reproduced, n.not_run,
           path);
}

/* The folder of the page, which may hold films and viewers; NULL for standard output. */
static const char *folder_of(const report_options *o, pbd_arena *a) {
    if (o->publish) return o->publish;
    if (!o->out) return pbd_new_format(a, "%s/results", pbd_root());
    if (strcmp(o->out, "-") == 0) return NULL;
    const char *slash = strrchr(o->out, '/');
    return slash ? pbd_new_format(a, "%.*s", (int)(slash - o->out) + 1, o->out) : ".";
}

static pbd_status write_page(const report_options *o, report *r, const json_t *data, pbd_page_file *t) {
    PBD_TRY(pbd_page_open("report", o->out, "report.html", t));
    const pbd_status status = report_write(data, t->file);
    if (status.code == PBD_BAD_INPUT && ferror(t->file)) return pbd_page_cannot(t, status.text);
    PBD_TRY(status);
    if (!o->quiet && t->file != stdout) print_outcome(r, t->path);
    return pbd_ok();
}

static pbd_status write_all(const report_options *o, pbd_store *store, pbd_page_file *t) {
    pbd_arena a PBD_ARENA;
    report r PBD_CLEANUP(report_free) = {0};
    json_auto_t *data = NULL;
    const char *beside = folder_of(o, &a);
    PBD_TRY(pbd_arena_check(&a));
    if (o->publish) PBD_TRY(report_publish_begin(o->publish));
    PBD_TRY(report_load(&r, store, pictures_of(o->figures), beside));
    r.publish = o->publish != NULL;
    PBD_TRY(report_json(&r, &data));
    if (o->json) {
        json_dumpf(data, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
        putchar('\n');
        return pbd_ok();
    }
    if (!o->publish) return write_page(o, &r, data, t);
    PBD_TRY(report_publish(&r, data, o->publish));
    if (!o->quiet) print_outcome(&r, o->publish);
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
    if ((o->out != NULL) + (o->publish != NULL) + o->json > 1)
        return pbd_error(PBD_BAD_INPUT, "-o, --publish and --json exclude each other");
    PBD_TRY(pbd_open_store_if_any(o->db, &store));
    return pbd_page_close(&t, write_all(o, store, &t));
}

static int verb_main(int argc, char **argv) {
    report_options o = {0};
    return pbd_verb_call(&pbd_verb_report, argc, argv, &o, act);
}

const pbd_verb pbd_verb_report = {
    .name = "report",
    .summary = "which method for what, and all results, as one HTML page",
    .usage = "report [-o FILE.html|--publish DIR|--json] [--figures all|drawn|none] [--db FILE] [-q]",
    .about =
        "Writes one self-contained HTML file. First the methods on the frozen problems within a budget of time, with\n"
        "the chart of error against time and the runs of each problem; then every claim with its verdict, every\n"
        "figure beside the paper's data, comparisons, histories, and machines. It makes no runs: `pbdbench rank` and\n"
        "`pbdbench reproduce all` do.",
    .more =
        "A file beside the page whose name begins with eight digits of a run's id, such as 3f2a91c4.html of `pbdbench\n"
        "view 3f2a91c4 -o results/3f2a91c4.html` or 3f2a91c4.mp4 of `pbdbench film`, is linked from that run.\n"
        "Exit 2 when the store cannot be read or the page cannot be written.",
    .options = table,
    .main = verb_main,
};
