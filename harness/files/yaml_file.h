/* YAML files by schema: libcyaml fills in structs, and what it rejects becomes one sentence with file, line and column.
 */
#ifndef PBD_YAML_FILE_H
#define PBD_YAML_FILE_H

#include <cyaml/cyaml.h>

#include "methods/method.h"

/* Reads `path` against `schema` (a mapping by pointer). On success *out is a new struct, freed with pbd_yaml_free. On
 * PBD_BAD_INPUT (no such file, malformed, not of the schema) nothing is returned and the sentence begins with
 * `shown_as`, the file's name as the user knows it. Anchors, aliases, deep nesting and a second document
 * are refused. */
pbd_status pbd_yaml_load(const char *path, const char *shown_as, const cyaml_schema_value_t *schema, void **out);

/* Frees what pbd_yaml_load returned under the same schema; NULL-safe. */
void pbd_yaml_free(const cyaml_schema_value_t *schema, void *data);

#endif
