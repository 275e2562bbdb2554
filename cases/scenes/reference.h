/* Finite-element references: tables of values extrapolated over meshes, with their uncertainty. The table of a case is
 * cases/NAME/reference.csv, made by tools/fem-reference. */
#ifndef PBD_REFERENCE_H
#define PBD_REFERENCE_H

#include "methods/method.h"

typedef struct fem_reference {
    double value;       /* 0: no row matches the run */
    double uncertainty; /* relative */
} fem_reference;

/* Finds the row of `table`, the text of a CSV file, whose columns `keys` (parameters of the case, ended by NULL) all
 * equal the run's parameters, numbers to a relative 1e-9. Writes its columns `column` and "uncertainty" to *out, which
 * stays as it is if no row matches. */
pbd_status fem_reference_find(const char *table, const char *shown_as, const char *const keys[], const char *column,
                              const pbd_values *values, fem_reference *out);

#endif
