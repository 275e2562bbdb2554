/* Releasing a run's record. */
#include "harness/result.h"

#include <stdlib.h>
#include <string.h>

void pbd_result_free(pbd_result *result) {
    if (result == NULL) return;
    for (size_t i = 0; i < result->metrics; i++) {
        free(result->metric[i].name);
        free(result->metric[i].unit);
    }
    for (size_t i = 0; i < result->series_count; i++) {
        free(result->series[i].name);
        free(result->series[i].component);
        free(result->series[i].unit);
        free(result->series[i].values);
    }
    for (size_t i = 0; i < result->warnings; i++) {
        free(result->warning[i].name);
        free(result->warning[i].says);
    }
    for (size_t i = 0; i < result->phases; i++) free(result->phase[i].name);
    free(result->metric);
    free(result->series);
    free(result->warning);
    free(result->phase);
    free(result->kind);
    free(result->case_name);
    free(result->method_name);
    free(result->params);
    free(result->backend);
    free(result->precision);
    free(result->state);
    free(result->says);
    memset(result, 0, sizeof *result);
}
