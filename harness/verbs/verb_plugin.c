/* plugin: tests a shared library with methods. */
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/verbs/check_report.h"
#include "harness/verbs/cli.h"

typedef struct plugin_options {
    bool json, quiet;
} plugin_options;

static const pbd_option table[] = {
    PBD_OPTION_JSON(plugin_options, "one object {file, name, failed, checks: [{method, case, check, verdict, says}]}"),
    PBD_OPTION_QUIET(plugin_options, "only failures"),
    {0}};

static pbd_status check(const char *path, const plugin_options *o, pbd_check_report *r, size_t *failed) {
    const pbd_plugin *plugin;
    PBD_TRY(pbd_plugin_load(path, &plugin));
    PBD_TRY(pbd_check_report_begin(o->json, o->quiet, plugin, r));
    PBD_TRY(pbd_check_plugin(plugin, NULL, pbd_check_report_take, r, failed));
    return pbd_check_report_end(r, plugin);
}

static pbd_status take_words(const pbd_texts *words) {
    static const char *const verbs[] = {"check"};
    if (words->count == 0 || strcmp(words->item[0], "check") != 0)
        return words->count == 0 ? pbd_error(PBD_BAD_INPUT, "plugin needs an action: `pbdbench plugin check FILE`")
                                 : pbd_unknown("plug-in action", words->item[0], verbs, 1, "pbdbench plugin --help");
    if (words->count == 1) return pbd_error(PBD_BAD_INPUT, "plugin check needs a file: the shared library");
    if (words->count > 2)
        return pbd_error(PBD_BAD_INPUT, "plugin check takes one file; '%.60s' is an extra argument", words->item[2]);
    return pbd_ok();
}

static pbd_status act(void *options, pbd_call *call) {
    pbd_check_report r PBD_CLEANUP(pbd_check_report_free) = {0};
    size_t failed = 0;
    PBD_TRY(take_words(call->words));
    pbd_catch_interrupts();
    PBD_TRY(check(call->words->item[1], options, &r, &failed));
    if (failed) call->exit_code = PBD_EXIT_VALIDATION;
    return pbd_ok();
}

static int verb_main(int argc, char **argv) {
    plugin_options o = {0};
    return pbd_verb_call(&pbd_verb_plugin, argc, argv, &o, act);
}

const pbd_verb pbd_verb_plugin = {
    .name = "plugin",
    .summary = "test a method in a shared library",
    .usage = "plugin check FILE [--json] [-q]",
    .about =
        "Loads a shared library with methods and runs every test that does not depend on the method, each in a\n"
        "separate process. The tables must be complete. On each case that provides what the method needs, it must be\n"
        "created and destroyed, leave the scene unchanged, move, give one result from one saved state and for any\n"
        "number of threads, agree between f32 and f64 and between cpu and emu, stay at rest without load, be\n"
        "independent of position and orientation, and complete a run.",
    .more =
        "Such a library is written in C against an installed or built pbdbench; examples/plugin is a complete "
        "example:\n"
        "\n"
        "  find_package(pbdbench REQUIRED)\n"
        "  pbdbench_add_plugin(mine mine.c)\n\n"
        "`run`, `sweep`, `list`, `bench`, `compare` and `gate` load it with --plugin FILE, or from the variable\n"
        "PBDBENCH_PLUGINS (files, separated by ':'). Each run is then made in a separate process:\n"
        "a crash is stored as a failed run, with the place where it happened.\n"
        "\n"
        "Exit 3 when a check fails, 2 when the library cannot be used at all.",
    .options = table,
    .words = PBD_WORDS_CHOICES,
    .choices = "check",
    .main = verb_main,
};
