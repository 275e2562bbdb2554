/* References by finite elements: tables of values extrapolated over meshes, with their uncertainty. Each is
 * cases/NAME/reference.csv, made by tools/fem-reference. */
#ifndef PBD_REFERENCE_H
#define PBD_REFERENCE_H

#include "methods/method.h"

typedef struct fem_reference {
    double value;       /* 0: no row is of this run */
    double uncertainty; /* relative */
} fem_reference;

/* The row whose columns `keys` (parameters of the case, ended by NULL) are all equal to the run's, numbers to 1e-9. Its
 * value is that of the column `column`. */
pbd_status fem_reference_find(const char *table, const char *shown_as, const char *const keys[], const char *column,
                              const pbd_values *values, fem_reference *out);

#endif
