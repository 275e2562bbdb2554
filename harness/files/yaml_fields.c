#include "harness/files/yaml_fields.h"

#include <stdbool.h>
#include <string.h>

const cyaml_schema_value_t pbd_yaml_word = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, CYAML_UNLIMITED)};

const char *pbd_yaml_doc(const cyaml_schema_field_t *field) { return field->key + strlen(field->key) + 1; }

static const char *name_of(cyaml_type_e type) {
    switch (type) {
        case CYAML_UINT:
            return "whole number";
        case CYAML_FLOAT:
            return "number";
        case CYAML_BOOL:
            return "true, false";
        case CYAML_MAPPING:
            return "keys below";
        default:
            return "text";
    }
}

static void write_kind(const cyaml_schema_value_t *value, FILE *out) {
    if (value->type != CYAML_SEQUENCE) {
        fputs(name_of(value->type), out);
        return;
    }
    fprintf(out, "list: %s", name_of(value->sequence.entry->type));
    if (value->sequence.max != CYAML_UNLIMITED) fprintf(out, ", %u to %u", value->sequence.min, value->sequence.max);
}

/* A bar would end the cell. */
static void write_cell(const char *text, FILE *out) {
    for (; *text; text++) fputs(*text == '|' ? "\\|" : (char[]){*text, '\0'}, out);
}

static void write_fields(const cyaml_schema_field_t *fields, const char *above, FILE *out) {
    for (const cyaml_schema_field_t *f = fields; f->key; f++) {
        const bool list = f->value.type == CYAML_SEQUENCE;
        const cyaml_schema_value_t *entry = list ? f->value.sequence.entry : &f->value;
        char path[200];
        snprintf(path, sizeof path, "%.120s%.60s%s", above, f->key, entry->type == CYAML_MAPPING ? "." : "");
        fprintf(out, "| `%s%s` | ", above, f->key);
        write_kind(&f->value, out);
        fprintf(out, " | %s | ", f->value.flags & CYAML_FLAG_OPTIONAL ? "" : "yes");
        write_cell(pbd_yaml_doc(f), out);
        fputs(" |\n", out);
        if (entry->type == CYAML_MAPPING) write_fields(entry->mapping.fields, path, out);
    }
}

void pbd_schemas_write(const pbd_schema *schemas, size_t count, FILE *out) {
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "\n## %s\n\n%s\n\n| key | value | must be given | is |\n| --- | --- | --- | --- |\n",
                schemas[i].file, schemas[i].what);
        write_fields(schemas[i].schema->mapping.fields, "", out);
    }
}
