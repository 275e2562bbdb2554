/* Numbers in the JSON that the program prints. */
#ifndef PBD_JSON_H
#define PBD_JSON_H

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* JSON has no NaN and no infinity: null. */
static inline json_t *pbd_finite_json(double x) { return isfinite(x) ? json_real(x) : json_null(); }

/* Writes an object on one line, and frees it. */
static inline void pbd_write_json(json_t *object, FILE *out) {
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    fprintf(out, "%s\n", text ? text : "{}");
    fflush(out);
    free(text);
    json_decref(object);
}
static inline void pbd_print_json(json_t *object) { pbd_write_json(object, stdout); }

#endif
