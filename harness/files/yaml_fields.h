/* Rows of schemas of YAML files: how a key is read, and what it means.
 *
 * The meaning is in the string literal of the key, after its NUL: libcyaml sees only the key, and no key can lack a
 * meaning. pbd_schemas_write documents them. STRUCT is the struct that a mapping fills in. */
#ifndef PBD_YAML_FIELDS_H
#define PBD_YAML_FIELDS_H

#include <cyaml/cyaml.h>
#include <stdio.h>

#define PBD_YAML_KEY(KEY, DOC) KEY "\0" DOC
/* What the key of a field of a schema means. */
const char *pbd_yaml_doc(const cyaml_schema_field_t *field);

#define PBD_YAML_TEXT(STRUCT, MEMBER, KEY, DOC) \
    CYAML_FIELD_STRING_PTR(PBD_YAML_KEY(KEY, DOC), CYAML_FLAG_POINTER, STRUCT, MEMBER, 1, CYAML_UNLIMITED)
#define PBD_YAML_MAYBE_TEXT(STRUCT, MEMBER, KEY, DOC)                                                           \
    CYAML_FIELD_STRING_PTR(PBD_YAML_KEY(KEY, DOC), CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, STRUCT, MEMBER, 0, \
                           CYAML_UNLIMITED)
/* A list of values of the schema ENTRY, with at least one; the member MEMBER_count counts them. */
#define PBD_YAML_LIST(STRUCT, MEMBER, KEY, ENTRY, DOC) \
    CYAML_FIELD_SEQUENCE(PBD_YAML_KEY(KEY, DOC), CYAML_FLAG_POINTER, STRUCT, MEMBER, ENTRY, 1, CYAML_UNLIMITED)
#define PBD_YAML_MAYBE_LIST(STRUCT, MEMBER, KEY, ENTRY, DOC)                                                         \
    CYAML_FIELD_SEQUENCE(PBD_YAML_KEY(KEY, DOC), CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, STRUCT, MEMBER, ENTRY, 0, \
                         CYAML_UNLIMITED)
#define PBD_YAML_NUMBER(STRUCT, MEMBER, KEY, DOC) \
    CYAML_FIELD_FLOAT(PBD_YAML_KEY(KEY, DOC), CYAML_FLAG_DEFAULT, STRUCT, MEMBER)
#define PBD_YAML_MAYBE_NUMBER(STRUCT, MEMBER, KEY, DOC) \
    CYAML_FIELD_FLOAT(PBD_YAML_KEY(KEY, DOC), CYAML_FLAG_OPTIONAL, STRUCT, MEMBER)
#define PBD_YAML_WHOLE(STRUCT, MEMBER, KEY, DOC) \
    CYAML_FIELD_UINT(PBD_YAML_KEY(KEY, DOC), CYAML_FLAG_DEFAULT, STRUCT, MEMBER)
#define PBD_YAML_MAYBE_WHOLE(STRUCT, MEMBER, KEY, DOC) \
    CYAML_FIELD_UINT(PBD_YAML_KEY(KEY, DOC), CYAML_FLAG_OPTIONAL, STRUCT, MEMBER)
#define PBD_YAML_MAYBE_FLAG(STRUCT, MEMBER, KEY, DOC) \
    CYAML_FIELD_BOOL(PBD_YAML_KEY(KEY, DOC), CYAML_FLAG_OPTIONAL, STRUCT, MEMBER)
/* A mapping as the entry of a list, and as a file; FIELDS ends with CYAML_FIELD_END. */
#define PBD_YAML_ENTRY(STRUCT, FIELDS) \
    { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, STRUCT, FIELDS) }
#define PBD_YAML_FILE(STRUCT, FIELDS) \
    { CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, STRUCT, FIELDS) }
extern const cyaml_schema_value_t pbd_yaml_word; /* a text in a list */

/* A kind of file, for the documentation. */
typedef struct pbd_schema {
    const char *file, *what; /* "figure.yaml"; what it holds, on one line */
    const cyaml_schema_value_t *schema;
} pbd_schema;

/* Writes a section of Markdown with a table for each: key, value, whether it must be given, meaning. */
void pbd_schemas_write(const pbd_schema *schemas, size_t count, FILE *out);

#endif
