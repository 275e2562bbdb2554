/* db: looks after the store: check, export, merge, import. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/query/export.h"
#include "harness/query/import.h"
#include "harness/store/rows.h"
#include "harness/verbs/cli.h"

typedef struct db_options {
    const char *db, *out, *format, *what, *case_name, *method, *state, *columns, *tool;
    pbd_texts set;
    long long digits;
    bool json, quiet;
    const char *action;
    const char **from; /* the arguments after the action */
    size_t froms;
} db_options;

static const pbd_option table[] = {
    PBD_OPTION_DB(db_options),
    PBD_OPT_CHOICE(db_options, format, "format", 0, "FORMAT", "jsonl|json|csv|markdown|latex",
                   "of an export: jsonl (default), json, csv, markdown or latex"),
    PBD_OPT_CHOICE(db_options, what, "what", 0, "WHAT", "runs|benches|externals|comparisons|claims|limits",
                   "what to export: runs, benches, externals, comparisons, claims or\n"
                   "limits; default runs, in jsonl runs of every kind and comparisons"),
    PBD_OPT_TEXT(db_options, case_name, "case", 'c', "CASE", PBD_WORDS_CASES, "only runs of this case"),
    PBD_OPT_TEXT(db_options, method, "method", 'm', "METHOD", PBD_WORDS_METHODS, "only runs of this method"),
    PBD_OPT_MANY(db_options, set, "set", 's', "KEY=VALUE", PBD_WORDS_SETTINGS,
                 "only runs with this value; repeat to narrow further"),
    PBD_OPT_CHOICE(db_options, state, "state", 0, "STATE", PBD_RUN_STATES, "only runs with this state"),
    PBD_OPT_TEXT(db_options, columns, "columns", 0, "A,B,C", PBD_WORDS_NONE,
                 "columns of the table; default: varying parameters, state, errors, times"),
    PBD_OPT_INTEGER(db_options, digits, "precision", 0, 1, 17,
                    "significant digits; default 17 in csv and json, 6 in markdown, 4 in latex"),
    PBD_OPT_TEXT(db_options, out, "out", 'o', "FILE", PBD_WORDS_FILES, "output file; default standard output"),
    PBD_OPT_TEXT(db_options, tool, "tool", 0, "NAME", PBD_WORDS_NONE,
                 "the method under which an import is stored; default: the executable\nit names"),
    PBD_OPTION_JSON(db_options, "one object: {\"runs\", \"problems\", \"says\"} or {\"added\", \"known\"...}"),
    PBD_OPTION_QUIET(db_options, "no summary"),
    {0}};

/* ---- The request ------------------------------------------------------------------------------------------------- */

static const char *const actions[] = {"check", "export", "merge", "import"};
enum { ACTIONS = sizeof actions / sizeof *actions };

static bool is_action(const db_options *o, const char *name) { return strcmp(o->action, name) == 0; }

static pbd_status check_words(const db_options *o) {
    if (is_action(o, "merge") && o->froms == 0)
        return pbd_error(PBD_BAD_INPUT, "merge needs a store or an export as source of runs");
    if (is_action(o, "import") && o->froms == 0)
        return pbd_error(PBD_BAD_INPUT, "import needs a file of Google Benchmark's JSON");
    if (!is_action(o, "merge") && !is_action(o, "import") && o->froms > 0)
        return pbd_error(PBD_BAD_INPUT, "'%.60s' is an extra argument: select the store with --db", o->from[0]);
    return pbd_ok();
}

/* An option that would be ignored is refused. */
static pbd_status check_places(const db_options *o) {
    const struct {
        const char *option, *action;
        bool given;
    } places[] = {{"out", "export", o->out != NULL},       {"format", "export", o->format != NULL},
                  {"what", "export", o->what != NULL},     {"case", "export", o->case_name != NULL},
                  {"method", "export", o->method != NULL}, {"set", "export", o->set.count > 0},
                  {"state", "export", o->state != NULL},   {"columns", "export", o->columns != NULL},
                  {"precision", "export", o->digits != 0}, {"tool", "import", o->tool != NULL}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].given && !is_action(o, places[i].action))
            return pbd_error(PBD_BAD_INPUT, "--%s is valid with %s only", places[i].option, places[i].action);
    return pbd_ok();
}

static pbd_status take_words(const pbd_texts *words, db_options *o) {
    if (words->count == 0)
        return pbd_error(PBD_BAD_INPUT, "db needs one of check, export, merge, import: see `pbdbench db --help`");
    o->action = words->item[0];
    o->from = words->item + 1;
    o->froms = words->count - 1;
    bool known = false;
    for (size_t i = 0; i < ACTIONS; i++) known = known || is_action(o, actions[i]);
    if (!known) return pbd_unknown("action", o->action, actions, ACTIONS, "pbdbench db --help");
    PBD_TRY(check_words(o));
    return check_places(o);
}

/* ---- check ------------------------------------------------------------------------------------------------------- */

static size_t count_runs(const pbd_store *store) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    const pbd_status status = pbd_store_row(store, "SELECT count(*) FROM run", NULL, 0, "counting runs", &row, &stmt);
    return status.code == PBD_OK ? (size_t)sqlite3_column_int64(stmt, 0) : 0;
}

/* The problems' lines as an array of strings. */
static json_t *lines_json(char *text) {
    json_t *lines = json_array();
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (*line != '\0') json_array_append_new(lines, json_string(line));
    }
    return lines;
}

/* Lines of problems are printed as they are found, since there may be one for each run. */
static pbd_status check(pbd_store *store, const db_options *o, int *exit_code) {
    char *says PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t bytes = 0, problems = 0;
    FILE *out = o->json ? open_memstream(&says, &bytes) : stdout;
    if (out == NULL) return pbd_no_memory();
    const pbd_status status = pbd_store_check(store, out, &problems);
    if (o->json) fclose(out);
    PBD_TRY(status);
    const size_t runs = count_runs(store);
    if (o->json) {
        pbd_print_json(json_pack("{sI sI so}", "runs", (json_int_t)runs, "problems", (json_int_t)problems, "says",
                                 lines_json(says)));
    } else if (!o->quiet) {
        printf("%s: %zu run%s, %zu problem%s\n", pbd_store_path(store), runs, runs == 1 ? "" : "s", problems,
               problems == 1 ? "" : "s");
    }
    if (problems > 0) *exit_code = PBD_EXIT_VALIDATION;
    return pbd_ok();
}

/* ---- export ------------------------------------------------------------------------------------------------------ */

/* Whether both names are of one file. Opening the store as the output of its export would empty it. */
static bool is_same_file(const char *a, const char *b) {
    struct stat one, two;
    return stat(a, &one) == 0 && stat(b, &two) == 0 && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

static pbd_status write_export(pbd_store *store, const db_options *o, const pbd_export *request) {
    if (o->out != NULL && is_same_file(o->out, pbd_store_path(store)))
        return pbd_error(PBD_BAD_INPUT, "'%s' is the store itself: export to another file", o->out);
    FILE *out = o->out != NULL ? fopen(o->out, "w") : stdout;
    if (out == NULL) return pbd_error(PBD_BAD_INPUT, "'%s' cannot be written: %s", o->out, strerror(errno));
    size_t rows;
    pbd_status status = pbd_export_write(store, request, out, &rows);
    if (o->out != NULL && fclose(out) != 0 && status.code == PBD_OK)
        status = pbd_error(PBD_BAD_INPUT, "'%s' cannot be written: %s", o->out, strerror(errno));
    const bool of_runs = request->what == NULL || request->select.kind != NULL;
    if (status.code == PBD_OK && o->out != NULL && !o->quiet)
        fprintf(stderr, "pbdbench: %zu %s%s%s%s to '%s'\n", rows, of_runs ? "run" : "row", rows == 1 ? "" : "s",
                of_runs ? "" : " of ", of_runs ? "" : request->what, o->out);
    return status;
}

static pbd_status export_runs(pbd_store *store, const db_options *o) {
    pbd_settings settings PBD_CLEANUP(pbd_settings_free) = {0};
    PBD_TRY(pbd_settings_parse(o->set.item, o->set.count, &settings));
    const pbd_export request = {.format = o->format,
                                .what = o->what,
                                .columns = o->columns,
                                .digits = (int)o->digits,
                                .select = {.case_name = o->case_name,
                                           .method = o->method,
                                           .state = o->state,
                                           .setting = settings.item,
                                           .settings = settings.count}};
    PBD_TRY(pbd_export_check(&request));
    return write_export(store, o, &request);
}

/* ---- merge ------------------------------------------------------------------------------------------------------- */

static pbd_status merge(pbd_store *store, const db_options *o) {
    size_t added = 0, known = 0;
    for (size_t i = 0; i < o->froms; i++) {
        size_t a, k;
        PBD_TRY(pbd_store_merge(store, o->from[i], &a, &k));
        added += a;
        known += k;
    }
    if (o->json) {
        pbd_print_json(json_pack("{sI sI}", "added", (json_int_t)added, "known", (json_int_t)known));
    } else if (!o->quiet) {
        printf("%s: %zu run%s added, %zu already present\n", pbd_store_path(store), added, added == 1 ? "" : "s",
               known);
    }
    return pbd_ok();
}

/* ---- import ------------------------------------------------------------------------------------------------------ */

static void print_import(const db_options *o, const char *store, const pbd_imported *n) {
    if (o->json) {
        pbd_print_json(json_pack("{sI sI sI sI}", "added", (json_int_t)n->added, "known", (json_int_t)n->known,
                                 "aggregates", (json_int_t)n->aggregates, "skipped", (json_int_t)n->skipped));
    } else if (!o->quiet) {
        printf("%s: %zu run%s added, %zu already present; ignored %zu aggregate%s and %zu skipped\n", store, n->added,
               n->added == 1 ? "" : "s", n->known, n->aggregates, n->aggregates == 1 ? "" : "s", n->skipped);
    }
}

/* All files are read before the store is opened, so that a bad one creates no store. */
static pbd_status read_and_put(const db_options *o, pbd_import **import) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    pbd_imported sum = {0};
    for (size_t i = 0; i < o->froms; i++) PBD_TRY(pbd_import_load(o->from[i], o->tool, &import[i]));
    PBD_TRY(pbd_open_store(o->db, PBD_STORE_WRITE, &store));
    for (size_t i = 0; i < o->froms; i++) {
        pbd_imported one;
        PBD_TRY(pbd_import_put(store, import[i], &one));
        sum.added += one.added;
        sum.known += one.known;
        sum.aggregates += one.aggregates;
        sum.skipped += one.skipped;
    }
    print_import(o, pbd_store_path(store), &sum);
    return pbd_ok();
}

static pbd_status import_files(const db_options *o) {
    pbd_arena a PBD_ARENA;
    pbd_import **import = pbd_new(&a, pbd_import *, o->froms);
    PBD_TRY(pbd_arena_check(&a));
    const pbd_status status = read_and_put(o, import);
    for (size_t i = 0; i < o->froms; i++) pbd_import_free(import[i]);
    return status;
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

static pbd_status act(void *options, pbd_call *call) {
    db_options *o = options;
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    PBD_TRY(take_words(call->words, o));
    if (is_action(o, "import")) return import_files(o);
    PBD_TRY(pbd_open_store(o->db, is_action(o, "merge") ? PBD_STORE_WRITE : PBD_STORE_READ, &store));
    if (is_action(o, "merge")) return merge(store, o);
    return is_action(o, "export") ? export_runs(store, o) : check(store, o, &call->exit_code);
}

static int verb_main(int argc, char **argv) {
    db_options o = {0};
    return pbd_verb_call(&pbd_verb_db, argc, argv, &o, act);
}

const pbd_verb pbd_verb_db = {
    .name = "db",
    .summary = "maintain the store",
    .usage =
        "db check  [--db FILE] [--json]\n"
        "db export [--db FILE] [--format F] [--what W] [--case C] [-m METHOD] [-s key=value]...\n"
        "          [--columns A,B,C] [--precision DIGITS] [-o FILE]\n"
        "db merge  FROM... [--db FILE] [--json]\n"
        "db import FILE.json... [--tool NAME] [--db FILE] [--json]",
    .about =
        "check   checks the file, its layout, and the stored hash of every run. One line per problem; exit 3 if any.\n"
        "export  jsonl: one JSON object per run and line, complete, ordered by id: can be diffed, and is what merge\n"
        "        reads. The other formats are tables, one row per run; latex is a booktabs table.\n"
        "merge   copies missing runs from other stores or exports; each file completely or not at all\n"
        "import  reads Google Benchmark's JSON (--benchmark_out=FILE) as runs of another tool; each file completely\n"
        "        or not at all, and nothing twice. `db export --what externals` and `show` print them.",
    .options = table,
    .words = PBD_WORDS_CHOICES,
    .choices = "check|export|merge|import",
    .main = verb_main,
};
