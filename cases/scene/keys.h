/* A mapping of a scene file, read by a table of its keys. */
#ifndef PBD_SCENE_KEYS_H
#define PBD_SCENE_KEYS_H

#include <stdio.h>

#include "harness/files/yaml_tree.h"

typedef enum key_kind {
    KEY_REAL,   /* double */
    KEY_COUNT,  /* double: a whole number */
    KEY_VECTOR, /* double[3] */
    KEY_CHOICE, /* double: the index */
    KEY_FLAG,   /* double: 0, 1 */
    KEY_TEXT,   /* const char *, owned by the tree */
    KEY_NODE    /* const yaml_node_t *: any value */
} key_kind;

typedef struct scene_key {
    const char *name;
    key_kind kind;
    size_t offset; /* in the struct that is filled */
    double min, max;
    unsigned open; /* as in pbd_param; for numbers and each entry of a vector */
    const char *unit;
    const char *const *choices; /* for KEY_CHOICE */
} scene_key;

/* Table rows for a length above 0 and for any vector. A file that uses them defines AT(member), the offset in its
 * struct. */
#define KEY_LENGTH(name) \
    { #name, KEY_REAL, AT(name), 0, 1e6, PBD_OPEN_MIN, "m", NULL }
#define KEY_ANY_VECTOR(name, unit) \
    { #name, KEY_VECTOR, AT(name), -1e9, 1e9, 0, unit, NULL }

/* Fills *out with the given keys; other members are kept. PBD_BAD_INPUT with line and column for an unknown key or one
 * that is given twice, and for a wrong value. `what` names the mapping: «a body». The table ends with a NULL name. */
pbd_status keys_read(pbd_yaml *tree, const yaml_node_t *mapping, const char *what, const scene_key *table, void *out);
/* The value of a key; NULL if it is not given or if this is no mapping. */
const yaml_node_t *keys_find(pbd_yaml *tree, const yaml_node_t *mapping, const char *name);

/* Text of a scalar node; NULL for others. */
const char *keys_text(const yaml_node_t *node);
/* Counts the entries of a list; NULL is an empty one. PBD_BAD_INPUT if it is no list or longer than `most`. */
pbd_status keys_list(pbd_yaml *tree, const yaml_node_t *node, const char *what, size_t most, size_t *count);
const yaml_node_t *keys_item(pbd_yaml *tree, const yaml_node_t *list, size_t index);
/* The index of the text of `at` among `names`, which end with NULL; else an error with all of them, and the nearest. */
pbd_status keys_choose(pbd_yaml *tree, const yaml_node_t *at, const char *what, const char *const *names, size_t *out);

/* Writes a row of Markdown for each key: its name after `above`, its kind, range or choices, and unit. */
void keys_write(const scene_key *table, const char *above, FILE *out);

#endif
