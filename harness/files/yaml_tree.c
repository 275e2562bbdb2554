/* The time of libyaml and libcyaml grows as the square of the depth of nesting and of the number of anchors, so that a
 * small file could block them: a pass over libyaml's events, which needs no tree, refuses such files first. */
#include "harness/files/yaml_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/exec/arena.h"

enum { DEEPEST = 12 }; /* of nesting in a file; the schemas are 5 deep */

/* ---- Syntax ------------------------------------------------------------------------------------------------------ */

/* Whether libyaml stopped at a tab: the commonest mistake, which its own message does not name. */
static bool is_tab(const uint8_t *text, size_t bytes, yaml_mark_t mark) {
    size_t i = 0;
    for (size_t line = 0; i < bytes && line < mark.line; i++) line += text[i] == '\n';
    return i + mark.column < bytes && text[i + mark.column] == '\t';
}

static pbd_status syntax_error(const char *shown_as, const uint8_t *text, size_t bytes, const yaml_parser_t *parser) {
    if (parser->error == YAML_MEMORY_ERROR) return pbd_error(PBD_FAILED, "%s: out of memory", shown_as);
    /* A reader error (not UTF-8, a control character) comes before lines are counted: libyaml knows only the byte. */
    if (parser->error == YAML_READER_ERROR) {
        size_t line = 1, column = 1; /* in bytes */
        for (size_t i = 0; i < parser->problem_offset && i < bytes; i++) {
            column = text[i] == '\n' ? 1 : column + 1;
            line += text[i] == '\n';
        }
        return pbd_error(PBD_BAD_INPUT, "%s: line %zu, column %zu: not YAML: %s; expected plain UTF-8 text", shown_as,
                         line, column, parser->problem ? parser->problem : "unreadable");
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

/* ---- Events: nesting, anchors and aliases ------------------------------------------------------------------------ */

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
    yaml_parser_t parser PBD_CLEANUP(yaml_parser_delete);
    if (!yaml_parser_initialize(&parser)) return pbd_error(PBD_FAILED, "%s: out of memory", shown_as);
    yaml_parser_set_input_string(&parser, text, bytes);
    for (int depth = 0;;) {
        yaml_event_t event PBD_CLEANUP(yaml_event_delete);
        if (!yaml_parser_parse(&parser, &event)) return syntax_error(shown_as, text, bytes, &parser);
        PBD_TRY(check_event(shown_as, &event, &depth));
        if (event.type == YAML_STREAM_END_EVENT) return pbd_ok();
    }
}

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

/* Makes libyaml's tree of the first document and checks that there is no second. Delete it in every case. */
static pbd_status load_document(const char *shown_as, const uint8_t *text, size_t bytes, yaml_document_t *document) {
    yaml_parser_t parser PBD_CLEANUP(yaml_parser_delete);
    yaml_document_t second PBD_CLEANUP(yaml_document_delete) = {0};
    if (!yaml_parser_initialize(&parser)) return pbd_error(PBD_FAILED, "%s: out of memory", shown_as);
    yaml_parser_set_input_string(&parser, text, bytes);
    if (!yaml_parser_load(&parser, document)) return syntax_error(shown_as, text, bytes, &parser);
    if (!yaml_document_get_root_node(document))
        return pbd_error(PBD_BAD_INPUT, "%s: line 1, column 1: the file is empty; expected `key: value` lines",
                         shown_as);
    if (!yaml_parser_load(&parser, &second)) return syntax_error(shown_as, text, bytes, &parser);
    const yaml_node_t *more = yaml_document_get_root_node(&second);
    if (!more) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%s: line %zu, column %zu: a second document; expected one", shown_as,
                     more->start_mark.line + 1, more->start_mark.column + 1);
}

pbd_status pbd_yaml_open(const char *shown_as, const void *text, size_t bytes, pbd_yaml *out) {
    *out = (pbd_yaml){.shown_as = shown_as};
    PBD_TRY(check_events(shown_as, text, bytes));
    return load_document(shown_as, text, bytes, &out->document);
}

void pbd_yaml_close(pbd_yaml *tree) {
    yaml_document_delete(&tree->document);
    *tree = (pbd_yaml){0};
}

const yaml_node_t *pbd_yaml_node(pbd_yaml *tree, int id) { return yaml_document_get_node(&tree->document, id); }

pbd_status pbd_yaml_error(const pbd_yaml *tree, const yaml_node_t *node, const char *format, ...) {
    char problem[380];
    va_list words;
    va_start(words, format);
    vsnprintf(problem, sizeof problem, format, words);
    va_end(words);
    return pbd_error(PBD_BAD_INPUT, "%s: line %zu, column %zu: %s", tree->shown_as, node->start_mark.line + 1,
                     node->start_mark.column + 1, problem);
}

pbd_status pbd_yaml_each(pbd_yaml *tree, const char *key, pbd_yaml_visit visit, void *to) {
    const yaml_node_t *node;
    for (int id = 1; (node = pbd_yaml_node(tree, id)); id++) {
        if (node->type != YAML_MAPPING_NODE) continue;
        const yaml_node_pair_t *end = node->data.mapping.pairs.top;
        for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < end; pair++) {
            const yaml_node_t *name = pbd_yaml_node(tree, pair->key), *value = pbd_yaml_node(tree, pair->value);
            if (name->type != YAML_SCALAR_NODE || value->type != YAML_SCALAR_NODE) continue;
            if (strcmp((const char *)name->data.scalar.value, key) == 0) PBD_TRY(visit(to, tree, value));
        }
    }
    return pbd_ok();
}
