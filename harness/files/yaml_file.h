/* YAML files by schema: libcyaml fills in structs, and errors become one message with file, line and column. */
#ifndef PBD_YAML_FILE_H
#define PBD_YAML_FILE_H

#include <cyaml/cyaml.h>

#include "methods/method.h"

/* Reads `path` against `schema` (a mapping by pointer). On success *out is a new struct, freed with pbd_yaml_free. On
 * PBD_BAD_INPUT (no such file, malformed, not of the schema) nothing is returned and the message begins with
 * `shown_as`, the file's name as the user knows it. Refuses anchors, aliases, deep nesting and a second document. */
pbd_status pbd_yaml_load(const char *path, const char *shown_as, const cyaml_schema_value_t *schema, void **out);

/* Frees what pbd_yaml_load returned under the same schema; NULL-safe. */
void pbd_yaml_free(const cyaml_schema_value_t *schema, void *data);

#endif
