/* The schema of cases/problems.yaml, and the checks that a schema cannot express. */
#include "harness/rank/problems.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/files/nearest.h"
#include "harness/files/paths.h"
#include "harness/files/yaml_fields.h"
#include "harness/files/yaml_file.h"
#include "harness/query/cell_labels.h"

static const char shown_as[] = "cases/problems.yaml";

/* ---- Schema ------------------------------------------------------------------------------------------------------ */

static const cyaml_schema_field_t trials_fields[] = {
    PBD_YAML_TEXT(pbd_trials, method, "method", "the method"),
    PBD_YAML_MAYBE_TEXT(pbd_trials, precision, "precision", "f32 or f64; default f64"),
    PBD_YAML_MAYBE_LIST(pbd_trials, set, "set", &pbd_yaml_word, "`key=value`, in every trial"),
    PBD_YAML_MAYBE_LIST(pbd_trials, axes, "axes", &pbd_yaml_word, "`key=a,b`: the grid of trials"),
    PBD_YAML_MAYBE_LIST(pbd_trials, quick, "quick", &pbd_yaml_word,
                        "under --quick in place of the setting or axis of the same key"),
    PBD_YAML_MAYBE_LIST(pbd_trials, also, "also", &pbd_yaml_word,
                        "further trials, `key=value key=value` in place of those above, such as the authors' own"),
    PBD_YAML_MAYBE_TEXT(pbd_trials, authors, "authors", "which trials are the authors' own, and where they say so"),
    CYAML_FIELD_END};
static const cyaml_schema_value_t trials_schema = PBD_YAML_ENTRY(pbd_trials, trials_fields);

static const cyaml_schema_field_t left_out_fields[] = {PBD_YAML_TEXT(pbd_left_out, name, "name", "what is left out"),
                                                       PBD_YAML_TEXT(pbd_left_out, because, "because", "why"),
                                                       CYAML_FIELD_END};
static const cyaml_schema_value_t left_out_schema = PBD_YAML_ENTRY(pbd_left_out, left_out_fields);

static const cyaml_schema_field_t problem_fields[] = {
    PBD_YAML_TEXT(pbd_problem, id, "id", "lower-case letters, digits and `-`; a changed problem needs another one"),
    PBD_YAML_TEXT(pbd_problem, title, "title", "a line"),
    PBD_YAML_TEXT(pbd_problem, case_name, "case", "the case"),
    PBD_YAML_TEXT(pbd_problem, kind, "kind", "moving or static: budgets are of a frame of 1/60 s, or of a solve"),
    PBD_YAML_MAYBE_LIST(pbd_problem, set, "set", &pbd_yaml_word,
                        "`key=value`: every parameter of the case that is no choice"),
    PBD_YAML_TEXT(pbd_problem, metric, "metric", "of the run: the error is its distance from the target"),
    PBD_YAML_MAYBE_NUMBER(pbd_problem, target, "target", "in the metric's unit; default 0"),
    PBD_YAML_NUMBER(pbd_problem, uncertainty, "uncertainty", "of the reference, in the same unit"),
    PBD_YAML_NUMBER(pbd_problem, tolerance, "tolerance", "of the answer, in the same unit; above the uncertainty"),
    PBD_YAML_TEXT(pbd_problem, reference, "reference", "what the answer is compared with, and where it is from"),
    PBD_YAML_MAYBE_FLAG(pbd_problem, quick, "quick", "of the problems of --quick"),
    PBD_YAML_LIST(pbd_problem, methods, "methods", &trials_schema, "the trials of each method"),
    PBD_YAML_MAYBE_LIST(pbd_problem, left_out, "left_out", &left_out_schema,
                        "methods that fit the case and have no trials"),
    CYAML_FIELD_END};
static const cyaml_schema_value_t problem_schema = PBD_YAML_ENTRY(pbd_problem, problem_fields);

static const cyaml_schema_field_t problems_fields[] = {
    PBD_YAML_WHOLE(pbd_problems, trials, "trials", "of each method on each problem"),
    PBD_YAML_WHOLE(pbd_problems, quick_trials, "quick_trials", "likewise under --quick"),
    PBD_YAML_NUMBER(pbd_problems, seconds, "seconds", "s, the most that a trial may take"),
    PBD_YAML_NUMBER(pbd_problems, quick_seconds, "quick_seconds", "likewise under --quick"),
    PBD_YAML_LIST(pbd_problems, choices, "choices", &pbd_yaml_word,
                  "parameters of cases that a method may choose, such as the resolution"),
    PBD_YAML_LIST(pbd_problems, problems, "problems", &problem_schema, "the frozen problems"),
    PBD_YAML_MAYBE_LIST(pbd_problems, left_out, "left_out", &left_out_schema, "problems that cannot be had"),
    CYAML_FIELD_END};
const cyaml_schema_value_t pbd_problems_schema = PBD_YAML_FILE(pbd_problems, problems_fields);

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static bool same_key(const char *a, const char *b) {
    const size_t n = strcspn(a, "=");
    return n == strcspn(b, "=") && strncmp(a, b, n) == 0;
}

static bool has_key(char *const *words, size_t count, const char *word_or_key) {
    for (size_t i = 0; i < count; i++)
        if (same_key(words[i], word_or_key)) return true;
    return false;
}

bool pbd_is_choice(const pbd_problems *problems, const char *key) {
    for (unsigned i = 0; i < problems->choices_count; i++)
        if (strcmp(problems->choices[i], key) == 0) return true;
    return false;
}

bool pbd_problem_moves(const pbd_problem *problem) { return strcmp(problem->kind, "moving") == 0; }

void pbd_problem_error_name(const pbd_problem *problem, char *out, size_t size) {
    if (problem->target == 0)
        snprintf(out, size, "%s", problem->metric);
    else
        snprintf(out, size, "|%s - %g|", problem->metric, problem->target);
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static pbd_status wrong(const pbd_problem *problem, const char *format, ...) {
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return pbd_error(PBD_BAD_INPUT, "%s: problem '%.60s': %s", shown_as, problem->id, text);
}

/* An id is used on the command line and in file names. */
static bool is_id(const char *id) {
    if (!islower((unsigned char)id[0])) return false;
    for (const char *p = id; *p; p++)
        if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '-') return false;
    return strlen(id) <= 40;
}

/* The number of trials of a grid; 0 if an axis is malformed, or there are more than 1000. */
static size_t count_grid(char *const *axes, unsigned count, char *const *quick, unsigned quick_count) {
    size_t product = 1;
    for (unsigned i = 0; i < count + quick_count; i++) {
        const char *text = i < count ? axes[i] : quick[i - count];
        pbd_axis axis;
        if (i < count && has_key(quick, quick_count, text)) continue;
        if (pbd_axis_parse(text, &axis).code != PBD_OK) return 0;
        product *= axis.count;
        pbd_axis_free(&axis);
        if (product > 1000) return 0;
    }
    return product;
}

static pbd_status check_count(const pbd_problem *p, const pbd_trials *t, bool quick, unsigned wanted) {
    const size_t grid = count_grid(t->axes, t->axes_count, t->quick, quick ? t->quick_count : 0);
    if (grid > 0 && grid + t->also_count == wanted) return pbd_ok();
    return wrong(p, "method %s has %zu trials%s, and every method must have %u: its axes%s and `also` make them",
                 t->method, grid ? grid + t->also_count : 0, quick ? " with its quick axes" : "", wanted,
                 quick ? " with `quick`" : "");
}

static pbd_status check_word(const pbd_problem *p, const pbd_trials *t, const char *text) {
    if (!strchr(text, '=')) return wrong(p, "method %s: '%.60s' is not KEY=VALUE", t->method, text);
    if (has_key(p->set, p->set_count, text))
        return wrong(p, "method %s: '%.60s' sets what the problem fixes", t->method, text);
    return pbd_ok();
}

static pbd_status check_also(const pbd_problem *p, const pbd_trials *t, const char *text) {
    char *copy PBD_CLEANUP(pbd_free_memory) = strdup(text), *rest = copy;
    if (!copy) return pbd_no_memory();
    for (char *one; (one = strsep(&rest, " ")) != NULL;)
        if (*one) PBD_TRY(check_word(p, t, one));
    return pbd_ok();
}

static pbd_status check_trials(const pbd_problems *all, const pbd_problem *p, const pbd_trials *t) {
    const pbd_method_entry *method;
    pbd_precision precision;
    const pbd_status known = pbd_find_method(t->method, &method);
    if (known.code != PBD_OK) return wrong(p, "%s", known.text);
    if (t->precision && pbd_find_precision(t->precision, &precision).code != PBD_OK)
        return wrong(p, "method %s: precision '%.20s' is not f32 or f64", t->method, t->precision);
    for (const pbd_trials *other = p->methods; other < t; other++)
        if (strcmp(other->method, t->method) == 0) return wrong(p, "method %s is listed twice", t->method);
    for (unsigned i = 0; i < t->set_count; i++) PBD_TRY(check_word(p, t, t->set[i]));
    for (unsigned i = 0; i < t->axes_count; i++) PBD_TRY(check_word(p, t, t->axes[i]));
    for (unsigned i = 0; i < t->quick_count; i++) PBD_TRY(check_word(p, t, t->quick[i]));
    for (unsigned i = 0; i < t->also_count; i++) PBD_TRY(check_also(p, t, t->also[i]));
    PBD_TRY(check_count(p, t, false, all->trials));
    return p->quick ? check_count(p, t, true, all->quick_trials) : pbd_ok();
}

static pbd_status check_fixed(const pbd_problems *all, const pbd_problem *p) {
    const pbd_case *c;
    const pbd_status known = pbd_find_case(p->case_name, &c);
    if (known.code != PBD_OK) return wrong(p, "%s", known.text);
    for (const pbd_param *param = c->params; param && param->name; param++)
        if (!has_key(p->set, p->set_count, param->name) && !pbd_is_choice(all, param->name))
            return wrong(p, "it leaves the parameter %s of case %s open: fix it under `set`", param->name, c->name);
    for (unsigned i = 0; i < p->set_count; i++) {
        if (!strchr(p->set[i], '=')) return wrong(p, "set: '%.60s' is not KEY=VALUE", p->set[i]);
        if (has_key(p->set, i, p->set[i])) return wrong(p, "set: '%.60s' is given twice", p->set[i]);
    }
    return pbd_ok();
}

static pbd_status check_problem(const pbd_problems *all, const pbd_problem *p) {
    if (!is_id(p->id)) return wrong(p, "expected an id of lower-case letters, digits and '-', at most 40");
    for (const pbd_problem *other = all->problems; other < p; other++)
        if (strcmp(other->id, p->id) == 0) return wrong(p, "the id is given twice");
    if (strcmp(p->kind, "moving") != 0 && strcmp(p->kind, "static") != 0)
        return wrong(p, "kind '%.20s': expected moving or static", p->kind);
    if (!(p->tolerance > 0)) return wrong(p, "tolerance %g: must be above 0", p->tolerance);
    if (!(p->uncertainty >= 0 && p->uncertainty < p->tolerance))
        return wrong(p, "uncertainty %g: must lie in [0, tolerance): a reference judges no answer better than itself",
                     p->uncertainty);
    PBD_TRY(check_fixed(all, p));
    for (unsigned i = 0; i < p->methods_count; i++) PBD_TRY(check_trials(all, p, &p->methods[i]));
    return pbd_ok();
}

static pbd_status check(const pbd_problems *all) {
    if (all->trials < 1 || all->trials > 1000 || all->quick_trials < 1 || all->quick_trials > all->trials)
        return pbd_error(PBD_BAD_INPUT, "%s: trials must lie in [1, 1000], and quick_trials in [1, trials]", shown_as);
    if (!(all->quick_seconds > 0 && all->seconds >= all->quick_seconds))
        return pbd_error(PBD_BAD_INPUT, "%s: quick_seconds must be above 0, and seconds not below it", shown_as);
    for (unsigned i = 0; i < all->problems_count; i++) PBD_TRY(check_problem(all, &all->problems[i]));
    return pbd_ok();
}

pbd_status pbd_problems_load(pbd_problems **out) {
    const char *path PBD_CLEANUP(pbd_free_memory) = pbd_root_path(shown_as);
    void *data = NULL;
    *out = NULL;
    if (!path) return pbd_no_memory();
    PBD_TRY(pbd_yaml_load(path, shown_as, &pbd_problems_schema, &data));
    const pbd_status status = check(data);
    if (status.code == PBD_OK)
        *out = data;
    else
        pbd_problems_free(data);
    return status;
}

void pbd_problems_free(pbd_problems *problems) { pbd_yaml_free(&pbd_problems_schema, problems); }

pbd_status pbd_find_problem(const pbd_problems *problems, const char *id, const pbd_problem **out) {
    pbd_arena a PBD_ARENA;
    const char **name = pbd_new(&a, const char *, problems->problems_count);
    PBD_TRY(pbd_arena_check(&a));
    for (unsigned i = 0; i < problems->problems_count; i++) {
        *out = &problems->problems[i];
        name[i] = (*out)->id;
        if (strcmp(name[i], id) == 0) return pbd_ok();
    }
    return pbd_unknown("problem", id, name, problems->problems_count, "pbdbench list problems");
}

bool pbd_problem_fits(const pbd_problem *p, const char *case_name, const json_t *params) {
    if (strcmp(p->case_name, case_name) != 0) return false;
    for (unsigned i = 0; i < p->set_count; i++) {
        pbd_setting setting PBD_CLEANUP(pbd_setting_free) = {0};
        if (pbd_setting_parse(p->set[i], &setting).code != PBD_OK || !pbd_has_setting(params, &setting)) return false;
    }
    return true;
}

const pbd_problem *pbd_problem_of(const pbd_problems *problems, const char *case_name, const json_t *params) {
    for (unsigned i = 0; i < problems->problems_count; i++) {
        const pbd_problem *p = &problems->problems[i];
        if (pbd_problem_fits(p, case_name, params)) return p;
    }
    return NULL;
}

/* ---- Trials as runs ---------------------------------------------------------------------------------------------- */

/* Makes entry `at` of a method's trials: 0 is its grid, each other an item of `also`. Texts are owned by the file or
 * `a`. */
static pbd_status make_entry(const pbd_problem *p, const pbd_trials *t, const char *backend, int threads, unsigned at,
                             pbd_arena *a, pbd_group *out) {
    char *also = at > 0 ? pbd_new_text(a, t->also[at - 1]) : NULL;
    const size_t most = p->set_count + t->set_count + (also ? strlen(also) : 0) + 1;
    *out = (pbd_group){.name = p->id,
                       .case_name = p->case_name,
                       .method = t->method,
                       .backend = backend ? pbd_new_text(a, backend) : NULL,
                       .precision = t->precision,
                       .threads = (unsigned)threads,
                       .set = pbd_new(a, char *, most)};
    PBD_TRY(pbd_arena_check(a));
    for (char *one; (one = strsep(&also, " ")) != NULL;)
        if (*one) out->set[out->set_count++] = one;
    const unsigned own = out->set_count;
    for (unsigned i = 0; i < p->set_count; i++) out->set[out->set_count++] = p->set[i];
    for (unsigned i = 0; i < t->set_count; i++)
        if (!has_key(out->set, own, t->set[i])) out->set[out->set_count++] = t->set[i];
    if (at > 0) return pbd_ok();
    out->axes = t->axes;
    out->axes_count = t->axes_count;
    out->quick = t->quick;
    out->quick_count = t->quick_count;
    return pbd_ok();
}

pbd_status pbd_problem_plan(const pbd_problems *problems, const pbd_problem *p, const pbd_trials *t,
                            const char *backend, int threads, bool quick, size_t group, pbd_plan *plan) {
    const size_t before = plan->count, wanted = quick ? problems->quick_trials : problems->trials;
    const double limit = quick ? problems->quick_seconds : problems->seconds;
    pbd_status status = pbd_ok();
    for (unsigned at = 0; at <= t->also_count && status.code == PBD_OK; at++) {
        pbd_arena a PBD_ARENA;
        pbd_group entry;
        pbd_figure_file file = {.shown_as = pbd_new_text(&a, shown_as), .runs = &entry, .runs_count = 1};
        status = make_entry(p, t, backend, threads, at, &a, &entry);
        if (status.code == PBD_OK)
            status = pbd_figure_plan(&file, quick ? PBD_SCALE_QUICK : PBD_SCALE_USUAL, group, plan);
    }
    /* Without the location that pbd_figure_plan puts in front. */
    const char *reason = strstr(status.text, "': ");
    reason = reason ? reason + 3 : status.text;
    if (status.code == PBD_NOT_SUPPORTED) status = pbd_error(status.code, "%s", reason);
    if (status.code == PBD_BAD_INPUT) status = wrong(p, "method %s: %s", t->method, reason);
    if (status.code == PBD_OK && plan->count - before != wanted)
        status = wrong(p, "method %s: of its %zu trials %zu are different, since parameters are not read in the others",
                       t->method, wanted, plan->count - before);
    pbd_plan_cut(plan, status.code == PBD_OK ? plan->count : before);
    for (size_t i = before; i < plan->count; i++) plan->item[i].limit = limit;
    return status;
}

pbd_status pbd_problem_write_sweep(const pbd_problem *p, const pbd_trials *t, const char *backend, int threads,
                                   bool quick, unsigned *entries, FILE *out) {
    for (unsigned at = 0; at <= t->also_count; at++) {
        pbd_arena a PBD_ARENA;
        pbd_group entry;
        char name[40];
        PBD_TRY(make_entry(p, t, backend, threads, at, &a, &entry));
        snprintf(name, sizeof name, "trial_%u", ++*entries);
        entry.name = name;
        const pbd_figure_file file = {.figure = "rank", .runs = &entry, .runs_count = 1};
        PBD_TRY(pbd_figure_write_sweep(&file, quick ? PBD_SCALE_QUICK : PBD_SCALE_USUAL, out));
    }
    return pbd_ok();
}
