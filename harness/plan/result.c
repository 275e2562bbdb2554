/* A run's record: releasing it, and as JSON. */
#include "harness/plan/result.h"

#include <math.h>
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

/* ---- Kinds ------------------------------------------------------------------------------------------------------- */

const char *pbd_kind_word(pbd_kind kind) {
    static const char *const words[] = {[PBD_STATE] = "state", [PBD_ERROR] = "error", [PBD_QUALITY] = "quality",
                                        [PBD_COST] = "cost",   [PBD_COUNT] = "count", [PBD_FLAW] = "flaw"};
    return words[kind];
}

bool pbd_is_error(pbd_kind kind) { return kind == PBD_ERROR || kind == PBD_FLAW; }

const char *pbd_direction_word(pbd_kind kind, const char *unit) {
    if (pbd_is_error(kind) || (kind == PBD_COST && strcmp(unit, "s") == 0)) return "lower";
    return kind == PBD_QUALITY ? "higher" : "neutral";
}

pbd_kind pbd_kind_read(const char *word, const char *name, const char *unit, const char *direction, bool is_count) {
    static const char *const costs[] = {"kernel_launches", "device_bytes_peak",  "bytes_moved",
                                        "flops",           "device_allocations", "host_waits"};
    for (pbd_kind kind = PBD_STATE; word && kind <= PBD_FLAW; kind++)
        if (strcmp(word, pbd_kind_word(kind)) == 0) return kind;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        if (strcmp(name, costs[i]) == 0) return PBD_COST;
    if (strcmp(direction, "lower") == 0) return strcmp(unit, "s") == 0 ? PBD_COST : PBD_ERROR;
    if (strcmp(direction, "higher") == 0) return PBD_QUALITY;
    return is_count ? PBD_COUNT : PBD_STATE;
}

bool pbd_is_shown_error(const pbd_metric_item *metric) {
    static const char before[] = "_predicted";
    const size_t length = strlen(metric->name), end = strlen(before);
    return pbd_is_error(metric->kind) && !(length >= end && strcmp(metric->name + length - end, before) == 0);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

json_t *pbd_metrics_json(const pbd_metric_item *metric, size_t count) {
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        const pbd_metric_item *m = &metric[i];
        json_t *value = m->is_count ? json_integer((json_int_t)m->count) : pbd_finite_json(m->value);
        json_object_set_new(object, m->name,
                            json_pack("{s:o, s:s, s:s, s:s}", "value", value, "unit", m->unit, "direction",
                                      pbd_direction_word(m->kind, m->unit), "kind", pbd_kind_word(m->kind)));
    }
    return object;
}

static json_t *timing_json(const pbd_result *r) {
    json_t *object = json_object();
    for (size_t i = 0; i < r->phases; i++) {
        const pbd_phase_item *p = &r->phase[i];
        json_object_set_new(
            object, p->name,
            json_pack("{s:f, s:f, s:I}", "wall_s", p->wall_s, "cpu_s", p->cpu_s, "calls", (json_int_t)p->calls));
    }
    return object;
}

static json_t *warnings_json(const pbd_result *r) {
    json_t *object = json_object();
    for (size_t i = 0; i < r->warnings; i++)
        json_object_set_new(
            object, r->warning[i].name,
            json_pack("{s:I, s:s}", "count", (json_int_t)r->warning[i].count, "says", r->warning[i].says));
    return object;
}

char *pbd_result_json(const pbd_result *r) {
    json_t *params = json_loads(r->params, 0, NULL);
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:i, s:i, s:I, s:s, s:s, s:s, s:o, s:o, s:o}", "run_id",
                  r->run_id, "cell_id", r->cell_id, "case", r->case_name, "method", r->method_name, "params",
                  params ? params : json_object(), "backend", r->backend, "precision", r->precision, "threads",
                  r->threads, "repeat", r->repeat, "seed", (json_int_t)r->seed, "started_at", r->started_at, "state",
                  r->state, "says", r->says, "metrics", pbd_metrics_json(r->metric, r->metrics), "timing",
                  timing_json(r), "warnings", warnings_json(r));
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    return text;
}
