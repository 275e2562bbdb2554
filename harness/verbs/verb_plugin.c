/* plugin: tests a shared library with methods. */
#include <jansson.h>
#include <string.h>

#include "harness/verbs/cli.h"
#include "harness/verbs/plugin_check.h"

typedef struct plugin_options {
    bool json, quiet;
} plugin_options;

static const pbd_option table[] = {
    PBD_OPTION_JSON(plugin_options, "one object {file, name, failed, checks: [{method, case, check, verdict, says}]}"),
    PBD_OPTION_QUIET(plugin_options, "only failures"),
    {0}};

static const char *const verdicts[] = {
    [PBD_CHECK_PASS] = "pass", [PBD_CHECK_FAIL] = "fail", [PBD_CHECK_SKIPPED] = "skipped"};

typedef struct report {
    const plugin_options *options;
    json_t *checks; /* NULL: lines */
    size_t count[3];
} report;

static void observe(void *context, const pbd_check *c) {
    report *r = context;
    r->count[c->verdict]++;
    if (r->checks) {
        json_array_append_new(r->checks,
                              json_pack("{s:s, s:s, s:s, s:s, s:s}", "method", c->method, "case", c->case_name, "check",
                                        c->name, "verdict", verdicts[c->verdict], "says", c->says));
        return;
    }
    if (r->options->quiet && c->verdict != PBD_CHECK_FAIL) return;
    printf("%-8s %s %-14s %-12s %s\n", verdicts[c->verdict], c->method, c->case_name, c->name, c->says);
    fflush(stdout);
}

static pbd_status check(const char *path, report *r, size_t *failed) {
    const pbd_plugin *plugin;
    PBD_TRY(pbd_plugin_load(path, &plugin));
    if (!r->checks && !r->options->quiet) printf("%s: %s\n", pbd_plugin_path(plugin), pbd_plugin_label(plugin));
    PBD_TRY(pbd_check_plugin(plugin, observe, r, failed));
    if (!r->checks) {
        printf("%zu passed, %zu failed, %zu skipped\n", r->count[PBD_CHECK_PASS], r->count[PBD_CHECK_FAIL],
               r->count[PBD_CHECK_SKIPPED]);
        return pbd_ok();
    }
    json_auto_t *all = json_pack("{s:s, s:s, s:I, s:O}", "file", pbd_plugin_path(plugin), "name",
                                 pbd_plugin_label(plugin), "failed", (json_int_t)*failed, "checks", r->checks);
    if (!all) return pbd_no_memory();
    json_dumpf(all, stdout, JSON_INDENT(1));
    putchar('\n');
    return pbd_ok();
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
    const plugin_options *o = options;
    json_auto_t *checks = o->json ? json_array() : NULL;
    report r = {.options = o, .checks = checks};
    size_t failed = 0;
    PBD_TRY(take_words(call->words));
    pbd_catch_interrupts();
    PBD_TRY(check(call->words->item[1], &r, &failed));
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
