/* engine: tests a method in a process of its own. */
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/verbs/check_report.h"
#include "harness/verbs/cli.h"
#include "harness/verbs/engine_gate.h"

typedef struct engine_options {
    const char *case_name;
    bool gate, json, quiet;
    pbd_texts sets;
} engine_options;

static const pbd_option table[] = {
    PBD_OPT_TEXT(engine_options, case_name, "case", 'c', "CASE", PBD_WORDS_CASES,
                 "the checks of the contract on this case alone; default: on all that fit"),
    PBD_OPT_FLAG(engine_options, gate, "gate", 0, "the admission gate alone"),
    PBD_OPT_MANY(engine_options, sets, "set", 's', "KEY=VALUE", PBD_WORDS_SETTINGS,
                 "a parameter of the engine for the gate: iterations, damping..."),
    PBD_OPTION_JSON(engine_options,
                    "one object {file, name, failed, checks: [{method, case, check, verdict, says}]};\n"
                    "checks of the gate also have measured, wanted and tolerance"),
    PBD_OPTION_QUIET(engine_options, "only failures"),
    {0}};

static pbd_status take_words(const pbd_texts *words, const engine_options *o) {
    static const char *const verbs[] = {"check"};
    if (words->count == 0) return pbd_error(PBD_BAD_INPUT, "engine needs an action: `pbdbench engine check FILE`");
    if (strcmp(words->item[0], "check") != 0)
        return pbd_unknown("engine action", words->item[0], verbs, 1, "pbdbench engine --help");
    if (words->count == 1) return pbd_error(PBD_BAD_INPUT, "engine check needs a file: the engine.yaml");
    if (words->count > 2)
        return pbd_error(PBD_BAD_INPUT, "engine check takes one file; '%.60s' is an extra argument", words->item[2]);
    if (o->gate && o->case_name) return pbd_error(PBD_BAD_INPUT, "--gate leaves out the cases: give it without --case");
    return pbd_ok();
}

static pbd_status check_both(const engine_options *o, const pbd_plugin *plugin, const pbd_case *only,
                             pbd_check_report *r, size_t *failed) {
    pbd_settings settings PBD_CLEANUP(pbd_settings_free) = {0};
    size_t of_gate = 0;
    PBD_TRY(pbd_settings_parse(o->sets.item, o->sets.count, &settings));
    PBD_TRY(pbd_check_report_begin(o->json, o->quiet, plugin, r));
    PBD_TRY(pbd_engine_gate(pbd_plugin_method_at(plugin, 0), &settings, pbd_check_report_take, r, &of_gate));
    if (!o->gate) PBD_TRY(pbd_check_plugin(plugin, only, pbd_check_report_take, r, failed));
    *failed += of_gate;
    return pbd_check_report_end(r, plugin);
}

static pbd_status act(void *options, pbd_call *call) {
    const engine_options *o = options;
    pbd_check_report r PBD_CLEANUP(pbd_check_report_free) = {0};
    const pbd_case *only = NULL;
    const pbd_method_entry *entry = NULL;
    size_t failed = 0;
    PBD_TRY(take_words(call->words, o));
    if (o->case_name) PBD_TRY(pbd_find_case(o->case_name, &only));
    pbd_catch_interrupts();
    const size_t before = pbd_method_count();
    PBD_TRY(pbd_engines_load(&(pbd_texts){&call->words->item[1], 1}));
    if (pbd_method_count() > before)
        entry = pbd_method_at(before); /* of the file; methods of $PBDBENCH_ENGINES come after it */
    if (!entry) return pbd_error(PBD_FAILED, "'%.200s' brought no method", call->words->item[1]);
    PBD_TRY(check_both(o, entry->plugin, only, &r, &failed));
    if (failed) call->exit_code = PBD_EXIT_VALIDATION;
    return pbd_ok();
}

static int verb_main(int argc, char **argv) {
    engine_options o = {0};
    return pbd_verb_call(&pbd_verb_engine, argc, argv, &o, act);
}

const pbd_verb pbd_verb_engine = {
    .name = "engine",
    .summary = "test a method in a process of its own",
    .usage = "engine check FILE [--gate | --case CASE] [-s KEY=VALUE]... [--json] [-q]",
    .about =
        "An engine is a method in a process of its own, in any language. Starts it and makes, first, the\n"
        "admission gate: free fall; E and nu of one tetrahedron; the mean deflection and the first frequency of\n"
        "a cantilever at a small step, against finite elements on the same mesh with the same masses; the\n"
        "height of still water, of engines that take liquids. A wrong mapping of a material shows there. Then\n"
        "every check of `plugin check` on each case that fits.",
    .more =
        "An engine.yaml:\n"
        "\n"
        "  name: mine\n"
        "  what: \"one line\"\n"
        "  source: who made it, and where it is\n"
        "  licence: MIT\n"
        "  command: [python3, mine.py]        # run in the folder of this file, without a shell\n"
        "  environment: [PYTHONPATH=python]   # beside the program's own\n\n"
        "`run`, `sweep`, `list`, `bench` and `compare` take it with --engine FILE, or from the variable\n"
        "PBDBENCH_ENGINES (files and folders, separated by ':'). examples/engines has the protocol, a package for\n"
        "Python, a header for C++ and adapters; `list engines` shows what was found.\n"
        "\n"
        "Exit 3 when a check fails, 2 when the engine cannot be used at all.",
    .options = table,
    .words = PBD_WORDS_CHOICES,
    .choices = "check",
    .main = verb_main,
};
