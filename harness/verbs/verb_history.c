/* history: how errors and times changed from build to build. */
#include <stdlib.h>
#include <string.h>

#include "harness/trend/history.h"
#include "harness/verbs/cli.h"

enum { MOST_SETTINGS = 32, NEWEST_CELLS = 25 };

typedef struct history_options {
    const char *db, *case_name, *method, *metric, *machine, *out;
    pbd_texts sets;
    long long seed;
    bool all, points, json;
    pbd_setting setting[MOST_SETTINGS];
    size_t settings;
} history_options;

static const pbd_option table[] = {
    PBD_OPT_TEXT(history_options, case_name, "case", 'c', "CASE", PBD_WORDS_CASES, "only this case"),
    PBD_OPT_TEXT(history_options, method, "method", 'm', "METHOD", PBD_WORDS_METHODS, "only this method"),
    PBD_OPT_MANY(history_options, sets, "set", 's', "KEY=VALUE", PBD_WORDS_SETTINGS, "only cells with this value"),
    PBD_OPT_TEXT(history_options, metric, "metric", 0, "NAME", PBD_WORDS_NONE,
                 "any metric or count; default: errors, solve_cpu and solve_wall"),
    PBD_OPT_TEXT(history_options, machine, "machine", 0, "DIGITS", PBD_WORDS_NONE,
                 "only this machine: the first digits of its fingerprint, 4 at least"),
    PBD_OPT_FLAG(history_options, all, "all", 0, "every cell that fits; default: the 25 most recent"),
    PBD_OPT_FLAG(history_options, points, "points", 0, "also prints every point"),
    PBD_OPT_TEXT(history_options, out, "out", 'o', "FILE", PBD_WORDS_FILES,
                 "draws the history into a .png, .svg or .pdf; there must be exactly one"),
    PBD_OPT_INTEGER(history_options, seed, "seed", 0, 0, 9e15, "of the permutation tests; default 1"),
    PBD_OPTION_DB(history_options),
    PBD_OPTION_JSON(history_options, "one array of histories with points and steps"),
    {0}};

static pbd_status take_words(const pbd_texts *words, history_options *o) {
    if (words->count > 0)
        return pbd_error(PBD_BAD_INPUT, "history takes no argument, got '%.60s': --case selects a case",
                         words->item[0]);
    if (o->sets.count > MOST_SETTINGS) return pbd_error(PBD_BAD_INPUT, "history takes at most %d -s", MOST_SETTINGS);
    for (; o->settings < o->sets.count; o->settings++)
        PBD_TRY(pbd_setting_parse(o->sets.item[o->settings], &o->setting[o->settings]));
    const pbd_case *c;
    const pbd_method_entry *m;
    if (o->case_name) PBD_TRY(pbd_find_case(o->case_name, &c));
    if (o->method) PBD_TRY(pbd_find_method(o->method, &m));
    return pbd_ok();
}

static pbd_status draw(const pbd_histories *histories, const char *path) {
    if (histories->count == 1) return pbd_history_draw(&histories->item[0], path);
    return pbd_error(PBD_BAD_INPUT,
                     "%zu histories, but a chart takes one; select it with --case, --method, -s and --metric",
                     histories->count);
}

static pbd_status show(pbd_store *store, const history_options *o) {
    const pbd_history_query query = {.case_name = o->case_name,
                                     .method = o->method,
                                     .metric = o->metric,
                                     .machine = o->machine,
                                     .setting = o->setting,
                                     .settings = o->settings,
                                     .most_cells = o->all ? 0 : NEWEST_CELLS,
                                     .seed = (uint64_t)o->seed};
    pbd_histories histories;
    PBD_TRY(pbd_histories_load(store, &query, &histories));
    pbd_status status = o->out ? draw(&histories, o->out) : pbd_ok();
    if (status.code == PBD_OK && o->json)
        pbd_histories_json(&histories, stdout);
    else if (status.code == PBD_OK)
        pbd_histories_print(&histories, o->points, stdout);
    pbd_histories_free(&histories);
    return status;
}

static pbd_status open_and_show(const history_options *o) {
    char *path = pbd_db_path(o->db);
    pbd_store *store = NULL;
    pbd_status status = path ? pbd_store_open(path, PBD_STORE_READ, &store) : pbd_error(PBD_FAILED, "out of memory");
    if (status.code == PBD_OK) status = show(store, o);
    pbd_store_close(store);
    free(path);
    return status;
}

static int verb_main(int argc, char **argv) {
    history_options o = {.seed = 1};
    pbd_texts words;
    bool help;
    pbd_status status = pbd_options_parse("history", table, argc, argv, &o, &words, &help);
    if (status.code == PBD_OK && !help) status = take_words(&words, &o);
    if (status.code == PBD_OK && !help) status = open_and_show(&o);
    for (size_t i = 0; i < o.settings; i++) pbd_setting_free(&o.setting[i]);
    pbd_texts_free(&o.sets);
    pbd_texts_free(&words);
    if (status.code != PBD_OK) return pbd_complain(status);
    return help ? pbd_verb_help(&pbd_verb_history) : PBD_EXIT_OK;
}

const pbd_verb pbd_verb_history = {
    .name = "history",
    .summary = "how errors and times changed from build to build",
    .usage = "history [--case CASE] [-m METHOD] [-s key=value]... [--metric NAME] [options]",
    .about =
        "One history per cell, metric, machine and build preset: a point is a build (its median over runs), a step is\n"
        "where the level changed permanently. Levels are the best fit of piecewise constant medians, their number is\n"
        "chosen by BIC, and a permutation test confirms each step (p at most 0.01): five builds on either side\n"
        "suffice, or a single one if there is no noise.",
    .options = table,
    .main = verb_main,
};
