/* db: looks after the store: check, export, merge. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/cli.h"

typedef struct db_options {
    const char *action, *db, *out;
    char *const *from;
    int froms;
    bool json, quiet, help;
} db_options;

static int print_help(void) {
    puts(
        "usage: pbdbench db check  [--db FILE] [--json]\n"
        "       pbdbench db export [--db FILE] [-o FILE]\n"
        "       pbdbench db merge FROM... [--db FILE] [--json]\n\n"
        "check   is the file sound, is its layout ours, and does every run still have the hash it was stored under?\n"
        "        One line for each problem; exit 3 when there is one.\n"
        "export  one JSON object a line and run with all that belongs to it, ordered by id: text that diffs\n"
        "merge   copies the runs that the store lacks from other stores or exports; all of a file or nothing\n\n"
        "      --db FILE    the store; default results/pbdbench.db\n"
        "  -o, --out FILE   where to export to; default standard output\n"
        "      --json       one object: {\"runs\", \"problems\", \"says\"} or {\"added\", \"known\"}\n"
        "  -q, --quiet      only what was asked for: no summary");
    return PBD_EXIT_OK;
}

static const char *const actions[] = {"check", "export", "merge"};
enum { ACTIONS = sizeof actions / sizeof *actions };

static pbd_status take_action(int argc, char **argv, db_options *o) {
    if (optind >= argc)
        return pbd_error(PBD_BAD_INPUT, "db needs one of check, export, merge: see `pbdbench db --help`");
    o->action = argv[optind];
    o->from = argv + optind + 1;
    o->froms = argc - optind - 1;
    bool known = false;
    for (size_t i = 0; i < ACTIONS; i++) known = known || strcmp(o->action, actions[i]) == 0;
    if (!known) return pbd_unknown("action", o->action, actions, ACTIONS, "pbdbench db --help");
    const bool merge = strcmp(o->action, "merge") == 0;
    if (merge && o->froms == 0) return pbd_error(PBD_BAD_INPUT, "merge needs a store or an export to take runs from");
    if (!merge && o->froms > 0)
        return pbd_error(PBD_BAD_INPUT, "'%.60s' is one word too many: name the store with --db", o->from[0]);
    if (o->out != NULL && strcmp(o->action, "export") != 0)
        return pbd_error(PBD_BAD_INPUT, "--out goes with export only");
    return pbd_ok();
}

static pbd_status take_options(int argc, char **argv, db_options *o) {
    static const struct option options[] = {{"db", required_argument, NULL, 'd'}, {"out", required_argument, NULL, 'o'},
                                            {"json", no_argument, NULL, 'j'},     {"quiet", no_argument, NULL, 'q'},
                                            {"help", no_argument, NULL, 'h'},     {0}};
    for (int option; (option = getopt_long(argc, argv, "o:qh", options, NULL)) != -1;) {
        switch (option) {
            case 'd':
                o->db = optarg;
                break;
            case 'o':
                o->out = optarg;
                break;
            case 'j':
                o->json = true;
                break;
            case 'q':
                o->quiet = true;
                break;
            case 'h':
                o->help = true;
                return pbd_ok();
            default:
                return pbd_error(PBD_BAD_INPUT, "see `pbdbench db --help`");
        }
    }
    return take_action(argc, argv, o);
}

static void print_object(json_t *object) {
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    puts(text != NULL ? text : "{}");
    free(text);
    json_decref(object);
}

/* ---- check ------------------------------------------------------------------------------------------------------- */

static size_t count_runs(pbd_store *store) {
    sqlite3_stmt *stmt = NULL;
    size_t runs = 0;
    if (sqlite3_prepare_v2(pbd_store_sql(store), "SELECT count(*) FROM run", -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        runs = (size_t)sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return runs;
}

/* The problems' lines as an array of strings. */
static json_t *lines_json(char *text) {
    json_t *lines = json_array();
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (*line != '\0') json_array_append_new(lines, json_string(line));
    }
    return lines;
}

static pbd_status check(pbd_store *store, const db_options *o, int *exit_code) {
    char *says = NULL;
    size_t bytes = 0, problems = 0;
    FILE *out = open_memstream(&says, &bytes);
    if (out == NULL) return pbd_error(PBD_FAILED, "out of memory");
    const pbd_status status = pbd_store_check(store, out, &problems);
    fclose(out);
    if (status.code == PBD_OK) {
        const size_t runs = count_runs(store);
        if (o->json) {
            print_object(json_pack("{sI sI so}", "runs", (json_int_t)runs, "problems", (json_int_t)problems, "says",
                                   lines_json(says)));
        } else {
            fputs(says, stdout);
            if (!o->quiet)
                printf("%s: %zu run%s, %zu problem%s\n", pbd_store_path(store), runs, runs == 1 ? "" : "s", problems,
                       problems == 1 ? "" : "s");
        }
        if (problems > 0) *exit_code = PBD_EXIT_VALIDATION;
    }
    free(says);
    return status;
}

/* ---- export ------------------------------------------------------------------------------------------------------ */

/* Opening the store itself to write the export to would empty it. */
static bool is_same_file(const char *a, const char *b) {
    struct stat one, two;
    return stat(a, &one) == 0 && stat(b, &two) == 0 && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

static pbd_status export_runs(pbd_store *store, const db_options *o) {
    if (o->out != NULL && is_same_file(o->out, pbd_store_path(store)))
        return pbd_error(PBD_BAD_INPUT, "'%s' is the store itself: export to another file", o->out);
    FILE *out = o->out != NULL ? fopen(o->out, "w") : stdout;
    if (out == NULL) return pbd_error(PBD_BAD_INPUT, "'%s' cannot be written: %s", o->out, strerror(errno));
    size_t runs;
    pbd_status status = pbd_store_export(store, out, &runs);
    if (o->out != NULL && fclose(out) != 0 && status.code == PBD_OK)
        status = pbd_error(PBD_BAD_INPUT, "'%s' cannot be written: %s", o->out, strerror(errno));
    if (status.code == PBD_OK && o->out != NULL && !o->quiet)
        fprintf(stderr, "pbdbench: %zu run%s to '%s'\n", runs, runs == 1 ? "" : "s", o->out);
    return status;
}

/* ---- merge ------------------------------------------------------------------------------------------------------- */

static pbd_status merge(pbd_store *store, const db_options *o) {
    size_t added = 0, known = 0;
    for (int i = 0; i < o->froms; i++) {
        size_t a, k;
        PBD_TRY(pbd_store_merge(store, o->from[i], &a, &k));
        added += a;
        known += k;
    }
    if (o->json) {
        print_object(json_pack("{sI sI}", "added", (json_int_t)added, "known", (json_int_t)known));
    } else if (!o->quiet) {
        printf("%s: %zu run%s added, %zu already there\n", pbd_store_path(store), added, added == 1 ? "" : "s", known);
    }
    return pbd_ok();
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

static pbd_status act(const db_options *o, int *exit_code) {
    char *path = pbd_db_path(o->db);
    if (path == NULL) return pbd_error(PBD_FAILED, "out of memory");
    const bool writes = strcmp(o->action, "merge") == 0;
    pbd_store *store = NULL;
    pbd_status status = pbd_store_open(path, writes ? PBD_STORE_WRITE : PBD_STORE_READ, &store);
    if (status.code == PBD_OK) {
        if (writes) {
            status = merge(store, o);
        } else if (strcmp(o->action, "export") == 0) {
            status = export_runs(store, o);
        } else {
            status = check(store, o, exit_code);
        }
    }
    pbd_store_close(store);
    free(path);
    return status;
}

int pbd_verb_db(int argc, char **argv) {
    db_options o = {0};
    int exit_code = PBD_EXIT_OK;
    pbd_status status = take_options(argc, argv, &o);
    if (status.code == PBD_OK && o.help) return print_help();
    if (status.code == PBD_OK) status = act(&o, &exit_code);
    return status.code == PBD_OK ? exit_code : pbd_complain(status);
}
