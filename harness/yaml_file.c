/* YAML by libcyaml, with sentences a person can act on.
 *
 * libcyaml tells what is wrong in a log with a backtrace of where it was: the places of the values it had read last, from
 * the innermost outwards. That is right for a wrong value, but one line too early for an unknown or repeated key, and
 * missing for a syntax error. So the text is first read into libyaml's own document tree, which knows the place of every
 * key and of every syntax error, and the two together give the sentence.
 */
#include "harness/yaml_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "harness/registry.h"

enum {
    LARGEST_FILE = 4 << 20, /* bytes: nobody types more */
    DEEPEST = 12,           /* of a backtrace; the schemas are 5 deep */
    LONGEST_NAME = 64,
    MOST_KEYS = 40 /* of one mapping in any schema */
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
        for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top; pair++) {
            const yaml_node_t *key = yaml_document_get_node(document, pair->key);
            if (!key || key->type != YAML_SCALAR_NODE || strcmp((const char *)key->data.scalar.value, name) != 0) continue;
            if (!is_before(line, column, &key->start_mark)) continue;
            if (!found || is_before(key->start_mark.line + 1, key->start_mark.column + 1, out)) *out = key->start_mark;
            found = true;
        }
    }
    return found;
}

/* The first event of an alias; false when there is none. */
static bool find_alias(const uint8_t *text, size_t bytes, yaml_mark_t *out) {
    yaml_parser_t parser;
    bool found = false, end = false;
    if (!yaml_parser_initialize(&parser)) return false;
    yaml_parser_set_input_string(&parser, text, bytes);
    while (!found && !end) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) break;
        found = event.type == YAML_ALIAS_EVENT;
        end = event.type == YAML_STREAM_END_EVENT;
        if (found) *out = event.start_mark;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
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

static void unknown_key(const cyaml_schema_value_t *schema, const complaint *c, const char *key, char *out, size_t size) {
    const char *keys[MOST_KEYS];
    size_t n = keys_of(schema_at(schema, c), keys);
    const char *nearest = pbd_nearest(key, keys, n);
    if (nearest)
        snprintf(out, size, "unknown key '%s'; did you mean '%s'?", key, nearest);
    else
        snprintf(out, size, "unknown key '%s'", key);
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", i ? ", " : nearest ? " Expected one of: " : "; expected one of: ", keys[i]);
    }
}

/* libcyaml's and libyaml's words for kinds of values, and ours. */
static const char *plain_word(const char *word) {
    static const char *const pairs[][2] = {
        {"STRING", "text"},
        {"UINT", "a whole number from 0 up"},
        {"uint64_t", "a whole number from 0 up"},
        {"FLOAT", "a number"},
        {"MAPPING", "`key: value` lines"},
        {"MAPPING_START", "`key: value` lines"},
        {"SEQUENCE", "a list"},
        {"SEQUENCE_START", "a list"},
        {"SCALAR", "a plain value"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(word, pairs[i][0]) == 0) return pairs[i][1];
    return word;
}

/* Puts what libcyaml says about values into plain words; anything unforeseen is passed on as it is. */
static void plain_problem(const complaint *c, cyaml_err_t code, char *out, size_t size) {
    char a[LONGEST_NAME], b[LONGEST_NAME];
    if (code == CYAML_ERR_ALIAS)
        snprintf(out, size, "aliases (*name) are not supported; write the value out");
    else if (code == CYAML_ERR_STRING_LENGTH_MIN)
        snprintf(out, size, "expected text, found nothing");
    else if (code == CYAML_ERR_SEQUENCE_ENTRIES_MIN)
        snprintf(out, size, "the list is empty; expected at least one entry");
    else if (code == CYAML_ERR_INTERNAL_ERROR) /* its word for a list or a mapping in a key's place */
        snprintf(out, size, "expected a plain word as key");
    else if (sscanf(c->problem, "Expecting %63[A-Z_], got event: %63[A-Z_]", a, b) == 2)
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

static fault find_fault(const cyaml_schema_value_t *schema, const complaint *c, cyaml_err_t code, yaml_document_t *document,
                          const uint8_t *text, size_t bytes) {
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
        if (code == CYAML_ERR_ALIAS && find_alias(text, bytes, &mark)) point_at(&v, &mark);
        if (code == CYAML_ERR_SEQUENCE_ENTRIES_MIN || code == CYAML_ERR_INTERNAL_ERROR) v.part = 1;
        plain_problem(c, code, v.says, sizeof v.says);
    }
    return v;
}

static pbd_status schema_error(const char *shown_as, const complaint *c, const fault *v) {
    char path[200];
    path_text(c, v->part, path, sizeof path);
    return pbd_error(PBD_BAD_INPUT, "%s: line %zu, column %zu: %s%s%s%s", shown_as, v->line, v->column, v->says,
                     path[0] ? " (in " : "", path, path[0] ? ")" : "");
}

static pbd_status syntax_error(const char *shown_as, const yaml_parser_t *parser) {
    /* A reader error (not UTF-8, a control character) comes before there are lines: it knows the byte only. */
    if (parser->error == YAML_READER_ERROR)
        return pbd_error(PBD_BAD_INPUT, "%s: byte %zu: not YAML: %s; expected plain UTF-8 text", shown_as,
                         parser->problem_offset + 1, parser->problem ? parser->problem : "unreadable");
    if (parser->error == YAML_MEMORY_ERROR) return pbd_error(PBD_FAILED, "%s: out of memory", shown_as);
    return pbd_error(PBD_BAD_INPUT, "%s: line %zu, column %zu: not YAML: %s%s%s", shown_as, parser->problem_mark.line + 1,
                     parser->problem_mark.column + 1, parser->problem ? parser->problem : "syntax error",
                     parser->context ? ", " : "", parser->context ? parser->context : "");
}

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
    return pbd_error(PBD_BAD_INPUT, "%s: larger than %d MiB; that is no figure or sweep file", shown_as, LARGEST_FILE >> 20);
}

/* Makes libyaml's tree of the first document and sees that there is no second. On success the caller deletes it. */
static pbd_status load_document(const char *shown_as, const uint8_t *text, size_t bytes, yaml_document_t *document) {
    yaml_parser_t parser;
    yaml_document_t second;
    if (!yaml_parser_initialize(&parser)) return pbd_error(PBD_FAILED, "%s: out of memory", shown_as);
    yaml_parser_set_input_string(&parser, text, bytes);
    pbd_status status = pbd_ok();
    if (!yaml_parser_load(&parser, document)) {
        status = syntax_error(shown_as, &parser);
    } else if (!yaml_document_get_root_node(document)) {
        status = pbd_error(PBD_BAD_INPUT, "%s: line 1, column 1: the file is empty; expected `key: value` lines", shown_as);
    } else if (!yaml_parser_load(&parser, &second)) {
        status = syntax_error(shown_as, &parser);
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

pbd_status pbd_yaml_load(const char *path, const char *shown_as, const cyaml_schema_value_t *schema, void **out) {
    uint8_t *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    PBD_TRY(read_file(path, shown_as, &text, &bytes));
    yaml_document_t document;
    pbd_status status = load_document(shown_as, text, bytes, &document);
    if (status.code == PBD_OK) {
        complaint c = {.places = 0};
        cyaml_config_t config = config_for(&c);
        cyaml_data_t *data = NULL;
        cyaml_err_t code = cyaml_load_data(text, bytes, &config, schema, &data, NULL);
        if (code == CYAML_OK && data)
            *out = data;
        else if (code == CYAML_OK)
            status = pbd_error(PBD_BAD_INPUT, "%s: line 1, column 1: the file is empty; expected `key: value` lines", shown_as);
        else {
            fault v = find_fault(schema, &c, code, &document, text, bytes);
            status = schema_error(shown_as, &c, &v);
        }
        yaml_document_delete(&document);
    }
    free(text);
    return status;
}

void pbd_yaml_free(const cyaml_schema_value_t *schema, void *data) {
    cyaml_config_t config = config_for(NULL);
    if (data) cyaml_free(&config, schema, data, 0);
}
