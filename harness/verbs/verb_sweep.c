/* sweep: the runs of a YAML file, all checked before the first is made. Started again, it makes only what is missing.
 * Or in parts: planned, run shard by shard by Slurm or here, and merged (sweep/parts.h).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/catalog/plugin.h"
#include "harness/figure/figure_plan.h"
#include "harness/figure/figure_report.h"
#include "harness/sweep/making.h"
#include "harness/sweep/parts.h"
#include "harness/verbs/cli.h"

typedef struct sweep {
    const char *action; /* "plan", "submit"...; NULL: the whole sweep, here and now */
    const char *path, *db, *dir;
    const char *queue; /* of the shards: slurm or local; the last --engine of submit and resume */
    bool dry_run, again, packed, json, quiet;
    long long shard_cells, throttle, shard, pause;
    pbd_texts plugins, engines, sbatch_args;
    pbd_report_style style;
    pbd_figure_file *file;
    pbd_plan plan;
    pbd_making making;
} sweep;

static const pbd_option table[] = {
    PBD_OPT_FLAG(sweep, dry_run, "dry-run", 0, "only lists the runs it would make"),
    PBD_OPT_FLAG(sweep, again, "again", 0, "repeats runs that are already stored"),
    PBD_OPT_TEXT(sweep, dir, "dir", 0, "DIR", PBD_WORDS_FOLDERS,
                 "the folder of a sweep in parts; default results/sweep"),
    PBD_OPT_INTEGER(sweep, shard_cells, "shard-cells", 0, 1, 1000000,
                    "plan, submit: cells per shard; default: 10 minutes' worth, estimated\n"
                    "from stored runs"),
    {.name = "engine",
     .value = "ENGINE",
     .doc = "submit, resume: engine for the shards: slurm, or local, one after\n"
            "another; else FILE: an engine.yaml with a method in a process of its\n"
            "own (`pbdbench engine --help`), also those of $PBDBENCH_ENGINES",
     .words = PBD_WORDS_FILES,
     .choices = "slurm|local",
     .kind = PBD_OPTION_MANY,
     .member = offsetof(sweep, engines)},
    PBD_OPT_INTEGER(sweep, throttle, "throttle", 0, 1, 1000000, "submit, resume: largest number of simultaneous tasks"),
    PBD_OPT_INTEGER(sweep, pause, "pause", 0, 1, 1000000000,
                    "submit, resume, run-shard: seconds after which a run is paused: its\n"
                    "state stays in DIR/paused, and `resume` goes on from there; default:\n"
                    "none is. Not of cases and methods that cannot save their state"),
    PBD_OPT_FLAG(sweep, packed, "packed", 0,
                 "submit, resume: tasks may share a node: for validation only, since\n"
                 "then times are meaningless; default --exclusive"),
    PBD_OPT_MANY(sweep, sbatch_args, "sbatch-args", 0, "WORDS", PBD_WORDS_NONE,
                 "submit, resume: further arguments of sbatch, for shards and merge:\n"
                 "\"--account=a --gres=gpu:1\""),
    PBD_OPTION_PLUGIN(sweep),
    PBD_OPTION_DB(sweep),
    PBD_OPTION_JSON(sweep, "one object per run and line, or one that describes the action"),
    PBD_OPTION_QUIET(sweep, "no progress, no line per run"),
    {0}};

/* ---- The request ------------------------------------------------------------------------------------------------- */

typedef struct action {
    const char *name;
    pbd_status (*act)(const pbd_parts *parts, int *exit_code);
    const char *word; /* the argument that it needs; NULL: none */
} action;

static const action actions[] = {{"plan", pbd_parts_plan, "a file: `pbdbench sweep plan FILE.yaml`"},
                                 {"submit", pbd_parts_submit, NULL},
                                 {"run-shard", pbd_parts_run_shard, "a shard's number: `pbdbench sweep run-shard 7`"},
                                 {"status", pbd_parts_status, NULL},
                                 {"merge", pbd_parts_merge, NULL},
                                 {"resume", pbd_parts_resume, NULL}};
enum { ACTIONS = sizeof actions / sizeof *actions };

static const action *find_action(const char *name) {
    for (size_t i = 0; name && i < ACTIONS; i++)
        if (strcmp(actions[i].name, name) == 0) return &actions[i];
    return NULL;
}

static pbd_status take_number(const char *word, long long *out) {
    char *end;
    *out = strtoll(word, &end, 10);
    if (end != word && !*end) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "'%.60s' is not a shard: shards are numbered from 0", word);
}

static pbd_status too_many(const pbd_texts *words) {
    const char *names[ACTIONS];
    for (size_t i = 0; i < ACTIONS; i++) names[i] = actions[i].name;
    const char *nearest = pbd_nearest(words->item[0], names, ACTIONS);
    if (nearest)
        return pbd_error(PBD_BAD_INPUT, "sweep has no action '%.60s'; did you mean '%s'?", words->item[0], nearest);
    return pbd_error(PBD_BAD_INPUT, "sweep takes one file; '%.60s' is an extra argument", words->item[1]);
}

/* Takes the arguments after an action. */
static pbd_status take_rest(const pbd_texts *words, const action *a, sweep *s) {
    s->action = a->name;
    if (words->count > (a->word ? 2u : 1u))
        return pbd_error(PBD_BAD_INPUT, "sweep %s: '%.60s' is an extra argument%s", a->name,
                         words->item[words->count - 1], a->word ? "" : "; --dir sets its folder");
    if (a->word && words->count < 2) return pbd_error(PBD_BAD_INPUT, "sweep %s needs %s", a->name, a->word);
    if (a->act == pbd_parts_run_shard) return take_number(words->item[1], &s->shard);
    if (a->word) s->path = words->item[1];
    return pbd_ok();
}

/* An option that would be ignored is refused. */
static pbd_status check_places(const sweep *s) {
    const struct {
        const char *option;
        bool given;
        const char *goes_with; /* actions; "" is the sweep without one */
    } places[] = {{"dry-run", s->dry_run, "||"},
                  {"again", s->again, "||"},
                  {"dir", s->dir != NULL, "|plan|submit|run-shard|status|merge|resume|"},
                  {"shard-cells", s->shard_cells > 0, "|plan|submit|"},
                  {"engine", s->engines.count > 0, "||plan|submit|resume|"},
                  {"throttle", s->throttle > 0, "|submit|resume|"},
                  {"packed", s->packed, "|submit|resume|run-shard|"},
                  {"pause", s->pause > 0, "|submit|resume|run-shard|"},
                  {"sbatch-args", s->sbatch_args.count > 0, "|submit|resume|"},
                  {"plugin", s->plugins.count > 0, "||plan|"},
                  {"db", s->db != NULL, "||plan|submit|merge|resume|"}};
    char mine[20];
    snprintf(mine, sizeof mine, "|%s|", s->action ? s->action : "");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].given && !strstr(places[i].goes_with, mine))
            return pbd_error(PBD_BAD_INPUT, "--%s is not valid with sweep %s: see `pbdbench sweep --help`",
                             places[i].option, s->action ? s->action : "FILE.yaml");
    return pbd_ok();
}

/* --engine has two meanings for historical reasons: for submit and resume it names what runs the shards, elsewhere
 * files of methods. */
static pbd_status take_engines(sweep *s) {
    static const char *const queues[] = {"slurm", "local"};
    if (!s->action || strcmp(s->action, "plan") == 0) return pbd_engines_load(&s->engines);
    for (size_t i = 0; i < s->engines.count; i++) {
        s->queue = s->engines.item[i];
        if (strcmp(s->queue, queues[0]) != 0 && strcmp(s->queue, queues[1]) != 0)
            return pbd_unknown("engine", s->queue, queues, 2, "pbdbench sweep --help");
    }
    return pbd_ok();
}

static pbd_status take_words(const pbd_texts *words, sweep *s) {
    s->style.json = s->json;
    s->style.quiet = s->quiet;
    if (words->count == 0) return pbd_error(PBD_BAD_INPUT, "sweep needs a file: `pbdbench sweep --help` shows one");
    const action *a = find_action(words->item[0]);
    if (!a && words->count > 1) return too_many(words);
    if (a)
        PBD_TRY(take_rest(words, a, s));
    else
        s->path = words->item[0];
    return check_places(s);
}

/* ---- In parts ---------------------------------------------------------------------------------------------------- */

/* Returns an absolute path, since the merge may run in another folder. */
static const char *whole_path(const char *path, pbd_arena *a) {
    const char *here PBD_CLEANUP(pbd_free_memory) = *path == '/' ? NULL : getcwd(NULL, 0);
    return here ? pbd_new_format(a, "%s/%s", here, path) : path;
}

static pbd_status act_in_parts(const sweep *s, const char *db, pbd_call *call) {
    pbd_arena a PBD_ARENA;
    const char *whole_db = whole_path(db, &a);
    const char *dir = s->dir ? s->dir : pbd_new_format(&a, "%s/results/sweep", pbd_root());
    PBD_TRY(pbd_arena_check(&a));
    const pbd_parts parts = {.path = s->path,
                             .dir = dir,
                             .db = whole_db,
                             .db_given = s->db != NULL,
                             .shard = s->shard,
                             .shard_cells = s->shard_cells,
                             .submission = {.engine = s->queue,
                                            .throttle = s->throttle,
                                            .packed = s->packed,
                                            .pause = s->pause,
                                            .args = s->sbatch_args,
                                            .db = whole_db,
                                            .json = s->json,
                                            .quiet = s->quiet},
                             .style = s->style,
                             .argc = call->argc,
                             .argv = call->argv};
    return find_action(s->action)->act(&parts, &call->exit_code);
}

/* ---- The whole sweep --------------------------------------------------------------------------------------------- */

static pbd_status forecast(sweep *s, const char *db) {
    pbd_forecast forecast;
    if (access(db, F_OK) == 0) PBD_TRY(pbd_store_open(db, PBD_STORE_READ, &s->making.store));
    if (!s->again) PBD_TRY(pbd_plan_look_up(&s->plan, s->making.store));
    PBD_TRY(pbd_forecast_figure(s->file, &s->plan, 0, false, s->making.store, NULL, &forecast));
    pbd_report_forecast(s->file, &s->plan, 0, &forecast, &s->style);
    return pbd_ok();
}

static pbd_status execute(sweep *s, const char *db, int argc, char **argv) {
    PBD_TRY(pbd_store_open(db, PBD_STORE_WRITE, &s->making.store));
    PBD_TRY(pbd_store_begin(s->making.store, argc, argv));
    s->making.style = s->style;
    const pbd_status status = pbd_make_runs(&s->making, &s->plan, s->again);
    pbd_print_made(&s->making, s->path);
    return status;
}

static pbd_status act(void *options, pbd_call *call) {
    sweep *s = options;
    PBD_TRY(take_words(call->words, s));
    pbd_catch_interrupts();
    PBD_TRY(pbd_plugins_load(&s->plugins));
    PBD_TRY(take_engines(s));
    const char *db PBD_CLEANUP(pbd_free_memory) = pbd_db_path(s->db);
    if (!db) return pbd_no_memory();
    if (s->action) return act_in_parts(s, db, call);
    PBD_TRY(pbd_sweep_load(s->path, &s->file));
    PBD_TRY(pbd_figure_plan(s->file, false, 0, &s->plan));
    const pbd_status status = s->dry_run ? forecast(s, db) : execute(s, db, call->argc, call->argv);
    call->exit_code = pbd_made_exit(&s->making);
    return status;
}

static int verb_main(int argc, char **argv) {
    sweep s = {0};
    const int code = pbd_verb_call(&pbd_verb_sweep, argc, argv, &s, act);
    pbd_store_close(s.making.store);
    free(s.making.refusals);
    pbd_plan_free(&s.plan);
    pbd_figure_file_free(s.file);
    return code;
}

const pbd_verb pbd_verb_sweep = {
    .name = "sweep",
    .summary = "many runs over axes; resumable; in parts on a cluster",
    .usage =
        "sweep FILE.yaml [options]\n"
        "sweep plan FILE.yaml [--dir DIR] [--shard-cells N] [--db FILE]\n"
        "sweep submit --engine slurm|local [--dir DIR] [--shard-cells N] [--throttle M] [--packed]\n"
        "             [--pause SECONDS] [--sbatch-args WORDS] [--db FILE]\n"
        "sweep run-shard I [--dir DIR] [--pause SECONDS]\n"
        "sweep status [--dir DIR]\n"
        "sweep merge [--dir DIR] [--db FILE]\n"
        "sweep resume [--dir DIR] [options of submit]",
    .about =
        "Makes the runs of a file and stores them; a run that is already stored is not repeated. The file:\n"
        "\n"
        "  runs:\n"
        "    - name: stiffness\n"
        "      case: cube_shear\n"
        "      method: pbd_distance\n"
        "      precision: f64             # also backend, threads, repeats, warmups, seed\n"
        "      set: [\"cells=5\"]\n"
        "      axes: [\"nu=0:0.4:0.1\", \"solver=jacobi,coloured_gs\"]\n\n"
        "On a cluster the same file runs in parts:\n"
        "\n"
        "  plan       freezes every cell, ordered by id and divided into shards, in DIR/manifest.jsonl\n"
        "  submit     submits the shards to Slurm as an array of jobs, and a job that merges them at the end\n"
        "  run-shard  run by each job: makes one shard on the node's own disk and publishes it in DIR/shards;\n"
        "             exit 4 when a run of it was paused\n"
        "  status     lists which shards are published; exit 4 while some are missing\n"
        "  merge      merges the published shards into the store; a repeated merge adds new ones only\n"
        "  resume     submits missing shards, when no job is left in the queue; options default to those of the\n"
        "             last submission\n"
        "\n"
        "Only published shards count: jobs may be killed, or run twice. DIR and the program must be visible to every\n"
        "node. Shards are made by the build that planned; any build merges.",
    .more =
        "Exit 5 when a run failed, diverged or is unphysical, 130 after Ctrl-C, 2 for bad input: of the file (nothing\n"
        "is run then), or of a run that its case or method refuses. Such a run is listed with the reason, and the\n"
        "rest is made.\n"
        "merge: 2 when invalid or incomplete shards were moved to DIR/aside, 4 when shards are missing; the rest is\n"
        "merged.",
    .options = table,
    .words = PBD_WORDS_FILES,
    .choices = "plan|submit|run-shard|status|merge|resume",
    .main = verb_main,
};
