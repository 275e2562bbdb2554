/* YAML by libcyaml, with error messages that name line, column and key.
 *
 * libcyaml reports errors in a log, without the position of an unknown or repeated key and without syntax errors, and
 * it reads 1.5 as 1, -1 as 2^64 - 1 and 010 as 8. So the text is first read into libyaml's own document tree, which has
 * the position of every node, and the tree is checked against the schema: libcyaml only sees files that fit it. */
#include "harness/files/yaml_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/files/nearest.h"
#include "harness/files/numbers.h"
#include "harness/files/yaml_tree.h"

enum {
    LARGEST_FILE = 4 << 20, /* bytes: more than any hand-written file */
    MOST_ENTRIES = 1000,    /* of one list */
    LONGEST_PATH = 200,     /* of a value's path, as text */
    MOST_KEYS = 40          /* of one mapping in any schema */
};

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

static pbd_status node_error(pbd_yaml *t, const yaml_node_t *node, const char *path, const char *problem) {
    return pbd_yaml_error(t, node, "%s%s%s%s", problem, *path ? " (in " : "", path, *path ? ")" : "");
}

/* Such as 0, 7, 120: no sign, no fraction, no leading 0, which libcyaml takes for octal; and it fits in `bytes`. */
static bool is_whole(const char *text, size_t bytes) {
    const size_t digits = strspn(text, "0123456789");
    errno = 0;
    const unsigned long long value = strtoull(text, NULL, 10);
    return digits > 0 && !text[digits] && (digits == 1 || text[0] != '0') && errno == 0 &&
           (bytes >= sizeof value || value >> 8 * bytes == 0);
}

static bool is_number(const char *text) {
    char *end;
    double x = pbd_decimal(text, &end);
    return end != text && !*end && isfinite(x);
}

static const char *kind_of(cyaml_type_e type) {
    switch (type) {
        case CYAML_UINT:
            return "a whole number from 0 up";
        case CYAML_FLOAT:
            return "a number";
        case CYAML_BOOL:
            return "true or false";
        case CYAML_SEQUENCE:
            return "a list";
        case CYAML_MAPPING:
            return "`key: value` lines";
        default:
            return "text";
    }
}

static pbd_status check_scalar(pbd_yaml *t, const yaml_node_t *node, const cyaml_schema_value_t *schema,
                               const char *path) {
    const char *text = (const char *)node->data.scalar.value;
    char problem[160];
    if (schema->type == CYAML_UINT     ? is_whole(text, schema->data_size)
        : schema->type == CYAML_FLOAT  ? is_number(text)
        : schema->type == CYAML_STRING ? node->data.scalar.length >= schema->string.min
                                       : true)
        return pbd_ok();
    snprintf(problem, sizeof problem, "expected %s, found '%.60s'", kind_of(schema->type), text);
    return node_error(t, node, path, problem);
}

static pbd_status check_length(pbd_yaml *t, const yaml_node_t *list, const cyaml_schema_value_t *schema,
                               const char *path) {
    long count = (long)(list->data.sequence.items.top - list->data.sequence.items.start);
    char problem[100];
    if (count > MOST_ENTRIES)
        snprintf(problem, sizeof problem, "the list has %ld entries; expected at most %d", count, MOST_ENTRIES);
    else if (count < (long)schema->sequence.min)
        snprintf(problem, sizeof problem, "the list is empty; expected at least %u entry", schema->sequence.min);
    else
        return pbd_ok();
    return node_error(t, list, path, problem);
}

/* Appends as much of a list of the keys as fits into `out`. */
static void list_keys(const cyaml_schema_field_t *fields, const char *nearest, char *out, size_t size) {
    const char *between = nearest ? " Expected one of: " : "; expected one of: ";
    for (const cyaml_schema_field_t *f = fields; f->key; f++, between = ", ") {
        const size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", between, f->key);
    }
}

static pbd_status unknown_key(pbd_yaml *t, const yaml_node_t *key, const cyaml_schema_field_t *fields,
                              const char *path) {
    const char *keys[MOST_KEYS], *name = (const char *)key->data.scalar.value;
    char problem[400];
    size_t count = 0;
    for (const cyaml_schema_field_t *f = fields; f->key && count < MOST_KEYS; f++) keys[count++] = f->key;
    const char *nearest = pbd_nearest(name, keys, count);
    snprintf(problem, sizeof problem, "unknown key '%.63s'%s%s%s", name, nearest ? "; did you mean '" : "",
             nearest ? nearest : "", nearest ? "'?" : "");
    list_keys(fields, nearest, problem, sizeof problem);
    return node_error(t, key, path, problem);
}

/* How often the key is given before `end`. */
static int count_key(pbd_yaml *t, const yaml_node_t *mapping, const yaml_node_pair_t *end, const char *name) {
    int count = 0;
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < end; pair++)
        count += strcmp((const char *)pbd_yaml_node(t, pair->key)->data.scalar.value, name) == 0;
    return count;
}

static pbd_status check_node(pbd_yaml *t, int id, const cyaml_schema_value_t *schema, const char *path);

static pbd_status check_mapping(pbd_yaml *t, const yaml_node_t *node, const cyaml_schema_field_t *fields,
                                const char *path) {
    const yaml_node_pair_t *const end = node->data.mapping.pairs.top;
    char inner[LONGEST_PATH], problem[160];
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < end; pair++) {
        const yaml_node_t *key = pbd_yaml_node(t, pair->key);
        if (key->type != YAML_SCALAR_NODE)
            return node_error(t, key, path, "expected a word as the key, found a list or keys");
        const char *name = (const char *)key->data.scalar.value;
        const cyaml_schema_field_t *field = fields;
        while (field->key && strcmp(field->key, name) != 0) field++;
        if (!field->key) return unknown_key(t, key, fields, path);
        snprintf(problem, sizeof problem, "the key '%.63s' is given twice", name);
        if (count_key(t, node, pair, name) > 0) return node_error(t, key, path, problem);
        snprintf(inner, sizeof inner, "%.100s%s%.60s", path, *path ? "." : "", name);
        PBD_TRY(check_node(t, pair->value, &field->value, inner));
    }
    for (const cyaml_schema_field_t *f = fields; f->key; f++) {
        snprintf(problem, sizeof problem, "the key '%.63s' is missing here", f->key);
        if (!(f->value.flags & CYAML_FLAG_OPTIONAL) && count_key(t, node, end, f->key) == 0)
            return node_error(t, node, path, problem);
    }
    return pbd_ok();
}

/* Recurses as deep as the schema. */
static pbd_status check_node(pbd_yaml *t, int id, const cyaml_schema_value_t *schema, const char *path) {
    static const char *const found[] = {[YAML_SCALAR_NODE] = "a plain value",
                                        [YAML_SEQUENCE_NODE] = "a list",
                                        [YAML_MAPPING_NODE] = "`key: value` lines"};
    const yaml_node_t *node = pbd_yaml_node(t, id);
    const bool list = schema->type == CYAML_SEQUENCE, mapping = schema->type == CYAML_MAPPING;
    char inner[LONGEST_PATH];
    if (node->type != (list ? YAML_SEQUENCE_NODE : mapping ? YAML_MAPPING_NODE : YAML_SCALAR_NODE)) {
        snprintf(inner, sizeof inner, "expected %s, found %s", kind_of(schema->type), found[node->type]);
        return node_error(t, node, path, inner);
    }
    if (mapping) return check_mapping(t, node, schema->mapping.fields, path);
    if (!list) return check_scalar(t, node, schema, path);
    PBD_TRY(check_length(t, node, schema, path));
    const yaml_node_item_t *item = node->data.sequence.items.start;
    for (int i = 0; item + i < node->data.sequence.items.top; i++) {
        snprintf(inner, sizeof inner, "%.150s[%d]", path, i);
        PBD_TRY(check_node(t, item[i], schema->sequence.entry, inner));
    }
    return pbd_ok();
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static pbd_status read_file(const char *path, const char *shown_as, uint8_t **out, size_t *bytes) {
    FILE *file PBD_CLEANUP(pbd_close_file) = fopen(path, "rb");
    if (!file) return pbd_error(PBD_BAD_INPUT, "%s: cannot be read: %s", shown_as, strerror(errno));
    for (size_t room = 0; *bytes == room && room <= LARGEST_FILE;) {
        room = room > 0 ? 2 * room : 1 << 14;
        uint8_t *more = realloc(*out, room);
        if (!more) return pbd_error(PBD_FAILED, "%s: out of memory", shown_as);
        *out = more;
        *bytes += fread(more + *bytes, 1, room - *bytes, file);
    }
    if (ferror(file)) return pbd_error(PBD_BAD_INPUT, "%s: cannot be read: %s", shown_as, strerror(errno));
    if (*bytes <= LARGEST_FILE) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%s: larger than %d MiB; too large for a figure or sweep file", shown_as,
                     LARGEST_FILE >> 20);
}

static const cyaml_config_t config = {.mem_fn = cyaml_mem, .flags = CYAML_CFG_NO_ALIAS};

pbd_status pbd_yaml_load(const char *path, const char *shown_as, const cyaml_schema_value_t *schema, void **out) {
    uint8_t *text PBD_CLEANUP(pbd_free_memory) = NULL;
    pbd_yaml tree PBD_CLEANUP(pbd_yaml_close) = {0};
    cyaml_data_t *data = NULL;
    size_t bytes = 0;
    *out = NULL;
    PBD_TRY(read_file(path, shown_as, &text, &bytes));
    PBD_TRY(pbd_yaml_open(shown_as, text, bytes, &tree));
    PBD_TRY(check_node(&tree, 1, schema, "")); /* the root is node 1 */
    const cyaml_err_t code = cyaml_load_data(text, bytes, &config, schema, &data, NULL);
    *out = data;
    return code == CYAML_OK && data ? pbd_ok() : pbd_error(PBD_BAD_INPUT, "%s: %s", shown_as, cyaml_strerror(code));
}

void pbd_yaml_free(const cyaml_schema_value_t *schema, void *data) {
    if (data) cyaml_free(&config, schema, data, 0);
}
