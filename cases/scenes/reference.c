#include "cases/scenes/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/csv_file.h"

/* A field is a number or a choice. */
static bool is_value(const char *field, const char *key, const pbd_values *values) {
    char *end;
    const double wanted = strtod(field, &end);
    return *end ? strcmp(field, pbd_text(values, key)) == 0
                : fabs(wanted - pbd_real(values, key)) <= 1e-9 * fabs(wanted);
}

static bool row_matches(const pbd_csv *table, char *const *field, const char *const keys[], const pbd_values *values) {
    for (size_t k = 0; keys[k]; k++)
        if (!is_value(field[pbd_csv_column(table, keys[k])], keys[k], values)) return false;
    return true;
}

pbd_status fem_reference_find(const char *table, const char *shown_as, const char *const keys[], const char *column,
                              const pbd_values *values, fem_reference *out) {
    pbd_csv csv;
    PBD_TRY(pbd_csv_parse(table, shown_as, &csv));
    for (size_t row = 0; row < csv.rows; row++) {
        char *const *field = csv.field + row * csv.columns;
        if (!row_matches(&csv, field, keys, values)) continue;
        out->value = strtod(field[pbd_csv_column(&csv, column)], NULL);
        out->uncertainty = strtod(field[pbd_csv_column(&csv, "uncertainty")], NULL);
    }
    pbd_csv_free(&csv);
    return pbd_ok();
}
