/* Parameters: parsing, ranges, axes. */
#include "harness/catalog/values.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* a hash state on the stack */
#include <xxhash.h>

#include "harness/catalog/scans.h"
#include "harness/exec/arena.h"
#include "harness/files/content.h"
#include "harness/files/nearest.h"
#include "harness/files/numbers.h"
#include "harness/files/ranges.h"
#include "harness/files/yaml_tree.h"

/* More points than this on one axis is a mistake (a step in the wrong unit). */
enum { LONGEST_AXIS = 100000 };

static const pbd_value *declared(const pbd_values *values, const char *name) {
    const pbd_value *value = pbd_value_named(values, name);
    if (value) return value;
    fprintf(stderr, "pbdbench: programming error: parameter '%s' was read but never declared\n", name);
    abort();
}

double pbd_real(const pbd_values *values, const char *name) { return declared(values, name)->number; }
long pbd_integer(const pbd_values *values, const char *name) { return (long)declared(values, name)->number; }
int pbd_choice(const pbd_values *values, const char *name) { return (int)declared(values, name)->number; }
const char *pbd_value_text(const pbd_value *value) { return value->words ? value->words : value->text; }
const char *pbd_text(const pbd_values *values, const char *name) { return pbd_value_text(declared(values, name)); }

static pbd_status parse_choice(const pbd_param *param, const char *text, const char *where, pbd_value *out) {
    size_t count = 0;
    while (param->choices[count]) count++;
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, param->choices[i]) == 0) {
            out->number = (double)i;
            snprintf(out->text, sizeof out->text, "%s", param->choices[i]);
            return pbd_ok();
        }
    char all[200] = "";
    for (size_t i = 0; i < count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? "|" : "", param->choices[i]);
    const char *nearest = pbd_nearest(text, param->choices, count);
    if (nearest)
        return pbd_error(PBD_BAD_INPUT, "%s: %s='%.40s' is not one of %s; did you mean '%s'?", where, param->name, text,
                         all, nearest);
    return pbd_error(PBD_BAD_INPUT, "%s: %s='%.40s' is not one of %s", where, param->name, text, all);
}

/* ---- Words and files --------------------------------------------------------------------------------------------- */

enum { LONGEST_WORDS = 4095, HASH_DIGITS = 16 };

/* Texts are stored as JSON and shown on terminals: they must be one line of UTF-8. */
static pbd_status check_words(const pbd_param *param, const char *text, const char *where) {
    const size_t length = strlen(text);
    if (length > LONGEST_WORDS)
        return pbd_error(PBD_BAD_INPUT, "%s: %s='%.40s...' has %zu letters; at most %d are allowed", where, param->name,
                         text, length, LONGEST_WORDS);
    bool plain = true;
    for (const char *c = text; *c; c++) plain = plain && (unsigned char)*c >= ' ' && *c != 0x7f;
    json_auto_t *string = plain ? json_string(text) : NULL; /* NULL: not UTF-8 */
    if (!string)
        return pbd_error(PBD_BAD_INPUT, "%s: the value of %s is not one line of UTF-8 text", where, param->name);
    return pbd_ok();
}

static pbd_status keep_words(char *words, pbd_value *out) {
    out->words = words;
    return words ? pbd_ok() : pbd_no_memory();
}

static pbd_status parse_text(const pbd_param *param, const char *text, const char *where, pbd_value *out) {
    PBD_TRY(check_words(param, text, where));
    if (!*text && *param->preset)
        return pbd_error(PBD_BAD_INPUT, "%s: %s is empty; it is %s", where, param->name, param->doc);
    return keep_words(strdup(text), out);
}

/* A scene file (.yaml) names files of meshes and points, whose hashes are hashed after its text. */
static pbd_status add_file(void *to, pbd_yaml *tree, const yaml_node_t *value) {
    pbd_content mesh PBD_CLEANUP(pbd_content_free) = {0};
    const char *name = (const char *)value->data.scalar.value;
    pbd_status status = pbd_scan_fetch(name);
    if (status.code == PBD_OK) status = pbd_content_beside(tree->shown_as, name, &mesh);
    if (status.code != PBD_OK) return pbd_yaml_error(tree, value, "%.250s", status.text);
    const uint64_t hash = XXH3_64bits(mesh.text, mesh.bytes);
    return XXH3_64bits_update(to, &hash, sizeof hash) == XXH_OK ? pbd_ok() : pbd_no_memory();
}

static pbd_status add_files(const pbd_content *content, XXH3_state_t *state) {
    const char *dot = strrchr(content->path, '.');
    pbd_yaml tree PBD_CLEANUP(pbd_yaml_close) = {0};
    if (!dot || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".yml") != 0)) return pbd_ok();
    PBD_TRY(pbd_yaml_open(content->path, content->text, content->bytes, &tree));
    PBD_TRY(pbd_yaml_each(&tree, "mesh", add_file, state));
    return pbd_yaml_each(&tree, "points", add_file, state);
}

static pbd_status hash_content(const pbd_content *content, char hash[HASH_DIGITS + 1]) {
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, content->text, content->bytes);
    PBD_TRY(add_files(content, &state));
    snprintf(hash, HASH_DIGITS + 1, "%016llx", (unsigned long long)XXH3_64bits_digest(&state));
    return pbd_ok();
}

/* Splits «PATH#HASH»; returns the hash, or NULL if there is none. */
static const char *split_hash(const char *text, size_t *path_length) {
    *path_length = strlen(text);
    const char *mark = strrchr(text, '#');
    if (!mark || strlen(mark + 1) != HASH_DIGITS || strspn(mark + 1, "0123456789abcdef") != HASH_DIGITS) return NULL;
    *path_length = (size_t)(mark - text);
    return mark + 1;
}

/* Reads «PATH» or «PATH#HASH»; the content must match the hash, if there is one. */
static pbd_status read_value(const char *text, char hash[HASH_DIGITS + 1], pbd_content *out) {
    size_t length;
    const char *wanted = split_hash(text, &length);
    char *path = strndup(text, length);
    if (!path) return pbd_no_memory();
    PBD_TRY(pbd_content_read(path, out));
    pbd_status status = hash_content(out, hash);
    if (status.code == PBD_OK && (!wanted || strcmp(wanted, hash) == 0)) return pbd_ok();
    if (status.code == PBD_OK)
        status =
            pbd_error(PBD_BAD_INPUT, "%.200s has content with hash %s, but %s was requested", out->path, hash, wanted);
    pbd_content_free(out);
    return status;
}

/* Fetches the mesh of a path cgal:NAME, with or without a hash. */
static pbd_status fetch(const char *text) {
    size_t length;
    split_hash(text, &length);
    char *path PBD_CLEANUP(pbd_free_memory) = strndup(text, length);
    return path ? pbd_scan_fetch(path) : pbd_no_memory();
}

/* A default that is no file stands for what the case makes itself. It also replaces a mesh that cannot be
 * downloaded. */
static pbd_status parse_file(const pbd_param *param, const char *text, const char *where, pbd_value *out) {
    if (!*text) return pbd_error(PBD_BAD_INPUT, "%s: %s is empty; it is %s", where, param->name, param->doc);
    PBD_TRY(check_words(param, text, where));
    char hash[HASH_DIGITS + 1], *words = NULL;
    pbd_content content;
    const bool is_preset = strcmp(text, param->preset) == 0;
    pbd_status status = is_preset ? pbd_ok() : fetch(text);
    if (*param->preset && (is_preset || (status.code == PBD_BAD_INPUT && !strchr(text, '#')))) {
        if (!is_preset) fprintf(stderr, "pbdbench: %s=%s instead: %s\n", param->name, param->preset, status.text);
        return keep_words(strdup(param->preset), out);
    }
    if (status.code == PBD_OK) status = read_value(text, hash, &content);
    if (status.code != PBD_OK) return pbd_error(status.code, "%s: %s: %.300s", where, param->name, status.text);
    if (asprintf(&words, "%s#%s", content.path, hash) < 0) words = NULL;
    pbd_content_free(&content);
    return keep_words(words, out);
}

pbd_status pbd_read_file(const pbd_values *values, const char *name, pbd_content *out) {
    char hash[HASH_DIGITS + 1];
    const pbd_status status = read_value(pbd_text(values, name), hash, out);
    return status.code == PBD_OK ? status : pbd_error(status.code, "%s: %.300s", name, status.text);
}

/* ---- Values of every kind ---------------------------------------------------------------------------------------- */

bool pbd_param_is_auto(const pbd_param *param) {
    if (strcmp(param->preset, "auto") != 0 || param->kind == PBD_TEXT || param->kind == PBD_FILE) return false;
    for (size_t k = 0; param->kind == PBD_CHOICE && param->choices[k]; k++)
        if (strcmp(param->choices[k], "auto") == 0) return false;
    return true;
}

pbd_status pbd_parse_value(const pbd_param *param, const char *text, const char *where, pbd_value *out) {
    *out = (pbd_value){.param = param};
    if (pbd_param_is_auto(param) && strcmp(text, "auto") == 0) {
        out->number = param->kind == PBD_REAL ? (double)NAN : 0;
        snprintf(out->text, sizeof out->text, "auto");
        return pbd_ok();
    }
    if (param->kind == PBD_CHOICE) return parse_choice(param, text, where, out);
    if (param->kind == PBD_TEXT) return parse_text(param, text, where, out);
    if (param->kind == PBD_FILE) return parse_file(param, text, where, out);
    char range[80], *end;
    pbd_range_text(param, range, sizeof range);
    errno = 0;
    double x = pbd_decimal(text, &end);
    const char *kind = param->kind == PBD_INTEGER ? "a whole number" : "a number";
    if (end == text || *end != '\0')
        return pbd_error(PBD_BAD_INPUT, "%s: %s='%.40s' is not %s; the range is %s%s%s", where, param->name, text, kind,
                         range, *param->unit ? " " : "", param->unit);
    if (!isfinite(x) || !pbd_in_range(param, x))
        return pbd_error(PBD_BAD_INPUT, "%s: %s=%.40s is out of range; it must lie in %s%s%s", where, param->name, text,
                         range, *param->unit ? " " : "", param->unit);
    if (param->kind == PBD_INTEGER && x != floor(x))
        return pbd_error(PBD_BAD_INPUT, "%s: %s=%.40s is not a whole number; the range is %s", where, param->name, text,
                         range);
    out->number = x == 0 ? 0 : x; /* -0 becomes 0: one spelling, one hash */
    /* The canonical spelling is the shortest; whole numbers are spelt out. */
    if (param->kind == PBD_INTEGER)
        snprintf(out->text, sizeof out->text, "%.0f", out->number);
    else
        pbd_spell_number(out->number, out->text);
    return pbd_ok();
}

bool pbd_param_is_asked(const pbd_param *param) {
    return (param->kind == PBD_FILE || param->kind == PBD_TEXT) && !*param->preset;
}

const pbd_param *pbd_param_asked(const pbd_param *params) {
    for (; params && params->name; params++)
        if (pbd_param_is_asked(params)) return params;
    return NULL;
}

void pbd_value_free(pbd_value *value) {
    free(value->words);
    *value = (pbd_value){0};
}

void pbd_values_free(pbd_values *values) {
    pbd_value *item = (pbd_value *)(uintptr_t)values->item; /* made by preset_values or pbd_values_copy */
    for (size_t i = 0; i < values->count; i++) pbd_value_free(&item[i]);
    free(item);
    *values = (pbd_values){0};
}

pbd_status pbd_values_copy(const pbd_values *from, pbd_values *to) {
    pbd_value *item = calloc(from->count + 1, sizeof *item);
    bool fine = item != NULL;
    for (size_t i = 0; i < from->count && fine; i++) {
        item[i] = from->item[i];
        if (item[i].words) fine = (item[i].words = strdup(item[i].words)) != NULL;
    }
    *to = (pbd_values){item, item ? from->count : 0};
    if (fine) return pbd_ok();
    pbd_values_free(to);
    return pbd_no_memory();
}

pbd_status pbd_setting_parse(const char *text, pbd_setting *out) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) return pbd_error(PBD_BAD_INPUT, "'%.60s' is not of the form key=value", text);
    char *copy = strdup(text);
    if (!copy) return pbd_no_memory();
    copy[equals - text] = '\0';
    *out = (pbd_setting){copy, copy + (equals - text) + 1};
    return pbd_ok();
}

void pbd_setting_free(pbd_setting *setting) {
    free((void *)(uintptr_t)setting->key); /* the value lies in the same copy */
    *setting = (pbd_setting){0};
}

pbd_status pbd_settings_parse(const char *const *texts, size_t count, pbd_settings *out) {
    *out = (pbd_settings){.item = calloc(count + 1, sizeof *out->item)};
    if (!out->item) return pbd_no_memory();
    for (; out->count < count; out->count++) PBD_TRY(pbd_setting_parse(texts[out->count], &out->item[out->count]));
    return pbd_ok();
}

void pbd_settings_free(pbd_settings *settings) {
    for (size_t i = 0; i < settings->count; i++) pbd_setting_free(&settings->item[i]);
    free(settings->item);
    *settings = (pbd_settings){0};
}

static pbd_status add_value(const char *text, size_t length, pbd_axis *out) {
    if (!(out->values[out->count] = strndup(text, length))) return pbd_no_memory();
    out->count++;
    return pbd_ok();
}

/* Expands lo:hi:step into numbers as text. Each is lo + i step, not a running sum, and rounded to 12 digits: 0.1 stays
 * 0.1. */
static pbd_status range_values(const char *text, const char *numbers, pbd_axis *out) {
    double number[3];
    for (int i = 0; i < 3; i++) {
        char *end;
        number[i] = pbd_decimal(numbers, &end);
        if (end == numbers || *end != (i < 2 ? ':' : '\0') || !isfinite(number[i]))
            return pbd_error(PBD_BAD_INPUT, "axis '%.60s' is not of the form key=lo:hi:step", text);
        numbers = end + 1;
    }
    const double lo = number[0], hi = number[1], step = number[2];
    if (step <= 0 || hi < lo)
        return pbd_error(PBD_BAD_INPUT, "axis '%.60s' needs lo <= hi and step > 0; it has %g, %g and %g", text, lo, hi,
                         step);
    double steps = floor((hi - lo) / step * (1 + 1e-12) + 1e-9);
    if (steps >= LONGEST_AXIS)
        return pbd_error(PBD_BAD_INPUT, "axis '%.60s' has %.3g points; at most %d are allowed", text, steps + 1,
                         LONGEST_AXIS);
    size_t count = (size_t)steps + 1;
    out->values = calloc(count, sizeof *out->values);
    if (!out->values) return pbd_no_memory();
    for (size_t i = 0; i < count; i++) {
        char spelt[40];
        snprintf(spelt, sizeof spelt, "%.12g", lo + (double)i * step);
        PBD_TRY(add_value(spelt, strlen(spelt), out));
    }
    return pbd_ok();
}

static pbd_status list_values(const char *text, const char *list, pbd_axis *out) {
    size_t count = 1;
    for (const char *p = list; *p; p++) count += *p == ',';
    out->values = calloc(count, sizeof *out->values);
    if (!out->values) return pbd_no_memory();
    for (const char *p = list;; p++) {
        size_t length = strcspn(p, ",");
        if (length == 0) return pbd_error(PBD_BAD_INPUT, "axis '%.60s' has an empty value", text);
        PBD_TRY(add_value(p, length, out));
        p += length;
        if (*p == '\0') return pbd_ok();
    }
}

pbd_status pbd_axis_parse(const char *text, pbd_axis *out) {
    *out = (pbd_axis){0};
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return pbd_error(PBD_BAD_INPUT, "axis '%.60s' is not of the form key=lo:hi:step or key=a,b,c", text);
    out->key = strndup(text, (size_t)(equals - text));
    const pbd_status status = !out->key                 ? pbd_no_memory()
                              : strchr(equals + 1, ':') ? range_values(text, equals + 1, out)
                                                        : list_values(text, equals + 1, out);
    if (status.code != PBD_OK) pbd_axis_free(out);
    return status;
}

void pbd_axis_free(pbd_axis *axis) {
    for (size_t i = 0; i < axis->count; i++) free(axis->values[i]);
    free(axis->values);
    free(axis->key);
    *axis = (pbd_axis){0};
}
