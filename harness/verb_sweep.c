/* sweep: the runs of a YAML file, all checked before the first is made. Started again, it makes only what is missing.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli.h"
#include "harness/figure_plan.h"
#include "harness/figure_report.h"
#include "harness/plugin.h"

typedef struct sweep {
    const char *path, *db;
    bool dry_run, again, json, quiet;
    pbd_texts plugins;
    pbd_report_style style;
    pbd_figure_file *file;
    pbd_plan plan;
    pbd_store *store;
    pbd_progress progress;
    size_t made, stored, refused, unwell; /* unwell: failed or diverged */
    pbd_status trouble;
} sweep;

static const pbd_option table[] = {PBD_OPT_FLAG(sweep, dry_run, "dry-run", 0, "only says which runs it would make"),
                                   PBD_OPT_FLAG(sweep, again, "again", 0, "makes every run anew"),
                                   PBD_OPTION_PLUGIN(sweep),
                                   PBD_OPTION_DB(sweep),
                                   PBD_OPTION_JSON(sweep, "one object a line and run"),
                                   PBD_OPTION_QUIET(sweep, "no progress, no line a run"),
                                   {0}};

static pbd_status take_words(const pbd_texts *words, sweep *s) {
    if (words->count == 0) return pbd_error(PBD_BAD_INPUT, "sweep needs a file: `pbdbench sweep --help` shows one");
    if (words->count > 1)
        return pbd_error(PBD_BAD_INPUT, "sweep takes one file; '%.60s' is one word too many", words->item[1]);
    s->path = words->item[0];
    s->style.json = s->json;
    s->style.quiet = s->quiet;
    return pbd_ok();
}

static void print_run(const sweep *s, const pbd_plan_item *item, const pbd_result *r, bool made) {
    if (s->progress.on) fputs("\r\033[K", stderr);
    if (s->style.json) {
        char *line = pbd_result_json(r);
        puts(line ? line : "{}");
        free(line);
    } else if (!s->style.quiet) {
        printf("%.12s  %-14s  %s%s%s%s\n", r->run_id, r->state, item->label, made ? "" : "  (stored)",
               *r->says ? ": " : "", r->says);
    }
    fflush(stdout);
}

static void observe(void *context, const pbd_plan_item *item, const pbd_result *made, size_t done, size_t total) {
    sweep *s = context;
    pbd_result stored = {0};
    if (item->refusal.code != PBD_OK) {
        s->refused++;
        pbd_tell_refusal(&s->progress, item, total);
        return;
    }
    if (!made && s->trouble.code == PBD_OK) s->trouble = pbd_store_get(s->store, item->run_id, &stored);
    if (s->trouble.code != PBD_OK) return;
    const pbd_result *r = made ? made : &stored;
    made ? s->made++ : s->stored++;
    if (strcmp(r->state, "failed") == 0 || strcmp(r->state, "diverged") == 0) s->unwell++;
    print_run(s, item, r, made != NULL);
    pbd_progress_show(&s->progress, done, total, made != NULL, item->label);
    if (!made) pbd_result_free(&stored);
}

static pbd_status forecast(sweep *s, const char *db) {
    pbd_forecast forecast;
    if (access(db, F_OK) == 0) PBD_TRY(pbd_store_open(db, PBD_STORE_READ, &s->store));
    if (!s->again) PBD_TRY(pbd_plan_look_up(&s->plan, s->store));
    PBD_TRY(pbd_forecast_figure(s->file, &s->plan, 0, s->store, &forecast));
    pbd_report_forecast(s->file, &s->plan, 0, &forecast, &s->style);
    return pbd_ok();
}

static pbd_status execute(sweep *s, const char *db, int argc, char **argv) {
    PBD_TRY(pbd_store_open(db, PBD_STORE_WRITE, &s->store));
    PBD_TRY(pbd_store_begin(s->store, argc, argv));
    pbd_progress_begin(&s->progress, s->style.quiet);
    pbd_status status = pbd_plan_execute_once(&s->plan, s->store, s->again, observe, s);
    pbd_progress_end(&s->progress);
    if (!s->style.json)
        printf("%s: %zu runs made, %zu already stored, %zu failed or diverged", s->path, s->made, s->stored, s->unwell);
    if (!s->style.json && s->refused > 0) printf(", %zu refused", s->refused);
    if (!s->style.json) putchar('\n');
    return status.code != PBD_OK ? status : s->trouble;
}

static pbd_status act(sweep *s, int argc, char **argv) {
    PBD_TRY(pbd_sweep_load(s->path, &s->file));
    PBD_TRY(pbd_figure_plan(s->file, false, 0, &s->plan));
    char *db = pbd_db_path(s->db);
    if (!db) return pbd_error(PBD_FAILED, "out of memory");
    pbd_status status = s->dry_run ? forecast(s, db) : execute(s, db, argc, argv);
    free(db);
    return status;
}

static int verb_main(int argc, char **argv) {
    sweep s = {.trouble = {.code = PBD_OK}};
    pbd_texts words;
    bool help;
    pbd_status status = pbd_options_parse("sweep", table, argc, argv, &s, &words, &help);
    if (status.code == PBD_OK && !help) status = take_words(&words, &s);
    pbd_catch_interrupts();
    if (status.code == PBD_OK && !help) status = pbd_plugins_load(&s.plugins);
    if (status.code == PBD_OK && !help) status = act(&s, argc, argv);
    pbd_texts_free(&s.plugins);
    pbd_texts_free(&words);
    pbd_store_close(s.store);
    pbd_plan_free(&s.plan);
    pbd_figure_file_free(s.file);
    if (status.code != PBD_OK) return pbd_complain(status);
    if (help) return pbd_verb_help(&pbd_verb_sweep);
    if (s.refused) return PBD_EXIT_USAGE;
    return s.unwell ? PBD_EXIT_RUN_FAILED : PBD_EXIT_OK;
}

const pbd_verb pbd_verb_sweep = {
    .name = "sweep",
    .summary = "many runs over axes; resumable",
    .usage = "sweep FILE.yaml [options]",
    .about =
        "Makes the runs of a file and stores them; a run the store has already is not made again. The file:\n\n"
        "  runs:\n"
        "    - name: stiffness\n"
        "      case: cube_shear\n"
        "      method: pbd_distance\n"
        "      precision: f64             # also backend, threads, repeats, warmups, seed\n"
        "      set: [\"cells=5\"]\n"
        "      axes: [\"nu=0:0.4:0.1\", \"solver=jacobi,coloured_gs\"]",
    .more =
        "Exit 5 when a run failed or diverged, 130 after Ctrl-C, 2 for bad input: of the file (nothing is run then),\n"
        "or of a run that its case or method refuses. Such a run is named with the reason, and the rest is made.",
    .options = table,
    .words = PBD_WORDS_FILES,
    .main = verb_main,
};
