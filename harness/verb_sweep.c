/* sweep: the runs of a YAML file, all checked before the first is made. Started again, it makes only what is missing.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli.h"
#include "harness/figure_plan.h"
#include "harness/figure_report.h"

typedef struct sweep {
    const char *path, *db;
    bool dry_run, again, help;
    pbd_report_style style;
    pbd_figure_file *file;
    pbd_plan plan;
    pbd_store *store;
    pbd_progress progress;
    size_t made, stored, unwell; /* unwell: failed or diverged */
    pbd_status trouble;
} sweep;

static int print_help(void) {
    puts(
        "usage: pbdbench sweep FILE.yaml [options]\n\n"
        "Makes the runs of a file and stores them; a run the store has already is not made again. The file:\n\n"
        "  runs:\n"
        "    - name: stiffness\n"
        "      case: cube_shear\n"
        "      method: pbd_distance\n"
        "      precision: f64             # also backend, threads, repeats, warmups, seed\n"
        "      set: [\"cells=5\"]\n"
        "      axes: [\"nu=0:0.4:0.1\", \"solver=jacobi,coloured_gs\"]\n\n"
        "      --dry-run    only says which runs it would make\n"
        "      --again      makes every run anew\n"
        "      --db FILE    the store; default results/pbdbench.db\n"
        "      --json       one object a line and run\n"
        "  -q, --quiet      no progress, no line a run\n\n"
        "Exit 5 when a run failed or diverged, 2 for bad input (nothing is run then), 130 after Ctrl-C.");
    return PBD_EXIT_OK;
}

static pbd_status take_options(int argc, char **argv, sweep *s) {
    static const struct option options[] = {{"dry-run", no_argument, NULL, 'n'},
                                            {"again", no_argument, NULL, 'A'},
                                            {"db", required_argument, NULL, 'd'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"quiet", no_argument, NULL, 'q'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    for (int option; (option = getopt_long(argc, argv, "qh", options, NULL)) != -1;) {
        switch (option) {
            case 'n':
                s->dry_run = true;
                break;
            case 'A':
                s->again = true;
                break;
            case 'd':
                s->db = optarg;
                break;
            case 'j':
                s->style.json = true;
                break;
            case 'q':
                s->style.quiet = true;
                break;
            case 'h':
                s->help = true;
                return pbd_ok();
            default:
                return pbd_error(PBD_BAD_INPUT, "see `pbdbench sweep --help`");
        }
    }
    if (optind >= argc) return pbd_error(PBD_BAD_INPUT, "sweep needs a file: `pbdbench sweep --help` shows one");
    if (optind + 1 < argc)
        return pbd_error(PBD_BAD_INPUT, "sweep takes one file; '%.60s' is one word too many", argv[optind + 1]);
    s->path = argv[optind];
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
        printf("%s: %zu runs made, %zu already stored, %zu failed or diverged\n", s->path, s->made, s->stored,
               s->unwell);
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

int pbd_verb_sweep(int argc, char **argv) {
    sweep s = {.trouble = {.code = PBD_OK}};
    pbd_status status = take_options(argc, argv, &s);
    if (status.code == PBD_OK && s.help) return print_help();
    pbd_catch_interrupts();
    if (status.code == PBD_OK) status = act(&s, argc, argv);
    pbd_store_close(s.store);
    pbd_plan_free(&s.plan);
    pbd_figure_file_free(s.file);
    if (status.code != PBD_OK) return pbd_complain(status);
    return s.unwell ? PBD_EXIT_RUN_FAILED : PBD_EXIT_OK;
}
