#include "cases/scene/keys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/files/nearest.h"
#include "harness/files/numbers.h"
#include "harness/files/ranges.h"

enum { MOST_KEYS = 64 };

const char *keys_text(const yaml_node_t *node) {
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

const yaml_node_t *keys_find(pbd_yaml *tree, const yaml_node_t *mapping, const char *name) {
    if (!mapping || mapping->type != YAML_MAPPING_NODE) return NULL;
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
         pair++) {
        const char *key = keys_text(pbd_yaml_node(tree, pair->key));
        if (key && strcmp(key, name) == 0) return pbd_yaml_node(tree, pair->value);
    }
    return NULL;
}

/* ---- Lists and names --------------------------------------------------------------------------------------------- */

pbd_status keys_list(pbd_yaml *tree, const yaml_node_t *node, const char *what, size_t most, size_t *count) {
    *count = 0;
    if (!node) return pbd_ok();
    if (node->type != YAML_SEQUENCE_NODE) return pbd_yaml_error(tree, node, "%s: expected a list", what);
    *count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    return *count <= most ? pbd_ok() : pbd_yaml_error(tree, node, "%s: %zu entries; at most %zu", what, *count, most);
}

const yaml_node_t *keys_item(pbd_yaml *tree, const yaml_node_t *list, size_t index) {
    return pbd_yaml_node(tree, list->data.sequence.items.start[index]);
}

static void list_names(const char *const *names, char *out, size_t size) {
    *out = '\0';
    for (size_t i = 0; names[i]; i++) {
        const size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", i ? ", " : "", names[i]);
    }
}

pbd_status keys_choose(pbd_yaml *tree, const yaml_node_t *at, const char *what, const char *const *names, size_t *out) {
    const char *text = keys_text(at);
    char all[200];
    size_t count = 0;
    for (; names[count]; count++)
        if (text && strcmp(text, names[count]) == 0) {
            *out = count;
            return pbd_ok();
        }
    list_names(names, all, sizeof all);
    const char *nearest = text ? pbd_nearest(text, names, count) : NULL;
    return pbd_yaml_error(tree, at, "%s '%.40s' is not one of %s%s%s%s", what, text ? text : "[...]", all,
                          nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static pbd_status read_number(pbd_yaml *tree, const yaml_node_t *node, const scene_key *key, double *out) {
    const pbd_param range = {.min = key->min, .max = key->max, .open = key->open};
    const char *text = keys_text(node), *unit = key->unit ? key->unit : "";
    const char *kind = key->kind == KEY_COUNT ? "a whole number" : "a number";
    char words[80], *end = NULL;
    pbd_range_text(&range, words, sizeof words);
    const double x = text ? pbd_decimal(text, &end) : NAN;
    if (!text || end == text || *end || !isfinite(x))
        return pbd_yaml_error(tree, node, "%s: '%.40s' is not %s; the range is %s%s%s", key->name,
                              text ? text : "[...]", kind, words, *unit ? " " : "", unit);
    if (!pbd_in_range(&range, x))
        return pbd_yaml_error(tree, node, "%s: %.40s is out of range; it must lie in %s%s%s", key->name, text, words,
                              *unit ? " " : "", unit);
    if (key->kind == KEY_COUNT && x != floor(x))
        return pbd_yaml_error(tree, node, "%s: %.40s is not a whole number; the range is %s", key->name, text, words);
    *out = x;
    return pbd_ok();
}

static pbd_status read_vector(pbd_yaml *tree, const yaml_node_t *node, const scene_key *key, double out[3]) {
    size_t count;
    PBD_TRY(keys_list(tree, node, key->name, 3, &count));
    if (count != 3) return pbd_yaml_error(tree, node, "%s: expected [x, y, z], found %zu entries", key->name, count);
    for (size_t d = 0; d < 3; d++) PBD_TRY(read_number(tree, keys_item(tree, node, d), key, &out[d]));
    return pbd_ok();
}

static pbd_status read_choice(pbd_yaml *tree, const yaml_node_t *node, const scene_key *key, double *out) {
    static const char *const flags[] = {"false", "true", NULL};
    size_t index;
    PBD_TRY(keys_choose(tree, node, key->name, key->kind == KEY_FLAG ? flags : key->choices, &index));
    *out = (double)index;
    return pbd_ok();
}

static pbd_status read_value(pbd_yaml *tree, const yaml_node_t *node, const scene_key *key, void *out) {
    void *at = (char *)out + key->offset;
    switch (key->kind) {
        case KEY_REAL:
        case KEY_COUNT:
            return read_number(tree, node, key, at);
        case KEY_VECTOR:
            return read_vector(tree, node, key, at);
        case KEY_CHOICE:
        case KEY_FLAG:
            return read_choice(tree, node, key, at);
        case KEY_TEXT:
            if (!keys_text(node) || !*keys_text(node))
                return pbd_yaml_error(tree, node, "%s: expected text", key->name);
            *(const char **)at = keys_text(node);
            return pbd_ok();
        case KEY_NODE:
            *(const yaml_node_t **)at = node;
            return pbd_ok();
    }
    return pbd_ok();
}

/* ---- Mappings ---------------------------------------------------------------------------------------------------- */

static pbd_status unknown_key(pbd_yaml *tree, const yaml_node_t *key, const char *what, const scene_key *table) {
    const char *names[MOST_KEYS + 1] = {0};
    char all[230];
    size_t count = 0;
    for (const scene_key *k = table; k->name && count < MOST_KEYS; k++) names[count++] = k->name;
    list_names(names, all, sizeof all);
    const char *nearest = pbd_nearest(keys_text(key), names, count);
    return pbd_yaml_error(tree, key, "%s has no key '%.40s'%s%s%s %s: %s", what, keys_text(key),
                          nearest ? "; did you mean '" : ".", nearest ? nearest : "", nearest ? "'?" : "",
                          nearest ? "All" : "Its keys", all);
}

static pbd_status check_once(pbd_yaml *tree, const yaml_node_t *mapping, const yaml_node_pair_t *pair) {
    const yaml_node_t *key = pbd_yaml_node(tree, pair->key);
    if (!keys_text(key)) return pbd_yaml_error(tree, key, "expected a word as the key");
    for (const yaml_node_pair_t *before = mapping->data.mapping.pairs.start; before < pair; before++)
        if (strcmp(keys_text(pbd_yaml_node(tree, before->key)), keys_text(key)) == 0)
            return pbd_yaml_error(tree, key, "the key '%.60s' is given twice", keys_text(key));
    return pbd_ok();
}

pbd_status keys_read(pbd_yaml *tree, const yaml_node_t *mapping, const char *what, const scene_key *table, void *out) {
    if (mapping->type != YAML_MAPPING_NODE)
        return pbd_yaml_error(tree, mapping, "%s: expected `key: value` lines", what);
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
         pair++) {
        PBD_TRY(check_once(tree, mapping, pair));
        const yaml_node_t *key = pbd_yaml_node(tree, pair->key);
        const scene_key *known = table;
        while (known->name && strcmp(known->name, keys_text(key)) != 0) known++;
        if (!known->name) return unknown_key(tree, key, what, table);
        PBD_TRY(read_value(tree, pbd_yaml_node(tree, pair->value), known, out));
    }
    return pbd_ok();
}

/* ---- As a page --------------------------------------------------------------------------------------------------- */

void keys_write(const scene_key *table, const char *above, FILE *out) {
    static const char *const kind[] = {
        [KEY_REAL] = "number",      [KEY_COUNT] = "whole number", [KEY_VECTOR] = "[x, y, z]", [KEY_CHOICE] = "word",
        [KEY_FLAG] = "true, false", [KEY_TEXT] = "text",          [KEY_NODE] = "word or keys"};
    for (const scene_key *key = table; key->name; key++) {
        char range[80] = "";
        if (key->kind == KEY_REAL || key->kind == KEY_COUNT || key->kind == KEY_VECTOR)
            pbd_range_text(&(pbd_param){.min = key->min, .max = key->max, .open = key->open}, range, sizeof range);
        fprintf(out, "| `%s%s` | %s | ", above, key->name, kind[key->kind]);
        for (size_t i = 0; key->kind == KEY_CHOICE && key->choices[i]; i++)
            fprintf(out, "%s`%s`", i ? ", " : "", key->choices[i]);
        fprintf(out, "%s | %s |\n", range, key->unit ? key->unit : "");
    }
}
