/* list: list methods, cases, figures, backends or runs; with --json an array of {name, summary, source, available,
 * reason}. `list runs`: the newest stored runs. `list pairs`: which methods run which cases. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cases/scene/scene.h"
#include "harness/catalog/conditions.h"
#include "harness/catalog/plugin.h"
#include "harness/compare/gate.h"
#include "harness/engine/engine_file.h"
#include "harness/exec/arena.h"
#include "harness/figure/figure_file.h"
#include "harness/figure/figures.h"
#include "harness/figure/findings_page.h"
#include "harness/figure/papers.h"
#include "harness/files/yaml_fields.h"
#include "harness/process/interrupt.h"
#include "harness/query/list_runs.h"
#include "harness/rank/problems.h"
#include "harness/run/pairs.h"
#include "harness/verbs/cli.h"

typedef struct listing {
    json_t *array; /* NULL: print lines */
    bool first;
} listing;

/* Prints or collects one entry; `extra` (owned) may be NULL. */
static void emit(listing *l, const char *name, const char *summary, const char *source, bool available,
                 const char *reason, json_t *extra) {
    if (!l->array) {
        printf("  %-20s %s%s%s%s\n", name, summary, available ? "" : "  [", available ? "" : reason,
               available ? "" : "]");
        json_decref(extra);
        return;
    }
    json_t *entry = json_pack("{s:s, s:s, s:s, s:b, s:s}", "name", name, "summary", summary, "source", source,
                              "available", available, "reason", reason);
    if (extra) json_object_update(entry, extra);
    json_decref(extra);
    json_array_append_new(l->array, entry);
}

static void heading(listing *l, const char *title) {
    if (l->array) return;
    printf("%s%s\n", l->first ? "" : "\n", title);
    l->first = false;
}

static json_t *names_of_mask(unsigned mask, const char *const *names, int count) {
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        if (mask & 1u << i) json_array_append_new(array, json_string(names[i]));
    return array;
}

static json_t *params_json(const pbd_param *params) {
    static const char *const kinds[] = {"real", "integer", "choice", "text", "file"};
    json_t *array = json_array();
    for (; params && params->name; params++) {
        const size_t when = pbd_condition_length(params->doc);
        json_t *row = json_pack("{s:s, s:s, s:s, s:s?, s:s, s:s%}", "name", params->name, "unit", params->unit, "kind",
                                kinds[params->kind], "default", pbd_param_is_asked(params) ? NULL : params->preset,
                                "doc", params->doc, "when", params->doc, when);
        json_array_append_new(array, row); /* default null: it must be given */
    }
    return array;
}

/* The line names backends on which the method does not run; its README gives the reason. */
static void emit_method(listing *l, const pbd_method *m, json_t *extra) {
    char summary[400];
    const char *only = m->backends & PBD_CUDA ? "" : m->backends & PBD_EMU ? "  [cpu and emu only]" : "  [cpu only]";
    const char *solved = m->residual ? "" : "  [explicit or direct: no residual]";
    snprintf(summary, sizeof summary, "%s%s%s", m->summary, l->array ? "" : only, l->array ? "" : solved);
    emit(l, m->name, summary, m->source, true, "", extra);
}

static void list_methods(listing *l) {
    static const char *const backends[] = {"cpu", "emu", "cuda"}, *const precisions[] = {"f32", "f64"};
    heading(l, "methods");
    for (size_t i = 0; i < pbd_method_count(); i++) {
        const pbd_method *m = pbd_method_at(i)->by_precision[PBD_PRECISION_F64];
        const pbd_plugin *plugin = pbd_method_at(i)->plugin;
        json_t *extra = json_pack(
            "{s:o, s:o, s:o, s:s?, s:s?, s:s?}", "backends", names_of_mask(m->backends, backends, 3), "precisions",
            names_of_mask(m->precisions, precisions, 2), "params", params_json(m->params), "plugin",
            plugin ? pbd_plugin_path(plugin) : NULL, "residual", m->residual, "unconverged", m->unconverged);
        emit_method(l, m, extra);
    }
}

static json_t *engine_json(const pbd_plugin *plugin) {
    const pbd_engine_about about = pbd_engine_says(pbd_plugin_engine(plugin));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "engine", about.engine, "version", about.version,
                     "device", about.device, "precision", about.precision, "masses", about.masses, "integrator",
                     about.integrator, "licence", about.licence, "file", pbd_plugin_path(plugin), "hash",
                     pbd_plugin_hash(plugin));
}

static void list_engines(listing *l) {
    const pbd_missing_method *missing;
    const size_t absent = pbd_missing_methods(&missing);
    heading(l, "engines");
    for (size_t i = 0; i < pbd_method_count(); i++) {
        const pbd_method *m = pbd_method_at(i)->by_precision[PBD_PRECISION_F64];
        const pbd_plugin *plugin = pbd_method_at(i)->plugin;
        char summary[400];
        if (!plugin || !pbd_plugin_engine(plugin)) continue;
        const pbd_engine_about about = pbd_engine_says(pbd_plugin_engine(plugin));
        snprintf(summary, sizeof summary, "%s  [%s, %s, %s]", m->summary, pbd_plugin_label(plugin), about.precision,
                 about.licence);
        emit(l, m->name, l->array ? m->summary : summary, m->source, true, "", engine_json(plugin));
    }
    for (size_t i = 0; i < absent; i++)
        emit(l, missing[i].name, "", "", false, missing[i].reason, json_pack("{s:s}", "file", missing[i].path));
}

static void list_cases(listing *l) {
    heading(l, "cases");
    for (size_t i = 0; i < pbd_case_count(); i++) {
        const pbd_case *c = pbd_case_at(i);
        emit(l, c->name, c->summary, c->source, true, "", json_pack("{s:o}", "params", params_json(c->params)));
    }
}

static void list_backends(listing *l) {
    heading(l, "backends");
    for (int i = 0; i < PBD_BACKEND_COUNT; i++) {
        const pbd_backend_entry b = pbd_backend_at((pbd_backend)i);
        emit(l, b.name, b.summary, "", b.available, b.reason, NULL);
    }
}

/* {method: ["key=value"...]} of the paper's settings. */
static json_t *settings_json(const pbd_paper *paper) {
    json_t *all = json_object();
    for (unsigned i = 0; paper && i < paper->settings_count; i++) {
        json_t *words = json_array();
        for (unsigned k = 0; k < paper->settings[i].set_count; k++)
            json_array_append_new(words, json_string(paper->settings[i].set[k]));
        json_object_set_new(all, paper->settings[i].method, words);
    }
    return all;
}

/* {key: reason} of settings that differ from those of the paper's other figures; NULL if the file cannot be read. */
static json_t *differences_json(const pbd_figure_entry *f) {
    pbd_figure_file *file = NULL;
    if (!f->available || pbd_figure_load(f->id, &file).code != PBD_OK) return NULL;
    json_t *all = json_object();
    for (unsigned i = 0; i < file->differs_count; i++)
        json_object_set_new(all, file->differs[i].key, json_string(file->differs[i].because));
    pbd_figure_file_free(file);
    return all;
}

static void release(pbd_papers **papers) { pbd_papers_free(*papers); }

static pbd_status list_figures(listing *l) {
    pbd_figure_list figures PBD_CLEANUP(pbd_figure_list_free) = {0};
    pbd_papers *papers PBD_CLEANUP(release) = NULL;
    PBD_TRY(pbd_list_figures(&figures));
    PBD_TRY(pbd_papers_load(&papers));
    heading(l, "figures");
    for (size_t i = 0; i < figures.count; i++) {
        const pbd_figure_entry *f = &figures.item[i];
        json_t *extra = l->array ? json_pack("{s:o, s:o?}", "settings", settings_json(pbd_paper_of(papers, f->paper)),
                                             "differs", differences_json(f))
                                 : NULL;
        emit(l, f->id, f->shows, f->paper, f->available, f->reason, extra);
    }
    return pbd_ok();
}

static pbd_status list_parts(bool json, const bool *wanted) {
    json_auto_t *array = json ? json_array() : NULL;
    listing l = {.first = true, .array = array};
    if (wanted[0]) list_methods(&l);
    if (wanted[1]) list_cases(&l);
    if (wanted[2]) PBD_TRY(list_figures(&l));
    if (wanted[3]) list_backends(&l);
    if (wanted[4]) list_engines(&l);
    if (!array) return pbd_ok();
    json_dumpf(array, stdout, JSON_INDENT(1));
    putchar('\n');
    return pbd_ok();
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

typedef struct list_options {
    const char *db, *case_name, *method, *state;
    long long last;
    bool json, markdown;
    pbd_texts plugins, engines;
} list_options;

enum { DEFAULT_LAST = 20, MOST_LAST = 100000 };

static const pbd_option table[] = {
    PBD_OPTION_JSON(list_options,
                    "one array of objects {name, summary, source, available, reason}; methods\n"
                    "also have backends, precisions, params, plugin (its file, or null), residual\n"
                    "(the norm of residual_left; null: explicit or direct) and unconverged (why a\n"
                    "large one is not warned of, or null), cases params; engines have engine,\n"
                    "version, device, precision, masses, integrator, licence, file, hash; runs are\n"
                    "{run_id, kind, started_at, state, says, case, method, params, errors, time_s};\n"
                    "problems are {name, summary, case, kind, set, metric, error, target, uncertainty,\n"
                    "tolerance, reference, quick, methods, left_out};\n"
                    "pairs are {case, method, state, reason, ends, why}: ends and why are null where\n"
                    "the pair is refused"),
    PBD_OPT_FLAG(list_options, markdown, "markdown", 0,
                 "figures: with accepted verdicts and what was found, the page plots/README.md"),
    PBD_OPT_TEXT(list_options, case_name, "case", 'c', "CASE", PBD_WORDS_CASES, "runs and pairs: only of this case"),
    PBD_OPT_TEXT(list_options, method, "method", 'm', "METHOD", PBD_WORDS_METHODS,
                 "runs and pairs: only of this method"),
    PBD_OPT_CHOICE(list_options, state, "state", 0, "STATE", PBD_RUN_STATES, "runs: only those with this state"),
    PBD_OPT_INTEGER(list_options, last, "last", 0, 1, MOST_LAST, "runs: how many, the newest first; default 20"),
    PBD_OPTION_PLUGIN(list_options),
    PBD_OPTION_ENGINE(list_options),
    PBD_OPT_TEXT(list_options, db, "db", 0, "FILE", PBD_WORDS_FILES, "runs: the store; default results/pbdbench.db"),
    {0}};

static pbd_status list_runs(const list_options *o) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    const pbd_run_query query = {.case_name = o->case_name,
                                 .method = o->method,
                                 .state = o->state,
                                 .last = o->last ? (size_t)o->last : DEFAULT_LAST};
    PBD_TRY(pbd_open_store(o->db, PBD_STORE_READ, &store));
    return pbd_list_runs(store, &query, o->json, stdout);
}

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

typedef struct pair_list {
    json_t *array; /* NULL: print lines */
    size_t pairs, fit;
    pbd_built_scene built; /* of the case that is being listed */
} pair_list;

static void end_pairs(pair_list *l) { pbd_built_scene_free(&l->built); }

static pbd_status list_pair(const pbd_case *c, const pbd_method_entry *method, pair_list *l) {
    pbd_pair_state state;
    pbd_status reason;
    const char *name = method->by_precision[PBD_PRECISION_F64]->name;
    if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "interrupted after %zu pairs", l->pairs);
    PBD_TRY(pbd_check_pair(c, method, &l->built, &state, &reason));
    l->pairs++;
    l->fit += state == PBD_PAIR_FITS;
    const pbd_pair_end end = state == PBD_PAIR_REFUSED ? (pbd_pair_end){NULL, NULL} : pbd_end_of_pair(c, method);
    if (!l->array) {
        const bool other = end.why && *end.why; /* in another state than ok */
        printf("%-17s %-15s %s%s%s", c->name, name, pbd_pair_state_name(state), *reason.text ? ": " : "", reason.text);
        printf("%s%s%s%s\n", other ? "; ends " : "", other ? end.state : "", other ? ": " : "", other ? end.why : "");
        return pbd_ok();
    }
    json_t *pair = json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s?}", "case", c->name, "method", name, "state",
                             pbd_pair_state_name(state), "reason", reason.text, "ends", end.state, "why", end.why);
    return json_array_append_new(l->array, pair) == 0 ? pbd_ok() : pbd_no_memory();
}

static pbd_status list_pairs(const list_options *o) {
    json_auto_t *array = o->json ? json_array() : NULL;
    pair_list l PBD_CLEANUP(end_pairs) = {.array = array};
    const pbd_case *one_case = NULL;
    const pbd_method_entry *one_method = NULL;
    if (o->case_name) PBD_TRY(pbd_find_case(o->case_name, &one_case));
    if (o->method) PBD_TRY(pbd_find_method(o->method, &one_method));
    pbd_catch_interrupts();
    for (size_t i = 0; i < pbd_case_count(); i++)
        for (size_t k = 0; k < pbd_method_count(); k++) {
            if ((one_case && pbd_case_at(i) != one_case) || (one_method && pbd_method_at(k) != one_method)) continue;
            PBD_TRY(list_pair(pbd_case_at(i), pbd_method_at(k), &l));
        }
    if (array) json_dumpf(array, stdout, JSON_INDENT(1));
    if (array) putchar('\n');
    if (!array) printf("%zu of %zu pairs fit\n", l.fit, l.pairs);
    return pbd_ok();
}

/* ---- Problems ---------------------------------------------------------------------------------------------------- */

static json_t *texts_json(char *const *text, unsigned count) {
    json_t *array = json_array();
    for (unsigned i = 0; i < count; i++) json_array_append_new(array, json_string(text[i]));
    return array;
}

static json_t *left_out_json(const pbd_left_out *item, unsigned count) {
    json_t *array = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(array, json_pack("{s:s, s:s}", "name", item[i].name, "because", item[i].because));
    return array;
}

static json_t *problem_json(const pbd_problem *p) {
    json_t *methods = json_array();
    char error[120];
    pbd_problem_error_name(p, error, sizeof error);
    for (unsigned i = 0; i < p->methods_count; i++) json_array_append_new(methods, json_string(p->methods[i].method));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:f, s:f, s:f, s:s, s:b, s:o, s:o}", "name", p->id, "summary",
                     p->title, "case", p->case_name, "kind", p->kind, "set", texts_json(p->set, p->set_count), "metric",
                     p->metric, "error", error, "target", p->target, "uncertainty", p->uncertainty, "tolerance",
                     p->tolerance, "reference", p->reference, "quick", p->quick, "methods", methods, "left_out",
                     left_out_json(p->left_out, p->left_out_count));
}

static void print_problem(const pbd_problem *p) {
    char error[120];
    pbd_problem_error_name(p, error, sizeof error);
    printf("  %-24s %s%s\n  %-24s %s, %s; %s <= %g\n", p->id, p->title, p->quick ? "  [quick]" : "", "", p->case_name,
           p->kind, error, p->tolerance);
}

static pbd_status list_problems(bool json) {
    pbd_problems *all PBD_CLEANUP(pbd_problems_release) = NULL;
    json_auto_t *array = json ? json_array() : NULL;
    PBD_TRY(pbd_problems_load(&all));
    for (unsigned i = 0; i < all->problems_count; i++) {
        if (array)
            json_array_append_new(array, problem_json(&all->problems[i]));
        else
            print_problem(&all->problems[i]);
    }
    if (array) json_dumpf(array, stdout, JSON_INDENT(1));
    if (array) putchar('\n');
    for (unsigned i = 0; i < all->left_out_count && !array; i++)
        printf("  %-24s left out: %s\n", all->left_out[i].name, all->left_out[i].because);
    return pbd_ok();
}

/* ---- Schemas ----------------------------------------------------------------------------------------------------- */

/* The page harness/SCHEMAS.md. */
static void list_schemas(void) {
    const pbd_schema schemas[] = {
        {"figure.yaml", "A figure of a paper: `plots/ID/figure.yaml` (`reproduce`).", &pbd_figure_schema},
        {"A file for sweep", "Many runs, a figure that only runs (`sweep FILE.yaml`).", &pbd_sweep_schema},
        {"papers.yaml", "The papers: `plots/papers.yaml`.", &pbd_papers_schema},
        {"problems.yaml", "Frozen problems: `cases/problems.yaml` (`rank`, `list problems`).", &pbd_problems_schema},
        {"gate.yaml", "The cells of a gate (`gate --suite FILE`).", &pbd_gate_schema},
        {"engine.yaml", "A method in a process of its own (`--engine FILE`).", &pbd_engine_schema}};
    fputs(
        "# Files that pbdbench reads\n\n"
        "Written by `pbdbench list schemas` from the schemas that read the files; the test `schemas_page` holds this "
        "page "
        "to\nthem. A dot leads into a list: `runs.set` is the key `set` of an entry of `runs`. Unknown keys are "
        "refused "
        "with line,\ncolumn and the nearest key.\n",
        stdout);
    pbd_schemas_write(schemas, sizeof schemas / sizeof *schemas, stdout);
    fputs(
        "\n## scene.yaml\n\nA scene of your own (`run scene -s file=FILE`). What the keys mean, their defaults, and "
        "which "
        "shapes have which sizes:\n[cases/scene](../cases/scene/README.md). `SOLID`, `CLOTH` and `LIQUID` stand for "
        "the name of a matter of that kind; the\nname of a flow rule for one that has it. `rotate` of colliders has "
        "the keys of that of bodies.\n\n",
        stdout);
    scene_schema_write(stdout);
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

enum { PARTS = 5, BY_DEFAULT = 4, KIND_RUNS = PARTS, KIND_PAIRS, KIND_PROBLEMS, KIND_SCHEMAS, KINDS };

/* Which kinds were named; `runs`, `pairs`, `problems` and `schemas` go alone, since they are other kinds of tables. */
static pbd_status take_kinds(const pbd_texts *words, bool wanted[KINDS]) {
    static const char *const kinds[KINDS] = {"methods", "cases", "figures",  "backends", "engines",
                                             "runs",    "pairs", "problems", "schemas"};
    for (size_t i = 0; i < words->count; i++) {
        size_t k = 0;
        while (k < KINDS && strcmp(words->item[i], kinds[k]) != 0) k++;
        if (k == KINDS) return pbd_unknown("kind of thing", words->item[i], kinds, KINDS, "pbdbench list --help");
        wanted[k] = true;
    }
    for (size_t k = PARTS; k < KINDS; k++)
        if (wanted[k] && words->count > 1)
            return pbd_error(PBD_BAD_INPUT, "list %s cannot be combined with other lists: use a second command",
                             kinds[k]);
    for (size_t k = 0; k < BY_DEFAULT; k++) wanted[k] = wanted[k] || words->count == 0;
    return pbd_ok();
}

static pbd_status check_options(const list_options *o, const bool wanted[KINDS], size_t words) {
    if (o->markdown && (o->json || words != 1 || !wanted[2]))
        return pbd_error(PBD_BAD_INPUT, "--markdown is valid with `pbdbench list figures` only, and without --json");
    if (wanted[KIND_SCHEMAS] && o->json)
        return pbd_error(PBD_BAD_INPUT, "list schemas is a page of text: it has no --json");
    if (!wanted[KIND_RUNS] && (o->state || o->last || o->db))
        return pbd_error(PBD_BAD_INPUT, "--state, --last and --db are valid with `pbdbench list runs` only");
    if (!wanted[KIND_RUNS] && !wanted[KIND_PAIRS] && (o->case_name || o->method))
        return pbd_error(PBD_BAD_INPUT, "--case and -m are valid with `pbdbench list runs` and `list pairs` only");
    return pbd_ok();
}

static pbd_status act(void *options, pbd_call *call) {
    const list_options *o = options;
    bool wanted[KINDS] = {false};
    PBD_TRY(pbd_plugins_load(&o->plugins));
    PBD_TRY(pbd_engines_load(&o->engines));
    PBD_TRY(take_kinds(call->words, wanted));
    PBD_TRY(check_options(o, wanted, call->words->count));
    if (o->markdown) return pbd_findings_page(stdout);
    if (wanted[KIND_RUNS]) return list_runs(o);
    if (wanted[KIND_PROBLEMS]) return list_problems(o->json);
    if (wanted[KIND_SCHEMAS]) {
        list_schemas();
        return pbd_ok();
    }
    return wanted[KIND_PAIRS] ? list_pairs(o) : list_parts(o->json, wanted);
}

static int verb_main(int argc, char **argv) {
    list_options o = {0};
    return pbd_verb_call(&pbd_verb_list, argc, argv, &o, act);
}

const pbd_verb pbd_verb_list = {
    .name = "list",
    .summary = "list methods, cases, figures, backends, engines, runs, pairs, problems or schemas",
    .usage =
        "list [methods|cases|figures|backends|engines]... [--json]\n"
        "list figures --markdown\n"
        "list problems [--json]\n"
        "list schemas\n"
        "list pairs [--case C] [-m METHOD] [--json]\n"
        "list runs [--case C] [-m METHOD] [--state S] [--last N] [--db FILE] [--json]",
    .about =
        "One line each; unavailable entries give the reason. Without an argument: the first four.\n"
        "Engines are those of --engine and $PBDBENCH_ENGINES, with version, device and licence.\n"
        "Of problems, on which `rank` compares methods: case, error and tolerance (cases/problems.yaml).\n"
        "Of schemas: the keys of every YAML file that is read, as the page harness/SCHEMAS.md.\n"
        "Of pairs of a case and a method: fits, or why not, by the checks that `run` makes with every parameter\n"
        "at its default; asks, where the case has a parameter without a default, such as a file. The state in\n"
        "which a pair that fits is known to end, where it is not ok, and why: cases/ends.def.\n"
        "Of runs: id, start, how it ended, case, method, the time of one solve, errors, and parameters that differ\n"
        "among those shown. `pbdbench show RUN` prints one completely.",
    .options = table,
    .words = PBD_WORDS_CHOICES,
    .choices = "methods|cases|figures|backends|engines|runs|pairs|problems|schemas",
    .main = verb_main,
};
