/* Numbers in the JSON that the program prints. */
#ifndef PBD_JSON_H
#define PBD_JSON_H

#include <jansson.h>
#include <math.h>

/* JSON has no NaN and no infinity: null. */
static inline json_t *pbd_finite_json(double x) { return isfinite(x) ? json_real(x) : json_null(); }

#endif
