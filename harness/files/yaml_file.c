/* YAML by libcyaml, with sentences a person can act on.
 *
 * libcyaml tells what is wrong in a log with a backtrace of where it was: the places of the values it had read last,
 * from the innermost outwards. That is right for a wrong value, but one line too early for an unknown or repeated key,
 * and missing for a syntax error. So the text is first read into libyaml's own document tree, which knows the place of
 * every key and of every syntax error, and the two together give the sentence.
 *
 * Two things neither of them refuses. Both take time that grows as the square of the depth of nesting and of the number
 * of anchors, so that a small file can hang them: a pass over libyaml's events, which needs no tree, refuses such files
 * first. And libcyaml reads 1.5 as 1, -1 as 2^64 - 1 and 010 as 8: the tree is checked for plain numbers before
 * libcyaml sees the text.
 */
#include "harness/files/yaml_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "harness/files/nearest.h"
#include "harness/files/nearest.h"

enum {
    LARGEST_FILE = 4 << 20, /* bytes: more than any hand-written file */
    DEEPEST = 12,           /* of a backtrace, and of nesting in a file; the schemas are 5 deep */
    MOST_ENTRIES = 1000,    /* of one list */
    LONGEST_NAME = 64,
    LONGEST_PATH = 200, /* of a value's place in words */
    MOST_KEYS = 40      /* of one mapping in any schema */
};

typedef struct place {
    enum { IN_MAPPING, IN_FIELD, IN_ENTRY } kind;
    char field[LONGEST_NAME];
    unsigned entry; /* from 0 */
    size_t line, column;
} place;

/* What libcyaml logged: the problem, and places from the innermost outwards. */
typedef struct complaint {
    char problem[240];
    place place[DEEPEST];
    size_t places;
} complaint;

/* ---- What libcyaml logs ------------------------------------------------------------------------------------------ */

static void note_place(complaint *c, const char *line) {
    if (c->places == DEEPEST) return;
    place p = {.line = 0};
    if (sscanf(line, " in mapping field '%63[^']' (line: %zu, column: %zu)", p.field, &p.line, &p.column) == 3) {
        p.kind = IN_FIELD;
    } else if (sscanf(line, " in sequence entry '%u' (line: %zu, column: %zu)", &p.entry, &p.line, &p.column) == 3) {
        p.kind = IN_ENTRY;
        if (p.entry) p.entry--; /* libcyaml counts from one */
    } else if (sscanf(line, " in mapping (line: %zu, column: %zu)", &p.line, &p.column) == 2) {
        p.kind = IN_MAPPING;
    } else {
        return;
    }
    c->place[c->places++] = p;
}

static void on_log(cyaml_log_t level, void *context, const char *format, va_list arguments) {
    complaint *c = context;
    char line[300];
    if (level != CYAML_LOG_ERROR) return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the format is libcyaml's */
    vsnprintf(line, sizeof line, format, arguments);
#pragma GCC diagnostic pop
    line[strcspn(line, "\n")] = '\0';
    const char *prefix = "Load: ";
    if (strncmp(line, prefix, strlen(prefix)) != 0) {
        note_place(c, line);
    } else if (!c->problem[0] && strcmp(line + strlen(prefix), "Backtrace:") != 0) {
        snprintf(c->problem, sizeof c->problem, "%.239s", line + strlen(prefix));
    }
}

/* ---- Places in the document -------------------------------------------------------------------------------------- */

static bool is_before(size_t line, size_t column, const yaml_mark_t *mark) {
    return line < mark->line + 1 || (line == mark->line + 1 && column < mark->column + 1);
}

/* The first mapping key `name` that stands after line:column (both from 1); false when there is none. */
static bool find_key(yaml_document_t *document, const char *name, size_t line, size_t column, yaml_mark_t *out) {
    bool found = false;
    for (int n = 1; yaml_document_get_node(document, n); n++) {
        const yaml_node_t *mapping = yaml_document_get_node(document, n);
        if (mapping->type != YAML_MAPPING_NODE) continue;
        for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
             pair++) {
            const yaml_node_t *key = yaml_document_get_node(document, pair->key);
            if (!key || key->type != YAML_SCALAR_NODE || strcmp((const char *)key->data.scalar.value, name) != 0)
                continue;
            if (!is_before(line, column, &key->start_mark)) continue;
            if (!found || is_before(key->start_mark.line + 1, key->start_mark.column + 1, out)) *out = key->start_mark;
            found = true;
        }
    }
    return found;
}

/* «runs[0].threads»: the places from the outermost down to place `innermost`. */
static void path_text(const complaint *c, size_t innermost, char *out, size_t size) {
    out[0] = '\0';
    for (size_t i = c->places; i-- > innermost;) {
        size_t used = strlen(out);
        const place *p = &c->place[i];
        if (p->kind == IN_FIELD) snprintf(out + used, size - used, "%s%s", used ? "." : "", p->field);
        if (p->kind == IN_ENTRY) snprintf(out + used, size - used, "[%u]", p->entry);
    }
}

/* ---- What the schema expected ------------------------------------------------------------------------------------ */

static const cyaml_schema_value_t *schema_at(const cyaml_schema_value_t *schema, const complaint *c) {
    for (size_t i = c->places; i-- > 0 && schema;) {
        const place *p = &c->place[i];
        if (p->kind == IN_ENTRY) schema = schema->type == CYAML_SEQUENCE ? schema->sequence.entry : NULL;
        if (p->kind != IN_FIELD) continue;
        const cyaml_schema_field_t *field = schema->type == CYAML_MAPPING ? schema->mapping.fields : NULL;
        while (field && field->key && strcmp(field->key, p->field) != 0) field++;
        schema = field && field->key ? &field->value : NULL;
    }
    return schema;
}

static size_t keys_of(const cyaml_schema_value_t *mapping, const char *keys[MOST_KEYS]) {
    size_t n = 0;
    if (!mapping || mapping->type != CYAML_MAPPING) return 0;
    for (const cyaml_schema_field_t *f = mapping->mapping.fields; f->key && n < MOST_KEYS; f++) keys[n++] = f->key;
    return n;
}

static void unknown_key(const cyaml_schema_value_t *schema, const complaint *c, const char *key, char *out,
                        size_t size) {
    const char *keys[MOST_KEYS];
    size_t n = keys_of(schema_at(schema, c), keys);
    const char *nearest = pbd_nearest(key, keys, n);
    if (nearest)
        snprintf(out, size, "unknown key '%s'; did you mean '%s'?", key, nearest);
    else
        snprintf(out, size, "unknown key '%s'", key);
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s",
                 i         ? ", "
                 : nearest ? " Expected one of: "
                           : "; expected one of: ",
                 keys[i]);
    }
}

/* libcyaml's and libyaml's words for kinds of values, and ours. */
static const char *plain_word(const char *word) {
    static const char *const pairs[][2] = {
        {"STRING", "text"},     {"UINT", "a whole number from 0 up"}, {"uint64_t", "a whole number from 0 up"},
        {"FLOAT", "a number"},  {"MAPPING", "`key: value` lines"},    {"MAPPING_START", "`key: value` lines"},
        {"SEQUENCE", "a list"}, {"SEQUENCE_START", "a list"},         {"SCALAR", "a plain value"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(word, pairs[i][0]) == 0) return pairs[i][1];
    return word;
}

/* Puts what libcyaml says about values into plain words; anything unforeseen is passed on as it is. */
static void plain_problem(const complaint *c, cyaml_err_t code, char *out, size_t size) {
    char a[LONGEST_NAME], b[LONGEST_NAME];
    if (sscanf(c->problem, "Expecting %63[A-Z_], got event: %63[A-Z_]", a, b) == 2)
        snprintf(out, size, "expected %s, found %s", plain_word(a), plain_word(b));
    else if (sscanf(c->problem, "Invalid %63[A-Za-z0-9_] value: %63[^\n]", a, b) == 2)
        snprintf(out, size, "expected %s, found %s", plain_word(a), b);
    else if (c->problem[0])
        snprintf(out, size, "%s", c->problem);
    else
        snprintf(out, size, "%s", cyaml_strerror(code));
}

/* ---- The sentence ------------------------------------------------------------------------------------------------ */

/* What is wrong, where, and in which part of the file; `part` is the innermost place that still holds the fault. */
typedef struct fault {
    char says[400];
    size_t line, column, part;
} fault;

static void point_at(fault *v, const yaml_mark_t *mark) {
    v->line = mark->line + 1;
    v->column = mark->column + 1;
}

/* A key is missing from the entry or file as a whole, not from its last value. */
static void point_at_whole(fault *v, const complaint *c, const yaml_node_t *root) {
    v->part = 0;
    while (v->part < c->places && c->place[v->part].kind != IN_ENTRY) v->part++;
    point_at(v, &root->start_mark);
    if (v->part == c->places) return;
    v->line = c->place[v->part].line;
    v->column = c->place[v->part].column;
}

static fault find_fault(const cyaml_schema_value_t *schema, const complaint *c, cyaml_err_t code,
                        yaml_document_t *document) {
    const yaml_node_t *root = yaml_document_get_root_node(document);
    fault v = {.part = 0};
    char key[LONGEST_NAME];
    yaml_mark_t mark;
    point_at(&v, &root->start_mark);
    if (c->places) {
        v.line = c->place[0].line;
        v.column = c->place[0].column;
    }
    if (sscanf(c->problem, "Unexpected key: %63[^\n]", key) == 1) {
        /* The place of a mapping's first key is the mapping's own: one step back so as not to miss it. */
        if (find_key(document, key, v.line, v.column ? v.column - 1 : 0, &mark)) point_at(&v, &mark);
        unknown_key(schema, c, key, v.says, sizeof v.says);
    } else if (sscanf(c->problem, "Mapping field already seen: %63[^\n]", key) == 1) {
        if (find_key(document, key, v.line, v.column, &mark)) point_at(&v, &mark);
        v.part = 1;
        snprintf(v.says, sizeof v.says, "the key '%s' is given twice", key);
    } else if (sscanf(c->problem, "Missing required mapping field: %63[^\n]", key) == 1) {
        point_at_whole(&v, c, root);
        snprintf(v.says, sizeof v.says, "the key '%s' is missing here", key);
    } else {
        plain_problem(c, code, v.says, sizeof v.says);
    }
    return v;
}

static pbd_status schema_error(const char *shown_as, const complaint *c, const fault *v) {
    char path[LONGEST_PATH];
    path_text(c, v->part, path, sizeof path);
    return pbd_error(PBD_BAD_INPUT, "%s: line %zu, column %zu: %s%s%s%s", shown_as, v->line, v->column, v->says,
                     path[0] ? " (in " : "", path, path[0] ? ")" : "");
}

/* Line and column, both from 1, of a byte; a column counts bytes. */
static place place_of_byte(const uint8_t *text, size_t bytes, size_t at) {
    place p = {.line = 1, .column = 1};
    for (size_t i = 0; i < at && i < bytes; i++) {
        p.column = text[i] == '\n' ? 1 : p.column + 1;
        p.line += text[i] == '\n';
    }
    return p;
}

/* Whether a tab stands where libyaml stopped: the commonest slip, and not what its own words say. */
static bool is_tab(const uint8_t *text, size_t bytes, yaml_mark_t mark) {
    size_t i = 0;
    for (size_t line = 0; i < bytes && line < mark.line; i++) line += text[i] == '\n';
    return i + mark.column < bytes && text[i + mark.column] == '\t';
}

static pbd_status syntax_error(const char *shown_as, const uint8_t *text, size_t bytes, const yaml_parser_t *parser) {
    if (parser->error == YAML_MEMORY_ERROR) return pbd_error(PBD_FAILED, "%s: out of memory", shown_as);
    /* A reader error (not UTF-8, a control character) comes before there are lines: libyaml knows the byte only. */
    if (parser->error == YAML_READER_ERROR) {
        place at = place_of_byte(text, bytes, parser->problem_offset);
        return pbd_error(PBD_BAD_INPUT, "%s: line %zu, column %zu: not YAML: %s; expected plain UTF-8 text", shown_as,
                         at.line, at.column, parser->problem ? parser->problem : "unreadable");
    }
    yaml_mark_t mark = parser->problem_mark;
    if (is_tab(text, bytes, mark))
        return pbd_error(PBD_BAD_INPUT,
                         "%s: line %zu, column %zu: not YAML: a tab; expected spaces, which alone indent", shown_as,
                         mark.line + 1, mark.column + 1);
    return pbd_error(PBD_BAD_INPUT, "%s: line %zu, column %zu: not YAML: %s%s%s", shown_as, mark.line + 1,
                     mark.column + 1, parser->problem ? parser->problem : "syntax error", parser->context ? ", " : "",
                     parser->context ? parser->context : "");
}

/* ---- Events: what must not come near a tree ---------------------------------------------------------------------- */

static const yaml_char_t *anchor_of(const yaml_event_t *event) {
    switch (event->type) {
        case YAML_SCALAR_EVENT:
            return event->data.scalar.anchor;
        case YAML_SEQUENCE_START_EVENT:
            return event->data.sequence_start.anchor;
        case YAML_MAPPING_START_EVENT:
            return event->data.mapping_start.anchor;
        default:
            return NULL;
    }
}

static pbd_status check_event(const char *shown_as, const yaml_event_t *event, int *depth) {
    const char *problem = NULL;
    *depth += event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT;
    *depth -= event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT;
    if (*depth > DEEPEST) problem = "lists and keys are nested too deep; expected plain `key: value` lines";
    if (event->type == YAML_ALIAS_EVENT) problem = "aliases (*name) are not supported; write the value out";
    if (anchor_of(event)) problem = "anchors (&name) are not supported; write the value out where it is needed";
    if (event->type == YAML_SCALAR_EVENT && memchr(event->data.scalar.value, '\0', event->data.scalar.length))
        problem = "a NUL character; expected text";
    if (!problem) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%s: line %zu, column %zu: %s", shown_as, event->start_mark.line + 1,
                     event->start_mark.column + 1, problem);
}

static pbd_status check_events(const char *shown_as, const uint8_t *text, size_t bytes) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return pbd_error(PBD_FAILED, "%s: out of memory", shown_as);
    yaml_parser_set_input_string(&parser, text, bytes);
    pbd_status status = pbd_ok();
    int depth = 0;
    for (bool more = true; more && status.code == PBD_OK;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = syntax_error(shown_as, text, bytes, &parser);
            break;
        }
        status = check_event(shown_as, &event, &depth);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

/* ---- The tree: numbers, texts and lengths of lists --------------------------------------------------------------- */

typedef struct tree {
    const char *shown_as;
    yaml_document_t *document;
} tree;

static pbd_status node_error(const tree *t, const yaml_node_t *node, const char *path, const char *problem) {
    return pbd_error(PBD_BAD_INPUT, "%s: line %zu, column %zu: %s%s%s%s", t->shown_as, node->start_mark.line + 1,
                     node->start_mark.column + 1, problem, *path ? " (in " : "", path, *path ? ")" : "");
}

/* 0, 7, 120: no sign, no fraction, no leading 0, which libcyaml would take for octal. */
static bool is_whole(const char *text) {
    size_t digits = strspn(text, "0123456789");
    char *end;
    errno = 0;
    (void)strtoull(text, &end, 10);
    return digits > 0 && !text[digits] && (digits == 1 || text[0] != '0') && errno == 0;
}

static bool is_number(const char *text) {
    char *end;
    double x = strtod(text, &end);
    return end != text && !*end && isfinite(x);
}

static pbd_status check_scalar(const tree *t, const yaml_node_t *node, const cyaml_schema_value_t *schema,
                               const char *path) {
    const char *text = (const char *)node->data.scalar.value, *expected = NULL;
    if (schema->type == CYAML_UINT && !is_whole(text)) expected = "a whole number from 0 up";
    if (schema->type == CYAML_FLOAT && !is_number(text)) expected = "a number";
    if (schema->type == CYAML_STRING && node->data.scalar.length < schema->string.min) expected = "text";
    if (!expected) return pbd_ok();
    char problem[160];
    snprintf(problem, sizeof problem, "expected %s, found '%.60s'", expected, text);
    return node_error(t, node, path, problem);
}

static pbd_status check_length(const tree *t, const yaml_node_t *list, const cyaml_schema_value_t *schema,
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

static const cyaml_schema_value_t *field_of(const cyaml_schema_value_t *mapping, const char *key) {
    const cyaml_schema_field_t *field = mapping->mapping.fields;
    while (field->key && strcmp(field->key, key) != 0) field++;
    return field->key ? &field->value : NULL;
}

/* Recurses as deep as the schema. What is not of the schema's kind or key is left to libcyaml. */
static pbd_status check_node(const tree *t, int id, const cyaml_schema_value_t *schema, const char *path) {
    const yaml_node_t *node = yaml_document_get_node(t->document, id);
    char inner[LONGEST_PATH];
    if (node->type == YAML_SCALAR_NODE) return check_scalar(t, node, schema, path);
    if (node->type == YAML_SEQUENCE_NODE && schema->type == CYAML_SEQUENCE) {
        PBD_TRY(check_length(t, node, schema, path));
        const yaml_node_item_t *item = node->data.sequence.items.start;
        for (int i = 0; item + i < node->data.sequence.items.top; i++) {
            snprintf(inner, sizeof inner, "%.150s[%d]", path, i);
            PBD_TRY(check_node(t, item[i], schema->sequence.entry, inner));
        }
    }
    if (node->type != YAML_MAPPING_NODE || schema->type != CYAML_MAPPING) return pbd_ok();
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(t->document, pair->key);
        if (key->type != YAML_SCALAR_NODE)
            return node_error(t, key, path, "expected a word as the key, found a list or keys");
        const char *name = (const char *)key->data.scalar.value;
        const cyaml_schema_value_t *field = field_of(schema, name);
        snprintf(inner, sizeof inner, "%.100s%s%.60s", path, *path ? "." : "", name);
        if (field) PBD_TRY(check_node(t, pair->value, field, inner));
    }
    return pbd_ok();
}

/* The root is node 1 of every document. */
static pbd_status check_tree(const char *shown_as, yaml_document_t *document, const cyaml_schema_value_t *schema) {
    return check_node(&(tree){shown_as, document}, 1, schema, "");
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static pbd_status read_file(const char *path, const char *shown_as, uint8_t **out, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) return pbd_error(PBD_BAD_INPUT, "%s: cannot be read: %s", shown_as, strerror(errno));
    uint8_t *text = malloc(LARGEST_FILE + 1);
    size_t n = text ? fread(text, 1, LARGEST_FILE + 1, file) : 0;
    bool bad = ferror(file);
    int why = errno;
    fclose(file);
    if (text && !bad && n <= LARGEST_FILE) {
        *out = text;
        *bytes = n;
        return pbd_ok();
    }
    free(text);
    if (!text) return pbd_error(PBD_FAILED, "%s: out of memory", shown_as);
    if (bad) return pbd_error(PBD_BAD_INPUT, "%s: cannot be read: %s", shown_as, strerror(why));
    return pbd_error(PBD_BAD_INPUT, "%s: larger than %d MiB; too large for a figure or sweep file", shown_as,
                     LARGEST_FILE >> 20);
}

/* Makes libyaml's tree of the first document and sees that there is no second. On success the caller deletes it. */
static pbd_status load_document(const char *shown_as, const uint8_t *text, size_t bytes, yaml_document_t *document) {
    yaml_parser_t parser;
    yaml_document_t second;
    if (!yaml_parser_initialize(&parser)) return pbd_error(PBD_FAILED, "%s: out of memory", shown_as);
    yaml_parser_set_input_string(&parser, text, bytes);
    pbd_status status = pbd_ok();
    if (!yaml_parser_load(&parser, document)) {
        status = syntax_error(shown_as, text, bytes, &parser);
    } else if (!yaml_document_get_root_node(document)) {
        status =
            pbd_error(PBD_BAD_INPUT, "%s: line 1, column 1: the file is empty; expected `key: value` lines", shown_as);
    } else if (!yaml_parser_load(&parser, &second)) {
        status = syntax_error(shown_as, text, bytes, &parser);
    } else {
        const yaml_node_t *more = yaml_document_get_root_node(&second);
        if (more)
            status = pbd_error(PBD_BAD_INPUT, "%s: line %zu, column %zu: a second document; expected one", shown_as,
                               more->start_mark.line + 1, more->start_mark.column + 1);
        yaml_document_delete(&second);
    }
    if (status.code != PBD_OK) yaml_document_delete(document);
    yaml_parser_delete(&parser);
    return status;
}

static cyaml_config_t config_for(complaint *c) {
    return (cyaml_config_t){.log_fn = c ? on_log : NULL,
                            .log_ctx = c,
                            .mem_fn = cyaml_mem,
                            .log_level = CYAML_LOG_ERROR,
                            .flags = CYAML_CFG_NO_ALIAS};
}

static pbd_status load_data(const char *shown_as, const uint8_t *text, size_t bytes, const cyaml_schema_value_t *schema,
                            yaml_document_t *document, void **out) {
    complaint c = {.places = 0};
    cyaml_config_t config = config_for(&c);
    cyaml_data_t *data = NULL;
    cyaml_err_t code = cyaml_load_data(text, bytes, &config, schema, &data, NULL);
    *out = data;
    if (code == CYAML_OK && data) return pbd_ok();
    if (code == CYAML_OK)
        return pbd_error(PBD_BAD_INPUT, "%s: line 1, column 1: the file is empty; expected `key: value` lines",
                         shown_as);
    fault v = find_fault(schema, &c, code, document);
    return schema_error(shown_as, &c, &v);
}

pbd_status pbd_yaml_load(const char *path, const char *shown_as, const cyaml_schema_value_t *schema, void **out) {
    uint8_t *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    PBD_TRY(read_file(path, shown_as, &text, &bytes));
    yaml_document_t document;
    pbd_status status = check_events(shown_as, text, bytes);
    if (status.code == PBD_OK) status = load_document(shown_as, text, bytes, &document);
    if (status.code == PBD_OK) {
        status = check_tree(shown_as, &document, schema);
        if (status.code == PBD_OK) status = load_data(shown_as, text, bytes, schema, &document, out);
        yaml_document_delete(&document);
    }
    free(text);
    return status;
}

void pbd_yaml_free(const cyaml_schema_value_t *schema, void *data) {
    cyaml_config_t config = config_for(NULL);
    if (data) cyaml_free(&config, schema, data, 0);
}
