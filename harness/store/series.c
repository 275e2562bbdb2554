/* Series as text: a JSON array that plain SQL can read with json_each and that preserves every double exactly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/store/rows.h"

char *pbd_series_text(const double *values, size_t count) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL) return NULL;
    fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) fputc(',', out);
        if (isnan(values[i])) {
            fputs("null", out);
        } else if (isinf(values[i])) {
            fputs(values[i] > 0 ? "9e999" : "-9e999", out);
        } else {
            fprintf(out, "%.17g", values[i] + 0.0); /* + 0.0 turns -0.0 into 0.0 */
        }
    }
    fputc(']', out);
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* The array's size: the number of values is at most one more than that of commas. */
static size_t count_commas(const char *text) {
    size_t commas = 0;
    for (; *text != '\0'; text++) commas += *text == ',';
    return commas;
}

/* Parses one value and returns the text after it; NULL: there is none. strtod reads 9e999 as infinity. */
static const char *parse_value(const char *text, double *out) {
    if (strncmp(text, "null", 4) == 0) {
        *out = (double)NAN;
        return text + 4;
    }
    if (*text != '-' && (*text < '0' || *text > '9')) return NULL;
    char *end;
    *out = strtod(text, &end);
    return end == text ? NULL : end;
}

bool pbd_series_parse(const char *text, double **values, size_t *count) {
    *values = NULL;
    *count = 0;
    if (text == NULL || *text++ != '[') return false; /* text is NULL in a damaged store */
    if (strcmp(text, "]") == 0) return true;
    double *array = malloc((count_commas(text) + 1) * sizeof *array);
    size_t n = 0;
    while (array != NULL && (text = parse_value(text, &array[n])) != NULL) {
        n++;
        if (strcmp(text, "]") == 0) {
            *values = array;
            *count = n;
            return true;
        }
        if (*text++ != ',') break;
    }
    free(array);
    return false;
}

json_t *pbd_series_open(const char *text) {
    double *values;
    size_t count;
    if (!pbd_series_parse(text, &values, &count)) return NULL;
    json_t *array = json_array();
    bool fine = array != NULL;
    for (size_t i = 0; fine && i < count; i++) fine = json_array_append_new(array, pbd_real_json(values[i])) == 0;
    free(values);
    if (fine) return array;
    json_decref(array);
    return NULL;
}

char *pbd_series_close(const json_t *array) {
    if (!json_is_array(array)) return NULL;
    const size_t count = json_array_size(array);
    double *values = malloc((count + 1) * sizeof *values);
    if (values == NULL) return NULL;
    for (size_t i = 0; i < count; i++) values[i] = pbd_json_real(json_array_get(array, i));
    char *text = pbd_series_text(values, count);
    free(values);
    return text;
}
