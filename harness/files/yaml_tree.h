/* A YAML text as libyaml's tree, in which every node knows its line and column. */
#ifndef PBD_YAML_TREE_H
#define PBD_YAML_TREE_H

#include <yaml.h>

#include "methods/method.h"

typedef struct pbd_yaml {
    const char *shown_as; /* the file's name in messages; borrowed */
    yaml_document_t document;
} pbd_yaml;

/* Parses one document; PBD_BAD_INPUT for invalid YAML, anchors, aliases, deep nesting and a second document. Close *out
 * in every case. */
pbd_status pbd_yaml_open(const char *shown_as, const void *text, size_t bytes, pbd_yaml *out);
void pbd_yaml_close(pbd_yaml *tree); /* safe on a zeroed one */

/* The root is node 1; NULL beyond the last. */
const yaml_node_t *pbd_yaml_node(pbd_yaml *tree, int id);

/* PBD_BAD_INPUT: «FILE: line L, column C: ...». */
pbd_status pbd_yaml_error(const pbd_yaml *tree, const yaml_node_t *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Calls `visit` with each plain value of this key in any mapping, in the order of the file. */
typedef pbd_status (*pbd_yaml_visit)(void *to, pbd_yaml *tree, const yaml_node_t *value);
pbd_status pbd_yaml_each(pbd_yaml *tree, const char *key, pbd_yaml_visit visit, void *to);

#endif
