/* The schemas of figure.yaml and of sweep files, and the checks that a schema cannot express. */
#include "harness/figure/figure_file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/figure/bounds.h"
#include "harness/figure/papers.h"
#include "harness/files/nearest.h"
#include "harness/files/paths.h"
#include "harness/files/yaml_file.h"
#include "harness/picture/strip.h"

/* ---- Schemas ----------------------------------------------------------------------------------------------------- */

#define TEXT(key, type, member) CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, type, member, 1, CYAML_UNLIMITED)
#define MAYBE_TEXT(key, type, member) \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 0, CYAML_UNLIMITED)
#define MAYBE_LIST(key, type, member, entry) \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, entry, 0, CYAML_UNLIMITED)

static const cyaml_schema_value_t word = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, CYAML_UNLIMITED)};

static const cyaml_schema_field_t group_fields[] = {
    TEXT("name", pbd_group, name),
    TEXT("case", pbd_group, case_name),
    TEXT("method", pbd_group, method),
    MAYBE_TEXT("backend", pbd_group, backend),
    MAYBE_TEXT("precision", pbd_group, precision),
    MAYBE_TEXT("engine", pbd_group, engine),
    CYAML_FIELD_UINT("threads", CYAML_FLAG_OPTIONAL, pbd_group, threads),
    CYAML_FIELD_UINT("repeats", CYAML_FLAG_OPTIONAL, pbd_group, repeats),
    CYAML_FIELD_UINT("warmups", CYAML_FLAG_OPTIONAL, pbd_group, warmups),
    CYAML_FIELD_UINT("seed", CYAML_FLAG_OPTIONAL, pbd_group, seed),
    MAYBE_LIST("set", pbd_group, set, &word),
    MAYBE_LIST("axes", pbd_group, axes, &word),
    MAYBE_LIST("quick", pbd_group, quick, &word),
    MAYBE_LIST("full", pbd_group, full, &word),
    CYAML_FIELD_END};
static const cyaml_schema_value_t group_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, pbd_group, group_fields)};

static const cyaml_schema_field_t data_fields[] = {TEXT("name", pbd_data_query, name), TEXT("sql", pbd_data_query, sql),
                                                   CYAML_FIELD_END};
static const cyaml_schema_value_t data_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, pbd_data_query, data_fields)};

static const cyaml_schema_field_t claim_fields[] = {
    TEXT("reproduced", pbd_claim, reproduced),
    MAYBE_TEXT("partly", pbd_claim, partly),
    MAYBE_TEXT("possible", pbd_claim, possible),
    MAYBE_TEXT("because", pbd_claim, because),
    MAYBE_TEXT("rule", pbd_claim, rule),
    TEXT("id", pbd_claim, id),
    TEXT("says", pbd_claim, says),
    MAYBE_LIST("runs", pbd_claim, runs, &word),
    TEXT("sql", pbd_claim, sql),
    CYAML_FIELD_BOOL("beyond", CYAML_FLAG_OPTIONAL, pbd_claim, beyond),
    CYAML_FIELD_BOOL("full_size", CYAML_FLAG_OPTIONAL, pbd_claim, full_size),
    MAYBE_TEXT("notes", pbd_claim, notes),
    CYAML_FIELD_END};
static const cyaml_schema_value_t claim_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, pbd_claim, claim_fields)};

static const cyaml_schema_value_t moment = {CYAML_VALUE_FLOAT(CYAML_FLAG_DEFAULT, double)};

static const cyaml_schema_field_t strip_fields[] = {
    TEXT("name", pbd_strip, name), TEXT("sql", pbd_strip, sql),
    CYAML_FIELD_SEQUENCE("moments", CYAML_FLAG_POINTER, pbd_strip, moments, &moment, 1, STRIP_MOST_MOMENTS),
    MAYBE_TEXT("colour", pbd_strip, colour), CYAML_FIELD_END};
static const cyaml_schema_value_t strip_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, pbd_strip, strip_fields)};

static const cyaml_schema_field_t difference_fields[] = {TEXT("key", pbd_difference, key),
                                                         TEXT("because", pbd_difference, because), CYAML_FIELD_END};
static const cyaml_schema_value_t difference_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, pbd_difference, difference_fields)};

#define RUNS CYAML_FIELD_SEQUENCE("runs", CYAML_FLAG_POINTER, pbd_figure_file, runs, &group_schema, 1, CYAML_UNLIMITED)

static const cyaml_schema_field_t figure_fields[] = {
    TEXT("figure", pbd_figure_file, figure),
    TEXT("paper", pbd_figure_file, paper),
    TEXT("title", pbd_figure_file, title),
    MAYBE_TEXT("caption", pbd_figure_file, caption),
    CYAML_FIELD_FLOAT("seconds", CYAML_FLAG_OPTIONAL, pbd_figure_file, seconds),
    CYAML_FIELD_FLOAT("quick_seconds", CYAML_FLAG_OPTIONAL, pbd_figure_file, quick_seconds),
    CYAML_FIELD_FLOAT("memory_mib", CYAML_FLAG_OPTIONAL, pbd_figure_file, memory_mib),
    MAYBE_LIST("differs", pbd_figure_file, differs, &difference_schema),
    RUNS,
    MAYBE_LIST("data", pbd_figure_file, data, &data_schema),
    MAYBE_LIST("plots", pbd_figure_file, plots, &word),
    MAYBE_LIST("strips", pbd_figure_file, strips, &strip_schema),
    MAYBE_LIST("claims", pbd_figure_file, claims, &claim_schema),
    MAYBE_TEXT("notes", pbd_figure_file, notes),
    CYAML_FIELD_END};
static const cyaml_schema_value_t figure_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, pbd_figure_file, figure_fields)};

/* A sweep is a figure that only runs. Its struct is a pbd_figure_file, so that figure_schema frees both. */
static const cyaml_schema_field_t sweep_fields[] = {MAYBE_TEXT("title", pbd_figure_file, title), RUNS,
                                                    MAYBE_TEXT("notes", pbd_figure_file, notes), CYAML_FIELD_END};
static const cyaml_schema_value_t sweep_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, pbd_figure_file, sweep_fields)};

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* A group's name is a table in SQL, beside `paper` and the tables of the store. */
static bool is_identifier(const char *name) {
    if (!islower((unsigned char)name[0])) return false;
    for (const char *p = name; *p; p++)
        if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '_') return false;
    return strlen(name) <= 40;
}

static bool is_file_stem(const char *name) {
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_-.", *p)) return false;
    return name[0] != '.' && name[0] != '-' && strlen(name) <= 100;
}

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

/* As `run` has it; left out is 0. */
static pbd_status check_range(const pbd_figure_file *file, unsigned group, const char *key, unsigned value,
                              unsigned most) {
    if (value <= most) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%s: runs[%u] '%s': %s: %u is out of range; it must lie in [1, %u]", file->shown_as,
                     group, file->runs[group].name, key, value, most);
}

static pbd_status check_groups(const pbd_figure_file *file) {
    static const char *const taken[] = {"paper",        "build",      "env",         "invocation",      "method",
                                        "case",         "cell",       "run",         "env_sample",      "metric",
                                        "series",       "phase",      "warning",     "citation",        "reference",
                                        "claim_result", "claim_run",  "comparison",  "comparison_pair", "run_view",
                                        "bench_view",   "limit_view", "metric_view", "series_point"};
    for (unsigned i = 0; i < file->runs_count; i++) {
        const pbd_group *g = &file->runs[i];
        if (!is_identifier(g->name))
            return pbd_error(PBD_BAD_INPUT,
                             "%s: runs[%u]: name '%.60s': expected a lower-case word (a-z, 0-9, _): it is a "
                             "table in SQL",
                             file->shown_as, i, g->name);
        if (sqlite3_keyword_check(g->name, (int)strlen(g->name)) || strncmp(g->name, "sqlite_", 7) == 0)
            return pbd_error(PBD_BAD_INPUT, "%s: runs[%u]: the name '%s' is an SQL keyword; choose another",
                             file->shown_as, i, g->name);
        for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
            if (strcmp(g->name, taken[k]) == 0 || ends_with(g->name, "_series"))
                return pbd_error(PBD_BAD_INPUT,
                                 "%s: runs[%u]: the name '%s' is taken by a table of pbdbench; choose another",
                                 file->shown_as, i, g->name);
        for (unsigned k = 0; k < i; k++)
            if (strcmp(g->name, file->runs[k].name) == 0)
                return pbd_error(PBD_BAD_INPUT, "%s: runs[%u] and runs[%u] have the same name '%s'", file->shown_as, k,
                                 i, g->name);
        PBD_TRY(check_range(file, i, "threads", g->threads, 4096));
        PBD_TRY(check_range(file, i, "repeats", g->repeats, 100000));
        PBD_TRY(check_range(file, i, "warmups", g->warmups, 1000));
    }
    return pbd_ok();
}

static pbd_status check_data_and_plots(const pbd_figure_file *file) {
    for (unsigned i = 0; i < file->data_count; i++) {
        if (!is_file_stem(file->data[i].name))
            return pbd_error(PBD_BAD_INPUT,
                             "%s: data[%u]: name '%.60s': expected letters, digits, '_', '-': it becomes a file",
                             file->shown_as, i, file->data[i].name);
        for (unsigned k = 0; k < i; k++)
            if (strcmp(file->data[i].name, file->data[k].name) == 0)
                return pbd_error(PBD_BAD_INPUT, "%s: data[%u] and data[%u] have the same name '%s'", file->shown_as, k,
                                 i, file->data[i].name);
    }
    for (unsigned i = 0; i < file->plots_count; i++) {
        const char *name = file->plots[i];
        if (!is_file_stem(name) || !(ends_with(name, ".png") || ends_with(name, ".svg") || ends_with(name, ".pdf")))
            return pbd_error(PBD_BAD_INPUT,
                             "%s: plots[%u]: '%.60s': expected a file name that ends in .png, .svg or .pdf",
                             file->shown_as, i, name);
    }
    return pbd_ok();
}

static pbd_status check_strip(const pbd_figure_file *file, unsigned i) {
    const pbd_strip *strip = &file->strips[i];
    if (!is_file_stem(strip->name))
        return pbd_error(PBD_BAD_INPUT,
                         "%s: strips[%u]: name '%.60s': expected letters, digits, '_', '-': it becomes a file",
                         file->shown_as, i, strip->name);
    for (unsigned k = 0; k < i; k++)
        if (strcmp(strip->name, file->strips[k].name) == 0)
            return pbd_error(PBD_BAD_INPUT, "%s: strips[%u] and strips[%u] have the same name '%s'", file->shown_as, k,
                             i, strip->name);
    for (unsigned k = 0; k < strip->moments_count; k++) {
        const double before = k ? strip->moments[k - 1] : -1;
        if (!(strip->moments[k] >= 0 && strip->moments[k] > before && isfinite(strip->moments[k])))
            return pbd_error(PBD_BAD_INPUT, "%s: strips[%u]: moments must ascend from 0 s on: %g s", file->shown_as, i,
                             strip->moments[k]);
    }
    if (!strip->colour || pbd_colour_named(strip->colour) >= 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%s: strips[%u]: unknown colour '%.40s'; `pbdbench run --help` lists them",
                     file->shown_as, i, strip->colour);
}

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Whether a query reads the table NAME or NAME_series. */
static bool reads(const char *sql, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = strstr(sql, name); at; at = strstr(at + 1, name)) {
        const char *after = at + length;
        if (strncmp(after, "_series", 7) == 0) after += 7;
        if ((at == sql || !in_name(at[-1])) && !in_name(*after)) return true;
    }
    return false;
}

static bool names_runs(const pbd_figure_file *file, const pbd_claim *claim) {
    for (unsigned i = 0; i < file->runs_count; i++)
        if (reads(claim->sql, file->runs[i].name)) return true;
    return false;
}

/* A verdict must be able to turn: bounds leave some possible values out, and the query reads runs. */
static pbd_status check_bounds(const pbd_figure_file *file, const pbd_claim *claim) {
    pbd_bounds reproduced, partly, possible = {-INFINITY, INFINITY, false, false};
    pbd_status status = pbd_ok();
    if (claim->rule && strcmp(claim->rule, "first") != 0 && strcmp(claim->rule, "all") != 0)
        status = pbd_error(PBD_BAD_INPUT, "rule '%.40s': expected first or all", claim->rule);
    if (status.code != PBD_OK)
        return pbd_error(status.code, "%s: claim '%.80s': %.300s", file->shown_as, claim->id, status.text);
    status = pbd_bounds_parse(claim->reproduced, &reproduced);
    if (status.code == PBD_OK && claim->possible) status = pbd_bounds_parse(claim->possible, &possible);
    if (status.code == PBD_OK) status = pbd_bounds_parse(claim->partly ? claim->partly : claim->reproduced, &partly);
    if (status.code == PBD_OK && claim->partly &&
        (!pbd_bounds_contain(&partly, &reproduced) || pbd_bounds_contain(&reproduced, &partly)))
        status =
            pbd_error(PBD_BAD_INPUT, "the bounds of partly, '%.60s', must be wider than those of reproduced, '%.60s'",
                      claim->partly, claim->reproduced);
    if (status.code == PBD_OK && pbd_bounds_contain(&partly, &possible))
        status = pbd_error(PBD_BAD_INPUT, "no value is outside of its bounds, so that no run can refute it");
    if (status.code == PBD_OK && !names_runs(file, claim))
        status = pbd_error(PBD_BAD_INPUT, "its query reads none of the runs, so that no run can turn it");
    if (status.code == PBD_OK) return status;
    return pbd_error(status.code, "%s: claim '%.80s': %.300s", file->shown_as, claim->id, status.text);
}

static pbd_status check_claim(const pbd_figure_file *file, const char *const *groups, unsigned i) {
    const pbd_claim *claim = &file->claims[i];
    for (unsigned k = 0; k < i; k++)
        if (strcmp(claim->id, file->claims[k].id) == 0)
            return pbd_error(PBD_BAD_INPUT, "%s: claims[%u] and claims[%u] have the same id '%.80s'", file->shown_as, k,
                             i, claim->id);
    for (unsigned r = 0; r < claim->runs_count; r++) {
        unsigned k = 0;
        while (k < file->runs_count && strcmp(groups[k], claim->runs[r]) != 0) k++;
        if (k < file->runs_count) continue;
        const char *nearest = pbd_nearest(claim->runs[r], groups, file->runs_count);
        return pbd_error(PBD_BAD_INPUT, "%s: claim '%.80s' depends on '%.60s', which is not an entry of `runs`%s%s%s",
                         file->shown_as, claim->id, claim->runs[r], nearest ? "; did you mean '" : "",
                         nearest ? nearest : "", nearest ? "'?" : "");
    }
    return check_bounds(file, claim);
}

static pbd_status check_claims(const pbd_figure_file *file) {
    pbd_arena a PBD_ARENA;
    const char **names = pbd_new(&a, const char *, file->runs_count);
    PBD_TRY(pbd_arena_check(&a));
    for (unsigned i = 0; i < file->runs_count; i++) names[i] = file->runs[i].name;
    for (unsigned i = 0; i < file->claims_count; i++) PBD_TRY(check_claim(file, names, i));
    return pbd_ok();
}

static pbd_status check_figure(const pbd_figure_file *file, const char *id) {
    if (strcmp(file->figure, id) != 0)
        return pbd_error(PBD_BAD_INPUT, "%s: figure: '%.80s' lies in the folder of '%s'; they must agree",
                         file->shown_as, file->figure, id);
    if (!(file->seconds >= 0 && isfinite(file->seconds)) || !(file->memory_mib >= 0 && isfinite(file->memory_mib)) ||
        !(file->quick_seconds >= 0 && isfinite(file->quick_seconds)))
        return pbd_error(PBD_BAD_INPUT, "%s: seconds, quick_seconds and memory_mib must not be negative",
                         file->shown_as);
    PBD_TRY(check_data_and_plots(file));
    for (unsigned i = 0; i < file->strips_count; i++) PBD_TRY(check_strip(file, i));
    return check_claims(file);
}

/* A relative path in a figure's settings is relative to its folder: "file=bodies.yaml". */
static pbd_status place_files(char **words, unsigned count, const char *id) {
    for (unsigned i = 0; i < count; i++) {
        char *placed;
        if (strncmp(words[i], "file=", 5) != 0 || words[i][5] == '/' || strchr(words[i], ':')) continue;
        if (asprintf(&placed, "file=%s/plots/%s/%s", pbd_root(), id, words[i] + 5) < 0)
            return pbd_error(PBD_FAILED, "out of memory");
        free(words[i]);
        words[i] = placed;
    }
    return pbd_ok();
}

/* ---- One setting for all figures of a paper ---------------------------------------------------------------------- */

static const char *value_of(const char *one, const char *key) {
    const size_t n = strcspn(key, "=");
    return strncmp(one, key, n) == 0 && one[n] == '=' ? one + n + 1 : NULL;
}

/* Whether "a,b,c" has the value. A range has none: it is written out where the paper's value matters. */
static bool lists(const char *values, const char *value) {
    const size_t n = strlen(value);
    for (const char *at = values; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        if (strcspn(at, ",") == n && strncmp(at, value, n) == 0) return true;
    }
    return false;
}

/* The first word of that key which does not have the value; *stated: whether any has the key. */
static const char *other_value(char **words, unsigned count, const char *setting, bool *stated) {
    for (unsigned i = 0; i < count; i++) {
        const char *value = value_of(words[i], setting);
        *stated |= value != NULL;
        if (value && !lists(value, value_of(setting, setting))) return words[i];
    }
    return NULL;
}

static pbd_status append(pbd_group *g, const char *one) {
    char **grown = realloc(g->set, (g->set_count + 1) * sizeof *grown), *copy = strdup(one);
    if (grown) g->set = grown;
    if (!grown || !copy) {
        free(copy);
        return pbd_error(PBD_FAILED, "out of memory");
    }
    g->set[g->set_count++] = copy;
    return pbd_ok();
}

/* The figure's reason for another value of that key. */
static pbd_difference *difference_of(const pbd_figure_file *file, const char *setting) {
    for (unsigned i = 0; i < file->differs_count; i++) {
        const size_t n = strlen(file->differs[i].key);
        if (strncmp(file->differs[i].key, setting, n) == 0 && setting[n] == '=') return &file->differs[i];
    }
    return NULL;
}

static pbd_status apply_setting(pbd_figure_file *file, unsigned group, const char *setting) {
    pbd_group *g = &file->runs[group];
    bool stated = false, otherwise = false;
    const char *other = other_value(g->axes, g->axes_count, setting, &stated);
    if (!stated) { /* --quick and --full may take other values of an axis */
        other = other_value(g->set, g->set_count, setting, &stated);
        if (!other) other = other_value(g->quick, g->quick_count, setting, &otherwise);
        if (!other) other = other_value(g->full, g->full_count, setting, &otherwise);
    }
    if (!other) return stated ? pbd_ok() : append(g, setting);
    pbd_difference *difference = difference_of(file, setting);
    if (!difference)
        return pbd_error(PBD_BAD_INPUT,
                         "%s: runs[%u] '%s': %.60s is not the %.60s of all figures of %.40s (plots/papers.yaml); state "
                         "the reason under `differs`",
                         file->shown_as, group, g->name, other, setting, file->paper);
    difference->used = true;
    return stated ? pbd_ok() : append(g, setting);
}

static pbd_status check_differences(const pbd_figure_file *file) {
    for (unsigned i = 0; i < file->differs_count; i++) {
        if (file->differs[i].used) continue;
        return pbd_error(PBD_BAD_INPUT, "%s: differs[%u]: no run differs from its paper in '%.60s'; leave it out",
                         file->shown_as, i, file->differs[i].key);
    }
    return pbd_ok();
}

static pbd_status apply_all(pbd_figure_file *file, const pbd_paper *paper) {
    for (unsigned s = 0; paper && s < paper->settings_count; s++) {
        const pbd_paper_settings *settings = &paper->settings[s];
        for (unsigned i = 0; i < settings->set_count; i++) {
            if (!strchr(settings->set[i], '='))
                return pbd_error(PBD_BAD_INPUT, "plots/papers.yaml: settings of %s: '%.60s': expected key=value",
                                 paper->key, settings->set[i]);
            for (unsigned g = 0; g < file->runs_count; g++)
                if (strcmp(file->runs[g].method, settings->method) == 0)
                    PBD_TRY(apply_setting(file, g, settings->set[i]));
        }
    }
    return check_differences(file);
}

/* Adds the settings of the figure's paper to every entry of `runs` of their method that does not state that key itself.
 * An entry that states another value, or an axis without the paper's, needs the key under `differs`; a key there in
 * which no entry differs is an error. A paper that is not listed has no settings. */
static pbd_status apply_paper(pbd_figure_file *file) {
    pbd_papers *papers;
    PBD_TRY(pbd_papers_load(&papers));
    for (unsigned i = 0; i < file->differs_count; i++) file->differs[i].used = false; /* no member of the schema */
    const pbd_status status = apply_all(file, pbd_paper_of(papers, file->paper));
    pbd_papers_free(papers);
    return status;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static pbd_status load(const char *path, const char *shown_as, const cyaml_schema_value_t *schema, const char *id,
                       pbd_figure_file **out) {
    *out = NULL;
    void *data;
    PBD_TRY(pbd_yaml_load(path, shown_as, schema, &data));
    pbd_figure_file *file = data;
    for (unsigned i = 0; i < file->runs_count; i++) {
        file->runs[i].left_out = 0; /* no member of the schema, like the next */
        file->runs[i].missing[0] = '\0';
    }
    file->shown_as = strdup(shown_as);
    pbd_status status = file->shown_as ? check_groups(file) : pbd_error(PBD_FAILED, "out of memory");
    for (unsigned i = 0; i < file->runs_count && status.code == PBD_OK && id; i++) {
        status = place_files(file->runs[i].set, file->runs[i].set_count, id);
        if (status.code == PBD_OK) status = place_files(file->runs[i].quick, file->runs[i].quick_count, id);
        if (status.code == PBD_OK) status = place_files(file->runs[i].full, file->runs[i].full_count, id);
    }
    if (status.code == PBD_OK && id) status = check_figure(file, id);
    if (status.code == PBD_OK && id) status = apply_paper(file);
    if (status.code == PBD_OK)
        *out = file;
    else
        pbd_figure_file_free(file);
    return status;
}

pbd_status pbd_figure_load(const char *id, pbd_figure_file **out) {
    pbd_arena a PBD_ARENA;
    const char *name = pbd_new_format(&a, "plots/%s/figure.yaml", id),
               *path = pbd_new_format(&a, "%s/%s", pbd_root(), name);
    *out = NULL;
    PBD_TRY(pbd_arena_check(&a));
    return load(path, name, &figure_schema, id, out);
}

pbd_status pbd_sweep_load(const char *path, pbd_figure_file **out) {
    return load(path, path, &sweep_schema, NULL, out);
}

void pbd_figure_file_free(pbd_figure_file *file) {
    if (!file) return;
    free(file->shown_as);
    pbd_yaml_free(&figure_schema, file);
}

const char *pbd_scale_mark(pbd_scale scale) {
    static const char *const marks[] = {"", " (quick)", " (full)"};
    return marks[scale];
}

bool pbd_figure_has_full(const pbd_figure_file *file) {
    for (unsigned i = 0; i < file->runs_count; i++)
        if (file->runs[i].full_count > 0) return true;
    return false;
}
