/* The schemas of figure.yaml and of sweep files, and the checks that a schema cannot express. */
#include "harness/figure/figure_file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/registry.h"
#include "harness/exec/arena.h"
#include "harness/figure/bounds.h"
#include "harness/figure/papers.h"
#include "harness/files/nearest.h"
#include "harness/files/paths.h"
#include "harness/files/yaml_fields.h"
#include "harness/files/yaml_file.h"
#include "harness/picture/strip.h"

/* ---- Schemas ----------------------------------------------------------------------------------------------------- */

static const cyaml_schema_field_t group_fields[] = {
    PBD_YAML_TEXT(pbd_group, name, "name", "a lower-case word: its runs are the table of that name in SQL"),
    PBD_YAML_TEXT(pbd_group, case_name, "case", "the case, of `pbdbench list cases`"),
    PBD_YAML_TEXT(pbd_group, method, "method", "the method, of `pbdbench list methods`"),
    PBD_YAML_MAYBE_TEXT(pbd_group, backend, "backend", "cpu, emu or cuda; default cpu"),
    PBD_YAML_MAYBE_TEXT(pbd_group, precision, "precision", "f32 or f64; default f64"),
    PBD_YAML_MAYBE_TEXT(pbd_group, engine, "engine",
                        "of a method in a process of its own: its file, from the root of the checkout; where it cannot "
                        "be used, the group is left out"),
    PBD_YAML_MAYBE_WHOLE(pbd_group, threads, "threads", "default: all cores"),
    PBD_YAML_MAYBE_WHOLE(pbd_group, cores, "cores",
                         "of a figure: where the program may use fewer processors, the group is left out"),
    PBD_YAML_MAYBE_WHOLE(pbd_group, repeats, "repeats", "runs of each cell; default 1"),
    PBD_YAML_MAYBE_WHOLE(pbd_group, warmups, "warmups", "untimed solves before the timed one; default 0"),
    PBD_YAML_MAYBE_WHOLE(pbd_group, seed, "seed", "stored with each run; default 1"),
    PBD_YAML_MAYBE_LIST(pbd_group, set, "set", &pbd_yaml_word, "`key=value`: parameters of the case or the method"),
    PBD_YAML_MAYBE_LIST(pbd_group, axes, "axes", &pbd_yaml_word,
                        "`key=lo:hi:step` or `key=a,b`: a run for each value; several axes make a grid"),
    PBD_YAML_MAYBE_LIST(pbd_group, quick, "quick", &pbd_yaml_word,
                        "under --quick in place of the setting or axis of the same key"),
    PBD_YAML_MAYBE_LIST(pbd_group, full, "full", &pbd_yaml_word, "likewise under --full: the paper's size"),
    CYAML_FIELD_END};
static const cyaml_schema_value_t group_schema = PBD_YAML_ENTRY(pbd_group, group_fields);

static const cyaml_schema_field_t table_fields[] = {
    PBD_YAML_TEXT(pbd_named_query, name, "name", "a lower-case word: the table that the queries after it read"),
    PBD_YAML_TEXT(pbd_named_query, sql, "sql", "a query whose rows are its rows"), CYAML_FIELD_END};
static const cyaml_schema_value_t table_schema = PBD_YAML_ENTRY(pbd_named_query, table_fields);

static const cyaml_schema_field_t data_fields[] = {
    PBD_YAML_TEXT(pbd_named_query, name, "name", "of the file NAME.tsv that plot.gp reads"),
    PBD_YAML_TEXT(pbd_named_query, sql, "sql", "a query whose rows are its rows"), CYAML_FIELD_END};
static const cyaml_schema_value_t data_schema = PBD_YAML_ENTRY(pbd_named_query, data_fields);

static const cyaml_schema_field_t claim_fields[] = {
    PBD_YAML_TEXT(pbd_claim, reproduced, "reproduced", "bounds of the value where the claim holds, such as `>= 0.02`"),
    PBD_YAML_MAYBE_TEXT(pbd_claim, partly, "partly", "bounds where it holds in part"),
    PBD_YAML_MAYBE_TEXT(pbd_claim, possible, "possible",
                        "bounds of what the value may be by its definition; default: anything"),
    PBD_YAML_MAYBE_TEXT(pbd_claim, because, "because", "why these bounds, where the paper states none"),
    PBD_YAML_MAYBE_TEXT(pbd_claim, rule, "rule",
                        "of several readings: first (the default) takes that of the first one, all wants all of them"),
    PBD_YAML_TEXT(pbd_claim, id, "id", "of the claim, unique in its paper"),
    PBD_YAML_TEXT(pbd_claim, says, "says", "the sentence of the paper"),
    PBD_YAML_MAYBE_LIST(pbd_claim, runs, "runs", &pbd_yaml_word, "names of the groups it rests on; default: all"),
    PBD_YAML_TEXT(
        pbd_claim, sql, "sql",
        "a query with the column value, and if wanted note; a row for each reading, the best supported first"),
    PBD_YAML_MAYBE_FLAG(pbd_claim, beyond, "beyond", "ours: the paper makes no such claim"),
    PBD_YAML_MAYBE_FLAG(pbd_claim, full_size, "full_size",
                        "runs of --quick cannot judge it: a time, or what depends on the number of particles"),
    PBD_YAML_MAYBE_TEXT(pbd_claim, notes, "notes", "the reason of the result"),
    CYAML_FIELD_END};
static const cyaml_schema_value_t claim_schema = PBD_YAML_ENTRY(pbd_claim, claim_fields);

static const cyaml_schema_value_t moment = {CYAML_VALUE_FLOAT(CYAML_FLAG_DEFAULT, double)};

static const cyaml_schema_field_t strip_fields[] = {
    PBD_YAML_TEXT(pbd_strip, name, "name", "of the picture FIGURE-NAME.png"),
    PBD_YAML_TEXT(pbd_strip, sql, "sql",
                  "a query with the columns run_id and caption: a row of pictures each, at most 6"),
    CYAML_FIELD_SEQUENCE(PBD_YAML_KEY("moments", "s, ascending"), CYAML_FLAG_POINTER, pbd_strip, moments, &moment, 1,
                         STRIP_MOST_MOMENTS),
    PBD_YAML_MAYBE_TEXT(pbd_strip, colour, "colour", "as of `run --colour`; default auto"), CYAML_FIELD_END};
static const cyaml_schema_value_t strip_schema = PBD_YAML_ENTRY(pbd_strip, strip_fields);

static const cyaml_schema_field_t difference_fields[] = {
    PBD_YAML_TEXT(pbd_difference, key, "key", "a parameter that plots/papers.yaml sets for the paper"),
    PBD_YAML_TEXT(pbd_difference, because, "because", "why runs of this figure have another value"), CYAML_FIELD_END};
static const cyaml_schema_value_t difference_schema = PBD_YAML_ENTRY(pbd_difference, difference_fields);

#define RUNS PBD_YAML_LIST(pbd_figure_file, runs, "runs", &group_schema, "groups of runs")

static const cyaml_schema_field_t figure_fields[] = {
    PBD_YAML_TEXT(pbd_figure_file, figure, "figure", "its id, the name of its folder"),
    PBD_YAML_TEXT(pbd_figure_file, paper, "paper", "the key of a paper of plots/papers.yaml"),
    PBD_YAML_TEXT(pbd_figure_file, title, "title", "a line"),
    PBD_YAML_MAYBE_TEXT(pbd_figure_file, caption, "caption", "what is drawn"),
    PBD_YAML_MAYBE_NUMBER(pbd_figure_file, seconds, "seconds",
                          "s, of all its runs one by one, without engines and graphics cards"),
    PBD_YAML_MAYBE_NUMBER(pbd_figure_file, quick_seconds, "quick_seconds", "s, of one with --quick"),
    PBD_YAML_MAYBE_NUMBER(pbd_figure_file, memory_mib, "memory_mib", "MiB, of a full reproduction"),
    PBD_YAML_MAYBE_LIST(pbd_figure_file, differs, "differs", &difference_schema,
                        "where it does not follow the settings of its paper"),
    RUNS,
    PBD_YAML_MAYBE_LIST(pbd_figure_file, tables, "tables", &table_schema,
                        "what several queries of data, strips and claims share; a table may read those before it"),
    PBD_YAML_MAYBE_LIST(pbd_figure_file, data, "data", &data_schema, "what gnuplot draws"),
    PBD_YAML_MAYBE_LIST(pbd_figure_file, plots, "plots", &pbd_yaml_word,
                        "files that plot.gp writes: .png, .svg or .pdf"),
    PBD_YAML_MAYBE_LIST(pbd_figure_file, strips, "strips", &strip_schema, "rendered states"),
    PBD_YAML_MAYBE_LIST(pbd_figure_file, claims, "claims", &claim_schema, "what the paper says of it, to be judged"),
    PBD_YAML_MAYBE_TEXT(pbd_figure_file, notes, "notes", "what a reader should know"),
    CYAML_FIELD_END};
const cyaml_schema_value_t pbd_figure_schema = PBD_YAML_FILE(pbd_figure_file, figure_fields);

/* A sweep is a figure that only runs. Its struct is a pbd_figure_file, so that pbd_figure_schema frees both. */
static const cyaml_schema_field_t sweep_fields[] = {PBD_YAML_MAYBE_TEXT(pbd_figure_file, title, "title", "a line"),
                                                    RUNS, PBD_YAML_MAYBE_TEXT(pbd_figure_file, notes, "notes", "why"),
                                                    CYAML_FIELD_END};
const cyaml_schema_value_t pbd_sweep_schema = PBD_YAML_FILE(pbd_figure_file, sweep_fields);

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

/* The same range as in `run`; 0 if it is left out. */
static pbd_status check_range(const pbd_figure_file *file, unsigned group, const char *key, unsigned value,
                              unsigned most) {
    if (value <= most) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%s: runs[%u] '%s': %s: %u is out of range; it must lie in [1, %u]", file->shown_as,
                     group, file->runs[group].name, key, value, most);
}

static pbd_status check_table_name(const pbd_figure_file *file, const char *list, unsigned i, const char *name) {
    static const char *const taken[] = {"paper",        "build",      "env",         "invocation",      "method",
                                        "case",         "cell",       "run",         "env_sample",      "metric",
                                        "series",       "phase",      "warning",     "citation",        "reference",
                                        "claim_result", "claim_run",  "comparison",  "comparison_pair", "run_view",
                                        "bench_view",   "limit_view", "metric_view", "series_point"};
    if (!is_identifier(name))
        return pbd_error(PBD_BAD_INPUT,
                         "%s: %s[%u]: name '%.60s': expected a lower-case word (a-z, 0-9, _): it is a table in SQL",
                         file->shown_as, list, i, name);
    if (sqlite3_keyword_check(name, (int)strlen(name)) || strncmp(name, "sqlite_", 7) == 0)
        return pbd_error(PBD_BAD_INPUT, "%s: %s[%u]: the name '%s' is an SQL keyword; choose another", file->shown_as,
                         list, i, name);
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
        if (strcmp(name, taken[k]) == 0 || ends_with(name, "_series"))
            return pbd_error(PBD_BAD_INPUT, "%s: %s[%u]: the name '%s' is taken by a table of pbdbench; choose another",
                             file->shown_as, list, i, name);
    return pbd_ok();
}

static pbd_status check_groups(const pbd_figure_file *file) {
    for (unsigned i = 0; i < file->runs_count; i++) {
        const pbd_group *g = &file->runs[i];
        PBD_TRY(check_table_name(file, "runs", i, g->name));
        for (unsigned k = 0; k < i; k++)
            if (strcmp(g->name, file->runs[k].name) == 0)
                return pbd_error(PBD_BAD_INPUT, "%s: runs[%u] and runs[%u] have the same name '%s'", file->shown_as, k,
                                 i, g->name);
        PBD_TRY(check_range(file, i, "threads", g->threads, 4096));
        PBD_TRY(check_range(file, i, "cores", g->cores, 4096));
        PBD_TRY(check_range(file, i, "repeats", g->repeats, 100000));
        PBD_TRY(check_range(file, i, "warmups", g->warmups, 1000));
    }
    return pbd_ok();
}

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Whether a query itself reads the table NAME or NAME_series: whether the word occurs outside quoted text. */
static bool reads(const char *sql, const char *name) {
    const size_t length = strlen(name);
    bool quoted = false;
    for (const char *at = sql; *at; at++) {
        if (*at == '\'') quoted = !quoted;
        if (quoted || strncmp(at, name, length) != 0 || (at > sql && in_name(at[-1]))) continue;
        const char *after = at + length;
        if (strncmp(after, "_series", 7) == 0) after += 7;
        if (!in_name(*after)) return true;
    }
    return false;
}

/* Terminates, since tables read only tables before them (check_tables). */
static bool reads_by(const pbd_figure_file *file, const char *sql, const char *name, unsigned tables) {
    if (reads(sql, name)) return true;
    for (unsigned i = 0; i < tables; i++)
        if (reads(sql, file->tables[i].name) && reads_by(file, file->tables[i].sql, name, i)) return true;
    return false;
}

bool pbd_figure_reads(const pbd_figure_file *file, const char *sql, const char *name) {
    return reads_by(file, sql, name, file->tables_count);
}

static pbd_status check_tables(const pbd_figure_file *file) {
    for (unsigned i = 0; i < file->tables_count; i++) {
        const pbd_named_query *table = &file->tables[i];
        PBD_TRY(check_table_name(file, "tables", i, table->name));
        for (unsigned k = 0; k < file->runs_count; k++)
            if (strcmp(table->name, file->runs[k].name) == 0)
                return pbd_error(PBD_BAD_INPUT, "%s: tables[%u] and runs[%u] have the same name '%s'", file->shown_as,
                                 i, k, table->name);
        for (unsigned k = 0; k < i; k++)
            if (strcmp(table->name, file->tables[k].name) == 0)
                return pbd_error(PBD_BAD_INPUT, "%s: tables[%u] and tables[%u] have the same name '%s'", file->shown_as,
                                 k, i, table->name);
        for (unsigned k = i; k < file->tables_count; k++)
            if (reads(table->sql, file->tables[k].name))
                return pbd_error(PBD_BAD_INPUT, "%s: tables[%u] '%s' reads '%s'; a table may read those before it",
                                 file->shown_as, i, table->name, file->tables[k].name);
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

/* Whether a query reads a time of a run: a phase's (solve_wall_s), or one that a method or an engine measures. */
static bool reads_times(const char *sql) {
    static const char *const ends[] = {"_wall_s",     "_cpu_s",    "_wall",         "_cpu",
                                       "kernel_time", "_cpu_time", "_cpu_measured", "residual_time"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (const char *at = strstr(sql, ends[i]); at; at = strstr(at + 1, ends[i]))
            if (!in_name(at[strlen(ends[i])])) return true;
    return false;
}

static bool is_time_of(const pbd_figure_file *file, const char *sql, const pbd_group *g) {
    return reads_times(sql) && pbd_figure_reads(file, sql, g->name);
}

static bool is_timed(const pbd_figure_file *file, const pbd_group *g) {
    if (g->engine) return true; /* a separate program, which may use any number of threads */
    for (unsigned i = 0; i < file->tables_count; i++)
        if (is_time_of(file, file->tables[i].sql, g)) return true;
    for (unsigned i = 0; i < file->data_count; i++)
        if (is_time_of(file, file->data[i].sql, g)) return true;
    for (unsigned i = 0; i < file->claims_count; i++)
        if (is_time_of(file, file->claims[i].sql, g)) return true;
    return false;
}

static bool names_runs(const pbd_figure_file *file, const pbd_claim *claim) {
    for (unsigned i = 0; i < file->runs_count; i++)
        if (pbd_figure_reads(file, claim->sql, file->runs[i].name)) return true;
    return false;
}

/* A verdict must be able to change: the bounds exclude some possible value, and the query reads runs. */
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
    PBD_TRY(check_tables(file));
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

/* Whether the list "a,b,c" contains the value. Ranges are not expanded: axes that need the paper's value list it. */
static bool lists(const char *values, const char *value) {
    const size_t n = strlen(value);
    for (const char *at = values; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        if (strcspn(at, ",") == n && strncmp(at, value, n) == 0) return true;
    }
    return false;
}

/* The first "key=value" with this key and another value; *stated: whether any has the key. */
static const char *other_value(char **words, unsigned count, const char *setting, bool *stated) {
    for (unsigned i = 0; i < count; i++) {
        const char *value = value_of(words[i], setting);
        *stated |= value != NULL;
        if (value && !lists(value, value_of(setting, setting))) return words[i];
    }
    return NULL;
}

static bool has_key(const pbd_param *params, const char *setting) {
    for (const pbd_param *p = params; p && p->name; p++)
        if (value_of(setting, p->name)) return true;
    return false;
}

/* Whether a setting of the paper applies to this group. It does not if its parameter belongs to other cases, and
 * neither to this group's case nor to its method. */
static bool concerns(const pbd_group *g, const char *setting) {
    const pbd_method_entry *method;
    const pbd_case *own;
    if (pbd_find_case(g->case_name, &own).code != PBD_OK || has_key(own->params, setting)) return true;
    if (pbd_find_method(g->method, &method).code != PBD_OK || has_key(method->by_precision[0]->params, setting))
        return true;
    for (size_t i = 0; i < pbd_case_count(); i++)
        if (has_key(pbd_case_at(i)->params, setting)) return false;
    return true;
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

/* The figure's entry under `differs` for that key. */
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
                if (strcmp(file->runs[g].method, settings->method) == 0 && concerns(&file->runs[g], settings->set[i]))
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
    for (unsigned i = 0; i < file->differs_count; i++) file->differs[i].used = false; /* not part of the schema */
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
        file->runs[i].left_out = 0; /* not part of the schema, like the next one */
        file->runs[i].missing[0] = '\0';
        file->runs[i].timed = is_timed(file, &file->runs[i]);
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
    return load(path, name, &pbd_figure_schema, id, out);
}

pbd_status pbd_sweep_load(const char *path, pbd_figure_file **out) {
    return load(path, path, &pbd_sweep_schema, NULL, out);
}

void pbd_figure_file_free(pbd_figure_file *file) {
    if (!file) return;
    free(file->shown_as);
    pbd_yaml_free(&pbd_figure_schema, file);
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
