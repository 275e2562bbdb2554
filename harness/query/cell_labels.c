#include "harness/query/cell_labels.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/files/numbers.h"
#include "harness/query/run_command.h"

void pbd_stored_cell_free(pbd_stored_cell *cell) {
    free(cell->case_name);
    free(cell->method);
    free(cell->params);
    free(cell->backend);
    free(cell->precision);
    *cell = (pbd_stored_cell){0};
}

/* Cells of one case and method, and the parameters in which they differ: an object of which only the keys matter. */
typedef struct group {
    const pbd_stored_cell *first;
    const json_t *params; /* of the first */
    json_t *differ;
} group;

static bool is_in(const group *g, const pbd_stored_cell *cell) {
    return strcmp(g->first->case_name, cell->case_name) == 0 && strcmp(g->first->method, cell->method) == 0;
}

/* Adds the parameters that differ from those of the group's first cell. One pass then finds all differences. */
static void note_differences(json_t *differ, const json_t *params, const json_t *first) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)params, key, value) {
        if (!json_equal(value, json_object_get(first, key))) json_object_set_new(differ, key, json_true());
    }
}

static char *label_of(const json_t *params, const json_t *differ) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    const char *key, *space = "";
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)params, key, value) {
        char number[40];
        if (!json_object_get(differ, key)) continue;
        fprintf(out, "%s%s=%s", space, key, pbd_spell_param(value, number));
        space = " ";
    }
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

/* Groups all cells; group_of[i] is the group of cell i. False without memory. */
static bool make_groups(const pbd_stored_cell *cell, size_t count, json_t *const *params, group *groups,
                        size_t *group_of) {
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        size_t g = 0;
        while (g < made && !is_in(&groups[g], &cell[i])) g++;
        if (g == made) {
            groups[made++] = (group){&cell[i], params[i], json_object()};
            if (!groups[g].differ) return false;
        }
        group_of[i] = g;
        note_differences(groups[g].differ, params[i], groups[g].params);
        note_differences(groups[g].differ, groups[g].params, params[i]);
    }
    return true;
}

static pbd_status label_all(const pbd_stored_cell *cell, size_t count, json_t **params, group *groups, char **label) {
    pbd_arena a PBD_ARENA;
    size_t *group_of = pbd_new(&a, size_t, count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < count; i++)
        if (!(params[i] = json_loads(cell[i].params, 0, NULL)))
            return pbd_error(PBD_BAD_INPUT, "cell %s: its parameters are not JSON; see `pbdbench db check`",
                             cell[i].cell_id);
    bool fine = make_groups(cell, count, params, groups, group_of);
    for (size_t i = 0; i < count && fine; i++)
        fine = (label[i] = label_of(params[i], groups[group_of[i]].differ)) != NULL;
    return fine ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for the labels of %zu cells", count);
}

pbd_status pbd_cell_labels(const pbd_stored_cell *cell, size_t count, char **label) {
    pbd_arena a PBD_ARENA;
    json_t **params = pbd_new(&a, json_t *, count);
    group *groups = pbd_new(&a, group, count);
    for (size_t i = 0; i < count; i++) label[i] = NULL;
    PBD_TRY(pbd_arena_check(&a));
    const pbd_status status = label_all(cell, count, params, groups, label);
    for (size_t i = 0; i < count; i++) {
        json_decref(params[i]);
        json_decref(groups[i].differ);
        if (status.code != PBD_OK) free(label[i]), label[i] = NULL;
    }
    return status;
}

bool pbd_has_setting(const json_t *params, const pbd_setting *setting) {
    const json_t *value = json_object_get(params, setting->key);
    char *end;
    const double number = pbd_decimal(setting->value, &end);
    if (json_is_string(value)) return strcmp(json_string_value(value), setting->value) == 0;
    return json_is_number(value) && end != setting->value && !*end && json_number_value(value) == number;
}
