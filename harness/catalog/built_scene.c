#include "harness/catalog/built_scene.h"

#include <string.h>

#include "harness/catalog/values.h"
#include "harness/process/interrupt.h"

static bool are_equal(const pbd_values *a, const pbd_values *b) {
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (strcmp(pbd_value_text(&a->item[i]), pbd_value_text(&b->item[i])) != 0) return false;
    return a->count == b->count;
}

pbd_status pbd_built_scene_get(pbd_built_scene *b, const pbd_case *c, const pbd_values *values, pbd_setup **setup) {
    *setup = &b->setup;
    if (b->c == c && are_equal(&b->values, values)) return b->refusal;
    pbd_built_scene_free(b);
    PBD_TRY(pbd_values_copy(values, &b->values));
    pbd_interrupt_ends("the scene was built");
    b->refusal = pbd_case_build(c, &b->values, &b->setup);
    pbd_interrupt_ends(NULL);
    b->c = c;
    return b->refusal;
}

void pbd_built_scene_free(pbd_built_scene *b) {
    if (b->c) pbd_case_free(b->c, &b->setup);
    pbd_values_free(&b->values);
    *b = (pbd_built_scene){0};
}
