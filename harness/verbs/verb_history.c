/* history: how errors and times changed from build to build. */
#include <stdlib.h>
#include <string.h>

#include "harness/trend/history.h"
#include "harness/verbs/cli.h"

enum { NEWEST_CELLS = 25 };

typedef struct history_options {
    const char *db, *case_name, *method, *metric, *machine, *out;
    pbd_texts sets;
    long long seed;
    bool all, points, json;
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

static pbd_status check_words(const pbd_texts *words, const history_options *o) {
    if (words->count > 0)
        return pbd_error(PBD_BAD_INPUT, "history takes no argument, got '%.60s': --case selects a case",
                         words->item[0]);
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

static pbd_status act(void *options, pbd_call *call) {
    const history_options *o = options;
    pbd_settings settings PBD_CLEANUP(pbd_settings_free) = {0};
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    pbd_histories histories PBD_CLEANUP(pbd_histories_free) = {0};
    PBD_TRY(check_words(call->words, o));
    PBD_TRY(pbd_settings_parse(o->sets.item, o->sets.count, &settings));
    const pbd_history_query query = {.case_name = o->case_name,
                                     .method = o->method,
                                     .metric = o->metric,
                                     .machine = o->machine,
                                     .setting = settings.item,
                                     .settings = settings.count,
                                     .most_cells = o->all ? 0 : NEWEST_CELLS,
                                     .seed = (uint64_t)o->seed};
    PBD_TRY(pbd_open_store(o->db, PBD_STORE_READ, &store));
    PBD_TRY(pbd_histories_load(store, &query, &histories));
    if (o->out) PBD_TRY(draw(&histories, o->out));
    if (o->json)
        pbd_histories_json(&histories, stdout);
    else
        PBD_TRY(pbd_histories_print(&histories, o->points, stdout));
    return pbd_ok();
}

static int verb_main(int argc, char **argv) {
    history_options o = {.seed = 1};
    return pbd_verb_call(&pbd_verb_history, argc, argv, &o, act);
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
