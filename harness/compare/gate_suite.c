/* The suite of a gate: its file, and its cells checked before anything runs. */
#include <stdlib.h>
#include <string.h>

#include "harness/catalog/registry.h"
#include "harness/compare/gate.h"
#include "harness/figure/figures.h"
#include "harness/files/nearest.h"
#include "harness/files/numbers.h"
#include "harness/files/yaml_fields.h"
#include "harness/files/yaml_file.h"
#include "harness/run/run.h"

static const cyaml_schema_field_t cell_fields[] = {
    PBD_YAML_TEXT(pbd_gate_cell, name, "name", "of the cell in reports"),
    PBD_YAML_TEXT(pbd_gate_cell, case_name, "case", "the case"),
    PBD_YAML_TEXT(pbd_gate_cell, method, "method", "the method"),
    PBD_YAML_MAYBE_TEXT(pbd_gate_cell, backend, "backend", "cpu, emu or cuda; default cpu"),
    PBD_YAML_MAYBE_TEXT(pbd_gate_cell, precision, "precision", "f32 or f64; default f64"),
    PBD_YAML_MAYBE_WHOLE(pbd_gate_cell, threads, "threads", "default 1"),
    PBD_YAML_MAYBE_FLAG(pbd_gate_cell, untimed, "untimed", "held to its errors and counts alone"),
    PBD_YAML_MAYBE_LIST(pbd_gate_cell, set, "set", &pbd_yaml_word, "`key=value`: parameters of the case or the method"),
    PBD_YAML_MAYBE_LIST(pbd_gate_cell, tolerances, "tolerances", &pbd_yaml_word,
                        "`metric=limit`, such as `displacement_error=0.2`: beside agreement with the baseline"),
    CYAML_FIELD_END};
static const cyaml_schema_value_t cell_schema = PBD_YAML_ENTRY(pbd_gate_cell, cell_fields);
static const cyaml_schema_field_t suite_fields[] = {
    PBD_YAML_LIST(pbd_gate_suite, cells, "cells", &cell_schema, "what is compared with the baseline"),
    PBD_YAML_MAYBE_LIST(pbd_gate_suite, figures, "figures", &pbd_yaml_word, "whose claims must come out as accepted"),
    CYAML_FIELD_END};
const cyaml_schema_value_t pbd_gate_schema = PBD_YAML_FILE(pbd_gate_suite, suite_fields);

void pbd_gate_suite_free(pbd_gate_suite *suite) {
    if (!suite) return;
    suite->cells_count = suite->cells_read;
    suite->figures_count = suite->figures_read;
    pbd_yaml_free(&pbd_gate_schema, suite);
}

static bool is_one_of(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static pbd_status check_has_cell(const pbd_gate_suite *suite, const char *method) {
    pbd_arena a PBD_ARENA;
    const char **names = pbd_new(&a, const char *, suite->cells_count);
    PBD_TRY(pbd_arena_check(&a));
    for (unsigned i = 0; i < suite->cells_count; i++) names[i] = suite->cells[i].method;
    if (is_one_of(method, names, suite->cells_count)) return pbd_ok();
    return pbd_unknown("method with a cell in the suite", method, names, suite->cells_count, "pbdbench gate --dry-run");
}

/* The cells that are kept come first; the others stay behind them, to be freed. */
pbd_status pbd_gate_suite_keep(pbd_gate_suite *suite, const char *const *methods, size_t count) {
    unsigned kept = 0;
    for (size_t i = 0; i < count; i++) PBD_TRY(check_has_cell(suite, methods[i]));
    for (unsigned i = 0; i < suite->cells_count; i++) {
        if (!is_one_of(suite->cells[i].method, methods, count)) continue;
        const pbd_gate_cell cell = suite->cells[i];
        suite->cells[i] = suite->cells[kept];
        suite->cells[kept++] = cell;
    }
    suite->cells_count = kept;
    suite->figures_count = 0;
    return pbd_ok();
}

typedef struct settings {
    pbd_arena owned;
    pbd_setting *item;
    size_t count; /* parsed */
} settings;

static void free_settings(settings *s) {
    for (size_t i = 0; i < s->count; i++) pbd_setting_free(&s->item[i]);
    pbd_arena_free(&s->owned);
}

static pbd_status plan_cell(const pbd_gate_cell *cell) {
    settings s PBD_CLEANUP(free_settings) = {0};
    pbd_plan plan PBD_CLEANUP(pbd_plan_free) = {0};
    s.item = pbd_new(&s.owned, pbd_setting, cell->set_count);
    PBD_TRY(pbd_arena_check(&s.owned));
    for (; s.count < cell->set_count; s.count++) PBD_TRY(pbd_setting_parse(cell->set[s.count], &s.item[s.count]));
    const pbd_request request = {.case_name = cell->case_name,
                                 .all_read = true,
                                 .method_name = cell->method,
                                 .backend = cell->backend,
                                 .precision = cell->precision,
                                 .threads = cell->threads ? (int)cell->threads : 1,
                                 .setting = s.item,
                                 .settings = s.count};
    return pbd_plan_add(&plan, &request, 0);
}

static pbd_status check_settings(const char *path, unsigned i, const pbd_gate_cell *cell) {
    const pbd_status status = plan_cell(cell);
    if (status.code != PBD_BAD_INPUT && status.code != PBD_NOT_SUPPORTED) return status;
    return pbd_error(status.code, "%s: cells[%u] '%.60s': %.250s", path, i, cell->name, status.text);
}

static pbd_status check_tolerances(const char *path, unsigned i, const pbd_gate_cell *cell) {
    for (unsigned k = 0; k < cell->tolerances_count; k++) {
        const char *equals = strchr(cell->tolerances[k], '=');
        char *end = NULL;
        const double value = equals ? pbd_decimal(equals + 1, &end) : -1;
        if (!equals || end == equals + 1 || *end || !(value >= 0))
            return pbd_error(PBD_BAD_INPUT, "%s: cells[%u] '%.60s': tolerance '%.60s' must be METRIC=NUMBER, 0 or more",
                             path, i, cell->name, cell->tolerances[k]);
    }
    return pbd_ok();
}

static pbd_status check_figure(const char *path, const char *figure, const pbd_figure_list *list) {
    pbd_arena a PBD_ARENA;
    const char **names = pbd_new(&a, const char *, list->count);
    size_t count = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < list->count; i++) {
        if (!list->item[i].available) continue;
        if (strcmp(list->item[i].id, figure) == 0) return pbd_ok();
        names[count++] = list->item[i].id;
    }
    const pbd_status nearest = pbd_unknown("figure", figure, names, count, "pbdbench list figures");
    return pbd_error(PBD_BAD_INPUT, "%s: figures: %.300s", path, nearest.text);
}

static pbd_status check_figures(const char *path, const pbd_gate_suite *suite) {
    if (suite->figures_count == 0) return pbd_ok();
    pbd_figure_list list PBD_CLEANUP(pbd_figure_list_free) = {0};
    PBD_TRY(pbd_list_figures(&list));
    for (unsigned i = 0; i < suite->figures_count; i++) PBD_TRY(check_figure(path, suite->figures[i], &list));
    return pbd_ok();
}

static pbd_status check_suite(const char *path, const pbd_gate_suite *suite) {
    for (unsigned i = 0; i < suite->cells_count; i++) {
        const pbd_gate_cell *cell = &suite->cells[i];
        for (unsigned k = 0; k < i; k++)
            if (strcmp(cell->name, suite->cells[k].name) == 0)
                return pbd_error(PBD_BAD_INPUT, "%s: cells[%u] and cells[%u] have the same name '%.60s'", path, k, i,
                                 cell->name);
        if (cell->threads > 4096)
            return pbd_error(PBD_BAD_INPUT, "%s: cells[%u] '%.60s': threads: %u must lie in [1, 4096]", path, i,
                             cell->name, cell->threads);
        PBD_TRY(check_settings(path, i, cell));
        PBD_TRY(check_tolerances(path, i, cell));
    }
    return check_figures(path, suite);
}

pbd_status pbd_gate_suite_load(const char *path, pbd_gate_suite **out) {
    void *data;
    *out = NULL;
    PBD_TRY(pbd_yaml_load(path, path, &pbd_gate_schema, &data));
    pbd_gate_suite *suite = data;
    suite->cells_read = suite->cells_count;
    suite->figures_read = suite->figures_count;
    const pbd_status status = check_suite(path, suite);
    if (status.code == PBD_OK)
        *out = suite;
    else
        pbd_gate_suite_free(suite);
    return status;
}
